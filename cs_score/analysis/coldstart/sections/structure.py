"""What is doubtful about the nodes of a run, though no single line is to blame (insight specification 4.2)."""

from __future__ import annotations

from collections import defaultdict

from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.records import Record


class Structure(Record):
    """Nodes whose lines are of several classes, classes whose lines are in several nodes, lines beyond a limit."""

    merged_nodes: int
    split_classes: int
    discarded_lines: int

    def as_json(self) -> dict[str, int]:
        """The numbers by name."""
        return {
            "merged_nodes": self.merged_nodes,
            "split_classes": self.split_classes,
            "discarded_lines": self.discarded_lines,
        }


def structure_of(scored: Scored) -> Structure:
    """Count the nodes that merge classes, the classes that are split, and the lines discarded by a limit.

    A line belongs to the class of its assessment where that is accepted.
    """
    classes: dict[str, set[str]] = defaultdict(set)
    nodes: dict[str, set[str]] = defaultdict(set)
    discarded = 0
    for unit in scored.result.units:
        for lines in scored.run.lines.get(scored.run_id, {}).get(unit.id, {}).values():
            for line in lines:
                discarded += line.index in scored.run.discarded
                assessment = unit.matched.get(line.index)
                if assessment is not None and assessment.is_accepted and line.node is not None:
                    classes[line.node].add(assessment.value_class)
                    nodes[assessment.value_class].add(line.node)
    return Structure(
        sum(len(of_node) > 1 for of_node in classes.values()),
        sum(len(of_class) > 1 for of_class in nodes.values()),
        discarded,
    )
