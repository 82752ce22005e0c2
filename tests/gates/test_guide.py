"""The guide to continuous integration: its commands are understood, and those of the samples do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

from cs_score.cli.core import find
from tests.coldstart.command import score_in
from tests.documents import ROOT

GUIDE: Final = (ROOT / "docs" / "guides" / "continuous-integration.md").read_text(encoding="utf-8")
COMMAND: Final = re.compile(r"^ *(cs-score (?:score|check) .*(?:(?<=\\\\)\n.*|\n +(?:--|queries/).*)*)", re.MULTILINE)


def commands() -> list[list[str]]:
    """The command lines of the guide, in blocks of text, YAML and shell."""
    found = (match.replace("\\\n", " ").replace("\n", " ") for match in COMMAND.findall(GUIDE))
    return [shlex.split(text.partition(" > ")[0])[1:] for text in found]


def test_every_command_is_understood() -> None:
    found = commands()
    assert len(found) == 6
    for words in found:
        command, rest = find(words)
        line = command.read(rest)
        assert command.name in ("score", "check", "check scifact")
        assert "--gold" in line.switches or len(line.words) == 3


def test_a_baseline_is_made_and_kept(tmp_path: Path) -> None:
    for name in ("queries", "assessments", "submissions"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "run.tab.txt").write_bytes((ROOT / "submissions" / "tide-kb.tab.txt").read_bytes())
    baseline, *checks = [words for words in commands() if "--gold" not in words]
    assert score_in(tmp_path, baseline).status == 0
    assert (tmp_path / "baseline" / "out.json").exists()
    for words in checks:
        outcome = score_in(tmp_path, words)
        assert (outcome.status, outcome.files) == (0, {}), words
    worse = [word.replace("run.tab.txt", "submissions/gull-sf.tab.txt") for word in checks[-1]]
    assert score_in(tmp_path, worse).status == 3
    assert score_in(tmp_path, ["verify", "baseline/out.json"]).status == 0
