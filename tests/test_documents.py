"""The one reader of JSON: what it refuses, and the place that it names."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from cs_score.analysis.outcomes import json_text as found_json
from cs_score.base.documents import (
    DEEPEST,
    Document,
    checked_record,
    document_in,
    failures_as_input_error,
    json_text,
    parse_json,
    read_document,
)
from cs_score.base.errors import InputError
from cs_score.base.signature import Origin
from cs_score.base.sources import InputDigest, read_delimited
from tests.growth import assert_grows_in_proportion, assert_steps_grow_in_proportion

_IN_TWO = '{"signature": {"inputs": [1,\n {"name": "a", "size": 2, "name": "b"}]}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [0, NaN]}', "f: a[1]: no JSON: NaN is no number of JSON"),
        ('{"a": {"b": -Infinity}}', "f: a.b: no JSON: -Infinity is no number of JSON"),
        ('{"a": [{"b": 1e400}]}', "f: a[0].b: no JSON: 1e400 is too large a number"),
        ('{"a": -1e999}', "f: a: no JSON: -1e999 is too large a number"),
        (f'{{"a": {"1" * 400}}}', "f: a: no JSON: a number of 400 characters is too large a number"),
        (f'{{"a": {"1" * 5000}}}', "f: a: no JSON: a number of 5000 characters is too large a number"),
        (_IN_TWO, "f: signature.inputs[1]: no JSON: an object has two members 'name'"),
        ('{"a": 1, "a": 1}', "f: no JSON: an object has two members 'a'"),
        ('{"a":\n  x}', "f: line 2, column 3: no JSON: Expecting value"),
        ("", "f: line 1, column 1: no JSON: Expecting value"),
        ("[1]", "f: no JSON object"),
        (b'{"\xe9": 1}', "f: byte 3: not UTF-8"),
        (
            '{"a]]]": \n' + "[" * 100_000,
            "f: line 2, column 50: no JSON that can be read: it is nested more than 50 levels",
        ),
        ('{"a": ' * 60 + "1" + "}" * 60, "f: line 1, column 301: no JSON that can be read: it is nested more than 50"),
    ],
)
def test_what_is_refused_is_named_with_its_place(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as refused:
        document_in(text, "f")
    assert str(refused.value).startswith(message)


def test_what_json_allows_is_read_as_it_is() -> None:
    deep: object = 1
    for _ in range(DEEPEST - 1):
        deep = [deep]
    told = {"deep": deep, "surrogate": "\udcff", "small": 1e-400, "large": 1.5e308, "whole": 10**200, "none": None}
    assert document_in(json.dumps(told), "f") == told
    assert parse_json(b"[true, -0.0]", "f") == [True, 0.0]


def test_a_file_is_called_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{")
    with pytest.raises(InputError) as refused:
        read_document(path)
    assert refused.value.file == str(path)


class _Counts(Document, frozen=True, kw_only=True, tag="counts"):
    schema_version: Literal[2] = 2
    counts: dict[str, float]


def test_a_document_is_read_as_it_was_written() -> None:
    origin = Origin("claims", {"a": [1]}, (InputDigest("g", "0" * 64, "gold"),), ("claims",), "F1")
    counts = _Counts(task="claims", signature=str(origin.signature), origin=origin, counts={"a\udcff": 1e-05})
    text = json_text(counts)
    assert list(json.loads(text)) == ["kind", "schema_version", "task", "signature", "origin", "counts"]
    assert text.endswith("}\n")
    assert '"a\\udcff": 1e-05' in text
    assert checked_record(document_in(text, "f"), _Counts, "f") == counts


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kind": "scores"}, "f: kind: is no counts that cs-score wrote"),
        ({"schema_version": 1}, "f: schema_version: is 1, where this version of cs-score reads 2"),
        ({"counts": {"a": 1, "b": "2"}}, "f: counts[...]: Expected `float`, got `str`"),
        ({"task": None}, "f: task: Expected `str`, got `null`"),
        ({"origin": {"task": "claims"}}, "f: origin: has no options"),
    ],
)
def test_what_is_no_document_of_its_kind_is_refused_with_the_place(changed: dict[str, object], message: str) -> None:
    value = {"kind": "counts", "schema_version": 2, "task": "claims", "counts": {}, **changed}
    with pytest.raises(InputError) as refused:
        checked_record(value, _Counts, "f")
    assert str(refused.value).startswith(message)


class _Nested(Document, frozen=True, kw_only=True, tag="nested"):
    schema_version: Literal[1] = 1
    entries: list[_Counts]
    state: Literal["ok", "failed"] = "ok"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"\ud800": 1}, "f: the whole: '\\\\ud800' is no Unicode text"),
        ({"state": "\ud800"}, "f: state: '\\\\ud800' is no Unicode text"),
        ({"entries": [{"kind": "counts", "task": "a", "counts": {}, "\ud800": 1}]}, "f: entries[0]: '\\\\ud800' is no"),
    ],
)
def test_a_single_surrogate_where_no_name_of_a_file_can_be(changed: dict[str, object], message: str) -> None:
    value = {"kind": "nested", "schema_version": 1, "task": "claims", "entries": [], **changed}
    with pytest.raises(InputError) as refused:
        checked_record(value, _Nested, "f")
    assert str(refused.value).replace("\\\\", "\\").startswith(message.replace("\\\\", "\\"))


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_number_that_is_not_finite_is_written_nowhere(number: float) -> None:
    counts = _Counts(task="claims", counts={"a": 1.0, "b": number})
    for write in (json_text, lambda document: "".join(found_json(document))):
        with pytest.raises(InputError) as refused:
            write(counts)
        assert str(refused.value).startswith("counts.b: a number of the result is not finite") or (
            str(refused.value).startswith("b: a number of the result is not finite")
        )


def test_what_fails_while_a_document_is_shown_is_called_by_its_file() -> None:
    with (
        pytest.raises(InputError, match="f: no whole document of cs-score: it has no 'b'"),
        failures_as_input_error("f"),
    ):
        _ = {"a": 1}["b"]


def test_a_name_that_is_repeated_among_many_is_found_in_one_pass() -> None:
    def prepared(size: int) -> Callable[[], object]:
        text = "{" + ",".join(f'"n{number}":1' for number in [*range(size), size - 1]) + "}"

        def refused() -> None:
            with pytest.raises(InputError, match=f"two members 'n{size - 1}'"):
                document_in(text, "f")

        return refused

    assert_steps_grow_in_proportion(prepared, 200)
    assert_grows_in_proportion(prepared, 4000)


def test_many_columns_are_checked_in_one_pass(tmp_path: Path) -> None:
    def prepared(size: int) -> Callable[[], object]:
        path = tmp_path / f"{size}.tsv"
        path.write_text("\t".join(f"c{number}" for number in range(size)) + "\n")
        return lambda: read_delimited(path)

    assert_grows_in_proportion(prepared, 4000)
