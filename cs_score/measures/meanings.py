"""The meaning of each measure in about two lines, for people who see its name for the first time.

`cs-score help measures` and the reference documentation print these texts. Sources: the task description of TAC KBP
2017 Cold Start, and the official evaluators of SciFact, R4C and HotpotQA.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TABLES: Final[Mapping[str, str]] = {
    "SF": "Slot filling: each entry point of a query is scored as a query of its own. An entry point is one mention of "
    "the query's entity in a document.",
    "LDC-MAX": "Each LDC query counts once, with the entry point on which the run scores its best F1.",
    "LDC-MEAN": "Each LDC query counts once, with the mean of the scores of its entry points.",
}
"""The meaning of the three tables of Cold Start."""

AVERAGES: Final[Mapping[str, str]] = {
    "Micro": "The answers of all queries are counted together, then P, R and F1 are computed once: every answer "
    "counts alike.",
    "Macro": "P, R and F1 are computed for each query, then averaged: every query counts alike.",
}
"""The meaning of the two averages of Cold Start."""

STATISTICS: Final[Mapping[str, str]] = {
    "P": "Precision: right answers / answers that count as right or wrong. Each equivalence class of the ground truth "
    "counts once; the policy says what further answers in it are.",
    "R": "Recall: right answers / equivalence classes in the ground truth.",
    "F1": "The harmonic mean of precision and recall: 2 P R / (P + R).",
    "AP": "Graded average precision: nodes are ranked by confidence, and a right node counts by the share of the "
    "documents of its class that its justifications cover. A run without node ids has no ranking and no AP.",
}
"""The meaning of the statistics of Cold Start."""

HOP: Final = (
    "@0, @1 behind a name is one hop: @0 the answers about the query's own entity, @1 the answers about those answers. "
    "Without it all hops count."
)
"""The meaning of a hop at the end of the name of a Cold Start measure."""

_SCIFACT: Final = {
    "abstract_label_only": "An abstract is right if gold has it as evidence for the claim, with the predicted label. "
    "Sentences do not matter.",
    "abstract_rationalized": "As abstract_label_only, and the predicted sentences must hold a whole gold evidence set. "
    "Of these sentences the first three count, more where each gold set is longer.",
    "sentence_selection": "A sentence is right if it belongs to a gold evidence set all of whose sentences are "
    "predicted. Labels do not matter.",
    "sentence_label": "As sentence_selection, and the label of the abstract must be gold's.",
}
_CLAIMS: Final = {
    "abstract": "A document is right if the claim cites it. Labels and sentences do not matter, so that a system that "
    "is given the documents reaches 1.",
    "sentence": "Sentences of a gold evidence set are found if they are predicted for its document with its label: "
    "document, sentence and verdict have to be right.",
    "label_accuracy": "Share of the claims with a gold label whose predicted label is the same.",
}
_R4C: Final = {
    "e": "Entities: how similar the two entities of each predicted fact are to those of the gold fact it is aligned "
    "with.",
    "r": "Relations: how similar the relation of each predicted fact is to that of its gold fact.",
    "er": "Whole facts: how similar entities and relation are together.",
}
_HOTPOTQA: Final = {
    "em": "Exact match: 1 for an answer that equals gold's once case, punctuation and articles are left out.",
    "f1": "F1, precision and recall (f1, prec, recall) of the words that the answer shares with gold's.",
    "sp_": "Supporting facts: sp_em, sp_f1, sp_prec and sp_recall compare the predicted sentences with gold's.",
    "joint_": "Answer and supporting facts together: precisions and recalls are multiplied for each question, joint_f1 "
    "is made of the products, joint_em needs both to match.",
}

_POOL: Final = {
    "micro-p": "Right answers (half ones count 1/2) / answers that are not ignored, over all units.",
    "micro-r": "Classes found / answers wanted, over all units. The accuracy where every unit wants one answer.",
    "micro-f1": "The harmonic mean of micro-p and micro-r.",
    "macro": "macro-p, macro-r, macro-f1: means of the units' own values, over the units that want something.",
    "coverage": "Units with an answer that is not ignored / units.",
    "ap": "Graded average precision of answers in order of confidence, the mean over units that want something.",
}

OF_EVIDENCE: Final[Mapping[str, Mapping[str, str]]] = {
    "scifact": _SCIFACT,
    "claims": _CLAIMS,
    "r4c": _R4C,
    "hotpotqa": _HOTPOTQA,
    "pool": _POOL,
}
"""The meaning of the measures of evidence tasks, by the beginnings of their names."""

STAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "scifact": {
        "retrieval": "hit_one: share of the claims of which some document of gold is among those retrieved, or that "
        "have none in gold; hit_all: of which all are.",
        "rationale": "precision, recall, f1 of sentences. A predicted sentence is correct if the first gold evidence "
        "set that holds it is whole among the predicted sentences of its document.",
        "label": "accuracy over predicted documents; precision, recall and f1 of each label, NOT_ENOUGH_INFO where "
        "gold has no evidence; macro_f1: mean f1 of the labels that occur; macro_f1_without_nei: of SUPPORT and "
        "CONTRADICT.",
    }
}
"""The meaning of the measures of the stages of a task, which the option `--stage` scores."""

MEANING_OF_ENDINGS: Final[Mapping[str, str]] = {
    "scifact": "..._precision: right / predicted; ..._recall: right / gold; ..._f1: their harmonic mean, over all "
    "claims.",
    "claims": "..._precision: right / predicted; ..._recall: right / gold; ..._f1: their harmonic mean, over all "
    "claims.",
    "r4c": "..._prec: similarity / predicted facts; ..._recall: similarity / gold facts; ..._f1: their harmonic mean; "
    "each the mean over all instances.",
    "hotpotqa": "Each is the mean over all questions of gold.",
}
"""The meaning of the endings of the names of a task, and the items that scores are averaged over."""
