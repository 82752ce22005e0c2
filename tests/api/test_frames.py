"""Records as data frames: the same values under the same names, and a clear line without pandas."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any, Final

import pytest

import cs_score as cs
from cs_score.base.records import replace
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line, query_xml

pandas = pytest.importorskip("pandas")

TABLES: Final = ("rows", "queries", "responses", "rankings", "problems", "units", "scores")
BO = Line()


@pytest.fixture
def result(inputs: Inputs) -> cs.RunResult:
    """A run with a line that is not assessed, a follow-on, a query without answers, and a problem."""
    inputs.queries(query_xml(), query_xml(2, docids=("N_ENG_R",)))
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    odd = replace(BO, value="<b>", docid="N_ENG_2", node=None, confidence="2e-1", span="1-2")
    inputs.run(BO, BO.child(), replace(odd, node=":E2"))
    return cs.score(inputs.folder / "queries.xml", inputs.folder / "run.tab", inputs.folder / "pool.tab", expand="CSX")


def as_values(rows: Iterable[Iterable[Any]]) -> list[list[Any]]:
    return [[None if pandas.isna(value) else value for value in row] for row in rows]


@pytest.mark.parametrize("name", TABLES)
def test_a_frame_holds_the_rows(result: cs.RunResult, name: str) -> None:
    rows, frame = result.rows(name), result.to_frame(name)
    assert result.tables == TABLES
    assert rows
    assert list(frame.columns) == list(rows[0])
    assert as_values(frame.itertuples(index=False)) == as_values(row.values() for row in rows)
    assert cs.Signature.parse(frame.attrs["signature"]) == result.signature
    assert json.loads(json.dumps(frame.attrs["origin"])) == json.loads(result.to_json())["origin"]


def test_columns_have_types(result: cs.RunResult) -> None:
    found = result.to_frame("responses").dtypes.astype(str).to_dict()
    wanted = {"run_id": "category", "line": "int64", "assessment_line": "Int64", "confidence": "float64"}
    assert {name: found[name] for name in wanted} == wanted


def test_another_table_is_wrong_usage(result: cs.RunResult) -> None:
    for read in (result.rows, result.to_frame):
        with pytest.raises(cs.UsageError, match=r"no table called 'querys'; there are rows, .*did you mean queries"):
            read("querys")


def test_without_pandas_one_line_says_what_to_install(result: cs.RunResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        cs.MissingExtraError, match=r"^this needs the package pandas: pip install 'cs-score\[frames\]'$"
    ):
        result.to_frame()


def test_notebooks_show_the_summary_with_every_text_escaped(inputs: Inputs) -> None:
    odd = replace(BO, run_id="<script>alert(1)</script>\x1b[2J")
    inputs.run(odd)
    result = cs.score(inputs.folder / "queries.xml", inputs.folder / "run.tab", expand="CSX")
    html = result._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "LDC-MEAN-ALL-Macro" in html
    assert "no file holds assessments" in html
    assert repr(result).startswith(r"<<script>alert(1)</script>\x1b[2J under kb, 1:3: ")
    assert "\x1b" not in html + repr(result)
