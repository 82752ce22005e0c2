"""Which files and folders a validated knowledge base is written to (specification 2.2)."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Final

from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import encoded, write_folder, write_whole
from cs_score.base.records import Record
from cs_score.base.sources import plain_name, reason_of
from cs_score.knowledge_base.contents.assertions import KnowledgeBase
from cs_score.knowledge_base.writers.edl import edl_text
from cs_score.knowledge_base.writers.event_arguments import FOLDER as ARGUMENTS
from cs_score.knowledge_base.writers.event_arguments import FOLDERS as ARGUMENT_FOLDERS
from cs_score.knowledge_base.writers.event_arguments import argument_files
from cs_score.knowledge_base.writers.nuggets import nugget_text
from cs_score.knowledge_base.writers.sentiments import FOLDER as SENTIMENTS
from cs_score.knowledge_base.writers.sentiments import FOLDERS as SENTIMENT_FOLDERS
from cs_score.knowledge_base.writers.sentiments import sentiment_files
from cs_score.knowledge_base.writers.tac import tac_text

NO_OUTPUT: Final = "none"
_FILES: Final = ("tac", "edl", "nug")
_FOLDERS: Final = {"eal": ARGUMENTS, "sen": SENTIMENTS}
_ENDING: Final = ".tac"


class KbOutputs(Record):
    """Where a validated knowledge base goes: the path of each format, in the order wanted."""

    folder: str
    paths: dict[str, str]
    labels: Collection[str]
    link_kb: str

    def write(self, base: KnowledgeBase) -> None:
        """Write all formats, each file and folder whole or not at all. Raises OutputError."""
        if self.paths and not os.path.isdir(self.folder):
            try:
                os.mkdir(self.folder)
            except OSError as error:
                raise OutputError(f"Could not create directory {self.folder}: {reason_of(error)}") from None
        for mode, path in self.paths.items():
            if mode == "tac":
                write_whole(path, encoded(tac_text(base, self.labels)))
            elif mode == "edl":
                write_whole(path, encoded(edl_text(base, self.link_kb)))
            elif mode == "nug":
                write_whole(path, encoded(nugget_text(base)))
            elif mode == "eal":
                write_folder(path, ARGUMENT_FOLDERS, argument_files(base))
            else:
                write_folder(path, SENTIMENT_FOLDERS, sentiment_files(base))


def output_folder(given: str | None, kb_file: str) -> str:
    """The folder of the outputs. Raises OutputError where there cannot be one."""
    folder = given if given is not None else os.path.dirname(kb_file) or os.curdir
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OutputError(f"{folder} exists but its not a directory")
    parent = os.path.dirname(os.path.abspath(folder))
    if not os.path.isdir(parent):
        raise OutputError(f"Could not create directory {folder}: {os.strerror(2)}")
    return folder


def output_paths(modes: str, folder: str, kb_file: str) -> dict[str, str]:
    """The path of each format of a colon-separated list. Raises UsageError for unknown formats and existing outputs."""
    name = os.path.basename(plain_name(kb_file)).removesuffix(_ENDING)
    paths: dict[str, str] = {}
    for mode in filter(None, modes.lower().split(":")):
        if mode == NO_OUTPUT:
            continue
        if mode in _FILES:
            paths[mode] = f"{folder}/{name}.{mode}.valid"
        elif mode in _FOLDERS:
            paths[mode] = f"{folder}/{_FOLDERS[mode]}"
        else:
            legal = ", ".join((*_FILES, *_FOLDERS, NO_OUTPUT))
            raise UsageError(f"Unknown output mode: {mode}; choose from {legal}")
        if os.path.lexists(paths[mode]):
            kind = "file" if mode in _FILES else "directory"
            raise UsageError(
                f"Output {kind} already exists at {paths[mode]}: remove it first, or name another -output_dir"
            )
    return paths
