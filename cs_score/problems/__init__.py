"""The table of problem codes, the log of one job, and reports for programs and editors."""
