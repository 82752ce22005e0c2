"""`cs-score analyze` of the evidence modes as users meet it: text, JSON, tables, refusals, hostile input."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cs_score.analysis.evidence import tables
from tests.cli.test_every_command import on_terminal
from tests.evidence.command import cs_score
from tests.evidence.recorded import FAMILIES
from tests.evidence.test_command import words
from tests.evidence.test_scifact import GOLD, PREDICTIONS
from tests.schemas import CAN_VALIDATE, check, name_of

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


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_the_text_of_an_analysis(folder: Path) -> None:
    outcome = cs_score("analyze", *SCIFACT, "--top", "2")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == (
        "scifact: abstract_label_only_f1 = 0.5714 over 3 claims\n"
        "\n"
        "The score if all mistakes of a kind, and no others, were mended; cumulated, if those above were as well:\n"
        "                      mistakes     gain   score  cumulated\n"
        "extra_abstract               1  +0.0952  0.6667     0.6667\n"
        "wrong_label                  1  +0.2857  0.8571     1.0000\n"
        "extra_sentence               2  +0.0000  0.5714     1.0000\n"
        "incomplete_rationale         0  +0.0000  0.5714     1.0000\n"
        "missed_abstract              0  +0.0000  0.5714     1.0000\n"
        "\n"
        "The 2 costliest of 4 mistakes, with what mending each one alone would bring:\n"
        "     gain  claim  kind             at  predicted    gold\n"
        '+0.285714      7  wrong_label     102  "SUPPORT"    "CONTRADICT"\n'
        "+0.095238      8  extra_abstract  104  SUPPORT [5]\n"
        "\n"
        "gold label              claims  precision  recall      f1  mistakes  share\n"
        "CONTRADICT                   1     1.0000  1.0000  1.0000         1  25.0%\n"
        "CONTRADICT and SUPPORT       1     0.5000  0.5000  0.5000         2  50.0%\n"
        "(1 more)\n"
        "\n"
        "gold sets  claims  precision  recall      f1  mistakes  share\n"
        "        0       1     0.0000  0.0000  0.0000         1  25.0%\n"
        "        1       1     1.0000  1.0000  1.0000         1  25.0%\n"
        "(1 more)\n"
        "\n"
        "shortest set  claims  precision  recall      f1  mistakes  share\n"
        "           1       1     0.5000  0.5000  0.5000         2  50.0%\n"
        "           4       1     1.0000  1.0000  1.0000         1  25.0%\n"
        "(1 more)\n"
        "\n"
        "gold        predicted   abstracts\n"
        "CONTRADICT  CONTRADICT          1\n"
        "CONTRADICT  SUPPORT             1\n"
        "(2 more)\n"
    )


def test_nothing_wrong_is_said(folder: Path) -> None:
    write("gold.jsonl", GOLD[1:2])
    write("predictions.jsonl", [{"id": 8, "evidence": {}}])
    assert "\nThere are no mistakes.\n" in cs_score("analyze", *SCIFACT).out


@pytest.mark.parametrize("family", FAMILIES)
def test_json_is_as_its_schema_says(family: str) -> None:
    outcome = cs_score("analyze", *words(family, "--json"))
    told = json.loads(outcome.out)
    assert told["scores"].keys() == told["mistakes"][0]["effects"].keys()
    assert told["score"] == told["scores"][told["measure"]]
    assert told["signature"]["line"].startswith(f"{told['measure']}|{family}|")
    assert name_of(told) == "analysis-evidence"
    if CAN_VALIDATE:
        check(told)


def test_a_file_of_json_stands_beside_the_text(folder: Path) -> None:
    text = cs_score("analyze", *SCIFACT)
    assert cs_score("analyze", *SCIFACT, "--json", "a.json") == text
    assert (folder / "a.json").read_text(encoding="utf-8") == cs_score("analyze", *SCIFACT, "--json").out
    assert cs_score("analyze", *SCIFACT, "--json", "a.json").status == 0, "its own file may be replaced"
    assert len(json.loads(cs_score("analyze", *SCIFACT, "--json", "--top", "1").out)["mistakes"]) == 1


def test_the_tables_hold_what_json_holds(folder: Path) -> None:
    told = json.loads(cs_score("analyze", *SCIFACT, "--json").out)
    assert cs_score("analyze", *SCIFACT, "--tsv", "new/tables").status == 0
    assert {path.name for path in (folder / "new/tables").iterdir()} == set(tables.COLUMNS)
    mistakes = rows_of(folder / "new/tables/mistakes.tsv")
    assert [json.loads(row["prediction"]) for row in mistakes] == [each["prediction"] for each in told["mistakes"]]
    for row, mistake in zip(mistakes, told["mistakes"]):
        assert {name: float(row[f"effect:{name}"]) for name in mistake["effects"]} == mistake["effects"]
        assert (row["unit"], row["kind"], float(row["gain"])) == (
            str(mistake["unit"]),
            mistake["kind"],
            mistake["gain"],
        )
    assert [float(row["cumulated"]) for row in rows_of(folder / "new/tables/budget.tsv")] == [
        row["cumulated"] for row in told["budget"]
    ]
    groups = rows_of(folder / "new/tables/groups.tsv")
    assert [row["group"] for row in groups if row["dimension"] == "gold_label"] == [
        group["group"] for group in told["groups"]["gold_label"]
    ]
    confusions = rows_of(folder / "new/tables/confusions.tsv")
    assert [{**row, "count": int(row["count"])} for row in confusions] == told["confusions"]
    assert cs_score("analyze", *SCIFACT, "--tsv", "new/tables", "--top", "1").status == 0
    assert len(rows_of(folder / "new/tables/mistakes.tsv")) == 1


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--measure", "sentence_f1"], "no measure called sentence_f1; there are abstract_label_only_precision, "),
        (["--measure", "abstract_label_only"], "; did you mean abstract_label_only_"),
        (["--top", "0"], "--top 0: a whole number from 1 to "),
        (["--tsv", "gold.jsonl"], "gold.jsonl is a file, where --tsv makes a folder"),
        (["--json", "gold.jsonl"], "did you mean --json result.json? gold.jsonl does not end in .json"),
        (["--gold", "-", "--predictions", "-"], "only one of --gold and --predictions can be standard input"),
    ],
)
def test_wrong_usage(more: list[str], told: str, folder: Path) -> None:
    outcome = cs_score("analyze", *SCIFACT, *more)
    assert (outcome.status, outcome.out) == (2, "")
    assert told in outcome.err


def test_somebody_elses_table_is_not_replaced(folder: Path) -> None:
    (folder / "budget.tsv").write_text("my own budget\n", encoding="utf-8")
    outcome = cs_score("analyze", *SCIFACT, "--tsv", ".")
    assert outcome.status == 2
    assert "budget.tsv was not written by --tsv" in outcome.err
    assert [path.name for path in folder.glob("*.tsv")] == ["budget.tsv"]
    assert cs_score("analyze", *SCIFACT, "--tsv", ".", "--force").status == 0
    assert rows_of(folder / "budget.tsv")


@pytest.mark.parametrize("family", FAMILIES)
def test_bad_input_is_told_as_the_scorer_tells_it(family: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(b"{")
    line = words(family)
    line[line.index("--predictions") + 1] = str(bad)
    assert cs_score("analyze", *line).complaint == cs_score(*line).complaint


def test_what_is_missing_is_told_beside_the_analysis() -> None:
    outcome = cs_score("analyze", *words("hotpotqa"))
    assert outcome.err == cs_score(*words("hotpotqa")).err != ""


def test_predictions_come_from_standard_input(folder: Path) -> None:
    from tests.evidence.command import cs_score_process

    data = (folder / "predictions.jsonl").read_bytes()
    line = ["analyze", "scifact", "--gold", str(folder / "gold.jsonl"), "--predictions", "-"]
    assert cs_score_process(*line, stdin=data).out == cs_score(*line[:-1], str(folder / "predictions.jsonl")).out


def test_hostile_text_is_escaped(folder: Path) -> None:
    gold = {"id": HOSTILE, "evidence": {HOSTILE: [{"sentences": [HOSTILE], "label": HOSTILE}]}}
    given = {"id": HOSTILE, "evidence": {HOSTILE * 2: {"sentences": [HOSTILE], "label": "SUPPORT"}}}
    write("gold.jsonl", [gold])
    write("predictions.jsonl", [given])
    outcome = cs_score("analyze", *SCIFACT, "--tsv", "t", "--json", "a.json")
    assert outcome.status == 0
    for text in (outcome.out, outcome.err, *(path.read_text("utf-8") for path in (folder / "t").iterdir())):
        assert not {"\x1b", "\u202e", "\r"} & set(text)
    for name, columns in tables.COLUMNS.items():
        lines = (folder / "t" / name).read_text("utf-8").splitlines()
        assert len({line.count("\t") for line in lines}) == 1, columns
    assert max(map(len, outcome.out.splitlines())) < 160
    told = json.loads((folder / "a.json").read_text("ascii"))
    assert told["mistakes"][-1]["unit"] == HOSTILE


def test_a_terminal_gets_colours_and_lines_that_fit(folder: Path) -> None:
    paths = [str(folder / word) if word.endswith(".jsonl") else word for word in SCIFACT]
    shown = on_terminal(["analyze", *paths], 90)
    assert "\x1b[32m+0.2857\x1b[0m" in shown
    plain = on_terminal(["analyze", *paths, "--quiet"], NO_COLOR="1")
    assert "+0.2857" in plain
    assert "\x1b" not in plain
    write("predictions.jsonl", [{**PREDICTIONS[0], "evidence": {"9": {"label": "SUPPORT", "sentences": [*range(99)]}}}])
    write("gold.jsonl", GOLD[:1])
    shown = on_terminal(["analyze", *paths, "--quiet"], 70, NO_COLOR="1")
    (line,) = (line for line in shown.splitlines() if re.search("extra_abstract +9 ", line))
    assert line.endswith("...")
    assert len(line) <= 70
