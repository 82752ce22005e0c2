"""The TAC KBP 2017 Cold Start scorer: the same files as the reference scorer, in linear time."""
