"""Pair the units of assessments with the answers of a run, and tell which answers and columns are not used.
A unit is a question, claim or topic. Assessments are lines with the label of an answer; a run is a file of answers.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.display import number_with_noun, one_line
from cs_score.base.errors import InputError, UsageError
from cs_score.evidence.mode import PairedUnit
from cs_score.evidence.reading import quoted
from cs_score.judged.counting import Rules, UnitGold
from cs_score.judged.labelled_lines import JudgedFile, LabelledLine

COLUMNS_OF_GOLD: Final = ("class", "wanted", "weight")
"""The columns that belong to assessments. They are ignored in a run that is scored against assessments."""

COLUMNS_OF_RUNS: Final = ("confidence", "run")
"""The columns that belong to runs. They are ignored in assessments."""

LinesByUnit = Mapping[str, Sequence[LabelledLine]]
"""The lines of each unit in the order of the file, by the id of the unit."""

_NO_GROUPS: Final[Mapping[str, str]] = {}


# ---- Files that cannot be scored


def check_labelled_run(run: JudgedFile, label_heading: str) -> None:
    """Raise InputError if a run cannot be scored without assessments, because it has no labels or has weights.

    `label_heading` is the heading of the column of labels, such as "verdict".
    """
    if not run.line_count:
        raise InputError("no line below the header: nothing is judged", file=run.name)
    if "label" not in run.filled_columns:
        remedy = "give the assessments with --gold FILE, or say what the column is called: --columns label=NAME"
        raise InputError(_no_label_column(run, label_heading), file=run.name, remedy=remedy)
    if "weight" in run.filled_columns:
        remedy = "weights are read of assessments: give them with --gold FILE"
        raise InputError("a run with labels has no weights (column weight)", file=run.name, remedy=remedy)


def check_assessments_and_run(assessments: JudgedFile, run: JudgedFile, label_heading: str) -> None:
    """Raise an error if assessments and run are swapped, or if they have columns that exclude each other.

    The user names the assessments with --gold and the run with --predictions. `label_heading` is the heading of the
    column of labels, such as "verdict". Raises UsageError if the files are swapped, and InputError if one of them must
    be changed.
    """
    if "label" not in assessments.filled_columns:
        if "label" in run.filled_columns:
            right_order = f"write --gold {run.name} --predictions {assessments.name}"
            raise UsageError(f"the files are swapped: {run.name} has the labels; {right_order}")
        remedy = "say what it is called: --columns label=NAME"
        raise InputError(_no_label_column(assessments, label_heading), file=assessments.name, remedy=remedy)
    if "label" in run.filled_columns:
        remedy = "leave out --gold, or take the column label out of the run"
        raise InputError("both files have labels", file=run.name, remedy=remedy)
    if "wanted" in assessments.filled_columns and "weight" in assessments.filled_columns:
        problem = "columns wanted and weight do not go together"
        raise InputError(problem, file=assessments.name, remedy="leave one of them out")


def _no_label_column(file: JudgedFile, label_heading: str) -> str:
    """Return the message that a file has no column of labels, followed by the columns that it has."""
    return f"no column {label_heading}; there are {', '.join(file.columns[:20])}"


# ---- Units and answers


def lines_of_all_runs(file: JudgedFile) -> LinesByUnit:
    """Return the lines of all runs of a file by unit; the units are in the order of the file."""
    if len(file.units_by_run) == 1:
        only_run = next(iter(file.units_by_run))
        return file.units_by_run[only_run]  # no copy is made, since there may be a million lines
    lines_by_unit: dict[str, list[LabelledLine]] = {}
    for lines_by_unit_of_run in file.units_by_run.values():
        for unit, lines in lines_by_unit_of_run.items():
            lines_by_unit.setdefault(unit, []).extend(lines)
    return lines_by_unit


class DistinctAnswers(NamedTuple):
    """The answers of a run without repeated lines, and the number of repeated lines that were left out."""

    lines_by_unit: LinesByUnit
    repetition_count: int


def drop_repeated_answers(lines_by_unit: LinesByUnit, file: str) -> DistinctAnswers:
    """Return the answers of a run without repeated lines.

    A line is repeated if an earlier line of the same unit has the same answer and evidence. `file` is the name of the
    run's file. Raises InputError if a repeated line has another label than the first one.
    """
    changed_lines_by_unit = _distinct_lines_of_units(lines_by_unit, file)
    if not changed_lines_by_unit:  # the usual case, in which nothing is copied
        return DistinctAnswers(lines_by_unit, 0)
    repetition_count = 0
    for unit, distinct_lines in changed_lines_by_unit.items():
        repetition_count += len(lines_by_unit[unit]) - len(distinct_lines)
    return DistinctAnswers({**lines_by_unit, **changed_lines_by_unit}, repetition_count)


def _distinct_lines_of_units(lines_by_unit: LinesByUnit, file: str) -> dict[str, Sequence[LabelledLine]]:
    """Return the distinct lines of each unit that repeats a line. Units without repeated lines are left out.

    Raises InputError if a repeated line and its first occurrence have different labels.
    """
    distinct_lines_by_unit: dict[str, Sequence[LabelledLine]] = {}
    for unit, lines in lines_by_unit.items():
        if len(lines) == 1:
            continue
        distinct_lines = _drop_repeated_lines(lines, unit, file)
        if len(distinct_lines) < len(lines):
            distinct_lines_by_unit[unit] = distinct_lines
    return distinct_lines_by_unit


def _drop_repeated_lines(lines: Sequence[LabelledLine], unit: str, file: str) -> Sequence[LabelledLine]:
    """Return the lines of a unit, except lines that repeat the answer and the evidence of an earlier line.

    Raises InputError if a repeated line has another label than the earlier one.
    """
    first_line_by_answer: dict[tuple[str, str], LabelledLine] = {}
    for line in lines:
        first_line = first_line_by_answer.setdefault((line.answer, line.evidence), line)
        if first_line.label != line.label:
            raise InputError(
                f"repeats the answer of line {first_line.number}, {quoted(first_line.label)}, as {quoted(line.label)}",
                file=file,
                place=f"line {line.number}, unit {quoted(unit)}",
                remedy="correct one of the two, or name runs in a column run",
            )
    return list(first_line_by_answer.values())


def pair_with_assessments(
    assessments: JudgedFile, assessed_lines_by_unit: LinesByUnit, answers_by_unit: LinesByUnit, rules: Rules
) -> Iterator[PairedUnit]:
    """Yield the id, the gold and the answers of each unit of the assessments.

    The answers are empty if the run has none for the unit. `assessed_lines_by_unit` holds the lines of the
    assessments, and `answers_by_unit` the lines of the run.
    """
    for unit, assessed_lines in assessed_lines_by_unit.items():
        yield unit, _gold_of_unit(unit, assessed_lines, assessments, rules), answers_by_unit.get(unit, ())


def pair_labelled_answers(
    run: JudgedFile, lines_by_unit: LinesByUnit, answers_by_unit: LinesByUnit, rules: Rules
) -> Iterator[PairedUnit]:
    """Yield the id, the gold and the answers of each unit in a file of runs whose lines have labels.

    `lines_by_unit` holds the lines of all runs of the file, and `answers_by_unit` the lines of the run that is scored.
    The gold contains no assessments. It only says how many answers the unit wants and which groups it belongs to. Units
    that the scored run does not answer are also yielded.
    """
    for unit in lines_by_unit:
        yield unit, _gold_of_unit(unit, (), run, rules), answers_by_unit.get(unit, ())


def _gold_of_unit(unit: str, assessed_lines: Sequence[LabelledLine], judged_file: JudgedFile, rules: Rules) -> UnitGold:
    """Return the gold of a unit. The file states how many answers the unit wants and which groups it belongs to."""
    return UnitGold(
        unit=unit,
        lines=assessed_lines,
        wanted_count=judged_file.wanted_by_unit.get(unit),
        groups=judged_file.groups_by_unit.get(unit, _NO_GROUPS),
        rules=rules,
    )


# ---- Notices


def notices_of_unread_columns(assessments: JudgedFile, run: JudgedFile) -> list[str]:
    """Return a notice for each file with columns that are ignored, because they belong in the other file."""
    notices = []
    gold_columns_in_run = [column for column in COLUMNS_OF_GOLD if column in run.columns]
    if gold_columns_in_run:
        listed_columns = ", ".join(gold_columns_in_run)
        notices.append(f"{run.name}: not read, as assessments should have it: {listed_columns}")
    run_columns_in_assessments = [column for column in COLUMNS_OF_RUNS if column in assessments.columns]
    if run_columns_in_assessments:
        listed_columns = ", ".join(run_columns_in_assessments)
        notices.append(f"{assessments.name}: not read, as a run should have it: {listed_columns}")
    return notices


def notices_of_unused_answers(answers: DistinctAnswers, assessed_units: Container[str]) -> list[str]:
    """Return up to two notices about answers that are not scored.

    One notice is about answers for units without assessments, the other is about repeated answers. `assessed_units` are
    the ids of the units with assessments.
    """
    notices = []
    unassessed_units = [unit for unit in answers.lines_by_unit if unit not in assessed_units]
    if unassessed_units:
        answer_count = sum([len(answers.lines_by_unit[unit]) for unit in unassessed_units])
        notices.append(_notice_of_unassessed_units(unassessed_units, answer_count))
    if answers.repetition_count:
        what_happened = "repeat earlier lines and were"
        if answers.repetition_count == 1:
            what_happened = "repeats an earlier line and was"
        lines_in_words = number_with_noun(answers.repetition_count, "line")
        notices.append(f"{lines_in_words} {what_happened} left out (same unit, answer and evidence)")
    return notices


def _notice_of_unassessed_units(units: Sequence[str], answer_count: int) -> str:
    """Return the notice that some units of a run have no assessments, with the number of their answers.

    It names up to three units: "2 answers of 2 units without assessments were left out: q7, q9".
    """
    names = ", ".join([one_line(unit, 40) for unit in units[:3]])
    if len(units) > 3:
        names += ", ..."
    were = "was" if answer_count == 1 else "were"
    answers_in_words = number_with_noun(answer_count, "answer")
    units_in_words = number_with_noun(len(units), "unit")
    return f"{answers_in_words} of {units_in_words} without assessments {were} left out: {names}"
