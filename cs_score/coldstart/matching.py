"""Which assessment a response meets, by discipline (specification 6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from cs_score.coldstart.linking import Linker
from cs_score.coldstart.options import no_discipline
from cs_score.coldstart.records import CORRECT, Assessment, Response
from cs_score.errors import InputError
from cs_score.problems import ProblemLog

if TYPE_CHECKING:  # they stand below matching
    from cs_score.coldstart.equivalence import ClassTree
    from cs_score.coldstart.ranking import AssessedClasses

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
        self.others: dict[str, list[Assessment]] = {}
        for assessment in linker.assessments:
            if self.by_answer.setdefault(assessment.target, assessment) is not assessment:
                self.others.setdefault(assessment.target, []).append(assessment)
        self.by_value: dict[tuple[str, int, str, str], list[Assessment]] = {}
        if self.compared is not None:
            for assessment in linker.assessments:
                query = assessment.query
                parent_class = linker.class_of_query(query)
                key = (query.base_id, query.level, parent_class, self.compared(assessment.value))
                self.by_value.setdefault(key, []).append(assessment)


class Matcher:
    """Finds assessments by dictionary: one look-up a response, whatever the size of the pool."""

    def __init__(self, linker: Linker, index: AssessmentIndex, problems: ProblemLog) -> None:
        self._linker = linker
        self._problems = problems
        self._compared = index.compared
        self._by_answer = index.by_answer
        self._others = index.others
        self._by_value = index.by_value

    def match(self, response: Response) -> Assessment | None:
        """The assessment of a response, or None. Several correct ones are warned of, and the first counts."""
        candidate = self._by_answer.get(response.target)
        if candidate is not None:
            if response.target not in self._others:
                if _same(response, candidate):
                    return candidate
            else:
                exact = [a for a in (candidate, *self._others[response.target]) if _same(response, a)]
                if exact:
                    return self._choose(response, exact)
        if self._compared is None:
            return None
        query = response.query
        parent_class = self._linker.class_of_query(query)
        same_text = self._by_value.get((query.base_id, query.level, parent_class, self._compared(response.value)))
        return self._choose(response, same_text) if same_text else None

    def _choose(self, response: Response, candidates: Sequence[Assessment]) -> Assessment:
        correct = [assessment for assessment in candidates if assessment.judgment == CORRECT]
        if len(correct) > 1:
            self._problems.add("MULTIPLE_CORRECT_GROUND_TRUTH", response.query.short_id, place=response.place)
        return correct[0] if correct else candidates[0]


def _same(response: Response, assessment: Assessment) -> bool:
    return response.query is assessment.query and response.answer == assessment.answer
