"""Find the gold and the predictions that a command line names, and score them. Gold is the annotation of an evidence
task such as SciFact, and predictions are the output of a system; a file of some tasks holds the predictions of several
systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from cs_score.base.display import one_line
from cs_score.base.errors import UsageError
from cs_score.base.runtime import Late
from cs_score.cli.core import CommandLine
from cs_score.cli.output import remark, with_percentage
from cs_score.cli.task_options import option_values_of_task
from cs_score.tasks import mode_named

if TYPE_CHECKING:
    from cs_score.analysis import systems
    from cs_score.evidence.mode import Mode, ScoredPredictions
    from cs_score.tasks import score_files as scoring
else:
    scoring = Late("cs_score.tasks.score_files")
    systems = Late("cs_score.analysis.systems")


Value = TypeVar("Value")


def with_analysis_percentage(items: Sequence[Value]) -> Iterator[Value]:
    """Yield the units of an analysis, and show on a terminal how many are done."""
    return with_percentage(items, activity="analysing")


def gold_and_predictions(command_line: CommandLine) -> tuple[str, list[str]]:
    """Return the gold file and the files of predictions, for a task that needs gold.

    The gold file is the value of --gold or else the first word. Raises UsageError if there is neither.
    """
    files = list(command_line.positional_words)
    gold = command_line.get("--gold")
    if not gold and files:
        gold = files.pop(0)
    if not gold:
        raise UsageError("--gold FILE must be given")
    return gold, files


def find_gold_and_predictions(
    mode: Mode, command_line: CommandLine, *, is_single_file: bool
) -> tuple[str | None, list[str]]:
    """Return the gold file and the files of predictions. The gold file may be None if the task does not need one.

    `is_single_file` says whether the command scores a single file of predictions. If so, and if the task does not need
    gold but the command line has two files, the first file is gold. Raises UsageError if the task needs gold and none
    is named.
    """
    if mode.needs_gold:
        return gold_and_predictions(command_line)
    gold = command_line.get("--gold")
    files = list(command_line.positional_words)
    if gold is None and is_single_file and _has_two_files(command_line):
        return files[0], files[1:]
    return gold, files


def _has_two_files(command_line: CommandLine) -> bool:
    """Return whether two files are named: by two words, or by one word and --predictions."""
    words_needed = 1 if "--predictions" in command_line else 2
    return len(command_line.positional_words) == words_needed


class Predictions:
    """The gold file and the files of predictions that a command line names. A file holds the predictions of one system
    or, in some tasks, the runs of several. The result of each system is known by a name.

    Every fault of the command line raises UsageError before a file is read.
    """

    def __init__(
        self, task: str, command_line: CommandLine, fewest_systems: int = 1, most_systems: int | None = 1
    ) -> None:
        """Find and check the files of a command line.

        `fewest_systems` and `most_systems` limit the number of systems that the files may hold; `most_systems` is None
        if there is no upper limit.
        """
        self.mode = mode_named(task)
        self._command_line = command_line
        self._arguments = option_values_of_task(task, command_line)
        self._fewest_systems = fewest_systems
        self._is_pair = most_systems == 2  # the sides A and B of a difference
        self._printed_notices: set[str] = set()
        gold, prediction_files = find_gold_and_predictions(self.mode, command_line, is_single_file=most_systems == 1)
        self.gold = gold
        if most_systems == 1:
            self.files = [self._single_file(task, prediction_files)]
        else:
            self.files = prediction_files
            self._check_several_files()

    def _single_file(self, task: str, prediction_files: Sequence[str]) -> str:
        """Return the only file of predictions: the value of --predictions, or else the only one of `prediction_files`.

        Raises UsageError if there is no file of predictions, or more than one.
        """
        further_files = list(prediction_files)
        predictions = self._command_line.get("--predictions")
        if not predictions and further_files:
            predictions = further_files.pop(0)
        if not predictions:
            raise UsageError("--predictions FILE must be given")
        if further_files:
            raise self._error_for_further_files(task, predictions, further_files)
        if self.gold == predictions == "-":
            raise UsageError("only one of --gold and --predictions can be standard input")
        return predictions

    def _error_for_further_files(self, task: str, predictions: str, further_files: Sequence[str]) -> UsageError:
        """Return the error for several files of predictions where one is needed; it says how systems are compared."""
        files = [file for file in (self.gold, predictions, *further_files) if file]
        return UsageError(
            f"too many words: {' '.join(further_files)}; several systems are compared by cs-score compare {task} "
            f"{' '.join(files)}"
        )

    def _check_several_files(self) -> None:
        """Raise UsageError if there are too few or too many files, or if one of them is standard input.

        If a task needs no gold, the number of files is not checked: one file may hold several systems.
        """
        if "-" in (self.gold, *self.files):
            system = "of the two" if self._is_pair else "system"
            raise UsageError(f"standard input cannot be read once for each {system}: name a file")
        # A task without gold scores tables of labelled answers, and such a table may hold several systems.
        may_hold_several_systems = not self.mode.needs_gold
        if self.files and may_hold_several_systems:
            return
        self._check_file_count()

    def _check_file_count(self) -> None:
        """Raise UsageError if there are too few or too many files of predictions."""
        if self._is_pair and len(self.files) != 2:
            raise UsageError(f"name two files of predictions, A and B, not {len(self.files)}")
        if len(self.files) < self._fewest_systems:
            # The gold file is named as well, because a file of predictions may have been given in its place.
            files = f"--gold {self.gold} {' '.join(self.files)}".rstrip()
            raise UsageError(f"a comparison needs the predictions of at least two systems: there is {files}")

    @property
    def analysis_arguments(self) -> Mapping[str, Any]:
        """The keyword arguments for an analysis: `{"policies": [...]}` if --also-policy was typed, else none."""
        policies = self._command_line.texts("--also-policy")
        return {"policies": policies} if policies else {}

    @property
    def inputs(self) -> list[str]:
        """All files that are read: gold, if there is a gold file, and the predictions."""
        if self.gold is None:
            return list(self.files)
        return [self.gold, *self.files]

    def results_of_file(self, file: str) -> dict[str, ScoredPredictions]:
        """Score each system in a file of predictions separately, and return the results by system.

        The notices of the results are printed, for example how many units have no prediction. A notice that is the same
        for several systems is printed once.
        """
        return self._score_file(file, self._arguments)

    def _score_file(self, file: str, arguments: Mapping[str, Any]) -> dict[str, ScoredPredictions]:
        """Score each system in a file of predictions, print new notices, and return the results by system.

        A system is named after its run. If the file has only one system, its name may be empty. `arguments` are the
        values of the task's options by field, such as `{"policy": "sf"}`.
        """
        arguments = dict(arguments)
        if self.mode.takes_long:
            arguments["progress"] = with_percentage
        result_by_system = scoring.score_systems(self.mode, self.gold, file, **arguments)
        for result in result_by_system.values():
            self._print_new_notices(result.notices)
        return result_by_system

    def _print_new_notices(self, notices: Iterable[str]) -> None:
        """Print the notices of a result that have not been printed yet."""
        for notice in notices:
            if notice not in self._printed_notices:
                self._printed_notices.add(notice)
                remark(notice)

    def score_single(self) -> Any:
        """Score the only system, and return its result. Raises UsageError if the file holds several systems."""
        return self._score_single_with(self._arguments)

    def _score_single_with(self, arguments: Mapping[str, Any]) -> Any:
        """Score the only system with these values of the task's options, and return its result.

        Raises UsageError if the file holds several systems.
        """
        file = self.files[0]
        result_by_system = self._score_file(file, arguments)
        if len(result_by_system) != 1:
            names = ", ".join(one_line(name, 40) for name in result_by_system)
            raise UsageError(f"{file} has {len(result_by_system)} runs ({names}): choose one with --run ID")
        return next(iter(result_by_system.values()))

    def score_pair(self) -> tuple[Any, Any, tuple[str, str]]:
        """Score the two sides of a difference, A and B, and return both results and the pair of their names.

        A and B are two systems or, with --policy-b, one system under two policies. Raises UsageError for any other
        number of systems.
        """
        policy = self._command_line.get("--policy-b")
        if policy is not None:
            return self._score_under_two_policies(policy)
        results = self.score_all().results
        if len(results) != 2:
            names = ", ".join(one_line(name, 40) for name in results)
            raise UsageError(f"name two systems, A and B; there are {len(results)} ({names})")
        name_a, name_b = results.keys()
        return results[name_a], results[name_b], (name_a, name_b)

    def _score_under_two_policies(self, policy: str) -> tuple[Any, Any, tuple[str, str]]:
        """Score the only system under the policy of the command line and under `policy`.

        Returns both results and their names. Raises UsageError if there are several systems.
        """
        if len(self.files) != 1:
            raise UsageError(f"--policy-b is for one run; there are {len(self.files)} files")
        arguments_of_b = dict(self._arguments)
        arguments_of_b["policy"] = policy
        result_a = self._score_single_with(self._arguments)
        result_b = self._score_single_with(arguments_of_b)
        name_of_b = f"policy {result_b.mode.chosen_options.policy}"
        return result_a, result_b, ("as given", name_of_b)

    def score_all(self) -> systems.Systems:
        """Score all systems, or only the runs of --run, and return their results by name.

        A system has the name of its file or, if the file has several runs, the name of its run. Raises UsageError if
        there are too few systems.
        """
        result_by_name: dict[str, Any] = {}
        file_of_each_result = []
        for short_name, file in zip(systems.system_names(self.files), self.files):
            results_of_file = self._named_results(short_name, file)
            result_by_name.update(results_of_file)
            file_of_each_result.extend([file] * len(results_of_file))
        if len(result_by_name) < self._fewest_systems:  # two for a comparison; other commands take one
            only_name = next(iter(result_by_name), "none")
            raise UsageError(f"a comparison needs at least two systems: there is {only_name}")
        names_by_file = systems.names_by_file(file_of_each_result, list(result_by_name))
        return systems.Systems(result_by_name, names_by_file)

    def _named_results(self, short_name: str, file: str) -> dict[str, ScoredPredictions]:
        """Score the systems in a file, and return the results of the chosen systems by name.

        The option --run chooses; without it, all systems are chosen. `short_name` is the name of the file in
        the result, such as `run-a` for `runs/run-a.jsonl`.
        """
        arguments = dict(self._arguments)
        if len(self._command_line.texts("--run")) > 1:
            arguments["run"] = ""  # the task's option chooses one run only: score all runs, then leave some out
        result_by_run = self._score_file(file, arguments)
        has_several_runs = len(result_by_run) > 1
        result_by_name = {}
        for run, result in result_by_run.items():
            if self._is_chosen(run):
                name = self._system_name(short_name, run, has_several_runs=has_several_runs)
                result_by_name[name] = result
        return result_by_name

    def _is_chosen(self, run: str) -> bool:
        """Return whether the results should include a run that has been scored, as --run says.

        Without --run, every run is included. A single value of --run is an option of scoring: only that run is scored.
        """
        chosen_runs = self._command_line.texts("--run")
        if len(chosen_runs) < 2:
            return True
        return run in chosen_runs

    def _system_name(self, file_name: str, run: str, *, has_several_runs: bool) -> str:
        """Return the name of a system: `FILE`, `RUN` if its file has several runs, `RUN (FILE)` with several files."""
        if not has_several_runs:
            return file_name
        if len(self.files) == 1:
            return run
        return f"{run} ({file_name})"
