"""Find the faults of a run: lines that count as wrong, nodes with such lines, and equivalence classes not found. A node
has the lines of the run that are about the same entity. A class has the accepted answers of the pool that mean the
same. The labels of a line say how it counts. A row of the tables counts the answers to a query (`CS17_ENG_0001`) or, at
the second hop, to the queries about one class of the first hop (`CS17_ENG_0001:2`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from cs_score.analysis.coldstart.changes import Editor
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.records import Record
from cs_score.coldstart.judging import REDUNDANT, ClassTree, Labels, category_in, is_wrong_bin, parent_of_class
from cs_score.coldstart.lines import CORRECT, Assessment, Response
from cs_score.coldstart.options import DUPLICATE, RIGHT, WRONG, Policy
from cs_score.coldstart.result import UnitResult

MISSED: Final = "MISSED"
"""The category of a class that was not found."""


class RunFault(Record):
    """A fault of a run: a wrong line, a node of several lines with a wrong line, or a class that was not found.

    `lines_to_remove` has the wrong line, or all lines of the node in load order. `category` is None for a node.
    `class_name` is the class of the line's assessment if the assessment is accepted, or the class that was not found.
    For a class that was not found, `missed_answer` is the answer of the pool that would find it, `row` is the row of
    the tables that would count it, and `why_unreachable` says why no answer of the pool could find it (None if one
    could).
    """

    kind: Literal["line", "node", "class"]
    category: str | None
    class_name: str | None = None
    lines_to_remove: Sequence[Response] = ()
    missed_answer: Assessment | None = None
    row: str = ""
    why_unreachable: str | None = None

    @property
    def listed_line(self) -> Response | Assessment:
        """The line under which the fault is listed: the wrong line, the node's first line, or the missed answer."""
        return self.missed_answer or self.lines_to_remove[0]


ONLY_INEXACT: Final = "only inexact answers"
NONE_RIGHT: Final = "no answer that counts as right"
NO_RIGHT_PARENT: Final = "no right parent answer"
ONLY_NOMINAL: Final = "only nominal mentions"


class Reachability:
    """Decides whether some answer of the pool would find a class under a policy (docs/background/scoring.md). An answer
    finds its class if its judgment counts as right, if a right answer of the parent class leads to its query, and if
    its mention names the entity.

    In a run without node ids, all answers of a row belong to one node, so that it is enough if one of them names the
    entity.
    """

    def __init__(self, scored: AnalysedRun, *, with_nodes: bool) -> None:
        """Group the accepted answers of the pool by class; `with_nodes` says whether the run has node ids."""
        self._policy = scored.policy
        self._with_nodes = with_nodes
        self._answers_by_class: dict[str, list[Assessment]] = defaultdict(list)
        self._answers_by_follow_on_and_class: dict[tuple[str, str], list[Assessment]] = defaultdict(list)
        # A cache: whether a class has a right answer with right parents that leads to a follow-on query.
        self._rightness_by_follow_on_and_class: dict[tuple[str, str], bool] = {}
        for assessment in scored.run.gold.links.assessments:
            if assessment.is_accepted and _is_counted(assessment, scored):
                self._answers_by_class[assessment.value_class].append(assessment)
                # The answers of a class that lead to the same follow-on query, by the short id of this query.
                self._answers_by_follow_on_and_class[assessment.follow_on_id, assessment.value_class].append(assessment)
        self._rows_naming_entity = self._find_rows_naming_entity()

    def _find_rows_naming_entity(self) -> set[str]:
        """Return the names of the table rows that have an answer in the pool which names the entity.

        A row counts the classes below a query or below a class of the first hop: `CS17_ENG_0001:2`.
        """
        rows: set[str] = set()
        for class_name, answers in self._answers_by_class.items():
            if any(self._names_entity(answer) for answer in answers):
                rows.add(parent_of_class(class_name))
        return rows

    def why_unreachable(self, class_name: str) -> str | None:
        """Return why no answer of the pool would find a class, or None if some answer would find it.

        Answers must be right, have a right parent, and name the entity. In a run without node ids, the entity may be
        named by another class of the same row instead.
        """
        right_answers = [answer for answer in self._answers_by_class[class_name] if self._is_right(answer)]
        if not right_answers:
            # Accepted answers are correct or inexact. None of them is right here: if the policy counts correct answers
            # as right, there is no correct answer, and all are inexact.
            return ONLY_INEXACT if CORRECT in self._policy.right else NONE_RIGHT
        reachable_answers = [answer for answer in right_answers if self._has_right_parent(answer)]
        if not reachable_answers:
            return NO_RIGHT_PARENT
        is_named = any(self._names_entity(answer) for answer in reachable_answers)
        if is_named or self._is_named_by_row(class_name):
            return None
        return ONLY_NOMINAL

    def _is_named_by_row(self, class_name: str) -> bool:
        """Return whether another class of the same row names the entity, in a run whose rows are one node each."""
        return not self._with_nodes and parent_of_class(class_name) in self._rows_naming_entity

    def _is_right(self, answer: Assessment) -> bool:
        """Return whether the judgment of an answer counts as right under the policy."""
        return answer.judgment in self._policy.right

    def _names_entity(self, answer: Assessment) -> bool:
        """Return whether an answer names the entity of its class, or describes one that has no name in the pool."""
        is_named = answer.value_mention == "NAM" or answer.class_mention == "NOM"
        return is_named and answer.judgment not in self._policy.wrong

    def _has_right_parent(self, answer: Assessment) -> bool:
        """Return whether the parent of an answer, which its query asks about, is a right answer of the parent class.

        The result is True for all answers of the first hop, which have no parent.
        """
        if not answer.query.is_follow_on:
            return True
        # Several answers of the parent class may lead to this query: they are the possible parents.
        query_and_class = (answer.query.short_id, parent_of_class(answer.value_class))
        if query_and_class not in self._rightness_by_follow_on_and_class:
            self._rightness_by_follow_on_and_class[query_and_class] = self._has_right_answer(query_and_class)
        return self._rightness_by_follow_on_and_class[query_and_class]

    def _has_right_answer(self, query_and_class: tuple[str, str]) -> bool:
        """Return whether the pool has a right answer whose parents are also right.

        `query_and_class` has the short id of the follow-on query about the answer, and the answer's class.
        """
        answers = self._answers_by_follow_on_and_class[query_and_class]
        return any(self._is_right(answer) and self._has_right_parent(answer) for answer in answers)


def _is_counted(assessment: Assessment, scored: AnalysedRun) -> bool:
    """Return whether the scorer uses an assessment. It uses only one of several assessments of the same answer."""
    # The follow-on query about the answer has all its assessments.
    follow_on = scored.run.links.find_follow_on(assessment.follow_on_id)
    if follow_on is None:
        return False
    judgement = follow_on.judgement_of(assessment.query, assessment.answer)
    return judgement is not None and judgement.assessment is assessment


def find_faults(scored: AnalysedRun, editor: Editor) -> Iterator[RunFault]:
    """Yield the faults of a run unit by unit: wrong lines, then nodes with wrong lines, then classes not found.

    `editor` makes changes to the files of this run. Its `has_nodes` tells whether they have node ids.
    """
    reachability = Reachability(scored, with_nodes=editor.has_nodes)
    for unit in scored.result.units:
        yield from _faults_of_lines_and_nodes(scored, unit)
        yield from _faults_of_missed_classes(scored, unit, editor, reachability)


def _faults_of_lines_and_nodes(scored: AnalysedRun, unit: UnitResult) -> Iterator[RunFault]:
    """Yield a fault for each wrong line of a unit, then one for each node of several lines that has a wrong line."""
    line_faults = _faults_of_wrong_lines(scored, unit)
    yield from line_faults
    yield from _faults_of_nodes(scored, unit, line_faults)


def _faults_of_wrong_lines(scored: AnalysedRun, unit: UnitResult) -> list[RunFault]:
    """Return a fault for each line of a unit that counts as wrong, in the order of the tables."""
    faults: list[RunFault] = []
    for line in counted_lines(unit):
        labels = unit.labels_by_index[line.index]
        if WRONG in labels:
            category = category_of(labels, scored.policy)
            class_name = accepted_class(unit.assessment_by_index.get(line.index))
            fault = RunFault(kind="line", category=category, class_name=class_name, lines_to_remove=[line])
            faults.append(fault)
    return faults


def accepted_class(assessment: Assessment | None) -> str | None:
    """Return the class of an assessment, or None if there is no assessment or it did not accept the answer."""
    if assessment is None or not assessment.is_accepted:
        return None
    return assessment.value_class


def _faults_of_nodes(scored: AnalysedRun, unit: UnitResult, line_faults: Iterable[RunFault]) -> Iterator[RunFault]:
    """Yield a fault for each node with a wrong line, provided that it has several lines of the run in the unit.

    `line_faults` are the faults of the wrong lines of the unit, one for each line.
    """
    nodes: list[str] = []
    for fault in line_faults:
        node = fault.lines_to_remove[0].node
        if node is not None:
            nodes.append(node)
    for node in dict.fromkeys(nodes):  # each node once
        lines = _lines_of_node(node, scored, unit)
        if len(lines) > 1:
            yield RunFault(kind="node", category=None, lines_to_remove=lines)


def _lines_of_node(node: str, scored: AnalysedRun, unit: UnitResult) -> list[Response]:
    """Return the lines of a node that belong to the run and to a unit; `node` is its full node id."""
    unit_of = scored.run.gold.unit_of
    lines_of_run = [line for line in scored.run.links.lines_by_node[node] if line.run_id == scored.run_id]
    return [line for line in lines_of_run if unit_of(line.query.base_id) == unit.id]


def _faults_of_missed_classes(
    scored: AnalysedRun, unit: UnitResult, editor: Editor, reachability: Reachability
) -> Iterator[RunFault]:
    """Yield a fault for each class of a unit that was not found, in load order of the pool.

    Classes without an accepted answer in the pool are left out: no line could be added that finds them.
    """
    for row in rows_with_classes_to_find(scored, unit):
        for class_name in _classes_missed_in(row):
            if class_name in editor.answer_by_class:
                why_unreachable = _why_unreachable(class_name, row, reachability)
                yield _fault_of_missed_class(editor.answer_by_class[class_name], row, why_unreachable)


def _fault_of_missed_class(answer: Assessment, row: RowWithClasses, why_unreachable: str | None) -> RunFault:
    """Return the fault that a run has not found the class of an accepted answer.

    `row` would count the class; `why_unreachable` says why no answer of the pool could find it.
    """
    return RunFault(
        kind="class",
        category=MISSED,
        class_name=answer.value_class,
        missed_answer=answer,
        row=row.name,
        why_unreachable=why_unreachable,
    )


def _classes_missed_in(row: RowWithClasses) -> list[str]:
    """Return the classes of a row that were not found.

    If the slot takes one value, any class would do: if none was found, only the first class is returned.
    """
    if not row.takes_one_value:
        return [name for name in row.class_names if name not in row.found_classes]
    if row.found_classes:
        return []
    return row.class_names[:1]


def _why_unreachable(class_name: str, row: RowWithClasses, reachability: Reachability) -> str | None:
    """Return why no answer of the pool would find a class of a row, or None if some answer would find it.

    If the slot takes one value, it is enough that any class of the row is reachable. If no class is reachable, the
    reason for the row's first class is returned.
    """
    if not row.takes_one_value:
        return reachability.why_unreachable(class_name)
    reasons = [reachability.why_unreachable(name) for name in row.class_names]
    return None if None in reasons else reasons[0]


def category_of(labels: Labels, policy: Policy) -> str:
    """Return the category of a line as policies name it, from its labels: `INCORRECT`, `INEXACT`, `DUPLICATE` ...

    The category is DUPLICATE if the line counts as a duplicate of another line; otherwise it is that of the assessment.
    """
    category = category_in(labels)
    if REDUNDANT in labels:
        return DUPLICATE
    # A line is wrong by its category, or as a duplicate if the policy counts duplicates as wrong.
    is_wrong_by_category = category in policy.wrong
    if WRONG in labels and not is_wrong_by_category:
        return DUPLICATE
    return category


def counted_lines(unit: UnitResult) -> Iterator[Response]:
    """Yield the lines of a unit that some row of the tables counts, row by row."""
    for result in unit.queries:
        for tally in result.tallies:
            yield from tally.responses


class RowWithClasses(NamedTuple):
    """A row of the tables with classes of the ground truth.

    `class_names` are these classes in load order of the pool, and `found_classes` are the ones that right lines have
    found. `takes_one_value` says whether the slot takes one value.
    """

    name: str
    takes_one_value: bool
    class_names: list[str]
    found_classes: set[str]


def rows_with_classes_to_find(scored: AnalysedRun, unit: UnitResult) -> Iterator[RowWithClasses]:
    """Yield the rows of a unit that have classes of the ground truth, with these classes and the found ones."""
    for query_result in unit.queries:
        class_tree = scored.run.gold.gold_of_query(query_result.query, scored.run.links).tree
        assert class_tree is not None  # the query was scored
        lines_by_row = {tally.name: tally.responses for tally in query_result.tallies}
        for row_name, class_names in _classes_by_row(class_tree, lines_by_row).items():
            yield RowWithClasses(
                name=row_name,
                # A row has the name of the tree's node (a query or a class) to which its answers belong.
                takes_one_value=class_tree.is_single_valued_by_node.get(row_name, False),
                class_names=class_names,
                found_classes=classes_found(lines_by_row[row_name], unit),
            )


def _classes_by_row(tree: ClassTree, row_names: Container[str]) -> dict[str, list[str]]:
    """Return the classes of the ground truth by the row that counts them, for the rows with these names.

    A class is counted in the row of its parent, which has the parent's name. For a query with the classes 1 and 2:
    `{"CS17_ENG_0001": ["CS17_ENG_0001:1", "CS17_ENG_0001:2"]}`.
    """
    classes_by_row: dict[str, list[str]] = defaultdict(list)
    for class_name, parent in tree.parent_by_class.items():
        if parent in row_names and not is_wrong_bin(class_name, tree.root):
            classes_by_row[parent].append(class_name)
    return classes_by_row


def classes_found(lines: Iterable[Response], unit: UnitResult) -> set[str]:
    """Return the classes that the right lines among some lines of a unit have found."""
    class_names: set[str] = set()
    for line in lines:
        assessment = unit.assessment_by_index.get(line.index)
        if assessment is not None and RIGHT in unit.labels_by_index[line.index]:
            class_names.add(assessment.value_class)
    return class_names
