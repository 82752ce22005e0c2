"""The Cold Start scorer's switches and its usage text, made from the tables of the library."""

from __future__ import annotations

from typing import Final

from cs_score.cli import parts_options as sharing_options
from cs_score.cli import resampling_options
from cs_score.cli.switches import FORCE, Switch, switch_help
from cs_score.coldstart.options import DISCIPLINES, POLICY_ITEMS
from cs_score.coldstart.writers.fields import DEFAULT_FIELDS, SCORE_FIELDS

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


def _with_default(name: str, value: str, help_text: str) -> Switch:
    return Switch(name, value, help_text, DEFAULTS[name])


SWITCHES: Final = (
    _with_default("-discipline", "NAME", "How a response finds its assessment; see the disciplines below"),
    _with_default("-error_file", "FILE", "Where problems are reported: a new file, stdout or stderr"),
    Switch("-expand", "BASE", "Split queries by entry point; BASE begins the names of the queries made"),
    _with_default("-fields", "LIST", "Colon-separated columns of the tables; see the fields below"),
    Switch("-help", None, "Show this text"),
    Switch("-h", None, "Show this text", is_listed=False),
    _with_default("-ignore", "LIST", "Colon-separated categories that are left out; see the policy options below"),
    _with_default(
        "-justifications", "A:B", "Justifications that count: A for each node and document, B for each node; 0-9 or M"
    ),
    _with_default("-output_file", "PREFIX", "Prefix of the files to write, or stdout or stderr"),
    Switch("-queries", "LIST", "File or colon-separated list of the queries to score", "all queries"),
    _with_default("-right", "LIST", "Colon-separated categories that count as right"),
    Switch("-runids", "LIST", "Colon-separated runs to score, in this order", "all runs"),
    Switch("-samples", "FILE", "File of bootstrap resamples"),
    Switch("-tabs", None, "Separate columns by one tab instead of aligning them"),
    Switch("-version", None, "Show the version of the reference scorer that is followed"),
    _with_default("-wrong", "LIST", "Colon-separated categories that count as wrong"),
    Switch("--json", "FILE", "Write the whole result as JSON, too (.json, perhaps compressed, or -)"),
    Switch("--problems", "FILE", "Write every problem to FILE, too (.json, .tsv or .sarif, perhaps compressed)"),
    Switch("--knowledge-base", "FILE", "Validate and resolve this knowledge base, and score it; may be repeated"),
    FORCE,
    Switch("--validate", None, "Validate runs before they are scored, as cs-score validate-run does"),
    *resampling_options.switches(),
    *sharing_options.SWITCHES,
)

_PARAMETERS: Final = """\
files are any number of query files (names ending in .xml), assessment files, runs and knowledge bases, which are told
apart by their first lines; a folder stands for its files *.tab.txt. Parent lines must come before the lines below
them.\
"""


def legend() -> str:
    """What the switches `-discipline`, `-right`, `-wrong` and `-ignore` take."""
    disciplines = "\n".join(f"  {name + ':':<18} {meaning}." for name, meaning in DISCIPLINES.items())
    policies = "\n".join(
        f"  {name + ':':<18} {item.meaning}. Legal for {', '.join('-' + side.lower() for side in sorted(item.sides))}."
        for name, item in POLICY_ITEMS.items()
    )
    return f"Disciplines are:\n{disciplines}\n\nPolicy options are:\n{policies}\n"


def usage_text() -> str:
    """The text of `-help`."""
    fields = "\n".join(f"  {name + ':':<18} {field.meaning}." for name, field in SCORE_FIELDS.items())
    return (
        f"{PROGRAM}:  Score one or more TAC Cold Start runs\n\n"
        f"Usage: {PROGRAM} {{-switch {{-switch ...}}}} files...\n\n"
        f"Legal switches are:\n{switch_help(SWITCHES)}\n\n"
        f"Parameters are:\n{_PARAMETERS}\n\n"
        f"Fields are:\n{fields}\n\n"
        f"{legend()}"
    )
