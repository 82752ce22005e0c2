"""What one run under one policy gives to the tables over many runs: small enough to travel and to be kept with the run.

Text is left out where gold has it: the things to be found are numbered, answers are known by the twelve digits
that stand for query, value and provenance.

Beside it: what Cold Start wants found, what all right answers together would score, and how much runs have in common.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, TypeAlias

from cs_score.base.documents import value_in
from cs_score.base.records import Record
from cs_score.coldstart.gold import Gold
from cs_score.coldstart.judging import Counts, is_wrong_bin
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.result import RunResult, averaged_table, counted_row, in_printing_order, projected
from cs_score.coldstart.unit_statistics import unit_table
from cs_score.measures.registry import Measure, usual
from cs_score.statistics.units import UnitTable

ID_DIGITS: Final = 12
"""Hexadecimal digits of the id of an answer."""

_ONE: Final = ord("1")
_IDS: Final = re.compile(f"[0-9a-f]{{{ID_DIGITS}}}")


class Wanted(Record):
    """Something that gold wants found: what it is (`class`), its unit, the row or place it stands in, its name there.

    `value` is an example of it in words. `names` are all that finds it: a slot that takes one value may have it in
    several classes, the first of which stands for them.
    """

    part: str
    unit: str
    place: str
    name: str
    value: str
    names: tuple[str, ...] = ()


class Findings(Record):
    """The statistics of each unit that scores are made of, and which answers were right, which wrong, what was found.

    Bit n of `found` says whether thing n of gold's list was found; `right` and `wrong` are ids of answers, each once.
    """

    table: UnitTable
    found: int = 0
    right: Collection[str] = ()
    wrong: Collection[str] = ()

    def as_json(self) -> dict[str, object]:
        """The findings as a JSON object of a few texts, whose numbers are those of Python's `repr`."""
        texts = {row: ",".join(map(repr, row)) for row in set(self.table.rows)}  # many units have the same statistics
        return {
            "units": json.dumps(self.table.ids),
            "columns": list(self.table.columns),
            "rows": ";".join([texts[row] for row in self.table.rows]),
            "found": f"{self.found:x}",
            "right": "".join(sorted(self.right)),
            "wrong": "".join(sorted(self.wrong)),
        }

    __repr__ = object.__repr__


def findings_of(record: Mapping[str, Any]) -> Findings:
    """The findings in a JSON object.

    Raises InputError, ValueError, KeyError, TypeError or AttributeError for anything else.
    """
    ids, columns, text = (
        tuple(map(str, value_in(record["units"], "units"))),
        tuple(map(str, record["columns"])),
        record["rows"],
    )
    lines = text.split(";") if ids else []
    known = {line: tuple(map(float, line.split(","))) if line else () for line in set(lines)}
    rows = [known[line] for line in lines]
    if len(rows) != len(ids) or any(len(row) != len(columns) for row in rows):
        raise ValueError("another number of rows or columns")
    found = int(record["found"], 16)
    return Findings(UnitTable(ids, columns, rows), found, _IDS.findall(record["right"]), _IDS.findall(record["wrong"]))


def bits(numbers: Iterable[int], size: int) -> int:
    """The whole number whose bits of these numbers, all below `size`, are set."""
    digits = bytearray(b"0") * (size + 1)
    for number in numbers:
        digits[~number] = _ONE
    return int(digits, 2)


FOUND: Final = "1"

WHOLE: Final[Mapping[str, int]] = {"": -1}
"""All answers as one part."""


class Overlap(Record):
    """Two runs by their position: how many answers both have, and how many at least one of them.

    `part` is the part of gold that the answers belong to; empty where all answers are of one sort.
    """

    a: int
    b: int
    shared: int
    either: int
    part: str = ""

    @property
    def jaccard(self) -> float | None:
        """Shared / either, 0..1; None where neither has an answer (Jaccard 1912)."""
        return self.shared / self.either if self.either else None


class Pooled(Record):
    """What `systems` of the runs find: `recall` is the mean, over all choices of so many runs, of the share of things
    that at least one of them found; `agreed` is the share of things that at least so many runs found.
    """

    systems: int
    recall: float
    agreed: float


class Answers(Record):
    """What one run answers, as bits: which things it found, which of all runs' answers it has right, which wrong."""

    found: int
    right: int
    wrong: int


def as_bits(of_runs: Sequence[Collection[str]]) -> list[int]:
    """The answers of runs by their ids, each once, as bits that mean the same in all runs."""
    numbers = {answer: number for number, answer in enumerate(set[str]().union(*of_runs))}
    return [bits(map(numbers.__getitem__, of_run), len(numbers)) for of_run in of_runs]


def overlaps(answers: Sequence[int | None], parts: Mapping[str, int] = WHOLE) -> list[Overlap]:
    """Every pair of runs that have answers at all, in their order, by the bits of their answers.

    `parts` has the bits of each part of gold. Parts are never pooled: a sentence can be right only where its abstract
    is, so that their sum would count agreement twice.
    """
    there = [(place, of_run) for place, of_run in enumerate(answers) if of_run is not None]
    return [
        Overlap(a, b, (one & other & mask).bit_count(), ((one | other) & mask).bit_count(), part)
        for (a, one), (b, other) in combinations(there, 2)
        for part, mask in parts.items()
    ]


def marks(found: int, things: int) -> str:
    """For each of so many things `1` where its bit is set, else `0`."""
    return f"{found:0{things}b}"[::-1] if things else ""


def found_by(of_runs: Sequence[str], things: int) -> list[int]:
    """How many runs found each thing; `of_runs` has the marks of each run."""
    return [of_thing.count(FOUND) for of_thing in zip(*of_runs)] if of_runs else [0] * things


def recall_by_systems(often: Sequence[int], runs: int) -> list[Pooled]:
    """For 1 ... `runs` runs what they find; `often` says of each thing how many runs found it. Nothing without things.

    Of all choices of k among n runs the share C(n - m, k) / C(n, k) misses a thing that m runs found.
    """
    if not often:
        return []
    counts = Counter(often)
    missed = dict.fromkeys(counts, 1.0)
    pooled = []
    for systems in range(1, runs + 1):
        for times in missed:  # C(n - m, k) / C(n, k) from that of k - 1
            missed[times] *= max(0, runs - times - systems + 1) / (runs - systems + 1)
        recall = sum((1 - missed[times]) * count for times, count in sorted(counts.items())) / len(often)
        agreed = sum(count for times, count in counts.items() if times >= systems) / len(often)
        pooled.append(Pooled(systems, recall, agreed))
    return pooled


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
        tree = gold.of_query(query, gold.links).tree
        if tree is None:
            continue
        examples: dict[str, str] = {}  # the value of the first accepted assessment of each class
        for assessment in gold.assessed.get(query.base_id, ()):
            if assessment.is_accepted:
                examples.setdefault(assessment.value_class, assessment.value)
        most = gold.hop_limits[query.short_id]
        below: dict[str, list[str]] = {name: [] for name in tree.inner_nodes if tree.depth(name) <= most}
        for name, row in tree.above.items():
            if row in below and not is_wrong_bin(name, tree.root):
                below[row].append(name)
        for row, names in below.items():
            groups = [names] if tree.single.get(row, False) and names else [[name] for name in names]
            rows[row] = list(range(len(wanted), len(wanted) + len(groups)))
            for group in groups:
                numbers.update(((row, name), len(wanted)) for name in group)
                example = examples.get(group[0], "")
                wanted.append(Wanted("class", gold.cluster_of(query), row, group[0], example, tuple(group)))
    return ToFind(wanted, numbers, rows)


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
    tables = projected(sf, gold.table)
    return {str(measure): score for measure, score in tables.measures.items()}


def unit_measure(gold: Gold) -> Measure:
    """The measure by which units differ in the overview of queries by runs."""
    return usual(with_ldc=bool(gold.table.ldc_of))
