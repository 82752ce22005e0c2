"""A call that scores Cold Start runs: its inputs, outputs and options.

The call without a command and `cs-score score` both make such a call. They differ in how they score its runs: together,
as the Perl scorer does, or each run separately.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from cs_score.base import outputs as storage
from cs_score.base.errors import CsScoreError, InputError
from cs_score.base.outputs import Existing, PlannedOutput, utf8_blocks
from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.base.sources import InMemory, Input, name_of, name_without_compression, open_source
from cs_score.cli.core import CommandLine
from cs_score.cli.output import STDERR, STDOUT, Destination
from cs_score.cli.run_inputs import Runs
from cs_score.cli.shared_options import BYTES_PER_PART, read_resampling, whole_number
from cs_score.coldstart import output_files as outputs
from cs_score.coldstart.gold import ColdStartGold, Run
from cs_score.coldstart.linking import expand_folder
from cs_score.coldstart.options import is_left_out
from cs_score.coldstart.result import Result
from cs_score.coldstart.scorer import OneRun
from cs_score.problems.log import ProblemLog, RecordingLog

if TYPE_CHECKING:
    from cs_score.coldstart import score_documents as documents
    from cs_score.coldstart import unit_statistics
    from cs_score.problems import reports
    from cs_score.statistics.results import ScoreIntervals
else:
    documents = Late("cs_score.coldstart.score_documents")
    unit_statistics = Late("cs_score.coldstart.unit_statistics")
    reports = Late("cs_score.problems.reports")

PROGRAM: Final = "cs-score"
MOST_PARTS: Final = 1024

_EXPANSION_FACTOR: Final = 6
"""About how many times larger a compressed file becomes when it is read."""


class Call(Runs):
    """A call that scores Cold Start runs, with its inputs, outputs and options, which have been checked. The inputs are
    queries, assessments (the pool) and runs, the answers of systems. The outputs are tables of scores, a JSON document,
    an error report, and the file of --problems.
    """

    def __init__(
        self,
        command_line: CommandLine,
        further_outputs: Iterable[PlannedOutput],
        output: Destination | None = None,
        error_report: Destination = STDERR,
        *,
        output_option: str = "-output_file",
        json_file: str | None = None,
    ) -> None:
        """Check the inputs and outputs of a command line, and make `plan`, the plan of all files that it writes.

        `output` is the prefix of the files with tables, or the stream to which all tables are written; if it is None,
        no table is written. `output_option` is the option that names it, for messages. `further_outputs` are the files
        that are written in addition to the tables and the file of --problems. `error_report` is the file or stream for
        problems. `json_file` is the file for the JSON document, or None. Raises UsageError for options with impossible
        values, and UsageError or OutputError if an output may not be written.
        """
        super().__init__(command_line)
        self.output = output
        self.error_report = error_report
        self.json_file = json_file
        planned_outputs = list(self._planned_tables(output_option))
        planned_outputs.extend(further_outputs)
        planned_outputs.extend(self._planned_problems())
        self.plan = command_line.plan(planned_outputs, self._input_names(), command_line.folder)
        self.params_file_text = self._params_file_text()
        self.resampling = read_resampling(command_line)
        self._part_count = whole_number(command_line, "--parts", MOST_PARTS)
        self._job_count = whole_number(command_line, "--jobs", MOST_PARTS)

    def _planned_problems(self) -> Iterator[PlannedOutput]:
        """Yield the file that --problems names; nothing without the option."""
        if "--problems" in self.command_line:
            yield from reports.PROBLEMS_OPTION.outputs(self.command_line.get("--problems"))

    def _params_file_text(self) -> str:
        """Return the text of the file `PREFIX.params`: the call, the working folder and the policy."""
        has_samples = not is_left_out(self.options.samples)
        typed_words = (PROGRAM, *self.command_line.typed)
        return outputs.params_text(typed_words, os.getcwd(), self.policy_texts, has_samples)

    def _planned_tables(self, output_option: str) -> Iterator[PlannedOutput]:
        """Yield the files into which tables are written, if any. Tables may also go to a stream or not be written.

        Messages about these files name `output_option`, such as `-output_file`.
        """
        if self.output is None or not self.output.is_file:
            return
        for file in outputs.written_outputs(self.command_line.value_by_option, self.edition):
            yield PlannedOutput(output_option, f"{self.output.name}.{file.ending}", Existing.CLEARED)

    def _input_names(self) -> list[str]:
        """Return the names of all files that are read, including the files inside folders."""
        words = list(self.command_line.positional_words)
        for option in ("-queries", "-samples"):
            value = self.command_line.get(option)
            if value:
                words.append(value)
        return _names_of_files(words)

    @property
    def debug_file(self) -> str | None:
        """The name of the debug file, `PREFIX.debug`; None if the tables go to a stream or are not written."""
        if self.output is None or not self.output.is_file:
            return None
        return f"{self.output.name}.debug"

    def check_inputs(self) -> None:
        """Raise InputError if one of the queries, runs or assessments cannot be opened."""
        files: list[Input] = list(self.query_files)
        for path in self.run_and_pool_files:
            files.extend(expand_folder(path))
        for file in files:
            if file != "-" and not isinstance(file, InMemory):
                with open_source(file):  # opening is the check
                    pass

    def load_with_remarks(self, gold: ColdStartGold, run: OneRun, pool: Sequence[Input], problems: ProblemLog) -> Run:
        """Load a single run, with remarks on unassessed answers that nearly equal assessed ones.

        The arguments are the same as for `load_single_run`.
        """
        from cs_score.coldstart.near_misses import remarks_on_near_misses

        loaded_run = self.load_single_run(gold, run, pool, problems)
        remarks = list(loaded_run.remarks)
        remarks.extend(remarks_on_near_misses(loaded_run))
        return replace(loaded_run, remarks=remarks)

    # ---- Large runs

    def part_count_for(self, files: Sequence[Input]) -> int:
        """Return the number of parts into which the queries are divided, so that a large run is scored part by part.

        It is the value of --parts. Without that option it depends on the size of `files`, the run and its assessments.
        Since each part reads all files, the number is always 1, even with --parts, if one of the files can be read only
        once.
        """
        size = _size_when_read(files)
        if size is None:  # a file can be read only once
            return 1
        if self._part_count is not None:
            return self._part_count
        return max(1, min(MOST_PARTS, size // BYTES_PER_PART))

    def score_in_parts(
        self, gold: ColdStartGold, files: Sequence[Input], folder_cleanup: contextlib.ExitStack
    ) -> Result | None:
        """Score a large run part by part, and return its result, or None if the run is small or cannot be divided.

        `files` are the run and its assessments. The text of the debug file is written into a new folder, which is
        removed when `folder_cleanup` is closed.
        """
        if self._needs_whole_run(gold):
            return None
        part_count = self.part_count_for(files)
        if part_count == 1:  # the run is small
            return None
        # An unknown column is left to the scoring of the undivided run. As the reference does, this scoring reports the
        # column after fatal faults in the files.
        if not self._has_valid_columns():
            return None
        from cs_score.base.processes import processor_count
        from cs_score.coldstart.parts import score_in_parts

        folder = folder_cleanup.enter_context(self._folder_for_debug_text())
        file_names = [name_of(file) for file in files]
        job_count = self._job_count or processor_count()
        return score_in_parts(gold, file_names, part_count, job_count, folder)

    def _needs_whole_run(self, gold: ColdStartGold) -> bool:
        """Return whether the call has options or files that cannot be served part by part.

        They are validation, knowledge bases, the JSON document and the file of --problems. Then the whole run is
        scored.
        """
        has_preparation = gold.validates or bool(self.knowledge_bases)
        return has_preparation or self.json_file is not None or "--problems" in self.command_line

    def _has_valid_columns(self) -> bool:
        """Return whether all names of columns in the value of -fields are valid."""
        try:
            outputs.check_fields(self.layout.fields)
        except InputError:
            return False
        return True

    def _folder_for_debug_text(self) -> contextlib.AbstractContextManager[str]:
        """Return a context manager for a new folder beside the debug file, or elsewhere if there is no such file."""
        debug_file = self.debug_file
        if debug_file is not None and storage.is_stream(debug_file):  # no folder can be made beside a device
            debug_file = None
        return storage.folder_beside(debug_file)

    # ---- Results

    def intervals_of(self, result: Result) -> Sequence[ScoreIntervals]:
        """Return the bootstrap intervals of the scores of each run; none without --bootstrap."""
        if self.resampling is None:
            return ()
        return unit_statistics.intervals(result, self.resampling)

    def write(self, result: Result, intervals: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False) -> None:
        """Write the tables and the JSON document of a result, if the command line asks for them.

        If an error stopped the scoring (`was_stopped`), only the files with complete tables are written; a stream gets
        all tables that were made. Raises OutputError if writing fails.
        """
        if self.json_file is not None and not was_stopped:
            self._write_json(documents.json_text(result, intervals), self.json_file)
        if self.output is None:
            return
        if not self.output.is_file:
            self._write_tables_to_stream(self.output, result, intervals)
            return
        for ending, blocks in outputs.file_blocks(result, self.layout, self.params_file_text, intervals, was_stopped):
            storage.write_whole(f"{self.output.name}.{ending}", blocks)

    def _write_tables_to_stream(
        self, destination: Destination, result: Result, intervals: Sequence[ScoreIntervals]
    ) -> None:
        """Write all tables of a result to standard output or standard error. Raises OutputError if writing fails."""
        for blocks in outputs.stream_blocks(result, self.layout, self.params_file_text, intervals):
            destination.write(blocks)

    def _write_json(self, pieces: Iterable[str], json_file: str) -> None:
        """Write JSON to a file, or to standard output for `-`."""
        if json_file == "-":
            STDOUT.write(utf8_blocks(pieces))
        else:
            storage.write_packed(json_file, utf8_blocks(pieces))

    # ---- Problems

    def new_log(self) -> ProblemLog:
        """Return an empty log of problems. With --problems it is one that keeps all details for the file."""
        return RecordingLog() if "--problems" in self.command_line else ProblemLog()

    def write_problems(self, problems: ProblemLog, error: CsScoreError | None = None) -> None:
        """Write the file of --problems, if it was asked for. Raises OutputError if writing fails.

        `error` is the error that ended the scoring, or None. If it is about an input, it is written to the file, too.
        """
        problems_file = self.command_line.get("--problems")
        # With --problems, the log is a RecordingLog, unless the command line was wrong before `new_log` was called.
        if problems_file is None or not isinstance(problems, RecordingLog):
            return
        if isinstance(error, InputError):
            problems.fatal_errors.append(error)
        reports.write_problems(problems, problems_file)


def _names_of_files(inputs: Iterable[Input]) -> list[str]:
    """Return the names of all files among some inputs; a folder is replaced by the names of its files."""
    names = []
    for file_or_folder in inputs:
        for file in expand_folder(file_or_folder):
            names.append(name_of(file))
    return names


def _size_when_read(inputs: Iterable[Input]) -> int | None:
    """Return the size in bytes of all files, with those in folders; None if one of them can be read only once.

    The size of a compressed file is an estimate of its size when it has been read.
    """
    size = 0
    for file_or_folder in inputs:
        for file in expand_folder(file_or_folder):
            if not isinstance(file, str) or not os.path.isfile(file):
                return None
            size += _size_of_file(file)
    return size


def _size_of_file(file: str) -> int:
    """Return the size of a file in bytes or, if it is compressed, an estimate of its size after decompression."""
    size = os.path.getsize(file)
    is_compressed = name_without_compression(file) != file
    return size * _EXPANSION_FACTOR if is_compressed else size
