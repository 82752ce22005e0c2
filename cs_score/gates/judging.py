"""Which limits a result keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.signing.origin import ANY_MEASURE, Origin
from cs_score.base.signing.signature import Signature
from cs_score.gates.limits import ROUNDING, Limit, exact, limits_by_measure
from cs_score.gates.measured import Measured, comparable_tables
from cs_score.statistics.options import Note, Resampling


class Kind(StrEnum):
    """What is asked of a score."""

    MIN = "min"
    MAX_DROP = "max-drop"


class Check(Record):
    """One limit and what became of it.

    `baseline` and `drop` are None where nothing is compared; `p` is the two-sided p-value of the difference, None where
    it was not tested.
    """

    kind: Kind
    measure: str
    limit: Decimal
    score: float
    baseline: float | None
    drop: Decimal | None
    p: float | None
    passed: bool

    @property
    def name(self) -> str:
        """What is asked: `SF-AP at least 0.4`, `SF-AP at most 0.005 below the baseline`."""
        if self.kind is Kind.MIN:
            return f"{self.measure} at least {self.limit}"
        return f"{self.measure} at most {self.limit} below the baseline"

    @property
    def message(self) -> str:
        """What was found: `SF-AP is 0.3812; at least 0.4 is asked`."""
        if self.drop is None or self.baseline is None:
            return f"{self.measure} is {_shown(self.score, self.limit)}; at least {self.limit} is asked"
        way = "below" if self.drop > 0 else "above"
        found = f"{_shown(abs(self.drop), self.limit)} {way}" if self.drop else "equal to"
        text = f"{self.measure} is {self.score:.4f}, {found} the baseline's {self.baseline:.4f}"
        if self.p is not None:
            excused = self.passed and self.drop > self.limit + ROUNDING
            text += f" (p = {self.p:.4f}{', not significant' if excused else ''})"
        return f"{text}; at most {self.limit} below is allowed"


def _shown(number: float | Decimal, limit: Decimal) -> str:
    """Four decimals, all of them where four would hide on which side of the limit a number lies."""
    short = f"{number:.4f}"
    hides = Decimal(short).compare(limit) != Decimal(number).compare(limit)
    return str(number) if hides else short


class Judgement(Record):
    """All limits of a result, those of a kind in the order of its measures, and what a reader must know of them."""

    run: Measured
    baseline: Measured | None
    checks: tuple[Check, ...]
    notes: tuple[Note, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every limit is kept."""
        return all(check.passed for check in self.checks)

    def origin_of(self, run: Measured) -> Origin:
        """What the run or the baseline was scored from, with the measure that was checked where it is one."""
        measures = {check.measure for check in self.checks}
        return replace(run.origin, measure=measures.pop() if len(measures) == 1 else ANY_MEASURE)

    @property
    def failed(self) -> list[Check]:
        """The limits that are not kept."""
        return [check for check in self.checks if not check.passed]


class Gate(Record):
    """What is asked of a run: least scores, how far measures may drop below a baseline, and how a drop is tested.

    Without any limit no measure that people are shown first may drop. With `significance` a drop counts only where the
    paired test calls it significant at the level of these settings.
    """

    minima: Sequence[Limit] = ()
    drops: Sequence[Limit] = ()
    significance: Resampling | None = None
    any_baseline: bool = False

    def judge(self, run: Measured, baseline: Measured | None) -> Judgement:
        """Hold a run against the limits.

        Raises UsageError for a limit of a measure that the run does not have, and where nothing is asked; InputError
        for a baseline that cannot be compared.
        """
        known = list(run.scores)
        minima, drops = limits_by_measure(self.minima, known), limits_by_measure(self.drops, known)
        if baseline is None:
            if drops or not minima:
                raise UsageError("nothing to hold the scores against: give --min MEASURE=NUMBER, or --baseline FILE")
            return Judgement(run, None, tuple(_minimum(run, *each) for each in minima.items()))
        if not self.any_baseline:
            check_comparable(run, baseline)
        if not drops and not minima:
            drops = dict.fromkeys(run.headline, Decimal(0))
        for measure in drops:
            if measure not in baseline.scores:
                raise InputError(f"it has no {measure}", file=baseline.name)
        checks = [_minimum(run, *each) for each in minima.items()]
        p_values, notes = self._tested(list(drops), run, baseline)
        checks += [self._drop(run, baseline, *each, p_values.get(each[0])) for each in drops.items()]
        return Judgement(run, baseline, tuple(checks), notes)

    def _drop(self, run: Measured, baseline: Measured, measure: str, limit: Decimal, p: float | None) -> Check:
        score, before = run.scores[measure], baseline.scores[measure]
        drop = exact(before) - exact(score)
        counts = p is None or self.significance is None or p <= self.significance.level
        passed = drop <= limit + ROUNDING or not counts
        return Check(Kind.MAX_DROP, measure, limit, score, before, drop, p, passed)

    def _tested(
        self, measures: Sequence[str], run: Measured, baseline: Measured
    ) -> tuple[Mapping[str, float], tuple[Note, ...]]:
        """The p-value of each measure's difference, and notes on the test; none where nothing is tested."""
        if self.significance is None or not measures:
            return {}, ()
        from cs_score.statistics.arithmetic import ColumnFormula
        from cs_score.statistics.comparison import compare_tables

        tables, formula = comparable_tables(measures, run, baseline)
        try:
            compared = compare_tables(
                tables, measures, ColumnFormula(formula), replace(self.significance, unit=run.unit)
            )
        except InputError as error:
            raise InputError(f"no drop can be tested: {error.problem}", file=baseline.name) from None
        p_values = {each.measure: each.pairs[0].randomisation.raw for each in compared.measures}
        return p_values, compared.notes


def _minimum(run: Measured, measure: str, limit: Decimal) -> Check:
    score = run.scores[measure]
    return Check(Kind.MIN, measure, limit, score, None, None, None, exact(score) >= limit - ROUNDING)


def check_comparable(run: Measured, baseline: Measured) -> None:
    """Raises InputError where a baseline was computed from other gold or with other options."""
    ours, theirs = run.origin.signature, baseline.origin.signature
    problem = None
    if run.origin.mode != baseline.origin.mode:
        problem = f"it is of {baseline.origin.mode}, the run of {run.origin.mode}"
    elif ours.gold != theirs.gold:
        problem = f"it was scored against other gold (gold:{theirs.gold}, now gold:{ours.gold})"
    elif ours.settings != theirs.settings:
        problem = f"it was scored with other options ({_settings(theirs)}, now {_settings(ours)})"
    if problem is not None:
        raise InputError(
            problem, file=baseline.name, remedy="make a new one, or take it all the same with --any-baseline"
        )


def _settings(signature: Signature) -> str:
    return str(signature).partition("|")[2].partition("|gold:")[0]
