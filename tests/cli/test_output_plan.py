"""The plan of outputs by itself: what it refuses under whatever name, what it replaces, what it removes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import Existing, OutputPlan, OwnOption, PlannedOutput, whole_file

REFUSED, REPLACED, CLEARED, RECOGNISED, KNOWN = Existing
JSON: Final = rb'\{"tool": "cs-score"'
OURS: Final = b'{"tool": "cs-score", "more": 1}'
OPTION: Final = OwnOption("--json", {".json": JSON, ".tsv": rb"id\tcode\n"}, "result.json", True)


PACK: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("input").write_bytes(b"an input")
    Path("folder").mkdir()
    Path("symbolic").symlink_to("input")
    os.link("input", "hard")
    Path("circle").symlink_to("circle")
    Path("astray").symlink_to("gone/file")
    Path("ahead").symlink_to("new")


def plan(*paths: str, existing: Existing = REPLACED, inputs: tuple[str, ...] = ("input",)) -> OutputPlan:
    return OutputPlan(inputs, [PlannedOutput(f"-o{at}", path, existing, JSON) for at, path in enumerate(paths)])


SAME: Final = ("input", "./input", "folder/../input", "symbolic", "hard")


@pytest.mark.parametrize("name", SAME)
def test_an_output_is_never_an_input(name: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"{name} is an input; choose another -o0")):
        plan(name).check()
    with pytest.raises(UsageError, match="input is an input"):
        plan("input", inputs=(name,)).check()


@pytest.mark.parametrize("name", [*SAME, "NEW"])
def test_an_output_is_never_another_output(name: str) -> None:
    first = {"NEW": "ahead"}.get(name, "input")
    second = {"NEW": "new"}.get(name, name)
    with pytest.raises(UsageError, match=f"{re.escape(second)} is what -o0 writes; choose another -o1"):
        plan(first, second, inputs=()).check()


def test_files_of_one_option_may_have_become_one() -> None:
    output = PlannedOutput("-o", "input", REPLACED)
    OutputPlan([], [output, PlannedOutput("-o", "hard", REPLACED)]).check()


@pytest.mark.parametrize("existing", Existing)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("folder", "folder is a folder, where -o0 writes a file"),
        ("circle", "Could not open circle: Too many levels of symbolic links; choose another -o0"),
        ("astray", "Could not open astray: No such file or directory; choose another -o0"),
        ("none/file", "Could not open none/file: No such file or directory; choose another -o0"),
        ("input/file", "Could not open input/file: Not a directory; choose another -o0"),
    ],
)
def test_a_place_where_no_file_can_be(name: str, reason: str, existing: Existing) -> None:
    with pytest.raises((UsageError, OutputError), match=re.escape(reason)):
        plan(name, existing=existing).check()


def test_a_new_folder_takes_files_of_its_own_alone() -> None:
    OutputPlan([], [PlannedOutput("-o", "made/file", REPLACED)], folder="made").check()
    with pytest.raises(OutputError):
        OutputPlan([], [PlannedOutput("-o", "made/further/file", REPLACED)], folder="made").check()


@pytest.mark.parametrize(
    ("existing", "content", "is_refused", "is_cleared"),
    [
        (REFUSED, OURS, True, True),
        (REFUSED, b"a list", True, False),
        (REPLACED, b"a list", False, False),
        (CLEARED, b"a list", False, True),
        (RECOGNISED, OURS, False, True),
        (RECOGNISED, b"a list", True, False),
        (RECOGNISED, b"", True, False),
        (RECOGNISED, b"{}", True, False),
        (RECOGNISED, b"\x1f\x8b", True, False),
        (KNOWN, OURS, False, False),
        (KNOWN, b"a list", True, False),
    ],
)
def test_what_is_there_before(existing: Existing, content: bytes, is_refused: bool, is_cleared: bool) -> None:
    Path("o.json").write_bytes(content)
    made = plan("o.json", existing=existing)
    if is_refused:
        with pytest.raises(UsageError, match=r"already exists; -o0 must|o\.json exists; name another -o0"):
            made.check()
    else:
        made.check()
    assert Path("o.json").read_bytes() == content, "a check touches nothing"
    made.remove_earlier_files()
    assert Path("o.json").exists() != is_cleared


def test_force_replaces_what_others_wrote_but_no_input_and_no_folder() -> None:
    for name, is_refused in (("notes.json", False), ("symbolic", True), ("folder", True)):
        if name == "notes.json":
            Path(name).write_bytes(b"a list")
        made = OutputPlan(["input"], [PlannedOutput("--json", name, RECOGNISED, JSON)], forced=True)
        if is_refused:
            with pytest.raises(UsageError):
                made.check()
        else:
            made.check()


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize(("ending", "content"), [(".json", OURS), (".JSON", OURS), (".tsv", b"id\tcode\n1\tX\n")])
def test_an_earlier_output_of_the_option_is_recognised_though_packed(ending: str, content: bytes, packing: str) -> None:
    pack = PACK[packing]
    name = f"p{ending}{packing}"
    Path(name).write_bytes(pack(content))
    OutputPlan([], list(OPTION.outputs(name))).check()
    for others in (b"a list", OURS if ending == ".tsv" else b"id\tcode\n"):  # somebody else's, and another format
        Path(name).write_bytes(pack(others))
        with pytest.raises(UsageError, match="exists; name another --json"):
            OutputPlan([], list(OPTION.outputs(name))).check()


@pytest.mark.parametrize(
    "name", ["notes", "run.tab", "new.txt", "new.json.zip", "json", ".json", "", "/dev/nul", "o.sarif"]
)
def test_a_file_of_an_own_option_is_called_after_its_format(name: str) -> None:
    with pytest.raises(UsageError, match=r"--json takes a file; did you mean --json result\.json\?"):
        list(OPTION.outputs(name))


def test_streams_take_anything_any_number_of_times() -> None:
    assert list(OPTION.outputs(None)) == list(OPTION.outputs("-")) == []
    OutputPlan([], [*OPTION.outputs("/dev/null"), PlannedOutput("-o", "/dev/null", REPLACED)]).check()


def test_a_file_that_fails_half_way_leaves_the_old_one() -> None:
    Path("out.txt").write_bytes(b"old")
    before = sorted(os.listdir())
    with pytest.raises(TypeError), whole_file("out.txt") as file:
        file.writelines([b"half", "no bytes"])  # type: ignore[list-item]
    assert (sorted(os.listdir()), Path("out.txt").read_bytes()) == (before, b"old")
