"""What the tests of work in parts have in common."""

from __future__ import annotations

from types import ModuleType

import pytest

from cs_score.cli.call import Call

Taken = list[bool]


def note_tries(monkeypatch: pytest.MonkeyPatch, module: ModuleType, function: str) -> Taken:
    """For each call of a function that works in parts, from now on, whether that was possible."""
    tried: Taken = []
    work = getattr(module, function)

    def spy(*arguments: object) -> object:
        result = work(*arguments)
        tried.append(result is not None)
        return result

    monkeypatch.setattr(module, function, spy)
    return tried


def force_three_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let inputs of any size be worked on in three parts, one after the other."""
    monkeypatch.setattr(Call, "part_count_for", lambda call, files: 3)
    monkeypatch.setattr("cs_score.base.processes.processor_count", lambda: 1)
