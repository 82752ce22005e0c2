"""Recorded cases of the official evaluators, and what has to be equal for a case to pass."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from cs_score.base.records import Record
from tests.evidence.command import Outcome

FAMILIES: Final = ("scifact", "claims", "r4c", "hotpotqa")
COMMITTED: Final = Path(__file__).parent / "golden"
SHARED: Final = Path(__file__).parents[3] / "shared" / "golden"

TOLERANCE: Final = 1e-12


class Case(Record):
    """One recorded case: a folder with inputs and a command line, and either scores or an error to expect."""

    folder: Path
    args: tuple[str, ...]
    expected: dict[str, object] | None
    exit_status: int
    mentions: tuple[str, ...]

    def words(self) -> list[str]:
        """The command line, its files with their folder."""
        words = list(self.args)
        for position, word in enumerate(words[:-1]):
            if word in ("--gold", "--predictions"):
                words[position + 1] = str(self.folder / words[position + 1])
        return words

    def check(self, outcome: Outcome) -> None:
        """Assert that the outcome is the recorded one."""
        if self.expected is not None:
            assert outcome.status == 0, outcome.err
            assert_close(outcome.scores, self.expected)
            return
        assert outcome.status == self.exit_status
        assert outcome.out == ""
        assert "Traceback" not in outcome.err
        if self.exit_status == 1:
            complaint = outcome.complaint.replace(f"{self.folder}/", "")
            for word in self.mentions:
                assert re.search(rf"(?<![0-9A-Za-z_]){re.escape(word)}(?![0-9A-Za-z_])", complaint), complaint


def assert_close(scores: object, expected: object) -> None:
    """Assert equal keys in equal order, and numbers that differ by rounding at most."""
    if isinstance(expected, dict):
        assert isinstance(scores, dict)
        assert list(scores) == list(expected)
        for key in expected:
            assert_close(scores[key], expected[key])
    else:
        assert isinstance(scores, float)
        assert isinstance(expected, (int, float))
        assert abs(scores - expected) <= TOLERANCE


def cases(folder: Path) -> list[Case]:
    """The cases below `folder`, none where it does not exist."""
    return [_read(path) for family in FAMILIES for path in sorted((folder / family).glob("*/case.json"))]


def example(family: str) -> tuple[Any, Any]:
    """Gold and predictions of the example of the specification."""
    folder = next((COMMITTED / family).glob("v*-spec-example"))
    texts = (next(folder.glob(f"{role}.*")) for role in ("gold", "predictions"))
    gold, predictions = (
        [*map(json.loads, path.read_text("utf-8").splitlines())]
        if path.suffix == ".jsonl"
        else json.loads(path.read_text("utf-8"))
        for path in texts
    )
    return gold, predictions


def _read(path: Path) -> Case:
    case = json.loads(path.read_text(encoding="utf-8"))
    return Case(
        folder=path.parent,
        args=tuple(case["args"]),
        expected=case.get("expected"),
        exit_status=case.get("exit", 0),
        mentions=tuple(map(str, case.get("mentions", ()))),
    )


def name(case: Case) -> str:
    """What pytest calls a case."""
    return f"{case.folder.parent.name}/{case.folder.name}"
