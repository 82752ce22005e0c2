"""Scoring runs works in a copy of the package that lacks the room of knowledge bases, and loads nothing of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cs_score
from tests.documents import ROOT

GOLD = [str(ROOT / "queries/ldc-queries.xml"), str(ROOT / "assessments/pool-2016.tab")]
RUN = str(ROOT / "submissions/tide-kb.tab.txt")
OTHER = str(ROOT / "submissions/gull-sf.tab.txt")
KNOWLEDGE_BASE = str(ROOT / "submissions/tide.tac")
CALL = ["-expand", "ISLE26", *GOLD, RUN]
LACKING = "this installation lacks cs_score.knowledge_base"


@pytest.fixture(scope="module")
def without_knowledge_bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, in which one room is missing."""
    folder = tmp_path_factory.mktemp("without")
    shutil.copytree(Path(cs_score.__file__).parent, folder / "cs_score")
    shutil.rmtree(folder / "cs_score" / "knowledge_base")
    # An installation for development would find the room where it is developed.
    (folder / "sitecustomize.py").write_text(
        "import sys\nsys.meta_path[:] = [finder for finder in sys.meta_path if 'Editable' not in repr(finder)]\n",
        "utf-8",
    )
    return folder


def _call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _output(folder: Path, *words: str) -> str:
    """Return what a command prints. Fails unless it succeeds."""
    call = _call(folder, "-m", "cs_score", *words)
    assert call.returncode == 0, call.stderr
    return call.stdout


def _undated(text: str) -> list[str]:
    """Return the lines but for those that say when and where the scorer was called."""
    return [line for line in text.splitlines() if not line.startswith("#At: ") and "$ cs-score " not in line]


@pytest.mark.parametrize(
    "words",
    [
        CALL,
        ["score", *CALL],
        ["score", "--validate", *CALL],
        ["analyze", *CALL],
        ["explain", *CALL],
        ["diff", *CALL, OTHER],
        ["compare", "coldstart", "--bootstrap", "20", *CALL, OTHER],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_commands_print_the_same_without_the_room(without_knowledge_bases: Path, words: list[str]) -> None:
    without, with_room = _output(without_knowledge_bases, *words), _output(ROOT, *words)
    assert _undated(without) == _undated(with_room)


def test_batch_and_verify_work_without_the_room(without_knowledge_bases: Path) -> None:
    _output(without_knowledge_bases, "batch", "-o", "scored", *CALL, OTHER)
    assert "reproduced" in _output(without_knowledge_bases, "verify", "scored/leaderboard.json")


PROGRAM = """
import json, sys
import cs_score as cs

queries, pool, run = sys.argv[1:]
scores = dict(cs.score(queries, run, pool, expand="ISLE26").scores)
print(json.dumps([scores, [name for name in sys.modules if name.startswith("cs_score.knowledge_base")]]))
"""


def test_python_scores_without_the_room_and_loads_none_of_it_where_it_is(without_knowledge_bases: Path) -> None:
    without = json.loads(_call(without_knowledge_bases, "-c", PROGRAM, *GOLD, RUN).stdout)
    assert without == json.loads(_call(ROOT, "-c", PROGRAM, *GOLD, RUN).stdout)
    assert without[0]
    assert without[1] == []


@pytest.mark.parametrize("words", [CALL, ["score", *CALL], ["batch", "-o", "{folder}", *CALL]], ids=lambda w: w[0])
def test_plain_runs_load_nothing_of_the_room(tmp_path: Path, words: list[str]) -> None:
    folder = str(tmp_path / "scored")
    code = (
        "import sys; sys.argv[0] = 'cs-score'; from cs_score.cli.main import main\n"
        "main()\n"
        "print('loaded', *[name for name in sys.modules if name.startswith('cs_score.knowledge_base')])"
    )
    call = _call(ROOT, "-c", code, *[folder if word == "{folder}" else word for word in words])
    assert call.stdout.splitlines()[-1] == "loaded"


@pytest.mark.parametrize(
    "words",
    [
        ["-expand", "ISLE26", *GOLD, KNOWLEDGE_BASE],
        ["score", "-expand", "ISLE26", *GOLD, KNOWLEDGE_BASE],
        ["analyze", "-expand", "ISLE26", *GOLD, KNOWLEDGE_BASE],
        ["score", "-expand", "ISLE26", *GOLD, "--knowledge-base", KNOWLEDGE_BASE],
    ],
    ids=lambda words: words[0],
)
def test_a_knowledge_base_is_one_line_without_the_room(without_knowledge_bases: Path, words: list[str]) -> None:
    call = _call(without_knowledge_bases, "-m", "cs_score", *words)
    assert call.returncode in (1, 2, 255)
    [line] = [line for line in call.stderr.splitlines() if LACKING in line]
    assert KNOWLEDGE_BASE in line
    assert "Traceback" not in call.stderr


@pytest.mark.parametrize("verb", ["validate-kb", "resolve-queries"])
def test_programs_for_knowledge_bases_are_one_line_without_the_room(without_knowledge_bases: Path, verb: str) -> None:
    call = _call(without_knowledge_bases, "-m", "cs_score", verb, KNOWLEDGE_BASE, "run")
    assert call.returncode != 0
    [line] = call.stderr.splitlines()
    assert f"{verb} needs cs_score.knowledge_base, which this installation lacks" in line
