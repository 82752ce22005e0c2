"""What a run adds to gold: its lines, linked and held to the limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from cs_score.base.records import Record, replace
from cs_score.base.sources import Input, InputDigest
from cs_score.coldstart.gold import Gold, by_query
from cs_score.coldstart.lines.justifications import CODES, DiscardRules
from cs_score.coldstart.lines.layouts import Schema
from cs_score.coldstart.lines.links import Links
from cs_score.coldstart.lines.loading import Loading, loading_of
from cs_score.coldstart.lines.records import Response
from cs_score.coldstart.options import Justifications
from cs_score.problems.log import ProblemLog

UnitLines: TypeAlias = Mapping[str, Sequence[Response]]
"""The lines of one unit by the base id of their query."""


class Run(Record, eq=False):
    """The lines of one call, which may bear several run ids, over the gold standard they are scored against.

    `lines` has them in load order by run id, unit, and base id of the query; `discarded` are the indexes of those
    beyond the limits, which changes no score (specification 5); `limited` tells how many lines had been loaded each
    time they were looked for. `problems`, `remarks`, `digests` and `layouts` include
    those of gold.
    """

    gold: Gold
    links: Links
    limits: Justifications
    lines: Mapping[str, Mapping[str, UnitLines]]
    discarded: Collection[int]
    limited: Sequence[int]
    problems: ProblemLog
    remarks: Sequence[str]
    digests: Sequence[InputDigest]
    layouts: Mapping[str, Schema]

    @property
    def run_ids(self) -> list[str]:
        """The runs to score, in order: those asked for, else all that lines were loaded of."""
        asked = self.gold.options.runids
        return sorted(self.lines) if asked is None else list(asked)

    def __repr__(self) -> str:
        return f"<{', '.join(sorted(self.lines)) or 'no run'}: {len(self.links.responses)} lines over {self.gold!r}>"


def load_run(
    gold: Gold, files: Iterable[Input], limits: Justifications | None = None, problems: ProblemLog | None = None
) -> Run:
    """Load runs over gold, and their assessments where gold has no pool: then files count in the order given.

    `limits` are those of gold's options unless given. `problems` collects what is found, beginning with what gold
    found. Raises InputError for a line that cannot be linked and for files of an unknown layout.
    """
    limits = gold.options.justifications if limits is None else limits
    problems = gold.problems.branch() if problems is None else problems
    loading = loading_of(gold.table, limits, problems, below=gold.links, known=gold.known)
    loading.load(files)
    return run_of(gold, loading, limits)


def under_limits(run: Run, limits: Justifications, *, with_problems: bool = True) -> Run:
    """The same lines held to other limits, without reading a file again. Raises InputError as `load_run` would.

    `with_problems`: whether a problem is noted for each line that is discarded, a kilobyte each.
    """
    if limits == run.limits:
        return run
    problems = run.problems.without(CODES)
    problems.ignored |= frozenset() if with_problems else CODES
    discard = DiscardRules(limits, problems)
    discard.apply_again(run.limited, run.links.responses, run.links.nodes)
    return replace(run, limits=limits, discarded=discard.marked, problems=problems)


def run_of(gold: Gold, loading: Loading, limits: Justifications) -> Run:
    """The run whose lines have been loaded."""
    links = loading.links
    if links.assessments:  # gold is built for this run: its lines may stand among those of the pool
        gold = replace(gold, links=links, assessed=by_query(links.assessments), _queries={}, _values={})
    lines: dict[str, dict[str, dict[str, list[Response]]]] = {}
    of_base: list[Response] = []
    run_id, base_id = None, None
    for response in links.responses:
        if response.query.base_id != base_id or response.run_id != run_id:  # most lines stand beside their like
            run_id, base_id = response.run_id, response.query.base_id
            of_unit = lines.setdefault(run_id, {}).setdefault(gold.unit_of(base_id), {})
            of_base = of_unit.setdefault(base_id, [])
        of_base.append(response)
    return Run(
        gold, links, limits, lines, loading.discard.marked, loading.discard.applied, loading.problems,
        [*gold.remarks, *loading.remarks],
        [*gold.digests, *loading.digests],
        {**gold.layouts, **loading.layouts},
    )  # fmt: skip
