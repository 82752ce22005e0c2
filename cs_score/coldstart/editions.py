"""Editions of the reference scorer: the rules of each year as data. A step asks for its rule, never for an edition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cs_score.base.records import Record, field


class Edition(Record, kw_only=True, eq=False):
    """The rules of one edition; the defaults are those of 2017.2.0."""

    name: str
    scored: str
    """The evaluation whose published scores it made."""
    wrong: tuple[str, ...] = ("INCORRECT", "INCORRECT_PARENT", "INEXACT")
    ignore: tuple[str, ...] = ("UNASSESSED", "DUPLICATE")

    # Which parts of the scorer exist: limits on justifications, runs with node ids, average precision.
    has_limits: bool = True
    has_nodes: bool = True
    has_rankings: bool = True
    slot_filling_only: bool = False
    """Events, sentiments and values of the type STRING.x have no slots and value types."""

    # Reading files.
    finds_english_anywhere: bool = False
    """A document id that holds ENG anywhere is English, not only one with ENG_ at its beginning or behind a _."""
    hashes_text_once: bool = False
    """Follow-on ids are hashed of UTF-8, not of UTF-8 encoded to UTF-8 once more."""
    keeps_repeated_lines: bool = False
    longest_span: int = 200
    most_value_spans: int = 2
    most_characters: int | None = None
    """Characters that the spans of one provenance may have together."""
    reads_semicolons: bool = True
    """A semicolon between spans is taken for a comma, with an error."""
    joins_documents: bool = True
    """All spans of a provenance are read as of its first document, and relation and value have the same."""
    refuses_further_spans: bool = True
    """Spans beyond the most allowed are an error, not a warning."""
    names_wrong_slot_in_full: bool = True
    names_unknown_code: bool = True
    refuses_orphans: bool = False
    """A wrong answer to a query that no accepted answer leads to ends the program; otherwise it is reported."""
    wordings: Mapping[str, str] = field(default_factory=dict)
    """Templates of messages that read differently, by problem code."""

    assumed_mention: str | None = None
    """The mention type of answers and classes in pools without mention types; None: they have none."""

    # Counting.
    needs_correct_parent: bool = False
    """A path is correct where the parent was assessed as correct, whatever the policy calls right."""
    ignores_each_nominal: bool = False
    """Nominal answers are ignored line by line; otherwise a node needs one line that names it."""

    # Average precision.
    ranks_correct_lines: bool = False
    """Every line assessed as correct can find a class, and all such lines of a node count in V."""
    ranks_all_levels: bool = False
    """Levels exist by slots, too, and beyond the highest hop that is scored; those of ALL count twice in averages."""

    # Writing.
    encodes_report_twice: bool = True
    """Text outside ASCII is encoded to UTF-8 once more in the error file, not only names of files."""
    reports_first: bool = False
    """The report is written once, when all files are read; errors then end the program before anything is scored."""
    hides_later_unassessed: bool = False
    """From the second run on the debug file shows unassessed lines of nodes without their category."""


_WORDINGS: Final = {
    "FAILED_LANG_INFERENCE": "Unable to infer language from DOCID %s. Using default language %s.",
    "IMPROPER_CONFIDENCE_VALUE": "Confidence value in scientific format: %s ",
}

LATEST: Final = Edition(name="2017.2.0", scored="TAC KBP 2017")

EDITIONS: Final = {
    edition.name: edition
    for edition in (
        Edition(
            name="3.0",
            scored="TAC KBP 2016",
            wrong=("INCORRECT", "INCORRECT_PARENT", "INEXACT", "DUPLICATE"),
            ignore=("UNASSESSED",),
            has_limits=False,
            has_nodes=False,
            has_rankings=False,
            slot_filling_only=True,
            finds_english_anywhere=True,
            hashes_text_once=True,
            keeps_repeated_lines=True,
            longest_span=150,
            most_value_spans=4,
            reads_semicolons=False,
            joins_documents=False,
            refuses_further_spans=False,
            names_wrong_slot_in_full=False,
            names_unknown_code=False,
            refuses_orphans=True,
            wordings=_WORDINGS,
            needs_correct_parent=True,
            ignores_each_nominal=True,
            encodes_report_twice=False,
            reports_first=True,
        ),
        Edition(
            name="2017.1.5",
            scored="the beginning of TAC KBP 2017, in June",
            most_characters=600,
            refuses_orphans=True,
            wordings=_WORDINGS,
            ignores_each_nominal=True,
            ranks_correct_lines=True,
            ranks_all_levels=True,
            reports_first=True,
            hides_later_unassessed=True,
        ),
        LATEST,
    )
}
"""The editions by name, in the order in which they appeared."""
