"""Tables as people have them: what is read, and the one line that everything else gets."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

import pytest

import cs_score as cs
from tests.evidence.command import cs_score

POLICY: Final = "right=yes,wrong=no"
LABELLED: Final = "unit,answer,label\nA,x,yes\nB,y,no\n"


def _scored(*files: str, policy: str = POLICY) -> dict[str, object]:
    outcome = cs_score("score", "pool", *files, "--policy", policy, "--format", "json")
    assert outcome.status == 0, outcome.err
    return outcome.scores


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.csv", LABELLED),
        ("run.csv", LABELLED.replace("\n", "\r\n")),
        ("run.csv", f"\ufeff{LABELLED}"),
        ("run.csv", LABELLED.replace("x", '"x, ""1""\n2"')),
        ("run.csv", LABELLED.replace("\n", "\n\n")),
        ("run.tsv", LABELLED.replace(",", "\t")),
        ("run.tsv", LABELLED.replace(",", "\t").replace("x", '"x')),
        ("run.jsonl", '{"unit": 1, "answer": "x", "label": "yes"}\n\n{"unit": 1.0, "answer": true, "label": "no"}\n'),
        ("run.csv.gz", LABELLED),
    ],
)
def test_forms_of_one_table(folder: Path, name: str, content: str) -> None:
    data = content.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    scores = _scored(name)
    assert (scores["micro-r"], scores["coverage"]) == (0.5, 1.0)


def test_numbers_of_json_lines_are_the_characters_of_the_file(folder: Path) -> None:
    (folder / "gold.jsonl").write_text('{"unit": 1, "answer": 1.0, "label": "yes"}\n')
    (folder / "run.jsonl").write_text('{"unit": 1, "answer": 1}\n')
    assert _scored("--gold", "gold.jsonl", "run.jsonl")["micro-r"] == 0.0


def test_columns_may_be_called_otherwise(folder: Path) -> None:
    (folder / "run.csv").write_text("question_id,response,verdict\nA,x,yes\n")
    (folder / "gold.csv").write_text("question_id,answer,verdict\nA,x,yes\n")
    (folder / "answers.csv").write_text("question_id,answer\nA,x\n")
    names = ("--columns", "unit=question_id,answer=response,label=verdict")
    assert _scored("run.csv", *names)["micro-r"] == 1.0
    assert _scored("gold.csv", "answers.csv", "--columns", "unit=question_id,label=verdict")["micro-r"] == 1.0


_HEADER: Final = "unit,answer,label"


@pytest.mark.parametrize(
    ("name", "content", "mentions"),
    [
        ("run.csv", "", "empty"),
        ("run.csv", f"{_HEADER}\n", "nothing is judged"),
        ("run.csv", f"{_HEADER}\nA,x\n", "line 2: 2 cells, where the header names 3 columns"),
        ("run.csv", f"{_HEADER},label\nA,x,yes,yes\n", "two columns are called 'label'"),
        ("run.csv", f"{_HEADER}\n,x,yes\n", "line 2: column unit is empty"),
        ("run.csv", f"{_HEADER}\nA,,yes\n", "line 2: column answer is empty"),
        ("run.csv", f"{_HEADER}\nA,x,yes\nB,x,\n", "line 3: column label is empty"),
        ("run.csv", "unit;answer;label\nA;x;yes\n", "semicolons"),
        ("run.csv", "unit\tanswer\tlabel\nA\tx\tyes\n", "tabs"),
        ("run.tsv", "unit answer label\nA x yes\n", "blanks"),
        ("run.tsv", LABELLED, "commas"),
        ("run.csv", "<!DOCTYPE html>\n", "HTML"),
        ("run.csv", '{"unit": "A"}\n', "JSON"),
        ("run.jsonl", '[{"unit": "A"}]\n', "JSON list"),
        ("run.jsonl", '{"unit": "A", "answer": ["x"]}\n', "line 1: 'answer' is a list"),
        ("run.jsonl", '{"unit": "A", "unit": "B", "answer": "x"}\n', "line 1: the key 'unit' occurs twice"),
        ("run.jsonl", "{\n", "line 1: not JSON"),
        ("run.jsonl", "3\n", "an object is expected"),
        ("run.csv", "question,answer,label\nA,x,yes\n", "no column unit"),
        ("run.txt", LABELLED, "ends in .txt"),
        ("run.csv", f"{_HEADER},wanted\nA,x,yes,1.5\n", "wanted: '1.5' is no whole number"),
        ("run.csv", f"{_HEADER},wanted\nA,x,yes,1\nA,y,no,2\n", "wants 2 here and 1 in line 2"),
        ("run.csv", f"{_HEADER},confidence\nA,x,yes,nan\n", "confidence: 'nan' is no number"),
        ("run.csv", f"{_HEADER},weight\nA,x,yes,1\n", "weight"),
        ("run.csv", f"{_HEADER},run\nA,x,yes,a\nA,x,yes,\n", "line 3: column run is empty"),
    ],
)
def test_bad_table_gets_one_line(folder: Path, name: str, content: str, mentions: str) -> None:
    (folder / name).write_text(content)
    outcome = cs_score("score", "pool", name, "--policy", POLICY)
    assert mentions in outcome.complaint


@pytest.mark.parametrize(
    ("data", "mentions"),
    [(LABELLED.encode("utf-16"), "UTF-16"), (LABELLED.encode() + b"C,\xff,yes\n", "line 4: not UTF-8")],
)
def test_other_encodings_are_named(folder: Path, data: bytes, mentions: str) -> None:
    (folder / "run.csv").write_bytes(data)
    assert mentions in cs_score("score", "pool", "run.csv", "--policy", POLICY).complaint


@pytest.mark.parametrize(
    ("columns", "mentions"),
    [
        ("units=a", "did you mean unit"),
        ("unit", "unit=NAME"),
        ("unit=", "unit=NAME"),
        ("unit=a,unit=b", "names unit twice"),
    ],
)
def test_names_of_columns_that_cannot_be(folder: Path, columns: str, mentions: str) -> None:
    (folder / "run.csv").write_text(LABELLED)
    outcome = cs_score("score", "pool", "run.csv", "--policy", POLICY, "--columns", columns)
    assert outcome.status == 2
    assert mentions in outcome.err


def test_swapped_files_are_recognised(folder: Path) -> None:
    (folder / "gold.csv").write_text(LABELLED)
    (folder / "run.csv").write_text("unit,answer\nA,x\n")
    outcome = cs_score("score", "pool", "--gold", "run.csv", "--predictions", "gold.csv", "--policy", POLICY)
    assert outcome.status == 2
    assert "swapped" in outcome.err
    assert "--gold gold.csv --predictions run.csv" in outcome.err


def test_columns_that_the_other_file_should_have_are_not_read(folder: Path) -> None:
    (folder / "gold.csv").write_text("unit,answer,label,confidence\nA,x,yes,high\n")
    (folder / "run.csv").write_text("unit,answer,wanted\nA,x,many\n")
    outcome = cs_score("score", "pool", "gold.csv", "run.csv", "--policy", POLICY)
    assert outcome.status == 0
    assert "run.csv: not read, as assessments should have it: wanted" in outcome.err
    assert "gold.csv: not read, as a run should have it: confidence" in outcome.err


def test_all_missing_columns_are_named_with_the_option_to_type(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,response,label\n1,x,yes\n")
    with pytest.raises(cs.InputError, match=r"no column unit and no column answer; .*--columns unit=NAME,answer=NAME"):
        cs.pool(path, policy="right=yes")
