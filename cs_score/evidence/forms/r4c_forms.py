"""Recognises the form of files that the r4c task refuses, and returns the remedy.
A file holds derivations, which are lists of steps [title, sentence number, [head, relation, tail]]. The remedy is a
change of the value of the file (`R`) by a Python expression, or advice in words.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import NO_CHANGE, Files, FormChange, Remedy

_EXAMPLE_DERIVATION: Final = '[["Ada Lovelace", 0, ["Ada Lovelace", "was born in", "London"]]]'
WANTED_GOLD: Final = (
    f'gold is to be an object like {{"q1": [{_EXAMPLE_DERIVATION}, {_EXAMPLE_DERIVATION}, {_EXAMPLE_DERIVATION}]}}'
)
WANTED_PREDICTIONS: Final = f'predictions are to be an object like {{"re": {{"q1": {_EXAMPLE_DERIVATION}}}}}'

_ID_KEYS: Final = ("_id", "id", "instance_id", "qid")
_DERIVATION_KEYS: Final = ("re", "derivation", "derivations", "references")

_BARE_FACTS: Final = "each step is a fact alone, where [title, sentence number, fact] is expected"


class InstancesById(NamedTuple):
    """The derivations of a file by instance id.

    `expression` is the Python expression for these derivations, in which the variable `R` is the value of the file. It
    is `R` if the file itself is an object with derivations by instance id.
    """

    expression: str
    derivations: dict[str, Any]

    @property
    def is_whole_file(self) -> bool:
        """Whether the file itself is an object with derivations by instance id."""
        return self.expression == "R"


def find_remedy(value: Any, files: Files) -> Remedy:
    """Return the remedy for a refused file, given its JSON value (of any type); `files` tells whether it is gold."""
    if files.gold_is_refused:
        return _find_gold_remedy(value, files)
    return _find_predictions_remedy(value)


def _find_gold_remedy(value: Any, files: Files) -> Remedy:
    """Return the remedy for a file that should be gold. Its JSON value may have any type.

    If its form is not recognised, the remedy is the advice to write gold like an example.
    """
    instances = _find_instances(value)
    if instances is not None and instances.derivations:
        change = _find_gold_change(instances)
        if change is not None:
            return change
    # Gold of HotpotQA is a list of questions, gold of R4C an object.
    if isinstance(value, list) and files.predictions is not None:
        action = files.action_to_score_as("hotpotqa")
        if action is not None:
            return Advice("this is gold of HotpotQA", action)
    return Advice(action=WANTED_GOLD)


def _find_gold_change(instances: InstancesById) -> FormChange | None:
    """Return the change that turns a file with the reference derivations of instances into gold.

    Return None if a list of references is malformed, or if the form of the steps is not recognised.
    """
    steps = _steps_of_references(instances)
    if not steps:
        return None
    if all(_is_step(step) for step in steps):
        # In gold, the whole file should be an object by instance id.
        diagnosis = "" if instances.is_whole_file else "the file has an object for each instance"
        return FormChange(instances.expression, diagnosis)
    if all(_is_fact(step) for step in steps):
        # Each fact `f` of a derivation `d` becomes a step without a title. `ds` are the derivations of instance `i`.
        # For instances in `R` the expression is '{i: [[["", 0, f] for f in d] for d in ds] for i, ds in (R).items()}'.
        with_steps = '{i: [[["", 0, f] for f in d] for d in ds] for i, ds in (' + instances.expression + ").items()}"
        return FormChange(with_steps, _BARE_FACTS)
    return None


def _steps_of_references(instances: InstancesById) -> list[Any]:
    """Return the steps of all reference derivations of all instances.

    The list is empty if an instance does not have a list of references. References that are no lists are left out.
    """
    steps: list[Any] = []
    for references in instances.derivations.values():
        if not isinstance(references, list):
            return []
        for derivation in references:
            if isinstance(derivation, list):
                steps += derivation
    return steps


def _find_predictions_remedy(value: Any) -> Remedy:
    """Return the remedy for a file that should be predictions. Its JSON value may have any type.

    Predictions have the derivations below the key "re".
    """
    has_instances_below_key = isinstance(value, dict) and isinstance(value.get("re"), dict)
    instances = InstancesById('R["re"]', value["re"]) if has_instances_below_key else _find_instances(value)
    remedy = None
    if instances is not None and _are_lists(instances.derivations.values()):
        remedy = _find_predictions_change(instances, has_instances_below_key=has_instances_below_key)
    return remedy or Advice(action=WANTED_PREDICTIONS)


def _are_lists(values: Collection[object]) -> bool:
    """Return whether there is at least one value and all values are lists."""
    return bool(values) and all(isinstance(value, list) for value in values)


def _find_predictions_change(instances: InstancesById, *, has_instances_below_key: bool) -> FormChange | None:
    """Return the change that turns a file with the predicted derivation of each instance into predictions.

    `has_instances_below_key` is true if the derivations are below the key "re", as they should be. Return None if the
    form of the steps is not recognised.
    """
    steps: list[Any] = []
    for derivation in instances.derivations.values():
        steps += derivation
    if all(_is_step(step) for step in steps):
        if has_instances_below_key:
            return NO_CHANGE
        below_key = '{"re": ' + instances.expression + "}"
        return FormChange(below_key, 'the derivations are not below the key "re"')
    if all(_is_fact(step) for step in steps):
        # Each fact `f` of the derivation `d` of an instance `i` becomes a step without a title. For instances in `R`
        # the expression is '{"re": {i: [["", 0, f] for f in d] for i, d in (R).items()}}'.
        with_steps = '{i: [["", 0, f] for f in d] for i, d in (' + instances.expression + ").items()}"
        return FormChange('{"re": ' + with_steps + "}", _BARE_FACTS)
    return None


def _find_instances(value: Any) -> InstancesById | None:
    """Return the derivations in the JSON value of a file by instance id, or None if the value has none of these forms.

    The value may be an object by id ({"q1": [...]}), a list of objects with an id and derivations ([{"id": "q1", "re":
    [...]}]), or a list of objects by id ([{"q1": [...]}, {"q2": [...]}]).
    """
    if isinstance(value, dict):
        return InstancesById(expression="R", derivations=value)  # the derivations are the value of the file
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(item, dict) for item in value):
        return None
    id_keys = [key for key in _ID_KEYS if isinstance(value[0].get(key), str)]
    derivation_keys = [key for key in _DERIVATION_KEYS if isinstance(value[0].get(key), list)]
    if id_keys and derivation_keys:
        return _index_instances(value, id_keys[0], derivation_keys[0])
    return _merge_objects(value)


def _index_instances(instances: list[dict[str, Any]], id_key: str, derivation_key: str) -> InstancesById | None:
    """Return the derivations of a list of instances by id, with the Python expression that creates this dictionary.

    `id_key` is the key of the id in an instance, and `derivation_key` is the key of its derivations. An example of the
    expression is '{c["id"]: c["re"] for c in R}'. Return None if an instance lacks one of the two keys.
    """
    derivations = {}
    for instance in instances:
        if id_key not in instance or derivation_key not in instance:
            return None
        derivations[instance[id_key]] = instance[derivation_key]
    return InstancesById(f'{{c["{id_key}"]: c["{derivation_key}"] for c in R}}', derivations)


def _merge_objects(objects: list[dict[str, Any]]) -> InstancesById | None:
    """Return the derivations in several objects, such as [{"q1": [...]}, {"q2": [...]}], by instance id.

    Return None if an id occurs in several objects, or if the value of an id is not a list.
    """
    derivations: dict[str, Any] = {}
    for derivations_of_object in objects:
        has_repeated_id = not derivations.keys().isdisjoint(derivations_of_object)
        if has_repeated_id:
            return None
        derivations.update(derivations_of_object)
    if not all(isinstance(derivation, list) for derivation in derivations.values()):
        return None
    return InstancesById("{i: d for c in R for i, d in c.items()}", derivations)


def _is_step(value: object) -> bool:
    """Return whether a value is a step of a derivation, which is a list [title, sentence number, fact]."""
    if not isinstance(value, list) or len(value) != 3:
        return False
    _title, _sentence_number, fact = value
    return isinstance(fact, list)


def _is_fact(value: object) -> bool:
    """Return whether a value is a fact, which is a list [head, relation, tail] and perhaps further texts."""
    if not isinstance(value, list) or len(value) < 3:
        return False
    return all(isinstance(item, str) for item in value)
