"""Comparing results of one mode with each other: which units, which measures, which formula.

The arithmetic is `cs_score.statistics.comparison`; this module joins it to the modes.

from cs_score.evidence.scifact import score

comparison = compare_evidence({name: score("gold.jsonl", name) for name in ("A.jsonl", "B.jsonl")})
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial

from msgspec import UNSET

from cs_score.base.errors import UsageError
from cs_score.base.records import replace
from cs_score.base.signing.origin import ANY_MEASURE, Origin, short_digest
from cs_score.base.sources import Input, name_of
from cs_score.coldstart.result import Result as ColdStartResult
from cs_score.coldstart.unit_statistics import answered_units, summary_scores, unit_name, unit_table
from cs_score.evidence.result import Result as EvidenceResult
from cs_score.evidence.result import scores_at
from cs_score.measures.measure import Measure
from cs_score.measures.registry import chosen, formula_of
from cs_score.statistics.arithmetic import ColumnFormula, ColumnMeasures
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import Comparison
from cs_score.statistics.units import UnitTable, require_gold_units


def compare_evidence(
    results: Mapping[str, EvidenceResult],
    resampling: Resampling | None = None,
    *,
    measures: Sequence[str] = (),
    common: bool = False,
    executor: Executor | None = None,
) -> Comparison:
    """Compare results of one evidence mode, by the name of the system.

    `measures` are names or patterns (`*_f1`) of the mode's measures, all if none is given. Systems must have the same
    units unless `common`, which compares them on the units that all have. Raises UsageError for fewer than two
    systems, for results of several modes and for a measure that does not exist; InputError for a system that answers
    no unit of gold and for different units.
    """
    modes = {result.mode.name: result.mode for result in results.values()}
    if len(modes) > 1:
        raise UsageError(f"results of different modes cannot be compared: {', '.join(modes)}")
    for name, result in results.items():
        require_gold_units(name, result.answered(), frozenset(result.table.ids))
    _at_least_two(results)
    (mode,) = modes.values()
    compared = chosen(mode.measures, measures)
    return _compare(
        {name: result.table for name, result in results.items()},
        {name: result.origin for name, result in results.items()},
        compared,
        partial(scores_at, mode.formula, tuple(map(mode.measures.index, compared))),
        replace(resampling or Resampling(can_grow=True), unit=mode.unit),
        common,
        executor,
    )


def compare_coldstart(
    results: Mapping[str, ColdStartResult],
    resampling: Resampling | None = None,
    *,
    measures: Sequence[str] = (),
    common: bool = False,
    executor: Executor | None = None,
) -> Comparison:
    """Compare Cold Start results of one run each, by the name of the system.

    `measures` are names such as `LDC-MAX-ALL-Micro-F1`, or patterns of them; all of the summaries' if none is
    given. A level that only some of the runs have counts as 0 for the others. Otherwise as `compare_evidence`; raises
    ValueError for a result that has not exactly one run.
    """
    runs = {}
    for name, result in results.items():
        if len(result.runs) != 1:
            raise ValueError(f"the result of {name} has {len(result.runs)} runs instead of one")
        runs[name] = result.runs[0]
        require_gold_units(name, answered_units(runs[name]), frozenset(runs[name].unit_of.values()))
    _at_least_two(results)
    shown = _in_order(measure for run in runs.values() for measure in summary_scores(run))
    by_name = {str(measure): measure for measure in shown}
    names = chosen(list(by_name), measures)
    compared = [by_name[name] for name in names]
    return _compare(
        {name: unit_table(run, compared) for name, run in runs.items()},
        {name: result.origin for name, result in results.items()},
        names,
        formula_of(compared),
        replace(resampling or Resampling(can_grow=True), unit=unit_name(next(iter(results.values())))),
        common,
        executor,
    )


def system_names(files: Sequence[Input]) -> list[str]:
    """A name for each file: its own, with as many folders before it as tell it from the others.

    A file that is named twice is numbered: `A.jsonl`, `A.jsonl (2)`.
    """
    paths = [os.path.abspath(name_of(file)) for file in files]
    parts = {path: path.split(os.sep) for path in paths}
    shown = dict.fromkeys(parts, 1)
    while True:
        names = {path: os.sep.join(parts[path][-shown[path] :]) for path in parts}
        often = Counter(names.values())
        short = [path for path in parts if often[names[path]] > 1 and shown[path] < len(parts[path])]
        if not short:
            break
        for path in short:
            shown[path] += 1
    seen: Counter[str] = Counter()
    numbered: list[str] = []
    for path in paths:
        seen[path] += 1
        numbered.append(names[path] if seen[path] == 1 else f"{names[path]} ({seen[path]})")
    return numbered


def _in_order(measures: Iterable[Measure]) -> list[Measure]:
    """Each measure once; the levels of a row together and sorted, though some runs lack one."""
    once = dict.fromkeys(measures)
    # A measure that needs no average is one of rankings, whose rows come last.
    blocks = dict.fromkeys((not measure.average, measure.table, measure.average) for measure in once)
    rank = {block: position for position, block in enumerate(sorted(blocks, key=lambda block: block[0]))}
    return sorted(once, key=lambda each: (rank[not each.average, each.table, each.average], each.level))


def _at_least_two(results: Mapping[str, object]) -> None:
    if len(results) < 2:
        raise UsageError("a comparison needs at least two systems")


def _compare(
    tables: Mapping[str, UnitTable],
    origins: Mapping[str, Origin],
    measures: Sequence[str],
    formula: ColumnMeasures,
    settings: Resampling,
    common: bool,
    executor: Executor | None,
) -> Comparison:
    scores = ColumnFormula(formula)
    compared = compare_tables(tables, measures, scores, settings, common=common, executor=executor)
    if compared.dropped:
        origins = {
            name: _on_common_units(origin, compared.units, compared.dropped[name]) for name, origin in origins.items()
        }
    measure = measures[0] if len(measures) == 1 else ANY_MEASURE
    origins = {name: replace(origin, measure=measure) for name, origin in origins.items()}
    return replace(
        compared,
        task=next(iter(origins.values())).task,
        measure=measure if len(measures) == 1 else UNSET,
        signatures={name: str(origin.signature) for name, origin in origins.items()},
        origins=origins,
    )


def _on_common_units(origin: Origin, units: int, dropped: Sequence[str]) -> Origin:
    """The origin of scores of a part of the units."""
    left_out = short_digest("".join(f"{unit}\n" for unit in sorted(dropped)))
    return origin.with_option("common", {"units": units, "dropped": dropped}, f"common={left_out}")
