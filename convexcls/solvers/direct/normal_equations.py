"""Least squares by its normal equations, refined: the cost of one Gram matrix, with the accuracy of a factorization of
the data where the condition allows it, and a refusal where it does not.

With R'R the Gram matrix of the columns scaled to length one, a solution is corrected by

    R'R s = A'(b - Ax),        x + s,

the residual worked out on the data in doubles (the corrected semi-normal equations of Björck 1987). A round leaves of
the error a factor of about the square of the condition number times 1e-16: below a condition of 1e4 or so, two rounds
leave what a QR factorization would, and that is all that is taken here.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpocon
from scipy.sparse.linalg import LinearOperator, lsmr

from convexcls.arrays import Array
from convexcls.solvers.smooth.hessian import CholeskyFactor, scaled_hessian
from convexcls.solvers.smooth.objective import SmoothObjective

#: The condition of the scaled Gram matrix, that of the columns squared, up to which its factor is trusted.
MAX_GRAM_CONDITION = 1e8
#: A round that changes the solution by less than this leaves it as good as doubles allow.
SMALLEST_RELATIVE_STEP = 1e-13
MAX_REFINEMENTS = 6


def by_normal_equations(function: SmoothObjective) -> Array | None:
    """The minimiser, or None where the columns depend on each other too nearly for the normal equations."""
    problem = function.problem
    state = function.at(np.zeros(problem.size))
    hessian = state.hessian()
    if not np.all(np.isfinite(hessian)) or np.any(hessian.diagonal() <= 0):
        return None
    scaled, size = scaled_hessian(problem, hessian)
    norm = float(np.abs(scaled).sum(axis=0).max(initial=1.0))
    factor = CholeskyFactor.of(scaled, size)
    if factor is None or _condition(factor, norm) > MAX_GRAM_CONDITION:
        return None
    step = -factor.solve(state.gradient)
    x, before = step, np.inf
    for _ in range(MAX_REFINEMENTS):
        step = -factor.solve(function.at(x).gradient)
        change = float(np.abs(size * step).max(initial=0.0)) / max(float(np.abs(size * x).max(initial=0.0)), 1e-300)
        if not change < 0.5 * before:
            break  # rounding has the last word
        x, before = x + step, change
        if change <= SMALLEST_RELATIVE_STEP:
            break
    return x if before <= 1e-10 else None


def by_lsmr(function: SmoothObjective) -> Array:
    """The minimiser by LSMR on the data, columns scaled to length one, each round on the residual of the last."""
    problem = function.problem
    zero = function.at(np.zeros(problem.size))
    size = np.sqrt(zero.diagonal_curvature())
    size = np.where(size > 0, size, 1.0)
    ridge = np.sqrt(function.diagonal)
    blocks = [(t.rows, np.sqrt(t.weights)) for t in function.terms]
    ends = np.cumsum([root.size for _, root in blocks])

    def times(v: Array) -> Array:
        v = v.ravel() / size
        return np.concatenate([*(root * (rows @ v) for rows, root in blocks), ridge * v])

    def transposed(u: Array) -> Array:
        *parts, last = np.split(u.ravel(), ends)
        out = ridge * last
        for (rows, root), part in zip(blocks, parts, strict=True):
            out = out + rows.T @ (root * part)
        return out / size

    operator = LinearOperator((int(ends[-1]) + size.size, size.size), matvec=times, rmatvec=transposed, dtype=float)
    x, best = np.zeros(problem.size), np.inf
    for _ in range(MAX_REFINEMENTS):
        state = function.at(x)
        residual_size = state.relative_gradient()
        if not residual_size < 0.5 * best or residual_size == 0:
            break
        best = residual_size
        residual = [-root * r.arguments for (_, root), r in zip(blocks, state.readings, strict=True)]
        target = np.concatenate([*residual, -ridge * x])
        x = x + lsmr(operator, target, atol=1e-14, btol=1e-14, conlim=0.0, maxiter=20 * size.size)[0] / size
    return x


def _condition(factor: CholeskyFactor, norm: float) -> float:
    """The condition number of the factored matrix, as LAPACK estimates it."""
    reciprocal, info = dpocon(factor.lower, norm, uplo="L")
    return 1.0 / float(reciprocal) if info == 0 and reciprocal > 0 else np.inf
