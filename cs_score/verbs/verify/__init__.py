"""Verification: recorded results, scored again."""
