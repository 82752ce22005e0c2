"""Finds the remedy for a file that a task refuses, because the file does not have the form that the task reads.
A remedy says in words what is wrong with the form of the file, and gives a command to type.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.base.sources import name_of
from cs_score.evidence.forms import claims_forms as claims
from cs_score.evidence.forms import hotpotqa_forms as hotpotqa
from cs_score.evidence.forms import r4c_forms as r4c
from cs_score.evidence.forms import scifact_forms as scifact
from cs_score.evidence.forms import stage_forms as stages
from cs_score.evidence.forms.files import Advice, Values, conversion_advice, text_of_file, values_of
from cs_score.evidence.forms.form import NO_CHANGE, CanScore, Files, Remedy
from cs_score.evidence.mode import Mode
from cs_score.evidence.reading import InputContent

RemedyFinder: TypeAlias = Callable[[Any, Files], Remedy]
"""A function that returns the remedy for a file that a task refuses, given the content of the file."""

_REMEDY_FINDER_BY_TASK: Final[Mapping[str, RemedyFinder]] = {
    "scifact": scifact.find_remedy,
    "scifact-retrieval": partial(stages.find_remedy, "retrieval"),
    "scifact-rationale": partial(stages.find_remedy, "rationale"),
    "scifact-label": partial(stages.find_remedy, "label"),
    "claims": claims.find_remedy,
    "hotpotqa": hotpotqa.find_remedy,
    "r4c": r4c.find_remedy,
}


def add_remedy(
    mode: Mode, error: InputError, gold: object, predictions: object | None, can_score: CanScore
) -> InputError:
    """Return an error about a file, with a remedy added for the user if the form of the file is recognised.

    `can_score` is a function that returns whether another task can score the files. A task is recommended only if it
    can score them. Errors that do not concern a file on disk are returned unchanged, because standard input cannot be
    read again.
    """
    gold_file = _name_of_input(gold)
    predictions_file = _name_of_input(predictions)
    if error.file is None or error.file not in (gold_file, predictions_file) or not os.path.isfile(error.file):
        return error
    remedy = None
    # If gold was read earlier without an error, it cannot be a file of predictions, so the files are not swapped.
    gold_was_read_before = isinstance(gold, InputContent)
    if not gold_was_read_before:
        remedy = _advise_on_swapped_files(mode, gold_file, predictions_file)
    if remedy is None:
        files = _files_of_call(error.file, gold_file, predictions_file, can_score)
        remedy = _remedy_in_words(mode, error.file, files)
    if remedy is None:
        return error
    return InputError(error.problem, file=error.file, place=error.place, remedy=remedy, code=error.code)


def _files_of_call(
    refused_file: str, gold_file: str | None, predictions_file: str | None, can_score: CanScore
) -> Files:
    """Return the files of a call in which the task refused `refused_file`.

    The name of gold or of the predictions is None if the call passed data instead of a file.
    """
    # For predictions, remedies distinguish None (only gold is read) from a name. For gold, no distinction is needed.
    return Files(
        gold=gold_file or "",
        predictions=predictions_file,
        gold_is_refused=refused_file == gold_file,
        has_number_ids=partial(_has_number_ids, gold_file),
        can_score=can_score,
    )


def _name_of_input(source: object) -> str | None:
    """Return the name of the file that was passed as gold or predictions, or None if a value was passed.

    The file may have been passed as a path, as an open file, or as the content of a file (`InputContent`).
    """
    if isinstance(source, InputContent):
        return source.name
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "read"):
        return name_of(source)  # type: ignore[arg-type]  # an object with a method `read` is a file
    return None


def _remedy_in_words(mode: Mode, file: str, files: Files) -> str | None:
    """Return a description of the wrong form of a file, with a command that corrects it or with advice.

    Return None if the file has the form that the task reads or if it cannot be read. The description includes advice if
    the file has no JSON values or if no command can correct it.
    """
    values = _read_values(file, has_lines=mode.has_lines)
    if values is None:
        return None
    if isinstance(values, Advice):
        return str(values)
    remedy = _remedy_for_values(mode, values, files)
    if isinstance(remedy, Advice):
        return str(remedy)
    has_usual_layout = not values.diagnosis
    if remedy == NO_CHANGE and has_usual_layout:
        return None
    # Both the layout of the file and the form of its values may be wrong. A single command corrects both.
    diagnoses = [diagnosis for diagnosis in (values.diagnosis, remedy.diagnosis) if diagnosis]
    command = conversion_advice(file, values, remedy.expression, has_lines=mode.has_lines)
    return f"{' and '.join(diagnoses)}; {command}"


def _remedy_for_values(mode: Mode, values: Values, files: Files) -> Remedy:
    """Return the remedy of a task for the values of a file that it refuses.

    For a task without a function that finds remedies, the remedy leaves the values as they are.
    """
    find_remedy = _REMEDY_FINDER_BY_TASK.get(mode.name)
    if find_remedy is None:
        return NO_CHANGE
    return find_remedy(values.content, files)


def _read_values(file: str, *, has_lines: bool) -> Values | Advice | None:
    """Return the JSON values of a file, advice if it has no values, or None if it cannot be read.

    `has_lines` says that the task expects an object on each line. If it is true, a file that consists of a single
    object is treated as a file with this object on its only line.
    """
    try:
        text_or_advice = text_of_file(file)
    except OSError:
        return None
    if text_or_advice is None or isinstance(text_or_advice, Advice):
        return text_or_advice
    values = values_of(text_or_advice, has_lines=has_lines)
    if has_lines and isinstance(values, Values) and isinstance(values.content, dict):
        return replace(values, content=[values.content], reading_code=f"[{values.reading_code}]")
    return values


def _has_number_ids(gold_file: str | None) -> bool:
    """Return whether the id on the first line of a gold file is a number."""
    if gold_file is None or not os.path.isfile(gold_file):
        return False
    values = _read_values(gold_file, has_lines=True)
    if not isinstance(values, Values) or not isinstance(values.content, list):
        return False
    first_line = values.content[0] if values.content else None
    return isinstance(first_line, dict) and isinstance(first_line.get("id"), int)


def _advise_on_swapped_files(mode: Mode, gold: str | None, predictions: str | None) -> str | None:
    """Return the advice to swap the two files if gold was given as predictions and vice versa, or None otherwise.

    `gold` and `predictions` are the names of the files in the call.
    """
    if gold is None or predictions is None:
        return None
    if not os.path.isfile(gold) or not os.path.isfile(predictions):
        return None
    are_swapped = _guess_role(mode, gold) == "predictions" and _guess_role(mode, predictions) == "gold"
    if not are_swapped:
        return None
    return f"the files are swapped: {predictions} is gold; write --gold {predictions} --predictions {gold}"


def _guess_role(mode: Mode, file: str) -> str | None:
    """Return the role of a file, "gold" or "predictions", based on its first value, or None if it is not certain."""
    values = _read_values(file, has_lines=mode.has_lines)
    if not isinstance(values, Values):
        return None
    first_value = values.content
    if mode.has_lines:
        first_value = values.content[0] if values.content else None
    is_gold = mode.is_gold(first_value)
    if is_gold is None:
        return None
    return "gold" if is_gold else "predictions"
