"""R4C scoring: derivations of multi-hop answers, held against three reference derivations."""

from cs_score.evidence.modes.r4c.scoring import MEASURES, MODE, R4CResult, read_gold, score

__all__ = ["MEASURES", "MODE", "R4CResult", "read_gold", "score"]
