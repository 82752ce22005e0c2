"""The four subcommands as users meet them: options, streams, tables, statuses."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cs_score.base.version import VERSION
from tests.evidence.command import Outcome, cs_score, cs_score_process
from tests.evidence.recorded import COMMITTED, FAMILIES
from tests.evidence.test_claims import GOLD as CLAIMS_GOLD
from tests.evidence.test_claims import PREDICTIONS as CLAIMS_PREDICTIONS
from tests.evidence.test_scifact import GOLD, PREDICTIONS

EXAMPLES: Mapping[str, Path] = {
    "scifact": COMMITTED / "scifact" / "v04-spec-example",
    "claims": COMMITTED / "claims" / "v02-spec-example",
    "r4c": COMMITTED / "r4c" / "v02-spec-example",
    "hotpotqa": COMMITTED / "hotpotqa" / "v02-spec-example",
}

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
    for name, lines in (("gold.jsonl", GOLD), ("predictions.jsonl", PREDICTIONS)):
        Path(name).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return tmp_path


SCIFACT = ("scifact", "--gold", "gold.jsonl", "--predictions", "predictions.jsonl")


def test_table(scifact_files: Path) -> None:
    outcome = cs_score(*SCIFACT)
    read = [
        hashlib.sha256(path.read_bytes()).hexdigest()[:8] for path in map(Path, ("gold.jsonl", "predictions.jsonl"))
    ]
    assert outcome == Outcome(
        0,
        "scifact: 3 claims\n"
        "gold         gold.jsonl         3 claims, 3 abstracts, 8 evidence sentences\n"
        "predictions  predictions.jsonl  3 claims, 4 abstracts, 10 evidence sentences\n"
        "\n"
        "                       precision  recall      f1  correct  retrieved  relevant\n"
        "abstract_label_only       0.5000  0.6667  0.5714        2          4         3\n"
        "abstract_rationalized     0.5000  0.6667  0.5714        2          4         3\n"
        "sentence_selection        0.6000  0.7500  0.6667        6         10         8\n"
        "sentence_label            0.5000  0.6250  0.5556        5         10         8\n"
        "\n"
        f"signature  abstract_label_only_f1|scifact|gold:{read[0]}|run:{read[1]}|cs-score:{VERSION}\n",
        "",
    )


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (
            "claims",
            "                precision  recall      f1  tp  fp  fn\n"
            "abstract           0.7500  0.6000  0.6667   3   1   2\n"
            "sentence           0.3000  0.6000  0.4000   3   7   2\n"
            "label_accuracy     0.3333\n",
        ),
        (
            "r4c",
            "    precision  recall      f1\n"
            "e      0.9583  0.9583  0.9583\n"
            "r      0.8571  0.8571  0.8571\n"
            "er     0.9246  0.9246  0.9246\n",
        ),
        (
            "hotpotqa",
            "            em      f1    prec  recall\n"
            "answer  0.2500  0.4500  0.4167  0.5000\n"
            "sp      0.5000  0.7000  0.6667  0.7500\n"
            "joint   0.0000  0.1538  0.1111  0.2500\n",
        ),
    ],
)
def test_tables_of_the_other_modes(family: str, expected: str) -> None:
    outcome = cs_score(*words(family))
    assert outcome.status == 0
    assert f"\n\n{expected}\nsignature  " in outcome.out


@pytest.mark.parametrize("family", FAMILIES)
def test_json_carries_a_signature(family: str) -> None:
    scores = json.loads(cs_score(*words(family, "--json")).out)
    signature = scores.pop("signature")
    assert (signature["tool"], signature["mode"]) == ("cs-score", family)
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files(family)]
    assert [source["sha256"] for source in signature["inputs"]] == digests
    assert [source["name"] for source in signature["inputs"]] == [str(path) for path in files(family)]


@pytest.mark.parametrize("family", FAMILIES)
def test_per_item_table_adds_up_to_the_scores(family: str, tmp_path: Path) -> None:
    path = tmp_path / "units.tsv"
    outcome = cs_score(*words(family, "--json", "--per-item", str(path)))
    header, *rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    assert header[0] == "id"
    assert UNITS[family] in [row[0] for row in rows]
    sums = {name: sum(float(row[column]) for row in rows) for column, name in enumerate(header) if column}
    if family == "scifact":
        assert outcome.scores["sentence_label_recall"] == sums["label_correct"] / sums["relevant_sentences"]
    elif family == "claims":
        assert outcome.scores["label_accuracy"] == sums["label_correct"] / sums["labelled"]
    elif family == "r4c":
        assert outcome.scores["er"]["f1"] == sums["er_f1"] / sums["instances"]  # type: ignore[index]
    else:
        assert outcome.scores["joint_f1"] == sums["joint_f1"] / sums["questions"]


def test_per_item_text(scifact_files: Path) -> None:
    assert cs_score(*SCIFACT, "--per-item", "units.tsv").status == 0
    assert Path("units.tsv").read_text() == (
        "id\trelevant_abstracts\tretrieved_abstracts\trelevant_sentences\tretrieved_sentences\t"
        "label_only_correct\trationalized_correct\tselection_correct\tlabel_correct\n"
        "7\t2\t2\t4\t4\t1\t1\t2\t1\n"
        "8\t0\t1\t0\t1\t0\t0\t0\t0\n"
        "9\t1\t1\t4\t5\t1\t1\t4\t4\n"
    )


def test_per_item_escapes_ids(tmp_path: Path) -> None:
    claim = json.dumps({"id": "a\tb\nc\ud800" + "x" * 5000, "evidence": {}})
    (tmp_path / "claims.jsonl").write_text(claim)
    source = str(tmp_path / "claims.jsonl")
    cs_score("scifact", "--gold", source, "--predictions", source, "--per-item", tmp_path / "units.tsv")
    row = (tmp_path / "units.tsv").read_text().splitlines()[1].split("\t")
    assert row == ["a\\tb\\nc\\ud800" + "x" * 5000, *["0"] * 8]


def test_per_item_that_cannot_be_written(scifact_files: Path) -> None:
    assert cs_score(*SCIFACT, "--per-item", "no/such/units.tsv").complaint == (
        "Could not open no/such/units.tsv: No such file or directory; choose another --per-item"
    )


def test_bad_input_leaves_no_table(scifact_files: Path) -> None:
    Path("predictions.jsonl").write_text("{")
    assert cs_score(*SCIFACT, "--per-item", "units.tsv").status == 1
    assert sorted(os.listdir()) == ["gold.jsonl", "predictions.jsonl"]


@pytest.mark.parametrize("family", FAMILIES)
def test_explain(family: str) -> None:
    outcome = cs_score(*words(family, "--explain", UNITS[family], "--explain", UNITS[family]))
    assert outcome.status == 0
    first, second = outcome.out.rstrip("\n")[: len(outcome.out) // 2], outcome.out[-len(outcome.out) // 2 :]
    assert first.splitlines()[0].split() == [first.split()[0], UNITS[family]]
    assert first.strip() == second.strip()


def test_explain_unknown_unit(scifact_files: Path) -> None:
    assert cs_score(*SCIFACT, "--explain", "77").complaint == "gold.jsonl: no claim 77 was scored; did you mean 7?"


def test_text_from_inputs_cannot_drive_a_terminal(tmp_path: Path) -> None:
    bad = "\x1b[31m\u202e\ud800\r\nclaim 2"
    claim = {"id": 1, "evidence": {bad: [{"sentences": [bad], "label": bad}]}}
    prediction = {"id": 1, "evidence": {bad: {"sentences": [bad], "label": "SUPPORT"}}}
    for name, line in (("gold", claim), ("predictions", prediction)):
        (tmp_path / name).write_text(json.dumps(line))
    command = ("scifact", "--gold", tmp_path / "gold", "--predictions", tmp_path / "predictions")
    outcome = cs_score(*command, "--explain", "1")
    assert outcome.status == 0
    assert "abstract \\x1b[31m\\u202e\\ud800\\r\\nclaim 2: relevant" in outcome.out.splitlines()
    prediction["evidence"] = {bad: {"sentences": [], "label": bad}}
    (tmp_path / "predictions").write_text(json.dumps(prediction))
    assert "label '\\x1b[31m\\u202e\\ud800\\r\\nclaim 2' is not one of" in cs_score(*command).complaint


def test_long_text_is_cut_in_messages(scifact_files: Path) -> None:
    Path("predictions.jsonl").write_text(json.dumps({"id": "x" * 1_000_000, "evidence": {}}))
    assert len(cs_score(*SCIFACT).complaint) < 1000


@pytest.mark.parametrize("role", ["--gold", "--predictions"])
def test_standard_input(scifact_files: Path, role: str) -> None:
    arguments = [*SCIFACT, "--json"]
    position = arguments.index(role) + 1
    data = Path(arguments[position]).read_bytes()
    arguments[position] = "-"
    outcome = cs_score_process(*arguments, stdin=data)
    assert outcome.scores == cs_score(*SCIFACT, "--json").scores


def test_compressed_files(scifact_files: Path) -> None:
    for name in ("gold.jsonl", "predictions.jsonl"):
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes()))
    packed = cs_score("scifact", "--gold", "gold.jsonl.gz", "--predictions", "predictions.jsonl.gz", "--json")
    assert packed.scores == cs_score(*SCIFACT, "--json").scores


def test_any_order(scifact_files: Path) -> None:
    lines = Path("predictions.jsonl").read_text().splitlines(keepends=True)
    Path("predictions.jsonl").write_text("".join(reversed(lines)))
    assert "--any-order matches them by id" in cs_score(*SCIFACT).complaint
    assert cs_score(*SCIFACT, "--any-order", "--json").scores["sentence_label_f1"] == 0.5555555555555556


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--gold", "x"),
        ("--predictions", "x"),
        ("--gold", "-", "--predictions", "-"),
        ("--gold", "x", "--predictions", "y", "--json", "--explain", "1"),
        ("--gold", "x", "--predictions", "y", "--no-such-option"),
        ("--gold", "x", "--predictions", "y", "z"),
    ],
)
def test_wrong_usage(family: str, arguments: tuple[str, ...]) -> None:
    outcome = cs_score(family, *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("cs-score: ")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("references", ["0", "4", "-1", "two", "2.0"])
def test_wrong_number_of_references(references: str) -> None:
    outcome = cs_score(*words("r4c", "--references", references))
    assert (outcome.status, outcome.out) == (2, "")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("role", ["--gold", "--predictions"])
@pytest.mark.parametrize(
    ("name", "reason"),
    [("no-such-file", "No such file or directory"), (".", "Is a directory"), ("a\0b", "embedded null byte")],
)
def test_files_that_cannot_be_opened(family: str, role: str, name: str, reason: str) -> None:
    arguments = words(family, "--json")
    arguments[arguments.index(role) + 1] = name
    shown = name.replace("\0", "\\x00")
    assert cs_score(*arguments).complaint == f"Could not open {shown}: {reason}"


@pytest.mark.parametrize("family", FAMILIES)
def test_help(family: str) -> None:
    outcome = cs_score(family, "--help")
    assert outcome.status == 0
    for option in ("--gold", "--predictions", "--json", "--per-item", "--explain"):
        assert option in outcome.out


def test_each_shape_of_predictions_names_the_other_command(tmp_path: Path) -> None:
    for name, claims in {"s": PREDICTIONS, "c": CLAIMS_PREDICTIONS, "gs": GOLD, "gc": CLAIMS_GOLD[:2]}.items():
        (tmp_path / name).write_text("\n".join(map(json.dumps, claims)))
    given_claims = cs_score("scifact", "--gold", tmp_path / "gc", "--predictions", tmp_path / "c")
    assert given_claims.complaint.endswith("; files in this shape are scored with cs-score claims")
    (tmp_path / "s").write_text(json.dumps({"id": 1, "evidence": {"10": {"sentences": [1], "label": "SUPPORT"}}}))
    given_leaderboard = cs_score("claims", "--gold", tmp_path / "gc", "--predictions", tmp_path / "s")
    assert given_leaderboard.complaint.endswith("; files in this shape are scored with cs-score scifact")


def test_notices_go_to_standard_error() -> None:
    outcome = cs_score(*words("hotpotqa", "--json"))
    assert outcome.err.splitlines() == [
        f"cs-score: {files('hotpotqa')[1]}: no answer for 1 of 4 questions: q4",
        f"cs-score: {files('hotpotqa')[1]}: no supporting facts for 1 of 4 questions: q3",
    ]


def test_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance.Levenshtein", None)
    assert cs_score(*words("r4c")).complaint == "this needs the package rapidfuzz: pip install 'cs-score[r4c]'"


def test_progress_bar_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cs_score(*words("r4c")).err == ""
    monkeypatch.setattr("cs_score.cli.evidence._on_terminal", lambda: True)
    outcome = cs_score(*words("r4c", "--json"))
    assert "aligning" in outcome.err
    assert outcome.scores["e"]["prec"] == 0.9583333333333334  # type: ignore[index]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk_on_standard_output(scifact_files: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cs_score", *SCIFACT], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert done.stderr == b"cs-score: Could not write standard output: No space left on device\n"


def test_closed_pipe(scifact_files: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "cs_score", *SCIFACT], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert done.returncode == 1
    assert done.stderr == b"cs-score: standard output was closed before everything was written\n"


def test_closed_standard_output(scifact_files: Path) -> None:
    command = " ".join([sys.executable, "-m", "cs_score", *SCIFACT, ">&-"])
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"cs-score: standard output is closed\n"


def test_terminal_that_knows_ascii_only(tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(json.dumps({"id": "é", "evidence": {}}))
    outcome = cs_score_process(
        "scifact", "--gold", path, "--predictions", path, "--explain", "é", PYTHONIOENCODING="ascii", PYTHONUTF8="1"
    )
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("claim \\xe9\n")


@pytest.mark.parametrize("family", ["scifact", "claims", "hotpotqa"])
def test_ordinary_scoring_imports_no_numpy(family: str) -> None:
    script = (
        "import sys; from cs_score.cli.main import main; status = main(sys.argv[1:]);"
        "heavy = {'numpy', 'scipy', 'rapidfuzz', 'lxml'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *words(family, "--explain", UNITS[family])], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
