"""The columns of the score tables: names, headers, formats, meanings (specification 10.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record

RUN_ID: Final = "run_id"
"""Attribute of fields that show the run id, which rows do not hold: it is that of the whole table."""


class Field(Record):
    """One column: its header, the attribute of a row that it shows, how it is formatted, and the side of its padding.

    A field of `counts` is blank where a row is a mean and has none.
    """

    header: str
    attribute: str
    format: str
    meaning: str
    pad_left: bool = False


def _count(attribute: str, header: str, meaning: str) -> Field:
    return Field(header, f"counts.{attribute}", "%4d", meaning, pad_left=True)


SCORE_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "%s", "query, or query and class"),
    "RUNID": Field("RunID", RUN_ID, "%s", "run"),
    "LEVEL": Field("Hop", "level", "%s", "hop from 0 on, or ALL"),
    "GT": _count("ground_truth", "GT", "classes to be found"),
    "SUBMITTED": _count("submitted", "Submitted", "responses"),
    "CORRECT": _count("correct", "Correct", "responses assessed as correct, below a right parent"),
    "INCORRECT": _count("incorrect", "Incorrect", "responses assessed as incorrect, below a right parent"),
    "INEXACT": _count("inexact", "Inexact", "responses assessed as inexact, below a right parent"),
    "INCORRECT_PARENT": _count("incorrect_parent", "PIncorrect", "responses below an answer that is not right"),
    "UNASSESSED": _count("unassessed", "Unassessed", "responses without assessment, below a right parent"),
    "REDUNDANT": _count("redundant", "Dup", "duplicates of a right response"),
    "RIGHT": _count("right", "Right", "responses that count as right"),
    "WRONG": _count("wrong", "Wrong", "responses that count as wrong"),
    "IGNORED": _count("ignored", "Ignored", "responses that are left out of precision"),
    "P": Field("Prec", "precision", "%6.4f", "precision"),
    "R": Field("Recall", "recall", "%6.4f", "recall"),
    "F": Field("F1", "f1", "%6.4f", "F1"),
}

AP_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "%s", "query"),
    "RUNID": Field("RunID", RUN_ID, "%s", "run"),
    "LEVEL": Field("Hop", "level", "%s", "hop"),
    "AP": Field("AP", "scores.AP", "%6.4f", "average precision"),
}

DEFAULT_FIELDS: Final = tuple(SCORE_FIELDS)

SUMMARY_FIELDS: Final = ("EC", "RUNID", "LEVEL", "P", "R", "F")
"""The columns of `.ldcmean` and `.summary`, whatever `-fields` says."""


def check_fields(names: Iterable[str]) -> None:
    """Raises InputError for a name that is no field."""
    for name in names:
        if name not in SCORE_FIELDS:
            raise InputError(f"Unknown field: {name}", remedy=f"the fields are {':'.join(SCORE_FIELDS)}")


def resampled_metrics(fields: Collection[str]) -> tuple[str, ...]:
    """The metrics that resamples have values of, by the fields shown: cells are found by their row's name and hop."""
    if not {"EC", "LEVEL"} <= set(fields):
        return ()
    return tuple(metric for metric in ("P", "R", "F") if metric in fields)
