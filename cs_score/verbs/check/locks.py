"""Locks: files that fix limits and conditions for a run before it exists, and the changes since they were written. The
conditions are the options of scoring and the files of the gold standard.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final, Literal

from cs_score.base.documents import Document, checked_record, document_in, json_text
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.signature import ANY_MEASURE, ROLES, RUN, Origin
from cs_score.base.sources import InputDigest, open_source
from cs_score.measures import measure_names, select_names
from cs_score.statistics.resampling_settings import Note
from cs_score.verbs.check.checking import Checked, Limit, LockChange, LockState

SHOWN_DIGITS: Final = 12
"""How many digits of a SHA-256 a sentence shows; the lock has all of them."""


class LockedLimit(Record):
    """The least score of a measure, or of all measures that match a pattern such as `*F1`."""

    measure: str
    minimum: float


class Lock(Document, frozen=True, kw_only=True, tag="lock"):
    """The bar for a run that nobody has scored yet: the least scores, the options of scoring, and the hashes of gold.

    `origin` has the options and the SHA-256 of every input but the run; `signature` is its citable line.
    """

    schema_version: Literal[1] = 1
    signature: str
    origin: Origin
    limits: tuple[LockedLimit, ...]


class LockFile(Record):
    """A lock that was read, the name of its file, and the SHA-256 of the file, by which others can identify it."""

    name: str
    sha256: str
    lock: Lock

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits of the lock in the form that a gate takes."""
        return tuple([Limit(limit.measure, Decimal(repr(limit.minimum))) for limit in self.lock.limits])


def make_lock(conditions: Origin, minima: Sequence[Limit]) -> Lock:
    """Return the lock that fixes minimum scores and the conditions of scoring for a run that does not exist yet.

    `conditions` are the options of scoring and the inputs of gold. `minima` are the least scores, by the name of a
    measure such as `sf-ap` or `SF-AP@0`, or by a pattern such as `*F1`. Raises UsageError for a limit on a measure that
    the task lacks.
    """
    measures_of_task = measure_names(conditions.task)
    limits = tuple([_locked_limit(limit, measures_of_task) for limit in minima])
    # A signature can name one measure only.
    measure = limits[0].measure if len(limits) == 1 else ANY_MEASURE
    origin = replace(conditions, measure=measure)
    return Lock(task=origin.task, measure=measure, signature=str(origin.signature), origin=origin, limits=limits)


def _locked_limit(limit: Limit, measures_of_task: Sequence[str]) -> LockedLimit:
    """Return a limit as it is written into a lock, with the measure spelled as in the task: `sf-ap@0` -> `SF-AP@0`.

    A pattern for several measures, such as `*F1`, is left unchanged. Raises UsageError if the name or pattern does not
    match any measure of the task.
    """
    name, at_sign, hop = limit.measure.partition("@")
    matching_measures = select_names(measures_of_task, [name])  # raises UsageError if there are none
    if len(matching_measures) == 1:
        name = matching_measures[0]
    return LockedLimit(measure=f"{name}{at_sign}{hop}", minimum=float(limit.value))


def lock_report(path: str, lock: Lock) -> str:
    """Return the text to print after a lock was written to the file `path`.

    It contains the limits, the signature, and the SHA-256 of the file, which can be published.
    """
    digest = digest_of_text(json_text(lock))  # this text is the entire content of the file
    lines = [f"{limit.measure} at least {limit.minimum}" for limit in lock.limits]
    lines.append("")
    lines.append(f"signature  {lock.signature}")
    lines.append(f"lock       {path}, SHA-256 {digest}")
    return "".join([f"{line}\n" for line in lines])


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_lock(path: str) -> LockFile:
    """Return the lock in a file. Raises InputError if the file is missing, or `check --write-lock` did not write it."""
    with open_source(path) as source:
        data = source.read_bytes()
        name = source.name
    value = document_in(data, name)
    if value.get("kind") != "lock":
        remedy = "write one with cs-score check --write-lock FILE.json, before there is a run"
        raise InputError("no lock of cs-score", file=name, remedy=remedy)
    return LockFile(name=name, sha256=hashlib.sha256(data).hexdigest(), lock=checked_record(value, Lock, name))


def changes_since(lock_file: LockFile, conditions: Origin, typed_limits: Sequence[Limit]) -> tuple[LockChange, ...]:
    """Return what has changed in the task, the gold, the scoring options and the limits since the lock was written.

    `conditions` are the current options and gold inputs. `typed_limits` are the limits given on the command line, which
    must be the same as those in the lock. If there are none, the limits in the lock apply.
    """
    locked_conditions = lock_file.lock.origin
    if locked_conditions.task != conditions.task:
        return (LockChange("task", locked_conditions.task, conditions.task),)
    changes = _changes_of_files(locked_conditions, conditions)
    if locked_conditions.settings != conditions.settings:
        locked_settings = "|".join(locked_conditions.settings) or "none"
        present_settings = "|".join(conditions.settings) or "none"
        changes.append(LockChange("policy or options", locked_settings, present_settings))
    if typed_limits and _limits_by_measure(typed_limits) != _limits_by_measure(lock_file.limits):
        changes.append(LockChange("limits", _limits_text(lock_file.limits), _limits_text(typed_limits)))
    return tuple(changes)


def _changes_of_files(locked: Origin, present: Origin) -> list[LockChange]:
    """Return a change for each role, such as `queries` or `pool`, whose gold files have changed in content.

    `locked` holds the conditions in a lock, and `present` the current conditions.
    """
    changes = []
    for role in ROLES:
        has_changed = _digests_of_role(locked.inputs, role) != _digests_of_role(present.inputs, role)
        if has_changed and role != RUN:
            locked_files = _files_text(locked.inputs, role)
            present_files = _files_text(present.inputs, role)
            changes.append(LockChange(role, locked_files, present_files))
    return changes


def _digests_of_role(inputs: Iterable[InputDigest], role: str) -> list[str]:
    """Return the SHA-256 of all inputs with a role, sorted, so that names and order of the files do not matter."""
    return sorted([file.sha256 for file in inputs if file.role == role])


def _files_text(inputs: Iterable[InputDigest], role: str) -> str:
    """Return the files with a role and the first digits of their SHA-256: `pool.tab (SHA-256 1f0c5aae33d1)`.

    Returns `none` if there are no such files.
    """
    texts = [f"{file.name} (SHA-256 {file.sha256[:SHOWN_DIGITS]})" for file in inputs if file.role == role]
    return ", ".join(texts) or "none"


def _limits_by_measure(limits: Sequence[Limit]) -> dict[str, Decimal]:
    """Return the least scores by the name of the measure in lower case; the last limit of a measure counts."""
    return {limit.measure.casefold(): limit.value for limit in limits}


def _limits_text(limits: Sequence[Limit]) -> str:
    """Return limits in words: `SF-AP at least 0.4, SF-F1 at least 0.3`."""
    return ", ".join([f"{limit.measure} at least {limit.value}" for limit in limits])


def failed_by_lock(lock_file: LockFile, conditions: Origin, changes: tuple[LockChange, ...]) -> Checked:
    """Return the checked run to report if conditions have changed since the lock was written.

    The run fails and has no checks, because it was not scored. `changes` are the changes that the caller has found.
    """
    origin = replace(conditions, measure=ANY_MEASURE)  # the signature is not about a single measure
    return Checked(
        task=origin.task,
        measure=ANY_MEASURE,
        signature=str(origin.signature),
        origin=origin,
        passed=False,
        checks=(),
        lock=LockState(lock_file.name, lock_file.sha256, changes),
    )


def add_lock(lock_file: LockFile, checked_run: Checked) -> Checked:
    """Return a checked run together with the name and SHA-256 of the lock whose limits were checked.

    If the lock was written by another version of cs-score, a note says so.
    """
    notes = list(checked_run.notes)
    locked_version = lock_file.lock.origin.version
    present_version = checked_run.origin.version
    if locked_version != present_version:
        text = f"{lock_file.name} was written by cs-score {locked_version}, and the run scored by {present_version}"
        notes.append(Note("OTHER_VERSION", text))
    lock_state = LockState(file=lock_file.name, sha256=lock_file.sha256, changes=())
    return replace(checked_run, notes=tuple(notes), lock=lock_state)
