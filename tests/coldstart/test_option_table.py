"""A new option of scoring is one file and its rule: a row of the table is enough for everything that names options."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cs_score
from cs_score.analysis.recorded import cold_start_options
from cs_score.cli.core import load_command
from cs_score.coldstart.options import DEFAULT_OPTIONS, SCORING_OPTIONS, SWITCHES, CallArguments, Options, switch_words

ROOT = Path(__file__).parents[2]
GOLD = [str(ROOT / "queries/ldc-queries.xml"), str(ROOT / "assessments/pool-2016.tab")]
RUN = str(ROOT / "submissions/tide-kb.tab.txt")
CALL = ["-expand", "ISLE26", *GOLD, RUN]

FIELD = "    discipline: str = "
ROW = """    ScoringOption(
        name="colour",
        switch="--colour",
        value_name="NAME",
        meaning="What colour the scores have",
        choices=("red", "blue"),
    ),
    ScoringOption(
        name="loud",
        switch="--loud",
        meaning="Score aloud",
        json_type=bool,
    ),
"""
ARGUMENTS = "class ScoringArguments(TypedDict, total=False):\n"

PROGRAM = """
import inspect, json, sys
import cs_score as cs

queries, pool, run = sys.argv[1:]
result = cs.score(queries, run, pool, expand="ISLE26", colour="blue", loud=True)
parameter = inspect.signature(cs.prepare).parameters["colour"]
try:
    cs.prepare(queries, pool, colour=3)
except cs.UsageError as error:
    refused = str(error)
paths = result.write("from-python")
options = json.loads(result.to_json())["origin"]["options"]
print(json.dumps([options, str(result.signature), parameter.default, refused]))
"""


@pytest.fixture(scope="module")
def with_two_more(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package that has two more options: a name and a flag, each one row."""
    folder = tmp_path_factory.mktemp("more")
    package = shutil.copytree(Path(cs_score.__file__).parent, folder / "cs_score")
    options = package / "coldstart" / "options.py"
    text = options.read_text("utf-8")
    end = '''\n)\n"""The options of scoring, in the order'''
    assert text.count(FIELD) == text.count(end) == 1
    assert text.count(ARGUMENTS) == 1
    text = text.replace(FIELD, f'    colour: str = "red"\n    loud: bool = False\n{FIELD}')
    text = text.replace(end, f"\n{ROW.removesuffix(chr(10))}{end}")
    head, rest = text.split(ARGUMENTS)
    options.write_text(f"{head}{ARGUMENTS}    colour: str\n    loud: bool\n{rest}", "utf-8")
    return folder


def _run(folder: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    call = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert call.returncode == 0, call.stderr
    return call.stdout


def _call(folder: Path, *words: str) -> str:
    return _run(folder, "-m", "cs_score", *words)


def test_a_row_makes_a_switch_that_json_and_signature_have(with_two_more: Path) -> None:
    document = json.loads(_call(with_two_more, "score", "--colour", "blue", "--loud", "--format", "json", *CALL))
    options = document["origin"]["options"]
    assert options["colour"] == "blue"
    assert options["loud"] is True
    assert "|colour=blue|loud=true|" in document["signature"]


def test_without_the_switch_nothing_says_that_the_option_is_there(with_two_more: Path) -> None:
    assert _call(with_two_more, "score", "--format", "json", *CALL) == _call(ROOT, "score", "--format", "json", *CALL)


@pytest.mark.parametrize("verb", [["-help"], ["compare", "coldstart", "-help"]])
def test_help_has_it(with_two_more: Path, verb: list[str]) -> None:
    text = _call(with_two_more, *verb)
    assert "--colour NAME" in text
    assert "--loud" in text


def test_python_has_it(with_two_more: Path) -> None:
    options, signature, default, refused = json.loads(_run(with_two_more, "-c", PROGRAM, *GOLD, RUN))
    assert options["colour"] == "blue"
    assert options["loud"] is True
    assert "|colour=blue|loud=true|" in signature
    assert default == "red"
    assert refused == "colour takes a text, not 3"
    assert "--colour blue --loud" in (with_two_more / "from-python.params").read_text("utf-8")


def test_the_command_on_a_page_has_it(with_two_more: Path) -> None:
    pytest.importorskip("jinja2")
    _call(with_two_more, "analyze", "--colour", "blue", "--loud", *CALL, "-o", "analysis.json")
    _call(with_two_more, "report", "analysis.json", "-o", "page.html")
    page = (with_two_more / "page.html").read_text("utf-8")
    assert "--colour blue --loud" in page


def test_verify_scores_again_under_it(with_two_more: Path) -> None:
    _call(with_two_more, "score", "--colour", "blue", "--loud", *CALL, "-o", "scores.json")
    assert "reproduced" in _call(with_two_more, "verify", "scores.json")


def test_a_batch_takes_it(with_two_more: Path) -> None:
    _call(with_two_more, "batch", "-o", "scored", "--colour", "blue", "--loud", *CALL)
    [row] = json.loads((with_two_more / "scored" / "leaderboard.json").read_text("utf-8"))["rows"]
    assert row["origin"]["options"]["colour"] == "blue"
    assert "|colour=blue|loud=true|" in row["signature"]
    assert "reproduced" in _call(with_two_more, "verify", "scored/leaderboard.json")


# ---- The rows that there are


def test_every_field_has_its_row_and_every_row_its_field() -> None:
    fields = {*Options.__struct_fields__}
    names = {option.name for option in SCORING_OPTIONS if not option.is_policy_side}
    assert fields - names == {"policy"}
    assert names <= fields


def test_every_option_is_an_argument_of_python() -> None:
    named = {option.python_name for option in SCORING_OPTIONS if option.python_name is not None}
    assert {*CallArguments.__annotations__} == named | {"policy"}


@pytest.mark.parametrize("option", SWITCHES, ids=lambda option: option.name)
def test_the_text_of_a_value_is_read_as_that_value(option: object) -> None:
    assert option in SCORING_OPTIONS
    text = option.default_text
    if text is not None:
        assert option.from_text(text) == option.default


def test_what_json_records_makes_the_same_options() -> None:
    options = Options(expand="X", runids=("a", "b"), follow="3.0", samples="s.txt", queries="Q1:Q2", metrics=("P",))
    read_back = cold_start_options(json.loads(json.dumps(options.as_json())), "file.json", "origin.options")
    assert read_back == options


def test_words_of_a_command_line_leave_out_what_is_as_usual() -> None:
    assert switch_words(DEFAULT_OPTIONS) == ["-discipline", "ASSESSED"]
    assert switch_words(Options(runids=("a", "b"), mention_types="assume-name")) == [
        "-discipline", "ASSESSED", "-runids", "a:b", "--mention-types", "assume-name",
    ]  # fmt: skip


@pytest.mark.parametrize("verb", ["score", "batch", "explain"])
def test_every_verb_has_the_switches_of_the_table(verb: str) -> None:
    names = {option.long_name for option in load_command(verb).options}
    assert {option.switch for option in SWITCHES if not option.is_for_calls} <= names
