"""What validate-kb, resolve-queries and the chain offer beyond the reference, and how they are called."""

from __future__ import annotations

import json

import pytest

from tests.verbs.knowledge_base.invented import ANN, FAMILY, Inputs
from tests.verbs.preparation.invented import AskedQuery


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
        AskedQuery("CSX_ENG_0000000001", docids=("ENG_1",), begin="23", end="25"),
        AskedQuery("CSX_ENG_0000000002", docids=("ENG_2",), begin="1", end="2"),
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


def _pool(inputs: Inputs) -> str:
    line = f"a1\t{ANN.id}:per:children\tENG_1:6-21\tBo\tENG_1:20-21\tC\tNAM\tC\t{ANN.id}:1\tNAM\n"
    return inputs.write("pool.tab", line)


def test_a_knowledge_base_with_errors_is_not_scored_and_all_steps_report_together(inputs: Inputs) -> None:
    _pool(inputs)
    inputs.kb(*FAMILY, ":Entity_9\ttype\tPERSON")
    outcome = inputs.call("-output_file", "o", "--problems", "p.json", "q.xml", "pool.tab", "kb.tac")
    assert outcome.status == 255
    assert b"a knowledge base with errors is not resolved; correct them first" in outcome.stderr
    assert set(outcome.files) == {"p.json"}
    codes = [one["code"] for one in json.loads(outcome.files["p.json"])["problems"]]
    assert {"ILLEGAL_NODE_TYPE", "KB_WITH_ERRORS"} <= set(codes)


def test_the_signature_of_a_chain_has_the_knowledge_base_as_stored(inputs: Inputs) -> None:
    _pool(inputs)
    outcome = inputs.call("-output_file", "o", "--json", "r.json", "--validate", "q.xml", "pool.tab", "kb.tac")
    assert outcome.status == 0
    signed = json.loads(outcome.files["r.json"])["origin"]["inputs"]
    assert [one["name"] for one in signed] == ["q.xml", "pool.tab", "kb.tac"]


def test_a_batch_takes_knowledge_bases_as_runs(inputs: Inputs) -> None:
    _pool(inputs)
    inputs.validate("-output", "tac")
    inputs.resolve()
    inputs.kb(*FAMILY, ":Entity_9\ttype\tPERSON", name="bad.tac")
    outcome = inputs.call("batch", "-o", "b", "--jobs", "1", "q.xml", "pool.tab", "run.tab", "kb.tac", "bad.tac")
    written = {name.removeprefix("b/"): data for name, data in outcome.files.items()}
    assert written["kb/out.sf"] == written["run/out.sf"]
    assert b"1 error encountered" not in written["kb/out.errlog"]
    assert b"bad.tac: " in outcome.stderr + written["bad/out.errlog"]
    assert "bad/out.sf" not in written
