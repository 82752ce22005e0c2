"""A run scored under another policy without its files equals a fresh scoring, in every byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cs_score as cs
from cs_score.base.records import replace
from cs_score.coldstart.options import POLICY_ITEMS, PRESETS
from tests.coldstart.handmade import AGE, SCHOOLS, Inputs, Line, query_xml, sf_query
from tests.coldstart.worlds import BASE, RUN_ID, World, worlds

LIMITS: Final = st.sampled_from(("1:3", "1:1", "M:M", "2:9", "0:2", "0:M", "1:M"))


def _side(side: str) -> st.SearchStrategy[tuple[str, ...]]:
    legal = sorted(name for name, item in POLICY_ITEMS.items() if side in item.sides)
    return st.lists(st.sampled_from(legal), max_size=3).map(tuple)


POLICIES: Final = st.one_of(
    st.sampled_from(sorted(PRESETS)), st.builds(cs.Policy, _side("RIGHT"), _side("WRONG"), _side("IGNORE"))
)


def outputs(result: cs.RunResult, folder: Path) -> dict[str, str]:
    """All that a result writes, but for the time in `.params`."""
    report = folder / "out.errlog"
    report.unlink(missing_ok=True)
    files = map(Path, result.write(folder / "out", error_file=report))
    texts = {file.name: file.read_text() for file in files if file.suffix != ".params"}
    return texts | {"json": result.to_json(), "remarks": "\n".join(result.remarks)}


def said_or(scored: Callable[[], cs.RunResult], folder: Path) -> dict[str, str]:
    """What a scoring gives, or the error that ends it."""
    try:
        return outputs(scored(), folder)
    except cs.InputError as error:
        return {"error": str(error)}


def _run_files(world: World, folder: Path, splits: int, crowded: bool, second_id: bool) -> list[Path]:
    """The run in one or two files; `crowded`: its lines once more in the same nodes, from other documents."""
    lines = [response.line() for response in world.run]
    if crowded:
        others = (replace(r, answer=replace(r.answer, docid=f"{r.answer.docid}9"), confidence="0.5") for r in world.run)
        lines += [other.line() for other in others if other.answer.query.count("_") == 2]
    second = lines[splits:]
    if second_id:
        second = [line.replace(f"\t{RUN_ID}\t", "\trunB\t") for line in second]
    paths = [folder / "one.tab", folder / "two.tab"]
    for path, of_file in zip(paths, (lines[:splits], second)):
        path.write_text("".join(f"{line}\n" for line in of_file))
    return paths


@given(worlds(), POLICIES, LIMITS, POLICIES, LIMITS, st.integers(0, 9), st.booleans(), st.booleans())
def test_rescoring_equals_a_fresh_scoring(
    world: World,
    policy: str | cs.Policy,
    limits: str,
    other_policy: str | cs.Policy,
    other_limits: str,
    splits: int,
    crowded: bool,
    second_id: bool,
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        queries, pool, _ = (folder / file for file in world.write(folder))
        gold = cs.prepare(queries, pool, expand=BASE)
        run = _run_files(world, folder, splits, crowded, second_id)
        wanted = said_or(lambda: gold.score(run, other_policy, justifications=other_limits), folder)
        try:
            first = gold.score(run, policy, justifications=limits)
        except cs.InputError:
            return
        before = outputs(first, folder)
        again = said_or(lambda: first.rescore(other_policy, justifications=other_limits), folder)
        assert again == wanted
        assert outputs(first, folder) == before


def test_a_published_policy_brings_its_limits_and_others_keep_them(inputs: Inputs) -> None:
    line = Line()
    inputs.pool(line.judged("1"))
    inputs.run(line)
    gold = cs.prepare(inputs.folder / "queries.xml", inputs.folder / "pool.tab", expand="CSX")
    first = gold.score(inputs.folder / "run.tab")
    assert (first.policy, first.justifications) == (PRESETS["kb"].policy, "1:3")
    second = first.rescore("sf")
    assert (second.policy, second.justifications) == (PRESETS["sf"].policy, "1:1")
    assert second.rescore(cs.Policy()).justifications == "1:1"
    third = second.rescore(justifications="2:M")
    assert (third.policy, third.justifications) == (PRESETS["sf"].policy, "2:M")


def test_no_file_is_read_again(inputs: Inputs) -> None:
    line = Line()
    inputs.pool(line.judged("1"), line.child().judged("1:1"))
    inputs.run(line, line.child())
    names = ("queries.xml", "pool.tab", "run.tab", "samples")
    queries, pool, run, samples = (inputs.folder / name for name in names)
    samples.write_text(f"1 CSX_0001:{line.query}\n")
    first = cs.score(queries, run, pool, expand="CSX", samples=samples)
    wanted = cs.score(queries, run, pool, expand="CSX", samples=samples, policy="sf").to_json()
    for path in (queries, pool, run, samples):
        path.unlink()
    assert first.rescore("sf").to_json() == wanted


def test_what_other_limits_discard_depends_on_the_files(inputs: Inputs) -> None:
    """The rules are applied after each file of a run: a value that loses twice is reported twice."""
    slots = (AGE, SCHOOLS)
    inputs.queries(query_xml(slots=slots))
    kept = Line(value="41", query=sf_query(slots), slot=AGE)
    lost = replace(kept, value="42", confidence="0.5", span="N_ENG_1:7-9", node=":E2")
    inputs.pool(kept.judged("1"))
    inputs.run(kept, lost)
    inputs.run(lost.child(), name="second.tab")
    files = [inputs.folder / "run.tab", inputs.folder / "second.tab"]
    gold = cs.prepare(inputs.folder / "queries.xml", inputs.folder / "pool.tab", expand="CSX")
    one = gold.score(files).rescore(justifications="1:1").rows("problems")
    assert one == gold.score(files, justifications="1:1").rows("problems")
    assert {problem.code: problem.occurrences for problem in one} == {"DISCARDED_DEPENDENT": 1, "DISCARDED_ENTRY": 2}


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("KB", r"no policy called KB; there are kb, sf; did you mean kb\?"),
        ("nothing", "no policy called nothing; there are kb, sf$"),
        (("CORRECT",), "policy takes the name of a policy or a Policy, not"),
    ],
)
def test_an_unknown_policy_is_wrong_usage(inputs: Inputs, policy: str, said: str) -> None:
    inputs.run(Line())
    result = cs.score(inputs.folder / "queries.xml", inputs.folder / "run.tab", expand="CSX")
    with pytest.raises(cs.UsageError, match=said):
        result.rescore(policy)
