"""What the programs offer beyond the reference, and how they behave as commands."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cs_score.base.errors import UsageError
from cs_score.base.records import replace
from cs_score.base.sources import Input, Source, open_source
from cs_score.preparation.pooling import Depth
from tests.coldstart.lines import SCHOOLS
from tests.verbs.preparation.invented import QUERY, AskedQuery, Inputs, Judged, RunLine, column, report_lines


def test_all_fatal_conditions_are_listed_before_the_one_that_ends_the_program(inputs: Inputs) -> None:
    inputs.write("docs", "ENG_A\t9\nENG_1\t99\n")
    inputs.lines(
        RunLine(docid="ENG_7"), RunLine(query="x-y"), RunLine("Cy").child(), RunLine("Di", confidence="1.5", node=":E2")
    )
    outcome = inputs.call(
        "validate-run", "-docs", "docs", "-error_file", "log", "-output_file", "out", "q.xml", "run.tab"
    )
    assert outcome.status == 255
    assert list(outcome.files) == ["log"]
    report = outcome.files["log"].decode()
    assert "Illegal confidence value: 1.5 (run.tab line 4)" in report
    said = outcome.stderr.decode().splitlines()
    last = "cs-score validate-run: FATAL_ERROR: DOCID ENG_7 is not a valid DOCID for this task (run.tab line 1)"
    assert said == [last]
    lines = [line for line in report.splitlines() if line]
    assert lines[-1] == last
    assert "unexpected argument" in lines[-4] or "unexpected argument" in lines[-3]
    assert any(line.startswith("run.tab: line 3: Query ") for line in lines)


def test_a_missing_source_document_comes_before_what_is_fatal_in_later_lines(inputs: Inputs) -> None:
    inputs.write("docs", "ENG_A\t9\nENG_1\t99\tnowhere\n")
    inputs.lines(RunLine(), RunLine(query="x-y"))
    outcome = inputs.call("validate-run", "-docs", "docs", "q.xml", "run.tab")
    assert "Source document expected at nowhere: No such file or directory" in report_lines(outcome)[-1]
    inputs.lines(RunLine(docid="ENG_A", span="1-2", relation="ENG_A:1-2"), RunLine(query="x-y"), RunLine())
    assert '"x-y"' in report_lines(inputs.call("validate-run", "-docs", "docs", "q.xml", "run.tab"))[-1]


def test_each_source_document_is_opened_once(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def counting(given: Input, *, dash_is_stdin: bool = True) -> Source:
        opened.append(str(given))
        return open_source(given, dash_is_stdin=dash_is_stdin)

    monkeypatch.setattr("cs_score.preparation.source_documents.open_source", counting)
    inputs.write("a", "...Bo" * 9)
    inputs.write("b", "...Bo" * 9)
    inputs.write("docs", "ENG_A\t9\nENG_1\t99\ta\nENG_2\t99\tb\n")
    lines = [RunLine(docid=f"ENG_{n % 2 + 1}", span=f"{5 * n + 3}-{5 * n + 4}", node=f":E{n}") for n in range(8)]
    inputs.lines(*lines)
    assert report_lines(inputs.validate("-docs", "docs")) == ["No warnings encountered"]
    assert sorted(opened) == ["a", "b", "docs"]


def test_check_writes_no_run(inputs: Inputs) -> None:
    inputs.lines(RunLine(), RunLine())
    outcome = inputs.call("validate-run", "--check", "-output_file", "out", "q.xml", "run.tab")
    assert (outcome.status, outcome.files, outcome.stdout) == (0, {}, b"")
    assert report_lines(outcome)[-1] == "1 warning encountered"


def test_diff_shows_changes_in_the_order_of_the_run(inputs: Inputs) -> None:
    lines = [RunLine(node=f":E{n}", confidence=f"0.{n}1", docid=f"ENG_{n}").text() for n in range(1, 9)]
    last = RunLine(confidence="1", node=":E9")
    inputs.write("run.tab", "\n".join([*lines[:4], "# comment", *lines[4:], last.text()]))
    outcome = inputs.call("validate-run", "--diff", "q.xml", "run.tab")
    assert outcome.stdout.decode().splitlines() == [
        "--- run.tab",
        "+++ run.tab (validated)",
        "@@ -2,9 +2,8 @@",
        *(f" {line}" for line in lines[1:4]),
        "-# comment",
        *(f" {line}" for line in lines[4:8]),
        f"-{last.text()}",
        "\\ No newline at end of file",
        f"+{replace(last, confidence='1.0').text()}",
    ]


def _process(inputs: Inputs, *words: str, **streams: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-m", "cs_score", "validate-run", "-output_file", "stdout", *words]
    return subprocess.run(command, cwd=inputs.folder, env=environment, check=False, stderr=subprocess.PIPE, **streams)


def test_a_run_on_standard_input_and_a_compressed_one(inputs: Inputs) -> None:
    data = f"{RunLine().text()}\n".encode()
    (inputs.folder / "run.gz").write_bytes(gzip.compress(data))
    assert inputs.validate(run="run.gz").stdout == data
    done = _process(inputs, "q.xml", "-", input=data, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, data)


def test_a_call_that_fails_leaves_the_file_that_it_would_have_replaced(inputs: Inputs) -> None:
    inputs.write("out", "old")
    inputs.write("out.eng", "old")
    inputs.lines(RunLine(confidence="7"))
    assert inputs.call("validate-run", "-output_file", "out", "q.xml", "run.tab").status == 255
    assert inputs.call("generate-queries", "q.xml", "out", "nope").status == 255
    assert (inputs.folder / "out").read_text(encoding="utf-8") == "old"
    # Files of an earlier call with the same prefix do not survive: they would be taken for results.
    assert inputs.call("validate-assessments", "-output_file", "out", "q.xml", "nope").status == 255
    assert not (inputs.folder / "out.eng").exists()


def test_a_reader_that_goes_away_costs_one_line(inputs: Inputs) -> None:
    inputs.lines(*(RunLine(node=f":E{n}") for n in range(3000)))
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = _process(inputs, "q.xml", "run.tab", stdout=writing)
    finally:
        os.close(writing)
    assert done.returncode == 255
    said = done.stderr.decode().splitlines()
    assert said[-1] == "cs-score validate-run: standard output was closed before everything was written"


def test_validate_names_what_it_left_out_signs_files_as_stored_and_scores_no_run_with_errors(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="pool")
    inputs.lines(RunLine(), RunLine("Cy"))
    words = ("--validate", "--json", "result.json", "-output_file", "out", "q.xml", "pool", "run.tab")
    outcome = inputs.call(*words)
    assert outcome.status == 0
    assert "cs-score: run.tab: validated; 1 of 2 lines are left out" in outcome.stderr.decode()
    origin = json.loads((inputs.folder / "result.json").read_text())["origin"]
    assert origin["options"]["validate"] is True
    for one in origin["inputs"]:
        assert one["sha256"] == hashlib.sha256((inputs.folder / one["name"]).read_bytes()).hexdigest()
    assert len(origin["inputs"]) == 3
    inputs.lines(RunLine(), RunLine("Cy", confidence="0"))
    outcome = inputs.call("--validate", "-output_file", "with-errors", "q.xml", "pool", "run.tab")
    assert (outcome.status, outcome.files) == (255, {})
    assert "run.tab: 1 error encountered; a run with errors cannot be validated" in outcome.stderr.decode()
    without = inputs.call("-output_file", "with-errors", "q.xml", "pool", "run.tab")
    assert without.files  # it is scored


def test_the_advice_for_a_run_that_was_not_validated_works(inputs: Inputs) -> None:
    inputs.lines(Judged(), Judged(value="Cy", id="a2"), name="pool")
    inputs.lines(RunLine(), RunLine("Cy"), name="my run.tab")
    scoring = ("-justifications", "M:4", "-output_file", "out", "q.xml", "pool")
    outcome = inputs.call(*scoring, "my run.tab")
    assert b"AP is greater than 1.0" in outcome.stderr
    advice = re.search("cs-score (validate-run .*?) \\(QUERIES.xml", outcome.stderr.decode())
    assert advice is not None
    words = shlex.split(advice[1].replace("QUERIES.xml", "q.xml"))
    assert words[1:3] == ["-justifications", "1:4"]
    assert inputs.call(*words).status == 0
    assert inputs.call(*scoring, "my run.tab.valid").status == 0


@pytest.mark.parametrize(
    ("text", "depth"),
    [("A:2", Depth(False, 2)), ("B:1x", Depth(True, 1)), ("B:07", Depth(True, 7)), ("0", None), ("", None)],
)
def test_depth(text: str, depth: Depth | None) -> None:
    assert Depth.parse(text) == depth
    for no_depth in ("a:1", "C:1", "A1", "A:", "A:x", " A:1", "1", "00"):
        with pytest.raises(UsageError, match="-depth should be of the form"):
            Depth.parse(no_depth)


@pytest.mark.rule("depth-over-all-queries")
def test_pooling_takes_squares_of_the_second_hop_with_their_parents(inputs: Inputs) -> None:
    """D = 1 takes the best second-hop node even under a parent that is not among the best. Of equals B takes the first
    line, A the last."""
    strong, weak = RunLine("Al", confidence="0.9", node=":E1"), RunLine("Bo", "ENG_2", "0.3", ":E2")
    child = weak.child(confidence="0.8")
    inputs.lines(strong, weak, child, strong.child(confidence="0.1"))
    assert column(inputs.validate("-depth", "B:1"), 4) == ["Al", "Bo", "Yale"]
    kept = inputs.validate("-depth", "A:1")
    assert [line[:2] for line in zip(column(kept, 4), column(kept, 7))] == [("Al", "0.9"), ("Yale", "0.1")]
    inputs.lines(RunLine("Al"), RunLine("Bo", node=":E2"), RunLine("Cy", node=":E3"))
    assert column(inputs.validate("-depth", "B:2"), 4) == ["Al", "Bo"]
    assert column(inputs.validate("-depth", "A:2"), 4) == ["Bo", "Cy"]


def test_a_parent_that_has_lost_its_lines_takes_a_place_that_is_left_over(inputs: Inputs) -> None:
    """The child lies below E1, the first to give the answer; the single-valued slot keeps E2, which gives it too."""
    inputs.queries(AskedQuery(slots=("per:city_of_birth", "gpe:headquarters_in_city")))
    first = RunLine("Rome", slot="per:city_of_birth", confidence="0.5")
    winner = replace(first, relation="ENG_1:2-20", node=":E2", confidence="0.9")
    inputs.lines(first, winner, first.child(slot="gpe:headquarters_in_city"))
    assert column(inputs.validate("-depth", "B:1"), 4) == ["Rome", "Yale"]
    assert column(inputs.validate("-depth", "A:1"), 4) == ["Rome"]
    assert column(inputs.validate("-depth", "A:2"), 4) == ["Rome", "Yale"]


@pytest.mark.parametrize("program", ["validate-run", "validate-queries"])
def test_quietly_a_report_with_errors_still_ends_in_a_word(program: str, inputs: Inputs) -> None:
    inputs.queries(AskedQuery(begin="x"))
    inputs.lines(RunLine(confidence="2.5"))
    words = ["q.xml", "run.tab"] if program == "validate-run" else ["q.xml", "new.xml"]
    outcome = inputs.call(program, "--quiet", *words)
    assert outcome.status == 255
    assert re.fullmatch(rf"cs-score {program}: [12] errors? encountered\n", outcome.stderr.decode())
    inputs.queries()
    inputs.lines(RunLine())
    assert inputs.validate("--quiet").stderr == b""


def test_all_problems_of_assessments_are_reported_at_once(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path)
    inputs.queries()
    wrong = Judged(code="W", value_class="0", class_mention="0")
    bad: dict[str, str | Judged] = {
        "a sound line": Judged(),
        "correct without class": Judged(value="B", value_class="0"),
        "correct without class, too": Judged(value="C", value_class="0"),
        "class without correct": Judged(value="D", code="W"),
        "unknown code": Judged(value="E").text().replace("\tNAM\tC\t", "\tNAM\tZ\t"),
        "another query": replace(wrong, query="CSX_ENG_0123456789"),
        "class without parent": Judged(value="Y", slot=SCHOOLS, query=RunLine().follow_on, value_class=f"{QUERY}:7:1"),
        "another slot": replace(wrong, value="F", slot=SCHOOLS),
        "too few columns": "a9\tx",
    }
    inputs.lines(*bad.values(), name="pool")
    outcome = inputs.call("validate-assessments", "--all-problems", "--problems", "p.json", "q.xml", "pool")
    kinds = outcome.stdout.decode().splitlines()
    assert outcome.status == 255
    assert [kind for kind in kinds if "(scoring stops there)" in kind] == [
        "2 lines: correct entry without equivalence class (scoring stops there): pool line 2, pool line 3",
        "1 line: equivalence class without correct entry (scoring stops there): pool line 4",
        "1 line: unknown assessment code (scoring stops there): pool line 5",
        "1 line: a query that is not there; no query file defines it; are the query files and -expand the right ones? "
        "(scoring stops there): pool line 6",
        "1 line: equivalence class without correct parent entry (scoring stops there): pool line 7",
    ]
    assert [kind for kind in kinds if "(counts as nothing)" in kind] == [
        "1 line: a slot that the query does not ask for (counts as nothing): pool line 8",
        "1 line: a wrong number of columns (counts as nothing): pool line 9",
    ]
    assert len(json.loads(outcome.files["p.json"])["problems"]) >= 6
    inputs.lines(RunLine(), name="run.tab")
    said = inputs.call("score", "q.xml", "pool", "run.tab").stderr.decode()
    assert "cs-score: assessments: 2 lines: correct entry without equivalence class (scoring stops there)" in said
    inputs.lines(Judged(), name="pool")
    outcome = inputs.call("validate-assessments", "--all-problems", "q.xml", "pool")
    assert (outcome.status, outcome.stdout) == (0, b"no line that scoring refuses or leaves out\n")
    said = inputs.call("validate-assessments", "--all-problems", "q.xml", "run.tab").stderr.decode()
    assert "this is a run" in said


@pytest.mark.parametrize(("action", "effect"), [("delete-query", "deleted"), ("delete-slot", "cut")])
def test_types_in_capitals_are_told_where_they_cost_a_query(action: str, effect: str, tmp_path: Path) -> None:
    inputs = Inputs(tmp_path)
    inputs.queries(AskedQuery(enttype="PER"))
    said = inputs.call("validate-queries", "-types", action, "q.xml", "out.xml").stderr.decode()
    assert f"1 queries are {effect} because their <enttype> (PER) is not in small letters: sed" in said
    (line,) = re.findall("(?<=small letters: )sed .*", said)
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True, timeout=60)
    assert (
        "small letters" not in inputs.call("validate-queries", "-types", action, "small-q.xml", "b.xml").stderr.decode()
    )
    assert (tmp_path / "b.xml").read_bytes().count(b"<query ") == 1
    inputs.queries(AskedQuery(enttype="org"))
    assert b"small letters" not in inputs.call("validate-queries", "-types", action, "q.xml", "c.xml").stderr
