"""The document list of a task, and the comparison of answers with the texts of its documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import SPACE, Input, decode_text, open_source
from cs_score.coldstart.layouts import Schema
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.tab_files import VALUE_SPANS, Span, offset_value, read_provenance, split_columns
from cs_score.problems.log import Detail, Place, ProblemLog

_COLUMNS: Final = 3
_LEADING_NUMBER: Final = re.compile(r"\s*([0-9]+)", re.ASCII)
# White space as the reference sees it, without the separators U+001C to U+001F.
_WHITE_SPACE: Final = re.compile(f"{SPACE}+")


class DocumentList(Record):
    """The documents of a task: `lengths` in characters, and `files` with the text, if there is one, by document id."""

    lengths: dict[str, float]
    files: dict[str, str]


def read_document_list(file: Input) -> DocumentList:
    """Return the documents of a list with the tab-separated columns DOCID, LENGTH and FILE.

    If a document is listed twice, the later line counts. Raises InputError if the list cannot be opened or is not
    UTF-8.
    """
    with open_source(file) as source:
        text = decode_text(source.read_bytes(), source.name)
    lengths: dict[str, float] = {}
    file_by_document: dict[str, str] = {}
    for line in text.split("\n"):
        columns = line.split("\t")
        columns += [""] * (_COLUMNS - len(columns))
        docid, length, document_file = columns[:_COLUMNS]
        if not docid:
            continue
        match = _LEADING_NUMBER.match(length)
        lengths[docid] = float(match.group(1)) if match else 0.0
        file_by_document[docid] = "" if document_file == "0" else document_file
    return DocumentList(lengths, {docid: name for docid, name in file_by_document.items() if name})


def source_text(file: str, needed_at: Place) -> str:
    """Return the text of a document. Raises InputError, which names the line that needs it, if it cannot be read."""
    try:
        with open_source(file, stdin_as_dash=False) as source:
            data = source.read_bytes()
    except InputError as error:
        reason = error.problem.removeprefix(f"Could not open {file}: ")
        raise InputError(
            f"Source document expected at {file}: {reason}",
            file=needed_at.file,
            place=f"line {needed_at.line}",
            code="SOURCE_DOCUMENT_MISSING",
        ) from None
    return data.decode("utf-8", "replace")


def holds(text: str, start: float, end: float, value: str) -> bool:
    """Return whether the characters `start` to `end` of a text, both inclusive, are `value`.

    Each stretch of white space is compared as one blank.
    """
    excerpt = ""
    if start < len(text):
        excerpt = text[int(start) : int(min(end, len(text))) + 1]
    return _WHITE_SPACE.sub(" ", excerpt) == _WHITE_SPACE.sub(" ", value)


def verify_fillers(
    lines: Iterable[Response | Assessment], layouts: Mapping[str, Schema], documents: DocumentList, problems: ProblemLog
) -> list[InputError]:
    """Warn of every answer that differs from the text of its first value span, if that document has a file.

    Returns a list with the error of the first file that cannot be read; it is empty if there is none. Each document is
    opened only once.
    """
    lines_by_file: dict[str, list[tuple[Response | Assessment, Span]]] = defaultdict(list)
    for line in lines:
        file = documents.files.get(line.docid)
        if file is None or not line.provenance:
            continue
        written = split_columns(line.text)[layouts[line.file].columns.index("VALUE_PROVENANCE_TRIPLES")]
        span = read_provenance(written, VALUE_SPANS, documents.lengths).first
        if span is not None:
            lines_by_file[file].append((line, span))
    errors: list[InputError] = []
    for file, lines_of_file in lines_by_file.items():
        first_line, _ = lines_of_file[0]
        try:
            text = source_text(file, first_line.place)
        except InputError as error:
            errors.append(error)
            continue
        for line, span in lines_of_file:
            if not holds(text, offset_value(span.start), offset_value(span.end), line.value):
                detail = Detail("VALUE", line.value)
                arguments = (line.value, line.provenance)
                problems.add("INACCURACTE_MENTION_STRING", *arguments, place=line.place, detail=detail)
    return errors[:1]
