"""The TAC KBP 2017 Cold Start scorer: the same files as the reference scorer, in linear time.

from cs_score.coldstart import Options, score

result = score(queries=["queries.xml"], files=["pool.fqec", "run.tab.txt"], options=Options(expand="CSSF17"))
"""

from cs_score.coldstart.intervals import intervals
from cs_score.coldstart.options import Justifications, Options, Policy
from cs_score.coldstart.result import Result, RunResult, ScoringStopped
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
