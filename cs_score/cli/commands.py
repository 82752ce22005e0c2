"""The subcommands of cs-score: one table, from which help, completion and dispatch are made.

Importing this module imports no scoring code; a subcommand's module is imported when it is called.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Final

import click
from click.shell_completion import CompletionItem

from cs_score.foundation.version import REFERENCE_VERSION, VERSION


@dataclass(frozen=True, slots=True)
class Subcommand:
    """Where a subcommand lives (`module:attribute`, a click command) and what `cs-score --help` says of it."""

    target: str
    summary: str


SUBCOMMANDS: Final[dict[str, Subcommand]] = {
    "scifact": Subcommand("cs_score.cli.evidence:scifact", "Score SciFact predictions (leaderboard measures)."),
    "claims": Subcommand("cs_score.cli.evidence:claims", "Score claim verification: documents, evidence, verdict."),
    "r4c": Subcommand("cs_score.cli.evidence:r4c", "Score R4C derivations."),
    "hotpotqa": Subcommand("cs_score.cli.evidence:hotpotqa", "Score HotpotQA answers and supporting facts."),
    "compare": Subcommand(
        "cs_score.cli.comparison.command:compare", "Compare systems: intervals, paired tests, ranks, tiers."
    ),
    "problems": Subcommand("cs_score.cli.problems:problems", "Explain the problem codes of Cold Start inputs."),
}

SWITCH_SUMMARIES: Final[dict[str, str]] = {
    "batch": "Score many runs, on one machine or several.",
    "samples": "Draw bootstrap resamples for -samples.",
    "validate-kb": "Validate a knowledge base, and write it.",
    "resolve-queries": "Ask queries of a knowledge base: a run.",
    "validate-run": "Validate a run, and write it as the scorer wants it.",
    "validate-queries": "Validate queries, and split them by entry point.",
    "expand-queries": "Superseded by validate-queries -expand.",
    "generate-queries": "Make the queries of the first or second round.",
    "package-output": "Put the answers to both rounds into one run.",
    "validate-assessments": "Validate assessments, and sort them by language.",
    "apply-k": "Keep so many documents for each node of a run.",
}
"""What `cs-score --help` says of the programs in `main.SWITCH_COMMANDS`; a test holds the two together."""

EPILOG: Final = """\
\b
The Cold Start scorer takes the reference scorer's switches as they are:
  cs-score [-switch ...] QUERIES.xml RUN POOL     score slot-filling runs
  cs-score -help                                  its switches
\b
A file that is called like a subcommand is given as ./NAME.
"""


class SubcommandGroup(click.Group):
    """A click group that imports a subcommand's module only when the subcommand is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = SUBCOMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The subcommands and our own options, the programs with single-dash switches, and the scorer's switches."""
        found = super().shell_complete(ctx, incomplete)
        found += [
            CompletionItem(name, help=text) for name, text in SWITCH_SUMMARIES.items() if name.startswith(incomplete)
        ]
        if incomplete.startswith("-"):
            from cs_score.cli.scorer.usage import SWITCHES

            found += [
                CompletionItem(switch.name, help=switch.help)
                for switch in SWITCHES
                if switch.name.startswith(incomplete)
            ]
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table's summaries, without importing the subcommands."""
        with formatter.section("Subcommands"):
            formatter.write_dl([(name, entry.summary) for name, entry in SUBCOMMANDS.items()])
        with formatter.section("Around the Cold Start scorer (single-dash switches; -help shows them)"):
            formatter.write_dl(list(SWITCH_SUMMARIES.items()))


@click.group(
    cls=SubcommandGroup,
    name="cs-score",
    epilog=EPILOG,
    context_settings={"help_option_names": ["--help"], "max_content_width": 100},
)
@click.version_option(
    VERSION,
    "--version",
    prog_name="cs-score",
    message=f"%(prog)s %(version)s (follows the Cold Start reference scorer {REFERENCE_VERSION})",
)
def cs_score() -> None:
    """Score knowledge-base population runs and evidence-based fact checking."""
