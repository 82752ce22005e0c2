"""Features can be taken out: in a copy of the package without a slice, all other commands do and print the same.

The room of knowledge bases is also held to load nothing where plain runs are scored.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import cs_score
from tests.documents import ROOT

GOLD = [str(ROOT / "queries/ldc-queries.xml"), str(ROOT / "assessments/pool-2016.tab")]
RUN = str(ROOT / "submissions/tide-kb.tab.txt")
OTHER = str(ROOT / "submissions/gull-sf.tab.txt")
KNOWLEDGE_BASE = str(ROOT / "submissions/tide.tac")
CALL = ["-expand", "ISLE26", *GOLD, RUN]
LACKING = "this installation lacks cs_score.verbs.knowledge_base"


COMMANDS_OF_FOLDER = {
    "verbs/analyze": {"analyze", "analyze scifact", "analyze pool", "report", "plot"},
    "verbs/explain": {"explain", "explain scifact", "analyze", "report", "plot"},
    "verbs/diff": {"diff", "report of a difference"},
    "verbs/report": {"report", "report of a difference", "plot"},
    "verbs/batch": {"batch", "verify"},
    "verbs/compare": {
        "compare",
        "compare to a page",
        "compare a table",
        "compare a sample",
        "compare two assessors",
        "compare pool",
    },
    "verbs/studies": {"power", "power as a chart", "pool-bias", "compare two assessors"},
    "verbs/bundle": {"bundle"},
    "verbs/check": {"check", "bundle"},
    "verbs/verify": {"verify"},
    "verbs/preparation": {"validate-run", "validate-kb", "resolve-queries"},
    "verbs/knowledge_base": {"validate-kb", "resolve-queries"},
    "judged": {"pool", "analyze pool", "compare pool"},
}
"""The commands that go with a folder: its own, and those of slices that need it."""

EVIDENCE = [
    *("--gold", str(ROOT / "assessments/scifact-gold.jsonl")),
    *("--predictions", str(ROOT / "submissions/scifact-a.jsonl")),
]

JUDGED = [
    *("--policy", "right=CORRECT,half=PARTIAL,wrong=INCORRECT,ignore=JUDGE_ERROR"),
    *("--gold", str(ROOT / "assessments/pool-gold.csv")),
]
ANSWERS = [str(ROOT / "submissions/pool-a.csv"), str(ROOT / "submissions/pool-b.csv")]

CALLS = {
    "bare call": CALL,
    "score": ["score", *CALL],
    "analyze": ["analyze", *CALL],
    "explain": ["explain", "--line", "7", *CALL],
    "explain scifact": ["explain", "scifact", *EVIDENCE],
    "diff": ["diff", *CALL, OTHER],
    "compare": ["compare", "coldstart", "--bootstrap", "20", *CALL, OTHER],
    "compare to a page": ["compare", "coldstart", "-o", "page.html", "--bootstrap", "20", *CALL, OTHER],
    "compare a table": ["compare", "table", str(ROOT / "assessments/table.tsv"), "--columns", "unit=unit"],
    "compare two assessors": ["compare", *CALL, OTHER, "--second-assessments", GOLD[1]],
    "compare a sample": ["compare", *CALL, OTHER, "--inclusion", str(ROOT / "assessments/inclusion-2016.tsv")],
    "power": ["power", "--sd", "0.3", "--units", "20"],
    "power as a chart": ["power", "--sd", "0.3", "--units", "20", "-o", "power.svg"],
    "pool-bias": ["pool-bias", *CALL, OTHER],
    "scifact": ["scifact", *EVIDENCE],
    "analyze scifact": ["analyze", "scifact", *EVIDENCE],
    "pool": ["pool", *JUDGED, "--predictions", ANSWERS[0]],
    "analyze pool": ["analyze", "pool", *JUDGED, "--predictions", ANSWERS[0]],
    "compare pool": ["compare", "pool", *JUDGED, *ANSWERS],
    # A bundle needs wheels from an index; this one stops at its options, inside its room.
    "bundle": ["bundle", "codabench", "scifact", *EVIDENCE[:2], "--python", "2.7", "-o", "bundle"],
    "batch": ["batch", "-o", "scored", *CALL, OTHER],
    "verify": ["verify", "scored/leaderboard.json"],
    "check": ["check", "--min", "SF-AP=0.1", *CALL],
    "report": ["report", "-o", "report.html", *CALL],
    "report of a difference": ["report", "--compare", "-o", "difference.html", *CALL, OTHER],
    "plot": ["plot", "budget", "analysis.json", "-o", "budget.svg"],
    "validate-run": ["validate-run", str(ROOT / "queries/sf-queries.xml"), RUN],
    "validate-kb": ["validate-kb", KNOWLEDGE_BASE],
    "resolve-queries": ["resolve-queries", str(ROOT / "queries/sf-queries.xml"), "tide.tac.valid", "run.tab.txt"],
    "help": ["help", "measures"],
    "problems": ["problems"],
}
"""A call of each command on the samples, in an order in which later ones may read what earlier ones wrote."""

DRIVER = """
import contextlib, io, json, sys
from cs_score import verbs
verbs.SLICES = [row for row in verbs.SLICES if row.folder not in sys.argv[2:]]
from cs_score.cli.main import main

outcomes = {}
for name, words in json.loads(sys.argv[1]).items():
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = int(main(words))
    outcomes[name] = [status, *(stream.buffer.getvalue().decode() for stream in (output, errors))]
print(json.dumps(outcomes))
"""


def _copy_without(part: str, folder: Path) -> Path:
    """Return a folder with a copy of the package that lacks a part of it: a folder such as `verbs/batch`."""
    shutil.copytree(Path(cs_score.__file__).parent, folder / "cs_score")
    shutil.rmtree(folder / "cs_score" / part)
    # An installation for development would find the room where it is developed. The task of `examples` stays.
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "def finds_package(finder): return 'Editable' in repr(finder) and 'cs_score_fever' not in repr(finder)\n"
        "sys.meta_path[:] = [finder for finder in sys.meta_path if not finds_package(finder)]\n",
        "utf-8",
    )
    return folder


def _outcomes(
    package: Path, folder: Path, calls: dict[str, list[str]], slices_without_row: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """Return status, standard output and standard error of calls of a package, made in a folder of their own.

    The table of slices has no rows for `slices_without_row`.
    """
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(package)}
    analysis = [sys.executable, "-m", "cs_score", "analyze", "-o", "analysis.json", *CALL]
    subprocess.run(analysis, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=True)
    driver = [sys.executable, "-c", DRIVER, json.dumps(calls), *slices_without_row]
    call = subprocess.run(driver, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert call.returncode == 0, call.stderr
    outcomes: dict[str, list[Any]] = json.loads(call.stdout)
    return outcomes


@pytest.fixture(scope="module")
def outcomes_of_the_whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    return _outcomes(ROOT, tmp_path_factory.mktemp("whole") / "calls", CALLS)


@pytest.mark.parametrize("folder", COMMANDS_OF_FOLDER)
def test_only_the_commands_of_a_folder_go_with_it(
    folder: str, tmp_path: Path, outcomes_of_the_whole: dict[str, list[Any]]
) -> None:
    (tmp_path / "package").mkdir()
    lacking = f"cs_score.{folder.replace('/', '.')}"
    outcomes = _outcomes(_copy_without(folder, tmp_path / "package"), tmp_path / "calls", CALLS)
    for name, (status, output, errors) in outcomes.items():
        if name in COMMANDS_OF_FOLDER[folder]:
            assert status != 0, name
            assert f"{lacking}, which this installation lacks" in errors
            assert "Traceback" not in errors
        elif name == "help" and folder == "judged":  # the page has the measures of all tasks
            assert status == 0
            assert f"{lacking}, which this installation lacks" in " ".join(output.split())
        else:
            whole_status, whole_output, _ = outcomes_of_the_whole[name]
            assert (status, _undated(output)) == (whole_status, _undated(whole_output)), (name, errors)


@pytest.mark.parametrize("name", ["preparation", "batch"])
def test_a_slice_goes_with_its_row(name: str, tmp_path: Path, outcomes_of_the_whole: dict[str, list[Any]]) -> None:
    """Its names are words like any other then; commands of knowledge bases are listed after one of `preparation`."""
    folder = f"verbs/{name}"
    (tmp_path / "package").mkdir()
    package = _copy_without(folder, tmp_path / "package")
    outcomes = _outcomes(package, tmp_path / "calls", CALLS, slices_without_row=[name])
    for call, (status, output, errors) in outcomes.items():
        assert "Traceback" not in errors
        if call in COMMANDS_OF_FOLDER[folder]:
            assert status != 0, call
        else:
            assert (status, _undated(output)) == (
                outcomes_of_the_whole[call][0],
                _undated(outcomes_of_the_whole[call][1]),
            )


@pytest.fixture(scope="module")
def without_knowledge_bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, in which the room of knowledge bases is missing."""
    return _copy_without("verbs/knowledge_base", tmp_path_factory.mktemp("without"))


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


def test_validation_works_without_the_room_of_knowledge_bases(without_knowledge_bases: Path) -> None:
    words = ["score", "--validate", *CALL]
    assert _undated(_output(without_knowledge_bases, *words)) == _undated(_output(ROOT, *words))


PROGRAM = """
import json, sys
import cs_score as cs

queries, pool, run = sys.argv[1:]
scores = dict(cs.score(queries, run, pool, expand="ISLE26").scores)
print(json.dumps([scores, [name for name in sys.modules if name.startswith("cs_score.verbs.knowledge_base")]]))
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
        "print('loaded', *[name for name in sys.modules if name.startswith('cs_score.verbs.knowledge_base')])"
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
    assert f"{verb} needs cs_score.verbs.knowledge_base, which this installation lacks" in line
