"""Whether recorded results are reproduced: the inputs found, scored again, every value held against the record."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, cast

from cs_score.base.documents import Document, Json, document_in, json_text, member_place
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
from cs_score.verification.recorded import Head, Places, Recorded, read_recorded
from cs_score.verification.rescoring import (
    OF_OVERVIEW,
    TABLES,
    BatchRuns,
    WholeBatch,
    predictions_again,
    run_again,
    runs_again,
)

OF_SCORE: Final = "out.json"
"""What `score -o FOLDER` writes there, beside the tables."""

LEADERBOARD: Final = "leaderboard.json"
OVERVIEW: Final = "batch.json"

_OF_BATCH: Final[Mapping[str, tuple[type[Document], str]]] = {
    LEADERBOARD: (Leaderboard, "the leaderboard of a batch"),
    OVERVIEW: (Overview, "the analyses over all runs of a batch"),
    SIGNATURE: (Outcome, "a run of a batch"),
}
"""What files of a batch record, by their names."""

_OF_ORIGIN: Final = re.compile(r'(?<="version": ")[^"]*')
"""The version of an origin: nothing else in these files is called so, and quotes within a text are escaped."""

_VERSION: Final = re.compile(rf"(?<=[|}}]cs-score:)[0-9A-Za-z.+-]+|{_OF_ORIGIN.pattern}")
"""That of an origin, and that of a signature, also as LaTeX has it."""

_NAMES: Final = ("run_id", "query", "row", "system", "run", "code", "role")
"""Members that distinguish the entries of an array, where they have one."""

_SHOWN: Final = 80
_BEFORE: Final = 30
"""Characters that are shown of a value, and of a text before what differs."""


class Difference(Record):
    """A value that differs: its name, such as `runs[TIDE_KB].scores.SF-AP`, as recorded and as computed."""

    name: str
    recorded: str
    computed: str

    def __str__(self) -> str:
        return f"{self.name}: recorded {self.recorded}, computed {self.computed}"


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


VERIFIED: Final = Layout(
    "verification",
    "Files:",
    columns("file", "result", "differences", "compared", "unit", "notes"),
    lambda found: (
        {
            **asdict(each),
            "result": "reproduced" if each.is_reproduced else "differs",
            "differences": len(each.differences),
            "notes": "; ".join(each.notes) or None,
        }
        for each in found.files
    ),
)
"""A row for each file."""


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
    """Score again what `path` records: a file, the folder of a score, or that of a batch, whose files are looked at
    one by one.

    Inputs are looked for among `files`, which are files and folders, else where they were. With `is_forced` a record
    may ask for any number of resamples. Raises InputError for what is no result of cs-score, and where it cannot be
    scored again; NotFoundError for inputs that are missing or changed.
    """
    of_score = os.path.join(path, OF_SCORE)
    if os.path.isfile(of_score):
        path = of_score
    is_folder = os.path.isdir(path)
    records = _records_of(path) if is_folder else [read_recorded(path)]
    places = Places(files, path if is_folder else os.path.dirname(path), is_forced=is_forced)
    batch = _whole_batch(records, places)
    runs = batch or BatchRuns(places)
    misplaced = _misplaced_runs(path, records, batch) if is_folder else {}
    for record in records:
        if _is_of_runs(record):
            yield from _verdicts_of_runs(record, places)
            continue
        verdict = _verdict(record, places, runs, batch)
        yield replace(verdict, differences=(*misplaced.get(record.file, ()), *verdict.differences))
    if not is_folder or batch is None or not batch.was_scored:
        return
    for file in filter(os.path.isfile, (os.path.join(path, table) for table in TABLES)):
        recorded = _text_of(file)
        if _other_versions(batch.recorded.value):
            recorded = _VERSION.sub(VERSION, recorded)
        computed = batch.table_again(os.path.basename(file), recorded)
        yield Verdict(file, tuple(table_differences(recorded, computed)), computed.count("\n"), unit="line")


def _text_of(file: str) -> str:
    """Return the text of a file. Raises InputError where it cannot be read."""
    with open_source(file, stdin_as_dash=False, decompress=False) as source:
        return source.read_bytes().decode("utf-8", "surrogateescape")


def _is_of_runs(record: Recorded) -> bool:
    """Return whether a record holds the scores of Cold Start runs."""
    return isinstance(record.made, Head) and record.made.task == COLD_START


def _verdicts_of_runs(record: Recorded, places: Places) -> Iterator[Verdict]:
    """Yield the verdict on recorded scores of runs, then those on the files that `score -o FOLDER` wrote beside them.

    Raises InputError and NotFoundError as `verify` does.
    """
    head = cast(Head, record.made)
    try:
        again = runs_again(record, head, places)
    except ScoringStopped as stop:
        yield _stopped(record, stop)
        return
    recorded = {**record.value, **_with_true_remarks(head, places)}
    yield _compared(record, recorded, again.document(head), dated=recorded)
    if os.path.basename(record.file) != OF_SCORE or head.measures:
        return
    prefix = record.file.removesuffix("json")
    params_file = f"{prefix}params"
    params = _text_of(params_file) if os.path.isfile(params_file) else ""
    computed_by_ending = again.file_texts(_layout_of(params), params)
    computed_by_ending.pop("params")  # the time, the folder and the words of the call, which nobody knows
    for ending, computed in computed_by_ending.items():
        file = f"{prefix}{ending}"
        if os.path.isfile(file):
            found = tuple(table_differences(_text_of(file), computed))
            yield Verdict(file, found, computed.count("\n"), unit="line")


def _layout_of(params: str) -> FileLayout:
    """Return the columns and the alignment that the words of a call ask for, by its file `.params`."""
    called = next((line for line in params.split("\n") if "$ cs-score " in line), "")
    with contextlib.suppress(ValueError):  # a quotation that does not end
        words = shlex.split(called)
        fields = next((after for word, after in pairwise(words) if word == "-fields"), None)
        names = DEFAULT_FIELDS if fields is None else tuple(fields.split(":"))
        if set(names) <= set(SCORE_FIELDS):
            return FileLayout(names, "-tabs" in words)
    return FileLayout()


def _with_true_remarks(head: Head, places: Places) -> dict[str, Json]:
    """Return the recorded remarks without those on folders that hold no file, which are no inputs, where they are true.

    Scoring again cannot make them; one on a folder that is not there, or that holds a file, stays and differs.
    """
    if not head.remarks:
        return {}
    remarks = []
    for remark in head.remarks:
        folder = folder_without_files(remark)
        if folder is None or not places.has_empty_folder(folder):
            remarks.append(remark)
    return {"remarks": remarks}


def _records_of(folder: str) -> list[Recorded]:
    """The records of the runs of a batch, and those over all runs. Raises InputError where there are none, and for
    tables without the signatures of what they were made from.
    """
    patterns = (os.path.join(glob.escape(folder), *depth, SIGNATURE) for depth in (("*",), ("*", "*")))
    found = sorted(file_in_folder(path) for pattern in patterns for path in glob.glob(pattern))
    there = [name for name in (LEADERBOARD, OVERVIEW, *TABLES) if os.path.isfile(os.path.join(folder, name))]
    if not found and not {LEADERBOARD, OVERVIEW} & {*there}:
        raise InputError(f"neither {LEADERBOARD} nor a {SIGNATURE} of a run in it", file=folder)
    for needed, tables in ((LEADERBOARD, (OVERVIEW, *TABLES)), (OVERVIEW, OF_OVERVIEW)):
        without = ", ".join(name for name in there if name in tables)
        if without and needed not in there:
            raise InputError(f"no {needed} in it, without which {without} cannot be verified", file=folder)
    return list(map(_read_named, (*found, *(os.path.join(folder, name) for name in there if name in _OF_BATCH))))


def _read_named(path: str) -> Recorded:
    """A file of a batch. Raises InputError where it does not record what its name says."""
    record, (kind, meaning) = read_recorded(path), _OF_BATCH[os.path.basename(path)]
    if not isinstance(record.made, kind):
        raise InputError(f"not {meaning}", file=path)
    return record


def _whole_batch(records: Sequence[Recorded], places: Places) -> WholeBatch | None:
    """The batch that records are over all runs of; for `batch.json` alone the leaderboard beside it is read."""
    boards = [record for record in records if isinstance(record.made, Leaderboard)]
    overviews = [(record.file, record.made) for record in records if isinstance(record.made, Overview)]
    if overviews and not boards:
        beside = os.path.join(os.path.dirname(overviews[0][0]), LEADERBOARD)
        if not os.path.isfile(beside):
            problem = f"no {LEADERBOARD} beside it, which has what the runs were scored from"
            raise InputError(problem, file=overviews[0][0])
        boards = [_read_named(beside)]
    return WholeBatch(places, boards[0], overviews[0][1] if overviews else None) if boards else None


def _verdict(record: Recorded, places: Places, runs: BatchRuns, batch: WholeBatch | None) -> Verdict:
    """Raises InputError and NotFoundError as `verify` does."""
    recorded: Json = record.value
    dated = recorded  # `batch.json` has no origin: that is the leaderboard's
    found: list[Difference] = []
    notes: list[str] = []
    try:
        if isinstance(record.made, Head):
            computed: object = predictions_again(record, record.made, places)
        elif isinstance(record.made, Outcome):
            computed = run_again(record, record.made, runs)
            found += _changed_files(record.file, record.made)
        elif batch is not None:
            is_board, dated = isinstance(record.made, Leaderboard), batch.recorded.value
            computed = batch.board_again if is_board else batch.overview_again()
            failed = dict.fromkeys(row.run for row in batch.board.rows if row.state == FAILED)
            notes += [f"{name} failed then, and was not scored again" for name in failed]
            if not is_board and not batch.was_scored:
                recorded = {"runs": recorded.get("runs")}
                notes.append("no run was scored then, so that nothing else is compared")
    except ScoringStopped as stop:
        return _stopped(record, stop)
    compared = _compared(record, recorded, computed, dated)
    return replace(compared, differences=(*found, *compared.differences), notes=(*notes, *compared.notes))


def _stopped(record: Recorded, stop: ScoringStopped) -> Verdict:
    return Verdict(record.file, (Difference("the scoring", "came to its end", f"is stopped: {stop}"),), 0)


def _compared(record: Recorded, recorded: Json, computed: object, dated: Json) -> Verdict:
    """Return the verdict on what is recorded; `dated` has the versions of cs-score that made it."""
    notes: list[str] = []
    if others := _other_versions(dated):
        notes.append(f"recorded by cs-score {', '.join(others)}, computed by {VERSION}")
        recorded = json.loads(_VERSION.sub(VERSION, json.dumps(recorded)))
    again = document_in(json_text(computed), record.file)  # as JSON reads it again, so that both are of the same types
    return Verdict(record.file, tuple(differences(recorded, again)), numbers(again), tuple(notes))


def _other_versions(value: Json) -> list[str]:
    return sorted({*_OF_ORIGIN.findall(json.dumps(value))} - {VERSION})


def _misplaced_runs(folder: str, records: Sequence[Recorded], batch: WholeBatch | None) -> dict[str, list[Difference]]:
    """Where the folders of runs are not those of the leaderboard: swapped, missing or added; by the file concerned."""
    rows = () if batch is None else batch.board.rows
    has_policies = len({row.policy for row in rows}) > 1
    of_board = {(row.policy, row.run): row.origin for row in rows if row.state != FAILED}
    found: dict[str, list[Difference]] = {}
    missing = dict(of_board)
    for record in records:
        if not isinstance(one := record.made, Outcome):
            continue
        own = found.setdefault(record.file, [])
        place = os.path.relpath(os.path.dirname(record.file), folder)
        of_policy = os.path.join(one.policy, one.run)
        places = [one.run, of_policy] if batch is None else [of_policy if has_policies else one.run]
        if place not in places:
            own.append(Difference(f"the run in the folder {place}", shown(one.run), f"belongs into {places[-1]}"))
        elif batch is not None and missing.pop((one.policy, one.run), None) is None:
            own.append(Difference(f"the folder {place}", "a run", f"none that {LEADERBOARD} lists as scored"))
        elif batch is not None and of_board[one.policy, one.run] != one.origin:
            own.append(Difference("origin", "another one", f"that of {LEADERBOARD}"))
    if batch is not None:
        found[batch.recorded.file] = [
            Difference(f"the folder of the run {run}{f' under {policy}' if policy else ''}", "scored", "no such folder")
            for policy, run in missing
        ]
    return found


def _changed_files(file: str, recorded: Outcome) -> Iterator[Difference]:
    """The files of a run that are not as its record says. Raises InputError for what is no name of a file."""
    for at, written in enumerate(recorded.files):
        if os.path.basename(written.name) != written.name:
            raise InputError("is no name of a file", file=file, place=f"files[{at}][0]")
        try:
            check_file(os.path.join(os.path.dirname(file), written.name), written)
        except UnfitError:
            described = f"{written.size} bytes" + (f", SHA-256 {written.sha256}" if written.sha256 else "")
            yield Difference(f"the file {written.name}", described, "another file")


# ---- Values and lines that differ


def differences(recorded: Json, computed: Json, name: str = "") -> Iterator[Difference]:
    """What differs, in the order of what is computed."""
    if isinstance(recorded, dict) and isinstance(computed, dict):
        for key in computed:
            if key in recorded:
                yield from differences(recorded[key], computed[key], member_place(name, key))
            else:
                yield Difference(member_place(name, key), "nothing", shown(computed[key]))
        for key in recorded:
            if key not in computed:
                yield Difference(member_place(name, key), shown(recorded[key]), "nothing")
    elif isinstance(recorded, list) and isinstance(computed, list):
        if len(recorded) != len(computed):
            yield Difference(f"the number of entries of {name}", str(len(recorded)), str(len(computed)))
            return
        labels = _labels(computed)
        for label, one, other in zip(labels, recorded, computed):
            yield from differences(one, other, f"{name}[{label}]")
    elif recorded != computed or isinstance(recorded, bool) != isinstance(computed, bool):
        yield Difference(name or "the whole", shown(recorded), shown(computed))


def table_differences(recorded: str, computed: str) -> Iterator[Difference]:
    """What differs between two texts, line by line, and cell by cell in lines of equally many cells. Cells are named by
    the first line of what is computed.
    """
    before, now = ([line.split("\t") for line in table.split("\n")] for table in (recorded, computed))
    if len(before) != len(now):
        yield Difference("the number of lines", str(len(before) - 1), str(len(now) - 1))
        return
    names = now[0]
    for number, (old, new) in enumerate(zip(before, now), 1):
        if not len(old) == len(new) == len(names) > 1:
            old, new = ["\t".join(old)], ["\t".join(new)]
        for at, (one, other) in enumerate(zip(old, new)):
            if one != other:
                cell = f"line {number}" if len(new) == 1 else f"line {number}, {names[at]}"
                was, is_now = _around_difference(one, other)
                yield Difference(cell, shown(was), shown(is_now))


def numbers(value: Json) -> int:
    """How many numbers a JSON value holds."""
    if isinstance(value, dict):
        return sum(map(numbers, value.values()))
    if isinstance(value, list):
        return sum(map(numbers, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(value: Json) -> str:
    """A value in a message: numbers in full precision, what is long cut off."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'an array'} of {len(value)}"
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _around_difference(one: str, other: str) -> tuple[str, str]:
    """Two texts without most of a long beginning that they share."""
    differ = (at for at, (a, b) in enumerate(zip(one, other)) if a != b)
    start = next(differ, min(len(one), len(other))) - _BEFORE
    return (one, other) if start <= 0 else (f"...{one[start:]}", f"...{other[start:]}")


def _labels(values: Sequence[Json]) -> list[str]:
    """What entries are called: by a member that names them, where that distinguishes them, else by place."""
    for member in _NAMES:
        found = [value.get(member) if isinstance(value, dict) else None for value in values]
        if all(isinstance(each, str) for each in found) and len(set(found)) == len(found):
            return list(map(str, found))
    return list(map(str, range(len(values))))
