"""The verification of recorded results: inputs are found and scored again, and all values compared with the record.
A *record* is a JSON file that cs-score wrote about scores, about a run of a batch, or about a whole batch (many runs
scored into a folder). The *verdict* on a file lists the values that differ.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from msgspec import UnsetType

from cs_score.base import VERSION
from cs_score.base.documents import Document, Json, document_in, json_text
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.sources import checked_file_or_folder, open_source
from cs_score.coldstart.linking import EmptyFolder
from cs_score.coldstart.output_files import DEFAULT_FIELDS, SCORE_FIELDS, ColumnLayout
from cs_score.coldstart.result import ScoringStopped
from cs_score.tables.layout import Layout, columns
from cs_score.tasks import COLD_START
from cs_score.verbs.batch.batch_documents import (
    FAILED,
    BatchOverview,
    LeaderboardDocument,
    Outcome,
    RunOrigin,
    WrittenFile,
)
from cs_score.verbs.batch.store import SIGNATURE, ChangedFileError, check_file
from cs_score.verbs.verify.differences import ValueDifference, count_numbers, differences, table_differences, value_text
from cs_score.verbs.verify.places import Places
from cs_score.verbs.verify.recorded_files import RecordFile, ScoresHead, read_recorded
from cs_score.verbs.verify.rescored_batch import TABLES, TABLES_OF_OVERVIEW, BatchRescorer, WholeBatch, rescore_run
from cs_score.verbs.verify.scoring_again import RescoredRuns, rescore_predictions, rescore_runs

SCORES_FILE: Final = "out.json"
"""The document that `score -o FOLDER` writes, beside the tables."""

LEADERBOARD: Final = "leaderboard.json"
OVERVIEW: Final = "batch.json"


class _BatchFile(NamedTuple):
    """The record that a file of a batch holds, and what messages call it."""

    record_type: type[Document]
    meaning: str


_BATCH_FILES: Final[Mapping[str, _BatchFile]] = {
    LEADERBOARD: _BatchFile(LeaderboardDocument, "the leaderboard of a batch"),
    OVERVIEW: _BatchFile(BatchOverview, "the analyses over all runs of a batch"),
    SIGNATURE: _BatchFile(Outcome, "a run of a batch"),
}
"""The JSON files of a batch by name."""

_ORIGIN_VERSION_PATTERN: Final = re.compile(r'(?<="version": ")[^"]*')
"""The version in an origin. No other member of these files has this name, and quotes within a text are escaped."""

_VERSION_PATTERN: Final = re.compile(rf"(?<=[|}}]cs-score:)[0-9A-Za-z.+-]+|{_ORIGIN_VERSION_PATTERN.pattern}")
"""The version of an origin or of a signature, also as LaTeX has it."""


# ---- The verdicts


class Verdict(Record):
    """What became of one file: the values that differ, how many numbers were compared, notes for the reader. Of a table
    that is no JSON `compared` counts lines.
    """

    file: str
    differences: tuple[ValueDifference, ...]
    compared: int
    notes: tuple[str, ...] = ()
    unit: Literal["number", "line"] = "number"

    @property
    def is_reproduced(self) -> bool:
        """Whether every value is the same as recorded."""
        return not self.differences


class Verification(Document, frozen=True, kw_only=True, tag="verification"):
    """What became of a recorded result, file by file."""

    schema_version: Literal[2] = 2
    result: str
    reproduced: bool
    files: tuple[Verdict, ...]


def _verdict_rows(verification: Verification) -> Iterator[dict[str, Any]]:
    """Yield a row for each verified file, as a dictionary by the keys of the columns."""
    for verdict in verification.files:
        yield {
            "file": verdict.file,
            "result": "reproduced" if verdict.is_reproduced else "differs",
            "differences": len(verdict.differences),
            "compared": verdict.compared,
            "unit": verdict.unit,
            "notes": "; ".join(verdict.notes) or None,
        }


VERIFIED: Final = Layout(
    name="verification",
    title="Files:",
    columns=columns("file", "result", "differences", "compared", "unit", "notes"),
    rows=_verdict_rows,
)
"""The table of verified files."""


def verification(path: str, files: Sequence[str] = (), *, is_forced: bool = False) -> Verification:
    """Return the document of the verification of a recorded result, with the verdict on each of its files.

    `path` is a file, the folder of a score or the folder of a batch. The arguments and errors are the same as for
    `verify`, which yields the verdicts one by one.
    """
    verdicts = tuple(verify(path, files, is_forced=is_forced))
    record_of_first_file = read_recorded(verdicts[0].file)
    return Verification(
        task=record_of_first_file.members.task,  # all files of a result have the same task
        result=path,
        reproduced=all(verdict.is_reproduced for verdict in verdicts),
        files=verdicts,
    )


def verify(path: str, files: Sequence[str] = (), *, is_forced: bool = False) -> Iterator[Verdict]:
    """Score the runs of a recorded result again, and yield a verdict on each file of the result.

    `path` is a file, the folder of a score or the folder of a batch. Inputs are looked for among `files`, which are
    files and folders, and at their recorded paths. With `is_forced` a record may ask for any number of resamples.
    Raises InputError if `path` holds no result of cs-score, or one that cannot be scored again; NotFoundError for
    inputs that are missing or changed.
    """
    scores_file = os.path.join(path, SCORES_FILE)
    if os.path.isfile(scores_file):
        yield from _verify_single_file(scores_file, files, is_forced=is_forced)
    elif os.path.isdir(path):
        yield from _verify_batch_folder(path, Places(files, path, allows_long_verification=is_forced))
    else:
        yield from _verify_single_file(path, files, is_forced=is_forced)


def _verify_single_file(path: str, files: Sequence[str], *, is_forced: bool) -> Iterator[Verdict]:
    """Yield the verdict on a single record and, for scores of Cold Start runs, the verdicts on the files next to it.

    The arguments and errors are the same as for `verify`, except that `path` is a file.
    """
    record = read_recorded(path)
    places = Places(files, os.path.dirname(path), allows_long_verification=is_forced)
    if isinstance(record.members, ScoresHead) and record.members.task == COLD_START:
        yield from _verify_scores_of_runs(record, record.members, places)
        return
    batch = _whole_batch([record], places)  # None for scores of predictions or a single run of a batch
    rescorer = BatchRescorer(places) if batch is None else batch
    yield _verdict_on_record(record, places, rescorer, batch)


def _verify_batch_folder(folder: str, places: Places) -> Iterator[Verdict]:
    """Yield the verdicts on the records of all runs in a batch, on the records of the whole batch, and on its tables.

    Raises InputError if the folder has no record of a batch or its runs cannot be scored, and NotFoundError if inputs
    are missing or changed.
    """
    records = _read_batch_records(folder)
    batch = _whole_batch(records, places)
    # If there is no leaderboard because the batch was stopped, there is no `batch`, and only the runs are verified.
    # Otherwise, the batch itself scores the runs again, so that they need not be scored once more for its tables.
    rescorer = BatchRescorer(places) if batch is None else batch
    # A run is misplaced if its folder has the name of another run, or if it is not in the leaderboard.
    folder_differences_by_file = _differences_of_misplaced_runs(folder, records, batch)
    for record in records:
        verdict = _verdict_on_record(record, places, rescorer, batch)
        folder_differences = folder_differences_by_file.get(record.file, [])
        yield replace(verdict, differences=(*folder_differences, *verdict.differences))
    if batch is not None and batch.was_scored:
        yield from _verify_tables(folder, batch)


def _verify_tables(folder: str, batch: WholeBatch) -> Iterator[Verdict]:
    """Yield the verdicts on the tables of a batch that exist in its folder, such as `leaderboard.tsv`."""
    for name in TABLES:
        file = os.path.join(folder, name)
        if os.path.isfile(file):
            recorded = _recorded_table(file, batch)
            yield _table_verdict(file, recorded, batch.rescored_table(name, recorded))


def _recorded_table(file: str, batch: WholeBatch) -> str:
    """Return the text of a table of a batch. Raises InputError if it cannot be read.

    If another version of cs-score made the batch, the text names this version instead, so that it counts as no
    difference.
    """
    text = _read_text(file)
    has_other_version = bool(_other_versions(batch.board_record.json))
    if has_other_version:
        return _VERSION_PATTERN.sub(VERSION, text)
    return text


def _table_verdict(file: str, recorded: str, computed: str) -> Verdict:
    """Return the verdict on the table in `file`, given its recorded and its computed text."""
    return Verdict(
        file=file, differences=tuple(table_differences(recorded, computed)), compared=computed.count("\n"), unit="line"
    )


def _read_text(file: str) -> str:
    """Return the text of a file. Raises InputError if it cannot be read."""
    with open_source(file, dash_is_stdin=False, decompress=False) as source:
        return source.read_bytes().decode("utf-8", "surrogateescape")


# ---- Scores of Cold Start runs


def _verify_scores_of_runs(record: RecordFile, head: ScoresHead, places: Places) -> Iterator[Verdict]:
    """Yield the verdict on recorded scores of runs, then the verdicts on the tables next to them.

    `head` has the members of the record that say how the runs were scored. Raises InputError if the scores cannot be
    computed again, and NotFoundError if inputs are missing or changed.
    """
    try:
        rescored = rescore_runs(record, head, places)
    except ScoringStopped as stop:
        yield _stopped_verdict(record, stop)
        return
    # The record also lists folders without a run, but these have no input that could be found and scored again.
    recorded_json = _without_empty_folders(record.json, head, places)
    yield _verdict_on_values(record, recorded_json, rescored.document(head), _other_versions(recorded_json))
    # Tables are written only when `score` writes into a folder, and never for chosen measures.
    has_tables = os.path.basename(record.file) == SCORES_FILE and not head.measures
    if has_tables:
        path_without_ending = record.file.removesuffix("json")  # `scored/out.`, for tables such as `scored/out.sf`
        yield from _verify_tables_of_scores(path_without_ending, rescored)


def _verify_tables_of_scores(path_without_ending: str, rescored: RescoredRuns) -> Iterator[Verdict]:
    """Yield the verdicts on the tables that exist next to recorded scores.

    The path of a table is `path_without_ending` followed by an ending, for example `scored/out.` followed by `sf`. The
    file `.params` says how the columns of the tables are laid out. This file is not verified itself, because the time,
    the folder and the words of the call are not recorded.
    """
    params_file = f"{path_without_ending}params"
    params_text = _read_text(params_file) if os.path.isfile(params_file) else ""  # empty for the usual layout
    computed_by_ending = rescored.file_texts(_layout_of(params_text), params_text)
    computed_by_ending.pop("params")
    for ending, computed in computed_by_ending.items():
        file = f"{path_without_ending}{ending}"
        if os.path.isfile(file):
            yield _table_verdict(file, _read_text(file), computed)


def _layout_of(params_text: str) -> ColumnLayout:
    """Return the columns of score tables and whether tabs separate them, as chosen by the command line in `.params`.

    `params_text` is the text of this file. For example, the command line `cs-score -fields EC:F1 -tabs ...` chooses two
    columns. If the file has no valid command line, the usual layout is returned.
    """
    words = _command_line_in(params_text)
    if not words:
        return ColumnLayout()
    fields = DEFAULT_FIELDS
    if "-fields" in words[:-1]:  # an option at the end has no value
        position_of_value = words.index("-fields") + 1
        fields = tuple(words[position_of_value].split(":"))
    if any(field not in SCORE_FIELDS for field in fields):
        return ColumnLayout()
    return ColumnLayout(fields, is_tab_separated="-tabs" in words)


def _command_line_in(params_text: str) -> list[str]:
    """Return the words of the line in `.params` with the command line, or no words if there is no complete one.

    The line looks like `FOLDER$ cs-score -fields EC:F1 ...`, so the first word is the folder of the call.
    """
    for line in params_text.split("\n"):
        if "$ cs-score " in line:
            try:
                return shlex.split(line)
            except ValueError:  # a quotation mark is missing
                return []
    return []


def _without_empty_folders(document: Mapping[str, Json], head: ScoresHead, places: Places) -> dict[str, Json]:
    """Return the document of recorded scores without empty folders and their remarks, so that it can be compared.

    A record names folders in which no run was found, both in `empty_folders` and in remarks. Because only the runs are
    read when scoring again, the computed document does not name any empty folders. If a folder no longer exists or now
    contains a run, the folder and its remark stay in the document and appear as differences.
    """
    empty_folders = [folder for folder in head.empty_folders if places.has_folder_without_runs(folder)]
    other_folders = [folder for folder in head.empty_folders if folder not in empty_folders]
    remarks_on_empty_folders = [EmptyFolder(folder).remark for folder in empty_folders]
    members = dict(document)
    if empty_folders:
        members["remarks"] = [remark for remark in head.remarks if remark not in remarks_on_empty_folders]
    if other_folders:
        members["empty_folders"] = [*other_folders]
    else:
        members.pop("empty_folders", None)
    return members


# ---- The records of a batch


def _read_batch_records(folder: str) -> list[RecordFile]:
    """Return the records of the runs in the folder of a batch, then the records of the whole batch.

    Raises InputError if there are no records, or if there are tables without the record from which they are computed.
    """
    run_files = _records_of_runs(folder)
    # A batch has up to two records in JSON (leaderboard.json, batch.json), and tables that are computed from them.
    names = [name for name in (LEADERBOARD, OVERVIEW, *TABLES) if os.path.isfile(os.path.join(folder, name))]
    if not run_files and LEADERBOARD not in names and OVERVIEW not in names:
        raise InputError(f"neither {LEADERBOARD} nor a {SIGNATURE} of a run in it", file=folder)
    # Everything is computed from leaderboard.json; answers.tsv, agreement.tsv and stability.tsv also need batch.json.
    _require_record_of_tables(LEADERBOARD, [OVERVIEW, *TABLES], names, folder)
    _require_record_of_tables(OVERVIEW, TABLES_OF_OVERVIEW, names, folder)
    # Tables are not records, and are read only when they are verified.
    batch_files = [os.path.join(folder, name) for name in names if name in _BATCH_FILES]
    return [_read_batch_file(file) for file in run_files + batch_files]


def _records_of_runs(folder: str) -> list[str]:
    """Return the sorted paths of the records of runs in a batch: `RUN/signature.json`, `POLICY/RUN/signature.json`."""
    paths = glob.glob(os.path.join(glob.escape(folder), "*", SIGNATURE))
    paths += glob.glob(os.path.join(glob.escape(folder), "*", "*", SIGNATURE))
    return sorted([checked_file_or_folder(path) for path in paths])


def _require_record_of_tables(record: str, tables: Iterable[str], file_names: Sequence[str], folder: str) -> None:
    """Raise InputError if a folder has any of the `tables` but not the `record` from which they are computed.

    `file_names` are the names of the files in the folder. `record` and `tables` are also file names.
    """
    unverifiable_tables = [name for name in file_names if name in tables]
    if unverifiable_tables and record not in file_names:
        text = ", ".join(unverifiable_tables)
        raise InputError(f"no {record} in it, without which {text} cannot be verified", file=folder)


def _read_batch_file(path: str) -> RecordFile:
    """Return the record in a file of a batch. Raises InputError if its kind does not fit the name of the file."""
    record = read_recorded(path)
    expected = _BATCH_FILES[os.path.basename(path)]
    if not isinstance(record.members, expected.record_type):
        raise InputError(f"not {expected.meaning}", file=path)
    return record


def _whole_batch(records: Sequence[RecordFile], places: Places) -> WholeBatch | None:
    """Return the batch whose leaderboard or `batch.json` is among some records; None if neither is among them.

    If only `batch.json` is among them, the leaderboard in its folder is read. Raises InputError if there is none.
    """
    board_record = _record_of_type(LeaderboardDocument, records)
    overview_record = _record_of_type(BatchOverview, records)
    if board_record is None and overview_record is not None:
        board_record = _leaderboard_beside(overview_record.file)
    if board_record is None:
        return None
    overview = None if overview_record is None else cast(BatchOverview, overview_record.members)
    return WholeBatch(places, board_record, overview)


def _record_of_type(record_type: type[Document], records: Iterable[RecordFile]) -> RecordFile | None:
    """Return the first record whose contents are of a type, such as LeaderboardDocument, or None if there is none."""
    for record in records:
        if isinstance(record.members, record_type):
            return record
    return None


def _leaderboard_beside(overview_file: str) -> RecordFile:
    """Return the record of the leaderboard in the folder of a `batch.json`. Raises InputError if there is none."""
    board_file = os.path.join(os.path.dirname(overview_file), LEADERBOARD)
    if not os.path.isfile(board_file):
        raise InputError(f"no {LEADERBOARD} beside it, which has what the runs were scored from", file=overview_file)
    return _read_batch_file(board_file)


# ---- The folders of runs

_RunKey: TypeAlias = tuple[str, str]
"""A policy and the name of a run: `("sf", "TIDE_KB")`."""


def _differences_of_misplaced_runs(
    folder: str, records: Sequence[RecordFile], batch: WholeBatch | None
) -> dict[str, list[ValueDifference]]:
    """Return the differences between the folders of runs and the leaderboard, by the file of the record.

    The record of a run has a difference if its folder was renamed or swapped, or if the leaderboard does not list the
    run. The leaderboard has a difference for each run whose folder is missing. If there is no leaderboard, only the
    names of folders are compared.
    """
    differences_by_file: dict[str, list[ValueDifference]] = {}
    matching = _FolderMatching(folder, batch)
    for record in records:
        if isinstance(record.members, Outcome):
            difference = matching.match(record.file, record.members)
            if difference is not None:
                differences_by_file[record.file] = [difference]
    if batch is not None:
        # Each call of `match` has removed a run from `unmatched_origins`, so the remaining runs have no folder.
        missing_runs = list(matching.unmatched_origins)
        differences_by_file[batch.board_record.file] = _differences_of_missing_folders(missing_runs)
    return differences_by_file


class _FolderMatching:
    """Matches the folders of runs in the folder of a batch to the runs that its leaderboard lists as scored.

    `unmatched_origins` has the listed runs that no folder was matched to, with the inputs and options of their scoring
    (the origin). It is empty without a leaderboard.
    """

    def __init__(self, folder: str, batch: WholeBatch | None) -> None:
        """Begin without matches. `folder` is the folder of the batch; `batch` is None without a leaderboard."""
        self._folder = folder
        self._batch = batch
        self.unmatched_origins: dict[_RunKey, RunOrigin | UnsetType] = {}
        if batch is not None:
            self.unmatched_origins = _origin_by_run(batch.board)

    def match(self, record_file: str, outcome: Outcome) -> ValueDifference | None:
        """Match the folder of a run to a run in the leaderboard, and return the difference between them, if any.

        `outcome` was recorded in `record_file`, which is in the folder. Each run in the leaderboard is matched to only
        one folder.
        """
        run_folder = os.path.relpath(os.path.dirname(record_file), self._folder)
        difference_of_name = _difference_of_name(run_folder, outcome, self._batch)
        if difference_of_name is not None:
            return difference_of_name
        if self._batch is None:  # there is no leaderboard to match against
            return None
        # The run is removed, so that it cannot be matched to another folder.
        listed_origin = self.unmatched_origins.pop((outcome.policy, outcome.run), None)
        return _difference_of_origin(run_folder, outcome, listed_origin)


def _origin_by_run(board: LeaderboardDocument) -> dict[_RunKey, RunOrigin | UnsetType]:
    """Return the inputs and options (the origin) of each run that a leaderboard lists as scored."""
    return {(row.policy, row.run): row.origin for row in board.rows if row.state != FAILED}


def _difference_of_name(run_folder: str, outcome: Outcome, batch: WholeBatch | None) -> ValueDifference | None:
    """Return a difference if the folder of a run does not have the name of the run, or None if it does.

    The folder must be `RUN`, or `POLICY/RUN` if the batch has several policies. If there is no leaderboard (`batch` is
    None), the number of policies is not known, and both forms are accepted. Instead of a computed value, the difference
    states the folder in which the run should be.
    """
    folder_with_policy = os.path.join(outcome.policy, outcome.run)
    if batch is None:
        possible_folders = [outcome.run, folder_with_policy]
    elif batch.board.has_policies:
        possible_folders = [folder_with_policy]
    else:
        possible_folders = [outcome.run]
    if run_folder in possible_folders:
        return None
    name = f"the run in the folder {run_folder}"
    return ValueDifference(name, value_text(outcome.run), f"belongs into {possible_folders[-1]}")


def _difference_of_origin(
    run_folder: str, outcome: Outcome, listed_origin: RunOrigin | UnsetType | None
) -> ValueDifference | None:
    """Return a difference if a run was scored with other inputs or options than the leaderboard lists.

    `listed_origin` has the inputs and options that the leaderboard lists for the run, or is UNSET if its row has none.
    It is None if the leaderboard does not list the run as scored, which also counts as a difference. Returns None if
    there is no difference.
    """
    if listed_origin is None:
        name = f"the folder {run_folder}"
        return ValueDifference(name, recorded="a run", computed=f"none that {LEADERBOARD} lists as scored")
    if listed_origin != outcome.origin:
        return ValueDifference("origin", recorded="another one", computed=f"that of {LEADERBOARD}")
    return None


def _differences_of_missing_folders(missing_runs: Iterable[_RunKey]) -> list[ValueDifference]:
    """Return a difference for each run that the leaderboard lists as scored although its folder is missing.

    `missing_runs` has the policy and the name of each of these runs.
    """
    missing_folders = []
    for policy, run in missing_runs:
        name = f"the folder of the run {run}"
        if policy:
            name += f" under {policy}"
        missing_folders.append(ValueDifference(name, "scored", "no such folder"))
    return missing_folders


# ---- One record


def _verdict_on_record(
    record: RecordFile, places: Places, rescorer: BatchRescorer, batch: WholeBatch | None
) -> Verdict:
    """Return the verdict on scores of predictions, on a run of a batch, or on a record of a whole batch.

    Inputs are looked for among `places`, and `rescorer` scores the runs of a batch again. `batch` is needed for a
    record of a whole batch. Raises InputError if the record cannot be scored again, and NotFoundError if inputs are
    missing or changed.
    """
    try:
        if isinstance(record.members, ScoresHead):
            computed = rescore_predictions(record, record.members, places)
            return _verdict_on_values(record, record.json, computed, _other_versions(record.json))
        if isinstance(record.members, Outcome):
            return _verdict_on_run(record, record.members, rescorer)
        assert batch is not None  # `_whole_batch` returned it, because this record belongs to the batch
        return _verdict_on_batch_record(record, batch)
    except ScoringStopped as stop:
        return _stopped_verdict(record, stop)


def _verdict_on_run(record: RecordFile, outcome: Outcome, rescorer: BatchRescorer) -> Verdict:
    """Return the verdict on the record of a run of a batch, which holds its `outcome`, and on the files of the run.

    Raises InputError if the run cannot be scored again, NotFoundError for inputs that are missing or changed.
    """
    rescored_outcome = rescore_run(record, outcome, rescorer)
    changed_files = _changed_files(record.file, outcome)
    verdict = _verdict_on_values(record, record.json, rescored_outcome, _other_versions(record.json))
    return replace(verdict, differences=(*changed_files, *verdict.differences))


def _verdict_on_batch_record(record: RecordFile, batch: WholeBatch) -> Verdict:
    """Return the verdict on the leaderboard of a batch, or on its `batch.json`.

    Notes name the runs that failed when they were recorded, which are not scored again.
    """
    failed_runs = dict.fromkeys([row.run for row in batch.board.rows if row.state == FAILED])
    notes = [f"{run} failed then, and was not scored again" for run in failed_runs]
    if isinstance(record.members, LeaderboardDocument):
        verdict = _verdict_on_values(record, record.json, batch.rescored_board, _other_versions(record.json))
    else:
        verdict = _verdict_on_overview(record, batch)
    return replace(verdict, notes=(*notes, *verdict.notes))


def _verdict_on_overview(record: RecordFile, batch: WholeBatch) -> Verdict:
    """Return the verdict on the `batch.json` of a batch. If no run was scored, only the list of runs is compared."""
    computed = batch.rescored_overview_document()
    # Only the leaderboard says which version made the batch.
    other_versions = _other_versions(batch.board_record.json)
    if batch.was_scored:
        return _verdict_on_values(record, record.json, computed, other_versions)
    recorded_runs = {"runs": record.json.get("runs")}
    verdict = _verdict_on_values(record, recorded_runs, computed, other_versions)
    note = "no run was scored then, so that nothing else is compared"
    return replace(verdict, notes=(note, *verdict.notes))


def _stopped_verdict(record: RecordFile, stop: ScoringStopped) -> Verdict:
    """Return the verdict on recorded scores if an error stops scoring them again: nothing is compared."""
    difference = ValueDifference("the scoring", "came to its end", f"is stopped: {stop}")
    return Verdict(record.file, differences=(difference,), compared=0)


def _verdict_on_values(
    record: RecordFile, recorded_json: Json, computed: object, other_versions: Sequence[str]
) -> Verdict:
    """Return the verdict on a record: the values that differ between its JSON and the document `computed`.

    `recorded_json` is the JSON of the record, possibly without members that cannot be computed again. `other_versions`
    are the versions of cs-score, other than the current one, that made the record. They are mentioned in a note but do
    not count as differences.
    """
    computed_json = document_in(json_text(computed), record.file)  # has values of JSON types, like the record
    notes = []
    if other_versions:
        recorded_json = _with_this_version(recorded_json)
        notes.append(f"recorded by cs-score {', '.join(other_versions)}, computed by {VERSION}")
    return Verdict(
        record.file,
        differences=tuple(differences(recorded_json, computed_json)),
        compared=count_numbers(computed_json),
        notes=tuple(notes),
    )


def _with_this_version(recorded: Json) -> Json:
    """Return a JSON value in which other versions of cs-score are replaced by the current version."""
    value: Json = json.loads(_VERSION_PATTERN.sub(VERSION, json.dumps(recorded)))
    return value


def _other_versions(value: Json) -> list[str]:
    """Return the versions of cs-score, other than this one, that a record names."""
    versions = set(_ORIGIN_VERSION_PATTERN.findall(json.dumps(value)))
    return sorted(versions - {VERSION})


def _changed_files(file: str, outcome: Outcome) -> list[ValueDifference]:
    """Return a difference for each file of a run that is missing, or whose content differs from its record.

    `file` is the file of the record, in the folder of the run. Raises InputError if the record names a file outside
    this folder.
    """
    changed_files = []
    for position, written in enumerate(outcome.files):
        is_file_name = os.path.basename(written.name) == written.name
        if not is_file_name:
            place_of_name = f"files[{position}][0]"  # the JSON has a list for each file, with its name first
            raise InputError("is no name of a file", file=file, place=place_of_name)
        if not _is_as_recorded(os.path.join(os.path.dirname(file), written.name), written):
            difference = ValueDifference(f"the file {written.name}", _content_in_words(written), "another file")
            changed_files.append(difference)
    return changed_files


def _is_as_recorded(path: str, written: WrittenFile) -> bool:
    """Return whether the file at `path` has the size and the digest that were recorded when it was written."""
    try:
        check_file(path, written)
    except ChangedFileError:
        return False
    return True


def _content_in_words(written: WrittenFile) -> str:
    """Return the recorded size of a file, and its SHA-256 if it is recorded: `"12 bytes, SHA-256 0a1b..."`."""
    if not written.sha256:
        return f"{written.size} bytes"
    return f"{written.size} bytes, SHA-256 {written.sha256}"
