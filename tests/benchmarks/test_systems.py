"""The runs of a batch benchmark: what systems have in common, and what they have not."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.generate import Shape, generate
from benchmarks.systems import RUNS_OF_A_SYSTEM, runs_of_systems
from cs_score.coldstart.options import Options
from cs_score.coldstart.result import Result
from tests.scoring import score

RUN_IDS = [f"R{number}" for number in range(2 * RUNS_OF_A_SYSTEM)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation with a run of one system, `run.tab`, and those made of it, `R0` to `R9`."""
    folder = tmp_path_factory.mktemp("systems")
    files = generate(Shape(600), str(folder))
    for run_id, text in runs_of_systems(_text(files.pool), _text(files.run), RUN_IDS):
        (folder / run_id).write_bytes(text.encode())
    return folder


def _text(path: str) -> str:
    return Path(path).read_bytes().decode()


def _answers(path: Path) -> list[tuple[str, ...]]:
    """Query, slot, relation, value, type, span and node of each line."""
    lines = [line.split("\t") for line in _text(str(path)).split("\n")[:-1]]
    return [(*columns[:2], *columns[3:7], columns[8]) for columns in lines]


def _result(folder: Path, run: str) -> Result:
    return score([folder / "queries.xml"], [folder / "pool.tab", folder / run], Options(expand="CSB17"))


def test_the_runs_of_a_system_differ_in_confidence_only(folder: Path) -> None:
    for system in (RUN_IDS[:RUNS_OF_A_SYSTEM], RUN_IDS[RUNS_OF_A_SYSTEM:]):
        assert len({tuple(_answers(folder / run_id)) for run_id in system}) == 1
        assert len({(folder / run_id).read_bytes().replace(run_id.encode(), b"") for run_id in system}) == len(system)


def test_systems_share_the_answers_that_were_judged(folder: Path) -> None:
    names = ("run.tab", RUN_IDS[0], RUN_IDS[-1])
    common = set.intersection(*(set(_answers(folder / name)) for name in names))
    for name in names:
        [run] = _result(folder, name).runs
        lines = [line.split("\t") for line in _text(str(folder / name)).split("\n")]
        for unit in run.units:
            for index in unit.assessment_by_index:
                columns = lines[index]
                assert (*columns[:2], *columns[3:7], columns[8]) in common
    # The others: unassessed, unless they are judged answers with another relation provenance.
    assert 0.3 < len(common) / 600 < 0.6


def test_a_system_scores_like_the_run_that_it_was_made_of(folder: Path) -> None:
    [first] = _result(folder, "run.tab").runs
    for run_id in (RUN_IDS[0], RUN_IDS[RUNS_OF_A_SYSTEM]):
        result = _result(folder, run_id)
        [run] = result.runs
        assert (run.run_id, result.problems) == (run_id, ())
        assert run.tables == first.tables
        assert run.average_precision is not None
        assert first.average_precision is not None
        assert run.average_precision.sf == first.average_precision.sf
