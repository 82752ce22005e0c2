"""Every command as a form: what its words stand for, files read or written; and a folder of files to fill it in."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from cs_score.analysis.coldstart.tables import LAYOUTS
from cs_score.base.records import Record, field
from cs_score.batch.runs import FILES as BATCH_FILES
from cs_score.batch.runs import INDEX
from tests.coldstart.command import Outcome, score_in
from tests.evidence.test_claims import GOLD, PREDICTIONS
from tests.evidence.test_command import EXAMPLES
from tests.evidence.test_command import files as evidence_files
from tests.preparation.invented import AskedQuery, Inputs, Judged, RunLine


class Kind(Enum):
    """What a word of a command line names."""

    READ = "an input"
    NEW = "an output that must be a new file"
    NAMED = "an output that replaces the file that is there"
    PREFIX = "the prefix of outputs"
    OWN = "an output of an option that the reference lacks"
    FOLDER = "a folder of outputs"


class Word(Record):
    """One word with what it stands for, a value with which the command does its work, and files that come of it."""

    kind: Kind
    value: str
    members: tuple[str, ...] = ()

    def written(self, value: str) -> list[str]:
        """Paths that a call writes with this value."""
        return [value + member for member in self.members or ("",)]


class Form(Record):
    """A command: its first words, its options, its words without option, and the status that means wrong usage."""

    first: tuple[str, ...]
    options: Mapping[str, Word] = field(default_factory=dict)
    words: tuple[Word, ...] = ()
    wrong_usage: int = 255

    @property
    def takes_force(self) -> bool:
        """Whether it has options of our own that name files."""
        return any(word.kind is Kind.OWN for word in self.options.values())

    def call(self, options: Mapping[str, str], words: tuple[str, ...]) -> list[str]:
        """A command line."""
        given = [part for name, value in options.items() for part in (name, value)]
        return [*self.first, *given, *words]

    def slots(self) -> Iterator[tuple[str | int, Word]]:
        """Every word with a file, by its option or its place."""
        yield from self.options.items()
        yield from enumerate(self.words)

    def with_values(self, values: Mapping[str | int, str]) -> list[str]:
        """The command line with the usual values, some of them replaced."""
        options = {name: values.get(name, word.value) for name, word in self.options.items()}
        return self.call(options, tuple(values.get(at, word.value) for at, word in enumerate(self.words)))


READ, NEW, NAMED, PREFIX, OWN, FOLDER = Kind

ERRORS: Final = {"-error_file": Word(NEW, "o.log")}
PROBLEMS: Final = {"--problems": Word(OWN, "o.problems.json")}
DOCUMENTS: Final = {"-docs": Word(READ, "docs")}
QUERIES, RUN, POOL = Word(READ, "q.xml"), Word(READ, "run.tab"), Word(READ, "qrel")
GOLD_FILE, PREDICTED = Word(READ, "gold.jsonl"), Word(READ, "predictions.jsonl")
OF_MODE: Final = {
    "--gold": GOLD_FILE, "--predictions": PREDICTED, "-o": Word(OWN, "o.json"),
    "--per-item": Word(OWN, "o.units.tsv"),
}  # fmt: skip

SCORES: Final = (".debug", ".ap", ".sf", ".summary", ".params")
LANGUAGES: Final = (".eng", ".spa", ".cmn", ".xling")
# Without --html there is no index.
OF_ALL_RUNS: Final = tuple(f"/{name}" for name in BATCH_FILES if name != INDEX)

FORMS: Final = {
    "scorer": Form(
        (),
        {
            "-output_file": Word(PREFIX, "o", SCORES), "--json": Word(OWN, "o.json"), "-queries": Word(READ, "ids"),
            **ERRORS,
            **PROBLEMS,
        },
        (QUERIES, RUN, POOL),
    ),
    "score": Form(
        ("score",),
        {
            "-o": Word(FOLDER, "scored", tuple(f"/out{ending}" for ending in (*SCORES, ".json"))),
            "-queries": Word(READ, "ids"),
            **PROBLEMS,
        },
        (QUERIES, RUN, POOL),
        2,
    ),
    "batch": Form(
        ("batch", "--jobs", "1"),
        {
            "-o": Word(FOLDER, "batch", (*OF_ALL_RUNS, "/run/out.sf", "/round2/signature.json")),
            "--runs-from": Word(READ, "list"), "--pool": Word(READ, "qrel2"),
            **PROBLEMS,
        },
        (QUERIES, POOL, RUN),
        2,
    ),
    "batch claims": Form(
        ("batch", "claims", "--jobs", "1"),
        {
            "-o": Word(FOLDER, "batch", (*OF_ALL_RUNS, "/predictions/out.json", "/more/out.txt")),
            "--gold": GOLD_FILE, "--runs-from": Word(READ, "evidence-list"),
        },
        (PREDICTED,),
        2,
    ),
    "samples": Form(("samples",), {"-output_file": Word(NAMED, "o"), **ERRORS}, (Word(READ, "3"), Word(READ, "ids"))),
    "validate-run": Form(
        ("validate-run",), {"-output_file": Word(NAMED, "o"), **ERRORS, **PROBLEMS, **DOCUMENTS}, (QUERIES, RUN)
    ),
    "validate-queries": Form(
        ("validate-queries",), {"-index_file": Word(NEW, "o.index"), **ERRORS, **PROBLEMS}, (QUERIES, Word(NEW, "o"))
    ),
    "first queries": Form(
        ("generate-queries",), {"-error_file": Word(NAMED, "o.log"), **PROBLEMS}, (QUERIES, Word(NAMED, "o"))
    ),
    "second queries": Form(
        ("generate-queries",), {"-error_file": Word(NAMED, "o.log"), **DOCUMENTS}, (QUERIES, Word(NAMED, "o"), RUN)
    ),
    "package-output": Form(
        ("package-output",),
        {**ERRORS, **PROBLEMS, **DOCUMENTS},
        (QUERIES, RUN, Word(READ, "round2.tab"), Word(NEW, "o")),
    ),
    "validate-assessments": Form(
        ("validate-assessments",),
        {"-output_file": Word(PREFIX, "o", LANGUAGES), **ERRORS, **PROBLEMS, **DOCUMENTS},
        (QUERIES, POOL),
    ),
    "validate-kb": Form(
        ("validate-kb",),
        {"-error_file": Word(NAMED, "o.log"), "-stats_file": Word(NAMED, "o.stats"), "--json": Word(OWN, "o.json"),
         **PROBLEMS},
        (Word(READ, "kb.tac"),),
    ),
    "resolve-queries": Form(
        ("resolve-queries",),
        {"-error_file": Word(NAMED, "o.log"), **PROBLEMS},
        (QUERIES, Word(READ, "kb.tac.valid"), Word(NAMED, "o")),
    ),
    "apply-k": Form(("apply-k",), {}, (RUN, Word(NAMED, "o"))),
    **{
        mode: Form((mode,), OF_MODE, wrong_usage=2) for mode in ("scifact", "claims", "r4c", "hotpotqa")
    },
    "analyze": Form(
        ("analyze",),
        {
            "-o": Word(FOLDER, "tables", tuple(f"/{layout.name}.tsv" for layout in LAYOUTS)),
        },
        (QUERIES, RUN, POOL),
        2,
    ),
    "explain": Form(("explain", "--line", "1"), {"-o": Word(OWN, "o.json")}, (QUERIES, RUN, POOL), 2),
    "compare coldstart": Form(("compare", "coldstart", "--bootstrap", "9"), {}, (QUERIES, POOL, RUN, RUN)),
    "compare claims": Form(("compare", "claims", "--bootstrap", "9"), {"--gold": GOLD_FILE}, (PREDICTED, PREDICTED)),
    "analyze claims": Form(
        ("analyze", "claims"),
        {
            "--gold": GOLD_FILE, "--predictions": PREDICTED,
            "-o": Word(FOLDER, "tables", ("/mistakes.tsv", "/budget.tsv", "/groups.tsv", "/confusions.tsv")),
        },
        wrong_usage=2,
    ),
    "explain claims": Form(
        ("explain", "claims"),
        {"--gold": GOLD_FILE, "--predictions": PREDICTED, "-o": Word(OWN, "o.json")},
        wrong_usage=2,
    ),
    "diff claims": Form(
        ("diff", "claims", "--bootstrap", "9"),
        {"--gold": GOLD_FILE, "-o": Word(OWN, "o.json")},
        (PREDICTED, Word(READ, "more.jsonl")),
        2,
    ),
    "report": Form(("report",), {"-o": Word(OWN, "o.html")}, (QUERIES, RUN, POOL), 2),
    "report claims": Form(
        ("report", "claims"),
        {"--gold": GOLD_FILE, "--predictions": PREDICTED, "-o": Word(OWN, "o.html")},
        wrong_usage=2,
    ),
    "report --compare": Form(
        ("report", "--compare", "--bootstrap", "9"), {"-o": Word(OWN, "o.html")}, (QUERIES, RUN, RUN, POOL), 2
    ),
    "report claims --compare": Form(
        ("report", "claims", "--compare", "--bootstrap", "9"),
        {"--gold": GOLD_FILE, "-o": Word(OWN, "o.html")},
        (PREDICTED, Word(READ, "more.jsonl")),
        2,
    ),
    "page of an analysis": Form(("report",), {"-o": Word(OWN, "o.html")}, (Word(READ, "analysed.json"),), 2),
    "plot": Form(("plot", "budget"), {"-o": Word(OWN, "o.svg")}, (Word(READ, "analysed.json"),), 2),
    "problems": Form(("problems",), {}, (Word(READ, "EMPTY_FIELD"),)),
    "expand-queries": Form(("expand-queries",), {}, (QUERIES,)),
    "check": Form(("check", "--min=SF-AP=0"), {"--baseline": Word(READ, "ours.json")}, (QUERIES, RUN, POOL), 2),
    "check claims": Form(
        ("check", "claims", "--min=abstract_f1=0"), {"--gold": GOLD_FILE, "--predictions": PREDICTED}, wrong_usage=2
    ),
    "verify": Form(("verify",), {}, (Word(READ, "ours.json"),), 2),
    "schema": Form(("schema",), {}, (Word(READ, "leaderboard"),), 2),
    "completion": Form(("completion",), {}, (Word(READ, "bash"),), 2),
    "man": Form(("man",), wrong_usage=2),
}  # fmt: skip


OUTPUTS: Final = [(name, slot) for name, form in FORMS.items() for slot, word in form.slots() if word.kind is not READ]
"""The name of a form and an option or place of its outputs."""


def fill(folder: Path) -> None:
    """Sound inputs of every kind, ordinary notes under all sorts of names, links, folders, and earlier outputs."""
    inputs = Inputs(folder)
    inputs.queries(AskedQuery())
    inputs.lines(RunLine(), RunLine("Zoë", node=":E2"))
    inputs.lines(RunLine().child(), name="round2.tab")
    inputs.lines(Judged(), name="qrel")
    inputs.lines(Judged(value="Zoë", id="a2"), name="qrel2")
    node = ":Entity_1"
    kb = f'{node}\ttype\tPER\n{node}\tmention\t"Bo"\tENG_1:1-2\n{node}\tcanonical_mention\t"Bo"\tENG_1:1-2\n'
    inputs.write("kb.tac", f"KB_1\n{kb}")
    assert score_in(folder, ["validate-kb", "-output", "tac", "kb.tac"]).status == 0
    inputs.write("docs", "ENG_A\t50\nENG_1\t50\ttext.json\nENG_9\t50\n")
    inputs.write("text.json", "...Bo ..." * 9)
    inputs.write("ids", "CSX_0001 CSX_ENG_979a86d86f\n")
    inputs.write("list", "round2.tab\n")
    inputs.write("evidence-list", "more.jsonl\n")
    for name, lines in (("gold.jsonl", GOLD), ("predictions.jsonl", PREDICTIONS), ("more.jsonl", PREDICTIONS)):
        inputs.write(name, "".join(f"{json.dumps(line)}\n" for line in lines))
    for name in ("notes", "notes.json", "notes.tsv", "notes.sarif", "notes.sf", "notes.eng", "notes.json.gz"):
        inputs.write(name, f"a shopping list called {name}\n")
    inputs.write("empty.json", "")
    (folder / "runs").mkdir()
    inputs.lines(RunLine(), name="runs/a.tab.txt")
    (folder / "runs" / "run").mkdir()
    inputs.lines(RunLine(), name="runs/run/out.tab")
    inputs.lines(Judged(), name="runs/problems.tsv")
    (folder / "link").symlink_to("notes")
    (folder / "link.json").symlink_to("run.tab")
    (folder / "nowhere.json").symlink_to("o.json")
    os.link(folder / "qrel", folder / "hard.tsv")
    os.link(folder / "q.xml", folder / "hard.sf")
    words = ["--json", "ours.json", "--problems", "ours.tsv", "-output_file", "ours", "q.xml", "run.tab", "qrel"]
    assert score_in(folder, words).status == 0
    assert score_in(folder, ["analyze", "q.xml", "run.tab", "qrel", "-o", "analysed.json"]).status == 0


def digests(folder: Path) -> dict[str, str]:
    """What every path below a folder is: the digest of a file, the target of a link, a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"link to {os.readlink(path)}"
        else:
            found[name] = "folder" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def copied(filled: Path, target: Path) -> Path:
    """A copy of the folder with links as links and with new hard links."""
    shutil.copytree(filled, target, symlinks=True)
    for name, of in (("hard.tsv", "qrel"), ("hard.sf", "q.xml")):
        (target / name).unlink()
        os.link(target / of, target / name)
    return target


def give_inputs(name: str, folder: Path) -> None:
    """Inputs under the names that the form has, where those of the folder are none for this command."""
    if name in EXAMPLES:
        for source, target in zip(evidence_files(name), ("gold.jsonl", "predictions.jsonl")):
            shutil.copy(source, folder / target)


def refusal(outcome: Outcome) -> str:
    """The one line of a refusal."""
    assert outcome.stdout == b""
    (line,) = outcome.stderr.decode().splitlines()
    return line
