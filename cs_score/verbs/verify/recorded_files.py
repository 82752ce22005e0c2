"""Read the files that can be verified: scores of one task, and what a batch has written about its runs. The *head* of
recorded scores has the members that say how they were made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.recorded import check_task, find_scores, refuse_several_runs, type_of_scores
from cs_score.base.documents import Json, check_kind, checked_record, convert_value, member_place, read_document
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.signature import Origin
from cs_score.verbs.batch.batch_documents import BatchOverview, LeaderboardDocument, Outcome


class ScoresHead(Record):
    """The members of recorded scores (of runs or of predictions) that say how these were made.

    Only these members are read; all other values are just compared with the computed ones.
    """

    task: str
    origin: Origin
    measure: str | UnsetType = UNSET
    measures: tuple[str, ...] | UnsetType = UNSET
    units: Json | UnsetType = UNSET
    remarks: tuple[str, ...] = ()
    empty_folders: tuple[str, ...] = ()


BatchRecord: TypeAlias = LeaderboardDocument | BatchOverview | Outcome

_BATCH_RECORDS: Final[Mapping[str, type[Any]]] = {
    "leaderboard": LeaderboardDocument,
    "batch": BatchOverview,
    "batch-run": Outcome,
}
"""The records of a batch by the kind of their document."""


class RecordFile(Record):
    """A file that records a result: its whole JSON (`json`), and the part that verification reads (`members`).

    `place` is the name of the JSON member that holds the document. It is `signature` if the file also has the official
    measures of an evidence task, and empty otherwise.
    """

    file: str
    json: Mapping[str, Json]
    members: ScoresHead | BatchRecord
    place: str = ""

    @property
    def has_official_measures(self) -> bool:
        """Whether the file has the official measures of an evidence task in addition to the document."""
        return bool(self.place)

    def inside(self, name: str) -> str:
        """Return the place of a member of the document in the file, for messages: `signature.origin`."""
        return member_place(self.place, name)


def read_recorded(path: str) -> RecordFile:
    """Return the record of a result in a JSON file: scores of one task, or one of the documents of a batch.

    Raises InputError if the file does not hold a result, or holds a result in another version of the format.
    """
    json_of_file = read_document(path, dash_is_stdin=False)
    # The scores are either the whole file (place "") or one of its members (place "signature").
    place, document = find_scores(json_of_file)
    kind = str(document.get("kind"))
    if kind == "score":
        return RecordFile(path, json_of_file, _head_of_scores(document, path, place), place)
    is_whole_file = not place
    if is_whole_file and kind in _BATCH_RECORDS:
        return RecordFile(path, json_of_file, checked_record(json_of_file, _BATCH_RECORDS[kind], path))
    raise InputError(
        "no result that can be verified",
        file=path,
        remedy="verify takes the JSON of score and of evidence tasks, and that of a batch: leaderboard.json, "
        "batch.json, signature.json",
    )


def _head_of_scores(document: Mapping[str, Json], path: str, place: str) -> ScoresHead:
    """Return the members of recorded scores that say how they were made.

    `document` is the JSON of the scores, and `place` the member of the file `path` that holds it. Raises InputError if
    the scores are those of several runs, in another version of the format, or of an unknown task.
    """
    refuse_several_runs(document, path)
    # The task determines which type of document this should be. The kind and the version stated in the document may
    # differ.
    check_kind(document, type_of_scores(document), path, place)
    head = convert_value(document, ScoresHead, path, place)
    check_task(head.origin.task, path, member_place(place, "origin.task"))
    if head.task != head.origin.task:
        problem = f"is {head.task}, its origin {head.origin.task}"
        raise InputError(problem, file=path, place=member_place(place, "task"))
    return head
