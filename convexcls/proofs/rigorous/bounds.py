"""Lower and upper bounds of the optimum that hold despite all rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.problem.duality import Dual
from convexcls.proofs.rigorous.distance import distance
from convexcls.proofs.rigorous.evaluation import Evaluation
from convexcls.proofs.rigorous.floor import floor
from convexcls.proofs.rigorous.lower import lower_bound
from convexcls.proofs.rigorous.point import prepared
from convexcls.proofs.rigorous.products import Products
from convexcls.proofs.rigorous.ray import ray_bound
from convexcls.proofs.rigorous.structure import Structure
from convexcls.proofs.rigorous.upper import upper_bound

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bounds:
    """lower <= optimum <= upper, of the minimised form, for the problem as stated, without any rounding; infinite where
    none could be shown, for the ``reasons`` given.

    ``distance`` bounds the Euclidean distance of coef from that of the true minimiser, where the objective is strongly
    convex in it. ``passes`` counts products with the data, their transpose, their absolute values, or Gram matrices.

    The bounds may be better than the point: ``at_point`` is the objective at the point itself, rounded up, times
    ``stretch`` where only that satisfies the constraints; ``by_multipliers`` is what the multipliers as they are give
    from below. None where they are not known.
    """

    lower: float
    upper: float
    distance: float | None = None
    passes: int = 0
    reasons: tuple[str, ...] = ()
    at_point: float | None = None
    stretch: float = 1.0
    by_multipliers: float | None = None

    @property
    def width(self) -> float:
        """upper - lower relative to the larger of them, 0 where they agree."""
        if self.lower == self.upper:
            return 0.0
        size = max(abs(self.lower), abs(self.upper))
        return (self.upper - self.lower) / size if math.isfinite(size) else math.inf

    def negated(self) -> Bounds:
        """The bounds of minus the optimum."""
        return Bounds(-self.upper, -self.lower, None, self.passes, self.reasons)


def bounds(problem: Problem, x: Any, multipliers: Mapping[str, Any] | None) -> Bounds:
    """Bounds from a point and multipliers, whatever they are: bad ones give wide bounds, never wrong ones."""
    point = np.array(np.zeros(problem.size) if x is None else x, dtype=float)
    if point.shape != (problem.size,) or not np.all(np.isfinite(point)):
        return Bounds(-math.inf, math.inf, reasons=(f"the point is not {problem.size} finite numbers",))
    given = {name: np.asarray(z, dtype=float) for name, z in (multipliers or {}).items()}
    with np.errstate(all="ignore"):
        if isinstance(problem, Dual):
            return _of_dual(problem, point, given)
        return _bounds(problem, point, given)


def _bounds(problem: Problem, x: Array, given: Mapping[str, Array]) -> Bounds:
    structure, products = Structure(problem), Products(problem)
    if structure.unknown:
        return Bounds(-math.inf, math.inf, reasons=(structure.unknown,))
    e = Evaluation(structure, products, prepared(structure, products, x))
    lower, upper = lower_bound(e, given), upper_bound(e)
    below, own = (float(np.nextafter(float(e.value.low) - lost, -math.inf)) for lost in (lower.gap, lower.own))
    reasons = (*lower.reasons, *upper.reasons)
    below, own = (-math.inf if math.isnan(end) else end for end in (below, own))
    along, told = ray_bound(e, given)
    if along > below:
        below, reasons = along, (*told, *upper.reasons)
    below = max(below, floor(e))
    far = distance(e, lower, upper, x, below)
    told = tuple(r for r in reasons if r)
    return Bounds(below, upper.value, far, products.passes, told, upper.at_nearest, upper.nearest, own)


def _of_dual(problem: Dual, x: Array, given: Mapping[str, Array]) -> Bounds:
    """By the primal: a feasible point of either bounds the other, and the lower bounds of the primal are shown by
    feasible points of its dual. The dual is written with 1/p and 1/weight, which may be rounded: that is the dual of a
    primal with curvatures and weights off by as much, relatively, and so by as much of what they add to the optimum."""
    every = {c.name: np.zeros(c.size) for c in problem.constraints}
    every |= {b.name: np.zeros(b.size + 1) for b in problem.norm_bounds}
    every |= {name: z for name, z in given.items() if name in every and z.shape == every[name].shape}
    found = bounds(problem.primal, *problem.recover(x, every))
    if _is_exact(problem.primal):
        return found.negated()
    slacks = Structure(problem.primal).slacks
    if any(np.any(q) for v, q in problem.primal.linear.items() if v not in slacks):
        reason = "the dual is written with rounded reciprocals of curvatures or weights"
        return Bounds(-math.inf, math.inf, None, found.passes, (reason,))
    room = 2.0**-49 * max(abs(found.lower), abs(found.upper))
    return Bounds(found.lower - room, found.upper + room, None, found.passes, found.reasons).negated()


def _is_exact(primal: Problem) -> bool:
    """Whether all reciprocals that the dual is written with are doubles."""
    numbers = [p for p in primal.quadratic.values() if isinstance(p, np.ndarray)] + [t.weights for t in primal.terms]
    return all(bool(np.all(np.abs(np.frexp(n[n > 0])[0]) == 0.5)) for n in numbers)
