"""The steps of a line, a class, a node and a query, on inputs that show one rule each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.coldstart.command import Outcome
from tests.preparation.invented import OTHER, QUERY, AskedQuery, Inputs, Judged, RunLine

FILES = ("q.xml", "qrel", "run.tab")
HOSTILE = "\x1b[31m\u202eBo"


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    """A folder with the usual query."""
    made = Inputs(tmp_path)
    made.queries()
    return made


def told(inputs: Inputs, *switches: str, files: tuple[str, ...] = FILES, status: int = 0) -> dict[str, Any]:
    """The explanation as JSON."""
    outcome = inputs.call("explain", *switches, "--format=json", *files)
    assert outcome.status == status, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


def line(inputs: Inputs, number: int, *switches: str) -> dict[str, Any]:
    """One line as JSON."""
    (found,) = told(inputs, "--line", str(number), *switches)["lines"]
    assert isinstance(found, dict)
    return found


def text(inputs: Inputs, *switches: str) -> str:
    """The explanation as text."""
    outcome = inputs.call("explain", *switches, *FILES)
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout.decode()


def refusal(outcome: Outcome) -> str:
    """The one line that a selector without answer gets."""
    assert (outcome.status, outcome.stdout) == (1, b"")
    (said,) = outcome.stderr.decode().splitlines()
    return said


# ---- Read


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# a comment", "not read: a comment"),
        ("", "not read: a blank line"),
        ("a\tb", "not read: it has 2 columns, where lines of this layout have 9"),
        (RunLine().text(), "not read: it repeats an earlier line of its file"),
        (RunLine(slot="per:age").text(), "skipped, since its slot is per:age and its query asks for per:children; "),
        (RunLine(value=" ").text(), "skipped, since its column VALUE is empty; "),
    ],
)
def test_a_line_that_is_not_scored_is_told_why(text: str, reason: str, inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.write("run.tab", f"{RunLine().text()}\n{text}\n{RunLine('Al', 'ENG_2').text()}\n")
    found = line(inputs, 2)
    assert found["read"]["not_read"].startswith(reason)
    assert found["label"] is None
    assert found["rows"] == []
    assert found["read"]["rests_on"] == ({"file": "run.tab", "line": 1} if "repeats" in reason else None)


def test_repairs_and_problems_of_a_line_are_told(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.lines(RunLine(), RunLine("Al", confidence="7", relation="ENG_1:1-20;ENG_1:30-40"))
    found = line(inputs, 2)["read"]
    assert found["counted_as"] == {"RELATION_PROVENANCE_TRIPLES": "ENG_1:1-20,ENG_1:30-40", "CONFIDENCE": "1.0"}
    assert {one["code"] for one in found["problems"]} == {"SEMICOLON_AS_SEPARATOR", "ILLEGAL_CONFIDENCE_VALUE"}


# ---- Asked by, met


def test_the_chain_of_a_second_hop_line(inputs: Inputs) -> None:
    wrong = RunLine("Cy", "ENG_4")
    inputs.lines(Judged(), Judged("W", "0", value="Cy", docid="ENG_4", id="a2"), name="qrel")
    inputs.lines(RunLine(), wrong, wrong.child())
    found = line(inputs, 3)
    assert found["asked"]["hop"] == 1
    assert found["asked"]["chain"] == [
        {"file": "run.tab", "line": 2, "value": "Cy", "category": "INCORRECT", "side": "wrong"}
    ]
    assert found["category"]["name"] == "INCORRECT_PARENT"
    assert found["category"]["rests_on"] == [{"file": "run.tab", "line": 2}]
    assert found["label"]["reason"] == "-wrong lists INCORRECT_PARENT"


def test_the_first_of_two_parents_decides(inputs: Inputs) -> None:
    """The trap of 7.4: an unassessed twin before the right parent makes its children wrong."""
    twin = RunLine(relation="ENG_1:1-25", node=":E2")
    inputs.lines(Judged(), name="qrel")
    inputs.lines(twin, RunLine(), RunLine().child())
    found = line(inputs, 3)["category"]
    assert found["reason"].startswith("the first line that gives the answer which its query asks about is UNASSESSED")
    assert found["rests_on"] == [{"file": "run.tab", "line": 1}]


def test_the_nearest_assessments_and_what_differs(inputs: Inputs) -> None:
    inputs.lines(
        Judged(docid="ENG_7", id="elsewhere"),
        Judged("W", "0", value="Bob", id="another"),
        Judged("W", "0", value="Zoe", span="7-9", id="document"),
        Judged("W", "0", value="Zoe", docid="ENG_8", id="far"),
        Judged(id="same"),
        name="qrel",
    )
    inputs.lines(RunLine(relation="ENG_1:1-21"))
    near = line(inputs, 1)["met"]["nearest"]
    assert [(one["assessment"]["id"], [*one["differs"]]) for one in near] == [
        ("same", ["RELATION_PROVENANCE_TRIPLES"]),
        ("elsewhere", ["RELATION_PROVENANCE_TRIPLES", "VALUE_PROVENANCE_TRIPLES"]),
        ("another", ["RELATION_PROVENANCE_TRIPLES", "VALUE"]),
    ]
    assert near[0]["differs"]["RELATION_PROVENANCE_TRIPLES"] == "ENG_1:1-20"


def test_a_line_that_met_by_its_value_says_so(inputs: Inputs) -> None:
    inputs.lines(Judged(docid="ENG_7"), name="qrel")
    inputs.lines(RunLine())
    assert line(inputs, 1)["met"]["assessment"] is None
    met = line(inputs, 1, "-discipline", "STRING_EXACT")["met"]
    assert met["assessment"]["line"] == 1
    assert "the same value" in met["how"]


# ---- Kept or discarded


def test_the_limit_for_each_document(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.lines(RunLine(span="7-9", confidence="0.5"), RunLine(), RunLine("Al", span="1-2", confidence="0.5"))
    kept = line(inputs, 1)["kept"]
    assert (kept["limit"], kept["in_favour_of"]) == (
        "A = 1 for each node and document", [{"file": "run.tab", "line": 2}]
    )  # fmt: skip
    assert kept["order"] == "the higher confidence stays: 0.9 > 0.5"
    assert line(inputs, 2)["kept"]["limit"] is None
    assert line(inputs, 3, "-justifications", "2:3")["kept"]["order"] == (
        "the confidence is the same, 0.5; the earlier line stays: 1 < 3"
    )


def test_the_limit_for_each_node(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.lines(*(RunLine(docid=f"ENG_{number}", confidence=f"0.{number}") for number in range(1, 6)))
    kept = line(inputs, 1)["kept"]
    assert kept["limit"] == "B = 3 for each node"
    assert [at["line"] for at in kept["in_favour_of"]] == [5, 4, 3]


def test_a_slot_that_takes_one_value(inputs: Inputs) -> None:
    inputs.queries(AskedQuery(slots=("per:city_of_birth",)))
    city = "per:city_of_birth"
    inputs.lines(Judged(slot=city), name="qrel")
    inputs.lines(RunLine(slot=city, confidence="0.3"), RunLine("Al", "ENG_2", slot=city, node=":E2"))
    kept = line(inputs, 1)["kept"]
    assert kept["limit"] == "the slot takes one value"
    assert kept["order"] == f"node {QUERY}:E2 has the higher confidence: 0.4909 > 0.1636"
    assert "only reported: a discarded line is scored all the same" in text(inputs, "--line", "1")


def test_a_line_without_parent_is_discarded_with_its_reason(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.lines(RunLine("Al", "ENG_2"), RunLine().child())
    assert "its query asks about" in line(inputs, 2)["kept"]["limit"]


# ---- Category and label


def test_a_duplicate_names_the_response_that_stays(inputs: Inputs) -> None:
    inputs.lines(Judged(value_mention="NOM"), Judged(value="Bob", docid="ENG_2", id="a2"), name="qrel")
    inputs.lines(RunLine(), RunLine("Bob", "ENG_2"))
    found = line(inputs, 1)
    assert found["category"]["name"] == "DUPLICATE"
    assert found["category"]["rests_on"] == [{"file": "run.tab", "line": 2}]
    assert "it is a name, and this a description" in found["category"]["reason"]
    assert found["label"] == {
        "rule": "7.5", "side": "ignored", "labels": ["CORRECT", "IGNORE", "REDUNDANT"],
        "reason": "-ignore lists DUPLICATE",
    }  # fmt: skip
    several = line(inputs, 1, "-wrong", "INCORRECT:DUPLICATE")["label"]
    assert several["reason"] == "-ignore lists DUPLICATE, and comes last of those that do"
    nowhere = line(inputs, 1, "-ignore", "UNASSESSED")["label"]
    assert (nowhere["side"], nowhere["reason"]) == ("duplicate", "no switch lists DUPLICATE")


def test_the_nominal_rule_names_the_line_that_is_outranked(inputs: Inputs) -> None:
    inputs.lines(
        Judged(value_mention="NOM", value="her son"),
        Judged(docid="ENG_2", value_class=f"{QUERY}:2", id="a2"),
        name="qrel",
    )
    inputs.lines(RunLine("her son"), RunLine(docid="ENG_2", confidence="0.4"))
    found = line(inputs, 1, "-justifications", "1:1")
    assert (found["category"]["name"], found["category"]["rule"]) == ("CORRECT", "7.7")
    assert [at["line"] for at in found["category"]["rests_on"]] == [1, 2]
    assert "line 2 would name it, but is outranked" in found["category"]["reason"]
    assert found["label"]["side"] == "ignored"
    assert line(inputs, 1)["label"]["side"] == "right"


def test_a_judgment_that_no_switch_lists(inputs: Inputs) -> None:
    inputs.lines(Judged("S", "0"), name="qrel")
    inputs.lines(RunLine())
    label = line(inputs, 1)["label"]
    assert (label["side"], label["reason"]) == ("neither right nor wrong", "no switch lists INEXACT_SHORT")


# ---- Counted, ranked, worth


def test_the_arithmetic_of_rows_and_ranks(inputs: Inputs) -> None:
    inputs.lines(
        Judged(),
        Judged(value="Bob", docid="ENG_2", id="a2"),
        Judged("W", "0", value="Cy", docid="ENG_3", id="a3"),
        Judged(value="Di", docid="ENG_4", value_class=f"{QUERY}:2", id="a4"),
        name="qrel",
    )
    inputs.lines(RunLine(), RunLine("Cy", "ENG_3", confidence="0.8", node=":E2"), RunLine("Bob", "ENG_2", "0.5"))
    found = line(inputs, 1)
    (row,) = found["rows"]
    assert row["arithmetic"] == [
        "P = 1 / (1 + 1) = 0.5000",
        "R = 1 / 2 = 0.5000",
        "F1 = 2 * 0.5000 * 0.5000 / (0.5000 + 0.5000) = 0.5000",
    ]
    ranked = found["ranked"]
    assert ranked["confidence_arithmetic"] == "(0.9 + 0.5/2) / (1 + 1/2 + 1/3) = 0.6273"
    assert ranked["value_arithmetic"] == "V = 2 / 2 = 1.0000 (2 useful lines, 2 documents of its class)"
    assert ranked["ranks"][0]["rank"] == 1
    assert line(inputs, 2)["ranked"]["ranks"][0]["arithmetic"] == "1.0000 / 2 = 0.5000"
    # Without the wrong line: P = 1, R = 1/2, so F1 is 2/3 instead of 1/2 in a row that is the only one.
    worth = line(inputs, 2)["effect"]["effects"]
    assert worth["SF-ALL-Micro-F1"] == pytest.approx(2 / 3 - 1 / 2, abs=1e-12)
    assert "SF-AP" in worth


def test_a_class_that_another_node_has_taken(inputs: Inputs) -> None:
    inputs.lines(Judged(), Judged(docid="ENG_2", id="a2"), name="qrel")
    inputs.lines(RunLine(), RunLine(docid="ENG_2", node=":E2", confidence="0.5"))
    ranked = line(inputs, 2)["ranked"]
    assert ranked["mapped_class"] is None
    assert ranked["taken_by"] == {f"{QUERY}:1": f"{QUERY}:E1"}


def test_a_run_of_eight_columns_has_no_ranks(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.lines(RunLine(node=None))
    found = line(inputs, 1)
    assert found["ranked"] is None
    assert "eight columns" in found["not_ranked"]
    assert found["label"]["side"] == "right"
    said = refusal(inputs.call("explain", "--node", ":E1", *FILES))
    assert "the run has no node ids (eight columns)" in said


def test_a_pool_without_mention_types(inputs: Inputs) -> None:
    columns = Judged().text().split("\t")
    inputs.write("qrel", "\t".join([*columns[:6], columns[7], columns[8]]) + "\n")
    inputs.lines(RunLine())
    found = line(inputs, 1)
    assert found["category"]["rule"] == "7.7"
    assert "the pool has no mention types" in found["category"]["reason"]


# ---- Classes, nodes, queries, answers, the whole


def test_a_class_that_was_missed_has_the_effect_of_finding_it(inputs: Inputs) -> None:
    inputs.lines(Judged(), Judged(value="Di", docid="ENG_4", value_class=f"{QUERY}:2", id="a4"), name="qrel")
    inputs.lines(RunLine())
    (missed,) = told(inputs, "--class", f"{QUERY}:2")["classes"]
    assert (missed["status"], missed["reason"]) == ("missed", "no line of the run gives one of its answers")
    assert missed["effect"]["effects"]["SF-ALL-Micro-F1"] == pytest.approx(1 - 2 / 3, abs=1e-12)
    (found,) = told(inputs, "--class", f"{QUERY}:1")["classes"]
    assert (found["status"], found["counted"]) == ("found", [{"file": "run.tab", "line": 1}])


def test_the_bin_of_wrong_answers_is_no_ground_truth(inputs: Inputs) -> None:
    inputs.lines(Judged("W", "0"), name="qrel")
    inputs.lines(RunLine())
    (found,) = told(inputs, "--class", f"{QUERY}:0")["classes"]
    assert (found["status"], [fate["line"] for fate in found["lines"]]) == ("not counted", [1])


def test_a_node_that_merges_classes(inputs: Inputs) -> None:
    inputs.lines(Judged(), Judged(value="Di", docid="ENG_4", value_class=f"{QUERY}:2", id="a4"), name="qrel")
    inputs.lines(RunLine(), RunLine("Di", "ENG_4"))
    for name in (":E1", "E1", f"{QUERY}:E1"):
        (node,) = told(inputs, "--node", name)["nodes"]
        assert node["classes"] == [f"{QUERY}:1", f"{QUERY}:2"]
    assert "It merges 2 classes" in text(inputs, "--node", "E1")


def test_a_query_with_its_classes_lines_and_rows(inputs: Inputs) -> None:
    inputs.lines(Judged(), Judged(value="Di", docid="ENG_4", value_class=f"{QUERY}:2", id="a4"), name="qrel")
    inputs.lines(RunLine(), RunLine("Al", "ENG_2", node=":E2"), RunLine().child())
    (query,) = told(inputs, "--query", QUERY)["queries"]
    assert [(one["name"], one["status"]) for one in query["classes"]] == [
        (f"{QUERY}:1", "found"),
        (f"{QUERY}:2", "missed"),
    ]
    assert query["categories"] == {"CORRECT": 1, "UNASSESSED": 2}
    assert query["entry_points"] == [{"name": "Ann", "docid": "ENG_A", "start": "5", "end": "9"}]
    (below,) = told(inputs, "--query", RunLine().child().query)["queries"]
    assert [fate["line"] for fate in below["lines"]] == [3]
    assert [row["row"] for row in below["rows"]] == [f"{QUERY}:1"]


def test_answers_with_a_pattern(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.lines(RunLine(), RunLine("Bob", "ENG_2"), RunLine("[a-z]?*", "ENG_3"))
    assert [each["summary"]["line"] for each in told(inputs, "--answer", "Bo*")["lines"]] == [1, 2]
    assert [each["summary"]["line"] for each in told(inputs, "--answer", "[a-z]?*")["lines"]] == [3]


@pytest.mark.parametrize(
    ("switches", "said"),
    [
        (("--line", "9"), "there is no line 9 to explain; run.tab has lines 1 to 1"),
        (("--line", "run.ta:1"), "there is no run file run.ta; did you mean run.tab?"),
        (("--line", "qrel:1"), "qrel is a pool, not a run"),
        (("--query", "CSX_ENG_979a86d86e"), f"did you mean {QUERY}?"),
        (("--class", f"{QUERY}:7"), f"did you mean {QUERY}:2 or {QUERY}:1?"),
        (("--node", "E"), "there is no node E"),
        (("--answer", "Bq"), "no line of the run gives the answer Bq"),
        (("--answer", "Di"), f"the pool has it in class {QUERY}:2; ask for that with --class"),
    ],
)
def test_a_selector_that_meets_nothing_gets_the_nearest_names(
    switches: tuple[str, ...], said: str, inputs: Inputs
) -> None:
    inputs.lines(Judged(), Judged(value="Di", docid="ENG_4", value_class=f"{QUERY}:2", id="a4"), name="qrel")
    inputs.lines(RunLine())
    assert said in refusal(inputs.call("explain", *switches, *FILES))


def test_a_line_without_number_is_wrong_usage(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.lines(RunLine())
    outcome = inputs.call("explain", "--line", "first", *FILES)
    assert outcome.status == 2
    assert b"the number of a line is needed" in outcome.stderr


# ---- What cannot be scored, several runs, knowledge bases, hostile text


def test_a_run_that_cannot_be_read_to_its_end(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.lines(RunLine(), RunLine(query=OTHER), RunLine("Al"))
    outcome = inputs.call("explain", "--line", "1", *FILES)
    assert outcome.status == 1
    assert outcome.stdout.startswith(b"r1 cannot be scored\n  run.tab: line 2: Query ")
    assert b"run.tab line 1: not scored" in outcome.stdout
    assert b"not loaded" in outcome.stderr
    assert "reading stopped: run.tab: line 2" in refusal(inputs.call("explain", "--line", "3", *FILES))
    found = told(inputs, status=1)
    assert (found["score"], found["measure"]) == (None, "SF-ALL-Micro-F1")
    assert "not loaded" in found["fatal"]


def test_a_pool_that_cannot_be_counted_leaves_other_queries_explained(inputs: Inputs) -> None:
    inputs.queries(AskedQuery(), AskedQuery(OTHER))
    orphan = RunLine().child().query
    inputs.lines(
        Judged("W", "0"),
        Judged(query=orphan, slot="per:schools_attended", value_class=f"{QUERY}:1:1", id="a2", docid="ENG_9"),
        Judged(query=OTHER, value_class=f"{OTHER}:1", id="a3"),
        name="qrel",
    )
    inputs.lines(RunLine(), RunLine(query=OTHER))
    found = told(inputs, "--line", "1", "--line", "2", status=1)
    assert "Equivalence class without correct parent entry" in found["fatal"]
    first, second = found["lines"]
    assert "could not be counted" in first["stopped_by"]
    assert second["label"]["side"] == "right"
    assert second["effect"] is None


def test_several_runs(inputs: Inputs) -> None:
    inputs.lines(Judged(), name="qrel")
    inputs.lines(RunLine(), RunLine("Al", "ENG_2", run_id="r2", node=":E2"))
    outcome = inputs.call("explain", *FILES)
    assert outcome.status == 2
    assert b"there are 2 runs (r1, r2)" in outcome.stderr
    first, second = told(inputs, "--run", "r2", "--line", "1", "--line", "2")["lines"]
    assert "it belongs to run r1" in first["stopped_by"]
    assert second["label"]["side"] == "ignored"


def test_a_knowledge_base_is_explained_as_its_run(inputs: Inputs) -> None:
    node = ":Entity_1\t"
    inputs.write(
        "kb.tac",
        f'KB_1\n{node}type\tPER\n{node}mention\t"Ann"\tENG_A:5-9\n{node}canonical_mention\t"Ann"\tENG_A:5-9\n'
        f'{node}per:children\t:Entity_2\tENG_A:1-20\t0.9\n:Entity_2\ttype\tPER\n:Entity_2\tmention\t"Bo"\tENG_A:12-13\n'
        ':Entity_2\tcanonical_mention\t"Bo"\tENG_A:12-13\n',
    )
    inputs.lines(Judged(docid="ENG_A", span="12-13"), name="qrel")
    found = told(inputs, "--answer", "Bo", files=("q.xml", "qrel", "kb.tac"))
    assert [each["label"]["side"] for each in found["lines"]] == ["right"]


@pytest.mark.parametrize("width", ["40", "80", "120"])
def test_hostile_text_is_escaped_and_lines_are_wrapped(
    width: str, inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cs_score.cli import verbs

    monkeypatch.setattr(verbs, "text_width", lambda: int(width))
    inputs.lines(Judged(value=HOSTILE), name="qrel")
    inputs.lines(RunLine(HOSTILE), RunLine("日本" * 50, "ENG_2", node=":E2"))
    shown = text(inputs, "--line", "1", "--line", "2", "--node", "E2", "--query", QUERY)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31m\\u202eBo" in shown.replace("\n", "").replace(" ", "")
    assert max(len(line) + sum(sign in "日本" for sign in line) for line in shown.splitlines()) <= int(width)
