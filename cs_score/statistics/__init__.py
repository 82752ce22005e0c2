"""Resampling statistics over matrices of sufficient statistics; knows nothing of any task."""
