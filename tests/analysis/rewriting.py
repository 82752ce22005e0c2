"""The files that an effect stands for, written and scored: what `removed` and `added` of an analysis say of them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from click.exceptions import Exit

from cs_score.base.errors import CsScoreError
from cs_score.base.records import Record, replace
from cs_score.cli.core import find
from cs_score.cli.options import defaults_of, options_of
from cs_score.coldstart.options import Options
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.result import ScoringStopped
from cs_score.coldstart.scorer import score
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.recorded import Case, copy_inputs

EXACT: Final = 1e-12
SAVED: Final = "analysis.json"
SCORING: Final = (
    "-discipline",
    "-expand",
    "-ignore",
    "-justifications",
    "-queries",
    "-right",
    "-wrong",
    "-runids",
    "--follow",
    "--mention-types",
)


class Call(Record):
    """Files to score in a folder: switches, query files, and the other files in order."""

    folder: Path
    switches: tuple[str, ...]
    queries: tuple[str, ...]
    files: tuple[str, ...]
    options: Options

    def analyze(self, *switches: str) -> tuple[Outcome, dict[str, Any]]:
        """The analysis by the command line; empty where there is none."""
        words = ("analyze", *self.switches, *switches, "--format", "json", SAVED, "--force", *self.queries, *self.files)
        outcome = score_in(self.folder, words)
        saved = self.folder / SAVED
        return outcome, json.loads(saved.read_text()) if saved.exists() and not outcome.status else {}

    def run_ids(self) -> list[str]:
        """The runs that the scorer gives scores of."""
        with contextlib.chdir(self.folder):
            try:
                result = score(self.queries, self.files, self.options)
            except ScoringStopped as stop:
                result = stop.partial
            except CsScoreError:
                return []
        return list(dict.fromkeys(run.run_id for run in result.runs))

    def scores(self, run_id: str, options: Options | None = None) -> Mapping[str, float]:
        """What the scorer says of a run; empty where it refuses everything."""
        with contextlib.chdir(self.folder):
            try:
                result = score(self.queries, self.files, options or self.options)
            except ScoringStopped as stop:
                result = stop.partial
            except CsScoreError:
                return {}
        return next((run.scores for run in result.runs if run.run_id == run_id), {})

    @contextlib.contextmanager
    def rewritten(self, removed: Sequence[Mapping[str, Any]], added: Sequence[str], to: str) -> Iterator[None]:
        """Within, lines are deleted from the files and appended to one of them."""
        names = {place["file"] for place in removed} | ({to} if added else set())
        saved = {name: (self.folder / name).read_bytes() for name in names}
        try:
            for name, content in saved.items():
                gone = {place["line"] for place in removed if place["file"] == name}
                lines = content.split(b"\n")
                if not lines[-1]:
                    lines.pop()
                left = [line for number, line in enumerate(lines, 1) if number not in gone]
                left += [line.encode() for line in added if name == to]
                (self.folder / name).write_bytes(b"".join(line + b"\n" for line in left))
            yield
        finally:
            for name, content in saved.items():
                (self.folder / name).write_bytes(content)


def wrong_effects(call: Call, analysis: Mapping[str, Any], mistakes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The effects that are not what the scorer makes of the changed files, in words."""
    run_id = analysis["run"]
    for mistake in mistakes:
        with call.rewritten(mistake["removed"], mistake["added"], analysis["added_to"]):
            found = call.scores(run_id)
        for name, effect in mistake["effects"].items():
            expected = None if name not in found else found[name] - analysis["scores"][name]
            is_same = effect is None if expected is None else effect is not None and abs(effect - expected) <= EXACT
            if not is_same:
                yield f"{mistake['kind']} {mistake['file']}:{mistake['line']} {name}: {effect}, scorer: {expected}"


def call_of(case: Case, folder: Path) -> Call | None:
    """The files that a recorded command line scores; None where it scores none."""
    command, words = find(case.words)
    if command.name:
        return None
    copy_inputs(case, folder)
    try:
        line = command.read(words)
        options = replace(options_of(line, defaults_of(line)), samples=None)
    except (CsScoreError, Exit):  # what the case is about
        return None
    switches = [word for name in SCORING if name in line.switches for word in (name, line.text(name, ""))]
    queries = tuple(word for word in line.words if is_query_file(word))
    return Call(folder, tuple(switches), queries, tuple(word for word in line.words if word not in queries), options)
