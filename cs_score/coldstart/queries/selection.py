"""Which queries are scored, and down to which hop (specification 1.5)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.patterns import pattern
from cs_score.base.sources import is_pipe
from cs_score.base.white_space import SPACE
from cs_score.coldstart.queries.identifiers import parse_query_id
from cs_score.coldstart.queries.query_set import Query, QuerySet
from cs_score.problems.log import ProblemLog

_SPACES: Final = pattern(f"{SPACE}+")
_LEADING_NUMBER: Final = pattern(r"[-+]?[0-9]{1,9}(\.[0-9]{0,9})?")


class Selection(NamedTuple):
    """Short id of each query to score -> the highest hop that is scored, and -> the LDC id that a file lists it under.

    The last LDC id counts where a file has several, as in the program that draws resamples.
    """

    hop_limits: dict[str, int]
    ldc_ids: dict[str, str]


def select_queries(choice: str | None, queries: QuerySet, problems: ProblemLog) -> Selection:
    """The queries to score.

    `choice` is the value of `-queries`: None for all queries, the name of a file, or a colon-separated list of ids.
    Raises InputError for ids that cannot be parsed and for impossible hop limits.
    """
    if choice is None:
        return Selection({query.short_id: len(query.slots) - 1 for query in queries.scored_by_default()}, {})
    if os.path.isfile(choice):
        return _from_file(choice, queries, problems)
    if is_pipe(choice):
        raise InputError("-queries is read from a file, not from a pipe", file=choice, remedy="write it into a file")
    selected: dict[str, int] = {}
    for text in choice.rstrip(":").split(":") if choice.rstrip(":") else ():
        query = _find(text, queries, problems, "-queries", None)
        if query is not None:
            selected.update(_limits(query, len(query.slots) - 1, selected))
    return Selection(selected, {})


def _from_file(name: str, queries: QuerySet, problems: ProblemLog) -> Selection:
    limits_of: dict[str, float] = {}
    listed: list[tuple[int, str, str, float | None]] = []
    for number, columns in _columns(name):
        ldc_id, text, hops, *_ = (*columns, "", "", "")
        limit = _hop_limit(hops)
        compared = -1.0 if limit is None else limit
        if limits_of.setdefault(ldc_id, compared) != compared:
            raise InputError(f"{ldc_id} has multiple/conflicting num_slots in {name}", place=f"line {number}")
        listed.append((number, ldc_id, text, limit))
    selected: dict[str, int] = {}
    ldc_ids: dict[str, str] = {}
    for number, ldc_id, text, limit in listed:
        query = _find(text, queries, problems, name, number)
        if query is None:
            continue
        most = len(query.slots) - 1
        if limit is None:
            limit = most
        if not 0 <= limit <= most:
            raise InputError(
                f"Unexpected num_slots value {limit:g} for {ldc_id} in {name}",
                place=f"line {number}",
                remedy=f"the hop limit of this query is 0 to {most}",
            )
        limits = _limits(query, int(limit), selected)
        selected.update(limits)
        if ldc_id:
            ldc_ids.update(dict.fromkeys(limits, ldc_id))
    return Selection(selected, ldc_ids)


def _columns(name: str) -> Iterator[tuple[int, list[str]]]:
    """The columns of each line. White space at its start makes an empty first column, as in the reference."""
    try:
        with open(name, encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                columns = _SPACES.split(line)
                while columns and not columns[-1]:
                    columns.pop()
                yield number, columns
    except UnicodeDecodeError:
        raise InputError("not UTF-8", file=name) from None


def _hop_limit(text: str) -> float | None:
    """The number that a text begins with, 0 if none; None for an empty text."""
    if not text:
        return None
    match = _LEADING_NUMBER.match(text)
    return float(match.group()) if match else 0.0


def _find(text: str, queries: QuerySet, problems: ProblemLog, file: str, line: int | None) -> Query | None:
    parts = parse_query_id(text)
    if parts is None:
        raise InputError(
            f'unexpected argument: "{text}" sent to parse_queryid',
            file=file,
            place=None if line is None else f"line {line}",
            remedy="each line needs two columns, an LDC id and a slot-filling query id"
            if line
            else f"no file is called {text}, so it was taken for the id of a query",
        )
    query = queries.by_id.get(parts.short)
    if query is None:
        problems.add("UNKNOWN_QUERY_ID_WARNING", parts.short)
    return query


def _limits(query: Query, limit: int, selected: dict[str, int]) -> dict[str, int]:
    """The limit of a query; of an LDC query's entry points only the first hop is scored unless they are listed."""
    if query.expansions is None:
        return {query.short_id: limit}
    return {short_id: selected.get(short_id, 0) for short_id in query.expansions}
