"""What holds for every knowledge base."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verbs.knowledge_base.invented import Inputs, asked_of, random_kb

SEEDS = range(8)
SLOTS = ("per:children", "per:siblings", "per:spouse")


def test_links_cannot_be_validated_again(inputs: Inputs) -> None:
    """They are written with an empty column, which counts when they are read."""
    inputs.kb(*random_kb(1), ":Entity_1\tlink\tKB:1")
    assert inputs.validate("-output", "tac").status == 0
    inputs.write("again.tac", (inputs.folder / "kb.tac.valid").read_bytes())
    assert inputs.validate(name="again.tac").status == 255
    assert inputs.report[0].startswith("ERROR: Wrong number of entries on line (expected 3, got 4)")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_relations_and_mentions_changes_nothing(seed: int, inputs: Inputs) -> None:
    """Types come first, because names are looked up by them; ties are sorted as they stand, and there are none."""
    lines = random_kb(seed, documents=1)
    types = [line for line in lines if "\ttype\t" in line]
    others = list(dict.fromkeys(line for line in lines if "\ttype\t" not in line))
    relations = {tuple(line.split("\t")[:4]): line for line in others}  # without repetitions, whose order counts
    others = list(relations.values())
    outputs = []
    for number in range(3):
        random.Random(number).shuffle(others)
        inputs.kb(*types, *others)
        assert inputs.validate("-output", "tac:edl", "-stats_file", "stats").status == 0
        outputs.append(
            (
                sorted((inputs.folder / "kb.tac.valid").read_bytes().split(b"\n")),
                sorted(re.sub(r"_M\d+|", "", line) for line in inputs.lines("kb.edl.valid")),
                inputs.lines("stats"),
                sorted(re.sub(r"line \d+", "", line) for line in inputs.report),
            )
        )
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_chain_gives_the_bytes_of_its_steps(seed: int, inputs: Inputs) -> None:
    """What was validated is not changed again, and validate-run has nothing new to say of a run that was resolved: but
    for repeated lines and limits on justifications, which are no business of the resolver."""
    inputs.kb(*random_kb(seed))
    inputs.queries(*asked_of(range(5), SLOTS))
    inputs.write("pool.tab", _pool())
    assert inputs.validate("-output", "tac").status == 0
    inputs.write("again.tac", once := (inputs.folder / "kb.tac.valid").read_bytes())
    assert inputs.resolve().status == 0
    if inputs.lines("run.tab"):
        outcome = inputs.call("validate-run", "-justifications", "M:M", "q.xml", "run.tab")
        assert outcome.status == 0
        reported = [line for line in outcome.stderr.decode().splitlines() if line.startswith(("WARNING", "ERROR"))]
        assert all("appears more than once" in line for line in reported)
    for number, (switches, files) in enumerate(
        [((), ("kb.tac",)), (("--knowledge-base", "kb.tac"), ()), (("--validate",), ("kb.tac",))]
    ):
        more = switches if files else ()
        steps = inputs.call("-output_file", f"steps{number}", *more, "q.xml", "pool.tab", "run.tab")
        chain = inputs.call("-output_file", f"chain{number}", *switches, "q.xml", "pool.tab", *files)
        assert steps.status == chain.status
        by_steps, at_once = ({name[6:]: data for name, data in each.files.items()} for each in (steps, chain))
        assert {**at_once, ".params": b""} == {**by_steps, ".params": b""}
        assert b"kb.tac: validated and resolved; " in chain.stderr
    assert inputs.validate("-output", "tac", name="again.tac").status == 0
    assert inputs.report == ["No warnings encountered"]
    assert (inputs.folder / "again.tac.valid").read_bytes() == once


def _pool() -> str:
    return "".join(
        f"a{one}\tCSX_ENG_{one:010x}:per:children\tENG_0:0-9\tN{one}\tENG_0:{20 * one}-{20 * one + 3}"
        f"\tC\tNAM\tC\tCSX_ENG_{one:010x}:1\tNAM\n"
        for one in range(5)
    )


_PIECES = st.sampled_from(
    [
        ":Entity_1", "Entity_2", ":String_1", ":Event_1", ":Entity-1", '"Ann"', "Ann", '"op', "type", "TYPE", "PER",
        "STRING", "LIFE.DIE", "mention", "mention.actual", "canonical_mention", "link", "link.actual", "per:children",
        "children", "spouses", "per:title", "life.die:victim.actual", "life.die_victim", "likes", "x:y.z.", "ENG_1:1-3",
        "ENG_1:3-1", "ENG_1:1-500", "ENG_1:1-3;ENG_1:1-9", "ENG_1:1-3,ENG_2:4-5", "NIL", ";", ",", "0", "1", "0.5",
        "1.0e-05", "KB:1", "#c", "", " ", "\x1c", "\u2028", "\x1b[31m", "../../x:1-2", "\ufeff", "9" * 400,
    ]
)  # fmt: skip


@given(st.lists(st.lists(_PIECES, max_size=6).map("\t".join), max_size=12))
def test_any_lines_end_in_good_order(tmp_path: Path, lines: list[str]) -> None:
    """A report and a closing line, whatever there is; with errors no output."""
    inputs = Inputs(tmp_path)
    inputs.kb(*lines)
    for folder in ("event_arguments", "sentiments"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)
    outcome = inputs.validate("-output", "tac:edl:nug:eal:sen", "-stats_file", "stats", "--json", "j.json")
    assert b"Traceback" not in outcome.stderr
    closing = inputs.report[-1]
    assert closing.endswith(("encountered", "cannot be the name of a file")), closing
    assert (outcome.status == 0) == ("warning" in closing)
    assert (tmp_path / "kb.tac.valid").exists() == (outcome.status == 0)
    assert not list(tmp_path.rglob("*.part"))
    if outcome.status == 0:
        inputs.queries(*asked_of(range(2), SLOTS))
        assert b"Traceback" not in inputs.resolve().stderr
