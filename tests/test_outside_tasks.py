"""Tasks that other packages offer: what is wrong with a package is one line, and disturbs nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import cs_score.tasks
from cs_score.base.errors import UsageError
from cs_score.tasks import OWN_TASKS, _Tasks, mode_named, outside
from cs_score.tasks.outside import Offer
from tests.freeze.calls import REPOSITORY


def _offer(path: str, task: str = "other") -> Offer:
    return Offer(task, path, "some-package", "1.2")


def _with(monkeypatch: pytest.MonkeyPatch, offers: Iterable[Offer]) -> None:
    monkeypatch.setattr(outside, "offers", lambda: iter(offers))
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
