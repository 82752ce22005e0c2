"""Invented knowledge bases of any size, with queries about their entities.

Documents hold twenty entities each, so that only the number of documents grows with the size: a fifth of the lines are
mentions, as many canonical mentions, the rest relations with their inverses, strings and events. One relation in ten
lacks its inverse.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from benchmarks.generate import Slot, query_id

ENTITIES_IN_DOCUMENT = 20
DOCUMENTS_OF_ENTITY = 4
RUN_ID = "BENCH_KB"
_KINDS = ("PER",) * 10 + ("ORG",) * 6 + ("GPE",) * 4
_RELATIONS = {
    ("PER", "PER"): (("children", "parents"), ("siblings", "siblings"), ("spouse", "spouse"), ("likes", "is_liked_by")),
    ("PER", "ORG"): (("schools_attended", "students"), ("employee_or_member_of", "employees_or_members")),
    ("PER", "GPE"): (("cities_of_residence", "residents_of_city"), ("countries_of_residence", "residents_of_country")),
    ("ORG", "ORG"): (("subsidiaries", "parents"), ("shareholders", "holds_shares_in")),
    ("ORG", "PER"): (("founded_by", "organizations_founded"), ("top_members_employees", "top_member_employee_of")),
}
_SLOTS = (
    ("per:children", "per:schools_attended"),
    ("per:siblings", "per:cities_of_residence"),
    ("per:spouse", "per:title"),
    ("per:employee_or_member_of", "org:founded_by"),
)


def lines(documents: int, seed: int) -> Iterator[str]:
    """The lines of a knowledge base with so many documents, the run id first."""
    chance = random.Random(seed)
    yield f"{RUN_ID}\n"
    known: set[int] = set()
    strings = 0
    for number in range(documents):
        docid = f"NW_ENG_{number:07d}"
        # Neighbouring documents share entities: each is in four of them.
        first = number // DOCUMENTS_OF_ENTITY * ENTITIES_IN_DOCUMENT
        entities = range(first, first + ENTITIES_IN_DOCUMENT)
        for place, entity in enumerate(entities):
            if entity not in known:
                known.add(entity)
                yield f":Entity_{entity:07d}\ttype\t{_KINDS[entity % ENTITIES_IN_DOCUMENT]}\n"
            start = place * 40
            mention = f'"Name {entity:07d}"\t{docid}:{start}-{start + 11}\t0.{chance.randrange(1, 1000):03d}1\n'
            yield f":Entity_{entity:07d}\tmention\t{mention}"
            yield f":Entity_{entity:07d}\tcanonical_mention\t{mention}"
        yield from _relations(chance, docid, entities)
        for _ in range(2):
            strings += 1
            yield from _title(chance, docid, first + chance.randrange(10), strings)
        yield from _event(docid, first, number)


def _relations(chance: random.Random, docid: str, entities: Sequence[int]) -> Iterator[str]:
    for number in range(21):
        one, other = chance.sample(range(ENTITIES_IN_DOCUMENT), 2)
        kinds = (_KINDS[one], _KINDS[other])
        if kinds not in _RELATIONS:
            continue
        name, inverse = chance.choice(_RELATIONS[kinds])
        start, end = sorted((one * 40, other * 40 + 11))
        # As a rule short; now and then two spans, and now and then one that is too long.
        place = f"{docid}:{start}-{min(end, start + 150 + 60 * (number == 7))}"
        if name == "likes":
            place = f"{docid}:{other * 40}-{other * 40 + 11}"
        elif number % 5 == 0:
            place = f"{docid}:{start}-{start + 11},{docid}:{start + 30}-{start + 60}"
        confidence = f"0.{chance.randrange(1, 1000):03d}1"
        subject, object_ = f":Entity_{entities[one]:07d}", f":Entity_{entities[other]:07d}"
        yield f"{subject}\t{kinds[0].lower()}:{name}\t{object_}\t{place}\t{confidence}\n"
        if number % 10:
            yield f"{object_}\t{kinds[1].lower()}:{inverse}\t{subject}\t{place}\t{confidence}\n"


def _title(chance: random.Random, docid: str, entity: int, string: int) -> Iterator[str]:
    name, start = f":String_{string:07d}", 1000 + 20 * (string % 2)
    yield f"{name}\ttype\tSTRING\n"
    yield f'{name}\tmention\t"title {string:07d}"\t{docid}:{start}-{start + 12}\n'
    yield f'{name}\tcanonical_mention\t"title {string:07d}"\t{docid}:{start}-{start + 12}\n'
    place = f"{docid}:{start}-{start + 12};{docid}:{start - 50}-{start + 12}"
    yield f":Entity_{entity:07d}\tper:title\t{name}\t{place}\t0.{chance.randrange(1, 1000):03d}1\n"


def _event(docid: str, first: int, number: int) -> Iterator[str]:
    name, place = f":Event_{number:07d}", f"{docid}:1100-1103"
    yield f"{name}\ttype\tLIFE.DIE\n"
    yield f'{name}\tmention.actual\t"died"\t{place}\n'
    yield f'{name}\tcanonical_mention.actual\t"died"\t{place}\n'
    justification = f"{docid}:1090-1110;{place};NIL"
    yield f"{name}\tlife.die:victim.actual\t:Entity_{first:07d}\t{justification}\t0.51\n"
    yield f":Entity_{first:07d}\tper:life.die_victim.actual\t{name}\t{justification}\t0.51\n"


def queries(documents: int, number: int, seed: int) -> Iterator[str]:
    """A query file; each query begins at a person's mention."""
    chance = random.Random(seed)
    yield "<query_set>\n"
    for _ in range(number):
        docid, place = f"NW_ENG_{chance.randrange(documents):07d}", chance.randrange(10) * 40
        slots = chance.choice(_SLOTS)
        text_id = query_id(docid, place, place + 11, [Slot(slot, "PER") for slot in slots])
        point = f"<name>x</name><docid>{docid}</docid><beg>{place}</beg><end>{place + 11}</end>"
        asked = "".join(f"<slot{hop}>{slot}</slot{hop}>" for hop, slot in enumerate(slots))
        yield f'<query id="CSX_ENG_{text_id}">{point}<enttype>per</enttype>{asked}</query>\n'
    yield "</query_set>\n"


def main(arguments: Sequence[str]) -> int:
    """`kb_generator.py ASSERTIONS QUERIES FOLDER`: kb.tac and queries.xml."""
    assertions, asked, folder = int(arguments[0]), int(arguments[1]), arguments[2]
    of_a_block = sum(1 for _ in lines(DOCUMENTS_OF_ENTITY, 1)) - 1
    documents = DOCUMENTS_OF_ENTITY * (1 + 12 * assertions // (10 * of_a_block))  # some are smaller than others
    with open(os.path.join(folder, "kb.tac"), "w", encoding="utf-8") as file:
        file.writelines(islice(lines(documents, 1), assertions + 1))
    with open(os.path.join(folder, "queries.xml"), "w", encoding="utf-8") as file:
        file.writelines(queries(documents * 3 // 4, asked, 2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
