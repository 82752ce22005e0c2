"""The help of every command, laid out from its form: as wide as the terminal, the reference's switches first."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cs_score.cli.form import Form, Section
from cs_score.cli.options import Option
from cs_score.cli.registry import COMMANDS, Group, sub_forms

WIDEST: Final = 100
"""Columns of a help that goes to no terminal."""

_MEANING: Final = 29
"""Column where meanings begin."""


def help_text(form: Form) -> str:
    """The help of a command; it names every option and parameter."""
    width = _width()
    blocks = [_filled(form.summary, f"{form.called}:  ", "  ", width), _usage(form, width)]
    for heading, content in (*options_of(form), *parameters_of(form), *form.sections(), *commands_below(form)):
        blocks.append(f"{_filled(f'{heading}:', '', '', width)}\n{_laid_out(content, width)}")
    return "\n\n".join(blocks) + "\n"


def options_of(form: Form) -> Iterator[Section]:
    """The options in groups, each alphabetically: those of the reference, and ours."""
    of_reference = [option for option in form.options if not option.is_addition]
    additions = [option for option in form.options if option.is_addition]
    if not any(not option.is_addition for option in form.switches) and not COMMANDS[form.name].follows:
        additions, of_reference = [*additions, *of_reference], []
    for title, options in (("Legal switches are", of_reference), ("Additions are", additions)):
        if options:
            yield title if of_reference else "Options are", [_described(option) for option in sorted(options, key=_key)]


def parameters_of(form: Form) -> Iterator[Section]:
    """The parameters and what they mean."""
    if form.parameters:
        yield "Parameters are", [(parameter.name, parameter.help) for parameter in form.parameters]


def commands_below(form: Form) -> Iterator[Section]:
    """The commands or sub-forms, group by group."""
    commands = sub_forms(form.name)
    if not form.name:
        for group in Group:
            rows = [(command.name, command.summary) for command in commands if command.group is group]
            if rows:
                yield f"Commands: {group}", rows
        yield (
            "Help",
            (
                "cs-score COMMAND -help shows the options of a command. A file that is called like a command is "
                "written ./NAME, one that begins with a dash ./-NAME."
            ),
        )
    elif commands:
        yield "Sub-forms are", [(command.name.rpartition(" ")[2], command.summary) for command in commands]


def _key(option: Option) -> str:
    return option.name.lstrip("-")


def _described(option: Option) -> tuple[str, str]:
    value = "" if option.value is None else f" {option.value}" if option.may_lack_value else f" <{option.value}>"
    default = "." if option.default is None else f" (Default = {option.default})."
    return f"{option.name}{value}", f"{option.help}{default}"


def _width() -> int:
    if sys.stdout is None or not sys.stdout.isatty():
        return WIDEST
    return min(shutil.get_terminal_size().columns, WIDEST)


def _usage(form: Form, width: int) -> str:
    return _filled(form.usage, "Usage: ", " " * 7, width)


def _laid_out(content: Sequence[tuple[str, str]] | str, width: int) -> str:
    if isinstance(content, str):
        return _filled(content, "", "", width)
    return "\n".join(_rows(content, width))


def _rows(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Names with their meanings beside them, below them where the name is long or the terminal narrow."""
    indent = " " * (_MEANING if width >= 2 * _MEANING else 6)
    for name, meaning in rows:
        head = f"  {name} ".ljust(len(indent))
        if len(head) > len(indent):
            yield head.rstrip()
            head = indent
        yield _filled(meaning, head, indent, width)


def _filled(text: str, first: str, rest: str, width: int) -> str:
    """The text in lines; lists that are separated by colons are broken behind a colon."""
    room = max(width - len(rest), 12)
    words: list[str] = []
    for word in text.split():
        while len(word) > room:
            at = word.rfind(":", 0, room) + 1 or room
            words.append(word[:at])
            word = word[at:]
        words.append(word)
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        elif lines:
            lines.append(rest + word)
        elif len(first) + len(word) > width and first.strip():
            lines += [first.rstrip(), rest + word]
        else:
            lines.append(first + word)
    return "\n".join(lines)
