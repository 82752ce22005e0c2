"""`cs-score samples`: write bootstrap resamples of LDC queries for the scorer's switch `-samples`.

Takes the place of CS-GenerateSamples 1.1, with its switches and exit statuses (specification 11.4); `--seed` is an
addition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from cs_score.cli.destinations import Destination, write_result, write_text
from cs_score.cli.switches import (
    CommandLine,
    HelpWanted,
    Switch,
    SwitchError,
    VersionWanted,
    read_command_line,
    switch_help,
)
from cs_score.coldstart.resampling.sample_draws import read_groups, resample_lines
from cs_score.foundation.display import one_line
from cs_score.foundation.errors import CsScoreError, UsageError
from cs_score.foundation.outputs import encoded
from cs_score.foundation.planned_outputs import Existing, OutputPlan

PROGRAM: Final = "cs-score samples"
GENERATOR_VERSION: Final = "1.1"
DEFAULT_SEED: Final = 0

FAILED: Final = 255
"""Exit status of the reference programs for every kind of failure."""

PARAMETERS: Final = {
    "num_samples": "number of resamples",
    "queries": "file with lines LDC_ID SF_ID: the SF queries of each LDC query",
}

SWITCHES: Final = (
    Switch("-error_file", "FILE", "Where to report problems: a new file, stdout or stderr", "stderr"),
    Switch("-h", None, "Show this text"),
    Switch("-help", None, "Show this text"),
    Switch("-output_file", "FILE", "Where to write the resamples: a file, stdout or stderr", "stdout"),
    Switch("--seed", "S", "Whole number of at least 0; equal seeds give equal bytes", str(DEFAULT_SEED)),
    Switch("-version", None, "Show the version"),
)

# A negative number is a switch; one with too many digits to be meant is none.
_NUMBER: Final = re.compile(r"\s*\+?(\d{1,18}(\.\d*)?(e\+?\d{1,2})?)\s*", re.ASCII | re.IGNORECASE)
_SEED: Final = re.compile(r"\d{1,100}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Command:
    """A command line that has been understood."""

    num_samples: str
    queries: str
    output: str
    errors: str
    seed: int


def run(words: list[str]) -> int:
    """Run `cs-score samples` with the words after the subcommand; returns the exit status, 0 or 255."""
    try:
        command = _understand(read_command_line(words, SWITCHES))
    except HelpWanted:
        write_text("stdout", usage())
        return 0
    except VersionWanted:
        write_text("stdout", f"{PROGRAM} version {GENERATOR_VERSION}\n")
        return 0
    except SwitchError as error:
        write_text("stdout", f"{one_line(str(error))}\n\n{usage()}")
        return FAILED
    except UsageError as error:
        write_text("stdout", f"ERROR: {error}\n\n{usage()}")
        return FAILED
    try:
        _plan(command).check()
    except CsScoreError as error:
        write_text("stderr", f"{PROGRAM}: {error}\n")
        return FAILED
    try:
        report, status = _generate(command), 0
    except CsScoreError as error:
        report, status = f"{error}\n", FAILED
    write_result(Destination(command.errors), encoded([report]))
    return status


def usage() -> str:
    """The usage text."""
    parameters = "\n".join(f"  {name:<26} {text}" for name, text in PARAMETERS.items())
    return (
        f"{PROGRAM}:  Write bootstrap resamples of LDC queries, for the scorer's switch -samples\n\n"
        f"Usage: {PROGRAM} {{-switch {{-switch ...}}}} {' '.join(PARAMETERS)}\n\n"
        f"Legal switches are:\n{switch_help(SWITCHES)}\n\n"
        f"Parameters are:\n{parameters}\n"
    )


def _understand(line: CommandLine) -> _Command:
    for name in list(PARAMETERS)[len(line.words) :]:
        raise UsageError(f"Not enough arguments; {name} must be provided")
    if len(line.words) > len(PARAMETERS):
        raise UsageError("Too many arguments")
    seed = line.text("--seed", str(DEFAULT_SEED))
    if not _SEED.fullmatch(seed):
        raise UsageError(f"--seed takes a whole number of at least 0, not {seed}")
    num_samples, queries = line.words
    output, errors = line.text("-output_file", "stdout"), line.text("-error_file", "stderr")
    return _Command(num_samples, queries, output, errors, int(seed))


def _plan(command: _Command) -> OutputPlan:
    outputs = (
        *Destination(command.output).planned("-output_file", Existing.REPLACED),
        *Destination(command.errors).planned("-error_file", Existing.REFUSED),
    )
    # A file in place of the number is an input, too: the two words are easily swapped.
    return OutputPlan([command.num_samples, command.queries], outputs)


def _generate(command: _Command) -> str:
    """Write the resamples; returns what there is to report."""
    number = _NUMBER.fullmatch(command.num_samples)
    groups = read_groups(command.queries)
    resamples = int(Decimal(number.group(1))) if number else 0
    write_result(Destination(command.output), encoded(resample_lines(groups, resamples, command.seed)))
    warnings = []
    if number is None:
        warnings.append(f"WARNING: {one_line(command.num_samples)} is not a number of samples: no sample written\n")
    if not groups:
        warnings.append(f"WARNING: no queries in {one_line(command.queries)}: the samples are empty\n")
    return "".join(warnings)
