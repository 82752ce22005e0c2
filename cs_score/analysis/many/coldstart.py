"""What a Cold Start run hands over, what the pool wants found, and what all right answers together would score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from cs_score.analysis.many.findings import Findings, Wanted, bits
from cs_score.base.records import Record
from cs_score.coldstart.gold import Gold
from cs_score.coldstart.judging import Counts, is_wrong_bin
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.projection import averaged_table, counted_row, in_printing_order, ldc_tables
from cs_score.coldstart.queries import Query
from cs_score.coldstart.result import PrecisionRecall, RunResult
from cs_score.coldstart.unit_statistics import unit_table
from cs_score.measures.measure import Measure
from cs_score.measures.registry import usual

ClassKey: TypeAlias = tuple[str, str]
"""A row, which is a query or a class, and a class below it."""


class ToFind(Record, eq=False):
    """The classes of the ground truth in the rows that are scored, in the order of queries and of the pool.

    In a row whose slot takes one value, all classes are one thing to be found. `numbers` has the place of each class in
    `wanted`, `rows` the things of each row (none where there is nothing to find).
    """

    wanted: Sequence[Wanted]
    numbers: Mapping[ClassKey, int]
    rows: Mapping[str, Sequence[int]]

    __repr__ = object.__repr__


def to_find(gold: Gold) -> ToFind:
    """What the runs of an evaluation could find."""
    wanted: list[Wanted] = []
    numbers: dict[ClassKey, int] = {}
    rows: dict[str, list[int]] = {}
    for query in gold.selected():
        examples = _examples(gold, query)
        for row, is_single, names in _rows_of(gold, query):
            groups = [names] if is_single and names else [[name] for name in names]
            rows[row] = list(range(len(wanted), len(wanted) + len(groups)))
            for group in groups:
                numbers.update(((row, name), len(wanted)) for name in group)
                first = group[0]
                unit = gold.cluster_of(query)
                wanted.append(Wanted("class", unit, row, first, examples.get(first, ""), tuple(group)))
    return ToFind(wanted, numbers, rows)


def _rows_of(gold: Gold, query: Query) -> Iterator[tuple[str, bool, list[str]]]:
    """The rows of a query, whether their slot takes one value, and the classes to be found there."""
    tree = gold.of_query(query, gold.links).tree
    if tree is None:
        return
    below: dict[str, list[str]] = {
        name: [] for name in tree.inner_nodes if tree.depth(name) <= gold.hop_limits[query.short_id]
    }
    for name, row in tree.above.items():
        if row in below and not is_wrong_bin(name, tree.root):
            below[row].append(name)
    for row, names in below.items():
        yield row, tree.single.get(row, False), names


def _examples(gold: Gold, query: Query) -> dict[str, str]:
    """The value of the first accepted assessment of each class."""
    found: dict[str, str] = {}
    for assessment in gold.assessed.get(query.base_id, ()):
        if assessment.is_accepted:
            found.setdefault(assessment.value_class, assessment.value)
    return found


def run_findings(run: RunResult, sought: ToFind, measures: Sequence[Measure]) -> Findings:
    """What a scored run hands over; `measures` are those whose statistics by unit are wanted."""
    found: set[int] = set()
    right: set[str] = set()
    wrong: set[str] = set()
    for unit in run.units:
        labels, matched = unit.labels, unit.matched
        for tally in (tally for query in unit.queries for tally in query.tallies):
            lines = tally.responses
            wrong.update([line.follow_on.id for line in lines if WRONG in labels[line.index]])
            hits = [line for line in lines if RIGHT in labels[line.index]]
            right.update([line.follow_on.id for line in hits])
            met = [matched[line.index].value_class for line in hits if line.index in matched]
            found.update([sought.numbers.get((tally.name, name), -1) for name in met])
    found.discard(-1)  # policies may count what belongs to no class
    # The same answer may be right in one line and wrong in another; it counts as what it is at best.
    return Findings(unit_table(run, measures), bits(found, len(sought.wanted)), right, wrong - right)


def union_scores(gold: Gold, sought: ToFind, found: int) -> dict[str, float]:
    """The scores of a run that has one right answer for each thing in `found` and no other line.

    Rankings are left out: nobody knows with what confidence the answers would be given.
    """
    rows = []
    for row, things in sought.rows.items():
        right = sum(found >> thing & 1 for thing in things)
        counts = Counts(ground_truth=len(things), submitted=right, correct=right, right=right)
        rows.append(counted_row(row, counts))
    sf = averaged_table(in_printing_order(rows))
    tables = PrecisionRecall(sf, *(ldc_tables(sf, gold.table) if gold.table.ldc_of else (None, None)))
    return {str(measure): score for measure, score in tables.measures.items()}


def unit_measure(gold: Gold) -> Measure:
    """The measure that tells units apart in the overview of queries by runs."""
    return usual(with_ldc=bool(gold.table.ldc_of))
