"""What became of each part of gold and predictions in A and in B: an abstract, a sentence set, a fact, an answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from cs_score.analysis.evidence.modes.examiner import Part
from cs_score.analysis.outcome import Outcome, outcome_of
from cs_score.base.records import Record


class PartPair(Record):
    """A part in A and in B; None where the part is not among those of the result."""

    what: str
    value: object
    a: Part | None
    b: Part | None

    @property
    def differs(self) -> bool:
        """Whether it fared differently."""
        return _fate(self.a) != _fate(self.b)

    @property
    def outcome(self) -> Outcome:
        """In words."""
        right = _is_right(self.a), _is_right(self.b)
        return outcome_of(right, (_fate(self.a) is not None, _fate(self.b) is not None))

    def as_json(self) -> dict[str, object]:
        """The pair as a JSON object; null for A or B where nothing was predicted for the part."""
        return {
            "part": self.what,
            "value": self.value,
            "a": _as_json(self.a),
            "b": _as_json(self.b),
            "outcome": str(self.outcome),
        }


def paired_parts(first: Iterable[Part], second: Iterable[Part]) -> list[PartPair]:
    """The parts of A, then those that only B has, each beside that of the other which is told by the same value."""
    ones, others = _by_value(first), _by_value(second)
    found = []
    for key in dict.fromkeys((*ones, *others)):
        one, other = ones.get(key), others.get(key)
        known = one or other
        assert known is not None
        found.append(PartPair(known.what, known.value, one, other))
    return found


def counted_outcomes(pairs: Iterable[PartPair]) -> dict[str, dict[Outcome, int]]:
    """How many parts of each sort had each outcome."""
    often = Counter((pair.what, pair.outcome) for pair in pairs)
    whats = sorted({what for what, _ in often})
    return {what: {outcome: often[what, outcome] for outcome in Outcome} for what in whats}


def _by_value(parts: Iterable[Part]) -> dict[tuple[str, str, int], Part]:
    """Parts by what they are, their value, and which of equal ones they are."""
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for part in parts:
        key = part.what, json.dumps(part.value, sort_keys=True)
        seen[key] += 1
        found[*key, seen[key]] = part
    return found


def _is_right(part: Part | None) -> bool:
    return part is not None and part.right


def _fate(part: Part | None) -> str | None:
    return None if part is None else part.fate


def _as_json(part: Part | None) -> dict[str, object] | None:
    return None if part is None or part.fate is None else {"right": part.right, "fate": part.fate}
