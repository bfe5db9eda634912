"""What runs in a contender's own process: warm up, find the loosest tolerance that is good enough, time it.

Messages to the parent are pairs: ``("fit", tol)`` right before the clock starts, so that the parent can enforce the
cap, ``("result", Result)`` after each fit that was better than those before, ``("status", words)`` where it cannot be
run, ``("over", None)`` where looking for a tolerance took too long, ``("end", None)``.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race import Answer, Case, Contender, NotThere, Result, Setup
from benchmarks.store import load

Clock = Callable[[], float]
#: A contender that takes less than this in all is run more often than asked: short times are noisy.
ENOUGH_SECONDS = 0.15
MOST_RUNS = 200
#: No run is begun after so many seconds of repeating.
REPEAT_SECONDS = 10.0
#: Looking for the tolerance may take so many times the cap.
CLIMB = 1.5
#: A process with a limit of processor time reads the time of all its threads at ticks of the system's clock, of about
#: 4 ms, that of one thread to the microsecond.
TICK = 0.02
#: The part of the machine's memory that a contender may take.
MEMORY_SHARE = 0.6


def work(connection: Connection, case: Case, folder: str, bound: float, setup: Setup) -> None:
    """Run the only contender of the case and tell the parent."""
    _be_quiet()
    _limit_memory()
    warnings.simplefilter("ignore")  # that a peer stopped early is for our measure to say
    try:
        with _threads(setup.threads):
            _run(connection, case, Path(folder), bound, setup)
            connection.send(("end", None))
    except (ImportError, NotThere) as error:
        connection.send(("status", f"not there: {error}"))
    except MemoryError:
        connection.send(("status", "out of memory"))
    except Exception as error:  # a peer may fail in any way of its own, and the race goes on
        connection.send(("status", f"failed: {type(error).__name__}: {error}"[:160]))


@dataclass(frozen=True)
class _Track:
    """All that a contender's fits need: the data, loaded and prepared, the yardstick and the clock."""

    connection: Connection
    case: Case
    contender: Contender
    data: Any
    prepared: Any
    one_pass: float
    bound: float
    clock: Clock

    def begin(self, tol: float) -> None:
        """Tell the parent that a fit begins; where processor time counts, the system ends it at the cap."""
        self.connection.send(("fit", tol))
        if self.clock is time.process_time:
            _limit_cpu(time.process_time() + self.case.cap_of(self.contender))


def _run(connection: Connection, case: Case, folder: Path, bound: float, setup: Setup) -> None:
    (contender,) = case.contenders
    clock = time.process_time if setup.cpu else time.perf_counter
    _warm_up(contender, load(folder / "warm"))
    data = load(folder / "data")
    prepared = data if contender.prepare is None else contender.prepare(data)
    track = _Track(connection, case, contender, data, prepared, seconds_of_one_pass(data["X"], clock), bound, clock)
    best = Result(contender.name)
    for rung in _climb(track):
        if rung.accuracy < best.accuracy or not best.runs:
            best = rung
            connection.send(("result", best))
    if best.reached or len(contender.ladder) == 1:  # else there is nothing to compare with: one time will do
        _repeat(track, best, setup.repeat)


def _repeat(track: _Track, best: Result, repeat: int) -> None:
    """Run the same fit again, as often as asked and as time allows; the least time counts."""
    begun, runs = time.perf_counter(), 1
    while runs < _wanted(repeat, best.seconds) and time.perf_counter() - begun < REPEAT_SECONDS:
        track.begin(best.tol)
        took, _ = timed(track.contender, track.prepared, best.tol, track.clock)
        runs += 1
        best = replace(best, runs=runs, **{name: min(getattr(best, name), new) for name, new in took.items()})
        track.connection.send(("result", best))


def _climb(track: _Track) -> Iterator[Result]:
    """A result for each tolerance, from the loosest on, until one is good enough."""
    case, contender = track.case, track.contender
    size, begun = size_in_bytes(track.data["X"]), time.perf_counter()
    for tol in contender.ladder:
        if time.perf_counter() - begun > CLIMB * case.cap_of(contender):
            track.connection.send(("over", None))
            return
        gc.collect()
        before = _forget_peak()
        track.begin(tol)
        took, answer = timed(contender, track.prepared, tol, track.clock)
        memory = max(0.0, _peak() - before) / size
        _limit_cpu(math.inf)
        track.connection.send(("measure", tol))
        found = case.measure(track.data, answer, track.bound)
        reached = bool(found.accuracy <= case.target)
        yield Result(
            contender.name,
            **took,
            runs=1,
            tol=tol,
            accuracy=float(found.accuracy),
            reached=reached,
            memory=memory,
            one_pass=track.one_pass,
            objective=found.objective,
            bound=found.bound,
            note=answer.note,
            extra=dict(found.extra),
        )
        if reached:
            return


def timed(contender: Contender, prepared: Any, tol: float, clock: Clock) -> tuple[dict[str, float], Answer]:
    """The seconds of one fit by both clocks and by the one that counts, and its answer; where the contender gives its
    own time, that counts."""
    wall, whole, own = time.perf_counter(), time.process_time(), time.thread_time()
    answer = contender.fit(prepared, tol)
    own, whole, wall = time.thread_time() - own, time.process_time() - whole, time.perf_counter() - wall
    cpu = own if whole <= own + TICK else whole  # one thread did all
    counts = cpu if clock is time.process_time else wall
    return {"seconds": counts if answer.seconds is None else answer.seconds, "cpu": cpu, "wall": wall}, answer


def seconds_of_one_pass(X: Any, clock: Clock) -> float:
    """The least time of one X @ w."""
    w, best = np.ones(X.shape[1]), math.inf
    for _ in range(7):
        start = clock()
        X @ w
        best = min(best, clock() - start)
    return best


def size_in_bytes(X: Any) -> int:
    """The bytes of a dense or sparse matrix."""
    return int(X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def _wanted(repeat: int, seconds: float) -> int:
    return max(repeat, min(MOST_RUNS, int(ENOUGH_SECONDS / max(seconds, 1e-9))))


def _warm_up(contender: Contender, data: Any) -> None:
    """Import and compile what the contender needs; how it fares on the small data does not matter."""
    try:
        contender.fit(data if contender.prepare is None else contender.prepare(data), contender.ladder[0])
    except (ImportError, NotThere):
        raise
    except Exception:
        return


def _threads(count: int) -> Any:
    """Limit the threads of the libraries that are loaded; those loaded later read the environment."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(count)


def _be_quiet() -> None:
    """Solvers print: send what this process prints nowhere."""
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _limit_memory() -> None:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        resource.setrlimit(resource.RLIMIT_AS, (int(MEMORY_SHARE * total),) * 2)
    except (ValueError, OSError):  # not every system lets itself be limited
        return


def _limit_cpu(seconds: float) -> None:
    """Have the system end this process where it has used so many seconds of the processor."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (hard if math.isinf(seconds) else math.ceil(seconds), hard))


def _forget_peak() -> float:
    """Reset the peak of resident memory where the system can (Linux), and return what is resident now, in bytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return _peak()


def _peak() -> float:
    """The peak of resident memory, in bytes."""
    try:
        return _status("VmHWM")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def _status(key: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith(key + ":"))
