"""Laws of an analysis of Cold Start runs, each against the scorer: on files rewritten as the analysis says, under the
policies that it names, on the tables of the run. A case or an invented world is analysed once, and all laws look at it.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.budget import KINDS, correction_of
from cs_score.analysis.coldstart.changes import Editor
from cs_score.analysis.coldstart.counted_table import DIMENSIONS, DIMENSIONS_OF_RUNS_ONLY
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.faults import find_faults
from cs_score.base.errors import InputError
from cs_score.base.records import asdict, replace, to_builtins
from cs_score.coldstart.options import SIDES, JustificationLimits, Options, Policy
from cs_score.coldstart.result import ScoredRun
from tests.analysis.rewriting import EXACT, Call, Variant, call_of, variants
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line
from tests.coldstart.recorded import Case, committed_cases, shared_cases, thinned
from tests.coldstart.worlds import Answer, World, worlds

FEW: Final = 6
MEASURES: Final = (
    "SF-ALL-Micro-F1", "LDC-MAX-ALL-Micro-F1", "LDC-MAX-ALL-Macro-P@1", "LDC-MEAN-ALL-Macro-F1", "SF-ALL-Micro-R@1",
    "SF-AP@0",
)  # fmt: skip
CROSSED: Final = "slot,language,judgment"
STRICT = "strict:wrong=INCORRECT:INCORRECT_PARENT:INEXACT:UNASSESSED:DUPLICATE,ignore=,justifications=2:M"


def check(call: Call, measure: str, most: int) -> Iterator[dict[str, Any]]:
    """Check all laws for each run. A measure of no name is the one that is usual."""
    policy = STRICT if call.options.edition.has_limits else STRICT.rpartition(",")[0]
    for run in call.results():
        try:
            analysis = call.analyzed(run.run_id, measure, [CROSSED], [policy])
        except InputError:
            assert measure not in run.scores if measure else run.scores == {}
            continue
        assert analysis["scores"] == run.scores
        check_effects(call, analysis, most)
        check_groups(analysis, run)
        check_budget(call, analysis)
        check_policies(call, analysis)
        check_scenarios(call, analysis)
        best, rows = analysis["best"], [row for row in analysis["sweep"] if row["gain"] is not None]
        assert (best is None) == (not rows)
        if best is not None:
            assert best["gain"] == pytest.approx(max(row["gain"] for row in rows), abs=EXACT)
            assert best in [{"threshold": row["threshold"], "gain": row["gain"]} for row in rows]
        yield analysis


def _check_case(case: Case, folder: Path, most: int) -> None:
    """Each case has one measure, by the letters of its name; half of them the usual one. Of the thresholds some."""
    if (call := call_of(case, folder)) is None:
        return
    measures = [measure for measure in MEASURES if call.options.edition.has_rankings or "AP" not in measure]
    number = sum(case.folder.name.encode())
    for analysis in check(call, measures[number // 2 % len(measures)] if number % 2 else "", most):
        run, rows = call.scored(analysis["run"]).run, analysis["sweep"]
        lines = [line for line in run.links.responses if line.run_id == analysis["run"]]
        for row in rows[:: max(1, len(rows) // FEW)] if not run.links.skipped_lines else ():
            below = Editor(run, analysis["run"]).removal_of(
                [line for line in lines if line.confidence < row["threshold"]]
            )
            check_row(call, analysis, row, set(below.removed_places))


@pytest.mark.parametrize("case", thinned(committed_cases()))
def test_laws_in_a_committed_case(case: Case, tmp_path: Path) -> None:
    _check_case(case, tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("case", shared_cases(), ids=lambda case: case.folder.name)
def test_laws_in_a_shared_case(case: Case, tmp_path: Path) -> None:
    _check_case(case, tmp_path, 10 * FEW)


@given(worlds(), variants(), st.data())
def test_laws_in_an_invented_world(world: World, variant: Variant, data: st.DataObject) -> None:
    """Whatever the layout, the files, the policy, the order and the measure."""
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder:
        call = variant.write(world, Path(folder), data)
        measures = sorted({name for run_id in call.run_ids() for name in call.scores(run_id)})
        measure = data.draw(st.sampled_from(("", *measures, *MEASURES)))
        for analysis in check(call, measure, 1000 if not measure else 8):
            for row in analysis["sweep"]:
                gone, counted = left(call, world, analysis["run"], row["threshold"])
                check_row(call, analysis, row, gone)
                assert row["lines"] == counted
            event(f"{len(analysis['mistakes'])} effects")


# ---- Law 1: effects, policies and thresholds are the difference of two scorings


def _same(one: float | None, other: float | None) -> bool:
    return one is other if one is None or other is None else abs(one - other) <= EXACT


def check_effects(call: Call, analysis: Mapping[str, Any], most: int) -> None:
    """So many effects, spread over the mistakes."""
    mistakes = analysis["mistakes"]
    for mistake in mistakes[:: max(1, len(mistakes) // most)]:
        with call.rewritten(mistake["removed"], mistake["added"], analysis["added_to"]):
            found = call.scores(analysis["run"])
        for name, effect in mistake["effects"].items():
            expected = found[name] - analysis["scores"][name] if name in found else None
            assert _same(effect, expected), (mistake["kind"], mistake["file"], mistake["line"], name)


def policy_in(switches: Mapping[str, str]) -> Policy:
    """The policy that the JSON says scores stand for."""
    return Policy(**{side: tuple(filter(None, switches[side].split(":"))) for side in ("right", "wrong", "ignore")})


def test_an_answer_of_the_second_hop_is_added_below_the_node_of_its_parent(tmp_path: Path) -> None:
    """The run has one line, of the first hop. Its two classes are found by it and by the added line: AP 1/2, then 1."""
    parent = Line()
    inputs = Inputs(tmp_path)
    inputs.queries()
    inputs.pool(parent.judged("1"), parent.child().judged("1:1"))
    inputs.run(parent)
    call = Call(tmp_path, ("-expand", "CSX"), ("queries.xml",), ("pool.tab", "run.tab"), Options(expand="CSX"))
    analysis = call.analyzed("runA", "SF-AP")
    check_effects(call, analysis, FEW)
    gain_by_kind = {mistake["kind"]: mistake["gain"] for mistake in analysis["mistakes"]}
    assert gain_by_kind == {"class": pytest.approx(1 / 2)}


def test_wrong_lines_without_node_keep_a_right_line_from_being_named_together(tmp_path: Path) -> None:
    """Only the best assessed line is looked at: the right one counts when both wrong ones are gone."""
    right = Line(value="Bo", node=None, confidence="0.5")
    wrong = [Line(value=value, node=None, span=span) for value, span in (("Al", "7-9"), ("Cy", "11-13"))]
    inputs = Inputs(tmp_path)
    inputs.queries()
    inputs.pool(right.judged("1"), *[line.judged() for line in wrong])
    inputs.run(right, *wrong)
    limits = JustificationLimits.parse("1:1")
    options = Options(expand="CSX", justifications=limits)
    words = ("-expand", "CSX", "-justifications", "1:1")
    call = Call(tmp_path, words, ("queries.xml",), ("pool.tab", "run.tab"), options)
    analysis = call.analyzed("runA", "SF-ALL-Micro-F1")
    assert analysis["score"] == 0
    check_effects(call, analysis, FEW)
    check_budget(call, analysis)
    [incorrect] = [row for row in analysis["budget"] if row["kind"] == "incorrect"]
    assert incorrect["score"] == 1


def check_policies(call: Call, analysis: Mapping[str, Any]) -> None:
    for row in analysis["policies"]:
        limits = JustificationLimits.parse(row["policy"]["justifications"])
        options = replace(call.options, policy=policy_in(row["policy"]), justifications=limits)
        found = call.scores(analysis["run"], options)
        assert row["scores"].keys() >= {analysis["measure"]}
        assert all(_same(value, found.get(name)) for name, value in row["scores"].items()), row["name"]
        assert ("reason" in row) == (None in row["scores"].values())


def left(call: Call, world: World, run_id: str, threshold: float) -> tuple[set[tuple[str, int]], int]:
    """The places of the lines that are below a threshold or hang below such lines, and how many of the run count."""
    asked = {query for each in world.queries for query in each.sf_queries()}
    if call.files[0] == "pool.tab":
        asked |= {assessment.answer.follow_on() for assessment in world.pool}
    gone: set[tuple[str, int]] = set()
    counted = 0
    for name in (name for name in call.files if name != "pool.tab"):
        of_text: dict[str, bool] = {}
        for number, text in enumerate((call.folder / name).read_text().splitlines(), 1):
            columns = text.split("\t")
            if len(columns) < 8:
                continue
            is_first = text not in of_text
            is_low = columns[2] == run_id and min(1.0, float(columns[7])) < threshold
            if not of_text.setdefault(text, columns[0] in asked and not is_low):
                gone.add((name, number))
                continue
            asked.add(Answer(columns[0], "", columns[4], columns[6].partition(":")[0]).follow_on())
            counted += is_first and columns[2] == run_id and columns[1] != "per:spouse"
    return gone, counted


def check_row(call: Call, analysis: Mapping[str, Any], row: Mapping[str, Any], gone: set[tuple[str, int]]) -> None:
    """Hold the scores at a threshold against those of the files without the lines that are gone."""
    with call.rewritten([{"file": file, "line": number} for file, number in sorted(gone)], [], ""):
        found = call.scores(analysis["run"])
    measure, at, hop = analysis["measure"].partition("@")
    stem = measure.rpartition("-")[0] + ("-ALL-Macro" if measure.endswith("AP") else "")
    statistics = {"precision": "P", "recall": "R", "f1": "F1"}
    expected = {name: found.get(f"{stem}-{statistic}{at}{hop}") for name, statistic in statistics.items()}
    score = found.get(analysis["measure"])
    expected["gain"] = None if score is None else score - analysis["scores"][analysis["measure"]]
    assert all(_same(row[name], wanted) for name, wanted in expected.items()), row
    assert ("reason" in row) == (None in expected.values())


# ---- Law 3: the budget is the score of files with all mistakes of a kind corrected


def check_budget(call: Call, analysis: Mapping[str, Any]) -> None:
    def score(change: Mapping[str, Any], policy: Policy) -> float | None:
        with call.rewritten(change["removed"], change["added"], analysis["added_to"]):
            return call.scores(analysis["run"], replace(call.options, policy=policy)).get(analysis["measure"])

    for row in analysis["budget"]:
        found = score(row, policy_in(row["policy"]))
        assert _same(row["score"], found), row["kind"]
        assert _same(row["gain"], None if found is None else found - analysis["score"]), row["kind"]
        assert ("reason" in row) == (None in (row["score"], row["cumulated"]))
    scored = call.scored(analysis["run"])
    effects = Effects(scored, [scored.measure(analysis["measure"])])
    order = effects.editor.position_by_file
    faults = list(find_faults(scored, effects.editor))
    faults.sort(key=lambda fault: (order[fault.listed_line.file], fault.listed_line.number))
    change = correction_of(KINDS, effects, scored.policy, faults)
    gone = to_builtins(effects.editor.places_removed_by(change))
    corrected = score({"removed": gone, "added": change.added_texts}, change.policy or scored.policy)
    assert _same(analysis["budget"][-1]["cumulated"], corrected)


# ---- Law 4: groups add up to the table


def check_groups(analysis: Mapping[str, Any], run: ScoredRun) -> None:
    name, _, hop = analysis["measure"].partition("@")
    table = dict(run.tables.variants)["LDC-MAX" if name.startswith("LDC-MAX") else "SF"]
    expected: Counter[str] = Counter()
    for row in table.rows:
        if row.counts is not None and (not hop or row.level == hop):
            expected.update(asdict(row.counts))
    assert set(analysis["groups"]) == {*DIMENSIONS, CROSSED}
    mistakes = Counter(mistake["kind"] for mistake in analysis["mistakes"])
    for dimension, groups in analysis["groups"].items():
        found: Counter[str] = Counter()
        for group in groups:
            found.update(group["counts"])
            check_scores(group, dimension)
        assert +found == +expected, dimension
        assert len({tuple(group.get("values", [group["group"]])) for group in groups}) == len(groups)
        number = sum(group["mistakes"] for group in groups)
        if analysis["measure"] == "SF-ALL-Micro-F1":
            assert number == mistakes["line"] + mistakes["class"]
        assert sum(group["share"] for group in groups) == pytest.approx(1 if number else 0)
    slots: Counter[str] = Counter()
    for each in analysis["confusions"]["slots"]:
        slots[each["slot"]] += each["count"]
    assert +slots == +Counter({group["group"]: group["counts"]["submitted"] for group in analysis["groups"]["slot"]})


def check_scores(group: Mapping[str, Any], dimension: str) -> None:
    counts = group["counts"]
    answered = counts["submitted"] - counts["ignored"]
    assert group["precision"] == (counts["right"] / answered if answered else 0)
    if dimension in DIMENSIONS_OF_RUNS_ONLY:
        assert (group["recall"], group["f1"]) == (None, None)
        return
    assert group["recall"] == (counts["right"] / counts["ground_truth"] if counts["ground_truth"] else 0)
    both = group["precision"] + group["recall"]
    assert group["f1"] == pytest.approx(2 * group["precision"] * group["recall"] / both if both else 0)


# ---- Law 5: a scenario is the score of the files and switches that it stands for


def with_unassessed_wrong(policy: Policy) -> Policy:
    """The policy in which UNASSESSED is wrong and nothing else."""
    sides = {side.lower(): [item for item in policy.categories_on(side) if item != "UNASSESSED"] for side in SIDES}
    return Policy(**{side: (*items, *(["UNASSESSED"] if side == "wrong" else [])) for side, items in sides.items()})


def check_scenarios(call: Call, analysis: Mapping[str, Any]) -> None:
    """Every score in both scenarios is that of the files and switches; the count is that of the lines of the pool."""
    found, name, run_id = analysis["scenarios"], analysis["measure"], analysis["run"]
    asked = found["scores"][name]
    assert [found[key] for key in ("pessimistic", "score", "optimistic")] == list(asked.values())
    assert {measure: each["score"] for measure, each in found["scores"].items()}.items() <= analysis["scores"].items()
    assert found["unassessed"] == len(found["added_pool"])
    if not any(slot["unassessed"] for slot in found["slots"]):
        assert found["added_pool"] == []
        assert all(len(set(each.values())) == 1 for each in found["scores"].values())
        return
    options = replace(call.options, policy=with_unassessed_wrong(call.options.policy))
    pessimistic = call.scores(run_id, options)
    assert all(_same(each["pessimistic"], pessimistic.get(measure)) for measure, each in found["scores"].items())
    if found["added_pool_to"] is not None:  # else the pool is an empty file
        with call.rewritten([], found["added_pool"], found["added_pool_to"]):
            optimistic = call.scores(run_id)
        assert all(_same(each["optimistic"], optimistic.get(measure)) for measure, each in found["scores"].items())
