"""The page of one run, from what `analyze` writes as JSON, and its charts by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.measures.registry import COLD_START_MODE, headline
from cs_score.report import MOST_ROWS
from cs_score.report.charts import Bar, Dots, bars, dots, grid, limits, lines
from cs_score.report.drawing import Drawing, Target
from cs_score.report.explanations import class_key, line_key, node_key, openings_of, precision_charts, query_key
from cs_score.report.model import (
    Block,
    Charts,
    Code,
    Details,
    Document,
    Facts,
    Link,
    Openings,
    Page,
    Section,
    Table,
    Text,
    Value,
    as_text,
    headed,
    slug,
    table_of,
    title_of,
    unit_name,
    unit_text,
    words,
)
from cs_score.report.reproduction import analysis_origin

_SERIES: Final = {"precision": "Precision", "recall": "Recall", "f1": "F1"}

MOST_DETAILS: Final = 1000
"""Mistakes, from the costliest on, whose effects on all measures the page keeps."""

_MOST_GROUPS: Final = 20
"""Groups of a dimension that are drawn."""

_MOST_LINES: Final = 100
"""Lines of a scenario that the page shows, and lines without which a mistake is corrected; the JSON has them all."""


def analysis_page(document: Document) -> Page:
    """The page of one run: sections in the order of insight specification 7, those that there is anything for."""
    openings = openings_of(document)
    parts: Sequence[tuple[str, Callable[[], Section]]] = (
        ("scores", lambda: _scores(document)),
        ("budget", lambda: _budget(document)),
        ("groups", lambda: _groups(document)),
        ("confusions", lambda: _confusions(document)),
        ("reliability", lambda: _confidence(document)),
        ("mistakes", lambda: _mistakes(document, openings)),
        ("mistakes", lambda: _units(document, openings)),
        ("scenarios", lambda: _scenarios(document)),
        ("policies", lambda: _policies(document)),
        ("problems", lambda: _problems(document)),
        ("origin", lambda: analysis_origin(document)),
    )
    sections = [section() for key, section in parts if document.get(key) is not None]
    title = document.get("run") or f"{document['task']} predictions"
    return Page(title, f"{document['measure']} {document['score']:.4f}", sections, openings)


def _is_cold_start(document: Document) -> bool:
    return bool(document["task"] == COLD_START_MODE)


def _scores(document: Document) -> Section:
    """The score asked about, those that people are shown first, the signature, and every score by hop."""
    scores: Mapping[str, float] = document["scores"]
    first = [name for name in headline(document["task"]) if name in scores and name != document["measure"]]
    intervals = document.get("intervals", {}).get("scores", {})

    def fact(name: str, score: float) -> tuple[str, str, str]:
        interval = limits(intervals.get(name), name)
        return name, f"{score:.4f}", "".join(f"{low:.4f} to {high:.4f}" for low, high in interval.values())

    blocks: list[Block] = [Facts([fact(document["measure"], document["score"])], is_main=True)]
    if (scenarios := document.get("scenarios")) is not None and scenarios["unassessed"]:
        blocks.append(_scenario_facts(scenarios))
    blocks += [Facts([fact(name, scores[name]) for name in first]), Code([document["signature"]])]
    hops = sorted({name.partition("@")[2] for name in scores}, key=lambda hop: (hop != "", len(hop), hop))
    headings = {f"hop{hop}" if hop else "all": f"Hop {hop}" if hop else "All hops" for hop in hops}
    rows: dict[str, dict[str, Any]] = {}
    for name, score in scores.items():
        measure, _, hop = name.partition("@")
        rows.setdefault(measure, {"measure": measure})[f"hop{hop}" if hop else "all"] = score
    headings = headings if len(hops) > 1 else {"all": "Score"}
    table = table_of("measures", "Every score", headed(measure="Measure", **headings), rows.values())
    return Section("scores", "Scores", (*blocks, table))


def _scenario_facts(scenarios: Document) -> Facts:
    """Both scenarios beside the score, and the number of unassessed lines."""
    details = {"pessimistic": "every unassessed answer wrong", "optimistic": "every unassessed answer right"}
    facts = [(f"{name} scenario", _shown(scenarios[name], ".4f", "none"), text) for name, text in details.items()]
    return Facts([*facts, ("unassessed lines", str(scenarios["unassessed"]), scenarios.get("reason", ""))])


def _shown(number: float | None, form: str, otherwise: str = "unknown") -> str:
    """A number, where the scorer would give it."""
    return otherwise if number is None else format(number, form)


# ---- Error budget


def _budget(document: Document) -> Section:
    """Both charts, and the table whose counts open the mistakes behind them."""
    rows = []
    for row in document["budget"]:
        count: Value = row["count"]
        if row["count"]:
            count = Link(row["count"], "mistakes", *_column_of(document, row["kind"]))
        rows.append({**row, "count": count})
    about = (
        "Each kind of mistakes corrected alone, and cumulated with those above it. Gains are exact: they are what the "
        "scorer would print. Those of several kinds do not add up."
    )
    columns = headed(kind="Kind", count="Mistakes", gain="Gain alone", score="Score then", cumulated="Cumulated")
    charts = Charts([*_gain_charts(document), *_step_charts(document)])
    blocks: list[Block] = [Text(about), charts, table_of("budget", "Error budget", columns, rows, is_small=True)]
    last = document["budget"][-1]
    if lost := last.get("unreachable"):
        facts = [(f"missed classes that no answer finds: {reason}", str(count), "") for reason, count in lost.items()]
        facts.append(("recall if all others were found", _shown(last["reachable_recall"], ".4f"), ""))
        blocks.append(Facts(facts))
    if (structure := document.get("structure")) is not None:
        names = {
            "merged_nodes": "nodes that merge several classes",
            "split_classes": "classes split over several nodes",
            "discarded_lines": "lines beyond a limit on justifications",
        }
        blocks.append(Facts([(name, str(structure[key]), "") for key, name in names.items() if key in structure]))
    return Section("errors", "Error budget", blocks)


def _column_of(document: Document, kind: str) -> tuple[str, str]:
    """The column of the cost list that has a kind of the error budget, and its value there."""
    return ("category", kind.upper()) if _is_cold_start(document) else ("kind", kind)


def _gain_charts(document: Document) -> Iterator[Drawing]:
    """What correcting each kind alone would bring."""
    measure = document["measure"]
    drawn = [_bar(document, row, 0.0, row["gain"] or 0.0, _shown(row["gain"], "+.4f")) for row in document["budget"]]
    axes, about = (f"gain in {measure}", "kind (mistakes)"), f"Gain in {measure}: "
    yield bars("budget-gains", "Gain of each kind corrected alone", axes, drawn, about=about)


def _step_charts(document: Document) -> Iterator[Drawing]:
    """The way from the score to that of the corrected run, one kind after the other."""
    measure, before = document["measure"], document["score"]
    about = f"{measure} {before:.4f}; then "
    drawn = []
    for row in document["budget"]:
        now = before if row["cumulated"] is None else row["cumulated"]
        drawn.append(_bar(document, row, before, now, _shown(row["cumulated"], ".4f")))
        before = now
    title, axes = "Score, one kind after the other", (measure, "kind (mistakes)")
    yield bars("budget-steps", title, axes, drawn, about=about, from_zero=False)


def _bar(document: Document, row: Document, start: float, end: float, note: str) -> Bar:
    target = Target("mistakes", *_column_of(document, row["kind"])) if row["count"] else None
    return Bar(f"{row['kind']} ({row['count']})", start, end, note, target)


# ---- Groups


def _groups(document: Document) -> Section:
    """A chart and a table for each dimension."""
    about = "Precision, recall and F1 of the lines and ground truth of each group, and its share of all mistakes."
    if not _is_cold_start(document):
        about = f"Scores of the units of each group, by the family of {document['measure']}, and its mistakes."
    tables = [_group_table(name, rows, document["measure"]) for name, rows in _dimensions(document)]
    return Section("groups", "Scores by group", (Text(about), Charts(list(_group_charts(document))), *tables))


def _dimensions(document: Document) -> list[tuple[str, Sequence[Document]]]:
    """The groups by dimension, slot and hop before all others."""
    groups, first = document.get("groups", {}), ("slot", "hop")
    names = sorted(groups, key=lambda name: first.index(name) if name in first else len(first))
    return [(name, groups[name]) for name in names if groups[name]]


def _group_table(name: str, rows: Sequence[Document], measure: str) -> Table:
    """The scores of each group, its mistakes, and the counts behind the scores."""
    counts = dict.fromkeys(key for row in rows for key in row["counts"])
    ends = {"f1-low": "F1, low", "f1-high": "F1, high"}
    columns = (
        *headed(group=title_of(name), units="Units", measure=measure, **_SERIES, **ends),
        *headed(mistakes="Mistakes", share="Share of mistakes"),
        *headed(**{f"count-{key}": title_of(key) for key in counts}),
    )
    cells = []
    for row in rows:
        interval = row.get("intervals", {}).get("f1", {})
        own = {"measure": row.get("scores", {}).get(measure), **{f"f1-{side}": interval.get(side) for side in interval}}
        cells.append({**row, **own, **{f"count-{key}": count for key, count in row["counts"].items()}})
    return table_of(f"by-{slug(name)}", f"By {words(name)}", columns, cells)


def _group_charts(document: Document) -> Iterator[Drawing]:
    """The scores of the groups of each dimension; the groups with the most mistakes, where they are many."""
    for name, rows in _dimensions(document):
        chosen = sorted(rows, key=lambda row: -row["mistakes"])[:_MOST_GROUPS]
        drawn = [_group_dots(row, document["measure"]) for row in rows if row in chosen]
        if len(drawn) < 2 or not any(row.values for row in drawn):
            continue
        some = f"The {_MOST_GROUPS} groups with the most mistakes. " if len(rows) > _MOST_GROUPS else ""
        title, axes = f"Scores by {words(name)}", ("score", words(name))
        yield dots(f"groups-{slug(name)}", title, axes, drawn, about=some, of=name)


def _group_dots(row: Document, measure: str) -> Dots:
    values = {text: row[key] for key, text in _SERIES.items() if row[key] is not None}
    if not values and measure in row.get("scores", {}):
        values = {measure: row["scores"][measure]}
    return Dots(row["group"], values, limits(row.get("intervals", {}).get("f1"), "F1"))


# ---- Confusions


def _confusions(document: Document) -> Section:
    """The charts and all that was counted."""
    found = document["confusions"]
    about = "How often each label of gold met each predicted one; none where there was no such label."
    tables = [("confused", "Labels of gold and predicted", found)]
    if _is_cold_start(document):
        about = (
            "Lines by slot and category; the wrong values that were given most often; and of lines of a category how "
            "many have a place of which the pool knows another value, or a value that it knows elsewhere, and how many "
            "of these are accepted answers."
        )
        tables = [
            ("categories", "Categories by slot", found["slots"]),
            ("wrong-values", "Wrong values", found["wrong_values"]),
            ("near", "Near misses", found["near"]),
        ]
    counted = (
        table_of(name, caption, headed(**{key: title_of(key) for key in rows[0]}), rows, is_small=False)
        for name, caption, rows in tables
        if rows
    )
    return Section("confusions", "Confusions", (Text(about), Charts(list(_confusion_charts(document))), *counted))


def _confusion_charts(document: Document) -> Iterator[Drawing]:
    """Shares of a row: of the lines of a slot by category, of a label of gold by that predicted."""
    found: Any = document.get("confusions") or []
    if _is_cold_start(document):
        cells = [(row["slot"], row["category"], row["count"]) for row in (found["slots"] if found else ())]
        if cells:
            yield _shares("confusions", "Categories by slot, share of its lines", ("category", "slot"), cells, "")
        return
    for of in dict.fromkeys(row["of"] for row in found):
        cells = [(row["gold"], row["predicted"], row["count"]) for row in found if row["of"] == of]
        title = f"Labels of each {of}, share of gold's"
        yield _shares(f"confusions-{slug(of)}", title, ("predicted", "gold"), cells, of)


def _shares(name: str, title: str, axes: tuple[str, str], cells: Sequence[tuple[str, str, int]], of: str) -> Drawing:
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row, column, count in cells:
        counts[row][column] += count
    columns = list(dict.fromkeys(column for _, column, _ in cells))
    totals = {row: sum(found.values()) for row, found in counts.items()}
    rows = [
        (row, [found[column] / totals[row] if column in found else None for column in columns])
        for row, found in counts.items()
    ]
    text = "; ".join(f"{row} {column}: {count}, {count / totals[row]:.4f}" for row, column, count in cells)
    return grid(name, title, axes, f"{text}.", rows, columns, of=of)


# ---- Confidence


def _confidence(document: Document) -> Section:
    """Both charts, the best threshold and what reliability comes to in numbers, and the sweep as a table."""
    facts = []
    if (best := document.get("best")) is not None:
        facts.append(("best threshold", f"{best['threshold']:g}", f"gain {best['gain']:+.4f}, chosen on these data"))
    reliability = document.get("reliability") or {}
    names = {"brier": "Brier score", "ece": "expected calibration error", "auc": "area under the ROC curve"}
    for over, found in (("judgments", reliability), ("labels of the policy", reliability.get("labels") or {})):
        numbers = ((name, found.get(key)) for key, name in names.items())
        facts += [(name, f"{number:.4f}", f"over {over}") for name, number in numbers if number is not None]
    blocks: list[Block] = [Charts([*_sweep_charts(document), *_reliability_charts(document)]), Facts(facts)]
    if sweep := document.get("sweep"):
        columns = headed(threshold="Threshold", **_SERIES, lines="Lines")
        blocks.append(table_of("sweep", "Scores by threshold", columns, sweep, is_small=False))
    if bins := reliability.get("bins"):
        columns = headed(lines="Lines", low="From", high="To", confidence="Mean confidence", right="Right")
        blocks.append(table_of("bins", "Correct answers by confidence", columns, bins, is_small=True))
    return Section("confidence", "Confidence", blocks)


def _sweep_charts(document: Document) -> Iterator[Drawing]:
    """Precision, recall and F1 of the run without what is below each threshold."""
    sweep = document.get("sweep")
    if not sweep:
        return
    curves = {
        name: [(row["threshold"], row[key]) for row in sweep if row[key] is not None] for key, name in _SERIES.items()
    }
    text = f"{len(sweep)} thresholds from {sweep[0]['threshold']:g} to {sweep[-1]['threshold']:g}"
    mark = None
    if (best := document.get("best")) is not None:
        mark = (best["threshold"], f"best: {best['threshold']:g} ({best['gain']:+.4f})")
        text += f"; the best is {best['threshold']:g}, which gains {best['gain']:+.4f}"
    axes = ("threshold: lines of less confidence are left out", "score")
    yield lines("sweep", "Scores by confidence threshold", axes, f"{text}.", curves, mark=mark)


def _reliability_charts(document: Document) -> Iterator[Drawing]:
    """How many answers of a confidence are right; on the diagonal where confidences are probabilities."""
    reliability = document.get("reliability")
    if not reliability or not reliability["bins"]:
        return
    points = [(row["confidence"], row["right"]) for row in reliability["bins"]]
    text = "; ".join(f"confidence {x:.4f}: {y:.4f} right" for x, y in points)
    axes = ("mean confidence of the bin", "share of right answers")
    yield lines("reliability", "Reliability of confidences", axes, f"{text}.", {"answers": points}, with_diagonal=True)


# ---- Mistakes and units


def _mistakes(document: Document, openings: Openings) -> Section:
    """The cost list, the costliest first; places and units open how they are explained."""
    mistakes: Sequence[Document] = document["mistakes"]
    columns = headed(
        gain="Gain", kind="Kind", unit="Unit", part="Part", predicted="Predicted", gold="Gold", effects="Effects"
    )
    row_of = _evidence_row
    if _is_cold_start(document):
        row_of = _cold_start_row
        columns = (
            *headed(gain="Gain", place="File and line", category="Category", change="Corrected by", unit="Query"),
            *headed(slot="Slot", hop="Hop", value="Value", node="Node or class", effects="Effects"),
        )
    rows = [row_of(mistake, openings) | {"effects": _effects(mistake, at)} for at, mistake in enumerate(mistakes)]
    about = (
        f"What correcting each mistake alone would bring to {document['measure']}. The effects on other measures open "
        f"for the {MOST_DETAILS} costliest."
    )
    count = document.get("mistake_count", 0)
    table = table_of("mistakes", "Cost list", columns, rows, is_small=False, count=count)
    return Section("costs", "Cost list", (Text(about), table))


def _cold_start_row(mistake: Document, openings: Openings) -> dict[str, Value]:
    keys = {
        "line": line_key(mistake["file"], mistake["line"]),
        "class": class_key(mistake["class"] or ""),
        "node": node_key(mistake["node"] or ""),
    }
    own = {
        "place": openings.opening(f"{mistake['file']}:{mistake['line']}", keys[mistake["kind"]]),
        "category": mistake["category"] or "NODE",
        "change": f"{mistake['kind']} {mistake['change']}",
        "unit": mistake["query"],
        "node": mistake["node"] or mistake["class"],
    }
    return {**mistake, **own}


def _evidence_row(mistake: Document, openings: Openings) -> dict[str, Value]:
    unit = unit_text(mistake)
    texts = {key: as_text(mistake[key]) for key in ("part", "predicted", "gold")}
    return {"gain": mistake["gain"], "kind": mistake["kind"], "unit": openings.opening(unit, query_key(unit)), **texts}


def _effects(mistake: Document, at: int) -> Value:
    """The effects on all measures, and the files that they stand for."""
    if at >= MOST_DETAILS:
        return None
    items = [("not computed", mistake["reason"])] if "reason" in mistake else []
    effects: Mapping[str, float | None] = mistake["effects"]
    items += [(measure, _shown(effect, "+.4f")) for measure, effect in effects.items() if effect]
    items += [("without", f"{line['file']}:{line['line']}") for line in mistake.get("removed", ())[: _MOST_LINES // 2]]
    items += [("with", line) for line in mistake.get("added", ())]
    if "prediction" in mistake:
        corrected = mistake["prediction"]
        items.append(("prediction", "left out" if corrected is None else as_text(corrected)))
    return Details(f"{sum(map(bool, effects.values()))} measures", items)


_OF_QUERY: Final = {
    "ldc": "LDC query", "name": "Entity", "slot": "Slot", "hop": "Hop", "lines": "Lines", "right": "Right",
    "wrong": "Wrong", "found": "Classes found", "missed": "Missed",
}  # fmt: skip
"""What is known of a query itself; units of evidence have none of it."""


def _units(document: Document, openings: Openings) -> Section:
    """All units that are explained or have mistakes in the cost list, the costliest first; each opens how it scored."""
    mistakes: dict[str, list[Document]] = defaultdict(list)
    for mistake in document["mistakes"][:MOST_ROWS]:
        mistakes[unit_text(mistake)].append(mistake)
    explained = document.get("explanations", {})
    queries = {query["query"]: query for query in explained.get("queries", ())}
    units = dict.fromkeys((*mistakes, *queries, *map(unit_text, explained.get("units", ()))))
    rows: list[dict[str, Value]] = []
    for unit in units:
        count = len(mistakes[unit])
        gains = [each["gain"] for each in mistakes[unit] if each["gain"] is not None]
        row: dict[str, Value] = {
            "unit": openings.opening(unit, query_key(unit)),
            "mistakes": Link(count, "mistakes", "unit", unit) if count else 0,
            "largest": max(gains, default=None),
        }
        if (query := queries.get(unit)) is not None:
            of_lines, of_classes = query["lines"], query["classes"]
            row |= {"ldc": query["unit"], "lines": sum(of_lines.values())}
            row |= {key: query[key] for key in ("name", "slot", "hop")}
            row |= {key: of_lines.get(key, 0) for key in ("right", "wrong")}
            row |= {key: of_classes.get(key, 0) for key in ("found", "missed")}
        rows.append(row)
    rows.sort(key=lambda row: -(row["largest"] or 0.0))  # type: ignore[operator]  # a number or None
    name = unit_name(document["task"])
    several = ("queries" if name == "query" else f"{name}s").capitalize()
    columns = headed(unit=title_of(name), **_OF_QUERY, mistakes="Mistakes", largest="Largest gain")
    about = f"{several} with what correcting the costliest mistake of each would gain, the costliest first."
    if openings.entries:
        about += f" Each {name} opens and shows, with all that it contains, what explain says of it."
    if left_out := explained.get("left_out", 0):
        about += f" {left_out} lines without mistakes in the cost list are left out."
    return Section("queries", several, (Text(about), table_of("units", several, columns, rows, is_small=False)))


# ---- Scenarios, policies, problems


def _scenarios(document: Document) -> Section:
    """What the score would be if what nobody assessed were all wrong, or all right, and the lines that this is of."""
    scenarios = document["scenarios"]
    about = (
        "Two scenarios, each a call of the scorer. Pessimistic: every unassessed answer is wrong. Optimistic: every "
        "one below a right answer is right, and takes the first class that nothing right stands in, else a class of "
        "its own that ground truth gains. Other assessments may score less or more."
    )
    blocks: list[Block] = [Text(about), _scenario_facts(scenarios)]
    if added := scenarios["added_pool"]:
        file = scenarios["added_pool_to"] or "a pool"
        left = f", the first {_MOST_LINES} of {len(added)}" if len(added) > _MOST_LINES else ""
        blocks.append(Text(f"The optimistic scenario has these lines at the end of {file}{left}:"))
        blocks.append(Code(added[:_MOST_LINES]))
    if slots := scenarios.get("slots"):
        columns = headed(slot="Slot", lines="Lines", unassessed="Unassessed", share="Share")
        blocks.append(table_of("unassessed", "Unassessed lines by slot", columns, slots))
    return Section("scenarios", "What was not assessed", blocks)


def _policies(document: Document) -> Section:
    """The measures that people are shown first, under other policies."""
    policies: Sequence[Document] = document["policies"]
    measures = list(dict.fromkeys(measure for policy in policies for measure in policy["scores"]))
    parts = {part: title_of(part) for part in ("right", "wrong", "ignore", "justifications")}
    columns = headed(policy="Policy", **{f"m{at}": name for at, name in enumerate(measures)}, **parts)
    rows = [
        {"policy": each["name"], **{f"m{at}": each["scores"].get(name) for at, name in enumerate(measures)}}
        | each.get("policy", {})
        for each in policies
    ]
    return Section("policies", "Policies", (table_of("policy", "Scores by policy", columns, rows, is_small=True),))


def _problems(document: Document) -> Section:
    """What was wrong with the input."""
    columns = headed(code="Code", severity="Severity", count="Count", message="First message")
    table = table_of("problem", "Problems of the input", columns, document["problems"], is_small=True)
    return Section("problems", "Problems", (table if table.rows else Text("None."),))


CHARTS: Final[Mapping[str, Callable[[Document], Iterable[Drawing]]]] = {
    "budget": _gain_charts,
    "cumulated": _step_charts,
    "groups": _group_charts,
    "sweep": _sweep_charts,
    "reliability": _reliability_charts,
    "precision": precision_charts,
    "confusions": _confusion_charts,
}
"""The charts of an analysis by kind."""
