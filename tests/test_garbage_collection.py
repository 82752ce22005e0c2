"""Blocks without the cyclic collector."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import pytest

from cs_score.base import runtime
from cs_score.base.runtime import paused_garbage_collection


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The collector as usual, with nothing frozen, whatever was run before in this process."""
    gc.enable()
    gc.unfreeze()
    yield
    gc.enable()
    gc.unfreeze()


class _Circle:
    def __init__(self) -> None:
        self.myself = self


def test_what_was_made_in_a_block_is_not_walked_at_its_end_and_circles_are_collected_later() -> None:
    gc.collect()
    with paused_garbage_collection():
        with paused_garbage_collection():
            circle = weakref.ref(_Circle())
        assert not gc.isenabled()
        rows = [[number] for number in range(50_000)]
    assert gc.isenabled()
    assert gc.get_count()[0] < 1_000 < len(rows)
    assert gc.get_freeze_count() == 0
    gc.collect()
    assert circle() is None


def test_frozen_objects_of_others_stay_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with paused_garbage_collection():
        pass
    assert gc.get_freeze_count() >= frozen > 0


@pytest.mark.parametrize("name", ["isenabled", "disable", "get_freeze_count", "freeze", "unfreeze", "enable"])
def test_an_interruption_after_any_call_leaves_the_collector_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        """The collector, where Ctrl-C is pressed while one of its functions works."""

        def __getattr__(self, called: str) -> Callable[[], object]:
            def call() -> object:
                found = getattr(gc, called)()
                if called == name:
                    raise KeyboardInterrupt
                return found

            return call

    monkeypatch.setattr(runtime, "gc", Interrupted())
    with pytest.raises(KeyboardInterrupt), paused_garbage_collection():
        pass
    assert (gc.isenabled(), gc.get_freeze_count()) == (True, 0)
