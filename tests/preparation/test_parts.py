"""Large runs are validated in parts: the same bytes, whatever is in them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.generate import BASE, Shape, generate
from cs_score.preparation.runs import validation_in_parts
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.recorded import Case, cases_in, replay
from tests.in_parts import Taken, force_three_parts, note_tries
from tests.preparation.messy import Messy, messy

COMMITTED = [case for case in cases_in(Path(__file__).parent / "golden") if case.program == "validate-run"]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    """For each validation that was tried in parts, whether it was possible."""
    return note_tries(monkeypatch, validation_in_parts, "validate_in_parts")


def validated(folder: Path, *switches: str, run: str = "run.tab") -> Outcome:
    """What validating the run of `folder` gives."""
    return score_in(folder, ("validate-run", "-output_file", "stdout", *switches, "sf.xml", run))


def prepared(folder: Path) -> None:
    words = ("validate-queries", "-expand", "-query_base", BASE, "queries.xml", "sf.xml")
    assert score_in(folder, words).status == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of some thousand lines, and the queries that it answers."""
    generate(Shape(1000), str(tmp_path))
    prepared(tmp_path)
    return tmp_path


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("parts", ["2", "7", "1000"])
def test_parts_and_jobs_change_no_byte(folder: Path, taken: Taken, parts: str, jobs: str) -> None:
    whole = validated(folder, "--parts", "1", "-justifications", "1:1")
    assert whole.status == 0
    assert b"Following line has been discarded" in whole.stderr
    assert taken == []
    assert validated(folder, "--parts", parts, "--jobs", jobs, "-justifications", "1:1") == whole
    assert taken == [True]


@given(messy(), st.integers(2, 5), st.sampled_from(("1:1", "1:3", "M:2", "2:M")))
def test_any_run_in_parts(evaluation: Messy, parts: int, limits: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        evaluation.write(Path(name))
        prepared(Path(name))
        words = ("-justifications", limits, "--jobs", "1")
        assert validated(Path(name), "--parts", str(parts), *words) == validated(Path(name), "--parts", "1", *words)


@pytest.mark.parametrize("case", COMMITTED, ids=lambda case: case.folder.name)
def test_committed_case_in_parts(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    force_three_parts(monkeypatch)
    assert replay(case, tmp_path) == []


class Indivisible:
    """What only a validation in one piece can tell: each method spoils the lines of a run."""

    def second_run(self, run: list[str]) -> None:
        run[-2] = run[-2].replace("\tBENCH1\t", "\tOTHER\t")

    def child_before_its_parent(self, run: list[str]) -> None:
        at = next(i for i, line in enumerate(run) if len(line.split("\t")[0].split("_")) == 4)
        run.insert(0, run.pop(at))

    def unknown_query(self, run: list[str]) -> None:
        run[400] = "CSB17_ENG_0123456789" + run[400][run[400].index("\t") :]

    def line_without_node(self, run: list[str]) -> None:
        run[300] = run[300].rpartition("\t")[0] + "\t0"

    def layout_without_nodes(self, run: list[str]) -> None:
        run[:] = [line.rpartition("\t")[0] for line in run]

    def no_text(self, run: list[str]) -> None:
        run[500] += "\udcff"


@pytest.mark.parametrize("spoil", [name for name in vars(Indivisible) if not name.startswith("_")])
def test_what_needs_the_whole_is_validated_whole(folder: Path, taken: Taken, spoil: str) -> None:
    run = folder.joinpath("run.tab").read_text().split("\n")
    getattr(Indivisible(), spoil)(run)
    folder.joinpath("run.tab").write_bytes("\n".join(run).encode("utf-8", "surrogateescape"))
    whole = validated(folder, "--parts", "1")
    for jobs in ("1", "2"):
        assert validated(folder, "--parts", "6", "--jobs", jobs) == whole
    assert taken == [False, False]
