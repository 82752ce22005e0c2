"""The benchmark's corpora can be scored, and its report says what was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import evidence_corpora
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
