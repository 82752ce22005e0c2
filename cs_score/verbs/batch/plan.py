"""The options of a batch, the base classes of the plan and the gold of each task, and the scored run. A *plan* has all
inputs and options that scores depend on. It can be sent to a worker, which reads gold by it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from cs_score.base.records import Record, asdict, replace
from cs_score.base.signature import Origin
from cs_score.base.sources import InputDigest
from cs_score.measures import headline_names, rankable_measures
from cs_score.problems.log import Occurrence
from cs_score.statistics.resampling_settings import Resampling
from cs_score.verbs.batch.batch_documents import FAILED, Outcome, RunOrigin, State
from cs_score.verbs.batch.input_files import BatchRunFile, InputFile
from cs_score.verbs.batch.overview import Evaluation

# ---- The outcome of a run

RunFiles: TypeAlias = Iterable[tuple[str, Iterable[bytes]]]
"""The name and the content of each file of a run. The content is computed while it is written."""


class ScoredInBatch(Record):
    """The outcome of a run under a policy, and those of its files that are not written yet."""

    outcome: Outcome
    files: RunFiles = ()


def outcome_of(task: str, run: BatchRunFile, policy: str, state: State = FAILED, **fields: Any) -> Outcome:
    """Return the record of the outcome of a run under a policy.

    The run has failed unless another `state` is given. `fields` are further fields of `Outcome`, such as `failure` or
    `runs`.
    """
    return Outcome(task=task, run=run.name, file=run.file.name, policy=policy, state=state, **fields)


# ---- The plan


class BatchOptions(Record):
    """The options of a batch that do not change scores.

    * `out`: the output folder.
    * `measure`: the measure that ranks the leaderboard, or None for the headline measure.
    * `resume`: whether runs that an earlier batch has scored are kept.
    * `force`: whether files that cs-score did not write may be replaced.
    * `jobs`: the number of processes, or None for one for each processor.
    * `dask`: the address of the Dask cluster that scores the runs, or None for this machine.
    * `ships_inputs`: whether the workers of the cluster receive the bytes of all inputs.
    * `problems`: the file for all problems with their details.
    * `runs_from`: the file with the list of runs.
    * `show_progress`: the function that shows a line about the progress, every `seconds_between_lines` seconds.
    * `mix_editions`: whether the runs of a leaderboard may follow several editions of the scorer.
    """

    out: str
    measure: str | None = None
    resume: bool = False
    force: bool = False
    jobs: int | None = 1
    dask: str | None = None
    ships_inputs: bool = False
    problems: str | None = None
    runs_from: str | None = None
    show_progress: Callable[[str], None] | None = None
    seconds_between_lines: float = 60.0
    mix_editions: bool = False


class Plan(Record, kw_only=True):
    """The inputs and options with which a worker reads gold and scores runs. A plan can be pickled.

    `resampling` holds the settings for intervals, or None if no intervals are computed. `make_page` is a function that
    creates the page of a run from its analysis, and the page of the batch from its overview. It is None if no pages are
    created.
    """

    task: str
    resampling: Resampling | None = None
    make_page: Callable[[Any], str] | None = None

    @abstractmethod
    def prepare(self) -> PreparedGold:
        """Read and index gold, and return it. Raises CsScoreError if that fails; no run can be scored then."""

    @property
    @abstractmethod
    def inputs(self) -> Sequence[InputFile]:
        """The files that all runs share."""

    def measures(self) -> list[str]:
        """Return the names of the measures that can rank runs under these options, the headline measure first."""
        return [str(measure) for measure in rankable_measures(self.task)]

    def headline(self) -> Sequence[str]:
        """Return the names of the few measures that readable leaderboards show, the most important first."""
        return headline_names(self.task)

    @property
    def policy_names(self) -> Sequence[str]:
        """The names of the policies, in order; one empty name if the task has none or there is only the default."""
        return ("",)

    @property
    def edition(self) -> str:
        """The edition of the reference scorer by which runs are scored; empty for a task without editions."""
        return ""

    def for_remote_worker(self, *, ships_inputs: bool) -> Plan:
        """Return the plan for a worker on another machine.

        Its inputs have absolute paths or, with `ships_inputs`, their bytes. Raises InputError for an input that cannot
        be read.
        """
        fields = {name: _with_remote_inputs(value, ships_inputs=ships_inputs) for name, value in asdict(self).items()}
        return replace(self, **fields)


def _with_remote_inputs(value: Any, *, ships_inputs: bool) -> Any:
    """Return the value of a field of a plan in which all inputs can be read by a worker on another machine.

    Inputs inside tuples and dictionaries are replaced, too; values without inputs are returned as they are. Raises
    InputError if an input is shipped and cannot be read.
    """
    if isinstance(value, tuple):
        return tuple([_with_remote_inputs(item, ships_inputs=ships_inputs) for item in value])
    if isinstance(value, dict):
        return {key: _with_remote_inputs(item, ships_inputs=ships_inputs) for key, item in value.items()}
    if isinstance(value, InputFile | Plan):
        return value.for_remote_worker(ships_inputs=ships_inputs)
    return value


class PreparedGold:
    """The gold that a plan has read, against which runs are scored. Scoring a run does not change it.

    `digests` holds the digest of each input that is shared by all runs. `problem_occurrences` lists the problems of
    these inputs in detail, if the plan asks for them.
    """

    plan: Any
    digests: Sequence[InputDigest]
    problem_occurrences: Sequence[Occurrence] = ()

    @property
    @abstractmethod
    def evaluation(self) -> Evaluation:
        """The properties of gold for the tables over all runs: the unit, the targets, and a function for the union.

        Targets are the items that a run should find. The function returns the scores of a run that finds the given
        targets.
        """

    def hops_by_measure(self) -> Mapping[str, Sequence[str]]:
        """Return the hops for which each measure exists, by the name of the measure, the headline measure first.

        Cold Start has `{"SF-F1": ["0", "1"], ...}`, where `SF-F1@1` can be asked for. Other tasks have no hops.
        """
        return dict.fromkeys(self.plan.measures(), ())

    @abstractmethod
    def score(self, run: BatchRunFile, policies: Sequence[str]) -> Iterator[ScoredInBatch]:
        """Score a run independently of all others, and yield its outcome under each policy.

        The outcome of a run that cannot be scored is a failed one.
        """

    @abstractmethod
    def origin(self, run: BatchRunFile, digest: InputDigest, policy: str) -> RunOrigin:
        """Return the inputs and options from which the scores and files of a run under a policy are made.

        `digest` is the digest of the file of the run.
        """

    def origin_in_batch(self, origin: Origin, unit: str, **choices: Any) -> RunOrigin:
        """Return the origin of a run's scores, together with everything else that affects the files of the run.

        An origin holds the options and all input files from which scores are computed. This function adds the settings
        of the intervals and the `choices`, which are fields of `RunOrigin` such as `policy` and `tabs`. `unit` is the
        noun for what is resampled (query, claim ...).
        """
        resampling = self.plan.resampling
        if resampling is not None:
            resampling = replace(resampling, unit=unit)
        return RunOrigin(**asdict(origin), bootstrap=resampling, **choices)
