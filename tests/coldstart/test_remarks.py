"""What is told on standard error where a scoring says less than the user may think; the report stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line

BO = Line()
NO_RUN = "warning: nothing was scored: none of the files is a run with lines"


@pytest.fixture
def both(inputs: Inputs) -> Inputs:
    """A pool and a run."""
    inputs.pool(BO.judged("1"))
    inputs.run(BO)
    return inputs


def remarks(inputs: Inputs, *switches: str, files: tuple[str, ...] = ()) -> str:
    """The lines before the report of a call that succeeds."""
    outcome = inputs.call(*switches, files=files)
    said, report = outcome.stderr.decode().rsplit("No warnings encountered\n", 1)
    assert (outcome.status, outcome.stdout, report) == (0, b"", "")
    return said


# ---- Nothing scored


def test_a_pool_alone_scores_nothing(both: Inputs) -> None:
    assert remarks(both, files=("pool.tab",)) == (f"cs-score: {NO_RUN} (pool.tab: assessments); name the run, too\n")


def test_a_folder_without_runs_is_remarked_on_and_refused_alone(both: Inputs) -> None:
    (both.folder / "empty").mkdir()
    for folder in (".", "empty"):
        said = remarks(both, files=(folder, "pool.tab"))
        assert f"no file *.tab.txt in {folder}, so nothing of it was loaded" in said
        assert NO_RUN in said
    assert remarks(both, files=("run.tab", "empty", "pool.tab")).count("\n") == 1
    for switch in ("--validate", "-tabs"):
        assert "nothing to load: no file *.tab.txt in empty, ." in both.refusal(switch, files=("empty", "."))


def test_a_run_whose_lines_are_all_refused_is_an_error_without_a_pool(both: Inputs) -> None:
    both.run(Line(slot="per:age"))
    assert "nothing was loaded: no line of run.tab was accepted" in both.refusal(files=("run.tab",))
    outcome = both.call()
    assert outcome.status == 0
    assert b"nothing was scored: no line of run.tab was accepted\n" in outcome.stderr


def test_a_run_alone_is_unassessed(both: Inputs) -> None:
    assert remarks(both) == ""
    for parts in ("1", "3"):
        assert remarks(both, "--parts", parts, files=("run.tab",)) == (
            "cs-score: warning: no file holds assessments, so all 1 lines of run runA are unassessed; "
            "name the pool, too\n"
        )


# ---- A category in two lists


@pytest.mark.parametrize(
    ("switches", "said"),
    [
        (("-right", "CORRECT:INEXACT"), "INEXACT is in -right and -wrong: such responses count 2 times"),
        (("-wrong", "UNASSESSED"), "UNASSESSED is in -wrong and -ignore: such responses count 2 times"),
        (("-right", "CORRECT:CORRECT"), "CORRECT is in -right and -right: such responses count 2 times"),
        (("-right", "CORRECT:DUPLICATE"), "DUPLICATE is in -right and -ignore: duplicates count as IGNORE only"),
    ],
)
@pytest.mark.rule("doubled-categories")
def test_a_category_that_is_named_twice_is_told(both: Inputs, switches: tuple[str, str], said: str) -> None:
    for parts in ("1", "3"):
        (line,) = remarks(both, "--parts", parts, *switches).splitlines()
        assert said in line


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda line: line.replace(b"\t", b","), "its columns are separated by commas and not by tabs"),
        (lambda line: line + b"\tx\ty\tz", "it has 12 columns, where runs have 7, 8 or 9 and assessments 8, 10 or 11"),
        (lambda line: line.replace(line.split(b"\t")[7], b".5"), "column 8, '.5', is no CONFIDENCE"),
        (lambda line: b"FULL_QUERY_ID\tSLOT_NAME\tRUNID\n" + line, "this line is a header; take it out"),
    ],
)
def test_a_file_without_layout_is_told_what_is_wrong(change: Callable[[bytes], bytes], said: str, sound: Path) -> None:
    line = (sound / "run.tab").read_bytes().split(b"\n")[0]
    (sound / "run.tab").write_bytes(change(line) + b"\n")
    words = ["-expand", "CSSF17", "-output_file", "o", "--problems", "p.json", "queries.xml", "run.tab", "pool.tab"]
    (complaint,) = score_in(sound, words).stderr.decode().splitlines()
    assert complaint.startswith("cs-score: run.tab: line 1: Unknown file type: run.tab; ")
    assert said in complaint
    (problem,) = [one for one in json.loads((sound / "p.json").read_bytes())["problems"] if "UNKNOWN" in one["code"]]
    assert (problem["file"], problem["line"]) == ("run.tab", 1)


def test_a_missing_file_of_queries_is_called_one(both: Inputs) -> None:
    said = both.refusal("-queries", "nosuch.txt")
    assert "no file is called nosuch.txt, so it was taken for the id of a query" in said
