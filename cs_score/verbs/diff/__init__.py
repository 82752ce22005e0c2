"""Differences: why one result scores higher than another."""
