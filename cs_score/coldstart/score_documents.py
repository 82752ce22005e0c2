"""The result of a Cold Start scoring as a document: whole, for programs, and chosen scores as tables for people. Each
score belongs to a measure, such as `SF-ALL-Micro-F1`. The headline measure is shown first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.base.display import (
    SCREEN_WIDTH,
    align_columns,
    escape_latex,
    escape_markdown,
    one_line,
    safe_cell,
    wrap_lines,
)
from cs_score.base.documents import Document, json_pieces
from cs_score.base.errors import InputError
from cs_score.base.outputs import OwnOption
from cs_score.base.records import Record, field, replace, to_builtins
from cs_score.base.signature import ANY_MEASURE, RUN, Origin, Signature
from cs_score.coldstart.judging import Counts, labels_without, pre_policy_category
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.ranking import RankedNode, Ranking
from cs_score.coldstart.result import AveragePrecision, Result, ResultTable, ScoredRun, ScoreRow, UnitResult, tallies_of
from cs_score.coldstart.samples import Bootstrap, SampleLimits
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.measures import (
    COLD_START_MODE,
    HEADLINE_REASONS,
    default_measure_for_scores,
    headline_names,
    select_names,
    substitute_remark,
    undefined_sentences,
)
from cs_score.problems.log import Problem
from cs_score.statistics.results import SETTINGS_COLUMNS, ScoreIntervals
from cs_score.statistics.units import Units
from cs_score.tables.layout import Column, Layout, Table, columns, latex, markdown, tsv

Real: TypeAlias = int | float  # A number that is read as it is written: a whole one stays whole


class ScoreRowRecord(Record):
    """A row of a table; means have no counts."""

    name: str
    level: str
    counts: Counts | None
    precision: Real
    recall: Real
    f1: Real


class ScoreTable(Record):
    """The rows of one table, and its averages by level."""

    rows: tuple[ScoreRowRecord, ...]
    micro: tuple[ScoreRowRecord, ...]
    macro: tuple[ScoreRowRecord, ...]


class ApRow(Record):
    """A row of the AP report."""

    name: str
    level: str
    average_precision: Real


class ApTable(Record):
    """The rows of one table of the AP report, and the macro average of each level."""

    rows: tuple[ApRow, ...]
    macro: tuple[ApRow, ...]


class RankedNodeRow(Record):
    """A node in rank order: `value` (V) is what it adds, `line` the number of its first line."""

    node: str
    confidence: Real
    mapped_class: str | None
    value: Real
    line: int


class QueryRanking(Record):
    """The ranking of a query at a level."""

    query: str
    level: str
    average_precision: Real
    ground_truth: int | None
    classes: tuple[str, ...]
    nodes: tuple[RankedNodeRow, ...]


class RankedRun(Record):
    """Average precision of a run; `run_id` is the run that the AP report names."""

    run_id: str
    tables: Mapping[str, ApTable]
    rankings: tuple[QueryRanking, ...]


class Resampled(Record):
    """What the samples of -samples gave: their number, and the limits of each value."""

    samples: int
    limits: tuple[SampleLimits, ...]


class Matched(Record):
    """The assessment that a response matched."""

    file: str
    line: int
    class_: str | None = field(name="class")


class ResponseRow(Record):
    """A response that was counted below `row`; `query` is the one that it answers."""

    row: str
    query: str
    file: str
    line: int
    node: str | None
    value: str
    confidence: Real
    target_query: str | None
    assessment: Matched | None
    pre_policy: str
    post_policy: tuple[str, ...]


class RecordedPlace(Record):
    """Where a problem was met."""

    file: str
    line: int | str


class FoundProblem(Record):
    """A message of the problem report with its places; None is no place."""

    code: str
    severity: str
    message: str
    occurrences: int
    places: tuple[RecordedPlace | None, ...]


class RunScoresRecord(Record):
    """What was computed for one run: every average by the name of its measure, and in a whole result all the rest.

    `undefined` has the measures that have no value for this run, with the reasons; they are not in `scores`. `origin`
    is that of a run which was scored by itself beside others. `units` are the statistics that averages are made of,
    `queries` has the unit of each query that was scored, `tables` those of SF, LDC-MAX, LDC-MEAN that exist.
    """

    run_id: str
    signature: str
    scores: Mapping[str, Real]
    undefined: Mapping[str, str] | UnsetType = UNSET
    origin: Origin | UnsetType = UNSET
    units: Units | UnsetType = UNSET
    queries: Mapping[str, str] | UnsetType = UNSET
    tables: Mapping[str, ScoreTable] | UnsetType = UNSET
    average_precision: RankedRun | UnsetType | None = UNSET
    bootstrap: Resampled | UnsetType | None = UNSET
    responses: tuple[ResponseRow, ...] | UnsetType = UNSET
    intervals: ScoreIntervals | UnsetType = UNSET


class RunScoresDocument(Document, frozen=True, kw_only=True, tag="score"):
    """The scores of runs. With `measures` it has those chosen, else the whole result with the problem report."""

    schema_version: Literal[5] = 5
    signature: str
    origin: Origin
    measures: tuple[str, ...] | UnsetType = UNSET
    runs: tuple[RunScoresRecord, ...]
    problems: tuple[FoundProblem, ...] | UnsetType = UNSET
    errors: int
    warnings: int
    remarks: tuple[str, ...]
    empty_folders: tuple[str, ...] | UnsetType = UNSET


JSON_OPTION: Final = OwnOption(
    "--json",
    {".json": rb'\{\s*"kind":\s*"score",\s*"schema_version":\s*\d+,\s*"task":\s*"coldstart"'},
    "result.json",
    takes_dash=True,
)
"""The option that names the file of the document."""

# The parts of a whole result, for each run, in addition to its scores.
PARTS: Final = ("units", "queries", "tables", "average_precision", "bootstrap", "responses")


def document_of(
    result: Result, intervals: Sequence[ScoreIntervals] = (), parts: Collection[str] = PARTS
) -> RunScoresDocument:
    """Return a result as a document with the scores of each run.

    `intervals` contains the confidence intervals of each run, and is empty if none were computed. `parts` names the
    optional contents of a run's record, such as `tables`. All `PARTS` are included by default.
    """
    origin = result.origin
    if intervals:
        # The intervals of all runs have the same settings.
        origin = origin.with_option("bootstrap", to_builtins(intervals[0].resampling))
    return RunScoresDocument(
        task=COLD_START_MODE,
        signature=str(origin.signature),
        origin=origin,
        runs=_scores_of_runs(result, intervals, parts),
        problems=tuple([_found_problem(problem) for problem in result.problems]),
        errors=result.error_count,
        warnings=result.warning_count,
        remarks=tuple(result.remarks),
        empty_folders=result.empty_folders or UNSET,
    )


def _scores_of_runs(
    result: Result, intervals: Sequence[ScoreIntervals], parts: Collection[str]
) -> tuple[RunScoresRecord, ...]:
    """Return the records of all runs of a result.

    `intervals` contains the confidence intervals of each run, and is empty if none were computed. `parts` names the
    optional contents of a record, such as `tables`.
    """
    records = []
    for number, run in enumerate(result.runs):
        intervals_of_run = intervals[number] if intervals else UNSET
        records.append(_run_scores(result, run, parts, intervals_of_run))
    return tuple(records)


def _found_problem(problem: Problem) -> FoundProblem:
    """Return a problem of the report as the document records it.

    A place consists of a file and a line, such as `run.tab` and 3. An unknown place is None.
    """
    places = [None if place is None else RecordedPlace(place.file, place.line) for place in problem.places]
    return FoundProblem(
        code=problem.code,
        severity=str(problem.severity),
        message=problem.message,
        occurrences=problem.occurrences,
        places=tuple(places),
    )


def json_text(result: Result, intervals: Sequence[ScoreIntervals] = ()) -> Iterator[str]:
    """Return the pieces of the text of the JSON document that records the whole result."""
    return json_pieces(document_of(result, intervals))


def choose_measures(scores: RunScoresDocument, patterns: Sequence[str] = ()) -> RunScoresDocument:
    """Return a document with only the scores of the measures that match a pattern, such as `SF-*`.

    Without patterns, the document contains the measures that are shown to users by default, with the headline measure
    first. If the patterns choose several measures, none of them is the headline. Raises UsageError if a pattern matches
    no measure of any run, and InputError if no run has a value for any of the measures.
    """
    all_names = _names_of_measures(scores)
    if not patterns:
        return _choose_default_measures(scores, all_names)
    measures = select_names(all_names, patterns)
    _require_a_score(scores, measures)
    headline_measure = measures[0] if len(measures) == 1 else UNSET
    return document_with_measures(scores, measures, headline_measure)


def _names_of_measures(scores: RunScoresDocument) -> list[str]:
    """Return the names of all measures of the runs, with or without a value: `["SF-ALL-Micro-F1", ...]`."""
    names: dict[str, None] = {}
    for run in scores.runs:
        names |= dict.fromkeys(run.scores)
        names |= dict.fromkeys(run.undefined or ())
    return list(names)


def _choose_default_measures(scores: RunScoresDocument, all_names: Sequence[str]) -> RunScoresDocument:
    """Return a document with only the scores of the measures that users are shown by default.

    The headline measure, the most important one with a value, comes first. `all_names` are the names of the measures of
    the runs.
    """
    defined_names: dict[str, None] = {}  # its keys are an ordered set
    for run in scores.runs:
        defined_names |= dict.fromkeys(run.scores)
    headline_measure = str(default_measure_for_scores(COLD_START_MODE, defined_names))
    has_ldc = any(name.startswith("LDC-") for name in all_names)
    measures = [name for name in headline_names(COLD_START_MODE, has_ldc) if name in all_names]
    measures.sort(key=lambda name: name != headline_measure)  # False sorts first: the headline measure
    return document_with_measures(scores, measures, headline_measure)


def headline_remark(result: Result) -> str | None:
    """Return a remark that average precision is not the headline (the measure that is shown first), and why.

    Return None if at least one run has average precision, which is then the headline. Return None as well if no reason
    is known, because scoring stopped before average precision was computed.
    """
    for run in result.runs:
        if run.average_precision is not None and not run.undefined:
            return None
    reason = _first_reason_without_average_precision(result)
    return None if reason is None else substitute_remark(result.has_ldc_index, reason)


def _first_reason_without_average_precision(result: Result) -> str | None:
    """Return why there is no average precision. The reason comes from the edition or from the first run with a reason.

    The result is None if scoring stopped before average precision was computed.
    """
    edition = result.options.edition
    if not edition.has_rankings:
        return f"edition {edition.name} has no average precision"
    for run in result.runs:
        for reason in run.undefined.values():
            return reason
    return None


def _require_a_score(scores: RunScoresDocument, measures: Sequence[str]) -> None:
    """Raise InputError if no measure has a value for any run, and at least one run records a reason for this.

    The error gives the reason from the first run that records one. Nothing is raised if there are no runs or no
    measures.
    """
    for run in scores.runs:
        if any(measure in run.scores for measure in measures):
            return
    for run in scores.runs:
        reason_by_measure = run.undefined or {}
        for measure in measures:
            if measure in reason_by_measure:
                raise InputError(f"run {run.run_id} has no {measure}: {reason_by_measure[measure]}")


def document_with_measures(
    scores: RunScoresDocument, measures: Sequence[str], headline_measure: str | UnsetType
) -> RunScoresDocument:
    """Return a document with only the scores of these measures, and with their intervals, but without problems.

    `headline_measure` is the measure that users are shown first, `UNSET` if there is none.
    """
    runs = tuple([_run_with_measures(run, measures) for run in scores.runs])
    return replace(scores, measure=headline_measure, measures=tuple(measures), runs=runs, problems=UNSET)


def _run_with_measures(run: RunScoresRecord, measures: Sequence[str]) -> RunScoresRecord:
    """Return the record of a run with only the scores of these measures, and with their intervals.

    If there is only one measure, the signature names it.
    """
    measure_of_signature = measures[0] if len(measures) == 1 else ANY_MEASURE
    signature = Signature.parse(run.signature).of(measure_of_signature)
    scores = {name: run.scores[name] for name in measures if name in run.scores}
    undefined = {name: reason for name, reason in (run.undefined or {}).items() if name in measures}
    return RunScoresRecord(
        run_id=run.run_id,
        signature=str(signature),
        scores=scores,
        undefined=undefined or UNSET,
        origin=run.origin,
        intervals=_intervals_of_measures(run.intervals, scores),
    )


def _intervals_of_measures(
    intervals: ScoreIntervals | UnsetType, measures: Iterable[str]
) -> ScoreIntervals | UnsetType:
    """Return the intervals of a run, restricted to these measures; measures without interval are ignored.

    The result is `UNSET` if the run has no intervals.
    """
    if not intervals:
        return intervals
    interval_by_measure = {name: intervals.scores[name] for name in measures if name in intervals.scores}
    return replace(intervals, scores=interval_by_measure)


def _run_scores(
    result: Result, run: ScoredRun, parts: Collection[str], intervals: ScoreIntervals | UnsetType
) -> RunScoresRecord:
    """Return the record of a run with its scores, intervals and `parts`: further contents, such as `tables`."""
    run_scores = RunScoresRecord(
        run_id=run.run_id,
        signature=str(result.signature(run)),
        scores=run.scores,
        undefined=run.undefined or UNSET,
        origin=run.origin or UNSET,
        intervals=intervals,
    )
    value_by_part = {part: _value_of_part(part, result, run) for part in PARTS if part in parts}
    return replace(run_scores, **value_by_part)


def _value_of_part(part: str, result: Result, run: ScoredRun) -> object:
    """Return the content to record under a name in `PARTS`, such as `tables`, or None if there is no content."""
    if part == "units":
        return _sums_of_units(result, run)
    if part == "queries":
        return dict(run.cluster_by_query)
    if part == "tables":
        return {name: _score_table(table) for name, table in run.tables.variants}
    if part == "average_precision":
        return _ranked_run(run.average_precision)
    if part == "bootstrap":
        return _resampled(run.bootstrap)
    return tuple(_response_rows(run))  # the only other name is `responses`


def _sums_of_units(result: Result, run: ScoredRun) -> Units:
    """Return the sums of each unit of resampling from which the averages of a run are computed."""
    table = unit_table(run, run.score_by_measure)
    return Units(table.ids, table.columns, table.rows, unit_name(result))


def _score_table(table: ResultTable) -> ScoreTable:
    """Return a table of precision, recall and F1 as the document records it."""
    return ScoreTable(_score_rows(table.rows), _score_rows(table.micro), _score_rows(table.macro))


def _score_rows(rows: Iterable[ScoreRow]) -> tuple[ScoreRowRecord, ...]:
    """Return the rows of a table of precision, recall and F1 as the document records them.

    A row has its name, such as `CSX_ENG_00fb79cef8:1`, its level, its counts, and the three scores.
    """
    records = []
    for row in rows:
        record = ScoreRowRecord(
            name=row.name, level=row.level, counts=row.counts, precision=row.precision, recall=row.recall, f1=row.f1
        )
        records.append(record)
    return tuple(records)


def _ranked_run(average_precision: AveragePrecision | None) -> RankedRun | None:
    """Return the average precision of a run and its rankings as the document records them, None if there is none."""
    if average_precision is None:
        return None
    tables = {}
    for name, table in average_precision.variants:
        tables[name] = ApTable(_ap_rows(table.rows), _ap_rows(table.macro))
    rankings = tuple([_query_ranking(ranking) for ranking in average_precision.rankings])
    return RankedRun(average_precision.run_id, tables, rankings)


def _ap_rows(rows: Iterable[ScoreRow]) -> tuple[ApRow, ...]:
    """Return the rows of a table of average precision as the document records them."""
    return tuple([ApRow(row.name, row.level, row.score) for row in rows])


def _query_ranking(ranking: Ranking) -> QueryRanking:
    """Return the ranking of a query at a level as the document records it, with its classes and its nodes."""
    return QueryRanking(
        query=ranking.query,
        level=ranking.level,
        average_precision=ranking.score,
        ground_truth=ranking.ground_truth,
        classes=ranking.classes,
        nodes=tuple([_ranked_node_row(node) for node in ranking.nodes]),
    )


def _ranked_node_row(node: RankedNode) -> RankedNodeRow:
    """Return a ranked node as the document records it, with the number of its first line."""
    return RankedNodeRow(
        node=node.name,
        confidence=node.confidence,
        mapped_class=node.mapped_class,
        value=node.value,
        line=node.first_line.number,
    )


def _resampled(bootstrap: Bootstrap | None) -> Resampled | None:
    """Return the resamples as the document records them: their number, and the limits of each value.

    The result is None if nothing was resampled.
    """
    if bootstrap is None:
        return None
    return Resampled(len(bootstrap.samples), bootstrap.limits)


def _response_rows(run: ScoredRun) -> Iterator[ResponseRow]:
    """Yield the responses of a run with their assessments and labels, in the order of the debug file.

    The responses are grouped by tally, which is a row of the tables together with the responses that it counts.
    """
    for tally, unit in tallies_of(run.units):
        for response in tally.responses:
            yield _response_row(response, tally.name, unit)


def _response_row(response: Response, row_name: str, unit: UnitResult) -> ResponseRow:
    """Return a response as the document records it, with its assessment and its labels from the result of its unit.

    `row_name` is the name of the row of the tables that counts the response: `CSX_ENG_00fb79cef8:1`.
    """
    assessment = unit.assessment_by_index.get(response.index)
    category = pre_policy_category(assessment)
    other_labels = labels_without(unit.labels_by_index[response.index], category)
    return ResponseRow(
        row=row_name,
        query=response.query.full_id,
        file=response.file,
        line=response.number,
        node=response.node,
        value=response.value,
        confidence=response.confidence,
        target_query=f"{response.query.full_id}_{response.follow_on_id}",
        assessment=_matched_assessment_record(assessment),
        pre_policy=category,
        post_policy=tuple(other_labels),
    )


def _matched_assessment_record(assessment: Assessment | None) -> Matched | None:
    """Return the assessment of a response as the document records it; None for a response without assessment."""
    if assessment is None:
        return None
    return Matched(assessment.file, assessment.number, assessment.value_class)


def score_text(run: RunScoresRecord, measure: str) -> str:
    """Return the score of a run with four decimals, and its interval in brackets: `0.7500 [0.6012, 0.8810]`.

    A score without interval is shown without brackets. If the run has no value for the measure, the text is a hyphen.
    """
    if measure not in run.scores:
        return "-"
    text = f"{run.scores[measure]:.4f}"
    limits = _limits_of_score(run, measure)
    if limits.low is None or limits.high is None:
        return text
    return f"{text} [{limits.low:.4f}, {limits.high:.4f}]"


class _ConfidenceLimits(NamedTuple):
    """The lower and the upper confidence limit of a score, None for a limit that does not exist."""

    low: float | None
    high: float | None


def _limits_of_score(run: RunScoresRecord, measure: str) -> _ConfidenceLimits:
    """Return the confidence limits of the score of a run; both are None if the score has no interval."""
    interval = run.intervals.scores.get(measure) if run.intervals else None
    if interval is None:
        return _ConfidenceLimits(low=None, high=None)
    return _ConfidenceLimits(interval.low, interval.high)


def _headings(scores: RunScoresDocument) -> list[str]:
    """Return the heading of each run, which is its id: `RUN1`.

    If several runs have the same id, the names of the run's files follow in brackets: `RUN1 (first.tab, second.tab)`.
    """
    run_ids = [run.run_id for run in scores.runs]
    headings = []
    for run in scores.runs:
        files = []
        is_id_repeated = run_ids.count(run.run_id) > 1
        if run.origin and is_id_repeated:
            files = [file.name for file in run.origin.inputs if file.role == RUN]
        if files:
            headings.append(f"{run.run_id} ({', '.join(files)})")
        else:
            headings.append(run.run_id)
    return headings


def undefined_remarks(scores: RunScoresDocument) -> Iterator[str]:
    """Yield sentences on the chosen measures that have no value, one for each run and each reason.

    If there are several runs, each sentence ends with the name of its run in brackets.
    """
    for run, heading in zip(scores.runs, _headings(scores)):
        run_in_brackets = f" ({safe_cell(heading)})" if len(scores.runs) > 1 else ""
        for sentence in undefined_sentences(run.undefined or {}):
            yield f"{sentence}{run_in_brackets}"


def scores_text(scores: RunScoresDocument) -> str:
    """Return chosen scores as a table for a terminal, with a line for each measure and a column for each run.

    Remarks and signatures follow. If the table would be too wide for the screen, it is split into several tables.
    """
    lines: list[str] = []
    for columns_of_block in _blocks_of_columns(scores):
        rows = list(zip(*columns_of_block))
        is_right_aligned = [False] + [True] * (len(columns_of_block) - 1)  # only the names are at the left
        lines += align_columns(rows, is_right_aligned)
        lines.append("")
    lines += _remark_lines(scores)
    lines += [f"signature  {run.signature}" for run in scores.runs]
    return "\n".join(lines) + "\n"


def _remark_lines(scores: RunScoresDocument) -> list[str]:
    """Return the lines between the table and the signatures, which explain the headline and the limits.

    Each remark begins with a keyword padded to eleven characters, and its continuation lines are indented by the same
    amount. Sentences about intervals come last, without a keyword and without indentation.
    """
    indent = " " * 11
    lines: list[str] = []
    # `measures` lists the measures that were chosen, if any. If only one was chosen, it is not called the headline.
    chosen_measures = scores.measures or ()
    if scores.measure and len(chosen_measures) != 1:
        lines += wrap_lines(f"headline   {scores.measure}: {HEADLINE_REASONS[scores.measure]}", indent)
    for remark in undefined_remarks(scores):
        lines += wrap_lines(f"undefined  {remark}", indent)
    for sentence in _interval_explanations(scores):
        lines += wrap_lines(one_line(sentence))
    return lines


_COLUMN_GAP: Final = 2  # the number of blanks between two columns on a screen


def _blocks_of_columns(scores: RunScoresDocument) -> list[list[list[str]]]:
    """Return the columns of scores in blocks that fit on a screen; a column is a list of its cells.

    The first column of each block has the names of the measures. Each further column has the heading of a run, and the
    scores of the run.
    """
    measures = scores.measures or ()
    first_column = ["", *measures]
    blocks = [[first_column]]
    for run, heading in zip(scores.runs, _headings(scores)):
        column = [safe_cell(heading)]
        column += [score_text(run, measure) for measure in measures]
        block_has_run = len(blocks[-1]) > 1
        if block_has_run and _total_width([*blocks[-1], column]) > SCREEN_WIDTH:
            blocks.append([first_column])
        blocks[-1].append(column)
    return blocks


def _total_width(block: Sequence[Sequence[str]]) -> int:
    """Return the width of a block of columns in characters, with the gaps between the columns."""
    widths = [_column_width(column) for column in block]
    return sum(widths) + _COLUMN_GAP * (len(widths) - 1)


def _column_width(column: Sequence[str]) -> int:
    """Return the width of a column, which is the number of characters of its longest cell."""
    return max(len(text) for text in column)


def _interval_explanations(scores: RunScoresDocument) -> list[str]:
    """Return sentences that explain how the confidence limits of chosen scores were computed.

    A sentence that applies to several runs is included only once. The list is empty if no run has intervals.
    """
    sentences: dict[str, None] = {}
    for run in scores.runs:
        if run.intervals:
            # The text shows limits in brackets after each score: "In brackets: 95 % ..." begins the explanation.
            sentences_on_run = run.intervals.explanation(scores.measures or (), limits_name="In brackets")
            sentences |= dict.fromkeys(sentences_on_run)
    return list(sentences)


def single_score(scores: RunScoresDocument, measure: str) -> list[str]:
    """Return the lines that show one score of a single run: the score, then sentences that explain its limits."""
    return [score_text(scores.runs[0], measure), *_interval_explanations(scores)]


def _table_of_runs(scores: RunScoresDocument) -> Table:
    """Return a table with a row for each chosen measure and a column for each run.

    A cell is a number, or a text such as `0.7500 [0.6012, 0.8810]` if the run has intervals.
    """
    columns_of_table = [Column("measure", "Measure")]
    for number, heading in enumerate(_headings(scores)):
        columns_of_table.append(Column(str(number), heading))  # the number is the key: ids may be repeated
    layout = Layout("scores", title="", columns=tuple(columns_of_table), rows=_rows_of_measures)
    return layout.table(scores)


def _rows_of_measures(scores: RunScoresDocument) -> Iterator[dict[str, object]]:
    """Yield the cells of each chosen measure by the key of their column: `{"measure": "SF-AP", "0": 0.75, "1": 0.5}`.

    The key of a run is its number, starting from 0. If the run has intervals, the cell is a text such as
    `0.7500 [0.6012, 0.8810]`.
    """
    for measure in scores.measures or ():
        cells: dict[str, object] = {"measure": measure}
        for number, run in enumerate(scores.runs):
            cells[str(number)] = score_text(run, measure) if run.intervals else run.scores.get(measure)
        yield cells


def scores_markdown(scores: RunScoresDocument) -> str:
    """Return chosen scores as a table in Markdown, followed by remarks and signatures.

    The table has a row for each measure and a column for each run. Remarks say which measures have no value, and how
    limits were computed.
    """
    lines = [*markdown(_table_of_runs(scores)), ""]
    lines += [f"- undefined: {escape_markdown(remark)}" for remark in undefined_remarks(scores)]
    lines += [f"- {escape_markdown(sentence)}" for sentence in _interval_explanations(scores)]
    lines += [f"- `{run.signature}`" for run in scores.runs]
    return "\n".join(lines) + "\n"


def scores_latex(scores: RunScoresDocument) -> str:
    """Return the chosen scores as a LaTeX `tabular`, preceded by comments and followed by sentences about intervals.

    The comments name the LaTeX package that the table requires, the measures without a value, and the signatures of the
    scores.
    """
    lines = [r"% \usepackage{booktabs}"]
    lines += [f"% undefined: {one_line(remark)}" for remark in undefined_remarks(scores)]
    lines += [f"% {one_line(run.signature)}" for run in scores.runs]
    lines += latex(_table_of_runs(scores))
    explanations = [escape_latex(sentence) for sentence in _interval_explanations(scores)]
    if explanations:
        lines += ["", *explanations]
    return "\n".join(lines) + "\n"


def _rows_of_values(scores: RunScoresDocument) -> Iterator[dict[str, object]]:
    """Yield a row for each run and each chosen measure: its values by the key of the column.

    The values are the score, its limits, the settings with which the limits were computed, and the signature.
    """
    for run, heading in zip(scores.runs, _headings(scores)):
        settings = run.intervals.settings_row() if run.intervals else {}
        for measure in scores.measures or ():
            yield {**_values_of_score(run, heading, measure), **settings}


def _values_of_score(run: RunScoresRecord, run_name: str, measure: str) -> dict[str, object]:
    """Return the cells of a score in a table of values: `{"run_id": "RUN1", "measure": "SF-AP", "score": 0.5, ...}`.

    The remaining cells are the limits of the score and its signature. `run_name` is the name of the run in the table.
    """
    limits = _limits_of_score(run, measure)
    signature = Signature.parse(run.signature).of(measure)
    return {
        "run_id": run_name,
        "measure": measure,
        "score": run.scores.get(measure),
        "low": limits.low,
        "high": limits.high,
        "signature": str(signature),
    }


def scores_tsv(scores: RunScoresDocument) -> str:
    """Return chosen scores as tab-separated values; a row with an interval also has the settings of resampling."""
    keys = ["run_id", "measure", "score", "low", "high", "signature"]
    if any(run.intervals for run in scores.runs):
        keys += SETTINGS_COLUMNS
    layout = Layout("scores", "Scores", columns(*keys), _rows_of_values)
    lines = tsv(layout.table(scores))
    return b"".join(lines).decode()


def scores_json(scores: RunScoresDocument) -> str:
    """Return chosen scores as the text of a JSON document."""
    return "".join(json_pieces(scores))


WRITERS: Final[dict[str, Callable[[RunScoresDocument], str]]] = {
    "text": scores_text,
    "json": scores_json,
    "tsv": scores_tsv,
    "markdown": scores_markdown,
    "latex": scores_latex,
}
"""The function that writes chosen scores in a format, by the name of the format; each text ends with a line feed."""
