"""Problem reports as JSON, TSV and SARIF, and the guide that explains the codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cs_score.coldstart.file_columns import COLUMN_PATTERNS
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import RecordingLog
from cs_score.problems.reports import _tsv_cell
from cs_score.verbs.knowledge_base.kb_file import COLUMNS as KB_COLUMNS
from tests.coldstart.command import score_in
from tests.coldstart.recorded import COMMITTED
from tests.verbs.preparation.invented import OTHER, QUERY, AskedQuery, Inputs, RunLine


def _problems(inputs: Inputs, *words: str, ending: str = "json") -> str:
    path = inputs.folder / f"problems.{ending}"
    path.unlink(missing_ok=True)
    inputs.call(words[0], "--problems", path.name, *words[1:])
    return path.read_text(encoding="utf-8")


def _found(inputs: Inputs, *words: str) -> list[dict[str, Any]]:
    report = json.loads(_problems(inputs, *words))
    assert report["tool"] == "cs-score"
    found: list[dict[str, Any]] = report["problems"]
    return found


def _one(inputs: Inputs, code: str, *lines: RunLine, switches: tuple[str, ...] = ()) -> dict[str, Any]:
    """The only problem with a code in a run."""
    inputs.lines(*lines)
    found = [one for one in _found(inputs, "validate-run", *switches, "q.xml", "run.tab") if one["code"] == code]
    assert len(found) == 1
    return found[0]


PROVENANCE = "VALUE_PROVENANCE_TRIPLES"
SEMICOLON = ("ENG_1:1-2;ENG_1:4-5", "ENG_1:1-2,ENG_1:4-5")


@pytest.mark.parametrize(
    ("line", "code", "column", "text", "repaired"),
    [
        (RunLine(confidence="1"), "MISSING_DECIMAL_POINT", "CONFIDENCE", "1", "1.0"),
        (RunLine(confidence="5.0e-05"), "IMPROPER_CONFIDENCE_VALUE", "CONFIDENCE", "5.0e-05", "0.000050000000"),
        (RunLine(confidence="7"), "ILLEGAL_CONFIDENCE_VALUE", "CONFIDENCE", "7", "1.0"),
        (RunLine(type="MAN"), "ILLEGAL_VALUE_TYPE", "VALUE_TYPE", "MAN", None),
        (RunLine(run_id="r2"), "MULTIPLE_RUNIDS", "RUNID", "r2", "r1"),
        (RunLine(value=" "), "EMPTY_FIELD", "VALUE", "VALUE", None),
        (RunLine(slot="per:age"), "WRONG_SLOT_NAME", "SLOT_NAME", "per:age", None),
        (RunLine(span="9-3"), "ILLEGAL_OFFSET_PAIR", PROVENANCE, "ENG_1:9-3", None),
        (RunLine(span="3-x"), "ILLEGAL_OFFSET_TRIPLE_STRING", PROVENANCE, "ENG_1:3-x", None),
        (RunLine(span="1-900"), "TOO_MANY_CHARS", PROVENANCE, "ENG_1:1-900", "ENG_1:1-200"),
        (RunLine(span="1-2;ENG_1:4-5"), "SEMICOLON_AS_SEPARATOR", PROVENANCE, *SEMICOLON),
        (RunLine(relation="ENG_2:1-2"), "MULTIPLE_DOCIDS_IN_RESPONSE", None, None, None),
        (RunLine("Al"), "DUPLICATE_LINE", None, RunLine("Al").text(), None),
        (RunLine("Cy"), "DISCARDED_ENTRY", None, RunLine("Cy").text(), None),
    ],
)
def test_a_problem_is_told_with_its_place_its_text_and_its_repair(
    line: RunLine, code: str, column: str | None, text: str | None, repaired: str | None, inputs: Inputs
) -> None:
    first = RunLine("Al")
    found = _one(inputs, code, first, line, switches=("-justifications", "1:3"))
    assert (found["file"], found["line"]) == ("run.tab", 2)
    assert (found["column"], found["repaired"]) == (column, repaired)
    if text is not None:
        assert found["text"] == text
    assert found["severity"] == CODES[code].severity
    assert (found["action"], found["remedy"]) == (CODES[code].action, CODES[code].remedy)


def test_problems_of_documents_and_queries(inputs: Inputs) -> None:
    inputs.queries(AskedQuery(end="x"), AskedQuery(OTHER, ("per:nope",), more="<foo>1</foo>"))
    inputs.write("docs", "ENG_A\t9\nENG_1\t4\n")
    inputs.lines(RunLine(), RunLine(docid="ENG_7"))
    found = {
        (one["code"], one["text"]): (one["file"], one["line"], one["within"], one["column"])
        for one in _found(inputs, "validate-run", "-docs", "docs", "q.xml", "run.tab")
    }
    provenances = "RELATION_PROVENANCE_TRIPLES", "VALUE_PROVENANCE_TRIPLES"
    assert found == {
        ("ILLEGAL_OFFSET", "x"): ("q.xml", None, f"In query {QUERY}", None),
        ("UNKNOWN_SLOT_NAME", "per:nope"): (None, None, None, None),
        ("UNKNOWN_QUERY_FIELD", "FOO"): ("q.xml", None, f"In query {OTHER}", None),
        ("FAILED_LANG_INFERENCE", ""): (None, None, None, None),
        ("ILLEGAL_OFFSET_IN_DOC", "ENG_1:1-20"): ("run.tab", 1, None, provenances[0]),
        ("ILLEGAL_OFFSET_IN_DOC", "ENG_1:3-5"): ("run.tab", 1, None, provenances[1]),
        ("ILLEGAL_DOCID", "ENG_7:1-20"): ("run.tab", 2, None, provenances[0]),
        ("ILLEGAL_DOCID", "ENG_7:3-5"): ("run.tab", 2, None, provenances[1]),
    }


def test_fatal_conditions_are_problems_with_a_code(inputs: Inputs) -> None:
    inputs.lines(RunLine(), RunLine(query="CSX_ENG_ffffffffff"), RunLine(query="x-y"), RunLine(confidence="7"))
    found = [(one["code"], one["severity"], one["line"]) for one in _found(inputs, "validate-run", "q.xml", "run.tab")]
    assert found == [
        ("QUERY_NOT_LOADED", "FATAL_ERROR", 2),
        ("UNPARSABLE_QUERY_ID", "FATAL_ERROR", 3),
        ("ILLEGAL_CONFIDENCE_VALUE", "ERROR", 4),
    ]
    assert [one["code"] for one in _found(inputs, "validate-run", "q.xml", "nope")] == ["FILE_MISSING"]


@pytest.mark.parametrize(
    ("case", "code"),
    [
        ("bad_two_correct_1", "MULTIPLE_CORRECT_GROUND_TRUTH"),
        ("bad_child_of_wrong_parent_1", "UNEXPECTED_ASSESSMENT_ENTRY"),
    ],
)
def test_the_scorer_reports_what_it_finds_while_it_scores(case: str, code: str, tmp_path: Path) -> None:
    files = [str(COMMITTED / case / name) for name in ("queries.xml", "run.tab", "pool.tab")]
    words = ["-expand", "CSSF17", "-output_file", "out", "--problems", "problems.json", *files]
    problems = json.loads(score_in(tmp_path, words).files["problems.json"])["problems"]
    assert [one["code"] for one in problems] == [code]


def test_occurrences_count_what_the_log_counts() -> None:
    log = RecordingLog()
    log.add("NO_QUERIES_LOADED", times=2)
    log.add("NO_QUERIES_LOADED", times=0)
    log.add("NO_QUERIES_LOADED")
    assert [one.times for one in log.occurrences()] == [3]
    assert log.count(Severity.WARNING) == 3


# ---- The table of codes


def test_every_code_of_the_table_is_reported_somewhere() -> None:
    source = Path(__file__).parents[3] / "cs_score"
    text = "".join(path.read_text(encoding="utf-8") for path in source.rglob("*.py") if path.name != "codes.py")
    for code in CODES:
        assert f'"{code}"' in text, f"{code} is explained but never given"


@pytest.mark.parametrize("code", CODES)
def test_what_is_said_of_a_code_is_whole(code: str) -> None:
    kind = CODES[code]
    for text in (kind.meaning, kind.action, kind.remedy):
        assert text.endswith(".")
        assert text[0].isupper() or not text[0].isalpha()
    assert kind.example
    assert not kind.example.endswith(".")
    places = 0 if kind.template is None else len(re.findall("%[sd]", kind.template))
    assert kind.column_or_position in {None, *range(places), *COLUMN_PATTERNS, *KB_COLUMNS}
    assert kind.offender_position in {None, *range(places)}


def test_a_problem_is_no_formula_to_a_spreadsheet() -> None:
    assert [_tsv_cell(value) for value in ("=1+1", "-3", -3, None, "a\tb\\c", "@x")] == [
        "'=1+1", "'-3", "-3", "", "a\\tb\\\\c", "'@x",
    ]  # fmt: skip
