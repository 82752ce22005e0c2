"""The one table of commands: dispatch, help, completion, the man page and the tests come from it.

The module of a command is imported when `form.load` wants it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from cs_score.base.nearest import nearest
from cs_score.base.records import Record
from cs_score.cli.evidence_modes import EVIDENCE_MODES


class Group(StrEnum):
    """What commands are listed under."""

    COLD_START = "Cold Start runs"
    BEFORE = "Before the Cold Start scorer"
    EVIDENCE = "Evidence-based fact checking"
    SEVERAL = "Many runs or systems"
    INSIGHT = "Why a score is what it is"
    ABOUT = "About cs-score"


class Command(Record):
    """A command or sub-form: the words that call it, its group, what help says of it, `module:attribute` of its
    form (of its forms by their last word, where it has several).

    `follows` is the version of the reference program that it takes the place of.
    """

    name: str
    group: Group
    summary: str
    form: str
    follows: str | None = None


_2017: Final = "2017.2.0"
_G = Group

COMMANDS: Final = {
    command.name: command
    for command in (
        Command("", _G.COLD_START, "Score one or more TAC Cold Start runs", "scorer.command:FORM", _2017),
        Command("score", _G.COLD_START, "Score Cold Start runs, and print the measures that matter",
                "scorer.score:FORM"),
        Command("validate-run", _G.BEFORE, "Validate a run, and write it as the scorer wants it",
                "preparation.validate_run:PROGRAM", _2017),
        Command("validate-queries", _G.BEFORE, "Validate queries, and split them by entry point",
                "preparation.validate_queries:PROGRAM", _2017),
        Command("expand-queries", _G.BEFORE, "Superseded by validate-queries -expand",
                "preparation.expand_queries:PROGRAM", _2017),
        Command("generate-queries", _G.BEFORE, "Make the queries of the first round, or those of the second from a run",
                "preparation.generate_queries:PROGRAM", _2017),
        Command("package-output", _G.BEFORE, "Put the answers to both rounds into one run",
                "preparation.package_output:PROGRAM", _2017),
        Command("validate-assessments", _G.BEFORE, "Validate assessments, and sort them by language",
                "preparation.validate_assessments:PROGRAM", _2017),
        Command("validate-kb", _G.BEFORE, "Validate a knowledge base, and write it in the formats of the evaluations",
                "knowledge_base.validate_kb:PROGRAM", _2017),
        Command("resolve-queries", _G.BEFORE, "Ask queries of a validated knowledge base, whose answers become a run",
                "knowledge_base.resolve_queries:PROGRAM", _2017),
        Command("apply-k", _G.BEFORE, "Keep so many documents for each node of a run, without checking anything",
                "preparation.apply_k:PROGRAM", _2017),
        Command("samples", _G.BEFORE, "Write bootstrap resamples of LDC queries, for the scorer's switch -samples",
                "preparation.samples:PROGRAM", "1.1"),
        *(Command(mode.name, _G.EVIDENCE, mode.summary, "evidence:FORMS") for mode in EVIDENCE_MODES.values()),
        Command("batch", _G.SEVERAL, "Score many Cold Start runs against one pool, on one machine or several",
                "batch.coldstart:FORM"),
        *(Command(f"batch {mode}", _G.SEVERAL, f"Score many files of {mode} predictions against one gold file",
                  "batch.evidence:FORMS") for mode in EVIDENCE_MODES),
        Command("compare", _G.SEVERAL, "Compare systems: intervals, paired tests, ranks, tiers",
                "comparison.command:FORM"),
        Command("compare coldstart", _G.SEVERAL, "Compare Cold Start runs on the same queries and assessments",
                "comparison.coldstart:FORM"),
        *(Command(f"compare {mode}", _G.SEVERAL, f"Compare {mode} systems on the same gold file",
                  "comparison.evidence:FORMS") for mode in EVIDENCE_MODES),
        Command("verify", _G.SEVERAL, "Score a recorded result again, and say whether it is reproduced",
                "checking.verify:FORM"),
        Command("analyze", _G.INSIGHT, "Mistakes of a Cold Start run with what each one costs, an error budget",
                "insight.coldstart:ANALYZE"),
        *(Command(f"analyze {mode}", _G.INSIGHT, f"Mistakes of {mode} predictions with what each one costs",
                  "insight.evidence:ANALYZE") for mode in EVIDENCE_MODES),
        Command("check", _G.SEVERAL, "Hold a Cold Start run against least scores and a baseline",
                "checking.coldstart:FORM"),
        *(Command(f"check {mode}", _G.SEVERAL, f"Hold {mode} predictions against least scores and a baseline",
                  "checking.evidence:FORMS") for mode in EVIDENCE_MODES),
        Command("explain", _G.INSIGHT, "Why a line, class, node or query of a Cold Start run scored as it did",
                "insight.explain:EXPLAIN"),
        *(Command(f"explain {name}", _G.INSIGHT, f"How one {mode.unit} of {name} was scored, and what it costs",
                  "insight.evidence:EXPLAIN") for name, mode in EVIDENCE_MODES.items()),
        Command("diff", _G.INSIGHT, "Why one Cold Start run scores higher than another, unit by unit",
                "insight.difference:DIFF"),
        *(Command(f"diff {mode}", _G.INSIGHT, f"Why one {mode} system scores higher than another, unit by unit",
                  "insight.evidence:DIFF") for mode in EVIDENCE_MODES),
        Command("report", _G.INSIGHT, "A page to look at: scores, error budget, groups, what every mistake costs",
                "insight.report:REPORT"),
        *(Command(f"report {mode}", _G.INSIGHT, f"The page of {mode} predictions", "insight.report:EVIDENCE")
          for mode in EVIDENCE_MODES),
        Command("plot", _G.INSIGHT, "One chart of an analysis, as SVG, PDF or PNG", "insight.plot:PLOT"),
        Command("problems", _G.ABOUT, "Explain problem codes: what is wrong, an example, what to do",
                "about.problems:FORM"),
        Command("schema", _G.ABOUT, "Print the JSON Schema of what cs-score writes", "about.schema:FORM"),
        Command("completion", _G.ABOUT, "Print the script with which a shell completes commands and options",
                "about.completion:FORM"),
        Command("man", _G.ABOUT, "Print the manual page", "about.manual:FORM"),
    )
}  # fmt: skip
"""Every command by name; that of the Cold Start scorer is empty."""


def find(words: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """The command that the first words name, otherwise the scorer, and the words behind its name."""
    for length in (2, 1):
        name = " ".join(words[:length])
        if len(words) >= length and name in COMMANDS and name:
            return COMMANDS[name], words[length:]
    return COMMANDS[""], words


def sub_forms(name: str) -> list[Command]:
    """The commands whose names go on from this one by a word."""
    return [command for command in COMMANDS.values() if command.name.rpartition(" ")[0] == name and command.name]


def nearest_command(name: str, word: str) -> str:
    """What an error adds for a mistyped sub-form, such as `; did you mean batch?`; empty where no name is near."""
    return nearest(word, (command.name.rpartition(" ")[2] for command in sub_forms(name)))
