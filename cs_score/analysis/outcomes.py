"""What the analyses of all tasks share, for one result and for the difference between two results, A and B. Units
(queries, claims) are grouped in dimensions, such as the number of hops. A unit contributes a part of the difference
B - A between the scores. The module also writes documents as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from msgspec import UNSET, UnsetType

from cs_score.base.display import align_columns, one_line, safe_cell
from cs_score.base.documents import Document, json_line
from cs_score.base.errors import InputError
from cs_score.base.records import replace, to_builtins
from cs_score.base.runtime import Late
from cs_score.base.signature import Origin, answered_only_lines
from cs_score.measures import Ratio, SumsFormula, undefined_sentences
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

FlagPair: TypeAlias = tuple[bool, bool]
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


_OUTCOME_BY_RIGHT: Final[Mapping[FlagPair, PairOutcome]] = {
    (True, True): PairOutcome.RIGHT_IN_BOTH,
    (True, False): PairOutcome.RIGHT_IN_A,
    (False, True): PairOutcome.RIGHT_IN_B,
}

_OUTCOME_BY_WRONG: Final[Mapping[FlagPair, PairOutcome]] = {
    (True, True): PairOutcome.WRONG_IN_BOTH,
    (True, False): PairOutcome.WRONG_IN_A,
    (False, True): PairOutcome.WRONG_IN_B,
    (False, False): PairOutcome.MISSED,
}


def outcome_of(is_right: FlagPair, is_wrong: FlagPair) -> PairOutcome:
    """Return the outcome of an answer in two results A and B: `right in A only`, for instance.

    `is_right` says whether the answer is right in A and in B, `is_wrong` whether it is wrong there: `(True, False)` and
    `(False, True)` for the example. An answer that neither result gives is `missed in both`.
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
    """Return the sort key of a group's name: `2` comes before `10`, and numbers before texts and very long numbers."""
    is_number = group.isdecimal() and len(group) <= _MOST_DIGITS
    if is_number:
        return (0, int(group), group)
    return (1, 0, group)


def positions_of_groups(groups_of_units: Sequence[Mapping[str, str]]) -> dict[str, dict[str, list[int]]]:
    """Return the positions of the units in each group, by dimension and group; groups are sorted by name.

    `groups_of_units` has each unit's group in each dimension: `[{"hops": "2"}, {"hops": "1"}]` gives
    `{"hops": {"1": [1], "2": [0]}}`. A unit without a group in a dimension is in the group `unknown`.
    """
    positions_by_dimension = {}
    for dimension in _dimensions_of(groups_of_units):
        positions_by_dimension[dimension] = _positions_in_dimension(groups_of_units, dimension)
    return positions_by_dimension


def _dimensions_of(groups_of_units: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the dimensions in which units have groups, each once: `[{"hops": "2"}, {"year": "1"}]` has two."""
    dimensions: list[str] = []
    for groups in groups_of_units:
        for dimension in groups:
            if dimension not in dimensions:
                dimensions.append(dimension)
    return dimensions


def _positions_in_dimension(groups_of_units: Sequence[Mapping[str, str]], dimension: str) -> dict[str, list[int]]:
    """Return the positions of the units in each group of a dimension, sorted by group: `{"1": [1], "2": [0]}`."""
    positions_by_group: dict[str, list[int]] = {}
    for position, groups in enumerate(groups_of_units):
        group = groups.get(dimension, UNKNOWN)
        positions_by_group.setdefault(group, []).append(position)
    return {group: positions_by_group[group] for group in sorted(positions_by_group, key=group_order)}


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
    """Return notes that name the measures by which runs have no score, and give the reasons.

    `reasons_by_name` maps the name of each run to its reasons, by measure: `{"A": {"SF-AP": "no confidences"}}`.
    `consequence` is appended to each note and says what follows from the missing score.
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
    """Return the first fields of every document about a difference (the fields of `TwoSided`), by name.

    They are the scores of the two sides A and B, and the interval and the test of the difference B - A. Interval and
    test are None if the two sides were not scored on the same units, as a note then says.
    """
    head = _scores_of_sides(sides)
    notes = _notes_on_contributions(sides)
    comparison = _compare_sides(sides, resampling)
    if isinstance(comparison, Note):  # the note says why there is no comparison
        fields_without_comparison = dict.fromkeys(_COMPARED_FIELDS)
        return {**head, **fields_without_comparison, "verdict": "", "notes": (*notes, comparison)}
    notes += _notes_of_comparison(comparison)
    return {**head, **_fields_of_comparison(sides, comparison), "notes": tuple(notes)}


def _notes_on_contributions(sides: Sides) -> list[Note]:
    """Return a note if the units' contributions to the difference are undefined; no note otherwise."""
    if sides.has_contributions:
        return []
    return [Note("UNDEFINED", f"no contributions: {sides.measure} is 0/0 for one of the two, and counts 0")]


def _scores_of_sides(sides: Sides) -> dict[str, Any]:
    """Return the fields of `TwoSided` that do not depend on comparing units, such as scores and names, by name."""
    # The signature of a score is computed from the origin of the score and the measure.
    origin_of_a = replace(sides.a.origin, measure=sides.measure)
    origin_of_b = replace(sides.b.origin, measure=sides.measure)
    return {
        "measure": sides.measure,
        "a": sides.a.score,
        "b": sides.b.score,
        "difference": sides.b.score - sides.a.score,
        "names": {"a": sides.a.name, "b": sides.b.name},
        "signatures": {"a": str(origin_of_a.signature), "b": str(origin_of_b.signature)},
        "origins": {"a": origin_of_a, "b": origin_of_b},
    }


def _notes_of_comparison(comparison: SystemComparison) -> list[Note]:
    """Return the notes on the comparison of two sides: on all units, on the measure, and on the pair.

    A note on near-copies is left out, because the wins, ties and losses already show this.
    """
    notes = [note for note in comparison.notes if note.code != "NEAR_COPIES"]
    notes += comparison.primary.notes
    notes += comparison.primary.pairs[0].notes
    return notes


def _fields_of_comparison(sides: Sides, comparison: SystemComparison) -> dict[str, Any]:
    """Return the fields of `TwoSided` that come from the unit-by-unit comparison, by name, without the notes."""
    pair = comparison.primary.pairs[0]  # the only pair: A and B
    return {
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
    # By default the number of resamples may grow with the number of compared pairs.
    settings = replace(resampling or Resampling(can_grow=True), unit=sides.unit)
    tables = {"a": sides.a.table, "b": sides.b.table}
    try:
        return table_comparison.compare_tables(tables, [sides.measure], sides.formula, settings)
    except InputError as error:
        if error.file is not None:  # the units can be compared, but a file is faulty
            raise
        return Note("NO_UNITS", f"no interval: {error.problem}")


def _verdict_on(sides: Sides, comparison: SystemComparison, pair: PairedSystems) -> str:
    """Return a sentence that says whether the two sides differ, and which one is better."""
    named_pair = replace(pair, a=sides.a.name, b=sides.b.name)
    return verdicts.verdict_of(
        [named_pair], comparison.primary.family, sides.measure, comparison.resampling.significance_level
    )


Key = TypeVar("Key")


def contributions_of(
    summands_a: Mapping[Key, Sequence[float]], summands_b: Mapping[Key, Sequence[float]], formula: SumsFormula
) -> dict[Key, float | None]:
    """Return how much each unit or group contributes to the difference between two scores, B minus A, by its key.

    A contribution is positive if the unit is better in B. The contributions of all units add up to the difference. If
    the score of either side is 0/0, all contributions are None.

    The `formula` computes a score from sums over units. `summands_a` and `summands_b` have the numbers that each unit
    adds to these sums in A and in B. A unit that is missing on one side adds nothing to the sums of that side. The
    result has the units of A first, in their order.
    """
    keys = list(dict.fromkeys([*summands_a, *summands_b]))
    if not keys:
        return {}
    # On the side without a unit, zeros stand for its summands; the other side determines how many.
    ratio_a = _ratio_of(_summands_of_keys(keys, summands_a, summands_of_other_side=summands_b), formula)
    ratio_b = _ratio_of(_summands_of_keys(keys, summands_b, summands_of_other_side=summands_a), formula)
    contributions = arithmetic.unit_contributions(ratio_a, ratio_b)
    if contributions is None:
        return dict.fromkeys(keys)
    return dict(zip(keys, contributions.tolist()))


def _summands_of_keys(
    keys: Sequence[Key],
    summands_by_key: Mapping[Key, Sequence[float]],
    summands_of_other_side: Mapping[Key, Sequence[float]],
) -> list[Sequence[float]]:
    """Return the summands of the unit or group with each key: `[(1, 0), (0, 0)]`. Missing summands become zeros.

    `summands_by_key` has the summands of one of two sides. If a key is missing, `summands_of_other_side` has it and
    determines the number of zeros.
    """
    rows = []
    for key in keys:
        if key in summands_by_key:
            rows.append(summands_by_key[key])
        else:
            zeros = (0.0,) * len(summands_of_other_side[key])
            rows.append(zeros)
    return rows


def _ratio_of(rows: Sequence[Sequence[float]], formula: SumsFormula) -> Any:
    """Return a `Ratio` of two arrays: the numerators and the denominators of all rows by the formula of one measure.

    A row has the summands of a unit or a group: `(1, 0, 2)`.
    """
    columns = np.array(rows, dtype=np.float64).T  # (summands, rows)
    # A formula returns a score for each of its measures. Its second argument is the division function, here `Ratio`,
    # which keeps numerator and denominator.
    [ratio] = formula(list(columns), Ratio)
    return ratio


# ---- The text of a difference


def heading(difference: TwoSided, what_was_scored: str, width: int, title: str) -> list[str]:
    """Return the first lines of a difference's text: both scores, the difference with its interval, and the notes.

    If only answered units were scored in A or B, a line after the scores says so. `what_was_scored` is the heading of
    the column with the names of A and B, such as `run` or `predictions`. `title` is the first line. Long sentences are
    wrapped to `width` columns.
    """
    lines = [title]
    lines += _score_lines(difference, what_was_scored)
    lines += answered_only_lines({"A": difference.origins["a"], "B": difference.origins["b"]})
    for sentence in comparison_sentences(difference) + note_sentences(difference.notes):
        lines += wrap(one_line(sentence), width)
    return lines


def _score_lines(difference: TwoSided, what_was_scored: str) -> list[str]:
    """Return the lines with the scores of A and B, and with their difference, as a table with aligned columns.

    `what_was_scored` is the heading of the column with the names of A and B.
    """
    rows = [
        ("", "score", what_was_scored),
        ("A", f"{difference.a:.4f}", safe_cell(difference.names["a"])),
        ("B", f"{difference.b:.4f}", safe_cell(difference.names["b"])),
        ("B - A", f"{difference.difference:+.4f}", ""),
    ]
    return align_columns(rows, to_the_right=(False, True, False))


def comparison_sentences(difference: TwoSided) -> list[str]:
    """Return sentences on the verdict, interval, test and effect of a difference; none if the two were not compared."""
    settings = difference.resampling
    if settings is None or difference.interval is None or difference.units_compared is None:
        return []
    limits = difference_limits_in_words(settings, difference.units_compared)
    sentences = [f"Verdict: {difference.verdict}.", f"B - A: {_interval_in_words(difference.interval)} ({limits})."]
    family_of_tests = difference.family
    if family_of_tests is not None:
        sentences.append(f"Test: {family_of_tests.in_words(str(difference.measure))}.")
    return sentences + _effect_sentences(difference)


def _effect_sentences(difference: TwoSided) -> list[str]:
    """Return a sentence with the units that B wins, ties and loses; no sentence if these are not known."""
    if difference.wins is None or difference.ties is None or difference.losses is None:
        return []
    effect = verdicts.effect_in_words("B", difference.wins, difference.ties, difference.losses, difference.effect_size)
    return [f"{effect}."]


def _interval_in_words(interval: Interval) -> str:
    """Return the limits of an interval with their signs: `-0.0025 to +0.0125`."""
    return f"{_limit_in_words(interval.low)} to {_limit_in_words(interval.high)}"


def _limit_in_words(limit: float | None) -> str:
    """Return a limit of an interval with its sign, `+0.0125`; `-` if there is none."""
    return "-" if limit is None else f"{limit:+.4f}"


# ---- Documents as JSON

_SHORTENED_FIELDS: Final = ("mistakes", "units", "answers", "classes")
"""The lists in documents of which only the first items may be asked for."""


def shortened(document: Any, top: int | None) -> Any:
    """Return a document with only the first `top` items of each of its lists: mistakes, units, answers and classes.

    If `top` is None, the document is returned unchanged.
    """
    if top is None:
        return document
    changes: dict[str, Any] = {}
    for name in _SHORTENED_FIELDS:
        if hasattr(document, name):
            changes[name] = getattr(document, name)[:top]
    # A document with two sides records `top`, since it does not say how many units and answers there are.
    if isinstance(document, TwoSided):
        changes["top"] = top
    return replace(document, **changes)


def json_text(document: Any) -> Iterator[str]:
    """Yield the JSON of a document in pieces, in ASCII; each key and each item of a list starts a new line.

    Mistakes are converted one at a time to save memory. Each mistake may hold a whole corrected prediction, so together
    they can be many times as large as the predictions.
    """
    mistakes = getattr(document, "mistakes", None)
    # The empty list is a placeholder that keeps the position of the mistakes among the keys.
    document_without_mistakes = document if mistakes is None else replace(document, mistakes=[])
    separator = "{"
    for key, content in to_builtins(document_without_mistakes).items():
        yield f"{separator}\n{json_line(key)}: "
        is_left_out = key == "mistakes" and mistakes is not None
        yield from _json_of_member(mistakes if is_left_out else content)
        separator = ","
    yield "\n}\n"


def _json_of_member(content: Any) -> Iterator[str]:
    """Yield the JSON of a member of a document in pieces: a list has a line for each item, anything else one line."""
    is_list = isinstance(content, Sequence) and not isinstance(content, str)
    if is_list and len(content) > 0:
        yield from _json_list(content)
    elif is_list:
        yield "[]"
    else:
        yield json_line(content)


def _json_list(items: Sequence[Any]) -> Iterator[str]:
    """Yield the JSON of a list with at least one item in pieces; each item starts a new line."""
    separator = "["
    for item in items:
        yield f"{separator}\n {json_line(to_builtins(item))}"
        separator = ","
    yield "\n]"
