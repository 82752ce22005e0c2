"""Runs of several systems against one pool, made from one run, with several runs of each system.

An answer that the pool has judged is given by all systems. All others, and the second-hop lines below them, come from
other documents in each system, so that no two systems share one. The runs of one system have the same answers with
other confidences, as the runs that a team submits, or tries, have in the main.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from benchmarks.generate import follow_on_id

RUNS_OF_A_SYSTEM: Final = 5

_DOCUMENTS_APART: Final = 399_989
"""How far the document numbers of one system lie from those of the next."""


def runs_of_systems(pool: str, run: str, run_ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The text of a run for each of `run_ids`, from the texts of the pool and of a run of the same evaluation."""
    judged = set(_judged(pool.splitlines()))
    for first in range(0, len(run_ids), RUNS_OF_A_SYSTEM):
        lines = list(_of_system(run.splitlines(), judged, first // RUNS_OF_A_SYSTEM + 1))
        for variant, run_id in enumerate(run_ids[first : first + RUNS_OF_A_SYSTEM]):
            yield run_id, "".join(_of_run(lines, run_id, variant))


def _judged(pool: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """The query, value and span of each line of a pool."""
    for line in pool:
        _, query, _, value, span, *_ = line.split("\t")
        yield query.partition(":")[0], value, span


def _of_system(run: Iterable[str], judged: set[tuple[str, str, str]], system: int) -> Iterator[list[str]]:
    """The columns of the lines as one system has them."""
    own_query: dict[str, str] = {}
    for line in run:
        query, slot, run_id, relation, value, filler, span, *others = line.split("\t")
        own, own_span = own_query.get(query, query), span
        if (query, value, span) not in judged:
            docid = span.partition(":")[0]
            source, _, number = docid.rpartition("_")
            own_docid = f"{source}_{(int(number) + system * _DOCUMENTS_APART) % 10_000_000:07d}"
            relation, own_span = (text.replace(docid, own_docid) for text in (relation, span))
            own_query[follow_on_id(query, value, span)] = follow_on_id(own, value, own_span)
        yield [own, slot, run_id, relation, value, filler, own_span, *others]


def _of_run(lines: Iterable[list[str]], run_id: str, variant: int) -> Iterator[str]:
    """The lines of one run of a system; the first has the confidences as they are."""
    for query, slot, _, *answer, confidence, node in lines:
        if variant:
            confidence = f"0.{1 + round(float(confidence) * 10_000) * (2 * variant + 1) % 9_999:04d}"
        yield "\t".join((query, slot, run_id, *answer, confidence, f"{node}\n"))
