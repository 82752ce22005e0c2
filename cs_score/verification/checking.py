"""Whether a run keeps limits: least scores, and how far it may lie below an earlier result. For `cs-score check`."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.analysis.many.rankings import measured
from cs_score.base.display import one_line, wrapped
from cs_score.base.documents import Document, json_text, read_document, record_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.signature import ANY_MEASURE, Origin
from cs_score.coldstart.documents import Scores as ColdStartScores
from cs_score.coldstart.result import Result as ColdStartResult
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.evidence.mode import Result as EvidenceResult
from cs_score.measures.registry import chosen, headline
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling, sentences
from cs_score.statistics.planning import Checks, t_limit
from cs_score.statistics.units import Units, UnitTable, units_of
from cs_score.tables.layout import Layout, columns, tsv
from cs_score.verification.recorded import MOST_RESAMPLES, scores_in

_NUMBER: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{0,20})?|\.[0-9]{1,20}")

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


class Measured(Record):
    """The scores of one run by measure, what they were computed from, and the statistics of its units where known.
    `name` is what messages call it: a run id, or the file of a baseline. `undefined` has the measures that have no
    value for the run, with the reasons.
    """

    name: str
    origin: Origin
    scores: Mapping[str, float]
    units: Units | None
    undefined: Mapping[str, str] = {}


def of_result(result: ColdStartResult | EvidenceResult) -> Measured:
    """What was scored. Raises InputError for another number of runs than one."""
    if isinstance(result, ColdStartResult):
        if len(result.runs) != 1:
            names = ", ".join(run.run_id for run in result.runs)
            problem = f"{len(result.runs)} runs ({names or 'none'}) where one is checked"
            raise InputError(problem, remedy="choose it with --run ID")
        (run,) = result.runs
        table = unit_table(run, run.measures)
        units = Units(table.ids, table.columns, table.rows, unit_name(result))
        return Measured(run.run_id, result.origin, run.scores, units, run.undefined)
    table = result.table
    units = Units(table.ids, table.columns, table.rows, result.mode.unit)
    return Measured(result.origin.task, result.origin, result.scores, units)


def of_record(path: str, run_id: str) -> Measured:
    """What an earlier call has recorded; of several runs the one called so. Raises InputError for anything else."""
    scores = scores_in(read_document(path, stdin_as_dash=False), path)
    if not isinstance(scores, ColdStartScores):
        return Measured(path, scores.origin, scores.scores, scores.units or None)
    found = scores.runs if len(scores.runs) == 1 else [run for run in scores.runs if run.run_id == run_id]
    if len(found) != 1:
        raise InputError(f"has {len(found)} runs {run_id} among {len(scores.runs)}", file=path, place="runs")
    run = found[0]
    return Measured(path, scores.origin, run.scores, run.units or None, run.undefined or {})


def checks_in(path: str, run: Measured, alpha: float) -> Checks:
    """The earlier checks that a file holds; none of the run's test set where there is no such file. Raises InputError
    for a file that holds something else.
    """
    if os.path.lexists(path):
        return record_in(read_document(path, stdin_as_dash=False), Checks, path)
    return Checks(task=run.origin.task, gold=run.origin.signature.gold, alpha=alpha)


class Check(Record):
    """One limit and what became of it.

    `name` is what is asked, `message` what was found. `score` is None where the measure has no value for the run, which
    keeps no limit; `undefined` says why. `difference` is run minus baseline and `drop` its opposite, None
    where nothing is compared; `p` is the two-sided p-value of the difference, None where it was not tested. Of repeated
    checks `number` is which one this is, `level` its own, `low` and `high` are limits of the difference at that level.
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
    number: int | UnsetType = UNSET
    level: float | UnsetType = UNSET
    low: float | UnsetType = UNSET
    high: float | UnsetType = UNSET
    undefined: str | UnsetType = UNSET


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
        """Hold a run against the limits. Raises UsageError for a limit of a measure that the run does not have,
        InputError for a baseline that cannot be compared.
        """
        known = [*run.scores, *run.undefined]
        minima, drops = (
            {measure: limit.value for limit in limits for measure in chosen(known, [limit.measure])}
            for limits in (self.minima, self.drops)
        )
        notes: tuple[Note, ...] = ()
        checks = [_minimum(measure, run, minima[measure]) for measure in known if measure in minima]
        if baseline is not None:
            if not self.any_baseline:
                _check_comparable(run, baseline)
            order: Sequence[str] = known
            if not drops and not minima:
                order = headline(run.origin.task)
                # From a baseline that has no value itself nothing can have dropped.
                drops = {name: Decimal(0) for name in known if name not in baseline.undefined}
            drops = {measure: drops[measure] for measure in order if measure in drops}
            for measure in drops:
                if measure in baseline.scores or measure in run.undefined:
                    continue
                reason = baseline.undefined.get(measure)
                raise InputError(f"it has no {measure}{f': {reason}' if reason else ''}", file=baseline.name)
            tests, notes = self._tested([measure for measure in drops if measure in run.scores], run, baseline)
            checks += [_drop(measure, run, baseline, limit, tests.get(measure)) for measure, limit in drops.items()]
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

    def _tested(
        self, measures: Sequence[str], run: Measured, baseline: Measured
    ) -> tuple[dict[str, _Test], tuple[Note, ...]]:
        """The test of each measure's difference, and notes on all of them; none where nothing is tested.

        There are as many resamples as the strictest level of repeated checks needs, up to a million. Raises InputError
        where the baseline has no statistics of its units, or others, and for earlier checks of another kind.
        """
        settings = self.significance
        if settings is None or not measures:
            return {}, ()
        asked = self._asked(measures, run.origin, baseline.origin, settings.level)
        if baseline.units is None or run.units is None:
            raise InputError(
                "it has no statistics of its units, by which a drop could be tested",
                file=baseline.name,
                remedy="make it anew with -o FILE.json, for runs score -o FOLDER, or leave out --significant",
            )
        measure = measured(run.origin.task, measures)
        tables = {
            name: UnitTable(of.ids, measure.columns, measure.rows(of, units_of(of.ids)))
            for name, of in {"the run": run.units, "the baseline": baseline.units}.items()
        }
        strictest = min((level for number, level in asked.values() if number), default=1.0)
        resamples = max(settings.resamples, min(math.ceil(1 / strictest), MOST_RESAMPLES))
        drawn = replace(settings, unit=run.units.unit, resamples=resamples)
        try:
            compared = compare_tables(tables, measures, measure.formula, drawn)
        except InputError as error:
            raise InputError(f"no drop can be tested: {error.problem}", file=baseline.name) from None
        notes = compared.notes
        if (smallest := compared.measures[0].family.smallest_p(compared.units)) > strictest:
            text = (
                f"check {max(number for number, _ in asked.values())} against this test set has a level of "
                f"{strictest:.2g} left, below the smallest possible p of {smallest:.2g}: no drop can count"
            )
            notes = (*notes, Note("LEVEL_USED_UP", text))
        tests = {}
        for each in compared.measures:
            (number, level), (pair,), units = asked[each.measure], each.pairs, len(run.units.ids)
            among, reach = f", one of {len(asked)} tests" if len(asked) > 1 else "", math.nan
            if number:
                among = f", check {number} at level {level:.2g}"
            if number and pair.standard_deviation is not None:
                reach = t_limit(level / 2, units - 1) * pair.standard_deviation / math.sqrt(units)
            tests[each.measure] = _Test(pair.p, level, among, number, reach)
        return tests, notes

    def _asked(
        self, measures: Sequence[str], run: Origin, baseline: Origin, level: float
    ) -> dict[str, tuple[int, float]]:
        """The number of each check and its level: 0 and the level given unless earlier checks are known. Raises
        InputError where these do not go with them.
        """
        earlier, gold = self.earlier, run.signature.gold
        if earlier is None:
            return dict.fromkeys(measures, (0, level))
        if (earlier.task, earlier.gold) != (run.task, gold):
            raise InputError(
                f"the earlier checks are of another test set ({earlier.task}, gold:{earlier.gold}; now "
                f"{run.task}, gold:{gold})",
                remedy="name another file of checks",
            )
        if earlier.alpha != level:
            raise InputError(
                f"the earlier checks share a level of {earlier.alpha:g}, not {level:g}",
                remedy="give their --confidence, or name another file of checks",
            )
        found = {}
        for measure in measures:  # those before it, of this call too, have used up theirs
            check = (str(run.signature.run), str(baseline.signature.run), measure)
            found[measure] = earlier.next(*check)
            earlier = earlier.after(*check, 1.0)
        return found

    def after(self, checked: Checked, run: Measured, baseline: Measured) -> Checks | None:
        """The checks so far and those just made; None where no file of them is kept."""
        earlier, names = self.earlier, (str(run.origin.signature.run), str(baseline.origin.signature.run))
        for check in checked.checks:
            if check.p is not None and earlier is not None:
                earlier = earlier.after(*names, check.measure, check.p)
        return earlier


class _Test(NamedTuple):
    """The p-value of a difference, the level it is held to, and among which tests. Of repeated checks `number` is which
    one this is, else 0; `reach` is how far the limits of the difference lie from it, nan where there are none.
    """

    p: float
    level: float
    among: str
    number: int
    reach: float


def _check_comparable(run: Measured, baseline: Measured) -> None:
    """Raises InputError where a baseline was computed from other gold or with other options."""
    ours, theirs = run.origin.signature, baseline.origin.signature
    if run.origin.task != baseline.origin.task:
        problem = f"it is of {baseline.origin.task}, the run of {run.origin.task}"
    elif ours.gold != theirs.gold:
        problem = f"it was scored against other gold (gold:{theirs.gold}, now gold:{ours.gold})"
    elif ours.settings != theirs.settings:
        before, now = (str(each).partition("|")[2].partition("|gold:")[0] for each in (theirs, ours))
        problem = f"it was scored with other options ({before}, now {now})"
    else:
        return
    raise InputError(problem, file=baseline.name, remedy="make a new one, or take it all the same with --any-baseline")


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
    return f"{measure} at least {limit}"


def _name_of_drop(measure: str, limit: Decimal) -> str:
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
    """Return the check of how far a score lies below that of the baseline."""
    if measure in run.undefined:
        return _without_value("max-drop", measure, limit, run.undefined[measure])
    score, before = run.scores[measure], baseline.scores[measure]
    drop = _exact(before) - _exact(score)
    is_beyond = drop > limit + ROUNDING
    is_excused = is_beyond and test is not None and test.p > test.level
    distance = f"{_shown(abs(drop), limit)} {'below' if drop > 0 else 'above'}" if drop else "equal to"
    message = f"{measure} is {score:.4f}, {distance} the baseline's {before:.4f}"
    if test is not None:
        message += f" (p = {test.p:.4f}{test.among}{', not significant' if is_excused else ''})"
    p, passed, difference = None if test is None else test.p, not is_beyond or is_excused, float(-drop)
    check = Check(
        _name_of_drop(measure, limit), "max-drop", measure, float(limit), score, before, difference,
        float(drop), p, passed, f"{message}; at most {limit} below is allowed",
    )  # fmt: skip
    if test is not None and test.number:
        check = replace(check, number=test.number, level=test.level)
        if not math.isnan(test.reach):
            check = replace(check, low=difference - test.reach, high=difference + test.reach)
    return check


def _exact(score: float) -> Decimal:
    """A score as it is printed in full precision."""
    return Decimal(repr(score))


def _shown(number: float | Decimal, limit: Decimal) -> str:
    """Four decimals, all of them where four would hide on which side of the limit a number lies."""
    short = f"{number:.4f}"
    hides = Decimal(short).compare(limit) != Decimal(number).compare(limit)
    return str(number) if hides else short


# ---- Formats

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
