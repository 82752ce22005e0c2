"""`diff`: why one Cold Start run scores higher than another, or than itself under another policy, pool or edition. The
two scored runs are A and B. They are compared unit by unit (an LDC query, or an SF query of its own), answer by answer,
and by the equivalence classes found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.faults import accepted_class, category_of, counted_lines, rows_with_classes_to_find
from cs_score.analysis.coldstart.scored import AnalysedRun, ScoredLine
from cs_score.analysis.outcomes import PairOutcome, Side, Sides, TwoSided, head_of, outcome_of, undefined_notes
from cs_score.base.records import Record, field, replace
from cs_score.coldstart.judging import Labels, pre_policy_category
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.unit_statistics import has_ldc_units, resampled_unit, unit_table
from cs_score.measures import COLD_START_MODE, Measure, formula_of
from cs_score.statistics.resampling_settings import Resampling
from cs_score.verbs.diff.edition_rules import EditionRule, rules_of
from cs_score.verbs.diff.group_contributions import GroupShare, group_shares, shares_of


class UnitShare(Record):
    """A unit: its own scores in A and B, 0..1 (None: not scored), and its contribution (None: not defined)."""

    unit: str
    a: float | None
    b: float | None
    contribution: float | None


Label: TypeAlias = Literal["right", "wrong", "ignored", "not counted"]

_BEST_FIRST: Final[tuple[Label, ...]] = ("right", "wrong", "ignored", "not counted")
"""The labels of lines from the best one to the worst one."""


class AnswerLabel(Record):
    """What an answer counted as in a run: the best label of the lines that give it, with the first line of that."""

    label: Label
    category: str
    class_name: str | None = field(name="class")
    file: str
    line: int
    lines: int = 1


class AnswerPair(Record):
    """An answer (query, value and canonical value provenance) in A and in B; None where the run does not give it.

    The outcome `in neither` is that of an answer that counts as right or wrong in neither run.
    """

    query: str
    value: str
    provenance: str
    a: AnswerLabel | None
    b: AnswerLabel | None
    outcome: str


class ClassPair(Record):
    """A class of the ground truth, the row that it stands below, and whether A and B have found it."""

    class_name: str = field(name="class")
    row: str
    a: bool
    b: bool
    outcome: str


class RunDifference(TwoSided, frozen=True, kw_only=True, tag="difference"):
    """Why B scores otherwise than A under `measure`.

    `units` are those that count differently, the largest contribution first; all contributions add up to the
    difference. `answers` are those that counted differently, and `classes` those that only one of the two has found;
    `outcomes` and `found` count all of them. `groups` has the rows of the measure's table by slot, hop and entity type,
    and for micro averages its lines by their own groups. `rules` say which rows change by which rule alone, where A and
    B are one run under two editions. `undefined` has by side the measures that have no value there, with the reasons.
    """

    schema_version: Literal[3] = 3
    undefined: Mapping[str, Mapping[str, str]] | UnsetType = UNSET
    unit: str
    units: Sequence[UnitShare]
    answers: Sequence[AnswerPair]
    outcomes: Mapping[str, int]
    classes: Sequence[ClassPair]
    found: Mapping[str, int]
    groups: Mapping[str, Sequence[GroupShare]]
    rules: Sequence[EditionRule] | UnsetType = UNSET

    def __repr__(self) -> str:
        return f"<{self.measure}: {self.names['b']} - {self.names['a']} = {self.difference:+.4f}>"


def diff(
    a: AnalysedRun,
    b: AnalysedRun,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    resampling: Resampling | None = None,
) -> RunDifference:
    """Return the answers, classes and units in which two scored runs differ, and why their scores differ.

    `measure` defaults to the headline measure that both runs have. `names` are the names to use for A and B in the
    output, and `resampling` holds the settings for the interval and the test. Raises UsageError for an unknown measure,
    and InputError if a run has no score under the measure.
    """
    shared_measure = _shared_measure(a, b, measure)
    side_a = _side_of(a, names[0], shared_measure)
    side_b = _side_of(b, names[1], shared_measure)
    unit_noun = _name_of_units(a, b)
    units = _ComparedUnits(side_a, side_b, shared_measure)
    answers = _answer_pairs(a, b)
    classes = _class_pairs(a, b)
    count_by_class_outcome = _count_outcomes(classes)
    # The fields that all documents of differences begin with: names, scores, interval, p-value and notes.
    shared_fields = head_of(units.sides(unit_noun), resampling)
    notes_on_undefined = undefined_notes({names[0]: a.result.undefined, names[1]: b.result.undefined})
    shared_fields["notes"] = (*shared_fields["notes"], *notes_on_undefined)
    return RunDifference(
        task=COLD_START_MODE,
        **shared_fields,
        undefined=_undefined_by_side(a, b) or UNSET,
        unit=unit_noun,
        units=units.different_units(),
        answers=[pair for pair in answers if not _counts_alike(pair)],
        outcomes=_count_outcomes(answers),
        classes=[pair for pair in classes if pair.a != pair.b],
        found=count_by_class_outcome,
        groups=group_shares(a, b, shared_measure),
        rules=rules_of(a, b) or UNSET,
    )


def _shared_measure(a: AnalysedRun, b: AnalysedRun, name: str | None) -> Measure:
    """Return the measure with the given name, or the headline measure shared by both runs if there is no name.

    Raises UsageError for an unknown measure, and InputError if a run has no score under the measure.
    """
    b_lacks_average_precision = b.why_unranked is not None
    if name is None and b_lacks_average_precision:
        # The headline measure of A may be average precision. Both runs have the headline measure of B, which is an F1.
        name = str(b.headline)
    measure = a.measure(name)  # by default the headline of A
    b.measure(str(measure))  # raises an error if B has no score under the measure
    return measure


class _ComparedUnits:
    """The units of A and B with their scores by a measure and their contributions to the difference of the runs."""

    def __init__(self, side_a: Side, side_b: Side, measure: Measure) -> None:
        """Compute the contribution of each unit to the difference of the scores of A and B.

        The contribution is computed from the unit's summands. A score is a ratio of sums over all units, such as the
        total number of right lines. The summands of a unit are the numbers that it adds to these sums.
        """
        self._side_a = side_a
        self._side_b = side_b
        self._measure = measure
        self._summands_a = dict(zip(side_a.table.ids, side_a.table.rows))
        self._summands_b = dict(zip(side_b.table.ids, side_b.table.rows))
        self._units = shares_of(self._summands_a, self._summands_b, measure)

    def sides(self, unit_noun: str) -> Sides:
        """Return A and B as the sides of a comparison. `unit_noun` is the noun for their units, such as `SF query`.

        Sentences that count the scored units always call them `units`, regardless of the noun.
        """
        return Sides(
            a=self._side_a,
            b=self._side_b,
            measure=str(self._measure),
            formula=formula_of([self._measure]),
            unit=unit_noun,
            units="units",
            has_contributions=all(unit.contribution is not None for unit in self._units),
        )

    def different_units(self) -> list[UnitShare]:
        """Return the units that count differently in A and B, the largest contribution first."""
        units = []
        for unit in self._units:
            # Scores may be equal although the counts differ. Such units contribute to the difference as well.
            if self._summands_a.get(unit.name) != self._summands_b.get(unit.name):
                units.append(UnitShare(unit=unit.name, a=unit.a, b=unit.b, contribution=unit.contribution))
        return sorted(units, key=lambda unit: -abs(unit.contribution or 0.0))


def _side_of(scored: AnalysedRun, name: str, measure: Measure) -> Side:
    """Return a scored run as one side of the comparison: its name, units, score and origin."""
    return Side(name, unit_table(scored.result, [measure]), scored.result.score_by_measure[measure], scored.origin)


def _name_of_units(a: AnalysedRun, b: AnalysedRun) -> str:
    """Return the noun for the compared units: `LDC query` if the LDC query of some query is known, else `SF query`."""
    has_ldc_queries = bool(a.run.gold.query_set.ldc_id_by_query)
    return resampled_unit(has_ldc_queries or has_ldc_units(a.result) or has_ldc_units(b.result))


def _undefined_by_side(a: AnalysedRun, b: AnalysedRun) -> dict[str, Mapping[str, str]]:
    """Return the undefined measures of A and B with the reasons: `{"b": {"SF-AP": "the run has no node ids"}}`.

    A run that has a score by every measure is left out.
    """
    undefined: dict[str, Mapping[str, str]] = {}
    if a.result.undefined:
        undefined["a"] = a.result.undefined
    if b.result.undefined:
        undefined["b"] = b.result.undefined
    return undefined


def _count_outcomes(pairs: Sequence[AnswerPair | ClassPair]) -> dict[str, int]:
    """Return the number of pairs with each outcome, sorted by the name of the outcome."""
    counts = Counter([pair.outcome for pair in pairs])
    return dict(sorted(counts.items()))


# ---- Answers

_AnswerKey: TypeAlias = tuple[str, str, str]
"""Query, value and canonical value provenance of an answer."""


def _answer_pairs(a: AnalysedRun, b: AnalysedRun) -> list[AnswerPair]:
    """Return all answers with their labels in A and B: first the answers of A, then those that only B has."""
    label_in_a = _label_by_answer(a)
    label_in_b = _label_by_answer(b)
    answers = dict.fromkeys([*label_in_a, *label_in_b])  # each answer once
    return [_answer_pair(answer, label_in_a.get(answer), label_in_b.get(answer)) for answer in answers]


def _answer_pair(answer: _AnswerKey, label_a: AnswerLabel | None, label_b: AnswerLabel | None) -> AnswerPair:
    """Return an answer with its labels in A and B. A label is None if the run does not give the answer."""
    query, value, provenance = answer
    return AnswerPair(
        query=query,
        value=value,
        provenance=provenance,
        a=label_a,
        b=label_b,
        outcome=_outcome_of_answer(label_a, label_b),
    )


def _outcome_of_answer(label_a: AnswerLabel | None, label_b: AnswerLabel | None) -> str:
    """Return the outcome of an answer in A and B, such as `right in A only`.

    A label is None if its run lacks the answer. If the answer is not right or wrong in either run, the outcome is
    `in neither`.
    """
    label_text_a = None if label_a is None else label_a.label
    label_text_b = None if label_b is None else label_b.label
    is_right_in_a_and_b = (label_text_a == "right", label_text_b == "right")
    is_wrong_in_a_and_b = (label_text_a == "wrong", label_text_b == "wrong")
    outcome = outcome_of(is_right_in_a_and_b, is_wrong_in_a_and_b)
    return "in neither" if outcome is PairOutcome.MISSED else str(outcome)


def _counts_alike(pair: AnswerPair) -> bool:
    """Return whether an answer has the same label, category and class in both runs, even if the lines differ.

    An answer given by only one of the runs is never the same in both.
    """
    if pair.a is None or pair.b is None:
        return pair.a is None and pair.b is None
    meaning_a = (pair.a.label, pair.a.category, pair.a.class_name)
    meaning_b = (pair.b.label, pair.b.category, pair.b.class_name)
    return meaning_a == meaning_b


def _label_by_answer(scored: AnalysedRun) -> dict[_AnswerKey, AnswerLabel]:
    """Return the label of each answer of a run: the best label of its lines, with the number of its lines."""
    counted_indexes = _counted_indexes(scored)
    labels_by_answer: dict[_AnswerKey, list[AnswerLabel]] = defaultdict(list)
    for scored_line in scored.lines():
        line = scored_line.line
        label = _label_of_line(scored_line, scored, is_counted=line.index in counted_indexes)
        labels_by_answer[line.query.full_id, line.value, line.value_provenance].append(label)
    return {answer: _best_label(labels) for answer, labels in labels_by_answer.items()}


def _best_label(labels: Sequence[AnswerLabel]) -> AnswerLabel:
    """Return the first one of the best labels of an answer, with the number of all its labels as number of lines."""
    best = min(labels, key=lambda label: _BEST_FIRST.index(label.label))
    return best if len(labels) == 1 else replace(best, lines=len(labels))


def _counted_indexes(scored: AnalysedRun) -> set[int]:
    """Return the indexes of the lines of a run that are counted in a row of the tables."""
    indexes: set[int] = set()
    for unit in scored.result.units:
        indexes.update([line.index for line in counted_lines(unit)])
    return indexes


def _label_of_line(scored_line: ScoredLine, scored: AnalysedRun, *, is_counted: bool) -> AnswerLabel:
    """Return the label of a single line: `right`, `wrong` ..., with its category, its class and its place.

    `is_counted` says whether the line is counted in a row of the tables.
    """
    unit, line, assessment = scored_line
    side: Label = "not counted"
    category = pre_policy_category(assessment)
    if is_counted:
        labels = unit.labels_by_index[line.index]  # the labels given by the scorer: its category, its side ...
        side = _side_of_labels(labels)
        category = category_of(labels, scored.policy)
    class_name = accepted_class(assessment)
    return AnswerLabel(label=side, category=category, class_name=class_name, file=line.file, line=line.number)


def _side_of_labels(labels: Labels) -> Label:
    """Return the side of the policy on which a line counts, from its labels: `right`, `wrong` or `ignored`.

    If a policy puts a line on several sides, the first of these three is returned.
    """
    if RIGHT in labels:
        return "right"
    if WRONG in labels:
        return "wrong"
    return "ignored"


# ---- Classes

_ClassKey: TypeAlias = tuple[str, str]
"""A class and the row that it belongs to."""


def _class_pairs(a: AnalysedRun, b: AnalysedRun) -> list[ClassPair]:
    """Return whether A and B have found each class of the ground truth, in the load order of the pool."""
    is_found_in_a = _is_found_by_class(a)
    is_found_in_b = _is_found_by_class(b)
    pairs = []
    for class_key in dict.fromkeys([*is_found_in_a, *is_found_in_b]):  # each class once
        class_name, row = class_key
        has_a_found = is_found_in_a.get(class_key, False)
        has_b_found = is_found_in_b.get(class_key, False)
        outcome = _outcome_of_class(has_a_found, has_b_found)
        pairs.append(ClassPair(class_name=class_name, row=row, a=has_a_found, b=has_b_found, outcome=outcome))
    return pairs


def _is_found_by_class(scored: AnalysedRun) -> dict[_ClassKey, bool]:
    """Return for each class of the ground truth, with its row, whether right lines of a run have found it."""
    is_found: dict[_ClassKey, bool] = {}
    for unit in scored.result.units:
        for row in rows_with_classes_to_find(scored, unit):
            for class_name in row.class_names:
                is_found[class_name, row.name] = class_name in row.found_classes
    return is_found


def _outcome_of_class(has_a_found: bool, has_b_found: bool) -> str:
    """Return in words which run has found a class: `found by A only`, `found by both` ..."""
    if has_a_found and has_b_found:
        return "found by both"
    if has_a_found:
        return "found by A only"
    if has_b_found:
        return "found by B only"
    return "found by neither"
