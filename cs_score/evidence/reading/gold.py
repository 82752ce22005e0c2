"""Gold that has been read: it serves any number of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from cs_score.foundation.signature import GOLD
from cs_score.foundation.sources import InputDigest, Source

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class Gold(Generic[Content]):
    """The content of a gold file in the form that its mode works with, the file's name and digest.

    Scoring reads the content and never changes it.
    """

    name: str
    content: Content
    digest: InputDigest


def signed(source: Source, content: Content, role: str = GOLD) -> Gold[Content]:
    """Gold of a source that has been read, or predictions."""
    return Gold(source.name, content, source.digest(role))
