"""The limits that a run has to keep, for `cs-score check`: least scores, and how far it may be below a baseline."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.analysis.many.rankings import measure_formula
from cs_score.base.display import one_line, wrap_lines
from cs_score.base.documents import Document, json_text, read_document, record_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.numbers import is_decimal_number
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.signature import ANY_MEASURE, Origin
from cs_score.coldstart.documents import Scores as ColdStartScores
from cs_score.coldstart.result import Result as ColdStartResult
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.evidence.mode import Result as EvidenceResult
from cs_score.measures.registry import (
    COLD_START_MODE,
    LDC_MEAN,
    chosen,
    headlines_among,
    substitute_remark,
    usual,
    usual_among,
)
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import FEW, Note, Resampling, note_sentences
from cs_score.statistics.planning import Aim, design_of
from cs_score.statistics.units import Units, UnitTable, units_of, with_noun
from cs_score.tables.layout import Layout, columns, tsv
from cs_score.verification.recorded import any_scores_in

ROUNDING: Final = Decimal("1e-12")
"""Scores that lie nearer to a limit than this are on it: they are sums of rounded numbers."""


class Limit(Record):
    """A measure by name or pattern, and a number of at least 0."""

    measure: str
    value: Decimal


def read_limit(option: str, text: str) -> Limit:
    """Return the limit that a text such as `SF-AP=0.4` gives. Raises UsageError, which names `option`."""
    measure, equals, number = text.rpartition("=")
    if not (measure and equals and is_decimal_number(number)):
        raise UsageError(f"{option} takes MEASURE=NUMBER, such as {option} SF-AP=0.4, not {text}")
    value = Decimal(number)
    if value > 1:
        suggestion = f": did you mean {value / 100:.2f}?" if value <= 100 else ""
        raise UsageError(f"{option} {text}: scores lie between 0 and 1{suggestion}")
    return Limit(measure.strip(), value)


class Measured(Record):
    """The scores of one run by measure, their origin, and the statistics of its units if these are known.

    Messages call it by `name`: a run id, or the file of a baseline. `undefined` has the measures that have no value for
    the run, with the reasons.
    """

    name: str
    origin: Origin
    scores: Mapping[str, float]
    units: Units | None
    undefined: Mapping[str, str] = {}


def of_result(result: ColdStartResult | EvidenceResult) -> Measured:
    """Return the scores of a result. Raises InputError if it does not have exactly one run."""
    if isinstance(result, ColdStartResult):
        if len(result.runs) != 1:
            run_ids = ", ".join([run.run_id for run in result.runs])
            problem = f"{len(result.runs)} runs ({run_ids or 'none'}) where one is checked"
            raise InputError(problem, remedy="choose it with --run ID")
        (run,) = result.runs
        table = unit_table(run, run.measures)
        units = Units(table.ids, table.columns, table.rows, unit_name(result))
        return Measured(run.run_id, result.origin, run.scores, units, run.undefined)
    table = result.table
    units = Units(table.ids, table.columns, table.rows, result.mode.unit)
    return Measured(result.origin.task, result.origin, result.scores, units)


def read_baseline(path: str, run_id: str) -> Measured:
    """Return the scores that an earlier call has stored; of several runs those of the run with this id.

    `path` is JSON of `score` or `check`, or a folder that `score -o` has made. Raises InputError for anything else.
    """
    file = os.path.join(path, _IN_FOLDER) if os.path.isdir(path) else path
    if file != path and not os.path.exists(file):
        raise InputError(f"a folder without {_IN_FOLDER}", file=path, remedy=_MAKE_BASELINE)
    value = read_document(file, stdin_as_dash=False)
    kind = value.get("kind")
    if kind == "check":
        return _of_check(record_in(value, Checked, file), file)
    if kind not in (None, "score"):
        raise InputError(f"kind {kind}, not the scores of a run", file=file, remedy=_MAKE_BASELINE)
    scores = any_scores_in(value, file)
    if not isinstance(scores, ColdStartScores):
        return Measured(file, scores.origin, scores.scores, scores.units or None)
    runs = list(scores.runs)
    if len(runs) > 1:
        runs = [run for run in runs if run.run_id == run_id]
    if len(runs) != 1:
        stored_ids = ", ".join([run.run_id for run in scores.runs])
        raise InputError(f"no run {run_id}: there are {stored_ids}", file=file, place="runs")
    run = runs[0]
    return Measured(file, scores.origin, run.scores, run.units or None, run.undefined or {})


def _of_check(checked: Checked, file: str) -> Measured:
    """Return the scores that an earlier check has held against limits; it stores no statistics of units."""
    scores = {check.measure: check.score for check in checked.checks if check.score is not None}
    return Measured(file, checked.origin, scores, None)


_IN_FOLDER: Final = "out.json"
"""The result in a folder that `score -o FOLDER` makes."""

_MAKE_BASELINE: Final = "make a baseline with cs-score score ... -o FOLDER, for a task of evidence with -o FILE.json"


class Check(Record):
    """One limit and what became of it.

    `name` is what is asked, `message` what was found. `score` is None where the measure has no value for the run, which
    keeps no limit; `undefined` says why. `difference` is run minus baseline and `drop` its opposite, None where nothing
    is compared; `p` is the two-sided p-value of the difference, None where it was not tested. Of a test `tests` is how
    many were made together, each uncorrected, and `detectable` the smallest drop that so many units show with a
    probability of 0.8, None where none is. A limit is `undecided` where the drop is beyond it, and it is kept only
    because the test does not call the drop significant.
    """

    name: str
    kind: Literal["min", "max-drop"]
    measure: str
    limit: float
    score: float | None
    baseline: float | None
    difference: float | None
    drop: float | None
    p: float | None
    passed: bool
    message: str
    tests: int | None = None
    detectable: float | None = None
    undecided: bool = False
    undefined: str | None = None


class Baseline(Record):
    """What a run was held against: the file, and the signature of its scores."""

    file: str
    signature: str


class Change(Record):
    """What is no longer as a lock has it: the gold, the policy, the limits; what was locked, and what there is now."""

    what: str
    locked: str
    now: str

    @property
    def message(self) -> str:
        """The change in a sentence without full stop."""
        return f"{self.what} changed since the lock: {self.locked} then, {self.now} now"


class LockState(Record):
    """The lock that a run was held against: its file, the SHA-256 of this, and what has changed since it was written.

    Where anything has changed the run was not scored, and there are no checks.
    """

    file: str
    sha256: str
    changes: tuple[Change, ...]


class Checked(Document, frozen=True, kw_only=True, tag="check"):
    """All limits of a run, those of a kind in the order of its measures, and what a reader must know of them."""

    schema_version: Literal[3] = 3
    signature: str
    origin: Origin
    passed: bool
    checks: tuple[Check, ...]
    notes: tuple[Note, ...] = ()
    baseline: Baseline | None = None
    lock: LockState | UnsetType = UNSET

    @property
    def changes(self) -> tuple[Change, ...]:
        """What has changed since the lock was written; nothing without a lock."""
        return self.lock.changes if self.lock else ()


NOTHING_TO_CHECK: Final = "nothing to hold the scores against: give --min MEASURE=NUMBER, or --baseline PATH"


class Gate(Record):
    """What is asked of a run: least scores, how far measures may drop below a baseline, and how a drop is tested.

    Without any limit the headline measure may not drop. With `significance` a drop counts only where the
    paired test calls it significant at the level of these settings.
    """

    minima: Sequence[Limit] = ()
    drops: Sequence[Limit] = ()
    significance: Resampling | None = None
    any_baseline: bool = False

    def judge(self, run: Measured, baseline: Measured | None) -> Checked:
        """Hold a run against the limits, and return a check of each.

        Raises UsageError for a limit of a measure that the run does not have, InputError for a baseline that cannot be
        compared.
        """
        measures = [*run.scores, *run.undefined]
        minimum_by_measure = _limit_by_measure(self.minima, measures)
        drop_by_measure = _limit_by_measure(self.drops, measures)
        checks = []
        for measure, minimum in minimum_by_measure.items():
            checks.append(_minimum(measure, run, minimum))
        notes: tuple[Note, ...] = ()
        if baseline is not None:
            if not self.any_baseline:
                _check_comparable(run, baseline)
            if not minimum_by_measure and not drop_by_measure:
                drop_by_measure = _no_drops(run, baseline)
            _check_drops(drop_by_measure, run, baseline)
            defined_measures = [measure for measure in drop_by_measure if measure in run.scores]
            tests, notes = self._tested(defined_measures, run, baseline)
            for measure, limit in drop_by_measure.items():
                checks.append(_drop(measure, run, baseline, limit, tests.get(measure)))
        checked_measures = {check.measure for check in checks}
        measure = checked_measures.pop() if len(checked_measures) == 1 else ANY_MEASURE
        origin = replace(run.origin, measure=measure)
        baseline_of_document = None
        if baseline is not None:
            baseline_of_document = Baseline(baseline.name, str(baseline.origin.signature.of(measure)))
        return Checked(
            task=origin.task,
            measure=measure,
            signature=str(origin.signature),
            origin=origin,
            passed=all(check.passed for check in checks),
            checks=tuple(checks),
            notes=notes,
            baseline=baseline_of_document,
        )

    def _tested(
        self, measures: Sequence[str], run: Measured, baseline: Measured
    ) -> tuple[dict[str, _Test], tuple[Note, ...]]:
        """Test the difference of each measure, and return the tests by measure and the notes on all of them.

        Both are empty where nothing is tested. Raises InputError where the baseline has no statistics of its units, or
        was scored on other units.
        """
        settings = self.significance
        if settings is None or not measures:
            return {}, ()
        if baseline.units is None or run.units is None:
            raise InputError(
                "it has no statistics of its units, by which a drop could be tested",
                file=baseline.name,
                remedy="make it anew with -o FILE.json, for runs score -o FOLDER, or leave out --significant",
            )
        formula = measure_formula(run.origin.task, measures)
        tables = {
            "the run": UnitTable(run.units.ids, formula.columns, formula.rows(run.units, units_of(run.units.ids))),
            "the baseline": UnitTable(
                baseline.units.ids, formula.columns, formula.rows(baseline.units, units_of(baseline.units.ids))
            ),
        }
        try:
            comparison = compare_tables(tables, measures, formula.formula, replace(settings, unit=run.units.unit))
        except InputError as error:
            raise InputError(f"no drop can be tested: {error.problem}", file=baseline.name) from None
        aim = Aim(alpha=settings.level)
        units = comparison.primary.family.clusters or comparison.units
        tests = {}
        for compared in comparison.measures:
            (pair,) = compared.pairs
            design = design_of(pair)
            tests[compared.measure] = _Test(
                p=pair.p,
                level=settings.level,
                tests=len(measures),
                units=with_noun(units, run.units.unit if units == comparison.units else "cluster"),
                detectable=None if design is None or units < 2 else design.detectable_difference(units, aim),
                has_differences=design is not None,
            )
        # No limits of scores are shown; that two runs are near-copies is no news in a check.
        notes = [note for note in comparison.notes if note.code not in ("FEW_UNITS", "NEAR_COPIES")]
        if units < FEW:
            notes.append(
                Note("FEW_UNITS", f"{with_noun(units)} only: on so few a drop has to be large to be significant")
            )
        return tests, (*notes, *_several_tests(len(measures), settings.level))


def _limit_by_measure(limits: Sequence[Limit], measures: Sequence[str]) -> dict[str, Decimal]:
    """Return the limit of each measure that a name or a pattern chooses, in the order of `measures`.

    Of several limits for a measure the last one holds. Raises UsageError for a name or a pattern that no measure has.
    """
    limit_by_measure = {}
    for limit in limits:
        for measure in chosen(measures, [limit.measure]):
            limit_by_measure[measure] = limit.value
    return {measure: limit_by_measure[measure] for measure in measures if measure in limit_by_measure}


def _no_drops(run: Measured, baseline: Measured) -> dict[str, Decimal]:
    """Return a limit of 0 for each measure that must not drop if no limit was given.

    Raises InputError if run and baseline have no measure in common.
    """
    measures = _measures_of_both(run, baseline)
    if not measures:
        raise InputError("it has no score of a measure of the run", file=baseline.name)
    return dict.fromkeys(measures, Decimal(0))


def _check_drops(drop_by_measure: Mapping[str, Decimal], run: Measured, baseline: Measured) -> None:
    """Raise InputError for a limit of a measure of which the run has a score and the baseline has none."""
    for measure in drop_by_measure:
        if measure not in baseline.scores and measure not in run.undefined:
            raise _missing_in_baseline(baseline, measure)


def headline_remark(run: Measured, baseline: Measured) -> str | None:
    """Return which measure stands in for average precision where nothing is asked for; None where nothing has to."""
    measure = usual_among(run.origin.task, baseline.scores)
    with_ldc = measure.table == LDC_MEAN
    if run.origin.task != COLD_START_MODE or measure == usual(with_ldc=with_ldc):
        return None
    for reason in baseline.undefined.values():
        return substitute_remark(with_ldc, f"{baseline.name}: {reason}")
    return substitute_remark(with_ldc, f"{baseline.name} has no average precision")


class _Test(NamedTuple):
    """The test of a difference: its two-sided p-value, the level that it is held to, and how many were made together.

    `units` are their number with their noun, `detectable` the smallest drop that they show with a probability of 0.8;
    None where they show none, or do not differ (`has_differences`).
    """

    p: float
    level: float
    tests: int
    units: str
    detectable: float | None
    has_differences: bool

    @property
    def reach(self) -> str:
        """What so many units can show."""
        if not self.has_differences:
            return f"the scores do not differ from unit to unit on {self.units}"
        if self.detectable is None:
            return f"no drop could be significant on {self.units}"
        return f"{self.units} show a drop of {self.detectable:.4f} with probability 0.8"


def _several_tests(tests: int, level: float) -> tuple[Note, ...]:
    """Return a note where several drops are tested; none otherwise."""
    if tests < 2:
        return ()
    text = (
        f"{tests} drops are tested, each by itself at the level of {level:g}: the more there are, the likelier is a "
        "false alarm"
    )
    return (Note("SEVERAL_TESTS", text),)


_MOST_NAMED: Final = 5
"""Measures of a baseline that a message names."""


def _missing_in_baseline(baseline: Measured, measure: str) -> InputError:
    """Return the error for a limit of a measure of which the baseline has no score."""
    if measure in baseline.undefined:
        return InputError(f"it has no {measure}: {baseline.undefined[measure]}", file=baseline.name)
    stored = ", ".join(list(baseline.scores)[:_MOST_NAMED]) or "no score"
    remedy = f"store it with score --measure {measure}, or make the baseline with score -o FOLDER"
    return InputError(f"it has no {measure}; it has {stored}", file=baseline.name, remedy=remedy)


def _measures_of_both(run: Measured, baseline: Measured) -> Sequence[str]:
    """Return the measures that must not drop where no limit was given.

    It is the headline measure, which the baseline decides: a run that has lost its average precision does not pass by
    another measure. A baseline of chosen scores may lack it: then they are the other measures that people are shown
    first, or else all measures, that both have. A measure that is undefined for the run alone is among them.
    """
    common_measures = [measure for measure in (*run.scores, *run.undefined) if measure in baseline.scores]
    return headlines_among([run.origin.task], common_measures, baseline.scores)


def _check_comparable(run: Measured, baseline: Measured) -> None:
    """Raise InputError if a baseline was computed from other gold or with other options than the run."""
    ours = run.origin.signature
    theirs = baseline.origin.signature
    if run.origin.task != baseline.origin.task:
        problem = f"it is of {baseline.origin.task}, the run of {run.origin.task}"
    elif ours.gold != theirs.gold:
        problem = f"it was scored against other gold (gold:{theirs.gold}, now gold:{ours.gold})"
    elif ours.settings != theirs.settings:
        problem = f"it was scored with other options ({_options_in(str(theirs))}, now {_options_in(str(ours))})"
    else:
        return
    raise InputError(problem, file=baseline.name, remedy="make a new one, or take it all the same with --any-baseline")


def _options_in(signature: str) -> str:
    """Return the part of a signature that says the options of scoring: between the measure and gold."""
    return signature.partition("|")[2].partition("|gold:")[0]


def _without_value(kind: Literal["min", "max-drop"], measure: str, limit: Decimal, reason: str) -> Check:
    """Return the check of a limit that cannot be kept: its measure has no value for the run."""
    name = _name_of_minimum(measure, limit) if kind == "min" else _name_of_drop(measure, limit)
    asked = f"at least {limit} is asked" if kind == "min" else f"at most {limit} below the baseline is allowed"
    return Check(
        name=name,
        kind=kind,
        measure=measure,
        limit=float(limit),
        score=None,
        baseline=None,
        difference=None,
        drop=None,
        p=None,
        passed=False,
        message=f"{measure} has no value ({reason}); {asked}",
        undefined=reason,
    )


def _name_of_minimum(measure: str, limit: Decimal) -> str:
    """Return the name of the check of a least score."""
    return f"{measure} at least {limit}"


def _name_of_drop(measure: str, limit: Decimal) -> str:
    """Return the name of the check of a drop."""
    return f"{measure} at most {limit} below the baseline"


def _minimum(measure: str, run: Measured, limit: Decimal) -> Check:
    """Return the check of a least score."""
    if measure in run.undefined:
        return _without_value("min", measure, limit, run.undefined[measure])
    score = run.scores[measure]
    passed = _exact(score) >= limit - ROUNDING
    message = f"{measure} is {_shown(score, limit)}; at least {limit} is asked"
    return Check(
        _name_of_minimum(measure, limit), "min", measure, float(limit), score, None, None, None, None, passed, message
    )


def _drop(measure: str, run: Measured, baseline: Measured, limit: Decimal, test: _Test | None) -> Check:
    """Return the check of a drop below the baseline; one that the test does not call significant is kept."""
    if measure in run.undefined:
        return _without_value("max-drop", measure, limit, run.undefined[measure])
    score = run.scores[measure]
    baseline_score = baseline.scores[measure]
    drop = _exact(baseline_score) - _exact(score)
    is_beyond = drop > limit + ROUNDING
    is_excused = is_beyond and test is not None and test.p > test.level
    distance = "equal to"
    if drop:
        distance = f"{_shown(abs(drop), limit)} {'below' if drop > 0 else 'above'}"
    message = f"{measure} is {score:.4f}, {distance} the baseline's {baseline_score:.4f}"
    if test is not None:
        among = f", one of {test.tests} uncorrected tests" if test.tests > 1 else ""
        verdict = ", not significant" if is_excused else ""
        message += f" (p = {test.p:.4f}{among}{verdict}; {test.reach})"
    return Check(
        name=_name_of_drop(measure, limit),
        kind="max-drop",
        measure=measure,
        limit=float(limit),
        score=score,
        baseline=baseline_score,
        difference=float(-drop),
        drop=float(drop),
        p=None if test is None else test.p,
        passed=not is_beyond or is_excused,
        message=f"{message}; at most {limit} below is allowed",
        tests=None if test is None else test.tests,
        detectable=None if test is None else test.detectable,
        undecided=is_excused,
    )


def _exact(score: float) -> Decimal:
    """Return a score as a decimal number, exactly as it is printed in full precision."""
    return Decimal(repr(score))


def _shown(number: float | Decimal, limit: Decimal) -> str:
    """Return a number with four decimals, or with all if four would put it on another side of the limit."""
    short = f"{number:.4f}"
    is_on_other_side = Decimal(short).compare(limit) != Decimal(number).compare(limit)
    return str(number) if is_on_other_side else short


# ---- Formats

_TITLE: Final = "cs-score check"

# What XML 1.0 has no way to write; all else that is not seen is escaped as for a terminal.
_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_FLAGS: Final = ("undecided", "passed")


def _row(check: Check) -> dict[str, object]:
    """Return the cells of a check."""
    cells: dict[str, object] = to_builtins(check)
    for name in _FLAGS:
        cells[name] = str(cells[name]).lower()
    return cells


def _rows(checked: Checked) -> list[dict[str, object]]:
    """Return the cells of all checks, and of what has changed since a lock was written."""
    rows = []
    for check in checked.checks:
        rows.append({**_row(check), "answered": checked.origin.answered})
    for change in checked.changes:
        rows.append({"name": change.what, "kind": "lock", "message": change.message, "passed": "false"})
    return rows


CHECKS: Final = Layout(
    "checks",
    "Limits",
    columns(*[name for name in Check.__struct_fields__ if name not in _FLAGS], *_FLAGS, "answered"),
    _rows,
)


def _label(check: Check) -> str:
    """Return the first word of the line of a check: a limit that is kept for lack of units alone is not simply ok."""
    if not check.passed:
        return "FAIL"
    return "ok? " if check.undecided else "ok  "


def checked_text(checked: Checked) -> str:
    """Return a line for each limit, how many are kept, and the signatures."""
    sentences = [f"{_label(check)}  {check.message}" for check in checked.checks]
    sentences += [f"FAIL  {change.message}" for change in checked.changes]
    sentences += note_sentences(checked.notes)
    lines: list[str] = []
    for sentence in sentences:
        lines += wrap_lines(one_line(sentence), " " * 6)
    if checked.origin.answered is not None:
        lines.append(f"scored on {checked.origin.answered}, those that were predicted")
    lines += [_summary(checked), "", f"signature  {checked.signature}"]
    if checked.baseline is not None:
        lines.append(f"baseline   {checked.baseline.signature}")
    if checked.lock:
        lines.append(f"lock       {checked.lock.file}, SHA-256 {checked.lock.sha256}")
    return "".join([f"{one_line(line)}\n" for line in lines])


def checked_junit(checked: Checked) -> str:
    """Return JUnit XML: a suite with a test case for each limit."""
    properties = {"signature": checked.signature}
    if checked.origin.answered is not None:
        properties["answered"] = checked.origin.answered
    if checked.baseline is not None:
        properties["baseline"] = checked.baseline.signature
    if checked.lock:
        properties["lock"] = f"{checked.lock.file}, SHA-256 {checked.lock.sha256}"
    body = [" <properties>"]
    body += [f'  <property name="{name}" value="{_xml(value)}"/>' for name, value in properties.items()]
    body.append(" </properties>")
    for check in checked.checks:
        message = _xml(check.message)
        element = ""
        if not check.passed:
            element = f'failure type="{check.kind}" message="{message}">{message}</failure'
        elif check.undecided:
            element = f"system-out>{message}</system-out"
        body += _case(check.name, element)
    for change in checked.changes:
        message = _xml(change.message)
        body += _case(f"lock: {change.what}", f'failure type="lock" message="{message}">{message}</failure')
    failures = sum(not check.passed for check in checked.checks) + len(checked.changes)
    return _suite(body, len(checked.checks) + len(checked.changes), failures=failures)


def _case(name: str, element: str) -> list[str]:
    """Return the lines of a test case in JUnit XML, with an element in it unless that is empty."""
    head = f' <testcase classname="{_TITLE}" name="{_xml(name)}"'
    return [f"{head}>", f"  <{element}>", " </testcase>"] if element else [f"{head}/>"]


def _suite(body: Sequence[str], tests: int, failures: int = 0, errors: int = 0) -> str:
    """Return a test suite in JUnit XML."""
    head = f'<testsuite name="{_TITLE}" tests="{tests}" failures="{failures}" errors="{errors}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *body, "</testsuite>", ""])


def checked_annotations(checked: Checked) -> str:
    """Return workflow commands of GitHub: an error for each limit that is not kept, and a notice that sums up.

    A limit that is kept for lack of units alone is a warning.
    """
    lines = []
    for check in checked.checks:
        if check.passed and not check.undecided:
            continue
        level = "warning" if check.passed else "error"
        title = _of_message(check.name).replace(":", "%3A").replace(",", "%2C")
        lines.append(f"::{level} title={title}::{_of_message(check.message)}")
    for change in checked.changes:
        lines.append(f"::error title=lock%3A {_of_message(change.what)}::{_of_message(change.message)}")
    summary = _of_message(f"{_summary(checked)} {checked.signature}")
    return "\n".join([*lines, f"::notice title={_TITLE}::{summary}", ""])


def error_text(format_: str, message: str) -> str:
    """Return why nothing could be checked in the format of a name; empty for text, which has it on standard error."""
    message = one_line(message)
    if format_ == "json":
        return json_text({"kind": "error", "error": message})
    if format_ == "junit":
        return _suite(
            _case("the inputs", f'error type="input" message="{_xml(message)}">{_xml(message)}</error'), 1, errors=1
        )
    return f"::error title={_TITLE}::{_of_message(message)}\n" if format_ == "github" else ""


def _summary(checked: Checked) -> str:
    """Return how many limits are kept, and how many of them only because the test shows nothing."""
    if checked.changes:
        return "The lock does not fit: the run was not scored, and no limit is kept."
    number = len(checked.checks)
    kept = sum(check.passed for check in checked.checks)
    undecided = sum(check.undecided for check in checked.checks)
    text = f"{kept} of {number} limit{'' if number == 1 else 's'} kept"
    if not undecided:
        return f"{text}."
    return f"{text}, {undecided} undecided: the drop is beyond the limit, and not significant."


def _xml(text: str) -> str:
    """Return a text for an attribute or an element of XML."""
    text = _NO_XML.sub("\ufffd", one_line(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _of_message(text: str) -> str:
    """Return a text for a workflow command of GitHub."""
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _checked_tsv(checked: Checked) -> str:
    """Return a row for each limit, separated by tabs."""
    return b"".join(tsv(CHECKS.table(checked))).decode()


WRITERS: Final[dict[str, Callable[[Checked], str]]] = {
    "text": checked_text,
    "json": json_text,
    "tsv": _checked_tsv,
    "junit": checked_junit,
    "github": checked_annotations,
}
"""The functions that write a check, by format; every text ends with a line feed."""
