"""Benchmarks measure what they say: their inputs are scored without complaint, and they end where bytes differ."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks import api, batch, evidence_corpora, insight, kb_generator, preparation
from benchmarks.process import FailedRunError
from tests.coldstart.command import score_in
from tests.evidence.command import cs_score
from tests.evidence.recorded import FAMILIES


def test_every_name_is_a_module() -> None:
    for name in benchmarks.NAMES:
        assert callable(__import__(f"benchmarks.{name}", fromlist=["main"]).main)


def test_runs_scored_from_python_have_the_bytes_of_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "ROUNDS", 1)
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    assert api.many_runs(str(one), 2, 50)[0].value > 0
    changed = {"api": {"R0001/out.sf": b"other"}}
    monkeypatch.setattr(api, "outputs", lambda name: batch.outputs(name) | changed.get(os.path.basename(name), {}))
    other.mkdir()
    with pytest.raises(FailedRunError, match="the API and the batch write different bytes"):
        api.many_runs(str(other), 2, 50)


@pytest.mark.slow
def test_the_whole_benchmark_of_batches(tmp_path: Path) -> None:
    found, different = batch.measure(str(tmp_path), runs=3, lines=200, rounds=2)
    assert [set(of_round) for of_round in found] == [{"single", "one job", "two jobs", "dask"}] * 2
    assert different == []


def test_commands_of_analysis_are_measured_beside_scoring(tmp_path: Path) -> None:
    figures = insight.small(str(tmp_path), 200, rounds=1)
    assert [figure.limit for figure in figures] == [15, 1.5, 2.5]
    assert all(figure.value > 0 for figure in figures)


def test_knowledge_bases_are_valid_and_answer(tmp_path: Path) -> None:
    assert kb_generator.main(["1000", "20", str(tmp_path)]) == 0
    lines = (tmp_path / "kb.tac").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1001
    assert 150 < sum("\tmention" in line for line in lines) < 320
    assert score_in(tmp_path, ("validate-kb", "-output", "tac", "kb.tac")).status == 0
    assert score_in(tmp_path, ("resolve-queries", "queries.xml", "kb.tac.valid", "out.tab")).status == 0
    assert (tmp_path / "out.tab").read_bytes().count(b"\n") > 5


def test_the_programs_before_the_scorer_end_without_a_warning(tmp_path: Path) -> None:
    preparation.prepare(200, str(tmp_path))
    for program, (words, inputs, output) in preparation.PROGRAMS.items():
        outcome = score_in(tmp_path, (program.split()[0], *words))
        assert outcome.status == 0
        assert outcome.stderr in (b"No warnings encountered\n", b"")
        assert all((tmp_path / name).exists() for name in (*inputs, output))
        assert (tmp_path / output).read_bytes().count(b"\n") == 200


@pytest.mark.parametrize("family", FAMILIES)
def test_evidence_corpora_are_equal_for_equal_seeds_and_can_be_scored(family: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        evidence_corpora.main([family, "40", str(tmp_path / name)])
    for role in ("gold", "predictions"):
        assert (tmp_path / "one" / role).read_bytes() == (tmp_path / "two" / role).read_bytes()
    one = tmp_path / "one"
    outcome = cs_score(family, "--gold", one / "gold", "--predictions", one / "predictions")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(f"{family}: 40 ")
