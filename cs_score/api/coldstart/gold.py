"""Gold that has been read once, and runs scored against it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from cs_score.api.arguments import (
    Files,
    HeldFile,
    Limits,
    Names,
    file_of,
    files_of,
    held,
    policy_of,
    query_choice,
)
from cs_score.api.coldstart.preparing import loaded_run
from cs_score.api.coldstart.results import RunResult
from cs_score.api.coldstart.scored import Scored
from cs_score.base.errors import UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import Record
from cs_score.base.sources import Input
from cs_score.coldstart.gold import Gold as Prepared
from cs_score.coldstart.gold import noting_folders, open_gold, with_pool
from cs_score.coldstart.linking import NoAnswerYetError
from cs_score.coldstart.options import Justifications, Options, Policy, as_list


class Gold(Record, eq=False):
    """Queries and pool, read and indexed once; made by `prepare`.

    It never changes: any number of runs can be scored against it, by several threads at a time, and a pickle of it
    scores the same.
    """

    _prepared: Prepared
    # The pool, where lines of it stand below answers that only runs give: it is read behind each run then.
    _pool: tuple[HeldFile, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """Full ids of the queries that are scored, in order."""
        return tuple(query.full_id for query in self._prepared.selected())

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know of queries and pool, one line each."""
        return tuple(self._prepared.remarks)

    def score(
        self,
        run: Files,
        policy: str | Policy | None = None,
        *,
        justifications: Limits | None = None,
        validate: bool = False,
    ) -> RunResult:
        """Score a run: a file, a folder, or several; knowledge bases are validated and resolved to runs.

        `policy` is `kb`, `sf` (both with their limits on justifications) or a `Policy`; what is not given is that of
        `prepare`. With `validate` the run is validated in memory before, as `cs-score validate-run` does. Raises
        UsageError for impossible arguments, InputError for a run that cannot be read or linked, and ScoringStopped (an
        InputError) where scoring has to stop.
        """
        options = self._prepared.options
        chosen, limits = policy_of(policy, justifications, options.policy, options.justifications)
        files = [held(file).open() for file in files_of(run, "run")]
        if not files:
            raise UsageError("run takes at least one file")
        with paused_collector():
            gold = noting_folders(self._prepared, files)
            pool = [file.open() for file in self._pool]
            loaded = loaded_run(gold, files, pool, limits, validate=validate)
            return RunResult(Scored(loaded, chosen, limits, validated=validate))

    def __repr__(self) -> str:
        found = len(self._prepared.links.assessments)
        pool = f"{len(self._pool)} files of assessments, read with each run" if self._pool else f"{found} assessments"
        return f"<gold: {len(self._prepared.hop_limits)} queries to score, {pool}>"


def prepare(
    queries: Files,
    pool: Files = (),
    *,
    expand: str | None = None,
    policy: str | Policy = "kb",
    justifications: Limits | None = None,
    discipline: str = "ASSESSED",
    query_ids: str | os.PathLike[str] | Iterable[str] | None = None,
    run_ids: Names | None = None,
    samples: str | os.PathLike[str] | None = None,
) -> Gold:
    """Read queries and pool once, for any number of runs.

    `queries` are query files, `pool` assessment files (none: every response is unassessed). `expand` makes a query of
    each entry point of LDC queries; the text begins their names. `policy` is `kb` (knowledge-base runs), `sf`
    (slot-filling runs) or a `Policy`; `justifications` limits what supports a node (`1:3`) and belongs to a named
    policy unless given. `discipline` says how a response finds its assessment: `ASSESSED`, `STRING_CASE` or
    `STRING_EXACT`. `query_ids` chooses queries (a file that lists them, or their ids), `run_ids` runs of files that
    hold several. `samples` is a file of bootstrap resamples. Specification 1.2 and 1.4 say what each does.

    Raises UsageError for impossible arguments, InputError for files that cannot be read or linked.
    """
    chosen, limits = policy_of(policy, justifications, Policy(), Justifications(1, 3))
    options = Options(
        discipline=discipline,
        expand=expand,
        justifications=limits,
        policy=chosen,
        queries=query_choice(query_ids),
        runids=None if run_ids is None else as_list(run_ids, "run_ids") or None,
        samples=file_of(samples, "samples"),
    )
    options.check()
    query_files = files_of(queries, "queries")
    if not query_files:
        raise UsageError("queries takes at least one file")
    with paused_collector():
        opened = open_gold(query_files, options)
        return _with_pool(opened, files_of(pool, "pool"))


def _with_pool(opened: Prepared, pool: Sequence[Input]) -> Gold:
    if not pool:
        return Gold(opened)
    opened = noting_folders(opened, pool)
    files = tuple(map(held, pool))
    try:
        return Gold(with_pool(opened, [file.open() for file in files]))
    except NoAnswerYetError:
        return Gold(opened, files)


def score(
    queries: Files,
    run: Files,
    pool: Files = (),
    *,
    expand: str | None = None,
    policy: str | Policy = "kb",
    justifications: Limits | None = None,
    discipline: str = "ASSESSED",
    query_ids: str | os.PathLike[str] | Iterable[str] | None = None,
    run_ids: Names | None = None,
    samples: str | os.PathLike[str] | None = None,
    validate: bool = False,
) -> RunResult:
    """Score one run: `prepare` and `Gold.score` in one call, with the arguments and errors of both."""
    gold = prepare(
        queries, pool, expand=expand, policy=policy, justifications=justifications, discipline=discipline,
        query_ids=query_ids, run_ids=run_ids, samples=samples,
    )  # fmt: skip
    return gold.score(run, validate=validate)
