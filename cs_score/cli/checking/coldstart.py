"""`cs-score check [switches] QUERIES... RUN POOL`: whether a Cold Start run keeps limits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cs_score.cli.checking.gate_options import STATUSES, errors_in_format, gate_options, judge, read_gate, without_test
from cs_score.cli.destinations import Destination, say
from cs_score.cli.form import Form, Parameter
from cs_score.cli.options import FORCE, CommandLine
from cs_score.cli.resampling_options import OPTIONS as RESAMPLING
from cs_score.cli.scorer.call import call_of, planned
from cs_score.cli.scorer.command import FILES, legend, policies
from cs_score.cli.scorer.switches import OF_A_CALL, PROBLEMS
from cs_score.measures.registry import COLD_START_MODE, rankable

# They are about files that are not written here.
_LEFT_OUT: Final = frozenset(("-fields", "-tabs", "-samples", PROBLEMS.name, FORCE.name, *(o.name for o in RESAMPLING)))


def _measures() -> Iterable[str]:
    return map(str, rankable(COLD_START_MODE, True))


def _run(line: CommandLine) -> int:
    """Score and judge; the exit status. Raises CsScoreError where that cannot be done."""
    from cs_score.base.garbage_collection import paused_collector
    from cs_score.cli.scorer.results import remark
    from cs_score.cli.scorer.scorer import new_log, scored_apart
    from cs_score.verification.checking import of_cold_start

    gate = read_gate(line)
    line_of_scorer = without_test(line)
    call = call_of(line_of_scorer, planned(line_of_scorer, ()), None, Destination("stderr"))
    with errors_in_format(line), paused_collector(), scored_apart(call, new_log(None)) as scoring:
        result = scoring.result
        remark(result.warnings)
        if result.error_count:
            say(f"cs-score: warning: {result.error_count} errors in the input; score the run by itself to see them\n")
        return judge(gate, of_cold_start(result), line)


FORM: Final = Form(
    "check",
    (*(option for option in OF_A_CALL if option.name not in _LEFT_OUT), *gate_options(_measures)),
    (Parameter("files", FILES[0].upper() + FILES[1:].rstrip("."), is_repeated=True),),
    sections=lambda: (STATUSES, policies(), *legend()),
    body=_run,
)
