"""Which parts a scoring has, in which file each belongs, and their order on a stream (specification 1.7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cs_score.coldstart.interval_estimates import RunIntervals
from cs_score.coldstart.options import Options
from cs_score.coldstart.result import Result, RunResult
from cs_score.coldstart.writers.average_precision import average_precision_text
from cs_score.coldstart.writers.debug import rankings_text, responses_text
from cs_score.coldstart.writers.fields import DEFAULT_FIELDS
from cs_score.coldstart.writers.intervals import intervals_text
from cs_score.coldstart.writers.params import Invocation, params_text
from cs_score.coldstart.writers.tables import table_texts

# In the order in which the reference creates them; it knows no intervals.
ENDINGS: Final = (
    "debug", "ap", "sf", "ldcmax", "ldcmean", "summary", "sample", "samplescores", "confidence", "params", "intervals",
)  # fmt: skip

_LDC_ENDINGS: Final = frozenset({"ldcmax", "ldcmean"})
_SAMPLE_ENDINGS: Final = frozenset({"sample", "samplescores", "confidence"})


@dataclass(frozen=True, slots=True)
class Layout:
    """How tables are laid out: the fields of `.sf` and `.ldcmax`, and whether tabs separate the columns."""

    fields: Sequence[str] = DEFAULT_FIELDS
    tabs: bool = False


def endings(options: Options, has_intervals: bool = False) -> tuple[str, ...]:
    """Endings of the files that a scoring with these options writes."""
    unwanted: set[str] = set()
    if options.expand is None:
        unwanted |= _LDC_ENDINGS
    if options.samples is None:
        unwanted |= _SAMPLE_ENDINGS
    if not has_intervals:
        unwanted.add("intervals")
    return tuple(ending for ending in ENDINGS if ending not in unwanted)


def parts(
    result: Result, layout: Layout, invocation: Invocation, intervals: Sequence[RunIntervals] = ()
) -> Iterator[tuple[str, Iterable[str]]]:
    """The parts in the order in which they are produced, each with the ending of the file that it belongs to."""
    yield "params", params_text(invocation)
    for run in result.runs:
        yield from _run_parts(run, layout)
    for of_run in intervals:
        yield "intervals", intervals_text(of_run, layout.tabs)


def _run_parts(run: RunResult, layout: Layout) -> Iterator[tuple[str, Iterable[str]]]:
    yield "debug", responses_text(run)
    texts = table_texts(run, layout.fields, layout.tabs)
    yield "sf", (texts.sf,)
    if texts.ldc_max is not None:
        yield "ldcmax", (texts.ldc_max,)
    if texts.ldc_mean is not None:
        yield "ldcmean", (texts.ldc_mean,)
    yield "summary", (texts.summary,)
    scores = run.average_precision
    if scores is not None:
        yield "debug", rankings_text(scores)
        yield "ap", average_precision_text(scores, scores.run_id == run.run_id, layout.tabs)
    if run.bootstrap is not None:
        from cs_score.coldstart.writers.bootstrap import confidence_text, sample_scores_text, samples_text

        yield "sample", samples_text(run.bootstrap)
        yield "samplescores", sample_scores_text(run.bootstrap, run.run_id)
        yield "confidence", confidence_text(run.bootstrap)


def file_texts(
    result: Result,
    layout: Layout,
    invocation: Invocation,
    intervals: Sequence[RunIntervals] = (),
    was_stopped: bool = False,
) -> Iterator[tuple[str, Iterator[str]]]:
    """Each file's ending with its whole text; of a stopped scoring only the files of completed stages."""
    by_ending: dict[str, list[Iterable[str]]] = {ending: [] for ending in endings(result.options, bool(intervals))}
    for ending, text in parts(result, layout, invocation, intervals):
        by_ending[ending].append(text)
    for ending, texts in by_ending.items():
        if was_stopped and not _is_completed(ending, result):
            continue
        yield ending, (piece for text in texts for piece in text)


def _is_completed(ending: str, result: Result) -> bool:
    if ending == "params":
        return True
    if ending == "ap":
        return bool(result.runs) and all(run.average_precision is not None for run in result.runs)
    if ending in _SAMPLE_ENDINGS:
        return bool(result.runs) and all(run.bootstrap is not None for run in result.runs)
    return bool(result.runs)
