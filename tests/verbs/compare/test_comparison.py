"""Comparisons of every mode: laws of the tests, names, refusals, formats, statuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.analysis.system_comparison import compare
from cs_score.base.errors import InputError, UsageError
from cs_score.coldstart.options import Options
from cs_score.coldstart.unit_statistics import summary_scores
from cs_score.evidence import claims, hotpotqa, r4c, scifact
from cs_score.evidence.mode import ScoredPredictions
from cs_score.statistics.resampling_settings import Resampling
from cs_score.tasks import task_named
from tests.documents import copy_samples
from tests.evidence.command import cs_score
from tests.evidence.test_command import files
from tests.scoring import score

Json = dict[str, Any]

COLDSTART: Final = ("queries/ldc-queries.xml", "assessments/pool-2016.tab")
RUNS: Final = ("submissions/tide-kb.tab.txt", "submissions/gull-sf.tab.txt")
EXPAND: Final = ("-expand", "ISLE26")

GOLD: Final[list[Json]] = [
    {"id": number, "evidence": {"a": [{"label": "SUPPORT", "sentences": [1, 2]}]}} for number in range(8)
]


def run(right: Sequence[int]) -> list[Json]:
    """A system that answers the claims `right` correctly and the others wrongly."""
    return [
        {"id": n, "evidence": {"a": {"label": "SUPPORT" if n in right else "CONTRADICT", "sentences": [1, 2]}}}
        for n in range(8)
    ]


def results(**systems: Sequence[int]) -> dict[str, ScoredPredictions]:
    return {name: scifact.MODE.score(GOLD, run(right)) for name, right in systems.items()}


SETTINGS: Final = Resampling(400)
SCIFACT: Final = task_named("scifact")


def test_refused_systems() -> None:
    with pytest.raises(UsageError, match="at least two"):
        compare(SCIFACT, results(A=[1]))
    with pytest.raises(UsageError, match="results of different tasks cannot be compared: scifact, claims"):
        compare(SCIFACT, {"A": scifact.MODE.score(GOLD, run([])), "B": claims.MODE.score([{"id": 1}], [{"id": 1}])})
    with pytest.raises(UsageError, match="no measure called F9; there are abstract_label_only_precision"):
        compare(SCIFACT, results(A=[1], B=[2]), measures=["F9"])


def test_a_system_that_answers_no_unit_of_gold() -> None:
    gold = [{"id": number, "label": "S"} for number in range(3)]
    systems = {"here": claims.MODE.score(gold, gold), "elsewhere": claims.MODE.score(gold, [{"id": 9, "label": "S"}])}
    with pytest.raises(InputError, match=r"system elsewhere answers no unit of the gold standard, which has 3 units"):
        compare(task_named("claims"), systems)
    questions = [{"_id": "q", "answer": "a", "supporting_facts": []}]
    asked = {
        "facts": hotpotqa.MODE.score(questions, {"answer": {}, "sp": {"q": []}}),
        "none": hotpotqa.MODE.score(questions, {"answer": {"r": "a"}, "sp": {}}),
    }
    with pytest.raises(InputError, match="system none answers no unit"):
        compare(task_named("hotpotqa"), asked)


def test_different_units_are_refused_and_compared_on_the_common_ones() -> None:
    gold = {name: [[["T", 0, [name, "rel", "tail"]]]] * 3 for name in "abc"}
    answered = {"A": "ab", "B": "bc"}
    systems = {
        name: r4c.MODE.score(gold, {"re": {each: gold[each][0] for each in known}}, ignore_missing=True)
        for name, known in answered.items()
    }
    with pytest.raises(InputError, match=r"system B lacks 1 unit \(a\), which system A has.*--common"):
        compare(task_named("r4c"), systems)
    shared = compare(task_named("r4c"), systems, SETTINGS, common=True)
    assert shared.units == 1
    assert shared.dropped == {"A": ("a",), "B": ("c",)}
    for name, origin in shared.origins.items():
        assert origin.options["common"] == {"units": 1, "dropped": shared.dropped[name]}
        assert origin.signature.settings[-1].startswith("common=")
    alike = compare(task_named("r4c"), {"A": systems["A"], "copy": systems["A"]}, SETTINGS)
    assert "common" not in alike.origins["A"].options


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy_samples(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compared(*words: str) -> Any:
    outcome = cs_score("compare", "coldstart", *EXPAND, "--format", "json", "--bootstrap", "200", *words)
    assert outcome.status == 0, outcome
    return json.loads(outcome.out)


def test_coldstart_scores_each_run_as_if_alone(samples: Path) -> None:
    found = compared(*COLDSTART, *RUNS)
    assert found["systems"] == ["TIDE_KB", "GULL_SF"]
    assert found["resampling"]["unit"] == "LDC query"
    for path, name in zip(RUNS, found["systems"]):
        (alone,) = score(COLDSTART[:1], [*COLDSTART[1:], path], Options(expand="ISLE26")).runs
        points = {
            measure["measure"]: system["score"]
            for measure in found["measures"]
            for system in measure["systems"]
            if system["name"] == name
        }
        shown = {str(measure): score for measure, score in summary_scores(alone).items()}
        assert {measure: points[measure] for measure in shown} == pytest.approx(shown, abs=1e-12)


def test_runs_of_one_id_are_called_by_their_files_and_others_by_their_ids(samples: Path) -> None:
    lines = Path(RUNS[0]).read_text(encoding="utf-8")
    Path("again.tab.txt").write_text(lines, encoding="utf-8")
    found = compared(*COLDSTART, *RUNS, "again.tab.txt")
    assert found["systems"] == ["tide-kb.tab.txt", "GULL_SF", "again.tab.txt"]
    Path("both.tab.txt").write_text(lines + Path(RUNS[1]).read_text(encoding="utf-8"), encoding="utf-8")
    found = compared(*COLDSTART, "both.tab.txt", RUNS[0])
    assert found["systems"] == ["TIDE_KB (both.tab.txt)", "GULL_SF", "tide-kb.tab.txt"]


@pytest.mark.parametrize("name", ["TIDE_KB", "tide-kb.tab.txt", "submissions/tide-kb.tab.txt"])
def test_a_baseline_is_named_by_run_id_or_by_file(name: str, samples: Path) -> None:
    assert compared("--baseline", name, *COLDSTART, *RUNS)["resampling"]["baseline"] == "TIDE_KB"


def test_a_file_of_several_runs_names_no_baseline(samples: Path) -> None:
    Path("both.tab.txt").write_text("".join(Path(run).read_text(encoding="utf-8") for run in RUNS), encoding="utf-8")
    outcome = cs_score("compare", *EXPAND, "--baseline", "both.tab.txt", *COLDSTART, "both.tab.txt")
    assert outcome.status == 2
    assert "the baseline both.tab.txt is none of the systems; there are TIDE_KB, GULL_SF" in outcome.err


def test_a_baseline_of_predictions_may_be_named_by_its_path() -> None:
    words = ("scifact", "--gold", "assessments/scifact-gold.jsonl", "submissions/scifact-a.jsonl")
    path = "submissions/scifact-b.jsonl"
    outcome = cs_score("compare", *words, path, "--baseline", path, "--bootstrap", "99", "--format", "json")
    assert json.loads(outcome.out)["resampling"]["baseline"] == "scifact-b.jsonl"


def test_coldstart_measures_of_levels_that_one_run_lacks(samples: Path) -> None:
    """Without second-hop classes in the pool only the run that submits some has rows of level 1."""
    pool = Path(COLDSTART[1])
    first_hop = [line for line in pool.read_text(encoding="utf-8").splitlines() if line.split("\t")[8].count(":") < 2]
    pool.write_text("".join(f"{line}\n" for line in first_hop), encoding="utf-8")
    lines = Path(RUNS[0]).read_text(encoding="utf-8").splitlines()
    Path("first.tab.txt").write_text(
        "".join(f"{line}\n" for line in lines if line.split("\t")[0].count("_") < 3), encoding="utf-8"
    )
    found = compared(*COLDSTART, RUNS[0], "first.tab.txt")
    names = [measure["measure"] for measure in found["measures"]]
    assert len(names) == len(set(names))
    blocks = [name.partition("@")[0].rpartition("-")[0] for name in names if "-AP" not in name]
    assert blocks == sorted(blocks, key=blocks.index)


@pytest.mark.parametrize(
    ("words", "status", "problem"),
    [
        ((), 2, "no run among the files: there is no file beside the queries"),
        ((*COLDSTART, RUNS[0]), 2, "a comparison needs at least two runs; there is TIDE_KB in submissions"),
        (("-runids", "X", *COLDSTART, *RUNS), 2, "no run called X; there are TIDE_KB, GULL_SF"),
        (("--measure", "F9", *EXPAND, *COLDSTART, *RUNS), 2, "no measure called F9"),
        ((*COLDSTART, "-", RUNS[0]), 2, "standard input cannot be read once for each run"),
        ((*COLDSTART, "nowhere.tab", RUNS[0]), 1, "nowhere.tab"),
        ((*COLDSTART, "empty.tab", RUNS[0]), 1, "empty.tab: empty: neither a run nor assessments"),
        (("-expand", "OTHER", *COLDSTART, *RUNS), 1, "not loaded"),
        ((*EXPAND, *COLDSTART, "two.tab", "--run", "X"), 2, "no run called X; there are TIDE_KB, GULL_SF"),
        ((*EXPAND, "-queries", "one.txt", *COLDSTART, *RUNS), 1, "answers no unit of the gold standard"),
    ],
)
def test_coldstart_refusals(words: tuple[str, ...], status: int, problem: str, samples: Path) -> None:
    Path("empty.tab").write_bytes(b"")
    both = [Path(name).read_bytes() for name in RUNS]
    Path("two.tab").write_bytes(b"".join(both))
    gull = both[1].decode()
    asked = Path("queries/queryids.txt").read_text("utf-8").splitlines(keepends=True)
    silent = [line for line in asked if line.split()[1] not in gull]
    Path("one.txt").write_text("".join(silent), encoding="utf-8")
    outcome = cs_score("compare", "coldstart", *words)
    assert (outcome.status, outcome.out) == (status, "")
    assert problem in outcome.err.splitlines()[-1]
    assert outcome.err.splitlines()[-1].startswith("cs-score: ")


@pytest.mark.parametrize(
    ("words", "status", "problem"),
    [
        (("{gold}", "{run}"), 2, "a comparison needs the predictions of at least two systems"),
        (("--gold", "{gold}", "{run}"), 2, "at least two systems"),
        (("--gold", "{gold}", "{run}", "-"), 2, "standard input cannot be read"),
        (("--gold", "{gold}", "{run}", "{run}", "--measure", ""), 2, "no measure called ;"),
        (("--gold", "{gold}", "{run}", "nowhere"), 1, "nowhere"),
        (("--gold", "{gold}", "{run}", "{gold}"), 1, "gold.jsonl: line 1"),
    ],
)
def test_evidence_refusals(words: tuple[str, ...], status: int, problem: str) -> None:
    gold, predictions = files("scifact")
    outcome = cs_score("compare", "scifact", *(word.format(gold=gold, run=predictions) for word in words))
    assert (outcome.status, outcome.out) == (status, "")
    assert problem in outcome.err


# ---- The table of a paper


def paper_lines(*words: str) -> list[str]:
    outcome = cs_score("compare", *words, "--format", "latex")
    assert outcome.status == 0
    return outcome.out.splitlines()


def test_latex_is_one_table_with_a_line_for_each_system_and_a_column_for_each_measure(tmp_path: Path) -> None:
    paths = []
    for name, lines_of_file in {"gold": GOLD, "A": run(range(8)), "B": run([])}.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines_of_file))
        paths.append(str(path))
    asked = ("--measure", "sentence_label_f1", "--measure", "abstract_label_only_f1")
    words = ("scifact", "--gold", paths[0], *paths[1:], *asked)
    lines = paper_lines(*words)
    assert [lines[1], lines[2], lines[4], *lines[-2:]] == [
        r"\begin{tabular}{lll}", r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"
    ]  # fmt: skip
    assert len(lines) == 9
    found = json.loads(cs_score("compare", *words, "--format", "json").out)
    names = [measure["measure"] for measure in found["measures"]]
    assert lines[3] == " & ".join(["System", *names]).replace("_", r"\_") + r" \\"
    for system, line in zip(found["systems"], lines[5:7]):
        cells = [system.replace("_", r"\_")]
        for measure in found["measures"]:
            (entry,) = (entry for entry in measure["systems"] if entry["name"] == system)
            star = "^{*}" if system == found["systems"][1] else ""  # 8 of 8 claims lost: p 2/256
            cells.append(f"${entry['score']:.4f}{star}$ $[{entry['low']:.4f}, {entry['high']:.4f}]$")
        assert line == " & ".join(cells) + r" \\"


def test_the_comment_of_a_latex_table_says_what_a_caption_needs() -> None:
    comment, *table = paper_lines("table", "assessments/table.tsv", "--seed", "7")
    assert comment.startswith("% Scores with 95 % BCa bootstrap limits, 10,000 resamples of 12 units, seed 7")
    assert "* differs significantly from heron (level 0.05, max-T over 3 systems, 3 pairs" in comment
    assert not any("%" in line for line in table)
    starred = {line.split(" & ")[0] for line in table if "*" in line}
    assert starred == {"wren"}  # the only pair of the family that differs


def test_the_baseline_is_the_first_line_of_a_latex_table() -> None:
    comment, *table = paper_lines("table", "assessments/table.tsv", "--baseline", "wren")
    assert "differs significantly from wren" in comment
    assert table[4].startswith("wren & ")
    assert [line.split(" & ")[0] for line in table if "*" in line] == ["heron"]


def test_a_run_without_average_precision_has_a_hyphen_in_a_latex_table(tmp_path: Path) -> None:
    without_nodes = tmp_path / "without.tab"
    lines_of_run = []
    for line in Path(RUNS[0]).read_text().splitlines():
        columns = line.split("\t")
        lines_of_run.append("\t".join([*columns[:2], "NO_NODES", *columns[3:8]]) + "\n")
    without_nodes.write_text("".join(lines_of_run))
    measures = ("--measure", "SF-AP", "--measure", "SF-ALL-Micro-F1")
    comment, *table = paper_lines(*EXPAND, *COLDSTART, *RUNS, str(without_nodes), *measures)
    assert "; - has no value of the measure." in comment
    rows = [line.removesuffix(r" \\").split(" & ") for line in table if " & " in line]
    cells = {row[0]: dict(zip(rows[0], row)) for row in rows}
    assert cells[r"NO\_NODES"]["SF-AP"] == "-"
    assert cells[r"NO\_NODES"]["SF-ALL-Micro-F1"].startswith("$0.")
    comment, *_ = paper_lines(*EXPAND, *COLDSTART, *RUNS, *measures)
    assert "no value" not in comment


def test_all_of_a_comparison_as_latex_is_asked_for() -> None:
    lines = paper_lines("table", "assessments/table.tsv", "--all")
    assert sum(line.startswith(r"\begin{tabular}") for line in lines) == 2
