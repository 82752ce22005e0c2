"""Recorded cases of the command line, scored by the public API instead."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cs_score as cs
from cs_score.cli.core import Line, load
from cs_score.coldstart.linking import kind_of, members
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.tab_files import FileKind
from tests.coldstart.command import Outcome
from tests.coldstart.recorded import Case, copy_inputs, differences

_ARGUMENT_OF: dict[str, str] = {
    "-discipline": "discipline",
    "-expand": "expand",
    "-justifications": "justifications",
    "-queries": "query_ids",
    "-runids": "runids",
    "-samples": "samples",
}
_NO_ARGUMENT = frozenset(
    {*_ARGUMENT_OF, "-output_file", "-error_file", "-right", "-wrong", "-ignore", "-fields", "-tabs"}
)


def for_python(cases: Iterable[Case]) -> list[Case]:
    """The cases that can be told in arguments."""
    return list(filter(_is_for_python, cases))


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


def replay(case: Case, folder: Path, *, in_order: bool = False) -> list[str]:
    """Score the case in `folder` from Python and return what differs from the record, in words.

    The pool is read before the run, with `in_order` as the command line names them.
    """
    copy_inputs(case, folder)
    with contextlib.chdir(folder):
        said, status = _score(load("").read(case.args), in_order)
    written = {path.name: path.read_bytes() for path in folder.glob("out.*")}
    outputs = {name.removeprefix("out."): content for name, content in written.items()} | {"stdout": b""}
    return list(differences(case, Outcome(status, b"", said.encode(), written), outputs))


def _score(line: Line, in_order: bool) -> tuple[str, int]:
    """What an error said, and the status that the command would have left with."""
    switches = line.switches
    sides: dict[str, Any] = {side: switches.get(f"-{side}") for side in ("right", "wrong", "ignore")}
    arguments: dict[str, Any] = {
        argument: switches[switch] for switch, argument in _ARGUMENT_OF.items() if switch in switches
    }
    try:
        policy = cs.Policy(**{side: text for side, text in sides.items() if text is not None})
        queries = [word for word in line.words if is_query_file(word)]
        files = [word for word in line.words if not is_query_file(word)]
        runs, pool = (files, []) if in_order else _told_apart(files)
        result = cs.score(queries, runs, pool, policy=policy, **arguments)
        result.write(
            "out", fields=switches.get("-fields"), tabs="-tabs" in switches, error_file=switches.get("-error_file")
        )
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
