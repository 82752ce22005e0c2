"""Scoring of Cold Start runs in one call, as the commands do it step by step."""

from __future__ import annotations

from collections.abc import Iterable

from cs_score.base.sources import Input
from cs_score.coldstart.gold import load_run, open_gold, with_remarks_on_empty_folders
from cs_score.coldstart.options import Options
from cs_score.coldstart.result import Result
from cs_score.coldstart.scorer import score_runs


def score(queries: Iterable[Input], files: Iterable[Input], options: Options | None = None) -> Result:
    """Score runs among `files` with the assessments before them. Raises ScoringStopped where scoring cannot go on."""
    options, given = options or Options(), list(files)
    gold = with_remarks_on_empty_folders(open_gold(queries, options), given)
    return score_runs(load_run(gold, given), options.policy)
