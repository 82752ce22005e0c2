"""The programs before the scorer against the recorded outputs of the reference, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from cs_score.base.records import replace
from tests.coldstart.recorded import SHARED, Case, cases_in, replay, sampled

COMMITTED: Final = cases_in(Path(__file__).parent / "golden")
_VALIDATORS: Final = [
    case
    for case in cases_in(SHARED / "testsuite")
    if case.program is not None and not case.folder.name.startswith("KB_")
]


def _name(case: Case) -> str:
    return case.folder.name


@pytest.mark.parametrize("case", COMMITTED, ids=_name)
def test_committed_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


@pytest.mark.parametrize("case", sampled([*cases_in(SHARED / "golden" / "companions"), *_VALIDATORS]))
def test_shared_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


def test_every_program_has_a_committed_case() -> None:
    from cs_score.cli.core import BEFORE, COMMANDS

    programs = {name for name, entry in COMMANDS.items() if entry.group == BEFORE}
    assert {case.program for case in COMMITTED} >= programs - {"samples", "validate-kb", "resolve-queries"}


@pytest.mark.parametrize("words", [("-justifications", "M:M"), ("-depth", "A:1"), ("-bogus",)])
def test_another_output_or_status_is_noticed(words: tuple[str, ...], tmp_path: Path) -> None:
    case = next(case for case in COMMITTED if case.folder.name == "vr_depth_b_1")
    changed = replace(case, args=(*case.args[:-2], *words, *case.args[-2:]))
    assert replay(changed, tmp_path) != []
