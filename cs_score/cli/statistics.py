"""What a test set and a pool can show: `power`, `pool-bias`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.analysis.comparison import compare
from cs_score.analysis.many.assessors import ASSESSED, Judged, assessors, judged_in
from cs_score.analysis.many.pool_bias import BIAS, pool_bias
from cs_score.analysis.many.sampled_pool import SAMPLED, names_of, read_inclusion, sampled_pool
from cs_score.base.documents import read_document, record_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import ending_of
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import name_of
from cs_score.cli.core import FORCE, Command, Line, Option, Parameter, Status
from cs_score.cli.named import Runs, named_by
from cs_score.cli.options import (
    EXAMPLE_OF_TWO,
    INCLUSION,
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
from cs_score.cli.predictions import GOLD
from cs_score.coldstart.gold import with_pool
from cs_score.coldstart.several import score_each
from cs_score.measures.registry import headline
from cs_score.report.charts import Drawing, chart_bytes, lines
from cs_score.statistics.options import Resampling
from cs_score.statistics.planning import MOST_UNITS, NO_NAMES, Power, of_comparison, planned
from cs_score.statistics.results import Comparison
from cs_score.tables.statistics import POWER, Printout
from cs_score.tasks import COLD_START, task_named

_OF_POWER: Final = (
    Option("--difference", "D", "Also say how many units a difference D of two scores needs"),
    Option("--alpha", "LEVEL", "Level of the two-sided test", "0.05"),
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
        return _printed(line, POWER, found)
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


def estimate_from_sample(line: Line) -> int:
    """Print what runs would score were all of the pool assessed. Raises UsageError, InputError."""
    if line.folder is not None:
        raise UsageError(f"{INCLUSION.long} gives one document: -o FILE.json, .tsv or .txt")
    inclusion, resampling = read_inclusion(line.text(INCLUSION.long)), read_resampling(line, always=True)
    given = Runs(line)
    with paused_collector():
        opened, pool, runs = given.opened()
        gold = with_pool(opened, pool)
        loaded = {name: given.load(gold, run) for name, run in zip(names_of(runs), runs)}
        scored = {name: score_for_analysis(run, gold.options.policy) for name, run in loaded.items()}
        found = sampled_pool(scored, inclusion, resampling.confidence if resampling else 95.0)
    return _printed(line, SAMPLED, found)


def compare_assessors(name: str, line: Line) -> int:
    """Print what a second assessor changes. Raises UsageError, InputError."""
    second, resampling = line.text(SECOND.long), read_resampling(line, always=True)
    task, measure = task_named(name), (read_measures(line) or (None,))[0]
    sides: list[Mapping[str, Any]] = []
    judged: list[Judged] = []
    if name == COLD_START:
        given = Runs(line)
        with paused_collector():
            opened, pool, runs = given.opened()
            for assessed in (pool, [second]):
                gold = with_pool(opened, assessed)
                if not gold.links.assessments:
                    raise InputError("there is no assessment in it", file=name_of(assessed[0]))
                sides.append(dict(zip(names_of(runs), score_each(gold, runs, given.load))))
                judged.append(judged_in(gold.links.assessments))
    elif GOLD.long not in line.switches:
        raise UsageError(f"{SECOND.long} is another gold file: name the first one with {GOLD.long}")
    else:
        for each in (line, line.with_value(GOLD.long, second)):
            sides.append(named_by(name, each, fewest=1, most=None).several())
            judged.append({})
    return _printed(line, ASSESSED, assessors(task, sides[0], sides[1], measure, (judged[0], judged[1]), resampling))


def _printed(line: Line, printout: Printout, found: Any) -> int:
    print_text(printout.written(found, line.format, text_width()), with_deltas)
    return Status.DONE


_TEAMS: Final = Option(
    "--teams", "FILE", "A file with a line RUN<tab>TEAM for each run; without it, each run is its own team"
)


def _bias(line: Line) -> int:
    """Print what a pool favours. Raises UsageError, InputError for what cannot be scored."""
    teams, measure = line.switches.get(_TEAMS.long), line.switches.get("--measure")
    if teams == "-":
        raise UsageError("standard input cannot be read once for each run: name a file")
    given = Runs(line)
    with paused_collector():
        opened, pool, runs = given.opened()
        found = pool_bias(opened, pool, runs, teams, measure, load=given.load, progress=with_bar)
    return _printed(line, BIAS, found)


def bias() -> Command:
    """How runs score without what only they brought into the pool."""
    return Command(
        "pool-bias",
        (*SCORING, RUNIDS, RUN, POLICY, measure_option(COLD_START), _TEAMS, FORCE),
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
