"""Several runs against the same queries and assessments, each scored as if it were alone.

Scored in one evaluation, runs would meet in average precision, which pools their nodes (specification 9.1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from cs_score.base.errors import InputError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.sources import Input, name_of
from cs_score.coldstart.gold import Gold, open_gold, with_pool
from cs_score.coldstart.lines.layouts import FileKind
from cs_score.coldstart.lines.loading import kind_of, members
from cs_score.coldstart.options import Options
from cs_score.coldstart.result import Result
from cs_score.coldstart.run import load_run
from cs_score.coldstart.scorer import score_runs


def run_files(files: Iterable[Input], known: Collection[Input] = ()) -> tuple[list[Input], list[Input]]:
    """The runs and the assessments among files, told apart by their first line; a folder stands for its members.

    `known` are runs whatever they look like. Files are read again when they are scored, so that they have to be paths.
    Raises InputError for a file that is neither, and for an empty one, of which nobody can tell.
    """
    runs: list[Input] = []
    assessments: list[Input] = []
    for given in files:
        for member in members(given):
            if member in known:
                runs.append(member)
                continue
            kind = kind_of(member)
            if kind is None:
                raise InputError("empty: neither a run nor assessments", file=name_of(member))
            (runs if kind is FileKind.RUN else assessments).append(member)
    return runs, assessments


def score_separately(
    queries: Sequence[Input], assessments: Sequence[Input], runs: Sequence[Input], options: Options | None = None
) -> list[Result]:
    """The result of each run file by itself, in order.

    Raises InputError for a file that holds several runs, and what `score` raises.
    """
    options = options or Options()
    options.check()
    results: list[Result] = []
    with paused_collector():
        gold = with_pool(open_gold(queries, options), assessments)
        for file in runs:
            results.append(_score_alone(gold, file))
    return results


def _score_alone(gold: Gold, file: Input) -> Result:
    """The result of one run file on what is loaded. Errors that name no file get its name."""
    try:
        result = score_runs(load_run(gold, [file]), gold.options.policy)
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(
            error.problem, file=name_of(file), place=error.place, remedy=error.remedy, code=error.code
        ) from None
    if len(result.runs) != 1:
        names = ", ".join(run.run_id for run in result.runs)
        raise InputError(
            f"{len(result.runs)} runs in one file ({names})",
            file=name_of(file),
            remedy="a run to be compared has a file of its own",
        )
    return result
