"""Jobs through workers that misbehave, and what progress says."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from typing import Any

from cs_score.verbs.batch.batch_documents import FAILED, OK, Outcome
from cs_score.verbs.batch.input_files import BatchRunFile, InputFile
from cs_score.verbs.batch.plan import ScoredInBatch
from cs_score.verbs.batch.progress import Progress
from cs_score.verbs.batch.workers import Backend, Job, Scorer, run_jobs


class Died(Exception):
    """What a backend of these tests raises for a worker that died."""


class _MisbehavingBackend(Backend):
    """Runs succeed unless `error_of` names an exception for them; one of them is done at each wait."""

    most_jobs_at_once = 3
    death_errors = (Died,)

    def __init__(self, error_of: Callable[[str], BaseException | None], *, retries_crashed_jobs: bool) -> None:
        self.retries_crashed_jobs = retries_crashed_jobs
        self.most_running = 0
        self._error_of = error_of

    def submit(self, job: Job) -> Future[list[ScoredInBatch]]:
        future: Future[list[ScoredInBatch]] = Future()
        error = self._error_of(job.run.name)
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(
                [ScoredInBatch(Outcome(task="coldstart", run=job.run.name, file="", policy="", state=OK))]
            )
        return future

    def wait(
        self, running: Collection[Future[list[ScoredInBatch]]], seconds: float
    ) -> Collection[Future[list[ScoredInBatch]]]:
        self.most_running = max(self.most_running, len(running))
        return list(running)[:1]


def _run(
    names: str, error_of: Callable[[str], BaseException | None], *, retries_crashed_jobs: bool = False
) -> dict[str, Outcome]:
    """Return the outcomes of runs of those names; `error_of` names the exception of a run, if any."""
    progress = Progress(None, 60.0, len(names))
    jobs = [Job("coldstart", BatchRunFile(name, InputFile(name)), {"": None}) for name in names]
    backend = _MisbehavingBackend(error_of, retries_crashed_jobs=retries_crashed_jobs)
    outcomes = {scored.outcome.run: scored.outcome for scored in run_jobs(jobs, backend, progress)}
    assert backend.most_running == 3
    assert progress.line(1).startswith(f"{len(names)}/{len(outcomes)} runs")
    return outcomes


def test_a_task_that_kills_its_worker_fails_alone() -> None:
    found = _run("abcdefg", lambda name: Died() if name in "cf" else None)
    assert {name for name, outcome in found.items() if outcome.state == FAILED} == {"c", "f"}
    assert "the worker died" in str(found["c"].failure)


def test_a_task_whose_worker_dies_once_is_tried_again() -> None:
    dead: set[str] = set()

    def once(name: str) -> BaseException | None:
        if name in dead:
            return None
        dead.add(name)
        return Died() if name in "be" else None

    assert {outcome.state for outcome in _run("abcdef", once).values()} == {OK}


def test_a_defect_of_the_scorer_costs_one_run() -> None:
    class Broken:
        digests = ()

        def score(self, run: BatchRunFile, policies: object) -> Iterator[Any]:
            raise ZeroDivisionError("oh")

        def signature(self, run: object, policy: str) -> dict[str, object]:
            return {}

    class Plan:
        def prepare(self) -> Broken:
            return Broken()

    score = Scorer(Plan())  # type: ignore[arg-type]
    [scored] = score(Job("coldstart", BatchRunFile("a", InputFile("a.tab")), {"": os.curdir}))
    assert scored.outcome.state == FAILED
    assert "defect of cs-score: ZeroDivisionError: oh" in str(scored.outcome.failure)


def test_a_line_a_minute_where_nobody_watches() -> None:
    now, shown = [100.0], list[str]()
    progress = Progress(shown.append, 60.0, 12, clock=lambda: now[0])
    for at in range(6):
        progress.starts(f"run{at}")
        now[0] += 30
        progress.finished()
    assert shown == [
        "2/12 runs, 2.0 runs/min, 5:00 left, run1",
        "4/12 runs, 2.0 runs/min, 4:00 left, run3",
        "6/12 runs, 2.0 runs/min, 3:00 left, run5",
    ]
