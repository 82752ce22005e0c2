"""The optimistic scenario: a run scored as if every unassessed answer were right that can be.

For each unassessed answer an assessment is added to the pool by which it is correct. Hop by hop, the most confident
answer first, it takes the first class below that of its parent in which nothing right is yet, or else a new class.
Answers of one node take one class. An answer whose parent is not right by then stays wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final, NamedTuple, TypeAlias

from cs_score.analysis.coldstart.faults import counted_lines
from cs_score.analysis.coldstart.scored import Scored, score_for_analysis
from cs_score.base.records import replace
from cs_score.coldstart.gold import Run, group_by_query, group_by_unit
from cs_score.coldstart.judging import UNASSESSED, is_wrong_bin
from cs_score.coldstart.layouts import ASSESSMENTS_2016, FileKind, Schema
from cs_score.coldstart.lines import CORRECT, Assessment, FollowOn, Links, Response
from cs_score.coldstart.options import RIGHT
from cs_score.coldstart.tab_files import NO_SPAN, split_columns

_NAMED: Final = "NAM"


class OptimisticScenario:
    """Scores a run with assessments by which its unassessed answers are right; `added` are these assessments."""

    def __init__(self, scored: Scored) -> None:
        """Start from the run as it was scored."""
        self._scored = scored
        self.added: list[Assessment] = []

    def score(self) -> Scored:
        """Return the run scored with the added assessments. Raises InputError if it cannot be scored so."""
        writer = _AssessmentWriter(self._scored.run)
        scored = self._scored
        for level in _levels_of(scored):
            new_assessments: list[Assessment] = []
            for line, class_name in _assign_classes(scored, level):
                number = len(self.added) + len(new_assessments) + 1
                new_assessments.append(writer.write(line, class_name, number))
            if new_assessments:
                self.added += new_assessments
                scored = _score_with(scored, new_assessments)
        return scored


def _levels_of(scored: Scored) -> list[int]:
    """Return the hops that counted lines of a run answer, the first hop first."""
    levels: set[int] = set()
    for unit in scored.result.units:
        levels.update([line.query.level for line in counted_lines(unit)])
    return sorted(levels)


# ---- The classes of unassessed answers


class _ClassOfLine(NamedTuple):
    """An unassessed line, and the class that its answer takes."""

    line: Response
    class_name: str


def _assign_classes(scored: Scored, level: int) -> Iterator[_ClassOfLine]:
    """Yield every unassessed answer of a hop with a right parent, and a class for it in which no right answer is yet.

    Lines that give the same answer with the same justification are one answer: only the first of them is yielded.
    """
    links = scored.run.links
    found_classes = _classes_found(scored)
    free_classes_by_parent: dict[str, Iterator[str]] = {}
    for lines in _group_by_entity(_unassessed_lines(scored, level), links):
        query = lines[0].query
        parent_class = links.class_of_query(query)
        if parent_class not in free_classes_by_parent:
            free_classes = _free_classes(scored.run, query.base_id, parent_class, found_classes)
            free_classes_by_parent[parent_class] = free_classes
        class_name = next(free_classes_by_parent[parent_class])
        first_lines: dict[tuple[str, str, str], Response] = {}
        for line in lines:
            first_lines.setdefault((line.query.full_id, line.target, line.relation), line)
        for line in first_lines.values():
            yield _ClassOfLine(line, class_name)


def _classes_found(scored: Scored) -> set[str]:
    """Return the classes of the assessments of right lines."""
    class_names: set[str] = set()
    for unit in scored.result.units:
        for line in counted_lines(unit):
            assessment = unit.matched.get(line.index)
            if assessment is not None and RIGHT in unit.labels[line.index]:
                class_names.add(assessment.value_class)
    return class_names


def _unassessed_lines(scored: Scored, level: int) -> list[Response]:
    """Return the counted lines of a hop that nobody assessed and that could have an assessment.

    No assessment can match a line whose invalid provenance was replaced when its answer became an entry point.
    """
    lines = []
    for unit in scored.result.units:
        for line in counted_lines(unit):
            is_unassessed = line.query.level == level and UNASSESSED in unit.labels[line.index]
            if is_unassessed and line.provenance != NO_SPAN:
                lines.append(line)
    return lines


_EntityKey: TypeAlias = tuple[str, str, str]
"""What lines about the same entity have in common: an answer to a query, or a node below a class."""


def _group_by_entity(lines: Sequence[Response], links: Links) -> list[list[Response]]:
    """Return lines in groups that take one class each: lines of one node, and lines that give one answer.

    A group holds everything that is connected so, in load order. The most confident group comes first, then the one
    with the first line.
    """
    lines_by_key: dict[_EntityKey, list[Response]] = defaultdict(list)
    for line in lines:
        for key in _entity_keys(line, links):
            lines_by_key[key].append(line)
    groups: list[list[Response]] = []
    grouped_indexes: set[int] = set()
    for line in lines:
        group: list[Response] = []
        connected_lines = [line]
        while connected_lines:
            member = connected_lines.pop()
            if member.index in grouped_indexes:
                continue
            grouped_indexes.add(member.index)
            group.append(member)
            for key in _entity_keys(member, links):
                connected_lines += lines_by_key.pop(key, ())
        if group:
            groups.append(sorted(group, key=lambda member: member.index))
    return sorted(groups, key=_group_order)


def _group_order(group: Sequence[Response]) -> tuple[float, int]:
    """Return the sort key of a group of lines: its greatest confidence, then its first line."""
    return -max([line.confidence for line in group]), group[0].index


def _entity_keys(line: Response, links: Links) -> list[_EntityKey]:
    """Return the keys that a line shares with lines about the same entity: its answer, and its node if it has one.

    A node of the second hop may have answers below several classes; these are several entities.
    """
    keys = [("answer", line.query.full_id, line.target)]
    if line.node is not None:
        keys.append(("node", links.class_of_query(line.query), line.node))
    return keys


def _free_classes(run: Run, base_id: str, parent_class: str, found_classes: set[str]) -> Iterator[str]:
    """Yield the classes below a class that nothing right is in, in load order of the pool, then new ones without end.

    After `CS17_ENG_0001:7`, the last class of its query, the first new one is `CS17_ENG_0001:8`.
    """
    tree = run.gold.of_query(run.gold.table.by_id[base_id], run.links).tree
    assert tree is not None  # the query was scored
    last_number = 0
    for class_name, class_above in tree.parent_by_class.items():
        if class_above != parent_class or is_wrong_bin(class_name, tree.root):
            continue
        component = class_name.rpartition(":")[2]
        if component.isascii() and component.isdigit():
            last_number = max(last_number, int(component))
        if class_name not in found_classes:
            yield class_name
    for number in count(last_number + 1):
        yield f"{parent_class}:{number}"


# ---- The assessments of these answers


class _AssessmentWriter:
    """Writes lines for the end of the pool, by which an answer of the run is correct and a member of a class."""

    def __init__(self, run: Run) -> None:
        """Look for the layout of the pool and for lines of it that new ones can follow."""
        self._file = last_pool_file(run) or "pool"
        self._schema: Schema = run.layouts.get(self._file, ASSESSMENTS_2016)
        self._assessments = [assessment for assessment in run.gold.links.assessments if assessment.file == self._file]
        self._first_by_query: dict[str, Assessment] = {}
        self._last_number = 0
        for assessment in self._assessments:
            self._first_by_query.setdefault(assessment.query.base_id, assessment)
            self._last_number = max(self._last_number, assessment.number)
        assumed_mention = run.gold.table.edition.assumed_mention
        has_value_mention = self._schema.position("VALUE_MENTION_TYPE") is not None
        has_class_mention = self._schema.position("EC_MENTION_TYPE") is not None
        self._value_mention = _NAMED if has_value_mention else assumed_mention
        self._class_mention = _NAMED if has_class_mention else assumed_mention

    def write(self, line: Response, class_name: str, number: int) -> Assessment:
        """Return the assessment of a line's answer as correct; `number` counts the added assessments from 1."""
        _, slot, _, relation, value, _, provenance, _ = line.text.split("\t", 7)
        text_by_column = self._columns_of_similar(line)
        text_by_column["ASSESSMENT_ID"] = f"optimistic_{number}"
        text_by_column["QUERY_AND_SLOT_NAME"] = f"{line.query.full_id}:{slot}"
        text_by_column["RELATION_PROVENANCE_TRIPLES"] = relation
        text_by_column["VALUE"] = value
        text_by_column["VALUE_PROVENANCE_TRIPLES"] = provenance
        text_by_column["VALUE_ASSESSMENT"] = "C"
        text_by_column["VALUE_MENTION_TYPE"] = _NAMED
        text_by_column["PROVENANCE_ASSESSMENT"] = "C"
        text_by_column["VALUE_EC"] = class_name
        text_by_column["EC_MENTION_TYPE"] = _NAMED
        columns = [text_by_column.get(column, "0") for column in self._schema.columns]
        return Assessment(
            number=self._last_number + number,
            text="\t".join(columns),
            query=line.query,
            answer=line.answer,
            judgment=CORRECT,
            is_accepted=True,
            value_class=class_name,
            value_mention=self._value_mention,
            class_mention=self._class_mention,
            target=line.target,
            file=self._file,
        )

    def _columns_of_similar(self, line: Response) -> dict[str, str]:
        """Return the columns of an assessment of the same query, or of the first one; none if the file is empty.

        Some layouts have the subject of the query in columns that no score depends on.
        """
        similar = self._first_by_query.get(line.query.base_id)
        if similar is None and self._assessments:
            similar = self._assessments[0]
        if similar is None:
            return {}
        return dict(zip(self._schema.columns, split_columns(similar.text)))


def last_pool_file(run: Run) -> str | None:
    """Return the name of the last file of the pool; None if there is none."""
    name = None
    for file, schema in run.layouts.items():
        if schema.kind is FileKind.ASSESSMENTS:
            name = file
    return name


def _score_with(scored: Scored, new_assessments: Sequence[Assessment]) -> Scored:
    """Return the run scored against a pool with more assessments at its end."""
    run = scored.run
    links = Links(run.gold.table, run.links)
    links.follow_ons = _follow_ons_with(run, new_assessments)
    links.assessments = [*run.gold.links.assessments, *new_assessments]
    links.responses = []
    for line in run.links.responses:
        follow_on = links.follow_ons.get(line.target)
        links.responses.append(line if follow_on is None else replace(line, follow_on=follow_on))
    for name, lines in run.links.nodes.items():
        links.nodes[name] = [links.responses[line.index] for line in lines]
    gold = run.gold.changed(links=links, assessments_by_query=group_by_query(links.assessments))
    run = replace(run, gold=gold, links=links, lines=group_by_unit(gold, links.responses))
    return score_for_analysis(run, scored.policy, scored.run_id)


def _follow_ons_with(run: Run, new_assessments: Sequence[Assessment]) -> dict[str, FollowOn]:
    """Return copies of the follow-on queries about the answers of added assessments, which know these assessments."""
    follow_ons: dict[str, FollowOn] = {}
    for assessment in new_assessments:
        if assessment.target not in follow_ons:
            follow_on = run.links.follow_on(assessment.target)
            assert follow_on is not None  # a line of the run gives the answer
            follow_ons[assessment.target] = follow_on.copy()
        follow_ons[assessment.target].add(assessment)
    return follow_ons
