"""The column layouts of run and assessment files, and how a layout is recognised (rule lines)."""

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


_TRIPLES: Final = r"([^:]+:\d+-\d+,){0,3}[^:]+:\d+-\d+"

# The pattern that each column of the first line of a file must match, by column name; later lines need not match.
COLUMN_PATTERNS: Final = {
    **dict.fromkeys("ASSESSMENT_ID FULL_QUERY_ID LDC_QUERY_ID NODEID QUERY_ID RUNID".split(), ".+"),
    **dict.fromkeys("SUBJECT VALUE VALUE_EC VALUE_TYPE".split(), ".+"),
    **dict.fromkeys(("EC_MENTION_TYPE", "VALUE_MENTION_TYPE"), "(?i:NAM|NOM|0)"),
    **dict.fromkeys(("PROVENANCE_ASSESSMENT", "VALUE_ASSESSMENT"), "[CWXISL]"),
    **dict.fromkeys(("RELATION_PROVENANCE_TRIPLES", "VALUE_PROVENANCE_TRIPLES"), _TRIPLES),
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
        """Return the position of a column from 0, None if the layout lacks it."""
        return self.columns.index(column) if column in self.columns else None

    def exists(self, edition: Edition) -> bool:
        """Return whether an edition knows the layout: editions before nodes know no layout with node ids."""
        return edition.has_nodes or "NODEID" not in self.columns

    def misfits(self, columns: list[str], edition: Edition) -> list[tuple[int, str]]:
        """Return the columns of a line that do not fit this layout, each by its number from 1 and its name.

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


_ANSWER: Final = "RELATION_PROVENANCE_TRIPLES VALUE VALUE_PROVENANCE_TRIPLES"
_OF_RUN: Final = _ANSWER.replace("VALUE ", "VALUE VALUE_TYPE ")
_ASSESSED: Final = f"QUERY_AND_SLOT_NAME {_ANSWER} VALUE_ASSESSMENT"
SCHEMAS: Final = tuple(
    Schema(name, FileKind.RUN if name.endswith("run") else FileKind.ASSESSMENTS, tuple(columns.split()))
    for name, columns in (
        ("2014 run", f"QUERY_ID SLOT_NAME RUNID {_ANSWER} CONFIDENCE"),
        ("2015 run", f"FULL_QUERY_ID SLOT_NAME RUNID {_OF_RUN} CONFIDENCE"),
        ("2017 run", f"FULL_QUERY_ID SLOT_NAME RUNID {_OF_RUN} CONFIDENCE NODEID"),
        ("2014-2015 assessments", f"ASSESSMENT_ID {_ASSESSED} PROVENANCE_ASSESSMENT VALUE_EC"),
        (
            "2016 assessments",
            f"ASSESSMENT_ID {_ASSESSED} VALUE_MENTION_TYPE PROVENANCE_ASSESSMENT VALUE_EC EC_MENTION_TYPE",
        ),
        (
            "expanded assessments",
            f"ASSESSMENT_ID LDC_QUERY_ID QUERY_AND_SLOT_NAME SUBJECT SUBJECT_PROVENANCE_TRIPLE {_ANSWER} "
            "VALUE_ASSESSMENT PROVENANCE_ASSESSMENT VALUE_EC",
        ),
    )
)
RUN_2014, _, RUN_2017, _, ASSESSMENTS_2016, _ = SCHEMAS


def detect_schema(columns: list[str], edition: Edition = LATEST) -> Schema | None:
    """Return the first layout that the columns of a line fit, None if they fit none."""
    for schema in layouts_of_width(len(columns), edition):
        if not schema.misfits(columns, edition):
            return schema
    return None


def layouts_of_width(width: int, edition: Edition) -> list[Schema]:
    """Return the layouts that an edition knows and that have this number of columns."""
    return [schema for schema in SCHEMAS if len(schema.columns) == width and schema.exists(edition)]
