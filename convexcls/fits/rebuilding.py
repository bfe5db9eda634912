"""Multipliers for a point that came without any.

At a minimiser the multipliers follow from the point, but for the rows at a kink:

    a slack (or the size of a coefficient) costs T_i, and the multipliers of its pieces add up to T_i. Where one piece
    is active it takes all of T_i; where two are, as for a sample at margin one, they share it.

So the shares at the kinks, the multipliers of hard rows that are tight and those of equations are left: they are the
solution of a least-squares problem with bounds, which makes the gradient of the Lagrangian as small as it can be. What
counts as "at the kink" depends on how accurate the point is: several widths are tried, and the one that satisfies the
optimality conditions best is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from convexcls.arrays import Array, Indices, Mask
from convexcls.problem import Constraint, Epigraph, Problem
from convexcls.problem.values import gradient
from convexcls.proofs.kkt.check import check_kkt
from convexcls.rows import Rows

#: Rows so near to a kink, in units of their block, are looked at.
KINK_WIDTHS = (1e-9, 1e-6, 1e-4, 1e-2)
#: Conditions that hold so well need no other width.
GOOD_ENOUGH_MEASURE = 1e-8
#: So many multipliers are found by least squares, those nearest to the kink; the others by the side they are on.
MAX_FREE_MULTIPLIERS = 200


def rebuilt(problem: Problem, x: Array, widths: tuple[float, ...] = KINK_WIDTHS) -> dict[str, Array]:
    """Multipliers that satisfy the optimality conditions at x as well as any that were tried."""
    if not problem.constraints:
        return {}
    best: tuple[float, dict[str, Array]] | None = None
    for width in widths:
        found = _Shares(problem, x, width).multipliers()
        worst = check_kkt(problem, x, found).worst
        if best is None or worst < best[0]:
            best = worst, found
        if worst <= GOOD_ENOUGH_MEASURE:
            break
    assert best is not None
    return best[1]


@dataclass
class _Unknown:
    """Multipliers that are free between bounds: ``+1`` on rows of one block and ``-1`` on those of another."""

    block: Constraint
    rows: Indices
    lower: Array
    upper: Array
    other: Constraint | None = None


@dataclass
class _Shares:
    """The multipliers of one width: what the point fixes, and what is left to least squares."""

    problem: Problem
    x: Array
    width: float
    fixed: dict[str, Array] = field(default_factory=dict)
    unknown: list[_Unknown] = field(default_factory=list)

    def multipliers(self) -> dict[str, Array]:
        self.fixed = {c.name: np.zeros(c.size) for c in self.problem.constraints}
        slacks = [e.variable for e in self.problem.epigraphs]
        for e in self.problem.epigraphs:
            self._share(e)
        free = self._zero_coefficients()
        for c in self.problem.constraints:
            if not any(name in c.entries for name in slacks):
                self._hard(c)
        if self.unknown:
            self._solve(slacks, free)
        if free.size:
            self._absolute_values(free)
        return self.fixed

    def _share(self, e: Epigraph) -> None:
        """The pieces of a slack: the active one takes its cost, two share it."""
        name, pieces, where = e.variable, e.pieces, self.problem.layout[e.variable]
        total = np.maximum((self.problem.apply_quadratic(self.x) + self.problem.q)[where], 0.0)
        below = np.array([self.x[where] - height for height in e.heights(self.problem, self.x)])
        order = np.argsort(below, axis=0, kind="stable")
        first = order[0]
        for k, c in enumerate(pieces):
            self.fixed[c.name][first == k] = total[first == k]
        if len(pieces) < 2:
            return
        second = order[1]
        distance = np.take_along_axis(below, second[None, :], axis=0)[0]
        if name == "size":  # each of these touches one coefficient: see _absolute_values
            return
        unit = max(c.unit for c in pieces) or 1.0
        near = _nearest(distance, (distance <= self.width * unit) & (total > 0))
        for k in range(len(pieces)):
            for j in range(len(pieces)):
                rows = near[(first[near] == k) & (second[near] == j)]
                if rows.size:
                    self.fixed[pieces[k].name][rows] = total[rows]
                    zero = np.zeros(rows.size)
                    self.unknown.append(_Unknown(pieces[j], rows, zero, total[rows], pieces[k]))

    def _zero_coefficients(self) -> Indices:
        """The coefficients at the kink of their absolute value, where there is an l1 penalty."""
        if "size" not in self.problem.layout:
            return np.zeros(0, dtype=np.intp)
        size = np.abs(self.x[self.problem.layout["size"]])
        return np.flatnonzero(size <= self.width * float(size.max(initial=0.0)))

    def _absolute_values(self, free: Indices) -> None:
        """The two multipliers of |coef_j| at 0: they add up to its cost and differ by what the gradient asks for, as
        far as they can."""
        sizes = self.problem.layout["size"]
        total = (self.problem.q[sizes])[free]
        for name in ("size_above", "size_below"):
            self.fixed[name][free] = 0.0
        slope = self._gradient()[self.problem.layout["coef"]][free]
        above = np.clip((total - slope) / 2.0, 0.0, total)
        self.fixed["size_above"][free], self.fixed["size_below"][free] = above, total - above

    def _hard(self, c: Constraint) -> None:
        """Equations, whose multipliers are free, and rows that must hold, where they are tight."""
        if c.relation == "==":
            rows = np.arange(c.size)
            self.unknown.append(_Unknown(c, rows, np.full(c.size, -np.inf), np.full(c.size, np.inf)))
            return
        slack = c.rhs - self.problem.rows(c) @ self.x
        unit = max(c.unit, float(np.abs(c.rhs).max(initial=0.0))) or 1.0
        rows = _nearest(slack, slack <= self.width * unit)
        if rows.size:
            self.unknown.append(_Unknown(c, rows, np.zeros(rows.size), np.full(rows.size, np.inf)))

    def _solve(self, slacks: list[str], free: Indices) -> None:
        """Bounded least squares on the gradient of the Lagrangian, each feature in units of its largest value; what
        the multipliers of an absolute value can balance is left out."""
        from scipy.optimize import lsq_linear

        names = [v.name for v in self.problem.variables if v.name not in slacks]
        where = self.problem.places(names)
        kept = ~np.isin(where, self.problem.places(["coef"])[free]) if free.size else np.ones(where.size, dtype=bool)
        slope = self._gradient()[where][kept]
        columns = np.hstack([self._columns(u, names) for u in self.unknown])[kept]
        size = np.abs(columns).max(axis=1, initial=0.0)
        scale = 1.0 / np.where(size > 0, size, 1.0)
        lower = np.concatenate([u.lower for u in self.unknown])
        upper = np.concatenate([u.upper for u in self.unknown])
        if lower.size and np.all(lower < upper):
            found = lsq_linear(scale[:, None] * columns, -scale * slope, (lower, upper), "bvls", max_iter=100).x
            start = 0
            for u in self.unknown:
                part = found[start : start + u.rows.size]
                start += u.rows.size
                self.fixed[u.block.name][u.rows] += part
                if u.other is not None:
                    self.fixed[u.other.name][u.rows] -= part

    def _gradient(self) -> Array:
        """The gradient of the Lagrangian with the multipliers that are fixed."""
        return gradient(self.problem, self.x, self.fixed)

    def _columns(self, u: _Unknown, names: list[str]) -> Array:
        """What a multiplier adds to the gradient, one column each."""
        out = self._rows(u.block, u.rows, names)
        if u.other is not None:
            out = out - self._rows(u.other, u.rows, names)
        return out.T

    def _rows(self, c: Constraint, index: Indices, names: list[str]) -> Array:
        rows: Rows | None = self.problem.narrow_rows(c.entries, names)
        if rows is None:
            return np.zeros((index.size, sum(self.problem.variable(v).size for v in names)))
        return rows[index].to_dense()


def _nearest(distance: Array, chosen: Mask) -> Indices:
    """The chosen rows, at most so many that least squares can take them: those nearest to the kink."""
    rows = np.flatnonzero(chosen)
    return np.sort(rows[np.argsort(distance[rows], kind="stable")[:MAX_FREE_MULTIPLIERS]])
