"""The page of two runs, from what `diff` writes as JSON: contributions of units, groups, answers side by side."""

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
    Document,
    Facts,
    Link,
    Page,
    Section,
    Text,
    as_text,
    headed,
    slug,
    table_of,
    title_of,
    unit_name,
    unit_text,
    words,
)
from cs_score.report.reproduction import difference_origin

_MOST_DRAWN: Final = 24
_SIDES: Final = headed(a="A", b="B", contribution="Contribution")


def difference_page(document: Document) -> Page:
    """The page of a difference."""
    names = document["names"]
    sections = [_scores(document), _units(document)]
    if document["groups"]:
        sections.append(_groups(document))
    sections.append(_answers(document))
    if document.get("classes"):
        columns = headed(**{"class": "Class"}, row="Row", outcome="Outcome")
        table = table_of("class", "Classes that one run found", columns, document["classes"], is_small=False)
        sections.append(Section("classes", "Classes", (_counts(document["found"]), table)))
    sections.append(difference_origin(document))
    return Page(f"{names['b']} against {names['a']}", f"{document['measure']} {document['difference']:+.4f}", sections)


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
        Code([f"{side.upper()} {document['signatures'][side]}" for side in "ab"]),
    ]
    return Section("scores", "Scores", blocks)


def _units(document: Document) -> Section:
    per_unit = Counter(map(unit_text, document["answers"]))
    names = {unit_text(row) for row in document["units"]}
    rows = []
    for row in document["units"]:
        unit = unit_text(row)
        link = Link(per_unit[unit], "answers", "unit", unit) if per_unit[unit] else 0
        rows.append({**row, "unit": unit, "answers": link})
    # Answers are of SF queries where units may be LDC queries.
    of_units = headed(answers="Answers") if per_unit.keys() & names else ()
    columns = (*headed(unit=_unit_name(document)), *_SIDES, *of_units)
    about = "What each contributes to the difference; all contributions add up to it exactly."
    table = table_of("units", "Contributions", columns, rows, is_small=False)
    return Section("contributions", "Contributions", (Text(about), Charts(list(_contribution_charts(document))), table))


def _unit_name(document: Document) -> str:
    return str(document.get("unit") or unit_name(document["task"]).capitalize())


def _contribution_charts(document: Document) -> Iterator[Drawing]:
    """Diverging bars: the units that contribute most to the difference, either way."""
    known = [row for row in document["units"] if row["contribution"]]
    drawn = sorted(known, key=lambda row: -abs(row["contribution"]))[:_MOST_DRAWN]
    drawn.sort(key=lambda row: -row["contribution"])
    if not drawn:
        return
    rows = [Bar(unit_text(row), 0.0, row["contribution"], f"{row['contribution']:+.4f}") for row in drawn]
    some = f"The {len(rows)} largest of {len(known)}: " if len(rows) < len(known) else ""
    title = f"Contributions to B - A, the {len(rows)} largest" if some else "Contributions to B - A"
    axes = (f"contribution in {document['measure']}", _unit_name(document))
    yield bars("contributions", title, axes, rows, about=some)


def _groups(document: Document) -> Section:
    tables = [
        table_of(f"by-{slug(name)}", f"By {words(name)}", (*headed(group=title_of(name)), *_SIDES), groups)
        for name, groups in document["groups"].items()
    ]
    return Section("groups", "Scores by group", (Charts(list(_group_charts(document))), *tables))


def _group_charts(document: Document) -> Iterator[Drawing]:
    """The scores of A and B in the groups of each dimension."""
    for name, groups in document["groups"].items():
        if 2 <= len(groups) <= _MOST_DRAWN:
            rows = [
                Dots(row["group"], {side.upper(): row[side] for side in "ab" if row[side] is not None})
                for row in groups
            ]
            axes = (document["measure"], words(name))
            yield dots(f"groups-{slug(name)}", f"Scores by {words(name)}", axes, rows, of=name)


def _answers(document: Document) -> Section:
    part = ("provenance", "Provenance") if document["task"] == COLD_START_MODE else ("part", "Part")
    rows = [
        {
            "unit": unit_text(row),
            "part": row[part[0]],
            "value": as_text(row["value"]),
            "outcome": row["outcome"],
            **{side: _outcome(row[side]) for side in "ab"},
        }
        for row in document["answers"]
    ]
    unit = unit_name(document["task"]).capitalize()
    columns = headed(unit=unit, part=part[1], value="Value", outcome="Outcome", a="A", b="B")
    table = table_of("answers", "Answers side by side", columns, rows, is_small=False)
    about = Text("Those that fared differently, side by side.")
    return Section("side-by-side", "Answers", (about, _counts(document["outcomes"]), table))


def _counts(counted: Mapping[str, int] | list[Document]) -> Facts:
    """How many there are of each outcome; of evidence, of each part."""
    if isinstance(counted, Mapping):
        return Facts([(name, str(count), "") for name, count in counted.items()])
    return Facts([(f"{row['part']}: {row['outcome']}", str(row["count"]), "") for row in counted if row["count"]])


def _outcome(answer: Document | None) -> str:
    """What an answer counted as in a run."""
    if answer is None:
        return "not given"
    if "judgment" in answer:
        return f"{'right' if answer['right'] else 'wrong'}: {answer['judgment']}"
    of_class = "" if answer["class"] is None else f", {answer['class']}"
    return f"{answer['label']}: {answer['category']}{of_class} ({answer['file']}:{answer['line']})"


CHARTS: Final[Mapping[str, Callable[[Document], Iterable[Drawing]]]] = {
    "contributions": _contribution_charts,
    "groups": _group_charts,
}
"""The charts of a difference by kind."""
