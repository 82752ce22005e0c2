"""Results as text: an aligned table for people, one JSON object and a table of units for machines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.base import display, documents
from cs_score.base.display import SCREEN, escape_latex, escape_markdown, one_line, spreadsheet_cell, wrapped
from cs_score.base.documents import Document
from cs_score.base.outputs import OwnOption
from cs_score.base.records import asdict, replace, to_builtins
from cs_score.base.signature import Origin
from cs_score.evidence.mode import Mode, Result
from cs_score.evidence.reading import counted
from cs_score.measures.registry import WHY, chosen
from cs_score.statistics.results import SETTINGS_COLUMNS, ScoreIntervals
from cs_score.statistics.units import Units
from cs_score.tables.layout import Layout, Table, columns, latex, markdown, text, tsv

_NUMBER: Final = re.compile(r"[-+]?\d+(\.\d+)?%?|-")


class Scores(Document, frozen=True, kw_only=True, tag="score"):
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
    runs: tuple[Scores, ...]


def document_of(result: Result, intervals: ScoreIntervals | None = None, *, with_units: bool = False) -> Scores:
    """The result as a document. By the statistics of its units a later run can be compared with this one."""
    origin, table = result.origin, result.table
    if intervals is not None:
        origin = origin.with_option("bootstrap", to_builtins(intervals.resampling))
    return Scores(
        task=result.mode.name,
        measure=origin.measure,
        signature=str(origin.signature),
        origin=origin,
        run=result.system or UNSET,
        head=result.head or UNSET,
        scores=result.scores,
        undefined=result.undefined or UNSET,
        units=Units(table.ids, table.columns, table.rows, result.mode.unit) if with_units else UNSET,
        intervals=UNSET if intervals is None else intervals,
    )


def result_object(
    result: Result, intervals: ScoreIntervals | None = None, *, with_units: bool = False
) -> dict[str, object]:
    """What `--json` writes: the object of the official evaluator, and the document as its one further key."""
    return {**result.mode.official(result.scores), "signature": document_of(result, intervals, with_units=with_units)}


def json_text(result: Result, intervals: ScoreIntervals | None = None, *, with_units: bool = False) -> str:
    return documents.json_text(result_object(result, intervals, with_units=with_units)).removesuffix("\n")


def json_of_several(
    results: Iterable[Result], intervals: Mapping[str, ScoreIntervals], *, with_units: bool = False
) -> str:
    """Return the results of several runs as one JSON object, the document of each under `runs`."""
    runs = []
    for result in results:
        runs.append(document_of(result, intervals.get(result.system), with_units=with_units))
    whole = ScoresOfRuns(task=runs[0].task, runs=tuple(runs))
    return documents.json_text(whole).removesuffix("\n")


def score_lines(mode: Mode, scores: Mapping[str, float], statistics: Mapping[str, float]) -> list[str]:
    """The measures with four decimals in the lines of the mode's report, and their totals; those without a value are
    left out."""
    rows = [("", *mode.headings)]
    for row in mode.rows:
        if not set(row.measures) <= scores.keys():
            continue
        totals = (str(int(statistics[column])) for column in row.totals)
        rows.append((row.name, *(f"{scores[measure]:.4f}" for measure in row.measures), *totals))
    return aligned(rows)


def table_text(result: Result) -> str:
    """What was read, and the measures."""
    mode = result.mode
    read = [
        (role, name, ", ".join(counted(*each) for each in contents))
        for role, name, contents in zip(("gold", "predictions"), result.names, result.read)
        if contents
    ]
    scores = score_lines(mode, result.scores, dict(zip(result.table.columns, result.table.sums())))
    run = f", run {one_line(result.system, 60)}" if result.system else ""
    units = result.origin.answered or counted(len(result.table.ids), mode.unit)
    lines = [f"{mode.name}: {units}{run}", *aligned(read)]
    if max(map(len, lines)) > SCREEN:
        lines[1:] = [part for row in read for part in (one_line("  ".join(row[:2])), f"  {one_line(row[2])}")]
    further = mode.below(result.table.sums())
    if further:
        scores += ["", *aligned(further)]
    head = head_lines(result.head)
    headline_lines = _headline_lines(result)
    if headline_lines:
        headline_lines.append("")
    reasons = []
    for name, reason in result.undefined.items():
        reasons += wrapped(f"undefined  {name}: {reason}")
    closing = [*reasons, f"signature  {result.origin.signature}"]
    return "\n".join((*lines, *head, "", *headline_lines, *scores, "", *closing))


def head_lines(head: Iterable[str]) -> list[str]:
    """Return what was scored, in lines that fit a screen, below a blank one."""
    lines = []
    for sentence in head:
        lines += wrapped(sentence)
    return ["", *lines] if lines else []


def _headline_lines(result: Result) -> list[str]:
    """Return the headline measure with its score and why it is that; nothing where the scores lack it."""
    measure = result.origin.measure
    if measure not in result.scores or measure not in WHY:
        return []
    return wrapped(f"headline   {measure} {result.scores[measure]:.4f}: {WHY[measure]}", " " * 11)


def intervals_text(intervals: ScoreIntervals) -> str:
    """Return the measures with their intervals, and how these were found."""
    rows: list[tuple[str, ...]] = [("", "score", "low", "high")]
    for measure, interval in intervals.scores.items():
        numbers = (interval.point, interval.low, interval.high)
        cells = ["-" if number is None else f"{number:.4f}" for number in numbers]
        rows.append((measure, *cells))
    return "\n".join((*aligned(rows), *_wrapped(intervals.explanation())))


def _below_table(lines: list[str]) -> list[str]:
    """Return lines with an empty one that parts them from a table; none where there are none."""
    return ["", *lines] if lines else []


def _wrapped(sentences: Iterable[str]) -> list[str]:
    """Return sentences in lines of a screen."""
    return [line for sentence in sentences for line in wrapped(one_line(sentence))]


def scores_table(scores: Scores, *, for_programs: bool = True) -> Table:
    """Return a row for each measure, with its interval if there are intervals; `for_programs` with their settings."""
    intervals = scores.intervals or None
    answered = scores.origin.answered

    keys = ["measure", "score"]
    rows: list[dict[str, object]] = [{"measure": name, "score": score} for name, score in scores.scores.items()]
    if intervals is not None:
        keys += ["low", "high", *(SETTINGS_COLUMNS if for_programs else ())]
        settings = intervals.settings_row()
        for row, measure in zip(rows, scores.scores):
            row.update(asdict(intervals.scores[measure]), **settings)
    if answered is not None:
        keys.append("answered")
        for row in rows:
            row["answered"] = answered
    return Layout("scores", "", columns(*keys), lambda _: rows).table(scores)


def printed(format_: str, result: Result, intervals: ScoreIntervals | None = None, measures: Sequence[str] = ()) -> str:
    """Return measures that match these patterns, or all, as text, tsv, markdown or latex.

    Raises UsageError for a pattern that no measure matches.
    """
    scores = document_of(result, intervals)
    names = chosen(list(scores.scores), measures)
    if not measures:
        names.sort(key=lambda name: name != scores.measure)  # the headline measure first, the others in their order
    scores = replace(scores, scores={name: scores.scores[name] for name in names})
    table = scores_table(scores, for_programs=format_ == "tsv")
    below = [] if intervals is None else intervals.explanation(names)
    if format_ == "tsv":
        return b"".join(tsv(table)).decode()
    answered = result.origin.answered
    head = [] if answered is None else [f"{result.mode.name}: {answered}", ""]
    if format_ == "markdown":
        return "\n".join(
            [*head, *markdown(table), *([""] if below else []), *(f"- {escape_markdown(text)}" for text in below)]
        )
    if format_ == "latex":
        comments = [f"% {line}" for line in head if line]
        return "\n".join(
            [r"% \usepackage{booktabs}", *comments, *latex(table), *([""] if below else []), *map(escape_latex, below)]
        )
    if not measures:
        return "\n\n".join([table_text(result), *([] if intervals is None else [intervals_text(intervals)])])
    lines = [*head, *list(text(table, None))[1:], *_wrapped(below), "", f"signature  {result.origin.signature}"]
    return "\n".join(lines).lstrip("\n")


def single_score(measure: str, score: float, intervals: ScoreIntervals | None) -> list[str]:
    """Return one score with its limits in brackets, then, for standard error, how these came about."""
    text = f"{score:.4f}"
    if intervals is None:
        return [text]
    interval = intervals.scores[measure]
    if interval.low is not None and interval.high is not None:
        text += f" [{interval.low:.4f}, {interval.high:.4f}]"
    return [text, *intervals.explanation([measure], what="In brackets")]


def unit_blocks(result: Result) -> Iterator[bytes]:
    """The table of units as tab-separated UTF-8 text: a header line, then one line per unit, its id first.

    Floating-point statistics read back as the same number; an id is written as in all tables, so that a spreadsheet
    takes it for no formula.
    """
    yield _header(result.mode)
    for unit, row in zip(result.table.ids, result.table.rows):
        yield ("\t".join((spreadsheet_cell(unit), *map(repr, row))) + "\n").encode()


def units_option(mode: Mode) -> OwnOption:
    """The option that names the file of the table of units."""
    return OwnOption("--per-item", {".tsv": re.escape(_header(mode))}, "units.tsv")


def _header(mode: Mode) -> bytes:
    return "\t".join(("id", *mode.columns)).encode() + b"\n"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines with columns of even width, numbers to the right; cells are made safe to print."""
    columns = list(zip_longest(*(map(one_line, row) for row in rows), fillvalue=""))
    numeric = [all(not cell or _NUMBER.fullmatch(cell) for cell in column[1:]) for column in columns]
    return display.aligned(list(zip(*columns)), numeric)
