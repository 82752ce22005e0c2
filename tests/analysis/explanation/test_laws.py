"""Every line is explained once, and what is told of all of them adds up to the tables of the scorer."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cs_score.coldstart.result import RunResult, ScoringStopped
from cs_score.coldstart.scorer import score
from tests.analysis.rewriting import Call, call_of
from tests.analysis.variants import Variant, variants
from tests.coldstart.command import score_in
from tests.coldstart.recorded import Case, committed_cases, shared_cases, thinned
from tests.coldstart.worlds import World, worlds

SAVED: Final = "explanation.json"
MOST_LINES: Final = 400
"""Lines of a recorded run that are explained one by one."""

COUNTED: Final = {
    "correct": "CORRECT", "incorrect": "INCORRECT", "inexact": "INEXACT", "incorrect_parent": "INCORRECT_PARENT",
    "unassessed": "UNASSESSED", "redundant": "REDUNDANT", "right": "RIGHT", "wrong": "WRONG", "ignored": "IGNORE",
}  # fmt: skip

laws = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def explain(call: Call, *switches: str) -> dict[str, Any]:
    """An explanation by the command line; empty where there is none."""
    words = ("explain", *call.switches, *switches, "-o", SAVED, "--force", *call.queries, *call.files)
    outcome = score_in(call.folder, words)
    saved = call.folder / SAVED
    assert outcome.status in (0, 1), outcome.stderr
    found = json.loads(saved.read_text()) if saved.exists() else {}
    assert outcome.status == (0 if found and found["fatal"] is None else 1), outcome.stderr
    saved.unlink(missing_ok=True)
    return found


def results(call: Call) -> Sequence[RunResult]:
    """What the scorer says of each run that it gives tables of."""
    with contextlib.chdir(call.folder):
        try:
            return score(call.queries, call.files, call.options).runs
        except ScoringStopped as stop:
            return stop.partial.runs


def check(call: Call, has_all: bool = True) -> None:
    """Hold the explanations of all runs of a call against the scorer."""
    for run_id in call.run_ids():
        whole = explain(call, "--run", run_id)
        if whole.get("fatal") is not None or not whole:
            continue
        found = next(each for each in results(call) if each.run_id == run_id)
        assert whole["scores"] == found.scores
        fates = whole["overview"]["lines"]
        check_every_line_once(call, run_id, fates)
        check_counts(found, fates)
        own = [fate for fate in fates if fate["status"] != "unread"]
        if has_all and len(own) <= MOST_LINES and own:
            words = [word for fate in fates for word in ("--line", f"{fate['file']}:{fate['line']}")]
            told = explain(call, "--run", run_id, *words)["lines"]
            told = [line for line in told if line["summary"] in fates]
            check_lines(found, told, fates)
            check_costs(whole, told)


def check_every_line_once(call: Call, run_id: str, fates: Iterable[Mapping[str, Any]]) -> None:
    """Every line of the run's files is told of once; those of other runs may be left out."""
    places = Counter((fate["file"], fate["line"]) for fate in fates)
    assert set(places.values()) <= {1}
    for name in {file for file, _ in places}:
        lines = (call.folder / name).read_bytes().decode("utf-8-sig").replace("\r", "").split("\n")
        for number, text in enumerate(lines, 1):
            if (name, number) not in places:
                assert text == "" or text.split("\t")[2] != run_id, (name, number)


def check_counts(found: RunResult, fates: Iterable[Mapping[str, Any]]) -> None:
    """The labels of the lines of each row add up to its counts."""
    of_row: dict[str, Counter[str]] = defaultdict(Counter)
    for fate in fates:
        if fate["status"] == "counted":
            of_row[fate["row"]].update(fate["labels"])
            of_row[fate["row"]]["submitted"] += 1
    for row in found.tables.sf.rows:
        assert row.counts is not None
        labels = of_row.pop(row.name, Counter())
        assert labels["submitted"] == row.counts.submitted
        for name, label in COUNTED.items():
            assert labels[label] == getattr(row.counts, name), (row.name, label)
    assert not of_row


def check_lines(found: RunResult, told: Sequence[Mapping[str, Any]], fates: Sequence[Mapping[str, Any]]) -> None:
    """Each line in full says the same as the tables, the rankings, and the line in short."""
    assert [line["summary"] for line in told] == list(fates)
    by_place = {(fate["file"], fate["line"]): fate for fate in fates}
    rows = {row.name: row for row in found.tables.sf.rows}
    rankings = found.average_precision.rankings if found.average_precision is not None else ()
    nodes = {node.name: node for ranking in rankings for node in ranking.nodes}
    for line in told:
        fate = line["summary"]
        if fate["status"] == "counted":
            check_judged(line, by_place)
            row, own = rows[fate["row"]], line["rows"][0]
            assert (own["row"], own["precision"], own["recall"], own["f1"]) == (
                row.name, row.precision, row.recall, row.f1,
            )  # fmt: skip
        if (ranked := line["ranked"]) is not None and ranked["node"] in nodes:
            node = nodes[ranked["node"]]
            assert (ranked["confidence"], ranked["mapped_class"], ranked["value"]) == (
                node.confidence, node.mapped_class, node.value,
            )  # fmt: skip
            assert ranked["confidence_arithmetic"].endswith(f" = {node.confidence:.4f}")
            value = (
                0 if "V = 0" in ranked["value_arithmetic"] else float(ranked["value_arithmetic"].split(" = ")[2][:6])
            )
            assert value == pytest.approx(node.value, abs=1e-4)


def check_costs(whole: Mapping[str, Any], told: Iterable[Mapping[str, Any]]) -> None:
    """The costs of the overview are what the lines themselves are worth."""
    worth = {(line["summary"]["file"], line["summary"]["line"]): line["effect"] for line in told}
    for cost in whole["overview"]["costs"]:
        if cost["kind"] == "line":
            effect = worth[cost["file"], cost["line"]]["effects"][whole["measure"]]
            assert effect == pytest.approx(cost["gain"], abs=1e-12)


def check_judged(line: Mapping[str, Any], by_place: Mapping[tuple[str, int], Mapping[str, Any]]) -> None:
    """Category and label of a line that counts say what its labels say, and rest on lines that bear them out."""
    fate, category, label = line["summary"], line["category"], line["label"]
    assert line["read"]["not_read"] is None
    assert label["labels"] == fate["labels"]
    assert label["side"] == fate["side"]
    assert label["reason"]
    if category["name"] == "DUPLICATE":
        (kept,) = category["rests_on"]
        assert "REDUNDANT" in fate["labels"]
        assert (kept["file"], kept["line"]) in by_place
    elif category["rule"] == "7.7":
        assert "RIGHT" not in fate["labels"]
        assert "IGNORE" in fate["labels"] or "the same number" in label["reason"]
    else:
        assert category["name"] in fate["labels"]
        assert "REDUNDANT" not in fate["labels"]
    if line["kept"]["limit"] is not None and "slot" not in line["kept"]["limit"]:
        assert line["kept"]["in_favour_of"] or "its query asks about" in line["kept"]["limit"]


def _name(case: Case) -> str:
    return case.folder.name


@pytest.mark.parametrize("case", thinned(committed_cases()))
def test_a_committed_case(case: Case, tmp_path: Path) -> None:
    call = call_of(case, tmp_path)
    if call is not None:
        check(call)


@pytest.mark.slow
@pytest.mark.parametrize("case", shared_cases(), ids=_name)
def test_a_shared_case(case: Case, tmp_path: Path) -> None:
    call = call_of(case, tmp_path)
    if call is not None:
        check(call)


@laws
@given(worlds(), variants(), st.data())
def test_an_invented_world(world: World, variant: Variant, data: st.DataObject) -> None:
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder:
        check(variant.write(world, Path(folder), data))
