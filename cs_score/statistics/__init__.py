"""Resampling statistics over matrices of sufficient statistics; knows nothing of any task.

A task reduces a run to one row of sums per *unit* (a claim, a question, a query) such that every measure is a formula
of the column sums. Resampling draws whole units; a row may be any reduction, however non-linear, that looks at nothing
outside its unit. So Cold Start's unit is one LDC query with all its entry points: LDC-MAX and LDC-MEAN decide from the
rows of that query alone. A measure that ranks or normalises across units has no such row.

Definitions and sources: docs/statistics.
"""
