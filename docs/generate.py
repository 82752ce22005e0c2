"""The parts of the reference that are made from the tables of the package, as Markdown.

A page asks for one with a line `{generated} NAME WHAT`; `python docs/generate.py NAME WHAT` prints it. Nothing here
imports Sphinx, so that the tests can hold every part against the tables.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from cs_score.analysis.views import view_of_kind
from cs_score.api import result_tables as results
from cs_score.base.documents import KINDS, schema_of
from cs_score.cli.core import COMMANDS, Command, load_command
from cs_score.coldstart.file_columns import SCHEMAS
from cs_score.coldstart.options import POLICY_CATEGORIES, PRESETS, SIDES
from cs_score.coldstart.output_files import OUTPUTS, SCORE_FIELDS
from cs_score.measures import (
    COLD_START_MODE,
    COLD_START_STATISTICS,
    RANKING_FORMULAS,
    headline_names,
    meanings,
    measure_names,
)
from cs_score.problems.codes import CODES
from cs_score.problems.reports import problem_codes
from cs_score.tables.statistics import PAIRS, SYSTEMS
from cs_score.tasks import OWN_TASKS, task_named

ELSEWHERE: Final = ("Policies", "Named policies are", "Disciplines are", "Policy options are", "Fields are")
"""Sections of helps that are tables of pages of their own."""

SEE_BELOW: Final = {"-discipline": "../../background/scoring.md#matching", "-fields": "../output-files.md#fields"}
"""Where these tables stand, by the option whose meaning says that they stand below; those of policies elsewhere."""


def meaning_of(option: str, meaning: str) -> str:
    """The meaning of an option of a command, with a link to the table that a help has below it."""
    place = SEE_BELOW.get(option.split()[0], "../../background/scoring.md#policies")
    return text(meaning).replace("see below", f"see [there]({place})")


def text(plain: str) -> str:
    """Plain text, with code between single backticks, as Markdown for a cell of a table."""
    parts = plain.replace("|", r"\|").split("`")
    for sign in "*_<[":
        parts[::2] = [part.replace(sign, rf"\{sign}") for part in parts[::2]]
    return " ".join("`".join(parts).split())


def code(word: object) -> str:
    """A word as code."""
    return f"`{word}`".replace("|", r"\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, with an empty line behind it."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


# ---- Commands


def command_forms(name: str) -> Mapping[str, Command]:
    """The forms of a command by their task; a command without tasks has one form."""
    return (
        {task: load_command(name, task) for task in OWN_TASKS}
        if COMMANDS[name].is_split_by_task
        else {"": load_command(name)}
    )


def commands() -> str:
    """All commands with their summaries."""
    rows = [(code(f"cs-score {name}".rstrip()), text(entry.summary)) for name, entry in COMMANDS.items()]
    return table(("command", "what it does"), rows)


def command(name: str = "") -> str:
    """How a command is called, its options, its words, and what else its help says."""
    forms = command_forms(name)
    usage = "\n".join(f"{each.full_name} {each.usage}" for each in forms.values())
    calls = "\n".join(
        f"{each.full_name} {each.properties.example}" for each in forms.values() if each.properties.example
    )
    parts = [f"```text\n{usage}\n```\n\n", f"Examples on the samples:\n\n```sh\n{calls}\n```\n\n" if calls else ""]
    rows: dict[tuple[str, str], list[str]] = {}
    others: dict[tuple[str, str], list[str]] = {}
    for task, form in forms.items():
        for option in form.options:
            rows.setdefault(option.get_help_record(), []).append(task)
        for title, content in form.all_sections():
            if title in ("Switches", "Additions", "Options", *ELSEWHERE):
                continue
            shown = (
                f"{text(content)}\n\n"
                if isinstance(content, str)
                else table((title.lower(), "meaning"), [(code(word), text(meaning)) for word, meaning in content])
            )
            others.setdefault((title, shown), []).append(task)
    of = {tuple(forms): "all"}
    if len(forms) == 1:
        parts.append(
            table(("option", "meaning"), [(code(option), meaning_of(option, meaning)) for option, meaning in rows])
        )
    else:
        listed = [(code(option), meaning_of(option, meaning), of.get(tuple(tasks), ", ".join(tasks)))
                  for (option, meaning), tasks in rows.items()]  # fmt: skip
        parts.append(table(("option", "meaning", "tasks"), listed))
    for (title, shown), tasks in others.items():
        of_tasks = "" if tuple(tasks) in of else f" ({', '.join(tasks)})"
        parts.append(
            f"**{title}{of_tasks}.** {shown}" if not shown.startswith("|") else f"**{title}{of_tasks}**\n\n{shown}"
        )
    return "".join(parts)


def formats() -> str:
    """Which formats each command has, and what `-o` writes into a folder."""
    rows = []
    for name in filter(None, COMMANDS):
        for task, form in command_forms(name).items():
            if form.properties.formats or form.properties.folder_format:
                rows.append(
                    (
                        name,
                        task,
                        ", ".join(map(code, form.properties.formats)),
                        code(form.properties.folder_format) if form.properties.folder_format else "",
                    )
                )
    merged: dict[tuple[str, ...], list[str]] = {}
    for name, task, *rest in rows:
        merged.setdefault((name, *rest), []).append(task)
    return table(
        ("command", "tasks", "`--format`", "`-o FOLDER` holds"),
        [(code(name), "all" if len(tasks) == len(OWN_TASKS) else ", ".join(tasks), known, folder)
         for (name, known, folder), tasks in merged.items()],
    )  # fmt: skip


# ---- Cold Start


def policy_items() -> str:
    """The categories of responses, and the lists that may name each."""
    rows = [(code(name), item.meaning, ", ".join(code(f"-{side.lower()}") for side in SIDES if side in item.sides))
            for name, item in POLICY_CATEGORIES.items()]  # fmt: skip
    return table(("category", "responses", "may stand in"), rows)


def policies() -> str:
    """The published policies."""
    rows = [
        (
            code(name),
            *(code(preset.policy.texts()[side]) for side in SIDES),
            code(preset.justifications),
            preset.meaning,
        )
        for name, preset in PRESETS.items()
    ]
    return table(("policy", *(code(f"-{side.lower()}") for side in SIDES), "`-justifications`", "for"), rows)


def layouts() -> str:
    """The layouts of runs and assessments."""
    rows = [(str(len(each.columns)), each.name, ", ".join(map(code, each.columns))) for each in SCHEMAS]
    return table(("columns", "layout", "columns in order"), rows)


def output_files() -> str:
    """The files of the scorer."""
    rows = [(code(f"P.{each.ending}"), text(each.content), f"with `{each.switch}`" if each.switch else "always")
            for each in OUTPUTS]  # fmt: skip
    return table(("file", "content", "written"), rows)


def fields() -> str:
    """The columns of the scorer's tables."""
    rows = [(code(name), code(field.header), text(field.meaning)) for name, field in SCORE_FIELDS.items()]
    return table(("field", "header", "meaning"), rows)


# ---- Measures

SOURCES: Final = {
    "coldstart": "TAC KBP Cold Start 2017, scorer 2017.2.0",
    "scifact": "SciFact, evaluator of the public leaderboard",
    "claims": "claim verification with documents, evidence sentences and verdicts",
    "r4c": "R4C, official evaluator",
    "hotpotqa": "HotpotQA, official evaluator",
    "pool": "judged answers in anybody's tables, counted as Cold Start counts one hop",
}
STATISTICS: Final = {
    "P": "right / (submitted - ignored)",
    "R": "right / ground truth",
    "F1": "2 right / (submitted - ignored + ground truth)",
}
FORMULAS: Final = {
    "pool": {
        "micro-p": "right / answered", "micro-r": "found / wanted", "micro-f1": "2PR / (P + R)",
        "macro-p": "mean of right / answered of each unit", "macro-r": "mean of found / wanted of each unit",
        "macro-f1": "mean of 2PR / (P + R) of each unit", "coverage": "units with an answer / units",
        "ap": "mean of (1 / wanted) times the sum, over ranks k of lines above 0, of (values up to k) / k",
    },
    "scifact": {
        "_precision": "correct / retrieved", "_recall": "correct / relevant",
        "_f1": "2 correct / (retrieved + relevant)",
    },
    "claims": {
        "_precision": "tp / (tp + fp)", "_recall": "tp / (tp + fn)", "_f1": "2 tp / (2 tp + fp + fn)",
        "label_accuracy": "correct labels / gold claims with a label",
    },
    "r4c": {
        "_prec": "mean of total weight / predicted facts", "_recall": "mean of total weight / facts of the reference",
        "_f1": "mean of 2PR / (P + R) of each instance",
    },
    "hotpotqa": {
        "joint_em": "mean of em x sp_em", "joint_prec": "mean of prec x sp_prec",
        "joint_recall": "mean of recall x sp_recall",
        "joint_f1": "mean of 2PR / (P + R) with P = prec x sp_prec, R = recall x sp_recall",
        "sp_em": "share of questions whose facts equal gold's", "sp_prec": "mean of common / predicted facts",
        "sp_recall": "mean of common / gold facts", "sp_f1": "mean of 2PR / (P + R) of each question's facts",
        "em": "share of questions whose normalised answer equals gold's", "prec": "mean of common / predicted words",
        "recall": "mean of common / gold words", "f1": "mean of 2PR / (P + R) of each answer's words",
    },
}  # fmt: skip


def formula(task: str, name: str) -> str:
    """The formula of a measure, over the sums of all units."""
    if task == COLD_START_MODE:
        statistic = name.rpartition("-")[2]
        if statistic in RANKING_FORMULAS or "-ALL-Macro-" in name:
            each = (
                RANKING_FORMULAS[statistic].__name__.replace("_", " ") if statistic in RANKING_FORMULAS else statistic
            )
            return f"sum over the rows of their {each} / rows with something to find"
        return STATISTICS[statistic]
    known = FORMULAS[task]
    return known.get(name) or next(each for ending, each in known.items() if name.endswith(ending))


def measures() -> str:
    """All measures by task, with formula and source."""
    parts = []
    for task in OWN_TASKS:
        task_named(task)  # its module enters its measures
        shown = headline_names(task)
        rows = []
        for name in measure_names(task):
            rank = "ranks leaderboards" if name == shown[0] else "shown first" if name in shown else ""
            rows.append((code(name), text(formula(task, name)), rank))
        parts.append(f"## {task}\n\nSource: {SOURCES[task]}.\n\n{table(('measure', 'formula', ''), rows)}")
    return "".join(parts)


def meanings_of_names() -> str:
    """Return what the parts of the names of measures mean, as `cs-score help measures` says it."""
    parts = []
    for title, meaning_by_name in (
        ("table", meanings.TABLES),
        ("average", meanings.AVERAGES),
        ("statistic", meanings.STATISTICS),
    ):
        rows = [(code(name), text(meaning)) for name, meaning in meaning_by_name.items()]
        parts.append(table((title, "meaning"), rows))
    for task, meaning_by_name in meanings.OF_EVIDENCE.items():
        rows = [(code(name), text(meaning)) for name, meaning in meaning_by_name.items()]
        parts.append(table((f"{task}: names that begin with", "meaning"), rows))
    for task, meaning_by_stage in meanings.STAGES.items():
        rows = [(code(f"--stage {stage}"), text(meaning)) for stage, meaning in meaning_by_stage.items()]
        parts.append(table((f"{task}: stage", "measures"), rows))
    return "".join(parts)


def sums() -> str:
    """What Cold Start measures are made of, unit by unit."""
    rows = [(code(each.name), each.average or "ranking", ", ".join(each.tables), ", ".join(map(code, each.sum_columns)))
            for each in COLD_START_STATISTICS]  # fmt: skip
    return table(("statistic", "average", "tables", "columns of units"), rows)


# ---- Problems


def problems() -> str:
    """Every problem code: message, meaning, example, what is done, what to do."""
    parts = []
    for each in problem_codes(CODES).codes:
        rows = [("severity", code(each.severity)), ("meaning", text(each.meaning))]
        rows += [("message", code(" ".join(each.message.split())))] if each.message else []
        rows += [("column", code(each.column))] if each.column else []
        rows += [("example", code(each.example)), ("cs-score", text(each.action)), ("remedy", text(each.remedy))]
        parts.append(f"## {each.code}\n\n{table(('', ''), rows)}")
    return "".join(parts)


# ---- Documents and tables


def document(kind: str = "") -> str:
    """The keys of a kind of documents (of all kinds), and of the records that only it has."""
    if not kind:
        return "".join(f"## {each}\n\n{document(each)}" for each in sorted(KINDS))
    schema = schema_of(kind)
    tops = list(_tops(schema))
    parts = []
    for record in tops:
        task = record["properties"]["task"].get("enum", [""])[0]
        of = f" ({task or 'evidence tasks'})" if len(tops) > 1 else ""
        parts.append(_record(record, f"{record['title']}{of}"))
    own = {name: each for name, each in schema["$defs"].items() if each not in tops and each not in _shared()}
    parts += [_record(each, name) for name, each in own.items()]
    return "".join(parts)


def shared_records() -> str:
    """The records that several kinds of documents have."""
    return "".join(_record(each, each["title"]) for each in sorted(_shared(), key=itemgetter("title")))


@functools.cache
def _shared() -> Sequence[Mapping[str, Any]]:
    found = [record for kind in KINDS for record in schema_of(kind)["$defs"].values() if "title" in record]
    return [record for at, record in enumerate(found) if found.index(record) == at and found.count(record) > 1]


def _record(record: Mapping[str, Any], name: str) -> str:
    """The keys of a record with their types."""
    if "properties" not in record:
        return ""
    rows = [(code(key), _type(value), "" if key in record.get("required", ()) else "may be missing")
            for key, value in record["properties"].items()]  # fmt: skip
    name = name.rpartition(".")[2]
    return f"**{name}.** {text(record['description'])}\n\n{table(('key', 'type', ''), rows)}"


def _tops(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for each in schema.get("anyOf", [schema]):
        yield schema["$defs"][each["$ref"].rpartition("/")[2]]


_PLAIN: Final = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
}


def _type(value: Mapping[str, Any]) -> str:
    """The type of a value in words."""
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(map(_type, value["anyOf"])))
    if "enum" in value:
        return ", ".join(code(each) for each in value["enum"])
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2].rpartition(".")[2]
    kind = value.get("type")
    if kind == "array":
        return f"list of {_type(value['items'])}" if isinstance(value.get("items"), dict) and value["items"] else "list"
    if kind == "object":
        of = value.get("additionalProperties")
        return f"object of {_type(of)}" if isinstance(of, dict) and of else "object"
    return _PLAIN.get(str(kind), "any value")


def tables() -> str:
    """The tables that `analyze -o DIR` and `diff -o DIR` write, with their columns."""
    rows = []
    for task in OWN_TASKS:
        for verb, kind in (("analyze", "analysis"), ("diff", "difference")):
            for file, columns in view_of_kind(kind, task_named(task)).headers().items():
                rows.append((task, verb, code(file), ", ".join(map(code, columns))))
    return table(("task", "verb", "file", "columns"), rows)


OF_PYTHON: Final = {
    "RunResult": (results.ROWS, results.QUERIES, results.RESPONSES, results.RANKINGS, results.PROBLEMS, results.SCORES),
    "ValidatedRun": (results.OCCURRENCES,),
    "Comparison": (SYSTEMS, PAIRS),
}


def python_tables() -> str:
    """The tables of results in Python, with what their columns mean."""
    parts = []
    for owner, layouts in OF_PYTHON.items():
        for layout in layouts:
            title = layout.title.replace("%", "By measure").removesuffix(":")
            rows = [(code(column.key), text(column.meaning)) for column in layout.columns]
            parts.append(f"### {layout.name} of {owner}\n\n{text(title)}.\n\n{table(('column', 'meaning'), rows)}")
    return "".join(parts)


PARTS: Final[Mapping[str, Callable[..., str]]] = {
    "commands": commands,
    "command": command,
    "formats": formats,
    "policy-items": policy_items,
    "policies": policies,
    "layouts": layouts,
    "output-files": output_files,
    "fields": fields,
    "measures": measures,
    "meanings": meanings_of_names,
    "sums": sums,
    "problems": problems,
    "document": document,
    "shared-records": shared_records,
    "tables": tables,
    "python-tables": python_tables,
}

if __name__ == "__main__":
    sys.stdout.write(PARTS[sys.argv[1]](*filter(None, [" ".join(sys.argv[2:])])))
