"""Laws of the analysis, in recorded cases of the official evaluators and invented worlds: every effect against the
scorer on rewritten predictions, sums against totals."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.analysis.evidence.mistake_records import EvidenceMistake
from cs_score.base.errors import InputError
from cs_score.base.records import replace, to_builtins
from cs_score.verbs.analyze.prediction_analysis import EvidenceAnalysis
from tests.evidence.recorded import COMMITTED, SHARED, Case, cases, name
from tests.evidence.worlds import WORLDS, Json, World, analyze, explain, replaced, scored_worlds

TOLERANCE: Final = 1e-12

MODES: Final = sorted(WORLDS)


@st.composite
def analysed(draw: st.DrawFn, mode: str) -> tuple[World, EvidenceAnalysis]:
    """A world that can be scored, analysed by one of its measures."""
    world, result = draw(scored_worlds(mode))
    return world, analyze(result, draw(st.sampled_from(result.mode.measures)))


def check_effects(world: World, analysis: EvidenceAnalysis, most: int) -> None:
    """So many effects, spread over the mistakes."""
    document = json.loads(json.dumps(to_builtins(analysis)))
    assert document["scores"] == world.result().scores
    mistakes = document["mistakes"]
    for mistake in mistakes[:: len(mistakes) // most + 1]:
        changed = replaced(world.mode, world.predictions, mistake["unit"], mistake["occurrence"], mistake["prediction"])
        try:
            then = world.result(changed).scores
        except InputError:
            assert set(mistake["effects"].values()) == {mistake["gain"]} == {None}
            assert mistake["reason"]
            continue
        assert list(mistake["effects"]) == list(then)
        for measure, effect in mistake["effects"].items():
            assert effect == pytest.approx(then[measure] - document["scores"][measure], abs=TOLERANCE)
        assert mistake["gain"] == mistake["effects"][document["measure"]]
    gains = [-math.inf if mistake["gain"] is None else mistake["gain"] for mistake in mistakes]
    assert gains == sorted(gains, reverse=True)
    assert sum(row["count"] for row in document["budget"]) == len(mistakes)
    for dimension, groups in document["groups"].items():
        assert dimension == "aspect" or sum(group["mistakes"] for group in groups) == len(mistakes)


@pytest.mark.parametrize("mode", MODES)
@given(data=st.data())
def test_each_effect_is_the_difference_of_two_scorings(mode: str, data: st.DataObject) -> None:
    check_effects(*data.draw(analysed(mode)), 1000)


RECORDED: Final = [
    pytest.param(case, marks=marks, id=name(case))
    for folder, marks in ((COMMITTED, []), (SHARED, [pytest.mark.slow]))
    for case in cases(folder)
    if case.expected is not None
]


@pytest.mark.parametrize("case", RECORDED)
def test_each_effect_of_a_recorded_case_is_what_the_rewritten_file_scores(case: Case) -> None:
    mode, *words = case.words()
    given = {switch: words[words.index(switch) + 1] for switch in ("--gold", "--predictions", "--references")
             if switch in words}  # fmt: skip
    options: dict[str, Any] = {"references": int(given["--references"])} if "--references" in given else {}
    options.update((word[2:].replace("-", "_"), True) for word in words if word in ("--ignore-missing", "--any-order"))
    text = Path(given["--predictions"]).read_bytes().decode()
    if mode in ("r4c", "hotpotqa"):
        predictions = json.loads(text)
    else:
        predictions = [json.loads(line.strip("\ufeff\x1e")) for line in re.split("\r\n|\r|\n", text) if line]
    world = World(mode, given["--gold"], predictions, options)
    check_effects(world, analyze(world.result()), 25)


@pytest.mark.parametrize("mode", MODES)
@given(data=st.data())
def test_the_budget_is_the_score_of_predictions_corrected_kind_by_kind(mode: str, data: st.DataObject) -> None:
    """Each kind is corrected by taking its mistakes one after the other until none that can be is left."""
    world, analysis = data.draw(analysed(mode))
    cumulated = world.predictions
    for line in analysis.budget:
        assert line.count == sum(mistake.kind == line.kind for mistake in analysis.mistakes)
        alone = corrected_kind(world, world.predictions, line.kind, str(analysis.measure))
        assert line.score == pytest.approx(world.result(alone).scores[str(analysis.measure)], abs=TOLERANCE)
        assert line.gain == pytest.approx(line.score - analysis.score, abs=TOLERANCE)
        cumulated = corrected_kind(world, cumulated, line.kind, str(analysis.measure))
        assert line.cumulated == pytest.approx(world.result(cumulated).scores[str(analysis.measure)], abs=TOLERANCE)


def corrected_kind(world: World, predictions: Json, kind: str, measure: str) -> Json:
    """The predictions without the mistakes of a kind, as the table of the specification has it."""
    if world.mode == "r4c":
        return {"re": {**predictions["re"], **dict(derivations_without(world, predictions, kind, measure))}}
    while True:
        found = analyze(world.result(predictions), measure).mistakes
        left = [mistake for mistake in found if mistake.kind == kind and mistake.gain is not None]
        if not left:
            return predictions
        # One of each unit at a time: the mistakes of a unit may hang on each other, those of two units cannot.
        for first in {str([mistake.unit, mistake.occurrence]): mistake for mistake in reversed(left)}.values():
            predictions = replaced(world.mode, predictions, first.unit, first.occurrence, first.prediction)


def derivations_without(world: World, predictions: Json, kind: str, measure: str) -> Iterator[tuple[Any, Json]]:
    """Derivations without all mistakes of a kind at once: to correct one may change what others are aligned with."""
    of_unit: dict[Any, list[EvidenceMistake]] = {}
    for mistake in analyze(world.result(predictions), measure).mistakes:
        if mistake.kind == kind:
            assert mistake.gain is not None
            of_unit.setdefault(mistake.unit, []).append(mistake)
    for unit, faults in of_unit.items():
        steps = {place: [*step[:2], [*step[2]]] for place, step in enumerate(predictions["re"][unit], start=1)}
        added = []
        for fault in faults:
            place = int(fault.part or 0)
            gold: Any = fault.gold
            if kind == "missed_fact":
                added.append(gold)
            elif kind == "extra_fact":
                assert steps.pop(place)[2] == fault.predicted
            elif kind == "wrong_relation":
                steps[place][2][1] = gold
            else:
                steps[place][2][0], steps[place][2][2] = gold
        yield unit, [*steps.values(), *added]


@pytest.mark.parametrize("mode", MODES)
@given(data=st.data())
def test_groups_add_up_to_the_whole(mode: str, data: st.DataObject) -> None:
    world, analysis = data.draw(analysed(mode))
    table = world.result().table
    totals = dict(zip(table.columns, table.sums()))
    for dimension, groups in analysis.groups.items():
        if dimension == "aspect":
            continue
        assert sum(group.units for group in groups) == len(table.ids)
        assert sum(group.mistakes for group in groups) == len(analysis.mistakes)
        for column, total in totals.items():
            assert sum(group.counts[column] for group in groups) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("mode", MODES)
@given(data=st.data())
def test_units_explained_are_those_of_the_analysis(mode: str, data: st.DataObject) -> None:
    """Each unit once; together they add up to the totals, and have all mistakes."""
    _, result = data.draw(scored_worlds(mode))
    measure = data.draw(st.sampled_from(result.mode.measures))
    found = explain(result, list(dict.fromkeys(result.table.ids)), measure)
    assert sorted(str(unit.unit) for unit in found.units) == sorted(result.table.ids)
    for column, total in zip(result.table.columns, result.table.sums()):
        assert sum(unit.statistics[column] for unit in found.units) == pytest.approx(total, abs=1e-9)
    mistakes = {
        (str(unit.unit), json.dumps(to_builtins(replace(mistake, occurrence=0))))
        for unit in found.units
        for mistake in unit.mistakes
    }
    assert mistakes == {
        (str(mistake.unit), json.dumps(to_builtins(replace(mistake, occurrence=0))))
        for mistake in analyze(result, measure).mistakes
    }
    for unit in found.units:
        assert list(unit.lines) in [result.explain_unit_at(position) for position in result.positions_of(unit.unit)]
