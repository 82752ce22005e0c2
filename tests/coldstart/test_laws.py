"""Laws of the scores, on small invented evaluations: what must hold whatever the run says."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.base.records import replace
from tests.coldstart.worlds import AnalysedRun, Answer, Assessment, Response, Row, World, score, worlds

# A score is printed with four decimals.
PRINTED: Final = 0.00005


@contextmanager
def folder_with(world: World) -> Iterator[tuple[Path, list[str]]]:
    """A fresh folder for each example, with the world's files in it."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name), world.write(Path(name))


def scored(world: World, *switches: str) -> AnalysedRun:
    with folder_with(world) as (folder, files):
        return score(folder, files, *switches)


def base(response: Response) -> str:
    """The SF query that a response, of either hop, belongs to."""
    return "_".join(response.answer.query.split("_")[:3])


def by_name(rows: list[Row]) -> dict[tuple[str, str], Row]:
    return {(row.name, row.level): row for row in rows}


@given(worlds(perfect=True))
def test_the_pool_submitted_as_a_run_scores_one_everywhere(world: World) -> None:
    result = scored(world)
    assert result.sf
    assert [row for row in result.sf if row.scores != (1, 1, 1)] == []
    assert set(result.average_precision.values()) == {1.0}
    summary = result.outcome.files["out.summary"].decode().split("\n")[1:]
    cells = [cell for line in summary if "\t" in line for cell in line.split("\t")[3:]]
    assert set(cells) == {"1.0000"}


# Every item in one list at most, and duplicates never right: what a policy that means something looks like.
def _policies() -> st.SearchStrategy[tuple[str, ...]]:
    lists = {"INEXACT": "rwi-", "UNASSESSED": "wi-", "INCORRECT": "w-", "INCORRECT_PARENT": "wi-", "DUPLICATE": "wi-"}

    def switches(chosen: dict[str, str]) -> tuple[str, ...]:
        items = {"r": ["CORRECT"], "w": [], "i": [], "-": []}
        for item, where in chosen.items():
            items[where].append(item)
        return tuple(
            word
            for switch, where in (("-right", "r"), ("-wrong", "w"), ("-ignore", "i"))
            for word in (switch, ":".join(items[where]))
        )

    return st.fixed_dictionaries({item: st.sampled_from(where) for item, where in lists.items()}).map(switches)


@given(worlds(), _policies(), st.sampled_from(("1:3", "1:1", "M:3", "2:9")))
@pytest.mark.rule("counts", "averages", "ldc-max", "ldc-mean")
def test_scores_follow_from_the_counts_and_averages_from_the_rows(
    world: World, policy: tuple[str, ...], justifications: str
) -> None:
    result = scored(world, *policy, "-justifications", justifications)
    figures = [figure for row in result.sf for figure in row.scores] + list(result.average_precision.values())
    assert [figure for figure in figures if not 0 <= figure <= 1] == []
    levels = {row.level for row in result.rows()}
    assert {row.level for row in result.named("ALL-Micro")} == (levels | {"ALL"} if levels else set())
    for row in result.sf:
        rows = [each for each in result.rows() if row.level in (each.level, "ALL")]
        if row.name == "ALL-Macro":
            divisor = sum(each.counts["GT"] > 0 for each in rows)
            means = [sum(column) / divisor if divisor else 0.0 for column in zip(*(each.scores for each in rows))]
            # Each of the summed figures has been rounded to four decimals.
            assert row.scores == pytest.approx(means or (0,) * 3, abs=PRINTED * (1 + len(rows) / max(divisor, 1)))
            continue
        if row.name == "ALL-Micro":
            assert row.counts == {key: sum(each.counts[key] for each in rows) for key in row.counts}
        right, scoring = row.counts["Right"], row.counts["Submitted"] - row.counts["Ignored"]
        precision = right / scoring if scoring else 0.0
        recall = right / row.counts["GT"] if row.counts["GT"] else 0.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        assert row.scores == pytest.approx((precision, recall, f1), abs=PRINTED)


def new_answer(data: st.DataObject, world: World, docid: str) -> Answer:
    """An answer to the first slot of some query, in a document of its own."""
    query, slot = data.draw(
        st.sampled_from([(q, query.slots[0]) for query in world.queries for q in query.sf_queries()])
    )
    return Answer(query, slot.name, "New", docid)


@given(worlds(), st.data())
def test_a_wrong_answer_never_raises_precision(world: World, data: st.DataObject) -> None:
    wrong = new_answer(data, world, "ENG_wrong")
    nodes = [":Own", *(response.node for response in world.run if response.answer.query == wrong.query)]
    response = Response(wrong, data.draw(st.sampled_from(("0.05", "0.995"))), data.draw(st.sampled_from(nodes)))
    known = replace(world, pool=(Assessment(wrong, "W", "0"), *world.pool))
    before, after = scored(known), scored(known.adding(response))
    rows = by_name(after.sf)
    for row in before.sf:
        assert rows[row.name, row.level].scores[0] <= row.scores[0]


@given(worlds(), st.data())
def test_a_duplicate_never_raises_recall(world: World, data: st.DataObject) -> None:
    assume(world.run)
    again = replace(data.draw(st.sampled_from(world.run)), confidence="0.005", node=":Again")
    before, after = scored(world), scored(world.adding(again))
    assert {key: row.counts["GT"] for key, row in by_name(after.rows()).items()} == {
        key: row.counts["GT"] for key, row in by_name(before.rows()).items()
    }
    rows = by_name(after.sf)
    for row in before.sf:
        assert rows[row.name, row.level].scores[1] <= row.scores[1]


@given(worlds(), st.data())
def test_a_right_answer_to_a_missed_class_raises_recall(world: World, data: st.DataObject) -> None:
    classes = {a.ec for a in world.pool if a.ec != "0"}
    submitted = {response.answer for response in world.run}
    found = {a.ec for a in world.pool if a.answer in submitted}
    missed = [
        a
        for a in world.pool
        if a.code == "C" and a.mention == "NAM" and a.ec.count(":") == 1 and a.ec in classes - found
    ]
    assume(missed and world.run)  # without any run line no run is scored
    chosen = data.draw(st.sampled_from(missed))
    query = chosen.answer.query
    before = by_name(scored(world).sf)
    after = by_name(scored(world.adding(Response(chosen.answer, "0.5", ":Found"))).sf)
    assert after[query, "0"].counts["Right"] == before[query, "0"].counts["Right"] + 1
    assert after[query, "0"].scores[1] > before[query, "0"].scores[1]
    assert after["ALL-Micro", "0"].scores[1] > before["ALL-Micro", "0"].scores[1]


@given(worlds(), st.data())
def test_order_that_the_rules_do_not_look_at_changes_nothing(world: World, data: st.DataObject) -> None:
    """Queries; assessments of one hop; the lines of different SF queries; the pool before or after the run."""

    def hop(answer: Answer) -> int:
        return answer.query.count("_") - 2

    pool = data.draw(st.permutations(world.pool)) if world.pool else []
    order = data.draw(st.permutations(sorted({base(response) for response in world.run})))
    moved = World(
        queries=tuple(data.draw(st.permutations(world.queries))),
        pool=tuple(sorted(pool, key=lambda assessment: hop(assessment.answer))),
        run=tuple(sorted(world.run, key=lambda response: (hop(response.answer), order.index(base(response))))),
    )
    expected = scored(world).tables()
    with folder_with(moved) as (folder, files):
        assert score(folder, files).tables() == expected
        assert score(folder, [files[0], files[2], files[1]]).tables() == expected


@given(worlds(), st.sampled_from(("comments", "carriage returns", "no last newline", "further tabs")))
def test_spelling_that_the_reader_removes_changes_nothing(world: World, change: str) -> None:
    expected = scored(world).tables()
    with folder_with(world) as (folder, files):
        for name in files[1:]:
            text = (folder / name).read_text(encoding="utf-8")
            changed = {
                "comments": text and f"# head\n\n{text}  \n  # foot\n",
                "carriage returns": text.replace("\n", "\r\n"),
                "no last newline": text.removesuffix("\n"),
                "further tabs": text.replace("\n", "\t\t\n"),
            }[change]
            (folder / name).write_bytes(changed.encode())
        result = score(folder, files).tables()
    if change == "further tabs":  # .debug shows the lines as they came
        del result["out.debug"], expected["out.debug"]
    assert result == expected


@given(worlds())
def test_the_same_files_said_otherwise_score_the_same(world: World) -> None:
    """Once more; the run split by query over two files; every query named, in a file and in a list."""
    expected = scored(world).tables()
    runs = [replace(world, run=tuple(r for r in world.run if base(r) in half)) for half in halves(map(base, world.run))]
    pairs = [(query.ldc, sf_query) for query in world.queries for sf_query in query.sf_queries()]
    with folder_with(world) as (folder, files):
        assert score(folder, files).tables() == expected
        (folder / "ids.txt").write_text("".join(f"{ldc} {sf_query}\n" for ldc, sf_query in pairs), encoding="utf-8")
        for listed in ("ids.txt", ":".join(sf_query for _, sf_query in pairs)):
            assert score(folder, files, "-queries", listed).tables() == expected
        if all(part.run for part in runs):
            for name, part in zip(("one.tab", "two.tab"), runs):
                (folder / name).write_bytes(part.run_text().encode())
            assert score(folder, [*files[:2], "one.tab", "two.tab"]).tables() == expected


def halves(queries: Iterable[str]) -> tuple[list[str], list[str]]:
    ordered = sorted(set(queries))
    return ordered[::2], ordered[1::2]


@given(worlds(), st.data())
def test_an_unassessed_answer_changes_no_score_but_the_ranking(world: World, data: st.DataObject) -> None:
    """Unassessed answers are ignored by default: P, R and F1 stay, and average precision can only fall."""
    unknown = Response(new_answer(data, world, "ENG_unknown"), "0.5", ":Own")
    before, after = scored(world), scored(world.adding(unknown))
    rows = by_name(after.sf)
    for row in before.sf:
        assert rows[row.name, row.level].scores == row.scores
    for key, figure in before.average_precision.items():
        assert after.average_precision[key] <= figure
