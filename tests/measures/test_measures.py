"""Names of measures: they parse back, they name every score that a result has, and one entry makes a new one."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.errors import UsageError
from cs_score.coldstart.options import Options
from cs_score.coldstart.samples import VALUE_CODES
from cs_score.measures import (
    ALL_HOPS,
    COLD_START_MODE,
    MEASURES,
    Measure,
    Ratio,
    divide,
    find_name,
    formula_of,
    headline_names,
    measure_names,
    parse_measure,
    rankable_measures,
    select_names,
    sum_columns_of,
)
from tests.documents import ROOT
from tests.scoring import score

INPUTS: Final = [str(ROOT / name) for name in ("queries/ldc-queries.xml", "assessments/pool-2016.tab")]
RUN: Final = str(ROOT / "submissions/tide-kb.tab.txt")

cold_start = st.sampled_from(MEASURES[COLD_START_MODE])
levels = st.one_of(st.just(ALL_HOPS), st.integers(0, 99_999).map(str))


@given(cold_start, levels)
def test_a_measure_parses_from_its_printed_form(measure: Measure, level: str) -> None:
    assert parse_measure(str(measure.at_level(level))) == measure.at_level(level)
    assert measure.at_level(level).level == level


@pytest.mark.parametrize("mode", MEASURES)
def test_names_of_a_mode_are_unique_and_parse(mode: str) -> None:
    assert [parse_measure(name) for name in measure_names(mode)] == list(MEASURES[mode])
    assert len(set(measure_names(mode))) == len(measure_names(mode))
    assert set(headline_names(mode)) <= set(measure_names(mode))
    assert sorted(map(str, rankable_measures(mode))) == sorted(measure_names(mode))
    assert str(rankable_measures(mode)[0]) == headline_names(mode)[0]


@pytest.mark.parametrize(
    "text", ["", "SF", "SF-AP@", "SF-AP@01", "SF-AP@-1", "SF-AP@\u0661", "LDC-MAX-AP", "abstract_f1@0", " SF-AP"]
)
def test_other_texts_are_no_measures(text: str) -> None:
    with pytest.raises(UsageError, match="no measure called"):
        parse_measure(text)


def test_a_result_has_the_registered_measures_and_no_other() -> None:
    (run,) = score(INPUTS[:1], [INPUTS[1], RUN], Options(expand="ISLE26")).runs
    assert {parse_measure(name) for name in run.scores} == set(run.score_by_measure)
    over_all = [name for name in run.scores if "@" not in name]
    assert over_all == list(measure_names(COLD_START_MODE))
    assert {name.partition("@")[0] for name in run.scores} == set(over_all)


def test_without_ldc_queries_there_are_those_of_slot_filling_queries() -> None:
    assert {measure.table for measure in rankable_measures(COLD_START_MODE, has_ldc_queries=False)} == {"SF"}
    assert all(name.startswith("SF-") for name in headline_names(COLD_START_MODE, has_ldc_queries=False))


def test_the_codes_of_resamples_stand_for_measures() -> None:
    named = {str(code): str(code.measure) for code in VALUE_CODES}
    assert named["ALLEP_LDCMEAN_Ma_A_F"] == "LDC-MEAN-ALL-Macro-F1"
    assert named["ONEEP_SLOTFLG_Mi_0_P"] == "SF-ALL-Micro-P@0"
    assert all(parse_measure(name) for name in named.values())
    every_entry_point = [name for code, name in named.items() if code.startswith("ALLEP")]
    assert len(set(every_entry_point)) == len(every_entry_point)


@given(st.lists(cold_start, min_size=1, unique=True), st.data())
def test_a_ratio_divides_to_the_score(measures: list[Measure], data: st.DataObject) -> None:
    sums = [data.draw(st.integers(1, 9)) for _ in sum_columns_of(measures)]
    scores = formula_of(measures)(sums, divide)
    for score_, ratio in zip(scores, formula_of(measures)(sums, Ratio)):
        assert divide(ratio.numerator, ratio.denominator) == pytest.approx(score_)


def test_patterns_choose_in_the_order_of_tables() -> None:
    known = measure_names(COLD_START_MODE)
    selected = select_names(known, ["*-AP", "SF-ALL-Micro-?"])
    assert selected == ["SF-ALL-Micro-P", "SF-ALL-Micro-R", "SF-AP", "LDC-MEAN-AP"]
    with pytest.raises(UsageError, match="no measure called SF-BP; did you mean SF-AP"):
        select_names(known, ["SF-BP"])
    with pytest.raises(UsageError, match=r"did you mean LDC-MEAN-ALL-Macro-F1\?"):
        parse_measure("ldc-mean-f1")
    with pytest.raises(UsageError, match=r"did you mean LDC-MEAN-ALL-Macro-F1\?"):
        parse_measure("LDC-MEAN-Macro-F1")


def test_the_guide_names_the_measures() -> None:
    section = (ROOT / "docs" / "reference" / "measures.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:SF|LDC-M)[A-Z]*-[^`]+)`", section):
        if name != "SF-ALL-Micro":  # a row of the reference's table
            assert str(parse_measure(name)) == name


def test_a_name_is_found_in_any_letter_case() -> None:
    known = measure_names(COLD_START_MODE)
    assert find_name("sf-ap@1", known) == "SF-AP@1"
    assert find_name("ldc-mean-all-macro-f1", known) == "LDC-MEAN-ALL-Macro-F1"
    assert {find_name(text, known) for text in ("SF-AP@", "SF-AP@x", "SF", "")} == {None}
