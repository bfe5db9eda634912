"""A solver's work within a limit of time.

One of this package is stopped between two lines of its trace, or by the clock where it stands. Any other works in a
child process that is ended when the time is up: nobody knows where it spends its time, and code in C hears nothing. One
that has a limit of its own is told it, and has a moment more to say where it stands. What it showed until then is kept.
"""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from convexcls.solvers.base import Answer, Callback, Iteration, Solver, Standing

#: A solver that was told the limit may be late by this share of it, and by so many seconds.
GRACE_SHARE, GRACE_SECONDS = 0.1, 1.0
#: So often a child process tells where it stands, in seconds.
TOLD_EVERY = 0.1
OPTION = "time_limit"

#: The work of a solver, given itself and who hears of its steps.
Work = Callable[[Solver, Callback], Answer]


class TimeUp(BaseException):
    """The time is up. No ``except Exception`` of a solver catches it."""


def check_time_limit(seconds: Any) -> None:
    """That the limit is None or a number above 0."""
    if seconds is None:
        return
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ValueError(f"time_limit is {seconds!r}: it must be a number of seconds above 0, or None")


def within(seconds: float, worker: Solver, work: Work, tell: Callback) -> Answer:
    """The answer of the solver; ``TimeUp`` where it has none when the time is up."""
    end = seconds
    if worker.keeps_time:
        told: Any = worker
        worker, end = replace(told, **{OPTION: seconds}), seconds * (1 + GRACE_SHARE) + GRACE_SECONDS
    if not worker.is_foreign() or not _may_fork():
        with _alarm(end):
            return work(worker, _until(time.perf_counter() + end, tell))
    return _in_child(end, worker, work, tell)


def _until(end: float, tell: Callback) -> Callback:
    """The same callback, which stops the solver when the time is up."""

    def told(line: Iteration) -> None:
        tell(line)
        if time.perf_counter() > end:
            raise TimeUp

    return told


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """``TimeUp`` wherever Python is when the time is up. Only the main thread can be told so, and where somebody else
    has set the process's alarm, that is left to him."""
    free = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if not free or signal.getitimer(signal.ITIMER_REAL)[0] > 0:
        yield
        return
    armed = True

    def ring(*_: object) -> None:
        if armed:
            raise TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))  # 0 would be none
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---- a process of its own ------------------------------------------------------------------------------------------


def _may_fork() -> bool:
    """Whether there can be a child that has all that its parent has."""
    import multiprocessing  # not at import: few ask for it

    return "fork" in multiprocessing.get_all_start_methods() and not multiprocessing.current_process().daemon


def _in_child(seconds: float, worker: Solver, work: Work, tell: Callback) -> Answer:
    import multiprocessing

    with suppress(ImportError):  # once here, not anew in every child
        import_module(worker.package or __name__)
    fork: Any = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_child, args=(sender, worker, work), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the child calls a solver and nothing else
        process.start()
    sender.close()
    end = time.perf_counter() + seconds
    try:
        while receiver.poll(max(end - time.perf_counter(), 0.0)):
            try:
                what, content = receiver.recv()
            except EOFError:
                process.join()
                return Answer(None, {}, f"its process ended without an answer, exit code {process.exitcode}")
            if what == "line":
                tell(content)
            elif what == "error":
                raise content
            else:
                return content
        raise TimeUp
    finally:
        process.kill()
        process.join()
        receiver.close()


def _child(sender: Any, worker: Solver, work: Work) -> None:
    """What the child does: it tells where it stands, now and then, and in the end its answer or its error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends the child
    last = -np.inf

    def told(line: Iteration) -> None:
        nonlocal last
        if time.perf_counter() - last >= TOLD_EVERY:
            last = time.perf_counter()
            with suppress(Exception):
                sender.send(("line", _still(line)))

    try:
        found = work(worker, told)
    except Exception as error:
        sender.send(("error", _pickled(error, RuntimeError(f"{type(error).__name__}: {error}"))))
        return
    bare = replace(found, trace=tuple(map(_still, found.trace)))
    sender.send(("answer", _pickled(bare, replace(bare, trace=(), report=None))))


def _still(line: Iteration) -> Iteration:
    """The line with its point as numbers, whatever the solver does afterwards."""
    standing = None
    if line.standing is not None and line.point is not None:
        standing = partial(_stand, (np.array(line.point), line.multipliers))
    return replace(line, detail={}, standing=standing)


def _stand(where: Standing) -> Standing:
    return where


def _pickled(found: Any, otherwise: Any) -> Any:
    """What was found where it can be sent and read again."""
    import pickle

    try:
        pickle.loads(pickle.dumps(found))
    except Exception:
        return otherwise
    return found
