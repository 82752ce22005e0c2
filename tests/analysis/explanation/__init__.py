"""Explanations of Cold Start runs."""
