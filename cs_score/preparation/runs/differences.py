"""How validation changes a file: a unified diff of the file as given and its lines as they are written.

A validated run or knowledge base is sorted, which would drown the changes. The diff keeps the order of the input: each
line stands beside the lines that are written for it, or alone where none are. So it is found in one pass, without
searching.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.display import one_line
from cs_score.base.errors import UsageError
from cs_score.base.sources import open_source
from cs_score.preparation.runs.run_validation import CheckedRun

CONTEXT: Final = 3
"""Unchanged lines shown around a change."""


class _Pair(NamedTuple):
    """A line as given, and the lines that are written for it."""

    old: str
    new: Sequence[str]

    @property
    def is_kept(self) -> bool:
        """Whether it is written as it stands."""
        return len(self.new) == 1 and self.new[0] == self.old


def differences(checked: CheckedRun) -> Iterator[str]:
    """The diff of each file of a run, in load order; a file without changes gives nothing.

    Raises UsageError for a run from standard input, which cannot be read twice.
    """
    written: dict[str, dict[int, tuple[str]]] = defaultdict(dict)
    for text, response in checked.lines():
        written[response.file][response.number] = (text.removesuffix("\n"),)
    for name in checked.loading.layouts:
        if name == "-":
            raise UsageError("--diff reads the run twice; give it as a file")
        yield from file_differences(name, written[name])


def file_differences(name: str, written: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """The diff of a file and the lines that are written for its lines, by their numbers from 1."""
    with open_source(name) as source:
        old = source.read_bytes().decode("utf-8").split("\n")
    ends_with_newline = not old[-1]
    if ends_with_newline:
        old.pop()
    pairs = [_Pair(text, written.get(number, ())) for number, text in enumerate(old, 1)]
    last = len(pairs) - 1
    changed = [at for at, pair in enumerate(pairs) if not pair.is_kept or (at == last and not ends_with_newline)]
    if not changed:
        return
    shown = one_line(name)
    yield f"--- {shown}\n+++ {shown} (validated)\n"
    new_start = 1
    done = 0
    for start, end in _hunks(changed, len(pairs)):
        new_start += sum(len(pair.new) for pair in pairs[done:start])
        hunk = pairs[start:end]
        new_size = sum(len(pair.new) for pair in hunk)
        new_first = new_start if new_size else new_start - 1
        yield f"@@ -{start + 1},{len(hunk)} +{new_first},{new_size} @@\n"
        yield from _hunk_lines(hunk, lacks_newline=end == len(pairs) and not ends_with_newline)
        new_start += new_size
        done = end


def _hunks(changed: list[int], size: int) -> Iterator[tuple[int, int]]:
    """Stretches around the changes, as half-open ranges of lines from 0."""
    start = max(changed[0] - CONTEXT, 0)
    end = changed[0] + CONTEXT + 1
    for at in changed[1:]:
        if at - CONTEXT > end:
            yield start, min(end, size)
            start = at - CONTEXT
        end = at + CONTEXT + 1
    yield start, min(end, size)


def _hunk_lines(hunk: list[_Pair], *, lacks_newline: bool) -> Iterator[str]:
    """The lines of a hunk: of a stretch of changes first what is removed, then what is added."""
    added: list[str] = []
    for at, pair in enumerate(hunk):
        is_unterminated = lacks_newline and at == len(hunk) - 1
        if pair.is_kept and not is_unterminated:
            yield from added
            added = []
            yield f" {pair.old}\n"
            continue
        yield f"-{pair.old}\n"
        if is_unterminated:
            yield "\\ No newline at end of file\n"
        added += [f"+{line}\n" for line in pair.new]
    yield from added
