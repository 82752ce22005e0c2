"""Many runs scored from Python into a folder, as `cs-score batch` does."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from cs_score.api.arguments import (
    Files,
    Limits,
    Together,
    checked,
    files_of,
    held,
    options_of,
    policy_words,
    resampling_of,
)
from cs_score.api.documents import Leaderboard
from cs_score.api.runs import other_switches, words_of
from cs_score.base.errors import UsageError
from cs_score.base.sources import name_of
from cs_score.batch.batch import BatchOptions, run_batch
from cs_score.batch.coldstart import ColdStartPlan
from cs_score.batch.runs import InputFile, find_runs, read_policies
from cs_score.batch.store import planned_batch
from cs_score.coldstart.linking import RUN_SUFFIX, members
from cs_score.coldstart.options import NamedPolicy, Policy
from cs_score.coldstart.outputs import Layout
from cs_score.measures.registry import find
from cs_score.report.documents import page_maker
from cs_score.statistics.options import Correction, IntervalMethod


# Long for what its arguments mean: all it does is to check them and to hand them on.
@checked
def batch(
    runs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    queries: Files,
    pool: Files,
    expand: str | None = None,
    policy: str | Policy = "kb",
    also_policy: str | Iterable[str] | Mapping[str, Policy] = (),
    justifications: Limits | None = None,
    discipline: str = "ASSESSED",
    query_ids: str | os.PathLike[str] | Iterable[str] | None = None,
    samples: str | os.PathLike[str] | None = None,
    measure: str | None = None,
    jobs: int | None = None,
    resume: bool = False,
    validate: bool = False,
    html: bool = False,
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod | None = None,
    clusters: Together = None,
    correction: Correction | None = None,
    baseline: str | None = None,
    force: bool = False,
) -> Leaderboard:
    """Score many runs into the folder `output`, each as if it were alone: the files of `cs-score batch`.

    `runs` are files, folders or patterns. `also_policy`, by name or with their Policy, stand beside `policy`. `measure`
    is the one that ranks the runs, `jobs` the number of processes (as many as processors unless given). With
    `resume` runs that are scored already are kept; `validate` validates them first; `html` writes a page for each run
    and index.html over all; `force` replaces files of others. With `bootstrap` scores have bootstrap intervals, and
    rows tiers and p-values, with `seed`, `confidence` (a percentage), `interval` (`percentile` or `bca`), and
    `clusters`, `correction` and `baseline` as in `compare`. Other arguments are those of `prepare`.

    Raises UsageError for impossible arguments, InputError where gold cannot be used or a run is not there, OutputError
    where the folder cannot be written, MissingExtraError for pages without jinja2 (`pip install 'cs-score[report]'`).
    What is wrong with one run stands in its row.
    """
    page = page_maker() if html else None
    options = options_of(policy, justifications, query_ids, None, samples, discipline=discipline, expand=expand)
    chosen, limits = options.policy, options.justifications
    also = read_policies(policy_words(also_policy), options, chosen.texts())
    name = "" if not also else policy if isinstance(policy, str) else "given"
    if name in (each.name for each in also):
        raise UsageError(f"also_policy {name} is the policy in force already")
    resampling = None
    if bootstrap is not None:
        resampling = resampling_of(bootstrap, seed, confidence, interval, clusters, correction, baseline)
    layout = Layout()
    plan = ColdStartPlan(
        queries=tuple(map(held, files_of(queries, "queries"))),
        pool=tuple(map(held, files_of(pool, "pool"))),
        options=options,
        policies=(NamedPolicy(name, chosen, limits, chosen.texts()), *also),
        layout=layout,
        switches=tuple(words_of(other_switches(options, layout))),
        folder=os.getcwd(),
        query_list=_existing(options.queries),
        samples=_existing(options.samples),
        resampling=resampling,
        validates=validate,
        page=page,
    )
    ranking = None if measure is None else find(measure, plan.measures())
    if measure is not None and ranking is None:
        raise UsageError(f"measure: no measure called {measure}; there are {', '.join(plan.measures())}")
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise UsageError(f"jobs takes a number from 1, not {jobs!r}")
    folder = os.fspath(output)
    found, remarks = find_runs([name_of(run) for run in files_of(runs, "runs")], None, (RUN_SUFFIX,))
    shared = [file.name for file in (*plan.queries, *plan.pool, plan.query_list, plan.samples) if file is not None]
    inputs = [name_of(member) for name in shared for member in members(name)]
    outputs = planned_batch(plan, folder, found, inputs, (), force, with_pages=html)
    outputs.check()
    outputs.clear()
    settings = BatchOptions(folder, ranking, resume, index=page, jobs=jobs)
    return Leaderboard(run_batch(plan, found, settings, remarks.append).leaderboard, remarks)


def _existing(choice: str | None) -> InputFile | None:
    return InputFile(choice) if choice is not None and os.path.isfile(choice) else None
