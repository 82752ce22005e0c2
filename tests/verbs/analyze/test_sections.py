"""Sections of an analysis: its cost list, policies, problems, thresholds, intervals of groups, scenarios."""

from __future__ import annotations

import itertools
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.changes import Editor
from cs_score.analysis.coldstart.faults import NO_RIGHT_PARENT, ONLY_INEXACT, ONLY_NOMINAL, find_faults
from cs_score.analysis.coldstart.scored import AnalysedRun, score_for_analysis
from cs_score.base.records import replace
from cs_score.coldstart.gold import load_run, open_gold, with_pool
from cs_score.coldstart.options import PRESETS, Options, Policy
from cs_score.verbs.analyze.run_analysis import analyze
from cs_score.verbs.analyze.sweep import thresholds
from tests.analysis.rewriting import ALL_WRONG, EXACT, Call
from tests.analysis.test_laws import policy_in, with_unassessed_wrong
from tests.coldstart.command import score_in
from tests.coldstart.worlds import BASE, Answer, Assessment, Query, Response, Slot, World, worlds
from tests.documents import ROOT

FILES = ("queries/ldc-queries.xml", "assessments/pool-2016.tab", "submissions/tide-kb.tab.txt")
SAMPLES = ("-expand", "ISLE26", "-queries", "queries/queryids.txt", *FILES)
INEXACT_RIGHT = Policy(right=("CORRECT", "INEXACT"), wrong=("INCORRECT", "INCORRECT_PARENT"))
SCHOOLS = Query("Q_0001", (Slot("per:children"), Slot("per:schools_attended")), ("ENG_DOC",))
OWN = ("--also-policy", "own:right=CORRECT:INEXACT,wrong=INCORRECT", "--also-policy", "sf:ignore=")


@cache
def analysis_of(*switches: str) -> Any:
    """The analysis of a sample run."""
    outcome = score_in(ROOT, ("analyze", "--quiet", *switches, "--format=json", *SAMPLES))
    assert (outcome.status, outcome.stderr) == (0, b"")
    return json.loads(outcome.stdout)


@pytest.mark.parametrize("measure", ["LDC-MEAN-ALL-Macro-F1", "SF-ALL-Micro-P@1", "SF-AP"])
def test_the_first_mistakes_are_those_of_the_whole_list(measure: str) -> None:
    """They are found by one measure alone, and have the effects on all."""
    whole, first = analysis_of("--measure", measure), analysis_of("--measure", measure, "--top", "4")
    assert first["mistake_count"] == whole["mistake_count"] == len(whole["mistakes"])
    assert first["mistakes"] == whole["mistakes"][:4]
    keys = [(-round(each["gain"], 12), FILES.index(each["file"]), each["line"]) for each in whole["mistakes"]]
    assert keys == sorted(keys)
    assert len({gain for gain, *_ in keys}) < len(keys)


def test_a_caller_is_shown_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    options = Options(expand="ISLE26")
    scored = score_for_analysis(load_run(open_gold([FILES[0]], options), FILES[1:]), options.policy)
    shown: dict[str, int] = {}
    found = analyze(scored, progress=lambda items, doing: shown.update({doing: len(items)}) or items)
    assert shown == {
        "scoring under policies": len(found.policies), "raising the threshold": len(found.sweep),
        "weighing mistakes": found.mistake_count, "correcting mistakes": 6,
    }  # fmt: skip


def test_the_published_policies_come_first_and_can_be_replaced() -> None:
    rows = analysis_of(*OWN)["policies"]
    assert [row["name"] for row in rows] == [*PRESETS, "own"]
    assert policy_in(rows[1]["policy"]) == Policy(ignore=())
    assert rows[2]["policy"]["right"] == "CORRECT:INEXACT"
    # Parts that are left out are those of the switches.
    assert rows[2]["policy"]["ignore"] == "UNASSESSED:DUPLICATE"
    switches = [word for side, text in ALL_WRONG.texts().items() for word in (f"-{side.lower()}", text)]
    [*_, own] = analysis_of(*switches, "--also-policy", "own:right=CORRECT")["policies"]
    assert policy_in(own["policy"]) == ALL_WRONG


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--also-policy", "nosuch"), "--also-policy nosuch: no such preset; there are kb, sf"),
        (("--also-policy", "x:right=INCORRECT"), "Unexpected choice INCORRECT for RIGHT"),
        (("--also-policy", "../x:right=CORRECT"), "a name is made of letters"),
        (("--by", "slots"), "no groups by slots; there are slot, hop, "),
        (("--by", "slots"), "did you mean slot?"),
        (("--by", "slot,"), "no groups by ; there are"),
        (("--by", "slot,slot"), "slot,slot crosses a dimension with itself"),
    ],
)
def test_what_means_nothing_is_wrong_usage(words: tuple[str, ...], message: str) -> None:
    outcome = score_in(ROOT, ("analyze", *words, *SAMPLES))
    assert (outcome.status, outcome.stdout) == (2, b"")
    assert message in outcome.stderr.decode()


def test_problems_are_counted_as_the_report_counts_them(tmp_path: Path) -> None:
    lines = (ROOT / "submissions/gull-sf.tab.txt").read_text(encoding="utf-8").splitlines()
    damaged = ["\t".join([*line.split("\t")[:7], "often", *line.split("\t")[8:]]) for line in lines[2:4]]
    (tmp_path / "run.tab").write_text("\n".join([*lines[:2], *damaged, *lines[4:], "no line"]) + "\n", "utf-8")
    files = ["-expand", "ISLE26", *(str(ROOT / name) for name in FILES[:2]), "run.tab"]
    rows = json.loads(score_in(tmp_path, ["analyze", "--format", "json", *files]).stdout)["problems"]
    score_in(tmp_path, ["-output_file", "o", "-error_file", "o.log", "--problems", "p.json", *files])
    reported = Counter(each["code"] for each in json.loads((tmp_path / "p.json").read_bytes())["problems"])
    assert {row["code"]: row["count"] for row in rows} == reported
    assert [row["code"] for row in rows] == sorted(reported)


def test_thresholds_are_the_confidences_or_their_percentiles() -> None:
    assert thresholds([0.5, 0.25, 0.5]) == [0.25, 0.5]
    many = [at / 1000 for at in range(1000, 0, -1)]
    assert thresholds(many) == [at / 1000 for at in range(1, 1000, 10)]
    # Large runs have fewer: each of them costs a part of scoring the run.
    assert thresholds(many * 10) == thresholds(many)
    assert thresholds(many * 20) == [at / 1000 for at in range(1, 1000, 20)]
    assert thresholds(many * 100) == [at / 1000 for at in range(1, 1000, 100)]
    assert thresholds([0.5] * 1_000_000) == [0.5]


@pytest.mark.parametrize("settings", [("--seed", "7"), ("--interval", "bca", "--confidence", "90")])
def test_scores_and_groups_have_the_intervals_that_the_scorer_gives(settings: tuple[str, ...]) -> None:
    words = ["score", "--format", "json", "--measure", "*", "--bootstrap", "200", *settings, *SAMPLES]
    (run,) = json.loads(score_in(ROOT, words).stdout)["runs"]
    crossed = ("--by", "slot,language", "--by", "slot,ldc_query")
    found = analysis_of("--measure", "SF-ALL-Micro-F1", "--bootstrap", "200", *crossed, *settings)
    scores = found["intervals"]["scores"]
    assert scores.items() >= run["intervals"]["scores"].items()
    assert found["origin"]["options"]["bootstrap"]["resamples"] == 200
    for hop in found["groups"]["hop"]:
        for name, measure in (("precision", "P"), ("recall", "R"), ("f1", "F1")):
            assert hop["intervals"][name] == scores[f"SF-ALL-Micro-{measure}@{hop['group']}"]
    for dimension, groups in found["groups"].items():
        for group in groups:
            scored = {name for name in ("precision", "recall", "f1") if group[name] is not None}
            assert set(group.get("intervals", ())) == (set() if "ldc_query" in dimension else scored)


# ---- Scenarios


def assignments(world: World, answers: Sequence[Answer]) -> Iterator[list[Assessment]]:
    """Every way to assess these answers, parents first: a class below that of the parent, a new one, wrong."""
    class_of = {each.answer.follow_on(): each.ec for each in world.pool if each.code in "CX"}

    def ways(at: int, given: Mapping[str, str]) -> Iterator[list[Assessment]]:
        if at == len(answers):
            yield []
            return
        answer = answers[at]
        above = given.get(answer.query) if answer.query.count("_") > 2 else answer.query
        names: list[str] = []
        if above is not None:
            known = {ec for ec in (*class_of.values(), *given.values()) if ec.rpartition(":")[0] == above}
            names = [*sorted(known), f"{above}:99{at}"]
        for name in names:
            for rest in ways(at + 1, {**given, answer.follow_on(): name}):
                yield [Assessment(answer, "C", name), *rest]
        for rest in ways(at + 1, given):
            # Below a wrong answer nothing needs an assessment, and nothing may have one.
            yield [*([Assessment(answer, "W", "0")] if above is not None else []), *rest]

    yield from ways(0, class_of)


def classes_of_nodes_differ(world: World, added: Sequence[Assessment]) -> bool:
    """Return whether answers of one node are assessed to be of several classes, or some of them to be wrong."""
    class_of = {each.answer: each.ec for each in added}
    classes: dict[tuple[str, str], set[str]] = {}
    for line in world.run:
        if line.answer in class_of:
            classes.setdefault((line.answer.query, line.node), set()).add(class_of[line.answer])
    return any(len(of_node) > 1 for of_node in classes.values())


@given(worlds(), st.sampled_from((Policy(), with_unassessed_wrong(Policy()), INEXACT_RIGHT)))
def test_no_assessment_of_up_to_three_answers_beats_the_optimistic_scenario(world: World, policy: Policy) -> None:
    """One may where an unassessed answer stands below another: answers below gain or lose by the class of theirs.

    Answers of one node take one class, in the scenario and in the assessments that are tried.
    """
    known = {each.answer for each in world.pool}
    answers = list(dict.fromkeys(line.answer for line in world.run if line.answer not in known))
    assume(0 < len(answers) <= 3)
    assume({answer.query for answer in answers}.isdisjoint(answer.follow_on() for answer in answers))
    with tempfile.TemporaryDirectory() as name:
        queries, pool, run = world.write(Path(name))
        switches = [word for side, text in policy.texts().items() for word in (f"-{side.lower()}", text)]
        options = Options(expand=BASE, policy=policy)
        call = Call(Path(name), ("-expand", BASE, *switches), (queries,), (pool, run), options)
        analysis = call.analyzed("runA", "SF-ALL-Micro-F1")
        with call.rewritten([], analysis["scenarios"]["added_pool"], pool):
            best = call.scores("runA")
        for added in itertools.islice(assignments(world, answers), 200):
            if classes_of_nodes_differ(world, added):
                continue
            lines = [each.line() for each in added]
            with call.rewritten([], lines, pool):
                scores = call.scores("runA")
            assert all(scores[name] <= best[name] + EXACT for name in ("SF-ALL-Micro-P", "SF-ALL-Micro-F1")), lines


def test_no_class_is_taken_twice_in_the_optimistic_scenario(tmp_path: Path) -> None:
    """Answers below one class take one class after the other, whatever answers below another class stand between."""
    (query,) = SCHOOLS.sf_queries()
    ann, bo = (Answer(query, "per:children", value, f"ENG_{value}") for value in ("Ann", "Bo"))
    known, *below = (
        Answer(child.follow_on(), "per:schools_attended", f"S{at}", f"ENG_{at}")
        for at, child in enumerate((ann, ann, bo, ann))
    )
    classes = {ann: f"{query}:1", bo: f"{query}:2", known: f"{query}:1:1"}
    pool = tuple(Assessment(answer, "C", name) for answer, name in classes.items())
    run = tuple(Response(answer, f"0.{9 - at}", f":N{at}") for at, answer in enumerate((ann, bo, *below)))
    files = World((SCHOOLS,), pool, run).write(tmp_path)
    found = json.loads(score_in(tmp_path, ("analyze", "-expand", BASE, "--format=json", *files)).stdout)["scenarios"]
    taken = [line.split("\t")[-2].removeprefix(query) for line in found["added_pool"]]
    assert taken == [":1:1", ":2:1", ":1:2"]


def test_answers_of_one_node_take_one_class(tmp_path: Path) -> None:
    """Also those that are joined to it by an answer which another node gives, too."""
    (query,) = SCHOOLS.sf_queries()
    first, second, third, alone = (Answer(query, "per:children", f"A{at}", f"ENG_{at}") for at in range(4))
    lines = [(first, ":N1"), (second, ":N1"), (alone, ":N3"), (second, ":N2"), (third, ":N2")]
    run = tuple(Response(answer, f"0.{9 - at}", node) for at, (answer, node) in enumerate(lines))
    known = Answer(query, "per:children", "Known", "ENG_9")
    files = World((SCHOOLS,), (Assessment(known, "C", f"{query}:1"),), run).write(tmp_path)
    found = json.loads(score_in(tmp_path, ("analyze", "-expand", BASE, "--format=json", *files)).stdout)["scenarios"]
    taken = {line.split("\t")[3]: line.split("\t")[-2].removeprefix(query) for line in found["added_pool"]}
    assert taken == {"A0": ":1", "A1": ":1", "A2": ":1", "A3": ":2"}


def test_answers_below_unassessed_ones_are_counted(tmp_path: Path) -> None:
    (query,) = SCHOOLS.sf_queries()
    child = Answer(query, "per:children", "Ann", "ENG_1")
    school = Answer(child.follow_on(), "per:schools_attended", "School", "ENG_2")
    known = Answer(query, "per:children", "Known", "ENG_9")
    run = (Response(child, "0.9", ":N1"), Response(school, "0.8", ":N2"))
    files = World((SCHOOLS,), (Assessment(known, "C", f"{query}:1"),), run).write(tmp_path)
    found = json.loads(score_in(tmp_path, ("analyze", "-expand", BASE, "--format=json", *files)).stdout)["scenarios"]
    assert (found["unassessed"], len(found["added_pool"])) == (2, 2)
    text = score_in(tmp_path, ("analyze", "-expand", BASE, *files)).stdout.decode()
    assert "2 answers were not assessed." in text


@pytest.mark.parametrize("measure", ["LDC-MEAN-ALL-Macro-F1", "SF-AP", "SF-ALL-Micro-F1"])
def test_people_are_shown_the_scenarios_of_the_sf_table_whatever_the_measure(measure: str) -> None:
    found = analysis_of("--measure", measure)["scenarios"]
    text = " ".join(score_in(ROOT, ("analyze", "--quiet", "--measure", measure, *SAMPLES)).stdout.decode().split())
    shown = text.partition("not assessed.")[2].partition(" The score if")[0]
    for name, scenario in found["scores"].items():
        numbers = f"{name} {scenario['score']:.4f} ({scenario['pessimistic']:.4f}, {scenario['optimistic']:.4f})"
        assert (numbers in shown) == (name in ("SF-ALL-Micro-P", "SF-ALL-Micro-R", "SF-ALL-Micro-F1"))
    assert not {"bound", "bounds", "between", "at most"} & set(re.findall(r"at most|\w+", shown))


# ---- Missed classes: which of them an answer of the pool could find, and which recall is left


def missed(world: World, policy: Policy) -> dict[str, str | None]:
    """The missed classes of a world, each with why no answer finds it; None where one does."""
    with tempfile.TemporaryDirectory() as folder:
        queries, pool, run = (str(Path(folder) / name) for name in world.write(Path(folder)))
        gold = with_pool(open_gold([queries], Options(expand=BASE, policy=policy)), [pool])
        scored: AnalysedRun = score_for_analysis(load_run(gold, [run]), policy)
    faults = find_faults(scored, Editor(scored.run, scored.run_id))
    return {str(fault.class_name): fault.why_unreachable for fault in faults if fault.kind == "class"}


def giving(world: World, answer: Answer, at: int) -> World:
    """The world whose run gives an answer, too, below the answers of the pool that lead to it."""
    parents = [each.answer for each in world.pool if each.answer.follow_on() == answer.query]
    world = giving(world, parents[0], at) if parents else world
    return world.adding(Response(answer, "0.01", f":N{at}x{len(world.run)}"))


@given(worlds(), st.sampled_from((Policy(), INEXACT_RIGHT)))
def test_a_class_is_reachable_if_an_answer_of_the_pool_finds_it(world: World, policy: Policy) -> None:
    assume(world.run)
    single = {slot.name for query in world.queries for slot in query.slots if slot.single}
    for name, reason in missed(world, policy).items():
        answers = [each.answer for each in world.pool if each.code in "CX" and each.ec == name]
        if answers[0].slot in single:  # any class of its row would do
            continue
        finds = [name not in missed(giving(world, answer, 90), policy) for answer in answers]
        assert any(finds) == (reason is None), (name, reason)


@pytest.mark.parametrize(
    ("code", "mention", "reasons"),
    [("C", "NAM", [None, None]), ("X", "NAM", [ONLY_INEXACT, NO_RIGHT_PARENT]), ("C", "NOM", [ONLY_NOMINAL, None])],
)
def test_why_no_answer_finds_a_class(code: str, mention: str, reasons: list[str | None]) -> None:
    (query,) = SCHOOLS.sf_queries()
    child, other = (Answer(query, "per:children", f"V{at}", f"ENG_{at}") for at in (1, 2))
    school = Answer(child.follow_on(), "per:schools_attended", "School", "ENG_3")
    pool = (
        Assessment(child, code, f"{query}:1", mention),
        Assessment(school, "C", f"{query}:1:1"),
        Assessment(other, "C", f"{query}:2"),
    )
    world = World((SCHOOLS,), pool, (Response(other, "0.5", ":A"),))
    assert missed(world, Policy()) == dict(zip([f"{query}:1", f"{query}:1:1"], reasons))
    if code == "X":
        both = replace(INEXACT_RIGHT, ignore=("UNASSESSED",))
        assert set(missed(world, both).values()) == {None}


def test_the_budget_counts_what_no_answer_finds(tmp_path: Path) -> None:
    """Without CORRECT on the right side no class of the sample can be found by any answer that is not inexact."""
    found = analysis_of("-right", "INEXACT", "-wrong", "INCORRECT", "--measure", "SF-ALL-Micro-R")
    row = found["budget"][-1]
    classes = [each for each in found["mistakes"] if each["kind"] == "class"]
    lost = [each for each in classes if not each["reachable"]]
    assert lost
    assert sum(row["unreachable"].values()) == len(lost)
    assert all(each["reason"] in row["unreachable"] for each in lost)
    assert row["reachable_recall"] == (16 - len(lost)) / 16
    all_reachable = analysis_of("--measure", "SF-ALL-Micro-R")["budget"][-1]
    assert (all_reachable["unreachable"], all_reachable["reachable_recall"]) == ({}, 1.0)
