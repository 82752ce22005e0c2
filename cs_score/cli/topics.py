"""The topics of `cs-score help`, such as measures and policies: a page each about what many commands have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import click

from cs_score.base.errors import UsageError, did_you_mean
from cs_score.cli.core import COMMANDS, help_width, load_command
from cs_score.coldstart.options import POLICY_CATEGORIES, PRESETS, SIDES
from cs_score.measures import HEADLINE_REASONS, default_measure, meanings, measure_names
from cs_score.tasks import COLD_START, TASKS, task_named

Section = tuple[str, Iterable[tuple[str, str]]]
"""A heading, and terms with their meanings."""

EXIT_STATUSES: Final = (
    ("0", "Done; in the call without a command and the programs before it, at most warnings."),
    ("1", "A command: an input that cannot be read or scored, or errors in the report."),
    ("2", "A command: wrong usage."),
    ("3", "check: a limit is not kept. verify: the result is not reproduced."),
    (
        "255",
        "The call without a command and the programs before it: errors in the report, wrong usage, or nothing scored.",
    ),
    ("130, 143, 129", "Ctrl-C, a termination signal, a terminal that was closed."),
)

FORMATS: Final = (
    ("text", "For people: tables as wide as the terminal."),
    ("json", "Everything, for programs. cs-score schema KIND prints the JSON Schema, cs-score verify scores it again."),
    ("tsv", "Tables with a header line and tabs; a folder where there are several."),
    ("markdown", "Tables for a page or an issue."),
    ("latex", "Tables for a paper (booktabs)."),
    ("html", "A page in one file that needs no network."),
    ("svg", "A chart; browsers and Inkscape make PDF and PNG of it."),
    ("junit, github, sarif", "For continuous integration: check, and the programs before the scorer (--problems)."),
)


class Topic(NamedTuple):
    """A help topic: its summary, and the function that returns its text.

    The function receives the words that follow the name of the topic on the command line.
    """

    summary: str
    text: Callable[[Sequence[str]], str]


def measures_text(further_words: Sequence[str]) -> str:
    """Return the topic `measures`: the meaning of each measure of a task, or of all tasks if none is given.

    `further_words` holds at most one word, the task. Tasks of other installed packages are included. Raises UsageError
    if the word is not a task, if there are more words, or if the package of the task cannot be loaded.
    """
    if len(further_words) > 1:
        task, surplus_word, *_ = further_words
        raise UsageError(f"unexpected word {surplus_word}; write cs-score help measures {task}")
    if further_words:
        [task] = further_words
        _check_task(task)
        sections = _sections_of_task(task)
    else:
        sections = _sections_of_all_tasks()
    return _help_page("The measures, by their names in tables, options, JSON and Python.", sections)


def _check_task(word: str) -> None:
    """Raise UsageError, with a suggestion, if a word is not the name of a task."""
    if word not in TASKS:
        raise UsageError(f"no task called {word}; there are {', '.join(TASKS)}{did_you_mean(word, TASKS)}")


def _sections_of_all_tasks() -> list[Section]:
    """Return the sections about all tasks; for a task whose package cannot be loaded, a section with the fault."""
    sections: list[Section] = []
    for task in TASKS:
        try:
            sections.extend(_sections_of_task(task))
        except UsageError as error:
            sections.append((task, [("fault", str(error))]))
    return sections


def _sections_of_task(task: str) -> list[Section]:
    """Return the sections about a task: its headline measure, the reason for it, and the meanings of all measures."""
    # The call is for its side effect: loading a task of another package adds its measures to the table of measures.
    task_named(task)
    if task == COLD_START:
        return _sections_of_cold_start()
    return _sections_of_evidence(task)


def _sections_of_cold_start() -> list[Section]:
    """Return the sections about Cold Start runs. The name of a measure has several parts, with a section for each."""
    return [
        (f"{COLD_START}: the headline measure", _headline_rows_of_cold_start()),
        (f"{COLD_START}: first part of a name, the table", meanings.TABLES.items()),
        (f"{COLD_START}: second part, the average", meanings.AVERAGES.items()),
        (f"{COLD_START}: third part, the statistic", meanings.STATISTICS.items()),
        (f"{COLD_START}: last part, the hop", [("@N", meanings.HOP)]),
    ]


def _headline_rows_of_cold_start() -> list[tuple[str, str]]:
    """Return a row for each headline measure of Cold Start runs, with the situation in which it is used."""
    usual = str(default_measure(COLD_START))
    without_ldc = str(default_measure(COLD_START, has_ldc_queries=False))
    # Edition 3.0 does not compute average precision. Runs without node ids cannot be ranked, because rankings consist
    # of nodes.
    unranked = str(default_measure(COLD_START, has_rankings=False))
    unranked_without_ldc = str(default_measure(COLD_START, has_ldc_queries=False, has_rankings=False))
    return [
        _row_of_headline_measure(usual, "by default"),
        _row_of_headline_measure(without_ldc, "without LDC queries"),
        _row_of_headline_measure(unranked, "edition 3.0, runs without node ids"),
        _row_of_headline_measure(unranked_without_ldc, "the same, without LDC queries"),
    ]


def _sections_of_evidence(task: str) -> list[Section]:
    """Return the sections about an evidence task: the headline measure, all measures, and measures of stages."""
    headline_row = _row_of_headline_measure(str(default_measure(task)), "by default")
    sections: list[Section] = [
        (f"{task}: the headline measure", [headline_row]),
        (f"{task}: beginnings of names", _rows_of_measures(task)),  # the names of all measures, and prefixes of names
    ]
    if task in meanings.STAGES:
        sections.append((f"{task}: measures of --stage", meanings.STAGES[task].items()))
    return sections


def _rows_of_measures(task: str) -> list[tuple[str, str]]:
    """Return rows that explain the parts of the names of an evidence task's measures, and a last row with all names.

    For example `("sentence", "Evidence sentences ...")`, then `("all names", "sentence_precision, ...")`.
    """
    meaning_by_part = meanings.OF_EVIDENCE.get(task, {})
    rows = list(meaning_by_part.items())
    if task in meanings.MEANING_OF_ENDINGS:  # the last parts of names, such as `_f1`
        rows.append(("endings", meanings.MEANING_OF_ENDINGS[task]))
    rows.append(("all names", ", ".join(measure_names(task))))
    return rows


def _row_of_headline_measure(measure: str, situation: str) -> tuple[str, str]:
    """Return a row: a measure, and in which situation and for what reason it is the headline measure."""
    reason = HEADLINE_REASONS.get(measure, "the first measure of the package that brings the task")
    return measure, f"{situation}: {reason}."


def policies_text(further_words: Sequence[str]) -> str:
    """Return the topic `policies`: the published policies, and the sides to which each category may be assigned.

    Raises UsageError if words follow the name of the topic on the command line.
    """
    _refuse_further_words(further_words, "policies")
    presets = [(name, f"{preset.meaning}: {preset}.") for name, preset in PRESETS.items()]
    categories = []
    for name, item in POLICY_CATEGORIES.items():
        sides = [side.lower() for side in SIDES if side in item.sides]
        categories.append((name, f"{item.meaning}. May be {' or '.join(sides)}."))
    meaning_of_option = "A name, or right=A:B,wrong=C,ignore=D,justifications=1:3; parts left out are the defaults."
    form_rows = [("--policy", meaning_of_option)]
    sections: list[Section] = [("Published policies", presets), ("Categories", categories), ("Form", form_rows)]
    return _help_page("A policy says which categories of responses count as right, as wrong, and not at all.", sections)


def formats_text(further_words: Sequence[str]) -> str:
    """Return the topic `formats`: the formats of results, and the commands that have each format."""
    _refuse_further_words(further_words, "formats")
    commands_by_format: dict[str, list[str]] = {}
    for name in COMMANDS:
        for format_ in load_command(name).properties.formats:
            commands_by_format.setdefault(format_, []).append(name)
    rows = []
    for format_, commands in commands_by_format.items():
        rows.append((format_, ", ".join(commands)))
    sections: list[Section] = [("Formats", FORMATS), ("Commands by format", rows)]
    return _help_page(
        "--format NAME chooses the format of a result; without it the ending of -o PATH does, else text.", sections
    )


def statuses_text(further_words: Sequence[str]) -> str:
    """Return the topic `exit-statuses`: the meaning of each exit status."""
    _refuse_further_words(further_words, "exit-statuses")
    return _help_page(
        "How a command ends. 0 means that what was asked for was done.", [("Exit statuses", EXIT_STATUSES)]
    )


def _refuse_further_words(further_words: Sequence[str], topic: str) -> None:
    """Raise UsageError if there are words after the name of a topic that takes none."""
    if further_words:
        raise UsageError(f"unexpected word {further_words[0]}; write cs-score help {topic}")


def _help_page(summary: str, sections: Iterable[Section]) -> str:
    """Return a page of help: a summary, then under each heading a list of terms with their meanings."""
    formatter = click.HelpFormatter(width=help_width())
    formatter.write_text(summary)
    for heading, rows in sections:
        with formatter.section(heading):
            formatter.write_dl(list(rows), col_max=min(26, formatter.width // 3))
    return formatter.getvalue()


TOPICS: Final[Mapping[str, Topic]] = {
    "measures": Topic("What each measure means, and which one ranks: help measures [TASK]", measures_text),
    "policies": Topic("The published policies, and what a policy may say", policies_text),
    "formats": Topic("The formats of results, and which commands have them", formats_text),
    "exit-statuses": Topic("What the exit status of a command means", statuses_text),
}
"""The topics of `cs-score help` by name."""
