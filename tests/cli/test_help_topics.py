"""The topics of `cs-score help`: complete, and refused where a word is none."""

from __future__ import annotations

import pytest

from cs_score.cli.core import COMMANDS, Status, load_command
from cs_score.cli.main import main
from cs_score.cli.topics import EXIT_STATUSES, FORMATS, TOPICS
from cs_score.coldstart.options import POLICY_CATEGORIES, PRESETS
from cs_score.measures import MEASURES, default_measure, meanings
from cs_score.tasks import COLD_START, TASKS


def _help_text(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["help", *words.split()]) == Status.DONE
    return capsys.readouterr().out


@pytest.mark.parametrize("task", TASKS)
def test_help_measures_names_the_headline_measure_of_a_task(task: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = _help_text(f"measures {task}", capsys)
    assert f"{task}: the headline measure" in text
    assert str(default_measure(task)) in text


def test_help_measures_without_a_task_is_about_every_task(capsys: pytest.CaptureFixture[str]) -> None:
    text = _help_text("measures", capsys)
    for task in TASKS:
        assert f"{task}: the headline measure" in text


def test_every_part_of_a_cold_start_measure_has_a_meaning() -> None:
    for measure in MEASURES[COLD_START]:
        assert measure.table in meanings.TABLES
        assert measure.statistic in meanings.STATISTICS
        assert not measure.average or measure.average in meanings.AVERAGES


@pytest.mark.parametrize("task", [task for task in TASKS if task != COLD_START])
def test_every_measure_of_an_evidence_task_has_a_meaning(task: str) -> None:
    load_command("score", task)
    meaning_of_task = meanings.OF_EVIDENCE[task]
    for measure in MEASURES[task]:
        name = str(measure)
        is_explained = name.startswith(tuple(meaning_of_task)) or any(name in text for text in meaning_of_task.values())
        assert is_explained, name


def test_help_exit_statuses_has_every_status_of_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = {number for statuses, _ in EXIT_STATUSES for number in statuses.split(", ")}
    assert {str(int(status)) for status in Status} <= numbers
    assert "not reproduced" in _help_text("exit-statuses", capsys)


def test_help_policies_has_every_policy_and_category(capsys: pytest.CaptureFixture[str]) -> None:
    text = _help_text("policies", capsys)
    for name in (*PRESETS, *POLICY_CATEGORIES):
        assert name in text


def test_help_formats_has_every_format_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    text = _help_text("formats", capsys)
    explained = {name for names, _ in FORMATS for name in names.split(", ")}
    for command in COMMANDS:
        assert set(load_command(command).properties.formats) <= explained
    assert "score, analyze" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("measures scifat", "no task called scifat"),
        ("measures scifact claims", "unexpected word claims"),
        ("policies kb", "unexpected word kb; write cs-score help policies"),
        ("mesures", "did you mean measures?"),
    ],
)
def test_a_word_that_is_no_topic_is_refused(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", *words.split()]) == Status.WRONG_USAGE
    assert message in capsys.readouterr().err


def test_help_of_help_lists_the_topics(capsys: pytest.CaptureFixture[str]) -> None:
    text = _help_text("help", capsys)
    for name in TOPICS:
        assert name in text
