"""The command lines of `analyze`, `explain` and `diff`: why a score is what it is."""
