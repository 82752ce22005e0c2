"""Writes results as reports for people, as JSON, and as tables for programs.
A result has the scores of a run, the statistics of each unit (a claim, question or instance), and notices for the user.
Confidence intervals are computed apart and may be given in addition.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.base import display, documents
from cs_score.base.display import (
    SCREEN_WIDTH,
    escape_latex,
    escape_markdown,
    number_with_noun,
    one_line,
    spreadsheet_cell,
    wrap_lines,
)
from cs_score.base.documents import Document
from cs_score.base.outputs import OwnOption
from cs_score.base.records import asdict, replace, to_builtins
from cs_score.base.runtime import Late
from cs_score.base.signature import Origin
from cs_score.evidence.mode import Mode, ScoredPredictions
from cs_score.measures import HEADLINE_REASONS, select_names
from cs_score.statistics.results import SETTINGS_COLUMNS, ScoreIntervals
from cs_score.statistics.units import Units

if TYPE_CHECKING:
    from cs_score.tables import layout
    from cs_score.tables.layout import Table
else:  # the report for people needs no layouts
    layout = Late("cs_score.tables.layout")

_NUMBER_PATTERN: Final = re.compile(r"[-+]?\d+(\.\d+)?%?|-")


class PredictionScores(Document, frozen=True, kw_only=True, tag="score"):
    """The official measures by name, at full precision, with the statistics of each unit where they were asked for.

    `undefined` has the measures that have no value, with the reasons; they are not in `scores`. `head` is what texts
    say first; `run` is the name of the run where the file holds several.
    """

    schema_version: Literal[5] = 5
    measure: str
    signature: str
    origin: Origin
    run: str | UnsetType = UNSET
    head: tuple[str, ...] | UnsetType = UNSET
    scores: Mapping[str, int | float]
    undefined: Mapping[str, str] | UnsetType = UNSET
    units: Units | UnsetType = UNSET
    intervals: ScoreIntervals | UnsetType = UNSET


class ScoresOfRuns(Document, frozen=True, kw_only=True, tag="score"):
    """The results of several runs that one file holds, each scored by itself; `run` is its name."""

    schema_version: Literal[5] = 5
    runs: tuple[PredictionScores, ...]


def document_of(
    result: ScoredPredictions, intervals: ScoreIntervals | None = None, *, with_units: bool = False
) -> PredictionScores:
    """Return the result of a run as a document, which can be written as JSON.

    The document contains `intervals`, the confidence intervals of the measures, if they are given. If `with_units` is
    true, it contains the statistics of each unit, which comparisons with later runs need.
    """
    origin = result.origin
    if intervals is not None:
        origin = origin.with_option("bootstrap", to_builtins(intervals.resampling))
    return PredictionScores(
        task=result.mode.name,
        measure=origin.measure,
        signature=str(origin.signature),
        origin=origin,
        run=result.system or UNSET,
        head=result.head or UNSET,  # sentences on the inputs, shown above the scores
        scores=result.scores,
        undefined=result.undefined or UNSET,
        units=_units_of(result) if with_units else UNSET,
        intervals=UNSET if intervals is None else intervals,
    )


def _units_of(result: ScoredPredictions) -> Units:
    """Return the statistics of each unit of a result, as documents have them."""
    table = result.table
    return Units(table.ids, table.columns, table.rows, result.mode.unit)


def result_object(
    result: ScoredPredictions, intervals: ScoreIntervals | None = None, *, with_units: bool = False
) -> dict[str, object]:
    """Return the object that `--json` writes for a result.

    The object has the keys that the official evaluator writes. In addition, the key "signature" contains the document
    of the result, which includes the signature. The document contains the `intervals` of the measures if they are
    given, and the statistics of each unit if `with_units` is true.
    """
    document = document_of(result, intervals, with_units=with_units)
    return {**result.mode.official_scores(result.scores), "signature": document}


def json_text(result: ScoredPredictions, intervals: ScoreIntervals | None = None, *, with_units: bool = False) -> str:
    """Return the text that `--json` writes for a result, without the trailing line feed.

    The text includes the confidence intervals of the measures if `intervals` is given, and the statistics of each unit
    if `with_units` is true.
    """
    json_object = result_object(result, intervals, with_units=with_units)
    return documents.json_text(json_object).removesuffix("\n")


def json_of_several(
    results: Iterable[ScoredPredictions], intervals: Mapping[str, ScoreIntervals], *, with_units: bool = False
) -> str:
    """Return the results of several runs as JSON text: `{"task": "pool", "runs": [...]}`, with a document for each run.

    `intervals` contains the confidence intervals of each run by the name of the run. If `with_units` is true, each
    document includes the statistics of each unit.
    """
    documents_of_runs = []
    for result in results:
        document = document_of(result, intervals.get(result.system), with_units=with_units)
        documents_of_runs.append(document)
    task = documents_of_runs[0].task  # all runs have the same task
    scores_of_runs = ScoresOfRuns(task=task, runs=tuple(documents_of_runs))
    return documents.json_text(scores_of_runs).removesuffix("\n")


def score_lines(
    mode: Mode, scores: Mapping[str, float], total_by_column: Mapping[str, float], undefined: Collection[str] = ()
) -> list[str]:
    """Return the lines of the table of scores, one for each row of the report, below a line with the headings.

    Each line has the measures of its row with four decimals, and the totals that the row shows. Rows whose measures are
    all `undefined` are left out. Raises KeyError for any other measure without a score.
    """
    rows_of_cells = [("", *mode.headings)]
    for row in mode.rows:
        is_undefined = set(row.measures) <= set(undefined)
        if is_undefined:
            continue
        cells = [f"{scores[measure]:.4f}" for measure in row.measures]
        cells += [str(int(total_by_column[column])) for column in row.totals]
        rows_of_cells.append((row.name, *cells))
    return align_rows(rows_of_cells)


def report_text(result: ScoredPredictions) -> str:
    """Return the report of a result, with the inputs, the headline measure, all measures, and the signature.

    `result.head` contains the sentences above the scores, such as a sentence about the number of answers scored.
    """
    first_line = _first_line(result)
    lines = [first_line]
    lines += _lines_about_inputs(result, first_line)  # a wide first line makes these lines narrower
    lines += introduction_lines(result.head)
    lines.append("")
    lines += _lines_on_headline_measure(result)
    lines += _lines_of_tables(result)
    lines.append("")
    for measure, reason in result.undefined.items():
        lines += wrap_lines(f"undefined  {measure}: {reason}")
    lines.append(f"signature  {result.origin.signature}")
    return "\n".join(lines)


def _first_line(result: ScoredPredictions) -> str:
    """Return the first line of a report: the task, the number of units, and the name of the run if there are several.

    An example is "scifact: 300 claims, run baseline".
    """
    units_in_words = result.origin.answered_count_text  # such as "100 of 300 claims"; None if all units were scored
    if not units_in_words:
        units_in_words = number_with_noun(len(result.table.ids), result.mode.unit)
    first_line = f"{result.mode.name}: {units_in_words}"
    if result.system:  # the name of the run, if the file has several
        first_line += f", run {one_line(result.system, 60)}"
    return first_line


def _lines_of_tables(result: ScoredPredictions) -> list[str]:
    """Return the lines of the table of scores, followed by an additional table for some tasks.

    For example, the additional table of a SciFact stage counts documents by their gold label and predicted label.
    """
    totals = result.table.sums()
    total_by_column = dict(zip(result.table.columns, totals))
    lines = score_lines(result.mode, result.scores, total_by_column, result.undefined)
    further_table = result.mode.further_table(totals)
    if further_table:
        lines.append("")
        lines += align_rows(further_table)
    return lines


def _lines_about_inputs(result: ScoredPredictions, first_line: str) -> list[str]:
    """Return the lines that say what gold and predictions contain: "gold  claims.jsonl  300 claims, 412 abstracts".

    `first_line` is the first line of the report. If it or one of these lines is too wide for a screen, each input has
    two lines.
    """
    rows = _rows_about_inputs(result)
    aligned_lines = align_rows(rows)
    fits_screen = all(len(line) <= SCREEN_WIDTH for line in (first_line, *aligned_lines))
    if fits_screen:
        return aligned_lines
    lines = []
    for role, file, numbers_in_words in rows:
        lines.append(one_line(f"{role}  {file}"))
        lines.append(f"  {one_line(numbers_in_words)}")
    return lines


def _rows_about_inputs(result: ScoredPredictions) -> list[tuple[str, str, str]]:
    """Return the role, the name and the contents of each input: ("gold", "claims.jsonl", "300 claims, 412 abstracts").

    An input without contents is left out.
    """
    rows = []
    for role, file, contents in zip(("gold", "predictions"), result.names, result.contents):
        if contents:
            numbers_in_words = [number_with_noun(number, noun) for number, noun in contents]
            rows.append((role, file, ", ".join(numbers_in_words)))
    return rows


def introduction_lines(head: Iterable[str]) -> list[str]:
    """Return a blank line and then the sentences that introduce a report, in lines that fit the width of a screen.

    The list is empty if there is no sentence.
    """
    lines = []
    for sentence in head:
        lines += wrap_lines(sentence)
    return ["", *lines] if lines else []


def _lines_on_headline_measure(result: ScoredPredictions) -> list[str]:
    """Return lines with the headline measure, its score, and why it is the headline measure, then a blank line.

    The list is empty if the measure has no score, or if no reason is known.
    """
    measure = result.origin.measure
    if measure not in result.scores or measure not in HEADLINE_REASONS:
        return []
    headline = f"headline   {measure} {result.scores[measure]:.4f}: {HEADLINE_REASONS[measure]}"
    return [*wrap_lines(headline, " " * 11), ""]  # 11 is the width of "headline   "


def intervals_text(intervals: ScoreIntervals) -> str:
    """Return a table of the measures with their confidence intervals, followed by sentences that explain them."""
    rows: list[tuple[str, ...]] = [("", "score", "low", "high")]
    for measure, interval in intervals.scores.items():
        numbers = (interval.point, interval.low, interval.high)
        cells = ["-" if number is None else f"{number:.4f}" for number in numbers]
        rows.append((measure, *cells))
    lines = align_rows(rows)
    lines += _wrap_all(intervals.explanation())
    return "\n".join(lines)


def _wrap_all(sentences: Iterable[str]) -> list[str]:
    """Return sentences in lines that fit a screen."""
    lines = []
    for sentence in sentences:
        lines += wrap_lines(one_line(sentence))
    return lines


def scores_table(document: PredictionScores, *, for_programs: bool = True) -> Table:
    """Return a table with a row for each measure, which has its score and the limits of its confidence interval.

    There are no limits if the document has no intervals. A table `for_programs` also has columns for the settings of
    the intervals. If only answered units were scored, another column says how many.
    """
    rows: list[dict[str, object]] = [{"measure": name, "score": score} for name, score in document.scores.items()]
    keys = ["measure", "score"]
    if document.intervals:
        _add_limits(rows, document.intervals)
        keys += ["low", "high"]
        if for_programs:
            keys += SETTINGS_COLUMNS
    answered = document.origin.answered_count_text
    if answered is not None:
        keys.append("answered")
        for row in rows:
            row["answered"] = answered
    table_layout = layout.Layout(name="scores", title="", columns=layout.columns(*keys), rows=lambda _document: rows)
    return table_layout.table(document)


def _add_limits(rows: Iterable[dict[str, object]], intervals: ScoreIntervals) -> None:
    """Add to the row of each measure the limits of its confidence interval, and the settings of all intervals.

    The rows, such as {"measure": "f1", "score": 0.5}, are changed in place.
    """
    settings = intervals.settings_row()
    for row in rows:
        interval = intervals.scores[str(row["measure"])]
        row.update(asdict(interval), **settings)


class _ScoresWithNotes(NamedTuple):
    """A table of scores, the lines above it, sentences about its confidence intervals, and the signature."""

    lines_above: Sequence[str]
    table: Table
    explanation: Sequence[str]
    signature: str


def format_scores(
    format_: str, result: ScoredPredictions, intervals: ScoreIntervals | None = None, measures: Sequence[str] = ()
) -> str:
    """Return the scores in a format: text, tsv, markdown or latex.

    `measures` are patterns of measures to show; if there are none, all measures are shown. The result depends on the
    format:

    - text without patterns: the report of the result, with a table of the intervals below it
    - tsv: a table for programs, with the limits and the settings of the intervals as columns
    - otherwise: a table for people, with the limits as columns, and sentences below it that explain them

    Raises UsageError for a pattern that matches no measure.
    """
    if format_ == "text" and not measures:
        report = report_text(result)
        return report if intervals is None else f"{report}\n\n{intervals_text(intervals)}"
    document = _select_scores(document_of(result, intervals), measures)
    if format_ == "tsv":
        table_for_programs = scores_table(document, for_programs=True)
        return b"".join(layout.tsv(table_for_programs)).decode()
    scores_with_notes = _ScoresWithNotes(
        lines_above=_lines_above_table(result),
        table=scores_table(document, for_programs=False),
        explanation=[] if intervals is None else intervals.explanation(list(document.scores)),
        signature=str(result.origin.signature),
    )
    return _format_with_notes(format_, scores_with_notes)


def _select_scores(document: PredictionScores, patterns: Sequence[str]) -> PredictionScores:
    """Return the document of a result with only the measures that match one of the patterns.

    Without patterns, all measures are returned, with the headline measure first. Raises UsageError for a pattern that
    matches no measure.
    """
    names = select_names(list(document.scores), patterns)
    if not patterns:
        headline_measure = document.measure
        names.sort(key=lambda name: name != headline_measure)  # moves this measure to the front
    return replace(document, scores={name: document.scores[name] for name in names})


def _lines_above_table(result: ScoredPredictions) -> list[str]:
    """Return the line above a table of scores, if only answered units were scored: "scifact: 280 of 300 claims"."""
    if result.origin.answered_count_text is None:
        return []
    return [f"{result.mode.name}: {result.origin.answered_count_text}"]


def _format_with_notes(format_: str, scores: _ScoresWithNotes) -> str:
    """Return a table of scores with its notes in a format: text, markdown or latex."""
    if format_ == "markdown":
        return _markdown_text(scores)
    if format_ == "latex":
        return _latex_text(scores)
    return _text_with_notes(scores)


def _text_with_notes(scores: _ScoresWithNotes) -> str:
    """Return a table as text, with its head above it, and sentences about its intervals and the signature below it."""
    lines = []
    if scores.lines_above:
        lines += [*scores.lines_above, ""]
    _blank_line, *table_lines = layout.text_lines(scores.table, None)
    lines += table_lines
    lines += _wrap_all(scores.explanation)
    lines += ["", f"signature  {scores.signature}"]
    return "\n".join(lines).lstrip("\n")  # without the title of the table, which is an empty line


def _markdown_text(scores: _ScoresWithNotes) -> str:
    """Return a table in Markdown. Its head is above it, and a list of sentences about its intervals is below it."""
    lines = []
    if scores.lines_above:
        lines += [*scores.lines_above, ""]
    lines += layout.markdown(scores.table)
    if scores.explanation:
        lines.append("")
        lines += [f"- {escape_markdown(sentence)}" for sentence in scores.explanation]
    return "\n".join(lines)


def _latex_text(scores: _ScoresWithNotes) -> str:
    """Return a table in LaTeX. Its head is above it, as comments; sentences about its intervals are below it."""
    lines = [r"% \usepackage{booktabs}"]
    lines += [f"% {line}" for line in scores.lines_above]
    lines += layout.latex(scores.table)
    if scores.explanation:
        lines.append("")
        lines += [escape_latex(sentence) for sentence in scores.explanation]
    return "\n".join(lines)


def single_score(measure: str, score: float, intervals: ScoreIntervals | None) -> list[str]:
    """Return a score with its confidence limits, `0.4512 [0.4101, 0.4927]`, then sentences that explain the limits.

    The first text is for standard output, the others are for standard error. If `intervals` is None, the only text is
    the score.
    """
    score_text = f"{score:.4f}"
    if intervals is None:
        return [score_text]
    interval = intervals.scores[measure]
    if interval.low is not None and interval.high is not None:
        score_text += f" [{interval.low:.4f}, {interval.high:.4f}]"
    explanation = intervals.explanation([measure], limits_name="In brackets")
    return [score_text, *explanation]


def unit_blocks(result: ScoredPredictions) -> Iterator[bytes]:
    """Yield the table of units as tab-separated UTF-8 text: a header line, then a line for each unit, its id first.

    A floating-point statistic is written so that reading it gives the same number. An id is written so that a
    spreadsheet does not take it for a formula.
    """
    yield _header(result.mode)
    for unit_id, row in zip(result.table.ids, result.table.rows):
        cells = [spreadsheet_cell(unit_id)]
        cells += [repr(statistic) for statistic in row]
        line = "\t".join(cells) + "\n"
        yield line.encode()


def units_option(mode: Mode) -> OwnOption:
    """Return the option that names the file of the table of units."""
    return OwnOption("--per-item", {".tsv": re.escape(_header(mode))}, "units.tsv")


def _header(mode: Mode) -> bytes:
    """Return the first line of the table of units, with the names of its columns."""
    line = "\t".join(["id", *mode.columns]) + "\n"
    return line.encode()


def align_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines of text with aligned columns. The first row is the heading.

    Columns of numbers are aligned on the right. Cells are made safe to print. Rows may have different lengths.
    """
    column_count = max([len(row) for row in rows], default=0)
    whole_rows = []
    for row in rows:
        cells = [one_line(cell) for cell in row]
        missing_cells = [""] * (column_count - len(row))
        whole_rows.append(cells + missing_cells)
    is_numeric = [_is_numeric_column(whole_rows, column) for column in range(column_count)]
    return display.align_columns(whole_rows, is_numeric)


def _is_numeric_column(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Return whether all cells of a column are numbers or empty, apart from the heading, which is in the first row."""
    cells_below_heading = [row[column] for row in rows[1:]]
    return all(cell == "" or _NUMBER_PATTERN.fullmatch(cell) for cell in cells_below_heading)
