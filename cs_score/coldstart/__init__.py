"""The TAC KBP 2017 Cold Start scorer: the same files as the reference scorer, in linear time.

from cs_score.coldstart import Options, score

result = score(queries=["queries.xml"], files=["pool.fqec", "run.tab.txt"], options=Options(expand="CSSF17"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cs_score.coldstart.options import Justifications, Options, Policy
    from cs_score.coldstart.result import Result, RunResult, ScoringStopped
    from cs_score.coldstart.run_intervals import intervals
    from cs_score.coldstart.scorer import score
    from cs_score.statistics.score_intervals import ScoreIntervals

__all__ = [
    "Justifications",
    "Options",
    "Policy",
    "Result",
    "RunResult",
    "ScoreIntervals",
    "ScoringStopped",
    "intervals",
    "score",
]

_PLACES = {
    "coldstart.options": ("Justifications", "Options", "Policy"),
    "coldstart.run_intervals": ("intervals",),
    "coldstart.result": ("Result", "RunResult", "ScoringStopped"),
    "coldstart.scorer": ("score",),
    "statistics.score_intervals": ("ScoreIntervals",),
}


def __getattr__(name: str) -> object:
    """Imported when it is first asked for, as a module below this one wants little of it."""
    import importlib

    for module, names in _PLACES.items():
        if name in names:
            return getattr(importlib.import_module(f"cs_score.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
