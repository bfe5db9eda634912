"""Blocks in processes of this machine, each with its own share of them.

A worker has one end of a pipe and nothing else in common with this process: it ends when the other end is closed,
however that came about, and Ctrl-C is left to this process. A block always goes to the same worker, which holds it. A
worker that is lost is replaced and its block sent again; as tasks are pure, nothing changes.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from convexcls.engines.base import Engine, EngineError, Own, Piece, pickled
from convexcls.engines.holding import Holder, one_thread

T = TypeVar("T")

#: A block that so many workers were lost on would take the next one, too.
MAX_LOSSES = 3
#: Results that are waiting for an earlier one, by worker.
MAX_AHEAD = 4
#: How long a worker may take to end, in seconds.
SECONDS_TO_END = 5.0
#: What decides how many threads BLAS has, where it is read when that is loaded.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
#: How a worker ends a task: with a result, or with what was raised.
DONE, RAISED = True, False


class ProcessEngine(Engine):
    """As many processes as asked for, started when they are first used. Scripts that use it keep their own work below
    ``if __name__ == "__main__":``, as everywhere where Python starts processes."""

    def __init__(self, workers: int, hold: float = float("inf")) -> None:
        self.workers, self.hold = workers, hold
        self._running: list[_Worker] = []
        self._end = weakref.finalize(self, _end_all, self._running)

    def map(
        self, task: Callable[..., T], pieces: Sequence[Piece], common: tuple[Any, ...] = (), own: Own | None = None
    ) -> Iterator[T]:
        self._start()
        run = _Map(pickled((task, common)), pieces, own, self.share, self._running)
        try:
            yield from run.results()
        except KeyboardInterrupt:
            self.close()  # a message may have been read in part
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        return ProcessEngine, (self.workers, self.hold)

    def _start(self) -> None:
        while len(self._running) < self.workers:
            self._running.append(_Worker())

    def close(self) -> None:
        _end_all(self._running)


class _Map:
    """One map: which blocks are where, and which results are waiting for an earlier one. A map may begin while another
    is under way: a worker knows whose block it has."""

    def __init__(
        self, what: bytes, pieces: Sequence[Piece], own: Own | None, share: float, workers: list[_Worker]
    ) -> None:
        self.what, self.pieces, self.own, self.share, self.workers = what, pieces, own, share, workers
        self.found = dict[int, Any]()
        self.left = [iter(range(w, len(pieces), len(workers))) for w in range(len(workers))]
        self.next = [next(left, None) for left in self.left]
        self.losses = [0] * len(pieces)

    def results(self) -> Iterator[Any]:
        for k in range(len(self.pieces)):
            while k not in self.found:
                self._send(k)
                self._receive()
            how, found = self.found.pop(k)
            if how is RAISED:
                raise _readable(found)
            yield found

    def _send(self, wanted: int) -> None:
        """Give every worker that has nothing to do its next block, unless it is far ahead."""
        for w, worker in enumerate(self.workers):
            k = self.next[w]
            if k is None or worker.job is not None or k >= wanted + MAX_AHEAD * len(self.workers):
                continue
            arguments = () if self.own is None else self.own(k)
            message = pickled((self.pieces[k], arguments, self.share, None))
            worker.job = self, k
            try:
                if worker.knows is not self.what:
                    worker.connection.send_bytes(self.what)
                    worker.knows = self.what
                worker.connection.send_bytes(message)
            except OSError:
                self._lost(w)

    def _receive(self) -> None:
        """Take what has come, for whichever map; wait where nothing has."""
        busy = {worker.connection: w for w, worker in enumerate(self.workers) if worker.job is not None}
        for connection in wait(list(busy)) if busy else ():
            w = busy[connection]  # type: ignore[index]
            job = self.workers[w].job
            assert job is not None
            try:
                answer = pickle.loads(self.workers[w].connection.recv_bytes())
            except (EOFError, OSError):
                self._lost(w)
                continue
            owner, k = job
            self.workers[w].job = None
            owner.found[k] = answer
            owner.next[w] = next(owner.left[w], None)

    def _lost(self, w: int) -> None:
        """A new worker in the place of one that is gone; its block is sent again."""
        worker, self.workers[w] = self.workers[w], _Worker()
        code = worker.end()
        assert worker.job is not None
        owner, k = worker.job
        owner.losses[k] += 1
        if owner.losses[k] >= MAX_LOSSES:
            raise EngineError(
                f"a worker was lost {MAX_LOSSES} times on the same block ({owner.pieces[k]}), the last time with exit "
                f"code {code}: it may have run out of memory. Hold less, take fewer workers or smaller blocks"
            )


class _Worker:
    """A process with its end of the pipe."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        with _one_thread_in_children(), _interrupts_kept():
            self.process.start()
        theirs.close()
        self.job: tuple[_Map, int] | None = None
        self.knows = b""

    def end(self) -> int | None:
        """Let it end; at once where it does not."""
        with suppress(OSError):
            self.connection.close()
        if self.job is not None:
            self.process.terminate()
        self.process.join(SECONDS_TO_END)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        return self.process.exitcode


@contextmanager
def _one_thread_in_children() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Ctrl-C is left to this process, from a worker's first moment on: what is blocked now is blocked in it. Here it
    comes a little later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which the first start does, and blocks nothing any more after it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_all(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().end()


def _readable(error: BaseException) -> BaseException:
    if isinstance(error, MemoryError):
        return EngineError("a worker ran out of memory: hold less, take fewer workers or smaller blocks")
    return error


def _work(connection: Connection) -> None:
    """A worker: tasks until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    holder, task, common = Holder(), None, ()
    while True:
        try:
            message = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        if len(message) == 2:
            task, common = message
            continue
        piece, arguments, share, _ = message
        try:
            block = holder.get(piece, share)
            with one_thread():
                answer: tuple[bool, Any] = DONE, task(block, *common, *arguments)  # type: ignore[misc]
            del block
        except BaseException as error:
            answer = RAISED, error
        with suppress(BrokenPipeError):
            connection.send_bytes(_sendable(*answer))


def _sendable(how: bool, found: Any) -> bytes:
    try:
        return pickle.dumps((how, found), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps((RAISED, EngineError(f"{type(found).__name__}: {found} ({error})")))
