"""The evidence modes in a batch: gold is read once, each file of predictions is scored against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import cast

from msgspec import UNSET

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.analysis.many.overview import Evaluation, findings
from cs_score.base.display import terminal_safe
from cs_score.base.errors import CsScoreError
from cs_score.base.outputs import encoded
from cs_score.base.records import replace, to_builtins
from cs_score.base.signature import GOLD
from cs_score.base.sources import InputDigest
from cs_score.batch.documents import FAILED, OK, Outcome, RunOrigin, RunScores
from cs_score.batch.plan import Plan, Prepared, Scored, page_name
from cs_score.batch.runs import InputFile, RunFile
from cs_score.evidence import intervals
from cs_score.evidence.report import intervals_text, json_text, table_text, unit_blocks
from cs_score.evidence.result import Result
from cs_score.measures.registry import headline, rankable
from cs_score.statistics.results import ScoreIntervals
from cs_score.tasks import task_named


class EvidencePlan(Plan, kw_only=True):
    """Gold of a mode, and the options of its `score` function."""

    gold: InputFile
    options: Mapping[str, object]

    def prepare(self) -> PreparedEvidence:
        """Read gold. Raises InputError where it is unusable."""
        return PreparedEvidence(self)


class PreparedEvidence(Prepared):
    """Gold as read."""

    plan: EvidencePlan

    def __init__(self, plan: EvidencePlan) -> None:
        super().__init__(plan)
        self._task = cast(EvidenceTask, task_named(plan.task))
        self._gold = self._task.read_gold(plan.gold.open())
        self.digests = (plan.gold.digest(GOLD),)

    def measures(self) -> Mapping[str, Sequence[str]]:
        return dict.fromkeys(map(str, rankable(self.plan.task)), ())

    @property
    def evaluation(self) -> Evaluation:
        """Its units, each by all measures that people are shown first."""
        shown = headline(self.plan.task)
        return Evaluation(self.plan.task, self._task.mode.unit, shown[0], (), lambda found: {}, shown)

    def origin(self, run: RunFile, digest: InputDigest, policy: str) -> RunOrigin:
        mode = self._task.mode
        return self.run_origin(mode.origin(self.plan.options, self.digests[0], digest), mode.unit)

    def score(self, run: RunFile, policies: Sequence[str]) -> Iterator[Scored]:
        """The predictions as if they were alone; evidence modes have no policies."""
        outcome = Outcome(task=self.plan.task, run=run.name, file=run.file.name, policy="", state=FAILED)
        try:
            result = self._task.score(self._gold, run.file.open(), **self.plan.options)
            resampling = self.plan.resampling
            found = None if resampling is None else intervals(result, resampling)
        except CsScoreError as error:
            yield Scored(replace(outcome, failure=str(error)), ())
            return
        origin = self.origin(run, result.origin.inputs[-1], "")
        scored = replace(
            outcome,
            signature=str(origin.signature),
            origin=origin,
            state=OK,
            runs=(RunScores(run.name, dict(result.scores), UNSET if found is None else found, findings(result.table)),),
            remarks=tuple(result.notices),
        )
        yield Scored(scored, chain(_files(result, found), self._pages(result)))

    def _pages(self, result: Result) -> Iterator[tuple[str, Iterable[bytes]]]:
        if self.plan.page is not None:
            yield page_name(0, 1), encoded([self.plan.page(to_builtins(self._task.analyze(result)))])


def _files(result: Result, found: ScoreIntervals | None) -> Iterator[tuple[str, Iterable[bytes]]]:
    """What the subcommand writes as JSON and unit by unit, and what it prints."""
    yield "out.json", [_printed(json_text(result, found, with_units=True))]
    yield "out.txt", [_printed("\n\n".join([table_text(result), *([] if found is None else [intervals_text(found)])]))]
    yield "out.tsv", unit_blocks(result)


def _printed(text: str) -> bytes:
    return f"{terminal_safe(text)}\n".encode("utf-8", "backslashreplace")
