"""Explanations of Cold Start runs: what is said on inputs that show one rule each; every line is explained once, and
all explanations add up to the tables of the scorer; many lines take time in proportion to them.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.base.records import replace
from cs_score.coldstart.gold import load_run, open_gold
from cs_score.coldstart.options import Options, Policy
from cs_score.coldstart.result import ScoredRun, ScoringStopped
from cs_score.coldstart.scorer import OneRun, score_runs
from cs_score.verbs.explain.run_explanation import explanation
from cs_score.verbs.explain.run_explanation.explanation import explain
from cs_score.verbs.explain.run_explanation.selectors import matches_pattern
from tests.analysis.rewriting import Call, Variant, call_of, variants
from tests.coldstart.command import score_in
from tests.coldstart.recorded import Case, committed_cases, shared_cases, thinned
from tests.coldstart.worlds import World, worlds
from tests.growth import assert_steps_grow_in_proportion, steps
from tests.verbs.preparation.invented import OTHER, QUERY, AskedQuery, Inputs, Judged, RunLine

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


def explained(inputs: Inputs, *switches: str, status: int = 0) -> dict[str, Any]:
    """The explanation as JSON."""
    outcome = inputs.call("explain", *switches, "--format=json", *FILES)
    assert outcome.status == status, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


def text(inputs: Inputs, *switches: str) -> str:
    outcome = inputs.call("explain", *switches, *FILES)
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout.decode()


# ---- What is said

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
  placed in Q:0:0
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
near --line 1 -discipline STRING_EXACT
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
  placed in Q:1
  Label: ignored, since -ignore lists DUPLICATE (rule policies)
duplicate --line 1 -wrong INCORRECT:DUPLICATE
  Label: ignored, since -ignore lists DUPLICATE, and comes last of those that do (rule policies)
duplicate --line 1 -ignore UNASSESSED
  Label: duplicate, since no switch lists DUPLICATE (rule policies)
nominal --line 1 -justifications 1:1
  Category CORRECT: ...; line 2 would name it, but is outranked: ... [run.tab lines 1, 2] (rule nominal-mentions)
  placed in Q:1
  Label: ignored, since lines of nodes that are never named are ignored, ... (rule nominal-mentions)
short --line 1
  Label: neither right nor wrong, since no switch lists INEXACT_SHORT (rule policies)
rows --line 1 --line 2
  P = 1 / (1 + 1) = 0.5000
  R = 1 / 2 = 0.5000
  ...
  confidence (0.9 + 0.5/2) / (1 + 1/2 + 1/3) = 0.6273 (rule node-confidence)
  mapped to Q:1 (rule node-classes)
  V = 2 / 2 = 1.0000 (2 useful lines, 2 documents of its class) (rule node-values)
  hop 0: rank 1 of 2, precision there 1.0000 / 1 = 1.0000; ...
  hop 0: rank 2 of 2, precision there 1.0000 / 2 = 0.5000; ...
  Effect: without it, ...SF-ALL-Micro-F1 +0.1667
taken --line 2
  mapped to no class (rule node-classes)
  Q:1 is taken by Q:E1
eight columns --line 1
  Ranks nowhere: the run has no node ids (eight columns), so that nothing of it is ranked (rule nodes)
missed --class {QUERY}:2 --class {QUERY}:1
  Class Q:2: missed, no line of the run gives one of its answers
  ...
  Effect: if it were found, SF-AP +0.5000, SF-ALL-Micro-F1 +0.3333
  ...
  Class Q:1: found, a right line counts for it
  ...
  run.tab line 1: "Bo" is right (CORRECT); it counts for the class
bin --class {QUERY}:0
  Class Q:0: not counted, it holds what belongs to no class, and is no ground truth (rule ground-truth)
  ...
  run.tab line 1: "Bo" is wrong (INCORRECT)
merge --node :E1 --node {QUERY}:E1
  It merges 2 classes: Q:1, Q:2
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
pattern --answer [a-z]?*
  run.tab line 3: ignored (UNASSESSED)
no mentions --line 1
  Category CORRECT: ...(the pool has no mention types) [run.tab line 1] (rule nominal-mentions)
unread --line 2 --line 3 --line 4 --line 5 --line 6 --line 7
  Not read: a comment (rule lines)
  run.tab line 3: not read
  Not read: a blank line (rule lines)
  ...
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
    monkeypatch.setattr("cs_score.cli.document_output.text_width", lambda: 80)
    long = "x" * 300
    inputs.lines(
        *(Judged(code, "0" if code in "WSLI" else f"{QUERY}:1", value=f"{code}{long}", id=code) for code in "CWXSLI"),
        *(Judged(value=f"{number}{long}", value_class=f"{QUERY}:{number}", id=f"b{number}") for number in range(2, 9)),
        name="qrel",
    )
    inputs.lines(*(RunLine(f"{code}{long}", node=f":{code}{long}") for code in "CWXSLIU"), RunLine())
    shown = text(inputs).splitlines()
    assert shown[0].startswith("r1: SF-AP = ")
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
    monkeypatch.setattr("cs_score.cli.document_output.text_width", lambda: width)
    inputs.lines(Judged(value=HOSTILE), name="qrel")
    inputs.lines(RunLine(HOSTILE), RunLine("日本" * 50, "ENG_2", node=":E2"))
    shown = text(inputs, "--line", "1", "--line", "2", "--node", "E2", "--unit", QUERY)
    assert not {"\x1b", "\u202e"} & {*shown}
    assert "\\x1b[31m\\u202eBo" in shown.replace("\n", "").replace(" ", "")
    assert max(len(line) + sum(sign in "日本" for sign in line) for line in shown.splitlines()) <= width


# ---- All explanations add up to the tables

SAVED: Final = "explanation.json"
MOST_LINES: Final = 400
"""Lines of a recorded run that are explained one by one."""

COUNTED: Final = "correct incorrect inexact incorrect_parent unassessed redundant right wrong ignored".split()


def explanation_of(call: Call, *switches: str) -> dict[str, Any]:
    """An explanation by the command line; empty where there is none."""
    words = ("explain", *call.switches, *switches, "-o", SAVED, "--force", *call.queries, *call.files)
    outcome = score_in(call.folder, words)
    saved = call.folder / SAVED
    if outcome.status == 2:  # there is no pool, or no run that -runids names
        assert not saved.exists()
        return {}
    found = json.loads(saved.read_text()) if saved.exists() else {}
    assert outcome.status == (0 if found and found["fatal"] is None else 1), outcome.stderr
    saved.unlink(missing_ok=True)
    return found


def result(call: Call, run_id: str) -> ScoredRun:
    """What the scorer says of a run by itself."""
    with contextlib.chdir(call.folder):
        gold = OneRun(call.folder, run_id, shares_file=True).restrict_gold(open_gold(call.queries, call.options))
        try:
            (found,) = score_runs(load_run(gold, call.files), call.options.policy).runs
        except ScoringStopped as stop:
            (found,) = stop.partial_result.runs
        return found


def check(call: Call) -> None:
    """Hold the explanations of all runs of a call against the scorer."""
    for run_id in call.run_ids():
        whole = explanation_of(call, "--run", run_id)
        if not whole or whole["fatal"] is not None:
            continue
        found, summaries = result(call, run_id), whole["overview"]["lines"]
        assert whole["scores"] == found.scores
        check_every_line_once(call, run_id, summaries)
        check_counts(found, summaries)
        if 0 < sum(summary["status"] != "unread" for summary in summaries) <= MOST_LINES:
            words = [word for summary in summaries for word in ("--line", f"{summary['file']}:{summary['line']}")]
            lines = explanation_of(call, "--run", run_id, *words)["lines"]
            lines = [line for line in lines if line["summary"] in summaries]
            assert [line["summary"] for line in lines] == summaries
            check_lines(found, lines)
            # The costs of the overview are the effects of the lines themselves.
            effects = {(line["summary"]["file"], line["summary"]["line"]): line["effect"] for line in lines}
            for cost in whole["overview"]["costs"]:
                if cost["kind"] == "line":
                    effect = effects[cost["file"], cost["line"]]["effects"][whole["measure"]]
                    assert effect == pytest.approx(cost["gain"], abs=1e-12)


def check_every_line_once(call: Call, run_id: str, summaries: Sequence[Mapping[str, Any]]) -> None:
    """Every line of the run's files is listed once; those of other runs may be left out."""
    places = {(summary["file"], summary["line"]) for summary in summaries}
    assert len(places) == len(summaries)
    for name in {file for file, _ in places}:
        lines = (call.folder / name).read_bytes().decode("utf-8-sig").replace("\r", "").split("\n")
        for number, line in enumerate(lines, 1):
            assert (name, number) in places or line == "" or line.split("\t")[2] != run_id, (name, number)


def check_counts(found: ScoredRun, summaries: Sequence[Mapping[str, Any]]) -> None:
    """The labels of the lines of each row add up to its counts."""
    of_row: dict[str, Counter[str]] = defaultdict(Counter)
    for summary in summaries:
        if summary["status"] == "counted":
            of_row[summary["row"]].update(["SUBMITTED", *summary["labels"]])
    for row in found.tables.sf.rows:
        labels = of_row.pop(row.name, Counter())
        for name in ("submitted", *COUNTED):
            label = "IGNORE" if name == "ignored" else name.upper()
            assert labels[label] == getattr(row.counts, name), (row.name, label)
    assert not of_row


def check_lines(found: ScoredRun, explained: Sequence[Mapping[str, Any]]) -> None:
    """Each line in full says the same as the tables, the rankings, and the line in short."""
    rows = {row.name: row for row in found.tables.sf.rows}
    rankings = found.average_precision.rankings if found.average_precision is not None else ()
    nodes = {node.name: node for ranking in rankings for node in ranking.nodes}
    places = [(line["summary"]["file"], line["summary"]["line"]) for line in explained]
    for line in explained:
        summary, category, label, ranked = (line[step] for step in ("summary", "category", "label", "ranked"))
        if ranked is not None and (node := nodes.get(ranked["node"])) is not None:
            shown = [ranked[key] for key in ("confidence", "mapped_class", "value")]
            assert shown == [node.confidence, node.mapped_class, node.value]
            assert ranked["confidence_arithmetic"].endswith(f" = {node.confidence:.4f}")
            written = ranked["value_arithmetic"]
            value = 0 if "V = 0" in written else float(written.split(" = ")[2][:6])
            assert value == pytest.approx(node.value, abs=1e-4)
        if summary["status"] != "counted":
            continue
        row, own = rows[summary["row"]], line["rows"][0]
        assert [own[key] for key in ("row", "precision", "recall", "f1")] == [row.name, *row.scores]
        assert (label["labels"], label["side"]) == (summary["labels"], summary["side"])
        assert label["reason"]
        if category["name"] == "DUPLICATE":
            (kept,) = category["rests_on"]
            assert "REDUNDANT" in summary["labels"]
            assert (kept["file"], kept["line"]) in places
        elif category["rule"] == "nominal-mentions":
            assert "RIGHT" not in summary["labels"]
            assert "IGNORE" in summary["labels"] or re.search("same number|without mention type", label["reason"])
        else:
            assert category["name"] in summary["labels"]
            assert "REDUNDANT" not in summary["labels"]


@pytest.mark.parametrize(
    "case",
    [
        *thinned(committed_cases()),
        *(pytest.param(case, id=case.folder.name, marks=pytest.mark.slow) for case in shared_cases()),
    ],
)
def test_a_recorded_case(case: Case, tmp_path: Path) -> None:
    if (call := call_of(case, tmp_path)) is not None:
        check(call)


@given(worlds(), variants(), st.data())
def test_an_invented_world(world: World, variant: Variant, data: st.DataObject) -> None:
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder:
        check(variant.write(world, Path(folder), data))


# ---- Many lines, and long patterns


@pytest.mark.parametrize("pool", ["none", "one class", "a class for each", "the same value", "the same document"])
def test_all_lines_of_nodes_and_classes(pool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanation, "MOST_SCORED_AGAIN", 1)

    def prepared(size: int) -> Callable[[], object]:
        inputs = Inputs(tmp_path)
        inputs.queries()
        run, judged = [], []
        for at in range(size):
            value = f"Bo{at + 1}" if pool in ("a class for each", "the same document") else "Bo"
            run += [RunLine(value, f"ENG_{at}", node=":E1"), RunLine(value, f"SPA_{at}", node=f":N{at}")]
            one = Judged(id=f"a{at}", value=value, docid=f"ENG_{at}", value_class=f"{QUERY}:{value[2:] or 1}")
            if pool == "the same document":
                one = replace(one, value=f"Zo{at}", docid="ENG_1", span=f"{at}-{at + 3}")
            judged.append(replace(one, docid=f"ENG_{size + at}") if pool == "the same value" else one)
        inputs.lines(*run)
        inputs.lines(*judged[: 1 if pool == "none" else size], name="qrel")
        return lambda: inputs.call("explain", "--answer", "*", *FILES)

    assert_steps_grow_in_proportion(prepared, 40)


def test_effects_of_lines_beyond_those_that_are_scored_again_are_not_given(
    inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs.lines(*(RunLine(docid=f"ENG_{number}", node=f":E{number}") for number in range(4)))
    monkeypatch.setattr(explanation, "MOST_SCORED_AGAIN", 5)
    found = explained(inputs, "--answer", "B*", "--line", "4")["lines"]
    assert [line["summary"]["line"] for line in found] == [4, 1, 2, 3, 4]
    assert [None in line["effect"]["effects"].values() for line in found] == [False, False, False, True, True]
    assert found[3]["effect"]["reason"] == "not computed for so many lines; --line 3 asks for it"
    assert found[3]["effect"]["removed"] == [{"file": "run.tab", "line": 3}]


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_stars_of_a_pattern_stand_for_any_text(pattern: str, value: str) -> None:
    wanted = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    assert matches_pattern(value, pattern) is (wanted.fullmatch(value) is not None)


def test_a_pattern_of_many_stars_takes_one_search_for_each() -> None:
    pattern, value = "*a" * 40 + "*b", "a" * 20_000
    assert not matches_pattern(value, pattern)
    assert steps(lambda: matches_pattern(value + "b", pattern)) < 300
