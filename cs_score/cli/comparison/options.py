"""The options that all comparisons share, and what they ask for. Loads no numpy, so that help is quick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cs_score.base.errors import UsageError
from cs_score.base.records import Record
from cs_score.cli import colour
from cs_score.cli.destinations import print_text
from cs_score.cli.measure_option import measure_option, read_measures
from cs_score.cli.options import FORCE, Choices, CommandLine, Option
from cs_score.cli.resampling_options import COMPARISON_OPTIONS, read_resampling
from cs_score.statistics.options import Resampling

if TYPE_CHECKING:
    from cs_score.statistics.results import Comparison


FORMATS: Final = {"--tsv": "tsv", "--markdown": "markdown", "--latex": "latex"}
"""Option -> writer; without one of them a comparison is printed as aligned text, or as JSON where that has no file."""


def comparison_options(measures: Choices) -> tuple[Option, ...]:
    """The options of a comparison by these measures."""
    return (
        *COMPARISON_OPTIONS,
        measure_option(measures),
        Option("--common", None, "Compare on the units that all systems have; otherwise they must be the same"),
        Option("--json", "[FILE.json]", "The comparison as JSON, in FILE; without FILE instead of the text"),
        FORCE,
        Option("--tsv", None, "Print one table, separated by tabs"),
        Option("--markdown", None, "Print Markdown"),
        Option("--latex", None, "Print LaTeX (booktabs)"),
    )


class ComparisonSettings(Record):
    """What a comparison is to do, and the format of its result."""

    resampling: Resampling | None
    measures: tuple[str, ...]
    common: bool
    format: str
    json_file: str | None = None


def read_settings(line: CommandLine) -> ComparisonSettings:
    """The settings that the options ask for.

    Raises UsageError for impossible values, and for two formats.
    """
    json_file = line.switches.get("--json")
    formats = [*(["--json"] if json_file == "-" else []), *(name for name in FORMATS if name in line.switches)]
    if len(formats) > 1:
        raise UsageError(f"{' and '.join(formats)} exclude one another")
    return ComparisonSettings(
        read_resampling(
            {option.name: line.switches.get(option.name) for option in COMPARISON_OPTIONS}, COMPARISON_OPTIONS
        ),
        read_measures(line),
        "--common" in line.switches,
        FORMATS.get(formats[0], "json") if formats else "text",
        None if json_file == "-" else json_file,
    )


def make_way(line: CommandLine, inputs: Sequence[str]) -> None:
    """Check the file of --json, and remove that of an earlier comparison. Raises UsageError or OutputError."""
    from cs_score.base.planned_outputs import OutputPlan
    from cs_score.statistics.comparison_tables import OPTION

    plan = OutputPlan(inputs, tuple(OPTION.outputs(line.switches.get("--json"))), "--force" in line.switches)
    plan.check()
    plan.clear()


def print_comparison(comparison: Comparison, settings: ComparisonSettings) -> None:
    """Write the comparison to standard output, and to a file as JSON."""
    from cs_score.base.outputs import encoded, write_packed
    from cs_score.statistics.comparison_tables import WRITERS

    if settings.json_file is not None:
        write_packed(settings.json_file, encoded((WRITERS["json"](comparison),)))
    painted = colour.with_deltas if settings.format == "text" else str
    print_text(WRITERS[settings.format](comparison).removesuffix("\n"), painted)
