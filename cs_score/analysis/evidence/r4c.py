"""R4C: facts that are extra or missed, and facts whose entities or relation differ from those they are aligned with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.evidence.r4c import MODE, WEIGHTS, R4CResult, ScoredInstance, Scorer, read_gold, score
from cs_score.evidence.reading import quoted
from cs_score.tasks.task import Examiner, Fault, Part, Row

EXTRA_FACT = "extra_fact"
WRONG_ENTITY = "wrong_entity"
WRONG_RELATION = "wrong_relation"
MISSED_FACT = "missed_fact"


class R4CExaminer(Examiner[R4CResult]):
    """The faults of derivations, held against the reference that the evaluation of the measure has chosen.

    The evaluations (entities, relation, both) choose and align each by itself; that of `e_f1` is `e`.
    """

    kinds: ClassVar[tuple[str, ...]] = (EXTRA_FACT, WRONG_ENTITY, WRONG_RELATION, MISSED_FACT)

    def unit(self, position: int) -> object:
        return self.result.instances[position].id

    def written(self, position: int) -> object:
        return self.result.instances[position].predicted

    def row(self, position: int, prediction: object) -> Row:
        return self._scored(position, prediction).row()

    def parts(self, position: int, prediction: object) -> Iterator[Part]:
        scored = self._scored(position, prediction)
        choice = scored.choices[list(WEIGHTS).index(self.measure.partition("_")[0])]
        references: Any = self.result.instances[position].references
        aligned = {pair.gold: pair for pair in choice.pairs}
        for place, gold in enumerate(scored.references[choice.reference]):
            if place not in aligned:
                missed = Fault(MISSED_FACT, None, None, references[choice.reference][place])
                yield Part("fact", list(gold), False, None, (missed,))
                continue
            number, fact = aligned[place].predicted + 1, scored.predicted[aligned[place].predicted]
            faults = []
            if _differ(fact.head, gold.head) or _differ(fact.tail, gold.tail):
                faults.append(Fault(WRONG_ENTITY, number, [fact.head, fact.tail], [gold.head, gold.tail]))
            if _differ(fact.relation, gold.relation):
                faults.append(Fault(WRONG_RELATION, number, fact.relation, gold.relation))
            shown = f"[{', '.join(map(quoted, fact))}], weight {aligned[place].weight:.4f}"
            yield Part("fact", list(gold), not faults, shown, tuple(faults))
        predicted = {pair.predicted for pair in choice.pairs}
        for place, fact in enumerate(scored.predicted):
            if place not in predicted:
                extra = Fault(EXTRA_FACT, place + 1, list(fact), None)
                yield Part("fact", list(fact), False, "aligned with nothing", (extra,))

    def corrected(self, position: int, prediction: object, faults: Iterable[Fault]) -> object:
        derivation: Any = prediction
        steps = list(derivation)
        dropped = set()
        for fault in faults:
            gold: Any = fault.gold
            if fault.kind == MISSED_FACT:
                steps.append(gold)
                continue
            place = int(fault.part or 0) - 1
            if fault.kind == EXTRA_FACT:
                dropped.add(place)
                continue
            title, number, (head, relation, tail, *rest) = steps[place]
            if fault.kind == WRONG_ENTITY:
                head, tail = gold
            else:
                relation = gold
            steps[place] = [title, number, [head, relation, tail, *rest]]
        return [step for place, step in enumerate(steps) if place not in dropped]

    def groups(self, position: int) -> Mapping[str, str]:
        references = self.result.instances[position].references
        first = references[0] if isinstance(references, list) and references else None
        return {"gold_facts": str(len(first))} if isinstance(first, list) else {}

    def _scored(self, position: int, prediction: object) -> ScoredInstance:
        instance = self.result.instances[position]._replace(predicted=prediction)
        return Scorer().evaluate(instance, self.result.names)


def _differ(one: str, other: str) -> bool:
    """Whether two texts differ for the scorer, which ignores letter case."""
    return one.lower() != other.lower()


TASK = EvidenceTask(
    MODE,
    read_gold,
    score,
    R4CExaminer,
    "Score R4C derivations by entities (e), relation (r) and both (er)",
    "Gold is a JSON object from instance id to reference derivations; predictions hold derivations by instance id "
    'under the key "re". Needs the extra packages of cs-score[r4c].',
    takes_long=True,
)
