"""Claim verification scoring: documents retrieved, evidence sentences with their label, verdict."""

from cs_score.evidence.modes.claims.scoring import COLUMNS, MEASURES, MODE, ClaimsResult, read_gold, score

__all__ = ["COLUMNS", "MEASURES", "MODE", "ClaimsResult", "read_gold", "score"]
