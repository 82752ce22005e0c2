"""The examiner of each mode."""

from __future__ import annotations

import importlib
from typing import Any

from cs_score.analysis.evidence.modes.examiner import Examiner
from cs_score.base.errors import UsageError
from cs_score.base.nearest import nearest
from cs_score.evidence.result import Result
from cs_score.measures.registry import find, names, usual


def measure_of(mode: str, wanted: str | None = None) -> str:
    """The measure of a mode that is meant: that which ranks leaderboards unless one is named, in any letter case.

    Raises UsageError for a measure that the mode lacks.
    """
    if wanted is None:
        return str(usual(mode))
    known = names(mode)
    found = find(wanted, known)
    if found not in known:
        raise UsageError(f"no measure called {wanted}; there are {', '.join(known)}{nearest(wanted, known)}")
    return str(found)


def examiner_of(result: Result, measure: str | None = None) -> Examiner[Any]:
    """What examines a result. Raises UsageError as `measure_of`."""
    mode = result.mode.name
    made: Examiner[Any] = importlib.import_module(f"cs_score.analysis.evidence.modes.{mode}").EXAMINER(
        result, measure_of(mode, measure)
    )
    return made
