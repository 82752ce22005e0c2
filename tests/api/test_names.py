"""The names of the public API: which there are, that they are documented, and that importing them costs nothing."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import cs_score as cs

NAMES: Final = """
    Analysis Assessors Comparison CsScoreError Difference EvidenceResult Explanation Gold InputError Leaderboard
    MissingExtraError OutputError Policy PoolBias Power Report RunResult SampledPool ScoringStopped Signature
    UsageError ValidatedRun __version__ analyze assessors batch claims compare diff hotpotqa load pool_bias power
    prepare r4c sampled_pool scifact score validate_run
""".split()
"""What users may rely on. A name that goes away breaks their programs: say so in CHANGELOG.md."""

HEAVY: Final = ("numpy", "lxml", "pandas", "scipy", "click", "cs_score.api", "cs_score.coldstart")


def test_the_public_names_are_these() -> None:
    assert cs.__all__ == NAMES
    assert dir(cs) == NAMES
    assert all(hasattr(cs, name) for name in NAMES)
    assert sorted(" ".join(cs._HOMES.values()).split()) == sorted(set(NAMES) - {"__version__"})
    with pytest.raises(AttributeError, match="module 'cs_score' has no attribute 'Scorer'"):
        _ = cs.Scorer  # type: ignore[attr-defined]


def test_importing_the_package_loads_nothing_that_is_heavy() -> None:
    code = f"import sys, cs_score; print([name for name in {HEAVY} if name in sys.modules])"
    assert subprocess.check_output((sys.executable, "-c", code), text=True) == "[]\n"


def test_scoring_loads_neither_numpy_nor_pandas() -> None:
    code = "import sys, cs_score; cs_score.score; print([m for m in ('numpy', 'pandas', 'scipy') if m in sys.modules])"
    assert subprocess.check_output((sys.executable, "-c", code), text=True) == "[]\n"


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
    assert done.stdout.splitlines()[1] == "LDC-MEAN-ALL-Macro-F1   0.7917"


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
