"""What a test set and a pool can show: `power`."""

from __future__ import annotations

from functools import partial
from typing import Final

from cs_score.analysis.comparison import compare
from cs_score.base.documents import json_text, read_document, record_in
from cs_score.base.errors import UsageError
from cs_score.base.planned_outputs import ending_of
from cs_score.cli.core import FORCE, Command, Line, Option, Parameter, Status
from cs_score.cli.options import (
    EXAMPLE_OF_TWO,
    POLICY,
    SCORING,
    evidence_task,
    legend,
    measure_option,
    own_options,
    policies,
    positive_number,
    whole_number,
)
from cs_score.cli.output import Destination, print_text, text_width, write_to_stream
from cs_score.cli.scoring import GOLD
from cs_score.cli.verbs import named_by
from cs_score.measures.registry import headline
from cs_score.report.charts import lines
from cs_score.report.drawing import Drawing, chart_bytes
from cs_score.statistics.options import Resampling
from cs_score.statistics.planning import MOST_UNITS, NO_NAMES, Power, of_comparison, planned
from cs_score.statistics.results import Comparison
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
    if line.format == "json":
        print_text(json_text(found).removesuffix("\n"))
    elif line.format == "tsv":
        write_to_stream(Destination("stdout"), tsv(POWER.table(found)))
    elif line.format == "text":
        print_text(power_text(found, text_width()).removesuffix("\n"))
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


def power(task: str) -> Command:
    """The command of a task."""
    options = (*_OF_POWER, measure_option(task))
    formats = ("text", "json", "tsv", "svg", "pdf", "png")
    meaning = (
        "Result",
        "The smallest difference that these units detect, for each pair of systems, and with --difference the units "
        "that it needs: from the differences unit by unit, for ratios of sums from what units contribute. As .svg, "
        ".pdf or .png the curve of power by difference.",
    )
    if task != COLD_START:
        files = ("Files", evidence_task(task).files)
        return Command(
            f"power {task}",
            (GOLD, *options, FORCE, *own_options(task)),
            (
                Parameter(
                    "predictions", "One file for each system, or JSON of compare", is_optional=True, is_repeated=True
                ),
            ),
            sections=lambda: (meaning, files),
            formats=formats,
            body=partial(_power, task),
            summary=f"What difference of {task} systems a test set detects",
        )
    return Command(
        "power",
        (*SCORING, POLICY, *options, FORCE),
        (
            Parameter(
                "files",
                "What compare -o FILE.json wrote, or what compare takes: queries, assessments, two or more runs; none "
                "with --sd",
                is_optional=True,
                is_repeated=True,
            ),
        ),
        sections=lambda: (meaning, policies(), *legend()),
        formats=formats,
        example=f"--difference 0.1 {EXAMPLE_OF_TWO}",
        body=partial(_power, task),
    )
