"""The problem codes by what they are about; `cs_score.problems.table` holds them all."""
