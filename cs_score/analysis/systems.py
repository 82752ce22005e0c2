"""Give names to the systems that are compared, and find a system by a name that a user has typed."""

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
    """Return a name for each file that no other file has: its file name, with as few folders before it as possible.

    `a/run.tab` and `b/run.tab` keep their folders, `a/x.tab` and `b/y.tab` become `x.tab` and `y.tab`. If the same file
    is given twice, the second one gets a number: `A.jsonl (2)`.
    """
    paths = [os.path.abspath(name_of(file)) for file in files]
    parts_by_path = {path: path.split(os.sep) for path in paths}
    part_count_by_path = dict.fromkeys(parts_by_path, 1)
    while True:  # each round adds a folder to the names that several paths share
        name_by_path: dict[str, str] = {}
        for path, parts in parts_by_path.items():
            name_by_path[path] = os.sep.join(parts[-part_count_by_path[path] :])
        path_count_by_name = Counter(name_by_path.values())
        ambiguous_paths = []
        for path, name in name_by_path.items():
            if path_count_by_name[name] > 1 and part_count_by_path[path] < len(parts_by_path[path]):
                ambiguous_paths.append(path)
        if not ambiguous_paths:
            return unique_ids([name_by_path[path] for path in paths])
        for path in ambiguous_paths:
            part_count_by_path[path] += 1


def run_names(runs: Sequence[OneRun]) -> list[str]:
    """Return a name for each run: its run id, or the name of its file if several runs have the same id.

    If the file of such a run holds other runs, too, the name is `RUN_ID (FILE)`.
    """
    count_by_run_id = Counter([run.run_id for run in runs])
    names = []
    for run, file_name in zip(runs, system_names([run.file for run in runs])):
        if count_by_run_id[run.run_id] == 1:
            names.append(run.run_id)
        elif run.is_shared:
            names.append(f"{run.run_id} ({file_name})")
        else:
            names.append(file_name)
    return unique_ids(names)


def names_by_file(files: Sequence[Input], names: Sequence[str]) -> dict[str, str]:
    """Return the name of each system by the texts with which users may name its file: its path and its file name.

    `names` are the names of the systems in the `files`. A text that would name several systems is left out.
    """
    name_by_file: dict[str, str] = {}
    ambiguous_texts = set()
    for file, file_name, name in zip(files, system_names(files), names):
        for text in {name_of(file), os.path.basename(name_of(file)), file_name}:
            if name_by_file.setdefault(text, name) != name:
                ambiguous_texts.add(text)
    return {text: name for text, name in name_by_file.items() if text not in ambiguous_texts}


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
