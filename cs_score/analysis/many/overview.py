"""What many runs show together: what each found, how much they have in common, how firm their ranking is.

What one run gives to it under one policy are `Findings`, small enough to travel and to be kept with the run: things to
be found are numbered, answers are known by the twelve digits that stand for query, value and provenance.

What runs of an evidence mode found is read off the statistics of their units. A unit is right by a measure where
nothing that the measure looks at is wrong or missing: its own value is 1, or 0/0 because neither gold nor the run has
anything there.
"""

from __future__ import annotations

import json
import operator
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import reduce
from itertools import combinations
from typing import Final, TypeAlias

from cs_score.analysis.many.rankings import (
    Ranking,
    Stability,
    Values,
    measured,
    resampled_scores,
    stability,
    united_units,
)
from cs_score.base.documents import value_in
from cs_score.base.records import Record
from cs_score.coldstart.gold import Gold
from cs_score.coldstart.judging import Counts, is_wrong_bin
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.result import RunResult, averaged_table, counted_row, in_printing_order, projected
from cs_score.coldstart.unit_statistics import unit_table
from cs_score.measures.registry import Measure, usual
from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.options import Resampling
from cs_score.statistics.units import Unit, UnitTable

# ---- What one run gives

_ID: Final = re.compile("[0-9a-f]{12}")


class Findings(Record):
    """The statistics of each unit that scores are made of, and which answers were right, which wrong, what was found.

    `units` are the ids as JSON; `rows` have the numbers of Python's `repr`, with commas, and semicolons between rows.
    Bit n of the hexadecimal `found` says whether thing n of gold's list was found; `right` and `wrong` are ids of
    answers, each once.
    """

    units: str
    columns: tuple[str, ...]
    rows: str
    found: str
    right: str
    wrong: str

    def table(self) -> UnitTable:
        """The statistics of each unit. Raises InputError or ValueError where the texts are no such thing."""
        ids = tuple(map(str, value_in(self.units, "units")))
        lines = self.rows.split(";") if ids else []
        known = {line: tuple(map(float, line.split(","))) if line else () for line in set(lines)}
        rows = [known[line] for line in lines]
        if len(rows) != len(ids) or any(len(row) != len(self.columns) for row in rows):
            raise ValueError("another number of rows or columns")
        return UnitTable(ids, self.columns, rows)

    def bits(self) -> int:
        """What was found. Raises ValueError where that is no number."""
        return int(self.found, 16)

    def check(self) -> None:
        """Raises InputError or ValueError for texts that no batch has written."""
        self.table()
        self.bits()


def findings(table: UnitTable, found: int = 0, right: Iterable[str] = (), wrong: Iterable[str] = ()) -> Findings:
    """The findings of a run, given the bits of what was found and the ids of answers."""
    texts = {row: ",".join(map(repr, row)) for row in set(table.rows)}  # many units have the same statistics
    rows = ";".join([texts[row] for row in table.rows])
    answers = ("".join(sorted(ids)) for ids in (right, wrong))
    return Findings(json.dumps(table.ids), table.columns, rows, f"{found:x}", *answers)


def bits(numbers: Iterable[int], size: int) -> int:
    """The whole number whose bits of these numbers, all below `size`, are set."""
    digits = bytearray(b"0") * (size + 1)
    for number in numbers:
        digits[~number] = ord("1")
    return int(digits, 2)


# ---- What Cold Start's gold wants found


class Wanted(Record):
    """Something that gold wants found: what it is (`class`), its unit, the row or place it stands in, its name there.

    `value` is an example of it in words.
    """

    part: str
    unit: str
    place: str
    name: str
    value: str


ClassKey: TypeAlias = tuple[str, str]
"""A row, which is a query or a class, and a class below it."""


class ToFind(Record, eq=False):
    """The classes of the ground truth in the rows that are scored, in the order of queries and of the pool. In a row
    whose slot takes one value, all classes are one thing to be found.

    `numbers` has the place of each class in `wanted`, `rows` the things of each row.
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
                wanted.append(Wanted("class", gold.cluster_of(query), row, group[0], examples.get(group[0], "")))
    return ToFind(wanted, numbers, rows)


def run_findings(run: RunResult, sought: ToFind, measures: Sequence[Measure]) -> Findings:
    """What a scored run hands over; `measures` are those whose statistics by unit are wanted."""
    found, right, wrong = set[int](), set[str](), set[str]()
    for unit in run.units:
        labels, matched = unit.labels, unit.matched
        for tally in (tally for query in unit.queries for tally in query.tallies):
            wrong.update([line.follow_on.id for line in tally.responses if WRONG in labels[line.index]])
            hits = [line for line in tally.responses if RIGHT in labels[line.index]]
            right.update([line.follow_on.id for line in hits])
            met = [matched[line.index].value_class for line in hits if line.index in matched]
            found.update([sought.numbers.get((tally.name, name), -1) for name in met])
    found.discard(-1)  # policies may count what belongs to no class
    # The same answer may be right in one line and wrong in another; it counts as what it is at best.
    return findings(unit_table(run, measures), bits(found, len(sought.wanted)), right, wrong - right)


def union_scores(gold: Gold, sought: ToFind, found: int) -> dict[str, float]:
    """The scores of a run that has one right answer for each thing in `found` and no other line. Rankings are left out:
    nobody knows with what confidence the answers would be given.
    """
    rows = []
    for row, things in sought.rows.items():
        right = sum(found >> thing & 1 for thing in things)
        counts = Counts(ground_truth=len(things), submitted=right, correct=right, right=right)
        rows.append(counted_row(row, counts))
    tables = projected(averaged_table(in_printing_order(rows)), gold.table)
    return {str(measure): score for measure, score in tables.measures.items()}


def unit_measure(gold: Gold) -> Measure:
    """Return the measure by which the overview of queries by runs shows units: the headline measure."""
    return usual(with_ldc=bool(gold.table.ldc_of), has_rankings=gold.options.edition.has_rankings)


# ---- What runs have in common


class Common(Record):
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


class UnitScores(Record):
    """The scores of a unit, run by run; None where a run has none."""

    policy: str
    unit: str
    scores: tuple[float | None, ...]


class Difficulty(Record):
    """How many of the `total` answers of a part so many runs found, from 0; and how many each run found alone."""

    policy: str
    part: str
    total: int
    found_by: tuple[int, ...]
    only: tuple[int, ...]


class Overlap(Record):
    """Jaccard's index of the right and of the wrong answers of two runs; None where neither has any."""

    a: int
    b: int
    right: float | None
    wrong: float | None
    part: str = ""


class FoundTogether(Record):
    """What so many runs find: the mean over all choices of them, and what at least so many agree on."""

    part: str
    systems: int
    recall: float | None
    agreed: float | None


class Union(Record):
    """The scores of all that is right in any run."""

    scores: dict[str, float]


class Agreement(Record):
    """How much runs have in common under a policy."""

    policy: str
    pairs: tuple[Overlap, ...]
    union: Union
    systems: tuple[FoundTogether, ...]


def as_bits(of_runs: Sequence[Collection[str]]) -> list[int]:
    """The answers of runs by their ids, each once, as bits that mean the same in all runs."""
    numbers = {answer: number for number, answer in enumerate(set[str]().union(*of_runs))}
    return [bits(map(numbers.__getitem__, of_run), len(numbers)) for of_run in of_runs]


def overlaps(answers: Mapping[int, int], parts: Mapping[str, int]) -> list[Common]:
    """Every pair of runs by the bits of their answers, given by position; `parts` has the bits of each part of gold.
    These are never pooled: where a sentence can be right only if its abstract is, a sum would count agreement twice.
    """
    return [
        Common(a, b, (one & other & mask).bit_count(), ((one | other) & mask).bit_count(), part)
        for (a, one), (b, other) in combinations(answers.items(), 2)
        for part, mask in parts.items()
    ]


FOUND: Final = "1"


def marks(found: int, things: int) -> str:
    """For each of so many things `1` where its bit is set, else `0`."""
    return f"{found:0{things}b}"[::-1] if things else ""


def found_by(of_runs: Sequence[str], things: int) -> list[int]:
    """How many runs found each thing, given the marks of each run."""
    return [of_thing.count(FOUND) for of_thing in zip(*of_runs)] if of_runs else [0] * things


def found_together(often: Sequence[int], runs: int, part: str = "") -> list[FoundTogether]:
    """For 1 ... `runs` runs the shares of things that any of them finds, and that at least so many do, given how often
    each thing was found. Of all choices of k among n runs the share C(n - m, k) / C(n, k) misses what m runs found.
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
        pooled.append(FoundTogether(part, systems, recall, agreed))
    return pooled


# ---- All of it


class System(Record):
    """A run by its name in the batch and its run id; a file may hold several run ids."""

    run: str
    run_id: str


class Evaluation(Record):
    """What gold gives: the mode, what a unit is called, the measure that is shown by unit, and what is to be found.

    `union_scores` are those of a run that finds some of it and does nothing wrong; none where that cannot be computed.
    Where there are `by_unit`, what is to be found are the units themselves, by each of these measures.
    """

    mode: str
    unit: str
    measure: str
    wanted: Sequence[Wanted]
    union_scores: Callable[[int], Mapping[str, float]]
    by_unit: Sequence[str] = ()


class OfPolicy(Record):
    """What all systems give under one policy, in the order of the systems.

    `marks` say what a system found, in the order of what is to be found; None for a system that was not scored. `often`
    counts them. `right` and `wrong` compare the answers of every pair of systems that were scored, part by part in
    evidence modes.
    """

    policy: str
    units: Sequence[UnitScores]
    answers: Sequence[Difficulty]
    agreement: Agreement
    marks: Sequence[str | None]
    often: Sequence[int]
    right: Sequence[Common]
    wrong: Sequence[Common]


class Overview(Record):
    """What many runs give together; `ranked` are those that each ranking has, by position.

    `resampling` is None where there are no intervals.
    """

    evaluation: Evaluation
    wanted: Sequence[Wanted]
    systems: Sequence[System]
    policies: Sequence[OfPolicy]
    stability: Stability
    ranked: Mapping[Ranking, frozenset[int]]
    resampling: Resampling | None


Given: TypeAlias = tuple[Mapping[str, float], Findings]
"""The scores of a system under a policy, and its findings."""


def overview(
    evaluation: Evaluation,
    systems: Sequence[System],
    given: Mapping[str, Sequence[Given | None]],
    measures: Sequence[str],
    resampling: Resampling | None,
) -> Overview:
    """Compute everything. `given` has by policy what each system gives, None where it was not scored; tables of one
    policy are in memory at a time. `measures` rank.
    """
    of_policies: list[OfPolicy] = []
    scores: dict[Ranking, list[float | None]] = {}
    resampled: dict[Ranking, Floats] = {}
    wanted = evaluation.wanted
    units: list[Unit] = []
    for policy, of_systems in given.items():
        tables = [None if each is None else each[1].table() for each in of_systems]
        # All policies have the same units, and the same resamples of them.
        units = units or united_units(table.ids for table in tables if table is not None)
        if evaluation.by_unit:  # the place says which one of the units with its id it is, where it is not the first
            wanted = [
                Wanted(measure, unit, str(n) if n > 1 else "", unit, "")
                for measure in evaluation.by_unit
                for unit, n in units
            ]
        of_policies.append(_of_policy(policy, of_systems, tables, evaluation, units, wanted))
        of_measures = {measure: [each and each[0].get(measure) for each in of_systems] for measure in measures}
        ranked = [name for name, of_runs in of_measures.items() if any(score is not None for score in of_runs)]
        scores |= {Ranking(measure, policy): of_measures[measure] for measure in ranked}
        if resampling is not None and ranked:
            drawn = resampled_scores(tables, units, measured(evaluation.mode, ranked), resampling)
            resampled.update((Ranking(measure, policy), found) for measure, found in zip(ranked, drawn))
    firm = stability(scores, resampled, 0.0 if resampling is None else resampling.level)
    there = {
        by: frozenset(at for at, score in enumerate(of_runs) if score is not None) for by, of_runs in scores.items()
    }
    return Overview(evaluation, wanted, systems, of_policies, firm, there, resampling)


def _of_policy(
    policy: str,
    given: Sequence[Given | None],
    tables: Sequence[UnitTable | None],
    evaluation: Evaluation,
    units: Sequence[Unit],
    wanted: Sequence[Wanted],
) -> OfPolicy:
    there = {place: each[1] for place, each in enumerate(given) if each is not None}
    # The measure of units is the first of those by which they are right.
    measure = measured(evaluation.mode, evaluation.by_unit or (evaluation.measure,))
    known: dict[tuple[float, ...], Values] = {}
    values = [{} if table is None else measure.values(table, known) for table in tables]
    # As bits, by system: what it found, which of all answers it has right, which wrong.
    parts = unit_parts(len(units), evaluation.by_unit) if evaluation.by_unit else {"": -1}
    if evaluation.by_unit:
        answers = {place: unit_answers(values[place], units, len(parts)) for place in there}
        found = {place: right for place, (right, _) in answers.items()}
    else:
        sides = zip(*((each.right, each.wrong) for each in there.values()))
        answers = dict(zip(there, zip(*(as_bits([_ID.findall(ids) for ids in side]) for side in sides))))
        found = {place: each.bits() for place, each in there.items()}
    of_systems = [marks(found[place], len(wanted)) if place in found else None for place in range(len(given))]
    often = found_by([each for each in of_systems if each is not None], len(wanted))
    of_parts: dict[str, list[int]] = {}
    for place, thing in enumerate(wanted):
        of_parts.setdefault(thing.part, []).append(place)
    difficulty, together = list[Difficulty](), list[FoundTogether]()
    for part, places in of_parts.items():
        times = [often[place] for place in places]
        alone = [place for place in places if often[place] == 1]
        only = (0 if each is None else sum(each[place] == FOUND for place in alone) for each in of_systems)
        found_by_so_many = tuple(map(times.count, range(len(there) + 1)))
        difficulty.append(Difficulty(policy, part, len(places), found_by_so_many, tuple(only)))
        together += found_together(times, len(there), part)
    union = Union(dict(evaluation.union_scores(reduce(operator.or_, found.values()))) if there else {})
    right, wrong = (overlaps({place: each[side] for place, each in answers.items()}, parts) for side in (0, 1))
    pairs = (Overlap(one.a, one.b, one.jaccard, other.jaccard, one.part) for one, other in zip(right, wrong))
    scores = [
        UnitScores(policy, unit[0], tuple(own[unit][0] if unit in own else None for own in values)) for unit in units
    ]
    agreement = Agreement(policy, tuple(pairs), union, tuple(together))
    return OfPolicy(policy, scores, difficulty, agreement, of_systems, often, right, wrong)


def unit_parts(units: int, measures: Sequence[str]) -> dict[str, int]:
    """The bits of `unit_answers` that belong to each measure, given the number of units."""
    return {measure: ((1 << units) - 1) << place * units for place, measure in enumerate(measures)}


def unit_answers(values: Mapping[Unit, Values], units: Sequence[Unit], measures: int) -> tuple[int, int]:
    """The bits of units that are right, and that are wrong, by so many measures, given a run's own values in them."""
    size = len(units) * measures
    sides: tuple[list[int], list[int]] = [], []
    for place, unit in enumerate(units):
        for thing, value in zip(range(place, size, len(units)), values.get(unit, ())):
            sides[value is not None and value < 1 - 1e-12].append(thing)  # right: 1 but for rounding
    return bits(sides[0], size), bits(sides[1], size)
