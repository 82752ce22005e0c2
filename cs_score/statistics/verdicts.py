"""What a family of tests says in a sentence: who differs from whom, by which test, at which level. Loads no numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from cs_score.statistics.options import Family
from cs_score.statistics.units import counted

_MOST_NAMED: Final = 5
"""Better systems that a verdict names, and systems that it names for each of them."""


class TestedPair(Protocol):
    """Two systems, the score of `b` minus that of `a`, and the corrected p-value of this difference."""

    @property
    def a(self) -> str: ...
    @property
    def b(self) -> str: ...
    @property
    def difference(self) -> float: ...
    @property
    def p_adjusted(self) -> float: ...


def verdict_of(pairs: Sequence[TestedPair], family: Family, measure: str, level: float) -> str:
    """Return who differs significantly from whom under a measure, without full stop."""
    differing = [pair for pair in pairs if pair.p_adjusted <= level]
    how = f"by {family.test_in_words}, level {level:g}"
    if len(pairs) == 1:
        (pair,) = pairs
        p = "p < 0.0001" if pair.p_adjusted < 0.0001 else f"p {pair.p_adjusted:.4f}"
        if not differing:
            return f"{pair.a} and {pair.b} do not differ significantly in {measure}: {p} {how}"
        better, worse = _in_order(pair)
        return f"{better} is significantly better than {worse} in {measure}: {p} {how}"
    if not differing:
        return f"None of {len(pairs):,} pairs differs significantly in {measure} {how}"
    verb = "differs" if len(differing) == 1 else "differ"
    return f"{len(differing):,} of {len(pairs):,} pairs {verb} significantly in {measure} {how}: {_better(differing)}"


def effect_in_words(system: str, wins: int, ties: int, losses: int, effect_size: float | None) -> str:
    """Return the units that a system wins and loses against another one, and the size of the effect."""
    size = ""
    if effect_size is not None:
        size = f"; effect size {effect_size:+.2f} (mean of the units' differences over their standard deviation)"
    return f"{system} wins {counted(wins)}, ties {ties}, loses {losses}{size}"


def _in_order(pair: TestedPair) -> tuple[str, str]:
    """Return the better and the worse system of a pair."""
    return (pair.b, pair.a) if pair.difference > 0 else (pair.a, pair.b)


def _better(pairs: Iterable[TestedPair]) -> str:
    """Return which systems are better than which, those that are better than most others first."""
    worse_by_system: dict[str, list[str]] = {}
    for pair in pairs:
        better, worse = _in_order(pair)
        worse_by_system.setdefault(better, []).append(worse)
    systems = sorted(worse_by_system, key=lambda system: -len(worse_by_system[system]))
    parts = [f"{system} is better than {_names(worse_by_system[system])}" for system in systems[:_MOST_NAMED]]
    if len(systems) > _MOST_NAMED:
        parts.append(f"{counted(len(systems) - _MOST_NAMED, 'more system')} better than others")
    return "; ".join(parts)


def _names(systems: Sequence[str]) -> str:
    """Return at most five names, and how many more there are."""
    names = ", ".join(systems[:_MOST_NAMED])
    return names if len(systems) <= _MOST_NAMED else f"{names} and {len(systems) - _MOST_NAMED} more"
