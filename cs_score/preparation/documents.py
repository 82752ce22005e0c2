"""The document list of a task, and whether answers stand in its documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import SPACE, Input, decoded, open_source
from cs_score.coldstart.layouts import Schema
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.tab_files import VALUE_SPANS, Span, offset_value, read_provenance, split_columns
from cs_score.problems.log import Detail, Place, ProblemLog

_LEADING_NUMBER: Final = re.compile(r"\s*([0-9]+)", re.ASCII)
# White space as the reference sees it, without the separators U+001C to U+001F.
_WHITE_SPACE: Final = re.compile(f"{SPACE}+")


class DocumentList(Record):
    """The documents of a task: `lengths` in characters by document id, and the `files` of those whose text is there."""

    lengths: dict[str, float]
    files: dict[str, str]


def read_document_list(given: Input) -> DocumentList:
    """Read a list with the tab-separated columns DOCID, LENGTH and FILE; a later line replaces an earlier one.

    Raises InputError where the list cannot be opened or is not UTF-8.
    """
    with open_source(given) as source:
        text = decoded(source.read_bytes(), source.name)
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


def source_text(file: str, needed_at: Place) -> str:
    """The text of a document, which the line at `needed_at` speaks of. Raises InputError where it cannot be read."""
    try:
        with open_source(file, stdin_as_dash=False) as source:
            data = source.read_bytes()
    except InputError as error:
        reason, place = error.problem.removeprefix(f"Could not open {file}: "), f"line {needed_at.line}"
        problem = f"Source document expected at {file}: {reason}"
        raise InputError(problem, file=needed_at.file, place=place, code="SOURCE_DOCUMENT_MISSING") from None
    return data.decode("utf-8", "replace")


def holds(text: str, start: float, end: float, value: str) -> bool:
    """Whether the characters `start` to `end`, both inclusive, are `value`; any white space counts as one blank."""
    excerpt = text[int(start) : int(min(end, len(text))) + 1] if start < len(text) else ""
    return _WHITE_SPACE.sub(" ", excerpt) == _WHITE_SPACE.sub(" ", value)


def verify_fillers(
    lines: Iterable[Response | Assessment], layouts: Mapping[str, Schema], documents: DocumentList, problems: ProblemLog
) -> list[InputError]:
    """Warn of every answer that differs from the text of its first value span; each document is opened once.

    Only documents with a file are looked at. Of the files that cannot be read, the one that the earliest line needs.
    """
    claims: dict[str, list[tuple[Response | Assessment, Span]]] = defaultdict(list)
    for line in lines:
        file = documents.files.get(line.docid)
        if file is None or not line.provenance:
            continue
        written = split_columns(line.text)[layouts[line.file].columns.index("VALUE_PROVENANCE_TRIPLES")]
        span = read_provenance(written, VALUE_SPANS, documents.lengths).first
        if span is not None:
            claims[file].append((line, span))
    unreadable: list[InputError] = []
    for file, of_file in claims.items():
        try:
            text = source_text(file, of_file[0][0].place)
        except InputError as error:
            unreadable.append(error)
            continue
        for line, span in of_file:
            if not holds(text, offset_value(span.start), offset_value(span.end), line.value):
                detail = Detail("VALUE", line.value)
                arguments = (line.value, line.provenance)
                problems.add("INACCURACTE_MENTION_STRING", *arguments, place=line.place, detail=detail)
    return unreadable[:1]
