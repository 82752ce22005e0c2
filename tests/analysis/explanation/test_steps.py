"""The steps of a line, a class, a node and a query, on inputs that show one rule each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from cs_score.analysis.coldstart.explanation.explanation import explain
from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.coldstart.gold import load_run, open_gold
from cs_score.coldstart.options import Options, Policy
from tests.coldstart.command import Outcome
from tests.preparation.invented import OTHER, QUERY, AskedQuery, Inputs, Judged, RunLine

FILES = ("q.xml", "qrel", "run.tab")
HOSTILE = "\x1b[31m\u202eBo"


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    """A folder with the usual query, an answer that the pool has, and a line that gives it."""
    made = Inputs(tmp_path)
    made.queries()
    made.lines(Judged(), name="qrel")
    made.lines(RunLine())
    return made


def explained(inputs: Inputs, *switches: str, files: tuple[str, ...] = FILES, status: int = 0) -> dict[str, Any]:
    """The explanation as JSON."""
    outcome = inputs.call("explain", *switches, "--format=json", *files)
    assert outcome.status == status, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)
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


class Holding(str):
    """Equals every text that it is part of."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str(self) in str(other)

    __hash__ = None  # type: ignore[assignment]


def value_at(found: Any, path: str) -> Any:
    """What stands at a path of keys and indexes: `met.nearest.0.how`."""
    for name in path.split("."):
        found = found[int(name) if isinstance(found, list) else name]
    return found


def at(*lines: int) -> list[dict[str, object]]:
    """Lines of the run."""
    return [{"file": "run.tab", "line": number} for number in lines]


class Shown(NamedTuple):
    """Lines of a pool and a run, the number of one of those, and what its explanation has by path."""

    pool: Sequence[Judged]
    run: Sequence[RunLine]
    number: int
    expected: dict[str, Any]
    switches: str = ""
    slot: str = ""


C, CY, TWIN = Judged(), RunLine("Cy", "ENG_4"), RunLine(relation="ENG_1:1-25", node=":E2")
CROWDED = [RunLine(span="7-9", confidence="0.5"), RunLine(), RunLine("Al", span="1-2", confidence="0.5")]
NODE = [RunLine(docid=f"ENG_{number}", confidence=f"0.{number}") for number in range(1, 6)]
CITY = "per:city_of_birth"
CITIES = [RunLine(slot=CITY, confidence="0.3"), RunLine("Al", "ENG_2", slot=CITY, node=":E2")]
BOB = Judged(value="Bob", docid="ENG_2", id="a2")
DUPLICATE = [Judged(value_mention="NOM"), BOB], [RunLine(), RunLine("Bob", "ENG_2")], 1
NOMINAL = (
    [Judged(value_mention="NOM", value="her son"), Judged(docid="ENG_2", value_class=f"{QUERY}:2", id="a2")],
    [RunLine("her son"), RunLine(docid="ENG_2", confidence="0.4")],
    1,
)
NEAR = [
    Judged(docid="ENG_7", id="elsewhere"),
    Judged("W", "0", value="Bob", id="another"),
    Judged("W", "0", value="Zoe", span="7-9", id="document"),
    Judged("W", "0", value="Zoe", docid="ENG_8", id="far"),
    Judged(id="same"),
]
WRONG = Judged("W", "0", value="Cy", docid="ENG_3", id="a3")
DI = Judged(value="Di", docid="ENG_4", value_class=f"{QUERY}:2", id="a4")
POOL = [C, BOB, WRONG, DI]
RANKED = [RunLine(), RunLine("Cy", "ENG_3", confidence="0.8", node=":E2"), RunLine("Bob", "ENG_2", "0.5")]

LINES: Final = {
    "repairs and problems": Shown(
        [C],
        [RunLine(), RunLine("Al", confidence="7", relation="ENG_1:1-20;ENG_1:30-40")],
        2,
        {
            "read.counted_as": {"RELATION_PROVENANCE_TRIPLES": "ENG_1:1-20,ENG_1:30-40", "CONFIDENCE": "1.0"},
            "read.problems.0.code": "ILLEGAL_CONFIDENCE_VALUE",
            "read.problems.1.code": "SEMICOLON_AS_SEPARATOR",
        },
    ),
    "the chain of a second hop": Shown(
        [C, Judged("W", "0", value="Cy", docid="ENG_4", id="a2")],
        [RunLine(), CY, CY.child()],
        3,
        {
            "asked.hop": 1,
            "asked.chain": [{**at(2)[0], "value": "Cy", "category": "INCORRECT", "side": "wrong"}],
            "category.name": "INCORRECT_PARENT",
            "category.rests_on": at(2),
            "label.reason": "-wrong lists INCORRECT_PARENT",
        },
    ),
    # The trap of 7.4: an unassessed twin before the right parent makes its children wrong.
    "the first of two parents decides": Shown(
        [C],
        [TWIN, RunLine(), RunLine().child()],
        3,
        {
            "category.reason": Holding("the first line that gives the answer which its query asks about is UNASSESSED"),
            "category.rests_on": at(1),
        },
    ),
    "nearest assessments": Shown(
        NEAR,
        [RunLine(relation="ENG_1:1-21")],
        1,
        {
            "met.assessment": None,
            "met.nearest.0.assessment.id": "same",
            "met.nearest.0.differs": {"RELATION_PROVENANCE_TRIPLES": "ENG_1:1-20"},
            "met.nearest.1.assessment.id": "elsewhere",
            "met.nearest.1.differs.VALUE_PROVENANCE_TRIPLES": "ENG_7:3-5",
            "met.nearest.2.assessment.id": "another",
            "met.nearest.2.differs": {"RELATION_PROVENANCE_TRIPLES": "ENG_1:1-20", "VALUE": "Bob"},
        },
    ),
    "nothing met": Shown([Judged(docid="ENG_7")], [RunLine()], 1, {"met.assessment": None}),
    "met by its value": Shown(
        [Judged(docid="ENG_7")],
        [RunLine()],
        1,
        {"met.assessment.line": 1, "met.how": Holding("the same value")},
        "-discipline STRING_EXACT",
    ),
    "limit for each document": Shown(
        [C],
        CROWDED,
        1,
        {
            "kept.limit": "A = 1 for each node and document",
            "kept.in_favour_of": at(2),
            "kept.order": "the higher confidence stays: 0.9 > 0.5",
        },
    ),
    "kept": Shown([C], CROWDED, 2, {"kept.limit": None}),
    "the earlier of two with one confidence": Shown(
        [C],
        CROWDED,
        3,
        {"kept.order": "the confidence is the same, 0.5; the earlier line stays: 1 < 3"},
        "-justifications 2:3",
    ),
    "limit for each node": Shown([C], NODE, 1, {"kept.limit": "B = 3 for each node", "kept.in_favour_of": at(5, 4, 3)}),
    "a slot that takes one value": Shown(
        [Judged(slot=CITY)],
        CITIES,
        1,
        {
            "kept.limit": "the slot takes one value",
            "kept.order": f"node {QUERY}:E2 has the higher confidence: 0.4909 > 0.1636",
        },
        slot=CITY,
    ),
    "discarded without parent": Shown(
        [C], [RunLine("Al", "ENG_2"), RunLine().child()], 2, {"kept.limit": Holding("its query asks about")}
    ),
    "a duplicate": Shown(
        *DUPLICATE,
        {
            "category.name": "DUPLICATE",
            "category.rests_on": at(2),
            "category.reason": Holding("it is a name, and this a description"),
            "label.rule": "policies",
            "label.side": "ignored",
            "label.labels": ["CORRECT", "IGNORE", "REDUNDANT"],
            "label.reason": "-ignore lists DUPLICATE",
        },
    ),
    "two switches list it": Shown(
        *DUPLICATE,
        {"label.reason": "-ignore lists DUPLICATE, and comes last of those that do"},
        "-wrong INCORRECT:DUPLICATE",
    ),
    "no switch lists it": Shown(
        *DUPLICATE, {"label.side": "duplicate", "label.reason": "no switch lists DUPLICATE"}, "-ignore UNASSESSED"
    ),
    "the nominal rule": Shown(
        *NOMINAL,
        {
            "category.name": "CORRECT",
            "category.rule": "nominal-mentions",
            "category.rests_on": at(1, 2),
            "category.reason": Holding("line 2 would name it, but is outranked"),
            "label.side": "ignored",
        },
        "-justifications 1:1",
    ),
    "a line that is named": Shown(*NOMINAL, {"label.side": "right"}),
    "a judgment that no switch lists": Shown(
        [Judged("S", "0")],
        [RunLine()],
        1,
        {"label.side": "neither right nor wrong", "label.reason": "no switch lists INEXACT_SHORT"},
    ),
    "arithmetic of rows and ranks": Shown(
        POOL,
        RANKED,
        1,
        {
            "rows.0.arithmetic": [
                "P = 1 / (1 + 1) = 0.5000",
                "R = 1 / 2 = 0.5000",
                "F1 = 2 * 0.5000 * 0.5000 / (0.5000 + 0.5000) = 0.5000",
            ],
            "ranked.confidence_arithmetic": "(0.9 + 0.5/2) / (1 + 1/2 + 1/3) = 0.6273",
            "ranked.value_arithmetic": "V = 2 / 2 = 1.0000 (2 useful lines, 2 documents of its class)",
            "ranked.ranks.0.rank": 1,
        },
    ),
    # Without the wrong line: P = 1, R = 1/2, so F1 is 2/3 instead of 1/2 in a row that is the only one.
    "the effect of a wrong line": Shown(
        POOL,
        RANKED,
        2,
        {
            "effect.effects.SF-ALL-Micro-F1": pytest.approx(2 / 3 - 1 / 2, abs=1e-12),
            "ranked.ranks.0.arithmetic": "1.0000 / 2 = 0.5000",
        },
    ),
    "a class that another node has taken": Shown(
        [C, Judged(docid="ENG_2", id="a2")],
        [RunLine(), RunLine(docid="ENG_2", node=":E2", confidence="0.5")],
        2,
        {"ranked.mapped_class": None, "ranked.taken_by": {f"{QUERY}:1": f"{QUERY}:E1"}},
    ),
    "eight columns": Shown(
        [C], [RunLine(node=None)], 1, {"ranked": None, "not_ranked": Holding("eight columns"), "label.side": "right"}
    ),
}


@pytest.mark.parametrize("shown", LINES.values(), ids=LINES)
def test_a_line(shown: Shown, inputs: Inputs) -> None:
    if shown.slot:
        inputs.queries(AskedQuery(slots=(shown.slot,)))
    inputs.lines(*shown.pool, name="qrel")
    inputs.lines(*shown.run)
    (found,) = explained(inputs, "--line", str(shown.number), *shown.switches.split())["lines"]
    assert {path: value_at(found, path) for path in shown.expected} == shown.expected


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
    inputs.write("run.tab", f"{RunLine().text()}\n{text}\n{RunLine('Al', 'ENG_2').text()}\n")
    (found,) = explained(inputs, "--line", "2")["lines"]
    assert found["read"]["not_read"].startswith(reason)
    assert (found["label"], found["rows"]) == (None, [])
    assert found["read"]["rests_on"] == (at(1)[0] if "repeats" in reason else None)


def test_a_pool_without_mention_types(inputs: Inputs) -> None:
    columns = Judged().text().split("\t")
    inputs.write("qrel", "\t".join([*columns[:6], columns[7], columns[8]]) + "\n")
    (found,) = explained(inputs, "--line", "1")["lines"]
    assert found["category"]["rule"] == "nominal-mentions"
    assert "the pool has no mention types" in found["category"]["reason"]


def test_the_whole_is_one_screen(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 40 lines of 80 columns, however many categories there are and however long the texts are."""
    monkeypatch.setattr("cs_score.cli.verbs.text_width", lambda: 80)
    long = "x" * 300
    inputs.lines(
        *(Judged(code, "0" if code in "WSLI" else f"{QUERY}:1", value=f"{code}{long}", id=code) for code in "CWXSLI"),
        *(Judged(value=f"{number}{long}", value_class=f"{QUERY}:{number}", id=f"b{number}") for number in range(2, 9)),
        name="qrel",
    )
    inputs.lines(*(RunLine(f"{code}{long}", node=f":{code}{long}") for code in "CWXSLIU"), RunLine())
    shown = text(inputs).splitlines()
    assert shown[0].startswith("r1: SF-ALL-Micro-F1 = ")
    assert len(shown) <= 40
    assert max(map(len, shown)) <= 80


def test_a_class_that_was_missed_has_the_effect_of_finding_it(inputs: Inputs) -> None:
    inputs.lines(C, DI, name="qrel")
    (missed,) = explained(inputs, "--class", f"{QUERY}:2")["classes"]
    assert (missed["status"], missed["reason"]) == ("missed", "no line of the run gives one of its answers")
    assert missed["effect"]["effects"]["SF-ALL-Micro-F1"] == pytest.approx(1 - 2 / 3, abs=1e-12)
    (found,) = explained(inputs, "--class", f"{QUERY}:1")["classes"]
    assert (found["status"], found["counted"]) == ("found", [{"file": "run.tab", "line": 1}])


def test_the_bin_of_wrong_answers_is_no_ground_truth(inputs: Inputs) -> None:
    inputs.lines(Judged("W", "0"), name="qrel")
    (found,) = explained(inputs, "--class", f"{QUERY}:0")["classes"]
    assert (found["status"], [summary["line"] for summary in found["lines"]]) == ("not counted", [1])


def test_a_node_that_merges_classes(inputs: Inputs) -> None:
    inputs.lines(C, DI, name="qrel")
    inputs.lines(RunLine(), RunLine("Di", "ENG_4"))
    for name in (":E1", "E1", f"{QUERY}:E1"):
        (node,) = explained(inputs, "--node", name)["nodes"]
        assert node["classes"] == [f"{QUERY}:1", f"{QUERY}:2"]
    assert "It merges 2 classes" in text(inputs, "--node", "E1")


def test_a_query_with_its_classes_lines_and_rows(inputs: Inputs) -> None:
    inputs.lines(C, DI, name="qrel")
    inputs.lines(RunLine(), RunLine("Al", "ENG_2", node=":E2"), RunLine().child())
    (query,) = explained(inputs, "--unit", QUERY)["queries"]
    assert {one["name"]: one["status"] for one in query["classes"]} == {f"{QUERY}:1": "found", f"{QUERY}:2": "missed"}
    assert query["categories"] == {"CORRECT": 1, "UNASSESSED": 2}
    assert query["entry_points"] == [{"name": "Ann", "docid": "ENG_A", "start": "5", "end": "9"}]
    (below,) = explained(inputs, "--unit", RunLine().child().query)["queries"]
    assert [summary["line"] for summary in below["lines"]] == [3]
    assert [row["row"] for row in below["rows"]] == [f"{QUERY}:1"]


def test_answers_with_a_pattern(inputs: Inputs) -> None:
    inputs.lines(RunLine(), RunLine("Bob", "ENG_2"), RunLine("[a-z]?*", "ENG_3"))
    assert [each["summary"]["line"] for each in explained(inputs, "--answer", "Bo*")["lines"]] == [1, 2]
    assert [each["summary"]["line"] for each in explained(inputs, "--answer", "[a-z]?*")["lines"]] == [3]


@pytest.mark.parametrize(
    ("switches", "said"),
    [
        (("--line", "9"), "there is no line 9 to explain; run.tab has lines 1 to 1"),
        (("--line", "run.ta:1"), "there is no run file run.ta; did you mean run.tab?"),
        (("--line", "qrel:1"), "qrel is a pool, not a run"),
        (("--unit", "CSX_ENG_979a86d86e"), f"did you mean {QUERY}?"),
        (("--class", f"{QUERY}:7"), f"did you mean {QUERY}:2 or {QUERY}:1?"),
        (("--node", "E"), "there is no node E"),
        (("--answer", "Bq"), "no line of the run gives the answer Bq"),
        (("--answer", "Di"), f"the pool has it in class {QUERY}:2; ask for that with --class"),
    ],
)
def test_a_selector_that_meets_nothing_gets_the_nearest_names(
    switches: tuple[str, ...], said: str, inputs: Inputs
) -> None:
    inputs.lines(C, DI, name="qrel")
    assert said in refusal(inputs.call("explain", *switches, *FILES))


def test_a_line_without_number_is_wrong_usage(inputs: Inputs) -> None:
    outcome = inputs.call("explain", "--line", "first", *FILES)
    assert outcome.status == 2
    assert b"the number of a line is needed" in outcome.stderr


def test_a_run_that_cannot_be_read_to_its_end(inputs: Inputs) -> None:
    inputs.lines(RunLine(), RunLine(query=OTHER), RunLine("Al"))
    outcome = inputs.call("explain", "--line", "1", *FILES)
    assert outcome.status == 1
    assert outcome.stdout.startswith(b"r1 cannot be scored\n  run.tab: line 2: Query ")
    assert b"run.tab line 1: not scored" in outcome.stdout
    assert b"not loaded" in outcome.stderr
    assert "reading stopped: run.tab: line 2" in refusal(inputs.call("explain", "--line", "3", *FILES))
    found = explained(inputs, status=1)
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
    found = explained(inputs, "--line", "1", "--line", "2", status=1)
    assert "Equivalence class without correct parent entry" in found["fatal"]
    first, second = found["lines"]
    assert "could not be counted" in first["stopped_by"]
    assert second["label"]["side"] == "right"
    assert second["effect"] is None


def test_several_runs(inputs: Inputs) -> None:
    inputs.lines(RunLine(), RunLine("Al", "ENG_2", run_id="r2", node=":E2"))
    outcome = inputs.call("explain", *FILES)
    assert outcome.status == 2
    assert b"there are 2 runs (r1 in run.tab, r2 in run.tab)" in outcome.stderr
    (found,) = explained(inputs, "--run", "r2", "--line", "2")["lines"]
    assert found["label"]["side"] == "ignored"
    names = [str(inputs.folder / name) for name in FILES]
    scored = score_for_analysis(load_run(open_gold(names[:1], Options()), names[1:]), Policy(), "r2")
    assert "it belongs to run r1" in str(explain(scored, line=1).lines[0].stopped_by)


def test_a_knowledge_base_is_explained_as_its_run(inputs: Inputs) -> None:
    node = ":Entity_1\t"
    inputs.write(
        "kb.tac",
        f'KB_1\n{node}type\tPER\n{node}mention\t"Ann"\tENG_A:5-9\n{node}canonical_mention\t"Ann"\tENG_A:5-9\n'
        f'{node}per:children\t:Entity_2\tENG_A:1-20\t0.9\n:Entity_2\ttype\tPER\n:Entity_2\tmention\t"Bo"\tENG_A:12-13\n'
        ':Entity_2\tcanonical_mention\t"Bo"\tENG_A:12-13\n',
    )
    inputs.lines(Judged(docid="ENG_A", span="12-13"), name="qrel")
    found = explained(inputs, "--answer", "Bo", files=("q.xml", "qrel", "kb.tac"))
    assert [each["label"]["side"] for each in found["lines"]] == ["right"]


@pytest.mark.parametrize("width", ["40", "80", "120"])
def test_hostile_text_is_escaped_and_lines_are_wrapped(
    width: str, inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cs_score.cli import verbs

    monkeypatch.setattr(verbs, "text_width", lambda: int(width))
    inputs.lines(Judged(value=HOSTILE), name="qrel")
    inputs.lines(RunLine(HOSTILE), RunLine("日本" * 50, "ENG_2", node=":E2"))
    shown = text(inputs, "--line", "1", "--line", "2", "--node", "E2", "--unit", QUERY)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31m\\u202eBo" in shown.replace("\n", "").replace(" ", "")
    assert max(len(line) + sum(sign in "日本" for sign in line) for line in shown.splitlines()) <= int(width)
