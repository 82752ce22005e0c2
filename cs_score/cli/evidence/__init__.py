"""The commands `scifact`, `claims`, `r4c` and `hotpotqa`."""
