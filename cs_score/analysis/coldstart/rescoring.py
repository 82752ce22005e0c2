"""Score a run again after changes to its files, unit by unit, as the scorer would score the changed files.

Only the units are scored again whose lines a change removes or adds. There are two exceptions: in some runs a node id
may name a query of another unit, so that all units are scored again; and if a unit has lines in several files, removing
a line of any of them changes line numbers, which decide between lines of equal confidence.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cs_score.analysis.coldstart.changes import Change, Editor
from cs_score.analysis.coldstart.removals import Removals
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.coldstart.file_columns import RUN_2017
from cs_score.coldstart.gold import Run, ScoringUnit, group_by_unit
from cs_score.coldstart.judging import compares_values, find_assessments
from cs_score.coldstart.limits import DiscardRules
from cs_score.coldstart.lines import Links, Response
from cs_score.coldstart.linking import NO_NODE
from cs_score.coldstart.queries import Query
from cs_score.coldstart.ranking import RunNodes
from cs_score.coldstart.result import QueryResult, UnitResult
from cs_score.coldstart.scorer import score_unit
from cs_score.problems.log import ProblemLog


class RescoredUnit(NamedTuple):
    """A unit that was scored again, and the changed run from whose lines it was scored."""

    unit: UnitResult
    run: Run


class Rescoring:
    """Scores the units of one run again after changes to its files. Its `editor` makes such changes."""

    def __init__(self, scored: AnalysedRun) -> None:
        """Find out which units a change may affect; `scored` is the run before any change."""
        run = scored.run
        self._scored = scored
        self._run = run
        self.editor = Editor(run, scored.run_id)
        self._unit_by_id = {unit.id: unit for unit in scored.result.units}
        self._unit_ids = self._unit_ids_in_scoring_order()
        # Average precision pools the nodes of the runs of a call: those scored before this run are scored again, too.
        self._run_ids = run.run_ids[: run.run_ids.index(scored.run_id) + 1]
        self._has_several_files = sum([len(file.ends) for file in self.editor.files.values()]) > 1
        self._units_of_several_files = self._find_units_of_several_files()
        self._are_units_entangled = self._may_share_nodes()
        # Then the queries of a unit can be scored again one by one.
        self._has_separate_queries = (
            not self._are_units_entangled and not self._has_several_files and len(run.lines_by_run_id) == 1
        )
        self._removals = Removals(scored, self.editor)

    def _unit_ids_in_scoring_order(self) -> list[str]:
        """Return the ids of all scored units, in the order in which the scorer scores them."""
        gold = self._run.gold
        unit_ids = dict.fromkeys([gold.unit_of(query.base_id) for query in gold.selected_queries()])
        unit_ids.update(dict.fromkeys(self._unit_by_id))
        return [unit_id for unit_id in unit_ids if unit_id in self._unit_by_id]

    def _find_units_of_several_files(self) -> list[str]:
        """Return the ids of the units that have lines in several files."""
        if not self._has_several_files:
            return []
        files_by_unit: dict[str, set[str]] = defaultdict(set)
        for line in self._run.links.responses:
            files_by_unit[self._run.gold.unit_of(line.query.base_id)].add(line.file)
        return [unit_id for unit_id, files in files_by_unit.items() if len(files) > 1]

    def _may_share_nodes(self) -> bool:
        """Return whether lines of one unit may belong to a node of another unit, so that all must be scored together.

        This is possible if a node id does not begin with a colon, or if a query file defines a query with the id of a
        follow-on query. If any number of justifications counts, all lines without a parent line form one group, too.
        """
        if self._run.limits.justifications_per_node is None and self._run.links.lines_without_parent:
            return True
        queries = self._run.gold.query_set.by_id
        for line in self._run.links.responses:
            node_id = _written_node_id(line)
            if node_id is None:
                continue
            if not node_id.startswith(":"):
                return True
            if line.query.level > 1 and line.query.short_id in queries:
                return True
        return False

    def rescore(
        self, change: Change, earlier: Change, unit_by_id: Mapping[str, UnitResult], *, is_ranked: bool
    ) -> Iterator[RescoredUnit]:
        """Yield each unit whose result differs from the one after an `earlier` change, which the change contains.

        `unit_by_id` has all units as they are after the earlier change. Nodes are ranked only if `is_ranked`. Raises
        InputError if the scorer would refuse the changed files.
        """
        reason = self.editor.why_refused(change)
        if reason is not None:
            raise InputError(reason)
        is_ranked = is_ranked or len(self._run_ids) > 1
        units = self._units_by_subtraction(change, earlier, is_ranked)
        if units is None:
            yield from self._score_changed_units(change, earlier, unit_by_id, is_ranked)
            return
        for unit in units:
            yield RescoredUnit(unit, self._run)

    def _score_changed_units(
        self, change: Change, earlier: Change, unit_by_id: Mapping[str, UnitResult], is_ranked: bool
    ) -> Iterator[RescoredUnit]:
        """Yield the units that a change may affect, scored from the changed lines.

        The arguments are as in `rescore`.
        """
        base_ids = self._changed_queries(change, earlier)
        base_ids_to_score = None  # all queries of the unit
        if self._has_separate_queries and change.policy is None:
            base_ids_to_score = base_ids
        run_of_all_units = None
        if self._are_units_entangled:
            run_of_all_units = self._change_run(self._run.links.responses, change, change.added, is_ranked)
        added_by_unit = self._added_lines_by_unit(change)
        for unit_id in self._affected_units(change, base_ids):
            if unit_id not in unit_by_id:  # only other runs of the call have lines of this unit
                continue
            changed_run = run_of_all_units
            if changed_run is None:
                lines = self._lines_of_unit(unit_id, base_ids_to_score)
                changed_run = self._change_run(lines, change, added_by_unit.get(unit_id, []), is_ranked)
            old_results = unit_by_id[unit_id].queries
            queries = [result.query for result in old_results]
            if base_ids_to_score is not None:
                queries = [query for query in queries if query.base_id in base_ids_to_score]
            unit = self._score_unit(unit_id, queries, changed_run, change, is_ranked)
            yield RescoredUnit(_with_unchanged_results(unit, old_results), changed_run)

    def _units_by_subtraction(self, change: Change, earlier: Change, is_ranked: bool) -> list[UnitResult] | None:
        """Return the changed units if the removed lines can be subtracted from their results; None otherwise.

        That takes much less time than scoring the units again.
        """
        if not self._has_separate_queries or self._run.limits.justifications_per_node is None or earlier.places:
            return None
        return self._removals.units_without(change, is_ranked=is_ranked)

    def _changed_queries(self, change: Change, earlier: Change) -> dict[str, None]:
        """Return the base ids of the queries whose lines one of two changes removes or adds, but not the other one."""
        # The operator ^ would copy all lines of `earlier`, which may be most lines of the run.
        indexes = (change.responses - earlier.responses) | (earlier.responses - change.responses)
        lines = [self._run.links.responses[index] for index in indexes]
        lines += change.added
        return dict.fromkeys([line.query.base_id for line in lines])

    def _affected_units(self, change: Change, base_ids: Iterable[str]) -> Iterable[str]:
        """Return the ids of the units that a change to the lines of these queries may affect."""
        if change.policy is not None or self._are_units_entangled:
            return self._unit_ids
        unit_ids = [self._run.gold.unit_of(base_id) for base_id in base_ids]
        if change.places:
            unit_ids += self._units_of_several_files
        return dict.fromkeys(unit_ids)

    def _added_lines_by_unit(self, change: Change) -> dict[str, list[Response]]:
        """Return the lines that a change adds to each unit, by its id; the lines of a query follow each other."""
        lines_by_unit: dict[str, list[Response]] = defaultdict(list)
        lines_of_run = group_by_unit(self._run.gold, change.added).get(self._scored.run_id, {})
        for unit_id, lines_by_query in lines_of_run.items():
            for lines in lines_by_query.values():
                lines_by_unit[unit_id] += lines
        return lines_by_unit

    def _lines_of_unit(self, unit_id: str, base_ids: Container[str] | None) -> list[Response]:
        """Return the lines of all runs in a unit, in load order.

        `base_ids` are the queries whose lines are wanted; None means all queries of the unit.
        """
        lines: list[Response] = []
        for units in self._run.lines_by_run_id.values():
            for base_id, lines_of_query in units.get(unit_id, {}).items():
                if base_ids is None or base_id in base_ids:
                    lines += lines_of_query
        if base_ids is None:
            lines.sort(key=operator.attrgetter("index"))
        return lines

    # -- The lines after a change

    def _change_run(
        self, lines: Sequence[Response], change: Change, added_lines: Sequence[Response], is_ranked: bool
    ) -> Run:
        """Return a run that has the lines of some units as they are after a change.

        `lines` are all lines of these units before the change, `added_lines` the lines that the change adds to them.
        Lines are linked to nodes again if the change makes that necessary. Raises InputError if the limits on
        justifications cannot be applied.
        """
        if self._only_appends(change):
            return self._append_lines(lines, added_lines, is_ranked)
        run = self._run
        gold = run.gold
        removed_lines = [line for line in lines if line.index in change.responses]
        remaining_lines = [line for line in lines if line.index not in change.responses]
        links = Links(gold.query_set, run.links)
        is_linked_anew = any(line.target in self.editor.follow_on_lines.answering for line in removed_lines)
        if any(run.links.was_skipped(line.target) for line in removed_lines):
            is_linked_anew = True
            gold = gold.with_fields()
        if added_lines or self._has_several_files:
            is_linked_anew = True
            remaining_lines = self._renumber(remaining_lines, change, added_lines)
        if is_linked_anew:
            for line in removed_lines:
                links.node_by_follow_on[line.target] = None
            remaining_lines = _with_nodes(remaining_lines, links.node_by_follow_on)
        if run.limits.justifications_per_node is None:
            self._check_limits(remaining_lines, change)
        if is_ranked:
            links.lines_by_node.update(_lines_by_node(remaining_lines))
        return replace(run, gold=gold, links=links, lines_by_run_id=group_by_unit(gold, remaining_lines))

    def _only_appends(self, change: Change) -> bool:
        """Return whether a change only adds lines after all others, so that these keep indexes, numbers and nodes."""
        if (
            change.places
            or not change.added
            or self._has_several_files
            or self._run.limits.justifications_per_node is None
        ):
            return False
        return list(self.editor.extended_file.ends) == [len(self._run.links.responses)]

    def _append_lines(self, lines: Sequence[Response], added_lines: Sequence[Response], is_ranked: bool) -> Run:
        """Return a run with the lines of some units and added lines after them; only the added lines are linked."""
        links = Links(self._run.gold.query_set, self._run.links)
        new_lines = self._renumber_added(added_lines, lines, removed_count=0)
        for line in new_lines:
            parent_node = self._run.links.node_by_follow_on.get(line.query.short_id)
            if parent_node is not None:
                links.node_by_follow_on[line.query.short_id] = parent_node
        all_lines = [*lines, *_with_nodes(new_lines, links.node_by_follow_on)]
        if is_ranked:
            links.lines_by_node.update(_lines_by_node(all_lines))
        return replace(self._run, links=links, lines_by_run_id=group_by_unit(self._run.gold, all_lines))

    def _renumber(self, lines: Iterable[Response], change: Change, added_lines: Sequence[Response]) -> list[Response]:
        """Return remaining and added lines in load order, with the indexes and numbers they have in the changed files.

        If the run has one file, lines keep their numbers, since only the order matters. With several files the numbers
        also decide between lines of different files: each is reduced by the number of lines removed before it.
        """
        removed_numbers_by_file: dict[str, list[int]] = defaultdict(list)
        if self._has_several_files:
            for place in self.editor.places_removed_by(change):
                removed_numbers_by_file[place.file].append(place.line)
        ends = self.editor.extended_file.ends
        renumbered: list[Response] = []
        for line in lines:
            # Added lines come at the end of one file, before the lines of the files that are loaded later.
            index = line.index + len(change.added) * bisect_right(ends, line.index)
            number = line.number - bisect_left(removed_numbers_by_file.get(line.file, ()), line.number)
            if index != line.index or number != line.number:
                line = replace(line, index=index, number=number)
            renumbered.append(line)
        removed_count = len(removed_numbers_by_file.get(self.editor.extended_file.name, ()))
        renumbered += self._renumber_added(added_lines, renumbered, removed_count, len(change.added))
        return sorted(renumbered, key=operator.attrgetter("index"))

    def _renumber_added(
        self, added_lines: Sequence[Response], lines: Iterable[Response], removed_count: int, added_per_load: int = 0
    ) -> list[Response]:
        """Return added lines with their indexes and numbers, once for each time that their file is loaded.

        `lines` are the other lines, and `removed_count` is the number of lines removed from the file. `added_per_load`
        is the number of lines that one loading of the file adds in all units; later loadings begin so much later.
        """
        file = self.editor.extended_file
        texts_in_file: set[str] = set()
        # Without node ids an added line may repeat a line of the file; then most editions do not read it.
        if added_lines and not self._run.gold.query_set.edition.keeps_repeated_lines and not self.editor.has_nodes:
            texts_in_file = {line.text for line in lines if line.file == file.name}
        first_number = file.last_number + 1 - removed_count
        new_lines: list[Response] = []
        for line in added_lines:
            if line.text in texts_in_file:
                continue
            for earlier_loads, end in enumerate(file.ends):
                index = end + added_per_load * earlier_loads + line.index
                new_lines.append(replace(line, index=index, number=first_number + line.number))
        return new_lines

    def _check_limits(self, lines: Sequence[Response], change: Change) -> None:
        """Raise InputError if the limits on justifications cannot be applied to some lines (rule single-values).

        The limits are applied each time that a file is loaded, to all lines loaded by then. They depend on the hops
        that these answer: for every hop that `lines` lack, the first remaining line of the run is added.
        """
        rules = DiscardRules(self._run.limits, ProblemLog())
        first_by_level: dict[int, Response] = {}
        for line in self._run.links.responses:
            if line.index not in change.responses:
                first_by_level.setdefault(line.query.level, line)
        ends_with_additions = self.editor.extended_file.ends if change.added else ()
        ends: list[int] = []
        for file in self.editor.files.values():
            if file.schema is RUN_2017:
                ends += file.ends
        for end in sorted(ends):
            new_end = end + len(change.added) * bisect_right(ends_with_additions, end)
            loaded_lines = [line for line in lines if line.index < new_end]
            levels = {line.query.level for line in loaded_lines}
            other_levels = [line for level, line in first_by_level.items() if level not in levels and line.index < end]
            # Only an error that this raises is of interest.
            rules.apply([*loaded_lines, *other_levels], _lines_by_node(loaded_lines), is_in_order=False)

    # -- Scoring

    def _score_unit(
        self, unit_id: str, queries: Sequence[Query], run: Run, change: Change, is_ranked: bool
    ) -> UnitResult:
        """Return a unit with some of its queries scored from the lines of a changed run, under the change's policy.

        Earlier runs of the same call are scored again first, since the nodes of all runs are ranked together. Raises
        InputError if the scorer would have to stop before it has tables.
        """
        gold = run.gold
        if compares_values(gold.options.discipline):
            _require_known_classes(queries, run)
        nodes = RunNodes(run.links.lines_by_node, run.limits.justifications_per_node)
        matched_unit = self._unit_with_assessments(unit_id, queries, run, change)
        policy = change.policy or self._scored.policy
        result: UnitResult | None = None
        for run_id in self._run_ids:
            if result is not None:
                _raise_if_unranked(result)
            unit = ScoringUnit(
                id=unit_id,
                gold=gold,
                queries=queries,
                hop_limits=gold.hop_limits,
                run=run,
                lines_by_query=run.lines_by_run_id.get(run_id, {}).get(unit_id, {}),
                nodes=nodes,
                other_run=result,
                earlier_result=matched_unit if run_id == self._run_ids[-1] else None,
            )
            result = score_unit(unit, policy, is_ranked)
            _raise_if_uncounted(result)
        assert result is not None
        return result

    def _unit_with_assessments(
        self, unit_id: str, queries: Sequence[Query], run: Run, change: Change
    ) -> UnitResult | None:
        """Return the unit with the assessment of each line, so that scoring need not match lines to assessments.

        Lines that keep their indexes keep their assessments; only added lines are matched here. Returns None if all
        lines have to be matched again.
        """
        if run.gold is not self._run.gold:
            return None
        unit = self._unit_by_id[unit_id]
        if not change.added:
            return unit
        if not self._only_appends(change):
            return None
        problems = ProblemLog()
        assessment_by_index = dict(unit.assessment_by_index)
        lines_by_query = run.lines_by_run_id.get(self._scored.run_id, {}).get(unit_id, {})
        for base_id in dict.fromkeys([query.base_id for query in queries]):
            lines = lines_by_query.get(base_id, ())
            new_lines = [line for line in lines if line.index >= len(self._run.links.responses)]
            if new_lines:
                judgement_by_value = run.gold.judgements_by_value(base_id, run.links)
                discipline = run.gold.options.discipline
                assessment_by_index |= find_assessments(new_lines, judgement_by_value, run.links, discipline, problems)
        return UnitResult(unit_id, assessment_by_index, {}, (), problems)


def _with_unchanged_results(unit: UnitResult, old_results: Iterable[QueryResult]) -> UnitResult:
    """Return a unit with the results of all its queries; queries that were not scored again keep their old results."""
    new_result_by_query = {result.query.short_id: result for result in unit.queries}
    results = [new_result_by_query.get(result.query.short_id, result) for result in old_results]
    return replace(unit, queries=tuple(results))


def _require_known_classes(queries: Iterable[Query], run: Run) -> None:
    """Raise InputError if the pool has answers to a follow-on query whose class is not known.

    Disciplines that compare the values of answers need the class.
    """
    for query in queries:
        for assessment in run.gold.assessments_by_query.get(query.base_id, ()):
            run.links.class_of_query(assessment.query)  # raises if there is no class


def _raise_if_unranked(unit: UnitResult) -> None:
    """Raise the InputError of the first query of a unit that could not be ranked; do nothing if all were ranked."""
    for query in unit.queries:
        if query.ranking_error is not None:
            raise query.ranking_error


def _raise_if_uncounted(unit: UnitResult) -> None:
    """Raise the InputError of a unit that could not be matched, or of its first query that could not be counted."""
    if unit.matching_error is not None:
        raise unit.matching_error
    for query in unit.queries:
        if query.counting_error is not None:
            raise query.counting_error


def _written_node_id(line: Response) -> str | None:
    """Return the node id that the file has in column 9 of a line; None if the line has none."""
    columns = line.text.split("\t", 9)
    if len(columns) < 9 or columns[8] == NO_NODE:
        return None
    return columns[8]


def _with_nodes(lines: Iterable[Response], node_by_follow_on: dict[str, str | None]) -> list[Response]:
    """Return lines, which are in load order, with the FQ node ids that linking the changed files would give them.

    The FQ node id of a line of the second hop begins with that of its parent, the first line that gives the answer its
    query asks about: `CS17_ENG_0001:E1` is the prefix of `CS17_ENG_0001:E1:E2`. `node_by_follow_on` has the parent's
    node by the short id of the follow-on query, and the lines' own nodes are added to it. An empty text is a parent
    without node; a query without parent so far has None or no entry.
    """
    linked_lines: list[Response] = []
    for line in lines:
        query = line.query
        node = line.node
        if query.level == 1 or node is None:
            node_id = _written_node_id(line)
            if node_id is not None:
                prefix = query.full_id if query.level != 1 else node_by_follow_on.get(query.short_id)
                node = (prefix or "") + node_id
        if len(query.slots) > 1 and node_by_follow_on.get(line.target) is None:
            node_by_follow_on[line.target] = node or ""
        linked_lines.append(line if node == line.node else replace(line, node=node))
    return linked_lines


def _lines_by_node(lines: Iterable[Response]) -> dict[str, list[Response]]:
    """Return the lines of each node, by its FQ node id."""
    lines_by_node: dict[str, list[Response]] = {}
    for line in lines:
        if line.node is not None:
            lines_by_node.setdefault(line.node, []).append(line)
    return lines_by_node
