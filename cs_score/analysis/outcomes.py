"""What the analyses of all tasks share: the head of a difference, outcomes of two sides, the order of groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from msgspec import UNSET, UnsetType

from cs_score.base.display import align_columns, cell, one_line
from cs_score.base.documents import Document, json_line
from cs_score.base.errors import InputError
from cs_score.base.records import replace, to_builtins
from cs_score.base.runtime import Late
from cs_score.base.signature import Origin, answered_lines
from cs_score.measures.registry import Ratio, SumsFormula, undefined_sentences
from cs_score.statistics.arithmetic import contributions
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Family, Note, Resampling, difference_limits_in_words, note_sentences
from cs_score.statistics.results import Interval
from cs_score.statistics.units import UnitTable
from cs_score.statistics.verdicts import effect_in_words, verdict_of

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")

Key = TypeVar("Key")

Sides: TypeAlias = tuple[Mapping[Key, Sequence[float]], Mapping[Key, Sequence[float]]]
"""What each unit or group adds to the sums of a measure in A, and in B."""

Both: TypeAlias = tuple[bool, bool]
"""Whether something holds in A, and in B."""


class Outcome(StrEnum):
    """How A and B fared; what is right in one of them may be wrong or missing in the other."""

    RIGHT_IN_BOTH = "right in both"
    RIGHT_IN_A = "right in A only"
    RIGHT_IN_B = "right in B only"
    WRONG_IN_BOTH = "wrong in both"
    WRONG_IN_A = "wrong in A only"
    WRONG_IN_B = "wrong in B only"
    MISSED = "missed in both"


def outcome_of(right: Both, wrong: Both) -> Outcome:
    """The outcome: by what is right where anything is, otherwise by what is wrong."""
    if not any((*right, *wrong)):
        return Outcome.MISSED
    side, (in_a, in_b) = ("right", right) if any(right) else ("wrong", wrong)
    return Outcome(f"{side} in both" if in_a and in_b else f"{side} in {'A' if in_a else 'B'} only")


UNKNOWN: Final = "unknown"
"""The group of what has no known one."""


def place(group: str) -> tuple[bool, int, str]:
    """Sort key of groups: numbers by value, then texts, which longer numbers are."""
    is_number = group.isdecimal() and len(group) < 20
    return (not is_number, int(group) if is_number else 0, group)


def members_of(of_units: Sequence[Mapping[str, str]]) -> dict[str, dict[str, list[int]]]:
    """The positions of the units in each group of each dimension, the groups in order; given the groups of each."""
    members: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for dimension in dict.fromkeys(name for groups in of_units for name in groups):
        for position, groups in enumerate(of_units):
            members[dimension][groups.get(dimension, UNKNOWN)].append(position)
    return {name: {group: groups[group] for group in sorted(groups, key=place)} for name, groups in members.items()}


class TwoSided(Document, frozen=True, kw_only=True):
    """The head of a difference: why B scores otherwise than A under a measure.

    `names` are what people call A and B, `a` and `b` their scores, 0..1. `verdict` says in a sentence whether they
    differ. `interval` is that of the difference on `units_compared`, `p` its p-value by the test of the `family`;
    `wins` are the units that speak for B, `losses` those for A. All are null where the two cannot be compared unit by
    unit. Of units and answers at most `top` are listed.
    """

    a: float
    b: float
    difference: float
    verdict: str = ""
    names: dict[str, str]
    top: int | UnsetType = UNSET
    interval: Interval | None
    p: float | None
    family: Family | None
    effect_size: float | None
    wins: int | None
    ties: int | None
    losses: int | None
    units_compared: int | None
    resampling: Resampling | None
    notes: tuple[Note, ...]
    signatures: dict[str, str]
    origins: dict[str, Origin]


def undefined_notes(reasons_by_name: Mapping[str, Mapping[str, str]], consequence: str = "") -> list[Note]:
    """Return a note for each run that has no value of some measures; `consequence` says what follows from that."""
    notes = []
    for name, reasons in reasons_by_name.items():
        for sentence in undefined_sentences(reasons):
            notes.append(Note("UNDEFINED_MEASURE", f"{name} has no {sentence}{consequence}"))
    return notes


class Side(NamedTuple):
    """What one of the two is called, and what it scored."""

    name: str
    table: UnitTable
    score: float
    origin: Origin


def head_of(
    sides: tuple[Side, Side], measure: str, formula: SumsFormula, resampling: Resampling | None,
    unit: str, units: str, is_defined: bool,
) -> dict[str, Any]:  # fmt: skip
    """The fields that all differences have: the two are compared where they have the same units.

    `unit` is what is drawn, `units` what those scored are called; `is_defined`: units have contributions.
    """
    (a, b), found = sides, None
    undefined = Note("UNDEFINED", f"no contributions: {measure} is 0/0 for one of the two, and counts 0")
    notes = [] if is_defined else [undefined]
    if a.table.ids != b.table.ids:
        notes.append(Note("OTHER_UNITS", f"no interval: {a.name} and {b.name} were not scored on the same {units}"))
    else:
        settings = replace(resampling or Resampling(can_grow=True), unit=unit)
        try:
            found = compare_tables({"a": a.table, "b": b.table}, [measure], formula, settings)
        except InputError as error:
            if error.file is not None:  # what is wrong is in a file, such as that of clusters
                raise
            notes.append(Note("NO_UNITS", f"no interval: {error.problem}"))
    pair = None if found is None else found.primary.pairs[0]
    if found is not None and pair is not None:
        # That the two are near-copies is no news: their wins, ties and losses stand above.
        notes += [note for note in found.notes if note.code != "NEAR_COPIES"]
        notes += [*found.primary.notes, *pair.notes]
    verdict = ""
    if found is not None and pair is not None:
        named = replace(pair, a=a.name, b=b.name)
        verdict = verdict_of([named], found.primary.family, measure, found.resampling.level)
    origins = {name: replace(side.origin, measure=measure) for name, side in zip("ab", sides)}
    return {
        "measure": measure,
        "a": a.score,
        "b": b.score,
        "difference": b.score - a.score,
        "verdict": verdict,
        "names": {"a": a.name, "b": b.name},
        "interval": pair and pair.interval,
        "p": None if pair is None else pair.p,
        "family": found and found.primary.family,
        "effect_size": None if pair is None else pair.effect_size,
        "wins": None if pair is None else pair.wins,
        "ties": None if pair is None else pair.ties,
        "losses": None if pair is None else pair.losses,
        "units_compared": None if found is None else found.units,
        "resampling": found and found.resampling,
        "notes": tuple(notes),
        "signatures": {name: str(origin.signature) for name, origin in origins.items()},
        "origins": origins,
    }


def contributions_of(sides: Sides[Key], formula: SumsFormula) -> dict[Key, float | None]:
    """What each unit or group contributes to the difference by a measure of sums: those of A in their order, then those
    that only B has. What only one side has is nothing in the other. None where the score of a side is 0/0.
    """
    keys = list(dict.fromkeys((*sides[0], *sides[1])))
    if not keys:
        return {}
    nothing = (0.0,) * len(next(iter((sides[0] or sides[1]).values())))
    rows = [np.array([side.get(key, nothing) for key in keys], dtype=np.float64).T for side in sides]
    found = contributions(*(formula(list(columns), Ratio)[0] for columns in rows))
    return dict(zip(keys, [None] * len(keys) if found is None else found.tolist()))


def heading(difference: TwoSided, what: str, width: int, title: str) -> list[str]:
    """The scores of both sides (`what` says what they are of), the difference with its interval, the notes."""
    names = [cell(difference.names[side]) for side in "ab"]
    a, b = f"{difference.a:.4f}", f"{difference.b:.4f}"
    rows = [("", "score", what), ("A", a, names[0]), ("B", b, names[1]), ("B - A", f"{difference.difference:+.4f}", "")]
    sides = {side.upper(): difference.origins[side] for side in "ab"}
    lines = [title, *align_columns(rows, (False, True, False)), *answered_lines(sides)]
    for sentence in comparison_sentences(difference):
        lines += wrap(one_line(sentence), width)
    return [*lines, *(line for note in note_sentences(difference.notes) for line in wrap(one_line(note), width))]


def comparison_sentences(difference: TwoSided) -> list[str]:
    """Return what the interval and the test of a difference say; nothing where the two were not compared."""
    settings, interval, units = difference.resampling, difference.interval, difference.units_compared
    if settings is None or interval is None or units is None:
        return []
    low, high = ("-" if limit is None else f"{limit:+.4f}" for limit in (interval.low, interval.high))
    sentences_of_difference = [
        f"Verdict: {difference.verdict}.",
        f"B - A: {low} to {high} ({difference_limits_in_words(settings, units)}).",
    ]
    if difference.family is not None:
        sentences_of_difference.append(f"Test: {difference.family.words(str(difference.measure))}.")
    if difference.wins is not None and difference.ties is not None and difference.losses is not None:
        effect = effect_in_words("B", difference.wins, difference.ties, difference.losses, difference.effect_size)
        sentences_of_difference.append(f"{effect}.")
    return sentences_of_difference


def shortened(document: Any, top: int | None) -> Any:
    """A document with at most `top` mistakes, units, answers and classes; None: as it is."""
    if top is None:
        return document
    lists = ("mistakes", "units", "answers", "classes")
    cut: dict[str, Any] = {name: getattr(document, name)[:top] for name in lists if hasattr(document, name)}
    return replace(document, **cut, **({"top": top} if isinstance(document, TwoSided) else {}))


def json_text(document: Any) -> Iterator[str]:
    """Yield a document as JSON in pieces, a line for each of its keys and for each item of a list; ASCII only.

    Mistakes are turned into JSON one at a time: all of them together can be many times as large as what they are made
    of, since each has the whole prediction without it.
    """
    mistakes = getattr(document, "mistakes", None)
    without_mistakes = document if mistakes is None else replace(document, mistakes=[])
    separator = "{"
    for key, content in to_builtins(without_mistakes).items():
        yield f"{separator}\n{json_line(key)}: "
        separator = ","
        items = content
        if key == "mistakes" and mistakes is not None:
            items = mistakes
        if isinstance(items, Sequence) and not isinstance(items, str) and len(items):
            yield from _json_list(items)
        else:
            yield json_line(content)
    yield "\n}\n"


def _json_list(items: Sequence[Any]) -> Iterator[str]:
    """Yield a list as JSON, an item a line."""
    separator = "["
    for item in items:
        yield f"{separator}\n {json_line(to_builtins(item))}"
        separator = ","
    yield "\n]"
