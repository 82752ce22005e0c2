"""What a test set and a pool can show: `power`, `pool-bias`."""

from __future__ import annotations

from typing import Final

from cs_score.analysis.comparison import compare
from cs_score.analysis.many.assessors import ASSESSED, Assessors, assessors, assessors_text, judged_in
from cs_score.analysis.many.pool_bias import BIAS, bias_text, pool_bias
from cs_score.analysis.many.sampled_pool import names_of
from cs_score.base.documents import read_document, record_in
from cs_score.base.errors import UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.planned_outputs import ending_of
from cs_score.cli.core import FORCE, Command, Line, Option, Parameter, Status
from cs_score.cli.named import named_by
from cs_score.cli.options import (
    EXAMPLE_OF_TWO,
    POLICY,
    RUN,
    RUNIDS,
    SCORING,
    SECOND,
    legend,
    measure_option,
    policies,
    positive_number,
    read_measures,
    read_resampling,
    task_command,
    whole_number,
)
from cs_score.cli.output import Destination, print_text, text_width, with_bar, with_deltas, write_to_stream
from cs_score.cli.scores import GOLD, runs_named
from cs_score.coldstart.gold import open_gold, with_pool
from cs_score.coldstart.several import score_separately
from cs_score.measures.registry import headline
from cs_score.report.charts import lines
from cs_score.report.drawing import Drawing, chart_bytes
from cs_score.statistics.options import Resampling
from cs_score.statistics.planning import MOST_UNITS, NO_NAMES, Power, of_comparison, planned
from cs_score.statistics.results import Comparison
from cs_score.tables.statistics import POWER, power_text, written
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
        print_text(written(found, line.format, POWER, power_text, text_width()), with_deltas)
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


def compare_assessors(name: str, line: Line) -> int:
    """Print what a second assessor changes. Raises UsageError, InputError."""
    print_text(written(_assessors(name, line), line.format, ASSESSED, assessors_text, text_width()), with_deltas)
    return Status.DONE


def _assessors(name: str, line: Line) -> Assessors:
    """Runs or systems under the judgments of two assessors. Raises UsageError, InputError."""
    second, resampling = line.text(SECOND.long), read_resampling(line, always=True)
    task, measure = task_named(name), (read_measures(line) or (None,))[0]
    if name != COLD_START:
        if GOLD.long not in line.switches:
            raise UsageError(f"{SECOND.long} is another gold file: name the first one with {GOLD.long}")
        either = [
            named_by(name, each, fewest=1, most=None).several() for each in (line, line.with_value(GOLD.long, second))
        ]
        return assessors(task, either[0], either[1], str(task.measure_of(measure)), resampling=resampling)
    queries, runs, pool, options = runs_named(line)
    results, judged = [], []
    for assessed in (pool, [second]):
        results.append(dict(zip(names_of(runs), score_separately(queries, assessed, runs, options))))
        judged.append(judged_in(with_pool(open_gold(queries, options), assessed).links.assessments))
    known = task.measures(results[0].values())
    wanted = task.measure_of(measure) or next(each for each in headline(name) if each in known)
    return assessors(task, results[0], results[1], wanted, (judged[0], judged[1]), resampling)


_TEAMS: Final = Option(
    "--teams", "FILE", "Lines of a run and its team, with a tab between; else each run is its own team"
)


def _bias(line: Line) -> int:
    """Print what a pool favours. Raises UsageError, InputError for what cannot be scored."""
    if "-" in (*line.words, line.switches.get(_TEAMS.long)):
        raise UsageError("standard input cannot be read once for each run: name a file")
    queries, runs, pool, options = runs_named(line)
    teams, measure = line.switches.get(_TEAMS.long), line.switches.get("--measure")
    with paused_collector():
        found = pool_bias(queries, pool, runs, options, teams, measure, progress=with_bar)
    print_text(written(found, line.format, BIAS, bias_text, text_width()), with_deltas)
    return Status.DONE


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
