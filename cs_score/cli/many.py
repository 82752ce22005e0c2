"""Several runs or systems: `compare`, `power`, `pool-bias`; results held against others: `check`, `verify`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from cs_score.analysis import comparison
from cs_score.analysis.exported import read_names
from cs_score.base.display import one_line
from cs_score.base.documents import json_text, read_document, record_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import ending_of, write_packed
from cs_score.base.runtime import Late, paused_collector
from cs_score.base.sources import name_of
from cs_score.cli import locking, options
from cs_score.cli.core import FORCE, Line, Option, Parameter, Status, command
from cs_score.cli.inputs import inputs_named_by
from cs_score.cli.locking import LOCK_OPTIONS
from cs_score.cli.options import (
    FILES,
    FILES_OF_EVIDENCE,
    INTERVALS,
    POLICIES,
    SCORING,
    read_measures,
    read_resampling,
    select_options,
    whole_number,
)
from cs_score.cli.output import STDOUT, print_text, remark, with_bar, with_deltas, write_text
from cs_score.cli.runs import Runs
from cs_score.cli.scoring import estimate_from_sample, print_found, scored_by
from cs_score.cli.verb import Verb, VerbForm
from cs_score.coldstart.gold import with_pool
from cs_score.coldstart.scorer import score_each
from cs_score.report.charts import Drawing, lines
from cs_score.statistics.options import Resampling
from cs_score.statistics.planning import MOST_UNITS, Aim, Power, TDesign, plan_from_comparison, plan_test
from cs_score.statistics.results import Comparison
from cs_score.tables.layout import tsv
from cs_score.tables.statistics import POWER, WRITERS, comparison_screen, paper_table
from cs_score.tasks import COLD_START, task_named
from cs_score.verification.recorded import NotFoundError

if TYPE_CHECKING:
    from cs_score.analysis.many import assessors, sampled_pools
    from cs_score.analysis.many import pool_bias as pool_biases
    from cs_score.report import documents as pages
    from cs_score.verification import checking, locks
    from cs_score.verification.verifying import Verdict
else:
    checking, locks = Late("cs_score.verification.checking"), Late("cs_score.verification.locks")
    assessors = Late("cs_score.analysis.many.assessors")
    pool_biases = Late("cs_score.analysis.many.pool_bias")
    sampled_pools = Late("cs_score.analysis.many.sampled_pools")
    pages = Late("cs_score.report.documents")

SHOWN_ROWS: Final = 10
"""Systems and pairs that are printed unless another number is asked for."""

SHOWN_VALUES: Final = 20
"""Values that differ, of one file, that are printed."""

_RUNS: Final = f"{SCORING} -runids --run --policy"
_COMPARED_AS: Final = "text json tsv markdown latex html"
_COMPARING: Final = f"{INTERVALS} {options.FAMILY} --measure --primary --common --equivalence --top --all --force"
_OF_COMPARISONS: Final = (
    Option("--common", "Compare on the units that all systems have; otherwise they must be the same"),
    Option("--equivalence D", "Also test every pair for a difference below D, a number above 0, either way"),
)

_OF_FORMATS: Final = (
    (
        "Formats",
        "latex is one table for a paper: a line for each system, a column for each --measure with its interval, and a "
        "star where the test finds a difference from the first system; with --all it is every table.",
    ),
)


_COLUMNS: Final = Option("--columns TEXT", "What the files call their columns, such as unit=question_id,label=verdict")


# ---- Comparisons


COMPARE_VERB: Final = Verb(
    runs=VerbForm(
        options=f"{_RUNS} --knowledge-base {_COMPARING} --inclusion --second-assessments --per-unit",
        formats=_COMPARED_AS,
        files=(
            "Query files (*.xml, perhaps compressed), assessment files, and two or more runs, in any order. Each run "
            "is scored by itself. A folder stands for its files *.tab.txt"
        ),
        sections=[POLICIES],
        example="$TWO",
    ),
    evidence=VerbForm(
        options=f"--gold {_COMPARING} --second-assessments --per-unit",
        formats=_COMPARED_AS,
        files="One file for each system",
        example="$TWO",
    ),
    own_options=_OF_COMPARISONS,
    sections=_OF_FORMATS,
    summary="Compare {task} systems on the same gold file",
    needs_files=False,
)


@COMPARE_VERB.command
def compare(name: str, line: Line) -> int:
    """Compare as the command line says. Raises UsageError, InputError where a run cannot be scored or compared."""
    if name == COLD_START and "--inclusion" in line and "--second-assessments" in line:
        raise UsageError("--inclusion is about one pool, --second-assessments about two: give one of them")
    if "--inclusion" in line:
        return estimate_from_sample(name, line, most=None)
    if "--second-assessments" in line:
        return _compare_assessors(name, line)
    resampling = read_resampling(line, always=True, with_family=True)
    given, task = inputs_named_by(name, line, fewest=2, most=None), task_named(name)
    path = line.get("--per-unit")
    line.plan(options.PER_UNIT.outputs(path)).clear()
    systems = given.several()
    found = comparison.compare(task, systems.results, systems.with_baseline(resampling), **_choices_of(line))
    if path is not None:
        clusters = UNSET if resampling is None else resampling.clusters
        write_packed(path, tsv(comparison.per_unit(task, systems.results, clusters)))
    return _print_comparison(line, found)


@command(
    "compare table",
    select_options(f"{_COMPARING} --columns", (*_OF_COMPARISONS, _COLUMNS)),
    Parameter(
        "tables...",
        "Tables separated by tabs or commas: a column unit, then a column of numbers for each system; or the columns "
        "unit, system, [measure], numerator, denominator; or unit, [system], [measure], score with a row for each "
        "sample, also as JSON lines (.jsonl); or the rows of trec_eval -q. All may have cluster and stratum. Files of "
        "--per-unit are such tables, each of a system",
    ),
    sections=_OF_FORMATS,
    formats=_COMPARED_AS.split(),
    example="assessments/table.tsv",
)
def compare_table(line: Line) -> int:
    """Compare the systems of tables. Raises UsageError, InputError for what is no such table."""
    resampling = read_resampling(line, always=True, with_family=True)
    tables = comparison.read_table(line.words, read_names(line.text("--columns", "")))
    return _print_comparison(line, comparison.compare_table(tables, resampling, **_choices_of(line)))


def _choices_of(line: Line) -> dict[str, Any]:
    margin, primary = options.positive_number(line, "--equivalence"), line.get("--primary")
    return {"measures": read_measures(line), "primary": primary, "common": "--common" in line, "equivalence": margin}


def _print_comparison(line: Line, found: Comparison) -> int:
    """Print it in the format of the line: the primary measure, all with --all or where some were chosen.

    As LaTeX it is the table of a paper, with --all every table.
    """
    if line.format == "html":
        STDOUT.write([pages.page_of(found).encode()])
        return Status.DONE
    if line.format not in ("json", "tsv") and not read_measures(line) and "--all" not in line:
        found = comparison.first_measure(found)
    is_short = "--all" not in line
    if is_short and line.format == "text":
        text = comparison_screen(found, options.top_of(line) or SHOWN_ROWS)
    elif is_short and line.format == "latex":
        text = paper_table(found)
    else:
        text = WRITERS[line.format](found)
    print_text(text, with_deltas if line.format == "text" else str)
    return Status.DONE


def _compare_assessors(name: str, line: Line) -> int:
    """Print what a second assessor changes. Raises UsageError, InputError."""
    second, resampling = line.text("--second-assessments"), read_resampling(line, always=True)
    sides: list[Mapping[str, Any]] = []
    judgments: list[assessors.JudgedAnswers] = []
    if name == COLD_START:
        given = Runs(line)
        with paused_collector():
            opened = given.open_runs()
            names = comparison.run_names(opened.runs)
            for assessed in (opened.assessments, [second]):
                gold = with_pool(opened.gold, assessed)
                if not gold.links.assessments:
                    raise InputError("there is no assessment in it", file=name_of(assessed[0]))
                sides.append(dict(zip(names, score_each(gold, opened.runs, given.load_with_warnings))))
                judgments.append(assessors.judged_answers_of_pool(gold))
    elif "--gold" not in line:
        raise UsageError("--second-assessments is another gold file: name the first one with --gold")
    else:
        for side_line in (line, line.with_changes({"--gold": second})):
            sides.append(inputs_named_by(name, side_line, fewest=1, most=None).several().results)
        judgments = [assessors.judged_answers_of_result(next(iter(side.values()))) for side in sides]
    measure = next(iter(read_measures(line)), None)
    has_labels = name != COLD_START and bool(judgments[0])
    results = assessors.AssessedResults(sides[0], sides[1], judgments[0], judgments[1], has_labels=has_labels)
    found = assessors.compare_assessors(task_named(name), results, measure, resampling)
    return print_found(line, assessors.ASSESSORS_PRINTOUT, found)


# ---- What test sets and pools can show


_OF_POWER: Final = "--difference --alpha --power --sd --units --measure --force"


POWER_VERB: Final = Verb(
    runs=VerbForm(
        options=f"{_RUNS} {_OF_POWER}",
        formats="text json tsv svg",
        files=(
            "What compare -o FILE.json wrote, or what compare takes: queries, assessments, two or more runs; none "
            "with --sd"
        ),
        sections=[POLICIES],
        example="--difference 0.1 $TWO",
    ),
    evidence=VerbForm(
        options=f"--gold {_OF_POWER}",
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
    summary="What difference of {task} systems a test set detects",
    needs_files=False,
)


@POWER_VERB.command
def power(name: str, line: Line) -> int:
    """Print what can be detected. Raises UsageError, InputError where there is nothing that could be planned from."""
    deviation, difference, alpha, share = (
        options.positive_number(line, option) for option in ("--sd", "--difference", "--alpha", "--power")
    )
    aim = Aim(difference, alpha or 0.05, share or 0.8)
    task, measure = task_named(name), line.get("--measure")
    if deviation is not None:
        if line.words or "--gold" in line:
            raise UsageError("--sd stands for files: give the one or the others")
        found = plan_test([TDesign(deviation)], whole_number(line, "--units", MOST_UNITS), aim)
    elif "--units" in line:
        raise UsageError("--units goes with --sd; files have their own number of units")
    elif len(line.words) == 1 and "--gold" not in line and ending_of(line.words[0]) == ".json":
        compared = record_in(read_document(line.words[0]), Comparison, line.words[0])
        found = plan_from_comparison(compared, measure, aim)
    else:
        measure = task.measure_of(measure)
        results = inputs_named_by(name, line, fewest=2, most=None).several().results
        measures = [measure or comparison.headline_measure(task, results)]
        found = plan_from_comparison(comparison.compare(task, results, Resampling(1), measures=measures), None, aim)
    if line.format in ("text", "json", "tsv"):
        return print_found(line, POWER, found)
    STDOUT.write([_curve(found).standalone().encode()])
    return Status.DONE


def _curve(power: Power) -> Drawing:
    """Power by difference, a curve for each number of units."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for point in power.curve:
        curves.setdefault(f"{point.units} units", []).append((point.difference, point.power))
    test = "the exact sign test" if power.test == "sign" else "a paired t test"
    title = f"Power of {test}" + (f", {power.measure}" if power.measure else "")
    meaning = f"The probability that a difference is significant at {power.alpha:g}, by difference and number of units."
    mark = power.difference or power.detectable or 0.0
    axes = ("Difference of the scores", "Power")
    return lines("power", title, axes, meaning, curves, mark=(mark, f"{mark:.4f}"))


_TEAMS: Final = Option(
    "--teams FILE", "A file with a line RUN<tab>TEAM for each run; without it, each run is its own team"
)


@command(
    "pool-bias",
    select_options(f"{_RUNS} --measure --teams --force", [_TEAMS]),
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
        *options.LEGEND,
    ),
    formats=("text", "json", "tsv"),
    example=options.EXAMPLE_OF_TWO,
)
def pool_bias(line: Line) -> int:
    """Print what a pool favours. Raises UsageError, InputError for what cannot be scored."""
    teams, given = line.get("--teams"), Runs(line)
    if teams == "-":
        raise UsageError("standard input cannot be read once for each run: name a file")
    with paused_collector():
        opened = given.open_runs()
        pooled_runs = pool_biases.PooledRuns(opened.gold, opened.assessments, opened.runs, given.load_with_warnings)
        found = pool_biases.pool_bias(pooled_runs, teams, line.get("--measure"), progress=with_bar)
    return print_found(line, pool_biases.POOL_BIAS_PRINTOUT, found)


# ---- Results held against others

_OF_TEST: Final = "--bootstrap --seed --confidence --clusters"
_LIMITS: Final = f"--baseline --max-drop --min --significant --any-baseline --write-lock --lock --force {_OF_TEST}"


def _gate_of(line: Line) -> checking.Gate:
    """What the options ask for. Raises UsageError for values that mean nothing."""
    if "--baseline" not in line and (name := line.first("--max-drop --significant --any-baseline")):
        raise UsageError(f"{name} is about a baseline: give --baseline PATH, too")
    resampling = read_resampling(line, always=True)
    if "--significant" not in line and (name := line.first(_OF_TEST)):
        raise UsageError(f"{name} is about the test: give --significant, too")
    if line.first("--min --baseline") is None:
        raise UsageError(checking.NOTHING_TO_CHECK)
    least, drops = (
        tuple(checking.read_limit(name, text) for text in line.texts(name)) for name in ("--min", "--max-drop")
    )
    return checking.Gate(least, drops, resampling if "--significant" in line else None, "--any-baseline" in line)


def _failure_text(format_: str, message: str) -> str:
    """Return the text for an error of `check` in one of its formats."""
    return checking.error_text(format_, message)


CHECK_VERB: Final = Verb(
    runs=VerbForm(
        options=f"{SCORING} -runids --validate --policy --knowledge-base --jobs --parts --run {_LIMITS}",
        formats="text json tsv junit github",
        files=FILES,
        sections=[POLICIES],
        example="--min SF-AP=0.4 $ONE",
    ),
    evidence=VerbForm(
        options=f"--gold --predictions {_LIMITS}",
        formats="text json tsv junit github",
        files=FILES_OF_EVIDENCE,
        example="--min $MEASURE=0.1 $ONE",
    ),
    own_options=(
        Option("--baseline PATH", "What to compare with: JSON that score -o has written, or its folder"),
        Option("--significant", "A drop counts only if the paired test calls it significant"),
        Option("--any-baseline", "Accept a baseline of other gold or other options"),
        *LOCK_OPTIONS,
    ),
    sections=[
        (
            "Exit status",
            "0: every limit is kept. 3: one is not, or something has changed since the lock was written. 1: an input "
            "cannot be scored, or the baseline cannot be compared.",
        )
    ],
    failure=_failure_text,
    summary="Hold {task} predictions against limits and a baseline",
)


@CHECK_VERB.command
def check(task: str, line: Line) -> int:
    """Hold a run against limits and print the result; the exit status. Raises CsScoreError where that cannot be."""
    if "--write-lock" in line:
        return locking.write_lock(task, line)
    if "--lock" in line:
        return _check_lock(task, line)
    gate = _gate_of(line)
    path = line.get("--baseline")
    with scored_by(task, line.with_changes(without=_OF_TEST.split())) as scored:
        run = checking.of_result(scored.result)
    baseline = None if path is None else checking.read_baseline(path, run.name)
    judgement = gate.judge(run, baseline)
    standing_in = None
    if baseline is not None and not gate.minima and not gate.drops:
        standing_in = checking.headline_remark(run, baseline)
    if standing_in is not None:
        remark(standing_in)
    print_text(checking.WRITERS[line.format](judgement))
    return Status.DONE if judgement.passed else Status.NOT_KEPT


def _check_lock(task: str, line: Line) -> int:
    """Hold a run against the limits of a lock, unless its conditions have changed, and print the result.

    Returns the exit status. Raises CsScoreError where the lock cannot be read or the run cannot be scored.
    """
    locking.refuse_other_limits(line)
    lock = locks.read_lock(line.text("--lock", ""))
    conditions = locking.conditions_of(task, line)
    typed_limits = [checking.read_limit("--min", text) for text in line.texts("--min")]
    changes = locks.changes_since(lock, conditions, typed_limits)
    if changes:
        judgement = locks.broken(lock, conditions, changes)
    else:
        with scored_by(task, line) as scored:
            run = checking.of_result(scored.result)
        judgement = locks.kept(lock, checking.Gate(lock.limits).judge(run, None))
    print_text(checking.WRITERS[line.format](judgement))
    return Status.DONE if judgement.passed else Status.NOT_KEPT


@command(
    "verify",
    [FORCE],
    Parameter(
        "result",
        "A result as JSON: of the scorer, of cs-score score, of a task of evidence, leaderboard.json, batch.json or "
        "signature.json of a batch; or the folder of a batch, for all of these and its tables",
    ),
    Parameter(
        "[files...]",
        "Files and folders in which inputs are looked for by their contents; what is not among them is looked for "
        "where it was",
    ),
    sections=[
        (
            "Exit status",
            "0: reproduced; 3: a value differs; 1: an input is missing or changed, or the file is no result.",
        )
    ],
    formats=("text", "json", "tsv"),
    example="result.json",
)
def verify(line: Line) -> int:
    """Verify, file by file; the exit status. Raises CsScoreError where something cannot be verified."""
    from cs_score.verification import verifying

    result, *files = line.words
    status = Status.DONE
    try:
        if line.format != "text":
            found = verifying.verification(result, files, is_forced="--force" in line)
            STDOUT.write([json_text(found).encode()] if line.format == "json" else tsv(verifying.VERIFIED.table(found)))
            return Status.DONE if found.reproduced else Status.NOT_KEPT
        for verdict in verifying.verify(result, files, is_forced="--force" in line):
            print_text("\n".join(_lines(verdict)))
            status = status if verdict.is_reproduced else Status.NOT_KEPT
    except NotFoundError as error:
        if line.format != "text":
            raise InputError(str(error), file=result) from None
        for text in error.lines:
            write_text("stderr", f"cs-score: {one_line(f'{result}: {text}')}\n")
        return Status.FAILED
    return status


def _lines(verdict: Verdict) -> list[str]:
    def counted(number: int, noun: str) -> str:
        return f"{number:,} {noun}{'' if number == 1 else 's'}"

    found = verdict.differences
    texts: list[object] = [*found[:SHOWN_VALUES]]
    if len(found) > SHOWN_VALUES:
        texts.append(f"... and {len(found) - SHOWN_VALUES} more")
    end = f"differs from its record in {counted(len(found), 'value')}" if found else "reproduced"
    texts.append(f"{end} ({counted(verdict.compared, verdict.unit)} compared)")
    texts += [f"note: {note}" for note in verdict.notes]
    return [one_line(f"{verdict.file}: {text}") for text in texts]
