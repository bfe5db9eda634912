"""What the toolkit's own linear programs share. HiGHS finds candidates; they become proofs by being checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import least_squares
from convexcls.problem import Constraint, Problem

Array = NDArray[np.float64]

#: A sum counts as zero when it is this small relative to the sum of its absolute values. Rounding leaves about 1e-16;
#: classes that are 1e-9 apart leave 1e-9. A proof has to tell these two apart; where it rests on few rows, exact
#: arithmetic does.
ZERO = 1e-14
#: A quantity counts as positive when it is at least this large, on the same scale.
POSITIVE = 1e-9
#: Systems with more unknowns than this are not refined.
LARGEST_SYSTEM = 4000
#: Linear programs with more entries than this are not tried.
LARGEST_PROGRAM = 5_000_000


def solve_linear_program(**program: Any) -> Any:
    """SciPy's HiGHS, the dual simplex method (its answers are vertices), at its tightest tolerances."""
    from scipy.optimize import OptimizeResult, linprog

    if not all(_finite(program.get(part)) for part in ("c", "A_ub", "b_ub", "A_eq", "b_eq")):
        return OptimizeResult(x=None, fun=np.nan, status=4, message="the scaled numbers are beyond doubles")
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(method="highs-ds", options=options, **program)


def _finite(part: Any) -> bool:
    if part is None:
        return True
    return bool(np.all(np.isfinite(part.data if sparse.issparse(part) else np.asarray(part, dtype=float))))


def too_large(problem: Problem) -> bool:
    """Whether a linear program over all rows would take longer than anybody waits."""
    return sum(problem.rows(block).entries for block in (*problem.constraints, *problem.terms)) > LARGEST_PROGRAM


def column_scale(problem: Problem) -> Array:
    """Powers of two that bring the largest entry of every column near one."""
    reach = np.zeros(problem.size)
    for block in (*problem.constraints, *problem.terms):
        reach = np.maximum(reach, problem.rows(block).column_max())
    return np.where(reach > 0, np.exp2(-np.round(np.log2(np.where(reach > 0, reach, 1.0)))), 1.0)


def constraint_matrix(problem: Problem, scale: Array, rows: NDArray[np.intp] | None = None) -> Any:
    """The linear constraints as one sparse matrix, its columns scaled; all of their rows, or some in rising order."""
    parts, start = [], 0
    for c in problem.constraints:
        stop = start + c.size
        own = problem.rows(c)
        if rows is not None:
            own = own[rows[(rows >= start) & (rows < stop)] - start]
        parts.append(sparse.csr_array(own.to_matrix()))
        start = stop
    return sparse.csr_array(sparse.vstack(parts) @ sparse.diags_array(scale))


def by_block(blocks: tuple[Constraint, ...], z: Array) -> dict[str, Array]:
    """Multipliers of all constraints in a row, cut up by constraint."""
    ends = np.cumsum([c.size for c in blocks])[:-1]
    return {c.name: part for c, part in zip(blocks, np.split(z, ends), strict=True)}


def refine(system: Array, target: Array, solution: Array) -> Array:
    """The nearest solution of ``system @ z = target`` to the one given, with residuals in extended precision."""
    long_system = system.astype(np.longdouble)
    for _ in range(3):
        defect = np.asarray(target - long_system @ solution.astype(np.longdouble), dtype=float)
        solution = solution + least_squares(system, defect, 1e-12)
    return solution


def largest_ratio(values: Array, sizes: Array) -> float:
    """The largest |value| / size, entries of size 0 left out."""
    ratios = np.divide(np.abs(values), sizes, out=np.zeros(values.shape), where=sizes > 0)
    return float(ratios.max(initial=0.0))
