"""What the runs of a batch tell together, from their outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cs_score.analysis.many.findings import findings_of
from cs_score.analysis.many.overview import Evaluation, Overview, System, Told, overview
from cs_score.batch.store.outcomes import Outcome
from cs_score.batch.tables.leaderboard import Leaderboard, resampling_of


def overview_of(
    outcomes: Sequence[Outcome], policies: Sequence[str], board: Leaderboard, evaluation: Evaluation
) -> Overview:
    """Everything about many runs, in the order of the batch; rankings are by the measures that people are shown."""
    systems = list(dict.fromkeys(System(each.run, run_id) for each in outcomes for run_id, _ in each.scores))

    def told(policy: str) -> list[Told | None]:
        found = {
            System(each.run, run_id): Told(scores, findings_of(findings))
            for each in outcomes
            if each.policy == policy
            for (run_id, scores), findings in zip(each.scores, each.findings)
        }
        return [found.get(system) for system in systems]

    resampling = next((resampling_of(row.intervals) for row in board.rows if row.intervals), None)
    return overview(evaluation, systems, policies, told, board.headline, resampling)


def labels_of(systems: Sequence[System]) -> list[str]:
    """What tables call each run: by its name, with the run id where a file holds several; no two alike."""
    often = Counter(system.run for system in systems)
    names = [system.run if often[system.run] == 1 else f"{system.run} ({system.run_id})" for system in systems]
    taken = set(names)
    seen: Counter[str] = Counter()
    labels = []
    for name in names:
        seen[name] += 1
        label = name
        while seen[name] > 1 and label in taken:
            label = f"{name} ({seen[name]})"
            seen[name] += 1
        taken.add(label)
        labels.append(label)
    return labels
