"""Results of runs: their tables as rows and frames, stored and loaded again, written as files; and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cs_score as cs
from cs_score.base.records import replace
from cs_score.coldstart.options import EDITIONS
from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line, query_xml

pandas = pytest.importorskip("pandas")

TABLES: Final = ("rows", "queries", "responses", "rankings", "problems", "units", "scores")
BO = Line()


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_inputs(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs.folder)


@pytest.fixture
def result(inputs: Inputs) -> cs.RunResult:
    """A run with a line that is not assessed, a follow-on, a query without answers, odd characters, and problems."""
    inputs.queries(query_xml(), query_xml(2, docids=("N_ENG_R",)))
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    odd = Line("\U0001f600 <b> \u2028 \x7f", "N_ENG_2", "2e-1", ":E2", span="N_ENG_2:1-2,N_ENG_3:1-2")
    inputs.run(BO, BO.child(), odd, replace(odd, node=None, span="1-2"))
    return _score()


def _score(**options: Any) -> cs.RunResult:
    return cs.score("queries.xml", "run.tab", "pool.tab", expand="CSX", **options)


def load(given: Any) -> cs.RunResult:
    loaded = cs.load(given)
    assert isinstance(loaded, cs.RunResult)
    return loaded


# ---- Tables


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


def test_what_there_is_no_table_or_no_package_for_is_said(
    result: cs.RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    for read in (result.rows, result.to_frame):
        with pytest.raises(cs.UsageError, match=r"no table called 'querys'; there are rows, .*did you mean queries"):
            read("querys")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(cs.MissingExtraError, match=r"^this needs the package pandas: pip install 'cs-score\[frames\]'"):
        result.to_frame()


def test_notebooks_show_the_summary_with_every_text_escaped(inputs: Inputs) -> None:
    inputs.run(replace(BO, run_id="<script>alert(1)</script>\x1b[2J"))
    result = cs.score("queries.xml", "run.tab", expand="CSX")
    html = result._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "LDC-MEAN-ALL-Macro" in html
    assert "no file holds assessments" in html
    assert repr(result).startswith(r"<<script>alert(1)</script>\x1b[2J under kb, 1:3: ")
    assert "\x1b" not in html + repr(result)


# ---- Stored and loaded


def assert_same(loaded: cs.RunResult, result: cs.RunResult) -> None:
    for name in "scores_by_run policy justifications errors warnings remarks signature units".split():
        assert getattr(loaded, name) == getattr(result, name), name
    assert [loaded.rows(name) for name in TABLES] == [result.rows(name) for name in TABLES]
    assert (loaded.to_json(), repr(loaded), str(loaded)) == (result.to_json(), repr(result), str(result))
    assert loaded._repr_html_() == result._repr_html_()


def test_a_loaded_result_is_that_which_was_stored(result: cs.RunResult, tmp_path: Path) -> None:
    text = result.to_json()
    path = tmp_path / "result.json"
    path.write_text(text)
    (tmp_path / "result.json.gz").write_bytes(gzip.compress(text.encode()))
    for given_as in (text, path, str(path), io.StringIO(text), tmp_path / "result.json.gz"):
        assert_same(load(given_as), result)


def test_several_runs_another_policy_and_samples(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(BO, replace(BO, run_id="runB", docid="N_ENG_2", node=":E2"))
    inputs.write("samples", f"1 CSX_0001:{BO.query}")
    own = cs.Policy(right=("CORRECT", "INEXACT"), wrong=("INCORRECT",), ignore=())
    for result in (_score(policy=own, justifications="M:M"), _score(policy="sf", samples="samples")):
        assert_same(load(result.to_json()), result)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "^the JSON: line 1, column 2: no JSON: Expecting property name"),
        ("[1]", "^the JSON: no JSON object$"),
        ("{}", "^the JSON: no result of cs-score; a result is what -o FILE.json and to_json make$"),
        ('{"kind": "score", "task": "coldstart"}', "^the JSON: schema_version: is None, where this version of cs"),
        ('{"kind": "score", "task": "coldstart", "schema_version": 5}', "^the JSON: the whole: has no signature$"),
    ],
)
def test_other_json_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(cs.InputError, match=said) as refused:
        load(text)
    assert "\n" not in str(refused.value)


def _places(told: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values of a JSON object."""
    inner = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    return [path, *(place for key, value in inner for place in _places(value, (*path, key)))]


@given(st.data(), st.sampled_from([None, 5, 0.5, "x", [], {}, [None], True]))
def test_a_result_that_was_tampered_with_never_ends_in_a_traceback(data: st.DataObject, value: object) -> None:
    told = json.loads(TEXT)
    *path, last = data.draw(st.sampled_from(_places(told)[1:]))
    place = told
    for key in path:
        place = place[key]
    place[last] = value
    try:
        loaded = load(json.dumps(told))
    except cs.InputError as error:
        said = str(error)
        assert len(said.splitlines()) == 1
        return
    for name in TABLES:
        loaded.rows(name)
    assert loaded._repr_html_()
    assert len(repr(loaded).splitlines()) == 1
    assert cs.Signature.parse(str(loaded.signature)) == loaded.signature


def _small_text() -> str:
    queries = io.BytesIO(f"<query_set>{query_xml()}</query_set>".encode())
    run = io.StringIO("".join(f"{line.text()}\n" for line in (BO, BO.child())))
    return cs.score(queries, run, io.StringIO(BO.judged("1") + "\n"), expand="CSX").to_json()


TEXT: Final = _small_text()


# ---- Written


@pytest.mark.parametrize("follow", EDITIONS)
def test_files_and_report_are_those_of_the_edition(follow: str, inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    line = Line("Zoë", node=None)
    inputs.run(line, line)
    result = _score(follow=follow)
    paths = result.write("out", error_file="errors", fields="EC:RUNID:F", tabs=True)
    contents = {path: Path(path).read_bytes() for path in paths}
    (words,) = re.findall(r"cs-score (.*)", contents.pop("out.params").decode())
    for path in paths:
        Path(path).unlink()
    written = score_in(inputs.folder, ["-error_file", "errors", *shlex.split(words)]).files
    assert written.pop("out.params")
    assert contents == written


def test_inputs_are_never_overwritten(inputs: Inputs) -> None:
    inputs.write("out.sf", BO.judged("1"))
    inputs.run(BO)
    result = cs.score("queries.xml", "run.tab", "out.sf", expand="CSX")
    before = Path("out.sf").read_bytes()
    with pytest.raises(cs.UsageError, match=r"out\.sf is an input; choose another prefix"):
        result.write("out")
    assert Path("out.sf").read_bytes() == before
    assert not Path("out.debug").exists()
