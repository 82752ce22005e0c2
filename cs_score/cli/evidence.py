"""The subcommands `scifact`, `claims`, `r4c` and `hotpotqa`: parse, score, print."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import click

from cs_score.cli.standard_output import print_text
from cs_score.display import one_line
from cs_score.evidence.report import explanation_text, json_text, table_text, unit_blocks
from cs_score.evidence.result import Result
from cs_score.outputs import write_whole

Score = Callable[..., Result]

# The options that all four subcommands share. `{unit}` is what the mode scores.
SHARED_OPTIONS: Final = (
    (("--gold",), {"required": True, "metavar": "FILE", "help": "Gold annotation; - is standard input."}),
    (("--predictions",), {"required": True, "metavar": "FILE", "help": "The system's output; - is standard input."}),
    (("--json", "as_json"), {"is_flag": True, "help": "Print one JSON object at full precision instead of a table."}),
    (("--per-item",), {"metavar": "FILE", "help": "Also write the statistics of each {unit}, tab-separated."}),
    (
        ("--explain",),
        {
            "metavar": "ID",
            "multiple": True,
            "help": "Print how this {unit} was scored, instead of the scores; may be given several times.",
        },
    ),
)


def evidence_command(name: str, unit: str) -> Callable[[Score], click.Command]:
    """Make a subcommand of a function from two files and the mode's own options to a result.

    The function's docstring is the command's help.
    """

    def decorate(score: Score) -> click.Command:
        @functools.wraps(score)  # takes the mode's own options along
        def run(
            gold: str,
            predictions: str,
            as_json: bool,
            per_item: str | None,
            explain: tuple[str, ...],
            **options: object,
        ) -> None:
            if gold == predictions == "-":
                raise click.UsageError("only one of --gold and --predictions can be standard input.")
            if as_json and explain:
                raise click.UsageError("--explain prints text; leave out --json.")
            if per_item == "-":
                raise click.UsageError("--per-item needs the name of a file.")
            _deliver(score(gold, predictions, **options), as_json, per_item, explain)

        command: Callable[..., None] = run
        for names, attributes in reversed(SHARED_OPTIONS):
            described = attributes | {"help": str(attributes["help"]).format(unit=unit)}
            command = click.option(*names, **described)(command)
        return click.command(name)(command)

    return decorate


def _deliver(result: Result, as_json: bool, per_item: str | None, explain: Sequence[str]) -> None:
    explanations = [result.explain(unit) for unit in explain]
    if per_item is not None:
        write_whole(per_item, unit_blocks(result))
    for notice in result.notices:
        click.echo(f"cs-score: {one_line(notice)}", err=True)
    if explanations:
        print_text("\n\n".join(map(explanation_text, explanations)))
    else:
        print_text(json_text(result) if as_json else table_text(result))


@evidence_command("scifact", unit="claim")
@click.option(
    "--any-order", is_flag=True, help="Match claims by id; the official evaluator refuses another order than gold's."
)
def scifact(gold: str, predictions: str, any_order: bool) -> Result:
    """Score SciFact predictions with the measures of the public leaderboard.

    Both files hold one JSON object per line: gold a claim with its evidence sets, predictions the same claims in the
    same order, each with a label and a list of sentences per abstract.
    """
    from cs_score.evidence.scifact import score

    return score(gold, predictions, any_order=any_order)


@evidence_command("claims", unit="claim")
def claims(gold: str, predictions: str) -> Result:
    """Score claim verification: documents retrieved, evidence sentences with their label, verdict.

    Both files hold one JSON object per line. Gold is as for scifact; predictions give a list of entries per document,
    and are matched by id.
    """
    from cs_score.evidence.claims import score

    return score(gold, predictions)


@evidence_command("r4c", unit="instance")
@click.option(
    "--references",
    type=click.IntRange(1, 3),
    default=3,
    show_default=True,
    help="Reference derivations drawn for each evaluation of an instance.",
)
@click.option("--ignore-missing", is_flag=True, help="Leave out instances without prediction instead of failing.")
def r4c(gold: str, predictions: str, references: int, ignore_missing: bool) -> Result:
    """Score R4C derivations by entities (e), relation (r) and both (er).

    Gold is a JSON object from instance id to reference derivations; predictions hold derivations by instance id under
    the key "re". Needs the extra packages of cs-score[r4c].
    """
    from cs_score.evidence.r4c import score

    return score(gold, predictions, references=references, ignore_missing=ignore_missing, progress=_with_bar)


@evidence_command("hotpotqa", unit="question")
def hotpotqa(gold: str, predictions: str) -> Result:
    """Score HotpotQA answers, supporting facts, and both jointly.

    Gold is the corpus's JSON list of questions; predictions hold answers and supporting facts by question id under the
    keys "answer" and "sp".
    """
    from cs_score.evidence.hotpotqa import score

    return score(gold, predictions)


def _on_terminal() -> bool:
    return sys.stderr.isatty()


def _with_bar(items: Sequence[str]) -> Iterator[str]:
    """Pass `items` on, with a progress bar where standard error is a terminal."""
    if not _on_terminal():
        yield from items
        return
    with click.progressbar(items, label="aligning", file=sys.stderr, update_min_steps=100) as bar:
        yield from bar
