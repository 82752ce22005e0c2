"""Worker processes of one machine: how many, and a pool of them that ends with its owner.

Each worker has a pipe of its own and no lock in common with others, so that any of them can be killed at any time. The
owner notices it at the end of the pipe.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from cs_score.base.errors import CsScoreError
from cs_score.base.records import Struct
from cs_score.base.runtime import STOP_SIGNALS
from cs_score.base.sources import reason_of

T = TypeVar("T")
R = TypeVar("R")


class WorkerDiedError(Exception):
    """The worker that had an item died."""


class NoWorkerError(CsScoreError):
    """The operating system starts no process."""


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes_for(jobs: int | None) -> int:
    """How many processes to compute in: as many as asked for, or as processors; one where no worker may be started.

    A daemonic process, such as a worker of a multiprocessing pool, may have no children.
    """
    return 1 if multiprocessing.current_process().daemon else jobs or processors()


def workers_share_memory() -> bool:
    """Whether workers begin with what their owner has in memory: they do where they are forked, as on Linux."""
    return multiprocessing.get_start_method() == "fork"


class _Worker(Struct, Generic[R]):
    process: BaseProcess
    future: Future[R] | None = None


class Pool(Generic[T, R]):
    """At most `jobs` processes, each of which calls `work(item)` for one item after the other; one is this process.

    Workers begin when there is something to do; one that died is replaced. Each has a copy of `work`, which is pickled
    only where workers share no memory. Use as a context manager: when the block is left, all workers are killed,
    whatever they do.
    """

    def __init__(self, jobs: int, work: Callable[[T], R]) -> None:
        self._jobs = jobs
        self._work = work
        self._pending: deque[tuple[Future[R], T]] = deque()
        self._workers: dict[Connection, _Worker[R]] = {}

    def __enter__(self) -> Pool[T, R]:
        gc.freeze()  # so that no collector walks, and in workers copies, what all items use
        return self

    def __exit__(self, *exception: object) -> None:
        for connection in list(self._workers):
            self._bury(connection)
        gc.unfreeze()

    def submit(self, item: T) -> Future[R]:
        """What will be `work(item)`; items are begun in the order in which they come.

        The future is done in `wait`, with the result of the work, its exception, or WorkerDiedError.
        """
        future: Future[R] = Future()
        self._pending.append((future, item))
        return future

    def wait(self, seconds: float | None = None) -> list[Future[R]]:
        """The futures that have been done since the last call; waits for one, but not for longer than `seconds`.

        Raises NoWorkerError.
        """
        if self._jobs == 1:
            return [self._compute(*self._pending.popleft())] if self._pending else []
        done = []
        while self._pending and (connection := self._free()) is not None:
            future, item = self._pending.popleft()
            try:
                connection.send(item)
                self._workers[connection].future = future
            except OSError:
                self._bury(connection)
                future.set_exception(WorkerDiedError())
                done.append(future)
        for ready in wait(list(self._workers), 0 if done else seconds):
            assert isinstance(ready, Connection)
            answered, self._workers[ready].future = self._workers[ready].future, None
            try:
                is_result, value = ready.recv()
            except (EOFError, OSError):
                self._bury(ready)
                is_result, value = False, WorkerDiedError()
            except Exception as error:  # an answer that cannot be read
                is_result, value = False, error
            if answered is not None:
                (answered.set_result if is_result else answered.set_exception)(value)
                done.append(answered)
        return done

    def _compute(self, future: Future[R], item: T) -> Future[R]:
        try:
            future.set_result(self._work(item))
        except Exception as error:
            future.set_exception(error)
        return future

    def _free(self) -> Connection | None:
        """The pipe to a worker that has nothing to do; None where all are busy."""
        for connection, worker in list(self._workers.items()):
            if worker.future is None:
                if not connection.poll():
                    return connection
                self._bury(connection)  # an idle worker sends nothing, so this is the end of its pipe: it has died
        if len(self._workers) == self._jobs:
            return None
        try:
            return self._begin()
        except OSError as error:
            if self._workers:
                return None
            raise NoWorkerError(f"no worker process can be started: {reason_of(error)}") from None

    def _begin(self) -> Connection:
        """Start a worker. Raises OSError."""
        ours, theirs = multiprocessing.Pipe()
        inherited = [*self._workers, ours] if workers_share_memory() else []
        arguments = (theirs, inherited, self._work)
        process = multiprocessing.Process(target=_serve, args=arguments, daemon=True)
        with theirs, _signals_held():
            try:
                process.start()
            except OSError:
                ours.close()
                raise
            self._workers[ours] = _Worker(process)
        return ours

    def _bury(self, connection: Connection) -> None:
        worker = self._workers.pop(connection)
        worker.process.kill()
        worker.process.join()
        worker.process.close()
        connection.close()


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """A block that no stop signal interrupts: a process begins in it, and is known to its owner at the end of it.

    Signals are not blocked but noted: where there are threads, any of them may get one.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread is interrupted
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        for number in STOP_SIGNALS:
            signal.signal(number, lambda met, frame: came.append(met))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for noted in came:
            signal.raise_signal(noted)


def _serve(connection: Connection, inherited: list[Connection], work: Callable[[Any], Any]) -> None:
    """What a worker does. `inherited` are the owner's ends of pipes, which close only when nobody has them open."""
    for other in inherited:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the owner acts on it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with contextlib.suppress(RuntimeError):  # no memory for a thread: it ends when it next reads its pipe
        threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError, MemoryError):  # the owner is gone, or learns of it by the closed pipe
        while True:
            item = connection.recv()
            try:
                answer = (True, work(item))
            except Exception as error:
                answer = (False, error)
            connection.send(answer)


def _end_with_parent() -> None:
    """End this worker when the process that owns the pool is gone, however it ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
