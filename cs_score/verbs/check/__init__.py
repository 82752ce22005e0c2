"""Checks: scores against limits, a baseline or a lock."""
