"""What validate-kb, resolve-queries and the chain offer beyond the reference, and how they are called."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from cs_score.knowledge_base.ignoring import ignored_codes
from cs_score.problems.kind import Severity
from cs_score.problems.table import CODES
from tests.knowledge_base.invented import ANN, FAMILY, Inputs
from tests.preparation.invented import AskedQuery

LEGAL_TO_IGNORE = """
BAD_QUERY COLON_OMITTED DISCARDED_DEPENDENT DISCARDED_DEPENDENT_DEPTH DISCARDED_ENTRY DISCARDED_ENTRY_DEPTH
DUPLICATE_ASSERTION DUPLICATE_LINE DUPLICATE_QUERY DUPLICATE_QUERY_FIELD DUPLICATE_QUERY_ID EMPTY_FIELD EMPTY_FILE
FAILED_LANG_INFERENCE ILLEGAL_LINK_SPECIFICATION IMPROPER_CONFIDENCE_VALUE INACCURACTE_MENTION_STRING
MISMATCHED_HOP_SUBTYPES MISMATCHED_HOP_TYPES MISMATCHED_TAGS MISSING_CANONICAL MISSING_DECIMAL_POINT MISSING_INVERSE
MISSING_MENTION
MULTIPLE_CORRECT_GROUND_TRUTH MULTIPLE_FILLS_ENTITY MULTIPLE_FILLS_SLOT MULTIPLE_LINKS MULTIPLE_RUNIDS NO_MENTIONS
NO_QUERIES_LOADED OFF_TASK_SLOT POSSIBLE_DUPLICATE_QUERY PREDICATE_ALIAS SEMICOLON_AS_SEPARATOR TOO_MANY_CHARS
TOO_MANY_PROVENANCE_TRIPLES UNASSERTED_MENTION UNKNOWN_QUERY_FIELD UNKNOWN_QUERY_ID_WARNING UNLOADED_QUERY
UNQUOTED_STRING WRONG_SLOT_NAME
""".split()


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    made = Inputs(tmp_path)
    made.kb()
    made.queries()
    return made


@pytest.mark.parametrize("program", ["validate-kb", "resolve-queries"])
def test_the_usage_text_names_every_switch_and_parameter(program: str, inputs: Inputs) -> None:
    module = __import__(f"cs_score.cli.knowledge_base.{program.replace('-', '_')}", fromlist=["PROGRAM"])
    text = inputs.call(program, "-help").stdout.decode()
    for switch in module.PROGRAM.switches:
        assert f"  {switch.name} " in text or f"  {switch.name}\n" in text
    for parameter in module.PROGRAM.parameters:
        assert parameter.name.upper() in text


def test_the_codes_that_may_be_ignored() -> None:
    assert ignored_codes(":".join(LEGAL_TO_IGNORE).lower()) == frozenset(LEGAL_TO_IGNORE)
    warnings = {code for code, kind in CODES.items() if kind.severity is Severity.WARNING}
    assert warnings <= set(LEGAL_TO_IGNORE)


def test_check_writes_nothing(inputs: Inputs) -> None:
    outcome = inputs.validate("--check", "-output", "tac:sen", "-stats_file", "st", "--json", "j.json")
    assert outcome.status == 0
    assert set(outcome.files) == {"log"}


def test_the_diff_shows_repairs_beside_their_lines_and_can_be_applied(inputs: Inputs) -> None:
    inputs.kb(*FAMILY[:5], FAMILY[6], ":Entity_2\tlink\tKB:7 # good")
    outcome = inputs.validate("--diff", "-output", "tac")
    shown = outcome.stdout.decode().splitlines()
    assert shown[:2] == ["--- kb.tac", "+++ kb.tac (validated)"]
    assert '+:Entity_2\tcanonical_mention\t"Bo"\tENG_1:20-21\t1.0' in shown
    assert "+:Entity_2\tper:parents\t:Entity_1\tENG_1:6-21\t0.5" in shown
    assert "+:Entity_2\tlink\tKB:7\t\t1.0# good" in shown
    added = [line[1:] for line in shown if line[:1] in "+ " and not line.startswith("+++")]
    assert sorted(added) == sorted(filter(None, inputs.lines("kb.tac.valid")))


def test_statistics_as_json(inputs: Inputs) -> None:
    inputs.validate("--json", "st.json", "-stats_file", "st")
    told = json.loads((inputs.folder / "st.json").read_text())
    assert told["run_id"] == "inv1"
    assert told["has_multiple_confidences"] is True
    assert told["entity"] == {"ALL": 3, "per": 2, "string": 1}
    assert told["asserted"]["predicate"]["per:children"] == 1
    assert "ASSERTED:PREDICATE\tper:children\t1" in inputs.lines("st")


@pytest.mark.parametrize("ending", ["json", "tsv", "sarif"])
def test_problems_come_with_column_text_and_repair(ending: str, inputs: Inputs) -> None:
    inputs.kb(*FAMILY, ":Entity_1\tper:spouses\tEntity_2\tENG_1:6-400\t1", ":Entity_1\tmention\tAnn\tENG_1:6-8")
    inputs.validate("--problems", f"p.{ending}")
    text = (inputs.folder / f"p.{ending}").read_text()
    assert "PREDICATE_ALIAS" in text
    if ending != "json":
        return
    problems = {one["code"]: one for one in json.loads(text)["problems"]}
    for code, column, written, repaired in (
        ("PREDICATE_ALIAS", "PREDICATE", "per:spouses", "spouse"),
        ("COLON_OMITTED", "OBJECT", "Entity_2", ":Entity_2"),
        ("TOO_MANY_CHARS", "PROVENANCE", "ENG_1:6-400", "ENG_1:6-205"),
        ("MISSING_DECIMAL_POINT", "CONFIDENCE", "1", "1.0"),
        ("UNQUOTED_STRING", "OBJECT", "Ann", '"Ann"'),
    ):
        found = problems[code]
        assert (found["column"], found["text"], found["repaired"]) == (column, written, repaired)
        assert (found["file"], found["line"]) == ("kb.tac", 15 if code == "UNQUOTED_STRING" else 14)
        assert found["remedy"]


def test_all_problems_are_found_in_one_pass(inputs: Inputs) -> None:
    """A document that is not of the task ends the program; errors before and behind it are reported all the same."""
    inputs.write("docs", "ENG_1\t999\n")
    mentions = (f':Entity_1\tmention\t"A"\tENG_{number}:1-1' for number in (9, 8))
    inputs.kb(":Entity_2\ttype\tPERSON", ":Entity_1\ttype\tPER", *mentions, "x")
    outcome = inputs.validate("-docs", "docs", "-output", "tac")
    assert outcome.status == 255
    assert any("Illegal node type: person" in line for line in inputs.report)
    assert any("Wrong number of entries" in line for line in inputs.report)
    assert any("DOCID ENG_8 is not a valid DOCID" in line for line in inputs.report)
    assert "DOCID ENG_9 is not a valid DOCID for this task (kb.tac line 4)" in inputs.report[-1]
    assert not (inputs.folder / "kb.tac.valid").exists()


def test_programs_are_told_a_line_also_where_the_report_names_none(inputs: Inputs) -> None:
    inputs.kb(
        ":Entity_1\ttype\tPER", ':Entity_1\tmention\t"A"\tD:1-1', ":Entity_2\ttype\tPER", ":Entity_2\ttype\tORG",
        ':Entity_1\tmention\t"B"\tD:1-1', ':Entity_1\tcanonical_mention\t"A"\tE:1-1',
        ':Entity_1\tcanonical_mention\t"A"\tE:2-2', ':Entity_3\tmention\t"C"\tF:1-1', ":Entity_3\ttype\tPER",
        ':Entity_4\ttype\tPER', ':Entity_4\tmention\t"C"\tF:3-3', ':Entity_4\tnominal_mention\t"c"\tF:5-5',
        ':Entity_1\tmention\t"D"\tG:1-1',
    )  # fmt: skip
    assert inputs.validate("--problems", "p.json").status == 255
    assert not any(line.startswith("ERROR: Node :Entity_2 has more than one type") and "kb.tac" in line
                   for line in inputs.report)  # fmt: skip
    found = json.loads((inputs.folder / "p.json").read_text())["problems"]
    assert {problem["file"] for problem in found} == {"kb.tac"}
    shown = {(problem["code"], problem["line"], problem["column"], problem["text"]) for problem in found}
    assert shown >= {
        ("MULTIPLE_STRINGS_FOR_PROV", 3, "PROVENANCE", "D:1-1"),
        ("MULTITYPED_ENTITY", 4, "SUBJECT", ":Entity_2"),
        ("NO_MENTIONS", 4, "SUBJECT", ":Entity_2"),
        ("MULTIPLE_CANONICAL", 8, "SUBJECT", ":Entity_1"),
        ("MULTIPLE_MENTIONS_NO_CANONICAL", 12, "SUBJECT", ":Entity_4"),
        ("MISSING_CANONICAL", 14, "SUBJECT", ":Entity_1"),
    }


def test_the_explanation_shows_what_was_met_and_what_is_near(inputs: Inputs) -> None:
    inputs.kb(*FAMILY, ":Entity_3\ttype\tPER", ':Entity_3\tmention\t"Anna"\tENG_1:7-12', ":Entity_4\ttype\tPER")
    inputs.validate("-output", "tac")
    inputs.queries(
        ANN,
        AskedQuery("CSX_ENG_0000000001", docid="ENG_1", begin="23", end="25"),
        AskedQuery("CSX_ENG_0000000002", docid="ENG_2", begin="1", end="2"),
    )
    assert inputs.resolve("--explain", "why.tsv").status == 0
    header, *rows = (line.split("\t") for line in inputs.lines("why.tsv"))
    shown = [dict(zip(header, row)) for row in rows]
    assert [row["outcome"] for row in shown] == [
        "chosen", "met, weaker", "nothing met; nearest in the document", "nothing met; no mention in the document",
    ]  # fmt: skip
    assert (shown[0]["node"], shown[0]["common"], shown[0]["rest"]) == (":Entity_1", "3", "0")
    assert (shown[1]["node"], shown[1]["common"], shown[1]["rest"]) == (":Entity_3", "2", "4")
    assert (shown[2]["node"], shown[2]["offsets"]) == (":Entity_2", "20-21")


def test_the_explanation_replaces_its_like_only(inputs: Inputs) -> None:
    inputs.validate("-output", "tac")
    assert inputs.resolve("--explain", "why.tsv").status == 0
    assert inputs.resolve("--explain", "why.tsv").status == 0
    table = (inputs.folder / "why.tsv").read_bytes()
    inputs.write("why.tsv", "mine\n")
    refused = inputs.resolve("--explain", "why.tsv")
    assert refused.status == 255
    assert b"why.tsv was not written by --explain; name another file, or replace it with --force" in refused.stderr
    assert (inputs.folder / "why.tsv").read_bytes() == b"mine\n"
    assert not (inputs.folder / "run.tab").exists()
    assert inputs.resolve("--explain", "why.tsv", "--force").status == 0
    assert (inputs.folder / "why.tsv").read_bytes() == table
    assert inputs.resolve("--explain", "why.tsv.gz").status == 0
    assert gzip.decompress((inputs.folder / "why.tsv.gz").read_bytes()) == table
    refused = inputs.resolve("--explain", "why")
    assert b"did you mean --explain entrances.tsv? why does not end in .tsv" in refused.stderr
    assert inputs.resolve("--explain", "-").stdout == table


def test_a_mention_in_the_explanation_moves_no_cursor_and_is_no_formula(inputs: Inputs) -> None:
    inputs.kb(*FAMILY, ":Entity_3\ttype\tPER", ':Entity_3\tmention\t"\x1b[2J"\tENG_1:7-8')
    inputs.validate("-output", "tac")
    inputs.write("kb.tac.valid", (inputs.folder / "kb.tac.valid").read_text().replace('\t"Ann"', "\t=1+1"))
    assert inputs.resolve("--explain", "why.tsv").status == 0
    assert [line.split("\t")[4] for line in inputs.lines("why.tsv")[1:]] == ["'=1+1", '"\\x1b[2J"']


def test_the_problems_of_queries_are_told_beside_the_statistics(inputs: Inputs) -> None:
    inputs.validate("-output", "tac")
    inputs.queries(AskedQuery("CSX_ENG_e2b374da95", ("per:child",), docid="ENG_1", begin="6", end="8"))
    outcome = inputs.resolve("--problems", "p.json")
    assert outcome.status == 0
    assert b"Unknown slot name: per:child" in outcome.stderr
    assert len(inputs.lines("statistics")) == 2
    assert json.loads((inputs.folder / "p.json").read_text())["problems"][0]["code"] == "UNKNOWN_SLOT_NAME"


def test_outputs_never_replace_inputs(inputs: Inputs) -> None:
    before = (inputs.folder / "kb.tac").read_bytes()
    for words in (
        ("validate-kb", "-error_file", "kb.tac", "kb.tac"),
        ("validate-kb", "-stats_file", "kb.tac", "kb.tac"),
        ("validate-kb", "--json", "kb.tac", "kb.tac"),
        ("resolve-queries", "q.xml", "kb.tac", "kb.tac"),
        ("resolve-queries", "--explain", "kb.tac", "q.xml", "kb.tac", "out"),
    ):
        assert inputs.call(*words).status == 255
        assert (inputs.folder / "kb.tac").read_bytes() == before


def _pool(inputs: Inputs) -> str:
    line = f"a1\t{ANN.id}:per:children\tENG_1:6-21\tBo\tENG_1:20-21\tC\tNAM\tC\t{ANN.id}:1\tNAM\n"
    return inputs.write("pool.tab", line)


def test_a_knowledge_base_with_errors_is_not_scored_and_all_steps_report_together(inputs: Inputs) -> None:
    _pool(inputs)
    inputs.kb(*FAMILY, ":Entity_9\ttype\tPERSON")
    outcome = inputs.call("-output_file", "o", "--problems", "p.json", "q.xml", "pool.tab", "kb.tac")
    assert outcome.status == 255
    assert b"a knowledge base with errors is not resolved; mend them first" in outcome.stderr
    assert set(outcome.files) == {"p.json"}
    codes = [one["code"] for one in json.loads(outcome.files["p.json"])["problems"]]
    assert {"ILLEGAL_NODE_TYPE", "KB_WITH_ERRORS"} <= set(codes)


def test_the_signature_of_a_chain_has_the_knowledge_base_as_stored(inputs: Inputs) -> None:
    _pool(inputs)
    outcome = inputs.call("-output_file", "o", "--json", "r.json", "--validate", "q.xml", "pool.tab", "kb.tac")
    assert outcome.status == 0
    signed = json.loads(outcome.files["r.json"])["signature"]["inputs"]
    assert [one["name"] for one in signed] == ["q.xml", "pool.tab", "kb.tac"]


def test_a_batch_takes_knowledge_bases_as_runs(inputs: Inputs) -> None:
    _pool(inputs)
    inputs.validate("-output", "tac")
    inputs.resolve()
    inputs.kb(*FAMILY, ":Entity_9\ttype\tPERSON", name="bad.tac")
    outcome = inputs.call("batch", "--out", "b", "--jobs", "1", "q.xml", "pool.tab", "run.tab", "kb.tac", "bad.tac")
    written = {name.removeprefix("b/"): data for name, data in outcome.files.items()}
    assert written["kb/out.sf"] == written["run/out.sf"]
    assert b"1 error encountered" not in written["kb/out.errlog"]
    assert b"bad.tac: " in outcome.stderr + written["bad/out.errlog"]
    assert "bad/out.sf" not in written


@pytest.mark.parametrize("text", ["garbage\n", "word\nanother word\n", "r1\nx\ty\tz\n", ":Entity_1\ttype\tPER\n"])
def test_what_is_no_knowledge_base_stays_an_unknown_file(text: str, inputs: Inputs) -> None:
    _pool(inputs)
    inputs.write("odd", text)
    outcome = inputs.call("-output_file", "o", "q.xml", "pool.tab", "odd")
    assert outcome.status == 255
    assert b"Unknown file type: odd" in outcome.stderr


def test_many_documents_and_one_long_mention_are_searched_by_offset(inputs: Inputs) -> None:
    """The best of many mentions, whatever their order in the file."""
    mentions = [f':Entity_{n}\tmention\t"x"\tENG_0:{n * 7}-{n * 7 + 3}\t1.0' for n in range(400)]
    lines = [f":Entity_{n}\tper:siblings\t:Entity_{n}\tENG_0:{n * 7}-{n * 7 + 3}\t0.5" for n in range(400)]
    canonical = [line.replace("mention", "canonical_mention") for line in mentions]
    long = ':Entity_999\tmention\t"y"\tENG_0:0-9000\t1.0'
    inputs.kb(*reversed(mentions), long, *canonical, *lines, name="kb.tac.valid")
    asked = [
        AskedQuery(f"CSX_ENG_{n:010x}", ("per:siblings",), docid="ENG_0", begin=str(n * 7), end=str(n * 7 + 3))
        for n in range(400)
    ]
    inputs.queries(*asked)
    assert inputs.resolve().status == 0
    found = {line.split("\t")[0]: line.split("\t")[-1] for line in inputs.lines("run.tab")}
    assert found == {f"CSX_ENG_{n:010x}": f":Entity_{n}" for n in range(400)}
