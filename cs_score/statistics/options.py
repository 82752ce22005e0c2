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
from cs_score.base.records import Record, force_setattr, replace, to_builtins
from cs_score.statistics.units import Clusters, Drawn, counted, named_units

IntervalMethod: TypeAlias = Literal["percentile", "bca"]
Correction: TypeAlias = Literal["maxt", "holm", "hsd", "none"]
PairedTest: TypeAlias = Literal["randomisation", "sign"]
TestOfEquivalence: TypeAlias = Literal["score", "t"]

INTERVAL_METHODS: Final[tuple[str, ...]] = get_args(IntervalMethod)
CORRECTIONS: Final[tuple[str, ...]] = get_args(Correction)

USUAL_CORRECTION: Final = "maxt"
"""The correction of a family of tests unless one is named."""

DEFAULT_RESAMPLES: Final = 10_000

MANY_RESAMPLES: Final = 100_000
"""Resamples above which somebody has to say --force: limits are exact to less than a hundredth of the score's error."""


def many_resamples_refused(asked: str, remedy: str) -> str:
    """Return why so many resamples are not drawn.

    `asked` is the option or argument as it was given, `remedy` the one with which they are drawn all the same.
    """
    return (
        f"{asked}: more than {MANY_RESAMPLES} resamples take much time and memory and say no more of the test set; to "
        f"draw them all the same add {remedy}"
    )


LEAST_CONFIDENCE: Final = 50.0
MOST_CONFIDENCE: Final = 99.99
"""Below, an interval says less than its absence; above, no affordable number of resamples reaches."""

MOST_NAMED: Final = 5
"""Pairs that a note names before it only counts."""

FEW: Final = 20
"""Units below which the bootstrap's limits are too narrow to be taken at their word."""


class Resampling(Record):
    """Settings of a bootstrap or of a paired test; equal settings on equal input give equal results.

    `resamples` is their number (at least 1), `seed` a whole number of at least 0, `confidence` a percentage from 50
    to 99.99, `unit` the name of what is drawn ("claim"). Without a `method` intervals are percentile ones; below 20
    units those of scores are BCa, those of `differences` paired t intervals. With `can_grow` nobody has asked for just
    that number, and a comparison of many systems draws as many as significance needs. `correction` is that of families
    of tests (max-T unless one is named), `baseline` the system whose pairs alone are the family, `clusters` the units
    that are drawn together. Raises UsageError for anything else.
    """

    resamples: int = DEFAULT_RESAMPLES
    seed: int = 0
    confidence: float = 95.0
    method: IntervalMethod | UnsetType = UNSET
    unit: str = "unit"
    can_grow: Literal[True] | UnsetType = UNSET
    correction: Correction | UnsetType = UNSET
    baseline: str | UnsetType = UNSET
    clusters: Clusters | UnsetType = UNSET
    differences: Literal["t"] | UnsetType = UNSET

    def __post_init__(self) -> None:
        # The checked value replaces a numpy number, which JSON cannot print.
        force_setattr(self, "resamples", _whole_number(self.resamples, "the number of resamples", at_least=1))
        force_setattr(self, "seed", _whole_number(self.seed, "the seed", at_least=0))
        force_setattr(self, "confidence", _percentage(self.confidence))
        if self.method and self.method not in INTERVAL_METHODS:
            raise UsageError(f"no interval method called {self.method}; there are {', '.join(INTERVAL_METHODS)}")
        if self.correction and self.correction not in CORRECTIONS:
            raise UsageError(f"no correction called {self.correction}; there are {', '.join(CORRECTIONS)}")

    @property
    def level(self) -> float:
        """The probability left outside an interval, and the level of the tests: 0.05 for a confidence of 95 %."""
        return round(1 - self.confidence / 100, 12)  # 0.001, not 0.00099999..., for 99.9

    @property
    def correction_in_force(self) -> Correction:
        """The correction that was named, max-T where none was."""
        return self.correction or USUAL_CORRECTION

    def for_units(self, units: Sequence[str], *, has_differences: bool = False) -> tuple[Resampling, Drawn | None]:
        """Return the settings that hold for these units, and how units are drawn (None: each by itself).

        They name the methods of intervals, for several systems (`has_differences`) also that of differences where it
        is another one. Raises InputError for units without a cluster.
        """
        drawn = self.clusters.drawn(units) if self.clusters else None
        settled = replace(self, clusters=self.clusters if drawn else UNSET)
        if self.method:
            return settled, drawn
        size = len(units) if drawn is None else sum(drawn.strata)
        if size >= FEW:
            return replace(settled, method="percentile"), drawn
        return replace(settled, method="bca", differences="t" if has_differences else UNSET), drawn

    def enough_for(self, pairs: int, most: int) -> Resampling:
        """The settings of tests of so many pairs: up to `most` resamples where that number may grow and has to, since
        with N resamples the smallest p that Holm's correction leaves is pairs / (N + 1).
        """
        needed = math.ceil(pairs / self.level) if self.can_grow else 0
        return replace(self, resamples=max(self.resamples, min(needed, most)), can_grow=UNSET)

    def as_json(self) -> dict[str, object]:
        """The settings as the options of an origin have them."""
        return {name: value for name, value in to_builtins(self).items() if name != "can_grow"}


def add_one(extreme: int, resamples: int) -> float:
    """The p-value of `extreme` resamples out of `resamples`: (1 + extreme) / (1 + resamples)."""
    return (1 + extreme) / (1 + resamples)


def is_enumerated(units: int, resamples: int) -> bool:
    """Whether randomisation makes every exchange of the units once instead of so many at random."""
    return units < resamples.bit_length()  # 2^units <= resamples


class Family(Record):
    """The tests that are corrected together.

    `test` decides about each pair; `permutations` are the sign flips (of HSD the permutations) that were made, with
    `exact` all that there are. Of units that are drawn in `clusters` (None: each by itself) this is their number. With
    `baseline` the pairs with this system alone are the family.
    """

    correction: Correction
    pairs: int
    permutations: int
    clusters: int | None
    systems: int
    test: PairedTest
    exact: bool
    baseline: str | UnsetType = UNSET

    def words(self, measure: str) -> str:
        """Return the family in words: `max-T over 20 systems, 190 pairs, 10,000 sign flips, SF-AP`."""
        pairs = f"{self.pairs:,} pair{'' if self.pairs == 1 else 's'}"
        if self.baseline:
            pairs += f" with {self.baseline}"
        parts = [f"{_CORRECTION_NAMES[self.correction]} over {counted(self.systems, 'system')}", pairs]
        resamples = f"{self.permutations:,} {'permutations' if self.correction == 'hsd' else 'sign flips'}"
        if self.test == "sign":
            parts.append("exact sign test")
        elif self.exact:
            parts.append(f"all {resamples}")
        else:
            parts.append(resamples)
        if self.clusters is not None:
            parts.append(f"{self.clusters:,} clusters")
        return ", ".join([*parts, measure])

    @property
    def test_in_words(self) -> str:
        """What decides whether a pair differs, after `by`: the test of a single pair, the correction of several."""
        if self.correction == "hsd":
            return "HSD"
        single = "the exact sign test" if self.test == "sign" else "the randomisation test"
        if self.pairs == 1:
            return single
        if self.correction == "none":
            return f"{single}, uncorrected"
        return _CORRECTION_NAMES[self.correction]

    def smallest_p(self, units: int) -> float:
        """Return the smallest p that the family leaves, given the number of units that are not 0/0.

        Of all permutations those are as extreme as the best one that treat all units alike: two for a pair, n! for n
        systems. What they do to a unit without content changes nothing.
        """
        alike = math.factorial(self.systems) if self.correction == "hsd" else 2
        smallest = min(1.0, float(alike) ** (1 - units))
        if not self.exact:
            smallest = max(smallest, add_one(0, self.permutations))
        if self.correction == "hsd":
            return smallest
        return smallest * (self.pairs if self.correction == "holm" else 1)


_CORRECTION_NAMES: Final[dict[Correction, str]] = {
    "maxt": "max-T",
    "holm": "Holm's correction",
    "hsd": "HSD",
    "none": "no correction",
}


class Note(Record):
    """What a reader must know of a result: a code for programs, and a line without full stop that may quote names."""

    code: str
    text: str


ONE_UNIT: Final = Note("ONE_UNIT", "one unit only: nothing to resample")
ONE_RESAMPLE: Final = Note("ONE_RESAMPLE", "one resample only: the limits are its score")
ALL_EQUAL: Final = Note("ALL_EQUAL", "every resample gives the same score")
OUTSIDE: Final = Note(
    "BCA_UNDEFINED", "BCa is undefined where all resamples lie on one side of the score: percentile limits"
)


def faultless(score: float, units: int, resampling: Resampling) -> Note:
    """A score of 1 or 0, whose interval has no width. If a share s of all units were exceptions, none among so many
    would be met with probability (1 - s) ** units; at 95 % that is the rule of three, s < 3 / units.
    """
    share = 1 - resampling.level ** (1 / units)
    met, other = ("no error", "an error") if score else ("nothing right", "something right")
    return Note(
        "RULE_OF_THREE",
        f"{met} in {counted(units)}: at {resampling.confidence:g} % confidence up to {100 * share:.2g} % of such "
        f"units have {other}",
    )


def limits_in_words(settings: Resampling, units: int) -> str:
    """Return how limits of scores came about: `95 % BCa bootstrap limits, 10,000 resamples of 12 claims, seed 0`."""
    method = "BCa" if settings.method == "bca" else settings.method
    resamples = f"{settings.resamples:,} resample{'' if settings.resamples == 1 else 's'}"
    clusters = ", drawn by cluster" if settings.clusters else ""
    return (
        f"{settings.confidence:g} % {method} bootstrap limits, {resamples} of {counted(units, settings.unit)}"
        f"{clusters}, seed {settings.seed}"
    )


def difference_limits_in_words(settings: Resampling, units: int) -> str:
    """Return how the limits of differences came about, of several pairs each by itself."""
    if not settings.differences:
        return limits_in_words(settings, units)
    return f"{settings.confidence:g} % paired t limits from what each of {counted(units, settings.unit)} contributes"


def notes_of(units: int, resampling: Resampling, drawn: Drawn | None = None) -> tuple[Note, ...]:
    """What holds for all intervals that so many units and such settings give."""
    found = {}
    size, noun = (units, "unit") if drawn is None else (sum(drawn.strata), "cluster")
    if drawn is not None:
        within = f", within {len(drawn.strata)} strata" if len(drawn.strata) > 1 else ""
        found["CLUSTERS"] = f"{counted(units)} in {size} clusters, which are drawn as a whole{within}"
    if size < FEW:
        of_scores = " of scores" if resampling.differences else ""
        found["FEW_UNITS"] = (
            f"{counted(size, noun)} only: below {FEW} the bootstrap's limits{of_scores} are too narrow, a hint at most"
        )
    least = math.ceil(round(2 / resampling.level, 6)) - 1
    if resampling.resamples < least:
        found["FEW_RESAMPLES"] = (
            f"{resampling.resamples} resamples cannot give limits at {resampling.confidence:g} %, which lie beyond all "
            f"of them; that takes at least {least} (--bootstrap {least})"
        )
    return tuple(Note(code, text) for code, text in found.items())


def never_significant(family: Family, units: int, level: float) -> tuple[Note, ...]:
    """Return a note where no p-value of a family could be small enough after correction; none otherwise.

    `units` are those that are not 0/0: others cannot decide anything.
    """
    smallest = family.smallest_p(units)
    if smallest <= level:
        return ()
    factor = family.pairs if family.correction == "holm" else 1
    resamples = math.ceil(factor / level)
    # With as many resamples as it takes the units alone would decide, or all sign flips would be made.
    are_too_few_units = factor * 2.0 ** (1 - units) > level or is_enumerated(units, resamples)
    if are_too_few_units:
        hold, are = ("holds", "is") if units == 1 else ("hold", "are")
        remedy = f"{counted(units)} that {hold} anything {are} too few for that, whatever the number of resamples"
    else:
        remedy = f"that takes {resamples} resamples (--bootstrap {resamples})"
    corrected = f" x {factor} pairs (Holm) = {min(1.0, smallest):.3g}" if factor > 1 else ""
    text = (
        f"no difference could have been significant here, however large: the smallest possible p is "
        f"{smallest / factor:.3g}{corrected}, above the level of {level:g}; {remedy}"
    )
    return (Note("NEVER_SIGNIFICANT", text),)


def governed(pairs: Sequence[str]) -> tuple[Note, ...]:
    """A note on pairs whose interval and corrected test disagree; none where there are none."""
    if not pairs:
        return ()
    names = ", ".join(pairs[:MOST_NAMED]) + (f" and {len(pairs) - MOST_NAMED} more" if len(pairs) > MOST_NAMED else "")
    return (Note("TEST_GOVERNS", f"interval and corrected test disagree for {names}: trust the test"),)


def copies(groups: Iterable[Sequence[str]]) -> tuple[Note, ...]:
    """Return a note that names the groups of near-copies; none where there are none."""
    names = "; ".join(", ".join(group) for group in groups)
    return (Note("NEAR_COPIES", f"near-copies: {names}"),) if names else ()


def common_only(units: int, dropped: Mapping[str, Sequence[str]]) -> Note:
    """A comparison on the units that all systems have."""
    parts = [f"{named_units(ids)} of {system}" for system, ids in dropped.items() if ids]
    found = "; ".join(parts) or "none"
    return Note("COMMON_UNITS", f"compared on the {counted(units)} that all systems have (--common); dropped: {found}")


def sentences(notes: Iterable[Note]) -> list[str]:
    """The notes as readers see them, one sentence each."""
    return [f"Note: {note.text}." for note in notes]


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
    if LEAST_CONFIDENCE <= number <= MOST_CONFIDENCE:
        return number
    # A probability in place of a percentage, or the wrong tail.
    meant = (round(each, 10) for each in (100 * number, 100 - 100 * number, 100 - number))
    likely = next((each for each in meant if LEAST_CONFIDENCE <= each <= MOST_CONFIDENCE), None)
    hint = "" if likely is None else f"; percent: did you mean {likely:g}?"
    raise UsageError(f"the confidence is a percentage from 50 to 99.99, not {value}{hint}")
