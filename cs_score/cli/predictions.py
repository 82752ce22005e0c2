"""Gold and predictions of an evidence task, as a command line names them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import InputError, UsageError
from cs_score.base.runtime import Late
from cs_score.cli.core import Line, Option, Parameter
from cs_score.cli.options import evidence_task, own_arguments
from cs_score.cli.output import remark, with_bar

if TYPE_CHECKING:
    from cs_score.analysis import comparison
    from cs_score.analysis.evidence.task import EvidenceTask
    from cs_score.evidence.result import Result as EvidenceResult
else:
    comparison = Late("cs_score.analysis.comparison")

UNIT: Final = Option(
    "--unit",
    "ID",
    "A query, claim, instance or question by its id; may be repeated; without it, a summary of the run",
    many=True,
)
GOLD: Final = Option("--gold", "FILE", "Gold annotation; - is standard input")
PREDICTIONS: Final = Option("--predictions", "FILE", "The system's output; - is standard input")
FILES_OF_EVIDENCE: Final = Parameter(
    "files", "Gold and predictions in this order, where --gold and --predictions do not name them",
    is_optional=True, is_repeated=True,
)  # fmt: skip


def gold_and_words(line: Line) -> tuple[str, list[str]]:
    """The file of gold, which --gold names or the first word, and the other words. Raises UsageError without any."""
    words = list(line.words)
    gold = line.switches.get(GOLD.long) or (words.pop(0) if words else None)
    if gold is None:
        raise UsageError("--gold FILE must be given")
    return gold, words


def input_files(task: str, line: Line) -> tuple[str, str]:
    """The files of gold and predictions. Raises UsageError where one is missing, or both are standard input."""
    gold, words = gold_and_words(line)
    predictions = line.switches.get(PREDICTIONS.long) or (words.pop(0) if words else None)
    if predictions is None:
        raise UsageError("--predictions FILE must be given")
    if words:
        several = f"cs-score compare {task} {' '.join((gold, predictions, *words))}"
        raise UsageError(f"too many words: {' '.join(words)}; several systems are compared by {several}")
    if gold == predictions == "-":
        raise UsageError("only one of --gold and --predictions can be standard input")
    return gold, predictions


def score_evidence(task: EvidenceTask, gold: str, predictions: str, own: Mapping[str, Any]) -> EvidenceResult:
    """Score predictions, and say what they lack; `own` as `own_arguments` gives them."""
    progress = {"progress": with_bar} if task.takes_long else {}
    try:
        result = task.score(gold, predictions, **own, **progress)
    except InputError as error:
        from cs_score.evidence.reading import advice

        if (text := advice(task.name, gold, predictions)) is not None:
            raise UsageError(text) from None
        raise error
    for notice in result.notices:
        remark(notice)
    return result


analysing: Final = partial(with_bar, doing="analysing")


class Predictions:
    """Gold and files of predictions. Everything that a line may say wrong is a UsageError before a file is read."""

    settings: Mapping[str, Any] = {}

    def __init__(self, task: str, line: Line, fewest: int = 1, most: int | None = 1) -> None:
        self._task, self._line = evidence_task(task), line
        self._own = own_arguments(task, line)
        if most == 1:
            self.gold, file = input_files(task, line)
            self.files = [file]
            return
        self.gold, self.files = gold_and_words(line)
        if "-" in (self.gold, *self.files):
            system = "of the two" if most else "system"
            raise UsageError(f"standard input cannot be read once for each {system}: name a file")
        if most and len(self.files) != most:
            raise UsageError(f"name two files of predictions, A and B, not {len(self.files)}")
        if len(self.files) < fewest:
            there = f"--gold {self.gold} {' '.join(self.files)}".rstrip()
            raise UsageError(f"a comparison needs the predictions of at least two systems: there is {there}")

    def _scored(self, file: str) -> Any:
        return score_evidence(self._task, self.gold, file, self._own)

    def one(self) -> Any:
        return self._scored(self.files[0])

    def explained(self, measure: str | None) -> Any:
        return self._task.explain(self.one(), self._line.texts(UNIT.long), measure, progress=analysing)

    def both(self) -> tuple[Any, Any, tuple[str, str]]:
        (first, a), (second, b) = self.several().items()
        return a, b, (first, second)

    def several(self) -> Mapping[str, Any]:
        return {name: self._scored(file) for name, file in zip(comparison.system_names(self.files), self.files)}
