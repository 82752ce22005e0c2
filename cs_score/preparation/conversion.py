"""Prepare the inputs of scoring before they are loaded: convert files to runs, and validate runs. A prepared run
records how it was made from an input and which problems the input has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from cs_score.base.records import Record
from cs_score.base.sources import InMemory, Input, rereadable
from cs_score.coldstart.converters import KNOWLEDGE_BASE, Converter, converter_for
from cs_score.coldstart.linking import expand_folder
from cs_score.coldstart.options import JustificationLimits
from cs_score.coldstart.queries import QuerySet
from cs_score.preparation.prepared_runs import Preparation, PreparedRun, validate_runs
from cs_score.problems.log import ProblemLog


class Conversion(NamedTuple):
    """The result of a conversion: the record of it, including the problems of the file, and the run that was made.

    `run_file` is None if the file has errors, because a run cannot be made from it then.
    """

    prepared_run: PreparedRun
    run_file: InMemory | None

    @property
    def run_files(self) -> list[InMemory]:
        """The run that was made, as a list; the list is empty if no run could be made."""
        return [] if self.run_file is None else [self.run_file]


class PreparationSettings(Record, eq=False):
    """How inputs are prepared.

    * `queries`: the queries that knowledge bases answer.
    * `validates`: whether runs are validated, under the `limits` on justifications.
    * `only_run_id`: the run that is validated if a file holds several, or None for all of them.
    * `new_log`: the function that makes the log of problems of each run.
    * `on_prepared`: the function that is called with each run that was converted or validated. It raises InputError for
      a run that must not be scored.
    """

    queries: QuerySet
    limits: JustificationLimits
    validates: bool
    only_run_id: str | None = None
    new_log: Callable[[], ProblemLog] = ProblemLog
    on_prepared: Callable[[PreparedRun], object] = PreparedRun.raise_for_errors


def prepare_inputs(
    files: Iterable[Input], settings: PreparationSettings, knowledge_bases: Collection[Input] = ()
) -> Preparation:
    """Return the files to score, in order, after converting files to runs and, if asked to, validating the runs.

    A knowledge base, for example, is replaced by a run with its answers to the queries, while a run stays as it is. A
    folder stands for all of its files. The files in `knowledge_bases` are converted even if they do not look like
    knowledge bases. The result also contains a record of each run that was converted or validated. Raises InputError if
    a file cannot be prepared.
    """
    converted = _convert_files(files, settings, knowledge_bases)
    for prepared_run in converted.prepared_runs:
        settings.on_prepared(prepared_run)
    if not settings.validates:
        return converted
    # Runs made from other files are also validated. `validate_inputs` calls `on_prepared` for validated runs.
    validated = validate_inputs(converted.files, settings)
    return Preparation(files=validated.files, prepared_runs=converted.prepared_runs + validated.prepared_runs)


def _convert_files(
    files: Iterable[Input], settings: PreparationSettings, knowledge_bases: Collection[Input]
) -> Preparation:
    """Return the files to score, with runs instead of files such as knowledge bases, and a record of each conversion.

    A folder stands for all of its files. For a file with errors there is a record but no run.
    """
    converted = Preparation()
    for path in files:
        for file in expand_folder(path):
            converter = KNOWLEDGE_BASE if file in knowledge_bases else converter_for(file)
            if converter is None:
                converted.files.append(file)
                continue
            conversion = _convert(file, converter, settings)
            converted.prepared_runs.append(conversion.prepared_run)
            converted.files += conversion.run_files
    return converted


def _convert(file: Input, converter: Converter, settings: PreparationSettings) -> Conversion:
    """Return the run that a converter makes from a file, with a record of the conversion.

    Raises InputError if the file cannot be read.
    """
    convert_file = converter.load_function(file)
    queries = list(settings.queries.default_queries())
    conversion: Conversion = convert_file(rereadable(file), queries, settings.new_log())
    return conversion


def validate_inputs(files: Iterable[Input], settings: PreparationSettings) -> Preparation:
    """Return the files to score after validating the runs among them; a folder is validated as one run.

    Nothing is converted. Raises InputError for a run that cannot be validated or must not be scored.
    """
    validated = validate_runs(files, settings.queries, settings.limits, settings.new_log, settings.only_run_id)
    for prepared_run in validated.prepared_runs:
        settings.on_prepared(prepared_run)
    return validated
