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

from cs_score.base.documents import checked_record, document_in, json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import (
    Existing,
    OutputPlan,
    PlannedOutput,
    utf8_blocks,
    whole_file,
    write_whole,
    writing_error,
)
from cs_score.base.records import replace, to_builtins
from cs_score.base.sources import name_of
from cs_score.coldstart.linking import expand_folder
from cs_score.coldstart.output_files import OUTPUTS
from cs_score.problems.reports import PROBLEMS_OPTION
from cs_score.verbs.batch.batch_documents import FAILED, Outcome, RunOrigin, WrittenFile
from cs_score.verbs.batch.folder_layout import BATCH_FILES, BEGINNINGS, INDEX, is_page
from cs_score.verbs.batch.input_files import BatchRunFile
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


def folder_of_run(output_folder: str, plan: Plan, run: str, policy: str) -> str:
    """Return the folder of a run: `OUT/RUN`, or `OUT/POLICY/RUN` if the batch scores under several policies."""
    if len(plan.policy_names) > 1:
        return os.path.join(output_folder, policy, run)
    return os.path.join(output_folder, run)


# ---- The files that a batch reads and writes


def planned_batch(plan: Plan, runs: Sequence[BatchRunFile], options: BatchOptions) -> OutputPlan:
    """Return the plan of all files that a batch reads and writes, to be checked before anything is changed.

    Raises UsageError if the file of problems has an impossible name, or if the folder of a run is a link: its target
    does not belong to the batch.
    """
    problem_outputs = tuple(PROBLEMS_OPTION.outputs(options.problems))
    paths = [os.path.join(options.out, name) for name in BATCH_FILES]
    paths += _list_files(options.out, _is_leftover)  # temporary files of processes that were killed; they are removed
    paths += _paths_in_folders_of_runs(_folders_of_runs(plan, runs, options.out), problem_outputs)
    outputs = _planned_outputs(dict.fromkeys(paths), writes_index=plan.make_page is not None)
    inputs = _names_of_inputs(plan, runs, options.runs_from)
    return OutputPlan(inputs, (*outputs, *problem_outputs), options.force, folder=options.out)


def _paths_in_folders_of_runs(folders: Iterable[str], problem_outputs: Sequence[PlannedOutput]) -> list[str]:
    """Return the paths of the files in the folders of runs that a batch replaces.

    `problem_outputs` are the files of the option `--problems`. If one of them would replace a file of a run, its path
    is returned as well. When the plan is checked, this path is then found twice and rejected.
    """
    paths = []
    for folder in folders:
        paths += _list_files(folder, _is_run_file)
        paths += _problem_reports_in_run_folder(problem_outputs, folder)
    return paths


def _folders_of_runs(plan: Plan, runs: Iterable[BatchRunFile], output_folder: str) -> list[str]:
    """Return the folder of each run under each policy, in `output_folder`: `["out/sf/run1", ...]`.

    Raises UsageError if the folder of a run, or that of a policy, is a link.
    """
    folders = []
    for run in runs:
        for policy in plan.policy_names:
            folder = folder_of_run(output_folder, plan, run.name, policy)
            _refuse_links(folder, has_policies=len(plan.policy_names) > 1)
            folders.append(folder)
    return folders


def _names_of_inputs(plan: Plan, runs: Iterable[BatchRunFile], runs_from: str | None) -> list[str]:
    """Return the names of all files that a batch reads: gold, the list of runs if there is one, and the runs.

    The files in a folder are named in its place.
    """
    names = []
    for file in plan.inputs:
        names += [name_of(file_of_folder) for file_of_folder in expand_folder(file.name)]
    if runs_from is not None:
        names.append(runs_from)
    names += [run.file.name for run in runs]
    return names


def _refuse_links(folder: str, *, has_policies: bool) -> None:
    """Raise UsageError if the folder of a run is a link.

    If the batch scores under several policies, the folder of the policy, which contains it, must not be a link, either.
    """
    folders = [folder]
    if has_policies:
        folders.insert(0, os.path.dirname(folder))
    for path in folders:
        if os.path.islink(path):
            raise UsageError(f"{path} is a link, where -o makes a folder; remove it, or take another -o")


def _problem_reports_in_run_folder(problem_outputs: Iterable[PlannedOutput], folder: str) -> list[str]:
    """Return the paths of problem reports that would collide with a file of the run in a folder.

    For example, `--problems OUT/run/out.json` collides if `OUT/run` is the `folder` of a run. Adding the result to the
    plan makes the path occur twice, once as a file of the run and once as a report, so that the plan is rejected when
    it is checked. Files that already exist are left out, because the plan contains all existing files of the folder
    anyway.
    """
    paths = []
    for output in problem_outputs:
        parent, name = os.path.split(os.path.realpath(output.path))
        is_in_folder = parent == os.path.realpath(folder)
        if is_in_folder and _is_run_file(name) and not os.path.exists(output.path):
            paths.append(os.path.join(folder, name))
    return paths


def _planned_outputs(paths: Iterable[str], *, writes_index: bool) -> list[PlannedOutput]:
    """Return, for each path that a batch writes, how an existing file at this path is treated.

    An `index.html` of an earlier batch is removed if this batch does not write one (`writes_index`), because it would
    show other scores. If another program wrote it, it stays.
    """
    outputs = []
    for path in paths:
        output = _planned_output(path)
        is_stale_index = os.path.basename(path) == INDEX and not writes_index
        if not is_stale_index:
            outputs.append(output)
        elif output.is_recognised():
            outputs.append(replace(output, existing=Existing.CLEARED))
    return outputs


def _planned_output(path: str) -> PlannedOutput:
    """Return how a batch treats an existing file at a path that it writes.

    A table of the batch replaces only a table of an earlier batch, which is recognised by its beginning. A file of a
    run replaces any file.
    """
    beginning = BEGINNINGS.get(os.path.basename(path))
    if beginning is None:
        return PlannedOutput("-o", path, Existing.REPLACED)
    return PlannedOutput("-o", path, Existing.KEPT_UNTIL_RESULT, beginning)


# ---- Writing the files of a run


def write_run(folder: str, outcome: Outcome, files: RunFiles) -> Outcome:
    """Write the files of a run into its folder, and return its outcome with their names, sizes and digests.

    The files of an earlier scoring are removed first. The record of the run is written last. A failed run gets no
    record, so that `--resume` tries it again. Raises OutputError if the folder cannot be written.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise writing_error(folder, error) from None
    remove_run_files(folder)
    outcome_with_files = replace(outcome, files=_write_files(folder, files))
    if outcome.state == FAILED:
        return outcome_with_files
    return _write_record(folder, outcome_with_files)


def _write_record(folder: str, outcome: Outcome) -> Outcome:
    """Write the record of a run into its folder, and return the outcome with the digest of the record.

    The digest is computed from the record before it is added to the record. Raises OutputError if writing to the folder
    fails.
    """
    digest = digest_of_record(to_builtins(outcome))
    outcome_with_digest = replace(outcome, digest=digest)
    write_whole(os.path.join(folder, SIGNATURE), utf8_blocks([json_text(outcome_with_digest)]))
    return outcome_with_digest


def _write_files(folder: str, files: RunFiles) -> tuple[WrittenFile, ...]:
    """Write the files of a run into its folder, and return the name, size and digest of each.

    Raises OutputError if the folder cannot be written.
    """
    written_files = []
    for name, blocks in files:
        digest = _FileDigest(name)
        with whole_file(os.path.join(folder, name)) as file:
            for block in blocks:
                digest.update(block)
                file.write(block)
        written_files.append(digest.written_file())
    return tuple(written_files)


def digest_files(files: RunFiles) -> tuple[WrittenFile, ...]:
    """Return the name, size and digest that the files of a run would have if they were written. Nothing is written."""
    written_files = []
    for name, blocks in files:
        digest = _FileDigest(name)
        for block in blocks:
            digest.update(block)
        written_files.append(digest.written_file())
    return tuple(written_files)


class _FileDigest:
    """The size and the SHA-256 of a file of a run, computed block by block. The first line of a file `.params` is the
    time of the call. It is left out of the SHA-256, so that equal calls give files with equal digests.
    """

    def __init__(self, name: str) -> None:
        """Begin with an empty file called `name`."""
        self._name = name
        self._size = 0
        self._sha256 = hashlib.sha256()
        self._is_in_first_line = name.endswith(".params")
        self._first_line = b""

    def update(self, block: bytes) -> None:
        """Add the next block of the file to its size and its SHA-256."""
        self._size += len(block)
        if self._is_in_first_line:
            self._update_in_first_line(block)
        else:
            self._sha256.update(block)

    def _update_in_first_line(self, block: bytes) -> None:
        """Add a block of a file `.params` that begins inside its first line.

        The first line is held back until it is complete. If it holds the time of the call, it is left out of the
        SHA-256. A file may also end before its first line is complete; this case is handled by `written_file`.
        """
        part_of_line, line_feed, rest = block.partition(b"\n")
        self._first_line += part_of_line
        if not line_feed:
            return
        self._is_in_first_line = False
        if not _TIME_LINE.fullmatch(self._first_line):
            self._sha256.update(self._first_line)
        self._sha256.update(line_feed)
        self._sha256.update(rest)

    def written_file(self) -> WrittenFile:
        """Return the name, size and digest of the file. Call it once, after the last block."""
        # The first line of a file `.params` was held back. The file ended before the line was complete, so it is not
        # the time of the call, and is hashed after all.
        if self._is_in_first_line:
            self._sha256.update(self._first_line)
        return WrittenFile(name=self._name, size=self._size, sha256=self._sha256.hexdigest())


# ---- Reading the files of a run


class ChangedFileError(Exception):
    """A file of an earlier batch was changed since it was written; the text of the error is the path of the file."""


def read_whole_run(folder: str, origin: RunOrigin) -> Outcome | None:
    """Return the recorded outcome of a run that an earlier batch scored from the inputs and options of `origin`.

    Returns None if the folder has no record, or if the record does not show that the inputs and options were the same.
    Raises ChangedFileError if the record or one of the files listed in it has been modified.
    """
    path = os.path.join(folder, SIGNATURE)
    if not os.path.lexists(path):
        return None
    outcome = _read_record(path)
    if not outcome.origin:
        return None
    if _origin_without_input_names(outcome.origin) != _origin_without_input_names(origin):
        return None
    for file in outcome.files:
        check_file(os.path.join(folder, file.name), file)
    return outcome


def _read_record(path: str) -> Outcome:
    """Return the outcome in the record of a run. Raises ChangedFileError if the file is not as a batch wrote it."""
    try:
        with _open_plain_file(path) as file:
            record_json = document_in(file.read(_LARGEST_RECORD), path)
        outcome = checked_record(record_json, Outcome, path)
        is_unchanged = _is_as_written(outcome, record_json)
    except (InputError, OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError):
        raise ChangedFileError(path) from None
    if not is_unchanged:
        raise ChangedFileError(path)
    return outcome


def _is_as_written(outcome: Outcome, record_json: Mapping[str, object]) -> bool:
    """Return whether the record of a run is exactly as a batch wrote it. `outcome` was read from its JSON.

    Raises InputError or ValueError if the findings have a form that a batch never writes. The caller also treats such a
    record as modified.
    """
    if not outcome.origin or outcome.digest != digest_of_record(record_json):
        return False
    for run in outcome.runs:
        if not run.findings:
            return False
        run.findings.check()
    return True


def _origin_without_input_names(origin: RunOrigin) -> object:
    """Return the origin of a run's scores as values that compare equal if the scores were computed in the same way.

    Two batches may read the same inputs from different paths. For this reason, inputs are identified by role and digest
    instead of their names. If an option names an input, such as a list of queries, the name is replaced by the digest
    of that input.
    """
    digest_by_name = {file.name: file.sha256 for file in origin.inputs}
    options = {}
    for option, value in origin.options.items():
        is_input_name = isinstance(value, str) and value in digest_by_name
        options[option] = digest_by_name[value] if is_input_name else value
    values = to_builtins(origin)
    # The entries with names of inputs are replaced.
    values["options"] = options
    values["inputs"] = [(file.role, file.sha256) for file in origin.inputs]
    # An origin that was read from JSON has lists where an origin of this process has tuples. Converting both to JSON
    # turns the tuples into lists.
    return json.loads(json.dumps(values))


def digest_of_record(record: Mapping[str, object]) -> str:
    """Return the SHA-256 of a record without its own entry `digest`; a change of the record changes it.

    Raises ValueError if the record holds a number that JSON does not know (infinity, NaN).
    """
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode("ascii")).hexdigest()


def check_file(path: str, written: WrittenFile) -> None:
    """Raise ChangedFileError if the file at `path` does not have the size and the digest that were recorded."""
    try:
        is_unchanged = _has_digest(path, written)
    except (OSError, ValueError):
        is_unchanged = False
    if not is_unchanged:
        raise ChangedFileError(path)


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
        return digest.written_file() == written


def _open_plain_file(path: str) -> io.BufferedReader:
    """Open a file for reading. Raises OSError for a link, and for a pipe or device that might never end."""
    # O_NONBLOCK: opening a pipe does not wait for a process to write into it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a file")
    return open(descriptor, "rb")


# ---- Removing the files of earlier batches


def remove_run_files(folder: str) -> None:
    """Remove the files of an earlier scoring from the folder of a run, its record first.

    Without its record a run counts as not scored, even if this process is killed before all files are gone.
    """
    _remove_files([os.path.join(folder, SIGNATURE)])
    _remove_files(_list_files(folder, _is_run_file))


def clear_leftovers(folder: str) -> None:
    """Remove temporary files that a killed process left in a folder."""
    _remove_files(_list_files(folder, _is_leftover))


def _remove_files(paths: Iterable[str]) -> None:
    """Remove files; errors are ignored."""
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _list_files(folder: str, has_wanted_name: Callable[[str], bool]) -> list[str]:
    """Return the sorted paths of the files and links in a folder whose names are wanted; subfolders are left out.

    The list is empty if the folder does not exist or cannot be read.
    """
    try:
        with os.scandir(folder) as entries:
            files = [entry for entry in entries if not entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted([file.path for file in files if has_wanted_name(file.name)])


def _is_run_file(name: str) -> bool:
    """Return whether a file of this name in the folder of a run is replaced when the run is scored again."""
    return name in _RUN_FILE_NAMES or is_page(name) or _is_leftover(name)


def _is_leftover(name: str) -> bool:
    """Return whether a file of this name is the temporary file of a process that was killed."""
    return name.startswith(".") and name.endswith(".part")
