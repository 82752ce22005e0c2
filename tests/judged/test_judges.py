"""A second assessor of judged answers: agreement, scores under either, and estimates from a sample."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from scipy.stats import norm

import cs_score as cs
from tests.evidence.command import cs_score

POLICY: Final = ("--policy", "right=yes,half=partly,wrong=no")

Labels = Mapping[str, str]
"""The label of the one answer of each unit."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_table(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with open(name, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def write_labels(name: str, labels: Labels) -> None:
    write_table(name, ("unit", "answer", "label"), [(unit, "a", label) for unit, label in labels.items()])


def drawn_labels(seed: int, units: int = 200) -> tuple[Labels, Labels]:
    """The labels of a model, and those of people, of whom it differs in a fifth of the units."""
    drawn = random.Random(seed)
    people = {f"q{number}": drawn.choice(("yes", "yes", "no", "partly")) for number in range(units)}
    model = {
        unit: label if drawn.random() < 0.8 else drawn.choice(("yes", "no", "partly")) for unit, label in people.items()
    }
    return model, people


def write_case(model: Labels, people: Labels, probability: str = "1") -> None:
    write_labels("model.csv", model)
    write_labels("people.csv", people)
    write_table("run.csv", ("unit", "answer"), [(unit, "a") for unit in model])
    write_table("inclusion.csv", ("probability",), [(probability,)])


def document(*words: str) -> Any:
    outcome = cs_score(*words, *POLICY, "--format", "json")
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)


JOINED: Final = ("--gold", "model.csv", "--predictions", "run.csv")
LABELLED: Final = ("--predictions", "model.csv")
SAMPLE: Final = ("--second-assessments", "people.csv", "--inclusion", "inclusion.csv")


@pytest.mark.parametrize("files", [JOINED, LABELLED], ids=["joined", "labelled"])
def test_everything_in_the_sample_gives_the_score_under_the_second_labels(files: Sequence[str]) -> None:
    write_case(*drawn_labels(1))
    [run] = document("score", "pool", *files, *SAMPLE)["runs"]
    under_second = document("score", "pool", "--predictions", "people.csv")["micro-p"]
    under_first = document("score", "pool", "--predictions", "model.csv")["micro-p"]
    assert run["precision"]["estimate"] == pytest.approx(under_second, abs=1e-12)
    assert run["precision"]["low"] == run["precision"]["high"] == run["precision"]["estimate"]
    assert run["right"]["estimate"] == pytest.approx(200 * under_second, abs=1e-9)
    assert run["score"] == under_first != under_second


def test_a_sample_that_says_the_same_leaves_the_score() -> None:
    model, _ = drawn_labels(2)
    sample = dict(list(model.items())[::4])
    write_case(model, sample, "0.25")
    [run] = document("score", "pool", *JOINED, *SAMPLE)["runs"]
    assert run["precision"]["estimate"] == pytest.approx(run["score"], abs=1e-12)
    assert run["precision"]["standard_error"] == pytest.approx(0.0, abs=1e-12)


def test_a_uniform_sample_is_prediction_powered_inference() -> None:
    """`ppi_mean_ci(Y, Yhat, Yhat_unlabeled, alpha=0.05, lam=1)` of ppi_py 0.2.3 as its paper has it."""
    model, people = drawn_labels(3)
    units = random.Random(3).sample(list(people), 60)
    write_case(model, {unit: people[unit] for unit in units}, "0.3")
    values = {"yes": 1.0, "partly": 0.5, "no": 0.0}
    predicted = np.array([values[label] for label in model.values()])
    errors = np.array([values[people[unit]] - values[model[unit]] for unit in units])
    point = predicted.mean() + errors.mean()
    reach = norm.ppf(0.975) * math.sqrt(predicted.var() / 200 + errors.var() / 60)
    [run] = document("score", "pool", *JOINED, *SAMPLE)["runs"]
    assert run["precision"]["estimate"] == pytest.approx(point, abs=1e-12)
    assert run["precision"]["population_low"] == pytest.approx(point - reach, abs=1e-9)
    assert run["precision"]["population_high"] == pytest.approx(point + reach, abs=1e-9)


def test_limits_hold_the_score_under_the_second_labels() -> None:
    """Of 60 samples drawn by the first label, 95 % limits hold it in all but some."""
    model, people = drawn_labels(4, units=400)
    write_case(model, people)
    probabilities = {"yes": 0.3, "partly": 0.6, "no": 0.5}
    write_table("inclusion.csv", ("label", "probability"), probabilities.items())
    result = cs.pool("model.csv", policy={"right": ["yes"], "half": ["partly"], "wrong": ["no"]})
    truth = cs.pool("people.csv", policy="right=yes,half=partly,wrong=no").scores["micro-p"]
    held = 0
    drawn = random.Random(4)
    for _ in range(60):
        sample = {unit: label for unit, label in people.items() if drawn.random() < probabilities[model[unit]]}
        write_labels("sample.csv", sample)
        estimates = cs.sampled_pool({"m": result}, "inclusion.csv", second_assessments="sample.csv")
        row = estimates.rows()[0]
        held += row["low"] <= truth <= row["high"]
    assert held >= 51  # of a binomial distribution of 60 and .95 less than 52 have probability .004


def test_a_pool_of_which_a_sample_was_assessed() -> None:
    """Ten answers, five of them assessed with probability .5, of which four are right: .8, without predictions."""
    write_labels("sample.csv", {f"q{number}": "no" if number == 0 else "yes" for number in range(5)})
    write_table("answers.csv", ("unit", "answer"), [(f"q{number % 5}", "ab"[number // 5]) for number in range(10)])
    write_table("inclusion.csv", ("probability",), [("0.5",)])
    words = ("score", "pool", "--gold", "sample.csv", "--predictions", "answers.csv", "--inclusion", "inclusion.csv")
    [run] = document(*words)["runs"]
    assert (run["answers"], run["assessed"]) == (10, 5)
    assert run["precision"]["estimate"] == pytest.approx(0.8, abs=1e-12)
    assert run["right"]["estimate"] == pytest.approx(8.0, abs=1e-12)


def test_two_systems_share_the_sample() -> None:
    """The same answers twice: the error of the difference is 0."""
    model, people = drawn_labels(5)
    write_case(model, dict(list(people.items())[:50]), "0.25")
    write_table("other.csv", ("unit", "answer"), [(unit, "a") for unit in model])
    found = document("compare", "pool", "--gold", "model.csv", "run.csv", "other.csv", *SAMPLE)
    [pair] = found["differences"]
    assert pair["precision"]["estimate"] == pair["precision"]["low"] == pair["precision"]["high"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--inclusion", "strata.csv"), "columns are unit, answer, evidence, probability"),
        (("--inclusion", "inclusion.csv", "--second-assessments", "part.csv"), "run.csv line 3 was not assessed"),
        (("--inclusion", "inclusion.csv", "--second-assessments", "other.csv"), "labels that the policy does not name"),
        (("--second-assessments", "people.csv"), "--second-assessments goes with --inclusion"),
    ],
)
def test_what_cannot_be_estimated_is_one_line(words: Sequence[str], said: str) -> None:
    write_case({"q1": "yes", "q2": "no"}, {"q1": "yes", "q2": "yes"})
    write_labels("part.csv", {"q1": "yes"})
    write_labels("other.csv", {"q1": "perhaps"})
    write_table("strata.csv", ("label", "probability"), [("yes", "1")])
    outcome = cs_score("score", "pool", *JOINED, *POLICY, *words)
    assert outcome.status in (1, 2)
    [line] = outcome.err.splitlines()
    assert said in line


def test_agreement_is_over_the_units_of_both() -> None:
    """Three of four units judged twice, two of them alike; the scores are those of these three units."""
    write_case({"q1": "yes", "q2": "no", "q3": "yes", "q4": "no"}, {"q1": "yes", "q2": "yes", "q3": "yes"})
    words = ("compare", "pool", "--gold", "model.csv", "run.csv", "--second-assessments", "people.csv")
    found = document(*words, "--key", "unit", "--measure", "micro-r")
    [agreement] = found["agreement"]
    assert (agreement["both"], agreement["agreed"]) == (3, 2)
    assert found["labels"] == [
        {"first": "yes", "second": "yes", "count": 2},
        {"first": "no", "second": "yes", "count": 1},
    ]
    assert [(row["unit"], row["first"], row["second"]) for row in found["differing"]] == [("q2", "no", "yes")]
    [run] = found["runs"]
    assert run["first"]["score"] == pytest.approx(2 / 3)
    assert run["second"]["score"] == 1.0
    assert "3 of 4 units" in " ".join(note["text"] for note in found["notes"])
