"""Batches: many runs against one gold standard."""
