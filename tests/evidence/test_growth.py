"""Hostile predictions and gold cost work in proportion to their size."""

from __future__ import annotations

import functools
import math
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from cs_score.evidence import claims, hotpotqa, r4c, scifact
from tests.evidence.command import REPOSITORY
from tests.growth import assert_grows_in_proportion

COLLIDING: Final = sys.hash_info.modulus
"""Multiples of this have one hash."""


def _scifact_sentences(size: int) -> Callable[[], object]:
    sentences = [number * COLLIDING for number in range(size)]
    gold = {"id": 1, "evidence": {"1": [{"sentences": sentences, "label": "SUPPORT"}]}}
    given = {"id": 1, "evidence": {"1": {"sentences": sentences[::-1], "label": "SUPPORT"}}}
    return lambda: scifact.MODE.score([gold], [given])


def _claims_documents(size: int) -> Callable[[], object]:
    documents = [number * COLLIDING for number in range(1, size + 1)]
    gold = {"id": 1, "cited_doc_ids": documents}
    return lambda: claims.MODE.score([gold], [{"id": 1, "evidence": dict.fromkeys(map(str, documents), ())}])


def _hotpotqa_facts(size: int) -> Callable[[], object]:
    facts = [["Title", number * COLLIDING] for number in range(size)]
    gold = [{"_id": "q", "answer": "", "supporting_facts": facts}]
    return lambda: hotpotqa.MODE.score(gold, {"answer": {}, "sp": {"q": facts[::-1]}})


@pytest.mark.parametrize("prepared", [_scifact_sentences, _claims_documents, _hotpotqa_facts])
def test_numbers_that_python_hashes_alike(prepared: Callable[[int], Callable[[], object]]) -> None:
    assert_grows_in_proportion(prepared, 2500)


@pytest.mark.parametrize("score", [functools.partial(scifact.MODE.score, any_order=True), claims.MODE.score])
def test_claims_whose_ids_python_hashes_alike(score: Callable[..., object]) -> None:
    def prepared(size: int) -> Callable[[], object]:
        gold = [{"id": number * COLLIDING, "evidence": {}} for number in range(1, size + 1)]
        return lambda: score(gold, gold[::-1])

    assert_grows_in_proportion(prepared, 2500)


@pytest.mark.parametrize(("gold", "predicted"), [("S{}", "S{}"), ("S{}", "C{}"), ("S", "C"), ("S", "")])
def test_many_sets_and_entries_or_one_long_entry(gold: str, predicted: str) -> None:
    def prepared(size: int) -> Callable[[], object]:
        wanted = [{"sentences": [number], "label": gold.format(number)} for number in range(size)]
        given = [{"sentences": [number], "label": predicted.format(size - number)} for number in range(size)]
        if not predicted:
            given = [{"sentences": list(range(size)), "label": gold}]
        files = [[{"id": 1, "evidence": {"5": entries}}] for entries in (wanted, given)]
        return lambda: claims.MODE.score(*files)

    assert_grows_in_proportion(prepared, 600)


@pytest.mark.parametrize(
    ("gold", "predicted", "position"),
    [
        (["a", 1], [["a", 1.0]], 0),
        ({"a": None}, [{"a": 0}, {"a": None}], 1),
        (1, ["1", True], 1),
        (None, [0, None], 1),
        ([["a"]], ["a", ["a"]], None),
        ([[], [1]], [[[1], []], [[], [1]]], 1),
        ({"a": 1, "b": [2]}, [{"a": [2], "b": 1}, {"b": [2], "a": 1}], 1),
        (math.nan, [math.nan], None),
    ],
)
def test_labels_of_any_kind_are_compared_by_value(gold: object, predicted: list[object], position: int | None) -> None:
    entries = [{"sentences": [number], "label": label} for number, label in enumerate(predicted)]
    wanted = {"id": 1, "evidence": {"5": [{"sentences": [0, 1], "label": gold}]}}
    result = claims.MODE.score([wanted], [{"id": 1, "evidence": {"5": entries}}])
    text = "\n".join(result.explain_unit_at(0))
    assert (f"entry {position + 1}, the first" if position is not None else "no predicted entry") in text


def test_many_steps_need_little_memory() -> None:
    draw = random.Random(5)

    def derivation() -> list[object]:
        return [["t", 0, [f"{draw.random()}", f"{draw.random()}", f"{draw.random()}"]] for _ in range(400)]

    corpus: Mapping[str, object] = {"k": [derivation() for _ in range(3)]}
    predicted = {"re": {"k": derivation()}}
    r4c.MODE.score({"k": [[]] * 3}, {"re": {"k": []}})  # loads what is needed
    tracemalloc.start()
    try:
        r4c.MODE.score(corpus, predicted)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 80 * 3 * 400 * 400  # ten numbers for each pair of facts


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited as Linux does")
@pytest.mark.parametrize("megabytes", [64, 128, 200, 240])
def test_too_little_memory_for_the_solver_is_one_line(tmp_path: Path, megabytes: int) -> None:
    (tmp_path / "g.json").write_text('{"k": [[], [], []]}')
    (tmp_path / "p.json").write_text('{"re": {"k": []}}')
    command = f"ulimit -v {megabytes * 1024}; exec {sys.executable} -m cs_score r4c --gold g.json --predictions p.json"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(("cs-score: scipy needs ", "cs-score: not enough memory"))
    assert done.stderr.count("\n") == 1
