"""`cs-score explain` of the evidence modes: one unit step by step, with what its mistakes cost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import replace, to_builtins
from cs_score.evidence import hotpotqa, scifact
from tests.evidence.recorded import FAMILIES, example
from tests.evidence.worlds import analyze, explain, scored_worlds


@pytest.mark.parametrize("mode", FAMILIES)
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
        assert list(unit.lines) in [result.explained(position) for position in result.positions_of(unit.unit)]


def test_a_repeated_id_is_told_each_time() -> None:
    gold = [{"id": 5, "evidence": {"1": [{"sentences": [each], "label": "SUPPORT"}]}} for each in (1, 2)]
    predictions = [{"id": 5, "evidence": {"1": {"label": "SUPPORT", "sentences": [1]}}} for _ in range(2)]
    first, second = explain(scifact.MODE.score(gold, predictions), [5], "sentence_label_f1").units
    assert (first.occurrence, first.mistakes, first.scores["sentence_label_f1"]) == (1, (), 1.0)
    assert (second.occurrence, [mistake.occurrence for mistake in second.mistakes]) == (2, [2, 2])


def test_a_question_that_gold_repeats_has_its_mistakes_each_time() -> None:
    question = {"_id": "q", "answer": "yes", "supporting_facts": []}
    found = explain(hotpotqa.MODE.score([question, question], {"answer": {"q": "no"}, "sp": {}}), ["q"])
    assert [(unit.occurrence, len(unit.mistakes)) for unit in found.units] == [(1, 1), (2, 1)]


def test_what_cannot_be_explained() -> None:
    result = scifact.MODE.score(*example("scifact"))
    with pytest.raises(InputError, match="<gold>: no claim 71 was scored; did you mean 7"):
        explain(result, [71])
    with pytest.raises(UsageError, match="no measure called em"):
        explain(result, [7], "em")
