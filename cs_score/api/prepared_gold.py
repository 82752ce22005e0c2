"""Functions that read queries and pool, and score Cold Start runs against them, for Python programs. The pool are the
assessments, which say which responses are right; queries and pool together are the gold.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Unpack

from cs_score.api import arguments
from cs_score.api.arguments import Files, Limits, PolicyAndLimits, checked
from cs_score.api.run_results import RunResult, ScoredLines
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.base.sources import Input, name_of, open_source, rereadable
from cs_score.coldstart.converters import converter_for
from cs_score.coldstart.gold import (
    ColdStartGold,
    RunInPoolError,
    load_run,
    open_gold,
    with_pool,
    with_remarks_on_empty_folders,
)
from cs_score.coldstart.linking import NoAnswerYetError, expand_folder
from cs_score.coldstart.options import CallArguments, Policy
from cs_score.coldstart.queries import is_query_file

if TYPE_CHECKING:
    from cs_score.preparation import conversion, prepared_runs
else:  # runs that are scored as they are need no preparation
    conversion = Late("cs_score.preparation.conversion")
    prepared_runs = Late("cs_score.preparation.prepared_runs")


class Gold(Record, eq=False):
    """Queries and pool, read and indexed once; made by `prepare`.

    It never changes. So any number of runs can be scored against it, also by several threads at a time, and a pickled
    copy gives the same scores.
    """

    _prepared: ColdStartGold
    # The files of the pool if its follow-on lines answer queries that only runs have: they are read after each run.
    _pool: tuple[Input, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """The full ids of the queries that are scored, in order."""
        return tuple([query.full_id for query in self._prepared.selected_queries()])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know about the queries and the pool, one line each."""
        return tuple(self._prepared.remarks)

    @checked
    def score(
        self,
        run: Files,
        policy: str | Policy | None = None,
        *,
        justifications: Limits | None = None,
        validate: bool = False,
    ) -> RunResult:
        """Score a run: a file, a folder, or several; knowledge bases are validated and resolved to runs.

        `policy` is `kb`, `sf` (both with their limits on justifications) or a `Policy`. If it or `justifications` is
        not given, the value given to `prepare` is used. With `validate` the run is first validated in memory, as
        `cs-score validate-run` does. Raises UsageError for impossible arguments, InputError for a run that cannot be
        read or linked, and ScoringStopped (an InputError) if scoring has to stop.
        """
        options = self._prepared.options
        defaults = PolicyAndLimits(options.policy, options.justifications)
        policy_and_limits = arguments.policy_of(policy, justifications, defaults)
        files = _files_of_run(run)
        with paused_garbage_collection():
            gold = replace(with_remarks_on_empty_folders(self._prepared, files), validates=validate)
            if not validate and not _has_file_to_convert(files):  # the files can be loaded as they are
                loaded_run = load_run(gold, [*files, *self._pool], policy_and_limits.limits)
                return RunResult(ScoredLines(loaded_run, policy_and_limits.policy, policy_and_limits.limits))
            return self._convert_and_score(gold, files, policy_and_limits)

    def _convert_and_score(
        self, gold: ColdStartGold, files: Iterable[Input], policy_and_limits: PolicyAndLimits
    ) -> RunResult:
        """Score a run after its files have been converted to runs and, if `gold` says so, validated, all in memory.

        Raises InputError for files that cannot be prepared, read or linked, and ScoringStopped.
        """
        settings = conversion.PreparationSettings(gold.query_set, policy_and_limits.limits, gold.validates)
        converted = conversion.prepare_inputs(files, settings)
        # Sentences on how runs were changed.
        preparation_notes = [prepared_run.preparation_note for prepared_run in converted.prepared_runs]
        files_to_load = prepared_runs.Preparation([*converted.files, *self._pool], converted.prepared_runs)
        loaded_run = prepared_runs.load_prepared(gold, files_to_load, policy_and_limits.limits)
        return RunResult(
            ScoredLines(
                loaded_run, policy_and_limits.policy, policy_and_limits.limits, preparation_notes=preparation_notes
            )
        )

    def __repr__(self) -> str:
        """Return the numbers of queries and assessments: `<gold: 12 queries to score, 3400 assessments>`."""
        if self._pool:
            pool = f"{len(self._pool)} files of assessments, read with each run"
        else:
            pool = f"{len(self._prepared.links.assessments)} assessments"
        query_count = len(self._prepared.hop_limit_by_id)  # it has an entry for each query to score
        return f"<gold: {query_count} queries to score, {pool}>"


def _files_of_run(run: Files) -> list[Input]:
    """Return the files of a run in a form that can be read several times. Raises UsageError if no file is given."""
    files = [rereadable(file) for file in arguments.files_of(run, "run")]
    if not files:
        raise UsageError("run takes at least one file")
    return files


def _has_file_to_convert(files: Iterable[Input]) -> bool:
    """Return whether one of the files, or of the files in folders, must be converted to a run: a knowledge base."""
    for file_or_folder in files:
        for file in expand_folder(file_or_folder):
            if converter_for(file) is not None:
                return True
    return False


@checked
def prepare(queries: Files, pool: Files = (), **options: Unpack[CallArguments]) -> Gold:
    """Read queries and pool once. Return them as `Gold`, against which any number of runs can be scored.

    `queries` are query files. `pool` are assessment files; if there are none, every response is unassessed. If `expand`
    is given, each entry point of an LDC query becomes a separate query whose name begins with the text `expand`.
    `policy` is `kb` (knowledge-base runs), `sf` (slot-filling runs) or a `Policy`. `justifications` limits the
    justifications of a node: `1:3` allows one per document and three in all. By default, the limits of the named policy
    are used. `discipline` says how a response finds its assessment: `ASSESSED`, `STRING_CASE` or `STRING_EXACT`.
    `query_ids` selects queries (their ids, or a file that lists them). `runids` selects runs from files that hold
    several. `samples` is a file of bootstrap resamples. `follow` is the edition of the reference scorer whose rules are
    applied (`3.0`, `2017.1.5`, `2017.2.0`). `mention_types` says how a pool without mention types is read (`as-given`,
    `assume-name`).

    Raises UsageError for impossible arguments, InputError for files that cannot be read or linked.
    """
    scoring = arguments.options_of(options)
    query_files = arguments.files_of(queries, "queries")
    if not query_files:
        raise UsageError("queries takes at least one file")
    pool_files = arguments.files_of(pool, "pool")
    _refuse_swapped(query_files, pool_files)
    with paused_garbage_collection():
        gold = open_gold(query_files, scoring)
        if not pool_files:
            return Gold(gold)
        return _read_pool(gold, pool_files)


def _read_pool(gold_without_pool: ColdStartGold, pool_files: Sequence[Input]) -> Gold:
    """Return gold with the assessments of a pool, which are read here, added to its queries.

    Some pools refer to the answers of a run. These pools are not read now but after each run. Raises InputError for
    files that cannot be read or linked, and for a run among them.
    """
    gold = with_remarks_on_empty_folders(gold_without_pool, pool_files)
    repeatable_files = tuple([rereadable(file) for file in pool_files])
    try:
        return Gold(with_pool(gold, repeatable_files))
    except NoAnswerYetError:  # the pool refers to answers of a run: it is read again after each run
        return Gold(gold, repeatable_files)
    except RunInPoolError as error:
        raise InputError("this is a run, not a pool", file=error.file, remedy=_RUN_REMEDY) from None


_RUN_REMEDY: Final = "give assessments as pool, and score the run with Gold.score(run) or score(run=...)"


def _refuse_swapped(queries: Sequence[Input], pool: Sequence[Input]) -> None:
    """Raise UsageError if a query file is given as pool, or a pool or a run as queries."""
    for file in queries:
        if not is_query_file(name_of(file)) and _is_table(file):
            raise UsageError(f"queries: {name_of(file)} is a pool or a run, not a query file (*.xml)")
    for file in pool:
        if is_query_file(name_of(file)):
            raise UsageError(f"pool: {name_of(file)} is a query file: give it as queries")


def _is_table(file: Input) -> bool:
    """Return whether the first line of a file has as many columns as a pool or a run.

    Only files on disk are looked into: an open file or standard input can be read only once.
    """
    if not isinstance(file, str | os.PathLike):
        return False
    if name_of(file) == "-" or not os.path.isfile(file):
        return False
    with open_source(file) as source:
        first_line = source.read_bytes().partition(b"\n")[0]
    return first_line.count(b"\t") >= _FEWEST_TABS


_FEWEST_TABS: Final = 6
"""The number of tabs in a line of the layout of assessments and runs that has the fewest columns."""


@checked
def score(
    queries: Files, run: Files, pool: Files = (), *, validate: bool = False, **options: Unpack[CallArguments]
) -> RunResult:
    """Score one run: `prepare` and `Gold.score` in one call, with the arguments and errors of both."""
    return prepare(queries, pool, **options).score(run, validate=validate)
