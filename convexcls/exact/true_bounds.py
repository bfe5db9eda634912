"""True bounds on the optimum of a linear or quadratic program, in rationals, from any point and any multipliers.

With the slacks worked out by hand (``exact/statement.py``) the program is

    minimise  1/2 z'Hz + g'z + constant + sum_i cost_i(z)   subject to   A z = b,  G z <= h,

and a sample costs c_i max(line_1, line_2) or p_i/2 max(0, line)^2. **Upper bound**: the objective at a feasible point.
The point is moved onto A z = b, by unknowns that have room, and scaled where all rows of G say "at least". **Lower
bound**: the minimum of the Lagrangian, with multipliers that are made dual feasible first (``dual_bound.py``). Both
bounds hold whatever the numbers are; wrong numbers only leave them far apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from convexcls.exact.dual_bound import HALF, ZERO, Vector, costs, dot, dual_bound, rows
from convexcls.exact.statement import Statement, state
from convexcls.problem import Problem
from convexcls.rational import solve
from convexcls.rows import Rows

#: Problems with more entries are left to bounds in doubles.
MOST_ENTRIES = 200_000
#: A larger matrix of the objective (of a kernel) is not looked into.
MOST_KERNEL_ROWS = 60


def affordable(problem: Problem) -> bool:
    """Whether the problem is small enough for rationals."""
    if any(isinstance(p, Rows) and p.shape[0] > MOST_KERNEL_ROWS for p in problem.quadratic.values()):
        return False
    rows = sum(block.size for block in (*problem.terms, *problem.constraints))
    kept = sum(v.size for v in problem.variables if v.kind not in ("samples", "margins"))
    return rows * (kept + 1) <= MOST_ENTRIES


def true_bounds(
    problem: Problem,
    point: Mapping[str, Vector],
    multipliers: Mapping[str, Mapping[int, Fraction]],
) -> tuple[Fraction | None, Fraction | None, Fraction]:
    """A lower and an upper bound of the minimised objective (None: none could be shown), and the objective at the point
    as it is. ``NoProof`` (a ValueError) where the problem is no quadratic program."""
    statement = state(problem)
    z = [value for name in statement.kept for value in point[name]]
    moved = _feasible(statement, z)
    value = _objective(statement, z)
    upper = None if moved is None else value if moved == z else _objective(statement, moved)
    return dual_bound(statement, multipliers), upper, value


# ---- the upper bound ------------------------------------------------------------------------------------


def _objective(statement: Statement, z: Vector) -> Fraction:
    total = HALF * dot([dot(row, z) for row in statement.quadratic], z) + dot(statement.linear, z) + statement.constant
    for samples in statement.samples:
        lines = [[dot(row, [*z, Fraction(1)]) for row in rows(line)] for line in samples.lines]
        for heights, c, p in zip(zip(*lines, strict=True), *costs(samples), strict=True):
            height = max(heights)
            total += c * height + HALF * p * max(height, ZERO) ** 2
    return total


def _feasible(statement: Statement, z: Vector) -> Vector | None:
    """A point that satisfies the constraints, near z; None where there is no simple way to one."""
    equations = [row for block in statement.equalities for row in rows(block)]
    bounds = [row for block in statement.inequalities for row in rows(block)]
    if equations:
        moved = _onto(equations, *_within(bounds, z))
        if moved is None:
            return None
        z = moved
    reached = [-dot(row[:-1], z) for row in bounds]
    if not equations and bounds and all(row[-1] > 0 < value for row, value in zip(bounds, reached, strict=True)):
        scale = max(row[-1] / value for row, value in zip(bounds, reached, strict=True))
        return [scale * value for value in z]
    return z if all(row[-1] <= value for row, value in zip(bounds, reached, strict=True)) else None


def _onto(equations: list[Vector], z: Vector, room: Vector) -> Vector | None:
    """The point nearest to z that satisfies the equations, distances being measured in the room that unknowns have."""
    off = [dot(row, [*z, Fraction(1)]) for row in equations]
    if not any(off):
        return z
    sides = [row[:-1] for row in equations]
    weighed = [[value * width for value, width in zip(row, room, strict=True)] for row in sides]
    shift = solve([[dot(a, b) for b in weighed] for a in sides], off)
    if shift is None:
        return None
    return [value - dot(column, shift) for value, column in zip(z, zip(*weighed, strict=True), strict=True)]


def _within(bounds: list[Vector], z: Vector) -> tuple[Vector, Vector]:
    """The point, moved within the bounds of single unknowns, and how far each may move either way: 1 without any."""
    low: dict[int, Fraction] = {}
    high: dict[int, Fraction] = {}
    for row in bounds:
        places = [j for j, value in enumerate(row[:-1]) if value]
        if len(places) == 1:
            (j,) = places
            end = -row[-1] / row[j]
            if row[j] > 0:
                high[j] = min(end, high.get(j, end))
            else:
                low[j] = max(end, low.get(j, end))
    inside = [min(max(v, low.get(j, v)), high.get(j, v)) for j, v in enumerate(z)]
    room = [
        min((abs(v - side[j]) for side in (low, high) if j in side), default=Fraction(1)) for j, v in enumerate(inside)
    ]
    return inside, room
