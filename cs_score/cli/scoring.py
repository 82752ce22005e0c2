"""The call without a command, which follows the Perl scorer, and `cs-score score` for every task."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from cs_score.base import outputs as storage
from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.outputs import Existing, PlannedOutput, encoded
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late, paused_collector
from cs_score.base.sources import InMemory, Input, name_of, open_source, plain_name
from cs_score.cli import options
from cs_score.cli import output as terminal
from cs_score.cli.core import Finished, Line, Option, Parameter, Reference, Status, command
from cs_score.cli.inputs import Predictions
from cs_score.cli.options import read_measures, read_resampling, whole_number
from cs_score.cli.output import STDERR, STDOUT, Destination, remark, say, warn, write_text
from cs_score.cli.problem_report import report_on_stderr
from cs_score.cli.runs import Runs, load_as_prepared, say_policy
from cs_score.cli.verb import Verb, VerbForm
from cs_score.coldstart import outputs
from cs_score.coldstart.gold import Gold, Run, load_run, noting_folders, open_gold, with_pool
from cs_score.coldstart.judging import check_discipline
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import Options, is_nothing
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import OneRun, score_apart, score_runs
from cs_score.coldstart.unit_statistics import intervals
from cs_score.measures.registry import chosen
from cs_score.problems.log import ProblemLog, RecordingLog, causes_first, count_of_discarded
from cs_score.tasks import COLD_START, task_named

if TYPE_CHECKING:
    from cs_score.analysis import comparison
    from cs_score.analysis.coldstart import scored as analyses
    from cs_score.analysis.many import sampled_labels, sampled_pools
    from cs_score.coldstart import documents
    from cs_score.evidence.mode import Result as EvidenceResult
    from cs_score.problems import reports
    from cs_score.statistics.options import Resampling
    from cs_score.statistics.results import ScoreIntervals
    from cs_score.tables import layout
    from cs_score.tables.statistics import Printout
else:
    comparison, layout = Late("cs_score.analysis.comparison"), Late("cs_score.tables.layout")
    analyses = Late("cs_score.analysis.coldstart.scored")
    sampled_pools = Late("cs_score.analysis.many.sampled_pools")
    sampled_labels = Late("cs_score.analysis.many.sampled_labels")
    documents = Late("cs_score.coldstart.documents")
    reports = Late("cs_score.problems.reports")

PROGRAM: Final = "cs-score"
MOST_PARTS: Final = 1024

_COMPRESSION: Final = 6
"""A compressed file holds about this many times its size."""


class Call(Runs):
    """A scoring as the reference does it, understood and checked. Without `output` no table is written."""

    def __init__(
        self, line: Line, others: Iterable[PlannedOutput], output: Destination | None = None,
        errors: Destination = STDERR, *, option: str = "-output_file", json_file: str | None = None,
    ) -> None:  # fmt: skip
        """`option` names the prefix of the tables, `others` are further outputs. Raises UsageError or OutputError."""
        super().__init__(line)
        self.output, self.errors, self.json_file = output, errors, json_file
        planned = [*self._tables(option), *others]
        if "--problems" in line:
            planned += reports.OPTION.outputs(line.get("--problems"))
        named = (*line.words, *filter(None, map(line.get, ("-queries", "-samples"))))
        self.plan = line.plan(planned, [name_of(member) for word in named for member in members(word)], line.folder)
        has_samples = not is_nothing(self.options.samples)
        self.params = outputs.params_text((PROGRAM, *line.typed), os.getcwd(), self.policy_texts, has_samples)
        self.resampling = read_resampling(line)
        self._parts, self.jobs = (whole_number(line, name, MOST_PARTS) for name in ("--parts", "--jobs"))

    def _tables(self, option: str) -> Iterator[PlannedOutput]:
        if self.output is not None and self.output.stream is None:
            for file in outputs.written(self.line.switches, self.edition):
                yield PlannedOutput(option, f"{self.output.text}.{file.ending}", Existing.CLEARED)

    def parts_of(self, files: Sequence[Input]) -> int:
        """Parts to score these runs and assessments in; 1 where a file can be read only once."""
        paths = [member for word in files for member in members(word)]
        if not all(isinstance(path, str) and os.path.isfile(path) for path in paths):
            return 1
        sizes = [os.path.getsize(path) * (1 if plain_name(path) == path else _COMPRESSION) for path in map(str, paths)]
        return self._parts or min(MOST_PARTS, sum(sizes) // options.PART) or 1

    def new_log(self) -> ProblemLog:
        """A log that keeps all details where they are written to a file."""
        return RecordingLog() if "--problems" in self.line else ProblemLog()

    def write_problems(self, problems: ProblemLog, error: CsScoreError | None = None) -> None:
        """Write the file of --problems, with the error that ended the scoring, if one did."""
        if isinstance(problems, RecordingLog) and (path := self.line.get("--problems")) is not None:
            if isinstance(error, InputError):
                problems.fatal.append(error)
            reports.write_problems(problems, path)

    def write(self, result: Result, intervals: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False) -> None:
        """The files of -output_file and --json, or what goes to a stream; of a stopped scoring what is complete."""
        if self.json_file is not None and not was_stopped:
            text = encoded(documents.json_text(result, intervals))
            if self.json_file == "-":
                STDOUT.write(text)
            else:
                storage.write_packed(self.json_file, text)
        if self.output is not None and self.output.stream is not None:
            for blocks in outputs.stream_blocks(result, self.layout, self.params, intervals):
                self.output.write(blocks)
        elif self.output is not None:
            for ending, blocks in outputs.file_blocks(result, self.layout, self.params, intervals, was_stopped):
                storage.write_whole(f"{self.output.text}.{ending}", blocks)

    def load_with_remarks(self, gold: Gold, run: OneRun, pool: Sequence[Input], problems: ProblemLog) -> Run:
        """Load a run by itself; its remarks say which unassessed answers nearly equal assessed ones."""
        from cs_score.coldstart.near_misses import remarks_on_near_misses

        loaded = self.load_alone(gold, run, pool, problems)
        return replace(loaded, remarks=[*loaded.remarks, *remarks_on_near_misses(loaded)])

    def check_inputs(self) -> None:
        """Raises InputError where an input cannot be opened."""
        for given in (*self.queries, *(member for word in self.files for member in members(word))):
            if given != "-" and not isinstance(given, InMemory):
                with open_source(given):
                    pass


class RunsScored(Record):
    """Runs as the call without a command, `score` and `check` have scored them."""

    call: Call
    result: Result
    intervals: Sequence[ScoreIntervals]

    def write(self) -> None:
        """The files that are asked for."""
        self.call.write(self.result, self.intervals)

    def text(self, line: Line) -> str:
        """The chosen measures in the format of the line; the number alone for one of one run where text is wanted."""
        measures = ("*",) if "--all" in line else read_measures(line)
        chosen = documents.choose(documents.document_of(self.result, self.intervals, ()), measures)
        standing_in = None if measures else documents.headline_remark(self.result)
        if standing_in is not None:
            remark(standing_in)
        is_one = len(chosen.measures or ()) == len(chosen.runs) == 1
        if line.get("--format") == "text" and is_one and chosen.measure:
            score, *remarks = documents.single_score(chosen, chosen.measure)
            warn(*remarks)
            return score
        if line.format == "tsv":  # the other formats have a place for it
            warn(*(f"undefined: {text}" for text in documents.undefined_remarks(chosen)))
        return documents.WRITERS[line.format](chosen)


class PredictionsScored(Record):
    """Predictions as `score` and `check` have scored them, each system of the file by itself.

    `intervals` are those of each system, where they are wanted; `per_item` names the table of units, where that is.
    """

    results: Mapping[str, EvidenceResult]
    intervals: Mapping[str, ScoreIntervals]
    per_item: str | None

    @property
    def result(self) -> EvidenceResult:
        """The result of the one system. Raises UsageError where there are several."""
        if len(self.results) != 1:
            names = ", ".join(one_line(name, 40) for name in self.results)
            raise UsageError(f"there are {len(self.results)} runs ({names}): choose one with --run ID")
        return next(iter(self.results.values()))

    def write(self) -> None:
        """As that of runs."""
        from cs_score.evidence.report import unit_blocks

        if self.per_item is not None:
            storage.write_packed(self.per_item, unit_blocks(self.result))

    def text(self, line: Line) -> str:
        """As that of runs; of several systems one text behind the other."""
        from cs_score.evidence.report import json_of_several, json_text, printed, single_score

        with_units = line.file is not None
        if line.format == "json" and len(self.results) > 1:
            return json_of_several(self.results.values(), self.intervals, with_units=with_units)
        texts = []
        for name, result in self.results.items():
            limits = self.intervals.get(name)
            if line.format == "json":
                return json_text(result, limits, with_units=with_units)
            measures = chosen(list(result.scores), read_measures(line)) if read_measures(line) else ()
            if line.get("--format") == "text" and len(measures) == 1 and len(self.results) == 1:
                score, *remarks = single_score(measures[0], result.scores[measures[0]], limits)
                warn(*remarks)
                return score
            texts.append(printed(line.format, result, limits, measures))
        if line.format == "tsv" and len(texts) > 1:
            return _tables_of_runs(dict(zip(self.results, texts)))
        return "\n\n".join(texts)


def _tables_of_runs(text_by_run: Mapping[str, str]) -> str:
    """Return the tables of several runs as one, whose first column names the run."""
    lines: list[str] = []
    for run, text in text_by_run.items():
        header, *rows = text.removesuffix("\n").split("\n")
        if not lines:
            lines.append(f"run\t{header}")
        lines += [f"{one_line(run, sys.maxsize)}\t{row}" for row in rows]
    return "\n".join(lines)


# ---- The call without a command


def _bare_call(line: Line) -> Call:
    """Check the command line in the reference's order, so that the same fault is named first; touches no file."""
    output, errors = Destination(line.text("-output_file")), Destination.of_report(line.text("-error_file"))
    if output.stream is None and (reason := storage.why_not_writable(f"{output.text}.debug")) is not None:
        raise OutputError(
            f"Could not open {output.text} .  . lc(DEBUG): {reason}; -output_file is a prefix: {output.text}.debug and "
            "others are written, into a folder that must be there"
        )
    existing = Existing.REPLACED if outputs.is_of_failed_call(errors.text) else Existing.REFUSED
    json_file = line.get("--json")
    of_json = documents.OPTION.outputs(json_file) if json_file is not None else ()
    return Call(line, chain(errors.planned("-error_file", existing), of_json), output, errors, json_file=json_file)


@command(
    "",
    options.select_options(f"{options.OF_A_CALL} -error_file -output_file --json"),
    Parameter("files...", options.FILES),
    contract=Reference,
    example=options.EXAMPLE,
    sections=(options.OUTPUT_FILES, options.FIELDS, options.POLICIES, *options.LEGEND),
)
def bare(line: Line) -> int:
    """Score as the command line says; the exit status, 0 or 255."""
    problems = ProblemLog()
    call: Call | None = None
    try:
        call = _bare_call(line)
        problems = call.new_log()
        with paused_collector(), _scored_together(call, problems) as scored:
            steps: list[Callable[[], None]] = [scored.write, partial(_report, call, scored.result)]
            with storage.outputs_together():
                for step in reversed(steps) if call.edition.reports_first else steps:
                    step()
                call.write_problems(problems)
            return Finished(Status.REFERENCE if scored.result.error_count else 0, scored)
    except CsScoreError as error:
        return _give_up(error, problems, call)


@contextlib.contextmanager
def _scored_together(call: Call, problems: ProblemLog) -> Iterator[RunsScored]:
    """Score as the reference does, once inputs can be opened. Within, the text of a large run's debug file is there.

    Raises InputError; where scoring is stopped what is complete has been written.
    """
    call.check_inputs()
    knowledge_bases = call.knowledge_bases
    call.plan.clear()
    gold = open_gold(call.queries, call.options, problems, validates=call.validates)
    if not call.files:
        raise InputError(
            "EvaluationQueryOutput->new called with no filenames", remedy="name a run and its assessments, too"
        )
    gold = noting_folders(gold, call.files)
    with contextlib.ExitStack() as unfinished:
        result = _in_parts(call, gold, call.files, unfinished)
        if result is None:
            try:
                if gold.validates or knowledge_bases:
                    run = load_as_prepared(gold, call.files, knowledge_bases, problems)
                else:
                    run = load_run(gold, call.files, problems=problems)
                if run.run_ids:
                    outputs.check_fields(call.layout.fields)
                result = score_runs(run, call.options.policy, problems)
            except ScoringStopped as stop:
                call.write(stop.partial, was_stopped=True)
                raise
        yield RunsScored(call, result, () if call.resampling is None else intervals(result, call.resampling))


def _in_parts(call: Call, gold: Gold, files: Sequence[Input], unfinished: contextlib.ExitStack) -> Result | None:
    """The result of a large run scored in parts; None where it is small, or has to be scored whole.

    The text of its debug file lies in a folder that goes with `unfinished`.
    """
    needs_all = gold.validates or call.knowledge_bases or call.json_file is not None or "--problems" in call.line
    parts = 1 if needs_all else call.parts_of(files)
    if parts == 1:
        return None
    from cs_score.base.processes import processors
    from cs_score.coldstart.parts import score_in_parts

    try:
        outputs.check_fields(call.layout.fields)
    except InputError:  # it comes after what is fatal in the files
        return None
    path = None if call.output is None or call.output.stream is not None else f"{call.output.text}.debug"
    beside = unfinished.enter_context(storage.folder_beside(None if path is None or storage.is_stream(path) else path))
    return score_in_parts(gold, list(map(name_of, files)), parts, call.jobs or processors(), beside)


def _report(call: Call, result: Result) -> None:
    """Remarks on standard error, then the report, twice as the reference writes it, and its closing line."""
    warn(*result.warnings)
    output, errors, edition = call.output, call.errors, call.edition
    # Where both go to standard output the reference has closed it by now and its report is lost.
    if not edition.reports_first and output is not None and errors.stream == output.stream == "stdout":
        errors = STDERR
    closing = outputs.closing_line(result.error_count, result.warning_count)
    if errors.stream == "stderr" and terminal.is_quiet():
        write_text("stderr", f"{PROGRAM}: {closing}" if result.error_count else "")
    elif errors.stream == "stderr" and not edition.reports_first:
        say(report_on_stderr(result.problems, twice=True) + closing)
    else:
        text = outputs.whole_report(result)
        terminal.write_report(errors, text, [outputs.doubly_encoded(text, edition)])
    if edition.reports_first or output is None or output.stream is not None:
        return
    if sys.stderr is not None and sys.stderr.isatty():
        say("".join(f"\n{outputs.averages_text(run)}\nsignature  {result.signature(run)}\n" for run in result.runs))


def _give_up(error: CsScoreError, problems: ProblemLog, call: Call | None) -> int:
    """The problems so far and one line that says what ended the scoring, there and on standard error.

    No file is written where there is no call: its outputs have not passed all checks.
    """
    collected, errors = list(problems), STDERR if call is None else call.errors
    with contextlib.suppress(OutputError):
        if isinstance(error, ScoringStopped):
            warn(*error.partial.warnings)
        warn(*error.remarks)
        if errors.stream == "stderr":
            say(report_on_stderr(collected))
        write_text("stderr", f"{PROGRAM}: {error}\n")
    if call is not None:
        with contextlib.suppress(OutputError):
            if errors.stream is None:
                text = outputs.stopped_report(collected, error, call.edition) + outputs.MAY_BE_REPLACED
                storage.write_whole(errors.text, [outputs.doubly_encoded(text, call.edition)])
        if not isinstance(error, OutputError):  # with the results, or not at all
            with contextlib.suppress(CsScoreError):
                call.write_problems(problems, error)
    return Status.REFERENCE


# ---- Scores for every task


@contextlib.contextmanager
def scored_by(task: str, line: Line) -> Iterator[RunsScored | PredictionsScored]:
    """Score what the line names; within, the result is there, afterwards it is said what is to be known of it.

    Raises CsScoreError where nothing can be scored.
    """
    if task != COLD_START:
        yield _predictions_scored(task, line)
        return
    call = _call_of_score(line)
    problems = call.new_log()
    try:
        with storage.folder_made(line.folder, "-o"), paused_collector(), _scored_apart(call, problems) as scored:
            yield scored
            result = scored.result
    except CsScoreError as error:
        if isinstance(error, ScoringStopped):
            warn(*error.partial.warnings)
        say(report_on_stderr(causes_first(problems)))
        call.write_problems(problems, error)
        raise
    say(report_on_stderr(causes_first(result.problems)))
    if result.problems:
        say(outputs.closing_line(result.error_count, result.warning_count))
    warn(*result.warnings)
    if discarded := count_of_discarded(result.problems):
        remark(
            f"{discarded} line(s) that are called discarded count in the scores all the same; cs-score validate-run, "
            "or --validate, leaves them out"
        )
    _explain_made_files(result)
    say_policy(call, sum(run.duplicates for run in result.runs))
    call.write_problems(problems)


_MADE_FILES: Final = {
    "(resolved)": "the run that was made of the knowledge base, which cs-score resolve-queries writes",
    "(validated)": "the run as cs-score validate-run writes it",
}
"""What files are that messages name and that are not there, by the end of their names."""


def _explain_made_files(result: Result) -> None:
    """Say what the files are that were made in memory, where a message names a line of them."""
    messages = "".join([*result.warnings, *(str(place) for problem in result.problems for place in problem.places)])
    for ending, meaning in _MADE_FILES.items():
        if f"{ending} line" in messages:
            remark(f"FILE {ending} is {meaning}")


def _call_of_score(line: Line) -> Call:
    """Return what `score` is asked for. Raises UsageError, also for layouts of tables that it would not write."""
    if line.folder is None and (name := line.first("-fields -tabs")):
        raise UsageError(f"{name} lays out the tables that -o FOLDER writes: add -o FOLDER, or leave out {name}")
    units = options.PER_UNIT.outputs(line.get("--per-unit"))
    if line.folder is None:
        return Call(line, [*([] if line.file is None else [line.file]), *units])
    prefix = Destination(os.path.join(line.folder, "out"))
    json_file = f"{prefix.text}.json"
    of_json = replace(documents.OPTION, name="-o").outputs(json_file)
    return Call(line, chain(of_json, units), prefix, option="-o", json_file=json_file)


@contextlib.contextmanager
def _whole_pool_checked(gold: Gold, assessments: Sequence[Input]) -> Iterator[None]:
    """Where scoring stops at a line of the assessments, report all lines that it would stop at, by kind."""
    try:
        yield
    except InputError as error:
        if error.file not in [name_of(member) for given in assessments for member in members(given)]:
            raise
        from cs_score.preparation.assessments import check_pool

        with contextlib.suppress(InputError):
            for kind in check_pool(gold.table, assessments, ProblemLog()).kinds:
                remark(f"assessments: {kind}")
        raise


@contextlib.contextmanager
def _scored_apart(call: Call, problems: ProblemLog) -> Iterator[RunsScored]:
    """Each run by itself, over a pool that is read first wherever it stands among the files.

    Raises UsageError where no run is named, or no assessments.
    """
    call.check_inputs()
    selection = call.find_runs()
    runs, assessments = selection.runs, selection.assessments
    call.plan.clear()
    gold = open_gold(call.queries, call.options_per_run, problems, validates=call.validates)
    gold = noting_folders(gold, call.files)
    with contextlib.ExitStack() as unfinished, _whole_pool_checked(gold, assessments):
        result = None
        if len(runs) == 1 and not runs[0].is_shared:
            result = _in_parts(call, gold, (*assessments, runs[0].file), unfinished)
        if result is not None:
            _say_that_near_misses_were_not_sought(call)
        else:
            check_discipline(gold.options.discipline)
            if len(runs) > 1:  # what is known of the pool pays from the second run on: a thirtieth of a call
                gold, assessments = with_pool(gold, assessments, problems), []
            result = score_apart(gold, runs, problems, call.load_with_remarks, assessments)
            outputs.check_fields(call.layout.fields)
        yield RunsScored(call, result, () if call.resampling is None else intervals(result, call.resampling))


def _say_that_near_misses_were_not_sought(call: Call) -> None:
    """Say that a run scored in parts was not searched for answers that nearly equal assessed ones, as others are."""
    if call.options.discipline == Options().discipline:
        remark("a run scored in parts is not searched for answers that nearly equal assessed ones; --parts 1 does that")


def _predictions_scored(task: str, line: Line) -> PredictionsScored:
    from cs_score.evidence.mode import intervals
    from cs_score.evidence.report import units_option

    given, per_item = Predictions(task, line), line.get("--per-item")
    of_items = () if per_item is None else units_option(given.mode).outputs(per_item)
    of_units = options.PER_UNIT.outputs(line.get("--per-unit"))
    own = [] if line.file is None else [line.file]
    plan = line.plan([*own, *of_items, *of_units], given.inputs)
    resampling = read_resampling(line)
    plan.clear()
    results = given.results_of_file(given.files[0])
    limits = {}
    if resampling is not None:
        limits = {name: intervals(result, resampling) for name, result in results.items()}
    return PredictionsScored(results, limits, per_item)


def _by_unit(task: str, scored: RunsScored | PredictionsScored, resampling: Resampling | None) -> Iterable[bytes]:
    """The table of `--per-unit`, of each run of the files."""
    if isinstance(scored, RunsScored):
        results: dict[str, Any] = {run.run_id: replace(scored.result, runs=(run,)) for run in scored.result.runs}
    elif len(scored.results) == 1:
        results = {task: scored.result}
    else:
        results = dict(scored.results)
    clusters = UNSET if resampling is None else resampling.clusters
    return layout.tsv(comparison.per_unit(task_named(task), results, clusters))


def estimate_from_sample(task: str, line: Line, *, most: int | None = 1) -> int:
    """Print what runs would score were all of the pool assessed; return the exit status.

    `most` is how many files of predictions a line may name, None where there is no limit. Raises UsageError,
    InputError.
    """
    if line.folder is not None:
        raise UsageError("--inclusion gives one document: -o FILE.json, .tsv or .txt")
    if task != COLD_START:
        return _estimate_from_labels(line, Predictions(task, line, most=most))
    inclusion = sampled_pools.read_inclusion(line.text("--inclusion"))
    resampling = read_resampling(line, always=True)
    given = Runs(line)
    with paused_collector():
        opened = given.open_runs()
        gold = with_pool(opened.gold, opened.assessments)
        names = comparison.run_names(opened.runs)
        loaded = {name: given.load_with_warnings(gold, run) for name, run in zip(names, opened.runs)}
        scored = {name: analyses.score_for_analysis(run, gold.options.policy) for name, run in loaded.items()}
        confidence = resampling.confidence if resampling else 95.0
        found = sampled_pools.estimate_from_sample(scored, inclusion, confidence)
    return print_found(line, sampled_pools.SAMPLED_POOL_PRINTOUT, found)


def _estimate_from_labels(line: Line, predictions: Predictions) -> int:
    """Print what runs of judged answers would score were all labels those of the sample; return the exit status."""
    second_file = line.get("--second-assessments")
    columns = sampled_labels.STRATUM_COLUMNS
    if second_file is not None:
        columns = sampled_labels.STRATUM_COLUMNS_OF_SECOND
    inclusion = sampled_pools.read_inclusion(line.text("--inclusion"), columns)
    resampling = read_resampling(line, always=True)
    results = predictions.several().results
    second = sampled_labels.read_second_assessments(next(iter(results.values())), second_file)
    confidence = resampling.confidence if resampling else 95.0
    estimates = sampled_labels.estimate_from_labels(results, second, inclusion, confidence)
    return print_found(line, sampled_pools.SAMPLED_POOL_PRINTOUT, estimates)


def print_found(line: Line, printout: Printout, found: Any) -> int:
    """Print a document of statistics in the format of the line."""
    terminal.print_text(printout.written(found, line.format, terminal.text_width()), terminal.with_deltas)
    return Status.DONE


SCORE_VERB: Final = Verb(
    runs=VerbForm(
        options=f"{options.OF_A_CALL} --run --measure --inclusion --per-unit --all",
        formats="text json tsv markdown latex",
        files=options.FILES,
        sections=(options.POLICIES, options.FIELDS),
        folder="files",
    ),
    evidence=VerbForm(
        options=f"--gold --predictions --measure --per-item --per-unit --force {options.INTERVALS}",
        formats="text json tsv markdown latex",
        files=options.FILES_OF_EVIDENCE,
    ),
    own_options=[Option("--per-item FILE", "Also write the statistics of each unit, as .tsv")],
)


@SCORE_VERB.command
def score(task: str, line: Line) -> int:
    """Score as the command line says; the exit status. Raises CsScoreError where nothing can be scored."""
    if "--inclusion" in line:
        return estimate_from_sample(task, line)
    if "--second-assessments" in line:
        raise UsageError("--second-assessments goes with --inclusion here; without it give it to cs-score compare")
    with scored_by(task, line) as scored:
        text = scored.text(line)
        scored.write()
        if (path := line.get("--per-unit")) is not None:
            storage.write_packed(path, _by_unit(task, scored, read_resampling(line)))
    terminal.print_text(text)
    has_errors = isinstance(scored, RunsScored) and scored.result.error_count
    return Finished(Status.FAILED if has_errors else Status.DONE, scored)
