"""Match responses to assessments, place them in the tree of classes, label them, and count the labels of each row.

The root of the tree is the query, such as `CSX_ENG_00fb79cef8`. Below it are the equivalence classes of its answers,
such as `CSX_ENG_00fb79cef8:1`, and below these the classes of the second hop, such as `CSX_ENG_00fb79cef8:1:2`. A class
with a component `0`, such as `CSX_ENG_00fb79cef8:0`, is a wrong bin: it collects responses that belong to no class.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, astuple, field, replace
from cs_score.coldstart.lines import (
    CORRECT,
    JUDGMENT_OF_CODE,
    Assessment,
    Judgement,
    LinkedQuery,
    Links,
    Response,
    sort_by_confidence,
)
from cs_score.coldstart.options import IGNORE, LATEST, RIGHT, SIDES, WRONG, Edition, Policy, unknown_discipline_message
from cs_score.coldstart.queries import find_predicate, parse_query_id
from cs_score.measures.registry import divide, f1
from cs_score.problems.log import ProblemLog

# ---- Matching responses to assessments

AssessmentByIndex: TypeAlias = Mapping[int, Assessment]
"""The assessments of responses by the index of the response; a response without assessment has no entry."""


class ValueKey(NamedTuple):
    """The key by which a discipline finds answers with the same text, whatever their justification.

    Two answers have the same key if they answer queries of the same hop (`level`), if these queries belong to the same
    class, and if their texts have the same `compared_value`.
    """

    level: int
    class_of_query: str
    compared_value: str


JudgementByValue: TypeAlias = Mapping[ValueKey, Judgement]
"""How the answers to a query and its follow-on queries were judged, by their text."""


def _fold_case(text: str) -> str:
    """Return the text in lower case, with a capital sigma always as `σ`, even at the end of a word."""
    return text.replace("Σ", "σ").lower()


_COMPARED_FORM: Final[dict[str, Callable[[str], str] | None]] = {
    "ASSESSED": None,
    "STRING_CASE": _fold_case,
    "STRING_EXACT": str,
}
"""The function, for each discipline, that brings the text of an answer into the form in which it is compared.

Texts are compared if no assessment has the same justification; None means that they are never compared.
"""


def check_discipline(name: str) -> None:
    """Raise InputError if there is no discipline of this name."""
    if name not in _COMPARED_FORM:
        raise InputError(unknown_discipline_message(name))


def compares_values(discipline: str) -> bool:
    """Return whether a discipline compares the texts of answers that have different justifications."""
    return _COMPARED_FORM[discipline] is not None


def index_values(assessments: Iterable[Assessment], links: Links, discipline: str) -> JudgementByValue:
    """Return how the answers to one query were judged, by their text.

    The result is empty if the discipline does not compare the texts of answers. If several assessments have the same
    text, the first correct one of them counts, or the first one if none is correct.

    `assessments` belong to the query and to its follow-on queries, and are in load order. Raises InputError if one of
    these queries has no class.
    """
    compared_form = _COMPARED_FORM[discipline]
    judgement_by_value: dict[ValueKey, Judgement] = {}
    if compared_form is None:
        return judgement_by_value
    for assessment in assessments:
        query = assessment.query
        key = ValueKey(query.level, links.class_of_query(query), compared_form(assessment.value))
        judgement = judgement_by_value.get(key)
        if judgement is None:
            judgement_by_value[key] = Judgement(assessment, is_ambiguous=False)
        else:
            judgement_by_value[key] = judgement.with_assessment(assessment)
    return judgement_by_value


def find_assessments(
    responses: Iterable[Response],
    judgement_by_value: JudgementByValue,
    links: Links,
    discipline: str,
    problems: ProblemLog,
) -> dict[int, Assessment]:
    """Return the assessment of each response that has one, by the index of the response.

    The assessment of a response has the same answer with the same justification. If there is none, and if the
    discipline compares texts, an assessment whose answer has the same text will do.

    `judgement_by_value` has the assessed answers by their text, for disciplines that compare texts. A response with
    several correct assessments is reported to `problems`. Raises InputError if the class of a query is needed, but the
    query has none.
    """
    compared_form = _COMPARED_FORM[discipline]
    assessment_by_index: dict[int, Assessment] = {}
    for response in responses:
        query = response.query
        follow_on = response.follow_on
        first_assessment = follow_on.assessment
        judgement = None
        # Look for the same answer with the same justification.
        if first_assessment is not None:
            answer = response.answer
            has_one_assessment = follow_on.judgements is None
            if has_one_assessment and first_assessment.query is query and first_assessment.answer == answer:
                # Nearly all answers were assessed once: doing without a Judgement saves 2 % of the time of a scoring.
                assessment_by_index[response.index] = first_assessment
                continue
            judgement = follow_on.judgement_of(query, answer)
        # Otherwise look for an answer with the same text.
        if judgement is None and compared_form is not None:
            compared_value = compared_form(response.value)
            key = ValueKey(query.level, links.class_of_query(query), compared_value)
            judgement = judgement_by_value.get(key)
        if judgement is None:
            continue
        if judgement.is_ambiguous:
            problems.add("MULTIPLE_CORRECT_GROUND_TRUTH", query.short_id, place=response.place)
        assessment_by_index[response.index] = judgement.assessment
    return assessment_by_index


# ---- Categories and labels

INCORRECT_PARENT: Final = "INCORRECT_PARENT"
UNASSESSED: Final = "UNASSESSED"
REDUNDANT: Final = "REDUNDANT"

NO_SIDE: Final = ""
"""The label that duplicates get instead of a side under a policy that does not mention duplicates."""

CATEGORIES: Final = (*JUDGMENT_OF_CODE.values(), UNASSESSED, INCORRECT_PARENT)
"""The categories of a response before a policy is applied."""

Labels: TypeAlias = tuple[str, ...]
"""The categories and sides of a response, sorted, such as `("CORRECT", "RIGHT")`.

A side is repeated if the response counts there several times.
"""


def pre_policy_category(assessment: Assessment | None) -> str:
    """Return the category of a response before a policy is applied, such as `CORRECT`.

    It is the judgment of its assessment, or `UNASSESSED` if it has none.
    """
    return UNASSESSED if assessment is None else assessment.judgment


@functools.cache
def category_in(labels: Labels) -> str:
    """Return the category among the labels of a response: `("CORRECT", "RIGHT")` -> `CORRECT`.

    `IGNORE` is the name of a category and of a side, so it is the category only if the labels have no other.
    """
    for label in labels:
        if label in CATEGORIES and label != IGNORE:
            return label
    return IGNORE


def labels_without(labels: Sequence[str], category: str) -> list[str]:
    """Return the labels of a response other than its category before the policy."""
    return [label for label in labels if label != category]


@functools.cache
def _labels_by_category(policy: Policy) -> Mapping[str, Labels]:
    """Return the labels that responses get at first under a policy, by the category of the response.

    They are the category and the sides on which the policy counts it: `CORRECT` -> `("CORRECT", "RIGHT")`.
    """
    labels_by_category = {}
    for category in CATEGORIES:
        labels = [category]
        for side in SIDES:
            # A policy may name a category several times.
            labels += [side] * policy.categories_on(side).count(category)
        labels_by_category[category] = tuple(sorted(labels))
    return labels_by_category


@functools.cache
def _replace_right(labels: Labels, replacements: Labels) -> Labels:
    """Return the labels of a response with `replacements` instead of one label RIGHT, sorted."""
    new_labels = list(labels)
    new_labels.remove(RIGHT)
    new_labels += replacements
    return tuple(sorted(new_labels))


@functools.cache
def _remove_credit(labels: Labels, is_ignored: bool) -> Labels:
    """Return the labels of a response that is no longer right, sorted: without RIGHT and REDUNDANT, but with IGNORE.

    If `is_ignored`, the response is ignored already, and no further label IGNORE is added.
    """
    new_labels = [label for label in labels if label not in (RIGHT, REDUNDANT)]
    if not is_ignored:
        new_labels.append(IGNORE)
    return tuple(sorted(new_labels))


# ---- The tree of classes

MOST_COMPONENTS: Final = 100
"""The most components of a class name after its query; queries have two or three hops."""

ResponsesByClass: TypeAlias = Mapping[str, Sequence[Response]]
"""The responses of a run in each class, in load order; empty classes have no entry."""


class ClassTree(Struct):
    """The tree of the equivalence classes of one query: the query is the root, the classes are nodes below it.

    Assessments of the query may also name classes of other queries; these have roots of their own.

    - `root` is the full id of the query, `other_roots` are the full ids of other queries.
    - `is_single_by_row` says, for inner nodes, whether the slot that is filled below the node takes one value.
    - `ldc_id_by_query` has the queries that LDC queries were expanded to; if there are any, other roots must be among
      them.
    - `parent_by_class` has the node above each class; a parent is added before its children.
    - `ground_truth` has, for inner nodes, the number of classes to be found below the node; wrong bins do not count.
    """

    root: str
    is_single_by_row: dict[str, bool]
    ldc_id_by_query: Mapping[str, str] = field(default_factory=dict)
    parent_by_class: dict[str, str] = field(default_factory=dict)
    ground_truth: dict[str, int] = field(default_factory=dict)
    other_roots: dict[str, None] = field(default_factory=dict)

    def copy(self) -> ClassTree:
        """Return a copy to which classes can be added without changing this tree."""
        return ClassTree(
            root=self.root,
            is_single_by_row=self.is_single_by_row,
            ldc_id_by_query=self.ldc_id_by_query,
            parent_by_class=self.parent_by_class.copy(),
            ground_truth=self.ground_truth.copy(),
            other_roots=self.other_roots.copy(),
        )

    @property
    def inner_nodes(self) -> list[str]:
        """Return the names of the nodes with classes below them, parents first; each has a row in the tables."""
        names = [self.root, *self.other_roots, *self.parent_by_class]
        return [name for name in names if name in self.ground_truth]

    def is_root(self, name: str) -> bool:
        """Return whether a node is a query and no class."""
        return name == self.root or name in self.other_roots

    def depth(self, name: str) -> int:
        """Return 0 for the query, 1 for the classes of its answers, 2 for the classes of the second hop."""
        depth = name.count(":")
        if name.startswith(self.root):
            # The id of a query may contain colons itself.
            depth -= self.root.count(":")
        return depth

    def add(self, name: str) -> None:
        """Add the class with this name, and the classes above it, unless the tree has them already.

        Each class that is added counts in the ground truth of its parent, except a wrong bin. Raises InputError if the
        name does not begin with the id of a query that exists, or has too many components.
        """
        if name in self.parent_by_class or name == self.root:
            return
        parent = name.rpartition(":")[0]
        self._check_class(name, parent)
        # Add the node above first, unless it is there.
        if parent != self.root:
            is_query = ":" not in parent
            if is_query:
                self.other_roots[parent] = None
            elif parent not in self.parent_by_class:
                self.add(parent)
        self.parent_by_class[name] = parent
        self.ground_truth.setdefault(parent, 0)
        if not is_wrong_bin(name, self.root):
            self.ground_truth[parent] += 1

    def _check_class(self, name: str, parent: str) -> None:
        """Raise InputError if the class `name` must not be in the tree; `parent` is the name of the node above it.

        That is so if the class has too many components, or if the node above it is no class and not the id of a query.
        If there are LDC queries, the query must be one that an LDC query was expanded to.
        """
        component_count = name.count(":")
        if component_count > MOST_COMPONENTS:
            raise InputError(f"equivalence class with {component_count} components: {name}", place=f"query {self.root}")
        is_parent_a_class = ":" in parent
        if is_parent_a_class or parent == self.root:
            return
        parts = parse_query_id(parent)
        if parts is None:
            problem = f'unexpected argument: "{parent}" sent to parse_queryid'
        elif self.ldc_id_by_query and parts.base_id not in self.ldc_id_by_query:
            problem = "queryid undefined in QuerySet->get()"
        else:
            return
        raise InputError(
            problem,
            place=f"query {self.root}",
            remedy=f"the equivalence class {name} of one of its answers should be {self.root}:n or {self.root}:n:m; "
            "correct VALUE_EC",
        )


def is_wrong_bin(name: str, root: str) -> bool:
    """Return whether a node is a wrong bin: it collects responses that belong to no class (rule ground-truth).

    A wrong bin has a component `0` after the id of the query, which is `root` for the classes of the query itself:
    `CSX_ENG_00fb79cef8:0`, `CSX_ENG_00fb79cef8:0:1`.
    """
    components = name.removeprefix(root)
    return components.endswith(":0") or ":0:" in components


def tree_name(value_class: str) -> str:
    """Return the name that an equivalence class of the pool has in the tree: it has no colons at the end."""
    return value_class.rstrip(":")


def build_tree(
    root: LinkedQuery, assessments: Sequence[Assessment], links: Links, problems: ProblemLog, edition: Edition = LATEST
) -> ClassTree:
    """Return the tree of the query `root` with the classes of its assessments (rule ground-truth).

    `assessments` belong to the query and to its follow-on queries, and are in load order. A wrong answer to a follow-on
    query about an answer that nobody accepted has no place in the tree: it is reported to `problems`, or is an error in
    some editions.

    Raises InputError (rule odd-classes) for a correct answer below a class that no earlier assessment accepts, and for
    an inexact answer below a class that no assessment accepts at all.
    """
    tree = ClassTree(root.full_id, {root.full_id: root.is_single_valued}, links.query_set.ldc_id_by_query)
    accepted_classes: set[str] = set()
    inexact_without_parent: list[Assessment] = []
    texts_by_target: Mapping[str, Sequence[str]] | None = None
    for assessment in assessments:
        name = _class_of_assessment(assessment, links)
        if name is None:
            if edition.refuses_orphans:
                raise _orphan_error(assessment, edition)
            if texts_by_target is None:
                texts_by_target = _texts_by_target(assessments)
            _report_orphan(assessment, texts_by_target, problems)
            continue
        tree.add(name)

        # Below the class are the answers to a follow-on query, which fill the next slot.
        if name not in tree.is_single_by_row and len(assessment.query.slots) > 1:
            next_predicate = find_predicate(assessment.query.slots[1])
            tree.is_single_by_row[name] = next_predicate is not None and next_predicate.is_single_valued

        # An accepted answer of the second hop needs an accepted answer that leads to it.
        if not assessment.is_accepted:
            continue
        accepted_classes.add(name)
        parent = tree.parent_by_class.get(name, tree.root)
        if tree.is_root(parent) or parent in accepted_classes:
            continue
        if assessment.judgment == CORRECT:
            raise _missing_parent_error(assessment, "before it")
        if not is_wrong_bin(parent, tree.root):  # an inexact answer below wrong answers is allowed
            inexact_without_parent.append(assessment)

    # An inexact answer may come before the answer that leads to it, so that it is checked at the end.
    for assessment in inexact_without_parent:
        parent = tree.parent_by_class[tree_name(assessment.value_class)]
        if parent not in accepted_classes:
            raise _missing_parent_error(assessment, "in the pool")
    return tree


def _class_of_assessment(assessment: Assessment, links: Links) -> str | None:
    """Return the name of the class that an assessment belongs to, such as `CSX_ENG_00fb79cef8:1`.

    For a wrong answer it is the wrong bin of its query, such as `CSX_ENG_00fb79cef8:0`. The result is None for a wrong
    answer to a follow-on query about an answer that nobody accepted.
    """
    if assessment.is_accepted:
        return tree_name(assessment.value_class)
    if not links.is_accepted(assessment.query):
        return None
    class_of_query = links.class_of_query(assessment.query)
    return f"{class_of_query}:0"


def _orphan_error(assessment: Assessment, edition: Edition) -> InputError:
    """Return the error for a wrong answer to a follow-on query about an answer that nobody accepted.

    `edition` is the edition that scores no pool with such an answer.
    """
    return assessment.error(
        f"a wrong answer to the query {assessment.query.full_id}, which no accepted answer leads to",
        f"{edition.name} stops here; take the line out, or assess the answer that it depends on",
    )


def _texts_by_target(assessments: Iterable[Assessment]) -> dict[str, list[str]]:
    """Return the lines of the pool by the short id of the follow-on query about the answer of the line."""
    texts_by_target: dict[str, list[str]] = {}
    for assessment in assessments:
        texts_by_target.setdefault(assessment.target, []).append(assessment.text)
    return texts_by_target


def _report_orphan(assessment: Assessment, texts_by_target: Mapping[str, Sequence[str]], problems: ProblemLog) -> None:
    """Report a wrong answer to a follow-on query about an answer that nobody accepted.

    The message contains the lines that assess this answer, its parents. `texts_by_target` has the lines of the pool by
    the short id of the follow-on query about their answer.
    """
    parent_texts = texts_by_target.get(assessment.query.short_id, ())
    parents = "\n".join(parent_texts)
    problems.add(
        "UNEXPECTED_ASSESSMENT_ENTRY",
        f"\nUnexpected child: \n{assessment.text}\n",
        f"\nAll parents:\n{parents}\n",
        place=assessment.place,
    )


def _missing_parent_error(assessment: Assessment, where: str) -> InputError:
    """Return the error for an assessment whose class is below a class without accepted answer.

    `where` says in which part of the pool an answer of that class was looked for: "before it" or "in the pool".
    """
    parent_class = assessment.value_class.rpartition(":")[0]
    return assessment.error(
        f"Equivalence class without correct parent entry: {assessment.text}",
        f"there is no correct or inexact answer of class {parent_class} {where}",
    )


def place_responses(
    tree: ClassTree, responses: Iterable[Response], assessment_by_index: AssessmentByIndex, links: Links
) -> ResponsesByClass:
    """Return the responses of a run to one query by the name of their class, in load order.

    The first of these classes that there is becomes the class of a response:

    1. the class of its assessment, if the assessment accepts the answer,
    2. the class of the same answer with another justification, if an assessment accepts that; this class is not for a
       response that was assessed as wrong, unless the query of its assessment is about an answer that nobody accepted,
    3. the wrong bin of its query, such as `CSX_ENG_00fb79cef8:0`.

    Classes that the tree does not have yet are added to it.
    """
    responses_by_class: dict[str, list[Response]] = {}
    wrong_bin_by_query: dict[LinkedQuery, str] = {}
    for response in responses:
        query = response.query
        assessment = assessment_by_index.get(response.index)
        accepting_assessment = response.follow_on.accepting_assessment
        if assessment is not None and assessment.is_accepted:
            name = tree_name(assessment.value_class)
        elif accepting_assessment is not None and (assessment is None or not links.is_accepted(assessment.query)):
            name = tree_name(accepting_assessment.value_class)
        elif query in wrong_bin_by_query:
            name = wrong_bin_by_query[query]
        else:
            name = f"{links.class_of_query(query)}:0"
            wrong_bin_by_query[query] = name
        if name not in responses_by_class:
            tree.add(name)
            responses_by_class[name] = []
        responses_by_class[name].append(response)
    return responses_by_class


# ---- Counts of rows


class Counts(Record):
    """Numbers of responses by category, and of the classes to be found (`ground_truth`).

    Precision is right / answered. This differs from right / (right + wrong) if a response counts as both or as neither.
    Recall is right / ground truth. Both, and F1, are 0 if the denominator is 0.
    """

    ground_truth: int = 0
    submitted: int = 0
    correct: int = 0
    incorrect: int = 0
    inexact: int = 0
    incorrect_parent: int = 0
    unassessed: int = 0
    redundant: int = 0
    right: int = 0
    wrong: int = 0
    ignored: int = 0

    @property
    def answered(self) -> int:
        """Return the number of responses that are not ignored."""
        return self.submitted - self.ignored

    @property
    def precision(self) -> float:
        """Return the share of right responses among the answered ones."""
        return divide(self.right, self.answered)

    @property
    def recall(self) -> float:
        """Return the share of the classes to be found that were found."""
        return divide(self.right, self.ground_truth)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        return float(f1(self.precision, self.recall))


def sum_counts(counts: Iterable[Counts]) -> Counts:
    """Return the sums of the counts, field by field; all are 0 if there are no counts."""
    rows = [astuple(row_counts) for row_counts in counts]
    totals = [sum(column) for column in zip(*rows)]
    return Counts(*totals)


@functools.lru_cache(maxsize=1 << 10)
def counts_of(labels: Labels, times: int = 1) -> Counts:
    """Return the counts of `times` responses that all have these labels; their `ground_truth` is left at 0."""
    return Counts(
        submitted=times,
        correct=times * labels.count("CORRECT"),
        incorrect=times * labels.count("INCORRECT"),
        inexact=times * labels.count("INEXACT"),
        incorrect_parent=times * labels.count(INCORRECT_PARENT),
        unassessed=times * labels.count(UNASSESSED),
        redundant=times * labels.count(REDUNDANT),
        right=times * labels.count(RIGHT),
        wrong=times * labels.count(WRONG),
        ignored=times * labels.count(IGNORE),
    )


class Tally(NamedTuple):
    """A row of the tables: the name of an inner node of the tree, the responses below it, and their counts."""

    name: str
    counts: Counts
    responses: list[Response]


class Row(Struct):
    """The responses below one inner node while they are counted.

    `submitted` are all responses; `right` and `redundant` are responses that have this label so far. `last_right`
    has the last right response of each class.
    """

    submitted: list[Response] = field(default_factory=list)
    right: list[Response] = field(default_factory=list)
    last_right: list[Response] = field(default_factory=list)
    redundant: list[Response] = field(default_factory=list)


def _classes_by_parent(tree: ClassTree, responses_by_class: ResponsesByClass) -> dict[str, list[str]]:
    """Return the names of the classes with responses below each inner node, in the order of the tree."""
    classes_by_parent: dict[str, list[str]] = {}
    for name, parent in tree.parent_by_class.items():
        if name in responses_by_class:
            classes_by_parent.setdefault(parent, []).append(name)
    return classes_by_parent


def single_value_order(line: Response) -> tuple[float, int, int]:
    """Return the sort key of right responses to a single-valued slot: the first one in this order stays right.

    The most confident response comes first; ties are sorted by line number, then by load order.
    """
    return -line.confidence, line.number, line.index


class Counting:
    """Label the responses of a run by a policy, and count the labels, query by query.

    `labels_by_index` has the labels of each response counted so far, by the index of the response. Two attributes are
    for explanations: `kept_by_duplicate` has the response that each duplicate repeats, and `nominal_lines` has, for
    each response that is no longer right because it only describes an entity, the lines that decided so.
    """

    def __init__(
        self,
        assessment_by_index: AssessmentByIndex,
        policy: Policy,
        most_justifications: int | None,
        labels_by_index: dict[int, Labels],
        edition: Edition = LATEST,
    ) -> None:
        """Prepare to count responses, whose assessments are given by the index of the response.

        Labels are added to `labels_by_index`, which may have labels of runs scored before. Only the best
        `most_justifications` lines of a node count; None means that all lines count.
        """
        self.assessment_by_index = assessment_by_index
        self.labels_by_index = labels_by_index
        self.kept_by_duplicate: dict[int, Response] = {}
        self.nominal_lines: dict[int, Sequence[Response]] = {}
        self._policy = policy
        self._most_justifications = most_justifications
        self._edition = edition
        self._duplicate_side = policy.duplicate_side or NO_SIDE
        self._labels_by_category = _labels_by_category(policy)

    def tally(self, tree: ClassTree, responses_by_class: ResponsesByClass) -> list[Tally]:
        """Label and count the responses below each inner node of the tree of a query (rule counts).

        The result has the counts of each inner node, parents first, since a response of the second hop is right only
        below a right answer.
        """
        classes_by_parent = _classes_by_parent(tree, responses_by_class)
        # For each class: whether the answers in it are right, by the short id of the follow-on query about the answer.
        right_parents_by_class: dict[str, Mapping[str, bool]] = {tree.root: {}}
        tallies: list[Tally] = []
        for node_name in tree.inner_nodes:
            right_parents = None
            if not tree.is_root(node_name):
                right_parents = right_parents_by_class.get(node_name, {})

            # Label the responses of each class below the node.
            row = Row()
            for class_name in classes_by_parent.get(node_name, ()):
                responses = responses_by_class[class_name]
                right_responses = self._label_class(responses, right_parents)
                has_classes_below = class_name in tree.ground_truth
                if has_classes_below and class_name not in right_parents_by_class:
                    right_parents_by_class[class_name] = self._right_parents(responses)
                row.submitted += responses
                self._add_right(right_responses, row)

            # Change the labels by the rules that look at all classes of the row, and count them.
            ground_truth = tree.ground_truth[node_name]
            kept_response = None
            if tree.is_single_by_row.get(node_name, False):
                ground_truth = min(ground_truth, 1)
                kept_response = self._choose_single_value(row)
            counts = self._finish_row(row, kept_response, ground_truth)
            tallies.append(Tally(node_name, counts, row.submitted))
        return tallies

    def _label_class(self, responses: Sequence[Response], right_parents: Mapping[str, bool] | None) -> list[Response]:
        """Label the responses of one class (rule policies), and return the right ones in the order of the policy.

        Responses of the category that the policy names first come first; by default it calls only `CORRECT` right.
        `right_parents` says whether the answer that a follow-on query is about is right, by the short id of the query;
        it is None at the first hop.
        """
        responses_by_category: dict[str, list[Response]] = {}
        for response in responses:
            if right_parents is not None and not right_parents.get(response.query.short_id):
                category = INCORRECT_PARENT
            else:
                category = pre_policy_category(self.assessment_by_index.get(response.index))
            self.labels_by_index[response.index] = self._labels_by_category[category]
            responses_by_category.setdefault(category, []).append(response)
        right_responses: list[Response] = []
        for category in self._policy.right:
            right_responses += responses_by_category.get(category, ())
        return right_responses

    def _right_parents(self, responses: Sequence[Response]) -> dict[str, bool]:
        """Return whether each answer in a class is right, by the short id of the follow-on query about it (rule paths).

        Responses to a follow-on query can be right only if the answer that the query is about is right. If several
        responses give the same answer, the first one decides. The responses must not yet be labelled as duplicates.
        """
        needed_label = CORRECT if self._edition.needs_correct_parent else RIGHT
        right_parents: dict[str, bool] = {}
        for response in responses:
            query_id = response.follow_on.id
            if query_id not in right_parents:
                right_parents[query_id] = needed_label in self.labels_by_index[response.index]
        return right_parents

    def _add_right(self, right_responses: Sequence[Response], row: Row) -> None:
        """Add the right responses of one class to the row, after all but one of them are labelled as duplicates.

        The response that is no duplicate is the first one that names the entity, or the first one of all if none does.
        """
        if not right_responses:
            return
        if len(right_responses) > 1:
            # False sorts before True: responses that name the entity come first, in the order that they had.
            names_first = sorted(right_responses, key=self.is_nominal)
            right_responses = self._mark_duplicates(names_first[0], names_first[1:], row)
        row.right += right_responses
        row.last_right.append(right_responses[-1])

    def _choose_single_value(self, row: Row) -> Response | None:
        """Return the response that stays right in a row of a single-valued slot, or None if at most one is right.

        In the reference the choice between several right classes depends on hash order (rule single-value-winner in
        docs/background/ties.md).
        """
        if len(row.right) < 2:
            return None
        return min(row.last_right, key=single_value_order)

    def _finish_row(self, row: Row, kept_response: Response | None, ground_truth: int) -> Counts:
        """Change the labels of a row by the rules that look at all its classes, and return its counts.

        If a `kept_response` is given, the slot takes one value: the other right responses become its duplicates. Then
        right responses that only describe an entity are ignored. `ground_truth` becomes part of the counts.
        """
        if kept_response is not None:
            row.right.remove(kept_response)
            row.right = self._mark_duplicates(kept_response, row.right, row)
        if row.right:
            if self._edition.ignores_each_nominal:
                self._ignore_nominal_lines(row)
            else:
                self._ignore_nominal_nodes(row)
        # Most responses share a few labels, so that the counts of each are computed once.
        times_by_labels = Counter([self.labels_by_index[line.index] for line in row.submitted])
        counts = sum_counts([counts_of(labels, times) for labels, times in times_by_labels.items()])
        return replace(counts, ground_truth=ground_truth)

    def is_nominal(self, response: Response) -> bool:
        """Return whether a response was assessed as a nominal mention, which describes the entity without its name."""
        assessment = self.assessment_by_index.get(response.index)
        return assessment is not None and assessment.value_mention == "NOM"

    def _mark_duplicates(self, kept_response: Response, duplicates: Sequence[Response], row: Row) -> list[Response]:
        """Label right responses as duplicates of `kept_response`, and return the responses that are still right.

        These are `kept_response`, and the duplicates, too, if the policy counts duplicates as right.
        """
        duplicate_labels = (REDUNDANT, self._duplicate_side)
        for duplicate in duplicates:
            labels = self.labels_by_index[duplicate.index]
            self.labels_by_index[duplicate.index] = _replace_right(labels, duplicate_labels)
            self.kept_by_duplicate[duplicate.index] = kept_response
        row.redundant += duplicates
        if self._duplicate_side == RIGHT:
            return [kept_response, *duplicates]
        return [kept_response]

    # ---- The nominal rule

    def _ignore_nominal_nodes(self, row: Row) -> None:
        """Ignore the right responses of nodes whose lines only describe the entity (rule nominal-mentions).

        Such a response, or a duplicate of one, loses its labels RIGHT and REDUNDANT and gets the label IGNORE, unless a
        line of the row with the same line number has the label IGNORE already.
        """
        # Collect the lines of the row by node, for nodes with a right response.
        credited_lines = row.right + row.redundant
        lines_by_node: dict[str | None, list[Response]] = {line.node: [] for line in credited_lines}
        for line in row.submitted:
            if line.node in lines_by_node:
                lines_by_node[line.node].append(line)
        nominal_nodes = {node for node, lines in lines_by_node.items() if not self._is_named(lines)}
        if not nominal_nodes:
            return

        ignored_numbers = {line.number for line in row.submitted if IGNORE in self.labels_by_index[line.index]}
        for line in credited_lines:
            if line.node not in nominal_nodes:
                continue
            labels = self.labels_by_index[line.index]
            self.labels_by_index[line.index] = _remove_credit(labels, is_ignored=line.number in ignored_numbers)
            ignored_numbers.add(line.number)
            self.nominal_lines[line.index] = lines_by_node[line.node]

    def _ignore_nominal_lines(self, row: Row) -> None:
        """Ignore each right response that only describes an entity, if another answer of its class names the entity.

        If any right response has mention types, the ones without mention types are no longer right either.
        """
        mention_types = [self.assessment_by_index[line.index].value_mention for line in row.right]
        if all(mention_type is None for mention_type in mention_types):
            return
        for line in row.right:
            assessment = self.assessment_by_index[line.index]
            labels_instead_of_right: Labels
            if assessment.value_mention is None:
                labels_instead_of_right = ()
            elif assessment.value_mention == "NOM" and assessment.class_mention != "NOM":
                labels_instead_of_right = (IGNORE,)
            else:
                continue
            labels = self.labels_by_index[line.index]
            self.labels_by_index[line.index] = _replace_right(labels, labels_instead_of_right)
            self.nominal_lines[line.index] = [line]

    def _is_named(self, lines: Sequence[Response]) -> bool:
        """Return whether one of the lines of a node names the entity, instead of only describing it.

        If the node has more assessed lines than justifications of a node count, only the best ones are looked at.
        """
        assessed_lines = [line for line in lines if line.index in self.assessment_by_index]
        if self._most_justifications is not None and len(assessed_lines) > self._most_justifications:
            assessed_lines = sort_by_confidence(assessed_lines)[: self._most_justifications]
        return any(self.is_naming(line) for line in assessed_lines)

    def is_naming(self, line: Response) -> bool:
        """Return whether an assessed line names the entity, or describes an entity whose class has no name.

        A line that counts as wrong never does.
        """
        if WRONG in self.labels_by_index[line.index]:
            return False
        assessment = self.assessment_by_index[line.index]
        return assessment.value_mention == "NAM" or assessment.class_mention == "NOM"
