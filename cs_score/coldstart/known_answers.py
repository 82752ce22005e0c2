"""The answers of earlier lines, for runs that are scored one by one against the same queries and assessments.

The answers of such runs repeat: those of the pool, and those of other runs of the same system. What an answer is, and
which follow-on query asks about it, does not depend on the run that gives it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cs_score.coldstart.records import Answer, Assessment

_MOST: Final = 1 << 18
"""Answers that are kept: with their texts they need some 160 MB."""


def answer_key(query_id: str, relation: str, value: str, provenance: str) -> str:
    """What finds an answer to the query of this full id: columns hold no tabs, so no other answer has the same."""
    return f"{query_id}\t{relation}\t{value}\t{provenance}"


class KnownAnswers:
    """Answers that are canonical as they stand, each with the id of its follow-on query.

    Shared by all branches of a linker. The first ones are kept for good; no more are taken when it is full.
    """

    def __init__(self, assessments: Iterable[Assessment]) -> None:
        self._answers: dict[str, tuple[Answer, str]] = {}
        self.find: Final = self._answers.get
        """The answer of a key, and the short id of its follow-on query; None where it is not known."""
        for line in assessments:
            self.add(answer_key(line.query.full_id, *line.answer), line.answer, line.target)

    def add(self, key: str, answer: Answer, target: str) -> None:
        """Keep an answer and the short id of its follow-on query, as long as there is room."""
        if len(self._answers) < _MOST:
            self._answers[key] = answer, target
