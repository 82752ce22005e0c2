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
from cs_score.evidence.r4c import drawn_orders, total_weight

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
    assert r4c.similarities([one], [other]).tolist() == [[expected]]


def test_similarity_of_empty_strings_is_no_number() -> None:
    assert math.isnan(r4c.similarities([""], [""]).item())


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
    for _ in range(300):
        rows, columns = draw.randint(1, 4), draw.randint(1, 4)
        weights = [[draw.choice((-0.5, 0, 0.25, 0.5, 1)) for _ in range(columns)] for _ in range(rows)]
        pairs = r4c.align(weights)
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


def test_further_references_and_items_are_not_looked_at() -> None:
    wanted = score_one(EXAMPLE_PREDICTION, EXAMPLE_REFERENCES).scores
    longer = [(title, number, (*fact, 5)) for title, number, fact in EXAMPLE_PREDICTION]
    assert score_one(longer, [*EXAMPLE_REFERENCES, "broken"]).scores == wanted
    # With one instance and one reference the draws are 0, 2 and 2.
    undrawn = [EXAMPLE_REFERENCES[0], "broken", EXAMPLE_REFERENCES[0]]
    assert score_one(EXAMPLE_PREDICTION, undrawn, references=1).scores["e_prec"] == 0.9583333333333334


def test_empty_relations_matter_only_where_relations_are_compared() -> None:
    # One reference: `e`, which compares no relations, draws position 0; the others draw position 2.
    predicted = derivation(("a", "", "c"))
    references = [derivation(("a", "", "c")), [], derivation(("a", "is", "c"))]
    assert score_one(predicted, references, references=1).scores["e_f1"] == 1.0


@pytest.mark.parametrize(
    ("predicted", "references", "expected"),
    [
        ([["T", 0, ["a", "b"]]], EXAMPLE_REFERENCES, "<predictions>: instance k: a fact of 2 items where [head,"),
        ([["T", 0, "abc"]], EXAMPLE_REFERENCES, "<predictions>: instance k: a fact is text where a list is expected"),
        (None, EXAMPLE_REFERENCES, "<predictions>: instance k: the derivation is null where a list is expected"),
        ([], None, "<gold>: instance k: its list of references is null where a list is expected"),
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
        ({}, {"re": {}}, "<predictions>: no instance has a prediction, so there is nothing to score"),
        ({}, {"re": []}, "<predictions>: 're' is a list where an object is expected"),
    ],
)
def test_bad_file(gold: Any, predictions: Any, expected: str) -> None:
    with pytest.raises(InputError) as raised:
        r4c.MODE.score(gold, predictions)
    assert str(raised.value) == expected
