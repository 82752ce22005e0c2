"""Functions that read queries and pool, score Cold Start runs against them, and validate runs, for Python programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Final, Unpack

from cs_score.api import arguments
from cs_score.api.arguments import Files, Limits, PolicyAndLimits, checked
from cs_score.api.result_tables import OCCURRENCES
from cs_score.api.run_results import RunResult, ScoredLines
from cs_score.api.shown import Shown
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, encoded, write_whole
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input, name_of, open_source, rereadable
from cs_score.coldstart.converters import converter_for
from cs_score.coldstart.gold import ColdStartGold, RunInPoolError, load_run, open_gold, with_folder_remarks, with_pool
from cs_score.coldstart.linking import NoAnswerYetError, expand_folder
from cs_score.coldstart.options import CallArguments, Policy, path_of
from cs_score.coldstart.queries import is_query_file, load_queries
from cs_score.preparation.conversion import PreparationSettings, prepare_inputs
from cs_score.preparation.pooling import Depth
from cs_score.preparation.prepared_runs import Preparation, RunLimits, check_run, load_prepared
from cs_score.preparation.source_documents import read_document_list
from cs_score.problems.codes import Severity
from cs_score.problems.log import RecordingLog
from cs_score.tables.layout import Table


class Gold(Record, eq=False):
    """Queries and pool, read and indexed once; made by `prepare`.

    It never changes. So any number of runs can be scored against it, also by several threads at a time, and a pickled
    copy gives the same scores.
    """

    _prepared: ColdStartGold
    # The files of the pool if its follow-on lines answer queries that only runs have: they are read after each run.
    _pool: tuple[Input, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """The full ids of the queries that are scored, in order."""
        return tuple([query.full_id for query in self._prepared.selected_queries()])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know about the queries and the pool, one line each."""
        return tuple(self._prepared.remarks)

    @checked
    def score(
        self,
        run: Files,
        policy: str | Policy | None = None,
        *,
        justifications: Limits | None = None,
        validate: bool = False,
    ) -> RunResult:
        """Score a run: a file, a folder, or several; knowledge bases are validated and resolved to runs.

        `policy` is `kb`, `sf` (both with their limits on justifications) or a `Policy`. If it or `justifications` is
        not given, the value given to `prepare` is used. With `validate` the run is first validated in memory, as
        `cs-score validate-run` does. Raises UsageError for impossible arguments, InputError for a run that cannot be
        read or linked, and ScoringStopped (an InputError) if scoring has to stop.
        """
        options = self._prepared.options
        defaults = PolicyAndLimits(options.policy, options.justifications)
        in_force = arguments.policy_of(policy, justifications, defaults)
        files = [rereadable(file) for file in arguments.files_of(run, "run")]
        if not files:
            raise UsageError("run takes at least one file")
        with paused_collector():
            gold = replace(with_folder_remarks(self._prepared, files), validates=validate)
            if not validate and not _has_file_to_convert(files):
                loaded_run = load_run(gold, [*files, *self._pool], in_force.limits)
                return RunResult(ScoredLines(loaded_run, in_force.policy, in_force.limits))
            # The files are validated or converted in memory, and what that makes of them is read.
            settings = PreparationSettings(gold.query_set, in_force.limits, validate)
            prepared = prepare_inputs(files, settings)
            accounts = [prepared_run.account for prepared_run in prepared.runs]
            files_to_load = Preparation([*prepared.files, *self._pool], prepared.runs)
            loaded_run = load_prepared(gold, files_to_load, in_force.limits)
            return RunResult(ScoredLines(loaded_run, in_force.policy, in_force.limits, accounts=accounts))

    def __repr__(self) -> str:
        if self._pool:
            pool = f"{len(self._pool)} files of assessments, read with each run"
        else:
            pool = f"{len(self._prepared.links.assessments)} assessments"
        return f"<gold: {len(self._prepared.hop_limits)} queries to score, {pool}>"


def _has_file_to_convert(files: Iterable[Input]) -> bool:
    """Return whether one of the files, or of the files in folders, must be converted to a run: a knowledge base."""
    for file_or_folder in files:
        for file in expand_folder(file_or_folder):
            if converter_for(file) is not None:
                return True
    return False


@checked
def prepare(queries: Files, pool: Files = (), **options: Unpack[CallArguments]) -> Gold:
    """Read queries and pool once, for any number of runs. Return the gold that they make.

    `queries` are query files. `pool` are assessment files; without any, every response is unassessed. `expand` makes a
    query of each entry point of LDC queries, whose name begins with this text. `policy` is `kb` (knowledge-base runs),
    `sf` (slot-filling runs) or a `Policy`. `justifications` limits the justifications of a node (`1:3`); unless given,
    the limits of a named policy are used. `discipline` says how a response finds its assessment: `ASSESSED`,
    `STRING_CASE` or `STRING_EXACT`. `query_ids` chooses queries (a file that lists them, or their ids), `runids`
    chooses runs of files that hold several. `samples` is a file of bootstrap resamples. `follow` is the edition of the
    reference whose rules are applied (`3.0`, `2017.1.5`, `2017.2.0`). `mention_types` says how a pool without mention
    types is read (`as-given`, `assume-name`).

    Raises UsageError for impossible arguments, InputError for files that cannot be read or linked.
    """
    scoring = arguments.options_of(options)
    query_files = arguments.files_of(queries, "queries")
    if not query_files:
        raise UsageError("queries takes at least one file")
    pool_files = arguments.files_of(pool, "pool")
    _refuse_swapped(query_files, pool_files)
    with paused_collector():
        gold = open_gold(query_files, scoring)
        if not pool_files:
            return Gold(gold)
        gold = with_folder_remarks(gold, pool_files)
        repeatable_files = tuple([rereadable(file) for file in pool_files])
        try:
            return Gold(with_pool(gold, repeatable_files))
        except NoAnswerYetError:
            # The pool depends on answers that only runs have, so that it is read after each run.
            return Gold(gold, repeatable_files)
        except RunInPoolError as error:
            raise InputError("this is a run, not a pool", file=error.file, remedy=_RUN_REMEDY) from None


_RUN_REMEDY: Final = "give assessments as pool, and score the run with Gold.score(run) or score(run=...)"


def _refuse_swapped(queries: Sequence[Input], pool: Sequence[Input]) -> None:
    """Raise UsageError if a query file is given as pool, or a pool or a run as queries."""
    for file in queries:
        if not is_query_file(name_of(file)) and _is_table(file):
            raise UsageError(f"queries: {name_of(file)} is a pool or a run, not a query file (*.xml)")
    for file in pool:
        if is_query_file(name_of(file)):
            raise UsageError(f"pool: {name_of(file)} is a query file: give it as queries")


def _is_table(file: Input) -> bool:
    """Return whether the first line of a file has as many columns as a pool or a run.

    Only files on disk are looked into: an open file or standard input can be read only once.
    """
    if not isinstance(file, str | os.PathLike):
        return False
    if name_of(file) == "-" or not os.path.isfile(file):
        return False
    with open_source(file) as source:
        first_line = source.read_bytes().partition(b"\n")[0]
    return first_line.count(b"\t") >= _FEWEST_TABS


_FEWEST_TABS: Final = 6
"""The number of tabs in a line of the layout of assessments and runs that has the fewest columns."""


@checked
def score(
    queries: Files, run: Files, pool: Files = (), *, validate: bool = False, **options: Unpack[CallArguments]
) -> RunResult:
    """Score one run: `prepare` and `Gold.score` in one call, with the arguments and errors of both."""
    return prepare(queries, pool, **options).score(run, validate=validate)


class ValidatedRun(Shown):
    """A run that was checked: its problems and, unless these are errors, its corrected text; made by `validate_run`.

    Its table `problems` has the problems in the order of files, lines and codes; `cs-score problems CODE` explains a
    code.
    """

    _main_table = "problems"

    def __init__(self, text: str | None, problems: RecordingLog, remarks: tuple[str, ...], inputs: list[str]) -> None:
        """Make the validated run of its parts.

        `text` is the corrected run, None if it has errors. `problems` and `remarks` were met on the way. `inputs` are
        the names of all files that were read, which `write` does not overwrite.
        """
        self._text = text
        self._problems = problems
        self._remarks = remarks
        self._inputs = inputs

    @property
    def errors(self) -> int:
        """How often errors occurred; a run with errors has no validated text."""
        return self._problems.count(Severity.ERROR)

    @property
    def warnings(self) -> int:
        """How often warnings occurred: lines were corrected, or left out."""
        return self._problems.count(Severity.WARNING)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know beside the problems, one line each."""
        return self._remarks

    @property
    def text(self) -> str:
        """The text of the validated run. Raises UsageError if the run has errors."""
        if self._text is None:
            raise UsageError(f"the run has {self.errors} errors, so there is no validated run; rows() lists them")
        return self._text

    @checked
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the validated run; the file appears whole or not at all.

        Raises UsageError if the run has errors or the file is an input, OutputError if the file cannot be written.
        """
        text = self.text  # raises UsageError if the run has errors
        output = PlannedOutput("path", path=os.fspath(path), existing=Existing.REPLACED)
        OutputPlan(self._inputs, [output]).check()
        write_whole(path, encoded([text]))

    def __str__(self) -> str:
        """Return the validated run, or one line about a run with errors."""
        return repr(self) if self._text is None else self._text

    def __repr__(self) -> str:
        if self._text is None:
            lines = "no lines"
        else:
            line_count = self._text.count("\n")
            lines = f"{line_count} lines"
        return f"<validated run: {lines}, {self.errors} errors, {self.warnings} warnings>"

    def _tables(self) -> Iterable[Table]:
        """Return the only table, that of the problems."""
        return [OCCURRENCES.table(self._problems.occurrences())]


# The function is long because it explains, checks and passes on many arguments.
@checked
def validate_run(
    run: Files,
    queries: Files,
    *,
    expand: str | None = None,
    justifications: Limits = "1:3",
    documents: str | os.PathLike[str] | None = None,
    depth: str = "",
    allow_comments: bool = False,
) -> ValidatedRun:
    """Check a run before it is submitted or scored, and correct its lines if that is possible.

    `run` is a file, a folder or several of them; `queries` are the files of the queries that it answers (`expand` as
    for `prepare`). `justifications` limits the justifications of a node. `documents` is a file that lists the documents
    of the task. `depth` is the pooling depth (`A:10`, `B:10`). With `allow_comments` comments at the ends of lines are
    cut off.

    Raises UsageError for impossible arguments, InputError for files that cannot be read and for lines that answer no
    query.
    """
    files = arguments.files_of(run, "run")
    query_files = arguments.files_of(queries, "queries")
    if not files or not query_files:
        raise UsageError("validate_run takes at least one run file and one query file")
    limits = RunLimits(arguments.limits_of(justifications), Depth.parse(depth))

    # The queries, and the documents that justifications may name.
    list_file = path_of(documents, "documents")
    document_list = None if list_file is None else read_document_list(list_file)
    document_lengths = None if document_list is None else document_list.length_by_docid
    problems = RecordingLog()
    loaded_queries = load_queries(query_files, expand, problems, document_lengths)

    # The run. All problems of it are in the log after `validated` has corrected its lines.
    repeatable_files = [rereadable(file) for file in files]
    run_check = check_run(
        repeatable_files, loaded_queries, limits, problems, document_list, allow_comments=allow_comments
    )
    validated = run_check.validated()
    text = None if problems.has_errors else "".join(validated.pieces)

    remarks = list(validated.remarks)
    for query in validated.dropped_query_ids:
        remarks.append(f"lines of query {query} are left out: a line that it hangs on was skipped")
    inputs = [name_of(file) for file in (*files, *query_files)]
    return ValidatedRun(text, problems, tuple(remarks), inputs)
