"""`analyze` on what real files hold: other layouts, several runs, hostile texts, runs that cannot be scored."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.coldstart.command import Outcome, score_in
from tests.coldstart.worlds import Answer, Assessment, Query, Response, Slot, World

HOSTILE: Final = '</script>\u202e\x1b[31m=HYPERLINK("x")\x07<b>\u2028%s{0}'
SF: Final = ("-expand", "LAW", "--measure", "SF-ALL-Micro-F1")
FILES: Final = ("queries.xml", "pool.tab", "run.tab")

ASKED: Final = Query("Q_0001", (Slot("per:children"), Slot("per:schools_attended")), ("ENG_DOC",))


def _world(text: str = "Ann") -> World:
    """A right line with a wrong and an unassessed one below it, a wrong one, and a class that is missed."""
    (query,) = ASKED.sf_queries()
    ann, eve = Answer(query, "per:children", text, "ENG_1"), Answer(query, "per:children", f"={text}", "CMN_1")
    one = Answer(ann.follow_on(), "per:schools_attended", text, "ENG_2")
    two = Answer(ann.follow_on(), "per:schools_attended", f"{text}2", "XYZ_2")
    bo = Answer(query, "per:children", "Bo", "SPA_1")
    pool = (
        Assessment(ann, "C", f"{query}:1"), Assessment(bo, "C", f"{query}:2"), Assessment(eve, "W", "0"),
        Assessment(one, "W", "0"),
    )  # fmt: skip
    answers = ((ann, "0.9"), (eve, "0.4"), (one, "0.3"), (two, "0.2"))
    return World((ASKED,), pool, tuple(Response(answer, text, f":N{at}") for at, (answer, text) in enumerate(answers)))


def _analyse(folder: Path, *words: str, status: int = 0) -> Outcome:
    outcome = score_in(folder, ["analyze", *SF, *words])
    assert outcome.status == status, outcome.stderr
    assert b"Traceback" not in outcome.stderr
    return outcome


def _analysis(folder: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_analyse(folder, "--format", "json", *words).stdout)
    return found


def _rewrite(path: Path, change: Any) -> None:
    lines = path.read_bytes().decode().split("\n")[:-1]
    path.write_bytes("".join("\t".join(change(line.split("\t"))) + "\n" for line in lines).encode())


def _by(analysis: dict[str, Any], dimension: str) -> dict[str, dict[str, Any]]:
    return {group["group"]: group for group in analysis["groups"][dimension]}


def test_a_run_without_node_ids_and_a_pool_without_mention_types(tmp_path: Path) -> None:
    _world().write(tmp_path)
    whole = _analysis(tmp_path, *FILES)
    assert set(_by(whole, "mention_type")) == {"NAM", "unknown"}
    _rewrite(tmp_path / "run.tab", lambda columns: columns[:8])
    _rewrite(tmp_path / "pool.tab", lambda columns: [*columns[:6], *columns[7:9]])
    found = _analysis(tmp_path, *FILES)
    assert set(_by(found, "mention_type")) == {"unknown"}
    assert (found["structure"]["merged_nodes"], found["structure"]["split_classes"]) == (0, 0)
    assert {mistake["node"] for mistake in found["mistakes"]} == {None}
    for dimension in ("slot", "hop", "language", "judgment", "value_type"):
        assert {name: group["counts"]["wrong"] for name, group in _by(found, dimension).items()} == {
            name: group["counts"]["wrong"] for name, group in _by(whole, dimension).items()
        }


def test_hostile_texts_in_every_field_of_a_run_and_its_pool(tmp_path: Path) -> None:
    files = _world(HOSTILE.replace("\t", "")).write(tmp_path)

    def rewritten(columns: list[str]) -> list[str]:
        return [*columns[:2], HOSTILE, *columns[3:5], HOSTILE, *columns[6:8], f":{HOSTILE}"]

    _rewrite(tmp_path / "run.tab", rewritten)
    found = _analysis(tmp_path, "--by", "value_type,slot", *files)
    assert found["run"] == HOSTILE
    assert HOSTILE.lower() in _by(found, "value_type")
    assert f"{HOSTILE.lower()}, per:children" in _by(found, "value_type,slot")
    assert {each["value"] for each in found["confusions"]["wrong_values"]} == {f"={HOSTILE}", HOSTILE}
    text = _analyse(tmp_path, "--by", "value_type,slot", *files).stdout.decode()
    _analyse(tmp_path, "-o", "tables", "--by", "value_type,slot", *files)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u2028\u202e]", text)
    assert max(map(len, text.splitlines())) <= 120
    for table in sorted((tmp_path / "tables").iterdir()):
        content = table.read_bytes().decode()
        head, *rows = csv.reader(io.StringIO(content), delimiter="\t", quoting=csv.QUOTE_NONE)
        assert {len(row) for row in rows} <= {len(head)}, table.name
        cells = [cell for row in rows for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "@")) or "\x1b" in cell], table.name


def test_several_runs_in_a_call(tmp_path: Path) -> None:
    _world().write(tmp_path)
    other = (tmp_path / "run.tab").read_text().replace("\trunA\t", "\trunB\t").splitlines(keepends=True)
    (tmp_path / "other.tab").write_text("".join(other[:1]))
    both = (*FILES, "other.tab")
    refused = _analyse(tmp_path, *both, status=2)
    assert b"there are 2 runs (runA in run.tab, runB in other.tab): choose one with --run ID" in refused.stderr
    for run_id, lines in (("runA", 4), ("runB", 1)):
        hops = _analysis(tmp_path, "--run", run_id, *both)["groups"]["hop"]
        assert sum(group["counts"]["submitted"] for group in hops) == lines
    refused = _analyse(tmp_path, "--run", "runC", *both, status=2)
    assert b"no run called runC; there are runA, runB; did you mean " in refused.stderr


@pytest.mark.parametrize("name", ["run.tab", "pool.tab", "queries.xml"])
def test_standard_input(name: str, tmp_path: Path) -> None:
    _world().write(tmp_path)
    words = ["-" if each == name else each for each in FILES]
    command = [sys.executable, "-m", "cs_score", "analyze", *SF, "--format", "json", *words]
    with (tmp_path / name).open("rb") as given:
        done = subprocess.run(command, cwd=tmp_path, stdin=given, capture_output=True, timeout=60, check=False)
    if name == "queries.xml":  # a query file is known by its name alone
        assert (done.returncode, json.loads(done.stdout)["kind"]) == (1, "error")
        assert len(done.stderr.splitlines()) == 1
        return
    assert (done.returncode, done.stderr) == (0, b"")
    found, expected = json.loads(done.stdout), _analysis(tmp_path, *FILES)
    for key in ("score", "groups", "confusions", "reliability"):
        assert found[key] == expected[key]


def test_a_run_that_cannot_be_scored(tmp_path: Path) -> None:
    _world().write(tmp_path)
    run = (tmp_path / "run.tab").read_text()
    (tmp_path / "run.tab").write_text(run + run.splitlines()[0].replace("LAW_ENG_", "LAW_ENG_0") + "\n")
    for place in ("a.json", "tables"):
        refused = _analyse(tmp_path, "-o", place, *FILES, status=1)
        assert len(refused.stderr.splitlines()) == 1
        assert b"run.tab" in refused.stderr
        assert refused.files == {}
    assert _analyse(tmp_path, "queries.xml", "pool.tab", status=2).stderr.startswith(b"cs-score: no run among the")
    assert _analyse(tmp_path, "queries.xml", "run.tab", "nowhere.tab", status=1).stdout == b""


def test_a_run_without_an_assessed_line(tmp_path: Path) -> None:
    _world().write(tmp_path)
    _rewrite(tmp_path / "pool.tab", lambda columns: [*columns[:4], *columns[4:5], *columns[5:]])
    (tmp_path / "pool.tab").write_text(
        (tmp_path / "pool.tab").read_text().splitlines(keepends=True)[1]
    )  # what it missed
    found = _analysis(tmp_path, *FILES)
    assert found["reliability"] == {
        "lines": 0, "bins": [], "brier": None, "ece": None, "auc": None,
        "labels": {"lines": 0, "bins": [], "brier": None, "ece": None, "auc": None},
    }  # fmt: skip
    assert {name: group["mistakes"] for name, group in _by(found, "category").items()} == {
        "MISSED": 1, "UNASSESSED": 0, "INCORRECT_PARENT": 2,
    }  # fmt: skip
    text = _analyse(tmp_path, *FILES).stdout.decode()
    assert "Confidences of" not in text
