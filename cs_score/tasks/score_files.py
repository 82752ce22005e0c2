"""Score files and add a remedy to errors about malformed files.
A task refuses files that are not in its own form. The error then tells the user how to convert the file.
"""

from __future__ import annotations

from typing import Any

from cs_score.base.errors import CsScoreError, InputError
from cs_score.evidence.mode import Mode, ScoredPredictions
from cs_score.evidence.reading import InputContent
from cs_score.tasks import mode_named


def score_predictions(mode: Mode, gold: object, predictions: object, **options: Any) -> ScoredPredictions:
    """Return the result of predictions, as `Mode.score` does with the same arguments.

    It raises the same errors, except that an InputError also tells how to convert the file, if that is possible.
    """
    try:
        return mode.score(gold, predictions, **options)
    except InputError as error:
        raise _error_with_remedy(mode, error, gold, predictions) from None


def score_systems(mode: Mode, gold: object, predictions: object, **options: Any) -> dict[str, ScoredPredictions]:
    """Return the result of each system of a file by its name, as `Mode.score_each` does with the same arguments.

    It raises the same errors, except that an InputError also tells how to convert the file, if that is possible.
    """
    try:
        return mode.score_each(gold, predictions, **options)
    except InputError as error:
        raise _error_with_remedy(mode, error, gold, predictions) from None


def read_gold(mode: Mode, gold: object) -> InputContent | None:
    """Return gold that is read once and can be used for many predictions, as `Mode.read_gold` does.

    It raises the same errors, except that an InputError also tells how to convert the file, if that is possible.
    """
    try:
        return mode.read_gold(gold)
    except InputError as error:
        raise _error_with_remedy(mode, error, gold, predictions=None) from None


def _error_with_remedy(mode: Mode, error: InputError, gold: object, predictions: object | None) -> InputError:
    """Return an error about gold or predictions with advice on how to convert the file, if it can be converted.

    `gold` and `predictions` are the inputs of the call. `predictions` is None if only gold was read. `gold` is None for
    judged answers that do not need a gold file.
    """
    if gold is None:  # errors about judged answers already say what to do
        return error
    from cs_score.evidence.forms.advice import add_remedy  # only needed if there is an error

    return add_remedy(mode, error, gold, predictions, _can_be_scored)


def _can_be_scored(task: str, gold: str, predictions: str, *, stage: str = "", **options: Any) -> bool:
    """Return whether two files can be scored as a task, or as a stage of it; `options` are options of the scoring."""
    mode_name = f"{task}-{stage}" if stage else task
    try:
        mode_named(mode_name).score(gold, predictions, **options)
    except CsScoreError:
        return False
    return True
