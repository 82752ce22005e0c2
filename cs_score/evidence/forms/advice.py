"""What a user is told about files that a task refuses: the form that they have, and the line to type."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from cs_score.base.errors import InputError
from cs_score.base.sources import name_of
from cs_score.evidence.forms import claims, hotpotqa, r4c, scifact, stages
from cs_score.evidence.forms.files import Advice, Values, conversion, text_of_file, values_of
from cs_score.evidence.forms.form import AS_IT_IS, Answer, Files, Scores
from cs_score.evidence.mode import Mode
from cs_score.evidence.reading import Gold

_FORMS: Final[Mapping[str, Callable[[Any, Files], Answer]]] = {
    "scifact": scifact.form_of,
    "claims": claims.form_of,
    "hotpotqa": hotpotqa.form_of,
    "r4c": r4c.form_of,
    **{f"scifact-{stage}": partial(stages.form_of, stage) for stage in stages.WANTED},
}
"""What recognises the form of a file, by task."""


def advised(mode: Mode, error: InputError, gold: object, predictions: object | None, scores: Scores) -> InputError:
    """Return an error about a file with the remedy that fits the form of the file, where this is recognised.

    `scores` tries files as another task, so that no remedy is refused itself. Files that lie in no folder, such as
    standard input, are not looked at again.
    """
    names = [_path_of(given) for given in (gold, predictions)]
    if error.file is None or error.file not in names or not os.path.isfile(error.file):
        return error
    gold_name, predictions_name = names
    remedy = None
    if not isinstance(gold, Gold):  # what has been read as gold is gold
        remedy = _swapped(mode, gold_name, predictions_name)
    if remedy is None:
        remedy = _remedy(mode, error.file, gold_name, predictions_name, scores)
    if remedy is None:
        return error
    return InputError(error.problem, file=error.file, place=error.place, remedy=remedy, code=error.code)


def _path_of(given: object) -> str | None:
    if isinstance(given, Gold):
        return given.name
    is_file = isinstance(given, (str, os.PathLike)) or hasattr(given, "read")
    return name_of(given) if is_file else None  # type: ignore[arg-type]  # checked in the line above


def _remedy(mode: Mode, file: str, gold: str | None, predictions: str | None, scores: Scores) -> str | None:
    """Return what to do about a file, None where its form is the one that is wanted, or not recognised."""
    values = _values(file, has_lines=mode.has_lines)
    if values is None or isinstance(values, Advice):
        return None if values is None else str(values)
    is_gold = file == gold
    files = Files(gold or "", predictions, is_gold, partial(_has_number_ids, gold), scores)
    recognise = _FORMS.get(mode.name)
    answer = AS_IT_IS if recognise is None else recognise(values.value, files)
    if isinstance(answer, Advice):
        return str(answer) if answer.what else answer.remedy
    if answer == AS_IT_IS and not values.what:
        return None
    what = " and ".join(word for word in (values.what, answer.what) if word)
    return f"{what}; {conversion(file, values, answer.expression, has_lines=mode.has_lines)}"


def _values(file: str, *, has_lines: bool) -> Values | Advice | None:
    """Return the values of a file; where lines are wanted, those of a list of them."""
    try:
        text = text_of_file(file)
    except OSError:
        return None
    if text is None or isinstance(text, Advice):
        return text
    values = values_of(text, has_lines=has_lines)
    if has_lines and isinstance(values, Values) and isinstance(values.value, dict):
        return Values([values.value], f"[{values.expression}]", False, values.modules, values.what)
    return values


def _has_number_ids(gold: str | None) -> bool:
    """Return whether the first line of a gold file has a number for an id."""
    values = None if gold is None or not os.path.isfile(gold) else _values(gold, has_lines=True)
    if not isinstance(values, Values) or not isinstance(values.value, list) or not values.value:
        return False
    first = values.value[0]
    return isinstance(first, dict) and isinstance(first.get("id"), int)


def _swapped(mode: Mode, gold: str | None, predictions: str | None) -> str | None:
    """Return what to write where gold and predictions stand in each other's place; None where they do not."""
    if gold is None or predictions is None or not os.path.isfile(gold) or not os.path.isfile(predictions):
        return None
    looks = []
    for file in (gold, predictions):
        values = _values(file, has_lines=mode.has_lines)
        if not isinstance(values, Values):
            return None
        first = values.value
        if mode.has_lines:
            first = first[0] if first else None
        looks.append(mode.is_gold(first))
    if looks != [False, True]:
        return None
    return f"the files are swapped: {predictions} is gold; write --gold {predictions} --predictions {gold}"
