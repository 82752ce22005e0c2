"""What a batch asks of a task: a plan that can travel to a worker, and gold as the worker prepares it from that."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from cs_score.analysis.many.overview import Evaluation
from cs_score.base.records import Record, asdict, replace
from cs_score.base.signature import Origin
from cs_score.base.sources import InputDigest
from cs_score.batch.documents import Outcome, RunOrigin
from cs_score.batch.runs import InputFile, RunFile
from cs_score.measures.registry import headline, rankable
from cs_score.problems.log import Occurrence
from cs_score.statistics.options import Resampling

MakePage: TypeAlias = Callable[[Mapping[str, object]], str]
"""Makes a page of a JSON object: of the analysis of a run, or of what a batch found in all runs."""

_PAGE: Final = re.compile(r"out(\.[1-9][0-9]*)?\.html", re.ASCII)


def page_name(at: int, of: int) -> str:
    """The file of the page of one of the `of` run ids of a run's file, from 0."""
    return "out.html" if of == 1 else f"out.{at + 1}.html"


def is_page(name: str) -> bool:
    return _PAGE.fullmatch(name) is not None


class Scored(Record):
    """One run under one policy: the outcome but for its files, and these by name, made as they are written."""

    outcome: Outcome
    files: Iterable[tuple[str, Iterable[bytes]]]


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

    digests: Sequence[InputDigest]
    occurrences: Sequence[Occurrence] = ()

    def __init__(self, plan: Any) -> None:
        self.plan = plan

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
        drawn = None if resampling is None else replace(resampling, unit=unit)
        return RunOrigin(**asdict(origin), bootstrap=drawn, **written)
