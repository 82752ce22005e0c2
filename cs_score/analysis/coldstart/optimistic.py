"""Make the optimistic scenario: the scores that a run would have if the unassessed answers were right. For each of them
an assessment is added to the pool that judges it correct and assigns it to an equivalence class (answers that mean the
same).

The answers are taken hop by hop, the most confident ones first. Each is assigned to the first class below its parent's
class for which the run has no right answer yet, or else to a new class. Answers of one node are assigned to the same
class. An answer stays wrong if its parent is not right even then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Final, NamedTuple, TypeAlias

from cs_score.analysis.coldstart.faults import classes_found, counted_lines
from cs_score.analysis.coldstart.scored import AnalysedRun, score_for_analysis
from cs_score.base.records import replace
from cs_score.coldstart.file_columns import ASSESSMENTS_2016, FileKind, Schema
from cs_score.coldstart.gold import Run, group_by_query, group_by_run_and_unit
from cs_score.coldstart.judging import UNASSESSED, is_wrong_bin
from cs_score.coldstart.lines import CORRECT, Assessment, FollowOn, LinkedQuery, Links, Response
from cs_score.coldstart.result import UnitResult
from cs_score.coldstart.tab_files import NO_SPAN, split_columns

_MENTION_TYPE_OF_NAMES: Final = "NAM"
"""The mention type of names."""

_CORRECT_CODE: Final = "C"
"""How files of assessments write the judgment that something is correct."""


class OptimisticScenario:
    """Scores a run with added assessments that make its unassessed answers right.

    `added` are these assessments; they are there after `score` was called.
    """

    def __init__(self, scored: AnalysedRun) -> None:
        """Start from a scored run."""
        self._scored = scored
        self.added: list[Assessment] = []

    def score(self) -> AnalysedRun:
        """Return the run scored with assessments of its unassessed answers, and keep these in `added`.

        Raises InputError if the run cannot be scored with them.
        """
        writer = _AssessmentWriter(self._scored.run)
        scored = self._scored
        # The class of an answer is below the class of its parent, which may only be known after the parent's hop is
        # assessed.
        for hop in _hops_of(scored):
            new_assessments = self._assess(scored, hop, writer)
            if new_assessments:
                self.added += new_assessments
                scored = _score_with_assessments(scored, new_assessments)
        return scored

    def _assess(self, scored: AnalysedRun, hop: int, writer: _AssessmentWriter) -> list[Assessment]:
        """Return assessments that judge the unassessed answers of a hop correct, as the `writer` makes them.

        `scored` is the run with the assessments that were added for earlier hops.
        """
        lines_with_classes = _assign_classes(scored, hop)
        first_number = len(self.added) + 1
        return [
            writer.assessment_of_line(line, class_name, number)
            for number, (line, class_name) in enumerate(lines_with_classes, first_number)
        ]


def _hops_of(scored: AnalysedRun) -> list[int]:
    """Return the hops that the counted lines of a run answer, in ascending order from 0."""
    hops: set[int] = set()
    for unit in scored.result.units:
        hops.update([line.query.level for line in counted_lines(unit)])
    return sorted(hops)


# ---- The classes of unassessed answers


class _ClassOfLine(NamedTuple):
    """An unassessed line, and the class that its answer is assigned to."""

    line: Response
    class_name: str


def _assign_classes(scored: AnalysedRun, hop: int) -> Iterator[_ClassOfLine]:
    """Yield each unassessed answer of a hop, with a class for it that no right line of the run has found yet.

    If several lines give the same answer with the same justification, only the first of them is yielded.
    """
    free_classes = _FreeClasses(scored)
    for lines in _group_by_entity(_unassessed_lines(scored, hop), scored.run.links):
        class_name = free_classes.take(lines[0].query)
        for line in _lines_with_different_answers(lines):
            yield _ClassOfLine(line, class_name)


class _FreeClasses:
    """Assigns classes to groups of lines: each class that no right line of a run has found is assigned to one group."""

    def __init__(self, scored: AnalysedRun) -> None:
        """Look up which classes a scored run has found."""
        self._run = scored.run
        self._found_classes = _classes_found_in_run(scored)
        self._classes_by_parent: dict[str, Iterator[str]] = {}

    def take(self, query: LinkedQuery) -> str:
        """Return the next free class for answers to a query; no class is returned twice.

        The class is below the parent class, that is, the class of the answer that the query asks about.
        """
        parent_class = self._run.links.class_of_query(query)
        if parent_class not in self._classes_by_parent:
            free_classes = _free_classes(self._run, query, parent_class, self._found_classes)
            self._classes_by_parent[parent_class] = free_classes
        return next(self._classes_by_parent[parent_class])  # there is always a next one: new classes are endless


def _lines_with_different_answers(lines: Iterable[Response]) -> Iterable[Response]:
    """Return the first line for each combination of query, answer and justification among some lines.

    The id of the follow-on query stands for the value and its provenance.
    """
    first_lines: dict[tuple[str, str, str], Response] = {}
    for line in lines:
        first_lines.setdefault((line.query.full_id, line.follow_on_id, line.relation_provenance), line)
    return first_lines.values()


def _classes_found_in_run(scored: AnalysedRun) -> set[str]:
    """Return the classes that right lines of a run have found."""
    class_names: set[str] = set()
    for unit in scored.result.units:
        class_names |= classes_found(counted_lines(unit), unit)  # by the right ones among the counted lines
    return class_names


def _unassessed_lines(scored: AnalysedRun, hop: int) -> list[Response]:
    """Return the counted lines of a hop that were not assessed, but could be."""
    lines = []
    for unit in scored.result.units:
        for line in counted_lines(unit):
            if line.query.level == hop and _could_be_assessed(line, unit):
                lines.append(line)
    return lines


def _could_be_assessed(line: Response, unit: UnitResult) -> bool:
    """Return whether a line of a unit was not assessed, but could be.

    A line whose provenance is invalid cannot be assessed, since no assessment would match it.
    """
    return UNASSESSED in unit.labels_by_index[line.index] and line.value_provenance != NO_SPAN


_EntityKey: TypeAlias = tuple[str, str, str]
"""A key that lines about the same entity share: an answer to a query, or a node together with the parent class."""


def _group_by_entity(lines: Sequence[Response], links: Links) -> list[list[Response]]:
    """Return lines in groups that are about the same entity, and are assigned to one class.

    Lines of the same node are in one group, and lines that give the same answer are, too; a group has all lines that
    are connected in these ways, in load order. Groups are sorted by confidence, the most confident one first.
    """
    neighbours = _LinesByEntityKey(lines, links)
    groups: list[list[Response]] = []
    grouped_indexes: set[int] = set()
    for line in lines:
        if line.index not in grouped_indexes:
            group = neighbours.connected_lines(line)
            grouped_indexes.update([member.index for member in group])
            groups.append(group)
    return sorted(groups, key=_group_order)


class _LinesByEntityKey:
    """Finds the lines that share an entity key with a line: the same answer to the same query, or the same node."""

    def __init__(self, lines: Iterable[Response], links: Links) -> None:
        """Index lines by their entity keys."""
        self._links = links
        self._lines_by_key: dict[_EntityKey, list[Response]] = defaultdict(list)
        for line in lines:
            for key in _entity_keys(line, links):
                self._lines_by_key[key].append(line)

    def connected_lines(self, first_line: Response) -> list[Response]:
        """Return the lines that share a key with a line, the lines that share a key with these lines, and so on.

        The lines are in load order and include the given line. All their keys are removed from the index.
        """
        line_by_index = {first_line.index: first_line}
        lines_to_visit = [first_line]
        while lines_to_visit:
            for neighbour in self._take_neighbours(lines_to_visit.pop()):
                if neighbour.index not in line_by_index:
                    line_by_index[neighbour.index] = neighbour
                    lines_to_visit.append(neighbour)
        return [line_by_index[index] for index in sorted(line_by_index)]

    def _take_neighbours(self, line: Response) -> list[Response]:
        """Return the lines that share an entity key with a line, among them the line itself, and forget these keys.

        A key is needed only once, since a single visit connects all lines that share it.
        """
        neighbours: list[Response] = []
        for key in _entity_keys(line, self._links):
            neighbours += self._lines_by_key.pop(key, ())
        return neighbours


def _group_order(group: Sequence[Response]) -> tuple[float, int]:
    """Return the sort key of a group of lines: minus its greatest confidence, then the index of its first line."""
    return -max([line.confidence for line in group]), group[0].index


def _entity_keys(line: Response, links: Links) -> list[_EntityKey]:
    """Return the keys that a line shares with other lines about the same entity: its answer, and its node if any.

    A node of the second hop may have answers below several parent classes, which are different entities. Therefore, the
    key contains the parent class or, in the first hop, the query.
    """
    keys = [("answer", line.query.full_id, line.follow_on_id)]  # the id stands for the value and its provenance
    if line.node is not None:
        keys.append(("node", links.class_of_query(line.query), line.node))
    return keys


def _free_classes(run: Run, query: LinkedQuery, parent_class: str, found_classes: Container[str]) -> Iterator[str]:
    """Yield the classes below a parent class that were not found, in load order of the pool, then endless new ones.

    After `CS17_ENG_0001:7`, the last class of a query, the first new one is `CS17_ENG_0001:8`.
    """
    classes = _classes_below(run, query, parent_class)
    for class_name in classes:
        if class_name not in found_classes:
            yield class_name
    last_number = max([_number_of_class(class_name) for class_name in classes], default=0)
    for number in count(last_number + 1):
        yield f"{parent_class}:{number}"


def _classes_below(run: Run, query: LinkedQuery, parent_class: str) -> list[str]:
    """Return the classes of the ground truth of a query that are below a class, in load order of the pool.

    A follow-on query has no ground truth of its own; it has the classes of the query in the query file.
    """
    query_of_file = run.gold.query_set.by_id[query.base_id]
    tree = run.gold.gold_of_query(query_of_file, run.links).tree
    assert tree is not None  # the query was scored
    classes = []
    for class_name, class_above in tree.parent_by_class.items():
        # A wrong bin is not a class: it collects the answers without a class.
        if class_above == parent_class and not is_wrong_bin(class_name, tree.root):
            classes.append(class_name)
    return classes


def _number_of_class(class_name: str) -> int:
    """Return the last component of the name of a class: `CS17_ENG_0001:7` -> 7; 0 if that is not a number."""
    component = class_name.rpartition(":")[2]
    is_number = component.isascii() and component.isdigit()
    return int(component) if is_number else 0


# ---- The assessments of these answers


class _AssessmentWriter:
    """Makes assessments for the end of the pool that judge an answer of the run correct and assign it to a class."""

    def __init__(self, run: Run) -> None:
        """Take the layout of the pool's last file, and its assessments as models for new ones."""
        self._file = last_pool_file(run) or "pool"
        self._schema: Schema = run.layouts.get(self._file, ASSESSMENTS_2016)
        self._assessments = [assessment for assessment in run.gold.links.assessments if assessment.file == self._file]
        self._first_assessment_by_query: dict[str, Assessment] = {}
        for assessment in self._assessments:
            self._first_assessment_by_query.setdefault(assessment.query.base_id, assessment)
        self._last_number = max([assessment.number for assessment in self._assessments], default=0)
        # The mention type that the edition assumes for pools without mention types.
        self._assumed_mention_type = run.gold.query_set.edition.assumed_mention

    def assessment_of_line(self, line: Response, class_name: str, number: int) -> Assessment:
        """Return an assessment that judges a line's answer correct and assigns it to a class.

        `number` is the position of the assessment among the added ones, counted from 1.
        """
        text_by_column = self._columns_of_assessment(line, class_name, number)
        # A column without text has the code `0` for unknown.
        return Assessment(
            number=self._last_number + number,
            text="\t".join([text_by_column.get(column, "0") for column in self._schema.columns]),
            query=line.query,
            answer=line.answer,
            judgment=CORRECT,
            is_accepted=True,
            value_class=class_name,
            value_mention=self._mention_in_column("VALUE_MENTION_TYPE"),
            class_mention=self._mention_in_column("EC_MENTION_TYPE"),
            follow_on_id=line.follow_on_id,
            file=self._file,
        )

    def _mention_in_column(self, column: str) -> str | None:
        """Return the mention type in a column of new assessments: `NAM`; without the column, the assumed one."""
        has_column = self._schema.position(column) is not None
        return _MENTION_TYPE_OF_NAMES if has_column else self._assumed_mention_type

    def _columns_of_assessment(self, line: Response, class_name: str, number: int) -> dict[str, str]:
        """Return the texts of a new assessment by column; some of the columns may be missing in its layout.

        `number` is the position of the assessment among the added ones, counted from 1: the first id is `optimistic_1`.
        """
        # The line has: query, slot, run, relation provenance, value, value type, value provenance, further columns.
        _, slot, _, relation, value, _, provenance, _ = line.text.split("\t", 7)
        return {
            **self._columns_of_similar_assessment(line),
            "ASSESSMENT_ID": f"optimistic_{number}",
            "QUERY_AND_SLOT_NAME": f"{line.query.full_id}:{slot}",
            "RELATION_PROVENANCE_TRIPLES": relation,
            "VALUE": value,
            "VALUE_PROVENANCE_TRIPLES": provenance,
            "VALUE_ASSESSMENT": _CORRECT_CODE,
            "VALUE_MENTION_TYPE": _MENTION_TYPE_OF_NAMES,
            "PROVENANCE_ASSESSMENT": _CORRECT_CODE,
            "VALUE_EC": class_name,
            "EC_MENTION_TYPE": _MENTION_TYPE_OF_NAMES,
        }

    def _columns_of_similar_assessment(self, line: Response) -> dict[str, str]:
        """Return the texts by column of an assessment of the same query, or else of the file's first assessment.

        The texts fill columns that only some layouts have, such as the subject of the query. Scores do not depend on
        them. The result is empty if the file has no assessments.
        """
        similar_assessment = self._first_assessment_by_query.get(line.query.base_id)
        if similar_assessment is None and self._assessments:
            similar_assessment = self._assessments[0]
        if similar_assessment is None:
            return {}
        return dict(zip(self._schema.columns, split_columns(similar_assessment.text)))


def last_pool_file(run: Run) -> str | None:
    """Return the name of the last file of the pool, or None if there is no such file."""
    name = None
    for file, schema in run.layouts.items():
        if schema.kind is FileKind.ASSESSMENTS:
            name = file
    return name


def _score_with_assessments(scored: AnalysedRun, new_assessments: Sequence[Assessment]) -> AnalysedRun:
    """Return the run scored against its pool with some more assessments at the end."""
    run = scored.run
    # The links hold all lines of the pool and of the run. The gold data take their assessments, the run its responses.
    links = _links_with(run, new_assessments)
    gold = run.gold.with_fields(links=links, assessments_by_query=group_by_query(links.assessments))
    lines_by_run_and_unit = group_by_run_and_unit(gold, links.responses)
    run_over_new_pool = replace(run, gold=gold, links=links, lines_by_run_and_unit=lines_by_run_and_unit)
    return score_for_analysis(run_over_new_pool, scored.policy, scored.run_id)


def _links_with(run: Run, new_assessments: Sequence[Assessment]) -> Links:
    """Return the links of a run and its pool with some more assessments at the end of the pool.

    Links hold lines of runs and assessments with the queries that they answer, and with the follow-on queries about
    their answers.
    """
    links = Links(run.gold.query_set, run.links)  # everything that is not replaced is looked up in the old links
    links.assessments = [*run.gold.links.assessments, *new_assessments]
    links.follow_ons = _follow_ons_with(run, new_assessments)
    links.responses = [_with_follow_on(line, links.follow_ons) for line in run.links.responses]
    for name, lines in run.links.lines_by_node.items():
        links.lines_by_node[name] = [links.responses[line.index] for line in lines]
    return links


def _with_follow_on(line: Response, follow_on_by_id: Mapping[str, FollowOn]) -> Response:
    """Return a line with the follow-on query about its answer, if that is among these, by short id."""
    follow_on = follow_on_by_id.get(line.follow_on_id)
    return line if follow_on is None else replace(line, follow_on=follow_on)


def _follow_ons_with(run: Run, new_assessments: Sequence[Assessment]) -> dict[str, FollowOn]:
    """Return copies of the follow-on queries about newly assessed answers, with the new assessments, by short id."""
    follow_ons: dict[str, FollowOn] = {}
    for assessment in new_assessments:
        if assessment.follow_on_id not in follow_ons:
            follow_on = run.links.find_follow_on(assessment.follow_on_id)
            assert follow_on is not None  # a line of the run gives the answer
            follow_ons[assessment.follow_on_id] = follow_on.copy()
        follow_ons[assessment.follow_on_id].add(assessment)
    return follow_ons
