"""Commands on click, under two contracts: ours, and that of the reference programs.

click has the tables: options, help, completion. What is typed is read here: the reference wants exact names, values as
the next word, options before all files, and answers at the moment a word is met.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import os
import re
import shutil
import sys
import textwrap
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

import click
import msgspec
from click.shell_completion import CompletionItem

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, UsageError, nearest
from cs_score.base.outputs import (
    Existing,
    OutputPlan,
    PlannedOutput,
    ending_of,
    is_stream,
    outputs_together,
    write_packed,
)
from cs_score.base.version import VERSION
from cs_score.cli.output import captured, quietly, warn, with_clock, write_text
from cs_score.tasks import COLD_START, OWN_TASKS, TASKS

WIDEST: Final = 100
"""Columns of a help that goes to no terminal."""

FOLLOWED: Final = "2017.2.0"
"""The version of the reference programs that is followed."""


class Status(IntEnum):
    """How a command ends."""

    DONE = 0
    FAILED = 1
    WRONG_USAGE = 2
    NOT_KEPT = 3
    """`verify` differs, or `check` fails."""
    INTERRUPTED = 130
    TERMINATED = 143
    REFERENCE = 255
    """Failure and wrong usage of the call without a command, and of the companions."""


class Finished(int):
    """An exit status that keeps what was computed: a process that ends with it need not free millions of rows."""

    _kept: object

    def __new__(cls, status: int, kept: object) -> Finished:
        finished = super().__new__(cls, status)
        finished._kept = kept
        return finished


Section: TypeAlias = tuple[str, Sequence[tuple[str, str]] | str]
"""A title of a help, and names with what they mean, or a paragraph."""

Choices: TypeAlias = Sequence[str] | Callable[[str], Iterable[str]]
"""What completion offers; a function of the task where that is another in each, or has to be imported first."""


class Misuse(UsageError):
    """Wrong usage, with the text that the reference prints for it before its usage text."""

    def __init__(self, advice: str, printed: str) -> None:
        super().__init__(advice)
        self.printed = one_line(printed)


class Option(click.Option):
    """One option as it is `spelt`, with its value if it takes one, `...` where it may be repeated; and its help.

    A value in brackets, `[FILE.json]`, may be left out and is `-` then; it is taken from the next word only where that
    is `-` or ends in the same way, so that no input is taken by mistake. `shown` is the default that help shows, `also`
    are further spellings, `choices` is what completion offers, with colons or commas between them where the value is a
    list, and `page` makes the text that is printed at once where the option is met.
    """

    def __init__(
        self, spelt: str, help: str, shown: str | None = None, choices: Choices = (), *, also: Sequence[str] = (),
        page: Callable[[Command, Sequence[str]], str] | None = None,
    ) -> None:  # fmt: skip
        many = spelt.endswith("...")
        name, _, value = spelt.removesuffix("...").partition(" ")
        self.long, self.value, self.shown, self.page = name, value or None, shown, page
        separator = ":" if value == "LIST" else "," if "," in value else "\0"

        def offer(ctx: click.Context, param: click.Parameter, current: str) -> list[CompletionItem]:
            return offered(choices, ctx, current, current[: current.rfind(separator) + 1])

        takes = {"is_flag": True} if not value else {"metavar": value, "multiple": many, "shell_complete": offer}
        super().__init__([name.lstrip("-").replace("-", "_"), name, *also], help=help, **takes)

    @property
    def is_addition(self) -> bool:
        """Whether the reference programs lack it."""
        return self.long.startswith("--")

    def spelled_twice(self) -> Option:
        """The same option for a command of our own, which takes the reference's switches with two dashes as well."""
        if self.is_addition:
            return self
        twice = copy.copy(self)
        twice.opts = [*self.opts, f"-{self.long.replace('_', '-')}"]
        return twice

    def get_help_record(self, ctx: click.Context | None = None) -> tuple[str, str]:
        """Its names with its value, and its meaning with its default."""
        names = ", ".join(sorted({self.long, *(name for name in self.opts if len(name) == 2)}, key=len))
        value = "" if self.value is None else f" {self.value}"
        default = "" if self.shown is None else f" [default: {self.shown}]"
        return f"{names}{value}", f"{self.help}{default}"


class Parameter(click.Argument):
    """A word that is no option, as usage has it: `[NAME...]` may be left out and repeated, `output...` is written."""

    def __init__(self, spelt: str, help: str, choices: Choices = ()) -> None:
        self.shown, self.meaning = spelt.strip("[.]"), help
        self.is_output = self.shown.startswith("output")
        super().__init__(
            [self.shown.lower()], required="[" not in spelt, nargs=-1 if "..." in spelt else 1,
            shell_complete=lambda ctx, param, current: offered(choices, ctx, current),
        )  # fmt: skip


def offered(choices: Choices, ctx: click.Context, current: str, kept: str = "") -> list[CompletionItem]:
    """What may complete a word, behind what is `kept` of it; files where there is nothing to choose."""
    if callable(choices):
        choices = tuple(choices(ctx.command.place[1])) if isinstance(ctx.command, Command) else ()
    if not choices:
        return [CompletionItem(current, type="file")]
    return [CompletionItem(f"{kept}{each}") for each in choices if each.startswith(current[len(kept) :])]


OUTPUTS: Final = frozenset(("--output", "--problems", "--per-item", "--per-unit", "--write-lock"))
"""Options of our own commands that name files to write."""


class Line:
    """What was typed: the options given with their last values (None for those that take none), and the other words.

    `typed` are all words as they came, `page` is the text that one of them asks for. `format` is that of the result;
    with `file` it is not printed but goes there, with `folder` the command writes its files there.
    """

    def __init__(self, typed: Sequence[str], defaults: Mapping[str, str | None] = MappingProxyType({})) -> None:
        self.typed, self.words, self.page = tuple(typed), tuple[str, ...](), ""
        self._defaults = defaults
        self.switches: dict[str, str | None] = {}
        self._values: dict[str, list[str]] = {}
        self.format = "text"
        self.file: PlannedOutput | None = None
        self.folder: str | None = None

    def __contains__(self, name: str) -> bool:
        return name in self.switches

    def give(self, option: Option, value: str | None) -> None:
        """Keep an option with its value; of several values of an option the last one counts."""
        self.switches[option.long] = value
        self._values.setdefault(option.long, []).extend(() if value is None else (value,))

    def get(self, name: str) -> str | None:
        """Value of an option; None where it was not given."""
        return self.switches.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """Value of an option, or the default; without one that which help shows."""
        if (value := self.switches.get(name)) is not None:
            return value
        return default if default is not None else self._defaults[name] or ""

    def texts(self, name: str) -> list[str]:
        """All values of an option that may be repeated."""
        return self._values.get(name, [])

    def first(self, names: str) -> str | None:
        """The first of these options that was given."""
        return next((name for name in names.split() if name in self), None)

    def but(self, given: Mapping[str, str | None] = MappingProxyType({}), without: Iterable[str] = ()) -> Line:
        """The command line with other options `given`, and without some."""
        other, gone = copy.copy(self), set(without)
        other.switches = {name: value for name, value in {**self.switches, **given}.items() if name not in gone}
        return other

    def inputs(self) -> list[str]:
        """Everything given that may be a file to read."""
        values = (value for name, values in self._values.items() if name not in OUTPUTS for value in values)
        named = [*self.words, *values]
        return named + [entry.path for word in named if os.path.isdir(word) for entry in os.scandir(word)]

    def plan(
        self, outputs: Iterable[PlannedOutput], inputs: Sequence[str] | None = None, folder: str | None = None
    ) -> OutputPlan:
        """What is read and written, checked. Raises UsageError or OutputError; touches no file."""
        read = self.inputs() if inputs is None else inputs
        plan = OutputPlan(read, [*outputs], "--force" in self, folder)
        plan.check()
        return plan


QUIET: Final = Option("--quiet", "Print only fatal errors on standard error")
FORCE: Final = Option("--force", "Overwrite existing files, also those that cs-score did not write")
_JSON: Final = Option("--json", "As --format json, but nothing on standard output where it fails")
_OUTPUT: Final = Option(
    "--output PATH", "Write there instead of printing; a folder where there are several tables or runs", also=["-o"]
)

_FORMAT_OF: Final = {
    ".json": "json", ".tsv": "tsv", ".md": "markdown", ".tex": "latex", ".html": "html", ".txt": "text",
    ".xml": "junit", ".svg": "svg",
}  # fmt: skip
_MADE_OF_SVG: Final = ("pdf", "png")
"""Formats of images that other programs make of SVG."""

_PAGE_OF: Final = {
    "score": "report",
    "analyze": "report",
    "explain": "report",
    "diff": "report --compare",
    "batch": "batch --html",
}
"""The command that makes the page of what a verb prints; `compare` makes its own."""

_BEGINNINGS: Final = {
    # Scores of evidence tasks begin with the numbers, as their specifications want them.
    "json": rb'\{(\s*"(schema_version|kind)":|(\s*"[\w-]+":\s*(\{|[-+.\de]+)|[\s},])+"(intervals|signature)":\s*\{)',
    "html": rb'<!DOCTYPE html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">\s*<meta name="generator" content',
    "svg": rb'<svg xmlns="http://www.w3.org/2000/svg" [^>]*class="chart"',
}
"""How files of -o begin, by their format; those of other formats do not say who wrote them: only force replaces them.
"""


def failure_text(format_: str, message: str) -> str:
    """Why nothing was done, for programs that read JSON; other formats have no place for it but standard error."""
    if format_ != "json":
        return ""
    error = {"kind": "error", "error": one_line(message)}
    return f"{msgspec.json.format(msgspec.json.encode(error), indent=1).decode()}\n"


@contextlib.contextmanager
def _remarks_before_errors() -> Iterator[None]:
    """Print the remarks that an error bears before it goes on."""
    try:
        yield
    except CsScoreError as error:
        warn(*error.remarks)
        raise


class Command(click.Command):
    """A command of our own: options anywhere, status 2 for wrong usage.

    `body` does the work and returns the exit status; `sections` are further parts of the help; `example` are the words
    of a call that runs on the samples. `formats` are those of the result, the usual one first; `folder` is the one that
    -o writes into a folder, `files` where it is none of them; with `needs_output` -o must be given. `failure` makes the
    text of an error in one of the formats, empty where it has no place for it.
    """

    failed = Status.FAILED
    wrong_usage = Status.WRONG_USAGE
    options_first = False

    def __init__(
        self, name: str, options: Iterable[Option], *parameters: Parameter, body: Callable[[Line], int | str],
        sections: Iterable[Section] = (), example: str = "", summary: str = "", formats: Sequence[str] = (),
        folder: str = "", needs_output: bool = False, failure: Callable[[str, str], str] = failure_text,
    ) -> None:  # fmt: skip
        self.body, self.sections, self.example = body, tuple(sections), example
        self.formats, self.folder, self.needs_output, self.failure = tuple(formats), folder, needs_output, failure
        self.parameters, self.entry = parameters, COMMANDS.get(name)
        own = [*options]
        if formats:
            usual = "by the ending of -o" if needs_output else f"by the ending of -o, else {formats[0]}"
            own.append(Option("--format NAME", f"Format of the result: {', '.join(formats)}", usual, self.formats))
            own += [_JSON, _OUTPUT] if "json" in formats else [_OUTPUT]
        own += [QUIET, *self._pages()]
        self.options = own if self.options_first else [option.spelled_twice() for option in own]
        self.spellings = {spelling: option for option in self.options for spelling in option.opts}
        meaning = summary or (self.entry.summary if self.entry else "")
        super().__init__(name, params=[*self.options, *parameters], add_help_option=False, help=meaning)

    def _pages(self) -> Iterator[Option]:
        """The options that are answered with a text at once."""
        names = ("-help", ["-h", "--help"]) if self.options_first else ("--help", ["-h", "-help"])
        yield Option(names[0], "Show this text", also=names[1], page=_help_asked)
        yield Option("--version", "Show the version of cs-score", page=lambda *_: version_text())
        if self.entry is not None and self.entry.follows:
            yield Option("-version", "Show the version that is followed", page=_followed)

    @property
    def called(self) -> str:
        return f"cs-score {self.name}".rstrip()

    @property
    def place(self) -> tuple[str, str]:
        """The command and the task that it is for, as the table has them."""
        verb, _, task = (self.name or "").partition(" ")
        if verb in FAMILIES:
            member, _, task = task.partition(" ")
            return f"{verb} {member}", task or COLD_START
        return ("score", verb) if verb in TASKS else (verb, task or COLD_START)

    def run(self, typed: Sequence[str]) -> int:
        """Do what the words ask for; the exit status. Raises CsScoreError, said in the format asked for, too."""
        try:
            line = self.read(typed)
            if line.page:
                write_text("stdout", line.page)
                return Status.DONE
            shows_runs = self.place[0] == "batch"
            clock = contextlib.nullcontext() if shows_runs else with_clock(self.called)
            with quietly("--quiet" in line), clock, _remarks_before_errors():
                return self._delivered(line)
        except CsScoreError as error:
            wanted = [after for word, after in pairwise([*typed, ""]) if word == "--format"]
            wanted += [word.partition("=")[2] for word in typed if word.startswith("--format=")]
            if wanted and wanted[-1] in self.formats and (text := self.failure(wanted[-1], str(error))):
                write_text("stdout", text)
            raise

    # ---- Reading what was typed

    def read(self, typed: Sequence[str]) -> Line:
        """What these words say, without doing it. Raises UsageError."""
        line = Line(typed, {option.long: option.shown for option in self.options})
        words, rest = list[str](), deque(typed)
        lacking: Option | None = None
        while rest:
            word = rest.popleft()
            if word == "--" and not self.options_first:
                words += rest
                break
            if not word.startswith("-") or (word == "-" and (words or not self.options_first)):
                words.append(word)
                continue
            if self.options_first and words:
                raise self._misplaced(word, len(words) + len(rest) + 1)
            name, equals, value = word.partition("=")
            option = self.spellings.get(name)
            if option is None or (equals and self.options_first and not option.is_addition):
                raise self._unknown(word, name, typed)
            if option.page is not None:
                line.page = option.page(self, typed)
                return line
            if option.value is None and equals:
                raise Misuse(f"{option.long} takes no value", f"ERROR: Unknown switch: {word}")
            if option.value is None or equals:
                line.give(option, value if equals else None)
            elif option.value.startswith("["):
                line.give(option, self._file_of(option, rest))
            elif rest and (self.options_first or rest[0].partition("=")[0] not in self.spellings):
                line.give(option, rest.popleft())
            else:
                lacking = lacking or option
        if lacking is not None:
            missing = next((p.shown for p in self.parameters if p.required), "") if self.options_first else ""
            raise Misuse(
                f"{lacking.long} needs a value: {lacking.value}",
                f"ERROR: Not enough arguments; {missing} must be provided",
            )
        if not self.options_first:
            self._refuse_repetitions(line)
        line.words = tuple(words)
        line.switches = {each.long: line.switches[each.long] for each in self.options if each.long in line.switches}
        self._check_words(line)
        return line

    def _file_of(self, option: Option, rest: deque[str]) -> str:
        """The file of an option that can do without. Raises UsageError for a word that is none and no option."""
        if rest and (rest[0] == "-" or ending_of(rest[0]) == ending_of(str(option.value)[1:-1]) or is_stream(rest[0])):
            return rest.popleft()
        if rest and not rest[0].startswith("-"):
            raise UsageError(
                f"{option.long} takes a file; did you mean {option.long} result.json? {rest[0]} does not end in .json "
                "(perhaps compressed)"
            )
        return "-"

    def _refuse_repetitions(self, line: Line) -> None:
        """Raise UsageError where an option that takes one value has several."""
        for option in self.options:
            values = line.texts(option.long)
            if len(values) < 2 or option.multiple:
                continue
            problem = f"{option.long} is given {len(values)} times ({', '.join(values)}) and takes one value"
            raise UsageError(f"{problem}; {self._remedy_for_repetition(option, line)}")

    def _remedy_for_repetition(self, option: Option, line: Line) -> str:
        """Return what to write instead of an option with several values."""
        task = self.place[1]
        if option.long == "--predictions":
            files = f"--gold {line.text('--gold', 'GOLD')} {' '.join(line.texts('--predictions'))}"
            return (
                f"several systems are compared by cs-score compare {task} {files} and listed by cs-score batch {task}"
            )
        if option.long == "--gold":
            return (
                f"there is one gold file a call; several systems are compared by cs-score compare {task} --gold GOLD "
                f"A B and listed by cs-score batch {task}"
            )
        if option.long == "--policy" and "--also-policy" in self.spellings:
            return "--also-policy adds another policy"
        return "give it once"

    def _check_words(self, line: Line) -> None:
        """Raises UsageError where an option or a word is missing, or there is one too many."""
        if self.needs_output and "--output" not in line:
            raise UsageError(f"-o PATH must be given, such as: {self.called} {self.example}")
        for parameter in self.parameters[len(line.words) :]:
            if parameter.required:
                missing = f"Not enough arguments; {parameter.shown} must be provided"
                raise Misuse(missing, f"ERROR: {missing}")
        most = self._most_words()
        if len(line.words) > most:
            advice = f"too many words: {' '.join(line.words[most:])}" if most else f"unexpected word {line.words[0]}"
            raise Misuse(advice, "ERROR: Too many arguments")

    def _most_words(self) -> int:
        return sys.maxsize if any(parameter.nargs < 0 for parameter in self.parameters) else len(self.parameters)

    def _misplaced(self, word: str, count: int) -> UsageError:
        """An option behind the first file, which the reference takes for a file and counts among the words."""
        advice = (
            f"Could not open {word}: No such file or directory; options come before the files (a file that is called "
            f"like this is written ./{word})"
        )
        return UsageError(advice) if count <= self._most_words() else Misuse(advice, "ERROR: Too many arguments")

    def _unknown(self, word: str, name: str, typed: Sequence[str]) -> UsageError:
        printed = f"ERROR: Unknown switch: {word}"
        for option in self.options:
            if _plain(option.long) == _plain(name):  # the reference knows no other spelling
                value = word.partition("=")[2] or option.value or ""
                return Misuse(f"unknown switch {word}; write {f'{option.long} {value}'.rstrip()}", printed)
        elsewhere = "" if self.options_first else _option_elsewhere(self, name, typed)
        return Misuse(elsewhere or f"unknown switch {name}{nearest(name, self.spellings)}", printed)

    # ---- Where the result goes

    def _delivered(self, line: Line) -> int:
        """Do it with the result in the format and at the place that --format and -o say. Raises UsageError."""
        if self.formats:
            self._choose(line)
        if line.file is None:
            with outputs_together():
                return self._done(line)
        plan = line.plan([line.file])
        try:
            with outputs_together():
                with captured() as blocks:
                    status = self._done(line)
                write_packed(line.file.path, blocks)
        except (CsScoreError, KeyboardInterrupt) as error:
            if not isinstance(error, UsageError):
                plan.clear()
            raise
        return status

    def _done(self, line: Line) -> int:
        found = self.body(line)
        if isinstance(found, int):
            return found
        write_text("stdout", found)
        return Status.DONE

    def _choose(self, line: Line) -> None:
        """The format of the result, and the file or the folder for it. Raises UsageError."""
        path = None if line.get("--output") == "-" else line.get("--output")
        always_folder = bool(self.folder) and self.needs_output
        of_ending = None if path is None or always_folder else _FORMAT_OF.get(ending_of(path))
        usual = self.folder if path is not None and self.folder and not always_folder else self.formats[0]
        line.format = line.get("--format") or ("json" if "--json" in line else None) or of_ending or usual
        if line.format not in {*self.formats, usual}:
            self._refuse_images(line.format, path)
            self._refuse_pages(line.format, path)
            raise UsageError(
                f"--format takes {', '.join(self.formats)}, not {line.format}{nearest(line.format, self.formats)}"
            )
        if path is not None and "--format" not in line:
            self._refuse_images(ending_of(path).removeprefix("."), path)
        if path is not None and (always_folder or line.format == self.folder):
            if not always_folder and re.fullmatch(r"\.[a-z]{2,5}", end := ending_of(path)) and not os.path.isdir(path):
                known = ", ".join(each for each, format_ in _FORMAT_OF.items() if format_ in self.formats)
                raise UsageError(f"-o {path}: no format ends in {end}, but {known}; for a folder write {path}{os.sep}")
            line.folder, line.format = path, line.format if line.format in self.formats else self.formats[0]
        elif path is not None:
            line.file = PlannedOutput("-o", path, Existing.RECOGNISED, _BEGINNINGS.get(line.format))

    def _refuse_pages(self, format_: str, path: str | None) -> None:
        """Raise UsageError for a page of what another command makes pages of."""
        verb, task = self.place
        if format_ != "html" or verb not in _PAGE_OF:
            return
        words = " ".join(["cs-score", _PAGE_OF[verb], *([] if task == COLD_START else [task])])
        raise UsageError(f"{verb} prints no page; {words} does: write {words} ... -o {path or 'page.html'}")

    def _refuse_images(self, format_: str, path: str | None) -> None:
        """Raise UsageError for a format that other programs make of the charts of this command."""
        if format_ not in _MADE_OF_SVG or "svg" not in self.formats:
            return
        stem = "chart" if path is None else os.path.splitext(path)[0]
        raise UsageError(
            f"charts are SVG, not {format_.upper()}: write -o {stem}.svg, then open it in a browser and print it, or "
            f"call inkscape {stem}.svg -o {stem}.{format_}"
        )

    # ---- Help

    def help_text(self) -> str:
        """What it is, how it is called, an example, and everything that it takes."""
        formatter = click.HelpFormatter(width=help_width())
        formatter.write_text(f"{self.called}:  {self.help}" if self.options_first else f"{self.help}.")
        formatter.write_paragraph()
        formatter.write_usage(self.called, self.usage)
        if self.example:
            formatter.write_paragraph()
            text = f"Example: {self.called} {self.example}"
            formatter.write(f"{textwrap.fill(text, formatter.width, subsequent_indent='  ', break_on_hyphens=False)}\n")
        for title, content in self.all_sections():
            with formatter.section(title):
                if isinstance(content, str):
                    formatter.write_text(content)
                else:
                    formatter.write_dl(list(content), col_max=min(26, formatter.width // 3))
        return formatter.getvalue()

    @property
    def usage(self) -> str:
        """The words of a call, by their names."""
        words = ["{-switch {-switch ...}}" if self.options_first else "[OPTIONS]"]
        words += ["-o PATH"] if self.needs_output else []
        for parameter in self.parameters:
            shown = parameter.shown.upper() + ("..." if parameter.nargs < 0 else "")
            words.append(shown if parameter.required else f"[{shown}]")
        return " ".join(words)

    def all_sections(self) -> Iterator[Section]:
        """Options, words and what else is to be said."""
        theirs = sorted(option.get_help_record() for option in self.options if not option.is_addition)
        if theirs:
            yield "Switches", theirs
        ours = [option.get_help_record() for option in self.options if option.is_addition]
        yield "Additions" if theirs and self.options_first else "Options", ours
        if self.parameters:
            yield "Arguments", [(parameter.shown, parameter.meaning) for parameter in self.parameters]
        yield from self.sections


def _help_asked(command: Command, typed: Sequence[str]) -> str:
    """The help of a command, of the task that is named behind the option where one is."""
    verb, _ = command.place
    named = next((word for word in typed if word in TASKS), None)
    return (load(verb, named) if named and verb and COMMANDS[verb].by_task else command).help_text()


def _followed(command: Command, typed: Sequence[str]) -> str:
    chosen = [after for word, after in pairwise(typed) if word == "--follow"]
    return f"{command.called} version {chosen[-1] if chosen else command.entry and command.entry.follows}\n"


OTHER_NAMES: Final = {
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
"""What official evaluators and others call options, and what these are called here."""

WITHOUT_NEED: Final = ("--verbose", "-v")
"""Options of official evaluators that ask for all measures, which are always shown here."""

FILE_OPTIONS: Final = ("--pool", "--assessments", "--qrels", "--submission", "--runs", "--file", "--input")
"""Options by which files are named elsewhere; here they are words."""

VERB_OF: Final = {"--explain": "explain", "--analyze": "analyze", "--compare": "compare", "--diff": "diff"}
"""What is a verb, where somebody writes an option."""


def _line_in_our_words(command: Command, typed: Sequence[str]) -> str:
    """Return a command line with the options of official evaluators replaced by ours."""
    words = [command.called]
    for word in typed:
        name, equals, value = word.partition("=")
        if name in WITHOUT_NEED:
            continue
        words.append(f"{OTHER_NAMES.get(name, name)}{equals}{value}")
    if "--output" in words and "--format" not in words and "--json" not in words:
        words += ["--format", "json"]
    return " ".join(words)


def _option_elsewhere(command: Command, name: str, typed: Sequence[str]) -> str:
    """What is said of an option that other tasks or commands have, or that evaluators spell otherwise; empty else."""
    own = {option.long for option in command.options}
    meant = OTHER_NAMES.get(name)
    if meant == "--measure" and meant in own:
        return f"{name} is called {meant} here"
    if meant in own and "--gold" in own:
        return f"{name} is called {meant} here; write {_line_in_our_words(command, typed)}"
    if name in WITHOUT_NEED and "--gold" in own:
        return f"{name} is not needed, all measures are shown; write {_line_in_our_words(command, typed)}"
    verb, task = command.place
    if verb and COMMANDS[verb].by_task:
        if name in FILE_OPTIONS and task == COLD_START:
            return f"{name}: files have no options; write {command.called} -expand BASE QUERIES.xml POOL RUN"
        if name in VERB_OF and name not in own:
            task = "" if task == COLD_START else f" {task}"
            return f"{name} is no option but a command: cs-score {VERB_OF[name]}{task} ..."
        tasks = [other for other in OWN_TASKS if other != task and name in load(verb, other).spellings]
        if tasks:
            of = "evidence tasks" if "coldstart" not in tasks and task == "coldstart" else ", ".join(tasks)
            return f"{name} is an option of {of}: cs-score {verb} {tasks[0]} {name} ..."
    if name in command.spellings or nearest(name, command.spellings):
        return ""
    everywhere = {each for other in COMMANDS if other for each in load(other).spellings}
    near = re.search(r"--?[\w-]+", nearest(name, everywhere))
    for meant in (name, *([near.group()] if near else [])):
        others = [each for each in COMMANDS if each and each != verb and meant in load(each).spellings][:3]
        if others:
            shown = "" if meant == name else f"{meant} "
            return f"{name} is no option of {command.called}, but {shown}of {', '.join(others)}"
    return ""


def _plain(name: str) -> str:
    return name.lstrip("-").replace("_", "-")


class Reference(Command):
    """A command under the reference's contract: options before files, usage on standard output, status 255."""

    failed = Status.REFERENCE
    wrong_usage = Status.REFERENCE
    options_first = True


Body: TypeAlias = Callable[[Line], int | str]
"""Does the work of a command; gives the exit status, or the text to be printed."""


def command(
    name: str, options: Iterable[Option], *words: Parameter, contract: type[Command] = Command, **more: Any
) -> Callable[[Body], Callable[[str], Command]]:
    """Make a command, when it is asked for, of the function that does its work."""
    return lambda body: lambda _: contract(name, options, *words, body=body, **more)


# ---- The tree of commands


class Entry(NamedTuple):
    """A command in the table: what help lists it under and says of it, the module with the function of its name (which
    makes one `by_task`), and the version of the reference program whose place it takes."""

    group: str
    summary: str
    module: str
    by_task: bool = False
    follows: str | None = None


SCORE, _WHY, _SEVERAL = "Score", "Why a score is what it is", "Many runs or systems"
BEFORE, ABOUT = "Before the Cold Start scorer", "About cs-score"


def _before(summary: str, module: str = "companions", follows: str = FOLLOWED) -> Entry:
    return Entry(BEFORE, summary, module, follows=follows)


COMMANDS: Final[Mapping[str, Entry]] = {
    "": Entry(SCORE, "Score one or more TAC Cold Start runs", "scoring", follows=FOLLOWED),
    "score": Entry(SCORE, "Score runs or predictions", "scoring", by_task=True),
    "analyze": Entry(_WHY, "What each mistake costs, an error budget", "verbs", by_task=True),
    "explain": Entry(_WHY, "How a line, node, query or claim was scored", "verbs", by_task=True),
    "diff": Entry(_WHY, "Why one run or system scores higher than another", "verbs", by_task=True),
    "report": Entry(_WHY, "An HTML page of an analysis or a difference", "verbs", by_task=True),
    "plot": Entry(_WHY, "One chart of an analysis, as SVG", "verbs"),
    "batch": Entry(_SEVERAL, "Score many runs against one pool, on one machine or several", "batch", by_task=True),
    "compare": Entry(_SEVERAL, "Compare systems: intervals, paired tests, ranks, tiers", "many", by_task=True),
    "compare table": Entry(_SEVERAL, "Compare the columns of any table of units by systems", "many"),
    "power": Entry(_SEVERAL, "What difference a test set detects, how many units one needs", "many", by_task=True),
    "pool-bias": Entry(_SEVERAL, "How runs score without what only they brought into the pool", "many"),
    "bundle codabench": Entry(
        _SEVERAL, "Pack a scorer with gold for a competition on Codabench", "bundling", by_task=True
    ),
    "bundle evalai": Entry(_SEVERAL, "Pack a scorer with gold for a challenge on EvalAI", "bundling", by_task=True),
    "check": Entry(_SEVERAL, "Check scores against limits and a baseline", "many", by_task=True),
    "verify": Entry(_SEVERAL, "Score a recorded result again, and say whether it is reproduced", "many"),
    "validate-run": _before("Validate a run, and write it for the scorer"),
    "validate-queries": _before("Validate queries, and split them by entry point"),
    "expand-queries": _before("Superseded by validate-queries -expand"),
    "generate-queries": _before("Make the queries of the first round, or those of the second from a run"),
    "package-output": _before("Put the answers to both rounds into one run"),
    "validate-assessments": _before("Validate assessments, and sort them by language"),
    "validate-kb": _before(
        "Validate a knowledge base, and write it in the formats of the evaluations", "knowledge_base"
    ),
    "resolve-queries": _before("Ask queries of a validated knowledge base; the answers become a run", "knowledge_base"),
    "apply-k": _before("Keep at most K documents for each node of a run, without checking anything"),
    "samples": _before("Write bootstrap resamples of LDC queries, for the switch -samples", follows="1.1"),
    "problems": Entry(ABOUT, "Explain problem codes: what is wrong, an example, what to do", "about"),
    "schema": Entry(ABOUT, "Print the JSON Schema of what cs-score writes", "about"),
    "help": Entry(ABOUT, "Show this page, or the help of a command", "about"),
    "version": Entry(ABOUT, "Show the version", "about"),
    "man": Entry(ABOUT, "Print the manual page", "about"),
    "completion": Entry(ABOUT, "Print the script that completes commands and options in a shell", "about"),
}
"""Every command by name; that of the Cold Start scorer is empty."""

FAMILIES: Final[Mapping[str, Sequence[str]]] = {"bundle": ("codabench", "evalai")}
"""First words of commands of two words that are no commands themselves, with the second words."""


def help_width() -> int:
    """Columns of a help."""
    if sys.stdout is None or not sys.stdout.isatty():
        return WIDEST
    return min(shutil.get_terminal_size().columns, WIDEST)


def version_text() -> str:
    """Our version, and those of the programs that commands follow."""
    width = max(map(len, COMMANDS))
    follow = (
        f"  {name:<{width}}  follows {each.follows}\n" for name, each in COMMANDS.items() if name and each.follows
    )
    return f"cs-score {VERSION} (follows the Cold Start reference scorer {FOLLOWED})\n{''.join(follow)}"


def load(name: str, task: str = COLD_START) -> Command:
    """Return a command; imports its module. Raises UsageError where a part of the package that it needs is missing."""
    return _loaded(name, task if COMMANDS[name].by_task else "")


@functools.cache
def _loaded(name: str, task: str) -> Command:
    try:
        module = importlib.import_module(f"cs_score.cli.{COMMANDS[name].module}")
    except ModuleNotFoundError as error:
        part = error.name or ""
        if not part.startswith("cs_score."):
            raise
        raise UsageError(f"{name} needs {part}, which this installation lacks; install cs-score as a whole") from None
    make = getattr(module, re.sub("[- ]", "_", name or "bare"))
    command: Command = make(task or name)
    return command
