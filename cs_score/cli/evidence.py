"""The subcommands `scifact`, `claims`, `r4c` and `hotpotqa`: parse, score, print."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import click

from cs_score.cli.destinations import print_text
from cs_score.cli.resampling_options import OPTIONS as RESAMPLING_OPTIONS
from cs_score.cli.resampling_options import click_options, read_resampling
from cs_score.evidence.intervals import intervals
from cs_score.evidence.report import explanation_text, intervals_text, json_text, table_text, unit_blocks, units_option
from cs_score.evidence.result import Mode, Result
from cs_score.foundation.display import one_line
from cs_score.foundation.outputs import write_packed
from cs_score.foundation.planned_outputs import OutputPlan
from cs_score.statistics.options import Resampling

Score: TypeAlias = Callable[..., Result]

ClickOption: TypeAlias = tuple[tuple[str, ...], dict[str, Any]]
"""The names and the attributes of an option, as `click.option` takes them."""

RESAMPLING_NAMES: Final = tuple(option.name for option in RESAMPLING_OPTIONS)

# The options that all four subcommands share. `{unit}` is what the mode scores.
SHARED_OPTIONS: Final[tuple[ClickOption, ...]] = (
    (("--gold",), {"required": True, "metavar": "FILE", "help": "Gold annotation; - is standard input."}),
    (("--predictions",), {"required": True, "metavar": "FILE", "help": "The system's output; - is standard input."}),
    (("--json", "as_json"), {"is_flag": True, "help": "Print one JSON object at full precision instead of a table."}),
    (
        ("--per-item",),
        {"metavar": "FILE", "help": "Also write the statistics of each {unit}, as .tsv."},
    ),
    (("--force",), {"is_flag": True, "help": "Let --per-item replace a file that cs-score did not write."}),
    (
        ("--explain",),
        {
            "metavar": "ID",
            "multiple": True,
            "help": "Print how this {unit} was scored, instead of the scores; may be given several times.",
        },
    ),
)


@dataclass(frozen=True, slots=True)
class EvidenceCommand:
    """A mode as the command line offers it.

    `score` takes the two files and the mode's own `options` (as arguments of `click.option`); its docstring is the
    help of the command.
    """

    name: str
    unit: str
    score: Score
    options: tuple[ClickOption, ...] = ()


def with_options(function: Callable[..., Any], options: Iterable[ClickOption]) -> Callable[..., Any]:
    """The function with click options, in the order in which help shows them."""
    for names, attributes in reversed(tuple(options)):
        function = click.option(*names, **attributes)(function)
    return function


def _scoring(described: EvidenceCommand) -> click.Command:
    def run(
        gold: str,
        predictions: str,
        as_json: bool,
        per_item: str | None,
        explain: tuple[str, ...],
        force: bool,
        **options: Any,
    ) -> None:
        if gold == predictions == "-":
            raise click.UsageError("only one of --gold and --predictions can be standard input.")
        if as_json and explain:
            raise click.UsageError("--explain prints text; leave out --json.")
        plan = _plan(described.name, (gold, predictions), per_item, force)
        plan.check()
        resampling = read_resampling({name: options.pop(name.removeprefix("--")) for name in RESAMPLING_NAMES})
        if resampling is not None and explain:
            raise click.UsageError("--explain prints text; leave out --bootstrap.")
        plan.clear()
        _deliver(described.score(gold, predictions, **options), as_json, per_item, explain, resampling)

    shared = tuple(
        (names, attributes | {"help": str(attributes["help"]).format(unit=described.unit)})
        for names, attributes in SHARED_OPTIONS
    )
    command = with_options(run, (*shared, *click_options(), *described.options))
    return click.command(described.name, help=inspect.getdoc(described.score))(command)


def _plan(mode: str, inputs: Sequence[str], per_item: str | None, forced: bool) -> OutputPlan:
    """What is read and written. Raises UsageError where --per-item names a file that cannot be called so."""
    if per_item is None:
        return OutputPlan(inputs, ())
    described: Mode = importlib.import_module(f"cs_score.evidence.modes.{mode}").MODE
    return OutputPlan(inputs, tuple(units_option(described).outputs(per_item)), forced)


def _deliver(
    result: Result, as_json: bool, per_item: str | None, explain: Sequence[str], resampling: Resampling | None
) -> None:
    explanations = [result.explain(unit) for unit in explain]
    found = None if resampling is None else intervals(result, resampling)
    if per_item is not None:
        write_packed(per_item, unit_blocks(result))
    for notice in result.notices:
        click.echo(f"cs-score: {one_line(notice)}", err=True)
    if explanations:
        print_text("\n\n".join(map(explanation_text, explanations)))
    elif as_json:
        print_text(json_text(result, found))
    else:
        print_text("\n\n".join([table_text(result), *([] if found is None else [intervals_text(found)])]))


def _scifact(gold: str, predictions: str, any_order: bool) -> Result:
    """Score SciFact predictions with the measures of the public leaderboard.

    Both files hold one JSON object per line: gold a claim with its evidence sets, predictions the same claims in the
    same order, each with a label and a list of sentences per abstract.
    """
    from cs_score.evidence.modes.scifact import score

    return score(gold, predictions, any_order=any_order)


def _claims(gold: str, predictions: str) -> Result:
    """Score claim verification: documents retrieved, evidence sentences with their label, verdict.

    Both files hold one JSON object per line. Gold is as for scifact; predictions give a list of entries per document,
    and are matched by id.
    """
    from cs_score.evidence.modes.claims import score

    return score(gold, predictions)


def _r4c(gold: str, predictions: str, references: int, ignore_missing: bool) -> Result:
    """Score R4C derivations by entities (e), relation (r) and both (er).

    Gold is a JSON object from instance id to reference derivations; predictions hold derivations by instance id under
    the key "re". Needs the extra packages of cs-score[r4c].
    """
    from cs_score.evidence.modes.r4c import score

    return score(gold, predictions, references=references, ignore_missing=ignore_missing, progress=_with_bar)


def _hotpotqa(gold: str, predictions: str) -> Result:
    """Score HotpotQA answers, supporting facts, and both jointly.

    Gold is the corpus's JSON list of questions; predictions hold answers and supporting facts by question id under the
    keys "answer" and "sp".
    """
    from cs_score.evidence.modes.hotpotqa import score

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


ANY_ORDER: Final[ClickOption] = (
    ("--any-order",),
    {"is_flag": True, "help": "Match claims by id; the official evaluator refuses another order than gold's."},
)
REFERENCES: Final[ClickOption] = (
    ("--references",),
    {
        "type": click.IntRange(1, 3),
        "default": 3,
        "show_default": True,
        "help": "Reference derivations drawn for each evaluation of an instance.",
    },
)
IGNORE_MISSING: Final[ClickOption] = (
    ("--ignore-missing",),
    {"is_flag": True, "help": "Leave out instances without prediction instead of failing."},
)

COMMANDS: Final = {
    command.name: command
    for command in (
        EvidenceCommand("scifact", "claim", _scifact, (ANY_ORDER,)),
        EvidenceCommand("claims", "claim", _claims),
        EvidenceCommand("r4c", "instance", _r4c, (REFERENCES, IGNORE_MISSING)),
        EvidenceCommand("hotpotqa", "question", _hotpotqa),
    )
}

scifact, claims, r4c, hotpotqa = map(_scoring, COMMANDS.values())
