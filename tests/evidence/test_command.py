"""The four subcommands as users meet them: options, streams, tables, statuses."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.evidence.command import cs_score, cs_score_process
from tests.evidence.recorded import COMMITTED, FAMILIES, example

EXAMPLES: Mapping[str, Path] = {family: next((COMMITTED / family).glob("v*-spec-example")) for family in FAMILIES}
UNITS = {"scifact": "7", "claims": "1", "r4c": "q1", "hotpotqa": "q1"}


def files(family: str) -> tuple[Path, Path]:
    gold, predictions = (next(EXAMPLES[family].glob(f"{role}.*")) for role in ("gold", "predictions"))
    return gold, predictions


def words(family: str, *more: str) -> list[str]:
    gold, predictions = files(family)
    return [family, "--gold", str(gold), "--predictions", str(predictions), *more]


@pytest.fixture
def scifact_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, made the current one, with gold.jsonl and predictions.jsonl."""
    monkeypatch.chdir(tmp_path)
    for name, lines in zip(("gold.jsonl", "predictions.jsonl"), example("scifact")):
        Path(name).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return tmp_path


SCIFACT = ("scifact", "--gold", "gold.jsonl", "--predictions", "predictions.jsonl")


def test_per_item_escapes_ids(tmp_path: Path) -> None:
    claim = json.dumps({"id": "a\tb\nc\ud800" + "x" * 5000, "evidence": {}})
    (tmp_path / "claims.jsonl").write_text(claim)
    source = str(tmp_path / "claims.jsonl")
    cs_score("scifact", "--gold", source, "--predictions", source, "--per-item", tmp_path / "units.tsv")
    row = (tmp_path / "units.tsv").read_text().splitlines()[1].split("\t")
    assert row == ["a\\tb\\nc\\ud800" + "x" * 5000, *["0"] * 8]


def test_tables_that_cannot_be_written_and_bad_input_leave_nothing(scifact_files: Path) -> None:
    assert cs_score(*SCIFACT, "--per-item", "no/such/units.tsv").complaint == (
        "Could not open no/such/units.tsv: No such file or directory; choose another --per-item"
    )
    Path("predictions.jsonl").write_text("{")
    assert cs_score(*SCIFACT, "--per-item", "units.tsv").status == 1
    assert sorted(os.listdir()) == ["gold.jsonl", "predictions.jsonl"]


def test_text_from_inputs_cannot_drive_a_terminal(tmp_path: Path) -> None:
    bad = "\x1b[31m\u202e\ud800\r\nclaim 2"
    claim = {"id": 1, "evidence": {bad: [{"sentences": [bad], "label": bad}]}}
    prediction = {"id": 1, "evidence": {bad: {"sentences": [bad], "label": "SUPPORT"}}}
    for name, line in (("gold", claim), ("predictions", prediction)):
        (tmp_path / name).write_text(json.dumps(line))
    command = ("scifact", "--gold", tmp_path / "gold", "--predictions", tmp_path / "predictions")
    outcome = cs_score("explain", *command, "--unit", "1")
    assert outcome.status == 0
    assert "abstract \\x1b[31m\\u202e\\ud800\\r\\nclaim 2: relevant" in outcome.out.splitlines()
    prediction["evidence"] = {bad: {"sentences": [], "label": bad}}
    (tmp_path / "predictions").write_text(json.dumps(prediction))
    assert "label '\\x1b[31m\\u202e\\ud800\\r\\nclaim 2' is not one of" in cs_score(*command).complaint


@pytest.mark.parametrize("role", ["--gold", "--predictions"])
def test_standard_input_and_compressed_files(scifact_files: Path, role: str) -> None:
    arguments = [*SCIFACT, "--json"]
    position = arguments.index(role) + 1
    data, expected = Path(arguments[position]).read_bytes(), cs_score(*arguments).scores
    arguments[position] = "-"
    assert cs_score_process(*arguments, stdin=data).scores == expected
    Path("packed.gz").write_bytes(gzip.compress(data))
    arguments[position] = "packed.gz"
    assert cs_score(*arguments).scores == expected


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--gold", "x"),
        ("--predictions", "x"),
        ("--gold", "-", "--predictions", "-"),
        ("--gold", "x", "--predictions", "y", "--explain", "1"),
        ("--gold", "x", "--predictions", "y", "--no-such-option"),
        ("--gold", "x", "--predictions", "y", "z"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    outcome = cs_score("claims", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("cs-score: ")
    assert outcome.err.count("\n") == 1


def test_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance.Levenshtein", None)
    assert cs_score(*words("r4c")).complaint == "this needs the package rapidfuzz: pip install 'cs-score[r4c]'"


@pytest.mark.parametrize("family", ["scifact", "claims", "hotpotqa"])
def test_ordinary_scoring_imports_no_numpy(family: str) -> None:
    script = (
        "import sys; from cs_score.cli.main import main; status = main(sys.argv[1:]);"
        "heavy = {'numpy', 'scipy', 'rapidfuzz', 'lxml'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else status)"
    )
    done = subprocess.run([sys.executable, "-c", script, *words(family)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
