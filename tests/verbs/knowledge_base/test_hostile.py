"""Hostile inputs, full disks and kills: one line, nothing half written, nothing outside of the output folder."""

from __future__ import annotations

import os
import random
import re
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from cs_score.base import outputs
from cs_score.base.errors import OutputError
from cs_score.problems.log import Place, ProblemLog
from cs_score.verbs.knowledge_base.resolution import Mention, MentionIndex
from tests.verbs.batch.command import environment
from tests.verbs.knowledge_base.invented import FAMILY, Inputs

_ALL = "tac:edl:nug:eal:sen"


@pytest.mark.parametrize("docid", ["../../escaped", "/tmp/escaped", "..", ".", "a/b", "\0"])
@pytest.mark.parametrize("mode", ["sen", "eal"])
def test_document_names_never_leave_the_output_folder(docid: str, mode: str, tmp_path: Path) -> None:
    inputs = Inputs(tmp_path / "deep" / "er")
    here, there = f"{docid}:1-2", f"{docid}:4-5"
    inputs.kb(
        ":Entity_1\ttype\tPER", f':Entity_1\tmention\t"A"\t{here}', ":Event_1\ttype\tLIFE.DIE",
        f':Event_1\tmention.actual\t"d"\t{there}', f":Event_1\tlife.die:victim.actual\t:Entity_1\t{here};{there};NIL",
    )  # fmt: skip
    outcome = inputs.validate("-output", mode)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert not list(tmp_path.rglob("*.part"))
    if mode == "sen" and docid in (".", ".."):  # with its ending that is a name like others
        assert (outcome.status, len(files)) == (0, 4)
        assert all(name.startswith(("deep/er/sentiments/", "deep/er/log", "deep/er/kb.tac")) for name in files)
        return
    assert outcome.status == 255
    assert "cannot be the name of a file" in inputs.report[-1]
    assert files == {"deep/er/kb.tac", "deep/er/log"}


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    made = (("a", "first", [b"x"]), ("a", "first", [b"again"]))
    with pytest.raises(OutputError, match="File exists"):
        outputs.write_folder(tmp_path / "out", ("a",), made)
    assert list(tmp_path.iterdir()) == []
    outputs.write_folder(tmp_path / "out", ("a", "b"), made[:1])
    assert (tmp_path / "out" / "a" / "first").read_bytes() == b"x"
    assert (tmp_path / "out" / "b").is_dir()
    with pytest.raises(OutputError):
        outputs.write_folder(tmp_path / "out", (), ())  # it is there already, and not empty


@pytest.mark.parametrize("line", ["\t" * 100_000, '"' * 100_000, ":Entity_1\tmention\t" + "\\" * 50_001, "#" * 100_000,
                                  ":Entity_1\tper:children\t:Entity_2\t" + "D:1-2," * 20_000,
                                  ":Entity_1\tper:children\t:Entity_2\t" + ";" * 100_000,
                                  ":Entity_1\t" + "a." * 50_000 + "\t:Entity_2\tD:1-2"])  # fmt: skip
def test_long_lines_do_not_hang(line: str, inputs: Inputs) -> None:
    inputs.kb(*FAMILY, line)
    start = time.monotonic()
    assert inputs.validate("-output", "tac").status in (0, 255)
    inputs.write("kb.tac.valid", f"r1\n{line}\n")
    inputs.resolve()
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("shape", ["justifications", "passes", "fills", "answers"])
def test_work_grows_with_the_input_only(shape: str, inputs: Inputs) -> None:
    """Twenty times as much takes about twenty times as long, not four hundred times."""

    def seconds(size: int) -> float:
        people = (*FAMILY[:6],)
        relation = ":Entity_1\tper:siblings\t:Entity_2\tENG_1:{}-{}\t0.5"
        if shape == "fills":
            extra = [f":Entity_1\tper:city_of_birth\t:Entity_{n}\tENG_1:6-21\t0.{n:06d}1" for n in range(9, size + 9)]
        elif shape == "passes":
            extra = [relation.format(n, n + 900) for n in range(size)] + [relation.format(size, size + 1)] * size
        else:
            extra = [relation.format(n, n + 1) for n in range(size)]
        inputs.kb(*people, *extra)
        start = time.monotonic()
        inputs.validate("-ignore", "NO_MENTIONS", "-output", "tac")
        if shape == "answers":
            inputs.resolve()
        return time.monotonic() - start

    seconds(100)
    small, large = seconds(300), seconds(6000)
    assert large < 100 * small + 1


@pytest.mark.parametrize("make", [
    lambda path: outputs.write_folder(path, (), ()), lambda path: outputs.folder_beside(str(path)).__enter__(),
])  # fmt: skip
def test_an_interrupt_as_soon_as_a_temporary_folder_is_there_leaves_nothing(
    make: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.mkdir

    def made_and_stopped(path: str, mode: int = 0o777) -> None:
        really(path, mode)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "mkdir", made_and_stopped)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "out")
    assert os.listdir(tmp_path) == []


def _process(folder: Path, *words: str, largest_file: int | None = None) -> subprocess.Popen[bytes]:
    """A process of the command; no file that it writes can have more than so many bytes."""

    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    return subprocess.Popen(
        [sys.executable, "-m", "cs_score", *words],
        cwd=folder, env=environment(), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, preexec_fn=limit,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        *(("validate-kb", "-output_dir", "out", "-output", output, "kb.tac") for output in _ALL.split(":")),
        ("validate-kb", "-stats_file", "out/st", "kb.tac"),
        ("validate-kb", "--json", "out/st.json", "kb.tac"),
        ("validate-kb", "--problems", "out/p.json", "kb.tac"),
        ("validate-kb", "-error_file", "out/log", "kb.tac"),
        ("resolve-queries", "q.xml", "kb.tac.valid", "out/run"),
        ("resolve-queries", "--explain", "out/why.tsv", "q.xml", "kb.tac.valid", "/dev/null"),
    ],
)
def test_a_disk_that_is_full_is_told_in_one_line_and_nothing_half_is_left(
    words: tuple[str, ...], inputs: Inputs
) -> None:
    (inputs.folder / "out").mkdir()
    title = ":Entity_1\ttype\tPER"
    inputs.kb(*FAMILY, ":Event_1\ttype\tLIFE.DIE", ':Event_1\tmention.actual\t"d"\tENG_1:4-5', title,
              ":Event_1\tlife.die:victim.actual\t:Entity_1\tENG_1:1-9;ENG_1:4-5;NIL")  # fmt: skip
    if words[0] == "resolve-queries":
        assert inputs.validate("-output", "tac").status == 0
    with _process(inputs.folder, *words, largest_file=20) as child:
        assert child.stderr is not None
        said = child.stderr.read().decode().splitlines()
    assert child.returncode == 255
    assert re.fullmatch(rf"cs-score {words[0]}: Could not write out/\S+: File too large", said[-1])
    assert not [line for line in said if "Traceback" in line]
    assert os.listdir(inputs.folder / "out") == []


def test_many_mentions_below_many_entry_points_take_no_memory_and_little_time() -> None:
    chance = random.Random(5)
    mentions = [Mention(chance.randrange(99), chance.randrange(99, 900), n, str(n), "") for n in range(9_000)]
    index = MentionIndex(mentions)
    tracemalloc.start()
    chosen = [index.best_mention(99, 99 + n) for n in range(40)]
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()
    assert chosen[::5] == [
        min(
            index.overlaps(99, 99 + n),
            key=lambda overlap: (-overlap.shared_count_less_one, overlap.unshared_count, overlap.mention.line),
        ).mention
        for n in range(0, 40, 5)
    ]


def test_a_problem_of_many_nodes_takes_little_memory() -> None:
    log = ProblemLog()
    found = [(f":Entity_{n}", Place("kb.tac", n)) for n in range(20_000)]
    tracemalloc.start()
    for name, place in found:
        log.add("UNKNOWN_TYPE", name, place=place)
    assert tracemalloc.get_traced_memory()[0] < 20_000 * 300  # bytes, half of them for the message
    tracemalloc.stop()
