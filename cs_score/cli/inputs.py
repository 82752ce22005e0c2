"""The inputs that a command line names: runs with queries and assessments (`cli/runs.py`), or gold with predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cs_score.base.display import one_line
from cs_score.base.errors import UsageError
from cs_score.base.runtime import Late
from cs_score.cli.core import Line
from cs_score.cli.output import remark, with_bar
from cs_score.cli.runs import Runs
from cs_score.cli.task_options import own_arguments
from cs_score.tasks import COLD_START, mode_named, task_named

if TYPE_CHECKING:
    from cs_score.analysis import systems
    from cs_score.evidence.mode import Mode
    from cs_score.evidence.mode import Result as EvidenceResult
    from cs_score.tasks import scoring
else:
    scoring = Late("cs_score.tasks.scoring")
    systems = Late("cs_score.analysis.systems")


Value = TypeVar("Value")


def with_analysis_bar(items: Sequence[Value]) -> Iterator[Value]:
    """Yield the units of an analysis, and show on a terminal how many are done."""
    return with_bar(items, activity="analysing")


def gold_and_predictions(line: Line) -> tuple[str, list[str]]:
    """Return the file of gold, which --gold names or the first word, and the other words.

    Raises UsageError without gold.
    """
    words = list(line.words)
    gold = line.get("--gold")
    if not gold and words:
        gold = words.pop(0)
    if not gold:
        raise UsageError("--gold FILE must be given")
    return gold, words


def optional_gold_and_predictions(mode: Mode, line: Line, *, is_one: bool) -> tuple[str | None, list[str]]:
    """Return the file of gold and the words that name predictions. Raises UsageError where gold is needed and missing.

    A task that needs no gold has it where --gold names it; where one file of predictions is scored (`is_one`) also
    where two words are given, in this order.
    """
    if mode.needs_gold:
        return gold_and_predictions(line)
    words = list(line.words)
    gold = line.get("--gold")
    number_of_files = len(words) + ("--predictions" in line)
    if gold is None and is_one and words and number_of_files == 2:
        gold = words.pop(0)
    return gold, words


class Predictions:
    """Gold and files of predictions. Whatever is wrong with a command line raises UsageError before a file is read."""

    def __init__(self, task: str, line: Line, fewest: int = 1, most: int | None = 1) -> None:
        """Check the files of a command line. `fewest` and `most` (None: any number) are the systems that it needs."""
        self.mode = mode_named(task)
        self._line = line
        self._arguments = own_arguments(task, line)
        self._fewest = fewest
        self._most = most
        self._printed_notices: set[str] = set()
        self.gold, self.files = optional_gold_and_predictions(self.mode, line, is_one=most == 1)
        if most == 1:
            self.files = [self._single_file(task)]
        else:
            self._check_several_files()

    def _single_file(self, task: str) -> str:
        """Return the one file of predictions. Raises UsageError for none, and for more than one."""
        words = list(self.files)
        predictions = self._line.get("--predictions")
        if not predictions and words:
            predictions = words.pop(0)
        if not predictions:
            raise UsageError("--predictions FILE must be given")
        if words:
            files = [file for file in (self.gold, predictions, *words) if file]
            comparison_call = f"cs-score compare {task} {' '.join(files)}"
            raise UsageError(f"too many words: {' '.join(words)}; several systems are compared by {comparison_call}")
        if self.gold == predictions == "-":
            raise UsageError("only one of --gold and --predictions can be standard input")
        return predictions

    def _check_several_files(self) -> None:
        """Raise UsageError for another number of files than is needed.

        A task that needs no gold may have several systems in a file, so that one file is enough.
        """
        if "-" in (self.gold, *self.files):
            system = "of the two" if self._most else "system"
            raise UsageError(f"standard input cannot be read once for each {system}: name a file")
        if not self.mode.needs_gold and self.files:
            return
        if self._most and len(self.files) != self._most:
            raise UsageError(f"name two files of predictions, A and B, not {len(self.files)}")
        if len(self.files) < self._fewest:
            files = f"--gold {self.gold} {' '.join(self.files)}".rstrip()
            raise UsageError(f"a comparison needs the predictions of at least two systems: there is {files}")

    @property
    def settings(self) -> Mapping[str, Any]:
        """The further arguments of an analysis: the policies beside the one in force, in tasks that have policies."""
        policies = self._line.texts("--also-policy")
        return {"policies": policies} if policies else {}

    @property
    def inputs(self) -> list[str]:
        """The files that are read."""
        if self.gold is None:
            return list(self.files)
        return [self.gold, *self.files]

    def results_of_file(self, file: str) -> dict[str, EvidenceResult]:
        """Score each system of a file by itself, and print what its predictions lack. Return the results by system.

        A notice about gold would be the same for every system and is printed once.
        """
        progress = {"progress": with_bar} if self.mode.takes_long else {}
        result_by_system = scoring.score_systems(self.mode, self.gold, file, **self._arguments, **progress)
        for result in result_by_system.values():
            for notice in result.notices:
                if notice not in self._printed_notices:
                    self._printed_notices.add(notice)
                    remark(notice)
        return result_by_system

    def one(self) -> Any:
        """Return the result of the one system. Raises UsageError where the file holds several."""
        result_by_system = self.results_of_file(self.files[0])
        if len(result_by_system) != 1:
            names = ", ".join(one_line(name, 40) for name in result_by_system)
            raise UsageError(f"{self.files[0]} has {len(result_by_system)} runs ({names}): choose one with --run ID")
        return next(iter(result_by_system.values()))

    def explained(self, measure: str | None) -> Any:
        """Return how the units that --unit names were scored, or a summary of the system."""
        task: Any = task_named(self.mode.name)
        return task.explain(self.one(), self._line.texts("--unit"), measure, progress=with_analysis_bar)

    def both(self) -> tuple[Any, Any, tuple[str, str]]:
        """Return the results A and B with their names: two systems, or one under two policies.

        Raises UsageError for another number of systems.
        """
        policy = self._line.get("--policy-b")
        if policy is not None:
            return self._under_two_policies(policy)
        results = self.several().results
        if len(results) != 2:
            names = ", ".join(one_line(name, 40) for name in results)
            raise UsageError(f"name two systems, A and B; there are {len(results)} ({names})")
        name_a, name_b = results
        return results[name_a], results[name_b], (name_a, name_b)

    def _under_two_policies(self, policy: str) -> tuple[Any, Any, tuple[str, str]]:
        """Return the one system under the policy in force and under another. Raises UsageError for two files."""
        if len(self.files) != 1:
            raise UsageError(f"--policy-b is for one run; there are {len(self.files)} files")
        result_a = self.one()
        arguments = self._arguments
        self._arguments = {**arguments, "policy": policy}
        result_b = self.one()
        self._arguments = arguments
        return result_a, result_b, ("as given", f"policy {result_b.mode.chosen.policy}")

    def several(self) -> systems.Systems:
        """Return the results of all systems by name: that of the file, or of the run where a file has several.

        Raises UsageError for too few systems.
        """
        chosen_runs = self._line.texts("--run")
        if len(chosen_runs) > 1:
            self._arguments["run"] = ""
        result_by_name: dict[str, Any] = {}
        file_of_each_result = []
        for file_name, file in zip(systems.system_names(self.files), self.files):
            result_by_run = self.results_of_file(file)
            for run, result in result_by_run.items():
                if len(chosen_runs) > 1 and run not in chosen_runs:
                    continue
                name = self._system_name(file_name, run, has_several_runs=len(result_by_run) > 1)
                result_by_name[name] = result
                file_of_each_result.append(file)
        if len(result_by_name) < self._fewest:
            only_name = next(iter(result_by_name), "none")
            raise UsageError(f"a comparison needs at least two systems: there is {only_name}")
        names_by_file = systems.names_by_file(file_of_each_result, list(result_by_name))
        return systems.Systems(result_by_name, names_by_file)

    def _system_name(self, file_name: str, run: str, *, has_several_runs: bool) -> str:
        """Return the name of a system: its file, or its run if the file has several; of several files run and file."""
        if not has_several_runs:
            return file_name
        return run if len(self.files) == 1 else f"{run} ({file_name})"


def inputs_named_by(task: str, line: Line, *, fewest: int = 1, most: int | None = 1) -> Runs | Predictions:
    """Return the inputs that a command line names. Raises UsageError where it names too few, too many or wrong ones."""
    if task != COLD_START:
        return Predictions(task, line, fewest, most)
    runs = Runs(line)
    _ = runs.options_per_run  # impossible options are reported first
    return runs
