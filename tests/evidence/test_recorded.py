"""Recorded cases of the four official evaluators: the committed selection always, all of them where they are there."""

from __future__ import annotations

import pytest

from tests.evidence.command import cs_score, cs_score_process
from tests.evidence.recorded import COMMITTED, FAMILIES, SHARED, Case, cases, name


@pytest.mark.parametrize("case", cases(COMMITTED), ids=name)
def test_committed_case(case: Case) -> None:
    case.check(cs_score(*case.words()))


def test_selection_covers_every_mode() -> None:
    assert {case.folder.parent.name for case in cases(COMMITTED)} == set(FAMILIES)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[pytest.mark.slow] if at % 4 else [], id=name(case))
        for at, case in enumerate(cases(SHARED))
    ],
)
def test_shared_case(case: Case) -> None:
    case.check(cs_score(*case.words()))


@pytest.mark.parametrize("family", FAMILIES)
def test_command_is_what_the_process_runs(family: str) -> None:
    """In-process and real runs agree on a scored and on a refused case."""
    chosen = [case for case in cases(COMMITTED) if case.folder.parent.name == family]
    for wanted in (True, False):
        case = next(case for case in chosen if (case.expected is not None) is wanted)
        case.check(cs_score_process(*case.words()))
