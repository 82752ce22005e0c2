"""R4C scoring: derivations of multi-hop answers, held against three reference derivations (Inoue et al. 2020).

The numbers are those of the corpus's official script, without its solver: the strings of facts are compared, predicted
facts are aligned with those of a reference by an assignment of greatest weight, and each of three evaluations chooses
its reference. Section numbers refer to the project's R4C contract.
"""

from __future__ import annotations

import functools
import importlib
import mmap
import operator
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple, TypeAlias

from msgspec import Meta

from cs_score.base.display import SCREEN
from cs_score.base.errors import CsScoreError, InputError, MissingExtraError, UsageError
from cs_score.base.records import Record
from cs_score.base.sources import Source
from cs_score.evidence import reading
from cs_score.evidence.mode import Contents, Fault, Mode, Pair, Part, Row, Unit, report_rows
from cs_score.evidence.reading import Gold, counted, plain, quoted
from cs_score.evidence.report import aligned
from cs_score.measures.registry import divide, names, precision_recall_f1
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:  # numpy is imported with what needs it
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Matrix: TypeAlias = NDArray[np.float64]

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

EXTRA_FACT: Final = "extra_fact"
WRONG_ENTITY: Final = "wrong_entity"
WRONG_RELATION: Final = "wrong_relation"
MISSED_FACT: Final = "missed_fact"


class Options(Record):
    """What can be chosen."""

    references: Annotated[
        int, Meta(ge=1, le=3, description="Reference derivations drawn for each evaluation of an instance, 1 to 3")
    ] = REFERENCE_POSITIONS
    ignore_missing: Annotated[bool, Meta(description="Leave out instances without prediction instead of failing")] = (
        False
    )

    answered_only: Annotated[bool, Meta(description="The same as --ignore-missing, by its name in the other tasks")] = (
        False
    )

    def __post_init__(self) -> None:
        if self.references not in range(1, REFERENCE_POSITIONS + 1):
            problem = f"references is {self.references!r}, not a whole number from 1 to {REFERENCE_POSITIONS}"
            raise UsageError(problem)


Order: TypeAlias = tuple[int, ...]
"""Reference positions in the order in which they are tried."""


class Fact(NamedTuple):
    """A relational fact."""

    head: str
    relation: str
    tail: str


Derivation: TypeAlias = tuple[Fact, ...]


class Aligned(NamedTuple):
    """Positions of a predicted and a gold fact that are aligned, and the weight of the pair (above 0)."""

    predicted: int
    gold: int
    weight: float


class Evaluation(NamedTuple):
    """One of the three evaluations of an instance.

    `order` is the draw, `totals` the total weight against each reference in that order; `pairs` is the alignment of
    the `predicted` facts with the `gold` facts of the reference that is chosen.
    """

    order: Order
    totals: tuple[float, ...]
    predicted: Derivation
    gold: Derivation
    pairs: list[Aligned]

    @property
    def reference(self) -> int:
        """The position of the reference with the largest total, the one drawn first among equals."""
        return self.order[self.totals.index(max(self.totals))]

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall and F1 (section 4)."""
        return precision_recall_f1(max(self.totals), len(self.predicted), len(self.gold), divide)


class References(NamedTuple):
    """The reference derivations of an instance as read, and the order in which each evaluation tries them."""

    derivations: object
    orders: tuple[Order, ...]


class R4C(Mode):
    """Instances with a derivation each, held against the reference that each of three evaluations chooses.

    The faults are those of the evaluation of the measure: that of `e_f1` is `e`.
    """

    name = "r4c"
    unit = "instance"
    columns = ("instances", *names("r4c"))
    headings = ("precision", "recall", "f1")
    rows = report_rows(tuple(WEIGHTS), columns[1:])
    kinds = (EXTRA_FACT, WRONG_ENTITY, WRONG_RELATION, MISSED_FACT)
    options = Options
    fixed: ClassVar[Mapping[str, object]] = {"seed": SEED}
    summary = "Score R4C derivations by entities (e), relation (r) and both (er)"
    files = (
        "Gold is a JSON object from instance id to reference derivations; predictions hold derivations by instance id "
        'under the key "re". Needs the extra packages of cs-score[r4c].'
    )
    takes_long = True

    def official(self, scores: Mapping[str, float]) -> dict[str, object]:
        return {level: {aspect: scores[f"{level}_{aspect}"] for aspect in ASPECTS} for level in WEIGHTS}

    def check_packages(self) -> None:
        load_packages()

    def gold(self, source: Source) -> reading.Object:
        return reading.as_object(reading.json_document(source), "the file")

    def predictions(self, source: Source) -> reading.Object:
        return reading.as_object(reading.member(self.gold(source), "re"), "'re'")

    def is_gold(self, first: object) -> bool | None:
        return "re" not in first if isinstance(first, dict) else None

    def paired(self, gold: Gold, predictions: Gold, options: Options) -> tuple[Iterable[Pair], Iterable[str]]:
        """Instances with a prediction; those without are an error, or left out."""
        ids = [instance for instance in gold.content if instance in predictions.content]
        missing, number = len(gold.content) - len(ids), counted(len(gold.content), "instance")
        if missing and not self.is_answered_only(options):
            first = next(instance for instance in gold.content if instance not in predictions.content)
            raise InputError(
                f"no derivation for it ({missing} of {number} have none)",
                file=predictions.name,
                place=f"instance {plain(first)}",
                remedy="--ignore-missing leaves such instances out",
            )
        if not ids:
            raise InputError("no instance has a prediction, so there is nothing to score", file=predictions.name)
        orders = drawn_orders(len(ids), options.references)
        pairs = [(each, References(gold.content[each], of), predictions.content[each]) for each, of in zip(ids, orders)]
        notice = f"{predictions.name}: {missing} of {number} left out, without prediction"
        return pairs, (notice,) if missing else ()

    def is_answered_only(self, options: Any) -> bool:
        return bool(options.ignore_missing or options.answered_only)

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        scored = len(table.ids), "scored instance"
        return ((len(gold), "instance"),), ((len(predictions), "derivation"), scored)

    def row(self, unit: Unit) -> Row:
        return 1.0, *chain.from_iterable(each.scores for each in self.evaluated(unit))

    def evaluated(self, unit: Unit) -> list[Evaluation]:
        """Align the derivation of an instance with its drawn references, and choose among them, three times.

        Raises InputError for a malformed derivation, a drawn reference that the instance lacks, and empty strings that
        would have to be compared.
        """
        with self.at(unit) as at:
            at.file = unit.files[1]
            predicted = _facts(unit.prediction)
            at.file = unit.files[0]
            derivations = reading.as_list(unit.gold.derivations, "its list of references")
            references: dict[int, Derivation] = {}
            facts: list[Fact] = []
            columns: dict[int, slice] = {}
            for position in sorted({position for order in unit.gold.orders for position in order}):
                if position >= len(derivations):
                    has = counted(len(derivations), "reference")
                    raise InputError(f"reference {position + 1} was drawn, but the instance has only {has}")
                with reading.located(place={"reference": position + 1}):
                    references[position] = _facts(derivations[position])
                columns[position] = slice(len(facts), len(facts) + len(references[position]))
                facts += references[position]
            similarities = compare(predicted, facts)
            evaluations = []
            for order, weight in zip(unit.gold.orders, WEIGHTS.values()):
                weights = weight(*similarities)
                alignments = [align(weights[:, columns[position]]) for position in order]
                totals = tuple(map(total_weight, alignments))
                best = totals.index(max(totals))
                evaluations.append(Evaluation(order, totals, predicted, references[order[best]], alignments[best]))
        return evaluations

    def explained(self, unit: Unit, row: Row) -> Iterator[str]:
        """For each evaluation the references tried, the one chosen, and the alignment."""
        yield f"instance {plain(unit.id)}"
        for level, each in zip(WEIGHTS, self.evaluated(unit)):
            tried = [f"reference {at + 1} total {total:.4f}" for at, total in zip(each.order, each.totals)]
            yield ""
            yield f"{level}: {', '.join(f'{aspect} {score:.4f}' for aspect, score in zip(ASPECTS, each.scores))}"
            yield f"  tried in this order: {', '.join(tried)}"
            yield f"  chosen: reference {each.reference + 1}"
            yield from (f"  {line}" for line in _explained_alignment(each))

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        evaluation = self.evaluated(unit)[list(WEIGHTS).index(measure.partition("_")[0])]
        aligned = {pair.gold: pair for pair in evaluation.pairs}
        for place, gold in enumerate(evaluation.gold):
            if place not in aligned:
                missed = Fault(MISSED_FACT, None, None, unit.gold.derivations[evaluation.reference][place])
                yield Part("fact", list(gold), False, None, (missed,))
                continue
            position, _, weight = aligned[place]
            fact, faults = evaluation.predicted[position], []
            if _differ(fact.head, gold.head) or _differ(fact.tail, gold.tail):
                faults.append(Fault(WRONG_ENTITY, position + 1, [fact.head, fact.tail], [gold.head, gold.tail]))
            if _differ(fact.relation, gold.relation):
                faults.append(Fault(WRONG_RELATION, position + 1, fact.relation, gold.relation))
            shown = f"[{', '.join(map(quoted, fact))}], weight {weight:.4f}"
            yield Part("fact", list(gold), not faults, shown, tuple(faults))
        predicted = {pair.predicted for pair in evaluation.pairs}
        for place, fact in enumerate(evaluation.predicted):
            if place not in predicted:
                extra = Fault(EXTRA_FACT, place + 1, list(fact), None)
                yield Part("fact", list(fact), False, "aligned with nothing", (extra,))

    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> object:
        steps = list(unit.prediction)
        dropped = set()
        for fault in faults:
            if fault.kind == MISSED_FACT:
                steps.append(fault.gold)
                continue
            place = int(fault.part or 0) - 1
            if fault.kind == EXTRA_FACT:
                dropped.add(place)
                continue
            title, number, (head, relation, tail, *rest) = steps[place]
            if fault.kind == WRONG_ENTITY:
                head, tail = fault.gold
            else:
                relation = fault.gold
            steps[place] = [title, number, [head, relation, tail, *rest]]
        return [step for place, step in enumerate(steps) if place not in dropped]

    def groups(self, unit: Unit) -> Mapping[str, str]:
        references = unit.gold.derivations
        first = references[0] if isinstance(references, list) and references else None
        return {"gold_facts": str(len(first))} if isinstance(first, list) else {}


def _differ(one: str, other: str) -> bool:
    """Whether two texts differ for the scorer, which ignores letter case."""
    return one.lower() != other.lower()


def drawn_orders(instances: int, references: int) -> list[tuple[Order, ...]]:
    """For each instance the reference positions that `e`, `r` and `er` try, in order (section 4).

    One stream serves the whole run: first a draw for `e` of every instance, then for `r`, then for `er`.
    """
    stream = random.Random(SEED)
    positions = range(REFERENCE_POSITIONS)
    by_level = [[tuple(stream.sample(positions, references)) for _ in range(instances)] for _ in WEIGHTS]
    return list(zip(*by_level))


def load_packages() -> None:
    """Raises MissingExtraError where rapidfuzz or scipy is not installed, CsScoreError where scipy has no room.

    The library for linear algebra that comes with it is not needed here. It starts a thread for each processor as soon
    as it is loaded and, where memory is limited too tightly for that, may wait for ever, deaf to signals.
    """
    is_chosen = _THREADS in os.environ
    try:
        importlib.import_module("rapidfuzz.distance.Levenshtein")
        if "scipy.optimize" in sys.modules:
            return
        mmap.mmap(-1, _ROOM).close()
        os.environ.setdefault(_THREADS, "1")
        importlib.import_module("scipy.optimize")
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name).partition(".")[0], EXTRA) from None
    except OSError:
        problem = f"scipy needs {_ROOM >> 20} MB of address space, and there is less; raise the limit (ulimit -v)"
        raise CsScoreError(problem) from None
    finally:
        if not is_chosen:
            os.environ.pop(_THREADS, None)


def compare(predicted: Sequence[Fact], gold: Sequence[Fact]) -> tuple[Matrix, Matrix, Matrix]:
    """Similarities of heads, relations and tails of predicted facts (rows) with those of gold facts (columns)."""
    head, relation, tail = (
        similarities([fact[part] for fact in predicted], [fact[part] for fact in gold]) for part in range(3)
    )
    return head, relation, tail


def similarities(ones: Sequence[str], others: Sequence[str]) -> Matrix:
    """1 - Levenshtein distance of the lower-cased strings / length of the longer string as given.

    Each is at most 1; below 0 where lower-casing lengthens a string; not a number where both are empty, which is an
    error only if an evaluation uses it. Of equal pairs only the first is compared.
    """
    import numpy as np
    from rapidfuzz.distance.Levenshtein import distance
    from rapidfuzz.process import cdist

    rows, columns = ({text: number for number, text in enumerate(dict.fromkeys(side))} for side in (ones, others))
    if not rows or not columns:
        return np.zeros((len(ones), len(others)))
    lowered = ([text.lower() for text in side] for side in (rows, columns))
    distances = cdist(*lowered, scorer=distance)
    # The lengths are those before lower-casing, which turns a capital I with dot into two code points.
    longer = np.maximum.outer([len(text) for text in rows], [len(text) for text in columns])
    with np.errstate(invalid="ignore"):
        known = 1 - distances / longer
    if len(rows) == len(ones) and len(columns) == len(others):
        return known
    return known[np.ix_([rows[text] for text in ones], [columns[text] for text in others])]


def align(weights: ArrayLike) -> list[Aligned]:
    """The one-to-one alignment of greatest total weight, in the order of the predicted facts.

    `weights` has a row per predicted and a column per gold fact. A pair whose weight is 0 or less is never
    made: leaving both facts alone is as good. Raises InputError where a weight is not a number.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    gains = np.maximum(0.0, weights)
    if not gains.size:
        return []
    if np.isnan(gains).any():
        raise InputError("two empty strings are to be compared, for which no similarity is defined")
    rows, columns = linear_sum_assignment(gains, maximize=True)
    chosen = zip(rows.tolist(), columns.tolist(), gains[rows, columns].tolist())
    return [Aligned(row, column, weight) for row, column, weight in chosen if weight > 0]


def total_weight(pairs: Iterable[Aligned]) -> float:
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


def _explained_alignment(evaluation: Evaluation) -> list[str]:
    """Each aligned pair with the similarities of its parts, then the facts that stay alone on either side.

    As a table where a screen is wide enough, else each on lines of its own.
    """
    _, _, predicted, gold, pairs = evaluation
    rows: list[tuple[str, ...]] = [("predicted", "gold", "head", "relation", "tail", "weight")]
    for position, place, weight in pairs:
        fact, wanted = predicted[position], gold[place]
        parts = (f"{part.item():.4f}" for part in compare([fact], [wanted]))
        rows.append((_shown(fact), _shown(wanted), *parts, f"{weight:.4f}"))
    matched, found = {pair.predicted for pair in pairs}, {pair.gold for pair in pairs}
    rows += [(_shown(fact), "-") for position, fact in enumerate(predicted) if position not in matched]
    rows += [("-", _shown(fact)) for place, fact in enumerate(gold) if place not in found]
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


MODE: Final = R4C()
