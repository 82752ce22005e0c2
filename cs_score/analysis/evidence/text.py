"""What people are shown of analyses, differences and explanations: tables, and which of them stand in what order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from textwrap import wrap
from typing import Any, Final

from cs_score.analysis.evidence.documents import Analysis, Difference, ExplainedUnit, Explanation, Judgment
from cs_score.analysis.outcomes import heading
from cs_score.base.display import SCREEN, one_line
from cs_score.base.records import asdict, replace
from cs_score.evidence.reading import text_of
from cs_score.evidence.report import score_lines
from cs_score.evidence.result import Mode, counted
from cs_score.tables.layout import TOP, Column, Format, Layout, columns, text

_GAIN: Final = Column("gain", format=Format.GAIN)
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
_OUTCOMES: Final = Layout(
    "outcomes",
    "Parts by outcome:",
    columns("part", "outcome", "count"),
    lambda difference: (row for row in difference.outcomes if row.count),
    fewest=1,
    most="whole",
)
_COMPARED_GROUPS: Final = Layout(
    "groups",
    "By %:",
    (*columns("dimension", "group"), *_SIDES, _CONTRIBUTION),
    lambda difference: _groups(difference),
    by="dimension",
)

_STEPS: Final = Layout(
    "steps",
    "How units were scored:",
    columns("unit", "occurrence", "text"),
    lambda explanation: (
        {"unit": text_of(unit.unit), "occurrence": unit.occurrence, "text": line}
        for unit in explanation.units
        for line in unit.lines
        if line
    ),
    for_people=False,
)


def layouts_of(mode: Mode) -> dict[type, tuple[Layout, ...]]:
    """The tables of each sort of document, in the order of the text. Those that are not for people are files."""
    name = Column("name", mode.unit)
    costliest = Layout(
        "costliest",
        "The costliest mistakes, with the gain from correcting each one alone:",
        (_GAIN, name, *columns("kind"), Column("part", "at"), Column("predicted_in_short", "predicted"),
         Column("gold_in_short", "gold"), *columns("reason")),
        _mistakes,
        fewest=1,
        is_file=False,
        total=lambda found: sum(row.count for row in getattr(found, "budget", ())) or len(found.mistakes),
    )  # fmt: skip
    mistakes = Layout(
        "mistakes",
        costliest.title,
        (*columns("unit", "occurrence", "kind", "part", "predicted", "gold"), _GAIN, *columns("reason", "prediction"),
         *columns(*(f"effect:{measure}" for measure in mode.measures))),
        _mistakes,
        for_people=False,
    )  # fmt: skip
    groups = Layout(
        "groups",
        "By %:",
        (*columns("dimension", "group"), Column("units", f"{mode.unit}s"),
         *columns("precision", "recall", "f1", "mistakes", "share", share=Format.SHARE),
         *columns(*map(count_column, mode.columns))),
        _groups,
        shown=("group", "units", "precision", "recall", "f1", "mistakes", "share"),
        by="dimension",
    )  # fmt: skip
    units = Layout(
        "units",
        f"Each {mode.unit} that counts differently, with what it contributes to the difference:",
        (_CONTRIBUTION, name, *_SIDES),
        lambda difference: ({**asdict(unit), "name": unit_name(unit)} for unit in difference.units),
        fewest=1,
    )
    answers = Layout(
        "answers", "What was judged differently:", (name, *columns("part", "value"), *_SIDES), _answers, fewest=1,
        is_file=False,
    )  # fmt: skip
    whole_answers = replace(answers, rows=partial(_answers, is_whole=True), for_people=False, is_file=True)
    return {
        Analysis: (_BUDGET, costliest, mistakes, groups, _CONFUSIONS),
        Difference: (units, _OUTCOMES, answers, whole_answers, _COMPARED_GROUPS),
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
            "prediction": json.dumps(each.prediction),
            **{f"effect:{measure}": effect for measure, effect in each.effects.items()},
        }


def _groups(found: Analysis | Difference) -> Iterator[Mapping[str, Any]]:
    for dimension, groups in found.groups.items():
        for group in groups:
            values = asdict(group)
            values["score"] = values.pop("scores", {}).get(found.measure)  # pages show it
            counts = {count_column(name): count for name, count in values.pop("counts", {}).items()}
            yield {"dimension": dimension, **values, **counts}


def count_column(name: str) -> str:
    """The column of a statistic, which may be called like a score of its group."""
    return f"counts_{name}" if name in ("precision", "recall", "f1") else name


def _answers(difference: Difference, *, is_whole: bool = False) -> Iterator[Mapping[str, Any]]:
    for each in difference.answers:
        row = {"value": in_short(each.value), "a": _shown(each.a), "b": _shown(each.b)}
        if not is_whole:
            row = {key: cut(text, 36 if key == "value" else 28) for key, text in row.items()}
        yield {"name": unit_name(each), "part": each.part, **row}


def _shown(judgment: Judgment | None) -> str | None:
    return None if judgment is None else f"{'right' if judgment.right else 'wrong'}: {judgment.judgment}"


def _cost(group: Any) -> float:
    """How far up a group stands on a screen: by its mistakes, in a difference by its contribution."""
    return abs(group["contribution"] or 0.0) if "contribution" in group else float(group["mistakes"])


_ON_SCREEN: Final[Mapping[str, tuple[int | None, str, Callable[[Any], float] | None]]] = {
    "budget": (None, "", None),
    "costliest": (10, "", None),
    "units": (8, "", None),
    "groups": (8, "Groups with the largest share:", _cost),
}
"""The tables on a first screen by name: how many rows, and title and order of those that are one for all dimensions."""


def _ordered(layout: Layout, title: str, order: Callable[[Any], float]) -> Layout:
    """One table for all values of the column `by`, the largest rows first."""
    shown = (layout.by, *(key for key in layout.shown or layout.keys if key != layout.by))
    rows = layout.rows
    return replace(
        layout, title=title, by="", shown=shown, rows=lambda found: sorted(rows(found), key=order, reverse=True)
    )


def as_json(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def in_short(value: object) -> str | None:
    """A value in short: an entry as `SUPPORT [4, 5]`, other objects with their keys, everything else as JSON."""
    if isinstance(value, dict) and value.keys() == {"label", "sentences"}:
        return f"{text_of(value['label'])} {as_json(value['sentences'])}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {text_of(member)}" for key, member in value.items())
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return "; ".join(filter(None, map(in_short, value)))
    return as_json(value)


def cut(text: str | None, most: int) -> str | None:
    return text if text is None or len(text) <= most else f"{text[: most - 3]}..."


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

    def tables(found: object) -> Iterator[str]:
        if not is_screen:
            for layout in layouts[type(found)]:
                yield from text(layout.table(found), top or TOP, width)
            return
        for layout in layouts[type(found)]:
            if layout.name in _ON_SCREEN:
                most, title, order = _ON_SCREEN[layout.name]
                yield from text((layout if order is None else _ordered(layout, title, order)).table(found), most, width)
        rest = "mistake, group and confusion" if isinstance(found, Analysis) else "unit, outcome, answer and group"
        yield from ("", *wrap(f"--all shows every {rest}; --format json has all of it.", width))

    score = f"{document.task}: {document.measure}"
    if isinstance(document, Difference):
        lines = [*heading(document, "predictions", width, score), *tables(document)]
        if not document.units:
            lines += ["", f"No {mode.unit} counts differently."]
    elif isinstance(document, Analysis):
        lines = [f"{score} = {document.score:.4f} over {counted(document.units, mode.unit)}", *tables(document)]
        if not document.mistakes:
            lines += ["", "There are no mistakes."]
    elif document.units:
        lines = [line for unit in document.units for line in (*_unit(mode, unit, width), *tables(unit), "")][:-1]
    else:
        hint = f"--unit ID shows how one {mode.unit} was scored, cs-score analyze {mode.name} all mistakes"
        lines = [f"{score} = {document.score:.4f}", "", *score_lines(mode, document.scores, document.statistics)]
        lines += [*tables(document), "", *wrap(hint, width)]
    return "\n".join(lines)


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
