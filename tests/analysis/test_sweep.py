"""Thresholds of confidence against the scorer: each score is that of the files without the lines below it (law 1)."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.analysis.coldstart.sections.sweep import thresholds
from cs_score.analysis.coldstart.whatif.rescoring import Rescoring
from cs_score.coldstart.gold import load_run, open_gold
from tests.analysis.rewriting import EXACT, Call
from tests.analysis.test_effects import call_of, laws
from tests.analysis.variants import Variant, variants
from tests.coldstart.recorded import Case, committed_cases, shared_cases
from tests.coldstart.worlds import Answer, World, worlds

FEW = 6


class Line(NamedTuple):
    """A line of a run file, by its place; what is read of it, or None of one that says nothing."""

    file: str
    number: int
    text: str

    @property
    def columns(self) -> list[str]:
        columns = self.text.split("\t")
        return columns if len(columns) >= 8 else []

    @property
    def confidence(self) -> float:
        return min(1.0, float(self.columns[7]))

    @property
    def target(self) -> str:
        return Answer(self.columns[0], "", self.columns[4], self.columns[6].partition(":")[0]).follow_on()


def left(call: Call, world: World, run_id: str, threshold: float) -> tuple[set[tuple[str, int]], int]:
    """The places of the lines that are below a threshold or hang below such lines, and how many of the run count."""
    asked = {query for each in world.queries for query in each.sf_queries()}
    if call.files[0] == "pool.tab":
        asked |= {assessment.answer.follow_on() for assessment in world.pool}
    gone: set[tuple[str, int]] = set()
    counted = 0
    for name in (name for name in call.files if name != "pool.tab"):
        of_text: dict[str, bool] = {}
        for number, text in enumerate((call.folder / name).read_text().splitlines(), 1):
            line = Line(name, number, text)
            if not line.columns:
                continue
            is_first = text not in of_text
            is_low = line.columns[2] == run_id and line.confidence < threshold
            stays = of_text.setdefault(text, line.columns[0] in asked and not is_low)
            if not stays:
                gone.add((name, number))
                continue
            asked.add(line.target)
            counted += is_first and line.columns[2] == run_id and line.columns[1] != "per:spouse"
    return gone, counted


def check_row(call: Call, analysis: Mapping[str, Any], row: Mapping[str, Any], gone: set[tuple[str, int]]) -> None:
    """Hold the scores at a threshold against those of the files without the lines that are gone."""
    removed = [{"file": file, "line": number} for file, number in sorted(gone)]
    with call.rewritten(removed, [], ""):
        found = call.scores(analysis["run"])
    measure, at, hop = analysis["measure"].partition("@")
    stem = measure.rpartition("-")[0] + ("-ALL-Macro" if measure.endswith("AP") else "")
    expected = {name: found.get(f"{stem}-{statistic}{at}{hop}") for name, statistic in _STATISTICS.items()}
    base, score = analysis["scores"][analysis["measure"]], found.get(analysis["measure"])
    expected["gain"] = None if score is None else score - base
    for name, wanted in expected.items():
        assert row[name] == (None if wanted is None else pytest.approx(wanted, abs=EXACT)), (row, name)
    assert ("reason" in row) == (None in expected.values())


_STATISTICS = {"precision": "P", "recall": "R", "f1": "F1"}


@laws
@given(worlds(), variants(), st.data())
def test_in_an_invented_world(world: World, variant: Variant, data: st.DataObject) -> None:
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder:
        call = variant.write(world, Path(folder), data)
        for run_id in call.run_ids():
            scores = call.scores(run_id)
            if not scores:
                continue
            measure = data.draw(st.sampled_from(sorted(scores)))
            outcome, analysis = call.analyze("--run", run_id, "--top", "1", "--measure", measure)
            assert outcome.status == 0, outcome.stderr
            for row in analysis["sweep"]:
                gone, counted = left(call, world, run_id, row["threshold"])
                check_row(call, analysis, row, gone)
                assert row["lines"] == counted
            check_best(analysis)


def check_best(analysis: Mapping[str, Any]) -> None:
    gains = [row["gain"] for row in analysis["sweep"] if row["gain"] is not None]
    if not gains:
        assert analysis["best"] is None
        return
    assert analysis["best"]["gain"] == pytest.approx(max(gains), abs=EXACT)
    assert analysis["best"] in [{"threshold": row["threshold"], "gain": row["gain"]} for row in analysis["sweep"]]


def check(call: Call, most: int) -> None:
    """Check so many thresholds of each run of recorded files, spread over all."""
    for run_id in call.run_ids():
        outcome, analysis = call.analyze("--run", run_id, "--top", "1")
        if outcome.status:
            assert call.scores(run_id) == {}, outcome.stderr
            continue
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(call.folder)
            run = load_run(open_gold(call.queries, call.options), call.files)
            dependents = Rescoring(score_for_analysis(run, call.options.policy, run_id)).dependents
        lines = [line for line in run.links.responses if line.run_id == run_id]
        rows = analysis["sweep"]
        for row in rows[:: max(1, len(rows) // most)] if not run.links.skipped else ():
            below = dependents.with_dependents(line for line in lines if line.confidence < row["threshold"])
            check_row(call, analysis, row, set(below.places))
        check_best(analysis)


@pytest.mark.parametrize("case", committed_cases(), ids=lambda case: case.folder.name)
def test_in_a_committed_case(case: Case, tmp_path: Path) -> None:
    if (call := call_of(case, tmp_path)) is not None:
        check(call, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("case", shared_cases(), ids=lambda case: case.folder.name)
def test_in_a_shared_case(case: Case, tmp_path: Path) -> None:
    if (call := call_of(case, tmp_path)) is not None:
        check(call, FEW)


def test_thresholds_are_the_confidences_or_their_percentiles() -> None:
    assert thresholds([0.5, 0.25, 0.5]) == [0.25, 0.5]
    many = [at / 1000 for at in range(1000, 0, -1)]
    assert thresholds(many) == [at / 1000 for at in range(1, 1000, 10)]
    # Large runs have fewer: each of them costs a part of scoring the run.
    assert thresholds(many * 10) == thresholds(many)
    assert thresholds(many * 20) == [at / 1000 for at in range(1, 1000, 20)]
    assert thresholds(many * 100) == [at / 1000 for at in range(1, 1000, 100)]
    assert thresholds([0.5] * 1_000_000) == [0.5]
