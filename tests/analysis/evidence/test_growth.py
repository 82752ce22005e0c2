"""The analysis of one unit with very many parts takes time in proportion to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cs_score.evidence import scifact
from tests.analysis.evidence.worlds import analyze
from tests.growth import assert_steps_grow_in_proportion

Json = dict[str, Any]

SHAPES = ("missed", "extra", "mislabelled", "refused", "incomplete")


def _documents(shape: str, size: int) -> tuple[Json, Json]:
    """Evidence of gold, a list of sets for each document, and a label with sentences for each that is predicted."""
    every = [str(number) for number in range(1, size + 1)]
    if shape == "refused":  # what would be added lies in two sets
        sets = [{"sentences": [1, 2], "label": "SUPPORT"}, {"sentences": [2, 3, 4], "label": "SUPPORT"}]
        return dict.fromkeys(every, sets), {}
    gold = {document: [{"sentences": [0, 1], "label": "SUPPORT"}] for document in every}
    given = {
        "missed": {},
        "extra": {f"9{document}": ("SUPPORT", [0]) for document in every},
        "mislabelled": {document: ("CONTRADICT", [0, 1]) for document in every},
        "incomplete": {document: ("SUPPORT", [0]) for document in every},
    }
    return gold, given[shape]


@pytest.mark.parametrize("shape", SHAPES)
def test_documents_of_one_claim_of_scifact(shape: str) -> None:
    def prepared(size: int) -> Callable[[], object]:
        gold, given = _documents(shape, size)
        predicted = {document: {"label": label, "sentences": of} for document, (label, of) in given.items()}
        result = scifact.score([{"id": 1, "evidence": gold}], [{"id": 1, "evidence": predicted}])
        return lambda: analyze(result, top=5, is_whole=False)

    assert_steps_grow_in_proportion(prepared, 40)
