"""`analyze`, `diff` and `explain` of evidence as users meet them: text, JSON, tables, refusals, hostile input."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_every_command import on_terminal
from tests.documents import ROOT
from tests.evidence.command import cs_score
from tests.evidence.recorded import FAMILIES, example

GOLD, PREDICTIONS = example("scifact")
HOSTILE = "\x1b[31m\u202e=1\tx\n"


GIVEN = ("scifact", "--gold", "gold.jsonl", "--predictions", "a.jsonl")
TWO = ("scifact", "--gold", "gold.jsonl", "a.jsonl", "b.jsonl")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, made the current one, with gold.jsonl, a.jsonl and b.jsonl of SciFact."""
    monkeypatch.chdir(tmp_path)
    write("gold.jsonl", GOLD)
    write("a.jsonl", PREDICTIONS)
    write("b.jsonl", [*PREDICTIONS[:1], {"id": 8, "evidence": {}}, *PREDICTIONS[2:]])
    return tmp_path


def write(name: str, lines: Any) -> None:
    Path(name).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("analyze", *GIVEN, "--measure", "abstract_label_only"), "; did you mean abstract_label_only_"),
        (("analyze", *GIVEN, "--gold", "-", "--predictions", "-"), "only one of --gold and --predictions can be stan"),
        (("diff", *TWO[:-1]), "name two files of predictions, A and B, not 1"),
        (("diff", *TWO, "--gold", "-"), "standard input cannot be read once for each of the two"),
        (("diff", *TWO, "--measure", "em"), "no measure called em; there are "),
    ],
)
def test_wrong_usage(words: Sequence[str], message: str, folder: Path) -> None:
    outcome = cs_score(*words)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err


def test_interval_and_p_are_those_of_compare(folder: Path) -> None:
    found = json.loads(cs_score("diff", *TWO, "--format", "json", "--seed", "5").out)
    compared = json.loads(
        cs_score("compare", *TWO, "--format=json", "--seed", "5", "--measure", "abstract_label_only_f1").out
    )
    (pair,) = compared["measures"][0]["pairs"]
    assert found["interval"]["point"] == pair["difference"]
    assert [found["interval"][side] for side in ("low", "high")] == [pair["low"], pair["high"]]
    assert found["p"] == {"randomisation": pair["p"], "bootstrap": pair["p_bootstrap"]}
    assert found["resampling"] == compared["resampling"]


@pytest.mark.parametrize("words", [("analyze", *GIVEN), ("diff", *TWO), ("explain", *GIVEN, "--unit", HOSTILE)])
def test_hostile_text_is_escaped_and_lines_fit(words: Sequence[str], folder: Path) -> None:
    gold = {"id": HOSTILE, "evidence": {HOSTILE: [{"sentences": [HOSTILE * 99], "label": HOSTILE}]}}
    write("gold.jsonl", [gold])
    write("a.jsonl", [{"id": HOSTILE, "evidence": {HOSTILE * 2: {"sentences": [HOSTILE], "label": "SUPPORT"}}}])
    write("b.jsonl", [{"id": HOSTILE, "evidence": {HOSTILE: {"sentences": [HOSTILE * 99], "label": "SUPPORT"}}}])
    outcome = cs_score(*words)
    assert outcome.status == 0
    texts = [outcome.out, outcome.err]
    if words[0] != "explain":
        assert cs_score(*words, "-o", "t").status == cs_score(*words, "-o", "found.json").status == 0
        texts += [path.read_text("utf-8") for path in (folder / "t").iterdir()]
        assert max(map(len, outcome.out.splitlines())) < 160
        document = json.loads((folder / "found.json").read_text("ascii"))
        assert document["mistakes" if words[0] == "analyze" else "answers"][-1]["unit"] == HOSTILE
    for text in texts:
        assert not {"\x1b", "\u202e", "\r"} & set(text)
        assert text in (outcome.out, outcome.err) or len({line.count("\t") for line in text.splitlines()}) <= 1


def test_a_terminal_has_colours_and_narrow_tables(folder: Path) -> None:
    paths = [str(folder / word) if word.endswith(".jsonl") else word for word in ("diff", *TWO)]
    write("b.jsonl", [{"id": claim["id"], "evidence": {}} for claim in GOLD])
    assert "\x1b[31m-0.5714\x1b[0m" in on_terminal([*paths, "--quiet", "--bootstrap", "9"])
    plain = on_terminal([*paths, "--quiet", "--bootstrap", "9", "--all"], 80, NO_COLOR="1")
    assert "-0.5714" in plain
    assert "\x1b" not in plain
    table = plain[plain.index("What was judged differently:") : plain.index("By gold_label")]
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize("verb", ["analyze", "diff"])
@pytest.mark.parametrize("mode", FAMILIES)
def test_the_first_screen_has_forty_lines_of_eighty_columns(verb: str, mode: str) -> None:
    ending = "json" if mode in ("r4c", "hotpotqa") else "jsonl"
    files = [f"assessments/{mode}-gold.{ending}", *(f"submissions/{mode}-{side}.{ending}" for side in "ab")]
    words = [verb, mode, *(str(ROOT / file) for file in files[: 2 if verb == "analyze" else 3])]
    first, whole = (cs_score(*words, *more).out.splitlines() for more in ((), ("--all",)))
    assert len(first) <= 40
    assert max(map(len, first)) <= 80
    assert len(whole) > len(first)
    assert "--all shows every" in first[-1]
