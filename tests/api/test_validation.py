"""Runs validated from Python: the text and the problems of the command."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cs_score as cs
from cs_score.base.records import replace
from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs
from tests.coldstart.lines import Line, query_xml

BO = Line()


@pytest.fixture
def sf_queries(inputs: Inputs) -> Inputs:
    """Slot-filling queries and a run with a line beyond the limits and a confidence without point."""
    inputs.queries(query_xml().replace("CSX_0001", BO.query))
    inputs.run(BO, replace(BO, confidence="0.5"), Line("Cy", "N_ENG_2", "1", ":E2"))
    return inputs


def test_a_validated_run_is_that_of_the_command(sf_queries: Inputs) -> None:
    folder = sf_queries.folder
    words = ["validate-run", "-output_file", "valid.tab", "-error_file", "log", "--problems", "problems.json"]
    outcome = score_in(folder, [*words, "queries.xml", "run.tab"])
    checked = cs.validate_run(folder / "run.tab", folder / "queries.xml")
    assert checked.text.encode() == outcome.files["valid.tab"]
    told = json.loads(outcome.files["problems.json"])["problems"]
    rows = checked.rows()
    keys = ("code", "severity", "line", "text", "repaired", "times")
    assert [[row[key] for key in keys] for row in rows] == [[one[key] for key in keys] for one in told]
    assert (checked.errors, checked.warnings) == (0, len(rows))
    assert repr(checked) == f"<validated run: 2 lines, 0 errors, {len(rows)} warnings>"
    checked.write(folder / "python.tab")
    assert (folder / "python.tab").read_bytes() == outcome.files["valid.tab"]


def test_a_run_with_errors_has_no_text(sf_queries: Inputs) -> None:
    sf_queries.run(BO, replace(BO, confidence="<i>"))
    checked = cs.validate_run(sf_queries.folder / "run.tab", sf_queries.folder / "queries.xml")
    assert checked.errors == 1
    for use in (lambda: checked.text, lambda: checked.write(sf_queries.folder / "new.tab")):
        with pytest.raises(cs.UsageError, match=r"the run has 1 errors, so there is no validated run; rows\(\) lists"):
            use()
    assert not (sf_queries.folder / "new.tab").exists()
    assert "<i>" not in checked._repr_html_()
    assert "&lt;i&gt;" in checked._repr_html_()


def test_arguments_are_checked(sf_queries: Inputs) -> None:
    run, queries = sf_queries.folder / "run.tab", sf_queries.folder / "queries.xml"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"run": []}, "validate_run takes at least one run file and one query file"),
        ({"run": 5}, "run takes paths or open files, not 5"),
        ({"justifications": "x"}, "must be of the form A:B"),
        ({"depth": "C:1"}, "depth"),
        ({"documents": 5}, "documents takes a path, not 5"),
    ]
    for options, said in cases:
        with pytest.raises(cs.UsageError, match=said):
            cs.validate_run(**({"run": run, "queries": queries} | options))
    with pytest.raises(cs.UsageError, match="is an input; choose another path"):
        cs.validate_run(run, queries).write(run)
