"""Hostile queries, runs and pools cost work in proportion to their size, and problem reports little memory."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from cs_score.coldstart.linking import Loading, LoadingSettings
from cs_score.coldstart.options import JustificationLimits
from cs_score.coldstart.queries import load_queries
from cs_score.coldstart.tab_files import VALUE_SPANS, read_confidence, read_provenance
from cs_score.preparation.query_files import decoded_name
from cs_score.problems.log import Place, ProblemLog, RecordingLog
from cs_score.problems.reports import write_problems
from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line, query_xml
from tests.growth import assert_grows_in_proportion


@pytest.mark.parametrize("query", ["<query >\n</query>\n", "<query id='1'>\n</query>", '<query id="CS17_1"> <name>'])
def test_queries_without_an_id_or_end(query: str) -> None:
    def prepared(size: int) -> Callable[[], object]:
        data = (query * size).encode()
        return lambda: load_queries([io.BytesIO(data)], None, ProblemLog())

    assert_grows_in_proportion(prepared, 5000)


@pytest.mark.parametrize("discipline", ["STRING_CASE", "ASSESSED"])
def test_many_equal_answers(inputs: Inputs, discipline: str) -> None:
    """Of the values under STRING_CASE, and of one justification where relations differ only."""

    def prepared(size: int) -> Callable[[], object]:
        own = [str(number) for number in range(size)]
        if discipline == "STRING_CASE":
            inputs.pool(*(Line("Bo", f"N_ENG_{number}").judged("1") for number in own))
            inputs.run(*(Line("bo", f"M_ENG_{number}", node=f":E{number}") for number in own))
        else:
            lines = [Line(relation=f"N_ENG_1:{number}-{number}", node=f":E{number}") for number in own]
            inputs.pool(*(line.judged() for line in lines))
            inputs.run(*lines)
        return lambda: inputs.score("-discipline", discipline)

    assert_grows_in_proportion(prepared, 1500)


@pytest.mark.parametrize(
    "work",
    [
        lambda size: read_provenance(" " * size, VALUE_SPANS),
        lambda size: read_provenance(" " * size + ":1", VALUE_SPANS),
        lambda size: read_confidence("." + "1" * size + "x"),
        lambda size: decoded_name("&" * size),
    ],
)
def test_long_columns_that_patterns_nearly_match(work: Callable[[int], object]) -> None:
    assert_grows_in_proportion(lambda size: lambda: work(size), 5000)


@pytest.mark.parametrize("ending", ["json", "tsv", "sarif"])
def test_a_problem_report_is_written_problem_by_problem(tmp_path: Path, ending: str) -> None:
    """What is needed beside the problems themselves is their order: some hundred bytes for each."""
    log, count = RecordingLog(), 4000
    for number in range(count):
        log.add("DUPLICATE_LINE", f"\n{number}" + "x" * 1000, place=Place("run.tab", number))
    tracemalloc.start()
    try:
        write_problems(log, str(tmp_path / f"p.{ending}"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (tmp_path / f"p.{ending}").stat().st_size > 1000 * count
    assert peak < (1 << 20) + 300 * count


def test_runs_that_are_validated_from_one_file(inputs: Inputs) -> None:
    def prepared(size: int) -> Callable[[], object]:
        inputs.pool(Line().judged("1"))
        lines = [Line(run_id=f"run{run}", node=f":E{at}") for run in range(size) for at in range(3)]
        inputs.run(*lines)
        words = ("score", "--validate", "-expand", "CSX", "queries.xml", "pool.tab", "run.tab")
        return lambda: score_in(inputs.folder, words)

    assert_grows_in_proportion(prepared, 10)


@pytest.mark.parametrize("program", ["validate-run", "generate-queries"])
def test_lines_that_answer_no_query(inputs: Inputs, program: str) -> None:
    """As many entry points as lines: the remedy of each line asks whether one of them was meant."""

    def prepared(size: int) -> Callable[[], object]:
        documents = tuple(f"N_ENG_{number}" for number in range(size))
        inputs.lines("<query_set>", query_xml(docids=documents), "</query_set>", name="queries.xml")
        inputs.run(*(Line(query=f"CSX_ENG_{number:010x}") for number in range(size)))
        words = [program, "queries.xml", "run.tab"]
        if program == "generate-queries":
            words.insert(2, "stdout")
        return lambda: score_in(inputs.folder, words)

    assert_grows_in_proportion(prepared, 500)


def test_lines_that_answer_no_query_take_little_memory(inputs: Inputs) -> None:
    lines = 2000
    inputs.run(*(Line(query=f"CSX_ENG_{number:010x}") for number in range(lines)))
    table = load_queries([str(inputs.folder / "queries.xml")], None, ProblemLog()).query_set
    loading = Loading(
        table,
        JustificationLimits(1, 3),
        problems := ProblemLog(),
        settings=LoadingSettings(on_error=problems.fatal_errors.append),
    )
    tracemalloc.start()
    loading.load([str(inputs.folder / "run.tab")])
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(problems.fatal_errors) == lines
    assert all(error.__traceback__ is None for error in problems.fatal_errors)
    assert kept < 2500 * lines
