"""How a page can be made again: signature, inputs with their digests, options in force, commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Final

from cs_score.base.records import asdict
from cs_score.base.signature import Origin
from cs_score.coldstart.options import PRESETS
from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.page import Block, Code, Section, table_of
from cs_score.tasks import task_named

_INPUT: Final = {"role": "Role", "name": "File", "sha256": "SHA-256 of the content"}


def analysis_origin(document: Any) -> Section:
    """How the page of one run can be made again."""
    origin = document.origin
    options = [{"name": name, "value": _shown(value)} for name, value in origin.options.items()]
    return _section(
        f"cs-score {origin.version}, from these files and under these options:",
        *table_of("inputs", "Inputs", origin.inputs, True, **_INPUT),
        *table_of("options", "Options", options, True, name="Option", value="Value"),
        "with these commands:",
        Code(list(_analysis_commands(document, origin))),
        Code([document.signature]),
    )


def difference_origin(document: Any) -> Section:
    """How the page of two runs can be made again: by a command where both have the same gold and options."""
    one, other = (document.origins[side] for side in "ab")
    rows = [{"side": side, **asdict(given)} for side, origin in (("A", one), ("B", other)) for given in origin.inputs]
    inputs = table_of("inputs", "Inputs", rows, True, side="Of", **_INPUT)
    blocks: list[Block] = [f"cs-score {one.version}, from these files:", *inputs]
    gold = [[given for given in origin.inputs if given.role != "run"] for origin in (one, other)]
    if one.options == other.options and gold[0] == gold[1]:
        words = [*_task_words(one, [*_named(one, "run"), *_named(other, "run")]), "--measure", document.measure]
        words += [*_top(document), *_resampling(document.resampling and document.resampling.as_json())]
        commands = [
            f"{shlex.join(['cs-score', 'diff', *words])} -o diff.json",
            "cs-score report diff.json -o page.html",
        ]
        blocks += ["with these commands:", Code(commands)]
    return _section(*blocks)


def batch_origin() -> Section:
    """How the page of a batch can be made again."""
    about = (
        "This page shows the contents of batch.json beside it; leaderboard.json has what each score was computed from."
    )
    return _section(about, Code(["cs-score report batch.json -o index.html"]))


def _section(*blocks: Block) -> Section:
    return Section("origin", "How to reproduce this page", blocks)


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ":".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _analysis_commands(document: Any, origin: Origin) -> Iterator[str]:
    runs = _named(origin, "run")
    words = _task_words(origin, runs)
    if origin.task != COLD_START_MODE:
        words = [*words[: -len(runs)], "--predictions", *runs] if runs else words
    else:
        words = ["--run", document.run, *words]
    words += ["--measure", document.measure, *_top(document)]
    for dimensions in document.groups:
        if "," in dimensions:
            words += ["--by", dimensions]
    for policy in getattr(document, "policies", ()):
        if policy.name not in PRESETS:
            parts = ",".join(f"{part}={text}" for part, text in policy.policy.items())
            words += ["--also-policy", f"{policy.name}:{parts}"]
    words += _resampling(origin.options.get("bootstrap"))
    yield shlex.join(["cs-score", "analyze", *words, "-o", "analysis.json"])
    yield "cs-score report analysis.json -o page.html"


def _top(document: Any) -> list[str]:
    return ["--top", str(document.top)] if document.top else []


def _resampling(settings: Any) -> Iterator[str]:
    if settings is None:
        return
    keys = {"bootstrap": "resamples", "seed": "seed", "confidence": "confidence", "interval": "method"}
    for name, key in keys.items():
        if (value := settings.get(key)) is not None:
            yield from (f"--{name}", f"{value:g}" if isinstance(value, float) else str(value))
    if "clusters" in settings:
        yield from ("--clusters", settings["clusters"]["file"])


def _task_words(origin: Origin, runs: Sequence[str]) -> list[str]:
    """The words behind the name of a command: options in force and files, `runs` among them, last for evidence."""
    options: Any = origin.options
    if origin.task == COLD_START_MODE:
        words = [word for name in ("right", "wrong", "ignore") for word in (f"-{name}", ":".join(options[name]))]
        for name in ("justifications", "discipline", "expand", "queries", "samples"):
            if options.get(name) is not None:
                words += [f"-{name}", str(options[name])]
        if options["runids"] is not None:
            words += ["-runids", ":".join(options["runids"])]
        return [*words, *_named(origin, "queries"), *runs, *_named(origin, "pool")]
    words = [origin.task, *(word for gold in _named(origin, "gold") for word in ("--gold", gold))]
    task: Any = task_named(origin.task)
    for name in task.mode.options.__struct_fields__:
        if options.get(name):
            words += [f"--{name.replace('_', '-')}", *([] if options[name] is True else [str(options[name])])]
    return [*words, *runs]


def _named(origin: Origin, role: str) -> list[str]:
    return [given.name for given in origin.inputs if given.role == role]
