"""The leaderboard with intervals and tiers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.report.charts.dots import Dots, dots
from cs_score.report.charts.drawing import Drawing
from cs_score.report.model import Away, Charts, Column, Section, Text, Value
from cs_score.report.sections.many.runs import Document, label_of, page_of_run, place_of, policy_text, table_of
from cs_score.statistics.notes import Note, sentences

_MOST_DRAWN: Final = 50

_COLUMNS: Final = (
    Column("rank", "Rank", "count"),
    Column("policy", "Policy"),
    Column("run", "Run"),
    Column("run_id", "Run id"),
    Column("score", "Score", "score"),
    Column("low", "Low", "score"),
    Column("high", "High", "score"),
    Column("tier", "Tier", "count"),
    Column("p", "p against the run above", "score"),
)


def leaderboard_section(document: Document) -> Section:
    """The interval plots, and the table whose runs lead to their pages."""
    settings = document["bootstrap"]
    about = f"Ranked by {document['measure']}."
    if settings is not None:
        about += (
            f" Intervals of {settings['confidence']:g} % ({settings['method']} bootstrap of {settings['resamples']} "
            f"resamples of {settings['unit']}, seed {settings['seed']}). The runs of a tier are not told apart from "
            "its first; p is that of the difference to the run above. Randomisation, with Holm's correction over all "
            "pairs of runs."
        )
        about += "".join(f" {sentence}" for sentence in sentences(Note(**note) for note in document.get("notes", ())))
    rows = [_row(document, row) for row in document["leaderboard"]]
    table = table_of("runs", "Leaderboard", _COLUMNS, rows)
    return Section("leaderboard", "Leaderboard", (Text(about), Charts(list(interval_charts(document))), table))


def interval_charts(document: Document) -> Iterator[Drawing]:
    """Scores with their intervals, by policy."""
    for policy in document["policies"]:
        rows = [row for row in document["leaderboard"] if row["policy"] == policy and row["score"] is not None]
        drawn = [_dots(document, row) for row in rows[:_MOST_DRAWN]]
        if not drawn:
            continue
        told = "; ".join(f"{row.label} {row.values['score']:.4f}{_limits(row)}" for row in drawn)
        some = f" The first {_MOST_DRAWN} of {len(rows)} runs." if len(rows) > _MOST_DRAWN else ""
        title = f"Scores{' with intervals' if document['bootstrap'] else ''}{policy_text(document, policy)}"
        name = f"leaderboard-{document['policies'].index(policy)}"
        axes = (document["measure"], "run (tier)" if document["bootstrap"] else "run")
        yield dots(name, title, f"{told}.{some}", axes, ("score",), drawn, of=policy)


def _dots(document: Document, row: Mapping[str, Any]) -> Dots:
    tier = "" if row["tier"] is None else f" ({row['tier']})"
    interval = row["interval"] or {}
    known = interval.get("low") is not None and interval.get("high") is not None
    limits = {"score": (interval["low"], interval["high"])} if known else {}
    return Dots(f"{label_of(document, row)}{tier}", {"score": row["score"]}, limits)


def _limits(row: Dots) -> str:
    return "".join(f" ({low:.4f} to {high:.4f})" for low, high in row.intervals.values())


def _row(document: Document, row: Mapping[str, Any]) -> Sequence[Value]:
    place = place_of(document, row)
    name: Value = row["run"]
    if place is not None and document["pages"] and row["score"] is not None:
        name = Away(row["run"], page_of_run(document, row["policy"], place))
    interval = row["interval"] or {"low": None, "high": None}
    limits = (interval["low"], interval["high"])
    return (row["rank"], row["policy"], name, row["run_id"], row["score"], *limits, row["tier"], row["p_above"])
