"""The task `pool`: answers that somebody has judged, in tables of anybody's form, counted under a policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from msgspec import Meta

from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, asdict, replace
from cs_score.base.runtime import Late
from cs_score.base.sources import Source
from cs_score.evidence.mode import Contents, Fault, Mode, Pair, Part, Progress, ReportRow, Row, Unit
from cs_score.evidence.reading import Gold, quoted
from cs_score.judged.counting import (
    KEYS,
    Key,
    Rules,
    UnitCount,
    UnitGold,
    case_of_few,
    count_unit,
    judged_lines,
    key_of,
    unassessed_lines,
    with_all_accepted,
)
from cs_score.judged.explaining import explanation_of
from cs_score.judged.faults import corrected_lines, kinds_of, parts_of
from cs_score.judged.lines import JudgedFile, Line, read_judged
from cs_score.judged.policy import DUPLICATE, UNASSESSED, Policy, Value, check_labels, read_policy
from cs_score.judged.tables import FORMATS, Names, read_names
from cs_score.measures.registry import Divide, Ratio, divide, f1
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")  # only comparisons ask for quotients

MEASURES: Final = (*("micro-p", "micro-r", "micro-f1"), *("macro-p", "macro-r", "macro-f1"), *("coverage", "ap"))

COLUMNS_OF_GOLD: Final = ("class", "wanted", "weight")
"""The columns that are not read of a run beside assessments."""

COLUMNS_OF_RUNS: Final = ("confidence", "run")
"""The columns that are not read of assessments."""


class Options(Record):
    """What can be chosen."""

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
    """Units are questions, queries, claims or topics; a line of the run is an answer to one of them."""

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
    options = Options
    has_lines = True
    needs_gold = False
    has_policies = True
    option_of_systems = "run"
    endings = FORMATS

    def __init__(self) -> None:
        super().__init__()
        self.policy: Policy | None = None
        self.names: Names = {}
        self.system = ""

    # ---- Its numbers

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return micro and macro averages, coverage and average precision; 0/0 is 0."""
        count: Any = UnitCount._make(sums)
        micro_precision = divide(count.right, count.answered)
        micro_recall = divide(count.found, count.wanted)
        return (
            micro_precision,
            micro_recall,
            _f1(count, divide),
            divide(count.precision, count.is_wanting),
            divide(count.recall, count.is_wanting),
            divide(count.f1, count.is_wanting),
            divide(count.is_answered, count.units),
            divide(count.average_precision, count.is_wanting),
        )

    def undefined(self, units: Sequence[Unit], table: UnitTable) -> dict[str, str]:
        """Return why there is no average precision: with weights, and where that of some unit exceeds 1."""
        if any(unit.gold.rules.has_weights for unit in units[:1]):
            return {"ap": "average precision is not defined with weights"}
        place = UnitCount._fields.index("average_precision")
        for unit, row in zip(table.ids, table.rows):
            if row[place] > _ONE:
                return {"ap": f"average precision of unit {one_line(unit, 60)} exceeds 1"}
        return {}

    def headline_of(self, units: Sequence[Unit], table: UnitTable) -> str:
        """Return `micro-r`, the accuracy, where every unit wants one answer and has no more; `micro-f1` elsewhere."""
        return "micro-r" if _is_accuracy(units, table) else "micro-f1"

    def head(self, units: Sequence[Unit], table: UnitTable) -> Iterator[str]:
        """Yield the denominators, and how files were joined."""
        sums: Any = UnitCount._make(table.sums())
        yield _denominators(sums, len(units))
        if not units:
            return
        rules = units[0].gold.rules
        if rules.key is not None:
            yield f"assessments and run are joined by {_JOINED_BY[rules.key]} (--key {rules.key})"
        elif not rules.has_wanted:
            yield "one answer a unit, as no file says how many"
        nothing = len(units) - int(sums.is_wanting)
        if nothing:
            yield f"{nothing:,} of {_many(len(units), 'unit')} want nothing: they are in no macro average"
        if _is_accuracy(units, table):
            accuracy = divide(sums.found, sums.wanted)
            of_answered = divide(sums.right, sums.answered)
            yield (
                f"accuracy {accuracy:.4f} (micro-r), as every unit wants one answer; accuracy of what was answered "
                f"{of_answered:.4f} (micro-p)"
            )

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        of_gold = () if gold is None else ((gold.line_count, "line"), (len(table.ids), "unit"))
        return of_gold, ((predictions.line_count, "line"),)

    # ---- Reading

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return the mode with these options; the policy is read where it is a file."""
        mode = super().with_options(options)
        chosen = mode.chosen
        if chosen.key is not None and chosen.key not in KEYS:
            raise UsageError(f"--key takes {', '.join(KEYS)}, not {one_line(str(chosen.key))}")
        mode.names = read_names(chosen.columns)
        if not chosen.policy:
            return mode
        policy = read_policy(chosen.policy)
        return mode._with(policy=policy, kinds=kinds_of(policy), chosen=replace(chosen, policy=str(policy)))

    def gold(self, source: Source) -> JudgedFile:
        assessments = read_judged(source, self.names, ignored=COLUMNS_OF_RUNS, needs_label=True)
        if not assessments.line_count:
            raise InputError("no line below the header: nothing is assessed", file=source.name)
        return assessments

    def predictions(self, source: Source) -> JudgedFile:
        ignored = COLUMNS_OF_GOLD if self.has_gold else ()
        return read_judged(source, self.names, ignored=ignored, needs_label=False)

    def systems(self, predictions: Gold) -> Sequence[str]:
        systems = list(predictions.content.systems) or [""]
        chosen_run = self.chosen.run
        if not chosen_run:
            return systems
        if chosen_run not in systems:
            names_there = ", ".join(one_line(name, 40) for name in systems if name) or "no column run"
            suggestion = nearest(chosen_run, systems)
            raise InputError(
                f"no run is called {chosen_run}; there is {names_there}{suggestion}", file=predictions.name
            )
        return [chosen_run]

    def for_system(self, system: str, systems: Sequence[str]) -> Self:
        mode = self._with(system=system)
        if len(systems) > 1:
            mode.chosen = replace(self.chosen, run=system)
        return mode

    def paired(self, gold: Any, predictions: Gold, options: Options) -> tuple[Iterable[Pair], Iterable[str]]:
        """Pair the units of assessments, or of a run with labels, with the answers of one system."""
        run: JudgedFile = predictions.content
        if gold is None:
            judged_file, notices = run, []
            self._check_labelled_run(run)
        else:
            judged_file = gold.content
            self._check_files(judged_file, run)
            notices = _notices_of_columns(judged_file, run)
        policy = check_labels(self.policy, judged_file.count_by_label, judged_file.name)
        rules = _rules_of(policy, judged_file, None if gold is None else self._key_of(judged_file, run))
        units = _units_of(judged_file)
        answers, repeated = _without_repetitions(run.systems.get(self.system, {}), run.name)
        notices += _notices_of_lines(answers, units, repeated)
        return _pairs(units, answers, judged_file, rules, is_joined=gold is not None), notices

    def _check_labelled_run(self, run: JudgedFile) -> None:
        """Raise InputError or UsageError where a run without assessments cannot be scored by itself."""
        if self.chosen.key is not None:
            raise UsageError("--key says how a run finds its assessments: give --gold ASSESSMENTS, too")
        if not run.line_count:
            raise InputError("no line below the header: nothing is judged", file=run.name)
        if "label" not in run.filled:
            problem = f"no column {self.names.get('label', 'label')}; there are {', '.join(run.columns[:20])}"
            remedy = "give the assessments with --gold FILE, or say what the column is called: --columns label=NAME"
            raise InputError(problem, file=run.name, remedy=remedy)
        if "weight" in run.filled:
            remedy = "weights are read of assessments: give them with --gold FILE"
            raise InputError("a run with labels has no weights (column weight)", file=run.name, remedy=remedy)

    def _check_files(self, assessments: JudgedFile, run: JudgedFile) -> None:
        """Raise InputError or UsageError for files that are swapped, or have columns that exclude each other."""
        if "label" not in assessments.filled:
            if "label" in run.filled:
                swapped = f"write --gold {run.name} --predictions {assessments.name}"
                raise UsageError(f"the files are swapped: {run.name} has the labels; {swapped}")
            problem = f"no column {self.names.get('label', 'label')}; there are {', '.join(assessments.columns[:20])}"
            raise InputError(problem, file=assessments.name, remedy="say what it is called: --columns label=NAME")
        if "label" in run.filled:
            remedy = "leave out --gold, or take the column label out of the run"
            raise InputError("both files have labels", file=run.name, remedy=remedy)
        if {"wanted", "weight"} <= assessments.filled:
            problem = "columns wanted and weight do not go together"
            raise InputError(problem, file=assessments.name, remedy="leave one of them out")

    def _key_of(self, assessments: JudgedFile, run: JudgedFile) -> Key:
        """Return the key by which a run finds its assessments. Raise InputError where a file lacks its column."""
        key: Key | None = self.chosen.key
        if key is None:
            key = "answer+evidence" if "evidence" in assessments.filled else "answer"
        if key != "answer+evidence":
            return key
        for file in (assessments, run):
            if file.line_count and "evidence" not in file.filled:
                raise InputError("no column evidence, by which lines are joined", file=file.name, remedy="--key answer")
        return key

    # ---- Units

    def rows_of(self, units: Sequence[Unit], progress: Progress) -> list[Row]:
        """Return the rows of all units; equal ones are one, which is half the memory where units want one answer.

        Units of one answer are counted in a few ways, each of which is counted once: a third of the time of a million
        such units.
        """
        row_by_value: dict[Row, Row] = {}
        row_by_case: dict[object, Row] = {}
        rows = []
        for unit in progress(units):
            case = case_of_few(unit.prediction, unit.gold)
            row = None if case is None else row_by_case.get(case)
            if row is None:
                row = self.row(unit)
                row = row_by_value.setdefault(row, row)
                if case is not None:
                    row_by_case[case] = row
            rows.append(row)
        return rows

    def row(self, unit: Unit) -> Row:
        return count_unit(judged_lines(unit.prediction, unit.gold), unit.gold)

    def explained(self, unit: Unit, row: Row) -> Iterator[str]:
        count: Any = UnitCount._make(row)
        return explanation_of(judged_lines(unit.prediction, unit.gold), unit.gold, count)

    def parts(self, unit: Unit, measure: str) -> Iterable[Part]:
        return parts_of(judged_lines(unit.prediction, unit.gold), unit.gold)

    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        return self.written(corrected_lines(unit.prediction, faults, unit.gold))

    def written(self, prediction: Sequence[Line]) -> Any:
        return [_members_of(line) for line in prediction]

    def reread(self, prediction: Any) -> Sequence[Line]:
        return [Line(**{"number": 0, **members}) for members in prediction]

    def groups(self, unit: Unit) -> Mapping[str, str]:
        groups: Mapping[str, str] = unit.gold.groups
        return groups

    def judgments(self, units: Sequence[Unit]) -> Mapping[tuple[str, Any], str]:
        labels: dict[tuple[str, Any], str] = {}
        for unit in units:
            gold: UnitGold = unit.gold
            if gold.rules.key is None:
                continue
            for line in gold.lines:
                labels[gold.unit, key_of(line, gold.rules.key)] = line.label
        return labels

    # ---- Assumptions

    def scenarios(self, units: Sequence[Unit]) -> Iterator[tuple[str, str, Sequence[Unit]]]:
        """Yield the units with all unassessed answers wrong, and with all of them right, where there are any."""
        unassessed = [len(unassessed_lines(unit.prediction, unit.gold)) for unit in units]
        if not sum(unassessed):
            return
        rules = units[0].gold.rules
        wrong = replace(rules, values={**rules.values, UNASSESSED: 0.0})
        yield "pessimistic", "every unassessed answer wrong", _under_rules(units, wrong)
        accepted = [unit._replace(gold=with_all_accepted(unit.prediction, unit.gold)) for unit in units]
        assumption = "every unassessed answer right, each a class of its own that is wanted, too"
        yield "optimistic", assumption, accepted

    def under_policy(self, policy: str, units: Sequence[Unit]) -> tuple[str, Sequence[Unit]]:
        other_policy = read_policy(policy)
        if not units:
            return str(other_policy), units
        labels: dict[str, int] = {}
        for unit in units:
            for line in (*unit.gold.lines, *unit.prediction):
                if line.label:
                    labels[line.label] = labels.get(line.label, 0) + 1
        rules = units[0].gold.rules
        check_labels(other_policy, labels, rules.file)
        return str(other_policy), _under_rules(units, replace(rules, values=_values_of(other_policy)))


_ONE: Final = 1 + 1e-12
"""Average precision beyond this exceeds 1, and not by the rounding of sums alone."""

_ACCEPTED: Final = "accepted"
"""The label of an answer that counts 1, where the policy has no label on the right side."""

_JOINED_BY: Final[Mapping[Key, str]] = {
    "unit": "unit alone",
    "answer": "unit and answer",
    "answer+evidence": "unit, answer and evidence",
}


def _f1(count: Any, divide: Divide) -> Any:
    """Return micro F1 of the sums; where quotients are asked for, what each unit adds to its two parts."""
    precision = divide(count.right, count.answered)
    recall = divide(count.found, count.wanted)
    if isinstance(precision, Ratio) and not _are_equal(count.right, count.found):
        return _f1_of_units(count)
    return f1(precision, recall, divide)


def _are_equal(first: Any, second: Any) -> bool:
    """Return whether two numbers, or two arrays of one shape, are equal throughout."""
    is_equal = first == second
    return bool(is_equal.all()) if hasattr(is_equal, "all") else bool(is_equal)


def _f1_of_units(count: Any) -> Ratio:
    """Return micro F1 as a quotient of what each unit adds, where right answers and found classes differ.

    They do with weights, and where duplicates count as right. With r right of a answered, f found of w wanted, and
    c = r / f, F1 is 2 r / (a + c w). A unit u adds 2 (a r_u + c c w f_u) / (a + c w) to the numerator and a_u + c w_u
    to the denominator: the sums make F1, and a small change of a unit changes their quotient as it changes F1. The
    first axis of the arrays is that of the units.
    """
    columns = [np.asarray(column, np.float64) for column in (count.right, count.answered, count.found, count.wanted)]
    totals = [column.sum(axis=0) if column.ndim else column for column in columns]
    right, answered, found, wanted = columns
    all_right, all_answered, all_found, all_wanted = totals
    has_ratio = (all_right > 0) & (all_found > 0)
    ratio = np.where(has_ratio, all_right, 1.0) / np.where(has_ratio, all_found, 1.0)
    denominator = answered + ratio * wanted
    whole = all_answered + ratio * all_wanted
    numerator = 2 * (all_answered * right + ratio**2 * all_wanted * found) / np.where(whole > 0, whole, 1.0)
    return Ratio(numerator, denominator)


def _rules_of(policy: Policy, judged_file: JudgedFile, key: Key | None) -> Rules:
    """Return how the lines of a file are judged."""
    return Rules(
        values=_values_of(policy),
        key=key,
        file=judged_file.name,
        has_wanted="wanted" in judged_file.filled,
        has_weights="weight" in judged_file.filled,
        accepted=_accepted_label(policy),
    )


def _accepted_label(policy: Policy) -> str:
    """Return a label that counts 1: the first one of the right side that a file can have."""
    accepted = [label for label in policy.labels_on("right") if label != DUPLICATE]
    return accepted[0] if accepted else _ACCEPTED


def _values_of(policy: Policy) -> dict[str, Value]:
    """Return what labels count, that of answers which are assumed to be right among them."""
    return {**policy.values, _accepted_label(policy): 1.0}


def _under_rules(units: Sequence[Unit], rules: Rules) -> list[Unit]:
    """Return the units with other rules."""
    return [unit._replace(gold=replace(unit.gold, rules=rules)) for unit in units]


def _is_accuracy(units: Sequence[Unit], table: UnitTable) -> bool:
    """Return whether every unit wants one answer and has one line at most."""
    place = UnitCount._fields.index("wanted")
    return all(row[place] == 1 for row in table.rows) and all(len(unit.prediction) <= 1 for unit in units)


def _denominators(sums: Any, unit_count: int) -> str:
    """Return how many answers there are on each side, and how many units."""
    answers = _many(sums.answered + sums.lines_ignored, "answer")
    sides = f"{sums.lines_right:,} right, {sums.lines_half:,} half, {sums.lines_wrong:,} wrong"
    ignored = f"{sums.lines_ignored:,} ignored ({sums.unassessed:,} unassessed, {sums.duplicates:,} duplicates)"
    return f"{answers}: {sides}, {ignored}; {_many(unit_count, 'unit')}"


def _many(number: int, noun: str) -> str:
    """Return a number with its noun: `1,540 answers`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _pairs(
    units: Mapping[str, Sequence[Line]],
    answers: Mapping[str, Sequence[Line]],
    judged_file: JudgedFile,
    rules: Rules,
    *,
    is_joined: bool,
) -> Iterator[Pair]:
    """Yield each unit with what is known of it and its answers."""
    wanted_by_unit = judged_file.wanted
    groups_by_unit = judged_file.groups
    for unit, lines in units.items():
        assessed = lines if is_joined else ()
        gold = UnitGold(unit, assessed, wanted_by_unit.get(unit), groups_by_unit.get(unit, _NO_GROUPS), rules)
        yield unit, gold, answers.get(unit, ())


_NO_GROUPS: Final[Mapping[str, str]] = {}


def _units_of(judged_file: JudgedFile) -> Mapping[str, list[Line]]:
    """Return the lines of each unit of a file, whichever system they are of, units in the order of the file."""
    if len(judged_file.systems) == 1:
        [units] = judged_file.systems.values()
        return units
    together: dict[str, list[Line]] = {}
    for units in judged_file.systems.values():
        for unit, lines in units.items():
            together.setdefault(unit, []).extend(lines)
    return together


def _without_repetitions(answers: Mapping[str, Sequence[Line]], file: str) -> tuple[Mapping[str, Sequence[Line]], int]:
    """Return the answers of each unit of which none repeats answer and evidence of an earlier one, and how many did.

    Raise InputError where a repetition has another label.
    """
    kept_by_unit: dict[str, Sequence[Line]] = {}
    repetition_count = 0
    for unit, lines in answers.items():
        first_lines = lines if len(lines) == 1 else _first_lines(lines, unit, file)
        if len(first_lines) < len(lines):
            repetition_count += len(lines) - len(first_lines)
            kept_by_unit[unit] = first_lines
    if not kept_by_unit:
        return answers, 0
    return {**answers, **kept_by_unit}, repetition_count


def _first_lines(lines: Sequence[Line], unit: str, file: str) -> Sequence[Line]:
    """Return the first line of each answer and evidence. Raise InputError where a later one has another label."""
    first_by_text: dict[tuple[str, str], Line] = {}
    for line in lines:
        first = first_by_text.setdefault((line.answer, line.evidence), line)
        if first.label != line.label:
            problem = f"repeats the answer of line {first.number}, {quoted(first.label)}, as {quoted(line.label)}"
            place = f"line {line.number}, unit {quoted(unit)}"
            remedy = "correct one of the two, or name runs in a column run"
            raise InputError(problem, file=file, place=place, remedy=remedy)
    return lines if len(first_by_text) == len(lines) else list(first_by_text.values())


def _notices_of_columns(assessments: JudgedFile, run: JudgedFile) -> list[str]:
    """Return what is to be said of columns that are not read because the other file should have them."""
    notices = []
    for file, columns, other in ((run, COLUMNS_OF_GOLD, "assessments"), (assessments, COLUMNS_OF_RUNS, "a run")):
        columns_there = [column for column in columns if column in file.columns]
        if columns_there:
            notices.append(f"{file.name}: not read, as {other} should have it: {', '.join(columns_there)}")
    return notices


def _notices_of_lines(answers: Mapping[str, Sequence[Line]], units: Mapping[str, object], repeated: int) -> list[str]:
    """Return what is to be said of answers that were left out."""
    notices = []
    units_left_out = [unit for unit in answers if unit not in units]
    if units_left_out:
        number = sum(len(answers[unit]) for unit in units_left_out)
        names = ", ".join(one_line(unit, 40) for unit in units_left_out[:3])
        more = ", ..." if len(units_left_out) > 3 else ""
        were = "was" if number == 1 else "were"
        of_units = _many(len(units_left_out), "unit")
        notices.append(f"{_many(number, 'answer')} of {of_units} without assessments {were} left out: {names}{more}")
    if repeated:
        were = "repeats an earlier line and was" if repeated == 1 else "repeat earlier lines and were"
        notices.append(f"{_many(repeated, 'line')} {were} left out (same unit, answer and evidence)")
    return notices


def _members_of(line: Line) -> dict[str, Any]:
    """Return a line as documents have it: what is not as usual."""
    usual_members = asdict(Line(0, ""))
    members: dict[str, Any] = {"answer": line.answer}
    for name, value in asdict(line).items():
        if value != usual_members[name]:
            members[name] = value
    return members


MODE: Final = Pool()
