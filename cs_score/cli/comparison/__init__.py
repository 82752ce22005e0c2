"""The command lines of `compare`."""
