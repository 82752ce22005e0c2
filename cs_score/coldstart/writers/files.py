"""Which parts a scoring has, in which file each belongs, and their order on a stream (specification 1.7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cs_score.coldstart.result import AveragePrecision, Result, RunResult
from cs_score.coldstart.writers.average_precision import average_precision_text
from cs_score.coldstart.writers.debug import (
    RANKINGS_BEGIN,
    RANKINGS_END,
    RESPONSES_END,
    rankings_text,
    responses_text,
)
from cs_score.coldstart.writers.fields import DEFAULT_FIELDS
from cs_score.coldstart.writers.params import Invocation, params_text
from cs_score.coldstart.writers.tables import table_texts
from cs_score.foundation.outputs import blocks_of, encoded

if TYPE_CHECKING:
    from cs_score.statistics.score_intervals import ScoreIntervals

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


def endings(is_expanded: bool, has_samples: bool, has_intervals: bool) -> tuple[str, ...]:
    """Endings of the files that a scoring writes."""
    unwanted: set[str] = set()
    if not is_expanded:
        unwanted |= _LDC_ENDINGS
    if not has_samples:
        unwanted |= _SAMPLE_ENDINGS
    if not has_intervals:
        unwanted.add("intervals")
    return tuple(ending for ending in ENDINGS if ending not in unwanted)


def parts(
    result: Result, layout: Layout, invocation: Invocation, intervals: Sequence[ScoreIntervals] = ()
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The parts in the order in which they are produced, each with the ending of the file that it belongs to."""
    yield "params", encoded(params_text(invocation))
    for run in result.runs:
        yield from _run_parts(run, layout)
    for run, of_run in zip(result.runs, intervals):
        from cs_score.coldstart.writers.intervals import intervals_text

        yield "intervals", encoded(intervals_text(of_run, run.run_id, layout.tabs))


def _run_parts(run: RunResult, layout: Layout) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield "debug", _responses(run)
    texts = table_texts(run, layout.fields, layout.tabs)
    yield "sf", encoded((texts.sf,))
    if texts.ldc_max is not None:
        yield "ldcmax", encoded((texts.ldc_max,))
    if texts.ldc_mean is not None:
        yield "ldcmean", encoded((texts.ldc_mean,))
    yield "summary", encoded((texts.summary,))
    scores = run.average_precision
    if scores is not None:
        yield "debug", _rankings(run, scores)
        yield "ap", encoded(average_precision_text(scores, scores.run_id == run.run_id, layout.tabs))
    if run.bootstrap is not None:
        from cs_score.coldstart.writers.bootstrap import confidence_text, sample_scores_text, samples_text

        yield "sample", encoded(samples_text(run.bootstrap))
        yield "samplescores", encoded(sample_scores_text(run.bootstrap, run.run_id))
        yield "confidence", encoded(confidence_text(run.bootstrap))


def _responses(run: RunResult) -> Iterator[bytes]:
    if run.debug_text is None:
        yield from encoded(responses_text(run.tallies()))
    else:
        yield from blocks_of(run.debug_text.responses)
    yield RESPONSES_END


def _rankings(run: RunResult, scores: AveragePrecision) -> Iterator[bytes]:
    yield RANKINGS_BEGIN
    if run.debug_text is None:
        yield from encoded(rankings_text(scores.rankings))
    else:
        yield from blocks_of(run.debug_text.rankings)
    yield RANKINGS_END


def file_blocks(
    result: Result,
    layout: Layout,
    invocation: Invocation,
    intervals: Sequence[ScoreIntervals] = (),
    was_stopped: bool = False,
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Each file's ending with its whole content; of a stopped scoring only the files of completed stages."""
    options = result.options
    written = endings(options.expand is not None, options.samples is not None, bool(intervals))
    by_ending: dict[str, list[Iterable[bytes]]] = {ending: [] for ending in written}
    for ending, blocks in parts(result, layout, invocation, intervals):
        by_ending[ending].append(blocks)
    for ending, pieces in by_ending.items():
        if was_stopped and not _is_completed(ending, result):
            continue
        yield ending, (block for blocks in pieces for block in blocks)


def _is_completed(ending: str, result: Result) -> bool:
    if ending == "params":
        return True
    if ending == "ap":
        return bool(result.runs) and all(run.average_precision is not None for run in result.runs)
    if ending in _SAMPLE_ENDINGS:
        return bool(result.runs) and all(run.bootstrap is not None for run in result.runs)
    return bool(result.runs)
