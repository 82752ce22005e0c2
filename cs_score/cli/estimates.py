"""Estimate the scores for a whole pool from a sample of it that was assessed, for `score` and `compare`."""

from __future__ import annotations

from cs_score.analysis import sampled_labels, sampled_pools, systems
from cs_score.analysis.coldstart.scored import AnalysedRun, score_for_analysis
from cs_score.base.errors import UsageError
from cs_score.base.runtime import paused_garbage_collection
from cs_score.cli.core import CommandLine
from cs_score.cli.document_output import print_statistics
from cs_score.cli.predictions import Predictions
from cs_score.cli.run_inputs import Runs
from cs_score.cli.shared_options import read_resampling_with_defaults
from cs_score.coldstart.gold import with_pool
from cs_score.tasks import COLD_START


def estimate_from_sample(task: str, command_line: CommandLine, *, most_systems: int | None = 1) -> int:
    """Print estimates of the scores that systems would have if the whole pool were assessed. Return the exit status.

    The file of --inclusion says with what probability each answer was drawn into the sample. `most_systems` is the
    largest number of prediction files that the command line may name, or None if there is no limit. For Cold Start,
    there is no limit and `most_systems` is ignored. Raises UsageError or InputError.
    """
    if command_line.folder is not None:
        raise UsageError("--inclusion gives one document: -o FILE.json, .tsv or .txt")
    if task == COLD_START:
        return _estimate_from_pool(command_line)
    return _estimate_from_labels(command_line, Predictions(task, command_line, most_systems=most_systems))


def _estimate_from_pool(command_line: CommandLine) -> int:
    """Print estimates of the scores of Cold Start runs from assessments that are a sample. Return the exit status."""
    strata_table = sampled_pools.read_strata_table(command_line.text("--inclusion"))
    confidence = read_resampling_with_defaults(command_line).confidence
    inputs = Runs(command_line)
    with paused_garbage_collection():
        scored_by_name = _score_each_run(inputs)
        estimates = sampled_pools.estimate_from_sample(scored_by_name, strata_table, confidence)
    return print_statistics(command_line, sampled_pools.SAMPLED_POOL_PRINTOUT, estimates)


def _score_each_run(inputs: Runs) -> dict[str, AnalysedRun]:
    """Score each run of a command line separately against the same assessments, and return the scored runs by name."""
    runs_with_gold = inputs.read_queries_and_find_runs()
    gold = with_pool(runs_with_gold.gold_without_pool, runs_with_gold.assessments)
    scored_by_name = {}
    for name, run in zip(systems.run_names(runs_with_gold.runs), runs_with_gold.runs):
        loaded_run = inputs.load_with_warnings(gold, run)
        scored_by_name[name] = score_for_analysis(loaded_run, gold.options.policy)
    return scored_by_name


def _estimate_from_labels(command_line: CommandLine, predictions: Predictions) -> int:
    """Print estimates of the scores of predictions (judged answers), of which only a sample is labelled.

    The file of --second-assessments, if it is given, has the labels of the sample, which correct the labels in the gold
    file. Returns the exit status.
    """
    second_file = command_line.get("--second-assessments")
    # The columns by which the file of --inclusion divides the answers into strata.
    stratum_columns = sampled_labels.STRATUM_COLUMNS
    if second_file is not None:
        stratum_columns = sampled_labels.STRATUM_COLUMNS_WITH_SECOND_LABELS
    # The probabilities of being in the sample.
    strata_table = sampled_pools.read_strata_table(command_line.text("--inclusion"), stratum_columns)
    confidence = read_resampling_with_defaults(command_line).confidence
    results = predictions.score_all().results
    first_result = next(iter(results.values()))  # all results have the same gold
    second_assessments = sampled_labels.read_second_assessments(first_result, second_file)
    estimates = sampled_labels.estimate_from_labels(results, second_assessments, strata_table, confidence)
    return print_statistics(command_line, sampled_pools.SAMPLED_POOL_PRINTOUT, estimates)
