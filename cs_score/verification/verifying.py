"""Whether recorded results are reproduced: the inputs found, scored again, every value held against the record."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.batch.store.state import SIGNATURE
from cs_score.coldstart.lines.loading import is_on_folder
from cs_score.coldstart.result import ScoringStopped
from cs_score.foundation.errors import InputError
from cs_score.foundation.record import dataclass
from cs_score.foundation.version import VERSION
from cs_score.verification.batches import BatchRuns, board_again, changed_files, failed_runs, run_again
from cs_score.verification.differences import Difference, differences, numbers
from cs_score.verification.inputs import Places
from cs_score.verification.recorded import Kind, Recorded, origin_of, read_recorded
from cs_score.verification.rescoring import computed_again
from cs_score.verification.told import Json, Told

LEADERBOARD: Final = "leaderboard.json"

_VERSION_OF_LINE: Final = re.compile(r"(?<=\|cs-score:)[0-9A-Za-z.+-]+\Z")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one file: the values that differ, how many numbers were compared, notes for the reader."""

    file: str
    differences: tuple[Difference, ...]
    numbers: int
    notes: tuple[str, ...] = ()

    @property
    def is_reproduced(self) -> bool:
        """Whether every value is the same."""
        return not self.differences


def verify(path: str, files: Sequence[str] = ()) -> Iterator[Verdict]:
    """Score again what `path` records: a file, or the folder of a batch, whose records are looked at one by one.

    Inputs are looked for among `files`, which are files and folders, else where they were. Raises InputError for what
    is no result of cs-score, and where it cannot be scored again; NotFoundError for inputs that are missing or changed.
    """
    is_folder = os.path.isdir(path)
    records = [read_recorded(each) for each in (_of_batch(path) if is_folder else [path])]
    places = Places(files, path if is_folder else os.path.dirname(path))
    runs = BatchRuns(places)
    for record in records:
        yield _verdict(record, places, runs)


def _of_batch(folder: str) -> list[str]:
    """The records of the runs of a batch, and its leaderboard. Raises InputError where there are none."""
    patterns = (os.path.join(glob.escape(folder), *depth, SIGNATURE) for depth in (("*",), ("*", "*")))
    found = sorted(path for pattern in patterns for path in glob.glob(pattern))
    board = os.path.join(folder, LEADERBOARD)
    found += [board] if os.path.isfile(board) else []
    if not found:
        raise InputError(f"neither {LEADERBOARD} nor a {SIGNATURE} of a run in it", file=folder)
    return found


def _verdict(record: Recorded, places: Places, runs: BatchRuns) -> Verdict:
    """Raises InputError and NotFoundError as `verify` does."""
    told, kind = record.told, record.kind
    found: list[Difference] = []
    notes: list[str] = []
    try:
        if kind is Kind.LEADERBOARD:
            computed = board_again(told, runs)
            notes += [f"{name} failed then, and was not scored again" for name in failed_runs(told)]
        elif kind is Kind.BATCH_RUN:
            computed = run_again(told, runs)
            found += changed_files(told)
        else:
            computed = computed_again(record, places.find(origin_of(told["signature"]).inputs))
    except ScoringStopped as stop:
        return Verdict(record.file, (Difference("the scoring", "came to its end", f"is stopped: {stop}"),), 0)
    # As JSON reads it again, so that both are of the same types.
    computed = _renamed(json.loads(json.dumps(computed)), places.renamed())
    recorded = _without_folders(told) if kind in (Kind.COLD_START, Kind.SCORES) else told.value
    others = sorted(_versions(recorded) - {VERSION})
    if others:
        notes.append(f"recorded by cs-score {', '.join(others)}, computed by {VERSION}")
        recorded, computed = _without_versions(recorded), _without_versions(computed)
    found += differences(recorded, computed, is_complete=not others)
    return Verdict(record.file, tuple(found), numbers(computed), tuple(notes))


def _without_folders(told: Told) -> Json:
    """A result without its remarks on folders that held no file: they are no inputs."""
    remarks = [remark for remark in told["remarks"].texts() if not is_on_folder(remark)]
    return {**told.value, "remarks": remarks}


def _renamed(value: Json, names: Mapping[str, str]) -> Json:
    """A value with files called as the record calls them, wherever they were found."""

    def renamed(text: str) -> str:
        for path, name in names.items():
            text = text.replace(path, name)
        return text

    return _with_texts(value, renamed) if names else value


def _without_versions(value: Json) -> Json:
    """A value that does not tell which version of cs-score it is from."""
    found = _with_texts(value, lambda text: _VERSION_OF_LINE.sub("", text))
    for origin in _origins(found):
        origin["version"] = ""
    return found


def _versions(value: Json) -> set[str]:
    return {str(origin.get("version")) for origin in _origins(value)}


def _origins(value: Json) -> Iterator[dict[str, Any]]:
    """The objects within a value that tell what something was computed from."""
    if isinstance(value, dict):
        if value.get("tool") == "cs-score":
            yield value
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _origins(each)


def _with_texts(value: Json, changed: Callable[[str], str]) -> Json:
    """A copy of a value with its texts changed, names of members aside."""
    if isinstance(value, dict):
        return {key: _with_texts(each, changed) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_texts(each, changed) for each in value]
    return changed(value) if isinstance(value, str) else value
