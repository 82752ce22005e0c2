"""Results as text: an aligned table for people, one JSON object and a table of units for machines."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap, zip_longest
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.base import display, documents
from cs_score.base.display import SCREEN, one_line, wrapped
from cs_score.base.documents import Document
from cs_score.base.outputs import OwnOption
from cs_score.base.records import asdict, replace, to_builtins
from cs_score.base.signature import Origin
from cs_score.evidence.mode import Mode, Result
from cs_score.evidence.reading import counted
from cs_score.measures.registry import chosen
from cs_score.statistics.options import sentences
from cs_score.statistics.results import ScoreIntervals
from cs_score.statistics.units import Units
from cs_score.tables.layout import Layout, Table, columns, latex, markdown, text, tsv

_NUMBER: Final = re.compile(r"[-+]?\d+(\.\d+)?%?|-")


class Scores(Document, frozen=True, kw_only=True, tag="score"):
    """The official measures by name, at full precision, with the statistics of each unit where they were asked for."""

    schema_version: Literal[4] = 4
    measure: str
    signature: str
    origin: Origin
    scores: Mapping[str, int | float]
    units: Units | UnsetType = UNSET
    intervals: ScoreIntervals | UnsetType = UNSET


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
        scores=result.scores,
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


def score_lines(mode: Mode, scores: Mapping[str, float], statistics: Mapping[str, float]) -> list[str]:
    """The measures with four decimals in the lines of the mode's report, and their totals."""
    rows = [("", *mode.headings)]
    for row in mode.rows:
        totals = (str(int(statistics[column])) for column in row.totals)
        rows.append((row.name, *(f"{scores[measure]:.4f}" for measure in row.measures), *totals))
    return aligned(rows)


def table_text(result: Result) -> str:
    """What was read, and the measures."""
    mode = result.mode
    read = [
        (role, name, ", ".join(counted(*each) for each in contents))
        for role, name, contents in zip(("gold", "predictions"), result.names, result.read)
    ]
    scores = score_lines(mode, result.scores, dict(zip(result.table.columns, result.table.sums())))
    lines = [f"{mode.name}: {counted(len(result.table.ids), mode.unit)}", *aligned(read)]
    if max(map(len, lines)) > SCREEN:
        lines[1:] = [part for row in read for part in (one_line("  ".join(row[:2])), f"  {one_line(row[2])}")]
    return "\n".join((*lines, "", *scores, "", f"signature  {result.origin.signature}"))


def intervals_text(intervals: ScoreIntervals) -> str:
    """The measures with their intervals, and how these were found."""
    rows: list[tuple[str, ...]] = [("", "score", "low", "high")]
    notes: dict[str, list[str]] = {}
    for measure, interval in intervals.scores.items():
        numbers = (interval.point, interval.low, interval.high)
        cells = ["-" if number is None else f"{number:.4f}" for number in numbers]
        rows.append((measure, *cells))
        if interval.note:
            notes.setdefault(interval.note, []).append(measure)
    settings = intervals.resampling
    foot = (
        f"low, high: {settings.confidence:g} % {settings.method} bootstrap interval, {settings.resamples} resamples of "
        f"{counted(intervals.units, settings.unit)}, seed {settings.seed}"
    )
    of_scores = [f"{', '.join(measures)}: {note}" for note, measures in notes.items()]
    below = [part for text in (*of_scores, *sentences(intervals.notes), foot) for part in wrapped(text)]
    return "\n".join((*aligned(rows), *below))


def scores_table(scores: Scores) -> Table:
    """A row for each measure, with its interval where there are intervals."""
    intervals = scores.intervals or None

    def row(measure: str, score: float) -> Mapping[str, object]:
        found = {} if intervals is None else asdict(intervals.scores[measure])
        return {**found, "measure": measure, "score": score}

    keys = ("measure", "score", *(() if intervals is None else ("low", "high")))
    return Layout("scores", "", columns(*keys), lambda of: starmap(row, of.scores.items())).table(scores)


def printed(
    format_: str,
    result: Result,
    intervals: ScoreIntervals | None = None,
    measures: Sequence[str] = (),
    *,
    is_bare: bool = False,
) -> str:
    """Measures that match these patterns, or all, as text, tsv, markdown or latex; `is_bare`: of one the number alone.

    Raises UsageError for a pattern that no measure matches.
    """
    scores = document_of(result, intervals)
    names = chosen(list(scores.scores), measures)
    scores = replace(scores, scores={name: scores.scores[name] for name in names})
    table = scores_table(scores)
    if format_ == "tsv":
        return b"".join(tsv(table)).decode()
    if format_ != "text":
        return "\n".join(markdown(table) if format_ == "markdown" else (r"% \usepackage{booktabs}", *latex(table)))
    if not measures:
        return "\n\n".join([table_text(result), *([] if intervals is None else [intervals_text(intervals)])])
    if is_bare and len(names) == 1:
        return f"{scores.scores[names[0]]:.4f}"
    return "\n".join((*list(text(table, None))[1:], "", f"signature  {result.origin.signature}")).lstrip("\n")


def unit_blocks(result: Result) -> Iterator[bytes]:
    """The table of units as tab-separated UTF-8 text: a header line, then one line per unit, its id first.

    Floating-point statistics read back as the same number; control characters of an id are escaped.
    """
    yield _header(result.mode)
    for unit, row in zip(result.table.ids, result.table.rows):
        yield ("\t".join((one_line(unit, sys.maxsize), *map(repr, row))) + "\n").encode()


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
