"""validate-kb and resolve-queries against the recorded outputs of the reference, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.coldstart.command import score_in
from tests.coldstart.recorded import SHARED, Case, cases_in, copy_inputs, replay, sampled

COMMITTED: Final = cases_in(Path(__file__).parent / "golden")
_SHARED: Final = [*cases_in(SHARED / "golden" / "knowledge-base"), *cases_in(SHARED / "testsuite", "KB_*")]


def _name(case: Case) -> str:
    return case.folder.name


def _has_tree(case: Case) -> bool:
    return "tree" in json.loads((case.folder / "case.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", COMMITTED, ids=_name)
def test_committed_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


@pytest.mark.parametrize("case", sampled(_SHARED))
def test_shared_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


@pytest.mark.parametrize("case", sampled(case for case in (*COMMITTED, *_SHARED) if _has_tree(case)))
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
