"""Records and folders that somebody has changed, or has filled with what should not be opened."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cs_score.base.errors import InputError
from cs_score.base.signature import RUN
from cs_score.base.sources import InputDigest
from cs_score.coldstart.linking import expand_folder
from cs_score.verbs.verify.places import MOST_MENTIONS, FoundInput, Places
from cs_score.verbs.verify.verifying import verify
from tests.coldstart.command import score_in
from tests.documents import copy_samples

pytestmark = pytest.mark.timeout(60)

GOLD = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab"
KB, SF = "submissions/tide-kb.tab.txt", "submissions/gull-sf.tab.txt"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples, with the folder of a score, that of a batch, and a score that has met a folder without runs."""
    folder = copy_samples(tmp_path_factory.mktemp("made"))
    (folder / "empty").mkdir()
    for words in (
        f"score -o scored --bootstrap 9 {GOLD} {KB}",
        f"score -o tabs -fields EC:RUNID:LEVEL:F -tabs {GOLD} {KB}",
        f"batch --jobs 1 -o batch {GOLD} {KB} {SF}",
        f"--json remark.json {GOLD} {KB} empty",
    ):
        assert score_in(folder, words.split()).status == 0, words
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, where the test works."""
    copy = shutil.copytree(made, tmp_path / "copy")
    monkeypatch.chdir(copy)
    return copy


def differing(path: str) -> list[str]:
    """The files of a record that are not reproduced."""
    return [verdict.file for verdict in verify(path) if not verdict.is_reproduced]


@pytest.mark.parametrize("path", ["scored", "scored/out.json", "tabs", "batch", "remark.json"])
def test_what_nobody_has_changed_is_reproduced(path: str, folder: Path) -> None:
    assert differing(path) == []


ENDINGS = ("debug", "ap", "sf", "ldcmax", "ldcmean", "summary", "intervals")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_beside_the_json_of_a_score_that_was_changed_is_found(ending: str, folder: Path) -> None:
    file = Path(f"scored/out.{ending}")
    text = file.read_text()
    place = max(at for at, sign in enumerate(text) if sign.isdigit())
    file.write_text(f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}")
    assert differing("scored") == [str(file)]
    assert score_in(folder, ["verify", "scored"]).status == 3


def test_columns_that_a_call_asked_for_are_known_by_its_words(folder: Path) -> None:
    file = Path("tabs/out.sf")
    file.write_text(file.read_text().replace("\t1.0000", "\t0.0000", 1))
    assert differing("tabs") == ["tabs/out.sf"]


def _swapped(text: str) -> str:
    return text.replace("CORRECT", "CORRCET", 1)


def _another_first_line(text: str) -> str:
    first, _, rest = text.partition("\n")
    return f"#{'x' * (len(first) - 1)}\n{rest}"


@pytest.mark.parametrize("change", [_swapped, _another_first_line])
def test_the_words_of_a_call_of_a_batch_are_vouched_for(change: Callable[[str], str], folder: Path) -> None:
    file = Path("batch/tide-kb/out.params")
    text = file.read_text()
    changed = change(text)
    assert (len(changed), changed == text) == (len(text), False)
    file.write_text(changed)
    assert differing("batch") == ["batch/tide-kb/signature.json"]


def test_the_time_of_a_call_is_what_a_batch_does_not_vouch_for(folder: Path) -> None:
    file = Path("batch/tide-kb/out.params")
    _, _, rest = file.read_text().partition("\n")
    file.write_text(f"#At: Thu Jan  1 00:00:00 1970\n{rest}")
    assert differing("batch") == []


@pytest.mark.parametrize(
    "remark",
    [
        "no file *.tab.txt in this result was certified by NIST, so nothing of it was loaded",
        "no file *.tab.txt in submissions, so nothing of it was loaded",
        "anything else",
    ],
)
def test_a_forged_remark_is_found(remark: str, folder: Path) -> None:
    value = json.loads(Path("remark.json").read_text())
    assert value["remarks"]
    value["remarks"].append(remark)
    Path("remark.json").write_text(json.dumps(value))
    assert differing("remark.json") == ["remark.json"]


@pytest.mark.parametrize("empty_folder", ["submissions", "nowhere"])
def test_a_forged_empty_folder_is_found(empty_folder: str, folder: Path) -> None:
    value = json.loads(Path("remark.json").read_text())
    assert value["empty_folders"] == ["empty"]
    value["empty_folders"].append(empty_folder)
    value["remarks"].append(value["remarks"][0].replace("in empty,", f"in {empty_folder},"))
    Path("remark.json").write_text(json.dumps(value))
    assert differing("remark.json") == ["remark.json"]


# ---- What is no ordinary file


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _link_to_fifo(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def _link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a name of a socket has at most some 100 characters
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


SPECIAL: list[Callable[[Path], None]] = [_fifo, _link_to_fifo, _link_to_device, _socket]


@pytest.mark.parametrize("make", SPECIAL)
@pytest.mark.parametrize("name", ["batch/x/signature.json", "batch/tide-kb/signature.json", "batch/leaderboard.json"])
def test_what_would_never_end_is_not_opened_by_verify(make: Callable[[Path], None], name: str, folder: Path) -> None:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    make(folder / name)
    outcome = score_in(folder, ["verify", "batch"])
    assert outcome.status == 1
    assert outcome.stderr.decode().count("\n") == 1


@pytest.mark.parametrize("make", [_fifo, _link_to_device])
@pytest.mark.parametrize(
    "words", ["verify remark.json runs", f"score {GOLD} runs", f"batch -o o {GOLD} runs", f"batch -o o {GOLD} runs/*"]
)
def test_what_would_never_end_is_not_opened_in_a_folder(make: Callable[[Path], None], words: str, folder: Path) -> None:
    Path("runs").mkdir()
    shutil.copy(KB, "runs/good.tab.txt")
    make(folder / "runs/bad.tab.txt")
    outcome = score_in(folder, words.split())
    assert outcome.status == (0 if words.startswith("verify") else 1)
    if not words.startswith("verify"):
        assert b"runs/bad.tab.txt: a pipe, a socket or a device" in outcome.stderr


def test_a_pipe_that_is_named_itself_is_read(folder: Path) -> None:
    assert expand_folder("/dev/null") == ["/dev/null"]
    Path("f").mkdir()
    Path("f/a.tab.txt").symlink_to("/dev/null")
    with pytest.raises(InputError, match="a pipe, a socket or a device"):
        expand_folder("f")


# ---- Amplification


def _set(value: Any, resamples: int) -> None:
    value["origin"]["options"]["bootstrap"]["resamples"] = resamples


def test_very_many_resamples_need_force(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path("scored/out.json")
    value = json.loads(file.read_text())
    _set(value, 100_001)
    file.write_text(json.dumps(value))
    outcome = score_in(folder, ["verify", "scored"])
    assert outcome.status == 1
    assert b"origin.options.bootstrap: asks for 100001 resamples" in outcome.stderr
    monkeypatch.setattr("cs_score.analysis.recorded.MANY_RESAMPLES", 8)
    _set(value, 9)
    file.write_text(json.dumps(value))
    assert score_in(folder, ["verify", "scored"]).status == 1
    assert score_in(folder, ["verify", "--force", "scored"]).status == 0


def test_an_input_is_read_once_however_often_it_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("run").write_bytes(b"text")
    sha256 = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    wanted = InputDigest("run", sha256, RUN)
    found = Places([], "").find([wanted] * MOST_MENTIONS)
    opened: list[FoundInput] = []
    for each in found:
        each.load()
        opened += [] if any(each is other for other in opened) else [each]
    assert len(opened) == 1
    with pytest.raises(InputError, match="run: the record names it more than 20 times"):
        Places([], "").find([wanted] * (MOST_MENTIONS + 1))
