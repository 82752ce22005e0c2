"""The column layouts of run and assessment files, and functions to recognise them (rule lines). A run has a line of
seven to nine columns for each answer, in the layout of its year; each edition of the scorer reads some of the layouts.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from cs_score.base.records import Record
from cs_score.coldstart.options import LATEST, Edition


class FileKind(Enum):
    """The two kinds of files whose lines are answers."""

    RUN = "run"
    ASSESSMENTS = "assessments"


_TRIPLES_PATTERN: Final = r"([^:]+:\d+-\d+,){0,3}[^:]+:\d+-\d+"

_ANY_TEXT: Final = ".+"
_MENTION_TYPE: Final = "(?i:NAM|NOM|0)"
_JUDGMENT_PATTERN: Final = "[CWXISL]"

# The pattern that each column of the first line of a file must match, by column name; later lines need not match.
COLUMN_PATTERNS: Final = {
    "ASSESSMENT_ID": _ANY_TEXT,
    "FULL_QUERY_ID": _ANY_TEXT,
    "LDC_QUERY_ID": _ANY_TEXT,
    "NODEID": _ANY_TEXT,
    "QUERY_ID": _ANY_TEXT,
    "RUNID": _ANY_TEXT,
    "SUBJECT": _ANY_TEXT,
    "VALUE": _ANY_TEXT,
    "VALUE_EC": _ANY_TEXT,
    "VALUE_TYPE": _ANY_TEXT,
    "EC_MENTION_TYPE": _MENTION_TYPE,
    "VALUE_MENTION_TYPE": _MENTION_TYPE,
    "PROVENANCE_ASSESSMENT": _JUDGMENT_PATTERN,
    "VALUE_ASSESSMENT": _JUDGMENT_PATTERN,
    "RELATION_PROVENANCE_TRIPLES": _TRIPLES_PATTERN,
    "VALUE_PROVENANCE_TRIPLES": _TRIPLES_PATTERN,
    "CONFIDENCE": r"\d+(\.\d+(e[-+]?\d\d)?)?",
    "QUERY_AND_SLOT_NAME": ".+:.+:.+",
    "SLOT_NAME": "[^:]+:[^:]+",
    "SUBJECT_PROVENANCE_TRIPLE": r"[^:]+:\d+-\d+",
}

VALUE_TYPES_2016: Final = frozenset(("per", "org", "gpe", "string"))  # legal value types before events, lower case


class Schema(Record):
    """A column layout: its name in messages, the kind of the files that have it, and the names of its columns."""

    name: str
    kind: FileKind
    columns: tuple[str, ...]

    def position(self, column: str) -> int | None:
        """Return the position of a column, counted from 0; None if the layout has no such column."""
        return self.columns.index(column) if column in self.columns else None

    def is_known_to(self, edition: Edition) -> bool:
        """Return whether an edition of the scorer can read the layout. Early editions read no layout with node ids."""
        return edition.has_nodes or "NODEID" not in self.columns

    def misfitting_columns(self, columns: list[str], edition: Edition) -> list[tuple[int, str]]:
        """Return the number, counted from 1, and the name of each column of a line that does not fit this layout.

        If only the confidence of a 2017 run is wrong, the result is `[(8, "CONFIDENCE")]`. The list is empty for a line
        that fits. `columns` has as many texts as the layout has columns.
        """
        misfits = []
        for number, (name, text) in enumerate(zip(self.columns, columns), 1):
            has_form = re.fullmatch(COLUMN_PATTERNS[name], text) is not None
            if name == "VALUE_TYPE" and edition.slot_filling_only:
                is_legal = has_form and text.lower() in VALUE_TYPES_2016
            else:
                is_legal = has_form
            if not is_legal:
                misfits.append((number, name))
        return misfits


def _layout(name: str, kind: FileKind, columns: str) -> Schema:
    """Return a layout from its name, the kind of its files, and the names of its columns, separated by blanks."""
    return Schema(name=name, kind=kind, columns=tuple(columns.split()))


_ANSWER_COLUMNS: Final = "RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES"
_ANSWER_WITH_TYPE: Final = "RELATION_PROVENANCE_TRIPLES VALUE VALUE_TYPE VALUE_PROVENANCE_TRIPLES"

RUN_2014: Final = _layout("2014 run", FileKind.RUN, f"QUERY_ID SLOT_NAME RUNID {_ANSWER_COLUMNS} CONFIDENCE")
RUN_2015: Final = _layout("2015 run", FileKind.RUN, f"FULL_QUERY_ID SLOT_NAME RUNID {_ANSWER_WITH_TYPE} CONFIDENCE")
RUN_2017: Final = _layout(
    "2017 run", FileKind.RUN, f"FULL_QUERY_ID SLOT_NAME RUNID {_ANSWER_WITH_TYPE} CONFIDENCE NODEID"
)
ASSESSMENTS_2014: Final = _layout(
    "2014-2015 assessments",
    FileKind.ASSESSMENTS,
    f"ASSESSMENT_ID QUERY_AND_SLOT_NAME {_ANSWER_COLUMNS} VALUE_ASSESSMENT PROVENANCE_ASSESSMENT VALUE_EC",
)
ASSESSMENTS_2016: Final = _layout(
    "2016 assessments",
    FileKind.ASSESSMENTS,
    f"ASSESSMENT_ID QUERY_AND_SLOT_NAME {_ANSWER_COLUMNS} VALUE_ASSESSMENT VALUE_MENTION_TYPE PROVENANCE_ASSESSMENT "
    "VALUE_EC EC_MENTION_TYPE",
)
EXPANDED_ASSESSMENTS: Final = _layout(
    "expanded assessments",
    FileKind.ASSESSMENTS,
    f"ASSESSMENT_ID LDC_QUERY_ID QUERY_AND_SLOT_NAME SUBJECT SUBJECT_PROVENANCE_TRIPLE {_ANSWER_COLUMNS} "
    "VALUE_ASSESSMENT PROVENANCE_ASSESSMENT VALUE_EC",
)
SCHEMAS: Final = (RUN_2014, RUN_2015, RUN_2017, ASSESSMENTS_2014, ASSESSMENTS_2016, EXPANDED_ASSESSMENTS)
"""All layouts. If a line fits several, the first one is taken."""


def detect_schema(columns: list[str], edition: Edition = LATEST) -> Schema | None:
    """Return the first layout that the columns of a line fit, None if they do not fit any layout."""
    for schema in layouts_of_width(len(columns), edition):
        if not schema.misfitting_columns(columns, edition):
            return schema
    return None


def layouts_of_width(width: int, edition: Edition) -> list[Schema]:
    """Return the layouts with `width` columns that an edition of the scorer can read."""
    return [schema for schema in SCHEMAS if len(schema.columns) == width and schema.is_known_to(edition)]
