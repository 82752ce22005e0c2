"""The programs before the scorer against the recorded outputs of the reference, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from cs_score.base.records import replace
from cs_score.cli.core import COMMANDS
from cs_score.verbs import BEFORE_SCORER
from tests.coldstart.command import score_in
from tests.coldstart.recorded import SHARED, Case, cases_in, copy_inputs, replay, sampled

SLICES: Final = Path(__file__).parents[1]
COMMITTED: Final = [case for room in ("preparation", "knowledge_base") for case in cases_in(SLICES / room / "golden")]
OTHERS: Final = [
    *(case for folder in ("companions", "knowledge-base") for case in cases_in(SHARED / "golden" / folder)),
    *(case for case in cases_in(SHARED / "testsuite") if case.program is not None),
]


def test_there_are_committed_cases_of_both_slices() -> None:
    """Else the test below would pass without a case."""
    assert {case.folder.relative_to(SLICES).parts[0] for case in COMMITTED} == {"preparation", "knowledge_base"}


def _has_tree(case: Case) -> bool:
    return "tree" in json.loads((case.folder / "case.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", COMMITTED, ids=lambda case: case.folder.name)
def test_committed_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


@pytest.mark.parametrize("case", sampled(OTHERS))
def test_shared_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


@pytest.mark.parametrize("case", sampled(case for case in (*COMMITTED, *OTHERS) if _has_tree(case)))
def test_folders_of_a_case(case: Case, tmp_path: Path) -> None:
    """The files below event_arguments and sentiments: these and no others, each with a recorded content."""
    expected = case.folder / "expected"
    copy_inputs(case, tmp_path)
    written = {name: data for name, data in score_in(tmp_path, case.words).files.items() if "/" in name}
    recorded = dict(_files_below(expected / "tree"))
    variants: dict[str, set[bytes]] = {}
    for name, data in _files_below(expected / "variants" / "tree"):
        variants.setdefault(name.rpartition(".")[0], set()).add(data)
    assert written.keys() == recorded.keys() | variants.keys()
    for name, data in written.items():
        assert data in ([recorded[name]] if name in recorded else variants[name])


def _files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def test_every_program_has_a_committed_case() -> None:
    assert {case.program for case in COMMITTED} >= {
        name for name, entry in COMMANDS.items() if entry.group == BEFORE_SCORER
    } - {"samples"}


@pytest.mark.parametrize("words", [("-justifications", "M:M"), ("-depth", "A:1"), ("-bogus",)])
def test_another_output_or_status_is_noticed(words: tuple[str, ...], tmp_path: Path) -> None:
    case = next(case for case in COMMITTED if case.folder.name == "vr_depth_b_1")
    changed = replace(case, args=(*case.args[:-2], *words, *case.args[-2:]))
    assert replay(changed, tmp_path) != []
