"""Whether a run keeps limits: least scores, and how far it may lie below an earlier result. For `cs-score check`."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.signing.origin import ANY_MEASURE, Origin
from cs_score.base.signing.signature import Signature
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.evidence.result import scores_at
from cs_score.measures.registry import COLD_START_MODE, chosen, formula_of, headline, parse, sums_of
from cs_score.statistics.arithmetic import ColumnFormula
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling, sentences
from cs_score.statistics.units import UnitTable
from cs_score.verification.recorded import Kind, Units, evidence_scores, origin_of, read_recorded

if TYPE_CHECKING:
    from cs_score.coldstart.result import Result as ColdStartResult
    from cs_score.evidence.result import Result as EvidenceResult
    from cs_score.statistics.arithmetic import ColumnMeasures

_NUMBER: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{0,20})?|\.[0-9]{1,20}")

ROUNDING: Final = Decimal("1e-12")
"""Scores that lie nearer to a limit than this are on it: they are sums of rounded numbers."""


class Limit(Record):
    """A measure by name or pattern, and a number of at least 0."""

    measure: str
    value: Decimal

    def of(self, known: Sequence[str]) -> dict[str, Decimal]:
        """The limit of each measure that it is about. Raises UsageError where there is none."""
        return dict.fromkeys(chosen(known, [self.measure]), self.value)


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
    """The limit of each measure, in the order of `known`; of several the last. Raises UsageError as `Limit.of`."""
    found: dict[str, Decimal] = {}
    for limit in limits:
        found |= limit.of(known)
    return {measure: found[measure] for measure in known if measure in found}


def exact(score: float) -> Decimal:
    """A score as it is printed in full precision."""
    return Decimal(repr(score))


class Measured(Record):
    """The scores of one run by measure, what they were computed from, and the statistics of its units where known.

    `name` is what messages call it: a run id, or the file of a baseline. `unit` is what a row of `units` is about.
    """

    name: str
    origin: Origin
    scores: Mapping[str, float]
    unit: str
    units: UnitTable | None

    @property
    def headline(self) -> list[str]:
        """The measures that people are shown first."""
        return [measure for measure in headline(self.origin.task) if measure in self.scores]


def of_cold_start(result: ColdStartResult) -> Measured:
    """The one run of a result. Raises InputError for another number of runs."""
    if len(result.runs) != 1:
        names = ", ".join(run.run_id for run in result.runs)
        raise InputError(
            f"{len(result.runs)} runs ({names or 'none'}) where one is checked", remedy="choose it with -runids"
        )
    (run,) = result.runs
    return Measured(run.run_id, result.origin, run.scores, unit_name(result), unit_table(run, run.measures))


def of_evidence(result: EvidenceResult) -> Measured:
    """The result of an evidence mode."""
    return Measured(result.origin.task, result.origin, result.scores, result.mode.unit, result.table)


class _Run(Record):
    run_id: str
    scores: dict[str, float]
    units: Units | None = None


def of_record(path: str, run_id: str) -> Measured:
    """What `--json FILE` has recorded; of several runs the one called so. Raises InputError for anything else."""
    recorded = read_recorded(path)
    if recorded.kind not in (Kind.COLD_START, Kind.EVIDENCE):
        raise InputError(
            f"{recorded.kind.value}, which is no baseline", file=path, remedy="a baseline is what --json FILE wrote"
        )
    origin = origin_of(recorded.value.get("signature"), path, "signature")
    if (origin.task == COLD_START_MODE) != (recorded.kind is Kind.COLD_START):
        raise InputError(f"is {origin.task}", file=path, place="signature.mode")
    if recorded.kind is Kind.EVIDENCE:
        has_units = recorded.value["signature"].get("units") is not None
        units = recorded.read(Units, "signature", "units") if has_units else None
        scores: Mapping[str, float] = evidence_scores(recorded.value, origin.task, path)
    else:
        runs = recorded.read(list[_Run], "runs")
        found = runs if len(runs) == 1 else [run for run in runs if run.run_id == run_id]
        if len(found) != 1:
            raise InputError(f"has {len(found)} runs {run_id} among {len(runs)}", file=path, place="runs")
        units, scores = found[0].units, found[0].scores
    table = None if units is None else units.table(path, "units")
    return Measured(path, origin, scores, "" if units is None else units.unit, table)


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
            remedy="make it anew with --json FILE, or leave out --significant",
        )
    mode = run.origin.task
    tables = {"the run": run.units, "the baseline": baseline.units}
    if mode != COLD_START_MODE:
        described = importlib.import_module(f"cs_score.evidence.{mode}").MODE
        formula = partial(scores_at, described.formula, tuple(map(described.measures.index, measures)))
        return {name: _columns(table, described.columns) for name, table in tables.items()}, formula
    wanted = [parse(measure) for measure in measures]
    return {name: _columns(table, sums_of(wanted)) for name, table in tables.items()}, formula_of(wanted)


def _columns(table: UnitTable, columns: Sequence[str]) -> UnitTable:
    """These columns of a table; one that it lacks, of a hop that its run has not, is full of zeros."""
    places = {column: place for place, column in enumerate(table.columns)}
    at = [places.get(column) for column in columns]
    rows = [tuple(0.0 if place is None else row[place] for place in at) for row in table.rows]
    return UnitTable(table.ids, tuple(columns), rows)


class Asked(StrEnum):
    """What is asked of a score."""

    MIN = "min"
    MAX_DROP = "max-drop"


class Check(Record):
    """One limit and what became of it.

    `baseline` and `drop` are None where nothing is compared; `p` is the two-sided p-value of the difference, None where
    it was not tested.
    """

    kind: Asked
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
        if self.kind is Asked.MIN:
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
        return Check(Asked.MAX_DROP, measure, limit, score, before, drop, p, passed)

    def _tested(
        self, measures: Sequence[str], run: Measured, baseline: Measured
    ) -> tuple[Mapping[str, float], tuple[Note, ...]]:
        """The p-value of each measure's difference, and notes on the test; none where nothing is tested."""
        if self.significance is None or not measures:
            return {}, ()
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
    return Check(Asked.MIN, measure, limit, score, None, None, None, exact(score) >= limit - ROUNDING)


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


# ---- Formats

SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""

_TITLE: Final = "cs-score check"

# What XML 1.0 has no way to write; all else that is not seen is escaped as for a terminal.
_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def judgement_text(judgement: Judgement) -> str:
    """A line for each limit, how many are kept, and the signatures."""
    lines = [f"{'ok  ' if check.passed else 'FAIL'}  {check.message}" for check in judgement.checks]
    lines += [*sentences(judgement.notes), _summary(judgement), ""]
    lines += [f"signature  {judgement.origin_of(judgement.run).signature}"]
    if judgement.baseline is not None:
        lines.append(f"baseline   {judgement.origin_of(judgement.baseline).signature}")
    return "".join(f"{one_line(line)}\n" for line in lines)


def judgement_json(judgement: Judgement) -> str:
    """A JSON object."""
    baseline = judgement.baseline
    compared = None if baseline is None else str(judgement.origin_of(baseline).signature)
    told = {
        "schema_version": SCHEMA_VERSION,
        "passed": judgement.passed,
        "checks": [_check(check) for check in judgement.checks],
        "notes": list(to_builtins(judgement.notes)),
        "signature": judgement.origin_of(judgement.run).as_json(),
        "baseline": None if baseline is None else {"file": baseline.name, "line": compared},
    }
    return json.dumps(told, indent=1, allow_nan=False) + "\n"


def judgement_junit(judgement: Judgement) -> str:
    """JUnit XML: a suite with a test case for each limit."""
    cases = [_case(check) for check in judgement.checks]
    properties = [("signature", str(judgement.origin_of(judgement.run).signature))]
    if judgement.baseline is not None:
        properties.append(("baseline", str(judgement.origin_of(judgement.baseline).signature)))
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="{_TITLE}" tests="{len(cases)}" failures="{len(judgement.failed)}" errors="0">',
            " <properties>",
            *(f'  <property name="{name}" value="{_xml(value)}"/>' for name, value in properties),
            " </properties>",
            *cases,
            "</testsuite>",
            "",
        ]
    )


def _case(check: Check) -> str:
    head = f' <testcase classname="{_TITLE}" name="{_xml(check.name)}"'
    if check.passed:
        return f"{head}/>"
    message = _xml(check.message)
    return f'{head}>\n  <failure type="{check.kind}" message="{message}">{message}</failure>\n </testcase>'


def judgement_annotations(judgement: Judgement) -> str:
    """Workflow commands of GitHub: an error for each limit that is not kept, and a notice that sums up."""
    lines = [f"::error title={_of_property(check.name)}::{_of_message(check.message)}" for check in judgement.failed]
    line = f"{_summary(judgement)} {judgement.origin_of(judgement.run).signature}"
    return "\n".join([*lines, f"::notice title={_TITLE}::{_of_message(line)}", ""])


def error_text(format_: str, message: str) -> str:
    """Why nothing could be checked, in the format of that name; plain text has no place for it but standard error."""
    message = one_line(message)
    if format_ == "json":
        return json.dumps({"schema_version": SCHEMA_VERSION, "passed": False, "error": message}, indent=1) + "\n"
    if format_ == "junit":
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<testsuite name="{_TITLE}" tests="1" failures="0" errors="1">\n'
            f' <testcase classname="{_TITLE}" name="the inputs">\n'
            f'  <error type="input" message="{_xml(message)}">{_xml(message)}</error>\n </testcase>\n</testsuite>\n'
        )
    return f"::error title={_TITLE}::{_of_message(message)}\n" if format_ == "github" else ""


Writer = Callable[[Judgement], str]

WRITERS: Final[dict[str, Writer]] = {
    "text": judgement_text,
    "json": judgement_json,
    "junit": judgement_junit,
    "github": judgement_annotations,
}
"""Format -> writer; every text ends with a line feed."""


def _summary(judgement: Judgement) -> str:
    number = len(judgement.checks)
    return f"{number - len(judgement.failed)} of {number} limit{'' if number == 1 else 's'} kept."


def _check(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "kind": str(check.kind),
        "measure": check.measure,
        "limit": float(check.limit),
        "score": check.score,
        "baseline": check.baseline,
        "difference": None if check.drop is None else float(-check.drop),
        "drop": None if check.drop is None else float(check.drop),
        "p": check.p,
        "passed": check.passed,
        "message": check.message,
    }


def _xml(text: str) -> str:
    """Text for an attribute or an element."""
    text = _NO_XML.sub("\ufffd", one_line(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _of_message(text: str) -> str:
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _of_property(text: str) -> str:
    return _of_message(text).replace(":", "%3A").replace(",", "%2C")
