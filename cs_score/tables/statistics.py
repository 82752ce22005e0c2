"""What is said of test sets, pools and comparisons: tables with notes below them. What is written computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from cs_score.base.display import SCREEN, escape_latex, escape_markdown, one_line, wrap_lines
from cs_score.base.documents import json_text
from cs_score.base.errors import UsageError
from cs_score.base.records import Record, asdict, replace
from cs_score.base.signature import Signature, answered_lines
from cs_score.statistics.options import difference_limits_in_words, limits_in_words, note_sentences
from cs_score.statistics.planning import Power
from cs_score.statistics.results import Comparison, Equivalence, MeasureComparison
from cs_score.statistics.units import with_noun
from cs_score.statistics.verdicts import effect_in_words
from cs_score.tables.layout import TOP, Column, Format, Layout, Row, Table, columns, headed, latex, markdown, text, tsv


class Printout(Record):
    """How a document of statistics is printed: tables with sentences below them.

    Files for programs have the `main` table alone, people see those `before` it, too. In titles % is the measure.
    """

    main: Layout
    notes: Callable[[Any], Iterable[str]]
    before: tuple[Layout, ...] = ()

    def tables(self, found: Any) -> dict[str, Table]:
        """Its tables by name, the main one last."""
        return {
            layout.name: replace(layout, title=title).table(found)
            for layout in (*self.before, self.main)
            for title in [layout.title if layout.by else layout.title.replace("%", str(found.measure))]
        }

    def text(self, found: Any, width: int | None) -> str:
        """Return it for people, in lines of at most `width` columns; None: cells of tables are whole."""
        lines: list[str] = []
        for name, table in self.tables(found).items():
            is_before = name != self.main.name
            if table.rows or not is_before:
                lines += text(table, TOP if is_before and width is not None else None, width)
        notes = [part for note in self.notes(found) for part in wrap_lines(one_line(note))]
        return "\n".join((*map(one_line, lines[1:]), "", *notes))

    def written(self, found: Any, format_: str, width: int | None) -> str:
        """As `text`, `json` or `tsv`. Raises UsageError for another format."""
        if format_ == "text":
            return self.text(found, width)
        if format_ == "json":
            return json_text(found).removesuffix("\n")
        if format_ == "tsv":
            return b"".join(tsv(self.main.table(found))).decode().removesuffix("\n")
        raise UsageError(f"this is printed as text, json or tsv, not as {format_}")


_PLANNED_TESTS: Final = {"t": "paired t", "sign": "exact sign"}


def _designs(power: Power) -> Iterator[Row]:
    """Yield a row for each pair, or one for all where a standard deviation was given."""
    keys = ("a", "b", "standard_deviation", "differing", "detectable", "needed")
    for design in power.pairs or (power,):
        row = {key: getattr(design, key, None) or None for key in keys}
        about = {"measure": power.measure or None, "units": power.units or None, "test": _PLANNED_TESTS[design.test]}
        yield {**row, **about}


def _of_power(power: Power) -> Iterator[str]:
    tests = {design.test for design in power.pairs or (power,)}
    at = f"alpha {power.alpha:g}, power {power.power:g}, one pair at a time"
    if "sign" in tests:
        yield f"Exact sign: the two-sided sign test that compare makes of right and wrong units; {at}."
    if "t" in tests:
        yield (
            f"Paired t: the two-sided test by which the randomisation test of compare is planned; {at}. They have "
            "nearly the same power from 20 units on."
        )
    if power.difference:
        yield f"Needed: units for a difference of {power.difference:g}; - where a thousand million are too few."
    if len(power.pairs) > 1:
        alpha = power.alpha / len(power.pairs)
        yield f"For the strictest test of all {len(power.pairs)} pairs by Holm's correction: --alpha {alpha:.2g}."
    yield from note_sentences(power.notes)


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
        _designs,
        most="whole",
    ),
    _of_power,
)

CURVE: Final = Layout(
    "curve", "Power by units and difference:", columns("units", "difference", "power"), lambda found: found.curve
)


def _systems(measures: Iterable[MeasureComparison]) -> Iterator[dict[str, Any]]:
    for measure in measures:
        for entry in measure.systems:
            ranks = f"{entry.rank_low}-{entry.rank_high}"
            yield {**asdict(entry), "measure": measure.measure, "ranks": ranks, "note": entry.note or None}
        for name in measure.unranked or ():
            yield {"measure": measure.measure, "name": name, "note": "no value of this measure, so no rank"}


def _equivalence(equivalence: Equivalence | None) -> dict[str, Any]:
    """Return the cells of a test of equivalence; where none was needed the reason stands in the place of a p-value."""
    if equivalence is None:
        return {}
    p: float | str | None = equivalence.p
    return {
        "p_equivalence": equivalence.reason if p is None else p,
        "p_equivalence_adjusted": equivalence.p_adjusted,
        "equivalent": "yes" if equivalence.equivalent else "no",
    }


def _pairs(measures: Iterable[MeasureComparison]) -> Iterator[dict[str, Any]]:
    for measure in measures:
        for pair in measure.pairs:
            units = None if pair.wins is None else f"{pair.wins}/{pair.ties}/{pair.losses}"
            about = {"measure": measure.measure, "units": units, "note": pair.note or None}
            yield {**asdict(pair), **_equivalence(pair.equivalence), **about}


def _titled(layout: Layout, measure: MeasureComparison) -> Table:
    title = layout.title.replace("%", "% (exploratory)") if measure.exploratory else layout.title
    return replace(layout, title=title).table([measure])


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
    _systems,
    by="measure",
    most="whole",
    longest=200,
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
    _pairs,
    shown=(
        *("a", "b", "difference", "low", "high", "p", "p_adjusted", "p_equivalence", "p_equivalence_adjusted"),
        *("equivalent", "effect_size", "wins", "ties", "losses", "note"),
    ),
    by="measure",
    most="whole",
    longest=200,
)


def _whole(comparison: Comparison) -> Iterator[Row]:
    """Per measure its family, a row for each system and for each pair; last notes, and signatures in their column."""
    for measure in comparison.measures:
        own = {"measure": measure.measure, "exploratory": str(measure.exploratory).lower()}
        yield {**own, "kind": "family", **asdict(measure.family), "note": measure.tests}
        yield from ({**row, **own, "kind": "system"} for row in _systems([measure]))
        yield from ({**row, **own, "kind": "pair"} for row in _pairs([measure]))
        yield {**own, "kind": "verdict", "note": measure.verdict}
        yield from ({**own, "kind": "note", "note": note.text} for note in measure.notes)
    yield from ({"kind": "explanation", "note": sentence} for sentence in explanation(comparison))
    yield from ({"kind": "note", "note": note.text} for note in comparison.notes)
    for system, signature in comparison.signatures.items():
        yield {"kind": "signature", "name": system, "note": signature}


WHOLE: Final = Layout(
    "comparison",
    "",
    columns(
        *("measure", "exploratory", "kind", "name", "score", "a", "b", "difference", "low", "high"),
        *("rank", "rank_low", "rank_high", "tier", "p", "p_adjusted", "standard_deviation", "effect_size"),
        *("p_equivalence", "p_equivalence_adjusted", "equivalent", "wins", "ties", "losses"),
        *("correction", "pairs", "permutations", "clusters", "note"),
    ),
    _whole,
)
"""All of it, with the keys of JSON: `kind` is `family`, `system`, `pair`, `verdict`, `note`, `explanation` or
`signature`.
"""


def explanation(comparison: Comparison) -> tuple[str, ...]:
    """Return the sentences that a reader of the tables needs, each unescaped."""
    settings, primary = comparison.resampling, comparison.primary
    sentences_of_tables = [
        f"{len(comparison.systems)} systems on {with_noun(comparison.units, settings.unit)}.",
        *_of_limits(comparison),
        f"Ranks: central {settings.confidence:g} % of the ranks over the resamples.",
    ]
    if not settings.baseline:
        sentences_of_tables.append(_of_tiers(comparison))
    test = "the exact sign test" if primary.family.test == "sign" else "randomisation"
    sentences_of_tables += [
        f"p: two-sided, by {test}; adjusted: {primary.tests}.",
        "Effect: B - A over the standard deviation of the units' differences. Wins, Ties, Losses: units that speak for "
        "B, for neither, for A.",
    ]
    return (*sentences_of_tables, *_of_equivalence(comparison), *answered_lines(comparison.origins))


def _of_limits(comparison: Comparison) -> list[str]:
    """Return how the limits of scores and of differences came about."""
    settings, units = comparison.resampling, comparison.units
    of_scores = limits_in_words(settings, units)
    of_differences = difference_limits_in_words(settings, units)
    lines = [f"Low and High: {of_scores}."]
    if of_differences != of_scores:
        lines.append(f"Low and High of B - A: {of_differences}.")
    if comparison.primary.family.pairs > 1:
        lines.append(
            "Limits are those of each system and each pair by itself: they are not corrected for several pairs."
        )
    return lines


def _of_tiers(comparison: Comparison) -> str:
    """Return what a tier is."""
    if any(note.code == "NEVER_SIGNIFICANT" for note in comparison.notes):
        return "Tier: one for all, since no difference could have been significant; it says nothing about the systems."
    return (
        "Tier: systems that do not differ significantly from the best of the tier (corrected p above "
        f"{comparison.resampling.level:g}); the first that does opens the next one."
    )


def _of_equivalence(comparison: Comparison) -> list[str]:
    """Return a sentence on the tests of equivalence, which names them; none where there are none."""
    found = [pair.equivalence for each in comparison.measures for pair in each.pairs if pair.equivalence]
    if not found:
        return []
    margin = found[0].margin
    tests = {equivalence.test for equivalence in found if equivalence.p is not None}
    names = [name for test, name in _EQUIVALENCE_TESTS.items() if test in tests]
    by = f" by {' and '.join(names)}" if names else ""
    return [
        f"p (equiv.): the larger p of two one-sided tests{by} that the systems differ by {margin:g} or more, also with "
        f"Holm's correction; up to {comparison.resampling.level:g} they are equivalent within {margin:g}. Where no "
        "unit differs, or all by the same, no test is needed."
    ]


_EQUIVALENCE_TESTS: Final = {
    "score": "Nam's score test (right or wrong units)",
    "t": "t tests of what units contribute (graded units)",
}


def comparison_screen(comparison: Comparison, top: int = 10) -> str:
    """Return what a screen holds: systems by rank, pairs that differ, what to know of them, and the signatures.

    Of systems, pairs and signatures at most `top` are shown.
    """
    systems = replace(SYSTEMS, shown=("tier", "rank", "name", "score", "low", "high"), most="top")
    equal = replace(
        PAIRS,
        title="%, tests of equivalence:",
        shown=("a", "b", "difference", "p_equivalence", "p_equivalence_adjusted", "equivalent"),
        most="top",
    )
    of_equivalence, level = _of_equivalence(comparison), comparison.resampling.level
    lines: list[str] = []
    for measure in comparison.measures:
        lines += text(_titled(systems, measure), top, SCREEN)
        lines += text(_titled(_pairs_on_screen(measure, level), measure), top, SCREEN)
        about = [f"Verdict: {measure.verdict}.", f"Tests: {measure.tests}.", *_of_effects(measure, level)]
        lines += ["", *_wrapped_all([*about, *note_sentences(measure.notes)])]
        if of_equivalence:
            lines += text(equal.table([measure]), top, SCREEN)
            lines += _wrapped_all(of_equivalence)
    first, *_ = explanation(comparison)
    about_all = [" ".join([first, *_of_limits(comparison)])]
    if not comparison.resampling.baseline:
        about_all.append(_of_tiers(comparison))
    about_all += answered_lines(comparison.origins)
    about_all += note_sentences(comparison.notes)
    about_all.append(
        "--all shows every measure, system and pair with how each number was found; --format json has all of it."
    )
    for sentence in about_all:
        lines += ["", *wrap_lines(one_line(sentence))]
    common = dict.fromkeys(str(Signature.parse(each).of_all_runs()) for each in comparison.signatures.values())
    if common:
        lines += ["", *(f"signature  {one_line(signature)}" for signature in list(common)[:top])]
    return "\n".join(lines[1:]) + "\n"


def _wrapped_all(sentences_of_text: Iterable[str]) -> list[str]:
    """Return sentences as lines that fit on a screen."""
    return [line for sentence in sentences_of_text for line in wrap_lines(one_line(sentence))]


def _pairs_on_screen(measure: MeasureComparison, level: float) -> Layout:
    """Return the table of pairs for a screen: the only one, or those of several that differ significantly."""
    if len(measure.pairs) == 1:
        return replace(PAIRS, shown=("a", "b", "difference", "low", "high", "p_adjusted"), most="top")
    return replace(
        PAIRS,
        title="%, B minus A, pairs that differ significantly:",
        shown=("a", "b", "difference", "low", "high", "p_adjusted", "effect_size", "units"),
        rows=lambda measures: [row for row in _pairs(measures) if row["p_adjusted"] <= level],
        fewest=1,
        most="top",
    )


def _of_effects(measure: MeasureComparison, level: float) -> list[str]:
    """Return the effect of a single pair in words, or what the columns of several pairs mean."""
    if len(measure.pairs) != 1:
        if all(pair.p_adjusted > level for pair in measure.pairs):
            return []
        return [
            "Effect: B - A over the standard deviation of the units' differences; W/T/L: units that B wins, ties and "
            "loses."
        ]
    (pair,) = measure.pairs
    if pair.wins is None or pair.ties is None or pair.losses is None:
        return []
    return [f"{effect_in_words(pair.b, pair.wins, pair.ties, pair.losses, pair.effect_size)}."]


# ---- The table of a paper


def paper_table(comparison: Comparison) -> str:
    """Return one LaTeX `tabular` below one comment: a line for each system, a column for each measure.

    A cell is the score with its interval, and a star where the measure's family finds a difference from the system of
    the first line: the baseline, or the system that was named first. The comment says what a caption has to say.
    """
    reference = comparison.resampling.baseline or comparison.systems[0]
    others = [system for system in comparison.systems if system != reference]
    measures = comparison.measures
    heads = [escape_latex(name) for name in ("System", *(measure.measure for measure in measures))]
    lines = [
        f"% {_caption(comparison, reference)}",
        rf"\begin{{tabular}}{{l{'l' * len(measures)}}}",
        r"\toprule",
        _latex_row(heads),
        r"\midrule",
    ]
    for system in (reference, *others):
        cells = [_paper_cell(measure, system, reference, comparison.resampling.level) for measure in measures]
        lines.append(_latex_row([escape_latex(system), *cells]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _paper_cell(measure: MeasureComparison, system: str, reference: str, level: float) -> str:
    """Return a score with its star and its interval; the score alone where it has no interval."""
    entry = next(entry for entry in measure.systems if entry.name == system)
    star = "^{*}" if _differs(measure, system, reference, level) else ""
    score = f"${entry.score:.4f}{star}$"
    if entry.low is None or entry.high is None:
        return score
    return f"{score} $[{entry.low:.4f}, {entry.high:.4f}]$"


def _differs(measure: MeasureComparison, system: str, reference: str, level: float) -> bool:
    """Return whether the corrected test of the pair of both systems is significant."""
    pairs = [pair for pair in measure.pairs if {pair.a, pair.b} == {system, reference}]
    return any(pair.p_adjusted <= level for pair in pairs)


def _caption(comparison: Comparison, reference: str) -> str:
    """Return one line with level, method, units and families of tests, for the caption of the table."""
    settings = comparison.resampling
    tests = "; ".join(measure.tests for measure in comparison.measures)
    each = "one family for each measure: " if len(comparison.measures) > 1 else ""
    return one_line(
        f"Scores with {limits_in_words(settings, comparison.units)}, in brackets; * differs significantly from "
        f"{reference} (level {settings.level:g}, {each}{tests}). The table needs the package booktabs."
    )


class _Style(Record):
    """How a comparison is laid out in a format: what it begins with, headings, tables, sentences, and signatures."""

    heading: Callable[[str], list[str]]
    table: Callable[[Table], Iterable[str]]
    sentence: Callable[[str], str]
    signature: Callable[[str, str], list[str]]
    first: tuple[str, ...] = ()
    gap: tuple[str, ...] = ()

    def __call__(self, comparison: Comparison) -> str:
        """Two tables and sentences for each measure, then the explanation and the signatures."""
        lines: list[str] = [*self.first]
        for measure in comparison.measures:
            lines += self.heading(measure.title)
            for layout in (SYSTEMS, PAIRS):
                lines += self.table(_titled(layout, measure))
            about = (f"Verdict: {measure.verdict}.", f"Tests: {measure.tests}.", *note_sentences(measure.notes))
            lines += map(self.sentence, about)
        lines += [*self.gap, *map(self.sentence, (*explanation(comparison), *note_sentences(comparison.notes)))]
        lines += self.gap if comparison.signatures else ()
        lines += [line for each in comparison.signatures.items() for line in self.signature(*each)]
        return "\n".join(lines).removeprefix("\n") + "\n"


WRITERS: Final[dict[str, Callable[[Comparison], str]]] = {
    "text": _Style(lambda title: [], text, one_line, lambda *each: [one_line(": ".join(each))], gap=("",)),
    "json": json_text,
    "tsv": lambda comparison: b"".join(tsv(WHOLE.table(comparison))).decode(),
    "markdown": _Style(
        lambda title: [f"### {escape_markdown(title)}", ""],
        lambda table: [*markdown(table), ""],
        lambda sentence: f"- {escape_markdown(sentence)}",  # notes may quote names
        lambda name, signature: [f"- {escape_markdown(name)}: `{signature}`"],
    ),
    "latex": _Style(
        lambda title: [rf"\paragraph{{{escape_latex(title)}}}", ""],
        lambda table: [*latex(table), ""],
        escape_latex,
        lambda *each: ["", escape_latex(": ".join(each))],
        first=(r"% \usepackage{booktabs}",),
    ),
}
"""Format -> writer; every text ends with a line feed."""
