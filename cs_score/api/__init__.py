"""The public Python API. `import cs_score` loads it when one of its names is first used; everything else is private."""

from cs_score.api.gold import Gold, prepare, score
from cs_score.api.loading import load
from cs_score.api.records import ProblemRow, QueryRow, RankingRow, ResponseRow, TableRow
from cs_score.api.results import RunResult
from cs_score.coldstart.options import Policy
from cs_score.coldstart.result import ScoringStopped
from cs_score.foundation.errors import CsScoreError, InputError, MissingExtraError, OutputError, UsageError
from cs_score.foundation.signing.signature import Signature

__all__ = [
    "CsScoreError",
    "Gold",
    "InputError",
    "MissingExtraError",
    "OutputError",
    "Policy",
    "ProblemRow",
    "QueryRow",
    "RankingRow",
    "ResponseRow",
    "RunResult",
    "ScoringStopped",
    "Signature",
    "TableRow",
    "UsageError",
    "load",
    "prepare",
    "score",
]
