"""Many runs scored from Python into a folder, as `cs-score batch` does."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from cs_score.api.arguments import Files, file_of, files_of, held, policy_words, query_choice
from cs_score.api.frames import frame_of, html_table
from cs_score.api.records import Values, field_types
from cs_score.api.runs import other_switches, words_of
from cs_score.base.errors import UsageError
from cs_score.base.sources import Input, name_of
from cs_score.batch.batch import BatchOptions, run_batch
from cs_score.batch.coldstart import ColdStartPlan
from cs_score.batch.runs import InputFile, find_runs, read_policies
from cs_score.batch.store import planned_batch
from cs_score.coldstart.linking import RUN_SUFFIX, members
from cs_score.coldstart.options import Options, Policy
from cs_score.coldstart.outputs import Layout
from cs_score.measures.registry import find
from cs_score.report.documents import page_maker
from cs_score.statistics.options import IntervalMethod, Resampling

if TYPE_CHECKING:
    import pandas

    from cs_score.batch.batch import BatchResult
    from cs_score.batch.coldstart import ColdStartPlan
    from cs_score.batch.runs import InputFile
    from cs_score.coldstart.options import NamedPolicy


class LeaderboardRow(NamedTuple):
    """One run under one policy.

    `rank` counts from 1 within the policy, None for a run without the score that ranks; equal scores share a rank.
    `run` is the name of its folder, `scores` are those by measure (0 to 1; columns of the frame). `errors` and
    `warnings` are occurrences, `state` is `ok`, `errors` or `failed`, with the reason of the latter in `failure`.

    With resamples there are `intervals` by measure (limits, 0 to 1, None where undefined; in a frame columns such as
    `SF-AP:low` and `SF-AP:high`), `tier`, the group of rows that do not differ significantly from its first, and
    `p_above`, the p-value (0 to 1) of the difference from the row above; both corrected for all pairs of rows.
    """

    rank: int | None
    policy: str
    run: str
    run_id: str
    scores: Mapping[str, float]
    errors: int
    warnings: int
    state: str
    file: str
    signature: str
    failure: str | None
    intervals: Mapping[str, tuple[float | None, float | None]]
    tier: int | None
    p_above: float | None


class Leaderboard:
    """The runs of a batch from best to worst; made by `batch`. Its tables are in the output folder, too."""

    def __init__(self, result: BatchResult, remarks: tuple[str, ...]) -> None:
        self._result = result
        self._remarks = remarks

    @property
    def measure(self) -> str:
        """The measure that ranks the runs."""
        return self._result.leaderboard.measure

    @property
    def failed(self) -> int:
        """How many scorings did not come to their end, or met problems that are errors."""
        return self._result.failed

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know of the batch, one line each."""
        return self._remarks

    def rows(self) -> list[LeaderboardRow]:
        """The runs by policy and rank."""
        return [
            LeaderboardRow(
                row.rank, row.policy, row.run, row.run_id, row.scores, row.errors, row.warnings, row.state, row.file,
                row.signature, row.failure,
                {measure: row.limits(measure) for measure in (row.scores if row.intervals else ())},
                row.tier or None, row.p_above if isinstance(row.p_above, float) else None,
            )
            for row in self._result.leaderboard.rows
        ]  # fmt: skip

    def to_frame(self) -> pandas.DataFrame:
        """The same as a pandas data frame, with columns for each measure in the place of `scores` and `intervals`.

        Raises MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        measures = self._result.leaderboard.measures
        limits = [f"{measure}:{side}" for measure in self._with_limits() for side in ("low", "high")]
        columns = {"scores": measures, "intervals": limits}
        types: dict[str, str] = {}
        for name, written in field_types(LeaderboardRow).items():
            types |= dict.fromkeys(columns[name], "float | None") if name in columns else {name: written}
        return frame_of(types, self._values(), {"measure": self.measure})

    def _with_limits(self) -> Sequence[str]:
        """The measures that have intervals."""
        return self._result.leaderboard.measures if self._result.leaderboard.has_intervals else ()

    def _values(self) -> Iterator[Values]:
        measures, with_limits = self._result.leaderboard.measures, self._with_limits()
        for row in self.rows():
            limits = chain.from_iterable(row.intervals.get(measure, (None, None)) for measure in with_limits)
            columns = {"scores": map(row.scores.get, measures), "intervals": limits}
            yield tuple(chain.from_iterable(columns.get(name, (value,)) for name, value in row._asdict().items()))

    def __repr__(self) -> str:
        return f"<leaderboard by {self.measure}: {len(self._result.outcomes)} scored, {self.failed} failed>"

    def _repr_html_(self) -> str:
        shown = self._result.leaderboard.headline
        header = ("rank", "policy", "run", *shown, "state")
        rows = [(row.rank, row.policy, row.run, *map(row.scores.get, shown), row.state) for row in self.rows()]
        return html_table(f"by {self.measure}", header, rows, self.remarks)


# Long for what its arguments mean: all it does is to check them and to hand them on.
def batch(
    runs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    queries: Files,
    pool: Files,
    expand: str | None = None,
    policies: str | Iterable[str] | Mapping[str, Policy] = "kb",
    justifications: str = "1:3",
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
    interval: IntervalMethod = "percentile",
    force: bool = False,
) -> Leaderboard:
    """Score many runs into the folder `out`, each as if it were alone: the files of `cs-score batch`.

    `runs` are files, folders or patterns. `policies` are names of published policies (`kb`, `sf`) or policies of your
    own by name, which share `justifications`. `measure` is the measure that ranks the runs, `jobs` the number of
    processes (as many as processors unless given). With `resume` runs that are scored already are kept; `validate`
    validates them first; `html` writes a page for each run and index.html over all; `force` replaces files of others.
    With `bootstrap` scores have bootstrap intervals, and rows tiers and p-values, with `seed`, `confidence` (a
    percentage) and `interval` (`percentile` or `bca`). Other arguments are those of `prepare`.

    Raises UsageError for impossible arguments, InputError where gold cannot be used or a run is not there, OutputError
    where the folder cannot be written, MissingExtraError for pages without jinja2 (`pip install 'cs-score[report]'`).
    What is wrong with one run stands in its row.
    """
    page = None
    if html:
        page = page_maker()
    options = Options(
        discipline=discipline,
        expand=expand,
        justifications=justifications,  # type: ignore[arg-type]  # a text stands for limits
        queries=query_choice(query_ids),
        samples=file_of(samples, "samples"),
    )
    options.check()
    layout = Layout()
    plan = ColdStartPlan(
        queries=tuple(map(_shared_file, files_of(queries, "queries"))),
        pool=tuple(map(_shared_file, files_of(pool, "pool"))),
        options=options,
        policies=tuple(_policies(policies, options)),
        layout=layout,
        switches=tuple(words_of(other_switches(options, layout))),
        folder=os.getcwd(),
        query_list=_existing(options.queries),
        samples=_existing(options.samples),
        resampling=None if bootstrap is None else Resampling(bootstrap, seed, confidence, interval),
        validates=validate,
        page=page,
    )
    folder = os.fspath(out)
    found, remarks = find_runs([name_of(run) for run in files_of(runs, "runs")], None, (RUN_SUFFIX,))
    outputs = planned_batch(plan, folder, found, _shared(plan), (), force, with_pages=html)
    outputs.check()
    outputs.clear()
    chosen = BatchOptions(folder, None if measure is None else _measure(measure, plan), resume, index=page, jobs=jobs)
    result = run_batch(plan, found, chosen, remarks.append)
    return Leaderboard(result, tuple(remarks))


def _policies(given: str | Iterable[str] | Mapping[str, Policy], options: Options) -> list[NamedPolicy]:
    """The policies by name. Raises UsageError for names that are none, and for an empty list."""
    words = policy_words(given)
    if not words:
        raise UsageError("policies takes at least one policy")
    return read_policies(words, options, options.policy.texts())


def _measure(name: str, plan: ColdStartPlan) -> str:
    measure = find(name, plan.measures())
    if measure is None:
        raise UsageError(f"measure: no measure called {name}; there are {', '.join(plan.measures())}")
    return measure


def _shared_file(given: Input) -> InputFile:
    file = held(given)
    return InputFile(file.name, content=file.content)


def _existing(choice: str | None) -> InputFile | None:
    return InputFile(choice) if choice is not None and os.path.isfile(choice) else None


def _shared(plan: ColdStartPlan) -> list[str]:
    files = (*plan.queries, *plan.pool, plan.query_list, plan.samples)
    return [name_of(member) for file in files if file is not None for member in members(file.name)]
