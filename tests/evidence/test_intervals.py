"""Intervals of the evidence modes: against re-scored resamples, on the command line, and for degenerate input."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from cs_score.base.errors import InputError
from cs_score.evidence import claims, hotpotqa, intervals, scifact
from cs_score.evidence.result import Result
from cs_score.measures.formulas import Ratio
from cs_score.statistics.arithmetic import ColumnFormula, exact_statistics
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import bootstrap_counts, bootstrap_scores
from tests.evidence.command import cs_score

Json = dict[str, Any]

UNITS: Final = 9
RESAMPLES: Final = 20

Task = tuple[list[Json], list[Json]]
"""Gold and predictions, unit by unit."""


def scifact_task(rng: random.Random) -> Task:
    def abstract() -> Json:
        return {"label": rng.choice(["SUPPORT", "CONTRADICT"]), "sentences": rng.sample(range(6), rng.randint(1, 3))}

    gold, predictions = [], []
    for claim in range(UNITS):
        documents = rng.sample("abc", rng.randint(0, 2))
        gold.append({"id": claim, "evidence": {document: [abstract()] for document in documents}})
        predictions.append({"id": claim, "evidence": {each: abstract() for each in rng.sample("abc", 2)}})
    return gold, predictions


def claims_task(rng: random.Random) -> Task:
    def entry() -> Json:
        return {"label": rng.choice(["S", "C"]), "sentences": rng.sample(range(6), rng.randint(0, 3))}

    gold, predictions = [], []
    for claim in range(UNITS):
        documents = rng.sample(["1", "2", "3"], rng.randint(0, 2))
        gold.append(
            {
                "id": claim,
                "label": rng.choice("SC"),
                "cited_doc_ids": [int(document) for document in documents],
                "evidence": {document: [entry()] for document in documents},
            }
        )
        evidence = {document: [entry()] for document in rng.sample(["1", "2", "3"], 2)}
        predictions.append({"id": claim, "label": rng.choice("SC"), "evidence": evidence})
    return gold, predictions


def questions_task(rng: random.Random) -> Task:
    def facts() -> list[list[Any]]:
        return [[title, number] for title in rng.sample("ab", rng.randint(0, 2)) for number in (0, rng.randint(1, 2))]

    answers = ["yes", "no", "a red fox", "red fox", "the fox", "blue"]
    gold = [{"_id": str(q), "answer": rng.choice(answers), "supporting_facts": facts()} for q in range(UNITS)]
    return gold, [{"answer": rng.choice(answers), "sp": facts()} for _ in range(UNITS)]


def score_scifact(gold: list[Json], predictions: list[Json]) -> Result:
    return scifact.score(gold, predictions)


def score_claims(gold: list[Json], predictions: list[Json]) -> Result:
    """Claims with ids of their own: of equal ids the last counts."""
    numbered = [[{**each, "id": position} for position, each in enumerate(side)] for side in (gold, predictions)]
    return claims.score(*numbered)


def score_questions(gold: list[Json], predictions: list[Json]) -> Result:
    asked = [{**question, "_id": str(position)} for position, question in enumerate(gold)]
    answers = {str(position): each["answer"] for position, each in enumerate(predictions)}
    return hotpotqa.score(asked, {"answer": answers, "sp": {str(n): each["sp"] for n, each in enumerate(predictions)}})


@pytest.mark.parametrize(
    ("task", "score"),
    [(scifact_task, score_scifact), (claims_task, score_claims), (questions_task, score_questions)],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_resamples_are_those_of_rescored_files(
    task: Callable[[random.Random], Task], score: Callable[[list[Json], list[Json]], Result], seed: int
) -> None:
    gold, predictions = task(random.Random(seed))
    result = score(gold, predictions)
    formula = ColumnFormula(result.mode.formula)
    found = bootstrap_scores(exact_statistics([result.table.rows]), formula, Resampling(RESAMPLES, seed))[:, 0, :]
    drawn = np.concatenate([part for _, part in bootstrap_counts(seed, UNITS, range(RESAMPLES))])
    for number in range(RESAMPLES):
        again = [unit for unit, often in enumerate(drawn[number].tolist()) for _ in range(often)]
        rescored = score([gold[unit] for unit in again], [predictions[unit] for unit in again])
        ratios = result.mode.formula(rescored.table.sums(), Ratio)  # type: ignore[arg-type]
        for value, expected, ratio in zip(found[:, number].tolist(), rescored.scores.values(), ratios):
            if not ratio.denominator:  # type: ignore[attr-defined]
                assert math.isnan(value)
            else:
                assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12)


def test_nothing_to_resample(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    outcome = cs_score("scifact", "--gold", tmp_path / "empty", "--predictions", tmp_path / "empty", "--bootstrap", "5")
    assert outcome.complaint == "there is no unit to resample"
    with pytest.raises(InputError, match="no unit"):
        intervals(scifact.score([], []))
