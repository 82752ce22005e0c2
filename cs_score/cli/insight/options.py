"""The options that the commands of insight share, where their results go, and how wide their text is."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from cs_score.analysis.json_text import json_text
from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import encoded, make_folder, write_together
from cs_score.base.planned_outputs import Existing, Format, OutputPlan, OwnOption, PlannedOutput
from cs_score.cli import colour
from cs_score.cli.destinations import Destination, print_text, write_to_stream
from cs_score.cli.form import whole_number
from cs_score.cli.options import FORCE, Choices, CommandLine, Option

if TYPE_CHECKING:
    from cs_score.statistics.options import Resampling

WIDEST: Final = 120
"""Columns of a text that goes to no terminal."""

MOST_SHOWN: Final = 1_000_000_000

TSV: Final = "--tsv"

TOP: Final = Option("--top", "N", "List only the N costliest mistakes; otherwise 20 in the text, elsewhere all")


TOP_UNITS: Final = Option(
    "--top", "N", "List only the N largest contributions and as many answers; otherwise 20 in the text, elsewhere all"
)


def measure_option(measures: Choices) -> Option:
    """The option that chooses the measure that is asked about."""
    return Option(
        "--measure", "NAME", "The measure that is asked about; otherwise the first of the mode", None, measures
    )


def result_options(what: str, tables: bool = True) -> tuple[Option, ...]:
    """The options that say where the result goes."""
    files = (Option(TSV, "DIR", f"Also write the tables of {what} into this folder, as .tsv"),) if tables else ()
    return (
        Option("--json", "[FILE.json]", f"{what.capitalize()} as JSON, in FILE; without FILE instead of the text"),
        *files,
        FORCE,
    )


def top_of(line: CommandLine) -> int | None:
    """How many mistakes are to be listed; None where nothing was said. Raises UsageError."""
    return whole_number(line, TOP.name, MOST_SHOWN)


def resampling_of(line: CommandLine) -> Resampling | None:
    """How a comparison resamples. Raises UsageError."""
    from cs_score.cli.resampling_options import COMPARISON_OPTIONS, read_resampling

    return read_resampling(
        {option.name: line.switches.get(option.name) for option in COMPARISON_OPTIONS}, COMPARISON_OPTIONS
    )


def make_way(line: CommandLine, inputs: Sequence[str], key: str, tables: Mapping[str, bytes] | None = None) -> None:
    """Check the files that the command will write, and remove those of an earlier call. Raises UsageError, OutputError.

    `key` is that of the JSON object behind `schema_version`, `mode` and `measure`, by which a file is known; `tables`
    are the files of `--tsv` with their first columns.
    """
    keys = (rb'"schema_version":\s*\d+', rb'"mode":\s*"\w+"', rb'"measure":\s*"[^"]*"', f'"{key}":'.encode())
    beginning = re.compile(rb"\{\s*" + rb",\s*".join(keys))
    json_file = OwnOption("--json", {".json": Format(beginning)}, "insight.json", takes_dash=True)
    folder = line.switches.get(TSV)
    outputs = (*json_file.outputs(line.switches.get("--json")), *_planned_tables(folder, tables or {}))
    plan = OutputPlan(inputs, outputs, "--force" in line.switches, folder)
    plan.check()
    plan.clear()


def _planned_tables(folder: str | None, headers: Mapping[str, bytes]) -> Iterator[PlannedOutput]:
    """The files that `--tsv` writes, by their first columns. Raises UsageError or OutputError for what is no folder."""
    if folder is None:
        return
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder} is a file, where {TSV} makes a folder")
    if os.path.islink(folder) and not os.path.isdir(folder):
        raise OutputError(f"Could not open {folder}: a link that leads to no folder; choose another {TSV}")
    for name, header in headers.items():
        beginning = Format(re.compile(re.escape(header.rstrip(b"\n"))))
        yield PlannedOutput(TSV, os.path.join(folder, name), Existing.RECOGNISED, beginning)


def deliver(
    line: CommandLine,
    as_json: Callable[[], Mapping[str, object]],
    as_text: Callable[[int], str],
    tables: Iterable[tuple[str, Iterable[bytes]]] = (),
) -> None:
    """Write the result as JSON into its file, and tables into the folder of --tsv: all or none.

    Print it as text, in lines of so many columns, or as JSON. Raises OutputError.
    """
    json_file, folder = line.switches.get("--json"), line.switches.get(TSV)
    files = [] if folder is None else [(os.path.join(folder, name), blocks) for name, blocks in tables]
    if json_file not in (None, "-"):
        files.append((json_file, encoded(json_text(as_json()))))
    is_new = folder is not None and not os.path.exists(folder)
    try:
        if folder is not None:
            make_folder(folder, TSV)
        write_together(files)
    except OutputError:
        if folder is not None and is_new:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        raise
    if json_file == "-":
        write_to_stream(Destination("stdout"), encoded(json_text(as_json())))
        return
    print_text(as_text(_text_width()), colour.with_deltas)


def _text_width() -> int:
    """The columns that a text may take."""
    if sys.stdout is None or not sys.stdout.isatty():
        return WIDEST
    return shutil.get_terminal_size().columns
