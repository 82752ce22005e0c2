"""The policies of a batch, whose names are folders of it."""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.base.errors import UsageError
from cs_score.batch.plan.runs import RESERVED
from cs_score.coldstart import options
from cs_score.coldstart.options import NamedPolicy, Options


def read_policies(given: Sequence[str], base: Options, texts: dict[str, str]) -> list[NamedPolicy]:
    """The policies of `--policy` switches. Raises UsageError as for other commands, and for the name of a file."""
    policies = options.read_policies(given, base, texts)
    for policy in policies:
        if policy.name in RESERVED:
            raise UsageError(f"--policy {policy.name}: that is a file of every batch; choose another name")
    return policies
