"""The commands `compare`, for runs and systems of all tasks, and `compare table`, for any table of scores. A system is
a run or a file of predictions. Gold is the standard against which systems are scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cs_score.analysis import system_comparison as comparison
from cs_score.analysis.systems import run_names
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import write_packed
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.base.sources import Input, name_of
from cs_score.cli import shared_options as options
from cs_score.cli.core import CommandLine, Option, Parameter, Status, command
from cs_score.cli.document_output import print_statistics
from cs_score.cli.inputs import find_inputs
from cs_score.cli.output import STDOUT, print_text, with_coloured_differences
from cs_score.cli.run_inputs import Runs, RunsWithGold
from cs_score.cli.run_options import POLICIES, SCORING_SWITCHES
from cs_score.cli.shared_options import (
    INTERVAL_OPTIONS,
    read_measures,
    read_resampling_with_defaults,
    read_test_settings_with_defaults,
    select_options,
)
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.coldstart.gold import with_pool
from cs_score.coldstart.scorer import score_each
from cs_score.statistics.results import SystemComparison
from cs_score.tables.layout import tsv
from cs_score.tables.statistics import WRITERS, comparison_screen, paper_table
from cs_score.tasks import COLD_START, task_named
from cs_score.verbs.compare import any_table
from cs_score.verbs.compare.exported import read_names

if TYPE_CHECKING:
    from cs_score.cli import estimates
    from cs_score.pages import making as pages
    from cs_score.verbs.studies import assessor_comparison as assessors
    from cs_score.verbs.studies.assessor_comparison import AssessedResults
else:
    estimates = Late("cs_score.cli.estimates")
    assessors = Late("cs_score.verbs.studies.assessor_comparison")
    pages = Late("cs_score.pages.making")

MOST_ROWS: Final = 10
"""How many systems and pairs are printed unless --top names another number."""

_RUN_OPTIONS: Final = f"{SCORING_SWITCHES} -runids --run --policy"
_FORMATS: Final = "text json tsv markdown latex html"
_COMPARISON_OPTIONS: Final = (
    f"{INTERVAL_OPTIONS} {options.TEST_OPTIONS} --measure --primary --common --equivalence --top --all --force"
)
_OWN_OPTIONS: Final = (
    Option("--common", "Compare on the units that all systems have; otherwise they must be the same"),
    Option("--equivalence D", "Also test every pair for a difference below D, a number above 0, either way"),
)

_SECTIONS: Final = (
    (
        "Formats",
        "latex is one table for a paper: a line for each system, a column for each --measure with its interval, and a "
        "star where the test finds a difference from the first system; with --all it is every table.",
    ),
)


_COLUMNS: Final = Option("--columns TEXT", "What the files call their columns, such as unit=question_id,label=verdict")


def _usage_for_runs() -> VerbUsage:
    """Return the usage of the command `compare` for Cold Start runs, which is part of its help."""
    return VerbUsage(
        options=f"{_RUN_OPTIONS} --knowledge-base {_COMPARISON_OPTIONS} --inclusion --second-assessments --per-unit",
        formats=_FORMATS,
        files=(
            "Query files (*.xml, perhaps compressed), assessment files, and two or more runs, in any order. Each run "
            "is scored by itself. A folder stands for its files *.tab.txt"
        ),
        sections=[POLICIES],
        example="$TWO",  # the help replaces $TWO by two sample runs
    )


COMPARE_VERB: Final = Verb(
    usage_for_runs=_usage_for_runs,
    usage_for_evidence=VerbUsage(
        options=f"--gold {_COMPARISON_OPTIONS} --second-assessments --per-unit",
        formats=_FORMATS,
        files="One file for each system",
        example="$TWO",
    ),
    own_options=_OWN_OPTIONS,
    sections=_SECTIONS,
    summary="Compare {task} systems on the same gold file",
    needs_files=False,
)


@COMPARE_VERB.command
def compare(task_name: str, command_line: CommandLine) -> int:
    """Score several systems, and print the comparison of their scores. Return the exit status.

    With --inclusion, estimates for the whole pool are printed instead, and with --second-assessments, the differences
    between two assessors. Raises UsageError if the options are invalid, and InputError if a run cannot be scored or
    compared.
    """
    # In other tasks, second assessments may correct the labels of a sample, so both options may be used together.
    if task_name == COLD_START and "--inclusion" in command_line and "--second-assessments" in command_line:
        raise UsageError("--inclusion is about one pool, --second-assessments about two: give one of them")
    if "--inclusion" in command_line:
        return estimates.estimate_from_sample(task_name, command_line, most_systems=None)
    if "--second-assessments" in command_line:
        return _compare_assessors(task_name, command_line)
    return _compare_systems(task_name, command_line)


def _compare_systems(task_name: str, command_line: CommandLine) -> int:
    """Score several systems, print the comparison of their scores, and write the file of --per-unit. Return 0.

    All faults of the command line are reported before anything is scored. Raises UsageError, and InputError if a run
    cannot be scored or compared.
    """
    task = task_named(task_name)
    resampling = read_test_settings_with_defaults(command_line)
    inputs = find_inputs(task_name, command_line, fewest_systems=2, most_systems=None)
    unit_file = command_line.get("--per-unit")
    outputs = command_line.plan(options.PER_UNIT.outputs(unit_file))  # raises an error if it cannot be written
    outputs.remove_earlier_files()  # if scoring fails, no file of an earlier call is left
    systems = inputs.score_all()
    # The user may give the file of the baseline. In these settings, it is replaced by the name of the system.
    resampling_with_baseline = systems.with_baseline(resampling)
    document = comparison.compare(
        task, systems.results, resampling_with_baseline, **_comparison_arguments(command_line)
    )
    if unit_file is not None:
        unit_table = comparison.per_unit(task, systems.results, resampling.clusters)
        write_packed(unit_file, tsv(unit_table))
    return _print_comparison(command_line, document)


@command(
    "compare table",
    select_options(f"{_COMPARISON_OPTIONS} --columns", (*_OWN_OPTIONS, _COLUMNS)),
    Parameter(
        "tables...",
        "Tables separated by tabs or commas: a column unit, then a column of numbers for each system; or the columns "
        "unit, system, [measure], numerator, denominator; or unit, [system], [measure], score with a row for each "
        "sample, also as JSON lines (.jsonl); or the rows of trec_eval -q. All may have cluster and stratum. Files of "
        "--per-unit are such tables, each of a system",
    ),
    sections=_SECTIONS,
    formats=_FORMATS.split(),
    example="assessments/table.tsv",
)
def compare_table(command_line: CommandLine) -> int:
    """Compare systems by the scores in tables, and print the comparison. Return the exit status.

    The formats of tables are listed in the help. In each format, the columns `cluster` and `stratum` are optional. The
    files written with --per-unit are tables of a single system. Raises UsageError, and InputError for any other file.
    """
    resampling = read_test_settings_with_defaults(command_line)
    name_in_file_by_column = read_names(command_line.text("--columns", ""))
    tables = any_table.read_table(command_line.positional_words, name_in_file_by_column)
    document = any_table.compare_table(tables, resampling, **_comparison_arguments(command_line))
    return _print_comparison(command_line, document)


def _comparison_arguments(command_line: CommandLine) -> dict[str, Any]:
    """Return the keyword arguments of a comparison from the options of the command line.

    Both `comparison.compare` and `any_table.compare_table` take these arguments. Raises UsageError.
    """
    return {
        "measures": read_measures(command_line),
        "primary": command_line.get("--primary"),
        "common": "--common" in command_line,
        "equivalence": options.positive_number(command_line, "--equivalence"),
    }


def _print_comparison(command_line: CommandLine, document: SystemComparison) -> int:
    """Print a comparison in the format of the command line. Return 0.

    JSON, TSV and HTML have all measures and tables, and so have the other formats with --all. Without --all, the other
    formats show the primary measure or the measures of --measure: text fits on one screen, LaTeX is one table for a
    paper.
    """
    if command_line.format == "html":
        page = pages.page_of(document)
        STDOUT.write([page.encode()])
        return Status.DONE
    shows_everything = command_line.format in ("json", "tsv") or "--all" in command_line
    text = WRITERS[command_line.format](document) if shows_everything else _short_text(command_line, document)
    colour = with_coloured_differences if command_line.format == "text" else str
    print_text(text, colour)
    return Status.DONE


def _short_text(command_line: CommandLine, document: SystemComparison) -> str:
    """Return the part of a comparison that is shown without --all, in the format `text`, `markdown` or `latex`.

    It shows the primary measure or, if --measure was typed, the measures that it names.
    """
    if not read_measures(command_line):
        document = comparison.with_first_measure(document)
    if command_line.format == "text":
        row_count = options.read_top(command_line) or MOST_ROWS
        return comparison_screen(document, row_count)
    if command_line.format == "latex":
        return paper_table(document)
    return WRITERS[command_line.format](document)


class _ResultsOfAssessor(NamedTuple):
    """The results of all systems under the judgments of one assessor, by name, and the judgments of single answers."""

    results: Mapping[str, Any]
    judgments: assessors.JudgedAnswers


def _compare_assessors(task_name: str, command_line: CommandLine) -> int:
    """Print how scores and ranks change with the judgments of a second assessor. Return 0.

    Raises UsageError or InputError.
    """
    second_file = command_line.text("--second-assessments")
    resampling = read_resampling_with_defaults(command_line)
    if task_name == COLD_START:
        results = _results_of_two_pools(command_line, second_file)
    else:
        results = _results_of_two_golds(task_name, command_line, second_file)
    measures = read_measures(command_line)
    measure = measures[0] if measures else None
    document = assessors.compare_assessors(task_named(task_name), results, measure, resampling)
    return print_statistics(command_line, assessors.ASSESSORS_PRINTOUT, document)


def _results_of_two_pools(command_line: CommandLine, second_file: str) -> AssessedResults:
    """Score Cold Start runs against the pool of the command line, and again against the pool in `second_file`.

    Raises UsageError or InputError.
    """
    inputs = Runs(command_line)
    with paused_garbage_collection():
        runs_with_gold = inputs.read_queries_and_find_runs()
        first = _score_against_pool(inputs, runs_with_gold, runs_with_gold.assessments)
        second = _score_against_pool(inputs, runs_with_gold, [second_file])
    return assessors.AssessedResults(first.results, second.results, first.judgments, second.judgments)


def _score_against_pool(inputs: Runs, runs_with_gold: RunsWithGold, pool_files: Sequence[Input]) -> _ResultsOfAssessor:
    """Score Cold Start runs against a pool, and return their results with the judgments in this pool.

    The pool holds the judgments of one assessor. Raises InputError if the pool has no assessments, or if a run cannot
    be scored.
    """
    gold = with_pool(runs_with_gold.gold_without_pool, pool_files)
    if not gold.links.assessments:
        raise InputError("there is no assessment in it", file=name_of(pool_files[0]))
    names = run_names(runs_with_gold.runs)
    results = score_each(gold, runs_with_gold.runs, inputs.load_with_warnings)
    return _ResultsOfAssessor(dict(zip(names, results)), assessors.judged_answers_of_pool(gold))


def _results_of_two_golds(task_name: str, command_line: CommandLine, second_file: str) -> AssessedResults:
    """Score predictions against the gold of the command line, and again against the gold in `second_file`.

    Raises UsageError or InputError.
    """
    if "--gold" not in command_line:
        raise UsageError("--second-assessments is another gold file: name the first one with --gold")
    first = _score_against_gold(task_name, command_line)
    second = _score_against_gold(task_name, command_line.with_changes({"--gold": second_file}))
    return assessors.AssessedResults(
        first.results, second.results, first.judgments, second.judgments, has_labels=bool(first.judgments)
    )


def _score_against_gold(task_name: str, command_line: CommandLine) -> _ResultsOfAssessor:
    """Score the predictions of a command line against its gold, and return their results with the judgments in gold.

    The gold holds the judgments of one of the two assessors to compare. Raises UsageError or InputError.
    """
    inputs = find_inputs(task_name, command_line, fewest_systems=1, most_systems=None)
    results = inputs.score_all().results
    any_result = next(iter(results.values()))  # each result has the judgments of gold
    return _ResultsOfAssessor(results, assessors.judged_answers_of_result(any_result))
