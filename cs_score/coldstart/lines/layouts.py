"""The years' column layouts of runs and assessments, and which one a file has (specification 4.1)."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from cs_score.base.records import Record


class FileKind(Enum):
    """What the lines of a tab file are."""

    RUN = "run"
    ASSESSMENTS = "assessments"


_ANY: Final = r".+"
_SLOT: Final = r"[^:]+:[^:]+"
_TRIPLES: Final = r"([^:]+:\d+-\d+,){0,3}[^:]+:\d+-\d+"
_CODE: Final = r"[CWXISL]"
_MENTION: Final = r"(?i:NAM|NOM|0)"

# Column name -> what the first line of a file must hold there; later lines are not held to it.
COLUMN_PATTERNS: Final = {
    "ASSESSMENT_ID": _ANY,
    "CONFIDENCE": r"\d+(\.\d+(e[-+]?\d\d)?)?",
    "EC_MENTION_TYPE": _MENTION,
    "FULL_QUERY_ID": _ANY,
    "LDC_QUERY_ID": _ANY,
    "NODEID": _ANY,
    "PROVENANCE_ASSESSMENT": _CODE,
    "QUERY_AND_SLOT_NAME": r".+:.+:.+",
    "QUERY_ID": _ANY,
    "RELATION_PROVENANCE_TRIPLES": _TRIPLES,
    "RUNID": _ANY,
    "SLOT_NAME": _SLOT,
    "SUBJECT": _ANY,
    "SUBJECT_PROVENANCE_TRIPLE": r"[^:]+:\d+-\d+",
    "VALUE": _ANY,
    "VALUE_ASSESSMENT": _CODE,
    "VALUE_EC": _ANY,
    "VALUE_MENTION_TYPE": _MENTION,
    "VALUE_PROVENANCE_TRIPLES": _TRIPLES,
    "VALUE_TYPE": _ANY,
}


class Schema(Record):
    """One layout: its name for messages, what its lines are, its columns in order."""

    name: str
    kind: FileKind
    columns: tuple[str, ...]

    def position(self, column: str) -> int | None:
        """Index of a column, or None where the layout lacks it."""
        return self.columns.index(column) if column in self.columns else None

    def fits(self, columns: list[str]) -> bool:
        """Whether every column of a line holds what this layout has there."""
        return len(columns) == len(self.columns) and all(
            re.fullmatch(COLUMN_PATTERNS[name], text) for name, text in zip(self.columns, columns)
        )


_RUN_2014: Final = tuple(
    "QUERY_ID SLOT_NAME RUNID RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES CONFIDENCE".split()
)
_RUN_2015: Final = tuple(
    "FULL_QUERY_ID SLOT_NAME RUNID RELATION_PROVENANCE_TRIPLES VALUE VALUE_TYPE "
    "VALUE_PROVENANCE_TRIPLES CONFIDENCE".split()
)
_ASSESSMENTS_2014: Final = tuple(
    "ASSESSMENT_ID QUERY_AND_SLOT_NAME RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES "
    "VALUE_ASSESSMENT PROVENANCE_ASSESSMENT VALUE_EC".split()
)
_ASSESSMENTS_2016: Final = tuple(
    "ASSESSMENT_ID QUERY_AND_SLOT_NAME RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES "
    "VALUE_ASSESSMENT VALUE_MENTION_TYPE PROVENANCE_ASSESSMENT VALUE_EC EC_MENTION_TYPE".split()
)
_ASSESSMENTS_EXPANDED: Final = tuple(
    "ASSESSMENT_ID LDC_QUERY_ID QUERY_AND_SLOT_NAME SUBJECT SUBJECT_PROVENANCE_TRIPLE "
    "RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES VALUE_ASSESSMENT "
    "PROVENANCE_ASSESSMENT VALUE_EC".split()
)

RUN_2014: Final = Schema("2014 run", FileKind.RUN, _RUN_2014)
RUN_2015: Final = Schema("2015 run", FileKind.RUN, _RUN_2015)
RUN_2017: Final = Schema("2017 run", FileKind.RUN, (*_RUN_2015, "NODEID"))
ASSESSMENTS_2016: Final = Schema("2016 assessments", FileKind.ASSESSMENTS, _ASSESSMENTS_2016)

SCHEMAS: Final = (
    RUN_2014,
    RUN_2015,
    RUN_2017,
    Schema("2014-2015 assessments", FileKind.ASSESSMENTS, _ASSESSMENTS_2014),
    ASSESSMENTS_2016,
    Schema("expanded assessments", FileKind.ASSESSMENTS, _ASSESSMENTS_EXPANDED),
)


_FEWEST: Final = min(len(schema.columns) for schema in SCHEMAS)


def detect_schema(columns: list[str]) -> Schema | None:
    """The layout of a file whose first line has these columns, or None."""
    return next((schema for schema in SCHEMAS if schema.fits(columns)), None)


def why_no_schema(columns: list[str]) -> str:
    """What keeps the first line of a file from having a layout, in words."""
    if len(columns) == 1 and columns[0].count(",") >= _FEWEST - 1:
        return "commas stand between its columns where tabs are needed"
    names = {name for schema in SCHEMAS for name in schema.columns}
    if sum(text.strip("#\ufeff ").upper() in names for text in columns) > 1:
        return "a header stands there; take it out"
    of_width = [schema for schema in SCHEMAS if len(schema.columns) == len(columns)]
    if not of_width:
        known = sorted({len(schema.columns) for schema in SCHEMAS})
        return f"it has {len(columns)} columns, where layouts have {', '.join(map(str, known[:-1]))} or {known[-1]}"
    nearest = min(of_width, key=lambda schema: len(_misfits(schema, columns)))
    number, name = _misfits(nearest, columns)[0]
    return f"column {number}, {columns[number - 1]!r}, is no {name} of a line of the layout '{nearest.name}'"


def _misfits(schema: Schema, columns: list[str]) -> list[tuple[int, str]]:
    """Numbers and names of the columns that do not hold what the layout has there."""
    return [
        (number, name)
        for number, (name, text) in enumerate(zip(schema.columns, columns), 1)
        if not re.fullmatch(COLUMN_PATTERNS[name], text)
    ]
