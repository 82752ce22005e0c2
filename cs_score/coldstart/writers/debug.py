"""The `.debug` file: how each response was judged and counted, and how average precision came about (10.5)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import Final

from cs_score.base.outputs import blocks_of, encoded
from cs_score.coldstart.counting.counts import Tally
from cs_score.coldstart.judging.labels import Labels, pre_policy_category, without
from cs_score.coldstart.lines.justifications import load_order
from cs_score.coldstart.lines.records import Assessment, Response
from cs_score.coldstart.ranking.average_precision import Ranking
from cs_score.coldstart.result import RunResult, UnitResult

_number: Final = attrgetter("number")

_RULE: Final = "=" * 80 + "\n"
_DOTS: Final = "." * 80 + "\n"


def responses_blocks(run: RunResult) -> Iterator[bytes]:
    """Part 1: each response, with its assessment and what it counted as."""
    if run.debug_text is None:
        yield from encoded(responses_text(run.tallies()))
    else:
        yield from blocks_of(run.debug_text.responses)
    yield b"\n"


def rankings_blocks(run: RunResult) -> Iterator[bytes] | None:
    """Part 2: each ranking. None where average precision was not computed."""
    scores = run.average_precision
    if scores is None:
        return None
    text = encoded(rankings_text(scores.rankings)) if run.debug_text is None else blocks_of(run.debug_text.rankings)
    return chain([b"AP COMPUTATION DEBUG INFO BEGINS:\n"], text, [b"AP COMPUTATION DEBUG INFO ENDS\n"])


FIELDS: Final = (
    ("FQNODEID", "SUBMISSION", "TARGET_QID", "ASSESSMENT"),
    ("PREPOLICY ASSESSMENT", "POSTPOLICY ASSESSMENT"),
)
"""The fields of a response's block in their order; an empty line stands between the groups. `_values` has as many."""

_BLOCK: Final = "\n".join("".join(f"\t{field}:\t%s\n" for field in group) for group in FIELDS) + _DOTS
# The block taken apart, with room for the values: to join it costs a third of formatting it.
_PIECES: Final = [piece for text in _BLOCK.split("%s") for piece in (text, "")][:-1]


def _values(response: Response, assessment: Assessment | None, category: str, labels: str) -> tuple[str, ...]:
    """What the fields say of a response: its category is that before the policies, its labels are those after them.

    All in one call: one for each field would take 5 % of the time in which a run is scored.
    """
    return (
        response.node or "-",
        response.text,
        response.target_full_id,
        "-" if assessment is None else assessment.text,
        category,
        labels,
    )


def responses_text(tallies: Iterable[tuple[Tally, UnitResult]]) -> Iterator[str]:
    """Part 1 without its end: query by query, class by class, every response that a policy put anywhere."""
    pieces = _PIECES.copy()
    for tally, unit in tallies:
        yield f"{_RULE}{tally.name}\n"
        for response, of_line in _by_number(tally.responses, unit.labels):
            assessment = unit.matched.get(response.index)
            category = pre_policy_category(assessment)
            labels = _shown(of_line, category)
            if labels is not None:
                pieces[1::2] = _values(response, assessment, category, labels)
                yield "".join(pieces)


def _by_number(responses: Sequence[Response], labels: Mapping[int, Labels]) -> Iterable[tuple[Response, Labels]]:
    """Responses with their labels by line number; of several files' lines with one number the first with all labels."""
    by_number = dict(zip(map(_number, responses), responses))
    if len(by_number) == len(responses):
        return [(line, labels[line.index]) for line in map(by_number.__getitem__, sorted(by_number))]
    lines: dict[int, list[Response]] = {}
    for response in responses:
        lines.setdefault(response.number, []).append(response)
    in_order = [sorted(lines[number], key=load_order) for number in sorted(lines)]
    return [(same[0], tuple(sorted(label for line in same for label in labels[line.index]))) for same in in_order]


@functools.cache
def _shown(labels: Labels, category: str) -> str | None:
    """The labels as the file shows them; None where there is none beside the category before the policies."""
    left = without(labels, category)
    return ",".join(left) if left else None


def rankings_text(rankings: Iterable[Ranking]) -> Iterator[str]:
    """Part 2 without its frame: query by query and level by level, what was to be found and the ranked nodes."""
    for _, of_query in groupby(rankings, key=attrgetter("query")):
        node_texts: dict[str, str] = {}
        for ranking in of_query:
            yield _ranking_text(ranking, node_texts)


def _ranking_text(ranking: Ranking, node_texts: dict[str, str]) -> str:
    """`node_texts` has the texts of the query's nodes so far: each is ranked at its own level and among all."""
    classes = "".join([f"  {name}\n" for name in ranking.classes]) or "\n"
    nodes = []
    for rank, node in enumerate(ranking.nodes, 1):
        text = node_texts.get(node.name)
        if text is None:
            text = f"{node.name} {node.confidence:0.4f} {node.mapped_class or '-'} {node.value:0.4f}\n"
            node_texts[node.name] = text
        nodes.append(f"{rank} {text}")
    return (
        f"{_RULE}"
        f"QUERY_ID:         {ranking.query}\n"
        f"LEVEL:            {ranking.level}\n"
        f"AP:               {ranking.score:0.4f}\n"
        f"NUM_GROUND_TRUTH: {'' if ranking.ground_truth is None else ranking.ground_truth}\n"
        "GROUND TRUTH:\n"
        f"{classes}"
        "RANKING:\n"
        "........\n"
        "RANK NODEID CONFIDENCE MAPPED_EC V\n"
        f"{''.join(nodes)}"
    )
