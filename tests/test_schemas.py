"""The schemas of the package, and what is held against them."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.base.documents import KINDS, schema_of
from tests.cli.forms import FORMS, fill
from tests.coldstart.command import score_in
from tests.documents import ROOT, table
from tests.schemas import check, name_of, schemas

HEAD: Final = ("kind", "task")
"""What every document has; more is for its record to say."""


CALLS: Final = {
    "analysis": ("r.json", "analyze --output=r.json SCORED"),
    "explanation": ("r.json", "explain --output=r.json SCORED"),
    "score coldstart": ("r.json", "--json=r.json --bootstrap=9 SCORED"),
    "score claims": ("r.json", "claims --output=r.json --bootstrap=9 CLAIMS"),
    "comparison": ("r.json", "compare coldstart --common --output=r.json SCORED runs/a.tab.txt"),
    "power": ("r.json", "power --sd=2 --difference=1 --units=9 --output=r.json"),
    "pool-bias": ("r.json", "pool-bias --output=r.json SCORED other.tab"),
    "sampled-pool": ("r.json", "score --inclusion=sample.tsv --output=r.json SCORED"),
    "assessors": ("r.json", "compare --second-assessments=qrel --output=r.json --bootstrap=9 SCORED other.tab"),
    "leaderboard": ("b/leaderboard.json", "batch --output=b --jobs=1 --bootstrap=9 SCORED"),
    "batch": ("b/batch.json", "batch --output=b --jobs=1 --bootstrap=9 SCORED"),
    "batch-run": ("b/run/signature.json", "batch --output=b --jobs=1 --problems=p.json SCORED"),
    "score chosen": ("", "score --format=json --bootstrap=9 SCORED"),
    "checks": (
        "asked.json",
        "check --baseline=ours.json --significant --sequential=asked.json --max-drop=SF-AP=0 SCORED",
    ),
    "check": ("", "check --format=json --baseline=ours.json SCORED"),
    "problems": ("r.json", "--problems=r.json SCORED"),
    "problem-codes": ("", "problems --format=json EMPTY_FIELD"),
    "verification": ("r.json", "verify ours.json --output=r.json"),
    "kb-statistics": ("r.json", "validate-kb --json=r.json kb.tac"),
    "analysis claims": ("r.json", "analyze claims --output=r.json CLAIMS"),
    "explanation claims": ("r.json", "explain claims --unit=1 --output=r.json CLAIMS"),
    "difference": ("r.json", "diff --output=r.json --bootstrap=9 SCORED runs/a.tab.txt"),
    "difference claims": (
        "r.json",
        "diff claims --output=r.json --bootstrap=9 --gold=gold.jsonl predictions.jsonl more.jsonl",
    ),
}
"""The file that holds an object of each kind, and the call that writes it; no file is standard output."""


def test_every_kind_of_object_is_called_here() -> None:
    """Those of a kind of documents are a row of CALLS each, `kind` or `kind task`."""
    assert set(schemas()) == {name.partition(" ")[0] for name in CALLS} == {*KINDS}


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one_and_says_what_it_is(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="nothing that the tests write is held against the schemas")
    schema = schemas()[name]
    jsonschema.Draft202012Validator.check_schema(schema)


def test_what_is_called_alike_is_alike_in_all_schemas() -> None:
    """Each stands by itself, so that a reader needs no other."""
    shared = ("line", "note", "resampling", "interval", "intervals", "units", "input", "common", "made_from")
    found: dict[str, Any] = {}
    for schema in schemas().values():
        for name, definition in schema.get("$defs", {}).items():
            if name in shared:
                assert found.setdefault(name, definition) == definition, name


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """An object of each kind."""
    found = {}
    for name, (path, words) in CALLS.items():
        folder = tmp_path_factory.mktemp(name)
        fill(folder)
        words = words.replace("SCORED", "q.xml qrel run.tab")
        words = words.replace("CLAIMS", "--gold=gold.jsonl --predictions=more.jsonl")
        outcome = score_in(folder, words.split())
        found[name] = json.loads((folder / path).read_bytes() if path else outcome.stdout)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_an_object_is_as_its_schema_says_and_no_other_is(name: str, written: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="nothing that the tests write is held against the schemas")
    value, schema = written[name], schemas()[name.partition(" ")[0]]
    value = value["signature"] if name == "score claims" else value
    assert name_of(value) == name.partition(" ")[0]
    check(value)
    for key in schema.get("required", HEAD):
        for changed in ({other: value[other] for other in value if other != key}, {**value, key: object()}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(changed, schema)


def test_a_key_that_no_schema_names_is_noticed(written: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="nothing that the tests write is held against the schemas")
    value = deepcopy(written["score coldstart"])
    value["runs"][0]["tables"]["SF"]["rows"][0]["new"] = 1
    jsonschema.validate(value, schemas()["score"])
    with pytest.raises(jsonschema.ValidationError):
        check(value)
    with pytest.raises(AssertionError, match="no schema describes an object with the keys new"):
        check({"new": 1})


def test_the_documentation_has_all_schemas_with_their_versions() -> None:
    text = (ROOT / "docs" / "reference" / "documents.md").read_text(encoding="utf-8")
    rows = {row["schema"].strip("`"): int(row["version"]) for row in table(text, "schema")}
    for kind in KINDS:
        known = re.findall(r'"schema_version": \{"enum": \[(\d+)\]', json.dumps(schema_of(kind)))
        assert {*map(int, known)} == {rows.pop(kind)}, kind
    assert not rows


def test_the_command_prints_them(tmp_path: Path) -> None:
    listed = score_in(tmp_path, ["schema"]).stdout.decode().split()
    assert listed == list(schemas())
    for name in listed:
        assert json.loads(score_in(tmp_path, ["schema", name]).stdout) == schemas()[name]
    refused = score_in(tmp_path, ["schema", "leaderbord"])
    assert refused.status == FORMS["schema"].wrong_usage
    assert re.search(rb"no schema leaderbord; .*did you mean leaderboard\?", refused.stderr)
