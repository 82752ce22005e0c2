"""The units that a change reaches, scored again as the scorer would score the changed files.

A change reaches the units of its lines. Two changes reach further, so that more units are scored again: a node id that
names a query of another unit, and the numbers of lines where a unit has lines of several files, whose ties they decide.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cs_score.analysis.coldstart.changes import NOTHING, AddedLine, Change, Dependents, Finding, Removal, files_of
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.gold import Gold, Run, Unit
from cs_score.coldstart.judging import compares_values
from cs_score.coldstart.lines import DiscardRules, Links, Response
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import Query
from cs_score.coldstart.ranking import Nodes
from cs_score.coldstart.result import UnitResult
from cs_score.coldstart.scorer import score_unit
from cs_score.coldstart.tab_files import RUN_2017
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
        self.run_id, self._policy = scored.run_id, scored.policy
        self._units = {unit.id: unit for unit in scored.result.units}
        self.files = files_of(run)
        self._first = {name: file.first for name, file in self.files.files.items()}
        self.dependents = Dependents(run, self.files)
        self.finding = Finding(run, scored.run_id, self.files, self.dependents)
        # The runs that are scored before this one, and this one: average precision pools their nodes.
        self._run_ids = run.run_ids[: run.run_ids.index(scored.run_id) + 1]
        self._queries: dict[str, list[Query]] = defaultdict(list)
        for query in run.gold.selected():
            self._queries[run.gold.unit_of(query.base_id)].append(query)
        self._lines: dict[str, list[Response]] = defaultdict(list)
        for response in run.links.responses:
            self._lines[run.gold.unit_of(response.query.base_id)].append(response)
        self._of_level: dict[int, list[Response]] = defaultdict(list)
        for response in run.links.responses if run.limits.most is None else ():
            self._of_level[response.query.level].append(response)
        self._is_entangled = _is_entangled(run)
        self._has_several_files = sum(len(file.ends) for file in self.files.files.values()) > 1
        self._of_several_files = [
            unit_id
            for unit_id, lines in (self._lines.items() if self._has_several_files else ())
            if any(line.file != lines[0].file for line in lines)
        ]
        self._has_plain_units = not self._is_entangled and not self._has_several_files and len(run.lines) == 1

    def _refusal(self, change: Change) -> str | None:
        """Why the changed files could not be scored, as far as that can be known without scoring; None otherwise."""
        for name, first in self._first.items() if change.removal.places else ():
            if (name, first) in change.removal.places:
                file = self.files.files[name]
                numbers = {number for of_file, number in change.removal.places if of_file == name}
                reason = file.why_unreadable(numbers, [line.text for line in change.added if line.file == name])
                if reason is not None:
                    return reason
        reason = self.dependents.why_stranded(change.removal) or self.finding.why_unlinkable(change.added)
        gone = change.removal.responses
        if reason is not None or change.added or not gone:
            return reason
        if len(self._run.links.responses) == len(gone) and not self._run.gold.links.assessments:
            return "no line would be left"
        of_run = self._run.lines.get(self.run_id, {}).values()
        left = (line for unit in of_run for lines in unit.values() for line in lines if line.index not in gone)
        if self._run.gold.options.runids is None and not any(True for _ in left):
            return f"no line of run {self.run_id} would be left, so that nothing would be scored"
        return None

    def rescored(
        self, change: Change, policy: Policy | None = None, *, before: Removal = NOTHING, is_ranked: bool = True
    ) -> Iterator[tuple[str, UnitResult]]:
        """The units after a change, by id, under another policy where one is given.

        Only those that are not as they were without the lines of `before`. Nothing is ranked where no score of rankings
        is wanted. Raises InputError where the changed files could not be scored.
        """
        if (reason := self._refusal(change)) is not None:
            raise InputError(reason)
        under = self._policy if policy is None else policy
        is_ranked = is_ranked or len(self._run_ids) > 1
        responses, unit_of = self._run.links.responses, self._run.gold.unit_of
        every = dict.fromkeys((*self._queries, *self._lines))
        added_to: dict[str, list[tuple[int, AddedLine]]] = defaultdict(list)
        for at, new_line in enumerate(change.added):
            added_to[unit_of(new_line.assessment.query.base_id)].append((at, new_line))
        gone, was_gone = change.removal.responses, before.responses
        # Not their symmetric difference, for which all lines of `before` would be copied.
        others = (gone - was_gone) | (was_gone - gone)
        reached = dict.fromkeys(unit_of(responses[index].query.base_id) for index in others) | dict.fromkeys(added_to)
        if policy is not None or self._is_entangled:
            reached = every
        elif change.removal.places:
            reached |= dict.fromkeys(self._of_several_files)
        base_ids = {responses[index].query.base_id for index in gone}
        base_ids.update(line.assessment.query.base_id for line in change.added)
        whole = self._edited(responses, change, [*enumerate(change.added)], is_ranked) if self._is_entangled else None
        for unit_id in reached:
            queries, lines = self._queries.get(unit_id, ()), self._lines.get(unit_id, ())
            if self._has_plain_units and policy is None:  # other queries of the unit are as they were
                queries = [query for query in queries if query.base_id in base_ids]
                lines = [line for line in lines if line.query.base_id in base_ids]
            edited = whole or self._edited(lines, change, added_to[unit_id], is_ranked)
            found = self._scored(unit_id, queries, edited, under, is_ranked)
            if unit_id in self._units:
                again = {each.query.short_id: each for each in found.queries}
                of_unit = self._units[unit_id].queries
                found = replace(found, queries=tuple(again.get(each.query.short_id, each) for each in of_unit))
            yield unit_id, found

    def _edited(
        self, before: Sequence[Response], change: Change, added: Sequence[tuple[int, AddedLine]], is_ranked: bool
    ) -> _Edited:
        """Lines of some units after a change, of which `added` come to them.

        Raises InputError where the limits cannot be applied.
        """
        gone, run, gold = change.removal.responses, self._run, self._run.gold
        removed = [line for line in before if line.index in gone]
        lines = [line for line in before if line.index not in gone] if removed else before
        was_skipped = any(run.links.was_skipped(line.target) for line in removed)
        # The first line to give an answer names the nodes of the lines that ask about it, some of which may stay.
        leads = any(
            isinstance(each, Response) and each.index not in gone
            for line in removed
            if any(first is line for first in self.dependents.giving(line.target)[:1])
            for each in self.dependents.asking(line.target)
        )
        if added or was_skipped or self._has_several_files or leads:
            links = Links(gold.table, run.links)
            links.given.update((line.target, None) for line in removed)
            lines = [
                _linked(line, node_id, index, number, links)
                for line, node_id, index, number in self._in_load_order(lines, change, added)
            ]
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

    def _in_load_order(
        self, lines: Iterable[Response], change: Change, added: Sequence[tuple[int, AddedLine]]
    ) -> list[tuple[Response, str | None, int, int]]:
        """Lines and added ones in load order, each with its node id, its index, and its number.

        Numbers are those without the lines that go before in the same file: they decide ties between files.
        """
        gone: dict[str, list[int]] = defaultdict(list)
        for name, number in change.removal.places if self._has_several_files else ():
            gone[name].append(number)
        ends = self.files.files[change.added[0].file].ends if change.added else ()
        size = len(change.added)
        linked = [
            (
                line,
                node_id_of(line),
                line.index + size * bisect_right(ends, line.index),
                line.number - bisect_left(gone.get(line.file, ()), line.number),
            )
            for line in lines
        ]
        if not added:
            return linked
        # Node ids keep added lines apart; without them a line may be there already, and is usually passed over.
        file = self.files.files[change.added[0].file]
        texts: set[str] = set()
        if not self._run.gold.table.edition.keeps_repeated_lines and any(line.node_id is None for _, line in added):
            texts = {line.text for line, *_ in linked if line.file == file.name}
        last = file.last + 1 - len(gone.get(file.name, ()))
        for at, line in added:
            if line.text not in texts:
                new, known = line.assessment, self._run.links.follow_on(line.assessment.target)
                assert known is not None
                response = Response(
                    0, 0, line.text, new.query, self.run_id, line.confidence, None, known, line.file, new.docid,
                    new.answer,
                )  # fmt: skip
                for loaded, end in enumerate(file.ends):
                    linked.append((response, line.node_id, end + size * loaded + at, last + at))
        return sorted(linked, key=lambda item: item[2])

    def _check_limits(self, lines: Sequence[Response], change: Change) -> None:
        """Raises InputError where the limits on justifications cannot be applied (rule single-values).

        They look at all levels there are: the first line that is left of each other level stands for it.
        """
        rules = DiscardRules(self._run.limits, ProblemLog())
        ends_with_added = self.files.files[change.added[0].file].ends if change.added else ()
        ends = [end for file in self.files.files.values() if file.schema is RUN_2017 for end in file.ends]
        gone = change.removal.responses
        first = {
            level: next((line for line in lines if line.index not in gone), None)
            for level, lines in self._of_level.items()
        }
        for end in sorted(ends):
            limit = end + len(change.added) * bisect_right(ends_with_added, end)
            so_far = [line for line in lines if line.index < limit]
            levels = {line.query.level for line in so_far}
            elsewhere = [line for level, line in first.items() if line and level not in levels and line.index < end]
            rules.apply([*so_far, *elsewhere], _nodes_of(so_far), are_in_order=False)

    def _scored(
        self, unit_id: str, queries: Sequence[Query], edited: _Edited, policy: Policy, is_ranked: bool
    ) -> UnitResult:
        """Score a unit, or queries of it. Raises InputError where scoring would have to stop before its tables."""
        run, gold = edited.run, edited.gold
        if compares_values(gold.options.discipline):
            for query in queries:
                for assessment in gold.assessed.get(query.base_id, ()):
                    run.links.class_of_query(assessment.query)
        found: UnitResult | None = None
        stops: list[InputError | None] = []
        for run_id in self._run_ids:
            of_query: dict[str, list[Response]] = defaultdict(list)
            for line in edited.lines.get(unit_id, ()):
                if line.run_id == run_id:
                    of_query[line.query.base_id].append(line)
            met = self._units.get(unit_id) if edited.keep_indexes and run_id == self.run_id else None
            unit = Unit(unit_id, gold, queries, gold.hop_limits, run, of_query, edited.nodes, found, met)
            for stop in stops:
                if stop is not None:
                    raise stop
            found = score_unit(unit, policy, is_ranked)
            stops = [query.unranked for query in found.queries]
            for stop in (found.unmatched, *(query.uncounted for query in found.queries)):
                if stop is not None:
                    raise stop
        assert found is not None
        return found


def _is_entangled(run: Run) -> bool:
    """Whether the lines of one unit may belong to a node of another, so that no unit can be scored by itself.

    Where any number of justifications counts, nodes without parent line are one group for the limits, too.
    """
    by_id = run.gold.table.by_id
    if run.limits.most is None and run.links.without_parent:
        return True
    return any(
        node_id is not None and (not node_id.startswith(":") or (line.query.level > 1 and line.query.short_id in by_id))
        for line in run.links.responses
        for node_id in (node_id_of(line),)
    )


def _nodes_of(lines: Iterable[Response]) -> dict[str, list[Response]]:
    nodes: dict[str, list[Response]] = {}
    for line in lines:
        if line.node is not None:
            nodes.setdefault(line.node, []).append(line)
    return nodes


def _linked(line: Response, node_id: str | None, index: int, number: int, links: Links) -> Response:
    """A line as it is linked behind those before it, which `links` has, with this node id, index and number."""
    query, given = line.query, links.given
    node = None
    if node_id is not None:
        # At the second hop: the node of the first run line that gives the answer asked about, empty if none has.
        node = (query.full_id if query.level != 1 else given.get(query.short_id) or "") + node_id
    if len(query.slots) > 1 and given.get(line.target) is None:
        given[line.target] = node or ""
    return Response(
        index, number, line.text, query, line.run_id, line.confidence, node, line.follow_on, line.file, line.docid,
        line.kept,
    )  # fmt: skip


def node_id_of(line: Response) -> str | None:
    """The node id of a line as its file has it; None where the layout has none."""
    return None if line.node is None else line.text.split("\t", 9)[8]
