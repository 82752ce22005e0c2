"""Worker processes on one machine: how many to start, and a pool of them that ends with the process that owns it.

Each worker has a pipe of its own and shares no lock with others, so that any of them can be killed at any time. The
owner of the pool notices that a worker has died when the pipe ends.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, NamedTuple, TypeVar

from cs_score.base.errors import CsScoreError
from cs_score.base.records import Struct
from cs_score.base.runtime import delayed_signals
from cs_score.base.sources import reason_of

T = TypeVar("T")
R = TypeVar("R")


class WorkerDiedError(Exception):
    """A worker process died while it worked on an item."""


class NoWorkerError(CsScoreError):
    """The operating system does not start any worker process."""


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def process_count_for(jobs: int | None) -> int:
    """Return the number of processes to compute in: `jobs` or, if that is None, the number of processors.

    It is 1 in a daemonic process, such as a worker of a multiprocessing pool, which may not start other processes.
    """
    if multiprocessing.current_process().daemon:
        return 1
    return jobs or processor_count()


def workers_share_memory() -> bool:
    """Return whether worker processes begin with all objects that the owner of the pool has in memory.

    They do if processes are forked, as on Linux.
    """
    return multiprocessing.get_start_method() == "fork"


class _Worker(Struct, Generic[R]):
    """A worker process, and the future of the item that it works on. The future is None while the worker is idle."""

    process: BaseProcess
    future: Future[R] | None = None


class _Answer(NamedTuple):
    """The answer of a worker: the result of its work (`is_result`) or else an exception."""

    is_result: bool
    value: Any


class ProcessPool(Generic[T, R]):
    """At most `jobs` worker processes, each of which calls `work(item)` for one item after the other.

    With one job this process itself does the work. Workers are started when there is something to do, and a worker that
    died is replaced. Each has a copy of `work`, which is pickled only if workers do not share memory. The pool is a
    context manager: at the end of the block all workers are killed, even in the middle of an item.
    """

    def __init__(self, jobs: int, work: Callable[[T], R]) -> None:
        """Make a pool of at most `jobs` workers that call `work` for each item. No worker is started yet."""
        self._jobs = jobs
        self._work = work
        self._pending: deque[tuple[Future[R], T]] = deque()
        self._workers: dict[Connection, _Worker[R]] = {}

    def __enter__(self) -> ProcessPool[T, R]:
        # Forked workers share the owner's memory until one of them writes on it. The garbage collector writes on the
        # objects that it looks at, so that all present objects are hidden from it.
        gc.freeze()
        return self

    def __exit__(self, *exception: object) -> None:
        for connection in list(self._workers):
            self._remove_worker(connection)
        gc.unfreeze()  # the objects that `__enter__` froze

    def submit(self, item: T) -> Future[R]:
        """Add an item, and return the future of `work(item)`. Items are begun in the order in which they are submitted.

        Calls of `wait` set the future's result, or its exception: an exception of the work, or WorkerDiedError.
        """
        future: Future[R] = Future()
        self._pending.append((future, item))
        return future

    def wait(self, seconds: float | None = None) -> list[Future[R]]:
        """Wait until an item is done, and return the futures of the items that are done.

        The wait ends after `seconds` at the latest, in which case the list may be empty. None means no limit. Each
        future is returned once, by the first call that finds it done. Raises NoWorkerError if the operating system does
        not start any worker.
        """
        if self._jobs == 1:
            return self._compute_next()
        failed_futures = self._hand_out_items()  # usually none: futures of items given to a dead worker
        # If there already is something to return, this does not wait for more.
        seconds_to_wait = 0 if failed_futures else seconds
        return failed_futures + self._receive_answers(seconds_to_wait)

    def _compute_next(self) -> list[Future[R]]:
        """Do the work for the next item in this process, and return its future in a list; an empty list without items.

        The result of the work, or its exception, is set in the future.
        """
        if not self._pending:
            return []
        future, item = self._pending.popleft()
        try:
            future.set_result(self._work(item))
        except Exception as error:
            future.set_exception(error)
        return [future]

    def _receive_answers(self, seconds: float | None) -> list[Future[R]]:
        """Wait until a worker answers, and return the futures of all items whose answers have arrived.

        The wait ends after `seconds` at the latest. None means no limit.
        """
        done_futures = []
        connections = list(self._workers)  # the pipes to the workers
        for connection in wait(connections, seconds):
            assert isinstance(connection, Connection)
            future = self._receive(connection)
            if future is not None:
                done_futures.append(future)
        return done_futures

    def _hand_out_items(self) -> list[Future[R]]:
        """Send pending items to idle workers, and return the futures of items whose worker has died."""
        failed_futures = []
        while self._pending:
            connection = self._free_worker()  # the pipe to the worker
            if connection is None:
                break
            future, item = self._pending.popleft()
            if not self._send(item, future, connection):
                future.set_exception(WorkerDiedError())
                failed_futures.append(future)
        return failed_futures

    def _send(self, item: T, future: Future[R], connection: Connection) -> bool:
        """Send an item to a worker, and return whether that worked. A worker that has died is removed.

        The future of the item is set when the worker answers.
        """
        try:
            connection.send(item)
        except OSError:
            self._remove_worker(connection)
            return False
        self._workers[connection].future = future
        return True

    def _receive(self, connection: Connection) -> Future[R] | None:
        """Receive the answer of a worker, set the future of its item, and return this future.

        Returns None if the worker was idle. If its pipe has ended, the worker has died. Then it is removed, and the
        future gets a WorkerDiedError.
        """
        worker = self._workers[connection]
        future = worker.future
        worker.future = None  # from now on the worker is idle
        # For a dead worker the answer is a WorkerDiedError; `_read_answer` also removes this worker.
        answer = self._read_answer(connection)
        if future is None:
            return None
        if answer.is_result:
            future.set_result(answer.value)
        else:
            future.set_exception(answer.value)
        return future

    def _read_answer(self, connection: Connection) -> _Answer:
        """Return the answer that a worker has sent; WorkerDiedError if it has died. A dead worker is removed."""
        try:
            return _Answer(*connection.recv())
        except (EOFError, OSError):
            self._remove_worker(connection)
            return _Answer(is_result=False, value=WorkerDiedError())
        except Exception as error:  # an answer that cannot be unpickled
            return _Answer(is_result=False, value=error)

    def _free_worker(self) -> Connection | None:
        """Return the pipe to a worker that is idle or newly started.

        Returns None if all workers are busy. Raises NoWorkerError if the operating system does not start any worker.
        """
        connection = self._idle_worker()
        if connection is not None:
            return connection
        if len(self._workers) == self._jobs:
            return None
        try:
            return self._start_worker()
        except OSError as error:
            if self._workers:
                return None  # the others do all the work
            raise NoWorkerError(f"no worker process can be started: {reason_of(error)}") from None

    def _idle_worker(self) -> Connection | None:
        """Return the pipe to a worker that is idle; None if there is none. Idle workers that have died are removed."""
        for connection, worker in list(self._workers.items()):
            if worker.future is None:
                # An idle worker sends nothing. If there is something to read, its pipe has ended: it has died.
                has_died = connection.poll()
                if not has_died:
                    return connection
                self._remove_worker(connection)
        return None

    def _start_worker(self) -> Connection:
        """Start a worker process, and return the pipe to it. Raises OSError if it cannot be started."""
        owner_end, worker_end = multiprocessing.Pipe()
        # A worker that is forked inherits the owner's ends of all pipes, and has to close them.
        are_forked = workers_share_memory()
        inherited_ends = [*self._workers, owner_end] if are_forked else []
        arguments = (worker_end, inherited_ends, self._work)
        process = multiprocessing.Process(target=_work_on_items, args=arguments, daemon=True)
        # A signal between the start of the process and its entry among the workers would leave it running.
        with worker_end, delayed_signals():
            try:
                process.start()
            except OSError:
                owner_end.close()
                raise
            self._workers[owner_end] = _Worker(process)
        return owner_end

    def _remove_worker(self, connection: Connection) -> None:
        """Remove a worker from the pool, and end its process."""
        worker = self._workers.pop(connection)
        worker.process.kill()
        worker.process.join()
        worker.process.close()
        connection.close()


def _work_on_items(connection: Connection, inherited_ends: list[Connection], work: Callable[[Any], Any]) -> None:
    """Process items one after another. A worker process runs this function until its owner ends the process.

    Items are received by `connection`, and an answer is sent back for each: whether the work succeeded, and its result
    or exception. `inherited_ends` are the owner's ends of pipes; they have to be closed here, since a pipe ends only
    when no process has its other end open.
    """
    for owner_end in inherited_ends:
        owner_end.close()
    _set_signals_of_worker()
    # The thread ends the worker as soon as its parent has ended. If there is no memory for a thread (RuntimeError), the
    # worker ends later, when it next reads its pipe.
    with contextlib.suppress(RuntimeError):
        threading.Thread(target=_end_with_parent, daemon=True).start()
    # When the owner is gone, reading and sending fail. When memory is short, the closed pipe tells the owner.
    with contextlib.suppress(EOFError, OSError, MemoryError):
        while True:
            item = connection.recv()
            try:
                answer = (True, work(item))
            except Exception as error:
                answer = (False, error)
            connection.send(answer)


def _set_signals_of_worker() -> None:
    """Make a worker process ignore Ctrl-C, but end on the other stop signals.

    Ctrl-C reaches all processes of a terminal; the owner of the pool handles it. SIGHUP, which says that the terminal
    was closed, stays ignored if it is ignored already, as after `nohup`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _end_with_parent() -> None:
    """Wait in a thread of a worker until the process that owns the pool has ended, and then end the worker."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
