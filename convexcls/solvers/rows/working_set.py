"""Few unknowns, many rows that all have to hold: a working set of rows, priced by passes over all of them.

The solution rests on at most as many rows as there are unknowns, and one more. So the problem is solved on a pool of
rows, exactly (``active_set.py``); one pass R @ x then shows which other rows are violated; the nearest ones make the
next pool. With the active rows always kept, the optimum of the pool only grows, so it ends: with no row violated, or
with rows that contradict each other, and then these are the proof that the problem has no point.

The first pool is a random sample, on which a smooth neighbour of the problem is solved (``pool.py``); a pool of
sqrt(n d) rows leaves about as many violated. From there three or four passes are the rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer
from convexcls.solvers.rows.active_set import EPS, ActiveSet
from convexcls.solvers.rows.pool import SIGMA_FACTOR, Pool, SmoothFit, WorkingRows, follow
from convexcls.solvers.rows.reduction import HardRows, hard_rows

#: Pools have at least this many rows; problems with twice as many are one pool.
SMALLEST_POOL = 256
#: A pool is larger than sqrt(n d) by this factor: below 1, it would not hold the rows that the sample left violated.
POOL_FACTOR = 1.2
#: So many changes of the active set for each unknown, in one pool, are too many.
MAX_CHANGES_PER_UNKNOWN = 60
#: How many rows for each unknown may have a loss when the first pools are left, and when the smooth problem is.
ROWS_PER_UNKNOWN_FIRST, ROWS_PER_UNKNOWN_LAST = (2.0, 1.5), 1.15
#: How far each smooth problem is solved on the first pools, as a share of the typical loss.
ROUGH_ACCURACY = 0.1
#: With more violated rows outside the pool than this, the active rows are guessed anew.
VIOLATED_ROWS_TO_RESTART = 8


@dataclass(frozen=True)
class WorkingSetSolver(Solver):
    """Working sets of rows for hard margins and widest slabs; exact to rounding, multipliers of inactive rows 0. Data
    that cannot be separated end with a contradiction on at most two rows more than there are features. ``max_passes``
    bounds the passes over all rows; ``pool`` is the number of rows worked on at a time (0: the solver's choice);
    ``seed`` chooses the sample from which it begins."""

    name: ClassVar[str] = "working-set"
    accepts: ClassVar[str] = "hard margins and widest slabs with few features, and quadratics of that shape"
    promise: ClassVar[float] = 1e-10
    by_passes: ClassVar[bool] = True
    warm: ClassVar[bool] = True

    max_passes: int = 200
    pool: int = 0
    seed: int = 0

    def refuses(self, problem: Problem) -> str:
        shape = problem.remembered(hard_rows)
        for option in ("max_passes", "pool", "seed"):
            value = getattr(self, option)
            if not isinstance(value, int) or value < 0:
                return f"option {option} is {value!r}: it must be a whole number, not below 0"
        return shape if isinstance(shape, str) else ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        hard = problem.remembered(hard_rows)
        assert isinstance(hard, HardRows)
        work, sample = WorkingRows.of(hard, self._sample(hard))
        return _WorkingSetRun(work, self._pool_size(hard), self.max_passes, Tracer(callback)).from_sample(sample)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        hard = problem.remembered(hard_rows)
        assert isinstance(hard, HardRows)
        work, _ = WorkingRows.of(hard, self._sample(hard))
        run = _WorkingSetRun(work, self._pool_size(hard), self.max_passes, Tracer(callback))
        return run.from_point(*hard.reduced(start.x, start.multipliers))

    def _pool_size(self, hard: HardRows) -> int:
        n, size = hard.program.rows.shape
        most = self.pool or max(SMALLEST_POOL, 4 * size, int(POOL_FACTOR * np.sqrt(n * size)))
        return n if n <= 2 * most and not self.pool else min(n, most)

    def _sample(self, hard: HardRows) -> Indices:
        n, most = hard.program.h.size, self._pool_size(hard)
        if most == n:
            return np.arange(n)
        return np.sort(np.random.default_rng(self.seed).choice(n, most, replace=False, shuffle=False))


class _WorkingSetRun:
    """One run: the active set, the passes made so far, and what ends it."""

    def __init__(self, work: WorkingRows, most: int, max_passes: int, tracer: Tracer) -> None:
        self.work, self.hard, self.program = work, work.hard, work.hard.program
        self.most, self.max_passes, self.tracer = most, max_passes, tracer
        self.found = ActiveSet(self.program.q.size, self.hard.free)
        self.smooth = SmoothFit(np.zeros_like(self.program.q), np.zeros(0))
        self.side = float(np.abs(self.program.h).max(initial=0.0))

    def from_sample(self, pool: Pool) -> Answer:
        """From a sample."""
        for enough in ROWS_PER_UNKNOWN_FIRST if self.most < self._n else ():
            self.smooth = follow(self.smooth, pool, self.hard.free, enough, ROUGH_ACCURACY)
            if self.smooth.stuck:
                return self._solve(pool, self.smooth.likely_rows())
            pool = self._pool_at(self.smooth.v)
        self.smooth = follow(
            self.smooth,
            pool,
            self.hard.free,
            ROWS_PER_UNKNOWN_LAST if self.most < self._n else ROWS_PER_UNKNOWN_FIRST[0],
        )
        return self._solve(pool, self.smooth.likely_rows())

    def from_point(self, x: Array, support: Indices) -> Answer:
        """From a point, with the rows that are likely to be active."""
        rows = self.program.prices(x, self.most, np.inf).nearest(self.most, support)
        return self._solve(self.work.pool(rows), np.flatnonzero(np.isin(rows, support))[: self.found.size])

    @property
    def _n(self) -> int:
        return self.program.h.size

    def _pool_at(self, v: Array) -> Pool:
        x = self.work.point(v)
        prices = self.program.prices(x, self.most, np.inf)
        self._record(x, prices.largest, 0, 0)
        return self.work.pool(prices.nearest(self.most, np.empty(0, dtype=np.intp)))

    def _solve(self, pool: Pool, likely: Indices) -> Answer:
        """Solve on the pool, price all rows, take the nearest ones as the next pool, until no row is violated."""
        found, ended = self.found, "too few passes"
        found.begin_with(pool.some(likely))
        for made in range(self.max_passes):
            outcome = found.improve(pool, MAX_CHANGES_PER_UNKNOWN * (found.size + 10))
            if outcome == "contradiction":
                self._record(
                    self.work.point(found.v), float(pool.excess(found.v).max(initial=0.0)), pool.names.size, found.count
                )
                return self._contradiction()
            found.drop_weak()
            x, u = self._refined()
            noise = self._noise(x)
            prices = self.program.prices(x, self.most, noise)
            self._record(x, prices.largest, pool.names.size, found.count, np.maximum(u, 0.0))
            outside = prices.above_outside(noise, pool.names)
            if outcome == "stalled" or not outside:
                ended = "the active set no longer settles" if outcome == "stalled" else "no row is violated"
                break
            if made < self.max_passes - 1:
                pool = self.work.pool(prices.nearest(self.most, found.active))
                found = self._restarted(pool) if outside > VIOLATED_ROWS_TO_RESTART else found
        point, multipliers = self.hard.restored(x, found.active, np.maximum(u, 0.0))
        return self._answer(point, multipliers, f"{ended}: {found.count} active rows, {found.steps} changes")

    def _restarted(self, pool: Pool) -> ActiveSet:
        """The active set, or one guessed anew where that is further on: it has the larger optimum."""
        wider = replace(self.smooth, sigma=self.smooth.sigma / SIGMA_FACTOR)
        self.smooth = follow(wider, pool, self.hard.free, ROWS_PER_UNKNOWN_LAST)
        other = ActiveSet(self.found.size, self.found.free)
        other.begin_with(pool.some(self.smooth.likely_rows()))
        other.steps = self.found.steps
        if other.height() > self.found.height():
            self.found = other
        return self.found

    def _refined(self, rounds: int = 2) -> tuple[Array, Array]:
        """x and the multipliers from the active rows as they are, with residuals in extended precision."""
        work, program, curvature, found = self.work, self.program, self.hard.curvature, self.found
        x, u = work.point(found.v), found.multipliers.copy()
        N = self.hard.take(found.active).astype(np.longdouble)
        h, P = program.h[found.active].astype(np.longdouble), curvature.astype(np.longdouble)
        for _ in range(rounds):
            force = work.turned(np.asarray(-(P * x + program.q + N.T @ u), dtype=float))
            short = np.asarray(h - N @ x, dtype=float)
            step, change = found.correction(force, short)
            x, u = x + work.linear(step), u + change
        # no row speaks of these: what rounding left of them is nothing
        unseen = (program.rows.column_max() == 0.0) & (curvature > 0)
        return np.where(unseen, -program.q / np.where(curvature > 0, curvature, 1.0), x), u

    def _noise(self, x: Array) -> float:
        """What rounding may leave of the sums in Rx - h."""
        return 4.0 * EPS * (float(self.work.reach @ np.abs(x)) + self.side)

    def _record(self, x: Array, largest: float, pool: int, active: int, u: Array | None = None) -> None:
        worst = max(largest, 0.0) / (self.side or 1.0)
        detail = {"pool": pool, "active": active, "changes": self.found.steps}
        standing = None
        if u is not None and u.any():
            standing = partial(self.hard.restored, x, self.found.active.copy(), u)
        self.tracer.record(self.program.quadratic(x), worst, 1.0, detail, standing=standing)

    def _contradiction(self) -> Answer:
        assert self.found.contradiction is not None
        names, weights = self.found.contradiction
        kept = np.flatnonzero(weights)
        names, weights = names[kept], self._cancelled(names[kept], weights[kept])
        message = f"{names.size} rows contradict each other"
        if not weights.any():
            return self._answer(None, {}, f"{message} up to rounding only")
        if self.hard.slab is not None:
            return self._answer(*self.hard.restored(np.zeros_like(self.program.q), names, weights), message)
        return self._answer(None, {}, message, self.hard.contradiction(names, weights))

    def _cancelled(self, names: Indices, weights: Array) -> Array:
        """The weights with N'z = 0 to rounding: refined with residuals in extended precision."""
        columns = self.hard.take(names).T
        unit = np.abs(columns).max(axis=1)
        unit = np.where(unit > 0.0, unit, 1.0)
        inverse, exact = np.linalg.pinv(columns / unit[:, None]), columns.astype(np.longdouble)
        z = weights / weights.max()
        for _ in range(3):
            residual = np.asarray(exact @ z.astype(np.longdouble), dtype=float)
            z = z - inverse @ (residual / unit)
        return np.maximum(z, 0.0)

    def _answer(
        self, x: Array | None, multipliers: dict[str, Array], message: str, farkas: dict[str, Array] | None = None
    ) -> Answer:
        return Answer(x, multipliers, message, len(self.tracer.lines), tuple(self.tracer.lines), farkas=farkas)
