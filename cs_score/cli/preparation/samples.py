"""`cs-score samples`: write bootstrap resamples of LDC queries for the scorer's switch `-samples`.

Takes the place of CS-GenerateSamples 1.1, with its switches and exit statuses (specification 11.4); `--seed` is an
addition.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError
from cs_score.base.outputs import encoded
from cs_score.base.planned_outputs import Existing, OutputPlan
from cs_score.base.records import Record
from cs_score.cli.destinations import Destination, write_report, write_result, write_text
from cs_score.cli.form import REFERENCE, Form, Parameter
from cs_score.cli.options import CommandLine, Option, SwitchError
from cs_score.coldstart.samples import read_groups, resample_lines

DEFAULT_SEED: Final = "0"

FAILED: Final = REFERENCE.failed

SWITCHES: Final = (
    Option("-error_file", "FILE", "Where to report problems: a new file, stdout or stderr", "stderr"),
    Option("-output_file", "FILE", "Where to write the resamples: a file, stdout or stderr", "stdout"),
    Option("--seed", "S", "Whole number of at least 0; equal seeds give equal bytes", DEFAULT_SEED),
)

# A negative number is a switch; one with too many digits to be meant is none.
_NUMBER: Final = re.compile(r"\s*\+?(\d{1,18}(\.\d*)?(e\+?\d{1,2})?)\s*", re.ASCII | re.IGNORECASE)
_SEED: Final = re.compile(r"\d{1,100}", re.ASCII)


class _Command(Record):
    """A command line that has been understood."""

    num_samples: str
    queries: str
    output: str
    errors: str
    seed: int


class _Samples(Form):
    """The program, which shows its usage text for a seed that is none, too."""

    def read(self, words: Sequence[str]) -> CommandLine:
        """As for every form. Raises SwitchError."""
        line = super().read(words)
        seed = line.text("--seed", DEFAULT_SEED)
        if not _SEED.fullmatch(seed):
            problem = f"--seed takes a whole number of at least 0, not {seed}"
            raise SwitchError(f"ERROR: {problem}", problem)
        return line


def _run(line: CommandLine) -> int:
    num_samples, queries = line.words
    output, errors = line.text("-output_file", "stdout"), line.text("-error_file", "stderr")
    command = _Command(num_samples, queries, output, errors, int(line.text("--seed", DEFAULT_SEED)))
    try:
        _plan(command).check()
    except CsScoreError as error:
        write_text("stderr", f"cs-score samples: {error}\n")
        return FAILED
    try:
        report = _generate(command)
    except CsScoreError as error:
        write_result(Destination(command.errors), encoded([f"{error}\n"]))
        return FAILED
    write_report(Destination(command.errors), report, encoded([report]))
    return 0


PROGRAM: Final = _Samples(
    "samples",
    SWITCHES,
    (
        Parameter("num_samples", "Number of resamples"),
        Parameter("queries", "File with lines LDC_ID SF_ID: the SF queries of each LDC query"),
    ),
    contract=REFERENCE,
    body=_run,
)


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
