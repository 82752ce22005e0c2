"""The units that a change reaches, scored again as the scorer would score the changed files.

A change reaches the units of its lines. Two things reach further, and then more units are scored again: a node id that
names a query of another unit, and the numbers of lines where a unit has lines of several files, whose ties they decide.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from operator import attrgetter, itemgetter

from cs_score.analysis.coldstart.changes import (
    NOTHING,
    AddedLine,
    Change,
    Dependents,
    Finding,
    Place,
    ReadLine,
    Removal,
    RunFiles,
    files_of,
)
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.gold import Gold, Run, Unit
from cs_score.coldstart.judging import compares_values
from cs_score.coldstart.lines import DiscardRules, Links, Response
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import Query, QuerySet
from cs_score.coldstart.ranking import Nodes
from cs_score.coldstart.result import UnitResult
from cs_score.coldstart.scorer import score_unit
from cs_score.coldstart.tab_files import RUN_2017
from cs_score.problems.log import ProblemLog


class Rescoring:
    """Scores a run again after changes, unit by unit."""

    def __init__(self, scored: Scored) -> None:
        run = scored.run
        self.run_id = scored.run_id
        self._units = {unit.id: unit for unit in scored.result.units}
        self._policy = scored.policy
        self._run = run
        self.files: RunFiles = files_of(run)
        self.dependents = Dependents(run, self.files)
        self.finding = Finding(run, scored.run_id, self.files)
        # The runs that are scored before this one, and this one: average precision pools their nodes.
        self._run_ids = run.run_ids[: run.run_ids.index(scored.run_id) + 1]
        self._queries: dict[str, list[Query]] = defaultdict(list)
        for query in run.gold.selected():
            self._queries[run.gold.unit_of(query.base_id)].append(query)
        self._lines: dict[str, list[Response]] = defaultdict(list)
        for response in run.links.responses:
            self._lines[self.unit_of(response)].append(response)
        self._of_level: dict[int, list[Response]] = defaultdict(list)
        for response in run.links.responses if run.limits.most is None else ():
            self._of_level[response.query.level].append(response)
        self._last_added: tuple[Change, Mapping[str, list[tuple[int, AddedLine]]]] | None = None
        self._is_entangled = _is_entangled(run)
        self._has_several_files = sum(len(file.ends) for file in self.files.files.values()) > 1
        self.has_plain_units = not self._is_entangled and not self._has_several_files and len(run.lines) == 1
        """Whether a unit is one run's alone, and line numbers tell its lines apart."""
        self._meetings = sorted(_meetings(self._lines)) if self._has_several_files else []

    def unit_of(self, line: Response) -> str:
        """The unit that a line answers a query of."""
        return self._run.gold.unit_of(line.query.base_id)

    def refusal(self, change: Change) -> str | None:
        """Why the changed files could not be scored, as far as that can be told without scoring; None otherwise."""
        return (
            change.why_unreadable(self.files)
            or self.dependents.why_stranded(change.removal)
            or self.finding.why_unlinkable(change.added)
            or self._why_nothing_is_left(change)
        )

    def rescored(
        self, change: Change, policy: Policy | None = None, *, before: Removal = NOTHING, is_ranked: bool = True
    ) -> Iterator[tuple[str, UnitResult]]:
        """The units after a change, by id, under another policy where one is given.

        Told are those that are not as they were without the lines of `before`. Nothing is ranked where no score of
        rankings is wanted. Raises InputError where the changed files could not be scored.
        """
        if (reason := self.refusal(change)) is not None:
            raise InputError(reason)
        numbers = renumbering(change.removal.places if self._has_several_files else ())
        under = self._policy if policy is None else policy
        is_ranked = is_ranked or len(self._run_ids) > 1
        if self._is_entangled:
            yield from self._scored_as_a_whole(change, numbers, under)
            return
        reached = self._reached(change, numbers, before)
        if policy is not None:
            reached = dict.fromkeys((*self._queries, *self._lines))
        queries = self._queries_of(change) if self.has_plain_units and policy is None else None
        for unit_id in reached:
            before_change = self._lines.get(unit_id, [])
            if queries is not None:
                before_change = [line for line in before_change if line.query.base_id in queries]
            lines = self._changed(before_change, change, numbers, unit_id, is_ranked)
            yield unit_id, self._scored(unit_id, lines, under, is_ranked, queries)

    def _queries_of(self, change: Change) -> frozenset[str]:
        """The base ids of the queries that a change reaches; others of the same units are as they were scored."""
        responses = self._run.links.responses
        removed = (responses[index].query for index in change.removal.responses)
        return frozenset(query.base_id for query in chain(removed, (line.assessment.query for line in change.added)))

    def _why_nothing_is_left(self, change: Change) -> str | None:
        gone = change.removal.responses
        if change.added or not gone:
            return None
        left = len(self._run.links.responses) - len(gone)
        if not left and not self._run.gold.links.assessments:
            return "no line would be left"
        if self._run.gold.options.runids is None and (not left or not self._has_lines_without(gone)):
            return f"no line of run {self.run_id} would be left, so that nothing would be scored"
        return None

    def _has_lines_without(self, gone: frozenset[int]) -> bool:
        of_run = self._run.lines.get(self.run_id, {}).values()
        return any(line.index not in gone for unit in of_run for lines in unit.values() for line in lines)

    def _reached(self, change: Change, numbers: Renumbering, before: Removal) -> Iterable[str]:
        """The units to score again."""
        responses = self._run.links.responses
        now, then = change.removal.responses, before.responses
        others = (now - then) | (then - now)  # without the copy of all that the operator for this makes
        units = dict.fromkeys(self.unit_of(responses[index]) for index in others)
        units |= dict.fromkeys(self._run.gold.unit_of(line.assessment.query.base_id) for line in change.added)
        most = max(map(len, numbers.gone.values()), default=0)
        for _, unit_id in self._meetings[: bisect_right(self._meetings, (most, "\U0010ffff"))] if most else ():
            units[unit_id] = None
        return units

    def _scored_as_a_whole(
        self, change: Change, numbers: Renumbering, policy: Policy
    ) -> Iterator[tuple[str, UnitResult]]:
        """All units, from all lines linked together."""
        whole = self._changed(self._run.links.responses, change, numbers)
        lines_of: dict[str, list[Response]] = {unit_id: [] for unit_id in self._queries}
        for line in whole.lines:
            lines_of.setdefault(self.unit_of(line), []).append(line)
        for unit_id, lines in lines_of.items():
            yield unit_id, self._scored(unit_id, replace(whole, lines=lines), policy)

    def _changed(
        self,
        before: Sequence[Response],
        change: Change,
        numbers: Renumbering,
        unit_id: str | None = None,
        is_ranked: bool = True,
    ) -> _Lines:
        """Lines of one unit, or of all, after a change. Raises InputError where the limits cannot be applied."""
        gone = change.removal.responses
        lines = [line for line in before if line.index not in gone]
        removed = [line for line in before if line.index in gone] if len(lines) < len(before) else []
        added: Sequence[tuple[int, AddedLine]] = ()
        if change.added:
            added = self._added_by_unit(change).get(unit_id, ()) if unit_id is not None else [*enumerate(change.added)]
        run, gold = self._run, self._run.gold
        was_skipped = any(run.links.was_skipped(line.target) for line in removed)
        are_as_before = not (added or self._has_several_files or was_skipped)
        if are_as_before:
            lines = self._below_others(lines, removed, gone)
        else:
            relinking = Relinking(gold.table, run.links, removed)
            lines = [relinking.line(*given) for given in self._in_load_order(lines, added, change, numbers)]
            run = replace(run, links=relinking.links)
            if was_skipped:
                gold = replace(gold, _queries={}, _values={})
        nodes = _nodes_of(lines) if is_ranked else {}
        if run.limits.most is None:
            self._check_limits(lines, change)
        return _Lines(lines, run, gold, Nodes(nodes, run.limits.most), are_as_before)

    def _in_load_order(
        self, lines: Iterable[Response], added: Sequence[tuple[int, AddedLine]], change: Change, numbers: Renumbering
    ) -> list[tuple[Response, str | None, int, int]]:
        """Lines and added ones in load order, each with its node id, its index, and its number."""
        file = self.files.files[change.added[0].file] if change.added else None
        ends = () if file is None else file.ends
        size = len(change.added)
        linked = [
            (
                line,
                node_id_of(line),
                line.index + size * bisect_right(ends, line.index),
                numbers.number(line.file, line.number),
            )
            for line in lines
        ]
        if file is None:
            return linked
        # Node ids keep added lines apart; without them a line may be there already, and is usually passed over.
        texts: set[str] = set()
        keeps_repeated = self._run.gold.table.edition.keeps_repeated_lines
        if not keeps_repeated and any(line.node_id is None for _, line in added):
            texts = {line.text for line, *_ in linked if line.file == file.name}
        last = numbers.number(file.name, file.last + 1)
        for loaded, end in enumerate(ends):
            for at, line in added:
                if line.text not in texts:
                    index = end + size * loaded + at
                    linked.append((self._as_response(line), line.node_id, index, last + at))
        return sorted(linked, key=itemgetter(2))

    def _as_response(self, line: AddedLine) -> Response:
        """An added line before it is linked."""
        assessment = line.assessment
        follow_on = self._run.links.follow_on(assessment.target)
        assert follow_on is not None
        return Response(
            0, 0, line.text, assessment.query, self.run_id, line.confidence, None, follow_on, line.file,
            assessment.docid, assessment.answer,
        )  # fmt: skip

    def _added_by_unit(self, change: Change) -> Mapping[str, list[tuple[int, AddedLine]]]:
        """The lines that come by the unit of their query, each with its number among them; of the last change kept."""
        if self._last_added is None or self._last_added[0] is not change:
            by_unit: dict[str, list[tuple[int, AddedLine]]] = defaultdict(list)
            for at, line in enumerate(change.added):
                by_unit[self._run.gold.unit_of(line.assessment.query.base_id)].append((at, line))
            self._last_added = change, by_unit
        return self._last_added[1]

    def _below_others(self, lines: list[Response], removed: Iterable[Response], gone: Container[int]) -> list[Response]:
        """Lines of one file where some are gone, among them perhaps the first that give the answers asked about."""
        giving = self.dependents.giving
        led = {line.target for line in removed for first in giving(line.target)[:1] if first is line}
        if not led:
            return lines
        return [
            linked_below(line, giving(line.query.short_id), gone) if line.query.short_id in led else line
            for line in lines
        ]

    def _check_limits(self, lines: Sequence[Response], change: Change) -> None:
        """Raises InputError where the limits on justifications cannot be applied (specification 5.2)."""
        rules = DiscardRules(self._run.limits, ProblemLog())
        ends_with_added = self.files.files[change.added[0].file].ends if change.added else ()
        ends = {end: file.schema for file in self.files.files.values() for end in file.ends}
        for end, schema in sorted(ends.items()):
            if schema is RUN_2017:
                limit = end + len(change.added) * bisect_right(ends_with_added, end)
                so_far = [line for line in lines if line.index < limit]
                levels = {line.query.level for line in so_far}
                elsewhere = [line for level in set(self._of_level) - levels for line in self._first(level, end, change)]
                rules.apply([*so_far, *elsewhere], _nodes_of(so_far), are_in_order=False)

    def _first(self, level: int, end: int, change: Change) -> Iterator[Response]:
        """The first line left of a level, where it is loaded by then: the limits look at all levels there are."""
        left = (line for line in self._of_level[level] if line.index not in change.removal.responses)
        return (line for line in islice(left, 1) if line.index < end)

    def _scored(
        self,
        unit_id: str,
        given: _Lines,
        policy: Policy,
        is_ranked: bool = True,
        base_ids: Container[str] | None = None,
    ) -> UnitResult:
        """Score a unit, or queries of it. Raises InputError where scoring would have to stop before its tables."""
        queries, run, gold = self._queries.get(unit_id, []), given.run, given.gold
        if base_ids is not None:
            queries = [query for query in queries if query.base_id in base_ids]
        if compares_values(gold.options.discipline):
            for query in queries:
                for assessment in gold.assessed.get(query.base_id, ()):
                    run.links.class_of_query(assessment.query)
        found: UnitResult | None = None
        for run_id in self._run_ids:
            if found is not None:
                _check_ranked(found)
            lines: dict[str, list[Response]] = defaultdict(list)
            for line in given.lines:
                if line.run_id == run_id:
                    lines[line.query.base_id].append(line)
            met = self._units.get(unit_id) if given.are_as_before and run_id == self.run_id else None
            unit = Unit(unit_id, gold, queries, gold.hop_limits, run, lines, given.nodes, found, met)
            found = score_unit(unit, policy, is_ranked)
            _check_counted(found)
        assert found is not None
        if base_ids is not None and unit_id in self._units:
            new = {each.query.short_id: each for each in found.queries}
            of_unit = self._units[unit_id].queries
            found = replace(found, queries=tuple(new.get(each.query.short_id, each) for each in of_unit))
        return found


class _Lines(Record):
    """Lines as they are after a change, linked, and what they are scored with.

    `are_as_before`: none has another index or number, so that they meet the assessments that they met.
    """

    lines: Sequence[Response]
    run: Run
    gold: Gold
    nodes: Nodes
    are_as_before: bool


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


def _meetings(lines_of: Mapping[str, Sequence[Response]]) -> Iterator[tuple[int, str]]:
    """The units in which lines of several files meet, each with how near the numbers of two such lines come."""
    for unit_id, lines in lines_of.items():
        if any(line.file != lines[0].file for line in lines):
            ordered = sorted(lines, key=attrgetter("number"))
            yield (
                min(after.number - line.number for line, after in pairwise(ordered) if after.file != line.file),
                unit_id,
            )


def _nodes_of(lines: Iterable[Response]) -> dict[str, list[Response]]:
    nodes: dict[str, list[Response]] = {}
    for line in lines:
        if line.node is not None:
            nodes.setdefault(line.node, []).append(line)
    return nodes


def _check_counted(unit: UnitResult) -> None:
    if unit.unmatched is not None:
        raise unit.unmatched
    for query in unit.queries:
        if query.uncounted is not None:
            raise query.uncounted


def _check_ranked(unit: UnitResult) -> None:
    for query in unit.queries:
        if query.unranked is not None:
            raise query.unranked


class Renumbering(Record):
    """The numbers that lines have once others of their file are gone: they decide ties between files.

    `gone` has the numbers of the lines that go, by file, in ascending order.
    """

    gone: Mapping[str, Sequence[int]]

    def number(self, file: str, number: int) -> int:
        """The number of a line that stays."""
        gone = self.gone.get(file)
        return number - bisect_left(gone, number) if gone else number


def renumbering(places: Iterable[Place]) -> Renumbering:
    """What deleting these lines does to the numbers of others."""
    gone: dict[str, list[int]] = defaultdict(list)
    for file, number in places:
        gone[file].append(number)
    return Renumbering({file: sorted(numbers) for file, numbers in gone.items()})


class Relinking:
    """Links lines once more, in load order, over what is known of queries and answers.

    `links` tells which answers these lines give.
    """

    def __init__(self, table: QuerySet, links: Links, gone: Iterable[Response]) -> None:
        """`links`: those of the whole input; `gone`: lines about the same queries that are not there any more."""
        self.links = Links(table, links)
        self.links.given.update((line.target, None) for line in gone)

    def line(self, line: Response, node_id: str | None, index: int, number: int) -> Response:
        """A line as it is linked behind those before it, with this node id, index and number."""
        query = line.query
        given = self.links.given
        node = None
        if node_id is not None:
            # At the second hop: the node of the first run line that gives the answer asked about, empty if none has.
            prefix = query.full_id if query.level != 1 else given.get(query.short_id) or ""
            node = prefix + node_id
        if len(query.slots) > 1 and given.get(line.target) is None:
            given[line.target] = node or ""
        return Response(
            index, number, line.text, query, line.run_id, line.confidence, node, line.follow_on, line.file, line.docid,
            line.kept,
        )  # fmt: skip


def linked_below(line: Response, giving: Iterable[ReadLine], gone: Container[int]) -> Response:
    """A line with the node that it has where the lines `gone`, by index, are not there.

    Node ids of the second hop begin with the node of the first run line that gives the answer asked about. `giving` are
    the lines that do, in load order.
    """
    node_id = node_id_of(line)
    if node_id is None or line.query.level != 1:
        return line
    left = (above for above in giving if isinstance(above, Response) and above.index not in gone)
    above = next(left, None)
    prefix = above.node if above is not None and above.index < line.index else None
    return replace(line, node=f"{prefix or ''}{node_id}")


def node_id_of(line: Response) -> str | None:
    """The node id of a line as its file has it; None where the layout has none."""
    return None if line.node is None else line.text.split("\t", 9)[8]
