"""Results stored as JSON and loaded again: the same scores, records and signature; anything else is one clear line."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cs_score as cs
from cs_score.base.records import replace
from tests.api.test_frames import TABLES
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line, query_xml

BO = Line()


@pytest.fixture
def result(inputs: Inputs) -> cs.RunResult:
    """Two runs with a follow-on, a response that is not assessed, odd characters, and problems."""
    inputs.queries(query_xml(), query_xml(2, docids=("N_ENG_R",)))
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    odd = Line("\U0001f600 \u2028 \x7f", "N_ENG_2", "2e-1", ":E2", span="N_ENG_2:1-2,N_ENG_3:1-2")
    inputs.run(BO, BO.child(), odd)
    return _score(inputs)


def _score(inputs: Inputs, **options: Any) -> cs.RunResult:
    folder = inputs.folder
    return cs.score(folder / "queries.xml", folder / "run.tab", folder / "pool.tab", expand="CSX", **options)


def load(given: Any) -> cs.RunResult:
    loaded = cs.load(given)
    assert isinstance(loaded, cs.RunResult)
    return loaded


def assert_same(loaded: cs.RunResult, result: cs.RunResult) -> None:
    assert loaded.scores_by_run == result.scores_by_run
    assert (loaded.policy, loaded.justifications) == (result.policy, result.justifications)
    assert (loaded.errors, loaded.warnings, loaded.remarks) == (result.errors, result.warnings, result.remarks)
    assert loaded.signature == result.signature
    for name in TABLES:
        assert loaded.rows(name) == result.rows(name)
    assert loaded.to_json() == result.to_json()
    assert repr(loaded) == repr(result)
    assert str(loaded) == str(result)
    assert loaded._repr_html_() == result._repr_html_()


def test_a_loaded_result_is_that_which_was_stored(result: cs.RunResult, tmp_path: Path) -> None:
    text = result.to_json()
    assert_same(load(text), result)
    path = tmp_path / "result.json"
    path.write_text(text)
    assert_same(load(path), result)
    assert_same(load(str(path)), result)
    assert_same(load(io.StringIO(text)), result)
    (tmp_path / "result.json.gz").write_bytes(gzip.compress(text.encode()))
    assert_same(load(tmp_path / "result.json.gz"), result)


def test_several_runs_another_policy_and_samples(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(BO, replace(BO, run_id="runB", docid="N_ENG_2", node=":E2"))
    inputs.write("samples", f"1 CSX_0001:{BO.query}")
    own = cs.Policy(right=("CORRECT", "INEXACT"), wrong=("INCORRECT",), ignore=())
    options: list[dict[str, Any]] = [
        {"policy": own, "justifications": "M:M"},
        {"policy": "sf", "samples": inputs.folder / "samples"},
    ]
    for chosen in options:
        result = _score(inputs, **chosen)
        assert_same(load(result.to_json()), result)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "^the JSON: line 1, column 2: no JSON: Expecting property name"),
        ("[1]", "^the JSON: no JSON object$"),
        ('{"a": NaN}', "^the JSON: a: no JSON: NaN is no number"),
        ("{}", "^the JSON: no result of cs-score; a result is what -o FILE.json and to_json make$"),
        ('{"kind": "score", "task": "coldstart"}', "^the JSON: schema_version: is None, where this version of cs"),
        ('{"kind": "score", "task": "coldstart", "schema_version": 4}', "^the JSON: the whole: has no signature$"),
        ("[" * 100_000, "^the JSON: line 1, column 51: no JSON that can be read: it is nested more than 50 levels"),
        ('{"runs": [{"score": 1e400}]}', r"^the JSON: runs\[0\]\.score: no JSON: 1e400 is too large a number$"),
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
    lines = (f"{line.text()}\n" for line in (BO, BO.child()))
    pool = io.StringIO(BO.judged("1") + "\n")
    return cs.score(queries, io.StringIO("".join(lines)), pool, expand="CSX").to_json()


TEXT = _small_text()
