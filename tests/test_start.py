"""What a small run imports, which takes longer than to score it: nothing that only some calls need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.documents import ROOT

HEAVY: Final = frozenset(
    "concurrent.futures distributed jinja2 lxml multiprocessing numpy pandas scipy cs_score.coldstart.query_resampling "
    "cs_score.problems.reports cs_score.statistics.resampling".split()
)

SHOWN_IN_HELP: Final = 16
"""Modules of ours that the first page may load."""

LOADED_FOR_BARE_CALL: Final = 45
"""Modules of ours that a call without a command may load."""

LOADED_FOR_SCORING: Final = 60
"""Modules of ours that the first call of `score` in Python may load."""


def _imported(code: str, *words: str | Path) -> set[str]:
    """The modules that a fresh interpreter has imported when it has run the code."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_scoring_imports_nothing_that_few_calls_need(tmp_path: Path) -> None:
    files = ("queries/ldc-queries.xml", "assessments/pool-2016.tab", "submissions/tide-kb.tab.txt")
    imported = _imported(
        "from cs_score.cli.main import main; main()",
        "-expand", "ISLE26", "-output_file", tmp_path / "out", "-error_file", tmp_path / "errors", *files,
    )  # fmt: skip
    assert (tmp_path / "out.summary").exists()
    assert not imported & HEAVY
    own_modules = [name for name in imported if name.partition(".")[0] == "cs_score"]
    assert len(own_modules) <= LOADED_FOR_BARE_CALL
    main = "import sys; sys.argv[0] = 'cs-score'; from cs_score.cli.main import main; main()"
    assert not _imported(main, "score", "-expand", "ISLE26", *files) & HEAVY


def test_the_package_by_itself_imports_next_to_nothing() -> None:
    imported = _imported("import cs_score")
    assert len([name for name in imported if name.startswith("cs_score")]) < 5
    assert not imported & {*HEAVY, "click", "cs_score.coldstart"}
    assert not _imported("import cs_score; cs_score.score") & {"numpy", "pandas", "scipy"}


def test_scoring_from_python_loads_few_modules() -> None:
    loaded = _imported("import cs_score; cs_score.score")
    assert len([name for name in loaded if name.startswith("cs_score")]) <= LOADED_FOR_SCORING
    assert not loaded & {"cs_score.api.findings", "cs_score.api.pages", "cs_score.analysis", "cs_score.verbs.batch"}


def test_the_first_page_loads_few_modules() -> None:
    loaded = _imported("from cs_score.cli.main import main; main(['--help'])")
    assert len([name for name in loaded if name.startswith("cs_score")]) <= SHOWN_IN_HELP


def test_a_program_before_the_scorer_loads_no_numpy() -> None:
    assert not _imported("from cs_score.cli.main import main; main(['samples', '-version'])") & {"lxml", "numpy"}
