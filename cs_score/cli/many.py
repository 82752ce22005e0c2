"""Several runs or systems, and results held against what was recorded: `compare`, `check`, `verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from cs_score.analysis.any_table import compare_table as compare_any
from cs_score.analysis.any_table import per_unit, read_table
from cs_score.analysis.comparison import compare as compare_systems
from cs_score.analysis.comparison import first_measure
from cs_score.base.display import one_line
from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import OutputPlan, write_packed, write_whole
from cs_score.base.records import replace
from cs_score.cli.core import FORCE, Command, Line, Option, Parameter, Section, Status
from cs_score.cli.named import named_by
from cs_score.cli.options import (
    ALL,
    EXAMPLE,
    EXAMPLE_OF_TWO,
    FAMILY,
    FILES,
    INCLUSION,
    INTERVALS,
    KNOWLEDGE_BASE,
    OF_A_CALL,
    PER_UNIT,
    PER_UNIT_FILE,
    POLICY,
    PROBLEMS,
    RUN,
    RUNIDS,
    SCORING,
    SECOND,
    TOP,
    measure_option,
    policies,
    positive_number,
    read_measures,
    read_resampling,
    read_tests,
    task_command,
    top_of,
)
from cs_score.cli.output import Destination, print_text, with_deltas, write_text, write_to_stream
from cs_score.cli.predictions import FILES_OF_EVIDENCE, GOLD, PREDICTIONS
from cs_score.cli.scores import scored_by
from cs_score.cli.scoring import RunsScored
from cs_score.report.documents import page_of
from cs_score.tables.layout import tsv
from cs_score.tasks import COLD_START, task_named
from cs_score.verification.checking import (
    NOTHING_TO_CHECK,
    WRITERS,
    Gate,
    Measured,
    checks_in,
    error_text,
    of_cold_start,
    of_evidence,
    of_record,
    read_limit,
)
from cs_score.verification.recorded import NotFoundError

if TYPE_CHECKING:
    from cs_score.statistics.results import Comparison
    from cs_score.verification.verifying import Verdict


SHOWN_ROWS: Final = 10
"""Systems and pairs that are printed unless another number is asked for."""


COMPARED_AS: Final = ("text", "json", "tsv", "markdown", "latex", "html")
"""Formats of comparisons."""


def _of_comparisons(measure: Option) -> tuple[Option, ...]:
    """The options of all comparisons."""
    return (
        *INTERVALS,
        *FAMILY,
        measure,
        Option(
            "--primary",
            "NAME",
            "The measure that decides; all others are exploratory",
            "the headline measure",
            measure.choices,
        ),
        Option("--common", None, "Compare on the units that all systems have; otherwise they must be the same"),
        Option("--equivalence", "D", "Also test every pair for a difference below D, a number above 0, either way"),
        TOP,
        ALL,
        FORCE,
    )


def comparison_options(task: str) -> tuple[Option, ...]:
    """The options of a comparison in a task."""
    inclusion = [INCLUSION] if task == COLD_START else []
    return *_of_comparisons(measure_option(task)), *inclusion, SECOND, PER_UNIT


def _compare(name: str, line: Line) -> int:
    """Compare as the command line says. Raises UsageError, InputError where a run cannot be scored or compared."""
    if INCLUSION.long in line.switches and SECOND.long in line.switches:
        raise UsageError(f"{INCLUSION.long} is about one pool, {SECOND.long} about two: give one of them")
    if INCLUSION.long in line.switches or SECOND.long in line.switches:
        from cs_score.cli.statistics import compare_assessors, estimate_from_sample

        return estimate_from_sample(line) if INCLUSION.long in line.switches else compare_assessors(name, line)
    resampling = read_tests(line, always=True)
    given, task = named_by(name, line, fewest=2, most=None), task_named(name)
    path = line.switches.get(PER_UNIT.long)
    outputs = OutputPlan(line.inputs(), [*PER_UNIT_FILE.outputs(path)], FORCE.long in line.switches)
    outputs.check()
    outputs.clear()
    systems = given.several()
    found = compare_systems(task, systems, resampling, **_choices_of(line))
    if path is not None:
        write_packed(path, tsv(per_unit(task, systems, UNSET if resampling is None else resampling.clusters)))
    return _print_comparison(line, found)


def _compare_table(line: Line) -> int:
    """Compare the systems of tables. Raises UsageError, InputError for what is no such table."""
    resampling = read_tests(line, always=True)
    return _print_comparison(line, compare_any(read_table(line.words), resampling, **_choices_of(line)))


def _choices_of(line: Line) -> dict[str, Any]:
    return {
        "measures": read_measures(line),
        "primary": line.switches.get("--primary"),
        "common": "--common" in line.switches,
        "equivalence": positive_number(line, "--equivalence"),
    }


def _print_comparison(line: Line, found: Comparison) -> int:
    """Print it in the format of the line: the primary measure, all with --all or where some were chosen."""
    from cs_score.tables.statistics import WRITERS, comparison_screen

    measures = read_measures(line)
    if line.format == "html":
        write_to_stream(Destination("stdout"), [page_of(found).encode()])
        return Status.DONE
    if line.format not in ("json", "tsv") and not measures and ALL.long not in line.switches:
        found = first_measure(found)
    is_screen = line.format == "text" and ALL.long not in line.switches
    text = comparison_screen(found, top_of(line) or SHOWN_ROWS) if is_screen else WRITERS[line.format](found)
    print_text(text.removesuffix("\n"), with_deltas if line.format == "text" else str)
    return Status.DONE


CHECK_FORMATS: Final = ("text", "json", "tsv", "junit", "github")


_OF_TEST: Final = tuple(option for option in INTERVALS if option.long != "--interval")


STATUSES: Final[Section] = (
    "Exit status",
    "0: every limit is kept. 3: one is not. 1: an input cannot be scored, or the baseline cannot be compared.",
)


def gate_options(task: str) -> tuple[Option, ...]:
    """The options of a check in a task."""
    measures = measure_option(task).choices
    return (
        Option("--baseline", "FILE.json", "What to compare with: an earlier result, as -o FILE.json wrote it"),
        Option(
            "--max-drop",
            "MEASURE=N",
            "Largest drop of a measure or pattern below the baseline; may be repeated",
            "0 for the main measures, where no limit is given",
            measures,
            many=True,
        ),
        Option(
            "--min",
            "MEASURE=N",
            "Minimum of a measure, or of those that match a pattern; may be repeated",
            None,
            measures,
            many=True,
        ),
        Option("--significant", None, "A drop counts only if the paired test calls it significant"),
        Option(
            "--sequential",
            "[FILE.json]",
            "With --significant, for one of many checks against a test set: all together raise a false alarm as seldom "
            "as one would. FILE records them [default: BASELINE.checks.json]",
        ),
        Option("--any-baseline", None, "Accept a baseline of other gold or other options"),
        FORCE,
        *_OF_TEST,
    )


def read_gate(line: Line) -> Gate:
    """What the options ask for. Raises UsageError for values that mean nothing."""
    for option in ("--max-drop", "--significant", "--any-baseline"):
        if option in line.switches and "--baseline" not in line.switches:
            raise UsageError(f"{option} is about a baseline: give --baseline FILE, too")
    resampling = read_resampling(line, always=True)
    for option in (each.long for each in _OF_TEST):
        if option in line.switches and "--significant" not in line.switches:
            raise UsageError(f"{option} is about the test: give --significant, too")
    if "--sequential" in line.switches and "--significant" not in line.switches:
        raise UsageError("--sequential is about the test: give --significant, too")
    if not {"--min", "--baseline"} & {*line.switches}:
        raise UsageError(NOTHING_TO_CHECK)
    return Gate(
        tuple(read_limit("--min", text) for text in line.texts("--min")),
        tuple(read_limit("--max-drop", text) for text in line.texts("--max-drop")),
        resampling if "--significant" in line.switches else None,
        "--any-baseline" in line.switches,
    )


def judge(gate: Gate, run: Measured, line: Line) -> int:
    """Hold a run against the limits and print the result; the exit status. Raises UsageError and InputError."""
    path, checks = line.switches.get("--baseline"), line.switches.get("--sequential")
    baseline = None if path is None else of_record(path, run.name)
    if checks is not None and gate.significance is not None:
        checks = f"{path}.checks.json" if checks == "-" else checks
        gate = replace(gate, earlier=checks_in(checks, run, gate.significance.level))
    judgement = gate.judge(run, baseline)
    if checks is not None and baseline is not None:
        write_whole(checks, [json_text(gate.after(judgement, run, baseline)).encode()])
    print_text(WRITERS[line.format](judgement).removesuffix("\n"))
    return 0 if judgement.passed else Status.NOT_KEPT


# They are about files that are not written here.
_LEFT_OUT: Final = {"-fields", "-tabs", "-samples", PROBLEMS.long, FORCE.long, *(option.long for option in INTERVALS)}


def _check(task: str, line: Line) -> int:
    """Score and judge; the exit status. Raises CsScoreError where that cannot be done."""
    gate = read_gate(line)
    with scored_by(task, line.without(option.long for option in _OF_TEST)) as scored:
        run = of_cold_start(scored.result) if isinstance(scored, RunsScored) else of_evidence(scored.result)
    return judge(gate, run, line)


SHOWN_VALUES: Final = 20

"""Values that differ, of one file, that are printed."""


def _verify(line: Line) -> int:
    """Verify, file by file; the exit status. Raises CsScoreError where something cannot be verified."""
    from cs_score.verification.verifying import VERIFIED, verification, verify

    result, *files = line.words
    if line.format != "text":
        try:
            found = verification(result, files)
        except NotFoundError as error:
            raise InputError(str(error), file=result) from None
        as_json = line.format == "json"
        blocks = [json_text(found).encode()] if as_json else tsv(VERIFIED.table(found))
        write_to_stream(Destination("stdout"), blocks)
        return Status.DONE if found.reproduced else Status.NOT_KEPT
    status = 0
    try:
        for verdict in verify(result, files):
            print_text("\n".join(_lines(verdict)))
            status = status if verdict.is_reproduced else Status.NOT_KEPT
    except NotFoundError as error:
        for text in error.lines:
            write_text("stderr", f"cs-score: {one_line(f'{result}: {text}')}\n")
        return 1
    return status


def _lines(verdict: Verdict) -> list[str]:
    found = verdict.differences
    lines = [f"{verdict.file}: {difference}" for difference in found[:SHOWN_VALUES]]
    if len(found) > SHOWN_VALUES:
        lines.append(f"{verdict.file}: ... and {len(found) - SHOWN_VALUES} more")
    end = f"differs from its record in {_counted(len(found), 'value')}" if found else "reproduced"
    lines.append(f"{verdict.file}: {end} ({_counted(verdict.compared, verdict.unit)} compared)")
    lines += [f"{verdict.file}: note: {note}" for note in verdict.notes]
    return [one_line(text) for text in lines]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def compare(task: str) -> Command:
    """The command of a task."""
    is_cold_start = task == COLD_START
    files = (
        "Query files (*.xml, perhaps compressed), assessment files, and two or more runs, in any order. Each run is "
        "scored by itself. A folder stands for its files *.tab.txt"
    )
    options = (*SCORING, RUNIDS, RUN, POLICY, KNOWLEDGE_BASE) if is_cold_start else (GOLD,)
    return task_command(
        "compare", task, _compare, (*options, *comparison_options(task)),
        files=files if is_cold_start else "One file for each system", is_file_needed=False,
        of_runs=lambda: (policies(),), formats=COMPARED_AS,
        summary=f"Compare {task} systems on the same gold file", example=EXAMPLE_OF_TWO,
    )  # fmt: skip


def compare_table() -> Command:
    """The command of tables that no task knows."""
    known = measure_option(COLD_START)
    measure = Option(known.long, known.value, known.help or "", known.shown, many=True)
    return Command(
        "compare table",
        _of_comparisons(measure),
        (
            Parameter(
                "tables",
                "Tables separated by tabs or commas: a column unit, then a column of numbers for each system; or the "
                "columns unit, system, [measure], numerator, denominator. Both may have cluster and stratum. Files of "
                "--per-unit are such tables, each of a system",
                is_repeated=True,
            ),
        ),
        formats=COMPARED_AS,
        example="assessments/table.tsv",
        body=_compare_table,
    )


def check(task: str) -> Command:
    """The command of a task."""
    is_cold_start = task == COLD_START
    scoring = (*(option for option in OF_A_CALL if option.long not in _LEFT_OUT), RUN)
    return task_command(
        "check", task, _check, (*(scoring if is_cold_start else (GOLD, PREDICTIONS)), *gate_options(task)),
        files=FILES if is_cold_start else FILES_OF_EVIDENCE.meaning,
        sections=(STATUSES,), of_runs=lambda: (policies(),), formats=CHECK_FORMATS, failure=error_text,
        summary=f"Hold {task} predictions against limits and a baseline", example=f"--min SF-AP=0.4 {EXAMPLE}",
    )  # fmt: skip


def verify() -> Command:
    """Whether a recorded result is reproduced."""
    return Command(
        "verify",
        (FORCE,),
        (
            Parameter(
                "result",
                "A result as JSON: of the scorer, of cs-score score, of a task of evidence, leaderboard.json, "
                "batch.json or signature.json of a batch; or the folder of a batch, for all of these and its tables",
            ),
            Parameter(
                "files",
                "Files and folders in which inputs are looked for by their contents; what is not among them is looked "
                "for where it was",
                is_optional=True,
                is_repeated=True,
            ),
        ),
        sections=lambda: (
            (
                "Exit status",
                "0: reproduced; 3: a value differs; 1: an input is missing or changed, or the file is no result.",
            ),
        ),
        formats=("text", "json", "tsv"),
        body=_verify,
    )
