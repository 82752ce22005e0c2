"""What a command line names: runs with queries and assessments (`cli/runs.py`), or gold with predictions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.display import one_line
from cs_score.base.errors import UsageError
from cs_score.base.runtime import Late
from cs_score.cli.core import Line
from cs_score.cli.options import own_arguments
from cs_score.cli.output import remark, with_bar
from cs_score.cli.runs import Runs
from cs_score.tasks import COLD_START, mode_named, task_named

if TYPE_CHECKING:
    from cs_score.analysis import comparison
    from cs_score.evidence.mode import Mode
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


def gold_if_any(mode: Mode, line: Line, *, is_one: bool) -> tuple[str | None, list[str]]:
    """Return the file of gold and the words that name predictions. Raise UsageError where gold is needed and missing.

    A task that needs no gold has it where --gold names it; where one file of predictions is scored (`is_one`) also
    where two words are given, in this order.
    """
    if mode.needs_gold:
        return gold_and_words(line)
    words = list(line.words)
    named = line.get("--gold")
    if named is None and is_one and len(words) + ("--predictions" in line) == 2 and words:
        named = words.pop(0)
    return named, words


class Predictions:
    """Gold and files of predictions. Everything that a line may say wrong is a UsageError before a file is read."""

    def __init__(self, task: str, line: Line, fewest: int = 1, most: int | None = 1) -> None:
        self.mode, self._line = mode_named(task), line
        self._own = own_arguments(task, line)
        self.gold, self.files = gold_if_any(self.mode, line, is_one=most == 1)
        self._most = most
        self._fewest = fewest
        self._said: set[str] = set()  # notices about gold, which every system would repeat
        if most == 1:
            self._name_one(task)
        else:
            self._name_several(fewest)

    def _name_one(self, task: str) -> None:
        """Take the one file of predictions. Raise UsageError where there is none, or more than one."""
        line, gold, words = self._line, self.gold, self.files
        predictions = line.get("--predictions") or (words.pop(0) if words else None)
        if predictions is None:
            raise UsageError("--predictions FILE must be given")
        if words:
            files = " ".join(filter(None, (gold, predictions, *words)))
            several = f"cs-score compare {task} {files}"
            raise UsageError(f"too many words: {' '.join(words)}; several systems are compared by {several}")
        if gold == predictions == "-":
            raise UsageError("only one of --gold and --predictions can be standard input")
        self.files = [predictions]

    def _name_several(self, fewest: int) -> None:
        """Check the files of predictions. Raise UsageError for another number of files than is wanted.

        A task that needs no gold may have several systems in a file, so that one file is enough.
        """
        gold, words, most = self.gold, self.files, self._most
        if "-" in (gold, *words):
            system = "of the two" if most else "system"
            raise UsageError(f"standard input cannot be read once for each {system}: name a file")
        if not self.mode.needs_gold and words:
            return
        if most and len(words) != most:
            raise UsageError(f"name two files of predictions, A and B, not {len(words)}")
        if len(words) < fewest:
            there = f"--gold {gold} {' '.join(words)}".rstrip()
            raise UsageError(f"a comparison needs the predictions of at least two systems: there is {there}")

    @property
    def settings(self) -> Mapping[str, Any]:
        """The policies that are wanted beside the one in force, in tasks that have policies."""
        policies = self._line.texts("--also-policy")
        return {"policies": policies} if policies else {}

    @property
    def inputs(self) -> list[str]:
        """The files that are read."""
        return [*([] if self.gold is None else [self.gold]), *self.files]

    def each(self, file: str) -> dict[str, EvidenceResult]:
        """Score each system of a file by itself, and say what its predictions lack."""
        progress = {"progress": with_bar} if self.mode.takes_long else {}
        results = scoring.score_systems(self.mode, self.gold, file, **self._own, **progress)
        for result in results.values():
            for notice in result.notices:
                if notice not in self._said:
                    self._said.add(notice)
                    remark(notice)
        return results

    def one(self) -> Any:
        """The result of the one system. Raises UsageError where the file holds several."""
        results = self.each(self.files[0])
        if len(results) != 1:
            names = ", ".join(one_line(name, 40) for name in results)
            raise UsageError(f"{self.files[0]} has {len(results)} runs ({names}): choose one with --run ID")
        return next(iter(results.values()))

    def explained(self, measure: str | None) -> Any:
        task: Any = task_named(self.mode.name)
        return task.explain(self.one(), self._line.texts("--unit"), measure, progress=analysing)

    def both(self) -> tuple[Any, Any, tuple[str, str]]:
        policy = self._line.get("--policy-b")
        if policy is not None:
            return self._under_both(policy)
        results = self.several()
        if len(results) != 2:
            names = ", ".join(one_line(name, 40) for name in results)
            raise UsageError(f"name two systems, A and B; there are {len(results)} ({names})")
        (first, a), (second, b) = results.items()
        return a, b, (first, second)

    def _under_both(self, policy: str) -> tuple[Any, Any, tuple[str, str]]:
        """The one system under the policy in force and under another. Raises UsageError where there are two."""
        if len(self.files) != 1:
            raise UsageError(f"--policy-b is for one run; there are {len(self.files)} files")
        a = self.one()
        own, self._own = self._own, {**self._own, "policy": policy}
        b = self.one()
        self._own = own
        return a, b, ("as given", f"policy {b.mode.chosen.policy}")

    def several(self) -> Mapping[str, Any]:
        """The results of all systems by name: that of the file, of the run where a file has several."""
        chosen = self._line.texts("--run")
        if len(chosen) > 1:
            self._own["run"] = ""
        systems: dict[str, Any] = {}
        for name, file in zip(comparison.system_names(self.files), self.files):
            results = self.each(file)
            for run, result in results.items():
                if len(chosen) > 1 and run not in chosen:
                    continue
                called = name if len(results) == 1 else run if len(self.files) == 1 else f"{run} ({name})"
                systems[called] = result
        if len(systems) < self._fewest:
            there = next(iter(systems), "none")
            raise UsageError(f"a comparison needs at least two systems: there is {there}")
        return systems


def named_by(task: str, line: Line, *, fewest: int = 1, most: int | None = 1) -> Runs | Predictions:
    """What a command line names. Raises UsageError."""
    if task != COLD_START:
        return Predictions(task, line, fewest, most)
    runs = Runs(line)
    _ = runs.options_per_run  # what the options cannot be is said first
    return runs
