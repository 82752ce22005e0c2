"""Step 3: whether a limit on justifications discards a line, and in favour of which (specification 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import At, Kept
from cs_score.coldstart.lines import Discard, Response, node_confidence

_RULES: Final = {"document": "5.1", "node": "5.1", "parent": "5.1", "single-valued": "5.2"}


def kept_of(line: Response, case: Case) -> Kept:
    """Whether a line is kept, and what decided where it is not."""
    limits = case.run.limits
    if line.index not in case.run.discarded or (why := case.discards.get(line.index)) is None:
        return Kept("5", str(limits), None, (), "")
    limit = {
        "document": f"A = {limits.per_document} for each node and document",
        "node": f"B = {limits.most} for each node",
        "single-valued": "the slot takes one value",
        "parent": "all lines that give the answer which its query asks about were discarded, or there are none",
    }[why.limit]
    in_favour_of = tuple(At(kept.file, kept.number) for kept in why.kept)
    return Kept(_RULES[why.limit], str(limits), limit, in_favour_of, _order(line, why, case))


def _order(line: Response, why: Discard, case: Case) -> str:
    """What decided between a line and the last of those that stay."""
    if not why.kept:
        return ""
    if why.limit != "single-valued":
        last = why.kept[-1]
        if last.confidence != line.confidence:
            return f"the higher confidence stays: {last.confidence:g} > {line.confidence:g}"
        return f"the confidence is the same, {line.confidence:g}; the earlier line stays: {last.number} < {line.number}"
    own = case.run.links.nodes[line.node] if line.node is not None else [line]
    stays, goes = _confidence(why.kept, case), _confidence(own, case)
    if stays > goes:
        return f"node {why.kept[0].node} has the higher confidence: {stays:.4f} > {goes:.4f}"
    first, other = min(each.number for each in why.kept), min(each.number for each in own)
    return (
        f"node {why.kept[0].node} has the same confidence, {stays:.4f}, and begins earlier: line {first}, not {other}"
    )


def _confidence(lines: Sequence[Response], case: Case) -> float:
    """The confidence of a node from its lines that no limit on its own lines had discarded."""
    left = [
        line for line in lines if line.index not in case.discards or case.discards[line.index].limit == "single-valued"
    ]
    return node_confidence([line.confidence for line in left], case.run.limits.most)
