"""The tables and sentences that commands print of comparisons, test sets and pools. Nothing here computes a number."""

from __future__ import annotations

from abc import abstractmethod
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

    Files for programs have the `main` table alone; people see those `before` it, too. `notes` finds the sentences. In
    titles % is the measure.
    """

    main: Layout
    notes: Callable[[Any], Iterable[str]]
    before: tuple[Layout, ...] = ()

    def tables(self, document: Any) -> dict[str, Table]:
        """Return the tables of a document by name, the main one last."""
        table_by_name = {}
        for layout in (*self.before, self.main):
            title = layout.title
            if not layout.by:
                title = title.replace("%", str(document.measure))
            table_by_name[layout.name] = replace(layout, title=title).table(document)
        return table_by_name

    def text(self, document: Any, width: int | None) -> str:
        """Return the document for people, in lines of at most `width` columns; None: cells of tables are whole."""
        lines: list[str] = []
        for name, table in self.tables(document).items():
            is_main = name == self.main.name
            if table.rows or is_main:
                top = None if is_main or width is None else TOP
                lines += text(table, top, width)
        lines = [one_line(line) for line in lines[1:]]  # the first line is blank
        lines.append("")
        lines += _wrapped_all(self.notes(document))
        return "\n".join(lines)

    def written(self, document: Any, format_: str, width: int | None) -> str:
        """Return the document as `text`, `json` or `tsv`. Raises UsageError for another format."""
        if format_ == "text":
            return self.text(document, width)
        if format_ == "json":
            return json_text(document).removesuffix("\n")
        if format_ == "tsv":
            return b"".join(tsv(self.main.table(document))).decode().removesuffix("\n")
        raise UsageError(f"this is printed as text, json or tsv, not as {format_}")


# ---- Power


_PLANNED_TESTS: Final = {"t": "paired t", "sign": "exact sign"}


def _power_rows(power: Power) -> Iterator[Row]:
    """Yield a row for each pair, or one for all if a standard deviation was given."""
    for design in power.pairs or (power,):
        row: dict[str, Any] = {"measure": power.measure or None, "units": power.units or None}
        row["test"] = _PLANNED_TESTS[design.test]
        for key in ("a", "b", "standard_deviation", "differing", "detectable", "needed"):
            row[key] = getattr(design, key, None) or None
        yield row


def _power_sentences(power: Power) -> Iterator[str]:
    """Yield the sentences below the table of power: the tests, their level, and corrections for several pairs."""
    tests = {design.test for design in power.pairs or (power,)}
    conditions = f"alpha {power.alpha:g}, power {power.power:g}, one pair at a time"
    if "sign" in tests:
        yield f"Exact sign: the two-sided sign test that compare makes of right and wrong units; {conditions}."
    if "t" in tests:
        yield (
            f"Paired t: the two-sided test by which the randomisation test of compare is planned; {conditions}. They "
            "have nearly the same power from 20 units on."
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
        _power_rows,
        most="whole",
    ),
    _power_sentences,
)
"""How the power of a test is printed."""

CURVE: Final = Layout(
    "curve", "Power by units and difference:", columns("units", "difference", "power"), lambda power: power.curve
)
"""The table of the points of the power curves."""

# ---- Tables of comparisons


def _system_rows(measures: Iterable[MeasureComparison]) -> Iterator[dict[str, Any]]:
    """Yield a row for each system under each measure; a system without a value of the measure has no rank."""
    for measure in measures:
        for entry in measure.systems:
            ranks = f"{entry.rank_low}-{entry.rank_high}"
            yield {**asdict(entry), "measure": measure.measure, "ranks": ranks, "note": entry.note or None}
        for name in measure.unranked or ():
            yield {"measure": measure.measure, "name": name, "note": "no value of this measure, so no rank"}


def _equivalence_cells(equivalence: Equivalence | None) -> dict[str, Any]:
    """Return the cells of a test of equivalence; if no test was needed, the reason is in the place of a p-value."""
    if equivalence is None:
        return {}
    return {
        "p_equivalence": equivalence.reason if equivalence.p is None else equivalence.p,
        "p_equivalence_adjusted": equivalence.p_adjusted,
        "equivalent": "yes" if equivalence.equivalent else "no",
    }


def _pair_rows(measures: Iterable[MeasureComparison]) -> Iterator[dict[str, Any]]:
    """Yield a row for each pair of systems under each measure."""
    for measure in measures:
        for pair in measure.pairs:
            yield {
                **asdict(pair),
                **_equivalence_cells(pair.equivalence),
                "measure": measure.measure,
                "units": None if pair.wins is None else f"{pair.wins}/{pair.ties}/{pair.losses}",
                "note": pair.note or None,
            }


def _titled(layout: Layout, measure: MeasureComparison) -> Table:
    """Return the table of a measure, whose title says whether the measure is exploratory."""
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
    _system_rows,
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
    _pair_rows,
    shown=(
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
    by="measure",
    most="whole",
    longest=200,
)


def _rows_of_all(comparison: Comparison) -> Iterator[Row]:
    """Yield all of a comparison as rows.

    For each measure the family of tests, the systems, the pairs, the verdict and notes; then explanations, notes and
    signatures of the whole.
    """
    for measure in comparison.measures:
        head = {"measure": measure.measure, "exploratory": str(measure.exploratory).lower()}
        yield {**head, "kind": "family", **asdict(measure.family), "note": measure.tests}
        for row in _system_rows([measure]):
            yield {**row, **head, "kind": "system"}
        for row in _pair_rows([measure]):
            yield {**row, **head, "kind": "pair"}
        yield {**head, "kind": "verdict", "note": measure.verdict}
        for note in measure.notes:
            yield {**head, "kind": "note", "note": note.text}
    for sentence in explanation(comparison):
        yield {"kind": "explanation", "note": sentence}
    for note in comparison.notes:
        yield {"kind": "note", "note": note.text}
    for system, signature in comparison.signatures.items():
        yield {"kind": "signature", "name": system, "note": signature}


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
"""All of it, with the keys of JSON: `kind` is `family`, `system`, `pair`, `verdict`, `note`, `explanation` or
`signature`.
"""


# ---- Sentences about comparisons


def explanation(comparison: Comparison) -> tuple[str, ...]:
    """Return the sentences that a reader of the tables needs, each unescaped."""
    settings = comparison.resampling
    family = comparison.primary.family
    sentences = [f"{len(comparison.systems)} systems on {with_noun(comparison.units, settings.unit)}."]
    sentences += _limit_sentences(comparison)
    sentences.append(f"Ranks: central {settings.confidence:g} % of the ranks over the resamples.")
    if not settings.baseline:
        sentences.append(_tier_sentence(comparison))
    test = "the exact sign test" if family.test == "sign" else "randomisation"
    sentences.append(f"p: two-sided, by {test}; adjusted: {comparison.primary.tests}.")
    sentences.append(
        "Effect: B - A over the standard deviation of the units' differences. Wins, Ties, Losses: units that speak for "
        "B, for neither, for A."
    )
    sentences += _equivalence_sentences(comparison)
    sentences += answered_lines(comparison.origins)
    return tuple(sentences)


def _limit_sentences(comparison: Comparison) -> list[str]:
    """Return how the limits of scores and of differences came about."""
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


def _tier_sentence(comparison: Comparison) -> str:
    """Return what a tier is."""
    if any(note.code == "NEVER_SIGNIFICANT" for note in comparison.notes):
        return "Tier: one for all, since no difference could have been significant; it says nothing about the systems."
    return (
        "Tier: systems that do not differ significantly from the best of the tier (corrected p above "
        f"{comparison.resampling.level:g}); the first that does opens the next one."
    )


def _equivalence_sentences(comparison: Comparison) -> list[str]:
    """Return a sentence on the tests of equivalence, which names them; none if there are none."""
    equivalences = []
    for measure in comparison.measures:
        equivalences += [pair.equivalence for pair in measure.pairs if pair.equivalence]
    if not equivalences:
        return []
    margin = equivalences[0].margin
    tests = {equivalence.test for equivalence in equivalences if equivalence.p is not None}
    names = [name for test, name in _EQUIVALENCE_TESTS.items() if test in tests]
    method = f" by {' and '.join(names)}" if names else ""
    return [
        f"p (equiv.): the larger p of two one-sided tests{method} that the systems differ by {margin:g} or more, also "
        f"with Holm's correction; up to {comparison.resampling.level:g} they are equivalent within {margin:g}. Where "
        "no unit differs, or all by the same, no test is needed."
    ]


_EQUIVALENCE_TESTS: Final = {
    "score": "Nam's score test (right or wrong units)",
    "t": "t tests of what units contribute (graded units)",
}
"""The names of the tests of equivalence."""

# ---- A comparison on a screen


def comparison_screen(comparison: Comparison, top: int = 10) -> str:
    """Return what a screen holds: systems by rank, pairs that differ, what to know of them, and the signatures.

    Of systems, pairs and signatures at most `top` are shown.
    """
    systems = replace(SYSTEMS, shown=("tier", "rank", "name", "score", "low", "high"), most="top")
    equivalent_pairs = replace(
        PAIRS,
        title="%, tests of equivalence:",
        shown=("a", "b", "difference", "p_equivalence", "p_equivalence_adjusted", "equivalent"),
        most="top",
    )
    level = comparison.resampling.level
    equivalence_sentences = _equivalence_sentences(comparison)
    lines: list[str] = []
    for measure in comparison.measures:
        lines += text(_titled(systems, measure), top, SCREEN)
        lines += text(_titled(_pairs_on_screen(measure, level), measure), top, SCREEN)
        sentences = [f"Verdict: {measure.verdict}.", f"Tests: {measure.tests}."]
        sentences += _effect_sentences(measure, level)
        sentences += note_sentences(measure.notes)
        lines += ["", *_wrapped_all(sentences)]
        if equivalence_sentences:
            lines += text(equivalent_pairs.table([measure]), top, SCREEN)
            lines += _wrapped_all(equivalence_sentences)
    for paragraph in _paragraphs_on_screen(comparison):
        lines += ["", *wrap_lines(one_line(paragraph))]
    signatures = [str(Signature.parse(signature).of_all_runs()) for signature in comparison.signatures.values()]
    shared_signatures = list(dict.fromkeys(signatures))
    if shared_signatures:
        lines.append("")
        lines += [f"signature  {one_line(signature)}" for signature in shared_signatures[:top]]
    return "\n".join(lines[1:]) + "\n"


def _paragraphs_on_screen(comparison: Comparison) -> list[str]:
    """Return the paragraphs below the tables of a screen: systems and limits, tiers, notes, and options for more."""
    first_sentence = explanation(comparison)[0]
    paragraphs = [" ".join([first_sentence, *_limit_sentences(comparison)])]
    if not comparison.resampling.baseline:
        paragraphs.append(_tier_sentence(comparison))
    paragraphs += answered_lines(comparison.origins)
    paragraphs += note_sentences(comparison.notes)
    paragraphs.append(
        "--all shows every measure, system and pair with how each number was found; --format json has all of it."
    )
    return paragraphs


def _wrapped_all(sentences: Iterable[str]) -> list[str]:
    """Return sentences as lines that fit on a screen, each on lines of its own."""
    lines: list[str] = []
    for sentence in sentences:
        lines += wrap_lines(one_line(sentence))
    return lines


def _pairs_on_screen(measure: MeasureComparison, level: float) -> Layout:
    """Return the table of pairs for a screen: the only one, or those of several that differ significantly."""
    if len(measure.pairs) == 1:
        return replace(PAIRS, shown=("a", "b", "difference", "low", "high", "p_adjusted"), most="top")
    return replace(
        PAIRS,
        title="%, B minus A, pairs that differ significantly:",
        shown=("a", "b", "difference", "low", "high", "p_adjusted", "effect_size", "units"),
        rows=lambda measures: [row for row in _pair_rows(measures) if row["p_adjusted"] <= level],
        fewest=1,
        most="top",
    )


def _effect_sentences(measure: MeasureComparison, level: float) -> list[str]:
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
    headings = [escape_latex("System")]
    headings += [escape_latex(measure.measure) for measure in measures]
    lines = [
        f"% {_caption(comparison, reference)}",
        rf"\begin{{tabular}}{{l{'l' * len(measures)}}}",
        r"\toprule",
        _latex_row(headings),
        r"\midrule",
    ]
    for system in (reference, *others):
        cells = [_paper_cell(measure, system, reference, comparison.resampling.level) for measure in measures]
        lines.append(_latex_row([escape_latex(system), *cells]))
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Iterable[str]) -> str:
    """Return cells as a row of a LaTeX table."""
    return " & ".join(cells) + r" \\"


def _paper_cell(measure: MeasureComparison, system: str, reference: str, level: float) -> str:
    """Return the score of a system with its star and its interval; without an interval if it has none."""
    (entry,) = [entry for entry in measure.systems if entry.name == system]
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
    tests = "; ".join([measure.tests for measure in comparison.measures])
    family = "one family for each measure: " if len(comparison.measures) > 1 else ""
    return one_line(
        f"Scores with {limits_in_words(settings, comparison.units)}, in brackets; * differs significantly from "
        f"{reference} (level {settings.level:g}, {family}{tests}). The table needs the package booktabs."
    )


# ---- A comparison in all formats


class _Format:
    """A format of comparisons: how headings, tables, sentences and signatures are written in it."""

    first_lines: tuple[str, ...] = ()
    """The lines that a file begins with."""

    lines_between: tuple[str, ...] = ()
    """The lines before the explanation and before the signatures."""

    @abstractmethod
    def heading(self, title: str) -> list[str]:
        """Return the lines of the heading of a measure."""

    @abstractmethod
    def table(self, table: Table) -> list[str]:
        """Return the lines of a table."""

    @abstractmethod
    def sentence(self, sentence: str) -> str:
        """Return a sentence as a line."""

    @abstractmethod
    def signature(self, system: str, signature: str) -> list[str]:
        """Return the lines of the signature of a system."""

    def write(self, comparison: Comparison) -> str:
        """Return a comparison: two tables and sentences for each measure, then the explanation and the signatures."""
        lines = list(self.first_lines)
        for measure in comparison.measures:
            lines += self.heading(measure.title)
            lines += self.table(_titled(SYSTEMS, measure))
            lines += self.table(_titled(PAIRS, measure))
            sentences = [f"Verdict: {measure.verdict}.", f"Tests: {measure.tests}.", *note_sentences(measure.notes)]
            lines += [self.sentence(sentence) for sentence in sentences]
        lines += self.lines_between
        sentences = [*explanation(comparison), *note_sentences(comparison.notes)]
        lines += [self.sentence(sentence) for sentence in sentences]
        if comparison.signatures:
            lines += self.lines_between
        for system, signature in comparison.signatures.items():
            lines += self.signature(system, signature)
        return "\n".join(lines).removeprefix("\n") + "\n"


class _Text(_Format):
    """Plain text; titles of tables name the measure."""

    lines_between = ("",)

    def heading(self, title: str) -> list[str]:
        return []

    def table(self, table: Table) -> list[str]:
        return list(text(table))

    def sentence(self, sentence: str) -> str:
        return one_line(sentence)

    def signature(self, system: str, signature: str) -> list[str]:
        return [one_line(f"{system}: {signature}")]


class _Markdown(_Format):
    """Markdown; sentences are escaped, since they may quote names."""

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


def _tsv_text(comparison: Comparison) -> str:
    """Return all of a comparison as tab-separated rows."""
    return b"".join(tsv(WHOLE.table(comparison))).decode()


WRITERS: Final[dict[str, Callable[[Comparison], str]]] = {
    "text": _Text().write,
    "json": json_text,
    "tsv": _tsv_text,
    "markdown": _Markdown().write,
    "latex": _Latex().write,
}
"""The functions that write a comparison, by format; every text ends with a line feed."""
