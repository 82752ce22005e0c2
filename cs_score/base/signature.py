"""The origin of scores: the inputs and options that they were computed from, in full and as one line to cite. Gold is
the ground truth, a run has the answers of a system, and a digest stands for the content of a file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from cs_score.base import VERSION
from cs_score.base.display import number_with_noun
from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.base.sources import InputDigest

_WORD_PATTERN: Final = "(?:[!-$&-_a-{}~]|%[0-9A-F]{2})+"
_LINE_PATTERN: Final = re.compile(
    rf"(?P<measure>{_WORD_PATTERN})\|(?P<settings>(?:{_WORD_PATTERN}\|)*?)gold:(?P<gold>[0-9a-f]{{8}})\|(?:run:(?P<run>[0-9a-f]{{8}})\|)?"
    r"cs-score:(?P<version>[0-9A-Za-z.+-]+)"
)
_SPECIAL_CHARACTER_PATTERN: Final = re.compile(r"[^!-~]|[|%`]")
_ESCAPED_PATTERN: Final = re.compile("(?:%[0-9A-F]{2})+")

_ENCODING_ERRORS: Final = "surrogatepass"  # names of files and runs may be no UTF-8


class Signature(Record):
    """One line to cite a score by: `LDC-MEAN-ALL-Macro-F1|kb|1:3|gold:44ceb0c1|run:db75ecd6|cs-score:1.0.0`.

    Two signatures are equal where the same measure was computed from the same contents; names and places of the files
    and their compression do not matter. `Signature.parse(str(signature)) == signature`.

    `settings` are the choices that change scores, each a word or `key=value`; `gold` and `run` are the first eight
    hexadecimal digits of digests of contents. Without `run` it stands for all runs of a table.
    """

    measure: str
    settings: tuple[str, ...]
    gold: str
    run: str | None
    version: str = VERSION

    def __str__(self) -> str:
        """Return the signature as a line. Vertical bars inside a measure or a setting are escaped."""
        words = [_escape(word) for word in (self.measure, *self.settings)]
        words.append(f"gold:{self.gold}")
        if self.run is not None:
            words.append(f"run:{self.run}")
        words.append(f"cs-score:{self.version}")
        return "|".join(words)

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Return the signature in a line of text. Raises UsageError if the text is not a signature."""
        match = _LINE_PATTERN.fullmatch(text)
        if match is None:
            raise _no_signature_error(text)
        words = re.findall(_WORD_PATTERN, match["settings"])
        try:
            return cls(
                measure=_unescape(match["measure"]),
                settings=tuple([_unescape(word) for word in words]),
                gold=match["gold"],
                run=match["run"],
                version=match["version"],
            )
        except UnicodeDecodeError:  # the bytes that a word has as escapes, such as `%FF`, may not be UTF-8
            raise _no_signature_error(text) from None

    def of(self, measure: str) -> Signature:
        """Return the signature of another measure of the same result."""
        return replace(self, measure=measure)

    def of_run(self, run_id: str) -> Signature:
        """Return the signature of one of several runs that were scored in one call."""
        return replace(self, settings=(*self.settings, f"runid={run_id}"))

    def of_all_runs(self) -> Signature:
        """Return the signature without the run: it stands for all runs of a table."""
        return replace(self, run=None)


_EXAMPLE_OF_SIGNATURE: Final = Signature("SF-ALL-Micro-F1", ("kb", "1:3"), "44ceb0c1", "db75ecd6")


def _no_signature_error(text: str) -> UsageError:
    """Return the error for a text that is not a signature. The message shows an example of a signature."""
    return UsageError(f"not a signature, which looks like {_EXAMPLE_OF_SIGNATURE}: {text or 'nothing'}")


def _escape(text: str) -> str:
    """Return a word of a signature with its special characters as `%XX`, byte by byte: `a|b` gives `a%7Cb`.

    Special characters are `|`, `%`, the backtick and all characters that are not printable ASCII.
    """
    return _SPECIAL_CHARACTER_PATTERN.sub(_escape_character, text)


def _escape_character(match: re.Match[str]) -> str:
    """Return the bytes of the matched character as `%XX`."""
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", _ENCODING_ERRORS))


def _unescape(text: str) -> str:
    """Return a word of a signature without escapes: `a%7Cb` gives `a|b`.

    Raises UnicodeDecodeError for escapes that are no UTF-8.
    """
    return _ESCAPED_PATTERN.sub(_unescape_characters, text)


def _unescape_characters(match: re.Match[str]) -> str:
    """Return the characters that the matched escapes mean: `%C3%A9` gives `é`."""
    digits = match.group().replace("%", "")
    return bytes.fromhex(digits).decode("utf-8", _ENCODING_ERRORS)


ANY_MEASURE: Final = "*"
"""Stands for every measure of a result."""

ROLES: Final = ("queries", "pool", "gold", "run", "query list", "samples")
"""The roles of inputs: query files, assessments, the gold file of an evidence task, a run (predictions, a knowledge
base), the files of `-queries` and `-samples`."""

QUERIES, POOL, GOLD, RUN, QUERY_LIST, SAMPLES = ROLES

ANSWERED: Final = "answered"
"""The option that says how many units were scored, if only the units that a system answers were."""

_GOLD_ROLES: Final = frozenset({QUERIES, POOL, GOLD})


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
        """Return a copy of the origin with a further option.

        `setting` is the text of the option in signatures. It is None for an option that does not change scores.
        """
        options = dict(self.options)
        options[name] = value
        settings = self.settings if setting is None else (*self.settings, setting)
        return replace(self, options=options, settings=settings)

    @property
    def answered_count_text(self) -> str | None:
        """The number of questions (or queries, claims) that were scored, such as `100 of 7,405 questions`.

        It is None unless only the answered questions were scored.
        """
        counts = self.options.get(ANSWERED)
        if not isinstance(counts, Mapping):
            return None
        scored_count: Any = counts.get("scored")
        total_count: Any = counts.get("of")
        unit = str(counts.get("unit"))
        return f"{scored_count:,} of {number_with_noun(total_count, unit)}"

    @property
    def signature(self) -> Signature:
        """The signature: the line by which the score is cited.

        Its digest of gold is made of the contents of all queries and assessments, in whatever order they were read.
        """
        gold_files = [digest for digest in self.inputs if digest.role in _GOLD_ROLES]
        run_files = [digest for digest in self.inputs if digest.role == RUN]
        return Signature(
            measure=self.measure,
            settings=self.settings,
            gold=digest_of(gold_files),
            run=digest_of(run_files) if run_files else None,
            version=self.version,
        )


def answered_only_lines(origin_by_system: Mapping[str, Origin]) -> list[str]:
    """Return a line for each system that was scored only on the questions (or queries, claims) that it answers.

    The line has their number: `A: scored on 100 of 7,405 questions, those it answers`. Systems that were scored on all
    questions have no line.
    """
    lines = []
    for system, origin in origin_by_system.items():
        count_text = origin.answered_count_text
        if count_text is not None:
            lines.append(f"{system}: scored on {count_text}, those it answers")
    return lines


def digest_of(inputs: Iterable[InputDigest]) -> str:
    """Return eight hexadecimal digits for the contents of inputs: `44ceb0c1`. Their order does not matter.

    For a single input they are the first digits of its SHA-256. For several inputs the SHA-256 digests of all are
    sorted and written on a line each; then they are the first digits of the SHA-256 of this text.
    """
    digests = sorted(digest.sha256 for digest in inputs)
    if len(digests) == 1:
        [sha256] = digests
        return sha256[:8]
    lines = [f"{sha256}\n" for sha256 in digests]
    return short_digest("".join(lines))


def short_digest(text: str) -> str:
    """Return the first eight hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", _ENCODING_ERRORS)).hexdigest()[:8]
