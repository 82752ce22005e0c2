"""What is whole stays, what is not is scored again, and a batch that was killed goes on to the same bytes."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.coldstart.recorded import COMMITTED
from tests.verbs.batch.command import (
    FILES,
    batch_in,
    batch_process,
    batch_words,
    contents,
    environment,
    invented_runs,
    leaderboard,
)


def _resumed(world: Path, *more: str) -> tuple[int, list[str]]:
    """How many runs `--resume` keeps, and which files of beta it says are not as they were written."""
    done = batch_in(world, "--resume", *more)
    assert done.status == 0
    kept = re.search(rb"\((\d) of them before\)", done.stderr)
    said = r"cs-score: out/beta/(\S+) is not as this version writes it; beta is scored again\n"
    return int(kept[1]) if kept else 0, re.findall(said, done.stderr.decode())


@pytest.fixture
def scored(world: Path) -> Path:
    assert batch_in(world).status == 0
    return world


def test_what_was_made_from_something_else_is_scored_again(scored: Path) -> None:
    before = contents(scored / "out")
    assert _resumed(scored) == (3, [])
    assert contents(scored / "out") == before
    for name, kept in (("runs/beta.tab.txt", 2), ("pool.tab", 0), ("queries.xml", 0)):
        (scored / name).write_bytes((scored / name).read_bytes() + b"\n")
        assert _resumed(scored) == (kept, []), name
    for more in (
        ("-justifications", "1:1"),
        ("-tabs",),
        ("-fields", "EC:F"),
        ("--with-json",),
        ("--validate",),
        ("--bootstrap", "9"),
        ("--bootstrap", "9", "--seed", "1"),
    ):
        assert _resumed(scored, *more) == (0, []), more


def test_a_damaged_or_missing_file_means_its_run(scored: Path) -> None:
    before = contents(scored / "out")
    for name in ("out.sf", "out.params", "out.errlog", "signature.json"):
        path = scored / "out" / "beta" / name
        data = path.read_bytes()
        for damaged in (None, data[:-3], data + b"xyz"):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            is_noticed = damaged is not None or name != "signature.json"
            assert _resumed(scored) == (2, [name] * is_noticed), (name, damaged)
            assert contents(scored / "out") == before


def test_an_edited_signature_does_not_reach_the_leaderboard(scored: Path) -> None:
    before = contents(scored / "out")
    path = scored / "out" / "beta" / "signature.json"
    record = json.loads(path.read_text())
    name = next(iter(record["runs"][0]["scores"]))
    edited: list[str | bytes] = [
        b"[]", b"{}", b"\xff", b'{"kind": "batch-run", "schema_version": 5, "origin": 3}', b"null", b"", b"NaN",
        b"text", b"[" * 100_000, b'{"digest":' * 50_000, b"1" * 5000, b'{"digest": NaN, "schema_version": 5}',
        path.read_text().replace('"errors": 0', '"errors": 7'),
        json.dumps(record | {"origin": record["origin"] | {"version": "0.0.0"}}),
    ]  # fmt: skip
    for value in (0.99, None, float("nan"), "1", 10**400):
        record["runs"][0]["scores"][name] = value
        edited.append(json.dumps(record))
    for content in edited:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        assert _resumed(scored) == (2, ["signature.json"]), content[:80]
        assert contents(scored / "out") == before


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", ["signature.json", "out.sf"])
@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_what_is_no_file_is_not_read(scored: Path, name: str, kind: str) -> None:
    before = contents(scored / "out")
    path = scored / "out" / "beta" / name
    path.rename(scored / "other")
    data = (scored / "other").read_bytes()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(scored / "other" if kind == "link" else "/dev/zero")
    assert _resumed(scored) == (2, [name])
    assert contents(scored / "out") == before
    assert not path.is_symlink()
    assert (scored / "other").read_bytes() == data


def test_a_failed_run_leaves_nothing_of_an_earlier_one_and_is_tried_again(scored: Path) -> None:
    path = scored / "runs" / "beta.tab.txt"
    good = path.read_bytes()
    path.write_bytes(b"\xff")
    assert batch_in(scored).status == 1
    assert set(contents(scored / "out" / "beta")) <= {"out.errlog"}
    path.write_bytes(good)
    assert _resumed(scored) == (2, [])
    assert [row["state"] for row in leaderboard(scored / "out")] == ["ok"] * 3


@pytest.mark.parametrize(
    ("seed", "kills"), [(1, 2), *(pytest.param(seed, 5, marks=pytest.mark.slow) for seed in range(2, 12))]
)
def test_a_batch_that_was_killed_again_and_again_ends_as_an_undisturbed_one(
    tmp_path: Path, seed: int, kills: int
) -> None:
    for name in ("queries.xml", "pool.tab"):
        shutil.copy(COMMITTED / "medium_001" / name, tmp_path / name)
    names = [f"run{number:02}" for number in range(10)]
    invented_runs(tmp_path, COMMITTED / "medium_001" / "run.tab", names)
    words = ("-expand", "CSSF17", "--policy", "kb", "--also-policy", "sf")
    start = time.monotonic()
    done = batch_process(tmp_path, *words, "--jobs", "2", "-o", "calm", *FILES)
    took = time.monotonic() - start
    assert done.returncode == 0, done.stderr
    draw = random.Random(seed)
    resumed = (*words, "--jobs", "2", "-o", "killed", "--resume", *FILES)
    for _ in range(kills):
        with subprocess.Popen(
            batch_words(*resumed), cwd=tmp_path, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as batch:  # fmt: skip
            time.sleep(draw.uniform(0.2, 1.0) * took)
            batch.kill()
        whole = [path for path in (tmp_path / "killed").rglob("out.*") if not path.name.startswith(".")]
        for path in whole:
            calm = tmp_path / "calm" / path.relative_to(tmp_path / "killed")
            assert path.stat().st_size == calm.stat().st_size
    done = batch_process(tmp_path, *resumed)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "killed") == contents(tmp_path / "calm")
