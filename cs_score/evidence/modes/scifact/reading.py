"""Gold and predictions of SciFact as they are read; section numbers refer to the project's SciFact contract."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Final, TypeVar

from cs_score.base.errors import InputError
from cs_score.base.sources import Source
from cs_score.evidence.modes.scifact.judging import (
    GoldAbstract,
    GoldClaim,
    PredictedAbstract,
    PredictedClaim,
    Sentences,
)
from cs_score.evidence.reading import json_reader as reader

Abstract = TypeVar("Abstract")
Claim = TypeVar("Claim", GoldClaim, PredictedClaim)

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


def read_gold_claims(source: Source) -> list[GoldClaim]:
    """The claims of a gold file. Raises InputError for a line that is no gold claim."""
    return _claims(source, gold_claim)


def read_predicted_claims(source: Source) -> list[PredictedClaim]:
    """The claims of a file of predictions. Raises InputError for a line that is no prediction."""
    return _claims(source, predicted_claim)


def gold_claim(value: object) -> GoldClaim:
    """A line of a gold file. Raises InputError for what is no gold claim."""
    claim, abstracts = _claim(value, _gold_abstract)
    return GoldClaim(claim, abstracts, reader.as_object(value, "the line").get("cited_doc_ids"))


def predicted_claim(value: object) -> PredictedClaim:
    """A line of a file of predictions. Raises InputError for what is no prediction."""
    return PredictedClaim(*_claim(value, _predicted_abstract))


def _claims(source: Source, read_claim: Callable[[object], Claim]) -> list[Claim]:
    claims = []
    for number, value in reader.json_lines(source):
        try:
            claims.append(read_claim(value))
        except InputError as error:
            raise reader.located(error, source.name, reader.line_place(number, value)) from None
    return claims


def _claim(value: object, read_abstract: Callable[[object], Abstract]) -> tuple[Hashable, dict[str, Abstract]]:
    """The id of a claim, and its abstracts by id."""
    fields = reader.as_object(value, "the line")
    claim = reader.identifier(fields, "id")
    evidence = reader.as_object(reader.member(fields, "evidence"), "'evidence'")
    return claim, {key: _located(key, read_abstract, given) for key, given in evidence.items()}


def _located(abstract: str, read_abstract: Callable[[object], Abstract], value: object) -> Abstract:
    """What is read of an abstract; errors name it."""
    try:
        return read_abstract(value)
    except InputError as error:
        raise InputError(error.problem, place=f"abstract {reader.plain(abstract)}", remedy=error.remedy) from None


def _gold_abstract(value: object) -> GoldAbstract:
    sets = [reader.as_object(each, "an evidence set") for each in reader.as_list(value, "the gold evidence")]
    if not sets:
        raise InputError("no evidence sets are listed", remedy="leave out abstracts without evidence")
    label = reader.member(sets[0], "label")
    for each in sets[1:]:
        other = reader.member(each, "label")
        if other != label:
            raise InputError(f"evidence sets labelled {reader.quoted(label)} and {reader.quoted(other)}")
    return GoldAbstract(label, tuple(_sentences(each) for each in sets))


def _predicted_abstract(value: object) -> PredictedAbstract:
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
