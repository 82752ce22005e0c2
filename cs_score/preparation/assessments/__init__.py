"""Assessments checked and sorted by language."""
