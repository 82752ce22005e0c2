"""The scorer's output files and its report: what they hold, and when it is written (specification 1.7, 10 to 12)."""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import chain, groupby, product, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeAlias

from cs_score.base.outputs import blocks_of, encoded
from cs_score.base.records import Record, field
from cs_score.coldstart.counting import Tally
from cs_score.coldstart.judging import Labels, pre_policy_category, without
from cs_score.coldstart.limits import load_order
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.result import Result, RunResult, UnitResult
from cs_score.coldstart.samples import VALUE_CODES, Bootstrap
from cs_score.coldstart.tables import DEFAULT_FIELDS, TableText, average_precision_text, table_texts
from cs_score.problems.log import NO_PLACE, Problem

if TYPE_CHECKING:
    from cs_score.statistics.results import ScoreIntervals


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


MAY_BE_REPLACED: Final = "\n(cs-score stopped here; its next call may write this file anew)\n"
"""The end of the error file of a call that was stopped."""

_LARGEST: Final = 1 << 28
_CLOSING: Final = re.compile(rb"[0-9]+ errors? encountered")


def report_text(problems: Iterable[Problem]) -> Iterator[str]:
    """Each message with the first of its places and the number of others, then an empty line."""
    for problem in problems:
        # Places are compared as the bytes they are written in; code points order the same way.
        first, *others = sorted(NO_PLACE if place is None else str(place) for place in problem.places)
        where = ""
        if first != NO_PLACE:
            count = f" and {len(others)} other place{'s' if len(others) > 1 else ''}" if others else ""
            where = f" ({first}{count})"
        yield f"{problem.severity}: {problem.message}{where}\n\n"


def closing_line(errors: int, warnings: int) -> str:
    """The last line of the report: errors if there are any, else warnings."""
    if errors:
        return f"{errors} error{'s' if errors > 1 else ''} encountered\n"
    if warnings:
        return f"{warnings} warning{'s' if warnings > 1 else ''} encountered\n"
    return "No warnings encountered\n"


def whole_report(problems: Iterable[Problem], errors: int, warnings: int) -> str:
    """The report of a scoring that came to its end: twice, as the reference writes it, and the closing line."""
    return "".join(report_text(problems)) * 2 + closing_line(errors, warnings)


def stopped_report(problems: Iterable[Problem], cause: Exception) -> str:
    """The report of a scoring that was stopped: the problems so far and what stopped it."""
    return "".join(report_text(problems)) + f"{cause}\n"


def doubly_encoded(text: str) -> bytes:
    """The bytes of a report as the reference writes them: UTF-8, encoded to UTF-8 once more."""
    if text.isascii():
        return text.encode("ascii")
    return text.encode("utf-8", "surrogateescape").decode("latin-1").encode("utf-8")


def is_of_failed_call(path: str) -> bool:
    """Whether a file is the report of a call of ours that was stopped, or ended with errors."""
    if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
        return False
    with open(path, "rb") as file:
        report = file.read()
    if report.endswith(MAY_BE_REPLACED.encode()):
        return True
    body, _, closing = report.removesuffix(b"\n").rpartition(b"\n")
    half = (len(body) + 1) // 2
    if _CLOSING.fullmatch(closing) is None or not report.startswith((b"ERROR: ", b"WARNING: ")):
        return False
    return report[:half] == report[half : 2 * half]


_number: Final = attrgetter("number")

_RULE: Final = "=" * 80 + "\n"
_DOTS: Final = "." * 80 + "\n"


def responses_blocks(run: RunResult) -> Iterator[bytes]:
    """Part 1: each response, with its assessment and what it counted as."""
    if run.debug_text is None:
        yield from encoded(responses_text(run.tallies()))
    else:
        yield from blocks_of(run.debug_text.responses)
    yield b"\n"


def rankings_blocks(run: RunResult) -> Iterator[bytes] | None:
    """Part 2: each ranking. None where average precision was not computed."""
    scores = run.average_precision
    if scores is None:
        return None
    text = encoded(rankings_text(scores.rankings)) if run.debug_text is None else blocks_of(run.debug_text.rankings)
    return chain([b"AP COMPUTATION DEBUG INFO BEGINS:\n"], text, [b"AP COMPUTATION DEBUG INFO ENDS\n"])


FIELDS: Final = (
    ("FQNODEID", "SUBMISSION", "TARGET_QID", "ASSESSMENT"),
    ("PREPOLICY ASSESSMENT", "POSTPOLICY ASSESSMENT"),
)
"""The fields of a response's block in their order; an empty line stands between the groups. `_values` has as many."""

_BLOCK: Final = "\n".join("".join(f"\t{field}:\t%s\n" for field in group) for group in FIELDS) + _DOTS
# The block taken apart, with room for the values: to join it costs a third of formatting it.
_PIECES: Final = [piece for text in _BLOCK.split("%s") for piece in (text, "")][:-1]


def _values(response: Response, assessment: Assessment | None, category: str, labels: str) -> tuple[str, ...]:
    """What the fields say of a response: its category is that before the policies, its labels are those after them.

    All in one call: one for each field would take 5 % of the time in which a run is scored.
    """
    return (
        response.node or "-",
        response.text,
        response.target_full_id,
        "-" if assessment is None else assessment.text,
        category,
        labels,
    )


def responses_text(tallies: Iterable[tuple[Tally, UnitResult]]) -> Iterator[str]:
    """Part 1 without its end: query by query, class by class, every response that a policy put anywhere."""
    pieces = _PIECES.copy()
    for tally, unit in tallies:
        yield f"{_RULE}{tally.name}\n"
        for response, of_line in _by_number(tally.responses, unit.labels):
            assessment = unit.matched.get(response.index)
            category = pre_policy_category(assessment)
            labels = _shown(of_line, category)
            if labels is not None:
                pieces[1::2] = _values(response, assessment, category, labels)
                yield "".join(pieces)


def _by_number(responses: Sequence[Response], labels: Mapping[int, Labels]) -> Iterable[tuple[Response, Labels]]:
    """Responses with their labels by line number; of several files' lines with one number the first with all labels."""
    by_number = dict(zip(map(_number, responses), responses))
    if len(by_number) == len(responses):
        return [(line, labels[line.index]) for line in map(by_number.__getitem__, sorted(by_number))]
    lines: dict[int, list[Response]] = {}
    for response in responses:
        lines.setdefault(response.number, []).append(response)
    in_order = [sorted(lines[number], key=load_order) for number in sorted(lines)]
    return [(same[0], tuple(sorted(label for line in same for label in labels[line.index]))) for same in in_order]


@functools.cache
def _shown(labels: Labels, category: str) -> str | None:
    """The labels as the file shows them; None where there is none beside the category before the policies."""
    left = without(labels, category)
    return ",".join(left) if left else None


def rankings_text(rankings: Iterable[Ranking]) -> Iterator[str]:
    """Part 2 without its frame: query by query and level by level, what was to be found and the ranked nodes."""
    for _, of_query in groupby(rankings, key=attrgetter("query")):
        node_texts: dict[str, str] = {}
        for ranking in of_query:
            yield _ranking_text(ranking, node_texts)


def _ranking_text(ranking: Ranking, node_texts: dict[str, str]) -> str:
    """`node_texts` has the texts of the query's nodes so far: each is ranked at its own level and among all."""
    classes = "".join([f"  {name}\n" for name in ranking.classes]) or "\n"
    nodes = []
    for rank, node in enumerate(ranking.nodes, 1):
        text = node_texts.get(node.name)
        if text is None:
            text = f"{node.name} {node.confidence:0.4f} {node.mapped_class or '-'} {node.value:0.4f}\n"
            node_texts[node.name] = text
        nodes.append(f"{rank} {text}")
    return (
        f"{_RULE}"
        f"QUERY_ID:         {ranking.query}\n"
        f"LEVEL:            {ranking.level}\n"
        f"AP:               {ranking.score:0.4f}\n"
        f"NUM_GROUND_TRUTH: {'' if ranking.ground_truth is None else ranking.ground_truth}\n"
        "GROUND TRUTH:\n"
        f"{classes}"
        "RANKING:\n"
        "........\n"
        "RANK NODEID CONFIDENCE MAPPED_EC V\n"
        f"{''.join(nodes)}"
    )


def samples_text(bootstrap: Bootstrap, _: str) -> Iterator[str]:
    """Each sample with the first entry point of every LDC query drawn."""
    for sample in bootstrap.samples:
        draws = (f" {draw.ldc_id}:{draw.written[0] if draw.written else ''}" for draw in sample.draws)
        yield f"{sample.label}{''.join(draws)}\n"


def sample_scores_text(bootstrap: Bootstrap, run_id: str) -> Iterator[str]:
    """The values of each sample."""
    yield "Sample#{} #RUNID\n".format("".join(f" {code}" for code in VALUE_CODES))
    for sample, values in zip(bootstrap.samples, bootstrap.values):
        cells = "".join(f"{'':15}{float(value or 0):0.4f}" for value in values)
        yield f"{sample.number:6d}{cells} #{run_id}\n"


def confidence_text(bootstrap: Bootstrap, _: str) -> Iterator[str]:
    """Percentile limits, mean and score of every value."""
    yield f"{'':22}99%(   95%(   90%(   mean   scr.   )90%   )95%   )99%\n"
    for limits in bootstrap.limits:
        yield " ".join((str(limits.code), *limits.low, limits.mean, limits.score, *limits.high)) + "\n"


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
    from cs_score.coldstart.documents import intervals_text

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
