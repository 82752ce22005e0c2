"""Score a run again after changes to its files, unit by unit, as the scorer would score the changed files. A unit is an
LDC query with all its entry points, or a query of its own. A node has the lines of the run that are about the same
entity.

Only the units are scored again whose lines a change removes or adds. There are two exceptions: in some runs a node id
may name a query of another unit, so that all units are scored again; and if a unit has lines in several files, removing
a line of any of them changes line numbers, which decide between lines of equal confidence.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from cs_score.analysis.coldstart.changes import Change, Editor
from cs_score.analysis.coldstart.removals import Removals
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.coldstart.file_columns import RUN_2017
from cs_score.coldstart.gold import ColdStartGold, Run, ScoringUnit, group_by_run_and_unit
from cs_score.coldstart.judging import compares_values, find_assessments
from cs_score.coldstart.limits import DiscardRules
from cs_score.coldstart.lines import Links, Response
from cs_score.coldstart.linking import NO_NODE
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import Query
from cs_score.coldstart.ranking import RunNodes
from cs_score.coldstart.result import QueryResult, UnitResult
from cs_score.coldstart.scorer import score_unit
from cs_score.problems.log import ProblemLog


class RescoredUnit(NamedTuple):
    """A unit that was scored again, and the changed run from whose lines it was scored."""

    unit: UnitResult
    run: Run


class _ScoringRequest(NamedTuple):
    """A request to score units again after a `change` to the files.

    `query_ids` are the short ids of the queries that are scored again; None means all queries of the affected units.
    `added_by_unit` has the added lines by the id of their unit. Nodes are ranked only if `is_ranked`.
    """

    change: Change
    query_ids: Container[str] | None
    added_by_unit: Mapping[str, Sequence[Response]]
    is_ranked: bool


class Rescoring:
    """Scores the units of one run again after changes to its files. A change has the lines to remove from the files of
    the run and the lines to add; the `editor` makes such changes.
    """

    def __init__(self, scored: AnalysedRun) -> None:
        """Take the scored run before any change, from which all changes start."""
        self._scored = scored
        self._run = scored.run
        self.editor = Editor(scored.run, scored.run_id)
        self._removals = Removals(scored, self.editor)
        self._unit_by_id = {unit.id: unit for unit in scored.result.units}

    @cached_property
    def _unit_ids(self) -> list[str]:
        """The ids of all scored units, in the order in which the scorer scores them: `["CS14_0001", "CS14_0002"]`."""
        gold = self._run.gold
        unit_ids = [gold.unit_of(query.base_id) for query in gold.selected_queries()]
        unit_ids += self._unit_by_id  # units without a selected query come last
        return [unit_id for unit_id in dict.fromkeys(unit_ids) if unit_id in self._unit_by_id]

    @cached_property
    def _run_ids_up_to_this(self) -> list[str]:
        """The ids of the runs of the call that are scored before this run, followed by the id of this run.

        A call may score several runs together. Average precision pools the nodes of all runs of a call, so the earlier
        runs have to be scored again as well.
        """
        run_ids = self._run.run_ids
        return run_ids[: run_ids.index(self._scored.run_id) + 1]

    @cached_property
    def _has_several_files(self) -> bool:
        """Whether the run was loaded from several files, or several times from one file."""
        # A file has a count of loaded lines for each time that it was loaded.
        load_count = sum([len(file.loaded_line_counts) for file in self.editor.files.values()])
        return load_count > 1

    @cached_property
    def _units_of_several_files(self) -> list[str]:
        """The ids of the units that have lines in several files: `["CS14_0001"]`."""
        if not self._has_several_files:
            return []
        files_by_unit: dict[str, set[str]] = defaultdict(set)
        for line in self._run.links.responses:
            unit_id = self._run.gold.unit_of(line.query.base_id)
            files_by_unit[unit_id].add(line.file)
        return [unit_id for unit_id, files in files_by_unit.items() if len(files) > 1]

    @cached_property
    def _has_separate_queries(self) -> bool:
        """Whether the queries of a unit can be scored again one by one, since no query depends on another one."""
        is_single_run = len(self._run.lines_by_run_and_unit) == 1
        return is_single_run and not self._has_several_files and not self._has_nodes_across_units

    @cached_property
    def _has_nodes_across_units(self) -> bool:
        """Whether lines of one unit may belong to a node of another unit, so that all units must be scored together.

        If there is no limit on the justifications of a node, all lines of the run without a parent line are treated as
        one node, regardless of their units.
        """
        links = self._run.links
        is_unlimited = self._run.limits.justifications_per_node is None
        if is_unlimited and links.lines_without_parent:
            return True
        query_by_id = self._run.gold.query_set.by_id
        return any(_may_be_in_foreign_node(line, query_by_id) for line in links.responses)

    def rescore(
        self, change: Change, earlier_change: Change, unit_by_id: Mapping[str, UnitResult], *, is_ranked: bool
    ) -> Iterator[RescoredUnit]:
        """Yield the result of each unit after a change, if it differs from the result after an `earlier_change`.

        The earlier change is a part of the change, and may be empty. `unit_by_id` has the results of all units after
        the earlier change. Nodes are ranked only if `is_ranked`. Raises InputError if the scorer would refuse the
        changed files.
        """
        reason = self.editor.why_refused(change)
        if reason is not None:
            raise InputError(reason)
        # The scorer ranks the runs of a call together, and stops at the first run without a ranking. Earlier runs must
        # therefore be ranked even if the caller does not need rankings.
        has_earlier_runs = len(self._run_ids_up_to_this) > 1
        must_rank = is_ranked or has_earlier_runs
        # Subtracting counts takes much less time, but is not always possible; then the result is None.
        subtracted_units = self._units_by_subtraction(change, earlier_change, must_rank)
        if subtracted_units is None:
            return self._score_changed_units(change, earlier_change, unit_by_id, must_rank)
        return iter([RescoredUnit(unit, self._run) for unit in subtracted_units])

    def _score_changed_units(
        self, change: Change, earlier_change: Change, unit_by_id: Mapping[str, UnitResult], is_ranked: bool
    ) -> Iterator[RescoredUnit]:
        """Yield the units that a change may affect, scored from the changed lines.

        An `earlier_change` is a part of the change; `unit_by_id` has the results of the units after this earlier
        change. Nodes are ranked only if `is_ranked`.
        """
        changed_ids = self._changed_queries(change, earlier_change)
        # Another policy changes all queries, including queries without a changed line.
        can_score_single_queries = self._has_separate_queries and change.policy is None
        request = _ScoringRequest(
            change=change,
            query_ids=changed_ids if can_score_single_queries else None,
            added_by_unit=self._added_lines_by_unit(change),
            is_ranked=is_ranked,
        )
        affected_ids = self._affected_units(change, changed_ids)
        # Units without a result are left out: all their lines belong to other runs of the same call.
        old_units = [unit_by_id[unit_id] for unit_id in affected_ids if unit_id in unit_by_id]
        return self._score_units(old_units, request)

    def _score_units(self, old_units: Iterable[UnitResult], request: _ScoringRequest) -> Iterator[RescoredUnit]:
        """Yield units scored again from their lines after a change; `old_units` are their results before it."""
        if self._has_nodes_across_units:
            # A node may have lines of several units: each unit is scored from all lines of the run.
            change = request.change
            shared_run = self._changed_run(self._run.links.responses, change, change.added_lines, request.is_ranked)
            for old_unit in old_units:
                yield self._score_unit_again(old_unit, shared_run, request)
            return
        for old_unit in old_units:
            run_of_unit = self._changed_run_of_unit(old_unit.id, request)
            yield self._score_unit_again(old_unit, run_of_unit, request)

    def _score_unit_again(self, old_unit: UnitResult, run: Run, request: _ScoringRequest) -> RescoredUnit:
        """Return a unit scored from the lines of a changed run, with the queries of the request scored again.

        All other queries of the unit keep the results that they have in `old_unit`.
        """
        queries = _queries_within(old_unit, request.query_ids)
        new_unit = self._score_unit(old_unit.id, queries, run, request)
        return RescoredUnit(_with_unchanged_results(new_unit, old_unit.queries), run)

    def _units_by_subtraction(self, change: Change, earlier_change: Change, is_ranked: bool) -> list[UnitResult] | None:
        """Return the changed units, from which the removed lines' counts are subtracted, or None if this is impossible.

        Subtraction starts from the results before any change, so an `earlier_change` must not have removed a line.
        Removed lines must not influence other queries. They must not decide whether the limits can be applied to the
        remaining lines either. The limits can always be applied if the justifications of a node are limited.
        """
        is_limited = self._run.limits.justifications_per_node is not None
        can_subtract = self._has_separate_queries and is_limited
        if not can_subtract or earlier_change.removed_places:
            return None
        return self._removals.units_without(change, updates_rankings=is_ranked)

    def _changed_queries(self, change: Change, earlier_change: Change) -> dict[str, None]:
        """Return the base ids of the queries with lines that only one of two changes removes or adds.

        The `earlier_change` is a part of the change. It adds either no lines or the same lines.
        """
        # The operator ^ would copy all lines of `earlier_change`, which may be most of the run.
        newly_removed_indexes = change.removed_indexes - earlier_change.removed_indexes
        no_longer_removed_indexes = earlier_change.removed_indexes - change.removed_indexes
        differing_indexes = newly_removed_indexes | no_longer_removed_indexes
        lines = [self._run.links.responses[index] for index in differing_indexes]
        lines += change.added_lines
        return dict.fromkeys([line.query.base_id for line in lines])

    def _affected_units(self, change: Change, query_ids: Iterable[str]) -> Iterable[str]:
        """Return the ids of the units that a change to the lines of these queries may affect."""
        if change.policy is not None or self._has_nodes_across_units:
            return self._unit_ids
        unit_ids = [self._run.gold.unit_of(base_id) for base_id in query_ids]
        # Removing a line changes the numbers of later lines, which decide between equally confident lines of several
        # files.
        if change.removed_places:
            unit_ids += self._units_of_several_files
        return dict.fromkeys(unit_ids)

    def _added_lines_by_unit(self, change: Change) -> dict[str, list[Response]]:
        """Return the lines that a change adds to each unit, by its id; the lines of a query follow each other."""
        lines_by_unit: dict[str, list[Response]] = defaultdict(list)
        lines_by_run_and_unit = group_by_run_and_unit(self._run.gold, change.added_lines)
        lines_by_unit_and_query = lines_by_run_and_unit.get(self._scored.run_id, {})
        for unit_id, lines_by_query in lines_by_unit_and_query.items():
            for lines in lines_by_query.values():
                lines_by_unit[unit_id] += lines
        return lines_by_unit

    def _lines_of_unit(self, unit_id: str) -> list[Response]:
        """Return the lines of all runs in a unit, in load order."""
        lines: list[Response] = []
        for lines_by_unit in self._run.lines_by_run_and_unit.values():
            for lines_of_query in lines_by_unit.get(unit_id, {}).values():
                lines += lines_of_query
        lines.sort(key=operator.attrgetter("index"))
        return lines

    def _lines_of_queries(self, unit_id: str, query_ids: Container[str]) -> list[Response]:
        """Return the lines of all runs that answer some queries of a unit, query by query; `query_ids` are base ids."""
        lines: list[Response] = []
        for lines_by_unit in self._run.lines_by_run_and_unit.values():
            for base_id, lines_of_query in lines_by_unit.get(unit_id, {}).items():
                if base_id in query_ids:
                    lines += lines_of_query
        return lines

    # -- The lines after a change

    def _changed_run_of_unit(self, unit_id: str, request: _ScoringRequest) -> Run:
        """Return a run that has the lines of a unit as they are after a change.

        If the request names queries, the run only has lines that answer these queries.
        """
        if request.query_ids is None:
            lines = self._lines_of_unit(unit_id)
        else:
            lines = self._lines_of_queries(unit_id, request.query_ids)
        added_lines_of_units = request.added_by_unit.get(unit_id, ())
        return self._changed_run(lines, request.change, added_lines_of_units, request.is_ranked)

    def _changed_run(
        self, lines: Sequence[Response], change: Change, added_lines_of_units: Sequence[Response], is_ranked: bool
    ) -> Run:
        """Return a run that has the lines of some units as they are after a change.

        `lines` are all lines of these units before the change, and `added_lines_of_units` are the lines that the change
        adds to them. Linking gives lines their full node ids, which begin with the node of the parent line. Lines are
        linked again if their parents may have changed. Raises InputError if the limits on justifications cannot be
        applied.
        """
        if self._only_appends(change):
            return self._append_lines(lines, added_lines_of_units, is_ranked)
        removed_lines = [line for line in lines if line.index in change.removed_indexes]
        remaining_lines = self._remaining_lines(lines, change, added_lines_of_units)
        links = Links(self._run.gold.query_set, self._run.links)
        if self._must_link_again(removed_lines, added_lines_of_units):
            # Removed lines are no longer parents. `_with_nodes` enters a remaining line with the same answer, if there
            # is one.
            for line in removed_lines:
                links.node_by_follow_on[line.follow_on_id] = None
            remaining_lines = _with_nodes(remaining_lines, links.node_by_follow_on)
        # Without a limit for each node, the scorer may refuse the lines of a slot with a single value.
        if self._run.limits.justifications_per_node is None:
            self._check_limits(remaining_lines, change)
        gold = self._gold_after_removal(removed_lines)
        return self._run_of_lines(remaining_lines, gold, links, is_ranked)

    def _run_of_lines(self, lines: Sequence[Response], gold: ColdStartGold, links: Links, is_ranked: bool) -> Run:
        """Return a copy of the run with other lines, gold data and links (the nodes of lines and of their parents).

        If `is_ranked`, the lines of each node are added to the links, since rankings need them.
        """
        if is_ranked:
            links.lines_by_node.update(_lines_by_node(lines))
        return replace(self._run, gold=gold, links=links, lines_by_run_and_unit=group_by_run_and_unit(gold, lines))

    def _remaining_lines(
        self, lines: Iterable[Response], change: Change, added_lines_of_units: Sequence[Response]
    ) -> list[Response]:
        """Return the lines of some units that a change leaves, and its added lines, numbered as in the changed files.

        If the run has one file and no line is added, lines keep their numbers, since only the order of lines matters.
        """
        remaining_lines = [line for line in lines if line.index not in change.removed_indexes]
        if added_lines_of_units or self._has_several_files:
            return self._renumber(remaining_lines, change, added_lines_of_units)
        return remaining_lines

    def _must_link_again(self, removed_lines: Iterable[Response], added_lines_of_units: Sequence[Response]) -> bool:
        """Return whether removing or adding some lines may change the nodes of lines.

        In the second hop, the node id of a line begins with the node id of its parent, which is the line whose answer
        its query asks about. Therefore, nodes may change if a removed line is the parent of other lines. Added lines do
        not have a node yet. If there are several files, a line of another file may become the parent.
        """
        if added_lines_of_units or self._has_several_files:
            return True
        for line in removed_lines:
            is_parent = line.follow_on_id in self.editor.follow_on_lines.lines_answering
            if is_parent or self._run.links.was_answer_skipped(line.follow_on_id):
                return True
        return False

    def _gold_after_removal(self, removed_lines: Iterable[Response]) -> ColdStartGold:
        """Return the gold of the run, or a copy without the derived values if they may depend on a removed line.

        They may depend on a removed line if a skipped line gives the same answer. The copy has the same fields, and
        computes its derived values again.
        """
        gold = self._run.gold
        if any(self._run.links.was_answer_skipped(line.follow_on_id) for line in removed_lines):
            return gold.with_fields()  # the fields stay the same, but derived values are not copied
        return gold

    def _only_appends(self, change: Change) -> bool:
        """Return whether a change only adds lines after all others, which then keep their indexes, numbers and nodes.

        This is only possible for a run in one file, and if the justifications of a node are limited. Without such a
        limit, the other limits must be checked.
        """
        if change.removed_places or not change.added_lines:
            return False
        if self._has_several_files or self._run.limits.justifications_per_node is None:
            return False
        all_line_count = len(self._run.links.responses)
        return list(self.editor.file_of_added_lines.loaded_line_counts) == [all_line_count]

    def _append_lines(
        self, lines: Sequence[Response], added_lines_of_units: Sequence[Response], is_ranked: bool
    ) -> Run:
        """Return a run with the lines of some units, followed by added lines; only the added lines are linked."""
        links = Links(self._run.gold.query_set, self._run.links)  # based on the old links, which do not change
        new_lines = self._renumber_added(added_lines_of_units, lines, removed_count=0)
        # Parents may be among the old lines, which are not linked again: their nodes are entered first.
        links.node_by_follow_on.update(self._parent_nodes_of(new_lines))
        linked_lines = _with_nodes(new_lines, links.node_by_follow_on)
        all_lines = [*lines, *linked_lines]
        return self._run_of_lines(all_lines, self._run.gold, links, is_ranked)

    def _parent_nodes_of(self, lines: Iterable[Response]) -> dict[str, str]:
        """Return the node of the parent of each line, by the short id of the follow-on query that the line answers.

        The parent is the line of the run whose answer the query asks about. Lines without a parent are left out.
        """
        node_by_query: dict[str, str] = {}
        for line in lines:
            parent_node = self._run.links.parent_node_of_query(line.query.short_id)
            if parent_node is not None:
                node_by_query[line.query.short_id] = parent_node
        return node_by_query

    def _renumber(
        self, lines: Iterable[Response], change: Change, added_lines_of_units: Sequence[Response]
    ) -> list[Response]:
        """Return remaining and added lines in load order, with their indexes and numbers in the changed files.

        If the run has one file, lines keep their numbers, since only the order matters. With several files, the numbers
        also decide between lines of different files. In this case, the number of a line is reduced by the number of
        lines removed before it.
        """
        removed_numbers_by_file = self._removed_numbers_by_file(change)
        added_count = len(change.added_lines)
        renumbered = [self._moved_line(line, added_count, removed_numbers_by_file) for line in lines]
        removed_count = len(removed_numbers_by_file.get(self.editor.file_of_added_lines.name, ()))
        # Added lines of other units also have indexes: `added_count` is the number of all added lines.
        renumbered += self._renumber_added(added_lines_of_units, renumbered, removed_count, added_per_load=added_count)
        return sorted(renumbered, key=operator.attrgetter("index"))

    def _removed_numbers_by_file(self, change: Change) -> Mapping[str, Sequence[int]]:
        """Return the numbers of the lines that a change removes from each file, in order: `{"run.tab": [3, 7]}`.

        They are used to renumber later lines of the file. The result is empty for a run in one file: its lines keep
        their numbers, since only their order matters.
        """
        removed_numbers: dict[str, list[int]] = defaultdict(list)
        if self._has_several_files:
            for place in self.editor.places_removed_by(change):
                removed_numbers[place.file].append(place.line)
        return removed_numbers

    def _moved_line(
        self, line: Response, added_count: int, removed_numbers_by_file: Mapping[str, Sequence[int]]
    ) -> Response:
        """Return a line with its index and number after lines were added and removed.

        `added_count` is the number of added lines. They are at the end of one file, before the lines of the files that
        are loaded later.
        """
        # The number of times that the file of the added lines was loaded before this line. If it was loaded as the
        # first and third of three files with 10 responses each, the counts are [10, 30], and the line with the index 12
        # comes after one load.
        earlier_load_count = bisect_right(self.editor.file_of_added_lines.loaded_line_counts, line.index)
        index = line.index + added_count * earlier_load_count
        removed_before_count = bisect_left(removed_numbers_by_file.get(line.file, ()), line.number)
        number = line.number - removed_before_count
        if index == line.index and number == line.number:
            return line
        return replace(line, index=index, number=number)

    def _renumber_added(
        self,
        added_lines_of_units: Sequence[Response],
        lines: Iterable[Response],
        removed_count: int,
        added_per_load: int = 0,
    ) -> list[Response]:
        """Return added lines with their indexes and numbers, once for each time that their file is loaded.

        `lines` are the other lines, and `removed_count` is the number of lines removed from the file. `added_per_load`
        is the number of lines added to the file for all units.

        An index counts the loaded lines of the call, whereas a number counts the lines of the file. For example,
        suppose that the file ends after 10 responses and is then loaded again, giving 20 responses. A single added line
        gets the indexes 10 and 21, because the second index also counts the first copy. Both copies have the same
        number, which follows the numbers of the file's remaining lines. The indexes of removed lines are not used
        again.
        """
        file = self.editor.file_of_added_lines
        first_number = file.last_number + 1 - removed_count
        texts_not_read_again = self._texts_not_read_again(lines) if added_lines_of_units else frozenset()
        new_lines: list[Response] = []
        for line in added_lines_of_units:
            if line.text in texts_not_read_again:
                continue
            for earlier_load_count, loaded_line_count in enumerate(file.loaded_line_counts):
                copies_loaded_before = added_per_load * earlier_load_count
                index = loaded_line_count + copies_loaded_before + line.index
                new_lines.append(replace(line, index=index, number=first_number + line.number))
        return new_lines

    def _texts_not_read_again(self, lines: Iterable[Response]) -> Container[str]:
        """Return the texts in the file of added lines: an added line with one of these texts would not be read.

        The result is empty for a run with node ids, since an added line has a new node id and therefore never repeats a
        line. It is also empty in editions that read repeated lines.
        """
        if self.editor.has_nodes or self._run.gold.query_set.edition.keeps_repeated_lines:
            return frozenset()
        file_name = self.editor.file_of_added_lines.name
        return {line.text for line in lines if line.file == file_name}

    def _check_limits(self, lines: Sequence[Response], change: Change) -> None:
        """Raise InputError if the scorer would refuse some lines when it applies the limits on justifications.

        The scorer refuses some lines of a slot that takes a single value (rule single-values). Each time a file is
        loaded, the limits are applied to all lines loaded so far. The outcome depends only on these lines and on the
        hops answered in the whole run. `lines` may lack some of these hops, so the first remaining line of each missing
        hop is added. `lines` have their indexes after the change, while `_first_lines_of_hops` returns lines with their
        indexes before the change.
        """
        rules = DiscardRules(self._run.limits, ProblemLog())
        first_lines = self._first_lines_of_hops(change)
        for old_line_count in self._line_counts_at_limits():
            new_line_count = self._line_count_after_change(old_line_count, change)
            loaded_lines = [line for line in lines if line.index < new_line_count]
            loaded_first_lines = [line for line in first_lines if line.index < old_line_count]
            loaded_hops = {line.query.level for line in loaded_lines}
            lines_of_other_hops = [line for line in loaded_first_lines if line.query.level not in loaded_hops]
            # The call raises InputError if the limits cannot be applied. The discarded lines are not needed here.
            rules.apply([*loaded_lines, *lines_of_other_hops], _lines_by_node(loaded_lines), is_in_order=False)

    def _first_lines_of_hops(self, change: Change) -> list[Response]:
        """Return the first line of the run that answers each hop after a change, in load order."""
        first_line_by_hop: dict[int, Response] = {}
        for line in self._run.links.responses:
            if line.index not in change.removed_indexes:
                first_line_by_hop.setdefault(line.query.level, line)
        return list(first_line_by_hop.values())

    def _line_counts_at_limits(self) -> list[int]:
        """Return how many responses had been loaded each time that the limits were applied: `[1200, 3000]`.

        The limits are applied after each file with the layout of 2017.
        """
        line_counts: list[int] = []
        for file in self.editor.files.values():
            if file.schema is RUN_2017:
                line_counts += file.loaded_line_counts
        return sorted(line_counts)

    def _line_count_after_change(self, line_count: int, change: Change) -> int:
        """Return a number of loaded responses, increased by the lines that a change adds to the files loaded so far."""
        if not change.added_lines:
            return line_count
        # The number of times that the whole file of the added lines was loaded among these responses.
        load_count = bisect_right(self.editor.file_of_added_lines.loaded_line_counts, line_count)
        return line_count + len(change.added_lines) * load_count

    # -- Scoring

    def _score_unit(self, unit_id: str, queries: Sequence[Query], run: Run, request: _ScoringRequest) -> UnitResult:
        """Return a unit with some of its queries scored from the lines of a changed run, under the change's policy.

        The earlier runs of the same call are scored first, since the nodes of all runs are ranked together. Raises
        InputError if the scorer would have to stop before it has tables.
        """
        # Some disciplines (rules of matching lines to assessments) compare the texts of answers.
        if compares_values(run.gold.options.discipline):
            _require_known_classes(queries, run)
        policy = request.change.policy or self._scored.policy
        unit = self._unit_to_score(unit_id, queries, run, request.change)
        result_of_earlier_run = self._score_earlier_runs(unit, policy, is_ranked=request.is_ranked)
        unit_with_earlier_result = replace(unit, result_of_earlier_run=result_of_earlier_run)
        return _scored_unit(unit_with_earlier_result, policy, is_ranked=request.is_ranked)

    def _unit_to_score(self, unit_id: str, queries: Sequence[Query], run: Run, change: Change) -> ScoringUnit:
        """Return a unit with everything that scoring needs: its queries, its lines in the changed run, and the nodes.

        Lines that the change leaves as they are keep their assessments.
        """
        return ScoringUnit(
            id=unit_id,
            gold=run.gold,
            queries=queries,
            hop_limit_by_id=run.gold.hop_limit_by_id,
            run=run,
            lines_by_query=_lines_of_unit_in(run, self._scored.run_id, unit_id),
            nodes=RunNodes(run.links.lines_by_node, run.limits.justifications_per_node),
            result_to_reuse=self._result_with_assessments(unit_id, queries, run, change),
        )

    def _score_earlier_runs(self, unit: ScoringUnit, policy: Policy, *, is_ranked: bool) -> UnitResult | None:
        """Return the result of a unit for the run just before this one in the call, or None if this run is the first.

        All earlier runs are scored again in turn, since the nodes of all runs are ranked together. Raises InputError if
        one of them cannot be scored.
        """
        result: UnitResult | None = None
        for run_id in self._run_ids_up_to_this[:-1]:
            lines_by_query = _lines_of_unit_in(unit.run, run_id, unit.id)
            # The result to reuse belongs to this run; an earlier run has other lines.
            unit_of_run = replace(
                unit, lines_by_query=lines_by_query, result_of_earlier_run=result, result_to_reuse=None
            )
            result = _scored_unit(unit_of_run, policy, is_ranked=is_ranked)
            _raise_if_unranked(result)  # `rescore` lets nodes be ranked whenever there are earlier runs
        return result

    def _result_with_assessments(
        self, unit_id: str, queries: Sequence[Query], run: Run, change: Change
    ) -> UnitResult | None:
        """Return a result of the unit from which scoring takes the assessment of each line of the changed run.

        With this result, lines need not be matched to assessments again. Usually, it is the result before the change,
        since lines with the same index have the same assessment. Returns None if all lines have to be matched again.
        """
        # New gold data index the judgements of answers again, and may match lines to other assessments.
        if run.gold is not self._run.gold:
            return None
        unit = self._unit_by_id[unit_id]
        if not change.added_lines:  # the remaining lines keep their indexes
            return unit
        if self._only_appends(change):
            return self._with_added_assessments(unit, queries, run)
        return None

    def _with_added_assessments(self, unit: UnitResult, queries: Sequence[Query], run: Run) -> UnitResult:
        """Return a unit with the assessments of its old lines and of the lines that were added to the run.

        Only the added lines are matched to the assessments of the pool, query by query. A follow-on query is treated as
        the query of the query file that it belongs to (`base_id`). The result has no labels and no tables.
        """
        problems = ProblemLog()
        assessment_by_index = dict(unit.assessment_by_index)
        lines_by_query = _lines_of_unit_in(run, self._scored.run_id, unit.id)
        for base_id in dict.fromkeys([query.base_id for query in queries]):
            new_lines = self._added_lines_among(lines_by_query.get(base_id, ()))
            if new_lines:
                judgement_by_value = run.gold.judgements_by_value(base_id, run.links)
                discipline = run.gold.options.discipline  # the rule of matching lines to assessments
                assessment_by_index |= find_assessments(new_lines, judgement_by_value, run.links, discipline, problems)
        return UnitResult(
            id=unit.id, assessment_by_index=assessment_by_index, labels_by_index={}, queries=(), problems=problems
        )

    def _added_lines_among(self, lines: Iterable[Response]) -> list[Response]:
        """Return the lines of a changed run that come after all lines of the original run."""
        original_line_count = len(self._run.links.responses)
        return [line for line in lines if line.index >= original_line_count]


def _may_be_in_foreign_node(line: Response, query_by_id: Container[str]) -> bool:
    """Return whether a line may belong to a node of another unit.

    This is possible if its node id does not begin with a colon. After the second hop, it is also possible if a query of
    the query files has the same id as the follow-on query that the line answers. In the second hop, it is not possible,
    because nodes have the id of their parent's query. `query_by_id` has the queries of the query files by short id.
    """
    node_id = _written_node_id(line)
    if node_id is None:
        return False
    if not node_id.startswith(":"):
        return True
    return line.query.level > 1 and line.query.short_id in query_by_id


def _queries_within(unit: UnitResult, query_ids: Container[str] | None) -> list[Query]:
    """Return the scored queries of a unit that have one of these ids; all of them if `query_ids` is None."""
    queries = [result.query for result in unit.queries]
    if query_ids is None:
        return queries
    return [query for query in queries if query.base_id in query_ids]


def _lines_of_unit_in(run: Run, run_id: str, unit_id: str) -> Mapping[str, Sequence[Response]]:
    """Return the lines of one run of a call in a unit, by the short id of their query; empty if it has none there."""
    return run.lines_by_run_and_unit.get(run_id, {}).get(unit_id, {})


def _scored_unit(unit: ScoringUnit, policy: Policy, *, is_ranked: bool) -> UnitResult:
    """Return the result of a unit under a policy. Raises InputError if its lines cannot be matched or counted."""
    result = score_unit(unit, policy, is_ranked)
    _raise_if_uncounted(result)
    return result


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
    """Return the node id in column 9 of a line, as written in the file, or None if the line has no node id."""
    columns = line.text.split("\t", 9)
    if len(columns) < 9 or columns[8] == NO_NODE:
        return None
    return columns[8]


def _with_nodes(lines: Iterable[Response], parent_node_by_query_id: dict[str, str | None]) -> list[Response]:
    """Return lines, given in load order, with the full node ids that they would get if the changed files were read.

    The parent of a line is the first line with the answer that the line's query asks about. The full node id of a line
    begins with the parent's: `CS17_ENG_0001:E1` and `CS17_ENG_0001:E1:E2`. `parent_node_by_query_id` maps the short id
    of a query to the full node id of the parent. The value is an empty text if the parent has no node; it is None or
    missing if there is no parent. The parents among the lines are added to it.
    """
    linked_lines: list[Response] = []
    for line in lines:
        node = line.node
        # The node of a line of the second hop depends on its parent, and an added line has no node yet.
        if line.query.level == 1 or node is None:
            node = _node_of(line, parent_node_by_query_id)
        has_next_hop = len(line.query.slots) > 1
        is_first_with_answer = parent_node_by_query_id.get(line.follow_on_id) is None
        if has_next_hop and is_first_with_answer:  # the line is the parent of lines of the next hop
            parent_node_by_query_id[line.follow_on_id] = "" if node is None else node
        linked_lines.append(line if node == line.node else replace(line, node=node))
    return linked_lines


def _node_of(line: Response, parent_node_by_query_id: Mapping[str, str | None]) -> str | None:
    """Return the full node id that linking gives a line, or the line's present node if the file gives it no node id.

    In the second hop, the full node id of a line begins with the node id of its parent: `CS17_ENG_0001:E1` is the
    prefix of `CS17_ENG_0001:E1:E2`. The prefix is empty if there is no parent or the parent has no node. In all other
    hops, the prefix is the id of the query. `parent_node_by_query_id` has the nodes of parents by the short id of the
    follow-on query.
    """
    node_id = _written_node_id(line)
    if node_id is None:
        return line.node
    is_second_hop = line.query.level == 1
    if is_second_hop:
        parent_node = parent_node_by_query_id.get(line.query.short_id) or ""
        return parent_node + node_id
    return line.query.full_id + node_id


def _lines_by_node(lines: Iterable[Response]) -> dict[str, list[Response]]:
    """Return the lines of each node, by its full node id."""
    lines_by_node: dict[str, list[Response]] = {}
    for line in lines:
        if line.node is not None:
            lines_by_node.setdefault(line.node, []).append(line)
    return lines_by_node
