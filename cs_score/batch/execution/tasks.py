"""What a worker does: prepare gold once for each batch, then score one run after the other.

A worker is a process of a pool, a Dask worker or the batch's own process; nothing here knows which.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterable, Iterator
from typing import Final

from cs_score.base.errors import CsScoreError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import Record, field
from cs_score.batch.plan.plan import Plan, Prepared
from cs_score.batch.plan.runs import RunFile
from cs_score.batch.store.outcomes import FAILED, Outcome
from cs_score.batch.store.state import write_run


class Task(Record):
    """One run to score, and the folder for each policy; None where the outputs travel back with the outcome."""

    run: RunFile
    folders: dict[str, str | None]


class Delivery(Record):
    """The outcome under one policy, with the contents of its files where the worker did not write them."""

    outcome: Outcome
    contents: dict[str, bytes] = field(default_factory=dict)


_plans: Final[dict[str, Plan]] = {}
_prepared: Final[dict[str, Prepared]] = {}
_preparing: Final = threading.Lock()


def install(batch: str, plan: Plan, prepared: Prepared | None = None) -> None:
    """Make a batch known to this process; `prepared` where it is there already, otherwise it is made when needed."""
    _plans[batch] = plan
    if prepared is not None:
        _prepared[batch] = prepared


def forget(batch: str) -> None:
    """Release what a batch holds in this process."""
    _plans.pop(batch, None)
    _prepared.pop(batch, None)


def run_task(batch: str, task: Task) -> list[Delivery]:
    """Score one run under its policies. Whatever is wrong with it becomes its outcome, never an exception."""
    try:
        with paused_collector():
            return list(_deliveries(_prepared_for(batch), task))
    except CsScoreError as error:  # gold as this worker sees it, or a disk that is full
        return failures(task, str(error))
    except Exception as error:  # a defect of cs-score fails one run, not the batch
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename.rpartition('/')[2]} line {place.lineno}"
        return failures(task, f"defect of cs-score: {type(error).__name__}: {error} ({where}); please report it")


def failures(task: Task, reason: str) -> list[Delivery]:
    """The outcomes of a run that could not be scored."""
    run = task.run
    return [Delivery(Outcome(run.name, run.file.name, policy, FAILED, failure=reason)) for policy in task.folders]


def _prepared_for(batch: str) -> Prepared:
    with _preparing:
        if batch not in _prepared:
            _prepared[batch] = _plans[batch].prepare()
        return _prepared[batch]


def _deliveries(prepared: Prepared, task: Task) -> Iterator[Delivery]:
    for scored in prepared.score(task.run, list(task.folders)):
        outcome = scored.outcome
        folder = task.folders[outcome.policy]
        if folder is None:
            yield Delivery(outcome, _contents(scored.files))
        else:
            yield Delivery(write_run(folder, outcome, scored.files))


def _contents(files: Iterable[tuple[str, Iterable[bytes]]]) -> dict[str, bytes]:
    return {name: b"".join(blocks) for name, blocks in files}
