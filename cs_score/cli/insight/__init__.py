"""The command lines of `analyze` and `diff`: why a score is what it is."""
