"""Invented corpora in the shapes of SciFact, claim verification, R4C and HotpotQA, equal for equal seeds.

Sizes and proportions follow the public corpora: SciFact's development set has 0.7 evidence abstracts per claim,
HotpotQA's gold file 6 kB per question, nearly all of it context; an R4C instance has three derivations of two to four
facts. `python -m benchmarks.evidence_corpora MODE UNITS FOLDER` writes FOLDER/gold and FOLDER/predictions.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TextIO, TypeAlias

SEED: Final = 20201117

LABELS: Final = ("SUPPORT", "CONTRADICT")
SYLLABLES: Final = ("ba", "cor", "di", "el", "fu", "gan", "hi", "ist", "jo", "ka", "lum", "mer", "no", "pré", "qua")

Evidence: TypeAlias = dict[str, list[dict[str, object]]]
Fact: TypeAlias = list[str]


class Invention:
    """Random words, names and sentences of an invented language, with the generator they come from."""

    def __init__(self) -> None:
        self.draw = random.Random(SEED)
        self._words = ["".join(self.draw.choices(SYLLABLES, k=self.draw.randint(1, 4))) for _ in range(5_000)]
        self._sentences = [self.words(14, 24) + "." for _ in range(3_000)]

    def words(self, least: int, most: int) -> str:
        """Some words."""
        return " ".join(self.draw.choices(self._words, k=self.draw.randint(least, most)))

    def name(self) -> str:
        """Two or three capitalised words."""
        return self.words(2, 3).title()

    def sentences(self, number: int) -> list[str]:
        """Sentences out of a fixed stock."""
        return self.draw.choices(self._sentences, k=number)

    def changed(self, text: str) -> str:
        """The text, or other words in its place."""
        return text if self.draw.random() < 0.6 else self.words(1, 4)


def write_scifact(units: int, gold: TextIO, predictions: TextIO) -> None:
    """Claims with predictions in the leaderboard's shape."""
    for claim, evidence, invention in _claims(units):
        given = {
            key: {"label": invention.draw.choice(LABELS), "sentences": _guessed(sets, invention)}
            for key, sets in _retrieved(evidence, invention).items()
        }
        _write_line(gold, claim)
        _write_line(predictions, {"id": claim["id"], "evidence": given})


def write_claims(units: int, gold: TextIO, predictions: TextIO) -> None:
    """Claims with predictions as lists of entries per document."""
    for claim, evidence, invention in _claims(units):
        given = {
            key: [{"sentences": _guessed(sets, invention), "label": invention.draw.choice(LABELS)}]
            for key, sets in _retrieved(evidence, invention).items()
        }
        _write_line(gold, claim)
        _write_line(predictions, {"id": claim["id"], "label": invention.draw.choice(LABELS), "evidence": given})


def _claims(units: int) -> Iterator[tuple[dict[str, object], Evidence, Invention]]:
    invention = Invention()
    draw = invention.draw
    for number in range(1, units + 1):
        evidence: Evidence = {}
        for _ in range(draw.choices((0, 1, 2, 3), weights=(42, 48, 7, 3))[0]):
            label, sentences = draw.choice(LABELS), draw.sample(range(12), draw.randint(1, 4))
            cut = draw.randint(1, len(sentences))
            sets = [sorted(part) for part in (sentences[:cut], sentences[cut:]) if part]
            evidence[_abstract(draw)] = [{"sentences": each, "label": label} for each in sets]
        cited = [int(key) for key in evidence] or [int(_abstract(draw))]
        yield (
            {"id": number, "claim": invention.words(8, 16), "evidence": evidence, "cited_doc_ids": cited},
            evidence,
            invention,
        )


def _abstract(draw: random.Random) -> str:
    return str(draw.randrange(10**6, 10**8))


def _retrieved(evidence: Evidence, invention: Invention) -> Evidence:
    """Most of the evidence abstracts, and now and then another one."""
    found = {key: sets for key, sets in evidence.items() if invention.draw.random() < 0.8}
    if invention.draw.random() < 0.3:
        found[_abstract(invention.draw)] = []
    return found


def _guessed(sets: Sequence[dict[str, object]], invention: Invention) -> list[int]:
    """Sentences of the gold sets with some missing and some added."""
    listed = [sentence for each in sets for sentence in each["sentences"]]  # type: ignore[attr-defined]
    kept = [sentence for sentence in listed if invention.draw.random() < 0.7]
    return list(dict.fromkeys(kept + invention.draw.sample(range(12), invention.draw.randint(0, 2))))


def write_r4c(units: int, gold: TextIO, predictions: TextIO) -> None:
    """Instances with three derivations of two to four facts, predicted with a derivation of the same kind."""
    invention = Invention()
    references, derivations = {}, {}
    for number in range(units):
        facts = [[invention.name(), invention.words(1, 3), invention.words(2, 6)] for _ in range(4)]
        instance = f"{number:024x}"
        references[instance] = [_derivation(facts, invention) for _ in range(3)]
        derivations[instance] = _derivation(facts, invention)
    json.dump(references, gold)
    json.dump({"answer": {}, "sp": {}, "re": derivations}, predictions)


def _derivation(facts: Sequence[Fact], invention: Invention) -> list[tuple[str, int, Fact]]:
    """Two to four of the facts, some of their strings put in other words, as steps with title and sentence number."""
    chosen = invention.draw.sample(facts, invention.draw.randint(2, 4))
    return [(fact[0], invention.draw.randrange(4), [invention.changed(text) for text in fact]) for fact in chosen]


def write_hotpotqa(units: int, gold: TextIO, predictions: TextIO) -> None:
    """Questions with ten paragraphs of context, and predicted answers and supporting facts."""
    invention = Invention()
    draw = invention.draw
    answers, facts = {}, {}
    gold.write("[")
    for number in range(units):
        question = f"{number:024x}"
        context = [(invention.name(), invention.sentences(draw.randint(2, 5))) for _ in range(10)]
        supporting = [(title, draw.randrange(2)) for title, _ in draw.sample(context, 2)]
        answer = draw.choice(("yes", "no", invention.name(), invention.words(1, 5)))
        entry = {
            "_id": question,
            "answer": answer,
            "question": invention.words(12, 25),
            "supporting_facts": supporting,
            "context": context,
            "type": "bridge",
            "level": "hard",
        }
        gold.write(",\n" if number else "")
        json.dump(entry, gold)
        answers[question] = invention.changed(answer)
        facts[question] = [(title, draw.randrange(2)) for title, _ in draw.sample(context, 2)]
    gold.write("]\n")
    json.dump({"answer": answers, "sp": facts}, predictions)


def _write_line(file: TextIO, value: object) -> None:
    file.write(json.dumps(value) + "\n")


WRITERS: Final[dict[str, Callable[[int, TextIO, TextIO], None]]] = {
    "scifact": write_scifact,
    "claims": write_claims,
    "r4c": write_r4c,
    "hotpotqa": write_hotpotqa,
}


def main(words: Sequence[str]) -> None:
    """Write one corpus."""
    mode, units, folder = words
    paths = (os.path.join(folder, name) for name in ("gold", "predictions"))
    with open(next(paths), "w", encoding="utf-8") as gold, open(next(paths), "w", encoding="utf-8") as predictions:
        WRITERS[mode](int(units), gold, predictions)


if __name__ == "__main__":
    main(sys.argv[1:])
