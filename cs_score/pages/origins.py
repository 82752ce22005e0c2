"""How the pages of reports can be made again: inputs with their digests, the options in force, and commands. An
origin records all inputs and options of a result; a command is a list of words, such as ["--measure", "F1"].
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cs_score.base.records import asdict
from cs_score.base.signature import GOLD, POOL, QUERIES, RUN, Origin
from cs_score.base.sources import InputDigest
from cs_score.coldstart.options import EDITIONS, LATEST, PRESETS, OptionTopic, options_in_order
from cs_score.measures import COLD_START_MODE
from cs_score.pages.page import Block, Code, Section, table_of_rows
from cs_score.tasks import mode_named, words_of

_INPUT_HEADINGS: Final = {"role": "Role", "name": "File", "sha256": "SHA-256 of the content"}

_RESAMPLING_OPTIONS: Final = {
    "--bootstrap": "resamples",
    "--seed": "seed",
    "--confidence": "confidence",
    "--interval": "method",
}
"""Options of resampling, and the members of recorded settings that they come from."""


def _section(blocks: Sequence[Block]) -> Section:
    return Section("origin", "How to reproduce this page", blocks)


# ---- The three pages


def section_on_origin_of_analysis(document: Any) -> Section:
    """Return the section that says how the page of an analysis can be made again."""
    origin: Origin = document.origin
    options = [{"name": name, "value": _option_text(value)} for name, value in origin.options.items()]
    blocks: list[Block] = [f"cs-score {origin.version}, from these files and under these options:"]
    blocks += table_of_rows("inputs", "Inputs", origin.inputs, _INPUT_HEADINGS, is_small=True)
    blocks += table_of_rows("options", "Options", options, {"name": "Option", "value": "Value"}, is_small=True)
    blocks += _commands("analyze", _analysis_words(document), "analysis.json")
    blocks.append(Code([document.signature]))
    return _section(blocks)


def _analysis_words(document: Any) -> list[str]:
    """Return the words after `analyze` in the command line that repeats an analysis.

    `document` is an analysis of a Cold Start run or of the predictions of an evidence task.
    """
    origin: Origin = document.origin
    words = _words_naming_result(document)
    words += ["--measure", document.measure]
    words += _top_words(document)  # --top
    words += _crossing_words(document.groups)  # --by
    words += _policy_words(document)
    words += _resampling_words(origin.options.get("bootstrap"))
    return words


def _words_naming_result(document: Any) -> list[str]:
    """Return the words of a command line that name the analysed result: its task, options, files and run.

    Cold Start runs are named by `--run`. Predictions of evidence tasks follow the switch `--predictions`.
    """
    origin: Origin = document.origin
    run_files = _inputs_of_role(origin, RUN)
    if origin.task == COLD_START_MODE:
        # The files may hold several runs.
        return ["--run", document.run, *_cold_start_words(origin, run_files)]
    words = _evidence_task_words(origin)
    if run_files:
        words += ["--predictions", *run_files]
    return words


def _crossing_words(dimensions: Iterable[str]) -> list[str]:
    """Return an option `--by` for each pair of crossed dimensions; "slot,hop" has a group for each slot at each hop.

    Groups of a single dimension, such as "slot", need no option.
    """
    words = []
    for dimension in dimensions:
        is_crossed = "," in dimension
        if is_crossed:
            words += ["--by", dimension]
    return words


def _policy_words(document: Any) -> list[str]:
    """Return the options `--also-policy` for the further policies of an analysis.

    A policy is a set of rules that say which answers count as right. For evidence tasks it is a text. For Cold Start it
    is a dictionary with a text for each scoring option, such as {"right": "CORRECT"}. The published policies of Cold
    Start are always scored and do not need an option.
    """
    is_cold_start = document.origin.task == COLD_START_MODE
    words = []
    for score_under_policy in getattr(document, "policies", None) or ():
        name = score_under_policy.name
        rules = score_under_policy.policy
        if not is_cold_start:
            words += ["--also-policy", rules]
        elif name not in PRESETS:
            rule_texts = [f"{option}={text}" for option, text in rules.items()]
            words += ["--also-policy", f"{name}:{','.join(rule_texts)}"]
    return words


def section_on_origin_of_difference(document: Any) -> Section:
    """Return the section that says how the page of a difference can be made again.

    It lists the inputs of A and B. It has a command only if both runs have the same gold and options.
    """
    origin_a: Origin = document.origins["a"]
    origin_b: Origin = document.origins["b"]
    rows = []
    for side, origin in (("A", origin_a), ("B", origin_b)):
        rows += [{"side": side, **asdict(file)} for file in origin.inputs]
    blocks: list[Block] = [f"cs-score {origin_a.version}, from these files:"]
    blocks += table_of_rows("inputs", "Inputs", rows, {"side": "Of", **_INPUT_HEADINGS}, is_small=True)
    if origin_a.options == origin_b.options and _gold_of(origin_a) == _gold_of(origin_b):
        blocks += _commands("diff", _difference_words(document), "diff.json")
    return _section(blocks)


def _gold_of(origin: Origin) -> list[InputDigest]:
    """Return the input files of an origin except the runs: queries and pool, or gold."""
    return [file for file in origin.inputs if file.role != RUN]


def _difference_words(document: Any) -> list[str]:
    """Return the words after `diff` in the command line that repeats a comparison of two runs."""
    origin_a: Origin = document.origins["a"]
    origin_b: Origin = document.origins["b"]
    run_files = _inputs_of_role(origin_a, RUN) + _inputs_of_role(origin_b, RUN)
    if origin_a.task == COLD_START_MODE:
        words = _cold_start_words(origin_a, run_files)
    else:
        words = [*_evidence_task_words(origin_a), *run_files]
    words += ["--measure", document.measure, *_top_words(document)]
    if document.resampling:
        words += _resampling_words(document.resampling.as_json())
    return words


def batch_origin() -> Section:
    """Return the section that says how the page of a batch can be made again."""
    about = (
        "This page shows the contents of batch.json beside it; leaderboard.json has what each score was computed from."
    )
    return _section([about, Code(["cs-score report batch.json -o index.html"])])


# ---- The words of a command line


def _commands(verb: str, words: Sequence[str], file: str) -> list[Block]:
    """Return the commands that make a document with a verb, and its page."""
    command = f"{shlex.join(['cs-score', verb, *words])} -o {file}"
    return ["with these commands:", Code([command, f"cs-score report {file} -o page.html"])]


def _top_words(document: Any) -> list[str]:
    """Return the option for the length of lists, if a document was made with one."""
    return ["--top", str(document.top)] if document.top else []


def _resampling_words(settings: Mapping[str, Any] | None) -> list[str]:
    """Return the options of a command line for the recorded settings of resampling: ["--bootstrap", "1000", ...].

    The list is empty if nothing was resampled.
    """
    if not settings:
        return []
    words = []
    for option, setting_name in _RESAMPLING_OPTIONS.items():
        value = settings.get(setting_name)
        if value is not None:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            words += [option, text]
    if "clusters" in settings:
        words += ["--clusters", settings["clusters"]["file"]]
    return words


def _cold_start_words(origin: Origin, run_files: Sequence[str]) -> list[str]:
    """Return the options and the files of a Cold Start origin as words. The files are queries, runs and pool.

    There is no word for the task, since a command without a task scores Cold Start.
    """
    queries = _inputs_of_role(origin, QUERIES)
    pool = _inputs_of_role(origin, POOL)
    return [*_scoring_words(origin.options), *queries, *run_files, *pool]


def _evidence_task_words(origin: Origin) -> list[str]:
    """Return an evidence task, its gold and its options as words: ["scifact", "--gold", "gold.jsonl"].

    Options that are off, empty or not given are left out.
    """
    words = list(words_of(origin.task))  # a task may have several words
    for gold in _inputs_of_role(origin, GOLD):
        words += ["--gold", gold]
    names_of_options = mode_named(origin.task).options.__struct_fields__  # the fields of the record with the options
    for name in names_of_options:
        value = origin.options.get(name)
        if value:
            switch = f"--{name.replace('_', '-')}"
            words += _option_words(switch, value)
    return words


def _scoring_words(options: Mapping[str, Any]) -> list[str]:
    """Return the recorded options of scoring as words of a command line, such as `["-right", "CORRECT"]`."""
    has_limits = EDITIONS[options.get("follow") or LATEST.name].has_limits
    words = []
    for option in options_in_order(OptionTopic.POLICY, OptionTopic.LIMITS, OptionTopic.SCORING, OptionTopic.EDITION):
        if option.topic is not OptionTopic.LIMITS or has_limits:
            words += _option_words(option.switch, options.get(option.name))
    return words


def _option_words(name: str, value: Any) -> list[str]:
    """Return an option with its value as words of a command line; none for a value that was not given."""
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    return [name, ":".join(value) if isinstance(value, list) else str(value)]


def _option_text(value: object) -> str:
    """Return the value of an option for the table of options: `yes`, `none`, `CORRECT:INEXACT` ..."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ":".join([str(item) for item in value]) or "none"
    return str(value)


def _inputs_of_role(origin: Origin, role: str) -> list[str]:
    """Return the names of the inputs that have a role (gold, run ...)."""
    return [file.name for file in origin.inputs if file.role == role]
