"""A trial hides whose functions are rated, and the ratings are put together for each project."""

from __future__ import annotations

import json
from pathlib import Path

from tests.reading.trial import Project, make_trial, read_ratings

SOURCE = '''"""Rows of {project}.

More of it.
"""

def short(rows):
    return rows


class Table:
    """A table."""

    def total(self, rows):
        """Return the sum of {project}."""
        total = 0
        for row in rows:
            total += row
        return total
'''


def _projects(folder: Path) -> list[Project]:
    projects = []
    for name in ("ours", "theirs"):
        (folder / name).mkdir()
        (folder / name / "rows.py").write_text(SOURCE.format(project=name), "utf-8")
        projects.append(Project(name, folder / name, 5))
    return projects


def test_the_reader_sees_functions_of_a_size_without_the_projects_names(tmp_path: Path) -> None:
    key = make_trial(_projects(tmp_path), tmp_path / "trial", seed=1)
    text = (tmp_path / "trial/trial.txt").read_text("utf-8")
    assert sorted(sample.project for sample in key) == ["ours", "theirs"]
    assert "ours" not in text
    assert "theirs" not in text
    assert text.count("module: Rows of pkg.\nclass Table:  # A table.\n    def total(self, rows):\n") == 2
    assert "def short" not in text


def test_a_seed_gives_the_same_trial(tmp_path: Path) -> None:
    projects = _projects(tmp_path)
    first, second = (make_trial(projects, tmp_path / name, seed=7) for name in ("first", "second"))
    assert first == second


def test_ratings_are_averaged_for_each_project(tmp_path: Path) -> None:
    key = [[1, "ours", "rows.py", "total"], [2, "theirs", "rows.py", "total"], [3, "ours", "rows.py", "mean"]]
    (tmp_path / "key.json").write_text(json.dumps(key), "utf-8")
    rows = ["n\tP\tF\tN\tE\tD\treason", "1\t4\t3\t5\t-\t3+\tlong", "2\t5\t5\t5\t5\t0\t", "3\t5\t5\t5\t4\t1\t"]
    (tmp_path / "ratings.tsv").write_text("\n".join(rows), "utf-8")
    ours, theirs = read_ratings(tmp_path)
    assert (ours.project, ours.functions, ours.low, ours.opens) == ("ours", 2, 1, 2.0)
    assert ours.means == {"P": 4.5, "F": 4.0, "N": 5.0, "E": 4.0}
    assert theirs.low == 0
