"""Commands on click, under two contracts: ours, and that of the reference programs.

click has the tables: options, help, completion, the tree of commands. What is typed is brought into the one spelling
that its parser takes: the reference's contract is exact names, values as the next word, options before all files, and
answers given at the moment a word is met.
"""

from __future__ import annotations

import copy
import functools
import importlib
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Any, Final, TypeAlias

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, UsageError
from cs_score.base.nearest import nearest
from cs_score.base.outputs import write_packed
from cs_score.base.planned_outputs import Existing, Format, OutputPlan, PlannedOutput, ending_of, is_stream
from cs_score.cli.output import captured, quietly, write_text

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
    """An exit status that keeps what was computed in memory as long as it is kept itself.

    A process that ends while it has the status saves the time to free millions of rows one by one.
    """

    def __new__(cls, status: int, kept: object) -> Finished:
        finished = super().__new__(cls, status)
        finished._kept = kept
        return finished

    _kept: object


Section: TypeAlias = tuple[str, Sequence[tuple[str, str]] | str]
"""A title of a help, and names with what they mean, or a paragraph."""

Choices: TypeAlias = tuple[str, ...] | Callable[[], Iterable[str]]
"""What completion offers; a function where that has to be imported first."""


class Misuse(UsageError):
    """Wrong usage, with the text that the reference prints for it before its usage text."""

    def __init__(self, advice: str, printed: str) -> None:
        super().__init__(advice)
        self.printed = one_line(printed)


class Option(click.Option):
    """One option: its name with its dash or dashes, the name of its value (None: it takes none), and its help.

    A value in brackets, `[FILE.json]`, may be left out and is `-` then; it is taken from the next word only where that
    is `-` or ends in the same way, so that no input is taken by mistake. `shown` is the default that help shows, `many`
    keeps all values, `choices` is what completion offers, with colons or commas between them where the value is a list.
    """

    def __init__(
        self, name: str, value: str | None, help: str, shown: str | None = None, choices: Choices = (),
        *, many: bool = False, short: str = "", hidden: bool = False,
    ) -> None:  # fmt: skip
        self.long, self.value, self.shown, self.choices = name, value, shown, choices
        flag = (
            {"is_flag": True}
            if value is None
            else {"multiple": many, "metavar": value, "shell_complete": self._offered}
        )
        spelt = [name.lstrip("-").replace("-", "_"), name, *([short] if short else [])]
        super().__init__(spelt, help=help, hidden=hidden, **flag)

    @property
    def is_addition(self) -> bool:
        """Whether the reference programs lack it."""
        return self.long.startswith("--")

    @property
    def may_lack_value(self) -> bool:
        """Whether the value may be left out."""
        return self.value is not None and self.value.startswith("[")

    def spelled_twice(self) -> Option:
        """The same option for a command of our own, which takes the reference's switches with two dashes as well."""
        if self.is_addition or len(self.long) == 2:
            return self
        twice = Option(self.long, self.value, self.help or "", self.shown, self.choices, many=self.multiple)
        twice.opts.append(f"-{self.long.replace('_', '-')}")
        return twice

    def takes(self, word: str) -> bool:
        """Whether the next word is the value of an option that can do without."""
        return word == "-" or ending_of(word) == ending_of((self.value or "").strip("[]")) or is_stream(word)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its names with its value, and its meaning with its default; none for another name of the same."""
        if self.hidden:
            return None
        names = ", ".join(sorted({self.long, *(name for name in self.opts if len(name) == 2)}, key=len))
        value = "" if self.value is None else f" {self.value}"
        default = "" if self.shown is None else f" [default: {self.shown}]"
        return f"{names}{value}", f"{self.help}{default}"

    def _offered(self, ctx: click.Context, param: click.Parameter, current: str) -> list[CompletionItem]:
        if not self.choices:
            return [CompletionItem(current, type="file")]
        separator = ":" if self.value == "LIST" else "," if "," in (self.value or "") else None
        kept = current[: current.rfind(separator) + 1] if separator else ""
        return [
            CompletionItem(f"{kept}{each}") for each in chosen(self.choices) if each.startswith(current[len(kept) :])
        ]


def chosen(choices: Choices) -> Iterable[str]:
    """What completion offers."""
    return choices() if callable(choices) else choices


class Parameter(click.Argument):
    """A word that is no option: the name that messages use, its help, and whether it names an output."""

    def __init__(
        self, name: str, help: str, *, is_optional: bool = False, is_output: bool = False, is_repeated: bool = False,
        choices: Choices = (),
    ) -> None:  # fmt: skip
        self.is_output, self.shown, self.choices = is_output, name, choices
        self.meaning = help
        super().__init__([name.lower()], required=not is_optional, nargs=-1 if is_repeated else 1,
                         shell_complete=self._offered)  # fmt: skip

    def _offered(self, ctx: click.Context, param: click.Parameter, current: str) -> list[CompletionItem]:
        if not self.choices:
            return [CompletionItem(current, type="file")]
        return [CompletionItem(each) for each in chosen(self.choices) if each.startswith(current)]


TYPED: Final = "cs_score.typed"
"""Where a context keeps the words as they came."""


class Line:
    """What was typed: the options given with their last values (None for those that take none), and the other words.

    `typed` are all words as they came; `wrong_file` is a complaint about the word behind an option whose file may be
    left out, should that word turn out to be one too many.
    """

    def __init__(self, ctx: click.Context, typed: Sequence[str], words: Sequence[str], wrong_file: str | None) -> None:
        self.typed, self.words, self.wrong_file = tuple(typed), tuple(words), wrong_file
        self.format = "text"
        self.folder: str | None = None
        self.file: PlannedOutput | None = None
        self.switches: dict[str, str | None] = {}
        self._lists: dict[str, list[str]] = {}
        for param in ctx.command.params:
            if isinstance(param, Option) and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
                found = ctx.params[param.name]
                values = [] if param.is_flag else list(found) if param.multiple else [found]
                self._lists[param.long] = values
                self.switches[param.long] = values[-1] if values else None

    def text(self, name: str, default: str) -> str:
        """Value of an option, or the default."""
        value = self.switches.get(name)
        return default if value is None else value

    def without(self, names: Iterable[str]) -> Line:
        """The command line without these options."""
        left = copy.copy(self)
        left.switches = {name: value for name, value in self.switches.items() if name not in set(names)}
        return left

    def with_value(self, name: str, value: str) -> Line:
        """The command line with another value of an option."""
        other = copy.copy(self)
        other.switches = {**self.switches, name: value}
        return other

    def inputs(self) -> list[str]:
        """Everything given that may be a file to read."""
        outputs = {name for name in self.switches if name in OUTPUTS}
        values = (value for name, values in self._lists.items() if name not in outputs for value in values)
        named = [*self.words, *values]
        return named + [entry.path for word in named if os.path.isdir(word) for entry in os.scandir(word)]

    def texts(self, name: str) -> list[str]:
        """All values of an option that may be repeated."""
        return self._lists.get(name, [])


QUIET: Final = Option("--quiet", None, "Print nothing on standard error but what ends the command")
FORCE: Final = Option("--force", None, "Overwrite existing files, also those that cs-score did not write")


JSON_PRINTED: Final = Option("--json", None, "As --format json; what fails prints nothing on standard output")
FORMAT: Final = Option("--format", "NAME", "How the result is printed or written", "by the ending of -o, else text")
OUTPUTS: Final = frozenset(("--output", "--problems", "--per-item"))
"""Options of our own commands that name files to write."""

OUTPUT: Final = Option(
    "--output", "PATH", "Write there instead of printing; a folder where there are several tables or runs", short="-o"
)

_FORMAT_OF: Final = {
    ".json": "json", ".tsv": "tsv", ".md": "markdown", ".tex": "latex", ".html": "html", ".txt": "text",
    ".xml": "junit", ".svg": "svg", ".pdf": "pdf", ".png": "png",
}  # fmt: skip
_BEGINNINGS: Final = {
    # Scores of evidence tasks begin with the numbers, as their specifications want them.
    "json": rb'\{(\s*"(schema_version|kind)":|(\s*"\w+":\s*(\{|[-+.\de]+)|[\s},])+"(intervals|signature)":\s*\{)',
    "html": rb'<!DOCTYPE html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">\s*<meta name="generator" content',
    "svg": rb'<svg xmlns="http://www.w3.org/2000/svg" [^>]*class="chart"',
}
"""How files of -o begin, by their format; those of other formats do not say who wrote them: only force replaces them.
"""


class Command(click.Command):
    """A command of our own: options anywhere, status 2 for wrong usage.

    `body` does the work and returns the exit status; `required` are options that must be given; `sections` are further
    parts of the help, made when it is wanted; `example` are the words of a call that runs on the samples. `formats` are
    those of the result, the usual one first; `folder` is the one that -o writes into a folder, `files` where it is none
    of them.
    """

    failed = Status.FAILED
    wrong_usage = Status.WRONG_USAGE
    shows_usage = False
    options_first = False

    def __init__(
        self,
        name: str,
        options: Iterable[Option],
        parameters: Sequence[Parameter] = (),
        *,
        body: Callable[[Line], int],
        required: Sequence[str] = (),
        sections: Callable[[], Sequence[Section]] = tuple,
        example: str = "",
        summary: str = "",
        formats: Sequence[str] = (),
        folder: str = "",
    ) -> None:
        self.formats, self.folder = tuple(formats), folder
        if formats:
            shown = ", ".join(formats)
            options = [
                *options,
                Option(FORMAT.long, FORMAT.value, f"{FORMAT.help}: {shown}", FORMAT.shown, tuple(formats)),
            ]
        options = [*options, *([OUTPUT] if formats or folder else [])]
        self.name = name
        self.body, self.required, self.sections, self.example = body, tuple(required), sections, example
        self.parameters, self.entry = tuple(parameters), COMMANDS.get(name)
        own = [option if self.options_first else option.spelled_twice() for option in options]
        super().__init__(
            name, params=[*own, *self._common(), *parameters], add_help_option=False,
            help=summary or (self.entry.summary if self.entry else ""),
        )  # fmt: skip

    def _common(self) -> Iterator[click.Option]:
        def shows(text: Callable[[], str]) -> Callable[..., None]:
            def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:
                if value and not ctx.resilient_parsing:
                    write_text("stdout", text())
                    ctx.exit()

            return show

        eager: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False}
        yield QUIET
        help_names = (
            ["helps", "--help", "-help", "-h"] if not self.options_first else ["helps", "-help", "-h", "--help"]
        )
        yield click.Option(help_names, help="Show this text", callback=shows(self.help_text), **eager)
        yield click.Option(
            ["our_version", "--version"], help="Show the version of cs-score", callback=shows(version_text), **eager
        )
        if self.entry is not None and self.entry.follows:
            yield click.Option(["followed", "-version"], help="Show the version that is followed",
                               callback=shows(self._followed), **eager)  # fmt: skip

    def _followed(self) -> str:
        assert self.entry is not None
        words = click.get_current_context().meta.get(TYPED, ())
        chosen = [after for word, after in pairwise(words) if word == "--follow"]
        return f"{self.called} version {chosen[-1] if chosen else self.entry.follows}\n"

    @property
    def called(self) -> str:
        """How it is called."""
        return f"cs-score {self.name}".rstrip()

    @property
    def place(self) -> tuple[str, str]:
        """The command and the task that it is for, as the table has them."""
        verb, _, task = (self.name or "").partition(" ")
        return ("score", verb) if verb in TASKS else (verb, task or TASKS[0])

    @property
    def spellings(self) -> list[str]:
        """All names of all options."""
        return [name for param in self.params if isinstance(param, click.Option) for name in param.opts]

    @property
    def options(self) -> list[Option]:
        """Its own options."""
        return [param for param in self.params if isinstance(param, Option)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Bring what was typed into one spelling and let click read it. Raises UsageError."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        typed = ctx.meta[TYPED] = list(args)
        options, words, wrong_file = self._spelled(typed)
        if options is None:  # help or version, at once
            return super().parse_args(ctx, words)
        self._check_words(options, words, wrong_file)
        rest = super().parse_args(ctx, [*options, "--", *words])
        ctx.obj = Line(ctx, typed, words, wrong_file)
        return rest

    def read(self, words: Sequence[str]) -> Line:
        """What these words say, without doing it. Raises UsageError, and click's Exit where they ask for help."""
        with self.make_context(self.name, list(words)) as ctx:
            line: Line = ctx.obj
            return line

    def invoke(self, ctx: click.Context) -> int:
        """Do what the command line asks for."""
        with quietly(QUIET.long in ctx.obj.switches):
            return self._delivered(ctx.obj) if self.formats or self.folder else self.body(ctx.obj)

    def _delivered(self, line: Line) -> int:
        """Do it with the result in the format and at the place that --format and -o say. Raises UsageError."""
        path = line.switches.get(OUTPUT.long)
        path = None if path == "-" else path
        told = line.switches.get(FORMAT.long) or ("json" if JSON_PRINTED.long in line.switches else None)
        of_ending = None if path is None else _FORMAT_OF.get(ending_of(path))
        usual = self.folder if path is not None and self.folder else self.formats[0]
        line.format = told or of_ending or usual
        if line.format not in {*self.formats, usual}:
            known = ", ".join(self.formats) or "nothing"
            raise UsageError(f"--format takes {known}, not {line.format}{nearest(line.format, self.formats)}")
        if line.format == self.folder:
            if path is None:
                raise UsageError(f"{line.format} is several tables: give -o FOLDER")
            line.folder, line.format = path, line.format if line.format in self.formats else "".join(self.formats[:1])
            return self.body(line)
        if path is None:
            return self.body(line)
        pattern = _BEGINNINGS.get(line.format)
        beginning = None if pattern is None else Format(re.compile(pattern))
        line.file = PlannedOutput("-o", path, Existing.RECOGNISED, beginning)
        plan = OutputPlan(line.inputs(), [line.file], FORCE.long in line.switches)
        plan.check()
        try:
            with captured() as blocks:
                status = self.body(line)
        except UsageError:
            raise
        except (CsScoreError, KeyboardInterrupt):
            plan.clear()
            raise
        write_packed(path, blocks)
        return status

    def _spelled(self, typed: Sequence[str]) -> tuple[list[str] | None, list[str], str | None]:
        """Options as `NAME=VALUE`, the other words, and what is wrong with one of them, perhaps.

        No options where help or a version is asked for: that is the word then.
        """
        names = {name: param for param in self.params if isinstance(param, click.Option) for name in param.opts}
        options: list[str] = []
        words: list[str] = []
        lacking: Option | None = None
        wrong_file: str | None = None
        at = 0
        while at < len(typed):
            word, at = typed[at], at + 1
            following = typed[at] if at < len(typed) else None
            if word == "--" and not self.options_first:
                words += typed[at:]
                break
            if not word.startswith("-") or (word == "-" and (words or not self.options_first)):
                words.append(word)
                continue
            if self.options_first and words:
                raise self._misplaced(word, len(words) + len(typed) - at + 1)
            name, equals, value = word.partition("=")
            option = names.get(name)
            if option is None or (equals and self.options_first and not name.startswith("--")):
                raise self._unknown(word, name, names)
            if not isinstance(option, Option):
                return None, [name], None
            if option.value is None:
                if equals:
                    raise Misuse(f"{option.long} takes no value", f"ERROR: Unknown switch: {word}")
                options.append(option.long)
            elif equals:
                options.append(f"{option.long}={value}")
            elif option.may_lack_value:
                taken = following is not None and option.takes(following)
                if not taken:
                    wrong_file = self._refused_file(option, following)
                options.append(f"{option.long}={following if taken else '-'}")
                at += taken
            elif following is not None and (self.options_first or following.partition("=")[0] not in names):
                options.append(f"{option.long}={following}")
                at += 1
            else:
                lacking = lacking or option
        if lacking is not None:
            missing = next((p.shown for p in self.parameters if p.required), "") if self.options_first else ""
            raise Misuse(
                f"{lacking.long} needs a value: {lacking.value}",
                f"ERROR: Not enough arguments; {missing} must be provided",
            )
        return options, words, wrong_file

    def _refused_file(self, option: Option, following: str | None) -> str | None:
        """A complaint about the word behind an option whose file may be left out."""
        if following is None or following.startswith("-"):
            return None
        complaint = (
            f"{option.long} takes a file; did you mean {option.long} result.json? {following} does not end in .json "
            "(perhaps compressed)"
        )
        if self.options_first:
            raise UsageError(complaint)
        return complaint

    def _check_words(self, options: Sequence[str], words: Sequence[str], wrong_file: str | None) -> None:
        """Raises UsageError where an option or a word is missing, or there is one too many."""
        given = {option.partition("=")[0] for option in options}
        for option in self.options:
            if option.long in self.required and option.long not in given:
                shown = "-o" if option.long == OUTPUT.long else option.long
                raise UsageError(f"{shown} {option.value} must be given")
        for parameter in self.parameters[len(words) :]:
            if parameter.required:
                missing = f"Not enough arguments; {parameter.shown} must be provided"
                raise Misuse(missing, f"ERROR: {missing}")
        most = self._most_words()
        if most is not None and len(words) > most:
            if wrong_file is not None:
                raise UsageError(wrong_file)
            advice = f"too many words: {' '.join(words[most:])}" if most else f"unexpected word {words[0]}"
            raise Misuse(advice, "ERROR: Too many arguments")

    def _most_words(self) -> int | None:
        return None if any(parameter.nargs < 0 for parameter in self.parameters) else len(self.parameters)

    def _misplaced(self, word: str, count: int) -> UsageError:
        """An option behind the first file, which the reference takes for a file and counts among the words."""
        advice = (
            f"Could not open {word}: No such file or directory; options come before the files (a file that is called "
            f"like this is written ./{word})"
        )
        most = self._most_words()
        return UsageError(advice) if most is None or count <= most else Misuse(advice, "ERROR: Too many arguments")

    def _unknown(self, word: str, name: str, names: Iterable[str]) -> UsageError:
        printed = f"ERROR: Unknown switch: {word}"
        for option in self.options:
            if _plain(option.long) == _plain(name):  # the reference knows no other spelling
                value = word.partition("=")[2] or option.value or ""
                return Misuse(f"unknown switch {word}; write {f'{option.long} {value}'.rstrip()}", printed)
        elsewhere = "" if self.options_first else _option_elsewhere(self, name)
        return Misuse(elsewhere or f"unknown switch {name}{nearest(name, names)}", printed)

    # ---- Help

    def help_text(self) -> str:
        """What it is, how it is called, an example, and everything that it takes."""
        formatter = click.HelpFormatter(width=help_width())
        self.format_help(click.Context(self, info_name=self.called), formatter)
        return formatter.getvalue()

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The line that shows how it is called."""
        formatter.write_usage(self.called, self.usage)

    @property
    def usage(self) -> str:
        """The words behind its name."""
        values = {option.long: option.value for option in self.options}
        words = ["{-switch {-switch ...}}" if self.options_first else "[OPTIONS]"]
        words += [f"{'-o' if name == OUTPUT.long else name} {values[name]}" for name in self.required]
        for parameter in self.parameters:
            shown = parameter.shown.upper() + ("..." if parameter.nargs < 0 else "")
            words.append(shown if parameter.required else f"[{shown}]")
        return " ".join(words)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """All parts of the help."""
        if self.options_first:
            formatter.write_text(f"{self.called}:  {self.help}")
        else:
            formatter.write_text(f"{self.help}.")
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        if self.example:
            formatter.write_paragraph()
            formatter.write_text(f"Example: {self.called} {self.example}")
        for title, content in self.all_sections(ctx):
            with formatter.section(title):
                if isinstance(content, str):
                    formatter.write_text(content)
                else:
                    formatter.write_dl(list(content), col_max=min(26, formatter.width // 3))

    def all_sections(self, ctx: click.Context) -> Iterator[Section]:
        """Options, words and what else is to be said."""
        records = [(option, option.get_help_record(ctx)) for option in self.params if isinstance(option, click.Option)]
        shown = [(option, record) for option, record in records if record is not None]
        theirs = [record for option, record in shown if isinstance(option, Option) and not option.is_addition]
        ours = [record for option, record in shown if not (isinstance(option, Option) and not option.is_addition)]
        if theirs:
            yield "Switches", sorted(theirs)
        yield "Additions" if theirs and self.options_first else "Options", ours
        if self.parameters:
            yield "Words", [(parameter.shown, parameter.meaning) for parameter in self.parameters]
        yield from self.sections()


OTHER_NAMES: Final = {
    **dict.fromkeys(("--label", "--labels", "--gold-file", "--gold_file", "--corpus"), "--gold"),
    **dict.fromkeys(("--prediction", "--pred", "--preds", "--predictions-file", "--prediction_file"), "--predictions"),
}
"""What the official evaluators call the files, and what they are called here."""


def _option_elsewhere(command: Command, name: str) -> str:
    """What is said of an option that other tasks or commands have, or that evaluators spell otherwise; empty else."""
    own = {option.long for option in command.options}
    if (meant := OTHER_NAMES.get(name)) in own:
        return f"{name} is called {meant} here: {command.called} --gold GOLD --predictions PREDICTIONS"
    verb, task = command.place
    if verb and COMMANDS[verb].by_task:
        tasks = [other for other in TASKS if other != task and name in load(verb, other).spellings]
        if tasks:
            of = "evidence tasks" if "coldstart" not in tasks and task == "coldstart" else ", ".join(tasks)
            return f"{name} is an option of {of}: cs-score {verb} {tasks[0]} {name} ..."
    if name in command.spellings or nearest(name, command.spellings):
        return ""
    others = [each for each in COMMANDS if each and each != verb and name in load(each).spellings][:3]
    return f"{name} is no option of {command.called}, but of {', '.join(others)}" if others else ""


def _plain(name: str) -> str:
    return name.lstrip("-").replace("_", "-")


class Reference(Command):
    """A command under the reference's contract: options before files, usage on standard output, status 255."""

    failed = Status.REFERENCE
    wrong_usage = Status.REFERENCE
    shows_usage = True
    options_first = True


def help_width() -> int:
    """Columns of a help."""
    if sys.stdout is None or not sys.stdout.isatty():
        return WIDEST
    return min(shutil.get_terminal_size().columns, WIDEST)


def version_text() -> str:
    """Our version, and those of the programs that commands follow."""
    from cs_score.base.version import VERSION

    lines = [f"cs-score {VERSION} (follows the Cold Start reference scorer {FOLLOWED})"]
    width = max(map(len, COMMANDS))
    lines += [
        f"  {name:<{width}}  follows {entry.follows}" for name, entry in COMMANDS.items() if name and entry.follows
    ]
    return "\n".join(lines) + "\n"


# ---- The tree of commands


class Entry:
    """A command in the table: what help lists it under and says of it, `module:function` that makes its click command
    (`by_task`: that of a task), and the version of the reference program whose place it takes."""

    __slots__ = ("by_task", "follows", "group", "summary", "target")

    def __init__(
        self, group: str, summary: str, target: str, follows: str | None = None, *, by_task: bool = False
    ) -> None:
        self.group, self.summary, self.target, self.follows, self.by_task = group, summary, target, follows, by_task


TASKS: Final = ("coldstart", "scifact", "claims", "r4c", "hotpotqa")

_SCORE, _WHY, _SEVERAL = "Score", "Why a score is what it is", "Many runs or systems"
BEFORE, _ABOUT = "Before the Cold Start scorer", "About cs-score"

COMMANDS: Final[Mapping[str, Entry]] = {
    "": Entry(_SCORE, "Score one or more TAC Cold Start runs", "scoring:bare", FOLLOWED),
    "score": Entry(_SCORE, "Score runs or predictions", "scoring:score", by_task=True),
    "analyze": Entry(_WHY, "What each mistake costs, an error budget", "verbs:analyze", by_task=True),
    "explain": Entry(_WHY, "How a line, node, query or claim was scored", "verbs:explain", by_task=True),
    "diff": Entry(_WHY, "Why one run or system scores higher than another", "verbs:diff", by_task=True),
    "report": Entry(_WHY, "A page to look at, of an analysis or a difference", "verbs:report", by_task=True),
    "plot": Entry(_WHY, "One chart of an analysis, as SVG, PDF or PNG", "verbs:plot"),
    "batch": Entry(_SEVERAL, "Score many runs against one pool, on one machine or several", "many:batch", by_task=True),
    "compare": Entry(_SEVERAL, "Compare systems: intervals, paired tests, ranks, tiers", "many:compare", by_task=True),
    "check": Entry(_SEVERAL, "Hold scores against limits and a baseline", "many:check", by_task=True),
    "verify": Entry(_SEVERAL, "Score a recorded result again, and say whether it is reproduced", "many:verify"),
    "validate-run": Entry(BEFORE, "Validate a run, and write it for the scorer", "companions:validate_run", FOLLOWED),
    "validate-queries": Entry(
        BEFORE, "Validate queries, and split them by entry point", "companions:validate_queries_program", FOLLOWED
    ),
    "expand-queries": Entry(BEFORE, "Superseded by validate-queries -expand", "companions:expand_queries", FOLLOWED),
    "generate-queries": Entry(
        BEFORE,
        "Make the queries of the first round, or those of the second from a run",
        "companions:generate_queries",
        FOLLOWED,
    ),
    "package-output": Entry(
        BEFORE, "Put the answers to both rounds into one run", "companions:package_output", FOLLOWED
    ),
    "validate-assessments": Entry(
        BEFORE, "Validate assessments, and sort them by language", "companions:validate_assessments", FOLLOWED
    ),
    "validate-kb": Entry(
        BEFORE,
        "Validate a knowledge base, and write it in the formats of the evaluations",
        "knowledge_base:validate_kb_program",
        FOLLOWED,
    ),
    "resolve-queries": Entry(
        BEFORE,
        "Ask queries of a validated knowledge base; the answers become a run",
        "knowledge_base:resolve_queries",
        FOLLOWED,
    ),
    "apply-k": Entry(
        BEFORE,
        "Keep so many documents for each node of a run, without checking anything",
        "companions:apply_k",
        FOLLOWED,
    ),
    "samples": Entry(
        BEFORE,
        "Write bootstrap resamples of LDC queries, for the scorer's switch -samples",
        "companions:samples",
        "1.1",
    ),
    "problems": Entry(_ABOUT, "Explain problem codes: what is wrong, an example, what to do", "about:problems"),
    "schema": Entry(_ABOUT, "Print the JSON Schema of what cs-score writes", "about:schema"),
    "help": Entry(_ABOUT, "Show this page, or the help of a command", "about:help"),
    "version": Entry(_ABOUT, "Show the version", "about:version"),
    "man": Entry(_ABOUT, "Print the manual page", "about:man"),
    "completion": Entry(_ABOUT, "Print the script that completes commands and options in a shell", "about:completion"),
}
"""Every command by name; that of the Cold Start scorer is empty."""


FIRST_PAGE: Final = ("-h", "--help")
"""Words that show the first page where they stand alone; `-help` shows the switches of the Perl scorer."""

COMPLETION_VARIABLE: Final = "_CS_SCORE_COMPLETE"

_EXAMPLES: Final = """\
A run:         cs-score score -expand BASE queries.xml pool.tab run.tab.txt
Why it scored: cs-score analyze -expand BASE queries.xml pool.tab run.tab.txt
SciFact:       cs-score scifact --gold gold.jsonl --predictions run.jsonl
"""

_SHORT: Final = {
    BEFORE: "validate-run, validate-queries, generate-queries, package-output, validate-assessments, validate-kb, "
    "resolve-queries, samples, apply-k, expand-queries",
    _ABOUT: "help, version, problems, schema, man, completion",
}
"""Groups of which the first page shows only the names."""


def _filled(text: str, formatter: click.HelpFormatter) -> str:
    """A list in lines, without a break inside a name, which click would make."""
    indent = " " * formatter.current_indent
    return (
        textwrap.fill(text, formatter.width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
        + "\n"
    )


def first_page() -> str:
    """What it is, lines to copy, the commands, and where the rest stands."""
    formatter = click.HelpFormatter(width=min(help_width(), 80))
    formatter.write_text("Scores TAC Cold Start runs and predictions of evidence-based fact checking.")
    formatter.write_paragraph()
    formatter.write(_EXAMPLES)
    for group in (_SCORE, _WHY, _SEVERAL):
        with formatter.section(group):
            rows = [(name, entry.summary) for name, entry in COMMANDS.items() if name and entry.group == group]
            if group == _SCORE:
                rows.append(("scifact", "Short for score scifact; claims, r4c, hotpotqa likewise"))
            formatter.write_dl(rows, col_max=16)
    for group, names in _SHORT.items():
        with formatter.section(group):
            formatter.write(_filled(names, formatter))
    formatter.write_paragraph()
    formatter.write_text(
        "All that scores takes a task as its next word: coldstart (may be left out), scifact, claims, r4c, hotpotqa. "
        "cs-score help COMMAND shows options and an example, cs-score -help the switches of the Perl scorer, which are "
        "those of a call without a command. A file that is called like a command is written ./NAME."
    )
    return formatter.getvalue()


class _WithDefault(click.Group):
    """A group one of whose commands needs no name."""

    default = ""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The first word is the name of a command, unless it is none."""
        is_named = bool(args) and args[0] in self.list_commands(ctx)
        if is_named or (ctx.resilient_parsing and not args):
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, [self.default, *args])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of commands, and what the one without a name takes."""
        found = super().shell_complete(ctx, incomplete)
        command = self.get_command(ctx, self.default)
        if command is not None:
            with command.make_context(self.default, [], parent=ctx, resilient_parsing=True) as context:
                found += command.shell_complete(context, incomplete)
        return found or [CompletionItem(incomplete, type="file")]


class Verb(_WithDefault):
    """A verb with a command for each task, which may be left out: `coldstart` then."""

    default = TASKS[0]

    def __init__(self, name: str) -> None:
        super().__init__(name, help=COMMANDS[name].summary, add_help_option=False)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The tasks."""
        return list(TASKS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of a task."""
        return load(self.name or "", name) if name in TASKS else None


class Root(_WithDefault):
    """`cs-score`: a command that the first word names, otherwise the scorer, whose name is empty."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All but the scorer."""
        return [name for name in (*COMMANDS, *TASKS[1:]) if name]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """A command or a verb by name."""
        if name in TASKS:
            return load("score", name)
        if name not in COMMANDS:
            return None
        return Verb(name) if COMMANDS[name].by_task else load(name)


def load(name: str, task: str = TASKS[0]) -> Command:
    """A command; imports its module."""
    return _loaded(name, task if COMMANDS[name].by_task else "")


@functools.cache
def _loaded(name: str, task: str) -> Command:
    module, _, function = COMMANDS[name].target.partition(":")
    make = getattr(importlib.import_module(f"cs_score.cli.{module}"), function)
    command: Command = make(task) if task else make()
    return command


def find(words: Sequence[str]) -> tuple[Command, list[str]]:
    """The command that the first words name, otherwise the scorer, and the words behind its name.

    Raises UsageError for a first word that is no file, but nearly the name of a command or a task.
    """
    first, *rest = words or [""]
    if first in TASKS:
        return load("score", first), rest
    if first not in COMMANDS or not first:
        _refuse_mistyped(first, (*COMMANDS, *TASKS), "command")
        return load(""), list(words)
    if not COMMANDS[first].by_task:
        return load(first), rest
    if rest[:1] and rest[0] in TASKS:
        return load(first, rest[0]), rest[1:]
    _refuse_mistyped(rest[0] if rest else "", TASKS, "task")
    return load(first), rest


def _refuse_mistyped(word: str, known: Iterable[str], what: str) -> None:
    if not word or word.startswith("-") or os.sep in word or "." in word or os.path.lexists(word):
        return
    if meant := nearest(word, filter(None, known)):
        raise UsageError(f"no {what} `{word}`, and no such file{meant}")
