"""What scores were computed from, in full and as one line to cite them by."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.base.sources import InputDigest
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
    """One line to cite a score by: `LDC-MEAN-ALL-Macro-F1|kb|1:3|gold:44ceb0c1|run:db75ecd6|cs-score:1.0.0`.

    Two are equal where the same was computed from the same contents, wherever and under whatever names these lay,
    packed or not. `Signature.parse(str(signature)) == signature`.

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
    return _SPECIAL.sub(lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode("utf-8", _ERRORS)), text)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: bytes.fromhex(found.group().replace("%", "")).decode("utf-8", _ERRORS), text)


ANY_MEASURE: Final = "*"
"""Stands for every measure of a result."""

ROLES: Final = ("queries", "pool", "gold", "run", "query list", "samples")
"""What an input may be: query files, assessments, the gold file of an evidence mode, a run (predictions, a knowledge
base), the files of `-queries` and `-samples`."""

QUERIES, POOL, GOLD, RUN, QUERY_LIST, SAMPLES = ROLES

ANSWERED: Final = "answered"
"""The option that says how many units were scored where only those that a system answers were."""

_GOLD: Final = frozenset({QUERIES, POOL, GOLD})


class Origin(Record):
    """All that a score was computed from: enough to compute it again.

    `task` is `coldstart`, `scifact` and so on, `options` are those in force, `inputs` all files in the order in which
    they were read. `settings` are the options that change scores as a signature shows them, `measure` is the one that
    it is about unless another is wanted.
    """

    task: str
    options: Mapping[str, Any]
    inputs: tuple[InputDigest, ...]
    settings: tuple[str, ...]
    measure: str = ANY_MEASURE
    version: str = VERSION
    tool: Literal["cs-score"] = "cs-score"

    def with_option(self, name: str, value: object, setting: str | None = None) -> Origin:
        """The origin of a computation that one more option went into; `setting` shows it where it changes scores."""
        settings = self.settings if setting is None else (*self.settings, setting)
        return replace(self, options={**self.options, name: value}, settings=settings)

    @property
    def answered(self) -> str | None:
        """How many of gold's units were scored, as `100 of 7,405 questions`; None where all of them had to be."""
        counts = self.options.get(ANSWERED)
        if not isinstance(counts, Mapping):
            return None
        return answered_text(counts.get("scored"), counts.get("of"), str(counts.get("unit")))

    @property
    def signature(self) -> Signature:
        """The citable line. The digest of gold covers queries and assessments as a set of contents: in which order they
        were read, which `inputs` have, does not show.
        """
        gold = digest_of(given for given in self.inputs if given.role in _GOLD)
        runs = [given for given in self.inputs if given.role == RUN]
        return Signature(self.measure, self.settings, gold, digest_of(runs) if runs else None, self.version)


def answered_text(scored: Any, of: Any, unit: str) -> str:
    """Return `100 of 7,405 questions`."""
    return f"{scored:,} of {of:,} {unit}{'' if of == 1 else 's'}"


def answered_lines(origins: Mapping[str, Origin]) -> list[str]:
    """Return a line for each system that was scored on the units that it answers; none for the others."""
    lines = []
    for name, origin in origins.items():
        if origin.answered is not None:
            lines.append(f"{name}: scored on {origin.answered}, those it answers")
    return lines


def digest_of(inputs: Iterable[InputDigest]) -> str:
    """Eight hexadecimal digits for some contents, in whatever order. Those of one content are the first of its SHA-256;
    those of several begin the SHA-256 of their SHA-256 digests in ascending order, each with a line feed.
    """
    digests = sorted(given.sha256 for given in inputs)
    if len(digests) == 1:
        return digests[0][:8]
    return short_digest("".join(f"{digest}\n" for digest in digests))


def short_digest(text: str) -> str:
    """The first eight hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", _ERRORS)).hexdigest()[:8]
