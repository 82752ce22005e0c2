"""What a call of the scorer writes and tells, at its end or where it is stopped."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cs_score.base.errors import CsScoreError, InputError, OutputError
from cs_score.base.outputs import encoded, write_packed, write_whole
from cs_score.cli.destinations import Destination, say, write_report, write_text, write_to_stream
from cs_score.cli.leaving import FAILED
from cs_score.cli.problem_display import report_on_stderr
from cs_score.cli.scorer.call import Call
from cs_score.cli.scorer.switches import PROGRAM
from cs_score.coldstart.editions import LATEST
from cs_score.coldstart.outputs import (
    MAY_BE_REPLACED,
    closing_line,
    doubly_encoded,
    file_blocks,
    stopped_report,
    stream_blocks,
    whole_report,
)
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.tables import averages_text
from cs_score.problems.log import ProblemLog

if TYPE_CHECKING:
    from cs_score.statistics.results import ScoreIntervals


def write_files(
    call: Call, result: Result, of_runs: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False
) -> None:
    """The files of -output_file and --json, or what goes to a stream; of a stopped scoring what it has completed."""
    if call.json_file is not None and not was_stopped:
        _write_json(call.json_file, result, of_runs)
    if call.output is None:
        return
    if call.output.stream is not None:
        for blocks in stream_blocks(result, call.layout, call.invocation, of_runs):
            write_to_stream(call.output, blocks)
        return
    for ending, blocks in file_blocks(result, call.layout, call.invocation, of_runs, was_stopped):
        write_whole(f"{call.output.text}.{ending}", blocks)


def _write_json(path: str, result: Result, of_runs: Sequence[ScoreIntervals]) -> None:
    from cs_score.coldstart.documents import json_text

    if path == "-":
        write_to_stream(Destination("stdout"), encoded(json_text(result, of_runs)))
    else:
        write_packed(path, encoded(json_text(result, of_runs)))


def report(call: Call, result: Result) -> None:
    """Remarks on standard error, then the report, twice as the reference writes it, and its closing line."""
    remark(result.warnings)
    # Where both go to standard output the reference has closed it by now and its report is lost.
    output, edition = call.output, call.options.edition
    if edition.reports_first:
        text = whole_report(result.problems, result.error_count, result.warning_count, edition)
        write_report(call.errors, text, [doubly_encoded(text, edition)])
        return
    lost = output is not None and call.errors.stream == output.stream == "stdout"
    errors = call.errors if not lost else Destination("stderr")
    if errors.stream == "stderr":
        say(report_on_stderr(result.problems, twice=True) + closing_line(result.error_count, result.warning_count))
    else:
        text = whole_report(result.problems, result.error_count, result.warning_count)
        write_report(errors, text, [doubly_encoded(text)])
    if output is not None and output.stream is None and sys.stderr is not None and sys.stderr.isatty():
        say("".join(f"\n{averages_text(run)}\nsignature  {result.signature(run)}\n" for run in result.runs))


def remark(remarks: Sequence[str]) -> None:
    for remark in remarks:
        say(f"{PROGRAM}: warning: {InputError(remark)}\n")


def give_up(error: CsScoreError, problems: ProblemLog, call: Call | None) -> int:
    """The problems so far and one line that says what ended the scoring, there and on standard error.

    No file is written where there is no call: its outputs have not passed all checks.
    """
    collected = list(problems)
    errors = Destination("stderr") if call is None else call.errors
    with contextlib.suppress(OutputError):
        if isinstance(error, ScoringStopped):
            remark(error.partial.warnings)
        if errors.stream == "stderr":
            say(report_on_stderr(collected))
        write_text("stderr", f"{PROGRAM}: {error}\n")
    with contextlib.suppress(OutputError):
        if errors.stream is None:
            edition = LATEST if call is None else call.options.edition
            text = stopped_report(collected, error, edition) + MAY_BE_REPLACED
            write_whole(errors.text, [doubly_encoded(text, edition)])
    if call is not None and call.problems_file is not None:
        with contextlib.suppress(CsScoreError):
            write_problems_file(problems, call.problems_file, error)
    return FAILED


def write_problems_file(problems: ProblemLog, path: str, error: CsScoreError | None = None) -> None:
    """Write all problems of a scoring, and the error that ended it, if one did."""
    from cs_score.problems.occurrences import RecordingLog
    from cs_score.problems.reports import write_problems

    if not isinstance(problems, RecordingLog):
        return
    if isinstance(error, InputError):
        problems.fatal.append(error)
    write_problems(problems, path)
