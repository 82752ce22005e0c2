"""Pages from Python: those of the command line, and how a notebook shows them."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import cs_score as cs
from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.evidence.test_command import files


def test_a_result_gives_the_page_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("queries", "submissions", "assessments"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    queries, run, pool = "queries/ldc-queries.xml", "submissions/tide-kb.tab.txt", "assessments/pool-2016.tab"
    result = cs.prepare(queries, pool, expand="ISLE26").score(run)
    result.report("SF-AP").write("ours.html")
    words = ["report", "-expand", "ISLE26", "--measure", "SF-AP", queries, pool, run, "-o", "theirs.html"]
    assert score_in(tmp_path, words).status == 0
    assert Path("ours.html").read_bytes() == Path("theirs.html").read_bytes()
    assert result.report("SF-AP").html.encode() == Path("ours.html").read_bytes()
    with pytest.raises(cs.UsageError, match="no measure called chess"):
        result.report("chess")
    stored: Any = cs.load(result.to_json())
    with pytest.raises(cs.UsageError, match="report needs the lines of the run"):
        stored.report()


def test_predictions_give_the_page_of_the_command_line(tmp_path: Path) -> None:
    gold, predictions = map(str, files("scifact"))
    page = cs.scifact(gold, predictions).report("sentence_label_f1")
    words = ["report", "scifact", "--gold", gold, "--predictions", predictions, "--measure", "sentence_label_f1"]
    assert score_in(tmp_path, [*words, "-o", "theirs.html"]).status == 0
    assert page.html.encode() == (tmp_path / "theirs.html").read_bytes()


def test_a_notebook_shows_it_in_a_frame_that_may_do_nothing_but_run_its_script() -> None:
    page = cs.scifact(*map(str, files("scifact"))).report()
    (shown,) = re.findall(r'^<iframe srcdoc="([^"]*)" sandbox="allow-scripts" [^<>]*></iframe>$', page._repr_html_())
    assert html.unescape(shown) == page.html
