"""Checks of a run against limits, for `cs-score check`: minimum scores, and maximum drops below a baseline. A limit
belongs to a measure. A drop is the score of the baseline, which is an earlier run, minus the score of the run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.analysis.rankings import MeasureFormula, measure_formula
from cs_score.analysis.recorded import read_scores
from cs_score.base.display import number_with_noun, one_line, wrap_lines
from cs_score.base.documents import Document, checked_record, json_text, read_document
from cs_score.base.errors import InputError, UsageError
from cs_score.base.numbers import is_decimal_number
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.signature import ANY_MEASURE, Origin
from cs_score.coldstart.result import Result
from cs_score.coldstart.score_documents import RunScoresDocument
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.evidence.mode import ScoredPredictions
from cs_score.measures import (
    COLD_START_MODE,
    LDC_MEAN,
    default_measure,
    default_measure_for_scores,
    headlines_among,
    select_names,
    substitute_remark,
)
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.planning import DetectionGoal, power_analysis_of
from cs_score.statistics.resampling_settings import FEWEST_RELIABLE_UNITS, Note, Resampling, note_sentences
from cs_score.statistics.results import PairedSystems, SystemComparison
from cs_score.statistics.units import Units, UnitTable, units_of
from cs_score.tables.layout import Layout, columns, tsv

ROUNDING: Final = Decimal("1e-12")
"""A score that is nearer to a limit than this counts as equal to it, since scores are sums of rounded numbers."""


class Limit(Record):
    """A measure by name or pattern, and a number of at least 0."""

    measure: str
    value: Decimal


def read_limit(option: str, text: str) -> Limit:
    """Return the limit that a text such as `SF-AP=0.4` means.

    Raises UsageError for a text of another form, and for a number above 1. The message names the `option` in which the
    user typed the text.
    """
    measure, _, number = text.rpartition("=")
    if not measure or not is_decimal_number(number):
        raise UsageError(f"{option} takes MEASURE=NUMBER, such as {option} SF-AP=0.4, not {text}")
    value = Decimal(number)
    if value > 100:
        raise UsageError(f"{option} {text}: scores lie between 0 and 1")
    if value > 1:  # the number may be a percentage
        raise UsageError(f"{option} {text}: scores lie between 0 and 1: did you mean {value / 100:.2f}?")
    return Limit(measure.strip(), value)


class MeasuredRun(Record):
    """The scores of a run or a baseline by measure, their origin, and the statistics of its units if these are known.

    `name` is used in messages: a run id, or the file of a baseline. `undefined` has the measures without a value for
    the run, with the reasons.
    """

    name: str
    origin: Origin
    scores: Mapping[str, float]
    units: Units | None
    undefined: Mapping[str, str] = {}


def measured_run_of_result(result: Result | ScoredPredictions) -> MeasuredRun:
    """Return the scores of the only run in a result. Raises InputError if there is no run or more than one."""
    if isinstance(result, Result):
        return _only_measured_run(result)
    table = result.table
    units = Units(table.ids, table.columns, table.rows, result.mode.unit)
    name = result.origin.task  # predictions have no run id
    return MeasuredRun(name=name, origin=result.origin, scores=result.scores, units=units)


def _only_measured_run(result: Result) -> MeasuredRun:
    """Return the scores of the only run of a Cold Start result. Raises InputError if it has no run or several."""
    if len(result.runs) != 1:
        run_ids = ", ".join([run.run_id for run in result.runs])
        problem = f"{len(result.runs)} runs ({run_ids or 'none'}) where one is checked"
        raise InputError(problem, remedy="choose it with --run ID")
    run = result.runs[0]
    table = unit_table(run, run.score_by_measure)  # the measures choose the statistics of the units
    units = Units(ids=table.ids, columns=table.columns, rows=table.rows, unit=unit_name(result))
    return MeasuredRun(name=run.run_id, origin=result.origin, scores=run.scores, units=units, undefined=run.undefined)


def read_baseline(path: str, run_id: str) -> MeasuredRun:
    """Return the scores stored by an earlier call. If it stored several runs, return the scores of the run `run_id`.

    `path` is a JSON file written by `score` or `check`, or a folder created by `score -o`. Raises InputError if it is
    anything else.
    """
    file = _file_of_baseline(path)
    document = read_document(file, dash_is_stdin=False)
    kind = document.get("kind")
    if kind == "check":
        return _measured_run_of_check(checked_record(document, Checked, file), file)
    # A file of an evidence task may have the whole document of scores under the key "signature", and no key "kind" at
    # the top level.
    if kind not in (None, "score"):
        raise InputError(f"kind {kind}, not the scores of a run", file=file, remedy=_MAKE_BASELINE)
    scores = read_scores(document, file)
    if isinstance(scores, RunScoresDocument):
        return _stored_measured_run(scores, run_id, file)
    return MeasuredRun(name=file, origin=scores.origin, scores=scores.scores, units=scores.units or None)


def _file_of_baseline(path: str) -> str:
    """Return the file with the scores of a baseline: the path itself, or a file in it if it is a folder.

    Raises InputError for a folder without this file.
    """
    if not os.path.isdir(path):
        return path
    file = os.path.join(path, _SCORES_FILE_NAME)
    if not os.path.exists(file):
        raise InputError(f"a folder without {_SCORES_FILE_NAME}", file=path, remedy=_MAKE_BASELINE)
    return file


def _stored_measured_run(scores: RunScoresDocument, run_id: str, file: str) -> MeasuredRun:
    """Return the scores of a run that are stored in `file`.

    If a single run is stored, it is the baseline whatever its id is. If several runs are stored, it is the run
    `run_id`; InputError is raised if it is not among them.
    """
    is_single_run = len(scores.runs) == 1
    possible_runs = [run for run in scores.runs if is_single_run or run.run_id == run_id]
    if len(possible_runs) != 1:
        stored_ids = ", ".join([run.run_id for run in scores.runs])
        raise InputError(f"no run {run_id}: there are {stored_ids}", file=file, place="runs")
    run = possible_runs[0]
    return MeasuredRun(
        name=file, origin=scores.origin, scores=run.scores, units=run.units or None, undefined=run.undefined or {}
    )


def _measured_run_of_check(checked_run: Checked, file: str) -> MeasuredRun:
    """Return the scores that an earlier check has stored in `file`.

    A check stores the scores of the measures with limits only, and no statistics of units.
    """
    score_by_measure = {check.measure: check.score for check in checked_run.checks if check.score is not None}
    return MeasuredRun(name=file, origin=checked_run.origin, scores=score_by_measure, units=None)


_SCORES_FILE_NAME: Final = "out.json"
"""The name of the result in a folder that `score -o FOLDER` has made."""

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


class LockChange(Record):
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
    changes: tuple[LockChange, ...]


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
    def changes_since_lock(self) -> tuple[LockChange, ...]:
        """The differences from the lock, such as other gold or other options. There are none without a lock."""
        return self.lock.changes if self.lock else ()


NOTHING_TO_CHECK: Final = "nothing to hold the scores against: give --min MEASURE=NUMBER, or --baseline PATH"


class Gate(Record):
    """The limits for a run: minimum scores, how far measures may drop below a baseline, and how a drop is tested.

    If there are no limits, the headline measure must not drop. `significance` holds the settings of a paired test; if
    it is given, a drop counts only if it is significant. If `allows_any_baseline` is true, the baseline may have been
    scored with other gold or other options.
    """

    minima: Sequence[Limit] = ()
    drops: Sequence[Limit] = ()
    significance: Resampling | None = None
    allows_any_baseline: bool = False

    def judge(self, run: MeasuredRun, baseline: MeasuredRun | None) -> Checked:
        """Check a run against its limits, and return a document with each check and whether the run has passed.

        `baseline` is required if there are limits for drops. If there are no limits at all, the headline measure must
        not drop below the baseline. Raises UsageError if a limit is set for a measure that the run does not have, and
        InputError if the baseline cannot be compared.
        """
        measures = [*run.scores, *run.undefined]
        minimum_by_measure = _limit_by_measure(self.minima, measures)
        largest_drop_by_measure = _limit_by_measure(self.drops, measures)
        checks = [_check_minimum(measure, run, minimum) for measure, minimum in minimum_by_measure.items()]
        if baseline is None:
            return _make_checked_run(run, baseline, checks, notes=())
        if not self.allows_any_baseline:
            _check_comparable(run, baseline)
        if not minimum_by_measure and not largest_drop_by_measure:
            largest_drop_by_measure = _default_drop_limits(run, baseline)
        drops = self._check_drops(largest_drop_by_measure, run, baseline)
        return _make_checked_run(run, baseline, [*checks, *drops.checks], drops.notes)

    def _check_drops(
        self, limit_by_measure: Mapping[str, Decimal], run: MeasuredRun, baseline: MeasuredRun
    ) -> _CheckedDrops:
        """Return the checks of the drops of measures below the baseline, and notes on the tests of these drops.

        Raises InputError if the baseline has no score by one of the measures, or if its drop cannot be tested.
        """
        _require_scores_of_baseline(limit_by_measure, run, baseline)
        defined_measures = [measure for measure in limit_by_measure if measure in run.scores]
        tests = self._test_differences(defined_measures, run, baseline)
        checks = []
        for measure, limit in limit_by_measure.items():
            test = tests.test_by_measure.get(measure)
            checks.append(_check_drop(measure, run, baseline, limit, test))
        return _CheckedDrops(checks, tests.notes)

    def _test_differences(self, measures: Sequence[str], run: MeasuredRun, baseline: MeasuredRun) -> _DropTests:
        """Test the difference between run and baseline under each measure, and return the tests by measure, and notes.

        Both are empty if the gate has no settings of a test (`significance`), or if there are no measures. Raises
        InputError if the baseline has no statistics of its units, or was scored on other units.
        """
        settings = self.significance
        if settings is None or not measures:
            return _DropTests({}, ())
        comparison = _compare_units(measures, run, baseline, settings)
        units = _tested_units(comparison)
        test_by_measure = {}
        for comparison_of_measure in comparison.measures:
            [pair] = comparison_of_measure.pairs  # the run and the baseline
            test_by_measure[comparison_of_measure.measure] = _test_of_pair(
                pair, len(measures), units, settings.significance_level
            )
        notes = _notes_on_tests(comparison, units.unit_count)
        notes += _notes_on_several_tests(len(measures), settings.significance_level)
        return _DropTests(test_by_measure, tuple(notes))


class _CheckedDrops(NamedTuple):
    """The checks of drops below a baseline, and notes on the tests of these drops."""

    checks: Sequence[Check]
    notes: tuple[Note, ...]


class _DropTests(NamedTuple):
    """The tests of differences between run and baseline by measure, and notes on them."""

    test_by_measure: Mapping[str, _Test]
    notes: tuple[Note, ...]


def _make_checked_run(
    run: MeasuredRun, baseline: MeasuredRun | None, checks: Sequence[Check], notes: tuple[Note, ...]
) -> Checked:
    """Return the document with all checks of a run, the origin of its scores, and whether it passed all checks.

    The document names the measure of the checks, unless the checks use different measures. `notes` holds notes on the
    tests of drops. `baseline` is None if there are no limits for drops.
    """
    measure = _measure_of_signature(checks)
    origin = replace(run.origin, measure=measure)
    return Checked(
        task=origin.task,
        measure=measure,
        signature=str(origin.signature),
        origin=origin,
        passed=all(check.passed for check in checks),
        checks=tuple(checks),
        notes=notes,
        baseline=_recorded_baseline(baseline, measure),
    )


def _recorded_baseline(baseline: MeasuredRun | None, measure: str) -> Baseline | None:
    """Return the record of a baseline in a checked run: its name, and the signature of its score under a measure.

    Return None without a baseline.
    """
    if baseline is None:
        return None
    signature = baseline.origin.signature.of(measure)
    return Baseline(baseline.name, str(signature))


def _measure_of_signature(checks: Sequence[Check]) -> str:
    """Return the measure in the signature of a checked run: `SF-AP` if all checks have this measure, otherwise `*`."""
    measures = {check.measure for check in checks}
    if len(measures) == 1:
        return checks[0].measure
    return ANY_MEASURE


# ---- Tests of drops


def _compare_units(
    measures: Sequence[str], run: MeasuredRun, baseline: MeasuredRun, settings: Resampling
) -> SystemComparison:
    """Return the comparison of a run with a baseline, unit by unit.

    Raises InputError if the baseline has no statistics of its units, or was scored on other units.
    """
    if baseline.units is None or run.units is None:
        raise InputError(
            "it has no statistics of its units, by which a drop could be tested",
            file=baseline.name,
            remedy="make it anew with -o FILE.json, for runs score -o FOLDER, or leave out --significant",
        )
    measures_as_formula = measure_formula(run.origin.task, measures)
    tables = {
        "the run": _table_for_formula(run.units, measures_as_formula),
        "the baseline": _table_for_formula(baseline.units, measures_as_formula),
    }
    settings_with_unit = replace(settings, unit=run.units.unit)
    try:
        return compare_tables(tables, measures, measures_as_formula.formula, settings_with_unit)
    except InputError as error:
        raise InputError(f"no drop can be tested: {error.problem}", file=baseline.name) from None


def _table_for_formula(units: Units, formula: MeasureFormula) -> UnitTable:
    """Return the statistics of units with only the columns that a formula needs, in its order."""
    rows = formula.rows(units, units_of(units.ids))
    return UnitTable(units.ids, formula.columns, rows)


class _TestedUnits(NamedTuple):
    """The number of units on which a drop is tested, and this number in words: `40 queries`."""

    unit_count: int
    text: str


def _tested_units(comparison: SystemComparison) -> _TestedUnits:
    """Return the number of units of a comparison. Units in the same cluster count as one."""
    unit_count = comparison.primary.family.clusters or comparison.units
    has_clusters = unit_count != comparison.units  # if each cluster has a single unit, the clusters are the units
    noun = "cluster" if has_clusters else comparison.resampling.unit
    return _TestedUnits(unit_count, number_with_noun(unit_count, noun))


def _test_of_pair(pair: PairedSystems, test_count: int, units: _TestedUnits, level: float) -> _Test:
    """Return the test of the difference between a run and its baseline (`pair`) under a measure.

    The result includes the smallest drop that the test detects with a probability of 80 % (the default power of
    `DetectionGoal`), or None if no drop is detected with this probability. `test_count` is the number of tests
    performed together, and `level` is the significance level of each.
    """
    power_analysis = power_analysis_of(pair)  # None if the difference is the same on every unit, for example 0
    has_differences = power_analysis is not None
    detectable_drop = None
    if power_analysis is not None and units.unit_count >= 2:
        detectable_drop = power_analysis.detectable_difference(units.unit_count, DetectionGoal(alpha=level))
    return _Test(
        p=pair.p,
        level=level,
        test_count=test_count,
        units_text=units.text,
        detectable_drop=detectable_drop,
        has_differences=has_differences,
    )


def _notes_on_tests(comparison: SystemComparison, unit_count: int) -> list[Note]:
    """Return the notes of a comparison that matter for the tests of drops, and a note if there are few units.

    The comparison's own note on few units is about intervals, which a check does not show. That two runs are nearly the
    same is expected here.
    """
    notes = [note for note in comparison.notes if note.code not in ("FEW_UNITS", "NEAR_COPIES")]
    if unit_count < FEWEST_RELIABLE_UNITS:
        text = f"{number_with_noun(unit_count, 'unit')} only: on so few a drop has to be large to be significant"
        notes.append(Note("FEW_UNITS", text))
    return notes


# ---- Limits and their checks


def _limit_by_measure(limits: Sequence[Limit], measures: Sequence[str]) -> dict[str, Decimal]:
    """Return the number that limits each measure, in the order of `measures`; measures without a limit are left out.

    A limit has the name of a measure, or a pattern for several measures: `*F1`. If a measure has several limits, the
    last one is used. Raises UsageError for a name or a pattern that fits none of the `measures`.
    """
    limit_by_measure = {}
    for limit in limits:
        for measure in select_names(measures, [limit.measure]):
            limit_by_measure[measure] = limit.value
    return {measure: limit_by_measure[measure] for measure in measures if measure in limit_by_measure}


def _default_drop_limits(run: MeasuredRun, baseline: MeasuredRun) -> dict[str, Decimal]:
    """Return the limits that are used if the user gave none: a drop of 0 for each of the most important measures.

    Raises InputError if run and baseline have no measure in common.
    """
    measures = _headline_measures_of_both(run, baseline)
    if not measures:
        raise InputError("it has no score of a measure of the run", file=baseline.name)
    return dict.fromkeys(measures, Decimal(0))


def _require_scores_of_baseline(
    largest_drop_by_measure: Mapping[str, Decimal], run: MeasuredRun, baseline: MeasuredRun
) -> None:
    """Raise InputError if a limit is for a measure that has a score in the run but not in the baseline."""
    for measure in largest_drop_by_measure:
        has_score_in_run = measure not in run.undefined
        if has_score_in_run and measure not in baseline.scores:
            raise _missing_in_baseline_error(baseline, measure)


def replaced_headline_remark(run: MeasuredRun, baseline: MeasuredRun) -> str | None:
    """Return a remark if `check` compares a measure other than average precision with the baseline.

    The remark names the other measure, and says why the baseline has no average precision. The result is None if
    average precision is checked, and always in evidence tasks.
    """
    # Average precision is the headline measure of Cold Start. Evidence tasks have other headline measures.
    if run.origin.task != COLD_START_MODE:
        return None
    measure = default_measure_for_scores(run.origin.task, baseline.scores)
    is_mean_over_ldc_queries = measure.table == LDC_MEAN
    average_precision_measure = default_measure(has_ldc_queries=is_mean_over_ldc_queries)
    if measure == average_precision_measure:
        return None
    reason = f"{baseline.name} has no average precision"
    reasons_by_measure = baseline.undefined  # why measures have no value
    if reasons_by_measure:
        first_reason = next(iter(reasons_by_measure.values()))
        reason = f"{baseline.name}: {first_reason}"
    return substitute_remark(is_mean_over_ldc_queries, reason)


class _Test(NamedTuple):
    """The test of a difference: its two-sided p-value, its level, and the number of tests that were made together.

    `units_text` is a text such as `"40 queries"`. `detectable_drop` is the smallest drop that can be detected with
    this number of units with a probability of 0.8. It is None if no drop can be detected, or if no unit differs between
    run and baseline (`has_differences`).
    """

    p: float
    level: float
    test_count: int
    units_text: str
    detectable_drop: float | None
    has_differences: bool

    @property
    def power_text(self) -> str:
        """A clause about the drop that the test can detect: `40 queries show a drop of 0.0312 with probability 0.8`."""
        if not self.has_differences:
            return f"the scores do not differ from unit to unit on {self.units_text}"
        if self.detectable_drop is None:
            return f"no drop could be significant on {self.units_text}"
        return f"{self.units_text} show a drop of {self.detectable_drop:.4f} with probability 0.8"


def _notes_on_several_tests(test_count: int, level: float) -> tuple[Note, ...]:
    """Return a note if several drops are tested without a correction of p-values; no note otherwise."""
    if test_count < 2:
        return ()
    text = (
        f"{test_count} drops are tested, each by itself at the level of {level:g}: the more there are, the likelier is "
        "a false alarm"
    )
    return (Note("SEVERAL_TESTS", text),)


_MOST_NAMED: Final = 5
"""How many measures of a baseline a message names."""


def _missing_in_baseline_error(baseline: MeasuredRun, measure: str) -> InputError:
    """Return the error for a limit of a measure that has no score in the baseline."""
    if measure in baseline.undefined:
        return InputError(f"it has no {measure}: {baseline.undefined[measure]}", file=baseline.name)
    stored_measures = list(baseline.scores)
    stored_text = ", ".join(stored_measures[:_MOST_NAMED]) or "no score"
    remedy = f"store it with score --measure {measure}, or make the baseline with score -o FOLDER"
    return InputError(f"it has no {measure}; it has {stored_text}", file=baseline.name, remedy=remedy)


def _headline_measures_of_both(run: MeasuredRun, baseline: MeasuredRun) -> Sequence[str]:
    """Return the most important measures of the run and baseline, which must not drop if the user gave no limits.

    These are the measures in the first of the following groups that both have:

    1. the headline measure of the baseline, even if it is undefined for the run;
    2. the measures that reports of the task show first, if the baseline stores only chosen measures;
    3. all measures of both.
    """
    measures_of_run = [*run.scores, *run.undefined]
    common_measures = [measure for measure in measures_of_run if measure in baseline.scores]
    return headlines_among([run.origin.task], common_measures, baseline.scores)


def _check_comparable(run: MeasuredRun, baseline: MeasuredRun) -> None:
    """Raise InputError if the baseline was computed for another task, from other gold or with other options."""
    problem = _difference_of_origins(run.origin, baseline.origin)
    if problem is not None:
        remedy = "make a new one, or take it all the same with --any-baseline"
        raise InputError(problem, file=baseline.name, remedy=remedy)


def _difference_of_origins(run: Origin, baseline: Origin) -> str | None:
    """Describe how the scoring of a baseline differs from that of a run. Return None if nothing differs.

    The description is about the baseline: `it was scored with other options (policy:sf, now policy:ldc)`.
    """
    run_signature = run.signature
    baseline_signature = baseline.signature
    if run.task != baseline.task:
        return f"it is of {baseline.task}, the run of {run.task}"
    if run_signature.gold != baseline_signature.gold:
        return f"it was scored against other gold (gold:{baseline_signature.gold}, now gold:{run_signature.gold})"
    if run_signature.settings != baseline_signature.settings:
        baseline_options = _options_in_signature(str(baseline_signature))
        run_options = _options_in_signature(str(run_signature))
        return f"it was scored with other options ({baseline_options}, now {run_options})"
    return None


def _options_in_signature(signature: str) -> str:
    """Return the part of a signature with the options of scoring.

    It is between the measure and the gold: `SF-AP|policy:sf|gold:1f0c5aae33d1|...` gives `policy:sf`.
    """
    _, _, after_measure = signature.partition("|")
    options, _, _ = after_measure.partition("|gold:")
    return options


def _check_without_score(kind: Literal["min", "max-drop"], measure: str, limit: Decimal, reason: str) -> Check:
    """Return the failed check of a limit whose measure has no value for the run; `reason` says why it has none."""
    if kind == "min":
        name = _name_of_minimum(measure, limit)
        requirement = f"at least {limit} is asked"
    else:
        name = _name_of_drop(measure, limit)
        requirement = f"at most {limit} below the baseline is allowed"
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
        message=f"{measure} has no value ({reason}); {requirement}",
        undefined=reason,
    )


def _name_of_minimum(measure: str, limit: Decimal) -> str:
    """Return the name of the check of a minimum score: `SF-AP at least 0.4`."""
    return f"{measure} at least {limit}"


def _name_of_drop(measure: str, limit: Decimal) -> str:
    """Return the name of the check of a drop: `SF-AP at most 0.01 below the baseline`."""
    return f"{measure} at most {limit} below the baseline"


def _check_minimum(measure: str, run: MeasuredRun, limit: Decimal) -> Check:
    """Return the check of a minimum score of a run under a measure."""
    if measure in run.undefined:
        return _check_without_score("min", measure, limit, run.undefined[measure])
    score = run.scores[measure]
    return Check(
        name=_name_of_minimum(measure, limit),
        kind="min",
        measure=measure,
        limit=float(limit),
        score=score,
        baseline=None,
        difference=None,
        drop=None,
        p=None,
        passed=_to_decimal(score) >= limit - ROUNDING,
        message=f"{measure} is {_number_text(score, limit)}; at least {limit} is asked",
    )


def _check_drop(measure: str, run: MeasuredRun, baseline: MeasuredRun, limit: Decimal, test: _Test | None) -> Check:
    """Return the check of a drop below the baseline under a measure.

    A drop beyond the limit passes as undecided if there is a `test` that does not call it significant.
    """
    if measure in run.undefined:
        return _check_without_score("max-drop", measure, limit, run.undefined[measure])
    drop = _Drop(score=run.scores[measure], baseline_score=baseline.scores[measure], limit=limit, test=test)
    run_minus_baseline = -drop.size
    return Check(
        name=_name_of_drop(measure, limit),
        kind="max-drop",
        measure=measure,
        limit=float(limit),
        score=drop.score,
        baseline=drop.baseline_score,
        difference=float(run_minus_baseline),
        drop=float(drop.size),
        p=None if test is None else test.p,
        passed=not drop.is_beyond_limit or drop.is_undecided,
        message=f"{measure} is {drop.in_words()}; at most {limit} below is allowed",
        tests=None if test is None else test.test_count,
        detectable=None if test is None else test.detectable_drop,
        undecided=drop.is_undecided,
    )


class _Drop(NamedTuple):
    """A score of a run and that of a baseline, the largest drop that is allowed, and the test of the drop or None."""

    score: float
    baseline_score: float
    limit: Decimal
    test: _Test | None

    @property
    def size(self) -> Decimal:
        """The score of the baseline minus that of the run: `Decimal("0.02")`. It is negative if the run is better."""
        return _to_decimal(self.baseline_score) - _to_decimal(self.score)

    @property
    def is_beyond_limit(self) -> bool:
        """Whether the drop is larger than the limit by more than rounding."""
        return self.size > self.limit + ROUNDING

    @property
    def is_undecided(self) -> bool:
        """Whether the drop is beyond the limit, but a test does not call it significant."""
        return self.is_beyond_limit and self.test is not None and self.test.p > self.test.level

    def in_words(self) -> str:
        """Return the score and its drop in words: `0.4000, 0.0200 below the baseline's 0.4200 (p = 0.0312; ...)`."""
        text = f"{self.score:.4f}, {self._position_text()} the baseline's {self.baseline_score:.4f}"
        if self.test is None:
            return text
        return f"{text} ({self._test_text(self.test)}; {self.test.power_text})"

    def _position_text(self) -> str:
        """Return where the score is: `0.0200 below` the baseline's, `0.0100 above` it, or `equal to` it."""
        if self.size > 0:
            return f"{_number_text(self.size, self.limit)} below"
        if self.size < 0:
            return f"{_number_text(-self.size, self.limit)} above"
        return "equal to"

    def _test_text(self, test: _Test) -> str:
        """Return the result of the test in words: `p = 0.0712, one of 3 uncorrected tests, not significant`."""
        text = f"p = {test.p:.4f}"
        if test.test_count > 1:
            text += f", one of {test.test_count} uncorrected tests"
        if self.is_undecided:  # the drop is beyond the limit but not significant
            text += ", not significant"
        return text


def _to_decimal(score: float) -> Decimal:
    """Return a score as a decimal number with the digits that Python prints: 0.1 -> `Decimal("0.1")`."""
    return Decimal(repr(score))


def _number_text(number: float | Decimal, limit: Decimal) -> str:
    """Return a number with four decimals, or with all its decimals if rounding would move it across the limit.

    With the limit 0.4, `0.39999` keeps its decimals, since `0.4000` would look as if the limit were kept.
    """
    rounded_text = f"{number:.4f}"
    rounded_position = Decimal(rounded_text).compare(limit)  # -1 below the limit, 0 equal to it, 1 above it
    exact_position = Decimal(number).compare(limit)
    if rounded_position != exact_position:
        return str(number)
    return rounded_text


# ---- Formats

_TITLE: Final = "cs-score check"

# Characters that XML 1.0 cannot hold; other invisible characters are escaped as for a terminal.
_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_FLAGS: Final = ("undecided", "passed")


def _cells_of_check(check: Check) -> dict[str, object]:
    """Return the cells of a check in the table of checks, by the key of the column. Flags become `true` or `false`."""
    cells: dict[str, object] = to_builtins(check)
    for name in _FLAGS:
        cells[name] = str(cells[name]).lower()
    return cells


def _rows_of_checks(checked_run: Checked) -> list[dict[str, object]]:
    """Return the rows of the table of checks: `{"name": "SF-AP at least 0.4", "kind": "min", ...}`.

    There is a row for each check of a limit. After them comes a row for each file or option that has changed since the
    lock was written. The cells of a row are given by the key of their column.
    """
    rows = []
    for check in checked_run.checks:
        cells = _cells_of_check(check)
        cells["answered"] = checked_run.origin.answered_count_text
        rows.append(cells)
    for change in checked_run.changes_since_lock:
        rows.append({"name": change.what, "kind": "lock", "message": change.message, "passed": "false"})
    return rows


def _keys_of_columns() -> list[str]:
    """Return the keys of the columns of the table of checks: the fields of a check, flags last, and `answered`."""
    keys = [name for name in Check.__struct_fields__ if name not in _FLAGS]
    keys += _FLAGS
    keys.append("answered")
    return keys


CHECKS: Final = Layout(name="checks", title="Limits", columns=columns(*_keys_of_columns()), rows=_rows_of_checks)


def _verdict_word(check: Check) -> str:
    """Return the first word of the line of a check, padded with spaces to four characters.

    The word is `FAIL` for a limit that is not kept, `ok?` for an undecided limit, `ok` for other limits.
    """
    if not check.passed:
        return "FAIL"
    if check.undecided:
        return "ok? "
    return "ok  "


def checked_text(checked_run: Checked) -> str:
    """Return a checked run as text, with a line for each limit, the number of limits kept, and the signatures."""
    lines: list[str] = []
    for sentence in _sentences_on_limits(checked_run):
        lines += wrap_lines(one_line(sentence), " " * 6)
    if checked_run.origin.answered_count_text is not None:
        lines.append(f"scored on {checked_run.origin.answered_count_text}, those that were predicted")
    lines.append(_summary_sentence(checked_run))
    lines.append("")
    lines += _identifying_lines(checked_run)
    return "".join([f"{one_line(line)}\n" for line in lines])


def _sentences_on_limits(checked_run: Checked) -> list[str]:
    """Return a sentence for each limit, for each change since the lock was written, and for each note."""
    sentences = [f"{_verdict_word(check)}  {check.message}" for check in checked_run.checks]
    sentences += [f"FAIL  {change.message}" for change in checked_run.changes_since_lock]
    return sentences + note_sentences(checked_run.notes)


def _identifying_lines(checked_run: Checked) -> list[str]:
    """Return the lines that identify the scores, the baseline and the lock of a checked run.

    The lines contain the signatures of the scores and of the baseline, and the SHA-256 of the lock file.
    """
    lines = [f"signature  {checked_run.signature}"]
    if checked_run.baseline is not None:
        lines.append(f"baseline   {checked_run.baseline.signature}")
    if checked_run.lock:
        lines.append(f"lock       {checked_run.lock.file}, SHA-256 {checked_run.lock.sha256}")
    return lines


def checked_junit(checked_run: Checked) -> str:
    """Return a checked run as JUnit XML: a suite with a test case for each limit.

    A lock is a file that fixed limits and options before there was a run. Each difference from the lock is also
    reported as a failed test case.
    """
    body = _property_lines(checked_run)
    for check in checked_run.checks:
        body += _test_case_lines(check.name, _element_of_check(check))
    for change in checked_run.changes_since_lock:
        message = _escape_for_xml(change.message)
        element = f'<failure type="lock" message="{message}">{message}</failure>'
        body += _test_case_lines(f"lock: {change.what}", element)
    test_count = len(checked_run.checks) + len(checked_run.changes_since_lock)
    failure_count = sum(not check.passed for check in checked_run.checks) + len(checked_run.changes_since_lock)
    return _suite(body, test_count, failures=failure_count)


def _property_lines(checked_run: Checked) -> list[str]:
    """Return the lines of the element `properties` of JUnit XML, which names the scores, the baseline and the lock."""
    value_by_name = {"signature": checked_run.signature}
    if checked_run.origin.answered_count_text is not None:
        value_by_name["answered"] = checked_run.origin.answered_count_text
    if checked_run.baseline is not None:
        value_by_name["baseline"] = checked_run.baseline.signature
    if checked_run.lock:
        value_by_name["lock"] = f"{checked_run.lock.file}, SHA-256 {checked_run.lock.sha256}"
    lines = [f'  <property name="{name}" value="{_escape_for_xml(value)}"/>' for name, value in value_by_name.items()]
    return [" <properties>", *lines, " </properties>"]


def _element_of_check(check: Check) -> str:
    """Return the XML element in the test case of a check, such as `<system-out>text</system-out>`.

    The element is a `<failure>` if the limit is not kept, and `<system-out>` if it is undecided. Otherwise the test
    case has no element, and an empty text is returned.
    """
    message = _escape_for_xml(check.message)
    if not check.passed:
        return f'<failure type="{check.kind}" message="{message}">{message}</failure>'
    if check.undecided:
        return f"<system-out>{message}</system-out>"
    return ""


def _test_case_lines(name: str, element: str) -> list[str]:
    """Return the lines of a test case called `name` in JUnit XML.

    `element` is the XML element in the test case, such as `<system-out>text</system-out>`. It may be an empty text.
    """
    head = f' <testcase classname="{_TITLE}" name="{_escape_for_xml(name)}"'
    if not element:
        return [f"{head}/>"]
    return [f"{head}>", f"  {element}", " </testcase>"]


def _suite(body: Sequence[str], tests: int, failures: int = 0, errors: int = 0) -> str:
    """Return a document of JUnit XML with one test suite; `body` has the lines in the suite."""
    head = f'<testsuite name="{_TITLE}" tests="{tests}" failures="{failures}" errors="{errors}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *body, "</testsuite>", ""])


def checked_annotations(checked_run: Checked) -> str:
    """Return workflow commands of GitHub: an error for each limit that is not kept, and a notice with a summary.

    An undecided limit is reported as a warning. A lock is a file that fixed limits and options before there was a run.
    Each difference from it is reported as an error.
    """
    lines = []
    for check in checked_run.checks:
        if not check.passed or check.undecided:
            lines.append(_annotation(check))
    for change in checked_run.changes_since_lock:
        title = f"lock%3A {_escape_for_github(change.what)}"  # %3A is a colon
        lines.append(f"::error title={title}::{_escape_for_github(change.message)}")
    summary = _escape_for_github(f"{_summary_sentence(checked_run)} {checked_run.signature}")
    return "\n".join([*lines, f"::notice title={_TITLE}::{summary}", ""])


def _annotation(check: Check) -> str:
    """Return the workflow command for a limit that is not kept or is undecided, such as `::error title=...::...`.

    An undecided limit counts as kept, so it only causes a warning.
    """
    level = "warning" if check.undecided else "error"
    title = _escape_for_github(check.name).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={title}::{_escape_for_github(check.message)}"


def error_text(format_: str, message: str) -> str:
    """Return the message of an error that prevented the check, in a format such as `junit`.

    The text is empty for the formats `text` and `tsv`, because they have the message on standard error.
    """
    error = one_line(message)
    if format_ == "json":
        return json_text({"kind": "error", "error": error})
    if format_ == "junit":
        xml_message = _escape_for_xml(error)
        element = f'<error type="input" message="{xml_message}">{xml_message}</error>'
        return _suite(_test_case_lines("the inputs", element), 1, errors=1)
    if format_ == "github":
        return f"::error title={_TITLE}::{_escape_for_github(error)}\n"
    return ""


def _summary_sentence(checked_run: Checked) -> str:
    """Return a sentence that says how many limits are kept, and how many of these are undecided.

    If gold, options or limits differ from those in the lock, the run is not scored, and the sentence says so.
    """
    if checked_run.changes_since_lock:
        return "The lock does not fit: the run was not scored, and no limit is kept."
    limit_count = len(checked_run.checks)
    kept_count = sum(check.passed for check in checked_run.checks)
    undecided_count = sum(check.undecided for check in checked_run.checks)
    noun = "limit" if limit_count == 1 else "limits"
    text = f"{kept_count} of {limit_count} {noun} kept"
    if not undecided_count:
        return f"{text}."
    return f"{text}, {undecided_count} undecided: the drop is beyond the limit, and not significant."


def _escape_for_xml(text: str) -> str:
    """Return a text in one line, escaped for an attribute or an element of XML."""
    text = _NO_XML.sub("\ufffd", one_line(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _escape_for_github(text: str) -> str:
    """Return a text in one line, escaped for a workflow command of GitHub."""
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _checked_tsv(checked_run: Checked) -> str:
    """Return a table with a row for each limit and tabs between the cells."""
    return b"".join(tsv(CHECKS.table(checked_run))).decode()


WRITERS: Final[dict[str, Callable[[Checked], str]]] = {
    "text": checked_text,
    "json": json_text,
    "tsv": _checked_tsv,
    "junit": checked_junit,
    "github": checked_annotations,
}
"""The functions that write a check, by format; every text ends with a line feed."""
