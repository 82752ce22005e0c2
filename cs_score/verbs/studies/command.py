"""The commands `power`, which plans a test of systems, and `pool-bias`, which shows which teams a pool favours. The
power of a test is the probability that it finds a difference. A pool is the set of assessed answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cs_score.analysis import system_comparison as comparison
from cs_score.base.documents import checked_record, read_document
from cs_score.base.errors import UsageError
from cs_score.base.outputs import ending_of
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.cli import run_options
from cs_score.cli import shared_options as options
from cs_score.cli.core import CommandLine, Option, Parameter, Status, command
from cs_score.cli.document_output import print_statistics
from cs_score.cli.inputs import find_inputs
from cs_score.cli.output import STDOUT, with_percentage
from cs_score.cli.run_inputs import Runs
from cs_score.cli.run_options import POLICIES, SCORING_SWITCHES, select_run_options
from cs_score.cli.shared_options import whole_number
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.statistics.planning import (
    MOST_UNITS,
    DetectionGoal,
    PowerPlan,
    TTestPowerAnalysis,
    plan_from_comparison,
    plan_test,
)
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.results import SystemComparison
from cs_score.tables.statistics import POWER
from cs_score.tasks import task_named

if TYPE_CHECKING:
    from cs_score.pages import charts
    from cs_score.verbs.studies import pool_bias as pool_biases
else:
    charts = Late("cs_score.pages.charts")
    pool_biases = Late("cs_score.verbs.studies.pool_bias")

_RUN_OPTIONS: Final = f"{SCORING_SWITCHES} -runids --run --policy"
_POWER_OPTIONS: Final = "--difference --alpha --power --sd --units --measure --force"


def _usage_for_runs() -> VerbUsage:
    """Return the usage of the command `power` for Cold Start runs, which its help shows."""
    return VerbUsage(
        options=f"{_RUN_OPTIONS} {_POWER_OPTIONS}",
        formats="text json tsv svg",
        files=(
            "What compare -o FILE.json wrote, or what compare takes: queries, assessments, two or more runs; none "
            "with --sd"
        ),
        sections=[POLICIES],
        example="--difference 0.1 $TWO",  # the help replaces $TWO with two sample runs
    )


POWER_VERB: Final = Verb(
    usage_for_runs=_usage_for_runs,
    usage_for_evidence=VerbUsage(
        options=f"--gold {_POWER_OPTIONS}",
        formats="text json tsv svg",
        files="One file for each system, or JSON of compare",
        example="--difference 0.1 $TWO",
    ),
    own_options=(
        Option("--difference D", "Also say how many units a difference D of two scores needs"),
        Option("--alpha LEVEL", "Level of the two-sided test", "0.05"),
        Option("--power SHARE", "Probability with which a difference is to be found", "0.8"),
        Option("--sd S", "Standard deviation of the units' paired differences, instead of files"),
        Option("--units N", "Number of units; with --sd"),
    ),
    sections=[
        (
            "Result",
            "The smallest difference that these units detect, for each pair of systems, and with --difference the "
            "units that it needs: from the differences unit by unit, for ratios of sums from what units contribute. "
            "For units that are right or wrong the test is the exact sign test, otherwise a paired t test. "
            "As .svg the curve of power by difference.",
        )
    ],
    summary="Plan a test of {task} systems: detectable difference, units needed",
    needs_files=False,
)


@POWER_VERB.command
def power(task_name: str, command_line: CommandLine) -> int:
    """Print the smallest difference that a test detects, and how many units a difference needs. Return 0.

    The plan is made from a standard deviation, from the JSON of a comparison, or from systems that are scored now.
    Raises UsageError, and InputError for files from which no test can be planned.
    """
    plan = _make_plan(task_name, command_line)
    if command_line.format != "svg":
        return print_statistics(command_line, POWER, plan)
    chart = _chart_of_plan(plan)
    STDOUT.write([chart.standalone().encode()])
    return Status.DONE


def _make_plan(task_name: str, command_line: CommandLine) -> PowerPlan:
    """Return the plan of a test, made from a standard deviation, from the JSON of a comparison, or from systems.

    Raises UsageError, and InputError for files from which no test can be planned.
    """
    deviation = options.positive_number(command_line, "--sd")
    goal = _read_goal(command_line)
    if deviation is not None:
        return _plan_from_deviation(deviation, command_line, goal)
    if "--units" in command_line:
        raise UsageError("--units goes with --sd; files have their own number of units")
    if _names_comparison_file(command_line):
        file = command_line.positional_words[0]
        document = checked_record(read_document(file), SystemComparison, file)
        return plan_from_comparison(document, command_line.get("--measure"), goal)
    return _plan_from_systems(task_name, command_line, goal)


def _read_goal(command_line: CommandLine) -> DetectionGoal:
    """Return the difference to be detected, the level and the power that a command line asks for."""
    difference = options.positive_number(command_line, "--difference")
    level = options.positive_number(command_line, "--alpha") or 0.05
    wanted_power = options.positive_number(command_line, "--power") or 0.8
    return DetectionGoal(difference=difference, alpha=level, power=wanted_power)


def _names_comparison_file(command_line: CommandLine) -> bool:
    """Return whether the only file of a command line is the JSON of a comparison."""
    has_single_file = len(command_line.positional_words) == 1 and "--gold" not in command_line
    return has_single_file and ending_of(command_line.positional_words[0]) == ".json"


def _plan_from_deviation(deviation: float, command_line: CommandLine, goal: DetectionGoal) -> PowerPlan:
    """Return the plan of a test from the standard deviation of the units' differences and the number in --units.

    Raises UsageError if the command line names files, too.
    """
    if command_line.positional_words or "--gold" in command_line:
        raise UsageError("--sd stands for files: give the one or the others")
    unit_count = whole_number(command_line, "--units", MOST_UNITS)
    return plan_test([TTestPowerAnalysis(deviation)], unit_count, goal)


def _plan_from_systems(task_name: str, command_line: CommandLine, goal: DetectionGoal) -> PowerPlan:
    """Score the systems of a command line, and plan a test from their differences.

    Raises UsageError for invalid options, and InputError for invalid files.
    """
    task = task_named(task_name)
    measure = task.measure_of(command_line.get("--measure"))
    inputs = find_inputs(task_name, command_line, fewest_systems=2, most_systems=None)
    results = inputs.score_all().results
    if measure is None:
        measure = comparison.headline_measure(task, results)
    # A plan needs the differences between units, but no resampling.
    document = comparison.compare(task, results, Resampling(resamples=1), measures=[measure])
    return plan_from_comparison(document, measure=None, goal=goal)  # by the only measure of the comparison


def _chart_of_plan(plan: PowerPlan) -> charts.Drawing:
    """Return the chart of a plan: the power by the difference of two scores, with a curve for each number of units.

    A vertical line marks the difference of --difference, or the smallest difference that the test detects.
    """
    test = "the exact sign test" if plan.test == "sign" else "a paired t test"
    title = f"Power of {test}"
    if plan.measure:
        title += f", {plan.measure}"
    meaning = f"The probability that a difference is significant at {plan.alpha:g}, by difference and number of units."
    marked_difference = plan.difference or plan.detectable or 0.0
    mark = charts.Mark(marked_difference, f"{marked_difference:.4f}")
    caption = charts.Caption(name="power", title=title, x_title="Difference of the scores", y_title="Power")
    return charts.curve_chart(caption, meaning, _points_by_curve(plan), mark=mark)


def _points_by_curve(plan: PowerPlan) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each power curve of a plan, difference and power, by the number of units.

    For example, `{"50 units": [(0.0, 0.05), (0.1, 0.8)]}`.
    """
    points_by_curve: dict[str, list[tuple[float, float]]] = {}
    for point in plan.curve:
        points = points_by_curve.setdefault(f"{point.units} units", [])
        points.append((point.difference, point.power))
    return points_by_curve


_TEAMS: Final = Option(
    "--teams FILE", "A file with a line RUN<tab>TEAM for each run; without it, each run is its own team"
)


@command(
    "pool-bias",
    select_run_options(f"{_RUN_OPTIONS} --measure --teams --force", [_TEAMS]),
    Parameter(
        "files...", "Query files (*.xml, perhaps compressed), assessment files and two or more runs, in any order"
    ),
    sections=(
        (
            "Result",
            "Each run scored against the pool without the assessments of lines that only its team's runs have: score "
            "and rank before and after, tau-b of both rankings, and beside it the scenarios of analyze.",
        ),
        POLICIES,
        *run_options.LEGEND,
    ),
    formats=("text", "json", "tsv"),
    example=options.EXAMPLE_OF_TWO,
)
def pool_bias(command_line: CommandLine) -> int:
    """Print the score of each run against the whole pool, and against the pool as it would be without the run's team.

    Returns 0. Raises UsageError, and InputError for files that cannot be scored.
    """
    team_file = command_line.get("--teams")
    measure = command_line.get("--measure")
    inputs = Runs(command_line)
    if team_file == "-":
        raise UsageError("standard input cannot be read once for each run: name a file")
    with paused_garbage_collection():
        runs_with_gold = inputs.read_queries_and_find_runs()
        pooled_runs = pool_biases.PooledRuns(
            runs_with_gold.gold_without_pool, runs_with_gold.assessments, runs_with_gold.runs, inputs.load_with_warnings
        )
        document = pool_biases.pool_bias(pooled_runs, team_file, measure, progress=with_percentage)
    return print_statistics(command_line, pool_biases.POOL_BIAS_PRINTOUT, document)
