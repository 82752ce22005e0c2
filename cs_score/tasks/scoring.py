"""Scores files for people: the error about a file that a task refuses gets the remedy that fits its form."""

from __future__ import annotations

from typing import Any

from cs_score.base.errors import CsScoreError, InputError
from cs_score.evidence.mode import Mode, ScoredPredictions
from cs_score.evidence.reading import InputContent
from cs_score.tasks import mode_named


def score_predictions(mode: Mode, gold: object, predictions: object, **options: Any) -> ScoredPredictions:
    """Score predictions as `Mode.score` does, and raise the same errors; an InputError has a remedy if there is one."""
    try:
        return mode.score(gold, predictions, **options)
    except InputError as error:
        raise _with_remedy(mode, error, gold, predictions) from None


def score_systems(mode: Mode, gold: object, predictions: object, **options: Any) -> dict[str, ScoredPredictions]:
    """Score each system of a file as `Mode.score_each` does, and raise the same errors; an InputError has a remedy."""
    try:
        return mode.score_each(gold, predictions, **options)
    except InputError as error:
        raise _with_remedy(mode, error, gold, predictions) from None


def read_gold(mode: Mode, gold: object) -> InputContent | None:
    """Read gold as `Mode.read_gold` does, and raise the same errors; an InputError has a remedy if there is one."""
    try:
        return mode.read_gold(gold)
    except InputError as error:
        raise _with_remedy(mode, error, gold, None) from None


def _with_remedy(mode: Mode, error: InputError, gold: object, predictions: object | None) -> InputError:
    """Return an error about gold or predictions with the remedy for the form of the file, if there is one."""
    if gold is None:  # the task without gold has its own remedies
        return error
    from cs_score.evidence.forms.advice import add_remedy  # only failures need it

    return add_remedy(mode, error, gold, predictions, _can_be_scored)


def _can_be_scored(task: str, gold: str, predictions: str, *, stage: str = "", **options: Any) -> bool:
    """Return whether two files can be scored as a task, or as a stage of it."""
    try:
        mode_named(f"{task}-{stage}" if stage else task).score(gold, predictions, **options)
    except CsScoreError:
        return False
    return True
