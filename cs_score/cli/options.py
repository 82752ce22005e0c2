"""One record for an option of any command, and one parser for all of them.

The reference's switches (one dash) and ours (two dashes) stand in the same tables. In calls that follow the reference
they are written just so (specification 1.1), with the value of ours perhaps behind a `=`. In all others every name may
be written with one dash or two, with `_` or `-`, and any value behind a `=`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, UsageError
from cs_score.base.nearest import nearest
from cs_score.base.records import Record

Choices = tuple[str, ...] | Callable[[], Iterable[str]]
"""What completion offers; a function where that has to be imported first."""


class Option(Record):
    """One option: its name with its dash or dashes, the name of its value (None: it takes none), and its help.

    A value in brackets, `[FILE.json]`, may be left out and is `-` then; it is taken from the next word only where that
    is `-` or ends in the same way, so that no input is taken by mistake. `default` is what help shows, `choices` what
    completion offers, with colons or commas between them where the value is a list.
    `earlier` is a name that it had once and can still be called by.
    """

    name: str
    value: str | None
    help: str
    default: str | None = None
    choices: Choices = ()
    earlier: str = ""

    @property
    def is_addition(self) -> bool:
        """Whether the reference programs lack it."""
        return self.name.startswith("--")

    @property
    def may_lack_value(self) -> bool:
        """Whether the value may be left out."""
        return self.value is not None and self.value.startswith("[")

    def spellings(self) -> Iterator[str]:
        """Its name, and the one that it would have as an option of our own."""
        yield self.name
        if not self.is_addition and len(self.name) > 2:
            yield f"--{_plain(self.name)}"

    def takes(self, word: str) -> bool:
        """Whether the next word is the value of an option that can do without."""
        from cs_score.base.planned_outputs import ending_of, is_stream

        assert self.value is not None
        return word == "-" or ending_of(word) == ending_of(self.value.strip("[]")) or is_stream(word)


HELP: Final = (Option("-help", None, "Show this text"), Option("-h", None, "Show this text"))
OUR_VERSION: Final = Option("--version", None, "Show the version of cs-score, and of the programs that it follows")
QUIET: Final = Option("--quiet", None, "Print nothing on standard error but what ends the command")
FORCE: Final = Option("--force", None, "Let options of our own replace files that cs-score did not write")
VERSION: Final = "-version"


class CommandLine(Record):
    """What was typed: the options with their last values (None for those that take none), and the other words.

    `given` are the options in the order typed, each time that they were; `typed` are all words as they came; `lacking`
    is an option at the very end whose value is missing, `wrong_file` a complaint about the word behind an option whose
    file may be left out, should that word turn out to be one too many.
    """

    switches: dict[str, str | None]
    words: tuple[str, ...]
    given: tuple[tuple[str, str | None], ...] = ()
    typed: tuple[str, ...] = ()
    lacking: Option | None = None
    wrong_file: str | None = None

    def text(self, name: str, default: str) -> str:
        """Value of an option, or the default."""
        value = self.switches.get(name)
        return default if value is None else value

    def texts(self, name: str) -> list[str]:
        """All values of an option that may be repeated."""
        return [value for given, value in self.given if given == name and value is not None]


class SwitchError(CsScoreError):
    """A word that is no option, or a missing word.

    The message is the reference's, which it prints with its usage text; `advice` is our one line for standard error.
    """

    def __init__(self, message: str, advice: str):
        super().__init__(message)
        self.advice = advice

    def __str__(self) -> str:
        return one_line(super().__str__())


class HelpWanted(Exception):
    """An option of help was met; the words after it do not matter."""


class VersionWanted(Exception):
    """`-version` or `--version` was met, as its only argument says; the words after it do not matter."""


def read_command_line(words: Sequence[str], options: Iterable[Option], *, options_first: bool = True) -> CommandLine:
    """Tell options from other words.

    With `options_first` they come before all other words, as the reference has it, and a value is the next word
    whatever it looks like; otherwise they may stand anywhere. Raises SwitchError for an unknown option, UsageError
    for a misplaced one, HelpWanted and VersionWanted at the moment those are met.
    """
    return _Reader(words, options, options_first).read()


class OptionNames:
    """Options by all the names that they can be called by."""

    def __init__(self, options: Iterable[Option]):
        self.exact = {option.name: option for option in options}
        self._plain = {_plain(name): option for name, option in self.exact.items()}
        self._plain |= {_plain(option.earlier): option for option in self.exact.values() if option.earlier}

    def find(self, name: str) -> Option | None:
        """The option of this name, however it is spelt; None for other words."""
        if name in self.exact:
            return self.exact[name]
        return self._plain.get(_plain(name)) if name.startswith("-") and name.lstrip("-") else None


class _Reader:
    """The state of one reading: where it is, and what was found."""

    def __init__(self, words: Sequence[str], options: Iterable[Option], options_first: bool):
        self._typed = tuple(words)
        self._at = 0
        self._names = OptionNames(options)
        self._first = options_first
        self._given: list[tuple[str, str | None]] = []
        self._others: list[str] = []
        self._lacking: Option | None = None
        self._wrong_file: str | None = None

    def read(self) -> CommandLine:
        while self._at < len(self._typed):
            word = self._typed[self._at]
            if word == "--" and not self._first:
                self._others += self._typed[self._at + 1 :]
                break
            self._at += 1
            if not word.startswith("-") or (word == "-" and (self._others or not self._first)):
                self._others.append(word)
            elif self._first and self._others:
                raise Misplaced(word, len(self._others) + len(self._typed) - self._at + 1)
            else:
                self._take(word)
        if self._lacking is not None and not self._first:
            raise UsageError(f"{self._lacking.name} needs a value: {self._lacking.value}")
        given = tuple(self._given)
        return CommandLine(dict(given), tuple(self._others), given, self._typed, self._lacking, self._wrong_file)

    def _take(self, word: str) -> None:
        name, equals, value = word.partition("=")
        option = self._names.find(name)
        if option is None:
            raise SwitchError(
                f"ERROR: Unknown switch: {word}", f"unknown switch {name}{nearest(name, self._names.exact)}"
            )
        is_spelt_out = name == option.name and not (equals and not option.is_addition)
        if self._first and option not in HELP and not is_spelt_out:  # the reference knows no other spelling
            meant = f"{option.name} {value or option.value or ''}".rstrip()
            raise SwitchError(f"ERROR: Unknown switch: {word}", f"unknown switch {word}; write {meant}")
        if option in HELP:
            raise HelpWanted
        if option.name in (VERSION, OUR_VERSION.name):
            raise VersionWanted(option.name)
        if option.value is None:
            if equals:
                raise SwitchError(f"ERROR: Unknown switch: {word}", f"{option.name} takes no value")
            self._given.append((option.name, None))
        elif equals:
            self._given.append((option.name, value))
        elif option.may_lack_value:
            self._take_or_leave(option)
        elif self._at < len(self._typed) and (self._first or not self._is_option(self._typed[self._at])):
            self._given.append((option.name, self._typed[self._at]))
            self._at += 1
        else:
            self._lacking = self._lacking or option

    def _take_or_leave(self, option: Option) -> None:
        following = self._typed[self._at] if self._at < len(self._typed) else None
        if following is not None and option.takes(following):
            self._at += 1
            self._given.append((option.name, following))
            return
        if following is not None and not following.startswith("-"):
            self._wrong_file = (
                f"{option.name} takes a file; did you mean {option.name} result.json? {following} does not end in "
                ".json (perhaps compressed)"
            )
            if self._first:
                raise UsageError(self._wrong_file)
        self._given.append((option.name, "-"))

    def _is_option(self, word: str) -> bool:
        return self._names.find(word.partition("=")[0]) is not None


class Misplaced(UsageError):
    """An option behind the first file, which the reference takes for a file; `words` counts as it does."""

    def __init__(self, word: str, words: int):
        super().__init__(
            f"Could not open {word}: No such file or directory; options come before the files (a file that is called "
            f"like this is written ./{word})"
        )
        self.words = words


def _plain(name: str) -> str:
    return name.lstrip("-").replace("_", "-")
