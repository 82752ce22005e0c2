"""The answers of earlier lines, for runs that are scored one by one against the same queries and assessments.

The answers of such runs repeat: those of the pool, and those of other runs of the same system. What an answer is, and
which follow-on query asks about it, does not depend on the run that gives it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cs_score.coldstart.records import Assessment

_MOST: Final = 1 << 18
"""Answers that are kept: with their texts they need some 60 MB."""


def answer_key(query_id: str, relation: str, value: str, provenance: str) -> str:
    """What finds an answer to the query of this full id: columns hold no tabs, so no other answer has the same."""
    return f"{query_id}\t{relation}\t{value}\t{provenance}"


class KnownAnswers:
    """Answers that are canonical as they stand, each with the short id of its follow-on query.

    Shared by all branches of a linker. The first ones are kept for good; no more are taken when it is full.
    """

    def __init__(self, assessments: Iterable[Assessment]) -> None:
        self._targets: dict[str, str] = {}
        self.find: Final = self._targets.get
        """The id for the answer with this key; None where it is not known."""
        for line in assessments:
            self.add(answer_key(line.query.full_id, *line.answer), line.target)

    def add(self, key: str, target: str) -> None:
        """Keep an answer, as long as there is room."""
        if len(self._targets) < _MOST:
            self._targets[key] = target
