"""From the solution of one problem to that of a similar one, such as the next C of a path.

The method of multipliers with Newton steps (Rockafellar 1976) on the problem with its slacks substituted out
(``soft_rows.py``). With multipliers a and a width sigma, minimise over x

    1/2 x'Px + q'x + sum_i max over 0 <= b_i <= cap_i of  b_i r_i - give_i/2 b_i^2 - sigma/2 (b_i - a_i)^2,  r = Rx - h,

which is smooth and piecewise quadratic: b_i = (sigma a_i + r_i)/(sigma + give_i), clipped. Then a = b, and again with
a smaller width. The clipping says which rows are at their bounds; once that is right, the solution is that of a small
linear system, which is solved and checked, so that the answer is exact to rounding or is not given at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lstsq

from convexcls.problem import Problem
from convexcls.solvers.base import Answer, Callback, Start, Tracer
from convexcls.solvers.rows.flat_point import nearly_flat
from convexcls.solvers.rows.soft_rows import SoftRows, soft_rows

Array = NDArray[np.float64]

#: The widths, in units of the right-hand sides over the multipliers; each minimum is found to a hundredth of its width.
WIDTHS = tuple(10.0 ** (-k / 2) for k in range(17))
MOST_STEPS = 300
#: Larger systems are left to sparse solvers.
LARGEST = 1500
#: What is exact to rounding: violations in units of right-hand sides, multipliers and of what was added up.
EXACT = 1e-11


def continued(start: Start, problem: Problem, callback: Callback | None = None) -> Answer | None:
    """The solution, found from that of a similar problem; None where the way is not short or not taken."""
    soft = soft_rows(problem)
    if soft is None or soft.q.size > LARGEST:
        return None
    tracer = Tracer(callback)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a way that leads nowhere ends in no answer
            return _follow(soft, *soft.reduced(start.x, start.multipliers), tracer)
    except LinAlgError:
        return None


def _follow(soft: SoftRows, x: Array, a: Array, tracer: Tracer) -> Answer | None:
    """The method of multipliers, with narrower and narrower widths until the answer is exact."""
    units = _Units.of(soft, a)
    for width in WIDTHS:
        x, a = _minimise(soft, x, a, width, units, tracer)
        exact = _on_partition(soft, x, a, units)
        if exact is not None:
            steps = len(tracer.lines)
            return Answer(*soft.restored(*exact), f"continued by {steps} steps", steps, tuple(tracer.lines))
        if len(tracer.lines) >= MOST_STEPS:
            break
    return None


def settled(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, dict[str, Array]] | None:
    """The exact solution next to a nearly exact one; None where it is not certain."""
    soft = soft_rows(problem)
    if soft is None or soft.q.size > LARGEST:
        return None
    point, a = soft.reduced(x, multipliers)
    excess, units = soft.rows @ point - soft.h, _Units.of(soft, a)
    above = excess / units.side
    at_zero, at_cap = a / units.multiplier <= -above, (soft.cap - a) / units.multiplier <= above
    a = np.where(at_zero, 0.0, np.where(at_cap, soft.cap, a))
    exact = _on_partition(soft, point, a, units)
    return None if exact is None else soft.restored(*exact)


@dataclass(frozen=True)
class _Units:
    """What counts as one: a right-hand side, a multiplier, and by column the largest entry."""

    side: float
    multiplier: float
    reach: Array

    @classmethod
    def of(cls, soft: SoftRows, a: Array) -> _Units:
        caps = soft.cap[np.isfinite(soft.cap)]
        largest = max(float(caps.max(initial=0.0)), float(a.max(initial=0.0)))
        return cls(float(np.abs(soft.h).max(initial=0.0)) or 1.0, largest or 1.0, soft.rows.column_max())


def _minimise(soft: SoftRows, x: Array, a: Array, width: float, units: _Units, tracer: Tracer) -> tuple[Array, Array]:
    """The minimum over x for fixed a and sigma, by Newton's method, and the multipliers b there."""
    sigma, enough = width * units.side / units.multiplier, max(1e-10, 1e-2 * width)
    stiffness = 1.0 / (sigma + soft.give)
    # where too few rows bend, some direction is flat: a little curvature in the units of the columns
    curvature = soft.P + 1e-10 * units.reach**2 * float(stiffness.sum())
    excess = soft.rows @ x - soft.h
    for _ in range(40):
        b = np.clip((sigma * a + excess) * stiffness, 0.0, soft.cap)
        gradient = soft.P * x + soft.q + soft.rows.T @ b
        size = np.abs(soft.P * x) + np.abs(soft.q) + units.reach * float(b.sum())
        residual = float(np.max(np.abs(gradient) / np.where(size > 0, size, 1.0)))
        if residual <= enough or len(tracer.lines) >= MOST_STEPS:
            break
        bending = np.flatnonzero((b > 0) & (b < soft.cap))
        hessian = soft.rows[bending].gram(stiffness[bending]) + np.diag(curvature)
        step = np.asarray(-np.linalg.solve(hessian, gradient), dtype=float)
        along = soft.rows @ step
        length = _line_search(soft, x, step, a, sigma, excess, along, float(gradient @ step))
        x, excess = x + length * step, excess + length * along
        tracer.record(_objective(soft, x, excess), residual, length)
    return x, np.clip((sigma * a + excess) * stiffness, 0.0, soft.cap)


def _objective(soft: SoftRows, x: Array, excess: Array) -> float:
    above = np.maximum(excess, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = np.where(
            np.isfinite(soft.cap), soft.cap * above, np.where(soft.give > 0, above**2 / (2 * soft.give), 0.0)
        )
    return float(0.5 * x @ (soft.P * x) + soft.q @ x + cost.sum())


def _line_search(
    soft: SoftRows, x: Array, step: Array, a: Array, sigma: float, excess: Array, along: Array, slope: float
) -> float:
    """Where the derivative along the step, which only grows, is nearly zero."""
    level, growth = float(step @ (soft.P * x + soft.q)), float(step @ (soft.P * step))
    stiffness = 1.0 / (sigma + soft.give)

    def derivative(t: float) -> float:
        b = np.clip((sigma * a + excess + t * along) * stiffness, 0.0, soft.cap)
        return level + t * growth + float(along @ b)

    return nearly_flat(derivative, slope)


def _on_partition(soft: SoftRows, x: Array, a: Array, units: _Units) -> tuple[Array, Array] | None:
    """The solution in which the rows at their bounds stay there and the others are tight,

        Px + R_E'a_E = -q - R_L'cap_L,     R_E x - give_E a_E = h_E,

    by the smallest correction of the given point; None where it breaks any condition by more than rounding."""
    at_cap = a >= soft.cap
    between = (a > 0) & ~at_cap
    giving, tight = np.flatnonzero(between & (soft.give > 0)), np.flatnonzero(between & (soft.give == 0))
    if soft.q.size + tight.size > LARGEST:
        return None
    fixed = np.where(at_cap, soft.cap, 0.0)
    try:
        x, found = _solved(soft, x, a, giving, tight, fixed)
    except (LinAlgError, ValueError):  # numbers that are not finite
        return None
    excess, b = soft.rows @ x - soft.h, fixed
    b[tight], b[giving] = found, excess[giving] / soft.give[giving]
    wrong = np.maximum(-b, b - soft.cap) / units.multiplier
    b = np.clip(b, 0.0, soft.cap)
    off = np.where(at_cap, -excess, excess)
    off[tight], off[giving] = np.abs(excess[tight]), 0.0
    off[soft.cap == 0] = 0.0  # a row that costs nothing may be on either side
    gradient = soft.P * x + soft.q + soft.rows.T @ b
    size = np.abs(soft.P * x) + np.abs(soft.q) + units.reach * float(b.sum())
    holds = (
        wrong.max(initial=0.0) <= EXACT
        and off.max(initial=0.0) <= EXACT * units.side
        and bool(np.all(np.abs(gradient) <= EXACT * size))
    )
    return (x, b) if holds else None


def _solved(
    soft: SoftRows, x: Array, a: Array, giving: NDArray[np.intp], tight: NDArray[np.intp], fixed: Array
) -> tuple[Array, Array]:
    """x and the multipliers of the tight rows; those of giving rows, a = (Rx - h)/give, are substituted out."""
    k, stiffness, giving_rows = soft.q.size, 1.0 / soft.give[giving], soft.rows[giving]
    curvature = giving_rows.gram(stiffness) if giving.size else np.zeros((k, k))
    edges = soft.rows[tight].to_dense()
    matrix = np.block([[np.diag(soft.P) + curvature, edges.T], [edges, np.zeros((tight.size, tight.size))]])
    pull = giving_rows.T @ (stiffness * soft.h[giving]) - soft.q - soft.rows.T @ fixed
    target = np.concatenate([pull, soft.h[tight]])
    solution = np.concatenate([x, a[tight]])
    for _ in range(2):
        solution = solution + lstsq(matrix, target - matrix @ solution, cond=1e-13, lapack_driver="gelsy")[0]
    return solution[:k], solution[k:]
