"""The document list of a task, and the comparison of answers with the texts of its documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import SPACE, Input, decode_text, open_source
from cs_score.coldstart.file_columns import Schema
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.tab_files import VALUE_SPANS, Span, offset_value, read_provenance, split_columns
from cs_score.problems.log import Detail, Place, ProblemLog

_COLUMN_COUNT: Final = 3
_LEADING_NUMBER: Final = re.compile(r"\s*([0-9]+)", re.ASCII)
# White space as the reference sees it, without the separators U+001C to U+001F.
_WHITE_SPACE: Final = re.compile(f"{SPACE}+")


class DocumentList(Record):
    """The documents of a task: their lengths in characters, and the paths of the files with their texts.

    A document without a file is in `length_by_docid` only.
    """

    length_by_docid: dict[str, float]
    file_by_docid: dict[str, str]


def read_document_list(file: Input) -> DocumentList:
    """Return the documents of a list with the tab-separated columns DOCID, LENGTH and FILE.

    If a document is listed twice, the later line counts. Raises InputError if the list cannot be opened or is not
    UTF-8.
    """
    with open_source(file) as source:
        text = decode_text(source.read_bytes(), source.name)
    lines = [_DocumentLine.read(line) for line in text.split("\n")]
    line_by_docid = {line.docid: line for line in lines if line.docid}
    return DocumentList(
        length_by_docid={docid: line.length for docid, line in line_by_docid.items()},
        file_by_docid={docid: line.file for docid, line in line_by_docid.items() if line.has_file},
    )


class _DocumentLine(NamedTuple):
    """A line of a document list: the id, the length and the file of a document, as texts; absent columns are empty."""

    docid: str
    length_text: str
    file: str

    @classmethod
    def read(cls, line: str) -> _DocumentLine:
        """Return the line with this text, such as `ENG_1`, `120` and `docs/ENG_1.txt` with tabs between them."""
        columns = line.split("\t")
        columns += [""] * (_COLUMN_COUNT - len(columns))
        return cls(*columns[:_COLUMN_COUNT])

    @property
    def length(self) -> float:
        """The number with which the column of the length begins: `120` -> 120, `x` -> 0."""
        match = _LEADING_NUMBER.match(self.length_text)
        return float(match.group(1)) if match else 0.0

    @property
    def has_file(self) -> bool:
        """Whether the line names a file. For the reference program `0` means that there is none."""
        return self.file not in ("", "0")


def source_text(file: str, needed_at: Place) -> str:
    """Return the text of the file of a document. Bytes that are not UTF-8 become replacement characters.

    `needed_at` is the place of the line for whose check the text is needed. Raises InputError, with this place, if the
    file cannot be read.
    """
    try:
        with open_source(file, dash_is_stdin=False) as source:
            data = source.read_bytes()
    except InputError as error:
        reason = error.problem.removeprefix(f"Could not open {file}: ")  # `open_source` adds this beginning
        raise InputError(
            f"Source document expected at {file}: {reason}",
            file=needed_at.file,
            place=f"line {needed_at.line}",
            code="SOURCE_DOCUMENT_MISSING",
        ) from None
    return data.decode("utf-8", "replace")


def is_text_at(text: str, start: float, end: float, value: str) -> bool:
    """Return whether a text has the text `value` at the offsets `start` to `end`, both inclusive.

    Several white space characters in a row are compared as one blank. The offsets may be larger than the length of the
    text, and even infinite.
    """
    excerpt = ""
    if start < len(text):
        first_offset = int(start)
        last_offset = int(min(end, len(text)))
        excerpt = text[first_offset : last_offset + 1]
    return _WHITE_SPACE.sub(" ", excerpt) == _WHITE_SPACE.sub(" ", value)


def verify_answer_texts(
    lines: Iterable[Response | Assessment], layouts: Mapping[str, Schema], documents: DocumentList, problems: ProblemLog
) -> list[InputError]:
    """Report every answer that differs from the text at its place in the document, if there is a file of the document.

    The place of an answer is the first span of its value provenance. Each document is opened only once. Returns a list
    for the log with the error of the first file that cannot be read. The list is empty if all files can be read.
    """
    errors: list[InputError] = []
    for file, places in _places_by_file(lines, layouts, documents).items():
        try:
            text = source_text(file, places[0].line.place)
        except InputError as error:
            errors.append(error)
        else:
            _report_differences(places, text, problems)
    return errors[:1]  # one message is enough; the answers in all readable files were compared


def _places_by_file(
    lines: Iterable[Response | Assessment], layouts: Mapping[str, Schema], documents: DocumentList
) -> dict[str, list[_PlaceOfAnswer]]:
    """Return the places of answers by the path of the file with the text of their document: `{"ENG_1.txt": [...]}`.

    Answers whose document does not have a file and answers without a valid place are left out. `layouts` has the layout
    of each file of lines.
    """
    places_by_file: dict[str, list[_PlaceOfAnswer]] = defaultdict(list)
    for line in lines:
        document_file = documents.file_by_docid.get(line.docid)
        if document_file is None or not line.value_provenance:
            continue
        span = _first_span_as_written(line, layouts[line.file], documents)
        if span is not None:
            places_by_file[document_file].append(_PlaceOfAnswer(line, span))
    return places_by_file


def _first_span_as_written(line: Response | Assessment, schema: Schema, documents: DocumentList) -> Span | None:
    """Return the first valid span that is written in the value provenance of a line; None if no span is valid."""
    position = schema.columns.index("VALUE_PROVENANCE_TRIPLES")
    provenance = split_columns(line.text)[position]
    return read_provenance(provenance, VALUE_SPANS, documents.length_by_docid).first_span


def _report_differences(places: Iterable[_PlaceOfAnswer], text: str, problems: ProblemLog) -> None:
    """Report the answers that differ from the text of their document at their places.

    `places` are the places in one document, and `text` is the whole text of this document.
    """
    for line, span in places:
        if not is_text_at(text, offset_value(span.start), offset_value(span.end), line.value):
            detail = Detail("VALUE", line.value)
            arguments = (line.value, line.value_provenance)
            # The code is spelt as in the reference scorer.
            problems.add("INACCURACTE_MENTION_STRING", *arguments, place=line.place, detail=detail)


class _PlaceOfAnswer(NamedTuple):
    """A line with an answer, and the place in its document that must have the text of the answer, such as D1:3-9."""

    line: Response | Assessment
    span: Span
