"""The scorer's output files and its report: tables, debug, and when which is written."""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeAlias

from cs_score.base.display import aligned, one_line
from cs_score.base.errors import InputError
from cs_score.base.outputs import blocks_of, encoded
from cs_score.base.records import Record
from cs_score.coldstart.judging import Counts, Labels, Tally, pre_policy_category, without
from cs_score.coldstart.lines import Response, load_order
from cs_score.coldstart.options import LATEST, Edition, Options, is_nothing
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.result import AveragePrecision, Result, RunResult, ScoreRow, UnitResult, tallies_of
from cs_score.coldstart.samples import METRICS, VALUE_CODES, Bootstrap
from cs_score.problems.log import NO_PLACE, Problem
from cs_score.statistics.options import note_sentences

if TYPE_CHECKING:
    from cs_score.statistics.results import ScoreIntervals


class Field(Record):
    """One column: its header, the attribute of a row (or of its counts) that it shows, its meaning."""

    header: str
    attribute: str
    meaning: str

    @property
    def is_count(self) -> bool:
        return self.attribute in Counts.__struct_fields__


SCORE_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "query, or query and class"),
    "RUNID": Field("RunID", "run_id", "run"),
    "LEVEL": Field("Hop", "level", "hop from 0 on, or ALL"),
    "GT": Field("GT", "ground_truth", "classes to be found"),
    "SUBMITTED": Field("Submitted", "submitted", "responses"),
    "CORRECT": Field("Correct", "correct", "responses assessed as correct, below a right parent"),
    "INCORRECT": Field("Incorrect", "incorrect", "responses assessed as incorrect, below a right parent"),
    "INEXACT": Field("Inexact", "inexact", "responses assessed as inexact, below a right parent"),
    "INCORRECT_PARENT": Field("PIncorrect", "incorrect_parent", "responses below an answer that is not right"),
    "UNASSESSED": Field("Unassessed", "unassessed", "responses without assessment, below a right parent"),
    "REDUNDANT": Field("Dup", "redundant", "duplicates of a right response"),
    "RIGHT": Field("Right", "right", "responses that count as right"),
    "WRONG": Field("Wrong", "wrong", "responses that count as wrong"),
    "IGNORED": Field("Ignored", "ignored", "responses that are left out of precision"),
    "P": Field("Prec", "precision", "precision"),
    "R": Field("Recall", "recall", "recall"),
    "F": Field("F1", "f1", "F1"),
}

DEFAULT_FIELDS: Final = tuple(SCORE_FIELDS)

# The columns of `.ldcmean` and `.summary`, whatever `-fields` says.
SUMMARY_FIELDS: Final = ("EC", "RUNID", "LEVEL", "P", "R", "F")
AP_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "query"),
    "RUNID": Field("RunID", "run_id", "run"),
    "LEVEL": Field("Hop", "level", "hop"),
    "AP": Field("AP", "score", "average precision"),
}

FOOT: Final = "\n*ALL-Macro Prec, Recall and F1 refer to mean-precision, mean-recall and mean-F1.\n"
AP_FOOT: Final = "\n*ALL-Macro AP refer to mean of corresponding AP values.\n"
# The spelling of "coressponding" is part of the format.
AP_TITLES: Final = {
    "SF": "SF: Slot-filling score variant considering all entrypoints as a separate query",
    "LDC-MEAN": "LDC-MEAN: LDC level score variant considering averaging scores for all coressponding entrypoints",
}
AP_SUMMARY: Final = "SUMMARY: This section provides summary of AP scores"


def check_fields(names: Iterable[str]) -> None:
    """Raises InputError for a name that is no field."""
    for name in names:
        if name not in SCORE_FIELDS:
            raise InputError(f"Unknown field: {name}", remedy=f"the fields are {':'.join(SCORE_FIELDS)}")


def resampled_metrics(fields: Collection[str]) -> tuple[str, ...]:
    """The metrics that resamples have values of, by the fields shown: cells are found by their row's name and hop."""
    return tuple(metric for metric in METRICS if {"EC", "LEVEL", metric} <= set(fields))


class TableLayout:
    """Column widths of one run's report; they grow with every table that is laid out and never shrink."""

    def __init__(self, fields: Mapping[str, Field], shown: Iterable[str], run_id: str, tabs: bool) -> None:
        """`shown`: the fields that have cells at all; others stay empty. `tabs`: one tab between cells, no padding."""
        self._fields, self._run_id, self._tabs = fields, run_id, tabs
        self._widths = {name: len(fields[name].header) for name in shown}

    def header(self, names: Sequence[str]) -> str:
        return self._lines([[self._padded(name, self._fields[name].header) for name in names]])

    def table(self, names: Sequence[str], rows: Sequence[ScoreRow], prefix: str = "") -> str:
        """The lines of some rows; those with a `prefix` before the first cell in the widths found so far."""
        columns = [self._column(name, rows, "" if at else prefix, bool(prefix)) for at, name in enumerate(names)]
        return self._lines(zip(*columns) if columns else [()] * len(rows))

    def _column(self, name: str, rows: Sequence[ScoreRow], prefix: str, keeps_width: bool) -> list[str]:
        if name not in self._widths:
            return [prefix] * len(rows)
        field = self._fields[name]
        value_of = attrgetter(field.attribute)
        values: list[object]
        if field.attribute == "run_id":
            values = [self._run_id] * len(rows)
        elif field.is_count:  # four blanks where a row is a mean
            values = ["    " if row.counts is None else value_of(row.counts) for row in rows]
        else:
            values = list(map(value_of, rows))
            if 0.0 in values:  # -0.0 equals 0.0, but its cell has a sign
                values = ["-0.0000" if value == 0 and str(value) == "-0.0" else value for value in values]
        # Most columns repeat few values; each value is formatted and padded once.
        cells = {value: prefix + _cell(value) for value in set(values)}
        if not keeps_width:
            self._widths[name] = max([self._widths[name], *map(len, cells.values())])
        cells = {value: self._padded(name, cell) for value, cell in cells.items()}
        return [cells[value] for value in values]

    def _lines(self, rows: Iterable[Sequence[str]]) -> str:
        separator = "\t" if self._tabs else " "
        return "".join([f"{separator.join(cells)}\n" for cells in rows])

    def _padded(self, name: str, cell: str) -> str:
        width = 0 if self._tabs else self._widths.get(name, 0)
        return cell.rjust(width) if self._fields[name].is_count else cell.ljust(width)


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    return f"{value:4d}" if isinstance(value, int) else f"{value:6.4f}"


class Layout(Record):
    """How tables are laid out: the fields of `.sf` and `.ldcmax`, and whether tabs separate the columns."""

    fields: Sequence[str] = DEFAULT_FIELDS
    tabs: bool = False


def _table_texts(run: RunResult, of: Layout) -> Iterator[tuple[str, str]]:
    """The four tables of one run, empty where they do not exist; columns are as wide as those before needed."""
    layout, tables = TableLayout(SCORE_FIELDS, of.fields, run.run_id, of.tabs), run.tables
    for ending, table, names in (
        ("sf", tables.sf, of.fields),
        ("ldcmax", tables.ldc_max, of.fields),
        ("ldcmean", tables.ldc_mean, SUMMARY_FIELDS),
    ):
        text = "" if table is None else layout.table(names, table.rows + table.averages) + FOOT
        yield ending, layout.header(names) + text if table is not None and table.rows else text
    summary = [layout.table(SUMMARY_FIELDS, table.averages, f"{variant}-") for variant, table in tables.variants]
    yield "summary", layout.header(SUMMARY_FIELDS) + "".join(summary) + FOOT


def averages_text(run: RunResult) -> str:
    """The rows of the summary that hold all queries, as a table for people."""
    layout = TableLayout(SCORE_FIELDS, SUMMARY_FIELDS, one_line(run.run_id), False)
    variants = run.tables.variants
    rows = [row._replace(name=f"{variant}-{row.name}") for variant, table in variants for row in table.averages]
    lines = layout.table(SUMMARY_FIELDS, rows)
    return layout.header(SUMMARY_FIELDS) + lines


def _average_precision_text(scores: AveragePrecision, is_primary: bool, tabs: bool) -> Iterator[str]:
    """The AP report of one run; only that of the run whose id the rows bear has macro averages."""
    fields = tuple(AP_FIELDS)
    layout = TableLayout(AP_FIELDS, fields, scores.run_id, tabs)
    tables = [(variant, table.rows, table.macro if is_primary else ()) for variant, table in scores.variants]
    for variant, rows, macro in tables:
        lines = layout.table(fields, rows + macro)
        yield f"{AP_TITLES[variant]}\n\n{layout.header(fields) if rows else ''}{lines}\n"
    summary = [layout.table(fields, macro, f"{variant}-") for variant, _, macro in tables]
    yield f"{AP_SUMMARY}\n\n{layout.header(fields)}{''.join(summary)}{AP_FOOT}"


# The end of the error file of a call that was stopped.
MAY_BE_REPLACED: Final = "\n(cs-score stopped here; its next call may write this file anew)\n"
_LARGEST: Final = 1 << 28
_CLOSING: Final = re.compile(rb"[0-9]+ errors? encountered")


def report_text(problems: Iterable[Problem], edition: Edition = LATEST) -> Iterator[str]:
    """Each message with the first of its places and the number of others, then, since 2017.2.0, an empty line."""
    end = "\n" if edition.reports_first else "\n\n"
    for problem in problems:
        # Places are compared as the bytes they are written in; code points order the same way.
        first, *others = sorted(NO_PLACE if place is None else str(place) for place in problem.places)
        where = ""
        if first != NO_PLACE:
            count = f" and {len(others)} other place{'s' if len(others) > 1 else ''}" if others else ""
            where = f" ({first if edition.encodes_report_twice else _as_bytes(first)}{count})"
        yield f"{problem.severity}: {problem.message}{where}{end}"


def closing_line(errors: int, warnings: int) -> str:
    """The last line of the report: errors if there are any, else warnings."""
    number, what = (errors, "error") if errors else (warnings, "warning")
    return f"{number} {what}{'s' if number > 1 else ''} encountered\n" if number else "No warnings encountered\n"


def whole_report(result: Result) -> str:
    """The report of a scoring that came to its end: twice, as the reference writes it, and the closing line; once and
    without that line where it is written before anything is scored.
    """
    text = "".join(report_text(result.problems, result.options.edition))
    closing = closing_line(result.error_count, result.warning_count)
    return text if result.options.edition.reports_first else text * 2 + closing


def stopped_report(problems: Iterable[Problem], cause: Exception, edition: Edition = LATEST) -> str:
    """Return the report of a scoring that was stopped: the problems so far, and the error that stopped it.

    Of a file that is not UTF-8 the report says no more than that; standard error says what its bytes look like.
    """
    text = str(cause)
    if isinstance(cause, InputError) and cause.code == "NOT_UTF8":
        text = str(InputError(cause.problem, file=cause.file, place=cause.place))
    return "".join(report_text(problems, edition)) + f"{text}\n"


def doubly_encoded(text: str, edition: Edition = LATEST) -> bytes:
    """The bytes of a report as the reference writes them: UTF-8, which most editions encode to UTF-8 once more."""
    return (_as_bytes(text) if edition.encodes_report_twice else text).encode("utf-8", "surrogateescape")


def _as_bytes(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


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
    is_report = _CLOSING.fullmatch(closing) is not None and report.startswith((b"ERROR: ", b"WARNING: "))
    return is_report and report[:half] == report[half : 2 * half]


_RULE: Final = "=" * 80 + "\n"
_DOTS: Final = "." * 80 + "\n"


def responses_text(
    tallies: Iterable[tuple[Tally, UnitResult]], edition: Edition = LATEST, *, is_first: bool = True
) -> Iterator[str]:
    """Part 1 of `.debug` without its end: class by class, every response that a policy put anywhere. `is_first`: no run
    was scored before.
    """
    hides_unassessed = edition.hides_later_unassessed and not is_first
    for tally, unit in tallies:
        yield f"{_RULE}{tally.name}\n"
        for response, labels in _by_number(tally.responses, unit.labels):
            assessment = unit.matched.get(response.index)
            category = pre_policy_category(assessment)
            assessed = "-" if assessment is None else assessment.text
            if hides_unassessed and assessment is None and response.node is not None:
                assessed = category = ""
            shown = _shown(labels, category)
            if not shown:
                continue
            node, target = "", ""
            if edition.has_nodes:
                node = f"\tFQNODEID:\t{response.node or '-'}\n"
                target = f"\tTARGET_QID:\t{response.query.full_id}_{response.target}\n"
            yield (
                f"{node}\tSUBMISSION:\t{response.text}\n{target}\tASSESSMENT:\t{assessed}\n\n"
                f"\tPREPOLICY ASSESSMENT:\t{category}\n"
                f"\tPOSTPOLICY ASSESSMENT:\t{shown}\n{_DOTS}"
            )


def _by_number(responses: Sequence[Response], labels: Mapping[int, Labels]) -> Iterable[tuple[Response, Labels]]:
    by_number = {response.number: response for response in responses}
    if len(by_number) == len(responses):
        return [(by_number[number], labels[by_number[number].index]) for number in sorted(by_number)]
    lines: dict[int, list[Response]] = {}
    for response in sorted(responses, key=load_order):
        lines.setdefault(response.number, []).append(response)
    return [(same[0], tuple(sorted(x for line in same for x in labels[line.index]))) for same in lines.values()]


@functools.cache
def _shown(labels: Labels, category: str) -> str:
    return ",".join(without(labels, category))


def rankings_text(rankings: Iterable[Ranking]) -> Iterator[str]:
    """Part 2 of `.debug` without its frame: by query and level, the classes to be found and the ranked nodes."""
    for _, of_query in groupby(rankings, key=attrgetter("query")):
        texts: dict[str, str] = {}  # each node is ranked at its own level and among all
        for ranking in of_query:
            for node in ranking.nodes:
                if node.name not in texts:
                    mapped = node.mapped_class or "-"
                    texts[node.name] = f"{node.name} {node.confidence:0.4f} {mapped} {node.value:0.4f}\n"
            classes = "".join([f"  {name}\n" for name in ranking.classes]) or "\n"
            nodes = "".join([f"{rank} {texts[node.name]}" for rank, node in enumerate(ranking.nodes, 1)])
            yield (
                f"{_RULE}"
                f"QUERY_ID:         {ranking.query}\n"
                f"LEVEL:            {ranking.level}\n"
                f"AP:               {ranking.score:0.4f}\n"
                f"NUM_GROUND_TRUTH: {'' if ranking.ground_truth is None else ranking.ground_truth}\n"
                f"GROUND TRUTH:\n{classes}RANKING:\n........\nRANK NODEID CONFIDENCE MAPPED_EC V\n{nodes}"
            )


def _bootstrap_texts(bootstrap: Bootstrap, run_id: str) -> Iterator[tuple[str, list[str]]]:
    drawn = (
        "".join([f" {draw.ldc_id}:{''.join(draw.written[:1])}" for draw in one.draws]) for one in bootstrap.samples
    )
    yield "sample", [f"{sample.label}{draws}\n" for sample, draws in zip(bootstrap.samples, drawn)]
    scores = ["Sample#{} #RUNID\n".format("".join(f" {code}" for code in VALUE_CODES))]
    for sample, values in zip(bootstrap.samples, bootstrap.values):
        cells = "".join(f"{'':15}{float(value or 0):0.4f}" for value in values)
        scores.append(f"{_whole(sample.number):6d}{cells} #{run_id}\n")
    yield "samplescores", scores
    lines = [f"{'':22}99%(   95%(   90%(   mean   scr.   )90%   )95%   )99%\n"]
    for each in bootstrap.limits:
        score = "     -" if each.score is None else each.score
        lines.append(" ".join((each.value, *each.low.values(), each.mean, score, *each.high.values())) + "\n")
    yield "confidence", lines


def _whole(number: float) -> int:
    """Return a number as C prints it as an integer of 64 bits."""
    most = (1 << 63) - 1
    return int(max(-most - 1, min(number, most)))


def params_text(words: Iterable[str], folder: str, policies: Mapping[str, str], has_samples: bool) -> str:
    """The content of `.params`: time, working folder and words of a call; IGNORE, RIGHT and WRONG as typed."""
    sides = "".join(f"  {side} => {text}\n" for side, text in sorted(policies.items()))
    samples = "\nSAMPLE => BOOTSTRAP RESAMPLE" if has_samples else ""
    return f"#At: {time.asctime()}\n\n#Invoked as:\n{folder}$ {' '.join(words)}\n\n#Policy Selected:\n{sides}{samples}"


def params_of(
    options: Options, switches: Iterable[str], rest: Iterable[str], folder: str, texts: Mapping[str, str] | None = None
) -> str:
    """The `.params` of the call of these options: `switches`, limits and policy (`texts`: as typed), and the `rest`."""
    import shlex  # the bare call, which knows its words, starts without it

    texts = options.policy.texts() if texts is None else texts
    limits = ("-justifications", str(options.justifications)) if options.edition.has_limits else ()
    sides = (word for side, text in texts.items() for word in (f"-{side.lower()}", text))
    words = ("cs-score", *map(shlex.quote, (*switches, *limits, *sides, *rest)))
    return params_text(words, folder, texts, not is_nothing(options.samples))


class Output(Record):
    """A file: its ending, what it holds, and the switch without which it is not written."""

    ending: str
    content: str
    switch: str | None = None


OUTPUTS: Final = (
    Output("debug", "each response with its assessment and what it counted as; each ranking"),
    Output("ap", "average precision: SF, LDC-MEAN, summary"),
    Output("sf", "counts and scores of each SF query and class, averages"),
    Output("ldcmax", "the same for LDC-MAX", switch="-expand"),
    Output("ldcmean", "P, R, F1 for LDC-MEAN", switch="-expand"),
    Output("summary", "the averages of all variants"),
    Output("sample", "the resamples with their first entry points", switch="-samples"),
    Output("samplescores", "the values of each resample", switch="-samples"),
    Output("confidence", "limits, mean, score", switch="-samples"),
    Output("params", "time, command line, policies"),
    Output("intervals", "every average with its interval", switch="--bootstrap"),
)
"""In the order in which the reference creates them; it knows no intervals."""


def written(switches: Collection[str], edition: Edition = LATEST) -> list[Output]:
    """The files that a call with these switches writes under an edition."""
    wanted = (output for output in OUTPUTS if output.switch is None or output.switch in switches)
    return [output for output in wanted if edition.has_rankings or output.ending != "ap"]


# The number of a run (-1: of the call), the ending of a file, and what is added to it.
Text: TypeAlias = tuple[int, str, Iterable[bytes]]


def _texts_of(
    run: RunResult, layout: Layout, edition: Edition, is_first: bool
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The texts of a run in the order in which they stand on a stream; what scoring did not come to is missing."""
    parts, ranked = run.debug_text, run.average_precision
    if parts is None:
        responses = encoded(responses_text(tallies_of(run.units), edition, is_first=is_first))
    else:
        responses = blocks_of(parts.responses)
    yield "debug", chain(responses, [b"\n"])
    for ending, text in _table_texts(run, layout):
        yield ending, encoded([text])
    if ranked is not None:
        rankings = encoded(rankings_text(ranked.rankings)) if parts is None else blocks_of(parts.rankings)
        begin, end = (f"AP COMPUTATION DEBUG INFO {what}\n".encode() for what in ("BEGINS:", "ENDS"))
        yield "debug", chain([begin], rankings, [end])
        yield "ap", encoded(_average_precision_text(ranked, ranked.run_id == run.run_id, layout.tabs))
    if run.bootstrap is not None:
        for ending, lines in _bootstrap_texts(run.bootstrap, run.run_id):
            yield ending, encoded(lines)


def _interval_text(run: RunResult, intervals: ScoreIntervals, tabs: bool) -> Iterable[bytes]:
    """A line per number, with four decimals or a hyphen, then notes, and last how the limits were found. With `tabs`
    the columns are not aligned, and numbers have all their digits, or nothing.
    """
    rows: list[tuple[str, ...]] = [("Measure", "RunID", "Score", "Low", "High", "Note")]
    absent, shown = ("", repr) if tabs else ("-", "{:6.4f}".format)
    for measure, interval in intervals.scores.items():
        numbers = (interval.point, interval.low, interval.high)
        cells = (absent if number is None else shown(number) for number in numbers)
        rows.append((measure, run.run_id, *cells, interval.note))
    lines = list(map("\t".join, rows) if tabs else aligned(rows, [False, False, True, True, True, False], gap=" "))
    settings = intervals.resampling
    method = "BCa" if settings.method == "bca" else settings.method
    notes = [
        *note_sentences(intervals.notes),
        f"Low and High: {settings.confidence:g}% {method} bootstrap interval from {settings.resamples} resamples; "
        f"units of resampling ({settings.unit}): {intervals.units}; seed {settings.seed}.",
    ]
    return encoded(f"{line}\n" for line in (*lines, "", *(f"*{note}" for note in notes)))


def _texts(result: Result, layout: Layout, params: str, intervals: Sequence[ScoreIntervals]) -> Iterator[Text]:
    yield -1, "params", encoded([params])
    for number, run in enumerate(result.runs):
        of_run = _texts_of(run, layout, result.options.edition, number == 0)
        yield from ((number, ending, text) for ending, text in of_run)
    for number, (run, of_intervals) in enumerate(zip(result.runs, intervals)):
        yield number, "intervals", _interval_text(run, of_intervals, layout.tabs)


def stream_blocks(
    result: Result, layout: Layout, params: str, intervals: Sequence[ScoreIntervals] = ()
) -> Iterator[Iterable[bytes]]:
    """All texts one after the other: those of the call, of each run, and the intervals of all runs."""
    return (text for _, _, text in _texts(result, layout, params, intervals))


def file_blocks(
    result: Result, layout: Layout, params: str, intervals: Sequence[ScoreIntervals] = (), was_stopped: bool = False
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Each file's ending with its whole content; of a stopped scoring only the files that every run came to."""
    options, texts = result.options, list(_texts(result, layout, params, intervals))
    given = {"-expand": options.expand is not None, "-samples": options.samples is not None, "--bootstrap": intervals}
    for output in written([switch for switch, is_given in given.items() if is_given], options.edition):
        of_file = [(number, text) for number, ending, text in texts if ending == output.ending]
        runs = {number for number, _ in of_file}
        if not was_stopped or runs == {-1} or len(runs) == max(1, len(result.runs)):
            yield output.ending, chain.from_iterable(text for _, text in of_file)
