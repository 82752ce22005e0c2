"""The evidence modes as the command line offers them; their commands and sub-forms come from this table."""

from __future__ import annotations

from typing import Final

from cs_score.base.records import Record
from cs_score.cli.options import Option


class EvidenceMode(Record):
    """A mode: its name, what it scores (singular), what help says of it, and what stands in its files.

    `options` are those of the mode alone; with `takes_long` a terminal shows how far it is.
    """

    name: str
    unit: str
    summary: str
    files: str
    options: tuple[Option, ...] = ()
    takes_long: bool = False


MOST_REFERENCES: Final = 3
"""Reference derivations of an instance of R4C."""

ANY_ORDER: Final = Option(
    "--any-order", None, "Match claims by id; the official evaluator refuses another order than gold's"
)
REFERENCES: Final = Option(
    "--references", "N", "Reference derivations drawn for each evaluation of an instance, 1 to 3", str(MOST_REFERENCES)
)
IGNORE_MISSING: Final = Option("--ignore-missing", None, "Leave out instances without prediction instead of failing")

EVIDENCE_MODES: Final = {
    mode.name: mode
    for mode in (
        EvidenceMode(
            "scifact",
            "claim",
            "Score SciFact predictions with the measures of the public leaderboard",
            "Both hold one JSON object per line: gold a claim with its evidence sets, predictions the same claims in "
            "the same order, each with a label and a list of sentences per abstract.",
            (ANY_ORDER,),
        ),
        EvidenceMode(
            "claims",
            "claim",
            "Score claim verification: documents, evidence with its label, verdict",
            "Both hold one JSON object per line. Gold is as for scifact; predictions give a list of entries per "
            "document, and are matched by id.",
        ),
        EvidenceMode(
            "r4c",
            "instance",
            "Score R4C derivations by entities (e), relation (r) and both (er)",
            "Gold is a JSON object from instance id to reference derivations; predictions hold derivations by "
            'instance id under the key "re". Needs the extra packages of cs-score[r4c].',
            (REFERENCES, IGNORE_MISSING),
            takes_long=True,
        ),
        EvidenceMode(
            "hotpotqa",
            "question",
            "Score HotpotQA answers, supporting facts, and both jointly",
            "Gold is the corpus's JSON list of questions; predictions hold answers and supporting facts by question id "
            'under the keys "answer" and "sp".',
        ),
    )
}
"""The modes by name."""
