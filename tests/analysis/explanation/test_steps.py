"""What is said of lines, classes, nodes and queries, on inputs that show one rule each."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.analysis.coldstart.explanation.explanation import explain
from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.coldstart.gold import load_run, open_gold
from cs_score.coldstart.options import Options, Policy
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


def explained(inputs: Inputs, *switches: str, status: int) -> dict[str, Any]:
    """The explanation as JSON."""
    outcome = inputs.call("explain", *switches, "--format=json", *FILES)
    assert outcome.status == status, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


def text(inputs: Inputs, *switches: str) -> str:
    outcome = inputs.call("explain", *switches, *FILES)
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout.decode()


C, SECOND, CHILD = Judged(), Judged(docid="ENG_2", id="a2"), RunLine().child()
BOB, BOB_LINE = Judged(value="Bob", docid="ENG_2", id="a2"), RunLine("Bob", "ENG_2", confidence="0.5")
DI, DI_LINE = Judged(value="Di", docid="ENG_4", value_class=f"{QUERY}:2", id="a4"), RunLine("Di", "ENG_4")
WRONG_CY, CY = Judged("W", "0", value="Cy", docid="ENG_3", id="a3"), RunLine("Cy", "ENG_3", "0.8", node=":E2")
CITY = "per:city_of_birth"
ZOES = [Judged("W", "0", value="Zoe", span="7-9", id="z1"), Judged("W", "0", value="Zoe", docid="ENG_8", id="z2")]
OTHER_JUSTIFICATION = RunLine(relation="ENG_1:1-25", node=":E2")
HER_SON = Judged(value_mention="NOM", value="her son")

WORLDS: Final[dict[str, tuple[Sequence[str | Judged], Sequence[str | RunLine]]]] = {
    "repairs": ([C], [RunLine(), RunLine("Al", confidence="7", relation="ENG_1:1-20;ENG_1:30-40")]),
    "second hop": ([C, WRONG_CY], [RunLine(), CY, CY.child()]),
    "two parents": ([C], [OTHER_JUSTIFICATION, RunLine(), CHILD]),
    "near": ([Judged(docid="ENG_7", id="a2"), *ZOES, Judged("W", "0", value="Bob", id="a3"), C], [OTHER_JUSTIFICATION]),
    "elsewhere": ([SECOND], [RunLine()]),
    "crowded": ([C], [RunLine(span="7-9", confidence="0.5"), RunLine(), RunLine("Al", span="1-2", confidence="0.5")]),
    "node": ([C], [RunLine(docid=f"ENG_{number}", confidence=f"0.{number}") for number in range(1, 6)]),
    "cities": (
        [Judged(slot=CITY)],
        [RunLine(slot=CITY, confidence="0.3"), RunLine("Al", "ENG_2", slot=CITY, node=":E2")],
    ),
    "orphan": ([C], [RunLine("Al", "ENG_2"), CHILD]),
    "duplicate": ([Judged(value_mention="NOM"), BOB], [RunLine(), RunLine("Bob", "ENG_2")]),
    "nominal": (
        [HER_SON, Judged(docid="ENG_2", value_class=f"{QUERY}:2", id="a2")],
        [RunLine("her son"), RunLine(docid="ENG_2", confidence="0.4")],
    ),
    "short": ([Judged("S", "0")], [RunLine()]),
    "rows": ([C, BOB, WRONG_CY, DI], [RunLine(), CY, BOB_LINE]),
    "taken": ([C, SECOND], [RunLine(), RunLine(docid="ENG_2", node=":E2", confidence="0.5")]),
    "eight columns": ([C], [RunLine(node=None)]),
    "missed": ([C, DI], [RunLine()]),
    "bin": ([Judged("W", "0")], [RunLine()]),
    "no mentions": (
        ["\t".join(column for at, column in enumerate(C.text().split("\t")) if at not in (6, 9))],
        [RunLine()],
    ),
    "unread": ([C], [RunLine(), "# a comment", "", "a\tb", RunLine(), RunLine(slot="per:age"), RunLine(value=" ")]),
    "merge": ([C, DI], [RunLine(), DI_LINE]),
    "query": ([C, DI], [RunLine(), RunLine("Al", "ENG_2", node=":E2"), CHILD]),
    "pattern": ([C], [RunLine(), BOB_LINE, RunLine("[a-z]?*", "ENG_3")]),
}
"""Lines of a pool and of a run."""

SAID: Final = f"""
repairs --line 2
  RELATION_PROVENANCE_TRIPLES counts as ENG_1:1-20,ENG_1:30-40
  CONFIDENCE counts as 1.0
  ERROR ILLEGAL_CONFIDENCE_VALUE: Illegal confidence value: 7
  WARNING SEMICOLON_AS_SEPARATOR: A semicolon...
second hop --line 3
  Asked by ...: per:schools_attended of "Cy", hop 1 (rule follow-on-queries)
  below "Cy" (run.tab line 2), wrong (INCORRECT)
  ...
  Category INCORRECT_PARENT: its parent is INCORRECT, so that ... (wrong) [run.tab line 2] (rule paths)
  stands in Q:0:0
  Label: wrong, since -wrong lists INCORRECT_PARENT (rule policies)
two parents --line 3
  Category INCORRECT_PARENT: the first line that gives the answer ... is UNASSESSED, ... [run.tab line 1] (rule paths)
near --line 1
  near: qrel line 5: "Bo" is CORRECT, class Q:1, NAM; the same answer with another justification
  RELATION_PROVENANCE_TRIPLES is ENG_1:1-20 there
  near: qrel line 1: "Bo" is CORRECT, class Q:1, NAM; the same value elsewhere
  RELATION_PROVENANCE_TRIPLES is ENG_7:1-20 there
  VALUE_PROVENANCE_TRIPLES is ENG_7:3-5 there
  near: qrel line 4: "Bob" is INCORRECT, NAM; the same place with another value
  RELATION_PROVENANCE_TRIPLES is ENG_1:1-20 there
  VALUE is Bob there
  Category UNASSESSED: ...
elsewhere --line 1
  Met no assessment: ...
elsewhere --line 1 -discipline STRING_EXACT
  Met qrel line 1: "Bo" is CORRECT, class Q:1, NAM
  the same value, since no assessment has the same justification (STRING_EXACT) (rule matching)
crowded --line 1 --line 2
  Discarded: A = 1 for each node and document (rule limits)
  in favour of run.tab line 2: the higher confidence stays: 0.9 > 0.5
  ...
  Kept: within the limits 1:3 (rule limits)
crowded --line 3 -justifications 2:3
  in favour of run.tab lines 2, 1: the confidence is the same, 0.5; the earlier line stays: 1 < 3
node --line 1
  Discarded: B = 3 for each node (rule limits)
  in favour of run.tab lines 5, 4, 3: the higher confidence stays: 0.3 > 0.1
cities --line 1
  Discarded: the slot takes one value (rule single-values)
  in favour of run.tab line 2: node Q:E2 has the higher confidence: 0.4909 > 0.1636
orphan --line 2
  Discarded: all lines that give the answer which its query asks about were discarded, or there are none (rule limits)
duplicate --line 1
  Category DUPLICATE: right, but ... it is a name, and this a description [run.tab line 2] (rule policies)
  stands in Q:1
  Label: ignored, since -ignore lists DUPLICATE (rule policies)
duplicate --line 1 -wrong INCORRECT:DUPLICATE
  Label: ignored, since -ignore lists DUPLICATE, and comes last of those that do (rule policies)
duplicate --line 1 -ignore UNASSESSED
  Label: duplicate, since no switch lists DUPLICATE (rule policies)
nominal --line 1 -justifications 1:1
  Category CORRECT: ...; line 2 would name it, but is outranked: ... [run.tab lines 1, 2] (rule nominal-mentions)
  stands in Q:1
  Label: ignored, since lines of nodes that are never named are ignored, ... (rule nominal-mentions)
nominal --line 1
  Label: right, since -right lists CORRECT (rule policies)
short --line 1
  Label: neither right nor wrong, since no switch lists INEXACT_SHORT (rule policies)
rows --line 1 --line 2
  SF Q, hop 0 (rule counts)
  P = 1 / (1 + 1) = 0.5000
  R = 1 / 2 = 0.5000
  F1 = 2 * 0.5000 * 0.5000 / (0.5000 + 0.5000) = 0.5000
  Ranks as node Q:E1
  confidence (0.9 + 0.5/2) / (1 + 1/2 + 1/3) = 0.6273 (rule node-confidence)
  mapped to Q:1 (rule node-classes)
  V = 2 / 2 = 1.0000 (2 useful lines, 2 documents of its class) (rule node-values)
  hop 0: rank 1 of 2, precision there 1.0000 / 1 = 1.0000; ...
  hop 0: rank 2 of 2, precision there 1.0000 / 2 = 0.5000; ...
  Effect: without it, SF-ALL-Micro-F1 +0.1667, ...
taken --line 2
  mapped to no class (rule node-classes)
  Q:1 is taken by Q:E1
eight columns --line 1
  Label: right, ...
  Ranks nowhere: the run has no node ids (eight columns), so that nothing of it is ranked (rule nodes)
missed --class {QUERY}:2 --class {QUERY}:1
  Class Q:2: missed, no line of the run gives one of its answers
  ...
  Effect: if it were found, SF-ALL-Micro-F1 +0.3333, ...
  Class Q:1: found, a right line counts for it
  ...
  run.tab line 1: "Bo" is right (CORRECT); it counts for the class
bin --class {QUERY}:0
  Class Q:0: not counted, it holds what belongs to no class, and is no ground truth (rule ground-truth)
  ...
  run.tab line 1: "Bo" is wrong (INCORRECT)
merge --node :E1 --node E1 --node {QUERY}:E1
  It merges 2 classes: Q:1, Q:2
  ...
  Node Q:E1, 2 lines
  ...
  Node Q:E1, 2 lines
query --unit {QUERY}
  Entry point: "Ann" at ENG_A:5-9
  Classes (1 found, 1 missed):
  Q:1 "Bo": found by run.tab line 1
  Q:2 "Di": missed
  Lines (3):
  CORRECT (1)
  ...
  UNASSESSED (2)
query --unit {CHILD.query}
  Lines (1):
  UNASSESSED (1)
  run.tab line 3: "Yale" is ignored (UNASSESSED)
  Rows:
  SF Q:1, hop 1 (rule counts)
pattern --answer Bo*
  run.tab line 1: right (CORRECT)
  ...
  run.tab line 2: ignored (UNASSESSED)
pattern --answer [a-z]?*
  run.tab line 3: ignored (UNASSESSED)
no mentions --line 1
  Category CORRECT: ...(the pool has no mention types) [run.tab line 1] (rule nominal-mentions)
unread --line 2 --line 3 --line 4 --line 5 --line 6 --line 7
  run.tab line 2: not read
  Not read: a comment (rule lines)
  run.tab line 3: not read
  Not read: a blank line (rule lines)
  run.tab line 4: not read
  Not read: it has 2 columns, where lines of this layout have 9 (rule lines)
  ...
  Not read: it repeats an earlier line of its file, run.tab line 1 (rule lines)
  ...
  Skipped, since its slot is per:age and its query asks for per:children; ...
  Skipped, since its column VALUE is empty; ...
"""
"""What is asked for of a world, and what is said then, in this order; `...` stands for anything, Q for the query."""


@pytest.mark.parametrize(("asked", "said"), re.findall(r"^(\w.*)\n((?:  .*\n)+)", SAID, re.MULTILINE))
def test_what_is_said(asked: str, said: str, inputs: Inputs) -> None:
    name, switches = asked.split(" --", 1)
    if name == "cities":
        inputs.queries(AskedQuery(slots=(CITY,)))
    pool, run = WORLDS[name]
    inputs.lines(*pool, name="qrel")
    inputs.lines(*run)
    rows = [row.split("\t") for row in text(inputs, *f"--{switches} --format=tsv".split()).splitlines()[1:]]
    shown = "".join(f"  {row[2]}\n" for row in rows).replace(QUERY, "Q")
    assert re.search("^" + ".*".join(map(re.escape, said.split("..."))), shown, re.DOTALL | re.MULTILINE), shown


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


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("--line=9", "there is no line 9 to explain; run.tab has lines 1 to 1"),
        ("--line=run.ta:1", "there is no run file run.ta; did you mean run.tab?"),
        ("--line=qrel:1", "qrel is a pool, not a run"),
        ("--unit=CSX_ENG_979a86d86e", f"did you mean {QUERY}?"),
        (f"--class={QUERY}:7", f"did you mean {QUERY}:2 or {QUERY}:1?"),
        ("--node=E", "there is no node E"),
        ("--answer=Bq", "no line of the run gives the answer Bq"),
        ("--answer=Di", f"the pool has it in class {QUERY}:2; ask for that with --class"),
        ("--line=first", "the number of a line is needed"),
    ],
)
def test_a_selector_that_meets_nothing_gets_the_nearest_names(selector: str, said: str, inputs: Inputs) -> None:
    inputs.lines(C, DI, name="qrel")
    outcome = inputs.call("explain", selector, *FILES)
    assert (outcome.status, outcome.stdout) == (2 if "first" in selector else 1, b"")
    assert said in outcome.stderr.decode().splitlines()[0]


def test_a_run_that_cannot_be_read_to_its_end(inputs: Inputs) -> None:
    inputs.lines(RunLine(), RunLine(query=OTHER), RunLine("Al"))
    outcome = inputs.call("explain", "--line", "1", *FILES)
    assert (outcome.status, b"not loaded" in outcome.stderr) == (1, True)
    assert outcome.stdout.startswith(b"r1 cannot be scored\n  run.tab: line 2: Query ")
    assert b"run.tab line 1: not scored" in outcome.stdout
    assert b"reading stopped: run.tab: line 2" in inputs.call("explain", "--line", "3", *FILES).stderr
    found = explained(inputs, status=1)
    assert (found["score"], found["measure"], "not loaded" in found["fatal"]) == (None, "SF-ALL-Micro-F1", True)


def test_a_pool_that_cannot_be_counted_leaves_other_queries_explained(inputs: Inputs) -> None:
    inputs.queries(AskedQuery(), AskedQuery(OTHER))
    inputs.lines(
        Judged("W", "0"),
        Judged(query=CHILD.query, slot="per:schools_attended", value_class=f"{QUERY}:1:1", id="a2", docid="ENG_9"),
        Judged(query=OTHER, value_class=f"{OTHER}:1", id="a3"),
        name="qrel",
    )
    inputs.lines(RunLine(), RunLine(query=OTHER))
    found = explained(inputs, "--line", "1", "--line", "2", status=1)
    assert "Equivalence class without correct parent entry" in found["fatal"]
    first, second = found["lines"]
    assert "could not be counted" in first["stopped_by"]
    assert (second["label"]["side"], second["effect"]) == ("right", None)


def test_a_line_of_another_run(inputs: Inputs) -> None:
    inputs.lines(RunLine(), RunLine("Al", "ENG_2", run_id="r2", node=":E2"))
    names = [str(inputs.folder / name) for name in FILES]
    scored = score_for_analysis(load_run(open_gold(names[:1], Options()), names[1:]), Policy(), "r2")
    assert "it belongs to run r1" in str(explain(scored, line=1).lines[0].stopped_by)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_hostile_text_is_escaped_and_lines_are_wrapped(
    width: int, inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cs_score.cli.verbs.text_width", lambda: width)
    inputs.lines(Judged(value=HOSTILE), name="qrel")
    inputs.lines(RunLine(HOSTILE), RunLine("日本" * 50, "ENG_2", node=":E2"))
    shown = text(inputs, "--line", "1", "--line", "2", "--node", "E2", "--unit", QUERY)
    assert not {"\x1b", "\u202e"} & {*shown}
    assert "\\x1b[31m\\u202eBo" in shown.replace("\n", "").replace(" ", "")
    assert max(len(line) + sum(sign in "日本" for sign in line) for line in shown.splitlines()) <= width
