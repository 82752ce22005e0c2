"""Find unassessed answers of a run that differ from assessed answers probably by mistake.

Such answers differ only in blanks, Unicode form or letter case, or all offsets of the run are shifted by one number.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.display import join_first
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import Options
from cs_score.coldstart.tab_files import leading_number

_FEWEST_SHIFTED: Final = 3  # answers with one shift; fewer may be chance
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_SPAN: Final = re.compile(r"(.*):(\d+)-(\d+)", re.DOTALL)


def _without_odd_blanks(text: str) -> str:
    """Return a text without invisible characters, its words separated by single blanks."""
    return " ".join(_INVISIBLE.sub("", text).split())


def _composed(text: str) -> str:
    """Return a text with composed letters (Unicode form NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


_FORMS: Final[dict[str, Callable[[str], str]]] = {
    "blanks": _without_odd_blanks,
    "Unicode form": _composed,
    "letter case": str.casefold,
}
"""The differences between texts that count as small, each with a function that removes it."""


def _in_form(text: str, names: Iterable[str]) -> str:
    """Return a text after the functions of these differences have been applied to it."""
    for name in names:
        text = _FORMS[name](text)
    return text


def small_differences(text: str, other_text: str) -> list[str]:
    """Return the names of the small differences between two texts: blanks, Unicode form, letter case.

    The list is empty if the texts are equal, or if they differ in anything else.
    """
    if text == other_text or _in_form(text, _FORMS) != _in_form(other_text, _FORMS):
        return []
    differences = list(_FORMS)
    for name in _FORMS:
        remaining = [difference for difference in differences if difference != name]
        if _in_form(text, remaining) == _in_form(other_text, remaining):
            differences = remaining
    return differences


class _CommonestShift(NamedTuple):
    """The distance in characters by which most responses are shifted, and the responses that are."""

    distance: int
    responses: list[Response]


_Place: TypeAlias = tuple[str, str, str]
"""The full id of a query, the text of an answer, and its document with the length of its span."""


def remarks_on_near_misses(run: Run) -> list[str]:
    """Return remarks on unassessed answers with small differences from assessed answers, and on shifted offsets.

    The list is empty if there are no such answers, or if the discipline compares the values of answers anyway.
    """
    if run.gold.options.discipline != Options().discipline:
        return []
    unassessed = [response for response in run.links.responses if response.follow_on.assessment is None]
    if not unassessed:
        return []
    near = _differing_slightly(unassessed, _assessments_of_same_queries(run, unassessed))
    remarks = []
    if near:
        names = " or ".join(dict.fromkeys(name for _, names in near for name in names))
        places = join_first(response.place for response, _ in near)
        remarks.append(
            f"{len(near)} of {len(unassessed)} unassessed answers equal assessed ones but for {names} ({places})"
        )
    return remarks + _remarks_on_shifts(run, unassessed)


def _assessments_of_same_queries(run: Run, responses: Iterable[Response]) -> list[Assessment]:
    """Return the assessments of the queries that some responses answer, and of their follow-on queries."""
    assessments: list[Assessment] = []
    for base_id in {response.query.base_id for response in responses}:
        assessments += run.gold.assessments_by_query.get(base_id, ())
    return assessments


def _differing_slightly(
    responses: Sequence[Response], assessments: Iterable[Assessment]
) -> list[tuple[Response, list[str]]]:
    """Return the responses with small differences from an assessed answer of the same provenance, and the differences.

    The responses are unassessed.
    """
    # Most assessments have other provenances: a dictionary of all assessments would take five times as long.
    provenances = {response.provenance for response in responses}
    assessed_there = [assessment for assessment in assessments if assessment.provenance in provenances]
    if not assessed_there:
        return []
    values_by_place: dict[tuple[str, str], list[str]] = defaultdict(list)
    for assessment in assessed_there:
        values_by_place[assessment.query.full_id, assessment.provenance].append(assessment.value)
    near: list[tuple[Response, list[str]]] = []
    for response in responses:
        for value in values_by_place.get((response.query.full_id, response.provenance), ()):
            differences = small_differences(response.value, value)
            if differences:
                near.append((response, differences))
                break
    return near


_SAMPLED: Final = 40
"""The number of responses that are searched first for a shift of all offsets.

This saves 8 % of the time of scoring a run of 10,000 lines.
"""

_SUSPICIOUS: Final = 0.25
"""The share of the sampled responses that must have a common shift before all responses are searched for it."""


def _remarks_on_shifts(run: Run, responses: Sequence[Response]) -> list[str]:
    """Return a list with a remark if at least half of the responses are shifted by the same number of characters.

    The shift is measured from assessed answers with the same text in the same document.
    """
    step = max(1, len(responses) // _SAMPLED)
    sample = responses[::step]
    if step > 1:
        shift = _commonest_shift(sample, _assessments_of_same_queries(run, sample))
        if shift is None or len(shift.responses) < _SUSPICIOUS * len(sample):
            return []
    shift = _commonest_shift(responses, _assessments_of_same_queries(run, responses))
    if shift is None:
        return []
    count = len(shift.responses)
    if count < _FEWEST_SHIFTED or 2 * count < len(responses):
        return []
    places = join_first(response.place for response in shift.responses)
    where = "after" if shift.distance > 0 else "before"
    characters = "1 character" if abs(shift.distance) == 1 else f"{abs(shift.distance)} characters"
    return [
        f"{count} of {len(responses)} unassessed answers start {characters} {where} assessed ones of the same text "
        f"({places}); are all offsets of the run shifted?"
    ]


def _commonest_shift(responses: Sequence[Response], assessments: Iterable[Assessment]) -> _CommonestShift | None:
    """Return the shift from assessed answers with the same text that most responses have, None if none is shifted."""
    texts = {(response.query.full_id, response.value) for response in responses}
    starts_by_place: dict[_Place, list[int]] = defaultdict(list)
    for assessment in assessments:
        if (assessment.query.full_id, assessment.value) not in texts:
            continue
        place = _place_and_start(assessment)
        if place is not None:
            starts_by_place[place[0]].append(place[1])
    responses_by_distance: dict[int, list[Response]] = defaultdict(list)
    for response in responses:
        place = _place_and_start(response)
        if place is None:
            continue
        distances = {place[1] - start for start in starts_by_place.get(place[0], ())}
        for distance in distances - {0}:
            responses_by_distance[distance].append(response)
    if not responses_by_distance:
        return None
    distance = max(responses_by_distance, key=lambda distance: len(responses_by_distance[distance]))
    return _CommonestShift(distance, responses_by_distance[distance])


def _place_and_start(line: Response | Assessment) -> tuple[_Place, int] | None:
    """Return the place of an answer without its position, and its first offset; None unless it has a single span."""
    span = _SPAN.fullmatch(line.provenance)
    if span is None or "," in line.provenance:
        return None
    document, start, end = span.groups()
    length = leading_number(end) - leading_number(start)
    place = (line.query.full_id, line.value, f"{document} {length:g}")
    return place, int(leading_number(start))
