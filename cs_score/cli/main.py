"""The entry point `cs-score`: the tree of commands, the first page, and the command that the first words name."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import textwrap
from collections.abc import Callable, Sequence
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
    """Return the page of `cs-score --help`: a sentence on the program, lines to copy, the commands, further help."""
    formatter = click.HelpFormatter(width=min(help_width(), 80))
    formatter.write_text("Scores TAC Cold Start runs and predictions of evidence-based fact checking.")
    formatter.write_paragraph()
    formatter.write(_EXAMPLES)
    evidence_tasks = [task for task in TASKS if task != COLD_START]
    for group in dict.fromkeys(entry.group for entry in COMMANDS.values()):
        with formatter.section(group):
            _write_group(formatter, group, evidence_tasks)
    formatter.write_paragraph()
    text = (
        f"Verbs take a task as their next word: {COLD_START} (may be left out), {', '.join(evidence_tasks)}. "
        "cs-score help COMMAND shows its options and an example, cs-score help measures (policies, formats, "
        "exit-statuses) explains these, cs-score -help lists the switches of a call without a command, as the Perl "
        "scorer has them. Write ./NAME for a file that is called like a command."
    )
    formatter.write(f"{textwrap.fill(text, formatter.width, break_on_hyphens=False)}\n")
    return formatter.getvalue()


def _write_group(formatter: click.HelpFormatter, group: str, evidence_tasks: Sequence[str]) -> None:
    """Write the commands of a group: with their summaries, or by name alone where they are many."""
    names = [name for name, entry in COMMANDS.items() if name and entry.group == group]
    if group in (BEFORE, ABOUT):  # click would break a line inside a name
        text = textwrap.fill(", ".join(names), formatter.width - 2, break_on_hyphens=False)
        formatter.write(textwrap.indent(text, "  ") + "\n")
        return
    rows = []
    for name in names:
        family = name.partition(" ")[0]
        if family not in FAMILIES:
            rows.append((name, COMMANDS[name].summary))
        elif name == f"{family} {FAMILIES[family][0]}":
            rows.append((family, f"Pack a scorer for a platform: {', '.join(FAMILIES[family])}"))
    if group == SCORE:
        first_task, *other_tasks = evidence_tasks
        rows.append((first_task, f"Short for score {first_task}; {', '.join(other_tasks)} likewise"))
    formatter.write_dl(rows, col_max=16)


class Tree(click.Group):
    """Commands by name, with a default for a word that names none.

    Only completion and programs that look at the tree use it; `main` finds commands with `find`.
    """

    def __init__(self, name: str, commands: Sequence[str], load: Callable[[str], click.Command], default: str) -> None:
        super().__init__(name, add_help_option=False)
        self._command_names = commands
        self._load = load
        self._default = default

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, the default left out."""
        return list(self._command_names)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a command by name, None for an unknown name."""
        if name == self._default or name in self._command_names:
            return self._load(name)
        return None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words behind the group's name; words that name no command belong to the default."""
        if args and args[0] not in self._command_names:
            args = [self._default, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the completions of a word: names of commands, and the words of the default command."""
        items = super().shell_complete(ctx, incomplete)
        default = self._load(self._default)
        with default.make_context(self._default, [], parent=ctx, resilient_parsing=True) as context:
            items.extend(default.shell_complete(context, incomplete))
        return items or [CompletionItem(incomplete, type="file")]


def root() -> Tree:
    """Return the tree of all commands: each by its name, the tasks of a verb below it, the scorer without a name."""
    names = [name for name in COMMANDS if name and " " not in name]
    names.extend(FAMILIES)
    names.extend(task for task in TASKS if task != COLD_START)
    return Tree("cs-score", names, _command_of_first_word, "")


def _command_of_first_word(word: str) -> click.Command:
    """Return the command that a first word names; for a verb with tasks, the tree of its tasks."""
    if word in FAMILIES:
        members = FAMILIES[word]
        return Tree(word, members, lambda member: _command_of_first_word(f"{word} {member}"), members[0])
    if word in TASKS:
        return load("score", word)
    if not COMMANDS[word].by_task:
        return load(word)
    further_words = [name.removeprefix(f"{word} ") for name in COMMANDS if name.startswith(f"{word} ")]

    def command_of_second_word(second: str) -> click.Command:
        return load(word, second) if second in TASKS else load(f"{word} {second}")

    return Tree(word, [*TASKS, *further_words], command_of_second_word, COLD_START)


def find(words: Sequence[str]) -> tuple[Command, list[str]]:
    """Return the command that the first words name, else the scorer, and the words behind its name.

    Raises UsageError for a first word that is no file, but nearly the name of a command or a task, and where a family
    of commands such as `bundle` is named without one of its commands.
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
    """Return a command, for the task that the next word names if it has several, and the words behind that.

    Raises UsageError for a next word that is no file, but nearly the name of a task.
    """
    if not COMMANDS[name].by_task or not rest:
        return load(name), rest
    if rest[0] in TASKS:
        return load(name, rest[0]), rest[1:]
    _refuse_mistyped(rest[0], "task")
    return load(name), rest


def _refuse_mistyped(word: str, kind: str) -> None:
    """Raise UsageError for a word that is no file, but nearly the name of a `command` or a `task`."""
    if not word or word.startswith("-") or os.sep in word or "." in word or os.path.lexists(word):
        return
    names = [name for name in (*COMMANDS, *FAMILIES) if name] if kind == "command" else []
    suggestion = nearest(word, [*names, *TASKS])
    if suggestion:
        raise UsageError(f"no {kind} `{word}`, and no such file{suggestion}")


# ---- The process

_PAGES: Final = {"-h": first_page, "--help": first_page, "-V": version_text, "--version": version_text}
"""What an option without command prints; `-help` shows the switches of the Perl scorer."""

_NO_MEMORY: Final = "not enough memory"
_NO_MEMORY_LINE: Final = f"cs-score: {_NO_MEMORY}\n".encode()
"""Made while there was memory for it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cs-score and return its exit status (see README-Usage); `arguments` default to those of the process.

    Every failure is one line on standard error, never a traceback.
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
    """Print wrong usage: the reference's text and its usage on standard output, our line on standard error.

    Return the exit status, which is `status` unless standard output is closed.
    """
    advice = str(error)
    if command is not None:
        if command.options_first:
            try:
                write_text("stdout", f"{error.printed}\n\n{help_text or command.help_text()}")
            except CsScoreError as closed:
                return _complain(str(closed), command.failed)
        advice = advice if advice.endswith("?") else f"{advice}; see {command.full_name} -help"
    return _complain(advice, status)


def interrupted() -> int:
    """Print that the user interrupted the command. Return the exit status for that."""
    return _complain("interrupted", 128 + signal.SIGINT)


def _reason(error: OSError | ImportError) -> str:
    """Return what went wrong with the system or the installation, in words for people."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("cs_score."):
        return f"this needs {error.name}, which this installation lacks; install cs-score as a whole"
    if isinstance(error, ImportError) and "failed to map segment" in str(error):  # the library exists
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
    """Print a line on standard error, if there is memory for it. Return `status`."""
    try:
        with contextlib.suppress(OutputError):
            write_text("stderr", f"cs-score: {one_line(message, keep_tabs=True)}\n")
    except MemoryError:
        with contextlib.suppress(OSError):
            os.write(2, _NO_MEMORY_LINE)
    return status
