"""The units of a run: LDC queries with their entry points, or queries by themselves where there is no LDC index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cs_score.base.records import Record
from cs_score.coldstart.gold import Gold
from cs_score.coldstart.queries.query_set import Query
from cs_score.coldstart.ranking.nodes import Nodes
from cs_score.coldstart.result import UnitResult
from cs_score.coldstart.run import Run, UnitLines


class Unit(Record):
    """What one unit is scored from: gold's side of its queries, by short id, and the lines of the run.

    `hop_limits` maps the short id of each query to the highest hop that is scored. `nodes` are those of all runs in
    the call, and `beside` is what scoring an earlier one found in this unit: AP pools them (specification 9.1).
    `before` is what scoring the same lines under another policy gave: they met the same assessments.
    """

    id: str
    gold: Gold
    queries: Sequence[Query]
    hop_limits: Mapping[str, int]
    run: Run
    lines: UnitLines
    nodes: Nodes
    beside: UnitResult | None = None
    before: UnitResult | None = None


def units_of(
    run: Run,
    run_id: str,
    hop_limits: Mapping[str, int] | None = None,
    so_far: Mapping[str, UnitResult] | None = None,
    before: Mapping[str, UnitResult] | None = None,
) -> Iterator[Unit]:
    """The units of a run with lines in the order of these, then the others that are selected.

    `hop_limits`: the queries to score, those of gold unless given; `so_far`: results of runs scored before; `before`:
    those of this run under another policy.
    """
    gold = run.gold
    hop_limits = gold.hop_limits if hop_limits is None else hop_limits
    lines_of = run.lines.get(run_id, {})
    nodes = Nodes(run.links.nodes, run.limits.most)
    queries: dict[str, list[Query]] = {unit_id: [] for unit_id in lines_of}
    for query in gold.selected(hop_limits):
        queries.setdefault(gold.unit_of(query.base_id), []).append(query)
    for unit_id, of_unit in queries.items():
        yield Unit(
            unit_id, gold, of_unit, hop_limits, run, lines_of.get(unit_id, {}), nodes,
            None if so_far is None else so_far.get(unit_id),
            None if before is None else before.get(unit_id),
        )  # fmt: skip
