"""What runs would score were all of their answers assessed, where those that were are a sample of known probabilities.

The file of probabilities has a line of columns, separated by tabs, and a line for each stratum: `probability`, any of
`query`, `slot`, `value`, `provenance` (what an answer says; empty or * for any) and `confidence` (the least one), and
`prediction`, how probable it is that such an answer is right. An answer is of the first stratum that it fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal

from cs_score.analysis.coldstart.mistakes import counted_lines
from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.comparison import system_names
from cs_score.base.documents import Document
from cs_score.base.errors import InputError
from cs_score.base.records import Record, asdict
from cs_score.base.runtime import Late
from cs_score.base.sources import Input, open_source
from cs_score.coldstart.lines import Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.scorer import OneRun
from cs_score.measures.registry import COLD_START_MODE
from cs_score.statistics.assessments import Estimate, Estimated, Items, estimated, interval_of
from cs_score.tables.layout import Column, Layout, Row, headed
from cs_score.tables.statistics import Printout

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")

MEASURE: Final = "SF-ALL-Micro-P"
RIGHT_ANSWERS: Final = "Numerator of SF-ALL-Micro-R"

_PARENT: Final = "INCORRECT_PARENT"
_ANSWER: Final = ("query", "slot", "value", "provenance")
_NUMBERS: Final = ("probability", "prediction", "confidence")
_REMEDY: Final = (
    "an estimate needs the probability with which each answer was assessed; without it see the scenarios of "
    "cs-score analyze"
)


class Stratum(Record):
    """A line of the file: what its answers are like, and the numbers of all of them."""

    number: int
    fits: Mapping[str, str]
    probability: float
    prediction: float
    confidence: float

    def has(self, line: Response) -> bool:
        """Whether an answer is like this."""
        says = dict(zip(_ANSWER, (line.query.full_id, line.query.slots[0], line.value, line.provenance)))
        return line.confidence >= self.confidence and all(says[name] == wanted for name, wanted in self.fits.items())


class Inclusion(Record):
    """How probable it was that an answer is assessed; `file` is what messages call where that was read."""

    file: str
    strata: tuple[Stratum, ...]

    def stratum(self, line: Response) -> int:
        """The place of the stratum of an answer. Raises InputError for one of none."""
        for place, stratum in enumerate(self.strata):
            if stratum.has(line):
                return place
        problem = f"no stratum has {line.file} line {line.number} ({line.query.full_id}, {line.value})"
        raise InputError(problem, file=self.file, remedy=_REMEDY)


def read_inclusion(given: Input) -> Inclusion:
    """Probabilities of being assessed. Raises InputError with the place for what are none."""
    with open_source(given) as source:
        name, lines = source.name, source.read_bytes().decode("utf-8", "replace").splitlines()
    head = lines[0].split("\t") if lines else []
    unknown = [each for each in head if each not in (*_ANSWER, *_NUMBERS)]
    if "probability" not in head or unknown or len(set(head)) < len(head):
        problem = f"columns are {', '.join((*_ANSWER, *_NUMBERS))}, not {', '.join(head) or 'none'}"
        raise InputError(problem, file=name, place="line 1", remedy=_REMEDY)
    strata = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) != len(head):
            raise InputError(f"{len(cells)} columns, not {len(head)}", file=name, place=f"line {number}")
        row = dict(zip(head, cells))
        fits = {key: row[key] for key in _ANSWER if row.get(key, "*") not in ("", "*")}
        numbers = [_number(row.get(key, "0"), key, name, number) for key in _NUMBERS]
        strata.append(Stratum(number, fits, *numbers))
    return Inclusion(name, tuple(strata))


def _number(cell: str, key: str, file: str, line: int) -> float:
    """A cell from 0 to 1, above 0 for a probability; an empty one is 0."""
    try:
        value = float(cell or 0)
    except ValueError:
        value = -1.0
    if not (0 < value <= 1 if key == "probability" else 0 <= value <= 1):
        allowed = "above 0 and at most 1" if key == "probability" else "from 0 to 1"
        raise InputError(f"{key} {cell or 'missing'}: a number {allowed} is needed", file=file, place=f"line {line}")
    return value


class SampledRun(Record):
    """A run: its answers and how many of them were assessed, the share of right ones among those that count, and the
    number of right ones, which recall divides.
    """

    run: str
    answers: int
    assessed: int
    precision: Estimate
    right: Estimate


class SampledDifference(Record):
    """B minus A, from the same sample."""

    a: str
    b: str
    precision: Estimate
    right: Estimate


class SampledPool(Document, frozen=True, kw_only=True, tag="sampled-pool"):
    """Estimates for runs, with limits at `confidence` percent: for this pool were all of it assessed (`low`, `high`),
    and for answers like those in it (`population_low`, `population_high`). The measures are those of the table SF, all
    hops: SF-ALL-Micro-P and the numerator of SF-ALL-Micro-R.
    """

    schema_version: Literal[1] = 1
    confidence: float
    runs: tuple[SampledRun, ...]
    differences: tuple[SampledDifference, ...]
    signatures: Mapping[str, str]


def names_of(runs: Sequence[OneRun]) -> list[str]:
    """The ids of runs, or the names of their files where several have one id."""
    names = [run.run_id for run in runs]
    return names if len(set(names)) == len(names) else system_names([run.file for run in runs])


def sampled_pool(runs: Mapping[str, Scored], inclusion: Inclusion, confidence: float = 95.0) -> SampledPool:
    """Estimates for each run by itself, by name, and for the difference of any two.

    Raises InputError for an answer of unknown probability, for strata of which nothing was assessed, and for answers
    that were not though that is certain.
    """
    numbers: dict[object, int] = {}
    parts, signatures = dict[str, tuple[Estimated, Estimated]](), dict[str, str]()
    for name, scored in runs.items():
        items = _items(scored, inclusion, numbers)
        parts[name] = estimated(items), estimated(items, is_total=True)
        signatures[name] = str(scored.signature.of(MEASURE))
    return SampledPool(
        task=COLD_START_MODE,
        measure=MEASURE,
        confidence=confidence,
        runs=tuple(
            SampledRun(
                name,
                len(of_run[0].items.answer),
                int(np.count_nonzero(of_run[0].items.assessed)),
                interval_of([(1.0, of_run[0])], confidence, 1.0),
                interval_of([(1.0, of_run[1])], confidence, len(of_run[0].items.answer)),
            )
            for name, of_run in parts.items()
        ),
        differences=tuple(
            SampledDifference(
                a, b, *(interval_of([(-1.0, x), (1.0, y)], confidence) for x, y in zip(parts[a], parts[b]))
            )
            for a, b in combinations(parts, 2)
        ),
        signatures=signatures,
    )


def _items(scored: Scored, inclusion: Inclusion, numbers: dict[object, int]) -> Items:
    """The answers of a run; `numbers` numbers what they say, alike for all runs."""
    links = scored.run.links
    parents = {line.target: line for lines in _lines(scored) for line, _, _ in lines}
    rows: list[tuple[float, ...]] = []
    for lines in _lines(scored):
        for line, labels, is_matched in lines:
            own = inclusion.strata[stratum := inclusion.stratum(line)]
            said = numbers.setdefault((line.query.full_id, line.value, line.provenance), len(numbers))
            below, chances, is_known = said, (1.0, own.probability), is_matched
            if line.query.level:
                parent, follow_on = parents.get(line.query.short_id), links.follow_on(line.query.short_id)
                is_judged = follow_on is not None and follow_on.assessment is not None
                key = (parent.query.full_id, parent.value, parent.provenance) if parent else line.query.full_id
                below = numbers.setdefault(key, len(numbers))
                of_parent = inclusion.strata[inclusion.stratum(parent)].probability if parent else 1.0
                # What stands below a wrong answer is wrong, whether or not somebody looked at it.
                is_wrong = is_judged and _PARENT in labels
                chances = (1.0 if is_wrong else own.probability), of_parent
                is_known = is_wrong or (is_judged and is_matched)
            if not is_known and chances == (1.0, 1.0):
                problem = f"the probability is 1, but {line.file} line {line.number} was not assessed"
                raise InputError(problem, file=inclusion.file, place=f"line {own.number}")
            right = RIGHT in labels
            seen = (right, right + (WRONG in labels), is_known)
            rows.append((*seen, chances[0], said, below, chances[1], stratum, own.prediction))
    if not rows:
        raise InputError(f"run {scored.run_id} has no answer that counts: there is nothing to estimate")
    right, counted, known, chance, answer, above, chance_above, of_stratum, predicted = np.array(rows, np.float64).T
    for place in set(of_stratum.tolist()) - set(of_stratum[known == 1].tolist()):
        at = f"line {inclusion.strata[int(place)].number}"
        problem = f"none of the {np.count_nonzero(of_stratum == place)} answers of run {scored.run_id} was assessed"
        raise InputError(problem, file=inclusion.file, place=at, remedy="put it together with another stratum")
    strata = np.unique(of_stratum, return_inverse=True)[1]
    numbered = answer.astype(np.intp), above.astype(np.intp)
    return Items(right, counted, known == 1, chance, *numbered, chance_above, strata, predicted)


def _lines(scored: Scored) -> Iterator[list[tuple[Response, Sequence[str], bool]]]:
    """The lines of each unit that count, what each counts as, and whether it met an assessment."""
    for unit in scored.result.units:
        yield [(line, unit.labels[line.index], line.index in unit.matched) for line in counted_lines(unit)]


def _rows(pool: SampledPool) -> Iterator[Row]:
    """A row for each run and for each difference, of either estimate."""
    for measure, name in (("precision", pool.measure), ("right", RIGHT_ANSWERS)):
        for run in pool.runs:
            yield {**asdict(run), **asdict(getattr(run, measure)), "measure": name}
        for pair in pool.differences:
            yield {"run": f"{pair.b} - {pair.a}", **asdict(getattr(pair, measure)), "measure": name}


SAMPLED: Final = Printout(
    Layout(
        "sampled-pool",
        "%, estimated from a sample of the pool",
        (
            Column("measure"),
            *headed(run="Run", answers="Answers", assessed="Known", estimate="Estimate", standard_error="Std. error"),
            Column("low", "Low", meaning="for this pool, were all of it assessed"),
            Column("high", "High", meaning="for this pool, were all of it assessed"),
            Column("population_low", "Low*", meaning="for answers like those in this pool"),
            Column("population_high", "High*", meaning="for answers like those in this pool"),
        ),
        _rows,
        shown=("run", "answers", "assessed", "estimate", "low", "high", "population_low", "population_high"),
        by="measure",
        most="whole",
    ),
    lambda pool: (
        f"Low, High: {pool.confidence:g} % limits for this pool were all of it assessed; *: for answers",
        "like these. Known: answers that were assessed.",
    ),
)
