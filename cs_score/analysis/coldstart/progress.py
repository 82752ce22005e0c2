"""How far an analysis is, for those who wait for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Progress(Protocol):
    """Passes items on, one after the other, and tells how far they are; `doing` says what is done with them."""

    def __call__(self, items: Sequence[Item], doing: str) -> Iterable[Item]:
        """The items."""


def silent(items: Sequence[Item], doing: str) -> Iterable[Item]:
    """Pass items on, and tell nobody."""
    return items
