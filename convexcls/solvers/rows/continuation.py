"""From the solution of one problem to that of a similar one, such as the next C of a path.

The method of multipliers with Newton steps (Rockafellar 1976) on the ``RowProgram`` of the problem: minimise its
neighbour that is proximal in a (``smoothing.py``), take the a of the minimum, and again with a smaller sigma. The
bounds that the a are at say on which side the rows are; once that is right, ``finish.py`` gives the exact solution.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.linalg import LinAlgError

from convexcls.arrays import Array
from convexcls.problem import BY_SAMPLE, Problem
from convexcls.solvers.base import Answer, Callback, Start, Tracer
from convexcls.solvers.rows.finish import Units, finish
from convexcls.solvers.rows.reduction import RowReduction
from convexcls.solvers.rows.smoothing import Smoothed

#: The widths, in units of the right-hand sides; each minimum is found to a hundredth of its width.
WIDTHS = tuple(10.0 ** (-k / 2) for k in range(17))
ACCURACY = 1e-2
MAX_STEPS_PER_WIDTH, MAX_STEPS = 40, 300
#: Larger systems are left to sparse solvers.
MAX_DENSE_UNKNOWNS = 1500


def can_be_continued(problem: Problem) -> bool:
    """Whether the problem is a ``RowProgram`` of few unknowns, none of them one of many samples'."""
    if not problem.is_quadratic_program or not any(c.relation == "<=" for c in problem.constraints):
        return False
    reduction = problem.remembered(RowReduction.of)
    few = reduction.width > 0 and reduction.width + reduction.height <= MAX_DENSE_UNKNOWNS
    return few and not any(problem.variable(v).kind in BY_SAMPLE for v in reduction.kept)


def continued(start: Start, problem: Problem, callback: Callback | None = None) -> Answer | None:
    """The solution, found from that of a similar problem; None where the way is not short or not taken."""
    if not can_be_continued(problem):
        return None
    tracer = Tracer(callback)
    try:
        with np.errstate(
            over="ignore", invalid="ignore", divide="ignore"
        ):  # a way that leads nowhere ends in no answer
            return _follow(problem.remembered(RowReduction.of), start, tracer)
    except LinAlgError:
        return None


def _follow(reduction: RowReduction, start: Start, tracer: Tracer) -> Answer | None:
    """The method of multipliers, with narrower and narrower widths until the answer is exact."""
    program = reduction.program().in_memory()
    x, a, nu = reduction.reduced(start.x, start.multipliers)
    excess = program.excess(x)
    units = Units.of(program, a, excess)
    for width in WIDTHS:
        smooth = Smoothed.proximal(program, a, width * units.side / units.multiplier, width * units.side)

        def record(x: Array, excess: Array, length: float, width: float = width) -> None:
            tracer.record(program.quadratic(x) + program.cost(excess), width, length)

        steps = min(MAX_STEPS_PER_WIDTH, MAX_STEPS - len(tracer.lines))
        x, nu, excess = smooth.minimise(x, nu, excess, ACCURACY, steps, record)
        a = smooth.multipliers(excess)
        tight = (a > program.low) & (a < program.high) & (program.compliance == 0)
        if np.count_nonzero(tight) <= MAX_DENSE_UNKNOWNS:
            exact = finish(program, x, a, nu)
            if exact is not None:
                steps = len(tracer.lines)
                point, multipliers = reduction.restored(exact.x, exact.a, exact.nu)
                return Answer(point, multipliers, f"continued by {steps} steps", steps, tuple(tracer.lines))
        if len(tracer.lines) >= MAX_STEPS:
            break
    return None


def settled(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, dict[str, Array]] | None:
    """The exact solution next to a nearly exact one; None where it is not certain."""
    if not can_be_continued(problem):
        return None
    reduction = problem.remembered(RowReduction.of)
    program = reduction.program().in_memory()
    exact = finish(program, *reduction.reduced(x, multipliers))
    return None if exact is None else reduction.restored(exact.x, exact.a, exact.nu)
