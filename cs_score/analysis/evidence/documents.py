"""What is found of results of evidence, as it is written as JSON, and its tables and text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from textwrap import wrap
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.outcomes import Outcome, TwoSided, heading
from cs_score.base.display import SCREEN, JsonText, cell, json_value, one_line
from cs_score.base.documents import Document
from cs_score.base.records import Record, asdict, replace
from cs_score.evidence.mode import Mode
from cs_score.evidence.reading import counted, text_of
from cs_score.evidence.report import score_lines
from cs_score.tables.layout import TOP, Column, Format, Layout, columns, text
from cs_score.tasks import words_of


class Mistake(Record):
    """One fault of a prediction, and what it costs.

    `unit` is the id of the claim, instance or question as it stands in gold, `occurrence` which of those with the id it
    is (from 1). `effects` has the difference that correcting it makes to each measure, null where the scorer would
    refuse that prediction, and `reason` says why; `gain` is the effect on the measure that was asked about.
    `prediction` is the unit's new value in the predictions file; null: the unit is left out.
    """

    kind: str
    unit: Any
    occurrence: int
    part: str | int | None
    predicted: Any
    gold: Any
    gain: float | None
    effects: dict[str, float | None]
    prediction: Any
    reason: str | UnsetType = UNSET


class BudgetRow(Record):
    """A kind of mistakes: how many there are, the score if they and no others were corrected, and what that gains.

    `cumulated` is the score if they and those of all kinds before were corrected, one kind after the other: what that
    uncovers is corrected with its own kind.
    """

    kind: str
    count: int
    gain: float
    score: float
    cumulated: float


class Group(Record):
    """Units that have something in common: the totals of their statistics, their scores, their mistakes.

    `precision`, `recall` and `f1` are those that belong to the measure that was asked about, null where it has none.
    `share` is that of all mistakes, 0..1; null for an aspect, since a mistake may count in several of them. `units` is
    the number of units.
    """

    group: str
    units: int
    counts: dict[str, int | float]
    precision: float | None
    recall: float | None
    f1: float | None
    scores: dict[str, float]
    mistakes: int
    share: float | None


class ConfusionCount(Record):
    """How often a label of gold stands beside a predicted label."""

    of: str
    gold: str
    predicted: str
    count: int


class UnitSteps(Record):
    """How a unit was scored: the numbers of its texts."""

    unit: Any
    occurrence: int
    steps: tuple[int, ...]


class Explanations(Record):
    """How units were scored, as texts; `left_out` counts the units that are not explained."""

    left_out: int
    units: tuple[UnitSteps, ...]
    texts: tuple[str, ...]


class Scenario(Record):
    """The scores if all answers that nobody has assessed were wrong, or right; they are scenarios and no limits.

    `assumption` says what is assumed, `score` is that of the measure that was asked about.
    """

    scenario: str
    assumption: str
    score: float
    scores: dict[str, float]


class PolicyScores(Record):
    """The scores under another policy, and the difference to those under the policy in force.

    `reason` says why there are none; `score` is that of the measure that was asked about.
    """

    policy: str
    score: float | None
    difference: float | None
    scores: dict[str, float]
    reason: str | None = None


class Analysis(Document, frozen=True, kw_only=True, tag="analysis"):
    """Why a score is what it is.

    `score` is that of the measure that was asked about, 0..1. `mistakes` are sorted by gain, at most `top`; `budget`
    has a row for each kind of mistakes, `groups` are by dimension; `units` counts those that were scored. `head` says
    what was scored, `undefined` why measures have no value; `scenarios` and `policies` are there in tasks that have
    them.
    """

    schema_version: Literal[3] = 3
    head: tuple[str, ...] | UnsetType = UNSET
    score: float
    scores: dict[str, float]
    undefined: dict[str, str] | UnsetType = UNSET
    scenarios: tuple[Scenario, ...] | UnsetType = UNSET
    policies: tuple[PolicyScores, ...] | UnsetType = UNSET
    units: int
    top: int | UnsetType = UNSET
    mistakes: Sequence[Mistake]
    budget: tuple[BudgetRow, ...]
    groups: dict[str, tuple[Group, ...]]
    confusions: tuple[ConfusionCount, ...]
    explanations: Explanations | UnsetType = UNSET


class UnitDifference(Record):
    """A unit that counts differently in A and B: its own scores, 0..1 (null: not scored), and what it contributes.

    The contributions of all units add up to the difference of the scores; null where they are not defined.
    """

    unit: Any
    occurrence: int
    a: float | None
    b: float | None
    contribution: float | None


class Judgment(Record):
    """How a part was judged on one side."""

    right: bool
    judgment: str


class Answer(Record):
    """A part of a unit that was judged differently in A and B; null where nothing was predicted for it."""

    unit: Any
    occurrence: int
    part: str
    value: Any
    a: Judgment | None
    b: Judgment | None
    outcome: Outcome


class OutcomeCount(Record):
    """How many parts of a sort had an outcome, equal ones included."""

    part: str
    outcome: Outcome
    count: int


class GroupDifference(Record):
    """The scores of a group of units in A and B, and what its units contribute together (null: not defined)."""

    group: str
    a: float
    b: float
    contribution: float | None


class Difference(TwoSided, frozen=True, kw_only=True, tag="difference"):
    """Why B scores otherwise than A under a measure.

    `units` are those that count differently, the largest contribution first, `answers` the parts of gold and
    predictions that were judged differently. `heads` say what was scored on either side.
    """

    schema_version: Literal[3] = 3
    heads: dict[str, tuple[str, ...]] | UnsetType = UNSET
    units: tuple[UnitDifference, ...]
    answers: tuple[Answer, ...]
    outcomes: tuple[OutcomeCount, ...]
    groups: dict[str, tuple[GroupDifference, ...]]


class ExplainedUnit(Record):
    """How one unit was scored.

    `lines` say it in words, text from the inputs as it was read; `statistics` are what it adds to the totals, `scores`
    the measures (0..1) that it would have alone; `mistakes` are sorted by gain.
    """

    unit: Any
    occurrence: int
    lines: tuple[str, ...]
    statistics: dict[str, int | float]
    scores: dict[str, float]
    prediction: Any
    mistakes: tuple[Mistake, ...]


class Explanation(Document, frozen=True, kw_only=True, tag="explanation"):
    """Units explained, or the whole run: then `units` is empty and `mistakes` has its largest costs.

    `scores` and `statistics` are those of the run, `head` says what was scored, `undefined` why measures have no value.
    """

    schema_version: Literal[3] = 3
    head: tuple[str, ...] | UnsetType = UNSET
    undefined: dict[str, str] | UnsetType = UNSET
    units: tuple[ExplainedUnit, ...]
    mistakes: tuple[Mistake, ...]
    score: float
    scores: dict[str, float]
    statistics: dict[str, int | float]


# ---- For people

_SIDES: Final = (Column("a", "A"), Column("b", "B"))
_CONTRIBUTION: Final = Column("contribution", format=Format.GAIN)

_BUDGET: Final = Layout(
    "budget",
    "The score if all mistakes of a kind, and no others, were corrected; cumulated, if those above were as well:",
    columns("kind", "count", "gain", "score", "cumulated", gain=Format.GAIN),
    lambda analysis: analysis.budget,
    most="whole",
)
_CONFUSIONS: Final = Layout(
    "confusions",
    "Labels of gold beside those predicted, by %:",
    columns("of", "gold", "predicted", "count"),
    lambda analysis: analysis.confusions,
    by="of",
    fewest=1,
)
_SCENARIOS: Final = Layout(
    "scenarios",
    "Scenarios for answers that nobody has assessed (no limits):",
    columns("scenario", "score", "assumption"),
    lambda analysis: analysis.scenarios or (),
    fewest=1,
    most="whole",
)
_POLICIES: Final = Layout(
    "policies",
    "The score under other policies, and the difference to that in force:",
    columns("policy", "score", "difference", "reason", difference=Format.GAIN),
    lambda analysis: analysis.policies or (),
    fewest=1,
    most="whole",
)
_OUTCOMES: Final = Layout(
    "outcomes",
    "Parts by outcome:",
    columns("part", "outcome", "count"),
    lambda difference: (row for row in difference.outcomes if row.count),
    fewest=1,
    most="whole",
)


def _groups(found: Analysis | Difference) -> Iterator[Mapping[str, Any]]:
    for dimension, groups in found.groups.items():
        for group in groups:
            values = asdict(group)
            values["score"] = values.pop("scores", {}).get(found.measure)  # pages show it
            counts = {count_column(name): count for name, count in values.pop("counts", {}).items()}
            yield {"dimension": dimension, **values, **counts}


_COMPARED_GROUPS: Final = Layout(
    "groups", "By %:", (*columns("dimension", "group"), *_SIDES, _CONTRIBUTION), _groups, by="dimension"
)


def _steps(explanation: Explanation) -> Iterator[Mapping[str, Any]]:
    for unit in explanation.units:
        named = {"unit": text_of(unit.unit), "occurrence": unit.occurrence}
        yield from ({**named, "text": line} for line in unit.lines if line)


_STEPS: Final = Layout(
    "steps", "How units were scored:", columns("unit", "occurrence", "text"), _steps, for_people=False
)


def layouts_of(mode: Mode) -> dict[type, tuple[Layout, ...]]:
    """The tables of each sort of document, in the order of the text. Those that are not for people are files."""
    name, gain = Column("name", mode.unit), Column("gain", format=Format.GAIN)
    short = Column("part", "at"), Column("predicted_in_short", "predicted"), Column("gold_in_short", "gold")
    costliest = Layout(
        "costliest",
        "The costliest mistakes, with the gain from correcting each one alone:",
        (gain, name, Column("kind"), *short, Column("reason")),
        _mistakes,
        fewest=1,
        is_file=False,
        total=lambda found: sum(row.count for row in getattr(found, "budget", ())) or len(found.mistakes),
    )
    about = columns("unit", "occurrence", "kind", "part", "predicted", "gold")
    effects = columns("reason", "prediction", *(f"effect:{measure}" for measure in mode.measures))
    mistakes = Layout("mistakes", costliest.title, (*about, gain, *effects), _mistakes, for_people=False)
    numbers = ("precision", "recall", "f1", "mistakes", "share")
    units = Column("units", f"{mode.unit}s"), *columns(*numbers, share=Format.SHARE)
    groups = Layout(
        "groups",
        "By %:",
        (*columns("dimension", "group"), *units, *columns(*map(count_column, mode.columns))),
        _groups,
        shown=("group", "units", *numbers),
        by="dimension",
    )
    differing = Layout(
        "units",
        f"Each {mode.unit} that counts differently, with what it contributes to the difference:",
        (_CONTRIBUTION, name, *_SIDES),
        lambda difference: ({**asdict(unit), "name": unit_name(unit)} for unit in difference.units),
        fewest=1,
    )
    parts = (name, *columns("part", "value"), *_SIDES)
    answers = Layout("answers", "What was judged differently:", parts, _answers, fewest=1, is_file=False)
    judged = (_SCENARIOS, _POLICIES) if mode.has_policies else ()
    whole_answers = replace(answers, rows=partial(_answers, is_whole=True), for_people=False, is_file=True)
    return {
        Analysis: (*judged, _BUDGET, costliest, mistakes, groups, _CONFUSIONS),
        Difference: (differing, _OUTCOMES, answers, whole_answers, _COMPARED_GROUPS),
        Explanation: (costliest, mistakes, _STEPS),
        ExplainedUnit: (costliest,),
    }


def _mistakes(found: Analysis | Explanation | ExplainedUnit) -> Iterator[Mapping[str, Any]]:
    for each in found.mistakes:
        values = {name: value for name, value in asdict(each).items() if isinstance(value, str | int | float)}
        yield {
            **values,
            "unit": text_of(each.unit),
            "name": unit_name(each),
            "predicted": as_json(each.predicted),
            "gold": as_json(each.gold),
            "predicted_in_short": cut(in_short(each.predicted), 36),
            "gold_in_short": cut(in_short(each.gold), 36),
            "prediction": json_value(each.prediction),
            **{f"effect:{measure}": effect for measure, effect in each.effects.items()},
        }


def count_column(name: str) -> str:
    """The column of a statistic, which may be called like a score of its group."""
    return f"counts_{name}" if name in ("precision", "recall", "f1") else name


def _answers(difference: Difference, *, is_whole: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each answer that was judged differently; texts are shortened unless the table `is_whole`."""
    for each in difference.answers:
        row: dict[str, str | None] = {"value": in_short(each.value), "a": None, "b": None}
        for name, side in (("a", each.a), ("b", each.b)):
            if side is not None:
                row[name] = f"{'right' if side.right else 'wrong'}: {side.judgment}"
        if not is_whole:
            row = {key: cut(text, 36 if key == "value" else 28) for key, text in row.items()}
        yield {"name": unit_name(each), "part": each.part, **row}


_ROWS_ON_SCREEN: Final[Mapping[str, int | None]] = {
    "scenarios": None,
    "policies": None,
    "budget": None,
    "costliest": 10,
    "units": 8,
    "groups": 8,
}
"""The tables on a first screen by name, with their rows (None: all)."""

_FEWEST_UNITS: Final = 3
"""Units that a first screen of a difference shows, however much is said above them."""


def _together(layout: Layout) -> Layout:
    """One table of groups for all dimensions, those with most mistakes or the largest contributions first."""

    def rows(found: Any) -> list[Any]:
        is_analysis = isinstance(found, Analysis)
        groups: Iterable[Any] = layout.rows(found)
        order = (lambda each: each["mistakes"]) if is_analysis else (lambda each: abs(each["contribution"] or 0.0))
        return sorted(groups, key=order, reverse=True)

    shown = (layout.by, *(key for key in layout.shown or layout.keys if key != layout.by))
    return replace(layout, title="Groups with the largest share:", by="", shown=shown, rows=rows)


def as_json(value: object) -> JsonText | None:
    """Return a value as JSON; None where there is nothing."""
    return None if value is None else json_value(value)


def in_short(value: object) -> JsonText | None:
    """Return a value in short: an entry as `SUPPORT [4, 5]`, other objects with their keys, everything else as JSON.

    Everything is escaped once, so that tables show it as it stands.
    """
    if isinstance(value, dict) and value.keys() == {"label", "sentences"}:
        return JsonText(f"{_member(value['label'])} {as_json(value['sentences'])}")
    if isinstance(value, dict):
        return JsonText(", ".join([f"{cell(key)} {_member(member)}" for key, member in value.items()]))
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return JsonText("; ".join(filter(None, map(in_short, value))))
    return as_json(value)


def _member(value: object) -> str:
    """Return a member of an object: text as it is, everything else as JSON."""
    return cell(value) if isinstance(value, str) else json_value(value)


def cut(text: str | None, most: int) -> str | None:
    """Return a text of at most so many characters."""
    if text is None or len(text) <= most:
        return text
    shortened = f"{text[: most - 3]}..."
    return JsonText(shortened) if isinstance(text, JsonText) else shortened


def unit_name(found: Any) -> str:
    """The id of the unit that a record is about, with which of those with the id it is unless it is the first."""
    name = text_of(found.unit)
    return name if found.occurrence == 1 else f"{name} ({found.occurrence})"


def text_of_document(mode: Mode, document: Any, width: int, top: int | None = None) -> str:
    """A document with at most `top` rows of each list in lines of at most `width` columns.

    None: what a screen of 40 lines and 80 columns holds of an analysis or a difference.
    """
    layouts = layouts_of(mode)
    is_screen = top is None and isinstance(document, Analysis | Difference)
    if top is None:
        width = min(width, SCREEN)

    heads = _heads(document, width, is_screen=is_screen) if isinstance(document, Difference) else []

    def tables(found: object) -> Iterator[str]:
        for layout in layouts[type(found)]:
            if not is_screen:
                yield from text(layout.table(found), top or TOP, width)
            elif layout.name in _ROWS_ON_SCREEN:
                shown = _together(layout) if layout.by else layout
                rows = _ROWS_ON_SCREEN[layout.name]
                if layout.name == "units" and rows is not None:
                    rows = max(rows - len(heads), _FEWEST_UNITS)
                yield from text(shown.table(found), rows, width)
        if is_screen:
            rest = "mistake, group and confusion" if isinstance(found, Analysis) else "unit, outcome, answer and group"
            yield from ("", *wrap(f"--all shows every {rest}; --format json has all of it.", width))

    score = f"{document.task}: {document.measure}"
    answered = _answered(document)
    if isinstance(document, Difference):
        lines = heading(document, "predictions", width, score)
        lines += [*heads, *tables(document)]
        if not document.units:
            lines += ["", f"No {mode.unit} counts differently."]
    elif isinstance(document, Analysis):
        units = answered or counted(document.units, mode.unit)
        lines = [f"{score} = {document.score:.4f} over {units}"]
        lines += [*_head(document, width), *tables(document)]
        if not document.mistakes:
            lines += ["", "There are no mistakes."]
    elif document.units:
        lines = [line for unit in document.units for line in (*_unit(mode, unit, width), *tables(unit), "")][:-1]
        if answered:
            lines = [f"{score} = {document.score:.4f} over {answered}", "", *lines]
    else:
        task = " ".join(words_of(mode.name))
        hint = f"--unit ID shows how one {mode.unit} was scored, cs-score analyze {task} all mistakes"
        over = f" over {answered}" if answered else ""
        scores = score_lines(mode, document.scores, document.statistics)
        lines = [f"{score} = {document.score:.4f}{over}", *_head(document, width), "", *scores]
        lines += [*tables(document), "", *wrap(hint, width)]
    return "\n".join(lines)


def _heads(difference: Difference, width: int, *, is_screen: bool) -> list[str]:
    """Return what was scored on either side, in lines; on a first screen only how many answers and units there are."""
    lines = []
    for side, sentences in (difference.heads or {}).items():
        shown = sentences[:1] if is_screen else sentences
        for sentence in shown:
            lines += wrap(one_line(f"{side.upper()}: {sentence}", 400), width)
    return lines


def _head(document: Analysis | Explanation, width: int) -> list[str]:
    """Return what was scored, and why measures have no value, in lines."""
    sentences = [one_line(sentence, 400) for sentence in document.head or ()]
    sentences += [f"undefined: {name}: {one_line(reason, 200)}" for name, reason in (document.undefined or {}).items()]
    return [line for sentence in sentences for line in wrap(sentence, width)]


def _answered(document: Any) -> str:
    """Return on how many units a document's score is where only those answered count; empty where all do."""
    origin = getattr(document, "origin", None)
    return origin.answered or "" if origin else ""


def _unit(mode: Mode, unit: ExplainedUnit, width: int) -> Iterator[str]:
    """How a unit was scored, and what it would score alone where its report has totals."""
    for line in map(one_line, unit.lines):
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        yield from wrap(line, width, subsequent_indent=indent) if len(line) > width else [line]
    name = f"{mode.unit} {one_line(unit_name(unit), 40)}"
    if any(row.totals for row in mode.rows):
        yield from ("", f"alone, {name} would score:")
        yield from (f"  {line}" for line in score_lines(mode, unit.scores, unit.statistics))
    if not unit.mistakes:
        yield from ("", f"no mistakes in {name}")
