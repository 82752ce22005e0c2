"""Results as text: an aligned table for people, one JSON object and a table of units for machines."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.base import display
from cs_score.base.display import one_line
from cs_score.base.planned_outputs import Format, OwnOption
from cs_score.evidence.result import Mode, Result, UnitExplanation, counted
from cs_score.statistics.options import sentences
from cs_score.statistics.results import ScoreIntervals

_NUMBER: Final = re.compile(r"[-+]?\d+(\.\d+)?%?|-")

ROWS_PER_BLOCK: Final = 10_000


SCHEMA_VERSION: Final = 1
"""Raised when a key changes its meaning or goes away; new keys do not raise it."""


def json_text(result: Result, intervals: ScoreIntervals | None = None, *, with_units: bool = False) -> str:
    """The official measures at full precision and the signature, as one JSON object; `intervals` where there are.

    `with_units` adds the statistics of each unit, by which a later run can be compared with this one.
    """
    return json.dumps(result_object(result, intervals, with_units=with_units), indent=2, allow_nan=False)


def result_object(
    result: Result, intervals: ScoreIntervals | None = None, *, with_units: bool = False
) -> dict[str, object]:
    """That object. Official evaluators have no other keys beside the measures, so all else stands in the signature."""
    origin = result.origin
    of_scores: dict[str, object] = {}
    if intervals is not None:
        origin = origin.with_option("bootstrap", intervals.resampling.as_json())
        of_scores = {"intervals": intervals.as_json()}
    signature = {**origin.as_json(), "schema_version": SCHEMA_VERSION}
    if with_units:
        signature["units"] = {"unit": result.mode.unit, **result.table.as_json()}
    return {**result.official(), **of_scores, "signature": signature}


def table_text(result: Result) -> str:
    """What was read, and the measures with four decimals."""
    mode = result.mode
    totals = dict(zip(result.table.columns, result.table.sums()))
    rows = [("", *mode.headings)]
    for row in mode.rows:
        scores = [f"{result.scores[measure]:.4f}" for measure in row.measures]
        rows.append((row.name, *scores, *(str(int(totals[column])) for column in row.totals)))
    read = [
        (source.role, source.name, ", ".join(counted(number, noun) for number, noun in source.contents))
        for source in result.inputs
    ]
    title = f"{mode.name}: {counted(len(result.table.ids), mode.unit)}"
    return "\n".join((title, *aligned(read), "", *aligned(rows), "", f"signature  {result.signature}"))


def intervals_text(intervals: ScoreIntervals) -> str:
    """The measures with their intervals, and how these were found."""
    rows: list[tuple[str, ...]] = [("", "score", "low", "high", "std. error", "")]
    for measure, interval in intervals.scores.items():
        numbers = (interval.point, interval.low, interval.high, interval.standard_error)
        cells = ["-" if number is None else f"{number:.4f}" for number in numbers]
        rows.append((measure, *cells, interval.note))
    settings = intervals.resampling
    foot = (
        f"low, high: {settings.confidence:g} % {settings.method} bootstrap interval, {settings.resamples} resamples of "
        f"{counted(intervals.units, settings.unit)}, seed {settings.seed}"
    )
    return "\n".join((*aligned(rows), *sentences(intervals.notes), foot))


def explanation_text(explanation: UnitExplanation) -> str:
    """An explanation with each of its lines safe to print."""
    return "\n".join(map(one_line, explanation.lines))


def unit_blocks(result: Result) -> Iterator[bytes]:
    """The table of units as tab-separated UTF-8 text: a header line, then one line per unit, its id first.

    Floating-point statistics are written so that they read back as the same number; control characters of an id are
    escaped.
    """
    table = result.table
    yield _header(result.mode)
    for start in range(0, len(table.ids), ROWS_PER_BLOCK):
        block = slice(start, start + ROWS_PER_BLOCK)
        yield "".join(
            "\t".join((_cell(unit), *map(repr, row))) + "\n" for unit, row in zip(table.ids[block], table.rows[block])
        ).encode()


JSON_OPTION: Final = OwnOption(
    "--json",
    # Numbers by name, perhaps in groups, and what they were computed from.
    {".json": Format(re.compile(rb'\{(?:\s*"\w+":\s*(?:\{|[-+.\de]+)|[\s},])+"(?:intervals|signature)":\s*\{'))},
    "result.json",
    takes_dash=True,
)
"""The option that names the file of the JSON object."""


def units_option(mode: Mode) -> OwnOption:
    """The option that names the file of the table of units."""
    return OwnOption("--per-item", {".tsv": Format(re.compile(re.escape(_header(mode))))}, "units.tsv")


def _header(mode: Mode) -> bytes:
    return "\t".join(("id", *mode.columns)).encode() + b"\n"


def _cell(text: str) -> str:
    return one_line(text, sys.maxsize)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines with columns of even width, numbers to the right; cells are made safe to print."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    columns = max(map(len, cells), default=0)
    for row in cells:
        row.extend([""] * (columns - len(row)))
    numeric = [all(not cell or _NUMBER.fullmatch(cell) for cell in column[1:]) for column in zip(*cells)]
    return display.aligned(cells, numeric)
