"""The command line of a batch: inputs as users have them, bad input, the lock, the evidence form."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import json
import lzma
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from cs_score.base.errors import UsageError
from cs_score.batch.store import locked
from tests.batch.command import batch_process, contents, leaderboard, problems
from tests.coldstart.command import Outcome
from tests.coldstart.command import score_in as cs_score_in
from tests.evidence.test_command import files as evidence_files

WORDS = ("batch", "-expand", "CSSF17", "--jobs", "1")
FILES = ("queries.xml", "pool.tab", "runs")


def _batch(world: Path, *more: str) -> Outcome:
    return cs_score_in(world, [*WORDS, *more])


def _line(outcome: Outcome) -> str:
    """The one line of a batch that scored nothing."""
    assert outcome.status in (1, 2)
    assert outcome.stdout == b""
    assert outcome.stderr.count(b"\n") == 1, outcome.stderr
    assert outcome.stderr.startswith(b"cs-score: ")
    return outcome.stderr.decode()


@pytest.fixture
def scored(world: Path) -> Path:
    assert _batch(world, "-o", "plain", *FILES).status == 0
    return world


def test_compressed_inputs(scored: Path) -> None:
    packed = scored / "packed"
    (packed / "runs").mkdir(parents=True)
    compressors: dict[str, Callable[[bytes], bytes]] = {
        "queries.xml.gz": gzip.compress,
        "pool.tab.bz2": bz2.compress,
        "runs/alpha.tab.txt.gz": gzip.compress,
        "runs/beta.tab.txt.bz2": bz2.compress,
        "runs/gamma.tab.txt.xz": lzma.compress,
    }
    for name, compress in compressors.items():
        (packed / name).write_bytes(compress((scored / name.rpartition(".")[0]).read_bytes()))
    assert _batch(scored, "-o", "out", "packed/queries.xml.gz", "packed/pool.tab.bz2", "packed/runs").status == 0
    for run in ("alpha", "beta", "gamma"):
        for name in ("out.sf", "out.ap", "out.summary"):
            assert (scored / "out" / run / name).read_bytes() == (scored / "plain" / run / name).read_bytes()


def test_each_run_of_a_file_is_scored_by_itself(scored: Path) -> None:
    """Nodes of one name in two runs stay two; -runids choose runs in their order, and one that is nowhere fails."""
    runs = {name: (scored / f"runs/{name}.tab.txt").read_text().splitlines(keepends=True) for name in ("alpha", "beta")}
    named = ["\t".join((*parts[:2], name, *parts[3:])) for name, lines in runs.items() for line in lines
             if (parts := line.split("\t"))]  # fmt: skip
    (scored / "both.tab.txt").write_text("".join(named))
    assert _batch(scored, "-o", "out", *FILES[:2], "both.tab.txt").status == 0
    ours = {row["run_id"]: row for row in leaderboard(scored / "out")}
    alone = {row["run"]: row for row in leaderboard(scored / "plain")}
    scores = [name for name in ours["alpha"] if name.startswith(("SF-", "LDC-"))]
    assert scores
    for name in runs:
        assert [ours[name][measure] for measure in scores] == [alone[name][measure] for measure in scores]
    one = _batch(scored, "--run", "beta", "-o", "one", *FILES[:2], "both.tab.txt")
    assert (one.status, [row["run_id"] for row in leaderboard(scored / "one")]) == (0, ["beta"])
    chosen = _batch(scored, "-runids", "beta:gamma", "-o", "chosen", *FILES[:2], "both.tab.txt")
    assert (chosen.status, b"no run called gamma could be scored" in chosen.stderr) == (1, True)
    assert [row["run_id"] for row in leaderboard(scored / "chosen")] == ["beta"]


@pytest.mark.parametrize(
    "files",
    [
        ("queries.xml", "pool.tab", "runs/*.tab.txt"),
        ("queries.xml", "pool.tab", "runs/[ab]*", "runs/gamma.tab.txt"),
        ("--runs-from", "list.txt", "queries.xml", "pool.tab"),
        ("pool.tab", "runs", "queries.xml"),
    ],
    ids=str,
)
def test_ways_to_name_runs(scored: Path, files: tuple[str, ...]) -> None:
    (scored / "list.txt").write_text("# all\n\nruns/alpha.tab.txt\nruns/[bg]*\n")
    assert _batch(scored, "-o", "out", *files).status == 0
    assert contents(scored / "out") == contents(scored / "plain")


@pytest.mark.parametrize("where", ["queries.xml", "pool.tab", "runs/beta.tab.txt", "list.txt"])
def test_standard_input(scored: Path, where: str) -> None:
    (scored / "list.txt").write_text("runs/beta.tab.txt\n")
    given = ["-" if name == where else name for name in ("queries.xml", "pool.tab", "runs/beta.tab.txt")]
    words = ["--runs-from", "-", *given[:2]] if where == "list.txt" else given
    if where == "queries.xml":  # a name must tell that it is a query file
        words = given = ["queries.xml", "-", "runs/beta.tab.txt"]
        where = "pool.tab"
    stdin = (scored / where).read_bytes()
    done = batch_process(scored, *WORDS[1:3], "--jobs", "2", "-o", "out", *words, stdin=stdin)
    assert done.returncode == 0, done.stderr
    run = "stdin" if where == "runs/beta.tab.txt" else "beta"
    assert (scored / "out" / run / "out.sf").read_bytes() == (scored / "plain" / "beta" / "out.sf").read_bytes()


def test_a_bad_run_stops_nothing_else(scored: Path) -> None:
    foreign = (scored / "runs" / "beta.tab.txt").read_text(encoding="utf-8").replace("CSSF17_", "OTHER_")
    (scored / "bad").mkdir()
    (scored / "bad" / "foreign.tab.txt").write_text(foreign, encoding="utf-8")
    (scored / "bad" / "bytes.tab.txt").write_bytes(b"\xff\n")
    (scored / "bad" / "columns.tab.txt").write_bytes(b"one\ttwo\n")
    (scored / "bad" / "packed.tab.txt.gz").write_bytes(b"no gzip")
    shutil.copy(scored / "pool.tab", scored / "bad" / "pool.tab.txt")
    done = _batch(scored, "-o", "out", *FILES, "bad", "missing.tab")
    assert done.status == 1
    assert b"3 scored; 6 failed (see out" in done.stderr
    for run in ("alpha", "beta", "gamma"):
        assert contents(scored / "out" / run) == contents(scored / "plain" / run)
    failures = {row["run"]: row["failure"] for row in leaderboard(scored / "out") if row["state"] == "failed"}
    assert "bad/foreign.tab.txt: line 1: Query OTHER_" in failures["foreign"]
    assert "no query file defines it" in failures["foreign"] or "compare the prefix" in failures["foreign"]
    assert "bad/bytes.tab.txt: line 1: not UTF-8" in failures["bytes"]
    assert "Unknown file type: bad/columns.tab.txt" in failures["columns"]
    assert "packed.tab.txt.gz: cannot be read" in failures["packed"]
    assert "these are assessments, not a run" in failures["pool"]
    assert failures["missing"] == "Could not open missing.tab: No such file or directory"
    assert {row["run"] for row in problems(scored / "out") if row["code"] == "FATAL"} == set(failures)
    assert [row["rank"] for row in leaderboard(scored / "out")][3:] == [""] * 6


def test_a_run_with_errors_keeps_its_rank_and_sets_the_status(world: Path) -> None:
    path = world / "runs" / "alpha.tab.txt"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    columns = lines[1].split("\t")
    columns[7] = "much"
    path.write_text("".join([lines[0], "\t".join(columns), *lines[2:]]), encoding="utf-8")
    assert _batch(world, "-o", "out", *FILES).status == 1
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
    assert said in _line(_batch(world, "-o", out, *FILES))
    assert not (world / "out").exists()


class TestLock:
    def test_a_batch_at_work_refuses_another(self, world: Path) -> None:
        (world / "out").mkdir()
        with open(world / "out" / ".batch.lock", "w") as lock:
            json.dump({"pid": os.getppid(), "host": socket.gethostname()}, lock)
            lock.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
            said = _line(_batch(world, "-o", "out", *FILES))
        assert f"another batch (process {os.getppid()} on {socket.gethostname()}) is at work in out" in said
        assert os.listdir(world / "out") == [".batch.lock"]

    def test_the_lock_of_a_process_that_is_gone_is_taken_over(self, world: Path) -> None:
        (world / "out").mkdir()
        owner = {"pid": 2**22 + 1, "host": socket.gethostname()}
        (world / "out" / ".batch.lock").write_text(json.dumps(owner))
        done = _batch(world, "-o", "out", *FILES)
        assert done.status == 0
        assert b"is gone; its lock is taken over" in done.stderr
        assert not (world / "out" / ".batch.lock").exists()

    def test_the_lock_of_another_host_is_not_ours_to_judge(self, world: Path) -> None:
        (world / "out").mkdir()
        (world / "out" / ".batch.lock").write_text(json.dumps({"pid": 1, "host": "elsewhere"}))
        said = _line(_batch(world, "-o", "out", *FILES))
        assert "process 1 on elsewhere" in said
        assert "remove out/.batch.lock" in said

    @pytest.mark.parametrize(
        "content",
        [
            b"", b"\xff", b"[]", b"{}", b'{"pid": 1e400, "host": "h"}', b'{"pid": 0, "host": "h"}', b"[" * 4096,
            b'{"pid": %d, "host": "h"}' % 10**30, b'{"pid": "1", "host": "h"}', b'{"pid": 1, "host": [1]}', b"1" * 5000,
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
    done = cs_score_in(tmp_path, [*batch, "a.json", "bad.json", "b.json"])
    assert done.status == 1, done.stderr
    single = [mode, *words, "--predictions", "b.json", "--per-item", "items.tsv"]
    alone = cs_score_in(tmp_path, [*single, "-o", "b.result.json"])
    assert alone.files["b.result.json"] == (tmp_path / "out" / "b" / "out.json").read_bytes()
    assert cs_score_in(tmp_path, single).stdout == (tmp_path / "out" / "b" / "out.txt").read_bytes()
    assert (tmp_path / "items.tsv").read_bytes() == (tmp_path / "out" / "b" / "out.tsv").read_bytes()
    rows = leaderboard(tmp_path / "out")
    assert [(row["rank"], row["run"]) for row in rows] == [("1", "a"), ("1", "b"), ("", "bad")]
    assert repr(float(rows[1][list(rows[0])[4]])) in (tmp_path / "out" / "b" / "out.json").read_text()
    assert b"(2 of them before)" in cs_score_in(tmp_path, [*batch, "--resume", "a.json", "b.json"]).stderr


@pytest.mark.parametrize("link", ["out/beta", "out/kb"])
def test_a_link_in_the_place_of_a_folder_is_refused(world: Path, link: str) -> None:
    """What lies behind it is no part of the batch, whoever put it there."""
    (world / "mine").mkdir()
    (world / "mine/out.sf").write_text("of somebody else\n", encoding="utf-8")
    (world / "out").mkdir()
    (world / link).symlink_to(world / "mine")
    policies = ("--policy", "kb", "--also-policy", "sf") if link == "out/kb" else ()
    done = batch_process(world, "-expand", "CSSF17", *policies, "-o", "out", "queries.xml", "pool.tab", "runs")
    assert done.returncode in (1, 2)
    assert done.stderr == (
        f"cs-score: {link} is a link, where -o makes a folder; remove it, or take another -o\n".encode()
    )
    assert contents(world / "mine") == {"out.sf": b"of somebody else\n"}
