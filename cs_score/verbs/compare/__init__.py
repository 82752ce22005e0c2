"""Comparisons: which of several systems differ."""
