"""The programs before the scorer: runs and assessments validated, queries prepared.

They use the scorer's reader and its table of problems.
"""
