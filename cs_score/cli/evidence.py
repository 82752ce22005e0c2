"""The commands `scifact`, `claims`, `r4c` and `hotpotqa`: parse, score, print."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from cs_score.base.display import one_line
from cs_score.base.errors import UsageError
from cs_score.cli.destinations import is_quiet, print_text, say
from cs_score.cli.evidence_modes import EVIDENCE_MODES, MOST_REFERENCES, EvidenceMode
from cs_score.cli.form import Form, whole_number
from cs_score.cli.options import FORCE, CommandLine, Option
from cs_score.cli.resampling_options import OPTIONS as RESAMPLING
from cs_score.cli.resampling_options import read_resampling

if TYPE_CHECKING:  # help and completion are quick without what scoring needs
    from cs_score.base.planned_outputs import OutputPlan
    from cs_score.evidence.result import Mode, Result
    from cs_score.statistics.options import Resampling

Item = TypeVar("Item")

GOLD: Final = Option("--gold", "FILE", "Gold annotation; - is standard input")
PREDICTIONS: Final = Option("--predictions", "FILE", "The system's output; - is standard input")


def _shared(unit: str) -> tuple[Option, ...]:
    return (
        GOLD,
        PREDICTIONS,
        Option("--json", "[FILE.json]", "The result as JSON in full precision; without FILE instead of the table"),
        Option("--per-item", "FILE", f"Also write the statistics of each {unit}, as .tsv"),
        FORCE,
        Option("--explain", "ID", f"Print how this {unit} was scored, instead of the scores; may be repeated"),
        *RESAMPLING,
    )


def input_files(line: CommandLine) -> tuple[str, str]:
    """The files of gold and predictions. Raises UsageError where both are standard input."""
    gold, predictions = line.text("--gold", ""), line.text("--predictions", "")
    if gold == predictions == "-":
        raise UsageError("only one of --gold and --predictions can be standard input")
    return gold, predictions


def _run(mode: EvidenceMode, line: CommandLine) -> int:
    gold, predictions = input_files(line)
    explained = line.texts("--explain")
    plan = _plan(mode.name, (gold, predictions), line)
    plan.check()
    resampling = read_resampling({option.name: line.switches.get(option.name) for option in RESAMPLING})
    for option in ("--json", "--bootstrap") if explained else ():
        if option in line.switches:
            raise UsageError(f"--explain prints text; leave out {option}")
    own = own_arguments(mode, line)
    plan.clear()
    _deliver(score(mode, gold, predictions, own), line, explained, resampling)
    return 0


def own_arguments(mode: EvidenceMode, line: CommandLine) -> dict[str, Any]:
    """The arguments that the mode's own options give. Raises UsageError."""
    found: dict[str, Any] = {}
    for option in mode.options:
        name = option.name.removeprefix("--").replace("-", "_")
        if option.value is None:
            found[name] = option.name in line.switches
        else:
            found[name] = whole_number(line, option.name, MOST_REFERENCES) or MOST_REFERENCES
    return found


def score(mode: EvidenceMode, gold: str, predictions: str, own: Mapping[str, Any]) -> Result:
    """Score predictions; `own` as `own_arguments` gives them."""
    progress = {"progress": with_bar} if mode.takes_long else {}
    result: Result = _module(mode.name).score(gold, predictions, **own, **progress)
    return result


def _module(mode: str) -> Any:
    return importlib.import_module(f"cs_score.evidence.{mode}")


def _plan(mode: str, inputs: Sequence[str], line: CommandLine) -> OutputPlan:
    """What is read and written. Raises UsageError for a file name that an option refuses."""
    from cs_score.base.planned_outputs import OutputPlan
    from cs_score.evidence.report import JSON_OPTION, units_option

    outputs = list(JSON_OPTION.outputs(line.switches.get("--json")))
    if "--per-item" in line.switches:
        described: Mode = _module(mode).MODE
        outputs += units_option(described).outputs(line.switches["--per-item"])
    return OutputPlan(inputs, outputs, "--force" in line.switches)


def _deliver(result: Result, line: CommandLine, explain: Sequence[str], resampling: Resampling | None) -> None:
    from cs_score.base.outputs import encoded, write_packed
    from cs_score.evidence import intervals
    from cs_score.evidence.report import explanation_text, intervals_text, json_text, table_text, unit_blocks

    explanations = [result.explain(unit) for unit in explain]
    found = None if resampling is None else intervals(result, resampling)
    json_file, per_item = line.switches.get("--json"), line.switches.get("--per-item")
    if per_item is not None:
        write_packed(per_item, unit_blocks(result))
    if json_file not in (None, "-"):
        write_packed(str(json_file), encoded((json_text(result, found, with_units=True), "\n")))
    tell_notices(result)
    if explanations:
        print_text("\n\n".join(map(explanation_text, explanations)))
    elif json_file == "-":
        print_text(json_text(result, found))
    else:
        print_text("\n\n".join([table_text(result), *([] if found is None else [intervals_text(found)])]))


def tell_notices(result: Result) -> None:
    """What the predictions lack, on standard error."""
    for notice in result.notices:
        say(f"cs-score: {one_line(notice)}\n")


def _on_terminal() -> bool:
    return sys.stderr.isatty() and not is_quiet()


def with_bar(items: Sequence[Item], doing: str = "aligning") -> Iterator[Item]:
    """Pass `items` on, and tell how far they are where standard error is a terminal."""
    if not _on_terminal():
        yield from items
        return
    shown = -1
    for number, item in enumerate(items):
        if (done := 100 * number // len(items)) != shown:
            shown = done
            print(f"\r\x1b[K{doing} {done} %", end="", file=sys.stderr, flush=True)
        yield item
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def measure_names(mode: str) -> Sequence[str]:
    """The measures of a mode, for completion."""
    described: Mode = _module(mode).MODE
    return described.measures


def _form(mode: EvidenceMode) -> Form:
    return Form(
        mode.name,
        (*_shared(mode.unit), *mode.options),
        (),
        required=("--gold", "--predictions"),
        sections=lambda: (("Files", mode.files),),
        body=partial(_run, mode),
    )


FORMS: Final = {name: _form(mode) for name, mode in EVIDENCE_MODES.items()}
