"""Runs checked, pooled and written."""
