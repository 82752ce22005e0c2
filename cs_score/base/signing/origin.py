"""What a score was computed from: enough to compute it again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from cs_score.base.records import Record, replace
from cs_score.base.signing.signature import Signature
from cs_score.base.sources import InputDigest
from cs_score.base.version import VERSION

ANY_MEASURE: Final = "*"
"""Stands for every measure of a result."""

QUERIES: Final = "queries"
POOL: Final = "pool"
GOLD: Final = "gold"
RUN: Final = "run"
QUERY_LIST: Final = "query list"
SAMPLES: Final = "samples"

ROLES: Final = (QUERIES, POOL, GOLD, RUN, QUERY_LIST, SAMPLES)
"""What an input may be: query files, assessments, the gold file of an evidence mode, a run (predictions, a knowledge
base), the files of `-queries` and `-samples`."""

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
    def signature(self) -> Signature:
        """The citable line.

        The digest of gold covers queries and assessments as a set of contents: in which order they were read, which
        `inputs` have, does not show.
        """
        gold = digest_of(given for given in self.inputs if given.role in _GOLD)
        run = digest_of(given for given in self.inputs if given.role == RUN)
        return Signature(self.measure, self.settings, gold, run, self.version)


def digest_of(inputs: Iterable[InputDigest]) -> str:
    """Eight hexadecimal digits for some contents, in whatever order.

    Those of one content are the first of its SHA-256; those of several begin the SHA-256 of their SHA-256 digests in
    ascending order, each with a line feed.
    """
    digests = sorted(given.sha256 for given in inputs)
    if len(digests) == 1:
        return digests[0][:8]
    return short_digest("".join(f"{digest}\n" for digest in digests))


def short_digest(text: str) -> str:
    """The first eight hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
