"""The command lines that tell of cs-score itself: problem codes, schemas, completion, the manual page."""
