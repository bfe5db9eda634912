"""The Karush-Kuhn-Tucker conditions of a point, measured on the problem as stated.

Everything is in the maximum norm. Each residual comes absolute and relative; the relative measures are
chosen so that a small number cannot hide a wrong answer:

stationarity         of a coordinate with curvature p > 0, relative to the largest p|x| of its block, all
                     features measured in units of their largest value; of one without, relative to the sum
                     of absolute values of what was added up, and to the change of multipliers that would remove it
                     (``correction.py``) or, where that cannot be told, the effect |r_j x_j| on the objective
primal feasibility   relative to the block's unit (its right-hand side), and priced at the block's largest
                     multiplier relative to the objective
dual feasibility     every multiplier's sign, relative to the block's largest multiplier
complementarity      every row's product, relative to the objective
gap                  relative to the objective, or to the problem's unit where the optimum may be 0
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from convexcls.centring import in_centred_form
from convexcls.certificate.correction import Correction, correction, free_variables
from convexcls.certificate.measures import KKT, Residual, ratio, ratios
from convexcls.certificate.root import root_multipliers
from convexcls.problem import ROUNDING_ROOM, Block, Constraint, NormBound, Problem, Term
from convexcls.rows import DiagonalRows, Rows

Array = NDArray[np.float64]
#: A relative change of multipliers that needs no closer look.
ENOUGH = 1e-10


def check_kkt(problem: Problem, x: Array, multipliers: Mapping[str, Array], enough: float = ENOUGH) -> KKT:
    """Measure the KKT conditions at x with the given multipliers, by constraint block. A relative change of multipliers
    below ``enough`` (see ``correction.py``) is not looked at more closely: what is reported may be above it."""
    return check_kkt_with_gradient(problem, x, multipliers, enough)[0]


def check_kkt_with_gradient(
    problem: Problem, x: Array, multipliers: Mapping[str, Array], enough: float = ENOUGH
) -> tuple[KKT, Array]:
    """The same, with the gradient of the Lagrangian, which is half of what it took. Features far from zero are measured
    from near their middle, and so is the gradient: that changes nothing but the digits that are lost."""
    problem, x, multipliers = in_centred_form(problem, np.asarray(x, dtype=float), multipliers)
    with np.errstate(over="ignore", invalid="ignore"):
        check = _Check(problem, x, multipliers, enough)
        return check.run(), check.gradient


def _acts_one_to_one(problem: Problem, variable: str) -> bool:
    """Whether every block takes the variable entry by entry, as slacks are taken."""
    blocks = (*problem.constraints, *problem.terms, *problem.norm_bounds)
    return all(isinstance(b.entries[variable], DiagonalRows) for b in blocks if variable in b.entries)


class _Check:
    """One measurement: gathers the pieces of the Lagrangian's gradient, then judges them."""

    def __init__(self, problem: Problem, x: Array, multipliers: Mapping[str, Array], enough: float) -> None:
        self.problem, self.x, self.multipliers, self.enough = problem, x, multipliers, enough
        self.curved = problem.apply_quadratic(x)  # P x
        self.pull = problem.q.copy()  # the gradient of the Lagrangian without P x
        self.magnitude = np.abs(problem.q)  # the same sum of absolute values
        self.reach = np.zeros(problem.size)  # the largest entry of each column
        self.dual_value = problem.constant
        self.largest_multiplier = 0.0
        self.one_to_one = {v.name for v in problem.variables if _acts_one_to_one(problem, v.name)}
        self.loss_value = 0.0
        self.pulled = self.magnitude > 0  # where anything but zeros was added up
        for term in problem.terms:
            self._add_term(term)
        for c in problem.constraints:
            self._add(problem.rows(c), multipliers[c.name], c.rhs)
            if unit := max(c.unit, float(np.abs(c.rhs).max(initial=0.0))):
                # where all multipliers may be 0, an objective of one unit gives their size
                self.magnitude += problem.rows(c).column_max() * (problem.unit / unit)
                self.largest_multiplier = max(self.largest_multiplier, problem.unit / unit)
        for b in problem.norm_bounds:
            both = multipliers[b.name]
            self._add(problem.rows(b), -both[:-1], -b.offset)
            self._add(problem.bound_rows(b), -both[-1:], np.array([-b.bound]))
        self.root = root_multipliers(problem, x, self.pull)
        if self.root is not None:
            self.curved = self.root.gradient
            self.pull = self.pull + self.root.equation

    def _add(self, rows: Rows, multiplier: Array, rhs: Array, size: Array | None = None) -> None:
        self.reach = np.maximum(self.reach, rows.column_max())
        self.dual_value -= float(multiplier @ rhs)
        self.largest_multiplier = max(self.largest_multiplier, float(np.abs(multiplier).max(initial=0.0)))
        size = np.abs(multiplier) if size is None else size
        used = np.flatnonzero(size)
        if 2 * used.size < multiplier.size:  # most rows of a margin are far from it
            rows, multiplier, size = rows[used], multiplier[used], size[used]
        self.pull += rows.T @ multiplier
        added = abs(rows).T @ size
        self.magnitude += added
        self.pulled |= added > 0

    def _add_term(self, term: Term) -> None:
        rows = self.problem.rows(term)
        u = rows @ self.x + term.offset
        slopes = np.where(term.row_weights > 0, term.loss.slope(u), 0.0)
        sizes = np.where(term.row_weights > 0, term.row_weights * term.loss.slope_size(u, slopes), 0.0)
        self._add(rows, term.row_weights * slopes, -term.offset, sizes)
        if term.is_half_square:  # where residuals may all be 0, the targets give the size
            target = ROUNDING_ROOM * term.weights * np.abs(term.offset)
            if not np.any(target):  # no targets either: a loss of one unit has this slope
                target = np.sqrt(2.0 * self.problem.unit * term.weights) / max(term.size, 1)
            self.magnitude += rows.column_max() * float(target.sum())
            self.largest_multiplier = max(self.largest_multiplier, float(target.max(initial=0.0)))
        self.loss_value += term.value(u)
        conjugate = term.loss.conjugate.value(term.loss.dual_sign * slopes[term.counted])
        self.dual_value -= float(term.weights[term.weights > 0] @ conjugate)

    @property
    def gradient(self) -> Array:
        """The gradient of the Lagrangian."""
        return self.curved + self.pull

    def run(self) -> KKT:
        problem, x = self.problem, self.x
        bent = 0.5 * float(x @ self.curved) if self.root is None else self.root.value
        objective = bent + float(problem.q @ x) + problem.constant + self.loss_value
        substituted = self._substituted()
        safe = np.where(substituted, self.diagonal, 1.0)
        dual = self.dual_value - 0.5 * float(np.sum(np.where(substituted, self.pull**2 / safe, 0.0)))
        dual -= 0.5 * float(x[~substituted] @ self.curved[~substituted]) if self.root is None else self.root.dual_value
        finite = [abs(v) for v in (objective, dual) if np.isfinite(v)]
        self.scale = max([problem.unit, *finite])
        primal, signs, products = self._constraints()
        free, needed = self._needed_correction()
        stationarity = self._stationarity(substituted, free, needed)
        dependent = tuple(free) if np.isinf(needed.size) else ()
        return KKT(stationarity, primal, signs, products, objective, dual, self.scale, dependent)

    def _substituted(self) -> NDArray[np.bool_]:
        """Where P is diagonal and positive, and the dual has x substituted out."""
        self.diagonal = np.zeros(self.problem.size)
        for v, p in self.problem.quadratic.items():
            if not isinstance(p, Rows):
                self.diagonal[self.problem.layout[v]] = p
        return self.diagonal > 0

    def _stationarity(self, substituted: NDArray[np.bool_], free: list[str], needed: Correction) -> Residual:
        residual = np.abs(self.gradient)
        units = 1.0 / np.where(self.reach > 0, self.reach, 1.0)
        values, relatives = {}, {}
        for v, where in self.problem.layout.items():
            r, curved = residual[where], substituted[where]
            summed = self.magnitude[where] + self._quadratic_magnitude(v)
            if v in self.one_to_one:  # slacks: entries alike, so the largest of them gives the size
                summed = np.full(summed.shape, summed.max(initial=0.0))
            relative = ratios(r, summed)
            if v not in free or not needed.whole:
                relative = np.maximum(relative, ratios(r * np.abs(self.x[where]), self.scale))
            if curved.any():
                size = units[where] * np.maximum(np.abs(self.curved[where]), np.abs(self.problem.q[where]))
                typical = np.minimum(np.sqrt(2 * self.scale * self.diagonal[where]), summed)
                reference = np.maximum(size[curved].max() / units[where], typical)
                relative = np.where(curved, ratios(r, reference), relative)
            values[v], relatives[v] = r, relative
        change = ratio(needed.size, self.largest_multiplier)
        for v in free:
            seen = (values[v] > 0) | np.isinf(change)
            relatives[v] = np.where(seen, np.maximum(relatives[v], change), relatives[v])
        return Residual(values, relatives)

    def _needed_correction(self) -> tuple[list[str], Correction]:
        """The variables whose residual is measured in multipliers, and by how much these would have to change."""
        free = self.problem.remembered(free_variables) if np.all(np.isfinite(self.gradient)) else []
        if not free or not np.any(self.pulled[self.problem.places(free)]):  # a sum of zeros is zero without rounding
            return free, Correction(0.0, True)
        return free, correction(self.problem, free, self.gradient, self.enough * self.largest_multiplier)

    def _quadratic_magnitude(self, variable: str) -> Array:
        p, where = self.problem.quadratic.get(variable), self.problem.layout[variable]
        if isinstance(p, Rows):
            return abs(p) @ np.abs(self.x[where])
        return np.abs(self.curved[where])

    def _constraints(self) -> tuple[Residual, Residual, Residual]:
        primal: list[dict[str, Array]] = [{}, {}]
        signs: list[dict[str, Array]] = [{}, {}]
        products: list[dict[str, Array]] = [{}, {}]
        for block in (*self.problem.constraints, *self.problem.norm_bounds):
            if isinstance(block, NormBound):
                violation, unit, wrong, product = self._norm_bound(block)
            else:
                assert isinstance(block, Constraint)
                violation, unit, wrong, product = self._linear_rows(block)
            multiplier = np.abs(self.multipliers[block.name])
            largest = float(multiplier.max(initial=0.0))
            primal[0][block.name] = violation
            primal[1][block.name] = np.maximum(ratios(violation, unit), ratios(violation * largest, self.scale))
            floor = self._natural_multiplier(block, float(np.max(unit, initial=0.0)))
            signs[0][block.name], signs[1][block.name] = wrong, ratios(wrong, max(largest, floor))
            products[0][block.name] = product
            products[1][block.name] = ratios(product, self.scale)
        return Residual(*primal), Residual(*signs), Residual(*products)

    def _natural_multiplier(self, block: Block, unit: float) -> float:
        """The size of multipliers where all of them may be 0: the cost of what the block takes entry by entry, a slack
        or the unknown that it bounds, or what an objective of one unit gives."""
        bounded = [v for v, rows in block.entries.items() if isinstance(rows, DiagonalRows)]
        costs = [np.abs(self.problem.linear[v]).max(initial=0.0) for v in bounded if v in self.problem.linear]
        if costs:
            return float(max(costs))
        return self.problem.unit / unit if unit > 0 else 0.0

    def _linear_rows(self, c: Constraint) -> tuple[Array, Array | float, Array, Array]:
        rows = self.problem.rows(c)
        excess = rows @ self.x - c.rhs
        multiplier = self.multipliers[c.name]
        unit: Array | float = max(c.unit, float(np.abs(c.rhs).max(initial=0.0)))
        if unit == 0:  # homogeneous: the size of its own left-hand side, of a bound that of the whole block
            unit = abs(rows) @ np.abs(self.x)
            if all(isinstance(r, DiagonalRows) for r in c.entries.values()):
                unit = float(np.max(unit, initial=0.0))
        if c.relation == "==":
            return np.abs(excess), unit, np.zeros(c.size), np.zeros(c.size)
        return np.maximum(excess, 0.0), unit, np.maximum(-multiplier, 0.0), np.abs(multiplier * excess)

    def _norm_bound(self, b: NormBound) -> tuple[Array, Array | float, Array, Array]:
        inside = self.problem.rows(b) @ self.x + b.offset
        bound = float((self.problem.bound_rows(b) @ self.x)[0]) + b.bound
        both = self.multipliers[b.name]
        u, mu = both[:-1], float(both[-1])
        violation = np.array([max(0.0, float(np.linalg.norm(inside)) - bound)])
        wrong = np.array([max(0.0, float(np.linalg.norm(u)) - mu)])
        product = np.array([abs(float(u @ inside) + mu * bound)])
        # u'inside + mu bound = 0 leaves a direction free by the root of the tolerance; its only solution does not
        product = np.maximum(product, float(np.linalg.norm(mu * inside + bound * u)))
        reach = abs(self.problem.rows(b)) @ np.abs(self.x) + np.abs(b.offset)
        return violation, max(abs(bound), abs(b.bound), float(reach.max(initial=0.0))), wrong, product
