"""Finds the remedy for a file that a task refuses: what is wrong with the form of the file, and the line to type."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from cs_score.base.errors import InputError
from cs_score.base.sources import name_of
from cs_score.evidence.forms import claims, hotpotqa, r4c, scifact, stages
from cs_score.evidence.forms.files import Advice, Values, conversion, text_of_file, values_of
from cs_score.evidence.forms.form import AS_IT_IS, CanScore, Files, Remedy
from cs_score.evidence.mode import Mode
from cs_score.evidence.reading import Gold

_FIND_REMEDY: Final[Mapping[str, Callable[[Any, Files], Remedy]]] = {
    "scifact": scifact.find_remedy,
    "claims": claims.find_remedy,
    "hotpotqa": hotpotqa.find_remedy,
    "r4c": r4c.find_remedy,
    **{f"scifact-{stage}": partial(stages.find_remedy, stage) for stage in stages.WANTED},
}
"""The function that finds the remedy for the value of a file, by task."""


def add_remedy(
    mode: Mode, error: InputError, gold: object, predictions: object | None, can_score: CanScore
) -> InputError:
    """Return an error about a file with the remedy for the form of the file, if that form is recognised.

    `can_score` tries the files as another task, so that no remedy is refused itself. Only files on disk are looked at:
    standard input cannot be read again.
    """
    gold_file = _path_of(gold)
    predictions_file = _path_of(predictions)
    if error.file is None or error.file not in (gold_file, predictions_file) or not os.path.isfile(error.file):
        return error
    remedy = None
    if not isinstance(gold, Gold):  # gold that has been read was no predictions file
        remedy = _find_swap(mode, gold_file, predictions_file)
    if remedy is None:
        files = Files(
            gold=gold_file or "",
            predictions=predictions_file,
            is_gold=error.file == gold_file,
            has_number_ids=partial(_has_number_ids, gold_file),
            can_score=can_score,
        )
        remedy = _find_remedy(mode, error.file, files)
    if remedy is None:
        return error
    return InputError(error.problem, file=error.file, place=error.place, remedy=remedy, code=error.code)


def _path_of(source: object) -> str | None:
    """Return the name of a file that was given as gold or predictions; None for values from memory."""
    if isinstance(source, Gold):
        return source.name
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "read"):
        return name_of(source)  # type: ignore[arg-type]  # an object with a method `read` is a file
    return None


def _find_remedy(mode: Mode, file: str, files: Files) -> str | None:
    """Return the remedy for a file in words; None if its form is as wanted or not recognised."""
    values = _read_values(file, has_lines=mode.has_lines)
    if values is None:
        return None
    if isinstance(values, Advice):
        return str(values)
    find_remedy = _FIND_REMEDY.get(mode.name)
    remedy: Remedy = AS_IT_IS if find_remedy is None else find_remedy(values.value, files)
    if isinstance(remedy, Advice):
        return str(remedy) if remedy.diagnosis else remedy.remedy
    if remedy == AS_IT_IS and not values.diagnosis:
        return None
    diagnoses = [diagnosis for diagnosis in (values.diagnosis, remedy.diagnosis) if diagnosis]
    command = conversion(file, values, remedy.expression, has_lines=mode.has_lines)
    return f"{' and '.join(diagnoses)}; {command}"


def _read_values(file: str, *, has_lines: bool) -> Values | Advice | None:
    """Return the values of a file in whichever layout; None if it cannot be read.

    If lines are wanted, a file that is a single object counts as a list with this object.
    """
    try:
        text = text_of_file(file)
    except OSError:
        return None
    if text is None or isinstance(text, Advice):
        return text
    values = values_of(text, has_lines=has_lines)
    if has_lines and isinstance(values, Values) and isinstance(values.value, dict):
        return Values([values.value], f"[{values.expression}]", False, values.modules, values.diagnosis)
    return values


def _has_number_ids(gold_file: str | None) -> bool:
    """Return whether the first line of a gold file has a number for an id."""
    if gold_file is None or not os.path.isfile(gold_file):
        return False
    values = _read_values(gold_file, has_lines=True)
    if not isinstance(values, Values) or not isinstance(values.value, list) or not values.value:
        return False
    first = values.value[0]
    return isinstance(first, dict) and isinstance(first.get("id"), int)


def _find_swap(mode: Mode, gold: str | None, predictions: str | None) -> str | None:
    """Return the remedy if the file for gold has predictions and the file for predictions has gold; None otherwise."""
    if gold is None or predictions is None or not os.path.isfile(gold) or not os.path.isfile(predictions):
        return None
    if _looks_like_gold(mode, gold) is not False or _looks_like_gold(mode, predictions) is not True:
        return None
    return f"the files are swapped: {predictions} is gold; write --gold {predictions} --predictions {gold}"


def _looks_like_gold(mode: Mode, file: str) -> bool | None:
    """Return whether the first value of a file is one of gold; None if that is not certain."""
    values = _read_values(file, has_lines=mode.has_lines)
    if not isinstance(values, Values):
        return None
    first = values.value
    if mode.has_lines:
        first = first[0] if first else None
    return mode.is_gold(first)
