"""Score the predictions of a command line, of any evidence task, for `score` and other commands."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cs_score.base import outputs as storage
from cs_score.base.display import one_line
from cs_score.base.errors import UsageError
from cs_score.base.outputs import OutputPlan
from cs_score.base.records import Record
from cs_score.base.runtime import Late
from cs_score.cli import shared_options as options
from cs_score.cli.core import CommandLine
from cs_score.cli.output import warn
from cs_score.cli.predictions import Predictions
from cs_score.cli.shared_options import read_measures, read_resampling
from cs_score.measures import select_names

if TYPE_CHECKING:
    from cs_score.evidence import report
    from cs_score.evidence.mode import ScoredPredictions
    from cs_score.statistics.resampling_settings import Resampling
    from cs_score.statistics.results import ScoreIntervals
else:  # texts are made after scoring
    report = Late("cs_score.evidence.report")


class PredictionsScored(Record):
    """The results of scoring a file of predictions, one result for each system in it."""

    task: str
    results: Mapping[str, ScoredPredictions]
    """The result of each system, by its name."""
    intervals: Mapping[str, ScoreIntervals]
    """The intervals of each system, by its name; empty without --bootstrap."""
    resampling: Resampling | None
    """The settings of the intervals, None without --bootstrap."""
    item_file: str | None
    """The file into which --per-item writes the statistics of each unit, or None."""

    @property
    def has_errors(self) -> bool:
        """Whether the command fails although there are scores: never, since wrong predictions are not scored at all."""
        return False

    @property
    def result(self) -> ScoredPredictions:
        """The result of the only system. Raises UsageError if there are several."""
        if len(self.results) != 1:
            names = ", ".join(one_line(name, 40) for name in self.results)
            raise UsageError(f"there are {len(self.results)} runs ({names}): choose one with --run ID")
        return next(iter(self.results.values()))

    @property
    def result_by_run(self) -> dict[str, Any]:
        """The result of each system by its name. If there is just one system, it is named after the task."""
        if len(self.results) == 1:
            return {self.task: self.result}
        return dict(self.results)

    def write(self) -> None:
        """Write the file of --per-item, if it was asked for. Raises OutputError if writing fails."""
        if self.item_file is not None:
            storage.write_packed(self.item_file, report.unit_blocks(self.result))

    def text(self, command_line: CommandLine) -> str:
        """Return the scores of each system by the measures that were chosen, in the format of the command line.

        With `--format text`, one measure and one system, the text is only the number, such as `0.2841`.
        """
        if command_line.format == "json":
            # The statistics of units are written only to files: there are many of them, and `cs_score.load` needs them.
            return self._json_text(with_units=command_line.file is not None)
        if len(self.results) == 1:
            return self._text_of_only_system(command_line)
        text_by_run = {run: self._text_of_run(run, command_line) for run in self.results}
        if command_line.format == "tsv":
            return _merge_tables(text_by_run)
        return "\n\n".join(text_by_run.values())

    def _text_of_run(self, run: str, command_line: CommandLine) -> str:
        """Return the scores of one of several runs by the chosen measures, in the format of the command line."""
        result = self.results[run]
        measures = _chosen_measures(result, command_line)
        return report.format_scores(command_line.format, result, self.intervals.get(run), measures)

    def _json_text(self, *, with_units: bool) -> str:
        """Return the scores as JSON: the object of the only system, or one object for all systems.

        With `with_units` it has the statistics of each unit as well.
        """
        if len(self.results) > 1:
            return report.json_of_several(self.results.values(), self.intervals, with_units=with_units)
        return report.json_text(self.result, self._intervals_of_only_system(), with_units=with_units)

    def _text_of_only_system(self, command_line: CommandLine) -> str:
        """Return the scores of the only system; only the number if `--format text` asks for a single measure.

        With the number, warnings are printed, for example that it is undefined.
        """
        intervals = self._intervals_of_only_system()
        measures = _chosen_measures(self.result, command_line)
        wants_number = command_line.get("--format") == "text"  # without this option the text also names the measure
        if wants_number and len(measures) == 1:
            [measure] = measures
            score, *remarks = report.single_score(measure, self.result.scores[measure], intervals)
            warn(*remarks)
            return score
        return report.format_scores(command_line.format, self.result, intervals, measures)

    def _intervals_of_only_system(self) -> ScoreIntervals | None:
        """Return the intervals of the only system; None without --bootstrap."""
        name_of_system = next(iter(self.results))
        return self.intervals.get(name_of_system)


def score_predictions(task: str, command_line: CommandLine) -> PredictionsScored:
    """Score each system in the predictions file of a command line.

    All faults of the command line are reported before anything is scored. Raises UsageError for wrong options, and
    InputError for wrong files.
    """
    inputs = Predictions(task, command_line)
    plan = _plan_of_outputs(inputs, command_line)
    resampling = read_resampling(command_line)
    plan.remove_earlier_files()
    [file] = inputs.files
    results = inputs.results_of_file(file)
    return PredictionsScored(
        task=task,
        results=results,
        intervals=_intervals_by_name(results, resampling),
        resampling=resampling,
        item_file=command_line.get("--per-item"),
    )


def _plan_of_outputs(inputs: Predictions, command_line: CommandLine) -> OutputPlan:
    """Return the checked plan of the files of -o, --per-item and --per-unit.

    The file of --per-item has the task's own statistics of each unit. The file of --per-unit has the numerators and
    denominators of each measure, in the same format for all tasks. Raises UsageError or OutputError if a file may not
    be written.
    """
    planned_outputs = [] if command_line.file is None else [command_line.file]
    item_file = command_line.get("--per-item")
    if item_file is not None:
        planned_outputs.extend(report.units_option(inputs.mode).outputs(item_file))
    planned_outputs.extend(options.PER_UNIT.outputs(command_line.get("--per-unit")))
    return command_line.plan(planned_outputs, inputs.inputs)


def _intervals_by_name(
    results: Mapping[str, ScoredPredictions], resampling: Resampling | None
) -> dict[str, ScoreIntervals]:
    """Return the bootstrap intervals of each system by its name; no intervals if `resampling` is None."""
    from cs_score.evidence.mode import intervals

    if resampling is None:
        return {}
    return {name: intervals(result, resampling) for name, result in results.items()}


def _chosen_measures(result: ScoredPredictions, command_line: CommandLine) -> Sequence[str]:
    """Return the measures of a result that the names and patterns of --measure choose; none without --measure."""
    measures = read_measures(command_line)
    if not measures:
        return ()
    return select_names(list(result.scores), measures)


def _merge_tables(text_by_run: Mapping[str, str]) -> str:
    """Return the TSV tables of several runs as one table, with an additional first column for the run.

    The tables, which are given by the name of the run, all have the same header.
    """
    lines: list[str] = []
    for run, text in text_by_run.items():
        header, *rows = text.removesuffix("\n").split("\n")
        if not lines:
            lines.append(f"run\t{header}")
        run_cell = one_line(run, sys.maxsize)  # the largest width: a cell of a file is not cut
        lines.extend(f"{run_cell}\t{row}" for row in rows)
    return "\n".join(lines)
