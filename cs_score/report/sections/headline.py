"""The scores at the top of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cs_score.measures.registry import headline
from cs_score.report.model import Code, Column, Facts, Section, Table


def headline_section(document: Mapping[str, Any]) -> Section:
    """The score asked about, those that people are shown first, the signature, and every score by hop."""
    scores: Mapping[str, float] = document["scores"]
    first = [name for name in headline(document["mode"]) if name in scores and name != document["measure"]]
    intervals = document.get("intervals", {}).get("scores", {})
    return Section(
        "scores",
        "Scores",
        (
            Facts([_fact(document["measure"], document["score"], intervals)], is_main=True),
            *_beside(document.get("scenarios")),
            Facts([_fact(name, scores[name], intervals) for name in first]),
            Code([signature_line(document)]),
            _all_scores(scores),
        ),
    )


def _beside(scenarios: Mapping[str, Any] | None) -> Iterator[Facts]:
    """What the score would be in the scenarios for what nobody assessed."""
    if scenarios is not None and scenarios["unassessed"]:
        yield Facts(scenario_facts(scenarios))


def scenario_facts(scenarios: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Both scenarios beside the score, and the number of unassessed lines."""
    details = {"pessimistic": "every unassessed answer wrong", "optimistic": "every unassessed answer right"}
    facts = [
        (f"{name} scenario", "none" if scenarios[name] is None else f"{scenarios[name]:.4f}", detail)
        for name, detail in details.items()
    ]
    return [*facts, ("unassessed lines", str(scenarios["unassessed"]), scenarios.get("reason", ""))]


def signature_line(document: Mapping[str, Any]) -> str:
    """The citable line."""
    line: str = origin_of(document)["line"]
    return line


def origin_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the scores were computed from; evidence modes have it below `signature`."""
    found: Mapping[str, Any] = document["origin"] if "origin" in document else document["signature"]
    return found


def _fact(name: str, score: float, intervals: Mapping[str, Any]) -> tuple[str, str, str]:
    interval = intervals.get(name) or {}
    low, high = interval.get("low"), interval.get("high")
    detail = "" if low is None or high is None else f"{low:.4f} to {high:.4f}"
    return name, f"{score:.4f}", detail


def _all_scores(scores: Mapping[str, float]) -> Table:
    """A row for each measure, a column for all hops together and for each hop."""
    measures = list(dict.fromkeys(name.partition("@")[0] for name in scores))
    hops = sorted({name.partition("@")[2] for name in scores}, key=lambda hop: (hop != "", len(hop), hop))
    columns = [Column("measure", "Measure")]
    columns += [Column(f"hop{hop}" if hop else "all", f"Hop {hop}" if hop else _all(hops), "score") for hop in hops]
    rows = [[name, *(scores.get(f"{name}@{hop}" if hop else name) for hop in hops)] for name in measures]
    return Table("measures", "Every score", columns, rows, is_small=len(rows) <= 25)


def _all(hops: list[str]) -> str:
    return "All hops" if len(hops) > 1 else "Score"
