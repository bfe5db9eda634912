"""An interior-point method for many rows and few unknowns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Solver, Start, Tracer, refuse_unless_quadratic
from convexcls.solvers.rows.continuation import continued
from convexcls.solvers.rows.interior_point_run import NoSolution, RowSolution, Run, solve_whole
from convexcls.solvers.rows.reduction import RowReduction
from convexcls.solvers.rows.shrinking import can_be_sampled, solve_on_few_rows
from convexcls.solvers.rows.unknowns import Unknowns

#: More unknowns (besides slacks) make the dense systems of every step too large.
MAX_DENSE_UNKNOWNS = 2500


@dataclass(frozen=True)
class InteriorPointSolver(Solver):
    """Linear and quadratic programs in which the unknowns are few and the rows many:

        minimise  1/2 x'Px + q'x + sum_i cost_i(R_i x - h_i)    subject to  Ax = b,
        cost_i(r) = max over low_i <= a <= high_i of  a r - compliance_i/2 a^2

    Slacks are substituted out by hand (``reduction.py``). What is left is solved by Mehrotra's predictor-corrector
    method with Gondzio's corrections: ``interior_point_run.py`` is one run of it, ``interior_point_step.py`` the step,
    with one weighted Gram matrix of the rows an iteration, n d^2. Where the rows are many, it runs on those that are
    near their kink, the others being fixed on their side, first for a sample of the rows, then for all
    (``shrinking.py``). At the end the solution on the partition it has found is worked out to rounding (``finish.py``).
    ``shrink=False`` takes all rows at once.
    """

    name: ClassVar[str] = "interior-point"
    accepts: ClassVar[str] = "linear and quadratic programs with inequalities and few unknowns besides slacks"
    promise: ClassVar[float] = 1e-9
    by_passes: ClassVar[bool] = True
    warm: ClassVar[bool] = True

    max_iter: int = 100
    shrink: bool = True
    polish: bool = True

    def refuses(self, problem: Problem) -> str:
        if reason := refuse_unless_quadratic(problem):
            return reason
        if not any(c.relation == "<=" for c in problem.constraints):
            return "it follows the inside of inequalities, and the problem has none"
        reduction = problem.remembered(RowReduction.of)
        if not reduction.width:
            return "it has no unknowns besides slacks"
        if reduction.width + reduction.height > MAX_DENSE_UNKNOWNS:
            return (
                f"it takes up to {MAX_DENSE_UNKNOWNS} unknowns and equations besides slacks, and the problem has "
                f"{reduction.width + reduction.height}"
            )
        return ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        return self._solve(None, problem, callback)

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        program = problem.remembered(RowReduction.of).program()
        if self.shrink and can_be_sampled(program) and not np.all(program.compliance > 0):
            return self._solve(start, problem, callback)  # few of many rows are quicker than steps over all of them
        return continued(start, problem, callback) or self._solve(start, problem, callback)

    def _solve(self, start: Start | None, problem: Problem, callback: Callback | None) -> Answer:
        reduction, tracer = problem.remembered(RowReduction.of), Tracer(callback)
        program = reduction.program()
        if program.may_be_copied:
            program = program.in_memory()
        unknowns = Unknowns.of(program)
        run = Run(tracer, self.max_iter, self.polish, reduction.restored).in_unknowns(unknowns)
        x = None if start is None else unknowns.z_of(reduction.reduced(start.x, start.multipliers)[0])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            try:
                found = (
                    solve_on_few_rows(unknowns.program, x, run)
                    if self.shrink
                    else solve_whole(unknowns.program, x, run)
                )
            except NoSolution as none:
                found = none.found(unknowns.program.h.size)
        return _answer(reduction, unknowns, found, tracer)


def _answer(reduction: RowReduction, unknowns: Unknowns, found: RowSolution, tracer: Tracer) -> Answer:
    """What came out, in the unknowns of the problem, with its slacks and multipliers."""
    lines = tuple(tracer.lines)
    if found.x is not None:
        point, multipliers = reduction.restored(unknowns.x_of(found.x), found.a, found.nu)
        return Answer(point, multipliers, found.message, len(lines), lines)
    farkas = None if found.farkas is None else reduction.restored_farkas(*found.farkas)
    direction = None if found.direction is None else reduction.restored_direction(unknowns.x_of(found.direction))
    return Answer(None, {}, found.message, len(lines), lines, farkas, direction)
