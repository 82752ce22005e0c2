"""Recorded cases of the official evaluators: what `analyze --json` says against files rewritten as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.base.errors import InputError
from tests.analysis.evidence.worlds import SCORERS, Json, replaced
from tests.evidence.command import cs_score
from tests.evidence.recorded import COMMITTED, SHARED, TOLERANCE, Case, cases, name

MOST: Final = 25
"""Mistakes of a case that are scored one by one; of more, so many evenly spread over the list."""

SCORED: Final = [
    pytest.param(case, marks=marks, id=name(case))
    for folder, marks in ((COMMITTED, []), (SHARED, [pytest.mark.slow]))
    for case in cases(folder)
    if case.expected is not None
]


def option(case: Case, wanted: str) -> str:
    return case.words()[case.words().index(wanted) + 1]


def options(case: Case) -> dict[str, Any]:
    """The arguments of `score` that the case's options stand for."""
    words = case.words()
    found: dict[str, Any] = {}
    if "--references" in words:
        found["references"] = int(option(case, "--references"))
    for switch in ("--ignore-missing", "--any-order"):
        if switch in words:
            found[switch.removeprefix("--").replace("-", "_")] = True
    return found


def predictions_of(case: Case) -> Json:
    text = Path(option(case, "--predictions")).read_bytes().decode()
    if case.args[0] in ("r4c", "hotpotqa"):
        return json.loads(text)
    lines = re.split("\r\n|\r|\n", text)
    return [json.loads(line.strip("\ufeff\x1e")) for line in lines if line]


@pytest.mark.parametrize("case", SCORED)
def test_each_effect_is_what_the_rewritten_file_scores(case: Case) -> None:
    mode, *words = case.words()
    outcome = cs_score("analyze", mode, *(word for word in words if word != "--json"), "--format", "json")
    assert outcome.status == 0, outcome.err
    document = json.loads(outcome.out)
    score, gold, predictions = SCORERS[mode], option(case, "--gold"), predictions_of(case)
    assert document["scores"] == score(gold, predictions, **options(case)).scores
    mistakes = document["mistakes"]
    for mistake in mistakes[:: len(mistakes) // MOST + 1]:
        changed = replaced(mode, predictions, mistake["unit"], mistake["occurrence"], mistake["prediction"])
        try:
            then = score(gold, changed, **options(case)).scores
        except InputError:
            assert set(mistake["effects"].values()) == {None}
            continue
        for measure, effect in mistake["effects"].items():
            assert effect == pytest.approx(then[measure] - document["scores"][measure], abs=TOLERANCE)
    assert sum(row["count"] for row in document["budget"]) == len(mistakes)
    for dimension, groups in document["groups"].items():
        assert dimension == "aspect" or sum(group["mistakes"] for group in groups) == len(mistakes)
