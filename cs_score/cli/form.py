"""What a command takes, in one record: it is read, helped with and ended in the same way for all commands."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from cs_score.base.errors import UsageError
from cs_score.base.records import Record
from cs_score.cli.leaving import FAILED
from cs_score.cli.options import (
    HELP,
    OUR_VERSION,
    QUIET,
    VERSION,
    Choices,
    CommandLine,
    Misplaced,
    Option,
    SwitchError,
    read_command_line,
)
from cs_score.cli.registry import COMMANDS, Command, nearest_command, sub_forms

Section: TypeAlias = tuple[str, Sequence[tuple[str, str]] | str]
"""A title, and names with what they mean, or a paragraph."""


class Contract(Record):
    """How a command ends: the statuses for failures and for wrong usage, and whether the latter gets the usage text.

    `options_first`: options come before the files, as the reference programs have it.
    """

    failed: int
    wrong_usage: int
    shows_usage: bool = False
    options_first: bool = False


REFERENCE: Final = Contract(FAILED, FAILED, shows_usage=True, options_first=True)
BATCH: Final = Contract(FAILED, FAILED, shows_usage=True)
OWN: Final = Contract(1, 2)
BATCH_OF_EVIDENCE: Final = Contract(FAILED, 2)


class Parameter(Record):
    """A word that is no option: the name that messages use, its help, and whether it names an output."""

    name: str
    help: str
    is_optional: bool = False
    is_output: bool = False
    is_repeated: bool = False
    choices: Choices = ()


class Called(Record):
    """The name that calls a command, its options and its parameters in order."""

    name: str
    switches: tuple[Option, ...]
    parameters: tuple[Parameter, ...]


class Form(Called, kw_only=True, dict=True):
    """A command.

    `body` does the work and returns the exit status; `required` are options that must be given; `sections` are further
    parts of the help, made when it is wanted.
    """

    contract: Contract = OWN
    required: tuple[str, ...] = ()
    sections: Callable[[], Sequence[Section]] = tuple
    body: Callable[[CommandLine], int] | None = None

    @property
    def called(self) -> str:
        """How it is called."""
        return f"cs-score {self.name}".rstrip()

    @property
    def summary(self) -> str:
        """What the table of commands says of it."""
        return COMMANDS[self.name].summary

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Its own options, and those of every command."""
        follows = COMMANDS[self.name].follows
        of_reference = Option(VERSION, None, f"Show the version that is followed, {follows}")
        return (*self.switches, *HELP, *((of_reference,) if follows else ()), OUR_VERSION, QUIET)

    @property
    def usage(self) -> str:
        """The line that shows how it is called."""
        words = ["{-switch {-switch ...}}" if self.contract.options_first else "[options]"]
        by_name = {option.name: option for option in self.options}
        words += [f"{name} {by_name[name].value}" for name in self.required]
        words += ["COMMAND ..."] if sub_forms(self.name) and self.name and not self.switches else []
        words += map(_shown, self.parameters)
        return " ".join((self.called, *words))

    def run(self, line: CommandLine) -> int:
        """Do what the command line asks for."""
        assert self.body is not None
        return self.body(line)

    def read(self, words: Sequence[str]) -> CommandLine:
        """The command line. Raises SwitchError for a missing or superfluous word, and as `read_command_line`."""
        most = None if any(parameter.is_repeated for parameter in self.parameters) else len(self.parameters)
        try:
            line = read_command_line(words, self.options, options_first=self.contract.options_first)
        except Misplaced as error:  # the reference counts it among the words
            if most is not None and error.words > most:
                raise SwitchError("ERROR: Too many arguments", str(error)) from None
            raise
        for name in self.required:
            if name not in line.switches:
                value = next(option.value for option in self.options if option.name == name)
                self._refuse(line, f"{name} {value} must be given")
        for parameter in self.parameters[len(line.words) :]:
            if not parameter.is_optional:
                self._refuse(line, f"Not enough arguments; {parameter.name} must be provided")
        if most is not None and len(line.words) > most:
            if line.wrong_file is not None:
                raise UsageError(line.wrong_file)
            advice = f"too many words: {' '.join(line.words[most:])}" if most else f"unexpected word {line.words[0]}"
            raise SwitchError("ERROR: Too many arguments", advice + nearest_command(self.name, line.words[0]))
        return line

    def _refuse(self, line: CommandLine, missing: str) -> None:
        lacking = line.lacking
        advice = missing if lacking is None else f"{lacking.name} needs a value: {lacking.value}"
        raise SwitchError(f"ERROR: {missing}", advice)


def _shown(parameter: Parameter) -> str:
    name = parameter.name.upper() + ("..." if parameter.is_repeated else "")
    return f"[{name}]" if parameter.is_optional else name


def load(command: Command) -> Form:
    """What a command takes and does; imports its module."""
    module, _, attribute = command.form.partition(":")
    found: Form | dict[str, Form] = getattr(importlib.import_module(f"cs_score.cli.{module}"), attribute)
    return found[command.name.rpartition(" ")[2]] if isinstance(found, dict) else found


def whole_number(line: CommandLine, name: str, most: int) -> int | None:
    """The value of an option that takes a whole number from 1 on, None where it was not given. Raises UsageError."""
    text = line.switches.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
        raise UsageError(f"{name} {text}: a whole number from 1 to {most} is needed")
    return int(text)
