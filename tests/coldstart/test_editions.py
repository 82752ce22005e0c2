"""Editions: their names and defaults, what each refuses, and laws between them. Their bytes are recorded cases."""

from __future__ import annotations

import re

import pytest

import cs_score
from cs_score.base.errors import UsageError
from cs_score.coldstart.options import EDITIONS, Edition, Options, edition_of
from cs_score.coldstart.queries import follow_on_id
from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs, row
from tests.coldstart.lines import SCHOOLS, Line
from tests.documents import ROOT

ANN, BO = Line("Ann", "N_ENG_1", node=None), Line("Bo", "N_ENG_2", node=None)
OLD = [name for name, edition in EDITIONS.items() if edition.reports_before_scoring]


def without_types(pool: str) -> str:
    """Assessments of ten columns as those of eight."""
    rows = (line.split("\t") for line in pool.splitlines())
    return "".join("\t".join((*row[:6], *row[7:9])) + "\n" for row in rows)


def test_a_name_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no edition 2017\.2 to follow; there are 3\.0, 2017\.1\.5, 2017\.2\.0"):
        Options(follow="2017.2")
    with pytest.raises(UsageError, match="no --mention-types names; there are as-given, assume-name"):
        Options(mention_types="names")
    for name in OLD:
        with pytest.raises(UsageError, match=f"{name} scores pools without mention types as they are"):
            edition_of(name, "assume-name")
    assert Options(follow="2017.1.6") == Options(follow="2017.1.5")


@pytest.mark.rule("untyped-pools")
def test_a_pool_without_types_scores_nothing_and_says_both_ways_out(inputs: Inputs) -> None:
    inputs.write("pool.tab", without_types(ANN.judged("1")))
    inputs.run(ANN)
    scored = inputs.score()
    assert row(scored, ANN.query).scores[2] == 0
    assert b"--follow 3.0" in scored.outcome.stderr
    assert b"--mention-types assume-name" in scored.outcome.stderr
    for way_out in (("--follow", "3.0"), ("--follow", "2017.1.5"), ("--mention-types", "assume-name")):
        assert row(inputs.score(*way_out), ANN.query).scores[2] == 1, way_out


def test_a_nominal_answer_is_ignored_beside_a_name_of_its_node_in_2016_only(inputs: Inputs) -> None:
    """One row of eight columns is one node: since October 2017 one name in it keeps all its answers."""
    inputs.pool(ANN.judged("1"), BO.judged("2", mention="NOM"))
    inputs.run(ANN, BO)
    words = ("diff", "--follow-b", "3.0", "--measure", "SF-ALL-Micro-R", "-expand", "CSX")
    outcome = score_in(inputs.folder, (*words, "queries.xml", "run.tab", "pool.tab"))
    assert outcome.status == 0, outcome.stderr
    assert [said for said in (b"edition 3.0", b"1.0000", b"-0.5000") if said not in outcome.stdout] == []
    queries, run, pool = (inputs.folder / name for name in ("queries.xml", "run.tab", "pool.tab"))
    result = cs_score.score(queries, run, pool, expand="CSX", follow="3.0")
    assert (result.scores["SF-ALL-Micro-R"], "SF-AP" in result.scores) == (0.5, False)
    assert "follow=3.0" in str(result.signature)


def test_what_an_edition_lacks_is_refused_by_name(inputs: Inputs) -> None:
    inputs.pool(ANN.judged("1"))
    inputs.run(ANN)
    for words in (("score", "--measure", "SF-AP"), ("analyze", "--measure", "SF-AP"), ("check", "--min", "SF-AP=0.5")):
        outcome = score_in(
            inputs.folder, (*words, "--follow", "3.0", "-expand", "CSX", "queries.xml", "run.tab", "pool.tab")
        )
        assert outcome.status == 2, words
        assert b"version 3.0 has no average precision; 2017.1.5, 2017.2.0 have it" in outcome.stderr


@pytest.mark.parametrize(("follow", "other"), [("2017.2.0", "3.0"), ("3.0", "2017.2.0")])
def test_ids_of_another_edition_are_recognised(follow: str, other: str, inputs: Inputs) -> None:
    """The ids of follow-on queries differ where letters stand outside ASCII: the file is sound, its edition another."""
    parent = Line("Zoë", "N_ENG_1", node=None)
    asked = follow_on_id(parent.query, "Zoë", "N_ENG_1:3-5", edition_of(other))
    inputs.pool(parent.judged("1"))
    inputs.run(parent, Line("Sch", "N_ENG_1", node=None, query=f"{parent.query}_{asked}", slot=SCHOOLS))
    assert f"are those of --follow {other} here" in inputs.refusal("--follow", follow)


def test_the_page_of_editions_names_rules() -> None:
    page = (ROOT / "docs" / "guides" / "earlier-years.md").read_text(encoding="utf-8")
    rows = [row.split("|") for row in page.splitlines() if row.count("|") == 6]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[5])}
    assert named == {"policy", *Edition.__struct_fields__} - {"name", "evaluation", "wrong", "ignore"}


def test_explanations_name_the_rule_of_the_edition() -> None:
    folder = ROOT / "tests" / "coldstart" / "golden" / "y30_probe_nominal_each"
    call = ["explain", "--follow", "3.0", "-expand", "CSX", "--line", "1", "queries.xml", "pool.tab", "run.tab"]
    text = " ".join(score_in(folder, call).stdout.decode().split())
    assert "right, but ignored: NOM of a NAM class; 3.0 looks at each line by itself" in text
    assert "ignored, since descriptions of what has a name are ignored" in text
