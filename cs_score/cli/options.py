"""The options that several commands share, and what they ask for. Loads no scoring code, so that help is quick."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import UNSET
from msgspec.inspect import IntType, type_info

from cs_score.base.errors import UsageError
from cs_score.base.outputs import OwnOption
from cs_score.base.records import Record, replace
from cs_score.base.sources import Input, plain_name
from cs_score.cli.core import FORCE, Command, Line, Option, Parameter, Section
from cs_score.coldstart.editions import EDITIONS, LATEST, Edition
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import (
    AS_GIVEN,
    DISCIPLINES,
    MENTION_TYPES,
    POLICY_ITEMS,
    PRESETS,
    Justifications,
    Options,
    Policy,
    edition_of,
    find_preset,
    listed,
    read_policies,
)
from cs_score.coldstart.outputs import DEFAULT_FIELDS, OUTPUTS, SCORE_FIELDS, Layout, report_text, resampled_metrics
from cs_score.measures.registry import COLD_START_MODE, names, rankable
from cs_score.problems.log import Problem
from cs_score.statistics.options import (
    CORRECTIONS,
    DEFAULT_RESAMPLES,
    FEWEST_FOR_HSD,
    INTERVAL_METHODS,
    Correction,
    IntervalMethod,
    Resampling,
)
from cs_score.statistics.units import read_clusters
from cs_score.tasks import COLD_START, task_named

if TYPE_CHECKING:
    from cs_score.analysis.evidence.task import EvidenceTask

MOST_RESAMPLES: Final = 1_000_000
"""More would need gigabytes for the scores alone, and would show no more about the test set."""

MOST_PARTS: Final = 1024
PART: Final = 2 << 20
"""Bytes of assessments and runs that make one part. Scoring it takes some thirty times as much memory."""

_COMPRESSION: Final = 6
"""A compressed file holds about this many times its size."""

PROGRAM: Final = "cs-score"

DEFAULTS: Final = {
    "-discipline": "ASSESSED",
    "-error_file": "stderr",
    "-fields": ":".join(DEFAULT_FIELDS),
    "-ignore": "UNASSESSED:DUPLICATE",
    "-justifications": "1:3",
    "-output_file": "stdout",
    "-right": "CORRECT",
    "-wrong": "INCORRECT:INCORRECT_PARENT:INEXACT",
}


def _with_default(name: str, value: str, help_text: str, choices: Sequence[str] = ()) -> Option:
    return Option(name, value, help_text, DEFAULTS[name], choices)


def _side(name: str, help_text: str) -> Option:
    legal = [item for item, kind in POLICY_ITEMS.items() if name[1:].upper() in kind.sides]
    return _with_default(name, "LIST", f"Colon-separated categories that {help_text}", legal)


_EDITIONS: Final = ", ".join(f"{each.name} ({each.scored})" for each in EDITIONS.values())
_COMPARED: Final = f"none, {DEFAULT_RESAMPLES} or more to compare"
_METHODS: Final = " or ".join(INTERVAL_METHODS)

INTERVALS: Final = (
    Option("--bootstrap", "N", "Bootstrap resamples of intervals and tests; comparisons always have some", _COMPARED),
    Option("--seed", "S", "Seed of the resamples, a whole number", "0"),
    Option("--confidence", "PERCENT", "Confidence of the intervals, 50 to 99.99", "95"),
    Option(
        "--interval",
        "METHOD",
        f"Interval method, {_METHODS}",
        "percentile, below 20 units bca",
        tuple(INTERVAL_METHODS),
    ),
    Option("--clusters", "FILE", "Units that are drawn together: a table with the columns unit, cluster, [stratum]"),
)
FAMILY: Final = (
    Option(
        "--correction",
        "NAME",
        f"Correction of the tests of all pairs: {', '.join(CORRECTIONS)}",
        f"hsd, below {FEWEST_FOR_HSD} systems holm",
        tuple(CORRECTIONS),
    ),
    Option("--baseline", "RUN", "What to compare with: a run by its name in the result; only pairs with it are tested"),
)
PER_UNIT: Final = Option(
    "--per-unit", "FILE", "Also write cluster, numerator and denominator of each unit by each measure, as .tsv"
)
PER_UNIT_FILE: Final = OwnOption(
    PER_UNIT.long, {".tsv": rb"unit\tcluster\t(stratum\t)?(system\t)?measure\tnumerator\tdenominator\n"}, "units.tsv"
)
PROBLEMS: Final = Option(
    "--problems", "FILE", "Also write every problem to FILE (.json, .tsv or .sarif, perhaps compressed)"
)
RUNIDS: Final = Option("-runids", "LIST", "Colon-separated runs to score, in this order", "all runs")
RUN: Final = Option("--run", "ID", "Of several runs, this one; may be repeated where several are meant", many=True)
JSON: Final = Option("--json", "[FILE.json]", "The whole result as JSON, into FILE; without FILE to standard output")
INCLUSION: Final = Option(
    "--inclusion",
    "FILE",
    "Estimate precision, right answers and their differences for the whole pool from a sample of it; a table of "
    "columns probability and any of query, slot, value, provenance, confidence (at least), prediction; an answer is "
    "of the first line that it fits",
)
SECOND: Final = Option(
    "--second-assessments",
    "FILE",
    "The pool (in tasks of evidence: gold) as a second assessor judged it: agreement, scores and ranks under either, "
    "intervals that also draw the assessor",
)
ALL: Final = Option("--all", None, "All measures, and all lists in full")
POLICY: Final = Option(
    "--policy",
    "NAME",
    "The policy: kb, sf or right=A:B,wrong=C,ignore=D,justifications=1:3; switches take precedence",
    choices=tuple(PRESETS),
)
ALSO: Final = Option(
    "--also-policy",
    "NAME[:LIST]",
    "Also score under this policy; may be repeated; see below",
    choices=tuple(PRESETS),
    many=True,
)
KNOWLEDGE_BASE: Final = Option(
    "--knowledge-base", "FILE", "Validate and resolve this knowledge base, and score it; may be repeated", many=True
)

SCORING: Final = (
    _with_default("-discipline", "NAME", "How a response finds its assessment; see below", tuple(DISCIPLINES)),
    Option("-expand", "BASE", "Split queries by entry point; BASE begins the names of the queries made"),
    _side("-ignore", "are left out; see below"),
    _with_default(
        "-justifications", "A:B", "Justifications that count: A for each node and document, B for each node; 0-9 or M"
    ),
    Option("-queries", "LIST", "File or colon-separated list of the queries to score", "all queries"),
    _side("-right", "count as right"),
    _side("-wrong", "count as wrong"),
    Option(
        "--follow", "VERSION", f"Edition of the reference whose rules apply: {_EDITIONS}", LATEST.name, tuple(EDITIONS)
    ),
    Option(
        "--mention-types",
        "NAME",
        "How to read pools without mention types; assume-name counts their answers as names",
        AS_GIVEN,
        tuple(MENTION_TYPES),
    ),
)
"""The switches that say how a run is scored."""

OF_A_BATCH: Final = (
    *SCORING,
    _with_default("-fields", "LIST", "Colon-separated columns of the tables; see below", tuple(DEFAULT_FIELDS)),
    RUNIDS,
    Option("-samples", "FILE", "File of bootstrap resamples"),
    Option("-tabs", None, "Separate columns by one tab instead of aligning them"),
    PROBLEMS,
    FORCE,
    Option("--validate", None, "Validate runs before they are scored, as cs-score validate-run does"),
    *INTERVALS,
)
"""The switches that a batch takes, too."""

OF_A_CALL: Final = (
    *OF_A_BATCH,
    POLICY,
    KNOWLEDGE_BASE,
    Option("--jobs", "N", "Processes on this machine", "the number of processors"),
    Option(
        "--parts",
        "N",
        "Divide the queries of a large run into N parts; 1: do not divide",
        f"one for each {PART >> 20} MB",
    ),
)
"""The switches of every call that scores as the reference does."""

SWITCHES: Final = (
    *OF_A_CALL,
    _with_default("-error_file", "FILE", "Where to report problems: a new file, stdout or stderr"),
    _with_default("-output_file", "PREFIX", "Prefix of the files to write, or stdout or stderr"),
    JSON,
)
POLICY_SWITCHES: Final = ("-ignore", "-right", "-wrong")


def read_resampling(line: Line, *, always: bool = False) -> Resampling | None:
    """The settings that the options given ask for; None where they ask for no resampling and it is not done `always`.

    Raises UsageError for impossible values, and for settings of a bootstrap that was not asked for.
    """
    if "--bootstrap" not in line.switches and not always:
        for option in INTERVALS:
            if option.long in line.switches:
                raise UsageError(f"{option.long} is about intervals: give --bootstrap N, too")
        return None
    resamples, seed = line.text("--bootstrap", str(DEFAULT_RESAMPLES)), line.text("--seed", "0")
    confidence, method = line.text("--confidence", "95"), line.switches.get("--interval")
    whole = re.compile(r"[0-9]{1,100}")
    if not whole.fullmatch(resamples) or not 1 <= int(resamples) <= MOST_RESAMPLES:
        raise UsageError(f"--bootstrap takes a whole number from 1 to {MOST_RESAMPLES}, not {resamples}")
    if not whole.fullmatch(seed):
        raise UsageError(f"--seed takes a whole number of at least 0, not {seed}")
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{0,15})?", confidence):
        raise UsageError(f"--confidence takes a percentage from 50 to 99.99, not {confidence}")
    if method is not None and method not in INTERVAL_METHODS:
        raise UsageError(f"--interval takes {_METHODS}, not {method}")
    return Resampling(
        int(resamples),
        int(seed),
        float(confidence),
        cast(IntervalMethod, method) if method else UNSET,
        can_grow=True if "--bootstrap" not in line.switches else UNSET,
        clusters=read_clusters(line.text("--clusters")) if "--clusters" in line.switches else UNSET,
    )


def read_tests(line: Line, *, always: bool = False) -> Resampling | None:
    """What `read_resampling` reads, with the family of tests that the options ask for. Raises UsageError."""
    found, correction = read_resampling(line, always=always), line.switches.get("--correction")
    if correction is not None and correction not in CORRECTIONS:
        raise UsageError(f"--correction takes {', '.join(CORRECTIONS)}, not {correction}")
    if found is None:
        for option in (each.long for each in FAMILY if each.long in line.switches):
            raise UsageError(f"{option} is about tests: give --bootstrap N, too")
        return None
    baseline = line.switches.get("--baseline") or UNSET
    return replace(found, correction=cast(Correction, correction) if correction else UNSET, baseline=baseline)


def measure_option(task: str) -> Option:
    """The option that chooses measures of a task."""
    return Option(
        "--measure",
        "NAME",
        "The measure to report; where several make sense, names and patterns ('*F1') separated by commas, or the "
        "option again",
        "the headline measure",
        cold_start_measures if task == COLD_START_MODE else partial(names, task),
        many=True,
    )


def read_measures(line: Line) -> tuple[str, ...]:
    """The names and patterns given; none where the option was not."""
    return tuple(name.strip() for asked in line.texts("--measure") for name in asked.split(","))


class Division(Record):
    """How many parts and processes were asked for; None: not said."""

    parts: int | None
    jobs: int | None

    def parts_of(self, files: Sequence[Input]) -> int:
        """Parts to score these runs and assessments in; 1 where a file can be read only once."""
        paths = [member for word in files for member in members(word)]
        if not all(isinstance(path, str) and os.path.isfile(path) for path in paths):
            return 1
        sizes = [os.path.getsize(path) * (1 if plain_name(path) == path else _COMPRESSION) for path in map(str, paths)]
        return self.parts or min(MOST_PARTS, sum(sizes) // PART) or 1


def read_division(line: Line) -> Division:
    """What the command line says. Raises UsageError."""
    return Division(whole_number(line, "--parts", MOST_PARTS), whole_number(line, "--jobs", MOST_PARTS))


def options_of(line: Line, defaults: Mapping[str, str] = DEFAULTS) -> Options:
    """The options that the switches ask for. Raises UsageError for an impossible policy or limit."""
    policy = Policy(**{name.removeprefix("-"): listed(line.text(name, defaults[name])) for name in POLICY_SWITCHES})
    return Options(
        discipline=line.text("-discipline", DEFAULTS["-discipline"]),
        expand=line.switches.get("-expand"),
        justifications=Justifications.parse(line.text("-justifications", defaults["-justifications"])),
        policy=policy,
        queries=line.switches.get("-queries"),
        runids=listed(line.text("-runids", "")) or None,
        samples=line.switches.get("-samples"),
        metrics=resampled_metrics(layout_of(line).fields),
        follow=line.text("--follow", LATEST.name),
        mention_types=line.text("--mention-types", AS_GIVEN),
    )


def layout_of(line: Line) -> Layout:
    """How tables are laid out."""
    return Layout(listed(line.text("-fields", DEFAULTS["-fields"])), "-tabs" in line.switches)


def policy_texts(line: Line, defaults: Mapping[str, str] = DEFAULTS) -> dict[str, str]:
    """IGNORE, RIGHT and WRONG as they were typed."""
    return {name.removeprefix("-").upper(): line.text(name, defaults[name]) for name in POLICY_SWITCHES}


def edition_followed(line: Line) -> Edition:
    """The edition that is followed. Raises UsageError for switches and measures that it lacks."""
    edition = edition_of(line.text("--follow", LATEST.name), line.text("--mention-types", AS_GIVEN))
    if not edition.has_limits and "-justifications" in line.switches:
        with_it = ", ".join(other.name for other in EDITIONS.values() if other.has_limits)
        raise UsageError(
            f"ERROR: Unknown switch: -justifications; version {edition.name} has no such switch; {with_it} have it"
        )
    asked = [text for name in ("--measure", "--min") if name in line.switches for text in line.texts(name)]
    ranked = next((text for text in asked if re.search(r"-AP\b", text)), None)
    if ranked is not None and not edition.has_rankings:
        with_it = ", ".join(other.name for other in EDITIONS.values() if other.has_rankings)
        raise UsageError(f"{ranked}: version {edition.name} has no average precision; {with_it} have it")
    return edition


def defaults_of(line: Line, policy_option: str | None = POLICY.long) -> Mapping[str, str]:
    """What counts where the switches of a policy are not given: the policy of an option, if there is one, otherwise
    that of the edition that is followed.

    Raises UsageError for a policy that has no name, and for switches that the edition lacks.
    """
    edition = edition_followed(line)
    given = None if policy_option is None else line.switches.get(policy_option)
    policy = Policy(wrong=edition.wrong, ignore=edition.ignore)
    limits = Justifications.parse(DEFAULTS["-justifications"])
    if given is not None and "=" in given:
        base = Options(follow=edition.name, justifications=limits)
        name = "" if ":" in given.partition("=")[0] else "own:"
        [named] = read_policies([f"{name}{given}"], base, policy.texts(), str(policy_option))
        policy, limits = named.policy, named.justifications
    elif given is not None:
        policy, limits = find_preset(given).policy, find_preset(given).justifications
    sides = {f"-{side.lower()}": text for side, text in policy.texts().items()}
    return {**DEFAULTS, **sides, "-justifications": str(limits) if edition.has_limits else "M:M"}


# ---- The tasks of evidence


def evidence_task(name: str) -> EvidenceTask:
    """A task of evidence by its name."""
    return cast("EvidenceTask", task_named(name))


def own_options(task: str) -> tuple[Option, ...]:
    """The options that a task of evidence has alone: the fields of its record."""
    return tuple(
        Option(option_of_field(name), None if shown is None else "N", help_text, shown)
        for name, (help_text, shown, _) in _fields_of(task).items()
    )


def own_arguments(task: str, line: Line) -> dict[str, Any]:
    """The arguments that these options give. Raises UsageError."""
    found: dict[str, Any] = {}
    for name, (_, shown, most) in _fields_of(task).items():
        option = option_of_field(name)
        found[name] = option in line.switches if shown is None else whole_number(line, option, most) or int(shown)
    return found


def option_of_field(name: str) -> str:
    """The option for a field of a record."""
    return f"--{name.replace('_', '-')}"


def _fields_of(task: str) -> dict[str, tuple[str, str | None, int]]:
    """What a task can choose by name: its meaning, its default (None: it is chosen or not), the largest number."""
    found = {}
    record: Any = type_info(evidence_task(task).mode.options)
    for each in record.fields:
        kind = each.type
        is_number = isinstance(kind.type, IntType)
        help_text = kind.extra_json_schema["description"]
        found[each.name] = help_text, str(each.default) if is_number else None, kind.type.le if is_number else 1
    return found


MOST_SHOWN: Final = 1_000_000_000


TOP: Final = Option("--top", "N", "List at most N mistakes, units or answers", "20 in the text, elsewhere all")


def top_of(line: Line) -> int | None:
    """How many mistakes are to be listed; None where nothing was said. Raises UsageError."""
    return whole_number(line, TOP.long, MOST_SHOWN)


def whole_number(line: Line, name: str, most: int) -> int | None:
    """The value of an option that takes a whole number from 1 on, None where it was not given. Raises UsageError."""
    text = line.switches.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and 1 <= int(text) <= most):
        raise UsageError(f"{name} {text}: a whole number from 1 to {most} is needed")
    return int(text)


def cold_start_measures() -> Iterable[str]:
    """The names of the measures that can be asked about."""
    return map(str, rankable(COLD_START_MODE, True))


def positive_number(line: Line, name: str) -> float | None:
    """The value of an option that takes a number above 0, None where it was not given. Raises UsageError."""
    text = line.switches.get(name)
    if text is None:
        return None
    if not re.fullmatch(
        r"([0-9]{1,12}\.?|[0-9]{0,12}\.[0-9]{1,15})(e[-+]?[0-9]{1,2})?", text, re.IGNORECASE
    ) or not float(text):
        raise UsageError(f"{name} {text}: a number above 0 is needed, such as 0.02")
    return float(text)


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


# ---- Commands of a verb and a task

EXAMPLE: Final = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab submissions/tide-kb.tab.txt"
"""A run of the samples, with its queries and assessments."""

EXAMPLE_OF_TWO: Final = f"{EXAMPLE} submissions/gull-sf.tab.txt"


def task_command(
    verb: str, task: str, body: Callable[[str, Line], int], options: Iterable[Option], *, files: str,
    sections: Sequence[Section] = (), of_runs: Callable[[], Sequence[Section]] = tuple, summary: str = "",
    example: str = EXAMPLE, is_file_needed: bool = True, **more: Any,
) -> Command:  # fmt: skip
    """The command: `files` say what its words are, of which Cold Start wants one unless it is not `is_file_needed`.

    `sections` are parts of its help, `of_runs` further ones for Cold Start; `summary` and `example` are those of
    evidence and of Cold Start: the others are those of their tables.
    """
    words = Parameter("files", files, is_optional=task != COLD_START or not is_file_needed, is_repeated=True)
    run = partial(body, task)
    if task == COLD_START:
        return Command(
            verb, options, (words,), sections=lambda: (*sections, *of_runs(), *legend()), body=run, example=example,
            **more,
        )  # fmt: skip
    evidence = evidence_task(task)
    return Command(
        task if verb == "score" else f"{verb} {task}", (*options, *own_options(task)), (words,), body=run,
        sections=lambda: (*sections, ("Files", evidence.files)), summary=summary or evidence.summary, **more,
    )  # fmt: skip


# ---- Parts of helps

FILES: Final = (
    "Any number of query files (names ending in .xml, perhaps compressed), assessment files, runs and knowledge bases, "
    "which are recognised by their first lines; a folder stands for its files *.tab.txt. Parent lines must come before "
    "the lines below them."
)


def outputs() -> Section:
    """What is written behind the prefix of the switch `-output_file`."""
    rows = (
        (f"PREFIX.{one.ending}", f"{one.content}; with {one.switch}" if one.switch else one.content) for one in OUTPUTS
    )
    return "Output files are", [(name, f"{content}.") for name, content in rows]


def fields() -> Section:
    """What the switch `-fields` takes."""
    return "Fields are", [(name, f"{field.meaning}.") for name, field in SCORE_FIELDS.items()]


def policies() -> Section:
    """What the option `--policy` takes."""
    return "Named policies are", [(name, f"{preset.meaning}: {preset}.") for name, preset in PRESETS.items()]


def policy_form() -> Section:
    """What the option `--policy` takes where several policies can be given."""
    return (
        "Policies",
        "A policy is NAME:right=A:B,wrong=C,ignore=D,justifications=1:3, parts left out being those of the switches, "
        "or one of these names:",
    )


def legend() -> tuple[Section, Section]:
    """What the switches `-discipline`, `-right`, `-wrong` and `-ignore` take."""
    return (
        ("Disciplines are", [(name, f"{meaning}.") for name, meaning in DISCIPLINES.items()]),
        (
            "Policy options are",
            [
                (name, f"{item.meaning}. Legal for {', '.join('-' + side.lower() for side in sorted(item.sides))}.")
                for name, item in POLICY_ITEMS.items()
            ],
        ),
    )
