"""`cs-score score`: the numbers of the bare command line, and no file that nobody asked for."""

from __future__ import annotations

import json
import re
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.base.signature import Signature
from cs_score.coldstart.options import PRESETS
from tests.coldstart.command import Outcome, score_in
from tests.documents import ROOT
from tests.verbs.batch.command import without_time

QUERIES: Final = "queries/ldc-queries.xml"
POOL: Final = "assessments/pool-2016.tab"
TIDE, GULL = "submissions/tide-kb.tab.txt", "submissions/gull-sf.tab.txt"
FILES: Final = (QUERIES, TIDE, POOL)
EXPAND: Final = ("-expand", "ISLE26")
SF_SWITCHES: Final = (
    "-justifications", "1:1", "-ignore", "UNASSESSED", "-wrong", "INCORRECT:INCORRECT_PARENT:INEXACT:DUPLICATE",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _with_samples(tmp_path: Path) -> None:
    """The samples under short names: where the repository and temporary files lie must not change where lines end."""
    for name in ("assessments", "queries", "submissions"):
        (tmp_path / name).symlink_to(ROOT / name)


def score(folder: Path, *words: str) -> Outcome:
    return score_in(folder, ["score", *EXPAND, *words])


def bare(folder: Path, *words: str) -> dict[str, Any]:
    """The result of the bare command line as JSON."""
    score_in(folder, ["--json", "bare.json", *EXPAND, *words])
    return dict(json.loads((folder / "bare.json").read_bytes()))


def numbers(folder: Path, *words: str) -> dict[str, float]:
    """The scores of the one run that `score` prints as JSON."""
    (run,) = json.loads(score(folder, "--format", "json", "--measure", "*", *words).stdout)["runs"]
    return dict(run["scores"])


def test_several_runs_are_scored_each_by_itself(tmp_path: Path) -> None:
    """The bare command line ranks their nodes together, which changes average precision."""
    alone = {run: numbers(tmp_path, QUERIES, POOL, run) for run in (GULL, TIDE)}
    words = ("--measure", "*", "--format", "json", "--bootstrap", "9")
    told = json.loads(score(tmp_path, *words, QUERIES, GULL, TIDE, POOL).stdout)
    assert [run["run_id"] for run in told["runs"]] == ["GULL_SF", "TIDE_KB"]
    assert [run["scores"] for run in told["runs"]] == list(alone.values())
    pooled = [run["scores"]["SF-AP"] for run in bare(tmp_path, QUERIES, GULL, TIDE, POOL)["runs"]]
    assert all(apart["SF-AP"] != together for apart, together in zip(alone.values(), pooled))
    by_itself = json.loads(score(tmp_path, *words, QUERIES, POOL, TIDE).stdout)
    assert {key: value for key, value in told["runs"][1].items() if key != "origin"} == by_itself["runs"][0]
    assert [each["role"] for each in told["origin"]["inputs"]].count("run") == 2
    chosen = json.loads(score(tmp_path, *words, "-runids", "TIDE_KB", QUERIES, GULL, TIDE, POOL).stdout)
    assert chosen["runs"] == by_itself["runs"]
    assert (
        b"no run called TIDE; there are GULL_SF, TIDE_KB"
        in score(tmp_path, "-runids", "TIDE", QUERIES, GULL, TIDE, POOL).stderr
    )


def test_two_versions_of_a_run_are_told_apart_by_their_files(tmp_path: Path) -> None:
    for name in ("first.tab", "second.tab"):
        (tmp_path / name).write_bytes((ROOT / TIDE).read_bytes())
    outcome = score(tmp_path, "--measure", "SF-AP", QUERIES, POOL, "first.tab", "second.tab")
    assert outcome.status == 0
    heading, row, *_ = outcome.stdout.decode().splitlines()
    assert heading.split() == ["TIDE_KB", "(first.tab)", "TIDE_KB", "(second.tab)"]
    assert row.split() == ["SF-AP", "0.5725", "0.5725"]


@pytest.fixture
def both(tmp_path: Path) -> str:
    """A file of two runs, whose lines do not stand together."""
    lines = [Path(name).read_bytes().splitlines(keepends=True) for name in (TIDE, GULL)]
    (tmp_path / "both").write_bytes(b"".join(line for pair in zip_longest(*lines, fillvalue=b"") for line in pair))
    return "both"


def test_runs_of_one_file_are_scored_each_by_itself(both: str, tmp_path: Path) -> None:
    assert score(tmp_path, "-o", "s.json", "--measure", "*", QUERIES, POOL, both).status == 0
    found = json.loads((tmp_path / "s.json").read_bytes())
    alone = {run: numbers(tmp_path, QUERIES, POOL, file) for run, file in (("TIDE_KB", TIDE), ("GULL_SF", GULL))}
    assert {run["run_id"]: run["scores"] for run in found["runs"]} == alone
    assert b"s.json: reproduced" in score_in(tmp_path, ["verify", "s.json"]).stdout
    for run_id, scores in alone.items():
        assert numbers(tmp_path, "--run", run_id, QUERIES, POOL, both) == scores
        assert numbers(tmp_path, "-runids", run_id, QUERIES, POOL, both) == scores
    assert score(tmp_path, "--run", "GULL_SF", "-o", "g", QUERIES, POOL, both).status == 0
    assert b"out.json: reproduced" in score_in(tmp_path, ["verify", "g/out.json"]).stdout


def test_a_batch_validates_each_run_of_a_file_by_itself(both: str, tmp_path: Path) -> None:
    """The two runs keep their scores, and the recorded batch is reproduced."""
    words = ("--validate", "--measure", "SF-AP", QUERIES, POOL)
    assert score_in(tmp_path, ["batch", *EXPAND, *words, "--with-json", "-o", "out", both]).status == 0
    runs = json.loads((tmp_path / "out" / both / "out.json").read_bytes())["runs"]
    alone = {
        run: numbers(tmp_path, "--validate", QUERIES, POOL, file)
        for run, file in (("TIDE_KB", TIDE), ("GULL_SF", GULL))
    }
    assert {run["run_id"]: run["scores"] for run in runs} == alone
    done = score_in(tmp_path, ["verify", "out"])
    assert done.status == 0, done.stdout


@pytest.mark.parametrize("verb", ["analyze", "explain", "check --min SF-AP=0", "diff --policy-b sf --bootstrap 9"])
def test_one_of_several_runs_is_chosen(verb: str, both: str, tmp_path: Path) -> None:
    def said(*words: str) -> str:
        done = score_in(tmp_path, [*verb.split(), *EXPAND, QUERIES, POOL, *words])
        return re.sub("(runids=.*|)run:.*", "", (done.stdout if done.status == 0 else done.stderr).decode())

    shared, alone, other = (said(*words).splitlines()[:3] for words in ((both, "--run", "GULL_SF"), (GULL,), (TIDE,)))
    assert shared == alone != other
    assert "--run ID" in said(both)
    unknown = said(both, "--run", "GULL")
    assert unknown == "cs-score: no run called GULL; there are TIDE_KB, GULL_SF; did you mean GULL_SF?\n"


@pytest.mark.parametrize("verb", ["analyze", "explain", "explain --line part2:1"])
def test_a_run_that_stands_in_several_files_is_one(verb: str, both: str, tmp_path: Path) -> None:
    lines = (ROOT / TIDE).read_text("utf-8").splitlines(keepends=True)
    for name, part in (("part1", lines[:12]), ("part2", lines[12:])):
        (tmp_path / name).write_text("".join(part), "utf-8")
    parts = score_in(tmp_path, [*verb.split(), *EXPAND, QUERIES, "part1", POOL, "part2"]).stdout.decode()
    whole = score_in(tmp_path, [*verb.replace("part2:1", "13").split(), *EXPAND, QUERIES, POOL, TIDE]).stdout.decode()
    assert parts.splitlines()[1:3] == whole.splitlines()[1:3]


def test_runs_of_one_file_are_compared(both: str, tmp_path: Path) -> None:
    words = ("--bootstrap", "9", "--run", "GULL_SF", "--run", "TIDE_KB", *EXPAND, QUERIES, POOL, both)
    of_files = score_in(tmp_path, ["diff", "--bootstrap", "9", *EXPAND, QUERIES, POOL, GULL, TIDE]).stdout.decode()
    shared = score_in(tmp_path, ["diff", *words]).stdout.decode()
    lines_of_files = of_files.replace("gull-sf.tab.txt", "GULL_SF").replace("tide-kb.tab.txt", "TIDE_KB").splitlines()
    assert shared.splitlines()[2:5] == lines_of_files[2:5]  # the verdict below breaks its lines elsewhere
    compared = json.loads(score_in(tmp_path, ["compare", "--format", "json", *words]).stdout)
    assert compared["systems"] == ["GULL_SF", "TIDE_KB"]


def test_with_a_folder_it_writes_what_the_bare_command_line_writes(tmp_path: Path) -> None:
    score_in(
        tmp_path, [*EXPAND, "--bootstrap", "9", "--json", "plain.json", "-output_file", "plain", QUERIES, POOL, TIDE]
    )
    outcome = score(tmp_path, "--bootstrap", "9", "-o", "new/folder", *FILES)
    assert outcome.status == 0
    written = {name.removeprefix("new/folder/out."): data for name, data in outcome.files.items()}
    plain = {path.suffix[1:]: path.read_bytes() for path in tmp_path.glob("plain.*")}
    ours, theirs = (without_time(files.pop("params")).partition(b"#Policy")[2] for files in (written, plain))
    assert written == plain
    assert ours == theirs
    assert score(tmp_path, "-o", "new/folder", *FILES).status == 0


# ---- Policies by name


@pytest.mark.parametrize("first", [(), ("score",)])
def test_a_policy_has_the_sides_and_limits_of_its_name(first: tuple[str, ...], tmp_path: Path) -> None:
    def signed(*words: str) -> list[str]:
        own = ("-o", "out") if first else ("-output_file", "out", "--json", "out.json", "--force")
        score_in(tmp_path, [*first, *EXPAND, *own, *words, *FILES])
        path = tmp_path / "out" / "out.json" if first else tmp_path / "out.json"
        return list(Signature.parse(json.loads(path.read_bytes())["signature"]).settings)

    for name, preset in PRESETS.items():
        assert signed("--policy", name)[:2] == [name, str(preset.justifications)]
    assert signed("--policy", "sf") == signed(*SF_SWITCHES)
    assert signed("--policy", "sf", "-justifications", "M:M")[:2] == ["sf", "M:M"]
    assert signed("--policy", "sf", "-wrong", "INCORRECT")[0] == "right=CORRECT;wrong=INCORRECT;ignore=UNASSESSED"


# ---- What goes wrong


def test_a_run_that_cannot_be_scored_is_one_line_and_a_status(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("no\trun\n")
    outcome = score(tmp_path, "--problems", "p.json", "-o", "out", QUERIES, "run", POOL)
    assert (outcome.status, outcome.stdout, set(outcome.files)) == (1, b"", {"p.json"})
    assert outcome.stderr.decode().splitlines()[-1].startswith("cs-score: run: line 1: Unknown file type")


def test_problems_are_told_once_and_errors_are_the_status(tmp_path: Path) -> None:
    text = (ROOT / TIDE).read_text(encoding="utf-8").splitlines()
    columns = text[1].split("\t")
    (tmp_path / "run").write_text(
        "\n".join([*text, "\t".join([*columns[:7], "2.5", columns[8]])]) + "\n", encoding="utf-8"
    )
    outcome = score(tmp_path, "--problems", "p.tsv", QUERIES, "run", POOL)
    assert outcome.status == 1
    report = outcome.stderr.decode()
    assert report.count("Illegal confidence value") == 1
    assert report.endswith("1 errors encountered\n") or "1 error" in report
    assert b"ILLEGAL_CONFIDENCE_VALUE" in outcome.files["p.tsv"]
    assert b"TIDE_KB" in outcome.stdout
    assert b"Illegal" not in score(tmp_path, "--quiet", QUERIES, "run", POOL).stderr


def test_a_byte_order_mark_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.tab").write_bytes(b"\xef\xbb\xbf" + (ROOT / TIDE).read_bytes())
    outcome = score_in(tmp_path, ["-output_file", "o", *EXPAND, QUERIES, "run.tab", POOL])
    assert (outcome.status, b"begins with a byte-order mark" in outcome.stderr) == (255, True)


def test_runs_stand_side_by_side_as_far_as_a_screen_holds(tmp_path: Path) -> None:
    names = [f"A_LONG_RUN_ID_{number}" for number in range(7)]
    for name in names:
        (tmp_path / name).write_bytes((ROOT / GULL).read_bytes().replace(b"GULL_SF", name.encode()))
    lines = score(tmp_path, "--measure", "SF-AP", QUERIES, POOL, *names).stdout.decode().splitlines()
    assert max(map(len, (line for line in lines if not line.startswith("signature")))) <= 80
    headings = [line.split() for line in lines if "A_LONG" in line]
    assert [name for heading in headings for name in heading] == names
    assert [len(line.split()) - 1 for line in lines if line.startswith("SF-AP")] == list(map(len, headings))
