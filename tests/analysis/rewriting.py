"""The files that an effect stands for, written and scored: what `removed` and `added` of an analysis say of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from click.exceptions import Exit
from hypothesis import strategies as st

from cs_score.analysis.coldstart.scored import AnalysedRun, score_for_analysis
from cs_score.base.errors import CsScoreError
from cs_score.base.records import Record, replace, to_builtins
from cs_score.cli.main import find_command
from cs_score.cli.run_options import Scoring as Asked
from cs_score.coldstart.gold import load_run, open_gold, with_remarks_on_empty_folders
from cs_score.coldstart.options import JustificationLimits, Options, Policy, read_policies
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.result import ScoredRun, ScoringStopped
from cs_score.verbs.analyze.run_analysis import analyze
from tests.coldstart.recorded import Case, copy_inputs
from tests.coldstart.worlds import BASE, World
from tests.scoring import score

EXACT: Final = 1e-12
SCORING: Final = (
    "-discipline -expand -ignore -justifications -queries -right -wrong -runids --follow --mention-types".split()
)


class Call(Record):
    """Files to score in a folder: switches, query files, and the other files in order."""

    folder: Path
    switches: tuple[str, ...]
    queries: tuple[str, ...]
    files: tuple[str, ...]
    options: Options

    def scored(self, run_id: str) -> AnalysedRun:
        """The run as analyses take it. Raises InputError where it cannot be scored."""
        with contextlib.chdir(self.folder):
            gold = with_remarks_on_empty_folders(open_gold(self.queries, self.options), self.files)
            return score_for_analysis(load_run(gold, self.files), self.options.policy, run_id)

    def analyzed(
        self, run_id: str, measure: str = "", by: Sequence[str] = (), also: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The document of its analysis. Raises InputError where there is none."""
        policies = read_policies(also, self.options, self.options.policy.texts())
        found = analyze(self.scored(run_id), measure or None, policies=policies, by=by, with_explanations=False)
        return dict(to_builtins(found))

    def results(self) -> list[ScoredRun]:
        """The runs that the scorer gives scores of."""
        with contextlib.chdir(self.folder):
            try:
                return list(score(self.queries, self.files, self.options).runs)
            except ScoringStopped as stop:
                return list(stop.partial_result.runs)
            except CsScoreError:
                return []

    def run_ids(self) -> list[str]:
        return [run.run_id for run in self.results()]

    def scores(self, run_id: str, options: Options | None = None) -> Mapping[str, float]:
        """What the scorer says of a run; empty where it refuses everything."""
        call = self if options is None else replace(self, options=options)
        return next((run.scores for run in call.results() if run.run_id == run_id), {})

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


def call_of(case: Case, folder: Path) -> Call | None:
    """The files that a recorded command line scores; None where it scores none."""
    command, words = find_command(case.words)
    if command.name:
        return None
    copy_inputs(case, folder)
    try:
        line = command.parse(words)
        options = replace(Asked(line).options, samples=None)
    except (CsScoreError, Exit):  # what the case is about
        return None
    switches = [word for name in SCORING if name in line.value_by_option for word in (name, line.text(name, ""))]
    queries = tuple(word for word in line.positional_words if is_query_file(word))
    return Call(
        folder, tuple(switches), queries, tuple(word for word in line.positional_words if word not in queries), options
    )


ALL_WRONG: Final = Policy(wrong=("INCORRECT", "INCORRECT_PARENT", "INEXACT", "UNASSESSED", "DUPLICATE"), ignore=())
POLICIES: Final = (
    Policy(),
    ALL_WRONG,
    Policy(right=("CORRECT", "INEXACT"), wrong=("INCORRECT", "INCORRECT_PARENT"), ignore=("UNASSESSED",)),
    Policy(wrong=("INCORRECT", "INCORRECT_PARENT", "INEXACT", "DUPLICATE"), ignore=("UNASSESSED",)),
)


class Variant(Record):
    """How a world is written and scored.

    `has_nodes`: with node ids; `few_nodes`: lines share node ids; `is_pool_first`: the pool comes before the run;
    `has_runs`: some lines are of another run.
    """

    has_nodes: bool
    few_nodes: bool
    is_pool_first: bool
    policy: Policy
    justifications: str
    discipline: str
    has_runs: bool

    def write(self, world: World, folder: Path, data: st.DataObject) -> Call:
        """Write the files; what is drawn from `data` are odd lines and where files are cut."""
        (folder / "queries.xml").write_text(world.query_xml())
        (folder / "pool.tab").write_text(world.pool_text())
        lines = [self._written(line) for line in world.run_text().splitlines()]
        lines = data.draw(_odd(lines, self.has_runs)) if lines else []
        cut = data.draw(st.one_of(*[st.just(len(lines))] * 3, st.integers(0, len(lines))))
        runs = []
        for name, part in (("one.tab", lines[:cut]), ("two.tab", lines[cut:])):
            (folder / name).write_text("".join(f"{line}\n" for line in part))
            runs.append(name)
        files = ("pool.tab", *runs) if self.is_pool_first else (*runs, "pool.tab")
        options = Options(
            expand=BASE,
            policy=self.policy,
            justifications=JustificationLimits.parse(self.justifications),
            discipline=self.discipline,
        )
        switches = (
            *("-expand", BASE, "-justifications", self.justifications, "-discipline", self.discipline),
            *(word for side, text in self.policy.texts().items() for word in (f"-{side.lower()}", text)),
        )
        return Call(folder, switches, ("queries.xml",), files, options)

    def _written(self, line: str) -> str:
        columns = line.split("\t")
        if self.few_nodes:
            columns[8] = columns[8][:2]
        return "\t".join(columns if self.has_nodes else columns[:8])


def variants() -> st.SearchStrategy[Variant]:
    """Ways to write and score a world."""
    return st.builds(
        Variant,
        st.sampled_from((True, True, False)),
        st.booleans(),
        st.booleans(),
        st.sampled_from(POLICIES),
        st.sampled_from(("1:3", "1:1", "M:M", "2:9", "1:M")),
        st.sampled_from(("ASSESSED", "STRING_CASE", "STRING_EXACT")),
        st.sampled_from((False, False, False, True)),
    )


@st.composite
def _odd(draw: st.DrawFn, lines: list[str], has_runs: bool) -> list[str]:
    """Lines with some repeated, given with another justification, slot, run or confidence, or cut short."""
    found: list[str] = []
    for line in lines:
        columns = line.split("\t")
        found.append(line)
        kind = draw(
            st.sampled_from(("",) * 8 + ("again", "justified", "slot", "short", "comment", "confidence", "run"))
        )
        if kind == "again":
            found.append(line)
        elif kind == "justified":
            columns[3] = columns[3].replace(":20-", ":21-")
            found.append("\t".join(columns))
        elif kind == "slot":
            columns[1] = "per:spouse"
            found.insert(draw(st.integers(len(found) - 1, len(found))), "\t".join(columns))
        elif kind == "short":
            found.append("\t".join(columns[:5]))
        elif kind == "comment":
            found.append("# a comment")
        elif kind == "confidence":
            columns[7] = "1.5"
            found.append("\t".join(columns))
        elif kind == "run" and has_runs:
            columns[2] = "runB"
            found[-1] = "\t".join(columns)
    return found
