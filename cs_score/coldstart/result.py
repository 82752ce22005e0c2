"""The result of a Cold Start scoring: every count, category, ranking and score; writers only read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cs_score.coldstart.counting.counts import Tally
from cs_score.coldstart.counting.projection import Table
from cs_score.coldstart.lines.records import Assessment
from cs_score.coldstart.options import Options
from cs_score.coldstart.partition.debug_text import DebugText
from cs_score.coldstart.ranking.average_precision import Ranking
from cs_score.coldstart.ranking.tables import ApTable
from cs_score.coldstart.resampling.values import Bootstrap
from cs_score.foundation.errors import InputError
from cs_score.foundation.signature import Signature
from cs_score.problems.log import Problem


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """The tables of one run; the LDC variants are None where no LDC query was expanded (specification 3.7)."""

    sf: Table
    ldc_max: Table | None
    ldc_mean: Table | None

    @property
    def variants(self) -> list[tuple[str, Table]]:
        """The variants that exist, by the name that summaries give them."""
        named = (("SF", self.sf), ("LDC-MAX", self.ldc_max), ("LDC-MEAN", self.ldc_mean))
        return [(name, table) for name, table in named if table is not None]


@dataclass(frozen=True, slots=True)
class AveragePrecision:
    """The rankings of one run, sorted by query and level, and the tables made from them.

    `run_id` is the run that the rows name: that of the first run line of the input, whichever run is scored.
    """

    run_id: str
    sf: ApTable
    ldc_mean: ApTable | None
    rankings: tuple[Ranking, ...] = ()

    @property
    def variants(self) -> list[tuple[str, ApTable]]:
        """The variants that exist, by the name that summaries give them."""
        named = (("SF", self.sf), ("LDC-MEAN", self.ldc_mean))
        return [(name, table) for name, table in named if table is not None]


@dataclass(frozen=True, slots=True, repr=False)
class RunResult:
    """What was computed for one run.

    `tallies` are the scored nodes of all queries, sorted by name as a string; `matched` and `labels` hold the
    assessment of each response and the names of the lists it stands in, by the response's index. `average_precision`
    is None where scoring stopped before it, `bootstrap` where no samples were given. `unit_of` maps each query scored
    to the unit that a resample draws, by full id: its LDC query where that is known, else itself.

    A run that was scored in shares has its `debug_text` and, as nothing else needs them, no tallies and no rankings.
    """

    run_id: str
    tables: PrecisionRecall
    tallies: tuple[Tally, ...] = ()
    matched: Sequence[Assessment | None] = ()
    labels: Sequence[tuple[str, ...]] = ()
    average_precision: AveragePrecision | None = None
    bootstrap: Bootstrap | None = None
    unit_of: Mapping[str, str] = field(default_factory=dict)
    debug_text: DebugText | None = None

    def __repr__(self) -> str:
        return f"<run {self.run_id}: {_scores(self)}>"


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """A whole scoring: the runs in the order scored, the problems met, and what it was computed from.

    `warnings` are remarks that the report does not have, one line each. `has_ldc_index` tells whether LDC queries were
    expanded, so that LDC variants exist.
    """

    options: Options
    runs: tuple[RunResult, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]
    has_ldc_index: bool
    signature: Signature

    @property
    def error_count(self) -> int:
        """Occurrences of problems that are errors."""
        return sum(problem.occurrences for problem in self.problems if problem.severity == "ERROR")

    @property
    def warning_count(self) -> int:
        """Occurrences of problems that are warnings."""
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
