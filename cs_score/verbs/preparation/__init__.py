"""Preparation: the programs before the scorer."""
