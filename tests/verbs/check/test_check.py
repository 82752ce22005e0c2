"""Limits of scores: what is kept, what is not, what cannot be told, and how it is printed."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import replace
from cs_score.base.signature import GOLD, RUN, Origin
from cs_score.base.sources import InputDigest
from cs_score.evidence import hotpotqa
from cs_score.statistics.planning import DetectionGoal, SignTestPowerAnalysis
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.sign_test import OutcomeShares
from cs_score.verbs.check.checking import WRITERS, Checked, Gate, Limit, MeasuredRun, measured_run_of_result, read_limit
from tests.coldstart.command import Outcome, score_in
from tests.evidence.test_command import files as evidence_files
from tests.verbs.preparation.invented import Inputs, Judged, RunLine
from tests.verbs.verify.test_verify import HOSTILE

F1: Final = "SF-ALL-Micro-F1"


def measured(
    scores: float | Mapping[str, float], name: str = "run", gold: str = "g", settings: tuple[str, ...] = ("kb", "1:3")
) -> MeasuredRun:
    """A result with these scores, or with this F1, and no statistics of units."""
    scores = {F1: scores} if isinstance(scores, float) else scores
    read = (InputDigest(gold, (gold * 64)[:64], GOLD), InputDigest(name, "0" * 64, RUN))
    origin = Origin("coldstart", {}, read, settings, F1)
    return MeasuredRun(name, origin, scores, None)


def kept(score: float, *, least: str | None = None, drop: str | None = None, before: float = 0.0) -> bool:
    gate = Gate(
        () if least is None else (Limit(F1, Decimal(least)),), () if drop is None else (Limit(F1, Decimal(drop)),)
    )
    return gate.judge(measured(score), None if drop is None else measured(before, "b.json")).passed


# ---- Around the limits


@given(st.decimals(0, 1, places=6), st.decimals(0, 1, places=6), st.integers(-3, 3))
def test_limits_hold_however_numbers_are_rounded(before: Decimal, drop: Decimal, beyond: int) -> None:
    """Scores that come from other sums than the limit are off by some last digits."""
    score = float(before) - float(drop)
    assert kept(score + beyond * 2**-52, drop=str(drop), before=float(before))
    assert kept(score + beyond * 1e-7, drop=str(drop), before=float(before)) == (beyond >= 0)
    assert kept(float(before) + beyond * 2**-52, least=str(before))
    assert kept(float(before) + beyond * 1e-7, least=str(before)) == (beyond >= 0)


def test_patterns_choose_measures_and_the_last_limit_counts() -> None:
    scores = {F1: 0.5, "SF-ALL-Micro-P": 0.6, "SF-AP": 0.1}
    gate = Gate((read_limit("--min", "SF-ALL-*=0.55"), read_limit("--min", f"{F1}=0.5")))
    checks = gate.judge(measured(scores), None).checks
    assert [(check.measure, check.limit, check.passed) for check in checks] == [
        (F1, 0.5, True),
        ("SF-ALL-Micro-P", 0.55, True),
    ]
    with pytest.raises(UsageError, match=r"no measure called SF-RR; there are SF-ALL-Micro-F1, "):
        Gate((read_limit("--min", "SF-RR=0.5"),)).judge(measured(scores), None)


def test_without_limits_the_headline_measure_may_not_drop() -> None:
    """It is average precision where the baseline has one, and F1 otherwise; other measures may drop."""
    before = measured({F1: 0.5, "SF-ALL-Micro-P": 0.5}, "b.json")
    judgement = Gate().judge(measured({F1: 0.5, "SF-ALL-Micro-P": 0.4}), before)
    assert [(check.measure, check.passed) for check in judgement.checks] == [(F1, True)]
    before = measured({F1: 0.5, "SF-AP": 0.5}, "b.json")
    judgement = Gate().judge(measured({F1: 0.1, "SF-AP": 0.4}), before)
    assert [(check.measure, check.passed) for check in judgement.checks] == [("SF-AP", False)]


# ---- What can be compared


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        ({"gold": "h"}, r"it was scored against other gold \(gold:hhhhhhhh, now gold:gggggggg\)"),
        ({"settings": ("sf", "1:1")}, r"it was scored with other options \(sf\|1:1, now kb\|1:3\)"),
    ],
)
def test_a_baseline_of_something_else_is_refused_unless_told(other: dict[str, Any], complaint: str) -> None:
    before = measured(0.5, "b.json", **other)
    with pytest.raises(InputError, match=f"b.json: {complaint}; make a new one, or .* --any-baseline"):
        Gate().judge(measured(0.5), before)
    assert Gate(allows_any_baseline=True).judge(measured(0.5), before).passed


# ---- Significance


def answered(name: str, right: Sequence[int], *, units: int = 40) -> MeasuredRun:
    """A HotpotQA result in which these questions are answered right."""
    score = hotpotqa.MODE.score(
        [{"_id": str(at), "answer": "a", "supporting_facts": []} for at in range(units)],
        {"answer": {str(at): "a" if at in right else "b" for at in range(units)}, "sp": {}},
    )
    return replace(measured_run_of_result(score), name=name)


@pytest.mark.parametrize(
    ("lost", "gained", "expected"),
    [(range(12), range(0), False), (range(3), range(0), True), (range(6), range(20, 25), True)],
)
def test_a_drop_counts_only_if_it_is_significant(lost: range, gained: range, expected: bool) -> None:
    before = answered("b.json", range(20))
    run = answered("run", sorted({*range(20), *gained} - {*lost}))
    drops = (read_limit("--max-drop", "em=0"),)
    assert not Gate(drops=drops).judge(run, before).passed
    judgement = Gate(drops=drops, significance=Resampling(seed=1)).judge(run, before)
    (check,) = judgement.checks
    assert check.p is not None
    assert check.passed is expected is (check.p > 0.05)
    assert ("not significant" in check.message) == expected


def test_too_few_units_are_told() -> None:
    """So is that several drops are tested, each by itself."""
    drops = (read_limit("--max-drop", "em=0"), read_limit("--max-drop", "f1=0"))
    gate = Gate(drops=drops, significance=Resampling())
    judgement = gate.judge(answered("run", [], units=3), answered("b", range(3), units=3))
    assert judgement.passed
    assert {note.code for note in judgement.notes} == {"NEVER_SIGNIFICANT", "FEW_UNITS", "SEVERAL_TESTS"}
    assert "no difference could have been significant here" in WRITERS["text"](judgement)


def test_a_drop_that_is_not_significant_is_undecided() -> None:
    """20 of 40 questions before, 17 now: three are lost, none is won. Forty questions with 3 that differ show a drop of
    about a fifth: all of some 8 units have to be lost.
    """
    drops = (read_limit("--max-drop", "em=0"),)
    judgement = Gate(drops=drops, significance=Resampling()).judge(
        answered("run", range(3, 20)), answered("b.json", range(20))
    )
    (check,) = judgement.checks
    assert (check.passed, check.undecided, check.tests) == (True, True, 1)
    design = SignTestPowerAnalysis(3 / 40, OutcomeShares(0.0, 3 / 40).standard_deviation)
    assert check.detectable == design.detectable_difference(40, DetectionGoal())
    text = " ".join(WRITERS["text"](judgement).split())
    assert text.startswith("ok? em is 0.4250, 0.0750 below the baseline's 0.5000 (p = 0.25")
    assert f"not significant; 40 questions show a drop of {check.detectable:.4f} with probability 0.8)" in text
    assert "1 of 1 limit kept, 1 undecided: the drop is beyond the limit, and not significant." in text
    suite = ElementTree.fromstring(WRITERS["junit"](judgement))
    assert [element.text for element in suite.iter("system-out")] == [check.message]
    assert WRITERS["github"](judgement).startswith("::warning title=")
    assert "\ttrue\ttrue\t\n" in WRITERS["tsv"](judgement)


def test_several_tests_say_how_many_they_are() -> None:
    drops = (read_limit("--max-drop", "em=0"), read_limit("--max-drop", "f1=0"))
    judgement = Gate(drops=drops, significance=Resampling()).judge(
        answered("run", range(3, 20)), answered("b.json", range(20))
    )
    assert [check.tests for check in judgement.checks] == [2, 2]
    assert all("one of 2 uncorrected tests" in check.message for check in judgement.checks)
    assert "2 drops are tested, each by itself at the level of 0.05" in " ".join(WRITERS["text"](judgement).split())


def test_a_test_without_any_difference_says_so() -> None:
    drops = (read_limit("--max-drop", "em=0"),)
    both = [answered(name, range(20)) for name in ("run", "b.json")]
    (check,) = Gate(drops=drops, significance=Resampling()).judge(*both).checks
    assert (check.passed, check.undecided, check.detectable) == (True, False, None)
    assert "the scores do not differ from unit to unit on 40 questions" in check.message


def test_a_baseline_without_units_cannot_be_tested() -> None:
    with pytest.raises(InputError, match=r"b.json: it has no statistics of its units.*leave out --significant"):
        Gate(significance=Resampling()).judge(measured(0.4), measured(0.5, "b.json"))


# ---- Formats


def judgement(*names: str) -> Checked:
    """A limit that is not kept and one that is, of each of these measures."""
    scores = dict.fromkeys(names, 0.3)
    one, other = (
        Gate((Limit("*", Decimal(least)),), allows_any_baseline=True).judge(measured(scores), measured(scores, "b"))
        for least in ("0.4", "0.2")
    )
    return replace(one, checks=one.checks + other.checks)


HOSTILE_NAMES: Final = (
    "<&\"'>]]>",
    "a\x00b\x1b[31m",
    "\ud800\uffff\ufffe",
    "--><x>",
    "%0A::error::",
    "a\nb\r\tc",
    "\u202e",
)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_break_no_format(name: str) -> None:
    found = judgement(name)
    suite = ElementTree.fromstring(WRITERS["junit"](found).encode("utf-8"))
    assert len(list(suite.iter("testcase"))) == 2 * len(list(suite.iter("failure"))) == 2
    assert len(WRITERS["text"](found).splitlines()) == 6
    annotations = WRITERS["github"](found).splitlines()
    assert [line.partition(" ")[0] for line in annotations] == ["::error", "::notice"]
    assert not re.search(r"%(?!25|0A|0D|3A|2C)", "".join(annotations))
    assert json.loads(WRITERS["json"](found))["checks"][0]["measure"] == name
    for format_ in ("text", "github"):
        assert not set(WRITERS[format_](found)) & set("\x00\x1b\u202e")


# ---- On the command line

FILES: Final = ("q.xml", "run.tab", "qrel")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run that finds one of two answers, its result as baseline, and a worse run."""
    inputs = Inputs(tmp_path)
    inputs.queries()
    inputs.lines(RunLine(), RunLine("Zoë", node=":E2"))
    inputs.lines(RunLine("Zoë", node=":E2"), name="worse.tab")
    inputs.lines(Judged(), Judged("W", value="Zoë", id="a2", value_class="0"), name="qrel")
    score_in(tmp_path, ["--json=b.json", *FILES])
    assert (tmp_path / "b.json").exists()
    return tmp_path


def check(folder: Path, *words: str) -> Outcome:
    return score_in(folder, ["check", *words])


@pytest.mark.parametrize(
    "words", [["q.xml", "missing.tab", "qrel"], ["--baseline=none.json", "q.xml", "run.tab", "qrel"]]
)
def test_each_format_has_a_form_for_what_cannot_be_read(words: list[str], folder: Path) -> None:
    def printed(format_: str) -> str:
        outcome = check(folder, "--min=SF-AP=0.1", "--format", format_, *words)
        assert outcome.status == 1
        assert outcome.stderr.startswith(b"cs-score: Could not open ")
        return outcome.stdout.decode()

    assert printed("text") == ""
    told = json.loads(printed("json"))
    assert told["error"].startswith("Could not open ")
    suite = ElementTree.fromstring(printed("junit").encode())
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "1")
    assert [error.get("message", "")[:15] for error in suite.iter("error")] == ["Could not open "]
    assert printed("github").startswith("::error title=cs-score check::Could not open ")


def test_the_baseline_has_the_run_of_the_same_id(folder: Path) -> None:
    Inputs(folder).lines(RunLine("Zoë", node=":E9", run_id="r2"), name="second.tab")
    score_in(folder, ["--json=two.json", "q.xml", "run.tab", "second.tab", "qrel"])
    words = ("--baseline=two.json", "--any-baseline", f"--max-drop={F1}=0", "--format=json")
    for file, run_id in (("run.tab", "r1"), ("second.tab", "r2")):
        (found,) = json.loads(check(folder, *words, "q.xml", file, "qrel").stdout)["checks"]
        recorded = json.loads((folder / "two.json").read_bytes())["runs"]
        assert [found["baseline"]] == [run["scores"][F1] for run in recorded if run["run_id"] == run_id]
    Inputs(folder).lines(RunLine(run_id="r3"), name="third.tab")
    outcome = check(folder, *words, "q.xml", "third.tab", "qrel")
    assert (outcome.status, outcome.stderr) == (1, b"cs-score: two.json: runs: no run r3: there are r1, r2\n")


STORED: Final = ("-o b2.json", "-o b2.json.gz", "-o stored", f"--measure {F1} -o b2.json", "--all -o b2.json")


@pytest.mark.parametrize("stored", STORED)
def test_all_json_that_score_writes_is_a_baseline_and_so_is_its_folder(stored: str, folder: Path) -> None:
    assert score_in(folder, ["score", *FILES, *stored.split()]).status == 0
    outcome = check(folder, "--baseline", stored.split()[-1], "--format", "json", *FILES)
    assert outcome.status == 0, outcome.stderr
    checks = json.loads(outcome.stdout)["checks"]
    assert {check["measure"] for check in checks} == {F1 if "--measure" in stored else "SF-AP"}
    assert all(check["difference"] == 0 for check in checks)


def test_a_baseline_without_headline_measures_holds_what_it_has(folder: Path) -> None:
    score_in(folder, ["score", *FILES, "--measure", "SF-ALL-Macro-R", "-o", "b2.json"])
    outcome = check(folder, "--baseline", "b2.json", "--format", "json", *FILES)
    assert [check["measure"] for check in json.loads(outcome.stdout)["checks"]] == ["SF-ALL-Macro-R"]


def test_an_earlier_check_is_a_baseline_for_what_it_has_checked(folder: Path) -> None:
    check(folder, f"--min={F1}=0", "-o", "checked.json", *FILES)
    outcome = check(folder, "--baseline", "checked.json", "--format", "json", *FILES)
    assert [check["measure"] for check in json.loads(outcome.stdout)["checks"]] == [F1]
    outcome = check(folder, "--baseline", "checked.json", "--max-drop", "SF-AP=0", *FILES)
    assert outcome.status == 1
    assert f"checked.json: it has no SF-AP; it has {F1}; store it with score --measure SF-AP" in outcome.stderr.decode()


def test_what_is_no_baseline_names_the_command_that_makes_one(folder: Path) -> None:
    (folder / "empty").mkdir()
    score_in(folder, ["analyze", *FILES, "-o", "a.json"])
    for path, problem in {"empty": "a folder without out.json", "a.json": "kind analysis, not the scores"}.items():
        outcome = check(folder, "--baseline", path, *FILES)
        assert outcome.status == 1
        assert problem in outcome.stderr.decode()
        assert "cs-score score ... -o FOLDER" in outcome.stderr.decode()


def test_several_runs_are_refused(folder: Path) -> None:
    Inputs(folder).lines(RunLine("Zoë", node=":E9", run_id="r2"), name="second.tab")
    outcome = check(folder, "--min=SF-AP=0", "q.xml", "run.tab", "second.tab", "qrel")
    assert outcome.status == 1
    assert b"2 runs (r1, r2) where one is checked; choose it with --run ID" in outcome.stderr
    assert check(folder, "--min=SF-AP=0", "-runids=r1", "q.xml", "run.tab", "second.tab", "qrel").status == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "nothing to hold the scores against: give --min MEASURE=NUMBER, or --baseline PATH"),
        (["--max-drop=SF-AP=0"], "--max-drop is about a baseline: give --baseline PATH, too"),
        (["--significant"], "--significant is about a baseline: give --baseline PATH, too"),
        (["--min=SF-AP=0", "--seed=1"], "--seed is about the test: give --significant, too"),
        *(([f"--min={text}"], f"--min takes MEASURE=NUMBER, such as --min SF-AP=0.4, not {text}")
          for text in ("0.5", "F1", "F1=", "=0.5", "F1=x", "F1=-1", "F1=nan", "F1=1_0", "F1=1 ")),
        (["--min=F1=1e9"], "--min F1=1e9: scores lie between 0 and 1"),
        (["--min=LDC-MEAN-AP=70"], "--min LDC-MEAN-AP=70: scores lie between 0 and 1: did you mean 0.70?"),
        (["--min=SF-AP=700"], "--min SF-AP=700: scores lie between 0 and 1"),
        (["--baseline=b.json", "--max-drop=SF-AP=2"], "--max-drop SF-AP=2: scores lie between 0 and 1: did you"),
        (["--min=XX=0"], "no measure called XX; there are "),
        (["--min=SF-AP=0", "--format=xml"], "--format takes text, json, tsv, junit, github, not xml"),
        (["--baseline=b.json", "--significant", "--bootstrap=0"], "--bootstrap takes a whole number from 1"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(words: list[str], complaint: str, folder: Path) -> None:
    outcome = check(folder, *words, *FILES)
    assert (outcome.status, outcome.stdout) == (2, b"")
    assert outcome.stderr.decode().splitlines()[-1].startswith(f"cs-score: {complaint}")


def test_limits_have_any_number_of_decimals(folder: Path) -> None:
    for text in ("0.53851648071345040000000000001", "5e-1", ".5", "1.", "0"):
        assert check(folder, f"--min={F1}={text}", *FILES).status in (0, 3)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:40])
def test_a_baseline_that_is_none_is_one_line(text: str, folder: Path) -> None:
    (folder / "r.json").write_text(text, encoding="utf-8")
    outcome = check(folder, "--baseline=r.json", *FILES)
    assert (outcome.status, outcome.stdout) == (1, b"")
    last = outcome.stderr.decode().splitlines()[-1]
    assert last.startswith("cs-score: r.json: ")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("runs", 0, "scores"), []), (("runs", 0, "scores", F1), "0.5"), (("runs", 0, "scores", F1), True),
        (("runs", 0, "units"), 1), (("runs", 0, "units", "rows"), [[1]]), (("runs", 0, "units", "ids"), [1]),
        (("runs", 0, "units", "rows", 0, 0), None), (("runs", 0, "units", "columns"), ["a"]), (("runs",), {}),
        (("runs", 0), None), (("origin", "inputs"), None), (("signature",), "x"),
        (("runs", 0, "scores", F1), 10**400),
    ],
)  # fmt: skip
def test_a_broken_baseline_is_one_line(place: Sequence[str | int], value: object, folder: Path) -> None:
    told = json.loads((folder / "b.json").read_bytes())
    within = told
    for key in place[:-1]:
        within = within[key]
    within[place[-1]] = value
    (folder / "b.json").write_text(json.dumps(told))
    outcome = check(folder, "--baseline=b.json", "--significant", *FILES)
    assert (outcome.status, outcome.stdout) == (1, b"")
    assert outcome.stderr.decode().splitlines()[-1].startswith("cs-score: b.json: ")


@pytest.mark.parametrize("mode", ["claims", "r4c", "hotpotqa", "scifact"])
def test_every_evidence_mode(mode: str, tmp_path: Path) -> None:
    gold, predictions = map(str, evidence_files(mode))
    words = [mode, "--gold", gold, "--predictions", predictions]
    score_in(tmp_path, [*words, "-o", "b.json"])
    same = check(tmp_path, *words, "--baseline=b.json", "--significant", "--bootstrap=99")
    assert same.status == 0, same
    assert b"equal to the baseline's" in same.stdout
    told = json.loads(check(tmp_path, *words, "--baseline=b.json", "--max-drop=*=0", "--format=json").stdout)
    assert all(one["drop"] == 0 for one in told["checks"])
    assert check(tmp_path, *words, "--min=*=1").status == 3
