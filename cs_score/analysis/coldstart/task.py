"""Cold Start as a task, under the names that all tasks have: its runs, their analyses and differences, and how people
and tables show these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

from cs_score.analysis.coldstart.analysis import Analysis, analyze
from cs_score.analysis.coldstart.difference import AnswerLabel, Difference, diff
from cs_score.analysis.coldstart.explanation.document import STEPS
from cs_score.analysis.coldstart.scenarios import Scenarios
from cs_score.analysis.coldstart.scored import Progress, Scored, silent
from cs_score.analysis.outcomes import heading
from cs_score.base.display import SCREEN, aligned, one_line
from cs_score.base.records import replace, to_builtins
from cs_score.coldstart.judging import CATEGORIES, Counts
from cs_score.coldstart.result import Result
from cs_score.coldstart.unit_statistics import answered_units, summary_scores, unit_name, unit_table
from cs_score.measures.registry import COLD_START_MODE, Measure, SumsFormula, formula_of, parse, undefined_sentences
from cs_score.statistics.options import Resampling, sentences
from cs_score.tables.layout import TOP, Column, Format, Layout, Table, columns, headed, text
from cs_score.tasks.task import Statistics

_SCORES: Final = ("precision", "recall", "f1")
_LIMITS: Final = tuple(f"{name}_{limit}" for name in _SCORES for limit in ("low", "high"))


def _groups(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for dimension, groups in analysis.groups.items():
        for group in map(to_builtins, groups):
            intervals = group.get("intervals", {}).items()
            limits = {f"{name}_{limit}": each.get(limit) for name, each in intervals for limit in ("low", "high")}
            yield {"dimension": dimension, **group, **group["counts"], **limits}


def _slots(analysis: Analysis) -> dict[str, dict[str, Any]]:
    """A row for each slot; categories that no line has are empty."""
    met = dict.fromkeys((each.category for each in analysis.confusions.slots), 0)
    rows: dict[str, dict[str, Any]] = {}
    for each in analysis.confusions.slots:
        rows.setdefault(each.slot, {"slot": each.slot, **met})[each.category] = each.count
    return rows


def _mistakes(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for row in analysis.mistakes:
        place = f"{row.file.rpartition('/')[2]}:{row.line}"
        what = row.category or f"in {row.kind}"
        yield {**to_builtins(row), "lines": len(row.added) - len(row.removed), "place": place, "what": what}


def _reliability(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for row in analysis.reliability.bins:
        yield to_builtins(row)


def _policies(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for row in analysis.policies:
        for name, score in row.scores.items():
            about = {"policy": row.name, "measure": name, "score": score, "reason": row.reason or None}
            yield {**about, "difference": None if score is None else score - analysis.scores[name]}


def _scenarios(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each measure, the one that is asked about first."""
    scenarios = analysis.scenarios
    for measure in dict.fromkeys((str(analysis.measure), *scenarios.scores)):
        about = {"unassessed": scenarios.unassessed, "reason": scenarios.reason}
        yield {"measure": measure, **to_builtins(scenarios.scores[measure]), **about}


def _intervals(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for name, each in analysis.intervals.scores.items() if analysis.intervals else ():
        yield {"measure": name, "score": each.point, **to_builtins(each)}


BUDGET: Final = Layout(
    "budget",
    "The score if one kind of mistakes alone were corrected, and cumulated:",
    columns("kind", "count", "gain", "score", "cumulated", "note", "reason", gain=Format.GAIN),
    lambda analysis: map(to_builtins, analysis.budget),
    most="whole",
)
COSTLIEST_SLOTS: Final = Layout(
    "slots",
    "Lines by slot and category, the slots with the most mistakes first:",
    (Column("slot"), *(Column(name, name.removeprefix("INCORRECT_")) for name in CATEGORIES)),
    lambda analysis: (_slots(analysis).get(group.group, {"slot": group.group}) for group in analysis.groups["slot"]),
)
_KEYS: Final = ("gain", "kind", "category", "file", "line", "query", "slot", "hop", "value", "node", "class", "lines")
_MISTAKES: Final = Layout(
    "mistakes",
    "The costliest mistakes, with the gain of correcting each one alone:",
    columns(*_KEYS, "reason", gain=Format.GAIN),
    _mistakes,
    shown=("gain", "kind", "category", "file", "line", "slot", "value", "lines", "reason"),
    total=lambda analysis: analysis.mistake_count,
)
COSTLIEST: Final = replace(
    _MISTAKES,
    columns=(*columns("gain", gain=Format.GAIN), *headed(what="category", place="line"), *columns("slot", "value")),
    shown=(),
)

LAYOUTS: Final[tuple[Layout, ...]] = (
    Layout(
        "intervals", "Every score with its bootstrap interval:",
        columns("measure", "score", "low", "high", "note"), _intervals, for_people=False,
    ),
    BUDGET,
    _MISTAKES,
    Layout(
        "groups", "By %, the most mistakes first:",
        columns("dimension", "group", *_SCORES, "mistakes", "share", *Counts.__struct_fields__, *_LIMITS), _groups,
        shown=("group", *_SCORES, "f1_low", "f1_high", "mistakes", "share", "right", "wrong", "ground_truth"),
        by="dimension", fewest=2,  # one group is the whole table
    ),
    Layout(
        "confusions", "Lines by slot and category:", columns("slot", *CATEGORIES),
        lambda a: sorted(_slots(a).values(), key=lambda row: -sum(row.get(each, 0) for each in CATEGORIES)),
    ),
    Layout(
        "wrong_values", "The most frequent wrong values:", columns("slot", "value", "count"),
        lambda analysis: analysis.confusions.wrong_values,
    ),
    Layout(
        "near_misses",
        "Lines that are not correct whose place the pool has with another value, or their value elsewhere:",
        columns("category", "lines", "same_place", "same_place_accepted", "same_value", "same_value_accepted"),
        lambda analysis: analysis.confusions.near,
    ),
    Layout(
        "reliability",
        "Reliability: assessed lines in ten bins of equal size by confidence, and the share that was judged correct:",
        columns("lines", "low", "high", "confidence", "right"), _reliability, most="whole",
    ),
    Layout(  # for people they stand beside the score
        "scenarios",
        "Every score in two scenarios: every unassessed answer wrong (pessimistic), and every one right (optimistic):",
        columns("measure", "pessimistic", "score", "optimistic", "unassessed", "reason"), _scenarios,
        for_people=False,
    ),
    Layout(
        "unassessed", "Slots by their number of unassessed lines, with the share of all their lines:",
        columns("slot", "lines", "unassessed", "share"),
        lambda a: sorted((slot for slot in a.scenarios.slots if slot.unassessed), key=lambda slot: -slot.unassessed),
    ),
    Layout(
        "policies", "The scores under the policy %, and the difference to those of the policy in force:",
        columns("policy", "measure", "score", "difference", "reason", difference=Format.GAIN), _policies, by="policy",
        most="whole",
    ),
    Layout(
        "sweep", "The scores without the lines whose confidence is below a threshold:",
        columns("threshold", *_SCORES, "lines", "gain", "reason", gain=Format.GAIN), lambda analysis: analysis.sweep,
        most="spread",
    ),
)  # fmt: skip
"""The tables in the order of the text, a row for each: a new section is added here."""


# ---- A difference

_SHARE: Final = Column("contribution", format=Format.CONTRIBUTION)
_SIDES: Final = (Column("a", "A"), Column("b", "B"))


def _compared_groups(difference: Difference) -> Iterator[Mapping[str, Any]]:
    for dimension, groups in difference.groups.items():
        yield from ({"dimension": dimension.replace("_", " "), **to_builtins(group)} for group in groups)


def _label(found: AnswerLabel | None) -> str | None:
    return None if found is None else f"{found.label} ({found.category}, line {found.line})"


def _rules(difference: Difference) -> Iterator[Mapping[str, Any]]:
    for rule in difference.rules or ():
        rows = [f"{row.row} ({row.table} {row.level})" for row in rule.rows]
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        yield {"rule": rule.rule or "no rule alone", "rows": len(rows), "which": f"{rows[0]}{more}" if rows else
               f"not scored: {rule.reason}"}  # fmt: skip


UNITS: Final = Layout(
    "units", "Units by their contribution to the difference:", (_SHARE, Column("unit"), *_SIDES), lambda d: d.units
)
GROUPS: Final = Layout(
    "groups", "By %:", (Column("dimension"), _SHARE, *columns("group", "n"), *_SIDES), _compared_groups, by="dimension"
)
LARGEST_GROUPS: Final = replace(
    GROUPS,
    title="Groups by the size of their contribution:",
    rows=lambda difference: sorted(_compared_groups(difference), key=lambda group: -abs(group["contribution"] or 0.0)),
    shown=("contribution", "dimension", "group", "n", "a", "b"),
    by="",
)
RULES: Final = Layout(
    "rules", "Rows that change by one rule of the edition alone:", columns("rule", "rows", "which"), _rules, fewest=1,
    longest=100,
)  # fmt: skip
OF_DIFFERENCE: Final[tuple[Layout, ...]] = (
    UNITS,
    GROUPS,
    RULES,
    Layout(
        "answers",
        "Answers that counted differently:",
        (Column("value"), *_SIDES, Column("query")),
        lambda d: ({"value": p.value, "query": p.query, "a": _label(p.a), "b": _label(p.b)} for p in d.answers),
        fewest=1,
    ),
    Layout(
        "classes",
        "Classes that one of the two has found:",
        columns("outcome", "class"),
        lambda d: map(to_builtins, d.classes),
        fewest=1,
    ),
)
"""The tables of a difference, a file each."""


# ---- For people

_SCREENS: Final[Mapping[type, tuple[Sequence[tuple[Layout, int | None]], str]]] = {
    Analysis: (
        ((BUDGET, None), (COSTLIEST_SLOTS, 5), (COSTLIEST, 10)),
        "mistake, groups, confusions, policies and thresholds; --format tsv -o DIR writes them.",
    ),
    Difference: (
        ((UNITS, 7), (LARGEST_GROUPS, 8), (RULES, 5)),
        "unit, group, answer and class; --format json has all of it.",
    ),
}
"""The tables that a screen of 40 lines holds, and how many rows of them; what there is besides."""


def text_of(document: Analysis | Difference, width: int, top: int | None = None) -> str:
    """Every table with at most `top` rows in lines of at most `width` columns; None: what a screen holds.

    The inputs' texts are made safe.
    """
    width = width if top is not None else min(width, SCREEN)
    counted: Mapping[str, Mapping[str, int]] = {}
    if isinstance(document, Analysis):
        lines, layouts, closing = _headline(document, width), LAYOUTS, list(_sentences(document))
    else:
        lines, layouts, closing = heading(document, "run", width, str(document.measure)), OF_DIFFERENCE, []
        counted = {"answers": document.outcomes, "classes": document.found}
    screen, rest = _SCREENS[type(document)]
    if top is None:
        for layout, most in screen:
            lines += text(layout.table(document), most, width)
        return "\n".join([*lines, "", *wrap(f"--all shows every {rest}", width)])
    for layout in layouts:
        if counts := counted.get(layout.name):
            rows = [(layout.name, "count"), *((name, str(number)) for name, number in counts.items())]
            lines += ["", *aligned(rows, (False, True))]
        lines += text(layout.table(document), top, width)
    for sentence in closing:
        lines += ["", *wrap(sentence, width)]
    return "\n".join(lines)


def _headline(analysis: Analysis, width: int) -> list[str]:
    """Return the score with its interval, the measures without a value, and both scenarios for what nobody assessed."""
    found = analysis.intervals.scores.get(str(analysis.measure)) if analysis.intervals else None
    limits = ""
    if found is not None and found.low is not None and found.high is not None:
        limits = f" [{found.low:.4f}, {found.high:.4f}]"
    lines = [f"{one_line(analysis.run)}: {analysis.measure} = {analysis.score:.4f}{limits}"[:width]]
    for sentence in undefined_sentences(analysis.undefined or {}):
        lines += wrap(f"Undefined for this run: {sentence}.", width)
    return [*lines, *_scenario_lines(analysis.scenarios, width)]


def _scenario_lines(scenarios: Scenarios, width: int) -> list[str]:
    """Return what the SF table would score if every unassessed answer were wrong, or right; nothing if none is."""
    if not scenarios.unassessed:
        return []
    answers = "1 answer was" if scenarios.unassessed == 1 else f"{scenarios.unassessed} answers were"
    reason = "" if scenarios.reason is None else f" ({one_line(scenarios.reason)})"
    scores = []
    for measure, scenario in scenarios.shown.items():
        wrong, right = (
            "none" if score is None else f"{score:.4f}" for score in (scenario.pessimistic, scenario.optimistic)
        )
        scores.append(f"{measure} {scenario.score:.4f} ({wrong}, {right})")
    text = (
        f"{answers} not assessed. Two scenarios, all wrong (pessimistic) and all right (optimistic): "
        f"{'; '.join(scores)}{reason}."
    )
    return wrap(text, width)


def _sentences(analysis: Analysis) -> Iterator[str]:
    row, best, structure = analysis.budget[-1], analysis.best, analysis.structure
    if lost := row.unreachable or {}:
        reasons = ", ".join(f"{reason}: {number}" for reason, number in lost.items())
        found = f"{sum(lost.values())} of {row.count} missed classes can be found by no answer of the pool ({reasons})."
        if isinstance(row.reachable_recall, float):
            found += f" The recall of {analysis.table} that others could reach is {row.reachable_recall:.4f}."
        yield found
    if best is None or not best.gain:
        yield "No threshold of confidence gains anything."
    else:
        lines = next(row.lines for row in analysis.sweep if row.threshold == best.threshold)
        yield (
            f"The best threshold of confidence is {best.threshold:g}: {best.gain:+.4f}, with {lines} lines; it was "
            f"chosen on these data as the best of {len(analysis.sweep)}, and others may have another one."
        )
    yield (
        f"{structure.merged_nodes} nodes merge several classes, {structure.split_classes} classes are split over "
        f"several nodes, {structure.discarded_lines} lines are beyond a limit on justifications."
    )
    reliability = analysis.reliability
    if reliability.numbers:
        numbers = ", ".join(f"{name} {value:.4f}" for name, value in reliability.numbers.items())
        yield f"Confidences of {reliability.lines} assessed lines: {numbers}."
    if analysis.intervals:
        settings = analysis.intervals.resampling
        several = sum(bool(row.intervals) for rows in analysis.groups.values() for row in rows)
        counted = [f"{several} groups have intervals, each uncorrected for their number."] if several else []
        resampling = (
            f"In brackets, and low and high: {settings.confidence:g} % {settings.method} bootstrap intervals from "
            f"{settings.resamples} resamples of {analysis.intervals.units} units ({settings.unit}), "
            f"seed {settings.seed}."
        )
        yield " ".join((resampling, *counted, *sentences(analysis.intervals.notes)))


# ---- The task


class ColdStartTask:
    """The task; a result that is analysed is a run with its gold (`Scored`), one that is compared has one run."""

    name = COLD_START_MODE

    def measure_of(self, wanted: str | None) -> str | None:
        """The measure that is meant; which one ranks leaderboards, the queries decide. Raises UsageError."""
        return None if wanted is None else str(parse(wanted))

    def analyze(
        self, result: Scored, measure: str | None = None, *, top: int | None = None, is_whole: bool = True,
        progress: Progress = silent, **settings: Any,
    ) -> Analysis:  # fmt: skip
        """What the task asks for; of mistakes as many as a text shows unless it `is_whole`."""
        most = top if is_whole else top or TOP
        return analyze(result, measure, most, progress=progress, with_explanations=is_whole, **settings)

    def diff(
        self, a: Scored, b: Scored, measure: str | None = None, *, names: tuple[str, str] = ("A", "B"),
        top: int | None = None, resampling: Resampling | None = None,
    ) -> Difference:  # fmt: skip
        return diff(a, b, measure, names=names, resampling=resampling)

    def headers(self, kind: str) -> dict[str, Sequence[str]]:
        return {f"{layout.name}.tsv": layout.keys for layout in (LAYOUTS if kind == "analysis" else OF_DIFFERENCE)}

    def layouts(self, document: Any) -> Sequence[Layout]:
        is_analysis = isinstance(document, Analysis)
        return LAYOUTS if is_analysis else OF_DIFFERENCE if isinstance(document, Difference) else (STEPS,)

    def tables(self, document: Any) -> list[Table]:
        return [layout.table(document) for layout in self.layouts(document)]

    def text(self, document: Any, width: int, top: int | None = None) -> str:
        if isinstance(document, Analysis | Difference):
            return text_of(document, width, top)
        return str(document.text(min(width, SCREEN)))

    def measures(self, results: Iterable[Result]) -> list[str]:
        """The measures of the summaries of results of one run each, the levels of a row together and sorted.

        A level that only some of the runs have counts as 0 for the others. A measure that has no value for one of the
        runs is left out. Raises ValueError for several runs.
        """
        runs = [_one(result) for result in results]
        has_no_value = {name for run in runs for name in run.undefined}
        once: dict[Measure, None] = {}
        for run in runs:
            for measure in summary_scores(run):
                if str(measure) not in has_no_value:
                    once[measure] = None
        blocks = list(dict.fromkeys((each.table, each.average) for each in once))
        # A measure that needs no average is one of rankings, whose rows come last.
        place = {each: (not each.average, blocks.index((each.table, each.average)), each.level) for each in once}
        return [str(each) for each in sorted(once, key=place.__getitem__)]

    def headline_of(self, results: Iterable[Any]) -> str | None:
        return None

    def undefined(self, result: Result) -> Mapping[str, str]:
        """Return the measures that have no value for the run, with the reasons."""
        reasons: Mapping[str, str] = _one(result).undefined
        return reasons

    def statistics(self, result: Result, measures: Sequence[str]) -> Statistics:
        run = _one(result)
        table, known = unit_table(run, map(parse, measures)), tuple(dict.fromkeys(run.unit_of.values()))
        return Statistics(unit_name(result), table, answered_units(run), known, result.origin)

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        return formula_of(map(parse, measures))


def _one(result: Result) -> Any:
    if len(result.runs) != 1:
        raise ValueError(f"the result has {len(result.runs)} runs instead of one")
    return result.runs[0]


TASK = ColdStartTask()
