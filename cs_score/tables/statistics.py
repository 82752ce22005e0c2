"""Write comparisons of systems, and plans of tests, as tables with sentences, in all formats. A plan says how many
units (such as queries) a test needs to detect a difference between two systems. No number is computed here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from cs_score.base.display import SCREEN_WIDTH, escape_latex, escape_markdown, number_with_noun, one_line, wrap_lines
from cs_score.base.documents import json_text
from cs_score.base.errors import UsageError
from cs_score.base.records import Record, asdict, replace
from cs_score.base.signature import Signature, answered_only_lines
from cs_score.statistics.planning import PowerPlan
from cs_score.statistics.resampling_settings import difference_limits_in_words, limits_in_words, note_sentences
from cs_score.statistics.results import Equivalence, MeasureComparison, SystemComparison
from cs_score.statistics.verdicts import effect_in_words
from cs_score.tables.layout import (
    TOP,
    Column,
    Format,
    Layout,
    Row,
    Table,
    columns,
    headed,
    latex,
    latex_row,
    markdown,
    text_lines,
    tsv,
)


class Printout(Record):
    """The form in which a document of statistics is printed: as tables with sentences below them.

    The table of `main_layout` is also the file for programs; those of `layouts_before` are only for people. `notes`
    returns the sentences from a document. A % in a title is replaced by the measure.
    """

    main_layout: Layout
    notes: Callable[[Any], Iterable[str]]
    layouts_before: tuple[Layout, ...] = ()

    def tables(self, document: Any) -> dict[str, Table]:
        """Return the tables of a document by name; the main table is the last one.

        In their titles, % is replaced by the measure of the document: "Pairs by %" becomes "Pairs by F1".
        """
        table_by_name = {}
        for layout in (*self.layouts_before, self.main_layout):
            # Each table of a split layout has its own title, in which % is replaced by the value of the column
            # `split_by`: "%, B minus A" becomes "F1, B minus A".
            if not layout.split_by:
                layout = replace(layout, title=layout.title.replace("%", str(document.measure)))
            table_by_name[layout.name] = layout.table(document)
        return table_by_name

    def text(self, document: Any, width: int | None) -> str:
        """Return the document as text for people: all tables that have rows, and the sentences.

        The main table is always printed in full, even if it has no rows. `width` is the width of the terminal. If it is
        None, all rows are printed, and cells are not cut.
        """
        table_lines: list[str] = []
        for name, table in self.tables(document).items():
            is_main = name == self.main_layout.name
            if not table.rows and not is_main:
                continue
            most_rows = None if is_main or width is None else TOP  # None: all rows
            table_lines += text_lines(table, most_rows, width)
        without_first_blank = table_lines[1:]  # each table begins with a blank line
        lines = [one_line(line) for line in without_first_blank]
        lines.append("")
        lines += _wrap_sentences(self.notes(document))
        return "\n".join(lines)

    def text_in_format(self, document: Any, format_: str, width: int | None) -> str:
        """Return the document in a format: `text`, `json` or `tsv`. Raises UsageError for any other format."""
        if format_ == "text":
            return self.text(document, width)
        if format_ == "json":
            return json_text(document).removesuffix("\n")
        if format_ == "tsv":
            lines = tsv(self.main_layout.table(document))
            return b"".join(lines).decode().removesuffix("\n")
        raise UsageError(f"this is printed as text, json or tsv, not as {format_}")


# ---- Power


_PLANNED_TESTS: Final = {"t": "paired t", "sign": "exact sign"}


def _power_rows(plan: PowerPlan) -> Iterator[Row]:
    """Yield a row of the table of power for each pair of systems.

    A plan for a given standard deviation has no pairs; it has a single row. Unknown values are 0 or an empty text in
    the plan, and None in the cells.
    """
    for pair_or_plan in plan.pairs or (plan,):
        row: dict[str, Any] = {"measure": plan.measure or None, "units": plan.units or None}
        for key in ("a", "b", "standard_deviation", "differing", "detectable", "needed"):
            value = getattr(pair_or_plan, key, None)  # a plan without pairs has no `a` and `b`
            row[key] = value or None  # 0 stands for an unknown value
        row["test"] = _PLANNED_TESTS[pair_or_plan.test]
        yield row


def _power_sentences(plan: PowerPlan) -> Iterator[str]:
    """Yield the sentences below the table of power: on the tests, the units needed, and the level for several pairs."""
    yield from _test_sentences(plan)
    # The table shows a hyphen where the number of units needed is larger than the largest number of a plan.
    if plan.difference:
        yield f"Needed: units for a difference of {plan.difference:g}; - where a thousand million are too few."
    if len(plan.pairs) > 1:
        alpha = plan.alpha / len(plan.pairs)
        yield f"For the strictest test of all {len(plan.pairs)} pairs by Holm's correction: --alpha {alpha:.2g}."
    yield from note_sentences(plan.notes)


def _test_sentences(plan: PowerPlan) -> Iterator[str]:
    """Yield a sentence on each kind of test in a plan: the exact sign test and the paired t test."""
    # Each pair has its own test. A plan for a given standard deviation has no pairs; the test is in the plan itself.
    tests = {pair.test for pair in plan.pairs} if plan.pairs else {plan.test}
    conditions = f"alpha {plan.alpha:g}, power {plan.power:g}, one pair at a time"
    if "sign" in tests:
        yield f"Exact sign: the two-sided sign test that compare makes of right and wrong units; {conditions}."
    if "t" in tests:
        yield (
            f"Paired t: the two-sided test by which the randomisation test of compare is planned; {conditions}. They "
            "have nearly the same power from 20 units on."
        )


POWER: Final = Printout(
    Layout(
        "power",
        "Smallest difference that is detected, and units that a difference needs",
        (
            *headed(measure="Measure", a="A", b="B"),
            Column("test", "Test", meaning="the test that is planned for"),
            Column("standard_deviation", "Std. dev.", meaning="standard deviation of the units' differences"),
            Column("differing", "Differ", meaning="share of right or wrong units in which the systems differ"),
            Column("units", "Units"),
            Column(
                "detectable", "Detectable", meaning="smallest difference that the test detects with the power asked for"
            ),
            Column("needed", "Needed", meaning="units with which it detects the difference asked for"),
        ),
        _power_rows,
        row_selection="whole",
    ),
    _power_sentences,
)
"""The form in which the plan of a test is printed."""

CURVE: Final = Layout(
    "curve", "Power by units and difference:", columns("units", "difference", "power"), lambda power: power.curve
)
"""The table with the points of the power curves."""

# ---- Tables of comparisons


def _system_rows(comparisons: Iterable[MeasureComparison]) -> Iterator[dict[str, Any]]:
    """Yield a row for each system under each measure, with the keys of `SYSTEMS`.

    Each of the `comparisons` compares the systems by one measure. If a system has no value of the measure, it has no
    rank, and its row has only a note.
    """
    for comparison in comparisons:
        for entry in comparison.systems:
            row = asdict(entry)
            row["measure"] = comparison.measure
            row["ranks"] = f"{entry.rank_low}-{entry.rank_high}"
            row["note"] = entry.note or None
            yield row
        for name in comparison.unranked or ():
            yield {"measure": comparison.measure, "name": name, "note": "no value of this measure, so no rank"}


def _equivalence_cells(equivalence: Equivalence | None) -> dict[str, Any]:
    """Return the cells about the test of equivalence of a pair, by column: `{"equivalent": "yes", ...}`.

    If there was no such test, there are no cells. If no unit differs, or if all units differ by the same amount, no
    p-value is needed; its cell gives the reason instead.
    """
    if equivalence is None:
        return {}
    p_or_reason = equivalence.reason if equivalence.p is None else equivalence.p
    return {
        "p_equivalence": p_or_reason,
        "p_equivalence_adjusted": equivalence.p_adjusted,
        "equivalent": "yes" if equivalence.equivalent else "no",
    }


def _pair_rows(comparisons: Iterable[MeasureComparison]) -> Iterator[dict[str, Any]]:
    """Yield a row for each pair of systems under each measure, with the keys of `PAIRS`.

    Each of the `comparisons` compares the systems by one measure. The cell "units" has the numbers of units that B
    wins, ties and loses: "3/1/2". If a pair was tested for equivalence, its row also has cells about this test.
    """
    for comparison in comparisons:
        for pair in comparison.pairs:
            row = asdict(pair)
            row.update(_equivalence_cells(pair.equivalence))
            row["measure"] = comparison.measure
            row["units"] = None if pair.wins is None else f"{pair.wins}/{pair.ties}/{pair.losses}"
            row["note"] = pair.note or None
            yield row


def _table_of_measure(layout: Layout, measure_comparison: MeasureComparison) -> Table:
    """Return the table of a measure in a layout; if the measure is exploratory, the title says so.

    The name of the measure replaces % in the title of the layout: "%, B minus A".
    """
    if measure_comparison.exploratory:
        layout = replace(layout, title=layout.title.replace("%", "% (exploratory)"))
    return layout.table([measure_comparison])


SYSTEMS: Final = Layout(
    "systems",
    "%",
    (
        Column("measure"),
        Column("tier", "Tier", meaning="systems of one tier do not differ significantly from the best of it"),
        Column("rank", "Rank"),
        Column("ranks", "Ranks", meaning="its range over the resamples, without the extremes"),
        *headed(name="System", score="Score", low="Low", high="High", note="Note"),
    ),
    _system_rows,
    split_by="measure",
    row_selection="whole",
    max_text_length=200,
)

PAIRS: Final = Layout(
    "pairs",
    "%, B minus A",
    (
        Column("measure"),
        *headed(a="A", b="B"),
        Column("difference", "B - A", Format.GAIN, "the score of B minus that of A"),
        Column("low", "Low", Format.GAIN),
        Column("high", "High", Format.GAIN),
        Column("p", "p", Format.P, "of the difference, of this pair by itself"),
        Column("p_adjusted", "p adj.", Format.P, "corrected for all tests of the family"),
        Column("p_equivalence", "p (equiv.)", Format.P),
        Column("p_equivalence_adjusted", "Holm", Format.P),
        Column("equivalent", "Equivalent"),
        Column(
            "effect_size", "Effect", Format.GAIN, "the difference over the standard deviation of the units' differences"
        ),
        Column("wins", "Wins", meaning="units that add to the difference; missing where a score is undefined"),
        *headed(ties="Ties", losses="Losses", note="Note"),
        Column("units", "W/T/L", meaning="units that B wins, ties and loses"),
    ),
    _pair_rows,
    shown_keys=(
        "a",
        "b",
        "difference",
        "low",
        "high",
        "p",
        "p_adjusted",
        "p_equivalence",
        "p_equivalence_adjusted",
        "equivalent",
        "effect_size",
        "wins",
        "ties",
        "losses",
        "note",
    ),
    split_by="measure",
    row_selection="whole",
    max_text_length=200,
)


def _rows_of_all(comparison: SystemComparison) -> Iterator[Row]:
    """Yield a whole comparison as the rows of one table; the column `kind` has the kind of row, such as "system".

    The rows of each measure come first. They are followed by explanations, notes and signatures, which are about all
    measures.
    """
    for measure_comparison in comparison.measures:
        yield from _rows_of_measure(measure_comparison)
    for sentence in explanation(comparison):
        yield {"kind": "explanation", "note": sentence}
    for note in comparison.notes:
        yield {"kind": "note", "note": note.text}
    for system, signature in comparison.signatures.items():
        yield {"kind": "signature", "name": system, "note": signature}


def _rows_of_measure(measure_comparison: MeasureComparison) -> Iterator[Row]:
    """Yield the rows of a measure: the family of tests, the systems, the pairs, the verdict and the notes.

    A measure is exploratory if it is not the primary measure, on which the comparison's conclusion rests.
    """
    is_exploratory = str(measure_comparison.exploratory).lower()  # "true" or "false"
    cells_of_measure = {"measure": measure_comparison.measure, "exploratory": is_exploratory}
    tests_in_words = measure_comparison.tests_in_words  # such as "max-T over 3 systems, 3 pairs, 10,000 sign flips, F1"
    yield {**asdict(measure_comparison.family), **cells_of_measure, "kind": "family", "note": tests_in_words}
    for row in _system_rows([measure_comparison]):
        yield {**row, **cells_of_measure, "kind": "system"}
    for row in _pair_rows([measure_comparison]):
        yield {**row, **cells_of_measure, "kind": "pair"}
    yield {**cells_of_measure, "kind": "verdict", "note": measure_comparison.verdict}
    for note in measure_comparison.notes:
        yield {**cells_of_measure, "kind": "note", "note": note.text}


WHOLE: Final = Layout(
    "comparison",
    "",
    columns(
        "measure",
        "exploratory",
        "kind",
        "name",
        "score",
        "a",
        "b",
        "difference",
        "low",
        "high",
        "rank",
        "rank_low",
        "rank_high",
        "tier",
        "p",
        "p_adjusted",
        "standard_deviation",
        "effect_size",
        "p_equivalence",
        "p_equivalence_adjusted",
        "equivalent",
        "wins",
        "ties",
        "losses",
        "correction",
        "pairs",
        "permutations",
        "clusters",
        "note",
    ),
    _rows_of_all,
)
"""The table of a whole comparison, with the keys of its JSON as columns.

Its column `kind` is `family`, `system`, `pair`, `verdict`, `note`, `explanation` or `signature`.
"""


# ---- Sentences about comparisons


def explanation(comparison: SystemComparison) -> tuple[str, ...]:
    """Return the sentences that explain the tables of a comparison, without escapes of any format."""
    settings = comparison.resampling
    sentences = [_systems_sentence(comparison)]
    sentences += _limit_sentences(comparison)
    sentences.append(f"Ranks: central {settings.confidence:g} % of the ranks over the resamples.")
    if not settings.baseline:
        sentences.append(_tier_sentence(comparison))
    sentences.append(_p_sentence(comparison.primary))
    sentences.append(
        "Effect: B - A over the standard deviation of the units' differences. Wins, Ties, Losses: units that speak for "
        "B, for neither, for A."
    )
    sentences += _equivalence_sentences(comparison)
    sentences += answered_only_lines(comparison.origins)
    return tuple(sentences)


def _p_sentence(measure_comparison: MeasureComparison) -> str:
    """Return the sentence on the p-values of pairs: by which test they are, and how they are adjusted."""
    test = "the exact sign test" if measure_comparison.family.test == "sign" else "randomisation"
    return f"p: two-sided, by {test}; adjusted: {measure_comparison.tests_in_words}."


def _systems_sentence(comparison: SystemComparison) -> str:
    """Return the sentence with the numbers of systems and units, such as `3 systems on 20 claims.`"""
    units = number_with_noun(comparison.units, comparison.resampling.unit)
    return f"{len(comparison.systems)} systems on {units}."


def _limit_sentences(comparison: SystemComparison) -> list[str]:
    """Return sentences on the method and the level of the confidence limits of scores and of differences."""
    limits_of_scores = limits_in_words(comparison.resampling, comparison.units)
    limits_of_differences = difference_limits_in_words(comparison.resampling, comparison.units)
    sentences = [f"Low and High: {limits_of_scores}."]
    if limits_of_differences != limits_of_scores:
        sentences.append(f"Low and High of B - A: {limits_of_differences}.")
    if comparison.primary.family.pairs > 1:
        sentences.append(
            "Limits are those of each system and each pair by itself: they are not corrected for several pairs."
        )
    return sentences


def _tier_sentence(comparison: SystemComparison) -> str:
    """Return the sentence that explains the tiers: groups of systems that do not differ from the best of the group."""
    codes_of_notes = {note.code for note in comparison.notes}
    if "NEVER_SIGNIFICANT" in codes_of_notes:
        return "Tier: one for all, since no difference could have been significant; it says nothing about the systems."
    return (
        "Tier: systems that do not differ significantly from the best of the tier (corrected p above "
        f"{comparison.resampling.significance_level:g}); the first that does opens the next one."
    )


def _equivalence_sentences(comparison: SystemComparison) -> list[str]:
    """Return a list with the text that explains the tests of equivalence, or an empty list if there are none.

    For example: "p (equiv.): the larger p of two one-sided tests that the systems differ by 0.01 or more ...". The
    word "tests" is followed by the method of the tests, if it has a name.
    """
    equivalences: list[Equivalence] = []
    for measure_comparison in comparison.measures:
        equivalences += [pair.equivalence for pair in measure_comparison.pairs if pair.equivalence]
    if not equivalences:
        return []
    method = _equivalence_method(equivalences)
    margin = equivalences[0].margin  # the same for all pairs
    significance_level = comparison.resampling.significance_level
    return [
        f"p (equiv.): the larger p of two one-sided tests{method} that the systems differ by {margin:g} or more, also "
        f"with Holm's correction; up to {significance_level:g} they are equivalent within {margin:g}. Where no unit "
        "differs, or all by the same, no test is needed."
    ]


def _equivalence_method(equivalences: Iterable[Equivalence]) -> str:
    """Return the tests of equivalence that were made: " by Nam's score test ..."; an empty text if none was needed."""
    tests = {equivalence.test for equivalence in equivalences if equivalence.p is not None}
    names_of_tests = [name for test, name in _EQUIVALENCE_TESTS.items() if test in tests]
    return f" by {' and '.join(names_of_tests)}" if names_of_tests else ""


_EQUIVALENCE_TESTS: Final = {
    "score": "Nam's score test (right or wrong units)",
    "t": "t tests of what units contribute (graded units)",
}
"""The names of the tests of equivalence."""

# ---- A comparison on a screen


def comparison_screen(comparison: SystemComparison, most_rows: int = 10) -> str:
    """Return a comparison as text for one screen.

    For each measure, the text has the systems by rank, the pairs that differ significantly, and sentences that explain
    them. The signatures follow. At most `most_rows` systems, pairs and signatures are shown.
    """
    equivalence_sentences = _equivalence_sentences(comparison)
    lines: list[str] = []
    for measure_comparison in comparison.measures:
        lines += _measure_on_screen(measure_comparison, comparison.resampling.significance_level, most_rows)
        if equivalence_sentences:
            # The sentences are the same for all measures. They are repeated below each table that they explain.
            lines += text_lines(_EQUIVALENT_PAIRS_ON_SCREEN.table([measure_comparison]), most_rows, SCREEN_WIDTH)
            lines += _wrap_sentences(equivalence_sentences)
    # Explanations for all measures, each after a blank line.
    for paragraph in _paragraphs_on_screen(comparison):
        lines.append("")
        lines += wrap_lines(one_line(paragraph))
    lines += _signatures_on_screen(comparison, most_rows)
    # The first line is left out: it is blank, because `text_lines` puts a blank line above each table.
    return "\n".join(lines[1:]) + "\n"


_SYSTEMS_ON_SCREEN: Final = replace(
    SYSTEMS, shown_keys=("tier", "rank", "name", "score", "low", "high"), row_selection="top"
)
"""The table of systems for one screen, which has fewer columns."""

_EQUIVALENT_PAIRS_ON_SCREEN: Final = replace(
    PAIRS,
    title="%, tests of equivalence:",
    shown_keys=("a", "b", "difference", "p_equivalence", "p_equivalence_adjusted", "equivalent"),
    row_selection="top",
)
"""The table of pairs with their tests of equivalence for one screen."""


def _measure_on_screen(measure_comparison: MeasureComparison, significance_level: float, most_rows: int) -> list[str]:
    """Return the lines of a screen about a measure: its systems, its significantly different pairs, and sentences.

    The significance level is a number such as 0.05. Each table has at most `most_rows` rows.
    """
    lines = list(text_lines(_table_of_measure(_SYSTEMS_ON_SCREEN, measure_comparison), most_rows, SCREEN_WIDTH))
    lines += text_lines(
        _table_of_measure(_pairs_on_screen(measure_comparison, significance_level), measure_comparison),
        most_rows,
        SCREEN_WIDTH,
    )
    lines.append("")
    sentences = [f"Verdict: {measure_comparison.verdict}.", f"Tests: {measure_comparison.tests_in_words}."]
    sentences += _effect_sentences(measure_comparison, significance_level)
    sentences += note_sentences(measure_comparison.notes)
    return lines + _wrap_sentences(sentences)


def _signatures_on_screen(comparison: SystemComparison, most_rows: int) -> list[str]:
    """Return a blank line and up to `most_rows` signatures, or no lines if there are no signatures.

    The signatures do not name a run, so runs with the same inputs and options share one line.
    """
    shared_signatures = []
    for signature in comparison.signatures.values():
        signature_of_all_runs = Signature.parse(signature).of_all_runs()
        shared_signatures.append(str(signature_of_all_runs))
    distinct_signatures = list(dict.fromkeys(shared_signatures))
    if not distinct_signatures:
        return []
    return ["", *[f"signature  {one_line(signature)}" for signature in distinct_signatures[:most_rows]]]


def _paragraphs_on_screen(comparison: SystemComparison) -> list[str]:
    """Return the paragraphs below the tables of a screen: on systems and limits, tiers, notes and further options."""
    systems_and_limits = [_systems_sentence(comparison)]
    systems_and_limits += _limit_sentences(comparison)
    paragraphs = [" ".join(systems_and_limits)]
    # With a baseline, only pairs with the baseline are tested, so there are no tiers.
    if not comparison.resampling.baseline:
        paragraphs.append(_tier_sentence(comparison))
    paragraphs += answered_only_lines(comparison.origins)
    paragraphs += note_sentences(comparison.notes)
    paragraphs.append(
        "--all shows every measure, system and pair with how each number was found; --format json has all of it."
    )
    return paragraphs


def _wrap_sentences(sentences: Iterable[str]) -> list[str]:
    """Return sentences as lines that fit on a screen; each sentence begins a new line."""
    lines: list[str] = []
    for sentence in sentences:
        lines += wrap_lines(one_line(sentence))
    return lines


def _pairs_on_screen(measure_comparison: MeasureComparison, significance_level: float) -> Layout:
    """Return the layout of the table of pairs for one screen, which shows the first rows of a long table.

    If there is only one pair, the table shows it. If there are several, the table shows those whose corrected p is at
    most the level, and is left out if there are none. A % in the title is replaced by the measure when the table is
    printed.
    """
    if len(measure_comparison.pairs) == 1:
        return replace(PAIRS, shown_keys=("a", "b", "difference", "low", "high", "p_adjusted"), row_selection="top")
    return replace(
        PAIRS,
        title="%, B minus A, pairs that differ significantly:",
        shown_keys=("a", "b", "difference", "low", "high", "p_adjusted", "effect_size", "units"),
        # The layout's method `table` calls `rows` later, with a list of the comparisons by each measure.
        rows=lambda comparisons: [row for row in _pair_rows(comparisons) if row["p_adjusted"] <= significance_level],
        min_rows=1,
        row_selection="top",
    )


def _effect_sentences(measure_comparison: MeasureComparison, significance_level: float) -> list[str]:
    """Return a list with the sentence below the table of pairs: on the effect of a single pair, or on the columns.

    The list is empty if there are several pairs but none of them differs significantly (p is above the level). It is
    also empty if there is only one pair, and its wins and losses are not known.
    """
    # The table of a single pair has no columns of effects, so a sentence says its effect. Several pairs have these
    # columns.
    if len(measure_comparison.pairs) == 1:
        pair = measure_comparison.pairs[0]
        if pair.wins is None or pair.ties is None or pair.losses is None:
            return []
        effect = effect_in_words(pair.b, pair.wins, pair.ties, pair.losses, pair.effect_size)
        return [f"{effect}."]
    has_significant_pair = any(pair.p_adjusted <= significance_level for pair in measure_comparison.pairs)
    if not has_significant_pair:
        return []
    return [
        "Effect: B - A over the standard deviation of the units' differences; W/T/L: units that B wins, ties and loses."
    ]


# ---- The table of a paper


def paper_table(comparison: SystemComparison) -> str:
    """Return the LaTeX table of a comparison for a paper: a row for each system, and a column for each measure.

    The first row is the baseline or, if there is none, the first system. A cell has the score with its interval, and a
    star if the score differs significantly from the score in the first row. A comment above the table has the text for
    its caption.
    """
    reference = comparison.resampling.baseline or comparison.systems[0]
    others = [system for system in comparison.systems if system != reference]
    headings = [escape_latex(measure_comparison.measure) for measure_comparison in comparison.measures]
    alignment = "l" * (1 + len(headings))
    lines = [
        f"% {_caption(comparison, reference)}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        latex_row(["System", *headings]),
        r"\midrule",
    ]
    lines += [_paper_row(comparison, system, reference) for system in (reference, *others)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _paper_row(comparison: SystemComparison, system: str, reference: str) -> str:
    """Return the row of a system in the table for a paper; `reference` is the system in the first row."""
    significance_level = comparison.resampling.significance_level
    cells = [
        _paper_cell(measure_comparison, system, reference, significance_level)
        for measure_comparison in comparison.measures
    ]
    return latex_row([escape_latex(system), *cells])


def _paper_cell(measure_comparison: MeasureComparison, system: str, reference: str, significance_level: float) -> str:
    """Return a cell of the table for a paper: the score of a system, perhaps with a star, and its interval.

    For example `$0.4125^{*}$ $[0.3811, 0.4402]$`. The cell of a system without a value of the measure is a hyphen.
    """
    entry_by_system = {entry.name: entry for entry in measure_comparison.systems}
    entry = entry_by_system.get(system)
    if entry is None:
        return "-"
    star = "^{*}" if _differs(measure_comparison, system, reference, significance_level) else ""
    score = f"${entry.score:.4f}{star}$"
    if entry.low is None or entry.high is None:
        return score
    return f"{score} $[{entry.low:.4f}, {entry.high:.4f}]$"


def _differs(measure_comparison: MeasureComparison, system: str, reference: str, significance_level: float) -> bool:
    """Return whether two systems differ significantly: the corrected p of their pair is at most the level.

    If `system` is the `reference` itself, the result is False.
    """
    for pair in measure_comparison.pairs:
        if {pair.a, pair.b} == {system, reference}:
            return pair.p_adjusted <= significance_level
    return False


def _caption(comparison: SystemComparison, reference: str) -> str:
    """Return the text for the caption of the table on one line: level, method, units, and families of tests."""
    settings = comparison.resampling
    tests_in_words = "; ".join([measure_comparison.tests_in_words for measure_comparison in comparison.measures])
    note_on_families = "one family for each measure: " if len(comparison.measures) > 1 else ""
    has_hyphens = any(measure_comparison.unranked for measure_comparison in comparison.measures)
    note_on_hyphens = "; - has no value of the measure" if has_hyphens else ""
    tests = f"level {settings.significance_level:g}, {note_on_families}{tests_in_words}"
    return one_line(
        f"Scores with {limits_in_words(settings, comparison.units)}, in brackets; * differs significantly from "
        f"{reference} ({tests}){note_on_hyphens}. The table needs the package booktabs."
    )


# ---- A comparison in all formats


class _Format:
    """A format for writing a comparison: its headings, tables, sentences and signatures."""

    first_lines: tuple[str, ...] = ()
    """The first lines of a file."""

    lines_between: tuple[str, ...] = ()
    """The lines that come before the explanation, and again before the signatures."""

    @abstractmethod
    def heading(self, title: str) -> list[str]:
        """Return the lines of the heading of a measure; its text is `title`."""

    @abstractmethod
    def table(self, table: Table) -> list[str]:
        """Return the lines of a table."""

    @abstractmethod
    def sentence(self, sentence: str) -> str:
        """Return a sentence as a line."""

    @abstractmethod
    def signature(self, system: str, signature: str) -> list[str]:
        """Return the lines of the signature of a system."""

    def write(self, comparison: SystemComparison) -> str:
        """Return a comparison as the text of a file.

        For each measure, the text has the tables of systems and pairs, and sentences about them. They are followed by
        the explanation and the signatures.
        """
        lines = list(self.first_lines)
        for measure_comparison in comparison.measures:
            lines += self._lines_of_measure(measure_comparison)
        lines += self.lines_between
        sentences = [*explanation(comparison), *note_sentences(comparison.notes)]
        lines += [self.sentence(sentence) for sentence in sentences]
        if comparison.signatures:
            lines += self.lines_between
        for system, signature in comparison.signatures.items():
            lines += self.signature(system, signature)
        # In plain text, the tables of the first measure begin with an empty line, which the file must not have.
        return "\n".join(lines).removeprefix("\n") + "\n"

    def _lines_of_measure(self, measure_comparison: MeasureComparison) -> list[str]:
        """Return the lines about a measure: its heading, the tables of systems and of pairs, and sentences."""
        lines = self.heading(measure_comparison.title)
        lines += self.table(_table_of_measure(SYSTEMS, measure_comparison))
        lines += self.table(_table_of_measure(PAIRS, measure_comparison))
        sentences = [f"Verdict: {measure_comparison.verdict}.", f"Tests: {measure_comparison.tests_in_words}."]
        sentences += note_sentences(measure_comparison.notes)
        return lines + [self.sentence(sentence) for sentence in sentences]


class _Text(_Format):
    """Plain text. It needs no headings, because the titles of tables name the measure."""

    lines_between = ("",)

    def heading(self, title: str) -> list[str]:
        return []

    def table(self, table: Table) -> list[str]:
        return list(text_lines(table))

    def sentence(self, sentence: str) -> str:
        return one_line(sentence)

    def signature(self, system: str, signature: str) -> list[str]:
        return [one_line(f"{system}: {signature}")]


class _Markdown(_Format):
    """Markdown. Sentences are escaped, because they may have names from input files."""

    def heading(self, title: str) -> list[str]:
        return [f"### {escape_markdown(title)}", ""]

    def table(self, table: Table) -> list[str]:
        return [*markdown(table), ""]

    def sentence(self, sentence: str) -> str:
        return f"- {escape_markdown(sentence)}"

    def signature(self, system: str, signature: str) -> list[str]:
        return [f"- {escape_markdown(system)}: `{signature}`"]


class _Latex(_Format):
    """LaTeX, for the package booktabs."""

    first_lines = (r"% \usepackage{booktabs}",)

    def heading(self, title: str) -> list[str]:
        return [rf"\paragraph{{{escape_latex(title)}}}", ""]

    def table(self, table: Table) -> list[str]:
        return [*latex(table), ""]

    def sentence(self, sentence: str) -> str:
        return escape_latex(sentence)

    def signature(self, system: str, signature: str) -> list[str]:
        return ["", escape_latex(f"{system}: {signature}")]


def _tsv_text(comparison: SystemComparison) -> str:
    """Return the whole comparison as one table of tab-separated values."""
    lines = tsv(WHOLE.table(comparison))
    return b"".join(lines).decode()


WRITERS: Final[dict[str, Callable[[SystemComparison], str]]] = {
    "text": _Text().write,
    "json": json_text,
    "tsv": _tsv_text,
    "markdown": _Markdown().write,
    "latex": _Latex().write,
}
"""The functions that write a comparison, by format; every text ends with a line feed."""
