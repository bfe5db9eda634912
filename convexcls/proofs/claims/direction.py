"""The claim that the minimum is not attained, by a direction d along which no constraint is ever violated, nothing
curves, and the objective falls for ever: at a constant rate, or because no loss rises and one keeps falling.

``check`` decides a claim in rationals where that is possible, ``check_direction`` one in doubles: to rounding and, of
small problems, whether a direction near it holds exactly. ``find_direction`` looks for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from convexcls.arrays import Array, Indices, Mask, least_squares
from convexcls.problem import Constraint, Problem, Term
from convexcls.proofs.claims.curvature import (
    curvature_rows,
    exact_matrices,
    too_many_entries,
    vanishes_as_given,
    vanishes_exactly,
)
from convexcls.proofs.claims.linear_program import (
    MAX_EXACT_ENTRIES,
    POSITIVE,
    ROUNDED_ZERO,
    RecessionProgram,
    column_scale,
    largest_ratio,
    solve_linear_program,
    too_large,
)
from convexcls.proofs.enclosure.moments import falls_for_ever, has_few_moments, moments
from convexcls.rational.doubles import as_fractions
from convexcls.rational.elimination import dot, null_vector_near
from convexcls.rational.numbers import to_double
from convexcls.rows import Rows
from convexcls.rows.signs import exact_signs

#: More products than this are not worked out without rounding: then there is no proof.
MAX_EXACT_PRODUCTS = 2_000_000
#: Larger matrices of the objective are not worked out in rationals.
MAX_EXACT_MATRIX_ENTRIES = 40_000
#: A direction in rationals, by variable.
Rates = Mapping[str, Sequence[Fraction]]


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction along which every constraint stays satisfied and the objective falls for ever: at the rate
    ``slope``, or, where that is 0, towards an infimum that the losses of ``rows`` never reach. ``exactly`` is the
    direction in rationals, along which all of this holds without rounding, where it is known."""

    x: Array
    slope: float
    rows: Indices
    residual: float
    exactly: tuple[Fraction, ...] | None = None


# ---- in rationals ------------------------------------------------------------------------------------------------


def check(problem: Problem, direction: Rates) -> str:
    """Why the direction does not prove that there is no minimum, in rationals where possible; empty where it does."""
    if not problem.fits(direction):
        return "the direction does not give one number for every unknown"
    if has_few_moments(problem):
        falls = falls_for_ever(problem.remembered(moments), direction)
    elif in_rationals(problem) and all(t.is_half_square or t.loss.slopes[1] == 0 for t in problem.terms):
        return check_in_rationals(problem, direction)
    else:
        d = np.array([to_double(u) for v in problem.variables for u in direction[v.name]])
        falls = check_direction(problem, d) is not None
    return "" if falls else "the objective does not fall along the direction"


def check_in_rationals(problem: Problem, direction: Rates) -> str:
    """The same without rounding or not at all."""
    if not problem.fits(direction):
        return "the direction does not give one number for every unknown"
    if not in_rationals(problem):
        return "a direction is checked exactly only where there is no norm bound and no large matrix of the objective"
    return falls_exactly(problem, direction)


def falls_exactly(problem: Problem, direction: Rates) -> str:
    """Why the objective does not fall for ever along a direction of a problem without norm bounds, in rationals however
    large its matrices are; empty where it does."""
    d = [value for v in problem.variables for value in direction[v.name]]
    for v in problem.quadratic:
        p = problem.diagonals.get(v)
        if p is None:
            curved = any(dot(row, d) for row in exact_matrices(problem)[v])
        else:
            curved = any(curve and value for curve, value in zip(p.tolist(), direction[v], strict=True))
        if curved:
            return f"the objective curves along {v!r}"
    for c in problem.constraints:
        signs = exact_signs(problem.rows(c), d)
        if np.any(signs > 0) or (c.relation == "==" and np.any(signs)):
            return f"the direction leaves the constraint {c.name!r} at row {int(np.flatnonzero(signs)[0])}"
    rate = sum((q * value for q, value in zip(problem.rational_q, d, strict=True)), Fraction(0))
    falling = False
    for t in problem.terms:
        moves = _keeps_falling(problem, t, d)
        if moves is None:
            return f"a loss of {t.name!r} rises along the direction"
        falling = falling or moves
    if rate < 0 or (rate == 0 and falling):
        return ""
    return "the objective does not fall along the direction"


def in_rationals(problem: Problem) -> bool:
    """Whether a direction of the problem can be checked in rationals."""
    return not problem.norm_bounds and (not problem.matrices or problem.size**2 <= MAX_EXACT_MATRIX_ENTRIES)


def _keeps_falling(problem: Problem, term: Term, d: Sequence[Fraction]) -> bool | None:
    """Whether a loss keeps falling along the direction; None where one rises, or may."""
    signs = exact_signs(problem.rows(term)[term.counted], d)
    low, high = term.loss.slopes
    if (high > 0 and np.any(signs > 0)) or (low < 0 and np.any(signs < 0)):
        return None
    return bool(np.any(signs)) and (low, high) != (0.0, 0.0)


def nearby_exact(problem: Problem, direction: Array) -> dict[str, list[Fraction]]:
    """A direction along which what should not move stays exactly, near the one given; the one given where none was
    found."""
    given = [Fraction(value) for value in direction.tolist()]
    exact = None
    if problem.size**2 <= MAX_EXACT_MATRIX_ENTRIES:
        still = [row for matrix in exact_matrices(problem).values() for row in matrix]
        for block in (*problem.terms, *problem.constraints):
            rows = problem.rows(block)
            moved, size = _moved(rows, direction)
            flat = np.flatnonzero(np.abs(moved) <= POSITIVE * size)
            if flat.size * problem.size > 100 * MAX_EXACT_MATRIX_ENTRIES:
                still = []
                break
            still += rows.rational(flat)
        exact = null_vector_near(still, given)
    return {name: (exact or given)[where] for name, where in problem.layout.items()}


# ---- in doubles --------------------------------------------------------------------------------------------------


def check_direction(problem: Problem, direction: Array) -> Direction | None:
    """The direction as a proof that the minimum is not attained, or None where it is none."""
    d = np.asarray(direction, dtype=float)
    if d.shape != (problem.size,) or not np.all(np.isfinite(d)):
        return None
    residual = _violation(problem, d)
    if residual > ROUNDED_ZERO:
        return None
    constant = problem.is_constant_along(d)
    if not constant and not (_holds_exactly(problem, d) and vanishes_as_given(problem, d)):
        return None
    slope, size = float(problem.q @ d), float(np.abs(problem.q) @ np.abs(d))
    approaching = []
    for t in problem.terms:
        rate, moving = _rates(problem, t, d)
        if not np.all(np.isfinite(rate)):
            return None
        slope += float(t.weights @ rate)
        size += float(t.weights @ np.abs(rate))
        approaching.append(np.flatnonzero(moving))
    rows = np.concatenate(approaching) if approaching else np.empty(0, dtype=np.intp)
    if slope < -POSITIVE * size and not constant:
        return Direction(d, slope, rows, residual)
    if (constant or abs(slope) <= ROUNDED_ZERO * size) and rows.size > 0:
        return Direction(d, 0.0, rows, residual)
    return None


def _violation(problem: Problem, d: Array) -> float:
    """How far the direction is from keeping all constraints and having no curvature, relative to rounding."""
    parts = [_moved(rows, d) for rows in curvature_rows(problem)]
    for v, p in problem.diagonals.items():
        bent = np.abs(p * d[problem.layout[v]])
        parts.append((bent, bent))
    for c in problem.constraints:
        moved, size = _moved(problem.rows(c), d)
        parts.append((np.maximum(moved, 0.0) if c.relation == "<=" else moved, size))
    for b in problem.norm_bounds:
        moved, size = _moved(problem.bound_rows(b), d)
        parts += [_moved(problem.rows(b), d), (np.minimum(moved, 0.0), size)]
    return max((largest_ratio(values, sizes) for values, sizes in parts), default=0.0)


def _moved(rows: Rows, d: Array) -> tuple[Array, Array]:
    """How far rows move along d, and the sum of absolute values that this is rounded by."""
    return rows @ d, abs(rows) @ np.abs(d)


def _rates(problem: Problem, t: Term, d: Array) -> tuple[Array, Mask]:
    """The rate at which each loss of a term grows in the end along d, and which losses keep falling towards an
    infimum at rate 0."""
    rows = problem.rows(t)
    moved, reach = _moved(rows, d)
    moved = np.where((np.abs(moved) <= ROUNDED_ZERO * reach) | (t.row_weights == 0), 0.0, moved)
    clearly = np.where(np.abs(moved) > POSITIVE * reach, moved, 0.0)
    return t.loss.recession(moved), t.loss.falling(clearly)


def _holds_exactly(problem: Problem, direction: Array) -> bool:
    """Whether this direction, or for small problems one near it, leaves every row that should not move exactly where it
    is, or moves it the right way. Rows that clearly move are beyond rounding in any case."""
    if problem.size**2 > MAX_EXACT_ENTRIES:
        return vanishes_exactly(problem, direction) and _right_way_exactly(problem, direction)
    still = [np.zeros((0, problem.size)), *(rows.to_dense() for rows in curvature_rows(problem))]
    for block in (*problem.terms, *problem.constraints):
        rows: Rows = problem.rows(block)
        if isinstance(block, Term):
            rows = rows[block.counted]
        moved, size = _moved(rows, direction)
        flat = np.flatnonzero(np.abs(moved) <= POSITIVE * size)
        if flat.size * problem.size > 100 * MAX_EXACT_ENTRIES:
            return vanishes_exactly(problem, direction) and _right_way_exactly(problem, direction)
        still.append(rows[flat].to_dense())
    every = as_fractions(np.unique(np.vstack(still), axis=0))
    nearby = null_vector_near(every, [Fraction(value) for value in direction.tolist()])
    if nearby is None:
        return False
    away = np.array([float(a) for a in nearby]) - direction
    return bool(np.all(np.abs(away) <= 1e-7 * np.abs(direction).max()))


def _right_way_exactly(problem: Problem, direction: Array) -> bool:
    """Whether every row that hardly moves stays or moves the right way, its product worked out without rounding."""
    for block in (*problem.terms, *problem.constraints):
        rows: Rows = problem.rows(block)
        if isinstance(block, Term):
            rows = rows[block.counted]
            low, high = block.loss.slopes
            rises, falls = high > 0, low < 0
        else:
            assert isinstance(block, Constraint)
            rises, falls = True, block.relation == "=="
        moved, size = _moved(rows, direction)
        hardly = np.flatnonzero(np.abs(moved) < POSITIVE * size)
        used = np.flatnonzero(direction)
        if hardly.size * used.size > MAX_EXACT_PRODUCTS:
            return False
        signs = exact_signs(rows[hardly].select_columns(used), [Fraction(v) for v in direction[used].tolist()])
        if (rises and np.any(signs > 0)) or (falls and np.any(signs < 0)):
            return False
    return True


# ---- by a linear program -----------------------------------------------------------------------------------------


def find_direction(problem: Problem) -> Direction | None:
    """A direction that proves the minimum unattained, or None. First one along which the objective falls at a
    constant rate, then one along which it only approaches its infimum."""
    for candidate in problem.candidate_directions():  # a model may know where to look
        if (proved := check_direction(problem, candidate)) is not None:
            return proved
    if too_large(problem) or too_many_entries(problem):
        return None
    scale = column_scale(problem)
    for asymptotic in (False, True):
        program = RecessionProgram(problem, scale, asymptotic).build()
        if program is None:
            continue
        found = solve_linear_program(**program)
        if found.x is None or not found.fun < -POSITIVE:
            continue
        direction = _flattened(problem, np.asarray(found.x)[: problem.size] * scale)
        large = np.abs(direction) > POSITIVE * np.abs(direction).max()
        for way in (direction, np.where(large, direction, 0.0)):  # the simplex method leaves dust
            if (proved := check_direction(problem, way)) is not None:
                return proved
    return None


def _flattened(problem: Problem, direction: Array) -> Array:
    """The direction with what should be exactly zero along it brought down to rounding."""
    if problem.size > 2000:
        return direction
    flat = [np.zeros((0, problem.size))]
    curved = curvature_rows(problem) if problem.size**2 <= MAX_EXACT_ENTRIES else []
    for rows in (*curved, *map(problem.rows, (*problem.terms, *problem.constraints))):
        moved, size = _moved(rows, direction)
        still = np.flatnonzero(np.abs(moved) <= 1e-7 * size)
        if 0 < still.size <= 20000:
            flat.append(rows[still].to_dense())
    system = np.vstack(flat)
    for _ in range(2):
        direction = direction - least_squares(system, system @ direction, 1e-12)
    return direction
