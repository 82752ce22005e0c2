"""The examiner of each mode."""

from __future__ import annotations

import importlib
from typing import Any, Final

from cs_score.analysis.evidence.examiner import Examiner
from cs_score.evidence.result import Result
from cs_score.foundation.errors import UsageError
from cs_score.foundation.nearest import nearest
from cs_score.measures.registry import find, usual

_EXAMINERS: Final = {
    "scifact": "SciFactExaminer",
    "claims": "ClaimsExaminer",
    "r4c": "R4CExaminer",
    "hotpotqa": "HotpotQAExaminer",
}


def examiner_of(result: Result, measure: str | None = None) -> Examiner[Any]:
    """What examines a result, by the measure that ranks leaderboards of its mode unless another one is named.

    Names of measures may be written in any letter case. Raises UsageError for a measure that the mode lacks.
    """
    mode = result.mode
    chosen = str(usual(mode.name)) if measure is None else find(measure, mode.measures)
    if chosen not in mode.measures:
        names = ", ".join(mode.measures)
        raise UsageError(f"no measure called {measure}{nearest(measure or '', mode.measures)}; there are {names}")
    module = importlib.import_module(f"cs_score.analysis.evidence.{mode.name}")
    made: Examiner[Any] = getattr(module, _EXAMINERS[mode.name])(result, chosen)
    return made
