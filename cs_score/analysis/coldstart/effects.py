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
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from cs_score.analysis.coldstart.changes import Change, Editor
from cs_score.analysis.coldstart.removals import Removals
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.gold import Run, Unit, by_unit
from cs_score.coldstart.judging import compares_values, match
from cs_score.coldstart.layouts import RUN_2017
from cs_score.coldstart.limits import DiscardRules
from cs_score.coldstart.lines import Links, Response
from cs_score.coldstart.linking import NO_NODE
from cs_score.coldstart.queries import Query
from cs_score.coldstart.ranking import Nodes, is_in_ranked_node
from cs_score.coldstart.result import ALL_LEVELS, NO_RANKED_NODE, ScoreRow, UnitResult, ldc_means, representing
from cs_score.coldstart.scorer import score_unit
from cs_score.coldstart.unit_statistics import RowSums
from cs_score.measures.registry import LDC_MAX, LDC_MEAN, SF, Measure, divide, formula_of, sums_of
from cs_score.problems.log import ProblemLog


class Rescoring:
    """Scores a run again after changes, unit by unit."""

    def __init__(self, scored: Scored) -> None:
        run, gold = scored.run, scored.run.gold
        self._run, self._scored, self.editor = run, scored, Editor(run, scored.run_id)
        self._units = {unit.id: unit for unit in scored.result.units}
        every = dict.fromkeys(chain((gold.unit_of(each.base_id) for each in gold.selected()), self._units))
        self._every = [unit_id for unit_id in every if unit_id in self._units]
        # The runs that are scored before this one, and this one: average precision pools their nodes.
        self._run_ids = run.run_ids[: run.run_ids.index(scored.run_id) + 1]
        files_of_unit: dict[str, set[str]] = defaultdict(set)
        self._has_several_files = sum(len(file.ends) for file in self.editor.files.values()) > 1
        for line in run.links.responses if self._has_several_files else ():
            files_of_unit[gold.unit_of(line.query.base_id)].add(line.file)
        self._of_several_files = [unit_id for unit_id, files in files_of_unit.items() if len(files) > 1]
        # Lines of one unit may belong to a node of another: then no unit can be scored by itself. Where any number of
        # justifications counts, nodes without parent line are one group for the limits, too.
        self._is_entangled = (run.limits.most is None and bool(run.links.without_parent)) or any(
            node_id is not None
            and (not node_id.startswith(":") or (line.query.level > 1 and line.query.short_id in gold.table.by_id))
            for line in run.links.responses
            for node_id in (_node_id_of(line),)
        )
        self._removals = Removals(scored, self.editor)
        self._has_plain_units = not self._is_entangled and not self._has_several_files and len(run.lines) == 1

    def rescored(
        self, change: Change, before: Change, units: Mapping[str, UnitResult], *, is_ranked: bool
    ) -> Iterator[tuple[UnitResult, Run]]:
        """Yield the units that are not as they were after `before`, a part of the change, with their lines.

        `units` are all units as they were after `before`, by id. Nothing is ranked where no score of rankings is
        wanted. Raises InputError where the changed files could not be scored.
        """
        reason = self.editor.refusal(change)
        if reason is not None:
            raise InputError(reason)
        is_ranked = is_ranked or len(self._run_ids) > 1
        if self._has_plain_units and self._run.limits.most is not None and not before.places:
            changed = self._removals.units_without(change, is_ranked=is_ranked)
            if changed is not None:
                for unit in changed:
                    yield unit, self._run
                return
        base_ids = self._moved_queries(change, before)
        # Other queries of a unit are as they were where nothing but their lines decides on them.
        is_plain = self._has_plain_units and change.policy is None
        whole = None
        if self._is_entangled:
            whole = self._edited(self._run.links.responses, change, change.added, is_ranked)
        added_by_unit = by_unit(self._run.gold, change.added).get(self._scored.run_id, {})
        for unit_id in self._reached_units(change, base_ids):
            if unit_id not in units:  # only other runs have lines of it
                continue
            edited = whole
            if edited is None:
                lines = self._lines_of_unit(unit_id, base_ids if is_plain else None)
                added = list(chain.from_iterable(added_by_unit.get(unit_id, {}).values()))
                edited = self._edited(lines, change, added, is_ranked)
            results = units[unit_id].queries
            queries = [each.query for each in results if not is_plain or each.query.base_id in base_ids]
            scored_again = self._scored_again(unit_id, queries, edited, change, is_ranked)
            result_by_query = {each.query.short_id: each for each in scored_again.queries}
            merged = [result_by_query.get(each.query.short_id, each) for each in results]
            yield replace(scored_again, queries=tuple(merged)), edited

    def _moved_queries(self, change: Change, before: Change) -> dict[str, None]:
        """Return the base ids of the queries of which lines go or come between two changes."""
        # Not their symmetric difference, for which all lines of `before` would be copied.
        indexes = (change.responses - before.responses) | (before.responses - change.responses)
        removed = [self._run.links.responses[index] for index in indexes]
        return dict.fromkeys(line.query.base_id for line in (*removed, *change.added))

    def _reached_units(self, change: Change, base_ids: Iterable[str]) -> Iterable[str]:
        """Return the ids of the units that a change of these queries reaches."""
        if change.policy is not None or self._is_entangled:
            return self._every
        unit_ids = [self._run.gold.unit_of(base_id) for base_id in base_ids]
        if change.places:
            unit_ids += self._of_several_files
        return dict.fromkeys(unit_ids)

    def _lines_of_unit(self, unit_id: str, base_ids: Container[str] | None) -> list[Response]:
        """Return the lines of a unit in load order, or those of some of its queries."""
        lines: list[Response] = []
        for units in self._run.lines.values():
            for base_id, lines_of_query in units.get(unit_id, {}).items():
                if base_ids is None or base_id in base_ids:
                    lines += lines_of_query
        if base_ids is None:
            lines.sort(key=operator.attrgetter("index"))
        return lines

    def _edited(self, before: Sequence[Response], change: Change, added: Sequence[Response], is_ranked: bool) -> Run:
        """Return lines of some units after a change as a run; `added` are the lines that come to these units.

        Raises InputError where the limits cannot be applied.
        """
        if self._comes_last(change):
            return self._appended(before, added, is_ranked)
        run = self._run
        gold = run.gold
        lines = [line for line in before if line.index not in change.responses]
        removed = [line for line in before if line.index in change.responses]
        links = Links(gold.table, run.links)
        is_linked_anew = any(line.target in self.editor.asking for line in removed)
        if any(run.links.was_skipped(line.target) for line in removed):
            is_linked_anew = True
            gold = gold.changed()
        if added or self._has_several_files:
            is_linked_anew = True
            lines = self._renumbered(lines, change, added)
        if is_linked_anew:
            links.node_by_follow_on.update((line.target, None) for line in removed)
            lines = _with_nodes(lines, links.node_by_follow_on)
        if run.limits.most is None:
            self._check_limits(lines, change)
        if is_ranked:
            links.nodes.update(_nodes_of(lines))
        return replace(run, gold=gold, links=links, lines=by_unit(gold, lines))

    def _comes_last(self, change: Change) -> bool:
        """Return whether a change only adds lines behind all others, so that these keep indexes, numbers and nodes."""
        if change.places or not change.added or self._has_several_files or self._run.limits.most is None:
            return False
        return list(self.editor.file.ends) == [len(self._run.links.responses)]

    def _appended(self, before: Sequence[Response], added: Sequence[Response], is_ranked: bool) -> Run:
        """Return lines of some units as a run, with others behind them: only these are numbered and linked."""
        links = Links(self._run.gold.table, self._run.links)
        new = self._renumbered_additions(added, before, 0)
        for line in new:
            parent_node = self._run.links.node_by_follow_on.get(line.query.short_id)
            if parent_node is not None:
                links.node_by_follow_on[line.query.short_id] = parent_node
        lines = [*before, *_with_nodes(new, links.node_by_follow_on)]
        if is_ranked:
            links.nodes.update(_nodes_of(lines))
        return replace(self._run, links=links, lines=by_unit(self._run.gold, lines))

    def _renumbered(self, lines: Iterable[Response], change: Change, added: Sequence[Response]) -> list[Response]:
        """Return lines and added ones in load order, with the indexes and numbers that they have in the changed files.

        Numbers are those without the lines that go before in the same file: they decide ties between files.
        """
        gone_by_file: dict[str, list[int]] = defaultdict(list)
        if self._has_several_files:
            for place in self.editor.removed(change):
                gone_by_file[place.file].append(place.line)
        renumbered = []
        for line in lines:
            # The lines that come stand at the end of one file, before those of files that are loaded later.
            index = line.index + len(change.added) * bisect_right(self.editor.file.ends, line.index)
            number = line.number - bisect_left(gone_by_file.get(line.file, ()), line.number)
            if index != line.index or number != line.number:
                line = replace(line, index=index, number=number)
            renumbered.append(line)
        gone = len(gone_by_file.get(self.editor.file.name, ()))
        renumbered += self._renumbered_additions(added, renumbered, gone, len(change.added))
        return sorted(renumbered, key=operator.attrgetter("index"))

    def _renumbered_additions(
        self, added: Sequence[Response], lines: Iterable[Response], gone: int, size: int = 0
    ) -> list[Response]:
        """Return added lines as they are loaded: once for each time that their file is, `size` lines at a time.

        `lines` are those of the files without so many lines of the same file, which are `gone`.
        """
        file = self.editor.file
        # Node ids keep added lines apart; without them a line may be there already, and is usually passed over.
        texts: set[str] = set()
        if added and not self._run.gold.table.edition.keeps_repeated_lines and not self.editor.has_nodes:
            texts = {line.text for line in lines if line.file == file.name}
        last = file.last + 1 - gone
        new = []
        for line in added:
            if line.text in texts:
                continue
            for times_loaded, end in enumerate(file.ends):
                index = end + size * times_loaded + line.index
                new.append(replace(line, index=index, number=last + line.number))
        return new

    def _check_limits(self, lines: Sequence[Response], change: Change) -> None:
        """Raises InputError where the limits on justifications cannot be applied (rule single-values).

        They look at all levels there are: the first line that is left of each other level stands for it.
        """
        rules, gone = DiscardRules(self._run.limits, ProblemLog()), change.responses
        of_level: dict[int, Response] = {}
        for line in self._run.links.responses:
            if line.index not in gone:
                of_level.setdefault(line.query.level, line)
        ends_with_added = self.editor.file.ends if change.added else ()
        ends = [end for file in self.editor.files.values() if file.schema is RUN_2017 for end in file.ends]
        for end in sorted(ends):
            limit = end + len(change.added) * bisect_right(ends_with_added, end)
            so_far = [line for line in lines if line.index < limit]
            levels = {line.query.level for line in so_far}
            elsewhere = [line for level, line in of_level.items() if level not in levels and line.index < end]
            rules.apply([*so_far, *elsewhere], _nodes_of(so_far), is_in_order=False)

    def _scored_again(
        self, unit_id: str, queries: Sequence[Query], run: Run, change: Change, is_ranked: bool
    ) -> UnitResult:
        """Score a unit, or queries of it. Raises InputError where scoring would have to stop before its tables."""
        gold, nodes = run.gold, Nodes(run.links.nodes, run.limits.most)
        if compares_values(gold.options.discipline):
            for assessment in chain.from_iterable(gold.assessed.get(query.base_id, ()) for query in queries):
                run.links.class_of_query(assessment.query)
        met = self._met_before(unit_id, queries, run, change)
        found: UnitResult | None = None
        for run_id in self._run_ids:
            for result in () if found is None else found.queries:
                if result.unranked is not None:
                    raise result.unranked
            lines, before = run.lines.get(run_id, {}).get(unit_id, {}), met if run_id == self._run_ids[-1] else None
            unit = Unit(unit_id, gold, queries, gold.hop_limits, run, lines, nodes, found, before)
            found = score_unit(unit, change.policy or self._scored.policy, is_ranked)
            for stop in (found.unmatched, *(query.uncounted for query in found.queries)):
                if stop is not None:
                    raise stop
        assert found is not None
        return found

    def _met_before(self, unit_id: str, queries: Sequence[Query], run: Run, change: Change) -> UnitResult | None:
        """Return a unit with the assessments that its lines meet; None where they are to be matched anew.

        Lines that keep their indexes meet the assessments that they met.
        """
        if run.gold is not self._run.gold:
            return None
        known = self._units[unit_id]
        if not change.added:
            return known
        if not self._comes_last(change):
            return None
        problems = ProblemLog()
        matched = dict(known.matched)
        discipline = run.gold.options.discipline
        lines_by_base = run.lines.get(self._scored.run_id, {}).get(unit_id, {})
        for base_id in dict.fromkeys(query.base_id for query in queries):
            new = [line for line in lines_by_base.get(base_id, ()) if line.index >= len(self._run.links.responses)]
            if not new:
                continue
            by_value = run.gold.values_of(base_id, run.links)
            matched |= match(new, by_value, run.links, discipline, problems)
        return UnitResult(unit_id, matched, {}, (), problems)


def _node_id_of(line: Response) -> str | None:
    """The node id of a line as its file has it; None where it has none."""
    columns = line.text.split("\t", 9)
    return columns[8] if len(columns) > 8 and columns[8] != NO_NODE else None


def _with_nodes(lines: Iterable[Response], given: dict[str, str | None]) -> list[Response]:
    """Lines in load order with their nodes; those of the answers that queries ask about stand in `given` then."""
    linked = []
    for line in lines:
        query, node = line.query, line.node
        if (query.level == 1 or node is None) and (node_id := _node_id_of(line)) is not None:
            # At the second hop: the node of the first run line that gives the answer asked about, empty without.
            node = (query.full_id if query.level != 1 else given.get(query.short_id) or "") + node_id
        if len(query.slots) > 1 and given.get(line.target) is None:
            given[line.target] = node or ""
        linked.append(line if node == line.node else replace(line, node=node))
    return linked


def _nodes_of(lines: Iterable[Response]) -> dict[str, list[Response]]:
    nodes: dict[str, list[Response]] = {}
    for line in lines:
        if line.node is not None:
            nodes.setdefault(line.node, []).append(line)
    return nodes


# ---- Sums over units


class Effect(Record):
    """The scores after a change and their differences to those before, by measure.

    They are None where the scorer would not give a score, and `reason` says why.
    """

    differences: Mapping[str, float | None]
    reason: str | None = None
    scores: Mapping[str, float | None] = {}


_ROWS_OF_SF: Final = f"{SF}:{ALL_LEVELS}:row"


class Effects:
    """What changes of one run would make of its scores, from the sums of the units that change and those that do not.

    An effect is the score of the changed files minus the score of the run, each as the scorer would give it.
    """

    def __init__(self, scored: Scored, measures: Sequence[Measure], rescoring: Rescoring | None = None) -> None:
        """`measures`: those that effects are on, which the run must have scores of; the first is asked about."""
        self._scored, self._measures, self._formula = scored, tuple(measures), formula_of(measures)
        self._rescoring = rescoring or Rescoring(scored)
        self.editor = self._rescoring.editor
        self._is_ranked = any(not each.average for each in measures)
        # Behind the sums of the measures stands how many rows there are of what each is made of, and of SF.
        self._rows_of = [f"{each.table}:{each.level}:{'row' if each.average else 'ranking'}" for each in measures]
        self._row_sums = RowSums(dict.fromkeys((*sums_of(measures), *self._rows_of, _ROWS_OF_SF)))
        queries = scored.run.gold.table
        self._ranks_all_levels = queries.edition.ranks_all_levels
        self._entry_points = {
            ldc_id: list(dict.fromkeys(queries.by_id[ldc_id].expansions or ())) for ldc_id in queries.ldc_of.values()
        }
        self._before, self._units = Change(), {unit.id: unit for unit in scored.result.units}
        self._sums = {unit.id: self._sums_of(unit, scored.run) for unit in scored.result.units}
        # Last stands the number of ranked nodes, without which a run has no average precision.
        self._total: Sequence[float] = [0.0] * (len(self._row_sums.columns) + 1)
        for values in self._sums.values():
            self._total = list(map(operator.add, self._total, values))
        self._unranked: dict[str, str] = {}
        for unit in scored.result.units:
            self._unranked |= _why_unranked(unit)
        self.base, _ = self._combined(self._total, self._unranked)
        """The scores without any change."""

    def on(self, measures: Sequence[Measure]) -> Effects:
        """Effects on other measures."""
        return self if self._measures == tuple(measures) else Effects(self._scored, measures, self._rescoring)

    def of_first_measure(self) -> Effects:
        """Effects on the measure that is asked about alone, which take less time."""
        return self.on(self._measures[:1])

    def of(self, change: Change, *, stays: bool = False) -> Effect:
        """The effect of a change. If it `stays`, all later ones contain it, unless it was refused."""
        total, unranked = self._total, dict(self._unranked)
        moved, sums = dict[str, UnitResult](), dict[str, Sequence[float]]()
        try:
            again = self._rescoring.rescored(change, self._before, self._units, is_ranked=self._is_ranked)
            for unit, run in again:
                moved[unit.id], sums[unit.id] = unit, self._sums_of(unit, run)
                total = [sum_ + new - old for sum_, new, old in zip(total, sums[unit.id], self._sums[unit.id])]
                unranked.pop(unit.id, None)
                unranked |= _why_unranked(unit)
        except InputError as refusal:
            nothing = dict.fromkeys(self.base)
            return Effect(nothing, str(refusal), nothing)
        if stays:
            self._before, self._total, self._unranked = change, total, unranked
            self._units |= moved
            self._sums |= sums
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
        rows = dict(zip(self._row_sums.columns, total))
        if self._entry_points and not rows[_ROWS_OF_SF]:
            return dict.fromkeys(map(str, self._measures)), "nothing to score: no row would be left"
        scores: list[float | None] = [*self._formula(total, divide)]
        reason = None
        for at, each in enumerate(self._measures):
            if unranked and not each.average:
                scores[at], reason = None, next(iter(unranked.values()))
            elif not total[-1] and not each.average:
                scores[at] = None
                reason = reason or NO_RANKED_NODE
            elif not rows[self._rows_of[at]]:
                scores[at] = None
                reason = reason or f"there would be no row of hop {each.level}"
        return dict(zip(map(str, self._measures), scores)), reason

    def _sums_of(self, unit: UnitResult, run: Run) -> Sequence[float]:
        """What a unit adds to the sums; it was scored from the lines of `run`.

        LDC-MAX takes the rows of the entry point with the highest F1, LDC-MEAN the means over the entry points that
        have a row (rules ldc-max, ldc-mean).
        """
        sums = [0.0] * len(self._row_sums.columns)
        queries = sorted(unit.queries, key=lambda query: query.query.short_id)
        for is_counted in (True, False) if self._is_ranked else (True,):
            with_total = is_counted or self._ranks_all_levels
            rows_of = {each.query.short_id: each.rows if is_counted else each.ranked_rows for each in queries}
            self._row_sums.add(sums, SF, chain.from_iterable(rows_of.values()), is_counted, with_total)
            entry_points: list[tuple[str, Sequence[ScoreRow]]] = [
                (name, rows_of[name]) for name in self._entry_points.get(unit.id, ()) if rows_of.get(name)
            ]
            if entry_points and is_counted:
                self._row_sums.add(sums, LDC_MAX, representing(entry_points)[1], is_counted, with_total)
            self._row_sums.add(sums, LDC_MEAN, ldc_means([(unit.id, entry_points)]), is_counted, with_total)
        return [*sums, self._ranked_nodes(unit, run)]

    def _ranked_nodes(self, unit: UnitResult, run: Run) -> int:
        """Return a number that is 0 where nothing of the run is ranked in the unit: its ranked nodes.

        Where several runs are scored in a call the rankings hold the nodes of all: then it is that of ranked lines.
        """
        if len(self._scored.run.run_ids) == 1:
            rankings = [ranking for query in unit.queries for ranking in query.rankings]
            return sum(len(ranking.nodes) for ranking in rankings if ranking.level == ALL_LEVELS)
        query_ids = {query.query.full_id for query in unit.queries}
        lines = chain.from_iterable(run.lines.get(self._scored.run_id, {}).get(unit.id, {}).values())
        return sum(is_in_ranked_node(line, query_ids) for line in lines)


def _why_unranked(unit: UnitResult) -> dict[str, str]:
    """Why a unit has no rankings, by its id; empty where it has."""
    reasons = [str(query.unranked) for query in unit.queries if query.unranked is not None]
    return {unit.id: reasons[0]} if reasons else {}
