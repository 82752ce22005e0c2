"""Which assessment a response has, by discipline (specification 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.coldstart.lines.links import Links
from cs_score.coldstart.lines.records import Assessment, Judgement, Response
from cs_score.coldstart.options import no_discipline
from cs_score.problems.log import ProblemLog

_FINAL_SIGMA: Final = str.maketrans("Σ", "σ")

Matched: TypeAlias = Mapping[int, Assessment]
"""The assessment of each response that has one, by the response's index."""

ValueKey: TypeAlias = tuple[int, str, str]
"""Level, class of the query that is answered, and value as a discipline compares it."""

ByValue: TypeAlias = Mapping[ValueKey, Judgement]
"""How the answers to a query and its follow-on queries were judged, whatever their justification."""


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


def check_discipline(name: str) -> None:
    """Raises InputError for a discipline that is not there."""
    if name not in _COMPARED:
        raise InputError(no_discipline(name))


def compares_values(discipline: str) -> bool:
    """Whether an assessment of the same value counts where none has the same justification."""
    return _COMPARED[discipline] is not None


def index_values(assessments: Iterable[Assessment], links: Links, discipline: str) -> ByValue:
    """The assessments of one query by value, as the discipline compares it; empty where it does not.

    Raises InputError where the class of an assessed query is not known.
    """
    compared = _COMPARED[discipline]
    by_value: dict[ValueKey, Judgement] = {}
    if compared is None:
        return by_value
    for assessment in assessments:
        key = _value_key(assessment, links, compared)
        known = by_value.get(key)
        by_value[key] = Judgement(assessment, False) if known is None else known.and_also(assessment)
    return by_value


def match(
    responses: Iterable[Response], by_value: ByValue, links: Links, discipline: str, problems: ProblemLog
) -> dict[int, Assessment]:
    """The assessment of each response to one query or its follow-on queries that has one, by the response's index.

    `by_value`: from `index_values`. Several correct candidates are warned of. Raises InputError where the class of an
    answered query is needed and not known.
    """
    compared = _COMPARED[discipline]
    matched: dict[int, Assessment] = {}
    for response in responses:
        follow_on = response.follow_on
        judgement, first = None, follow_on.assessment
        if first is not None:
            query, answer = response.query, response.answer
            if follow_on.judgements is None and first.query is query and first.answer == answer:
                matched[response.index] = first  # assessed once, as nearly all answers are
                continue
            judgement = follow_on.judgement_of(query, answer)
        if judgement is None and compared is not None:
            judgement = by_value.get(_value_key(response, links, compared))
        if judgement is not None:
            if judgement.is_ambiguous:
                problems.add("MULTIPLE_CORRECT_GROUND_TRUTH", response.query.short_id, place=response.place)
            matched[response.index] = judgement.assessment
    return matched


def _value_key(line: Response | Assessment, links: Links, compared: Callable[[str], str]) -> ValueKey:
    return line.query.level, links.class_of_query(line.query), compared(line.value)
