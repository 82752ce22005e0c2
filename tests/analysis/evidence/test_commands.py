"""`cs-score analyze` of the evidence modes as users meet it: text, JSON, tables, refusals, hostile input."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.command import cs_score
from tests.evidence.recorded import FAMILIES
from tests.evidence.test_command import words
from tests.evidence.test_scifact import GOLD, PREDICTIONS

HOSTILE = "\x1b[31m\u202e=1\tx\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, made the current one, with gold.jsonl and predictions.jsonl of SciFact."""
    monkeypatch.chdir(tmp_path)
    write("gold.jsonl", GOLD)
    write("predictions.jsonl", PREDICTIONS)
    return tmp_path


def write(name: str, lines: Any) -> None:
    Path(name).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


SCIFACT = ("scifact", "--gold", "gold.jsonl", "--predictions", "predictions.jsonl")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--measure", "sentence_f1"], "no measure called sentence_f1; there are abstract_label_only_precision, "),
        (["--measure", "abstract_label_only"], "; did you mean abstract_label_only_"),
        (["--top", "0"], "--top 0: a whole number from 1 to "),
        (["-o", "gold.jsonl"], "gold.jsonl is a file, where -o makes a folder"),
        (["--gold", "-", "--predictions", "-"], "only one of --gold and --predictions can be standard input"),
    ],
)
def test_wrong_usage(more: list[str], message: str, folder: Path) -> None:
    outcome = cs_score("analyze", *SCIFACT, *more)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err


@pytest.mark.parametrize("family", FAMILIES)
def test_bad_input_is_told_as_the_scorer_tells_it(family: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(b"{")
    line = words(family)
    line[line.index("--predictions") + 1] = str(bad)
    assert cs_score("analyze", *line).complaint == cs_score(*line).complaint


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


def test_tables_hold_the_values_of_the_json(folder: Path) -> None:
    write("other.jsonl", [{**PREDICTIONS[0], "evidence": {}}, *PREDICTIONS[1:]])
    diff = ("diff", "scifact", "--bootstrap", "9", "--gold", "gold.jsonl", "predictions.jsonl", "other.jsonl")
    assert cs_score(*diff, "-o", "tables").status == 0
    found = json.loads(cs_score(*diff, "--format", "json").out)
    printed = _rows(cs_score(*diff, "--format", "tsv").out)
    assert [float(row["contribution"]) for row in printed] == [unit["contribution"] for unit in found["units"]]
    files = {path.name: _rows(path.read_text("utf-8")) for path in (folder / "tables").iterdir()}
    assert files["units.tsv"] == printed
    assert len(files["answers.tsv"]) == len(found["answers"]) > 0
    assert files.keys() == {"units.tsv", "outcomes.tsv", "answers.tsv", "groups.tsv"}
    assert _rows(cs_score(*diff, "--format", "tsv", "--top", "1").out) == printed[:1]
    costly = json.loads(cs_score("analyze", *SCIFACT, "--format", "json").out)["mistakes"]
    rows = _rows(cs_score("analyze", *SCIFACT, "--format", "tsv").out)
    assert [float(row["gain"]) for row in rows] == [each["gain"] for each in costly]
    named = ("explain", *SCIFACT, "--unit", str(costly[0]["unit"]))
    (unit,) = json.loads(cs_score(*named, "--format", "json").out)["units"]
    steps = _rows(cs_score(*named, "--format", "tsv").out)
    assert [row["text"] for row in steps] == list(filter(None, unit["lines"]))
    whole = json.loads(cs_score("explain", *SCIFACT, "--format", "json").out)["mistakes"]
    assert _rows(cs_score("explain", *SCIFACT, "--format", "tsv").out) == rows[: len(whole)]


def test_hostile_text_is_escaped(folder: Path) -> None:
    gold = {"id": HOSTILE, "evidence": {HOSTILE: [{"sentences": [HOSTILE], "label": HOSTILE}]}}
    given = {"id": HOSTILE, "evidence": {HOSTILE * 2: {"sentences": [HOSTILE], "label": "SUPPORT"}}}
    write("gold.jsonl", [gold])
    write("predictions.jsonl", [given])
    for place in ("t", "a.json"):
        assert cs_score("analyze", *SCIFACT, "-o", place).status == 0
    outcome = cs_score("analyze", *SCIFACT)
    for text in (outcome.out, outcome.err, *(path.read_text("utf-8") for path in (folder / "t").iterdir())):
        assert not {"\x1b", "\u202e", "\r"} & set(text)
        assert text == outcome.out or len({line.count("\t") for line in text.splitlines()}) <= 1
    assert max(map(len, outcome.out.splitlines())) < 160
    message = json.loads((folder / "a.json").read_text("ascii"))
    assert message["mistakes"][-1]["unit"] == HOSTILE
