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
from cs_score.coldstart.gold import Run, Unit, by_unit
from cs_score.coldstart.judging import compares_values
from cs_score.coldstart.lines import DiscardRules, Links, Response
from cs_score.coldstart.linking import NO_NODE
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


class Rescoring:
    """Scores a run again after changes, unit by unit."""

    def __init__(self, scored: Scored) -> None:
        run, gold = scored.run, scored.run.gold
        self._run, self._run_id, self._policy = run, scored.run_id, scored.policy
        self._units = {unit.id: unit for unit in scored.result.units}
        self._every = [*dict.fromkeys(chain((gold.unit_of(each.base_id) for each in gold.selected()), self._units))]
        self.finding = Finding(run, scored.run_id)
        self.dependents = self.finding.dependents
        self.files = self.dependents.files
        # The runs that are scored before this one, and this one: average precision pools their nodes.
        self._run_ids = run.run_ids[: run.run_ids.index(scored.run_id) + 1]
        files_of_unit: dict[str, set[str]] = defaultdict(set)
        if has_several_files := sum(len(file.ends) for file in self.files.files.values()) > 1:
            for line in run.links.responses:
                files_of_unit[gold.unit_of(line.query.base_id)].add(line.file)
        self._has_several_files = has_several_files
        self._of_several_files = [unit_id for unit_id, files in files_of_unit.items() if len(files) > 1]
        # Lines of one unit may belong to a node of another: then no unit can be scored by itself. Where any number of
        # justifications counts, nodes without parent line are one group for the limits, too.
        self._is_entangled = (run.limits.most is None and bool(run.links.without_parent)) or any(
            node_id is not None
            and (not node_id.startswith(":") or (line.query.level > 1 and line.query.short_id in gold.table.by_id))
            for line in run.links.responses
            for node_id in (_node_id_of(line),)
        )
        self._has_plain_units = not self._is_entangled and not has_several_files and len(run.lines) == 1

    def _refusal(self, change: Change) -> str | None:
        """Why the changed files could not be scored, as far as that can be known without scoring; None otherwise."""
        run, gone = self._run, change.responses
        for name, file in self.files.files.items() if change.places else ():
            if (name, file.first) in change.places:
                numbers = {number for of_file, number in change.places if of_file == name}
                added = change.texts if name == self.finding.file.name else ()
                if (reason := file.why_unreadable(numbers, added)) is not None:
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
        run, responses, unit_of = self._run, self._run.links.responses, self._run.gold.unit_of
        added_to = by_unit(run.gold, change.added).get(self._run_id, {})
        # Not their symmetric difference, for which all lines of `before` would be copied.
        others = (change.responses - before.responses) | (before.responses - change.responses)
        moved = chain(map(responses.__getitem__, others), change.added)
        reached: Iterable[str] = dict.fromkeys(unit_of(line.query.base_id) for line in moved)
        whole = self._edited(responses, change, change.added) if self._is_entangled else None
        if change.policy is not None or self._is_entangled:
            reached = self._every
        elif change.places:
            reached = dict.fromkeys((*reached, *self._of_several_files))
        is_plain = self._has_plain_units and change.policy is None  # other queries of a unit are as they were
        base_ids = {line.query.base_id for line in (*map(responses.__getitem__, change.responses), *change.added)}
        for unit_id in reached:
            if unit_id not in self._units:  # only other runs have lines of it
                continue
            known = self._units[unit_id]
            queries = [each.query for each in known.queries if not is_plain or each.query.base_id in base_ids]
            edited = whole
            if edited is None:
                of_unit = (run.lines[run_id].get(unit_id, {}) for run_id in run.lines)
                of_base = ((base_id, lines) for each in of_unit for base_id, lines in each.items())
                lines = [line for base_id, lines in of_base if not is_plain or base_id in base_ids for line in lines]
                if not is_plain:
                    lines.sort(key=operator.attrgetter("index"))
                edited = self._edited(lines, change, [*chain(*added_to.get(unit_id, {}).values())])
            found = self._scored(unit_id, queries, edited, change, is_ranked)
            again = {each.query.short_id: each for each in found.queries}
            yield unit_id, replace(found, queries=tuple(again.get(each.query.short_id, each) for each in known.queries))

    def _edited(self, before: Sequence[Response], change: Change, added: Sequence[Response]) -> Run:
        """Lines of some units after a change, of which `added` come to them, as a run.

        Raises InputError where the limits cannot be applied.
        """
        gone, run, gold = change.responses, self._run, self._run.gold
        removed = [line for line in before if line.index in gone]
        lines = [line for line in before if line.index not in gone] if removed else before
        links = Links(gold.table, run.links)
        # The first line to give an answer names the nodes of the lines that ask about it, some of which may stay.
        asking, giving = self.dependents.asking, self.dependents.giving
        leads = any(
            isinstance(each, Response) and each.index not in gone
            for line in removed
            if line.target in giving and giving[line.target][0] is line
            for each in asking.get(line.target, ())
        )
        if any(run.links.was_skipped(line.target) for line in removed):
            leads, gold = True, replace(gold, _queries={}, _values={})
        if added or self._has_several_files or leads:
            links.given.update((line.target, None) for line in removed)
            lines = self._linked_again(lines, change, added, links)
        if run.limits.most is None:
            self._check_limits(lines, change)
        links.nodes.update(_nodes_of(lines))
        return replace(run, gold=gold, links=links, lines=by_unit(gold, lines))

    def _linked_again(
        self, lines: Iterable[Response], change: Change, added: Sequence[Response], links: Links
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
                line,
            )
            for line in lines
        ]
        # Node ids keep added lines apart; without them a line may be there already, and is usually passed over.
        texts: set[str] = set()
        if added and not self._run.gold.table.edition.keeps_repeated_lines and not self.finding.has_nodes:
            texts = {line.text for *_, line in found if line.file == file.name}
        last = file.last + 1 - len(gone.get(file.name, ()))
        for new in added:
            for loaded, end in enumerate(file.ends if new.text not in texts else ()):
                found.append((end + size * loaded + new.index, last + new.number, new))
        linked, nodes = [], links.given
        for index, number, line in sorted(found, key=operator.itemgetter(0)) if added else found:
            query, node = line.query, line.node
            if (query.level == 1 or node is None) and (node_id := _node_id_of(line)) is not None:
                # At the second hop: the node of the first run line that gives the answer asked about, empty without.
                node = (query.full_id if query.level != 1 else nodes.get(query.short_id) or "") + node_id
            if len(query.slots) > 1 and nodes.get(line.target) is None:
                nodes[line.target] = node or ""
            if (index, number, node) != (line.index, line.number, line.node):
                line = Response(
                    index, number, line.text, query, line.run_id, line.confidence, node, line.follow_on, line.file,
                    line.docid, line.kept,
                )  # fmt: skip
            linked.append(line)
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

    def _scored(self, unit_id: str, queries: Sequence[Query], run: Run, change: Change, is_ranked: bool) -> UnitResult:
        """Score a unit, or queries of it. Raises InputError where scoring would have to stop before its tables."""
        gold, nodes = run.gold, Nodes(run.links.nodes, run.limits.most)
        if compares_values(gold.options.discipline):
            for assessment in chain.from_iterable(gold.assessed.get(query.base_id, ()) for query in queries):
                run.links.class_of_query(assessment.query)
        # Lines that keep their indexes meet the assessments that they met.
        met = self._units[unit_id] if not change.added and gold is self._run.gold else None
        found: UnitResult | None = None
        for run_id in self._run_ids:
            for query in () if found is None else found.queries:
                if query.unranked is not None:
                    raise query.unranked
            lines, before = run.lines.get(run_id, {}).get(unit_id, {}), met if run_id == self._run_id else None
            unit = Unit(unit_id, gold, queries, gold.hop_limits, run, lines, nodes, found, before)
            found = score_unit(unit, change.policy or self._policy, is_ranked)
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
        self._levels = dict.fromkeys([(SF, True, ALL_LEVELS), *(level for level, _ in self._columns)])
        self._tables = {(table, is_counted) for (table, is_counted, _), _ in self._columns}
        queries = scored.run.gold.table
        self._ranks_all_levels = queries.edition.ranks_all_levels
        self._entry_points = {
            ldc_id: list(dict.fromkeys(queries.by_id[ldc_id].expansions or ())) for ldc_id in queries.ldc_of.values()
        }
        self._sums = {unit.id: self._sums_of(unit) for unit in scored.result.units}
        self._total: Sequence[float] = (0.0,) * (len(self._columns) + len(self._levels))
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
                old, new = self._sums[unit_id], self._sums_of(result)
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
            for row in rows if (table, is_counted) in self._tables else ():
                values: tuple[float, ...] = (*row.scores, row.ground_truth > 0)
                if row.counts is not None:
                    values = (*values, row.counts.right, row.counts.answered, row.counts.ground_truth)
                for level in (row.level, ALL_LEVELS) if is_counted or self._ranks_all_levels else (row.level,):
                    if (key := (table, is_counted, level)) in self._levels:
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
            if entry_points and is_counted and (LDC_MAX, True) in self._tables:
                add(LDC_MAX, is_counted, representing(entry_points)[1])
            add(LDC_MEAN, is_counted, ldc_means([(unit.id, entry_points)]))
        if any(counted.values()):
            sums.setdefault((SF, True, ALL_LEVELS), ())
        values = [sums[level][place] if level in sums else 0.0 for level, place in self._columns]
        return [*values, *(level in sums for level in self._levels)]


def _why_unranked(unit: UnitResult) -> str | None:
    return next((str(query.unranked) for query in unit.queries if query.unranked is not None), None)
