"""A quick filter of run lines: so many documents for each node, without queries and checks (companions, 8)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from cs_score.coldstart.provenance import leading_number
from cs_score.coldstart.queries import follow_on_id

_WHOLE_NUMBER: Final = re.compile(r"\s*([0-9]{1,9})", re.ASCII)
_COLUMNS: Final = 9


class _Line(NamedTuple):
    """What the filter looks at, by number from 0."""

    number: int
    query: str
    node: str
    value: str
    document: str
    provenance: str
    confidence: float

    @property
    def target(self) -> str:
        """Id of the query about this answer, which takes a hash to find."""
        return f"{self.query}_{follow_on_id(self.query, self.value, self.provenance)}"


def documents_per_node(justifications: str) -> int:
    """The number after the first colon of `A:B`; 0, which keeps nothing, for `M` and anything else (quirk 34)."""
    match = _WHOLE_NUMBER.match(justifications.partition(":")[2])
    return int(match.group(1)) if match else 0


def kept_lines(lines: Sequence[str], most: int) -> list[bool]:
    """For each line of a run whether it is kept.

    A node keeps its most confident lines, one for each document, from at most `most` documents; a line below answers
    that are gone goes with them.
    """
    kept = [True] * len(lines)
    levels: dict[int, list[_Line]] = defaultdict(list)
    for number, text in enumerate(lines):
        line = _read(number, text)
        levels[_level(line.query)].append(line)
    for level in sorted(levels):
        alive = [line for line in levels[level] if kept[line.number]]
        best = _keep_best(alive, most, kept)
        below = levels.get(level + 1)
        if level == -1 or below is None:  # lines of the first hop, which come next, have no parents
            continue
        answered = {line.target for line in best}
        for line in below:
            if line.query not in answered:
                kept[line.number] = False
    return kept


def _keep_best(lines: Iterable[_Line], most: int, kept: list[bool]) -> list[_Line]:
    """Discard what is beyond the limit; the lines that are left."""
    nodes: dict[tuple[str, str], list[_Line]] = defaultdict(list)
    for line in lines:
        nodes[line.query, line.node].append(line)
    best: list[_Line] = []
    for of_node in nodes.values():
        documents: set[str] = set()
        for line in sorted(of_node, key=lambda line: (-line.confidence, line.number)):
            if len(documents) >= most or line.document in documents:
                kept[line.number] = False
            else:
                documents.add(line.document)
                best.append(line)
    return best


def _read(number: int, text: str) -> _Line:
    columns = text.split("\t", _COLUMNS)
    columns += [""] * (_COLUMNS - len(columns))
    query, _, _, relation, value, _, provenance, confidence, node = columns[:_COLUMNS]
    document = relation.partition(":")[0]
    return _Line(number, query, node, value, document, provenance, leading_number(confidence))


def _level(query: str) -> int:
    """Hops above the first; blank and comment lines are below it."""
    query = query.rstrip("_")
    return (len(query.split("_")) if query else 0) - 2
