"""The entry point `cs-score`: the tree of commands, the first page, and the command that the first words name."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import click
from click.shell_completion import CompletionItem

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, OutputError, UsageError, nearest
from cs_score.base.sources import pipes_are_kept
from cs_score.cli.core import (
    ABOUT,
    BEFORE,
    COMMANDS,
    FAMILIES,
    SCORE,
    Command,
    Misuse,
    Status,
    help_width,
    load,
    version_text,
)
from cs_score.cli.output import write_text
from cs_score.tasks import COLD_START, TASKS

COMPLETION_VARIABLE: Final = "_CS_SCORE_COMPLETE"

_EXAMPLES: Final = """\
A run:         cs-score score -expand BASE queries.xml pool.tab run.tab.txt
Why it scored: cs-score analyze -expand BASE queries.xml pool.tab run.tab.txt
SciFact:       cs-score scifact --gold gold.jsonl --predictions run.jsonl
"""


def first_page() -> str:
    """What it is, lines to copy, the commands, and where the rest stands."""
    formatter = click.HelpFormatter(width=min(help_width(), 80))
    formatter.write_text("Scores TAC Cold Start runs and predictions of evidence-based fact checking.")
    formatter.write_paragraph()
    formatter.write(_EXAMPLES)
    first, *others = (task for task in TASKS if task != COLD_START)
    for group in dict.fromkeys(each.group for each in COMMANDS.values()):
        names = [name for name, each in COMMANDS.items() if name and each.group == group]
        with formatter.section(group):
            if group in (BEFORE, ABOUT):  # click would break a line inside a name
                text = textwrap.fill(", ".join(names), formatter.width - 2, break_on_hyphens=False)
                formatter.write(textwrap.indent(text, "  ") + "\n")
                continue
            rows = [(name, COMMANDS[name].summary) for name in names if name.partition(" ")[0] not in FAMILIES]
            for family in dict.fromkeys([name.partition(" ")[0] for name in names]):
                if family in FAMILIES:
                    rows.append((family, f"Pack a scorer for a platform: {', '.join(FAMILIES[family])}"))
            if group == SCORE:
                rows.append((first, f"Short for score {first}; {', '.join(others)} likewise"))
            formatter.write_dl(rows, col_max=16)
    formatter.write_paragraph()
    below = (
        f"Verbs take a task as their next word: {COLD_START} (may be left out), {', '.join((first, *others))}. "
        "cs-score help COMMAND shows options and an example, help measures (policies, formats, exit-statuses) what "
        "these are, cs-score -help the switches of the Perl scorer and of a call without a command. A file that is "
        "called like a command is written ./NAME."
    )
    formatter.write(f"{textwrap.fill(below, formatter.width, break_on_hyphens=False)}\n")
    return formatter.getvalue()


class Tree(click.Group):
    """Commands by name, one of which needs none. Only completion and those who look at the tree run it."""

    def __init__(self, name: str, names: Sequence[str], make: Callable[[str], click.Command], default: str) -> None:
        super().__init__(name, add_help_option=False)
        self._names, self._make, self._default = names, make, default

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._names)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return self._make(name) if name in (*self._names, self._default) else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_named = not args or args[0] in self._names
        return super().parse_args(ctx, args if is_named else [self._default, *args])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = super().shell_complete(ctx, incomplete)
        command = self._make(self._default)
        with command.make_context(self._default, [], parent=ctx, resilient_parsing=True) as context:
            found += command.shell_complete(context, incomplete)
        return found or [CompletionItem(incomplete, type="file")]


def root() -> Tree:
    """Return the tree of all commands: each by its name, those of tasks below their verb, the scorer without any."""
    names = [name for name in COMMANDS if name and " " not in name]
    tasks = [task for task in TASKS if task != COLD_START]
    return Tree("cs-score", [*names, *FAMILIES, *tasks], _command_of_tree, "")


def _command_of_tree(name: str) -> click.Command:
    """Return a command of the tree, with those below it where there are any."""
    if name in TASKS:
        return load("score", name)
    if name in FAMILIES:
        members = FAMILIES[name]
        return Tree(name, members, lambda member: _command_of_tree(f"{name} {member}"), members[0])
    if not COMMANDS[name].by_task:
        return load(name)
    further = [other.removeprefix(f"{name} ") for other in COMMANDS if other.startswith(f"{name} ")]
    return Tree(name, [*TASKS, *further], partial(_command_below, name), COLD_START)


def _command_below(verb: str, word: str) -> Command:
    """Return the command that a verb and a word behind it name: a task, or another command such as `compare table`."""
    return load(verb, word) if word in TASKS else load(f"{verb} {word}")


def find(words: Sequence[str]) -> tuple[Command, list[str]]:
    """Return the command that the first words name, otherwise the scorer, and the words behind its name.

    Raises UsageError for a first word that is no file, but nearly the name of a command or a task, and where a family
    such as `bundle` is named without one of its commands.
    """
    first, *rest = words or [""]
    second = rest[0] if rest else ""
    if f"{first} {second}" in COMMANDS:
        return _with_task(f"{first} {second}", rest[1:])
    if first in FAMILIES:
        raise UsageError(f"say which: {' or '.join([f'{first} {member}' for member in FAMILIES[first]])}")
    if first not in COMMANDS and first in TASKS:
        return load("score", first), rest
    if first not in COMMANDS or not first:
        _refuse_mistyped(first, "command")
        return load(""), list(words)
    return _with_task(first, rest)


def _with_task(name: str, rest: list[str]) -> tuple[Command, list[str]]:
    """Return a command, of the task that the next word names where there are several, and the words behind that.

    Raises UsageError for a next word that is no file, but nearly the name of a task.
    """
    if not COMMANDS[name].by_task:
        return load(name), rest
    if rest and rest[0] in TASKS:
        return load(name, rest[0]), rest[1:]
    _refuse_mistyped(rest[0] if rest else "", "task")
    return load(name), rest


def _refuse_mistyped(word: str, what: str) -> None:
    """Raise UsageError for a word that is no file, but nearly the name of a command or a task."""
    if not word or word.startswith("-") or os.sep in word or "." in word or os.path.lexists(word):
        return
    known = (*COMMANDS, *FAMILIES, *TASKS) if what == "command" else (*TASKS,)
    if meant := nearest(word, filter(None, known)):
        raise UsageError(f"no {what} `{word}`, and no such file{meant}")


# ---- The process

_PAGES: Final = {"-h": first_page, "--help": first_page, "-V": version_text, "--version": version_text}
"""What an option without command prints; `-help` shows the switches of the Perl scorer."""

_NO_MEMORY: Final = "not enough memory"
_NO_MEMORY_LINE: Final = f"cs-score: {_NO_MEMORY}\n".encode()
"""Made while there was memory for it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cs-score and return its exit status (see README-Usage); `arguments` default to those of the process.

    What goes wrong is one line on standard error, never a traceback.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    failed: int = Status.REFERENCE
    wrong_usage: int = Status.WRONG_USAGE
    command: Command | None = None
    try:
        if COMPLETION_VARIABLE in os.environ:
            root().main([], "cs-score", COMPLETION_VARIABLE)
        if len(words) == 1 and words[0] in _PAGES:
            write_text("stdout", _PAGES[words[0]]())
            return Status.DONE
        command, rest = find(words)
        failed, wrong_usage = command.failed, command.wrong_usage
        with pipes_are_kept():
            status = command.run(rest)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except Misuse as error:
        return _misused(command, error, wrong_usage, help_text=None if words else first_page())
    except CsScoreError as error:
        return _complain(str(error), wrong_usage if isinstance(error, UsageError) else failed)
    except BrokenPipeError:
        return _complain("standard output was closed before everything was written", failed)
    except (OSError, ImportError) as error:  # no descriptors, no working folder, a full device
        return _complain(_reason(error), failed)
    except MemoryError:
        pass  # only behind this statement is released what its traceback holds
    except KeyboardInterrupt:
        return interrupted()
    return _complain(_NO_MEMORY, failed)


def _misused(command: Command | None, error: Misuse, status: int, help_text: str | None) -> int:
    """Wrong usage that the reference has a text for, and its usage text, on standard output; our line on the other."""
    advice = str(error)
    if command is not None:
        if command.options_first:
            try:
                write_text("stdout", f"{error.printed}\n\n{help_text or command.help_text()}")
            except CsScoreError as closed:
                return _complain(str(closed), command.failed)
        advice = advice if advice.endswith("?") else f"{advice}; see {command.called} -help"
    return _complain(advice, status)


def interrupted() -> int:
    return _complain("interrupted", 128 + signal.SIGINT)


def _reason(error: OSError | ImportError) -> str:
    if isinstance(error, ImportError) and "failed to map segment" in str(error):  # a library that is there
        return _NO_MEMORY
    try:
        os.getcwd()
    except OSError:
        return "the working folder does not exist any more; change to another one"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # Packages hide what the system says behind advice of their own.
    return _reason(error.__context__) if isinstance(error.__context__, ImportError) else str(error)


def _complain(message: str, status: int) -> int:
    try:
        with contextlib.suppress(OutputError):
            write_text("stderr", f"cs-score: {one_line(message, keep_tabs=True)}\n")
    except MemoryError:
        with contextlib.suppress(OSError):
            os.write(2, _NO_MEMORY_LINE)
    return status
