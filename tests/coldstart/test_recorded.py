"""The command against the recorded outputs of the reference scorer, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.coldstart.command import Outcome
from tests.coldstart.recorded import Case, committed_cases, differences, replay, sampled, shared_cases


def _name(case: Case) -> str:
    return case.folder.name


@pytest.mark.parametrize("case", committed_cases(), ids=_name)
def test_committed_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


@pytest.mark.parametrize("case", sampled(shared_cases()))
def test_shared_case(case: Case, tmp_path: Path) -> None:
    assert replay(case, tmp_path) == []


def _recorded_outcome(case: Case) -> tuple[Outcome, dict[str, bytes]]:
    outputs = {output: case.expected(output) or b"" for output in case.stable} | {"stdout": b""}
    return Outcome(case.exit_code or 0, b"", b"", {}), outputs


@pytest.fixture
def sound_case() -> Case:
    return next(case for case in committed_cases() if case.mode == "ok" and "errlog" in case.stable)


def test_one_byte_of_one_output_is_a_difference(sound_case: Case) -> None:
    assert list(differences(sound_case, *_recorded_outcome(sound_case))) == []
    for output in sound_case.stable:
        outcome, outputs = _recorded_outcome(sound_case)
        outputs[output] += b" "
        assert [text.split()[0] for text in differences(sound_case, outcome, outputs)] == [output]
