"""What each sample weighs in a fit by least squares or in a likelihood: leverage, Cook's distance, DFBETAS.

Of least squares they follow from one fit. Of a likelihood the coefficients without a sample are one Newton step away,
with a bound on what is left: on the way by Delta the curvature of a logistic loss falls by a factor of exp(-|z'Delta|)
at most, so

    ‖Delta‖_H <= -log(1 - rho nu) / rho,     nu = ‖gradient‖ in the norm of H^-1,  rho = max_i ‖z_i‖ in that norm,

wherever rho nu < 1, with the Hessian H and the gradient at the end of the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from convexcls.arrays import Array
from convexcls.models import LeastSquares, LogisticMLE
from convexcls.problem import NoAnswer

if TYPE_CHECKING:
    from convexcls.solution import Solution


@dataclass(frozen=True, eq=False)
class Influence:
    """One row a sample. ``dfbetas`` has one column a coefficient, the intercept last: how many standard errors it moves
    when the sample is left out. ``bounds`` says how far ``dfbetas`` may be off: 0 of least squares, infinite where
    nothing is known.

    >>> import convexcls as cc
    >>> found = cc.LogisticMLE([[0], [1], [2], [3]], [0, 1, 0, 1], l2=1.0).solve().influence()
    >>> found.leverage.round(3).tolist(), bool(found.bounds.max() < 0.2)
    ([0.473, 0.292, 0.292, 0.473], True)
    """

    leverage: Array
    cooks_distance: Array
    dfbetas: Array
    bounds: Array


def influence(solution: Solution) -> Influence:
    """The influence of each sample; ``NoAnswer`` for models without."""
    problem = solution.problem
    if isinstance(problem, LeastSquares):
        return _of_least_squares(solution, problem)
    if isinstance(problem, LogisticMLE):
        return _of_likelihood(solution, problem)
    raise NoAnswer(f"leverage and Cook's distance are of least squares and logistic regression, not of {problem.name}")


def _design(problem: LeastSquares | LogisticMLE) -> tuple[Array, Array, Array]:
    """The rows (x_i, 1), the weights, and the penalty of each coefficient."""
    data, b = problem.data, bool(problem.parameters["intercept"])
    matrix = np.asarray(data.matrix.toarray() if data.sparse else data.matrix, dtype=float)
    Z = np.hstack([matrix, np.ones((data.n, int(b)))])
    penalty = np.append(np.full(data.d, float(problem.parameters["l2"])), np.zeros(int(b)))
    return Z, np.asarray(data.weights), penalty


def _estimates(solution: Solution, problem: LeastSquares | LogisticMLE) -> Array:
    return np.append(solution.coef, solution.intercept) if problem.parameters["intercept"] else solution.coef


def _inverse(H: Array, name: str) -> Array:
    if np.linalg.cond(H) > 1e13:
        raise NoAnswer(f"the columns of the {name} depend on each other: no coefficient has an influence of its own")
    return np.asarray(np.linalg.inv(H))


def _of_least_squares(solution: Solution, problem: LeastSquares) -> Influence:
    Z, w, penalty = _design(problem)
    beta = _estimates(solution, problem)
    inverse = _inverse(Z.T @ (w[:, None] * Z) + np.diag(penalty), problem.name)
    residual = problem.data.coded(problem.parameters["coding"]) - Z @ beta
    leverage = w * np.einsum("ij,jk,ik->i", Z, inverse, Z)
    counted = w > 0
    n, p = int(counted.sum()), Z.shape[1]
    if n <= p:
        raise NoAnswer(f"{n} samples for {p} coefficients leave no residuals to measure influence by")
    left = np.where(leverage < 1.0, 1.0 - leverage, np.nan)
    moved = (Z @ inverse) * (w * residual / left)[:, None]  # with the sample less without it
    total = float(w @ residual**2)
    variance = total / (n - p)
    cook = w * residual**2 * leverage / (p * variance * left**2) if variance > 0 else np.zeros(len(w))
    without = (total - w * residual**2 / left) / (n - p - 1) if n - p > 1 else np.full(len(w), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        dfbetas = moved / np.sqrt(np.maximum(without, 0.0)[:, None] * np.diag(inverse))
    return Influence(leverage, cook, dfbetas, np.zeros_like(dfbetas))


def _of_likelihood(solution: Solution, problem: LogisticMLE) -> Influence:
    Z, w, penalty = _design(problem)
    signs = problem.data.signs
    assert signs is not None
    rows, beta = Z * signs[:, None], _estimates(solution, problem)
    slopes, curvature = _slopes(rows @ beta)
    H = rows.T @ ((w * curvature)[:, None] * rows) + np.diag(penalty)
    inverse = _inverse(H, problem.name)
    errors = np.sqrt(np.diag(inverse))
    leverage = w * curvature * np.einsum("ij,jk,ik->i", rows, inverse, rows)
    dfbetas, bounds = np.full_like(Z, np.nan), np.full_like(Z, np.inf)
    for i in range(len(w)):
        without = w.copy()
        without[i] = 0.0
        rest = H - w[i] * curvature[i] * np.outer(rows[i], rows[i])
        if np.linalg.cond(rest) > 1e13:
            continue
        step = np.linalg.solve(rest, w[i] * slopes[i] * rows[i])  # the gradient of the others is minus its own
        dfbetas[i] = -step / errors
        bounds[i] = _newton_bound(rows, without, penalty, beta + step) / errors
    cook = np.einsum("ij,jk,ik->i", dfbetas * errors, H, dfbetas * errors) / Z.shape[1]
    return Influence(leverage, cook, dfbetas, bounds)


def _slopes(m: Array) -> tuple[Array, Array]:
    """Slope and curvature of log(1 + exp(-m))."""
    return -expit(-m), expit(m) * expit(-m)


def _newton_bound(rows: Array, weights: Array, penalty: Array, at: Array) -> Array:
    """How far each coefficient of the minimiser may be from a point."""
    slopes, curvature = _slopes(rows @ at)
    gradient = rows.T @ (weights * slopes) + penalty * at
    H = rows.T @ ((weights * curvature)[:, None] * rows) + np.diag(penalty)
    if np.linalg.cond(H) > 1e13:
        return np.full(at.size, np.inf)
    inverse = np.linalg.inv(H)
    nu = np.sqrt(max(float(gradient @ inverse @ gradient), 0.0))
    used = rows[weights > 0]
    rho = np.sqrt(float(np.einsum("ij,jk,ik->i", used, inverse, used).max(initial=0.0)))
    if not rho * nu < 1.0:
        return np.full(at.size, np.inf)
    far = -np.log1p(-rho * nu) / rho if rho > 0 else nu
    return np.asarray(far * np.sqrt(np.diag(inverse)) * (1 + 1e-9) + 1e-13 * np.abs(at))
