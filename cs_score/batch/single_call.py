"""What a run gets in a batch: the files that a single call of the scorer writes for it."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cs_score.base.outputs import encoded
from cs_score.base.records import Record
from cs_score.coldstart.options import NamedPolicy
from cs_score.coldstart.outputs import Invocation, Layout, doubly_encoded, file_blocks
from cs_score.coldstart.result import Result
from cs_score.statistics.results import ScoreIntervals

PREFIX: Final = "out"
"""Files of a run are called `out.sf`, `out.summary` and so on, whatever the run is called."""


class SingleCall(Record):
    """A call of the scorer for one run alone.

    `layout` and `with_json` choose its files. `switches` are its words beside the policy, `folder` is the working
    folder of the user: both are only for the `.params` file.
    """

    layout: Layout
    with_json: bool
    switches: tuple[str, ...]
    folder: str

    def files(
        self,
        result: Result,
        policy: NamedPolicy,
        inputs: Sequence[str],
        report: str,
        intervals: Sequence[ScoreIntervals] = (),
        *,
        was_stopped: bool = False,
    ) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The name and content of each file; `inputs` names what the call reads, `report` is its `.errlog`."""
        if self.with_json and not was_stopped:
            from cs_score.coldstart.documents import json_text

            yield f"{PREFIX}.json", encoded(json_text(result, intervals))
        words = self._words(policy, inputs)
        has_samples = result.options.samples is not None
        invocation = Invocation(time.localtime(), self.folder, words, policy.texts, has_samples)
        for ending, blocks in file_blocks(result, self.layout, invocation, intervals, was_stopped):
            yield f"{PREFIX}.{ending}", blocks
        yield from self.report_only(report)

    def report_only(self, report: str) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The report alone: of a run that came to nothing there is no other file."""
        yield f"{PREFIX}.errlog", [doubly_encoded(report)]

    def _words(self, policy: NamedPolicy, inputs: Sequence[str]) -> list[str]:
        """The command line that gives the same files."""
        words = [*self.switches, "-justifications", str(policy.justifications)]
        for side, text in policy.texts.items():
            words += [f"-{side.lower()}", text]
        words += ["-output_file", PREFIX, "-error_file", f"{PREFIX}.errlog", *inputs]
        return ["cs-score", *map(shlex.quote, words)]
