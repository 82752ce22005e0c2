"""Ranks, columns, formats and the escaping of what runs are called."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from cs_score.base.records import replace
from cs_score.base.signature import GOLD, RUN, Signature
from cs_score.base.sources import InputDigest
from cs_score.verbs.batch.batch_documents import FAILED, OK, Outcome, RunOrigin, RunScores
from cs_score.verbs.batch.batch_tables import problem_table_lines
from cs_score.verbs.batch.leaderboard import WRITERS, leaderboard_text, make_leaderboard, signatures
from tests.evidence.command import cs_score
from tests.verbs.batch.command import batch_in, problems, table

HOSTILE = "a\tb\nc\x1b[31m|*_$%&\\{}<x>\u202e\udcff"


def _outcome(run: str, score: float | None, policy: str = "") -> Outcome:
    if score is None:
        return Outcome(task="claims", run=run, file=f"{run}.tab", policy=policy, state=FAILED, failure="no reason")
    digests = [hashlib.sha256(os.fsencode(name)).hexdigest() for name in (run, "gold")]
    read = (InputDigest(run, digests[0], RUN), InputDigest("gold", digests[1], GOLD))
    scores = (RunScores(run, {"F1": score, "P": 1.0}),)
    origin = RunOrigin("claims", {}, read, ("claims",))
    return Outcome(task="claims", run=run, file=f"{run}.tab", policy=policy, state=OK, runs=scores, origin=origin)


def test_ties_share_a_rank_and_the_next_one_is_left_out() -> None:
    scores = {"a": 0.1, "b": 0.5, "c": None, "d": 0.5, "e": 0.4}
    board = make_leaderboard([_outcome(run, score) for run, score in scores.items()], "claims", "F1", ["P"])
    assert [(row.rank, row.run) for row in board.rows] == [(1, "b"), (1, "d"), (3, "e"), (4, "a"), (None, "c")]
    assert board.measures[0] == "F1"


def test_the_runs_of_one_file_have_signatures_of_their_own() -> None:
    outcome = _outcome("a", 0.3)
    outcome = replace(outcome, runs=(*outcome.runs, RunScores("b", {"F1": 0.2})))
    board = make_leaderboard([outcome], "claims", "F1", [])
    assert [Signature.parse(row.signature).settings[-1] for row in board.rows] == ["runid=a", "runid=b"]
    (shared,) = signatures(board)
    for format in ("md", "tex"):
        assert shared.split("|")[-2] in WRITERS[format](board)
    assert leaderboard_text(board, 5).endswith(f"signature  {shared}")


@pytest.mark.parametrize("sign", list("=+-@\t\r"))
def test_a_name_is_no_formula_to_a_spreadsheet(sign: str, tmp_path: Path) -> None:
    name = f"{sign}1+1"
    scores = (RunScores(name, {"F1": -0.5}),)
    outcome = Outcome(task="claims", run=name, file=name, policy="", state=OK, runs=scores, remarks=(name,))
    board = make_leaderboard([outcome], "claims", "F1", [])
    [row] = table(WRITERS["tsv"](board))
    (tmp_path / "problems.tsv").write_bytes(b"".join(problem_table_lines([outcome])))
    [problem] = problems(tmp_path)
    cells = [row["run"], row["run_id"], row["file"], problem["run"], problem["message"]]
    assert all(cell.startswith("'") for cell in cells)
    assert row["F1"] == "-0.5"
    assert json.loads(WRITERS["json"](board))["rows"][0]["run"] == name


@pytest.mark.parametrize("ending", WRITERS)
def test_hostile_names_reach_no_terminal_and_break_no_table(ending: str) -> None:
    outcome = replace(_outcome("a", 0.5), run=HOSTILE, file=HOSTILE, runs=(RunScores(HOSTILE + "id", {"F1": 0.5}),))
    failed = Outcome(task="claims", run=HOSTILE, file=HOSTILE, policy="", state=FAILED, failure=HOSTILE)
    text = WRITERS[ending](make_leaderboard([outcome, failed], "claims", "F1", []))
    assert not set(text) & set("\x1b\u202e\udcff")
    text.encode("utf-8")
    plain = WRITERS[ending](make_leaderboard([_outcome("a", 0.5), _outcome("b", None)], "claims", "F1", []))
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


@pytest.mark.parametrize(
    "measure", ["nonsense", "LDC-MEAN-ALL-Micro-F1", "SF-ALL-Micro-P@2", "LDC-MEAN-AP@7", "SF-AP@01"]
)
def test_a_measure_that_no_run_can_have_is_refused_with_those_there_are(world: Path, measure: str) -> None:
    refused = batch_in(world, "--measure", measure)
    assert refused.status == 2
    (line,) = refused.stderr.decode().splitlines()
    assert line.startswith(f"cs-score: --measure {measure}: no ")
    assert "LDC-MEAN-ALL-Macro-F1" in line
    assert "LDC-MEAN-ALL-Micro-F1," not in line
    assert not (world / "out" / "leaderboard.tsv").exists()


@pytest.mark.parametrize("name", ["TIDE_KB", "tide-kb", "tide-kb.tab.txt", "submissions/tide-kb.tab.txt"])
def test_a_baseline_is_named_by_run_id_by_name_or_by_file(name: str, tmp_path: Path) -> None:
    gold = ("-expand", "ISLE26", "queries/ldc-queries.xml", "assessments/pool-2016.tab")
    tests = ("--bootstrap", "20", "--baseline", name, "--format", "json")
    outcome = cs_score("batch", *gold, "submissions/*.tab.txt", "-o", str(tmp_path / "o"), *tests)
    board = json.loads(outcome.out)
    assert board["families"][""]["baseline"] == "TIDE_KB"
    assert "TIDE_KB and GULL_SF do not differ" in board["verdicts"][""]
