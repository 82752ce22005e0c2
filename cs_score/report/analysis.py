"""The page of one run, from its analysis, and its charts by name. Tables are those of the task's layouts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Final

from cs_score.analysis.evidence.layouts import as_json
from cs_score.base.records import asdict, replace
from cs_score.measures.registry import COLD_START_MODE, headline, undefined_sentences
from cs_score.report import page as pages
from cs_score.report.charts import Bar, Dots, Drawing, Target, bars, dots, grid, limits, lines
from cs_score.report.page import Block, Code, Facts, PageMaker, Section, table_of, tables
from cs_score.tables.layout import Cell, Column, Layout, title_case, words
from cs_score.tasks import task_named

_SERIES: Final = {"precision": "Precision", "recall": "Recall", "f1": "F1"}

MOST_DETAILS: Final = 1000
"""Mistakes, from the costliest on, whose effects on all measures the page keeps."""

_MOST_GROUPS: Final = 20
"""Groups of a dimension that are drawn."""

_TAUTOLOGICAL: Final = ("category", "judgment")
"""Dimensions that say whether an answer is right: precision is 1 or 0 in each of their groups."""

_LEFT_TO_JSON: Final = (
    *("submitted", "correct", "incorrect", "inexact", "incorrect_parent", "unassessed", "redundant", "ignored"),
    *("precision_low", "precision_high", "recall_low", "recall_high"),
)
"""Columns of the table of groups that would make it wider than a page; the JSON has them."""

_MOST_LINES: Final = 100
"""Lines of a scenario that the page shows, and lines without which a mistake is corrected; the JSON has them all."""

_OF_QUERY: Final = {
    "ldc": "LDC query", "name": "Entity", "slot": "Slot", "hop": "Hop", "lines": "Lines", "right": "Right",
    "wrong": "Wrong", "found": "Classes found", "missed": "Missed",
}  # fmt: skip
"""What is known of a query itself; units of evidence have none of it."""


def _shown(number: float | None, form: str, otherwise: str = "unknown") -> str:
    """A number, where the scorer would give it."""
    return otherwise if number is None else format(number, form)


class AnalysisPage(PageMaker):
    """The sections and charts of an analysis."""

    def __init__(self, document: Any) -> None:
        super().__init__(document)
        self.measure = str(document.measure)
        self.is_cold_start = document.task == COLD_START_MODE

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """The tables of the task, by name."""
        return {layout.name: layout for layout in task_named(self.document.task).layouts(self.document)}

    def page(self) -> pages.Page:
        self.openings = pages.openings_of(self.document)
        of_runs = self.is_cold_start
        sections = [self.scores(), self.mistakes(), self.budget(), self.groups(), self.confusions()]
        if of_runs:
            sections.append(self.confidence())
        sections += [self.units(), self.every_score()]
        if of_runs:
            sections += self.of_cold_start()
        title = self.document.run if of_runs else f"{self.document.task} predictions"
        subtitle = f"{self.measure} {self.document.score:.4f}"
        answered = self.document.origin.answered if self.document.origin else None
        if answered is not None:
            subtitle = f"{subtitle} over {answered}"
        return pages.Page(title, subtitle, [*sections, pages.analysis_origin(self.document)], self.openings)

    def scores(self) -> Section:
        """Return the section of the score asked about, the headline measures and the signature."""
        document, scores = self.document, self.document.scores
        first = [name for name in headline(document.task) if name in scores and name != self.measure]
        found = getattr(document, "intervals", None)

        def fact(name: str, score: float) -> tuple[str, str, str]:
            interval = limits(found.scores.get(name) if found else None, name)
            return name, f"{score:.4f}", "".join(f"{low:.4f} to {high:.4f}" for low, high in interval.values())

        blocks: list[Block] = [Facts([fact(self.measure, document.score)], is_main=True)]
        if self.is_cold_start and document.scenarios.unassessed:
            blocks.append(self.scenario_facts())
        elif not self.is_cold_start:
            blocks += document.head or ()
            for name, reason in (document.undefined or {}).items():
                blocks.append(f"Undefined: {name}: {reason}")
            for name in ("scenarios", "policies"):
                if name in self.layouts:
                    blocks += tables(self.layouts[name], document, is_small=True)
        blocks += [Facts([fact(name, scores[name]) for name in first]), Code([document.signature])]
        blocks += [f"Undefined for this run: {sentence}." for sentence in undefined_sentences(self._undefined())]
        return Section("scores", "Scores", blocks)

    def every_score(self) -> Section:
        """Return the section with the table of all scores, by hop where there are hops."""
        scores = self.document.scores
        hops = sorted({name.partition("@")[2] for name in scores}, key=lambda hop: (hop != "", len(hop), hop))
        headings = {f"hop{hop}" if hop else "all": f"Hop {hop}" if hop else "All hops" for hop in hops}
        rows: dict[str, dict[str, Any]] = {}
        for name, score in scores.items():
            measure, _, hop = name.partition("@")
            rows.setdefault(measure, {"measure": measure})[f"hop{hop}" if hop else "all"] = score
        headings = headings if len(hops) > 1 else {"all": "Score"}
        found = table_of("measures", "Every score", rows.values(), None, "measure", **headings)
        return Section("every-score", "Every score", list(found))

    def _undefined(self) -> Mapping[str, str]:
        """Return why measures have no value for the run; an evidence task has a value of every measure."""
        return getattr(self.document, "undefined", None) or {}

    def scenario_facts(self) -> Facts:
        """Return both scenarios of the SF table beside its scores, and the number of answers that nobody assessed."""
        scenarios = self.document.scenarios
        facts = []
        for measure, scenario in scenarios.shown.items():
            wrong = _shown(scenario.pessimistic, ".4f", "none")
            right = _shown(scenario.optimistic, ".4f", "none")
            text = (
                "if every unassessed answer were wrong (pessimistic scenario), and if every one were right (optimistic)"
            )
            facts.append((f"{measure} {scenario.score:.4f}", f"{wrong}, {right}", text))
        facts.append(("unassessed answers", str(scenarios.unassessed), scenarios.reason or ""))
        return Facts(facts)

    # ---- Error budget

    def budget(self) -> Section:
        """Both charts, and the table whose counts open the mistakes behind them."""
        about = (
            "Each kind of mistakes corrected alone, and cumulated with those above it. Gains are exact: they are what "
            "the scorer would print. Those of several kinds do not add up."
        )

        def count(row: Mapping[str, Any], _: int) -> object:
            return pages.link(row["count"], self._mistakes_of(row["kind"])) if row["count"] else 0

        found = tables(pages.with_cells(self.layouts["budget"], count=count), self.document, is_small=True)
        blocks: list[Block] = [about, pages.charts(self.gain_charts(), self.step_charts()), *found]
        last = self.document.budget[-1]
        if lost := getattr(last, "unreachable", None):
            facts = [(f"missed classes that no answer finds: {reason}", str(many), "") for reason, many in lost.items()]
            blocks.append(
                Facts([*facts, ("recall if all others were found", _shown(last.reachable_recall, ".4f"), "")])
            )
        if self.is_cold_start:
            names = {
                "merged_nodes": "nodes that merge several classes",
                "split_classes": "classes split over several nodes",
                "discarded_lines": "lines beyond a limit on justifications",
            }
            structure = self.document.structure
            blocks.append(Facts([(name, str(getattr(structure, key)), "") for key, name in names.items()]))
        return Section("errors", "Error budget", blocks)

    def _mistakes_of(self, kind: str) -> Target:
        """The rows of the cost list that have a kind of the error budget."""
        return Target("mistakes", *(("category", kind.upper()) if self.is_cold_start else ("kind", kind)))

    def _bar(self, row: Any, start: float, end: float, note: str) -> Bar:
        return Bar(f"{row.kind} ({row.count})", start, end, note, self._mistakes_of(row.kind) if row.count else None)

    def gain_charts(self) -> Iterator[Drawing]:
        """What correcting each kind alone would bring."""
        drawn = [self._bar(row, 0.0, row.gain or 0.0, _shown(row.gain, "+.4f")) for row in self.document.budget]
        axes, about = (f"gain in {self.measure}", "kind (mistakes)"), f"Gain in {self.measure}: "
        yield bars("budget-gains", "Gain of each kind corrected alone", axes, drawn, about=about)

    def step_charts(self) -> Iterator[Drawing]:
        """The way from the score to that of the corrected run, one kind after the other."""
        before = self.document.score
        about = f"{self.measure} {before:.4f}; then "
        drawn = []
        for row in self.document.budget:
            now = before if row.cumulated is None else row.cumulated
            drawn.append(self._bar(row, before, now, _shown(row.cumulated, ".4f")))
            before = now
        title, axes = "Score, one kind after the other", (self.measure, "kind (mistakes)")
        yield bars("budget-steps", title, axes, drawn, about=about, from_zero=False)

    # ---- Groups and confusions

    def groups(self) -> Section:
        """A chart and a table for each dimension."""
        layout = self.layouts["groups"]
        about = "Precision, recall and F1 of the lines and ground truth of each group, and its share of all mistakes."
        if not self.is_cold_start:
            about = f"Scores of the units of each group, by the family of {self.measure}, and its mistakes."
            columns = (*layout.columns, Column("score", self.measure))
            layout = replace(layout, columns=columns, shown=("group", "units", "score", *layout.shown))
        of = layout.rows
        place_by_dimension = {name: place for place, (name, _) in enumerate(self._dimensions())}

        def rows(document: Any) -> list[Any]:
            every: list[Any] = list(of(document))
            chosen = [row for row in every if row["dimension"] in place_by_dimension]
            return sorted(chosen, key=lambda row: place_by_dimension[row["dimension"]])

        own = [key for key in layout.keys if key not in _LEFT_TO_JSON]
        shown = tuple(dict.fromkeys((*layout.shown, *own)))
        by_dimension = replace(layout, shown=shown, rows=rows)
        found = tables(by_dimension, self.document, "by")
        return Section("groups", "Scores by group", (about, pages.charts(self.group_charts()), *found))

    def _dimensions(self) -> list[tuple[str, Sequence[Any]]]:
        """The groups by dimension, slot and hop before all others."""
        groups = [name for name in self.document.groups if name not in _TAUTOLOGICAL]
        names = sorted(groups, key=lambda name: {"slot": 0, "hop": 1}.get(name, 2))
        return [(name, self.document.groups[name]) for name in names if self.document.groups[name]]

    def group_charts(self) -> Iterator[Drawing]:
        """The scores of the groups of each dimension; the groups with the most mistakes, where they are many."""
        for name, rows in self._dimensions():
            chosen = sorted(rows, key=lambda row: -row.mistakes)[:_MOST_GROUPS]
            drawn = []
            for row in rows:
                values = {text: getattr(row, key) for key, text in _SERIES.items() if getattr(row, key) is not None}
                if not values and self.measure in getattr(row, "scores", {}):
                    values = {self.measure: row.scores[self.measure]}
                if row in chosen:
                    intervals = getattr(row, "intervals", None) or {}
                    drawn.append(Dots(row.group, values, limits(intervals.get("f1"), "F1")))
            if len(drawn) > 1 and any(row.values for row in drawn):
                some = f"The {_MOST_GROUPS} groups with the most mistakes. " if len(rows) > _MOST_GROUPS else ""
                title, axes = f"Scores by {words(name)}", ("score", words(name))
                yield dots(f"groups-{pages.slug(name)}", title, axes, drawn, about=some, of=name)

    def confusions(self) -> Section:
        """The charts and all that was counted."""
        about = "How often each label of gold met each predicted one; none where there was no such label."
        if self.is_cold_start:
            about = (
                "Lines by slot and category; the wrong values that were given most often; and of lines of a category "
                "how many have a place of which the pool knows another value, or a value that it knows elsewhere, and "
                "how many of these are accepted answers."
            )
        names = {"confusions": "confused", "wrong_values": "wrong-values", "near_misses": "near-misses"}
        known = [(self.layouts[key], name) for key, name in names.items() if key in self.layouts]
        found = chain(*(tables(layout, self.document, name) for layout, name in known))
        return Section("confusions", "Confusions", (about, pages.charts(self.confusion_charts()), *found))

    def confusion_charts(self) -> Iterator[Drawing]:
        """Shares of a row: of the lines of a slot by category, of a label of gold by that predicted."""
        found = self.document.confusions
        if self.is_cold_start:
            slots = [(row.slot, row.category, row.count) for row in found.slots]
            if slots:
                yield _shares("confusions", "Categories by slot, share of its lines", ("category", "slot"), slots, "")
            return
        for of in dict.fromkeys(row.of for row in found):
            cells = [(row.gold, row.predicted, row.count) for row in found if row.of == of]
            title = f"Labels of each {of}, share of gold's"
            yield _shares(f"confusions-{pages.slug(of)}", title, ("predicted", "gold"), cells, of)

    # ---- Confidence

    def confidence(self) -> Section:
        """Both charts, the best threshold and what reliability comes to in numbers, and the sweep as a table."""
        facts, document = [], self.document
        if (best := document.best) is not None:
            about = f"gain {best.gain:+.4f}, the best of {len(document.sweep)}, chosen on these data"
            facts.append(("best threshold", f"{best.threshold:g}", about))
        assessed = f"{document.reliability.lines} assessed lines"
        for name, number in document.reliability.numbers.items():
            facts.append((name, f"{number:.4f}", assessed))
        drawn = pages.charts(self.sweep_charts(), self.reliability_charts())
        sweep = tables(self.layouts["sweep"], document, is_small=False)
        bins = tables(self.layouts["reliability"], document, is_small=True)
        return Section("confidence", "Confidence", (drawn, Facts(facts), *sweep, *bins))

    def sweep_charts(self) -> Iterator[Drawing]:
        """Precision, recall and F1 of the run without what is below each threshold."""
        sweep, best = getattr(self.document, "sweep", ()), getattr(self.document, "best", None)
        if not sweep:
            return
        curves = {
            name: [(row.threshold, getattr(row, key)) for row in sweep if getattr(row, key) is not None]
            for key, name in _SERIES.items()
        }
        text, mark = f"{len(sweep)} thresholds from {sweep[0].threshold:g} to {sweep[-1].threshold:g}", None
        if best is not None:
            mark = (best.threshold, f"best: {best.threshold:g} ({best.gain:+.4f})")
            text += f"; the best is {best.threshold:g}, which gains {best.gain:+.4f}"
        axes = ("threshold: lines of less confidence are left out", "score")
        yield lines("sweep", "Scores by confidence threshold", axes, f"{text}.", curves, mark=mark)

    def reliability_charts(self) -> Iterator[Drawing]:
        """How many answers of a confidence are right; on the diagonal where confidences are probabilities."""
        reliability = getattr(self.document, "reliability", None)
        if reliability is not None and reliability.bins:
            points = [(row.confidence, row.right) for row in reliability.bins]
            counts = [row.lines for row in reliability.bins]
            text = "; ".join(f"confidence {x:.4f}: {y:.4f} of {n} right" for (x, y), n in zip(points, counts))
            axes = ("mean confidence of the bin", "share of right answers")
            curves = {"answers (number beside each point)": points}
            title = f"Reliability of confidences, {reliability.lines} assessed lines"
            yield lines("reliability", title, axes, f"{text}.", curves, with_diagonal=True, counts=counts)

    def precision_charts(self) -> Iterator[Drawing]:
        """Precision at each rank of each query."""
        return pages.precision_charts(self.document)

    # ---- Mistakes and units

    def mistakes(self) -> Section:
        """The cost list, the costliest first; places and units open how they are explained."""
        layout, rows, opening = self.layouts["mistakes"], self.document.mistakes, self.openings.opening

        def effects(_: Mapping[str, Any], at: int) -> Cell | None:
            return _effects(rows[at]) if at < MOST_DETAILS else None

        def place(row: Mapping[str, Any], at: int) -> object:
            each = rows[at]
            name = {"line": f"{each.file}:{each.line}", "class": each.class_name, "node": each.node}[each.kind]
            return opening(f"{each.file}:{each.line}", f"{each.kind} {name}")

        if self.is_cold_start:
            layout = pages.with_cells(
                layout, Column("place", "File and line"), Column("change", "Corrected by"),
                Column("target", "Node or class"), Column("effects"),
                shown=("gain", "place", "category", "change", "query", "slot", "hop", "value", "target", "effects"),
                place=place, effects=effects, category=lambda row, _: row["category"] or "NODE",
                change=lambda row, _: f"{row['kind']} {row['change']}",
                target=lambda row, _: row["node"] or row["class"],
            )  # fmt: skip
        else:
            layout = pages.with_cells(
                layout, Column("effects"), shown=("gain", "kind", "unit", "part", "predicted", "gold", "effects"),
                unit=lambda row, _: opening(row["name"], f"query {row['name']}"), effects=effects,
            )  # fmt: skip
        about = (
            f"What correcting each mistake alone would bring to {self.measure}. The effects on other measures open "
            f"for the {MOST_DETAILS} costliest."
        )
        return Section("costs", "Cost list", (about, *tables(layout, self.document, is_small=False)))

    def units(self) -> Section:
        """All units that are explained or have mistakes in the cost list, the costliest first."""
        mistakes: dict[str, list[Any]] = defaultdict(list)
        for mistake in self.document.mistakes[: pages.MOST_ROWS]:
            mistakes[pages.unit_text(mistake)].append(mistake)
        explained = self.document.explanations or None
        queries = {query.query: query for query in getattr(explained, "queries", ())}
        units = dict.fromkeys((*mistakes, *queries, *map(pages.unit_text, getattr(explained, "units", ()))))
        rows: list[dict[str, Any]] = []
        for unit in units:
            count = len(mistakes[unit])
            gains = [each.gain for each in mistakes[unit] if each.gain is not None]
            target = Target("mistakes", "query" if self.is_cold_start else "unit", unit)
            row: dict[str, Any] = {
                "unit": self.openings.opening(unit, f"query {unit}"),
                "mistakes": pages.link(count, target) if count else 0,
                "largest": max(gains, default=None),
            }
            if (query := queries.get(unit)) is not None:
                row |= {"ldc": query.unit, "name": query.name, "slot": query.slot, "hop": query.hop}
                row |= {"lines": sum(query.lines.values())}
                row |= {key: query.lines.get(key, 0) for key in ("right", "wrong")}
                row |= {key: query.classes.get(key, 0) for key in ("found", "missed")}
            rows.append(row)
        rows.sort(key=lambda row: -(row["largest"] or 0.0))
        name = pages.unit_of(self.document.task)
        several = ("queries" if name == "query" else f"{name}s").capitalize()
        about = f"{several} with what correcting the costliest mistake of each would gain, the costliest first."
        if self.openings.entries:
            about += f" Each {name} opens and shows, with all that it contains, what explain says of it."
        if explained is not None and explained.left_out:
            about += f" {explained.left_out} lines without mistakes in the cost list are left out."
        headings = {"unit": title_case(name), **_OF_QUERY, "mistakes": "Mistakes", "largest": "Largest gain"}
        return Section("queries", several, (about, *table_of("units", several, rows, False, **headings)))

    # ---- Scenarios, policies, problems

    def of_cold_start(self) -> Iterator[Section]:
        """Scenarios for what nobody assessed and the lines that they are of, policies, and problems of the input."""
        document, scenarios = self.document, self.document.scenarios
        about = (
            "Two scenarios, each a call of the scorer. Pessimistic: every unassessed answer is wrong. Optimistic: "
            "every one below a right answer is right, and takes the first class that nothing right stands in, else a "
            "class of its own that ground truth gains. Other assessments may score less or more."
        )
        blocks: list[Block] = [about, self.scenario_facts()]
        if added := scenarios.added_pool:
            file = scenarios.added_pool_to or "a pool"
            left = f", the first {_MOST_LINES} of {len(added)}" if len(added) > _MOST_LINES else ""
            blocks.append(f"The optimistic scenario has these lines at the end of {file}{left}:")
            blocks.append(Code(added[:_MOST_LINES]))
        yield Section("scenarios", "What was not assessed", [*blocks, *tables(self.layouts["unassessed"], document)])
        parts = ("right", "wrong", "ignore", "justifications")
        rows = [{"policy": each.name, **{part: each.policy.get(part) for part in parts}} for each in document.policies]
        what = table_of("policy", "Policies", rows, True, "policy", *parts)
        scores = tables(self.layouts["policies"], document, "policy", is_small=True)
        yield Section("policies", "Policies", (*what, *scores))
        heads, problems = ("code", "severity", "count"), map(asdict, document.problems)
        found = [*table_of("problem", "Problems of the input", problems, True, *heads, message="First message")]
        yield Section("problems", "Problems", found or ["None."])

    CHARTS: ClassVar = {
        "budget": gain_charts,
        "cumulated": step_charts,
        "groups": group_charts,
        "sweep": sweep_charts,
        "reliability": reliability_charts,
        "precision": precision_charts,
        "confusions": confusion_charts,
    }


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
    return pages.details(f"{sum(map(bool, mistake.effects.values()))} measures", items)
