"""The queries, assessments and runs that a Cold Start command line names: found by content, loaded and scored."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from cs_score.base.errors import UsageError
from cs_score.base.outputs import ending_of
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late, paused_collector
from cs_score.base.sources import Input, name_of, rereadable
from cs_score.cli.core import Line
from cs_score.cli.options import Scoring, read_resampling
from cs_score.cli.output import remark, say, warn
from cs_score.cli.problem_report import report_on_stderr
from cs_score.coldstart.converters import converter_for
from cs_score.coldstart.gold import load_run, open_gold, with_folder_remarks, with_pool
from cs_score.coldstart.linking import folders_without_files, members, what_folders_hold
from cs_score.coldstart.options import read_policies
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.scorer import OneRun, run_files, runs_of, score_each
from cs_score.problems.log import ProblemLog, RecordingLog
from cs_score.tasks import COLD_START, TASKS

if TYPE_CHECKING:
    from cs_score.analysis import systems
    from cs_score.analysis.coldstart import groups, scored
    from cs_score.analysis.coldstart.scored import Scored
    from cs_score.coldstart.gold import Gold, Run
    from cs_score.coldstart.options import Options
    from cs_score.coldstart.result import Result
    from cs_score.preparation.runs import PreparedRun
else:
    systems = Late("cs_score.analysis.systems")
    groups = Late("cs_score.analysis.coldstart.groups")
    scored = Late("cs_score.analysis.coldstart.scored")


class RunSelection(Record, eq=False):
    """The runs that a command line chooses, and its files of assessments."""

    runs: list[OneRun]
    assessments: list[Input]


class ChosenRun(Record, eq=False):
    """The only run, by its last file, and the files to load before that: assessments and the run's other files."""

    run: OneRun
    files_before: list[Input]


class OpenedRuns(Record, eq=False):
    """Gold that has queries but no pool yet, the files of assessments, and the runs."""

    gold: Gold
    assessments: list[Input]
    runs: list[OneRun]


class ChangesOfB(Record):
    """What makes B of the run that is A, None for what stays: its policy, its pool, its edition."""

    policy: str | None
    pool: str | None
    edition: str | None

    @property
    def are_given(self) -> bool:
        return self.policy is not None or self.pool is not None or self.edition is not None


class Runs(Scoring):
    """Queries, assessments and runs, which are recognised by their content."""

    def __init__(self, line: Line) -> None:
        super().__init__(line)
        self.queries: list[str] = []
        self.files: list[Input] = []
        for word in line.words:
            if is_query_file(word):
                self.queries.append(word)
            else:
                self.files.append(word)
        self.files += line.texts("--knowledge-base")
        self.validates = "--validate" in line
        self._runs_with_warnings: list[OneRun] = []

    @cached_property
    def options_per_run(self) -> Options:
        """The options for scoring each run by itself; `runids`, which choose among the runs, are not among them."""
        return replace(self.options, runids=None)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The further policies, the groups and the settings of intervals that an analysis takes."""
        other_policies = self.line.texts("--also-policy")
        return {
            "policies": read_policies(other_policies, self.options_per_run, self.policy_texts, "--also-policy"),
            "by": groups.read_crossings(self.line.texts("--by")),
            "resampling": read_resampling(self.line),
        }

    @cached_property
    def knowledge_bases(self) -> frozenset[Input]:
        """The files that --knowledge-base names, and those whose first lines are a knowledge base's."""
        knowledge_bases: list[Input] = list(self.line.texts("--knowledge-base"))
        for word in self.files:
            for file in members(word):
                if isinstance(file, str) and converter_for(file) is not None:
                    knowledge_bases.append(file)
        return frozenset(knowledge_bases)

    # -- Finding

    def find_runs(self) -> RunSelection:
        """Return the assessments, and the runs that --run or -runids choose, knowledge bases among them.

        Raises UsageError where queries, runs or assessments are missing, or a run of that id.
        """
        self.files = [rereadable(file) for file in self.files]  # they are recognised first, then loaded
        _refuse_evidence_files(self.files)
        files, assessments = run_files(self.files, self.knowledge_bases)
        if not files:
            raise UsageError(self._message_without("run"))
        if not assessments:
            raise UsageError(self._message_without("assessments (pool)"))
        if not self.queries:
            raise UsageError(self._message_without_queries())
        run_ids = self.line.texts("--run") or self.run_ids
        return RunSelection(runs_of(files, self.knowledge_bases, run_ids or None), assessments)

    def _message_without(self, kind: str) -> str:
        """Return the message that no file is of a kind."""
        names = ", ".join([name_of(file) for file in self.files]) or "no file beside the queries"
        folders = folders_without_files(self.files)
        remedy = what_folders_hold(folders) if folders else "name queries, assessments and a run"
        return f"no {kind} among the files: there is {names}; {remedy}"

    def _message_without_queries(self) -> str:
        """Return the message that no file has queries, with a remedy where -queries was taken to name one."""
        message = "no query file (*.xml) among the files; name queries, assessments and a run"
        query_list = self.line.get("-queries") or ""
        if is_query_file(query_list):
            message += f"; -queries chooses some of them: write {query_list} without it"
        return message

    def _find_one_run(self) -> ChosenRun:
        """Return the only run among the files. Raises UsageError for several."""
        selection = self.find_runs()
        run_ids = {run.run_id for run in selection.runs}
        if len(run_ids) > 1:
            raise UsageError(
                f"there are {len(selection.runs)} runs ({_descriptions(selection.runs)}): choose one with --run ID"
            )
        is_shared = any(run.is_shared for run in selection.runs)
        run = replace(selection.runs[-1], is_shared=is_shared)
        other_files = [run.file for run in selection.runs[:-1]]
        return ChosenRun(run, [*selection.assessments, *other_files])

    def open_runs(self) -> OpenedRuns:
        """Read the queries and find assessments and runs, to score these against one pool or another.

        Raises UsageError.
        """
        options = self.options_per_run
        if "-" in self.files:
            raise UsageError("standard input cannot be read once for each run: name a file")
        options.check()
        selection = self.find_runs()
        gold = open_gold(self.queries, options, validates=self.validates)
        return OpenedRuns(gold, selection.assessments, selection.runs)

    def read_gold(self, options: Options, assessments: Sequence[Input]) -> Gold:
        """Read the queries and the assessments under some options. Raises InputError."""
        return with_pool(open_gold(self.queries, options), assessments)

    def _open_gold(self) -> Gold:
        """Read the queries, with a remark on every folder that holds no file to load."""
        return with_folder_remarks(open_gold(self.queries, self.options_per_run), self.files)

    # -- Loading

    def load_alone(
        self, gold: Gold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None
    ) -> Run:
        """Load a run by itself, behind the files of `pool` where gold has none. A knowledge base is resolved first.

        Problems go to a branch of the log of gold unless a log is given. Raises InputError.
        """
        gold = run.restrict(gold)
        files = [*pool, run.file]
        if problems is None:
            problems = gold.problems.branch()
        knowledge_bases = [file for file in files if file in self.knowledge_bases]
        if knowledge_bases or gold.validates:
            return load_as_prepared(gold, files, knowledge_bases, problems)
        return load_run(gold, files, problems=problems)

    def load_with_warnings(
        self, gold: Gold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None
    ) -> Run:
        """Load a run as `load_alone` does, and warn of it the first time that it is loaded. Raises InputError."""
        loaded_run = self.load_alone(gold, run, pool, problems)
        if run not in self._runs_with_warnings:
            self._runs_with_warnings.append(run)
            _warn_of(loaded_run, name_of(run.file))
        return loaded_run

    # -- One run

    def one(self) -> Scored:
        """Load and score the only run; remarks go to standard error."""
        chosen = self._find_one_run()
        with paused_collector():
            loaded_run = self.load_alone(self._open_gold(), chosen.run, chosen.files_before)
            scored_run = scored.score_for_analysis(loaded_run, self.options_per_run.policy)
        self._warn_of_scores(loaded_run, scored_run)
        return scored_run

    def explained(self, measure: str | None) -> Any:
        """Explain the lines, queries, classes, nodes and answers that the options select.

        A run with an error that ends scoring is explained as far as it goes. Raises InputError where nothing could be
        loaded.
        """
        from cs_score.analysis.coldstart.explanation import explanation

        self.options_per_run.check()
        chosen = self._find_one_run()
        policy = self.options_per_run.policy
        with paused_collector():
            gold = self._open_gold()
            stop = None
            if self.knowledge_bases:
                loaded_run = self.load_alone(gold, chosen.run, chosen.files_before)
            else:
                files = [*chosen.files_before, chosen.run.file]
                loaded_run, stop = explanation.load_as_far_as_possible(chosen.run.restrict(gold), files)
            if stop is not None and not loaded_run.layouts:
                raise stop
            scored_run = explanation.score_as_far_as_possible(loaded_run, policy, stop=stop)
        self._warn_of_scores(loaded_run, scored_run)
        return explanation.explain(
            scored_run,
            line=self.line.texts("--line"),
            query=self.line.texts("--unit"),
            class_name=self.line.texts("--class"),
            node=self.line.texts("--node"),
            answer=self.line.texts("--answer"),
            measure=measure,
        )

    def _warn_of_scores(self, loaded_run: Run, scored_run: Scored) -> None:
        """Print warnings and remarks on a run and its scores on standard error."""
        _warn_of(loaded_run)
        say_policy(self, scored_run.result.duplicates)
        if scored_run.stopped is not None and scored_run.result.tables.sf.rows:
            warn(f"there is no average precision: {scored_run.stopped}")
        if scored_run.headline_remark is not None and self.line.get("--measure") is None:
            remark(scored_run.headline_remark)

    # -- Several runs

    def several(self) -> systems.Systems:
        """Score several runs, each by itself, and return their results by name."""
        with paused_collector():
            opened = self.open_runs()
            if len(opened.runs) < 2:
                raise UsageError(
                    f"a comparison needs at least two runs; there is {_description(opened.runs[0])} among the files; "
                    "see cs-score compare coldstart -help"
                )
            gold = with_pool(opened.gold, opened.assessments)
            results = score_each(gold, opened.runs, self.load_alone)
        say_policy(self, _count_duplicates(results))
        names = systems.run_names(opened.runs)
        for name, result in zip(names, results):
            warn(*result.warnings, file=name)
            if result.error_count:
                warn(f"{result.error_count} errors in the input; score the run by itself to see them", file=name)
        files = [run.file for run in opened.runs]
        return systems.Systems(dict(zip(names, results)), systems.names_by_file(files, names))

    # -- Two to compare

    def both(self) -> tuple[Scored, Scored, tuple[str, str]]:
        """Score A and B: two runs, or one run as given and again as --policy-b, --pool-b and --follow-b say.

        Returns A, B and their names. Raises UsageError for another number of runs.
        """
        changes = ChangesOfB(
            policy=self.line.get("--policy-b"), pool=self.line.get("--pool-b"), edition=self.line.get("--follow-b")
        )
        if "-" in self.files or changes.pool == "-":
            raise UsageError("standard input cannot be read once for each of the two: name a file")
        selection = self.find_runs()
        _check_run_count(selection.runs, changes)
        with paused_collector():
            if changes.are_given:
                return self._score_twice(selection.runs[0], selection.assessments, changes)
            return self._score_two(selection)

    def _score_two(self, selection: RunSelection) -> tuple[Scored, Scored, tuple[str, str]]:
        """Score two runs under the same options."""
        run_a, run_b = selection.runs
        gold = self.read_gold(self.options_per_run, selection.assessments)
        a = self._score_of_pair(gold, run_a, self.options_per_run)
        b = self._score_of_pair(gold, run_b, self.options_per_run)
        say_policy(self, a.result.duplicates + b.result.duplicates)
        name_a, name_b = systems.run_names(selection.runs)
        return a, b, (name_a, name_b)

    def _score_twice(
        self, run: OneRun, assessments: Sequence[Input], changes: ChangesOfB
    ) -> tuple[Scored, Scored, tuple[str, str]]:
        """Score a run as given, and with the changes."""
        options = self.options_per_run
        gold = self.read_gold(options, assessments)
        a = self._score_of_pair(gold, run, options)
        a = replace(a, again=partial(self._score_again, run, assessments))

        inputs_of_b = self
        names_of_changes = []
        if changes.edition is not None:
            inputs_of_b = Runs(self.line.with_changes({"--follow": changes.edition}))
            names_of_changes.append(f"edition {inputs_of_b.options_per_run.follow}")
        options_of_b = inputs_of_b.options_per_run
        if changes.policy is not None:
            [policy] = read_policies([changes.policy], options_of_b, inputs_of_b.policy_texts, "--policy-b")
            options_of_b = policy.options(options_of_b)
            names_of_changes.append(f"policy {policy.name}")
        if changes.pool is not None:
            gold = self.read_gold(options_of_b, [changes.pool])
            names_of_changes.append(f"pool {changes.pool}")
        elif options_of_b != options:
            gold = self.read_gold(options_of_b, assessments)
        b = self._score_of_pair(gold, run, options_of_b)
        return a, b, ("as given", ", ".join(names_of_changes))

    def _score_again(self, run: OneRun, assessments: Sequence[Input], options: Options) -> Scored:
        """Read a run and its assessments again, and score it under other options. Raises InputError."""
        gold = self.read_gold(options, assessments)
        return scored.score_for_analysis(self.load_alone(gold, run), options.policy)

    def _score_of_pair(self, gold: Gold, run: OneRun, options: Options) -> Scored:
        """Load and score one of the two, and warn of it by the name of its file."""
        loaded_run = self.load_alone(gold, run)
        _warn_of(loaded_run, name_of(run.file))
        return scored.score_for_analysis(loaded_run, options.policy)


def _refuse_evidence_files(files: Iterable[Input]) -> None:
    """Raise UsageError for a file of a task of evidence, which the command line has to name."""
    tasks = ", ".join([task for task in TASKS if task != COLD_START])
    for file in files:
        if isinstance(file, str) and ending_of(file) in (".json", ".jsonl") and os.path.isfile(file):
            raise UsageError(f"{file} is no file of Cold Start; name its task: {tasks}")


def _check_run_count(runs: Sequence[OneRun], changes: ChangesOfB) -> None:
    """Raise UsageError unless there are two runs, or one where B is the same run with changes."""
    count = 2
    needed = "two runs"
    if changes.are_given:
        count = 1
        needed = "one run, with --policy-b, --pool-b or --follow-b"
    if len(runs) == count:
        return
    verb = "is" if len(runs) == 1 else "are"
    situation = f"there {verb} {len(runs)} among the files ({_descriptions(runs)})"
    if len(runs) > count:
        situation += "; choose with --run ID"
    raise UsageError(f"name {needed}; {situation}; see cs-score diff -help")


def _description(run: OneRun) -> str:
    return f"{run.run_id} in {name_of(run.file)}"


def _descriptions(runs: Iterable[OneRun]) -> str:
    return ", ".join([_description(run) for run in runs])


def _count_duplicates(results: Iterable[Result]) -> int:
    """Return the number of duplicates in all runs of some results."""
    duplicates = 0
    for result in results:
        for run in result.runs:
            duplicates += run.duplicates
    return duplicates


def _warn_of(run: Run, file_name: str | None = None) -> None:
    """Write the remarks on a loaded run on standard error, and whether it has errors."""
    warn(*run.remarks, file=file_name)
    if run.problems.has_errors:
        warn("there are errors in the input; score the run to see them", file=file_name)


def say_policy(scoring: Scoring, duplicates: int) -> None:
    """Say which policy the duplicates were scored under, and which one counts them otherwise, where none was named."""
    if duplicates == 0 or scoring.line.first("--policy -right -wrong -ignore") is not None:
        return
    noun = "duplicate" if duplicates == 1 else "duplicates"
    if "DUPLICATE" in scoring.edition.ignore:
        remark(f"{duplicates} {noun} ignored (policy kb); --policy sf counts them as wrong")
    else:
        remark(f"{duplicates} {noun} wrong (policy sf); --policy kb ignores them")


def load_as_prepared(
    gold: Gold, files: Sequence[Input], knowledge_bases: Collection[Input], problems: ProblemLog
) -> Run:
    """Load files as the scorer does, but resolve knowledge bases and, where gold wants it, validate every run first.

    Standard error says what that changed. Raises InputError where a knowledge base or a run has errors.
    """
    from cs_score.preparation.inputs import PreparationSettings, prepare_inputs, validate_inputs
    from cs_score.preparation.runs import load_prepared

    settings = PreparationSettings(
        queries=gold.table,
        limits=gold.options.justifications,
        validates=gold.validates,
        only_run_id=gold.only_run_id,
        new_log=type(problems),
        on_prepared=partial(_account_for, problems),
    )
    if not knowledge_bases:  # a folder is validated as one run
        return load_prepared(gold, validate_inputs(files, settings), problems=problems)
    prepared = prepare_inputs(files, settings, knowledge_bases)
    return load_prepared(gold, prepared, problems=problems)


def _account_for(problems: ProblemLog, run: PreparedRun) -> None:
    """Say on standard error what became of a run that was prepared, and add its problems to a recording log.

    Raises InputError for a run with errors, which must not be scored.
    """
    say(report_on_stderr(run.problems))
    if isinstance(problems, RecordingLog) and isinstance(run.problems, RecordingLog):
        problems.also_report(run.problems)
    run.check()
    remark(run.account)
