"""The problems of all runs of a batch in one file for programs and editors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.batch.command import FILES, batch_in, batch_process
from tests.coldstart.command import score_in as cs_score_in


@pytest.fixture
def flawed(world: Path) -> Path:
    """The runs `alpha` and `beta` have a line twice and a confidence without a point; the pool has a line twice."""
    for name in ("runs/alpha.tab.txt", "runs/beta.tab.txt"):
        path = world / name
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        columns = lines[1].split("\t")
        columns[7] = "1"
        path.write_text("".join([lines[0], "\t".join(columns), *lines[2:], lines[2]]), encoding="utf-8")
    pool = (world / "pool.tab").read_text(encoding="utf-8").splitlines(keepends=True)
    (world / "pool.tab").write_text("".join([*pool, pool[0]]), encoding="utf-8")
    return world


def _found(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["problems"]
    return found


@pytest.mark.parametrize("ending", ["json", "tsv", "sarif"])
@pytest.mark.parametrize("more", [(), ("--validate",)], ids=str)
def test_one_run_gives_the_file_of_a_single_call(flawed: Path, ending: str, more: tuple[str, ...]) -> None:
    files = (*FILES[:2], "runs/alpha.tab.txt")
    single = ["-expand", "CSSF17", *more, "-output_file", "o", "--problems", f"single.{ending}", *files]
    assert cs_score_in(flawed, single).status == 0
    assert batch_in(flawed, *more, "--problems", f"batch.{ending}", files=files).status == 0
    ours = (flawed / f"batch.{ending}").read_bytes()
    assert b"MISSING_DECIMAL_POINT" in ours
    assert ours == (flawed / f"single.{ending}").read_bytes()


def test_all_runs_and_policies_with_each_problem_once_and_its_file(flawed: Path) -> None:
    words = ("--policy", "kb", "--also-policy", "sf", "--also-policy", "open:ignore=DUPLICATE")
    assert batch_in(flawed, *words, "--problems", "p.json").status == 0
    found = _found(flawed / "p.json")
    places = [(one["file"], one["code"], one["line"], one["message"]) for one in found]
    assert len(set(places)) == len(places)
    assert None not in {one["file"] for one in found}
    runs = ["runs/alpha.tab.txt", "runs/beta.tab.txt"]
    assert [one["file"] for one in found if one["code"] == "MISSING_DECIMAL_POINT"] == runs
    assert [one["file"] for one in found if one["code"] == "DUPLICATE_LINE"] == ["pool.tab", *runs]
    done = batch_process(
        flawed, "-expand", "CSSF17", *words, "--jobs", "2", "-o", "two", "--problems", "two.json", *FILES
    )
    assert done.returncode == 0, done.stderr
    assert (flawed / "two.json").read_bytes() == (flawed / "p.json").read_bytes()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("p.txt", "--problems takes a file; did you mean --problems problems.json? p.txt does not end in"),
        ("runs/alpha.json", "runs/alpha.json is an input; choose another --problems"),
        ("pool.json", "pool.json is an input; choose another --problems"),
        ("out/problems.tsv", "out/problems.tsv is what -o writes; choose another --problems"),
        ("no/p.json", "Could not open no/p.json: No such file or directory"),
    ],
)
def test_files_that_the_problems_cannot_go_to(world: Path, path: str, said: str) -> None:
    shutil.copy(world / "pool.tab", world / "pool.json")
    shutil.copy(world / "runs" / "alpha.tab.txt", world / "runs" / "alpha.json")
    done = batch_in(world, "--problems", path, files=("queries.xml", "pool.json", "runs", "runs/*.json"))
    assert done.status in (1, 2)
    assert said in done.stderr.decode()
    assert not (world / "out").exists()
