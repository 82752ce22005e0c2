"""Give names to the systems that are compared, and find a system by a name that a user has typed. A system is a run, or
a file of predictions.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cs_score.base.records import Record, replace
from cs_score.base.sources import Input, name_of
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.units import unique_ids

if TYPE_CHECKING:
    from cs_score.coldstart.scorer import OneRun


def system_names(files: Sequence[Input]) -> list[str]:
    """Return a distinct name for each file: the file name, preceded by as few folders as possible.

    `a/run.tab` and `b/run.tab` keep their folders, whereas `a/x.tab` and `b/y.tab` become `x.tab` and `y.tab`. If the
    same file is given twice, the second one gets a number: `A.jsonl (2)`.
    """
    paths = [os.path.abspath(name_of(file)) for file in files]
    part_count_by_path = dict.fromkeys(paths, 1)
    ambiguous_paths = _ambiguous_paths(part_count_by_path)
    while ambiguous_paths:  # this does not include paths whose folders are all in use
        for path in ambiguous_paths:
            part_count_by_path[path] += 1
        ambiguous_paths = _ambiguous_paths(part_count_by_path)
    return unique_ids([_end_of_path(path, part_count_by_path[path]) for path in paths])


def _end_of_path(path: str, part_count: int) -> str:
    """Return the last parts of a path: the last 2 of `/data/a/run.tab` are `a/run.tab`."""
    parts = path.split(os.sep)
    return os.sep.join(parts[-part_count:])


def _ambiguous_paths(part_count_by_path: Mapping[str, int]) -> list[str]:
    """Return the paths that need more parts, because another path has the same last parts.

    `part_count_by_path` has how many last parts of each path are used so far. A path whose parts are all used is left
    out.
    """
    name_by_path = {path: _end_of_path(path, part_count) for path, part_count in part_count_by_path.items()}
    path_count_by_name = Counter(name_by_path.values())
    ambiguous_paths = []
    for path, part_count in part_count_by_path.items():
        is_ambiguous = path_count_by_name[name_by_path[path]] > 1
        has_further_parts = part_count < len(path.split(os.sep))
        if is_ambiguous and has_further_parts:
            ambiguous_paths.append(path)
    return ambiguous_paths


def run_names(runs: Sequence[OneRun]) -> list[str]:
    """Return a name for each run: its run id, or the name of its file if several runs have the same id.

    If the file of such a run also holds other runs, the name is `RUN_ID (FILE)`.
    """
    count_by_run_id = Counter([run.run_id for run in runs])
    names = []
    for run, file_name in zip(runs, system_names([run.file for run in runs])):
        if count_by_run_id[run.run_id] == 1:
            names.append(run.run_id)
        elif run.shares_file:
            names.append(f"{run.run_id} ({file_name})")
        else:
            names.append(file_name)
    return unique_ids(names)


def names_by_file(files: Sequence[Input], names_of_systems: Sequence[str]) -> dict[str, str]:
    """Return the name of each system by every text that a user may type for its file: `{"a/run.tab": "run1", ...}`.

    The texts are the path of the file, its file name, and the name that `system_names` gives it. `names_of_systems` are
    the names of the systems in the `files`. A text that could mean several systems is left out.
    """
    name_by_text: dict[str, str] = {}
    ambiguous_texts = set()
    for file, distinct_file_name, name in zip(files, system_names(files), names_of_systems):
        path = name_of(file)
        for text in {path, os.path.basename(path), distinct_file_name}:
            name_of_earlier_system = name_by_text.setdefault(text, name)
            if name_of_earlier_system != name:
                ambiguous_texts.add(text)
    return {text: name for text, name in name_by_text.items() if text not in ambiguous_texts}


class Systems(Record, eq=False):
    """Results to compare by the names of their systems, and these names by the files that users may name instead."""

    results: Mapping[str, Any]
    name_by_file: Mapping[str, str]

    def with_baseline(self, resampling: Resampling | None) -> Resampling | None:
        """Return the settings with the baseline given by the name of its system; users may also name it by its file."""
        if resampling is None or not resampling.baseline or resampling.baseline in self.results:
            return resampling
        name = self.name_by_file.get(resampling.baseline, resampling.baseline)
        return replace(resampling, baseline=name)
