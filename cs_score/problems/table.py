"""The one table of problem codes: the log, the reports, `cs-score problems`, completion and documentation read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cs_score.problems.codes import lines, nodes, queries, relations, runs
from cs_score.problems.kind import ProblemKind

CODES: Final[Mapping[str, ProblemKind]] = dict(
    sorted({**queries.KINDS, **lines.KINDS, **runs.KINDS, **nodes.KINDS, **relations.KINDS}.items())
)
"""Every code and condition, alphabetically."""
