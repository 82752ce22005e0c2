"""Whether recorded results are reproduced: the inputs found, scored again, every value held against the record."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from cs_score.base.documents import Document, Json, document_in, json_text
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.sources import open_source
from cs_score.base.version import VERSION
from cs_score.batch.store import SIGNATURE
from cs_score.coldstart.linking import is_on_folder
from cs_score.coldstart.result import ScoringStopped
from cs_score.tables.layout import Layout, columns
from cs_score.verification.comparison import Difference, differences, numbers, table_differences
from cs_score.verification.inputs import Places
from cs_score.verification.recorded import Kind, Recorded, read_recorded
from cs_score.verification.rescoring import BatchRuns, scored_again
from cs_score.verification.whole_batch import (
    LEADERBOARD,
    OF_OVERVIEW,
    OVERVIEW,
    TABLES,
    WholeBatch,
    changed_files,
    misplaced_runs,
    run_again,
)

_VERSION: Final = re.compile(r"(?<=[|}]cs-score:)[0-9A-Za-z.+-]+")
"""That of a signature, also as LaTeX has it."""

_OF_ORIGIN: Final = re.compile(r'"version": "([^"]*)"')
"""That of an origin: nothing else in these files is called so, and quotes within a text are escaped."""

_KINDS: Final = {SIGNATURE: Kind.BATCH_RUN, LEADERBOARD: Kind.LEADERBOARD, OVERVIEW: Kind.OVERVIEW}
"""What files of a batch record, by their names."""


class Verdict(Record):
    """What became of one file: the values that differ, how many numbers were compared, notes for the reader.

    Of a table that is no JSON `compared` counts lines.
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

    schema_version: Literal[1] = 1
    result: str
    reproduced: bool
    files: tuple[Verdict, ...]


VERIFIED: Final = Layout(
    "verification",
    "Files:",
    columns("file", "result", "differences", "compared", "unit", "notes"),
    lambda found: (
        {
            "file": each.file,
            "result": "reproduced" if each.is_reproduced else "differs",
            "differences": len(each.differences),
            "compared": each.compared,
            "unit": each.unit,
            "notes": "; ".join(each.notes) or None,
        }
        for each in found.files
    ),
)
"""A row for each file."""


def verification(path: str, files: Sequence[str] = ()) -> Verification:
    """All that `verify` finds, as a document. Raises InputError and NotFoundError as it does."""
    verdicts = tuple(verify(path, files))
    return Verification(
        task=read_recorded(verdicts[0].file).read(str, "task"),
        result=path,
        reproduced=all(verdict.is_reproduced for verdict in verdicts),
        files=verdicts,
    )


def verify(path: str, files: Sequence[str] = ()) -> Iterator[Verdict]:
    """Score again what `path` records: a file, the folder of a score, or that of a batch, whose files are looked at
    one by one.

    Inputs are looked for among `files`, which are files and folders, else where they were. Raises InputError for what
    is no result of cs-score, and where it cannot be scored again; NotFoundError for inputs that are missing or changed.
    """
    if os.path.isfile(of_score := os.path.join(path, "out.json")):
        path = of_score
    is_folder = os.path.isdir(path)
    records = list(map(_read_named, _of_batch(path))) if is_folder else [read_recorded(path)]
    places = Places(files, path if is_folder else os.path.dirname(path))
    runs = BatchRuns(places)
    batch = _whole_batch(records, runs)
    misplaced = misplaced_runs(path, records, batch) if is_folder else {}
    for record in records:
        verdict = _verdict(record, places, runs, batch)
        yield replace(verdict, differences=(*misplaced.get(record.file, ()), *verdict.differences))
    if is_folder and batch is not None and batch.was_scored:
        for table in _there(path, TABLES):
            yield _of_table(os.path.join(path, table), places, batch)


def _of_batch(folder: str) -> list[str]:
    """The records of the runs of a batch, and those over all runs.

    Raises InputError where there are none, and for tables without the signatures of what they were made from.
    """
    patterns = (os.path.join(glob.escape(folder), *depth, SIGNATURE) for depth in (("*",), ("*", "*")))
    found = sorted(path for pattern in patterns for path in glob.glob(pattern))
    over_all = _there(folder, (LEADERBOARD, OVERVIEW))
    if not found and not over_all:
        raise InputError(f"neither {LEADERBOARD} nor a {SIGNATURE} of a run in it", file=folder)
    for needed, tables in ((LEADERBOARD, (OVERVIEW, *TABLES)), (OVERVIEW, OF_OVERVIEW)):
        if needed not in over_all and (without := _there(folder, tables)):
            raise InputError(f"no {needed} in it, without which {', '.join(without)} cannot be verified", file=folder)
    return [*found, *(os.path.join(folder, name) for name in over_all)]


def _read_named(path: str) -> Recorded:
    """A file of a batch. Raises InputError where it does not record what its name says."""
    record, kind = read_recorded(path), _KINDS[os.path.basename(path)]
    if record.kind is not kind:
        raise InputError(f"not {kind.value}", file=path)
    return record


def _there(folder: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if os.path.isfile(os.path.join(folder, name))]


def _whole_batch(records: Sequence[Recorded], runs: BatchRuns) -> WholeBatch | None:
    """The batch that records are over all runs of; for `batch.json` alone the leaderboard beside it is read."""
    of_kind = {record.kind: record for record in records}
    overview, board = of_kind.get(Kind.OVERVIEW), of_kind.get(Kind.LEADERBOARD)
    if overview is not None and board is None:
        beside = os.path.join(os.path.dirname(overview.file), LEADERBOARD)
        if not os.path.isfile(beside):
            problem = f"no {LEADERBOARD} beside it, which has what the runs were scored from"
            raise InputError(problem, file=overview.file)
        board = _read_named(beside)
    return None if board is None else WholeBatch(board, overview, runs)


def _verdict(record: Recorded, places: Places, runs: BatchRuns, batch: WholeBatch | None) -> Verdict:
    """Raises InputError and NotFoundError as `verify` does."""
    kind = record.kind
    recorded: Json = record.value
    if kind is Kind.SCORES and "remarks" in record.value:  # folders that held no file are no inputs
        remarks = record.read(tuple[str, ...], "remarks")
        recorded = {**recorded, "remarks": [remark for remark in remarks if not is_on_folder(remark)]}
    found: list[Difference] = []
    notes: list[str] = []
    versions = _versions(recorded)
    try:
        if batch is not None and kind in (Kind.LEADERBOARD, Kind.OVERVIEW):
            computed = batch.board_again() if kind is Kind.LEADERBOARD else batch.overview_again()
            notes += [f"{name} failed then, and was not scored again" for name in batch.failed_runs()]
            versions = _versions(batch.recorded.value)
            if kind is Kind.OVERVIEW and not batch.was_scored:
                recorded = {"runs": recorded.get("runs")}
                notes.append("no run was scored then, so that nothing else is compared")
        elif kind is Kind.BATCH_RUN:
            computed = run_again(record, runs)
            found += changed_files(record)
        else:
            computed = scored_again(record, places)
    except ScoringStopped as stop:
        return Verdict(record.file, (Difference("the scoring", "came to its end", f"is stopped: {stop}"),), 0)
    # As JSON reads it again, so that both are of the same types.
    computed = _renamed(document_in(json_text(computed), record.file), places.renamed())
    if others := sorted(versions - {VERSION}):
        notes.append(f"recorded by cs-score {', '.join(others)}, computed by {VERSION}")
        recorded, computed = _without_versions(recorded), _without_versions(computed)
    found += differences(recorded, computed)
    return Verdict(record.file, tuple(found), numbers(computed), tuple(notes))


def _of_table(path: str, places: Places, batch: WholeBatch) -> Verdict:
    """What became of a table over all runs. Raises InputError and NotFoundError as `verify` does."""
    with open_source(path, stdin_as_dash=False, decompress=False) as source:
        recorded = source.read_bytes().decode("utf-8", "surrogateescape")
    computed = batch.table_again(os.path.basename(path), recorded, lambda value: _renamed(value, places.renamed()))
    if _versions(batch.recorded.value) - {VERSION}:
        recorded, computed = _VERSION.sub("", recorded), _VERSION.sub("", computed)
    found = table_differences(recorded, computed)
    return Verdict(path, tuple(found), computed.count("\n"), unit="line")


def _renamed(value: Json, names: Mapping[str, str]) -> Json:
    """A value with files called as the record calls them, wherever they were found."""
    if not names:
        return value
    text = json.dumps(value)
    for path, name in names.items():
        text = text.replace(json.dumps(path)[1:-1], json.dumps(name)[1:-1])
    return json.loads(text)


def _without_versions(value: Json) -> Json:
    """A value that does not say which version of cs-score it is from."""
    return json.loads(_OF_ORIGIN.sub('"version": ""', _VERSION.sub("", json.dumps(value))))


def _versions(value: Json) -> set[str]:
    return set(_OF_ORIGIN.findall(json.dumps(value)))
