"""The calls of the freeze: what is typed, by a name that stays when options are renamed.

A line is `NAME: WORDS`. Every call runs in a copy of a folder that holds the samples of the repository and
what the calls of FIRST wrote. $COLD stands for queries and pool of the samples, $KB and $SF for their runs.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Final

from cs_score.base.documents import KINDS
from cs_score.base.records import Record
from cs_score.cli.about import all_commands
from cs_score.tasks import COLD_START, OWN_TASKS

REPOSITORY: Final = Path(__file__).parents[2]

EVIDENCE: Final = tuple(name for name in OWN_TASKS if name != COLD_START)

ENDING_OF_SAMPLES: Final = {"r4c": "json", "hotpotqa": "json", "pool": "csv"}
"""The ending of the samples of a task; those of the other tasks are JSON lines."""

SHORT: Final = {
    "COLD": "-queries queryids.txt -expand ISLE26 ldc-queries.xml pool-2016.tab",
    "INCLUSION": "inclusion-2016.tsv",
    "SECOND": "pool-2016-second.tab",
    "KB": "tide-kb.tab.txt",
    "SF": "gull-sf.tab.txt",
    **{
        f"{mode.upper()}_{role}": f"{mode}-{name}.{ENDING_OF_SAMPLES.get(mode, 'jsonl')}"
        for mode in EVIDENCE
        for role, name in (("GOLD", "gold"), ("A", "a"), ("B", "b"))
    },
}

FIRST: Final = """
validate-kb -output tac tide.tac
resolve-queries sf-queries.xml tide.tac.valid tide.tab.txt
validate-queries -expand -query_base ISLE26 -index_file index.txt ldc-queries.xml expanded.xml
samples -output_file resamples.txt 9 queryids.txt
score $COLD $KB -o scored
analyze $COLD $KB -o analysis.json
analyze $COLD $KB --bootstrap 99 -o analysis-intervals.json
diff $COLD $KB $SF --bootstrap 99 -o difference.json
explain $COLD $KB --line 7 -o explanation.json
batch --jobs 1 --with-json --bootstrap 99 -o batch $COLD $KB $SF
scifact --gold $SCIFACT_GOLD --predictions $SCIFACT_A -o scifact.json
analyze scifact --gold $SCIFACT_GOLD --predictions $SCIFACT_A -o scifact-analysis.json
diff scifact --gold $SCIFACT_GOLD $SCIFACT_A $SCIFACT_B --bootstrap 99 -o scifact-difference.json
batch scifact --jobs 1 -o scifact-batch --gold $SCIFACT_GOLD $SCIFACT_A $SCIFACT_B
"""
"""Calls whose files are inputs of others."""

SCORING: Final = """
bare: $COLD $KB
bare without files:
bare without pool: ldc-queries.xml $KB
bare, files: -output_file o -error_file o.log $COLD $KB
bare, slot filling: -justifications 1:1 -ignore UNASSESSED -wrong INCORRECT:INEXACT:DUPLICATE -output_file o $COLD $SF
bare, string discipline: -discipline STRING_CASE -output_file o $COLD $SF
bare, pool of 2015: -output_file o -expand ISLE26 ldc-queries.xml pool-2015.tab $KB
bare, two runs and their order: -runids GULL_SF:TIDE_KB -output_file o $COLD $KB $SF
bare, fields and tabs: -fields EC:RUNID:LEVEL:P:R:F -tabs -output_file o $COLD $KB
bare, samples: -samples resamples.txt -output_file o $COLD $KB
bare, slot-filling queries: -output_file o sf-queries.xml pool-2016.tab $KB
bare, bootstrap: --bootstrap 99 -output_file o $COLD $KB
bare, bootstrap bca: --bootstrap 99 --interval bca --seed 3 --confidence 90 -output_file o $COLD $SF
bare, json: --json o.json $COLD $KB
bare, json printed: --json -output_file o $COLD $KB
bare, policy: --policy sf $COLD $SF
bare, validate: --validate -output_file o $COLD $KB
bare, knowledge base: --knowledge-base tide.tac -output_file o $COLD
bare, parts: --parts 3 --jobs 1 -output_file o $COLD $KB
bare, problems json: --problems o.json $COLD $KB
bare, problems tsv: --problems o.tsv $COLD $SF
bare, problems sarif: --problems o.sarif $COLD $SF
bare, quiet: --quiet $COLD $KB
bare, unknown switch: -nope $COLD $KB
bare, unknown query: -queries NO_SUCH -expand ISLE26 ldc-queries.xml pool-2016.tab $KB
bare, bad policy: -right WRONG $COLD $KB
bare, missing file: $COLD nothing.tab
bare, mistyped command: scifct $SCIFACT_GOLD
score: score $COLD $KB
score, two runs: score $COLD $KB $SF
score, without pool: score ldc-queries.xml $KB
score, without run: score $COLD
score, measures: score --measure LDC-M*F1,SF-AP $COLD $KB
score, unknown measure: score --measure SF-APP $COLD $KB
score, json: score --format json $COLD $KB
score, tsv: score --format tsv $COLD $KB
score, markdown: score --format markdown $COLD $KB $SF
score, intervals: score --bootstrap 99 $COLD $KB
score, intervals json: score --bootstrap 99 --format json $COLD $KB
score, intervals tsv: score --bootstrap 99 --format tsv $COLD $KB
score, folder: score -o o $COLD $KB
score, folder with intervals: score --bootstrap 99 -o o $COLD $SF
score, policy: score --policy sf $COLD $SF
score, knowledge base: score --knowledge-base tide.tac $COLD
score, problems: score --problems o.json --validate $COLD $KB
"""

INSIGHT: Final = """
analyze: analyze $COLD $KB
analyze, slot filling: analyze --policy sf $COLD $SF
analyze, reference switches: analyze -right CORRECT:INEXACT -justifications 1:1 $COLD $SF
analyze, measure: analyze --measure SF-AP $COLD $KB
analyze, measures of maxima: analyze --measure LDC-MAX-ALL-Micro-F1 $COLD $KB
analyze, intervals: analyze --bootstrap 99 $COLD $KB
analyze, groups: analyze --by slot,language --top 3 $COLD $KB
analyze, earlier edition: analyze --follow 2017.1.5 --bootstrap 99 --measure SF-AP --format json $COLD $KB
analyze, one run of two: analyze --run GULL_SF $COLD $KB $SF
analyze, json: analyze -o o.json $COLD $KB
analyze, json printed: analyze --bootstrap 99 $COLD $KB --format json
analyze, tsv printed: analyze $COLD $KB --format tsv
analyze, tsv: analyze --bootstrap 99 -o o $COLD $KB
analyze, knowledge base: analyze --knowledge-base tide.tac $COLD
analyze, unknown measure: analyze --measure SF-APP $COLD $KB
explain: explain $COLD $KB --line 7
explain, child line: explain $COLD $KB --line 11
explain, lines of slot filling: explain -justifications 1:1 $COLD $SF --line 1 --line 3
explain, query: explain $COLD $KB --unit ISLE26_ENG_4d2650256f
explain, ldc query: explain $COLD $KB --unit ISLE26_0001
explain, node: explain $COLD $KB --node :E20
explain, answer: explain $COLD $KB --answer 'Corin*'
explain, json: explain $COLD $KB --line 7 -o o.json
explain, query json: explain $COLD $KB --unit ISLE26_ENG_4d2650256f --format json
explain, tsv: explain $COLD $KB --line 7 --format tsv
explain, no such line: explain $COLD $KB --line 999
explain, nothing asked: explain $COLD $KB
diff: diff $COLD $KB $SF
diff, intervals: diff --bootstrap 99 $COLD $KB $SF
diff, measure: diff --measure SF-AP --top 3 --bootstrap 99 $COLD $KB $SF
diff, policy: diff --policy-b sf --bootstrap 99 $COLD $SF
diff, pool: diff --pool-b pool-2015.tab --bootstrap 99 $COLD $KB
diff, tsv: diff --bootstrap 99 $COLD $KB $SF --format tsv --top 5
diff, tables: diff --bootstrap 99 $COLD $KB $SF -o o
diff, json: diff --bootstrap 99 -o o.json $COLD $KB $SF
diff, json printed: diff --bootstrap 99 $COLD $KB $SF --format json
report: report -o o.html $COLD $KB
report, intervals: report --bootstrap 99 -o o.html $COLD $KB
report, difference: report --compare --bootstrap 99 -o o.html $COLD $KB $SF
report, aggregate: report --aggregate-only --bootstrap 99 -o o.html $COLD $KB
report, aggregate of scifact: report scifact --aggregate-only --gold $SCIFACT_GOLD $SCIFACT_A --format tsv
report, of an analysis: report -o o.html analysis.json
report, of a difference: report -o o.html difference.json
report, of a batch: report -o o.html batch/batch.json
report, of scifact: report -o o.html scifact-analysis.json
report, of another file: report -o o.html scored/out.json
plot budget: plot budget -o o.svg analysis.json
plot cumulated: plot cumulated -o o.svg analysis.json
plot groups: plot groups -o o.svg analysis.json
plot sweep: plot sweep -o o.svg analysis.json
plot reliability: plot reliability -o o.svg analysis.json
plot confusions: plot confusions -o o.svg analysis.json
plot precision: plot precision -o o.svg analysis.json
plot contributions: plot contributions -o o.svg difference.json
plot leaderboard: plot leaderboard -o o.svg batch/batch.json
plot heatmap: plot heatmap -o o.svg batch/batch.json
plot difficulty: plot difficulty -o o.svg batch/batch.json
plot agreement: plot agreement -o o.svg batch/batch.json
plot systems: plot systems -o o.svg batch/batch.json
plot stability: plot stability -o o.svg batch/batch.json
plot scifact: plot confusions -o o.svg scifact-analysis.json
plot png: plot budget -o o.png analysis.json
plot pdf: plot budget --format pdf -o o.svg analysis.json
plot of something else: plot budget -o o.svg difference.json
"""

SEVERAL: Final = """
sampled pool: compare $COLD $KB $SF --inclusion $INCLUSION
sampled pool, json: score $COLD $KB --inclusion $INCLUSION --format json
two assessors: compare $COLD $KB $SF --second-assessments $SECOND
two assessors, json: compare $COLD $KB $SF --second-assessments $SECOND --bootstrap 99 --format json
pool-bias: pool-bias $COLD $KB $SF
pool-bias, json: pool-bias --measure SF-AP --format json $COLD $KB $SF
power: power --difference 0.1 $COLD $KB $SF
power, without files: power --sd 2 --difference 1 --format json
batch: batch --jobs 1 -o o $COLD $KB $SF
batch, everything: batch --with-json --bootstrap 99 --policy kb --also-policy sf --problems o.json -o o $COLD $KB $SF
batch, pages: batch --jobs 1 --html --bootstrap 99 -o o $COLD $KB $SF
batch, resumed: batch --jobs 1 --with-json --bootstrap 99 --resume -o batch $COLD $KB $SF
batch, a run missing: batch --jobs 1 -o o $COLD $KB nothing.tab
batch, sorted: batch --jobs 1 --measure SF-AP -o o $COLD $KB $SF
batch scifact, pages: batch scifact --jobs 1 --html --bootstrap 99 -o o --gold $SCIFACT_GOLD $SCIFACT_A $SCIFACT_B
compare: compare coldstart --bootstrap 99 $COLD $KB $SF
compare, measure: compare coldstart --bootstrap 99 --measure SF-AP $COLD $KB $SF
compare, tsv: compare coldstart --bootstrap 99 --format tsv $COLD $KB $SF
compare, markdown: compare coldstart --bootstrap 99 --format markdown $COLD $KB $SF
compare, latex: compare coldstart --bootstrap 99 --format latex $COLD $KB $SF
compare, json: compare coldstart --bootstrap 99 -o o.json $COLD $KB $SF
check: check --min SF-AP=0.1 $COLD $KB
check, fails: check --min SF-AP=0.99 $COLD $KB
check, json: check --format json --min SF-AP=0.99 $COLD $KB
check, junit: check --format junit --min SF-AP=0.99 --min LDC-MEAN-ALL-Macro-F1=0.1 $COLD $KB
check, github: check --format github --min SF-AP=0.99 $COLD $KB
check, baseline: check --baseline scored/out.json --max-drop SF-AP=0.01 $COLD $KB
check, significant: check --baseline scored/out.json --significant --bootstrap 99 $COLD $SF
check, lock: check --write-lock o.json --min SF-AP=0.1 $COLD
check, out of range: check --min SF-AP=70 $COLD $KB
verify: verify scored/out.json
verify, batch: verify batch
verify, evidence batch: verify scifact-batch
verify, scifact: verify scifact.json
verify, analysis: verify analysis.json
verify, json: verify scored/out.json --format json
verify, tsv: verify scifact-batch --format tsv
verify, not ours: verify $SCIFACT_GOLD
"""

PREPARATION: Final = """
validate-run: validate-run sf-queries.xml $KB
validate-run, file: validate-run -output_file o -error_file o.log expanded.xml $SF
validate-run, check and diff: validate-run --check --diff sf-queries.xml $KB
validate-run, problems: validate-run --problems o.json -output_file o sf-queries.xml pool-2016.tab
validate-queries: validate-queries -expand -query_base ISLE26 -index_file o.index ldc-queries.xml o
validate-queries, one language: validate-queries -languages ENGLISH ldc-queries.xml o
expand-queries: expand-queries ldc-queries.xml
generate-queries, first: generate-queries sf-queries.xml o
generate-queries, second: generate-queries sf-queries.xml o $KB
package-output: package-output sf-queries.xml tide.tab.txt tide.tab.txt o
package-output, problems: package-output sf-queries.xml $KB $SF o
validate-assessments: validate-assessments -output_file o sf-queries.xml pool-2016.tab
validate-assessments, problems: validate-assessments --problems o.tsv -output_file o sf-queries.xml $KB
validate-kb: validate-kb -output tac -output_dir fresh -error_file o.log -stats_file o.stats tide.tac
validate-kb, json: validate-kb --json o.json tide.tac
validate-kb, check and diff: validate-kb --check --diff tide.tac
validate-kb, every output: validate-kb -output tac:edl:nug:eal:sen -output_dir fresh tide.tac
validate-kb, not one: validate-kb --problems o.json ldc-queries.xml
resolve-queries: resolve-queries --explain o.tsv sf-queries.xml tide.tac.valid o
apply-k: apply-k -justifications 1:1 $KB o
samples: samples --seed 3 5 queryids.txt
samples, file: samples -output_file o 5 queryids.txt
"""

ABOUT: Final = """
version: --version
reference version: -version
version of validate-run: validate-run -version
problems: problems
problems, one: problems EMPTY_FIELD
problems, mistyped: problems EMPTY_FELD
problems, json: problems EMPTY_FIELD --format json
problems, tsv: problems --format tsv
schema: schema
schema, mistyped: schema analyss
completion bash: completion bash
completion zsh: completion zsh
completion fish: completion fish
completion, mistyped: completion tcsh
man: man
"""

OF_EVIDENCE: Final = """
MODE: MODE --gold $GOLD --predictions $A
MODE, other: MODE --gold $GOLD --predictions $B --quiet
MODE, json: MODE --gold $GOLD --predictions $A -o o.json
MODE, json printed: MODE --gold $GOLD --predictions $A --json
MODE, intervals: MODE --gold $GOLD --predictions $A --bootstrap 99 --interval bca
MODE, intervals json: MODE --gold $GOLD --predictions $A --bootstrap 99 --json
MODE, units: MODE --gold $GOLD --predictions $A --per-item o.tsv
MODE, swapped: MODE --gold $A --predictions $GOLD
MODE, without gold: MODE --predictions $A
MODE, unknown option: MODE --gold $GOLD --prediction $A
analyze MODE: analyze MODE --gold $GOLD --predictions $A
analyze MODE, measure: analyze MODE --gold $GOLD --predictions $B --measure MEASURE --top 3
analyze MODE, json: analyze MODE --gold $GOLD --predictions $A -o o.json
analyze MODE, tsv: analyze MODE --gold $GOLD --predictions $A -o o
explain MODE: explain MODE --gold $GOLD --predictions $A
explain MODE, unit: explain MODE --gold $GOLD --predictions $B --unit UNIT --measure MEASURE
explain MODE, tsv: explain MODE --gold $GOLD --predictions $A --unit UNIT --format tsv
explain MODE, json: explain MODE --gold $GOLD --predictions $A --unit UNIT --format json
diff MODE: diff MODE --gold $GOLD --bootstrap 99 $A $B
diff MODE, tsv: diff MODE --gold $GOLD --bootstrap 99 $A $B --format tsv
diff MODE, tables: diff MODE --gold $GOLD --bootstrap 99 $A $B -o o
diff MODE, json: diff MODE --gold $GOLD --bootstrap 99 --measure MEASURE $A $B -o o.json
report MODE: report MODE --gold $GOLD --predictions $A -o o.html
report MODE, difference: report MODE --compare --gold $GOLD --bootstrap 99 -o o.html $A $B
batch MODE: batch MODE --jobs 1 --bootstrap 99 -o o --gold $GOLD $A $B
compare MODE: compare MODE --bootstrap 99 --gold $GOLD $A $B
compare MODE, tsv: compare MODE --bootstrap 99 --format tsv --measure MEASURE --gold $GOLD $A $B
compare MODE, json: compare MODE --bootstrap 99 --gold $GOLD $A $B --format json
check MODE: check MODE --min MEASURE=0.99 --gold $GOLD --predictions $A
check MODE, json: check MODE --format json --min MEASURE=0.1 --gold $GOLD --predictions $A
"""
"""Calls of every evidence mode: $GOLD, $A and $B are its samples."""

MEASURES: Final = {
    "scifact": "sentence_label_f1",
    "claims": "sentence_f1",
    "r4c": "er_f1",
    "hotpotqa": "joint_f1",
    "pool": "micro-f1",
}
UNITS: Final = {"scifact": "4", "claims": "4", "r4c": "q4", "hotpotqa": "q4", "pool": "q04"}

NEEDED: Final = {"pool": " --policy right=CORRECT,half=PARTIAL,wrong=INCORRECT,ignore=JUDGE_ERROR"}
"""The options that calls of a mode need."""

CASES: Final = {
    "cases-coldstart": "coldstart",
    "cases-preparation": "verbs/preparation",
    "cases-knowledge-base": "verbs/knowledge_base",
    "cases-evidence": "evidence",
}
"""Groups of recorded cases that lie beside the tests, and the folders of the tests in which they lie."""


class Call(Record):
    """One call; `inputs` is the folder of a recorded case, None for the samples."""

    group: str
    name: str
    words: tuple[str, ...]
    inputs: Path | None = None


def calls() -> Iterator[Call]:
    """All calls, group by group."""
    for group, text in (
        ("scoring", SCORING),
        ("insight", INSIGHT),
        ("several", SEVERAL),
        ("preparation", PREPARATION),
        ("about", ABOUT),
    ):
        yield from _of(group, text)
    for mode in EVIDENCE:
        text = OF_EVIDENCE.replace("MODE", mode).replace("MEASURE", MEASURES[mode]).replace("UNIT", UNITS[mode])
        needed = NEEDED.get(mode, "")
        text = "\n".join(f"{line}{needed}" for line in text.strip().split("\n"))
        yield from _of(mode, text.replace("$", f"${mode.upper()}_"))
    for command in all_commands():
        yield Call("help", f"help {command.name}".strip(), (*(command.name or "").split(), "-help"))
    yield from (Call("about", f"schema {name}", ("schema", name)) for name in KINDS)
    for group, folder in CASES.items():
        cases = REPOSITORY / "tests" / folder / "golden"
        room = cases.parent.name
        for path in sorted(cases.rglob("case.json")):
            case = json.loads(path.read_text(encoding="utf-8"))
            words = [case["program"], *case["args"]] if case.get("program") else case["args"]
            name = path.parent.relative_to(cases).as_posix()
            yield Call(group, f"{room}/{name}", tuple(words), path.parent)


def _of(group: str, text: str) -> Iterator[Call]:
    for line in text.strip().splitlines():
        name, _, words = line.partition(":")
        yield Call(group, name, expanded(words))


def expanded(words: str) -> tuple[str, ...]:
    """A command line as words, short names written out."""
    return tuple(shlex.split(Template(words).substitute(SHORT)))


def first() -> Sequence[tuple[str, ...]]:
    """The calls whose files are inputs of others."""
    return [expanded(line) for line in FIRST.strip().splitlines()]


def copy_samples(folder: Path) -> None:
    """Put the samples into a folder, and an empty folder `fresh`."""
    (folder / "fresh").mkdir()
    for name in ("queries", "assessments", "submissions"):
        shutil.copytree(REPOSITORY / name, folder, dirs_exist_ok=True)
