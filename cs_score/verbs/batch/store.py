"""The output folder of a batch: the files of each run and, written last, the record that says that they are complete.

The record of a run is `signature.json` in the folder of the run. `--resume` keeps a run whose record and files are as
the batch wrote them.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from cs_score.base.documents import document_in, json_text, record_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, cannot_write, encoded, whole_file, write_whole
from cs_score.base.records import replace, to_builtins
from cs_score.base.sources import name_of
from cs_score.coldstart.linking import expand_folder
from cs_score.coldstart.outputs import OUTPUTS
from cs_score.problems.reports import OPTION
from cs_score.verbs.batch.documents import FAILED, Outcome, RunOrigin, WrittenFile
from cs_score.verbs.batch.inputs import BatchRunFile
from cs_score.verbs.batch.layout import BEGINNINGS, FILES, INDEX, is_page
from cs_score.verbs.batch.plan import BatchOptions, Plan, RunFiles

SIGNATURE: Final = "signature.json"
"""The name of a run's record in its folder."""

_TIME_LINE: Final = re.compile(rb"#At: \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}")
"""The first line of a file `.params`, which holds the time of the call."""

_BLOCK_BYTES: Final = 1 << 18

_LARGEST_RECORD: Final = 1 << 28
"""How many bytes of a record are read; it may hold the problems of a run with their details."""

_ENDINGS: Final = (*[output.ending for output in OUTPUTS], "errlog", "json", "txt", "tsv")

_RUN_FILE_NAMES: Final = frozenset([SIGNATURE] + [f"out.{ending}" for ending in _ENDINGS])
"""The files that batches of any task write into the folder of a run; all other files there are the user's."""


def folder_of_run(out: str, plan: Plan, run: str, policy: str) -> str:
    """Return the folder of a run: `OUT/RUN`, or `OUT/POLICY/RUN` if the batch scores under several policies."""
    if len(plan.policy_names) > 1:
        return os.path.join(out, policy, run)
    return os.path.join(out, run)


# ---- The files that a batch reads and writes


def planned_batch(plan: Plan, runs: Sequence[BatchRunFile], options: BatchOptions) -> OutputPlan:
    """Return the plan of all files that a batch reads and writes, to be checked before anything is changed.

    Raises UsageError if the file of problems has an impossible name, or if the folder of a run is a link: its target
    does not belong to the batch.
    """
    problem_outputs = tuple(OPTION.outputs(options.problems))
    paths = [os.path.join(options.out, name) for name in FILES]
    paths += _list_files(options.out, _is_leftover)
    for run in runs:
        for policy in plan.policy_names:
            folder = folder_of_run(options.out, plan, run.name, policy)
            _refuse_links(folder, has_policies=len(plan.policy_names) > 1)
            paths += _list_files(folder, _is_run_file)
            paths += _places_shared_with_run(problem_outputs, folder)
    distinct_paths = dict.fromkeys(paths)
    outputs = _planned_outputs(distinct_paths, writes_index=plan.page is not None)
    inputs = [name_of(member) for file in plan.inputs for member in expand_folder(file.name)]
    if options.runs_from is not None:
        inputs.append(options.runs_from)
    inputs += [run.file.name for run in runs]
    return OutputPlan(inputs, (*outputs, *problem_outputs), options.force, folder=options.out)


def _refuse_links(folder: str, *, has_policies: bool) -> None:
    """Raise UsageError if the folder of a run is a link, or the folder of its policy above it."""
    places = [os.path.dirname(folder), folder] if has_policies else [folder]
    for place in places:
        if os.path.islink(place):
            raise UsageError(f"{place} is a link, where -o makes a folder; remove it, or take another -o")


def _places_shared_with_run(problem_outputs: Iterable[PlannedOutput], folder: str) -> list[str]:
    """Return the paths of files of problems that do not exist yet and have the path of a file of a run.

    `--problems OUT/run/out.json` is such a path. It enters the plan twice, so that the check of the plan refuses it.
    """
    paths = []
    for output in problem_outputs:
        parent, name = os.path.split(os.path.realpath(output.path))
        is_in_folder = parent == os.path.realpath(folder)
        if is_in_folder and _is_run_file(name) and not os.path.exists(output.path):
            paths.append(os.path.join(folder, name))
    return paths


def _planned_outputs(paths: Iterable[str], *, writes_index: bool) -> list[PlannedOutput]:
    """Return how each file of a batch is treated if it exists already.

    Tables of the batch replace only tables of an earlier batch, files of a run replace any file. An `index.html` of an
    earlier batch is removed if this batch writes none: it would show other scores.
    """
    outputs = []
    for path in paths:
        name = os.path.basename(path)
        beginning = BEGINNINGS.get(name)
        existing = Existing.KNOWN if beginning else Existing.REPLACED
        output = PlannedOutput("-o", path, existing, beginning)
        if name != INDEX or writes_index:
            outputs.append(output)
        elif output.is_recognised():
            outputs.append(replace(output, existing=Existing.CLEARED))
    return outputs


# ---- Writing the files of a run


def write_run(folder: str, outcome: Outcome, files: RunFiles) -> Outcome:
    """Write the files of a run into its folder, in place of those of an earlier scoring; return the outcome with them.

    The record of the run is written last. A failed run gets none, so that `--resume` tries it again. Raises OutputError
    if the folder cannot be written.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    clear(folder)
    outcome = replace(outcome, files=written_files(files, folder))
    if outcome.state == FAILED:
        return outcome
    outcome = replace(outcome, digest=digest_of(to_builtins(outcome)))
    write_whole(os.path.join(folder, SIGNATURE), encoded([json_text(outcome)]))
    return outcome


def written_files(files: RunFiles, folder: str | None = None) -> tuple[WrittenFile, ...]:
    """Write files into a folder, and return the name, size and digest of each.

    Without a folder nothing is written, and the values that would be recorded are returned.
    """
    written = []
    for name, blocks in files:
        digest = _FileDigest(name)
        if folder is None:
            for block in blocks:
                digest.update(block)
        else:
            with whole_file(os.path.join(folder, name)) as file:
                for block in blocks:
                    digest.update(block)
                    file.write(block)
        written.append(digest.written())
    return tuple(written)


class _FileDigest:
    """The size and the SHA-256 of a file of a run, taken block by block.

    The SHA-256 of a file `.params` leaves out its first line, the time of the call: equal calls have equal digests.
    """

    def __init__(self, name: str) -> None:
        """Begin with an empty file called `name`; the first line of a file `.params` may hold a time."""
        self._name = name
        self._size = 0
        self._sha256 = hashlib.sha256()
        self._unfinished_line: bytes | None = b"" if name.endswith(".params") else None

    def update(self, block: bytes) -> None:
        """Add the next block of the file."""
        self._size += len(block)
        if self._unfinished_line is None:
            self._sha256.update(block)
            return
        line, line_feed, rest = (self._unfinished_line + block).partition(b"\n")
        if not line_feed:
            self._unfinished_line = line
            return
        self._unfinished_line = None
        if not _TIME_LINE.fullmatch(line):
            self._sha256.update(line)
        self._sha256.update(line_feed + rest)

    def written(self) -> WrittenFile:
        """Return the name, size and digest of the file. Call it once, after the last block."""
        if self._unfinished_line is not None:
            self._sha256.update(self._unfinished_line)
        return WrittenFile(self._name, self._size, self._sha256.hexdigest())


# ---- Reading the files of a run


class UnfitError(Exception):
    """A file of an earlier batch was changed since it was written; the text of the error is the path of the file."""


def read_whole_run(folder: str, origin: RunOrigin) -> Outcome | None:
    """Return the recorded outcome of a run that an earlier batch scored from the inputs and options of `origin`.

    Returns None if the folder has no record, or the record was made from other inputs or options. Raises UnfitError if
    the record or one of the files that it lists was changed.
    """
    path = os.path.join(folder, SIGNATURE)
    if not os.path.lexists(path):
        return None
    outcome = _read_record(path)
    if not outcome.origin or _comparable(outcome.origin) != _comparable(origin):
        return None
    for file in outcome.files:
        check_file(os.path.join(folder, file.name), file)
    return outcome


def _read_record(path: str) -> Outcome:
    """Return the outcome in the record of a run. Raises UnfitError if it is not a record as a batch wrote it."""
    try:
        with _open_plain_file(path) as file:
            value = document_in(file.read(_LARGEST_RECORD), path)
        outcome = record_in(value, Outcome, path)
        is_whole = bool(outcome.origin) and outcome.digest == digest_of(value)
        for run in outcome.runs:
            if run.findings:
                run.findings.check()
            else:
                is_whole = False
    except (InputError, OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError):
        raise UnfitError(path) from None
    if not is_whole:
        raise UnfitError(path)
    return outcome


def _comparable(origin: RunOrigin) -> object:
    """Return an origin as JSON values in which inputs count by their digests alone, not by their names.

    An option that names an input, such as a list of queries, has the digest of that input, too.
    """
    digest_by_name = {file.name: file.sha256 for file in origin.inputs}
    options = {}
    for name, value in origin.options.items():
        options[name] = digest_by_name.get(value, value) if isinstance(value, str) else value
    inputs = [(file.role, file.sha256) for file in origin.inputs]
    values = {**to_builtins(origin), "options": options, "inputs": inputs}
    return json.loads(json.dumps(values))


def digest_of(record: Mapping[str, object]) -> str:
    """Return the SHA-256 of a record without its own entry `digest`; a change of the record changes it.

    Raises ValueError if the record holds a number that JSON does not know (infinity, NaN).
    """
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode("ascii")).hexdigest()


def check_file(path: str, written: WrittenFile) -> None:
    """Raise UnfitError if the file at `path` does not have the size and the digest that were recorded."""
    try:
        is_same = _has_digest(path, written)
    except (OSError, ValueError):
        is_same = False
    if not is_same:
        raise UnfitError(path)


def _has_digest(path: str, written: WrittenFile) -> bool:
    """Return whether the file at `path` has the recorded size and digest. Raises OSError if it cannot be read."""
    with _open_plain_file(path) as file:
        if os.fstat(file.fileno()).st_size != written.size:
            return False
        digest = _FileDigest(written.name)
        block = file.read(_BLOCK_BYTES)
        while block:
            digest.update(block)
            block = file.read(_BLOCK_BYTES)
        return digest.written() == written


def _open_plain_file(path: str) -> io.BufferedReader:
    """Open a file for reading. Raises OSError for a link, and for a pipe or device, since reading it may never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a file")
    return open(descriptor, "rb")


# ---- Removing the files of earlier batches


def clear(folder: str) -> None:
    """Remove the files of an earlier scoring from the folder of a run, its record first.

    Without its record a run counts as not scored, even if this process is killed before all files are gone.
    """
    paths = _list_files(folder, _is_run_file)
    paths.sort(key=lambda path: os.path.basename(path) != SIGNATURE)
    _remove_files(paths)


def clear_leftovers(folder: str) -> None:
    """Remove the temporary files that a killed process left behind in a folder."""
    _remove_files(_list_files(folder, _is_leftover))


def _remove_files(paths: Iterable[str]) -> None:
    """Remove files; errors are ignored."""
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _list_files(folder: str, has_wanted_name: Callable[[str], bool]) -> list[str]:
    """Return the sorted paths of the files, links and pipes in a folder with wanted names; none without a folder."""
    paths = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if has_wanted_name(entry.name) and not entry.is_dir(follow_symlinks=False):
                    paths.append(entry.path)
    except OSError:
        return []
    return sorted(paths)


def _is_run_file(name: str) -> bool:
    """Return whether a file of this name in the folder of a run is replaced when the run is scored again."""
    return name in _RUN_FILE_NAMES or is_page(name) or _is_leftover(name)


def _is_leftover(name: str) -> bool:
    """Return whether a file of this name is the temporary file of a process that was killed."""
    return name.startswith(".") and name.endswith(".part")
