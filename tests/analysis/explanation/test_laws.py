"""Every line is explained once, and all explanations add up to the tables of the scorer."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.coldstart.gold import load_run, open_gold
from cs_score.coldstart.result import RunResult, ScoringStopped
from cs_score.coldstart.scorer import OneRun, score_runs
from tests.analysis.rewriting import Call, Variant, call_of, variants
from tests.coldstart.command import score_in
from tests.coldstart.recorded import Case, committed_cases, shared_cases, thinned
from tests.coldstart.worlds import World, worlds

SAVED: Final = "explanation.json"
MOST_LINES: Final = 400
"""Lines of a recorded run that are explained one by one."""

COUNTED: Final = "correct incorrect inexact incorrect_parent unassessed redundant right wrong ignored".split()


def explain(call: Call, *switches: str) -> dict[str, Any]:
    """An explanation by the command line; empty where there is none."""
    words = ("explain", *call.switches, *switches, "-o", SAVED, "--force", *call.queries, *call.files)
    outcome = score_in(call.folder, words)
    saved = call.folder / SAVED
    if outcome.status == 2:  # there is no pool, or no run that -runids names
        assert not saved.exists()
        return {}
    found = json.loads(saved.read_text()) if saved.exists() else {}
    assert outcome.status == (0 if found and found["fatal"] is None else 1), outcome.stderr
    saved.unlink(missing_ok=True)
    return found


def result(call: Call, run_id: str) -> RunResult:
    """What the scorer says of a run by itself."""
    with contextlib.chdir(call.folder):
        gold = OneRun(call.folder, run_id, is_shared=True).over(open_gold(call.queries, call.options))
        try:
            (found,) = score_runs(load_run(gold, call.files), call.options.policy).runs
        except ScoringStopped as stop:
            (found,) = stop.partial.runs
        return found


def check(call: Call) -> None:
    """Hold the explanations of all runs of a call against the scorer."""
    for run_id in call.run_ids():
        whole = explain(call, "--run", run_id)
        if not whole or whole["fatal"] is not None:
            continue
        found = result(call, run_id)
        assert whole["scores"] == found.scores
        summaries = whole["overview"]["lines"]
        check_every_line_once(call, run_id, summaries)
        check_counts(found, summaries)
        if 0 < sum(summary["status"] != "unread" for summary in summaries) <= MOST_LINES:
            words = [word for summary in summaries for word in ("--line", f"{summary['file']}:{summary['line']}")]
            explained = explain(call, "--run", run_id, *words)["lines"]
            explained = [line for line in explained if line["summary"] in summaries]
            check_lines(found, explained, summaries)
            # The costs of the overview are the effects of the lines themselves.
            effects = {(line["summary"]["file"], line["summary"]["line"]): line["effect"] for line in explained}
            for cost in whole["overview"]["costs"]:
                if cost["kind"] == "line":
                    effect = effects[cost["file"], cost["line"]]["effects"][whole["measure"]]
                    assert effect == pytest.approx(cost["gain"], abs=1e-12)


def check_every_line_once(call: Call, run_id: str, summaries: Iterable[Mapping[str, Any]]) -> None:
    """Every line of the run's files is listed once; those of other runs may be left out."""
    places = Counter((summary["file"], summary["line"]) for summary in summaries)
    assert set(places.values()) <= {1}
    for name in {file for file, _ in places}:
        lines = (call.folder / name).read_bytes().decode("utf-8-sig").replace("\r", "").split("\n")
        for number, text in enumerate(lines, 1):
            if (name, number) not in places:
                assert text == "" or text.split("\t")[2] != run_id, (name, number)


def check_counts(found: RunResult, summaries: Iterable[Mapping[str, Any]]) -> None:
    """The labels of the lines of each row add up to its counts."""
    of_row: dict[str, Counter[str]] = defaultdict(Counter)
    for summary in summaries:
        if summary["status"] == "counted":
            of_row[summary["row"]].update(summary["labels"])
            of_row[summary["row"]]["submitted"] += 1
    for row in found.tables.sf.rows:
        assert row.counts is not None
        labels = of_row.pop(row.name, Counter())
        assert labels["submitted"] == row.counts.submitted
        for name in COUNTED:
            label = "IGNORE" if name == "ignored" else name.upper()
            assert labels[label] == getattr(row.counts, name), (row.name, label)
    assert not of_row


def check_lines(
    found: RunResult, explained: Sequence[Mapping[str, Any]], summaries: Sequence[Mapping[str, Any]]
) -> None:
    """Each line in full says the same as the tables, the rankings, and the line in short."""
    assert [line["summary"] for line in explained] == list(summaries)
    by_place = {(summary["file"], summary["line"]): summary for summary in summaries}
    rows = {row.name: row for row in found.tables.sf.rows}
    rankings = found.average_precision.rankings if found.average_precision is not None else ()
    nodes = {node.name: node for ranking in rankings for node in ranking.nodes}
    for line in explained:
        summary, ranked = line["summary"], line["ranked"]
        if summary["status"] == "counted":
            check_judged(line, by_place)
            row, own = rows[summary["row"]], line["rows"][0]
            assert [own[key] for key in ("row", "precision", "recall", "f1")] == [row.name, *row.scores]
        if ranked is not None and (node := nodes.get(ranked["node"])) is not None:
            shown = [ranked[key] for key in ("confidence", "mapped_class", "value")]
            assert shown == [node.confidence, node.mapped_class, node.value]
            assert ranked["confidence_arithmetic"].endswith(f" = {node.confidence:.4f}")
            text = ranked["value_arithmetic"]
            value = 0 if "V = 0" in text else float(text.split(" = ")[2][:6])
            assert value == pytest.approx(node.value, abs=1e-4)


def check_judged(line: Mapping[str, Any], by_place: Mapping[tuple[str, int], Mapping[str, Any]]) -> None:
    """Category and label of a line that counts say what its labels say, and rest on lines that bear them out."""
    summary, category, label = line["summary"], line["category"], line["label"]
    assert line["read"]["not_read"] is None
    assert label["labels"] == summary["labels"]
    assert label["side"] == summary["side"]
    assert label["reason"]
    if category["name"] == "DUPLICATE":
        (kept,) = category["rests_on"]
        assert "REDUNDANT" in summary["labels"]
        assert (kept["file"], kept["line"]) in by_place
    elif category["rule"] == "nominal-mentions":
        assert "RIGHT" not in summary["labels"]
        assert "IGNORE" in summary["labels"] or re.search("the same number|without mention type", label["reason"])
    else:
        assert category["name"] in summary["labels"]
        assert "REDUNDANT" not in summary["labels"]
    if line["kept"]["limit"] is not None and "slot" not in line["kept"]["limit"]:
        assert line["kept"]["in_favour_of"] or "its query asks about" in line["kept"]["limit"]


@pytest.mark.parametrize(
    "case",
    [
        *thinned(committed_cases()),
        *(pytest.param(case, id=case.folder.name, marks=pytest.mark.slow) for case in shared_cases()),
    ],
)
def test_a_recorded_case(case: Case, tmp_path: Path) -> None:
    if (call := call_of(case, tmp_path)) is not None:
        check(call)


@given(worlds(), variants(), st.data())
def test_an_invented_world(world: World, variant: Variant, data: st.DataObject) -> None:
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder:
        check(variant.write(world, Path(folder), data))
