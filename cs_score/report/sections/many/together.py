"""What runs find together: how difficult answers are, how far runs agree, what more of them would find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.report.charts.bars import Bar, bars
from cs_score.report.charts.drawing import Drawing
from cs_score.report.charts.grid import grid
from cs_score.report.charts.lines import lines
from cs_score.report.model import Block, Charts, Column, Section, Text, Value
from cs_score.report.sections.many.runs import Document, labels_of, policy_text, table_of
from cs_score.report.sections.names import slug

_MOST_BARS: Final = 24
_MOST_RUNS: Final = 40


def difficulty_section(document: Document) -> Section:
    """How many answers so many runs have found, and how many only one."""
    labels = labels_of(document)
    found: list[list[Value]] = [
        [row["policy"], row["part"], times, count]
        for row in document["answers"]
        for times, count in enumerate(row["found_by"])
    ]
    only: list[list[Value]] = [
        [row["policy"], row["part"], labels[place], count]
        for row in document["answers"]
        for place, count in enumerate(row["only"])
    ]
    shared = (Column("policy", "Policy"), Column("part", "Part"))
    by = (*shared, Column("times", "Runs that found it", "count"), Column("count", "Number", "count"))
    alone = (*shared, Column("run", "Run"), Column("count", "Found by it alone", "count"))
    return Section(
        "difficulty",
        "Difficulty",
        (
            Text("What is to be found, by how many runs have found it. What no run found is hardest."),
            Charts(list(difficulty_charts(document))),
            table_of("found", "Found by so many runs", by, found),
            table_of("only", "Found by one run alone", alone, only),
        ),
    )


def difficulty_charts(document: Document) -> Iterator[Drawing]:
    """How many so many runs have found, by policy and part."""
    for row in document["answers"]:
        drawn = [Bar(label, 0.0, count, str(count)) for label, count in _binned(row["found_by"])]
        told = "; ".join(f"found by {each.label}: {each.note}" for each in drawn)
        title = f"{_plural(row['part']).capitalize()} by how many runs found them{policy_text(document, row['policy'])}"
        name = f"difficulty-{document['policies'].index(row['policy'])}-{slug(row['part'])}"
        axes = (f"number of {_plural(row['part'])}, of {row['total']}", "found by runs")
        yield bars(name, title, f"{told}.", axes, drawn, of=_of(row["policy"], row["part"]))


def _binned(counts: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Counts by number of runs; where these are many, of several numbers together."""
    width = -(-len(counts) // _MOST_BARS)
    yield "no run", counts[0]
    for first in range(1, len(counts), width):
        last = min(first + width, len(counts)) - 1
        yield (str(first) if first == last else f"{first} to {last}"), sum(counts[first : last + 1])


def agreement_section(document: Document) -> Section:
    """How far the right and the wrong answers of two runs are the same, and what several runs find together."""
    labels = labels_of(document)
    pairs: list[list[Value]] = [
        [row["policy"], pair.get("part"), labels[pair["a"]], labels[pair["b"]], pair["right"], pair["wrong"]]
        for row in document["agreement"]
        for pair in row["pairs"]
    ]
    shared = Column("policy", "Policy")
    sides = (Column("right", "Right answers", "score"), Column("wrong", "Wrong answers", "score"))
    columns = (shared, Column("part", "Part"), Column("a", "Run"), Column("b", "Other run"), *sides)
    union: list[list[Value]] = [
        [row["policy"], measure, score]
        for row in document["agreement"]
        for measure, score in row["union"]["scores"].items()
    ]
    about = (
        "Agreement is the share of the answers of two runs that both give (Jaccard): 1 where they give the same. The "
        "union is what all that is right in any run would score: no vote among these runs can do better. Recall is the "
        "mean over all choices of so many runs; agreed is what at least so many have found."
    )
    blocks: list[Block] = [
        Text(about),
        Charts([*agreement_charts(document), *systems_charts(document)]),
        table_of("pairs", "Agreement of pairs", columns, pairs),
    ]
    if union:
        measures = (shared, Column("measure", "Measure"), Column("score", "Score of the union", "score"))
        blocks.append(table_of("union", "Union of all runs", measures, union))
    return Section("agreement", "Agreement", blocks)


def agreement_charts(document: Document) -> Iterator[Drawing]:
    """Runs by runs: the overlap of their right answers, by policy and part."""
    labels = labels_of(document)[:_MOST_RUNS]
    each_part = (
        (at, row, part, [pair for pair in row["pairs"] if pair.get("part", "") == part])
        for at, row in enumerate(document["agreement"])
        for part in dict.fromkeys(pair.get("part", "") for pair in row["pairs"]) or ("",)
    )
    for at, row, part, pairs in each_part:
        overlap: dict[tuple[int, int], float | None] = {(place, place): 1.0 for place in range(len(labels))}
        for pair in pairs:
            overlap[pair["a"], pair["b"]] = overlap[pair["b"], pair["a"]] = pair["right"]
        places = range(len(labels))
        rows = [(labels[one], [overlap.get((one, other)) for other in places]) for one in places]
        if len(rows) < 2:
            continue
        shown = [(pair, pair["right"]) for pair in pairs if pair["right"] is not None]
        told = "; ".join(
            f"{labels[pair['a']]} and {labels[pair['b']]} {right:.4f}"
            for pair, right in shown
            if max(pair["a"], pair["b"]) < len(labels)
        )
        title = f"Agreement of right answers (Jaccard){part and f' by {part}'}{policy_text(document, row['policy'])}"
        name = f"agreement-{at}{part and f'-{slug(part)}'}"
        yield grid(name, title, f"{told}.", ("run", "run"), rows, labels, of=_of(row["policy"], part))


def systems_charts(document: Document) -> Iterator[Drawing]:
    """What more and more runs find together, and agree on."""
    for at, row in enumerate(document["agreement"]):
        for part in dict.fromkeys(each["part"] for each in row["systems"]):
            each = [one for one in row["systems"] if one["part"] == part]
            curves = {
                name: [(one["systems"], one[key]) for one in each if one[key] is not None]
                for name, key in (("found by any", "recall"), ("found by so many at least", "agreed"))
            }
            told = "; ".join(_told(one) for one in each)
            title = f"{_plural(part).capitalize()} found by so many runs{policy_text(document, row['policy'])}"
            name, of = f"systems-{at}-{slug(part)}", _of(row["policy"], part)
            yield lines(name, title, f"{told}.", ("number of runs", "share"), curves, of=of)


def _told(one: Mapping[str, Any]) -> str:
    shares = (
        f"{name} {one[key]:.4f}" for name, key in (("recall", "recall"), ("agreed", "agreed")) if one[key] is not None
    )
    return f"{one['systems']} runs: {', '.join(shares)}"


def _plural(part: str) -> str:
    return f"{part}es" if part.endswith("s") else f"{part}s"


def _of(policy: str, part: str) -> str:
    return f"{policy} {part}".strip()
