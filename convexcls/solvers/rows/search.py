"""The search for the solution of a ``RowProgram``: what it records, what comes out, and its plain form, in which all
rows are open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.rows import Rows
from convexcls.solvers.base import Tracer
from convexcls.solvers.rows.central_path import PathStop, follow
from convexcls.solvers.rows.column_basis import Unknowns
from convexcls.solvers.rows.finish import EXACT, settle
from convexcls.solvers.rows.infeasible_rows import contradiction, runaway
from convexcls.solvers.rows.row_program import Indices, RowProgram

Array = NDArray[np.float64]
#: x, the a of all rows, and nu.
At = tuple[Array, Array, Array]

#: The exact solution is looked for once the relative errors are below this; the tight rows of a program without
#: curvature are known later.
NEAR, NEAR_WITH_CURVATURE = 1e-7, 1e-3
#: Nothing more is to be had by further steps.
ENOUGH = 1e-14
#: A way that has not become better for so many steps leads nowhere.
PATIENCE = 12


@dataclass(frozen=True, eq=False)
class Found:
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


@dataclass(eq=False)
class Search:
    """The settings and the trace of one search; ``restore`` makes x, a and nu a point of the problem, so that who
    interrupts the search gets the last one."""

    tracer: Tracer
    max_iter: int
    polish: bool
    restore: Callable[[Array, Array, Array], tuple[Array, dict[str, Array]]]
    all_rows: Rows | None = None

    def over(self, unknowns: Unknowns) -> Search:
        """The same search over other unknowns."""
        return replace(
            self,
            restore=lambda z, a, nu: self.restore(unknowns.back(z), a, nu),
            all_rows=unknowns.program.rows,
        )

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
            if stop.error <= ENOUGH or waited >= PATIENCE:
                return


def solve_whole(program: RowProgram, rows: Indices, x: Array, search: Search) -> Found:
    """The solution with all rows open whose multipliers are not given."""
    part, a = program.on(rows, np.zeros_like(program.q)), program.low.copy()
    near = NEAR_WITH_CURVATURE if part.P.any() else NEAR
    best: PathStop | None = None
    stop: PathStop | None = None
    for stop in search.walk(part, x, a):
        if best is None or stop.error < best.error:
            best = stop
        if search.polish and stop.error <= near and (exact := settle(part, stop.point)) is not None:
            a[rows] = exact.a
            steps, objective = len(search.tracer.lines), part.smooth(exact.x) + part.cost(part.excess(exact.x))
            search.record(objective, EXACT, 1.0, {"rows": rows.size}, (exact.x, a, exact.nu))
            return Found(exact.x, a, exact.nu, f"exact on its partition after {steps} steps")
    steps = len(search.tracer.lines)
    if best is None or stop is None:
        return Found(None, a, program.b, "no step was possible")
    if (direction := runaway(part, stop.point, stop.objective)) is not None:
        return Found(
            None,
            a,
            program.b,
            f"the objective falls without end after {steps} steps",
            direction=direction,
        )
    a[rows] = best.point.a
    return Found(best.point.x, a, best.point.nu, f"relative error {best.error:.1e} after {steps} steps")
