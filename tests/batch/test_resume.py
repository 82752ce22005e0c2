"""What is whole stays, what is not is scored again, and a batch that was killed goes on to the same bytes."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.batch.command import batch_process, batch_words, contents, environment, invented_runs, leaderboard
from tests.coldstart.command import Outcome
from tests.coldstart.command import score_in as cs_score_in
from tests.coldstart.recorded import COMMITTED

WORDS = ("batch", "-expand", "CSSF17", "--jobs", "1", "-o", "out")
FILES = ("queries.xml", "pool.tab", "runs")


def _batch(world: Path, *more: str) -> Outcome:
    return cs_score_in(world, [*WORDS, *more, *FILES])


def _scored_again(world: Path, *more: str) -> set[str]:
    """The runs that `--resume` does not keep."""
    files = {run: world / "out" / run / "out.sf" for run in ("alpha", "beta", "gamma")}
    before = {run: path.stat().st_ino if path.exists() else None for run, path in files.items()}
    # An inode is given again as soon as it is free, so it is held.
    with_links = []
    for run, path in files.items():
        if path.exists():
            os.link(path, world / f"held-{run}")
            with_links.append(world / f"held-{run}")
    assert _batch(world, "--resume", *more).status == 0
    after = {run: path.stat().st_ino for run, path in files.items()}
    for link in with_links:
        link.unlink()
    return {run for run in files if before[run] != after[run]}


@pytest.fixture
def scored(world: Path) -> Path:
    assert _batch(world).status == 0
    return world


def test_nothing_is_scored_twice(scored: Path) -> None:
    before = contents(scored / "out")
    assert _scored_again(scored) == set()
    assert contents(scored / "out") == before


def test_a_changed_run_is_scored_again(scored: Path) -> None:
    path = scored / "runs" / "beta.tab.txt"
    path.write_bytes(path.read_bytes() + b"\n")
    assert _scored_again(scored) == {"beta"}


def test_changed_gold_means_all_of_them(scored: Path) -> None:
    for name in ("pool.tab", "queries.xml"):
        path = scored / name
        path.write_bytes(path.read_bytes() + b"\n")
        assert _scored_again(scored) == {"alpha", "beta", "gamma"}, name


def test_so_do_other_options(scored: Path) -> None:
    for more in (("-justifications", "1:1"), ("-tabs",), ("-fields", "EC:F"), ("--with-json",), ("--validate",)):
        assert _scored_again(scored, *more) == {"alpha", "beta", "gamma"}, more


def test_so_does_another_version(scored: Path) -> None:
    path = scored / "out" / "beta" / "signature.json"
    record = json.loads(path.read_text())
    record["origin"]["version"] = "0.0.0"
    path.write_text(json.dumps(record))
    assert _scored_again(scored) == {"beta"}


def test_a_damaged_or_missing_file_means_its_run(scored: Path) -> None:
    before = contents(scored / "out")
    for name in ("out.sf", "out.params", "out.errlog", "signature.json"):
        path = scored / "out" / "beta" / name
        for damage in (None, slice(None, -3), b"xyz"):
            data = path.read_bytes()
            path.unlink()
            if damage is not None:
                path.write_bytes(data + damage if isinstance(damage, bytes) else data[damage])
            assert _scored_again(scored) == {"beta"}, (name, damage)
            assert contents(scored / "out") == before


def _told(world: Path, file: str) -> None:
    """Only beta is scored again, because of that file, and it ends as it was."""
    os.link(world / "out" / "alpha" / "out.sf", world / "held")
    done = _batch(world, "--resume")
    assert done.status == 0
    expected = f"cs-score: out/beta/{file} is not as this version writes it; beta is scored again"
    assert expected in done.stderr.decode().splitlines()
    assert b"3 scored (2 of them before)" in done.stderr
    assert os.path.samefile(world / "out" / "alpha" / "out.sf", world / "held")


def test_a_signature_of_another_kind_is_none(scored: Path) -> None:
    before = contents(scored / "out")
    for record in (
        b"[]", b"{}", b"\xff", b'{"kind": "batch-run", "schema_version": 4, "origin": 3}', b"null", b"", b"NaN",
        b"text", b"[" * 100_000, b'{"digest":' * 50_000, b"1" * 5000, b'{"digest": NaN, "schema_version": 4}',
    ):  # fmt: skip
        (scored / "out" / "beta" / "signature.json").write_bytes(record)
        _told(scored, "signature.json")
        assert contents(scored / "out") == before
        (scored / "held").unlink()


def test_an_edited_score_does_not_reach_the_leaderboard(scored: Path) -> None:
    before = contents(scored / "out")
    path = scored / "out" / "beta" / "signature.json"
    record = json.loads(path.read_text())
    name = next(iter(record["runs"][0]["scores"]))
    for value in (0.99, None, float("nan"), "1", 10**400):
        record["runs"][0]["scores"][name] = value
        path.write_text(json.dumps(record))
        _told(scored, "signature.json")
        assert contents(scored / "out") == before
        (scored / "held").unlink()


def test_another_state_does_not_either(scored: Path) -> None:
    path = scored / "out" / "beta" / "signature.json"
    path.write_text(path.read_text().replace('"errors": 0', '"errors": 7'))
    _told(scored, "signature.json")
    assert {row["errors"] for row in leaderboard(scored / "out")} == {"0"}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", ["signature.json", "out.sf"])
@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_what_is_no_file_is_not_read(scored: Path, name: str, kind: str) -> None:
    before = contents(scored / "out")
    path = scored / "out" / "beta" / name
    data = path.read_bytes()
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (scored / "other").write_bytes(data)
        path.symlink_to(scored / "other")
    else:
        path.symlink_to("/dev/zero")
    _told(scored, name)
    assert contents(scored / "out") == before
    assert not path.is_symlink()
    if kind == "link":
        assert (scored / "other").read_bytes() == data


def test_a_failed_run_is_tried_again(world: Path) -> None:
    path = world / "runs" / "beta.tab.txt"
    good = path.read_bytes()
    path.write_bytes(b"\xff")
    assert _batch(world).status == 1
    path.write_bytes(good)
    assert _scored_again(world) == {"beta"}
    assert [row["state"] for row in leaderboard(world / "out")] == ["ok"] * 3


def test_a_run_that_fails_now_leaves_nothing_of_an_earlier_one(scored: Path) -> None:
    (scored / "runs" / "beta.tab.txt").unlink()
    assert cs_score_in(scored, [*WORDS, *FILES[:2], "runs/alpha.tab.txt", "runs/beta.tab.txt"]).status == 1
    assert set(contents(scored / "out" / "beta")) <= {"out.errlog"}


def _killed_and_resumed(folder: Path, seed: int, kills: int) -> None:
    """Kill a batch again and again at moments drawn with `seed`, then let it end; it must equal an undisturbed one."""
    for name in ("queries.xml", "pool.tab"):
        shutil.copy(COMMITTED / "medium_001" / name, folder / name)
    names = [f"run{number:02}" for number in range(10)]
    invented_runs(folder, COMMITTED / "medium_001" / "run.tab", names)
    words = ("-expand", "CSSF17", "--policy", "kb", "--also-policy", "sf")
    start = time.monotonic()
    done = batch_process(folder, *words, "--jobs", "2", "-o", "calm", *FILES)
    took = time.monotonic() - start
    assert done.returncode == 0, done.stderr
    draw = random.Random(seed)
    resumed = (*words, "--jobs", "2", "-o", "killed", "--resume", *FILES)
    for _ in range(kills):
        with subprocess.Popen(
            batch_words(*resumed), cwd=folder, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as batch:  # fmt: skip
            time.sleep(draw.uniform(0.2, 1.0) * took)
            batch.kill()
        whole = [path for path in (folder / "killed").rglob("out.*") if not path.name.startswith(".")]
        for path in whole:
            calm = folder / "calm" / path.relative_to(folder / "killed")
            assert path.stat().st_size == calm.stat().st_size
    done = batch_process(folder, *resumed)
    assert done.returncode == 0, done.stderr
    assert contents(folder / "killed") == contents(folder / "calm")


def test_killed_and_resumed(tmp_path: Path) -> None:
    _killed_and_resumed(tmp_path, seed=1, kills=2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_killed_and_resumed_many_times(tmp_path: Path, seed: int) -> None:
    _killed_and_resumed(tmp_path, seed, kills=5)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupted_says_how_to_go_on(tmp_path: Path, jobs: str) -> None:
    for name in ("queries.xml", "pool.tab"):
        shutil.copy(COMMITTED / "medium_001" / name, tmp_path / name)
    invented_runs(tmp_path, COMMITTED / "medium_001" / "run.tab", [f"run{number:02}" for number in range(40)])
    words = ("-expand", "CSSF17", "--jobs", jobs, "-o", "out", *FILES)
    with subprocess.Popen(
        batch_words(*words), cwd=tmp_path, env=environment(), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as batch:  # fmt: skip
        deadline = time.monotonic() + 20
        while not any((tmp_path / "out").glob("*/signature.json")) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(batch.pid, signal.SIGINT)  # a terminal sends it to all processes
        out, err = batch.communicate(timeout=20)
    assert (batch.returncode, out) == (130, b"")
    assert err == b"cs-score: interrupted; the runs in out are whole, and the same command with --resume goes on\n"
    assert not list(tmp_path.rglob("*.part"))
    done = batch_process(tmp_path, *words[:-3], "--resume", *FILES)
    assert done.returncode == 0
    assert b"of them before" in done.stderr
