"""`cs-score samples`: write bootstrap resamples of LDC queries for the scorer's switch `-samples`.

Takes the place of CS-GenerateSamples 1.1, with its switches and exit statuses (specification 11.4); `--seed` is an
addition.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from cs_score.coldstart.resample_draws import read_groups, resample_lines
from cs_score.display import one_line
from cs_score.errors import CsScoreError, OutputError, UsageError
from cs_score.outputs import write_whole
from cs_score.sources import reason_of

PROGRAM: Final = "cs-score samples"
GENERATOR_VERSION: Final = "1.1"
DEFAULT_SEED: Final = 0

FAILED: Final = 255
"""Exit status of the reference programs for every kind of failure."""

PARAMETERS: Final = {
    "num_samples": "number of resamples",
    "queries": "file with lines LDC_ID SF_ID: the SF queries of each LDC query",
}

# Switch -> (name of its value, or nothing if it takes none; help).
SWITCHES: Final = {
    "-error_file": ("FILE", "where to report problems: a new file, stdout or stderr (Default = stderr)."),
    "-h": ("", "show this text."),
    "-help": ("", "show this text."),
    "-output_file": ("FILE", "where to write the resamples: a file, stdout or stderr (Default = stdout)."),
    "--seed": ("S", f"whole number of at least 0; equal seeds give equal bytes (Default = {DEFAULT_SEED})."),
    "-version": ("", "show the version."),
}

# A negative number is a switch; one with too many digits to be meant is none.
_NUMBER: Final = re.compile(r"\s*\+?(\d{1,18}(\.\d*)?(e\+?\d{1,2})?)\s*", re.ASCII | re.IGNORECASE)
_SEED: Final = re.compile(r"\d{1,100}", re.ASCII)

_BLOCK: Final = 1 << 16


class _TextWanted(Exception):
    """`-help`, `-h` or `-version` was met; the argument is what to print. The words after it do not matter."""


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
        command = _understand(*_switches_and_parameters(words))
    except _TextWanted as wanted:
        _write("stdout", [str(wanted)])
        return 0
    except UsageError as error:
        _write("stdout", [f"ERROR: {error}\n\n{usage()}"])
        return FAILED
    if _stream(command.errors) is None and os.path.exists(command.errors):
        error_file = one_line(command.errors)
        _write("stderr", [f"File {error_file} already exists; -error_file must name a new file\n"])
        return FAILED
    try:
        report, status = _generate(command), 0
    except CsScoreError as error:
        report, status = f"{error}\n", FAILED
    _write(command.errors, [report])
    return status


def usage() -> str:
    """The usage text."""
    heads = {name: f"{name} {value}".rstrip() for name, (value, _) in SWITCHES.items()}
    width = max(map(len, (*heads.values(), *PARAMETERS)))
    lines = [
        f"{PROGRAM}:  Write bootstrap resamples of LDC queries, for the scorer's switch -samples",
        "",
        f"Usage: {PROGRAM} {{-switch {{-switch ...}}}} {' '.join(PARAMETERS)}",
        "",
        "Switches:",
        *(f"  {heads[name]:<{width}}  {text}" for name, (_, text) in SWITCHES.items()),
        "",
        "Parameters:",
        *(f"  {name:<{width}}  {text}" for name, text in PARAMETERS.items()),
    ]
    return "\n".join(lines) + "\n"


def _switches_and_parameters(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Take the switches off the front of the command line (specification 1.1): names are exact, the last value wins."""
    values: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0].startswith("-"):
        name = rest.pop(0)
        if name not in SWITCHES:
            raise UsageError(f"Unknown switch: {name}")
        if name == "-version":
            raise _TextWanted(f"{PROGRAM} version {GENERATOR_VERSION}\n")
        if not SWITCHES[name][0]:
            raise _TextWanted(usage())
        if rest:
            values[name] = rest.pop(0)
    return values, rest


def _understand(values: dict[str, str], parameters: list[str]) -> _Command:
    for name in list(PARAMETERS)[len(parameters) :]:
        raise UsageError(f"Not enough arguments; {name} must be provided")
    if len(parameters) > len(PARAMETERS):
        raise UsageError("Too many arguments")
    seed = values.get("--seed", str(DEFAULT_SEED))
    if not _SEED.fullmatch(seed):
        raise UsageError(f"--seed takes a whole number of at least 0, not {seed}")
    num_samples, queries = parameters
    output, errors = values.get("-output_file", "stdout"), values.get("-error_file", "stderr")
    return _Command(num_samples, queries, output, errors, int(seed))


def _generate(command: _Command) -> str:
    """Write the resamples; returns what there is to report."""
    number = _NUMBER.fullmatch(command.num_samples)
    groups = read_groups(command.queries)
    resamples = int(Decimal(number.group(1))) if number else 0
    _write(command.output, resample_lines(groups, resamples, command.seed))
    warnings = []
    if number is None:
        warnings.append(f"WARNING: {one_line(command.num_samples)} is not a number of samples: no sample written\n")
    if not groups:
        warnings.append(f"WARNING: no queries in {one_line(command.queries)}: the samples are empty\n")
    return "".join(warnings)


def _stream(destination: str) -> str | None:
    """`stdout` or `stderr`, in any letter case; None for a file."""
    return destination.lower() if destination.lower() in ("stdout", "stderr") else None


def _write(destination: str, texts: Iterable[str]) -> None:
    """Write to a stream, or to a file that appears whole or not at all. Raises OutputError."""
    name = _stream(destination)
    if name is None:
        write_whole(destination, _blocks(texts))
        return
    stream = sys.stdout if name == "stdout" else sys.stderr
    if stream is None:  # the process was started with it closed
        raise OutputError(f"{name} is closed")
    try:
        for block in _blocks(texts):
            stream.buffer.write(block)
        stream.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Could not write to {name}: {reason_of(error)}") from None


def _blocks(texts: Iterable[str]) -> Iterator[bytes]:
    """The texts as UTF-8, joined to blocks; bytes that came in as they were go out as they were."""
    pending: list[str] = []
    size = 0
    for text in texts:
        pending.append(text)
        size += len(text)
        if size >= _BLOCK:
            yield "".join(pending).encode("utf-8", "surrogateescape")
            pending, size = [], 0
    yield "".join(pending).encode("utf-8", "surrogateescape")
