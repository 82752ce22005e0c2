"""HotpotQA scoring: answers, supporting facts, and both jointly."""

from cs_score.evidence.modes.hotpotqa.scoring import COLUMNS, MEASURES, MODE, HotpotQAResult, read_gold, score

__all__ = ["COLUMNS", "MEASURES", "MODE", "HotpotQAResult", "read_gold", "score"]
