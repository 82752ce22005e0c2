"""The entry point `cs-score`: find the command that the first words name, run it, and report errors. `analyze scifact`
is a command for a task; commands with a common first word, such as `bundle codabench`, are a family.

The module also holds the first page of help and the tree of commands for completion.
"""

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
from cs_score.base.errors import CsScoreError, OutputError, UsageError, did_you_mean, missing_part_message
from cs_score.base.sources import pipes_kept_in_memory
from cs_score.cli.core import (
    COMMANDS,
    SECOND_WORDS_BY_FIRST,
    Command,
    Misuse,
    Status,
    help_width,
    load_command,
    version_text,
)
from cs_score.cli.output import write_text
from cs_score.tasks import COLD_START, TASKS
from cs_score.verbs import ABOUT, BEFORE_SCORER, SCORE

COMPLETION_VARIABLE: Final = "_CS_SCORE_COMPLETE"

_EXAMPLES: Final = """\
A run:         cs-score score -expand BASE queries.xml pool.tab run.tab.txt
Why it scored: cs-score analyze -expand BASE queries.xml pool.tab run.tab.txt
SciFact:       cs-score scifact --gold gold.jsonl --predictions run.jsonl
"""


def first_page() -> str:
    """Return the text of `cs-score --help`: a summary, examples, the commands, and where to find more help."""
    formatter = click.HelpFormatter(width=min(help_width(), 80))
    formatter.write_text("Scores TAC Cold Start runs and predictions of evidence-based fact checking.")
    formatter.write_paragraph()
    formatter.write(_EXAMPLES)
    groups = dict.fromkeys(entry.group for entry in COMMANDS.values())
    for group in groups:
        with formatter.section(group):
            _write_group(formatter, group)
    formatter.write_paragraph()
    formatter.write(_advice_on_further_help(formatter.width))
    return formatter.getvalue()


def _advice_on_further_help(width: int) -> str:
    """Return the last paragraph of the first page, in lines of at most `width` columns: how to get further help."""
    text = (
        f"Verbs take a task as their next word: {COLD_START} (may be left out), {', '.join(_evidence_tasks())}. "
        "cs-score help COMMAND shows its options and an example, cs-score help measures (policies, formats, "
        "exit-statuses) explains these, cs-score -help lists the switches of a call without a command, as the Perl "
        "scorer has them. Write ./NAME for a file that is called like a command."
    )
    return f"{textwrap.fill(text, width, break_on_hyphens=False)}\n"


def _evidence_tasks() -> list[str]:
    """Return the names of all tasks except Cold Start, including tasks of other installed packages."""
    return [task for task in TASKS if task != COLD_START]


def _write_group(formatter: click.HelpFormatter, group: str) -> None:
    """Write the commands of a group to the first page of help, with their summaries.

    Commands used before scoring, such as converters, and those about cs-score itself are only listed by name.
    """
    # The call without a command, whose name is empty, is not listed.
    names = [name for name, entry in COMMANDS.items() if name and entry.group == group]
    if group in (BEFORE_SCORER, ABOUT):
        formatter.write(_indented_list(names, formatter.width))
        return
    rows = _rows_of_group(names)
    if group == SCORE:
        first_task, *other_tasks = _evidence_tasks()
        rows.append((first_task, f"Short for score {first_task}; {', '.join(other_tasks)} likewise"))
    formatter.write_dl(rows, col_max=16)


def _indented_list(names: Sequence[str], width: int) -> str:
    """Return names separated by commas, in indented lines of at most `width` columns.

    The lines are not made by click, which would break them at the hyphens of names such as `validate-run`.
    """
    text = textwrap.fill(", ".join(names), width - 2, break_on_hyphens=False)
    return textwrap.indent(text, "  ") + "\n"


def _rows_of_group(command_names: Sequence[str]) -> list[tuple[str, str]]:
    """Return a row of help for each command: its name and its summary.

    The commands of a family, such as `bundle codabench` and `bundle evalai`, share one row for `bundle`.
    """
    rows = []
    for command_name in command_names:
        family, _, second_word = command_name.partition(" ")
        if family not in SECOND_WORDS_BY_FIRST:
            rows.append((command_name, COMMANDS[command_name].summary))
            continue
        second_words = SECOND_WORDS_BY_FIRST[family]
        if second_word == second_words[0]:  # the row stands at the first command of the family
            rows.append((family, f"Pack a scorer for a platform: {', '.join(second_words)}"))
    return rows


class Tree(click.Group):
    """A group of commands for click, with a default command for words that name no command of the group.

    Only completion, and programs that inspect the commands, use it; `main` finds a command with `find_command`.
    """

    def __init__(
        self, name: str, commands: Sequence[str], load_command: Callable[[str], click.Command], default: str
    ) -> None:
        """Make a group of the commands with these names.

        `load_command` returns the command of a name, and `default` is the name of the default command.
        """
        super().__init__(name, add_help_option=False)
        self._command_names = commands
        self._load = load_command
        self._default = default

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands without the default command."""
        return list(self._command_names)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command of a name; None for an unknown name."""
        if name == self._default or name in self._command_names:
            return self._load(name)
        return None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words after the name of the group: the name of a command, and its words.

        If the first word is not the name of a command, all words belong to the default command.
        """
        if args and args[0] not in self._command_names:
            args = [self._default, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the completions of a word: names of commands, and words that the default command takes.

        If there are none, the shell is told to complete the word as the name of a file.
        """
        items = super().shell_complete(ctx, incomplete)
        default = self._load(self._default)
        # The context of a call that is not complete yet: click does not check its words.
        with default.make_context(self._default, [], parent=ctx, resilient_parsing=True) as context:
            items.extend(default.shell_complete(context, incomplete))
        return items or [CompletionItem(incomplete, type="file")]


def root() -> Tree:
    """Return the group of all commands; the call without a command is its default.

    A verb with several tasks is itself a group, with a command for each task. The names in the group are the possible
    first words of a command line: commands, first words of names such as `bundle evalai`, and evidence tasks, because
    `cs-score scifact` is short for `cs-score score scifact`.
    """
    first_words = [name for name in COMMANDS if name and " " not in name]
    first_words.extend(SECOND_WORDS_BY_FIRST)
    first_words.extend(_evidence_tasks())
    return Tree("cs-score", first_words, load_command=_command_of_first_word, default="")


def _command_of_first_word(word: str) -> click.Command:
    """Return the command or the group of commands with the name that is the first word of a command line.

    For example a group for `analyze`, which has a command for each task, and the command `score scifact` for `scifact`.
    """
    if word in SECOND_WORDS_BY_FIRST:
        return _group_of_family(word)
    if word in TASKS:
        return load_command("score", word)
    return _command_or_group(word)


def _group_of_family(family: str) -> Tree:
    """Return the group of the commands whose names begin with the same word, such as `bundle codabench`.

    If a call has no second word, the first member is the default command.
    """
    members = SECOND_WORDS_BY_FIRST[family]

    def load_member(member: str) -> click.Command:
        """Return the command of a member, such as `codabench`, or the group of its commands for tasks."""
        return _command_or_group(f"{family} {member}")

    return Tree(family, members, load_command=load_member, default=members[0])


def _command_or_group(verb: str) -> click.Command:
    """Return the command of this name or, for a verb with several tasks (`compare`), the group of its commands."""
    if not COMMANDS[verb].is_split_by_task:
        return load_command(verb)

    def load_command_of_word(word: str) -> click.Command:
        """Return the command `VERB WORD`: the verb's command for a task, or a command such as `compare table`."""
        if word in TASKS:
            return load_command(verb, word)
        return load_command(f"{verb} {word}")

    words = [*TASKS, *_second_words(verb)]
    return Tree(verb, words, load_command=load_command_of_word, default=COLD_START)


def _second_words(verb: str) -> list[str]:
    """Return the second words of the commands whose names begin with a verb: `["table"]` for `compare table`."""
    beginning = f"{verb} "
    return [name.removeprefix(beginning) for name in COMMANDS if name.startswith(beginning)]


def find_command(words: Sequence[str]) -> tuple[Command, list[str]]:
    """Return the command that the first words name, and the words after its name.

    For `analyze scifact --top 3`, the result is the command `analyze scifact` and `["--top", "3"]`. If the first word
    is a task, the command is `score` for this task. If it names neither command nor task, the bare command is returned
    with all words. Raises UsageError if the first word seems to be a mistyped name, or if it is only the beginning of a
    name, such as `bundle`.
    """
    for word_count in (2, 1):  # a name of two words, such as `compare table`, comes before the name of its first word
        name = " ".join(words[:word_count])
        if name and name in COMMANDS:
            return _command_for_task(name, list(words[word_count:]))
    first_word = words[0] if words else ""
    if first_word in TASKS:
        return load_command("score", first_word), list(words[1:])
    _refuse_incomplete_name(first_word)
    _refuse_mistyped_name(first_word, "command")
    return load_command(""), list(words)


def _refuse_incomplete_name(word: str) -> None:
    """Raise UsageError if a word is only the beginning of the names of several commands, such as `bundle`."""
    if word in SECOND_WORDS_BY_FIRST:
        names = [f"{word} {member}" for member in SECOND_WORDS_BY_FIRST[word]]
        raise UsageError(f"say which: {' or '.join(names)}")


def _command_for_task(name: str, words: list[str]) -> tuple[Command, list[str]]:
    """Return the command `name` for the task that the first of `words` names, and the words after the task.

    Without a task, or if the command has no tasks, all words are returned. Raises UsageError if the first word seems to
    be a mistyped task.
    """
    if not COMMANDS[name].is_split_by_task or not words:
        return load_command(name), words
    if words[0] in TASKS:
        return load_command(name, words[0]), words[1:]
    _refuse_mistyped_name(words[0], "task")
    return load_command(name), words


def _refuse_mistyped_name(word: str, kind: str) -> None:
    """Raise UsageError if a word is similar to the name of a command or task, and cannot be an option or a file.

    `kind` is the kind of name for which the word is looked up: `task`, or `command`, which includes tasks.
    """
    looks_like_file = os.sep in word or "." in word or os.path.lexists(word)
    if not word or word.startswith("-") or looks_like_file:
        return
    names = list(TASKS)
    if kind == "command":
        names = [name for name in (*COMMANDS, *SECOND_WORDS_BY_FIRST, *TASKS) if name]
    suggestion = did_you_mean(word, names)
    if suggestion:
        raise UsageError(f"no {kind} `{word}`, and no such file{suggestion}")


# ---- The process

_TEXT_FUNCTION_BY_OPTION: Final = {
    "-h": first_page,
    "--help": first_page,
    "-V": version_text,
    "--version": version_text,
}
"""The functions that return the text of an option without a command; `-help` is an option of the Perl scorer's call."""

_NO_MEMORY: Final = "not enough memory"
_NO_MEMORY_LINE: Final = f"cs-score: {_NO_MEMORY}\n".encode()
"""The line for standard error, made in advance, because there is no memory for it when it is needed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cs-score, and return its exit status (see README-Usage).

    `arguments` are the words of the command line, by default the arguments of the process. Every error is reported as
    one line on standard error, without a traceback.
    """
    call = _ProgramCall(sys.argv[1:] if arguments is None else arguments)
    try:
        return call.run()
    except (CsScoreError, OSError, ImportError) as error:
        return call.report_error(error)
    except KeyboardInterrupt:
        return report_interruption()
    except (SyntaxError, MemoryError):
        # Memory ran out. In this case, Python's parser reports a SyntaxError even in correct modules.
        pass
    # The line is printed here, because an `except` clause keeps the memory of the traceback until its end.
    return _print_error_line(_NO_MEMORY, call.failure_status)


class _ProgramCall:
    """A call of cs-score: the words of the command line, and the command that they name, as soon as it is known.

    The command decides how errors are reported, and with which exit status. An error may also occur before it is known.
    """

    def __init__(self, words: Sequence[str]) -> None:
        """Make a call with these words; `command` is None until `run` has found the command."""
        self.words = list(words)
        self.command: Command | None = None

    def run(self) -> int:
        """Run the command that the words name, and return its exit status when all output is written.

        If a shell asks for completions, they are printed instead. Raises CsScoreError, OSError or ImportError.
        """
        if COMPLETION_VARIABLE in os.environ:
            root().main([], "cs-score", COMPLETION_VARIABLE)  # prints the completions and ends the process
        if len(self.words) == 1 and self.words[0] in _TEXT_FUNCTION_BY_OPTION:
            text_function = _TEXT_FUNCTION_BY_OPTION[self.words[0]]
            write_text("stdout", text_function())
            return Status.DONE
        self.command, further_words = find_command(self.words)
        return _run_and_flush(self.command, further_words)

    @property
    def failure_status(self) -> int:
        """The exit status of a failure. It depends on the command, and is 255 if the command is not known."""
        if self.command is None:
            return Status.REFERENCE_FAILURE
        return self.command.failure_status

    def report_error(self, error: CsScoreError | OSError | ImportError) -> int:
        """Report an error that ended the call, as a line on standard error. Return the exit status.

        Wrong usage for which the reference programs print their help (`Misuse`) is reported in the same way.
        """
        if isinstance(error, Misuse) and self.command is not None:
            return _report_wrong_usage(self.command, error, has_words=bool(self.words))
        if isinstance(error, UsageError):
            status = Status.WRONG_USAGE if self.command is None else self.command.wrong_usage_status
            return _print_error_line(str(error), status)
        return _print_error_line(_message_about(error), self.failure_status)


def _run_and_flush(command: Command, words: Sequence[str]) -> int:
    """Run a command with the words after its name, and return its exit status when all output is written."""
    with pipes_kept_in_memory():
        status = command.run(words)
    if sys.stdout is not None:
        sys.stdout.flush()
    return status


def _report_wrong_usage(command: Command, error: Misuse, *, has_words: bool) -> int:
    """Report wrong usage of a command with a line on standard error. Return the exit status.

    A command that follows a reference program first prints the message of that program and its help on standard output.
    The exit status says failure if standard output is closed. `has_words` is false if cs-score was called without any
    words; in that case, the first page of help is printed.
    """
    if command.follows_reference:
        help_text = command.help_text() if has_words else first_page()
        try:
            write_text("stdout", f"{error.reference_message}\n\n{help_text}")
        except CsScoreError as output_error:
            return _print_error_line(str(output_error), command.failure_status)
    advice = str(error)
    has_suggestion = advice.endswith("?")  # only suggestions are questions: "...; did you mean --gold?"
    if not has_suggestion:  # otherwise the help is not needed
        advice += f"; see {command.full_name} -help"
    return _print_error_line(advice, command.wrong_usage_status)


def report_interruption() -> int:
    """Print a line that the command was interrupted. Return the exit status for an interruption."""
    return _print_error_line("interrupted", 128 + signal.SIGINT)


def _message_about(error: CsScoreError | OSError | ImportError) -> str:
    """Return the message of an error, in plain words if it comes from the operating system or the installation."""
    if isinstance(error, CsScoreError):
        return str(error)
    if isinstance(error, BrokenPipeError):
        return "standard output was closed before everything was written"
    # This message is empty if the import failed for another reason, such as a removed working folder.
    message = _message_about_import(error) if isinstance(error, ImportError) else ""
    return message or _message_about_system(error)


def _message_about_system(error: OSError | ImportError) -> str:
    """Return a message about an error of the operating system, such as `/data/run.tab: Permission denied`.

    If the working folder has been removed, which causes errors of many kinds, the message says so.
    """
    if not _has_working_folder():
        return "the working folder does not exist any more; change to another one"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return _message_of_cause(error)


def _message_of_cause(error: OSError | ImportError) -> str:
    """Return the message of an error, or of the import error during whose handling it was raised.

    Some packages catch an import error and raise another error with general advice. The original error has the reason.
    """
    if isinstance(error.__context__, ImportError):
        return _message_about(error.__context__)
    return str(error)


def _message_about_import(error: ImportError) -> str:
    """Return a message about a missing part or a library that does not fit into memory, or an empty text."""
    message = missing_part_message(error)  # empty if the part is installed
    if not message and "failed to map segment" in str(error):
        return _NO_MEMORY
    return message


def _has_working_folder() -> bool:
    """Return whether the working folder of the process still exists."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _print_error_line(message: str, status: int) -> int:
    """Print an error as a line on standard error, even if there is hardly any memory left. Return `status`."""
    try:
        with contextlib.suppress(OutputError):
            write_text("stderr", f"cs-score: {one_line(message, keep_tabs=True)}\n")
    except MemoryError:
        with contextlib.suppress(OSError):
            os.write(2, _NO_MEMORY_LINE)
    return status
