"""Files that have been read: gold serves any number of predictions."""

from __future__ import annotations

from typing import Generic, TypeVar

from cs_score.base.records import Record
from cs_score.base.signing.origin import GOLD
from cs_score.base.sources import InputDigest, Source

Content = TypeVar("Content")


class Gold(Record, Generic[Content]):
    """The content of a file, gold or predictions, in the form that its mode works with, with its name and digest.

    Scoring reads the content and never changes it.
    """

    name: str
    content: Content
    digest: InputDigest


def signed(source: Source, content: Content, role: str = GOLD) -> Gold[Content]:
    """What has been read of a source, for `role`."""
    return Gold(source.name, content, source.digest(role))
