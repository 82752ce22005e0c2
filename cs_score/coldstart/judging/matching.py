"""Which assessment a response meets, by discipline (specification 6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from cs_score.coldstart.lines.linking import Linker
from cs_score.coldstart.lines.records import CORRECT, Answer, Assessment, LinkedQuery, Response
from cs_score.coldstart.options import no_discipline
from cs_score.foundation.errors import InputError
from cs_score.problems.log import ProblemLog

if TYPE_CHECKING:  # they stand below matching
    from cs_score.coldstart.judging.class_tree import ClassTree
    from cs_score.coldstart.ranking.classes import AssessedClasses

_FINAL_SIGMA: Final = str.maketrans("Σ", "σ")


def lower_case(text: str) -> str:
    """`text` in lower case, character by character: a capital sigma never takes its final form."""
    return (text.translate(_FINAL_SIGMA) if "Σ" in text else text).lower()


def _as_written(text: str) -> str:
    return text


# Discipline -> the form in which two values are compared when no assessment has the same justification; None: never.
_COMPARED: Final[dict[str, Callable[[str], str] | None]] = {
    "ASSESSED": None,
    "STRING_CASE": lower_case,
    "STRING_EXACT": _as_written,
}


def assessments_by_query(assessments: Iterable[Assessment]) -> dict[str, list[Assessment]]:
    """Assessments by the base id of their query, in load order."""
    by_query: dict[str, list[Assessment]] = defaultdict(list)
    for assessment in assessments:
        by_query[assessment.query.base_id].append(assessment)
    return dict(by_query)


class Found(NamedTuple):
    """Of assessments that meet the same responses the one that counts, and whether several of them are correct."""

    assessment: Assessment
    is_ambiguous: bool


_Key = TypeVar("_Key", bound=Hashable)

_Exact: TypeAlias = tuple[LinkedQuery, Answer]
"""What a response and an assessment with the same justification have in common."""


def _add(found: dict[_Key, Found], key: _Key, assessment: Assessment) -> None:
    """Add an assessment in load order: the first correct one counts, or the first of all."""
    known = found.get(key)
    if known is None:
        found[key] = Found(assessment, False)
    elif assessment.judgment == CORRECT:
        was_correct = known.assessment.judgment == CORRECT
        found[key] = Found(known.assessment if was_correct else assessment, was_correct)


class AssessmentIndex:
    """The assessments by answer, by query and, where the discipline compares values, by value.

    It depends on nothing but the assessments, so that one index serves all runs that are scored against them. `trees`
    and `classes` keep what scoring derives from the assessments of a query, by its id, at its first use; `trees` only
    those of queries about which nothing is to be reported.
    """

    def __init__(self, linker: Linker, discipline: str) -> None:
        """Raises InputError for an unknown discipline, and where the class of an assessed query is not known."""
        if discipline not in _COMPARED:
            raise InputError(no_discipline(discipline))
        self.size = len(linker.assessments)
        self.compared = _COMPARED[discipline]
        # The follow-on id of an answer stands for query, value and value provenance, so it finds all candidates.
        self.trees: dict[str, ClassTree] = {}
        self.classes: dict[str, AssessedClasses] = {}
        self.by_query = assessments_by_query(linker.assessments)
        self.by_answer: dict[str, Assessment] = {}
        self.exact: dict[str, dict[_Exact, Found]] = {}  # of the answers that several assessments have
        for assessment in linker.assessments:
            first = self.by_answer.setdefault(assessment.target, assessment)
            if first is not assessment:
                exact = self.exact.setdefault(assessment.target, {(first.query, first.answer): Found(first, False)})
                _add(exact, (assessment.query, assessment.answer), assessment)
        self.by_value: dict[tuple[str, int, str, str], Found] = {}
        if self.compared is not None:
            for assessment in linker.assessments:
                query = assessment.query
                parent_class = linker.class_of_query(query)
                key = (query.base_id, query.level, parent_class, self.compared(assessment.value))
                _add(self.by_value, key, assessment)


class Matcher:
    """Finds assessments by dictionary: one look-up a response, whatever the size of the pool."""

    def __init__(self, linker: Linker, index: AssessmentIndex, problems: ProblemLog) -> None:
        self._linker = linker
        self._problems = problems
        self._compared = index.compared
        self._by_answer = index.by_answer
        self._exact = index.exact
        self._by_value = index.by_value

    def match(self, response: Response) -> Assessment | None:
        """The assessment of a response, or None. Several correct ones are warned of, and the first counts."""
        candidate = self._by_answer.get(response.target)
        if candidate is not None:
            if response.target not in self._exact:
                if response.query is candidate.query and response.answer == candidate.answer:
                    return candidate
            elif exact := self._exact[response.target].get((response.query, response.answer)):
                return self._take(response, exact)
        if self._compared is None:
            return None
        query = response.query
        parent_class = self._linker.class_of_query(query)
        same_text = self._by_value.get((query.base_id, query.level, parent_class, self._compared(response.value)))
        return None if same_text is None else self._take(response, same_text)

    def _take(self, response: Response, found: Found) -> Assessment:
        if found.is_ambiguous:
            self._problems.add("MULTIPLE_CORRECT_GROUND_TRUTH", response.query.short_id, place=response.place)
        return found.assessment
