"""Scenarios, policies, problems, and how a page can be made again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.coldstart.options import PRESETS
from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.model import Block, Code, Column, Facts, Section, Table, Text, Value
from cs_score.report.sections.headline import origin_of, scenario_facts, signature_line

_SWITCHES: Final = {"any_order": "--any-order", "references": "--references", "ignore_missing": "--ignore-missing"}
"""The switches of evidence modes for options; the others are no choice."""


_MOST_LINES: Final = 100
"""Lines of a scenario that the page shows; the JSON has them all."""


def scenarios_section(document: Mapping[str, Any]) -> Section:
    """What the score would be if what nobody assessed were all wrong, or all right, and the lines that this is of."""
    scenarios = document["scenarios"]
    about = (
        "Two scenarios, each a call of the scorer. Pessimistic: every unassessed answer is wrong. Optimistic: every "
        "one below a right answer is right, and takes the first class that nothing right stands in, else a class of "
        "its own that ground truth gains. Other assessments may score less or more."
    )
    blocks: list[Block] = [Text(about), Facts(scenario_facts(scenarios))]
    if added := scenarios["added_pool"]:
        file = scenarios["added_pool_to"] or "a pool"
        left = f", the first {_MOST_LINES} of {len(added)}" if len(added) > _MOST_LINES else ""
        blocks += [
            Text(f"The optimistic scenario has these lines at the end of {file}{left}:"),
            Code(added[:_MOST_LINES]),
        ]
    if slots := scenarios.get("slots"):
        columns = (
            Column("slot", "Slot"),
            Column("lines", "Lines", "count"),
            Column("unassessed", "Unassessed", "count"),
            Column("share", "Share", "score"),
        )
        rows = [[row[column.key] for column in columns] for row in slots]
        blocks.append(Table("unassessed", "Unassessed lines by slot", columns, rows, is_small=len(rows) <= 25))
    return Section("scenarios", "What was not assessed", blocks)


def policies_section(document: Mapping[str, Any]) -> Section:
    """The measures that people are shown first, under other policies."""
    policies: Sequence[Mapping[str, Any]] = document["policies"]
    measures = list(dict.fromkeys(measure for policy in policies for measure in policy["scores"]))
    columns = [Column("policy", "Policy"), *(Column(f"m{at}", name, "score") for at, name in enumerate(measures))]
    rows = [[policy["name"], *(policy["scores"].get(measure) for measure in measures)] for policy in policies]
    for part in ("right", "wrong", "ignore", "justifications"):
        if any("policy" in policy for policy in policies):
            columns.append(Column(part, part.capitalize()))
            rows = [[*row, policy["policy"][part]] for row, policy in zip(rows, policies)]
    return Section("policies", "Policies", (Table("policy", "Scores by policy", columns, rows, is_small=True),))


def problems_section(document: Mapping[str, Any]) -> Section:
    """What was wrong with the input."""
    problems: Sequence[Mapping[str, Any]] = document["problems"]
    texts = (Column("code", "Code"), Column("severity", "Severity"))
    columns = [*texts, Column("count", "Count", "count"), Column("message", "First message")]
    rows: list[list[Value]] = [[row[key] for key in ("code", "severity", "count", "message")] for row in problems]
    if not rows:
        return Section("problems", "Problems", (Text("None."),))
    return Section("problems", "Problems", (Table("problem", "Problems of the input", columns, rows, is_small=True),))


def origin_section(document: Mapping[str, Any]) -> Section:
    """The signature, the inputs with their digests, the options in force, and the commands that make the page again."""
    origin = origin_of(document)
    columns = [Column("role", "Role"), Column("name", "File"), Column("sha256", "SHA-256 of the content")]
    rows = input_rows(origin)
    options: list[list[Value]] = [[name, _shown(value)] for name, value in origin["options"].items()]
    return Section(
        "origin",
        "How to reproduce this page",
        (
            Text(f"cs-score {origin['version']}, from these files and under these options:"),
            Table("inputs", "Inputs", columns, rows, is_small=True),
            Table("options", "Options", (Column("name", "Option"), Column("value", "Value")), options, is_small=True),
            Text("with these commands:"),
            Code(list(_commands(document, origin))),
            Code([signature_line(document)]),
        ),
    )


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ":".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def input_rows(origin: Mapping[str, Any]) -> list[list[Value]]:
    """Role, name and digest of each input."""
    return [[given["role"], given["name"], given["sha256"]] for given in origin["inputs"]]


def _commands(document: Mapping[str, Any], origin: Mapping[str, Any]) -> Iterator[str]:
    runs = _named(origin, "run")
    words = mode_words(origin, runs)
    if origin["mode"] != COLD_START_MODE:
        words = [*words[: -len(runs)], "--predictions", *runs] if runs else words
    if "run" in document:
        words = ["--run", document["run"], *words]
    words += ["--measure", document["measure"], *top_words(document), *_asked(document, origin)]
    yield shlex.join(["cs-score", "analyze", *words, "--json", "analysis.json"])
    yield "cs-score report analysis.json --out page.html"


def _asked(document: Mapping[str, Any], origin: Mapping[str, Any]) -> Iterator[str]:
    """The options by which sections of an analysis were asked for."""
    for dimensions in document.get("groups", ()):
        if "," in dimensions:
            yield from ("--by", dimensions)
    for policy in document.get("policies", ()):
        if policy["name"] not in PRESETS:
            parts = ",".join(f"{part}={text}" for part, text in policy["policy"].items())
            yield from ("--also-policy", f"{policy['name']}:{parts}")
    yield from resampling_words(origin["options"].get("bootstrap"))


def top_words(document: Mapping[str, Any]) -> list[str]:
    """The option of a document that lists only so many things."""
    return ["--top", str(document["top"])] if "top" in document else []


def resampling_words(settings: Mapping[str, Any] | None) -> Iterator[str]:
    """The options of intervals; none where there are none."""
    if settings is None:
        return
    keys = {"bootstrap": "resamples", "seed": "seed", "confidence": "confidence", "interval": "method"}
    for name, key in keys.items():
        value = settings[key]
        yield from (f"--{name}", f"{value:g}" if isinstance(value, float) else str(value))


def mode_words(origin: Mapping[str, Any], runs: Sequence[str]) -> list[str]:
    """The words behind the name of a command: options in force and files, `runs` among them, last in evidence modes."""
    options = origin["options"]
    if origin["mode"] == COLD_START_MODE:
        words = [word for name in ("right", "wrong", "ignore") for word in (f"-{name}", ":".join(options[name]))]
        for name in ("justifications", "discipline", "expand", "queries", "samples"):
            if options.get(name) is not None:
                words += [f"-{name}", str(options[name])]
        if options["runids"] is not None:
            words += ["-runids", ":".join(options["runids"])]
        return [*words, *_named(origin, "queries"), *runs, *_named(origin, "pool")]
    words = [origin["mode"], *(word for gold in _named(origin, "gold") for word in ("--gold", gold))]
    for name, switch in _SWITCHES.items():
        if options.get(name):
            words += [switch, *([] if options[name] is True else [str(options[name])])]
    return [*words, *runs]


def _named(origin: Mapping[str, Any], role: str) -> list[str]:
    return [given["name"] for given in origin["inputs"] if given["role"] == role]
