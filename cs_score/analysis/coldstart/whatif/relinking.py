"""Lines linked anew where others are gone: node ids that hang on a parent line, and numbers (specification 4.10)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cs_score.analysis.coldstart.whatif.files import Place
from cs_score.coldstart.lines.links import Links
from cs_score.coldstart.lines.records import FollowOn, Response
from cs_score.coldstart.queries.query_set import QuerySet
from cs_score.foundation.record import dataclass


@dataclass(frozen=True, slots=True)
class Renumbering:
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

    `links` has the follow-on queries as these lines leave them.
    """

    def __init__(self, table: QuerySet, links: Links, gone: Iterable[Response]) -> None:
        """`links`: those of the whole input; `gone`: lines about the same queries that are not there any more."""
        self.links = Links(table, links)
        for line in gone:
            self._follow_on(line.target)

    def line(self, line: Response, node_id: str | None, index: int, number: int) -> Response:
        """A line as it is linked behind those before it, with this node id, index and number."""
        query = line.query
        follow_on = self._follow_on(line.target)
        node = None
        if node_id is not None:
            prefix = query.full_id if query.level != 1 else self._node_of_parent(query.short_id)
            node = prefix + node_id
        if follow_on.node is None and len(query.slots) > 1:
            follow_on.node = node or ""
        return Response(
            index, number, line.text, query, line.run_id, line.confidence, node, follow_on, line.file, line.docid,
            line.kept,
        )  # fmt: skip

    def _node_of_parent(self, short_id: str) -> str:
        """The node of the first run line that gives the answer which a query asks about; empty where none has."""
        known = self.links.follow_ons.get(short_id)
        return "" if known is None else known.node or ""

    def _follow_on(self, target: str) -> FollowOn:
        known = self.links.follow_ons.get(target)
        if known is None:
            below = self.links.follow_on(target)
            assert below is not None
            known = self.links.follow_ons[target] = below.over()
        return known


def node_id_of(line: Response) -> str | None:
    """The node id of a line as its file has it; None where the layout has none."""
    return None if line.node is None else line.text.split("\t", 9)[8]
