"""The scorer called from Python: what results say of themselves, intervals, runs scored one by one, and branches."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.coldstart.gold import ColdStartGold, load_run, open_gold, with_pool
from cs_score.coldstart.options import Options, Policy
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.samples import read_samples
from cs_score.coldstart.score_documents import json_text
from cs_score.coldstart.scorer import runs_of, score_each, score_runs
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import AGE, CHILDREN, LISTS, SCHOOLS, Line, query_xml, sf_query
from tests.scoring import score

BO, CY = Line(), Line("Cy", "N_ENG_2", "0.8", ":E2")
OTHER = sf_query(docid="N_ENG_R")
OPTIONS = Options(expand="CSX")


@pytest.fixture
def folder(inputs: Inputs) -> Path:
    """Two LDC queries of one entry point: runA answers the first right and misses the second, runB the opposite."""
    inputs.queries(query_xml(), query_xml(2, docids=("N_ENG_R",)))
    other = replace(CY, query=OTHER)
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"), other.judged("1"))
    inputs.run(BO, BO.child())
    inputs.run(replace(other, run_id="runB"), name="second.tab")
    return inputs.folder


def _result(folder: Path, *runs: str, options: Options = OPTIONS) -> Result:
    return score([folder / "queries.xml"], [folder / "pool.tab", *(folder / run for run in runs)], options)


def _as_json(result: Result) -> str:
    return "".join(json_text(result))


def test_runs_scored_separately_do_not_meet_in_average_precision(folder: Path, inputs: Inputs) -> None:
    # The same node twice in one evaluation has two lines of one document, which ends it.
    inputs.run(replace(BO, run_id="runB"), name="second.tab")
    with pytest.raises(ScoringStopped, match="AP is greater than"):
        _result(folder, "run.tab", "second.tab")
    results = score_each(_gold(folder), runs_of([folder / "run.tab", folder / "second.tab"]))
    assert [result.runs[0].run_id for result in results] == ["runA", "runB"]
    for result in results:
        assert result.runs[0].average_precision is not None
    assert results[0].runs[0].tables == _result(folder, "run.tab").runs[0].tables


def test_what_ends_a_scoring_names_the_run_file(folder: Path, inputs: Inputs) -> None:
    runs = runs_of([folder / "run.tab"])
    with pytest.raises(InputError, match="nothing to score") as refused:
        score_each(_gold(folder, options=replace(OPTIONS, queries="CSX_0099")), runs)
    assert refused.value.file == str(folder / "run.tab")
    inputs.pool(BO.judged("0", "C"))
    with pytest.raises(InputError, match="Correct entry without equivalence class") as refused:
        score_each(_gold(folder), runs)
    assert refused.value.file == str(folder / "pool.tab")  # its own place stays


def _gold(folder: Path, *pool: str, options: Options = OPTIONS) -> ColdStartGold:
    return with_pool(open_gold([folder / "queries.xml"], options), [folder / name for name in pool or ("pool.tab",)])


def test_gold_of_another_process_computes_its_own_derived_values(folder: Path) -> None:
    gold = _gold(folder)
    expected = _as_json(_over(gold, folder, "run.tab"))
    assert gold.derived_values.gold_by_query
    copy = pickle.loads(pickle.dumps(gold))
    assert not copy.derived_values.gold_by_query
    assert _as_json(_over(copy, folder, "run.tab")) == expected


def _over(gold: ColdStartGold, folder: Path, name: str, policy: Policy = OPTIONS.policy) -> Result:
    return score_runs(load_run(gold, [folder / name]), policy)


@pytest.mark.parametrize(
    ("docid", "slots"), [("N_ENG_Q", LISTS), ("unclear", (CHILDREN,)), ("N_ENG_Q", (CHILDREN, "per:shoes"))]
)
def test_what_is_wrong_with_a_query_is_told_of_every_run(inputs: Inputs, docid: str, slots: tuple[str, ...]) -> None:
    """Nothing is wrong, a document is of no known language, a slot is unknown. The second run finds the tree there."""
    inputs.queries(query_xml(slots=slots, docids=(docid,)))
    line = replace(BO, query=sf_query(slots, docid))
    inputs.pool(line.judged("1"))
    inputs.run(line)
    gold = _gold(inputs.folder)
    for _ in range(2):
        assert _as_json(_over(gold, inputs.folder, "run.tab")) == _as_json(_result(inputs.folder, "run.tab"))


def test_classes_that_a_run_adds_are_not_there_for_the_next(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(BO, BO.child(), name="with-child.tab")  # the child stands in a wrong bin below Bo's class
    inputs.run(BO, name="without.tab")
    gold = _gold(inputs.folder)
    results = [_over(gold, inputs.folder, name) for name in ("without.tab", "with-child.tab", "without.tab")]
    assert [[row.level for row in result.runs[0].tables.sf.rows] for result in results] == [["0"], ["0", "1"], ["0"]]


def test_samples_that_cannot_be_opened_or_read(tmp_path: Path) -> None:
    assert not read_samples(str(tmp_path / "missing")).exists
    with pytest.raises(InputError, match="Could not open"):
        read_samples(str(tmp_path))
    (tmp_path / "latin").write_bytes(b"1 CSX_0001:\xe9\n")  # each byte is a character
    with pytest.raises(InputError, match='"\u00e9" sent to parse_queryid'):
        read_samples(str(tmp_path / "latin"))


def _codes(gold: ColdStartGold, folder: Path, *names: str) -> list[str]:
    return [problem.code for problem in load_run(gold, [folder / name for name in names]).problems]


def test_a_line_below_an_answer_that_was_discarded_with_an_earlier_file_is_discarded(inputs: Inputs) -> None:
    """The slot takes one value; the answer that lost stands in the first file, a line below it in the second."""
    slots = (AGE, SCHOOLS)
    inputs.queries(query_xml(slots=slots))
    kept = replace(BO, value="41", query=sf_query(slots), slot=AGE)
    lost = replace(kept, value="42", confidence="0.5", span="7-9", node=":E2")
    inputs.run(kept, lost)
    inputs.lines(lost.child(), name="second.tab")
    gold = open_gold([inputs.folder / "queries.xml"], OPTIONS)
    assert _codes(gold, inputs.folder, "run.tab", "second.tab") == ["DISCARDED_DEPENDENT", "DISCARDED_ENTRY"]
    # One below an answer that the run does not give, though the assessments know it: no node has too many lines.
    inputs.queries()
    inputs.pool(BO.judged("1"))
    inputs.run(CY, BO.child())
    assert _codes(_gold(inputs.folder), inputs.folder, "run.tab") == ["DISCARDED_DEPENDENT"]
