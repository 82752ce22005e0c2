"""Find assessments similar to a line that has none: with the same value elsewhere, another value at its place ... An
assessment is an answer of the pool with a person's judgment on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from cs_score.coldstart.lines import Assessment, Response

_MOST_NEAR: Final = 3
"""The most assessments that are named for a line."""


class _Nearness(NamedTuple):
    """A way in which an assessment may be similar to a line: its description, and the columns that both share.

    The columns are given by their first letters: query, relation provenance, value, place and document. `qrv` means
    that query, relation provenance and value are the same. If there are several combinations, one of them is enough.
    """

    description: str
    column_combinations: tuple[str, ...]


_NEAREST_FIRST: Final = (
    _Nearness("the same answer with another justification", ("qrvp",)),
    _Nearness("the same answer with another justification", ("qvp",)),
    _Nearness("the same value elsewhere", ("rvp", "qrv")),
    _Nearness("the same value elsewhere", ("vp", "qv", "rv")),
    _Nearness("the same value elsewhere", ("v",)),
    _Nearness("the same place with another value", ("qrp",)),
    _Nearness("the same place with another value", ("qp", "rp")),
    _Nearness("the same place with another value", ("p",)),
    _Nearness("the same document", ("qrd",)),
    _Nearness("the same document", ("qd", "rd")),
    _Nearness("the same document", ("d",)),
)

_ALL_COMBINATIONS: Final = [text for nearness in _NEAREST_FIRST for text in nearness.column_combinations]

_SharedKey: TypeAlias = tuple[object, ...]
"""A combination of columns with the hop of the query and the texts in these columns."""


class NearAssessment(NamedTuple):
    """An assessment that is similar to a line, and a description of how it is similar."""

    description: str
    assessment: Assessment


class _NumberedAssessment(NamedTuple):
    """An assessment with its position among all that are searched."""

    number: int
    assessment: Assessment


class AssessmentIndex:
    """Finds assessments by the columns that a line shares with them."""

    def __init__(self, assessments: Iterable[Assessment]) -> None:
        """Index some assessments. If several are equally similar to a line, the first ones are preferred."""
        self._assessments_by_key: dict[_SharedKey, list[_NumberedAssessment]] = defaultdict(list)
        for number, assessment in enumerate(assessments):
            for key in _shared_keys(assessment, _ALL_COMBINATIONS):
                # Of equally similar assessments, the first three are enough. At most two others with the same key share
                # more columns with the line, because three of them would end the search before this key is looked up.
                if len(self._assessments_by_key[key]) < 2 * _MOST_NEAR:
                    self._assessments_by_key[key].append(_NumberedAssessment(number, assessment))

    def nearest_to(self, line: Response) -> list[NearAssessment]:
        """Return up to three assessments that are similar to a line, the most similar first."""
        near_by_number: dict[int, NearAssessment] = {}
        for nearness in _NEAREST_FIRST:
            for number, assessment in self._sharing_columns(line, nearness.column_combinations):
                # An assessment keeps the first description, which is about the most columns.
                near_by_number.setdefault(number, NearAssessment(nearness.description, assessment))
            if len(near_by_number) >= _MOST_NEAR:
                break
        return list(near_by_number.values())[:_MOST_NEAR]

    def _sharing_columns(self, line: Response, combinations: Iterable[str]) -> list[_NumberedAssessment]:
        """Return the assessments that share a combination of columns with a line, in their original order.

        A combination is a text such as `qv`, which stands for the columns query and value. An assessment is returned
        once for each of the `combinations` that it shares with the line.
        """
        assessments: list[_NumberedAssessment] = []
        for key in _shared_keys(line, combinations):
            assessments += self._assessments_by_key.get(key, ())
        return sorted(assessments, key=attrgetter("number"))


def _shared_keys(line: Response | Assessment, combinations: Iterable[str]) -> list[_SharedKey]:
    """Return a key for each combination of columns: lines with the same texts in these columns have the same key.

    A combination is a text with the first letters of its columns, such as `qv` for query and value. Lines of different
    hops never have the same key.
    """
    relation, value, place = line.answer
    text_by_letter = {"q": line.query.full_id, "r": relation, "v": value, "p": place, "d": line.docid}
    keys: list[_SharedKey] = []
    for combination in combinations:
        texts = [text_by_letter[letter] for letter in combination]
        keys.append((combination, line.query.level, *texts))
    return keys
