"""The schemas of the package, and what is held against them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cs_score.base.documents import KINDS, schema_of
from tests.cli.forms import FORMS, fill
from tests.coldstart.command import score_in
from tests.documents import ROOT, table
from tests.schemas import check, schemas


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one_and_says_what_it_is(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="nothing that the tests write is held against the schemas")
    schema = schemas()[name]
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "words",
    [
        "analyze SCORED", "explain SCORED", "diff --bootstrap=9 SCORED runs/a.tab.txt", "problems EMPTY_FIELD",
        "compare --second-assessments=qrel --bootstrap=9 SCORED other.tab", "score --inclusion=sample.tsv SCORED",
        "report --aggregate-only SCORED", "check --write-lock=l.json --min=SF-AP=0 q.xml qrel",
    ],
)  # fmt: skip
def test_an_object_is_as_its_schema_says(words: str, tmp_path: Path) -> None:
    """Other kinds are written by calls of other tests, which look at all that they write."""
    fill(tmp_path)
    outcome = score_in(tmp_path, [*words.replace("SCORED", "q.xml qrel run.tab").split(), "--format=json"])
    check(json.loads(outcome.stdout))


def test_a_key_that_no_schema_names_is_noticed(tmp_path: Path) -> None:
    """What commands of other tests write is looked at so."""
    jsonschema = pytest.importorskip("jsonschema", reason="nothing that the tests write is held against the schemas")
    fill(tmp_path)
    value = json.loads(score_in(tmp_path, ["score", "--format=json", "q.xml", "qrel", "run.tab"]).stdout)
    check(value)
    value["runs"][0]["new"] = 1
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
