"""What a batch asks of a task, and the tasks of evidence: a plan that can travel, and gold as a worker prepares it."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from msgspec import UNSET

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.analysis.many.overview import Evaluation, findings
from cs_score.base.display import terminal_safe
from cs_score.base.errors import CsScoreError
from cs_score.base.outputs import encoded
from cs_score.base.records import Record, asdict, replace, to_builtins
from cs_score.base.signature import GOLD, Origin
from cs_score.base.sources import InputDigest
from cs_score.batch.documents import FAILED, OK, Outcome, RunOrigin, RunScores
from cs_score.batch.runs import InputFile, RunFile
from cs_score.evidence import intervals
from cs_score.evidence.report import intervals_text, json_text, table_text, unit_blocks
from cs_score.measures.registry import headline, rankable
from cs_score.problems.log import Occurrence
from cs_score.statistics.options import Resampling
from cs_score.tasks import task_named

MakePage: TypeAlias = Callable[[Mapping[str, object]], str]
"""Makes a page of a JSON object: of the analysis of a run, or of what a batch found in all runs."""

RunFiles: TypeAlias = Iterable[tuple[str, Iterable[bytes]]]
"""The files of a run by name, made as they are written."""

_PAGE: Final = re.compile(r"out(\.[1-9][0-9]*)?\.html", re.ASCII)


def page_name(at: int, of: int) -> str:
    """The file of the page of one of the `of` run ids of a run's file, from 0."""
    return "out.html" if of == 1 else f"out.{at + 1}.html"


def is_page(name: str) -> bool:
    return _PAGE.fullmatch(name) is not None


class Scored(Record):
    """One run under one policy: the outcome, and the files that are still to be written."""

    outcome: Outcome
    files: RunFiles = ()


def failed(task: str, run: RunFile, policy: str, reason: str | None = None, **found: Any) -> Outcome:
    """The outcome of a run that was not scored to its end, or not yet."""
    return Outcome(task=task, run=run.name, file=run.file.name, policy=policy, state=FAILED, failure=reason, **found)


class Plan(Record, kw_only=True):
    """All that a worker needs to prepare gold and to score runs; it can be pickled.

    `resampling` asks for intervals, `page` makes the page of a run from its analysis, None where there is to be none.
    """

    task: str
    resampling: Resampling | None = None
    page: MakePage | None = None

    @abstractmethod
    def prepare(self) -> Prepared:
        """Read and index gold. Raises CsScoreError where that fails, and then no run can be scored."""

    @property
    def has_ldc_queries(self) -> bool:
        """Whether measures may be those of Cold Start's clusters of queries, or of another task."""
        return True

    def measures(self) -> list[str]:
        """The measures that the options allow, the usual one first."""
        return list(map(str, rankable(self.task, self.has_ldc_queries)))

    def headline(self) -> Sequence[str]:
        """The measures that readable leaderboards show."""
        return headline(self.task, self.has_ldc_queries)

    def policy_names(self) -> Sequence[str]:
        """Names of the policies, in order; one empty name where the task has none or the default is meant."""
        return ("",)

    def edition_of(self, run: RunFile) -> str:
        """The edition of the reference scorer that a run is scored by; empty where there are none."""
        return ""

    def travelling(self, ship: bool) -> Plan:
        """The same plan for a worker elsewhere: inputs by absolute path, or with `ship` by their bytes."""

        def travel(value: Any) -> Any:
            if isinstance(value, InputFile):
                return value.loaded() if ship else value.located()
            if isinstance(value, tuple):
                return tuple(map(travel, value))
            if isinstance(value, dict):
                return {name: travel(each) for name, each in value.items()}
            return value.travelling(ship) if isinstance(value, Plan) else value

        return replace(self, **{name: travel(value) for name, value in asdict(self).items()})


class Prepared:
    """Gold that is read and indexed. Scoring a run changes nothing in it.

    `digests` are the inputs that all runs share, `occurrences` their problems with details, where the plan asks.
    """

    plan: Any
    digests: Sequence[InputDigest]
    occurrences: Sequence[Occurrence] = ()

    @property
    @abstractmethod
    def evaluation(self) -> Evaluation:
        """What the tables over many runs ask of gold."""

    @abstractmethod
    def measures(self) -> Mapping[str, Sequence[str]]:
        """The measures that runs can have on these inputs, the usual one first, each with the hops it exists for."""

    @abstractmethod
    def score(self, run: RunFile, policies: Sequence[str]) -> Iterator[Scored]:
        """The run as if it were alone, under each of the policies; a run that cannot be scored has a failed outcome."""

    @abstractmethod
    def origin(self, run: RunFile, digest: InputDigest, policy: str) -> RunOrigin:
        """What the scores and the files of a run with these bytes would be made from."""

    def run_origin(self, origin: Origin, unit: str, **written: Any) -> RunOrigin:
        """An origin with all else that the files of a run depend on."""
        resampling = self.plan.resampling
        return RunOrigin(**asdict(origin), bootstrap=resampling and replace(resampling, unit=unit), **written)


class EvidencePlan(Plan, kw_only=True):
    """Gold of a mode, and the options of its `score` function."""

    gold: InputFile
    options: Mapping[str, object]

    def prepare(self) -> PreparedEvidence:
        return PreparedEvidence(self)


class PreparedEvidence(Prepared):
    """Gold as read."""

    def __init__(self, plan: EvidencePlan) -> None:
        self.plan = plan
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
        """The predictions as if they were alone, with what the subcommand writes of them and what it prints."""
        plan, outcome = (
            self.plan,
            Outcome(task=self.plan.task, run=run.name, file=run.file.name, policy="", state=FAILED),
        )
        try:
            result = self._task.score(self._gold, run.file.open(), **plan.options)
            limits = None if plan.resampling is None else intervals(result, plan.resampling)
        except CsScoreError as error:
            yield Scored(failed(plan.task, run, "", str(error)))
            return

        def files() -> RunFiles:
            texts = [table_text(result), *([] if limits is None else [intervals_text(limits)])]
            yield "out.json", [_printed(json_text(result, limits, with_units=True))]
            yield "out.txt", [_printed("\n\n".join(texts))]
            yield "out.tsv", unit_blocks(result)
            if plan.page is not None:
                yield page_name(0, 1), encoded([plan.page(to_builtins(self._task.analyze(result)))])

        origin = self.origin(run, result.origin.inputs[-1], "")
        scores = RunScores(run.name, dict(result.scores), limits or UNSET, findings(result.table))
        outcome = replace(
            failed(plan.task, run, "", signature=str(origin.signature), origin=origin),
            state=OK,
            runs=(scores,),
            remarks=tuple(result.notices),
        )
        yield Scored(outcome, files())


def _printed(text: str) -> bytes:
    return f"{terminal_safe(text)}\n".encode("utf-8", "backslashreplace")
