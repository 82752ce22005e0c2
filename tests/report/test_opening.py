"""What opens on a page: lines, queries, classes and nodes as `explain` tells them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.evidence.test_command import EXAMPLES, files
from tests.report.analyses import HOSTILE, SHOWN, analysis, column, done, page_in, parsed, told_in

RUN = [
    "-expand",
    "ISLE26",
    "--policy",
    "kb",
    "queries/ldc-queries.xml",
    "submissions/tide-kb.tab.txt",
    "assessments/pool-2016.tab",
]


def openings(page: bytes, table: str, key: str) -> list[tuple[str, str | None]]:
    """The texts of a column, each with the number of what it opens."""
    return [(cell.text_content(), cell.get("data-open")) for cell in column(parsed(page), table, key)]


def texts_of(told: dict[str, Any], number: int) -> list[str]:
    return [told["texts"][step] for step in told["entries"][number][1]]


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample run, its analysis and its page."""
    folder = tmp_path_factory.mktemp("run")
    for name in ("queries", "submissions", "assessments"):
        shutil.copytree(ROOT / name, folder / name)
    done(score_in(folder, ["analyze", *RUN, "-o", "a.json"]))
    done(score_in(folder, ["report", "a.json", "-o", "page.html"]))
    return folder


def test_every_line_opens_the_text_of_explain(analysed: Path) -> None:
    value = json.loads((analysed / "a.json").read_bytes())
    lines, texts = value["explanations"]["lines"], value["explanations"]["texts"]
    wrong = {(row["file"], row["line"]) for row in value["mistakes"] if row["kind"] == "line"}
    words = [word for line in lines for word in ("--line", str(line["line"]))]
    explained = done(score_in(analysed, ["explain", *words, *RUN])).stdout.decode().split("\n\n")
    done(score_in(analysed, ["explain", *words, *RUN, "-o", "e.json"]))
    assert len(explained) == len(lines) > 10
    for line, text in zip(lines, explained):
        head, *steps = text.splitlines()
        assert head.startswith(f"{line['file']} line {line['line']}: {line['side']}")
        told = "\n".join(texts[step] for step in line["steps"])
        known = text if (line["file"], line["line"]) in wrong else text.partition("\n  Effect:")[0]
        assert _words(told) == _words("\n".join(known.splitlines()[1:]))
        assert len(steps) >= len(told.splitlines())


def _words(text: str) -> list[str]:
    return text.split()


def test_a_query_opens_its_lines_and_missed_classes(analysed: Path) -> None:
    page = (analysed / "page.html").read_bytes()
    value, told = json.loads((analysed / "a.json").read_bytes()), told_in(page)
    explanations = value["explanations"]
    shown = dict(openings(page, "units", "unit"))
    assert set(shown) == {query["query"] for query in explanations["queries"]}
    for query in explanations["queries"]:
        head, _, groups, svg = told["entries"][int(shown[query["query"]] or "")]
        assert head == query["query"]
        members = dict(groups)
        own = [line for line in explanations["lines"] if line["query"] == query["query"]]
        assert len(members.get("Lines", ())) == len(own) == sum(query["lines"].values())
        assert len(members.get("Missed classes", ())) == sum(
            each["query"] == query["query"] for each in explanations["classes"]
        )
        assert bool(svg) == any(query["precision_at"].values())


@pytest.mark.parametrize("mode", EXAMPLES)
def test_every_unit_of_predictions_opens_how_it_was_scored(mode: str, tmp_path: Path) -> None:
    for source, name in zip(files(mode), ("gold", "predictions")):
        shutil.copy(source, tmp_path / name)
    given = [mode, "--gold", "gold", "--predictions", "predictions"]
    page = score_in(tmp_path, ["report", *given, "-o", "page.html"]).files["page.html"]
    told, shown = told_in(page), openings(page, "units", "unit")
    assert shown
    for unit, number in shown:
        words = ["explain", *given, "--format", "json", "--unit", unit.partition(" (")[0]]
        explained = json.loads(score_in(tmp_path, words).stdout)["units"]
        (text,) = texts_of(told, int(number or ""))
        assert text.splitlines() in [each["lines"] for each in explained]
    assert {unit for unit, _ in openings(page, "mistakes", "unit")} <= {unit for unit, _ in shown}


def test_hostile_text_is_packed_as_people_are_to_see_it(tmp_path: Path) -> None:
    value = analysis(9, HOSTILE)
    value["explanations"]["texts"][0] += f"\n  {HOSTILE}"
    told = told_in(page_in(tmp_path, value))
    everything = json.dumps(told, ensure_ascii=False)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x07]", everything)
    heads = {head for head, *_ in told["entries"]}
    assert f"wrong (INCORRECT): {SHOWN}, {SHOWN} line 1" in heads
