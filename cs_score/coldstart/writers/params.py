"""The `.params` file: when, where and how the scorer was called (specification 10.1)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from cs_score.base.records import Record


class Invocation(Record):
    """One call of the command: local time, working folder, command line words, the policies as they were typed.

    `policies` maps IGNORE, RIGHT and WRONG to the switch texts.
    """

    at: time.struct_time
    folder: str
    words: Sequence[str]
    policies: Mapping[str, str]
    has_samples: bool


def params_text(invocation: Invocation) -> Iterator[str]:
    """The parameters as the reference lays them out."""
    yield f"#At: {time.asctime(invocation.at)}\n\n"
    yield f"#Invoked as:\n{invocation.folder}$ {' '.join(invocation.words)}\n\n"
    yield "#Policy Selected:\n"
    for side in sorted(invocation.policies):
        yield f"  {side} => {invocation.policies[side]}\n"
    if invocation.has_samples:
        yield "\nSAMPLE => BOOTSTRAP RESAMPLE"
