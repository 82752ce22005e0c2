"""SciFact leaderboard scoring: abstracts found and labelled, sentences given as evidence."""

from cs_score.evidence.modes.scifact.reading import LABELS
from cs_score.evidence.modes.scifact.scoring import (
    COLUMNS,
    GROUPS,
    MEASURES,
    MODE,
    SciFactResult,
    read_gold,
    score,
)

__all__ = ["COLUMNS", "GROUPS", "LABELS", "MEASURES", "MODE", "SciFactResult", "read_gold", "score"]
