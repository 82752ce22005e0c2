"""Tasks through an executor with the interface of `concurrent.futures`, whatever stands behind it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from cs_score.batch.tasks import Delivery, Task, failures, run_task

_TICK_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Backend:
    """Where tasks are computed: how to open an executor, and how many tasks to hand out at a time.

    `broken` are the exceptions of a future whose worker died. After one of them the executor is opened anew if
    `reopens`; otherwise it has replaced the worker and tried the task again by itself.
    """

    open: Callable[[], AbstractContextManager[Executor]]
    width: int
    broken: tuple[type[BaseException], ...] = ()
    reopens: bool = False


class Watcher(Protocol):
    """Who is told how far things are."""

    def starts(self, run: str) -> None: ...
    def finished(self) -> None: ...
    def tick(self) -> None: ...


def run_tasks(batch: str, tasks: Sequence[Task], backend: Backend, watcher: Watcher) -> Iterator[list[Delivery]]:
    """Compute tasks, and give the deliveries of each as soon as they are there, in any order.

    A task whose worker dies is tried once more, alone, so that others are not blamed for it; if the worker dies again
    the run has failed.
    """
    waiting = deque(tasks)
    suspects: deque[Task] = deque()
    while waiting or suspects:
        alone = bool(suspects)
        queue = suspects if alone else waiting
        with backend.open() as executor:
            running: dict[Future[list[Delivery]], Task] = {}
            is_broken = False
            while (queue or running) and not (is_broken and not running):
                while queue and not is_broken and len(running) < (1 if alone else backend.width):
                    task = queue.popleft()
                    watcher.starts(task.run.name)
                    try:
                        running[executor.submit(run_task, batch, task)] = task
                    except backend.broken:
                        queue.appendleft(task)
                        is_broken = True
                done, _ = wait(running, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
                watcher.tick()
                for future in done:
                    task = running.pop(future)
                    try:
                        deliveries = future.result()
                    except backend.broken as error:
                        is_broken = backend.reopens
                        if backend.reopens and not alone:
                            suspects.append(task)
                            continue
                        deliveries = failures(task, _died(error))
                    except CancelledError:
                        deliveries = failures(task, "the executor gave the run up: the connection to it was lost")
                    except Exception as error:
                        deliveries = failures(task, f"the executor could not run it: {type(error).__name__}: {error}")
                    watcher.finished()
                    yield deliveries


def _died(error: BaseException) -> str:
    return f"the worker died at it each time it was tried (out of memory?): {type(error).__name__}"
