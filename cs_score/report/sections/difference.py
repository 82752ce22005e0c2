"""The page of two runs, from what `diff --json` writes: contributions of units, groups, answers side by side."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.charts.bars import Bar, bars
from cs_score.report.charts.dots import Dots, dots
from cs_score.report.charts.drawing import Drawing
from cs_score.report.model import Block, Charts, Code, Column, Facts, Link, Page, Section, Table, Text, Value, kept
from cs_score.report.sections.names import as_text, slug, unit_name, unit_text, words
from cs_score.report.sections.origin import input_rows, mode_words, resampling_words, top_words

_MOST_DRAWN: Final = 24
_SIDES: Final = (Column("a", "A", "score"), Column("b", "B", "score"), Column("contribution", "Contribution", "gain"))


def difference_page(document: Mapping[str, Any]) -> Page:
    """The page of a difference."""
    names = document["names"]
    sections = [_scores(document), _units(document)]
    if document["groups"]:
        sections.append(_groups(document))
    sections.append(_answers(document))
    if document.get("classes"):
        sections.append(_classes(document))
    sections.append(_origin(document))
    return Page(f"{names['b']} against {names['a']}", f"{document['measure']} {document['difference']:+.4f}", sections)


def contribution_charts(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """Diverging bars: the units that contribute most to the difference, either way."""
    known = [row for row in document["units"] if row["contribution"]]
    drawn = sorted(known, key=lambda row: -abs(row["contribution"]))[:_MOST_DRAWN]
    drawn.sort(key=lambda row: -row["contribution"])
    if not drawn:
        return
    rows = [Bar(unit_text(row), 0.0, row["contribution"], f"{row['contribution']:+.4f}") for row in drawn]
    told = "; ".join(f"{row.label} {row.note}" for row in rows)
    some = f"The {len(rows)} largest of {len(known)}: " if len(rows) < len(known) else ""
    title = f"Contributions to B - A, the {len(rows)} largest" if some else "Contributions to B - A"
    axes = (f"contribution in {document['measure']}", _unit_name(document))
    yield bars("contributions", title, f"{some}{told}.", axes, rows)


def difference_group_charts(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """The scores of A and B in the groups of each dimension."""
    for name, groups in document["groups"].items():
        rows = [
            Dots(row["group"], {side.upper(): row[side] for side in "ab" if row[side] is not None}) for row in groups
        ]
        if len(rows) < 2 or len(rows) > _MOST_DRAWN:
            continue
        told = "; ".join(f"{row.label}: " + ", ".join(f"{k} {v:.4f}" for k, v in row.values.items()) for row in rows)
        axes = (document["measure"], words(name))
        yield dots(f"groups-{slug(name)}", f"Scores by {words(name)}", f"{told}.", axes, ("A", "B"), rows, of=name)


def _scores(document: Mapping[str, Any]) -> Section:
    interval, p = document["interval"], document["p"]
    detail = ""
    if interval is not None and interval["low"] is not None:
        detail = (
            f"{interval['low']:+.4f} to {interval['high']:+.4f} ({document['resampling']['confidence']:g} % interval)"
        )
    facts = [(f"{side.upper()}: {document['names'][side]}", f"{document[side]:.4f}", "") for side in "ab"]
    facts += [(f"p, {name}", f"{value:.4f}" if value >= 0.0001 else "<0.0001", "") for name, value in (p or {}).items()]
    blocks: list[Block] = [
        Facts([(f"B - A in {document['measure']}", f"{document['difference']:+.4f}", detail)], is_main=True),
        Facts(facts),
        *(Text(f"Note: {note['text']}.") for note in document["notes"]),
        Code([f"{side.upper()} {document['signatures'][side]['line']}" for side in "ab"]),
    ]
    return Section("scores", "Scores", blocks)


def _units(document: Mapping[str, Any]) -> Section:
    per_unit = Counter(map(unit_text, document["answers"]))
    rows: list[list[Value]] = []
    for row in document["units"]:
        unit = unit_text(row)
        count = per_unit[unit]
        opening: Value = Link(count, "answers", "unit", unit) if count else count
        rows.append([unit, row["a"], row["b"], row["contribution"], opening])
    columns = [Column("unit", _unit_name(document)), *_SIDES, Column("answers", "Answers", "count")]
    if not per_unit.keys() & {unit_text(row) for row in document["units"]}:  # answers are of SF queries, units of LDC
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    about = "What each contributes to the difference; all contributions add up to it exactly."
    table = Table("units", "Contributions", columns, *kept(rows))
    return Section("contributions", "Contributions", (Text(about), Charts(list(contribution_charts(document))), table))


def _unit_name(document: Mapping[str, Any]) -> str:
    name: str = document.get("unit") or unit_name(document["mode"]).capitalize()
    return name


def _groups(document: Mapping[str, Any]) -> Section:
    tables = []
    for name, groups in document["groups"].items():
        rows: list[list[Value]] = [[row["group"], row["a"], row["b"], row["contribution"]] for row in groups]
        columns = (Column("group", words(name).capitalize()), *_SIDES)
        tables.append(Table(f"by-{slug(name)}", f"By {words(name)}", columns, rows, is_small=len(rows) <= 25))
    return Section("groups", "Scores by group", (Charts(list(difference_group_charts(document))), *tables))


def _answers(document: Mapping[str, Any]) -> Section:
    is_cold_start = document["mode"] == COLD_START_MODE
    rows: list[list[Value]] = []
    for row in document["answers"]:
        part = row["provenance"] if is_cold_start else row["part"]
        rows.append([unit_text(row), part, as_text(row["value"]), row["outcome"], _fate(row["a"]), _fate(row["b"])])
    columns = (
        Column("unit", unit_name(document["mode"]).capitalize()),
        Column("part", "Provenance" if is_cold_start else "Part"),
        Column("value", "Value"),
        Column("outcome", "Outcome"),
        Column("a", "A"),
        Column("b", "B"),
    )
    about = "Those that fared differently, side by side."
    table = Table("answers", "Answers side by side", columns, *kept(rows))
    return Section("side-by-side", "Answers", (Text(about), Facts(_outcomes(document["outcomes"])), table))


def _outcomes(outcomes: Any) -> Sequence[tuple[str, str, str]]:
    """How many answers had each outcome; of evidence modes, those of each part."""
    if isinstance(outcomes, Mapping):
        return [(name, str(count), "") for name, count in outcomes.items()]
    return [(f"{row['part']}: {row['outcome']}", str(row["count"]), "") for row in outcomes if row["count"]]


def _classes(document: Mapping[str, Any]) -> Section:
    columns = (Column("class", "Class"), Column("row", "Row"), Column("outcome", "Outcome"))
    rows = [[row[column.key] for column in columns] for row in document["classes"]]
    found = Facts([(name, str(count), "") for name, count in document["found"].items()])
    return Section("classes", "Classes", (found, Table("class", "Classes that one run found", columns, *kept(rows))))


def _fate(fate: Mapping[str, Any] | None) -> str:
    """What became of an answer in a run."""
    if fate is None:
        return "not given"
    if "fate" in fate:
        return f"{'right' if fate['right'] else 'wrong'}: {fate['fate']}"
    of_class = "" if fate["class"] is None else f", {fate['class']}"
    return f"{fate['label']}: {fate['category']}{of_class} ({fate['file']}:{fate['line']})"


def _origin(document: Mapping[str, Any]) -> Section:
    one, other = (document["signatures"][side] for side in "ab")
    columns = [Column("side", "Of"), Column("role", "Role"), Column("name", "File"), Column("sha256", "SHA-256")]
    rows: list[list[Value]] = [
        [side, *row] for side, origin in (("A", one), ("B", other)) for row in input_rows(origin)
    ]
    blocks: list[Block] = [
        Text(f"cs-score {one['version']}, from these files:"),
        Table("inputs", "Inputs", columns, rows, is_small=True),
    ]
    if one["options"] == other["options"] and _but_runs(one) == _but_runs(other):
        runs = [given["name"] for origin in (one, other) for given in origin["inputs"] if given["role"] == "run"]
        words = [*mode_words(one, runs), "--measure", document["measure"], *top_words(document)]
        words += resampling_words(document["resampling"])
        call = shlex.join(["cs-score", "diff", *words])
        commands = [f"{call} --json diff.json", "cs-score report diff.json --out page.html"]
        blocks += [Text("with these commands:"), Code(commands)]
    return Section("origin", "How to reproduce this page", blocks)


def _but_runs(origin: Mapping[str, Any]) -> list[Any]:
    """What two runs were scored against."""
    return [given for given in origin["inputs"] if given["role"] != "run"]
