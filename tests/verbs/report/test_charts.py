"""Charts as SVG: what they say to readers who do not see them, and what reaches a file for papers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from cs_score.pages.charts import WIDTH, Bar, Caption, Dots, bar_chart, dot_chart
from tests.coldstart.command import score_in
from tests.verbs.report.analyses import HOSTILE, analysis, done, write

KINDS = ("budget", "cumulated", "groups", "sweep", "reliability", "precision", "confusions")
SVG = "{http://www.w3.org/2000/svg}"


def chart_in(folder: Path, kind: str, value: dict[str, Any], *more: str) -> Any:
    write(folder, value)
    (folder / "c.svg").unlink(missing_ok=True)
    return etree.fromstring(
        done(score_in(folder, ["plot", kind, "analysis.json", *more, "-o", "c.svg"])).files["c.svg"]
    )


def texts(chart: Any) -> list[str]:
    return [text.text for text in chart.iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_has_names_and_a_text_alternative_and_stays_in_its_frame(kind: str, tmp_path: Path) -> None:
    chart = chart_in(tmp_path, kind, analysis())
    assert chart.get("role") == "img"
    title, description = (chart.find(f"{SVG}{tag}") for tag in ("title", "desc"))
    assert chart.get("aria-labelledby").split() == [title.get("id"), description.get("id")]
    assert len(title.text) > 5
    assert re.search(r"\d\.\d", description.text)
    assert len([text for text in chart.iter(f"{SVG}text") if text.get("class") == "axis-title"]) == 2
    hostile = chart_in(tmp_path, kind, analysis(30, HOSTILE))
    _, _, width, height = map(float, hostile.get("viewBox").split())
    for element in hostile.iter():
        for name, most in (("x", width), ("x1", width), ("x2", width), ("y", height), ("y1", height), ("y2", height)):
            assert 0 <= float(element.get(name, 0)) <= most
        assert element.get("style") is None
    assert not re.search("[\u202e\x07]", "".join(hostile.itertext()))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["groups", "--of", "hops"], "no chart groups of hops; there are slot, hop; did you mean hop?"),
        (["budgets"], "no chart called budgets; there are budget"),
        (["reliability"], "there is nothing for the chart reliability to show"),
        (["contributions"], "there is nothing for the chart contributions to show"),
    ],
)
def test_a_chart_that_there_is_not(words: list[str], complaint: str, tmp_path: Path) -> None:
    value = analysis()
    value["reliability"]["bins"] = []
    write(tmp_path, value)
    outcome = score_in(tmp_path, ["plot", *words[:1], "analysis.json", *words[1:], "-o", "c.svg"])
    assert outcome.status in (1, 2)
    assert outcome.files == {}
    assert outcome.stderr.decode().startswith(f"cs-score: {complaint}")


@pytest.mark.parametrize("words", [["-o", "c.pdf"], ["-o", "c.png"], ["--format", "png", "-o", "c.svg"]])
def test_other_images_are_made_of_svg_by_other_programs(words: list[str], tmp_path: Path) -> None:
    outcome = score_in(tmp_path, ["plot", "budget", "analysis.json", *words])
    assert outcome.status == 2
    assert "inkscape c.svg -o c.p" in outcome.stderr.decode()
    assert "-o c.svg" in outcome.stderr.decode()


def test_a_file_has_its_title_and_a_margin(tmp_path: Path) -> None:
    chart = chart_in(tmp_path, "budget", analysis())
    (title,) = (text for text in chart.iter(f"{SVG}text") if text.get("class") == "title")
    assert title.text == chart.findtext(f"{SVG}title")
    _, _, width, _height = map(float, chart.get("viewBox").split())
    assert width > WIDTH
    (group,) = chart.findall(f"{SVG}g")
    left, top = map(float, re.findall(r"[\d.]+", group.get("transform")))
    assert left == width - WIDTH - left
    assert top > float(title.get("y"))


def test_points_of_reliability_have_the_number_of_their_answers(tmp_path: Path) -> None:
    value = analysis()
    chart = chart_in(tmp_path, "reliability", value)
    counts = [str(row["lines"]) for row in value["reliability"]["bins"]]
    notes = [text.text for text in chart.iter(f"{SVG}text") if text.get("class") == "note"]
    assert notes == counts


def test_markers_of_equal_scores_do_not_hide_each_other() -> None:
    row = Dots("slot", {"Precision": 0.5, "Recall": 0.5, "F1": 0.5})
    drawing = etree.fromstring(dot_chart(Caption("name", "Title", "score", "slot"), [row, row]).svg())
    transforms = [path.get("transform") or "" for path in drawing.iter(f"{SVG}path")]
    moved = [transform for transform in transforms if transform]
    places = [tuple(map(float, re.findall(r"-?[\d.]+", transform))) for transform in moved[3:]]  # behind the legend
    for x, y in places:
        near = [other for other in places if abs(other[0] - x) < 7 and abs(other[1] - y) < 7]
        assert near == [(x, y)]


def test_negative_numbers_have_minus_signs() -> None:
    rows = [Bar("q-1", 0.0, -0.25, "-0.2500"), Bar("q2", 0.0, 0.25, "+0.2500")]
    drawing = etree.fromstring(bar_chart(Caption("name", "Title", "B - A in AP", "unit"), rows).svg())
    shown = texts(drawing)
    assert {"\u22120.2500", "+0.2500", "B \u2212 A in AP", "q-1"} <= set(shown)
    assert not any(text.startswith("-") for text in shown)
