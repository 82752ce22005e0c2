"""The evidence modes in a batch: gold is read once, each file of predictions is scored against it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Protocol, cast

from cs_score.analysis.many.findings import Findings
from cs_score.analysis.many.overview import Evaluation
from cs_score.base.display import terminal_safe
from cs_score.base.errors import CsScoreError
from cs_score.base.outputs import encoded
from cs_score.base.records import Record, replace
from cs_score.base.signing.origin import GOLD
from cs_score.base.sources import Input, InputDigest
from cs_score.batch.plan import FAILED, OK, MakePage, Outcome, Plan, RunScores, Scored, page_name
from cs_score.batch.runs import InputFile, RunFile
from cs_score.evidence import intervals
from cs_score.evidence.report import intervals_text, json_text, table_text, unit_blocks
from cs_score.evidence.result import Mode, Result
from cs_score.measures.registry import headline, rankable
from cs_score.problems.occurrences import Occurrence
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import ScoreIntervals


class _ModeModule(Protocol):
    """What every mode's module has."""

    MODE: Mode
    read_gold: Callable[[Input], object]
    score: Callable[..., Result]


def _module(mode: str) -> _ModeModule:
    return cast(_ModeModule, importlib.import_module(f"cs_score.evidence.{mode}"))


class EvidencePlan(Record):
    """A mode, its gold, the options of its `score` function, how to find intervals, and what makes the page of a run.

    There are no intervals, and no pages, where these are None.
    """

    mode: str
    gold: InputFile
    options: Mapping[str, object]
    resampling: Resampling | None = None
    page: MakePage | None = None

    def prepare(self) -> PreparedEvidence:
        """Read gold. Raises InputError where it is unusable."""
        return PreparedEvidence(self, _module(self.mode).read_gold(self.gold.open()), self.gold.digest(GOLD))

    def measures(self) -> Sequence[str]:
        return list(map(str, rankable(self.mode)))

    def headline(self) -> Sequence[str]:
        return headline(self.mode)

    def policy_names(self) -> Sequence[str]:
        return ("",)

    def travelling(self, ship: bool) -> Plan:
        return replace(self, gold=self.gold.loaded() if ship else self.gold.located())


class PreparedEvidence:
    """Gold in the form that its mode works with."""

    def __init__(self, plan: EvidencePlan, gold: object, digest: InputDigest) -> None:
        self._plan = plan
        self._gold = gold
        self.digests = (digest,)
        self.occurrences: Sequence[Occurrence] = ()

    @property
    def evaluation(self) -> Evaluation:
        mode = _module(self._plan.mode).MODE
        shown = headline(mode.name)
        return Evaluation(mode.name, mode.unit, shown[0], (), lambda found: {}, by_unit=shown)

    def measures(self) -> Mapping[str, Sequence[str]]:
        return dict.fromkeys(self._plan.measures(), ())

    def signature(self, run: InputDigest, policy: str) -> Mapping[str, object]:
        mode = _module(self._plan.mode).MODE
        resampling = self._plan.resampling
        if resampling is not None:
            resampling = replace(resampling, unit=mode.unit)
        origin = mode.origin(self._plan.options, *self.digests, run)
        return {**origin.as_json(), "bootstrap": None if resampling is None else resampling.as_json()}

    def score(self, run: RunFile, policies: Sequence[str]) -> Iterator[Scored]:
        """The predictions as if they were alone; evidence modes have no policies."""
        outcome = Outcome(run.name, run.file.name, "", OK)
        try:
            result = _module(self._plan.mode).score(self._gold, run.file.open(), **self._plan.options)
            resampling = self._plan.resampling
            found = None if resampling is None else intervals(result, resampling)
        except CsScoreError as error:
            yield Scored(replace(outcome, state=FAILED, failure=str(error)), ())
            return
        scored = replace(
            outcome,
            scores=(RunScores(run.name, dict(result.scores)),),
            remarks=result.notices,
            signature=self.signature(result.origin.inputs[-1], ""),
            intervals=() if found is None else (found.as_json(),),
            findings=(Findings(result.table).as_json(),),
        )
        yield Scored(scored, chain(_files(result, found), self._pages(result)))

    def _pages(self, result: Result) -> Iterator[tuple[str, Iterable[bytes]]]:
        from cs_score.analysis.evidence.analysis import analyze

        if self._plan.page is not None:
            yield page_name(0, 1), encoded([self._plan.page(analyze(result).as_json())])


def _files(result: Result, found: ScoreIntervals | None) -> Iterator[tuple[str, Iterable[bytes]]]:
    """What the subcommand writes with `--json FILE` and `--per-item`, and what it prints."""
    yield "out.json", [_printed(json_text(result, found, with_units=True))]
    yield "out.txt", [_printed("\n\n".join([table_text(result), *([] if found is None else [intervals_text(found)])]))]
    yield "out.tsv", unit_blocks(result)


def _printed(text: str) -> bytes:
    return f"{terminal_safe(text)}\n".encode("utf-8", "backslashreplace")
