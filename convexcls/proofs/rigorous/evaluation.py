"""A problem at a point, without rounding: the values of all rows as balls, and the objective.

The slacks are set to the largest of their rows' values, in doubles: that is where the point is, whatever was given.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint, Term
from convexcls.proofs.rigorous.feasible import feasible_point
from convexcls.proofs.rigorous.losses import LossAt, loss_at
from convexcls.proofs.rigorous.matrices import Grams, Quadratic
from convexcls.proofs.rigorous.products import Products
from convexcls.proofs.rigorous.rounding import Ball
from convexcls.proofs.rigorous.structure import Structure, stated


class Evaluation:
    """One problem at the feasible point near x."""

    def __init__(self, structure: Structure, x: Array) -> None:
        self.structure, self.problem = structure, structure.problem
        self.products = Products(self.problem)
        self.grams = Grams(self.problem, self.products)
        self.point = feasible_point(structure, self.products, x)
        blocks = [*self.problem.terms, *structure.rows]
        values = self.products.forward([b.entries for b in blocks], self.point.ball, skip=tuple(structure.slacks))
        #: Mx and Gx by block, without offsets and without slacks.
        self.values = {b.name: value for b, value in zip(blocks, values, strict=True)}
        mid = self.point.x.copy()
        for v, rows in structure.slacks.items():
            mid[self.problem.layout[v]] = self.slack(v, [self.values[c.name].mid - c.rhs for c in rows])
        #: The point with its slacks.
        self.x = Ball(mid, self.point.rad)
        self.forms = {v: Quadratic.of(p) for v, p in structure.matrices.items()}
        self.products.passes += sum(form.passes for form in self.forms.values() if form is not None)

    def slack(self, v: str, violations: list[Array]) -> Array:
        """The least slack for violations of its rows."""
        highest = np.max(violations, axis=0)
        curved = self.structure.diagonal[self.problem.layout[v]] > 0
        return np.where(curved, np.maximum(highest, 0.0), highest)

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

    @cached_property
    def losses(self) -> dict[str, LossAt]:
        """The smooth losses by term."""
        return {t.name: loss_at(t.loss, self.values[t.name] + stated(t, "offset")) for t in self.problem.terms}

    def slopes(self, t: Term) -> Ball:
        """The multipliers of a term: weighted slopes."""
        return self.losses[t.name].slope.times(t.row_weights)

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
