"""The difference that a change to its files makes to the scores of a run.

A change reaches the units of its lines, which are scored again as the scorer would score the changed files. Two changes
reach further: a node id that names a query of another unit, and the numbers of lines where a unit has lines of several
files, whose ties they decide. Every measure is made of sums over units, and LDC-MAX and LDC-MEAN look at nothing
outside their LDC query, which is the unit: so the scores change by what the sums of those units change.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.changes import Change, Finding
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.gold import Gold, Run, Unit
from cs_score.coldstart.judging import compares_values
from cs_score.coldstart.lines import DiscardRules, Links, Response
from cs_score.coldstart.linking import NO_NODE
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import Query
from cs_score.coldstart.ranking import Nodes
from cs_score.coldstart.result import (
    ALL_LEVELS,
    ScoreRow,
    UnitResult,
    counted_row,
    ldc_means,
    ranked_rows,
    representing,
)
from cs_score.coldstart.scorer import score_unit
from cs_score.coldstart.tab_files import RUN_2017
from cs_score.measures.registry import LDC_MAX, LDC_MEAN, RANKED, SF, Measure, divide, formula_of, sums_of
from cs_score.problems.log import ProblemLog


class _Edited(Record):
    """Lines as they are after a change, by unit, and what they are scored with.

    `keep_indexes`: no line has another index, so that all meet the assessments that they met.
    """

    lines: Mapping[str, Sequence[Response]]
    run: Run
    gold: Gold
    nodes: Nodes
    keep_indexes: bool


class Rescoring:
    """Scores a run again after changes, unit by unit."""

    def __init__(self, scored: Scored) -> None:
        run = self._run = scored.run
        self._run_id, self._policy = scored.run_id, scored.policy
        self._units = {unit.id: unit for unit in scored.result.units}
        self.finding = Finding(run, scored.run_id)
        self.dependents = self.finding.dependents
        self.files = self.dependents.files
        self._first = {name: file.first for name, file in self.files.files.items()}
        # The runs that are scored before this one, and this one: average precision pools their nodes.
        self._run_ids = run.run_ids[: run.run_ids.index(scored.run_id) + 1]
        self._queries: dict[str, list[Query]] = defaultdict(list)
        for query in run.gold.selected():
            self._queries[run.gold.unit_of(query.base_id)].append(query)
        self._lines: dict[str, list[Response]] = defaultdict(list)
        for response in run.links.responses:
            self._lines[run.gold.unit_of(response.query.base_id)].append(response)
        self._has_several_files = sum(len(file.ends) for file in self.files.files.values()) > 1
        self._of_several_files = [
            unit_id
            for unit_id, lines in self._lines.items()
            if self._has_several_files and any(line.file != lines[0].file for line in lines)
        ]
        # Lines of one unit may belong to a node of another: then no unit can be scored by itself. Where any number of
        # justifications counts, nodes without parent line are one group for the limits, too.
        by_id = run.gold.table.by_id
        self._is_entangled = (run.limits.most is None and bool(run.links.without_parent)) or any(
            node_id is not None
            and (not node_id.startswith(":") or (line.query.level > 1 and line.query.short_id in by_id))
            for line in run.links.responses
            for node_id in (_node_id_of(line),)
        )
        self._has_plain_units = not self._is_entangled and not self._has_several_files and len(run.lines) == 1

    def _refusal(self, change: Change) -> str | None:
        """Why the changed files could not be scored, as far as that can be known without scoring; None otherwise."""
        run, gone = self._run, change.responses
        for name, first in self._first.items() if change.places else ():
            if (name, first) in change.places:
                numbers = {number for of_file, number in change.places if of_file == name}
                added = change.texts if name == self.finding.file.name else ()
                if (reason := self.files.files[name].why_unreadable(numbers, added)) is not None:
                    return reason
        reason = self.dependents.why_stranded(change.places)
        if change.added:
            return reason or self.finding.why_unlinkable(change.added[0].query)
        if reason is not None or not gone:
            return reason
        if len(run.links.responses) == len(gone) and not run.gold.links.assessments:
            return "no line would be left"
        of_run = chain.from_iterable(unit.values() for unit in run.lines.get(self._run_id, {}).values())
        if run.gold.options.runids is None and all(line.index in gone for lines in of_run for line in lines):
            return f"no line of run {self._run_id} would be left, so that nothing would be scored"
        return None

    def rescored(self, change: Change, before: Change, *, is_ranked: bool = True) -> Iterator[tuple[str, UnitResult]]:
        """The units after a change, by id: those that are not as they were after the change `before`.

        Nothing is ranked where no score of rankings is wanted. Raises InputError where the changed files could not be
        scored.
        """
        if (reason := self._refusal(change)) is not None:
            raise InputError(reason)
        is_ranked = is_ranked or len(self._run_ids) > 1
        responses, unit_of = self._run.links.responses, self._run.gold.unit_of
        added_to: dict[str, list[tuple[int, Response]]] = defaultdict(list)
        for at, new_line in enumerate(change.added):
            added_to[unit_of(new_line.query.base_id)].append((at, new_line))
        # Not their symmetric difference, for which all lines of `before` would be copied.
        others = (change.responses - before.responses) | (before.responses - change.responses)
        reached = dict.fromkeys(unit_of(responses[index].query.base_id) for index in others) | dict.fromkeys(added_to)
        whole = None
        if change.policy is not None or self._is_entangled:
            reached = dict.fromkeys((*self._queries, *self._lines))
        elif change.places:
            reached |= dict.fromkeys(self._of_several_files)
        if self._is_entangled:
            whole = self._edited(responses, change, [*enumerate(change.added)], is_ranked)
        base_ids = {line.query.base_id for line in (*map(responses.__getitem__, change.responses), *change.added)}
        for unit_id in reached:
            queries, lines = self._queries.get(unit_id, ()), self._lines.get(unit_id, ())
            if self._has_plain_units and change.policy is None:  # other queries of the unit are as they were
                queries = [query for query in queries if query.base_id in base_ids]
                lines = [line for line in lines if line.query.base_id in base_ids]
            edited = whole or self._edited(lines, change, added_to[unit_id], is_ranked)
            found = self._scored(unit_id, queries, edited, change.policy or self._policy, is_ranked)
            if unit_id in self._units:
                again = {each.query.short_id: each for each in found.queries}
                of_unit = self._units[unit_id].queries
                found = replace(found, queries=tuple(again.get(each.query.short_id, each) for each in of_unit))
            yield unit_id, found

    def _edited(
        self, before: Sequence[Response], change: Change, added: Sequence[tuple[int, Response]], is_ranked: bool
    ) -> _Edited:
        """Lines of some units after a change, of which `added` come to them.

        Raises InputError where the limits cannot be applied.
        """
        gone, run, gold = change.responses, self._run, self._run.gold
        removed = [line for line in before if line.index in gone]
        lines = [line for line in before if line.index not in gone] if removed else before
        was_skipped = any(run.links.was_skipped(line.target) for line in removed)
        # The first line to give an answer names the nodes of the lines that ask about it, some of which may stay.
        asking, giving = self.dependents.asking, self.dependents.giving
        leads = any(
            isinstance(each, Response) and each.index not in gone
            for line in removed
            if line.target in giving and giving[line.target][0] is line
            for each in asking.get(line.target, ())
        )
        if added or was_skipped or self._has_several_files or leads:
            links = Links(gold.table, run.links)
            links.given.update((line.target, None) for line in removed)
            lines = self._linked_again(lines, change, added, links)
            run = replace(run, links=links)
            if was_skipped:
                gold = replace(gold, _queries={}, _values={})
        if run.limits.most is None:
            self._check_limits(lines, change)
        nodes = Nodes(_nodes_of(lines) if is_ranked else {}, run.limits.most)
        of_unit: dict[str, list[Response]] = defaultdict(list)
        for line in lines:
            of_unit[gold.unit_of(line.query.base_id)].append(line)
        return _Edited(of_unit, run, gold, nodes, keep_indexes=not change.added and not was_skipped)

    def _linked_again(
        self, lines: Iterable[Response], change: Change, added: Sequence[tuple[int, Response]], links: Links
    ) -> list[Response]:
        """Lines and added ones in load order, with the indexes, numbers and nodes that they have in the changed files.

        Numbers are those without the lines that go before in the same file: they decide ties between files.
        """
        gone: dict[str, list[int]] = defaultdict(list)
        for name, number in change.places if self._has_several_files else ():
            gone[name].append(number)
        file, size = self.finding.file, len(change.added)
        ends = file.ends if change.added else ()
        found = [
            (
                line.index + size * bisect_right(ends, line.index),
                line.number - bisect_left(gone.get(line.file, ()), line.number),
                _node_id_of(line),
                line,
            )
            for line in lines
        ]
        # Node ids keep added lines apart; without them a line may be there already, and is usually passed over.
        texts: set[str] = set()
        if added and not self._run.gold.table.edition.keeps_repeated_lines and not self.finding.has_nodes:
            texts = {line.text for *_, line in found if line.file == file.name}
        last = file.last + 1 - len(gone.get(file.name, ()))
        for at, new in added:
            for loaded, end in enumerate(file.ends if new.text not in texts else ()):
                found.append((end + size * loaded + at, last + at, _node_id_of(new), new))
        linked, nodes = [], links.given
        for index, number, node_id, line in sorted(found, key=operator.itemgetter(0)) if added else found:
            query, node = line.query, None
            if node_id is not None:
                # At the second hop: the node of the first run line that gives the answer asked about, empty without.
                node = (query.full_id if query.level != 1 else nodes.get(query.short_id) or "") + node_id
            if len(query.slots) > 1 and nodes.get(line.target) is None:
                nodes[line.target] = node or ""
            linked.append(
                Response(
                    index, number, line.text, query, line.run_id, line.confidence, node, line.follow_on, line.file,
                    line.docid, line.kept,
                )
            )  # fmt: skip
        return linked

    def _check_limits(self, lines: Sequence[Response], change: Change) -> None:
        """Raises InputError where the limits on justifications cannot be applied (rule single-values).

        They look at all levels there are: the first line that is left of each other level stands for it.
        """
        rules, gone = DiscardRules(self._run.limits, ProblemLog()), change.responses
        of_level: dict[int, Response] = {}
        for line in self._run.links.responses:
            if line.index not in gone:
                of_level.setdefault(line.query.level, line)
        ends_with_added = self.finding.file.ends if change.added else ()
        ends = [end for file in self.files.files.values() if file.schema is RUN_2017 for end in file.ends]
        for end in sorted(ends):
            limit = end + len(change.added) * bisect_right(ends_with_added, end)
            so_far = [line for line in lines if line.index < limit]
            levels = {line.query.level for line in so_far}
            elsewhere = [line for level, line in of_level.items() if level not in levels and line.index < end]
            rules.apply([*so_far, *elsewhere], _nodes_of(so_far), are_in_order=False)

    def _scored(
        self, unit_id: str, queries: Sequence[Query], edited: _Edited, policy: Policy, is_ranked: bool
    ) -> UnitResult:
        """Score a unit, or queries of it. Raises InputError where scoring would have to stop before its tables."""
        run, gold = edited.run, edited.gold
        if compares_values(gold.options.discipline):
            for assessment in chain.from_iterable(gold.assessed.get(query.base_id, ()) for query in queries):
                run.links.class_of_query(assessment.query)
        found: UnitResult | None = None
        for run_id in self._run_ids:
            for query in () if found is None else found.queries:
                if query.unranked is not None:
                    raise query.unranked
            of_query: dict[str, list[Response]] = defaultdict(list)
            for line in edited.lines.get(unit_id, ()):
                if line.run_id == run_id:
                    of_query[line.query.base_id].append(line)
            met = self._units.get(unit_id) if edited.keep_indexes and run_id == self._run_id else None
            unit = Unit(unit_id, gold, queries, gold.hop_limits, run, of_query, edited.nodes, found, met)
            found = score_unit(unit, policy, is_ranked)
            for stop in (found.unmatched, *(query.uncounted for query in found.queries)):
                if stop is not None:
                    raise stop
        assert found is not None
        return found


def _nodes_of(lines: Iterable[Response]) -> dict[str, list[Response]]:
    nodes: dict[str, list[Response]] = {}
    for line in lines:
        if line.node is not None:
            nodes.setdefault(line.node, []).append(line)
    return nodes


def _node_id_of(line: Response) -> str | None:
    """The node id of a line as its file has it; None where it has none."""
    columns = line.text.split("\t", 9)
    return columns[8] if len(columns) > 8 and columns[8] != NO_NODE else None


# ---- Sums over units

Level: TypeAlias = tuple[str, bool, str]
"""A table, whether it counts (else it ranks), and a level that it has rows of."""

_OF_ROW: Final = {
    True: ("precision", "recall", "f1", "rows", "right", "answered", "ground_truth"),
    False: (*RANKED, "rankings"),
}
"""The sums that a row of a table adds to, where that counts and where it ranks."""


class Effect(Record):
    """The scores after a change and their differences to those before, by measure.

    They are None where the scorer would not give a score, and `reason` says why.
    """

    differences: Mapping[str, float | None]
    reason: str | None = None
    scores: Mapping[str, float | None] = {}


class Effects:
    """What changes of one run would make of its scores, from the sums of the units that change and those that do not.

    An effect is the score of the changed files minus the score of the run, each as the scorer would give it.
    """

    def __init__(self, scored: Scored, measures: Sequence[Measure], rescoring: Rescoring | None = None) -> None:
        """`measures`: those that effects are on, which the run must have scores of; the first is asked about."""
        self._scored, self._measures, self._formula = scored, tuple(measures), formula_of(measures)
        self.rescoring = rescoring or Rescoring(scored)
        self._names = tuple(map(str, measures))
        self._is_ranked = any(not each.average for each in measures)
        self._columns: list[tuple[Level, int]] = []
        for table, level, name in (column.split(":") for column in sums_of(measures)):
            is_counted = name in _OF_ROW[True]
            self._columns.append(((table, is_counted, level), _OF_ROW[is_counted].index(name)))
        self._levels = list(dict.fromkeys([(SF, True, ALL_LEVELS), *(level for level, _ in self._columns)]))
        queries = scored.run.gold.table
        self._ranks_all_levels = queries.edition.ranks_all_levels
        self._entry_points = {
            ldc_id: list(dict.fromkeys(queries.by_id[ldc_id].expansions or ())) for ldc_id in queries.ldc_of.values()
        }
        self._sums = {unit.id: self._sums_of(unit) for unit in scored.result.units}
        self._nothing = (0.0,) * (len(self._columns) + len(self._levels))
        self._total: Sequence[float] = self._nothing
        for values in self._sums.values():
            self._total = list(map(operator.add, self._total, values))
        self._unranked = {unit.id: reason for unit in scored.result.units if (reason := _why_unranked(unit))}
        self._before = Change()
        self.base, _ = self._combined(self._total, self._unranked)
        """The scores without any change."""

    def of_first_measure(self) -> Effects:
        """Effects on the measure that is asked about alone, which take less time."""
        return self if len(self._measures) == 1 else Effects(self._scored, self._measures[:1], self.rescoring)

    def of(self, change: Change, *, stays: bool = False) -> Effect:
        """The effect of a change. If it `stays`, the next one is taken from where it has led, unless it was refused."""
        total, unranked, moved = self._total, dict(self._unranked), {}
        try:
            for unit_id, result in self.rescoring.rescored(change, self._before, is_ranked=self._is_ranked):
                old, new = self._sums.get(unit_id, self._nothing), self._sums_of(result)
                total = [sum_ + after - before for sum_, after, before in zip(total, new, old)]
                moved[unit_id] = new
                unranked.pop(unit_id, None)
                if (reason := _why_unranked(result)) is not None:
                    unranked[unit_id] = reason
        except InputError as refusal:
            nothing = dict.fromkeys(self.base)
            return Effect(nothing, str(refusal), nothing)
        if stays:
            self._before, self._total, self._unranked = change, total, unranked
            self._sums |= moved
        scores, reason = self._combined(total, unranked)
        differences = {
            name: None if new is None or old is None else new - old
            for (name, old), new in zip(self.base.items(), scores.values())
        }
        return Effect(differences, reason, scores)

    def _combined(
        self, total: Sequence[float], unranked: Mapping[str, str]
    ) -> tuple[dict[str, float | None], str | None]:
        """The scores that are made of these sums; why the first one is lacking that the scorer would not give."""
        # Behind the sums stands for each level how many units have rows of it.
        rows = dict(zip(self._levels, total[len(self._columns) :]))
        if self._entry_points and not rows[SF, True, ALL_LEVELS]:
            return dict.fromkeys(self._names), "nothing to score: no row would be left"
        scores: list[float | None] = self._formula(total, divide)
        reason = None
        for at, each in enumerate(self._measures):
            if unranked and not each.average:
                scores[at], reason = None, next(iter(unranked.values()))
            elif not rows[each.table, bool(each.average), each.level]:
                scores[at] = None
                reason = reason or f"there would be no row of hop {each.level}"
        return dict(zip(self._names, scores)), reason

    def _sums_of(self, unit: UnitResult) -> Sequence[float]:
        """What a unit adds to the sums, and behind these for each level whether it has rows of it.

        LDC-MAX takes the rows of the entry point with the highest F1, LDC-MEAN the means over the entry points that
        have a row (rules ldc-max, ldc-mean).
        """
        sums: dict[Level, tuple[float, ...]] = {}

        def add(table: str, is_counted: bool, rows: Iterable[ScoreRow]) -> None:
            for row in rows:
                values: tuple[float, ...] = (*row.scores, row.ground_truth > 0)
                if row.counts is not None:
                    values = (*values, row.counts.right, row.counts.answered, row.counts.ground_truth)
                for level in (row.level, ALL_LEVELS) if is_counted or self._ranks_all_levels else (row.level,):
                    key = table, is_counted, level
                    sums[key] = tuple(map(operator.add, sums[key], values)) if key in sums else values

        queries = sorted(unit.queries, key=lambda query: query.query.short_id)
        counted = {
            query.query.short_id: [counted_row(tally.name, tally.counts) for tally in query.tallies]
            for query in queries
        }
        ranked = {query.query.short_id: ranked_rows(query.rankings) for query in queries if query.rankings}
        for is_counted, rows_of in ((True, counted), (False, ranked)):
            add(SF, is_counted, chain.from_iterable(rows_of.values()))
            entry_points: list[tuple[str, Sequence[ScoreRow]]] = [
                (name, rows_of[name]) for name in self._entry_points.get(unit.id, ()) if rows_of.get(name)
            ]
            if is_counted and entry_points:
                add(LDC_MAX, is_counted, representing(entry_points)[1])
            add(LDC_MEAN, is_counted, ldc_means([(unit.id, entry_points)]))
        values = [sums[level][place] if level in sums else 0.0 for level, place in self._columns]
        return [*values, *(level in sums for level in self._levels)]


def _why_unranked(unit: UnitResult) -> str | None:
    return next((str(query.unranked) for query in unit.queries if query.unranked is not None), None)
