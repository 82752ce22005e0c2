"""What is found of results from Python: byte by byte what the command prints, and the same when it is read back."""

from __future__ import annotations

import html
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from cs_score.api.arguments import resampling_of
from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.evidence.test_command import files
from tests.schemas import check

SWITCHES: Final = ("-expand", "ISLE26", "-queries", "queries/queryids.txt")
GOLD: Final = ("queries/ldc-queries.xml", "assessments/pool-2016.tab")
KB, SF = "submissions/tide-kb.tab.txt", "submissions/gull-sf.tab.txt"
INCLUSION, SECOND = "assessments/inclusion-2016.tsv", "assessments/pool-2016-second.tab"
NAMES: Final = ("TIDE_KB", "GULL_SF")
"""What the command calls both runs: their run ids."""
OWN: Final = cs.Policy(("CORRECT", "INEXACT"), ("INCORRECT",))
FACTS: Final = tuple(map(str, files("scifact")))


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def run_of(name: str = KB, pool: str = GOLD[1]) -> cs.RunResult:
    return cs.prepare(GOLD[0], pool, expand="ISLE26", query_ids=SWITCHES[-1]).score(name)


def runs() -> dict[str, cs.RunResult]:
    return {name: run_of(file) for name, file in zip(NAMES, (KB, SF))}


def printed(*words: str) -> str:
    outcome = score_in(ROOT, words)
    assert outcome.status == 0, outcome.stderr
    return outcome.stdout.decode()


def without_options(text: str) -> str:
    """What a command prints but for the paragraph that names its options."""
    before, hint, after = text.partition("\n\n--all shows ")
    if not hint:
        return text
    _, gap, rest = after.partition("\n\n")
    return f"{before}{gap}{rest}" if gap else f"{before}\n"


FOUND: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "<analysis of TIDE_KB: SF-AP 0.": (
        lambda: cs.analyze(run_of(), "SF-AP", also_policy={"own": OWN}, by="slot,hop", bootstrap=9, seed=3, top=4),
        f"analyze {KB} --bootstrap 9 --seed 3 --measure SF-AP --by slot,hop --top 4 "
        "--also-policy own:right=CORRECT:INEXACT,wrong=INCORRECT",
    ),
    "<analysis of scifact: ": (lambda: cs.analyze(cs.scifact(*FACTS)), "analyze scifact"),
    "<explanation of TIDE_KB: 7 lines, 2 queries, 0 classes, 1 nodes>": (
        lambda: run_of().explain("ISLE26_0002", line=[7, "tide-kb.tab.txt:14"], node=":E20", answer="Corin*"),
        f"explain {KB} --line 7 --line tide-kb.tab.txt:14 --unit ISLE26_0002 --node :E20 --answer Corin*",
    ),
    "<explanation of scifact: 1 units>": (lambda: cs.scifact(*FACTS).explain(7), "explain scifact --unit 7"),
    "<SF-ALL-Micro-F1: GULL_SF - TIDE_KB = ": (
        lambda: cs.diff(run_of(), run_of(SF), "SF-ALL-Micro-F1", names=NAMES, bootstrap=9, top=3),
        f"diff {KB} {SF} --measure SF-ALL-Micro-F1 --bootstrap 9 --top 3",
    ),
    "<LDC-MEAN-AP: policy sf - as given = ": (
        lambda: cs.diff(run := run_of(), run.rescore("sf"), names=("as given", "policy sf"), bootstrap=9),
        f"diff {KB} --policy-b sf --bootstrap 9",
    ),
    "<comparison of TIDE_KB, GULL_SF: ": (lambda: cs.compare(runs(), bootstrap=9), f"compare {KB} {SF} --bootstrap 9"),
    "<sampled pool, SF-ALL-Micro-P: TIDE_KB ": (
        lambda: cs.sampled_pool({"TIDE_KB": run_of(), "GULL_SF": run_of(SF)}, INCLUSION, confidence=90),
        f"compare {KB} {SF} --inclusion {INCLUSION} --bootstrap 9 --confidence 90",
    ),
    "<two assessors of 2 runs: tau-b -1.0000>": (
        lambda: cs.assessors(
            *({"TIDE_KB": run_of(KB, pool), "GULL_SF": run_of(SF, pool)} for pool in (GOLD[1], SECOND))
        ),
        f"compare {KB} {SF} --second-assessments {SECOND}",
    ),
    "<pool bias": (
        lambda: cs.pool_bias(GOLD[0], [KB, SF], GOLD[1], expand="ISLE26", query_ids=SWITCHES[-1]),
        f"pool-bias {KB} {SF}",
    ),
    "<power of a paired test: standard deviation 2, needed 34>": (
        lambda: cs.power(sd=2.0, difference=1.0),
        "power --sd 2 --difference 1",
    ),
}
"""How it is shown as an object, how it is made, and the command."""


def words_of(call: str) -> list[str]:
    verb, *words = call.split()
    if verb == "power":
        return [verb, *words]
    if words[0] == "scifact":
        return [verb, "scifact", "--gold", FACTS[0], "--predictions", FACTS[1], *words[1:]]
    return [verb, *SWITCHES, *GOLD, *words]


@pytest.mark.parametrize("shown", FOUND)
def test_what_is_found_is_what_the_command_prints_and_is_read_back(shown: str, tmp_path: Path) -> None:
    make, call = FOUND[shown]
    found, words = make(), words_of(call)
    assert repr(found).startswith(shown)
    assert f"{found}\n" == without_options(printed(*words))
    assert found.to_json() == printed(*words, "--format=json")
    (tmp_path / "found.json").write_text(found.to_json())
    again: Any
    for again in (cs.load(tmp_path / "found.json"), pickle.loads(pickle.dumps(found))):
        assert type(again) is type(found)
        assert (again.to_json(), repr(again), again.tables) == (found.to_json(), repr(found), found.tables)
        assert again._repr_html_() == found._repr_html_()
        assert str(again) == str(found) or "--top" in words
        if hasattr(found, "report"):
            assert again.report().html == found.report().html
    for name in found.tables:
        pytest.importorskip("pandas")
        rows, frame = found.rows(name), found.to_frame(name)
        assert len(rows) == len(frame)
        assert not rows or list(rows[0]) == list(frame.columns)
        cited = {key: value for key, value in json.loads(found.to_json()).items() if key in frame.attrs}
        assert frame.attrs == cited


def test_members_of_documents_are_attributes() -> None:
    analysis = cs.analyze(run_of())
    told = json.loads(analysis.to_json())
    found = (analysis.task, analysis.measure, analysis.score, dict(analysis.scores), str(analysis.signature))
    assert found == tuple(told[name] for name in ("task", "measure", "score", "scores", "signature"))
    assert (analysis.scenarios, analysis.best) == (told["scenarios"], told["best"])
    difference = cs.diff(run_of(), run_of(SF), bootstrap=9)
    told = json.loads(difference.to_json())
    assert (difference.a, difference.b, difference.difference) == (told["a"], told["b"], told["difference"])
    assert (difference.names, difference.notes) == (("A", "B"), tuple(note["text"] for note in told["notes"]))
    assert difference.to_frame()["contribution"].sum() == pytest.approx(difference.difference, abs=1e-12)
    compared = cs.compare(runs(), bootstrap=9)
    told = json.loads(compared.to_json())
    check(told)
    assert (compared.systems, compared.units) == (NAMES, told["units"])
    assert [row["score"] for row in compared.rows()] == [
        system["score"] for measure in told["measures"] for system in measure["systems"]
    ]


def test_rows_are_the_tables_of_the_command(tmp_path: Path) -> None:
    analysis = cs.analyze(run_of())
    printed("analyze", *SWITCHES, "--format", "tsv", "-o", str(tmp_path / "tables"), *GOLD, KB)
    assert {f"{name}.tsv" for name in analysis.tables} == {path.name for path in (tmp_path / "tables").iterdir()}
    for name in analysis.tables:
        head, *lines = (tmp_path / "tables" / f"{name}.tsv").read_text().splitlines()
        assert list(analysis.to_frame(name).columns) == head.split("\t")
        assert len(analysis.rows(name)) == len(lines)
    assert [row["gain"] for row in analysis.rows()] == [
        row["gain"] for row in json.loads(analysis.to_json())["mistakes"]
    ]


def test_what_cannot_be_found_is_wrong_usage() -> None:
    run, facts = run_of(), cs.scifact(*FACTS)
    stored: Any = cs.load(run.to_json())
    call: Any = cs
    two = {"a": run, "b": run_of(SF)}
    for asked, said in (
        (lambda: call.analyze(stored), "analyze needs the lines of the run, which JSON does not hold"),
        (lambda: call.diff(run, stored), "diff needs the lines of the run"),
        (lambda: stored.explain(line=1), "explain needs the lines of the run"),
        (lambda: stored.report(), "report needs the lines of the run"),
        (lambda: call.compare({**two, "b": stored}), "compare needs the lines of the run"),
        (lambda: call.analyze(run, "chess"), "no measure called chess"),
        (lambda: run.report("chess"), "no measure called chess"),
        (lambda: run.explain(line=1, measure="F2"), "F2"),
        (lambda: call.analyze(run, top=0), "top takes a number from 1, not 0"),
        (lambda: call.analyze(run, also_policy="nosuch"), "no such preset"),
        (lambda: call.analyze(run, by="slot,moon"), "moon"),
        (lambda: call.analyze(run).rows("mistake"), r"no table called 'mistake'; .*; did you mean mistakes\?"),
        (lambda: call.diff(run, run, top=-1), "top takes a number from 1, not -1"),
        (lambda: call.diff(run, run, names="ab"), "names takes what the two are called"),
        (lambda: call.analyze(facts, run="x"), "are for Cold Start runs"),
        (lambda: call.analyze("run.tab"), "analyze takes a result, not 'run.tab'"),
        (lambda: call.diff(run, facts), "diff takes results of one kind"),
        (lambda: call.compare([*two.values()]), "compare takes results by name"),
        (lambda: call.compare({"a": run}), "a comparison needs at least two systems"),
        (lambda: call.compare({"a": run, "b": 5}), "compare takes results of one kind, not <TIDE_KB under kb"),
        (lambda: call.compare(two, measure="F2"), "no measure called F2; there are"),
        (lambda: call.compare(two, bootstrap=0), "the number of resamples must be a whole number of at least 1"),
        (lambda: call.compare(two, interval="normal"), "no interval method called normal; there are percentile, bca"),
        (lambda: call.compare(two, bootstrap=20).to_text("yaml"), "no format called yaml; there are text, json, tsv,"),
    ):
        with pytest.raises(cs.UsageError, match=said):
            asked()
    with pytest.raises(cs.InputError, match="there is no line 99"):
        run.explain(line=99)


def test_families_and_clusters_are_those_of_the_command(tmp_path: Path) -> None:
    results = runs()
    units = results[NAMES[0]].units
    together = {unit: str(place // 2) for place, unit in enumerate(units)}
    clusters = tmp_path / "clusters.csv"
    clusters.write_text("unit,cluster\n" + "".join(f"{unit},{at}\n" for unit, at in together.items()))
    options: Any = {"correction": "hsd", "baseline": NAMES[1], "primary": "SF-ALL-Micro-R"}
    words = [*(f"--{name}={value}" for name, value in options.items()), f"--clusters={clusters}", "--bootstrap=50"]
    told = json.loads(printed("compare", *SWITCHES, *words, *GOLD, KB, SF, "--format=json"))
    for given in (clusters, together):
        found = json.loads(cs.compare(results, bootstrap=50, clusters=given, **options).to_json())
        assert found["measures"] == told["measures"]
    assert [each["measure"] for each in told["measures"] if not each["exploratory"]] == ["SF-ALL-Micro-R"]
    with pytest.raises(cs.InputError, match=f"clusters: no cluster for {len(units)} units .{units[0]}"):
        cs.compare(results, clusters={"another": "1"})


@pytest.mark.parametrize("selector", ["line", "node", "answer"])
def test_a_selector_of_a_wrong_kind_is_refused(selector: str) -> None:
    with pytest.raises(cs.UsageError, match=rf"{selector} takes a name or several, not 3\.5"):
        run_of().explain(**{selector: 3.5})  # type: ignore[arg-type]


def test_a_unit_of_a_wrong_kind_is_refused() -> None:
    with pytest.raises(cs.UsageError, match=r"unit takes a name or several, not 3\.5"):
        cs.scifact(*FACTS).explain(3.5)  # type: ignore[arg-type]


def test_chosen_measures_and_formats_are_those_of_the_command() -> None:
    words = ("compare", *SWITCHES, "--bootstrap=9", *GOLD, KB, SF)
    assert cs.compare(runs(), bootstrap=9).to_text("tsv") == printed(*words, "--all", "--format=tsv")
    assert f"{cs.compare(runs(), bootstrap=9, measure='SF-ALL-*')}\n" == without_options(
        printed(*words, "--measure", "SF-ALL-*")
    )


def test_a_page_is_that_of_the_command(tmp_path: Path) -> None:
    calls = (
        (run_of(), "SF-AP", ("report", *SWITCHES, *GOLD, KB)),
        (cs.scifact(*FACTS), "sentence_label_f1", words_of("report scifact")),
    )
    for result, measure, words in calls:
        page = result.report(measure)
        page.write(tmp_path / "ours.html")
        printed(*words, "--measure", measure, "-o", str(tmp_path / "theirs.html"), "--force")
        assert (tmp_path / "ours.html").read_bytes() == (tmp_path / "theirs.html").read_bytes() == page.html.encode()


def test_a_notebook_shows_a_page_in_a_frame_that_may_do_nothing_but_run_its_script() -> None:
    page = cs.scifact(*FACTS).report()
    (shown,) = re.findall(r'^<iframe srcdoc="([^"]*)" sandbox="allow-scripts" [^<>]*></iframe>$', page._repr_html_())
    assert html.unescape(shown) == page.html


def test_what_is_printed_says_nothing_of_options_of_the_command() -> None:
    first, second = run_of(), run_of(SF)
    predictions = cs.scifact(*FACTS)
    comparison = cs.compare({"A": first, "B": second})
    for found in (cs.analyze(first), cs.diff(first, second), comparison, cs.analyze(predictions)):
        assert not re.search(r"(?m)(^|\s)--\w", str(found))


def test_a_notebook_shows_a_chart(tmp_path: Path) -> None:
    first, second = run_of(), run_of(SF)
    analysis = cs.analyze(first)
    (tmp_path / "a.json").write_text(analysis.to_json())
    chart = analysis.chart("budget")
    assert score_in(tmp_path, ["plot", "budget", "a.json", "-o", "a.svg"]).files["a.svg"].decode() == chart.svg
    assert chart._repr_svg_() == chart.svg
    chart.write(tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == chart.svg
    assert "Scores by hop" in analysis.chart("groups", "hop").svg
    assert "Contributions" in cs.diff(first, second).chart().svg
    comparison = cs.compare({"A": first, "B": second}, measure=["SF-AP", "SF-ALL-Micro-F1"])
    assert "intervals, SF-AP" in comparison.chart(name="SF-AP").svg
    with pytest.raises(cs.UsageError, match="no chart called budgets; there are budget"):
        analysis.chart("budgets")


def test_a_notebook_shows_the_verdict_of_a_comparison_first() -> None:
    shown = cs.compare({"A": run_of(), "B": run_of(SF)})._repr_html_()
    assert re.match(r"<p>A and B do not differ significantly in LDC-MEAN-AP: p 0\.\d{4}", shown)


def test_many_resamples_are_drawn_where_that_is_said() -> None:
    first, second = run_of(), run_of(SF)
    problem = r"^bootstrap=100001: more than 100000 resamples take much time .* add force=True$"
    calls: tuple[Callable[..., object], ...] = (
        lambda **force: first.intervals(100_001, **force),
        lambda **force: cs.analyze(first, bootstrap=100_001, **force),
        lambda **force: cs.diff(first, second, bootstrap=100_001, **force),
        lambda **force: cs.compare({"A": first, "B": second}, bootstrap=100_001, measure="SF-AP", **force),
    )
    for call in calls:
        with pytest.raises(cs.UsageError, match=problem):
            call()
    assert resampling_of(100_001, 0, 95.0, None, None, force=True).resamples == 100_001


def test_a_notebook_shows_a_table() -> None:
    analysis, difference = cs.analyze(run_of()), cs.diff(run_of(), run_of().rescore("sf"), bootstrap=9)
    assert "<td>missed</td>" in analysis._repr_html_()
    assert "<caption>analysis of " in analysis._repr_html_()
    assert '<th scope="col" data-key="contribution" class="number">Contribution</th>' in difference._repr_html_()


COLD_START: Final = f"{' '.join(SWITCHES)} {' '.join(GOLD)}"


@pytest.mark.parametrize(
    ("words", "member"),
    [
        (f"diff {COLD_START} {KB} {SF}", ("names", "b")),
        (f"explain scifact {FACTS[0]} {FACTS[1]} --unit 7", ("units", 0, "statistics", "selection_correct")),
        (f"explain scifact {FACTS[0]} {FACTS[1]} --unit 7", ("units", 0, "scores", "abstract_label_only_f1")),
        (f"analyze scifact {FACTS[0]} {FACTS[1]}", ("signature",)),
    ],
)
def test_a_document_that_lacks_what_is_shown_is_refused(words: str, member: tuple[Any, ...], tmp_path: Path) -> None:
    value = json.loads(printed(*words.split(), "--format", "json"))
    parent = value
    for key in member[:-1]:
        parent = parent[key]
    del parent[member[-1]]
    path = tmp_path / "found.json"
    path.write_text(json.dumps(value))
    with pytest.raises(cs.InputError, match=r"found\.json"):
        cs.load(path)
    outcome = score_in(tmp_path, ["report", "found.json", "-o", "page.html"])
    assert outcome.status in (0, 1)
