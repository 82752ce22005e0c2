"""What the selectors of an explanation mean, or the nearest names where they mean nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from cs_score.analysis.coldstart.changes import RunFile
from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.lines import AnyLine
from cs_score.base.errors import InputError, UsageError
from cs_score.base.nearest import nearest
from cs_score.coldstart.lines import LinkedQuery, Response, link_follow_on
from cs_score.coldstart.queries import parse_query_id


def lines_at(spec: str | int, case: Case) -> list[AnyLine]:
    """The lines that `[FILE:]N` names: of one run file, or of each where several have the number.

    Raises UsageError for what is no number, InputError where there is no such line.
    """
    name, _, number = str(spec).rpartition(":")
    if not (number.isascii() and number.isdecimal() and len(number) < 12):
        raise UsageError(f"--line {spec}: the number of a line is needed, 12 or FILE:12")
    files = _run_files(name, case)
    found = [line for file in files for line in _numbered(file, int(number))]
    if not found:
        raise InputError(f"there is no line {spec} to explain", remedy=_why_not_there(files, case))
    return found


def _run_files(name: str, case: Case) -> list[RunFile]:
    """The run files of a name, also of its last part; all without a name. Raises InputError where there is none."""
    files = case.files.files
    wanted = [file for each, file in files.items() if name in ("", each)] or [
        file for each, file in files.items() if os.path.basename(each) == name
    ]
    if not wanted:
        pools = [each for each in case.run.layouts if each not in files and name in (each, os.path.basename(each))]
        if pools:
            raise InputError(f"{pools[0]} is a pool, not a run", remedy="ask for a class of it with --class")
        near = nearest(name, [*files, *map(os.path.basename, files)])
        wanted_file = f"run file {name}{near}" if name else "run"
        raise InputError(f"there is no {wanted_file}", remedy=_why_not_there(files.values(), case))
    return wanted


def _numbered(file: RunFile, number: int) -> Iterator[AnyLine]:
    for lines in (file.responses, file.skipped, file.unread):
        yield from (line for line in lines if line.number == number)


def _why_not_there(files: Iterable[RunFile], case: Case) -> str:
    if case.fatal is not None:
        return f"reading stopped: {case.fatal}"
    return ", ".join(f"{file.name} has lines 1 to {file.last}" for file in files) or "no run was loaded"


def queries_of(text: str, case: Case) -> list[LinkedQuery]:
    """The queries of an id, with or without its prefix: those of the entry points, of an LDC query.

    Raises InputError where there is none.
    """
    links, table = case.run.links, case.run.gold.table
    parts = parse_query_id(text)
    short = "" if parts is None else parts.short
    loaded = table.by_id.get(short)
    found: list[LinkedQuery] = []
    if loaded is not None:
        queries = [table.by_id[each] for each in loaded.expansions or ()] or [loaded]
        found = [links.root(each) for each in queries] if text in (short, loaded.full_id) else []
    elif (follow_on := links.follow_on(short)) is not None and follow_on.query is not None:
        query = link_follow_on(follow_on.query, short)
        found = [query] if text in (short, query.full_id) else []
    if not found:
        known = [each.full_id for each in table.by_id.values()]
        raise InputError(f"there is no query {text}{nearest(text, [*known, *links.queries])}", remedy=_stopped(case))
    return found


def classes_of(text: str, case: Case) -> list[tuple[str, str]]:
    """The classes of a name, each with the short id of its query; one of an LDC query is that of each entry point.

    Raises InputError where there is none.
    """
    table, assessed = case.run.gold.table, case.run.gold.assessed
    full_id, colon, rest = text.partition(":")
    loaded = next((each for each in table.by_id.values() if full_id in (each.full_id, each.short_id)), None)
    bases = [] if loaded is None else list(loaded.expansions or (loaded.short_id,))
    found = []
    for base_id in bases if colon else ():
        name = f"{table.by_id[base_id].full_id}:{rest}"
        standing = case.standing(base_id)
        in_pool = any(each.value_class == name for each in assessed.get(base_id, ()))
        if in_pool or (standing is not None and name in standing.tree.above):
            found.append((name, base_id))
    if not found:
        known = dict.fromkeys(each.value_class for lines in assessed.values() for each in lines if each.is_accepted)
        raise InputError(f"there is no class {text}{nearest(text, known)}", remedy=_stopped(case))
    return found


def nodes_of(text: str, case: Case) -> list[str]:
    """The nodes of an id: an FQ node id, or a node id as lines have it, with or without its colon.

    Raises InputError where there is none.
    """
    nodes = [name for name, lines in case.run.links.nodes.items() if any(map(case.is_of_run, lines))]
    bare = text.removeprefix(":")
    found = [name for name in nodes if name == text] or [name for name in nodes if name.rpartition(":")[2] == bare]
    if not found:
        if not nodes:
            raise InputError(f"there is no node {text}", remedy="the run has no node ids (eight columns)")
        near = nearest(text, [*nodes, *(name.rpartition(":")[2] for name in nodes)])
        raise InputError(f"there is no node {text}{near}", remedy=_stopped(case))
    return found


def answers_of(text: str, case: Case) -> list[Response]:
    """The lines that give an answer: its text, in which `*` stands for any. Raises InputError where there is none."""
    of_run = [line for line in case.run.links.responses if case.is_of_run(line)]
    found = [line for line in of_run if is_answer(text, line.value)]
    if not found:
        pool = case.run.gold.links.assessments
        classes = dict.fromkeys(one.value_class for one in pool if one.is_accepted and is_answer(text, one.value))
        near = nearest(text, dict.fromkeys(line.value for line in of_run)) if len(text) < _LONGEST else ""
        remedy = f"the pool has it in class {next(iter(classes))}; ask for that with --class" if classes else None
        raise InputError(f"no line of the run gives the answer {text}{near}", remedy=remedy or _stopped(case))
    return found


def is_answer(pattern: str, value: str) -> bool:
    """Whether a value is what a pattern wants, in which `*` stands for any text.

    Pieces between the stars are searched from left to right, each after the one before: no choice is ever taken back,
    so that no pattern takes long.
    """
    first, *others = pattern.split("*")
    if not others:
        return pattern == value
    *inner, last = others
    if not (value.startswith(first) and value.endswith(last)):
        return False
    at, end = len(first), len(value) - len(last)
    for piece in inner:
        if (found := value.find(piece, at, max(at, end))) < 0:
            return False
        at = found + len(piece)
    return at <= end


_LONGEST = 200
"""Characters of an answer that others are compared with."""


def _stopped(case: Case) -> str | None:
    return None if case.fatal is None else f"scoring stopped: {case.fatal}"
