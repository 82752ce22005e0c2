"""Which assessment a response has, the class it stands in, what it counts as; counts of each row.

The root of the tree of classes is the query; below it are the classes of its answers, below these those of the second
hop. The component `0` collects what belongs to no class.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

Matched: TypeAlias = Mapping[int, Assessment]  # the assessment of each response that has one, by the response's index
ByValue: TypeAlias = Mapping[tuple[int, str, str], Judgement]
"""How the answers to a query and its follow-on queries were judged, whatever their justification: by level, class of
the query that is answered, and value as a discipline compares it."""


# Discipline -> the form in which two values are compared when no assessment has the same justification; None: never.
_COMPARED: Final[dict[str, Callable[[str], str] | None]] = {
    "ASSESSED": None,
    # Character by character: a capital sigma never takes its final form.
    "STRING_CASE": lambda text: text.replace("Σ", "σ").lower(),
    "STRING_EXACT": str,
}


def check_discipline(name: str) -> None:
    if name not in _COMPARED:
        raise InputError(no_discipline(name))


def compares_values(discipline: str) -> bool:
    return _COMPARED[discipline] is not None


def index_values(assessments: Iterable[Assessment], links: Links, discipline: str) -> ByValue:
    """Assessments of one query by value, where the discipline compares values. Raises InputError as `match` does."""
    compared = _COMPARED[discipline]
    by_value: dict[tuple[int, str, str], Judgement] = {}
    if compared is None:
        return by_value
    for line in assessments:
        key = line.query.level, links.class_of_query(line.query), compared(line.value)
        known = by_value.get(key)
        by_value[key] = Judgement(line, False) if known is None else known.and_also(line)
    return by_value


def match(
    responses: Iterable[Response], by_value: ByValue, links: Links, discipline: str, problems: ProblemLog
) -> dict[int, Assessment]:
    """The assessment of each response that has one, by its index. Several correct ones are warned of. Raises InputError
    where the class of an answered query is needed and not known.
    """
    compared = _COMPARED[discipline]
    matched: dict[int, Assessment] = {}
    for response in responses:
        query, judgement, follow_on = response.query, None, response.follow_on
        if (first := follow_on.assessment) is not None:
            answer = response.answer
            if follow_on.judgements is None and first.query is query and first.answer == answer:
                matched[response.index] = first  # assessed once, as nearly all are: spares 2 % of a scoring
                continue
            judgement = follow_on.judgement_of(query, answer)
        if judgement is None and compared is not None:
            judgement = by_value.get((query.level, links.class_of_query(query), compared(response.value)))
        if judgement is not None:
            if judgement.is_ambiguous:
                problems.add("MULTIPLE_CORRECT_GROUND_TRUTH", query.short_id, place=response.place)
            matched[response.index] = judgement.assessment
    return matched


INCORRECT_PARENT: Final = "INCORRECT_PARENT"
UNASSESSED: Final = "UNASSESSED"
REDUNDANT: Final = "REDUNDANT"
NOWHERE: Final = ""  # the nameless side of duplicates when no policy says what to make of them
# What a response may be before the policies.
CATEGORIES: Final = (*JUDGMENT_OF_CODE.values(), UNASSESSED, INCORRECT_PARENT)
# Names of categories and sides, sorted; a side that a response is put on twice stands there twice.
Labels: TypeAlias = tuple[str, ...]


def pre_policy_category(assessment: Assessment | None) -> str:
    return UNASSESSED if assessment is None else assessment.judgment


@functools.cache
def category_in(labels: Labels) -> str:
    """The category before the policies among labels; a side is called IGNORE, too."""
    return next((label for label in labels if label in CATEGORIES and label != IGNORE), IGNORE)


def without(labels: Sequence[str], category: str) -> list[str]:
    """Labels minus the pre-policy category."""
    return [label for label in labels if label != category]


@functools.cache
def _labels_of_categories(policy: Policy) -> Mapping[str, Labels]:
    """Category before the policies -> the labels of a response to begin with."""
    return {
        category: tuple(sorted([category, *(side for side in SIDES for x in policy.items(side) if x == category)]))
        for category in CATEGORIES
    }


@functools.cache
def _no_longer_right(labels: Labels, *instead: str) -> Labels:
    at = labels.index(RIGHT)
    return tuple(sorted((*labels[:at], *labels[at + 1 :], *instead)))


@functools.cache
def _without_credit(labels: Labels, is_ignored: bool) -> Labels:
    """The labels without those of right and of redundant responses; with one more of ignored ones unless it is."""
    left = [label for label in labels if label not in (RIGHT, REDUNDANT)]
    return tuple(sorted(left if is_ignored else [*left, IGNORE]))


DEEPEST: Final = 100  # components that a class may have after its query; queries have two or three hops
# Class -> the responses of a run that stand in it, in load order; classes without any are left out.
Members: TypeAlias = Mapping[str, Sequence[Response]]


class ClassTree(Struct):
    """The classes of one query by name; `root` is its full id. `single`: whether the slot below an inner node takes one
    value; `above`: what each class stands below, which was met before it; `ground_truth`: the number of classes below
    each inner node that are to be found (without component `0`).
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
        return [name for name in (self.root, *self.above) if name in self.ground_truth]

    def depth(self, name: str) -> int:
        """0 for the query, 1 for the classes of its answers, 2 for those of the second hop."""
        return name.count(":") - self.root.count(":")

    def add(self, name: str) -> None:
        """Add a class, with those above it. Raises InputError where it belongs to another query or has no query id."""
        if name in self.above or name == self.root:
            return
        parent = name.rpartition(":")[0]
        if name.count(":") > DEEPEST:
            raise InputError(f"equivalence class with {name.count(':')} components: {name}", place=f"query {self.root}")
        if ":" not in parent and parent != self.root:
            raise InputError(
                "queryid undefined in QuerySet->get()"
                if parse_query_id(parent)
                else f'unexpected argument: "{parent}" sent to parse_queryid',
                place=f"query {self.root}",
                remedy=f"the equivalence class {name} of one of its answers should be {self.root}:n or "
                f"{self.root}:n:m; correct VALUE_EC",
            )
        if parent != self.root and parent not in self.above:
            self.add(parent)
        self.above[name] = parent
        self.ground_truth[parent] = self.ground_truth.get(parent, 0) + (not is_wrong_bin(name, self.root))


def is_wrong_bin(name: str, root: str) -> bool:
    """Whether a node of the tree of `root` holds what belongs to no class (rule ground-truth)."""
    return name.endswith(":0") or ":0:" in name[len(root) :]


def build_tree(
    root: LinkedQuery, assessments: Sequence[Assessment], links: Links, problems: ProblemLog, edition: Edition = LATEST
) -> ClassTree:
    """The tree of the query `root` with its assessments placed (rule ground-truth). Raises InputError where a correct
    answer stands below a class without accepted answer before it, or an inexact one below one without any (quirk 20).
    """
    tree = ClassTree(root.full_id, {root.full_id: root.single})
    holding_accepted: set[str] = set()
    inexact: list[tuple[Assessment, str]] = []
    texts_leading_to: dict[str, list[str]] = {}
    for assessment in assessments:
        query = assessment.query
        if assessment.is_accepted:
            name = assessment.value_class
        elif links.is_accepted(query):
            name = f"{links.class_of_query(query)}:0"
        elif edition.refuses_orphans:
            raise assessment.error(
                f"a wrong answer to the query {query.full_id}, which no accepted answer leads to",
                f"{edition.name} stops here; take the line out, or assess the answer that it stands below",
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
    return assessment.error(
        f"Equivalence class without correct parent entry: {assessment.text}",
        f"no correct or inexact answer of class {assessment.value_class.rpartition(':')[0]} stands {where}",
    )


def place_responses(tree: ClassTree, responses: Iterable[Response], matched: Matched, links: Links) -> Members:
    """Put each response into the class of its assessment, or where one without belongs, which the tree gets then."""
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


class Counts(Record):
    """Numbers of responses by category, and of the classes to be found (`ground_truth`).

    Precision is right / answered, which is not right / (right + wrong) where a response counts as both or as neither;
    recall is right / ground truth; both, and F1, are 0 where the denominator is 0.
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
        return self.submitted - self.ignored

    @property
    def precision(self) -> float:
        return divide(self.right, self.answered)

    @property
    def recall(self) -> float:
        return divide(self.right, self.ground_truth)

    @property
    def f1(self) -> float:
        return float(f1(self.precision, self.recall))


def sum_counts(counts: Iterable[Counts]) -> Counts:
    return Counts(*map(sum, zip(*map(astuple, counts))))


# The labels that `Counts` counts behind the first two fields, in the order of the fields.
_COUNTED: Final = (
    "CORRECT", "INCORRECT", "INEXACT", INCORRECT_PARENT, UNASSESSED, REDUNDANT, RIGHT, WRONG, IGNORE,
)  # fmt: skip


@functools.lru_cache(maxsize=1 << 10)
def counts_of(labels: Labels, times: int = 1) -> Counts:
    """What so many responses with these labels add to the counts of their row; there is nothing to be found."""
    return Counts(0, times, *(times * labels.count(label) for label in _COUNTED))


class Tally(NamedTuple):
    """What was counted below one node of the tree: its row, and the responses counted."""

    name: str
    counts: Counts
    responses: list[Response]


class Row(Struct):
    """The responses below one inner node, those right or redundant now, and the last right one of each class."""

    submitted: list[Response] = field(default_factory=list)
    right: list[Response] = field(default_factory=list)
    last_right: list[Response] = field(default_factory=list)
    redundant: list[Response] = field(default_factory=list)


class Outcome(NamedTuple):
    """What a row may also be: its counts, and the labels of its responses by index."""

    counts: Counts
    labels: Mapping[int, Labels]


class Choice(NamedTuple):
    """A single-valued row of which hash order keeps one of several right classes (docs/background/ties.md, 4); `others`
    is what it is with each that ours does not keep, if they are not too many.
    """

    name: str
    others: tuple[Outcome, ...]


def single_value_order(line: Response) -> tuple[float, int, int]:
    """What right responses to a single-valued slot are sorted by; the first stays right."""
    return -line.confidence, line.number, line.index


# Responses of a row, times those of them that might be kept, up to which all outcomes are worked out.
MOST_TRIED: Final = 100_000


class Counting:
    """Finds the labels of responses, by index, and counts them, query by query. `choices` are the rows in which hash
    order decides in the reference; `kept_for` has the response kept for each duplicate, `not_named` the lines that the
    nominal rule looked at for each that it takes the credit from.
    """

    def __init__(
        self, matched: Matched, policy: Policy, most: int | None, labels: dict[int, Labels], edition: Edition = LATEST
    ) -> None:
        """`most`: how many justifications of a node count, None for all; `labels`: those of runs scored before."""
        self.matched, self.labels = matched, labels
        self.choices: list[Choice] = []
        self.kept_for: dict[int, Response] = {}
        self.not_named: dict[int, Sequence[Response]] = {}
        self._policy, self._most, self._edition = policy, most, edition
        self._duplicate_side = policy.duplicate_side or NOWHERE
        self._labels_of = _labels_of_categories(policy)

    def tally(self, tree: ClassTree, members: Members) -> list[Tally]:
        """Count the responses below each inner node of a query's tree (rule counts)."""
        filled: dict[str, list[str]] = {}
        for name, parent in tree.above.items():
            if name in members:
                filled.setdefault(parent, []).append(name)
        # Class -> id of the query about an answer in it -> whether that answer is right.
        answers: dict[str, Mapping[str, bool]] = {tree.root: {}}
        # The first response with an answer decides, before duplicates are found (rule paths).
        needed = CORRECT if self._edition.needs_correct_parent else RIGHT
        tallies: list[Tally] = []
        for name in tree.inner_nodes:
            row = Row()
            for of_class in filled.get(name, ()):
                responses = members[of_class]
                right = self._categorise(responses, row, None if name == tree.root else answers.get(name, {}))
                if of_class in tree.ground_truth and of_class not in answers:
                    answers[of_class] = {
                        line.follow_on.id: needed in self.labels[line.index] for line in reversed(responses)
                    }
                if len(right) > 1:
                    first, *duplicates = sorted(right, key=self.is_nominal)
                    right = self._keep(first, duplicates, row)
                if right:
                    row.right += right
                    row.last_right.append(right[-1])
            is_single = tree.single.get(name, False)
            to_find = min(tree.ground_truth[name], 1) if is_single else tree.ground_truth[name]
            kept: Response | None = None
            if is_single and len(row.right) > 1:
                kept, *others = sorted(row.last_right, key=single_value_order)
                if others:
                    self.choices.append(Choice(name, tuple(self._with_others(row, others, to_find))))
            tallies.append(Tally(name, self._finished(row, kept, to_find), row.submitted))
        return tallies

    def _finished(self, row: Row, kept: Response | None, to_find: int) -> Counts:
        """The counts of a row once duplicates of the response `kept` and the nominal rule have changed its labels."""
        if kept is not None:
            row.right.remove(kept)
            row.right = self._keep(kept, row.right, row)
        if row.right:
            ignore = self._ignore_nominal_lines if self._edition.ignores_each_nominal else self._ignore_nominal_nodes
            ignore(row)
        found = Counter([self.labels[line.index] for line in row.submitted])
        counts = sum_counts(counts_of(labels, times) for labels, times in found.items())
        return replace(counts, ground_truth=to_find)

    def _with_others(self, row: Row, others: Sequence[Response], to_find: int) -> Iterator[Outcome]:
        """The row as it is where each of the other candidates stays right; nothing where they are too many to try."""
        if len(others) * len(row.submitted) > MOST_TRIED:
            return
        for other in others:
            labels = {line.index: self.labels[line.index] for line in row.submitted}
            tried = Counting(self.matched, self._policy, self._most, labels, self._edition)
            again = Row(row.submitted, row.right.copy(), row.last_right, row.redundant.copy())
            yield Outcome(tried._finished(again, other, to_find), labels)

    def _categorise(
        self, responses: Sequence[Response], row: Row, parents: Mapping[str, bool] | None
    ) -> list[Response]:
        """Label the responses of one class (rule policies); returns the right ones. `parents`: whether the answer that
        a query asks about is right, None at the first hop.
        """
        categories: list[str] = []
        for response in responses:
            if parents is not None and not parents.get(response.query.short_id):
                category = INCORRECT_PARENT
            else:
                category = pre_policy_category(self.matched.get(response.index))
            self.labels[response.index] = self._labels_of[category]
            categories.append(category)
        row.submitted += responses
        right: list[Response] = []
        for item in self._policy.right:
            if item in categories:
                right += [response for response, category in zip(responses, categories) if category == item]
        return right

    def is_nominal(self, response: Response) -> bool:
        assessment = self.matched.get(response.index)
        return assessment is not None and assessment.value_mention == "NOM"

    def _keep(self, kept: Response, others: Sequence[Response], row: Row) -> list[Response]:
        """Count `others` as duplicates of the right response `kept`; returns those that count as right all the same."""
        for response in others:
            self.labels[response.index] = _no_longer_right(self.labels[response.index], REDUNDANT, self._duplicate_side)
            self.kept_for[response.index] = kept
        row.redundant += others
        return [kept, *others] if self._duplicate_side == RIGHT else [kept]

    def _ignore_nominal_nodes(self, row: Row) -> None:
        """Ignore right responses of nodes that are only described, never named (rule nominal-mentions)."""
        labels = self.labels
        credited = (*row.right, *row.redundant)
        by_node: dict[str | None, list[Response]] = {line.node: [] for line in credited}
        for line in row.submitted:
            if line.node in by_node:
                by_node[line.node].append(line)
        blocked = {node for node, lines in by_node.items() if not self._is_named(lines)}
        ignored = {line.number for line in row.submitted if IGNORE in labels[line.index]} if blocked else set()
        for line in credited if blocked else ():
            if line.node in blocked:
                labels[line.index] = _without_credit(labels[line.index], line.number in ignored)
                ignored.add(line.number)
                self.not_named[line.index] = by_node[line.node]

    def _ignore_nominal_lines(self, row: Row) -> None:
        """Ignore right responses that only describe a named entity, each for itself. Where one of them has mention
        types, those without are right no more.
        """
        assessed = [(line, self.matched[line.index]) for line in row.right]
        has_types = any(assessment.value_mention is not None for _, assessment in assessed)
        for line, assessment in assessed if has_types else ():
            is_known = assessment.value_mention is not None
            if not is_known or (assessment.value_mention == "NOM" and assessment.class_mention != "NOM"):
                instead = (IGNORE,) if is_known else ()
                self.labels[line.index] = _no_longer_right(self.labels[line.index], *instead)
                self.not_named[line.index] = [line]

    def _is_named(self, lines: Sequence[Response]) -> bool:
        """Whether one of a node's best assessed lines, as many as justifications count, names the entity."""
        assessed = [line for line in lines if line.index in self.matched]
        if self._most is not None and len(assessed) > self._most:
            assessed = best_first(assessed)[: self._most]
        return any(map(self.names, assessed))

    def names(self, line: Response) -> bool:
        """Whether an assessed line names the entity, or its class is known by descriptions only."""
        assessment = self.matched[line.index]
        is_name = assessment.value_mention == "NAM" or assessment.class_mention == "NOM"
        return is_name and WRONG not in self.labels[line.index]
