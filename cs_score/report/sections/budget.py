"""The error budget: what mending each kind of mistakes would bring, alone and one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cs_score.report.charts.bars import Bar, bars
from cs_score.report.charts.drawing import Drawing, Target
from cs_score.report.model import Charts, Column, Facts, Link, Section, Table, Text, Value
from cs_score.report.sections.mistakes import kind_of_budget

_COLUMNS = (
    Column("kind", "Kind"),
    Column("count", "Mistakes", "count"),
    Column("gain", "Gain alone", "gain"),
    Column("score", "Score then", "score"),
    Column("cumulated", "Cumulated", "score"),
)

_ROWS = "kind (mistakes)"

_ABOUT = (
    "Each kind of mistakes mended alone, and cumulated with those above it. Gains are exact: they are what the scorer "
    "would print. Those of several kinds do not add up."
)


def budget_section(document: Mapping[str, Any]) -> Section:
    """Both charts, and the table whose counts open the mistakes behind them."""
    rows: list[list[Value]] = [
        [row["kind"], _count(document, row), row["gain"], row["score"], row["cumulated"]] for row in document["budget"]
    ]
    table = Table("budget", "Error budget", _COLUMNS, rows, is_small=True)
    structure = [*_unreachable(document["budget"][-1]), *_structure(document.get("structure"))]
    return Section(
        "errors",
        "Error budget",
        (Text(_ABOUT), Charts([*gain_charts(document), *step_charts(document)]), table, *structure),
    )


def gain_charts(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """What mending each kind alone would bring."""
    measure, rows = document["measure"], document["budget"]
    drawn = [
        Bar(_label(row), 0.0, row["gain"] or 0.0, _shown(row["gain"], "+.4f"), _target(document, row)) for row in rows
    ]
    told = "; ".join(f"{row['kind']} {_shown(row['gain'], '+.4f')}" for row in rows)
    title = "Gain of each kind mended alone"
    yield bars("budget-gains", title, f"Gain in {measure}: {told}.", (f"gain in {measure}", _ROWS), drawn)


def step_charts(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """The way from the score to that of the mended run, one kind after the other."""
    measure, score, rows = document["measure"], document["score"], document["budget"]
    drawn, before = [], score
    for row in rows:
        now = before if row["cumulated"] is None else row["cumulated"]
        drawn.append(Bar(_label(row), before, now, _shown(row["cumulated"], ".4f"), _target(document, row)))
        before = now
    told = "; ".join(f"then {row['kind']} {_shown(row['cumulated'], '.4f')}" for row in rows)
    title = "Score, one kind after the other"
    yield bars("budget-steps", title, f"{measure} {score:.4f}; {told}.", (measure, _ROWS), drawn, from_zero=False)


def _shown(number: float | None, form: str) -> str:
    """A number, where the scorer would give it."""
    return "unknown" if number is None else format(number, form)


def _target(document: Mapping[str, Any], row: Mapping[str, Any]) -> Target | None:
    return Target("mistakes", *kind_of_budget(document, row["kind"])) if row["count"] else None


def _label(row: Mapping[str, Any]) -> str:
    return f"{row['kind']} ({row['count']})"


def _count(document: Mapping[str, Any], row: Mapping[str, Any]) -> Value:
    count: int = row["count"]
    return Link(count, "mistakes", *kind_of_budget(document, row["kind"])) if count else count


def _unreachable(row: Mapping[str, Any]) -> Iterator[Facts]:
    """The missed classes that no answer of the pool finds, by reason, and the recall that the others leave."""
    if lost := row.get("unreachable"):
        facts = [(f"missed classes that no answer finds: {reason}", str(count), "") for reason, count in lost.items()]
        yield Facts([*facts, ("recall if all others were found", _shown(row["reachable_recall"], ".4f"), "")])


def _structure(structure: Mapping[str, int] | None) -> Iterator[Facts]:
    if structure is not None:
        names = {
            "merged_nodes": "nodes that merge several classes",
            "split_classes": "classes split over several nodes",
            "discarded_lines": "lines beyond a limit on justifications",
        }
        yield Facts([(name, str(structure[key]), "") for key, name in names.items() if key in structure])
