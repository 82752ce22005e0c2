"""The settings of a scoring program: the task, the options, the measures, and the names of the files of gold."""

from __future__ import annotations

from typing import Final, Literal

from cs_score.base.documents import Document, checked_record, read_document
from cs_score.base.signature import Origin

SETTINGS_FILE: Final = "bundle.json"
"""The file of a scoring program that holds its settings."""


class Bundle(Document, frozen=True, kw_only=True, tag="bundle"):
    """The settings of a scoring program that a platform runs.

    `measure` is the one that ranks, `measures` are the columns of the leaderboard, that one first. `origin` has the
    options of scoring and the files of gold, by their names beside the program, with their SHA-256. `split` is what
    EvalAI calls the data.
    """

    schema_version: Literal[1] = 1
    measure: str
    signature: str
    origin: Origin
    measures: tuple[str, ...]
    split: str


def read_settings(path: str) -> Bundle:
    """Return the settings of a scoring program from a file. Raises InputError for a file that has no settings."""
    return checked_record(read_document(path), Bundle, path)
