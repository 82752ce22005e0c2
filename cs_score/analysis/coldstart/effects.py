"""The difference that one change makes to each measure (insight specification 2).

Every measure is made of sums over units (`measures.registry.sums_of`): the counts behind a micro average, the sums of
P, R, F1 or AP and the number of rows that they are divided by behind a macro average (specification 8.4, 9.8). LDC-MAX
and LDC-MEAN look at nothing outside their LDC query, which is the unit. So what changes in one unit changes the scores
by recombining the sums.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.changes import AddedLine, Change
from cs_score.analysis.coldstart.rescoring import Rescoring
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.judging import Labels, category_in
from cs_score.coldstart.lines import Response
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import QuerySet
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.result import ALL_LEVELS, UnitResult, left_sum
from cs_score.measures.formulas import divide, f1
from cs_score.measures.measure import Measure
from cs_score.measures.registry import LDC_MAX, LDC_MEAN, RANKED, SF, formula_of, sums_of

COUNTED: Final = ("right", "answered", "ground_truth", "precision", "recall", "f1", "rows")
RANKED_COLUMNS: Final = (*RANKED, "rankings")

Row: TypeAlias = tuple[float, ...]
"""What a row of the SF table adds, in the order of `COUNTED`."""

RowCounts: TypeAlias = Counter[tuple[bool | str, str]]
"""Numbers of rows by level, `ALL` among them: of the tables (True), of rankings (False), and of LDC-MAX."""

Sums: TypeAlias = tuple[Sequence[float], RowCounts]
"""What a unit adds to the columns of `sums_of` and to the numbers of rows."""


class Effect(Record):
    """The difference that a change makes to each measure of `names`.

    A difference is None where the scorer would not give the score, and `reason` says why.
    """

    names: Sequence[str]
    differences: Sequence[float | None]
    reason: str | None = None

    def as_json(self) -> dict[str, float | None]:
        """The differences by the names of the measures."""
        return dict(zip(self.names, self.differences))


class Effects:
    """What changes of one run would make of its scores.

    An effect is the score of the changed files minus the score of the run, each as the scorer would give it.
    """

    def __init__(self, scored: Scored, measures: Sequence[Measure], rescoring: Rescoring | None = None) -> None:
        """`measures`: those that effects are on, which the run must have scores of; the first is asked about."""
        self._scored = scored
        self._measures = measures
        self._names = tuple(map(str, measures))
        self.rescoring = rescoring or Rescoring(scored)
        self._is_ranked = any(not each.average for each in measures)
        self._recombination = Recombination(scored, measures)
        self._alike = Alike(scored, self.rescoring)
        self._known: dict[object, Scores] = {}

    def of_first_measure(self) -> Effects:
        """Effects on the measure that is asked about alone, which take less time."""
        return self if len(self._measures) == 1 else Effects(self._scored, self._measures[:1], self.rescoring)

    @property
    def before(self) -> float:
        """The score of the run as it is."""
        score = self._recombination.base.values[0]
        assert score is not None
        return score

    def of(self, change: Change) -> Effect:
        """The effect of one change."""
        after = self._scores(change, None)
        base = self._recombination.base.values
        differences = [None if new is None or old is None else new - old for new, old in zip(after.values, base)]
        return Effect(self._names, differences, after.reason)

    def score(self, change: Change, policy: Policy | None = None) -> tuple[float | None, str | None]:
        """The score of the changed files, under another policy where one is given; None for the reason said."""
        after = self._scores(change, policy)
        score = after.values[0]
        return score, after.reason if score is None else None

    def _scores(self, change: Change, policy: Policy | None) -> Scores:
        key = self._alike.key(change) if policy is None else None
        if (known := self._known.get(key)) is not None:
            return known
        scores = self._recombination.after(self.rescoring.rescored(change, policy, is_ranked=self._is_ranked))
        if key is not None:
            self._known[key] = scores
        return scores


class Alike:
    """Finds out which changes have the same effect, so that one of them is scored for all.

    So have lines that are not right, alone in their nodes and with nothing below them, if they are counted in the same
    row with the same labels and rank between the same nodes that have a class; and classes of one row that nothing of
    the run stands in, if an answer of the same kind finds them. Scoring a unit for each of its mistakes is quadratic.
    """

    def __init__(self, scored: Scored, rescoring: Rescoring) -> None:
        self._scored = scored
        self._rescoring = rescoring
        self._is_possible = rescoring.has_plain_units and scored.run.limits.most is not None and scored.stopped is None
        self._units = {unit.id: unit for unit in scored.result.units}
        self._last: tuple[str, _Places] | None = None

    def key(self, change: Change) -> object:
        """What changes of the same effect have in common; None where nothing is known of it."""
        if not self._is_possible or self._rescoring.refusal(change) is not None:
            return None
        if not change.added and len(change.removal.places) == len(change.removal.responses) == 1:
            (index,) = change.removal.responses
            return self._of_absent(self._scored.run.links.responses[index])
        if len(change.added) == 1 and not change.removal.places:
            return self._of_found(change.added[0])
        return None

    def _of_absent(self, line: Response) -> object:
        places = self._places(line)
        row, labels = places.rows.get(line.index), places.labels.get(line.index, ())
        if row is None or line.node is None or line.node in places.valued:
            return None
        # What would be right but for its parent, its node or another line may make another line count.
        if category_in(labels) in self._scored.policy.right or len(self._scored.run.links.nodes[line.node]) > 1:
            return None
        if self._rescoring.dependents.asking(line.target) or self._scored.run.links.was_skipped(line.target):
            return None
        return row, labels, places.ranks.get(line.node)

    def _of_found(self, line: AddedLine) -> object:
        assessment = line.assessment
        query, links = assessment.query, self._scored.run.links
        follow_on = links.follow_on(assessment.target)
        judgement = follow_on and follow_on.judgement_of(query, assessment.answer)
        if not judgement or judgement.assessment is not assessment or line.node_id is None:
            return None
        if assessment.value_class in self._places(line).classes or self._rescoring.dependents.asking(assessment.target):
            return None
        gold = self._scored.run.gold.of_query(self._scored.run.gold.table.by_id[query.base_id], links)
        documents = gold.classes.documents(assessment.value_class)
        row = assessment.value_class.rpartition(":")[0]
        kind = assessment.judgment, assessment.value_mention, assessment.class_mention
        return query.full_id, row, kind, min(documents, self._scored.run.limits.most or documents)

    def _places(self, line: Response | AddedLine) -> _Places:
        """Where the lines of the unit of a line stand; that of the last unit is kept."""
        query = line.query if isinstance(line, Response) else line.assessment.query
        unit_id = self._scored.run.gold.unit_of(query.base_id)
        if self._last is None or self._last[0] != unit_id:
            self._last = unit_id, _places_in(self._units[unit_id])
        return self._last[1]


class _Places(Record):
    """Where the lines of a unit stand: rows and labels by index, nodes that have a value or a class, ranks of the
    others (how many of those stand before them, by level), classes with lines."""

    rows: Mapping[int, str]
    labels: Mapping[int, Labels]
    valued: Container[str]
    ranks: Mapping[str, tuple[int, ...]]
    classes: Container[str]


def _places_in(unit: UnitResult) -> _Places:
    rows: dict[int, str] = {}
    classes = {assessment.value_class for assessment in unit.matched.values()}
    valued: set[str] = set()
    ranks: dict[str, tuple[int, ...]] = {}
    for query in unit.queries:
        for tally in query.tallies:
            for line in tally.responses:
                rows[line.index] = tally.name
                if (accepting := line.follow_on.accepting) is not None:
                    classes.add(accepting.value_class)
        for ranking in query.rankings:
            before = 0
            for node in ranking.nodes:
                if node.value or node.mapped_class is not None:
                    valued.add(node.name)
                    before += 1
                else:
                    ranks[node.name] = (*ranks.get(node.name, ()), before)
    return _Places(rows, unit.labels, valued, ranks, classes)


class Scores(Record):
    """The scores of measures, in their order; None where the scorer would not give one, for the reason said."""

    values: Sequence[float | None]
    reason: str | None = None


class Recombination:
    """Scores after changes, from the sums of the units that changed and of those that did not."""

    def __init__(self, scored: Scored, measures: Sequence[Measure]) -> None:
        self._table = scored.run.gold.table
        self._measures = tuple(measures)
        self._formula = formula_of(measures)
        self._columns = sums_of(measures)
        self._rows_of = [
            # LDC-MAX has the rows of one entry point only, perhaps none of a hop that the run has.
            (LDC_MAX if each.table == LDC_MAX and each.hop is not None else bool(each.average), each.level)
            for each in measures
        ]
        self._units = {unit.id: unit for unit in scored.result.units}
        self._moved: dict[str, Sums] = {}
        self._last: tuple[str, Sums] | None = None
        self._total: Sequence[float] = [0.0] * len(self._columns)
        self._rows: RowCounts = Counter()
        self._unranked: dict[str, str] = {}
        for unit in scored.result.units:
            values, rows = unit_sums(unit, self._table, self._columns)
            self._total = [total + value for total, value in zip(self._total, values)]
            self._rows.update(rows)
            if (reason := _why_unranked(unit)) is not None:
                self._unranked[unit.id] = reason
        self.base = self._scores(self._total, self._rows, self._unranked)
        """The scores without any change."""

    def after(self, units: Iterable[tuple[str, UnitResult]]) -> Scores:
        """The scores once these units, by id, have changed; none where an iterator of them raises InputError."""
        try:
            return self._scores(*self._sums_after(units, {}))
        except InputError as refusal:
            return self.refused(refusal)

    def refused(self, refusal: InputError) -> Scores:
        """No score at all, since the changed files could not be scored."""
        return Scores([None] * len(self._measures), str(refusal))

    def move_to(self, units: Iterable[tuple[str, UnitResult]]) -> Scores:
        """The scores once these units have changed; changes that come later start from there.

        Raises the InputError that iterating over the units raises, and stays where it is then.
        """
        moved: dict[str, Sums] = {}
        self._total, self._rows, self._unranked = self._sums_after(units, moved)
        self._moved |= moved
        return self._scores(self._total, self._rows, self._unranked)

    def _sums_after(
        self, units: Iterable[tuple[str, UnitResult]], moved: dict[str, Sums]
    ) -> tuple[Sequence[float], RowCounts, dict[str, str]]:
        """The sums over all units, the numbers of rows, and why units have no ranking; fills `moved`."""
        total, rows, unranked = self._total, self._rows.copy(), dict(self._unranked)
        for unit_id, result in units:
            moved[unit_id] = new_values, new_rows = unit_sums(result, self._table, self._columns)
            old_values, old_rows = self._sums_of(unit_id)
            total = [sum_ + new - old for sum_, new, old in zip(total, new_values, old_values)]
            rows.update(new_rows)
            rows.subtract(old_rows)
            unranked.pop(unit_id, None)
            if (reason := _why_unranked(result)) is not None:
                unranked[unit_id] = reason
        return total, rows, unranked

    def _sums_of(self, unit_id: str) -> Sums:
        """What a unit adds now; many changes in a row are of the same one."""
        if unit_id in self._moved:
            return self._moved[unit_id]
        if unit_id not in self._units:
            return [0.0] * len(self._columns), Counter()
        if self._last is None or self._last[0] != unit_id:
            self._last = unit_id, unit_sums(self._units[unit_id], self._table, self._columns)
        return self._last[1]

    def _scores(self, total: Sequence[float], rows: RowCounts, unranked: Mapping[str, str]) -> Scores:
        scores: list[float | None] = self._formula(total, divide)
        reason = None
        if self._table.ldc_of and not rows.get((True, ALL_LEVELS)):
            return Scores([None] * len(scores), "nothing to score: no row would be left")
        for at, key in enumerate(self._rows_of):
            if unranked and not key[0]:
                scores[at], reason = None, next(iter(unranked.values()))
            elif not rows.get(key):
                scores[at] = None
                reason = reason or f"there would be no row of hop {key[1]}"
        return Scores(scores, reason)


def _why_unranked(unit: UnitResult) -> str | None:
    return next((str(query.unranked) for query in unit.queries if query.unranked is not None), None)


def unit_sums(unit: UnitResult, table: QuerySet, columns: Sequence[str]) -> Sums:
    """What a unit adds to `columns`, as `coldstart.unit_statistics` has them, and to the numbers of rows.

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
    counted = {
        SF: list(sums.values()),
        LDC_MAX: [sums[short_id] for short_id in best],
        LDC_MEAN: [_sums_by_level(_mean_rows(rows, entry_points))],
    }
    ranked = {SF: list(queries), LDC_MEAN: entry_points}
    values: list[float] = []
    for of_table, level, is_counted, places in _by_table(tuple(columns)):
        if is_counted:
            added = _total([each[level] for each in counted[of_table] if level in each], len(COUNTED))
        else:
            of_level: dict[str, list[Ranking]] = defaultdict(list)
            for ranking in (each for short_id in ranked[of_table] for each in queries[short_id].rankings):
                of_level[ranking.level].append(ranking)
            levels = [level]
            if table.edition.ranks_all_levels and level == ALL_LEVELS:
                levels += of_level
            parts = [_ranked(of_level.get(each, ()), as_mean=of_table == LDC_MEAN) for each in levels]
            added = _total(parts, len(RANKED_COLUMNS))
        values += [added[at] for at in places]
    numbers: RowCounts = Counter((True, _level(name)) for of_query in rows.values() for name in of_query)
    numbers[True, ALL_LEVELS] = numbers.total()
    numbers.update((LDC_MAX, _level(name)) for short_id in best for name in rows[short_id])
    numbers.update((False, ranking.level) for query in unit.queries for ranking in query.rankings)
    return values, numbers


@functools.lru_cache(maxsize=16)
def _by_table(columns: tuple[str, ...]) -> list[tuple[str, str, bool, list[int]]]:
    """Columns in their order, those of a table and level together: whether it counts, and their places in its rows."""
    found: list[tuple[str, str, bool, list[int]]] = []
    for column in columns:
        table, level, name = column.split(":")
        is_counted = name in COUNTED
        place = (COUNTED if is_counted else RANKED_COLUMNS).index(name)
        if not found or found[-1][:3] != (table, level, is_counted):
            found.append((table, level, is_counted, []))
        found[-1][3].append(place)
    return found


@functools.lru_cache(maxsize=1 << 12)
def _row(right: int, answered: int, ground_truth: int) -> Row:
    precision, recall = divide(right, answered), divide(right, ground_truth)
    return right, answered, ground_truth, precision, recall, f1(precision, recall), int(ground_truth > 0)


def _level(name: str) -> str:
    return str(name.count(":"))


def _sums_by_level(rows: Iterable[tuple[str, Row]]) -> dict[str, Sequence[float]]:
    by_level: dict[str, list[Row]] = defaultdict(list)
    for name, row in rows:
        by_level[_level(name)].append(row)
        by_level[ALL_LEVELS].append(row)
    return {level: _total(of_level, len(COUNTED)) for level, of_level in by_level.items()}


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
        return [0] * len(RANKED_COLUMNS)
    totals = [left_sum(column) for column in zip(*(ranking.scores for ranking in rankings))]
    to_find = [(ranking.ground_truth or 0) > 0 for ranking in rankings]
    if as_mean:
        return (*(total / len(rankings) for total in totals), any(to_find))
    return (*totals, sum(to_find))
