"""Analyses: what each mistake of a result costs."""
