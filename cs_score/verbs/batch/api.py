"""The function that scores many runs into a folder, and the leaderboard that it returns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from cs_score.api import arguments
from cs_score.api.arguments import ClustersArgument, Files, checked
from cs_score.api.run_results import switches_of
from cs_score.api.shown import ShownDocument, member
from cs_score.base.errors import UsageError
from cs_score.base.sources import name_of
from cs_score.coldstart.linking import RUN_SUFFIX
from cs_score.coldstart.options import CallArguments, NamedPolicy, Options, Policy
from cs_score.coldstart.output_files import ColumnLayout
from cs_score.measures import find_name
from cs_score.pages.making import page_maker
from cs_score.statistics.resampling_settings import Correction, IntervalMethod
from cs_score.tables.layout import Table
from cs_score.verbs.batch.batch_documents import OK
from cs_score.verbs.batch.cold_start_plan import ColdStartPlan, cold_start_plan, policies_of_batch
from cs_score.verbs.batch.execution import run_batch
from cs_score.verbs.batch.input_files import find_runs
from cs_score.verbs.batch.leaderboard import leaderboard_layout, leaderboard_text
from cs_score.verbs.batch.plan import BatchOptions


class Leaderboard(ShownDocument):
    """The runs of a batch from best to worst; made by `batch` and `load`. Its tables are in the output folder, too.

    Its only table has a column for each measure, and the limits of intervals in columns such as `SF-AP:low` and
    `SF-AP:high`. A `tier` is a group of rows that do not differ significantly from its first row; `p_above` is the
    p-value of the difference from the row above. Both are corrected for all pairs of rows.
    """

    _main_table = "leaderboard"
    _citation_members = ("measure",)

    def __init__(self, document: Any, remarks: Sequence[str] = ()) -> None:
        """Make a leaderboard from a document: the content of `leaderboard.json`, which a batch writes.

        `remarks` are sentences of the batch about its runs, such as `b.tab is a.tab again; it is scored once`. A
        leaderboard from a file has none.
        """
        super().__init__(document)
        self._remarks = tuple(remarks)

    measure: str = member("The measure that ranks the runs.")

    @property
    def failed(self) -> int:
        """The number of scorings that were stopped by an error, or that reported problems that are errors."""
        failed_scorings = {(row.policy, row.run) for row in self._document.rows if row.state != OK}
        return len(failed_scorings)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know about the batch, one line each."""
        return self._remarks

    def __str__(self) -> str:
        """Return the text that the command prints."""
        return leaderboard_text(self._document)

    def __repr__(self) -> str:
        scorings = {(row.policy, row.run) for row in self._document.rows}
        return f"<leaderboard by {self.measure}: {len(scorings)} scored, {self.failed} failed>"

    def _tables(self) -> Iterable[Table]:
        """Return the only table, whose columns depend on the measures and intervals of the document."""
        return [leaderboard_layout(self._document).table(self._document)]


# The function is long because it explains, checks and passes on many arguments.
@checked
def batch(
    runs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    queries: Files,
    pool: Files,
    also_policy: str | Iterable[str] | Mapping[str, Policy] = (),
    measure: str | None = None,
    jobs: int | None = None,
    resume: bool = False,
    validate: bool = False,
    html: bool = False,
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod | None = None,
    clusters: ClustersArgument = None,
    correction: Correction | None = None,
    baseline: str | None = None,
    force: bool = False,
    **options: Unpack[CallArguments],
) -> Leaderboard:
    """Score many runs, each on its own, write the results into the folder `output`, and return the leaderboard.

    The files in the folder are those that `cs-score batch` writes. `runs` are files, folders or patterns. `also_policy`
    are policies in addition to `policy`, by name or with their Policy. `measure` is the measure that ranks the runs.
    `jobs` is the number of processes; it defaults to the number of processors. `resume` keeps the files of runs that
    have already been scored. `validate` validates each run first. `html` writes a page for each run, and index.html for
    all of them. `force` replaces files that cs-score did not write, and allows more than 100,000 resamples. If
    `bootstrap`, the number of resamples, is given, scores have intervals, and rows have tiers and p-values. `seed`,
    `confidence` (a percentage), `interval` (`percentile` or `bca`), `clusters`, `correction` and `baseline` are used as
    in `compare`. The other arguments are those of `prepare`.

    Raises UsageError for impossible arguments, InputError if gold cannot be used or a run is missing, and OutputError
    if the folder cannot be written. Raises MissingExtraError if pages are requested, but jinja2 is not installed
    (`pip install 'cs-score[report]'`). An error in a single run does not end the batch; the row of the run reports it.
    """
    # The settings that all runs share.
    make_page = page_maker() if html else None
    scoring = arguments.options_of(options)
    resampling = None
    if bootstrap is not None:
        resampling = arguments.resampling_of(
            bootstrap, seed, confidence, interval, clusters, correction, baseline, force=force
        )
    policies = _policies_to_score(scoring, options.get("policy", arguments.USUAL_POLICY), also_policy)
    usual_columns = ColumnLayout()  # unlike the command, this function has no options for columns
    plan = cold_start_plan(
        arguments.files_of(queries, "queries"),
        arguments.files_of(pool, "pool"),
        scoring,
        policies,
        switches=tuple(switches_of(scoring, usual_columns)),
        resampling=resampling,
        validates=validate,
        make_page=make_page,
    )
    ranking_measure = None if measure is None else _exact_measure(measure, plan)
    arguments.check_at_least_one("jobs", jobs)

    # The runs themselves.
    run_names = [name_of(run) for run in arguments.files_of(runs, "runs")]
    batch_runs, remarks = find_runs(run_names, list_file=None, run_endings=(RUN_SUFFIX,))
    settings = BatchOptions(out=os.fspath(output), measure=ranking_measure, resume=resume, force=force, jobs=jobs)
    result = run_batch(plan, batch_runs, settings, remarks.append)
    return Leaderboard(result.leaderboard, remarks)


def _policies_to_score(
    scoring: Options, policy: str | Policy, also_policy: str | Iterable[str] | Mapping[str, Policy]
) -> list[NamedPolicy]:
    """Return the policies under which all runs are scored: the policy of the options, followed by all of `also_policy`.

    `policy` is the first policy as the caller gave it; a Policy without a name is called `given`. Raises UsageError if
    a policy does not exist, or if a name is used twice.
    """
    name = policy if isinstance(policy, str) else "given"
    further_policies = arguments.policy_words(also_policy)
    return policies_of_batch(
        scoring,
        policy_texts=scoring.policy.texts(),  # the policy as switches; further policies may change some of them
        policy_name=name,
        further_policies=further_policies,
        option="also_policy",
    )


def _exact_measure(name: str, plan: ColdStartPlan) -> str:
    """Return the measure of a plan that is called `name` in any letter case: `sf-f1` gives `SF-F1`.

    Raises UsageError if there is none.
    """
    measure = find_name(name, plan.measures())
    if measure is None:
        raise UsageError(f"measure: no measure called {name}; there are {', '.join(plan.measures())}")
    return measure
