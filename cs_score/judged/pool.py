"""The task `pool`: it scores answers that somebody has labelled, in tables with any names of columns, under a policy.

A policy says what each label counts, such as `right=CORRECT,wrong=INCORRECT`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Self

from msgspec import Meta

from cs_score.base.display import number_with_noun, one_line
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import Record, asdict, replace
from cs_score.base.sources import Source
from cs_score.evidence.mode import Contents, Fault, Mode, Pair, Part, Progress, ReportRow, Row, Unit
from cs_score.evidence.reading import InputContent
from cs_score.judged import pairing
from cs_score.judged.averages import MEASURES, measures_of_sums
from cs_score.judged.counting import (
    KEYS,
    Key,
    Rules,
    UnitCount,
    UnitGold,
    accept_unassessed,
    count_unit,
    counting_case,
    judge_lines,
    key_of_line,
    unassessed_lines,
)
from cs_score.judged.explaining import explanation_of
from cs_score.judged.faults import corrected_lines, kinds_of, parts_of
from cs_score.judged.lines import JudgedFile, LabelledLine, read_judged
from cs_score.judged.policy import DUPLICATE, UNASSESSED, LabelPolicy, Value, check_labels, read_policy
from cs_score.judged.tables import FORMATS, Headings, read_headings
from cs_score.measures.registry import Divide, divide
from cs_score.statistics.units import UnitTable

_MOST_WITH_ROUNDING: Final = 1 + 1e-12
"""The largest average precision that is 1 but for the rounding of its sum."""

_ACCEPTED: Final = "accepted"
"""The label of an answer that is assumed to be right, if the policy has no label on the right side."""

_JOINED_BY: Final[Mapping[Key, str]] = {
    "unit": "unit alone",
    "answer": "unit and answer",
    "answer+evidence": "unit, answer and evidence",
}
"""The columns by which a run and its assessments are joined, in words, by the value of `--key`."""


class PoolOptions(Record):
    """The options of the task `pool`, as the command line and Python offer them."""

    policy: Annotated[
        str,
        Meta(
            description="The policy: what labels count, right=A:B,half=C,wrong=D,ignore=E, or a FILE.json; every label "
            "of the files has to be on a side, UNASSESSED and DUPLICATE are ignored unless named"
        ),
    ] = ""
    key: Annotated[
        Key | None,
        Meta(
            description="By what a line of the run finds its assessment [default: answer+evidence where there is any]"
        ),
    ] = None
    columns: Annotated[
        str, Meta(description="What the files call their columns, such as unit=question_id,label=verdict")
    ] = ""
    run: Annotated[str, Meta(description="Of a file with several runs (column run), this one")] = ""


class Pool(Mode):
    """Scores a run whose answers were judged; its units are questions, queries, claims or topics.

    The labels are in a file of assessments, the gold of this task, or in the lines of the run itself. `policy` is the
    policy in force, `heading_by_column` has the names of columns in the files, and `run_name` chooses one of the runs
    of a file.
    """

    name = "pool"
    unit = "unit"
    columns = UnitCount._fields
    headings = ("precision", "recall", "f1")
    rows = (
        ReportRow("micro", MEASURES[0:3]),
        ReportRow("macro", MEASURES[3:6]),
        ReportRow("coverage", ("coverage",)),
        ReportRow("ap", ("ap",)),
    )
    kinds = ("wrong_answer", "half", "duplicate", "unassessed", "missed_class")
    summary = "Count answers that somebody has judged, under a policy"
    files = (
        "Tables .csv, .tsv or .jsonl with the columns unit, answer, label, and perhaps evidence, class, wanted, "
        "weight, confidence, run: assessments (--gold) and a run, or a run with labels alone."
    )
    options = PoolOptions
    has_lines = True
    needs_gold = False
    has_policies = True
    option_of_systems = "run"
    endings = FORMATS

    def __init__(self) -> None:
        """Make the task without a policy, for files with our names of columns."""
        super().__init__()
        self.policy: LabelPolicy | None = None
        self.heading_by_column: Headings = {}
        self.run_name = ""

    # ---- Its numbers

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return the measures, given the sums of the counts of units: micro and macro averages, coverage and AP."""
        return measures_of_sums(UnitCount._make(sums), divide)

    def undefined_measures(self, units: Sequence[Unit], table: UnitTable) -> dict[str, str]:
        """Return `ap`, average precision, with the reason why it has no value; an empty dictionary if it has one.

        It has no value with weights, nor if the average precision of some unit exceeds 1.
        """
        if units and units[0].gold.rules.has_weight_column:
            return {"ap": "average precision is not defined with weights"}
        column = UnitCount._fields.index("average_precision")
        for unit_id, counts in zip(table.ids, table.rows):
            if counts[column] > _MOST_WITH_ROUNDING:
                return {"ap": f"average precision of unit {one_line(unit_id, 60)} exceeds 1"}
        return {}

    def headline_of(self, units: Sequence[Unit], table: UnitTable) -> str:
        """Return the measure that is shown first: `micro-r`, the accuracy, for single answers, else `micro-f1`."""
        return "micro-r" if _has_single_answers(units, table) else "micro-f1"

    def head(self, units: Sequence[Unit], table: UnitTable) -> Iterator[str]:
        """Yield the sentences above the scores: how many answers were counted, and how the files were joined."""
        sums: Any = UnitCount._make(table.sums())
        yield _answers_by_side(sums, len(units))
        if not units:
            return
        rules = units[0].gold.rules  # all units have the same
        if rules.key is not None:
            yield f"assessments and run are joined by {_JOINED_BY[rules.key]} (--key {rules.key})"
        elif not rules.has_wanted_column:
            yield "one answer a unit, as no file says how many"
        count_of_units_without_class = len(units) - int(sums.is_wanting)
        if count_of_units_without_class:
            units_in_words = number_with_noun(len(units), "unit")
            yield f"{count_of_units_without_class:,} of {units_in_words} want nothing: they are in no macro average"
        if _has_single_answers(units, table):
            yield _accuracy_sentence(sums)

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        """Return how many lines and units the assessments hold, and how many lines the run; nothing without gold."""
        run_contents = ((predictions.line_count, "line"),)
        if gold is None:
            return (), run_contents
        return ((gold.line_count, "line"), (len(table.ids), "unit")), run_contents

    # ---- Options

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return the task with these options in force; a policy that is the name of a file is read.

        Raises UsageError for a key, columns or a policy that are not possible, InputError for a file without a policy.
        """
        mode = super().with_options(options)
        pool_options: PoolOptions = mode.chosen_options
        if pool_options.key is not None and pool_options.key not in KEYS:
            raise UsageError(f"--key takes {', '.join(KEYS)}, not {one_line(str(pool_options.key))}")
        mode.heading_by_column = read_headings(pool_options.columns)
        if not pool_options.policy:
            return mode
        policy = read_policy(pool_options.policy)
        # The options have the whole policy in the place of a file name, so that signatures do not depend on the file.
        options_with_policy = replace(pool_options, policy=str(policy))
        return mode._with(policy=policy, kinds=kinds_of(policy), chosen_options=options_with_policy)

    # ---- Reading

    def gold(self, source: Source) -> JudgedFile:
        """Return the assessments of a file. Raises InputError for a file that holds none."""
        columns_unread = pairing.COLUMNS_OF_RUNS
        assessments = read_judged(source, self.heading_by_column, columns_unread=columns_unread, needs_label=True)
        if not assessments.line_count:
            raise InputError("no line below the header: nothing is assessed", file=source.name)
        return assessments

    def predictions(self, source: Source) -> JudgedFile:
        """Return the answers of a file of runs, whose lines may have labels. Raises InputError for a malformed file."""
        columns_unread = pairing.COLUMNS_OF_GOLD if self.has_gold else ()
        return read_judged(source, self.heading_by_column, columns_unread=columns_unread, needs_label=False)

    def systems(self, predictions: InputContent) -> Sequence[str]:
        """Return the names of the runs in a file that are to be scored: the one that `--run` chooses, else all.

        The only run of a file without a column `run` has an empty name. Raises InputError if the chosen one is missing.
        """
        run_names = list(predictions.content.units_by_run) or [""]
        chosen_name = self.chosen_options.run
        if not chosen_name:
            return run_names
        if chosen_name not in run_names:
            names_in_words = ", ".join([one_line(name, 40) for name in run_names if name]) or "no column run"
            suggestion = did_you_mean(chosen_name, run_names)
            problem = f"no run is called {chosen_name}; there is {names_in_words}{suggestion}"
            raise InputError(problem, file=predictions.name)
        return [chosen_name]

    def mode_for_system(self, system: str, systems: Sequence[str]) -> Self:
        """Return the task that scores the run with the name `system`, which is one of the `systems` of a file.

        If the file has several, the options in force name this run, so that signatures tell the runs apart.
        """
        options = self.chosen_options
        if len(systems) > 1:
            options = replace(options, run=system)
        return self._with(run_name=system, chosen_options=options)

    # ---- Units

    def pair_units(
        self, gold: Any, predictions: InputContent, options: PoolOptions
    ) -> tuple[Iterable[Pair], Iterable[str]]:
        """Return the units, each with its id, gold and answers, and notices about lines and columns without use.

        Raises InputError or UsageError if the files do not fit, or a label is not in the policy.
        """
        run: JudgedFile = predictions.content
        if gold is None:
            return self._pair_with_own_labels(run)
        return self._pair_with_assessments(gold.content, run)

    def _pair_with_own_labels(self, run: JudgedFile) -> tuple[Iterator[Pair], list[str]]:
        """Return the units of a run whose lines have labels, and the notices. Raises InputError or UsageError."""
        if self.chosen_options.key is not None:
            raise UsageError("--key says how a run finds its assessments: give --gold ASSESSMENTS, too")
        pairing.check_labelled_run(run, self._label_heading)
        policy = check_labels(self.policy, run.count_by_label, run.name)
        rules = _rules_of(policy, run, key=None)
        units = pairing.units_of_file(run)
        answers = self._distinct_answers(run)
        notices = pairing.notices_of_unused_answers(answers, units)
        return pairing.pair_with_own_labels(run, units, answers.lines_by_unit, rules), notices

    def _pair_with_assessments(self, assessments: JudgedFile, run: JudgedFile) -> tuple[Iterator[Pair], list[str]]:
        """Return the units of assessments with the answers of a run, and the notices. Raises InputError, UsageError."""
        pairing.check_assessments_and_run(assessments, run, self._label_heading)
        notices = pairing.notices_of_unread_columns(assessments, run)
        policy = check_labels(self.policy, assessments.count_by_label, assessments.name)
        rules = _rules_of(policy, assessments, self._joining_key(assessments, run))
        units = pairing.units_of_file(assessments)
        answers = self._distinct_answers(run)
        notices += pairing.notices_of_unused_answers(answers, units)
        return pairing.pair_with_assessments(assessments, units, answers.lines_by_unit, rules), notices

    @property
    def _label_heading(self) -> str:
        """The name of the column of the labels in the files."""
        return self.heading_by_column.get("label", "label")

    def _distinct_answers(self, run: JudgedFile) -> pairing.DistinctAnswers:
        """Return the answers of the run that is scored, without repeated lines. Raises InputError for other labels."""
        return pairing.drop_repeated_answers(run.units_by_run.get(self.run_name, {}), run.name)

    def _joining_key(self, assessments: JudgedFile, run: JudgedFile) -> Key:
        """Return the key by which the lines of a run find their assessments: `--key`, or the finest that fits.

        Raises InputError if the key needs evidence, and one of the files has none.
        """
        key: Key | None = self.chosen_options.key
        if key is None:
            key = "answer+evidence" if "evidence" in assessments.filled_columns else "answer"
        if key != "answer+evidence":
            return key
        for file in (assessments, run):
            if file.line_count and "evidence" not in file.filled_columns:
                raise InputError("no column evidence, by which lines are joined", file=file.name, remedy="--key answer")
        return key

    def rows_of(self, units: Sequence[Unit], progress: Progress) -> list[Row]:
        """Return the counts of each unit; equal counts are one object. Raises InputError as `row` does.

        A million units of one answer have only a few different counts. To compute each of these once takes a third of
        the time, and to keep each once takes half the memory.
        """
        row_by_case: dict[object, Row] = {}
        shared_rows: dict[Row, Row] = {}
        rows = []
        for unit in progress(units):
            case = counting_case(unit.prediction, unit.gold)
            row = row_by_case.get(case)
            if row is None:
                new_row = self.row(unit)
                row = shared_rows.setdefault(new_row, new_row)
                if case is not None:
                    row_by_case[case] = row
            rows.append(row)
        return rows

    def row(self, unit: Unit) -> Row:
        """Return the counts of a unit, a `UnitCount`. Raises InputError for assessments that contradict each other."""
        return count_unit(judge_lines(unit.prediction, unit.gold), unit.gold)

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Return the lines that explain the counts of a unit: how each answer counts, and which classes are missing."""
        count: Any = UnitCount._make(row)
        return explanation_of(judge_lines(unit.prediction, unit.gold), unit.gold, count)

    def parts(self, unit: Unit, measure: str) -> Iterable[Part]:
        """Return the answers of a unit and its classes, each with its faults; they are the same for all measures."""
        return parts_of(judge_lines(unit.prediction, unit.gold), unit.gold)

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the answers of a unit without some of its faults, as documents have them."""
        return self.prediction_to_json(corrected_lines(unit.prediction, faults, unit.gold))

    def prediction_to_json(self, prediction: Sequence[LabelledLine]) -> Any:
        """Return the answers of a unit as documents have them: a dictionary for each line, without empty fields."""
        return [_fields_of_line(line) for line in prediction]

    def prediction_from_json(self, prediction: Any) -> Sequence[LabelledLine]:
        """Return the answers of a unit from the dictionaries that `prediction_to_json` makes of them."""
        lines = []
        for fields in prediction:
            has_number = "number" in fields  # which is left out if it is 0
            lines.append(LabelledLine(**fields) if has_number else LabelledLine(number=0, **fields))
        return lines

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the group of a unit in each further column of the file, such as `{"kind": "people"}`."""
        groups: Mapping[str, str] = unit.gold.groups
        return groups

    def judgments(self, units: Sequence[Unit]) -> Mapping[tuple[str, Any], str]:
        """Return the label of each assessed answer by its unit and its key there; none for a run with own labels."""
        labels: dict[tuple[str, Any], str] = {}
        for unit in units:
            gold: UnitGold = unit.gold
            if gold.rules.key is None:
                continue
            for line in gold.lines:
                labels[gold.unit, key_of_line(line, gold.rules.key)] = line.label
        return labels

    # ---- Assumptions

    def scenarios(self, units: Sequence[Unit]) -> Iterator[tuple[str, str, Sequence[Unit]]]:
        """Yield name, assumption and units of two scenarios: all unassessed answers are wrong, or all are right.

        There is no scenario if every answer has an assessment.
        """
        has_unassessed_answer = any(unassessed_lines(unit.prediction, unit.gold) for unit in units)
        if not has_unassessed_answer:
            return
        rules = units[0].gold.rules  # all units have the same
        pessimistic_values = {**rules.value_by_label, UNASSESSED: 0.0}
        pessimistic_units = _with_rules(units, replace(rules, value_by_label=pessimistic_values))
        yield "pessimistic", "every unassessed answer wrong", pessimistic_units
        optimistic_units = []
        for unit in units:
            gold_with_more_answers = accept_unassessed(unit.prediction, unit.gold)
            optimistic_units.append(unit._replace(gold=gold_with_more_answers))
        assumption = "every unassessed answer right, each a class of its own that is wanted, too"
        yield "optimistic", assumption, optimistic_units

    def apply_policy(self, policy: str, units: Sequence[Unit]) -> tuple[str, Sequence[Unit]]:
        """Return another policy in full, as `--policy` takes it, and the units with labels that count as it says.

        Raises UsageError or InputError if it is no policy, or lacks a label of the units.
        """
        other_policy = read_policy(policy)
        if not units:
            return str(other_policy), units
        rules = units[0].gold.rules
        check_labels(other_policy, _count_labels(units), rules.file)
        other_rules = replace(rules, value_by_label=_value_by_label(other_policy))
        return str(other_policy), _with_rules(units, other_rules)


# ---- Rules


def _rules_of(policy: LabelPolicy, file: JudgedFile, key: Key | None) -> Rules:
    """Return the rules for the units of a file that holds labels.

    `key` says how a run finds its assessments; it is None if the lines of the run have labels themselves.
    """
    return Rules(
        value_by_label=_value_by_label(policy),
        key=key,
        file=file.name,
        has_wanted_column="wanted" in file.filled_columns,
        has_weight_column="weight" in file.filled_columns,
        accepted_label=_accepted_label(policy),
    )


def _value_by_label(policy: LabelPolicy) -> dict[str, Value]:
    """Return what each label of a policy counts; the label of answers that are assumed to be right counts 1."""
    value_by_label = policy.values
    value_by_label[_accepted_label(policy)] = 1.0
    return value_by_label


def _accepted_label(policy: LabelPolicy) -> str:
    """Return the label of answers that are assumed to be right: the first right label that a file may have."""
    for label in policy.labels_on("right"):
        if label != DUPLICATE:
            return label
    return _ACCEPTED


def _with_rules(units: Sequence[Unit], rules: Rules) -> list[Unit]:
    """Return copies of the units whose gold has these rules in the place of its own."""
    return [unit._replace(gold=replace(unit.gold, rules=rules)) for unit in units]


def _count_labels(units: Sequence[Unit]) -> dict[str, int]:
    """Return how many assessments and answers of the units have each label."""
    count_by_label: dict[str, int] = {}
    for unit in units:
        for line in (*unit.gold.lines, *unit.prediction):
            if line.label:
                count_by_label[line.label] = count_by_label.get(line.label, 0) + 1
    return count_by_label


# ---- Sentences above the scores


def _has_single_answers(units: Sequence[Unit], table: UnitTable) -> bool:
    """Return whether every unit wants one answer and has at most one, so that `micro-r` is the accuracy."""
    column = UnitCount._fields.index("wanted")
    if any(counts[column] != 1 for counts in table.rows):
        return False
    return all(len(unit.prediction) <= 1 for unit in units)


def _answers_by_side(sums: UnitCount, unit_count: int) -> str:
    """Return the sentence that says how many answers are right, half, wrong and ignored, and how many units there are.

    `sums` are the sums of the counts over all units.
    """
    answers = number_with_noun(sums.answered + sums.lines_ignored, "answer")
    sides = f"{sums.lines_right:,} right, {sums.lines_half:,} half, {sums.lines_wrong:,} wrong"
    ignored = f"{sums.lines_ignored:,} ignored ({sums.unassessed:,} unassessed, {sums.duplicates:,} duplicates)"
    return f"{answers}: {sides}, {ignored}; {number_with_noun(unit_count, 'unit')}"


def _accuracy_sentence(sums: UnitCount) -> str:
    """Return the sentence that gives the accuracy over all units, and over those with an answer."""
    accuracy = divide(sums.found, sums.wanted)
    accuracy_of_answered = divide(sums.right, sums.answered)
    return (
        f"accuracy {accuracy:.4f} (micro-r), as every unit wants one answer; accuracy of what was answered "
        f"{accuracy_of_answered:.4f} (micro-p)"
    )


def _fields_of_line(line: LabelledLine) -> dict[str, Any]:
    """Return the answer of a line with all fields that differ from their defaults, as documents have it.

    A line with the answer "Paris" in line 3 and a label gives `{"answer": "Paris", "number": 3, "label": "CORRECT"}`.
    """
    default_fields = asdict(LabelledLine(0, ""))
    fields: dict[str, Any] = {"answer": line.answer}
    for name, value in asdict(line).items():
        if value != default_fields[name]:
            fields[name] = value
    return fields


MODE: Final = Pool()
