"""The table of all measures. Leaderboards, comparisons, intervals, JSON, help and completion ask here.

A row of `COLD_START` says which tables have a statistic under which average, what it is made of and how. A measure of
rankings is such a row with the function that scores one ranking; nothing else names it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final, TypeAlias

from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import Record, replace
from cs_score.measures import formulas

MICRO: Final = "Micro"
MACRO: Final = "Macro"

ALL_HOPS: Final = "ALL"
"""The level of a row about all hops."""


class Measure(Record):
    """One number of a result; `registry.parse(str(measure))` is the measure again.

    `statistic` says what is measured: `P`, `R`, `F1`, `AP`, or the official name in an evidence mode. `table` is that
    of the Cold Start scorer (`SF`, `LDC-MAX`, `LDC-MEAN`), `average` says how its rows are averaged (`Micro`, `Macro`);
    both are empty where there is only one. `hop` is None for all hops.
    """

    statistic: str
    table: str = ""
    average: str = ""
    hop: int | None = None

    def __str__(self) -> str:
        """`LDC-MEAN-ALL-Macro-F1`, `SF-AP@1`, `abstract_f1`."""
        average = f"{ALL_HOPS}-{self.average}" if self.average else ""
        name = "-".join(part for part in (self.table, average, self.statistic) if part)
        return name if self.hop is None else f"{name}@{self.hop}"

    @property
    def level(self) -> str:
        """Its hop as tables show it."""
        return ALL_HOPS if self.hop is None else str(self.hop)

    def at(self, level: str) -> Measure:
        """The same measure of one level, given as tables show it."""
        return replace(self, hop=None if level == ALL_HOPS else int(level))


SF: Final = "SF"
LDC_MAX: Final = "LDC-MAX"
LDC_MEAN: Final = "LDC-MEAN"

COLD_START_MODE: Final = "coldstart"

SumsFormula: TypeAlias = Callable[[Sequence[Any], Callable[[Any, Any], Any]], list[Any]]
"""From the sums of a table's columns, in their order, and a division to the scores."""


class Statistic(Record):
    """One statistic under one average.

    `tables` are those that have it, `sums` the columns of units that it is made of, and `formula` makes it of a
    division and their totals. `of_ranking` scores one ranking, from the values of its nodes in rank order and the
    number of answers to be found; None where it is counted and not ranked.
    """

    name: str
    average: str
    tables: tuple[str, ...]
    sums: tuple[str, ...]
    formula: Callable[..., Any]
    of_ranking: Callable[[Sequence[float], int | None], float] | None = None


def _mean_of_rankings(name: str, of_ranking: Callable[[Sequence[float], int | None], float]) -> Statistic:
    return Statistic(name, "", (SF, LDC_MEAN), (name, "rankings"), formulas.ratio, of_ranking)


_COUNTED: Final = (SF, LDC_MAX)
_ALL: Final = (SF, LDC_MAX, LDC_MEAN)

# Average precision stands first among the rankings' measures: it is the one that the reference reports.
COLD_START: Final[tuple[Statistic, ...]] = (
    Statistic("P", MICRO, _COUNTED, ("right", "answered"), formulas.ratio),
    Statistic("R", MICRO, _COUNTED, ("right", "ground_truth"), formulas.ratio),
    Statistic("F1", MICRO, _COUNTED, ("right", "answered", "ground_truth"), formulas.f1_of_counts),
    Statistic("P", MACRO, _ALL, ("precision", "rows"), formulas.ratio),
    Statistic("R", MACRO, _ALL, ("recall", "rows"), formulas.ratio),
    Statistic("F1", MACRO, _ALL, ("f1", "rows"), formulas.ratio),
    _mean_of_rankings("AP", formulas.average_precision),
)

RANKED: Final[Mapping[str, Callable[[Sequence[float], int | None], float]]] = {
    statistic.name: statistic.of_ranking for statistic in COLD_START if statistic.of_ranking is not None
}
"""What is computed of each ranking, by the name of the statistic."""

_STATISTICS: Final = {(statistic.average, statistic.name): statistic for statistic in COLD_START}


def _cold_start() -> tuple[Measure, ...]:
    """Those that are counted table by table, then those of rankings."""
    of_table = [(statistic, table) for table in _ALL for statistic in COLD_START if table in statistic.tables]
    of_table.sort(key=lambda item: item[0].of_ranking is not None)
    return tuple(Measure(statistic.name, table, statistic.average) for statistic, table in of_table)


def _official(*names: str) -> tuple[Measure, ...]:
    return tuple(map(Measure, names))


MEASURES: Final[dict[str, tuple[Measure, ...]]] = {
    COLD_START_MODE: _cold_start(),
    "scifact": _official(
        *(
            f"{group}_{statistic}"
            for group in ("abstract_label_only", "abstract_rationalized", "sentence_selection", "sentence_label")
            for statistic in ("precision", "recall", "f1")
        )
    ),
    "claims": _official(
        *(f"{group}_{statistic}" for group in ("abstract", "sentence") for statistic in ("precision", "recall", "f1")),
        "label_accuracy",
    ),
    "r4c": _official(*(f"{level}_{aspect}" for level in ("e", "r", "er") for aspect in ("prec", "recall", "f1"))),
    "hotpotqa": _official(
        *(f"{part}{statistic}" for part in ("", "sp_", "joint_") for statistic in ("em", "f1", "prec", "recall"))
    ),
}
"""The measures of each mode over all hops, in the order in which tables show them."""

_HEADLINES: Final[dict[str, tuple[str, ...]]] = {
    COLD_START_MODE: (
        "LDC-MEAN-ALL-Macro-F1",
        "LDC-MAX-ALL-Micro-F1",
        "LDC-MEAN-AP",
        "SF-ALL-Micro-P",
        "SF-ALL-Micro-R",
        "SF-ALL-Micro-F1",
        "SF-ALL-Macro-F1",
        "SF-AP",
    ),
    "scifact": ("abstract_label_only_f1", "abstract_rationalized_f1", "sentence_selection_f1", "sentence_label_f1"),
    "claims": ("abstract_f1", "sentence_f1", "label_accuracy"),
    "r4c": ("e_f1", "r_f1", "er_f1"),
    "hotpotqa": ("em", "f1", "sp_em", "sp_f1", "joint_em", "joint_f1"),
}

_USUAL_WITHOUT_LDC: Final = "SF-ALL-Micro-F1"

WHY: Final[Mapping[str, str]] = {
    _HEADLINES[COLD_START_MODE][0]: "every query and class counts alike, confidences do not; 2017's official is "
    "LDC-MEAN-AP",
    _USUAL_WITHOUT_LDC: "no LDC query groups these queries, so that all answers count alike; confidences do not",
}
"""Why a measure is the one that ranks Cold Start runs, of those that can be; the first with LDC queries."""

_BY_NAME: Final = {str(measure): measure for of_mode in MEASURES.values() for measure in of_mode}
_BY_FOLDED_NAME: Final = {name.casefold(): measure for name, measure in _BY_NAME.items()}
_HOP: Final = "0|[1-9][0-9]{0,5}"


def enter(mode: str, names: Sequence[str]) -> None:
    """Enter the measures of a task that the table does not have, the first of which ranks its leaderboards."""
    if mode not in MEASURES:
        MEASURES[mode], _HEADLINES[mode] = _official(*names), (names[0],)
        _BY_NAME.update({str(measure): measure for measure in MEASURES[mode]})


def parse(text: str) -> Measure:
    """The measure that prints as `text`. Raises UsageError where there is none."""
    name, at, hop = text.partition("@")
    measure = _BY_FOLDED_NAME.get(name.casefold())
    if measure is None or (at and not (measure.table and re.fullmatch(_HOP, hop))):
        raise UsageError(f"no measure called {text}{meant_measures(name, _BY_NAME)}")
    return measure.at(hop) if at else measure


def find(wanted: str, known: Iterable[str]) -> str | None:
    """The name among `known` that `wanted` is in any letter case, with the hop that it asks for; None where none is."""
    name, at, hop = wanted.partition("@")
    found = [each for each in known if each.casefold() == name.casefold()]
    return f"{found[0]}{at}{hop}" if found and (not at or re.fullmatch(_HOP, hop)) else None


def meant_measures(word: str, known: Iterable[str]) -> str:
    """What a message adds for a measure that there is not: the nearest three, those that contain the word otherwise."""
    known = [name for name in known if "@" not in name]
    plain = word.strip("*").casefold()
    containing = [name for name in known if plain in name.casefold()][:3]
    return nearest(word, known) or (f"; did you mean {', '.join(containing)}?" if plain and containing else "")


def names(mode: str) -> tuple[str, ...]:
    """The names of a mode's measures over all hops, in the order of tables."""
    return tuple(map(str, MEASURES[mode]))


def headline(mode: str, with_ldc: bool = True) -> tuple[str, ...]:
    """The measures that people are shown first; without LDC queries those of slot-filling queries alone."""
    return tuple(name for name in _HEADLINES[mode] if with_ldc or _BY_NAME[name].table == SF)


def usual(mode: str = COLD_START_MODE, with_ldc: bool = True) -> Measure:
    """What ranks a leaderboard unless another measure is asked for."""
    return _BY_NAME[_HEADLINES[mode][0] if with_ldc else _USUAL_WITHOUT_LDC]


def rankable(mode: str, with_ldc: bool = True) -> tuple[Measure, ...]:
    """What a leaderboard can be sorted by, the usual measure first; without LDC queries that of SF queries alone."""
    first = usual(mode, with_ldc)
    known = [measure for measure in MEASURES[mode] if with_ldc or measure.table == SF]
    return (first, *(measure for measure in known if measure != first))


def chosen(known: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The measures that match a pattern (`*`, `?` and `[...]` as in a shell), in their order; all without patterns.

    Raises UsageError for a pattern that no measure matches.
    """
    for pattern in patterns:
        if not any(_matches(name, pattern) for name in known):
            meant = meant_measures(pattern, known) or f"; there are {', '.join(known)}"
            raise UsageError(f"no measure called {pattern}{meant}")
    return [name for name in known if not patterns or any(_matches(name, pattern) for pattern in patterns)]


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name.casefold(), pattern.casefold())


def sums_of(measures: Iterable[Measure]) -> tuple[str, ...]:
    """The columns of units that Cold Start measures are made of, each once: `SF:ALL:right`."""
    return tuple(dict.fromkeys(column for measure in measures for column in _columns(measure)))


def formula_of(measures: Iterable[Measure]) -> SumsFormula:
    """The function from the totals of `sums_of`'s columns, in their order, and a division to the scores of `measures`.

    The totals are numbers, or arrays with one element per resample. The function can be sent to another process.
    """
    return partial(_scores, tuple(measures))


def _scores(measures: Sequence[Measure], sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    return [formula(divide, *[sums[place] for place in places]) for formula, places in _formulas(tuple(measures))]


@functools.lru_cache(maxsize=64)
def _formulas(measures: tuple[Measure, ...]) -> list[tuple[Callable[..., Any], list[int]]]:
    """The formula of each measure, and the places of what it is made of among the columns of all."""
    place = {column: at for at, column in enumerate(sums_of(measures))}
    return [(_statistic(each).formula, [place[column] for column in _columns(each)]) for each in measures]


def _columns(measure: Measure) -> tuple[str, ...]:
    return tuple(f"{measure.table}:{measure.level}:{name}" for name in _statistic(measure).sums)


def _statistic(measure: Measure) -> Statistic:
    return _STATISTICS[measure.average, measure.statistic]
