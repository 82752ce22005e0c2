"""Predictions of the evidence tasks in a batch: gold is read once, and each file of predictions is scored alone.
A file may hold the predictions of several *systems*; each system is a run of the batch.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from cs_score.base.display import join_first, terminal_safe
from cs_score.base.errors import CsScoreError, InputError
from cs_score.base.outputs import utf8_blocks
from cs_score.base.records import asdict, replace
from cs_score.base.signature import GOLD
from cs_score.base.slices import load_from_command_package
from cs_score.base.sources import InputDigest
from cs_score.evidence.mode import Mode, ScoredPredictions, intervals
from cs_score.evidence.report import intervals_text, json_text, report_text, unit_blocks
from cs_score.statistics.results import ScoreIntervals
from cs_score.tasks import mode_named, task_named
from cs_score.tasks.score_files import read_gold, score_predictions
from cs_score.verbs.batch.batch_documents import OK, Outcome, RunOrigin, RunScores
from cs_score.verbs.batch.folder_layout import RESERVED_NAMES, page_name
from cs_score.verbs.batch.input_files import BatchRunFile, InputFile
from cs_score.verbs.batch.overview import Evaluation, make_findings
from cs_score.verbs.batch.plan import Plan, PreparedGold, RunFiles, ScoredInBatch, outcome_of


class EvidencePlan(Plan, kw_only=True):
    """Gold of an evidence task, and the options under which predictions are scored.

    `gold` is None for judged answers whose labels are in the files of predictions.
    """

    gold: InputFile | None
    options: Mapping[str, object]

    def prepare(self) -> PreparedGold:
        """Read gold. Raises CsScoreError if that fails."""
        return _PreparedEvidence(self)

    @property
    def inputs(self) -> Sequence[InputFile]:
        """The file of gold, if there is one."""
        return () if self.gold is None else (self.gold,)


class _PreparedEvidence(PreparedGold):
    """Gold of an evidence task as it was read."""

    plan: EvidencePlan

    def __init__(self, plan: EvidencePlan) -> None:
        """Read gold. Raises CsScoreError if that fails."""
        self.plan = plan
        self._mode = mode_named(plan.task).with_options(plan.options)
        self._gold = None
        self.digests = ()
        if plan.gold is not None:  # otherwise each file of predictions has its own labels
            self._gold = read_gold(self._mode, plan.gold.open())
            self.digests = (plan.gold.digest(GOLD),)

    @property
    def evaluation(self) -> Evaluation:
        """The properties of gold that are needed for the tables over all runs.

        Evidence tasks do not have a list of targets: runs should get each unit right by each headline measure. They do
        not have scores for the union of several runs, either.
        """
        headline = self.plan.headline()
        return Evaluation(
            task=self.plan.task,
            unit=self._mode.unit,
            measure=headline[0],
            targets=(),
            union_scores=_no_union_scores,
            target_measures=headline,
        )

    def origin(self, run: BatchRunFile, digest: InputDigest, policy: str) -> RunOrigin:
        """Return the inputs and options from which the scores and files of a run are made.

        `digest` is the digest of the file of predictions. `policy` is empty, since evidence tasks have no policies.
        """
        gold_digest = self.digests[0] if self.digests else None
        mode = self._mode.with_options(self._options_of(run))
        origin_of_scores = mode.origin(asdict(mode.chosen_options), gold_digest, digest)
        return self.origin_in_batch(origin_of_scores, mode.unit)

    def _options_of(self, run: BatchRunFile) -> dict[str, object]:
        """Return the options under which a run is scored.

        If the file of the run holds several systems, one of the options chooses the system that is this run.
        """
        options = dict(self.plan.options)
        if run.system:
            options[self._mode.system_option_name] = run.system
        return options

    def score(self, run: BatchRunFile, policies: Sequence[str]) -> Iterator[ScoredInBatch]:
        """Score a file of predictions, and yield its outcome with its files.

        The files are those that the task's own command `score` writes for these predictions alone. Evidence tasks have
        no policies, so there is only one outcome. If the predictions cannot be scored, it is a failed outcome.
        """
        resampling = self.plan.resampling
        try:
            result = score_predictions(self._mode, self._gold, run.file.open(), **self._options_of(run))
            score_intervals = None if resampling is None else intervals(result, resampling)
        except CsScoreError as error:
            yield ScoredInBatch(outcome_of(self.plan.task, run, policy="", failure=str(error)))
            return
        yield ScoredInBatch(
            self._outcome(run, result, score_intervals), self._contents_of_files(result, score_intervals)
        )

    def _outcome(self, run: BatchRunFile, result: ScoredPredictions, score_intervals: ScoreIntervals | None) -> Outcome:
        """Return the outcome of a run that was scored: its scores and their origin.

        `score_intervals` has the intervals of the scores, or is None if nothing is resampled. The policy of the outcome
        is empty, because evidence tasks have no policies.
        """
        digest_of_predictions = result.origin.inputs[-1]  # gold comes before it
        origin = self.origin(run, digest_of_predictions, policy="")
        scores = RunScores(
            run_id=run.name,
            scores=dict(result.scores),
            intervals=score_intervals or UNSET,
            findings=make_findings(result.table),
            answered=result.origin.answered_count_text or UNSET,
        )
        return outcome_of(
            self.plan.task,
            run,
            policy="",
            state=OK,
            signature=str(origin.signature),
            origin=origin,
            runs=(scores,),
            remarks=tuple(result.notices),
        )

    def _contents_of_files(self, result: ScoredPredictions, score_intervals: ScoreIntervals | None) -> RunFiles:
        """Yield the name and the content of each file of scored predictions.

        `score_intervals` are the intervals of the scores; None if nothing is resampled.
        """
        texts = [report_text(result)]
        if score_intervals is not None:
            texts.append(intervals_text(score_intervals))
        yield "out.json", _as_printed([json_text(result, score_intervals, with_units=True)])
        yield "out.txt", _as_printed(texts)
        yield "out.tsv", unit_blocks(result)
        if self.plan.make_page is not None:
            page = self.plan.make_page(self._analyze(result))
            yield page_name(position=0, run_count=1), utf8_blocks([page])

    def _analyze(self, result: ScoredPredictions) -> Any:
        """Return the analysis of scored predictions, which their page shows."""
        # The module `cs_score.verbs.analyze.by_task` is imported only here, because most batches make no pages.
        analyze_result = load_from_command_package("analyze", "by_task:analyze_result", needed_by="the page of a run")
        return analyze_result(task_named(self.plan.task), result)


# ---- Files that hold several runs

_UNFIT_FOR_FOLDERS: Final = re.compile(r"[^\w.+-]")
"""Characters of the name of a system that the folder of its run does not have."""


def runs_of_systems(mode: Mode, runs: Sequence[BatchRunFile], chosen_systems: Sequence[str] = ()) -> list[BatchRunFile]:
    """Split each run whose file holds several systems into one run for each system, and return all runs of the batch.

    If systems are chosen, the others are left out. Each new run has the name of its system. If there are several files,
    the name of the file comes first: system `a/b` of `x.csv` and `y.csv` becomes `x-a_b` and `y-a_b`. Standard input
    remains a single run. A file that cannot be read remains a single run, too, which fails when it is scored. Raises
    InputError if a chosen system is not in any file.
    """
    expanded_runs: list[BatchRunFile] = []
    for run in runs:
        expanded_runs += _runs_in_file(mode, run, chosen_systems, is_only_file=len(runs) == 1)
    systems_of_runs = {run.system for run in expanded_runs}
    for system in chosen_systems:
        if system not in systems_of_runs:
            raise InputError(f"no run is called {system} in {join_first([run.file.name for run in runs])}")
    return _with_distinct_names(expanded_runs)


def _runs_in_file(
    mode: Mode, run: BatchRunFile, chosen_systems: Sequence[str], *, is_only_file: bool
) -> list[BatchRunFile]:
    """Split a run into one run for each system in its file; a run with at most one system is not changed.

    If there are `chosen_systems`, only these systems get runs, even if one of them is the only system in the file. The
    list is empty if the file has none of them. Two runs may have the same name. If the batch has no other file
    (`is_only_file`), the names of runs do not contain the name of the file.
    """
    systems = _systems_in_file(mode, run.file.name)
    if len(systems) < 2 and not chosen_systems:
        return [run]
    if not systems:  # the file cannot be read
        return [run]
    runs = []
    for system in systems:
        if not chosen_systems or system in chosen_systems:
            name = _name_of_system(system, run, is_only_file=is_only_file)
            runs.append(replace(run, name=name, system=system))
    return runs


def _systems_in_file(mode: Mode, file_name: str) -> Sequence[str]:
    """Return the names of the systems in a file of predictions; none if the file cannot be read or has no systems.

    Standard input is not read, because it can be read only once.
    """
    if file_name == "-":
        return ()
    return mode.systems_of_file(file_name)


def _name_of_system(system: str, run: BatchRunFile, *, is_only_file: bool) -> str:
    """Return a name for the run of a system of a file: `a/b` becomes `a_b`.

    If there are other files, or if no folder of the batch can have this name, the name of the file precedes: `x-a_b`.
    """
    name = _UNFIT_FOR_FOLDERS.sub("_", system)
    is_unfit = name in RESERVED_NAMES or name.startswith(".")
    if is_only_file and not is_unfit:
        return name
    return f"{run.name}-{name}"


def _with_distinct_names(runs: Iterable[BatchRunFile]) -> list[BatchRunFile]:
    """Return the runs with distinct names: a system's run gets a number if an earlier run has its name, `x-a_b-2`."""
    renamed_runs = []
    used_names: set[str] = set()
    for run in runs:
        name = _unused_name(run.name, used_names) if run.system else run.name
        used_names.add(name)
        renamed_runs.append(replace(run, name=name))
    return renamed_runs


def _unused_name(name: str, used_names: Collection[str]) -> str:
    """Return `name` if it is not used yet, otherwise `NAME-N` with the smallest number from 2 for which it is not."""
    unused_name = name
    number = 1
    while unused_name in used_names:
        number += 1
        unused_name = f"{name}-{number}"
    return unused_name


# ---- How files are written


def _no_union_scores(found_bits: int) -> Mapping[str, float]:
    """Return no scores: the scores of the right units of several runs together are not defined for evidence tasks."""
    return {}


def _as_printed(texts: Iterable[str]) -> list[bytes]:
    """Return the bytes that a command prints when it prints some texts with a blank line between them."""
    text = "\n\n".join(texts) + "\n"
    return [terminal_safe(text).encode("utf-8", "backslashreplace")]
