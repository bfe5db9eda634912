"""Proofs that the minimum is not attained: directions along which the objective falls for ever."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import least_squares
from convexcls.problem import Constraint, Problem, Term
from convexcls.proofs.certificate import exact
from convexcls.proofs.certificate.curvature import curvature_rows, too_many_entries, vanishes_as_given, vanishes_exactly
from convexcls.proofs.certificate.linear_program import (
    POSITIVE,
    ZERO,
    column_scale,
    largest_ratio,
    solve_linear_program,
    too_large,
)
from convexcls.rows import Rows

Array = NDArray[np.float64]


#: More products than this are not worked out without rounding: then there is no proof.
MOST_EXACT_PRODUCTS = 2_000_000


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction along which every constraint stays satisfied and the objective falls for ever: at the rate
    ``slope``, or, where that is 0, towards an infimum that the losses of ``rows`` never reach. ``exactly`` is the
    direction in rationals, along which all of this holds without rounding, where it is known."""

    x: Array
    slope: float
    rows: NDArray[np.intp]
    residual: float
    exactly: tuple[Fraction, ...] | None = None


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
        program = _RecessionProgram(problem, scale, asymptotic).build()
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


@dataclass
class _RecessionProgram:
    """The linear program for a direction d, with one more variable for each row of a loss: its rate along d or,
    in the asymptotic case, its progress towards the infimum (capped at one, to be maximised)."""

    problem: Problem
    scale: Array
    asymptotic: bool
    upper: list[Any] = field(default_factory=list)
    equal: list[Any] = field(default_factory=list)

    def build(self) -> dict[str, Any] | None:
        problem = self.problem
        self.width = problem.size + sum(t.size for t in problem.terms)
        reach = np.inf if self.asymptotic else 1.0
        self.low, self.high = np.full(self.width, -reach), np.full(self.width, reach)
        self.cost = np.zeros(self.width)
        start = problem.size
        for t in problem.terms:
            self._add_term(t, slice(start, start + t.size))
            start += t.size
        if self.asymptotic:
            if not np.any(self.cost):
                return None
            self.equal.append(self._wide(sparse.csr_array((problem.q * self.scale)[None, :])))
        else:
            self.cost[: problem.size] = problem.q * self.scale
        self._add_constraints()
        out: dict[str, Any] = {"c": self.cost, "bounds": np.column_stack([self.low, self.high])}
        for key, blocks in (("ub", self.upper), ("eq", self.equal)):
            if blocks:
                out[f"A_{key}"] = sparse.vstack(blocks, format="csr")
                out[f"b_{key}"] = np.zeros(out[f"A_{key}"].shape[0])
        return out

    def _add_term(self, t: Term, where: slice) -> None:
        counts = sparse.diags_array((t.row_weights > 0).astype(float))  # a sample without weight has no say
        moved = counts @ sparse.csr_array(self.problem.rows(t).to_matrix()) @ sparse.diags_array(self.scale)
        moved = self._wide(moved)
        low, high = t.loss.slopes
        rows, groups = np.arange(t.size), t.size // t.loss.width
        column = rows if self.asymptotic else rows // t.loss.width  # progress by row, a rate by loss
        own = sparse.csr_array((np.ones(t.size), (rows, where.start + column)), shape=moved.shape)
        if np.isinf(low) and np.isinf(high):  # grows either way: must not move
            self.equal.append(moved)
            self.low[where] = self.high[where] = 0.0
        elif self.asymptotic:  # progress at most how far the argument moves the way the loss falls
            self.upper.append(own - moved if high == 0 else own + moved)
            self.low[where], self.high[where] = 0.0, 1.0
            self.cost[where] = -(t.row_weights > 0).astype(float)
        else:  # the rate is at least low and high times the movement
            self.low[where] = self.high[where] = 0.0
            rates = slice(where.start, where.start + groups)
            self.low[rates], self.high[rates] = -np.inf, np.inf
            self.cost[rates] = t.weights
            for slope in (low, high):
                self.upper.append(moved * np.sign(slope) if np.isinf(slope) else moved * slope - own)

    def _add_constraints(self) -> None:
        problem = self.problem
        for v, p in problem.P.items():
            self.equal.append(self._wide(p.to_matrix(), problem.layout[v].start))
        for c in problem.constraints:
            rows = self._wide(sparse.csr_array(problem.rows(c).to_matrix()) @ sparse.diags_array(self.scale))
            (self.equal if c.relation == "==" else self.upper).append(rows)
        for b in problem.norm_bounds:
            self.equal.append(self._wide(problem.rows(b).to_matrix()))
            self.upper.append(self._wide(-problem.bound_rows(b).to_matrix()))

    def _wide(self, rows: Any, start: int = 0) -> Any:
        coo = sparse.coo_array(rows)
        return sparse.csr_array((coo.data, (coo.coords[0], coo.coords[1] + start)), shape=(coo.shape[0], self.width))


def _flattened(problem: Problem, direction: Array) -> Array:
    """The direction with what should be exactly zero along it brought down to rounding."""
    if problem.size > 2000:
        return direction
    flat = [np.zeros((0, problem.size))]
    curved = curvature_rows(problem) if problem.size**2 <= exact.LARGEST else []
    for rows in (*curved, *map(problem.rows, (*problem.terms, *problem.constraints))):
        moved, size = _moved(rows, direction)
        still = np.flatnonzero(np.abs(moved) <= 1e-7 * size)
        if 0 < still.size <= 20000:
            flat.append(rows[still].to_dense())
    system = np.vstack(flat)
    for _ in range(2):
        direction = direction - least_squares(system, system @ direction, 1e-12)
    return direction


def _holds_exactly(problem: Problem, direction: Array) -> bool:
    """Whether this direction, or for small problems one near it, leaves every row that should not move exactly where it
    is, or moves it the right way. Rows that clearly move are beyond rounding in any case."""
    if problem.size**2 > exact.LARGEST:
        return vanishes_exactly(problem, direction) and _right_way_exactly(problem, direction)
    still = [np.zeros((0, problem.size)), *(rows.to_dense() for rows in curvature_rows(problem))]
    for block in (*problem.terms, *problem.constraints):
        rows: Rows = problem.rows(block)
        if isinstance(block, Term):
            rows = rows[block.counted]
        moved, size = _moved(rows, direction)
        flat = np.flatnonzero(np.abs(moved) <= POSITIVE * size)
        if flat.size * problem.size > 100 * exact.LARGEST:
            return vanishes_exactly(problem, direction) and _right_way_exactly(problem, direction)
        still.append(rows[flat].to_dense())
    nearby = exact.project(np.unique(np.vstack(still), axis=0), direction)
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
            up, down = high > 0, low < 0
        else:
            assert isinstance(block, Constraint)
            up, down = True, block.relation == "=="
        moved, size = _moved(rows, direction)
        hardly = np.flatnonzero(np.abs(moved) < POSITIVE * size)
        if hardly.size * problem.size > MOST_EXACT_PRODUCTS:
            return False
        exactly = exact.dots(rows[hardly].to_dense(), direction)
        if (up and np.any(exactly > 0)) or (down and np.any(exactly < 0)):
            return False
    return True


def check_direction(problem: Problem, direction: Array) -> Direction | None:
    """The direction as a proof that the minimum is not attained, or None where it is none."""
    d = np.asarray(direction, dtype=float)
    if d.shape != (problem.size,) or not np.all(np.isfinite(d)):
        return None
    residual = _violation(problem, d)
    if residual > ZERO or not _holds_exactly(problem, d) or not vanishes_as_given(problem, d):
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
    if slope < -POSITIVE * size:
        return Direction(d, slope, rows, residual)
    if abs(slope) <= ZERO * size and rows.size > 0:
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


def _rates(problem: Problem, t: Term, d: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The rate at which each loss of a term grows in the end along d, and which losses keep falling towards an
    infimum at rate 0."""
    rows = problem.rows(t)
    moved, reach = _moved(rows, d)
    moved = np.where((np.abs(moved) <= ZERO * reach) | (t.row_weights == 0), 0.0, moved)
    clearly = np.where(np.abs(moved) > POSITIVE * reach, moved, 0.0)
    return t.loss.recession(moved), t.loss.falling(clearly)
