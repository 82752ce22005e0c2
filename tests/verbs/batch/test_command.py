"""The command line of a batch: inputs as users have them, bad input, the lock, the evidence form."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from cs_score.base.errors import UsageError
from cs_score.verbs.batch.lock import locked
from tests.coldstart.command import Outcome, score_in
from tests.evidence.test_command import files as evidence_files
from tests.verbs.batch.command import FILES, batch_in, batch_process, change_confidence, contents, leaderboard, problems

HOST = socket.gethostname()


def _line(outcome: Outcome) -> str:
    """The one line of a batch that scored nothing."""
    assert outcome.status in (1, 2)
    assert outcome.stdout == b""
    assert outcome.stderr.count(b"\n") == 1, outcome.stderr
    assert outcome.stderr.startswith(b"cs-score: ")
    return outcome.stderr.decode()


@pytest.fixture
def scored(world: Path) -> Path:
    assert batch_in(world, out="plain").status == 0
    return world


def test_each_run_of_a_file_is_scored_by_itself(scored: Path) -> None:
    """Nodes of one name in two runs stay two; -runids choose runs in their order, and one that is nowhere fails."""
    runs = {name: (scored / f"runs/{name}.tab.txt").read_text().splitlines(keepends=True) for name in ("alpha", "beta")}
    named = ["\t".join((*parts[:2], name, *parts[3:])) for name, lines in runs.items() for line in lines
             if (parts := line.split("\t"))]  # fmt: skip
    (scored / "both.tab.txt").write_text("".join(named))
    files = (*FILES[:2], "both.tab.txt")
    assert batch_in(scored, files=files).status == 0
    ours = {row["run_id"]: row for row in leaderboard(scored / "out")}
    alone = {row["run"]: row for row in leaderboard(scored / "plain")}
    scores = [name for name in ours["alpha"] if name.startswith(("SF-", "LDC-"))]
    assert scores
    for name in runs:
        assert [ours[name][measure] for measure in scores] == [alone[name][measure] for measure in scores]
    one = batch_in(scored, "--run", "beta", out="one", files=files)
    assert (one.status, [row["run_id"] for row in leaderboard(scored / "one")]) == (0, ["beta"])
    chosen = batch_in(scored, "-runids", "beta:gamma", out="chosen", files=files)
    assert (chosen.status, b"no run called gamma could be scored" in chosen.stderr) == (1, True)
    assert [row["run_id"] for row in leaderboard(scored / "chosen")] == ["beta"]


@pytest.mark.parametrize(
    "files",
    [
        ("queries.xml", "pool.tab", "runs/[ab]*", "runs/gamma.tab.txt"),
        ("--runs-from", "list.txt", "queries.xml", "pool.tab"),
        ("pool.tab", "runs", "queries.xml"),
    ],
    ids=str,
)
def test_ways_to_name_runs(scored: Path, files: tuple[str, ...]) -> None:
    (scored / "list.txt").write_text("# all\n\nruns/alpha.tab.txt\nruns/[bg]*\n")
    assert batch_in(scored, files=files).status == 0
    assert contents(scored / "out") == contents(scored / "plain")


@pytest.mark.parametrize("where", ["pool.tab", "runs/beta.tab.txt", "list.txt"])
def test_standard_input(scored: Path, where: str) -> None:
    (scored / "list.txt").write_text("runs/beta.tab.txt\n")
    given = ["-" if name == where else name for name in ("queries.xml", "pool.tab", "runs/beta.tab.txt")]
    words = ["--runs-from", "-", *given[:2]] if where == "list.txt" else given
    stdin = (scored / where).read_bytes()
    done = batch_process(scored, "-expand", "CSSF17", "--jobs", "2", "-o", "out", *words, stdin=stdin)
    assert done.returncode == 0, done.stderr
    run = "stdin" if where == "runs/beta.tab.txt" else "beta"
    assert (scored / "out" / run / "out.sf").read_bytes() == (scored / "plain" / "beta" / "out.sf").read_bytes()


def test_a_bad_run_stops_nothing_else(scored: Path) -> None:
    bad = scored / "bad"
    bad.mkdir()
    foreign = (scored / "runs" / "beta.tab.txt").read_text(encoding="utf-8").replace("CSSF17_", "OTHER_")
    (bad / "foreign.tab.txt").write_text(foreign, encoding="utf-8")
    (bad / "bytes.tab.txt").write_bytes(b"\xff\n")
    (bad / "columns.tab.txt").write_bytes(b"one\ttwo\n")
    (bad / "packed.tab.txt.gz").write_bytes(b"no gzip")
    shutil.copy(scored / "pool.tab", bad / "pool.tab.txt")
    done = batch_in(scored, files=(*FILES, "bad", "missing.tab", "out"))
    assert done.status == 1
    assert b"3 scored; 7 failed (see out" in done.stderr
    for run in ("alpha", "beta", "gamma"):
        assert contents(scored / "out" / run) == contents(scored / "plain" / run)
    failures = {row["run"]: row["failure"] for row in leaderboard(scored / "out") if row["state"] == "failed"}
    wanted = {
        "foreign": "bad/foreign.tab.txt: line 1: Query OTHER_",
        "bytes": "bad/bytes.tab.txt: line 1: not UTF-8",
        "columns": "Unknown file type: bad/columns.tab.txt",
        "packed": "packed.tab.txt.gz: cannot be read",
        "pool": "these are assessments, not a run",
        "missing": "Could not open missing.tab: No such file or directory",
        "out": "out: no file *.tab.txt in it",  # the folder that the batch itself makes
    }
    assert {run: wanted[run] in said for run, said in failures.items()} == dict.fromkeys(wanted, True)
    assert {row["run"] for row in problems(scored / "out") if row["code"] == "FATAL"} == set(failures)
    assert [row["rank"] for row in leaderboard(scored / "out")][3:] == [""] * 7


def test_a_run_with_errors_keeps_its_rank_and_sets_the_status(world: Path) -> None:
    change_confidence(world / "runs" / "alpha.tab.txt", "much")
    assert batch_in(world).status == 1
    row = next(row for row in leaderboard(world / "out") if row["run"] == "alpha")
    assert (row["state"], row["errors"], row["rank"] != "") == ("errors", "1", True)
    problem = next(row for row in problems(world / "out") if row["code"] == "ILLEGAL_CONFIDENCE_VALUE")
    assert (problem["run"], problem["file"], problem["line"]) == ("alpha", "runs/alpha.tab.txt", "2")


@pytest.mark.parametrize(
    ("change", "out", "said"),
    [
        (lambda world: (world / "pool.tab").write_bytes(b"\xff"), "out", "pool.tab: line 1: not UTF-8"),
        (lambda world: (world / "pool.tab").unlink(), "out", "Could not open pool.tab: No such file"),
        (lambda world: shutil.copy(world / "runs/beta.tab.txt", world / "pool.tab"), "out", "pool.tab: this is a run"),
        (lambda world: (world / "queries.xml").unlink(), "out", "Could not open queries.xml"),
        (lambda world: (world / "file").touch(), "file", "file is a file; -o needs a folder"),
        (lambda world: (world / "file").touch(), "file/below", "Could not write file/below"),
    ],
)
def test_where_gold_or_folder_fail_nothing_is_scored(
    world: Path, change: Callable[[Path], object], out: str, said: str
) -> None:
    change(world)
    assert said in _line(batch_in(world, out=out))
    assert not (world / "out").exists()


class TestLock:
    def test_a_batch_at_work_refuses_another(self, world: Path) -> None:
        (world / "out").mkdir()
        with open(world / "out" / ".batch.lock", "w") as lock:
            json.dump({"pid": os.getppid(), "host": HOST}, lock)
            lock.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
            said = _line(batch_in(world))
        assert f"another batch (process {os.getppid()} on {HOST}) is at work in out" in said
        assert os.listdir(world / "out") == [".batch.lock"]

    def test_the_lock_of_a_process_that_is_gone_is_taken_over(self, tmp_path: Path) -> None:
        (tmp_path / ".batch.lock").write_text(json.dumps({"pid": 2**22 + 1, "host": HOST}))
        with locked(str(tmp_path)) as taken_over:
            assert str(taken_over).endswith("is gone; its lock is taken over")
        assert os.listdir(tmp_path) == []

    def test_the_lock_of_another_host_is_not_ours_to_judge(self, tmp_path: Path) -> None:
        (tmp_path / ".batch.lock").write_text(json.dumps({"pid": 1, "host": "elsewhere"}))
        with pytest.raises(UsageError, match=r"process 1 on elsewhere.*remove .*\.batch\.lock$"), locked(str(tmp_path)):
            pass

    @pytest.mark.parametrize(
        "content",
        [
            b"", b"\xff", b"{}", b'{"pid": 1e400, "host": "h"}', b'{"pid": 0, "host": "h"}', b"[" * 4096,
            b'{"pid": %d, "host": "h"}' % 10**30, b'{"pid": 1, "host": [1]}', b"1" * 5000,
        ],
        ids=lambda content: content.decode("latin-1")[:24],
    )  # fmt: skip
    def test_a_lock_file_without_an_owner_holds_nobody_off(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / ".batch.lock").write_bytes(content)
        with locked(str(tmp_path)) as taken_over:
            assert taken_over is None
        assert os.listdir(tmp_path) == []

    @pytest.mark.timeout(30)
    @pytest.mark.parametrize("kind", ["link", "dangling link", "second name", "pipe", "folder"])
    def test_what_is_no_lock_file_is_left_alone(self, tmp_path: Path, kind: str) -> None:
        path, other = tmp_path / ".batch.lock", tmp_path / "precious"
        other.write_bytes(b'{"pid": 1}')
        makers: dict[str, Callable[[], object]] = {
            "link": lambda: path.symlink_to(other),
            "dangling link": lambda: path.symlink_to(tmp_path / "nowhere"),
            "second name": lambda: path.hardlink_to(other),
            "pipe": lambda: os.mkfifo(path),
            "folder": path.mkdir,
        }
        makers[kind]()
        before = os.lstat(path)
        with pytest.raises(UsageError, match="is not the lock file of a batch; remove it"), locked(str(tmp_path)):
            pass
        assert other.read_bytes() == b'{"pid": 1}'
        assert os.path.samestat(os.lstat(path), before)
        assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("mode", ["scifact", "claims", "r4c", "hotpotqa"])
def test_evidence_modes(mode: str, tmp_path: Path) -> None:
    gold, predictions = evidence_files(mode)
    for name in ("a", "b"):
        shutil.copy(predictions, tmp_path / f"{name}.json")
    (tmp_path / "bad.json").write_text("no json")
    words = ["--gold", str(gold), "--bootstrap", "50"]
    batch = ["batch", mode, *words, "-o", "out", "--jobs", "1"]
    done = score_in(tmp_path, [*batch, "a.json", "bad.json", "b.json"])
    assert done.status == 1, done.stderr
    single = [mode, *words, "--predictions", "b.json", "--per-item", "items.tsv"]
    alone = score_in(tmp_path, [*single, "-o", "b.result.json"])
    assert alone.files["b.result.json"] == (tmp_path / "out/b/out.json").read_bytes()
    assert score_in(tmp_path, single).stdout == (tmp_path / "out/b/out.txt").read_bytes()
    assert (tmp_path / "items.tsv").read_bytes() == (tmp_path / "out/b/out.tsv").read_bytes()
    rows = leaderboard(tmp_path / "out")
    assert [(row["rank"], row["run"]) for row in rows] == [("1", "a"), ("1", "b"), ("", "bad")]
    assert b"(2 of them before)" in score_in(tmp_path, [*batch, "--resume", "a.json", "b.json"]).stderr


@pytest.mark.parametrize("link", ["out/beta", "out/kb"])
def test_a_link_in_the_place_of_a_folder_is_refused(world: Path, link: str) -> None:
    """What lies behind it is no part of the batch, whoever put it there."""
    (world / "mine").mkdir()
    (world / "mine/out.sf").write_text("of somebody else\n", encoding="utf-8")
    (world / "out").mkdir()
    (world / link).symlink_to(world / "mine")
    policies = ("--policy", "kb", "--also-policy", "sf") if link == "out/kb" else ()
    said = f"cs-score: {link} is a link, where -o makes a folder; remove it, or take another -o\n"
    assert _line(batch_in(world, *policies)) == said
    assert contents(world / "mine") == {"out.sf": b"of somebody else\n"}


def test_an_empty_run_is_not_counted_as_scored(scored: Path) -> None:
    (scored / "empty.tab").write_bytes(b"")
    (scored / "list.txt").write_bytes(b"\xef\xbb\xbfruns/alpha.tab.txt\nempty.tab\n")
    done = batch_in(scored, files=("--runs-from", "list.txt", "queries.xml", "pool.tab"))
    assert done.status == 1
    said = done.stderr.decode()
    assert "1 scored; 1 failed" in said
    assert "no line of it could be scored" in (scored / "out" / "problems.tsv").read_text() + done.stdout.decode()
