"""The Cold Start scorer's switches, made from the tables of the library."""

from __future__ import annotations

from typing import Final

from cs_score.cli import parts_options, resampling_options
from cs_score.cli.options import FORCE, Option
from cs_score.coldstart.editions import AS_GIVEN, EDITIONS, LATEST, MENTION_TYPES
from cs_score.coldstart.options import DISCIPLINES, POLICY_ITEMS, PRESETS
from cs_score.coldstart.tables import DEFAULT_FIELDS

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
    **resampling_options.DEFAULTS,
}


def _with_default(name: str, value: str, help_text: str, choices: tuple[str, ...] = ()) -> Option:
    return Option(name, value, help_text, DEFAULTS[name], choices)


def _policy(side: str, help_text: str) -> Option:
    legal = tuple(name for name, item in POLICY_ITEMS.items() if side.upper() in item.sides)
    return _with_default(f"-{side}", "LIST", help_text, legal)


PROBLEMS: Final = Option(
    "--problems", "FILE", "Write every problem to FILE, too: .json, .tsv or .sarif, perhaps packed"
)

SCORING: Final = (
    _with_default("-discipline", "NAME", "How a response finds its assessment; see below", tuple(DISCIPLINES)),
    Option("-expand", "BASE", "Split queries by entry point; BASE begins the names of the queries made"),
    _policy("ignore", "Colon-separated categories that are left out; see below"),
    _with_default(
        "-justifications", "A:B", "Justifications that count: A for each node and document, B for each node; 0-9 or M"
    ),
    Option("-queries", "LIST", "File or colon-separated list of the queries to score", "all queries"),
    _policy("right", "Colon-separated categories that count as right"),
    _policy("wrong", "Colon-separated categories that count as wrong"),
    Option(
        "--follow",
        "VERSION",
        "Edition of the reference whose rules hold: " + ", ".join(f"{e.name} ({e.scored})" for e in EDITIONS.values()),
        LATEST.name,
        tuple(EDITIONS),
    ),
    Option(
        "--mention-types",
        "NAME",
        "What is made of pools without mention types; assume-name takes their answers for names",
        AS_GIVEN,
        tuple(MENTION_TYPES),
    ),
)
"""The switches that say how a run is scored."""

OF_A_BATCH: Final = (
    *SCORING,
    _with_default("-fields", "LIST", "Colon-separated columns of the tables; see below", DEFAULT_FIELDS),
    Option("-runids", "LIST", "Colon-separated runs to score, in this order", "all runs"),
    Option("-samples", "FILE", "File of bootstrap resamples"),
    Option("-tabs", None, "Separate columns by one tab instead of aligning them"),
    PROBLEMS,
    FORCE,
    Option("--validate", None, "Validate runs before they are scored, as cs-score validate-run does"),
    *resampling_options.OPTIONS,
)
"""The switches that a batch takes, too."""

POLICY: Final = Option(
    "--policy",
    "NAME",
    "Policy and limits of that name, where -right, -wrong, -ignore and -justifications say nothing else",
    choices=tuple(PRESETS),
)

KNOWLEDGE_BASE: Final = Option(
    "--knowledge-base", "FILE", "Validate and resolve this knowledge base, and score it; may be repeated"
)

OF_A_CALL: Final = (
    *OF_A_BATCH,
    POLICY,
    KNOWLEDGE_BASE,
    *parts_options.switches("score"),
)
"""The switches of every call that scores as the reference does."""

SWITCHES: Final = (
    *OF_A_CALL,
    _with_default("-error_file", "FILE", "Where problems are reported: a new file, stdout or stderr"),
    _with_default("-output_file", "PREFIX", "Prefix of the files to write, or stdout or stderr"),
    Option("--json", "[FILE.json]", "Write the whole result as JSON, too; without FILE to standard output"),
)
