"""A problem at a point, without rounding: the values of all rows as balls, and the objective.

The slacks are set to the largest of their rows' values, in doubles: that is where the point is, whatever was given.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Term
from convexcls.proofs.rigorous.losses import Measured, measured
from convexcls.proofs.rigorous.matrices import Quadratic
from convexcls.proofs.rigorous.point import Point
from convexcls.proofs.rigorous.products import Products
from convexcls.proofs.rigorous.rounding import ETA, Ball
from convexcls.proofs.rigorous.structure import Structure, stated

Array = NDArray[np.float64]


class Evaluation:
    """One problem at one point."""

    def __init__(self, structure: Structure, products: Products, point: Point) -> None:
        self.structure, self.products, self.point = structure, products, point
        self.problem = structure.problem
        blocks = [*self.problem.terms, *structure.rows]
        values = products.forward([b.entries for b in blocks], point.ball, skip=tuple(structure.slacks))
        #: Mx and Gx by block, without offsets and without slacks.
        self.heads = {b.name: value for b, value in zip(blocks, values, strict=True)}
        self.x = self._with_slacks(point.x)
        self.forms = {v: Quadratic.of(p) for v, p in structure.matrices.items()}
        products.passes += sum(form.passes for form in self.forms.values() if form is not None)

    def _with_slacks(self, x: Array) -> Array:
        x = x.copy()
        for v, e in self.structure.slacks.items():
            x[self.problem.layout[v]] = e.lowest([self.heads[c.name].mid - c.rhs for c in e.pieces])
        return x

    @property
    def ball(self) -> Ball:
        """The point with its slacks."""
        return Ball(self.x, self.point.rad)

    @cached_property
    def left(self) -> dict[str, Ball]:
        """h - Gx by block of rows, the slacks counted."""
        out = {}
        for c in self.structure.rows:
            rest = stated(c, "rhs") - self.heads[c.name]
            for v in c.entries:
                if v in self.structure.slacks:
                    rest = rest + Ball.exact(self.x[self.problem.layout[v]])
            out[c.name] = rest
        return out

    @cached_property
    def losses(self) -> dict[str, Measured]:
        """The smooth losses by term."""
        return {t.name: measured(t.loss, self.heads[t.name] + stated(t, "offset")) for t in self.problem.terms}

    def slopes(self, t: Term) -> Ball:
        """The multipliers of a term: weighted slopes."""
        return self.losses[t.name].slope.times(t.row_weights)

    def movable_term(self, t: Term) -> tuple[Array, Array, float, float]:
        """Their room, what moving them loses to first order, and what to second."""
        found = self.losses[t.name]
        return found.room * t.row_weights * (1.0 - 1e-10), np.zeros(t.size), found.price, found.reach

    @cached_property
    def matrix_parts(self) -> dict[str, tuple[Ball, Ball]]:
        """P x and x'Px / 2 by variable with a matrix."""
        layout = self.problem.layout
        return {v: form.at(self.ball.at(layout[v])) for v, form in self.forms.items() if form is not None}

    @cached_property
    def curved(self) -> Ball:
        """P x."""
        out = self.ball.times(self.structure.diagonal)
        mid, rad = out.mid.copy(), out.rad.copy()
        for v, (product, _) in self.matrix_parts.items():
            where = self.problem.layout[v]
            mid[where], rad[where] = product.mid, product.rad
        return Ball(mid, rad)

    @cached_property
    def value(self) -> Ball:
        """The objective."""
        return self.objective(self.ball, {t.name: self.losses[t.name].value for t in self.problem.terms})

    def objective(self, x: Ball, losses: dict[str, Ball], scale: float = 1.0) -> Ball:
        """The objective at x, which is ``scale`` times the point, with the losses there."""
        problem = self.problem
        parts = [Ball.exact(np.array([problem.constant])), x.times(problem.q)]
        square = x.squared().times(self.structure.diagonal)
        parts.append(Ball(0.5 * square.mid, 0.5 * square.rad + np.where(square.mid > 0, ETA, 0.0)))
        for t in problem.terms:
            counts = t.weights > 0
            parts.append(losses[t.name].at(counts).times(t.weights[counts]))
        for _, value in self.matrix_parts.values():
            part = value.times(scale).times(scale)
            parts.append(Ball(np.reshape(part.mid, 1), np.reshape(part.rad, 1)))
        return Ball(np.concatenate([p.mid for p in parts]), np.concatenate([p.rad for p in parts])).total()
