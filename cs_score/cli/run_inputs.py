"""Find the queries, assessments and runs of a Cold Start command line by their content, load them and score them. A run
has the responses of a system to the queries. The assessments, also called the pool, say which responses are right.
Queries and assessments together are the gold.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import ending_of
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.base.sources import Input, name_of, rereadable
from cs_score.cli.core import CommandLine
from cs_score.cli.output import is_terminal, print_unless_quiet, remark, warn
from cs_score.cli.run_options import Scoring
from cs_score.cli.shared_options import read_resampling
from cs_score.coldstart.converters import converter_for
from cs_score.coldstart.gold import load_run, open_gold, with_pool, with_remarks_on_empty_folders
from cs_score.coldstart.linking import describe_contents, empty_folders_among, expand_folder
from cs_score.coldstart.options import read_policies
from cs_score.coldstart.output_files import report_for_stderr
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.scorer import OneRun, runs_of, score_each, split_runs_and_assessments
from cs_score.problems.log import ProblemLog, RecordingLog
from cs_score.tasks import COLD_START, TASKS

if TYPE_CHECKING:
    from cs_score.analysis import systems
    from cs_score.analysis.coldstart import groups, partial_scoring, scored
    from cs_score.analysis.coldstart.scored import AnalysedRun
    from cs_score.coldstart.gold import ColdStartGold, Run
    from cs_score.coldstart.options import Options
    from cs_score.coldstart.result import Result
    from cs_score.preparation import conversion, prepared_runs
    from cs_score.preparation.conversion import PreparationSettings
    from cs_score.preparation.prepared_runs import PreparedRun
else:
    conversion = Late("cs_score.preparation.conversion")
    prepared_runs = Late("cs_score.preparation.prepared_runs")
    systems = Late("cs_score.analysis.systems")
    groups = Late("cs_score.analysis.coldstart.groups")
    partial_scoring = Late("cs_score.analysis.coldstart.partial_scoring")
    scored = Late("cs_score.analysis.coldstart.scored")


class RunsAndAssessments(Record, eq=False):
    """The runs that a command line names or chooses, and the files with the assessments (the pool)."""

    runs: list[OneRun]
    assessments: list[Input]


class SingleRun(Record, eq=False):
    """The only run of a command line, with the last of its files.

    `files_to_load_first` are the files that are loaded before that one: the assessments and the other files of the run.
    """

    run: OneRun
    files_to_load_first: list[Input]


class RunsWithGold(Record, eq=False):
    """The runs of a command line, with its queries and with the files of assessments, which have not been read yet.

    `gold_without_pool` has the queries but no assessments.
    """

    gold_without_pool: ColdStartGold
    assessments: list[Input]
    runs: list[OneRun]


class ChangesOfB(Record):
    """How side B of a difference differs from side A if both are the same run.

    Each field is None if it is the same for both: the policy, the file of assessments, the edition of the scorer.
    """

    policy: str | None
    pool: str | None
    edition: str | None

    @property
    def has_any(self) -> bool:
        """Whether anything differs, so that A and B are the same run."""
        return self.policy is not None or self.pool is not None or self.edition is not None


class Runs(Scoring):
    """The queries, assessments and runs of a command line, which are recognised by their content. Runs are scored in
    one of three ways: a single run for an analysis, several runs for a comparison, or the two sides, A and B, of a
    difference.
    """

    def __init__(self, command_line: CommandLine) -> None:
        """Divide the words of a command line into query files and other files.

        Query files are recognised by the ending `.xml`. The other files are recognised later, by their content, as runs
        or assessments.
        """
        super().__init__(command_line)
        self.query_files: list[str] = []
        self.run_and_pool_files: list[Input] = []
        for word in command_line.positional_words:
            if is_query_file(word):
                self.query_files.append(word)
            else:
                self.run_and_pool_files.append(word)
        self.run_and_pool_files += command_line.texts("--knowledge-base")
        self.has_validation = "--validate" in command_line
        self._runs_with_warnings: list[OneRun] = []

    @cached_property
    def options_without_run_ids(self) -> Options:
        """The options for scoring each run separately: the options of the command line without -runids.

        The option -runids has already been applied when the runs in the files are found, before they are scored.
        """
        return replace(self.options, runids=None)

    def check_options(self) -> None:
        """Raise UsageError if an option for scoring has a wrong value."""
        _ = self.options_without_run_ids  # all options are read when it is computed

    @property
    def analysis_arguments(self) -> Mapping[str, Any]:
        """The keyword arguments of an analysis: further policies, dimensions of groups, and settings of intervals."""
        other_policies = self.command_line.texts("--also-policy")
        return {
            "policies": read_policies(other_policies, self.options_without_run_ids, self.policy_texts, "--also-policy"),
            "by": groups.read_crossings(self.command_line.texts("--by")),
            "resampling": read_resampling(self.command_line),
        }

    @cached_property
    def knowledge_bases(self) -> frozenset[Input]:
        """The files that --knowledge-base names, and those whose first lines show that they are knowledge bases."""
        knowledge_bases: list[Input] = list(self.command_line.texts("--knowledge-base"))
        for word in self.run_and_pool_files:
            for file in expand_folder(word):
                # Knowledge bases are the only files with a converter to a run.
                if isinstance(file, str) and converter_for(file) is not None:
                    knowledge_bases.append(file)
        return frozenset(knowledge_bases)

    # -- Finding

    def find_runs_and_assessments(self) -> RunsAndAssessments:
        """Return the runs and the files of assessments that the command line names.

        If --run or -runids is given, only the runs with the ids of the option are returned. A knowledge base counts as
        a run. The content of standard input is kept, so that it can be read again when it is loaded. Raises UsageError
        if there are no queries, no assessments or no runs, or if no run has one of the chosen ids.
        """
        # Files are read twice: to recognise them and to load them.
        self.run_and_pool_files = [rereadable(file) for file in self.run_and_pool_files]
        _refuse_evidence_files(self.run_and_pool_files)
        files_of_runs, assessments = split_runs_and_assessments(self.run_and_pool_files, self.knowledge_bases)
        self._refuse_missing_files(files_of_runs, assessments)
        return RunsAndAssessments(self._chosen_runs(files_of_runs), assessments)

    def _refuse_missing_files(self, files_of_runs: Sequence[Input], assessments: Sequence[Input]) -> None:
        """Raise UsageError, with a remedy, if there is no file with a run, with assessments, or with queries."""
        if not files_of_runs:
            raise UsageError(self._message_on_missing("run"))
        if not assessments:
            raise UsageError(self._message_on_missing("assessments (pool)"))
        if not self.query_files:
            raise UsageError(self._message_without_queries())

    def _chosen_runs(self, files_of_runs: Sequence[Input]) -> list[OneRun]:
        """Return the runs in some files. If --run or -runids is given, only the chosen runs are returned.

        Raises UsageError if no run has one of the chosen ids.
        """
        chosen_ids = self.command_line.texts("--run") or self.run_ids  # None or empty: all runs
        return runs_of(files_of_runs, self.knowledge_bases, chosen_ids or None)

    def _message_on_missing(self, kind: str) -> str:
        """Return the message that there is no file of a `kind`, `run` or `assessments (pool)`, with a remedy."""
        names = ", ".join([name_of(file) for file in self.run_and_pool_files])
        remedy = "name queries, assessments and a run"
        empty_folders = empty_folders_among(self.run_and_pool_files)
        if empty_folders:
            remedy = describe_contents(empty_folders)
        return f"no {kind} among the files: there is {names or 'no file beside the queries'}; {remedy}"

    def _message_without_queries(self) -> str:
        """Return the message which says that there is no query file.

        If a query file is the value of -queries, which takes a list of ids, the message says what to write instead.
        """
        message = "no query file (*.xml) among the files; name queries, assessments and a run"
        query_list = self.command_line.get("-queries") or ""
        if is_query_file(query_list):
            message += f"; -queries chooses some of them: write {query_list} without it"
        return message

    def _find_single_run(self) -> SingleRun:
        """Return the only run among the files, which may be spread over several files.

        Raises UsageError if there are several runs, or none.
        """
        runs_and_assessments = self.find_runs_and_assessments()  # refuses a call without any run
        runs = runs_and_assessments.runs
        run_ids = {run.run_id for run in runs}  # files with the same run id are parts of one run
        if len(run_ids) > 1:
            raise UsageError(f"there are {len(runs)} runs ({_descriptions(runs)}): choose one with --run ID")
        return _joined_parts(runs_and_assessments)

    def read_queries_and_find_runs(self) -> RunsWithGold:
        """Read the queries, and find the runs and the files of assessments without loading them.

        The caller can then score the runs against one pool of assessments or against several. Raises UsageError or
        InputError.
        """
        options = self.options_without_run_ids
        if "-" in self.run_and_pool_files:
            raise UsageError("standard input cannot be read once for each run: name a file")
        options.check()
        runs_and_assessments = self.find_runs_and_assessments()
        gold_without_pool = open_gold(self.query_files, options, validates=self.has_validation)
        return RunsWithGold(gold_without_pool, runs_and_assessments.assessments, runs_and_assessments.runs)

    def read_gold(self, options: Options, assessments: Sequence[Input]) -> ColdStartGold:
        """Read the queries and the assessments, and return them as gold for scoring with `options`.

        Raises InputError if a file is wrong.
        """
        return with_pool(open_gold(self.query_files, options), assessments)

    def _open_gold(self) -> ColdStartGold:
        """Read the queries, and return gold with a remark on every folder that has no file to load."""
        return with_remarks_on_empty_folders(
            open_gold(self.query_files, self.options_without_run_ids), self.run_and_pool_files
        )

    # -- Loading

    def load_single_run(
        self, gold: ColdStartGold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None
    ) -> Run:
        """Load one run, to be scored separately from the others. Raises InputError if a file is wrong.

        `pool` are the files of assessments, which are loaded before the run; callers omit them if `gold` already has
        the assessments. A knowledge base is first validated and resolved into a run. Problems are added to `problems`;
        if that is None, they are added to a copy of the log of `gold`.
        """
        gold = run.restrict_gold(gold)  # lines of other runs in the same file are not loaded
        files = [*pool, run.file]
        if problems is None:
            problems = gold.problems.copy()
        knowledge_bases = [file for file in files if file in self.knowledge_bases]
        if knowledge_bases or gold.validates:  # a run is made from the files in memory
            return load_with_preparation(gold, files, knowledge_bases, problems)
        return load_run(gold, files, problems=problems)

    def load_with_warnings(
        self, gold: ColdStartGold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None
    ) -> Run:
        """Load a run as `load_single_run` does, and print its warnings if they have not been printed yet.

        Raises InputError if a file cannot be loaded.
        """
        loaded_run = self.load_single_run(gold, run, pool, problems)
        if run not in self._runs_with_warnings:  # one run may be loaded several times
            self._runs_with_warnings.append(run)
            _warn_about_run(loaded_run, name_of(run.file))
        return loaded_run

    # -- One run

    def score_single(self) -> AnalysedRun:
        """Load and score the only run, and print remarks on it. Raises UsageError if there are several runs."""
        single = self._find_single_run()
        with paused_garbage_collection():
            gold = self._open_gold()
            loaded_run = self.load_single_run(gold, single.run, single.files_to_load_first)
            scored_run = scored.score_for_analysis(loaded_run, self.options_without_run_ids.policy)
        self._warn_about_scores(loaded_run, scored_run)
        return scored_run

    def score_as_far_as_possible(self) -> AnalysedRun:
        """Load and score the only run, and print remarks on it.

        If an error stops the scoring, the result contains the scores of the queries that can be scored. If an error
        stops the loading, it contains no scores.

        Raises InputError if nothing could be loaded, UsageError if there are several runs.
        """
        self.options_without_run_ids.check()
        single = self._find_single_run()
        policy = self.options_without_run_ids.policy
        with paused_garbage_collection():
            loaded_run, loading_error = self._load_as_far_as_possible(single)
            scored_run = partial_scoring.score_as_far_as_possible(loaded_run, policy, stop=loading_error)
        self._warn_about_scores(loaded_run, scored_run)
        return scored_run

    def _load_as_far_as_possible(self, single: SingleRun) -> tuple[Run, InputError | None]:
        """Load the only run. Return what could be loaded, and the error that stopped the loading (None if none did).

        A knowledge base is loaded as a whole or not at all, because a part of it cannot be resolved into a run. Raises
        InputError if nothing could be loaded.
        """
        gold = self._open_gold()
        if self.knowledge_bases:
            return self.load_single_run(gold, single.run, single.files_to_load_first), None
        files = [*single.files_to_load_first, single.run.file]
        gold_for_run = single.run.restrict_gold(gold)
        loaded_run, loading_error = partial_scoring.load_as_far_as_possible(gold_for_run, files)
        has_recognised_files = bool(loaded_run.layouts)
        if loading_error is not None and not has_recognised_files:
            raise loading_error
        return loaded_run, loading_error

    def _warn_about_scores(self, loaded_run: Run, scored_run: AnalysedRun) -> None:
        """Print warnings and remarks on a run and on its scores on standard error."""
        _warn_about_run(loaded_run)
        remark_on_duplicates(self, scored_run.result.duplicate_count)
        has_scores = bool(scored_run.result.tables.sf.rows)
        if scored_run.stopping_error is not None and has_scores:
            warn(f"there is no average precision: {scored_run.stopping_error}")
        # The remark is on the measure shown by default, so it says nothing about one chosen with --measure.
        if scored_run.headline_remark is not None and self.command_line.get("--measure") is None:
            remark(scored_run.headline_remark)

    # -- Several runs

    def score_all(self) -> systems.Systems:
        """Score each of several runs separately, and return their results by name.

        Raises UsageError for wrong options, and InputError for wrong files.
        """
        with paused_garbage_collection():
            runs_with_gold = self.read_queries_and_find_runs()
            runs = runs_with_gold.runs
            _refuse_single_run(runs)
            gold = with_pool(runs_with_gold.gold_without_pool, runs_with_gold.assessments)  # read once for all runs
            results = score_each(gold, runs, self.load_single_run)
        remark_on_duplicates(self, _count_duplicates(results))
        names = systems.run_names(runs)
        for name, result in zip(names, results):
            _warn_about_result(result, name)
        files = [run.file for run in runs]
        return systems.Systems(dict(zip(names, results)), systems.names_by_file(files, names))

    # -- Two to compare

    def score_pair(self) -> tuple[AnalysedRun, AnalysedRun, tuple[str, str]]:
        """Score the two sides of a difference, and return A, B and the pair of their names.

        A and B are two runs. With --policy-b, --pool-b or --follow-b they are one run, scored as the other options say
        and again with these changes. Raises UsageError for any other number of runs.
        """
        changes = self._changes_of_b()
        if "-" in self.run_and_pool_files or changes.pool == "-":
            raise UsageError("standard input cannot be read once for each of the two: name a file")
        runs_and_assessments = self.find_runs_and_assessments()
        _check_run_count(runs_and_assessments.runs, changes)
        with paused_garbage_collection():
            if not changes.has_any:
                return self._score_two_runs(runs_and_assessments)
            [run] = runs_and_assessments.runs
            return self._score_run_twice(run, runs_and_assessments.assessments, changes)

    def _changes_of_b(self) -> ChangesOfB:
        """Return the values of --policy-b, --pool-b and --follow-b, which say how side B differs from side A."""
        return ChangesOfB(
            policy=self.command_line.get("--policy-b"),
            pool=self.command_line.get("--pool-b"),
            edition=self.command_line.get("--follow-b"),
        )

    def _score_two_runs(
        self, runs_and_assessments: RunsAndAssessments
    ) -> tuple[AnalysedRun, AnalysedRun, tuple[str, str]]:
        """Score two runs with the same options, and return them with their names."""
        run_a, run_b = runs_and_assessments.runs
        gold = self.read_gold(self.options_without_run_ids, runs_and_assessments.assessments)
        scored_a = self._score_side(gold, run_a, self.options_without_run_ids)
        scored_b = self._score_side(gold, run_b, self.options_without_run_ids)
        remark_on_duplicates(self, scored_a.result.duplicate_count + scored_b.result.duplicate_count)
        name_a, name_b = systems.run_names(runs_and_assessments.runs)
        return scored_a, scored_b, (name_a, name_b)

    def _score_run_twice(
        self, run: OneRun, assessments: Sequence[Input], changes: ChangesOfB
    ) -> tuple[AnalysedRun, AnalysedRun, tuple[str, str]]:
        """Score a run with the options of the command line, and again with the changes of side B.

        Returns both results and their names, such as `("as given", "policy sf")`.
        """
        options_of_a = self.options_without_run_ids
        gold_of_a = self.read_gold(options_of_a, assessments)
        scored_a = self._score_side(gold_of_a, run, options_of_a)
        # To find the causes of the difference, `diff` calls `score_again`: it scores A with some of the changes.
        scored_a = replace(scored_a, score_again=partial(self._score_again, run, assessments))
        options_of_b, names_of_changes = self._options_of_b(changes)
        gold_of_b = gold_of_a
        if changes.pool is not None:
            gold_of_b = self.read_gold(options_of_b, [changes.pool])
        elif options_of_b != options_of_a:
            gold_of_b = self.read_gold(options_of_b, assessments)
        scored_b = self._score_side(gold_of_b, run, options_of_b)
        return scored_a, scored_b, ("as given", ", ".join(names_of_changes))

    def _options_of_b(self, changes: ChangesOfB) -> tuple[Options, list[str]]:
        """Return the options for scoring side B, and the names of all its changes: `["policy sf", "pool second.tab"]`.

        The options differ from the command line in the edition or policy. A different pool does not change any option:
        the caller reads it instead of the first pool. Raises UsageError for an unknown edition or policy.
        """
        inputs_of_b = self  # the command line as side B reads it
        names_of_changes = []
        if changes.edition is not None:
            inputs_of_b = Runs(self.command_line.with_changes({"--follow": changes.edition}))
            names_of_changes.append(f"edition {inputs_of_b.options_without_run_ids.follow}")
        options_of_b = inputs_of_b.options_without_run_ids
        if changes.policy is not None:
            [policy] = read_policies([changes.policy], options_of_b, inputs_of_b.policy_texts, "--policy-b")
            options_of_b = policy.options(options_of_b)
            names_of_changes.append(f"policy {policy.name}")
        if changes.pool is not None:
            names_of_changes.append(f"pool {changes.pool}")
        return options_of_b, names_of_changes

    def _score_again(self, run: OneRun, assessments: Sequence[Input], options: Options) -> AnalysedRun:
        """Read a run and its assessments again, and score the run with other options.

        Raises InputError if a file is wrong.
        """
        gold = self.read_gold(options, assessments)
        return scored.score_for_analysis(self.load_single_run(gold, run), options.policy)

    def _score_side(self, gold: ColdStartGold, run: OneRun, options: Options) -> AnalysedRun:
        """Load and score one side of a difference, and print its warnings with the name of its file."""
        loaded_run = self.load_single_run(gold, run)
        _warn_about_run(loaded_run, name_of(run.file))
        return scored.score_for_analysis(loaded_run, options.policy)


def _refuse_evidence_files(files: Iterable[Input]) -> None:
    """Raise UsageError for a JSON file: it belongs to an evidence task, whose name is missing on the command line."""
    for file in files:
        if isinstance(file, str) and ending_of(file) in (".json", ".jsonl") and os.path.isfile(file):
            evidence_tasks = [task for task in TASKS if task != COLD_START]
            raise UsageError(f"{file} is no file of Cold Start; name its task: {', '.join(evidence_tasks)}")


def _joined_parts(runs_and_assessments: RunsAndAssessments) -> SingleRun:
    """Return a single run and the files that are loaded before it.

    All items of `runs_and_assessments.runs` have the same run id: they are the parts of the run, in one or several
    files. The last part is returned as the run; the earlier parts are among the files before it. The run shares a file
    with other runs if any of its parts does.
    """
    *earlier_parts, last_part = runs_and_assessments.runs
    shares_file = any(part.shares_file for part in runs_and_assessments.runs)
    files_to_load_first = list(runs_and_assessments.assessments)
    files_to_load_first.extend(part.file for part in earlier_parts)
    return SingleRun(replace(last_part, shares_file=shares_file), files_to_load_first)


def _refuse_single_run(runs: Sequence[OneRun]) -> None:
    """Raise UsageError if there is only one run, so that there is nothing to compare. There is at least one run."""
    if len(runs) == 1:
        raise UsageError(
            f"a comparison needs at least two runs; there is {_description(runs[0])} among the files; see cs-score "
            "compare coldstart -help"
        )


def _check_run_count(runs: Sequence[OneRun], changes: ChangesOfB) -> None:
    """Raise UsageError for a wrong number of runs.

    Two runs are needed, or one if B is run A with the `changes`.
    """
    needed_count = 2
    needed = "two runs"
    if changes.has_any:
        needed_count = 1
        needed = "one run, with --policy-b, --pool-b or --follow-b"
    if len(runs) == needed_count:
        return
    verb = "is" if len(runs) == 1 else "are"
    situation = f"there {verb} {len(runs)} among the files ({_descriptions(runs)})"
    if len(runs) > needed_count:
        situation += "; choose with --run ID"
    raise UsageError(f"name {needed}; {situation}; see cs-score diff -help")


def _description(run: OneRun) -> str:
    """Return the id of a run with its file: `KB1 in run.tab.txt`."""
    return f"{run.run_id} in {name_of(run.file)}"


def _descriptions(runs: Iterable[OneRun]) -> str:
    """Return the ids of runs with their files, separated by commas."""
    return ", ".join([_description(run) for run in runs])


def _count_duplicates(results: Iterable[Result]) -> int:
    """Return how many responses of all runs in some results are duplicates."""
    duplicates = 0
    for result in results:
        for run in result.runs:
            duplicates += run.duplicate_count
    return duplicates


def _warn_about_result(result: Result, run_name: str) -> None:
    """Print the warnings of a result on standard error, and a warning if its input has errors, with the run's name."""
    warn(*result.remarks, file=run_name)
    if result.error_count:
        warn(f"{result.error_count} errors in the input; score the run by itself to see them", file=run_name)


def _warn_about_run(run: Run, file_name: str | None = None) -> None:
    """Print the remarks on a loaded run on standard error, and a warning if its input has errors."""
    warn(*run.remarks, file=file_name)
    if run.problems.has_errors:
        warn("there are errors in the input; score the run to see them", file=file_name)


def remark_on_duplicates(scoring: Scoring, duplicates: int) -> None:
    """Print how the current policy counts duplicates, and which policy counts them differently.

    Nothing is printed if there are no duplicates, or if the command line names a policy.
    """
    names_policy = scoring.command_line.first_typed_option("--policy -right -wrong -ignore") is not None
    if duplicates == 0 or names_policy:
        return
    noun = "duplicate" if duplicates == 1 else "duplicates"
    # No policy is named, so the edition's own policy applies.
    if "DUPLICATE" in scoring.edition.ignore:
        remark(f"{duplicates} {noun} ignored (policy kb); --policy sf counts them as wrong")
    else:
        remark(f"{duplicates} {noun} wrong (policy sf); --policy kb ignores them")


def load_with_preparation(
    gold: ColdStartGold, files: Sequence[Input], knowledge_bases: Collection[Input], problems: ProblemLog
) -> Run:
    """Load assessments and runs, after resolving knowledge bases into runs and, with --validate, validating all runs.

    `knowledge_bases` are the knowledge bases among the `files`; without any, this function is called only for
    --validate. For each run, a remark on standard error says how it was prepared. Raises InputError if a knowledge base
    or a run has errors.
    """
    settings = _preparation_settings(gold, problems)
    if knowledge_bases:
        prepared = conversion.prepare_inputs(files, settings, knowledge_bases)
    else:
        prepared = conversion.validate_inputs(files, settings)  # all files of a folder are validated as one run
    return prepared_runs.load_prepared(gold, prepared, problems=problems)


def _preparation_settings(gold: ColdStartGold, problems: ProblemLog) -> PreparationSettings:
    """Return the settings for resolving and validating runs that fit the gold against which they will be scored.

    Each run has a log of its own, which keeps as many details as the log `problems`.
    """
    return conversion.PreparationSettings(
        queries=gold.query_set,
        limits=gold.options.justifications,
        validates=gold.validates,
        only_run_id=gold.only_run_id,
        new_log=type(problems),
        on_prepared=partial(_report_prepared_run, problems),
    )


def _report_prepared_run(problems: ProblemLog, run: PreparedRun) -> None:
    """Print the problems of a run that was resolved or validated, and a remark that says how it was prepared.

    If the log `problems` keeps details for the file of --problems, the problems of the run are added to it, too. Raises
    InputError for a run with errors, which must not be scored.
    """
    print_unless_quiet(report_for_stderr(run.problems, is_for_people=is_terminal("stderr")))
    # The run has its own log, because its problems were found in files other than those that are scored.
    if isinstance(problems, RecordingLog) and isinstance(run.problems, RecordingLog):
        problems.also_report(run.problems)
    run.raise_for_errors()
    remark(run.preparation_note)
