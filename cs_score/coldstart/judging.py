"""Match responses to assessments, place them in the tree of classes, label them, and count the labels of each row.

The root of the tree is the query. Below it are the equivalence classes of its answers, below these the classes of the
second hop. The component `0` of a class name collects responses that belong to no class.
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
    best_first,
)
from cs_score.coldstart.options import IGNORE, LATEST, RIGHT, SIDES, WRONG, Edition, Policy, no_discipline
from cs_score.coldstart.queries import find_predicate, parse_query_id
from cs_score.measures.registry import divide, f1
from cs_score.problems.log import ProblemLog

# ---- Matching responses to assessments

AssessmentByIndex: TypeAlias = Mapping[int, Assessment]
"""The assessments of responses by the index of the response; a response without assessment has no entry."""


class ValueKey(NamedTuple):
    """The key by which a discipline compares answers, whatever their justification."""

    level: int
    class_of_query: str
    compared_value: str


JudgementByValue: TypeAlias = Mapping[ValueKey, Judgement]
"""How the answers to a query and its follow-on queries were judged, by value."""


def _fold_case(text: str) -> str:
    """Return the text in lower case, with a capital sigma always as `σ`, even at the end of a word."""
    return text.replace("Σ", "σ").lower()


_COMPARED_FORM: Final[dict[str, Callable[[str], str] | None]] = {
    "ASSESSED": None,
    "STRING_CASE": _fold_case,
    "STRING_EXACT": str,
}
"""The function, for each discipline, that brings values into the form in which they are compared.

Values are compared if no assessment has the same justification; None means that they are never compared.
"""


def check_discipline(name: str) -> None:
    """Raise InputError if there is no discipline of this name."""
    if name not in _COMPARED_FORM:
        raise InputError(no_discipline(name))


def compares_values(discipline: str) -> bool:
    """Return whether a discipline compares values of answers with different justifications."""
    return _COMPARED_FORM[discipline] is not None


def index_values(assessments: Iterable[Assessment], links: Links, discipline: str) -> JudgementByValue:
    """Return how the answers of one query were judged, by value; empty if the discipline does not compare values.

    `assessments` belong to the query and its follow-on queries. Raises InputError if the class of a query that
    they answer cannot be found.
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


def match(
    responses: Iterable[Response],
    judgement_by_value: JudgementByValue,
    links: Links,
    discipline: str,
    problems: ProblemLog,
) -> dict[int, Assessment]:
    """Return the assessment of each response that has one, by the index of the response.

    A response with several correct assessments is added to `problems` as a warning. `judgement_by_value` serves the
    disciplines that compare values. Raises InputError if the class of a query is needed and cannot be found.
    """
    compared_form = _COMPARED_FORM[discipline]
    assessment_by_index: dict[int, Assessment] = {}
    for response in responses:
        query = response.query
        follow_on = response.follow_on
        assessment = follow_on.assessment
        judgement = None
        if assessment is not None:
            answer = response.answer
            if follow_on.judgements is None and assessment.query is query and assessment.answer == answer:
                # Nearly all answers were assessed once: doing without a Judgement saves 2 % of the time of a scoring.
                assessment_by_index[response.index] = assessment
                continue
            judgement = follow_on.judgement_of(query, answer)
        if judgement is None and compared_form is not None:
            key = ValueKey(query.level, links.class_of_query(query), compared_form(response.value))
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

NOWHERE: Final = ""
"""The side of duplicates under a policy that does not mention duplicates."""

CATEGORIES: Final = (*JUDGMENT_OF_CODE.values(), UNASSESSED, INCORRECT_PARENT)
"""The categories of a response before a policy is applied."""

Labels: TypeAlias = tuple[str, ...]
"""The categories and sides of a response, sorted; a side that counts twice is repeated."""


def pre_policy_category(assessment: Assessment | None) -> str:
    """Return the category of a response with this assessment before a policy is applied."""
    return UNASSESSED if assessment is None else assessment.judgment


@functools.cache
def category_in(labels: Labels) -> str:
    """Return the category among the labels of a response; it is IGNORE, also a side, only if there is no other."""
    for label in labels:
        if label in CATEGORIES and label != IGNORE:
            return label
    return IGNORE


def labels_without(labels: Sequence[str], category: str) -> list[str]:
    """Return the labels of a response without its category before the policy."""
    return [label for label in labels if label != category]


@functools.cache
def _labels_by_category(policy: Policy) -> Mapping[str, Labels]:
    """Return the first labels of a response by category: the category itself and the sides that the policy gives it."""
    labels_by_category = {}
    for category in CATEGORIES:
        labels = [category]
        for side in SIDES:
            # A policy may name a category several times.
            labels += [side] * policy.items(side).count(category)
        labels_by_category[category] = tuple(sorted(labels))
    return labels_by_category


@functools.cache
def _replace_right(labels: Labels, replacements: Labels) -> Labels:
    """Return the labels, sorted, with one RIGHT replaced by `replacements`."""
    new_labels = list(labels)
    new_labels.remove(RIGHT)
    new_labels += replacements
    return tuple(sorted(new_labels))


@functools.cache
def _remove_credit(labels: Labels, is_ignored: bool) -> Labels:
    """Return the labels without RIGHT and REDUNDANT, and with one more IGNORE unless the response is ignored."""
    new_labels = [label for label in labels if label not in (RIGHT, REDUNDANT)]
    if not is_ignored:
        new_labels.append(IGNORE)
    return tuple(sorted(new_labels))


# ---- The tree of classes

DEEPEST: Final = 100
"""The most components of a class name after its query; queries have two or three hops."""

ResponsesByClass: TypeAlias = Mapping[str, Sequence[Response]]
"""The responses of a run in each class, in load order; empty classes have no entry."""


class ClassTree(Struct):
    """The classes of one query by name, and classes of other queries that its pool lines name.

    `root` is the full id of the query, `other_roots` are the full ids of other queries. If `ldc_id_by_query` has any
    expanded queries, the other roots must be among them. `is_single_by_row` says whether the slot that is filled below
    an inner node takes one value. `parent_by_class` has the node above each class, a parent before its children.
    `ground_truth` has the number of classes to be found below each inner node, without those with a component `0`.
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
        """Return the names of the nodes with classes below them; each has a row in the tables."""
        names = [self.root, *self.other_roots, *self.parent_by_class]
        return [name for name in names if name in self.ground_truth]

    def is_root(self, name: str) -> bool:
        """Return whether a node is a query and no class."""
        return name == self.root or name in self.other_roots

    def depth(self, name: str) -> int:
        """Return 0 for the query, 1 for the classes of its answers, 2 for the classes of the second hop."""
        if name.startswith(self.root):
            return name.count(":") - self.root.count(":")
        return name.count(":")

    def add(self, name: str) -> None:
        """Add a class and its missing parents. Raises InputError if its name begins with no query that exists."""
        if name in self.parent_by_class or name == self.root:
            return
        parent = name.rpartition(":")[0]
        self._check_class(name, parent)
        if ":" not in parent and parent != self.root:
            self.other_roots[parent] = None
        elif parent != self.root and parent not in self.parent_by_class:
            self.add(parent)
        self.parent_by_class[name] = parent
        self.ground_truth.setdefault(parent, 0)
        if not is_wrong_bin(name, self.root):
            self.ground_truth[parent] += 1

    def _check_class(self, name: str, parent: str) -> None:
        """Raise InputError if a class has too many components, or if its name does not begin with a legal query id.

        If there are LDC queries, the id must also be that of a query that one of them was split into.
        """
        component_count = name.count(":")
        if component_count > DEEPEST:
            raise InputError(f"equivalence class with {component_count} components: {name}", place=f"query {self.root}")
        if ":" in parent or parent == self.root:
            return
        parts = parse_query_id(parent)
        if parts is None:
            problem = f'unexpected argument: "{parent}" sent to parse_queryid'
        elif self.ldc_id_by_query and parts.base not in self.ldc_id_by_query:
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
    """Return whether a node collects responses that belong to no class (rule ground-truth).

    Such a node has a component `0` behind the query `root`: `CSX_ENG_00fb79cef8:0`, `CSX_ENG_00fb79cef8:0:1`.
    """
    components = name.removeprefix(root) if name.startswith(root) else name
    return components.endswith(":0") or ":0:" in components


def tree_name(value_class: str) -> str:
    """Return the name of a class in the tree, which is its name without colons at the end."""
    return value_class.rstrip(":")


def build_tree(
    root: LinkedQuery, assessments: Sequence[Assessment], links: Links, problems: ProblemLog, edition: Edition = LATEST
) -> ClassTree:
    """Return the tree of the query `root` with the classes of its assessments (rule ground-truth).

    Wrong answers to follow-on queries about answers that nobody accepted are reported and left out. Raises InputError
    (rule odd-classes) for a correct answer below a class that no earlier assessment accepts, and for an inexact answer
    below a class that no assessment accepts at all.
    """
    tree = ClassTree(root.full_id, {root.full_id: root.is_single_valued}, links.table.ldc_id_by_query)
    accepted_classes: set[str] = set()
    inexact_orphans: list[Assessment] = []
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
        if name not in tree.is_single_by_row and len(assessment.query.slots) > 1:
            predicate = find_predicate(assessment.query.slots[1])
            tree.is_single_by_row[name] = predicate is not None and predicate.is_single_valued
        if not assessment.is_accepted:
            continue
        accepted_classes.add(name)
        parent = tree.parent_by_class.get(name, tree.root)
        if tree.is_root(parent) or parent in accepted_classes:
            continue
        if assessment.judgment == CORRECT:
            raise _missing_parent_error(assessment, "before it")
        if not is_wrong_bin(parent, tree.root):  # an inexact answer below wrong answers is allowed
            inexact_orphans.append(assessment)
    for assessment in inexact_orphans:
        if tree.parent_by_class[tree_name(assessment.value_class)] not in accepted_classes:
            raise _missing_parent_error(assessment, "in the pool")
    return tree


def _class_of_assessment(assessment: Assessment, links: Links) -> str | None:
    """Return the class that an assessment belongs to: for a wrong answer it ends in `:0` (the wrong bin).

    Returns None for a wrong answer to a follow-on query about an answer that nobody accepted.
    """
    if assessment.is_accepted:
        return tree_name(assessment.value_class)
    if links.is_accepted(assessment.query):
        return f"{links.class_of_query(assessment.query)}:0"
    return None


def _orphan_error(assessment: Assessment, edition: Edition) -> InputError:
    """Return the error for a wrong answer below an answer that nobody accepted, in editions that stop there."""
    return assessment.error(
        f"a wrong answer to the query {assessment.query.full_id}, which no accepted answer leads to",
        f"{edition.name} stops here; take the line out, or assess the answer that it depends on",
    )


def _texts_by_target(assessments: Iterable[Assessment]) -> dict[str, list[str]]:
    """Return the texts of the assessments by the short id of the follow-on query about their answer."""
    texts_by_target: dict[str, list[str]] = {}
    for assessment in assessments:
        texts_by_target.setdefault(assessment.target, []).append(assessment.text)
    return texts_by_target


def _report_orphan(assessment: Assessment, texts_by_target: Mapping[str, Sequence[str]], problems: ProblemLog) -> None:
    """Report a wrong answer below an answer that nobody accepted, with the texts of all its parents."""
    parents = "\n".join(texts_by_target.get(assessment.query.short_id, ()))
    problems.add(
        "UNEXPECTED_ASSESSMENT_ENTRY",
        f"\nUnexpected child: \n{assessment.text}\n",
        f"\nAll parents:\n{parents}\n",
        place=assessment.place,
    )


def _missing_parent_error(assessment: Assessment, where: str) -> InputError:
    """Return the error of an assessment below a class without accepted answer.

    `where` completes the message: "before it" or "in the pool".
    """
    return assessment.error(
        f"Equivalence class without correct parent entry: {assessment.text}",
        f"there is no correct or inexact answer of class {assessment.value_class.rpartition(':')[0]} {where}",
    )


def place_responses(
    tree: ClassTree, responses: Iterable[Response], assessment_by_index: AssessmentByIndex, links: Links
) -> ResponsesByClass:
    """Return the responses by the name of their class, in load order; missing classes are added to the tree.

    The class of a response is that of its assessment if this accepts it. Otherwise it is the class of the same answer
    with another justification if that was accepted, or else the wrong bin of its query, such as `CSX_ENG_00fb79cef8:0`.
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
    """Return the sums of the counts, field by field."""
    columns = zip(*[astuple(record) for record in counts])
    totals = [sum(column) for column in columns]
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
    """The counts of a row of the tables, named after its inner node, and the responses counted."""

    name: str
    counts: Counts
    responses: list[Response]


class Row(Struct):
    """The responses below one inner node while they are counted.

    `right` and `redundant` are the responses that count so by now; `last_right` is the last right one of each class.
    """

    submitted: list[Response] = field(default_factory=list)
    right: list[Response] = field(default_factory=list)
    last_right: list[Response] = field(default_factory=list)
    redundant: list[Response] = field(default_factory=list)


def _classes_by_parent(tree: ClassTree, responses_by_class: ResponsesByClass) -> dict[str, list[str]]:
    """Return the classes with responses below each inner node, in the order of the tree."""
    classes_by_parent: dict[str, list[str]] = {}
    for name, parent in tree.parent_by_class.items():
        if name in responses_by_class:
            classes_by_parent.setdefault(parent, []).append(name)
    return classes_by_parent


def single_value_order(line: Response) -> tuple[float, int, int]:
    """Return the sort key of right responses to a single-valued slot; the response that is sorted first stays right."""
    return -line.confidence, line.number, line.index


class Counting:
    """Label responses, and count the labels, query by query.

    `labels_by_index` has the labels of each response counted so far. Two attributes are for explanations:
    `kept_by_duplicate` has the response that each duplicate repeats, and `nominal_lines` the lines by which the nominal
    rule decided, for each response that is no longer right because of it.
    """

    def __init__(
        self,
        assessment_by_index: AssessmentByIndex,
        policy: Policy,
        most: int | None,
        labels_by_index: dict[int, Labels],
        edition: Edition = LATEST,
    ) -> None:
        """Prepare to count; labels are added to `labels_by_index`, which may have labels of runs scored before.

        Of the justifications of a node the best `most` count, None for all.
        """
        self.assessment_by_index = assessment_by_index
        self.labels_by_index = labels_by_index
        self.kept_by_duplicate: dict[int, Response] = {}
        self.nominal_lines: dict[int, Sequence[Response]] = {}
        self._policy = policy
        self._most = most
        self._edition = edition
        self._duplicate_side = policy.duplicate_side or NOWHERE
        self._labels_by_category = _labels_by_category(policy)

    def tally(self, tree: ClassTree, responses_by_class: ResponsesByClass) -> list[Tally]:
        """Label and count the responses below each inner node of a query's tree (rule counts)."""
        classes_by_parent = _classes_by_parent(tree, responses_by_class)
        is_right_by_class: dict[str, Mapping[str, bool]] = {tree.root: {}}
        tallies: list[Tally] = []
        for name in tree.inner_nodes:
            is_right_by_query = None if tree.is_root(name) else is_right_by_class.get(name, {})
            row = Row()
            for class_name in classes_by_parent.get(name, ()):
                responses = responses_by_class[class_name]
                right_responses = self._label_class(responses, is_right_by_query)
                if class_name in tree.ground_truth and class_name not in is_right_by_class:
                    is_right_by_class[class_name] = self._right_parents(responses)
                row.submitted += responses
                self._add_right(right_responses, row)
            is_single = tree.is_single_by_row.get(name, False)
            ground_truth = tree.ground_truth[name]
            kept_response = None
            if is_single:
                ground_truth = min(ground_truth, 1)
                kept_response = self._choose_single_value(row)
            counts = self._finish_row(row, kept_response, ground_truth)
            tallies.append(Tally(name, counts, row.submitted))
        return tallies

    def _label_class(
        self, responses: Sequence[Response], is_right_by_query: Mapping[str, bool] | None
    ) -> list[Response]:
        """Label the responses of one class (rule policies), and return the right ones in the order of the policy.

        `is_right_by_query` says whether the answer that a follow-on query is about is right, by the short id of the
        query; it is None at the first hop.
        """
        responses_by_category: dict[str, list[Response]] = {}
        for response in responses:
            if is_right_by_query is not None and not is_right_by_query.get(response.query.short_id):
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
        """Return whether each answer of a class is right, by the id of the follow-on query about it (rule paths).

        If several responses give an answer, the first one decides; duplicates do not yet have their labels.
        """
        needed_label = CORRECT if self._edition.needs_correct_parent else RIGHT
        is_right_by_query: dict[str, bool] = {}
        for response in responses:
            query_id = response.follow_on.id
            if query_id not in is_right_by_query:
                is_right_by_query[query_id] = needed_label in self.labels_by_index[response.index]
        return is_right_by_query

    def _add_right(self, right_responses: Sequence[Response], row: Row) -> None:
        """Add the right responses of one class to the row, after labelling all but one of them as duplicates.

        The first response that names the entity is kept; if all only describe it, the first one.
        """
        if not right_responses:
            return
        if len(right_responses) > 1:
            first, *duplicates = sorted(right_responses, key=self.is_nominal)
            right_responses = self._mark_duplicates(first, duplicates, row)
        row.right += right_responses
        row.last_right.append(right_responses[-1])

    def _choose_single_value(self, row: Row) -> Response | None:
        """Return the response that stays right in a row of a single-valued slot, or None if at most one is right.

        In the reference the choice between several right classes depends on hash order (docs/background/ties.md, 4).
        """
        if len(row.right) < 2:
            return None
        return min(row.last_right, key=single_value_order)

    def _finish_row(self, row: Row, kept_response: Response | None, ground_truth: int) -> Counts:
        """Change the labels of a row by the single-value rule and the nominal rule, and return its counts.

        `kept_response` is the one that stays right in a single-valued row: the other right ones become its duplicates.
        """
        if kept_response is not None:
            row.right.remove(kept_response)
            row.right = self._mark_duplicates(kept_response, row.right, row)
        if row.right:
            if self._edition.ignores_each_nominal:
                self._ignore_nominal_lines(row)
            else:
                self._ignore_nominal_nodes(row)
        times_by_labels = Counter([self.labels_by_index[line.index] for line in row.submitted])
        counts = sum_counts([counts_of(labels, times) for labels, times in times_by_labels.items()])
        return replace(counts, ground_truth=ground_truth)

    def is_nominal(self, response: Response) -> bool:
        """Return whether a response was assessed as a nominal mention, which describes the entity without its name."""
        assessment = self.assessment_by_index.get(response.index)
        return assessment is not None and assessment.value_mention == "NOM"

    def _mark_duplicates(self, kept_response: Response, duplicates: Sequence[Response], row: Row) -> list[Response]:
        """Label right responses as duplicates of `kept_response`, and return the responses that are still right."""
        replacements = (REDUNDANT, self._duplicate_side)
        for duplicate in duplicates:
            self.labels_by_index[duplicate.index] = _replace_right(self.labels_by_index[duplicate.index], replacements)
            self.kept_by_duplicate[duplicate.index] = kept_response
        row.redundant += duplicates
        if self._duplicate_side == RIGHT:
            return [kept_response, *duplicates]
        return [kept_response]

    # ---- The nominal rule

    def _ignore_nominal_nodes(self, row: Row) -> None:
        """Ignore the right responses of nodes whose lines only describe the entity (rule nominal-mentions).

        A response gets no label IGNORE if a line of the row with the same line number has that label already.
        """
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
            if line.node in nominal_nodes:
                is_ignored = line.number in ignored_numbers
                self.labels_by_index[line.index] = _remove_credit(self.labels_by_index[line.index], is_ignored)
                ignored_numbers.add(line.number)
                self.nominal_lines[line.index] = lines_by_node[line.node]

    def _ignore_nominal_lines(self, row: Row) -> None:
        """Ignore each right response that only describes an entity whose class has a name.

        If any right response has mention types, the ones without mention types are no longer right either.
        """
        mentions = [self.assessment_by_index[line.index].value_mention for line in row.right]
        if all(mention is None for mention in mentions):
            return
        for line in row.right:
            assessment = self.assessment_by_index[line.index]
            replacements: Labels
            if assessment.value_mention is None:
                replacements = ()
            elif assessment.value_mention == "NOM" and assessment.class_mention != "NOM":
                replacements = (IGNORE,)
            else:
                continue
            self.labels_by_index[line.index] = _replace_right(self.labels_by_index[line.index], replacements)
            self.nominal_lines[line.index] = [line]

    def _is_named(self, lines: Sequence[Response]) -> bool:
        """Return whether one of the lines of a node names the entity.

        Only its best assessed lines are looked at, as many as justifications of a node count.
        """
        assessed_lines = [line for line in lines if line.index in self.assessment_by_index]
        if self._most is not None and len(assessed_lines) > self._most:
            assessed_lines = best_first(assessed_lines)[: self._most]
        return any(self.is_naming(line) for line in assessed_lines)

    def is_naming(self, line: Response) -> bool:
        """Return whether an assessed line names the entity, or describes an entity whose class has no name."""
        if WRONG in self.labels_by_index[line.index]:
            return False
        assessment = self.assessment_by_index[line.index]
        return assessment.value_mention == "NAM" or assessment.class_mention == "NOM"
