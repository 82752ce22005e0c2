"""The steps of a line, in the order in which they are told."""
