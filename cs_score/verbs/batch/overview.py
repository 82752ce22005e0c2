"""The overview of many runs: what each run found, how much they agree, and how certain their rankings are. A *target*
is something that runs should find: an equivalence class (answers with the same meaning) or, in evidence tasks, a unit
(claim, question) by a measure. A *part* of gold has all targets of one kind. A *system* is a run with one run id.

The *findings* of a run say which targets it found: bit n stands for the target at position n of the list of targets. A
batch scores many runs and calls `make_overview` with the results. Each run has `Findings` under each policy, which are
small enough to be stored with the run and sent between processes. In evidence tasks, a unit is found by a measure if
the unit's own value is 1, or if it is 0/0 because neither gold nor the run has anything for the unit.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

from cs_score.analysis.rankings import (
    RunRanking,
    Stability,
    Values,
    compare_rankings,
    measure_formula,
    resample_scores,
    units_of_runs,
)
from cs_score.base.documents import parse_json
from cs_score.base.records import Record, field
from cs_score.coldstart.gold import ColdStartGold
from cs_score.coldstart.judging import ClassTree, Counts, is_wrong_bin
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.queries import Query
from cs_score.coldstart.result import (
    ScoredRun,
    ScoreRow,
    UnitResult,
    add_ldc_tables,
    averaged_table,
    counted_row,
    in_printing_order,
)
from cs_score.coldstart.unit_statistics import unit_table
from cs_score.measures import Measure, default_measure
from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.units import Unit, UnitTable

# ---- The findings of one run

_ANSWER_ID: Final = re.compile("[0-9a-f]{12}")
"""The id of an answer: twelve hexadecimal digits made of its query, value and provenance."""


class Findings(Record):
    """The statistics of each unit that scores are made of, and which answers were right, which wrong, what was found.

    `units` are the ids as JSON; `rows` have the numbers of Python's `repr`, with commas, and semicolons between rows.
    Bit n of the hexadecimal `found` says whether target n was found; `right` and `wrong` are ids of answers, each once.
    """

    units: str
    columns: tuple[str, ...]
    rows: str
    found: str
    right: str
    wrong: str

    def table(self) -> UnitTable:
        """Return the statistics of each unit, parsed from the texts `units` and `rows`.

        Raises InputError or ValueError if the texts are malformed.
        """
        ids = tuple([str(unit) for unit in parse_json(self.units, "units")])
        rows = _parse_rows(self.rows) if ids else []
        has_whole_rows = all(len(row) == len(self.columns) for row in rows)
        if len(rows) != len(ids) or not has_whole_rows:
            raise ValueError("another number of rows or columns")
        return UnitTable(ids, self.columns, rows)

    def found_bits(self) -> int:
        """Return a whole number whose bit n is set if target n was found. Raises ValueError if `found` is no number."""
        return int(self.found, 16)

    def check(self) -> None:
        """Check that all texts can be read. Raises InputError or ValueError for a text that no batch has written."""
        self.table()
        self.found_bits()


def _parse_rows(text: str) -> list[tuple[float, ...]]:
    """Return the statistics in a text of `Findings.rows`: `"1,0.5;0,1"` gives `[(1.0, 0.5), (0.0, 1.0)]`.

    Many units have the same statistics, so lines that are equal are read once.
    """
    lines = text.split(";")
    row_by_line = {line: _parse_row(line) for line in set(lines)}
    return [row_by_line[line] for line in lines]


def _parse_row(line: str) -> tuple[float, ...]:
    """Return the statistics in a line of `Findings.rows`: `"1,0.5"` gives `(1.0, 0.5)`."""
    if not line:
        return ()
    return tuple([float(number) for number in line.split(",")])


def _format_row(row: Sequence[float]) -> str:
    """Return statistics as a line of `Findings.rows`: `(1, 0.5)` gives `"1,0.5"`."""
    return ",".join([repr(number) for number in row])


def make_findings(
    table: UnitTable, found_bits: int = 0, right_ids: Iterable[str] = (), wrong_ids: Iterable[str] = ()
) -> Findings:
    """Return the findings of a run, written as texts.

    `table` has the statistics of its units. Bit n of `found_bits` is set if the run found target n. `right_ids` and
    `wrong_ids` are the ids of its right and wrong answers.
    """
    line_by_row = {row: _format_row(row) for row in set(table.rows)}  # many units have the same statistics
    return Findings(
        units=json.dumps(table.ids),
        columns=table.columns,
        rows=";".join([line_by_row[row] for row in table.rows]),
        found=f"{found_bits:x}",  # a hexadecimal number
        right="".join(sorted(right_ids)),  # all ids have the same length, so no separator is needed
        wrong="".join(sorted(wrong_ids)),
    )


def pack_bits(numbers: Iterable[int], size: int) -> int:
    """Return the whole number whose bits at the positions `numbers` are 1, and all others 0: `[0, 2]` gives 0b101 (5).

    All `numbers` are below `size`. The result is written as text in base 2 first, because setting bits in a number
    copies it for each bit.
    """
    digits = bytearray(b"0") * (size + 1)
    for number in numbers:
        digits[size - number] = ord("1")  # bit 0 is the last digit
    return int(digits, base=2)


# ---- The targets of Cold Start


class Target(Record):
    """Something that gold wants found.

    `part` is its sort: `class` in Cold Start, a measure in evidence tasks. `unit` is the unit that it belongs to,
    `place` the row that asks for it, `name` its name there. `value` is an example of it in words.
    """

    part: str
    unit: str
    place: str
    name: str
    value: str


ClassKey: TypeAlias = tuple[str, str]
"""The name of a row (a query or a class) and the name of an equivalence class below it."""


class TargetIndex(Record, eq=False):
    """The targets of a Cold Start evaluation: the classes of the ground truth in all rows that are scored.

    The targets are in the order of the queries and of the pool. In a row whose slot takes a single value, all classes
    together are one target. `position_by_class` has the position in `targets` of the target of each class, and
    `positions_by_row` has the positions of the targets of each row.
    """

    targets: Sequence[Target]
    position_by_class: Mapping[ClassKey, int]
    positions_by_row: Mapping[str, Sequence[int]]

    __repr__ = object.__repr__


class _RowOfTargets(NamedTuple):
    """A row of the score tables, and the targets that belong to it.

    A row is about a query, or about a class if the query asks further questions about it; `name` is its name. For each
    of its `targets`, `class_groups` has the names of the equivalence classes (answers that mean the same) in it.
    """

    name: str
    targets: Sequence[Target]
    class_groups: Sequence[Sequence[str]]


def index_targets(gold: ColdStartGold) -> TargetIndex:
    """Return the targets of a Cold Start evaluation, with their positions by class and by row of the score tables.

    A target is an equivalence class of the ground truth. If a query asks for a single value, all classes of its row
    together are one target, and they all have its position.
    """
    targets: list[Target] = []
    position_by_class: dict[ClassKey, int] = {}
    positions_by_row: dict[str, Sequence[int]] = {}
    for row in _rows_of_gold(gold):
        # The targets of this row come after the targets of all earlier rows.
        target_positions = range(len(targets), len(targets) + len(row.targets))
        targets += row.targets
        positions_by_row[row.name] = list(target_positions)
        position_by_class.update(_position_by_class(row, target_positions))
    return TargetIndex(targets=targets, position_by_class=position_by_class, positions_by_row=positions_by_row)


def _position_by_class(row: _RowOfTargets, target_positions: Sequence[int]) -> dict[ClassKey, int]:
    """Return the position of the target to which each equivalence class of a row belongs: `{("CS14_0001", "c3"): 7}`.

    `target_positions` are the positions of the targets of the row.
    """
    position_by_class = {}
    for position, class_names in zip(target_positions, row.class_groups):
        for class_name in class_names:
            position_by_class[row.name, class_name] = position
    return position_by_class


def _rows_of_gold(gold: ColdStartGold) -> Iterator[_RowOfTargets]:
    """Yield the rows of the score tables of all scored queries. A query without a tree of classes has no rows."""
    for query in gold.selected_queries():
        tree = gold.gold_of_query(query, gold.links).tree  # only the links of gold; no run is needed here
        if tree is not None:
            yield from _rows_of_query(gold, query, tree)


def _rows_of_query(gold: ColdStartGold, query: Query, tree: ClassTree) -> Iterator[_RowOfTargets]:
    """Yield the rows of the score tables of a query, whose equivalence classes form a `tree`.

    A row has the name of its node in the tree: the query itself, or a class with further questions. Each class of a row
    is a target. If the slot of the row takes a single value, its classes together are one target.
    """
    cluster = gold.cluster_of(query)  # the unit of the query: its LDC query, or else the query itself
    example_by_class = _example_by_class(gold, query)
    classes_by_row = _classes_by_row(tree, max_depth=gold.hop_limit_by_id[query.short_id])
    for row_name, classes in classes_by_row.items():
        is_single_valued = tree.is_single_valued_by_node.get(row_name, False)
        class_groups = _group_into_targets(classes, is_single=is_single_valued)
        targets = []
        for class_group in class_groups:
            first_class = class_group[0]
            example = example_by_class.get(first_class, "")
            targets.append(Target(part="class", unit=cluster, place=row_name, name=first_class, value=example))
        yield _RowOfTargets(row_name, targets, class_groups)


def _example_by_class(gold: ColdStartGold, query: Query) -> dict[str, str]:
    """Return the value of the first accepted assessment of each equivalence class of a query."""
    example_by_class: dict[str, str] = {}
    for assessment in gold.assessments_by_query.get(query.base_id, ()):
        if assessment.is_accepted:
            example_by_class.setdefault(assessment.value_class, assessment.value)
    return example_by_class


def _classes_by_row(tree: ClassTree, max_depth: int) -> dict[str, list[str]]:
    """Return the names of the equivalence classes that belong to each row of a query's score tables.

    A row is about the query itself, or about a class if the query asks further questions about it. Rows deeper in the
    tree than `max_depth` are left out, because they are not scored. Wrong bins are left out, too; they collect
    responses that are not in any class.
    """
    classes_by_row: dict[str, list[str]] = {}
    for row in tree.inner_nodes:
        if tree.depth(row) <= max_depth:
            classes_by_row[row] = []
    for class_name, row in tree.parent_by_class.items():
        if row in classes_by_row and not is_wrong_bin(class_name, tree.root):
            classes_by_row[row].append(class_name)
    return classes_by_row


def _group_into_targets(classes: list[str], *, is_single: bool) -> list[list[str]]:
    """Return the classes of a row in groups, one group for each target.

    If the slot takes a single value (`is_single`), all classes together are one target; otherwise each class is one.
    """
    if is_single and classes:
        return [classes]
    return [[class_name] for class_name in classes]


class _JudgedAnswers:
    """The right and the wrong answers of a run, by their ids such as `"0a1b2c3d4e5f"`, and the targets that it found.

    The same answer may be right in one line and wrong in another. `found_positions` are the positions of the targets in
    the list of all targets.
    """

    def __init__(self, index: TargetIndex) -> None:
        """Begin without answers; `index` has the targets of gold."""
        self._index = index
        self.found_positions: set[int] = set()
        self.right_ids: set[str] = set()
        self.wrong_ids: set[str] = set()

    def add_unit(self, unit: UnitResult) -> None:
        """Add the answers of the run in a unit that count in the unit's scores."""
        for row, response in _counted_responses(unit):
            labels = unit.labels_by_index[response.index]
            # The follow-on query asks about this answer. Its id is made from the query, the value and the provenance.
            answer_id = response.follow_on.id
            if WRONG in labels:
                self.wrong_ids.add(answer_id)
            if RIGHT in labels:
                self.right_ids.add(answer_id)
                self._add_target(row, unit.assessment_by_index.get(response.index))

    def _add_target(self, row: str, assessment: Assessment | None) -> None:
        """Add the target that a right answer has found; `row` is the name of the row that counts the answer.

        A policy may count an answer as right even if it has no assessment or does not belong to a class. Such an answer
        does not find a target.
        """
        if assessment is None:
            return
        position = self._index.position_by_class.get((row, assessment.value_class))
        if position is not None:
            self.found_positions.add(position)


def collect_findings(run: ScoredRun, index: TargetIndex, measures: Sequence[Measure]) -> Findings:
    """Return the findings of a scored Cold Start run: which targets it found, and its right and wrong answers.

    They also have the statistics of its units that `measures` need. `index` has the targets of gold.
    """
    answers = _JudgedAnswers(index)
    for unit in run.units:
        answers.add_unit(unit)
    found_bits = pack_bits(answers.found_positions, len(index.targets))
    # An answer that is right in one line and wrong in another counts as right.
    only_wrong_ids = answers.wrong_ids - answers.right_ids
    return make_findings(unit_table(run, measures), found_bits, answers.right_ids, only_wrong_ids)


def _counted_responses(unit: UnitResult) -> Iterator[tuple[str, Response]]:
    """Yield the counted responses (answers of the run) of a unit, each after the name of its row of the score tables.

    Responses that no row counts, such as those beyond a limit, are left out.
    """
    for query in unit.queries:
        for tally in query.tallies:
            for response in tally.responses:
                yield tally.name, response


def score_found_targets(gold: ColdStartGold, index: TargetIndex, found_bits: int) -> dict[str, float]:
    """Return the scores, by measure, of a run that gives one right answer for each found target and no other answer.

    Target n is found if bit n of `found_bits` is set. The scores are those in score tables. So there are no measures of
    rankings: they depend on confidences, which such a run does not have.
    """
    score_rows = _score_rows_of_found(index, found_bits)
    slot_filling_table = averaged_table(in_printing_order(score_rows))
    # The scores are the averages of this table and, if LDC queries were expanded, of two tables made from its rows.
    score_tables = add_ldc_tables(slot_filling_table, gold.query_set)
    return {str(measure): score for measure, score in score_tables.score_by_measure.items()}


def _score_rows_of_found(index: TargetIndex, found_bits: int) -> list[ScoreRow]:
    """Return the rows of the score table of a run that gives one right answer for each found target, and no others.

    Target n is found if bit n of `found_bits` is set.
    """
    marks = mark_targets(found_bits, len(index.targets))
    rows = []
    for row_name, target_positions in index.positions_by_row.items():
        # Each answer is assessed as correct, and right under every policy.
        found_count = sum(marks[position] == FOUND for position in target_positions)
        counts = Counts(
            ground_truth=len(target_positions), submitted=found_count, correct=found_count, right=found_count
        )
        rows.append(counted_row(row_name, counts))
    return rows


def unit_measure(gold: ColdStartGold) -> Measure:
    """Return the measure whose value is shown for each unit and run: the headline measure of the evaluation."""
    return default_measure(
        has_ldc_queries=bool(gold.query_set.ldc_id_by_query), has_rankings=gold.options.edition.has_rankings
    )


# ---- What runs have in common


class SharedAnswers(Record):
    """The numbers of answers that two runs have in common (`shared_count`) and together (`either_count`).

    `a` and `b` are the positions of the two runs.
    `part` is the part of gold that the answers belong to; empty where all answers are of one sort.
    """

    a: int
    b: int
    shared_count: int
    either_count: int
    part: str = ""

    @property
    def jaccard(self) -> float | None:
        """Jaccard's index (1912): `shared_count` / `either_count`, from 0 to 1; None if neither run has an answer."""
        if not self.either_count:
            return None
        return self.shared_count / self.either_count


class UnitScores(Record):
    """The scores of a unit, run by run; None where a run has none."""

    policy: str
    unit: str
    scores: tuple[float | None, ...]


class Difficulty(Record):
    """How hard the answers of a part are to find.

    `found_by[k]` of the `total` answers were found by exactly k runs; `only[i]` were found by run i alone.
    """

    policy: str
    part: str
    total: int
    found_by: tuple[int, ...]
    found_alone_counts: tuple[int, ...] = field(name="only")


class Overlap(Record):
    """Jaccard's index of the right and of the wrong answers of two runs; None where neither has any."""

    a: int
    b: int
    right: float | None
    wrong: float | None
    part: str = ""


class FoundTogether(Record):
    """The share of the answers that `systems` runs find together.

    `recall` is the mean, over all choices of so many runs, of the share that any of them finds; `agreed` is the share
    that at least so many runs find.
    """

    # The names of the fields in JSON differ from those here.
    part: str
    run_count: int = field(name="systems")
    found_by_any: float | None = field(name="recall")
    found_by_at_least: float | None = field(name="agreed")


class Union(Record):
    """The scores of all that is right in any run."""

    scores: dict[str, float]


class Agreement(Record):
    """How much runs have in common under a policy."""

    policy: str
    pairs: tuple[Overlap, ...]
    union: Union
    found_together: tuple[FoundTogether, ...] = field(name="systems")


def answers_as_bits(ids_of_runs: Sequence[Collection[str]]) -> list[int]:
    """Return an integer for each run, with a bit for each answer that the run has.

    `ids_of_runs` has the ids of the answers of each run. A bit means the same answer in all runs: `[{"x"}, {"x", "y"}]`
    gives `[1, 3]` or `[2, 3]`.
    """
    all_ids: set[str] = set()
    for ids in ids_of_runs:
        all_ids.update(ids)
    number_by_id = {answer_id: number for number, answer_id in enumerate(all_ids)}
    bits_of_runs = []
    for ids in ids_of_runs:
        numbers = [number_by_id[answer_id] for answer_id in ids]
        bits_of_runs.append(pack_bits(numbers, len(all_ids)))
    return bits_of_runs


def count_shared_answers(bits_by_run: Mapping[int, int], mask_by_part: Mapping[str, int]) -> list[SharedAnswers]:
    """Return how many answers both runs of each pair have, and how many at least one of them has.

    Each part of gold is counted separately. `bits_by_run` has the answers of each run as the bits of an integer, by the
    position of the run. `mask_by_part` has the bits of the answers that belong to each part. Parts are never added up:
    a sentence can be right only if its abstract is right, so a sum over both would count the same agreement twice.
    """
    shared_answers = []
    for a, b in combinations(bits_by_run, 2):
        shared_bits = bits_by_run[a] & bits_by_run[b]
        either_bits = bits_by_run[a] | bits_by_run[b]
        for part, mask in mask_by_part.items():
            shared_count = (shared_bits & mask).bit_count()
            either_count = (either_bits & mask).bit_count()
            shared_answers.append(SharedAnswers(a, b, shared_count=shared_count, either_count=either_count, part=part))
    return shared_answers


FOUND: Final = "1"
"""The mark of a target that a run found."""


def mark_targets(found_bits: int, target_count: int) -> str:
    """Return a text with a mark for each target, `1` if its bit is set and `0` if not: the bits 0b0101 give `1010`."""
    if target_count == 0:
        return ""
    last_target_first = format(found_bits, "b").zfill(target_count)  # the number in base 2 ends with bit 0
    return last_target_first[::-1]


def count_finders(marks_of_runs: Sequence[str], target_count: int) -> list[int]:
    """Return the number of runs that found each target: `["10", "11"]` gives `[2, 1]`.

    For each run, `marks_of_runs` has a text with a mark for each target, as made by `mark_targets`.
    """
    if not marks_of_runs:
        return [0] * target_count
    # For each target the marks of all runs: ["10", "11"] -> ("1", "1"), ("0", "1").
    marks_by_target = zip(*marks_of_runs)
    return [marks_of_target.count(FOUND) for marks_of_target in marks_by_target]


def shares_found_together(finder_counts: Sequence[int], run_count: int, part: str = "") -> list[FoundTogether]:
    """Return the share of the targets of a part that k runs find, for k = 1, 2 ... `run_count`.

    `found_by_any` is the share found by at least one of k runs, averaged over all choices of k runs.
    `found_by_at_least` is the share found by at least k runs. `finder_counts` has the number of runs that found each
    target: with `[2, 1]` and two runs, one run finds 3/4 of the targets on average, and both together find all of them.
    If there are no targets, the list is empty.
    """
    if not finder_counts:
        return []
    target_count = len(finder_counts)
    # Targets with the same number of finders are counted together, in pairs: number of finders, number of targets.
    finders_and_targets = sorted(Counter(finder_counts).items())
    shares = []
    for k, missed_share_by_finders in enumerate(_missed_shares(finder_counts, run_count), start=1):
        # A share of the choices of k runs misses a target with m finders. All other choices find it, so that on average
        # it counts as 1 minus this share.
        average_found = sum((1 - missed_share_by_finders[finders]) * count for finders, count in finders_and_targets)
        found_by_k_or_more = sum(count for finders, count in finders_and_targets if finders >= k)
        found_by_any = average_found / target_count
        found_by_at_least = found_by_k_or_more / target_count
        shares.append(FoundTogether(part, run_count=k, found_by_any=found_by_any, found_by_at_least=found_by_at_least))
    return shares


def _missed_shares(finder_counts: Iterable[int], run_count: int) -> Iterator[dict[int, float]]:
    """Yield, for k = 1, 2 ... `run_count`, the share of all choices of k runs in which no run found a target.

    The keys are the numbers of runs that found the target, because the share depends on this number. For each m in
    `finder_counts`, the share is C(n - m, k) / C(n, k), where n is `run_count`. If one of two runs found the target,
    the shares are 0.5 and 0: `[{1: 0.5}, {1: 0.0}]`.
    """
    # Each share is computed from the previous one: C(n - m, k) / C(n, k) is the share for k - 1 times (r - m) / r. Here
    # r = n - k + 1 is the number of runs that remain when k - 1 runs, all of which missed the target, have been chosen.
    share_by_finders = dict.fromkeys(finder_counts, 1.0)
    for k in range(1, run_count + 1):
        remaining_runs = run_count - k + 1
        next_share_by_finders = {}
        for finders, share in share_by_finders.items():
            remaining_runs_that_miss = max(0, remaining_runs - finders)
            next_share_by_finders[finders] = share * (remaining_runs_that_miss / remaining_runs)
        share_by_finders = next_share_by_finders
        yield share_by_finders


# ---- The overview


class System(Record):
    """A run by its name in the batch and its run id; a file may hold several run ids."""

    run: str
    run_id: str


class Evaluation(Record):
    """The properties of gold that an overview of many runs needs.

    * `unit`: the name of a unit, such as query or claim.
    * `measure`: the measure that is shown for each unit.
    * `targets`: the things that runs should find.
    * `union_scores`: the function that returns the scores of a run that finds certain targets and does nothing wrong.
      It takes these targets as bits of a whole number. It returns no scores if they cannot be computed.
    * `target_measures`: if there are any, the targets are the units, once for each of these measures.
    """

    task: str
    unit: str
    measure: str
    targets: Sequence[Target]
    union_scores: Callable[[int], Mapping[str, float]]
    target_measures: Sequence[str] = ()

    @property
    def has_units_as_targets(self) -> bool:
        """Whether the targets are the units, as in evidence tasks; in Cold Start they are equivalence classes."""
        return bool(self.target_measures)


class SystemResult(Record):
    """The scores of a system under a policy, by measure, and its findings."""

    scores: Mapping[str, float]
    findings: Findings


class PolicyOverview(Record):
    """The overview of all systems under one policy, in the order of the systems.

    `marks_of_systems` say which targets each system found; None for a system that was not scored. `finder_counts` has
    for each target the number of systems that found it. `right_answers` and `wrong_answers` compare the answers of
    every two systems that were scored, part by part in evidence tasks.
    """

    policy: str
    unit_scores: Sequence[UnitScores]
    difficulties: Sequence[Difficulty]
    agreement: Agreement
    marks_of_systems: Sequence[str | None]
    finder_counts: Sequence[int]
    right_answers: Sequence[SharedAnswers]
    wrong_answers: Sequence[SharedAnswers]


class Overview(Record):
    """The overview of many runs.

    `ranked_positions` has for each ranking (a measure under a policy) the positions of the systems that have a score in
    it. `resampling` has the settings of the intervals, or is None if there are no intervals.
    """

    evaluation: Evaluation
    targets: Sequence[Target]
    systems: Sequence[System]
    policies: Sequence[PolicyOverview]
    stability: Stability
    ranked_positions: Mapping[RunRanking, frozenset[int]]
    resampling: Resampling | None

    @property
    def unit_scores(self) -> list[UnitScores]:
        """The scores of all units under the first policy, then those under the next one ..."""
        unit_scores: list[UnitScores] = []
        for policy_overview in self.policies:
            unit_scores += policy_overview.unit_scores
        return unit_scores

    @property
    def difficulties(self) -> list[Difficulty]:
        """The difficulties of all parts of gold under the first policy, then those under the next one ..."""
        difficulties: list[Difficulty] = []
        for policy_overview in self.policies:
            difficulties += policy_overview.difficulties
        return difficulties


def make_overview(
    evaluation: Evaluation,
    systems: Sequence[System],
    results_by_policy: Mapping[str, Sequence[SystemResult | None]],
    measures: Sequence[str],
    resampling: Resampling | None,
) -> Overview:
    """Return the overview of many systems, ranked by each of `measures` under each policy.

    For each policy, `results_by_policy` has the result of each system, or None if the system was not scored. With
    `resampling`, the agreement of rankings has intervals. To save memory, the statistics of units are read for one
    policy at a time.
    """
    rankings = _Rankings(evaluation.task, measures, resampling)
    policies: list[PolicyOverview] = []
    units: list[Unit] = []
    for policy, results in results_by_policy.items():
        policy_results = PolicyResults(policy, results, _read_tables(results))
        if not units:  # all policies have the same units, and the same resamples of them
            ids_of_runs = [table.ids for table in policy_results.tables if table is not None]
            units = units_of_runs(ids_of_runs)
        policies.append(_summarize_policy(policy_results, evaluation, units))
        rankings.add(policy_results, units)
    return Overview(
        evaluation=evaluation,
        targets=_targets_of(evaluation, units),
        systems=systems,
        policies=policies,
        stability=rankings.stability(),
        ranked_positions=rankings.ranked_positions(),
        resampling=resampling,
    )


def _read_tables(results: Sequence[SystemResult | None]) -> list[UnitTable | None]:
    """Return a table with the statistics of each system's units, or None for a system that was not scored."""
    tables: list[UnitTable | None] = []
    for result in results:
        table = None if result is None else result.findings.table()
        tables.append(table)
    return tables


def _targets_of(evaluation: Evaluation, units: Sequence[Unit]) -> Sequence[Target]:
    """Return the targets of gold or, in evidence tasks, all units for each target measure."""
    if not evaluation.has_units_as_targets:
        return evaluation.targets
    targets = []
    for measure in evaluation.target_measures:
        for unit_id, occurrence in units:
            # The place tells units with the same id apart; the first one needs none.
            place = str(occurrence) if occurrence > 1 else ""
            targets.append(Target(part=measure, unit=unit_id, place=place, name=unit_id, value=""))
    return targets


class _Rankings:
    """The rankings of the systems of a batch: by each of some measures, under each policy.

    A ranking consists of the scores of the systems, with None for a system without a score. If scores are resampled, it
    also has the scores in each resample.
    """

    def __init__(self, task: str, measures: Sequence[str], resampling: Resampling | None) -> None:
        """Begin without rankings. The `measures` rank the systems; nothing is resampled if `resampling` is None."""
        self._task = task
        self._measures = measures
        self._resampling = resampling
        self._scores_by_ranking: dict[RunRanking, Sequence[float | None]] = {}
        self._resampled_scores_by_ranking: dict[RunRanking, Floats] = {}

    def add(self, policy_results: PolicyResults, units: Sequence[Unit]) -> None:
        """Add the scores that rank the systems under a policy, and, if there are resamples, those of each resample.

        `units` are the units of all systems; these units are resampled.
        """
        scores_by_measure = _scores_to_rank(policy_results.results, self._measures)
        for measure, scores in scores_by_measure.items():
            self._scores_by_ranking[RunRanking(measure, policy_results.policy)] = scores
        if self._resampling is None or not scores_by_measure:
            return
        measures = list(scores_by_measure)
        formula = measure_formula(self._task, measures)
        # One array of resampled scores for each measure of the formula, in the same order.
        resampled_scores = resample_scores(policy_results.tables, units, formula, self._resampling)
        for measure, resampled_scores_of_measure in zip(measures, resampled_scores):
            ranking = RunRanking(measure, policy_results.policy)
            self._resampled_scores_by_ranking[ranking] = resampled_scores_of_measure

    def stability(self) -> Stability:
        """Return how much the rankings agree, and how often each system comes first in resamples."""
        level = 0.0 if self._resampling is None else self._resampling.significance_level
        return compare_rankings(self._scores_by_ranking, self._resampled_scores_by_ranking, level)

    def ranked_positions(self) -> dict[RunRanking, frozenset[int]]:
        """Return for each ranking the positions of the systems that have a score in it."""
        positions_by_ranking = {}
        for ranking, scores in self._scores_by_ranking.items():
            positions = [position for position, score in enumerate(scores) if score is not None]
            positions_by_ranking[ranking] = frozenset(positions)
        return positions_by_ranking


def _scores_to_rank(results: Sequence[SystemResult | None], measures: Sequence[str]) -> dict[str, list[float | None]]:
    """Return the scores of the systems by measure, with None for a system without a score.

    Measures by which no system has a score are left out.
    """
    scores_by_measure: dict[str, list[float | None]] = {}
    for measure in measures:
        scores = [None if result is None else result.scores.get(measure) for result in results]
        if any(score is not None for score in scores):
            scores_by_measure[measure] = scores
    return scores_by_measure


# ---- The overview of one policy


class PolicyResults(Record):
    """The results of all systems under one policy, and the statistics of their units.

    Both are None for a system that was not scored.
    """

    policy: str
    results: Sequence[SystemResult | None]
    tables: Sequence[UnitTable | None]


class AnswerBits(Record):
    """The targets that a system found, its right answers and its wrong answers, each as bits of a whole number."""

    found: int
    right: int
    wrong: int


class _Finders(Record):
    """The systems that found each target of gold, under one policy.

    For each system, `marks_of_systems` has a text such as `"0110"` with a mark for each target: `1` if the system found
    it, otherwise `0`. It has None for a system that was not scored. `finder_counts` has the number of systems that
    found each target.
    """

    targets: Sequence[Target]
    marks_of_systems: Sequence[str | None]
    finder_counts: Sequence[int]

    @property
    def scored_count(self) -> int:
        """The number of systems that were scored: 2 for `["01", None, "11"]`."""
        return sum(marks is not None for marks in self.marks_of_systems)

    def positions_by_part(self) -> dict[str, list[int]]:
        """Return the positions of the targets that belong to each part of gold: `{"class": [0, 1, 2]}`."""
        positions_by_part: dict[str, list[int]] = {}
        for position, target in enumerate(self.targets):
            positions_by_part.setdefault(target.part, []).append(position)
        return positions_by_part


UnitValues: TypeAlias = Mapping[Unit, Values]
"""The values of a system in each unit by itself, a value for each measure."""


def _summarize_policy(policy_results: PolicyResults, evaluation: Evaluation, units: Sequence[Unit]) -> PolicyOverview:
    """Return the overview of all systems under one policy: the scores of their units, and the targets that they found.

    The finders of a target are the systems that found it. The marks of a system are a text such as `"0110"`, with `1`
    for each target that the system found and `0` for each other target. `units` are the units of all systems.
    """
    policy = policy_results.policy
    values_of_systems = _values_of_systems(policy_results.tables, evaluation)
    answers = _answers_of_policy(policy_results.results, values_of_systems, evaluation, units)
    return PolicyOverview(
        policy=policy,
        unit_scores=_unit_scores(policy, units, values_of_systems),
        difficulties=_difficulties(policy, answers.finders),
        agreement=_agreement(policy, answers, evaluation),
        marks_of_systems=answers.finders.marks_of_systems,
        finder_counts=answers.finders.finder_counts,
        right_answers=answers.shared_by_pairs.right,
        wrong_answers=answers.shared_by_pairs.wrong,
    )


class _AnswersOfPolicy(NamedTuple):
    """The answers of all systems under one policy.

    `by_system` has the answers of each scored system, by its position. `finders` are the systems that found each
    target. `shared_by_pairs` counts the answers that each two systems have in common.
    """

    by_system: Mapping[int, AnswerBits]
    finders: _Finders
    shared_by_pairs: _SharedRightAndWrong


def _answers_of_policy(
    results: Sequence[SystemResult | None],
    values_of_systems: Sequence[UnitValues],
    evaluation: Evaluation,
    units: Sequence[Unit],
) -> _AnswersOfPolicy:
    """Return the answers of all systems under one policy, the finders of each target, and counts of shared answers.

    `results` has None for a system that was not scored. `values_of_systems` has the values of each system in its units.
    """
    answers_by_system = _answers_by_system(results, values_of_systems, evaluation, units)
    finders = _finders_of(_targets_of(evaluation, units), answers_by_system, len(results))
    shared_answers = _shared_answers(answers_by_system, _mask_by_part(evaluation, len(units)))
    return _AnswersOfPolicy(answers_by_system, finders, shared_answers)


def _agreement(policy: str, answers: _AnswersOfPolicy, evaluation: Evaluation) -> Agreement:
    """Return how much the systems agree under a policy: in pairs, in groups of several systems, and all together.

    The finders of a target are the systems that found it.
    """
    return Agreement(
        policy=policy,
        pairs=_overlaps(answers.shared_by_pairs),
        union=_score_union(evaluation, answers.by_system),
        found_together=_found_together(answers.finders),
    )


class _SharedRightAndWrong(NamedTuple):
    """The numbers of right answers and of wrong answers that each two systems share; both lists have the same pairs."""

    right: Sequence[SharedAnswers]
    wrong: Sequence[SharedAnswers]


def _shared_answers(
    answers_by_system: Mapping[int, AnswerBits], mask_by_part: Mapping[str, int]
) -> _SharedRightAndWrong:
    """Return how many right and how many wrong answers each pair of scored systems shares.

    For each part of gold, `mask_by_part` has an integer whose bits are 1 for the answers that belong to the part.
    """
    right_by_system = {position: answers.right for position, answers in answers_by_system.items()}
    wrong_by_system = {position: answers.wrong for position, answers in answers_by_system.items()}
    return _SharedRightAndWrong(
        right=count_shared_answers(right_by_system, mask_by_part),
        wrong=count_shared_answers(wrong_by_system, mask_by_part),
    )


def _mask_by_part(evaluation: Evaluation, unit_count: int) -> dict[str, int]:
    """Return, for each part of gold, an integer whose bits are 1 for the answers that belong to the part.

    These masks select the answers of a part from the bits of a system's answers. In evidence tasks, there is one part
    for each measure, with a bit for each unit. In Cold Start, all answers are in a single part without a name, and the
    result is `{"": -1}`, because all bits of -1 are set.
    """
    if evaluation.has_units_as_targets:
        return masks_by_measure(unit_count, evaluation.target_measures)
    return {"": -1}


def _finders_of(targets: Sequence[Target], answers_by_system: Mapping[int, AnswerBits], system_count: int) -> _Finders:
    """Return a text of marks for each system, with one mark for each target: in `"0110"`, `1` means found.

    `answers_by_system` has the answers of each scored system, by its position among all `system_count` systems. The
    other systems have None in place of marks.
    """
    marks_of_systems: list[str | None] = [None] * system_count
    for position, answers in answers_by_system.items():
        marks_of_systems[position] = mark_targets(answers.found, len(targets))
    marks_of_scored_systems = [marks for marks in marks_of_systems if marks is not None]
    return _Finders(targets, marks_of_systems, finder_counts=count_finders(marks_of_scored_systems, len(targets)))


def _found_together(finders: _Finders) -> tuple[FoundTogether, ...]:
    """Return for each part of gold the shares of its targets that one, two, three ... systems find together.

    The shares of a part are in the order of these numbers of systems, and the parts follow each other in one tuple.
    """
    shares = []
    for part, target_positions in finders.positions_by_part().items():
        finder_counts_of_part = [finders.finder_counts[position] for position in target_positions]
        shares += shares_found_together(finder_counts_of_part, finders.scored_count, part)
    return tuple(shares)


def _values_of_systems(tables: Sequence[UnitTable | None], evaluation: Evaluation) -> list[UnitValues]:
    """Return the values of each system's units, one value for each measure.

    A system that was not scored has no values. `tables` have the statistics of the units. In evidence tasks, a unit has
    a value for each target measure; in Cold Start, it has only the value by `evaluation.measure`. The files of the
    batch show the first value of a unit.
    """
    measures = evaluation.target_measures or (evaluation.measure,)
    formula = measure_formula(evaluation.task, measures)
    # `values` fills this cache. It is useful because many units of all systems have the same statistics.
    values_by_row: dict[tuple[float, ...], Values] = {}
    values_of_systems: list[UnitValues] = []
    for table in tables:
        if table is None:
            values_of_systems.append({})
        else:
            values_of_systems.append(formula.values(table, values_by_row))
    return values_of_systems


def _answers_by_system(
    results: Sequence[SystemResult | None],
    values_of_systems: Sequence[UnitValues],
    evaluation: Evaluation,
    units: Sequence[Unit],
) -> dict[int, AnswerBits]:
    """Return the answers of each scored system, by its position.

    In evidence tasks an answer is a unit by a measure, and `values_of_systems` tell whether it is right. In Cold Start
    the findings of the results have the ids of the answers.
    """
    if not evaluation.has_units_as_targets:
        return _answers_by_ids(results)
    measure_count = len(evaluation.target_measures)
    answers_by_system = {}
    for position, result in enumerate(results):
        if result is not None:
            answers_by_system[position] = judge_units(values_of_systems[position], units, measure_count)
    return answers_by_system


def _answers_by_ids(results: Sequence[SystemResult | None]) -> dict[int, AnswerBits]:
    """Return the answers of each scored system, by its position, from the ids of answers in its findings."""
    findings_by_system = {position: result.findings for position, result in enumerate(results) if result is not None}
    right_bits = answers_as_bits([_split_ids(findings.right) for findings in findings_by_system.values()])
    wrong_bits = answers_as_bits([_split_ids(findings.wrong) for findings in findings_by_system.values()])
    answers_by_system = {}
    for (position, findings), right, wrong in zip(findings_by_system.items(), right_bits, wrong_bits):
        answers_by_system[position] = AnswerBits(findings.found_bits(), right, wrong)
    return answers_by_system


def _split_ids(ids_in_one_text: str) -> list[str]:
    """Return the ids of answers in a text of findings. Each id has twelve characters, and there is no separator."""
    return _ANSWER_ID.findall(ids_in_one_text)


def _difficulties(policy: str, finders: _Finders) -> list[Difficulty]:
    """Return how hard the targets of each part of gold are to find, for the systems under a policy."""
    return [
        _difficulty(policy, part, target_positions, finders)
        for part, target_positions in finders.positions_by_part().items()
    ]


def _difficulty(policy: str, part: str, target_positions: Sequence[int], finders: _Finders) -> Difficulty:
    """Return how many targets of a part were found by 0, 1, 2 ... systems, and how many by each system alone.

    `target_positions` are the positions of these targets among all targets.
    """
    target_count_by_finders = Counter([finders.finder_counts[position] for position in target_positions])
    found_by = [target_count_by_finders[finder_count] for finder_count in range(finders.scored_count + 1)]
    positions_found_once = [position for position in target_positions if finders.finder_counts[position] == 1]
    found_alone_counts = [_found_count(marks, positions_found_once) for marks in finders.marks_of_systems]
    return Difficulty(
        policy=policy,
        part=part,
        total=len(target_positions),
        found_by=tuple(found_by),
        found_alone_counts=tuple(found_alone_counts),
    )


def _found_count(marks: str | None, positions: Iterable[int]) -> int:
    """Return how many of the targets at the given positions a system found, according to its marks.

    The marks `"0110"` and the positions `[0, 1]` give 1. A system that was not scored has no marks, so the result is 0.
    """
    if marks is None:
        return 0
    return sum(marks[position] == FOUND for position in positions)


def _unit_scores(policy: str, units: Sequence[Unit], values_of_systems: Sequence[UnitValues]) -> list[UnitScores]:
    """Return each unit's scores by the first measure: one for each system, or None if the system lacks the unit."""
    no_values: Values = (None,)
    unit_scores = []
    for unit in units:
        # Only the value by the first measure is shown.
        scores = [values_by_unit.get(unit, no_values)[0] for values_by_unit in values_of_systems]
        unit_id, _ = unit  # the second item numbers the units with this id
        unit_scores.append(UnitScores(policy, unit_id, tuple(scores)))
    return unit_scores


def _overlaps(shared_answers: _SharedRightAndWrong) -> tuple[Overlap, ...]:
    """Return Jaccard's index of the right and of the wrong answers of each two systems."""
    overlaps = []
    for right, wrong in zip(shared_answers.right, shared_answers.wrong):
        overlaps.append(Overlap(right.a, right.b, right=right.jaccard, wrong=wrong.jaccard, part=right.part))
    return tuple(overlaps)


def _score_union(evaluation: Evaluation, answers_by_system: Mapping[int, AnswerBits]) -> Union:
    """Return the scores of a run that finds every target found by any system; none if no system was scored."""
    if not answers_by_system:
        return Union({})
    found_bits = 0
    for answers in answers_by_system.values():
        found_bits |= answers.found
    return Union(dict(evaluation.union_scores(found_bits)))


# ---- Units as targets

_RIGHT_VALUE: Final = 1 - 1e-12
"""The least value of a unit that counts as 1, since rounding may make a value slightly less than 1."""


def masks_by_measure(unit_count: int, measures: Sequence[str]) -> dict[str, int]:
    """Return for each measure the bits that `judge_units` uses for it, one bit for each unit.

    Two units and the measures a and b give `{"a": 0b0011, "b": 0b1100}`.
    """
    bits_of_units = (1 << unit_count) - 1  # the lowest `unit_count` bits
    mask_by_measure = {}
    for position, measure in enumerate(measures):
        mask_by_measure[measure] = bits_of_units << (position * unit_count)
    return mask_by_measure


def judge_units(values_by_unit: UnitValues, units: Sequence[Unit], measure_count: int) -> AnswerBits:
    """Return the units that a system has right and those that it has wrong, as bits: a block of bits for each measure.

    Right units also count as found. A unit is right if its value is 1. It is also right if its value is None (0/0),
    since nothing there is wrong. A unit that the system does not have is neither right nor wrong. The bits have the
    order that `masks_by_measure` explains: all units by the first measure, then all units by the second one ...
    """
    right_positions = []
    wrong_positions = []
    for bit_position, value in _values_with_positions(values_by_unit, units):
        is_wrong = value is not None and value < _RIGHT_VALUE
        if is_wrong:
            wrong_positions.append(bit_position)
        else:
            right_positions.append(bit_position)
    bit_count = len(units) * measure_count
    right = pack_bits(right_positions, bit_count)
    wrong = pack_bits(wrong_positions, bit_count)
    return AnswerBits(found=right, right=right, wrong=wrong)


def _values_with_positions(values_by_unit: UnitValues, units: Sequence[Unit]) -> Iterator[tuple[int, float | None]]:
    """Yield the bit position and the value of each of a system's units, for each measure.

    If there are two units, the values of the first unit have the positions 0, 2, 4 ..., one for each measure.
    """
    for unit_position, unit in enumerate(units):
        for measure_position, value in enumerate(values_by_unit.get(unit, ())):
            yield measure_position * len(units) + unit_position, value
