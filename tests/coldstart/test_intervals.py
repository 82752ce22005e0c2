"""Cold Start intervals: the reduction to units against the scorer's own averages and against re-scored resamples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.records import replace
from cs_score.coldstart.gold import open_gold
from cs_score.coldstart.options import Options
from cs_score.coldstart.queries import Query, QuerySet
from cs_score.coldstart.result import (
    Result,
    ScoredRun,
    add_ldc_tables,
    average_precision_of,
    averaged_table,
    in_printing_order,
)
from cs_score.coldstart.unit_statistics import answered_units, intervals, summary_scores, unit_table
from cs_score.measures import Ratio, divide, formula_of
from cs_score.statistics.draws import bootstrap_counts
from cs_score.statistics.resampling import ResampledSystems
from cs_score.statistics.resampling_settings import Resampling
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.recorded import COMMITTED, cases_in, copy_inputs
from tests.coldstart.test_laws import base, folder_with
from tests.coldstart.worlds import BASE, FIRST_SLOTS, Answer, Assessment, Response, World, worlds
from tests.coldstart.worlds import Query as Asked
from tests.scoring import score

scorable: Final = worlds().filter(lambda world: bool(world.run))
"""Worlds with a run to score."""


def scored(world: World) -> Result:
    with folder_with(world) as (folder, files):
        paths = [folder / name for name in files]
        return score(paths[:1], paths[1:], Options(expand=BASE))


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


@given(scorable)
def test_every_query_is_a_unit_and_the_sums_over_all_give_the_scorers_own_averages(world: World) -> None:
    (run,) = scored(world).runs
    assert set(run.cluster_by_query.values()) == {query.ldc for query in world.queries}
    asked = {query: ldc.ldc for ldc in world.queries for query in ldc.sf_queries()}
    assert set(answered_units(run)) <= {asked[base(response)] for response in world.run}
    expected = summary_scores(run)
    sums = [sum(column) for column in zip(*unit_table(run, expected).rows)]
    for measure, found in zip(expected, formula_of(expected)(sums, divide)):
        assert close(found, expected[measure]), measure


@given(scorable, st.integers(0, 5))
def test_intervals_are_those_of_rescored_resamples(world: World, seed: int) -> None:
    """Every resample is built as an evaluation of its own - queries repeated with all their rows - and projected."""
    result = scored(world)
    (run,) = result.runs
    queries = open_queries(world)
    measures = list(summary_scores(run))
    table = unit_table(run, measures)
    count = 12
    found = ResampledSystems([table.rows], formula_of(measures), Resampling(count, seed)).resampled_scores[:, 0, :]
    drawn = np.concatenate([*bootstrap_counts(seed, len(table.ids), count)])
    for number in range(count):
        times = {unit: int(often) for unit, often in zip(table.ids, drawn[number])}
        expected = summary_scores(replicated(run, queries, times))
        sums = drawn[number] @ np.array(table.rows)
        for measure, value, ratio in zip(measures, found[:, number], formula_of(measures)(sums, Ratio)):
            if ratio.denominator:
                assert close(float(value), expected[measure]), measure
            else:  # nothing to find, or nothing answered: the scorer shows 0 or no row
                assert math.isnan(value), measure
                assert expected.get(measure, 0.0) == 0.0, measure


def open_queries(world: World) -> QuerySet:
    with folder_with(world) as (folder, files):
        return open_gold([folder / files[0]], Options(expand=BASE)).query_set


def replicated(run: ScoredRun, queries: QuerySet, times: dict[str, int]) -> ScoredRun:
    """The run on a query set that holds each LDC query as often as `times` says, under ids of their own."""
    by_id: dict[str, Query] = {}
    ldc_of: dict[str, str] = {}
    rows, ap_rows = [], []
    assert run.average_precision is not None
    for ldc_id in dict.fromkeys(queries.ldc_id_by_query.values()):
        ldc = queries.by_id[ldc_id]
        for copy in range(times.get(ldc.full_id, 0)):
            mine = f"{ldc_id}c{copy}"
            members = [short_id for short_id in ldc.expansion_ids or () if queries.ldc_id_by_query[short_id] == ldc_id]
            by_id[mine] = replace(ldc, short_id=mine, expansion_ids=tuple(f"{each}c{copy}" for each in members))
            for short_id in members:
                query = queries.by_id[short_id]
                by_id[f"{short_id}c{copy}"] = replace(query, short_id=f"{short_id}c{copy}")
                ldc_of[f"{short_id}c{copy}"] = mine
                for row in run.tables.sf.rows:
                    of_query, *components = row.name.split(":")
                    if of_query == query.full_id:
                        rows.append(row._replace(name=":".join((f"{of_query}c{copy}", *components))))
                for ap_row in run.average_precision.sf.rows:
                    if ap_row.name == query.full_id:
                        ap_rows.append(ap_row._replace(name=f"{ap_row.name}c{copy}"))
    copies = QuerySet(by_id, ldc_of, was_expanded=True)
    return replace(
        run,
        tables=add_ldc_tables(averaged_table(in_printing_order(rows)), copies),
        average_precision=average_precision_of(run.run_id, in_printing_order(ap_rows), copies),
    )


def with_switches(case: str, folder: Path, *switches: str) -> Outcome:
    """A recorded case once more, with further switches."""
    (found,) = cases_in(COMMITTED, case)
    copy_inputs(found, folder)
    return score_in(folder, [*switches, *found.words])


def test_one_unit_gives_the_point_and_a_note() -> None:
    query = Asked("CSX_0001", FIRST_SLOTS[:1], ("ENG_Q1",))
    answer = Answer(query.sf_queries()[0], FIRST_SLOTS[0].name, "Ann", "ENG_1")
    world = World((query,), (Assessment(answer, "C", f"{answer.query}:1"),), (Response(answer, "0.9", ":E1"),))
    (found,) = intervals(scored(world), Resampling(50))
    assert found.units == 1
    for interval in found.scores.values():
        assert interval.low == interval.high == interval.point
        assert "one unit" in interval.note


def test_many_resamples_need_force(tmp_path: Path) -> None:
    assert with_switches("multi_ep_008", tmp_path, "--bootstrap", "100001", "--force").status == 0


BOOTSTRAP: Final = "--bootstrap takes a whole number from 1 to 1000000, not {}"
NO_COUNTS: Final = ("0", "-5", "many", "1e3", "9" * 50, "\u0663", "")
SEED: Final = "--seed takes a whole number of at least 0, not {}"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        *((["--bootstrap", text], BOOTSTRAP.format(text)) for text in NO_COUNTS),
        (["--bootstrap", "100001"], "--bootstrap 100001: more than 100000 resamples take much time and memory"),
        (["--bootstrap", "5", "--seed", "-1"], SEED.format("-1")),
        (["--bootstrap", "5", "--seed", "x\x1b"], SEED.format("x\\x1b")),
        (["--bootstrap", "5", "--confidence", "100"], "the confidence is a percentage from 50 to 99.99, not 100.0"),
        (["--bootstrap", "5", "--confidence", "nan"], "--confidence takes a percentage from 50 to 99.99, not nan"),
        (["--bootstrap", "5", "--interval", "normal"], "--interval takes percentile or bca, not normal"),
        (["--seed", "1"], "--seed is about intervals: give --bootstrap N, too"),
        (["--interval", "bca"], "--interval is about intervals: give --bootstrap N, too"),
    ],
)
def test_settings_that_mean_nothing(words: Sequence[str], problem: str, tmp_path: Path) -> None:
    outcome = with_switches("multi_ep_008", tmp_path, *words)
    assert outcome.status == 255
    assert outcome.stderr.decode().startswith(f"cs-score: {problem}")
    assert outcome.stderr.count(b"\n") == 1
    assert not [name for name in outcome.files if name.startswith("out.")]
