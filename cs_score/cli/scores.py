"""`cs-score score` for every task: runs, each by itself, and predictions of evidence."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from cs_score.base.errors import CsScoreError
from cs_score.base.outputs import OutputPlan, folder_made, write_packed
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.cli.core import FORCE, FORMAT, Command, Finished, Line, Option, Status
from cs_score.cli.options import (
    ALL,
    FILES,
    INCLUSION,
    INTERVALS,
    OF_A_CALL,
    PER_UNIT,
    PER_UNIT_FILE,
    RUN,
    evidence_task,
    fields,
    measure_option,
    own_arguments,
    policies,
    read_measures,
    read_resampling,
    report_on_stderr,
    task_command,
)
from cs_score.cli.output import Destination, print_text, say, warn
from cs_score.cli.predictions import FILES_OF_EVIDENCE, GOLD, PREDICTIONS, input_files, score_evidence
from cs_score.cli.scoring import Call, RunsScored, call_of, say_policy, scored_apart, tables_of
from cs_score.coldstart.outputs import closing_line
from cs_score.coldstart.result import ScoringStopped
from cs_score.tables.layout import tsv
from cs_score.tasks import COLD_START, task_named

if TYPE_CHECKING:
    from cs_score.analysis.evidence.task import EvidenceTask
    from cs_score.evidence.result import Result as EvidenceResult
    from cs_score.statistics.options import Resampling
    from cs_score.statistics.results import ScoreIntervals
    from cs_score.tables.layout import Table


class PredictionsScored(Record):
    """Predictions as `cs-score score` and `check` have scored them."""

    result: EvidenceResult
    intervals: ScoreIntervals | None
    per_item: str | None

    def write(self) -> None:
        """The table of units, where it is asked for."""
        from cs_score.evidence.report import unit_blocks

        if self.per_item is not None:
            write_packed(self.per_item, unit_blocks(self.result))

    def text(self, line: Line) -> str:
        """As that of runs."""
        from cs_score.evidence.report import json_text, printed

        if line.format == "json":
            return json_text(self.result, self.intervals, with_units=line.file is not None)
        is_bare = line.switches.get(FORMAT.long) == "text"
        return printed(line.format, self.result, self.intervals, read_measures(line), is_bare=is_bare)


@contextlib.contextmanager
def scored_by(task: str, line: Line) -> Iterator[RunsScored | PredictionsScored]:
    """Score what the line names; within, the result is there, afterwards it is said what is to be known of it.

    Raises CsScoreError where nothing can be scored.
    """
    if task != COLD_START:
        yield _predictions_scored(evidence_task(task), line)
        return
    call = _call_of_score(line)
    problems = call.new_log()
    try:
        with folder_made(line.folder, "-o"), paused_collector(), scored_apart(call, problems) as scoring:
            yield scoring
            result = scoring.result
    except CsScoreError as error:
        if isinstance(error, ScoringStopped):
            warn(*error.partial.warnings)
        say(report_on_stderr(problems))
        call.write_problems(problems, error)
        raise
    warn(*result.warnings)
    say_policy(line, sum(run.duplicates for run in result.runs))
    say(report_on_stderr(result.problems))
    if result.problems:
        say(closing_line(result.error_count, result.warning_count))
    call.write_problems(problems)


def _call_of_score(line: Line) -> Call:
    """The call that a command line asks for. Raises UsageError or OutputError."""
    folder, units = line.folder, [*PER_UNIT_FILE.outputs(line.switches.get(PER_UNIT.long))]
    if folder is None:
        return call_of(line, [*([] if line.file is None else [line.file]), *units])
    output = Destination(os.path.join(folder, "out"))
    json_file = f"{output.text}.json"
    from cs_score.coldstart.documents import OPTION

    outputs = [*tables_of("-o", output, line), *replace(OPTION, name="-o").outputs(json_file), *units]
    return call_of(line, outputs, output, json_file=json_file, folder=folder)


def _predictions_scored(task: EvidenceTask, line: Line) -> PredictionsScored:
    from cs_score.evidence import intervals
    from cs_score.evidence.report import units_option

    gold, predictions = input_files(task.name, line)
    per_item = line.switches.get(PER_ITEM.long)
    outputs = [] if line.file is None else [line.file]
    if per_item is not None:
        outputs += units_option(task.mode).outputs(per_item)
    outputs += PER_UNIT_FILE.outputs(line.switches.get(PER_UNIT.long))
    plan = OutputPlan((gold, predictions), outputs, FORCE.long in line.switches)
    plan.check()
    resampling, own = read_resampling(line), own_arguments(task.name, line)
    plan.clear()
    result = score_evidence(task, gold, predictions, own)
    return PredictionsScored(result, None if resampling is None else intervals(result, resampling), per_item)


def _of_units(task: str, scored: RunsScored | PredictionsScored, resampling: Resampling | None) -> Table:
    """The table of `--per-unit`, of each run of the files."""
    from cs_score.analysis.any_table import per_unit

    results: dict[str, Any] = {task: scored.result}
    if isinstance(scored, RunsScored):
        results = {run.run_id: replace(scored.result, runs=(run,)) for run in scored.result.runs}
    return per_unit(task_named(task), results, UNSET if resampling is None else resampling.clusters)


def _score(task: str, line: Line) -> int:
    """Score as the command line says; the exit status. Raises CsScoreError where nothing can be scored."""
    if INCLUSION.long in line.switches:
        from cs_score.cli.statistics import estimate_from_sample

        return estimate_from_sample(line)
    with scored_by(task, line) as scored:
        text = scored.text(line)
        scored.write()
        if (path := line.switches.get(PER_UNIT.long)) is not None:
            write_packed(path, tsv(_of_units(task, scored, read_resampling(line))))
    print_text(text.removesuffix("\n"))
    has_errors = isinstance(scored, RunsScored) and scored.result.error_count
    return Finished(Status.FAILED if has_errors else Status.DONE, scored)


PER_ITEM: Final = Option("--per-item", "FILE", "Also write the statistics of each unit, as .tsv")
FORMATS: Final = ("text", "json", "tsv", "markdown", "latex")


def score(task: str) -> Command:
    """The command of a task."""
    if task == COLD_START:
        return task_command(
            "score", task, _score, (*OF_A_CALL, RUN, measure_option(task), INCLUSION, PER_UNIT, ALL),
            files=FILES,
            of_runs=lambda: (policies(), fields()), formats=FORMATS, folder="files",
        )  # fmt: skip
    options = (GOLD, PREDICTIONS, measure_option(task), PER_ITEM, PER_UNIT, FORCE, *INTERVALS)
    return task_command("score", task, _score, options, files=FILES_OF_EVIDENCE.meaning, formats=FORMATS)
