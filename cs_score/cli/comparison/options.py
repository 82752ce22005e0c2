"""The options that all comparisons share, and what they ask for. Loads no numpy, so that help is quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cs_score.cli.destinations import print_text
from cs_score.cli.resampling_options import COMPARISON_OPTIONS, read_resampling
from cs_score.foundation.errors import UsageError
from cs_score.statistics.options import Resampling

if TYPE_CHECKING:
    from cs_score.statistics.comparison import Comparison


@dataclass(frozen=True, slots=True)
class ComparisonOption:
    """One option: its name, the name of its value (None: it takes none), and its help."""

    name: str
    value: str | None
    help: str


FORMATS: Final = {"--json": "json", "--tsv": "tsv", "--markdown": "markdown", "--latex": "latex"}
"""Option -> writer; without one of them a comparison is printed as aligned text."""

OPTIONS: Final = (
    ComparisonOption("--measure", "LIST", "Only these measures: names, or patterns such as '*F1', with commas between"),
    ComparisonOption("--common", None, "Compare on the units that all systems have; otherwise they must be the same"),
    ComparisonOption("--json", None, "Print JSON"),
    ComparisonOption("--tsv", None, "Print one table, separated by tabs"),
    ComparisonOption("--markdown", None, "Print Markdown"),
    ComparisonOption("--latex", None, "Print LaTeX (booktabs)"),
)


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """What a comparison is to do, and the format of its result."""

    resampling: Resampling | None
    measures: tuple[str, ...]
    common: bool
    format: str


def read_settings(given: Mapping[str, Any]) -> ComparisonSettings:
    """The settings that the options given ask for, by name: texts, and true for options without a value.

    Raises UsageError for values that mean nothing, and for two formats.
    """
    formats = [name for name in FORMATS if given.get(name)]
    if len(formats) > 1:
        raise UsageError(f"{' and '.join(formats)} exclude one another")
    listed = given.get("--measure")
    return ComparisonSettings(
        read_resampling({option.name: given.get(option.name) for option in COMPARISON_OPTIONS}, COMPARISON_OPTIONS),
        () if listed is None else tuple(str(listed).split(",")),
        bool(given.get("--common")),
        FORMATS[formats[0]] if formats else "text",
    )


def print_comparison(comparison: Comparison, settings: ComparisonSettings) -> None:
    """Write the comparison to standard output."""
    from cs_score.statistics.comparison_writers import WRITERS

    print_text(WRITERS[settings.format](comparison).removesuffix("\n"))
