"""`analyze` on what real files hold: other layouts, several runs, hostile texts, what cannot be scored, and knowledge
bases.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.base.sources import open_source
from cs_score.coldstart.gold import open_gold
from cs_score.coldstart.options import Options
from cs_score.preparation.conversion import PreparationSettings, prepare_inputs
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.worlds import Answer, Assessment, Query, Response, Slot, World
from tests.documents import ROOT
from tests.verbs.analyze.test_groups import counts

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


def test_hostile_texts_in_every_field_of_a_run_and_its_pool(tmp_path: Path) -> None:
    files = _world(HOSTILE.replace("\t", "")).write(tmp_path)

    def rewritten(columns: list[str]) -> list[str]:
        return [*columns[:2], HOSTILE, *columns[3:5], HOSTILE, *columns[6:8], f":{HOSTILE}"]

    _rewrite(tmp_path / "run.tab", rewritten)
    found = _analysis(tmp_path, "--by", "value_type,slot", *files)
    assert found["run"] == HOSTILE
    assert HOSTILE.lower() in counts(found, "value_type")
    assert f"{HOSTILE.lower()}, per:children" in counts(found, "value_type,slot")
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


@pytest.mark.parametrize("name", ["run.tab", "pool.tab"])
def test_standard_input(name: str, tmp_path: Path) -> None:
    _world().write(tmp_path)
    words = ["-" if each == name else each for each in FILES]
    command = [sys.executable, "-m", "cs_score", "analyze", *SF, "--format", "json", *words]
    with (tmp_path / name).open("rb") as given:
        done = subprocess.run(command, cwd=tmp_path, stdin=given, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    found, expected = json.loads(done.stdout), _analysis(tmp_path, *FILES)
    assert (found["score"], found["groups"]) == (expected["score"], expected["groups"])


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
    missed = (tmp_path / "pool.tab").read_text().splitlines(keepends=True)[1]
    (tmp_path / "pool.tab").write_text(missed)
    found = _analysis(tmp_path, *FILES)
    assert found["reliability"] == {"lines": 0, "bins": [], "brier": None, "ece": None, "auc": None}
    categories = {group["group"]: group["mistakes"] for group in found["groups"]["category"]}
    assert categories == {"MISSED": 1, "UNASSESSED": 0, "INCORRECT_PARENT": 2}
    assert "Confidences of" not in _analyse(tmp_path, *FILES).stdout.decode()


# ---- A knowledge base in the place of a run stands for the run that resolving it gives

KB, RUN, POOL, QUERIES = "tide.tac", "resolved.tab", "pool-2016.tab", "ldc-queries.xml"
SWITCHES: Final = ("-expand", "ISLE26", "-queries", "queryids.txt", QUERIES, POOL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The samples, and the run that resolving the knowledge base gives."""
    for name in ("queries/queryids.txt", f"queries/{QUERIES}", f"assessments/{POOL}", "submissions/gull-sf.tab.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for name in (KB, "kb.txt"):
        shutil.copy(ROOT / f"submissions/{KB}", tmp_path / name)
    gold = open_gold([str(tmp_path / QUERIES)], Options(expand="ISLE26"))
    settings = PreparationSettings(gold.query_set, gold.options.justifications, validates=False)
    [resolved] = prepare_inputs([str(tmp_path / KB)], settings).files
    with open_source(resolved) as source:
        (tmp_path / RUN).write_bytes(source.read_bytes())
    return tmp_path


def found(folder: Path, *words: str) -> Any:
    outcome = score_in(folder, (*words, *SWITCHES, "--format=json"))
    assert outcome.status == 0, outcome.stderr
    return json.loads(outcome.stdout)


@pytest.mark.parametrize("given", [(KB,), ("--knowledge-base", "kb.txt")])
def test_the_analysis_of_a_knowledge_base_is_that_of_its_run(given: tuple[str, ...], folder: Path) -> None:
    ours, theirs = (found(folder, "analyze", *words) for words in (given, (RUN,)))
    assert ours["added_to"] == f"{given[-1]} (resolved)"
    for each in (ours, theirs):
        each["mistakes"] = [
            (row["effects"], row["added"], [place["line"] for place in row["removed"]]) for row in each["mistakes"]
        ]
    assert len(ours["mistakes"]) > 5
    for key in ("mistakes", "scores", "sweep", "scenarios", "policies", "groups"):
        assert ours[key] == theirs[key]
    assert given[-1] in {each["name"] for each in ours["origin"]["inputs"]}  # what was read


def test_a_knowledge_base_is_explained_and_compared_as_its_run(folder: Path) -> None:
    lines = [found(folder, "explain", "--line", "1", run)["lines"][0]["text"] for run in (KB, RUN)]
    assert lines[0] == lines[1]
    for words in (("gull-sf.tab.txt",), ("--policy-b", "sf")):
        ours, theirs = (found(folder, "diff", run, *words)["units"] for run in (KB, RUN))
        assert ours == theirs


@pytest.mark.parametrize("command", [("analyze",), ("explain",), ("diff", "--policy-b", "sf")])
def test_a_knowledge_base_with_errors_is_not_resolved(command: tuple[str, ...], folder: Path) -> None:
    (folder / KB).write_text("KB_1\n:Entity_1\ttype\tNOTHING\n")
    outcome = score_in(folder, (*command, *SWITCHES, KB))
    assert (outcome.status, outcome.stdout) == (1, b"")
    assert re.search(f"cs-score: {KB}: .*a knowledge base with errors is not resolved.*\n$", outcome.stderr.decode())
