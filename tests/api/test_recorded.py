"""The public API against the recorded outputs of the reference scorer, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from tests.api.recorded import for_python, replay
from tests.coldstart.recorded import Case, committed_cases, shared_cases
from tests.evidence import recorded as evidence

# Where the pool is read first a child line before its parent finds the answer there.
IN_ORDER: Final = "bad_child_before_parent"


def _name(case: Case) -> str:
    return case.folder.name


@pytest.mark.parametrize("case", for_python(committed_cases()), ids=_name)
def test_committed_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", for_python(shared_cases()), ids=_name)
def test_shared_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path, in_order=case.folder.name == IN_ORDER) == []


def _evidence_scores(case: evidence.Case) -> Mapping[str, float]:
    mode, *words = case.words()
    given: dict[str, Any] = {}
    for word, following in zip(words, (*words[1:], "")):
        if word in ("--gold", "--predictions"):
            given[word.removeprefix("--")] = following
        elif word == "--references":
            given["references"] = int(following)
        elif word in ("--any-order", "--ignore-missing"):
            given[word.removeprefix("--").replace("-", "_")] = True
    scores: Mapping[str, float] = getattr(cs, mode)(**given).scores
    return scores


def _flat(expected: Mapping[str, Any]) -> dict[str, Any]:
    """The official scores by the names of their measures; some evaluators have groups."""
    grouped = {f"{group}_{name}": v for group, of in expected.items() if isinstance(of, dict) for name, v in of.items()}
    return grouped or dict(expected)


def _check_evidence(case: evidence.Case) -> None:
    if case.expected is not None:
        evidence.assert_close(_evidence_scores(case), _flat(case.expected))
    elif case.exit_status == 1:
        with pytest.raises(cs.InputError) as refused:
            _evidence_scores(case)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("case", evidence.cases(evidence.COMMITTED), ids=evidence.name)
def test_committed_evidence_case(case: evidence.Case) -> None:
    _check_evidence(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", evidence.cases(evidence.SHARED), ids=evidence.name)
def test_shared_evidence_case(case: evidence.Case) -> None:
    _check_evidence(case)
