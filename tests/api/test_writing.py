"""Files written from Python: the switches that shape them, and what is never overwritten."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import cs_score as cs
from cs_score.coldstart.editions import EDITIONS
from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line

BO = Line()


@pytest.fixture
def result(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> cs.RunResult:
    inputs.pool(BO.judged("1"))
    inputs.run(BO)
    inputs.write("samples", f"1 CSX_0001:{BO.query}\n2 CSX_0001:{BO.query}\n")
    monkeypatch.chdir(inputs.folder)
    return cs.score("queries.xml", "run.tab", "pool.tab", expand="CSX", samples="samples", policy="sf")


@pytest.mark.parametrize("fields", ["EC:LEVEL:F:P", "EC:RUNID:GT", ["EC", "LEVEL", "R"], ""])
def test_fields_and_tabs_are_those_of_the_switches(result: cs.RunResult, fields: Any, inputs: Inputs) -> None:
    text = fields if isinstance(fields, str) else ":".join(fields)
    words = ["-expand", "CSX", "-samples", "samples", "-justifications", "1:1", "-ignore", "UNASSESSED", "-wrong"]
    words += ["INCORRECT:INCORRECT_PARENT:INEXACT:DUPLICATE", "-tabs", "-fields", text, "-output_file", "line"]
    outcome = score_in(inputs.folder, [*words, "queries.xml", "pool.tab", "run.tab"])
    paths = result.write("python", fields=fields, tabs=True)
    assert {path.removeprefix("python.") for path in paths} == {
        name.removeprefix("line.") for name in outcome.files if name.startswith("line.")
    }
    for path in paths:
        if not path.endswith(".params"):
            assert Path(path).read_bytes() == outcome.files[path.replace("python", "line")], path


@pytest.mark.parametrize("follow", EDITIONS)
def test_files_and_report_are_those_of_the_edition(
    follow: str, inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inputs.folder)
    inputs.pool(BO.judged("1"))
    line = Line("Zoë", node=None)
    inputs.run(line, line)
    result = cs.score("queries.xml", "run.tab", "pool.tab", expand="CSX", follow=follow)
    paths = result.write("out", error_file="errors")
    contents = {path: Path(path).read_bytes() for path in paths}
    (words,) = re.findall(r"cs-score (.*)", contents.pop("out.params").decode())
    for path in paths:
        Path(path).unlink()
    written = score_in(inputs.folder, ["-error_file", "errors", *shlex.split(words)]).files
    assert written.pop("out.params")
    assert contents == written


def test_inputs_are_never_overwritten(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs.folder)
    inputs.write("out.sf", BO.judged("1"))
    inputs.run(BO)
    result = cs.score("queries.xml", "run.tab", "out.sf", expand="CSX")
    before = Path("out.sf").read_bytes()
    with pytest.raises(cs.UsageError, match=r"out\.sf is an input; choose another prefix"):
        result.write("out")
    assert Path("out.sf").read_bytes() == before
    assert not Path("out.debug").exists()
