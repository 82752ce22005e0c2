"""Two assessors of the same runs: how far they agree, and how scores and ranks change from one to the other. An
assessor judges answers with labels such as CORRECT. A unit is a query or a claim, and a slot is the relation that an
answer fills.

See docs/statistics/assessors.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.rankings import ranks_of, tau_b, tau_in_words
from cs_score.base.display import number_with_noun
from cs_score.base.documents import Document
from cs_score.base.records import Record, asdict, field, replace
from cs_score.coldstart.gold import ColdStartGold
from cs_score.measures import SumsFormula, default_measure_for_scores
from cs_score.statistics.assessors import JudgmentPair, assessor_intervals, kappa, kappa_limits
from cs_score.statistics.resampling import ResampledSystems
from cs_score.statistics.resampling_settings import FEWEST_RELIABLE_UNITS, Note, Resampling, note_sentences
from cs_score.statistics.units import AlignedUnits, align_systems
from cs_score.tables.layout import Column, Layout, Row
from cs_score.tables.statistics import Printout
from cs_score.tasks.task import Task

# ---- The document

ALL_SLOTS: Final = "all"
"""The name of the agreement over all slots together."""


class AssessorAgreement(Record):
    """How far the assessors agree about the `both` answers of a slot that both have judged; `all` for all slots.

    `kappa` is Cohen's, None where all judgments are the same. `kappa_low` and `kappa_high` are its limits, from
    resamples of the `units` that the answers belong to: None for a single unit, and where kappa is undefined too often.
    """

    slot: str
    both: int
    agreed: int
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    units: int


class LabelPair(Record):
    """How many answers that both have judged have one label from the first assessor and one from the second."""

    first: str
    second: str
    count: int


class JudgedTwice(Record):
    """An answer to which the two assessors have given different labels."""

    unit: str
    answer: str
    first: str
    second: str


class UnderAssessor(Record):
    """The score and rank of a run under one assessor, with the interval over units."""

    score: float
    rank: int
    low: float | None
    high: float | None


class AssessedRun(Record):
    """A run under either assessor; `low` to `high` is the interval that draws units and an assessor for all of them."""

    run: str
    first: UnderAssessor
    second: UnderAssessor
    low: float | None
    high: float | None


class AssessorComparison(Document, frozen=True, kw_only=True, tag="assessors"):
    """Two assessors: their agreement, what only one of them has judged, and runs under either.

    `units` were resampled, and `notes` hold for all intervals of runs. `tau_b` is that of the two rankings, None where
    all runs are tied under one of them. `labels` counts the labels of judged answers (task `pool`), side by side, and
    `differing` has the answers whose labels differ.
    """

    schema_version: Literal[2] = 2
    measure: str
    resampling: Resampling
    units: int
    notes: tuple[Note, ...]
    agreement: tuple[AssessorAgreement, ...]
    only_first: int
    only_second: int
    labels: tuple[LabelPair, ...] | UnsetType = UNSET
    differing: tuple[JudgedTwice, ...] | UnsetType = UNSET
    runs: tuple[AssessedRun, ...]
    tau_b: float | None
    signatures: Mapping[str, str]


# ---- The comparison


class JudgedAnswer(NamedTuple):
    """How an answer was judged, with its slot and the unit that it is drawn with."""

    slot: str
    unit: str
    judgment: str


JudgedAnswers: TypeAlias = Mapping[tuple[str, Any], JudgedAnswer]
"""The judged answers of an assessor, by their unit (in Cold Start the full id of the query) and what they say."""


class AnswerOfBoth(NamedTuple):
    """An answer that both assessors have judged, and how each of them has judged it.

    `answer` is what the answer says: a text, or a tuple of texts.
    """

    answer: Any
    first: JudgedAnswer
    second: JudgedAnswer


class AssessedResults(Record):
    """The results of the same runs under two assessors, by the name of the run.

    `first_judgments` and `second_judgments` have the judged answers of either assessor; they are empty in a task whose
    answers are not judged one by one. `has_labels` says that the labels are shown side by side.
    """

    first: Mapping[str, Any]
    second: Mapping[str, Any]
    first_judgments: JudgedAnswers = field(default_factory=dict)
    second_judgments: JudgedAnswers = field(default_factory=dict)
    has_labels: bool = False

    @property
    def only_first_count(self) -> int:
        """The number of answers that only the first assessor has judged: `12`."""
        return len(self.first_judgments.keys() - self.second_judgments.keys())

    @property
    def only_second_count(self) -> int:
        """The number of answers that only the second assessor has judged: `3`."""
        return len(self.second_judgments.keys() - self.first_judgments.keys())

    def answers_of_both(self) -> Iterator[AnswerOfBoth]:
        """Yield the answers judged by both assessors, in the order of the first assessor."""
        for key, first_answer in self.first_judgments.items():
            if key in self.second_judgments:
                _, answer = key  # both judged answers also have the unit
                yield AnswerOfBoth(answer, first_answer, self.second_judgments[key])


def compare_assessors(
    task: Task, results: AssessedResults, measure: str | None = None, resampling: Resampling | None = None
) -> AssessorComparison:
    """Return how far two assessors agree, and the scores and ranks of the runs under each of them.

    If `measure` is None, the runs are ranked by the headline measure. `resampling` has the settings for intervals.
    Raises UsageError if the task does not have the measure, and InputError if the runs do not have the same units under
    both assessors.
    """
    ranking_measure = _ranking_measure(task, results, measure)
    statistics_by_assessed_run = _statistics_by_run_and_assessor(task, results, ranking_measure)
    table_by_assessed_run = {name: statistics.table for name, statistics in statistics_by_assessed_run.items()}
    # In a task with labels, the assessors may have judged different units, and only the units that both have judged are
    # compared. In other tasks, the gold standards of both assessors have the same units.
    units = align_systems(table_by_assessed_run, common=results.has_labels)
    # All statistics are about the same kind of units, such as claims.
    first_statistics = next(iter(statistics_by_assessed_run.values()))
    settings = replace(resampling or Resampling(), unit=first_statistics.unit)
    systems = _resample(results, units, task.formula([ranking_measure]), settings)
    runs = _assessed_runs(list(results.first), systems)
    return AssessorComparison(
        task=task.name,
        measure=ranking_measure,
        resampling=systems.settings,
        units=len(units.ids),
        notes=(*_notes_on_dropped_units(units), *systems.first.notes),
        agreement=tuple(_agreement_by_slot(results, systems.settings)),
        only_first=results.only_first_count,
        only_second=results.only_second_count,
        labels=_label_pairs(results),
        differing=_answers_judged_differently(results),
        runs=tuple(runs),
        tau_b=tau_b([run.first.score for run in runs], [run.second.score for run in runs]),
        signatures=_signatures(statistics_by_assessed_run, ranking_measure),
    )


class _SystemsOfAssessors(NamedTuple):
    """The same runs under the first and under the second assessor, scored on the same resamples of the units."""

    first: ResampledSystems
    second: ResampledSystems

    @property
    def settings(self) -> Resampling:
        """The settings of resampling, which are the same for both assessors."""
        return self.first.settings


def _resample(
    results: AssessedResults, units: AlignedUnits, formula: SumsFormula, settings: Resampling
) -> _SystemsOfAssessors:
    """Return the scores of the runs under both assessors in resamples of the units.

    `units` has the statistics of all runs under the first assessor, followed by all runs under the second assessor.
    """
    matrices = list(units.rows.values())
    run_count = len(results.first)
    first_systems = ResampledSystems(matrices[:run_count], formula, settings, units.ids)
    second_systems = ResampledSystems(matrices[run_count:], formula, settings, units.ids)
    return _SystemsOfAssessors(first_systems, second_systems)


def _ranking_measure(task: Task, results: AssessedResults, measure: str | None) -> str:
    """Return the name of the measure that ranks the runs: the given one or, if it is None, the headline measure.

    If the task has no headline measure for these results, the measure by which scores are shown by default is used.
    Raises UsageError if the task does not have the given measure.
    """
    measures = task.measures(results.first.values())
    given_measure = task.measure_of(measure)
    if given_measure is not None:
        return given_measure
    headline_measure = task.headline_of(results.first.values())
    if headline_measure is not None:
        return headline_measure
    return str(default_measure_for_scores(task.name, measures))


def _statistics_by_run_and_assessor(task: Task, results: AssessedResults, measure: str) -> dict[str, Any]:
    """Return the statistics of the units of each run, from which its score by a measure is computed.

    The key `A (first)` has the statistics of run A under the first assessor. All runs under the first assessor are
    followed by those under the second, such as `A (second)`.
    """
    statistics_by_assessed_run = {}
    for run, result in results.first.items():
        statistics_by_assessed_run[f"{run} (first)"] = task.statistics(result, [measure])
    for run, result in results.second.items():
        statistics_by_assessed_run[f"{run} (second)"] = task.statistics(result, [measure])
    return statistics_by_assessed_run


def _signatures(statistics_by_assessed_run: Mapping[str, Any], measure: str) -> dict[str, str]:
    """Return the signatures of scores by a measure.

    Each run has two scores: the score of run A under the first assessor has the key `A (first)`, and the one under the
    second assessor has the key `A (second)`.
    """
    signature_by_name = {}
    for name, statistics in statistics_by_assessed_run.items():
        signature_by_name[name] = str(statistics.origin.signature.of(measure))
    return signature_by_name


def _notes_on_dropped_units(units: AlignedUnits) -> list[Note]:
    """Return a list with a note if units were dropped because only one assessor has judged their answers.

    The list is empty if no unit was dropped.
    """
    dropped_units: set[str] = set()
    for ids in units.dropped.values():  # of each run under each assessor
        dropped_units.update(ids)
    if not dropped_units:
        return []
    unit_count = len(units.ids)
    text = (
        f"scores are over the {unit_count:,} of {unit_count + len(dropped_units):,} units of which both have judged "
        "answers; score --inclusion estimates those over all units from a sample"
    )
    return [Note("SHARED_UNITS", text)]


def _assessed_runs(run_names: Sequence[str], systems: _SystemsOfAssessors) -> list[AssessedRun]:
    """Return the score and rank of each run under both assessors, with an interval for the score.

    The interval comes from resamples that draw units as well as one of the two assessors. `run_names` are in the order
    of the resampled systems.
    """
    limits_of_runs = assessor_intervals(
        systems.first.unit_statistics, systems.second.unit_statistics, systems.first.formula, systems.settings
    )
    under_first = _runs_under_assessor(systems.first)
    under_second = _runs_under_assessor(systems.second)
    runs = []
    for run_name, first, second, limits in zip(run_names, under_first, under_second, limits_of_runs):
        runs.append(AssessedRun(run=run_name, first=first, second=second, low=limits.low, high=limits.high))
    return runs


def _runs_under_assessor(systems: ResampledSystems) -> list[UnderAssessor]:
    """Return the score, rank and interval of each run under one assessor."""
    run_count = len(systems.observed_scores)
    scores = [systems.score_interval(position, 0) for position in range(run_count)]  # by the only measure
    ranks = ranks_of([score.point for score in scores])
    runs = []
    for score, rank in zip(scores, ranks):
        runs.append(UnderAssessor(score=score.point, rank=rank, low=score.low, high=score.high))
    return runs


# ---- Agreement


def judged_answers_of_pool(gold: ColdStartGold) -> JudgedAnswers:
    """Return how the answers of a Cold Start pool were judged, by the query and the text of the answer.

    If the same answer was assessed several times, the last assessment counts.
    """
    judged_answers = {}
    for assessment in gold.links.assessments:
        query = assessment.query
        key = (query.full_id, assessment.answer)
        unit = _unit_of_query(query.base_id, gold)
        judged_answers[key] = JudgedAnswer(slot=query.slots[0], unit=unit, judgment=assessment.judgment)
    return judged_answers


def _unit_of_query(base_id: str, gold: ColdStartGold) -> str:
    """Return the unit drawn in resamples for the answers to an entry query and to the follow-on queries below it.

    The unit is the cluster of the entry query, whose id is `base_id`. A pool may have queries that are missing from the
    query file; each of them is a unit of its own.
    """
    entry_query = gold.query_set.by_id.get(base_id)
    if entry_query is None:
        return base_id
    return gold.cluster_of(entry_query)


def judged_answers_of_result(result: Any) -> JudgedAnswers:
    """Return the judgments of the answers in the gold standard of an evidence task, by unit and answer.

    `result` is the result of scoring against this gold standard. The mapping is empty if answers have no labels in this
    task.
    """
    label_by_key: Mapping[tuple[str, Any], str] = result.mode.judgments(result.units)
    judged_answers = {}
    for (unit, answer), label in label_by_key.items():
        judged_answers[unit, answer] = JudgedAnswer(slot=ALL_SLOTS, unit=unit, judgment=label)
    return judged_answers


def _label_pairs(results: AssessedResults) -> tuple[LabelPair, ...] | UnsetType:
    """Return how often the two assessors gave each pair of labels to the same answer, the most frequent pair first.

    Returns UNSET for a task whose answers have no labels.
    """
    if not results.has_labels:
        return UNSET
    count_by_labels = Counter([(first.judgment, second.judgment) for _, first, second in results.answers_of_both()])
    label_pairs = []
    for (first_label, second_label), count in count_by_labels.most_common():
        label_pairs.append(LabelPair(first=first_label, second=second_label, count=count))
    return tuple(label_pairs)


def _answers_judged_differently(results: AssessedResults) -> tuple[JudgedTwice, ...] | UnsetType:
    """Return the answers to which the two assessors have given different labels.

    For a task without labels the result is UNSET: the document then has no such field.
    """
    if not results.has_labels:
        return UNSET
    differing_answers = []
    for answer, first, second in results.answers_of_both():
        if first.judgment != second.judgment:
            text = _answer_text(answer)
            differing_answers.append(
                JudgedTwice(unit=first.unit, answer=text, first=first.judgment, second=second.judgment)
            )
    return tuple(differing_answers)


def _answer_text(answer: object) -> str:
    """Return an answer as text. An answer of several parts has a space between them: `Paris doc7:12-16`."""
    if isinstance(answer, tuple):
        return " ".join(answer)
    return str(answer)


JudgmentsByUnit: TypeAlias = dict[str, list[JudgmentPair]]
"""The judgments of both assessors of each answer, by the unit of the answer."""


def _agreement_by_slot(results: AssessedResults, settings: Resampling) -> list[AssessorAgreement]:
    """Return the agreement of two assessors over all slots together, then in each slot, in alphabetical order.

    There is none if no answer was judged by both. If the settings have clusters, the clusters are the units.
    """
    judgments_by_slot = _judgments_by_slot(results, settings)
    judgments_of_all_slots = judgments_by_slot.pop(ALL_SLOTS)
    if not judgments_of_all_slots:
        return []
    agreements = [_agreement(ALL_SLOTS, judgments_of_all_slots, settings)]
    for slot, judgments_by_unit in sorted(judgments_by_slot.items()):
        agreements.append(_agreement(slot, judgments_by_unit, settings))
    return agreements


def _judgments_by_slot(results: AssessedResults, settings: Resampling) -> dict[str, JudgmentsByUnit]:
    """Return the judgments of the answers judged by both assessors, by slot and unit.

    All answers are also listed under `ALL_SLOTS`: `{"all": {"q1": [("C", "W")]}, "per:age": {"q1": [("C", "W")]}}`.
    """
    judgments_by_slot: dict[str, JudgmentsByUnit] = {ALL_SLOTS: {}}
    for _, first, second in results.answers_of_both():
        drawn_unit = _drawn_unit(first.unit, settings)  # may be a cluster of units
        judgments = (first.judgment, second.judgment)
        for slot in {ALL_SLOTS, first.slot}:  # in tasks without slots both are the same
            judgments_by_unit = judgments_by_slot.setdefault(slot, {})
            judgments_by_unit.setdefault(drawn_unit, []).append(judgments)
    return judgments_by_slot


def _drawn_unit(unit: str, settings: Resampling) -> str:
    """Return the cluster of a unit, which resamples draw as a whole, or the unit itself if there are no clusters.

    It is the unit if the settings have no clusters.
    """
    if not settings.clusters:
        return unit
    return settings.clusters.cluster_by_unit.get(unit, unit)


def _agreement(slot: str, judgments_by_unit: JudgmentsByUnit, settings: Resampling) -> AssessorAgreement:
    """Return how far two assessors agree about the answers of a slot, given their judgments by unit."""
    # The units are sorted, so that the limits do not depend on the order of the assessors.
    sorted_judgments = dict(sorted(judgments_by_unit.items()))
    pairs = list(chain.from_iterable(sorted_judgments.values()))
    limits = kappa_limits(sorted_judgments, settings)
    return AssessorAgreement(
        slot=slot,
        both=len(pairs),  # the number of answers judged by both assessors
        agreed=sum(first == second for first, second in pairs),
        kappa=kappa(pairs),
        kappa_low=limits.low,
        kappa_high=limits.high,
        units=len(sorted_judgments),
    )


# ---- How it is printed

_ASSESSORS: Final = ("first", "second")


def _rows_of_runs(comparison: AssessorComparison) -> Iterator[Row]:
    """Yield the table's row of each run, in the order of the ranks under the first assessor.

    The values under an assessor have keys such as `first_score` and `second_rank`.
    """
    for assessed_run in sorted(comparison.runs, key=lambda run: run.first.rank):
        row: dict[str, object] = {"run": assessed_run.run}
        for assessor, run_under_assessor in zip(_ASSESSORS, (assessed_run.first, assessed_run.second)):
            for key, value in asdict(run_under_assessor).items():
                row[f"{assessor}_{key}"] = value
        row["low"] = assessed_run.low
        row["high"] = assessed_run.high
        yield row


def _notes(comparison: AssessorComparison) -> Iterator[str]:
    """Yield the sentences below the table of runs: how far the rankings agree, and how the limits were computed."""
    yield tau_in_words(comparison.tau_b, len(comparison.runs))
    if comparison.only_first or comparison.only_second:
        yield f"Judged by one alone: {comparison.only_first} by the first, {comparison.only_second} by the second."
    settings = comparison.resampling
    resamples = f"{settings.resamples:,} resamples, seed {settings.seed}"
    yield from _notes_on_kappa(comparison, resamples)
    all_units_text = number_with_noun(comparison.units, "unit")
    yield (
        f"Low, High of a run: {settings.confidence:g} % percentile bootstrap limits over {all_units_text} "
        f"({settings.unit}) and over assessors, {resamples}: a resample draws units, and one assessor for all of them."
    )
    yield from note_sentences(comparison.notes)


def _notes_on_kappa(comparison: AssessorComparison, resamples: str) -> Iterator[str]:
    """Yield the sentences about the assessors' kappa and its limits, if both have judged the same answers.

    `resamples` is a text with the number of resamples and the seed: `10,000 resamples, seed 0`.
    """
    if not comparison.agreement:
        return
    settings = comparison.resampling
    yield (
        f"Kappa: of the answers that both have judged; Low, High: {settings.confidence:g} % percentile bootstrap "
        f"limits over the units ({settings.unit}) that these belong to, {resamples}."
    )
    unit_count = comparison.agreement[0].units  # the first row is for all answers
    if unit_count < FEWEST_RELIABLE_UNITS:
        yield (
            f"Note: {number_with_noun(unit_count, 'unit')} with answers that both have judged: below "
            f"{FEWEST_RELIABLE_UNITS} the limits of kappa are too narrow."
        )


_AGREEMENT_LAYOUT: Final = Layout(
    "agreement",
    "Agreement of two assessors",
    (
        Column("slot", "Slot"),
        Column("both", "Both", meaning="answers that both have judged"),
        Column("agreed", "Agreed", meaning="answers that both have judged alike"),
        Column("kappa", "Kappa", meaning="Cohen's kappa"),
        Column("kappa_low", "Low", meaning="of the interval of kappa over resampled units"),
        Column("kappa_high", "High", meaning="of the interval of kappa over resampled units"),
        Column("units", "Units", meaning="units that these answers belong to"),
    ),
    lambda comparison: comparison.agreement,
    row_selection="whole",
)

_LABELS_LAYOUT: Final = Layout(
    "labels",
    "Labels of the first assessor by those of the second",
    (Column("first", "First"), Column("second", "Second"), Column("count", "Answers")),
    lambda assessors: assessors.labels or (),
    min_rows=1,
    row_selection="whole",
)

_DIFFERING_LAYOUT: Final = Layout(
    "differing",
    "Answers that have another label from each",
    (Column("unit", "Unit"), Column("answer", "Answer"), Column("first", "First"), Column("second", "Second")),
    lambda assessors: assessors.differing or (),
    min_rows=1,
)

ASSESSORS_PRINTOUT: Final = Printout(
    Layout(
        "assessed",
        "%: Runs under either assessor",
        (
            Column("run", "Run"),
            Column("first_rank", "Rank"),
            Column("first_score", "First"),
            Column("first_low", "Low"),
            Column("first_high", "High"),
            Column("second_rank", "Rank"),
            Column("second_score", "Second"),
            Column("second_low", "Low"),
            Column("second_high", "High"),
            Column("low", "Low", meaning="of the interval that draws the assessor as well"),
            Column("high", "High", meaning="of the interval that draws the assessor as well"),
        ),
        _rows_of_runs,
        shown_keys=("run", "first_rank", "first_score", "second_rank", "second_score", "low", "high"),
        row_selection="whole",
    ),
    _notes,
    (_AGREEMENT_LAYOUT, _LABELS_LAYOUT, _DIFFERING_LAYOUT),
)
