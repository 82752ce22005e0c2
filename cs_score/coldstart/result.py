"""The result of a Cold Start scoring: every count, category, ranking and score; writers only read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record, field
from cs_score.base.signing.origin import Origin
from cs_score.coldstart.judging import Labels, Tally
from cs_score.coldstart.lines import Assessment
from cs_score.coldstart.options import Options
from cs_score.coldstart.projection import ALL_LEVELS, Table
from cs_score.coldstart.queries import Query
from cs_score.coldstart.ranking import ApTable, Ranking
from cs_score.coldstart.samples import Bootstrap
from cs_score.measures.measure import Measure
from cs_score.measures.registry import RANKED
from cs_score.problems.log import Problem, ProblemLog

if TYPE_CHECKING:
    from cs_score.base.signing.signature import Signature


_ROW_PREFIX: Final = f"{ALL_LEVELS}-"


class QueryResult(Record):
    """What scoring one query gave: its scored nodes, and the rankings of the levels that are scored.

    `problems` are reported when the query is counted. `uncounted` and `unranked` are why counting or ranking had to
    stop: what comes after is missing then.
    """

    query: Query
    tallies: tuple[Tally, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    problems: ProblemLog = field(default_factory=ProblemLog)
    uncounted: InputError | None = None
    unranked: InputError | None = None


class UnitResult(Record):
    """What scoring one unit gave: an LDC query with its entry points, or a query by itself.

    `matched` holds the assessment of each response that has one, `labels` the names of the lists that it stands in,
    both by the response's index. `queries` are those that were selected. `problems` were found while matching;
    `unmatched` is why that had to stop.
    """

    id: str
    matched: Mapping[int, Assessment]
    labels: Mapping[int, Labels]
    queries: tuple[QueryResult, ...]
    problems: ProblemLog
    unmatched: InputError | None = None


def tallies_of(units: Iterable[UnitResult]) -> list[tuple[Tally, UnitResult]]:
    """The scored nodes of all queries of some units, sorted by name as a string, each with its unit."""
    of_units = [(tally, unit) for unit in units for query in unit.queries for tally in query.tallies]
    return sorted(of_units, key=lambda item: item[0].name)


class PrecisionRecall(Record):
    """The tables of one run; the LDC variants are None where no LDC query was expanded (specification 3.7)."""

    sf: Table
    ldc_max: Table | None
    ldc_mean: Table | None

    @property
    def variants(self) -> list[tuple[str, Table]]:
        named = (("SF", self.sf), ("LDC-MAX", self.ldc_max), ("LDC-MEAN", self.ldc_mean))
        return [(name, table) for name, table in named if table is not None]

    @property
    def measures(self) -> dict[Measure, float]:
        return {
            Measure(statistic, name, row.name.removeprefix(_ROW_PREFIX)).at(row.level): score
            for name, table in self.variants
            for row in table.averages
            for statistic, score in (("P", row.precision), ("R", row.recall), ("F1", row.f1))
        }


class AveragePrecision(Record):
    """The rankings of one run, sorted by query and level, and the tables made from them.

    `run_id` is the run that the rows name: that of the first run line of the input, whichever run is scored.
    `averages_all_levels`: the average of level ALL is that of the rows of all levels, those of ALL twice.
    """

    run_id: str
    sf: ApTable
    ldc_mean: ApTable | None
    rankings: tuple[Ranking, ...] = ()
    averages_all_levels: bool = False

    @property
    def variants(self) -> list[tuple[str, ApTable]]:
        named = (("SF", self.sf), ("LDC-MEAN", self.ldc_mean))
        return [(name, table) for name, table in named if table is not None]

    @property
    def measures(self) -> dict[Measure, float]:
        return {
            Measure(statistic, name).at(row.level): score
            for name, table in self.variants
            for row in table.macro
            for statistic, score in zip(RANKED, row.scores)
        }


class DebugText(Record):
    """The two texts of a run's debug file, each in parts: the files that hold them, in order."""

    responses: Sequence[str]
    rankings: Sequence[str]


class RunResult(Record):
    """What was computed for one run.

    `units` is what each unit gave. `average_precision` is None where scoring stopped before it, `bootstrap` where no
    samples were given. `unit_of` maps each query scored to the unit that a resample draws, by full id: its LDC query
    where that is known, else itself. `origin` is that of a run which was scored by itself beside others.

    A run that was scored in parts has its `debug_text` and, as nothing else needs them, no units and no rankings.
    """

    run_id: str
    tables: PrecisionRecall
    units: tuple[UnitResult, ...] = ()
    average_precision: AveragePrecision | None = None
    bootstrap: Bootstrap | None = None
    unit_of: Mapping[str, str] = field(default_factory=dict)
    debug_text: DebugText | None = None
    origin: Origin | None = None

    def tallies(self) -> list[tuple[Tally, UnitResult]]:
        return tallies_of(self.units)

    @property
    def measures(self) -> dict[Measure, float]:
        ranked = self.average_precision
        return self.tables.measures | ({} if ranked is None else ranked.measures)

    @property
    def scores(self) -> dict[str, float]:
        """Every average by the name of its measure: `LDC-MEAN-ALL-Macro-F1`, `SF-AP@0`."""
        return {str(measure): score for measure, score in self.measures.items()}

    def __repr__(self) -> str:
        return f"<run {self.run_id}: {_scores(self)}>"


class Result(Record):
    """A whole scoring: the runs in the order scored, the problems met, and what it was computed from.

    `warnings` are remarks that the report does not have, one line each. `has_ldc_index` tells whether LDC queries were
    expanded, so that LDC variants exist.
    """

    options: Options
    runs: tuple[RunResult, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]
    has_ldc_index: bool
    origin: Origin

    def signature(self, run: RunResult) -> Signature:
        if run.origin is not None:
            return run.origin.signature
        whole = self.origin.signature
        return whole if len(self.runs) == 1 else whole.of_run(run.run_id)

    @property
    def error_count(self) -> int:
        return sum(problem.occurrences for problem in self.problems if problem.severity == "ERROR")

    @property
    def warning_count(self) -> int:
        return sum(problem.occurrences for problem in self.problems if problem.severity == "WARNING")

    def __repr__(self) -> str:
        counts = f"{self.error_count} errors, {self.warning_count} warnings"
        return "\n".join((f"<Cold Start result: {len(self.runs)} run(s), {counts}", *map(repr, self.runs))) + ">"


def _scores(run: RunResult) -> str:
    parts = [
        f"{name} {row.name} {row.precision:.4f}/{row.recall:.4f}/{row.f1:.4f}"
        for name, table in run.tables.variants
        for row in table.averages
        if row.level == "ALL"
    ]
    if run.average_precision is not None:
        parts += [
            f"{name} AP {row.score:.4f}"
            for name, table in run.average_precision.variants
            for row in table.macro
            if row.level == "ALL"
        ]
    return ", ".join(parts) or "nothing to score"


class ScoringStopped(InputError):
    """A condition that ends scoring; `partial` holds what had been computed before."""

    def __init__(self, cause: InputError, partial: Result) -> None:
        super().__init__(cause.problem, file=cause.file, place=cause.place, remedy=cause.remedy, code=cause.code)
        self.partial = partial
