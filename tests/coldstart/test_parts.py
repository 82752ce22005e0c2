"""Large runs are scored in parts: the same bytes, whatever is in them, and whatever happens to a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.generate import Evaluation, Shape, generate
from cs_score.coldstart import parts as scoring_in_parts
from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs
from tests.coldstart.recorded import committed_cases, replay
from tests.coldstart.worlds import World, worlds
from tests.in_parts import Taken, force_three_parts, note_tries


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    """For each scoring that was tried in parts, whether it was possible."""
    return note_tries(monkeypatch, scoring_in_parts, "score_in_parts")


def outputs(folder: Path, *words: str) -> tuple[int, bytes, dict[str, bytes]]:
    """Status, standard error and all files but `.params`, which names the switches."""
    for path in folder.glob("out.*"):
        path.unlink()
    outcome = score_in(folder, ("-output_file", "out", *words))
    return outcome.status, outcome.stderr, {n: b for n, b in outcome.files.items() if n != "out.params"}


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """Some two thousand lines about a hundred queries."""
    return generate(Shape(2000), str(tmp_path_factory.mktemp("evaluation")), query_list=True, samples=3)


@pytest.mark.parametrize(("parts", "jobs"), [("2", "1"), ("7", "2"), ("1000", "1")])
def test_parts_and_jobs_change_no_byte(
    evaluation: Evaluation, tmp_path: Path, taken: Taken, parts: str, jobs: str
) -> None:
    words = evaluation.words()
    whole = outputs(tmp_path, "--parts", "1", *words)
    assert whole[0] == 0
    assert {"out.debug", "out.confidence", "out.ldcmax"} <= set(whole[2])
    assert taken == []
    assert outputs(tmp_path, "--parts", parts, "--jobs", jobs, *words) == whole
    assert taken == [True]


@given(worlds(), st.integers(2, 5), st.sampled_from(("ASSESSED", "STRING_CASE", "STRING_EXACT")))
def test_any_world_in_parts(world: World, parts: int, discipline: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        files = world.write(Path(name))
        words = ("-expand", "LAW", "-discipline", discipline, *files)
        whole = outputs(Path(name), "--parts", "1", *words)
        assert outputs(Path(name), "--parts", str(parts), "--jobs", "1", *words) == whole


def test_committed_cases_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: Taken) -> None:
    force_three_parts(monkeypatch)
    differences: dict[str, list[str]] = {}
    tries: list[bool] = []
    for case in committed_cases():
        if case.program is None:
            (tmp_path / case.folder.name).mkdir()
            taken.clear()
            differences[case.folder.name] = replay(case, tmp_path / case.folder.name)
            tries += taken if case.mode == "ok" else []
    assert [name for name, found in differences.items() if found] == []
    assert sum(tries) > 0.5 * len(tries) > 15  # odd pools and other editions are scored whole


class Indivisible:
    """What only a scoring in one piece can tell: each method spoils the files of an evaluation."""

    def second_run(self, run: list[str], pool: list[str]) -> None:
        run[-2] = run[-2].replace("\tBENCH1\t", "\tOTHER\t")

    def child_before_its_parent(self, run: list[str], pool: list[str]) -> None:
        at = next(i for i, line in enumerate(run) if len(line.split("\t")[0].split("_")) == 4)
        run.insert(0, run.pop(at))

    def unknown_query(self, run: list[str], pool: list[str]) -> None:
        run[700] = "CSB17_ENG_0123456789" + run[700][run[700].index("\t") :]

    def two_fatal_lines_in_different_parts(self, run: list[str], pool: list[str]) -> None:
        for at in (1200, 20):
            columns = pool[at].split("\t")
            pool[at] = "\t".join((*columns[:5], "Q", *columns[6:]))

    def no_text(self, run: list[str], pool: list[str]) -> None:
        run[900] += "\udcff"

    def comments_only(self, run: list[str], pool: list[str]) -> None:
        run[:] = ["# nothing", ""]


@pytest.mark.parametrize("spoil", [name for name in vars(Indivisible) if not name.startswith("_")])
def test_what_needs_the_whole_is_scored_whole(evaluation: Evaluation, tmp_path: Path, taken: Taken, spoil: str) -> None:
    texts = {name: Path(getattr(evaluation, name)).read_text().split("\n") for name in ("run", "pool")}
    getattr(Indivisible(), spoil)(texts["run"], texts["pool"])
    for name, lines in texts.items():
        (tmp_path / name).write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    words = ("-expand", "CSB17", evaluation.queries, "pool", "run")
    whole = outputs(tmp_path, "--parts", "1", *words)
    for jobs in ("1", "2"):
        assert outputs(tmp_path, "--parts", "6", "--jobs", jobs, *words) == whole
    assert taken == [False, False]


def test_problems_of_all_parts_are_reported_once(inputs: Inputs, tmp_path: Path, taken: Taken) -> None:
    """The same message at places that fall to different parts has one entry with all of them."""
    evaluation = generate(Shape(300), str(tmp_path))
    run = Path(evaluation.run).read_text().split("\n")
    run = [line.replace("\tPER\t", "\tPERSON\t") for line in run]
    Path(evaluation.run).write_text("\n".join([*run, "too\tfew", "too\tfew", *run[:5]]))
    words = ("-error_file", "out.errlog", *evaluation.words())
    status, stderr, whole = outputs(tmp_path, "--parts", "1", *words)
    assert b"Illegal value type: PERSON" in whole["out.errlog"]
    assert b" other places)" in whole["out.errlog"]
    assert outputs(tmp_path, "--parts", "5", "--jobs", "2", *words) == (status, stderr, whole)
    assert taken == [True]


def test_a_worker_that_dies_costs_time_only(
    evaluation: Evaluation, tmp_path: Path, taken: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = outputs(tmp_path, "--parts", "1", *evaluation.words())
    score, owner = scoring_in_parts._score_part, os.getpid()

    def killed(task: scoring_in_parts._PartTask, part: int) -> scoring_in_parts._PartScore:
        if part == 2 and os.getpid() != owner:
            os.kill(os.getpid(), signal.SIGKILL)
        return score(task, part)

    monkeypatch.setattr(scoring_in_parts, "_score_part", killed)
    assert outputs(tmp_path, "--parts", "5", "--jobs", "2", *evaluation.words()) == whole
    assert taken == [False]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_is_one_line(
    evaluation: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    monkeypatch.setattr("cs_score.coldstart.parts._PartTask.response_file", lambda task, part: "/dev/full")
    status, stderr, files = outputs(tmp_path, "--parts", "5", "--jobs", jobs, *evaluation.words())
    assert (status, files) == (255, {})
    last = stderr.decode().splitlines()[-1]
    assert last == "cs-score: Could not write /dev/full: No space left on device"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_leaves_nothing_and_ends_at_once(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C reaches all processes of a terminal; `timeout` and `kill` tell the first one only."""
    evaluation = generate(Shape(60_000), str(tmp_path))
    before = set(tmp_path.iterdir())
    words = (sys.executable, "-m", "cs_score", "-output_file", "out", "--parts", "40", "--jobs", "2")
    with subprocess.Popen(
        (*words, *evaluation.words()), cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True
    ) as child:
        while not (workers := _children(child.pid)):
            time.sleep(0.01)
        time.sleep(0.1)
        assert any(path.suffix == ".part" for path in tmp_path.iterdir())
        if number is signal.SIGINT:
            os.killpg(child.pid, number)
        else:
            child.terminate()
        _, stderr = child.communicate(timeout=20)
    said = b"cs-score: interrupted\n" if number is signal.SIGINT else b""
    assert (child.returncode, stderr) == (128 + number, said)
    assert set(tmp_path.iterdir()) == before
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers.split())


def _children(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return ""
