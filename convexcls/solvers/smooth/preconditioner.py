"""Cheap stand-ins for the inverse of a Hessian, and where to start from them.

From m of n samples the Hessian of d unknowns is known to a relative error of about sqrt(d/m), at m/n of the cost: then
each step of a descent gains that factor. The minimum over the same samples is a start that is right to as much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from convexcls.arrays import Array
from convexcls.solvers.smooth.hessian import CholeskyFactor, scaled_hessian
from convexcls.solvers.smooth.line_search import backtrack
from convexcls.solvers.smooth.objective import SmoothObjective, State

#: A share of the samples has this many for each unknown, at least and at most, and this fraction in between.
MIN_SAMPLES_PER_UNKNOWN, MAX_SAMPLES_PER_UNKNOWN, SAMPLE_FRACTION = 5, 200, 0.1
#: With fewer samples for each unknown, their own minimum is no good start, or their weights elsewhere no better.
SAMPLES_PER_UNKNOWN_TO_START, SAMPLES_PER_UNKNOWN_TO_RENEW = 20, 8
#: The ridge, relative to the diagonal, on a Hessian from fewer samples than that.
RIDGE_ON_FEW_SAMPLES = 0.1


class Preconditioner(Protocol):
    """Something like the inverse of the Hessian; ``smallest`` is the least pivot of the Hessian with diagonal one, or
    what may be expected of it: how far it is from singular."""

    @property
    def smallest(self) -> float: ...

    def solve(self, right: Array) -> Array:
        """Its product with a vector."""
        ...


@dataclass(frozen=True, eq=False)
class DiagonalPreconditioner:
    """The inverse of the Hessian's diagonal."""

    diagonal: Array
    smallest: float = 0.1

    def solve(self, right: Array) -> Array:
        return right / self.diagonal


@dataclass(frozen=True, eq=False)
class StandIn:
    """A preconditioner to begin with and, where it was made far from the solution, how to make it again nearer by.
    A ``rough`` one is right up to a factor that is to be learned."""

    first: Preconditioner
    rough: bool = False
    again: Callable[[Array], Preconditioner] | None = None


def share_size(samples: int, unknowns: int) -> int:
    """How many of the samples are worth a Hessian."""
    return min(
        samples,
        max(
            MIN_SAMPLES_PER_UNKNOWN * unknowns, min(MAX_SAMPLES_PER_UNKNOWN * unknowns, int(SAMPLE_FRACTION * samples))
        ),
    )


def start_on_share(function: SmoothObjective, samples: int, tol: float = 1e-3) -> State:
    """The state of a share of the samples at its own minimum, by Newton's method on a smaller share and then on it."""
    size = function.problem.size
    share = function.share(samples)
    x = np.zeros(size)
    if samples >= 8 * SAMPLES_PER_UNKNOWN_TO_START * size:
        x = _few_newton_steps(share.share(samples // 8), x, 30 * tol).x
    return _few_newton_steps(share, x, tol)


def _few_newton_steps(function: SmoothObjective, x: Array, tol: float, most: int = 8) -> State:
    state = function.at(x)
    for _ in range(most):
        if not state.relative_gradient() > tol:
            break
        state, shrink = backtrack(state, -factor_of_share(state).solve(state.gradient))
        if shrink == 0.0:
            break
    return state


def factor_of_share(state: State, least_ridge: float = 0.0) -> Preconditioner:
    """The Cholesky factor of the Hessian at a point, in single precision, with a ridge where it is not positive
    definite. Of few samples the small curvatures come out too small: then there is a ridge in any case."""
    scaled, size = scaled_hessian(state.problem, state.hessian(single_precision=True))
    for ridge in (least_ridge, 1e-6, 1e-4, 1e-2):
        lifted = scaled.copy()
        lifted[np.diag_indices(size.size)] += ridge
        factor = CholeskyFactor.of(lifted, size)
        if factor is not None and factor.smallest > 1e-3 * np.sqrt(ridge):
            return factor
    return DiagonalPreconditioner(size * size)


def diagonal_at(state: State) -> Preconditioner:
    """The diagonal of the Hessian at a point."""
    diagonal = state.diagonal_curvature()
    usual = float(np.median(diagonal[diagonal > 0])) if np.any(diagonal > 0) else 1.0
    return DiagonalPreconditioner(np.where(diagonal > 0, diagonal, usual))
