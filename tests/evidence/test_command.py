"""The tasks of evidence as users meet them: options, streams, tables, statuses, refusals, hostile input."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_every_command import on_terminal
from tests.documents import ROOT
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


def test_per_item_escapes_ids(tmp_path: Path) -> None:
    claim = json.dumps({"id": "a\tb\nc\ud800" + "x" * 5000, "evidence": {}})
    (tmp_path / "claims.jsonl").write_text(claim)
    source = str(tmp_path / "claims.jsonl")
    cs_score("scifact", "--gold", source, "--predictions", source, "--per-item", tmp_path / "units.tsv")
    row = (tmp_path / "units.tsv").read_text().splitlines()[1].split("\t")
    assert row == ["a\\tb\\nc\\ud800" + "x" * 5000, *["0"] * 8]


def test_tables_that_cannot_be_written_and_bad_input_leave_nothing(folder: Path) -> None:
    assert cs_score(*GIVEN, "--per-item", "no/such/units.tsv").complaint == (
        "Could not open no/such/units.tsv: No such file or directory; choose another --per-item"
    )
    Path("a.jsonl").write_text("{")
    assert cs_score(*GIVEN, "--per-item", "units.tsv").status == 1
    assert sorted(os.listdir()) == ["a.jsonl", "b.jsonl", "gold.jsonl"]


@pytest.mark.parametrize("role", ["--gold", "--predictions"])
def test_standard_input_and_compressed_files(folder: Path, role: str) -> None:
    arguments = [*GIVEN, "--json"]
    position = arguments.index(role) + 1
    data, expected = Path(arguments[position]).read_bytes(), cs_score(*arguments).scores
    arguments[position] = "-"
    assert cs_score_process(*arguments, stdin=data).scores == expected
    Path("packed.gz").write_bytes(gzip.compress(data))
    arguments[position] = "packed.gz"
    assert cs_score(*arguments).scores == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*GIVEN[:3],), "--predictions FILE must be given"),
        ((*GIVEN, "--explain", "1"), "--explain is no option but a command: cs-score explain scifact"),
        ((*GIVEN, "z"), "too many words: z; several systems are compared by cs-score compare"),
        (("analyze", *GIVEN, "--measure", "abstract_label_only"), "; did you mean abstract_label_only_"),
        (("analyze", "scifact", "--gold", "-", "--predictions", "-"), "only one of --gold and --predictions can be st"),
        (("diff", *TWO[:-1]), "name two files of predictions, A and B, not 1"),
        (("diff", "scifact", "-", *TWO[3:]), "standard input cannot be read once for each of the two"),
        (("diff", *TWO, "--measure", "em"), "no measure called em; there are "),
        (
            (*GIVEN, "--predictions", "b.jsonl"),
            "--predictions is given 2 times (a.jsonl, b.jsonl) and takes one value; several systems are compared by "
            "cs-score compare scifact --gold gold.jsonl a.jsonl b.jsonl and listed by cs-score batch scifact",
        ),
        ((*GIVEN, "--gold", "b.jsonl"), "--gold is given 2 times (gold.jsonl, b.jsonl) and takes one value; there is"),
        (("score", "--policy", "kb", "--policy", "sf", "x"), "--policy is given 2 times (kb, sf) and takes one value"),
    ],
)
def test_wrong_usage(words: Sequence[str], message: str, folder: Path) -> None:
    outcome = cs_score(*words)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert message in outcome.err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "scifact --labels_file gold.jsonl --preds_file a.jsonl --metrics_output_file m.json --verbose",
            "scifact --gold gold.jsonl --predictions a.jsonl --output m.json --format json",
        ),
        ("scifact --verbose --gold gold.jsonl a.jsonl", "scifact --gold gold.jsonl a.jsonl"),
        ("claims -v gold.jsonl a.jsonl", "claims gold.jsonl a.jsonl"),
        ("r4c -ig -nbref 2 --label r.json p.json", "r4c --ignore-missing --references 2 --gold r.json p.json"),
    ],
)
def test_options_of_official_evaluators_get_the_line_to_type(words: str, line: str, folder: Path) -> None:
    outcome = cs_score(*words.split())
    assert (outcome.status, outcome.out) == (2, "")
    assert f"; write cs-score {line}; see cs-score " in outcome.err
    if "scifact" in line:
        assert cs_score(*line.split()).status == 0


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


def test_interval_and_p_are_those_of_compare(folder: Path) -> None:
    found = json.loads(cs_score("diff", *TWO, "--format", "json", "--seed", "5").out)
    compared = json.loads(
        cs_score("compare", *TWO, "--format=json", "--seed", "5", "--measure", "sentence_label_f1").out
    )
    (pair,) = compared["measures"][0]["pairs"]
    assert found["interval"]["point"] == pair["difference"]
    assert [found["interval"][side] for side in ("low", "high")] == [pair["low"], pair["high"]]
    assert found["p"] == pair["p"]
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
    assert "\x1b[31m-0.5714\x1b[0m" in on_terminal(
        [*paths, "--measure", "abstract_label_only_f1", "--quiet", "--bootstrap", "9"]
    )
    plain = on_terminal(
        [*paths, "--measure", "abstract_label_only_f1", "--quiet", "--bootstrap", "9", "--all"], 80, NO_COLOR="1"
    )
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


@pytest.mark.parametrize("sign", list("=+-@"))
def test_an_id_is_no_formula_in_any_table_of_units(sign: str, tmp_path: Path) -> None:
    name = f"{sign}1+1"
    gold = {name: {"answer": "a", "supporting_facts": [["t", 0]]}}
    gold_file, run = tmp_path / "gold.json", tmp_path / "run.json"
    gold_file.write_text(json.dumps([{"_id": name, "answer": "a", "supporting_facts": [["t", 0]]}]))
    run.write_text(json.dumps({"answer": {name: "a"}, "sp": {name: gold[name]["supporting_facts"]}}))
    given = ("hotpotqa", "--gold", gold_file, "--predictions", run)
    assert cs_score(*given, "--per-item", tmp_path / "units.tsv").status == 0
    assert cs_score("batch", "hotpotqa", "-o", tmp_path / "o", "--gold", gold_file, run).status == 0
    for file in (tmp_path / "units.tsv", tmp_path / "o/run/out.tsv"):
        _, line = file.read_text().splitlines()
        assert line.startswith(f"'{name}\t")
