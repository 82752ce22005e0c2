"""Invented knowledge bases, and calls of their programs in a folder."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from cs_score.base.records import Struct
from tests.coldstart.command import Outcome, score_in
from tests.verbs.preparation.invented import AskedQuery

RUN_ID: Final = "inv1"

# Two people, a child relation with its inverse, and a title.
FAMILY: Final = (
    ':Entity_1\ttype\tPER',
    ':Entity_1\tmention\t"Ann"\tENG_1:6-8',
    ':Entity_1\tcanonical_mention\t"Ann"\tENG_1:6-8',
    ':Entity_2\ttype\tPER',
    ':Entity_2\tmention\t"Bo"\tENG_1:20-21',
    ':Entity_2\tcanonical_mention\t"Bo"\tENG_1:20-21',
    ':Entity_1\tper:children\t:Entity_2\tENG_1:6-21\t0.5',
    ':Entity_2\tper:parents\t:Entity_1\tENG_1:6-21\t0.5',
    ':String_1\ttype\tSTRING',
    ':String_1\tmention\t"boss"\tENG_1:30-33',
    ':String_1\tcanonical_mention\t"boss"\tENG_1:30-33',
    ':Entity_1\tper:title\t:String_1\tENG_1:30-33;ENG_1:6-33\t0.8',
)  # fmt: skip
ANN: Final = AskedQuery("CSX_ENG_e2b374da95", ("per:children", "per:title"), docids=("ENG_1",), begin="6", end="8")


class Inputs(Struct):
    """A folder with inputs, and the programs called in it."""

    folder: Path

    def write(self, name: str, text: str | bytes) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        return name

    def kb(self, *lines: str, name: str = "kb.tac", first: str = RUN_ID) -> str:
        return self.write(name, "".join(f"{line}\n" for line in (first, *(lines or FAMILY))))

    def queries(self, *asked: AskedQuery, name: str = "q.xml") -> str:
        body = "".join(query.xml() for query in asked or (ANN,))
        return self.write(name, f"<query_set>\n{body}</query_set>\n")

    def call(self, *words: str) -> Outcome:
        return score_in(self.folder, words)

    def validate(self, *switches: str, name: str = "kb.tac") -> Outcome:
        """Validate, the report in `log`; the results of an earlier call are removed."""
        for path in self.folder.glob("*.valid"):
            path.unlink()
        (self.folder / "log").unlink(missing_ok=True)
        return self.call("validate-kb", "-error_file", "log", *switches, name)

    def resolve(self, *switches: str, kb: str = "kb.tac.valid") -> Outcome:
        (self.folder / "run.tab").unlink(missing_ok=True)
        return self.call("resolve-queries", "-error_file", "statistics", *switches, "q.xml", kb, "run.tab")

    @property
    def report(self) -> list[str]:
        return [line for line in (self.folder / "log").read_text(encoding="utf-8").splitlines() if line]

    def lines(self, name: str) -> list[str]:
        return (self.folder / name).read_text(encoding="utf-8").splitlines()


def random_kb(seed: int, documents: int = 3, people: int = 5) -> list[str]:
    """A random knowledge base without errors: some inverses and canonical mentions are left unsaid."""
    chance = random.Random(seed)
    lines = [f":Entity_{one}\ttype\tPER" for one in range(people)]
    for document in range(documents):
        for one in range(people):
            place = f"ENG_{document}:{20 * one}-{20 * one + 3}"
            lines.append(f':Entity_{one}\tmention\t"N{one}"\t{place}\t0.{chance.randrange(1, 9)}')
            if chance.random() < 0.7:
                lines.append(f':Entity_{one}\tcanonical_mention\t"N{one}"\t{place}')
    for _ in range(chance.randrange(1, 9)):
        one, other = chance.sample(range(people), 2)
        document, confidence = chance.randrange(documents), f"0.{chance.randrange(1, 99):02d}1"
        place = f"ENG_{document}:{min(one, other) * 20}-{max(one, other) * 20 + 3}"
        name, inverse = chance.choice((("children", "parents"), ("siblings", "siblings"), ("spouse", "spouse")))
        lines.append(f":Entity_{one}\tper:{name}\t:Entity_{other}\t{place}\t{confidence}")
        if chance.random() < 0.5:
            lines.append(f":Entity_{other}\t{inverse}\t:Entity_{one}\t{place}\t{confidence}")
    return lines


def asked_of(people: Iterable[int], slots: Sequence[str]) -> list[AskedQuery]:
    """A query for each person, at the mention in the first document."""
    return [
        AskedQuery(f"CSX_ENG_{one:010x}", tuple(slots), docids=("ENG_0",), begin=str(20 * one), end=str(20 * one + 3))
        for one in people
    ]
