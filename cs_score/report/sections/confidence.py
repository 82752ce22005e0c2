"""What the confidences of a run are worth: scores by threshold, and how often confident answers are right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cs_score.report.charts.drawing import Drawing
from cs_score.report.charts.lines import lines
from cs_score.report.model import Block, Charts, Column, Facts, Section, Table, Value

_SERIES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def confidence_section(document: Mapping[str, Any]) -> Section:
    """Both charts, the best threshold and what reliability comes to in numbers, and the sweep as a table."""
    blocks: list[Block] = [Charts([*sweep_charts(document), *reliability_charts(document)])]
    facts = []
    if (best := document.get("best")) is not None:
        facts.append(("best threshold", f"{best['threshold']:g}", f"gain {best['gain']:+.4f}, chosen on these data"))
    told = {"brier": "Brier score", "ece": "expected calibration error", "auc": "area under the ROC curve"}
    reliability = document.get("reliability") or {}
    for over, found in (("judgments", reliability), ("labels of the policy", reliability.get("labels") or {})):
        numbers = ((name, found.get(key)) for key, name in told.items())
        facts += [(name, f"{number:.4f}", f"over {over}") for name, number in numbers if number is not None]
    blocks.append(Facts(facts))
    if document.get("sweep"):
        columns = [
            Column("threshold", "Threshold", "score"),
            *(Column(key, name.capitalize(), "score") for key, name in _SERIES.items()),
            Column("lines", "Lines", "count"),
        ]
        rows = [[row[column.key] for column in columns] for row in document["sweep"]]
        blocks.append(Table("sweep", "Scores by threshold", columns, rows))
    if bins := reliability.get("bins"):
        parts = (("low", "From"), ("high", "To"), ("confidence", "Mean confidence"), ("right", "Right"))
        of_bins = (Column("lines", "Lines", "count"), *(Column(key, name, "score") for key, name in parts))
        cells: list[list[Value]] = [[row[column.key] for column in of_bins] for row in bins]
        blocks.append(Table("bins", "Correct answers by confidence", of_bins, cells, is_small=True))
    return Section("confidence", "Confidence", blocks)


def sweep_charts(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """Precision, recall and F1 of the run without what is below each threshold."""
    sweep = document.get("sweep")
    if not sweep:
        return
    curves = {
        name: [(row["threshold"], row[key]) for row in sweep if row[key] is not None] for key, name in _SERIES.items()
    }
    best = document.get("best")
    told = f"{len(sweep)} thresholds from {sweep[0]['threshold']:g} to {sweep[-1]['threshold']:g}"
    mark = None
    if best is not None:
        mark = (best["threshold"], f"best: {best['threshold']:g} ({best['gain']:+.4f})")
        told += f"; the best is {best['threshold']:g}, which gains {best['gain']:+.4f}"
    axes = ("threshold: lines of less confidence are left out", "score")
    yield lines("sweep", "Scores by confidence threshold", f"{told}.", axes, curves, mark=mark)


def reliability_charts(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """How many answers of a confidence are right; on the diagonal where confidences are probabilities."""
    reliability = document.get("reliability")
    if not reliability or not reliability["bins"]:
        return
    points = [(row["confidence"], row["right"]) for row in reliability["bins"]]
    told = "; ".join(f"confidence {x:.4f}: {y:.4f} right" for x, y in points)
    axes = ("mean confidence of the bin", "share of right answers")
    yield lines("reliability", "Reliability of confidences", f"{told}.", axes, {"answers": points}, with_diagonal=True)
