"""The page of one run, from its analysis, and its charts by name. Tables are those of the task's layouts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from cs_score.analysis.evidence.documents import as_json
from cs_score.base.records import asdict, replace
from cs_score.measures.registry import COLD_START_MODE, headline
from cs_score.report.charts import Bar, Dots, Drawing, Target, bars, dots, grid, limits, lines
from cs_score.report.page import (
    MOST_ROWS,
    Block,
    Code,
    Facts,
    Openings,
    Page,
    Section,
    charts,
    details,
    link,
    openings_of,
    precision_charts,
    slug,
    table_of,
    tables,
    unit_of,
    unit_text,
    with_cells,
)
from cs_score.report.reproduction import analysis_origin
from cs_score.tables.layout import Cell, Column, Layout, title_case, words
from cs_score.tasks import task_named

_SERIES: Final = {"precision": "Precision", "recall": "Recall", "f1": "F1"}

MOST_DETAILS: Final = 1000
"""Mistakes, from the costliest on, whose effects on all measures the page keeps."""

_MOST_GROUPS: Final = 20
"""Groups of a dimension that are drawn."""

_MOST_LINES: Final = 100
"""Lines of a scenario that the page shows, and lines without which a mistake is corrected; the JSON has them all."""


def analysis_page(document: Any) -> Page:
    """The page of one run: those sections that there is anything for."""
    openings = openings_of(document)
    layouts = {layout.name: layout for layout in task_named(document.task).layouts(document)}
    is_cold_start = _is_cold_start(document)
    sections = [
        _scores(document),
        _budget(document, layouts["budget"]),
        _groups(document, layouts["groups"]),
        _confusions(document, layouts),
        *([_confidence(document, layouts)] if is_cold_start else []),
        _mistakes(document, layouts["mistakes"], openings),
        _units(document, openings),
    ]
    if is_cold_start:
        sections += [_scenarios(document, layouts["unassessed"]), _policies(document, layouts["policies"])]
        rows = map(asdict, document.problems)
        heads = ("code", "severity", "count")
        found = [*table_of("problem", "Problems of the input", rows, True, *heads, message="First message")]
        sections.append(Section("problems", "Problems", found or ["None."]))
    title = document.run if is_cold_start else f"{document.task} predictions"
    subtitle = f"{document.measure} {document.score:.4f}"
    return Page(title, subtitle, [*sections, analysis_origin(document)], openings)


def _is_cold_start(document: Any) -> bool:
    return bool(document.task == COLD_START_MODE)


def _scores(document: Any) -> Section:
    """The score asked about, those that people are shown first, the signature, and every score by hop."""
    scores: Mapping[str, float] = document.scores
    first = [name for name in headline(document.task) if name in scores and name != document.measure]
    found = getattr(document, "intervals", None)

    def fact(name: str, score: float) -> tuple[str, str, str]:
        interval = limits(found.scores.get(name) if found else None, name)
        return name, f"{score:.4f}", "".join(f"{low:.4f} to {high:.4f}" for low, high in interval.values())

    blocks: list[Block] = [Facts([fact(document.measure, document.score)], is_main=True)]
    if _is_cold_start(document) and document.scenarios.unassessed:
        blocks.append(_scenario_facts(document.scenarios))
    blocks += [Facts([fact(name, scores[name]) for name in first]), Code([document.signature])]
    hops = sorted({name.partition("@")[2] for name in scores}, key=lambda hop: (hop != "", len(hop), hop))
    headings = {f"hop{hop}" if hop else "all": f"Hop {hop}" if hop else "All hops" for hop in hops}
    rows: dict[str, dict[str, Any]] = {}
    for name, score in scores.items():
        measure, _, hop = name.partition("@")
        rows.setdefault(measure, {"measure": measure})[f"hop{hop}" if hop else "all"] = score
    headings = headings if len(hops) > 1 else {"all": "Score"}
    blocks += table_of("measures", "Every score", rows.values(), None, "measure", **headings)
    ranges = getattr(document, "reference_range", None) or {}
    seen = [{"measure": name, "low": each.low, "high": each.high} for name, each in ranges.items() if each.is_seen]
    title = "What the reference could also have printed, by hash order"
    blocks += table_of("reference-range", title, seen, None, measure="Measure", low="Lowest", high="Highest")
    return Section("scores", "Scores", blocks)


def _scenario_facts(scenarios: Any) -> Facts:
    """Both scenarios beside the score, and the number of unassessed lines."""
    named = {"pessimistic": "every unassessed answer wrong", "optimistic": "every unassessed answer right"}
    facts = [
        (f"{name} scenario", _shown(getattr(scenarios, name), ".4f", "none"), text) for name, text in named.items()
    ]
    return Facts([*facts, ("unassessed lines", str(scenarios.unassessed), scenarios.reason or "")])


def _shown(number: float | None, form: str, otherwise: str = "unknown") -> str:
    """A number, where the scorer would give it."""
    return otherwise if number is None else format(number, form)


# ---- Error budget


def _budget(document: Any, layout: Layout) -> Section:
    """Both charts, and the table whose counts open the mistakes behind them."""
    about = (
        "Each kind of mistakes corrected alone, and cumulated with those above it. Gains are exact: they are what the "
        "scorer would print. Those of several kinds do not add up."
    )

    def count(row: Mapping[str, Any], _: int) -> object:
        return link(row["count"], "mistakes", *_column_of(document, row["kind"])) if row["count"] else 0

    drawn = charts(_gain_charts(document), _step_charts(document))
    blocks: list[Block] = [about, drawn, *tables(with_cells(layout, count=count), document, is_small=True)]
    last = document.budget[-1]
    if lost := getattr(last, "unreachable", None):
        facts = [(f"missed classes that no answer finds: {reason}", str(count), "") for reason, count in lost.items()]
        facts.append(("recall if all others were found", _shown(last.reachable_recall, ".4f"), ""))
        blocks.append(Facts(facts))
    if _is_cold_start(document):
        names = {
            "merged_nodes": "nodes that merge several classes",
            "split_classes": "classes split over several nodes",
            "discarded_lines": "lines beyond a limit on justifications",
        }
        blocks.append(Facts([(name, str(getattr(document.structure, key)), "") for key, name in names.items()]))
    return Section("errors", "Error budget", blocks)


def _column_of(document: Any, kind: str) -> tuple[str, str]:
    """The column of the cost list that has a kind of the error budget, and its value there."""
    return ("category", kind.upper()) if _is_cold_start(document) else ("kind", kind)


def _gain_charts(document: Any) -> Iterator[Drawing]:
    """What correcting each kind alone would bring."""
    drawn = [_bar(document, row, 0.0, row.gain or 0.0, _shown(row.gain, "+.4f")) for row in document.budget]
    axes, about = (f"gain in {document.measure}", "kind (mistakes)"), f"Gain in {document.measure}: "
    yield bars("budget-gains", "Gain of each kind corrected alone", axes, drawn, about=about)


def _step_charts(document: Any) -> Iterator[Drawing]:
    """The way from the score to that of the corrected run, one kind after the other."""
    measure, before = document.measure, document.score
    about = f"{measure} {before:.4f}; then "
    drawn = []
    for row in document.budget:
        now = before if row.cumulated is None else row.cumulated
        drawn.append(_bar(document, row, before, now, _shown(row.cumulated, ".4f")))
        before = now
    title, axes = "Score, one kind after the other", (measure, "kind (mistakes)")
    yield bars("budget-steps", title, axes, drawn, about=about, from_zero=False)


def _bar(document: Any, row: Any, start: float, end: float, note: str) -> Bar:
    target = Target("mistakes", *_column_of(document, row.kind)) if row.count else None
    return Bar(f"{row.kind} ({row.count})", start, end, note, target)


# ---- Groups and confusions


def _groups(document: Any, layout: Layout) -> Section:
    """A chart and a table for each dimension."""
    about = "Precision, recall and F1 of the lines and ground truth of each group, and its share of all mistakes."
    if not _is_cold_start(document):
        about = f"Scores of the units of each group, by the family of {document.measure}, and its mistakes."
        columns = (*layout.columns, Column("score", str(document.measure)))
        layout = replace(layout, columns=columns, shown=("group", "units", "score", *layout.shown))
    of, order = layout.rows, [name for name, _ in _dimensions(document)]

    def place(row: Any) -> int:
        return order.index(row["dimension"])

    shown = tuple(dict.fromkeys((*layout.shown, *layout.keys)))
    found = tables(replace(layout, shown=shown, rows=lambda found: sorted(of(found), key=place)), document, "by")
    return Section("groups", "Scores by group", (about, charts(_group_charts(document)), *found))


def _dimensions(document: Any) -> list[tuple[str, Sequence[Any]]]:
    """The groups by dimension, slot and hop before all others."""
    names = sorted(document.groups, key=lambda name: {"slot": 0, "hop": 1}.get(name, 2))
    return [(name, document.groups[name]) for name in names if document.groups[name]]


def _group_charts(document: Any) -> Iterator[Drawing]:
    """The scores of the groups of each dimension; the groups with the most mistakes, where they are many."""
    for name, rows in _dimensions(document):
        chosen = sorted(rows, key=lambda row: -row.mistakes)[:_MOST_GROUPS]
        drawn = [_group_dots(row, document.measure) for row in rows if row in chosen]
        if len(drawn) < 2 or not any(row.values for row in drawn):
            continue
        some = f"The {_MOST_GROUPS} groups with the most mistakes. " if len(rows) > _MOST_GROUPS else ""
        title, axes = f"Scores by {words(name)}", ("score", words(name))
        yield dots(f"groups-{slug(name)}", title, axes, drawn, about=some, of=name)


def _group_dots(row: Any, measure: str) -> Dots:
    values = {text: getattr(row, key) for key, text in _SERIES.items() if getattr(row, key) is not None}
    if not values and measure in getattr(row, "scores", {}):
        values = {measure: row.scores[measure]}
    intervals = getattr(row, "intervals", None) or {}
    return Dots(row.group, values, limits(intervals.get("f1"), "F1"))


def _confusions(document: Any, layouts: Mapping[str, Layout]) -> Section:
    """The charts and all that was counted."""
    about = "How often each label of gold met each predicted one; none where there was no such label."
    if _is_cold_start(document):
        about = (
            "Lines by slot and category; the wrong values that were given most often; and of lines of a category how "
            "many have a place of which the pool knows another value, or a value that it knows elsewhere, and how many "
            "of these are accepted answers."
        )
    names = {"confusions": "confused", "wrong_values": "wrong-values", "near_misses": "near-misses"}
    found = chain(*(tables(layouts[key], document, name) for key, name in names.items() if key in layouts))
    return Section("confusions", "Confusions", (about, charts(_confusion_charts(document)), *found))


def _confusion_charts(document: Any) -> Iterator[Drawing]:
    """Shares of a row: of the lines of a slot by category, of a label of gold by that predicted."""
    found = document.confusions
    if _is_cold_start(document):
        cells = [(row.slot, row.category, row.count) for row in found.slots]
        if cells:
            yield _shares("confusions", "Categories by slot, share of its lines", ("category", "slot"), cells, "")
        return
    for of in dict.fromkeys(row.of for row in found):
        cells = [(row.gold, row.predicted, row.count) for row in found if row.of == of]
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


def _confidence(document: Any, layouts: Mapping[str, Layout]) -> Section:
    """Both charts, the best threshold and what reliability comes to in numbers, and the sweep as a table."""
    facts = []
    if (best := document.best) is not None:
        about = f"gain {best.gain:+.4f}, the best of {len(document.sweep)}, chosen on these data"
        facts.append(("best threshold", f"{best.threshold:g}", about))
    names = {"brier": "Brier score", "ece": "expected calibration error", "auc": "area under the ROC curve"}
    reliability = document.reliability
    for over, found in (("judgments", reliability), ("labels of the policy", reliability.labels)):
        numbers = [(name, getattr(found, key, None)) for key, name in names.items()]
        facts += [(name, f"{number:.4f}", f"over {over}") for name, number in numbers if number is not None]
    drawn = charts(_sweep_charts(document), _reliability_charts(document))
    sweep = tables(layouts["sweep"], document, is_small=False)
    bins = tables(layouts["reliability"], document, is_small=True)
    return Section("confidence", "Confidence", (drawn, Facts(facts), *sweep, *bins))


def _sweep_charts(document: Any) -> Iterator[Drawing]:
    """Precision, recall and F1 of the run without what is below each threshold."""
    sweep, best = getattr(document, "sweep", ()), getattr(document, "best", None)
    if not sweep:
        return
    curves = {
        name: [(row.threshold, getattr(row, key)) for row in sweep if getattr(row, key) is not None]
        for key, name in _SERIES.items()
    }
    text = f"{len(sweep)} thresholds from {sweep[0].threshold:g} to {sweep[-1].threshold:g}"
    mark = None
    if best is not None:
        mark = (best.threshold, f"best: {best.threshold:g} ({best.gain:+.4f})")
        text += f"; the best is {best.threshold:g}, which gains {best.gain:+.4f}"
    axes = ("threshold: lines of less confidence are left out", "score")
    yield lines("sweep", "Scores by confidence threshold", axes, f"{text}.", curves, mark=mark)


def _reliability_charts(document: Any) -> Iterator[Drawing]:
    """How many answers of a confidence are right; on the diagonal where confidences are probabilities."""
    reliability = getattr(document, "reliability", None)
    if reliability is None or not reliability.bins:
        return
    points = [(row.confidence, row.right) for row in reliability.bins]
    text = "; ".join(f"confidence {x:.4f}: {y:.4f} right" for x, y in points)
    axes = ("mean confidence of the bin", "share of right answers")
    yield lines("reliability", "Reliability of confidences", axes, f"{text}.", {"answers": points}, with_diagonal=True)


# ---- Mistakes and units


def _mistakes(document: Any, layout: Layout, openings: Openings) -> Section:
    """The cost list, the costliest first; places and units open how they are explained."""
    rows: Sequence[Any] = document.mistakes

    def effects(_: Mapping[str, Any], at: int) -> Cell | None:
        return _effects(rows[at]) if at < MOST_DETAILS else None

    def place(row: Mapping[str, Any], at: int) -> object:
        each = rows[at]
        name = {"line": f"{each.file}:{each.line}", "class": each.class_name, "node": each.node}[each.kind]
        return openings.opening(f"{each.file}:{each.line}", f"{each.kind} {name}")

    if _is_cold_start(document):
        layout = with_cells(
            layout, Column("place", "File and line"), Column("change", "Corrected by"),
            Column("target", "Node or class"), Column("effects"),
            shown=("gain", "place", "category", "change", "query", "slot", "hop", "value", "target", "effects"),
            place=place, effects=effects, category=lambda row, _: row["category"] or "NODE",
            change=lambda row, _: f"{row['kind']} {row['change']}", target=lambda row, _: row["node"] or row["class"],
        )  # fmt: skip
    else:
        layout = with_cells(
            layout, Column("effects"), shown=("gain", "kind", "unit", "part", "predicted", "gold", "effects"),
            unit=lambda row, _: openings.opening(row["name"], f"query {row['name']}"), effects=effects,
        )  # fmt: skip
    about = (
        f"What correcting each mistake alone would bring to {document.measure}. The effects on other measures open "
        f"for the {MOST_DETAILS} costliest."
    )
    return Section("costs", "Cost list", (about, *tables(layout, document, is_small=False)))


def _effects(mistake: Any) -> Cell:
    """The effects on all measures, and the files that they stand for."""
    items = [("not computed", mistake.reason)] if mistake.reason else []
    items += [(measure, _shown(effect, "+.4f")) for measure, effect in mistake.effects.items() if effect]
    if hasattr(mistake, "removed"):
        items += [("without", f"{line.file}:{line.line}") for line in mistake.removed[: _MOST_LINES // 2]]
        items += [("with", line) for line in mistake.added]
    else:
        corrected = mistake.prediction
        items.append(("prediction", "left out" if corrected is None else as_json(corrected) or ""))
    return details(f"{sum(map(bool, mistake.effects.values()))} measures", items)


_OF_QUERY: Final = {
    "ldc": "LDC query", "name": "Entity", "slot": "Slot", "hop": "Hop", "lines": "Lines", "right": "Right",
    "wrong": "Wrong", "found": "Classes found", "missed": "Missed",
}  # fmt: skip
"""What is known of a query itself; units of evidence have none of it."""


def _units(document: Any, openings: Openings) -> Section:
    """All units that are explained or have mistakes in the cost list, the costliest first; each opens how it scored."""
    mistakes: dict[str, list[Any]] = defaultdict(list)
    for mistake in document.mistakes[:MOST_ROWS]:
        mistakes[unit_text(mistake)].append(mistake)
    explained = document.explanations or None
    queries = {query.query: query for query in getattr(explained, "queries", ())}
    units = dict.fromkeys((*mistakes, *queries, *map(unit_text, getattr(explained, "units", ()))))
    rows: list[dict[str, Any]] = []
    column = "query" if _is_cold_start(document) else "unit"
    for unit in units:
        count = len(mistakes[unit])
        gains = [each.gain for each in mistakes[unit] if each.gain is not None]
        row: dict[str, Any] = {
            "unit": openings.opening(unit, f"query {unit}"),
            "mistakes": link(count, "mistakes", column, unit) if count else 0,
            "largest": max(gains, default=None),
        }
        if (query := queries.get(unit)) is not None:
            row |= {"ldc": query.unit, "name": query.name, "slot": query.slot, "hop": query.hop}
            row |= {"lines": sum(query.lines.values())}
            row |= {key: query.lines.get(key, 0) for key in ("right", "wrong")}
            row |= {key: query.classes.get(key, 0) for key in ("found", "missed")}
        rows.append(row)
    rows.sort(key=lambda row: -(row["largest"] or 0.0))
    name = unit_of(document.task)
    several = ("queries" if name == "query" else f"{name}s").capitalize()
    about = f"{several} with what correcting the costliest mistake of each would gain, the costliest first."
    if openings.entries:
        about += f" Each {name} opens and shows, with all that it contains, what explain says of it."
    if explained is not None and explained.left_out:
        about += f" {explained.left_out} lines without mistakes in the cost list are left out."
    headings = {"unit": title_case(name), **_OF_QUERY, "mistakes": "Mistakes", "largest": "Largest gain"}
    return Section("queries", several, (about, *table_of("units", several, rows, False, **headings)))


# ---- Scenarios, policies, problems


def _scenarios(document: Any, layout: Layout) -> Section:
    """What the score would be if what nobody assessed were all wrong, or all right, and the lines that this is of."""
    scenarios = document.scenarios
    about = (
        "Two scenarios, each a call of the scorer. Pessimistic: every unassessed answer is wrong. Optimistic: every "
        "one below a right answer is right, and takes the first class that nothing right stands in, else a class of "
        "its own that ground truth gains. Other assessments may score less or more."
    )
    blocks: list[Block] = [about, _scenario_facts(scenarios)]
    if added := scenarios.added_pool:
        file = scenarios.added_pool_to or "a pool"
        left = f", the first {_MOST_LINES} of {len(added)}" if len(added) > _MOST_LINES else ""
        blocks.append(f"The optimistic scenario has these lines at the end of {file}{left}:")
        blocks.append(Code(added[:_MOST_LINES]))
    return Section("scenarios", "What was not assessed", (*blocks, *tables(layout, document)))


def _policies(document: Any, layout: Layout) -> Section:
    """What each policy is, and the measures that people are shown first under it."""
    parts = ("right", "wrong", "ignore", "justifications")
    rows = [{"policy": each.name, **{part: each.policy.get(part) for part in parts}} for each in document.policies]
    what = table_of("policy", "Policies", rows, True, "policy", *parts)
    return Section("policies", "Policies", (*what, *tables(layout, document, "policy", is_small=True)))


CHARTS: Final[Mapping[str, Callable[[Any], Iterable[Drawing]]]] = {
    "budget": _gain_charts,
    "cumulated": _step_charts,
    "groups": _group_charts,
    "sweep": _sweep_charts,
    "reliability": _reliability_charts,
    "precision": precision_charts,
    "confusions": _confusion_charts,
}
"""The charts of an analysis by kind."""
