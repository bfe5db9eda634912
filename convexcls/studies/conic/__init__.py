"""The boundary of a classifier on a quadratic basis in the plane: a conic that can be read off."""

from __future__ import annotations

import numpy as np

from convexcls.basis import exponents_of
from convexcls.problem import NoAnswer
from convexcls.solution import Solution
from convexcls.studies.conic.form import Array, Conic, Point, pair

__all__ = ["Conic", "conic"]


def conic(solution: Solution, tol: float = 1e-8) -> Conic:
    """The boundary f(x) = 0 of a solution on two features, plain or by a basis of degree two.

    >>> import convexcls as cc
    >>> X, y = [[1, 0], [-1, 0], [0, 1], [0, -1], [3, 0], [-3, 0], [0, 3], [0, -3]], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> print(cc.conic(cc.HardMarginSVM(cc.Quadratic()(X), y).solve()))
    a circle around (0, 0) with radius 2.236
    """
    data = solution.data
    inputs = data.d if data.expanded is None else len(data.expanded.inputs)
    powers = exponents_of(data.basis, inputs) if inputs == 2 else None
    if powers is None or max(map(sum, powers)) > 2:
        basis = "" if data.basis is None else f" by {data.basis!r}"
        raise NoAnswer(f"a conic needs two features and a basis of degree two; this has {inputs}{basis}")
    quadratic = solution.problem.quadratic_from(solution.values) if data.basis is None else None
    if quadratic is not None:
        A, g, k = quadratic
        around, units = _frame(np.asarray(data.samples.matrix))
        a, b, c, d, e = (float(v) for v in (A[0, 0], 2 * A[0, 1], A[1, 1], g[0], g[1]))
        return Conic(a, b, c, d, e, k, around, units, tol)
    if np.ndim(solution.coef) != 1 or solution.coef.size != len(powers):
        raise NoAnswer(f"the {solution.problem.name} has not one boundary: a conic needs two classes")
    by_power = dict(zip(powers, map(float, solution.coef), strict=True))
    constant = float(solution.intercept) - solution.problem.threshold
    a, b, c, d, e = (by_power.get(p, 0.0) for p in ((2, 0), (1, 1), (0, 2), (1, 0), (0, 1)))
    columns = [powers.index((1, 0)), powers.index((0, 1))]
    samples = data.matrix[:, columns]
    samples = samples.toarray() if data.sparse else samples
    return Conic(a, b, c, d, e, constant, *_frame(samples), tol)


def _frame(samples: Array) -> tuple[Point, Point]:
    """The middle of the samples and their half-widths: what the conic is measured in."""
    low, high = samples.min(axis=0), samples.max(axis=0)
    around, units = low / 2 + high / 2, high / 2 - low / 2
    units = np.where(units > 0, units, np.where(around != 0, np.abs(around), 1.0))
    return pair(around), pair(units)
