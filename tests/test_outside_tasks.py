"""Tasks that other packages offer: what is wrong with a package is one line, and disturbs nothing else."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score.tasks
from cs_score.analysis.evidence.evidence_task import EvidenceTask
from cs_score.base.errors import UsageError
from cs_score.base.records import field
from cs_score.cli import topics
from cs_score.tasks import (
    OWN_TASKS,
    Fault,
    InputContent,
    Mode,
    Part,
    Record,
    ReportRow,
    Source,
    Unit,
    _Tasks,
    json_document,
    mode_named,
    outside,
)
from cs_score.tasks.mode_guards import PackageError, guard_hooks, problem_of_declaration
from cs_score.tasks.outside import Offer
from cs_score.verbs.analyze.prediction_analysis import analyze
from cs_score.verbs.explain.unit_explanation import explain
from tests.freeze.calls import REPOSITORY


def _offer(path: str, task: str = "other") -> Offer:
    return Offer(task, path, "some-package", "1.2")


def _with(monkeypatch: pytest.MonkeyPatch, offers: Iterable[Offer]) -> None:
    monkeypatch.setattr(outside, "find_offers", lambda: list(offers))
    monkeypatch.setattr(cs_score.tasks, "TASKS", _Tasks(OWN_TASKS))


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("no_such_module:MODE", "ModuleNotFoundError"),
        ("tests.test_tasks:NOTHING", "AttributeError"),
        ("tests.test_tasks:printed", "is no Mode, but function"),
        ("tests.test_tasks:MODE", "is the mode of a task exact"),
    ],
)
def test_a_faulty_package_is_one_line_that_names_it(monkeypatch: pytest.MonkeyPatch, path: str, problem: str) -> None:
    _with(monkeypatch, [_offer(path)])
    with pytest.raises(UsageError, match=problem) as refused:
        mode_named("other")
    assert str(refused.value).startswith("task other of the package some-package 1.2")
    assert mode_named("scifact").name == "scifact"


def test_a_package_offers_a_task_and_signatures_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, [_offer("tests.test_tasks:MODE", "exact")])
    mode = mode_named("exact")
    monkeypatch.setattr(mode, "package", mode.package)  # it is left as it was
    result = mode.score({"1": 2}, {"1": 2})
    assert result.origin.settings == ("exact", "some-package=1.2")
    mode.package = None


class Sums(Mode):
    """Whether numbers are predicted: the smallest task that works, which the cases below break in one place each."""

    name = "sums"
    unit = "number"
    columns = ("units", "right")
    headings = ("score",)
    rows = (ReportRow("all", ("accuracy",)),)
    kinds = ("wrong",)
    summary = "Score numbers"
    files = "JSON objects."

    def gold(self, source: Source) -> Any:
        return json_document(source)

    def predictions(self, source: Source) -> Any:
        return json_document(source)

    def pair_units(self, gold: Any, predictions: InputContent, options: Any) -> Any:
        return [(name, number, predictions.content.get(name)) for name, number in gold.content.items()], ()

    def row(self, unit: Unit) -> Any:
        return 1, int(unit.gold == unit.prediction)

    def explain_unit(self, unit: Unit, row: Any) -> Any:
        yield f"{unit.gold} where {unit.prediction} is predicted"

    def parts(self, unit: Unit, measure: str) -> Any:
        fault = Fault(kind="wrong", part=None, predicted=unit.prediction, gold=unit.gold)
        yield Part(noun="number", value=unit.gold, is_right=False, judgment="wrong", faults=(fault,))

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        return unit.gold


def _failing(*arguments: Any) -> Any:
    raise KeyError("lost")


def _mode_with(**attributes: Any) -> Mode:
    """Return the mode with other attributes, contained as that of a package."""
    mode: Mode = type("Broken", (Sums,), attributes)()
    guard_hooks(mode, "task sums of the package some-package 1.2", lambda attributes: mode)
    return mode


def _everything(mode: Mode) -> None:
    """Score numbers, and analyze and explain the result."""
    result = mode.score({"a": 1}, {"a": 2})
    task = EvidenceTask(mode)
    analyze(task, result)
    explain(task, result, ["a"], None)


def test_a_whole_mode_works_when_it_is_contained() -> None:
    mode = _mode_with()
    _everything(mode)
    assert mode.score({"a": 1, "b": 2}, {"a": 1}).scores == {"accuracy": 0.5}


@pytest.mark.parametrize(
    "hook",
    [
        *(
            "gold",
            "predictions",
            "systems",
            "pair_units",
            "row",
            "explain_unit",
            "parts",
            "correct_faults",
            "formula",
            "groups",
        ),
        *("head", "contents", "remarks", "undefined_measures", "headline_of"),
    ],
)
def test_a_hook_that_fails_is_one_line_that_names_the_package(hook: str) -> None:
    with pytest.raises(PackageError) as refused:
        _everything(_mode_with(**{hook: _failing}))
    assert str(refused.value) == (
        f"task sums of the package some-package 1.2: {hook} failed: KeyError: 'lost'; report it to the makers of the "
        "package"
    )


@pytest.mark.parametrize(
    ("hook", "value"),
    [
        *[("pair_units", value) for value in (None, ([1], ()), (3, ()), ([("a", 1, 1)], [2]))],
        *[("row", value) for value in (None, (1,), ("a", "b"), (1, math.nan))],
        *[("formula", value) for value in (3, (), ("a",))],
        *[("explain_unit", value) for value in (None, [3])],
        *[
            ("parts", [value])
            for value in (
                3,
                Part(
                    noun="x",
                    value=1,
                    is_right=False,
                    judgment=None,
                    faults=(Fault(kind="unknown", part=None, predicted=1, gold=1),),
                ),
            )
        ],
        *[(hook, 3) for hook in ("groups", "head", "contents", "remarks", "undefined_measures", "headline_of")],
    ],
)
def test_a_hook_that_returns_something_else_is_one_line(hook: str, value: Any) -> None:
    with pytest.raises(PackageError, match=f"^task sums of the package some-package 1.2: {hook}"):
        _everything(_mode_with(**{hook: lambda *arguments: value}))


class NoOptions(Record):
    """A record with a field that no option can have."""

    numbers: list[int] = field(default_factory=list)


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"summary": None}, "summary must be a text"),
        ({"columns": ["units"]}, "columns must be a tuple of texts"),
        ({"rows": (ReportRow("a", ("x",)), ReportRow("b", ("x",)))}, "rows name a measure twice"),
        ({"headlines": ("nothing",)}, "headlines names nothing"),
        ({"options": NoOptions}, "option numbers must be a text, a number, a flag"),
    ],
)
def test_a_declaration_that_cannot_be_is_named(attributes: Mapping[str, Any], said: str) -> None:
    mode = Sums()
    for name, value in attributes.items():
        setattr(mode, name, value)
    mode.__dict__.pop("measures", None)
    problem = problem_of_declaration(mode)
    assert said in str(problem)
    assert problem_of_declaration(Sums()) is None


def test_two_packages_with_one_task_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, [Offer("other", "x:MODE", "first", "1.0"), Offer("other", "y:MODE", "second", "2.0")])
    with pytest.raises(UsageError, match=r"two packages, first 1\.0 and second 2\.0; uninstall one of them"):
        mode_named("other")


def test_help_on_measures_has_the_tasks_of_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    offers = [_offer("tests.test_outside_tasks:SUMS", "sums"), _offer("no_such_module:MODE", "lost")]
    _with(monkeypatch, offers)
    monkeypatch.setattr(topics, "TASKS", cs_score.tasks.TASKS)
    text = topics.measures_text([])
    assert "sums: the headline measure" in text
    assert "task lost of the package some-package 1.2 cannot be loaded" in " ".join(text.split())


SUMS: Final = Sums()


def test_no_package_takes_the_name_of_a_task_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, [_offer("tests.test_tasks:MODE", "scifact")])
    assert mode_named("scifact").name == "scifact"
    assert list(cs_score.tasks.TASKS) == list(OWN_TASKS)


def test_packages_are_looked_for_only_where_a_task_is_unknown(tmp_path: Path) -> None:
    """A known task and files of Cold Start do not pay for it."""
    call = (
        "import sys; from cs_score.cli.main import main; main(sys.argv[1:]); "
        "print('importlib.metadata' in sys.modules, file=sys.stderr)"
    )
    for words, is_loaded in ((["queries.xml", "run.tab"], "False"), (["score", "scifact", "gold"], "False")):
        command = [sys.executable, "-c", call, *words]
        outcome = subprocess.run(
            command, cwd=tmp_path, env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True, check=False
        )
        assert outcome.stderr.splitlines()[-1] == is_loaded, outcome.stderr


@pytest.mark.parametrize("name", cs_score.tasks.__all__)
def test_what_packages_build_on_is_there(name: str) -> None:
    assert getattr(cs_score.tasks, name) is not None
