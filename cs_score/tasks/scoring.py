"""Scoring for people: a file that a task refuses gets the remedy that fits its form."""

from __future__ import annotations

from typing import Any

from cs_score.base.errors import CsScoreError, InputError
from cs_score.evidence.mode import Mode, Result
from cs_score.evidence.reading import Gold
from cs_score.tasks import mode_named


def score_predictions(mode: Mode, gold: object, predictions: object, **options: Any) -> Result:
    """Score predictions as `Mode.score` does. Raises what it raises; an InputError has the remedy, if there is one."""
    try:
        return mode.score(gold, predictions, **options)
    except InputError as error:
        raise _advised(mode, error, gold, predictions) from None


def score_systems(mode: Mode, gold: object, predictions: object, **options: Any) -> dict[str, Result]:
    """Score each system of a file as `Mode.score_each` does. Raises what it raises; an InputError has the remedy."""
    try:
        return mode.score_each(gold, predictions, **options)
    except InputError as error:
        raise _advised(mode, error, gold, predictions) from None


def read_gold(mode: Mode, gold: object) -> Gold | None:
    """Read gold as `Mode.read_gold` does. Raises what it raises; an InputError has the remedy, if there is one."""
    try:
        return mode.read_gold(gold)
    except InputError as error:
        raise _advised(mode, error, gold, None) from None


def _advised(mode: Mode, error: InputError, gold: object, predictions: object | None) -> InputError:
    if gold is None:  # what the task itself says of the one file is all there is to be said
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
