"""Handing tasks to workers, of whatever kind."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from typing import Final, Protocol, TypeAlias

from cs_score.base.records import Record
from cs_score.batch.execution.tasks import Delivery, Task, failures

_TICK_SECONDS: Final = 0.5

Deliveries: TypeAlias = Future[list[Delivery]]


class Backend(Record):
    """Where tasks are computed: at most `width` of them are handed out at a time.

    `wait` gives those of some futures that are done, after so many seconds at most. `died` are the exceptions of a
    future whose worker died; a backend that `retries` has tried the task again by itself.
    """

    submit: Callable[[Task], Deliveries]
    wait: Callable[[Collection[Deliveries], float], Collection[Deliveries]]
    width: int
    died: tuple[type[BaseException], ...] = ()
    retries: bool = False


class Watcher(Protocol):
    """A display of progress."""

    def starts(self, run: str) -> None: ...
    def finished(self) -> None: ...
    def tick(self) -> None: ...


def run_tasks(tasks: Sequence[Task], backend: Backend, watcher: Watcher) -> Iterator[list[Delivery]]:
    """Compute tasks, and give the deliveries of each as soon as they are there, in any order.

    A task whose worker dies is tried once more after all others, alone: two large runs may be too much for the memory
    where one is not. If the worker dies again the run has failed.
    """
    suspects: deque[Task] = deque()
    for waiting, width in ((deque(tasks), backend.width), (suspects, 1)):
        running: dict[Deliveries, Task] = {}
        while waiting or running:
            while waiting and len(running) < width:
                task = waiting.popleft()
                watcher.starts(task.run.name)
                running[backend.submit(task)] = task
            done = backend.wait(running, _TICK_SECONDS)
            watcher.tick()
            for future in done:
                task = running.pop(future)
                if waiting is not suspects and not backend.retries and isinstance(_error(future), backend.died):
                    suspects.append(task)
                    continue
                deliveries = _deliveries(task, future, backend)
                watcher.finished()
                yield deliveries


def _error(future: Deliveries) -> BaseException | None:
    return None if future.cancelled() else future.exception()


def _deliveries(task: Task, future: Deliveries, backend: Backend) -> list[Delivery]:
    try:
        return future.result()
    except CancelledError:
        return failures(task, "the executor gave the run up: the connection to it was lost")
    except backend.died as error:
        return failures(task, f"the worker died at it each time it was tried (out of memory?): {type(error).__name__}")
    except Exception as error:
        return failures(task, f"the executor could not run it: {type(error).__name__}: {error}")
