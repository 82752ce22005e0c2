"""Find unassessed answers of a run that were probably meant to be the same as assessed answers.

Such answers differ from assessed ones only in blanks, Unicode form or letter case, or all offsets of the run are
shifted by the same number of characters.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from cs_score.base.display import join_first
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import Options
from cs_score.coldstart.tab_files import leading_number

_MIN_SHIFTED_ANSWERS: Final = 3  # answers with one shift; fewer may be chance
_INVISIBLE_CHARACTERS: Final = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_SPAN: Final = re.compile(r"(.*):(\d+)-(\d+)", re.DOTALL)


def _without_odd_blanks(text: str) -> str:
    """Return a text without invisible characters, and with single blanks between words."""
    return " ".join(_INVISIBLE_CHARACTERS.sub("", text).split())


def _with_composed_letters(text: str) -> str:
    """Return a text with composed letters (Unicode form NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


_FUNCTION_BY_DIFFERENCE: Final[dict[str, Callable[[str], str]]] = {
    "blanks": _without_odd_blanks,
    "Unicode form": _with_composed_letters,
    "letter case": str.casefold,
}
"""The differences between texts that count as small, each with a function that removes it."""


def _without_differences(text: str, names: Iterable[str]) -> str:
    """Return a text in a form in which the named differences from other texts have disappeared.

    `names` are keys of `_FUNCTION_BY_DIFFERENCE`: for `blanks` and `letter case`, ` New  York` becomes `new york`.
    """
    for name in names:
        remove_difference = _FUNCTION_BY_DIFFERENCE[name]
        text = remove_difference(text)
    return text


def small_differences(text: str, other_text: str) -> list[str]:
    """Return the names of the small differences between two texts: blanks, Unicode form, letter case.

    For `New  York` and `new York` the result is `["blanks", "letter case"]`. The list is empty if the texts are equal,
    or if they differ in anything else.
    """
    if text == other_text:
        return []
    if _without_differences(text, _FUNCTION_BY_DIFFERENCE) != _without_differences(other_text, _FUNCTION_BY_DIFFERENCE):
        return []
    # If the texts are equal even though one difference is not removed, they do not have this difference.
    differences = list(_FUNCTION_BY_DIFFERENCE)
    for name in _FUNCTION_BY_DIFFERENCE:
        remaining = [difference for difference in differences if difference != name]
        if _without_differences(text, remaining) == _without_differences(other_text, remaining):
            differences = remaining
    return differences


class _CommonestShift(NamedTuple):
    """The distance by which more responses are shifted than by any other distance, and these responses.

    The distance is a number of characters. It is positive if the responses start after the assessed answers.
    """

    distance: int
    responses: list[Response]


class _NearMiss(NamedTuple):
    """An unassessed response with small differences from an assessed answer, and the names of the differences."""

    response: Response
    differences: list[str]


class _Passage(NamedTuple):
    """The properties of an answer that do not change if its offsets are shifted.

    `query_id` is the full id of the query, `value` the text of the answer, `docid` its document, and `length` the
    length of its span.
    """

    query_id: str
    value: str
    docid: str
    length: float


def remarks_on_near_misses(run: Run) -> list[str]:
    """Return remarks on unassessed answers that are nearly the same as assessed answers, and on shifted offsets.

    The list is empty if there are no such answers. It is also empty if the option for the discipline, which says how
    answers are compared with assessments, has another value than the default.
    """
    if run.gold.options.discipline != Options().discipline:
        return []
    unassessed = [response for response in run.links.responses if response.follow_on.assessment is None]
    if not unassessed:
        return []
    remarks = []
    assessments = _assessments_of_same_queries(run, unassessed)
    near_misses = _find_near_misses(unassessed, assessments)
    if near_misses:
        all_differences: dict[str, None] = {}  # its keys are an ordered set
        for near_miss in near_misses:
            all_differences.update(dict.fromkeys(near_miss.differences))
        names = " or ".join(all_differences)
        places = join_first([near_miss.response.place for near_miss in near_misses])
        remarks.append(
            f"{len(near_misses)} of {len(unassessed)} unassessed answers equal assessed ones but for {names} ({places})"
        )
    remarks += _remarks_on_shifts(run, unassessed)
    return remarks


def _assessments_of_same_queries(run: Run, responses: Iterable[Response]) -> list[Assessment]:
    """Return the assessments of answers to the queries that the responses answer, and to their follow-on queries."""
    assessments: list[Assessment] = []
    for base_id in {response.query.base_id for response in responses}:
        assessments += run.gold.assessments_by_query.get(base_id, ())
    return assessments


def _find_near_misses(responses: Sequence[Response], assessments: Iterable[Assessment]) -> list[_NearMiss]:
    """Return the responses whose values have small differences from an assessed value at the same provenance.

    `responses` are unassessed, and `assessments` belong to the same queries.
    """
    # Most assessments have other provenances: a dictionary of all assessments would take five times as long.
    provenances = {response.provenance for response in responses}
    assessments_of_same_provenances = [assessment for assessment in assessments if assessment.provenance in provenances]
    if not assessments_of_same_provenances:
        return []
    assessed_values: dict[tuple[str, str], list[str]] = defaultdict(list)
    for assessment in assessments_of_same_provenances:
        key = (assessment.query.full_id, assessment.provenance)
        assessed_values[key].append(assessment.value)
    near_misses: list[_NearMiss] = []
    for response in responses:
        key = (response.query.full_id, response.provenance)
        for assessed_value in assessed_values.get(key, ()):
            differences = small_differences(response.value, assessed_value)
            if differences:
                near_misses.append(_NearMiss(response, differences))
                break
    return near_misses


_SAMPLE_SIZE: Final = 40
"""The number of responses that are searched first for a shift of all offsets.

This saves 8 % of the time of scoring a run of 10,000 lines.
"""

_SUSPICIOUS_SHARE: Final = 0.25
"""The share of the sampled responses that must have a common shift before all responses are searched for it."""


def _remarks_on_shifts(run: Run, responses: Sequence[Response]) -> list[str]:
    """Return a list with a remark if at least half of the responses are shifted by the same number of characters.

    The shift of a response is its distance from an assessed answer with the same text in the same document. `responses`
    are unassessed. The list is empty if there is no such shift.
    """
    # In most runs a sample of the responses is enough to see that there is no common shift.
    step = max(1, len(responses) // _SAMPLE_SIZE)
    if step > 1:
        sample = responses[::step]
        shift_of_sample = _commonest_shift(sample, _assessments_of_same_queries(run, sample))
        if shift_of_sample is None or len(shift_of_sample.responses) < _SUSPICIOUS_SHARE * len(sample):
            return []

    shift = _commonest_shift(responses, _assessments_of_same_queries(run, responses))
    if shift is None:
        return []
    count = len(shift.responses)
    is_minority = 2 * count < len(responses)
    if count < _MIN_SHIFTED_ANSWERS or is_minority:
        return []
    places = join_first([response.place for response in shift.responses])
    where = "after" if shift.distance > 0 else "before"
    character_count = abs(shift.distance)
    characters = "1 character" if character_count == 1 else f"{character_count} characters"
    return [
        f"{count} of {len(responses)} unassessed answers start {characters} {where} assessed ones of the same text "
        f"({places}); are all offsets of the run shifted?"
    ]


def _commonest_shift(responses: Sequence[Response], assessments: Iterable[Assessment]) -> _CommonestShift | None:
    """Return the commonest shift of responses from assessed answers to the same query with the same text.

    The result is None if no response is shifted.
    """
    # Collect the starts of the assessed answers. Most have texts that no response has, and are left out.
    texts = {(response.query.full_id, response.value) for response in responses}
    starts_by_passage: dict[_Passage, list[int]] = defaultdict(list)
    for assessment in assessments:
        if (assessment.query.full_id, assessment.value) not in texts:
            continue
        located = _passage_and_start(assessment)
        if located is not None:
            passage, start = located
            starts_by_passage[passage].append(start)

    # Collect the distances of each response from assessed answers. A response may have several distances.
    responses_by_distance: dict[int, list[Response]] = defaultdict(list)
    for response in responses:
        located = _passage_and_start(response)
        if located is None:
            continue
        passage, start = located
        distances = {start - assessed_start for assessed_start in starts_by_passage.get(passage, ())}
        for distance in distances - {0}:
            responses_by_distance[distance].append(response)
    if not responses_by_distance:
        return None
    commonest_distance = max(responses_by_distance, key=lambda distance: len(responses_by_distance[distance]))
    return _CommonestShift(commonest_distance, responses_by_distance[commonest_distance])


def _passage_and_start(line: Response | Assessment) -> tuple[_Passage, int] | None:
    """Return the passage of an answer, and the offset at which it starts: for `ENG_1:10-20` this is 10.

    The result is None for an answer with several spans, and for offsets with hundreds of digits, which cannot be
    subtracted.
    """
    if "," in line.provenance:
        return None
    span = _SPAN.fullmatch(line.provenance)
    if span is None:
        return None
    docid, start_text, end_text = span.groups()
    start = leading_number(start_text)
    end = leading_number(end_text)
    if math.isinf(start) or math.isinf(end):  # offsets with hundreds of digits
        return None
    passage = _Passage(query_id=line.query.full_id, value=line.value, docid=docid, length=end - start)
    return passage, int(start)
