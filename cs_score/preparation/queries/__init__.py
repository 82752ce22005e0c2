"""Queries checked, written and generated."""
