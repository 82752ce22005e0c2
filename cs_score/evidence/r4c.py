"""Scoring for R4C: derivations of answers, compared with three reference derivations (Inoue et al. 2020).
A derivation is a list of facts that lead to an answer, such as (Ada Lovelace, was born in, London). An instance is a
question with references in gold and a predicted derivation.

The predicted facts are aligned one to one with the facts of a reference so that the total similarity of their texts is
as large as possible. Each of three evaluations chooses the reference with the largest total. The numbers are those of
the official script, but another solver finds the alignment.
"""

from __future__ import annotations

import importlib
import mmap
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple, TypeAlias

from msgspec import Meta

from cs_score.base.display import SCREEN_WIDTH, number_with_noun
from cs_score.base.errors import CsScoreError, InputError, MissingExtraError, UsageError
from cs_score.base.records import Record
from cs_score.base.sources import Source
from cs_score.evidence import reading
from cs_score.evidence.mode import Contents, Fault, Mode, PairedUnit, Part, Row, Unit, report_rows
from cs_score.evidence.reading import InputContent, quoted, short_text
from cs_score.evidence.report import align_rows
from cs_score.measures import divide, measure_names, precision_recall_f1
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:  # numpy is imported with what needs it
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Matrix: TypeAlias = NDArray[np.float64]

EXTRA: Final = "r4c"
"""The extra of the package that installs the edit distance and the assignment solver."""

_SCIPY_MEGABYTES: Final = 224
"""The address space, in units of 2**20 bytes, that scipy and its libraries need with one thread, and some reserve."""

_THREADS_VARIABLE: Final = "OPENBLAS_NUM_THREADS"
"""The environment variable for the number of threads of the library for linear algebra."""

_WEIGHTS_BY_EVALUATION: Final[dict[str, Callable[[Matrix, Matrix, Matrix], Matrix]]] = {
    "e": lambda head, relation, tail: (head + tail) / 2,
    "r": lambda head, relation, tail: relation,
    # The order of the sum decides on its last digits. It is not the mean of the other two weights.
    "er": lambda head, relation, tail: (head + tail + relation) / 3,
}
"""The function of each evaluation that returns the weights of pairs of facts.

Its arguments are the similarities of the heads, of the relations and of the tails of the facts.
"""

EVALUATIONS: Final = tuple(_WEIGHTS_BY_EVALUATION)
"""The three evaluations, of entities (e), relation (r) and both (er), in the order in which they draw references."""

MOST_REFERENCES: Final = 3
"""The largest number of reference derivations of an instance that are used; a fourth reference never is.

An evaluation tries all of them, or some that are drawn at random.
"""

SEED: Final = 3
"""The seed of the official script's random stream, which is never reset."""

ASPECTS: Final = ("prec", "recall", "f1")

_INDENT: Final = "  "
"""The indentation of the lines that explain an evaluation."""

_ALIGNMENT_HEADING: Final = ("predicted", "gold", "head", "relation", "tail", "weight")
"""The heading of the table that shows an alignment."""

EXTRA_FACT: Final = "extra_fact"
WRONG_ENTITY: Final = "wrong_entity"
WRONG_RELATION: Final = "wrong_relation"
MISSED_FACT: Final = "missed_fact"


class R4COptions(Record):
    """The options of a scoring."""

    references: Annotated[
        int, Meta(ge=1, le=3, description="Reference derivations drawn for each evaluation of an instance, 1 to 3")
    ] = MOST_REFERENCES
    ignore_missing: Annotated[bool, Meta(description="Leave out instances without prediction instead of failing")] = (
        False
    )

    answered_only: Annotated[bool, Meta(description="The same as --ignore-missing, by its name in the other tasks")] = (
        False
    )

    def __post_init__(self) -> None:
        """Raise UsageError unless the number of references is possible, which is a whole number from 1 to 3."""
        if self.references not in range(1, MOST_REFERENCES + 1):
            problem = f"references is {self.references!r}, not a whole number from 1 to {MOST_REFERENCES}"
            raise UsageError(problem)


Order: TypeAlias = tuple[int, ...]
"""The positions of references in the order in which they are tried."""


class Fact(NamedTuple):
    """A fact of a derivation, such as (Ada Lovelace, was born in, London)."""

    head: str
    relation: str
    tail: str


Derivation: TypeAlias = tuple[Fact, ...]


class AlignedPair(NamedTuple):
    """The positions of a predicted fact and a gold fact that are aligned, and the weight of the pair, above 0."""

    predicted_position: int
    gold_position: int
    weight: float


class InstanceEvaluation(NamedTuple):
    """One of the three evaluations of an instance.

    `order` contains the positions of the references that were drawn, and `totals` contains the total weight of the
    alignment with each of them. `pairs` is the alignment of the predicted facts with the facts of the chosen reference
    (`gold_facts`).
    """

    order: Order
    totals: tuple[float, ...]
    predicted_facts: Derivation
    gold_facts: Derivation
    pairs: list[AlignedPair]

    @property
    def reference(self) -> int:
        """The position of the chosen reference, which is the first one in `order` with the largest total."""
        return self.order[self.totals.index(max(self.totals))]

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall and F1. The total weight of the alignment is used as the number of correct facts."""
        return precision_recall_f1(max(self.totals), len(self.predicted_facts), len(self.gold_facts), divide)


class References(NamedTuple):
    """The reference derivations of an instance as read from the file, and the orders in which they are tried.

    `orders` contains an order for each of the three evaluations, which lists the positions of the references drawn for
    it.
    """

    derivations: object
    orders: tuple[Order, ...]


class R4C(Mode):
    """Instances with a predicted derivation, which three evaluations compare with the references of gold.

    Each evaluation chooses its own reference. The faults for a measure are those of its evaluation, which is `e` for
    the measure `e_f1`.
    """

    name = "r4c"
    unit = "instance"
    columns = ("instances", *measure_names("r4c"))
    headings = ("precision", "recall", "f1")
    rows = report_rows(EVALUATIONS, columns[1:])
    kinds = (EXTRA_FACT, WRONG_ENTITY, WRONG_RELATION, MISSED_FACT)
    options = R4COptions
    fixed_settings: ClassVar[Mapping[str, object]] = {"seed": SEED}
    summary = "Score R4C derivations by entities (e), relation (r) and both (er)"
    files = (
        "Gold is a JSON object from instance id to reference derivations; predictions hold derivations by instance id "
        'under the key "re". Needs the extra packages of cs-score[r4c].'
    )
    takes_long = True

    def official_scores(self, scores: Mapping[str, float]) -> dict[str, object]:
        """Return the scores as the official script writes them: {"e": {"prec": ..., "recall": ..., "f1": ...}, ...}."""
        scores_by_evaluation: dict[str, object] = {}
        for evaluation in EVALUATIONS:
            score_by_aspect = {aspect: scores[f"{evaluation}_{aspect}"] for aspect in ASPECTS}
            scores_by_evaluation[evaluation] = score_by_aspect
        return scores_by_evaluation

    def check_packages(self) -> None:
        """Raise MissingExtraError if the edit distance or the solver is not installed."""
        load_packages()

    # ---- Files

    def gold(self, source: Source) -> reading.Object:
        """Return the reference derivations of a gold file by instance id. Raises InputError for anything else."""
        return reading.as_object(reading.json_document(source), "the file")

    def predictions(self, source: Source) -> reading.Object:
        """Return the derivations that a predictions file has under the key "re", by instance id.

        Raises InputError for a malformed file.
        """
        return reading.as_object(reading.member(self.gold(source), "re"), "'re'")

    def is_gold(self, first: object) -> bool | None:
        """Return whether the first JSON value of a file is gold (without the key "re"), or None if it is not an object.

        A file of this task has a single JSON value.
        """
        if not isinstance(first, dict):
            return None
        return "re" not in first

    def pair_units(
        self, gold: InputContent, predictions: InputContent, options: R4COptions
    ) -> tuple[Iterable[PairedUnit], Iterable[str]]:
        """Return the id, the references and the prediction of each instance, and the notices for the user.

        Instances without a prediction are left out if the options say so. Otherwise InputError is raised.
        """
        missing_ids = [instance for instance in gold.content if instance not in predictions.content]
        missing_in_words = f"{len(missing_ids):,} of {number_with_noun(len(gold.content), 'instance')}"
        if missing_ids and not self.is_answered_only(options):
            raise _no_derivation_error(missing_ids[0], missing_in_words, predictions.name)
        pairs = _pair_instances(gold.content, predictions.content, options.references)
        if not pairs:
            raise InputError("no instance has a prediction, so there is nothing to score", file=predictions.name)
        notices = []
        if missing_ids:
            notices.append(f"{predictions.name}: {missing_in_words} left out, without prediction")
        return pairs, notices

    def is_answered_only(self, options: Any) -> bool:
        """Return whether the options leave out instances without prediction."""
        return bool(options.ignore_missing or options.answered_only)

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        """Return how many instances gold has, how many derivations the predictions have, and how many are scored.

        An example is `(((300, "instance"),), ((298, "derivation"), (298, "scored instance")))`.
        """
        derivations = (len(predictions), "derivation")
        scored = (len(table.ids), "scored instance")
        return ((len(gold), "instance"),), (derivations, scored)

    # ---- Scoring

    def row(self, unit: Unit) -> Row:
        """Return 1 for the instance, then precision, recall and F1 of each of the three evaluations.

        Raises InputError for a derivation or a reference that cannot be compared.
        """
        row = [1.0]
        for evaluation in self.evaluate(unit):
            row += evaluation.scores
        return tuple(row)

    def evaluate(self, unit: Unit) -> list[InstanceEvaluation]:
        """Return the three evaluations of an instance in the order of `EVALUATIONS`, with the references they choose.

        An evaluation aligns the predicted derivation with each reference that was drawn for it, and chooses the
        reference with the largest total weight. Raises InputError if a derivation is malformed, if a reference was
        drawn that the instance does not have, or if two empty texts would have to be compared.
        """
        with self.error_location(unit) as location:
            location.file = unit.predictions_file  # errors name this file, until another one is set
            predicted = _read_derivation(unit.prediction)
            location.file = unit.gold_file
            references = _read_references(unit.gold)
            comparison = _compare_with_references(predicted, references)
            evaluations = []
            # The positions of the references that were drawn for each of the evaluations e, r and er: (2, 0).
            drawn_references_by_evaluation = dict(zip(EVALUATIONS, unit.gold.orders))
            for evaluation_name, drawn_references in drawn_references_by_evaluation.items():
                weight_function = _WEIGHTS_BY_EVALUATION[evaluation_name]
                evaluations.append(_choose_reference(comparison, drawn_references, weight_function))
        return evaluations

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain an instance, with the references tried and the alignment for each evaluation.

        The scores in `row` are not needed, because the instance is evaluated again.
        """
        yield f"instance {short_text(unit.id)}"
        for evaluation_name, evaluation in zip(EVALUATIONS, self.evaluate(unit)):
            scores = [f"{aspect} {score:.4f}" for aspect, score in zip(ASPECTS, evaluation.scores)]
            yield ""
            yield f"{evaluation_name}: {', '.join(scores)}"
            yield f"  tried in this order: {_show_totals(evaluation)}"
            yield f"  chosen: reference {evaluation.reference + 1}"
            for line in _explain_alignment(evaluation):
                yield f"{_INDENT}{line}"

    # ---- Faults of predictions

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        """Yield each fact of the chosen reference, then each unaligned predicted fact, with their judgments.

        The reference is chosen by the evaluation that the measure belongs to. For example, the evaluation of `e_f1` is
        `e`.
        """
        evaluation_name = measure.partition("_")[0]
        evaluation_by_name = dict(zip(EVALUATIONS, self.evaluate(unit)))
        evaluation = evaluation_by_name[evaluation_name]
        # A step is [title, sentence number, fact], as in the file.
        steps_of_reference = unit.gold.derivations[evaluation.reference]
        yield from _gold_fact_parts(evaluation, steps_of_reference)
        yield from _extra_fact_parts(evaluation)

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> object:
        """Return the predicted derivation of an instance after the correction of these faults, as a list of steps.

        Missed steps are added at the end, extra steps are left out, and wrong entities and relations are replaced. The
        field `part` of a fault is the number of the predicted step. Its field `gold` is a whole step for a missed fact,
        a head and a tail for wrong entities, and a relation for a wrong relation.
        """
        step_by_number: dict[Any, Any] = dict(enumerate(unit.prediction, start=1))
        missed_steps = []
        for fault in faults:
            if fault.kind == MISSED_FACT:
                missed_steps.append(fault.gold)
            elif fault.kind == EXTRA_FACT:
                del step_by_number[fault.part]
            else:
                step_by_number[fault.part] = _correct_step(step_by_number[fault.part], fault)
        steps = list(step_by_number.values())
        return steps + missed_steps

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the group of an instance: {"gold_facts": "3"}. Analyses show the scores of each group.

        It is the number of facts of the first reference. The dictionary is empty if this reference is missing or
        malformed.
        """
        references = unit.gold.derivations
        if not isinstance(references, list) or not references:
            return {}
        first_reference = references[0]
        if not isinstance(first_reference, list):
            return {}
        return {"gold_facts": str(len(first_reference))}


def _no_derivation_error(instance: str, missing_in_words: str, predictions_file: str) -> InputError:
    """Return the error for an instance without a predicted derivation.

    `missing_in_words` says how many instances lack a derivation, such as "2 of 300 instances".
    """
    return InputError(
        f"no derivation for it ({missing_in_words} have none)",
        file=predictions_file,
        place=f"instance {short_text(instance)}",
        remedy="--ignore-missing leaves such instances out",
    )


def _pair_instances(gold: reading.Object, predictions: reading.Object, reference_count: int) -> list[PairedUnit]:
    """Return a triple `(id, references, prediction)` for each instance of gold that has a prediction.

    `gold` and `predictions` contain the references and the predicted derivations by instance id. `reference_count` is
    the number of references to draw for each evaluation of an instance. This function draws the references, and stores
    the order in which each evaluation tries them in `References.orders`.
    """
    ids = [instance for instance in gold if instance in predictions]
    pairs = []
    for instance, orders in zip(ids, draw_orders(len(ids), reference_count)):
        references = References(gold[instance], orders)
        pairs.append((instance, references, predictions[instance]))
    return pairs


class _Comparison(NamedTuple):
    """A predicted derivation, compared with all references that were drawn for an instance.

    `heads`, `relations` and `tails` have the similarities of the parts of facts. Each has a row for each predicted fact
    and a column for each fact of the references, which follow one another. `columns_of_reference` has the columns of
    each reference by its position.
    """

    predicted_facts: Derivation
    references: Mapping[int, Derivation]
    columns_of_reference: Mapping[int, slice]
    heads: Matrix
    relations: Matrix
    tails: Matrix


def _compare_with_references(predicted_facts: Derivation, references: Mapping[int, Derivation]) -> _Comparison:
    """Return the similarities between the predicted facts and the facts of all references, given by position.

    The facts of all references are collected in one list, so that they can be compared with a single call of the edit
    distance. A matrix of similarities has a row for each predicted fact, and a column for each fact in this list.
    """
    gold_facts: list[Fact] = []
    columns_of_reference: dict[int, slice] = {}
    for position, facts in references.items():
        first_column = len(gold_facts)
        gold_facts += facts
        columns_of_reference[position] = slice(first_column, len(gold_facts))
    heads, relations, tails = compare_facts(predicted_facts, gold_facts)
    return _Comparison(predicted_facts, references, columns_of_reference, heads=heads, relations=relations, tails=tails)


def _choose_reference(
    comparison: _Comparison, order: Order, weight_function: Callable[[Matrix, Matrix, Matrix], Matrix]
) -> InstanceEvaluation:
    """Return an evaluation of an instance, for which the reference with the largest total weight is chosen.

    `order` contains the positions of the references to try. If several have the largest total weight, the first of them
    is chosen. `weight_function` returns the weights of pairs of facts, given the similarities of their heads, relations
    and tails.
    """
    # A row for each predicted fact, and a column for each fact of the references.
    weights = weight_function(comparison.heads, comparison.relations, comparison.tails)
    alignments = []
    for position in order:
        columns = comparison.columns_of_reference[position]  # the columns of the facts of this reference
        alignments.append(align(weights[:, columns]))
    totals = tuple([total_weight(alignment) for alignment in alignments])
    best_trial = totals.index(max(totals))  # the first of equal ones
    best_position = order[best_trial]
    return InstanceEvaluation(
        order=order,
        totals=totals,
        predicted_facts=comparison.predicted_facts,
        gold_facts=comparison.references[best_position],
        pairs=alignments[best_trial],
    )


def _gold_fact_parts(evaluation: InstanceEvaluation, steps: Sequence[Any]) -> Iterator[Part]:
    """Yield each fact of the chosen reference, judged by the predicted fact that is aligned with it.

    A fact without an aligned predicted fact is missed. `steps` are the steps of the reference as read from the file.
    """
    pair_by_gold_position = {pair.gold_position: pair for pair in evaluation.pairs}
    for gold_position, gold_fact in enumerate(evaluation.gold_facts):
        pair = pair_by_gold_position.get(gold_position)
        if pair is not None:
            predicted_fact = evaluation.predicted_facts[pair.predicted_position]
            yield _judge_aligned_fact(pair, predicted_fact, gold_fact)
        else:
            missed = Fault(kind=MISSED_FACT, part=None, predicted=None, gold=steps[gold_position])
            yield Part(noun="fact", value=list(gold_fact), is_right=False, judgment=None, faults=(missed,))


def _extra_fact_parts(evaluation: InstanceEvaluation) -> Iterator[Part]:
    """Yield each predicted fact that is not aligned with a fact of the chosen reference, judged as wrong."""
    aligned_positions = {pair.predicted_position for pair in evaluation.pairs}
    for position, fact in enumerate(evaluation.predicted_facts):
        if position not in aligned_positions:
            extra = Fault(kind=EXTRA_FACT, part=position + 1, predicted=list(fact), gold=None)
            judgment = "aligned with nothing"
            yield Part(noun="fact", value=list(fact), is_right=False, judgment=judgment, faults=(extra,))


def _judge_aligned_fact(pair: AlignedPair, predicted_fact: Fact, gold_fact: Fact) -> Part:
    """Return a fact of gold as a part of the instance, with the faults of the predicted fact that is aligned with it.

    `pair` contains the positions of the two facts and their weight. The judgment shows the predicted fact and the
    weight.
    """
    step_number = pair.predicted_position + 1
    faults = _faults_of_aligned_fact(step_number, predicted_fact, gold_fact)
    predicted_texts = ", ".join([quoted(text) for text in predicted_fact])
    judgment = f"[{predicted_texts}], weight {pair.weight:.4f}"
    return Part(noun="fact", value=list(gold_fact), is_right=not faults, judgment=judgment, faults=tuple(faults))


def _faults_of_aligned_fact(step_number: int, predicted: Fact, gold: Fact) -> list[Fault]:
    """Return the faults of a predicted fact that is aligned with a fact of gold: wrong entities, a wrong relation.

    The entities are the head and the tail. `step_number` is the number of the predicted step, from 1.
    """
    faults = []
    if _differ(predicted.head, gold.head) or _differ(predicted.tail, gold.tail):
        predicted_entities = [predicted.head, predicted.tail]
        gold_entities = [gold.head, gold.tail]
        faults.append(Fault(kind=WRONG_ENTITY, part=step_number, predicted=predicted_entities, gold=gold_entities))
    if _differ(predicted.relation, gold.relation):
        faults.append(Fault(kind=WRONG_RELATION, part=step_number, predicted=predicted.relation, gold=gold.relation))
    return faults


def _correct_step(step: Sequence[Any], fault: Fault) -> list[Any]:
    """Return a predicted step with the wrong entities or the wrong relation of a fault replaced.

    The field `gold` of the fault is a pair of entities if the entities are wrong, and a relation otherwise.
    """
    if fault.kind == WRONG_ENTITY:
        head, tail = fault.gold
        return _replace_in_step(step, head=head, tail=tail)
    return _replace_in_step(step, relation=fault.gold)


def _replace_in_step(
    step: Sequence[Any], *, head: str | None = None, relation: str | None = None, tail: str | None = None
) -> list[Any]:
    """Return a step of a derivation in which some parts of the fact are replaced.

    A step is `[title, sentence number, [head, relation, tail]]`. An argument of None leaves its part as it is. Further
    items of the fact are kept.
    """
    title, sentence_number, fact = step
    old_head, old_relation, old_tail, *further_items = fact
    new_fact = [
        old_head if head is None else head,
        old_relation if relation is None else relation,
        old_tail if tail is None else tail,
        *further_items,
    ]
    return [title, sentence_number, new_fact]


def _differ(first: str, second: str) -> bool:
    """Return whether two texts differ apart from letter case, which the scorer ignores."""
    return first.lower() != second.lower()


def draw_orders(instance_count: int, reference_count: int) -> list[tuple[Order, ...]]:
    """Return the three orders in which the evaluations try the references of each instance.

    The evaluations compare entities (`e`), relations (`r`), and both (`er`). An order such as (2, 0) consists of
    `reference_count` positions drawn at random from 0, 1 and 2. As in the official script, a single stream of random
    numbers is used for the whole run. It first draws the orders of `e` for all instances, then the orders of `r`, and
    then the orders of `er`.
    """
    stream = random.Random(SEED)
    positions = range(MOST_REFERENCES)
    orders_by_evaluation = []
    for _evaluation in EVALUATIONS:
        orders = [tuple(stream.sample(positions, reference_count)) for _instance in range(instance_count)]
        orders_by_evaluation.append(orders)
    return list(zip(*orders_by_evaluation))  # the three orders of each instance


def load_packages() -> None:
    """Import the packages that scoring R4C needs: rapidfuzz for edit distances, and scipy for alignments.

    Raises MissingExtraError if a package is not installed, and CsScoreError if there is too little memory.
    """
    try:
        importlib.import_module("rapidfuzz.distance.Levenshtein")
        if "scipy.optimize" not in sys.modules:
            _import_scipy_with_one_thread()
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]  # "scipy" of "scipy.optimize"
        raise MissingExtraError(package, EXTRA) from None
    except OSError:  # raised if the libraries of scipy cannot be mapped into the address space
        problem = f"scipy needs {_SCIPY_MEGABYTES} MB of address space, and there is less; raise the limit (ulimit -v)"
        raise CsScoreError(problem) from None


def _import_scipy_with_one_thread() -> None:
    """Import the assignment solver of scipy, limiting its linear algebra library to one thread.

    By default, the library starts a thread for each processor. If there is not enough memory for these threads, it may
    hang and ignore signals. If the user has set a number of threads, it is respected. Raises OSError if there is too
    little memory even for one thread.
    """
    user_has_set_threads = _THREADS_VARIABLE in os.environ
    # The import may hang if there is too little memory. To test this first, the memory is reserved and freed again.
    mmap.mmap(-1, _SCIPY_MEGABYTES << 20).close()  # raises OSError if there is not enough memory
    try:
        os.environ.setdefault(_THREADS_VARIABLE, "1")
        importlib.import_module("scipy.optimize")
    finally:
        if not user_has_set_threads:
            os.environ.pop(_THREADS_VARIABLE, None)


def compare_facts(predicted: Sequence[Fact], gold: Sequence[Fact]) -> tuple[Matrix, Matrix, Matrix]:
    """Return the similarities of heads, relations and tails of predicted facts (rows) and gold facts (columns)."""
    heads = similarities([fact.head for fact in predicted], [fact.head for fact in gold])
    relations = similarities([fact.relation for fact in predicted], [fact.relation for fact in gold])
    tails = similarities([fact.tail for fact in predicted], [fact.tail for fact in gold])
    return heads, relations, tails


def similarities(predicted: Sequence[str], gold: Sequence[str]) -> Matrix:
    """Return the similarity of each predicted text (row) with each text of gold (column).

    The similarity is 1 for equal texts, and decreases as more characters differ (`_compare_each_pair`). Repeated texts
    are compared only once.
    """
    import numpy as np

    row_by_text = _number_distinct_texts(predicted)
    column_by_text = _number_distinct_texts(gold)
    if not row_by_text or not column_by_text:
        return np.zeros((len(predicted), len(gold)))
    similarity_of_texts = _compare_each_pair(list(row_by_text), list(column_by_text))
    if len(row_by_text) == len(predicted) and len(column_by_text) == len(gold):
        return similarity_of_texts
    rows = [row_by_text[text] for text in predicted]
    columns = [column_by_text[text] for text in gold]
    return similarity_of_texts[np.ix_(rows, columns)]


def _compare_each_pair(predicted: Sequence[str], gold: Sequence[str]) -> Matrix:
    """Return the similarity of each predicted text (row) with each text of gold (column).

    The similarity is 1 - d / n, where d is the Levenshtein distance of both texts in lower case, and n is the length of
    the longer text before it is changed to lower case. It is at most 1. It can be below 0 if a text is longer in lower
    case. It is NaN if both texts are empty; `align` raises an error in this case.
    """
    import numpy as np
    from rapidfuzz.distance.Levenshtein import distance
    from rapidfuzz.process import cdist

    distances = cdist([text.lower() for text in predicted], [text.lower() for text in gold], scorer=distance)
    # The lengths are those before lower-casing, which turns a capital I with dot into two code points.
    row_lengths = [len(text) for text in predicted]
    column_lengths = [len(text) for text in gold]
    longer_lengths = np.maximum.outer(row_lengths, column_lengths)  # (predicted, gold), as the distances
    with np.errstate(invalid="ignore"):  # 0 / 0 is not a number, without a warning
        similarity: Matrix = 1 - distances / longer_lengths
    return similarity


def _number_distinct_texts(texts: Iterable[str]) -> dict[str, int]:
    """Return the position of each text among the distinct texts: ["b", "a", "b"] -> {"b": 0, "a": 1}."""
    number_by_text: dict[str, int] = {}
    for text in texts:
        number_by_text.setdefault(text, len(number_by_text))
    return number_by_text


def align(weights: ArrayLike) -> list[AlignedPair]:
    """Return the one-to-one alignment with the largest total weight, in the order of the predicted facts.

    `weights` has a row for each predicted fact and a column for each gold fact. Two facts with a weight of 0 or less
    are never aligned, because they would not increase the total. Raises InputError for a weight of NaN.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    gains = np.maximum(0.0, weights)  # NaN, the similarity of two empty texts, is preserved
    if not gains.size:
        return []
    if np.isnan(gains).any():
        raise InputError("two empty strings are to be compared, for which no similarity is defined")
    rows, columns = linear_sum_assignment(gains, maximize=True)  # a row and a column for each pair
    weights_of_pairs = gains[rows, columns]
    pairs = []
    for row, column, weight in zip(rows.tolist(), columns.tolist(), weights_of_pairs.tolist()):
        if weight > 0:
            pairs.append(AlignedPair(predicted_position=row, gold_position=column, weight=weight))
    return pairs


def total_weight(pairs: Iterable[AlignedPair]) -> float:
    """Return the sum of the weights of pairs, with the same rounding as in the official script.

    The built-in `sum` is not used, because it rounds in another way in recent Python versions.
    """
    total = 0.0
    for pair in pairs:
        total += pair.weight
    return total


# ---- Reading derivations


def _read_references(gold: References) -> dict[int, Derivation]:
    """Return the references of an instance that were drawn, by their positions in ascending order.

    Raises InputError for a reference that is malformed or missing.
    """
    derivations = reading.as_list(gold.derivations, "its list of references")
    drawn_positions: set[int] = set()
    for order in gold.orders:
        drawn_positions.update(order)
    return {position: _derivation_at(derivations, position) for position in sorted(drawn_positions)}


def _derivation_at(derivations: Sequence[object], position: int) -> Derivation:
    """Return the facts of the reference at a position that was drawn at random for an evaluation.

    `derivations` are the JSON values of all references of the instance. Raises InputError if the reference is malformed
    or missing.
    """
    if position >= len(derivations):
        number_in_words = number_with_noun(len(derivations), "reference")
        raise InputError(f"reference {position + 1} was drawn, but the instance has only {number_in_words}")
    with reading.ErrorLocation(place={"reference": position + 1}):
        return _read_derivation(derivations[position])


def _read_derivation(value: object) -> Derivation:
    """Return the facts of a derivation, given its JSON value. Raises InputError unless it is a list of steps."""
    return tuple([_read_fact(step) for step in reading.as_list(value, "the derivation")])


def _read_fact(step: object) -> Fact:
    """Return the fact of a step `[title, sentence number, fact]`, which is the only part that is scored.

    Items of the fact after head, relation and tail are ignored. Raises InputError for a malformed step.
    """
    items = reading.as_list(step, "a step")
    if len(items) != 3:
        item_count = number_with_noun(len(items), "item")
        raise InputError(f"a step of {item_count} where [title, sentence number, fact] is expected")
    _title, _sentence_number, fact = items
    head, relation, tail = _texts_of_fact(fact)
    return Fact(head, relation, tail)


def _texts_of_fact(fact: object) -> list[str]:
    """Return head, relation and tail of a fact, which are its first three items.

    Raises InputError for anything but a list that begins with three texts.
    """
    texts = reading.as_list(fact, "a fact")[:3]
    if len(texts) < 3:
        raise InputError(f"a fact of {number_with_noun(len(texts), 'item')} where [head, relation, tail] is expected")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"a fact holds {reading.kind_of(text)} where text is expected")
    return [str(text) for text in texts]


# ---- Explaining an alignment


def _show_totals(evaluation: InstanceEvaluation) -> str:
    """Return the total weights of the references in words, in the order in which the evaluation tried them.

    An example is "reference 2 total 1.5000, reference 1 total 0.7500".
    """
    totals_in_words = []
    for position, total in zip(evaluation.order, evaluation.totals):
        totals_in_words.append(f"reference {position + 1} total {total:.4f}")
    return ", ".join(totals_in_words)


def _explain_alignment(evaluation: InstanceEvaluation) -> list[str]:
    """Return the lines that show the pairs of facts of an alignment, and then the facts that are not aligned.

    The similarities and the weight of each pair are shown. The lines form a table if it fits the width of a screen.
    Otherwise there are two or three lines for each pair and for each fact that is not aligned.
    """
    rows = _alignment_rows(evaluation)
    table_lines = align_rows([_ALIGNMENT_HEADING, *rows])
    width = max([len(line) for line in table_lines])
    if width + len(_INDENT) <= SCREEN_WIDTH:
        return table_lines
    lines = []
    for row in rows:
        lines += _lines_of_row(row)
    return lines


def _lines_of_row(row: Sequence[str]) -> list[str]:
    """Return a row of the alignment table as lines, which show the predicted fact, the fact of gold, and the numbers.

    There are no numbers for a fact that is not aligned.
    """
    predicted_text, gold_text, *numbers = row
    lines = [f"predicted  {predicted_text}", f"gold       {gold_text}"]
    if numbers:
        numbers_with_names = [f"{name} {number}" for name, number in zip(_ALIGNMENT_HEADING[2:], numbers)]
        below_facts = " " * len("predicted  ")  # aligns the numbers with the facts
        lines.append(f"{below_facts}{', '.join(numbers_with_names)}")
    return lines


def _alignment_rows(evaluation: InstanceEvaluation) -> list[tuple[str, ...]]:
    """Return the cells of a row for each pair of facts of an alignment, and for each fact that is not aligned.

    A fact that is not aligned has two cells, the fact and a hyphen in the place of the other fact.
    """
    rows = [_row_of_pair(evaluation, pair) for pair in evaluation.pairs]
    aligned_predicted_positions = {pair.predicted_position for pair in evaluation.pairs}
    aligned_gold_positions = {pair.gold_position for pair in evaluation.pairs}
    for position, fact in enumerate(evaluation.predicted_facts):
        if position not in aligned_predicted_positions:
            rows.append((_show_fact(fact), "-"))
    for position, fact in enumerate(evaluation.gold_facts):
        if position not in aligned_gold_positions:
            rows.append(("-", _show_fact(fact)))
    return rows


def _row_of_pair(evaluation: InstanceEvaluation, pair: AlignedPair) -> tuple[str, ...]:
    """Return the cells for a pair of aligned facts: both facts, the similarities of their parts, and the weight.

    The parts are heads, relations and tails.
    """
    predicted_fact = evaluation.predicted_facts[pair.predicted_position]
    gold_fact = evaluation.gold_facts[pair.gold_position]
    matrices = compare_facts([predicted_fact], [gold_fact])  # three matrices with a single cell
    similarities_of_parts = [f"{matrix.item():.4f}" for matrix in matrices]
    return _show_fact(predicted_fact), _show_fact(gold_fact), *similarities_of_parts, f"{pair.weight:.4f}"


def _show_fact(fact: Fact) -> str:
    """Return a fact as explanations show it: "(Ada Lovelace, was born in, London)"."""
    texts = ", ".join([short_text(text) for text in fact])
    return f"({texts})"


MODE: Final = R4C()
