"""How readable the package is: habits that slow a reader down, counted, and trials with readers.

`python -m tests.reading habits` prints the counts for each room, `python -m tests.reading worst ROOM` the functions
with most habits; `python -m tests.reading trial` makes a trial, and `python -m tests.reading ratings` reads what the
reader wrote (`docs/development/reading.md`).
"""
