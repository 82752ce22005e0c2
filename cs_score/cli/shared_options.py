"""The options that several commands share, and how their values are read.

The module loads no scoring code, so that help is quick.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, cast

from msgspec import UNSET

from cs_score.base.errors import UsageError
from cs_score.base.outputs import OwnOption
from cs_score.base.records import replace
from cs_score.cli.core import FORCE, CommandLine, Option, Section
from cs_score.coldstart import options as coldstart
from cs_score.coldstart.options import (
    AS_GIVEN,
    DEFAULT_OPTIONS,
    EDITIONS,
    LATEST,
    PRESETS,
    SWITCHES,
    Edition,
    NamedPolicy,
    Options,
    Policy,
    ScoringOption,
    edition_of,
    split_at_colons,
)
from cs_score.coldstart.output_files import DEFAULT_FIELDS, OUTPUTS, SCORE_FIELDS, ColumnLayout, resampled_metrics
from cs_score.measures import registry
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

DEFAULTS: Final = {"-error_file": "stderr", "-fields": ":".join(DEFAULT_FIELDS), "-output_file": "stdout"}
"""The defaults of the switches of the scorer that are not options of scoring."""

SCORING_SWITCHES: Final = " ".join([option.switch for option in SWITCHES if not option.is_for_calls])
"""The switches that say how a run is scored."""

INTERVAL_OPTIONS: Final = "--bootstrap --seed --confidence --interval --clusters"
TEST_OPTIONS: Final = "--correction --baseline"
_OF_CALLS: Final = " ".join([option.switch for option in SWITCHES if option.is_for_calls])
OPTIONS_OF_BATCHES: Final = (
    f"{SCORING_SWITCHES} {_OF_CALLS} -fields -tabs --problems --force --validate {INTERVAL_OPTIONS}"
)
"""The switches of a call that scores as the reference does, and of a batch."""

OPTIONS_OF_CALLS: Final = f"{OPTIONS_OF_BATCHES} --policy --knowledge-base --jobs --parts"
POLICY_SWITCHES: Final = tuple(sorted([option.switch for option in SWITCHES if option.is_policy_side]))


def _with_default(usage: str, help_text: str, choices: Iterable[str] = ()) -> Option:
    """Return an option of a command for a switch of the scorer; its default is that of `DEFAULTS`."""
    name = usage.partition(" ")[0]
    return Option(usage, help_text, DEFAULTS[name], tuple(choices))


def _command_option(option: ScoringOption) -> Option:
    """Return a scoring option as an option of a command."""
    usage = option.switch if option.is_flag else f"{option.switch} {option.value_name}"
    return Option(usage, option.meaning, option.shown_default or option.default_text, option.choices)


_INTERVAL_METHODS_TEXT: Final = " or ".join(INTERVAL_METHODS)
_POLICY_OF_OURS: Final = "right=A:B,wrong=C,ignore=D,justifications=1:3"

_HEADLINE: Final = "the headline measure"


def _measures_of_task(task: str) -> Iterable[str]:
    """Return the measures of a task that options may name, for completion; none if `task` is not a task."""
    if task == COLD_START:
        return [str(measure) for measure in registry.rankable_measures(registry.COLD_START_MODE)]
    if task in TASKS:
        return registry.measure_names(task)
    return ()


_SHARED_OPTIONS: Final = (
    *[_command_option(option) for option in SWITCHES],
    _with_default("-error_file FILE", "Where to report problems: a new file, stdout or stderr"),
    _with_default("-fields LIST", "Colon-separated columns of the tables; see below", DEFAULT_FIELDS),
    _with_default("-output_file PREFIX", "Prefix of the files to write, or stdout or stderr"),
    Option("-tabs", "Separate columns by one tab instead of aligning them"),
    Option("--all", "All measures, and all lists in full"),
    Option(
        "--also-policy NAME[:LIST]...", "Also score under this policy; may be repeated; see below", choices=[*PRESETS]
    ),
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
    Option("--policy NAME", f"The policy: kb, sf or {_POLICY_OF_OURS}; switches take precedence", choices=[*PRESETS]),
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
    """Return the options of a command in the order of `option_names`, which are separated by blanks.

    Each name is that of one of the options that several commands share, or of one of the command's `own_options`.
    """
    option_by_name = dict(_SHARED_OPTION_BY_NAME)
    for option in own_options:
        option_by_name[option.long_name] = option
    return [option_by_name[name] for name in option_names.split()]


PER_UNIT: Final = OwnOption(
    "--per-unit", {".tsv": rb"unit\tcluster\t(stratum\t)?(system\t)?measure\tnumerator\tdenominator\n"}, "units.tsv"
)


def read_resampling(line: CommandLine) -> Resampling | None:
    """Return the settings of resampling from the options of a command that resamples only with --bootstrap.

    The result is None if --bootstrap was not typed. Raises UsageError for impossible values, and for an option that has
    no effect without --bootstrap.
    """
    if "--bootstrap" in line:
        return read_resampling_with_defaults(line)
    option = line.first_typed_option(INTERVAL_OPTIONS)
    if option is not None:
        raise UsageError(f"{option} is about intervals: give --bootstrap N, too")
    return None


def read_resampling_with_defaults(line: CommandLine) -> Resampling:
    """Return the settings of resampling from the options of a command that always resamples.

    Options that were not typed have their defaults: `--bootstrap` has 10,000, which may grow. Raises UsageError for
    impossible values.
    """
    from cs_score.base.numbers import is_decimal_number

    resamples = line.text("--bootstrap", str(statistics.DEFAULT_RESAMPLES))
    seed = line.text("--seed", "0")
    confidence = line.text("--confidence", "95")
    method = line.get("--interval")
    whole_number_form = re.compile(r"[0-9]{1,100}")
    if not whole_number_form.fullmatch(resamples) or not 1 <= int(resamples) <= MOST_RESAMPLES:
        raise UsageError(f"--bootstrap takes a whole number from 1 to {MOST_RESAMPLES}, not {resamples}")
    if int(resamples) > statistics.MANY_RESAMPLES and "--force" not in line:
        raise UsageError(statistics.message_on_many_resamples(f"--bootstrap {resamples}", "--force"))
    if not whole_number_form.fullmatch(seed):
        raise UsageError(f"--seed takes a whole number of at least 0, not {seed}")
    if not is_decimal_number(confidence):
        raise UsageError(f"--confidence takes a percentage from 50 to 99.99, not {confidence}")
    if method is not None and method not in INTERVAL_METHODS:
        raise UsageError(f"--interval takes {_INTERVAL_METHODS_TEXT}, not {method}")
    return Resampling(
        resamples=int(resamples),
        seed=int(seed),
        confidence=float(confidence),
        method=cast(IntervalMethod, method) if method else UNSET,
        can_grow=UNSET if "--bootstrap" in line else True,
        clusters=read_clusters(line.text("--clusters")) if "--clusters" in line else UNSET,
    )


def read_test_settings(line: CommandLine) -> Resampling | None:
    """Return the settings of resampling and of tests from the options of a command that needs --bootstrap for both.

    The settings of tests are the correction for testing many pairs (--correction) and the system with which all others
    are compared (--baseline). The result is None if --bootstrap was not typed. Raises UsageError for impossible values,
    and for an option that has no effect without --bootstrap.
    """
    resampling = read_resampling(line)
    if resampling is not None:
        return _with_test_options(resampling, line)
    _read_correction(line)  # an impossible value is reported before the missing option
    option = line.first_typed_option(TEST_OPTIONS)
    if option is not None:
        raise UsageError(f"{option} is about tests: give --bootstrap N, too")
    return None


def read_test_settings_with_defaults(line: CommandLine) -> Resampling:
    """Return the settings of resampling and of tests from the options of a command that always tests differences.

    Raises UsageError for impossible values.
    """
    return _with_test_options(read_resampling_with_defaults(line), line)


def _with_test_options(resampling: Resampling, line: CommandLine) -> Resampling:
    """Return a copy of the settings of resampling with the values of --correction and --baseline.

    Raises UsageError for an unknown correction.
    """
    correction = _read_correction(line)
    baseline = line.get("--baseline")
    return replace(resampling, correction=correction or UNSET, baseline=baseline or UNSET)


def _read_correction(line: CommandLine) -> Correction | None:
    """Return the value of --correction, None if it was not typed. Raises UsageError for an unknown correction."""
    correction = line.get("--correction")
    if correction is not None and correction not in statistics.CORRECTIONS:
        raise UsageError(f"--correction takes {', '.join(statistics.CORRECTIONS)}, not {correction}")
    return cast("Correction | None", correction)


def read_measures(line: CommandLine) -> tuple[str, ...]:
    """Return the names and patterns of measures in all values of --measure: `("LDC-MEAN-ALL-Macro-F1", "SF-*")`."""
    measures: list[str] = []
    for text in line.texts("--measure"):
        measures.extend(name.strip() for name in text.split(","))
    return tuple(measures)


def read_top(line: CommandLine) -> int | None:
    """Return the value of --top, the number of mistakes or units to list; None if it was not typed.

    Raises UsageError if the value is not a whole number above 0.
    """
    return whole_number(line, "--top", LARGEST_NUMBER)


def whole_number(line: CommandLine, name: str, largest: int) -> int | None:
    """Return the value of an option that takes a whole number from 1 to `largest`; None if it was not typed.

    Raises UsageError for any other value.
    """
    text = line.get(name)
    if text is None:
        return None
    is_whole = text.isascii() and text.isdecimal() and len(text) <= len(str(largest))
    if not is_whole or not 1 <= int(text) <= largest:
        raise UsageError(f"{name} {text}: a whole number from 1 to {largest} is needed")
    return int(text)


def positive_number(line: CommandLine, name: str) -> float | None:
    """Return the value of an option that takes a number above 0; None if it was not typed. Raises UsageError."""
    text = line.get(name)
    if text is None:
        return None
    from cs_score.base.numbers import is_decimal_number

    number = float(text) if is_decimal_number(text) else 0.0
    if not 0 < number < math.inf:
        raise UsageError(f"{name} {text}: a number above 0 is needed, such as 0.02")
    return number


class Scoring:
    """The options of a command line for scoring Cold Start runs: edition, policy, and all other switches.

    Every property raises UsageError if the value of a switch is wrong.
    """

    def __init__(self, line: CommandLine) -> None:
        """Keep the command line; its options are read when a property is used."""
        self.line = line

    @cached_property
    def edition(self) -> Edition:
        """The edition of the scorer that is followed.

        UsageError is raised if the command line has a switch or a measure that this edition does not have.
        """
        name = self.line.text("--follow", LATEST.name)
        edition = edition_of(name, self.line.text("--mention-types", AS_GIVEN))
        if not edition.has_limits and "-justifications" in self.line:
            editions_with_limits = [candidate.name for candidate in EDITIONS.values() if candidate.has_limits]
            raise UsageError(
                f"ERROR: Unknown switch: -justifications; version {edition.name} has no such switch; "
                f"{', '.join(editions_with_limits)} have it"
            )
        ranked_measure = self._measure_of_rankings()
        if ranked_measure is not None and not edition.has_rankings:
            editions_with_rankings = [candidate.name for candidate in EDITIONS.values() if candidate.has_rankings]
            raise UsageError(
                f"{ranked_measure}: version {edition.name} has no average precision; "
                f"{', '.join(editions_with_rankings)} have it"
            )
        return edition

    def _measure_of_rankings(self) -> str | None:
        """Return the first value of --measure or --min with the name of an average precision, such as `SF-AP`.

        The result is None if there is none.
        """
        for option in ("--measure", "--min"):
            for text in self.line.texts(option):
                if re.search(r"-AP\b", text):
                    return text
        return None

    @cached_property
    def defaults(self) -> Mapping[str, str]:
        """The defaults of `-right`, `-wrong`, `-ignore` and `-justifications` for this command line.

        They come from the policy that --policy names, or else from the edition.
        """
        edition = self.edition
        policy_text = self.line.get("--policy")
        if policy_text is None:
            policy = self._policy_of_edition()
            limits = DEFAULT_OPTIONS.justifications
        elif "=" in policy_text:
            named_policy = self._read_own_policy(policy_text)
            policy = named_policy.policy
            limits = named_policy.justifications
        else:
            preset = coldstart.find_preset(policy_text)
            policy = preset.policy
            limits = preset.justifications
        default_by_switch = {f"-{side.lower()}": text for side, text in policy.texts().items()}
        default_by_switch["-justifications"] = str(limits) if edition.has_limits else "M:M"
        return default_by_switch

    def _policy_of_edition(self) -> Policy:
        """Return the policy that is in force if the command line names none."""
        return Policy(wrong=self.edition.wrong, ignore=self.edition.ignore)

    def _read_own_policy(self, text: str) -> NamedPolicy:
        """Return the policy of a text such as `right=CORRECT,justifications=1:3`.

        It may have a name: `strict:right=CORRECT`. Parts that are left out come from the edition. Raises UsageError.
        """
        before_first_part, _, _ = text.partition("=")
        if ":" not in before_first_part:
            text = f"own:{text}"  # a policy needs a name to be read
        base = Options(follow=self.edition.name, justifications=DEFAULT_OPTIONS.justifications)
        texts_of_edition = self._policy_of_edition().texts()
        policies = coldstart.read_policies([text], base, texts_of_edition, "--policy")
        return policies[0]

    @cached_property
    def options(self) -> Options:
        """The scoring options, with the values of the switches or their defaults."""
        # The policy comes before the other options, so that its faults are reported first.
        sides = {}
        for switch in POLICY_SWITCHES:
            name = switch.removeprefix("-")
            sides[name] = split_at_colons(self.line.text(switch, self.defaults[switch]))
        policy = Policy(**sides)

        values: dict[str, Any] = {}
        for option in SWITCHES:
            if option.is_policy_side:
                continue
            if option.is_flag:
                values[option.name] = option.switch in self.line
                continue
            text = self.line.get(option.switch)
            if text is None:
                text = self.defaults.get(option.switch, option.default_text)
            values[option.name] = None if text is None else option.from_text(text)
        metrics = resampled_metrics(self.layout.fields)
        return Options(policy=policy, metrics=metrics, **values)

    @property
    def run_ids(self) -> tuple[str, ...] | None:
        """The run ids that -runids names; None if all runs are scored."""
        return self.options.runids

    @property
    def layout(self) -> ColumnLayout:
        """The columns of the tables (-fields), and whether tabs separate them (-tabs)."""
        fields = split_at_colons(self.line.text("-fields", DEFAULTS["-fields"]))
        return ColumnLayout(fields, is_tab_separated="-tabs" in self.line)

    @property
    def policy_texts(self) -> dict[str, str]:
        """The values of the three switches of a policy as texts, by `RIGHT`, `WRONG` and `IGNORE`."""
        texts = {}
        for switch in POLICY_SWITCHES:
            side = switch.removeprefix("-").upper()
            texts[side] = self.line.text(switch, self.defaults[switch])
        return texts


# ---- Parts of helps

EXAMPLE: Final = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab submissions/tide-kb.tab.txt"
"""A run of the samples, with its queries and assessments."""

EXAMPLE_OF_TWO: Final = f"{EXAMPLE} submissions/gull-sf.tab.txt"
EXAMPLE_OF_GOLD: Final = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab"

FILES: Final = (
    "Any number of query files (names ending in .xml, perhaps compressed), assessment files, runs and knowledge bases, "
    "which are recognised by their first lines; a folder stands for its files *.tab.txt. Parent lines must come before "
    "the lines below them."
)
FILES_OF_EVIDENCE: Final = "Gold and predictions in this order, where --gold and --predictions do not name them"


def _output_file_rows() -> list[tuple[str, str]]:
    """Return a row of help for each output file of the scorer: its name, its content, and its switch."""
    rows = []
    for output in OUTPUTS:
        meaning = output.content
        if output.switch:
            meaning += f"; with {output.switch}"
        rows.append((f"PREFIX.{output.ending}", f"{meaning}."))
    return rows


def _policy_item_rows() -> list[tuple[str, str]]:
    """Return a row of help for each category of responses: its name, its meaning, and the switches that take it."""
    rows = []
    for name, item in coldstart.POLICY_CATEGORIES.items():
        switches = sorted(f"-{side.lower()}" for side in item.sides)
        rows.append((name, f"{item.meaning}. Legal for {', '.join(switches)}."))
    return rows


OUTPUT_FILES: Final[Section] = ("Output files are", _output_file_rows())
FIELDS: Final[Section] = ("Fields are", [(name, f"{field.meaning}.") for name, field in SCORE_FIELDS.items()])
POLICIES: Final[Section] = (
    "Named policies are",
    [(name, f"{preset.meaning}: {preset}.") for name, preset in PRESETS.items()],
)
POLICY_FORM: Final[Section] = (
    "Policies",
    f"A policy is NAME:{_POLICY_OF_OURS}, parts left out being those of the switches, or one of these names:",
)
LEGEND: Final[tuple[Section, Section]] = (
    ("Disciplines are", [(name, f"{meaning}.") for name, meaning in coldstart.DISCIPLINES.items()]),
    ("Policy options are", _policy_item_rows()),
)
"""The values that the switches `-discipline`, `-right`, `-wrong` and `-ignore` take."""
