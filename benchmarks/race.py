"""The harness: a case is a set of data with a stated accuracy, a contender fits it, a race runs all of them alike.

Every contender runs in a process of its own (``child.py``), so that it can be stopped at its time cap, its memory is
its own, and it begins with nothing done by another. What a contender says of its own success is not asked: the
accuracy in the table is computed from its coefficients on the data (``accuracy.py``).
"""

from __future__ import annotations

import math
import multiprocessing
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.bars import OURS, Bar, Verdict, judge
from benchmarks.store import save

#: The arrays and numbers of a case, by name; ``X`` is the data matrix.
Data = dict[str, Any]
#: Seconds that loading data, importing a peer, compiling it and measuring its answer may take: not part of its time.
SETUP_CAP = 240.0
#: The cap of a fit in a quick run.
QUICK_CAP = 2.0
#: Where processor time counts, a fit is stopped by the system at that; other work may stretch the time on the wall.
WALL_PER_CPU = 12.0
#: No peer is stopped sooner, however short our time was.
LEAST_PEER_CAP = 1.0
OUT_OF_CPU = getattr(signal, "SIGXCPU", 0)
#: Contenders' processes are forked from one that has loaded libraries (``run.py`` says which) and used none of them.
CONTEXT = multiprocessing.get_context("forkserver")


class NotThere(RuntimeError):
    """The contender cannot be run here: it is not installed, or not written yet."""


@dataclass(frozen=True)
class Answer:
    """What a contender found: coefficients, and multipliers where it has them."""

    coef: Any
    intercept: Any = 0.0
    multipliers: Any = None
    #: The contender's own time, where only a part of the call is to count.
    seconds: float | None = None
    note: str = ""
    #: A lower bound on the objective that it has proved.
    bound: float = -math.inf
    #: It has proved that there is no solution: there is nothing to measure.
    none_exists: bool = False


@dataclass(frozen=True)
class Measure:
    """What we computed from an answer. Where ``objective`` is given, the accuracy is its relative distance from the
    best lower bound that any contender of the race has proved; where none has, from the least objective of all."""

    accuracy: float
    objective: float = math.nan
    bound: float = -math.inf
    extra: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """One way to fit a case. ``fit(prepared, tol)`` is what is timed; its docstring says how the peer is set.

    ``ladder`` are tolerances from loose to tight: the first that reaches the case's accuracy is the one that is timed,
    so that no peer is made to work harder than needed. ``prepare`` brings the data into the form that the peer wants,
    outside of the clock.
    """

    name: str
    fit: Callable[[Any, float], Answer]
    ladder: tuple[float, ...] = (1e-8,)
    prepare: Callable[[Data], Any] | None = None
    ours: bool = False
    #: Whether it takes part in quick runs, too.
    quick: bool = True
    #: Seconds after which a fit of it is stopped, where that is sooner than the case's cap.
    cap: float | None = None
    #: It is set as it comes, whatever the accuracy that this gives.
    at_defaults: bool = False

    @property
    def settings(self) -> str:
        """How the contender is set, in a sentence."""
        function = getattr(self.fit, "func", self.fit)
        return " ".join((function.__doc__ or "").split())


@dataclass(frozen=True)
class Case:
    """Data of a size, the accuracy to be reached, who races, and the bars."""

    name: str
    make: Callable[..., Data]
    sizes: Mapping[str, int]
    #: The sizes of quick runs; None leaves the case out of them.
    quick: Mapping[str, int] | None
    target: float
    #: What the accuracy is, in words.
    measured: str
    measure: Callable[[Data, Answer, float], Measure]
    contenders: tuple[Contender, ...]
    bars: tuple[Bar, ...] = ()
    #: Seconds after which one fit of a contender is stopped.
    cap: float = 40.0
    #: Sizes of the fit that goes before, so that imports and compilation are not timed.
    warm: Mapping[str, int] = field(default_factory=lambda: {"n": 300, "d": 4})
    #: A fit of a peer is stopped after so many times ours: that it is slower is known by then. None lets it end.
    patience: float | None = None

    @property
    def title(self) -> str:
        """The name with the sizes."""
        return ", ".join(part for part in (self.name, " x ".join(f"{k} = {v}" for k, v in self.sizes.items())) if part)

    def quickly(self) -> Case:
        """The same at its small size with a short cap, without the contenders that take long to get there, and without
        bars where these are about a larger size."""
        contenders = tuple(c for c in self.contenders if c.quick)
        sizes = self.quick or self.sizes
        bars = self.bars if sizes == self.sizes else ()
        return replace(self, sizes=sizes, cap=min(self.cap, QUICK_CAP), contenders=contenders, bars=bars)

    def cap_of(self, contender: Contender) -> float:
        """After how many seconds a fit of the contender is stopped."""
        return self.cap if contender.cap is None else min(self.cap, contender.cap)

    def beside(self, results: list[Result]) -> Case:
        """The same with peers that are stopped where they take so much longer than we did."""
        ours = [r.seconds for r in results if r.name == OURS and not r.status]
        if self.patience is None or not ours:
            return self
        return replace(self, cap=min(self.cap, max(LEAST_PEER_CAP, self.patience * ours[0])))


@dataclass(frozen=True)
class Setup:
    """What holds for everybody alike. ``cpu`` counts processor time: on a machine with other work the time on the wall
    is that of the others, too."""

    repeat: int = 3
    threads: int = 1
    cpu: bool = False


@dataclass(frozen=True)
class Result:
    """One line of a table. ``status`` is empty for a contender that answered."""

    name: str
    ours: bool = False
    status: str = ""
    seconds: float = math.nan
    runs: int = 0
    tol: float = math.nan
    accuracy: float = math.inf
    reached: bool = False
    #: Bytes that the first fit added at its peak, relative to those of X.
    memory: float = math.nan
    #: Seconds after which a fit of it was to be stopped.
    cap: float = math.nan
    #: The same seconds of the processor and on the wall; ``seconds`` is one of them.
    cpu: float = math.nan
    wall: float = math.nan
    #: Our own yardstick: the seconds of one X @ w on the same data in the same process.
    one_pass: float = math.nan
    objective: float = math.nan
    bound: float = -math.inf
    note: str = ""
    extra: Mapping[str, float] = field(default_factory=dict)

    @property
    def passes(self) -> float:
        """The time in passes over the data."""
        return self.seconds / self.one_pass


@dataclass(frozen=True)
class Outcome:
    """A case with the results of all who raced so far."""

    case: Case
    results: tuple[Result, ...]

    @property
    def verdicts(self) -> list[Verdict]:
        """Each bar of the case, judged."""
        return [judge(bar, self.results) for bar in self.case.bars]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "case": self.case.name,
            "sizes": dict(self.case.sizes),
            "target": self.case.target,
            "measured": self.case.measured,
            "cap": self.case.cap,
            "results": [asdict(r) | {"passes": r.passes} for r in self.results],
            "verdicts": [asdict(v) for v in self.verdicts],
        }


def race(case: Case, setup: Setup, begins: Callable[[str], None] = lambda _: None) -> Iterator[Outcome]:
    """Run the contenders one after another; yields what is known after each of them."""
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="race-") as folder:
        save(case.make(**case.sizes), Path(folder) / "data")
        save(case.make(**{**case.sizes, **case.warm}), Path(folder) / "warm")
        for contender in case.contenders:
            begins(contender.name)
            stopped = case if contender.ours else case.beside(results)
            results.append(_one(stopped, contender, folder, least_known(results), setup))
            yield Outcome(case, tuple(_against_best_bound(case, results)))


def _one(case: Case, contender: Contender, folder: str, bound: float, setup: Setup) -> Result:
    """Run a contender in a child process and stop it where a fit takes longer than the cap."""
    from benchmarks.child import work

    ours, theirs = CONTEXT.Pipe(duplex=False)
    lone = replace(case, contenders=(contender,))
    process = CONTEXT.Process(target=work, args=(theirs, lone, folder, bound, setup), daemon=True)
    process.start()
    theirs.close()
    cap = case.cap_of(contender)
    wall_cap = cap * (WALL_PER_CPU if setup.cpu else 1.0)
    result, limit, begun = Result(contender.name, contender.ours, cap=cap), SETUP_CAP, time.monotonic()
    try:
        while ours.poll(max(0.0, begun + limit - time.monotonic())):
            kind, what = ours.recv()
            if kind == "result":
                result = replace(what, name=contender.name, ours=contender.ours, cap=cap)
            elif kind == "status":
                return replace(result, status=what)
            elif kind == "over":
                return _stopped(result, cap)
            elif kind == "end":
                return result
            limit, begun = (wall_cap if kind == "fit" else SETUP_CAP), time.monotonic()
    except EOFError:
        process.join()
        return _stopped(result, cap) if process.exitcode == -OUT_OF_CPU else replace(result, status="crashed")
    finally:
        process.kill()
        process.join()
        ours.close()
    return _stopped(result, min(limit, cap))


def _stopped(result: Result, cap: float) -> Result:
    """The result of a contender that ran over its cap: one that had reached the accuracy before keeps its time."""
    if result.reached:
        return result
    note = f"{result.seconds:.3g} s at tol {result.tol:g} before" if result.runs else ""
    return replace(result, status=f"> {cap:g} s", seconds=math.nan, note=note)


def _against_best_bound(case: Case, results: list[Result]) -> Iterator[Result]:
    """The results with gaps to the best lower bound of all, where accuracy is a gap."""
    best = least_known(results)
    for r in results:
        if math.isnan(r.objective) or math.isinf(best):
            yield r
        else:
            gap = relative_gap(r.objective, best)
            yield replace(r, accuracy=gap, reached=gap <= case.target)


def least_known(results: list[Result]) -> float:
    """The best lower bound that was proved; where there is none, the least objective that was found."""
    bound = max((r.bound for r in results), default=-math.inf)
    if math.isfinite(bound):
        return bound
    return min((r.objective for r in results if math.isfinite(r.objective)), default=-math.inf)


def relative_gap(objective: float, bound: float) -> float:
    """How far an objective is above a lower bound, relative to it."""
    above = max(0.0, objective - bound)
    return above / abs(objective) if above else 0.0
