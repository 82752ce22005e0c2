"""The command lines of `analyze`: why a score is what it is."""
