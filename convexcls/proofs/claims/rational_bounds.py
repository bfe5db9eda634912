"""True bounds on the optimum of a linear or quadratic program, in rationals, from any point and any multipliers.

With the slacks worked out by hand (``statement.py``) the program is

    minimise  1/2 z'Hz + g'z + constant + sum_i cost_i(z)   subject to   A z = b,  G z <= h,

and a sample costs c_i max(line_1, line_2) or p_i/2 max(0, line)^2. **Upper bound**: the objective at a feasible point.
The point is scaled to satisfy A z = b, or moved there by unknowns that have room; where all rows of G say "at least",
its intercept is put in the middle and it is scaled. **Lower bound**: the minimum of the Lagrangian, with multipliers
that are made dual feasible first, or what the curvature at the point shows, whichever is more
(``rational_lower_bounds.py``). The bounds hold whatever the numbers are; wrong numbers only leave them far apart.

``finer_bounds`` has them of any small problem: of a widest margin by its quadratic program, of a likelihood in balls.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from convexcls.problem import NoAnswer, Problem
from convexcls.problem.slab import Slab
from convexcls.proofs.claims.curvature import has_rounded_kernel
from convexcls.proofs.claims.farkas import Multipliers
from convexcls.proofs.claims.optimum import widest
from convexcls.proofs.claims.rational_lower_bounds import HALF, ZERO, costs, dual_bound, linearised_bound, single_ends
from convexcls.proofs.claims.statement import NoProof, Statement, state
from convexcls.proofs.enclosure.enclose import bounds_at
from convexcls.proofs.enclosure.intervals import BOUND_BITS, root_interval
from convexcls.rational.elimination import Vector, dot, solve
from convexcls.rational.numbers import MAX_RATIONAL_MATRIX_ROWS

#: Problems with more entries are left to bounds in doubles.
MAX_BOUNDED_ENTRIES = 200_000
#: A point that is this near to its bounds, relative to its size, is within them, to rounding.
NEAR_BOUND = Fraction(1, 10**6)
#: A lower and an upper bound of the minimised objective, and the objective at the point as it is.
Finer = tuple[Fraction, Fraction, Fraction]


def affordable(problem: Problem) -> bool:
    """Whether the problem is small enough for rationals."""
    if any(p.shape[0] > MAX_RATIONAL_MATRIX_ROWS for p in problem.matrices.values()):
        return False
    rows = sum(block.size for block in (*problem.terms, *problem.constraints))
    kept = sum(v.size for v in problem.variables if v.kind not in ("samples", "margins"))
    return rows * (kept + 1) <= MAX_BOUNDED_ENTRIES


def true_bounds(
    problem: Problem, point: Mapping[str, Vector], multipliers: Multipliers
) -> tuple[Fraction | None, Fraction | None, Fraction]:
    """A lower and an upper bound of the minimised objective (None: none could be shown), and the objective at the point
    as it is or, where that is further from the upper bound, times the multiple of the point that has margins large
    enough. ``NoProof`` (a ValueError) where the problem is no quadratic program."""
    statement = state(problem)
    z = [value for name in statement.kept for value in point[name]]
    near, value = _feasible(statement, z), objective_at(statement, z)
    upper = min((value if moved == z else objective_at(statement, moved) for moved in near), default=None)
    if upper is not None and (scale := _multiple(statement, z)) is not None:
        value = max(value, scale * value, key=lambda at: abs(at - upper))
    lower = [dual_bound(statement, multipliers), linearised_bound(statement, z, multipliers)]
    return max((bound for bound in lower if bound is not None), default=None), upper, value


# ---- the upper bound ------------------------------------------------------------------------------------


def objective_at(statement: Statement, z: Vector) -> Fraction:
    """The minimised objective at z, every slack as low as its lines allow."""
    total = HALF * dot([dot(row, z) for row in statement.quadratic], z) + dot(statement.linear, z) + statement.constant
    for samples in statement.samples:
        lines = [[dot(row, [*z, Fraction(1)]) for row in line.rational()] for line in samples.lines]
        for heights, c, p in zip(zip(*lines, strict=True), *costs(samples), strict=True):
            height = max(heights)
            total += c * height + HALF * p * max(height, ZERO) ** 2
    return total


def _feasible(statement: Statement, z: Vector) -> list[Vector]:
    """Points that satisfy the constraints, near z; none where there is no simple way to one."""
    equations = [row for block in statement.equalities for row in block.rational()]
    bounds = [row for block in statement.inequalities for row in block.rational()]
    if _multiple(statement, z) is not None:
        middle = _centred(statement, bounds, z)
        scale = _multiple(statement, middle)
        return [] if scale is None else [[scale * value for value in middle]]
    inside, reach = _within(bounds, z)
    if any(abs(v - u) > NEAR_BOUND * max(map(abs, z)) for u, v in zip(z, inside, strict=True)):
        return []  # the point itself is not one of the box, to rounding
    tried = [_scaled_onto(equations, z), _onto(equations, inside, reach)]
    return [near for near in tried if near is not None and all(dot(row, [*near, Fraction(1)]) <= 0 for row in bounds)]


def _centred(statement: Statement, bounds: list[Vector], z: Vector) -> Vector:
    """z with an unknown that costs nothing, such as an intercept, in the middle between the rows that want it larger
    and those that want it smaller: -R z / s is of all rows R z + s <= 0 least at one on either side."""
    if statement.samples:
        return z
    out = list(z)
    for j in range(statement.size):
        pulls = [-row[j] / row[-1] for row in bounds]
        costs_nothing = not any(statement.quadratic[j]) and not statement.linear[j]
        if not costs_nothing or max(pulls) <= 0 or set(pulls) != {max(pulls), -max(pulls)}:
            continue
        reached = [(dot(row[:-1], out) / -row[-1], pull > 0) for row, pull in zip(bounds, pulls, strict=True)]
        larger, smaller = (min(value for value, wanted in reached if wanted is more) for more in (True, False))
        out[j] += (smaller - larger) / (2 * max(pulls))
    return out


def _multiple(statement: Statement, z: Vector) -> Fraction | None:
    """The multiple of z that just satisfies the constraints, where all of them are rows that say "at least"."""
    bounds = [row for block in statement.inequalities for row in block.rational()]
    reached = [-dot(row[:-1], z) for row in bounds]
    if statement.equalities or not bounds or not all(r[-1] > 0 < v for r, v in zip(bounds, reached, strict=True)):
        return None
    return max(row[-1] / value for row, value in zip(bounds, reached, strict=True))


def _scaled_onto(equations: list[Vector], z: Vector) -> Vector | None:
    """The multiple of z that satisfies the equations; None where there is none. It moves no row beyond what rounding
    makes of its own value, however large the features are."""
    scale = next((-row[-1] / reach for row in equations if row[-1] and (reach := dot(row[:-1], z))), Fraction(1))
    scaled = [scale * value for value in z]
    return None if any(dot(row, [*scaled, Fraction(1)]) for row in equations) else scaled


def _onto(equations: list[Vector], z: Vector, reach: Vector) -> Vector | None:
    """The point nearest to z that satisfies the equations, distances being measured in the room that unknowns have."""
    off = [dot(row, [*z, Fraction(1)]) for row in equations]
    if not any(off):
        return z
    sides = [row[:-1] for row in equations]
    weighed = [[value * width for value, width in zip(row, reach, strict=True)] for row in sides]
    shift = solve([[dot(a, b) for b in weighed] for a in sides], off)
    if shift is None:
        return None
    return [value - dot(column, shift) for value, column in zip(z, zip(*weighed, strict=True), strict=True)]


def _within(bounds: list[Vector], z: Vector) -> tuple[Vector, Vector]:
    """The point, moved within the bounds of single unknowns, and how far each may move either way: 1 without any."""
    inside, reach = [], []
    for v, *ends in zip(z, *single_ends(bounds, len(z)), strict=True):
        low, high = ends
        raised = v if low is None else max(v, low)
        inside.append(raised if high is None else min(raised, high))
        reach.append(min((abs(inside[-1] - end) for end in ends if end is not None), default=Fraction(1)))
    return inside, reach


def finer_bounds(problem: Problem, point: Mapping[str, list[Fraction]], multipliers: Multipliers) -> Finer | None:
    """The bounds of a small problem; None where there are none, or where it is not small."""
    parts = widest(problem)
    if not affordable(problem) or has_rounded_kernel(problem) or (problem.norm_bounds and parts is None):
        return None
    try:
        if parts is not None:
            return _widest_bounds(parts, point, multipliers)
        if problem.is_quadratic_program:
            low, high, value = true_bounds(problem, point, multipliers)
            return None if low is None or high is None else (low, high, value)
        if problem.is_constrained:
            return None
        x = np.array([value.numerator / value.denominator for v in problem.variables for value in point[v.name]])
        found = bounds_at(problem, x)
    except (NoProof, NoAnswer, OverflowError):
        return None
    return None if found is None else (*found, found[1])


def bounds_reached(
    problem: Problem, point: Mapping[str, list[Fraction]], multipliers: Multipliers, tol: Fraction
) -> tuple[Fraction, Fraction] | None:
    """The bounds, where they and the objective at the point are within the tolerance of each other; None elsewhere."""
    found = finer_bounds(problem, point, multipliers)
    if found is None:
        return None
    low, high, value = found
    allowed = tol * max(abs(low), abs(high), Fraction(problem.unit))
    return (low, high) if high - low <= allowed and abs(value - high) <= allowed else None


def _widest_bounds(parts: Slab, point: Mapping[str, list[Fraction]], multipliers: Multipliers) -> Finer | None:
    """Of the widest margin t, by the quadratic program whose minimum is p = 1 / (2 t^2), at the t-th part of the point:
    t lies between the roots of 1 / 2p for its bounds. What is minimised is -t."""
    t = point[parts.distance][0]
    if t <= 0:
        return None
    near = {v.name: [value / t for value in point[v.name]] for v in parts.program.variables}
    shares = {parts.block.name: {i: z / t**2 for i, z in multipliers.get(parts.block.name, {}).items()}}
    low, high, value = true_bounds(parts.program, near, shares)
    if low is None or high is None or not 0 < low <= high:
        return None
    own = min(t, 1 / (2 * value * t))  # less where the margins of the point fall short of t
    return -root_interval(1 / (2 * low), BOUND_BITS)[1], -root_interval(1 / (2 * high), BOUND_BITS)[0], -own
