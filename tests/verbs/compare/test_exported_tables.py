"""What evaluation frameworks export, compared: a row for each sample, JSON lines, TREC's rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.command import cs_score


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _compared(*words: str) -> Any:
    outcome = cs_score("compare", "table", *words, "--bootstrap", "99", "--format", "json")
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)


def _scores(document: Any) -> dict[str, float]:
    return {system["name"]: system["score"] for system in document["measures"][0]["systems"]}


def test_samples_of_a_unit_are_averaged_before_the_test(folder: Path) -> None:
    """a: unit 1 has 1 and 0, unit 2 has 1; so .75 over two units, not 2/3 over three samples."""
    rows = [("a", 1, 1), ("a", 1, 0), ("a", 2, 1), ("b", 1, 0), ("b", 2, 0.5)]
    text = "".join(f"{model},{item},{score}\n" for model, item, score in rows)
    (folder / "log.csv").write_text(f"model,item,acc\n{text}")
    document = _compared("log.csv", "--columns", "unit=item,system=model,score=acc")
    assert _scores(document) == {"a": 0.75, "b": 0.25}
    assert document["units"] == 2
    notes = [note["text"] for note in document["notes"]]
    assert any("1 unit has several samples" in text for text in notes)


def test_json_lines_each_of_a_system(folder: Path) -> None:
    for name, values in (("a", (True, False)), ("b", (False, False))):
        lines = [json.dumps({"doc_id": at, "metrics": {"acc": value}, "doc": ["x"]}) for at, value in enumerate(values)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    document = _compared("a.jsonl", "b.jsonl", "--columns", "unit=doc_id,score=metrics.acc")
    assert _scores(document) == {"a.jsonl": 0.5, "b.jsonl": 0.0}


def test_rows_of_trec_eval(folder: Path) -> None:
    for name, values in (("a", (0.5, 0.25)), ("b", (0.25, 0.25))):
        rows = [f"map                   \t{topic}\t{value}" for topic, value in zip((301, 302), values)]
        rows += ["runid                 \tall\tx", "map                   \tall\t0.3"]
        (folder / f"{name}.txt").write_text("\n".join(rows) + "\n")
    document = _compared("a.txt", "b.txt")
    assert _scores(document) == {"a.txt": 0.375, "b.txt": 0.25}
    assert document["measures"][0]["measure"] == "map"


def test_rows_of_run_topic_measure(folder: Path) -> None:
    rows = ["a 301 map 0.5", "a 302 map 0.25", "b 301 map 0.25", "b 302 map 0.25"]
    (folder / "runs.txt").write_text("\n".join(rows) + "\n")
    assert _scores(_compared("runs.txt")) == {"a": 0.375, "b": 0.25}


@pytest.mark.parametrize(
    ("name", "content", "columns", "mentions"),
    [
        ("log.csv", "model,item,acc\na,1,1\n", "unit=itm", "no column itm"),
        ("log.csv", "model,item,acc\na,1,high\nb,1,1\n", "unit=item,system=model,score=acc", "high is no number"),
        ("log.jsonl", '{"item": 1}\n', "unit=item,score=acc", "no acc"),
        ("log.jsonl", '{"item": 1, "acc": 1}\n{"item": 2}\n', "unit=item,score=acc", "line 2: no acc"),
        ("log.jsonl", "{\n", "unit=item,score=acc", "line 1: not JSON"),
    ],
)
def test_what_cannot_be_read(folder: Path, name: str, content: str, columns: str, mentions: str) -> None:
    (folder / name).write_text(content)
    assert mentions in cs_score("compare", "table", name, "--columns", columns).complaint


def test_names_of_columns_that_cannot_be(folder: Path) -> None:
    (folder / "log.csv").write_text("unit,a,b\n1,1,0\n")
    outcome = cs_score("compare", "table", "log.csv", "--columns", "units=item")
    assert outcome.status == 2
    assert "did you mean unit" in outcome.err


def test_a_system_called_score_stays_a_system(folder: Path) -> None:
    (folder / "wide.csv").write_text("unit,score,other\n1,1,0\n2,1,1\n")
    assert _scores(_compared("wide.csv")) == {"score": 1.0, "other": 0.5}
