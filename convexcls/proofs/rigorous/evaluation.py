"""A problem at a feasible point near x, without rounding: the values of all rows as balls, and the objective.

Ax = b holds at x + D A'v with (A D A') v = b - Ax, where D_j is how far x_j may move: its distance from its bounds,
else its own size. A step in doubles removes most of b - Ax; what remains is bounded, and so is v, so that the true
point is known as a ball around x, though not as doubles. |A'v| <= 1 keeps it within the bounds. The slacks are set to
the largest of their rows' values, in doubles: that is where the point is, whatever was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, least_squares
from convexcls.problem import Constraint
from convexcls.proofs.rigorous.losses import LossAt, loss_at
from convexcls.proofs.rigorous.matrices import Gram, Grams, QuadraticForm
from convexcls.proofs.rigorous.products import Products, by_variable, largest_factors
from convexcls.proofs.rigorous.rounding import ROUNDINGS_BESIDE_SUM, Ball, gamma, powers_of_two, raised
from convexcls.proofs.rigorous.structure import Structure, stated

#: Equalities with more coefficients are not repaired.
MAX_COEFFICIENTS = 20_000_000
#: A point with all unknowns at their bounds is made smaller by so much.
SHRINK = 2.0**-42


class Evaluation:
    """One problem at the feasible point near x."""

    def __init__(self, structure: Structure, x: Array) -> None:
        self.structure, self.problem = structure, structure.problem
        self.products = Products(self.problem)
        self.grams = Grams(self.problem, self.products)
        point = feasible_point(structure, self.products, x)
        self.infeasible = point.failed
        blocks = [*self.problem.terms, *structure.rows]
        values = self.products.forward([b.entries for b in blocks], point.x, skip=tuple(structure.slacks))
        #: Mx and Gx by block, without offsets and without slacks.
        self.values = {b.name: value for b, value in zip(blocks, values, strict=True)}
        #: The point with its slacks.
        self.x = Ball(point.x.mid.copy(), point.x.rad)
        for v, slack in structure.slacks.items():
            heights = [self.values[c.name].mid - c.rhs for c in slack.pieces]
            self.x.mid[self.problem.layout[v]] = slack.lowest(heights)
        self.forms = {v: QuadraticForm.of(p) for v, p in structure.matrices.items()}
        self.products.passes += sum(4 if form.is_root else 2 for form in self.forms.values() if form is not None)

    @property
    def equalities(self) -> list[Constraint]:
        """Ax = b."""
        return [c for c in self.structure.rows if c.relation == "=="]

    @cached_property
    def residuals(self) -> dict[str, Ball]:
        """h - Gx by block of rows, the slacks counted."""
        out = {}
        for c in self.structure.rows:
            out[c.name] = stated(c, "rhs") - self.values[c.name]
            for v in c.entries:
                if v in self.structure.slacks:
                    out[c.name] = out[c.name] + Ball.exact(self.x.mid[self.problem.layout[v]])
        return out

    def pull(self, multipliers: Mapping[str, Ball]) -> Ball:
        """G'lambda + A'nu of the blocks that have multipliers here."""
        rows = [c for c in self.structure.rows if c.name in multipliers]
        parts = by_variable((c.entries, [multipliers[c.name]], []) for c in rows)
        return self.products.backward(parts)[0][0]

    def slackness(self, multipliers: Mapping[str, Ball]) -> Ball:
        """lambda'(h - Gx) + nu'(b - Ax), over the rows that have a multiplier here."""
        parts = [Ball.exact(np.zeros(1))]
        for c in self.structure.rows:
            if c.name in multipliers:
                z = multipliers[c.name]
                used = np.flatnonzero(z.size > 0)
                parts.append(z.at(used) * self.residuals[c.name].at(used))
        return Ball.joined(parts).total()

    @cached_property
    def losses(self) -> dict[str, LossAt]:
        """The smooth losses by term."""
        return {t.name: loss_at(t.loss, self.values[t.name] + stated(t, "offset")) for t in self.problem.terms}

    @cached_property
    def matrix_parts(self) -> dict[str, tuple[Ball, Ball]]:
        """P x and x'Px / 2 by variable with a matrix."""
        layout = self.problem.layout
        return {v: form.at(self.x.at(layout[v])) for v, form in self.forms.items() if form is not None}

    @cached_property
    def curved(self) -> Ball:
        """P x."""
        out = self.x.times(self.structure.diagonal)
        for v, (product, _) in self.matrix_parts.items():
            out = out.with_part(self.problem.layout[v], product)
        return out

    @cached_property
    def value(self) -> Ball:
        """The objective."""
        return self.objective(self.x, {t.name: self.losses[t.name].value for t in self.problem.terms})

    def objective(self, x: Ball, losses: dict[str, Ball], scale: float = 1.0) -> Ball:
        """The objective at x, which is ``scale`` times the point, with the losses there."""
        problem = self.problem
        parts = [Ball.exact(np.array([problem.constant])), x.times(problem.q)]
        parts.append(x.squared().times(self.structure.diagonal).half())
        for t in problem.terms:
            counts = t.weights > 0
            parts.append(losses[t.name].at(counts).times(t.weights[counts]))
        parts += [value.times(scale).times(scale) for _, value in self.matrix_parts.values()]
        return Ball.joined(parts).total()


# ---- equalities -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Point:
    """In the ball there is a point that satisfies all equalities, unless ``failed`` says why none is known."""

    x: Ball
    failed: str = ""


def feasible_point(structure: Structure, products: Products, x: Array) -> Point:
    """The point near x."""
    low, high = structure.limits
    x = np.clip(x, low, high)
    equalities = [c for c in structure.rows if c.relation == "=="]
    if not equalities:
        return Point(Ball.exact(x))
    count = sum(c.size for c in equalities)
    if count * x.size > MAX_COEFFICIENTS:
        return Point(Ball.exact(x), f"there are {count} equalities, more than are repaired")
    repair = _Repair(structure, products, equalities)
    with np.errstate(all="ignore"):
        for _ in range(2):
            step = repair.step(x)
            if not np.all(np.isfinite(step)):
                break
            x = np.clip(x + step, low, high)
        found = repair.bounded(x)
        # all at their bounds: where less of x is as good, a little less of everything may move
        cone = np.all((low <= 0) & (high >= 0)) and not any(np.any(c.rhs != 0) for c in equalities)
        return repair.bounded(x * (1.0 - SHRINK)) if found.failed and cone else found


class _Repair:
    def __init__(self, structure: Structure, products: Products, equalities: list[Constraint]) -> None:
        self.structure, self.products, self.equalities = structure, products, equalities
        self.A, self.off = self._coefficients()

    def step(self, x: Array) -> Array:
        """D A'v in doubles."""
        D = self._distances(x)
        v = least_squares(self._gram(D).matrix, self._residual(x).mid)
        return np.asarray(D * (self.A.T @ v))

    def bounded(self, x: Array) -> Point:
        """x with a bound of |D A'v|."""
        residual = self._residual(x)
        if not np.any(residual.size):
            return Point(Ball.exact(x))
        D = self._distances(x)
        v = self._gram(D).bound(residual.size)
        if v is None:
            return Point(Ball.exact(x), "the equalities are not shown to be independent")
        rad = raised(D * ((np.abs(self.A) + self.off).T @ v) * (1.0 + 4 * (v.size + 4) * UNIT_ROUNDOFF))
        low, high = self.structure.limits
        if not np.all(rad <= 0.999 * np.minimum(x - low, high - x)):
            return Point(Ball.exact(x), "no point near x satisfies the equalities within the bounds")
        return Point(Ball(x, np.asarray(rad)))

    def _coefficients(self) -> tuple[Array, Array]:
        """A, and how far its entries may be off."""
        A = np.vstack([self.structure.problem.joined(c.entries, c.size).to_dense() for c in self.equalities])
        off, start = 4 * UNIT_ROUNDOFF * np.abs(A), 0
        for c in self.equalities:
            for v, rows in c.entries.items():
                f = rows.factors()
                error = self.products.error_of(f.core)
                entry = raised((error.absolute + error.relative * f.core.column_max()) * largest_factors(f))
                off[start : start + c.size, self.structure.problem.layout[v]] += entry
            start += c.size
        return A, off

    def _residual(self, x: Array) -> Ball:
        """b - Ax."""
        values = self.products.forward([c.entries for c in self.equalities], Ball.exact(x))
        return Ball.joined([stated(c, "rhs") - value for c, value in zip(self.equalities, values, strict=True)])

    def _distances(self, x: Array) -> Array:
        """D: powers of two, at most the distance from the bounds or, without bounds, about the size of x."""
        low, high = self.structure.limits
        largest = np.abs(self.A).max(axis=0)
        size = np.maximum(np.abs(x), 1e-3 * np.abs(x).max(initial=0.0))
        size = np.where(size > 0, size, 1.0)
        D = np.minimum(np.minimum(x - low, high - x), size)
        D = np.where((D > 0) & (largest > 0), D / np.where(largest > 0, largest, 1.0), 0.0)
        for v in self.structure.slacks:
            D[self.structure.problem.layout[v]] = 0.0
        return powers_of_two(D, np.floor)

    def _gram(self, D: Array) -> Gram:
        """A D A' with its error."""
        A, off = self.A, self.off
        k = A.shape[1] + ROUNDINGS_BESIDE_SUM
        size = (np.abs(A) * D) @ np.abs(A).T
        cross = (off * D) @ (np.abs(A) + off).T
        return Gram((A * D) @ A.T, raised(1.1 * (gamma(k) * size + cross + cross.T) + k * 1e-300))
