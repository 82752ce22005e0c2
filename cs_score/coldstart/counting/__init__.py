"""Counts, precision, recall and F1, projection to LDC queries, averages."""
