"""Pages and charts: what `analyze`, `diff`, `compare` and `batch` write as JSON, to look at instead of to read.

A page is a pure function of that JSON. Nothing here computes a score.
"""
