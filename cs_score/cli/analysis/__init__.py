"""The command lines of `analyze`."""
