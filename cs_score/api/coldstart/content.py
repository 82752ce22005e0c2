"""What a public result is read from: lines that have just been scored, or JSON that was stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from cs_score.api.kinds import Values
from cs_score.base.signing.origin import Origin
from cs_score.coldstart.options import Justifications, Policy


class Content(Protocol):
    """A Cold Start result, wherever it comes from."""

    @property
    def policy(self) -> Policy:
        """The policy in force."""

    @property
    def limits(self) -> Justifications:
        """The limits on justifications in force."""

    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]:
        """The scores of each run by the names of measures, in the order in which the runs were scored."""

    @property
    def origin(self) -> Origin:
        """All that the scores were computed from."""

    @property
    def remarks(self) -> Sequence[str]:
        """What a person should be told beside the problems, one line each."""

    @property
    def errors(self) -> int:
        """Occurrences of problems that are errors."""

    @property
    def warnings(self) -> int:
        """Occurrences of problems that are warnings."""

    def values(self, kind: str) -> Iterator[Values]:
        """The values of all records of a kind."""

    def json(self) -> str:
        """The whole result as JSON text."""
