"""The verification of recorded results: inputs are found, scored again, and every value is held against the record."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, cast

from cs_score.base.documents import Document, Json, document_in, json_text
from cs_score.base.errors import InputError
from cs_score.base.records import Record, asdict, replace
from cs_score.base.sources import file_in_folder, open_source
from cs_score.base.version import VERSION
from cs_score.batch.documents import FAILED, Leaderboard, Outcome, Overview
from cs_score.batch.store import SIGNATURE, UnfitError, check_file
from cs_score.coldstart.linking import folder_without_files
from cs_score.coldstart.outputs import DEFAULT_FIELDS, SCORE_FIELDS
from cs_score.coldstart.outputs import Layout as FileLayout
from cs_score.coldstart.result import ScoringStopped
from cs_score.tables.layout import Layout, columns
from cs_score.tasks import COLD_START
from cs_score.verification.differences import Difference, count_numbers, differences, shown, table_differences
from cs_score.verification.places import Places
from cs_score.verification.recorded import Head, Recorded, read_recorded
from cs_score.verification.rescored_batch import TABLES, TABLES_OF_OVERVIEW, BatchRuns, WholeBatch, rescore_run
from cs_score.verification.rescoring import rescore_predictions, rescore_runs

SCORES_FILE: Final = "out.json"
"""The document that `score -o FOLDER` writes, beside the tables."""

LEADERBOARD: Final = "leaderboard.json"
OVERVIEW: Final = "batch.json"


class _BatchFile(NamedTuple):
    """The record that a file of a batch holds, and what messages call it."""

    record_type: type[Document]
    meaning: str


_BATCH_FILES: Final[Mapping[str, _BatchFile]] = {
    LEADERBOARD: _BatchFile(Leaderboard, "the leaderboard of a batch"),
    OVERVIEW: _BatchFile(Overview, "the analyses over all runs of a batch"),
    SIGNATURE: _BatchFile(Outcome, "a run of a batch"),
}
"""The files of a batch that are records, by name."""

_VERSION_OF_ORIGIN: Final = re.compile(r'(?<="version": ")[^"]*')
"""The version of an origin: nothing else in these files is called so, and quotes within a text are escaped."""

_VERSION: Final = re.compile(rf"(?<=[|}}]cs-score:)[0-9A-Za-z.+-]+|{_VERSION_OF_ORIGIN.pattern}")
"""The version of an origin or of a signature, also as LaTeX has it."""


# ---- The verdicts


class Verdict(Record):
    """What became of one file: the values that differ, how many numbers were compared, notes for the reader. Of a table
    that is no JSON `compared` counts lines.
    """

    file: str
    differences: tuple[Difference, ...]
    compared: int
    notes: tuple[str, ...] = ()
    unit: Literal["number", "line"] = "number"

    @property
    def is_reproduced(self) -> bool:
        """Whether every value is the same."""
        return not self.differences


class Verification(Document, frozen=True, kw_only=True, tag="verification"):
    """What became of a recorded result, file by file."""

    schema_version: Literal[2] = 2
    result: str
    reproduced: bool
    files: tuple[Verdict, ...]


def _verdict_rows(verification: Verification) -> Iterator[dict[str, Any]]:
    """Yield a row for each file."""
    for verdict in verification.files:
        yield {
            **asdict(verdict),
            "result": "reproduced" if verdict.is_reproduced else "differs",
            "differences": len(verdict.differences),
            "notes": "; ".join(verdict.notes) or None,
        }


VERIFIED: Final = Layout(
    "verification", "Files:", columns("file", "result", "differences", "compared", "unit", "notes"), _verdict_rows
)
"""The table of verified files."""


def verification(path: str, files: Sequence[str] = (), *, is_forced: bool = False) -> Verification:
    """Return all that `verify` finds, as a document. Raises InputError and NotFoundError as it does."""
    verdicts = tuple(verify(path, files, is_forced=is_forced))
    return Verification(
        task=read_recorded(verdicts[0].file).made.task,
        result=path,
        reproduced=all(verdict.is_reproduced for verdict in verdicts),
        files=verdicts,
    )


def verify(path: str, files: Sequence[str] = (), *, is_forced: bool = False) -> Iterator[Verdict]:
    """Score again what is recorded at `path`, and yield a verdict on each file.

    `path` is a file, the folder of a score or that of a batch. Inputs are looked for among `files`, which are files and
    folders, and where they were. With `is_forced` a record may ask for any number of resamples. Raises InputError for
    anything but a result of cs-score, and for one that cannot be scored again; NotFoundError for inputs that are
    missing or changed.
    """
    scores_file = os.path.join(path, SCORES_FILE)
    if os.path.isfile(scores_file):
        path = scores_file
    if os.path.isdir(path):
        yield from _verify_batch_folder(path, Places(files, path, is_forced=is_forced))
        return
    record = read_recorded(path)
    places = Places(files, os.path.dirname(path), is_forced=is_forced)
    batch = _whole_batch([record], places)
    yield from _verify_record(record, places, batch)


def _verify_batch_folder(folder: str, places: Places) -> Iterator[Verdict]:
    """Yield the verdicts on the records of all runs of a batch, on those of the whole batch, and on its tables."""
    records = _read_batch_records(folder)
    batch = _whole_batch(records, places)
    runs = batch or BatchRuns(places)
    misplaced_by_file = _misplaced_runs(folder, records, batch)
    for record in records:
        misplaced_runs = misplaced_by_file.get(record.file, [])
        verdict = _verdict(record, places, runs, batch)
        yield replace(verdict, differences=(*misplaced_runs, *verdict.differences))
    if batch is not None and batch.was_scored:
        yield from _verify_tables(folder, batch)


def _verify_record(record: Recorded, places: Places, batch: WholeBatch | None) -> Iterator[Verdict]:
    """Yield the verdict on a record and, for scores of Cold Start runs, those on the files beside it."""
    if isinstance(record.made, Head) and record.made.task == COLD_START:
        yield from _verify_scores_of_runs(record, places)
    else:
        runs = batch or BatchRuns(places)
        yield _verdict(record, places, runs, batch)


def _verify_tables(folder: str, batch: WholeBatch) -> Iterator[Verdict]:
    """Yield the verdicts on the tables of a batch that are not JSON."""
    for name in TABLES:
        file = os.path.join(folder, name)
        if not os.path.isfile(file):
            continue
        recorded = _text_of(file)
        if _other_versions(batch.recorded.value):
            recorded = _VERSION.sub(VERSION, recorded)
        computed = batch.rescored_table(name, recorded)
        yield _table_verdict(file, recorded, computed)


def _table_verdict(file: str, recorded: str, computed: str) -> Verdict:
    """Return the verdict on a table, given its recorded and its computed text."""
    line_count = computed.count("\n")
    return Verdict(file, tuple(table_differences(recorded, computed)), line_count, unit="line")


def _text_of(file: str) -> str:
    """Return the text of a file. Raises InputError if it cannot be read."""
    with open_source(file, stdin_as_dash=False, decompress=False) as source:
        return source.read_bytes().decode("utf-8", "surrogateescape")


# ---- Scores of Cold Start runs


def _verify_scores_of_runs(record: Recorded, places: Places) -> Iterator[Verdict]:
    """Yield the verdict on recorded scores of runs, then those on the files that `score -o FOLDER` wrote beside them.

    Raises InputError and NotFoundError as `verify` does.
    """
    head = cast(Head, record.made)
    try:
        rescored = rescore_runs(record, head, places)
    except ScoringStopped as stop:
        yield _stopped_verdict(record, stop)
        return
    recorded = {**record.value, **_remarks_to_compare(head, places)}
    yield _compare(record, recorded, rescored.document(head), dated=recorded)
    if os.path.basename(record.file) != SCORES_FILE or head.measures:
        return
    prefix = record.file.removesuffix("json")
    params_file = f"{prefix}params"
    params = _text_of(params_file) if os.path.isfile(params_file) else ""
    computed_by_ending = rescored.file_texts(_layout_of(params), params)
    computed_by_ending.pop("params")  # the time, the folder and the words of the call, which nobody knows
    for ending, computed in computed_by_ending.items():
        file = f"{prefix}{ending}"
        if os.path.isfile(file):
            yield _table_verdict(file, _text_of(file), computed)


def _layout_of(params: str) -> FileLayout:
    """Return the columns and the alignment of score tables that a call asked for, given the text of its `.params`."""
    words: list[str] = []
    for line in params.split("\n"):
        if "$ cs-score " in line:
            with contextlib.suppress(ValueError):  # a quotation that does not end
                words = shlex.split(line)
            break
    names = DEFAULT_FIELDS
    if "-fields" in words[:-1]:
        names = tuple(words[words.index("-fields") + 1].split(":"))
    if not words or not set(names) <= set(SCORE_FIELDS):
        return FileLayout()
    return FileLayout(names, "-tabs" in words)


def _remarks_to_compare(head: Head, places: Places) -> dict[str, Json]:
    """Return the recorded remarks but those that are true of folders without files, which scoring again cannot make.

    Such a folder is no input. A remark on a folder that is not there, or that holds a file, stays and differs.
    """
    if not head.remarks:
        return {}
    remarks = []
    for remark in head.remarks:
        folder = folder_without_files(remark)
        if folder is None or not places.has_empty_folder(folder):
            remarks.append(remark)
    return {"remarks": remarks}


# ---- The records of a batch


def _read_batch_records(folder: str) -> list[Recorded]:
    """Return the records of the runs of a batch, then those of the whole batch.

    Raises InputError if there are none, and for tables without the record that they are computed from.
    """
    paths = []
    for depth in (["*"], ["*", "*"]):
        paths += glob.glob(os.path.join(glob.escape(folder), *depth, SIGNATURE))
    run_files = sorted([file_in_folder(path) for path in paths])
    names = []
    for name in (LEADERBOARD, OVERVIEW, *TABLES):
        if os.path.isfile(os.path.join(folder, name)):
            names.append(name)
    if not run_files and LEADERBOARD not in names and OVERVIEW not in names:
        raise InputError(f"neither {LEADERBOARD} nor a {SIGNATURE} of a run in it", file=folder)
    _require(LEADERBOARD, [OVERVIEW, *TABLES], names, folder)
    _require(OVERVIEW, TABLES_OF_OVERVIEW, names, folder)
    files_of_batch = [os.path.join(folder, name) for name in names if name in _BATCH_FILES]
    return [_read_named(file) for file in run_files + files_of_batch]


def _require(needed: str, tables: Iterable[str], names: Sequence[str], folder: str) -> None:
    """Raise InputError if a folder has some of the tables but not the file that is needed to verify them."""
    unverifiable = [name for name in names if name in tables]
    if unverifiable and needed not in names:
        text = ", ".join(unverifiable)
        raise InputError(f"no {needed} in it, without which {text} cannot be verified", file=folder)


def _read_named(path: str) -> Recorded:
    """Return what a file of a batch records. Raises InputError if that is not what its name says."""
    record = read_recorded(path)
    expected = _BATCH_FILES[os.path.basename(path)]
    if not isinstance(record.made, expected.record_type):
        raise InputError(f"not {expected.meaning}", file=path)
    return record


def _whole_batch(records: Sequence[Recorded], places: Places) -> WholeBatch | None:
    """Return the batch whose leaderboard or `batch.json` is among some records; None if neither is.

    For `batch.json` alone the leaderboard beside it is read. Raises InputError if that is not there.
    """
    board = None
    overview_record = None
    for record in records:
        if isinstance(record.made, Leaderboard):
            board = record
        elif isinstance(record.made, Overview):
            overview_record = record
    if overview_record is not None and board is None:
        board_file = os.path.join(os.path.dirname(overview_record.file), LEADERBOARD)
        if not os.path.isfile(board_file):
            problem = f"no {LEADERBOARD} beside it, which has what the runs were scored from"
            raise InputError(problem, file=overview_record.file)
        board = _read_named(board_file)
    if board is None:
        return None
    overview = None if overview_record is None else cast(Overview, overview_record.made)
    return WholeBatch(places, board, overview)


def _misplaced_runs(folder: str, records: Sequence[Recorded], batch: WholeBatch | None) -> dict[str, list[Difference]]:
    """Return the folders of runs that are not those of the leaderboard: swapped, missing or added, by their file."""
    rows = () if batch is None else batch.board.rows
    has_policies = len({row.policy for row in rows}) > 1
    origin_by_run = {(row.policy, row.run): row.origin for row in rows if row.state != FAILED}
    differences_by_file: dict[str, list[Difference]] = {}
    missing_runs = dict(origin_by_run)
    for record in records:
        outcome = record.made
        if not isinstance(outcome, Outcome):
            continue
        found: list[Difference] = []
        run_folder = os.path.relpath(os.path.dirname(record.file), folder)
        folder_with_policy = os.path.join(outcome.policy, outcome.run)
        expected_folders = [outcome.run, folder_with_policy]
        if batch is not None:
            expected_folders = [folder_with_policy if has_policies else outcome.run]
        key = (outcome.policy, outcome.run)
        if run_folder not in expected_folders:
            expectation = f"belongs into {expected_folders[-1]}"
            found.append(Difference(f"the run in the folder {run_folder}", shown(outcome.run), expectation))
        elif batch is not None and missing_runs.pop(key, None) is None:
            found.append(Difference(f"the folder {run_folder}", "a run", f"none that {LEADERBOARD} lists as scored"))
        elif batch is not None and origin_by_run[key] != outcome.origin:
            found.append(Difference("origin", "another one", f"that of {LEADERBOARD}"))
        differences_by_file[record.file] = found
    if batch is not None:
        differences_by_file[batch.recorded.file] = _missing_folders(missing_runs)
    return differences_by_file


def _missing_folders(missing_runs: Iterable[tuple[str, str]]) -> list[Difference]:
    """Return a difference for each run, by policy and name, that the leaderboard lists as scored but has no folder."""
    found = []
    for policy, run in missing_runs:
        name = f"the folder of the run {run}"
        if policy:
            name += f" under {policy}"
        found.append(Difference(name, "scored", "no such folder"))
    return found


# ---- One record


def _verdict(record: Recorded, places: Places, runs: BatchRuns, batch: WholeBatch | None) -> Verdict:
    """Return the verdict on scores of predictions, on a run of a batch, or on a record of a whole batch.

    Raises InputError and NotFoundError as `verify` does.
    """
    try:
        if isinstance(record.made, Head):
            computed = rescore_predictions(record, record.made, places)
            return _compare(record, record.value, computed, dated=record.value)
        if isinstance(record.made, Outcome):
            rescored = rescore_run(record, record.made, runs)
            changed_files = _changed_files(record.file, record.made)
            verdict = _compare(record, record.value, rescored, dated=record.value)
            return replace(verdict, differences=(*changed_files, *verdict.differences))
        assert batch is not None
        return _verdict_on_whole(record, batch)
    except ScoringStopped as stop:
        return _stopped_verdict(record, stop)


def _verdict_on_whole(record: Recorded, batch: WholeBatch) -> Verdict:
    """Return the verdict on the leaderboard of a batch or on its `batch.json`, whose origin the leaderboard has."""
    recorded: Json = record.value
    failed_runs = dict.fromkeys([row.run for row in batch.board.rows if row.state == FAILED])
    notes = [f"{run} failed then, and was not scored again" for run in failed_runs]
    if isinstance(record.made, Leaderboard):
        computed: object = batch.rescored_board
    else:
        computed = batch.rescored_overview()
        if not batch.was_scored:
            recorded = {"runs": record.value.get("runs")}
            notes.append("no run was scored then, so that nothing else is compared")
    verdict = _compare(record, recorded, computed, dated=batch.recorded.value)
    return replace(verdict, notes=(*notes, *verdict.notes))


def _stopped_verdict(record: Recorded, stop: ScoringStopped) -> Verdict:
    """Return the verdict on a recorded scoring that now does not come to its end."""
    return Verdict(record.file, (Difference("the scoring", "came to its end", f"is stopped: {stop}"),), 0)


def _compare(record: Recorded, recorded: Json, computed: object, dated: Json) -> Verdict:
    """Return the verdict on a record by comparing it with the computed document.

    `dated` is the JSON that names the version of cs-score; another version is told in a note and is no difference.
    """
    notes = []
    other_versions = _other_versions(dated)
    if other_versions:
        notes.append(f"recorded by cs-score {', '.join(other_versions)}, computed by {VERSION}")
        recorded = json.loads(_VERSION.sub(VERSION, json.dumps(recorded)))
    computed_json = document_in(json_text(computed), record.file)  # so that both have the types that JSON has
    return Verdict(
        record.file,
        differences=tuple(differences(recorded, computed_json)),
        compared=count_numbers(computed_json),
        notes=tuple(notes),
    )


def _other_versions(value: Json) -> list[str]:
    """Return the versions of cs-score that a record names beside this one."""
    versions = set(_VERSION_OF_ORIGIN.findall(json.dumps(value)))
    return sorted(versions - {VERSION})


def _changed_files(file: str, outcome: Outcome) -> list[Difference]:
    """Return the files of a run that are not as its record, `file`, says.

    Raises InputError for a name that leads out of the folder.
    """
    changed_files = []
    for position, written in enumerate(outcome.files):
        if os.path.basename(written.name) != written.name:
            raise InputError("is no name of a file", file=file, place=f"files[{position}][0]")
        try:
            check_file(os.path.join(os.path.dirname(file), written.name), written)
        except UnfitError:
            description = f"{written.size} bytes"
            if written.sha256:
                description += f", SHA-256 {written.sha256}"
            changed_files.append(Difference(f"the file {written.name}", description, "another file"))
    return changed_files
