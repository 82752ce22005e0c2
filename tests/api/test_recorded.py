"""The public API against the recorded outputs of the reference scorer, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.recorded import for_python, replay
from tests.coldstart.recorded import Case, committed_cases, shared_cases

# Python reads the pool before the run, so that a child line before its parent finds the answer there.
LOADED_IN_OTHER_ORDER = "bad_child_before_parent"


def _name(case: Case) -> str:
    return case.folder.name


@pytest.mark.parametrize("case", for_python(committed_cases()), ids=_name)
def test_committed_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", for_python(shared_cases()), ids=_name)
def test_shared_case(case: Case, tmp_path: Path) -> None:
    if case.folder.name == LOADED_IN_OTHER_ORDER:
        pytest.skip("loaded in another order")
    assert replay(case, tmp_path) == []
