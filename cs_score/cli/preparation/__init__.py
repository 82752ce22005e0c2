"""The programs before the scorer."""
