"""Loading files of lines one after the other: what a gold standard and the runs scored against it are built from.

A folder stands for its members `*.tab.txt`. The order of files counts: a line may hang below lines of earlier files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from cs_score.base.errors import InputError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import Record, Struct, field
from cs_score.base.signing.origin import POOL, RUN
from cs_score.base.sources import Input, InputDigest, name_of, open_source, plain_name
from cs_score.coldstart.lines.justifications import DiscardRules
from cs_score.coldstart.lines.known_answers import KnownAnswers
from cs_score.coldstart.lines.layouts import RUN_2014, RUN_2017, FileKind, Schema
from cs_score.coldstart.lines.linking import Linker
from cs_score.coldstart.lines.links import Links
from cs_score.coldstart.lines.reader import TabFile, read_tab_file
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.queries.query_set import QuerySet
from cs_score.coldstart.spans import DocumentLengths
from cs_score.problems.log import ProblemLog

RUN_SUFFIX = ".tab.txt"
"""Members of a folder that count as runs or assessments end like this, perhaps compressed."""


class Reading(Record):
    """What the programs before the scorer ask of loading beyond what the scorer does.

    `allow_comments`: a comment at the end of a line is cut off. `note`: takes the error of a line that cannot be
    linked, and loading goes on with the next line; None: loading ends there. `after_run`: called after each run file.
    """

    allow_comments: bool = False
    note: Callable[[InputError], None] | None = None
    after_run: Callable[[], None] | None = None


SCORING = Reading()


class Loading(Struct):
    """Lines being loaded: `links` so far, the run lines `discard` marked, the layout of each file by its name.

    `problems` and `remarks` are what was found on the way, `digests` those of the files.
    """

    table: QuerySet
    links: Links
    linker: Linker
    discard: DiscardRules
    problems: ProblemLog
    remarks: list[str] = field(default_factory=list)
    digests: list[InputDigest] = field(default_factory=list)
    layouts: dict[str, Schema] = field(default_factory=dict)

    def load(self, files: Iterable[Input], reading: Reading = SCORING) -> None:
        """Load runs and assessments in order.

        Raises InputError at the first line that cannot be linked (unless `reading` notes those), and for files of an
        unknown layout.
        """
        with paused_collector():
            for given in files:
                for member in members(given):
                    self._load_file(member, reading)

    def _load_file(self, given: Input, reading: Reading) -> None:
        with open_source(given) as source:
            tab_file = read_tab_file(source, self.problems, allow_comments=reading.allow_comments)
            if tab_file is not None:
                self.note_layout(tab_file.name, tab_file.schema)
                self.load_lines(tab_file, reading)
            self.digests.append(source.digest(role_of(None if tab_file is None else tab_file.schema)))

    def note_layout(self, name: str, schema: Schema) -> None:
        """Keep the layout of a file, with a remark where nothing in it can be scored."""
        self.layouts[name] = schema
        if schema.kind is FileKind.ASSESSMENTS and schema.position("VALUE_MENTION_TYPE") is None:
            self.remarks.append(
                f"{name} has no mention types ({schema.name}): no answer that it calls correct is known to be a name, "
                "so all of them are ignored and every score is 0"
            )

    def load_lines(self, tab_file: TabFile, reading: Reading = SCORING) -> None:
        """Link the lines of a file and, of a run, mark those beyond the limits. Raises InputError as `load` does."""
        if tab_file.schema.kind is FileKind.ASSESSMENTS:
            if self.links.below is not None and self.links.below.assessments:
                raise InputError("these are assessments, not a run", file=tab_file.name, remedy="add them to the pool")
            _link(self.linker.link_assessments, tab_file, reading)
            return
        _link(self.linker.link_run, tab_file, reading)
        self.links.unread += tab_file.unread
        if tab_file.schema is RUN_2017 and not self.problems.fatal:
            self.discard.apply(self.links.responses, self.links.nodes, self.links.is_in_order)
        if reading.after_run is not None:
            reading.after_run()


def loading_of(
    table: QuerySet,
    limits: Justifications,
    problems: ProblemLog,
    *,
    below: Links | None = None,
    known: KnownAnswers | None = None,
    documents: DocumentLengths | None = None,
) -> Loading:
    """Nothing loaded yet. `below`: the links of gold, over which the lines are laid; the rest as for `Linker`."""
    links = Links(table, below)
    linker = Linker(table, links, problems, documents=documents, known=known)
    return Loading(table, links, linker, DiscardRules(limits, problems), problems)


def members(given: Input) -> list[Input]:
    """The files that one argument stands for."""
    if isinstance(given, (str, os.PathLike)) and os.path.isdir(given):
        folder = os.fspath(given)
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if plain_name(name).endswith(RUN_SUFFIX)]
    return [given]


_NO_FILE, _NOT_LOADED = f"no file *{RUN_SUFFIX} in ", ", so nothing of it was loaded"


def remarks_on_folders(files: Sequence[Input]) -> list[str]:
    """Remarks on folders that hold no file to load. Raises InputError where nothing else was named."""
    empty = [name_of(given) for given in files if not members(given)]
    if empty and len(empty) == len(files):
        raise InputError(f"nothing to load: no file *{RUN_SUFFIX} in {', '.join(empty)}", remedy="name the files")
    return [f"{_NO_FILE}{name}{_NOT_LOADED}" for name in empty]


def is_on_folder(remark: str) -> bool:
    """Whether a remark is on a folder that holds no file to load, and so is no input."""
    return remark.startswith(_NO_FILE) and remark.endswith(_NOT_LOADED)


def role_of(schema: Schema | None) -> str:
    """What a file is read for; an empty one, of which nobody can tell, passes for a run."""
    return POOL if schema is not None and schema.kind is FileKind.ASSESSMENTS else RUN


def kind_of(given: Input) -> FileKind | None:
    """Whether a file is a run or assessments, by its first line; None for an empty one, of which nobody can tell.

    Raises InputError for a file that is neither.
    """
    with open_source(given) as source:
        tab_file = read_tab_file(source, ProblemLog())
    return None if tab_file is None else tab_file.schema.kind


def _link(link: Callable[[TabFile], None], tab_file: TabFile, reading: Reading) -> None:
    """Link the lines of a file; a line that cannot be linked is noted where `reading` wants that."""
    while True:
        try:
            return link(tab_file)
        except InputError as error:
            if reading.note is None:
                raise
            reading.note(error)
            if tab_file.schema is RUN_2014:  # says the same of every line
                return None
