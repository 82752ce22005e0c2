"""R4C scoring: derivations of multi-hop answers, held against three reference derivations (Inoue et al. 2020).

The numbers are those of the corpus's official script, without its solver: the strings of facts are compared, predicted
facts are aligned with those of a reference by an assignment of greatest weight, and each of three evaluations chooses
its reference. Section numbers refer to the project's R4C contract.
"""

from __future__ import annotations

import functools
import mmap
import operator
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, NamedTuple, TypeAlias

from msgspec import Meta

from cs_score.base.display import SCREEN
from cs_score.base.errors import CsScoreError, InputError, MissingExtraError, UsageError
from cs_score.base.records import Record
from cs_score.base.sources import Input, Source
from cs_score.evidence import reading
from cs_score.evidence.reading import Gold, plain
from cs_score.evidence.report import aligned
from cs_score.evidence.result import Mode, Result, counted, means, report_rows
from cs_score.measures.registry import divide, names, precision_recall_f1
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:  # numpy is imported with what needs it
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Matrix: TypeAlias = NDArray[np.float64]
    Solve: TypeAlias = Callable[..., tuple[NDArray[np.intp], NDArray[np.intp]]]

EXTRA: Final = "r4c"
"""The extra of the package that brings the edit distance and the assignment solver."""

# Address space that scipy and what it loads take with one thread, and some more to work in.
_ROOM: Final = 224 << 20

_THREADS: Final = "OPENBLAS_NUM_THREADS"

WEIGHTS: Final[dict[str, Callable[[Matrix, Matrix, Matrix], Matrix]]] = {
    "e": lambda head, relation, tail: (head + tail) / 2,
    "r": lambda head, relation, tail: relation,
    "er": lambda head, relation, tail: (head + tail + relation) / 3,  # in this order; not the mean of the other two
}
"""The weight of pairs of facts by the similarities of their parts, for entities, relation and both: the three
evaluations, in the order in which they draw from the random stream."""

REFERENCE_POSITIONS: Final = 3
"""Reference derivations of an instance that may be drawn; a fourth is never used."""

SEED: Final = 3
"""Seed of the official script's random stream, which is never reset."""

ASPECTS: Final = ("prec", "recall", "f1")

COLUMNS: Final = ("instances", *names("r4c"))


class Options(Record):
    """What can be chosen."""

    references: Annotated[
        int, Meta(ge=1, le=3, description="Reference derivations drawn for each evaluation of an instance, 1 to 3")
    ] = REFERENCE_POSITIONS
    ignore_missing: Annotated[bool, Meta(description="Leave out instances without prediction instead of failing")] = (
        False
    )


MODE: Final = Mode(
    name="r4c",
    unit="instance",
    columns=COLUMNS,
    formula=means,
    headings=("precision", "recall", "f1"),
    rows=report_rows(tuple(WEIGHTS), COLUMNS[1:]),
    options=Options,
    fixed={"seed": SEED},
)

Order: TypeAlias = tuple[int, ...]
"""Reference positions in the order in which they are tried."""


class Fact(NamedTuple):
    """A relational fact."""

    head: str
    relation: str
    tail: str


Derivation: TypeAlias = tuple[Fact, ...]


class Pair(NamedTuple):
    """Positions of a predicted and a gold fact that are aligned, and the weight of the pair (above 0)."""

    predicted: int
    gold: int
    weight: float


class Choice(NamedTuple):
    """The reference that one evaluation of one instance chose.

    `order` is the draw, `totals` the total weight against each reference in that order; `reference` is the position
    chosen and `pairs` the alignment with its facts.
    """

    order: Order
    totals: tuple[float, ...]
    reference: int
    pairs: list[Pair]


class ScoredInstance(NamedTuple):
    """An instance with its facts identified, and the choice that each of the three evaluations made.

    `references` holds, by position, the references that were drawn.
    """

    predicted: Derivation
    references: Mapping[int, Derivation]
    choices: tuple[Choice, ...]

    def scores(self) -> list[tuple[float, ...]]:
        """Precision, recall and F1 of each of the three (section 4)."""
        return [
            precision_recall_f1(max(choice.totals), len(self.predicted), len(self.references[choice.reference]), divide)
            for choice in self.choices
        ]

    def row(self) -> tuple[float, ...]:
        """The statistics of the instance in the order of COLUMNS."""
        return 1.0, *chain.from_iterable(self.scores())


class Instance(NamedTuple):
    """One scored instance as read, with the order in which each evaluation tries its references."""

    id: str
    predicted: object
    references: object
    orders: tuple[Order, ...]


class R4CResult(Result):
    """Scores of an R4C run; `instances` holds what was scored, in the order of the table."""

    mode: ClassVar[Mode] = MODE

    instances: Sequence[Instance]

    def official(self) -> dict[str, object]:
        return {level: {aspect: self.scores[f"{level}_{aspect}"] for aspect in ASPECTS} for level in WEIGHTS}

    def explained(self, position: int) -> list[str]:
        return list(explain(self.instances[position], Scorer(), self.names))


def read_gold(gold: Input | Mapping[str, object]) -> Gold[reading.Object]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    return reading.read(gold, "gold", _object)


def score(
    gold: Input | Mapping[str, object] | Gold[reading.Object],
    predictions: Input | Mapping[str, object],
    *,
    references: int = REFERENCE_POSITIONS,
    ignore_missing: bool = False,
    progress: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> R4CResult:
    """Score predictions against gold; each is a path, an open file, or the parsed JSON value.

    `references` (1 to 3) is how many reference derivations are drawn for each evaluation of an instance. With
    `ignore_missing`, instances without prediction are left out instead of being an error. `progress` hands back the
    instance ids it is given one after the other, and may show how far the work has come.

    Raises InputError for what cannot be scored, UsageError for another number of references, MissingExtraError where
    scipy or rapidfuzz is not installed.
    """
    if references not in range(1, REFERENCE_POSITIONS + 1):
        raise UsageError(f"references is {references!r}, not a whole number from 1 to {REFERENCE_POSITIONS}")
    scorer = Scorer()  # before any reading: what is not installed is said at once
    known = gold if isinstance(gold, Gold) else read_gold(gold)
    given = reading.read(
        predictions, "predictions", lambda source: reading.as_object(reading.member(_object(source), "re"), "'re'")
    )
    ids = [instance for instance in known.content if instance in given.content]
    missing = len(known.content) - len(ids)
    all_instances = counted(len(known.content), "instance")
    if missing and not ignore_missing:
        first = next(instance for instance in known.content if instance not in given.content)
        raise InputError(
            f"no derivation for it ({missing} of {all_instances} have none)",
            file=given.name,
            place=f"instance {plain(first)}",
            remedy="--ignore-missing leaves such instances out",
        )
    if not ids:
        raise InputError("no instance has a prediction, so there is nothing to score", file=given.name)
    orders = drawn_orders(len(ids), references)
    instances = [Instance(each, given.content[each], known.content[each], drawn) for each, drawn in zip(ids, orders)]
    files = (known.name, given.name)
    rows = [scorer.evaluate(instance, files).row() for _, instance in zip(progress(ids), instances)]
    notice = f"{given.name}: {missing} of {all_instances} left out, without prediction"
    return R4CResult.of(
        UnitTable(tuple(ids), COLUMNS, rows),
        known,
        given,
        options={"references": references, "ignore_missing": ignore_missing},
        read=(((len(known.content), "instance"),), ((len(given.content), "derivation"), (len(ids), "scored instance"))),
        notices=(notice,) if missing else (),
        instances=instances,
    )


def _object(source: Source) -> reading.Object:
    return reading.as_object(reading.json_document(source), "the file")


def drawn_orders(instances: int, references: int) -> list[tuple[Order, ...]]:
    """For each instance the reference positions that `e`, `r` and `er` try, in order (section 4).

    One stream serves the whole run: first a draw for `e` of every instance, then for `r`, then for `er`.
    """
    stream = random.Random(SEED)
    positions = range(REFERENCE_POSITIONS)
    by_level = [[tuple(stream.sample(positions, references)) for _ in range(instances)] for _ in WEIGHTS]
    return list(zip(*by_level))


class Scorer:
    """Compares facts, aligns them and chooses among references.

    Raises MissingExtraError where rapidfuzz or scipy is not installed, CsScoreError where scipy has too little memory.
    """

    def __init__(self) -> None:
        try:
            from rapidfuzz.distance.Levenshtein import distance
            from rapidfuzz.process import cdist
        except ModuleNotFoundError:
            raise MissingExtraError("rapidfuzz", EXTRA) from None
        self._distances = functools.partial(cdist, scorer=distance)
        self._solve = _solver()

    def evaluate(self, instance: Instance, files: tuple[str, str]) -> ScoredInstance:
        """Align the instance's derivation with its drawn references, and choose among them, three times.

        Raises InputError, which names one of `files`, for a malformed derivation, a drawn reference that the instance
        lacks, and empty strings that would have to be compared.
        """
        with reading.located(files[1], {"instance": instance.id}):
            predicted = _facts(instance.predicted)
        with reading.located(files[0], {"instance": instance.id}):
            derivations = reading.as_list(instance.references, "its list of references")
            references: dict[int, Derivation] = {}
            facts: list[Fact] = []
            columns: dict[int, slice] = {}
            for position in sorted({position for order in instance.orders for position in order}):
                if position >= len(derivations):
                    has = counted(len(derivations), "reference")
                    raise InputError(f"reference {position + 1} was drawn, but the instance has only {has}")
                with reading.located(place={"reference": position + 1}):
                    references[position] = _facts(derivations[position])
                columns[position] = slice(len(facts), len(facts) + len(references[position]))
                facts += references[position]
            similarities = self.compare(predicted, facts)
            choices = []
            for order, weight in zip(instance.orders, WEIGHTS.values()):
                weights = weight(*similarities)
                alignments = [self.align(weights[:, columns[position]]) for position in order]
                totals = tuple(map(total_weight, alignments))
                best = totals.index(max(totals))  # the one drawn first among equals
                choices.append(Choice(order, totals, order[best], alignments[best]))
        return ScoredInstance(predicted, references, tuple(choices))

    def compare(self, predicted: Sequence[Fact], gold: Sequence[Fact]) -> tuple[Matrix, Matrix, Matrix]:
        """Similarities of heads, relations and tails of predicted facts (rows) with those of gold facts (columns)."""
        head, relation, tail = (
            self.similarities([fact[part] for fact in predicted], [fact[part] for fact in gold]) for part in range(3)
        )
        return head, relation, tail

    def similarities(self, ones: Sequence[str], others: Sequence[str]) -> Matrix:
        """1 - Levenshtein distance of the lower-cased strings / length of the longer string as given.

        Each is at most 1; below 0 where lower-casing lengthens a string; not a number where both are empty, which is an
        error only if an evaluation uses it. Of equal pairs only the first is compared.
        """
        import numpy as np

        rows, columns = ({text: number for number, text in enumerate(dict.fromkeys(side))} for side in (ones, others))
        if not rows or not columns:
            return np.zeros((len(ones), len(others)))
        distances = self._distances([text.lower() for text in rows], [text.lower() for text in columns])
        # The lengths are those before lower-casing, which turns a capital I with dot into two code points.
        longer = np.maximum.outer([len(text) for text in rows], [len(text) for text in columns])
        with np.errstate(invalid="ignore"):
            known = 1 - distances / longer
        if len(rows) == len(ones) and len(columns) == len(others):
            return known
        return known[np.ix_([rows[text] for text in ones], [columns[text] for text in others])]

    def align(self, weights: ArrayLike) -> list[Pair]:
        """The one-to-one alignment of greatest total weight, in the order of the predicted facts.

        `weights` has a row per predicted and a column per gold fact. A pair whose weight is 0 or less is never
        made: leaving both facts alone is as good. Raises InputError where a weight is not a number.
        """
        import numpy as np

        gains = np.maximum(0.0, weights)
        if not gains.size:
            return []
        if np.isnan(gains).any():
            raise InputError("two empty strings are to be compared, for which no similarity is defined")
        rows, columns = self._solve(gains, maximize=True)
        chosen = zip(rows.tolist(), columns.tolist(), gains[rows, columns].tolist())
        return [Pair(row, column, weight) for row, column, weight in chosen if weight > 0]


def _solver() -> Solve:
    """scipy's solver of assignments. Raises MissingExtraError, and CsScoreError where there is no room for it.

    The library for linear algebra that comes with it is not needed here. It starts a thread for each processor as soon
    as it is loaded and, where memory is limited too tightly for that, may wait for ever, deaf to signals.
    """
    if "scipy.optimize" not in sys.modules:
        try:
            mmap.mmap(-1, _ROOM).close()
        except OSError:
            problem = f"scipy needs {_ROOM >> 20} MB of address space, and there is less; raise the limit (ulimit -v)"
            raise CsScoreError(problem) from None
    is_chosen = _THREADS in os.environ
    os.environ.setdefault(_THREADS, "1")
    try:
        from scipy.optimize import linear_sum_assignment
    except ModuleNotFoundError:
        raise MissingExtraError("scipy", EXTRA) from None
    finally:
        if not is_chosen:
            del os.environ[_THREADS]
    solve: Solve = linear_sum_assignment
    return solve


def total_weight(pairs: Iterable[Pair]) -> float:
    """The weights of the pairs, added in their order starting at 0.0."""
    return functools.reduce(operator.add, (pair.weight for pair in pairs), 0.0)


def _facts(derivation: object) -> Derivation:
    return tuple(map(_fact, reading.as_list(derivation, "the derivation")))


def _fact(step: object) -> Fact:
    parts = reading.as_list(step, "a step")
    if len(parts) != 3:
        raise InputError(f"a step of {counted(len(parts), 'item')} where [title, sentence number, fact] is expected")
    texts = reading.as_list(parts[2], "a fact")[:3]
    if len(texts) < 3:
        raise InputError(f"a fact of {counted(len(texts), 'item')} where [head, relation, tail] is expected")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"a fact holds {reading.kind_of(text)} where text is expected")
    return Fact(*map(str, texts))


def explain(instance: Instance, scorer: Scorer, files: tuple[str, str]) -> Iterator[str]:
    """How an instance was scored: for each evaluation the references tried, the one chosen, and the alignment."""
    scored = scorer.evaluate(instance, files)
    yield f"instance {plain(instance.id)}"
    for level, choice, scores in zip(WEIGHTS, scored.choices, scored.scores()):
        tried = ", ".join(
            f"reference {position + 1} total {total:.4f}" for position, total in zip(choice.order, choice.totals)
        )
        yield ""
        yield f"{level}: {', '.join(f'{aspect} {score:.4f}' for aspect, score in zip(ASPECTS, scores))}"
        yield f"  tried in this order: {tried}"
        yield f"  chosen: reference {choice.reference + 1}"
        yield from (f"  {line}" for line in _explained_alignment(scored, choice, scorer))


def _explained_alignment(scored: ScoredInstance, choice: Choice, scorer: Scorer) -> list[str]:
    """Each aligned pair with the similarities of its parts, then the facts that stay alone on either side.

    As a table where a screen is wide enough, else each on lines of its own.
    """
    gold = scored.references[choice.reference]
    rows: list[tuple[str, ...]] = [("predicted", "gold", "head", "relation", "tail", "weight")]
    for pair in choice.pairs:
        fact, wanted = scored.predicted[pair.predicted], gold[pair.gold]
        parts = (f"{part.item():.4f}" for part in scorer.compare([fact], [wanted]))
        rows.append((_shown(fact), _shown(wanted), *parts, f"{pair.weight:.4f}"))
    matched, found = {pair.predicted for pair in choice.pairs}, {pair.gold for pair in choice.pairs}
    rows += [(_shown(fact), "-") for position, fact in enumerate(scored.predicted) if position not in matched]
    rows += [("-", _shown(fact)) for position, fact in enumerate(gold) if position not in found]
    table = aligned(rows)
    if max(map(len, table)) + 2 <= SCREEN:
        return table
    head, lines = rows[0], list[str]()
    for row in rows[1:]:
        lines += [f"{name:9}  {text}" for name, text in zip(head, row[:2])]
        lines += [f"{'':9}  {', '.join(map(' '.join, zip(head[2:], row[2:])))}"] if row[2:] else []
    return lines


def _shown(fact: Fact) -> str:
    return f"({', '.join(map(plain, fact))})"
