"""Whether a run keeps limits: least scores, and how far it may lie below an earlier result. For `cs-score check`."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, cast

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.base.display import one_line, wrapped
from cs_score.base.documents import Document, json_text, read_document, record_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.signature import ANY_MEASURE, Origin, Signature
from cs_score.coldstart.documents import Scores as ColdStartScores
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.evidence.result import scores_at
from cs_score.measures.registry import COLD_START_MODE, chosen, formula_of, headline, parse, sums_of
from cs_score.statistics.arithmetic import ColumnFormula
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling, sentences
from cs_score.statistics.planning import Checks, t_limit
from cs_score.statistics.results import PairedSystems
from cs_score.statistics.units import Units, UnitTable
from cs_score.tables.layout import Layout, columns, tsv
from cs_score.tasks import task_named
from cs_score.verification.recorded import read_scores

if TYPE_CHECKING:
    from cs_score.coldstart.result import Result as ColdStartResult
    from cs_score.evidence.result import Result as EvidenceResult
    from cs_score.statistics.arithmetic import ColumnMeasures

_NUMBER: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{0,20})?|\.[0-9]{1,20}")

MOST_RESAMPLES: Final = 1_000_000
"""Resamples of a check among many; a level that needs more is used up."""

ROUNDING: Final = Decimal("1e-12")
"""Scores that lie nearer to a limit than this are on it: they are sums of rounded numbers."""


class Limit(Record):
    """A measure by name or pattern, and a number of at least 0."""

    measure: str
    value: Decimal


def read_limit(option: str, text: str) -> Limit:
    """`MEASURE=NUMBER`. Raises UsageError for anything else."""
    measure, equals, number = text.rpartition("=")
    if not (measure and equals and _NUMBER.fullmatch(number)):
        raise UsageError(f"{option} takes MEASURE=NUMBER, such as {option} SF-AP=0.4, not {text}")
    value = Decimal(number)
    if value > 1:
        meant = f": did you mean {value / 100:.2f}?" if value <= 100 else ""
        raise UsageError(f"{option} {text}: scores lie between 0 and 1{meant}")
    return Limit(measure.strip(), value)


def limits_by_measure(limits: Sequence[Limit], known: Sequence[str]) -> dict[str, Decimal]:
    """The limit of each measure, in the order of `known`; of several the last. Raises UsageError for one unknown."""
    found: dict[str, Decimal] = {}
    for limit in limits:
        found |= dict.fromkeys(chosen(known, [limit.measure]), limit.value)
    return {measure: found[measure] for measure in known if measure in found}


class Measured(Record):
    """The scores of one run by measure, what they were computed from, and the statistics of its units where known.

    `name` is what messages call it: a run id, or the file of a baseline.
    """

    name: str
    origin: Origin
    scores: Mapping[str, float]
    units: Units | None


def of_cold_start(result: ColdStartResult) -> Measured:
    """The one run of a result. Raises InputError for another number of runs."""
    if len(result.runs) != 1:
        names = ", ".join(run.run_id for run in result.runs)
        raise InputError(
            f"{len(result.runs)} runs ({names or 'none'}) where one is checked", remedy="choose it with --run ID"
        )
    (run,) = result.runs
    table = unit_table(run, run.measures)
    return Measured(
        run.run_id, result.origin, run.scores, Units(table.ids, table.columns, table.rows, unit_name(result))
    )


def of_evidence(result: EvidenceResult) -> Measured:
    """The result of an evidence mode."""
    table, task = result.table, result.origin.task
    return Measured(task, result.origin, result.scores, Units(table.ids, table.columns, table.rows, result.mode.unit))


def of_record(path: str, run_id: str) -> Measured:
    """What an earlier call has recorded; of several runs the one called so. Raises InputError for anything else."""
    scores = read_scores(path)
    if not isinstance(scores, ColdStartScores):
        return Measured(path, scores.origin, scores.scores, scores.units or None)
    found = scores.runs if len(scores.runs) == 1 else [run for run in scores.runs if run.run_id == run_id]
    if len(found) != 1:
        raise InputError(f"has {len(found)} runs {run_id} among {len(scores.runs)}", file=path, place="runs")
    return Measured(path, scores.origin, found[0].scores, found[0].units or None)


def checks_in(path: str, run: Measured, alpha: float) -> Checks:
    """The earlier checks that a file holds; none of the run's test set where there is no such file.

    Raises InputError for a file that holds something else.
    """
    if os.path.lexists(path):
        return record_in(read_document(path, stdin_as_dash=False), Checks, path)
    return Checks(task=run.origin.task, gold=run.origin.signature.gold, alpha=alpha)


class Check(Record):
    """One limit and what became of it.

    `name` is what is asked, `message` what was found. `difference` is run minus baseline and `drop` its opposite, None
    where nothing is compared; `p` is the two-sided p-value of the difference, None where it was not tested. Of repeated
    checks `number` is which one this is, `level` its own, `low` and `high` are limits of the difference at that level.
    """

    name: str
    kind: Literal["min", "max-drop"]
    measure: str
    limit: float
    score: float
    baseline: float | None
    difference: float | None
    drop: float | None
    p: float | None
    passed: bool
    message: str
    number: int | UnsetType = UNSET
    level: float | UnsetType = UNSET
    low: float | UnsetType = UNSET
    high: float | UnsetType = UNSET


class Baseline(Record):
    """What a run was held against: the file, and the signature of its scores."""

    file: str
    signature: str


class Checked(Document, frozen=True, kw_only=True, tag="check"):
    """All limits of a run, those of a kind in the order of its measures, and what a reader must know of them."""

    schema_version: Literal[2] = 2
    signature: str
    origin: Origin
    passed: bool
    checks: tuple[Check, ...]
    notes: tuple[Note, ...] = ()
    baseline: Baseline | None = None


NOTHING_TO_CHECK: Final = "nothing to hold the scores against: give --min MEASURE=NUMBER, or --baseline FILE"


class Gate(Record):
    """What is asked of a run: least scores, how far measures may drop below a baseline, and how a drop is tested.

    Without any limit no measure that people are shown first may drop. With `significance` a drop counts only where the
    paired test calls it significant at the level of these settings, or, where `earlier` checks are known, at the level
    that is left after these.
    """

    minima: Sequence[Limit] = ()
    drops: Sequence[Limit] = ()
    significance: Resampling | None = None
    any_baseline: bool = False
    earlier: Checks | None = None

    def judge(self, run: Measured, baseline: Measured | None) -> Checked:
        """Hold a run against the limits.

        Raises UsageError for a limit of a measure that the run does not have, and where nothing is asked; InputError
        for a baseline that cannot be compared.
        """
        known = list(run.scores)
        minima, drops = limits_by_measure(self.minima, known), limits_by_measure(self.drops, known)
        checks = [_minimum(run, *each) for each in minima.items()]
        if baseline is None:
            if drops or not minima:
                raise UsageError(NOTHING_TO_CHECK)
            return _checked(run, None, checks, ())
        if not self.any_baseline:
            check_comparable(run, baseline)
        if not drops and not minima:
            drops = {measure: Decimal(0) for measure in headline(run.origin.task) if measure in run.scores}
        for measure in drops:
            if measure not in baseline.scores:
                raise InputError(f"it has no {measure}", file=baseline.name)
        levels = self._levels(list(drops), run, baseline)
        pairs, notes = self._tested(list(drops), run, baseline, levels)
        checks += [
            self._drop(run, baseline, measure, limit, pairs.get(measure), levels.get(measure), len(pairs))
            for measure, limit in drops.items()
        ]
        return _checked(run, baseline, checks, notes)

    def _levels(self, measures: Sequence[str], run: Measured, baseline: Measured) -> dict[str, tuple[int, float]]:
        """The number and level of each of repeated checks. Raises InputError where earlier ones do not go with them."""
        earlier, levels = self.earlier, dict[str, tuple[int, float]]()
        if earlier is None or self.significance is None:
            return levels
        ours, theirs = run.origin.signature, baseline.origin.signature
        if (earlier.task, earlier.gold) != (run.origin.task, ours.gold):
            raise InputError(
                f"the earlier checks are of another test set ({earlier.task}, gold:{earlier.gold}; now "
                f"{run.origin.task}, gold:{ours.gold})",
                remedy="name another file of checks",
            )
        if earlier.alpha != self.significance.level:
            raise InputError(
                f"the earlier checks share a level of {earlier.alpha:g}, not {self.significance.level:g}",
                remedy="give their --confidence, or name another file of checks",
            )
        for measure in measures:  # those before it, of this call too, have used up theirs
            levels[measure] = earlier.next(str(ours.run), str(theirs.run), measure)
            earlier = earlier.after(str(ours.run), str(theirs.run), measure, 1.0)
        return levels

    def after(self, checked: Checked, run: Measured, baseline: Measured) -> Checks | None:
        """The checks so far and those just made; None where no file of them is kept."""
        earlier, names = self.earlier, (str(run.origin.signature.run), str(baseline.origin.signature.run))
        for check in checked.checks if earlier is not None else ():
            if check.p is not None and earlier is not None:
                earlier = earlier.after(*names, check.measure, check.p)
        return earlier

    def _drop(
        self, run: Measured, baseline: Measured, measure: str, limit: Decimal, pair: PairedSystems | None,
        numbered: tuple[int, float] | None, tests: int,
    ) -> Check:  # fmt: skip
        score, before = run.scores[measure], baseline.scores[measure]
        drop, p = _exact(before) - _exact(score), None if pair is None else pair.p
        is_beyond = drop > limit + ROUNDING
        number, level = numbered or (UNSET, UNSET if self.significance is None else self.significance.level)
        excused = is_beyond and p is not None and level is not UNSET and p > level
        distance = f"{_shown(abs(drop), limit)} {'below' if drop > 0 else 'above'}" if drop else "equal to"
        message = f"{measure} is {score:.4f}, {distance} the baseline's {before:.4f}"
        if p is not None:
            spent = (
                f", check {number} at level {level:.2g}" if number else f", one of {tests} tests" if tests > 1 else ""
            )
            message += f" (p = {p:.4f}{spent}{', not significant' if excused else ''})"
        reach = math.nan
        if number and level and pair is not None and pair.standard_deviation is not None and run.units is not None:
            units = len(run.units.ids)
            reach = t_limit(level / 2, units - 1) * pair.standard_deviation / math.sqrt(units)
        return Check(
            name=f"{measure} at most {limit} below the baseline",
            kind="max-drop",
            measure=measure,
            limit=float(limit),
            score=score,
            baseline=before,
            difference=float(-drop),
            drop=float(drop),
            p=p,
            passed=not is_beyond or excused,
            message=f"{message}; at most {limit} below is allowed",
            number=number,
            level=level if number else UNSET,
            low=UNSET if math.isnan(reach) else float(-drop) - reach,
            high=UNSET if math.isnan(reach) else float(-drop) + reach,
        )

    def _tested(
        self, measures: Sequence[str], run: Measured, baseline: Measured, levels: Mapping[str, tuple[int, float]]
    ) -> tuple[Mapping[str, PairedSystems], tuple[Note, ...]]:
        """The difference by each measure with its p-value, and notes on the test; none where nothing is tested.

        There are as many resamples as the strictest of the levels needs, up to a million.
        """
        if self.significance is None or not measures:
            return {}, ()
        tables, formula = comparable_tables(measures, run, baseline)
        settings = replace(self.significance, unit="" if run.units is None else run.units.unit)
        strictest = min((level for _, level in levels.values()), default=1.0)
        needed = min(math.ceil(1 / strictest), MOST_RESAMPLES)
        settings = replace(settings, resamples=max(settings.resamples, needed))
        try:
            compared = compare_tables(tables, measures, ColumnFormula(formula), settings)
        except InputError as error:
            raise InputError(f"no drop can be tested: {error.problem}", file=baseline.name) from None
        notes = compared.notes
        smallest = compared.measures[0].family.smallest_p(compared.units)
        if smallest > strictest:
            text = (
                f"check {max(number for number, _ in levels.values())} against this test set has a level of "
                f"{strictest:.2g} left, below the smallest possible p of {smallest:.2g}: no drop can count"
            )
            notes = (*notes, Note("LEVEL_USED_UP", text))
        return {each.measure: each.pairs[0] for each in compared.measures}, notes


def _minimum(run: Measured, measure: str, limit: Decimal) -> Check:
    score = run.scores[measure]
    return Check(
        name=f"{measure} at least {limit}",
        kind="min",
        measure=measure,
        limit=float(limit),
        score=score,
        baseline=None,
        difference=None,
        drop=None,
        p=None,
        passed=_exact(score) >= limit - ROUNDING,
        message=f"{measure} is {_shown(score, limit)}; at least {limit} is asked",
    )


def _checked(run: Measured, baseline: Measured | None, checks: Sequence[Check], notes: tuple[Note, ...]) -> Checked:
    """The document; it is about the measure that was checked where that is one."""
    names = {check.measure for check in checks}
    measure = names.pop() if len(names) == 1 else ANY_MEASURE
    origin = replace(run.origin, measure=measure)
    return Checked(
        task=origin.task,
        measure=measure,
        signature=str(origin.signature),
        origin=origin,
        passed=all(check.passed for check in checks),
        checks=tuple(checks),
        notes=notes,
        baseline=None if baseline is None else Baseline(baseline.name, str(baseline.origin.signature.of(measure))),
    )


def _exact(score: float) -> Decimal:
    """A score as it is printed in full precision."""
    return Decimal(repr(score))


def _shown(number: float | Decimal, limit: Decimal) -> str:
    """Four decimals, all of them where four would hide on which side of the limit a number lies."""
    short = f"{number:.4f}"
    hides = Decimal(short).compare(limit) != Decimal(number).compare(limit)
    return str(number) if hides else short


def comparable_tables(
    measures: Sequence[str], run: Measured, baseline: Measured
) -> tuple[dict[str, UnitTable], ColumnMeasures]:
    """The statistics of both that these measures are made of, and the formula that makes them.

    Raises InputError where the baseline has none.
    """
    if baseline.units is None or run.units is None:
        raise InputError(
            "it has no statistics of its units, by which a drop could be tested",
            file=baseline.name,
            remedy="make it anew with -o FILE.json, for runs score -o FOLDER, or leave out --significant",
        )
    formula: ColumnMeasures
    if run.origin.task != COLD_START_MODE:
        mode = cast(EvidenceTask, task_named(run.origin.task)).mode
        wanted = mode.columns
        formula = partial(scores_at, mode.formula, tuple(map(mode.measures.index, measures)))
    else:
        parsed = [parse(measure) for measure in measures]
        wanted, formula = sums_of(parsed), formula_of(parsed)
    tables = {"the run": run.units, "the baseline": baseline.units}
    return {name: _columns(table, wanted) for name, table in tables.items()}, formula


def _columns(table: UnitTable, columns: Sequence[str]) -> UnitTable:
    """These columns of a table; one that it lacks, of a hop that its run has not, is full of zeros."""
    places = {column: place for place, column in enumerate(table.columns)}
    at = [places.get(column) for column in columns]
    rows = [tuple(0.0 if place is None else row[place] for place in at) for row in table.rows]
    return UnitTable(table.ids, tuple(columns), rows)


def check_comparable(run: Measured, baseline: Measured) -> None:
    """Raises InputError where a baseline was computed from other gold or with other options."""
    ours, theirs = run.origin.signature, baseline.origin.signature
    problem = None
    if run.origin.task != baseline.origin.task:
        problem = f"it is of {baseline.origin.task}, the run of {run.origin.task}"
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


_TITLE: Final = "cs-score check"

# What XML 1.0 has no way to write; all else that is not seen is escaped as for a terminal.
_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

CHECKS: Final = Layout(
    "checks",
    "Limits",
    columns(*(name for name in Check.__struct_fields__ if name != "passed"), "passed"),
    lambda checked: ({**to_builtins(check), "passed": str(check.passed).lower()} for check in checked.checks),
)


def checked_text(checked: Checked) -> str:
    """A line for each limit, how many are kept, and the signatures."""
    found = [f"{'ok  ' if check.passed else 'FAIL'}  {check.message}" for check in checked.checks]
    lines = [part for text in (*found, *sentences(checked.notes)) for part in wrapped(one_line(text), " " * 6)]
    lines += [_summary(checked), "", f"signature  {checked.signature}"]
    if checked.baseline is not None:
        lines.append(f"baseline   {checked.baseline.signature}")
    return "".join(f"{one_line(line)}\n" for line in lines)


def checked_junit(checked: Checked) -> str:
    """JUnit XML: a suite with a test case for each limit."""
    properties = {"signature": checked.signature}
    if checked.baseline is not None:
        properties["baseline"] = checked.baseline.signature
    body = [" <properties>"]
    body += [f'  <property name="{name}" value="{_xml(value)}"/>' for name, value in properties.items()]
    body.append(" </properties>")
    for check in checked.checks:
        message = "" if check.passed else _xml(check.message)
        body += _case(check.name, message and f'failure type="{check.kind}" message="{message}">{message}</failure')
    return _suite(body, len(checked.checks), failures=sum(not check.passed for check in checked.checks))


def _case(name: str, element: str) -> list[str]:
    head = f' <testcase classname="{_TITLE}" name="{_xml(name)}"'
    return [f"{head}>", f"  <{element}>", " </testcase>"] if element else [f"{head}/>"]


def _suite(body: Sequence[str], tests: int, failures: int = 0, errors: int = 0) -> str:
    head = f'<testsuite name="{_TITLE}" tests="{tests}" failures="{failures}" errors="{errors}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *body, "</testsuite>", ""])


def checked_annotations(checked: Checked) -> str:
    """Workflow commands of GitHub: an error for each limit that is not kept, and a notice that sums up."""
    lines = [
        f"::error title={_of_message(check.name).replace(':', '%3A').replace(',', '%2C')}::{_of_message(check.message)}"
        for check in checked.checks
        if not check.passed
    ]
    summary = _of_message(f"{_summary(checked)} {checked.signature}")
    return "\n".join([*lines, f"::notice title={_TITLE}::{summary}", ""])


def error_text(format_: str, message: str) -> str:
    """Why nothing could be checked, in the format of that name; plain text has no place for it but standard error."""
    message = one_line(message)
    if format_ == "json":
        return json_text({"kind": "error", "error": message})
    if format_ == "junit":
        return _suite(
            _case("the inputs", f'error type="input" message="{_xml(message)}">{_xml(message)}</error'), 1, errors=1
        )
    return f"::error title={_TITLE}::{_of_message(message)}\n" if format_ == "github" else ""


def _summary(checked: Checked) -> str:
    number = len(checked.checks)
    return f"{sum(check.passed for check in checked.checks)} of {number} limit{'' if number == 1 else 's'} kept."


def _xml(text: str) -> str:
    """Text for an attribute or an element."""
    text = _NO_XML.sub("\ufffd", one_line(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _of_message(text: str) -> str:
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


WRITERS: Final[dict[str, Callable[[Checked], str]]] = {
    "text": checked_text,
    "json": json_text,
    "tsv": lambda checked: b"".join(tsv(CHECKS.table(checked))).decode(),
    "junit": checked_junit,
    "github": checked_annotations,
}
"""Format -> writer; every text ends with a line feed."""
