"""The overview of many runs: what each run found, how much runs have in common, how certain their rankings are.

A batch scores many runs and calls `make_overview` with the results. Each run has its `Findings` under each policy,
which are small enough to be stored with the run and to be sent from one process to another.

*Targets* are the things that gold wants found, known by their numbers. In Cold Start they are the equivalence classes
of the ground truth. In evidence tasks they are the units themselves (claims, questions), once for each measure: a unit
is found by a measure where the unit's own value is 1, or 0/0 because neither gold nor the run has anything there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, TypeAlias

from cs_score.analysis.rankings import (
    RunRanking,
    Stability,
    Values,
    compare_rankings,
    measure_formula,
    resample_scores,
    units_of_runs,
)
from cs_score.base.documents import value_in
from cs_score.base.records import Record
from cs_score.coldstart.gold import ColdStartGold
from cs_score.coldstart.judging import ClassTree, Counts, is_wrong_bin
from cs_score.coldstart.lines import Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.queries import Query
from cs_score.coldstart.result import (
    ScoredRun,
    UnitResult,
    add_ldc_tables,
    averaged_table,
    counted_row,
    in_printing_order,
)
from cs_score.coldstart.unit_statistics import unit_table
from cs_score.measures.registry import Measure, default_measure
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
        """Return the statistics of each unit. Raises InputError or ValueError if the texts hold no such table."""
        ids = tuple([str(unit) for unit in value_in(self.units, "units")])
        lines = self.rows.split(";") if ids else []
        row_by_line = {line: _parse_row(line) for line in set(lines)}  # many units have the same statistics
        rows = [row_by_line[line] for line in lines]
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
        found=f"{found_bits:x}",
        right="".join(sorted(right_ids)),
        wrong="".join(sorted(wrong_ids)),
    )


def pack_bits(numbers: Iterable[int], size: int) -> int:
    """Return the whole number in which exactly the bits `numbers` are set, all below `size`: `[0, 2]` gives 0b101 (5).

    The number is written as text in base 2 first, because setting bits in a number copies it for each bit.
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

    They are in the order of queries and of the pool. In a row whose slot takes one value, all classes together are one
    target. `number_by_class` and `numbers_by_row` give positions in `targets`.
    """

    targets: Sequence[Target]
    number_by_class: Mapping[ClassKey, int]
    numbers_by_row: Mapping[str, Sequence[int]]

    __repr__ = object.__repr__


def index_targets(gold: ColdStartGold) -> TargetIndex:
    """Return the targets of a Cold Start evaluation, with indexes by class and by row.

    A target is an equivalence class of the ground truth or, in a row whose slot takes one value, all its classes.
    """
    targets: list[Target] = []
    number_by_class: dict[ClassKey, int] = {}
    numbers_by_row: dict[str, list[int]] = {}
    for query in gold.selected_queries():
        tree = gold.gold_of_query(query, gold.links).tree
        if tree is None:
            continue
        unit = gold.cluster_of(query)
        example_by_class = _example_by_class(gold, query)
        classes_by_row = _classes_by_row(tree, deepest_row=gold.hop_limits[query.short_id])
        for row, classes in classes_by_row.items():
            groups = _group_into_targets(classes, is_single=tree.is_single_by_row.get(row, False))
            numbers_by_row[row] = []
            for classes_of_target in groups:
                number = len(targets)
                numbers_by_row[row].append(number)
                for class_name in classes_of_target:
                    number_by_class[row, class_name] = number
                name = classes_of_target[0]
                example = example_by_class.get(name, "")
                targets.append(Target(part="class", unit=unit, place=row, name=name, value=example))
    return TargetIndex(targets=targets, number_by_class=number_by_class, numbers_by_row=numbers_by_row)


def _example_by_class(gold: ColdStartGold, query: Query) -> dict[str, str]:
    """Return the value of the first accepted assessment of each equivalence class of a query."""
    example_by_class: dict[str, str] = {}
    for assessment in gold.assessments_by_query.get(query.base_id, ()):
        if assessment.is_accepted:
            example_by_class.setdefault(assessment.value_class, assessment.value)
    return example_by_class


def _classes_by_row(tree: ClassTree, deepest_row: int) -> dict[str, list[str]]:
    """Return the names of the equivalence classes that belong to each row of a query's score tables.

    A row is about the query itself, or about a class of which the query asks further questions. Rows deeper in
    the tree than `deepest_row` are not scored and left out.
    """
    classes_by_row: dict[str, list[str]] = {}
    for row in tree.inner_nodes:
        if tree.depth(row) <= deepest_row:
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


def collect_findings(run: ScoredRun, index: TargetIndex, measures: Sequence[Measure]) -> Findings:
    """Return the findings of a scored Cold Start run: which targets it found, and its right and wrong answers.

    They also have the statistics of its units that `measures` need. `index` has the targets of gold.
    """
    found_numbers: set[int] = set()
    right_ids: set[str] = set()
    wrong_ids: set[str] = set()
    for unit in run.units:
        for row, response in _counted_responses(unit):
            labels = unit.labels_by_index[response.index]
            if WRONG in labels:
                wrong_ids.add(response.follow_on.id)
            if RIGHT not in labels:
                continue
            right_ids.add(response.follow_on.id)
            # A policy may count an answer as right that has no assessment or belongs to no class.
            assessment = unit.assessment_by_index.get(response.index)
            if assessment is not None:
                number = index.number_by_class.get((row, assessment.value_class))
                if number is not None:
                    found_numbers.add(number)
    # The same answer may be right in one line and wrong in another; it counts as right.
    wrong_ids -= right_ids
    found_bits = pack_bits(found_numbers, len(index.targets))
    return make_findings(unit_table(run, measures), found_bits, right_ids, wrong_ids)


def _counted_responses(unit: UnitResult) -> Iterator[tuple[str, Response]]:
    """Yield each counted response of a unit (answer of the run), with the row of the score tables that counts it.

    The pairs are the name of the row and the response. Responses that no row counts, such as those beyond a limit, are
    left out.
    """
    for query in unit.queries:
        for tally in query.tallies:
            for response in tally.responses:
                yield tally.name, response


def score_found_targets(gold: ColdStartGold, index: TargetIndex, found_bits: int) -> dict[str, float]:
    """Return the scores, by measure, of a run that gives one right answer for each found target and no other answer.

    Target n is found if bit n of `found_bits` is set. Measures of rankings are left out, because they depend on
    confidences, which such a run does not have.
    """
    marks = mark_targets(found_bits, len(index.targets))
    rows = []
    for row, numbers in index.numbers_by_row.items():
        marks_of_row = [marks[number] for number in numbers]
        found_count = marks_of_row.count(FOUND)
        counts = Counts(ground_truth=len(numbers), submitted=found_count, correct=found_count, right=found_count)
        rows.append(counted_row(row, counts))
    table = averaged_table(in_printing_order(rows))
    tables = add_ldc_tables(table, gold.query_set)
    return {str(measure): score for measure, score in tables.measures.items()}


def unit_measure(gold: ColdStartGold) -> Measure:
    """Return the measure whose value is shown for each unit and run: the headline measure of the evaluation."""
    return default_measure(
        with_ldc=bool(gold.query_set.ldc_id_by_query), has_rankings=gold.options.edition.has_rankings
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
    only: tuple[int, ...]


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


def answers_as_bits(ids_of_runs: Sequence[Collection[str]]) -> list[int]:
    """Return for each run a whole number with a bit for each answer that the run has.

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
    """Return for every pair of runs how many answers both have, and how many at least one of them has.

    They are counted in each part of gold by itself. `bits_by_run` has the answers of each run as bits of a whole
    number, by the position of the run. `mask_by_part` has the bits of the answers that belong to each part. Parts are
    never added up: a sentence can be right only if its abstract is right, so that a sum over both would count the same
    agreement twice.
    """
    shared_answers = []
    for a, b in combinations(bits_by_run, 2):
        shared_bits = bits_by_run[a] & bits_by_run[b]
        either_bits = bits_by_run[a] | bits_by_run[b]
        for part, mask in mask_by_part.items():
            shared_count = (shared_bits & mask).bit_count()
            either_count = (either_bits & mask).bit_count()
            shared_answers.append(
                SharedAnswers(a=a, b=b, shared_count=shared_count, either_count=either_count, part=part)
            )
    return shared_answers


FOUND: Final = "1"
"""The mark of a target that a run found."""


def mark_targets(found_bits: int, target_count: int) -> str:
    """Return a text with a mark for each target, `1` if its bit is set, else `0`: the bits 0b0101 give `1010`."""
    if target_count == 0:
        return ""
    last_target_first = f"{found_bits:0{target_count}b}"
    return last_target_first[::-1]


def count_finders(marks_of_runs: Sequence[str], target_count: int) -> list[int]:
    """Return for each target the number of runs that found it: `["10", "11"]` gives `[2, 1]`.

    `marks_of_runs` has for each run a text with a mark for each target, as `mark_targets` makes it.
    """
    if not marks_of_runs:
        return [0] * target_count
    return [marks_of_target.count(FOUND) for marks_of_target in zip(*marks_of_runs)]


def shares_found_together(finder_counts: Sequence[int], run_count: int, part: str = "") -> list[FoundTogether]:
    """Return for k = 1, 2 ... `run_count` the share of the targets of a part that k runs find.

    `recall` is the mean, over all choices of k of the runs, of the share that at least one of them finds; `agreed` is
    the share that at least k runs find. `finder_counts` has for each target the number of runs that found it: with
    `[2, 1]` and two runs, one run finds 3/4 of the targets in the mean, and both together find all. Without targets the
    list is empty.

    Let m of n runs have found a target. Then C(n - m, k) / C(n, k) of all choices of k runs miss it, and the recall is
    1 minus the mean of these fractions over the targets.
    """
    if not finder_counts:
        return []
    target_count = len(finder_counts)
    target_count_by_finders = sorted(Counter(finder_counts).items())
    # The fraction C(n - m, k) / C(n, k) for each m. It is 1 for k = 0, and each further k multiplies it by a factor.
    missed_fraction_by_finders = dict.fromkeys(finder_counts, 1.0)
    shares = []
    for k in range(1, run_count + 1):
        runs_to_choose_from = run_count - k + 1
        for finders in missed_fraction_by_finders:
            missing_runs_to_choose_from = max(0, runs_to_choose_from - finders)
            missed_fraction_by_finders[finders] *= missing_runs_to_choose_from / runs_to_choose_from
        found_count = sum(
            (1 - missed_fraction_by_finders[finders]) * count for finders, count in target_count_by_finders
        )
        agreed_count = sum(count for finders, count in target_count_by_finders if finders >= k)
        recall = found_count / target_count
        agreed = agreed_count / target_count
        shares.append(FoundTogether(part=part, systems=k, recall=recall, agreed=agreed))
    return shares


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


def make_overview(
    evaluation: Evaluation,
    systems: Sequence[System],
    results_by_policy: Mapping[str, Sequence[SystemResult | None]],
    measures: Sequence[str],
    resampling: Resampling | None,
) -> Overview:
    """Return the overview of many systems, ranked by each of `measures` under each policy.

    `results_by_policy` has for each policy the result of each system, None if the system was not scored. With
    `resampling` the agreement of rankings gets intervals. To save memory, the statistics of units are read for one
    policy at a time.
    """
    policies: list[PolicyOverview] = []
    scores_by_ranking: dict[RunRanking, list[float | None]] = {}
    resampled_by_ranking: dict[RunRanking, Floats] = {}
    targets = evaluation.targets
    units: list[Unit] = []
    for policy, results in results_by_policy.items():
        # Summarize the answers of all systems under this policy.
        tables = _read_tables(results)
        if not units:  # all policies have the same units, and the same resamples of them
            units = units_of_runs(table.ids for table in tables if table is not None)
            targets = _targets_of(evaluation, units)
        policy_results = PolicyResults(policy, results, tables)
        policies.append(_summarize_policy(policy_results, evaluation, units, targets))
        # Collect the scores that rank the systems under this policy, and their values in resamples.
        scores_by_measure = _scores_to_rank(results, measures)
        for measure, scores in scores_by_measure.items():
            scores_by_ranking[RunRanking(measure, policy)] = scores
        if resampling is not None and scores_by_measure:
            formula = measure_formula(evaluation.task, list(scores_by_measure))
            resampled_scores = resample_scores(tables, units, formula, resampling)
            for measure, resampled_scores_of_measure in zip(scores_by_measure, resampled_scores):
                resampled_by_ranking[RunRanking(measure, policy)] = resampled_scores_of_measure

    level = 0.0 if resampling is None else resampling.level
    return Overview(
        evaluation=evaluation,
        targets=targets,
        systems=systems,
        policies=policies,
        stability=compare_rankings(scores_by_ranking, resampled_by_ranking, level),
        ranked_positions={ranking: _scored_positions(scores) for ranking, scores in scores_by_ranking.items()},
        resampling=resampling,
    )


def _read_tables(results: Sequence[SystemResult | None]) -> list[UnitTable | None]:
    """Return the statistics of the units of each system; None for a system that was not scored."""
    tables: list[UnitTable | None] = []
    for result in results:
        table = None if result is None else result.findings.table()
        tables.append(table)
    return tables


def _targets_of(evaluation: Evaluation, units: Sequence[Unit]) -> Sequence[Target]:
    """Return the targets of gold or, in evidence tasks, all units for each target measure."""
    if not evaluation.target_measures:
        return evaluation.targets
    targets = []
    for measure in evaluation.target_measures:
        for unit_id, occurrence in units:
            # The place tells units with the same id apart; the first one needs none.
            place = str(occurrence) if occurrence > 1 else ""
            targets.append(Target(part=measure, unit=unit_id, place=place, name=unit_id, value=""))
    return targets


def _scores_to_rank(results: Sequence[SystemResult | None], measures: Sequence[str]) -> dict[str, list[float | None]]:
    """Return the scores of the systems by measure, None for a system without a score.

    A measure by which no system has a score is left out.
    """
    scores_by_measure: dict[str, list[float | None]] = {}
    for measure in measures:
        scores = [None if result is None else result.scores.get(measure) for result in results]
        if any(score is not None for score in scores):
            scores_by_measure[measure] = scores
    return scores_by_measure


def _scored_positions(scores: Sequence[float | None]) -> frozenset[int]:
    """Return the positions of the systems that have a score."""
    return frozenset([position for position, score in enumerate(scores) if score is not None])


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


UnitValues: TypeAlias = Mapping[Unit, Values]
"""The values of a system in each unit by itself, a value for each measure."""


def _summarize_policy(
    policy_results: PolicyResults, evaluation: Evaluation, units: Sequence[Unit], targets: Sequence[Target]
) -> PolicyOverview:
    """Return the overview of all systems under one policy: the scores of their units, and the targets that they found.

    `units` are the units of all systems, and `targets` are the things that they should find.
    """
    policy = policy_results.policy
    values_of_systems = _values_of_systems(policy_results.tables, evaluation)
    # Collect the right and the wrong answers of each system that was scored. In evidence tasks they belong to parts of
    # gold, one part for each measure.
    if evaluation.target_measures:
        mask_by_part = masks_by_measure(len(units), evaluation.target_measures)
        answers_by_system = _answers_by_units(policy_results.results, values_of_systems, units, len(mask_by_part))
    else:
        mask_by_part = {"": -1}  # all bits
        answers_by_system = _answers_by_ids(policy_results.results)
    # Count the systems that found each target.
    marks_of_systems: list[str | None] = [None] * len(policy_results.results)
    for position, answers in answers_by_system.items():
        marks_of_systems[position] = mark_targets(answers.found, len(targets))
    marks_of_scored_systems = [marks for marks in marks_of_systems if marks is not None]
    finder_counts = count_finders(marks_of_scored_systems, len(targets))
    # Sum up how hard the targets of each part are to find.
    difficulties: list[Difficulty] = []
    shares: list[FoundTogether] = []
    for part, numbers in _target_numbers_by_part(targets).items():
        difficulties.append(_difficulty(policy, part, numbers, finder_counts, marks_of_systems))
        finder_counts_of_part = [finder_counts[number] for number in numbers]
        shares += shares_found_together(finder_counts_of_part, len(answers_by_system), part)
    # Compare the answers of every two systems.
    right_by_system = {position: answers.right for position, answers in answers_by_system.items()}
    wrong_by_system = {position: answers.wrong for position, answers in answers_by_system.items()}
    right_answers = count_shared_answers(right_by_system, mask_by_part)
    wrong_answers = count_shared_answers(wrong_by_system, mask_by_part)
    return PolicyOverview(
        policy=policy,
        unit_scores=_unit_scores(policy, units, values_of_systems),
        difficulties=difficulties,
        agreement=Agreement(
            policy=policy,
            pairs=_overlaps(right_answers, wrong_answers),
            union=_score_union(evaluation, answers_by_system),
            systems=tuple(shares),
        ),
        marks_of_systems=marks_of_systems,
        finder_counts=finder_counts,
        right_answers=right_answers,
        wrong_answers=wrong_answers,
    )


def _values_of_systems(tables: Sequence[UnitTable | None], evaluation: Evaluation) -> list[UnitValues]:
    """Return for each system the values of its units, one value for each measure.

    A system that was not scored has no values. `tables` have the statistics of the units. The first value of a unit is
    that by the measure that tables show for each unit.
    """
    measures = evaluation.target_measures or (evaluation.measure,)
    formula = measure_formula(evaluation.task, measures)
    values_by_row: dict[tuple[float, ...], Values] = {}  # many units of all systems have the same statistics
    values_of_systems: list[UnitValues] = []
    for table in tables:
        if table is None:
            values_of_systems.append({})
        else:
            values_of_systems.append(formula.values(table, values_by_row))
    return values_of_systems


def _answers_by_units(
    results: Sequence[SystemResult | None],
    values_of_systems: Sequence[UnitValues],
    units: Sequence[Unit],
    measure_count: int,
) -> dict[int, AnswerBits]:
    """Return the answers of each scored system, by its position, for an evaluation whose targets are the units.

    `values_of_systems` has the values of each system in its units, by as many measures as `measure_count` says.
    """
    answers_by_system = {}
    for position, result in enumerate(results):
        if result is not None:
            answers_by_system[position] = judge_units(values_of_systems[position], units, measure_count)
    return answers_by_system


def _answers_by_ids(results: Sequence[SystemResult | None]) -> dict[int, AnswerBits]:
    """Return the answers of each scored system, by its position, from the ids of answers in its findings."""
    positions = []
    found_bits = []
    ids_of_right_answers = []
    ids_of_wrong_answers = []
    for position, result in enumerate(results):
        if result is not None:
            positions.append(position)
            found_bits.append(result.findings.found_bits())
            ids_of_right_answers.append(_ANSWER_ID.findall(result.findings.right))
            ids_of_wrong_answers.append(_ANSWER_ID.findall(result.findings.wrong))
    # A bit means the same answer in all systems, so that answers of two systems can be compared.
    right_bits = answers_as_bits(ids_of_right_answers)
    wrong_bits = answers_as_bits(ids_of_wrong_answers)
    answers_by_system = {}
    for position, found, right, wrong in zip(positions, found_bits, right_bits, wrong_bits):
        answers_by_system[position] = AnswerBits(found, right, wrong)
    return answers_by_system


def _target_numbers_by_part(targets: Sequence[Target]) -> dict[str, list[int]]:
    """Return the numbers of the targets that belong to each part of gold."""
    numbers_by_part: dict[str, list[int]] = {}
    for number, target in enumerate(targets):
        numbers_by_part.setdefault(target.part, []).append(number)
    return numbers_by_part


def _difficulty(
    policy: str, part: str, numbers: Sequence[int], finder_counts: Sequence[int], marks_of_systems: Sequence[str | None]
) -> Difficulty:
    """Return how many targets of a part were found by 0, 1, 2 ... systems, and how many by each system alone.

    `numbers` are the numbers of the targets of the part. `finder_counts` has for every target of gold the number of
    systems that found it, `marks_of_systems` for every system which targets it found.
    """
    target_count_by_finders = Counter(finder_counts[number] for number in numbers)
    scored_count = sum(marks is not None for marks in marks_of_systems)
    found_by = [target_count_by_finders[finders] for finders in range(scored_count + 1)]
    numbers_found_once = [number for number in numbers if finder_counts[number] == 1]
    found_alone = []
    for marks in marks_of_systems:
        if marks is None:
            found_alone.append(0)
        else:
            found_alone.append(sum(marks[number] == FOUND for number in numbers_found_once))
    return Difficulty(policy=policy, part=part, total=len(numbers), found_by=tuple(found_by), only=tuple(found_alone))


def _unit_scores(policy: str, units: Sequence[Unit], values_of_systems: Sequence[UnitValues]) -> list[UnitScores]:
    """Return the scores of each unit in all systems, by the first measure; None for a system without the unit."""
    unit_scores = []
    for unit in units:
        scores: list[float | None] = []
        for values_by_unit in values_of_systems:
            if unit in values_by_unit:
                scores.append(values_by_unit[unit][0])
            else:
                scores.append(None)
        unit_id, _ = unit
        unit_scores.append(UnitScores(policy, unit_id, tuple(scores)))
    return unit_scores


def _overlaps(right_answers: Sequence[SharedAnswers], wrong_answers: Sequence[SharedAnswers]) -> tuple[Overlap, ...]:
    """Return Jaccard's index of the right and of the wrong answers of each pair of systems."""
    overlaps = []
    for right, wrong in zip(right_answers, wrong_answers):
        overlaps.append(Overlap(right.a, right.b, right=right.jaccard, wrong=wrong.jaccard, part=right.part))
    return tuple(overlaps)


def _score_union(evaluation: Evaluation, answers_by_system: Mapping[int, AnswerBits]) -> Union:
    """Return the scores of a run that finds all targets that any system found; none if no system was scored."""
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
    """Return which units a system has right by each measure, and which it has wrong; right units count as found.

    A unit is right if its value is 1. It is also right if its value is None (0/0), since nothing there is wrong. A unit
    that the system does not have is neither right nor wrong. The bits have the order that `masks_by_measure` explains:
    all units by the first measure, then all units by the second one ...
    """
    right_numbers = []
    wrong_numbers = []
    for unit_number, unit in enumerate(units):
        values = values_by_unit.get(unit, ())
        for measure_number, value in enumerate(values):
            number = measure_number * len(units) + unit_number
            if value is not None and value < _RIGHT_VALUE:
                wrong_numbers.append(number)
            else:
                right_numbers.append(number)
    bit_count = len(units) * measure_count
    right = pack_bits(right_numbers, bit_count)
    wrong = pack_bits(wrong_numbers, bit_count)
    return AnswerBits(found=right, right=right, wrong=wrong)
