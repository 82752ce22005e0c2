"""Single-dash switches as the reference programs take them: one table per program, one reader for all.

Source: specification, section 1.1. Switches come first; names are exact; a switch that takes a value takes the next
word whatever it looks like; the last of several values wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Switch:
    """One switch: its name with its dash or dashes, the name of its value (None: it takes none), and its help.

    `default` is what the usage text shows; `is_listed` is false for switches that the usage text leaves out.
    """

    name: str
    value: str | None
    help: str
    default: str | None = None
    is_listed: bool = True


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What was typed: the switches with their last values (None for those that take none), and the other words.

    `given` are the switches in the order typed, each time that they were.
    """

    switches: dict[str, str | None]
    words: tuple[str, ...]
    given: tuple[tuple[str, str | None], ...] = ()

    def text(self, name: str, default: str) -> str:
        """Value of a switch, or the default."""
        value = self.switches.get(name)
        return default if value is None else value

    def texts(self, name: str) -> list[str]:
        """All values of a switch that may be repeated."""
        return [value for given, value in self.given if given == name and value is not None]


FORCE: Final = Switch("--force", None, "Let --json and --problems replace files that cs-score did not write")


class SwitchError(Exception):
    """A word that is no switch, or a missing word; the message is the reference's."""


HELP: Final = frozenset({"-help", "-h"})
VERSION: Final = "-version"


class HelpWanted(Exception):
    """`-help` or `-h` was met; the words after it do not matter."""


class VersionWanted(Exception):
    """`-version` was met; the words after it do not matter."""


def read_command_line(words: Sequence[str], table: Iterable[Switch]) -> CommandLine:
    """Take the switches off the front of a command line.

    Raises SwitchError for an unknown switch, HelpWanted and VersionWanted at the moment those are met.
    """
    by_name = {switch.name: switch for switch in table}
    switches: dict[str, str | None] = {}
    given: list[tuple[str, str | None]] = []
    at = 0
    while at < len(words) and words[at].startswith("-"):
        name = words[at]
        at += 1
        if name not in by_name:
            raise SwitchError(f"ERROR: Unknown switch: {name}")
        if name in HELP:
            raise HelpWanted
        if name == VERSION:
            raise VersionWanted
        if by_name[name].value is None:
            switches[name] = None
            given.append((name, None))
        elif at < len(words):
            switches[name] = words[at]
            given.append((name, words[at]))
            at += 1
    return CommandLine(switches, tuple(words[at:]), tuple(given))


def switch_help(table: Iterable[Switch]) -> str:
    """The switches for a usage text, alphabetically, with their defaults."""
    lines: list[str] = []
    for switch in sorted(table, key=lambda switch: switch.name.lstrip("-")):
        if switch.is_listed:
            head = f"  {switch.name}" + (f" <{switch.value}>" if switch.value else "")
            default = f" (Default = {switch.default})." if switch.default is not None else ""
            lines.append(f"{head:<28} {switch.help}{default}")
    return "\n".join(lines)
