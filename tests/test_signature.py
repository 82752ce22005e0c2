"""The citable line: what it shows, what leaves it alone, and how it is read back."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.errors import UsageError
from cs_score.base.records import replace
from cs_score.base.signature import GOLD, POOL, QUERIES, QUERY_LIST, ROLES, RUN, Origin, Signature
from cs_score.base.sources import InputDigest, open_source
from cs_score.coldstart.options import POLICY_CATEGORIES, SIDES, JustificationLimits, Options, Policy, origin_of
from cs_score.evidence import r4c, scifact
from cs_score.measures import MEASURES
from tests.coldstart.command import score_in
from tests.coldstart.lines import CHILDREN
from tests.verbs.preparation.invented import AskedQuery, Inputs, Judged, RunLine

WORDS: Final = st.text(min_size=1)
DIGITS: Final = st.text("0123456789abcdef", min_size=8, max_size=8)
SIGNATURES: Final = st.builds(
    Signature,
    st.one_of(st.sampled_from([str(measure) for of_mode in MEASURES.values() for measure in of_mode]), WORDS),
    st.lists(WORDS).map(tuple),
    DIGITS,
    st.none() | DIGITS,
    st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){2}([a-z0-9.+-]{1,9})?", fullmatch=True),
)


# ---- As text


@given(SIGNATURES)
def test_a_signature_is_read_back_from_its_line(signature: Signature) -> None:
    line = str(signature)
    assert Signature.parse(line) == signature
    assert line.isascii()
    assert line.isprintable()
    assert not {" ", "`"} & set(line)


def test_the_line_is_as_documented() -> None:
    line = "LDC-MEAN-ALL-Macro-F1|kb|1:3|gold:44ceb0c1|run:db75ecd6|cs-score:0.2.0"
    signature = Signature.parse(line)
    assert signature == Signature("LDC-MEAN-ALL-Macro-F1", ("kb", "1:3"), "44ceb0c1", "db75ecd6", "0.2.0")
    assert str(signature) == line
    assert (
        str(signature.of("SF-AP@1").of_run("a|b").of_all_runs())
        == "SF-AP@1|kb|1:3|runid=a%7Cb|gold:44ceb0c1|cs-score:0.2.0"
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "F1", "F1|kb|1:3", "|gold:44ceb0c1|run:db75ecd6|cs-score:0.2.0", "F1|gold:44ceb0c1|run:db75ecd6|cs-score:",
        "F1|gold:44ceb0c|run:db75ecd6|cs-score:1", "F1|gold:44CEB0C1|run:db75ecd6|cs-score:1",
        "F1|a b|gold:44ceb0c1|cs-score:1", "F1||gold:44ceb0c1|cs-score:1",
        "F1|%|gold:44ceb0c1|cs-score:1", "F1|%FF|gold:44ceb0c1|cs-score:1", "F1|gold:44ceb0c1|cs-score:1\n",
        "F1|é|gold:44ceb0c1|cs-score:1", "|" * 100_000, "a|" * 100_000,
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match=r"^not a signature, which looks like SF-ALL-Micro-F1"):
        Signature.parse(text)


# ---- Contents


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=[".gz", ".bz2", ".xz"])
def test_a_digest_is_that_of_the_content(pack: Any, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    content = b"a line\n" * 100_000
    path = tmp_path / f"file{request.node.callspec.id}"
    path.write_bytes(pack(content))
    for read in (0, 1, -1):
        with open_source(path) as source:
            assert source.binary.read(read) == content[: None if read < 0 else read]
            assert source.digest(RUN) == InputDigest(str(path), hashlib.sha256(content).hexdigest(), RUN)


def _input(content: str, role: str) -> InputDigest:
    return InputDigest(content, hashlib.sha256(content.encode()).hexdigest(), role)


def test_gold_is_queries_and_pool_in_whatever_order() -> None:
    read = (_input("q", QUERIES), _input("p1", POOL), _input("r", RUN), _input("p2", POOL), _input("r2", RUN))
    signature = Origin("m", {}, read, ()).signature
    assert Origin("m", {}, read[::-1], ()).signature == signature
    for left_out in range(len(read)):
        other = Origin("m", {}, read[:left_out] + read[left_out + 1 :], ()).signature
        assert (other.gold == signature.gold) == (read[left_out].role == RUN)
        assert (other.run == signature.run) == (read[left_out].role != RUN)


# ---- Options


@given(st.permutations(sorted(POLICY_CATEGORIES)), st.data())
def test_policies_that_count_differently_have_other_settings(items: list[str], data: st.DataObject) -> None:
    def draw() -> Policy:
        legal = {side: [item for item in items if side in POLICY_CATEGORIES[item].sides] for side in SIDES}
        drawn = {side: tuple(item for item in legal[side] if data.draw(st.booleans())) for side in SIDES}
        return Policy(**{side.lower(): chosen for side, chosen in drawn.items()})

    def plain(policy: Policy) -> object:
        return policy.right, sorted(policy.wrong), sorted(policy.ignore)

    one, other = draw(), draw()
    shown = [origin_of(Options(policy=each), (), True, are_runs_validated=False).settings[0] for each in (one, other)]
    assert (shown[0] == shown[1]) == (plain(one) == plain(other))


def test_every_option_that_changes_scores_shows() -> None:
    def line(listed: str = "ids", *, validated: bool = False, **options: Any) -> str:
        inputs = (_input(listed, QUERY_LIST),) if listed else ()
        return str(origin_of(replace(Options(), **options), inputs, True, are_runs_validated=validated).signature)

    lines = [line(), line(discipline="STRING_EXACT"), line(expand="A"), line(expand="B"), line(validated=True)]
    lines += [line(justifications=JustificationLimits.parse("M:M")), line(samples="s"), line(queries="ids")]
    lines += [line("other", queries="ids"), line("", queries="A:B"), line(runids=("a", "b")), line(runids=("b", "a"))]
    assert len(set(lines)) == len(lines)
    assert line(metrics=("P",)) == lines[0]
    assert line(queries="ids") == line(queries="./ids")
    assert "|kb|1:3|expand=A|gold:" in lines[2]


def test_an_evidence_mode_shows_what_is_not_as_usual() -> None:
    gold, run = _input("g", GOLD), _input("p", RUN)
    assert r4c.MODE.origin({"references": 3, "ignore_missing": False}, gold, run).settings == ("r4c",)
    assert r4c.MODE.origin({"references": 2, "ignore_missing": True}, gold, run).settings == (
        "r4c", "references=2", "ignore_missing=true",
    )  # fmt: skip
    assert str(scifact.MODE.origin({"any_order": True}, gold, run).signature).startswith(
        "sentence_label_f1|scifact|any_order=true|gold:"
    )


# ---- On the command line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inputs = Inputs(tmp_path)
    inputs.queries(AskedQuery(slots=(CHILDREN,)))
    inputs.lines(RunLine(), RunLine("Zoë", node=":E2"))
    inputs.lines(Judged(), name="pool")
    inputs.lines(Judged(value="Zoë", id="a2"), name="pool2")
    return tmp_path


def lines_of(folder: Path, *words: str) -> list[str]:
    outcome = score_in(folder, ["--json=r.json", "--force", *words])
    result = json.loads((folder / "r.json").read_text())
    assert outcome.status in (0, 255)
    assert {given["role"] for given in result["origin"]["inputs"]} <= set(ROLES)
    found = [run["signature"] for run in result["runs"]]
    if len(found) == 1:
        assert found == [result["signature"]]
    return found


def test_names_order_packing_and_layout_leave_the_line_alone(folder: Path) -> None:
    usual = lines_of(folder, "q.xml", "run.tab", "pool", "pool2")
    assert Signature.parse(usual[0]).settings == ("kb", "1:3")
    (folder / "sub").mkdir()
    for name in ("run.tab", "q.xml", "pool"):
        (folder / "sub" / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    again = lines_of(
        folder, "-tabs", "-fields=EC:F", "--bootstrap=9", "--problems=p.json", "-output_file=o", "-wrong",
        "INEXACT:INCORRECT:INCORRECT_PARENT", "sub/pool.gz", "./pool2", "sub/q.xml.gz", f"{folder}/sub/run.tab.gz",
    )  # fmt: skip
    assert again == usual
    with open(folder / "pool", "a") as file:
        file.write("\n")
    changed = Signature.parse(*lines_of(folder, "q.xml", "run.tab", "pool", "pool2"))
    assert changed.gold != Signature.parse(usual[0]).gold
    assert replace(changed, gold=Signature.parse(usual[0]).gold) == Signature.parse(usual[0])
