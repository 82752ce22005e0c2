"""What a reader must know about a result beside its numbers: each note a code for programs and a text. Loads no numpy.

All notes are worded here; writers only lay them out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from cs_score.statistics.options import PairedTest, Resampling, smallest_p
from cs_score.statistics.unit_alignment import named_units

FEW: Final = 20
"""Units below which the bootstrap's intervals are too narrow, and its p-values too small, to be taken at their word."""


class Note(NamedTuple):
    """A note; the text is one line without a full stop, and may quote names as they were read."""

    code: str
    text: str


ONE_UNIT: Final = Note("ONE_UNIT", "one unit only: nothing to resample")
ONE_RESAMPLE: Final = Note("ONE_RESAMPLE", "one resample only: no standard error")
ALL_EQUAL: Final = Note("ALL_EQUAL", "every resample gives the same score")
OUTSIDE: Final = Note(
    "BCA_UNDEFINED", "BCa is undefined where all resamples lie on one side of the score: percentile limits"
)


def left_out(undefined: int, resamples: int) -> Note:
    """Some resamples have no score."""
    return Note("LEFT_OUT", f"{undefined} of {resamples} resamples left out (0/0)")


def withheld(undefined: int, resamples: int) -> Note:
    """So many have none that nothing is said from the others."""
    return Note("WITHHELD", f"no interval: {undefined} of {resamples} resamples are 0/0")


def few_counted(counted: int, units: int) -> Note:
    """A score that few of many units are about."""
    return Note(
        "FEW_UNITS", f"only {counted} of {units} units count: bootstrap limits and p are too narrow below {FEW}"
    )


def faultless(score: float, counted: int, resampling: Resampling) -> Note:
    """A score of 1 or 0, whose interval has no width: what so many units without exception are worth.

    If a share s of all units were exceptions, none among `counted` would be met with probability (1 - s) ** counted;
    at 95 % that is the rule of three, s < 3 / counted.
    """
    share = 1 - resampling.level ** (1 / counted)
    met, other = ("no error", "an error") if score else ("nothing right", "something right")
    return Note(
        "RULE_OF_THREE",
        f"{met} in {counted} unit{'s' if counted != 1 else ''}: at {resampling.confidence:g} % confidence up to "
        f"{100 * share:.2g} % of such units have {other}",
    )


def of_resampling(units: int, resampling: Resampling) -> tuple[Note, ...]:
    """What is to be said of all intervals that so many units and such settings give."""
    notes = []
    if units < FEW:
        notes.append(
            Note(
                "FEW_UNITS",
                f"{units} unit{'s' if units != 1 else ''} only: below {FEW} the bootstrap's intervals are too narrow "
                "and its p-values too small, a hint at most",
            )
        )
    least = math.ceil(200 / (100 - Decimal(repr(resampling.confidence)))) - 1
    if resampling.resamples < least:
        notes.append(
            Note(
                "FEW_RESAMPLES",
                f"{resampling.resamples} resamples cannot give limits at {resampling.confidence:g} %, which lie beyond "
                f"all of them; that takes at least {least} (--bootstrap {least})",
            )
        )
    return tuple(notes)


def of_tests(test: PairedTest, units: int, systems: int, resampling: Resampling) -> list[Note]:
    """What is to be said of the corrected tests of all pairs: that none could have been significant, or nothing."""
    pairs, level = math.comb(systems, 2), resampling.level
    smallest = smallest_p(test, units, resampling.resamples)
    if smallest * pairs <= level:
        return []
    resamples = math.ceil(pairs / level)
    can_help = resamples > resampling.resamples and smallest_p(test, units, resamples) * pairs <= level
    remedy = (
        f"that takes {resamples} resamples (--bootstrap {resamples})"
        if can_help
        else f"{units} units are too few for that, whatever the number of resamples"
    )
    corrected = f" x {pairs} pairs (Holm) = {min(1.0, pairs * smallest):.3g}" if pairs > 1 else ""
    text = (
        f"no difference could have been significant here, however large: the smallest possible p is {smallest:.3g}"
        f"{corrected}, above the level of {level:g}; {remedy}"
    )
    return [Note("NEVER_SIGNIFICANT", text)]


def common_only(units: int, dropped: Mapping[str, Sequence[str]]) -> Note:
    """A comparison on the units that all systems have."""
    parts = [f"{named_units(ids)} of {system}" for system, ids in dropped.items() if ids]
    return Note(
        "COMMON_UNITS",
        f"compared on the {units} unit{'s' if units != 1 else ''} that all systems have (--common); dropped: "
        + ("; ".join(parts) or "none"),
    )


def as_json(notes: Iterable[Note]) -> list[dict[str, str]]:
    """The notes as JSON objects."""
    return [note._asdict() for note in notes]


def sentences(notes: Iterable[Note]) -> list[str]:
    """The notes as readers see them, one sentence each."""
    return [f"Note: {note.text}." for note in notes]


def joined(notes: Iterable[Note]) -> str:
    """The notes of one row of a table, as one cell."""
    return "; ".join(note.text for note in notes)
