"""Quasi-Newton descent: L-BFGS around a cheap stand-in for the Hessian.

From m of n samples the Hessian of d unknowns is known to a relative error of about sqrt(d/m), at m/n of the cost: then
each step of a descent gains that factor. The minimum over the same samples is a start that is right to as much.

L-BFGS (Nocedal 1980) corrects what the stand-in gets wrong. Each iteration is one evaluation, value and gradient
together. With a first guess B0 whose error against the Hessian is a factor r, the residual shrinks by about r an
iteration, and faster as the pairs (step, change of gradient) fill in the directions in which B0 was wrong; on a
quadratic, with exact steps, it is the preconditioned conjugate gradient.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dpstrf

from convexcls.arrays import Array, Indices
from convexcls.solvers.smooth.descent import DescentOutcome, Progress, advance, backtrack
from convexcls.solvers.smooth.hessian import CholeskyFactor, scaled_hessian
from convexcls.solvers.smooth.objective import Iterate, SmoothObjective
from convexcls.solvers.smooth.terms import ScoredTerm

#: A share of the samples has this many for each unknown, at least and at most, and this fraction in between.
MIN_SAMPLES_PER_UNKNOWN, MAX_SAMPLES_PER_UNKNOWN, SAMPLE_FRACTION = 5, 200, 0.1
#: With fewer samples for each unknown, their own minimum is no good start, or their weights elsewhere no better.
SAMPLES_PER_UNKNOWN_TO_START, SAMPLES_PER_UNKNOWN_TO_RENEW = 20, 8
#: Pivots below this are the rounding of a Gram matrix in single precision.
SMALLEST_SINGLE_PIVOT = 1e-3
#: The ridge, relative to the diagonal, on a Hessian from fewer samples than that.
RIDGE_ON_FEW_SAMPLES = 0.1
#: The residual aimed at, relative to the tolerance, by how far the Hessian is from singular; and that of penalised
#: unknowns. So few without a penalty, such as intercepts, do not nearly repeat each other.
MIN_RESIDUAL_SHARE, MAX_RESIDUAL_SHARE, PENALISED_SHARE, MAX_FREE_AT_EASE = 1e-4, 1e-2, 0.3, 50
#: Iterations without half the residual, after which the descent gives up, and where nothing takes over from it.
MAX_STEPS_WITHOUT_GAIN, MAX_STEPS_WITHOUT_GAIN_ALONE = 15, 50
#: The residual at which a stand-in that was made far away is made again, or the steps after which it is.
RESIDUAL_TO_RENEW, STEPS_TO_RENEW = 1e-2, 25
#: Hessians by class: the unknowns of a class at the most, the samples for each of them, and the ridge.
MAX_UNKNOWNS_BY_CLASS, SAMPLES_BY_CLASS, RIDGE_BY_CLASS = 2500, 8, 1e-5


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
class FactorOfSome:
    """The inverse of the Hessian of some unknowns; the others do not move."""

    columns: Indices
    factor: CholeskyFactor

    @property
    def smallest(self) -> float:
        return self.factor.smallest

    def solve(self, right: Array) -> Array:
        out = np.zeros_like(right)
        out[self.columns] = self.factor.solve(right[self.columns])
        return out


@dataclass(frozen=True, eq=False)
class FactorsByClass:
    """The inverse of the Hessian without what the classes share: one factor a class. A step that all classes make alike
    moves no score against another: along it nothing curves but the penalty, whose ``inverse`` stands for it. So the
    factors have a say in what differs between classes alone."""

    places: Indices
    factors: Sequence[CholeskyFactor]
    inverse: Array
    smallest: float = 0.1

    def solve(self, right: Array) -> Array:
        by_class = right[self.places]
        alike = by_class.mean(axis=0)
        steps = np.array([f.solve(r) for f, r in zip(self.factors, by_class - alike, strict=True)])
        out = np.empty_like(right)
        out[self.places] = steps - steps.mean(axis=0) + alike * self.inverse
        return out


@dataclass(frozen=True, eq=False)
class StandIn:
    """A preconditioner to begin with and, where it was made far from the solution, how to make it again nearer by, once
    or ``often``. A ``rough`` one is right up to a factor that is to be learned; one ``alone`` is all that there is, for
    no matrix of all unknowns is made."""

    first: Preconditioner
    rough: bool = False
    again: Callable[[Iterate], Preconditioner] | None = None
    often: bool = False
    alone: bool = False


@dataclass(eq=False)
class SecantPairs:
    """The last steps with the changes of the gradient along them."""

    preconditioner: Preconditioner
    #: Whether the preconditioner is rough: then the last pair says how much too large or small it is.
    rough: bool = False
    memory: int = 30
    scale: float = 1.0
    pairs: deque[tuple[Array, Array, float]] = field(default_factory=deque)

    def learn(self, step: Array, change: Array) -> None:
        """Remember a pair, unless rounding made it useless."""
        product = float(step @ change)
        if product > 1e-15 * float(np.linalg.norm(step)) * float(np.linalg.norm(change)):
            self.pairs.append((step, change, product))
            if len(self.pairs) > self.memory:
                self.pairs.popleft()
            if self.rough:
                self.scale = product / float(change @ self.preconditioner.solve(change))

    def direction(self, gradient: Array) -> Array:
        """Minus the approximate inverse Hessian times the gradient, by the two-loop recursion."""
        q = gradient.copy()
        shares = []
        for step, change, product in reversed(self.pairs):
            share = float(step @ q) / product
            shares.append(share)
            q -= share * change
        r = self.preconditioner.solve(q)
        r *= self.scale
        for (step, change, product), share in zip(self.pairs, reversed(shares), strict=True):
            r += (share - float(change @ r) / product) * step
        return -r


def quasi_newton(iterate: Iterate, stand_in: StandIn, tol: float, max_iter: int, progress: Progress) -> DescentOutcome:
    """L-BFGS around a stand-in for the Hessian, until the residual is well below the tolerance. A stand-in from far
    away is replaced once, where the end is in sight, or now and then; what the pairs have learned stays true."""
    pairs, length, again = SecantPairs(stand_in.first, stand_in.rough), 1.0, stand_in.again
    progress.by_objective = stand_in.alone  # far from the minimum the relative residual says little
    age, patience = 0, MAX_STEPS_WITHOUT_GAIN_ALONE if stand_in.alone else MAX_STEPS_WITHOUT_GAIN
    few_free = np.count_nonzero(iterate.function.diagonal == 0.0) <= MAX_FREE_AT_EASE
    smallest = 1.0 if few_free else min(1.0, stand_in.first.smallest)
    target = tol * max(MIN_RESIDUAL_SHARE, MAX_RESIDUAL_SHARE * smallest)
    for _ in range(max_iter):
        residual = progress.residual(iterate, length)
        if (separated := progress.separated(iterate)) is not None:
            return separated
        if residual <= target and _penalised_is_small(iterate, PENALISED_SHARE * tol):
            return DescentOutcome(iterate, "the gradient is well below the tolerance", True)
        if progress.stalled >= patience:
            return DescentOutcome(iterate, "no further progress", False)
        age += 1
        if again is not None and (age > STEPS_TO_RENEW if stand_in.often else residual <= RESIDUAL_TO_RENEW):
            pairs.preconditioner, again, age = again(iterate), again if stand_in.often else None, 0
        step = pairs.direction(iterate.gradient)
        new, length = advance(iterate, step)
        if length == 0.0:
            return DescentOutcome(iterate, "no step lowers the objective further", False)
        pairs.learn(new.x - iterate.x, new.gradient - iterate.gradient)
        iterate = new
    return DescentOutcome(iterate, f"stopped after {max_iter} iterations", False)


def _penalised_is_small(iterate: Iterate, enough: float) -> bool:
    """Whether the gradient along penalised unknowns is, looked at closely where it seems so."""
    return iterate.penalised_gradient() <= enough and iterate.penalised_gradient(closely=True) <= enough


def prepared(function: SmoothObjective, x: Array, dense: bool) -> tuple[Iterate, StandIn]:
    """Where to begin, and the stand-in for the Hessian: that of a share of the samples or, where it would not be
    ``dense``, a diagonal. A start of the caller's is kept; from zero, the minimum over a share of the samples is taken
    where it is the better one."""
    size, samples = function.problem.size, max((t.samples for t in function.terms), default=0)
    if not dense:
        begun = function.at(x)
        by_class = factors_by_class(begun)
        if by_class is None:
            return begun, StandIn(diagonal_at(begun), rough=True, alone=True)
        renewed = partial(_renewed, by_class)
        return begun, StandIn(by_class, rough=True, again=renewed, often=True, alone=True)
    count = share_size(samples, size)
    if np.any(x) or not SAMPLES_PER_UNKNOWN_TO_START * size <= count < samples:
        share, begun = function.share(count), function.at(x)
        diagonal = begun.diagonal_curvature()
        if count < SAMPLES_PER_UNKNOWN_TO_RENEW * size:
            return begun, StandIn(factor_of_share(share.at(x), RIDGE_ON_FEW_SAMPLES, diagonal), rough=True)
        return begun, StandIn(
            factor_of_share(share.at(x), 0.0, diagonal), again=lambda y: factor_of_share(share.at(y.x))
        )
    near = start_on_share(function, count)
    begun = function.at(near.x)
    if begun.objective < function.value_at_zero():
        return begun, StandIn(factor_of_share(near, 0.0, begun.diagonal_curvature()))
    begun = function.at(x)
    return begun, StandIn(factor_of_share(near.function.at(x), 0.0, begun.diagonal_curvature()))


def begun(function: SmoothObjective, x: Array) -> Iterate:
    """Where exact steps begin on rows that take long to read: from zero, at the minimum over a share of the samples;
    on others where it is asked for."""
    samples = max((t.samples for t in function.terms), default=0)
    count = share_size(samples, x.size)
    if np.any(x) or not all(t.at_once for t in function.terms) or not SAMPLES_PER_UNKNOWN_TO_START * x.size <= count:
        return function.at(x)
    iterate = function.at(start_on_share(function, count).x)
    return iterate if iterate.objective < function.value_at_zero() else function.at(x)


def _renewed(old: FactorsByClass, iterate: Iterate) -> FactorsByClass:
    return factors_by_class(iterate) or old


def share_size(samples: int, unknowns: int) -> int:
    """How many of the samples are worth a Hessian."""
    return min(
        samples,
        max(
            MIN_SAMPLES_PER_UNKNOWN * unknowns, min(MAX_SAMPLES_PER_UNKNOWN * unknowns, int(SAMPLE_FRACTION * samples))
        ),
    )


def start_on_share(function: SmoothObjective, samples: int, tol: float = 1e-3) -> Iterate:
    """A share of the samples at its own minimum, by Newton's method on a smaller share and then on it."""
    size = function.problem.size
    share = function.share(samples)
    x = np.zeros(size)
    if samples >= 8 * SAMPLES_PER_UNKNOWN_TO_START * size:
        x = _few_newton_steps(share.share(samples // 8), x, 30 * tol).x
    return _few_newton_steps(share, x, tol)


def _few_newton_steps(function: SmoothObjective, x: Array, tol: float, most: int = 8) -> Iterate:
    iterate = function.at(x)
    for _ in range(most):
        if not iterate.relative_gradient() > tol:
            break
        iterate, shrink = backtrack(iterate, -factor_of_share(iterate).solve(iterate.gradient))
        if shrink == 0.0:
            break
    return iterate


def factor_of_share(iterate: Iterate, least_ridge: float = 0.0, diagonal: Array | None = None) -> Preconditioner:
    """The Cholesky factor of the Hessian at a point, in single precision. Of few samples the small curvatures come out
    too small: then there is a ridge. A column that few of the samples have an entry in has a ``diagonal`` that is known
    from all of them. Columns that repeat others are left out; where too many are, the diagonal has to do."""
    scaled, size = scaled_hessian(iterate.problem, iterate.hessian(single_precision=True))
    lift = np.full(size.size, least_ridge)
    if diagonal is not None:
        lift += np.maximum(diagonal / (size * size) - scaled.diagonal(), 0.0)
    scaled[np.diag_indices(size.size)] += lift
    factor = CholeskyFactor.of(scaled.copy(), size)
    if factor is not None and factor.smallest > SMALLEST_SINGLE_PIVOT:
        return factor
    length = np.sqrt(scaled.diagonal())
    scaled, size = scaled / np.outer(length, length), size * length
    if not np.all(np.isfinite(scaled)):
        return DiagonalPreconditioner(np.where(np.isfinite(size) & (size > 0), size * size, 1.0))
    _, order, count, _ = dpstrf(scaled, tol=SMALLEST_SINGLE_PIVOT**2)
    columns = np.sort(order[:count] - 1)
    factor = CholeskyFactor.of(np.ascontiguousarray(scaled[np.ix_(columns, columns)]), size[columns])
    return DiagonalPreconditioner(size * size) if factor is None else FactorOfSome(columns, factor)


def factors_by_class(iterate: Iterate) -> FactorsByClass | None:
    """The factors of the Hessians of each class at a point; None where there are no classes, or too many unknowns."""
    term, reading = iterate.function.terms[0], iterate.readings[0]
    if len(iterate.readings) != 1 or not isinstance(term, ScoredTerm) or iterate.function.has_matrix:
        return None
    if iterate.x.size > MAX_UNKNOWNS_BY_CLASS * term.scores.columns:
        return None
    places, factors = [], []
    for k in range(term.scores.columns):
        where, hessian = term.class_hessian(reading, k, SAMPLES_BY_CLASS * iterate.x.size // term.scores.columns)
        hessian[np.diag_indices(where.size)] += iterate.function.diagonal[where]
        scaled, size = scaled_hessian(None, hessian)
        scaled[np.diag_indices(where.size)] += RIDGE_BY_CLASS
        factor = CholeskyFactor.of(scaled, size)
        if factor is None:
            return None
        places.append(where)
        factors.append(factor)
    penalty = iterate.function.diagonal[np.array(places)]
    if np.ptp(penalty, axis=0).any():
        return None
    inverse = np.divide(1.0, penalty[0], out=np.zeros(penalty.shape[1]), where=penalty[0] > 0)
    return FactorsByClass(np.array(places), factors, inverse)


def diagonal_at(iterate: Iterate) -> Preconditioner:
    """The diagonal of the Hessian at a point."""
    diagonal = iterate.diagonal_curvature()
    usual = float(np.median(diagonal[diagonal > 0])) if np.any(diagonal > 0) else 1.0
    return DiagonalPreconditioner(np.where(diagonal > 0, diagonal, usual))
