"""The form of the Cold Start scorer: what it takes, and the parts of its help."""

from __future__ import annotations

from typing import Final

from cs_score.cli.form import REFERENCE, Form, Parameter, Section
from cs_score.cli.options import CommandLine
from cs_score.cli.scorer.switches import SWITCHES
from cs_score.coldstart.options import DISCIPLINES, POLICY_ITEMS, PRESETS
from cs_score.coldstart.outputs import OUTPUTS
from cs_score.coldstart.tables import SCORE_FIELDS

FILES: Final = (
    "any number of query files (names ending in .xml, perhaps compressed), assessment files, runs and knowledge bases, "
    "which are told apart by their first lines; a folder stands for its files *.tab.txt. Parent lines must come before "
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


def _run(line: CommandLine) -> int:
    from cs_score.cli.scorer.scorer import run

    return run(line)


FORM: Final = Form(
    "",
    SWITCHES,
    (Parameter("files", FILES, is_repeated=True),),
    contract=REFERENCE,
    sections=lambda: (outputs(), fields(), policies(), *legend()),
    body=_run,
)
