"""`cs-score score`: the scorer for those who want its numbers and not the reference's files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from cs_score.base.errors import CsScoreError, UsageError
from cs_score.cli.destinations import Destination, print_text, say
from cs_score.cli.form import Form, Parameter
from cs_score.cli.leaving import Finished
from cs_score.cli.measure_option import measure_option, read_measures
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.problem_display import report_on_stderr
from cs_score.cli.scorer.call import Call, call_of, planned, problems_report, tables
from cs_score.cli.scorer.command import FILES, fields, legend, policies
from cs_score.cli.scorer.switches import OF_A_CALL
from cs_score.measures.registry import COLD_START_MODE, rankable

FORMATS: Final = ("text", "json", "tsv", "markdown")

_PREFIX: Final = "out"


def _measures() -> Iterable[str]:
    return map(str, rankable(COLD_START_MODE, True))


def _run(line: CommandLine) -> int:
    """Score as the command line says; the exit status. Raises CsScoreError where nothing can be scored."""
    from cs_score.base.garbage_collection import paused_collector
    from cs_score.cli.scorer.results import remark, write_files, write_problems_file
    from cs_score.cli.scorer.scorer import new_log, scored_apart
    from cs_score.coldstart.documents import WRITERS, choose
    from cs_score.coldstart.outputs import closing_line
    from cs_score.coldstart.result import ScoringStopped

    format_ = line.text("--format", FORMATS[0])
    if format_ not in WRITERS:
        raise UsageError(f"--format takes {', '.join(FORMATS)}, not {format_}")
    call = _call(line)
    problems = new_log(call.problems_file)
    try:
        with paused_collector(), scored_apart(call, problems) as scoring:
            result = scoring.result
            chosen = choose(result, read_measures(line), scoring.intervals)
            write_files(call, result, scoring.intervals)
    except CsScoreError as error:
        if isinstance(error, ScoringStopped):
            remark(error.partial.warnings)
        say(report_on_stderr(problems))
        if call.problems_file is not None:
            write_problems_file(problems, call.problems_file, error)
        raise
    remark(result.warnings)
    say(report_on_stderr(result.problems))
    if result.problems:
        say(closing_line(result.error_count, result.warning_count))
    if call.problems_file is not None:
        write_problems_file(problems, call.problems_file)
    print_text(WRITERS[format_](chosen).removesuffix("\n"))
    return Finished(1 if result.error_count else 0, scoring)


def _call(line: CommandLine) -> Call:
    """The call that a command line asks for; the folder of --out is there then. Raises UsageError or OutputError."""
    from cs_score.base.outputs import make_folder
    from cs_score.base.records import replace
    from cs_score.coldstart import documents

    folder = line.switches.get("--out")
    outputs = list(problems_report(line))
    if folder is None:
        plan = planned(line, outputs)
        plan.check()
        return call_of(line, plan, None, Destination("stderr"))
    output = Destination(os.path.join(folder, _PREFIX))
    json_file = f"{output.text}.json"
    outputs += [*tables("--out", output, line), *replace(documents.OPTION, name="--out").outputs(json_file)]
    plan = planned(line, outputs, folder)
    plan.check()
    call = replace(call_of(line, plan, output, Destination("stderr")), json_file=json_file)
    make_folder(folder, "--out")
    return call


FORM: Final = Form(
    "score",
    (
        *OF_A_CALL,
        measure_option(_measures),
        Option("--format", "NAME", f"How scores are printed: {', '.join(FORMATS)}", FORMATS[0], FORMATS),
        Option("--out", "DIR", "Write the scorer's files into this folder, too: DIR/out.sf and so on, DIR/out.json"),
    ),
    (Parameter("files", FILES[0].upper() + FILES[1:].rstrip("."), is_repeated=True),),
    sections=lambda: (policies(), fields(), *legend()),
    body=_run,
)
