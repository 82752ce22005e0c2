"""Which assessment a response has, what it counts as, and the class it stands in (specification 6 and 7.1 to 7.5).

The root of the tree of classes is the query; its children are the classes of its answers, theirs the classes of the
second hop. The component `0` collects what belongs to no class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Struct, field
from cs_score.coldstart.editions import LATEST, Edition
from cs_score.coldstart.lines import CORRECT, JUDGMENT_OF_CODE, Assessment, Judgement, LinkedQuery, Links, Response
from cs_score.coldstart.options import IGNORE, RIGHT, SIDES, Policy, no_discipline
from cs_score.coldstart.queries import find_predicate, parse_query_id
from cs_score.problems.log import ProblemLog

Matched: TypeAlias = Mapping[int, Assessment]
"""The assessment of each response that has one, by the response's index."""

ValueKey: TypeAlias = tuple[int, str, str]
"""Level, class of the query that is answered, and value as a discipline compares it."""

ByValue: TypeAlias = Mapping[ValueKey, Judgement]
"""How the answers to a query and its follow-on queries were judged, whatever their justification."""


# Discipline -> the form in which two values are compared when no assessment has the same justification; None: never.
_COMPARED: Final[dict[str, Callable[[str], str] | None]] = {
    "ASSESSED": None,
    # Character by character: a capital sigma never takes its final form.
    "STRING_CASE": lambda text: text.replace("Σ", "σ").lower(),
    "STRING_EXACT": str,
}


def check_discipline(name: str) -> None:
    """Raises InputError for a discipline that is not there."""
    if name not in _COMPARED:
        raise InputError(no_discipline(name))


def compares_values(discipline: str) -> bool:
    """Whether an assessment of the same value counts where none has the same justification."""
    return _COMPARED[discipline] is not None


def index_values(assessments: Iterable[Assessment], links: Links, discipline: str) -> ByValue:
    """The assessments of one query by value, as the discipline compares it; empty where it does not.

    Raises InputError where the class of an assessed query is not known.
    """
    compared = _COMPARED[discipline]
    by_value: dict[ValueKey, Judgement] = {}
    if compared is None:
        return by_value
    for assessment in assessments:
        key = _value_key(assessment, links, compared)
        known = by_value.get(key)
        by_value[key] = Judgement(assessment, False) if known is None else known.and_also(assessment)
    return by_value


def match(
    responses: Iterable[Response], by_value: ByValue, links: Links, discipline: str, problems: ProblemLog
) -> dict[int, Assessment]:
    """The assessment of each response to one query or its follow-on queries that has one, by the response's index.

    `by_value`: from `index_values`. Several correct candidates are warned of. Raises InputError where the class of an
    answered query is needed and not known.
    """
    compared = _COMPARED[discipline]
    matched: dict[int, Assessment] = {}
    for response in responses:
        follow_on = response.follow_on
        judgement, first = None, follow_on.assessment
        if first is not None:
            query, answer = response.query, response.answer
            if follow_on.judgements is None and first.query is query and first.answer == answer:
                matched[response.index] = first  # assessed once, as nearly all answers are
                continue
            judgement = follow_on.judgement_of(query, answer)
        if judgement is None and compared is not None:
            judgement = by_value.get(_value_key(response, links, compared))
        if judgement is not None:
            if judgement.is_ambiguous:
                problems.add("MULTIPLE_CORRECT_GROUND_TRUTH", response.query.short_id, place=response.place)
            matched[response.index] = judgement.assessment
    return matched


def _value_key(line: Response | Assessment, links: Links, compared: Callable[[str], str]) -> ValueKey:
    return line.query.level, links.class_of_query(line.query), compared(line.value)


INCORRECT_PARENT: Final = "INCORRECT_PARENT"
UNASSESSED: Final = "UNASSESSED"
REDUNDANT: Final = "REDUNDANT"
NOWHERE: Final = ""
"""The nameless side of duplicates when no policy says what to make of them."""

CATEGORIES: Final = (*JUDGMENT_OF_CODE.values(), UNASSESSED, INCORRECT_PARENT)
"""What a response may be before the policies."""

Labels: TypeAlias = tuple[str, ...]
"""Names of categories and sides, sorted; a side that a response is put on twice stands there twice."""


def pre_policy_category(assessment: Assessment | None) -> str:
    """The assessor's judgment, or UNASSESSED."""
    return UNASSESSED if assessment is None else assessment.judgment


@functools.cache
def category_in(labels: Labels) -> str:
    """The category before the policies among labels; a side is called IGNORE, too."""
    return next((label for label in labels if label in CATEGORIES and label != IGNORE), IGNORE)


def without(labels: Sequence[str], category: str) -> list[str]:
    """The labels that say something beside the category before the policies."""
    return [label for label in labels if label != category]


@functools.cache
def labels_of_categories(policy: Policy) -> Mapping[str, Labels]:
    """Category before the policies -> the labels of a response to begin with."""
    return {
        category: tuple(
            sorted((category, *(side for side in SIDES for item in policy.items(side) if item == category)))
        )
        for category in CATEGORIES
    }


@functools.cache
def as_duplicate(labels: Labels, duplicate_side: str) -> Labels:
    """The labels of a right response that counts as a duplicate instead."""
    at = labels.index(RIGHT)
    return tuple(sorted((*labels[:at], *labels[at + 1 :], REDUNDANT, duplicate_side)))


@functools.cache
def without_right(labels: Labels, becomes_ignored: bool) -> Labels:
    """The labels of a right response that is right no more, and perhaps ignored."""
    at = labels.index(RIGHT)
    return tuple(sorted((*labels[:at], *labels[at + 1 :], *([IGNORE] if becomes_ignored else []))))


@functools.cache
def without_credit(labels: Labels, is_ignored: bool) -> Labels:
    """The labels without those of right and of redundant responses; with one more of ignored ones unless it is."""
    left = [label for label in labels if label not in (RIGHT, REDUNDANT)]
    return tuple(sorted(left if is_ignored else [*left, IGNORE]))


DEEPEST: Final = 100
"""Components that a class may have after its query; queries have two or three hops."""

Members: TypeAlias = Mapping[str, Sequence[Response]]
"""Class -> the responses of a run that stand in it, in load order; classes without any are left out."""


class ClassTree(Struct):
    """The classes of one query, by name; `root` is its full id.

    `single` tells of an inner node whether the slot that the classes below it fill takes one value; where nothing is
    known, it takes several. `above` maps each class to the class above it, or to the query, in the order in which they
    were first met; nothing stands before what is above it. `ground_truth` maps each inner node to the number of classes
    below it that are to be found, those without a component `0`.
    """

    root: str
    single: dict[str, bool]
    above: dict[str, str] = field(default_factory=dict)
    ground_truth: dict[str, int] = field(default_factory=dict)

    def branch(self) -> ClassTree:
        """A tree that begins with these classes; those added to it are not added here."""
        return ClassTree(self.root, self.single, self.above.copy(), self.ground_truth.copy())

    @property
    def inner_nodes(self) -> list[str]:
        """The query and the classes that have classes below them, in the order in which they were first met."""
        return [name for name in (self.root, *self.above) if name in self.ground_truth]

    def depth(self, name: str) -> int:
        """0 for the query, 1 for the classes of its answers, 2 for those of the second hop."""
        return name.count(":") - self.root.count(":")

    def add(self, name: str) -> None:
        """Add a class, with those above it, where it is not there yet.

        Raises InputError where the class belongs to another query or has no query id.
        """
        if name in self.above or name == self.root:
            return
        parent = name.rpartition(":")[0]
        if name.count(":") > DEEPEST:
            raise InputError(f"equivalence class with {name.count(':')} components: {name}", place=f"query {self.root}")
        if parent != self.root and parent not in self.above:
            if ":" not in parent:
                raise InputError(
                    "queryid undefined in QuerySet->get()"
                    if parse_query_id(parent)
                    else f'unexpected argument: "{parent}" sent to parse_queryid',
                    place=f"query {self.root}",
                    remedy=f"the equivalence class {name} of one of its answers should be {self.root}:n or "
                    f"{self.root}:n:m; mend VALUE_EC",
                )
            self.add(parent)
        self.above[name] = parent
        self.ground_truth[parent] = self.ground_truth.get(parent, 0) + (not is_wrong_bin(name, self.root))


def is_wrong_bin(name: str, root: str) -> bool:
    """Whether a node of the tree of `root` holds what belongs to no class (specification 7.2)."""
    return name.endswith(":0") or ":0:" in name[len(root) :]


def build_tree(
    root: LinkedQuery,
    assessments: Sequence[Assessment],
    links: Links,
    problems: ProblemLog,
    edition: Edition = LATEST,
) -> ClassTree:
    """The tree of the query `root` with its assessments placed (specification 7.2).

    Raises InputError where a correct answer stands below a class that holds no accepted answer before it, and where an
    inexact one stands below a class that holds none at all (specification 13.20).
    """
    tree = ClassTree(root.full_id, {root.full_id: root.single})
    wrong_bins: dict[LinkedQuery, str] = {}
    holding_accepted: set[str] = set()
    inexact: list[tuple[Assessment, str]] = []
    texts_leading_to: dict[str, list[str]] = {}
    for assessment in assessments:
        query = assessment.query
        if assessment.is_accepted:
            name = assessment.value_class
        elif query in wrong_bins:
            name = wrong_bins[query]
        elif links.is_accepted(query):
            name = wrong_bins[query] = f"{links.class_of_query(query)}:0"
        elif edition.refuses_orphans:
            raise InputError(
                f"a wrong answer to the query {query.full_id}, which no accepted answer leads to",
                file=assessment.file,
                place=f"line {assessment.number}",
                remedy=f"{edition.name} stops here; take the line out, or assess the answer that it stands below",
            )
        else:  # it stands nowhere
            if not texts_leading_to:
                for each in assessments:
                    texts_leading_to.setdefault(each.target, []).append(each.text)
            parents = "\n".join(texts_leading_to.get(query.short_id, ()))
            child = f"\nUnexpected child: \n{assessment.text}\n"
            problems.add("UNEXPECTED_ASSESSMENT_ENTRY", child, f"\nAll parents:\n{parents}\n", place=assessment.place)
            continue
        tree.add(name)
        if name not in tree.single and len(query.slots) > 1:
            predicate = find_predicate(query.slots[1])
            tree.single[name] = predicate is not None and predicate.single
        if assessment.is_accepted:
            holding_accepted.add(name)
            parent = tree.above.get(name, tree.root)
            if parent != tree.root and parent not in holding_accepted:
                if assessment.judgment == CORRECT:
                    raise _without_parent_class(assessment, "before it")
                inexact.append((assessment, parent))
    for assessment, parent in inexact:
        if parent not in holding_accepted:
            raise _without_parent_class(assessment, "in the pool")
    return tree


def _without_parent_class(assessment: Assessment, where: str) -> InputError:
    return InputError(
        f"Equivalence class without correct parent entry: {assessment.text}",
        file=assessment.file,
        place=f"line {assessment.number}",
        remedy=f"no correct or inexact answer of class {assessment.value_class.rpartition(':')[0]} stands {where}",
    )


def place_responses(tree: ClassTree, responses: Iterable[Response], matched: Matched, links: Links) -> Members:
    """Put each response into the class of its assessment, or where an answer without one belongs (7.3).

    Classes that the tree lacks are added to it.
    """
    members: dict[str, list[Response]] = {}
    wrong_bins: dict[LinkedQuery, str] = {}
    for response in responses:
        query, assessment = response.query, matched.get(response.index)
        accepting = response.follow_on.accepting
        if assessment is not None and assessment.is_accepted:
            name = assessment.value_class
        elif accepting is not None and (assessment is None or not links.is_accepted(assessment.query)):
            name = accepting.value_class
        elif query in wrong_bins:
            name = wrong_bins[query]
        else:
            name = wrong_bins[query] = f"{links.class_of_query(query)}:0"
        if name not in members:
            tree.add(name)
            members[name] = []
        members[name].append(response)
    return members
