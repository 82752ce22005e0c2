"""Lines of runs and assessments and queries made by hand, everything but the telling column filled in.

The identifiers are hashed here once more rather than taken from the scorer, so that a test which needs a follow-on
query also confirms them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Final

from cs_score.base.records import Record, replace

CHILDREN: Final = "per:children"
SCHOOLS: Final = "per:schools_attended"
BIRTHPLACE: Final = "per:city_of_birth"
AGE: Final = "per:age"
"""The last two take one value, the first two a list."""

LISTS: Final = (CHILDREN, SCHOOLS)
Q: Final = "CSX_ENG_00fb79cef8"
"""The query of entry point N_ENG_Q, 5 to 9, with the slots `LISTS`."""


def sf_query(slots: tuple[str, ...] = LISTS, docid: str = "N_ENG_Q", language: str = "ENG") -> str:
    """Full id of the query that `-expand CSX` makes of an entry point at characters 5 to 9."""
    return f"CSX_{language}_{name_hash(':'.join((docid, '5', '9', *slots)), 10)}"


def name_hash(text: str, digits: int) -> str:
    return hashlib.md5(bytes(16) + text.encode()).hexdigest()[-digits:]


class Line(Record):
    """A run line; its answer stands at `span` of its document, which may name further spans. Without node it has eight
    columns."""

    value: str = "Bo"
    docid: str = "N_ENG_1"
    confidence: str = "0.9"
    node: str | None = ":E1"
    query: str = Q
    slot: str = CHILDREN
    run_id: str = "runA"
    span: str = "3-5"
    type: str = "PER"
    relation: str = ""

    @property
    def provenance(self) -> str:
        return f"{self.docid}:{self.span}"

    @property
    def follow_on(self) -> str:
        """Full id of the query that the answer makes."""
        answer = json.dumps(f"{self.query}:{self.value}:{self.provenance}", ensure_ascii=False)[1:-1]
        return f"{self.query}_{name_hash(answer.encode().decode('latin-1'), 12)}"

    def child(self, value: str = "Sch", node: str | None = ":C1", slot: str = SCHOOLS) -> Line:
        """An answer about this one, in the same document."""
        return replace(self, value=value, query=self.follow_on, slot=slot, node=node, relation="", span="3-5")

    def text(self) -> str:
        relation = self.relation or f"{self.docid}:1-20"
        columns = [self.query, self.slot, self.run_id, relation, self.value, self.type, self.provenance]
        return "\t".join([*columns, self.confidence, *([] if self.node is None else [self.node])])

    def judged(self, ec: str = "0", code: str = "", mention: str = "NAM", ec_mention: str = "NAM") -> str:
        """An assessment of this answer; `ec` without the query's id. Correct if it has a class, else wrong."""
        name = "0" if ec == "0" else f"{'_'.join(self.query.split('_')[:3])}:{ec}"
        return self.assessed(name, code or ("W" if ec == "0" else "C"), mention, "0" if ec == "0" else ec_mention)

    def assessed(self, value_class: str, code: str, mention: str, class_mention: str, id: str = "a1") -> str:
        """An assessment of this answer, ten columns as given."""
        answer = (f"{self.query}:{self.slot}", self.relation or f"{self.docid}:1-20", self.value, self.provenance)
        return "\t".join((id, *answer, code, mention, "C", value_class, class_mention))


class AskedQuery(Record):
    """A query of a query file: one with an entry point, at its offsets in each of the documents."""

    id: str = "CSX_0001"
    slots: tuple[str, ...] = LISTS
    name: str = ""
    docids: tuple[str, ...] = ("N_ENG_Q",)
    begin: str = "5"
    end: str = "9"
    enttype: str = "per"
    more: str = ""
    has_tags: bool = True

    def xml(self) -> str:
        name = f"<name>{self.name}</name>" * bool(self.name)
        points = [f"{name}<docid>{each}</docid><beg>{self.begin}</beg><end>{self.end}</end>" for each in self.docids]
        if self.has_tags:
            points = ["<mentions>", *(f"<mention>{point}</mention>" for point in points), "</mentions>"]
        slots = "".join(f"<slot{hop}>{slot}</slot{hop}>" for hop, slot in enumerate(self.slots))
        return f'<query id="{self.id}">{"".join(points)}<enttype>{self.enttype}</enttype>{self.more}{slots}</query>\n'


def query_xml(number: int = 1, slots: tuple[str, ...] = LISTS, docids: tuple[str, ...] = ("N_ENG_Q",)) -> str:
    """An LDC query whose entry points stand at characters 5 to 9 of their documents."""
    return AskedQuery(f"CSX_{number:04d}", slots, docids=docids).xml()
