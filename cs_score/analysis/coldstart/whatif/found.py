"""The lines that find a class: an accepted answer written as a run line, with the answers that it hangs below."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

from cs_score.analysis.coldstart.whatif.files import Place, ReadLine, RunFile, RunFiles
from cs_score.base.records import Record
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import CORRECT, Assessment, Response
from cs_score.coldstart.linking import read_confidence
from cs_score.coldstart.queries import NODE_TYPES, find_predicate
from cs_score.coldstart.tab_files import FileKind, split_columns

_ANY_TYPE: Final = "string"
"""The value type of answers to a slot of which nothing is known."""


class AddedLine(Record):
    """A line appended to a file of the run: the answer that it gives, its confidence and node id, its whole text."""

    assessment: Assessment
    file: str
    confidence: float
    node_id: str | None
    text: str


class Finding:
    """Writes the lines by which a run would find classes that it has missed.

    They are appended to the run's last file, with the smallest confidence of the run and node ids that no line has.
    """

    def __init__(self, run: Run, run_id: str, files: RunFiles) -> None:
        self._layouts = run.layouts
        self._run_id = run_id
        # A run that was asked for and has no line is written like the others of the call.
        lines = [line for line in run.links.responses if line.run_id == run_id] or run.links.responses
        self.file: RunFile = files.files[lines[-1].file]
        """The file that lines are appended to."""
        least = min(lines, key=lambda line: line.confidence)
        self._confidence = read_confidence(least.text.split("\t")[7])
        self._node_stem = _unused_stem(lines)
        self._type_of = _value_types(lines)
        self._of_class: dict[str, Assessment] = {}
        self._accepted_with: dict[str, Assessment] = {}
        for assessment in run.gold.links.assessments:
            if assessment.is_accepted:
                _prefer_correct(self._of_class, assessment.value_class, assessment)
                _prefer_correct(self._accepted_with, assessment.target, assessment)
        answered = (*self._of_class.values(), *self._accepted_with.values())
        self._asked = {each.query.short_id for each in answered}
        self._given = _given_by_lines(run, run_id, self._asked)
        self._run, self._order = run, files.order

    def answer(self, name: str) -> Assessment | None:
        """The accepted assessment that a class is found by: the first correct one, else the first inexact one."""
        return self._of_class.get(name)

    def lines(
        self, assessment: Assessment, gone: Container[Place] = (), given: Container[str] = (), others: int = 0
    ) -> tuple[AddedLine, ...]:
        """The lines that give this answer, parents first.

        An answer that a query asks about is given, too, where no line of the run gives it. `gone` are lines that are
        not in the run any more; `given` are answers that lines give which are added already, by the ids of the queries
        about them, and `others` is the number of those lines.
        """
        chain = [assessment]
        query = assessment.query
        while query.parent is not None and not self._is_given(query.short_id, gone, given):
            parent = self._accepted_with.get(query.short_id)
            if parent is None:
                break
            chain.append(parent)
            query = parent.query
        return tuple(self._line(each, others + at) for at, each in enumerate(reversed(chain), 1))

    def why_unlinkable(self, added: Sequence[AddedLine], given: Container[str] = ()) -> str | None:
        """Why the first of the lines that find a class could not be read; None where it could.

        Its query may be one that no accepted answer leads to: then a line of the pool has to create it before. `given`
        as in `lines`.
        """
        if not added:
            return None
        query = added[0].assessment.query
        if query.parent is None or query.short_id in given or self._run.gold.links is not self._run.links:
            return None
        created_in = self._created_in.get(query.short_id)
        if created_in is not None and created_in <= self._order[added[0].file]:
            return None
        return f"Query {query.full_id} not loaded"

    @cached_property
    def _created_in(self) -> dict[str, int]:
        """The first file with a line that creates a query, by the query's id: its place in load order."""
        links, order = self._run.links, self._order
        created_in: dict[str, int] = {}
        lines: Iterable[ReadLine | Assessment] = chain(links.responses, links.skipped, links.assessments)
        for line in lines:
            if (target := line.target) in self._asked:
                created_in[target] = min(created_in.get(target, len(order)), order[line.file])
        return created_in

    def _is_given(self, target: str, gone: Container[Place], given: Container[str]) -> bool:
        return target in given or any(place not in gone for place in self._given.get(target, ()))

    def _line(self, assessment: Assessment, number: int) -> AddedLine:
        pool_columns = dict(zip(self._layouts[assessment.file].columns, split_columns(assessment.text)))
        slot = assessment.query.slots[0]
        predicate = find_predicate(slot)
        value_type = self._type_of.get(slot) or (_ANY_TYPE if predicate is None else predicate.usual)
        columns = [
            assessment.query.full_id,
            slot,
            self._run_id,
            pool_columns["RELATION_PROVENANCE_TRIPLES"],
            pool_columns["VALUE"],
            value_type,
            pool_columns["VALUE_PROVENANCE_TRIPLES"],
            self._confidence.text,
        ]
        node_id = None if self.file.schema.position("NODEID") is None else f"{self._node_stem}{number}"
        if node_id is not None:
            columns.append(node_id)
        return AddedLine(assessment, self.file.name, self._confidence.value, node_id, "\t".join(columns))


def _prefer_correct(known: dict[str, Assessment], key: str, assessment: Assessment) -> None:
    """Keep the first correct assessment of those with this key, the first of all where none is correct."""
    if key not in known or (assessment.judgment == CORRECT and known[key].judgment != CORRECT):
        known[key] = assessment


def _unused_stem(lines: Iterable[Response]) -> str:
    """How node ids begin that no line has."""
    stem = ":Found"
    while any(stem in line.text for line in lines):
        stem += "_"
    return stem


def _value_types(lines: Iterable[Response]) -> dict[str, str]:
    """The value type of each slot, as the first line has it whose answer the pool knows."""
    types: dict[str, str] = {}
    for line in lines:
        slot = line.query.slots[0]
        if slot not in types and line.follow_on.assessment is not None:
            written = line.text.split("\t", 6)[5]
            if written.lower() in NODE_TYPES:
                types[slot] = written
    return types


def _given_by_lines(run: Run, run_id: str, targets: Container[str]) -> dict[str, list[Place]]:
    """The lines of a run, skipped ones among them, that give the answers which these queries ask about."""
    given: dict[str, list[Place]] = defaultdict(list)
    for line in run.links.responses:
        if line.target in targets and line.run_id == run_id:
            given[line.target].append((line.file, line.number))
    for skipped in run.links.skipped:
        if run.layouts[skipped.file].kind is FileKind.RUN and split_columns(skipped.text)[2] == run_id:
            given[skipped.target].append((skipped.file, skipped.number))
    return given
