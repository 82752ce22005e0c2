"""Scorers of evidence-based fact checking: SciFact, claims, R4C and HotpotQA."""
