"""What became of each answer and of each class of the ground truth, in A and in B."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.sections.mistakes import category_of, classes_found, classes_to_find, counted_lines
from cs_score.analysis.outcome import Outcome, outcome_of
from cs_score.base.records import Record, replace
from cs_score.coldstart.judging import pre_policy_category
from cs_score.coldstart.lines import Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.result import UnitResult

Label: TypeAlias = Literal["right", "wrong", "ignored", "not counted"]

_BEST_FIRST: Final[tuple[Label, ...]] = ("right", "wrong", "ignored", "not counted")

AnswerKey: TypeAlias = tuple[str, str, str]
"""What a line says: its query, value and canonical value provenance (insight specification 1)."""


class Fate(Record):
    """What an answer counted as in a run, told by the line that fared best; `lines` give the same answer."""

    label: Label
    category: str
    class_name: str | None
    file: str
    line: int
    lines: int = 1

    @property
    def meaning(self) -> tuple[str, str, str | None]:
        """What makes two fates different."""
        return self.label, self.category, self.class_name

    def as_json(self) -> dict[str, object]:
        """The fate as a JSON object."""
        return {
            "label": self.label,
            "category": self.category,
            "class": self.class_name,
            "file": self.file,
            "line": self.line,
            "lines": self.lines,
        }


class AnswerPair(Record):
    """An answer in A and in B; None where the run does not give it."""

    query: str
    value: str
    provenance: str
    a: Fate | None
    b: Fate | None

    @property
    def differs(self) -> bool:
        """Whether it fared differently."""
        return (self.a and self.a.meaning) != (self.b and self.b.meaning)

    @property
    def outcome(self) -> str:
        """In words; `in neither` is an answer that counts as right or wrong in neither run."""
        labels = (self.a and self.a.label), (self.b and self.b.label)
        right, wrong = ((labels[0] == side, labels[1] == side) for side in ("right", "wrong"))
        outcome = outcome_of(right, wrong)
        return "in neither" if outcome is Outcome.MISSED else str(outcome)

    def as_json(self) -> dict[str, object]:
        """The pair with the keys of the specification."""
        return {
            "query": self.query,
            "value": self.value,
            "provenance": self.provenance,
            "a": self.a and self.a.as_json(),
            "b": self.b and self.b.as_json(),
            "outcome": self.outcome,
        }


class ClassPair(Record):
    """A class of the ground truth, the row that it stands below, and whether A and B have found it."""

    name: str
    row: str
    a: bool
    b: bool

    @property
    def outcome(self) -> str:
        """In words."""
        by = "both" if self.a and self.b else "A only" if self.a else "B only" if self.b else "neither"
        return f"found by {by}"

    def as_json(self) -> dict[str, object]:
        """The pair as a JSON object."""
        return {"class": self.name, "row": self.row, "a": self.a, "b": self.b, "outcome": self.outcome}


def answer_pairs(a: Scored, b: Scored) -> list[AnswerPair]:
    """The answers of A in load order, then those that only B gives."""
    ones, others = fates_of(a), fates_of(b)
    return [AnswerPair(*key, ones.get(key), others.get(key)) for key in dict.fromkeys((*ones, *others))]


def fates_of(scored: Scored) -> dict[AnswerKey, Fate]:
    """What became of each answer of a run."""
    found: dict[AnswerKey, Fate] = {}
    often: Counter[AnswerKey] = Counter()
    for unit in scored.result.units:
        counted = {line.index for line in counted_lines(unit)}
        for line in _lines(scored, unit):
            key = line.query.full_id, line.value, line.provenance
            fate = _fate(line, unit, scored, line.index in counted)
            often[key] += 1
            best = found.get(key)
            if best is None or _BEST_FIRST.index(fate.label) < _BEST_FIRST.index(best.label):
                found[key] = fate
    repeated = {key: replace(found[key], lines=times) for key, times in often.items() if times > 1}
    return found | repeated


def _lines(scored: Scored, unit: UnitResult) -> Iterator[Response]:
    lines_of = scored.run.lines.get(scored.run_id, {}).get(unit.id, {})
    return (line for lines in lines_of.values() for line in lines)


def _fate(line: Response, unit: UnitResult, scored: Scored, is_counted: bool) -> Fate:
    assessment = unit.matched.get(line.index)
    class_name = None if assessment is None or not assessment.is_accepted else assessment.value_class
    if not is_counted:
        return Fate("not counted", pre_policy_category(assessment), class_name, line.file, line.number)
    labels = unit.labels[line.index]
    label: Label = "right" if RIGHT in labels else "wrong" if WRONG in labels else "ignored"
    return Fate(label, category_of(labels, scored.policy), class_name, line.file, line.number)


def class_pairs(a: Scored, b: Scored) -> list[ClassPair]:
    """The classes of the ground truth, by row, in load order of the pool."""
    ones, others = classes_by_row(a), classes_by_row(b)
    return [ClassPair(*key, ones.get(key, False), others.get(key, False)) for key in dict.fromkeys((*ones, *others))]


def classes_by_row(scored: Scored) -> Mapping[tuple[str, str], bool]:
    """Every class that can be found with the row that it stands below, and whether a line was counted right for it."""
    found: dict[tuple[str, str], bool] = {}
    for unit in scored.result.units:
        for query in unit.queries:
            gold = scored.run.gold.of_query(query.query, scored.run.links)
            if gold.tree is not None:
                met = classes_found(query, unit)
                for row, names in classes_to_find(gold.tree, query).items():
                    found.update(((name, row), name in met[row]) for name in names)
    return found


def counted(outcomes: Iterable[str]) -> dict[str, int]:
    """How often each outcome is met, by name."""
    often = Counter(outcomes)
    return {name: often[name] for name in sorted(often)}
