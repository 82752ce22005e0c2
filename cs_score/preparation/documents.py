"""The document list of a task: which documents there are, how long each is, and where its text lies.

Source: specification of the companions, section 1.5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from cs_score.foundation.errors import InputError
from cs_score.foundation.sources import Input, open_source

_LEADING_NUMBER: Final = re.compile(r"\s*([0-9]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class DocumentList:
    """The documents of a task: `lengths` in characters by document id, and the `files` of those whose text is there."""

    lengths: dict[str, float]
    files: dict[str, str]


def read_document_list(given: Input) -> DocumentList:
    """Read a list with the tab-separated columns DOCID, LENGTH and FILE; a later line replaces an earlier one.

    Raises InputError where the list cannot be opened or is not UTF-8.
    """
    with open_source(given) as source:
        data = source.read_bytes()
        name = source.name
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", file=name, place=f"line {line}", code="NOT_UTF8") from None
    lengths: dict[str, float] = {}
    files: dict[str, str] = {}
    for line_text in text.split("\n"):
        docid, length, file, *_ = (*line_text.split("\t"), "", "")
        if not docid:
            continue
        number = _LEADING_NUMBER.match(length)
        lengths[docid] = float(number.group(1)) if number else 0.0
        files[docid] = "" if file == "0" else file
    return DocumentList(lengths, {docid: file for docid, file in files.items() if file})
