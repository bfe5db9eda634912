"""One run of the interior-point method on a ``RowProgram``: the central path with all rows open, what it records, and
what comes out.

Where there is no solution, multipliers or unknowns grow without end along the path. Divided by their size, they tend to
a Farkas vector of the rows that have to hold, or to a direction along which the objective falls for ever. They are
candidates: the check of the answer decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.rows import Rows
from convexcls.solvers.base import Tracer
from convexcls.solvers.rows.finish import EXACT, finish
from convexcls.solvers.rows.interior_point_step import PathPoint, PathStop, follow
from convexcls.solvers.rows.row_program import RowProgram
from convexcls.solvers.rows.unknowns import Unknowns

#: x, the a of all rows, and nu.
At = tuple[Array, Array, Array]

#: The exact solution is looked for once the relative errors are below this; the tight rows of a program without
#: curvature are known later.
NEAR_ERROR, NEAR_ERROR_WITH_CURVATURE = 1e-7, 1e-3
#: Nothing more is to be had by further steps.
SMALLEST_ERROR = 1e-14
#: A way that has not become better for so many steps leads nowhere.
MAX_STEPS_WITHOUT_GAIN = 12
#: Multipliers have to have grown so far, and to cancel so well, to be worth a look.
GROWN_FACTOR = 1e3
CANCELLATION = 1e-5
#: Rows with a smaller share of the multipliers are left out, at first.
SMALL_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class RowSolution:
    """What came out: a point with its multipliers, or none; then perhaps what shows that there is none."""

    x: Array | None
    a: Array
    nu: Array
    message: str
    farkas: tuple[Array, Array] | None = None
    direction: Array | None = None


class NoSolution(Exception):
    """The rows at hand, by their place in the first program, contradict each other."""

    def __init__(self, rows: Indices, a: Array, nu: Array) -> None:
        super().__init__()
        self.rows, self.a, self.nu = rows, a, nu

    def found(self, size: int) -> RowSolution:
        """The same as what came out of a program with so many rows."""
        a = np.zeros(size)
        a[self.rows] = self.a
        message = f"{np.count_nonzero(a)} rows contradict each other"
        return RowSolution(None, a, self.nu, message, farkas=(a, self.nu))


@dataclass(eq=False)
class Run:
    """The settings and the trace of one run; ``restore`` makes x, a and nu a point of the problem, so that who
    interrupts the run gets the last one."""

    tracer: Tracer
    max_iter: int
    polish: bool
    restore: Callable[[Array, Array, Array], tuple[Array, dict[str, Array]]]
    all_rows: Rows | None = None

    def in_unknowns(self, unknowns: Unknowns) -> Run:
        """The same run over other unknowns."""
        restore, x_of = self.restore, unknowns.x_of
        return replace(self, restore=lambda z, a, nu: restore(x_of(z), a, nu), all_rows=unknowns.program.rows)

    def record(
        self,
        objective: float,
        residual: float,
        step: float,
        detail: dict[str, Any],
        at: tuple[Array, Array, Array] | None,
    ) -> None:
        """Add a line to the trace, with a point where it is one of all rows."""
        standing = None if at is None else partial(self.restore, *at)
        self.tracer.record(objective, residual, step, detail, standing=standing)

    def walk(self, program: RowProgram, x: Array, others: Array | None = None) -> Iterator[PathStop]:
        """The points of the path, recorded, as long as they become better. ``others`` are the multipliers of all rows
        where the program has all of those that are open."""
        best, waited, reach = np.inf, 0, program.rows.column_max()
        for stop in follow(program, x, max_iter=self.max_iter):
            detail = {"gap": stop.gap, "centring": stop.sigma, "rows": program.h.size}
            at = None
            if others is not None:
                a = others.copy()
                a[program.origin] = stop.point.a
                at = stop.point.x, a, stop.point.nu
            self.record(stop.objective, stop.error, stop.step, detail, at)
            if (proof := contradiction(program, stop.point, reach)) is not None:
                raise NoSolution(program.origin, *proof)
            yield stop
            if runaway(program, stop.point, stop.objective) is not None:
                return
            waited = 0 if stop.error < best else waited + 1
            best = min(best, stop.error)
            if stop.error <= SMALLEST_ERROR or waited >= MAX_STEPS_WITHOUT_GAIN:
                return


def solve_whole(program: RowProgram, x: Array | None, run: Run) -> RowSolution:
    """The solution with all rows open whose multipliers are not given, from a point or from 0."""
    rows, a = program.open_rows, np.array(program.low)
    part, x = program.restricted(rows), np.zeros_like(program.q) if x is None else x
    near = NEAR_ERROR_WITH_CURVATURE if part.P.any() else NEAR_ERROR
    best: PathStop | None = None
    stop: PathStop | None = None
    for stop in run.walk(part, x, a):
        if best is None or stop.error < best.error:
            best = stop
        if run.polish and stop.error <= near and (exact := finish(part, *stop.point.iterate)) is not None:
            a[rows] = exact.a
            steps, objective = len(run.tracer.lines), part.quadratic(exact.x) + part.cost(part.excess(exact.x))
            run.record(objective, EXACT, 1.0, {"rows": rows.size}, (exact.x, a, exact.nu))
            return RowSolution(exact.x, a, exact.nu, f"exact on its partition after {steps} steps")
    steps = len(run.tracer.lines)
    if best is None or stop is None:
        return RowSolution(None, a, program.b, "no step was possible")
    if (direction := runaway(part, stop.point, stop.objective)) is not None:
        message = f"the objective falls without end after {steps} steps"
        return RowSolution(None, a, program.b, message, direction=direction)
    a[rows] = best.point.a
    return RowSolution(best.point.x, a, best.point.nu, f"relative error {best.error:.1e} after {steps} steps")


def contradiction(program: RowProgram, p: PathPoint, reach: Array) -> tuple[Array, Array] | None:
    """Multipliers a >= 0 of rows that have to hold, and nu of equations, that add up to 0 <= a negative number, on few
    rows; None where there is no sign of them."""
    hard = np.flatnonzero((np.isinf(program.high) | np.isinf(program.low)) & (program.compliance == 0))
    if not hard.size and not program.b.size:
        return None
    a, nu = p.a[hard], p.nu
    size = max(float(np.abs(a).max(initial=0.0)), float(np.abs(nu).max(initial=0.0)))
    if size <= GROWN_FACTOR * (float(np.abs(program.q).max(initial=0.0)) + program.unit + 1e-3):
        return None
    weights = np.zeros_like(p.a)
    weights[hard] = a
    pull = program.rows.T @ weights + program.A.T @ nu
    summed = reach * float(np.abs(a).sum()) + np.abs(program.A).T @ np.abs(nu)
    against = float(program.h[hard] @ a + program.b @ nu)
    sizes = float(np.abs(program.h[hard]) @ np.abs(a) + np.abs(program.b) @ np.abs(nu))
    if np.any(np.abs(pull) > CANCELLATION * summed) or not against < -1e-3 * sizes:
        return None
    for share in (SMALL_SHARE, 0.0):
        found = _on_few_rows(program, hard[np.abs(a) > share * np.abs(a).max(initial=0.0)])
        if found is not None:
            return found
    return None


def _on_few_rows(program: RowProgram, rows: Indices) -> tuple[Array, Array] | None:
    """A vertex of the set of contradictions on these rows: it has no more rows than unknowns, and one."""
    from scipy.optimize import linprog

    matrix = np.vstack([program.rows[rows].to_dense(), program.A])
    sides = np.concatenate([program.h[rows], program.b])
    units = np.abs(matrix).max(axis=0, initial=0.0)
    system = np.vstack([matrix.T / np.where(units > 0, units, 1.0)[:, None], sides[None, :]])
    bounds = [
        *((None if np.isinf(program.low[i]) else 0.0, None if np.isinf(program.high[i]) else 0.0) for i in rows),
        *((None, None) for _ in program.b),
    ]
    target = np.append(np.zeros(matrix.shape[1]), -1.0)
    found = linprog(np.zeros(sides.size), A_eq=system, b_eq=target, bounds=bounds, method="highs-ds")
    if found.x is None:
        return None
    a = np.zeros(program.h.size)
    a[rows] = found.x[: rows.size]
    return a, np.asarray(found.x[rows.size :])


def runaway(program: RowProgram, p: PathPoint, objective: float) -> Array | None:
    """A direction in which x runs away and the objective falls; None where there is no sign of one."""
    size = float(np.abs(p.x).max(initial=0.0))
    if size <= GROWN_FACTOR**2 or not objective < -GROWN_FACTOR * max(program.unit, 1.0):
        return None
    return np.asarray(p.x / size)
