"""Lines linked anew where others are gone: node ids that hang on a parent line, and numbers (specification 4.10)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence

from cs_score.analysis.coldstart.whatif.files import Place, ReadLine
from cs_score.base.records import Record, replace
from cs_score.coldstart.lines import Links, Response
from cs_score.coldstart.queries import QuerySet


class Renumbering(Record):
    """The numbers that lines have once others of their file are gone: they decide ties between files.

    `gone` has the numbers of the lines that go, by file, in ascending order.
    """

    gone: Mapping[str, Sequence[int]]

    def number(self, file: str, number: int) -> int:
        """The number of a line that stays."""
        gone = self.gone.get(file)
        return number - bisect_left(gone, number) if gone else number


def renumbering(places: Iterable[Place]) -> Renumbering:
    """What deleting these lines does to the numbers of others."""
    gone: dict[str, list[int]] = defaultdict(list)
    for file, number in places:
        gone[file].append(number)
    return Renumbering({file: sorted(numbers) for file, numbers in gone.items()})


class Relinking:
    """Links lines once more, in load order, over what is known of queries and answers.

    `links` tells which answers these lines give.
    """

    def __init__(self, table: QuerySet, links: Links, gone: Iterable[Response]) -> None:
        """`links`: those of the whole input; `gone`: lines about the same queries that are not there any more."""
        self.links = Links(table, links)
        self.links.given.update((line.target, None) for line in gone)

    def line(self, line: Response, node_id: str | None, index: int, number: int) -> Response:
        """A line as it is linked behind those before it, with this node id, index and number."""
        query = line.query
        given = self.links.given
        node = None
        if node_id is not None:
            # At the second hop: the node of the first run line that gives the answer asked about, empty if none has.
            prefix = query.full_id if query.level != 1 else given.get(query.short_id) or ""
            node = prefix + node_id
        if len(query.slots) > 1 and given.get(line.target) is None:
            given[line.target] = node or ""
        return Response(
            index, number, line.text, query, line.run_id, line.confidence, node, line.follow_on, line.file, line.docid,
            line.kept,
        )  # fmt: skip


def linked_below(line: Response, giving: Iterable[ReadLine], gone: Container[int]) -> Response:
    """A line with the node that it has where the lines `gone`, by index, are not there.

    Node ids of the second hop begin with the node of the first run line that gives the answer asked about. `giving` are
    the lines that do, in load order.
    """
    node_id = node_id_of(line)
    if node_id is None or line.query.level != 1:
        return line
    left = (above for above in giving if isinstance(above, Response) and above.index not in gone)
    above = next(left, None)
    prefix = above.node if above is not None and above.index < line.index else None
    return replace(line, node=f"{prefix or ''}{node_id}")


def node_id_of(line: Response) -> str | None:
    """The node id of a line as its file has it; None where the layout has none."""
    return None if line.node is None else line.text.split("\t", 9)[8]
