"""The task `pool`, which scores answers with labels such as CORRECT, given by assessors.
A policy says whether a label counts as right, half right or wrong: `right=CORRECT,wrong=INCORRECT`. A unit is a
question or topic. Assessments are lines with the label of an answer; a run is a file of answers.

The files are tables, whose columns may have any names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Self

from msgspec import Meta

from cs_score.base.display import number_with_noun, one_line
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import Record, asdict, replace
from cs_score.base.sources import Source
from cs_score.evidence.mode import (
    Contents,
    Fault,
    Mode,
    PairedUnit,
    Part,
    Progress,
    ReportRow,
    Row,
    Unit,
    UnitsUnderPolicy,
)
from cs_score.evidence.reading import InputContent
from cs_score.judged import pairing
from cs_score.judged.answer_faults import corrected_lines, fault_kinds_of, parts_of
from cs_score.judged.averages import MEASURES, measures_of_sums
from cs_score.judged.counting import (
    KEYS,
    Key,
    Rules,
    UnitCount,
    UnitGold,
    count_unit,
    gold_with_unassessed_accepted,
    judge_lines,
    key_of_counts,
    key_of_line,
    unassessed_lines,
)
from cs_score.judged.explaining import explanation_of
from cs_score.judged.labelled_lines import JudgedFile, LabelledLine, read_judged
from cs_score.judged.policy import DUPLICATE, UNASSESSED, LabelPolicy, Value, check_labels, read_policy
from cs_score.judged.table_files import FORMATS, Headings, read_headings
from cs_score.measures import Divide, divide
from cs_score.statistics.units import UnitTable

_MOST_WITH_ROUNDING: Final = 1 + 1e-12
"""The largest average precision that differs from 1 only by rounding errors."""

_LABEL_ASSUMED_RIGHT: Final = "accepted"
"""The label of an answer that is assumed to be right, if the policy counts no label as right."""

_JOINED_BY: Final[Mapping[Key, str]] = {
    "unit": "unit alone",
    "answer": "unit and answer",
    "answer+evidence": "unit, answer and evidence",
}
"""The columns that a line of a run and its assessment have in common, in words, by the value of `--key`."""


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
    """Scores a run whose answers somebody has labelled; its units are questions, queries, claims or topics.

    The labels are in a file of assessments, which is the gold of this task, or in the lines of the run itself. `policy`
    is the policy in force. `heading_by_meaning` holds the headings of the columns in the files, such as
    `{"label": "verdict"}`. `run_name` is the name of the run that is scored, if a file holds several runs.
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
    system_option_name = "run"
    endings = FORMATS

    def __init__(self) -> None:
        """Make the task without a policy, for files whose columns have the usual headings."""
        super().__init__()
        self.policy: LabelPolicy | None = None
        self.heading_by_meaning: Headings = {}
        self.run_name = ""

    # ---- Its numbers

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return the micro and macro averages, the coverage and the average precision.

        `sums` holds the sum of each count over all units.
        """
        return measures_of_sums(UnitCount._make(sums), divide)

    def undefined_measures(self, units: Sequence[Unit], table: UnitTable) -> dict[str, str]:
        """Return the reason why average precision, `ap`, has no value: `{"ap": "... is not defined with weights"}`.

        The dictionary is empty if `ap` has a value. It has no value if classes have weights, or if the average
        precision of a unit exceeds 1.
        """
        if units and units[0].gold.rules.has_weight_column:
            return {"ap": "average precision is not defined with weights"}
        average_precision_column = UnitCount._fields.index("average_precision")
        for unit_id, counts in zip(table.ids, table.rows):
            if counts[average_precision_column] > _MOST_WITH_ROUNDING:
                return {"ap": f"average precision of unit {one_line(unit_id, 60)} exceeds 1"}
        return {}

    def headline_of(self, units: Sequence[Unit], table: UnitTable) -> str:
        """Return the measure that is shown first, `micro-f1` in most cases.

        If each unit wants a single answer, it is `micro-r`, which is then the accuracy.
        """
        return "micro-r" if _has_single_answers(units, table) else "micro-f1"

    def head(self, units: Sequence[Unit], table: UnitTable) -> Iterator[str]:
        """Yield the sentences above the scores that say how answers were counted and how the files were joined."""
        totals: Any = UnitCount._make(table.sums())
        yield _answer_count_sentence(totals, len(units))
        if not units:
            return
        join_sentence = _sentence_on_join(units[0].gold.rules)  # all units have the same rules
        if join_sentence is not None:
            yield join_sentence
        # A unit wants an answer if it has a class or if its gold says so. Such units count as 1 in this sum, all others
        # as 0.
        wanting_unit_count = int(totals.is_wanting)
        other_unit_count = len(units) - wanting_unit_count
        if other_unit_count:
            units_in_words = number_with_noun(len(units), "unit")
            yield f"{other_unit_count:,} of {units_in_words} want nothing: they are in no macro average"
        if _has_single_answers(units, table):
            yield _accuracy_sentence(totals)

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        """Return the number of lines and units in the assessments, and the number of lines in the run, with nouns.

        An example is `(((120, "line"), (40, "unit")), ((80, "line"),))`. The first element is empty if there are no
        assessments.
        """
        run_contents = ((predictions.line_count, "line"),)
        if gold is None:
            return (), run_contents
        return ((gold.line_count, "line"), (len(table.ids), "unit")), run_contents

    # ---- Options

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return the task with these options in force; a policy may be given as the name of a file.

        Raises UsageError for an invalid key, policy or names of columns, and InputError for a file that holds no
        policy.
        """
        mode = super().with_options(options)
        pool_options: PoolOptions = mode.chosen_options
        _check_key(pool_options.key)
        mode = mode._copy_with(heading_by_meaning=read_headings(pool_options.columns))
        if not pool_options.policy:
            return mode
        policy = read_policy(pool_options.policy)
        # The text of the policy replaces the name of its file, so that signatures do not depend on this name.
        options_with_policy = replace(pool_options, policy=str(policy))
        return mode._copy_with(policy=policy, kinds=fault_kinds_of(policy), chosen_options=options_with_policy)

    # ---- Reading

    def gold(self, source: Source) -> JudgedFile:
        """Return the assessments in a file. Raises InputError if the file holds none."""
        ignored_columns = pairing.COLUMNS_OF_RUNS
        assessments = read_judged(source, self.heading_by_meaning, ignored_columns=ignored_columns, needs_label=True)
        if not assessments.line_count:
            raise InputError("no line below the header: nothing is assessed", file=source.name)
        return assessments

    def predictions(self, source: Source) -> JudgedFile:
        """Return the answers in a file of runs, which may have labels. Raises InputError for a malformed file."""
        ignored_columns = pairing.COLUMNS_OF_GOLD if self.has_gold else ()
        return read_judged(source, self.heading_by_meaning, ignored_columns=ignored_columns, needs_label=False)

    def systems(self, predictions: InputContent) -> Sequence[str]:
        """Return the names of the runs of a file that are to be scored.

        These are all runs of the file, unless `--run` chooses one. The only run of a file without a column `run` has an
        empty name. Raises InputError if the file does not have the chosen run.
        """
        run_names = list(predictions.content.units_by_run) or [""]
        chosen_name = self.chosen_options.run
        if not chosen_name:
            return run_names
        if chosen_name not in run_names:
            raise _unknown_run_error(chosen_name, run_names, predictions.name)
        return [chosen_name]

    def mode_for_system(self, system: str, systems: Sequence[str]) -> Self:
        """Return this task with the options for one run of a file. `system` names the run, `systems` all its runs.

        If the file has several runs, the options of the returned task name this run, so that each run gets its own
        signature.
        """
        options = self.chosen_options
        if len(systems) > 1:
            options = replace(options, run=system)
        return self._copy_with(run_name=system, chosen_options=options)

    # ---- Units

    def pair_units(
        self, gold: Any, predictions: InputContent, options: PoolOptions
    ) -> tuple[Iterable[PairedUnit], Iterable[str]]:
        """Return the id, the gold and the answers of each unit, and notices about lines and columns that are not used.

        Raises InputError or UsageError if the files do not belong together, or if the policy does not name a label.
        """
        run: JudgedFile = predictions.content
        if gold is None:
            return self._pair_labelled_answers(run)
        return self._pair_with_assessments(gold.content, run)

    def _pair_labelled_answers(self, run: JudgedFile) -> tuple[Iterator[PairedUnit], list[str]]:
        """Return the id, the gold and the answers of each unit of a run whose lines have labels of their own.

        The second value has the notices about answers that are not scored. Raises InputError for a run without labels,
        and UsageError for an option that needs assessments.
        """
        if self.chosen_options.key is not None:
            raise UsageError("--key says how a run finds its assessments: give --gold ASSESSMENTS, too")
        pairing.check_labelled_run(run, self._label_heading)
        policy = check_labels(self.policy, run.count_by_label, run.name)
        rules = _rules_of(policy, run, key=None)
        lines_by_unit = pairing.lines_of_all_runs(run)
        answers = self._distinct_answers(run)
        notices = pairing.notices_of_unused_answers(answers, lines_by_unit)
        return pairing.pair_labelled_answers(run, lines_by_unit, answers.lines_by_unit, rules), notices

    def _pair_with_assessments(
        self, assessments: JudgedFile, run: JudgedFile
    ) -> tuple[Iterator[PairedUnit], list[str]]:
        """Return the id, the gold and the answers of each unit that has assessments.

        The second value has the notices about columns that are not read and answers that are not scored. Raises
        InputError or UsageError if the files do not belong together.
        """
        pairing.check_assessments_and_run(assessments, run, self._label_heading)
        policy = check_labels(self.policy, assessments.count_by_label, assessments.name)
        rules = _rules_of(policy, assessments, self._joining_key(assessments, run))
        assessed_lines_by_unit = pairing.lines_of_all_runs(assessments)
        answers = self._distinct_answers(run)
        notices = pairing.notices_of_unread_columns(assessments, run)
        notices += pairing.notices_of_unused_answers(answers, assessed_lines_by_unit)
        units = pairing.pair_with_assessments(assessments, assessed_lines_by_unit, answers.lines_by_unit, rules)
        return units, notices

    @property
    def _label_heading(self) -> str:
        """The heading of the column of labels in the files: "label", or "verdict" with `--columns label=verdict`."""
        return self.heading_by_meaning.get("label", "label")

    def _distinct_answers(self, run: JudgedFile) -> pairing.DistinctAnswers:
        """Return the answers of the run that is scored, without repeated lines.

        Raises InputError if a repeated line has another label than the first one.
        """
        return pairing.drop_repeated_answers(run.units_by_run.get(self.run_name, {}), run.name)

    def _joining_key(self, assessments: JudgedFile, run: JudgedFile) -> Key:
        """Return the key by which the lines of a run find their assessments, such as "answer".

        It is the value of `--key`. Without this option it is "answer+evidence" if the assessments have evidence, and
        "answer" otherwise. Raises InputError if the key needs evidence and one of the files has none.
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
        """Return the counts of each unit; units with equal counts share one object.

        Even a million units with a single answer have only a few different counts. Computing each of these once takes a
        third of the time, and storing each once takes half the memory. Raises InputError in the same cases as `row`.
        """
        row_by_key: dict[object, Row] = {}
        first_equal_row: dict[Row, Row] = {}
        rows = []
        for unit in progress(units):
            key = key_of_counts(unit.prediction, unit.gold)  # None for a unit whose counts must be computed
            row = row_by_key.get(key)
            if row is None:
                new_row = self.row(unit)
                row = first_equal_row.setdefault(new_row, new_row)
                if key is not None:
                    row_by_key[key] = row
            rows.append(row)
        return rows

    def row(self, unit: Unit) -> Row:
        """Return the counts of a unit, a `UnitCount`. Raises InputError for assessments that contradict each other."""
        return count_unit(judge_lines(unit.prediction, unit.gold), unit.gold)

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Return the lines that explain the counts of a unit: the judgment of each answer, and the missing classes."""
        unit_count: Any = UnitCount._make(row)
        return explanation_of(judge_lines(unit.prediction, unit.gold), unit.gold, unit_count)

    def parts(self, unit: Unit, measure: str) -> Iterable[Part]:
        """Return the answers of a unit and its equivalence classes, each with its faults.

        They are the same for all measures.
        """
        return parts_of(judge_lines(unit.prediction, unit.gold), unit.gold)

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the answers of a unit, with these faults of them corrected, as a list of JSON objects."""
        return self.prediction_to_json(corrected_lines(unit.prediction, faults, unit.gold))

    def prediction_to_json(self, prediction: Sequence[LabelledLine]) -> Any:
        """Return the answers of a unit as a list of JSON objects: `[{"answer": "Paris", "number": 3}]`.

        An object holds only the fields of a line that differ from their defaults.
        """
        return [_fields_of_line(line) for line in prediction]

    def prediction_from_json(self, prediction: Any) -> Sequence[LabelledLine]:
        """Return the answers of a unit, given the JSON objects that `prediction_to_json` returns for them."""
        lines = []
        for fields in prediction:
            has_number = "number" in fields  # which is left out if it is 0
            lines.append(LabelledLine(**fields) if has_number else LabelledLine(number=0, **fields))
        return lines

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the groups of a unit by the heading of a column: `{"kind": "people"}`.

        Columns that have no meaning for scoring, such as "kind", name groups.
        """
        groups: Mapping[str, str] = unit.gold.groups
        return groups

    def judgments(self, units: Sequence[Unit]) -> Mapping[tuple[str, Any], str]:
        """Return the label of each assessed answer: `{("q1", "Paris"): "CORRECT"}`.

        The key of the dictionary is the unit and the key of the answer (`key_of_line`). The dictionary is empty if the
        lines of the run have labels of their own.
        """
        labels: dict[tuple[str, Any], str] = {}
        for unit in units:
            gold: UnitGold = unit.gold
            if gold.rules.key is None:  # the lines of the run have labels of their own
                continue
            for line in gold.lines:
                labels[gold.unit, key_of_line(line, gold.rules.key)] = line.label
        return labels

    # ---- Assumptions

    def scenarios(self, units: Sequence[Unit]) -> Iterator[tuple[str, str, Sequence[Unit]]]:
        """Yield the name, the assumption and the units of two scenarios for the answers that nobody has assessed.

        In the first scenario all of these answers are wrong, and in the second all are right. There is no scenario if
        every answer has an assessment.
        """
        has_unassessed_answer = any(unassessed_lines(unit.prediction, unit.gold) for unit in units)
        if not has_unassessed_answer:
            return
        yield "pessimistic", "every unassessed answer wrong", _with_unassessed_wrong(units)
        assumption = "every unassessed answer right, each a class of its own that is wanted, too"
        yield "optimistic", assumption, _with_unassessed_right(units)

    def units_under_policy(self, policy: str, units: Sequence[Unit]) -> UnitsUnderPolicy:
        """Return the units with the label values of another policy, together with the full text of that policy.

        `policy` is a value of the option `--policy`: either the text of a policy or the name of a file that contains
        one. Raises UsageError or InputError if it is neither, or if the policy lacks one of the units' labels.
        """
        other_policy = read_policy(policy)
        policy_text = str(other_policy)
        if not units:
            return UnitsUnderPolicy(policy_text, units)
        rules = units[0].gold.rules  # all units have the same
        check_labels(other_policy, _count_labels(units), rules.file)  # only raises errors
        other_rules = replace(rules, value_by_label=_value_by_label(other_policy))
        return UnitsUnderPolicy(policy_text, _with_rules(units, other_rules))


# ---- Rules


def _check_key(key: str | None) -> None:
    """Raise UsageError for a value of `--key` that is not one of the three keys. None means that there is no value."""
    if key is not None and key not in KEYS:
        raise UsageError(f"--key takes {', '.join(KEYS)}, not {one_line(str(key))}")


def _unknown_run_error(chosen_name: str, run_names: Sequence[str], file: str) -> InputError:
    """Return the error for a value of `--run` that is the name of no run of the file. It lists the runs of the file."""
    listed_names = ", ".join([one_line(name, 40) for name in run_names if name])
    what_there_is = f"there is {listed_names}" if listed_names else "there is no column run"
    suggestion = did_you_mean(chosen_name, run_names)
    return InputError(f"no run is called {chosen_name}; {what_there_is}{suggestion}", file=file)


def _rules_of(policy: LabelPolicy, file: JudgedFile, key: Key | None) -> Rules:
    """Return the rules for judging the lines of a file that holds labels.

    `key` says how a line of a run is matched to its assessment; it is None if the lines of the run have labels of their
    own. The column "wanted" of the file gives the number of answers that a unit wants, and the column "weight" gives
    the weight of a class.
    """
    label_for_assumed_right = _accepted_label(policy)  # the label for an answer that an analysis assumes to be right
    return Rules(
        value_by_label=_value_by_label(policy),
        key=key,
        file=file.name,
        has_wanted_column="wanted" in file.filled_columns,
        has_weight_column="weight" in file.filled_columns,
        accepted_label=label_for_assumed_right,
    )


def _value_by_label(policy: LabelPolicy) -> dict[str, Value]:
    """Return the value of each label under a policy, such as `{"CORRECT": 1.0, "INCORRECT": 0.0}`.

    The label of answers that are assumed to be right (`_accepted_label`) has the value 1.
    """
    label_assumed_right = _accepted_label(policy)
    return {**policy.values, label_assumed_right: 1.0}


def _accepted_label(policy: LabelPolicy) -> str:
    """Return the label of answers that are assumed to be right, such as "CORRECT".

    It is the first label on the right side of the policy, except DUPLICATE, which no file may have.
    """
    for label in policy.labels_on("right"):
        if label != DUPLICATE:
            return label
    return _LABEL_ASSUMED_RIGHT


def _with_rules(units: Sequence[Unit], rules: Rules) -> list[Unit]:
    """Return copies of the units, in which these rules replace the rules of the gold."""
    return [unit._replace(gold=replace(unit.gold, rules=rules)) for unit in units]


def _with_unassessed_wrong(units: Sequence[Unit]) -> list[Unit]:
    """Return copies of the units in which every answer without an assessment counts as wrong."""
    rules = units[0].gold.rules  # all units have the same
    pessimistic_values = {**rules.value_by_label, UNASSESSED: 0.0}
    return _with_rules(units, replace(rules, value_by_label=pessimistic_values))


def _with_unassessed_right(units: Sequence[Unit]) -> list[Unit]:
    """Return copies of the units in which every answer without an assessment counts as right.

    Each of these answers also adds its own class to the classes that the unit is expected to find.
    """
    optimistic_units = []
    for unit in units:
        optimistic_gold = gold_with_unassessed_accepted(unit.prediction, unit.gold)
        optimistic_units.append(unit._replace(gold=optimistic_gold))
    return optimistic_units


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
    wanted_column = UnitCount._fields.index("wanted")
    if any(counts[wanted_column] != 1 for counts in table.rows):
        return False
    return all(len(unit.prediction) <= 1 for unit in units)


def _sentence_on_join(rules: Rules) -> str | None:
    """Return the sentence that says how the lines of a run are matched to their assessments.

    If the lines of the run have labels, assessments are not needed, and the sentence says that each unit wants one
    answer. In that case, returns None if the file has a column `wanted` with the number of answers that a unit wants.
    """
    if rules.key is not None:
        return f"assessments and run are joined by {_JOINED_BY[rules.key]} (--key {rules.key})"
    if rules.has_wanted_column:
        return None
    return "one answer a unit, as no file says how many"


def _answer_count_sentence(totals: UnitCount, unit_count: int) -> str:
    """Return the sentence that says how many answers are right, half, wrong and ignored, and how many units there are.

    `totals` has the sum of each count over all units.
    """
    answers = number_with_noun(totals.answered + totals.lines_ignored, "answer")
    sides = f"{totals.lines_right:,} right, {totals.lines_half:,} half, {totals.lines_wrong:,} wrong"
    ignored = f"{totals.lines_ignored:,} ignored ({totals.unassessed:,} unassessed, {totals.duplicates:,} duplicates)"
    return f"{answers}: {sides}, {ignored}; {number_with_noun(unit_count, 'unit')}"


def _accuracy_sentence(totals: UnitCount) -> str:
    """Return the sentence that gives the accuracy over all units and over the units with an answer.

    Every unit wants one answer, so every right answer finds a class, and a unit without an answer counts as wrong.
    """
    accuracy = divide(totals.found, totals.wanted)
    accuracy_of_answered = divide(totals.right, totals.answered)
    return (
        f"accuracy {accuracy:.4f} (micro-r), as every unit wants one answer; accuracy of what was answered "
        f"{accuracy_of_answered:.4f} (micro-p)"
    )


def _fields_of_line(line: LabelledLine) -> dict[str, Any]:
    """Return the answer of a line, and its fields that differ from their defaults, as a JSON object.

    An example is `{"answer": "Paris", "number": 3, "label": "CORRECT"}`.
    """
    default_fields = asdict(LabelledLine(number=0, answer=""))
    fields: dict[str, Any] = {"answer": line.answer}
    for name, value in asdict(line).items():
        if value != default_fields[name]:
            fields[name] = value
    return fields


MODE: Final = Pool()
