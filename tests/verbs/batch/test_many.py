"""What a batch tells about many runs: answers, agreement, stability, tiers, and the same as one JSON object."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.coldstart.gold import load_run, open_gold, with_pool
from cs_score.coldstart.judging import REDUNDANT
from cs_score.coldstart.options import RIGHT, Options
from cs_score.coldstart.scorer import score_runs
from tests.cli.forms import fill
from tests.coldstart.command import score_in
from tests.coldstart.recorded import COMMITTED
from tests.verbs.batch.command import leaderboard, table

SCORING: Final = ("-expand", "CSSF17", "-queries", "chosen")
CALL: Final = ("batch", *SCORING, "--jobs", "1", "-o", "out")
FILES: Final = ("queries.xml", "pool.tab", "runs")
TABLES: Final = ("answers.tsv", "agreement.tsv", "stability.tsv")
BOOTSTRAP: Final = ("--bootstrap", "200")

QUERIES: Final = 24

KEPT: Final[dict[str, Callable[[str], bool]]] = {
    "alpha": lambda query: True,
    "beta": lambda query: int(query.split("_")[2], 16) % 3 > 0,
    "gamma": lambda query: query.count("_") < 3 or int(query[-1], 16) % 2 > 0,
}
"""The runs, and of which queries each has lines; a query of the second hop ends with a part of its own."""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """Three runs of some queries: all lines of one; without a third of its queries; without half of the second hop."""
    source = COMMITTED / "medium_001"
    chosen = (source / "queryids.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:QUERIES]
    (tmp_path / "chosen").write_text("".join(chosen), encoding="utf-8")
    for name in ("queries.xml", "pool.tab"):
        shutil.copy(source / name, tmp_path / name)
    lines = (source / "run.tab").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "runs").mkdir()
    for name, is_kept in KEPT.items():
        kept = [line.replace("\tRUN1\t", f"\t{name}\t") for line in lines if is_kept(line.partition("\t")[0])]
        (tmp_path / f"runs/{name}.tab.txt").write_text("".join(kept), encoding="utf-8")
    return tmp_path


def told(world: Path, *more: str, files: tuple[str, ...] = FILES) -> dict[str, Any]:
    """`batch.json` of a batch in this world."""
    assert score_in(world, [*CALL, *more, *files]).status in (0, 1)
    value: dict[str, Any] = json.loads((world / "out/batch.json").read_bytes())
    return value


def rows(world: Path, name: str, **wanted: str) -> list[dict[str, str]]:
    """Rows of a table in which these columns have these values."""
    found = table((world / "out" / name).read_text(encoding="utf-8"))
    return [row for row in found if all(row[column] == value for column, value in wanted.items())]


def test_a_class_is_found_by_whom_diff_says(world: Path) -> None:
    told(world)
    words = ["diff", *SCORING, "-o", "d.json", "queries.xml"]
    assert score_in(world, [*words, "runs/alpha.tab.txt", "runs/gamma.tab.txt", "pool.tab"]).status == 0
    classes = {(each["row"], each["class"]): each for each in json.loads((world / "d.json").read_bytes())["classes"]}
    found = rows(world, "answers.tsv")
    assert {row["part"] for row in found} == {"class"}
    for row in found:
        mine = [row[name] == "1" for name in ("alpha", "beta", "gamma")]
        assert int(row["found_by"]) == sum(mine)
        assert row["only"] == ("" if sum(mine) != 1 else ("alpha", "beta", "gamma")[mine.index(True)])
        known = classes.pop((row["place"], row["name"]), None)
        if known is not None:
            assert (known["a"], known["b"]) == (mine[0], mine[2])
        else:  # of classes that fare alike nothing is told there
            assert mine[0] == mine[2]
    assert not [each for each in classes.values() if each["a"] or each["b"]]


def right_lines(world: Path, run: Path, *labels: str) -> list[str]:
    """The lines of a run that count as right, or have another of these labels."""
    options = Options(expand="CSSF17", queries=str(world / "chosen"))
    gold = with_pool(open_gold([world / "queries.xml"], options), [world / "pool.tab"])
    loaded = load_run(gold, [run])
    (scored,) = score_runs(loaded, options.policy).runs
    lines = {line.index: line for line in loaded.links.responses}
    wanted = {RIGHT, *labels}
    right = [
        lines[index] for unit in scored.units for index, of_line in unit.labels_by_index.items() if wanted & {*of_line}
    ]
    return [line.text for line in sorted(right, key=lambda line: line.number)]


def union_and_run(world: Path, *names: str) -> tuple[dict[str, float], dict[str, float]]:
    """The scores of the union of runs, and those of a run of all their right lines, by measure.

    Lines of the second hop may name what a duplicate of a right line says; it counts for nothing itself.
    """
    runs = [world / f"runs/{name}.tab.txt" for name in names]
    union = told(world, files=("queries.xml", "pool.tab", *map(str, runs)))["agreement"][0]["union"]["scores"]
    right = (text.rstrip("\n").split("\t", 3) for run in runs for text in right_lines(world, run, REDUNDANT))
    together = dict.fromkeys("\t".join((query, slot, "all", rest)) for query, slot, _, rest in right)
    (world / "all.tab").write_text("".join(f"{line}\n" for line in together), encoding="utf-8")
    told(world, files=("queries.xml", "pool.tab", "all.tab"))
    (row,) = leaderboard(world / "out")
    assert len(union) > 20
    return union, {measure: float(row[measure]) for measure in union}


def test_the_union_is_the_run_of_all_right_lines(world: Path) -> None:
    union, alone = union_and_run(world, "beta", "gamma")
    first = [measure for measure in union if measure.endswith("@0")]
    assert {measure: alone[measure] for measure in first} == pytest.approx(
        {measure: union[measure] for measure in first}
    )
    # Without the wrong lines another line may stand for an answer, so that what is asked about it counts as wrong.
    assert all(alone[measure] <= union[measure] + 1e-12 for measure in union)


def test_tiers_and_the_p_of_neighbours_are_those_of_compare(world: Path) -> None:
    """Of all runs together: the tests of neighbours belong to the family of all pairs."""
    found = told(world, *BOOTSTRAP)["leaderboard"]
    assert (found[0]["tier"], found[0]["p_above"]) == (1, None)
    words = ["compare", "coldstart", *SCORING, *BOOTSTRAP, "--measure", "LDC-MEAN-AP", "-o", "c.json"]
    paths = [f"runs/{name}.tab.txt" for name in KEPT]
    assert score_in(world, [*words, "queries.xml", "pool.tab", *paths]).status == 0
    (compared,) = json.loads((world / "c.json").read_bytes())["measures"]
    corrected = {frozenset((pair["a"], pair["b"])): pair["p_adjusted"] for pair in compared["pairs"]}
    for above, row in pairwise(found):
        assert row["p_above"] == corrected[frozenset((above["run_id"], row["run_id"]))]
    tiers = {entry["name"]: entry["tier"] for entry in compared["systems"]}
    assert {row["run_id"]: row["tier"] for row in found} == tiers
    shown = leaderboard(world / "out")
    assert [row["p_above"] for row in shown] == ["", *(repr(row["p_above"]) for row in found[1:])]
    for name in ("leaderboard.md", "leaderboard.tex"):
        text = (world / "out" / name).read_text(encoding="utf-8")
        assert "Tier" in text
        assert "opens a new tier" in text


def test_a_run_that_failed_and_one_without_lines(world: Path) -> None:
    (world / "bad.tab").write_bytes(b"\xff\xfe\n")
    (world / "empty.tab").write_bytes(b"")
    found = told(world, *BOOTSTRAP, files=(*FILES, "bad.tab", "empty.tab"))
    assert [each["run"] for each in found["runs"]] == ["alpha", "beta", "gamma"]
    assert {row["run"] for row in found["leaderboard"] if row["rank"] is None} == {"bad", "empty"}
    nothing = told(world, *BOOTSTRAP, files=("queries.xml", "pool.tab", "bad.tab", "empty.tab"))
    assert (nothing["runs"], nothing["stability"]) == ([], {"pairs": [], "first": []})
    assert all(row["found_by"] == "0" for row in rows(world, "answers.tsv"))


def test_equal_run_ids_and_several_of_them_in_a_file(world: Path) -> None:
    shutil.copy(world / "runs/alpha.tab.txt", world / "again.tab")
    texts = [(world / f"runs/{name}.tab.txt").read_text(encoding="utf-8") for name in ("beta", "gamma")]
    (world / "two.tab").write_text(texts[0] + texts[1].replace("\t:", "\t:G"), encoding="utf-8")
    found = told(world, *BOOTSTRAP, files=("queries.xml", "pool.tab", "runs/alpha.tab.txt", "again.tab", "two.tab"))
    assert found["runs"] == [
        {"run": "alpha", "run_id": "alpha"},
        {"run": "again", "run_id": "alpha"},
        {"run": "two", "run_id": "beta"},
        {"run": "two", "run_id": "gamma"},
    ]
    assert found["agreement"][0]["pairs"][0] == {"a": 0, "b": 1, "part": "", "right": 1.0, "wrong": 1.0}
    assert list(rows(world, "answers.tsv")[0])[-4:] == ["alpha", "again", "beta", "gamma"]


def test_hostile_names_are_escaped(world: Path) -> None:
    names = [f"{sign}1\t2\x1b[31m\u202e" for sign in "=+-@"]
    for name in names:
        shutil.copy(world / "runs/alpha.tab.txt", world / f"{name}.tab")
    found = told(world, files=("queries.xml", "pool.tab", *(f"./{name}.tab" for name in names), "runs"))
    assert [each["run"] for each in found["runs"][:4]] == names
    for file in TABLES:
        data = (world / "out" / file).read_bytes()
        assert b"\x1b" not in data
        assert "\u202e".encode() not in data
        header, *lines = data.decode().splitlines()
        assert {line.count("\t") for line in lines} == {header.count("\t")}
    header = (world / "out/answers.tsv").read_text(encoding="utf-8").splitlines()[0]
    assert all(f"'{name[0]}1\\t2" in header for name in names)


def claim(number: int, evidence: dict[str, list[int]], label: str = "SUPPORT") -> str:
    """A line of SciFact predictions."""
    told = {abstract: {"label": label, "sentences": sentences} for abstract, sentences in evidence.items()}
    return json.dumps({"id": number, "evidence": told}) + "\n"


def test_units_of_evidence_modes_are_right_or_wrong_as_a_whole(tmp_path: Path) -> None:
    """Claim 1 has an abstract, claim 2 has none. One run has both right, one mislabels the first and adds to the
    second, one says nothing.
    """
    gold = [
        {"id": 1, "evidence": {"7": [{"label": "SUPPORT", "sentences": [0]}]}, "cited_doc_ids": [7]},
        {"id": 2, "evidence": {}, "cited_doc_ids": [7]},
    ]
    (tmp_path / "gold.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in gold), encoding="utf-8")
    runs = {
        "good": claim(1, {"7": [0]}) + claim(2, {}),
        "bad": claim(1, {"7": [0]}, "CONTRADICT") + claim(2, {"7": [1]}),
        "mute": claim(1, {}) + claim(2, {}),
    }
    for name, text in runs.items():
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    words = ["batch", "scifact", "--jobs=1", "--output=out", "--gold=gold.jsonl", *(f"{name}.jsonl" for name in runs)]
    assert score_in(tmp_path, words).status == 0
    marks = {(row["part"], row["unit"]): [row[name] for name in runs] for row in rows(tmp_path, "answers.tsv")}
    assert marks["abstract_label_only_f1", "1"] == ["1", "0", "0"]
    assert marks["sentence_selection_f1", "1"] == ["1", "1", "0"]  # the sentence is right whatever its label
    assert {marks[part, unit][1] for part, unit in marks if unit == "2"} == {"0"}
    assert {marks[part, unit][2] for part, unit in marks if unit == "2"} == {"1"}  # nothing to find, and nothing said
    found = json.loads((tmp_path / "out/batch.json").read_bytes())
    assert found["queries"] == [
        {"policy": "", "unit": "1", "scores": [1.0, 0.0, 0.0]},
        {"policy": "", "unit": "2", "scores": [None, 0.0, None]},
    ]
    (each,) = found["agreement"]
    assert each["union"] == {"scores": {}}
    selection = [pair for pair in each["pairs"] if pair["part"] == "sentence_selection_f1"]
    assert [(pair["right"], pair["wrong"]) for pair in selection] == [(1 / 2, 0.0), (1 / 2, 0.0), (0.0, 0.0)]
    labels = [pair for pair in each["pairs"] if pair["part"] == "abstract_label_only_f1"]
    assert [(pair["right"], pair["wrong"]) for pair in labels] == [(0.0, 0.0), (1 / 2, 0.0), (0.0, 1 / 2)]
    written = {(row["part"], row["run"], row["other_run"]) for row in rows(tmp_path, "agreement.tsv", what="pair")}
    pairs = (("good", "bad"), ("good", "mute"), ("bad", "mute"))
    assert written == {(part, *pair) for part in dict.fromkeys(part for part, _ in marks) for pair in pairs}
    assert {"part": "abstract_label_only_f1", "systems": 3, "recall": 1.0, "agreed": 0.0} in each["systems"]


def test_a_batch_that_can_tell_nothing_apart_says_so(tmp_path: Path) -> None:
    fill(tmp_path)
    words = ["batch", "claims", "--jobs=1", "--output=out", "--bootstrap=50", "--gold=gold.jsonl"]
    found = score_in(tmp_path, [*words, "predictions.jsonl", "more.jsonl"])
    note = b"no difference could have been significant here"
    assert note in found.stdout
    assert all(
        note in (tmp_path / "out" / name).read_bytes() for name in ("leaderboard.md", "leaderboard.tex", "batch.json")
    )
