"""The difference that one change makes to each measure (insight specification 2).

Every measure is made of sums over units (`measures.registry.sums_of`): the counts behind a micro average, the sums of
P, R, F1 or AP and the number of rows that they are divided by behind a macro average (specification 8.4, 9.8). LDC-MAX
and LDC-MEAN look at nothing outside their LDC query, which is the unit. So what changes in one unit changes the scores
by recombining the sums.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.changes import Change, Removal
from cs_score.analysis.coldstart.rescoring import Rescoring
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.judging import category_in
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import QuerySet
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.result import ALL_LEVELS, UnitResult, left_sum
from cs_score.measures.formulas import divide, f1
from cs_score.measures.measure import Measure
from cs_score.measures.registry import LDC_MAX, LDC_MEAN, RANKED, SF, formula_of, sums_of

_COUNTED: Final = ("right", "answered", "ground_truth", "precision", "recall", "f1", "rows")
_RANKED: Final = (*RANKED, "rankings")

Row: TypeAlias = tuple[float, ...]
"""What a row of the SF table adds, in the order of `_COUNTED`."""

Levels: TypeAlias = frozenset[tuple[bool | str, str]]
"""The levels that there are rows of, `ALL` among them: of the tables (True), of rankings (False), and of LDC-MAX."""

Sums: TypeAlias = tuple[Sequence[float], Levels]
"""What a unit adds to the columns of `sums_of`, and the levels that it has rows of."""


class Effect(Record):
    """The difference that a change makes to each measure, by name.

    A difference is None where the scorer would not give the score, and `reason` says why.
    """

    differences: Mapping[str, float | None]
    reason: str | None = None


class Scores(Record):
    """The scores of measures, in their order; None where the scorer would not give one, for the reason said.

    `is_refused`: the changed files could not be scored at all.
    """

    values: Sequence[float | None]
    reason: str | None = None
    is_refused: bool = False


class Effects:
    """What changes of one run would make of its scores, from the sums of the units that change and those that do not.

    An effect is the score of the changed files minus the score of the run, each as the scorer would give it.
    """

    def __init__(self, scored: Scored, measures: Sequence[Measure], rescoring: Rescoring | None = None) -> None:
        """`measures`: those that effects are on, which the run must have scores of; the first is asked about."""
        self._scored = scored
        self._measures = tuple(measures)
        self.rescoring = rescoring or Rescoring(scored)
        self._is_ranked = any(not each.average for each in measures)
        self._formula, self._columns = formula_of(measures), sums_of(measures)
        self._table = scored.run.gold.table
        self._level_of = [
            # LDC-MAX has the rows of one entry point only, perhaps none of a hop that the run has.
            (LDC_MAX if each.table == LDC_MAX and each.hop is not None else bool(each.average), each.level)
            for each in measures
        ]
        self._units = {unit.id: unit for unit in scored.result.units}
        self._sums = {unit.id: unit_sums(unit, self._table, self._columns) for unit in scored.result.units}
        self._total: Sequence[float] = [0.0] * len(self._columns)
        self._levels: Counter[tuple[bool | str, str]] = Counter()
        for values, levels in self._sums.values():
            self._total = [total + value for total, value in zip(self._total, values)]
            self._levels.update(levels)
        self._unranked = {unit.id: reason for unit in scored.result.units if (reason := _why_unranked(unit))}
        self.base = self._combined(self._total, self._levels, self._unranked)
        """The scores without any change."""
        self._alike: tuple[str, Mapping[int, object]] = ("", {})
        self._known: dict[object, Scores] = {}

    def of_first_measure(self) -> Effects:
        """Effects on the measure that is asked about alone, which take less time."""
        return self if len(self._measures) == 1 else Effects(self._scored, self._measures[:1], self.rescoring)

    def of(self, change: Change) -> Effect:
        """The effect of one change."""
        key = self._key(change)
        after = self._known.get(key)
        if after is None:
            after = self.scores(change)
            if key is not None:
                self._known[key] = after
        differences = {
            str(measure): None if new is None or old is None else new - old
            for measure, new, old in zip(self._measures, after.values, self.base.values)
        }
        return Effect(differences, after.reason)

    def scores(self, change: Change, policy: Policy | None = None) -> Scores:
        """The scores of the changed files, under another policy where one is given."""
        try:
            units = self.rescoring.rescored(change, policy, is_ranked=self._is_ranked)
            return self._combined(*self._after(units, {}))
        except InputError as refusal:
            return Scores([None] * len(self._measures), str(refusal), is_refused=True)

    def move_to(self, removal: Removal, before: Removal) -> Scores:
        """The scores without lines, where they were those without the lines of `before`; later changes start from here.

        Where the lines that are left cannot be scored, later changes start from where this one did.
        """
        moved: dict[str, Sums] = {}
        try:
            units = self.rescoring.rescored(Change(removal), before=before, is_ranked=self._is_ranked)
            self._total, self._levels, self._unranked = self._after(units, moved)
        except InputError as refusal:
            return Scores([None] * len(self._measures), str(refusal), is_refused=True)
        self._sums |= moved
        return self._combined(self._total, self._levels, self._unranked)

    def _after(
        self, units: Iterable[tuple[str, UnitResult]], moved: dict[str, Sums]
    ) -> tuple[Sequence[float], Counter[tuple[bool | str, str]], dict[str, str]]:
        """The sums over all units, how many have rows of each level, and why units have no ranking; fills `moved`."""
        total, levels, unranked = self._total, self._levels, dict(self._unranked)
        nothing: Sums = [0.0] * len(self._columns), frozenset()
        for unit_id, result in units:
            moved[unit_id] = new_values, new_levels = unit_sums(result, self._table, self._columns)
            old_values, old_levels = self._sums.get(unit_id, nothing)
            total = [sum_ + new - old for sum_, new, old in zip(total, new_values, old_values)]
            if new_levels != old_levels:
                levels = levels + Counter(new_levels)
                levels.subtract(old_levels)
            unranked.pop(unit_id, None)
            if (reason := _why_unranked(result)) is not None:
                unranked[unit_id] = reason
        return total, levels, unranked

    def _combined(
        self, total: Sequence[float], levels: Mapping[tuple[bool | str, str], int], unranked: Mapping[str, str]
    ) -> Scores:
        scores: list[float | None] = self._formula(total, divide)
        reason = None
        if self._table.ldc_of and not levels.get((True, ALL_LEVELS)):
            return Scores([None] * len(scores), "nothing to score: no row would be left")
        for at, key in enumerate(self._level_of):
            if unranked and not key[0]:
                scores[at], reason = None, next(iter(unranked.values()))
            elif not levels.get(key):
                scores[at] = None
                reason = reason or f"there would be no row of hop {key[1]}"
        return Scores(scores, reason)

    def _key(self, change: Change) -> object:
        """What changes of one line have in common that have the same effect; None of others.

        Lines that are not right, alone in their nodes and with nothing below them have it if they are counted in the
        same row with the same labels and rank between the same nodes that have a class. Scoring a query again for each
        of its mistakes is quadratic.
        """
        scored = self._scored
        is_possible = self.rescoring.has_plain_units and scored.run.limits.most is not None and scored.stopped is None
        if change.added or not len(change.removal.places) == len(change.removal.responses) == 1 or not is_possible:
            return None
        (index,) = change.removal.responses
        unit_id = scored.run.gold.unit_of(scored.run.links.responses[index].query.base_id)
        if self._alike[0] != unit_id:
            unit = self._units.get(unit_id)
            self._alike = unit_id, {} if unit is None else _alike(unit, scored, self.rescoring)
        key = self._alike[1].get(index)
        return key if key is None or self.rescoring.refusal(change) is None else None


def _alike(unit: UnitResult, scored: Scored, rescoring: Rescoring) -> dict[int, object]:
    """What decides on the effect of a line that goes, for lines of a unit whose absence changes nothing else."""
    links, dependents = scored.run.links, rescoring.dependents
    valued: set[str] = set()
    ranks: dict[str, tuple[int, ...]] = {}
    for query in unit.queries:
        for ranking in query.rankings:
            before = 0
            for node in ranking.nodes:
                if node.value or node.mapped_class is not None:
                    valued.add(node.name)
                    before += 1
                else:
                    ranks[node.name] = (*ranks.get(node.name, ()), before)
    return {
        line.index: (tally.name, unit.labels[line.index], ranks.get(line.node))
        for query in unit.queries
        for tally in query.tallies
        for line in tally.responses
        if line.node is not None and line.node not in valued and len(links.nodes[line.node]) == 1
        # What would be right but for its parent, its node or another line may make another line count.
        and category_in(unit.labels[line.index]) not in scored.policy.right
        and not dependents.asking(line.target) and not links.was_skipped(line.target)
    }  # fmt: skip


def _why_unranked(unit: UnitResult) -> str | None:
    return next((str(query.unranked) for query in unit.queries if query.unranked is not None), None)


def unit_sums(unit: UnitResult, table: QuerySet, columns: Sequence[str]) -> Sums:
    """What a unit adds to `columns`, as `coldstart.unit_statistics` has them, and the levels that it has rows of.

    LDC-MAX takes the rows of the entry point with the highest F1, LDC-MEAN the means over the entry points that have a
    row (specification 8.2, 8.3, 9.8).
    """
    queries = {query.query.short_id: query for query in unit.queries}
    rows = {
        short_id: {tally.name: _row(tally.counts.right, tally.counts.answered, tally.counts.ground_truth)
                   for tally in query.tallies}
        for short_id, query in queries.items()
    }  # fmt: skip
    ldc_query = table.by_id.get(unit.id) if any(short_id in table.ldc_of for short_id in queries) else None
    expansions = () if ldc_query is None else dict.fromkeys(ldc_query.expansions or ())
    entry_points = [short_id for short_id in expansions if short_id in queries]
    sums = {short_id: _sums_by_level(of_query.items()) for short_id, of_query in rows.items()}
    best = [short_id for short_id in entry_points if sums[short_id]]
    if len(best) > 1:
        best = [max(best, key=lambda short_id: _f1(sums[short_id][ALL_LEVELS]))]
    counted: dict[str, list[Mapping[str, Sequence[float]]]] = {
        SF: list(sums.values()), LDC_MAX: [sums[short_id] for short_id in best],
    }  # fmt: skip
    ranked = {SF: list(queries), LDC_MEAN: entry_points}
    values: list[float] = []
    for of_table, level, is_counted, places in _by_table(tuple(columns)):
        if is_counted:
            if of_table not in counted:
                counted[of_table] = [_sums_by_level(_mean_rows(rows, entry_points))]
            added = _total([each[level] for each in counted[of_table] if level in each], len(_COUNTED))
        else:
            of_level: dict[str, list[Ranking]] = defaultdict(list)
            for ranking in (each for short_id in ranked[of_table] for each in queries[short_id].rankings):
                of_level[ranking.level].append(ranking)
            levels = [level, *(of_level if table.edition.ranks_all_levels and level == ALL_LEVELS else ())]
            parts = [_ranked(of_level.get(each, ()), as_mean=of_table == LDC_MEAN) for each in levels]
            added = _total(parts, len(_RANKED))
        values += [added[at] for at in places]
    found: set[tuple[bool | str, str]] = {(True, level) for of_query in sums.values() for level in of_query}
    found.update((LDC_MAX, level) for short_id in best for level in sums[short_id])
    found.update((False, ranking.level) for query in unit.queries for ranking in query.rankings)
    return values, frozenset(found)


@functools.lru_cache(maxsize=16)
def _by_table(columns: tuple[str, ...]) -> list[tuple[str, str, bool, list[int]]]:
    """Columns in their order, those of a table and level together: whether it counts, and their places in its rows."""
    found: list[tuple[str, str, bool, list[int]]] = []
    for column in columns:
        table, level, name = column.split(":")
        is_counted = name in _COUNTED
        if not found or found[-1][:3] != (table, level, is_counted):
            found.append((table, level, is_counted, []))
        found[-1][3].append((_COUNTED if is_counted else _RANKED).index(name))
    return found


@functools.lru_cache(maxsize=1 << 12)
def _row(right: int, answered: int, ground_truth: int) -> Row:
    precision, recall = divide(right, answered), divide(right, ground_truth)
    return right, answered, ground_truth, precision, recall, f1(precision, recall), int(ground_truth > 0)


@functools.lru_cache(maxsize=1 << 12)
def _level(name: str) -> str:
    return str(name.count(":"))


def _sums_by_level(rows: Iterable[tuple[str, Row]]) -> dict[str, Sequence[float]]:
    by_level: dict[str, list[Row]] = defaultdict(list)
    for name, row in rows:
        by_level[_level(name)].append(row)
        by_level[ALL_LEVELS].append(row)
    return {level: _total(of_level, len(_COUNTED)) for level, of_level in by_level.items()}


def _mean_rows(rows: Mapping[str, Mapping[str, Row]], entry_points: Iterable[str]) -> Iterable[tuple[str, Row]]:
    """The rows of LDC-MEAN: rows are averaged that are alike in the first component of their class."""
    members: dict[str, list[Row]] = defaultdict(list)
    for short_id in sorted(entry_points):
        for name, row in rows[short_id].items():
            _, colon, components = name.partition(":")
            members[f"{colon}{components.partition(':')[0]}"].append(row)
    for group, of_group in members.items():
        _, _, ground_truth, *scores, _ = zip(*of_group)
        means = (left_sum(column) / len(of_group) for column in scores)
        yield group, (0, 0, 0, *means, int(max(ground_truth) > 0))


def _total(rows: Sequence[Sequence[float]], width: int) -> Sequence[float]:
    """The sum of rows, column by column."""
    if len(rows) == 1:
        return rows[0]
    return [sum(column) for column in zip(*rows)] if rows else [0] * width


def _f1(sums: Sequence[float]) -> float:
    right, answered, ground_truth, *_ = sums
    return float(f1(divide(right, answered), divide(right, ground_truth)))


def _ranked(rankings: Sequence[Ranking], *, as_mean: bool) -> Sequence[float]:
    """What rankings add: each by itself, or as one row with their means and the largest number (specification 9.8)."""
    if not rankings:
        return [0] * len(_RANKED)
    totals = [left_sum(column) for column in zip(*(ranking.scores for ranking in rankings))]
    to_find = [(ranking.ground_truth or 0) > 0 for ranking in rankings]
    if as_mean:
        return (*(total / len(rankings) for total in totals), any(to_find))
    return (*totals, sum(to_find))
