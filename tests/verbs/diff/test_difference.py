"""Two Cold Start runs: contributions add up to the difference, and every answer and class has an outcome."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.scored import AnalysedRun, score_for_analysis
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.coldstart.gold import load_run, open_gold, with_pool
from cs_score.coldstart.options import Options
from cs_score.statistics.resampling_settings import Resampling
from cs_score.verbs.diff.run_difference import diff
from tests.coldstart.command import score_in
from tests.coldstart.worlds import BASE, World, worlds
from tests.documents import ROOT

LIST, LDC, POOL, KB, SF = (
    str(ROOT / name)
    for name in (
        "queries/queryids.txt",
        "queries/ldc-queries.xml",
        "assessments/pool-2016.tab",
        "submissions/tide-kb.tab.txt",
        "submissions/gull-sf.tab.txt",
    )
)
SAMPLES = ("-queries", LIST, "-expand", "ISLE26", LDC, POOL)


def scored(world: World) -> AnalysedRun:
    """The run of a world, scored alone."""
    with tempfile.TemporaryDirectory() as name:
        queries, pool, run = (str(Path(name) / file) for file in world.write(Path(name)))
        options = Options(expand=BASE)
        gold = with_pool(open_gold([queries], options), [pool])
        return score_for_analysis(load_run(gold, [run]), options.policy)


@st.composite
def two_runs(draw: st.DrawFn) -> tuple[AnalysedRun, AnalysedRun]:
    """A run and what is left of it, for which some lines are missing and the others say so with other confidences."""
    world = draw(worlds())
    assume(world.run)
    kept = [line for line in world.run if draw(st.integers(0, 3)) or line.answer.query.count("_") < 3]
    try:
        return scored(world), scored(replace(world, run=tuple(kept[draw(st.integers(0, 1)) :])))
    except InputError:  # a child whose parent is gone, or nothing left
        assume(False)
    raise AssertionError


@given(two_runs(), st.data())
def test_contributions_add_up_and_the_other_way_round_is_the_opposite(
    runs: tuple[AnalysedRun, AnalysedRun], data: st.DataObject
) -> None:
    common = [name for name in runs[0].result.scores if name in runs[1].result.scores]
    assume(common)
    measure = data.draw(st.sampled_from(common))
    there, back, same = (
        diff(a, b, measure, resampling=Resampling(9)) for a, b in (runs, runs[::-1], (runs[0], runs[0]))
    )
    assert (same.difference, same.units, same.answers, same.classes) == (0, [], [], [])
    assert sum(same.outcomes.values()) > 0
    assert (there.a, there.b) == (back.b, back.a) == tuple(run.result.scores[measure] for run in runs)
    assert {(pair.query, pair.value, pair.provenance, pair.a, pair.b) for pair in there.answers} == {
        (pair.query, pair.value, pair.provenance, pair.b, pair.a) for pair in back.answers
    }
    assert {(pair.class_name, pair.a, pair.b) for pair in there.classes} == {
        (pair.class_name, pair.b, pair.a) for pair in back.classes
    }
    # The right answers of the SF table are the classes that were found, or more where rows are counted twice.
    for side, run in zip("AB", runs):
        by = there.found.get("found by both", 0) + there.found.get(f"found by {side} only", 0)
        assert by == sum(row.counts.right for row in run.result.tables.sf.rows if row.counts is not None)
    one, other = ({unit.unit: unit.contribution for unit in each.units} for each in (there, back))
    assert one.keys() == other.keys()
    if any("no contributions" in note.text for note in there.notes):
        assert {*one.values(), *other.values()} <= {None}
        return
    for name, share in one.items():
        assert share == pytest.approx(-(other[name] or 0.0), abs=1e-12)
    assert "entity_type" in there.groups
    assert ("language" in there.groups) == ("Micro" in measure)
    every: list[Any] = [there.units, *there.groups.values()]
    for parts in every:
        shares = [part.contribution or 0.0 for part in parts]
        assert math.fsum(shares) == pytest.approx(there.difference, abs=1e-12)


def call(folder: Path, *words: str) -> Any:
    outcome = score_in(folder, ("diff", "--format", "json", *words))
    assert outcome.status == 0, outcome.stderr
    return json.loads(outcome.stdout)


def test_another_policy_and_another_pool_for_one_run(tmp_path: Path) -> None:
    found = call(tmp_path, "--policy-b", "sf", *SAMPLES, KB)
    assert {answer["outcome"] for answer in found["answers"]} == {"wrong in B only"}
    assert "rules" not in found
    alone = call(tmp_path, "--policy", "sf", "--policy-b", "kb", *SAMPLES, KB)
    assert (alone["a"], alone["b"]) == (found["b"], found["a"])
    own = "own:right=CORRECT:INEXACT,wrong=INCORRECT,justifications=2:M"
    switches = ("-right", "CORRECT:INEXACT", "-wrong", "INCORRECT", "-justifications", "2:M")
    other = call(tmp_path, "--policy-b", own, *SAMPLES, KB)
    scores = json.loads(score_in(tmp_path, ("score", "--format", "json", *switches, *SAMPLES, KB)).stdout)
    assert (other["b"], other["names"]["b"]) == (scores["runs"][0]["scores"][other["measure"]], "policy own")
    fewer = tmp_path / "pool.tab"
    lines = Path(POOL).read_text("utf-8").splitlines(keepends=True)
    fewer.write_text("".join(line for line in lines if "Port Ansel" not in line), "utf-8")
    pools = call(tmp_path, "--pool-b", str(fewer), *SAMPLES, KB)
    assert "Port Ansel" in {answer["value"] for answer in pools["answers"]}
    alone = call(tmp_path, "--policy-b", "sf", *SAMPLES[:-1], str(fewer), KB)
    assert pools["b"] == alone["a"]
    both = call(tmp_path, "--pool-b", str(fewer), "--policy-b", "sf", *SAMPLES, KB)
    assert (both["b"], both["names"]["b"]) == (alone["b"], f"policy sf, pool {fewer}")
    for each in (found, other, pools):
        contributed = math.fsum(unit["contribution"] for unit in each["units"])
        assert contributed == pytest.approx(each["difference"], abs=1e-12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*SAMPLES, KB), "name two runs; there is 1 among the files"),
        ((*SAMPLES, KB, SF, "--policy-b", "sf"), "name one run, with --policy-b, --pool-b or --follow-b; there are 2"),
        ((*SAMPLES, KB, "--policy-b", "fs"), "--policy-b fs: no such preset; there are kb, sf"),
        ((*SAMPLES, KB, "-"), "standard input cannot be read once for each"),
        ((*SAMPLES, KB, SF, "--measure", "SF-F2"), "SF-F2"),
    ],
)
def test_what_means_nothing_is_said_in_a_line(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    outcome = score_in(tmp_path, ("diff", *words))
    assert outcome.status != 0
    assert message in outcome.stderr.decode()
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("case", "edition", "rules"),
    [
        (
            "y30_probe_five_parts",
            "3.0",
            {"has_rankings": 3, "most_value_spans": 1, "refuses_further_spans": 0, "policy": 1},
        ),
        ("y15_probe_ap_policy", "2017.1.5", {"ranks_correct_lines": 2, "ranks_all_levels": 1}),
    ],
)
def test_two_editions_for_one_run_differ_by_rules(
    case: str, edition: str, rules: Mapping[str, int], tmp_path: Path
) -> None:
    """Each rule that the two differ in is changed alone; what none of them explains is said so."""
    files = [str(ROOT / f"tests/coldstart/golden/{case}/{name}") for name in ("queries.xml", "pool.tab", "run.tab")]
    found = call(tmp_path, "-expand", "CSX", "--follow", edition, "--follow-b", "2017.2.0", *files)["rules"]
    assert {rule["rule"]: len(rule["rows"]) for rule in found} == rules
    assert [rule["rule"] for rule in found if "reason" in rule] == [name for name, rows in rules.items() if not rows]
    assert all(row["a"] != row["b"] or rule["rule"] == "policy" for rule in found for row in rule["rows"])


def test_a_row_that_no_rule_changes_alone_is_said_so(tmp_path: Path) -> None:
    """Rankings of all levels need rankings, which 3.0 has not."""
    words = ("-expand", "ISLE26", "--follow", "3.0", "--follow-b", "2017.1.5", LDC, POOL)
    *_, last = call(tmp_path, *words, str(ROOT / "submissions/gull-2016.tab"))["rules"]
    assert (last["rule"], [row["row"] for row in last["rows"]]) == (None, ["ISLE26_ENG_8a5083251a"])
