"""The options that all batches take."""

from __future__ import annotations

from typing import Final

from cs_score.cli.options import Option

MOST_JOBS: Final = 4096

BATCH_OPTIONS: Final = (
    Option("--out", "DIR", "Output folder; made if missing"),
    Option("--runs-from", "FILE", "File with further runs, one a line; - is standard input"),
    Option("--jobs", "N", "Processes on this machine", "the number of processors"),
    Option("--dask", "ADDRESS", "Compute on the Dask cluster with this scheduler"),
    Option("--ship-inputs", None, "Send inputs to the workers of --dask, which share no storage"),
    Option("--html", None, "Write a page for each run, and index.html over all runs, too"),
    Option("--resume", None, "Keep runs that an earlier batch scored from the same inputs"),
)
