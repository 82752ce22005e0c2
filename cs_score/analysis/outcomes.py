"""Parts that the analyses of all tasks share.

These are the outcomes of an answer in two results A and B, the order of groups, the fields and the text that every
difference between two results begins with, and the output of documents as JSON.
"""

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
from cs_score.base.signature import Origin, answered_only_lines
from cs_score.measures.registry import Ratio, SumsFormula, undefined_sentences
from cs_score.statistics.resampling_settings import Family, Note, Resampling, difference_limits_in_words, note_sentences
from cs_score.statistics.results import Interval, PairedSystems, SystemComparison
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    import numpy as np

    from cs_score.statistics import arithmetic, verdicts
    from cs_score.statistics import comparison as table_comparison
else:  # only differences need them
    np = Late("numpy")
    arithmetic = Late("cs_score.statistics.arithmetic")
    table_comparison = Late("cs_score.statistics.comparison")
    verdicts = Late("cs_score.statistics.verdicts")

# ---- Outcomes

Both: TypeAlias = tuple[bool, bool]
"""Whether something is true of A, and whether it is true of B."""


class PairOutcome(StrEnum):
    """The outcome of an answer in two results: it may be right in one of them, and wrong or missing in the other."""

    RIGHT_IN_BOTH = "right in both"
    RIGHT_IN_A = "right in A only"
    RIGHT_IN_B = "right in B only"
    WRONG_IN_BOTH = "wrong in both"
    WRONG_IN_A = "wrong in A only"
    WRONG_IN_B = "wrong in B only"
    MISSED = "missed in both"


_OUTCOME_BY_RIGHT: Final[Mapping[Both, PairOutcome]] = {
    (True, True): PairOutcome.RIGHT_IN_BOTH,
    (True, False): PairOutcome.RIGHT_IN_A,
    (False, True): PairOutcome.RIGHT_IN_B,
}

_OUTCOME_BY_WRONG: Final[Mapping[Both, PairOutcome]] = {
    (True, True): PairOutcome.WRONG_IN_BOTH,
    (True, False): PairOutcome.WRONG_IN_A,
    (False, True): PairOutcome.WRONG_IN_B,
    (False, False): PairOutcome.MISSED,
}


def outcome_of(is_right: Both, is_wrong: Both) -> PairOutcome:
    """Return the outcome of an answer, from whether it is right, and whether it is wrong, in A and in B.

    An answer that is right in A and wrong in B is `right in A only`; one that is neither anywhere is `missed in both`.
    """
    if any(is_right):
        return _OUTCOME_BY_RIGHT[is_right]
    return _OUTCOME_BY_WRONG[is_wrong]


# ---- Groups

UNKNOWN: Final = "unknown"
"""The group of units whose group is not known."""

_MOST_DIGITS: Final = 19
"""The most digits of a group name that is sorted as a number."""


def group_order(group: str) -> tuple[int, int, str]:
    """Return the sort key of a group's name: numbers come first, by value, then texts and very long numbers."""
    is_number = group.isdecimal() and len(group) <= _MOST_DIGITS
    if is_number:
        return (0, int(group), group)
    return (1, 0, group)


def positions_of_groups(groups_of_units: Sequence[Mapping[str, str]]) -> dict[str, dict[str, list[int]]]:
    """Return for each dimension and each group, sorted by name, the positions of the units in the group.

    `groups_of_units` has for each unit its group in each dimension: `[{"hops": "2"}, {"hops": "1"}]` gives
    `{"hops": {"1": [1], "2": [0]}}`. A unit without a group in a dimension is in the group `unknown`.
    """
    dimensions: dict[str, None] = {}
    for groups in groups_of_units:
        dimensions |= dict.fromkeys(groups)
    positions_by_dimension: dict[str, dict[str, list[int]]] = {}
    for dimension in dimensions:
        positions: dict[str, list[int]] = defaultdict(list)
        for position, groups in enumerate(groups_of_units):
            positions[groups.get(dimension, UNKNOWN)].append(position)
        positions_by_dimension[dimension] = {group: positions[group] for group in sorted(positions, key=group_order)}
    return positions_by_dimension


# ---- The head of a difference


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
    """Return notes that say by which measures a run has no score, and why.

    `reasons_by_name` has for each run the reasons by measure. `consequence` is added to each note; it says what follows
    from the missing score.
    """
    notes = []
    for name, reasons in reasons_by_name.items():
        for sentence in undefined_sentences(reasons):
            notes.append(Note("UNDEFINED_MEASURE", f"{name} has no {sentence}{consequence}"))
    return notes


class Side(NamedTuple):
    """One of two results that are compared.

    It has a name, the statistics of its units, its score by the measure, and the origin of the score.
    """

    name: str
    table: UnitTable
    score: float
    origin: Origin


class Sides(NamedTuple):
    """Two results A and B to compare by a measure, which the `formula` computes from sums over units.

    `unit` is the noun for the units that a resample draws, `units` the plural noun for the units that were scored.
    `has_contributions` says whether it is defined what each unit contributes to the difference.
    """

    a: Side
    b: Side
    measure: str
    formula: SumsFormula
    unit: str
    units: str
    has_contributions: bool


def head_of(sides: Sides, resampling: Resampling | None) -> dict[str, Any]:
    """Return the fields of `TwoSided`, which the differences of all tasks have, by name.

    The fields of the interval and the test are None if the two sides were not scored on the same units; a note says so.
    """
    notes: list[Note] = []
    if not sides.has_contributions:
        text = f"no contributions: {sides.measure} is 0/0 for one of the two, and counts 0"
        notes.append(Note("UNDEFINED", text))
    comparison = _compare_sides(sides, resampling)
    if isinstance(comparison, Note):
        notes.append(comparison)
    # What every difference has
    origins = {"a": replace(sides.a.origin, measure=sides.measure), "b": replace(sides.b.origin, measure=sides.measure)}
    head = {
        "measure": sides.measure,
        "a": sides.a.score,
        "b": sides.b.score,
        "difference": sides.b.score - sides.a.score,
        "names": {"a": sides.a.name, "b": sides.b.name},
        "signatures": {side: str(origin.signature) for side, origin in origins.items()},
        "origins": origins,
    }
    if isinstance(comparison, Note):
        return {**head, **dict.fromkeys(_COMPARED_FIELDS), "verdict": "", "notes": tuple(notes)}
    # What the comparison unit by unit adds
    pair = comparison.primary.pairs[0]
    # That the two are near-copies is no news: their wins, ties and losses are shown.
    notes += [note for note in comparison.notes if note.code != "NEAR_COPIES"]
    notes += comparison.primary.notes
    notes += pair.notes
    return {
        **head,
        "verdict": _verdict_on(sides, comparison, pair),
        "interval": pair.interval,
        "p": pair.p,
        "family": comparison.primary.family,
        "effect_size": pair.effect_size,
        "wins": pair.wins,
        "ties": pair.ties,
        "losses": pair.losses,
        "units_compared": comparison.units,
        "resampling": comparison.resampling,
        "notes": tuple(notes),
    }


_COMPARED_FIELDS: Final = (
    "interval", "p", "family", "effect_size", "wins", "ties", "losses", "units_compared", "resampling",
)  # fmt: skip
"""The fields of a difference that are null where the two could not be compared unit by unit."""


def _compare_sides(sides: Sides, resampling: Resampling | None) -> SystemComparison | Note:
    """Return the comparison of both sides unit by unit, or a note on why they cannot be compared.

    Raises InputError for a faulty file of the settings, such as a file of clusters.
    """
    if sides.a.table.ids != sides.b.table.ids:
        text = f"no interval: {sides.a.name} and {sides.b.name} were not scored on the same {sides.units}"
        return Note("OTHER_UNITS", text)
    settings = replace(resampling or Resampling(can_grow=True), unit=sides.unit)
    tables = {"a": sides.a.table, "b": sides.b.table}
    try:
        return table_comparison.compare_tables(tables, [sides.measure], sides.formula, settings)
    except InputError as error:
        if error.file is not None:  # the units can be compared, but a file is wrong
            raise
        return Note("NO_UNITS", f"no interval: {error.problem}")


def _verdict_on(sides: Sides, comparison: SystemComparison, pair: PairedSystems) -> str:
    """Return a sentence that says whether the two sides differ, and which one is better."""
    named_pair = replace(pair, a=sides.a.name, b=sides.b.name)
    return verdicts.verdict_of([named_pair], comparison.primary.family, sides.measure, comparison.resampling.level)


Key = TypeVar("Key")


def contributions_of(
    sums_a: Mapping[Key, Sequence[float]], sums_b: Mapping[Key, Sequence[float]], formula: SumsFormula
) -> dict[Key, float | None]:
    """Return the contribution of each unit or group to the difference between two scores, B minus A.

    A score is computed by the `formula` from sums over units; `sums_a` and `sums_b` have the summands of each unit in A
    and B. A unit that one side lacks adds nothing to the sums of that side. The contributions add up to the difference.
    The units of A come first, in their order. All contributions are None if the score of a side is 0/0.
    """
    keys = list(dict.fromkeys([*sums_a, *sums_b]))
    if not keys:
        return {}
    first_sums = sums_a[keys[0]] if sums_a else sums_b[keys[0]]
    column_count = len(first_sums)
    ratio_a = _ratio_of(sums_a, keys, column_count, formula)
    ratio_b = _ratio_of(sums_b, keys, column_count, formula)
    shares = arithmetic.unit_contributions(ratio_a, ratio_b)
    if shares is None:
        return dict.fromkeys(keys)
    return dict(zip(keys, shares.tolist()))


def _ratio_of(
    sums_by_key: Mapping[Key, Sequence[float]], keys: Sequence[Key], column_count: int, formula: SumsFormula
) -> Any:
    """Return arrays with the numerator and the denominator of each key, from which the score of the sums is computed.

    `sums_by_key` has the summands of each key, `column_count` of them; keys without summands have zeros.
    """
    no_sums = (0.0,) * column_count
    rows = [sums_by_key.get(key, no_sums) for key in keys]
    columns = np.array(rows, dtype=np.float64).T
    [ratio] = formula(list(columns), Ratio)  # the formula is about one measure
    return ratio


# ---- The text of a difference


def heading(difference: TwoSided, what_was_scored: str, width: int, title: str) -> list[str]:
    """Return the first lines of a difference's text: both scores, the difference with its interval, and the notes.

    `what_was_scored` is the heading of the column with the names of A and B: `run`, `predictions`. `title` is the first
    line; long sentences are wrapped to `width` columns.
    """
    rows = [
        ("", "score", what_was_scored),
        ("A", f"{difference.a:.4f}", cell(difference.names["a"])),
        ("B", f"{difference.b:.4f}", cell(difference.names["b"])),
        ("B - A", f"{difference.difference:+.4f}", ""),
    ]
    lines = [title]
    lines += align_columns(rows, (False, True, False))
    lines += answered_only_lines({"A": difference.origins["a"], "B": difference.origins["b"]})
    for sentence in comparison_sentences(difference) + note_sentences(difference.notes):
        lines += wrap(one_line(sentence), width)
    return lines


def comparison_sentences(difference: TwoSided) -> list[str]:
    """Return sentences on the verdict, interval, test and effect of a difference; none if the two were not compared."""
    settings = difference.resampling
    interval = difference.interval
    if settings is None or interval is None or difference.units_compared is None:
        return []
    low = _limit_in_words(interval.low)
    high = _limit_in_words(interval.high)
    limits = difference_limits_in_words(settings, difference.units_compared)
    sentences = [f"Verdict: {difference.verdict}.", f"B - A: {low} to {high} ({limits})."]
    if difference.family is not None:
        sentences.append(f"Test: {difference.family.in_words(str(difference.measure))}.")
    wins, ties, losses = difference.wins, difference.ties, difference.losses
    if wins is not None and ties is not None and losses is not None:
        effect = verdicts.effect_in_words("B", wins, ties, losses, difference.effect_size)
        sentences.append(f"{effect}.")
    return sentences


def _limit_in_words(limit: float | None) -> str:
    """Return a limit of an interval with its sign, `+0.0125`; `-` if there is none."""
    return "-" if limit is None else f"{limit:+.4f}"


# ---- Documents as JSON

_SHORTENED_FIELDS: Final = ("mistakes", "units", "answers", "classes")
"""The lists in documents of which only the first items may be asked for."""


def shortened(document: Any, top: int | None) -> Any:
    """Return a document with only the first `top` of its mistakes, units, answers and classes.

    If `top` is None, the document itself is returned.
    """
    if top is None:
        return document
    changes: dict[str, Any] = {}
    for name in _SHORTENED_FIELDS:
        if hasattr(document, name):
            changes[name] = getattr(document, name)[:top]
    if isinstance(document, TwoSided):
        changes["top"] = top
    return replace(document, **changes)


def json_text(document: Any) -> Iterator[str]:
    """Yield the JSON of a document in pieces, in ASCII; each key and each item of a list begins a line.

    Mistakes are converted one at a time to save memory. Each may hold a whole prediction without the mistake, so that
    all of them together can be many times as large as the predictions.
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
        is_list = isinstance(items, Sequence) and not isinstance(items, str)
        if is_list and len(items):
            yield from _json_list(items)
        else:
            yield json_line(content)
    yield "\n}\n"


def _json_list(items: Sequence[Any]) -> Iterator[str]:
    """Yield the JSON of a list in pieces; each item begins a line."""
    separator = "["
    for item in items:
        yield f"{separator}\n {json_line(to_builtins(item))}"
        separator = ","
    yield "\n]"
