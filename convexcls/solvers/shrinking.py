"""Few of many rows decide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convexcls.solvers.base import Tracer
from convexcls.solvers.central_path import PathStop, follow
from convexcls.solvers.partition import Exact, settle
from convexcls.solvers.row_program import RowProgram

Array = NDArray[np.float64]

#: The exact solution is looked for once the relative errors are below this.
NEAR = 1e-7
#: Nothing more is to be had by further steps.
ENOUGH = 1e-14
#: A way that has not become better for so many steps leads nowhere.
PATIENCE = 8


@dataclass(frozen=True, eq=False)
class Found:
    """What came out: a point with its multipliers, or none."""

    x: Array | None
    a: Array
    nu: Array
    message: str


def solve_rows(
    program: RowProgram,
    tol: float,
    begin: tuple[Array, Array] | None,
    tracer: Tracer,
    max_iter: int,
    shrink: bool,
    polish: bool,
) -> Found:
    """The solution of the program."""
    whole = program.on(np.arange(program.h.size), np.zeros_like(program.q))
    return _follow_to_the_end(whole, np.zeros_like(program.q), tol, tracer, max_iter, polish)


def _follow_to_the_end(
    program: RowProgram, x: Array, tol: float, tracer: Tracer, max_iter: int, polish: bool
) -> Found:
    best: PathStop | None = None
    waited = 0
    for stop in follow(program, x, max_iter=max_iter):
        tracer.record(stop.objective, stop.error, stop.step, {"gap": stop.gap, "centring": stop.sigma})
        if best is None or stop.error < best.error:
            best, waited = stop, 0
        else:
            waited += 1
        if polish and stop.error <= NEAR and (exact := settle(program, stop.point)) is not None:
            return Found(exact.x, exact.a, exact.nu, f"exact on its partition after {len(tracer.lines)} steps")
        if stop.error <= ENOUGH or waited >= PATIENCE:
            break
    if best is None:
        return Found(None, program.low, program.b, "no step was possible")
    p = best.point
    return Found(p.x, p.a, p.nu, f"relative error {best.error:.1e} after {len(tracer.lines)} steps")
