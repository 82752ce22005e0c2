"""One line to cite a score by.

It looks like `LDC-MEAN-ALL-Macro-F1|kb|1:3|gold:44ceb0c1|run:db75ecd6|cs-score:1.0.0`: a measure, the settings that
change scores, digests of what was read, the version. Two lines are equal where the same was computed from the same
contents, wherever and under whatever names these lay, packed or not.
"""

from __future__ import annotations

import contextlib
import re
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.base.version import VERSION

_WORD: Final = "(?:[!-$&-_a-{}~]|%[0-9A-F]{2})+"
_LINE: Final = re.compile(
    rf"(?P<measure>{_WORD})\|(?P<settings>(?:{_WORD}\|)*?)gold:(?P<gold>[0-9a-f]{{8}})\|(?:run:(?P<run>[0-9a-f]{{8}})\|)?"
    r"cs-score:(?P<version>[0-9A-Za-z.+-]+)"
)
_SPECIAL: Final = re.compile(r"[^!-~]|[|%`]")
_ESCAPED: Final = re.compile("(?:%[0-9A-F]{2})+")

_ERRORS: Final = "surrogatepass"  # names of files and runs may be no UTF-8


class Signature(Record):
    """The citable line as a value: `Signature.parse(str(signature)) == signature`.

    `settings` are the choices that change scores, each a word or `key=value`; `gold` and `run` are the first eight
    hexadecimal digits of digests of contents. Without `run` it stands for all runs of a table.
    """

    measure: str
    settings: tuple[str, ...]
    gold: str
    run: str | None
    version: str = VERSION

    def __str__(self) -> str:
        words = [_escaped(word) for word in (self.measure, *self.settings)]
        runs = [] if self.run is None else [f"run:{self.run}"]
        return "|".join((*words, f"gold:{self.gold}", *runs, f"cs-score:{self.version}"))

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that prints as `text`. Raises UsageError for anything else."""
        match = _LINE.fullmatch(text)
        if match is not None:
            with contextlib.suppress(UnicodeDecodeError):
                settings = tuple(map(_unescaped, match["settings"].split("|")[:-1]))
                return cls(_unescaped(match["measure"]), settings, match["gold"], match["run"], match["version"])
        raise UsageError(f"not a signature, which looks like {_EXAMPLE}: {text or 'nothing'}")

    def of(self, measure: str) -> Signature:
        """That of another measure of the same result."""
        return replace(self, measure=measure)

    def of_run(self, run_id: str) -> Signature:
        """That of one of several runs scored in one call."""
        return replace(self, settings=(*self.settings, f"runid={run_id}"))

    def of_all_runs(self) -> Signature:
        """What the runs of a table have in common."""
        return replace(self, run=None)


_EXAMPLE: Final = Signature("SF-ALL-Micro-F1", ("kb", "1:3"), "44ceb0c1", "db75ecd6")


def _escaped(text: str) -> str:
    """A word of the line: what is no printable ASCII, and `|`, `%` and backticks become `%XX`, byte by byte."""
    return _SPECIAL.sub(lambda match: "".join(f"%{byte:02X}" for byte in _bytes(match.group())), text)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: bytes.fromhex(found.group().replace("%", "")).decode("utf-8", _ERRORS), text)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", _ERRORS)
