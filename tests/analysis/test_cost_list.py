"""The order of the cost list, its first rows alone, and how far its making is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cs_score.analysis.coldstart.analysis import analyze
from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.coldstart.gold import load_run, open_gold
from cs_score.coldstart.options import Options
from tests.coldstart.command import score_in
from tests.documents import ROOT

FILES = ("queries/ldc-queries.xml", "assessments/pool-2016.tab", "submissions/tide-kb.tab.txt")
SAMPLES = ("-expand", "ISLE26", *FILES)


def _analysis(*switches: str) -> dict[str, Any]:
    outcome = score_in(ROOT, ("analyze", *switches, "--format=json", *SAMPLES))
    assert outcome.status == 0, outcome.stderr
    assert outcome.stderr == b""
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


@pytest.mark.parametrize("measure", ["LDC-MEAN-ALL-Macro-F1", "SF-ALL-Micro-P@1", "LDC-MAX-ALL-Micro-F1", "SF-AP"])
def test_the_first_mistakes_are_those_of_the_whole_list(measure: str) -> None:
    """They are found by one measure alone, and told with all."""
    whole, first = _analysis("--measure", measure), _analysis("--measure", measure, "--top", "4")
    assert first["mistake_count"] == whole["mistake_count"] == len(whole["mistakes"])
    assert first["mistakes"] == whole["mistakes"][:4]


def test_equal_gains_are_in_the_order_of_files_and_lines() -> None:
    mistakes = _analysis()["mistakes"]
    order = {name: at for at, name in enumerate(FILES)}
    keys = [(-round(each["gain"], 12), order[each["file"]], each["line"]) for each in mistakes]
    assert keys == sorted(keys)
    assert len({gain for gain, *_ in keys}) < len(keys)


def test_progress_is_told_to_a_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    options = Options(expand="ISLE26")
    scored = score_for_analysis(load_run(open_gold([FILES[0]], options), FILES[1:]), options.policy)
    told: dict[str, int] = {}

    def progress(items: Any, doing: str) -> Any:
        told[doing] = len(items)
        return items

    analysis = analyze(scored, progress=progress)
    assert told == {
        "scoring under policies": len(analysis.policies),
        "raising the threshold": len(analysis.sweep),
        "weighing mistakes": len(scored.result.units),
        "correcting mistakes": 6,
    }
