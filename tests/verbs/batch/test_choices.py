"""What a batch chooses: policies, editions, validation, a file of problems."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from pathlib import Path
from typing import Final

import pytest

from cs_score.base.errors import UsageError
from cs_score.coldstart.options import Options
from cs_score.coldstart.output_files import MAY_BE_REPLACED
from cs_score.verbs.batch.cold_start_plan import policies_of_batch
from tests.coldstart.command import Outcome, score_in
from tests.verbs.batch.command import (
    FILES,
    batch_in,
    batch_process,
    change_confidence,
    contents,
    files_of_call,
    leaderboard,
    problems,
)

TEXTS = {"IGNORE": "UNASSESSED:DUPLICATE", "RIGHT": "CORRECT", "WRONG": "INCORRECT:INCORRECT_PARENT:INEXACT"}
SF_SWITCHES = (
    "-justifications", "1:1", "-ignore", "UNASSESSED", "-wrong", "INCORRECT:INCORRECT_PARENT:INEXACT:DUPLICATE",
)  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["kb", "KB:right=CORRECT"], "given twice"),
        (["..:right=CORRECT"], "a name is made of letters"),
        (["problems.tsv:right=CORRECT"], "is a file of every batch"),
        (["x:"], "an empty part is not understood"),
        (["x:left=CORRECT"], "left=CORRECT is not understood"),
        (["x:justifications=3"], "must be of the form A:B"),
    ],
)
def test_what_is_no_policy(given: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        policies_of_batch(Options(), TEXTS, "kb", given)


def test_each_policy_has_the_bytes_of_a_call_with_its_switches(world: Path) -> None:
    assert batch_in(world, "--policy", "kb", "--also-policy", "sf", out="both").status == 0
    for policy, switches in (("kb", ()), ("sf", SF_SWITCHES)):
        for run in ("alpha", "beta", "gamma"):
            single = world / "single" / policy / run
            single.mkdir(parents=True)
            outputs = ("-output_file", f"{single}/out", "-error_file", f"{single}/out.errlog")
            files = ("queries.xml", "pool.tab", f"runs/{run}.tab.txt")
            assert score_in(world, ["-expand", "CSSF17", *switches, *outputs, *files]).status == 0
            assert files_of_call(world / "both" / policy / run) == files_of_call(single)
    rows = leaderboard(world / "both")
    assert [row["policy"] for row in rows] == ["kb"] * 3 + ["sf"] * 3
    assert [row["rank"] for row in rows][::3] == ["1", "1"]


GOLD: Final = ("queries/ldc-queries.xml", "assessments/pool-2016.tab")
SWITCHES: Final = ("-expand", "ISLE26", "--jobs", "1")
LIST: Final = "submissions/tide-kb.tab.txt\nsubmissions/gull-2016.tab\tfollow=3.0\n"


def _batch_of_list(folder: Path, *more: str, lines: str = LIST) -> Outcome:
    (folder / "list").write_text(lines)
    return score_in(folder, ["batch", *SWITCHES, "-o", "out", *more, "--runs-from", "list", *GOLD])


def test_editions_are_mixed_only_when_asked_and_that_is_said(folder: Path) -> None:
    refused = _batch_of_list(folder)
    assert (refused.status, refused.stdout) == (2, b"")
    assert refused.stderr == (
        b"cs-score: the runs follow 2017.2.0 and 3.0, whose scores cannot be compared; make a batch of each, or say "
        b"--mix-editions for one leaderboard\n"
    )
    mixed = _batch_of_list(folder, "--mix-editions", "--bootstrap", "20")
    assert mixed.status == 0
    rows = {row["run"]: row for row in leaderboard(folder / "out")}
    assert {run: row["edition"] for run, row in rows.items()} == {"tide-kb": "2017.2.0", "gull-2016": "3.0"}
    assert "|follow=3.0|" in rows["gull-2016"]["signature"]
    assert {row["tier"] for row in rows.values()} == {""}
    for text in (mixed.stdout, *((folder / f"out/leaderboard.{each}").read_bytes() for each in ("md", "tex", "json"))):
        assert b"scores that other rules have made" in b" ".join(text.split())
    assert [each["run"] for each in json.loads((folder / "out/batch.json").read_bytes())["runs"]] == ["tide-kb"]
    assert score_in(folder, ["verify", "out"]).status == 0
    assert b"(2 of them before)" in _batch_of_list(folder, "--mix-editions", "--bootstrap", "20", "--resume").stderr


def test_a_run_has_the_files_of_a_call_that_follows_its_edition(folder: Path) -> None:
    assert _batch_of_list(folder, "--mix-editions").status == 0
    (folder / "one").mkdir()
    words = ["-output_file", "one/out", "-error_file", "one/out.errlog", "--follow", "3.0", *SWITCHES[:2]]
    assert score_in(folder, [*words, GOLD[0], "submissions/gull-2016.tab", GOLD[1]]).status == 0
    assert files_of_call(folder / "out/gull-2016") == files_of_call(folder / "one")


@pytest.mark.parametrize(
    ("lines", "more", "status", "said"),
    [
        ("submissions/gull-2016.tab\tfollow=3.0", (), 0, b""),  # one edition, whatever the batch follows
        (LIST.replace("3.0", "2017.2.0"), (), 0, b""),
        (LIST.replace("3.0", "4"), (), 2, b"no edition 4 to follow; there are 3.0, 2017.1.5, 2017.2.0"),
        (LIST.replace("follow=", ""), (), 2, b"list: line 2: '3.0' is not understood; a tab precedes follow=NAME"),
        (LIST + "submissions/gull-2016.tab", (), 2, b"is to follow the default and 3.0"),
        (LIST, ("-justifications", "1:1"), 2, b"-justifications"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_a_list_may_say(lines: str, more: tuple[str, ...], status: int, said: bytes, folder: Path) -> None:
    done = _batch_of_list(folder, *more, lines=lines)
    assert (done.status, said in done.stderr) == (status, True), done.stderr
    if not status:
        assert "edition" not in leaderboard(folder / "out")[0]


def test_other_tasks_have_no_editions(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("")
    (tmp_path / "list").write_text("predictions\tfollow=3.0\n")
    done = score_in(tmp_path, ["batch", "claims", "--gold", "gold", "-o", "out", "--runs-from", "list"])
    assert (done.status, done.stderr) == (2, b"cs-score: --runs-from: follow=3.0 is for Cold Start runs\n")


def test_a_run_is_signed_as_validated_from_the_content_of_its_file(world: Path) -> None:
    path = world / "runs" / "beta.tab.txt"
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_suffix(".txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert batch_in(world, "--validate", "--with-json").status == 0
    for name in ("out.json", "signature.json"):
        origin = json.loads((world / "out" / "beta" / name).read_text())["origin"]
        assert origin["options"]["validate"] is True
        assert origin["inputs"][-1] == {"role": "run", "name": "runs/beta.tab.txt.gz", "sha256": content}
    assert b"3 of them before" in batch_in(world, "--validate", "--with-json", "--resume").stderr


def test_problems_of_validation_stand_in_the_table_and_errors_fail_their_run_alone(world: Path) -> None:
    change_confidence(world / "runs" / "alpha.tab.txt", "1")
    change_confidence(world / "runs" / "beta.tab.txt", "much")
    assert batch_in(world, "--validate").status == 1
    rows = {row["run"]: row for row in leaderboard(world / "out")}
    assert {run: row["state"] for run, row in rows.items()} == {"alpha": "ok", "beta": "failed", "gamma": "ok"}
    assert int(rows["alpha"]["warnings"]) >= 1
    assert rows["beta"]["failure"].startswith("runs/beta.tab.txt: 1 error encountered; a run with errors cannot be")
    assert rows["beta"]["errors"] == "1"
    found = {(row["run"], row["code"]): row for row in problems(world / "out")}
    for run, code in (("alpha", "MISSING_DECIMAL_POINT"), ("beta", "ILLEGAL_CONFIDENCE_VALUE")):
        assert (found[run, code]["file"], found[run, code]["line"]) == (f"runs/{run}.tab.txt", "2")
    assert found["alpha", "REMARK"]["message"].startswith("runs/alpha.tab.txt: validated; ")
    words = ["-expand", "CSSF17", "--validate", "-output_file", "single", "-error_file", "single.errlog"]
    assert score_in(world, [*words, *FILES[:2], "runs/beta.tab.txt"]).status == 255
    report = (world / "single.errlog").read_bytes().removesuffix(MAY_BE_REPLACED.encode())
    assert contents(world / "out" / "beta") == {"out.errlog": report}


@pytest.fixture
def flawed(world: Path) -> Path:
    """The runs `alpha` and `beta` have a line twice and a confidence without a point; the pool has a line twice."""
    for name in ("runs/alpha.tab.txt", "runs/beta.tab.txt"):
        change_confidence(world / name, "1")
        lines = (world / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (world / name).write_text("".join([*lines, lines[2]]), encoding="utf-8")
    pool = (world / "pool.tab").read_text(encoding="utf-8").splitlines(keepends=True)
    (world / "pool.tab").write_text("".join([*pool, pool[0]]), encoding="utf-8")
    return world


@pytest.mark.parametrize("ending", ["json", "tsv", "sarif"])
@pytest.mark.parametrize("more", [(), ("--validate",)], ids=str)
def test_one_run_gives_the_file_of_a_single_call(flawed: Path, ending: str, more: tuple[str, ...]) -> None:
    files = (*FILES[:2], "runs/alpha.tab.txt")
    single = ["-expand", "CSSF17", *more, "-output_file", "o", "--problems", f"single.{ending}", *files]
    assert score_in(flawed, single).status == 0
    assert batch_in(flawed, *more, "--problems", f"batch.{ending}", files=files).status == 0
    ours = (flawed / f"batch.{ending}").read_bytes()
    assert b"MISSING_DECIMAL_POINT" in ours
    assert ours == (flawed / f"single.{ending}").read_bytes()


def test_all_runs_and_policies_with_each_problem_once_and_its_file(flawed: Path) -> None:
    words = ("--policy", "kb", "--also-policy", "sf", "--also-policy", "open:ignore=DUPLICATE")
    assert batch_in(flawed, *words, "--problems", "p.json").status == 0
    found = json.loads((flawed / "p.json").read_text(encoding="utf-8"))["problems"]
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
        ("runs/alpha.json", "runs/alpha.json is an input; choose another --problems"),
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
