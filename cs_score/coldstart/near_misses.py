"""Find unassessed answers of a run that were probably meant to be the same as answers in the pool (assessments). Such
answers are near misses: they differ only in blanks, Unicode form or letter case. Or the offsets of all answers of the
run are shifted by the same number of characters.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.display import join_first
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import Options
from cs_score.coldstart.tab_files import leading_number

_MIN_SHIFTED_ANSWERS: Final = 3  # answers with one shift; fewer may be chance
_INVISIBLE_CHARACTERS: Final = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_SPAN_PATTERN: Final = re.compile(r"(.*):(\d+)-(\d+)", re.DOTALL)


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


def _without_differences(text: str, difference_names: Iterable[str]) -> str:
    """Return a text in a form without the named differences from other texts.

    `difference_names` are keys of `_FUNCTION_BY_DIFFERENCE`. For `blanks` and `letter case`, for example, ` New  York`
    becomes `new york`.
    """
    for difference_name in difference_names:
        remove_difference = _FUNCTION_BY_DIFFERENCE[difference_name]
        text = remove_difference(text)
    return text


def small_differences(text: str, other_text: str) -> list[str]:
    """Return the names of the small differences between two texts: blanks, Unicode form, letter case.

    For `New  York` and `new York` the result is `["blanks", "letter case"]`. The list is empty if the texts are equal,
    or if they differ in anything else.
    """
    all_differences = list(_FUNCTION_BY_DIFFERENCE)
    if text == other_text or not _are_equal_without(all_differences, text, other_text):
        return []
    differences = all_differences
    for name in all_differences:
        # If the texts are equal even though one difference is not removed, they do not have this difference.
        other_differences = [difference for difference in differences if difference != name]
        if _are_equal_without(other_differences, text, other_text):
            differences = other_differences
    return differences


def _are_equal_without(differences: Sequence[str], text: str, other_text: str) -> bool:
    """Return whether two texts are equal after the named differences have been removed from both.

    `New  York` and `new York` are equal without the differences `blanks` and `letter case`.
    """
    return _without_differences(text, differences) == _without_differences(other_text, differences)


class _CommonestShift(NamedTuple):
    """The distance by which more responses are shifted than by any other distance, and these responses.

    The distance is a number of characters. It is positive if the responses start after the assessed answers.
    """

    distance: int
    responses: list[Response]

    @property
    def distance_in_words(self) -> str:
        """The distance with its direction: `3 characters after` for 3, `1 character before` for -1."""
        direction = "after" if self.distance > 0 else "before"
        count = abs(self.distance)
        characters = "1 character" if count == 1 else f"{count} characters"
        return f"{characters} {direction}"


class _LocatedAnswer(NamedTuple):
    """An answer without its offsets, and the offset in its document at which it starts."""

    answer: _AnswerInDocument
    start: int


class _NearMiss(NamedTuple):
    """An unassessed response with small differences from an assessed answer, and the names of the differences."""

    response: Response
    differences: list[str]


class _AnswerSpan(NamedTuple):
    """The query of an answer by its full id, and the passage in which the text of the answer is found.

    For example: `("CSX_ENG_00fb79cef8", "ENG_1:10-20")`.
    """

    query_id: str
    provenance: str


class _AnswerInDocument(NamedTuple):
    """The properties of an answer that do not depend on its position in the document.

    `query_id` is the full id of the query, `value` is the text of the answer, `docid` is its document, and `length` is
    the length of its span.
    """

    query_id: str
    value: str
    docid: str
    length: float


def remarks_on_near_misses(run: Run) -> list[str]:
    """Return remarks on unassessed answers that are nearly the same as assessed answers, and on shifted offsets.

    The list is empty if no answers of either kind are found. It is also empty if the discipline, which says how answers
    are compared with assessments, is not the default one.
    """
    if run.gold.options.discipline != Options().discipline:
        return []
    # All lines and assessments with the same answer share one follow-on query, which holds the assessments of the
    # answer.
    unassessed = [response for response in run.links.responses if response.follow_on.first_assessment is None]
    near_misses = _find_near_misses(unassessed, _assessments_of_same_queries(run, unassessed))
    remarks = []
    if near_misses:
        remarks.append(_remark_on_near_misses(near_misses, len(unassessed)))
    shift = _shift_of_all_offsets(run, unassessed)
    if shift is not None:
        remarks.append(_remark_on_shift(shift, len(unassessed)))
    return remarks


def _remark_on_near_misses(near_misses: Sequence[_NearMiss], unassessed_count: int) -> str:
    """Return the remark on near misses: how many of the unassessed answers they are, how they differ, and where.

    For example: `2 of 9 unassessed answers equal assessed ones but for blanks or letter case (run.tab line 3, ...)`.
    """
    differences: dict[str, None] = {}  # its keys are an ordered set
    for near_miss in near_misses:
        differences.update(dict.fromkeys(near_miss.differences))
    differences_in_words = " or ".join(differences)
    places = join_first([near_miss.response.place for near_miss in near_misses])
    return (
        f"{len(near_misses)} of {unassessed_count} unassessed answers equal assessed ones but for "
        f"{differences_in_words} ({places})"
    )


def _remark_on_shift(shift: _CommonestShift, unassessed_count: int) -> str:
    """Return the remark on shifted offsets: how many of the unassessed answers are shifted, how far, and where.

    For example: `5 of 9 unassessed answers start 1 character after assessed ones of the same text (run.tab line 3 ...`.
    """
    places = join_first([response.place for response in shift.responses])
    return (
        f"{len(shift.responses)} of {unassessed_count} unassessed answers start {shift.distance_in_words} assessed "
        f"ones of the same text ({places}); are all offsets of the run shifted?"
    )


def _assessments_of_same_queries(run: Run, responses: Iterable[Response]) -> list[Assessment]:
    """Return the assessments of answers to the queries that the responses answer, and to their follow-on queries."""
    assessments: list[Assessment] = []
    # A query and its follow-on queries have the same base id. Answers are compared only within a query, so the order of
    # the queries does not matter.
    for base_id in {response.query.base_id for response in responses}:
        assessments += run.gold.assessments_by_query.get(base_id, ())
    return assessments


def _find_near_misses(responses: Sequence[Response], assessments: Iterable[Assessment]) -> list[_NearMiss]:
    """Return the responses whose values have small differences from an assessed value at the same provenance.

    `responses` are unassessed, and `assessments` belong to the same queries.
    """
    # Most assessments have other provenances: a dictionary of all assessments would take five times as long.
    provenances = {response.value_provenance for response in responses}
    assessments_of_same_provenances = [
        assessment for assessment in assessments if assessment.value_provenance in provenances
    ]
    if not assessments_of_same_provenances:
        return []
    values_by_span = _assessed_values_by_span(assessments_of_same_provenances)
    near_misses = []
    for response in responses:
        span = _AnswerSpan(response.query.full_id, response.value_provenance)
        differences = _differences_from_first_similar(response.value, values_by_span.get(span, ()))
        if differences:
            near_misses.append(_NearMiss(response, differences))
    return near_misses


def _assessed_values_by_span(assessments: Iterable[Assessment]) -> dict[_AnswerSpan, list[str]]:
    """Return the texts of assessed answers by their query and the passage in which they are found."""
    values_by_span: dict[_AnswerSpan, list[str]] = defaultdict(list)
    for assessment in assessments:
        span = _AnswerSpan(assessment.query.full_id, assessment.value_provenance)
        values_by_span[span].append(assessment.value)
    return values_by_span


def _differences_from_first_similar(value: str, assessed_values: Iterable[str]) -> list[str]:
    """Return the small differences of an answer from the first assessed answer that has only small differences.

    For `new York` and the assessed values `Boston` and `New York` the result is `["letter case"]`. It is empty if the
    answer has other differences from each of `assessed_values`.
    """
    for assessed_value in assessed_values:
        differences = small_differences(value, assessed_value)
        if differences:
            return differences
    return []


_SAMPLE_SIZE: Final = 40
"""The number of responses that are searched first for a shift of all offsets.

This saves 8 % of the time of scoring a run of 10,000 lines.
"""

_SUSPICIOUS_SHARE: Final = 0.25
"""The share of the sampled responses that must have a common shift before all responses are searched for it."""


def _shift_of_all_offsets(run: Run, responses: Sequence[Response]) -> _CommonestShift | None:
    """Return the shift that at least half of the responses have in common, or None if there is no common shift.

    The shift of a response is its distance from an assessed answer with the same text in the same document. `responses`
    are unassessed. Few responses with the same shift may be chance and do not count.
    """
    if not _may_be_shifted(run, responses):
        return None
    shift = _commonest_shift(responses, _assessments_of_same_queries(run, responses))
    if shift is None:
        return None
    count = len(shift.responses)
    is_minority = 2 * count < len(responses)
    if is_minority or count < _MIN_SHIFTED_ANSWERS:
        return None
    return shift


def _may_be_shifted(run: Run, responses: Sequence[Response]) -> bool:
    """Return whether many responses of a sample have a common shift, so that all responses are worth a search.

    In most runs the sample is enough to see that there is no common shift. For few responses no sample is taken, and
    the result is True.
    """
    step = len(responses) // _SAMPLE_SIZE
    if step < 2:
        return True
    sample = responses[::step]
    shift = _commonest_shift(sample, _assessments_of_same_queries(run, sample))
    return shift is not None and len(shift.responses) >= _SUSPICIOUS_SHARE * len(sample)


def _commonest_shift(responses: Sequence[Response], assessments: Iterable[Assessment]) -> _CommonestShift | None:
    """Return the most frequent shift of responses, and the shifted responses, or None if no response is shifted.

    A response is shifted if an assessed answer to its query has the same text in the same document at another offset.
    """
    assessments_of_same_texts = _assessments_of_same_texts(responses, assessments)
    starts_by_answer = _starts_by_answer(assessments_of_same_texts)
    responses_by_distance: dict[int, list[Response]] = defaultdict(list)
    for response in responses:
        for distance in _shifts_of_response(response, starts_by_answer):
            responses_by_distance[distance].append(response)
    if not responses_by_distance:
        return None
    distance = max(responses_by_distance, key=lambda distance: len(responses_by_distance[distance]))
    return _CommonestShift(distance, responses_by_distance[distance])


def _assessments_of_same_texts(responses: Iterable[Response], assessments: Iterable[Assessment]) -> list[Assessment]:
    """Return the assessments that have the same query and text as a response.

    The texts of most assessed answers do not occur in responses. Leaving these answers out saves most of the time.
    """
    texts = {(response.query.full_id, response.value) for response in responses}
    return [assessment for assessment in assessments if (assessment.query.full_id, assessment.value) in texts]


def _starts_by_answer(assessments: Iterable[Assessment]) -> dict[_AnswerInDocument, list[int]]:
    """Return the offsets at which assessed answers start, by the answer without its offsets.

    An answer has several start offsets if its text was assessed in several places in the document. Answers with several
    spans are left out.
    """
    starts_by_answer: dict[_AnswerInDocument, list[int]] = defaultdict(list)
    for assessment in assessments:
        located = _locate(assessment)
        if located is not None:
            starts_by_answer[located.answer].append(located.start)
    return starts_by_answer


def _shifts_of_response(response: Response, starts_by_answer: Mapping[_AnswerInDocument, Sequence[int]]) -> set[int]:
    """Return the distances, in characters, between a response and the assessed answers with the same text and document.

    For a response that starts at 13 and assessed answers that start at 10 and 13, the result is `{3}`. An answer at the
    same place does not count, because it is not shifted. `starts_by_answer` has the start offsets of the assessed
    answers.
    """
    located = _locate(response)
    if located is None:
        return set()
    assessed_starts = starts_by_answer.get(located.answer, ())
    distances = {located.start - start for start in assessed_starts}
    return distances - {0}


def _locate(line: Response | Assessment) -> _LocatedAnswer | None:
    """Return an answer without its offsets, and the offset at which it starts: for `ENG_1:10-20` this is 10.

    The result is None for an answer with several spans, and for offsets with hundreds of digits, which cannot be
    subtracted.
    """
    span = None if "," in line.value_provenance else _SPAN_PATTERN.fullmatch(line.value_provenance)
    if span is None:
        return None
    docid, start_text, end_text = span.groups()
    start = leading_number(start_text)
    end = leading_number(end_text)
    if math.isinf(start) or math.isinf(end):  # as a floating-point number, a number above 1.8e308 is infinite
        return None
    answer = _AnswerInDocument(query_id=line.query.full_id, value=line.value, docid=docid, length=end - start)
    return _LocatedAnswer(answer, int(start))
