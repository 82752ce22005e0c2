"""Sampled pools: estimates of what runs would score if all of their answers were assessed, from a sample of them. An
item of the sample is an answer of a run with the probability that it was assessed. A second-hop answer depends on a
first-hop answer, its parent.

A table of strata gives the probability with which answers were assessed. Each answer belongs to the first stratum that
it fits. The estimates are those of `statistics.samples`; see docs/statistics/sampled-pools.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, NoReturn, TypeAlias

from cs_score.analysis.coldstart.faults import counted_lines
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.documents import Document
from cs_score.base.errors import InputError
from cs_score.base.records import Record, asdict
from cs_score.base.runtime import Late
from cs_score.base.sources import Delimited, Input, read_delimited
from cs_score.coldstart.lines import Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.result import UnitResult
from cs_score.measures import COLD_START_MODE
from cs_score.statistics.resampling_settings import FEWEST_RELIABLE_UNITS
from cs_score.statistics.stratified_samples import (
    Estimate,
    SampledItems,
    SampleScore,
    difference_with_limits,
    estimate_score,
    score_with_limits,
)
from cs_score.tables.layout import Column, Layout, Row, headed
from cs_score.tables.statistics import Printout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Late("numpy")

MEASURE: Final = "SF-ALL-Micro-P"
"""The measure that is estimated."""

RIGHT_ANSWERS: Final[Mapping[str, str]] = {
    MEASURE: "Numerator of SF-ALL-Micro-R",
    "micro-p": "Right answers, the numerator of micro-p",
}
"""The name of the number of right answers, which is estimated, too; by the measure that is estimated."""

# ---- The table of strata

COLD_START_COLUMNS: Final = ("query", "slot", "value", "provenance")
"""The columns of the table of strata that describe an answer of Cold Start."""

_NUMBER_COLUMNS: Final = ("probability", "prediction", "confidence")
_CELL_FOR_ANYTHING: Final = "*"
"""The cell for any query, slot, value or provenance."""

_REMEDY: Final = (
    "an estimate needs the probability with which each answer was assessed; without it see the scenarios of "
    "cs-score analyze"
)


class Stratum(Record):
    """A stratum, which is a kind of answer described by a line of the table of strata.

    `line_number` is the number of the line. An answer fits the stratum if it has the `cells` (`{"slot": "per:age"}`)
    and at least the `confidence`. `probability` is the probability that an answer of the stratum was assessed, and
    `prediction` is the predicted probability that it is right.
    """

    line_number: int
    cells: Mapping[str, str]
    probability: float
    prediction: float
    confidence: float


class StrataTable(Record):
    """The strata of answers with the probability that an answer was assessed; `file` is the table's name in messages.

    The option `--inclusion` names the table.
    """

    file: str
    strata: tuple[Stratum, ...]

    def stratum_of(self, cells: Mapping[str, str], confidence: float, place: str) -> int:
        """Return the position of the first stratum that an answer with these cells and this confidence fits.

        `place` names the answer in messages. Raises InputError if it fits no stratum.
        """
        for position, stratum in enumerate(self.strata):
            has_cells = stratum.cells.items() <= cells.items()  # the answer has all cells of the stratum
            if has_cells and confidence >= stratum.confidence:
                return position
        raise InputError(f"no stratum has {place}", file=self.file, remedy=_REMEDY)

    def refuse_unassessed(self, stratum: Stratum, place: str) -> NoReturn:
        """Raise InputError for the answer at a `place`, which was not assessed though its probability was 1."""
        problem = f"the probability is 1, but {place} was not assessed"
        raise InputError(problem, file=self.file, place=f"line {stratum.line_number}")


def read_strata_table(file: Input, answer_columns: Sequence[str] = COLD_START_COLUMNS) -> StrataTable:
    """Return the strata in a file: a table with a line for each stratum.

    The table has the column `probability` and any of the columns `confidence`, `prediction` and `answer_columns`. The
    `answer_columns` describe answers: in Cold Start, they are query, slot, value and provenance. An empty cell or `*`
    in one of these columns fits all answers. Raises InputError for other columns, and, with the line, for a number
    below 0 or above 1.
    """
    table = read_delimited(file)
    _check_columns(table, answer_columns)
    strata = []
    for line_number, cells in table.rows:
        cell_by_column = dict(zip(table.columns, cells))
        strata.append(_read_stratum(line_number, cell_by_column, answer_columns, table.file))
    return StrataTable(table.file, tuple(strata))


def _check_columns(table: Delimited, answer_columns: Sequence[str]) -> None:
    """Raise InputError if a table of strata has an unknown column, or lacks the column `probability`."""
    known_columns = [*answer_columns, *_NUMBER_COLUMNS]
    has_unknown_column = not set(table.columns).issubset(known_columns)
    if has_unknown_column or "probability" not in table.columns:
        problem = f"columns are {', '.join(known_columns)}, not {', '.join(table.columns)}"
        raise InputError(problem, file=table.file, place="line 1", remedy=_REMEDY)


def _read_stratum(
    line_number: int, cell_by_column: Mapping[str, str], answer_columns: Sequence[str], file: str
) -> Stratum:
    """Return the stratum in a line of the table. The number of the line is kept for later messages.

    `answer_columns` are the columns that describe answers. Raises InputError if the probability, the prediction or the
    confidence is below 0 or above 1. A missing prediction or confidence is 0; the probability must not be missing.
    """
    number_by_column = {}
    for column in _NUMBER_COLUMNS:
        # `_check_columns` has refused tables without the column of the probability.
        cell = cell_by_column.get(column, "0")
        number_by_column[column] = _read_number(column, cell, file, place=f"line {line_number}")
    answer_cells = _cells_to_match(cell_by_column, answer_columns)
    return Stratum(line_number=line_number, cells=answer_cells, **number_by_column)


def _cells_to_match(cell_by_column: Mapping[str, str], answer_columns: Sequence[str]) -> dict[str, str]:
    """Return the cells that an answer must have to fit a stratum, by column: `{"slot": "per:age"}`.

    `cell_by_column` is the stratum's line in the table. A cell that is missing, empty or `*` fits all answers.
    """
    cells_to_match = {}
    for column in answer_columns:
        cell = cell_by_column.get(column, _CELL_FOR_ANYTHING)
        if cell not in ("", _CELL_FOR_ANYTHING):
            cells_to_match[column] = cell
    return cells_to_match


def _read_number(column: str, cell: str, file: str, place: str) -> float:
    """Return the number from 0 to 1 in a cell of the table of strata. An empty cell is 0.

    Raises InputError for anything else, and for 0 or an empty cell in the column `probability`. The error names the
    `place` of the cell.
    """
    number_text = cell or "0"
    if _is_allowed(column, number_text):  # 0, and so an empty cell, is not allowed as a probability
        return float(number_text)
    allowed = "above 0 and at most 1" if column == "probability" else "from 0 to 1"
    problem = f"{column} {cell or 'missing'}: a number {allowed} is needed"
    raise InputError(problem, file=file, place=place)


def _is_allowed(column: str, text: str) -> bool:
    """Return whether a text is a number from 0 to 1, and above 0 if it is in the column `probability`."""
    try:
        number = float(text)
    except ValueError:
        return False
    if column == "probability" and number == 0:
        return False
    return 0 <= number <= 1


# ---- The document


class SampledStratum(Record):
    """The answers of a run that belong to a stratum, and how many of them were assessed.

    `line` is that of the stratum in the table, `probability` the one with which its answers were assessed.
    """

    line: int
    probability: float
    answers: int
    assessed: int


class SampledRun(Record):
    """A run: its answers and how many of them were assessed, in all and by stratum, with the estimates.

    `precision` estimates the share of right answers among those that count, `right` the number of right ones, which
    recall divides. `score` and `score_right` are the same as the scorer has them, from what was assessed alone.
    """

    run: str
    answers: int
    assessed: int
    score: float
    score_right: int | float
    precision: Estimate
    right: Estimate
    strata: tuple[SampledStratum, ...]


class SampledDifference(Record):
    """B minus A, from the same sample."""

    a: str
    b: str
    precision: Estimate
    right: Estimate


class SampledPoolDocument(Document, frozen=True, kw_only=True, tag="sampled-pool"):
    """Estimates for runs, with limits at `confidence` percent: for this pool were all of it assessed (`low`, `high`),
    and for answers like those in it (`population_low`, `population_high`). The measures are those of the table SF, all
    hops: SF-ALL-Micro-P and the numerator of SF-ALL-Micro-R; of judged answers micro-p and its numerator.
    """

    schema_version: Literal[2] = 2
    confidence: float
    runs: tuple[SampledRun, ...]
    differences: tuple[SampledDifference, ...]
    signatures: Mapping[str, str]


# ---- The answers of a run

_INCORRECT_PARENT: Final = "INCORRECT_PARENT"

AnswerNumbers: TypeAlias = dict[object, int]
"""Numbers of answers by what they say (query, value and provenance), the same in all runs of a sample."""


class SampledItem(NamedTuple):
    """An answer of a run: what it counts as, and how probable it was that this became known.

    `stratum` is a position in the table; the other fields are those of `SampledItems`.
    """

    right: float
    times_counted: float
    is_assessed: bool
    draw_probability: float
    answer: int
    parent: int
    draw_probability_of_parent: float
    stratum: int
    prediction: float


class _Draw(NamedTuple):
    """How an answer was drawn for assessment, and whether it was assessed.

    `parent` is the number of its first-hop answer, which was drawn with the probability `probability_of_parent`; a
    first-hop answer is its own parent. After that, the answer itself was drawn with the `probability`.
    """

    is_assessed: bool
    probability: float
    parent: int
    probability_of_parent: float

    @property
    def is_certain(self) -> bool:
        """Whether the answer must have been assessed, because both probabilities are 1."""
        return self.probability == self.probability_of_parent == 1.0


class _AnswerReader:
    """Reads the answers of a scored run as items of a sample. An item says whether an answer is right, and how likely
    the answer was to be assessed.

    `number_by_answer` numbers the answers of all runs; the answers of this run are added to it.
    """

    def __init__(self, scored: AnalysedRun, strata_table: StrataTable, number_by_answer: AnswerNumbers) -> None:
        """Index the counted lines of a scored run by the follow-on queries about their answers.

        This index leads from a second-hop answer to the first-hop answer that its query is about. `number_by_answer`
        has the numbers of the answers of earlier runs. Runs that are read with the same dictionary have the same number
        for the same answer.
        """
        self.scored = scored
        self.strata_table = strata_table
        self.number_by_answer = number_by_answer
        self.response_by_follow_on: dict[str, Response] = {}
        for unit in scored.result.units:
            for response in counted_lines(unit):
                self.response_by_follow_on[response.follow_on_id] = response

    def items(self) -> list[SampledItem]:
        """Return an item for each answer of the run that counts.

        Raises InputError if an answer has no stratum, or if it was not assessed although the probability of its stratum
        is 1.
        """
        items = []
        for unit in self.scored.result.units:
            for response in counted_lines(unit):
                items.append(self._item(unit, response))
        return items

    def _item(self, unit: UnitResult, response: Response) -> SampledItem:
        """Return the answer in a line of the run with its value, and with the probability that it was assessed.

        Raises InputError if the answer has no stratum, or if it was not assessed although the probability is 1.
        """
        stratum_position = self._stratum_of(response)
        stratum = self.strata_table.strata[stratum_position]
        answer_number = self._number_of((response.query.full_id, response.value, response.value_provenance))
        draw = self._draw_of(unit, response, answer_number, stratum)
        if draw.is_certain and not draw.is_assessed:
            self.strata_table.refuse_unassessed(stratum, f"{response.file} line {response.number}")
        labels = unit.labels_by_index[response.index]
        is_right = RIGHT in labels
        is_wrong = WRONG in labels
        return SampledItem(
            right=is_right,
            times_counted=is_right + is_wrong,  # 0 if the answer is ignored, 2 if the policy counts it on both sides
            is_assessed=draw.is_assessed,
            draw_probability=draw.probability,
            answer=answer_number,
            parent=draw.parent,
            draw_probability_of_parent=draw.probability_of_parent,
            stratum=stratum_position,
            prediction=stratum.prediction,  # the predicted probability that the answer is right
        )

    def _draw_of(self, unit: UnitResult, response: Response, answer_number: int, stratum: Stratum) -> _Draw:
        """Return whether the answer in a line was assessed, with the probabilities of drawing it and its parent.

        A first-hop answer is its own parent: as the parent, it has the probability of its stratum, and as the child, it
        has the probability 1.
        """
        if response.query.is_follow_on:
            return self._draw_of_second_hop(unit, response, stratum)
        return _Draw(
            is_assessed=response.index in unit.assessment_by_index,
            probability=1.0,
            parent=answer_number,
            probability_of_parent=stratum.probability,
        )

    def _draw_of_second_hop(self, unit: UnitResult, response: Response, stratum: Stratum) -> _Draw:
        """Return how a second-hop answer was drawn for assessment, which requires that its parent was assessed.

        An answer below a wrong first-hop answer is wrong, whether or not somebody looked at it.
        """
        parent, probability_of_parent = self._parent_of(response)
        is_parent_assessed = self._is_parent_assessed(response)
        if is_parent_assessed and _INCORRECT_PARENT in unit.labels_by_index[response.index]:
            return _Draw(is_assessed=True, probability=1.0, parent=parent, probability_of_parent=probability_of_parent)
        is_assessed = is_parent_assessed and response.index in unit.assessment_by_index
        return _Draw(is_assessed, stratum.probability, parent, probability_of_parent)

    def _is_parent_assessed(self, response: Response) -> bool:
        """Return whether the first-hop answer of a second-hop answer was assessed."""
        follow_on = self.scored.run.links.find_follow_on(response.query.short_id)
        return follow_on is not None and follow_on.first_assessment is not None

    def _parent_of(self, response: Response) -> tuple[int, float]:
        """Return the number of the first-hop answer of a second-hop answer, and the probability that it was assessed.

        If the run does not have the first-hop answer, the probability is 1, and the id of the query about this answer
        is numbered instead.
        """
        first_hop = self.response_by_follow_on.get(response.query.short_id)
        if first_hop is None:
            return self._number_of(response.query.full_id), 1.0
        number = self._number_of((first_hop.query.full_id, first_hop.value, first_hop.value_provenance))
        stratum = self.strata_table.strata[self._stratum_of(first_hop)]
        return number, stratum.probability

    def _stratum_of(self, response: Response) -> int:
        """Return the position of the first stratum that an answer fits. Raises InputError if it fits none."""
        cells = {
            "query": response.query.full_id,
            "slot": response.query.slots[0],
            "value": response.value,
            "provenance": response.value_provenance,
        }
        place = f"{response.file} line {response.number} ({response.query.full_id}, {response.value})"
        return self.strata_table.stratum_of(cells, response.confidence, place)

    def _number_of(self, answer: object) -> int:
        """Return the number of an answer, which is a new number if no run has given the answer before."""
        return self.number_by_answer.setdefault(answer, len(self.number_by_answer))


def _count_strata(items: Sequence[SampledItem], strata_table: StrataTable, run_id: str) -> tuple[SampledStratum, ...]:
    """Return how many answers of a run each stratum has, in the order of the table.

    A stratum without answers is left out. Raises InputError for a stratum without assessed answers.
    """
    answer_counts = Counter(item.stratum for item in items)
    assessed_counts = Counter(item.stratum for item in items if item.is_assessed)
    strata = []
    for position, answer_count in sorted(answer_counts.items()):
        stratum = strata_table.strata[position]
        assessed_count = assessed_counts[position]
        if assessed_count == 0:
            problem = f"none of the {answer_count} answers of run {run_id} was assessed"
            remedy = "put it together with another stratum"
            raise InputError(problem, file=strata_table.file, place=f"line {stratum.line_number}", remedy=remedy)
        sampled_stratum = SampledStratum(
            line=stratum.line_number, probability=stratum.probability, answers=answer_count, assessed=assessed_count
        )
        strata.append(sampled_stratum)
    return tuple(strata)


def _item_arrays(items: Sequence[SampledItem]) -> SampledItems:
    """Return the answers of a run as arrays, one for each field. Strata are renumbered without gaps."""
    # An item is a tuple of numbers: each field becomes a row.
    fields_of_items: NDArray[np.float64] = np.array(items, np.float64).T  # (fields, items)
    array_by_field = dict(zip(SampledItem._fields, fields_of_items))
    _, stratum_without_gaps = np.unique(array_by_field["stratum"], return_inverse=True)
    return SampledItems(
        right=array_by_field["right"],
        times_counted=array_by_field["times_counted"],
        is_assessed=array_by_field["is_assessed"] == 1,
        draw_probability=array_by_field["draw_probability"],
        answer=array_by_field["answer"].astype(np.intp),
        parent=array_by_field["parent"].astype(np.intp),
        draw_probability_of_parent=array_by_field["draw_probability_of_parent"],
        stratum=stratum_without_gaps,
        prediction=array_by_field["prediction"],
    )


# ---- The estimates


class _RunScores(NamedTuple):
    """The estimated precision of a run, and its estimated number of right answers."""

    precision: SampleScore
    right: SampleScore


class SampledRunItems(NamedTuple):
    """The answers of a run, with its name in messages, its signature, and the scorer's results for assessed answers.

    These results are the `score` and the number of right answers among the assessed ones (`right_count`).
    """

    name: str
    items: Sequence[SampledItem]
    score: float
    right_count: int | float
    signature: str


def estimate_from_sample(
    runs: Mapping[str, AnalysedRun], strata_table: StrataTable, confidence: float = 95.0
) -> SampledPoolDocument:
    """Return what Cold Start runs would score if all answers were assessed, estimated from a sample of assessments.

    `runs` are the runs by name. The difference between every two runs is also estimated. Raises InputError for an
    answer without a stratum, for a stratum without assessed answers, and for an answer that was not assessed although
    the probability of its stratum is 1.
    """
    # Each run adds its answers to this mapping, so that an answer has the same number in all runs.
    number_by_answer: AnswerNumbers = {}
    items_by_run = {}
    for name, scored in runs.items():
        items = _AnswerReader(scored, strata_table, number_by_answer).items()
        items_by_run[name] = SampledRunItems(
            name=scored.run_id,
            items=items,
            score=scored.result.scores[MEASURE],
            right_count=sum(bool(item.right) for item in items),
            signature=str(scored.signature.of(MEASURE)),
        )
    return estimate_runs(COLD_START_MODE, MEASURE, items_by_run, strata_table, confidence)


def estimate_runs(
    task: str, measure: str, runs: Mapping[str, SampledRunItems], strata_table: StrataTable, confidence: float
) -> SampledPoolDocument:
    """Return the estimated scores of runs by a measure, and the estimated difference between every two runs.

    `runs` has the sampled answers of each run by its name, and `strata_table` has the probabilities that answers were
    assessed. The name of the `measure` is only recorded. Raises InputError for a run without answers, and for a stratum
    without assessed answers.
    """
    strata_by_run = {name: _strata_of_run(run, strata_table) for name, run in runs.items()}
    scores_by_run = {name: _estimate_scores(run.items) for name, run in runs.items()}
    sampled_runs = []
    for name, run in runs.items():
        sampled_runs.append(_sampled_run(name, run, strata_by_run[name], scores_by_run[name], confidence))
    return SampledPoolDocument(
        task=task,
        measure=measure,
        confidence=confidence,
        runs=tuple(sampled_runs),
        differences=tuple(_differences(scores_by_run, confidence)),
        signatures={name: run.signature for name, run in runs.items()},
    )


def _strata_of_run(run: SampledRunItems, strata_table: StrataTable) -> tuple[SampledStratum, ...]:
    """Return how many answers of a run each stratum has, in the order of the table of strata.

    Raises InputError for a run without answers, and for a stratum without assessed answers.
    """
    if not run.items:
        raise InputError(f"run {run.name} has no answer that counts: there is nothing to estimate")
    return _count_strata(run.items, strata_table, run.name)


def _estimate_scores(items: Sequence[SampledItem]) -> _RunScores:
    """Return the estimated precision of a run and its estimated number of right answers, from its answers."""
    arrays = _item_arrays(items)
    precision = estimate_score(arrays)
    right = estimate_score(arrays, is_numerator_only=True)
    return _RunScores(precision, right)


def _sampled_run(
    name: str, run: SampledRunItems, strata: tuple[SampledStratum, ...], estimates: _RunScores, confidence: float
) -> SampledRun:
    """Return the estimates for a run: its precision and its number of right answers if all answers were assessed.

    Each estimate gets the limits of its interval; the `confidence` is a percentage. `estimates` do not have limits yet.
    `run` also has the ordinary scores, which count only the assessed answers.
    """
    answer_count = len(run.items)  # all of them may be right
    return SampledRun(
        run=name,
        answers=answer_count,
        assessed=sum(item.is_assessed for item in run.items),
        score=run.score,
        score_right=run.right_count,
        precision=score_with_limits(estimates.precision, confidence, largest_score=1.0),
        right=score_with_limits(estimates.right, confidence, largest_score=answer_count),
        strata=strata,
    )


def _differences(scores_by_run: Mapping[str, _RunScores], confidence: float) -> Iterator[SampledDifference]:
    """Yield the estimated difference B - A of every two runs A and B, in precision and in right answers.

    The limits of its interval have the `confidence`, a percentage.
    """
    for a, b in combinations(scores_by_run, 2):
        scores_a = scores_by_run[a]
        scores_b = scores_by_run[b]
        precision = difference_with_limits(scores_a.precision, scores_b.precision, confidence)
        right = difference_with_limits(scores_a.right, scores_b.right, confidence)
        yield SampledDifference(a, b, precision, right)


# ---- How it is printed


def _rows_of_estimates(pool: SampledPoolDocument) -> Iterator[Row]:
    """Yield a row for each run and for each difference, of precision first, then of the number of right answers."""
    count_measure = RIGHT_ANSWERS[str(pool.measure)]
    for run in pool.runs:
        yield _row_of_run(run, run.precision, measure=str(pool.measure), score=run.score)
    for pair in pool.differences:
        yield {"run": f"{pair.b} - {pair.a}", **asdict(pair.precision), "measure": pool.measure}
    for run in pool.runs:
        yield _row_of_run(run, run.right, measure=count_measure, score=run.score_right)
    for pair in pool.differences:
        yield {"run": f"{pair.b} - {pair.a}", **asdict(pair.right), "measure": count_measure}


def _row_of_run(run: SampledRun, estimate: Estimate, measure: str, score: float) -> Row:
    """Return the row of a run with the estimate of a measure, next to the ordinary score by this measure."""
    counts = {"answers": run.answers, "assessed": run.assessed}
    return {"run": run.run, **counts, **asdict(estimate), "measure": measure, "score": score}


def _rows_of_strata(pool: SampledPoolDocument) -> Iterator[Row]:
    """Yield a row for each stratum of each run."""
    for run in pool.runs:
        for stratum in run.strata:
            yield {"run": run.run, **asdict(stratum)}


def _notes(pool: SampledPoolDocument) -> Iterator[str]:
    """Yield the sentences below the tables, which explain the columns and name strata with few assessed answers.

    Low and High are the limits for the score if all of this pool were assessed. Columns with an asterisk are the limits
    for other answers from the same source.
    """
    yield (
        f"Low, High: {pool.confidence:g} % normal limits of the estimate, for this pool were all of it assessed; *: "
        "for answers like these. Known: answers that were assessed. Score: the ordinary one, from what was assessed."
    )
    lines_with_few = _lines_with_few_assessed(pool)
    if lines_with_few:
        lines_text = ", ".join([str(line) for line in lines_with_few])
        yield (
            f"Note: fewer than {FEWEST_RELIABLE_UNITS} answers of a run were assessed in strata of the table (line "
            f"{lines_text}): the limits are too narrow there."
        )


def _lines_with_few_assessed(pool: SampledPoolDocument) -> list[int]:
    """Return the strata with too few assessed answers of some run for reliable limits.

    Strata are identified by their line numbers in the table of strata: `[2, 5]`.
    """
    lines = set()
    for run in pool.runs:
        for stratum in run.strata:
            if stratum.assessed < FEWEST_RELIABLE_UNITS:
                lines.add(stratum.line)
    return sorted(lines)


_STRATA_LAYOUT: Final = Layout(
    "strata",
    "Answers by stratum of the table",
    (
        Column("run", "Run"),
        Column("line", "Line", meaning="line of the stratum in the table"),
        Column("probability", "Probability", meaning="with which its answers were assessed"),
        *headed(answers="Answers", assessed="Known"),
    ),
    _rows_of_strata,
    row_selection="whole",
)

SAMPLED_POOL_PRINTOUT: Final = Printout(
    Layout(
        "sampled-pool",
        "%, estimated from a sample of the pool",
        (
            Column("measure"),
            *headed(run="Run", answers="Answers", assessed="Known", score="Score", estimate="Estimate"),
            Column("standard_error", "Std. error"),
            Column("low", "Low", meaning="for this pool, were all of it assessed"),
            Column("high", "High", meaning="for this pool, were all of it assessed"),
            Column("population_low", "Low*", meaning="for answers like those in this pool"),
            Column("population_high", "High*", meaning="for answers like those in this pool"),
        ),
        _rows_of_estimates,
        shown_keys=(
            *("run", "answers", "assessed", "score", "estimate"),
            *("low", "high", "population_low", "population_high"),
        ),
        split_by="measure",
        row_selection="whole",
    ),
    _notes,
    (_STRATA_LAYOUT,),
)
