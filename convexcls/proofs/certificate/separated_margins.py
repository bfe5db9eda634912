"""What separability says of hard margins and of the perceptron criterion."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from convexcls.arrays import Array
from convexcls.problem import Constraint
from convexcls.proofs.certificate.infeasibility import Farkas
from convexcls.proofs.certificate.kkt import check_kkt
from convexcls.proofs.certificate.linear_program import largest_ratio
from convexcls.proofs.certificate.measures import KKT
from convexcls.proofs.certificate.separating import Finding, Separating, as_doubles
from convexcls.proofs.separability import strictly


class HardMargin(Separating):
    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        if kkt.primal_feasibility.max < 0.25 and self._rounding(x) < 0.25:
            return True  # every margin is above 1/2: x separates the classes
        return self.strict[0] is not None

    @cached_property
    def strict(self) -> tuple[list[Fraction] | None, dict[int, Fraction]]:
        """A direction with every margin above 0, or a circuit."""
        return strictly(self.rows, self.tip)

    def finding(self, tol: float) -> Finding | None:
        _, circuit = self.strict
        if not circuit:
            return None
        whole = sum(circuit.values())
        z = np.zeros(self.rows.shape[0])
        for i, weight in circuit.items():
            z[i] = float(weight / whole)
        used = np.flatnonzero(z)
        rows = self.rows[used]
        residual = largest_ratio(rows.T @ z[used], abs(rows).T @ z[used])  # of doubles: told, the proof is in rationals
        exactly = {"margin": {i: weight / whole for i, weight in circuit.items()}}
        return Finding(farkas=Farkas({"margin": z}, -float(z.sum()), residual, exactly))


class Perceptron(Separating):
    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        if self._sums_cancel():
            return False
        size = self.problem.unit
        clear = kkt.dual_objective > 1e-6 * size and self._rounding(x) < 1e-9
        if clear or kkt.objective <= 1e-6 * size:
            return True
        return self.separation.kind == "overlapping"

    def _sums_cancel(self) -> bool:
        """Whether all margins add up to 0, so that no hyperplane can have a mean margin of one."""
        row = self.problem.rows(self._normalization)
        if np.any(np.abs(row.to_dense()[0][: self.rows.shape[1]]) > 1e-9 * self.problem.unit * self.reach):
            return False
        return not any(self._sums())

    @property
    def _normalization(self) -> Constraint:
        return next(c for c in self.problem.constraints if c.name == "normalization")

    def _sums(self) -> list[Fraction]:
        """The rows times their weights, added up without rounding."""
        return [value for entries in self._normalization.entries.values() for value in entries.rational()[0]]

    def finding(self, tol: float) -> Finding | None:
        if self._sums_cancel():
            z = {c.name: np.zeros(c.size) for c in self.problem.constraints}
            z["normalization"] = np.full(1, -1.0)
            exactly = {"normalization": {0: Fraction(-1)}}
            return Finding(farkas=Farkas(z, -self.problem.unit, 0.0, exactly))
        found = self.separation
        if found.direction is None:
            return None
        if (v := self._normalized(found.direction)) is None:
            return None
        weights = self.problem.linear["slack"]
        x = np.zeros(self.problem.size)
        x[: v.size] = v
        x[self.problem.layout["slack"]] = np.maximum(-self._margins(x), 0.0)
        z = {c.name: weights.copy() if c.name == "slack_sign" else np.zeros(c.size) for c in self.problem.constraints}
        measures = check_kkt(self.problem, x, z)
        return Finding(x=x, multipliers=z, kkt=measures) if measures.holds(tol) else None

    def _normalized(self, direction: tuple[Fraction, ...]) -> Array | None:
        """The multiple of a separating direction whose mean margin is one; None where doubles do not reach so far."""
        v, weights, unit = as_doubles(direction), self.problem.linear["slack"], self.problem.unit
        total = float(weights[weights > 0] @ (self.rows @ v))
        if total > 1e6 * unit * self._rounding(v):
            return v * (unit / total)
        # of columns that nearly depend on each other rounding may leave nothing
        exactly = sum((a * b for a, b in zip(self._sums(), direction, strict=True)), Fraction(0))
        try:
            return np.array([float(a * Fraction(unit) / exactly) for a in direction])
        except OverflowError:
            return None

    def _margins(self, x: Array) -> Array:
        """y_i f(x_i) of all samples, those without weight, too."""
        margin = next(c for c in self.problem.constraints if c.name == "margin")
        names = [v for v in margin.entries if v != "slack"]
        return -sum((margin.entries[v] @ x[self.problem.layout[v]] for v in names), np.zeros(margin.size))
