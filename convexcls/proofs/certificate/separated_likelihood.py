"""What separability says of likelihoods."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.proofs.certificate.measures import KKT
from convexcls.proofs.certificate.recession import Direction
from convexcls.proofs.certificate.separating import Finding, Separating, as_doubles
from convexcls.proofs.separability.check import complaints
from convexcls.proofs.separability.section import exponent_of, power_of_two

#: How far curvature, relative to what was added up, has to be above what rounding leaves.
CLEAR_CURVATURE = 1e-9
#: So many samples are enough to see that there is curvature.
SAMPLES = 2000


class Likelihood(Separating):
    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        return self._clear(x) or self.separation.kind == "overlapping"

    def _clear(self, x: Array) -> bool:
        """Whether the curvature of some samples is so far above rounding, in every direction, that a stationary point
        is a minimum: the exact multipliers are then near those of doubles, and above 0 like these."""
        if not self._rounding(x) < 1e-6:
            return False
        term = self.problem.terms[0]
        counted = np.flatnonzero(term.weights > 0)
        few = term.thinned(counted[:: max(counted.size // SAMPLES, 1)])
        rows = self.problem.joined(few.entries, few.size)
        places = self._places()
        if places.size > rows.shape[0]:  # more unknowns than margins: some direction has no curvature
            return False
        hessian = few.gram(rows, rows @ x + few.offset)
        units = 1.0 / np.where(self.reach > 0, self.reach, 1.0)
        with np.errstate(over="ignore", under="ignore"):
            scaled = hessian[np.ix_(places, places)] * units[:, None] * units
        if not np.all(np.isfinite(scaled)):
            return False
        return bool(np.linalg.eigvalsh(scaled)[0] > CLEAR_CURVATURE * float(term.weights.sum()))

    @cached_property
    def reach(self) -> Array:
        whole = np.concatenate([self.problem.terms[0].entries[v.name].column_max() for v in self.problem.variables])
        return np.asarray(whole[self._places()])

    def _places(self) -> NDArray[np.intp]:
        """Where the unknowns of the rows stand: of softmax those of all classes but the last."""
        term, out = self.problem.terms[0], []
        width = term.loss.width
        for v in self.problem.variables:
            where = np.arange(self.problem.size)[self.problem.layout[v.name]]
            out.append(where if self.problem.kind == "logistic" else where[: where.size // (width + 1) * width])
        return np.concatenate(out)

    def _narrowed(self, x: Array) -> Array:
        if self.problem.kind == "logistic":
            return x
        by_class = [part.reshape(self.problem.terms[0].loss.width + 1, -1) for part in self.problem.split(x).values()]
        return np.concatenate([(part[:-1] - part[-1]).ravel() for part in by_class])

    def finding(self, tol: float) -> Finding | None:
        if self.separation.direction is None:
            return None
        exactly = self._whole(self.separation.direction)
        try:
            x = np.array([float(value) for value in exactly])
        except OverflowError:  # the direction of the least growth is beyond doubles: any length proves the same
            scale = power_of_two(-max(exponent_of(value) for value in exactly if value))
            exactly = [value * scale for value in exactly]
            x = np.array([float(value) for value in exactly])
        term = self.problem.terms[0]
        samples = np.flatnonzero(term.weights > 0)[self._moves.reshape(-1, term.loss.width).any(axis=1)]
        return Finding(direction=Direction(x, 0.0, samples, 0.0, tuple(exactly)))

    def rational_direction(self) -> dict[str, list[Fraction]] | None:
        found = self.separation
        if found.direction is None or complaints(self.rows, found):
            return None
        x = self._whole(found.direction)
        return {v.name: x[self.problem.layout[v.name]] for v in self.problem.variables}

    @property
    def _moves(self) -> NDArray[np.bool_]:
        """Which margins grow along the direction."""
        moves = np.ones(self.rows.shape[0], dtype=bool)
        moves[self.separation.still] = False
        return moves

    def _whole(self, direction: tuple[Fraction, ...]) -> list[Fraction]:
        """The direction of all unknowns, those of softmax with sum zero over the classes, so long that the margin that
        grows least does so by one to two."""
        v = as_doubles(direction)
        with np.errstate(over="ignore", under="ignore"):
            least = float((self.rows @ v)[self._moves].min())
        growth = math.frexp(least)[1] - 1 if 0 < least < math.inf else 0
        scale = power_of_two(-growth - max(exponent_of(value) for value in direction if value))
        x = [Fraction(0)] * self.problem.size
        for place, value in zip(self._places().tolist(), direction, strict=True):
            x[place] = value * scale
        if self.problem.kind == "softmax":
            classes = self.problem.terms[0].loss.width + 1
            for where in self.problem.layout.values():
                x[where] = _with_sum_zero(x[where], classes)
        return x


def _with_sum_zero(values: list[Fraction], classes: int) -> list[Fraction]:
    """The values by class, less their mean over the classes."""
    features = len(values) // classes
    means = [sum(values[j::features], Fraction(0)) / classes for j in range(features)]
    return [value - means[k % features] for k, value in enumerate(values)]
