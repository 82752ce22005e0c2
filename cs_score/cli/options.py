"""The options that several commands share, and what they ask for. Loads no scoring code, so that help is quick."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias, cast

from msgspec import UNSET
from msgspec.inspect import FloatType, IntType, LiteralType, Metadata, NoneType, StrType, UnionType, type_info

from cs_score.base.errors import UsageError, nearest
from cs_score.base.numbers import is_decimal_number
from cs_score.base.outputs import OwnOption
from cs_score.base.records import replace
from cs_score.cli.core import FORCE, Command, Line, Option, Parameter, Section
from cs_score.coldstart import options as coldstart
from cs_score.coldstart.options import (
    AS_GIVEN,
    EDITIONS,
    LATEST,
    PRESETS,
    SWITCHES,
    USUAL,
    Edition,
    Options,
    Policy,
    ScoringOption,
    edition_of,
    listed,
)
from cs_score.coldstart.outputs import DEFAULT_FIELDS, OUTPUTS, SCORE_FIELDS, Layout, report_text, resampled_metrics
from cs_score.measures.registry import COLD_START_MODE, names, rankable
from cs_score.problems.log import Problem
from cs_score.statistics import options as statistics
from cs_score.statistics.options import INTERVAL_METHODS, Correction, IntervalMethod, Resampling
from cs_score.statistics.units import read_clusters
from cs_score.tasks import COLD_START, TASKS, mode_named, stage_named

MOST_RESAMPLES: Final = 1_000_000
"""More would need gigabytes for the scores alone, and would show no more about the test set."""

MOST_SHOWN: Final = 1_000_000_000

PART: Final = 2 << 20
"""Bytes of assessments and runs that make one part. Scoring it takes some thirty times as much memory."""

DEFAULTS: Final = {"-error_file": "stderr", "-fields": ":".join(DEFAULT_FIELDS), "-output_file": "stdout"}
"""The values that count where switches of the scorer are not given, beside those of the options of scoring."""

SCORING: Final = " ".join([option.switch for option in SWITCHES if not option.of_calls])
"""The switches that say how a run is scored."""

INTERVALS: Final = "--bootstrap --seed --confidence --interval --clusters"
FAMILY: Final = "--correction --baseline"
_OF_CALLS: Final = " ".join([option.switch for option in SWITCHES if option.of_calls])
OF_A_BATCH: Final = f"{SCORING} {_OF_CALLS} -fields -tabs --problems --force --validate {INTERVALS}"
"""The switches of a call that scores as the reference does, and of a batch."""

OF_A_CALL: Final = f"{OF_A_BATCH} --policy --knowledge-base --jobs --parts"
POLICY_SWITCHES: Final = tuple(sorted([option.switch for option in SWITCHES if option.is_side]))


def _known(spelt: str, help_text: str, choices: Iterable[str] = ()) -> Option:
    return Option(spelt, help_text, DEFAULTS[spelt.partition(" ")[0]], tuple(choices))


def _of_scoring(option: ScoringOption) -> Option:
    """Return an option of scoring as commands have it."""
    spelt = option.switch if option.is_flag else f"{option.switch} {option.value_name}"
    return Option(spelt, option.meaning, option.shown_default or option.default_text, option.choices)


_METHODS: Final = " or ".join(INTERVAL_METHODS)
_POLICY_OF_OURS: Final = "right=A:B,wrong=C,ignore=D,justifications=1:3"

_HEADLINE: Final = "the headline measure"


def _measures(task: str) -> Iterable[str]:
    """The measures of a task that can be asked about."""
    if task == COLD_START:
        return map(str, rankable(COLD_START_MODE))
    return names(task) if task in TASKS else ()


_SHARED: Final = (
    *[_of_scoring(option) for option in SWITCHES],
    _known("-error_file FILE", "Where to report problems: a new file, stdout or stderr"),
    _known("-fields LIST", "Colon-separated columns of the tables; see below", DEFAULT_FIELDS),
    _known("-output_file PREFIX", "Prefix of the files to write, or stdout or stderr"),
    Option("-tabs", "Separate columns by one tab instead of aligning them"),
    Option("--all", "All measures, and all lists in full"),
    Option(
        "--also-policy NAME[:LIST]...", "Also score under this policy; may be repeated; see below", choices=[*PRESETS]
    ),
    Option("--baseline RUN", "What to compare with: a run by its name in the result; only pairs with it are tested"),
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
        "columns probability and any of query, slot, value, provenance, confidence (at least), prediction; an "
        "answer is of the first line that it fits",
    ),
    Option(
        "--interval METHOD",
        f"Interval method, {_METHODS}",
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
        _measures,
    ),
    Option(
        "--measure NAME...",
        "The measure to report; where several make sense, names and patterns ('*F1') separated by commas, or the "
        "option again",
        _HEADLINE,
        _measures,
    ),
    Option(
        "--min MEASURE=N...",
        "Minimum of a measure, or of those that match a pattern; may be repeated",
        choices=_measures,
    ),
    Option(
        "--parts N", "Divide the queries of a large run into N parts; 1: do not divide", f"one for each {PART >> 20} MB"
    ),
    Option("--per-unit FILE", "Also write cluster, numerator and denominator of each unit by each measure, as .tsv"),
    Option("--policy NAME", f"The policy: kb, sf or {_POLICY_OF_OURS}; switches take precedence", choices=[*PRESETS]),
    Option("--predictions FILE", "The system's output; - is standard input"),
    Option("--primary NAME", "The measure that decides; all others are exploratory", _HEADLINE, _measures),
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
_BY_NAME: Final = {option.long: option for option in _SHARED}


def taken(wanted: str, own: Iterable[Option] = ()) -> list[Option]:
    """The options of these names, shared ones and a command's `own`."""
    known = _BY_NAME | {option.long: option for option in own}
    return [known[name] for name in wanted.split()]


PER_UNIT: Final = OwnOption(
    "--per-unit", {".tsv": rb"unit\tcluster\t(stratum\t)?(system\t)?measure\tnumerator\tdenominator\n"}, "units.tsv"
)


def read_resampling(line: Line, *, always: bool = False, with_family: bool = False) -> Resampling | None:
    """The settings that the options ask for, with those of a family of tests where the command has them.

    None where they ask for no resampling and it is not done `always`. Raises UsageError for impossible values, and for
    settings of a bootstrap that was not asked for.
    """
    found: Resampling | None = None
    if always or "--bootstrap" in line:
        resamples, seed = line.text("--bootstrap", str(statistics.DEFAULT_RESAMPLES)), line.text("--seed", "0")
        confidence, method = line.text("--confidence", "95"), line.get("--interval")
        whole = re.compile(r"[0-9]{1,100}")
        if not whole.fullmatch(resamples) or not 1 <= int(resamples) <= MOST_RESAMPLES:
            raise UsageError(f"--bootstrap takes a whole number from 1 to {MOST_RESAMPLES}, not {resamples}")
        if int(resamples) > statistics.MANY_RESAMPLES and "--force" not in line:
            raise UsageError(statistics.many_resamples_refused(f"--bootstrap {resamples}", "--force"))
        if not whole.fullmatch(seed):
            raise UsageError(f"--seed takes a whole number of at least 0, not {seed}")
        from cs_score.base.numbers import is_decimal_number  # scoring starts without it

        if not is_decimal_number(confidence):
            raise UsageError(f"--confidence takes a percentage from 50 to 99.99, not {confidence}")
        if method is not None and method not in INTERVAL_METHODS:
            raise UsageError(f"--interval takes {_METHODS}, not {method}")
        found = Resampling(
            int(resamples), int(seed), float(confidence), cast(IntervalMethod, method) if method else UNSET,
            can_grow=True if "--bootstrap" not in line else UNSET,
            clusters=read_clusters(line.text("--clusters")) if "--clusters" in line else UNSET,
        )  # fmt: skip
    elif name := line.first(INTERVALS):
        raise UsageError(f"{name} is about intervals: give --bootstrap N, too")
    if not with_family:
        return found
    correction = line.get("--correction")
    if correction is not None and correction not in statistics.CORRECTIONS:
        raise UsageError(f"--correction takes {', '.join(statistics.CORRECTIONS)}, not {correction}")
    if found is None:
        if name := line.first(FAMILY):
            raise UsageError(f"{name} is about tests: give --bootstrap N, too")
        return None
    chosen = cast(Correction, correction) if correction else UNSET
    return replace(found, correction=chosen, baseline=line.get("--baseline") or UNSET)


def read_measures(line: Line) -> tuple[str, ...]:
    """The names and patterns given; none where the option was not."""
    return tuple(name.strip() for asked in line.texts("--measure") for name in asked.split(","))


def top_of(line: Line) -> int | None:
    """How many mistakes are to be listed; None where nothing was said. Raises UsageError."""
    return whole_number(line, "--top", MOST_SHOWN)


def whole_number(line: Line, name: str, most: int) -> int | None:
    """The value of an option that takes a whole number from 1 on, None where it was not given. Raises UsageError."""
    text = line.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
        raise UsageError(f"{name} {text}: a whole number from 1 to {most} is needed")
    return int(text)


def positive_number(line: Line, name: str) -> float | None:
    """The value of an option that takes a number above 0, None where it was not given. Raises UsageError."""
    text = line.get(name)
    if text is None:
        return None

    number = float(text) if is_decimal_number(text) else 0.0
    if not 0 < number < math.inf:
        raise UsageError(f"{name} {text}: a number above 0 is needed, such as 0.02")
    return number


class Scoring:
    """How a command line asks that Cold Start runs are scored; every property raises UsageError where it cannot be."""

    def __init__(self, line: Line) -> None:
        self.line = line

    @cached_property
    def edition(self) -> Edition:
        """The edition that is followed. Raises UsageError for switches and measures that it lacks, too."""
        line = self.line
        edition = edition_of(line.text("--follow", LATEST.name), line.text("--mention-types", AS_GIVEN))
        if not edition.has_limits and "-justifications" in line:
            with_it = ", ".join(other.name for other in EDITIONS.values() if other.has_limits)
            raise UsageError(
                f"ERROR: Unknown switch: -justifications; version {edition.name} has no such switch; {with_it} have it"
            )
        asked = [text for name in ("--measure", "--min") if name in line for text in line.texts(name)]
        ranked = next((text for text in asked if re.search(r"-AP\b", text)), None)
        if ranked is not None and not edition.has_rankings:
            with_it = ", ".join(other.name for other in EDITIONS.values() if other.has_rankings)
            raise UsageError(f"{ranked}: version {edition.name} has no average precision; {with_it} have it")
        return edition

    @cached_property
    def defaults(self) -> Mapping[str, str]:
        """What counts where the switches of a policy are not given: --policy, otherwise the edition's own."""
        edition, given = self.edition, self.line.get("--policy")
        policy, limits = Policy(wrong=edition.wrong, ignore=edition.ignore), USUAL.justifications
        if given is not None and "=" in given:
            base = Options(follow=edition.name, justifications=limits)
            name = "" if ":" in given.partition("=")[0] else "own:"
            [named] = coldstart.read_policies([f"{name}{given}"], base, policy.texts(), "--policy")
            policy, limits = named.policy, named.justifications
        elif given is not None:
            policy, limits = coldstart.find_preset(given).policy, coldstart.find_preset(given).justifications
        sides = {f"-{side.lower()}": text for side, text in policy.texts().items()}
        return {**sides, "-justifications": str(limits) if edition.has_limits else "M:M"}

    @cached_property
    def options(self) -> Options:
        """Return the options that the switches ask for."""
        sides = {}
        for switch in POLICY_SWITCHES:
            sides[switch[1:]] = listed(self.line.text(switch, self.defaults[switch]))
        policy = Policy(**sides)  # first, as what is wrong with the policy is said first
        values: dict[str, Any] = {}
        for option in SWITCHES:
            if option.is_side:
                continue
            if option.is_flag:
                values[option.name] = option.switch in self.line
                continue
            text = self.line.get(option.switch)
            if text is None:
                text = self.defaults.get(option.switch, option.default_text)
            values[option.name] = None if text is None else option.parse(text)
        return Options(policy=policy, metrics=resampled_metrics(self.layout.fields), **values)

    @property
    def run_ids(self) -> tuple[str, ...] | None:
        """The runs that -runids names, None for all."""
        return self.options.runids

    @property
    def layout(self) -> Layout:
        """How tables are laid out."""
        return Layout(listed(self.line.text("-fields", DEFAULTS["-fields"])), "-tabs" in self.line)

    @property
    def policy_texts(self) -> dict[str, str]:
        """IGNORE, RIGHT and WRONG as they were typed."""
        return {name[1:].upper(): self.line.text(name, self.defaults[name]) for name in POLICY_SWITCHES}


# ---- The tasks of evidence


class TaskOption(NamedTuple):
    """What a task can choose, as the field of its record of options describes it.

    `name` is the option, `usual` what help shows as the default, None for nothing; `most` the largest whole number.
    """

    field: str
    name: str
    meaning: str
    kind: str
    default: Any
    usual: str | None = None
    most: int = 1
    choices: tuple[str, ...] = ()


_SHARED_WITH_COLD_START: Final = frozenset({"--run"})
"""Options that mean the same where a task of evidence has them."""

_VALUES: Final = {"number": "N", "decimal": "X", "text": "TEXT", "choice": "NAME"}
"""What help calls the value of an option, by the kind of its field; a flag has none."""


def own_options(task: str) -> list[Option]:
    """The options that a task of evidence has alone: the fields of its record, those that others share as these do."""
    options = []
    for own in _own(task):
        if own.name in _SHARED_WITH_COLD_START:
            options.append(_BY_NAME[own.name])
            continue
        value = _VALUES.get(own.kind)
        spelt = own.name if value is None else f"{own.name} {value}"
        options.append(Option(spelt, own.meaning, own.usual, own.choices))
    stages = mode_named(task).stages
    if stages:
        options.append(_stage_option(stages))
    return options


def own_arguments(task: str, line: Line) -> dict[str, Any]:
    """The arguments that these options give. Raises UsageError."""
    return {own.field: _argument(own, line) for own in _own(task)}


def _argument(own: TaskOption, line: Line) -> Any:
    """Return the value of a task's option. Raise UsageError for what it does not take."""
    if own.kind == "flag":
        return own.name in line
    text = line.get(own.name)
    if text is None:
        return own.default
    if own.kind == "number":
        return whole_number(line, own.name, own.most)
    if own.kind == "decimal":
        return positive_number(line, own.name)
    if own.kind == "choice" and text not in own.choices:
        raise UsageError(f"{own.name} takes {', '.join(own.choices)}, not {text}{nearest(text, own.choices)}")
    return text


def _own(task: str) -> Iterator[TaskOption]:
    """Yield the options of a task, by the fields of its record."""
    record: Any = type_info(mode_named(task).options)
    for field in record.fields:
        meaning, type_ = _described(field.type)
        name = f"--{field.name.replace('_', '-')}"
        default = field.default
        if isinstance(type_, IntType):
            most = MOST_SHOWN if type_.le is None else type_.le
            yield TaskOption(field.name, name, meaning, "number", default, str(default), most=most)
        elif isinstance(type_, FloatType):
            yield TaskOption(field.name, name, meaning, "decimal", default, f"{default:g}")
        elif isinstance(type_, LiteralType):
            choices = tuple(map(str, type_.values))
            yield TaskOption(field.name, name, meaning, "choice", default, default, choices=choices)
        elif isinstance(type_, StrType):
            yield TaskOption(field.name, name, meaning, "text", default, default or None)
        else:
            yield TaskOption(field.name, name, meaning, "flag", default)


def _described(type_: Any) -> tuple[str, Any]:
    """Return the description of a field and its type: that of the value where it may also be None."""
    meaning = ""
    if isinstance(type_, Metadata):
        meaning = (type_.extra_json_schema or {}).get("description", "")
        type_ = type_.type
    if isinstance(type_, UnionType):
        types = [each for each in type_.types if not isinstance(each, NoneType)]
        type_ = types[0]
    return meaning, type_


# ---- The problem report

SHOWN_OF_A_CODE: Final = 10
"""Messages of one code that are shown."""


def report_on_stderr(problems: Iterable[Problem], *, twice: bool = False) -> str:
    """The problems as standard error shows them; `twice` where the reference writes its report twice."""
    if sys.stderr is not None and sys.stderr.isatty():
        return "".join(_for_people(problems))
    return "".join(report_text(problems)) * (2 if twice else 1)


def _for_people(problems: Iterable[Problem]) -> Iterator[str]:
    """Messages with their codes; of each code so many, then their number and where to learn more."""
    for code, found in groupby(problems, key=lambda problem: problem.code):
        messages = list(found)
        for text in report_text(messages[:SHOWN_OF_A_CODE]):
            yield f"{text.rstrip()} [{code}]\n"
        if len(messages) > SHOWN_OF_A_CODE:
            yield f"({len(messages) - SHOWN_OF_A_CODE} more of {code}, which cs-score problems {code} explains)\n"


# ---- Parts of helps

EXAMPLE: Final = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab submissions/tide-kb.tab.txt"
"""A run of the samples, with its queries and assessments."""

EXAMPLE_OF_TWO: Final = f"{EXAMPLE} submissions/gull-sf.tab.txt"
EXAMPLE_OF_GOLD: Final = EXAMPLE.rpartition(" ")[0]

FILES: Final = (
    "Any number of query files (names ending in .xml, perhaps compressed), assessment files, runs and knowledge bases, "
    "which are recognised by their first lines; a folder stands for its files *.tab.txt. Parent lines must come before "
    "the lines below them."
)
FILES_OF_EVIDENCE: Final = "Gold and predictions in this order, where --gold and --predictions do not name them"

OUTPUT_FILES: Final[Section] = (
    "Output files are",
    [(f"PREFIX.{one.ending}", f"{one.content}{f'; with {one.switch}' if one.switch else ''}.") for one in OUTPUTS],
)
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
    (
        "Policy options are",
        [
            (name, f"{item.meaning}. Legal for {', '.join('-' + side.lower() for side in sorted(item.sides))}.")
            for name, item in coldstart.POLICY_ITEMS.items()
        ],
    ),
)
"""What the switches `-discipline`, `-right`, `-wrong` and `-ignore` take."""


_SAMPLES: Final = {
    "scifact": ("jsonl", "sentence_label_f1", ""),
    "claims": ("jsonl", "sentence_f1", ""),
    "r4c": ("json", "er_f1", ""),
    "hotpotqa": ("json", "joint_f1", ""),
    "pool": ("csv", "micro-f1", " --policy right=CORRECT,half=PARTIAL,wrong=INCORRECT,ignore=JUDGE_ERROR"),
}
"""The ending of the samples of a task, a measure, and the options that a call on them needs."""


def _example(task: str, words: str) -> str:
    one, two, gold, measure = EXAMPLE, EXAMPLE_OF_TWO, EXAMPLE_OF_GOLD, ""
    if task not in (COLD_START, *_SAMPLES):  # a task of another package, whose files are not among our samples
        one, two, measure = "--gold GOLD --predictions PREDICTIONS", "--gold GOLD A B", mode_named(task).measures[0]
        gold = "--gold GOLD --sample SAMPLE"
    elif task != COLD_START:
        ending, measure, needed = _SAMPLES[task]
        gold = f"--gold assessments/{task}-gold.{ending}{needed}"
        a, b = (f"submissions/{task}-{system}.{ending}" for system in "ab")
        gold_file = gold.removesuffix(needed)
        one, two = f"{gold_file} --predictions {a}{needed}", f"{gold_file} {a} {b}{needed}"
    return words.replace("$ONE", one).replace("$TWO", two).replace("$GOLD", gold).replace("$MEASURE", measure)


def _stage_option(stages: Mapping[str, str]) -> Option:
    """Return the option that chooses a stage of a task."""
    meanings = ", ".join(f"{stage} ({meaning})" for stage, meaning in stages.items())
    return Option("--stage NAME", f"Score a stage of the pipeline by itself: {meanings}", "the whole task", [*stages])


def _run_stage(body: Callable[[str, Line], int], task: str, line: Line) -> int:
    """Do the work of a verb for a task, or for the stage of it that the line names."""
    stage = line.get("--stage")
    return body(task if stage is None else stage_named(task, stage), line)


OF_POLICIES: Final = {"analyze": "--also-policy", "diff": "--policy-b", "report": "--also-policy --policy-b"}
"""The options of verbs that tasks of evidence have only where answers are judged under a policy."""

Pair: TypeAlias = str | tuple[str, str]
"""A text for every task, or one for Cold Start and one for tasks of evidence."""


def verb(
    options: Pair, formats: Pair, *, files: Pair = (FILES, FILES_OF_EVIDENCE), own: Iterable[Option] = (),
    sections: Iterable[Section] = (), of_runs: Iterable[Section] = (), of_evidence: Iterable[Section] = (),
    folder: Pair = "", summary: str = "", example: Pair = "$ONE", needs_files: bool = True, **more: Any,
) -> Callable[[Callable[[str, Line], int]], Callable[[str], Command]]:  # fmt: skip
    """Make the commands of a verb, one for each task, of the function of its name that does the work.

    `options`, shared ones and its `own`, and `formats` have blanks between them; `files` say what the words are.
    `sections` are parts of its help, with others `of_runs` and `of_evidence`; `summary` is that of evidence. Cold Start
    wants a file unless it is not said that it `needs_files`. In the `example` $ONE stands for the files of a run or of
    predictions, $TWO for those of two, $GOLD for gold alone, $MEASURE for a measure.
    """

    def decorated(body: Callable[[str, Line], int]) -> Callable[[str], Command]:
        verb_name = body.__name__.replace("_", " ")  # bundle_codabench is `bundle codabench`

        def command(task: str) -> Command:
            pairs = (options, formats, files, folder, example)
            wanted, known, meaning, place, call = (
                each if isinstance(each, str) else each[task != COLD_START] for each in pairs
            )
            found, sample = taken(wanted, own), _example(task, call)
            if task == COLD_START:
                name, said, below = verb_name, "", (*sections, *of_runs, *LEGEND)
            else:
                mode, name = mode_named(task), task if body.__name__ == "score" else f"{verb_name} {task}"
                said = summary.format(task=task, unit=mode.unit) or mode.summary
                below = (*sections, *of_evidence, ("Files", mode.files))
                found += own_options(task)
                if mode.has_policies:
                    found += taken(OF_POLICIES.get(body.__name__, ""), own)
            words = Parameter("files..." if needs_files and task == COLD_START else "[files...]", meaning)
            return Command(
                name, found, words, body=partial(_run_stage, body, task), sections=below, summary=said, example=sample,
                formats=known.split(), folder=place, **more,
            )  # fmt: skip

        return command

    return decorated
