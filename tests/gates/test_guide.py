"""The guide to continuous integration: the commands of its workflow do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

from tests.coldstart.command import score_in
from tests.documents import ROOT

GUIDE: Final = (ROOT / "docs" / "guides" / "continuous-integration.md").read_text(encoding="utf-8")
COMMAND: Final = re.compile(r"^ *(cs-score (?:score|check) .*(?:(?<=\\\\)\n.*|\n +(?:--|queries/).*)*)", re.MULTILINE)


def commands() -> list[list[str]]:
    """The command lines of its blocks of YAML and shell; those of console blocks are run with all others."""
    found = (match.replace("\\\n", " ").replace("\n", " ") for match in COMMAND.findall(GUIDE))
    return [shlex.split(text.partition(" > ")[0])[1:] for text in found]


def test_the_workflow_passes_for_a_system_that_keeps_its_scores_and_fails_for_a_worse_one(tmp_path: Path) -> None:
    for name in ("queries", "assessments", "submissions"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "run.tab.txt").write_bytes((ROOT / "submissions" / "tide-kb.tab.txt").read_bytes())
    files = ["queries/ldc-queries.xml", "run.tab.txt", "assessments/pool-2016.tab"]
    assert score_in(tmp_path, ["score", "-expand", "ISLE26", "-o", "baseline", *files]).status == 0
    checks = commands()
    assert len(checks) == 3
    for words in checks:
        outcome = score_in(tmp_path, words)
        assert (outcome.status, outcome.files) == (0, {}), words
    worse = [word.replace("run.tab.txt", "submissions/gull-sf.tab.txt") for word in checks[-1]]
    assert score_in(tmp_path, worse).status == 3
