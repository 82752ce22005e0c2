"""The whole command line inside the test process, as tests.coldstart.command runs the scorer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cs_score.cli import main
from tests.coldstart import command
from tests.coldstart.command import Outcome


def cs_score_in(folder: Path, words: Sequence[str]) -> Outcome:
    """Call `cs-score` in `folder` as a shell would, with an empty standard input."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "run", main.main)
        return command.score_in(folder, words)
