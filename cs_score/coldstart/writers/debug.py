"""The `.debug` file: how each response was judged and counted, and how average precision came about (10.5)."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from cs_score.coldstart.counts import Tally
from cs_score.coldstart.justifications import load_order
from cs_score.coldstart.policy import pre_policy_category, without
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.records import Response
from cs_score.coldstart.result import AveragePrecision, RunResult

_RULE: Final = "=" * 80 + "\n"
_DOTS: Final = "." * 80 + "\n"


def responses_text(run: RunResult) -> Iterator[str]:
    """Part 1: query by query, class by class, every response that a policy put anywhere."""
    for tally in run.tallies:
        yield f"{_RULE}{tally.name}\n"
        responses = tally.responses
        if len({response.number for response in responses}) == len(responses):
            for response in sorted(responses, key=attrgetter("number")):
                yield _response_text(response, run.labels[response.index], run)
        else:
            for response, labels in _by_number(tally, run):
                yield _response_text(response, labels, run)
    yield "\n"


def _by_number(tally: Tally, run: RunResult) -> Iterator[tuple[Response, tuple[str, ...]]]:
    """The lines of a row by line number; of several files' lines with one number the first, with the lists of all."""
    lines: dict[int, list[Response]] = {}
    for response in tally.responses:
        lines.setdefault(response.number, []).append(response)
    for number in sorted(lines):
        same = sorted(lines[number], key=load_order)
        yield same[0], tuple(sorted(label for response in same for label in run.labels[response.index]))


def _response_text(response: Response, labels: tuple[str, ...], run: RunResult) -> str:
    """The block of a response; empty where no list but that of its category before the policies holds it."""
    assessment = run.matched[response.index]
    category = pre_policy_category(assessment)
    shown = _shown(labels, category)
    if shown is None:
        return ""
    return (
        f"\tFQNODEID:\t{response.node or '-'}\n"
        f"\tSUBMISSION:\t{response.text}\n"
        f"\tTARGET_QID:\t{response.target_full_id}\n"
        f"\tASSESSMENT:\t{'-' if assessment is None else assessment.text}\n"
        "\n"
        f"\tPREPOLICY ASSESSMENT:\t{category}\n"
        f"\tPOSTPOLICY ASSESSMENT:\t{shown}\n"
        f"{_DOTS}"
    )


@functools.cache
def _shown(labels: tuple[str, ...], category: str) -> str | None:
    """The labels as the file shows them, None where there is none to show."""
    left = without(labels, category)
    return ",".join(left) if left else None


def rankings_text(scores: AveragePrecision) -> Iterator[str]:
    """Part 2: query by query and level by level, what was to be found and the ranked nodes."""
    yield "AP COMPUTATION DEBUG INFO BEGINS:\n"
    for ranking in scores.rankings:
        yield _ranking_text(ranking)
    yield "AP COMPUTATION DEBUG INFO ENDS\n"


def _ranking_text(ranking: Ranking) -> str:
    classes = "".join(f"  {name}\n" for name in ranking.classes) or "\n"
    nodes = "".join(
        f"{rank} {node.name} {node.confidence:0.4f} {node.mapped_class or '-'} {node.value:0.4f}\n"
        for rank, node in enumerate(ranking.nodes, 1)
    )
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
        f"{nodes}"
    )
