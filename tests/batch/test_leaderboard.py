"""Ranks, columns, formats and the escaping of what runs are called."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cs_score.base.records import replace
from cs_score.base.signing.origin import GOLD, RUN, Origin
from cs_score.base.signing.signature import Signature
from cs_score.base.sources import InputDigest
from cs_score.batch.store.outcomes import FAILED, OK, Outcome, ProblemPlace, RunScores
from cs_score.batch.tables.leaderboard import Leaderboard, make_leaderboard, signatures
from cs_score.batch.tables.leaderboard_writers import WRITERS, leaderboard_text
from cs_score.batch.tables.problem_table import write_problem_table
from tests.batch.command import contents, leaderboard, problems, table
from tests.coldstart.command import score_in as cs_score_in

CALL = ("batch", "-expand", "CSSF17", "--out", "out")
FILES = ("queries.xml", "pool.tab", "runs")
HOSTILE = "a\tb\nc\x1b[31m|*_$%&\\{}<x>\u202e\udcff"


def _outcome(run: str, score: float | None, policy: str = "") -> Outcome:
    if score is None:
        return Outcome(run, f"{run}.tab", policy, FAILED, failure="no reason")
    digests = [hashlib.sha256(os.fsencode(name)).hexdigest() for name in (run, "gold")]
    read = [InputDigest(run, digests[0], RUN), InputDigest("gold", digests[1], GOLD)]
    made_from = Origin("mode", {}, read, ("mode",)).as_json()
    return Outcome(run, f"{run}.tab", policy, OK, (RunScores(run, {"F1": score, "P": 1.0}),), signature=made_from)


def test_ties_share_a_rank_and_the_next_one_is_left_out() -> None:
    scores = {"a": 0.1, "b": 0.5, "c": None, "d": 0.5, "e": 0.4}
    board = make_leaderboard([_outcome(run, score) for run, score in scores.items()], [""], "F1", ["P"])
    assert [(row.rank, row.run) for row in board.rows] == [(1, "b"), (1, "d"), (3, "e"), (4, "a"), (None, "c")]
    assert board.measures[0] == "F1"


def test_policies_are_ranked_one_by_one_in_their_order() -> None:
    outcomes = [_outcome("a", 0.1, "z"), _outcome("a", 0.9, "b"), _outcome("b", 0.2, "z"), _outcome("b", 0.3, "b")]
    board = make_leaderboard(outcomes, ["z", "b"], "F1", [])
    assert [(row.policy, row.rank, row.run) for row in board.rows] == [
        ("z", 1, "b"),
        ("z", 2, "a"),
        ("b", 1, "a"),
        ("b", 2, "b"),
    ]


def test_scores_that_differ_in_the_last_bit_are_no_tie() -> None:
    board = make_leaderboard([_outcome("a", 0.3), _outcome("b", 0.1 + 0.2)], [""], "F1", [])
    assert [(row.rank, row.run) for row in board.rows] == [(1, "b"), (2, "a")]


def test_equal_signatures_are_those_of_equal_inputs() -> None:
    rows = make_leaderboard([_outcome("a", 0.3), _outcome("b", 0.3), _outcome("a", 0.1)], [""], "F1", []).rows
    assert rows[0].signature != rows[1].signature
    assert rows[0].signature == rows[2].signature
    assert Signature.parse(rows[0].signature).measure == "F1"


def test_the_runs_of_one_file_have_signatures_of_their_own() -> None:
    outcome = _outcome("a", 0.3)
    outcome = replace(outcome, scores=(*outcome.scores, RunScores("b", {"F1": 0.2})))
    board = make_leaderboard([outcome], [""], "F1", [])
    assert [Signature.parse(row.signature).settings[-1] for row in board.rows] == ["runid=a", "runid=b"]
    (shared,) = signatures(board)
    for format in ("md", "tex"):
        assert shared.split("|")[-2] in WRITERS[format](board)
    assert leaderboard_text(board, 5).endswith(f"signature  {shared}")


@pytest.mark.parametrize("sign", list("=+-@\t\r"))
def test_a_name_is_no_formula_to_a_spreadsheet(sign: str, tmp_path: Path) -> None:
    name = f"{sign}1+1"
    outcome = Outcome(name, name, "", OK, (RunScores(name, {"F1": -0.5}),), remarks=(name,))
    board = make_leaderboard([outcome], [""], "F1", [])
    [row] = table(WRITERS["tsv"](board))
    write_problem_table(str(tmp_path), [outcome])
    [problem] = problems(tmp_path)
    cells = [row["run"], row["run_id"], row["file"], problem["run"], problem["message"]]
    assert all(cell.startswith("'") for cell in cells)
    assert row["F1"] == "-0.5"
    assert json.loads(WRITERS["json"](board))["rows"][0]["run"] == name


@pytest.mark.parametrize("write", [*WRITERS.values(), lambda board: leaderboard_text(board, 5)])
def test_a_tab_and_its_escape_are_told_apart(write: Callable[[Leaderboard], str]) -> None:
    texts = {write(make_leaderboard([_outcome(name, 0.5)], [""], "F1", [])) for name in ("a\tb", "a\\tb", "a\\\\tb")}
    assert len(texts) == 3


@pytest.mark.parametrize("ending", WRITERS)
def test_hostile_names_reach_no_terminal_and_break_no_table(ending: str) -> None:
    outcome = replace(_outcome("a", 0.5), run=HOSTILE, file=HOSTILE, scores=(RunScores(HOSTILE + "id", {"F1": 0.5}),))
    failed = Outcome(HOSTILE, HOSTILE, "", FAILED, failure=HOSTILE)
    text = WRITERS[ending](make_leaderboard([outcome, failed], [""], "F1", []))
    assert not set(text) & set("\x1b\u202e\udcff")
    text.encode("utf-8")
    plain = WRITERS[ending](make_leaderboard([_outcome("a", 0.5), _outcome("b", None)], [""], "F1", []))
    if ending == "json":
        assert json.loads(text)["rows"][0]["run"] == HOSTILE
    else:
        assert len(text.splitlines()) == len(plain.splitlines())
    if ending == "tsv":
        assert [row["rank"] for row in table(text)] == ["1", ""]
    if ending == "tex":
        assert r"\_" in text
        assert "<x>" not in text
    if ending == "md":
        assert r"\|\*\_" in text
        assert "<x>" not in text.replace(r"\<x\>", "")


def test_the_terminal_shows_the_top_and_says_what_is_left_out() -> None:
    outcomes = [_outcome(f"r{at}", at / 100) for at in range(30)] + [_outcome(f"bad{at}", None) for at in range(12)]
    board = make_leaderboard(outcomes, [""], "F1", [])
    lines = leaderboard_text(board, 10).splitlines()
    assert lines[1].split()[:3] == ["1", "r29", "0.2900"]
    assert lines[11] == "... and 32 more"
    assert lines[12] == "bad0: no reason"
    assert lines[-2:] == ["... and 2 more that failed", f"signature  {signatures(board)[0]}"]
    assert "\x1b" not in leaderboard_text(make_leaderboard([_outcome(HOSTILE, 0.5)], [""], "F1", []), 10)


def test_problems_have_a_line_for_each_place(tmp_path: Path) -> None:
    places = tuple(ProblemPlace("WARNING", "EMPTY_FIELD", "Empty\nvalue", "run.tab", str(line)) for line in (3, 5))
    failed = Outcome(HOSTILE, "b.tab", "", FAILED, failure="it broke", remarks=("look",))
    write_problem_table(os.fspath(tmp_path), [Outcome("a", "a.tab", "kb", OK, problems=places), failed])
    rows = [tuple(row.values()) for row in problems(tmp_path)]
    assert rows[:2] == [
        ("a", "kb", "WARNING", "EMPTY_FIELD", "run.tab", "3", r"Empty\nvalue"),
        ("a", "kb", "WARNING", "EMPTY_FIELD", "run.tab", "5", r"Empty\nvalue"),
    ]
    assert [row[2:4] + row[6:] for row in rows[2:]] == [("NOTE", "REMARK", "look"), ("ERROR", "FATAL", "it broke")]


def test_the_leaderboard_has_the_scores_of_the_summaries(world: Path) -> None:
    done = cs_score_in(world, ["batch", "-expand", "CSSF17", "--out", "out", "queries.xml", "pool.tab", "runs"])
    assert done.status == 0
    rows = leaderboard(world / "out")
    assert list(rows[0])[:5] == ["rank", "policy", "run", "run_id", "LDC-MEAN-ALL-Macro-F1"]
    for row in rows:
        lines = (world / "out" / row["run"] / "out.summary").read_text().splitlines()
        averages = {tuple(line.split()[:3:2]): line.split()[3:] for line in lines if line.startswith(("SF", "LDC"))}
        assert len(averages) > 10
        for (name, hop), scores in averages.items():
            at = "" if hop == "ALL" else f"@{hop}"
            shown = [f"{float(row[f'{name}-{measure}{at}']):.4f}" for measure in ("P", "R", "F1")]
            assert shown == scores
        ap_lines = (world / "out" / row["run"] / "out.ap").read_text().splitlines()
        macro = {line.split()[0]: line.split()[-1] for line in ap_lines if "ALL-Macro" in line and " ALL " in line}
        assert macro
        for name, score in macro.items():
            variant = name.removesuffix("-ALL-Macro") if name != "ALL-Macro" else "SF"
            assert f"{float(row[f'{variant}-AP']):.4f}" == score
    ranked_by = [float(row["LDC-MEAN-ALL-Macro-F1"]) for row in rows]
    assert ranked_by == sorted(ranked_by, reverse=True)
    made_from = json.loads((world / "out" / "leaderboard.json").read_text())["rows"][0]["made_from"]
    assert [given["name"] for given in made_from["inputs"]][:2] == ["queries.xml", "pool.tab"]


INTERVALS: dict[str, object] = {
    "resamples": 20,
    "seed": 3,
    "confidence": 95.0,
    "method": "percentile",
    "unit": "claim",
    "units": 4,
    "notes": [{"code": "FEW_UNITS", "text": "4 units only"}],
    "scores": {
        "F1": {"point": 0.5, "low": 0.25, "high": 0.75, "standard_error": 0.1},
        "P": {"point": 1.0, "low": None, "high": None, "standard_error": None},
    },
}


def _with_intervals() -> Leaderboard:
    outcome = replace(_outcome("a", 0.5), intervals=(INTERVALS,))
    return make_leaderboard([outcome, _outcome("b", 0.125), _outcome("c", None)], [""], "F1", ["P"])


def test_intervals_stand_beside_the_scores_for_machines() -> None:
    board = _with_intervals()
    first, second, failed = table(WRITERS["tsv"](board))
    assert list(first)[4:10] == ["F1", "F1:low", "F1:high", "P", "P:low", "P:high"]
    assert list(first.values())[4:10] == ["0.5", "0.25", "0.75", "1.0", "", ""]
    assert list(second.values())[4:10] == ["0.125", "", "", "1.0", "", ""]
    assert list(failed.values())[4:10] == [""] * 6
    rows = json.loads(WRITERS["json"](board))["rows"]
    assert (rows[0]["scores"], rows[0]["intervals"]) == ({"F1": 0.5, "P": 1.0}, INTERVALS)
    assert "intervals" not in rows[1]


def test_intervals_stand_in_brackets_for_people() -> None:
    board = _with_intervals()
    markdown, latex = WRITERS["md"](board), WRITERS["tex"](board)
    assert "| 0.5000 [0.2500, 0.7500] | 1.0000 [-] |" in markdown
    assert "| 0.1250 | 1.0000 |" in markdown
    assert "0.5000 {[}0.2500, 0.7500{]} & 1.0000 {[}-{]} &" in latex
    said = "In brackets: 95 % percentile bootstrap intervals from 20 resamples; units of resampling (claim): 4; seed 3."
    for text in (markdown.replace("\\", ""), latex.replace("\\", "")):
        assert said in text
        assert "Note: 4 units only." in text
    assert "[" not in leaderboard_text(board, 5)


def test_a_batch_with_intervals_shows_those_of_its_runs(world: Path) -> None:
    words = [*CALL, "--json", "--bootstrap", "30", *FILES]
    assert cs_score_in(world, words).status == 0
    for row in leaderboard(world / "out"):
        result = json.loads((world / "out" / row["run"] / "out.json").read_text())["runs"][0]
        assert {name: float(row[name]) for name in result["scores"]} == result["scores"]
        for name, interval in result["intervals"]["scores"].items():
            cells = [row[f"{name}:{side}"] for side in ("low", "high")]
            assert cells == ["" if interval[side] is None else repr(interval[side]) for side in ("low", "high")]
    whole = contents(world / "out")
    assert cs_score_in(world, [*words[:1], "--resume", *words[1:]]).status == 0
    assert contents(world / "out") == whole


def test_without_resampling_no_table_speaks_of_intervals(world: Path) -> None:
    assert cs_score_in(world, [*CALL, *FILES]).status == 0
    assert not any(":low" in name for name in leaderboard(world / "out")[0])
    for path in ("leaderboard.json", "leaderboard.md", "leaderboard.tex", "alpha/signature.json"):
        text = (world / "out" / path).read_text()
        assert "intervals" not in text
        assert "brackets" not in text


def test_sort_by(world: Path) -> None:
    words = ["batch", "-expand", "CSSF17", "--out", "out", "queries.xml", "pool.tab", "runs"]
    assert cs_score_in(world, [*words[:3], "--sort-by", "sf-all-micro-p@0", *words[3:]]).status == 0
    rows = leaderboard(world / "out")
    assert list(rows[0])[4] == "SF-ALL-Micro-P@0"
    scores = [float(row["SF-ALL-Micro-P@0"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    wrong = cs_score_in(world, [*words[:3], "--sort-by", "nonsense", *words[3:]])
    assert wrong.status == 255
    assert wrong.stderr.startswith(b"cs-score: --sort-by nonsense: no such measure; there are LDC-MEAN-ALL-Macro-F1,")


@pytest.mark.parametrize("measure", ["LDC-MEAN-ALL-Micro-F1", "SF-ALL-Micro-P@2", "LDC-MEAN-AP@7", "SF-AP@01"])
def test_a_measure_that_no_run_can_have_is_refused_with_those_there_are(world: Path, measure: str) -> None:
    refused = cs_score_in(world, [*CALL, "--sort-by", measure, *FILES])
    assert refused.status == 255
    (line,) = refused.stderr.decode().splitlines()
    assert line.startswith(f"cs-score: --sort-by {measure}: no ")
    assert "LDC-MEAN-ALL-Macro-F1" in line
    assert "LDC-MEAN-ALL-Micro-F1," not in line
    assert not (world / "out" / "leaderboard.tsv").exists()


def test_ldc_measures_need_queries_that_were_expanded(world: Path) -> None:
    """With -expand and a file of SF queries there are no LDC queries."""
    expand = ["validate-queries", "-expand", "-query_base", "CSSF17", "queries.xml", "sf.xml"]
    assert cs_score_in(world, expand).status == 0
    sf_files = ["sf.xml", *FILES[1:]]
    assert cs_score_in(world, [*CALL, *sf_files]).status == 0
    rows = leaderboard(world / "out")
    assert list(rows[0])[4] == "SF-ALL-Micro-F1"
    assert all(row["rank"] for row in rows)
    refused = cs_score_in(world, [*CALL, "--sort-by", "LDC-MAX-ALL-Micro-F1", *sf_files])
    assert refused.status == 255
    assert b"no run can have this measure here; there are SF-ALL-Micro-F1 (@0, @1), " in refused.stderr


def test_results_of_other_runs_are_told(world: Path) -> None:
    first = cs_score_in(world, [*CALL, *FILES])
    assert b"other runs" not in first.stderr
    assert b"other runs" not in cs_score_in(world, [*CALL, *FILES]).stderr
    second = cs_score_in(world, [*CALL, *FILES[:2], "runs/beta.tab.txt"])
    said = "cs-score: out holds results of other runs, too (alpha, gamma); the leaderboard has those of this call"
    assert said in second.stderr.decode().splitlines()
    assert [row["run"] for row in leaderboard(world / "out")] == ["beta"]
    of_policies = cs_score_in(world, [*CALL, "--policy", "kb", "--policy", "sf", *FILES])
    assert b"too (alpha, beta, gamma); the" in of_policies.stderr
    again = cs_score_in(world, [*CALL, *FILES[:2], "runs/alpha.tab.txt"])
    assert b"too (beta, gamma, kb/alpha and 5 more); the" in again.stderr


def test_the_signature_is_that_of_the_scores(world: Path) -> None:
    """Not of the spelling of a path, nor of the files beside them; and it calls the unit as a single call does."""
    found = []
    for words in (["queries.xml", *FILES[1:]], ["--json", f"{world}/queries.xml", "./pool.tab", "./runs"]):
        assert cs_score_in(world, [*CALL, "--bootstrap", "20", *words]).status == 0
        found.append([row["signature"] for row in leaderboard(world / "out")])
    assert found[0] == found[1]
    assert len(set(found[0])) == 3
    made_from = json.loads((world / "out" / "alpha" / "signature.json").read_text())["signature"]
    single = json.loads((world / "out" / "alpha" / "out.json").read_text())["signature"]["options"]["bootstrap"]
    assert made_from["bootstrap"] == single
    assert single["unit"] == "LDC query"
