"""How to resample, and what a reader must know beside the numbers: settings checked once, notes worded once.

Loads no numpy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias, get_args

from msgspec import UNSET, UnsetType

from cs_score.base.errors import UsageError
from cs_score.base.records import Record, asdict, force_setattr, replace
from cs_score.statistics.units import named_units

IntervalMethod: TypeAlias = Literal["percentile", "bca"]
PairedTest: TypeAlias = Literal["randomisation", "bootstrap"]

INTERVAL_METHODS: Final[tuple[str, ...]] = get_args(IntervalMethod)
PAIRED_TESTS: Final[tuple[str, ...]] = get_args(PairedTest)

DEFAULT_RESAMPLES: Final = 10_000

LEAST_CONFIDENCE: Final = 50.0
MOST_CONFIDENCE: Final = 99.99
"""Below, an interval says less than its absence; above, no affordable number of resamples reaches."""

FEW: Final = 20
"""Units below which the bootstrap's intervals are too narrow, and its p-values too small, to be taken at their word."""


class Resampling(Record):
    """Settings of a bootstrap or of a paired test; equal settings on equal input give equal results.

    `resamples` is their number (at least 1), `seed` a whole number of at least 0, `confidence` a percentage from 50
    to 99.99, `unit` the name of what is drawn ("claim"). With `can_grow` nobody has asked for just that
    number, and a comparison of many systems draws as many as significance needs. Raises UsageError for anything else.
    """

    resamples: int = DEFAULT_RESAMPLES
    seed: int = 0
    confidence: float = 95.0
    method: IntervalMethod = "percentile"
    unit: str = "unit"
    can_grow: Literal[True] | UnsetType = UNSET

    def __post_init__(self) -> None:
        # The checked value replaces a numpy number, which JSON cannot print.
        force_setattr(self, "resamples", _whole_number(self.resamples, "the number of resamples", at_least=1))
        force_setattr(self, "seed", _whole_number(self.seed, "the seed", at_least=0))
        force_setattr(self, "confidence", _percentage(self.confidence))
        if self.method not in INTERVAL_METHODS:
            raise UsageError(f"no interval method called {self.method}; there are {', '.join(INTERVAL_METHODS)}")

    @property
    def level(self) -> float:
        """The probability left outside an interval, and the level of the tests: 0.05 for a confidence of 95 %."""
        return round(1 - self.confidence / 100, 12)  # 0.001, not 0.00099999..., for 99.9

    def enough_for(self, pairs: int, most: int) -> Resampling:
        """The settings of tests of so many pairs: up to `most` resamples where that number may grow and has to.

        With N resamples the smallest p that Holm's correction leaves is pairs / (N + 1).
        """
        needed = math.ceil(pairs / self.level) if self.can_grow else 0
        return replace(self, resamples=max(self.resamples, min(needed, most)), can_grow=UNSET)

    def as_json(self) -> dict[str, object]:
        """The settings as the options of an origin have them."""
        return {name: value for name, value in asdict(self).items() if name != "can_grow"}


def add_one(extreme: int, resamples: int) -> float:
    """The p-value of `extreme` resamples out of `resamples`: (1 + extreme) / (1 + resamples)."""
    return (1 + extreme) / (1 + resamples)


def is_enumerated(units: int, resamples: int) -> bool:
    """Whether randomisation makes every exchange of the units once instead of so many at random."""
    return units < resamples.bit_length()  # 2^units <= resamples


def smallest_p(test: PairedTest, units: int, resamples: int) -> float:
    """The smallest p that a test can give. Of all exchanges at least two are extreme: none, and that of all units."""
    if test == "randomisation" and is_enumerated(units, resamples):
        return 2.0 ** (1 - units)
    return add_one(0, resamples)


class Note(Record):
    """What a reader must know of a result: a code for programs, and a line without full stop that may quote names."""

    code: str
    text: str


ONE_UNIT: Final = Note("ONE_UNIT", "one unit only: nothing to resample")
ONE_RESAMPLE: Final = Note("ONE_RESAMPLE", "one resample only: no standard error")
ALL_EQUAL: Final = Note("ALL_EQUAL", "every resample gives the same score")
OUTSIDE: Final = Note(
    "BCA_UNDEFINED", "BCa is undefined where all resamples lie on one side of the score: percentile limits"
)


def left_out(undefined: int, resamples: int) -> Note:
    return Note("LEFT_OUT", f"{undefined} of {resamples} resamples left out (0/0)")


def withheld(undefined: int, resamples: int) -> Note:
    """Too many resamples are undefined, so no interval is given."""
    return Note("WITHHELD", f"no interval: {undefined} of {resamples} resamples are 0/0")


def few_counted(counted: int, units: int) -> Note:
    """Few of many units have a denominator."""
    return Note(
        "FEW_UNITS", f"only {counted} of {units} units count: bootstrap limits and p are too narrow below {FEW}"
    )


def faultless(score: float, counted: int, resampling: Resampling) -> Note:
    """A score of 1 or 0, whose interval has no width.

    If a share s of all units were exceptions, none among `counted` would be met with probability (1 - s) ** counted;
    at 95 % that is the rule of three, s < 3 / counted.
    """
    share = 1 - resampling.level ** (1 / counted)
    met, other = ("no error", "an error") if score else ("nothing right", "something right")
    return Note(
        "RULE_OF_THREE",
        f"{met} in {_units(counted)}: at {resampling.confidence:g} % confidence up to {100 * share:.2g} % of such "
        f"units have {other}",
    )


def notes_of(units: int, resampling: Resampling) -> tuple[Note, ...]:
    """What holds for all intervals that so many units and such settings give."""
    notes = []
    if units < FEW:
        notes.append(
            Note(
                "FEW_UNITS",
                f"{_units(units)} only: below {FEW} the bootstrap's intervals are too narrow and its p-values too "
                "small, a hint at most",
            )
        )
    least = math.ceil(round(2 / resampling.level, 6)) - 1
    if resampling.resamples < least:
        notes.append(
            Note(
                "FEW_RESAMPLES",
                f"{resampling.resamples} resamples cannot give limits at {resampling.confidence:g} %, which lie beyond "
                f"all of them; that takes at least {least} (--bootstrap {least})",
            )
        )
    return tuple(notes)


def never_significant(test: PairedTest, units: int, systems: int, resampling: Resampling) -> tuple[Note, ...]:
    """A note where no p-value over all pairs of systems could be small enough after correction; none otherwise."""
    pairs, level = math.comb(systems, 2), resampling.level
    smallest = smallest_p(test, units, resampling.resamples)
    if smallest * pairs <= level:
        return ()
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
    return (Note("NEVER_SIGNIFICANT", text),)


def common_only(units: int, dropped: Mapping[str, Sequence[str]]) -> Note:
    """A comparison on the units that all systems have."""
    parts = [f"{named_units(ids)} of {system}" for system, ids in dropped.items() if ids]
    found = "; ".join(parts) or "none"
    return Note("COMMON_UNITS", f"compared on the {_units(units)} that all systems have (--common); dropped: {found}")


def sentences(notes: Iterable[Note]) -> list[str]:
    """The notes as readers see them, one sentence each."""
    return [f"Note: {note.text}." for note in notes]


def _units(number: int) -> str:
    return f"{number} unit{'s' if number != 1 else ''}"


def _whole_number(value: object, what: str, *, at_least: int) -> int:
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or number < at_least:
        raise UsageError(f"{what} must be a whole number of at least {at_least}, not {value}")
    return number


def _percentage(value: object) -> float:
    try:
        number = math.nan if isinstance(value, (bool, str)) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not LEAST_CONFIDENCE <= number <= MOST_CONFIDENCE:
        raise UsageError(f"the confidence is a percentage from 50 to 99.99, not {value}{_meant_percentage(number)}")
    return number


def _meant_percentage(number: float) -> str:
    """A suggestion for a probability that was given in place of a percentage, or for the wrong tail."""
    for candidate in (100 * number, 100 - 100 * number, 100 - number):
        meant = round(candidate, 10)
        if LEAST_CONFIDENCE <= meant <= MOST_CONFIDENCE:
            return f"; percent: did you mean {meant:g}?"
    return ""
