"""The benchmark's inputs are what they claim to be, and its figures are computed from what it measured."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from benchmarks import coldstart, floor
from benchmarks.generate import BASE, Evaluation, Shape, follow_on_id, generate
from benchmarks.process import Cost, FailedRunError, run
from tests.coldstart.command import Outcome, score_in


def _score(files: Evaluation, folder: Path) -> Outcome:
    return score_in(folder, ["-output_file", "out", "-error_file", "out.errlog", *files.words()])


def _digest(files: Evaluation) -> list[str]:
    return [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in (files.queries, files.pool, files.run)]


SHAPES = [
    Shape(10, lines_per_query=5),
    Shape(2000),
    Shape(2000, seed=1),
    Shape(2000, lines_per_query=1000),
    Shape(2000, lines_per_query=1000, answers_per_class=500),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_run_has_its_lines_and_scores_without_a_warning(shape: Shape, tmp_path: Path) -> None:
    files = generate(shape, str(tmp_path), query_list=True)
    assert Path(files.run).read_bytes().count(b"\n") == shape.lines
    outcome = _score(files, tmp_path)
    assert (outcome.status, outcome.files["out.errlog"]) == (0, b"No warnings encountered\n")


def test_the_run_mixes_what_real_runs_mix(tmp_path: Path) -> None:
    """Every count of the SF table occurs, at both hops where it can."""
    files = generate(Shape(3000), str(tmp_path))
    assert _score(files, tmp_path).status == 0
    header, *rows = (line.split() for line in (tmp_path / "out.sf").read_text(encoding="utf-8").splitlines())
    by_level = {row[2]: dict(zip(header, row)) for row in rows if row and row[0] == "ALL-Micro"}
    for level in ("0", "1"):
        counts = ("GT", "Correct", "Incorrect", "Inexact", "Unassessed", "Dup", "Right", "Wrong", "Ignored")
        assert [name for name in counts if int(by_level[level][name]) < 20] == []
    assert int(by_level["1"]["PIncorrect"]) > 20
    debug = (tmp_path / "out.debug").read_text(encoding="utf-8")
    assert "\tNOM\n" in debug
    assert not debug.isascii()


def test_equal_seeds_make_equal_files(tmp_path: Path) -> None:
    made = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        made.append(_digest(generate(Shape(500, seed=seed), str(tmp_path / name))))
    assert made[0] == made[1] != made[2]


def test_samples_draw_as_many_queries_as_there_are(tmp_path: Path) -> None:
    files = generate(Shape(200), str(tmp_path), query_list=True, samples=7)
    assert files.query_list
    assert files.samples
    known: dict[str, set[str]] = {}
    for line in Path(files.query_list).read_text(encoding="utf-8").splitlines():
        ldc, query = line.split()
        known.setdefault(ldc, set()).add(query)
    lines = Path(files.samples).read_text(encoding="utf-8").splitlines()
    assert [line.split()[0] for line in lines] == [str(number) for number in range(1, 8)]
    for line in lines:
        groups = [group.split(":") for group in line.split()[1:]]
        assert len(groups) == len(known)
        assert all(set(members.split(",")) == known[ldc] for ldc, members in groups)


@pytest.mark.parametrize(
    ("value", "span", "digits"),
    [
        ("Zoë", "DOC_A:31-41", "7424aa29d85b"),
        ('He said "hi"', "DOC_A:32-42", "f3fc4db44fbe"),
        ("back\\slash", "DOC_A:33-43", "6e3d7f9b8f58"),
    ],
)
def test_follow_on_ids_are_the_recorded_ones(value: str, span: str, digits: str) -> None:
    assert follow_on_id("CSX_ENG_979a86d86f", value, span) == f"CSX_ENG_979a86d86f_{digits}"


def test_the_floor_reads_every_line_and_writes_every_byte(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("a\tb\nc\n\nlast", encoding="utf-8")
    assert sorted(floor.read([str(tmp_path / "in")]).values()) == [[""], ["a", "b"], ["c"], ["last"]]
    floor.write(str(tmp_path / "out"), 2_500_001)
    assert (tmp_path / "out").stat().st_size == 2_500_001


def _row(lines: int, seconds: float, floor_seconds: float = 1.0) -> coldstart.Measured:
    return coldstart.Measured(lines, 3, 10**6, Cost(seconds, 2 * 10**9), Cost(floor_seconds, 10**9))


def test_targets_are_judged_by_the_measured_figures() -> None:
    rows = [_row(10, 0.25), _row(10_000, 0.1), _row(1_000_000, 11.0, 5.0)]
    assert [(v.figure, v.met) for v in coldstart.verdicts(rows)] == [
        (pytest.approx(2.2), True),
        (pytest.approx(2.0), True),
        (pytest.approx(1.1), True),
        (pytest.approx(0.25), False),
        (None, None),
    ]


def test_a_small_benchmark_prints_and_writes_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    words = ["--sizes", "100", "--repeats", "1", "--keep", str(tmp_path / "kept"), "--json", str(report)]
    assert coldstart.main(words) == 0
    assert "ten-line run" in capsys.readouterr().out
    figures = json.loads(report.read_text(encoding="utf-8"))
    assert [size["lines"] for size in figures["sizes"]] == [10, 100]
    assert all(size["scorer"]["seconds"] > 0 and size["scorer"]["peak"] > 10**6 for size in figures["sizes"])
    outputs = tmp_path / "kept" / "100-24-3"
    assert figures["sizes"][1]["written"] == sum(path.stat().st_size for path in outputs.glob("out.*"))
    assert BASE in (outputs / "out.sf").read_text(encoding="utf-8")


def test_a_program_that_fails_is_not_measured(tmp_path: Path) -> None:
    with pytest.raises(FailedRunError, match="ended with status 3: no"):
        run(("sh", "-c", "echo no >&2; exit 3"), str(tmp_path))
