"""The public API: its names, that they are documented and cost nothing to import, and the types of its arguments."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import cs_score as cs
from cs_score.cli.core import load_command
from cs_score.verbs import SLICES

NAMES: Final = """
    Analysis Assessors Comparison CsScoreError Difference EvidenceResult Explanation Gold InputError Leaderboard
    MissingExtraError OutputError Policy PoolBias Power Report RunResult SampledPool ScoringStopped ScoringTask
    Signature UsageError ValidatedRun __version__ analyze assessors batch claims compare diff hotpotqa load pool
    pool_bias power prepare r4c sampled_pool scifact score task validate_run
""".split()
"""What users may rely on. A name that goes away breaks their programs: say so in CHANGELOG.md."""


def test_the_public_names_are_these() -> None:
    assert cs.__all__ == NAMES
    assert dir(cs) == NAMES
    assert all(hasattr(cs, name) for name in NAMES)
    homes = [cs._HOMES, *[slice_.names for slice_ in SLICES]]
    names_with_homes = [name for home in homes for names in home.values() for name in names.split()]
    assert sorted(names_with_homes) == sorted(set(NAMES) - {"__version__"})
    with pytest.raises(AttributeError, match="module 'cs_score' has no attribute 'Scorer'"):
        _ = cs.Scorer  # type: ignore[attr-defined]


def documented() -> set[str]:
    """The public names, the members of those that are classes, and the fields of records."""
    names = set(NAMES)
    for name in NAMES:
        value = getattr(cs, name)
        names |= set(getattr(value, "__struct_fields__", ()))
        if isinstance(value, type):
            members = {member: given for each in value.__mro__[:-1] for member, given in vars(each).items()}
            names |= {
                member for member, given in members.items() if not member.startswith("_") and inspect.getdoc(given)
            }
    return names


def test_every_public_name_has_a_docstring() -> None:
    assert [name for name in NAMES if name != "__version__" and not inspect.getdoc(getattr(cs, name))] == []


SCRIPT: Final = Path(__file__).with_name("script.py")


def test_the_script_uses_documented_names_only() -> None:
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in imported if name.startswith("cs_score")} == {"cs_score"}
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not [name for name in used if name.startswith("_")]
    assert not [name for name in used if name not in documented() and name not in {*dir(str), *dir(sys)}]


def test_the_script_runs(tmp_path: Path) -> None:
    repository = Path(__file__).parents[2]
    done = subprocess.run(
        (sys.executable, str(SCRIPT), str(tmp_path)), cwd=repository, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1] == "LDC-MEAN-AP             0.6734"


def test_the_script_is_typed(tmp_path: Path) -> None:
    """As a user checks it: strictly, without the settings of this repository; and mistakes are found."""
    assert _checked(SCRIPT.read_text(encoding="utf-8"), tmp_path).startswith("Success")
    told = _checked(
        "import cs_score as cs\n\ncs.scor()\ncs.prepare(5)\ncs.prepare('q').score('r').run_ids.x\n", tmp_path
    )
    assert [line.rpartition("  [")[2] for line in told.splitlines()[:-1]] == [
        "attr-defined]",
        "arg-type]",
        "attr-defined]",
    ]


def _checked(program: str, folder: Path) -> str:
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    words = ("-m", "mypy", "--strict", "--follow-imports=silent", f"--config-file={os.devnull}", str(path))
    return subprocess.run((sys.executable, *words), capture_output=True, text=True, check=False).stdout


# ---- Arguments: what is of no type that an annotation names is one clear line


_SIMPLE: Final = {"str", "int", "float", "bool", "os.PathLike[str]", "Selectors", "None"}


def _parameters() -> Iterator[tuple[str, Callable[..., Any], str, dict[str, Any]]]:
    """Every argument with a simple annotation: its id, its function, its name, and what else has to be given."""
    for name in cs.__all__:
        value = getattr(cs, name)
        members = inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else [("", value)]
        for member, function in members:
            if member.startswith("_") or not hasattr(function, "__wrapped__"):
                continue
            given = inspect.signature(function).parameters.values()
            wanted = {each.name: "x" for each in given if each.default is inspect.Parameter.empty}
            for each in given:
                if each.name != "self" and {*str(each.annotation).split(" | ")} <= _SIMPLE:
                    yield f"{name}.{member} {each.name}", function, each.name, wanted


PARAMETERS: Final = list(_parameters())


@pytest.mark.parametrize(
    ("function", "name", "wanted"), [rest for _, *rest in PARAMETERS], ids=[p[0] for p in PARAMETERS]
)
def test_what_is_of_another_type_is_refused(function: Callable[..., Any], name: str, wanted: dict[str, Any]) -> None:
    with pytest.raises(cs.UsageError, match=f"^{name} takes .*, not <object object at 0x[0-9a-f]+>$"):
        function(**{**wanted, name: object()})


def test_the_functions_that_take_much_are_among_them() -> None:
    known = {name for name, *_ in PARAMETERS}
    assert {"analyze. top", "compare. confidence", "RunResult.write prefix", "batch. jobs", "power. alpha"} <= known


def test_numbers_of_numpy_are_numbers_and_true_is_none() -> None:
    numpy = pytest.importorskip("numpy")
    assert cs.power(sd=numpy.float64(2.0), difference=1.0).needed == 34
    with pytest.raises(cs.UsageError, match=r"^sd takes a number, not True$"):
        cs.power(sd=True)


def test_power_takes_the_file_of_one_comparison() -> None:
    with pytest.raises(cs.UsageError, match=r"^comparison takes one file, not 2$"):
        cs.power(["a.json", "b.json"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verb", "elsewhere"),
    [
        ("analyze", set()),
        ("diff", {"policy_b", "pool_b", "follow_b"}),  # a result scored again
        ("compare", {"second_assessments", "top"}),
    ],
)
def test_options_of_a_verb_are_arguments_of_its_function(verb: str, elsewhere: set[str]) -> None:
    """Those that `score` has say what is read or where results go."""
    arguments = {*inspect.signature(getattr(cs, verb)).parameters} - {"result", "results", "a", "b", "names"}
    options, of_score = ({str(option.name) for option in load_command(name).options} for name in (verb, "score"))
    assert arguments <= options
    assert options - of_score - arguments == elsewhere
