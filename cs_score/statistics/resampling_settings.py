"""Settings of resampling, families of tests, and the notes that readers must see next to the numbers. A resample draws
units of a test set, or clusters of units, at random. A family is the set of pairs of systems that are tested together.

This module checks settings and writes notes. Importing it does not load numpy.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from msgspec import UNSET, UnsetType

from cs_score.base.display import join_first, number_with_noun
from cs_score.base.errors import UsageError
from cs_score.base.records import Record, force_setattr, replace, to_builtins
from cs_score.statistics.units import ClusterDesign, Clusters, named_units

# ---- Settings

IntervalMethod: TypeAlias = Literal["percentile", "bca"]
Correction: TypeAlias = Literal["maxt", "holm", "hsd", "none"]
PairedTest: TypeAlias = Literal["randomisation", "sign"]
TestOfEquivalence: TypeAlias = Literal["score", "t"]

INTERVAL_METHODS: Final[tuple[str, ...]] = get_args(IntervalMethod)
CORRECTIONS: Final[tuple[str, ...]] = get_args(Correction)

USUAL_CORRECTION: Final = "maxt"
"""The correction of a family of tests if the user names none."""

DEFAULT_RESAMPLES: Final = 10_000

MANY_RESAMPLES: Final = 100_000
"""More resamples need the option --force. With so many, limits are exact to a hundredth of the standard error."""

LEAST_CONFIDENCE: Final = 50.0
"""The lowest confidence in percent. An interval with less confidence would say hardly anything."""

MOST_CONFIDENCE: Final = 99.99
"""The highest confidence in percent. A higher one would need too many resamples."""

FEWEST_RELIABLE_UNITS: Final = 20
"""With fewer units the limits of the bootstrap are too narrow to be reliable."""


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
        """Check the settings. Raises UsageError for a number out of range, or an unknown method or correction."""
        # A checked value replaces the value that was given: it may be a number of numpy, which JSON cannot print.
        force_setattr(self, "resamples", _whole_number(self.resamples, "the number of resamples", at_least=1))
        force_setattr(self, "seed", _whole_number(self.seed, "the seed", at_least=0))
        force_setattr(self, "confidence", _checked_confidence(self.confidence))
        if self.method and self.method not in INTERVAL_METHODS:
            raise UsageError(f"no interval method called {self.method}; there are {', '.join(INTERVAL_METHODS)}")
        if self.correction and self.correction not in CORRECTIONS:
            raise UsageError(f"no correction called {self.correction}; there are {', '.join(CORRECTIONS)}")

    @property
    def significance_level(self) -> float:
        """The significance level of the tests, and the share outside an interval: 0.05 for a confidence of 95 %."""
        return round(1 - self.confidence / 100, 12)  # 0.001, not 0.00099999..., for 99.9

    @property
    def correction_in_force(self) -> Correction:
        """The correction of a family of tests: the one that the user named, by default max-T (`"maxt"`)."""
        return self.correction or USUAL_CORRECTION

    def choose_methods_for_units(self, units: Sequence[str], *, has_differences: bool = False) -> ResamplingOfUnits:
        """Return the settings with interval methods that suit these units, and the design of the clusters, if any.

        If the user did not choose a method, percentile intervals are used for 20 or more units, and BCa intervals for
        fewer. With fewer than 20 units, differences between systems have paired t intervals. `has_differences` says
        whether there are any differences. If units are drawn in clusters, clusters are counted instead of units.
        `units` are the ids of the units. Raises InputError if a unit has no cluster.
        """
        cluster_design = self.clusters.design(units) if self.clusters else None
        if cluster_design is None:
            # Clusters of one unit each have no effect, so the settings are the same as without clusters.
            settings_without_clusters = replace(self, clusters=UNSET)
            settings = settings_without_clusters._with_method(len(units), has_differences)
        else:
            settings = self._with_method(cluster_design.cluster_count, has_differences)
        return ResamplingOfUnits(settings, cluster_design)

    def _with_method(self, drawn_count: int, has_differences: bool) -> Resampling:
        """Return the settings with interval methods that suit `drawn_count` units, unless the user chose a method.

        `drawn_count` is the number of units or clusters in a resample. With `has_differences`, there are also intervals
        of differences between systems.
        """
        if self.method:
            return self
        if drawn_count >= FEWEST_RELIABLE_UNITS:
            return replace(self, method="percentile")
        # `differences` is the interval method for differences, if it is not the same as for scores.
        return replace(self, method="bca", differences="t" if has_differences else UNSET)

    def with_enough_resamples(self, pair_count: int, most_resamples: int) -> Resampling:
        """Return the settings with enough resamples to find significant differences among `pair_count` pairs.

        With N resamples, the smallest possible p-value after Holm's correction is pair_count / (N + 1). The number of
        resamples is raised until this p-value is at most the level, but not above `most_resamples`. A number chosen by
        the user is not changed. `can_grow` is unset in the result, so that the number is not raised again.
        """
        if not self.can_grow:
            return replace(self, can_grow=UNSET)
        enough_resamples = math.ceil(pair_count / self.significance_level)  # N + 1; one resample too many does no harm
        needed_resamples = min(enough_resamples, most_resamples)
        return replace(self, resamples=max(self.resamples, needed_resamples), can_grow=UNSET)

    def as_json(self) -> dict[str, object]:
        """Return the settings by name, as the document of a result records them: `{"resamples": 10000, ...}`."""
        return {name: value for name, value in to_builtins(self).items() if name != "can_grow"}


class ResamplingOfUnits(NamedTuple):
    """The settings of resampling for certain units, and how these are drawn in clusters.

    `cluster_design` is None if each unit is drawn individually.
    """

    settings: Resampling
    cluster_design: ClusterDesign | None


def _whole_number(value: object, name: str, *, at_least: int) -> int:
    """Return the value of a setting as an int.

    Raises UsageError if the value is not a whole number, or is smaller than `at_least`. `name` is the name of the
    setting in the message: `the seed`.
    """
    number = None
    if not isinstance(value, bool):
        with contextlib.suppress(TypeError):  # it is no whole number
            number = operator.index(value)  # type: ignore[arg-type]
    if number is None or number < at_least:
        raise UsageError(f"{name} must be a whole number of at least {at_least}, not {value}")
    return number


def _checked_confidence(value: object) -> float:
    """Return a confidence in percent as a float.

    Raises UsageError if the value is not a number from 50 to 99.99. The message suggests the value that was probably
    meant: 95 for 0.95, 0.05 and 5.
    """
    number = math.nan
    if not isinstance(value, (bool, str)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):  # it is no number
            number = float(value)  # type: ignore[arg-type]
    if _is_confidence(number):
        return number
    raise UsageError(f"the confidence is a percentage from 50 to 99.99, not {value}{_confidence_hint(number)}")


def _is_confidence(percentage: float) -> bool:
    """Return whether a number is a possible confidence in percent. It is not if it is NaN."""
    return LEAST_CONFIDENCE <= percentage <= MOST_CONFIDENCE


def _confidence_hint(number: float) -> str:
    """Return a hint at the confidence that was probably meant by a wrong number: `; percent: did you mean 95?`.

    The hint is empty if the number is NaN, or has no probable meaning.
    """
    if_probability = round(100 * number, 10)  # 0.95 means 95 %
    if_level = round(100 - 100 * number, 10)  # 0.05 is the level of 95 %
    if_level_in_percent = round(100 - number, 10)  # 5 is this level in percent
    for confidence in (if_probability, if_level, if_level_in_percent):
        if _is_confidence(confidence):
            return f"; percent: did you mean {confidence:g}?"
    return ""


def message_on_many_resamples(option: str, remedy: str) -> str:
    """Return the error message for a number of resamples above `MANY_RESAMPLES`.

    `option` is the option or argument as the user wrote it: `--bootstrap 1000000`. `remedy` is the option that allows
    so many resamples: `--force`.
    """
    return (
        f"{option}: more than {MANY_RESAMPLES} resamples take much time and memory and say no more of the test set; to "
        f"draw them all the same add {remedy}"
    )


def limits_in_words(settings: Resampling, unit_count: int) -> str:
    """Return how limits of scores were computed: `95 % BCa bootstrap limits, 10,000 resamples of 12 claims, seed 0`."""
    method = "BCa" if settings.method == "bca" else settings.method
    resamples = number_with_noun(settings.resamples, "resample")
    units_text = number_with_noun(unit_count, settings.unit)
    clusters = ", drawn by cluster" if settings.clusters else ""
    return (
        f"{settings.confidence:g} % {method} bootstrap limits, {resamples} of {units_text}{clusters}, "
        f"seed {settings.seed}"
    )


def difference_limits_in_words(settings: Resampling, unit_count: int) -> str:
    """Return how the limits of differences were computed.

    For paired t intervals, the result is `95 % paired t limits from what each of 12 claims contributes`. Other limits
    of differences are computed and described like those of scores.
    """
    has_t_intervals = settings.differences == "t"
    if not has_t_intervals:
        return limits_in_words(settings, unit_count)
    units_text = number_with_noun(unit_count, settings.unit)
    return f"{settings.confidence:g} % paired t limits from what each of {units_text} contributes"


# ---- Families of tests


def monte_carlo_p_value(extreme_count: int, resample_count: int) -> float:
    """Return the p-value of a test by random resamples: (1 + extreme_count) / (1 + resample_count).

    `extreme_count` resamples are at least as extreme as the observed result. The p-value is never 0:
    `monte_carlo_p_value(0, 99)` gives 0.01.
    """
    return (1 + extreme_count) / (1 + resample_count)


def can_make_all_sign_flips(unit_count: int, resample_count: int) -> bool:
    """Return whether there are at most `resample_count` ways to exchange two systems in some of their units.

    There are 2^unit_count ways, called sign flips. If there are few enough of them, a randomisation test makes each
    sign flip once. Otherwise, it makes `resample_count` random sign flips.
    """
    return unit_count < resample_count.bit_length()  # 2^unit_count <= resample_count


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

    def in_words(self, measure: str) -> str:
        """Return a description of the family: `max-T over 20 systems, 190 pairs, 10,000 sign flips, SF-AP`."""
        systems_text = number_with_noun(self.systems, "system")
        pairs_text = number_with_noun(self.pairs, "pair")
        if self.baseline:
            pairs_text += f" with {self.baseline}"
        parts = [f"{_CORRECTION_NAMES[self.correction]} over {systems_text}", pairs_text, self._resamples_in_words]
        if self.clusters is not None:
            parts.append(f"{self.clusters:,} clusters")
        return ", ".join([*parts, measure])

    @property
    def _resamples_in_words(self) -> str:
        """The resamples that were made: `10,000 sign flips`, `all 1,024 permutations`, or `exact sign test`."""
        if self.test == "sign":
            return "exact sign test"  # it does not use resamples
        # HSD permutes all systems in each unit. All other corrections belong to tests that exchange two systems.
        kind_of_resamples = "permutations" if self.correction == "hsd" else "sign flips"
        resamples = f"{self.permutations:,} {kind_of_resamples}"
        return f"all {resamples}" if self.exact else resamples

    @property
    def test_in_words(self) -> str:
        """The name of the test that decides whether two systems differ: `the randomisation test`.

        For several pairs it is the name of the correction: `Holm's correction`, `HSD`.
        """
        if self.correction == "hsd":
            return "HSD"
        test = "the exact sign test" if self.test == "sign" else "the randomisation test"
        if self.pairs == 1:
            return test
        if self.correction == "none":
            return f"{test}, uncorrected"
        return _CORRECTION_NAMES[self.correction]

    @property
    def factor_of_holm(self) -> int:
        """The number by which Holm's correction multiplies the smallest p-value. It is 1 for any other correction."""
        return self.pairs if self.correction == "holm" else 1

    def smallest_p(self, unit_count: int) -> float:
        """Return the smallest p-value that any result on `unit_count` units could have had.

        `unit_count` does not include units with 0/0, because they do not affect a test. Let r be the number of ways to
        exchange the systems in one unit: 2 for a pair, n! for n systems. Of all r^unit_count exchanges, at least r are
        as extreme as the observed result, namely those that exchange the systems in the same way in all units. The
        share of extreme exchanges is therefore at least r^(1 - unit_count). Holm's correction multiplies the smallest
        p-value by the number of pairs.
        """
        system_count = self.systems
        exchanges_per_unit = math.factorial(system_count) if self.correction == "hsd" else 2
        smallest_p = min(1.0, float(exchanges_per_unit) ** (1 - unit_count))
        if not self.exact:
            smallest_p = max(smallest_p, monte_carlo_p_value(0, self.permutations))
        return smallest_p * self.factor_of_holm


_CORRECTION_NAMES: Final[dict[Correction, str]] = {
    "maxt": "max-T",
    "holm": "Holm's correction",
    "hsd": "HSD",
    "none": "no correction",
}

# ---- Notes


class Note(Record):
    """What a reader must know of a result: a code for programs, and a line without full stop that may quote names."""

    code: str
    text: str


ONE_UNIT: Final = Note("ONE_UNIT", "one unit only: nothing to resample")
ONE_RESAMPLE: Final = Note("ONE_RESAMPLE", "one resample only: the limits are its score")
ALL_EQUAL: Final = Note("ALL_EQUAL", "every resample gives the same score")
BCA_UNDEFINED: Final = Note(
    "BCA_UNDEFINED", "BCa is undefined where all resamples lie on one side of the score: percentile limits"
)

_MOST_NAMED: Final = 5
"""The largest number of pairs that a note names. It only counts the others."""


def note_sentences(notes: Iterable[Note]) -> list[str]:
    """Return each note as a sentence for readers: `Note: one unit only: nothing to resample.`"""
    return [f"Note: {note.text}." for note in notes]


def note_on_all_or_nothing_score(score: float, unit_count: int, resampling: Resampling) -> Note:
    """Return the note on a score of 1 or 0, which says how large a share of exceptions is still plausible.

    The bootstrap interval of such a score has no width. But if a share s of all possible units were exceptions, a
    sample of n units would include none of them with the probability (1 - s)^n. This probability is at least the level
    if s is at most 1 - level^(1/n). At 95 % confidence this is the rule of three, s < 3 / n.
    """
    largest_share = 1 - resampling.significance_level ** (1 / unit_count)
    finding = "no error" if score else "nothing right"
    exception = "an error" if score else "something right"
    text = (
        f"{finding} in {number_with_noun(unit_count, 'unit')}: at {resampling.confidence:g} % confidence up to "
        f"{100 * largest_share:.2g} % of such units have {exception}"
    )
    return Note("RULE_OF_THREE", text)


def notes_on_intervals(
    unit_count: int, resampling: Resampling, cluster_design: ClusterDesign | None = None
) -> tuple[Note, ...]:
    """Return the notes that apply to all intervals: on clusters, on few units and on few resamples.

    `cluster_design` describes how the units are drawn in clusters. It is None if they are drawn individually.
    """
    if cluster_design is None:
        notes = _notes_on_few_units(unit_count, "unit", resampling)
    else:
        notes = [_note_on_clusters(unit_count, cluster_design)]
        notes += _notes_on_few_units(cluster_design.cluster_count, "cluster", resampling)
    return (*notes, *_notes_on_few_resamples(resampling))


def _note_on_clusters(unit_count: int, cluster_design: ClusterDesign) -> Note:
    """Return the note that units are drawn in clusters: `40 units in 12 clusters, which are drawn as a whole`."""
    units_text = number_with_noun(unit_count, "unit")
    text = f"{units_text} in {cluster_design.cluster_count:,} clusters, which are drawn as a whole"
    stratum_count = len(cluster_design.clusters_per_stratum)
    if stratum_count > 1:
        text += f", within {stratum_count} strata"
    return Note("CLUSTERS", text)


def _notes_on_few_units(drawn_count: int, noun: str, resampling: Resampling) -> list[Note]:
    """Return a note if resamples have so few units or clusters that bootstrap limits are too narrow.

    `noun` is `unit` or `cluster`.
    """
    if drawn_count >= FEWEST_RELIABLE_UNITS:
        return []
    # If differences have paired t intervals, only the limits of scores come from the bootstrap.
    has_t_intervals = resampling.differences == "t"
    limits = "the bootstrap's limits of scores" if has_t_intervals else "the bootstrap's limits"
    text = (
        f"{number_with_noun(drawn_count, noun)} only: below {FEWEST_RELIABLE_UNITS} {limits} are too narrow, a hint at "
        "most"
    )
    return [Note("FEW_UNITS", text)]


def _notes_on_few_resamples(resampling: Resampling) -> list[Note]:
    """Return a note if there are too few resamples for limits at the confidence of the settings."""
    fewest_resamples = _fewest_resamples(resampling.significance_level)
    if resampling.resamples >= fewest_resamples:
        return []
    text = (
        f"{resampling.resamples} resamples cannot give limits at {resampling.confidence:g} %, which lie beyond all "
        f"of them; that takes at least {fewest_resamples} (--bootstrap {fewest_resamples})"
    )
    return [Note("FEW_RESAMPLES", text)]


def _fewest_resamples(significance_level: float) -> int:
    """Return the smallest number of resamples that gives limits at a level: 39 at the level 0.05.

    At least one of N resamples must lie beyond each of the two limits: N + 1 >= 2 / level.
    """
    smallest_n_plus_one = round(2 / significance_level, 6)  # rounded, because 2 / 0.001 may not be a whole number
    return math.ceil(smallest_n_plus_one) - 1


def note_on_no_significance(family: Family, unit_count: int, significance_level: float) -> tuple[Note, ...]:
    """Return a note if no difference could have been significant in a family of tests, however large it was.

    This is the case if the smallest possible p-value is above the level. Otherwise, the result is empty. `unit_count`
    does not include units with 0/0, because they do not affect a test.
    """
    smallest_corrected_p = family.smallest_p(unit_count)  # may be above 1, as Holm's factor is not capped
    if smallest_corrected_p <= significance_level:
        return ()
    factor = family.factor_of_holm
    smallest_in_words = f"{smallest_corrected_p / factor:.3g}"  # before the correction
    if factor > 1:
        smallest_in_words += f" x {factor} pairs (Holm) = {min(1.0, smallest_corrected_p):.3g}"
    remedy = _remedy_for_no_significance(factor, unit_count, significance_level)
    text = (
        f"no difference could have been significant here, however large: the smallest possible p is "
        f"{smallest_in_words}, above the level of {significance_level:g}; {remedy}"
    )
    return (Note("NEVER_SIGNIFICANT", text),)


def _remedy_for_no_significance(factor: int, unit_count: int, significance_level: float) -> str:
    """Return how many resamples are needed for a significant difference, or that there are too few units for any.

    `factor` is the number by which the correction multiplies the smallest p-value. There are 2^unit_count sign flips.
    If a test makes all of them, the smallest p-value is 2 / 2^unit_count: two sign flips exchange the systems in no
    unit or in all units. There are too few units if this p-value is above the level after the correction. More
    resamples do not help, either, if the number needed already includes all sign flips.
    """
    enough_resamples = math.ceil(factor / significance_level)
    smallest_p_of_units = factor * 2.0 ** (1 - unit_count)
    if smallest_p_of_units <= significance_level and not can_make_all_sign_flips(unit_count, enough_resamples):
        return f"that takes {enough_resamples} resamples (--bootstrap {enough_resamples})"
    units_text = "1 unit that holds anything is" if unit_count == 1 else f"{unit_count:,} units that hold anything are"
    return f"{units_text} too few for that, whatever the number of resamples"


def note_on_disagreements(pairs: Sequence[str]) -> tuple[Note, ...]:
    """Return a note on pairs of systems whose interval and corrected test disagree; without pairs the result is empty.

    Interval and test disagree if only one of them finds a difference. `pairs` has a text for each pair: `A and B`.
    """
    if not pairs:
        return ()
    names = join_first(pairs, _MOST_NAMED)
    return (Note("TEST_GOVERNS", f"interval and corrected test disagree for {names}: trust the test"),)


def note_on_copies(groups: Iterable[Sequence[str]]) -> tuple[Note, ...]:
    """Return a note that names the groups of systems that are nearly the same; empty if there are no groups."""
    names = "; ".join([", ".join(group) for group in groups])
    if not names:
        return ()
    return (Note("NEAR_COPIES", f"near-copies: {names}"),)


def note_on_common_units(unit_count: int, dropped: Mapping[str, Sequence[str]]) -> Note:
    """Return a note saying that systems were compared only on the units that all of them have.

    `unit_count` is the number of these units. For each system, `dropped` has the ids of its units that were left out.
    """
    dropped_by_systems = []
    for system, ids in dropped.items():
        if ids:
            dropped_by_systems.append(f"{named_units(ids)} of {system}")
    dropped_in_words = "; ".join(dropped_by_systems) or "none"
    units_text = number_with_noun(unit_count, "unit")
    text = f"compared on the {units_text} that all systems have (--common); dropped: {dropped_in_words}"
    return Note("COMMON_UNITS", text)
