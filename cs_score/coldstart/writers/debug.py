"""The `.debug` file: how each response was judged and counted, and how average precision came about (10.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
        for same_number in _by_number(tally):
            labels = _labels(same_number, run)
            if labels:
                yield _response_text(same_number[0], labels, run)
    yield "\n"


def _by_number(tally: Tally) -> Iterable[Sequence[Response]]:
    """The lines of a row by line number, those of several files with one number together in load order."""
    lines: dict[int, list[Response]] = {}
    for response in tally.responses:
        lines.setdefault(response.number, []).append(response)
    if len(lines) == len(tally.responses):
        return ((response,) for response in sorted(tally.responses, key=load_order))
    return (sorted(lines[number], key=load_order) for number in sorted(lines))


def _labels(same_number: Sequence[Response], run: RunResult) -> Sequence[str]:
    """The lists that the lines with one number stand in, but for the first line's category (14, rule 10)."""
    first = same_number[0]
    category = pre_policy_category(run.matched[first.index])
    if len(same_number) == 1:
        return without(run.labels[first.index], category)
    return sorted(without([label for line in same_number for label in run.labels[line.index]], category))


def _response_text(response: Response, labels: Sequence[str], run: RunResult) -> str:
    assessment = run.matched[response.index]
    return (
        f"\tFQNODEID:\t{response.node or '-'}\n"
        f"\tSUBMISSION:\t{response.text}\n"
        f"\tTARGET_QID:\t{response.target_full_id}\n"
        f"\tASSESSMENT:\t{'-' if assessment is None else assessment.text}\n"
        "\n"
        f"\tPREPOLICY ASSESSMENT:\t{pre_policy_category(assessment)}\n"
        f"\tPOSTPOLICY ASSESSMENT:\t{','.join(labels)}\n"
        f"{_DOTS}"
    )


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
