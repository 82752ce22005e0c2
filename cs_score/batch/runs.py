"""Which runs a batch has, what each is called (its folder and its rows), and inputs as a task carries them."""

from __future__ import annotations

import glob
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.sources import (
    InMemory,
    Input,
    InputDigest,
    is_pipe,
    name_of,
    open_source,
    plain_name,
    reason_of,
    rereadable,
)
from cs_score.coldstart import options
from cs_score.coldstart.options import NamedPolicy, Options, edition_of


class InputFile(Record):
    """One input file.

    `name` is what messages call it: the path as given. `path` is where it lies if the worker may have another working
    folder, `content` its stored bytes if the worker may not see the file at all.
    """

    name: str
    path: str | None = None
    content: bytes | None = None

    @classmethod
    def of(cls, given: Input) -> InputFile:
        """An input for any number of readers. Raises InputError where what can be read only once cannot be read."""
        again = rereadable(given)
        return cls(name_of(given), content=again.getvalue() if isinstance(again, InMemory) else None)

    @classmethod
    def of_option(cls, value: str | None) -> InputFile | None:
        """The file that an option names; None where its value is a list, or there is no such file."""
        return cls(value) if value is not None and os.path.isfile(value) else None

    def held(self) -> InputFile:
        """The same input for any number of readers: standard input and pipes can be read only once."""
        return self.loaded() if self.content is None and (self.name == "-" or is_pipe(self.name)) else self

    def open(self) -> Input:
        """What the library reads it from. Raises InputError where there is no such file."""
        if self.content is not None:
            return InMemory(self.name, self.content)
        if self.path is None:
            return self.name
        return InMemory(self.name, self._read(self.path))

    def located(self) -> InputFile:
        """The same input for a worker with another working folder that sees the same files."""
        return self if self.content is not None else replace(self, path=os.path.abspath(self.name))

    def loaded(self) -> InputFile:
        """The same input with its bytes. Raises InputError where it cannot be read."""
        if self.content is not None:
            return self
        return replace(self, content=self._read(sys.stdin.fileno() if self.name == "-" else self.name))

    def _read(self, path: str | int) -> bytes:
        try:
            with open(path, "rb", closefd=isinstance(path, str)) as file:
                return file.read()
        except (OSError, ValueError) as error:
            raise InputError(f"Could not open {self.name}: {reason_of(error)}") from None

    def digest(self, role: str) -> InputDigest:
        """The digest of its content. Raises InputError where it cannot be read."""
        with open_source(self.open()) as source:
            return source.digest(role)


# Endings that say what a file is and not which run it holds; the longest that fits is taken off.
_ENDINGS: Final = (".tab.txt", ".tab", ".tac", ".tsv", ".txt", ".jsonl", ".json")

INDEX: Final = "index.html"

BEGINNINGS: Final = {
    "leaderboard.tsv": rb"rank\tpolicy\trun\t",
    "leaderboard.json": rb'\{\s*"kind": "leaderboard",\s',
    "leaderboard.md": rb"\| Rank \| ",
    "leaderboard.tex": rb"% \\usepackage\{booktabs\}",
    "answers.tsv": rb"policy\tpart\tunit\t",
    "agreement.tsv": rb"policy\twhat\trun\t",
    "stability.tsv": rb"what\tmeasure\tpolicy\t",
    "batch.json": rb'\{\s*"kind": "batch",\s',
    INDEX: rb'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="cs-sc',
    "problems.tsv": rb"run\tpolicy\tseverity\tcode\t",
}
"""How the tables of batches begin: somebody else's file of such a name is not replaced without --force."""

LOCK: Final = ".batch.lock"

FILES: Final = (LOCK, *BEGINNINGS)
"""The files of every batch, in its output folder."""

RESERVED: Final = frozenset({"", ".", "..", *FILES})
"""Names that would hide a file of the batch, or that no folder can have."""

STANDARD_INPUT: Final = "stdin"

_FOLLOW: Final = "follow="
"""Begins the setting of a run in a list that asks for an edition."""


class RunFile(Record):
    """A run: its name, unique in the batch and fit for a folder, its file, and the edition that it asks for, if any."""

    name: str
    file: InputFile
    follow: str = ""


def find_runs(words: Iterable[str], list_file: str | None, members: Sequence[str]) -> tuple[list[RunFile], list[str]]:
    """The runs that words of a command line name, in their order, and remarks for the user.

    A word is a file, a folder (its files that end like `members`, compressed or not), or a pattern with `*`, `?` or
    `[...]`. `list_file` holds further words, one a line, each perhaps with a tab and `follow=EDITION` behind it; blank
    lines and lines that begin with `#` do not count. Raises InputError where a folder or a pattern has no file, and
    UsageError for anything else behind a tab.
    """
    remarks: list[str] = []
    found: dict[str, tuple[str, str]] = {}
    for word, follow in (*((word, "") for word in words), *(_listed(list_file) if list_file is not None else ())):
        for path in _files(word, members):
            first, edition = found.setdefault(os.path.abspath(path), (path, follow))
            if edition != follow:
                raise UsageError(f"{path} is to follow {follow or 'the default'} and {edition or 'the default'}")
            if first != path:
                remarks.append(f"{path} is {first} again; it is scored once")
    if not found:
        raise InputError("no run to score", remedy="name run files, folders or patterns after the pool, or --runs-from")
    names = _names([path for path, _ in found.values()], remarks)
    return [RunFile(name, InputFile(path), edition) for name, (path, edition) in zip(names, found.values())], remarks


def _listed(list_file: str) -> Iterator[tuple[str, str]]:
    """The words of a list with the editions that they ask for."""
    with open_source(list_file) as source:
        data = source.read_bytes()
    for number, line in enumerate(data.split(b"\n"), 1):
        word, tab, setting = os.fsdecode(line.strip()).partition("\t")
        if tab and not setting.startswith(_FOLLOW):
            raise UsageError(f"{list_file}: line {number}: {setting!r} is not understood; a tab precedes {_FOLLOW}NAME")
        if word and not word.startswith("#"):
            yield word, edition_of(setting.removeprefix(_FOLLOW)).name if tab else ""


def _files(word: str, members: Sequence[str]) -> list[str]:
    if os.path.isdir(word):
        found = sorted(name for name in os.listdir(word) if plain_name(name).endswith(tuple(members)))
        if not found:
            endings = " or ".join(f"*{ending}" for ending in members)
            raise InputError(f"no file {endings} in it", file=word, remedy=f"name the files: {os.path.join(word, '*')}")
        return [os.path.join(word, name) for name in found]
    if glob.has_magic(word) and not os.path.exists(word):
        matching = sorted(path for path in glob.glob(word, recursive=True) if not os.path.isdir(path))
        if not matching:
            raise InputError("no file matches this pattern", file=word)
        return matching
    return [word]


def _names(paths: Sequence[str], remarks: list[str]) -> list[str]:
    """A name for each path: that of the file, with as many folders before it as make it unique."""
    depth = dict.fromkeys(paths, 1)
    while True:
        names = {path: _name(path, depth[path]) for path in paths}
        taken = Counter(names.values())
        unclear = [path for path in paths if taken[names[path]] > 1 or names[path] in RESERVED]
        deeper = [path for path in unclear if _name(path, depth[path] + 1) != names[path]]
        if not deeper:
            break
        for path in deeper:
            depth[path] += 1
    for path in unclear:  # no folder distinguishes these
        name = names[path]
        number = 2
        if taken[name] < 2 and name not in RESERVED:
            continue
        while f"{name}-{number}" in taken:
            number += 1
        taken[name] -= 1
        names[path] = f"{name}-{number}"
        taken[names[path]] += 1
    by_stem: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        if names[path] != _name(path, 1):
            by_stem[_name(path, 1)].append(path)
    for stem, renamed in by_stem.items():
        shown = ", ".join(f"{path} as {names[path]}" for path in renamed[:5])
        rest = f" and {len(renamed) - 5} more" if len(renamed) > 5 else ""
        remarks.append(f"the name {stem or '(empty)'} does not distinguish runs: {shown}{rest}")
    return [names[path] for path in paths]


def _name(path: str, depth: int) -> str:
    """The last `depth` parts of a path as one word, without the endings of the file."""
    if path == "-":
        return STANDARD_INPUT
    *folders, file = [part for part in os.path.abspath(path).split(os.sep) if part]
    file = plain_name(file)
    ending = next((ending for ending in _ENDINGS if file.endswith(ending) and len(file) > len(ending)), "")
    stem = file.removesuffix(ending)
    return "-".join((*folders[len(folders) - depth + 1 :], stem) if depth > 1 else (stem,))


def read_policies(given: Sequence[str], base: Options, texts: dict[str, str]) -> list[NamedPolicy]:
    """The policies of `--also-policy`. Raises UsageError as for other commands, and for the name of a file."""
    policies = options.read_policies(given, base, texts, "--also-policy")
    for policy in policies:
        if policy.name in RESERVED:
            raise UsageError(f"--also-policy {policy.name}: that is a file of every batch; choose another name")
    return policies
