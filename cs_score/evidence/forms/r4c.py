"""Forms of R4C's files."""

from __future__ import annotations

from typing import Any, Final

from cs_score.evidence.forms.files import Advice
from cs_score.evidence.forms.form import AS_IT_IS, Answer, Change, Files

_DERIVATION: Final = '[["Ada Lovelace", 0, ["Ada Lovelace", "was born in", "London"]]]'
WANTED_GOLD: Final = f'gold is to be an object like {{"q1": [{_DERIVATION}, {_DERIVATION}, {_DERIVATION}]}}'
WANTED_PREDICTIONS: Final = f'predictions are to be an object like {{"re": {{"q1": {_DERIVATION}}}}}'

_IDS: Final = ("_id", "id", "instance_id", "qid")
_DERIVATIONS: Final = ("re", "derivation", "derivations", "references")


def form_of(value: Any, files: Files) -> Answer:
    """Return what has to be done about the value of a file, whatever it is."""
    return _form_of_gold(value, files) if files.is_gold else _form_of_predictions(value)


def _form_of_gold(value: Any, files: Files) -> Answer:
    by_id = _by_id(value)
    if by_id is not None and by_id[1]:
        expression, references = by_id
        lists = [each for each in references.values() if isinstance(each, list)]
        steps = [step for each in lists for derivation in each if isinstance(derivation, list) for step in derivation]
        if len(lists) == len(references) and steps:
            what = "the file has an object for each instance" if expression != "R" else ""
            if all(map(_is_step, steps)):
                return Change(expression, what)
            if all(map(_is_fact, steps)):
                wrapped = f'{{i: [[["", 0, f] for f in d] for d in ds] for i, ds in ({expression}).items()}}'
                return Change(wrapped, _BARE_FACTS)
    if isinstance(value, list) and files.predictions is not None:
        command = files.scored_as("hotpotqa")
        if command is not None:
            return Advice("this is gold of HotpotQA", command)
    return Advice("", WANTED_GOLD)


_BARE_FACTS: Final = "each step is a fact alone, where [title, sentence number, fact] is expected"


def _form_of_predictions(value: Any) -> Answer:
    if isinstance(value, dict) and isinstance(value.get("re"), dict):
        expression, derivations, what = 'R["re"]', value["re"], ""
    else:
        by_id = _by_id(value)
        if by_id is None:
            return Advice("", WANTED_PREDICTIONS)
        expression, derivations = by_id
        what = 'the derivations do not stand below the key "re"'
    lists = [each for each in derivations.values() if isinstance(each, list)]
    steps = [step for derivation in lists for step in derivation]
    if not derivations or len(lists) < len(derivations):
        return Advice("", WANTED_PREDICTIONS)
    if all(map(_is_step, steps)):
        return Change(f'{{"re": {expression}}}', what) if what else AS_IT_IS
    if all(map(_is_fact, steps)):
        wrapped = f'{{i: [["", 0, f] for f in d] for i, d in ({expression}).items()}}'
        return Change(f'{{"re": {wrapped}}}', _BARE_FACTS)
    return Advice("", WANTED_PREDICTIONS)


def _by_id(value: Any) -> tuple[str, dict[str, Any]] | None:
    """Return the expression for what a file says of each instance, by its id, and that; None for another form.

    The value is an object by id, a list of objects with an id and derivations, or a list of objects by id.
    """
    if isinstance(value, dict):
        return "R", value
    if not isinstance(value, list) or not value or not all(isinstance(each, dict) for each in value):
        return None
    first = value[0]
    named = next((key for key in _IDS if isinstance(first.get(key), str)), None)
    content = next((key for key in _DERIVATIONS if isinstance(first.get(key), list)), None)
    if named is not None and content is not None:
        if not all(named in each and content in each for each in value):
            return None
        found = {each[named]: each[content] for each in value}
        return f'{{c["{named}"]: c["{content}"] for c in R}}', found
    merged = {key: part for each in value for key, part in each.items()}
    if len(merged) < sum(map(len, value)) or not all(isinstance(part, list) for part in merged.values()):
        return None
    return "{i: d for c in R for i, d in c.items()}", merged


def _is_step(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and isinstance(value[2], list)


def _is_fact(value: object) -> bool:
    return isinstance(value, list) and len(value) >= 3 and all(isinstance(each, str) for each in value)
