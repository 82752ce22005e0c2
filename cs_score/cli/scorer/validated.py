"""What the scorer's command line offers beyond the reference: runs validated on the way, problems written to a file.

Nothing of the programs before the scorer is imported unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cs_score.cli.destinations import write_text
from cs_score.cli.scorer.usage import PROGRAM
from cs_score.cli.switches import CommandLine
from cs_score.coldstart.gold import Gold
from cs_score.coldstart.result import Result
from cs_score.coldstart.run import Run
from cs_score.coldstart.writers.report import report_text
from cs_score.foundation.errors import CsScoreError, InputError
from cs_score.foundation.planned_outputs import PlannedOutput
from cs_score.foundation.sources import Input
from cs_score.problems.log import ProblemLog


def load_validated(gold: Gold, files: Sequence[Input], problems: ProblemLog) -> Run:
    """Load files as the scorer does, with every run validated first, and say on standard error what that changed.

    Raises InputError where a run has errors: the validated run would not exist.
    """
    from cs_score.preparation.runs.prevalidation import load_prepared, validate_runs
    from cs_score.problems.reports import RecordingLog

    new_log = RecordingLog if isinstance(problems, RecordingLog) else ProblemLog
    prepared = validate_runs(files, gold.table, gold.options.justifications, new_log)
    for run in prepared.runs:
        write_text("stderr", "".join(report_text(run.problems)))
        if isinstance(problems, RecordingLog) and isinstance(run.problems, RecordingLog):
            problems.also_report(run.problems)
        run.check()
        write_text("stderr", f"{PROGRAM}: {run.account}\n")
    return load_prepared(gold, prepared, problems=problems)


def signed_as_validated(result: Result) -> Result:
    """The result with a signature that tells that its runs were validated."""
    from cs_score.preparation.runs.prevalidation import signed_options

    signature = result.signature
    return replace(result, signature=replace(signature, options=signed_options(signature.options)))


def own_outputs(line: CommandLine) -> Iterator[PlannedOutput]:
    """The files of the options that the reference does not have. Raises UsageError for one that cannot be called so."""
    if "--json" in line.switches:
        from cs_score.coldstart.writers import json_result

        yield from json_result.OPTION.outputs(line.switches["--json"])
    if "--problems" in line.switches:
        from cs_score.problems import reports as problem_reports

        yield from problem_reports.OPTION.outputs(line.switches["--problems"])


def new_log(problems_file: str | None) -> ProblemLog:
    """A log that keeps all details where they are written to a file."""
    if problems_file is None:
        return ProblemLog()
    from cs_score.problems.reports import RecordingLog

    return RecordingLog()


def write_problems_file(problems: ProblemLog, path: str, error: CsScoreError | None = None) -> None:
    """Write all problems of a scoring, and the error that ended it, if one did."""
    from cs_score.problems.reports import RecordingLog, write_problems

    if not isinstance(problems, RecordingLog):
        return
    if isinstance(error, InputError):
        problems.fatal.append(error)
    write_problems(problems, path)
