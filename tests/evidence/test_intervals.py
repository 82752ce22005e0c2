"""Intervals of the evidence modes: against re-scored resamples, on the command line, and for degenerate input."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

from cs_score.base.errors import InputError
from cs_score.evidence import claims, hotpotqa, r4c, scifact
from cs_score.evidence.mode import Mode, ScoredPredictions, intervals
from cs_score.measures import Ratio, divide
from cs_score.statistics.draws import bootstrap_counts
from cs_score.statistics.resampling import ResampledSystems
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.units import UnitTable
from tests.evidence.command import cs_score

Json = dict[str, Any]

UNITS: Final = 9
RESAMPLES: Final = 20

Task = tuple[list[Json], list[Json]]
"""Gold and predictions, unit by unit."""


def entry(rng: random.Random) -> Json:
    return {"label": rng.choice(["SUPPORT", "CONTRADICT"]), "sentences": rng.sample(range(6), rng.randint(1, 3))}


def scifact_task(rng: random.Random) -> Task:
    gold = [{"evidence": {each: [entry(rng)] for each in rng.sample("abc", rng.randint(0, 2))}} for _ in range(UNITS)]
    return gold, [{"evidence": {each: entry(rng) for each in rng.sample("abc", 2)}} for _ in range(UNITS)]


def questions_task(rng: random.Random) -> Task:
    def facts() -> list[list[Any]]:
        return [[title, number] for title in rng.sample("ab", rng.randint(0, 2)) for number in (0, rng.randint(1, 2))]

    answers = ["yes", "no", "a red fox", "red fox", "the fox", "blue"]
    gold = [{"answer": rng.choice(answers), "supporting_facts": facts()} for _ in range(UNITS)]
    return gold, [{"answer": rng.choice(answers), "sp": facts()} for _ in range(UNITS)]


def score_claims(gold: list[Json], predictions: list[Json]) -> ScoredPredictions:
    """Units have ids of their own: of equal ids the last claim counts."""
    return scifact.MODE.score(*([{**each, "id": at} for at, each in enumerate(side)] for side in (gold, predictions)))


def score_questions(gold: list[Json], predictions: list[Json]) -> ScoredPredictions:
    asked = [{**question, "_id": str(position)} for position, question in enumerate(gold)]
    parts = {part: {str(n): each[part] for n, each in enumerate(predictions)} for part in ("answer", "sp")}
    return hotpotqa.MODE.score(asked, parts)


@pytest.mark.parametrize(("task", "score"), [(scifact_task, score_claims), (questions_task, score_questions)])
@pytest.mark.parametrize("seed", [0, 1])
def test_resamples_are_those_of_rescored_files(
    task: Callable[[random.Random], Task], score: Callable[[list[Json], list[Json]], ScoredPredictions], seed: int
) -> None:
    gold, predictions = task(random.Random(seed))
    result = score(gold, predictions)
    formula = result.mode.formula
    found = ResampledSystems([result.table.rows], formula, Resampling(RESAMPLES, seed)).resampled_scores[:, 0, :]
    drawn = np.concatenate([*bootstrap_counts(seed, UNITS, RESAMPLES)])
    for number in range(RESAMPLES):
        again = [unit for unit, often in enumerate(drawn[number].tolist()) for _ in range(often)]
        rescored = score([gold[unit] for unit in again], [predictions[unit] for unit in again])
        ratios = result.mode.formula(rescored.table.sums(), Ratio)
        for value, expected, ratio in zip(found[:, number].tolist(), rescored.scores.values(), ratios):
            if not ratio.denominator:
                assert math.isnan(value)
            else:
                assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12)


def test_nothing_to_resample(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    outcome = cs_score("scifact", "--gold", tmp_path / "empty", "--predictions", tmp_path / "empty", "--bootstrap", "5")
    assert outcome.complaint == "there is no unit to resample"
    with pytest.raises(InputError, match="no unit"):
        intervals(scifact.MODE.score([], []))


# ---- The one formula of a mode that scalars and arrays share

Array = npt.NDArray[np.float64]


def divide_arrays(numerator: Array, denominator: Array) -> Array:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)


def resampled(mode: Mode, draws: int) -> Array:
    """Sums of columns by draws, zeros among them."""
    generator = np.random.default_rng(5)
    sums = generator.integers(0, 4, size=(len(mode.columns), draws)).astype(np.float64)
    sums[:, 0] = 0
    return sums


@pytest.mark.parametrize("mode", [each.MODE for each in (scifact, claims, r4c, hotpotqa)], ids=lambda mode: mode.name)
def test_arrays_score_as_scalars_do(mode: Mode) -> None:
    sums = resampled(mode, draws=200)
    vectorised = np.array(mode.formula(list(sums), divide_arrays))
    one_by_one = np.array([mode.formula([float(cell) for cell in draw], divide) for draw in sums.T]).T
    assert vectorised.shape == (len(mode.measures), 200)
    assert np.array_equal(vectorised, one_by_one)


def test_sums_keep_integers_and_add_floats_from_the_top() -> None:
    addends = [random.Random(1).random() for _ in range(1000)]
    table = UnitTable(tuple(map(str, addends)), ("one", "float"), [(1, addend) for addend in addends])
    ones, total = table.sums()
    assert (ones, type(ones)) == (1000, int)
    expected = 0.0
    for addend in addends:
        expected += addend
    assert total == expected
