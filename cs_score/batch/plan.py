"""What a batch is asked for: the runs, what each is called, inputs that can travel, gold and options of each task."""

from __future__ import annotations

import glob
import itertools
import os
import re
from abc import abstractmethod
from codecs import BOM_UTF8
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET

from cs_score.analysis.many.overview import Evaluation, make_findings
from cs_score.base.display import some, terminal_safe
from cs_score.base.errors import CsScoreError, InputError, UsageError
from cs_score.base.outputs import encoded
from cs_score.base.records import Record, asdict, replace
from cs_score.base.signature import GOLD, Origin
from cs_score.base.sources import (
    InMemory,
    Input,
    InputDigest,
    file_in_folder,
    name_of,
    open_source,
    plain_name,
    reason_of,
    rereadable,
)
from cs_score.batch.documents import FAILED, OK, Outcome, RunOrigin, RunScores, State
from cs_score.coldstart.options import edition_of
from cs_score.evidence.mode import Mode, intervals
from cs_score.evidence.report import intervals_text, json_text, table_text, unit_blocks
from cs_score.measures.registry import headline, rankable
from cs_score.problems.log import Occurrence
from cs_score.statistics.options import Resampling
from cs_score.tasks import mode_named, task_named
from cs_score.tasks.scoring import read_gold, score_predictions


class InputFile(Record):
    """One input file, by the name that messages call it: the path as given.

    `path` is where it lies if the worker may have another working folder, `content` its stored bytes if the worker may
    not see the file at all.
    """

    name: str
    path: str | None = None
    content: bytes | None = None

    @classmethod
    def of(cls, given: Input) -> InputFile:
        """An input for any number of readers. Raises InputError where what can be read only once cannot be read."""
        again = rereadable(given)
        return cls(name_of(given), content=again.getvalue() if isinstance(again, InMemory) else None)

    def open(self) -> Input:
        """What the library reads it from. Raises InputError where there is no such file."""
        if self.content is None and self.path is None:
            return self.name
        return InMemory(self.name, self._stored())

    def travelling(self, ship: bool) -> InputFile:
        """The same input for a worker that sees the same files from another folder, or with `ship` none of them.

        Raises InputError where it is to be shipped and cannot be read.
        """
        if self.content is not None:
            return self
        return replace(self, content=self._stored()) if ship else replace(self, path=os.path.abspath(self.name))

    def _stored(self) -> bytes:
        if self.content is not None:
            return self.content
        try:
            with open(self.path or self.name, "rb") as file:
                return file.read()
        except (OSError, ValueError) as error:
            raise InputError(f"Could not open {self.name}: {reason_of(error)}") from None

    def digest(self, role: str) -> InputDigest:
        """The digest of its content. Raises InputError where it cannot be read."""
        with open_source(self.open()) as source:
            return source.digest(role)


# ---- Runs and their names

# Endings that say what a file is and not which run it holds; the longest that fits is taken off.
_ENDINGS: Final = (".tab.txt", ".tab", ".tac", ".tsv", ".csv", ".txt", ".jsonl", ".json")

INDEX: Final = "index.html"

BEGINNINGS: Final = {
    "leaderboard.tsv": rb"rank\tpolicy\trun\t",
    "leaderboard.json": rb'\{\s*"kind": "leaderboard",\s',
    "leaderboard.md": rb"\| Rank \| ",
    "leaderboard.tex": rb"% \\usepackage\{booktabs\}",
    "answers.tsv": rb"policy\tpart\tunit\t",
    "agreement.tsv": rb"policy\twhat\trun\t",
    "stability.tsv": rb"what\tmeasure\tpolicy\t",
    "batch.json": rb'\{\s*"kind": "batch",\s',
    INDEX: rb'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="cs-sc',
    "problems.tsv": rb"run\tpolicy\tseverity\tcode\t",
}
"""How the tables of batches begin: somebody else's file of such a name is not replaced without --force."""

LOCK: Final = ".batch.lock"

FILES: Final = (LOCK, *BEGINNINGS)
"""The files of every batch, in its output folder."""

RESERVED: Final = frozenset({"", ".", "..", *FILES})
"""Names that would hide a file of the batch, or that no folder can have."""

_FOLLOW: Final = "follow="
"""Begins the setting of a run in a list that asks for an edition."""


class RunFile(Record):
    """A run: its name, unique in the batch and fit for a folder, its file, and the edition that it asks for, if any.

    `system` is the name of the run in a file that holds several; it is empty elsewhere.
    """

    name: str
    file: InputFile
    follow: str = ""
    system: str = ""


def find_runs(words: Iterable[str], list_file: str | None, members: Sequence[str]) -> tuple[list[RunFile], list[str]]:
    """The runs that words of a command line name, in their order, and remarks for the user.

    A word is a file, a folder (its files that end like `members`, compressed or not), or a pattern with `*`, `?` or
    `[...]`. `list_file` holds further words, one a line, each perhaps with a tab and `follow=EDITION` behind it; blank
    lines and lines that begin with `#` do not count. Raises InputError where a folder or a pattern has no file, and
    UsageError for anything else behind a tab.
    """
    remarks: list[str] = []
    found: dict[str, tuple[str, str]] = {}
    listed = () if list_file is None else _listed(list_file)
    for word, follow in itertools.chain(zip(words, itertools.repeat("")), listed):
        for path in _files(word, members):
            first, edition = found.setdefault(os.path.abspath(path), (path, follow))
            if edition != follow:
                raise UsageError(f"{path} is to follow {follow or 'the default'} and {edition or 'the default'}")
            if first != path:
                remarks.append(f"{path} is {first} again; it is scored once")
    if not found:
        raise InputError("no run to score", remedy="name run files, folders or patterns after the pool, or --runs-from")
    names = _names([path for path, _ in found.values()], remarks)
    return [RunFile(names[path], InputFile(path), edition) for path, edition in found.values()], remarks


def runs_of_systems(mode: Mode, runs: Sequence[RunFile], chosen: Collection[str] = ()) -> list[RunFile]:
    """Return a run for each system of files that hold several, in the order of the files.

    Of `chosen` systems only, if any is chosen; raises InputError for one that no file holds. The run of a system is
    called as the system, with the name of the file before it where there are several files. A file that cannot be read,
    and standard input, stay one run: whoever scores it says what is wrong.
    """
    expanded: list[RunFile] = []
    names: set[str] = set()
    for run in runs:
        systems = [] if run.file.name == "-" else mode.systems_of_file(run.file.name)
        if not systems or (len(systems) == 1 and not chosen):
            expanded.append(run)
            names.add(run.name)
            continue
        for system in systems:
            if chosen and system not in chosen:
                continue
            name = _UNFIT_FOR_FOLDERS.sub("_", system)
            if len(runs) > 1 or name in RESERVED or name.startswith("."):
                name = f"{run.name}-{name}"
            name = _unused_name(name, names)
            names.add(name)
            expanded.append(replace(run, name=name, system=system))
    for system in chosen:
        if not any(run.system == system for run in expanded):
            raise InputError(f"no run is called {system} in {some([run.file.name for run in runs])}")
    return expanded


_UNFIT_FOR_FOLDERS: Final = re.compile(r"[^\w.+-]")
"""Characters of the name of a system that the folder of its run does not have."""


def _unused_name(name: str, names: Collection[str]) -> str:
    """Return a name that is not among `names`: the name itself, or with the first number behind it that makes it so."""
    number = 1
    unused = name
    while unused in names:
        number += 1
        unused = f"{name}-{number}"
    return unused


def _listed(list_file: str) -> Iterator[tuple[str, str]]:
    """The words of a list with the editions that they ask for."""
    with open_source(list_file) as source:
        data = source.read_bytes().removeprefix(BOM_UTF8)
    for number, line in enumerate(data.split(b"\n"), 1):
        word, tab, setting = os.fsdecode(line.strip()).partition("\t")
        if tab and not setting.startswith(_FOLLOW):
            raise UsageError(f"{list_file}: line {number}: {setting!r} is not understood; a tab precedes {_FOLLOW}NAME")
        if word and not word.startswith("#"):
            yield word, edition_of(setting.removeprefix(_FOLLOW)).name if tab else ""


def _files(word: str, members: Sequence[str]) -> list[str]:
    if os.path.isdir(word):
        found = sorted(name for name in os.listdir(word) if plain_name(name).endswith(tuple(members)))
        if not found:
            endings = " or ".join(f"*{ending}" for ending in members)
            raise InputError(f"no file {endings} in it", file=word, remedy=f"name the files: {os.path.join(word, '*')}")
        return [file_in_folder(os.path.join(word, name)) for name in found]
    if glob.has_magic(word) and not os.path.exists(word):
        matching = sorted(path for path in glob.glob(word, recursive=True) if not os.path.isdir(path))
        if not matching:
            raise InputError("no file matches this pattern", file=word)
        return [file_in_folder(path) for path in matching]
    return [word]


def _names(paths: Sequence[str], remarks: list[str]) -> dict[str, str]:
    """A name for each path: that of the file, with as many folders before it as make it unique, else a number."""
    depth = dict.fromkeys(paths, 1)
    while True:
        names = {path: _name(path, depth[path]) for path in paths}
        taken = Counter(names.values())
        unclear = [path for path in paths if taken[names[path]] > 1 or names[path] in RESERVED]
        deeper = {path: depth[path] + 1 for path in unclear if _name(path, depth[path] + 1) != names[path]}
        if not deeper:
            break
        depth |= deeper
    for path in unclear:
        name = names[path]
        if taken[name] > 1 or name in RESERVED:
            names[path] = next(new for at in itertools.count(2) if (new := f"{name}-{at}") not in taken)
            taken.update({name: -1, names[path]: 1})
    by_stem: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        if names[path] != (stem := _name(path, 1)):
            by_stem[stem].append(f"{path} as {names[path]}")
    for stem, renamed in by_stem.items():
        remarks.append(f"the name {stem or '(empty)'} does not distinguish runs: {some(renamed, 5)}")
    return names


def _name(path: str, depth: int) -> str:
    """The last `depth` parts of a path as one word, without the endings of the file."""
    if path == "-":
        return "stdin"
    *folders, file = [part for part in os.path.abspath(path).split(os.sep) if part]
    file = plain_name(file)
    ending = next((ending for ending in _ENDINGS if file.endswith(ending) and len(file) > len(ending)), "")
    return "-".join((*folders[len(folders) - depth + 1 :], file.removesuffix(ending)))


# ---- What becomes of a run

RunFiles: TypeAlias = Iterable[tuple[str, Iterable[bytes]]]
"""The files of a run by name, made as they are written."""

_PAGE: Final = re.compile(r"out(\.[1-9][0-9]*)?\.html", re.ASCII)


def page_name(at: int, of: int) -> str:
    """The file of the page of one of the `of` run ids of a run's file, from 0."""
    return "out.html" if of == 1 else f"out.{at + 1}.html"


def is_page(name: str) -> bool:
    return _PAGE.fullmatch(name) is not None


class Scored(Record):
    """One run under one policy: the outcome, and the files that are still to be written."""

    outcome: Outcome
    files: RunFiles = ()


def outcome_of(task: str, run: RunFile, policy: str, state: State = FAILED, **found: Any) -> Outcome:
    """What is known of a run, which was not scored to its end unless `state` says so."""
    return Outcome(task=task, run=run.name, file=run.file.name, policy=policy, state=state, **found)


# ---- Plans


class BatchOptions(Record):
    """What a batch may choose beside the scoring.

    `out` is the output folder, `measure` ranks the leaderboard (None: the usual one), `resume` keeps runs that are
    scored already, `force` replaces files of others. Runs are scored in `jobs` processes (None: one for each processor)
    or on the Dask cluster at `dask`, whose workers with `ships` receive the bytes of all inputs. `problems` names a
    file for all problems with details, `runs_from` the list that runs were read from. `progress` shows a line of how
    far it is `every` so many seconds. `mix_editions` allows one leaderboard for runs that follow several editions.
    """

    out: str
    measure: str | None = None
    resume: bool = False
    force: bool = False
    jobs: int | None = 1
    dask: str | None = None
    ships: bool = False
    problems: str | None = None
    runs_from: str | None = None
    progress: Callable[[str], None] | None = None
    every: float = 60.0
    mix_editions: bool = False


class Plan(Record, kw_only=True):
    """All that a worker needs to prepare gold and to score runs; it can be pickled.

    `resampling` asks for intervals, `page` makes the page of a run from its analysis and that of the batch from what it
    found, each as JSON; None where there are to be none.
    """

    task: str
    resampling: Resampling | None = None
    page: Callable[[Any], str] | None = None

    @abstractmethod
    def prepare(self) -> Prepared:
        """Read and index gold. Raises CsScoreError where that fails, and then no run can be scored."""

    @property
    @abstractmethod
    def inputs(self) -> Sequence[InputFile]:
        """The files that all runs share."""

    def measures(self) -> list[str]:
        """The measures that the options allow, the usual one first."""
        return list(map(str, rankable(self.task)))

    def headline(self) -> Sequence[str]:
        """The measures that readable leaderboards show."""
        return headline(self.task)

    @property
    def policy_names(self) -> Sequence[str]:
        """Names of the policies, in order; one empty name where the task has none or the default is meant."""
        return ("",)

    @property
    def edition(self) -> str:
        """The edition of the reference scorer that runs are scored by; empty where there are none."""
        return ""

    def travelling(self, ship: bool) -> Plan:
        """The same plan for a worker elsewhere: inputs by absolute path, or with `ship` by their bytes."""

        def travel(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(travel, value))
            if isinstance(value, dict):
                return {name: travel(each) for name, each in value.items()}
            return value.travelling(ship) if isinstance(value, InputFile | Plan) else value

        return replace(self, **{name: travel(value) for name, value in asdict(self).items()})


class Prepared:
    """Gold that is read and indexed. Scoring a run changes nothing in it.

    `digests` are the inputs that all runs share, `occurrences` their problems with details, where the plan asks.
    """

    plan: Any
    digests: Sequence[InputDigest]
    occurrences: Sequence[Occurrence] = ()

    @property
    @abstractmethod
    def evaluation(self) -> Evaluation:
        """What the tables over many runs ask of gold."""

    def measures(self) -> Mapping[str, Sequence[str]]:
        """The measures that runs can have on these inputs, the usual one first, each with the hops it exists for."""
        return dict.fromkeys(self.plan.measures(), ())

    @abstractmethod
    def score(self, run: RunFile, policies: Sequence[str]) -> Iterator[Scored]:
        """The run as if it were alone, under each of the policies; a run that cannot be scored has a failed outcome."""

    @abstractmethod
    def origin(self, run: RunFile, digest: InputDigest, policy: str) -> RunOrigin:
        """What the scores and the files of a run with these bytes would be made from."""

    def run_origin(self, origin: Origin, unit: str, **written: Any) -> RunOrigin:
        """An origin with all else that the files of a run depend on."""
        resampling = self.plan.resampling
        return RunOrigin(**asdict(origin), bootstrap=resampling and replace(resampling, unit=unit), **written)


class EvidencePlan(Plan, kw_only=True):
    """Gold of a task of evidence, and the options of its `score` function."""

    gold: InputFile | None
    options: Mapping[str, object]

    def prepare(self) -> Prepared:
        return _PreparedEvidence(self)

    @property
    def inputs(self) -> Sequence[InputFile]:
        return () if self.gold is None else (self.gold,)


class _PreparedEvidence(Prepared):
    def __init__(self, plan: EvidencePlan) -> None:
        self.plan = plan
        self._mode = mode_named(plan.task).with_options(plan.options)
        self._gold = None if plan.gold is None else read_gold(self._mode, plan.gold.open())
        self.digests = () if plan.gold is None else (plan.gold.digest(GOLD),)

    @property
    def evaluation(self) -> Evaluation:
        """Its units, each by all measures that people are shown first."""
        shown = self.plan.headline()
        return Evaluation(
            mode=self.plan.task,
            unit=self._mode.unit,
            measure=shown[0],
            targets=(),
            union_scores=lambda found_bits: {},
            target_measures=shown,
        )

    def origin(self, run: RunFile, digest: InputDigest, policy: str) -> RunOrigin:
        gold = self.digests[0] if self.digests else None
        mode = self._mode_of(run)
        origin = mode.origin(asdict(mode.chosen), gold, digest)
        return self.run_origin(origin, mode.unit)

    def _mode_of(self, run: RunFile) -> Mode:
        """Return the mode that scores a run, which chooses its system where the file holds several."""
        return self._mode.with_options(self._options_of(run)) if run.system else self._mode

    def _options_of(self, run: RunFile) -> Mapping[str, object]:
        """Return the options of scoring a run."""
        if not run.system:
            return self.plan.options  # type: ignore[no-any-return]
        return {**self.plan.options, self._mode.option_of_systems: run.system}

    def score(self, run: RunFile, policies: Sequence[str]) -> Iterator[Scored]:
        """The predictions as if they were alone, with what the subcommand writes of them and what it prints."""
        plan = self.plan
        try:
            result = score_predictions(self._mode, self._gold, run.file.open(), **self._options_of(run))
            limits = None if plan.resampling is None else intervals(result, plan.resampling)
        except CsScoreError as error:
            yield Scored(outcome_of(plan.task, run, "", failure=str(error)))
            return

        def printed(*texts: str) -> list[bytes]:
            return [terminal_safe("\n\n".join(texts) + "\n").encode("utf-8", "backslashreplace")]

        def files() -> RunFiles:
            yield "out.json", printed(json_text(result, limits, with_units=True))
            yield "out.txt", printed(table_text(result), *([] if limits is None else [intervals_text(limits)]))
            yield "out.tsv", unit_blocks(result)
            if plan.page is not None:
                yield page_name(0, 1), encoded([plan.page(task_named(plan.task).analyze(result))])

        origin = self.origin(run, result.origin.inputs[-1], "")
        answered = result.origin.answered or UNSET
        found = make_findings(result.table)
        scores = RunScores(run.name, dict(result.scores), limits or UNSET, found, answered=answered)
        scored = {"signature": str(origin.signature), "origin": origin, "runs": (scores,)}
        yield Scored(outcome_of(plan.task, run, "", OK, **scored, remarks=tuple(result.notices)), files())
