"""What-ifs of one query or unit: time grows with the square of its parts at most, memory with their number."""

from __future__ import annotations

import contextlib
import json
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.analysis.coldstart import rescoring
from cs_score.analysis.coldstart.changes import Editor
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.faults import find_faults
from cs_score.analysis.coldstart.mistakes import cost_list
from cs_score.analysis.coldstart.scored import AnalysedRun, score_for_analysis
from cs_score.analysis.evidence.evidence_task import EvidenceTask
from cs_score.analysis.outcomes import json_text
from cs_score.coldstart.gold import load_run, open_gold, with_remarks_on_empty_folders
from cs_score.coldstart.options import Options
from cs_score.evidence import claims, hotpotqa, scifact
from cs_score.measures import parse_measure
from cs_score.verbs.analyze.prediction_analysis import analyze
from tests.coldstart.lines import Line, query_xml
from tests.growth import assert_steps_grow_in_proportion, steps

MEASURES: Final = ("SF-ALL-Micro-F1", "SF-ALL-Macro-F1", "LDC-MAX-ALL-Micro-F1", "LDC-MEAN-ALL-Macro-F1", "SF-AP")

Shape = tuple[list[Line], list[str]]
"""The lines of a run, and those of the pool."""


def wrong_parents(size: int) -> Shape:
    """Wrong answers with a child each, of which the pool knows the parents."""
    parents = [Line(f"P{at}", f"N_ENG_{at}", "0.5", f":E{at}") for at in range(size)]
    run = [line for at, parent in enumerate(parents) for line in (parent, parent.child(f"S{at}", f":C{at}"))]
    return run, [*(parent.judged() for parent in parents), Line("Good", "N_ENG_G").judged("1")]


def inexact_nodes(size: int) -> Shape:
    """Inexact answers, two in a node, each of a class of its own."""
    run = [Line(f"P{at}", f"N_ENG_{at}", "0.5", f":E{at // 2}") for at in range(size)]
    return run, [line.judged(str(at + 1), "X") for at, line in enumerate(run)]


def text_of_missed_classes(size: int) -> Shape:
    """Wrong answers with the text of as many missed classes."""
    run = [Line("Same", f"N_ENG_{at}", "0.5", f":E{at}") for at in range(size)]
    missed = [Line("Same", f"N_ENG_M{at}").judged(str(at + 1)) for at in range(size)]
    return run, [*(line.judged() for line in run), *missed]


def scored(folder: Path, shape: Shape) -> AnalysedRun:
    run, pool = shape
    (folder / "queries.xml").write_text(f"<query_set>{query_xml()}</query_set>\n")
    (folder / "run.tab").write_text("".join(f"{line.text()}\n" for line in run))
    (folder / "pool.tab").write_text("".join(f"{line}\n" for line in pool))
    options = Options(expand="CSX")
    with contextlib.chdir(folder):
        gold = with_remarks_on_empty_folders(open_gold(["queries.xml"], options), ["pool.tab", "run.tab"])
        return score_for_analysis(load_run(gold, ["pool.tab", "run.tab"]), options.policy)


@pytest.mark.parametrize("shape", [wrong_parents, inexact_nodes, text_of_missed_classes])
def test_work_in_one_query_grows_with_the_square_of_its_lines(shape: Callable[[int], Shape], tmp_path: Path) -> None:
    """At three sizes: where the lines double, the work is four times as much at most."""

    def work(size: int) -> int:
        of_size = scored(tmp_path, shape(size))
        effects = Effects(of_size, list(map(parse_measure, MEASURES)))
        return steps(lambda: cost_list(effects, find_faults(of_size, effects.editor)))

    small, middle, large = map(work, (20, 40, 80))
    assert middle < 4.2 * small
    assert large < 4.2 * middle


def test_wrong_lines_are_taken_away_without_scoring_their_query_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_run = scored(tmp_path, wrong_parents(12))
    effects = Effects(of_run, list(map(parse_measure, MEASURES)))
    calls: list[object] = []
    score_unit = vars(rescoring)["score_unit"]

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return score_unit(*arguments)

    monkeypatch.setattr(rescoring, "score_unit", counted)
    found = cost_list(effects, find_faults(of_run, Editor(of_run.run, of_run.run_id)))
    assert len([mistake for mistake in found if mistake.kind == "line"]) == 24
    assert len(calls) == 1  # the missed class


# ---- Evidence


def claim_with_documents(mode: Any, size: int) -> Any:
    """A claim for which so many documents are predicted, one of them right."""
    entry = {"sentences": [1], "label": "SUPPORT"}
    gold = {"id": 1, "cited_doc_ids": [1], "label": "SUPPORT", "evidence": {"1": [entry]}}
    of_document: Any = entry if mode is scifact.MODE else [entry]
    given = {"id": 1, "label": "SUPPORT", "evidence": {str(at): of_document for at in range(1, size + 1)}}
    return mode.score([gold], [given])


def question_with_facts(mode: Any, size: int) -> Any:
    """A question with so many facts that are missed and as many that are wrong."""
    wanted, given = ([[f"{what}{at}", 0] for at in range(size)] for what in ("G", "P"))
    gold = [{"_id": "q", "answer": "yes", "supporting_facts": wanted}]
    return mode.score(gold, {"answer": {"q": "yes"}, "sp": {"q": given}})


@pytest.mark.parametrize(
    ("mode", "result"),
    [(claims.MODE, claim_with_documents), (scifact.MODE, claim_with_documents), (hotpotqa.MODE, question_with_facts)],
)
def test_work_in_one_unit_grows_with_its_parts(mode: Any, result: Callable[[Any, int], Any]) -> None:
    def prepared(size: int) -> Callable[[], object]:
        of_size = result(mode, size)
        return lambda: analyze(EvidenceTask(mode), of_size, is_whole=False)

    assert_steps_grow_in_proportion(prepared, 40)


def test_memory_for_all_mistakes_of_a_unit_grows_with_their_number() -> None:
    """As JSON they are as long as the square of their number, since each has a whole prediction."""

    def peak(size: int) -> int:
        result = claim_with_documents(claims.MODE, size)
        tracemalloc.start()
        for _ in json_text(analyze(EvidenceTask(claims.MODE), result)):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(240) < 3 * peak(120)


def test_the_mistakes_of_a_claim_without_prediction_are_those_of_its_scoring() -> None:
    """Nothing predicted counts otherwise than an empty prediction: repeated documents are missed as often."""
    gold = {"id": 1, "cited_doc_ids": [1, 1, 2], "label": "SUPPORT", "evidence": {"1": [entry_of(1)]}}
    result = claims.MODE.score([gold], [])
    for mistake in analyze(EvidenceTask(claims.MODE), result).mistakes:
        corrected = claims.MODE.score([gold], [json.loads(json.dumps(mistake.prediction))])
        differences = {name: corrected.scores[name] - result.scores[name] for name in result.scores}
        assert mistake.effects == pytest.approx(differences, abs=1e-12)


def entry_of(*sentences: int) -> dict[str, Sequence[int] | str]:
    return {"sentences": list(sentences), "label": "SUPPORT"}
