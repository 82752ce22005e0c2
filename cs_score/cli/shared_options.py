"""The options that several commands share, and how their values are read.

The module loads no scoring code, so that help is quick.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Final, cast

from msgspec import UNSET

from cs_score.base.errors import UsageError
from cs_score.base.outputs import OwnOption
from cs_score.base.records import replace
from cs_score.cli.core import FORCE, CommandLine, Option
from cs_score.measures import COLD_START_MODE, measure_names, rankable_measures
from cs_score.statistics import resampling_settings as statistics
from cs_score.statistics.resampling_settings import INTERVAL_METHODS, Correction, IntervalMethod, Resampling
from cs_score.statistics.units import read_clusters
from cs_score.tasks import COLD_START, TASKS

MOST_RESAMPLES: Final = 1_000_000
"""The largest number of bootstrap resamples; more would take gigabytes and would not show more about the test set."""

LARGEST_NUMBER: Final = 1_000_000_000
"""The largest whole number that options take, unless they say otherwise."""

BYTES_PER_PART: Final = 2 << 20
"""How many bytes of assessments and runs are scored in one part, which takes about thirty times as much memory."""

INTERVAL_OPTIONS: Final = "--bootstrap --seed --confidence --interval --clusters"
TEST_OPTIONS: Final = "--correction --baseline"
_INTERVAL_METHODS_TEXT: Final = " or ".join(INTERVAL_METHODS)

_HEADLINE: Final = "the headline measure"


def _measures_of_task(task: str) -> Iterable[str]:
    """Return the measures of a task that options may name, for completion; none if `task` is not a task."""
    if task == COLD_START:
        return [str(measure) for measure in rankable_measures(COLD_START_MODE)]
    if task in TASKS:
        return measure_names(task)
    return ()


_SHARED_OPTIONS: Final = (
    Option("--all", "All measures, and all lists in full"),
    Option(
        "--baseline RUN",
        "What to compare with: a run by its name in the result, or its file; only pairs with it are tested",
    ),
    Option(
        "--bootstrap N",
        f"Bootstrap resamples of intervals and tests; more than {statistics.MANY_RESAMPLES} only with --force",
        f"none, {statistics.DEFAULT_RESAMPLES} or more to compare",
    ),
    Option("--clusters FILE", "Units that are drawn together: a table with the columns unit, cluster, [stratum]"),
    Option("--confidence PERCENT", "Confidence of the intervals, 50 to 99.99", "95"),
    Option(
        "--correction NAME",
        f"Correction of the tests of all pairs: {', '.join(statistics.CORRECTIONS)}",
        statistics.USUAL_CORRECTION,
        statistics.CORRECTIONS,
    ),
    FORCE,
    Option("--gold FILE", "Gold annotation; - is standard input"),
    Option(
        "--inclusion FILE",
        "Estimate precision, right answers and their differences for the whole pool from a sample of it; a table of "
        "columns probability and any of query, slot, value, provenance (judged answers: unit, answer, evidence, and "
        "label with --second-assessments), confidence (at least), prediction; an answer is of the first line that it "
        "fits",
    ),
    Option(
        "--interval METHOD",
        f"Interval method, {_INTERVAL_METHODS_TEXT}",
        "percentile; below 20 units bca, of differences paired t",
        INTERVAL_METHODS,
    ),
    Option("--jobs N", "Processes on this machine", "the number of processors"),
    Option("--json [FILE.json]", "The whole result as JSON, into FILE; without FILE to standard output"),
    Option("--knowledge-base FILE...", "Validate and resolve this knowledge base, and score it; may be repeated"),
    Option(
        "--max-drop MEASURE=N...",
        "Largest drop of a measure or pattern below the baseline; may be repeated",
        "0 for the main measures, where no limit is given",
        _measures_of_task,
    ),
    Option(
        "--measure NAME...",
        "The measure to report; where several make sense, names and patterns ('*F1') separated by commas, or the "
        "option again",
        _HEADLINE,
        _measures_of_task,
    ),
    Option(
        "--min MEASURE=N...",
        "Minimum of a measure, or of those that match a pattern; may be repeated",
        choices=_measures_of_task,
    ),
    Option(
        "--parts N",
        "Divide the queries of a large run into N parts; 1: do not divide",
        f"one for each {BYTES_PER_PART >> 20} MB",
    ),
    Option("--per-unit FILE", "Also write cluster, numerator and denominator of each unit by each measure, as .tsv"),
    Option("--predictions FILE", "The system's output; - is standard input"),
    Option("--primary NAME", "The measure that decides; all others are exploratory", _HEADLINE, _measures_of_task),
    Option("--problems FILE", "Also write every problem to FILE (.json, .tsv or .sarif, perhaps compressed)"),
    Option("--run ID...", "Of several runs, this one; may be repeated where several are meant"),
    Option(
        "--second-assessments FILE",
        "The pool (in tasks of evidence: gold) as a second assessor judged it: agreement, scores and ranks under "
        "either, intervals that also draw the assessor",
    ),
    Option("--seed S", "Seed of the resamples, a whole number", "0"),
    Option("--top N", "List at most N mistakes, units or answers", "20 in the text, elsewhere all"),
    Option(
        "--unit ID...",
        "A query, claim, instance or question by its id; may be repeated; without it, a summary of the run",
    ),
    Option("--validate", "Validate runs before they are scored, as cs-score validate-run does"),
)
_SHARED_OPTION_BY_NAME: Final = {option.long_name: option for option in _SHARED_OPTIONS}


def select_options(option_names: str, own_options: Iterable[Option] = ()) -> list[Option]:
    """Return the options of a command in the order of `option_names`, a text of names separated by spaces.

    Each name belongs to an option shared by several commands, or to one of the command's `own_options`.
    """
    option_by_name = dict(_SHARED_OPTION_BY_NAME)
    for option in own_options:
        option_by_name[option.long_name] = option
    return [option_by_name[name] for name in option_names.split()]


PER_UNIT: Final = OwnOption(
    "--per-unit", {".tsv": rb"unit\tcluster\t(stratum\t)?(system\t)?measure\tnumerator\tdenominator\n"}, "units.tsv"
)


def read_resampling(command_line: CommandLine) -> Resampling | None:
    """Return the settings of resampling from the options of a command that resamples only with --bootstrap.

    The result is None if --bootstrap was not typed. Raises UsageError for impossible values, and for an option that has
    no effect without --bootstrap.
    """
    if "--bootstrap" in command_line:
        return read_resampling_with_defaults(command_line)
    option = command_line.first_typed_option(INTERVAL_OPTIONS)
    if option is not None:
        raise UsageError(f"{option} is about intervals: give --bootstrap N, too")
    return None


def read_resampling_with_defaults(command_line: CommandLine) -> Resampling:
    """Return the settings of resampling from the options of a command that always resamples.

    Options that were not given take their default values. Without `--bootstrap`, 10,000 resamples are drawn, or more if
    a small p-value requires them. Raises UsageError for invalid values.
    """
    # A value that is UNSET is left out of the JSON of the settings.
    has_number = "--bootstrap" in command_line
    cluster_file = command_line.get("--clusters")
    return Resampling(
        resamples=_read_resamples(command_line),
        seed=_read_seed(command_line),
        confidence=_read_confidence(command_line),
        method=_read_interval_method(command_line) or UNSET,
        can_grow=UNSET if has_number else True,
        clusters=UNSET if cluster_file is None else read_clusters(cluster_file),
    )


_WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,100}")


def _read_resamples(command_line: CommandLine) -> int:
    """Return the value of --bootstrap, the number of resamples, or its default.

    Raises UsageError for an impossible number, and for a large one without --force.
    """
    text = command_line.text("--bootstrap", str(statistics.DEFAULT_RESAMPLES))
    if not _WHOLE_NUMBER.fullmatch(text) or not 1 <= int(text) <= MOST_RESAMPLES:
        raise UsageError(f"--bootstrap takes a whole number from 1 to {MOST_RESAMPLES}, not {text}")
    if int(text) > statistics.MANY_RESAMPLES and "--force" not in command_line:
        raise UsageError(statistics.message_on_many_resamples(f"--bootstrap {text}", "--force"))
    return int(text)


def _read_seed(command_line: CommandLine) -> int:
    """Return the value of --seed, by default 0. Raises UsageError if it is not a whole number."""
    text = command_line.text("--seed", "0")
    if not _WHOLE_NUMBER.fullmatch(text):
        raise UsageError(f"--seed takes a whole number of at least 0, not {text}")
    return int(text)


def _read_confidence(command_line: CommandLine) -> float:
    """Return the value of --confidence, a percentage that defaults to 95. Raises UsageError if it is not a number.

    Numbers that are too small or too large are rejected later, by the record `Resampling`.
    """
    from cs_score.base.numbers import is_decimal_number

    text = command_line.text("--confidence", "95")
    if not is_decimal_number(text):
        raise UsageError(f"--confidence takes a percentage from 50 to 99.99, not {text}")
    return float(text)


def _read_interval_method(command_line: CommandLine) -> IntervalMethod | None:
    """Return the value of --interval, such as `bca`, or None if not given. Raises UsageError for other methods."""
    method = command_line.get("--interval")
    if method is not None and method not in INTERVAL_METHODS:
        raise UsageError(f"--interval takes {_INTERVAL_METHODS_TEXT}, not {method}")
    return cast("IntervalMethod | None", method)


def read_test_settings(command_line: CommandLine) -> Resampling | None:
    """Return the settings of resampling and of tests from the options of a command that needs --bootstrap for both.

    The settings of tests are the correction for testing many pairs (--correction) and the system with which all others
    are compared (--baseline). The result is None if --bootstrap was not typed. Raises UsageError for impossible values,
    and for an option that has no effect without --bootstrap.
    """
    resampling = read_resampling(command_line)
    if resampling is not None:
        return _with_test_options(resampling, command_line)
    _read_correction(command_line)  # an impossible value is reported before the missing option
    option = command_line.first_typed_option(TEST_OPTIONS)
    if option is not None:
        raise UsageError(f"{option} is about tests: give --bootstrap N, too")
    return None


def read_test_settings_with_defaults(command_line: CommandLine) -> Resampling:
    """Return the settings of resampling and of tests from the options of a command that always tests differences.

    Raises UsageError for impossible values.
    """
    return _with_test_options(read_resampling_with_defaults(command_line), command_line)


def _with_test_options(resampling: Resampling, command_line: CommandLine) -> Resampling:
    """Return a copy of the settings of resampling with the values of --correction and --baseline.

    Raises UsageError for an unknown correction.
    """
    correction = _read_correction(command_line)
    baseline = command_line.get("--baseline")
    return replace(resampling, correction=correction or UNSET, baseline=baseline or UNSET)


def _read_correction(command_line: CommandLine) -> Correction | None:
    """Return the value of --correction, None if it was not typed. Raises UsageError for an unknown correction."""
    correction = command_line.get("--correction")
    if correction is not None and correction not in statistics.CORRECTIONS:
        raise UsageError(f"--correction takes {', '.join(statistics.CORRECTIONS)}, not {correction}")
    return cast("Correction | None", correction)


def read_measures(command_line: CommandLine) -> tuple[str, ...]:
    """Return the names and patterns of measures in all values of --measure: `("LDC-MEAN-ALL-Macro-F1", "SF-*")`."""
    measures: list[str] = []
    for text in command_line.texts("--measure"):
        measures.extend(name.strip() for name in text.split(","))
    return tuple(measures)


def read_top(command_line: CommandLine) -> int | None:
    """Return the value of --top, the number of mistakes or units to list, or None if it was not given.

    Raises UsageError if the value is not a whole number above 0.
    """
    return whole_number(command_line, "--top", LARGEST_NUMBER)


def whole_number(command_line: CommandLine, name: str, largest: int) -> int | None:
    """Return the value of an option that takes a whole number from 1 to `largest`, or None if it was not given.

    Raises UsageError for any other value.
    """
    text = command_line.get(name)
    if text is None:
        return None
    # The length is checked because Python converts no text of thousands of digits.
    is_whole = text.isascii() and text.isdecimal() and len(text) <= len(str(largest))
    if not is_whole or not 1 <= int(text) <= largest:
        raise UsageError(f"{name} {text}: a whole number from 1 to {largest} is needed")
    return int(text)


def positive_number(command_line: CommandLine, name: str) -> float | None:
    """Return the value of an option that takes a number above 0, or None if the option was not given.

    Raises UsageError for any other value.
    """
    text = command_line.get(name)
    if text is None:
        return None
    from cs_score.base.numbers import is_decimal_number

    number = float(text) if is_decimal_number(text) else 0.0  # 0 is refused
    if not 0 < number < math.inf:
        raise UsageError(f"{name} {text}: a number above 0 is needed, such as 0.02")
    return number


# ---- Parts of helps

EXAMPLE: Final = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab submissions/tide-kb.tab.txt"
"""A run of the samples, with its queries and assessments."""

EXAMPLE_OF_TWO: Final = f"{EXAMPLE} submissions/gull-sf.tab.txt"
EXAMPLE_OF_GOLD: Final = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab"

FILES_OF_EVIDENCE: Final = "Gold and predictions in this order, where --gold and --predictions do not name them"
