"""The page of two runs, from what `diff --json` writes: contributions of units, groups, answers side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.charts import Bar, Dots, bars, dots
from cs_score.report.drawing import Drawing
from cs_score.report.model import (
    Block,
    Charts,
    Code,
    Column,
    Document,
    Facts,
    Link,
    Page,
    Row,
    Section,
    Text,
    Value,
    as_text,
    slug,
    table_of,
    unit_name,
    unit_text,
    words,
)
from cs_score.report.reproduction import difference_origin

_MOST_DRAWN: Final = 24
_SIDES: Final = (Column("a", "A", "score"), Column("b", "B", "score"), Column("contribution", "Contribution", "gain"))


def difference_page(document: Document) -> Page:
    """The page of a difference."""
    names = document["names"]
    sections = [_scores(document), _units(document)]
    if document["groups"]:
        sections.append(_groups(document))
    sections.append(_answers(document))
    if document.get("classes"):
        columns = (Column("class", "Class"), Column("row", "Row"), Column("outcome", "Outcome"))
        table = table_of("class", "Classes that one run found", columns, document["classes"], is_small=False)
        sections.append(Section("classes", "Classes", (_counts(document["found"]), table)))
    sections.append(difference_origin(document))
    return Page(f"{names['b']} against {names['a']}", f"{document['measure']} {document['difference']:+.4f}", sections)


def _contribution_charts(document: Document) -> Iterator[Drawing]:
    """Diverging bars: the units that contribute most to the difference, either way."""
    known = [row for row in document["units"] if row["contribution"]]
    drawn = sorted(known, key=lambda row: -abs(row["contribution"]))[:_MOST_DRAWN]
    drawn.sort(key=lambda row: -row["contribution"])
    if not drawn:
        return
    rows = [Bar(unit_text(row), 0.0, row["contribution"], f"{row['contribution']:+.4f}") for row in drawn]
    text = "; ".join(f"{row.label} {row.note}" for row in rows)
    some = f"The {len(rows)} largest of {len(known)}: " if len(rows) < len(known) else ""
    title = f"Contributions to B - A, the {len(rows)} largest" if some else "Contributions to B - A"
    axes = (f"contribution in {document['measure']}", _unit_name(document))
    yield bars("contributions", title, f"{some}{text}.", axes, rows)


def _group_charts(document: Document) -> Iterator[Drawing]:
    """The scores of A and B in the groups of each dimension."""
    for name, groups in document["groups"].items():
        rows = [
            Dots(row["group"], {side.upper(): row[side] for side in "ab" if row[side] is not None}) for row in groups
        ]
        if len(rows) < 2 or len(rows) > _MOST_DRAWN:
            continue
        text = "; ".join(f"{row.label}: " + ", ".join(f"{k} {v:.4f}" for k, v in row.values.items()) for row in rows)
        axes = (document["measure"], words(name))
        yield dots(f"groups-{slug(name)}", f"Scores by {words(name)}", f"{text}.", axes, ("A", "B"), rows, of=name)


def _scores(document: Document) -> Section:
    interval, tests = document["interval"], document["p"] or {}
    p_values = {name: tests[name] for name in ("randomisation", "bootstrap") if name in tests}
    detail = ""
    if interval is not None and interval["low"] is not None:
        confidence = document["resampling"]["confidence"]
        detail = f"{interval['low']:+.4f} to {interval['high']:+.4f} ({confidence:g} % interval)"
    facts = [(f"{side.upper()}: {document['names'][side]}", f"{document[side]:.4f}", "") for side in "ab"]
    facts += [(f"p, {name}", f"{p:.4f}" if p >= 0.0001 else "<0.0001", "") for name, p in p_values.items()]
    blocks: list[Block] = [
        Facts([(f"B - A in {document['measure']}", f"{document['difference']:+.4f}", detail)], is_main=True),
        Facts(facts),
        *(Text(f"Note: {note['text']}.") for note in document["notes"]),
        Code([f"{side.upper()} {document['signatures'][side]['line']}" for side in "ab"]),
    ]
    return Section("scores", "Scores", blocks)


def _units(document: Document) -> Section:
    per_unit = Counter(map(unit_text, document["answers"]))
    rows: list[Row] = []
    for row in document["units"]:
        unit = unit_text(row)
        count = per_unit[unit]
        link: Value = Link(count, "answers", "unit", unit) if count else count
        rows.append([unit, row["a"], row["b"], row["contribution"], link])
    columns = [Column("unit", _unit_name(document)), *_SIDES, Column("answers", "Answers", "count")]
    if not per_unit.keys() & {unit_text(row) for row in document["units"]}:  # answers are of SF queries, units of LDC
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    about = "What each contributes to the difference; all contributions add up to it exactly."
    table = table_of("units", "Contributions", columns, rows, is_small=False)
    return Section("contributions", "Contributions", (Text(about), Charts(list(_contribution_charts(document))), table))


def _unit_name(document: Document) -> str:
    name: str = document.get("unit") or unit_name(document["mode"]).capitalize()
    return name


def _groups(document: Document) -> Section:
    tables = [
        table_of(f"by-{slug(name)}", f"By {words(name)}", (Column("group", words(name).capitalize()), *_SIDES), groups)
        for name, groups in document["groups"].items()
    ]
    return Section("groups", "Scores by group", (Charts(list(_group_charts(document))), *tables))


def _answers(document: Document) -> Section:
    is_cold_start = document["mode"] == COLD_START_MODE
    rows: list[Row] = []
    for row in document["answers"]:
        part = row["provenance"] if is_cold_start else row["part"]
        sides = (_outcome(row["a"]), _outcome(row["b"]))
        rows.append([unit_text(row), part, as_text(row["value"]), row["outcome"], *sides])
    columns = (
        Column("unit", unit_name(document["mode"]).capitalize()),
        Column("part", "Provenance" if is_cold_start else "Part"),
        Column("value", "Value"),
        Column("outcome", "Outcome"),
        Column("a", "A"),
        Column("b", "B"),
    )
    table = table_of("answers", "Answers side by side", columns, rows, is_small=False)
    about = Text("Those that fared differently, side by side.")
    return Section("side-by-side", "Answers", (about, _counts(document["outcomes"]), table))


def _counts(counted: Mapping[str, int] | list[Document]) -> Facts:
    """How many there are of each outcome; of evidence modes, of each part."""
    if isinstance(counted, Mapping):
        return Facts([(name, str(count), "") for name, count in counted.items()])
    return Facts([(f"{row['part']}: {row['outcome']}", str(row["count"]), "") for row in counted if row["count"]])


def _outcome(answer: Document | None) -> str:
    """What an answer counted as in a run."""
    if answer is None:
        return "not given"
    if "fate" in answer:
        return f"{'right' if answer['right'] else 'wrong'}: {answer['fate']}"
    of_class = "" if answer["class"] is None else f", {answer['class']}"
    return f"{answer['label']}: {answer['category']}{of_class} ({answer['file']}:{answer['line']})"


CHARTS: Final[Mapping[str, Callable[[Document], Iterable[Drawing]]]] = {
    "contributions": _contribution_charts,
    "groups": _group_charts,
}
"""The charts of a difference by kind."""
