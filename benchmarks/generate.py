"""A synthetic Cold Start evaluation of any size: LDC queries, an assessment pool and a run, equal for equal seeds.

The run mixes what real runs mix: correct, incorrect, inexact and unassessed answers, several justifications of a node,
duplicates inside a class, nodes that merge or split classes, second-hop answers under right and wrong parents, nominal
mentions, names outside ASCII. It keeps the default limits (one justification per document and node, three per node,
one class per single-valued slot), so that average precision stays within 1 and the report within "No warnings".

Nothing of cs-score is imported: the identifiers are hashed here once more, so the scorer, which refuses a second-hop
line whose query it does not know, also confirms them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TextIO

BASE: Final = "CSB17"
"""What `-expand` is given: the SF queries are called CSB17_ENG_xxxxxxxxxx."""

RUN_ID: Final = "BENCH1"
JUSTIFICATIONS_PER_NODE: Final = 3
LANGUAGES: Final = ("ENG", "CMN", "SPA")

# Above this many lines per query a single-valued first slot, with its one node of three lines, cannot fill a query.
MOST_LINES_WITH_SINGLE_SLOT: Final = 200


class Slot(NamedTuple):
    """A slot, its filler's value type, and whether it takes one value only."""

    name: str
    filler: str
    single: bool = False


class Task(NamedTuple):
    """What an LDC query asks: the entity type of its entry points and one or two slots."""

    enttype: str
    slots: tuple[Slot, ...]


TASKS: Final = (
    Task("per", (Slot("per:children", "PER"), Slot("per:schools_attended", "ORG"))),
    Task("per", (Slot("per:siblings", "PER"), Slot("per:date_of_birth", "STRING", single=True))),
    Task("per", (Slot("per:employee_or_member_of", "ORG"), Slot("org:top_members_employees", "PER"))),
    Task("per", (Slot("per:city_of_birth", "GPE", single=True), Slot("gpe:residents_of_city", "PER"))),
    Task("per", (Slot("per:title", "STRING"),)),
    Task("org", (Slot("org:members", "ORG"), Slot("org:city_of_headquarters", "GPE", single=True))),
    Task("org", (Slot("org:students", "PER"), Slot("per:cities_of_residence", "GPE"))),
    Task("org", (Slot("org:date_founded", "STRING", single=True),)),
    Task("org", (Slot("org:subsidiaries", "ORG"), Slot("org:founded_by", "PER"))),
    Task("gpe", (Slot("gpe:births_in_country", "PER"), Slot("per:spouse", "PER"))),
    Task("gpe", (Slot("gpe:headquarters_in_city", "ORG"),)),
)

_GIVEN: Final = "Ana Bruno Çağla Dörte Émile Fátima Günther Håkon Iñigo Jürgen Łucja Miloš Nora Øyvind Renée Zoë"
_FAMILY: Final = "Duarte Ekwall Fjeld González Hernández Jansen Kovač Lindqvist Müller Nuñez O'Hara Peña Šimić"
_OTHERS: Final = ("王小明", "北京大学", "东方 集团", "Compañía del Sur, S.A.", 'Harold "Hap" Quist', "back\\slash")
NAMES: Final = (*(f"{given} {family}" for given in _GIVEN.split() for family in _FAMILY.split()), *_OTHERS)


@dataclass(frozen=True, slots=True)
class Shape:
    """Size and proportions of an evaluation.

    `lines` run lines exactly. Many lines per query make few, large queries; many answers per class make few, large
    equivalence classes. With the defaults only the number of queries grows with `lines`.
    """

    lines: int
    lines_per_query: int = 24
    answers_per_class: int = 3
    seed: int = 2017


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Paths of the files written."""

    queries: str
    pool: str
    run: str
    query_list: str | None
    samples: str | None

    def words(self) -> list[str]:
        """Switches and files for the scorer."""
        words = ["-expand", BASE]
        if self.query_list:
            words += ["-queries", self.query_list]
        if self.samples:
            words += ["-samples", self.samples]
        return [*words, self.queries, self.pool, self.run]


def _name_hash(text: str, digits: int) -> str:
    return hashlib.md5(bytes(16) + text.encode()).hexdigest()[-digits:]


def query_id(docid: str, start: int, end: int, slots: Sequence[Slot]) -> str:
    """Short id of the SF query that an entry point and its slots make: ten hexadecimal digits."""
    return _name_hash(":".join((docid, str(start), str(end), *(slot.name for slot in slots))), 10)


def follow_on_id(query: str, value: str, span: str) -> str:
    """Full id of the query that an answer makes: twelve hexadecimal digits after the full id of the query answered.

    The hashed text is escaped as JSON and encoded as UTF-8 twice, the second time with its bytes taken for Latin-1.
    """
    escaped = json.dumps(f"{query}:{value}:{span}", ensure_ascii=False)[1:-1]
    return f"{query}_{_name_hash(escaped.encode().decode('latin-1'), 12)}"


class _Answer(NamedTuple):
    """A filler with its justification; `ec` is "0" for a wrong or unassessed one."""

    value: str
    docid: str
    relation: str
    span: str
    ec: str = "0"


@dataclass(slots=True)
class _Nodes:
    """The node ids of one query. A node is closed when it has its three justifications."""

    opened: dict[object, tuple[str, set[str]]] = field(default_factory=dict)
    made: int = 100

    def place(self, about: object, docid: str) -> str:
        """The node that `about` stands for, or a new one where that is full or knows the document."""
        known = self.opened.get(about)
        if known is None or docid in known[1] or len(known[1]) == JUSTIFICATIONS_PER_NODE:
            self.made += 1
            known = self.opened[about] = (f":Entity{self.made}", set())
        known[1].add(docid)
        return known[0]

    def has_room(self, about: object, docid: str) -> bool:
        """Whether `place` would need no second node for `about`."""
        known = self.opened.get(about)
        return known is None or (docid not in known[1] and len(known[1]) < JUSTIFICATIONS_PER_NODE)

    def split(self, about: object) -> None:
        self.opened.pop(about, None)


class _Classes:
    """How many equivalence classes lie below each class or query, and which of them are known by a nominal only."""

    def __init__(self, rng: random.Random, answers_per_class: int) -> None:
        self._random = rng.random
        self._chance_of_new = 1 / answers_per_class
        self._below: dict[str, int] = {}
        self._nominal: set[str] = set()

    def draw(self, parent: str, single: bool) -> str:
        """A class below `parent`: now and then a new one, but never a second one of a single-valued slot."""
        count = self._below.get(parent, 0)
        if count == 0 or (not single and self._random() < self._chance_of_new):
            self._below[parent] = chosen = count + 1
            if self._random() < 0.04:
                self._nominal.add(f"{parent}:{chosen}")
        else:
            chosen = 1 + int(self._random() * count)
        return f"{parent}:{chosen}"

    def mention(self, ec: str) -> str:
        return "NOM" if ec in self._nominal else "NAM"


class _QueryWriter:
    """The pool and run lines of one SF query."""

    def __init__(self, rng: random.Random, query: str, slots: Sequence[Slot], shape: Shape) -> None:
        self._random = rng.random
        self._query = query
        self._slots = slots
        self._classes = _Classes(rng, shape.answers_per_class)
        self._nodes = _Nodes()
        self._document = int(self._random() * 9_000_000)
        self.pool: list[list[str]] = [[], []]
        self.run: list[str] = []

    def write(self, budget: int) -> None:
        """Fill `pool` (by hop) and `run`, the latter with at most about `budget` lines."""
        first = self._slots[0]
        firsts = budget if len(self._slots) == 1 else max(1, budget * 6 // 10)
        if first.single:
            firsts = min(firsts, JUSTIFICATIONS_PER_NODE)
        parents = self._first_hop(firsts)
        if len(self._slots) == 2 and parents:
            self._second_hop(budget - firsts, parents)

    def _first_hop(self, lines: int) -> list[tuple[_Answer, str]]:
        """Write the first hop; the answers that may get children, with their nodes, no two with the same target."""
        draw = self._random
        slot = self._slots[0]
        parents: list[tuple[_Answer, str]] = []
        accepted: list[_Answer] = []
        for _ in range(lines):
            dice = draw()
            if draw() < 0.4:
                self._assess(self._query, self._query, 0)  # known to the assessors, not found by this run
            if dice < 0.03 and accepted and not slot.single:
                # The same filler justified elsewhere in its document: unassessed, yet in the filler's class.
                before = accepted[int(draw() * len(accepted))]
                answer = before._replace(relation=self._spans(before.docid)[0])
                self._submit(self._query, slot, answer, self._nodes.place(("again", answer.ec), answer.docid))
                continue
            answer = self._assess(self._query, self._query, 0) if dice < 0.62 else self._unassessed(0, self._query)
            if answer.ec != "0":
                accepted.append(answer)
            about: object = self._query if slot.single else answer.ec
            if not slot.single and (quirk := draw()) < 0.2:
                if quirk < 0.06 and accepted:
                    about = accepted[-1 - int(draw() * min(len(accepted), 4))].ec  # merges two classes
                else:
                    self._nodes.split(about)
            elif slot.single and not self._nodes.has_room(about, answer.docid):
                continue
            node = self._nodes.place(about, answer.docid)
            self._submit(self._query, slot, answer, node)
            parents.append((answer, node))
        return parents

    def _second_hop(self, lines: int, parents: list[tuple[_Answer, str]]) -> None:
        draw = self._random
        slot = self._slots[1]
        for _ in range(lines):
            parent, parent_node = parents[int(draw() * len(parents))]
            if parent.ec == "0" and draw() < 0.5:
                parent, parent_node = parents[int(draw() * len(parents))]  # children gather under right parents
            query = follow_on_id(self._query, parent.value, parent.span)
            # Assessors look at no answer whose parent they have not accepted.
            if parent.ec != "0" and draw() < 0.65:
                answer = self._assess(query, parent.ec, 1)
                if draw() < 0.3:
                    self._assess(query, parent.ec, 1)
            else:
                answer = self._unassessed(1, parent.ec)
            about = (parent_node, "" if slot.single else answer.ec)
            if slot.single and not self._nodes.has_room(about, answer.docid):
                continue
            self._submit(query, slot, answer, parent_node, self._nodes.place(about, answer.docid))

    def _spans(self, docid: str) -> tuple[str, str]:
        """Provenance of the relation (now and then two spans) and of the filler inside it."""
        start = int(self._random() * 4000)
        length = 30 + int(self._random() * 150)
        inside = start + int(self._random() * 20)
        relation = f"{docid}:{start}-{start + length}"
        if length > 170:
            relation = f"{relation},{docid}:{start + 300}-{start + 340}"
        return relation, f"{docid}:{inside}-{inside + 4 + int(self._random() * 8)}"

    def _answer(self, hop: int, name: int, ec: str) -> _Answer:
        if self._random() < 0.9:
            self._document += 1  # otherwise another justification from the same document
        number = self._document % 10_000_000
        docid = f"{LANGUAGES[number % 3]}_{'NW' if number % 5 else 'DF'}_{number:07d}"
        value = NAMES[name % len(NAMES)] if self._slots[hop].filler != "STRING" else f"{1900 + name % 120}-{name % 12}"
        return _Answer(value, docid, *self._spans(docid), ec)

    def _unassessed(self, hop: int, parent: str) -> _Answer:
        return self._answer(hop, int(self._random() * 1000), "0")

    def _assess(self, query: str, parent: str, hop: int) -> _Answer:
        """One more line of the pool; `parent` is the class (or first query) that an accepted answer lies below."""
        draw = self._random
        dice = draw()
        if dice < 0.5:
            ec = self._classes.draw(parent, self._slots[hop].single)
            code = "C" if dice < 0.41 else "X"
            # Two names for one class, so that the fillers of a class differ in spelling.
            answer = self._answer(hop, 13 * int(ec[ec.rindex(":") + 1 :]) + (draw() < 0.2), ec)
            mention, ec_mention = ("NAM" if draw() < 0.86 else "NOM"), self._classes.mention(ec)
        else:
            ec, code = "0", "W" if dice < 0.99 else "I"
            answer = self._answer(hop, int(draw() * 1000), ec)
            mention, ec_mention = ("NAM" if draw() < 0.7 else "0"), "0"
        written = self.pool[hop]
        support = "CCCWXSL"[int(draw() * 7)] if code in "CX" else "W"
        written.append(
            f"{self._query}_{hop}_{len(written):03d}\t{query}:{self._slots[hop].name}\t{answer.relation}\t{answer.value}\t"
            f"{answer.span}\t{code}\t{mention}\t{support}\t{ec}\t{ec_mention}\n"
        )
        return answer

    def _submit(self, query: str, slot: Slot, answer: _Answer, *nodes: str) -> None:
        dice = self._random()
        confidence = f"0.{1 + int(dice * 9999):04d}" if dice < 0.98 else "1.0"
        self.run.append(
            f"{query}\t{slot.name}\t{RUN_ID}\t{answer.relation}\t{answer.value}\t{slot.filler}\t{answer.span}\t"
            f"{confidence}\t{nodes[-1]}\n"
        )


def _entry_points(rng: random.Random) -> Iterator[tuple[str, str, int, int]]:
    """Name, document id and span of the one to three mentions that a query starts from."""
    for _ in range(rng.choices((1, 2, 3), (5, 3, 2))[0]):
        name = rng.choice(NAMES)
        start = rng.randrange(300)
        yield name, f"{rng.choice(LANGUAGES)}_NW_{rng.randrange(10_000_000):07d}", start, start + len(name) - 1


def _query_xml(ldc: str, task: Task, entry_points: Sequence[tuple[str, str, int, int]]) -> str:
    mentions = "".join(
        f"      <mention>\n        <name>{name.replace('&', '&amp;').replace('<', '&lt;')}</name>\n"
        f"        <docid>{docid}</docid>\n        <beg>{start}</beg>\n        <end>{end}</end>\n      </mention>\n"
        for name, docid, start, end in entry_points
    )
    slots = "".join(f"    <slot{hop}>{slot.name}</slot{hop}>\n" for hop, slot in enumerate(task.slots))
    return (
        f'  <query id="{ldc}">\n    <mentions>\n{mentions}    </mentions>\n    <enttype>{task.enttype}</enttype>\n'
        f"    <nodeid>n_{ldc}</nodeid>\n{slots}  </query>\n"
    )


def _write_lines(rng: random.Random, shape: Shape, queries: TextIO, pool: TextIO, run: TextIO) -> dict[str, list[str]]:
    """Write queries until the run has its lines; the full SF ids of each LDC query."""
    tasks = [t for t in TASKS if shape.lines_per_query <= MOST_LINES_WITH_SINGLE_SLOT or not t.slots[0].single]
    sf_queries: dict[str, list[str]] = {}
    left = shape.lines
    queries.write('<?xml version="1.0" encoding="UTF-8"?>\n<query_set>\n')
    while left:
        ldc = f"CS17_{len(sf_queries) + 1:07d}"
        task = rng.choice(tasks)
        entry_points = list(_entry_points(rng))
        queries.write(_query_xml(ldc, task, entry_points))
        sf_queries[ldc] = []
        for _, docid, start, end in entry_points:
            query = f"{BASE}_{docid[:3]}_{query_id(docid, start, end, task.slots)}"
            sf_queries[ldc].append(query)
            writer = _QueryWriter(rng, query, task.slots, shape)
            writer.write(max(1, int(shape.lines_per_query * rng.uniform(0.4, 1.6))))
            dice = rng.random()
            if dice > 0.03:  # otherwise a query that the assessors skipped
                pool.writelines(writer.pool[0])
                pool.writelines(writer.pool[1])
            if dice < 0.97:  # otherwise a query that the run skipped
                lines = writer.run[:left]
                run.writelines(lines)
                left -= len(lines)
    queries.write("</query_set>\n")
    return sf_queries


def _write_samples(rng: random.Random, sf_queries: dict[str, list[str]], samples: int, file: TextIO) -> None:
    names = sorted(sf_queries)
    for number in range(1, samples + 1):
        file.write(str(number))
        for ldc in rng.choices(names, k=len(names)):
            members = sf_queries[ldc]
            file.write(f" {ldc}:{','.join(rng.sample(members, len(members)))}")
        file.write("\n")


def generate(shape: Shape, folder: str, *, query_list: bool = False, samples: int = 0) -> Evaluation:
    """Write the evaluation into `folder`, with a `-queries` and a `-samples` file where asked for."""
    rng = random.Random(shape.seed)
    files = Evaluation(
        queries=os.path.join(folder, "queries.xml"),
        pool=os.path.join(folder, "pool.tab"),
        run=os.path.join(folder, "run.tab"),
        query_list=os.path.join(folder, "queryids.txt") if query_list else None,
        samples=os.path.join(folder, "samples.txt") if samples else None,
    )
    with _open(files.queries) as queries, _open(files.pool) as pool, _open(files.run) as run:
        sf_queries = _write_lines(rng, shape, queries, pool, run)
    if files.query_list:
        with _open(files.query_list) as file:
            file.writelines(f"{ldc} {query}\n" for ldc, members in sf_queries.items() for query in members)
    if files.samples:
        with _open(files.samples) as file:
            _write_samples(rng, sf_queries, samples, file)
    return files


def _open(path: str) -> TextIO:
    return open(path, "w", encoding="utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write an evaluation and print the scorer's command line for it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate", description=generate.__doc__)
    parser.add_argument("lines", type=int, help="lines of the run")
    parser.add_argument("folder", help="where the files go; made if missing")
    usual = Shape(lines=0)
    parser.add_argument("--lines-per-query", type=int, default=usual.lines_per_query)
    parser.add_argument("--answers-per-class", type=int, default=usual.answers_per_class)
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--query-list", action="store_true", help="also write a -queries file")
    parser.add_argument("--samples", type=int, default=0, help="also write a -samples file of that many resamples")
    options = parser.parse_args(arguments)
    os.makedirs(options.folder, exist_ok=True)
    shape = Shape(options.lines, options.lines_per_query, options.answers_per_class, options.seed)
    files = generate(shape, options.folder, query_list=options.query_list, samples=options.samples)
    print("cs-score", *files.words())
    return 0


if __name__ == "__main__":
    sys.exit(main())
