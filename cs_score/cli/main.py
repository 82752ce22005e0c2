"""The entry point `cs-score`: a subcommand where the first word is one, the Cold Start scorer otherwise.

The Cold Start path does not import click, so that a ten-line run is scored in the time the interpreter needs to start.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Final

from cs_score.foundation.errors import CsScoreError, OutputError, UsageError

# Kept apart from commands.SUBCOMMANDS, which needs click; a test holds the two together.
FIRST_WORDS: Final = frozenset({"scifact", "claims", "r4c", "hotpotqa", "compare", "problems"})

# The programs before the scorer: word -> `module:function`, which takes the words after it and returns the status.
PREPARATION_COMMANDS: Final = {
    "validate-run": "cs_score.cli.preparation.validate_run:run",
    "validate-queries": "cs_score.cli.preparation.validate_queries:run",
    "generate-queries": "cs_score.cli.preparation.generate_queries:run",
    "package-output": "cs_score.cli.preparation.package_output:run",
    "validate-assessments": "cs_score.cli.preparation.validate_assessments:run",
    "apply-k": "cs_score.cli.preparation.apply_k:run",
    "validate-kb": "cs_score.cli.knowledge_base.validate_kb:run",
    "resolve-queries": "cs_score.cli.knowledge_base.resolve_queries:run",
}

# All programs with single-dash switches, which click cannot read.
SWITCH_COMMANDS: Final = {
    "batch": "cs_score.cli.batch.command:run",
    "samples": "cs_score.cli.preparation.samples:run",
    "expand-queries": "cs_score.cli.preparation.expand_queries:run",
    **PREPARATION_COMMANDS,
}

FAILED: Final = 255
"""The status of the programs with single-dash switches for every failure, that of the reference."""

WRONG_USAGE: Final = 2
"""The status of the commands for wrong usage, that of click; other failures have the status 1."""

OWN_OPTIONS: Final = frozenset({"--help", "--version"})

COMPLETION_VARIABLE: Final = "_CS_SCORE_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cs-score and return its exit status (see README-Usage); `arguments` default to those of the process.

    What goes wrong is one line on standard error, never a traceback.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    first = words[0] if words else ""
    if first in FIRST_WORDS or first in OWN_OPTIONS or COMPLETION_VARIABLE in os.environ:
        return _to_status(_run_click, words, failed=1, wrong_usage=WRONG_USAGE)
    return _to_status(_run_program, words, failed=FAILED, wrong_usage=FAILED)


def interrupted() -> int:
    """One line and the status for Ctrl-C."""
    return _complain("interrupted", 128 + signal.SIGINT)


def _to_status(run: Callable[[list[str]], int], words: list[str], failed: int, wrong_usage: int) -> int:
    from cs_score.foundation.sources import pipes_are_kept

    try:
        with pipes_are_kept():
            status = run(words)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except CsScoreError as error:
        return _complain(str(error), wrong_usage if isinstance(error, UsageError) else failed)
    except BrokenPipeError:
        return _complain("standard output was closed before everything was written", failed)
    except (OSError, ImportError, MemoryError) as error:  # no descriptors, no memory, no working folder, a full device
        return _complain(_reason(error), failed)
    except KeyboardInterrupt:
        return interrupted()


def _run_click(words: list[str]) -> int:
    import click

    from cs_score.cli.commands import cs_score

    try:
        result = cs_score.main(args=words, prog_name="cs-score", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return interrupted()
    except click.ClickException as error:  # wrong usage: click's own text
        with contextlib.suppress(OSError):
            error.show()
        return error.exit_code


def _run_program(words: list[str]) -> int:
    """A program with single-dash switches: the one that the first word names, otherwise the scorer."""
    if words and words[0] in SWITCH_COMMANDS:
        module, _, function = SWITCH_COMMANDS[words[0]].partition(":")
        run: Callable[[list[str]], int] = getattr(importlib.import_module(module), function)
        return run(words[1:])
    from cs_score.cli.scorer.scorer import run as score

    return score(words)


def _reason(error: OSError | ImportError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory"
    try:
        os.getcwd()
    except OSError:
        return "the working folder does not exist any more; change to another one"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # Packages wrap what the system says in advice of their own.
    return _reason(error.__context__) if isinstance(error.__context__, ImportError) else str(error)


def _complain(message: str, status: int) -> int:
    from cs_score.cli.destinations import write_text
    from cs_score.foundation.display import one_line

    with contextlib.suppress(OutputError):
        write_text("stderr", f"cs-score: {one_line(message, keep_tabs=True)}\n")
    return status
