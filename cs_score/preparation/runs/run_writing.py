"""A run as it is written after validation: nine columns, best lines first (specification of the companions, 1.7)."""

from __future__ import annotations

import hashlib
import string
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.base.sources import InputDigest
from cs_score.coldstart.lines import LinkedQuery, Response
from cs_score.coldstart.linking import read_confidence

_LETTERS: Final = 4


WrittenLine: TypeAlias = tuple[str, Response]
"""A line of a validated run with its line feed, and the run line that it stands for."""


def written_lines(
    responses: Sequence[Response],
    discarded: Collection[int],
    bad_queries: Collection[str],
    query_nodes: Mapping[str, str],
    letters: str,
) -> Iterator[list[WrittenLine]]:
    """The lines of a validated run in the order of the file, those of one query at a time.

    `discarded` holds indexes of lines that are left out, `bad_queries` short ids of queries whose lines are left out
    without a word (quirk 3), `query_nodes` the node ids that queries bring along (quirk 1), by short id. `letters` go
    into the node ids that are made up. All lines get the run id of the first (quirk 2).
    """
    run_id = responses[0].run_id if responses else ""
    made = 0
    before = ""
    for query, of_query in _in_order_of_file(responses, discarded):
        if query.short_id in bad_queries:
            continue
        query_node = query_nodes.get(query.short_id)
        lines: list[WrittenLine] = []
        for response in of_query:
            made += 1
            columns = response.text.split("\t")
            relation, value, provenance = response.kept or (columns[3], columns[4], columns[6])
            confidence = columns[7]
            if "." not in confidence or "e" in confidence:
                confidence = read_confidence(confidence).text
            node = query_node or (f":NIL_{letters}{made:09d}" if response.node is None else columns[8])
            text = (
                f"{columns[0]}\t{columns[1]}\t{run_id}\t{relation}\t{value}\t{columns[5].upper()}\t"
                f"{provenance}\t{confidence}\t{node}\n"
            )
            if text != before:
                lines.append((text, response))
                before = text
        yield lines


def _in_order_of_file(
    responses: Iterable[Response], discarded: Collection[int]
) -> Iterator[tuple[LinkedQuery, list[Response]]]:
    """The lines that are kept, best first, by query."""
    by_query: dict[LinkedQuery, list[Response]] = defaultdict(list)
    for response in responses:
        if response.index not in discarded:
            by_query[response.query].append(response)
    # Sorted twice, by one key each: that takes half the time of comparing pairs.
    for query in sorted(sorted(by_query, key=attrgetter("short_id")), key=attrgetter("level")):
        of_query = by_query[query]
        if len(of_query) > 1:
            of_query.sort(key=_best_first)
        yield query, of_query


def _best_first(line: Response) -> tuple[float, int]:
    return -line.confidence, line.number


def node_letters(inputs: Iterable[InputDigest]) -> str:
    """The letters of made-up node ids. The reference draws them; here equal inputs give equal ones (quirk 13)."""
    digest = hashlib.sha256("".join(given.sha256 for given in inputs).encode()).digest()
    return "".join(string.ascii_letters[byte % len(string.ascii_letters)] for byte in digest[:_LETTERS])
