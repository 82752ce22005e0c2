"""Recorded results scored again: what is reproduced, which value differs, what cannot be verified and why."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Final, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.errors import CsScoreError, InputError
from cs_score.base.sources import InputDigest
from cs_score.verbs.verify.places import FoundInput, NotFoundError, Places
from cs_score.verbs.verify.verifying import Verdict, verify
from tests.coldstart.command import score_in
from tests.growth import assert_grows_in_proportion
from tests.verbs.verify.conftest import CALLS

RECORDS: Final = (
    *(name for name in CALLS if name.endswith(".json")), "scores.json", "printed.json", "batch/leaderboard.json",
    "sorted/leaderboard.json", "batch/kb/run/signature.json", "batch/own/round2/signature.json",
    "sorted/more/signature.json", "batch/batch.json", "sorted/batch.json",
)  # fmt: skip


def verdicts(path: str, *files: str) -> list[Verdict]:
    return list(verify(path, files))


def changed(path: str, change: Callable[[Any], object]) -> None:
    """Rewrite a JSON file with one thing changed."""
    value = json.loads(Path(path).read_bytes())
    change(value)
    Path(path).write_text(json.dumps(value))


@pytest.mark.parametrize("name", [*RECORDS, "batch"])
def test_what_was_recorded_is_reproduced(name: str, folder: Path) -> None:
    found = verdicts(name)
    assert found
    assert [verdict.differences for verdict in found] == [()] * len(found)
    assert all(verdict.compared and not verdict.notes for verdict in found)
    outcome = score_in(folder, ["verify", name])
    assert (outcome.status, outcome.stderr, outcome.files) == (0, b"", {})
    assert outcome.stdout.count(b": reproduced (") == len(found)


# ---- Numbers


def _places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The places of all values within a JSON value, each with what stands there."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*at, key), each
        yield from _places(each, (*at, key))


def _put(value: Any, at: Sequence[str | int], new: Callable[[Any], Any]) -> None:
    for key in at[:-1]:
        value = value[key]
    value[at[-1]] = new(value[at[-1]])


@pytest.mark.parametrize("name", RECORDS)
def test_every_number_that_was_changed_is_noticed(name: str, folder: Path) -> None:
    original = json.loads(Path(name).read_bytes())
    refused: list[str] = []
    numbers = (at for at, each in _places(original) if isinstance(each, int | float) and not isinstance(each, bool))
    for at in numbers:
        value = deepcopy(original)
        _put(value, at, lambda number: number + 1 if isinstance(number, int) else number + 2**-40)
        Path(name).write_text(json.dumps(value))
        try:
            (verdict,) = verdicts(name)
        except InputError as error:  # it tells how to score again, and cannot be so
            refused.append(str(error))
            continue
        assert not verdict.is_reproduced, at
        steers = at[-1] in ("resamples", "seed", "confidence", "references")  # other numbers are computed
        assert steers or any(_is_named(found.name, at) for found in verdict.differences), at
    assert all("schema_version" in text or "is no whole number from" in text for text in refused), refused


def _is_named(name: str, at: tuple[str | int, ...]) -> bool:
    """Whether the name of a value has the member that was changed, or the entry."""
    last = next(key for key in reversed(at) if isinstance(key, str))
    return last in name or name.startswith(f"the file {at[-1]}") or (at[0] == "files" and name == "digest")


def test_a_difference_names_the_number_as_recorded_and_as_computed(folder: Path) -> None:
    computed = json.loads(Path("plain.json").read_bytes())["runs"][0]["scores"]["SF-AP"]
    changed("plain.json", lambda value: _put(value, ("runs", 0, "scores", "SF-AP"), lambda _: 0.125))
    outcome = score_in(folder, ["verify", "plain.json"])
    assert outcome.status == 3
    first, last = outcome.stdout.decode().splitlines()
    assert first == f"plain.json: runs[r1].scores.SF-AP: recorded 0.125, computed {computed!r}"
    assert last.startswith("plain.json: differs from its record in 1 value (")


@pytest.mark.parametrize("key", ["scores", "units", "tables", "responses"])
def test_a_member_that_is_missing_or_new_differs(key: str, folder: Path) -> None:
    changed("plain.json", lambda value: value["runs"][0].pop(key))
    assert [found.name for found in verdicts("plain.json")[0].differences] == [f"runs[r1].{key}"]
    changed("sf.json", lambda value: value["runs"][0].update(new=1))
    assert [str(found) for found in verdicts("sf.json")[0].differences] == [
        "runs[r1].new: recorded 1, computed nothing"
    ]


# ---- Inputs


def _inputs(name: str) -> list[dict[str, str]]:
    """The inputs of a record; `batch.json` leaves them to the leaderboard beside it."""
    value = json.loads(Path(name.replace("batch.json", "leaderboard.json")).read_bytes())
    made = value["rows"][0] if "rows" in value else _document(value)
    return list(made["origin"]["inputs"])


def _document(value: dict[str, Any]) -> dict[str, Any]:
    """The document; evidence tasks put it below the measures of the official evaluator."""
    nested = value.get("signature")
    return nested if isinstance(nested, dict) else value


@pytest.mark.parametrize("name", RECORDS)
def test_a_changed_byte_in_any_input_is_told(name: str, folder: Path) -> None:
    for one in _inputs(name):
        path = Path(one["name"])
        content = path.read_bytes()
        path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
        with pytest.raises(NotFoundError) as caught:
            verdicts(name)
        assert len(caught.value.lines) == sum(other["name"] == one["name"] for other in _inputs(name))
        assert caught.value.lines[0].startswith(f"{one['name']} ({one['role']}) was changed: its SHA-256 was ")
        outcome = score_in(folder, ["verify", name])
        assert (outcome.status, outcome.stdout) == (1, b"")
        assert outcome.stderr.decode().startswith(f"cs-score: {name}: {one['name']} (")
        path.write_bytes(content)


@pytest.mark.parametrize("name", RECORDS)
def test_inputs_are_found_by_their_contents(name: str, folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    for number, one in enumerate({one["name"]: one for one in _inputs(name)}.values()):
        content = Path(one["name"]).read_bytes()
        Path(one["name"]).unlink()
        packs = number % 2 and one["role"] != "query list"
        path = elsewhere / (f"file{number}.gz" if packs else f"file{number}")
        path.write_bytes(gzip.compress(content) if packs else content)
    with pytest.raises(NotFoundError, match="is missing; its SHA-256 was"):
        verdicts(name)
    with pytest.raises(NotFoundError, match=r"is missing, nor has any of the \d files given that content"):
        verdicts(name, "notes", "link")
    (verdict,) = verdicts(name, str(elsewhere.parent))
    assert verdict.is_reproduced, verdict.differences
    (verdict,) = verdicts(name, "notes", *map(str, elsewhere.iterdir()))
    assert verdict.is_reproduced


def test_a_file_that_does_not_exist_and_one_that_is_a_pipe_are_no_inputs(folder: Path) -> None:
    outcome = score_in(folder, ["verify", "plain.json", "nowhere"])
    assert (outcome.status, outcome.stderr) == (1, b"cs-score: Could not open nowhere: no file and no folder\n")
    changed("plain.json", lambda value: value["origin"]["inputs"][0].update(name="/dev/stdin"))
    with pytest.raises(NotFoundError, match=r"/dev/stdin \(queries\) is missing"):
        verdicts("plain.json")


def test_programs_are_told_file_by_file_what_differs_or_why_nothing_could_be_compared(folder: Path) -> None:
    changed("plain.json", lambda value: value["runs"][0]["scores"].update({"SF-AP": 0.125}))
    told = score_in(folder, ["verify", "plain.json", "--format=json"])
    found = json.loads(told.stdout)
    assert (told.status, found["kind"], found["task"], found["reproduced"]) == (3, "verification", "coldstart", False)
    (value,) = found["files"][0]["differences"]
    assert (value["name"], value["recorded"]) == ("runs[r1].scores.SF-AP", "0.125")
    files = json.loads(score_in(folder, ["verify", "batch", "--format=json"]).stdout)["files"]
    assert [each["file"] for each in files] == [verdict.file for verdict in verdicts("batch")]
    changed("plain.json", lambda value: value["origin"]["inputs"][0].update(sha256="0" * 64))
    lacking = score_in(folder, ["verify", "plain.json", "--format=json"])
    assert lacking.status == 1
    assert json.loads(lacking.stdout)["error"].startswith("plain.json: q.xml (queries) ")


# ---- Batches


def test_a_file_of_a_batch_that_was_changed_differs(folder: Path) -> None:
    path = Path("batch/kb/run/out.sf")
    path.write_bytes(path.read_bytes().replace(b"1.0000", b"0.5000", 1))
    found = {verdict.file: verdict.differences for verdict in verdicts("batch")}
    assert [difference.name for difference in found.pop("batch/kb/run/signature.json")] == ["the file out.sf"]
    assert not any(found.values())
    Path("batch/own/run/out.json").unlink()
    assert score_in(folder, ["verify", "batch"]).stdout.count(b"another file\n") == 2


def test_a_folder_without_batch_is_refused(folder: Path) -> None:
    outcome = score_in(folder, ["verify", "runs"])
    assert outcome.status == 1
    assert outcome.stderr == b"cs-score: runs: neither leaderboard.json nor a signature.json of a run in it\n"


# ---- Other versions


def test_another_schema_is_refused(folder: Path) -> None:
    changed("plain.json", lambda value: value.update(schema_version=6))
    outcome = score_in(folder, ["verify", "plain.json"])
    said = "is 6, where this version of cs-score reads 5; make it anew with this version"
    assert (outcome.status, outcome.stderr.decode()) == (1, f"cs-score: plain.json: schema_version: {said}\n")


# ---- What is opened


@pytest.mark.parametrize("option", ["queries", "samples"])
@pytest.mark.parametrize("kind", ["fifo", "file", "device"])
def test_what_only_options_name_is_never_opened(option: str, kind: str, folder: Path) -> None:
    named = "/dev/zero" if kind == "device" else "named"
    if kind == "fifo":
        os.mkfifo(named)
    elif kind == "file":
        Path(named).write_text("words of somebody else\n")

    def name_it(value: dict[str, Any]) -> None:
        value["origin"]["options"][option] = named
        value["origin"]["inputs"] = [i for i in value["origin"]["inputs"] if i["role"] not in ("query list", "samples")]

    changed("plain.json", name_it)
    outcome = score_in(folder, ["verify", "plain.json"])
    assert (outcome.status, outcome.stdout) == (1, b"")
    role = {"queries": "query list", "samples": "samples"}[option]
    assert outcome.stderr.decode() == (
        f"cs-score: plain.json: origin.options.{option}: names a file that is no input of the role {role}, "
        "so that it is not opened\n"
    )


def test_inputs_are_found_in_linear_time(tmp_path: Path) -> None:
    def prepared(number: int) -> Callable[[], object]:
        given = tmp_path / str(number)
        given.mkdir(exist_ok=True)
        wanted = []
        for at in range(number):
            (given / f"{at}.now").write_text(str(at))
            wanted.append(InputDigest(f"{at}.then", hashlib.sha256(str(at).encode()).hexdigest(), "pool"))
        return lambda: Places([str(given)], str(tmp_path)).find(wanted)

    found = prepared(30)()
    assert [Path(each.path).name for each in cast(list[FoundInput], found)] == [f"{at}.now" for at in range(30)]
    assert_grows_in_proportion(prepared, 400)


# ---- Files that nobody of ours has written

HOSTILE: Final = (
    "", "{", "[]", "1", "null", "{}", '{"runs": 1}', '{"signature": []}', '{"sorted_by": "x"}', '{"digest": 1}',
    "[" * 100_000, '{"a":' * 50_000, '{"runs":' + "[" * 500 + "]" * 500 + "}", "1" * 5000,
    '{"schema_version": NaN}', "\ufeff{}",
    '{"schema_version": 4, "schema_version": 5, "runs": []}', '{"kind": "score", "schema_version": true}',
    '{"kind": "score", "schema_version": 5}', '{"kind": "score", "schema_version": 5, "task": "fever", "origin": {}}',
    '{"kind": "score", "schema_version": 5, "task": "coldstart", "runs": [], "origin": {"options": {}}}',
    '{"signature": {"kind": "score", "schema_version": 5, "task": "claims", "origin": []}}',
    '{"kind": "leaderboard", "schema_version": 4, "rows": [{"run": "a", "policy": "", "state": "ok", "origin": {}}]}',
    '{"kind": "leaderboard", "schema_version": 4, "measure": 1, "rows": {}}',
    '{"kind": "batch", "schema_version": 4}', '{"schema_version": 1, "systems": [], "measures": []}',
    '{"agreement": 1}', '{"kind": "batch-run", "schema_version": 5, "runs": []}',
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:40])
def test_what_is_no_result_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    outcome = score_in(tmp_path, ["verify", "r.json"])
    assert (outcome.status, outcome.stdout) == (1, b"")
    (line,) = outcome.stderr.decode().splitlines()
    assert line.startswith("cs-score: r.json: ")
    assert len(line) < 400


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("claims.json", {"task": "coldstart"}, "signature.task: is claims, its origin coldstart"),
        ("plain.json", {"task": "r4c"}, "task: is coldstart, its origin r4c"),
        ("plain.json", {"task": "fever"}, "origin.task: is none of coldstart, scifact"),
        ("r4c.json", {"inputs": []}, "signature.origin.inputs: has 0 of the role gold"),
        ("plain.json", {"options": {}}, "origin.options: has no discipline"),
    ],
)
def test_what_cannot_be_scored_again_is_told_with_its_place(
    name: str, change: dict[str, Any], complaint: str, folder: Path
) -> None:
    changed(name, lambda value: _document(value)["origin"].update(change))
    outcome = score_in(folder, ["verify", name])
    assert (outcome.status, outcome.stdout) == (1, b"")
    assert outcome.stderr.decode().startswith(f"cs-score: {name}: {complaint}")


JUNK: Final = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5), st.just([]), st.just({}), st.just([[]]), st.just({"a": 1}), st.just("../../etc/passwd"),
    st.just("0" * 64), st.just("x|gold:00000000|cs-score:1"),
)  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
@given(data=st.data())
def test_any_value_may_be_any_other(name: str, recorded: Path, data: st.DataObject) -> None:
    """Numbers of resamples are the only thing that could ask for much work; they have a limit."""
    value = json.loads((recorded / name).read_bytes())
    every = [at for at, _ in _places(value)]
    steering = [at for at in every if {"signature", "origin"} & set(at)] or every
    at = data.draw(st.sampled_from(steering if data.draw(st.booleans()) else every))
    junk = data.draw(JUNK)
    _put(value, at, lambda _: junk)
    path = recorded / f"{name}.changed"
    path.write_text(json.dumps(value))
    with contextlib.chdir(recorded):
        try:
            said = [str(found) for verdict in verify(name + ".changed") for found in verdict.differences]
        except (CsScoreError, NotFoundError) as error:
            said = [str(error)]
    assert not any("\n" in text for text in said)
