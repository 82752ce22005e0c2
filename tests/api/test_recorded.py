"""The public API against the recorded outputs of the reference scorer, byte for byte."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from cs_score.cli.core import Line, load
from cs_score.coldstart.linking import kind_of, members
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.tab_files import FileKind
from tests.coldstart.command import Outcome
from tests.coldstart.recorded import Case, committed_cases, copy_inputs, differences, shared_cases
from tests.evidence import recorded as evidence

_ARGUMENT_OF: Final = {
    "-discipline": "discipline",
    "-expand": "expand",
    "-justifications": "justifications",
    "-queries": "query_ids",
    "-runids": "runids",
    "-samples": "samples",
}
_NO_ARGUMENT: Final = {
    *_ARGUMENT_OF, "-output_file", "-error_file", "-right", "-wrong", "-ignore", "-fields", "-tabs"
}  # fmt: skip


def _is_for_python(case: Case) -> bool:
    """Whether a case can be told in arguments: it names files to write, and is no wrong command line."""
    if case.program is not None:
        return False
    try:
        line = load("").read(case.args)
    except Exception:
        return False
    files = [word for word in line.words if not is_query_file(word)]
    return (
        line.switches.get("-output_file") == "out"
        and line.switches.get("-error_file") != "stdout"
        and line.switches.keys() <= _NO_ARGUMENT
        and len(files) > 1
        and len(files) < len(line.words)
    )


def replay(case: Case, folder: Path) -> list[str]:
    """Score the case in `folder` from Python and return what differs from the record, in words."""
    copy_inputs(case, folder)
    with contextlib.chdir(folder):
        said, status = _score(load("").read(case.args), in_order=case.folder.name == IN_ORDER)
    written = {path.name: path.read_bytes() for path in folder.glob("out.*")}
    outputs = {name.removeprefix("out."): content for name, content in written.items()} | {"stdout": b""}
    return list(differences(case, Outcome(status, b"", said.encode(), written), outputs))


def _score(line: Line, *, in_order: bool) -> tuple[str, int]:
    """What an error said, and the status that the command would have left with.

    The pool is read before the run, with `in_order` as the command line names them.
    """
    given = line.switches
    sides: dict[str, Any] = {side: given[f"-{side}"] for side in ("right", "wrong", "ignore") if f"-{side}" in given}
    arguments: dict[str, Any] = {name: given[switch] for switch, name in _ARGUMENT_OF.items() if switch in given}
    try:
        queries = [word for word in line.words if is_query_file(word)]
        files = [word for word in line.words if not is_query_file(word)]
        runs, pool = (files, []) if in_order else _told_apart(files)
        result = cs.score(queries, runs, pool, policy=cs.Policy(**sides), **arguments)
        result.write("out", fields=given.get("-fields"), tabs="-tabs" in given, error_file=given.get("-error_file"))
    except cs.CsScoreError as error:
        return str(error), 255
    return "", 255 if result.errors else 0


def _told_apart(files: list[str]) -> tuple[list[str], list[str]]:
    """Runs and pool; what cannot be told is left to be refused with the runs."""
    runs: list[str] = []
    pool: list[str] = []
    for file in files:
        kinds = set()
        with contextlib.suppress(cs.InputError):
            kinds = {kind_of(member) for member in members(file)}
        (pool if kinds == {FileKind.ASSESSMENTS} and os.path.exists(file) else runs).append(file)
    return runs, pool


# Where the pool is read first a child line before its parent finds the answer there.
IN_ORDER: Final = "bad_child_before_parent"


def _name(case: Case) -> str:
    return case.folder.name


@pytest.mark.parametrize("case", [*filter(_is_for_python, committed_cases())], ids=_name)
def test_committed_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", [*filter(_is_for_python, shared_cases())], ids=_name)
def test_shared_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


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
