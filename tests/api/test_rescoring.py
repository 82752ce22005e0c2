"""A run scored under another policy without its files equals a fresh scoring, in every byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

import cs_score as cs
from cs_score.base.records import replace
from cs_score.coldstart.options import POLICY_CATEGORIES, PRESETS
from tests.coldstart.worlds import BASE, RUN_ID, World, worlds

LIMITS: Final = st.sampled_from(("1:3", "1:1", "M:M", "2:9", "0:2", "0:M", "1:M"))


def _side(side: str) -> st.SearchStrategy[tuple[str, ...]]:
    legal = sorted(name for name, item in POLICY_CATEGORIES.items() if side in item.sides)
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
