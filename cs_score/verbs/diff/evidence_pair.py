"""Compare two results of an evidence task. The comparison shows which units cause the difference, and which answers are
judged differently. A unit is a claim, an instance or a question. Its parts are, for example, the abstracts and
sentences that were predicted for it. An answer is a part of a unit together with its judgments in both results.

The difference of the scores is divided among the units; the share of a unit is its contribution.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from cs_score.analysis.evidence.examination import Examination, UnitKey, UnitName
from cs_score.analysis.outcomes import PairOutcome, contributions_of, outcome_of, positions_of_groups
from cs_score.evidence.mode import Part, ScoredPredictions
from cs_score.verbs.diff.evidence_documents import Answer, GroupDifference, Judgment, OutcomeCount, UnitDifference


class DifferingAnswers(NamedTuple):
    """The answers that were judged differently in two results, and how many answers have each outcome.

    An answer is a part of a unit with its judgments in both results.
    """

    answers: list[Answer]
    outcomes: tuple[OutcomeCount, ...]


class ExaminedPair:
    """Two results, A and B, examined by the same measure. A unit contributes a part of the difference of their scores.

    Every measure is a ratio q = x / y of sums over units. D is the value in B minus the value in A, and mean is the
    mean of both. A unit contributes (D(x) - mean(q) D(y)) / mean(y), with its own D(x) and D(y). The contributions of
    all units add up to D(q). A unit that only one result has counts as 0 in the other.
    """

    def __init__(self, a: ScoredPredictions, b: ScoredPredictions, measure: str) -> None:
        """Take two results of the same task, and the official name of a measure that has a value in both."""
        self.a = Examination(a, measure)
        self.b = Examination(b, measure)
        self._mode = a.mode
        # A unit of both results has its name from A, since the later mapping wins.
        self._unit_name_by_key: Mapping[UnitKey, UnitName] = {**self.b.name_by_key, **self.a.name_by_key}
        self._contributions = contributions_of(self.a.row_by_key, self.b.row_by_key, self.a.formula)

    @cached_property
    def has_contributions(self) -> bool:
        """Whether the contributions of all units are defined."""
        return bool(self._contributions) and None not in self._contributions.values()

    def units(self) -> list[UnitDifference]:
        """Return the units that count differently in A and B, the largest contribution first."""
        # The ratio of a unit has the numerator and the denominator of the measure for this unit alone.
        keys = [key for key in self._contributions if self.a.ratio(key) != self.b.ratio(key)]
        units = [self._difference_of_unit(key) for key in keys]
        return sorted(units, key=lambda unit: -abs(unit.contribution or 0.0))

    def _difference_of_unit(self, key: UnitKey) -> UnitDifference:
        """Return the unit with this key: its scores in A and B, None where it was not scored, and its contribution."""
        unit_name = self._unit_name_by_key[key]
        return UnitDifference(
            unit=unit_name.id,
            occurrence=unit_name.occurrence,
            a=self.a.score([key]) if key in self.a.row_by_key else None,
            b=self.b.score([key]) if key in self.b.row_by_key else None,
            contribution=self._contributions[key],
        )

    def groups(self) -> dict[str, tuple[GroupDifference, ...]]:
        """Return the groups of units by dimension, with their scores in A and B and their contributions."""
        keys = list(self._contributions)
        groups_of_units = [self._groups_of_unit(key) for key in keys]
        groups_by_dimension = {}
        for dimension, positions_by_group in positions_of_groups(groups_of_units).items():
            groups = []
            for name, positions in positions_by_group.items():
                keys_of_group = [keys[position] for position in positions]  # positions are those in `keys`
                groups.append(self._group(name, keys_of_group))
            groups_by_dimension[dimension] = tuple(groups)
        return groups_by_dimension

    def _groups_of_unit(self, key: UnitKey) -> Mapping[str, str]:
        """Return the group of a unit in each dimension, from A if it was scored there: `{"hops": "2"}`."""
        examination = self.a if key in self.a.row_by_key else self.b
        return self._mode.groups(examination.unit_by_key[key])

    def _group(self, name: str, keys: Sequence[UnitKey]) -> GroupDifference:
        """Return the group of the units with these keys: its scores in A and B, and its contribution.

        The contribution is None if it is not defined.
        """
        contribution = None
        if self.has_contributions:
            contribution = math.fsum([self._contributions[key] or 0.0 for key in keys])
        return GroupDifference(name, self.a.score(keys), self.b.score(keys), contribution)

    def answers(self) -> DifferingAnswers:
        """Return the answers that were judged differently in A and B, and the number of answers with each outcome.

        An answer is a part of a unit. For each unit, the parts in A come first, followed by the parts that only B has.
        """
        differing_answers = []
        answer_counts: Counter[tuple[str, PairOutcome]] = Counter()
        for answer in self._all_answers():
            answer_counts[answer.part, answer.outcome] += 1
            # Judgments with the same outcome may differ in their words: the words are compared.
            if _judgment_text(answer.a) != _judgment_text(answer.b):
                differing_answers.append(answer)
        return DifferingAnswers(differing_answers, _outcome_counts(answer_counts))

    def _all_answers(self) -> Iterator[Answer]:
        """Yield all answers: the parts of all units, each with its judgments in A and B."""
        for unit_key in dict.fromkeys([*self.a.name_by_key, *self.b.name_by_key]):
            parts_of_a = self.a.parts(unit_key)
            parts_of_b = self.b.parts(unit_key)
            for part_key in dict.fromkeys([*parts_of_a, *parts_of_b]):
                yield _make_answer(self._unit_name_by_key[unit_key], parts_of_a.get(part_key), parts_of_b.get(part_key))


def _outcome_counts(answer_counts: Mapping[tuple[str, PairOutcome], int]) -> tuple[OutcomeCount, ...]:
    """Return the number of answers by kind of part (`abstract`, `sentence` ...) and outcome, sorted by kind.

    `answer_counts` holds the numbers of answers, which are parts of units. Missing numbers are taken to be 0.
    """
    kinds_of_parts = {kind for kind, _ in answer_counts}
    rows = []
    for kind in sorted(kinds_of_parts):
        for outcome in PairOutcome:
            rows.append(OutcomeCount(kind, outcome, answer_counts.get((kind, outcome), 0)))
    return tuple(rows)


def _make_answer(unit: UnitName, part_of_a: Part | None, part_of_b: Part | None) -> Answer:
    """Return the answer for a part of a unit, with its judgments in A and in B.

    The part is None for a result that does not have it.
    """
    part = part_of_b if part_of_a is None else part_of_a
    assert part is not None
    a = _judgment_of(part_of_a)
    b = _judgment_of(part_of_b)
    return Answer(
        unit=unit.id,
        occurrence=unit.occurrence,
        part=part.noun,
        value=part.value,
        a=a,
        b=b,
        outcome=_outcome_of_judgments(a, b),
    )


def _outcome_of_judgments(a: Judgment | None, b: Judgment | None) -> PairOutcome:
    """Return the outcome of a part from its judgments in A and B, such as `right in A only`."""
    is_right = (a is not None and a.right, b is not None and b.right)
    is_judged = (a is not None, b is not None)
    return outcome_of(is_right, is_judged)


def _judgment_of(part: Part | None) -> Judgment | None:
    """Return the judgment of a part, or None if there is no such part or if nothing was predicted for it."""
    if part is None or part.judgment is None:
        return None
    return Judgment(part.is_right, part.judgment)


def _judgment_text(judgment: Judgment | None) -> str | None:
    """Return a judgment in words; None stays None."""
    return None if judgment is None else judgment.judgment
