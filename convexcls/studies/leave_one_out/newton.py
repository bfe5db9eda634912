"""Likelihoods without each sample: Newton's method from the full fit, with a proof of how near it came.

Without sample i the objective is F(theta) = sum_{k != i} w_k phi(z_k'theta) + 1/2 theta'P theta. The logistic and the
exponential loss satisfy |phi'''| <= phi'', so along a step s the Hessian changes by at most a factor exp(max_k |z_k's|)
either way (Bach 2010). With

    nu = sqrt(g'H^-1 g),   K = max_k sqrt(z_k'H^-1 z_k)           g, H: gradient and Hessian at theta

it follows, if K nu < 1, that F has a minimiser, and that it lies within -log(1 - K nu)/K of theta in the norm of H. So
its score at x_i differs by at most sqrt(z_i'H^-1 z_i) times that. Newton's step, shortened by log(1 + K nu)/(K nu),
always descends and converges quadratically. The same bound, with H from the full fit, tells how far one step is off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.losses import Exponential, Logistic, Loss
from convexcls.models import Model
from convexcls.solution import Solution
from convexcls.studies.leave_one_out.refit import NOT_DETERMINED, in_units, inside, refit_one, span
from convexcls.studies.leave_one_out.result import Outcome, Progress

#: Fits are done together, as many as need so many numbers.
BLOCK_NUMBERS = 2_000_000
MAX_STEPS = 50
#: A score is done when its bound is this small, relative to 1 + |score|; accepted up to the second number.
DONE, ACCEPTED = 1e-13, 1e-10


def takes_newton(problem: Model) -> bool:
    """Whether the problem is one sum of losses with |phi'''| <= phi'' of the margins, with or without l2 penalty."""
    if problem.is_constrained or len(problem.terms) != 1 or np.any(problem.q) or problem.data.signs is None:
        return False
    term = problem.terms[0]
    unknowns = {v.name for v in problem.variables}
    return (
        isinstance(term.loss, (Logistic, Exponential))
        and term.size == problem.data.n
        and unknowns <= {"coef", "intercept"}
        and set(problem.quadratic) <= {"coef"}
        and not np.any(term.offset)
    )


@dataclass(frozen=True, eq=False)
class HeldOutLikelihood:
    """The objective in orthonormal coordinates of the space of the rows, at the full fit: there it is well conditioned,
    and columns that repeat each other are no trouble."""

    loss: Loss
    rows: Array
    weights: Array
    penalty: Array
    theta: Array
    outside: frozenset[int]

    @classmethod
    def of(cls, problem: Model, full: Solution) -> HeldOutLikelihood:
        term = problem.terms[0]
        rows = problem.rows(term).to_dense()
        penalty = np.zeros((0, problem.size))
        if "coef" in problem.quadratic:
            penalty = np.zeros((problem.data.d, problem.size))
            penalty[:, problem.layout["coef"]] = np.diag(np.sqrt(np.asarray(problem.quadratic["coef"])))
        rows, penalty, size = in_units(rows, penalty)
        counts = term.weights > 0
        U, S, Vt = span(np.vstack([rows[counts], penalty]))
        Z = rows @ (Vt.T / S)
        Z[counts] = U[: counts.sum()]
        bottom = U[counts.sum() :]
        values = np.concatenate([rows[counts], penalty]) @ (np.asarray(full.x) * size)
        strays = frozenset(int(i) for i in np.flatnonzero(~counts) if not inside(rows[i], Vt))
        return cls(term.loss, Z, np.asarray(term.weights), bottom.T @ bottom, U.T @ values, strays)

    def without(self, left_out: Indices, theta: Array) -> tuple[Array, Array]:
        """Gradients and Hessians at the rows of theta, each without its own sample."""
        u = theta @ self.rows.T
        weights = np.broadcast_to(self.weights, u.shape).copy()
        weights[np.arange(left_out.size), left_out] = 0.0
        gradient = (weights * self.loss.slope(u)) @ self.rows + theta @ self.penalty
        curved = (weights * self.loss.curvature(u))[:, None, :] * self.rows.T
        return gradient, curved @ self.rows + self.penalty

    def near(self, left_out: Indices, theta: Array) -> tuple[Array, Array, Array]:
        """Newton's steps, their shortening, and the bounds on the scores of the samples left out."""
        gradient, hessian = self.without(left_out, theta)
        inverse = _inverses(hessian)
        steps = -np.einsum("brs,bs->br", inverse, gradient)
        nu = np.sqrt(np.maximum(-np.einsum("br,br->b", gradient, steps), 0.0))
        lengths = np.einsum("bnr,nr->bn", self.rows @ inverse, self.rows)
        each = np.arange(left_out.size)
        own = lengths[each, left_out]
        lengths[:, self.weights == 0] = 0.0
        lengths[each, left_out] = 0.0
        K = np.sqrt(np.maximum(lengths.max(axis=1), 0.0))
        shorten = np.where(K * nu > 0, np.log1p(K * nu) / np.where(K * nu > 0, K * nu, 1.0), 1.0)
        return steps, shorten, np.sqrt(np.maximum(own, 0.0)) * distance(nu, K)


def distance(nu: Array, K: Array) -> Array:
    """How far the minimiser is at most, in the norm of the Hessian: -log(1 - K nu)/K, not known (inf) from K nu = 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        known = np.where(K > 0, -np.log1p(-np.minimum(K * nu, 1.0)) / np.where(K > 0, K, 1.0), nu)
    return np.where(np.isnan(known), np.inf, known)


def left_out_by_newton(
    problem: Model, full: Solution, tol: float, progress: Progress, one_step: bool = False
) -> Outcome:
    """The scores by the fit without each sample, to the end, or after one step from the full fit. A sample for which
    the step proves nothing is fitted to the end, one whose bound is not small goes through a full fit, with a
    verdict."""
    likelihood = HeldOutLikelihood.of(problem, full)
    if one_step:
        margins, bounds = _by_blocks(_one_step, likelihood, problem.data.n, progress)
        far = np.flatnonzero(~np.isfinite(bounds))
        for row in far:
            margins[[row]], bounds[[row]] = _to_the_end(likelihood, np.array([row]))
        fits, accepted = far.size, np.isfinite(bounds)
    else:
        margins, bounds = _by_blocks(_to_the_end, likelihood, likelihood.rows.size or 1, progress)
        fits, accepted = problem.data.n, bounds <= ACCEPTED * (1.0 + np.abs(margins))
    assert problem.data.signs is not None
    scores, reasons = problem.data.signs * margins, {}
    for i in map(int, np.flatnonzero(~accepted | np.isin(np.arange(scores.size), list(likelihood.outside)))):
        if i in likelihood.outside:
            found: float | str = NOT_DETERMINED
        else:
            found, fits = refit_one(problem, full, i, tol)[0], fits + 1
        scores[i] = np.nan if isinstance(found, str) else found
        bounds[i] = np.nan
        if isinstance(found, str):
            reasons[i] = found
    return Outcome("one-step" if one_step else "newton", scores, reasons, bounds, fits)


def _by_blocks(
    fit: Callable[[HeldOutLikelihood, Indices], tuple[Array, Array]],
    likelihood: HeldOutLikelihood,
    each: int,
    progress: Progress,
) -> tuple[Array, Array]:
    """The margins of all samples with their bounds, ``BLOCK_NUMBERS`` numbers at a time; a sample needs ``each``."""
    n, step, found = len(likelihood.rows), max(1, BLOCK_NUMBERS // each), []
    for start in range(0, n, step):
        found.append(fit(likelihood, np.arange(start, min(start + step, n))))
        progress(min(start + step, n), n)
    margins, bounds = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return margins, bounds


def _to_the_end(likelihood: HeldOutLikelihood, left_out: Indices) -> tuple[Array, Array]:
    """Margins of the samples left out, and their bounds; infinite where the steps did not settle."""
    theta = np.tile(likelihood.theta, (left_out.size, 1))
    bounds, active = np.full(left_out.size, np.inf), np.arange(left_out.size)
    best = theta.copy()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(MAX_STEPS):
            steps, shorten, bound = likelihood.near(left_out[active], theta[active])
            better = bound < bounds[active]
            best[active[better]] = theta[active[better]]
            stalled = np.isfinite(bounds[active]) & (bound > 0.5 * bounds[active])
            bounds[active[better]] = bound[better]
            margins = np.einsum("br,br->b", likelihood.rows[left_out[active]], theta[active])
            go = ~stalled & (bound > DONE * (1.0 + np.abs(margins))) & np.isfinite(steps).all(axis=1)
            theta[active] += shorten[:, None] * steps
            active = active[go]
            if not active.size:
                break
    return np.einsum("br,br->b", likelihood.rows[left_out], best), bounds


def _one_step(likelihood: HeldOutLikelihood, left_out: Indices) -> tuple[Array, Array]:
    """Margins after one Newton step from the full fit, which a formula gives for all samples at once, and their bounds:

        m_i + w_i phi'(m_i) q_i / (1 - c_i q_i),       q_i = z_i'H^-1 z_i,   c_i = w_i phi''(m_i)

    where c_i q_i is the sample's leverage."""
    Z, w, loss = likelihood.rows, likelihood.weights, likelihood.loss
    u = Z @ likelihood.theta
    c = w * loss.curvature(u)
    inverse = np.linalg.inv(Z.T @ (c[:, None] * Z) + likelihood.penalty)  # well conditioned, by the choice of Z
    reach = Z[left_out] @ inverse  # H^-1 z_i, one a row
    across = reach @ Z.T  # z_i'H^-1 z_k
    own = across[np.arange(left_out.size), left_out]
    remainder = 1.0 - c[left_out] * own
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # the full fit's own gradient is 0 up to rounding: what is left of it is in the gradient below
        length = (w * loss.slope(u))[left_out] / remainder
        theta = likelihood.theta + length[:, None] * reach
        moved = length[:, None] * across
        others = np.ones(across.shape, dtype=bool)
        others[np.arange(left_out.size), left_out] = False
        others &= w > 0
        growth = np.exp(np.where(others, np.abs(moved), 0.0).max(axis=1))
        slopes = np.where(others, w * loss.slope(u + moved), 0.0)
        gradient = slopes @ Z + theta @ likelihood.penalty
        inner = np.einsum("br,rs,bs->b", gradient, inverse, gradient)
        nu = inner + c[left_out] * np.einsum("br,br->b", gradient, reach) ** 2 / remainder
        lengths = np.einsum("nr,rs,ns->n", Z, inverse, Z) + (c[left_out] / remainder)[:, None] * across**2
        K = np.where(others, lengths, 0.0).max(axis=1)
        bound = np.sqrt(growth * own / remainder) * distance(np.sqrt(growth * nu), np.sqrt(growth * K))
    usable = (remainder > 0) & np.isfinite(bound)
    margins = np.where(usable, u[left_out] + length * own, np.nan)
    return margins, np.where(usable, bound, np.inf)


def _inverses(hessians: Array) -> Array:
    """The inverses of well conditioned matrices; NaN for one that is singular, whose sample then gets a full fit."""
    try:
        return np.asarray(np.linalg.inv(hessians))
    except np.linalg.LinAlgError:
        if len(hessians) == 1:
            return np.full(hessians.shape, np.nan)
        return np.concatenate([_inverses(hessian[None]) for hessian in hessians])
