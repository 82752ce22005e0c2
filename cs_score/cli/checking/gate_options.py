"""The options of every form of `check`, and what they ask for. Loads no scoring code, so that help is quick."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from cs_score.base.errors import CsScoreError, UsageError
from cs_score.cli.destinations import print_text
from cs_score.cli.form import Section
from cs_score.cli.options import Choices, CommandLine, Option
from cs_score.cli.resampling_options import COMPARISON_OPTIONS, read_resampling

if TYPE_CHECKING:
    from cs_score.verification.checking import Gate, Measured

FORMATS: Final = ("text", "json", "junit", "github")

NOT_KEPT: Final = 3
"""The exit status where a limit is not kept."""

_OF_TEST: Final = COMPARISON_OPTIONS[:3]

STATUSES: Final[Section] = (
    "Exit status",
    "0: every limit is kept. 3: one is not. 1: an input cannot be scored, or the baseline cannot be compared.",
)


def gate_options(measures: Choices) -> tuple[Option, ...]:
    """The options of a check of these measures."""
    return (
        Option("--baseline", "FILE.json", "An earlier result to compare with, as --json FILE wrote it"),
        Option(
            "--max-drop",
            "MEASURE=N",
            "How far a measure or pattern may lie below the baseline; may be repeated",
            "0 for the main measures, where no limit is given",
            measures,
        ),
        Option(
            "--min", "MEASURE=N", "Least score of a measure, or those of a pattern; may be repeated", None, measures
        ),
        Option("--significant", None, "A drop counts only if the paired test calls it significant"),
        Option("--any-baseline", None, "Take a baseline of other gold or other options"),
        Option("--format", "NAME", f"How the result is printed: {', '.join(FORMATS)}", FORMATS[0], FORMATS),
        *_OF_TEST,
    )


def read_gate(line: CommandLine) -> Gate:
    """What the options ask for. Raises UsageError for values that mean nothing."""
    from cs_score.verification.checking import Gate, read_limit

    if _format(line) not in FORMATS:
        raise UsageError(f"--format takes {', '.join(FORMATS)}, not {_format(line)}")
    for option in ("--max-drop", "--significant", "--any-baseline"):
        if option in line.switches and "--baseline" not in line.switches:
            raise UsageError(f"{option} is about a baseline: give --baseline FILE, too")
    given = {option.name: line.switches.get(option.name) for option in COMPARISON_OPTIONS}
    resampling = read_resampling(given, COMPARISON_OPTIONS)
    for option in (each.name for each in _OF_TEST):
        if option in line.switches and "--significant" not in line.switches:
            raise UsageError(f"{option} is about the test: give --significant, too")
    return Gate(
        tuple(read_limit("--min", text) for text in line.texts("--min")),
        tuple(read_limit("--max-drop", text) for text in line.texts("--max-drop")),
        resampling if "--significant" in line.switches else None,
        "--any-baseline" in line.switches,
    )


def judge(gate: Gate, run: Measured, line: CommandLine) -> int:
    """Hold a run against the limits and print the result; the exit status. Raises UsageError and InputError."""
    from cs_score.verification.checking import WRITERS, of_record

    path = line.switches.get("--baseline")
    judgement = gate.judge(run, None if path is None else of_record(path, run.name))
    print_text(WRITERS[_format(line)](judgement).removesuffix("\n"))
    return 0 if judgement.passed else NOT_KEPT


@contextlib.contextmanager
def errors_in_format(line: CommandLine) -> Iterator[None]:
    """A block whose errors are printed in the format asked for, for programs that read it, before they end the call."""
    try:
        yield
    except CsScoreError as error:
        from cs_score.verification.checking import error_text

        if text := error_text(_format(line), str(error)):
            print_text(text.removesuffix("\n"))
        raise


def without_test(line: CommandLine) -> CommandLine:
    """The command line without the options of the test, which mean something else to the scorer."""
    from cs_score.base.records import replace

    names = {option.name for option in _OF_TEST}
    return replace(line, switches={name: value for name, value in line.switches.items() if name not in names})


def _format(line: CommandLine) -> str:
    return line.text("--format", FORMATS[0])
