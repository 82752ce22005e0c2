"""A result as limits look at it: just computed, or recorded as JSON."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.signing.origin import Origin
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.evidence.result import scores_at
from cs_score.measures.registry import COLD_START_MODE, formula_of, headline, parse, sums_of
from cs_score.statistics.units import UnitTable
from cs_score.verification.recorded import EVIDENCE_MODES, Kind, origin_of, read_recorded
from cs_score.verification.told import Told

if TYPE_CHECKING:
    from cs_score.coldstart.result import Result as ColdStartResult
    from cs_score.evidence.result import Result as EvidenceResult
    from cs_score.statistics.arithmetic import ColumnMeasures


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
        return [measure for measure in headline(self.origin.mode) if measure in self.scores]


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
    return Measured(result.origin.mode, result.origin, result.scores, result.mode.unit, result.table)


def of_record(path: str, run_id: str) -> Measured:
    """What `--json FILE` has recorded; of several runs the one called so. Raises InputError for anything else."""
    recorded = read_recorded(path)
    told = recorded.told
    if recorded.kind is Kind.COLD_START:
        told["signature"]["mode"].text((COLD_START_MODE,))
        run = _run(told, run_id)
        return Measured(path, origin_of(told["signature"]), _scores(run["scores"]), *_units(run.get("units")))
    if recorded.kind is Kind.EVIDENCE:
        signature = told["signature"]
        mode = signature["mode"].text(EVIDENCE_MODES)
        return Measured(path, origin_of(signature), _official(told, mode), *_units(signature.get("units")))
    raise InputError(
        f"{recorded.kind.value}, which is no baseline", file=path, remedy="a baseline is what --json FILE wrote"
    )


def _run(told: Told, run_id: str) -> Told:
    runs = told["runs"].entries()
    found = runs if len(runs) == 1 else [run for run in runs if run["run_id"].text() == run_id]
    if len(found) != 1:
        raise told["runs"].wrong(f"has {len(found)} runs {run_id} among {len(runs)}")
    return found[0]


def _scores(told: Told) -> dict[str, float]:
    return {measure: score.number() for measure, score in told.members().items()}


def _official(told: Told, mode: str) -> dict[str, float]:
    """The measures of a mode by name: they stand by themselves, or in groups by the first part of their names."""
    described = importlib.import_module(f"cs_score.evidence.{mode}").MODE
    found: dict[str, float] = {}
    for measure in described.measures:
        group, _, last = measure.rpartition("_")
        value = told.get(measure)
        found[measure] = (told[group][last] if value is None else value).number()
    return found


def _units(told: Told | None) -> tuple[str, UnitTable | None]:
    """What a unit is, and the statistics of all."""
    if told is None:
        return "", None
    columns = told["columns"].texts()
    rows = [tuple(value.number() for value in row.entries()) for row in told["rows"].entries()]
    ids = told["ids"].texts()
    if len(ids) != len(rows) or any(len(row) != len(columns) for row in rows):
        raise told.wrong("does not have a row for each of ids with a number for each of columns")
    return told["unit"].text(), UnitTable(ids, columns, rows)


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
    mode = run.origin.mode
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
