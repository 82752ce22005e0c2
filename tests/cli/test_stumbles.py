"""What people type first, and what they are told: the stumbles of a trial with seven kinds of new users."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.coldstart.command import run_in, score_in
from tests.documents import ROOT

FILES: Final = {
    "q.xml": ROOT / "queries" / "ldc-queries.xml",
    "pool.tab": ROOT / "assessments" / "pool-2016.tab",
    "run.tab.txt": ROOT / "submissions" / "tide-kb.tab.txt",
    "sf.tab.txt": ROOT / "submissions" / "gull-sf.tab.txt",
    "gold.jsonl": ROOT / "assessments" / "scifact-gold.jsonl",
    "pred.jsonl": ROOT / "submissions" / "scifact-a.jsonl",
    "hotpot.json": ROOT / "assessments" / "hotpotqa-gold.json",
    "answers.json": ROOT / "submissions" / "hotpotqa-a.json",
}
X: Final = "-expand ISLE26"
COLD: Final = f"{X} q.xml pool.tab run.tab.txt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, source in FILES.items():
        shutil.copy(source, tmp_path / name)
    lines = (tmp_path / "pred.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "list.json").write_text(json.dumps([json.loads(line) for line in lines]), encoding="utf-8")
    (tmp_path / "windows.jsonl").write_text("\r\n".join(lines) + "\r\n", encoding="utf-8", newline="")
    run = (tmp_path / "run.tab.txt").read_bytes()
    (tmp_path / "windows.tab.txt").write_bytes(run.replace(b"\n", b"\r\n"))
    (tmp_path / "empty.tab.txt").write_bytes(b"")
    (tmp_path / "bad.tab.gz").write_bytes(b"no gzip\n")
    (tmp_path / "folder").mkdir()
    return tmp_path


REFUSED: Final = """
2 | valid | did you mean validate-run, validate-queries or validate-assessments?
2 | compare cold-start | no task `cold-start`, and no such file; did you mean coldstart?
2 | analyze scifat gold.jsonl pred.jsonl | no task `scifat`, and no such file; did you mean scifact?
2 | analyze --gold gold.jsonl | --gold is an option of evidence tasks: cs-score analyze scifact --gold ...
1 | score q.xml pool.tab run.tab.txt | of an LDC query: score with -expand ISLE26
1 | scifact gold.jsonl list.json | a JSON list, where an object a line is expected; convert it to list-converted.jsonl:
1 | hotpotqa gold.jsonl pred.jsonl | gold is to be a list like [{
1 | hotpotqa answers.json hotpot.json | the files are swapped: hotpot.json is gold
2 | score --measure f1 $COLD | no measure called f1; did you mean SF-ALL-Micro-F1,
2 | scifact --labels gold.jsonl pred.jsonl | --labels is called --gold here
2 | scifact gold.jsonl | --predictions FILE must be given
2 | scifact gold.jsonl pred.jsonl --explain 1 | --explain is no option but a command: cs-score explain scifact ...
2 | scifact gold.jsonl pred.jsonl windows.jsonl | several systems are compared by cs-score compare scifact gold
2 | compare pred.jsonl windows.jsonl | pred.jsonl is no file of Cold Start; name its task: scifact, claims,
2 | score --pool pool.tab $COLD | --pool: files have no options; write cs-score score -expand BASE QUERIES
2 | score $X --queries q.xml pool.tab run.tab.txt | -queries chooses some of them: write q.xml without it
2 | score --explain 7 $COLD | --explain is no option but a command: cs-score explain ...
255 | validate-run q.xml run.tab.txt --check | Could not open --check: No such file or directory; options come
2 | score --bootstrap 9 --confidence 0.95 $COLD | percent: did you mean 95?
2 | analyze --boostrap 9 $COLD | unknown switch --boostrap; did you mean --bootstrap?
2 | score --resum $COLD | --resum is no option of cs-score score, but --resume of batch
2 | score --resume $COLD | --resume is no option of cs-score score, but of batch
2 | explain --query x $COLD | --query is called --unit here: cs-score explain --unit ID
2 | score --query x $COLD | --query: one unit is explained by cs-score explain --unit ID
2 | score scifact gold.jsonl pred.jsonl --claim 3 | --claim: one unit is explained by cs-score explain scifact --unit ID
2 | compare scifact --gold gold.jsonl --predictions pred.jsonl | --predictions is not needed; write cs-score compare
255 | validate-run q.xml run.tab.txt | cs-score validate-queries -expand -query_base ISLE26 QUERIES.xml NEW.xml
1 | scifact folder pred.jsonl | Could not open folder: Is a directory
1 | score $X q.xml pool.tab bad.tab.gz | bad.tab.gz: cannot be read: Not a gzipped file
2 | score --policy kbb $COLD | no policy called kbb; there are kb, sf; did you mean kb?
1 | explain --unit ISLE26_ENG_4d265 $COLD | there is no query ISLE26_ENG_4d265; did you mean ISLE26_ENG_4d
1 | explain scifact gold.jsonl pred.jsonl --unit 9999 | 9999
1 | score $X q.xml pool.tab empty.tab.txt | empty.tab.txt: empty: neither a run nor assessments
2 | score -expnad ISLE26 $COLD | unknown switch -expnad; did you mean -expand?
2 | batch q.xml pool.tab run.tab.txt | -o PATH must be given, such as: cs-score batch -o scored
2 | compare scifact gold.jsonl pred.jsonl | at least two systems: there is --gold gold.jsonl pred.jsonl
2 | check $COLD | nothing to hold the scores against: give --min MEASURE=NUMBER, or --baseline PATH
2 | analyze -o x.html $COLD | cs-score report does: write cs-score report ... -o x.html
2 | diff -o x.html $COLD | cs-score report --compare ... -o x.html
2 | diff scifact gold.jsonl pred.jsonl --format html | cs-score report --compare scifact ... -o page.html
2 | score -tabs $COLD | -tabs lays out the tables that -o FOLDER writes: add -o FOLDER, or leave out -tabs
2 | score -fields EC:F -o x.json $COLD | -fields lays out the tables that -o FOLDER writes
2 | score --metric SF-AP $COLD | --metric is called --measure here
2 | score -o out.csv $COLD | no format ends in .csv, but .json, .tsv, .md, .tex, .txt; for a folder write
2 | analyze --format xml $COLD | --format takes text, json, tsv, markdown, latex, not xml
255 | -discipline=ASSESSED q.xml | unknown switch -discipline=ASSESSED; write -discipline ASSESSED
"""
"""Status, words, and what the last line on standard error says."""


@pytest.mark.parametrize("case", REFUSED.strip().splitlines())
def test_what_is_refused_says_what_to_type(case: str, folder: Path) -> None:
    status, words, said = case.split(" | ")
    outcome = score_in(folder, words.replace("$COLD", COLD).replace("$X", X).split())
    assert (outcome.status, outcome.files) == (int(status), {})
    assert said in outcome.stderr.decode().splitlines()[-1]
    assert status == "255" or outcome.stdout == b""


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        ("help compare", "Compare systems"),
        ("score --help scifact", "Score SciFact predictions"),
        (f"analyze coldstart {COLD}", "TIDE_KB: LDC-MEAN-AP = 0.6734"),
        (f"compare --bootstrap 9 {COLD} sf.tab.txt", "LDC-MEAN-AP\n"),
        ("scifact gold.jsonl pred.jsonl", "scifact: "),
        ("scifact --json gold.jsonl pred.jsonl", "{\n"),
        (f"score --json {COLD}", '{\n "kind": "score"'),
        (f"analyze {COLD} --json", '{\n"kind": "analysis"'),
        ("scifact gold.jsonl pred.jsonl --format tsv --bootstrap 9", "measure\tscore\tlow\thigh\tconfidence\t"),
        ("analyze scifact gold.jsonl pred.jsonl", "scifact"),
        ("diff scifact --bootstrap 9 gold.jsonl pred.jsonl windows.jsonl", "scifact: "),
        ("scifact gold.jsonl windows.jsonl", "scifact: "),
        (f"score q.xml run.tab.txt pool.tab {X}", "                       TIDE_KB"),
        (f"score {X} run.tab.txt q.xml pool.tab", "                       TIDE_KB"),
        (f"score {X} q.xml windows.tab.txt pool.tab", "                       TIDE_KB"),
        ("scifact gold.jsonl pred.jsonl --format latex", "% \\usepackage{booktabs}\n\\begin{tabular}{lr}\n"),
        (f"score {COLD} sf.tab.txt --format latex", "% \\usepackage{booktabs}\n% *|kb|"),
        (f"score {COLD} sf.tab.txt", "                       TIDE_KB  GULL_SF"),
        (f"score --measure ldc-mean-ap --format text {COLD}", "0.6734"),
        (f"score --measure SF-AP --format text --policy right=CORRECT:INEXACT,wrong=INCORRECT {COLD}", "0.5725"),
    ],
)
def test_what_means_something_is_done(words: str, begins: str, folder: Path) -> None:
    outcome = score_in(folder, words.split())
    assert (outcome.status, outcome.files) == (0, {})
    assert outcome.stdout.decode().startswith(begins)


@pytest.mark.parametrize(
    "verb", ["score", "analyze", "explain", "check --min SF-AP=0", "diff --policy-b sf --bootstrap 9"]
)
def test_the_policy_that_nobody_named_is_said_where_it_matters(verb: str, folder: Path) -> None:
    def said(*more: str) -> bool:
        outcome = score_in(folder, [*verb.split(), *more, *COLD.split()])
        return b"5 duplicates ignored (policy kb); --policy sf counts them as wrong" in outcome.stderr

    assert said() is not verb.startswith("diff")
    assert not said("--policy", "kb")
    assert not said("-ignore", "UNASSESSED:DUPLICATE")
    assert not said("--quiet")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (f"score {COLD}", "s.json"),
        (f"score {COLD}", "s.md"),
        (f"analyze {COLD}", "a.json"),
        (f"analyze {COLD}", "a.txt"),
        (f"compare --bootstrap 9 {COLD} sf.tab.txt", "c.tex"),
        ("scifact gold.jsonl pred.jsonl", "e.json"),
        ("analyze scifact gold.jsonl pred.jsonl", "tables"),
        (f"check --min SF-AP=0.1 {COLD}", "c.json"),
    ],
)
def test_the_result_goes_where_it_is_wanted_in_the_format_of_the_ending(words: str, name: str, folder: Path) -> None:
    outcome = score_in(folder, [*words.split(), "-o", name])
    assert (outcome.status, outcome.stdout) == (0, b"")
    assert set(outcome.files) == {name} if "." in name else all(file.startswith(f"{name}/") for file in outcome.files)
    if name.endswith(".json"):
        json.loads(outcome.files[name])
    if name.endswith((".txt", ".md")):
        assert score_in(folder, [*words.split(), "--force", "-o", name]).status == 0
        refused = score_in(folder, [*words.split(), "-o", name])
        assert refused.status == 2
        assert f"{name} exists; name another -o, or replace it with --force" in refused.stderr.decode()


@pytest.mark.parametrize(
    "verb", ["score", "analyze", "explain", "diff", "compare", "check --min *=0", "scifact", "analyze scifact",
             "explain scifact", "check scifact --min *=0"],
)  # fmt: skip
def test_a_failure_is_said_in_the_format_asked_for(verb: str, folder: Path) -> None:
    files = "gold.jsonl nowhere" if "scifact" in verb else f"{COLD} sf.tab.txt nowhere"
    for more in ([], ["--nope"]):
        outcome = run_in(folder, [*verb.split(), "--format", "json", *more, *files.split()])
        assert outcome.status == 1 + bool(more)
        assert json.loads(outcome.stdout)["error"] in outcome.stderr.decode()
        assert f"{(more or ['nowhere'])[0]}" in outcome.stderr.decode()


def test_a_batch_prints_its_leaderboard_as_asked_and_finds_its_pool_anywhere(folder: Path) -> None:
    words = ["batch", "--jobs", "1", *X.split(), "run.tab.txt", "q.xml", "pool.tab", "sf.tab.txt", "-o", "out"]
    board = json.loads(score_in(folder, [*words, "--format", "json"]).stdout)
    assert [row["run"] for row in board["rows"]] == ["run", "sf"]
    assert json.loads((folder / "out" / "leaderboard.json").read_bytes())["rows"] == board["rows"]
    table = score_in(folder, [*words, "--format", "tsv"]).stdout
    assert table == (folder / "out" / "leaderboard.tsv").read_bytes()


def test_compare_lists_as_many_as_are_wanted(folder: Path) -> None:
    words = ["compare", "--bootstrap", "9", *COLD.split(), "sf.tab.txt"]
    assert b"LDC-MEAN-AP (1 of 2):\n" in score_in(folder, [*words, "--top", "1"]).stdout
    assert b"(1 of 2)" not in score_in(folder, words).stdout


def test_knowledge_bases_are_compared_as_the_runs_that_they_give(folder: Path) -> None:
    shutil.copy(ROOT / "submissions" / "tide.tac", folder / "tide.tac")
    outcome = score_in(
        folder, ["compare", "--quiet", "--format", "json", "--bootstrap", "9", *COLD.split(), "tide.tac"]
    )
    run, base = (system for system in json.loads(outcome.stdout)["measures"][0]["systems"])
    assert run["score"] == base["score"]


@pytest.mark.parametrize("format_", ["text", "json", "tsv"])
def test_a_report_in_another_format_is_the_analysis(format_: str, folder: Path) -> None:
    report, analysis = (score_in(folder, [verb, "--format", format_, *COLD.split()]) for verb in ("report", "analyze"))
    assert (report.status, report.stdout) == (0, analysis.stdout)
    assert score_in(folder, ["report", *COLD.split()]).status == 2
