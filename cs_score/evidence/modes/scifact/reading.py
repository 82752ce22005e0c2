"""A line of a SciFact file as a claim; section numbers refer to the project's SciFact contract."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Final

from cs_score.evidence.modes.scifact.judging import (
    GoldAbstract,
    GoldClaim,
    PredictedAbstract,
    PredictedClaim,
    Sentences,
)
from cs_score.evidence.reading import json_reader as reader
from cs_score.foundation.errors import InputError

LABELS: Final = ("SUPPORT", "CONTRADICT")

# What other tasks and earlier texts call the two labels, and the third label that is not predicted here.
_OTHER_SPELLINGS: Final = {
    "SUPPORT": "SUPPORT",
    "SUPPORTS": "SUPPORT",
    "SUPPORTED": "SUPPORT",
    "CONTRADICT": "CONTRADICT",
    "CONTRADICTS": "CONTRADICT",
    "CONTRADICTED": "CONTRADICT",
    "REFUTE": "CONTRADICT",
    "REFUTES": "CONTRADICT",
    "REFUTED": "CONTRADICT",
}
_NO_VERDICT: Final = frozenset({"NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO", "NEI", "NOINFO"})


def gold_claim(value: object) -> GoldClaim:
    """A gold claim. Raises InputError for what is none."""
    fields, claim, evidence = _claim(value)
    abstracts = {key: _gold_abstract(key, sets) for key, sets in evidence.items()}
    return GoldClaim(claim, abstracts, fields.get("cited_doc_ids"))


def predicted_claim(value: object) -> PredictedClaim:
    """A predicted claim. Raises InputError for what is none, and for another label than the two."""
    _, claim, evidence = _claim(value)
    return PredictedClaim(claim, {key: _predicted(key, given) for key, given in evidence.items()})


def _claim(value: object) -> tuple[reader.Object, Hashable, reader.Object]:
    fields = reader.as_object(value, "the line")
    claim = reader.identifier(fields, "id")
    return fields, claim, reader.as_object(reader.member(fields, "evidence"), "'evidence'")


def _gold_abstract(abstract: str, value: object) -> GoldAbstract:
    try:
        sets = [reader.as_object(each, "an evidence set") for each in reader.as_list(value, "the gold evidence")]
        if not sets:
            raise InputError("no evidence sets are listed", remedy="leave out abstracts without evidence")
        label = reader.member(sets[0], "label")
        for each in sets[1:]:
            other = reader.member(each, "label")
            if other != label:
                raise InputError(f"evidence sets labelled {reader.quoted(label)} and {reader.quoted(other)}")
        return GoldAbstract(label, tuple(_sentences(each) for each in sets))
    except InputError as error:
        raise _in_abstract(error, abstract) from None


def _predicted(abstract: str, value: object) -> PredictedAbstract:
    try:
        if isinstance(value, list):
            raise InputError(
                "a list of entries where one object with label and sentences is expected",
                remedy="files in this shape are scored with cs-score claims",
            )
        fields = reader.as_object(value, "the prediction")
        label = reader.member(fields, "label")
        if not isinstance(label, str) or label not in LABELS:
            raise _bad_label(label)
        return PredictedAbstract(sys.intern(label), _sentences(fields))
    except InputError as error:
        raise _in_abstract(error, abstract) from None


def _in_abstract(error: InputError, abstract: str) -> InputError:
    return InputError(error.problem, place=f"abstract {reader.plain(abstract)}", remedy=error.remedy)


def _bad_label(label: object) -> InputError:
    spelled = label.strip().upper() if isinstance(label, str) else ""
    remedy = None
    if spelled in _OTHER_SPELLINGS:
        remedy = f"write {_OTHER_SPELLINGS[spelled]}"
    elif spelled in _NO_VERDICT:
        remedy = "leave out abstracts without a verdict"
    return InputError(f"label {reader.quoted(label)} is not one of {', '.join(LABELS)}", remedy=remedy)


def _sentences(fields: reader.Object) -> Sentences:
    sentences = tuple(reader.as_list(reader.member(fields, "sentences"), "'sentences'"))
    try:
        hash(sentences)
    except TypeError:
        raise InputError("'sentences' holds a list or an object where sentence numbers are expected") from None
    return sentences
