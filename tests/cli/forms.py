"""Every command as a form: what its words stand for, files read or written; and a folder of files to fill it in."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from cs_score.base.records import Record, field
from cs_score.cli.main import find_command
from cs_score.verbs.analyze.run_tables import LAYOUTS
from cs_score.verbs.batch.folder_layout import BATCH_FILES, INDEX
from tests.coldstart.command import Outcome, score_in
from tests.evidence.recorded import example
from tests.evidence.test_command import EXAMPLES
from tests.evidence.test_command import files as evidence_files
from tests.verbs.preparation.invented import AskedQuery, Inputs, Judged, RunLine


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

_SHORT: Final = {
    "$BOTH": "$GOLD --predictions {predictions.jsonl}",
    "$GOLD": "--gold {gold.jsonl}",
    "$LOG": "-error_file {new o.log}",
    "$PROBLEMS": "--problems {own o.problems.json}",
    "$RUN": "{q.xml} {run.tab} {qrel}",
}
_WRITTEN: Final = """
scorer: -output_file {prefix o} --json {own o.json} -queries {ids} $LOG $PROBLEMS $RUN
score: score -o {folder scored} -queries {ids} $PROBLEMS $RUN
batch: batch --jobs 1 -o {folder batch} --runs-from {list} --pool {qrel2} $PROBLEMS {q.xml} {qrel} {run.tab}
batch claims: batch claims --jobs 1 -o {folder batch} $GOLD --runs-from {evidence-list} {predictions.jsonl}
samples: samples -output_file {named o} $LOG {3} {ids}
validate-run: validate-run -output_file {named o} $LOG $PROBLEMS -docs {docs} {q.xml} {run.tab}
validate-queries: validate-queries -index_file {new o.index} $LOG $PROBLEMS {q.xml} {new o}
first queries: generate-queries -error_file {named o.log} $PROBLEMS {q.xml} {named o}
second queries: generate-queries -error_file {named o.log} -docs {docs} {q.xml} {named o} {run.tab}
package-output: package-output $LOG $PROBLEMS -docs {docs} {q.xml} {run.tab} {round2.tab} {new o}
validate-assessments: validate-assessments -output_file {prefix o} $LOG $PROBLEMS -docs {docs} {q.xml} {qrel}
validate-kb: validate-kb -error_file {named o.log} -stats_file {named o.stats} --json {own o.json} $PROBLEMS {kb.tac}
resolve-queries: resolve-queries -error_file {named o.log} $PROBLEMS {q.xml} {kb.tac.valid} {named o}
apply-k: apply-k {run.tab} {named o}
scifact: scifact $BOTH -o {own o.json} --per-item {own o.units.tsv} --per-unit {own o.per.tsv}
claims: claims $BOTH -o {own o.json} --per-item {own o.units.tsv}
r4c: r4c $BOTH -o {own o.json} --per-item {own o.units.tsv}
hotpotqa: hotpotqa $BOTH -o {own o.json} --per-item {own o.units.tsv}
analyze: analyze -o {folder tables} $RUN
explain: explain --line 1 -o {own o.json} $RUN
compare: compare --bootstrap 9 -o {own o.json} {q.xml} {qrel} {run.tab} {run.tab}
compare table: compare table --bootstrap 9 -o {own o.json} {table.tsv}
compare claims: compare claims --bootstrap 9 $GOLD {predictions.jsonl} {predictions.jsonl}
power: power -o {own o.json} {compared.json}
power claims: power claims -o {own o.json} {compared.json}
pool-bias: pool-bias -o {own o.json} --teams {teams} {q.xml} {qrel} {run.tab} {other.tab}
analyze claims: analyze claims $BOTH -o {folder tables}
explain claims: explain claims $BOTH -o {own o.json}
diff claims: diff claims --bootstrap 9 $GOLD -o {folder tables} {predictions.jsonl} {more.jsonl}
report: report -o {own o.html} $RUN
report claims: report claims $BOTH -o {own o.html}
report --compare: report --compare --bootstrap 9 -o {own o.html} {q.xml} {run.tab} {run.tab} {qrel}
report claims --compare: report claims --compare --bootstrap 9 $GOLD -o {own o.html} {predictions.jsonl} {more.jsonl}
page of an analysis: report -o {own o.html} {analysed.json}
plot: plot budget -o {own o.svg} {analysed.json}
problems: problems {EMPTY_FIELD}
expand-queries: expand-queries {q.xml}
check: check --min=SF-AP=0 --baseline {ours.json} $RUN
check claims: check claims --min=abstract_f1=0 $BOTH
write a lock: check --min=SF-AP=0 --write-lock {new o.json} {q.xml} {qrel}
bundle codabench: bundle codabench -o {folder made} {q.xml} {qrel}
bundle evalai: bundle evalai -o {folder made} {q.xml} {qrel}
bundle codabench claims: bundle codabench claims -o {folder made} $GOLD
verify: verify {ours.json}
schema: schema {leaderboard}
completion: completion {bash}
man: man
"""
"""Forms by name. What stands in braces can be another file: one that is read, or an output of some kind."""

_SCORES: Final = (".debug", ".ap", ".sf", ".summary", ".params")
_OF_ALL_RUNS: Final = tuple(f"/{name}" for name in BATCH_FILES if name != INDEX)  # without --html there is no index
_MEMBERS: Final = {
    "scorer": _SCORES,
    "score": tuple(f"/out{ending}" for ending in (*_SCORES, ".json")),
    "batch": (*_OF_ALL_RUNS, "/run/out.sf", "/round2/signature.json"),
    "batch claims": (*_OF_ALL_RUNS, "/predictions/out.json", "/more/out.txt"),
    "validate-assessments": (".eng", ".spa", ".cmn", ".xling"),
    "bundle codabench": ("/bundle.zip", "/competition.yaml"),
    "bundle evalai": ("/challenge.zip", "/annotations/reference.zip"),
    "bundle codabench claims": ("/bundle.zip", "/reference_data.zip"),
    "analyze": tuple(f"/{layout.name}.tsv" for layout in LAYOUTS),
    "analyze claims": ("/mistakes.tsv", "/budget.tsv", "/groups.tsv", "/confusions.tsv"),
    "diff claims": ("/units.tsv", "/outcomes.tsv", "/answers.tsv", "/groups.tsv"),
}
"""Files that come of a prefix or of a folder."""

_OPTION: Final = re.compile(r"(?<!\S)(-\S+) \{([^}]*)\}")
_SLOT: Final = re.compile(r"\{([^}]*)\}")


def _form(name: str, text: str) -> Form:
    def word(slot: str) -> Word:
        kind, _, value = slot.rpartition(" ")
        is_several = kind in ("prefix", "folder")
        return Word(Kind[kind.upper()] if kind else READ, value, _MEMBERS[name] if is_several else ())

    for short, long in _SHORT.items():
        text = text.replace(short, long)
    options = {option: word(slot) for option, slot in _OPTION.findall(text)}
    rest = _OPTION.sub("", text)
    first = _SLOT.sub("", rest).split()
    return Form(
        tuple(first), options, tuple(map(word, _SLOT.findall(rest))), int(find_command(first)[0].wrong_usage_status)
    )


FORMS: Final = {
    name: _form(name, text) for name, text in (line.split(": ", 1) for line in _WRITTEN.strip().splitlines())
}


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
    inputs.lines(RunLine("Zoë", run_id="r2"), name="other.tab")
    inputs.write("teams", "run\tteam\nr1\tA\n")
    inputs.write("table.tsv", "unit\tA\tB\nq\t1\t0\nr\t0\t1\n")
    inputs.write("sample.tsv", "probability\n0.5\n")
    inputs.write("ids", "CSX_0001 CSX_ENG_979a86d86f\n")
    inputs.write("list", "round2.tab\n")
    inputs.write("evidence-list", "more.jsonl\n")
    gold, predictions = example("claims")
    for name, lines in (("gold.jsonl", gold), ("predictions.jsonl", predictions), ("more.jsonl", predictions)):
        inputs.write(name, "".join(f"{json.dumps(line)}\n" for line in lines))
    inputs.write("fewer.jsonl", f"{json.dumps(predictions[0])}\n")
    compared = [
        "compare",
        "claims",
        "--bootstrap=9",
        "--measure=abstract_f1",
        "-o",
        "compared.json",
        "--gold=gold.jsonl",
    ]
    assert score_in(folder, [*compared, "predictions.jsonl", "fewer.jsonl"]).status == 0
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
