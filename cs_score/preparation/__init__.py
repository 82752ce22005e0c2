"""The programs before the scorer: runs and assessments validated, queries prepared (specification of the companions).

They stand on the scorer's own reading: no second reader, no second table of problems.
"""
