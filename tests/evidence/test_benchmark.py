"""The benchmark's corpora can be scored, and its report says what was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import evidence, evidence_corpora
from benchmarks.process import Cost
from tests.evidence.command import cs_score
from tests.evidence.recorded import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_corpora_are_equal_for_equal_seeds_and_can_be_scored(family: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        evidence_corpora.main([family, "40", str(tmp_path / name)])
    for role in ("gold", "predictions"):
        assert (tmp_path / "one" / role).read_bytes() == (tmp_path / "two" / role).read_bytes()
    one = tmp_path / "one"
    outcome = cs_score(family, "--gold", one / "gold", "--predictions", one / "predictions")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(f"{family}: 40 ")


def test_line_tells_whether_the_limit_was_met() -> None:
    corpus = evidence.Corpus("r4c", 2_209, 1, "112 s", 2.2)
    assert evidence.line(corpus, Cost(2.1, 120_000_000), 2_900_000).split() == (
        "r4c 2209 2.9 2.100 120 112 s 2.2 s met".split()
    )
    assert evidence.line(corpus, Cost(2.3, 120_000_000), 2_900_000).endswith("MISSED")
    assert evidence.line(evidence.Corpus("r4c", 9, 1), Cost(2.3, 1_000_000), 1).split()[-2:] == ["-", "-"]


def test_every_mode_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert {corpus.mode for corpus in evidence.CORPORA} == set(FAMILIES)
    assert evidence.main(["--mode", "claims", "--largest", "10"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split()[:2] == ["mode", "units"]
