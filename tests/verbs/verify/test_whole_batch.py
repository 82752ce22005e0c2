"""What a batch tells over all its runs, scored again: every table and number, whatever the batch was made of."""

from __future__ import annotations

import json
import os
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from cs_score.base import VERSION
from cs_score.base.errors import InputError
from cs_score.verbs.batch.cold_start_plan import PreparedColdStart
from cs_score.verbs.batch.folder_layout import BATCH_FILES, INDEX
from cs_score.verbs.batch.store import digest_of_record
from cs_score.verbs.verify.rescored_batch import TABLES
from cs_score.verbs.verify.verifying import Verdict, verify
from tests.coldstart.command import score_in
from tests.verbs.verify.conftest import BATCHES
from tests.verbs.verify.test_verify import changed

LINES: Final = 6
"""Lines of each table that are changed."""


def by_name(path: str, *files: str) -> dict[str, Verdict]:
    """The verdicts on the files of a batch that are over all runs."""
    found = {Path(verdict.file): verdict for verdict in verify(path, files)}
    return {path.name: verdict for path, verdict in found.items() if path.name != "signature.json"}


@pytest.mark.parametrize("name", BATCHES)
def test_everything_over_all_runs_is_reproduced(name: str, folder: Path) -> None:
    found = by_name(name)
    assert {*found} == {*BATCH_FILES} - {".batch.lock", INDEX}
    assert {each: verdict.differences for each, verdict in found.items() if verdict.differences} == {}
    assert all(verdict.compared for verdict in found.values())
    lines = score_in(folder, ["verify", name]).stdout.decode().splitlines()
    counted = len(Path(name, "answers.tsv").read_text().splitlines())
    assert f"{name}/answers.tsv: reproduced ({counted} lines compared)" in lines


@pytest.mark.parametrize("name", BATCHES)
def test_a_table_that_was_changed_differs_in_the_line(name: str, folder: Path) -> None:
    original = {table: Path(name, table).read_text().splitlines(keepends=True) for table in TABLES}
    for at in range(LINES):
        numbers = {table: at * len(lines) // LINES for table, lines in original.items()}
        for table, number in numbers.items():
            lines = list(original[table])
            lines[number] = re.sub(r"\d(?=\D*\n)|$", lambda digit: str(9 - int(digit[0] or 0)), lines[number], count=1)
            Path(name, table).write_text("".join(lines))
        found = by_name(name)
        if name == "html" and re.match(r"wrong\t\t\w+\t(?!FATAL)", original["problems.tsv"][numbers["problems.tsv"]]):
            del numbers["problems.tsv"]  # it failed validation: nothing else tells its problems
        elif original["problems.tsv"][numbers["problems.tsv"]].startswith("none\t"):
            del numbers["problems.tsv"]  # a run without a line has failed: nothing else tells its problems
        for table, number in numbers.items():
            (difference,) = found[table].differences
            assert re.match(rf"line {number + 1}(, |$)", difference.name), table
        assert found["batch.json"].is_reproduced
        assert found["leaderboard.json"].is_reproduced


def test_a_line_more_or_less_differs(folder: Path) -> None:
    original = {table: Path("plain", table).read_text().splitlines(keepends=True) for table in TABLES}
    for end in (slice(-1), slice(0), None):
        for table, lines in original.items():
            Path("plain", table).write_text("".join(lines[end] if end else [*lines, lines[-1]]))
        found = by_name("plain")
        for table in TABLES:
            assert [difference.name for difference in found.pop(table).differences] == ["the number of lines"]
        assert all(verdict.is_reproduced for verdict in found.values())


def test_bytes_that_are_no_text_differ(folder: Path) -> None:
    for table in TABLES:
        path = Path("plain", table)
        path.write_bytes(path.read_bytes()[:-1] + b"\xff\x1b[31m\n")
    outcome = score_in(folder, ["verify", "plain"])
    assert outcome.status == 3
    assert outcome.stdout.count(b"plain/") == outcome.stdout.count(b"\n")
    assert b"\x1b" not in outcome.stdout
    assert not any(by_name("plain")[table].is_reproduced for table in TABLES)


# ---- The order of the runs


@pytest.mark.parametrize("name", ["policies", "plain"])
def test_runs_of_equal_rank_stand_as_in_the_batch(name: str, folder: Path) -> None:
    """The better run id of one file stands before a run of another file that ties with the worse one."""
    rows = json.loads(Path(name, "leaderboard.json").read_bytes())["rows"]
    told = [(row["run"], row["run_id"]) for row in rows if row["policy"] == rows[0]["policy"]]
    tied = [("good", "good"), ("two", "other")]
    assert told[:3] == [("two", "best"), *(tied if name == "policies" else reversed(tied))]
    (verdict,) = verify(f"{name}/leaderboard.json")
    assert verdict.is_reproduced


def test_rows_of_equal_rank_that_changed_places_differ(folder: Path) -> None:
    changed("plain/leaderboard.json", lambda value: value["rows"].insert(1, value["rows"].pop(2)))
    found = by_name("plain")
    assert {name for name in found if not found[name].is_reproduced} == {"leaderboard.json"}


# ---- What is not there


def test_tables_without_what_they_were_made_from_are_refused(folder: Path) -> None:
    Path("plain/batch.json").rename("kept.json")
    outcome = score_in(folder, ["verify", "plain"])
    assert (outcome.status, outcome.stdout) == (1, b"")
    assert outcome.stderr == (
        b"cs-score: plain: no batch.json in it, without which answers.tsv, agreement.tsv, stability.tsv cannot be "
        b"verified\n"
    )
    Path("kept.json").rename("plain/batch.json")
    Path("plain/leaderboard.json").unlink()
    refused = score_in(folder, ["verify", "plain"])
    assert (refused.status, refused.stdout) == (1, b"")
    assert refused.stderr.startswith(b"cs-score: plain: no leaderboard.json in it, without which batch.json, ")


@pytest.mark.parametrize(
    ("name", "kind"), [("leaderboard", "the leaderboard of a batch"), ("batch", "the analyses over all runs")]
)
def test_a_file_that_is_not_what_its_name_says_is_refused(name: str, kind: str, folder: Path) -> None:
    shutil.copy("plain/good/signature.json", f"plain/{name}.json")
    for path in ("plain", "plain/batch.json") if name == "leaderboard" else ("plain",):
        outcome = score_in(folder, ["verify", path])
        assert (outcome.status, outcome.stdout) == (1, b"")
        assert outcome.stderr.decode().startswith(f"cs-score: plain/{name}.json: not {kind}")


@pytest.mark.parametrize(("one", "other"), [*pairwise([*BATCHES, *BATCHES][: len(BATCHES) + 1])])
@pytest.mark.parametrize("is_first", [True, False])
def test_rows_of_another_batch_differ_or_are_refused(is_first: bool, one: str, other: str, folder: Path) -> None:
    """Nobody made such a leaderboard; whether it can be scored at all depends on what the batches share."""
    board, more = (json.loads(Path(name, "leaderboard.json").read_bytes()) for name in (one, other))
    for row in more["rows"]:
        row["run"] = f"other-{row['run']}"
    board["rows"] = more["rows"] + board["rows"] if is_first else board["rows"] + more["rows"]
    Path(one, "leaderboard.json").write_text(json.dumps(board))
    if len({BATCHES[name][0] == "claims" for name in (one, other)}) == 1:
        assert not by_name(one)["batch.json"].is_reproduced
    else:
        with pytest.raises(InputError, match=r"rows\[\d+\].origin.task: is not (coldstart|claims)$"):
            by_name(one)


def test_a_policy_of_a_mode_that_has_none_is_refused(folder: Path) -> None:
    """Also of a run that failed."""
    path = Path("claims/leaderboard.json")
    board = json.loads(path.read_bytes())
    for at, row in enumerate(board["rows"]):
        path.write_text(json.dumps(board | {"rows": [*board["rows"][:at], row | {"policy": "kb"}]}))
        with pytest.raises(InputError, match=rf"rows\[{at}\].policy: is 'kb', where claims has no policies$"):
            by_name("claims")


@pytest.mark.parametrize("mode", ["", "claims"])
def test_where_no_run_was_scored_nothing_else_is_compared(mode: str, folder: Path) -> None:
    words = ["claims", "--gold=gold.jsonl"] if mode else ["q.xml", "qrel"]
    score_in(folder, ["batch", *words[:1], "--jobs=1", "--output=new", *words[1:], "bad.tab"])
    found = by_name("new")
    assert {*found} == {"leaderboard.json", "batch.json"}
    assert all(verdict.is_reproduced for verdict in found.values())
    assert found["batch.json"].notes[1:] == ("no run was scored then, so that nothing else is compared",)
    shutil.copy("plain/batch.json", "new/batch.json")
    assert [str(each) for each in by_name("new")["batch.json"].differences] == [
        "the number of entries of runs: recorded 4, computed 0"
    ]


# ---- Inputs and versions


@pytest.mark.parametrize("name", ["policies", "claims"])
def test_another_version_is_noted_and_excuses_nothing(name: str, folder: Path) -> None:
    for path in [*Path(name).glob("leaderboard.*"), *Path(name).rglob("signature.json")]:
        text = path.read_text().replace(f"cs-score:{VERSION}", "cs-score:0.1.9")
        path.write_text(text.replace(f'"version": "{VERSION}"', '"version": "0.1.9"'))
    for path in Path(name).rglob("signature.json"):
        changed(str(path), lambda record: record.update(digest=digest_of_record(record)))
    found = by_name(name)
    assert {each: verdict.differences for each, verdict in found.items() if verdict.differences} == {}
    assert all(
        found[each].notes[-1].startswith("recorded by cs-score 0.1.9") for each in found if each.endswith("json")
    )
    tsv = Path(name, "leaderboard.tsv")
    lines = [line.split("\t") for line in tsv.read_text().splitlines()]
    known = [at for at, column in enumerate(lines[0]) if column != "warnings"]
    tsv.write_text("".join("\t".join([line[at] for at in known]) + "\n" for line in lines))
    assert by_name(name)["leaderboard.tsv"].differences


@pytest.mark.parametrize("name", ["policies", "plain"])
def test_folders_of_runs_that_are_not_where_the_batch_put_them_differ(name: str, folder: Path) -> None:
    below = Path(name, "kb") if name == "policies" else Path(name)
    good, wrong, aside = below / "good", below / "wrong", Path("aside")

    def differing() -> dict[str, list[str]]:
        return {each.file: list(map(str, each.differences)) for each in verify(name) if each.differences}

    assert differing() == {}
    good.rename(aside)
    wrong.rename(good)
    aside.rename(wrong)
    at = os.path.relpath(good, name)
    assert differing()[f"{good}/signature.json"] == [
        f"the run in the folder {at}: recorded 'wrong', computed belongs into {os.path.relpath(wrong, name)}"
    ]
    shutil.rmtree(good)
    shutil.move(wrong, good)
    under = " under kb" if name == "policies" else ""
    assert differing() == {
        f"{name}/leaderboard.json": [f"the folder of the run wrong{under}: recorded scored, computed no such folder"]
    }
    shutil.copytree(good, below / "more")
    assert {*differing()} == {f"{name}/leaderboard.json", f"{below}/more/signature.json"}


def test_a_folder_of_a_run_that_the_leaderboard_does_not_have_differs(folder: Path) -> None:
    shutil.rmtree("sorted/less")
    shutil.copytree("claims/predictions", "sorted/predictions")
    found = {each.file: list(map(str, each.differences)) for each in verify("sorted") if each.differences}
    assert found == {
        "sorted/leaderboard.json": ["the folder of the run less: recorded scored, computed no such folder"],
        "sorted/predictions/signature.json": [
            "the folder predictions: recorded a run, computed none that leaderboard.json lists as scored"
        ],
    }


def test_a_run_scored_with_something_else_than_the_leaderboard_says_differs(folder: Path) -> None:
    shutil.rmtree("sorted/more")
    shutil.copytree("claims/more", "sorted/more")
    found = {each.file: list(map(str, each.differences)) for each in verify("sorted") if each.differences}
    assert found == {"sorted/more/signature.json": ["origin: recorded another one, computed that of leaderboard.json"]}


def test_each_run_is_scored_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[tuple[str, tuple[str, ...]]] = []
    score = PreparedColdStart.score

    def counted(self: PreparedColdStart, run, policies):  # type: ignore[no-untyped-def]
        scored.append((run.name, tuple(policies)))
        return score(self, run, policies)

    monkeypatch.setattr(PreparedColdStart, "score", counted)
    assert len(by_name("policies")) == 9
    assert len(scored) == len({*scored}) == 6  # a run without a line has failed; nothing is left to score
