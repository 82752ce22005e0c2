"""What a test set and a pool can show: `power`, `pool-bias`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cs_score.analysis.comparison import compare
from cs_score.analysis.many.pool_bias import BIAS, bias_text, pool_bias
from cs_score.base.documents import json_text, read_document, record_in
from cs_score.base.errors import UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.planned_outputs import ending_of
from cs_score.base.records import replace
from cs_score.cli.core import FORCE, Command, Line, Option, Parameter, Status
from cs_score.cli.options import (
    EXAMPLE_OF_TWO,
    POLICY,
    RUN,
    RUNIDS,
    SCORING,
    defaults_of,
    legend,
    measure_option,
    options_of,
    policies,
    positive_number,
    task_command,
    whole_number,
)
from cs_score.cli.output import Destination, print_text, text_width, with_bar, with_deltas, write_to_stream
from cs_score.cli.scoring import GOLD, runs_and_pool
from cs_score.cli.verbs import named_by
from cs_score.coldstart.queries import is_query_file
from cs_score.measures.registry import headline
from cs_score.report.charts import lines
from cs_score.report.drawing import Drawing, chart_bytes
from cs_score.statistics.options import Resampling
from cs_score.statistics.planning import MOST_UNITS, NO_NAMES, Power, of_comparison, planned
from cs_score.statistics.results import Comparison
from cs_score.tables.layout import Layout
from cs_score.tables.renderers import tsv
from cs_score.tables.statistics import POWER, power_text
from cs_score.tasks import COLD_START, task_named

_OF_POWER: Final = (
    Option("--difference", "D", "A difference of two scores: how many units does it need?"),
    Option("--alpha", "LEVEL", "Level of the test of two sides", "0.05"),
    Option("--power", "SHARE", "Probability with which a difference is to be found", "0.8"),
    Option("--sd", "S", "Standard deviation of the units' paired differences, instead of files"),
    Option("--units", "N", "Number of units; with --sd"),
)


def _power(name: str, line: Line) -> int:
    """Print what can be detected. Raises UsageError, InputError where there is nothing that could be planned from."""
    deviation, difference = positive_number(line, "--sd"), positive_number(line, "--difference")
    level, power = positive_number(line, "--alpha") or 0.05, positive_number(line, "--power") or 0.8
    task, measure = task_named(name), line.switches.get("--measure")
    if deviation is not None:
        if line.words or GOLD.long in line.switches:
            raise UsageError("--sd stands for files: give the one or the others")
        found = planned({NO_NAMES: deviation}, whole_number(line, "--units", MOST_UNITS), difference, level, power)
    elif "--units" in line.switches:
        raise UsageError("--units goes with --sd; files have their own number of units")
    elif len(line.words) == 1 and GOLD.long not in line.switches and ending_of(line.words[0]) == ".json":
        comparison = record_in(read_document(line.words[0]), Comparison, line.words[0])
        found = of_comparison(comparison, measure, difference, level, power)
    else:
        measure = task.measure_of(measure)
        results = named_by(name, line, fewest=2, most=None).several()
        known = task.measures(results.values())
        measures = [measure] if measure else [each for each in headline(name) if each in known][:1]
        found = of_comparison(compare(task, results, Resampling(1), measures=measures), None, difference, level, power)
    if line.format in ("text", "json", "tsv"):
        _print(line, found, POWER, power_text)
    else:
        write_to_stream(Destination("stdout"), [chart_bytes(_curve(found), f".{line.format}")])
    return Status.DONE


def _curve(power: Power) -> Drawing:
    """Power by difference, a curve for each number of units."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for point in power.curve:
        curves.setdefault(f"{point.units} units", []).append((point.difference, point.power))
    measure = f", {power.measure}" if power.measure else ""
    mark = power.difference or power.detectable or 0.0
    return lines(
        "power",
        f"Power of a paired t test{measure}",
        ("Difference of the scores", "Power"),
        f"The probability that a difference is significant at {power.alpha:g}, by difference and number of units.",
        curves,
        mark=(mark, f"{mark:.4f}"),
    )


_TEAMS: Final = Option(
    "--teams", "FILE", "Lines of a run and its team, with a tab between; else each run is its own team"
)


def _bias(line: Line) -> int:
    """Print what a pool favours. Raises UsageError, InputError for what cannot be scored."""
    if "-" in (*line.words, line.switches.get(_TEAMS.long)):
        raise UsageError("standard input cannot be read once for each run: name a file")
    queries = [word for word in line.words if is_query_file(word)]
    runs, pool = runs_and_pool(line, queries, [word for word in line.words if not is_query_file(word)], ())
    options = options_of(line, defaults_of(line))
    options.check()
    with paused_collector():
        found = pool_bias(
            queries, pool, runs, replace(options, runids=None), line.switches.get(_TEAMS.long),
            line.switches.get("--measure"), progress=with_bar,
        )  # fmt: skip
    _print(line, found, BIAS, bias_text)
    return Status.DONE


def _print(line: Line, found: Any, layout: Layout, text: Callable[[Any, int], str]) -> None:
    """Print a document as text, JSON, or its table as TSV."""
    if line.format == "json":
        print_text(json_text(found).removesuffix("\n"))
    elif line.format == "tsv":
        write_to_stream(Destination("stdout"), tsv(layout.table(found)))
    else:
        print_text(text(found, text_width()).removesuffix("\n"), with_deltas)


def bias() -> Command:
    """How runs score without what only they brought into the pool."""
    return Command(
        "pool-bias",
        (*SCORING, RUNIDS, POLICY, measure_option(COLD_START), _TEAMS, FORCE),
        (
            Parameter(
                "files",
                "Query files (*.xml, perhaps compressed), assessment files and two or more runs, in any order",
                is_repeated=True,
            ),
        ),
        sections=lambda: (
            (
                "Result",
                "Each run scored against the pool without the assessments of lines that only its team's runs have: "
                "score and rank before and after, tau-b of both rankings, and beside it the scenarios of analyze.",
            ),
            policies(),
            *legend(),
        ),
        formats=("text", "json", "tsv"),
        body=_bias,
    )


def power(task: str) -> Command:
    """The command of a task."""
    is_cold_start = task == COLD_START
    meaning = (
        "Result",
        "The smallest difference that these units detect, for each pair of systems, and with --difference the units "
        "that it needs: from the differences unit by unit, for ratios of sums from what units contribute. As .svg, "
        ".pdf or .png the curve of power by difference.",
    )
    files = (
        "What compare -o FILE.json wrote, or what compare takes: queries, assessments, two or more runs; none with --sd"
    )
    return task_command(
        "power", task, _power,
        (*((*SCORING, RUNIDS, RUN, POLICY) if is_cold_start else (GOLD,)), *_OF_POWER, measure_option(task), FORCE),
        files=files if is_cold_start else "One file for each system, or JSON of compare",
        sections=(meaning,), of_runs=lambda: (policies(),), formats=("text", "json", "tsv", "svg", "pdf", "png"),
        summary=f"What difference of {task} systems a test set detects", is_file_needed=False,
        example=f"--difference 0.1 {EXAMPLE_OF_TWO}",
    )  # fmt: skip
