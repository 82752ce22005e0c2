"""Match responses to assessments, place them in the tree of classes, label them, and count the labels of each row. A
label is a category, such as `CORRECT`, or a side on which the policy counts a category: `RIGHT`, `WRONG` or `IGNORE`. A
nominal answer describes the entity without naming it.

The root of the tree is the query, such as `CSX_ENG_00fb79cef8`. Below it are the equivalence classes of its answers,
such as `CSX_ENG_00fb79cef8:1`, and below these the classes of the second hop, such as `CSX_ENG_00fb79cef8:1:2`. A class
with a component `0`, such as `CSX_ENG_00fb79cef8:0`, is a wrong bin: it collects responses that belong to no class.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
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
    add_judgement,
    best_lines,
)
from cs_score.coldstart.options import IGNORE, LATEST, RIGHT, SIDES, WRONG, Edition, Policy, unknown_discipline_message
from cs_score.coldstart.queries import find_predicate, parse_query_id
from cs_score.measures import divide, f1
from cs_score.problems.log import ProblemLog

# ---- Matching responses to assessments

AssessmentByIndex: TypeAlias = Mapping[int, Assessment]
"""The assessments of responses by the index of the response; a response without assessment has no entry."""


class ValueKey(NamedTuple):
    """The key that answers with the same text have in common, whatever the documents that justify them.

    Two answers have the same key if their queries have the same hop (`level`), if these queries are about the same
    class, and if their texts have the same form for comparison (`compared_value`).
    """

    level: int
    class_of_query: str
    compared_value: str


JudgementByValue: TypeAlias = Mapping[ValueKey, Judgement]
"""The judgements of the answers to a query and to its follow-on queries, by the text of the answer."""


def _fold_case(text: str) -> str:
    """Return the text in lower case, with a capital sigma always as `σ`, even at the end of a word."""
    return text.replace("Σ", "σ").lower()


_COMPARED_FORM: Final[dict[str, Callable[[str], str] | None]] = {
    "ASSESSED": None,
    "STRING_CASE": _fold_case,
    "STRING_EXACT": str,
}
"""The function of each discipline that brings the text of an answer into the form for comparison.

A discipline compares texts if no assessment has the same answer with the same justification. None means that the
discipline never compares texts.
"""


def check_discipline(name: str) -> None:
    """Raise InputError if there is no discipline of this name."""
    if name not in _COMPARED_FORM:
        raise InputError(unknown_discipline_message(name))


def compares_values(discipline: str) -> bool:
    """Return whether a discipline compares the texts of answers that have different justifications."""
    return _COMPARED_FORM[discipline] is not None


def index_judgements(assessments: Iterable[Assessment], links: Links, discipline: str) -> JudgementByValue:
    """Return the judgements on the answers to one query, by hop, class of the answered query, and text of the answer.

    A judgement is the assessment that counts for an answer: the first correct one, or the first one if none is correct.
    The discipline says how a response without its own assessment is matched. If the discipline does not compare the
    texts of answers, the result is empty.

    `assessments` are the assessments of answers to the query and to its follow-on queries, in load order. Raises
    InputError if one of these queries has no class.
    """
    compared_form = _COMPARED_FORM[discipline]
    judgement_by_value: dict[ValueKey, Judgement] = {}
    if compared_form is None:
        return judgement_by_value
    for assessment in assessments:
        query = assessment.query
        key = ValueKey(query.level, links.class_of_query(query), compared_form(assessment.value))
        add_judgement(judgement_by_value, key, assessment)
    return judgement_by_value


def find_assessments(
    responses: Iterable[Response],
    judgement_by_value: JudgementByValue,
    links: Links,
    discipline: str,
    problems: ProblemLog,
) -> dict[int, Assessment]:
    """Return the assessment of each response that has one, by the index of the response.

    A response gets the assessment of the same answer with the same justification. If there is none, and if the
    `discipline` (an option of the scorer) compares texts, the response gets the assessment of an answer with the same
    text.

    If an answer has several assessments, its judgement is the assessment that counts. `judgement_by_value` has the
    judgements on the assessed answers by the text of the answer. It is empty if the discipline does not compare texts.
    A response with several correct assessments is reported to `problems`. Raises InputError if texts must be compared,
    but the query of a response has no class.
    """
    matching = _Matching(judgement_by_value, links, _COMPARED_FORM[discipline])
    assessment_by_index: dict[int, Assessment] = {}
    for response in responses:
        # Nearly all answers were assessed only once, and their `judgements` is None. The single assessment is used
        # directly if it has the same query and the same answer. Not making a Judgement saves 2 % of the scoring time.
        follow_on = response.follow_on
        only_assessment = None if follow_on.judgements is not None else follow_on.first_assessment
        is_same_query = only_assessment is not None and only_assessment.query is response.query
        if only_assessment is not None and is_same_query and only_assessment.answer == response.answer:
            assessment_by_index[response.index] = only_assessment
            continue
        judgement = matching.judgement_of(response)
        if judgement is None:
            continue
        assessment_by_index[response.index] = judgement.assessment
        if judgement.is_ambiguous:
            problems.add("MULTIPLE_CORRECT_GROUND_TRUTH", response.query.short_id, place=response.place)
    return assessment_by_index


class _Matching(NamedTuple):
    """The search for the judgement on the answer of a response, under one discipline.

    `compared_form` is the function that brings texts of answers into the form for comparison, None if the discipline
    does not compare them. `judgement_by_value` has the judgements by these texts.
    """

    judgement_by_value: JudgementByValue
    links: Links
    compared_form: Callable[[str], str] | None

    def judgement_of(self, response: Response) -> Judgement | None:
        """Return the judgement on the same answer with the same justification, or else on the same text of an answer.

        The result is None if there is no such judgement.
        """
        query = response.query
        follow_on = response.follow_on
        is_assessed = follow_on.first_assessment is not None
        judgement = follow_on.judgement_of(query, response.answer) if is_assessed else None
        if judgement is not None or self.compared_form is None:
            return judgement
        key = ValueKey(query.level, self.links.class_of_query(query), self.compared_form(response.value))
        return self.judgement_by_value.get(key)


# ---- Categories and labels

INCORRECT_PARENT: Final = "INCORRECT_PARENT"
UNASSESSED: Final = "UNASSESSED"
REDUNDANT: Final = "REDUNDANT"

NO_SIDE: Final = ""
"""The label of duplicates that stands in the place of a side if the policy does not mention duplicates."""

CATEGORIES: Final = (*JUDGMENT_OF_CODE.values(), UNASSESSED, INCORRECT_PARENT)
"""The categories that a response can have before a policy is applied."""

Labels: TypeAlias = tuple[str, ...]
"""The categories and sides of a response, sorted, such as `("CORRECT", "RIGHT")`.

A side is there several times if the response counts on it several times.
"""


def pre_policy_category(assessment: Assessment | None) -> str:
    """Return the category of a response before a policy is applied, such as `CORRECT`.

    The category is the judgment of the assessment, or `UNASSESSED` if the response has no assessment.
    """
    return UNASSESSED if assessment is None else assessment.judgment


@functools.cache
def category_in(labels: Labels) -> str:
    """Return the category among the labels of a response: `("CORRECT", "RIGHT")` -> `CORRECT`.

    `IGNORE` is the name both of a category and of a side. It is returned only if there is no other category among the
    labels.
    """
    for label in labels:
        if label in CATEGORIES and label != IGNORE:
            return label
    return IGNORE


def labels_without(labels: Sequence[str], category: str) -> list[str]:
    """Return the labels of a response except `category`, its category before the policy was applied."""
    return [label for label in labels if label != category]


@functools.cache
def _labels_by_category(policy: Policy) -> Mapping[str, Labels]:
    """Return the labels that a response gets from a policy at first, by the category of the response.

    The labels are the category and the sides on which the policy counts it: `CORRECT` -> `("CORRECT", "RIGHT")`.
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
    """Return the labels of a response, sorted, after one label RIGHT is replaced by others.

    `("CORRECT", "RIGHT")` with the replacements `("IGNORE",)` becomes `("CORRECT", "IGNORE")`.
    """
    new_labels = list(labels)
    new_labels.remove(RIGHT)
    new_labels += replacements
    return tuple(sorted(new_labels))


@functools.cache
def _remove_credit(labels: Labels, has_ignored_twin: bool) -> Labels:
    """Return the sorted labels of a response after its labels RIGHT and REDUNDANT have been removed.

    The response gets the label IGNORE instead, unless another line with the same line number is already ignored
    (`has_ignored_twin`). Lines in two files of a run may have the same number.
    """
    new_labels = [label for label in labels if label not in (RIGHT, REDUNDANT)]
    if not has_ignored_twin:
        new_labels.append(IGNORE)
    return tuple(sorted(new_labels))


def _labels_instead_of_right(assessment: Assessment) -> Labels | None:
    """Return the labels that replace RIGHT for a response with this assessment; None if the answer stays right.

    This is for editions that ignore each nominal answer. The labels are `("IGNORE",)` for a nominal answer if another
    answer of its class is a name, and `()` for an answer without mention type.
    """
    if assessment.value_mention is None:
        return ()
    if assessment.value_mention == "NOM" and assessment.class_mention != "NOM":
        return (IGNORE,)
    return None


# ---- The tree of classes

MOST_COMPONENTS: Final = 100
"""The number of components that the name of a class may have after its query; queries have two or three hops."""

ResponsesByClass: TypeAlias = Mapping[str, Sequence[Response]]
"""The responses of a run in load order, by the name of their class; classes without responses have no entry."""


class ClassTree(Struct):
    """The tree of the equivalence classes of one query: the query is the root, and the classes are nodes below it.

    Assessments of the query may also name classes of other queries. These queries are additional roots.

    - `root` is the full id of the query, and `other_roots` are the full ids of other queries.
    - `is_single_valued_by_node` says, for each inner node, whether the slot that is filled below it takes only one
      value.
    - `ldc_id_by_query` has the LDC query of each slot-filling query that was made from one. If it is not empty, the
      other roots must be among these slot-filling queries.
    - `parent_by_class` has the node above each class. A parent is added before its children.
    - `class_count_by_node` has, for each inner node, the number of classes to be found below it, excluding wrong bins.
    """

    root: str
    is_single_valued_by_node: dict[str, bool]
    ldc_id_by_query: Mapping[str, str] = field(default_factory=dict)
    parent_by_class: dict[str, str] = field(default_factory=dict)
    class_count_by_node: dict[str, int] = field(default_factory=dict)
    other_roots: dict[str, None] = field(default_factory=dict)

    def copy(self) -> ClassTree:
        """Return a copy of the tree; classes that are added to the copy are not added to this tree."""
        return ClassTree(
            root=self.root,
            is_single_valued_by_node=self.is_single_valued_by_node,
            ldc_id_by_query=self.ldc_id_by_query,
            parent_by_class=self.parent_by_class.copy(),
            class_count_by_node=self.class_count_by_node.copy(),
            other_roots=self.other_roots.copy(),
        )

    @property
    def inner_nodes(self) -> list[str]:
        """Return the names of the nodes with classes below them, parents first; each has a row in the tables."""
        names = [self.root, *self.other_roots, *self.parent_by_class]
        return [name for name in names if name in self.class_count_by_node]

    def is_root(self, name: str) -> bool:
        """Return whether the node with this name is a query, as opposed to a class."""
        return name == self.root or name in self.other_roots

    def depth(self, name: str) -> int:
        """Return the depth of a node in the tree: 0 for the query, 1 for its classes, and 2 for classes below those."""
        depth = name.count(":")
        # The names of classes below another root begin with the id of another query. The id of this query may itself
        # contain colons.
        if name.startswith(self.root):
            depth -= self.root.count(":")
        return depth

    def add(self, name: str) -> None:
        """Add the class with this name, and the classes above it, unless they are already in the tree.

        Each added class counts as a class to be found below its parent. Wrong bins, which collect wrong answers, do not
        count. Raises InputError if the name does not begin with the id of a query that exists, or if it has too many
        components.
        """
        if name in self.parent_by_class or name == self.root:
            return
        parent = parent_of_class(name)
        self._check_class(name, parent)
        self._add_parent(parent)
        self.parent_by_class[name] = parent
        self.class_count_by_node.setdefault(parent, 0)
        if not is_wrong_bin(name, self.root):
            self.class_count_by_node[parent] += 1

    def _add_parent(self, name: str) -> None:
        """Add the node above a class, unless it is already in the tree.

        A name with a colon, such as `CSX_ENG_00fb79cef8:1`, is the name of a class. A name without a colon is the id of
        a query, which becomes an additional root unless it is the query of the tree.
        """
        is_class = ":" in name
        if is_class:
            self.add(name)
        elif name != self.root:
            self.other_roots[name] = None

    def _check_class(self, name: str, parent: str) -> None:
        """Raise InputError if the class `name` is not allowed in the tree. `parent` is the name of the node above it.

        The name of a class must not have too many components, and the node above it must be a class or a query. If
        there are LDC queries, a query above it must be a slot-filling query made from one of them.
        """
        component_count = name.count(":")
        if component_count > MOST_COMPONENTS:
            raise InputError(f"equivalence class with {component_count} components: {name}", place=f"query {self.root}")
        is_parent_a_class = ":" in parent
        problem = None if is_parent_a_class else self._problem_of_root(parent)
        if problem is not None:
            expected_names = f"{self.root}:n or {self.root}:n:m"
            raise InputError(
                problem,
                place=f"query {self.root}",
                remedy=f"the equivalence class {name} of one of its answers should be {expected_names}; "
                "correct VALUE_EC",
            )

    def _problem_of_root(self, query_id: str) -> str | None:
        """Return why a query id may not be a root of the tree, in the words of the reference scorer, or None if it may.

        In addition to the query of the tree, other queries become roots if assessments name their classes.
        """
        if query_id == self.root:
            return None
        parts = parse_query_id(query_id)
        if parts is None:
            return f'unexpected argument: "{query_id}" sent to parse_queryid'
        if self.ldc_id_by_query and parts.base_id not in self.ldc_id_by_query:
            return "queryid undefined in QuerySet->get()"
        return None


def is_wrong_bin(name: str, root: str) -> bool:
    """Return whether a node is a wrong bin, which collects responses that belong to no class (rule ground-truth).

    The name of a wrong bin has a component `0` after the id of the query: `CSX_ENG_00fb79cef8:0`,
    `CSX_ENG_00fb79cef8:0:1`. `root` is the id of the query of the tree.
    """
    suffix = name.removeprefix(root)  # such as `:0:1`
    return suffix.endswith(":0") or ":0:" in suffix


def tree_name(value_class: str) -> str:
    """Return the name that an equivalence class of the pool has in the tree, without colons at the end."""
    return value_class.rstrip(":")


def parent_of_class(name: str) -> str:
    """Return the class or query above an equivalence class: the row of the tables in which the class is counted.

    `CS17_ENG_0001:2:1` -> `CS17_ENG_0001:2`, `CS17_ENG_0001:2` -> `CS17_ENG_0001`.
    """
    return name.rpartition(":")[0]


def build_tree(
    root: LinkedQuery, assessments: Sequence[Assessment], links: Links, problems: ProblemLog, edition: Edition = LATEST
) -> ClassTree:
    """Return the tree of the query `root` with the classes of its assessments (rule ground-truth).

    `assessments` are the assessments of answers to the query and to its follow-on queries, in load order. Orphans are
    not part of the tree. An orphan is a wrong answer to a follow-on query about an answer that no assessment accepts.
    For example, if "Paris" was only judged wrong, a wrong mayor of Paris is an orphan. Orphans are reported to
    `problems`; in some editions they raise InputError.

    Also raises InputError for a correct answer below a class that no earlier assessment accepts, and for an inexact
    answer below a class that no assessment accepts at all (odd-classes in docs/development/rules.md).
    """
    tree = ClassTree(root.full_id, {root.full_id: root.is_single_valued}, links.query_set.ldc_id_by_query)
    orphans = _Orphans(assessments, problems, edition)
    accepted_classes = _AcceptedClasses(tree)
    for assessment in assessments:
        name = _class_of_assessment(assessment, links)
        if name is None:
            orphans.refuse_or_report(assessment)
            continue
        tree.add(name)
        # The first assessment of a class with a next slot determines the slot that is filled below the class, and
        # whether this slot takes only one value is recorded at that point.
        is_next_slot_known = name in tree.is_single_valued_by_node
        if not is_next_slot_known:
            _record_next_slot(tree, name, assessment.query)
        if assessment.is_accepted:
            accepted_classes.add(name, assessment)
    accepted_classes.check_inexact_answers()
    return tree


def _record_next_slot(tree: ClassTree, class_name: str, query: LinkedQuery) -> None:
    """Record in a tree whether the next slot of a query takes only one value. Do nothing if there is no next slot.

    Answers to `query` are in the class `class_name`. The classes below it hold the answers of the next hop, which fill
    the next slot. They answer follow-on queries about the answers to `query`.
    """
    if len(query.slots) < 2:
        return
    next_slot = query.slots[1]
    predicate = find_predicate(next_slot)
    tree.is_single_valued_by_node[class_name] = predicate is not None and predicate.is_single_valued


class _AcceptedClasses:
    """The classes of a tree with accepted answers, and a check that there is an accepted answer above each of them.

    Classes are added in load order. An answer of the second hop depends on the answer that its query is about. That
    answer belongs to the class above.
    """

    def __init__(self, tree: ClassTree) -> None:
        """Take the tree of a query. Its classes are added later."""
        self._tree = tree
        self._accepted_class_names: set[str] = set()
        # Inexact answers whose parent class had no accepted answer when they were added. The class may get one later.
        self._inexact_without_parent: list[Assessment] = []

    def add(self, name: str, assessment: Assessment) -> None:
        """Add the class of an accepted answer. Its parent class must also have an accepted answer.

        Raises InputError for a correct answer if the parent class has no accepted answer so far. An inexact answer may
        come before the answer that it depends on, so it is checked at the end.
        """
        self._accepted_class_names.add(name)
        parent = self._tree.parent_by_class.get(name, self._tree.root)
        if parent in self._accepted_class_names or self._tree.is_root(parent):
            return
        if assessment.judgment == CORRECT:
            raise _missing_parent_error(assessment, "before it")
        # Only inexact answers reach this point. They are allowed below wrong answers.
        if not is_wrong_bin(parent, self._tree.root):
            self._inexact_without_parent.append(assessment)

    def check_inexact_answers(self) -> None:
        """Raise InputError for the first inexact answer whose parent class has no accepted answer in the whole pool."""
        for assessment in self._inexact_without_parent:
            parent = self._tree.parent_by_class[tree_name(assessment.value_class)]
            if parent not in self._accepted_class_names:
                raise _missing_parent_error(assessment, "in the pool")


class _Orphans:
    """The orphans of one query: wrong answers to follow-on queries about answers that no assessment accepts. Their
    parents are the assessments of these answers.
    """

    def __init__(self, assessments: Sequence[Assessment], problems: ProblemLog, edition: Edition) -> None:
        """Prepare to report orphans to `problems`; `assessments` are all assessments of the query."""
        self._assessments = assessments
        self._problems = problems
        self._edition = edition

    def refuse_or_report(self, orphan: Assessment) -> None:
        """Report an orphan with its parents. Raises InputError if the edition does not score a pool with orphans.

        An orphan is a wrong answer to a follow-on query about "Paris", for example, if no assessment accepts "Paris" as
        an answer. Its parents are the assessments of "Paris".
        """
        if self._edition.refuses_orphans:
            raise orphan.error(
                f"a wrong answer to the query {orphan.query.full_id}, which no accepted answer leads to",
                f"{self._edition.name} stops here; take the line out, or assess the answer that it depends on",
            )
        texts_of_parents = self._texts_by_follow_on_id.get(orphan.query.short_id, ())
        parents = "\n".join(texts_of_parents)
        self._problems.add(
            "UNEXPECTED_ASSESSMENT_ENTRY",
            f"\nUnexpected child: \n{orphan.text}\n",
            f"\nAll parents:\n{parents}\n",
            place=orphan.place,
        )

    @functools.cached_property
    def _texts_by_follow_on_id(self) -> dict[str, list[str]]:
        """The texts of all assessments, by the id of the follow-on query about their answer.

        The parents of an orphan are found under the id of the orphan's own query.
        """
        texts_by_follow_on_id: dict[str, list[str]] = {}
        for assessment in self._assessments:
            texts_by_follow_on_id.setdefault(assessment.follow_on_id, []).append(assessment.text)
        return texts_by_follow_on_id


def _class_of_assessment(assessment: Assessment, links: Links) -> str | None:
    """Return the name of the class that an assessment belongs to, such as `CSX_ENG_00fb79cef8:1`.

    A wrong answer belongs to the wrong bin of its query, such as `CSX_ENG_00fb79cef8:0`. The result is None for an
    orphan, which is a wrong answer to a follow-on query about an answer that no assessment accepts.
    """
    if assessment.is_accepted:
        return tree_name(assessment.value_class)
    if not links.is_about_accepted_answer(assessment.query):
        return None
    class_of_query = links.class_of_query(assessment.query)
    return f"{class_of_query}:0"


def _missing_parent_error(assessment: Assessment, where: str) -> InputError:
    """Return the error for an assessment whose class is below a class that has no accepted answer.

    `where` says in which part of the pool there is no accepted answer of that class: "before it" or "in the pool".
    """
    parent_class = parent_of_class(assessment.value_class)
    return assessment.error(
        f"Equivalence class without correct parent entry: {assessment.text}",
        f"there is no correct or inexact answer of class {parent_class} {where}",
    )


def place_responses(
    tree: ClassTree, responses: Iterable[Response], assessment_by_index: AssessmentByIndex, links: Links
) -> ResponsesByClass:
    """Return the responses of a run to one query, by the name of their class and in load order.

    The class of a response is the first of the following classes that exists:

    1. the class of its assessment, if the assessment accepts the answer,
    2. the class of an accepted assessment of the same answer with another justification. A response that was assessed
       as wrong gets this class only if its query is about a parent answer without an accepting assessment,
    3. the wrong bin of its query, such as `CSX_ENG_00fb79cef8:0`.

    Classes that are not in the tree yet are added to it.
    """
    responses_by_class: dict[str, list[Response]] = {}
    wrong_bins = _WrongBins(links)
    for response in responses:
        assessment = assessment_by_index.get(response.index)
        name = _class_of_accepted_answer(response, assessment, links)
        if name is None:
            name = wrong_bins[response.query]
        if name not in responses_by_class:
            tree.add(name)
            responses_by_class[name] = []
        responses_by_class[name].append(response)
    return responses_by_class


def _class_of_accepted_answer(response: Response, assessment: Assessment | None, links: Links) -> str | None:
    """Return the class of a response whose answer an assessment accepts, such as `CSX_ENG_00fb79cef8:1`.

    `assessment` is the assessment of the response, or None if it was not assessed. The class may also come from an
    accepting assessment of the same answer with another justification. The result is None if no assessment accepts the
    answer.
    """
    if assessment is not None and assessment.is_accepted:
        return tree_name(assessment.value_class)
    # `follow_on` holds the query about this answer, and the assessments of the answer.
    accepting_assessment = response.follow_on.accepting_assessment
    if accepting_assessment is None:
        return None
    # The response's own assessment does not accept the response. If its query is about an accepted answer, the response
    # is wrong. Otherwise its assessment is ignored as an orphan, and the accepting assessment counts.
    is_wrong = assessment is not None and links.is_about_accepted_answer(assessment.query)
    if is_wrong:
        return None
    return tree_name(accepting_assessment.value_class)


class _WrongBins(dict[LinkedQuery, str]):
    """The wrong bins of queries: `CSX_ENG_00fb79cef8:0` for a query of the first hop; each is computed only once."""

    def __init__(self, links: Links) -> None:
        super().__init__()
        self._links = links

    def __missing__(self, query: LinkedQuery) -> str:
        """Return the wrong bin of a query that is asked for the first time, and enter it into the dictionary."""
        wrong_bin = f"{self._links.class_of_query(query)}:0"
        self[query] = wrong_bin
        return wrong_bin


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
    """Return the sums of the counts, field by field. All sums are 0 if there are no counts."""
    rows = [astuple(row_counts) for row_counts in counts]
    totals = [sum(column) for column in zip(*rows)]  # no totals without rows: all fields keep their default 0
    return Counts(*totals)


@functools.lru_cache(maxsize=1 << 10)
def counts_of(labels: Labels, response_count: int = 1) -> Counts:
    """Return the counts of responses that all have the same labels; the ground truth of the counts is 0."""
    return Counts(
        submitted=response_count,
        correct=response_count * labels.count("CORRECT"),
        incorrect=response_count * labels.count("INCORRECT"),
        inexact=response_count * labels.count("INEXACT"),
        incorrect_parent=response_count * labels.count(INCORRECT_PARENT),
        unassessed=response_count * labels.count(UNASSESSED),
        redundant=response_count * labels.count(REDUNDANT),
        right=response_count * labels.count(RIGHT),
        wrong=response_count * labels.count(WRONG),
        ignored=response_count * labels.count(IGNORE),
    )


class Tally(NamedTuple):
    """A row of the tables: the name of an inner node of the tree, the responses below it, and their counts."""

    name: str
    counts: Counts
    responses: list[Response]


class Row(Struct):
    """The responses below one inner node while they are labelled and counted.

    `submitted` are all these responses. `right` and `redundant` are the responses that currently have the label RIGHT
    or REDUNDANT. `last_right_of_each_class` has the last right response of each class. If the slot takes only one
    value, this response competes with the right responses of other classes.
    """

    submitted: list[Response] = field(default_factory=list)
    right: list[Response] = field(default_factory=list)
    last_right_of_each_class: list[Response] = field(default_factory=list)
    redundant: list[Response] = field(default_factory=list)

    @property
    def credited(self) -> list[Response]:
        """The responses with the label RIGHT or REDUNDANT; those with both labels are there twice."""
        return self.right + self.redundant


def _classes_by_parent(tree: ClassTree, responses_by_class: ResponsesByClass) -> dict[str, list[str]]:
    """Return the names of the classes that have responses, in the order of the tree, by the node above them."""
    classes_by_parent: dict[str, list[str]] = {}
    for name, parent in tree.parent_by_class.items():
        if name in responses_by_class:
            classes_by_parent.setdefault(parent, []).append(name)
    return classes_by_parent


def single_value_sort_key(line: Response) -> tuple[float, int, int]:
    """Return the sort key of a right response to a single-valued slot; the first response in this order stays right.

    The most confident response comes first. Equally confident responses are sorted by line number, then by load order.
    """
    return -line.confidence, line.number, line.index


class Counting:
    """Label the responses of a run by a policy, and count the labels, query by query.

    `labels_by_index` has the labels of the responses that were counted so far. Two attributes are for explanations:
    `repeated_response_by_index` has, for each duplicate, the response that it repeats. `nominal_lines_by_index` has,
    for each response that is no longer right because it describes an entity without naming it, the lines that were
    searched for a name. The keys of all three are indexes of responses.
    """

    def __init__(
        self,
        assessment_by_index: AssessmentByIndex,
        policy: Policy,
        most_justifications: int | None,
        labels_by_index: dict[int, Labels],
        edition: Edition = LATEST,
    ) -> None:
        """Prepare to count responses. `assessment_by_index` has their assessments by the index of the response.

        Labels are added to `labels_by_index`, which may contain labels of runs scored earlier. Only the best
        `most_justifications` lines of a node count; None means that all lines count.
        """
        self.assessment_by_index = assessment_by_index
        self.labels_by_index = labels_by_index
        # Index of a duplicate -> the response that it repeats; index of a nominal response -> the lines of its node.
        self.repeated_response_by_index: dict[int, Response] = {}
        self.nominal_lines_by_index: dict[int, Sequence[Response]] = {}
        self._policy = policy
        self._most_justifications = most_justifications
        self._edition = edition
        self._duplicate_side = policy.duplicate_side or NO_SIDE
        self._labels_by_category = _labels_by_category(policy)

    def tally(self, tree: ClassTree, responses_by_class: ResponsesByClass) -> list[Tally]:
        """Label the responses below each inner node of the tree of a query, and return how many count as right.

        The result has a tally for each inner node. The inner nodes are the query itself, whose classes are the answers
        of the first hop, and each class with classes of the second hop below it. See the rule `counts` in
        docs/development/rules.md.
        """
        right_by_class = self._label_classes(tree, responses_by_class)
        classes_by_parent = _classes_by_parent(tree, responses_by_class)
        tallies = []
        for node_name in tree.inner_nodes:
            row = Row()
            for class_name in classes_by_parent.get(node_name, ()):
                row.submitted += responses_by_class[class_name]
                # This call fills the other fields of `row`: right, redundant and last_right_of_each_class.
                self._add_right_responses(right_by_class[class_name], row)
            tallies.append(self._tally_of_row(node_name, row, tree))
        return tallies

    def _label_classes(self, tree: ClassTree, responses_by_class: ResponsesByClass) -> dict[str, list[Response]]:
        """Label the responses of each class under the policy, and return the right ones by the name of their class.

        Parents are labelled first, because a response of the second hop can be right only below a right answer.
        """
        right_by_class: dict[str, list[Response]] = {}
        right_parents_by_class: dict[str, set[str]] = {}
        for class_name, parent in tree.parent_by_class.items():
            if class_name not in responses_by_class:
                continue
            responses = responses_by_class[class_name]
            # None stands for the first hop, where no response depends on a parent.
            right_parents = None if tree.is_root(parent) else right_parents_by_class.get(parent, set())
            right_by_class[class_name] = self._label_class(responses, right_parents)
            has_classes_below = class_name in tree.class_count_by_node
            if has_classes_below:
                right_parents_by_class[class_name] = self._find_right_parents(responses)
        return right_by_class

    def _label_class(self, responses: Sequence[Response], right_parent_ids: Set[str] | None) -> list[Response]:
        """Label the responses of one class (rule policies), and return the right responses in the order of the policy.

        If the policy calls several categories right, the responses of the first of these categories come first.
        `right_parent_ids` has the short ids of the follow-on queries that are about right answers. It is None at the
        first hop, whose queries are not about an answer.
        """
        responses_by_category: dict[str, list[Response]] = {}
        for response in responses:
            if right_parent_ids is not None and response.query.short_id not in right_parent_ids:
                category = INCORRECT_PARENT
            else:
                category = pre_policy_category(self.assessment_by_index.get(response.index))
            self.labels_by_index[response.index] = self._labels_by_category[category]
            responses_by_category.setdefault(category, []).append(response)
        right_responses: list[Response] = []
        for category in self._policy.right:
            right_responses += responses_by_category.get(category, ())
        return right_responses

    def _find_right_parents(self, responses: Sequence[Response]) -> set[str]:
        """Return the short ids of the follow-on queries about right answers, such as `{"efa464516d81"}`.

        `responses` all belong to one class. Responses to a follow-on query can be right only if the answer that the
        query is about, their parent, is right (rule paths). If several responses give the same answer, the first one
        decides. This method must be called before duplicates are labelled.
        """
        needed_label = CORRECT if self._edition.needs_correct_parent else RIGHT
        first_response_by_query: dict[str, Response] = {}
        for response in responses:
            first_response_by_query.setdefault(response.follow_on.id, response)
        right_parents = set()
        for query_id, response in first_response_by_query.items():
            if needed_label in self.labels_by_index[response.index]:
                right_parents.add(query_id)
        return right_parents

    def _add_right_responses(self, right_responses: Sequence[Response], row: Row) -> None:
        """Add the right responses of a class to the row, after labelling all but one of them as duplicates.

        The response that stays right is the first one that names the entity, or the first of all if none names it.
        """
        if not right_responses:
            return
        if len(right_responses) > 1:
            # False sorts before True, so responses that name the entity come first. Otherwise the order stays the same.
            names_first = sorted(right_responses, key=self.is_nominal)
            right_responses = self._mark_duplicates(names_first[0], names_first[1:], row)
        row.right += right_responses
        # There are several right responses only if the policy counts duplicates as right. If the slot takes only one
        # value, the last of them competes with other classes.
        row.last_right_of_each_class.append(right_responses[-1])

    def _tally_of_row(self, node_name: str, row: Row, tree: ClassTree) -> Tally:
        """Apply the rules that concern all classes of a row to its labels, and return the counts of the row.

        `node_name` is the name of the inner node above these classes. The rules change labels and the lists `right` and
        `redundant` of the row. The list `submitted` is not changed, so that all responses are counted.
        """
        ground_truth = tree.class_count_by_node[node_name]
        is_single_valued = tree.is_single_valued_by_node.get(node_name, False)
        if is_single_valued:
            self._keep_single_value(row)
            ground_truth = min(ground_truth, 1)
        self._ignore_nominals(row)
        counts = replace(self._count_labels(row.submitted), ground_truth=ground_truth)
        return Tally(node_name, counts, row.submitted)

    def _keep_single_value(self, row: Row) -> None:
        """Keep the best right response of a slot that takes only one value, and label the others as its duplicates.

        In the reference the choice between several right classes depends on hash order (rule single-value-winner in
        docs/background/ties.md).
        """
        if len(row.right) < 2:
            return
        kept_response = min(row.last_right_of_each_class, key=single_value_sort_key)
        other_responses = row.right.copy()
        other_responses.remove(kept_response)
        row.right = self._mark_duplicates(kept_response, other_responses, row)

    def _ignore_nominals(self, row: Row) -> None:
        """Ignore the right responses of a row that describe an entity without naming it, by the edition's rules."""
        if not row.right:
            return
        if self._edition.ignores_each_nominal:
            self._ignore_nominal_lines(row)
        else:
            self._ignore_nominal_nodes(row)

    def _count_labels(self, responses: Iterable[Response]) -> Counts:
        """Return the counts of labelled responses. The field `ground_truth` stays 0: it does not depend on labels."""
        # Most responses share a few tuples of labels, and the counts are computed only once for each tuple.
        line_count_by_labels = Counter([self.labels_by_index[response.index] for response in responses])
        return sum_counts([counts_of(labels, line_count) for labels, line_count in line_count_by_labels.items()])

    def is_nominal(self, response: Response) -> bool:
        """Return whether a response was assessed as nominal: it describes the entity without naming it."""
        assessment = self.assessment_by_index.get(response.index)
        return assessment is not None and assessment.value_mention == "NOM"

    def _mark_duplicates(self, kept_response: Response, duplicates: Sequence[Response], row: Row) -> list[Response]:
        """Label right responses as duplicates of `kept_response`, and return the responses that are still right.

        `kept_response` stays right. The duplicates stay right only if the policy counts duplicates as right. They are
        added to `row.redundant` (the tables call duplicates redundant), and `repeated_response_by_index` records the
        response that they repeat.
        """
        duplicate_labels = (REDUNDANT, self._duplicate_side)
        for duplicate in duplicates:
            labels = self.labels_by_index[duplicate.index]
            self.labels_by_index[duplicate.index] = _replace_right(labels, duplicate_labels)
            self.repeated_response_by_index[duplicate.index] = kept_response
        row.redundant += duplicates
        if self._duplicate_side == RIGHT:
            return [kept_response, *duplicates]
        return [kept_response]

    # ---- The nominal rule

    def _ignore_nominal_nodes(self, row: Row) -> None:
        """Ignore the right responses of nodes whose lines never name the entity (rule nominal-mentions).

        Right responses and duplicates of these nodes lose their labels RIGHT and REDUNDANT. They get the label IGNORE,
        unless another line of the row with the same line number already has this label.
        """
        lines_by_nominal_node = self._lines_of_nominal_nodes(row)
        if not lines_by_nominal_node:
            return
        # The reference scorer stores the label IGNORE by line number, although lines in two files may have the same
        # number.
        ignored_numbers = {line.number for line in row.submitted if IGNORE in self.labels_by_index[line.index]}
        for line in row.credited:
            if line.node in lines_by_nominal_node:
                labels = self.labels_by_index[line.index]
                has_ignored_twin = line.number in ignored_numbers
                self.labels_by_index[line.index] = _remove_credit(labels, has_ignored_twin)
                ignored_numbers.add(line.number)
                self.nominal_lines_by_index[line.index] = lines_by_nominal_node[line.node]

    def _lines_of_nominal_nodes(self, row: Row) -> dict[str | None, list[Response]]:
        """Return the lines of each nominal node of a row, by the full id of the node, such as `CSX_ENG_00fb79cef8:E1`.

        A node is nominal if it has a credited response (right or redundant) but none of its lines names the entity.
        Lines without a node are grouped together under None.
        """
        lines_by_node: dict[str | None, list[Response]] = {line.node: [] for line in row.credited}
        for line in row.submitted:
            if line.node in lines_by_node:
                lines_by_node[line.node].append(line)
        return {node: lines for node, lines in lines_by_node.items() if not self._is_named(lines)}

    def _ignore_nominal_lines(self, row: Row) -> None:
        """Remove the label RIGHT from the responses of a row that do not name the entity.

        Each response is decided separately. A nominal answer is ignored if its class has the mention type of a name,
        which means that another answer of the class names the entity. An answer without a mention type is no longer
        right, unless all right responses of the row lack one.
        """
        assessments = [self.assessment_by_index[line.index] for line in row.right]
        if all(assessment.value_mention is None for assessment in assessments):
            return
        for line, assessment in zip(row.right, assessments):
            labels_instead = _labels_instead_of_right(assessment)
            if labels_instead is None:
                continue
            labels = self.labels_by_index[line.index]
            self.labels_by_index[line.index] = _replace_right(labels, labels_instead)
            self.nominal_lines_by_index[line.index] = [line]  # no other line was searched for a name

    def _is_named(self, lines: Sequence[Response]) -> bool:
        """Return whether at least one of the lines of a node names the entity.

        Lines without assessment are left out. If the number of justifications of a node is limited, only the best lines
        up to this number are looked at.
        """
        assessed_lines = [line for line in lines if line.index in self.assessment_by_index]
        return any(self.is_naming(line) for line in best_lines(assessed_lines, self._most_justifications))

    def is_naming(self, line: Response) -> bool:
        """Return whether an assessed line counts as a name of the entity.

        A line counts if its answer is a name, or if no answer of its class is a name. For example, a line with the
        answer `her son` counts unless another answer of its class is a name, such as `Bob`. A line with the label WRONG
        never counts as a name.
        """
        if WRONG in self.labels_by_index[line.index]:
            return False
        assessment = self.assessment_by_index[line.index]
        # The class of an answer has the mention type NOM (nominal) if no answer of it is a name (NAM).
        return assessment.value_mention == "NAM" or assessment.class_mention == "NOM"
