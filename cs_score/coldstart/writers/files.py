"""The scorer's output files in one table, and what a scoring writes into them (specification 1.7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import chain, product, zip_longest
from typing import TYPE_CHECKING, Final, TypeAlias

from cs_score.base.outputs import encoded
from cs_score.base.records import Record, field
from cs_score.coldstart.resampling.values import Bootstrap
from cs_score.coldstart.result import Result, RunResult
from cs_score.coldstart.writers.average_precision import average_precision_text
from cs_score.coldstart.writers.bootstrap import confidence_text, sample_scores_text, samples_text
from cs_score.coldstart.writers.debug import rankings_blocks, responses_blocks
from cs_score.coldstart.writers.fields import DEFAULT_FIELDS
from cs_score.coldstart.writers.params import Invocation, params_text
from cs_score.coldstart.writers.tables import TableText, table_texts

if TYPE_CHECKING:
    from cs_score.statistics.score_intervals import ScoreIntervals


class Layout(Record):
    """How tables are laid out: the fields of `.sf` and `.ldcmax`, and whether tabs separate the columns."""

    fields: Sequence[str] = DEFAULT_FIELDS
    tabs: bool = False


class Scored(Record, dict=True):
    """A run as outputs show it. Not slotted: its four tables are laid out together, once."""

    run: RunResult
    layout: Layout
    intervals: ScoreIntervals | None = None

    @cached_property
    def tables(self) -> TableText:
        """The tables as text."""
        return table_texts(self.run, self.layout.fields, self.layout.tabs)


class Stage(Enum):
    """When a text is made. On a stream those of a run follow each other by stage, the intervals after all runs."""

    SCORED = 1
    RANKED = 2
    RESAMPLED = 3
    ESTIMATED = 4


Text: TypeAlias = Callable[[Scored], Iterable[bytes] | None]
"""What a run adds to a file; None where its scoring did not come so far."""


class Output(Record):
    """A file: its ending, what it holds, its texts by stage, and the switch without which it is not written.

    `of_call` is what it holds of the call as a whole.
    """

    ending: str
    content: str
    texts: Mapping[Stage, Text] = field(default_factory=dict)
    switch: str | None = None
    of_call: Callable[[Invocation], Iterable[str]] = lambda _: ()

    def is_complete(self, runs: Sequence[Scored]) -> bool:
        """Whether a scoring that was stopped came far enough for it."""
        first = next(iter(self.texts.values()), None)
        return first is None or (bool(runs) and all(first(run) is not None for run in runs))


def _table(name: str) -> Text:
    return lambda of: encoded([getattr(of.tables, name)])


def _rankings(of: Scored) -> Iterator[bytes] | None:
    scores = of.run.average_precision
    if scores is None:
        return None
    return encoded(average_precision_text(scores, scores.run_id == of.run.run_id, of.layout.tabs))


def _resamples(text: Callable[[Bootstrap, str], Iterable[str]]) -> Text:
    return lambda of: None if of.run.bootstrap is None else encoded(text(of.run.bootstrap, of.run.run_id))


def _intervals(of: Scored) -> Iterator[bytes] | None:
    if of.intervals is None:
        return None
    from cs_score.coldstart.writers.intervals import intervals_text

    return encoded(intervals_text(of.intervals, of.run.run_id, of.layout.tabs))


OUTPUTS: Final = (
    Output(
        "debug",
        "each response with its assessment and what it counted as; each ranking",
        {Stage.SCORED: lambda of: responses_blocks(of.run), Stage.RANKED: lambda of: rankings_blocks(of.run)},
    ),
    Output("ap", "average precision: SF, LDC-MEAN, summary", {Stage.RANKED: _rankings}),
    Output("sf", "counts and scores of each SF query and class, averages", {Stage.SCORED: _table("sf")}),
    Output("ldcmax", "the same for LDC-MAX", {Stage.SCORED: _table("ldc_max")}, "-expand"),
    Output("ldcmean", "P, R, F1 for LDC-MEAN", {Stage.SCORED: _table("ldc_mean")}, "-expand"),
    Output("summary", "the averages of all variants", {Stage.SCORED: _table("summary")}),
    Output(
        "sample", "the resamples with their first entry points", {Stage.RESAMPLED: _resamples(samples_text)}, "-samples"
    ),
    Output(
        "samplescores", "the values of each resample", {Stage.RESAMPLED: _resamples(sample_scores_text)}, "-samples"
    ),
    Output("confidence", "limits, mean, score", {Stage.RESAMPLED: _resamples(confidence_text)}, "-samples"),
    Output("params", "time, command line, policies", of_call=params_text),
    Output("intervals", "every average with its interval", {Stage.ESTIMATED: _intervals}, "--bootstrap"),
)
"""In the order in which the reference creates them; it knows no intervals."""


def written(switches: Collection[str]) -> list[Output]:
    """The files that a call with these switches writes."""
    return [output for output in OUTPUTS if output.switch is None or output.switch in switches]


def stream_blocks(
    result: Result, layout: Layout, invocation: Invocation, intervals: Sequence[ScoreIntervals] = ()
) -> Iterator[Iterable[bytes]]:
    """What goes to a stream, in order."""
    yield from (encoded(output.of_call(invocation)) for output in OUTPUTS)
    runs = _scored(result, layout, intervals)
    for stages in ((Stage.SCORED, Stage.RANKED, Stage.RESAMPLED), (Stage.ESTIMATED,)):
        for run, stage, output in product(runs, stages, OUTPUTS):
            if text := output.texts.get(stage):
                yield text(run) or ()


def file_blocks(
    result: Result,
    layout: Layout,
    invocation: Invocation,
    intervals: Sequence[ScoreIntervals] = (),
    was_stopped: bool = False,
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Each file's ending with its whole content; of a stopped scoring only the files of completed stages."""
    options = result.options
    given = {"-expand": options.expand is not None, "-samples": options.samples is not None, "--bootstrap": intervals}
    runs = _scored(result, layout, intervals)
    for output in written([switch for switch, is_given in given.items() if is_given]):
        if not was_stopped or output.is_complete(runs):
            of_runs = (text(run) or () for run, text in product(runs, output.texts.values()))
            yield output.ending, chain(encoded(output.of_call(invocation)), *of_runs)


def _scored(result: Result, layout: Layout, intervals: Sequence[ScoreIntervals]) -> list[Scored]:
    return [Scored(run, layout, of_run) for run, of_run in zip_longest(result.runs, intervals)]
