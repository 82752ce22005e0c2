"""R4C: similarity, alignment, the draw of references, worked examples, messages, explanations."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from cs_score.base.errors import InputError
from cs_score.evidence import r4c
from cs_score.evidence.mode import Result
from cs_score.evidence.r4c import WEIGHTS, Scorer, drawn_orders, total_weight

Json = dict[str, Any]
Step = tuple[str, int, tuple[str, ...]]


def derivation(*facts: tuple[str, ...]) -> list[Step]:
    return [("Title", 0, fact) for fact in facts]


EXAMPLE_PREDICTION = derivation(("London", "is in", "england"), ("Ada", "born at", "Londn"))
EXAMPLE_REFERENCES = [
    derivation(("Ada", "born in", "London"), ("London", "is in", "England")),
    derivation(("Ada", "was born in", "London, England")),
    derivation(("Ada Lovelace", "lived in", "London"), ("London", "capital of", "England"), ("Ada", "is", "English")),
]


def score_one(predicted: object, derivations: object, /, **options: Any) -> Result:
    return r4c.MODE.score({"k": derivations}, {"re": {"k": predicted}}, **options)


def problem(predicted: object, derivations: object) -> str:
    with pytest.raises(InputError) as raised:
        score_one(predicted, derivations)
    return str(raised.value)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Londn", "London", 1 - 1 / 6),
        ("born at", "born in", 1 - 2 / 7),
        ("LONDON", "london", 1.0),
        ("", "abc", 0.0),
        ("abc", "", 0.0),
        ("same", "same", 1.0),
        ("🙂🙃", "🙂", 0.5),  # code points, not bytes or halves of pairs
        ("İİ", "ab", 1 - 4 / 2),  # each capital I with dot becomes two code points
        ("ΣΑΣ", "σας", 1.0),  # final sigma
        ("é", "e\u0301", 0.0),  # no normalisation: two edits over two code points
    ],
)
def test_similarity(one: str, other: str, expected: float) -> None:
    assert Scorer().similarities([one], [other]).tolist() == [[expected]]


def test_similarity_of_empty_strings_is_no_number() -> None:
    assert math.isnan(Scorer().similarities([""], [""]).item())


def best_total(weights: Sequence[Sequence[float]]) -> float:
    """The largest total over all one-to-one alignments, tried one by one."""
    rows, columns = len(weights), len(weights[0])
    if rows > columns:
        return best_total([[row[column] for row in weights] for column in range(columns)])
    return max(
        sum(max(0.0, weights[row][column]) for row, column in enumerate(chosen))
        for chosen in itertools.permutations(range(columns), rows)
    )


def test_alignment_is_as_good_as_the_best_of_all() -> None:
    draw = random.Random(11)
    scorer = Scorer()
    for _ in range(300):
        rows, columns = draw.randint(1, 4), draw.randint(1, 4)
        weights = [[draw.choice((-0.5, 0, 0.25, 0.5, 1)) for _ in range(columns)] for _ in range(rows)]
        pairs = scorer.align(weights)
        assert total_weight(pairs) == best_total(weights)
        assert all(pair.weight == weights[pair.predicted][pair.gold] > 0 for pair in pairs)
        assert [pair.predicted for pair in pairs] == sorted({pair.predicted for pair in pairs})
        assert len({pair.gold for pair in pairs}) == len(pairs)


def stream(instances: int, references: int) -> Iterator[str]:
    """The draws in the order in which the stream gives them."""
    orders = drawn_orders(instances, references)
    for level in range(3):
        for instance in orders:
            yield "".join(map(str, instance[level]))


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        (3, "021 210 201 102 210 102 201 201 021 012 210 120 102 012 120"),
        (2, "02 12 20 20 12 20 01 21 10 02 21 20 20 02 10"),
        (1, "0 2 2 0 1 2 1 2 2 0 2 0 1 1 2"),
    ],
)
@pytest.mark.parametrize("instances", [1, 2, 5])
def test_draws(references: int, expected: str, instances: int) -> None:
    assert list(stream(instances, references)) == expected.split()[: 3 * instances]


def test_worked_example() -> None:
    result = score_one(EXAMPLE_PREDICTION, EXAMPLE_REFERENCES)
    e, r, er = 0.9583333333333334, 0.8571428571428572, 0.9246031746031746
    assert list(result.scores.values()) == pytest.approx([e] * 3 + [r] * 3 + [er] * 3, abs=1e-15)
    official = result.mode.official(result.scores)
    assert list(official) == ["e", "r", "er"]
    assert official["e"] == {"prec": e, "recall": e, "f1": pytest.approx(e, abs=1e-15)}
    assert result.table.columns[0] == "instances"
    assert result.origin.options == {"references": 3, "ignore_missing": False, "seed": 3}
    totals = [
        {0: 1.9166666666666667, 1: 0.6666666666666667, 2: 1.5416666666666667},
        {0: 1.7142857142857144, 1: 0.4545454545454546, 2: 0.6},
        {0: 1.8492063492063493, 1: 0.595959595959596, 2: 1.1361111111111113},
    ]
    for choice, expected in zip(r4c.MODE.evaluated(result.units[0]).choices, totals):
        assert dict(zip(choice.order, choice.totals)) == pytest.approx(expected, abs=1e-15)
        assert choice.reference == 0


def tied_corpus(instances: int) -> tuple[Json, Json]:
    """Predictions of one fact that all three references contain, of one, two and three facts."""
    facts = [("same", "same", "same"), ("qq", "ww", "zz"), ("xx", "yy", "vv")]
    keys = [f"k{number}" for number in range(instances)]
    gold = {key: [derivation(*facts[:length]) for length in (1, 2, 3)] for key in keys}
    return gold, {"re": {key: derivation(facts[0]) for key in keys}}


def test_first_drawn_reference_wins_ties() -> None:
    scores = r4c.MODE.score(*tied_corpus(12)).scores
    assert [scores[f"{level}_recall"] for level in WEIGHTS] == pytest.approx(
        [0.5416666666666666, 0.5138888888888888, 0.6249999999999999], abs=1e-15
    )
    assert [scores[f"{level}_prec"] for level in WEIGHTS] == [1.0, 1.0, 1.0]


def test_missing_instances_draw_nothing_where_they_are_no_error() -> None:
    gold, predictions = tied_corpus(6)
    fewer = {key: value for key, value in predictions["re"].items() if key not in ("k0", "k3")}
    result = r4c.MODE.score(gold, {"re": fewer}, ignore_missing=True)
    assert result.scores == r4c.MODE.score(*tied_corpus(4)).scores
    assert result.table.ids == ("k1", "k2", "k4", "k5")
    assert result.notices == ("<predictions>: 2 of 6 instances left out, without prediction",)
    with pytest.raises(InputError) as raised:
        r4c.MODE.score(gold, {"re": fewer})
    assert str(raised.value) == (
        "<predictions>: instance k0: no derivation for it (2 of 6 instances have none); "
        "--ignore-missing leaves such instances out"
    )


@pytest.mark.parametrize("gold", [{}, {"k": []}])
def test_nothing_to_score(gold: dict[str, object]) -> None:
    with pytest.raises(InputError, match="nothing to score"):
        r4c.MODE.score(gold, {"re": {}}, ignore_missing=True)


def test_further_references_and_items_are_not_looked_at() -> None:
    wanted = score_one(EXAMPLE_PREDICTION, EXAMPLE_REFERENCES).scores
    longer = [(title, number, (*fact, 5)) for title, number, fact in EXAMPLE_PREDICTION]
    assert score_one(longer, [*EXAMPLE_REFERENCES, "broken"]).scores == wanted
    # With one instance and one reference the draws are 0, 2 and 2.
    undrawn = [EXAMPLE_REFERENCES[0], "broken", EXAMPLE_REFERENCES[0]]
    assert score_one(EXAMPLE_PREDICTION, undrawn, references=1).scores["e_prec"] == 0.9583333333333334


@pytest.mark.parametrize("fact", [("", "is", "c"), ("a", "", "c"), ("a", "is", "")])
def test_two_empty_strings_cannot_be_compared(fact: tuple[str, ...]) -> None:
    said = problem(derivation(fact), [derivation(fact)] * 3)
    assert said == "<gold>: instance k: two empty strings are to be compared, for which no similarity is defined"


def test_empty_relations_matter_only_where_relations_are_compared() -> None:
    # One reference: `e`, which compares no relations, draws position 0; the others draw position 2.
    predicted = derivation(("a", "", "c"))
    references = [derivation(("a", "", "c")), [], derivation(("a", "is", "c"))]
    assert score_one(predicted, references, references=1).scores["e_f1"] == 1.0


@pytest.mark.parametrize(
    ("predicted", "references", "expected"),
    [
        ([["T", 0]], EXAMPLE_REFERENCES, "<predictions>: instance k: a step of 2 items where [title,"),
        ([["T", 0, ["a", "b"]]], EXAMPLE_REFERENCES, "<predictions>: instance k: a fact of 2 items where [head,"),
        ([["T", 0, ["a", 3, "b"]]], EXAMPLE_REFERENCES, "<predictions>: instance k: a fact holds a number where text"),
        ([["T", 0, "abc"]], EXAMPLE_REFERENCES, "<predictions>: instance k: a fact is text where a list is expected"),
        (None, EXAMPLE_REFERENCES, "<predictions>: instance k: the derivation is null where a list is expected"),
        ([], None, "<gold>: instance k: its list of references is null where a list is expected"),
        ([], [[], []], "<gold>: instance k: reference 3 was drawn, but the instance has only 2 references"),
        ([], [[], [5], []], "<gold>: instance k, reference 2: a step is a number where a list is expected"),
    ],
)
def test_bad_derivation(predicted: object, references: object, expected: str) -> None:
    assert problem(predicted, references).startswith(expected)


@pytest.mark.parametrize(
    ("gold", "predictions", "expected"),
    [
        ([], {"re": {}}, "<gold>: the file is a list where an object is expected"),
        ({}, [], "<predictions>: the file is a list where an object is expected"),
        ({}, {"answer": {}}, "<predictions>: the key 're' is missing"),
        ({}, {"re": []}, "<predictions>: 're' is a list where an object is expected"),
    ],
)
def test_bad_file(gold: Any, predictions: Any, expected: str) -> None:
    with pytest.raises(InputError) as raised:
        r4c.MODE.score(gold, predictions)
    assert str(raised.value) == expected
