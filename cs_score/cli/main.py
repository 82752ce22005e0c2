"""The entry point `cs-score`: a subcommand where the first word is one, the Cold Start scorer otherwise.

The Cold Start path does not import click, so that a ten-line run is scored in the time the interpreter needs to start.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from cs_score.cli.leaving import Leave, stay
from cs_score.errors import CsScoreError, UsageError

# Kept apart from commands.SUBCOMMANDS, which needs click; a test holds the two together.
FIRST_WORDS: Final = frozenset({"scifact", "claims", "r4c", "hotpotqa", "compare", "problems"})

# The programs before the scorer: word -> `module:function`, which takes the words after it and `leave` (see `main`),
# and returns the exit status.
PREPARATION_COMMANDS: Final = {
    "validate-run": "cs_score.cli.validate_run:run",
    "validate-queries": "cs_score.cli.validate_queries:run",
    "generate-queries": "cs_score.cli.generate_queries:run",
    "package-output": "cs_score.cli.package_output:run",
    "validate-assessments": "cs_score.cli.validate_assessments:run",
    "apply-k": "cs_score.cli.apply_k:run",
}

# All programs with single-dash switches, which click cannot read; the others take the words only.
SWITCH_COMMANDS: Final = {
    "batch": "cs_score.cli.batch:run",
    "samples": "cs_score.cli.samples:run",
    "expand-queries": "cs_score.cli.expand_queries:run",
    **PREPARATION_COMMANDS,
}

WRONG_USAGE: Final = 2
"""The status of the commands for wrong usage, that of click."""

OWN_OPTIONS: Final = frozenset({"--help", "--version"})

COMPLETION_VARIABLE: Final = "_CS_SCORE_COMPLETE"


def main(arguments: Sequence[str] | None = None, leave: Leave = stay) -> int:
    """Run cs-score and return its exit status.

    `arguments` default to those of the process; `leave` is called with the status of a Cold Start scoring, or of a
    program before it, that has written all its outputs. Status: see README-Usage; a deliberate error is one line on
    standard error, never a traceback.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    first = words[0] if words else ""
    if first in FIRST_WORDS or first in OWN_OPTIONS or COMPLETION_VARIABLE in os.environ:
        return _run_click(words)
    if first in SWITCH_COMMANDS:
        return _run_switch_command(first, words[1:], leave)
    from cs_score.cli.coldstart import run

    return _run_to_status(lambda: run(words, leave))


def console() -> NoReturn:
    """The console script. Who holds rows leaves at once: the operating system takes millions of them back in one go.

    A termination signal ends it in good order, so that nothing half written is left.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    sys.exit(main(leave=os._exit))


def _run_click(words: list[str]) -> int:
    import click

    from cs_score.cli.commands import cs_score

    try:
        result = cs_score.main(args=words, prog_name="cs-score", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return _complain("interrupted", 130)
    except click.ClickException as error:  # wrong usage: click's own text
        error.show()
        return error.exit_code
    except CsScoreError as error:
        return _complain(str(error), WRONG_USAGE if isinstance(error, UsageError) else 1)
    except BrokenPipeError:
        return closed_pipe()
    except KeyboardInterrupt:
        return _complain("interrupted", 130)


def _run_switch_command(word: str, words: list[str], leave: Leave) -> int:
    module, _, function = SWITCH_COMMANDS[word].partition(":")
    run: Callable[..., int] = getattr(importlib.import_module(module), function)
    return _run_to_status(lambda: run(words, leave) if word in PREPARATION_COMMANDS else run(words))


def _run_to_status(run: Callable[[], int]) -> int:
    """Run a program that takes the reference's switches; its status for every failure is the reference's 255."""
    try:
        return run()
    except CsScoreError as error:
        return _complain(str(error), 255)
    except BrokenPipeError:
        closed_pipe()
        return 255
    except KeyboardInterrupt:
        return _complain("interrupted", 130)


def _complain(message: str, status: int) -> int:
    print(f"cs-score: {message}", file=sys.stderr)
    return status


def closed_pipe() -> int:
    """One line and a status when the reader of our output has gone; the interpreter must not try to flush again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _complain("standard output was closed before everything was written", 1)
