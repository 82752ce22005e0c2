"""The option that chooses measures by name."""

from __future__ import annotations

from cs_score.cli.options import Choices, CommandLine, Option


def measure_option(measures: Choices) -> Option:
    """The option of a command that has these measures."""
    return Option(
        "--measure",
        "NAME,...",
        "Only these measures: names, or patterns such as '*F1', with commas between",
        choices=measures,
    )


def read_measures(line: CommandLine) -> tuple[str, ...]:
    """The names and patterns given; none where the option was not."""
    listed = line.switches.get("--measure")
    return () if listed is None else tuple(name.strip() for name in listed.split(","))
