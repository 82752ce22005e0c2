"""The input files of a batch: how its workers read them, which files are its runs, and how each run is named. The name
of a run is also that of its folder in the output of the batch, so no two names are alike. An *edition* is a version of
the rules of the scorer; runs may follow different ones.
"""

from __future__ import annotations

import glob
import itertools
import os
from codecs import BOM_UTF8
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.display import join_first
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.sources import (
    InMemory,
    Input,
    InputDigest,
    checked_file_or_folder,
    name_of,
    name_without_compression,
    open_source,
    reason_of,
    rereadable,
)
from cs_score.coldstart.options import edition_of
from cs_score.verbs.batch.folder_layout import RESERVED_NAMES

# ---- Inputs that can be sent to a worker


class InputFile(Record):
    """An input file of a batch, which several workers can read.

    `name` is the path as the user gave it, which messages show. `path` is the absolute path if the worker may have
    another working folder, `content` the bytes of the file if the worker may not see the file at all.
    """

    name: str
    path: str | None = None
    content: bytes | None = None

    @classmethod
    def of(cls, source: Input) -> InputFile:
        """Return an input file that can be read any number of times.

        A pipe or an open file is read now, and its bytes are kept. Raises InputError if it cannot be read.
        """
        repeatable_source = rereadable(source)
        if isinstance(repeatable_source, InMemory):
            return cls(name_of(source), content=repeatable_source.getvalue())
        return cls(name_of(source))

    def open(self) -> Input:
        """Return the input in the form that scoring requires: the path of a file, or an object with a name and bytes.

        On this machine, this is the path as the user gave it (`name`). A worker on another machine needs the absolute
        path or the bytes. In this case the bytes are read now, so that messages still show the path as given. Raises
        InputError if the bytes cannot be read.
        """
        is_on_this_machine = self.content is None and self.path is None
        if is_on_this_machine:
            return self.name
        return InMemory(self.name, self._read())

    def for_remote_worker(self, *, ships_inputs: bool) -> InputFile:
        """Return the input with its absolute path or, if `ships_inputs` is True, with its bytes.

        Raises InputError if the bytes are needed but cannot be read.
        """
        if self.content is not None:
            return self
        if ships_inputs:
            return replace(self, content=self._read())
        return replace(self, path=os.path.abspath(self.name))  # `name` is the path as the user gave it

    def _read(self) -> bytes:
        """Return the bytes of the file as it is stored. Raises InputError if it cannot be read."""
        if self.content is not None:
            return self.content
        try:
            with open(self.path or self.name, "rb") as file:
                return file.read()
        except (OSError, ValueError) as error:
            raise InputError(f"Could not open {self.name}: {reason_of(error)}") from None

    def digest(self, role: str) -> InputDigest:
        """Return the name and the SHA-256 of the file, with the `role` that it has in scoring (gold, run ...).

        Raises InputError if it cannot be read.
        """
        with open_source(self.open()) as source:
            return source.digest(role)


# ---- The runs


class BatchRunFile(Record):
    """A run of a batch: its name, which is unique and can be that of a folder, and its file.

    `edition` is the edition of the scorer that this run follows; empty for that of the batch. `system` is the name of
    the run in a file that holds several runs; empty otherwise.
    """

    name: str
    file: InputFile
    edition: str = ""
    system: str = ""


class FoundRuns(NamedTuple):
    """The runs of a batch in their order, and remarks for the user on files given twice and on names."""

    runs: list[BatchRunFile]
    remarks: list[str]


class _ListedWord(NamedTuple):
    """A word that names runs (a file, folder or pattern), and the edition that these follow; empty for the default."""

    word: str
    edition: str


_EDITION_SETTING: Final = "follow="
"""The beginning of a setting in a list of runs: `run.tab<TAB>follow=2016`."""


class _ListedFile(NamedTuple):
    """The path of the file of a run, as the user gave it, and the edition that it follows; empty for the default."""

    path: str
    edition: str


class _ListedFiles(NamedTuple):
    """The files of the runs of a batch, each once, and a remark on each file that was given twice."""

    files: list[_ListedFile]
    remarks: list[str]


def find_runs(words: Iterable[str], list_file: str | None, run_endings: Sequence[str]) -> FoundRuns:
    """Return the runs that are named by words of the command line and by the lines of a list.

    A word is a file, a folder (in which only files with one of the `run_endings` are taken, compressed or not), or a
    pattern with `*`, `?` or `[...]`. Each line of `list_file` has such a word, optionally followed by a tab and
    `follow=EDITION` (an edition of the scorer). Blank lines and lines that begin with `#` are ignored.

    Raises InputError if there is no run, or if a folder or pattern has no file. Raises UsageError for any other text
    after a tab, and for a file with two editions.
    """
    listed_words = [_ListedWord(word, edition="") for word in words]
    if list_file is not None:
        listed_words += _read_list(list_file)
    files, remarks_on_files = _distinct_files(listed_words, run_endings)
    if not files:
        raise InputError("no run to score", remedy="name run files, folders or patterns after the pool, or --runs-from")
    runs, remarks_on_names = _runs_of_files(files)
    return FoundRuns(runs, remarks_on_files + remarks_on_names)


def _runs_of_files(files: Sequence[_ListedFile]) -> FoundRuns:
    """Return a run with a unique name for each file, and remarks on names that were changed to make them unique."""
    name_by_path = _name_runs([file.path for file in files])
    runs = []
    for path, edition in files:
        runs.append(BatchRunFile(name=name_by_path[path], file=InputFile(path), edition=edition))
    return FoundRuns(runs, _remarks_on_names(name_by_path))


def _distinct_files(listed_words: Iterable[_ListedWord], run_endings: Sequence[str]) -> _ListedFiles:
    """Return the files named by the words, each file once, and remarks on files that were named by two paths.

    A word is a file, folder or pattern from the command line or a list, with the edition of its runs. In folders, only
    files with one of the `run_endings` are taken. Raises InputError if a folder or pattern has no file, and UsageError
    if a file has two editions.
    """
    remarks: list[str] = []
    file_by_absolute_path: dict[str, _ListedFile] = {}
    for word, edition in listed_words:
        for path in _files_of_word(word, run_endings):
            absolute_path = os.path.abspath(path)
            if absolute_path not in file_by_absolute_path:
                file_by_absolute_path[absolute_path] = _ListedFile(path, edition)
                continue
            earlier_file = file_by_absolute_path[absolute_path]
            _check_editions(earlier_file, _ListedFile(path, edition))
            if earlier_file.path != path:
                remarks.append(f"{path} is {earlier_file.path} again; it is scored once")
    return _ListedFiles(list(file_by_absolute_path.values()), remarks)


def _check_editions(earlier_file: _ListedFile, file: _ListedFile) -> None:
    """Raise UsageError if a file that was given twice is to follow two editions of the scorer."""
    if file.edition != earlier_file.edition:
        editions = f"{file.edition or 'the default'} and {earlier_file.edition or 'the default'}"
        raise UsageError(f"{file.path} is to follow {editions}")


def _read_list(list_file: str) -> Iterator[_ListedWord]:
    """Yield the words in a list of runs, each with its edition; blank lines and comments are left out.

    Raises InputError if the file cannot be read, and UsageError if a line is not understood.
    """
    with open_source(list_file) as source:
        data = source.read_bytes().removeprefix(BOM_UTF8)
    for line_number, line in enumerate(data.split(b"\n"), 1):
        # Blank lines and comments are parsed, too, because the text after a tab is checked in every line.
        listed_word = _parse_listed_line(os.fsdecode(line.strip()), f"{list_file}: line {line_number}")
        is_comment = listed_word.word.startswith("#")
        if listed_word.word and not is_comment:
            yield listed_word


def _parse_listed_line(line: str, place: str) -> _ListedWord:
    """Return the word in a line of a list of runs, with the edition that its runs follow; both may be empty.

    The line `run.tab<TAB>follow=2016` has the word `run.tab` and the edition `2016`. Raises UsageError, which names the
    `place` of the line, if the text after the tab is not `follow=EDITION`, or if the edition is unknown. In a comment
    the text after a tab must have this form, too, but its edition is not looked up.
    """
    word, tab, setting = line.partition("\t")
    if not tab:
        return _ListedWord(word, edition="")
    if not setting.startswith(_EDITION_SETTING):
        raise UsageError(f"{place}: {setting!r} is not understood; a tab precedes {_EDITION_SETTING}NAME")
    is_blank_or_comment = not word or word.startswith("#")
    if is_blank_or_comment:
        return _ListedWord(word, edition="")
    return _ListedWord(word, edition_of(setting.removeprefix(_EDITION_SETTING)).name)


def _files_of_word(word: str, run_endings: Sequence[str]) -> list[str]:
    """Return the paths of the files that a word names: those in a folder, all matches of a pattern, or the file itself.

    Of a folder only the files that end like one of `run_endings` are taken: `(".tab.txt",)`. Raises InputError if there
    is none in a folder, or if a pattern matches none.
    """
    if os.path.isdir(word):
        return _runs_in_folder(word, run_endings)
    if glob.has_magic(word) and not os.path.exists(word):
        return _matches_of_pattern(word)
    return [word]


def _runs_in_folder(folder: str, run_endings: Sequence[str]) -> list[str]:
    """Return the sorted paths of the files in a folder that end like one of `run_endings`, compressed or not.

    Raises InputError if there is none.
    """
    names = [name for name in os.listdir(folder) if name_without_compression(name).endswith(tuple(run_endings))]
    if not names:
        patterns = " or ".join([f"*{ending}" for ending in run_endings])
        all_files = os.path.join(folder, "*")
        raise InputError(f"no file {patterns} in it", file=folder, remedy=f"name the files: {all_files}")
    paths = [os.path.join(folder, name) for name in sorted(names)]
    return [checked_file_or_folder(path) for path in paths]


def _matches_of_pattern(pattern: str) -> list[str]:
    """Return the sorted paths of the files that match a pattern such as `"runs/*.tab"`. Raises InputError for none."""
    paths = [path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path)]
    if not paths:
        raise InputError("no file matches this pattern", file=pattern)
    return [checked_file_or_folder(path) for path in sorted(paths)]


# ---- The names of runs

_ENDINGS: Final = (".tab.txt", ".tab", ".tac", ".tsv", ".csv", ".txt", ".jsonl", ".json")
"""Endings that say what a file is and not which run it holds; the longest comes before others that it ends with."""


def _name_runs(paths: Sequence[str]) -> dict[str, str]:
    """Return a name for the run in each file, by the path of the file. The folder of the run has the same name.

    All names are different, and none of them is reserved for a file of the batch, such as `leaderboard.tsv`. A name is
    the name of the file without its ending, preceded by as many folders as are needed to tell it from others: the names
    for `runs/a/out.tab` and `runs/b/out.tab` are `a-out` and `b-out`. If folders do not help, a number is added:
    `out-2`.
    """
    name_by_path = _names_with_folders(paths)
    taken_names = set(name_by_path.values())
    for path in _paths_to_number(name_by_path):  # their names are reserved, or also names of later runs
        numbered_name = _numbered_name(name_by_path[path], taken_names)
        name_by_path[path] = numbered_name
        taken_names.add(numbered_name)
    return name_by_path


def _paths_to_number(name_by_path: Mapping[str, str]) -> list[str]:
    """Return the paths whose names need a number: all but the last that share a name, and all with a reserved name."""
    last_path_by_name = {name: path for path, name in name_by_path.items()}  # a later path replaces an earlier one
    paths = []
    for path, name in name_by_path.items():
        if name in RESERVED_NAMES or path != last_path_by_name[name]:
            paths.append(path)
    return paths


def _names_with_folders(paths: Sequence[str]) -> dict[str, str]:
    """Return a name for each path, made from the file and from as few folders above it as make the name usable.

    A name is usable if no other path has it and if it is not reserved. The names for `runs/a/out.tab` and
    `runs/b/out.tab` are `a-out` and `b-out`. If even all folders above a path do not make its name usable, the name
    remains unusable.
    """
    # Each round puts one more folder before each unusable name, until all names are usable or no folders are left.
    folder_count_by_path = dict.fromkeys(paths, 0)
    while True:
        name_by_path = {path: _short_name(path, count) for path, count in folder_count_by_path.items()}
        paths_to_extend = []
        for path in _paths_with_unusable_names(name_by_path):
            has_more_folders = folder_count_by_path[path] < len(_folders_above(path))
            if has_more_folders:
                paths_to_extend.append(path)
        if not paths_to_extend:
            return name_by_path
        for path in paths_to_extend:
            folder_count_by_path[path] += 1


def _paths_with_unusable_names(name_by_path: Mapping[str, str]) -> list[str]:
    """Return the paths whose names are not unique, or are reserved for another file of the batch."""
    count_by_name = Counter(name_by_path.values())
    paths = []
    for path, name in name_by_path.items():
        if count_by_name[name] > 1 or name in RESERVED_NAMES:
            paths.append(path)
    return paths


def _numbered_name(name: str, taken_names: Collection[str]) -> str:
    """Return `NAME-N` with the smallest number from 2 for which this name is not taken yet: `out-2`."""
    for number in itertools.count(2):
        candidate = f"{name}-{number}"
        if candidate not in taken_names:
            return candidate
    raise AssertionError


def _short_name(path: str, folder_count: int) -> str:
    """Return the name of a file without its ending, after the names of the `folder_count` folders above it.

    `"x/runs/a.tab.txt"` gives `"a"` without folders, and `"runs-a"` with one folder. If there are fewer folders, all
    are taken. Standard input, `"-"`, is called `stdin`.
    """
    if path == "-":
        return "stdin"
    folders = _folders_above(path)
    first_folder = max(0, len(folders) - folder_count)
    file_name = _without_ending(os.path.basename(os.path.abspath(path)))
    return "-".join([*folders[first_folder:], file_name])


def _folders_above(path: str) -> list[str]:
    """Return the names of the folders above a file, from the root on: `["home", "user", "runs"]`; none for `"-"`."""
    if path == "-":
        return []
    parent = os.path.dirname(os.path.abspath(path))
    return [part for part in parent.split(os.sep) if part]


def _without_ending(file_name: str) -> str:
    """Return the name of a file without the endings that say how it is compressed and what it is: `a.tab.gz` -> `a`."""
    name = name_without_compression(file_name)
    for ending in _ENDINGS:
        if name.endswith(ending) and len(name) > len(ending):
            return name.removesuffix(ending)
    return name


def _remarks_on_names(name_by_path: Mapping[str, str]) -> list[str]:
    """Return a remark on each name that several files share, with the longer names given to the runs in these files.

    For example, a remark is `the name out does not distinguish runs: a/out.tab as a-out, b/out.tab as b-out`.
    """
    renamed_runs: dict[str, list[str]] = defaultdict(list)
    for path, name in name_by_path.items():
        file_name = _short_name(path, 0)
        if name != file_name:
            renamed_runs[file_name].append(f"{path} as {name}")
    remarks = []
    for file_name, runs in renamed_runs.items():
        remarks.append(f"the name {file_name or '(empty)'} does not distinguish runs: {join_first(runs, 5)}")
    return remarks
