"""Verdicts: sentences that state the outcome of a family of tests, with the test and its level. A family is the set of
pairs of systems that are tested together. Loads no numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from cs_score.base.display import join_first, number_with_noun
from cs_score.statistics.resampling_settings import Family

_MOST_NAMED: Final = 5
"""The largest number of systems that a verdict names as better, and as worse than each of these."""


class TestedPair(Protocol):
    """Two systems that were compared, with the difference of their scores and its corrected p-value."""

    @property
    def a(self) -> str:
        """The name of the first system."""

    @property
    def b(self) -> str:
        """The name of the second system."""

    @property
    def difference(self) -> float:
        """The score of the second system minus that of the first."""

    @property
    def p_adjusted(self) -> float:
        """The p-value of the difference, corrected for the number of pairs."""


def verdict_of(pairs: Sequence[TestedPair], family: Family, measure: str, significance_level: float) -> str:
    """Return a sentence without full stop that says which systems differ significantly under a measure.

    `A is significantly better than B in F1: p 0.0312 by the randomisation test, level 0.05`
    """
    test = f"by {family.test_in_words}, level {significance_level:g}"
    if len(pairs) == 1:
        return _verdict_of_pair(pairs[0], measure, test, significance_level)
    significant_pairs = [pair for pair in pairs if pair.p_adjusted <= significance_level]
    if not significant_pairs:
        return f"None of {len(pairs):,} pairs differs significantly in {measure} {test}"
    verb = "differs" if len(significant_pairs) == 1 else "differ"
    counts = f"{len(significant_pairs):,} of {len(pairs):,} pairs {verb} significantly"
    return f"{counts} in {measure} {test}: {_better_systems_in_words(significant_pairs)}"


def _verdict_of_pair(pair: TestedPair, measure: str, test: str, significance_level: float) -> str:
    """Return a sentence without full stop that says whether two systems differ significantly under a measure.

    `test` is the test in words: `by the randomisation test, level 0.05`.
    """
    p = "p < 0.0001" if pair.p_adjusted < 0.0001 else f"p {pair.p_adjusted:.4f}"
    if pair.p_adjusted > significance_level:
        return f"{pair.a} and {pair.b} do not differ significantly in {measure}: {p} {test}"
    better, worse = _better_and_worse(pair)
    return f"{better} is significantly better than {worse} in {measure}: {p} {test}"


def effect_in_words(system: str, wins: int, ties: int, losses: int, effect_size: float | None) -> str:
    """Return a text with the numbers of units that a system wins, ties and loses against another, and the effect size.

    `A wins 7 units, ties 2, loses 3; effect size +0.35 (mean of the units' differences over their standard deviation)`
    """
    size = ""
    if effect_size is not None:
        size = f"; effect size {effect_size:+.2f} (mean of the units' differences over their standard deviation)"
    return f"{system} wins {number_with_noun(wins, 'unit')}, ties {ties}, loses {losses}{size}"


def _better_and_worse(pair: TestedPair) -> tuple[str, str]:
    """Return the name of the better system of a pair, and then that of the worse system."""
    if pair.difference > 0:
        return pair.b, pair.a
    return pair.a, pair.b


def _better_systems_in_words(significant_pairs: Iterable[TestedPair]) -> str:
    """Return a text that says which systems are better than which: `A is better than B, C; B is better than C`.

    The systems of each pair differ significantly. The system that beats the largest number of others comes first.
    """
    worse_by_system = _worse_by_system(significant_pairs)
    better_systems = sorted(worse_by_system, key=lambda system: -len(worse_by_system[system]))
    parts = []
    for system in better_systems[:_MOST_NAMED]:
        parts.append(f"{system} is better than {join_first(worse_by_system[system], _MOST_NAMED)}")
    unnamed_count = len(better_systems) - _MOST_NAMED
    if unnamed_count > 0:
        parts.append(f"{number_with_noun(unnamed_count, 'more system')} better than others")
    return "; ".join(parts)


def _worse_by_system(significant_pairs: Iterable[TestedPair]) -> dict[str, list[str]]:
    """Return the systems that each system is better than, by the better system: `{"A": ["B", "C"], "B": ["C"]}`."""
    worse_by_system: dict[str, list[str]] = {}
    for pair in significant_pairs:
        better, worse = _better_and_worse(pair)
        worse_by_system.setdefault(better, []).append(worse)
    return worse_by_system
