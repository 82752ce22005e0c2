"""The answers of earlier lines, for runs that are scored one by one against the same queries and assessments.

The answers of such runs repeat: those of the pool, and those of other runs of the same system. What an answer is, and
which follow-on query asks about it, does not depend on the run that gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from cs_score.coldstart.lines.records import Answer, Assessment

_MOST: Final = 1 << 18
"""Answers that are kept: with their texts they need some 80 MB."""

KnownAnswer: TypeAlias = tuple[Answer | None, str]
"""The answer as its assessment holds it, None where it has none; and the short id of its follow-on query."""


def answer_key(query_id: str, relation: str, value: str, provenance: str) -> str:
    """What finds an answer to the query of this full id: columns hold no tabs, so no other answer has the same."""
    return f"{query_id}\t{relation}\t{value}\t{provenance}"


class KnownAnswers:
    """Answers that are canonical as they stand.

    Shared by all branches of a linker. The first ones are kept for good; no more are taken when it is full.
    """

    def __init__(self, assessments: Iterable[Assessment]) -> None:
        self._by_key: dict[str, KnownAnswer] = {
            answer_key(line.query.full_id, *line.answer): (line.answer, line.target) for line in assessments
        }
        self.find: Callable[[str], KnownAnswer | None] = self._by_key.get
        """What is known of the answer with this key, or None."""

    def __getstate__(self) -> dict[str, KnownAnswer]:
        """A copy: another thread may be adding answers."""
        return self._by_key.copy()

    def __setstate__(self, by_key: dict[str, KnownAnswer]) -> None:
        self._by_key = by_key
        self.find = by_key.get

    def add(self, key: str, target: str) -> None:
        """Keep an answer of a run, as long as there is room, with the short id of its follow-on query."""
        if len(self._by_key) < _MOST:
            self._by_key[key] = None, target
