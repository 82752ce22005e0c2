"""The command lines of `batch`."""
