"""Comparing results of one task with each other: which units, which measures, which formula."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cs_score.base.errors import UsageError
from cs_score.base.records import replace
from cs_score.base.signature import short_digest
from cs_score.base.sources import Input, name_of
from cs_score.measures.registry import MEASURES, chosen, find, headline
from cs_score.statistics.arithmetic import ColumnFormula
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import Comparison
from cs_score.statistics.units import require_gold_units, unique_ids
from cs_score.tasks.task import Comparable


def compare(
    task: Comparable,
    results: Mapping[str, Any],
    resampling: Resampling | None = None,
    *,
    measures: Sequence[str] = (),
    primary: str | None = None,
    common: bool = False,
    equivalence: float | None = None,
    has_signs: bool = False,
) -> Comparison:
    """Compare results of a task, by the name of the system.

    `measures` are names or patterns (`*_f1`) of the task's measures, all if none is given. `primary` is the one that
    decides, the first headline measure among them unless given; all others are exploratory. Systems must have the same
    units unless `common`, which compares them on the units that all have; `equivalence` is the margin within which they
    are tested to be equal; with `has_signs` two whose units are right or wrong are compared by the exact sign test.
    Raises UsageError for fewer than two systems, an unknown measure and a margin that is no number above 0; InputError
    for a system that answers no unit of gold, and for different units.
    """
    if len(results) < 2:
        raise UsageError("a comparison needs at least two systems")
    known = task.measures(results.values())
    if primary is not None:
        [primary] = chosen(known, [find(primary, known) or primary])
    compared = chosen(known, [*measures, primary] if measures and primary else measures)
    headlines = (name for mode in MEASURES for name in headline(mode))
    primary = primary or next((name for name in headlines if name in compared), compared[0])
    systems = {name: task.statistics(result, compared) for name, result in results.items()}
    for name, system in systems.items():
        require_gold_units(name, system.answered, system.known)
    found = compare_tables(
        {name: system.table for name, system in systems.items()},
        compared,
        ColumnFormula(task.formula(compared)),
        replace(resampling or Resampling(can_grow=True), unit=next(iter(systems.values())).unit),
        common=common,
        equivalence=equivalence,
        primary=primary,
        has_signs=has_signs,
    )
    origins = {}
    for name, system in systems.items():
        origins[name] = replace(system.origin, measure=primary)
        if found.dropped:
            left_out = short_digest("".join(f"{unit}\n" for unit in sorted(found.dropped[name])))
            option = {"units": found.units, "dropped": found.dropped[name]}
            origins[name] = origins[name].with_option("common", option, f"common={left_out}")
    signatures = {name: str(origin.signature) for name, origin in origins.items()}
    return replace(found, task=task.name, signatures=signatures, origins=origins)


def first_measure(found: Comparison) -> Comparison:
    """A comparison under the primary measure alone, which is what people are shown first."""
    return replace(found, measures=(found.primary,))


def system_names(files: Sequence[Input]) -> list[str]:
    """A name for each file: its own, with as many folders before it as make it differ from the others.

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
    return unique_ids([names[path] for path in paths])
