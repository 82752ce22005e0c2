"""The class of all commands, and how they read a command line. A verb such as `analyze` has a command for each task,
`analyze scifact`. A command that follows a reference program, one of the Perl programs of the evaluation, keeps the
contract of that program: its switches, its messages and its exit status.

click keeps the options, formats the help and completes words in a shell. `Command.parse` reads the command line,
because click cannot read it as the reference programs do: names of options are exact, a value is always the next word,
all options come before the files, and `-help` and `-version` take effect as soon as they are read.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import re
import shutil
import sys
import textwrap
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import click
import msgspec
from click.shell_completion import CompletionItem

from cs_score.base import VERSION
from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, UsageError, did_you_mean
from cs_score.base.outputs import (
    Existing,
    OutputPlan,
    PlannedOutput,
    ending_of,
    is_stream,
    outputs_together,
    write_packed,
)
from cs_score.base.runtime import load_value
from cs_score.cli.output import captured_output, quietly, warn, with_clock, write_text
from cs_score.tasks import COLD_START, OWN_TASKS, TASKS
from cs_score.verbs import ABOUT, FOLLOWED_VERSION, SCORE, SLICES, CommandEntry

WIDEST_HELP: Final = 100
"""The width in columns of a help that is not printed on a terminal."""

_WIDEST_NAMES: Final = 26
"""The width in columns of the names of options in a wide help. After a longer name, the meaning begins a new line."""


class Status(IntEnum):
    """The exit statuses of the commands."""

    DONE = 0
    FAILED = 1
    WRONG_USAGE = 2
    CHECK_FAILED = 3
    """`verify` could not reproduce a result, or a score is below a limit of `check`."""
    INTERRUPTED = 130
    TERMINATED = 143
    REFERENCE_FAILURE = 255
    """Failure or wrong usage of a command that follows a reference program, such as the call without a command."""


class StatusWithResults(int):
    """An exit status that also holds the results of the command.

    As long as the status is used, the results are not freed: freeing millions of rows would only delay the end of the
    process.
    """

    _results: object

    def __new__(cls, status: int, results: object) -> StatusWithResults:
        """Return the exit status `status`, which holds `results`."""
        status_with_results = super().__new__(cls, status)
        status_with_results._results = results
        return status_with_results


Section: TypeAlias = tuple[str, Sequence[tuple[str, str]] | str]
"""A part of a help: its title, then either a paragraph or rows of a name with its meaning."""

Choices: TypeAlias = Sequence[str] | Callable[[str], Iterable[str]]
"""The words that completion offers, or a function that returns them for a task."""

Body: TypeAlias = Callable[["CommandLine"], int | str]
"""The function that does the work of a command; it returns the exit status, or the text to be printed."""

TextMaker: TypeAlias = Callable[["Command", Sequence[str]], str]
"""A function that returns the text of an option such as `--help`, from the command and all words that were typed."""


class Misuse(UsageError):
    """An error of wrong usage, which also holds the line that the reference program prints above its usage text. Other
    UsageErrors are reported in one line of our own.
    """

    def __init__(self, advice: str, reference_message: str) -> None:
        """Make an error from our own message, `advice`, and the message that the reference program prints."""
        super().__init__(advice)
        self.reference_message = one_line(reference_message)


class Option(click.Option):
    """An option of a command, made from its usage text, which help shows as well.

    `--gold FILE` takes a value, `--gold FILE...` may be repeated, and `--check` takes no value. The value of `--json
    [FILE.json]` is optional and `-` by default. The next word is its value only if that word is `-` or has the ending
    `.json`, so that an input file is not mistaken for it.
    """

    def __init__(
        self,
        usage: str,
        help: str,
        default_text: str | None = None,
        choices: Choices = (),
        *,
        also: Sequence[str] = (),
        make_text: TextMaker | None = None,
    ) -> None:
        """Make an option from its `usage` text, such as `--json`, `--top N`, or `--run ID...` if it may be repeated.

        `default_text` is the default shown in help, `choices` are the values offered by completion, and `also` are
        alternative spellings. An option with `make_text`, such as `--help`, prints the text returned by this function,
        and the command does nothing else.
        """
        is_repeated = usage.endswith("...")
        name, _, value = usage.removesuffix("...").partition(" ")
        self.long_name = name
        self.value_name = value or None
        self.default_text = default_text
        self.make_text = make_text
        self._choices = choices
        self._separator = _separator_of(value)
        # The first name is the one that click uses itself; the others are typed.
        names = [name.lstrip("-").replace("-", "_"), name, *also]
        if value:
            super().__init__(names, help=help, metavar=value, multiple=is_repeated, shell_complete=self._complete)
        else:
            super().__init__(names, help=help, is_flag=True)

    def _complete(self, context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        """Return the completions of a value that is being typed. In a list, only the last item is completed."""
        end_of_finished_items = typed.rfind(self._separator) + 1  # 0 before the first separator
        finished_items = typed[:end_of_finished_items]
        return completions(self._choices, context, typed, finished_items)

    @property
    def is_reference_switch(self) -> bool:
        """Whether the option is a switch of a reference program, such as `-expand`; our options have two dashes."""
        return not self.long_name.startswith("--")

    def with_two_dashes(self) -> Option:
        """Return the option with an additional spelling for reference switches: `--query-base` for `-query_base`.

        Commands that the reference programs do not have accept both spellings.
        """
        if not self.is_reference_switch:
            return self
        option = copy.copy(self)
        name_with_two_dashes = f"-{self.long_name.replace('_', '-')}"  # the name itself begins with one dash
        option.opts = [*self.opts, name_with_two_dashes]
        return option

    def get_help_record(self, ctx: click.Context | None = None) -> tuple[str, str]:
        """Return the row of the option in a help: its spellings with the value, and its meaning with the default.

        For example `("--output, -o PATH", "Write there instead of printing")`.
        """
        spellings = ", ".join(self._spellings_in_help())
        if self.value_name is not None:
            spellings += f" {self.value_name}"
        meaning = self.help or ""
        if self.default_text is not None:
            meaning += f" [default: {self.default_text}]"
        return spellings, meaning

    def _spellings_in_help(self) -> list[str]:
        """Return the spellings of the option that are shown in help: its name and its one-letter spellings.

        For example `["-o", "--output"]`, the shortest first. Other spellings are accepted but not shown.
        """
        short_spellings = {spelling for spelling in self.opts if len(spelling) == 2}  # a dash and a letter
        return sorted({self.long_name} | short_spellings, key=len)


def _separator_of(value: str) -> str:
    """Return the character that separates the items of an option's value.

    `value` is the name that the help gives to the value: `LIST` has the separator `:`, and `A,B` has `,`. Most values
    are not lists; for them the result is a character that nobody types.
    """
    if value == "LIST":
        return ":"
    if "," in value:
        return ","
    return "\0"


class Parameter(click.Argument):
    """A word of a command line that is not an option, such as an input file, made from its usage text.

    `NAME` is one word, `NAME...` stands for one or more, and brackets say that the words may be left out. A name that
    begins with `output` is a file that the command writes.
    """

    def __init__(self, usage: str, help: str, choices: Choices = ()) -> None:
        """Make a parameter from its `usage` text; `choices` are the words that completion offers, by default files."""
        # The usage text is `files`, `files...` (several words), `[files]` or `[files...]` (which may be left out).
        self.label = usage.strip("[.]")  # `files`
        self.meaning = help
        self.is_output = self.label.startswith("output")
        self._choices = choices
        super().__init__(
            [self.label.lower()],
            required="[" not in usage,
            nargs=-1 if "..." in usage else 1,
            shell_complete=self._complete,
        )

    def _complete(self, context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        """Return the completions of a word that is being typed."""
        return completions(self._choices, context, typed)


def completions(choices: Choices, context: click.Context, typed: str, finished_items: str = "") -> list[CompletionItem]:
    """Return the choices that complete the word `typed`. If there are no choices, the shell offers files.

    If the word is a list, only its last item is completed. `finished_items` is the text before that item, which is
    kept: `right=A,` for the word `right=A,wro`.
    """
    offered_words = _words_for_completion(choices, context.command)
    if not offered_words:
        return [CompletionItem(typed, type="file")]
    last_item = typed[len(finished_items) :]
    return [CompletionItem(f"{finished_items}{word}") for word in offered_words if word.startswith(last_item)]


def _words_for_completion(choices: Choices, command: click.Command) -> Sequence[str]:
    """Return the words that completion offers. If `choices` is a function, it is called for the command's task."""
    if not callable(choices):
        return choices
    if not isinstance(command, Command):  # a group of click, which has no task
        return ()
    _, task = command.verb_and_task
    return tuple(choices(task))


OUTPUT_OPTIONS: Final = frozenset(("--output", "--problems", "--per-item", "--per-unit", "--write-lock"))
"""Options of our own commands that name files to write."""


class CommandLine:
    """A parsed command line: the options with their values, the other words, and where the result is written. `typed`
    holds all words in order, and `positional_words` holds the words that are neither options nor values of options.

    `options_without_value` are the options whose required value is missing. `value_by_option` maps the name of each
    option, such as `--top`, to its value. If an option was repeated, the last value is kept; an option that takes no
    value is mapped to None. `help_or_version` is the text that `--help` or `--version` prints instead of running the
    command, or empty. `format` is the format of the result. The result is written to `file` or, as several files, into
    `folder`. If neither is set, it is printed.
    """

    def __init__(self, typed: Sequence[str], defaults: Mapping[str, str | None] = MappingProxyType({})) -> None:
        """Make a command line without options; `defaults` are the defaults of the options by their names."""
        self.typed = tuple(typed)
        self.positional_words: list[str] = []
        self.options_without_value: list[Option] = []
        self.help_or_version = ""
        self.value_by_option: dict[str, str | None] = {}
        self.format = "text"
        self.file: PlannedOutput | None = None
        self.folder: str | None = None
        self._defaults = defaults
        self._all_values_by_option: dict[str, list[str]] = defaultdict(list)

    def __contains__(self, name: str) -> bool:
        """Return whether an option was typed."""
        return name in self.value_by_option

    def add(self, option: Option, value: str | None) -> None:
        """Add an option with its value. If an option is repeated, `get` and `text` return the last value."""
        self.value_by_option[option.long_name] = value
        if value is not None:
            self._all_values_by_option[option.long_name].append(value)

    def get(self, name: str) -> str | None:
        """Return the value of an option; None if the option was not typed or has no value."""
        return self.value_by_option.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """Return the value of an option, or its default if the option was not typed.

        The default is `default` or, if that is None, the default that the help shows.
        """
        value = self.value_by_option.get(name)
        if value is not None:
            return value
        if default is not None:
            return default
        return self._defaults[name] or ""

    def texts(self, name: str) -> list[str]:
        """Return all values of an option that may be repeated, in their order; none if it was not typed."""
        return self._all_values_by_option.get(name, [])

    def first_typed_option(self, names: str) -> str | None:
        """Return the name of the first of several options that was typed, or None if none of them was.

        `names` are separated by blanks: `"--min --baseline"`.
        """
        for name in names.split():
            if name in self.value_by_option:
                return name
        return None

    def with_changes(
        self, changes: Mapping[str, str | None] = MappingProxyType({}), without: Iterable[str] = ()
    ) -> CommandLine:
        """Return a copy of the command line in which some options have other values, and others are missing.

        `changes` has the new value of each option by its name. `without` are the names of the options to leave out.
        """
        line = copy.copy(self)
        value_by_option = dict(self.value_by_option)
        value_by_option.update(changes)
        for name in without:
            value_by_option.pop(name, None)
        line.value_by_option = value_by_option
        return line

    def inputs(self) -> list[str]:
        """Return all words and option values that may name input files, and the files in the folders among them.

        The names of outputs are compared with this list, so that no command overwrites one of its inputs.
        """
        names = list(self.positional_words)
        for option, values in self._all_values_by_option.items():
            if option not in OUTPUT_OPTIONS:
                names.extend(values)
        return names + _files_in_folders(names)

    def plan(
        self, outputs: Iterable[PlannedOutput], inputs: Sequence[str] | None = None, folder: str | None = None
    ) -> OutputPlan:
        """Check whether a command may write its outputs, and return the plan of the files that it reads and writes.

        No file is changed. `inputs` are the names of the input files; by default they are all words and option values
        that may name one. `folder` is the folder that -o names. Raises UsageError or OutputError if an output may not
        be written.
        """
        if inputs is None:
            inputs = self.inputs()
        plan = OutputPlan(inputs, list(outputs), "--force" in self, folder)
        plan.check()
        return plan


def _files_in_folders(possible_folders: Iterable[str]) -> list[str]:
    """Return the paths of all files in the folders among some names; names of anything else are passed over."""
    paths: list[str] = []
    for path in possible_folders:
        if os.path.isdir(path):
            paths.extend(entry.path for entry in os.scandir(path))
    return paths


QUIET: Final = Option("--quiet", "Print only fatal errors on standard error")
FORCE: Final = Option("--force", "Overwrite existing files, also those that cs-score did not write")
_JSON: Final = Option("--json", "As --format json, but nothing on standard output where it fails")
_OUTPUT: Final = Option(
    "--output PATH", "Write there instead of printing; a folder where there are several tables or runs", also=["-o"]
)

_FORMAT_OF_ENDING: Final = {
    ".json": "json", ".tsv": "tsv", ".md": "markdown", ".tex": "latex", ".html": "html", ".txt": "text",
    ".xml": "junit", ".svg": "svg",
}  # fmt: skip
_OTHER_IMAGES: Final = ("pdf", "png")
"""Formats of images that cs-score does not write; other programs convert SVG into them."""

_PAGE_COMMANDS: Final = {
    "score": "report",
    "analyze": "report",
    "explain": "report",
    "diff": "report --compare",
    "batch": "batch --html",
}
"""The command that makes an HTML page of the result of a verb. `compare` is not among them: it has the format html."""

_BEGINNING_BY_FORMAT: Final = {
    # Scores of evidence tasks begin with the numbers, as their specifications want them.
    "json": rb'\{(\s*"(schema_version|kind)":|(\s*"[\w-]+":\s*(\{|[-+.\de]+)|[\s},])+"(intervals|signature)":\s*\{)',
    "html": rb'<!DOCTYPE html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">\s*<meta name="generator" content',
    "svg": rb'<svg xmlns="http://www.w3.org/2000/svg" [^>]*class="chart"',
}
"""How the files that -o writes begin, by format: a file with this beginning may be replaced without --force.

Files of other formats do not show that cs-score wrote them, so that only --force replaces them.
"""


def failure_text(format_: str, message: str) -> str:
    """Return the message of an error as a JSON object for standard output; an empty text for any other format.

    The message is also printed on standard error, whatever the format is.
    """
    if format_ != "json":
        return ""
    error = {"kind": "error", "error": one_line(message)}
    return f"{msgspec.json.format(msgspec.json.encode(error), indent=1).decode()}\n"


@contextlib.contextmanager
def _remarks_before_errors() -> Iterator[None]:
    """Print the remarks of an error that leaves the block, then raise the error again."""
    try:
        yield
    except CsScoreError as error:
        warn(*error.remarks)
        raise


class CommandProperties(NamedTuple):
    """The properties of a command beside its options and words: its help, its formats, and its output."""

    example: str = ""
    """The words of an example of a call, which works with the sample files."""
    summary: str = ""
    """The first line of the help; if it is empty, the summary of the table of commands is used."""
    sections: Sequence[Section] = ()
    """Further sections of the help."""
    formats: Sequence[str] = ()
    """The formats of the result, the default first; none for a command without a result of its own."""
    folder_format: str = ""
    """The format in which -o names a folder; it is a value of --format only if it is one of `formats`."""
    needs_output: bool = False
    """Whether -o must be given."""
    text_of_failure: Callable[[str, str], str] = failure_text
    """Returns an error in the format of the result, from the format and the message; empty if it cannot show errors."""


DEFAULT_PROPERTIES: Final = CommandProperties()


class Command(click.Command):
    """A command with the rules of cs-score: options may come after files, and wrong usage has the exit status 2. A
    command that follows a reference program (`follows_reference`) has other rules. `body` is the function that does the
    work of the command: it gets the parsed command line and returns the exit status, or the text to print.
    """

    failure_status = Status.FAILED
    wrong_usage_status = Status.WRONG_USAGE
    follows_reference = False
    """Whether all options have to come before the first file, as in the reference programs."""

    def __init__(
        self,
        name: str,
        options: Iterable[Option],
        *parameters: Parameter,
        body: Body,
        properties: CommandProperties = DEFAULT_PROPERTIES,
    ) -> None:
        """Make a command with its own options, to which the options for output, help and versions are added.

        `parameters` are the words that it takes, `body` is the function that does its work, and `properties` holds
        everything else, such as the formats of its result.
        """
        self.body = body
        self.properties = properties
        self.parameters = parameters
        self.command_entry = COMMANDS.get(name)
        self.options = self._with_common_options(options)
        self.option_by_spelling = _options_by_spelling(self.options)
        super().__init__(name, params=[*self.options, *parameters], add_help_option=False, help=self._summary())

    def _summary(self) -> str:
        """Return the first line of the help: the summary in the command's properties or in the table of commands.

        It is empty if neither has a summary.
        """
        if self.properties.summary or self.command_entry is None:
            return self.properties.summary
        return self.command_entry.summary

    def _with_common_options(self, own_options: Iterable[Option]) -> list[Option]:
        """Return the command's own options, and after them the options for formats, help and versions.

        Only commands that follow a reference program insist on the program's spellings, such as `-query_base`.
        """
        options = list(own_options)
        options.extend(self._format_options())
        options.append(QUIET)
        options.extend(self._help_and_version_options())
        if self.follows_reference:
            return options
        return [option.with_two_dashes() for option in options]  # for example, `--query-base` is accepted as well

    def _format_options(self) -> Iterator[Option]:
        """Yield `--format`, `--json` and `--output`, as far as the command has them."""
        formats = self.properties.formats
        if not formats:
            return
        default_text = "by the ending of -o"
        if not self.properties.needs_output:
            default_text += f", else {formats[0]}"
        yield Option("--format NAME", f"Format of the result: {', '.join(formats)}", default_text, formats)
        if "json" in formats:
            yield _JSON
        yield _OUTPUT

    def _help_and_version_options(self) -> Iterator[Option]:
        """Yield the options for help and versions, which print a text instead of running the command."""
        if self.follows_reference:
            yield Option("-help", "Show this text", also=["-h", "--help"], make_text=_requested_help)
        else:
            yield Option("--help", "Show this text", also=["-h", "-help"], make_text=_requested_help)
        yield Option("--version", "Show the version of cs-score", make_text=_own_version)
        if self.command_entry is not None and self.command_entry.followed_version:
            yield Option("-version", "Show the version that is followed", make_text=_line_on_followed_version)

    @property
    def full_name(self) -> str:
        """The program and the words that name the command, such as `cs-score analyze scifact`."""
        return f"cs-score {self.name}".rstrip()

    @property
    def verb_and_task(self) -> tuple[str, str]:
        """The name of the command in the table of commands, and the task that it is for.

        For example `("analyze", "scifact")` for the command `analyze scifact`, `("score", "scifact")` for `scifact`
        and `("bundle evalai", "coldstart")` for `bundle evalai`.
        """
        name = self.name or ""  # click allows commands without a name
        first_word, _, further_words = name.partition(" ")
        if first_word in SECOND_WORDS_BY_FIRST:  # names of two words, such as `bundle evalai`
            second_word, _, task = further_words.partition(" ")
            return f"{first_word} {second_word}", task or COLD_START
        if first_word in TASKS:
            return "score", first_word
        return first_word, further_words or COLD_START

    @property
    def has_tasks(self) -> bool:
        """Whether there are commands of the same verb for other tasks, such as `analyze scifact` beside `analyze`."""
        verb, _ = self.verb_and_task
        return COMMANDS[verb].is_split_by_task

    def run(self, typed: Sequence[str]) -> int:
        """Parse the words of a command line, run the command, and return the exit status.

        Raises CsScoreError. Before that the error is printed on standard output if the format, such as JSON, has a form
        for errors.
        """
        try:
            line = self.parse(typed)
            if line.help_or_version:
                write_text("stdout", line.help_or_version)
                return Status.DONE
            with quietly("--quiet" in line), self._clock(), _remarks_before_errors():
                return self._run_and_write(line)
        except CsScoreError as error:
            self._print_failure(error, typed)
            raise

    def _clock(self) -> contextlib.AbstractContextManager[None]:
        """Return a context manager that shows on a terminal how long the command has been running.

        It shows nothing for `batch`, which shows how many of its systems are done.
        """
        verb, _ = self.verb_and_task
        if verb == "batch":
            return contextlib.nullcontext()
        return with_clock(self.full_name)

    def _print_failure(self, error: CsScoreError, typed: Sequence[str]) -> None:
        """Print an error on standard output in the format that `--format` names, if the format has a form for errors.

        The option is looked for among the words that were `typed`, because wrong usage may have ended the parsing
        before it.
        """
        format_ = _typed_format(typed)
        if format_ not in self.properties.formats:
            return
        text = self.properties.text_of_failure(format_, str(error))
        if text:
            write_text("stdout", text)

    # ---- Reading what was typed

    def parse(self, typed: Sequence[str]) -> CommandLine:
        """Return the parsed command line. Raises UsageError if it is wrong.

        As in the reference programs, options whose value is missing are reported last, after unknown options.
        """
        line = self._read_words(typed)
        if line.help_or_version:
            return line
        if line.options_without_value:
            first_option = line.options_without_value[0]
            raise self._error_without_value(first_option)
        if not self.follows_reference:  # the reference programs use the last value of a repeated option
            self._refuse_repetitions(line)
        line.value_by_option = self._in_order_of_options(line.value_by_option)
        self._check_words(line)
        return line

    def _read_words(self, typed: Sequence[str]) -> CommandLine:
        """Return a command line with the options and the other words that were typed, before they are checked.

        The words after `--help` or `--version` are not read. Raises UsageError for a word that cannot be read.
        """
        line = CommandLine(typed, {option.long_name: option.default_text for option in self.options})
        rest = deque(typed)
        while rest and not line.help_or_version:
            word = rest.popleft()
            if word == "--" and not self.follows_reference:  # all words after it are files
                line.positional_words.extend(rest)
                break
            if self._is_file(word, is_first=not line.positional_words):
                line.positional_words.append(word)
            else:
                self._read_option(line, word, rest)
        return line

    def _read_option(self, command_line: CommandLine, word: str, rest: deque[str]) -> None:
        """Add the option that `word` names to the command line, with its value or with the text that it prints.

        `rest` are the words after the option; its value is removed from them. An option without its value is added to
        `options_without_value`. Raises UsageError for an unknown option. Commands that follow a reference program also
        refuse an option after a file.
        """
        if command_line.positional_words and self.follows_reference:
            # For the reference program, this word and all words after it are files as well.
            word_count = len(command_line.positional_words) + 1 + len(rest)
            raise self._error_for_late_option(word, word_count)
        option = self._option_named_by(word, command_line.typed)
        if option.make_text is not None:
            command_line.help_or_version = option.make_text(self, command_line.typed)
        elif self._has_value(option, word, rest):
            command_line.add(option, self._value_of(option, word, rest))
        else:
            command_line.options_without_value.append(option)

    def _is_file(self, word: str, *, is_first: bool) -> bool:
        """Return whether a word is a file and not an option; `-` is standard input.

        The reference programs take `-` for an unknown option if it would be the first file (`is_first`).
        """
        if word == "-" and is_first:
            return not self.follows_reference
        return word == "-" or not word.startswith("-")

    def _option_named_by(self, word: str, typed: Sequence[str]) -> Option:
        """Return the option that a word such as `--gold` or `--gold=FILE` names.

        Raises UsageError for an unknown option, or if a value is given to an option that does not take one.
        """
        name, equals, _ = word.partition("=")
        option = self.option_by_spelling.get(name)
        if option is None:
            raise self._error_for_unknown_option(word, typed)
        # The reference programs do not know the form `-switch=VALUE`.
        if equals and self.follows_reference and option.is_reference_switch:
            raise self._error_for_unknown_option(word, typed)
        if equals and option.value_name is None and option.make_text is None:
            raise Misuse(f"{option.long_name} takes no value", f"ERROR: Unknown switch: {word}")
        return option

    def _has_value(self, option: Option, word: str, rest: deque[str]) -> bool:
        """Return whether an option has all that it needs: its value was typed, or it needs no value.

        `word` is the option as typed, and `rest` are the words after it. The value comes after `=` in `word`, or it is
        the first word of `rest`.
        """
        # A value in brackets may be left out, as in `--json [FILE.json]`.
        needs_no_value = option.value_name is None or option.value_name.startswith("[")
        if needs_no_value or "=" in word:
            return True
        if not rest:
            return False
        # The reference programs take the next word as the value, even if it is the name of an option.
        name_of_next_word = rest[0].partition("=")[0]
        return self.follows_reference or name_of_next_word not in self.option_by_spelling

    def _value_of(self, option: Option, word: str, rest: deque[str]) -> str | None:
        """Return the value of an option: the text after `=`, or else the next word, which is removed from `rest`.

        The result is None for an option that takes no value.
        """
        if option.value_name is None:
            return None
        _, equals, value = word.partition("=")
        if equals:
            return value
        if option.value_name.startswith("["):  # the value may be left out, as in `--json [FILE.json]`
            return self._optional_file(option, rest)
        return rest.popleft()

    def _optional_file(self, option: Option, rest: deque[str]) -> str:
        """Return the file of an option such as `--json [FILE.json]`, or `-` if no file was typed.

        The file is the first word of `rest`, from which it is removed. Raises UsageError if that word is neither an
        option nor a file with the right ending.
        """
        if not rest:
            return "-"
        next_word = rest[0]
        is_option = next_word.startswith("-") and next_word != "-"
        if is_option:
            return "-"
        if _is_file_for(option, next_word):
            return rest.popleft()
        raise UsageError(
            f"{option.long_name} takes a file; did you mean {option.long_name} result.json? {next_word} does not end "
            "in .json (perhaps compressed)"
        )

    def _in_order_of_options(self, value_by_option: Mapping[str, str | None]) -> dict[str, str | None]:
        """Return the options that were typed, sorted as help lists them, so that their order does not matter later."""
        names = [option.long_name for option in self.options if option.long_name in value_by_option]
        return {name: value_by_option[name] for name in names}

    def _error_without_value(self, option: Option) -> Misuse:
        """Return the error for an option that was typed without its value.

        The text for standard output is that of the reference program, which complains about the first required word
        instead. This text is printed only by commands that follow a reference program.
        """
        required_words = []
        if self.follows_reference:
            required_words = [parameter.label for parameter in self.parameters if parameter.required]
        first_required_word = required_words[0] if required_words else ""
        return Misuse(
            f"{option.long_name} needs a value: {option.value_name}",
            reference_message=f"ERROR: Not enough arguments; {first_required_word} must be provided",
        )

    def _refuse_repetitions(self, command_line: CommandLine) -> None:
        """Raise UsageError if an option that takes one value was typed several times."""
        for option in self.options:
            values = command_line.texts(option.long_name)
            if len(values) < 2 or option.multiple:
                continue
            fault = f"{option.long_name} is given {len(values)} times ({', '.join(values)}) and takes one value"
            remedy = self._remedy_for_repetition(option, command_line)
            raise UsageError(f"{fault}; {remedy}")

    def _remedy_for_repetition(self, option: Option, command_line: CommandLine) -> str:
        """Return advice on what to write instead of repeating an option that takes one value."""
        if option.long_name == "--predictions":
            return self._advice_to_compare(command_line)
        if option.long_name == "--gold":
            _, task = self.verb_and_task
            return (
                f"there is one gold file a call; several systems are compared by cs-score compare {task} --gold GOLD "
                f"A B and listed by cs-score batch {task}"
            )
        if option.long_name == "--policy" and "--also-policy" in self.option_by_spelling:
            return "--also-policy adds another policy"
        return "give it once"

    def _advice_to_compare(self, command_line: CommandLine) -> str:
        """Return the advice to use `compare` or `batch`, for a call with several files of predictions."""
        _, task = self.verb_and_task
        gold = command_line.text("--gold", "GOLD")
        predictions = " ".join(command_line.texts("--predictions"))
        return (
            f"several systems are compared by cs-score compare {task} --gold {gold} {predictions} and listed by "
            f"cs-score batch {task}"
        )

    def _check_words(self, command_line: CommandLine) -> None:
        """Raise UsageError if -o or a required word is missing, or if there are too many words.

        For words, the error is a Misuse, the kind of UsageError that has the message of the reference program.
        """
        if self.properties.needs_output and "--output" not in command_line:
            raise UsageError(f"-o PATH must be given, such as: {self.full_name} {self.properties.example}")
        # Each word is for one parameter; only the last parameter, such as `files...`, may take several.
        missing_parameters = self.parameters[len(command_line.positional_words) :]
        for parameter in missing_parameters:
            if parameter.required:
                message = f"Not enough arguments; {parameter.label} must be provided"
                raise Misuse(message, reference_message=f"ERROR: {message}")
        if len(command_line.positional_words) > self._largest_word_count():
            message = self._surplus_words_message(command_line.positional_words)
            raise Misuse(message, reference_message="ERROR: Too many arguments")

    def _surplus_words_message(self, words: Sequence[str]) -> str:
        """Return the error message about more words than the command takes, such as `too many words: b.tab c.tab`."""
        largest_word_count = self._largest_word_count()
        if largest_word_count == 0:
            return f"unexpected word {words[0]}"
        return f"too many words: {' '.join(words[largest_word_count:])}"

    def _largest_word_count(self) -> int:
        """Return the largest number of words, options not counted, that the command takes."""
        takes_any_number = any(parameter.nargs < 0 for parameter in self.parameters)  # click's sign for `files...`
        if takes_any_number:
            return sys.maxsize
        return len(self.parameters)

    def _error_for_late_option(self, word: str, word_count: int) -> UsageError:
        """Return the error for an option that was typed after the first file.

        A reference program reads the option and all words after it as names of files. `word_count` is the number of
        its file names, with the files before the option.
        """
        our_message = (
            f"Could not open {word}: No such file or directory; options come before the files (a file that is called "
            f"like this is written ./{word})"
        )
        # If the program accepts this many words, it only fails to open the file. Otherwise, it prints its help.
        if word_count <= self._largest_word_count():
            return UsageError(our_message)
        return Misuse(our_message, reference_message="ERROR: Too many arguments")

    def _error_for_unknown_option(self, word: str, typed: Sequence[str]) -> UsageError:
        """Return the error for a word that looks like an option but is not one, with a suggestion.

        The suggestion is the same name with the right dashes, advice on options of other programs and commands, or
        the option with the most similar name.
        """
        name = word.partition("=")[0]
        advice = self._advice_on_dashes(word)
        if not advice and not self.follows_reference:
            advice = _advice_on_option(self, name, typed)
        if not advice:
            advice = f"unknown switch {name}{did_you_mean(name, self.option_by_spelling)}"
        return Misuse(advice, reference_message=f"ERROR: Unknown switch: {word}")

    def _advice_on_dashes(self, word: str) -> str:
        """Return advice if a word such as `-query-base=X` differs from an option only in dashes and underscores.

        For any other word, the text is empty.
        """
        name, _, value = word.partition("=")
        for option in self.options:
            if _spelling_to_compare(option.long_name) == _spelling_to_compare(name):
                call = f"{option.long_name} {value or option.value_name or ''}".rstrip()
                return f"unknown switch {word}; write {call}"
        return ""

    # ---- Where the result goes

    def _run_and_write(self, command_line: CommandLine) -> int:
        """Run the command, and print its result or write it to the file of -o. Return the exit status.

        Raises UsageError for a format that the command does not have, or for a file that must not be written.
        """
        if self.properties.formats:
            self._choose_output(command_line)
        if command_line.file is not None:
            return self._run_into_file(command_line, command_line.file)
        with outputs_together():  # either all files of the command appear at its end or none
            return self._run_body(command_line)

    def _run_into_file(self, command_line: CommandLine, file: PlannedOutput) -> int:
        """Run the command, and write what it prints to the file of -o. Return the exit status.

        If the command fails after the checks, the file of an earlier call is removed, so that nobody takes it for the
        result of this one. Raises UsageError for a file that the command may not write.
        """
        plan = command_line.plan([file])  # checks the file, and changes nothing
        try:
            with outputs_together():  # the file appears together with the other files of the command, or not at all
                with captured_output() as blocks:  # what the command prints
                    status = self._run_body(command_line)
                write_packed(file.path, blocks)
        except UsageError:  # the command has not begun its work
            raise
        except (CsScoreError, KeyboardInterrupt):
            plan.remove_earlier_files()
            raise
        return status

    def _run_body(self, command_line: CommandLine) -> int:
        """Run the function of the command, and print the text if it returns one. Return the exit status."""
        result = self.body(command_line)
        if isinstance(result, int):
            return result
        write_text("stdout", result)
        return Status.DONE

    def _choose_output(self, command_line: CommandLine) -> None:
        """Decide in which format and where the result is written.

        `format` of the command line is set, and `file` or `folder`. Without -o, and with `-o -`, the result is printed.
        Raises UsageError for a format that the command does not have, and for a folder that looks like a file.
        """
        path = command_line.get("--output")
        if path == "-":
            path = None
        command_line.format = self._format_of(command_line, path)
        if path is None:
            return
        if self._is_folder(command_line.format):
            self._choose_folder(command_line, path)
        else:
            command_line.file = PlannedOutput(
                "-o", path, Existing.RECOGNISED, _BEGINNING_BY_FORMAT.get(command_line.format)
            )

    def _choose_folder(self, command_line: CommandLine, path: str) -> None:
        """Set the folder of the command line to `path`.

        The format is kept if the command can print it (`formats`). Otherwise, it becomes the command's default format.
        Raises UsageError if the path looks like a file.
        """
        if not self._always_writes_folder():
            self._refuse_unknown_ending(path)
        command_line.folder = path
        if command_line.format not in self.properties.formats:
            command_line.format = self.properties.formats[0]  # the default

    def _always_writes_folder(self) -> bool:
        """Return whether -o names a folder in every format."""
        return bool(self.properties.folder_format) and self.properties.needs_output

    def _is_folder(self, format_: str) -> bool:
        """Return whether -o names a folder in this format."""
        return self._always_writes_folder() or format_ == self.properties.folder_format

    def _format_of(self, command_line: CommandLine, path: str | None) -> str:
        """Return the format of the result, such as `json`.

        It is the format that --format or --json names. Without these options, the format follows from the ending of
        `path` (the value of -o). If the ending does not name a format either, the default format is returned. Raises
        UsageError for a format that the command does not have, and for `-o` with the ending of an image that cs-score
        does not write, such as `chart.pdf`.
        """
        default = self._default_format(path)
        format_ = self._requested_format(command_line, path) or default
        if format_ not in self.properties.formats and format_ != default:
            self._refuse_format(format_, path)
        # `-o chart.pdf` has an unknown ending, so the default format would be used although PDF was meant.
        if path is not None and "--format" not in command_line:
            ending = ending_of(path).removeprefix(".")
            self._refuse_pdf_or_png(ending, path)
        return format_

    def _default_format(self, path: str | None) -> str:
        """Return the format to use if the user does not name one. With -o `path`, it may be the format of a folder."""
        # A command that always writes a folder uses its format for what it prints.
        if path is not None and self.properties.folder_format and not self._always_writes_folder():
            return self.properties.folder_format
        return self.properties.formats[0]  # the first format of a command is its default

    def _requested_format(self, command_line: CommandLine, path: str | None) -> str | None:
        """Return the format named by --format or --json, or else by the ending of `path`, or None if none is named.

        The ending is ignored if -o names a folder in every format.
        """
        format_ = command_line.get("--format")
        if format_:
            return format_
        if "--json" in command_line:
            return "json"
        if path is None or self._always_writes_folder():
            return None
        return _FORMAT_OF_ENDING.get(ending_of(path))

    def _refuse_unknown_ending(self, path: str) -> None:
        """Raise UsageError if the name of a new folder has an ending, such as `.csv`: probably a file was meant.

        Endings that name a format are not checked here: `_requested_format` has already chosen that format.
        """
        ending = ending_of(path)
        if not re.fullmatch(r"\.[a-z]{2,5}", ending) or os.path.isdir(path):
            return
        endings = [known_ending for known_ending, name in _FORMAT_OF_ENDING.items() if name in self.properties.formats]
        raise UsageError(
            f"-o {path}: no format ends in {ending}, but {', '.join(endings)}; for a folder write {path}{os.sep}"
        )

    def _refuse_pages(self, format_: str, path: str | None) -> None:
        """Raise UsageError, which names the right command, if HTML is wanted and another command makes the page."""
        verb, task = self.verb_and_task
        if format_ != "html" or verb not in _PAGE_COMMANDS:
            return
        call = f"cs-score {_PAGE_COMMANDS[verb]}"
        if task != COLD_START:
            call += f" {task}"
        raise UsageError(f"{verb} prints no page; {call} does: write {call} ... -o {path or 'page.html'}")

    def _refuse_format(self, format_: str, path: str | None) -> NoReturn:
        """Raise UsageError for a format that the command does not have, with the best advice on what to write."""
        # The first two calls do nothing for most formats.
        self._refuse_pdf_or_png(format_, path)
        self._refuse_pages(format_, path)
        formats = self.properties.formats
        raise UsageError(f"--format takes {', '.join(formats)}, not {format_}{did_you_mean(format_, formats)}")

    def _refuse_pdf_or_png(self, format_: str, path: str | None) -> None:
        """Raise UsageError if a chart is wanted as PDF or PNG: charts are SVG, which other programs convert."""
        draws_charts = "svg" in self.properties.formats
        if format_ not in _OTHER_IMAGES or not draws_charts:
            return
        stem = "chart" if path is None else os.path.splitext(path)[0]
        raise UsageError(
            f"charts are SVG, not {format_.upper()}: write -o {stem}.svg, then open it in a browser and print it, or "
            f"call inkscape {stem}.svg -o {stem}.{format_}"
        )

    # ---- Help

    def help_text(self) -> str:
        """Return the help of the command: summary, usage, an example, and the meaning of each option and word."""
        formatter = click.HelpFormatter(width=help_width())
        formatter.write_text(self._first_line_of_help())
        formatter.write_paragraph()
        formatter.write_usage(self.full_name, self.usage)
        if self.properties.example:
            formatter.write_paragraph()
            formatter.write(f"{self._wrapped_example(formatter.width)}\n")
        for title, content in self.all_sections():
            with formatter.section(title):
                _write_content(formatter, content)
        return formatter.getvalue()

    def _first_line_of_help(self) -> str:
        """Return the first line of the help, the summary of the command: `Score one or more TAC Cold Start runs.`

        For commands that follow a reference program, it has the form of that program's help: `NAME:  SUMMARY`.
        """
        if self.follows_reference:
            return f"{self.full_name}:  {self.help}"
        return f"{self.help}."

    def _wrapped_example(self, width: int) -> str:
        """Return the example of a call in lines of at most `width` columns, the further ones indented."""
        example = f"Example: {self.full_name} {self.properties.example}"
        return textwrap.fill(example, width, subsequent_indent="  ", break_on_hyphens=False)

    @property
    def usage(self) -> str:
        """The words of a call as the usage line shows them, such as `[OPTIONS] -o PATH [FILES...]`."""
        labels = ["{-switch {-switch ...}}" if self.follows_reference else "[OPTIONS]"]
        if self.properties.needs_output:
            labels.append("-o PATH")
        for parameter in self.parameters:
            label = parameter.label.upper()
            if parameter.nargs < 0:
                label += "..."
            labels.append(label if parameter.required else f"[{label}]")
        return " ".join(labels)

    def all_sections(self) -> Iterator[Section]:
        """Yield the sections of the help: reference switches, other options, arguments, and further sections."""
        switches = sorted(option.get_help_record() for option in self.options if option.is_reference_switch)
        if switches:
            yield "Switches", switches
        our_options = [option.get_help_record() for option in self.options if not option.is_reference_switch]
        adds_to_reference = bool(switches) and self.follows_reference
        title = "Additions" if adds_to_reference else "Options"
        yield title, our_options
        if self.parameters:
            yield "Arguments", [(parameter.label, parameter.meaning) for parameter in self.parameters]
        yield from self.properties.sections


def _options_by_spelling(options: Iterable[Option]) -> dict[str, Option]:
    """Return the options by each of their spellings: `--output` and `-o` have the same option."""
    option_by_spelling = {}
    for option in options:
        for spelling in option.opts:
            option_by_spelling[spelling] = option
    return option_by_spelling


def _typed_format(typed: Sequence[str]) -> str:
    """Return the value of `--format` among words that may be wrong, or an empty text if it was not typed.

    It is `json` for `--format json` and for `--format=json`. If the option is repeated, the last value counts.
    """
    format_ = ""
    for word, next_word in pairwise([*typed, ""]):  # the word after the last one is empty
        if word == "--format":
            format_ = next_word
        elif word.startswith("--format="):
            format_ = word.partition("=")[2]
    return format_


def _is_file_for(option: Option, word: str) -> bool:
    """Return whether a word can be the file of an option such as `--json [FILE.json]`: by its ending, or as a stream.

    `result.json` and `result.json.gz` have the right ending; `-` and `/dev/stdout` are streams.
    """
    file_in_usage = str(option.value_name).strip("[]")  # `FILE.json`
    return word == "-" or is_stream(word) or ending_of(word) == ending_of(file_in_usage)


def _write_content(formatter: click.HelpFormatter, content: Sequence[tuple[str, str]] | str) -> None:
    """Write the content of a section of help: a paragraph, or rows of a name with its meaning."""
    if isinstance(content, str):
        formatter.write_text(content)
    else:
        # At most a third of the line is for names, and on a wide screen no more than most names need.
        formatter.write_dl(list(content), col_max=min(_WIDEST_NAMES, formatter.width // 3))


def _requested_help(command: Command, typed: Sequence[str]) -> str:
    """Return the text that `--help` prints for a command.

    The words that were typed may name a task: `cs-score analyze --help scifact` shows the help of `analyze scifact`.
    """
    verb, _ = command.verb_and_task
    if command.has_tasks:
        for word in typed:
            if word in TASKS:
                return load_command(verb, word).help_text()
    return command.help_text()


def _own_version(command: Command, typed: Sequence[str]) -> str:
    """Return the text that `--version` prints, which is the same for every command."""
    return version_text()


def _line_on_followed_version(command: Command, typed: Sequence[str]) -> str:
    """Return the line that `-version` prints: the version of the reference program that the command follows.

    If --follow was typed, this version is its last value.
    """
    version = None
    if command.command_entry is not None:
        version = command.command_entry.followed_version
    for word, next_word in pairwise(typed):
        if word == "--follow":
            version = next_word
    return f"{command.full_name} version {version}\n"


OUR_NAME_BY_OTHER_NAME: Final = {
    **dict.fromkeys(("--label", "--labels", "--gold-file", "--gold_file", "--labels_file", "--corpus"), "--gold"),
    **dict.fromkeys(("--metric", "--metrics", "--measures"), "--measure"),
    **dict.fromkeys(
        ("--prediction", "--pred", "--preds", "--predictions-file", "--prediction_file", "--preds_file"),
        "--predictions",
    ),
    "--metrics_output_file": "--output",
    "-nbref": "--references",
    "-ig": "--ignore-missing",
}
"""Names of options in official evaluators and other programs, and the names of the same options here."""

UNNEEDED_OPTIONS: Final = ("--verbose", "-v")
"""Options of official evaluators that ask for all measures, which are always shown here."""

FILE_OPTIONS: Final = ("--pool", "--assessments", "--qrels", "--submission", "--runs", "--file", "--input")
"""Options that name input files in other programs; here the files are words without an option."""

UNIT_OPTIONS: Final = ("--query", "--queries", "--claim", "--question", "--instance", "--topic", "--id", "--item")
"""What others call the option --unit of explain."""

VERB_BY_MISTAKEN_OPTION: Final = {
    "--explain": "explain",
    "--analyze": "analyze",
    "--compare": "compare",
    "--diff": "diff",
}
"""Options that people type although they mean a command, with the name of that command."""


def _line_in_our_words(command: Command, typed: Sequence[str]) -> str:
    """Return a command line as text, with the options of official evaluators replaced by our own."""
    words = [command.full_name]
    for word in typed:
        name, equals, value = word.partition("=")
        if name in UNNEEDED_OPTIONS:
            continue
        words.append(f"{OUR_NAME_BY_OTHER_NAME.get(name, name)}{equals}{value}")
    if "--output" in words and "--format" not in words and "--json" not in words:
        words += ["--format", "json"]  # what official evaluators write into their output file
    return " ".join(words)


def _advice_on_option(command: Command, name: str, typed: Sequence[str]) -> str:
    """Return advice on what to write instead of an option that the command does not have.

    The text is empty if there is no advice for this option.
    """
    # The first advice that is not empty.
    return (
        _advice_on_evaluators_option(command, name, typed)
        or _advice_on_unit_option(command, name)
        or _advice_on_other_task(command, name)
        or _advice_on_other_command(command, name)
    )


def _advice_on_evaluators_option(command: Command, name: str, typed: Sequence[str]) -> str:
    """Return advice if `name` is an option of an official evaluator: the same command line with our options.

    For any other option, the text is empty.
    """
    option_names = {option.long_name for option in command.options}
    our_name = OUR_NAME_BY_OTHER_NAME.get(name)
    # Measures can be chosen in many commands, even in those that have nothing in common with an evaluator.
    if our_name == "--measure" and our_name in option_names:
        return f"{name} is called {our_name} here"
    # Official evaluators take a gold file: a command without --gold does not do their work.
    if "--gold" not in option_names:
        return ""
    if our_name in option_names:
        return f"{name} is called {our_name} here; write {_line_in_our_words(command, typed)}"
    if name in UNNEEDED_OPTIONS:
        return f"{name} is not needed, all measures are shown; write {_line_in_our_words(command, typed)}"
    return ""


def _advice_on_unit_option(command: Command, name: str) -> str:
    """Return advice on how to choose one unit if `name` is what other programs call --unit, or else an empty text."""
    if name not in UNIT_OPTIONS:
        return ""
    # The advice for a misspelled option of this command, such as `--items` for `--item`, is better.
    is_misspelled = did_you_mean(name, command.option_by_spelling, cutoff=0.9) != ""
    if is_misspelled:
        return ""
    if "--unit" in command.option_by_spelling:
        return f"{name} is called --unit here: {command.full_name} --unit ID ..."
    if not command.has_tasks:
        return ""
    return f"{name}: one unit is explained by cs-score explain{_word_for_task(command)} --unit ID ..."


def _word_for_task(command: Command) -> str:
    """Return the word that a call needs for the task of a command, with a blank before it, such as ` scifact`.

    It is empty for Cold Start, because a verb without a task is the command for Cold Start.
    """
    _, task = command.verb_and_task
    return "" if task == COLD_START else f" {task}"


def _advice_on_other_task(command: Command, name: str) -> str:
    """Return advice if an option is not needed here, is the name of a command, or belongs to other tasks.

    For any other option, the text is empty.
    """
    if not command.has_tasks:
        return ""
    # The first advice that is not empty.
    return (
        _advice_on_input_files(command, name)
        or _advice_on_mistaken_option(command, name)
        or _advice_on_tasks_with_option(command, name)
    )


def _advice_on_input_files(command: Command, name: str) -> str:
    """Return advice if the option names input files in other programs, for example `--qrels`, and is not needed here.

    Otherwise the text is empty.
    """
    _, task = command.verb_and_task
    if name == "--predictions" and task != COLD_START and "--gold" in command.option_by_spelling:
        return f"{name} is not needed; write {command.full_name} --gold GOLD SYSTEM SYSTEM ..."
    if name in FILE_OPTIONS and task == COLD_START:
        return f"{name}: files have no options; write {command.full_name} -expand BASE QUERIES.xml POOL RUN"
    return ""


def _advice_on_mistaken_option(command: Command, name: str) -> str:
    """Return advice if an option such as `--explain` was typed, where a command was meant.

    For any other option, the text is empty.
    """
    if name not in VERB_BY_MISTAKEN_OPTION:
        return ""
    has_such_option = any(option.long_name == name for option in command.options)
    if has_such_option:
        return ""
    verb = VERB_BY_MISTAKEN_OPTION[name]
    return f"{name} is no option but a command: cs-score {verb}{_word_for_task(command)} ..."


def _advice_on_tasks_with_option(command: Command, name: str) -> str:
    """Return advice that names the other tasks for which the same verb has an option of this name.

    The text is empty if no other task has the option.
    """
    verb, task = command.verb_and_task
    tasks_with_option = []
    for other_task in OWN_TASKS:
        if other_task != task and name in load_command(verb, other_task).option_by_spelling:
            tasks_with_option.append(other_task)
    if not tasks_with_option:
        return ""
    # All tasks except Cold Start are evidence tasks. For a Cold Start command, the advice says "evidence tasks", and
    # the example names one of them.
    tasks = "evidence tasks" if task == COLD_START else ", ".join(tasks_with_option)
    example_task = tasks_with_option[0]
    return f"{name} is an option of {tasks}: cs-score {verb} {example_task} {name} ..."


def _advice_on_other_command(command: Command, name: str) -> str:
    """Return advice that names up to three other commands with an option of this or a similar name.

    The text is empty if no other command has a similar option. It is also empty if the command itself has one, because
    a misspelling of that option is then more likely.
    """
    if name in command.option_by_spelling or did_you_mean(name, command.option_by_spelling):
        return ""
    verb, _ = command.verb_and_task
    for option_name in _name_and_most_similar_name(name):
        other_commands = [other for other in _commands_with_option(option_name) if other != verb]
        if other_commands:
            correction = "" if option_name == name else f"{option_name} "
            some_commands = ", ".join(other_commands[:3])
            return f"{name} is no option of {command.full_name}, but {correction}of {some_commands}"
    return ""


def _name_and_most_similar_name(name: str) -> list[str]:
    """Return the name of an option, and the most similar name among the options of all commands, if there is one.

    For example `["--tops", "--top"]`.
    """
    spellings: set[str] = set()
    for command_name in COMMANDS:
        if command_name:  # not the call without a command, whose name is empty
            spellings.update(load_command(command_name).option_by_spelling)
    suggestion = did_you_mean(name, spellings)  # a part of a message, such as `; did you mean --top?`
    suggested_name = re.search(r"--?[\w-]+", suggestion)
    if suggested_name is None:
        return [name]
    return [name, suggested_name.group()]


def _commands_with_option(option_name: str) -> list[str]:
    """Return the names of the commands, other than the call without a command, that have an option of this name."""
    names = []
    for command_name in COMMANDS:
        if command_name and option_name in load_command(command_name).option_by_spelling:
            names.append(command_name)
    return names


def _spelling_to_compare(name: str) -> str:
    """Return the name of an option in a form for comparing spellings: `--query_base` -> `query-base`."""
    return name.lstrip("-").replace("_", "-")


class ReferenceCommand(Command):
    """A command under the contract of the reference programs.

    Options come before files, wrong usage prints the usage on standard output, and every failure has the status 255.
    """

    failure_status = Status.REFERENCE_FAILURE
    wrong_usage_status = Status.REFERENCE_FAILURE
    follows_reference = True


def command(
    name: str,
    options: Iterable[Option],
    *parameters: Parameter,
    command_class: type[Command] = Command,
    **properties: Any,
) -> Callable[[Body], Callable[[str], Command]]:
    """Return a decorator, to be used as `@command("version", ())`, which turns a function into a maker of a command.

    The decorated function does the work of the command and receives the command line. The decorator replaces it with a
    function that makes the command and is called only by `load_command`. In this way, a command is made only when it is
    needed. `command_class` is the class of the command, and `properties` are the fields of its record of properties.
    """

    def decorate(body: Body) -> Callable[[str], Command]:
        """Return a function that makes the command; the command calls `body` to do its work."""

        def make_command(task: str) -> Command:
            """Return the command. The task does not matter, because only the commands of verbs differ between tasks."""
            return command_class(name, options, *parameters, body=body, properties=CommandProperties(**properties))

        return make_command

    return decorate


# ---- The tree of commands


_OWN_COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "": CommandEntry(SCORE, "Score one or more TAC Cold Start runs", "cli.bare", followed_version=FOLLOWED_VERSION),
    "score": CommandEntry(SCORE, "Score runs or predictions", "cli.score", is_split_by_task=True),
    "problems": CommandEntry(ABOUT, "Explain problem codes: what is wrong, an example, what to do", "cli.about"),
    "schema": CommandEntry(ABOUT, "Print the JSON Schema of what cs-score writes", "cli.about"),
    "help": CommandEntry(ABOUT, "Show this page, or the help of a command", "cli.about"),
    "version": CommandEntry(ABOUT, "Show the version", "cli.about"),
    "man": CommandEntry(ABOUT, "Print the manual page", "cli.about"),
    "completion": CommandEntry(ABOUT, "Print the script that completes commands and options in a shell", "cli.about"),
}
"""The commands without a folder of their own below `verbs`, by name; the name of the Cold Start scorer is empty."""


def _list_commands() -> dict[str, CommandEntry]:
    """Return the entries of all commands by name, in the order of help; the commands of the scorer come first."""
    scorers = {name: entry for name, entry in _OWN_COMMANDS.items() if entry.group == SCORE}
    commands_about_program = {name: entry for name, entry in _OWN_COMMANDS.items() if entry.group == ABOUT}
    return scorers | _commands_in_own_folders() | commands_about_program


def _commands_in_own_folders() -> dict[str, CommandEntry]:
    """Return the entries of the commands with a folder of their own below `verbs`, by name, in the order of help."""
    entry_by_name: dict[str, CommandEntry] = {}
    for slice_ in SLICES:
        entry_by_name.update(slice_.commands)
    return {name: entry_by_name[name] for name in _names_in_order(entry_by_name)}


def _names_in_order(entry_by_name: Mapping[str, CommandEntry]) -> list[str]:
    """Return the names of commands in the order of help.

    This is the order of the entries, unless an entry names another command after which it is listed (`listed_after`).
    If that other command is not installed, the entry comes last.
    """
    names = [name for name, entry in entry_by_name.items() if not entry.listed_after]
    for name, entry in entry_by_name.items():
        if not entry.listed_after:
            continue
        position = len(names)
        if entry.listed_after in names:
            position = names.index(entry.listed_after) + 1
        names.insert(position, name)
    return names


COMMANDS: Final[Mapping[str, CommandEntry]] = _list_commands()
"""Every command by its name; the name of the Cold Start scorer is empty."""

SECOND_WORDS_BY_FIRST: Final[Mapping[str, Sequence[str]]] = {"bundle": ("codabench", "evalai")}
"""The commands with names of two words, such as `bundle evalai`; the first word alone is no command."""


def help_width() -> int:
    """Return the width of a help in columns: the width of the terminal, at most 100."""
    if sys.stdout is None or not sys.stdout.isatty():
        return WIDEST_HELP
    return min(shutil.get_terminal_size().columns, WIDEST_HELP)


def version_text() -> str:
    """Return lines with the versions of cs-score and of the reference programs that its commands follow."""
    width = max(len(name) for name in COMMANDS)
    lines = [f"cs-score {VERSION} (follows the Cold Start reference scorer {FOLLOWED_VERSION})\n"]
    for name, entry in COMMANDS.items():
        if name and entry.followed_version:  # the scorer itself, called without a command, has an empty name
            lines.append(f"  {name:<{width}}  follows {entry.followed_version}\n")
    return "".join(lines)


def load_command(name: str, task: str = COLD_START) -> Command:
    """Return the command of a name and a task, and import its module if that has not happened yet.

    Raises UsageError if a part of the package that the command needs is not installed.
    """
    return _load_for_task(name, task if COMMANDS[name].is_split_by_task else "")


@functools.cache
def _load_for_task(name: str, task: str) -> Command:
    """Return the command of a name and a task. `task` is empty if all tasks share the command.

    The module of the command is imported, and its function of the same name makes the command.
    """
    function_name = re.sub("[- ]", "_", name or "bare")  # the call without a command has no name
    make_command = load_value(f"cs_score.{COMMANDS[name].module}:{function_name}", needed_by=name)
    command: Command = make_command(task)
    return command
