"""`cs-score analyze [switches] files...`: why a Cold Start run scored what it did, and what its mistakes cost."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from cs_score.cli import colour
from cs_score.cli.destinations import print_text, say, write_to_stream
from cs_score.cli.form import Form, Parameter, whole_number
from cs_score.cli.options import FORCE, CommandLine, Option
from cs_score.cli.scorer.command import legend
from cs_score.cli.scorer.options import options_of
from cs_score.cli.scorer.switches import SCORING
from cs_score.coldstart.queries.query_files import is_query_file
from cs_score.foundation.errors import InputError, UsageError
from cs_score.measures.registry import COLD_START_MODE, rankable

if TYPE_CHECKING:
    from cs_score.analysis.coldstart.analysis import Analysis
    from cs_score.analysis.coldstart.scored import Scored
    from cs_score.foundation.planned_outputs import PlannedOutput

_MOST: Final = 10**9


def _measures() -> Iterable[str]:
    return map(str, rankable(COLD_START_MODE, True))


def _run(line: CommandLine) -> int:
    """Analyse as the command line says.

    Raises UsageError for a command line that means nothing, InputError where the run cannot be analysed.
    """
    from cs_score.analysis.coldstart.analysis import analyze
    from cs_score.foundation.planned_outputs import OutputPlan

    if line.wrong_file is not None:  # a bare --json before a file: its name has been forgotten, or stands there
        raise UsageError(line.wrong_file)
    top = whole_number(line, "--top", _MOST)
    outputs = list(_outputs(line))
    plan = OutputPlan(list(_inputs(line)), outputs, "--force" in line.switches, line.switches.get("--tsv"))
    plan.check()
    plan.clear()
    scored = _scored(line)
    analysis = analyze(scored, line.switches.get("--measure"), top)
    _write(line, analysis)
    return 0


def _inputs(line: CommandLine) -> Iterator[str]:
    from cs_score.coldstart.lines.loading import members
    from cs_score.foundation.sources import name_of

    for word in (*line.words, *filter(None, [line.switches.get("-queries")])):
        yield from map(name_of, members(word))


def _outputs(line: CommandLine) -> Iterator[PlannedOutput]:
    from cs_score.analysis.writers import json, tsv

    yield from json.OPTION.outputs(line.switches.get("--json"))
    if (folder := line.switches.get("--tsv")) is not None:
        yield from tsv.planned_tables(folder)


def _scored(line: CommandLine) -> Scored:
    """Load and score what the command line names; remarks go to standard error."""
    from cs_score.analysis.coldstart.scored import score_for_analysis
    from cs_score.coldstart.gold import noting_folders, open_gold
    from cs_score.coldstart.run import load_run
    from cs_score.foundation.garbage_collection import paused_collector

    options = options_of(line)
    queries = [word for word in line.words if is_query_file(word)]
    files = [word for word in line.words if not is_query_file(word)]
    if not files:
        raise UsageError("name a run and its assessments, too")
    _refuse_knowledge_bases(files)
    with paused_collector():
        gold = noting_folders(open_gold(queries, options), files)
        run = load_run(gold, files)
        scored = score_for_analysis(run, options.policy, line.switches.get("--run"))
    for remark in run.remarks:
        say(f"cs-score: warning: {InputError(remark)}\n")
    errors = run.problems.has_errors
    if errors:
        say("cs-score: warning: there are errors in the input; score the run to see them\n")
    if scored.stopped is not None:
        say(f"cs-score: warning: there is no average precision: {scored.stopped}\n")
    return scored


def _refuse_knowledge_bases(files: Iterable[str]) -> None:
    """Raises UsageError for a knowledge base: the lines of its run would belong to no file."""
    from cs_score.cli.scorer.validated import knowledge_bases_in

    for name in knowledge_bases_in(files):
        raise UsageError(f"{name} is a knowledge base; make it a run first, with cs-score resolve-queries")


def _write(line: CommandLine, analysis: Analysis) -> None:
    from cs_score.analysis.writers.json import json_text
    from cs_score.analysis.writers.tables import tables_of
    from cs_score.analysis.writers.text import analysis_text
    from cs_score.analysis.writers.tsv import table_path, table_text
    from cs_score.cli.destinations import Destination
    from cs_score.foundation.outputs import encoded, write_packed, write_whole

    if (folder := line.switches.get("--tsv")) is not None:
        os.makedirs(folder, exist_ok=True)
        for table in tables_of(analysis):
            write_whole(table_path(folder, table.name), encoded(table_text(table)))
    json_file = line.switches.get("--json")
    if json_file == "-":
        write_to_stream(Destination("stdout"), encoded(json_text(analysis.as_json())))
        return
    if json_file is not None:
        write_packed(json_file, encoded(json_text(analysis.as_json())))
    width = shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else None
    print_text(analysis_text(analysis, width).removesuffix("\n"), colour.with_deltas)


FORM: Final = Form(
    "analyze",
    (
        *SCORING,
        Option("-runids", "LIST", "Colon-separated runs to score, in this order", "all runs"),
        Option("--run", "ID", "The run to analyse, where there are several"),
        Option("--measure", "NAME", "What gains are measured by", "the one that ranks leaderboards", choices=_measures),
        Option("--top", "N", "Only the N costliest mistakes"),
        Option("--json", "[FILE.json]", "The analysis as JSON, in FILE; without FILE instead of the text"),
        Option("--tsv", "DIR", "Write every table into this folder, too"),
        FORCE,
    ),
    (
        Parameter(
            "files",
            "Query files (names ending in .xml, perhaps compressed), the run, and its assessments, in an order in "
            "which parent lines come first. A folder stands for its files *.tab.txt",
            is_repeated=True,
        ),
    ),
    sections=legend,
    body=_run,
)
