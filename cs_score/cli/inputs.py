"""What a command line names: runs with queries and assessments (`cli/runs.py`), or gold with predictions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import UsageError
from cs_score.base.runtime import Late
from cs_score.cli.core import Line
from cs_score.cli.options import own_arguments
from cs_score.cli.output import remark, with_bar
from cs_score.cli.runs import Runs
from cs_score.tasks import COLD_START, mode_named, task_named

if TYPE_CHECKING:
    from cs_score.analysis import comparison
    from cs_score.evidence.mode import Result as EvidenceResult
    from cs_score.tasks import scoring
else:
    scoring = Late("cs_score.tasks.scoring")
    comparison = Late("cs_score.analysis.comparison")


analysing: Final = partial(with_bar, doing="analysing")


def gold_and_words(line: Line) -> tuple[str, list[str]]:
    """The file of gold, which --gold names or the first word, and the other words. Raises UsageError without any."""
    words = list(line.words)
    gold = line.get("--gold") or (words.pop(0) if words else None)
    if gold is None:
        raise UsageError("--gold FILE must be given")
    return gold, words


class Predictions:
    """Gold and files of predictions. Everything that a line may say wrong is a UsageError before a file is read."""

    settings: Mapping[str, Any] = {}

    def __init__(self, task: str, line: Line, fewest: int = 1, most: int | None = 1) -> None:
        self.mode, self._line = mode_named(task), line
        self._own = own_arguments(task, line)
        self._said: set[str] = set()  # notices about gold, which every system would repeat
        self.gold, self.files = gold_and_words(line)
        gold, words = self.gold, self.files
        if most == 1:
            predictions = line.get("--predictions") or (words.pop(0) if words else None)
            if predictions is None:
                raise UsageError("--predictions FILE must be given")
            if words:
                several = f"cs-score compare {task} {' '.join((gold, predictions, *words))}"
                raise UsageError(f"too many words: {' '.join(words)}; several systems are compared by {several}")
            if gold == predictions == "-":
                raise UsageError("only one of --gold and --predictions can be standard input")
            self.files = [predictions]
            return
        if "-" in (gold, *words):
            system = "of the two" if most else "system"
            raise UsageError(f"standard input cannot be read once for each {system}: name a file")
        if most and len(words) != most:
            raise UsageError(f"name two files of predictions, A and B, not {len(words)}")
        if len(words) < fewest:
            there = f"--gold {gold} {' '.join(words)}".rstrip()
            raise UsageError(f"a comparison needs the predictions of at least two systems: there is {there}")

    def _scored(self, file: str) -> EvidenceResult:
        """Score predictions, and say what they lack."""
        progress = {"progress": with_bar} if self.mode.takes_long else {}
        result = scoring.score_predictions(self.mode, self.gold, file, **self._own, **progress)
        for notice in result.notices:
            if notice not in self._said:
                self._said.add(notice)
                remark(notice)
        return result

    def one(self) -> Any:
        return self._scored(self.files[0])

    def explained(self, measure: str | None) -> Any:
        task: Any = task_named(self.mode.name)
        return task.explain(self.one(), self._line.texts("--unit"), measure, progress=analysing)

    def both(self) -> tuple[Any, Any, tuple[str, str]]:
        (first, a), (second, b) = self.several().results.items()
        return a, b, (first, second)

    def several(self) -> comparison.Systems:
        """Score each file of predictions; the systems are called after their files."""
        names = comparison.system_names(self.files)
        results = {name: self._scored(file) for name, file in zip(names, self.files)}
        return comparison.Systems(results, comparison.names_by_file(self.files, names))


def named_by(task: str, line: Line, *, fewest: int = 1, most: int | None = 1) -> Runs | Predictions:
    """What a command line names. Raises UsageError."""
    if task != COLD_START:
        return Predictions(task, line, fewest, most)
    runs = Runs(line)
    _ = runs.options_per_run  # what the options cannot be is said first
    return runs
