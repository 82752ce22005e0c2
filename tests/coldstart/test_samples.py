"""The samples and their walk-through: every line, formula and number quoted is what the scorer gives."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.base.records import Record
from cs_score.coldstart.judging import sum_counts
from cs_score.coldstart.options import Options
from tests.coldstart.command import Outcome, score_in
from tests.documents import ROOT, Formula, copy_samples, formulas, missing_line, quotations, table
from tests.scoring import score

WALK: Final = (ROOT / "submissions" / "README.md").read_text(encoding="utf-8")
QUERY: Final = "ISLE26_ENG_4d2650256f"
LDC_FILES: Final = ("queries/ldc-queries.xml", "assessments/pool-2016.tab")
COUNT_NAMES: Final = {"right": "Right", "submitted": "Submitted", "ignored": "Ignored", "to be found": "GT"}


def demo_commands() -> list[list[str]]:
    """The words of each `cs-score` command of the Makefile's demo."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo: ")[2].partition("\n\n")[0]
    text = text.replace("\\\n", " ")
    return [shlex.split(words) for words in re.findall(r"^\t\$\(BIN\)/cs-score (.*)$", text, re.MULTILINE)]


class Demo(Record):
    """The texts that the walk-through quotes, by name, the outcome of each demo command, and the run of the table."""

    texts: dict[str, str]
    outcomes: list[Outcome]
    knowledge_base: dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the samples."""
    return copy_samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def demo(folder: Path) -> Demo:
    """All that `make demo` writes, and what the older pool gives."""
    (folder / "demo-out").mkdir()
    commands = demo_commands()
    outcomes = [score_in(folder, command) for command in commands]
    files = [path for path in folder.rglob("*") if path.is_file()]
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}
    of_tide_kb = next(command for command in commands if "submissions/tide-kb.tab.txt" in command)
    older = score_in(folder, [word.replace("pool-2016", "pool-2015").replace("demo-out/", "") for word in of_tide_kb])
    texts["pool-2015"] = older.stderr.decode()
    score_in(folder, ["--json", "result.json", *(word.replace("demo-out/", "again-") for word in of_tide_kb)])
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return Demo(texts, outcomes, result["runs"][0])


@pytest.mark.parametrize("quotation", list(quotations(WALK)), ids=lambda quotation: quotation.section[:30])
def test_quoted_lines_are_there(quotation: Any, demo: Demo) -> None:
    assert missing_line(quotation.lines, demo.texts[quotation.source]) is None


@pytest.mark.parametrize("formula", list(formulas(WALK)), ids=lambda formula: formula.text)
def test_formulas_hold(formula: Formula, demo: Demo) -> None:
    assert f"{formula.value():.4f}" == formula.result
    if formula.in_table:
        return
    quoted = [line for block in quotations(WALK) if block.section == formula.section for line in block.lines]
    later = [other.text for other in formulas(WALK) if other.section == formula.section and other != formula]
    assert any(formula.result in line.split() for line in quoted) or any(formula.result in text for text in later)
    if formula.labelled:
        assert set(formula.labelled) <= set(COUNT_NAMES)
        assert any(_has_counts(line, formula) for line in quoted), "no quoted row has these counts"


def _has_counts(line: str, formula: Formula) -> bool:
    """Whether a quoted row of counts has the formula's numbers in the right columns, and its result as P or R."""
    header = "EC RunID Hop GT Submitted Correct Incorrect Inexact PIncorrect Unassessed Dup Right Wrong Ignored P R F1"
    cells = dict(zip(header.split(), line.split()))
    return len(cells) == 17 and (
        formula.result in (cells["P"], cells["R"])
        and all(cells[COUNT_NAMES[words]] == str(number) for words, number in formula.labelled.items())
    )


def test_every_line_counts_as_the_table_says(demo: Demo) -> None:
    assert [outcome.status for outcome in demo.outcomes] == [0] * 7
    lines = enumerate(demo.texts["submissions/tide-kb.tab.txt"].splitlines(), 1)
    answers = {number: line.split("\t") for number, line in lines}
    found = [
        {
            "line": str(response["line"]),
            "answer": answers[response["line"]][4],
            "node": response["node"].removeprefix(f"{QUERY}:"),
            "class": (response["assessment"] or {"class": "-"})["class"].removeprefix(f"{QUERY}:"),
            "before the policies": response["pre_policy"],
            "after the policies": ", ".join(response["post_policy"]),
        }
        for response in demo.knowledge_base["responses"]
        if response["row"].partition(":")[0] == QUERY
    ]
    assert table(WALK, "line") == sorted(found, key=lambda row: int(row["line"]))


def test_the_entry_points_compared_for_ldc_max(folder: Path) -> None:
    files = [folder / "submissions" / "tide-kb.tab.txt", folder / LDC_FILES[1]]
    result = score([folder / LDC_FILES[0]], files, Options(expand="ISLE26"))
    rows = result.runs[0].tables.sf.rows
    queries = {"English": QUERY, "Spanish": "ISLE26_SPA_44d5db05f2", "Chinese": "ISLE26_CMN_a7bf4c9b42"}
    compared = table(WALK, "entry point")
    assert [row["entry point"] for row in compared] == list(queries)
    for row in compared:
        total = sum_counts(r.counts for r in rows if r.counts and r.name.startswith(queries[row["entry point"]]))
        assert [row[name] for name in ("right", "submitted", "ignored", "GT")] == [
            str(number) for number in (total.right, total.submitted, total.ignored, total.ground_truth)
        ]
        assert f"= {total.f1:.4f}`" in row["F1: 2 right / (submitted - ignored + GT)"]


def test_the_slot_filling_queries_are_those_that_expansion_makes(folder: Path, demo: Demo) -> None:
    """Without -expand, the slot-filling query file gives the same rows, and no LDC variants."""
    words = ["-output_file", "sf", "-queries", "queries/queryids.txt", "queries/sf-queries.xml"]
    outcome = score_in(folder, [*words, "submissions/tide-kb.tab.txt", "assessments/pool-2016.tab"])
    assert outcome.status == 0
    assert outcome.files["sf.sf"].decode() == demo.texts["demo-out/tide-kb.sf"]
    assert "sf.ldcmax" not in outcome.files


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_demo_can_be_repeated(tmp_path: Path) -> None:
    """The recipe itself, with a stand-in for the environment that it would build."""
    copy_samples(tmp_path)
    for name in ("Makefile", "setup.cfg"):
        shutil.copy(ROOT / name, tmp_path / name)
    tool = tmp_path / "venv" / "bin" / "cs-score"
    tool.parent.mkdir(parents=True)
    tool.write_text('#!/bin/sh\nexec "$PYTHON" -m cs_score "$@"\n', encoding="utf-8")
    tool.chmod(0o755)
    (tmp_path / "venv" / "run.stamp").touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHON": sys.executable}
    outputs = [
        subprocess.check_output(["make", "-s", "demo", "VENV=venv"], cwd=tmp_path, env=environment, text=True)
        for _ in range(2)
    ]
    assert outputs[0] == outputs[1]
    for run in ("TIDE_KB", "GULL_SF"):
        assert f"SF-ALL-Micro            {run} 0 " in outputs[0]
        assert f"LDC-MEAN-ALL-Macro    {run} ALL" in outputs[0]
