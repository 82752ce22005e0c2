"""Every command, task and format puts out what it did when the freeze was last changed, by name."""

from __future__ import annotations

import pytest

from tests.freeze.calls import EVIDENCE, Call, calls
from tests.freeze.outputs import COMMAND, FOLDER, by_name, differing, kept


@pytest.mark.parametrize("call", list(calls()), ids=lambda call: call.name)
def test_outputs_are_those_of_the_freeze(call: Call) -> None:
    found = differing(call)
    assert not found, (
        f"{call.name!r} (cs-score {' '.join(call.words)}) puts out another {', '.join(found)}.\n"
        f"Look: {COMMAND} {call.name!r} --against ../main (any work tree from before), or --show.\n"
        f"Meant so: {COMMAND} --update {call.name!r}"
    )


def test_nothing_is_kept_that_no_call_puts_out() -> None:
    groups = [path.stem for path in FOLDER.glob("*.tsv")]
    assert {name for group in groups for name in kept(group)} == set(by_name())


@pytest.mark.parametrize("task", EVIDENCE)
def test_the_plain_call_of_a_task_is_kept_with_its_scores(task: str) -> None:
    """A call whose samples are not found would freeze an error."""
    assert kept(task)[task]["status"] == "0"
