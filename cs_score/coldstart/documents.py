"""The Cold Start result as a document, for programs and for people: the whole, and chosen scores as tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.base.display import SCREEN, aligned, cell, escape_latex, escape_markdown, one_line, wrapped
from cs_score.base.documents import Document, json_pieces
from cs_score.base.errors import InputError
from cs_score.base.outputs import OwnOption
from cs_score.base.records import Record, field, replace, to_builtins
from cs_score.base.signature import ANY_MEASURE, RUN, Origin, Signature
from cs_score.coldstart import result as results
from cs_score.coldstart.judging import Counts, pre_policy_category, without
from cs_score.coldstart.result import AveragePrecision, Result, RunResult
from cs_score.coldstart.samples import Limits
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.measures.registry import (
    COLD_START_MODE,
    WHY,
    chosen,
    headline,
    substitute_remark,
    undefined_sentences,
    usual_among,
)
from cs_score.statistics.results import SETTINGS_COLUMNS, ScoreIntervals
from cs_score.statistics.units import Units
from cs_score.tables.layout import Column, Layout, Table, columns, latex, markdown, tsv

Real: TypeAlias = int | float  # A number that is read as it is written: a whole one stays whole


class ScoreRow(Record):
    """A row of a table; means have no counts."""

    name: str
    level: str
    counts: Counts | None
    precision: Real
    recall: Real
    f1: Real


class ScoreTable(Record):
    """The rows of one table, and its averages by level."""

    rows: tuple[ScoreRow, ...]
    micro: tuple[ScoreRow, ...]
    macro: tuple[ScoreRow, ...]


class ApRow(Record):
    """A row of the AP report."""

    name: str
    level: str
    average_precision: Real


class ApTable(Record):
    """The rows of one table of the AP report, and the macro average of each level."""

    rows: tuple[ApRow, ...]
    macro: tuple[ApRow, ...]


class RankedNode(Record):
    """A node in rank order: `value` (V) is what it adds, `line` the number of its first line."""

    node: str
    confidence: Real
    mapped_class: str | None
    value: Real
    line: int


class Ranking(Record):
    """The ranking of a query at a level."""

    query: str
    level: str
    average_precision: Real
    ground_truth: int | None
    classes: tuple[str, ...]
    nodes: tuple[RankedNode, ...]


class Ranked(Record):
    """Average precision of a run; `run_id` is the run that the AP report names."""

    run_id: str
    tables: Mapping[str, ApTable]
    rankings: tuple[Ranking, ...]


class Resampled(Record):
    """What the samples of -samples gave: their number, and the limits of each value."""

    samples: int
    limits: tuple[Limits, ...]


class Matched(Record):
    """The assessment that a response matched."""

    file: str
    line: int
    class_: str | None = field(name="class")


class Response(Record):
    """A response that was counted below `row`; `query` is the one that it answers."""

    row: str
    query: str
    file: str
    line: int
    node: str | None
    value: str
    confidence: Real
    target_query: str | None
    assessment: Matched | None
    pre_policy: str
    post_policy: tuple[str, ...]


class Place(Record):
    """Where a problem was met."""

    file: str
    line: int | str


class FoundProblem(Record):
    """A message of the problem report with its places; None is no place."""

    code: str
    severity: str
    message: str
    occurrences: int
    places: tuple[Place | None, ...]


class RunScores(Record):
    """What was computed for one run: every average by the name of its measure, and in a whole result all the rest.

    `undefined` has the measures that have no value for this run, with the reasons; they are not in `scores`. `origin`
    is that of a run which was scored by itself beside others. `units` are the statistics that averages are made of,
    `queries` has the unit of each query that was scored, `tables` those of SF, LDC-MAX, LDC-MEAN that exist.
    """

    run_id: str
    signature: str
    scores: Mapping[str, Real]
    undefined: Mapping[str, str] | UnsetType = UNSET
    origin: Origin | UnsetType = UNSET
    units: Units | UnsetType = UNSET
    queries: Mapping[str, str] | UnsetType = UNSET
    tables: Mapping[str, ScoreTable] | UnsetType = UNSET
    average_precision: Ranked | UnsetType | None = UNSET
    bootstrap: Resampled | UnsetType | None = UNSET
    responses: tuple[Response, ...] | UnsetType = UNSET
    intervals: ScoreIntervals | UnsetType = UNSET


class Scores(Document, frozen=True, kw_only=True, tag="score"):
    """The scores of runs. With `measures` it has those chosen, else the whole result with the problem report."""

    schema_version: Literal[5] = 5
    signature: str
    origin: Origin
    measures: tuple[str, ...] | UnsetType = UNSET
    runs: tuple[RunScores, ...]
    problems: tuple[FoundProblem, ...] | UnsetType = UNSET
    errors: int
    warnings: int
    remarks: tuple[str, ...]


OPTION: Final = OwnOption(
    "--json",
    {".json": rb'\{\s*"kind":\s*"score",\s*"schema_version":\s*\d+,\s*"task":\s*"coldstart"'},
    "result.json",
    takes_dash=True,
)
"""The option that names the file of the document."""

# What a whole result has of a run beside its scores.
PARTS: Final = ("units", "queries", "tables", "average_precision", "bootstrap", "responses")


def document_of(result: Result, intervals: Sequence[ScoreIntervals] = (), parts: Collection[str] = PARTS) -> Scores:
    """The result as a document, whole unless some of PARTS are enough; `intervals` are those of its runs, or none."""
    origin = result.origin
    if intervals:
        origin = origin.with_option("bootstrap", to_builtins(intervals[0].resampling))
    of_runs: Sequence[ScoreIntervals | UnsetType] = intervals or [UNSET] * len(result.runs)
    problems = []
    for each in result.problems:
        places = tuple(None if place is None else Place(place.file, place.line) for place in each.places)
        problems.append(FoundProblem(each.code, str(each.severity), each.message, each.occurrences, places))
    return Scores(
        task=COLD_START_MODE,
        signature=str(origin.signature),
        origin=origin,
        runs=tuple(_run_scores(result, run, parts, of_run) for run, of_run in zip(result.runs, of_runs)),
        problems=tuple(problems),
        errors=result.error_count,
        warnings=result.warning_count,
        remarks=tuple(result.warnings),
    )


def json_text(result: Result, intervals: Sequence[ScoreIntervals] = ()) -> Iterator[str]:
    """The whole result as JSON, in pieces."""
    return json_pieces(document_of(result, intervals))


def choose(scores: Scores, patterns: Sequence[str] = ()) -> Scores:
    """The scores whose measures match a pattern; without patterns those that people are shown first. Raises UsageError
    for a pattern that no measure of any run matches, InputError where no run has a value of any of them.
    """
    known = list(dict.fromkeys(name for run in scores.runs for name in (*run.scores, *(run.undefined or ()))))
    if patterns:
        wanted = chosen(known, patterns)
        _require_a_score(scores, wanted)
        return chosen_scores(scores, wanted, wanted[0] if len(wanted) == 1 else UNSET)
    defined = [name for run in scores.runs for name in run.scores]
    has_ldc = any(name.startswith("LDC-") for name in known)
    wanted = [name for name in headline(COLD_START_MODE, has_ldc) if name in known]
    measure = str(usual_among(COLD_START_MODE, defined))
    wanted.sort(key=lambda name: name != measure)  # the headline measure first, the others in their order
    return chosen_scores(scores, wanted, measure)


def headline_remark(result: Result) -> str | None:
    """Return which measure stands in for average precision, and why; None where a run has an average precision."""
    edition = result.options.edition
    reasons = []
    if not edition.has_rankings:
        reasons.append(f"edition {edition.name} has no average precision")
    for run in result.runs:
        if run.average_precision is not None and not run.undefined:
            return None
        reasons += run.undefined.values()
    return substitute_remark(result.has_ldc_index, reasons[0]) if reasons else None


def _require_a_score(scores: Scores, measures: Sequence[str]) -> None:
    """Raise InputError where none of the measures has a value for any run."""
    if any(measure in run.scores for run in scores.runs for measure in measures):
        return
    for run in scores.runs:
        for measure in measures:
            if run.undefined and measure in run.undefined:
                raise InputError(f"run {run.run_id} has no {measure}: {run.undefined[measure]}")


def chosen_scores(scores: Scores, measures: Sequence[str], measure: str | UnsetType) -> Scores:
    """Scores of some measures alone, with their intervals; `measure` is the one that people are shown first."""
    runs = []
    for run in scores.runs:
        shown = {name: run.scores[name] for name in measures if name in run.scores}
        signature = Signature.parse(run.signature).of(measures[0] if len(measures) == 1 else ANY_MEASURE)
        undefined = {name: reason for name, reason in (run.undefined or {}).items() if name in measures}
        one = RunScores(run.run_id, str(signature), shown, undefined=undefined or UNSET, origin=run.origin)
        if run.intervals:
            limits = {name: run.intervals.scores[name] for name in shown if name in run.intervals.scores}
            one = replace(one, intervals=replace(run.intervals, scores=limits))
        runs.append(one)
    return replace(scores, measure=measure, measures=tuple(measures), runs=tuple(runs), problems=UNSET)


def _run_scores(
    result: Result, run: RunResult, parts: Collection[str], intervals: ScoreIntervals | UnsetType
) -> RunScores:
    """What a document has of a run; of PARTS those asked for."""
    made: dict[str, Callable[[], object]] = {
        "units": lambda: _units(result, run),
        "queries": lambda: dict(run.unit_of),
        "tables": lambda: {name: _table(table) for name, table in run.tables.variants},
        "average_precision": lambda: run.average_precision and _ranked(run.average_precision),
        "bootstrap": lambda: run.bootstrap and Resampled(len(run.bootstrap.samples), run.bootstrap.limits),
        "responses": lambda: tuple(_responses(run)),
    }
    signature = str(result.signature(run))
    whole = RunScores(
        run_id=run.run_id,
        signature=signature,
        scores=run.scores,
        undefined=run.undefined or UNSET,
        origin=run.origin or UNSET,
        intervals=intervals,
    )
    return replace(whole, **{name: made[name]() for name in PARTS if name in parts})


def _units(result: Result, run: RunResult) -> Units:
    table = unit_table(run, run.measures)
    return Units(table.ids, table.columns, table.rows, unit_name(result))


def _table(table: results.Table) -> ScoreTable:
    def shown(rows: Iterable[results.ScoreRow]) -> tuple[ScoreRow, ...]:
        return tuple(ScoreRow(row.name, row.level, row.counts, *row.scores) for row in rows)

    return ScoreTable(shown(table.rows), shown(table.micro), shown(table.macro))


def _ranked(found: AveragePrecision) -> Ranked:
    def shown(rows: Iterable[results.ScoreRow]) -> tuple[ApRow, ...]:
        return tuple(ApRow(row.name, row.level, row.score) for row in rows)

    rankings = []
    for one in found.rankings:
        nodes = (
            RankedNode(of.name, of.confidence, of.mapped_class, of.value, of.first_line.number) for of in one.nodes
        )
        rankings.append(Ranking(one.query, one.level, one.score, one.ground_truth, one.classes, tuple(nodes)))
    tables = {name: ApTable(shown(table.rows), shown(table.macro)) for name, table in found.variants}
    return Ranked(found.run_id, tables, tuple(rankings))


def _responses(run: RunResult) -> Iterator[Response]:
    for tally, unit in results.tallies_of(run.units):
        for line in tally.responses:
            met = unit.matched.get(line.index)
            category = pre_policy_category(met)
            assessed = None if met is None else Matched(met.file, met.number, met.value_class)
            place = tally.name, line.query.full_id, line.file, line.number, line.node
            answer = line.value, line.confidence, f"{line.query.full_id}_{line.target}"
            yield Response(*place, *answer, assessed, category, tuple(without(unit.labels[line.index], category)))


def shown(run: RunScores, measure: str) -> str:
    """A score with four decimals, its interval behind it in brackets where there is one."""
    if measure not in run.scores:
        return "-"
    text = f"{run.scores[measure]:.4f}"
    low, high = _limits(run, measure)
    return text if low is None or high is None else f"{text} [{low:.4f}, {high:.4f}]"


def _limits(run: RunScores, measure: str) -> tuple[float | None, float | None]:
    found = run.intervals.scores.get(measure) if run.intervals else None
    return (None, None) if found is None else (found.low, found.high)


def _headings(scores: Scores) -> list[str]:
    """The id of each run, with its file where several have the same."""
    ids = [run.run_id for run in scores.runs]
    headings = []
    for run in scores.runs:
        files = [given.name for given in run.origin.inputs if given.role == RUN] if run.origin else []
        headings.append(run.run_id if ids.count(run.run_id) == 1 or not files else f"{run.run_id} ({', '.join(files)})")
    return headings


def undefined_remarks(scores: Scores) -> Iterator[str]:
    """Yield a sentence for each run and reason: which of the chosen measures have no value."""
    for run, heading in zip(scores.runs, _headings(scores)):
        of_run = f" ({cell(heading)})" if len(scores.runs) > 1 else ""
        for sentence in undefined_sentences(run.undefined or {}):
            yield f"{sentence}{of_run}"


def scores_text(scores: Scores) -> str:
    """A line for each chosen measure, a column for each run, as many side by side as a screen holds; the signatures."""
    measures = scores.measures or ()
    first = ["", *measures]
    lines: list[str] = []
    block = [first]
    for run, heading in zip(scores.runs, _headings(scores)):
        column = [cell(heading), *(shown(run, measure) for measure in measures)]
        if len(block) > 1 and sum(2 + max(map(len, each)) for each in (*block, column)) > SCREEN + 2:
            lines += [*_side_by_side(block), ""]
            block = [first]
        block.append(column)
    lines += [*_side_by_side(block), ""]
    if scores.measure and len(measures) != 1:
        why = f"headline   {scores.measure}: {WHY[scores.measure]}"
        lines += wrapped(why, " " * 11)
    for remark in undefined_remarks(scores):
        lines += wrapped(f"undefined  {remark}", " " * 11)
    for text in _explanations(scores):
        lines += wrapped(one_line(text))
    lines += [f"signature  {run.signature}" for run in scores.runs]
    return "\n".join(lines) + "\n"


def _explanations(scores: Scores) -> list[str]:
    """Return sentences on how the limits of chosen scores came about; none where there are no intervals."""
    sentences: dict[str, None] = {}
    for run in scores.runs:
        if run.intervals:
            sentences.update(dict.fromkeys(run.intervals.explanation(scores.measures or (), what="In brackets")))
    return list(sentences)


def _side_by_side(columns: Sequence[Sequence[str]]) -> list[str]:
    return aligned([*zip(*columns)], [False, *(True for _ in columns[1:])])


def single_score(scores: Scores, measure: str) -> list[str]:
    """Return one score of one run, then, for standard error, what must be said of it."""
    return [shown(scores.runs[0], measure), *_explanations(scores)]


def _matrix(scores: Scores) -> Table:
    """A row for each chosen measure, a column for each run; a score that has an interval is a text."""
    headings = _headings(scores)
    head = (Column("measure", "Measure"), *(Column(str(at), heading) for at, heading in enumerate(headings)))
    rows = [
        (measure, *(shown(run, measure) if run.intervals else run.scores.get(measure) for run in scores.runs))
        for measure in scores.measures or ()
    ]
    return Table(Layout("scores", "", head, lambda _: ()), rows, len(rows))


def scores_markdown(scores: Scores) -> str:
    below = [f"- undefined: {escape_markdown(remark)}" for remark in undefined_remarks(scores)]
    below += [f"- {escape_markdown(text)}" for text in _explanations(scores)]
    below += [f"- `{run.signature}`" for run in scores.runs]
    return "\n".join([*markdown(_matrix(scores)), "", *below]) + "\n"


def scores_latex(scores: Scores) -> str:
    above = [f"% undefined: {one_line(remark)}" for remark in undefined_remarks(scores)]
    above += [f"% {one_line(run.signature)}" for run in scores.runs]
    below = [escape_latex(text) for text in _explanations(scores)]
    if below:
        below.insert(0, "")
    return "\n".join([r"% \usepackage{booktabs}", *above, *latex(_matrix(scores)), *below]) + "\n"


def _rows(scores: Scores) -> Iterator[dict[str, object]]:
    for run, heading in zip(scores.runs, _headings(scores)):
        signature = Signature.parse(run.signature)
        for measure in scores.measures or ():
            low, high = _limits(run, measure)
            found = {"run_id": heading, "measure": measure, "score": run.scores.get(measure), "low": low, "high": high}
            settings = run.intervals.settings_row() if run.intervals else {}
            yield {**found, **settings, "signature": str(signature.of(measure))}


def scores_tsv(scores: Scores) -> str:
    """Return chosen scores for programs; where there are intervals each row says how they came about."""
    keys = ["run_id", "measure", "score", "low", "high", "signature"]
    if any(run.intervals for run in scores.runs):
        keys += SETTINGS_COLUMNS
    return b"".join(tsv(Layout("scores", "Scores", columns(*keys), _rows).table(scores))).decode()


WRITERS: Final[dict[str, Callable[[Scores], str]]] = {
    "text": scores_text,
    "json": lambda scores: "".join(json_pieces(scores)),
    "tsv": scores_tsv,
    "markdown": scores_markdown,
    "latex": scores_latex,
}
"""Format -> writer of chosen scores; every text ends with a line feed."""
