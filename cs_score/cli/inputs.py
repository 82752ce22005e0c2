"""What a command line names: runs with queries and assessments, or gold with predictions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import ending_of
from cs_score.base.records import replace
from cs_score.base.runtime import Late, paused_collector
from cs_score.base.sources import Input, name_of, rereadable
from cs_score.cli.core import Line
from cs_score.cli.options import Scoring, own_arguments, read_resampling, report_on_stderr
from cs_score.cli.output import remark, say, warn, with_bar
from cs_score.coldstart.gold import load_run, noting_folders, open_gold, with_pool
from cs_score.coldstart.linking import folders_without_files, members, what_folders_hold
from cs_score.coldstart.options import read_policies
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.scorer import OneRun, run_files, runs_of, score_each
from cs_score.knowledge_base.recognition import is_knowledge_base
from cs_score.problems.log import ProblemLog, RecordingLog
from cs_score.tasks import COLD_START, TASKS, mode_named, task_named

if TYPE_CHECKING:
    from cs_score.analysis import comparison
    from cs_score.analysis.coldstart import groups, scored
    from cs_score.analysis.coldstart.scored import Scored
    from cs_score.coldstart.gold import Gold, Run
    from cs_score.coldstart.options import Options
    from cs_score.evidence.mode import Result as EvidenceResult
    from cs_score.preparation.runs import PreparedRun
else:
    comparison = Late("cs_score.analysis.comparison")
    groups, scored = Late("cs_score.analysis.coldstart.groups"), Late("cs_score.analysis.coldstart.scored")


class Runs(Scoring):
    """Queries, assessments and runs, which are recognised by their content."""

    def __init__(self, line: Line) -> None:
        super().__init__(line)
        self.queries = [word for word in line.words if is_query_file(word)]
        named = line.texts("--knowledge-base")
        self.files: list[Input] = [*(word for word in line.words if not is_query_file(word)), *named]
        self.validates = "--validate" in line
        self._loaded: list[OneRun] = []

    @cached_property
    def apart(self) -> Options:
        """The options, where `runids` choose among runs that are each scored by itself."""
        return replace(self.options, runids=None)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Policies and groups that are wanted beside the usual ones, and the settings of intervals."""
        also = self.line.texts("--also-policy")
        return {
            "policies": read_policies(also, self.apart, self.policy_texts, "--also-policy"),
            "by": groups.crossed(self.line.texts("--by")),
            "resampling": read_resampling(self.line),
        }

    @cached_property
    def knowledge_bases(self) -> frozenset[Input]:
        """Those that --knowledge-base names, or that are recognised by their first lines."""
        found = (member for word in self.files for member in members(word))
        known = (member for member in found if isinstance(member, str) and is_knowledge_base(member))
        return frozenset([*known, *self.line.texts("--knowledge-base")])

    def found(self) -> tuple[list[OneRun], list[Input]]:
        """The runs, with knowledge bases among them, that --run or -runids choose, and the assessments.

        Raises UsageError where there are no queries, runs or assessments, or no run of that id.
        """
        line, self.files = self.line, list(map(rereadable, self.files))
        for file in self.files:
            if isinstance(file, str) and ending_of(file) in (".json", ".jsonl") and os.path.isfile(file):
                raise UsageError(f"{file} is no file of Cold Start; name its task: {', '.join([*TASKS][1:])}")
        runs, assessments = run_files(self.files, self.knowledge_bases)
        for given, lacking in ((runs, "run"), (assessments, "assessments (pool)")):
            if not given:
                there = ", ".join(map(name_of, self.files)) or "no file beside the queries"
                folders = folders_without_files(self.files)
                remedy = what_folders_hold(folders) if folders else "name queries, assessments and a run"
                raise UsageError(f"no {lacking} among the files: there is {there}; {remedy}")
        if not self.queries:
            listed = line.get("-queries") or ""
            hint = f"; -queries chooses some of them: write {listed} without it" if is_query_file(listed) else ""
            raise UsageError(f"no query file (*.xml) among the files; name queries, assessments and a run{hint}")
        chosen = line.texts("--run") or self.run_ids
        return runs_of(runs, self.knowledge_bases, chosen or None), assessments

    def _the_run(self) -> tuple[OneRun, list[Input]]:
        """The one run, in its last file, and what comes before that: assessments, and its other files."""
        runs, assessments = self.found()
        if len({run.run_id for run in runs}) > 1:
            raise UsageError(f"there are {len(runs)} runs ({', '.join(map(_called, runs))}): choose one with --run ID")
        run = replace(runs[-1], is_shared=any(each.is_shared for each in runs))
        return run, [*assessments, *(each.file for each in runs[:-1])]

    def alone(self, gold: Gold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None) -> Run:
        """The run by itself, with assessments where gold has none; a knowledge base is resolved. Raises InputError."""
        gold, files = run.over(gold), [*pool, run.file]
        problems = gold.problems.branch() if problems is None else problems
        known = [file for file in files if file in self.knowledge_bases]
        if known or gold.validates:
            return load_as_prepared(gold, files, known, problems)
        return load_run(gold, files, problems=problems)

    def one(self) -> Scored:
        """The run, scored; remarks go to standard error."""
        run, assessments = self._the_run()
        with paused_collector():
            gold = noting_folders(open_gold(self.queries, self.apart), self.files)
            loaded = self.alone(gold, run, assessments)
            found = scored.score_for_analysis(loaded, self.apart.policy)
        self._say_of(loaded, found)
        return found

    def explained(self, measure: str | None) -> Any:
        """The explanation of what the selectors name."""
        from cs_score.analysis.coldstart.explanation.explanation import (
            explain,
            load_as_far_as_possible,
            score_as_far_as_possible,
        )

        self.apart.check()
        run, assessments = self._the_run()
        with paused_collector():
            gold = noting_folders(open_gold(self.queries, self.apart), self.files)
            if self.knowledge_bases:
                loaded, stop = self.alone(gold, run, assessments), None
            else:
                loaded, stop = load_as_far_as_possible(run.over(gold), [*assessments, run.file])
            if stop is not None and not loaded.layouts:
                raise stop
            found = score_as_far_as_possible(loaded, self.apart.policy, stop=stop)
        self._say_of(loaded, found)
        names = {"line": "--line", "query": "--unit", "class_name": "--class", "node": "--node", "answer": "--answer"}
        return explain(found, **{key: self.line.texts(name) for key, name in names.items()}, measure=measure)

    def _say_of(self, loaded: Run, found: Scored) -> None:
        _warn_of(loaded)
        say_policy(self, found.result.duplicates)
        if found.stopped is not None and found.result.tables.sf.rows:
            warn(f"there is no average precision: {found.stopped}")

    def both(self) -> tuple[Scored, Scored, tuple[str, str]]:
        """A and B, scored, and what they are called."""
        line, given = self.line, self.apart
        policy_b, pool_b, follow_b = map(line.get, ("--policy-b", "--pool-b", "--follow-b"))
        if "-" in (*self.files, pool_b):
            raise UsageError("standard input cannot be read once for each of the two: name a file")
        runs, pool = self.found()
        wanted = 2 if policy_b is None and pool_b is None and follow_b is None else 1
        if len(runs) != wanted:
            shown = "two runs" if wanted == 2 else "one run, with --policy-b, --pool-b or --follow-b"
            there = f"{len(runs)} among the files ({', '.join(map(_called, runs))})"
            choose = "; choose with --run ID" if len(runs) > wanted else ""
            verb = "is" if len(runs) == 1 else "are"
            raise UsageError(f"name {shown}; there {verb} {there}{choose}; see cs-score diff -help")

        def of(gold: Gold, run: OneRun, options: Options) -> Scored:
            loaded = self.alone(gold, run)
            _warn_of(loaded, name_of(run.file))
            return scored.score_for_analysis(loaded, options.policy)

        def gold_of(options: Options, assessments: Sequence[Input]) -> Gold:
            return with_pool(open_gold(self.queries, options), assessments)

        def again(options: Options) -> Scored:
            return scored.score_for_analysis(self.alone(gold_of(options, pool), runs[0]), options.policy)

        with paused_collector():
            gold = gold_of(given, pool)
            a = of(gold, runs[0], given)
            if wanted == 2:
                first, second = _names(runs)
                b = of(gold, runs[1], given)
                say_policy(self, a.result.duplicates + b.result.duplicates)
                return a, b, (first, second)
            a = replace(a, again=again)
            of_b, other, name = self, given, []
            if follow_b is not None:
                of_b = Runs(line.but({"--follow": follow_b}))
                other = of_b.apart
                name.append(f"edition {other.follow}")
            if policy_b is not None:
                [policy] = read_policies([policy_b], other, of_b.policy_texts, "--policy-b")
                other = policy.options(other)
                name.append(f"policy {policy.name}")
            if pool_b is not None or other != given:
                gold = gold_of(other, pool if pool_b is None else [pool_b])
                name += [] if pool_b is None else [f"pool {pool_b}"]
            return a, of(gold, runs[0], other), ("as given", ", ".join(name))

    def several(self) -> Mapping[str, Any]:
        """The results of several runs by name."""
        with paused_collector():
            opened, pool, runs = self.opened()
            if len(runs) < 2:
                there = f"there is {_called(runs[0])} among the files"
                raise UsageError(f"a comparison needs at least two runs; {there}; see cs-score compare coldstart -help")
            found = score_each(with_pool(opened, pool), runs, self.alone)
        say_policy(self, sum(run.duplicates for result in found for run in result.runs))
        results = dict(zip(_names(runs), found))
        for name, result in results.items():
            warn(*result.warnings, file=name)
            if result.error_count:
                warn(f"{result.error_count} errors in the input; score the run by itself to see them", file=name)
        return results

    def opened(self) -> tuple[Gold, list[Input], list[OneRun]]:
        """Queries, assessments and runs, for scores against one pool or another. Raises UsageError."""
        options = self.apart
        if "-" in self.files:
            raise UsageError("standard input cannot be read once for each run: name a file")
        options.check()
        runs, pool = self.found()
        return open_gold(self.queries, options, validates=self.validates), pool, runs

    def load(self, gold: Gold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None) -> Run:
        """The run by itself; what is to be known of it is said once. Raises InputError."""
        loaded = self.alone(gold, run, pool, problems)
        if run not in self._loaded:
            self._loaded.append(run)
            _warn_of(loaded, name_of(run.file))
        return loaded


def _called(run: OneRun) -> str:
    return f"{run.run_id} in {name_of(run.file)}"


def _names(runs: Sequence[OneRun]) -> list[str]:
    """What runs are called in a table: as their files, or by their ids where a file has several."""
    often = Counter(run.run_id for run in runs)
    return [
        file if not run.is_shared else run.run_id if often[run.run_id] == 1 else f"{run.run_id} ({file})"
        for run, file in zip(runs, comparison.system_names([run.file for run in runs]))
    ]


def _warn_of(run: Run, name: str | None = None) -> None:
    warn(*run.remarks, file=name)
    if run.problems.has_errors:
        warn("there are errors in the input; score the run to see them", file=name)


def say_policy(given: Scoring, duplicates: int) -> None:
    """Where none was named, say which policy is in force with so many duplicates, and which one counts differently."""
    if duplicates and given.line.first("--policy -right -wrong -ignore") is None:
        is_ignored = "DUPLICATE" in given.edition.ignore
        name, other = ("kb", "sf") if is_ignored else ("sf", "kb")
        outcome, instead = ("ignored", "counts them as wrong") if is_ignored else ("wrong", "ignores them")
        found = f"{duplicates} duplicate{'s' if duplicates > 1 else ''} {outcome} (policy {name})"
        remark(f"{found}; --policy {other} {instead}")


def load_as_prepared(gold: Gold, files: Sequence[Input], knowledge_bases: Iterable[Input], problems: ProblemLog) -> Run:
    """Load files as the scorer does, knowledge bases resolved and, where gold wants it, every run validated first.

    What that changed is said on standard error. Raises InputError where something has errors: it would not exist.
    """
    from cs_score.knowledge_base.validation import prepared_files
    from cs_score.preparation.runs import load_prepared

    def account(run: PreparedRun) -> None:
        say(report_on_stderr(run.problems))
        if isinstance(problems, RecordingLog) and isinstance(run.problems, RecordingLog):
            problems.also_report(run.problems)
        run.check()
        remark(run.account)

    prepared = prepared_files(
        files, gold.table, gold.options.justifications, validate=gold.validates, known=[*knowledge_bases],
        folders_are_runs=True, alone=gold.alone, new_log=type(problems), met=account,
    )  # fmt: skip
    return load_prepared(gold, prepared, problems=problems)


# ---- Gold and predictions

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
        try:
            result = self.mode.score(self.gold, file, **self._own, **progress)
        except InputError as error:
            from cs_score.evidence.mode import advice

            if (text := advice(self.mode, self.gold, file)) is not None:
                raise UsageError(text) from None
            raise error
        for notice in result.notices:
            remark(notice)
        return result

    def one(self) -> Any:
        return self._scored(self.files[0])

    def explained(self, measure: str | None) -> Any:
        task: Any = task_named(self.mode.name)
        return task.explain(self.one(), self._line.texts("--unit"), measure, progress=analysing)

    def both(self) -> tuple[Any, Any, tuple[str, str]]:
        (first, a), (second, b) = self.several().items()
        return a, b, (first, second)

    def several(self) -> Mapping[str, Any]:
        return {name: self._scored(file) for name, file in zip(comparison.system_names(self.files), self.files)}


def named_by(task: str, line: Line, *, fewest: int = 1, most: int | None = 1) -> Runs | Predictions:
    """What a command line names. Raises UsageError."""
    if task != COLD_START:
        return Predictions(task, line, fewest, most)
    runs = Runs(line)
    _ = runs.apart  # what the options cannot be is said first
    return runs
