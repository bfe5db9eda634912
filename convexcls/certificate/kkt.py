"""The Karush-Kuhn-Tucker conditions of a point, measured on the problem as stated.

Everything is in the maximum norm. Each residual comes absolute and relative; the relative measures are
chosen so that a small number cannot hide a wrong answer:

stationarity         of a coordinate with curvature p > 0, relative to the largest p|x| of its block, all
                     features measured in units of their largest value; of one without, relative to the sum
                     of absolute values of what was added up, and to the change of multipliers that would remove it
                     (``correction.py``) or, where that cannot be told, the effect |r_j x_j| on the objective
primal feasibility   relative to the block's unit (its right-hand side), and what it costs to repair all of the block,
                     at its largest multiplier or the cost of its slacks, relative to the objective
dual feasibility     every multiplier's sign, relative to the block's largest multiplier, or to a natural one where all
                     may be 0
complementarity      every row's product, relative to the objective
gap                  relative to the objective, or to the problem's unit where the optimum may be 0

Every residual carries a bound on the rounding of its own evaluation, for the data as they were given; where that bound
could decide the verdict, the rows and columns in doubt are worked out again in doubled precision (``products.py``). The
gap is the sum of what the residuals cost,

    f(x) - dual = lambda'(h - Gx) + nu'(b - Ax) + sum over curved j of c_j^2 / 2 p_j + sum over the others of c_j x_j,

c the gradient of the Lagrangian: the same number as the difference of the objectives, without its cancellation.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.centring import in_centred_form
from convexcls.certificate.correction import Correction, correction, free_variables
from convexcls.certificate.measures import KKT, Residual, ratio, ratios
from convexcls.certificate.products import Gradient, quadratic_value, row_values
from convexcls.problem import ROUNDING_ROOM, Block, Constraint, NormBound, Problem, Term
from convexcls.rigorous.rounding import UNIT, Ball, gamma
from convexcls.rigorous.structure import Structure
from convexcls.rows import DiagonalRows, JoinedRows, Rows

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: The tolerance at which the conditions are told from rounding where nobody names one.
TOLERANCE = 2e-10
#: Rounding above this fraction of the tolerance is looked at more closely.
DOUBT = 0.1
#: The relative rounding of a slope, in units of 2^-53.
SLOPE_ROUNDING = 8


def check_kkt(problem: Problem, x: Array, multipliers: Mapping[str, Array], tol: float = TOLERANCE) -> KKT:
    """Measure the KKT conditions at x with the given multipliers, by constraint block, so closely that they can be told
    from the tolerance ``tol``: a change of multipliers far below it (see ``correction.py``) may be reported above what
    it is, and rounding far below it is bounded, not removed."""
    return check_kkt_with_gradient(problem, x, multipliers, tol)[0]


def check_kkt_with_gradient(
    problem: Problem, x: Array, multipliers: Mapping[str, Array], tol: float = TOLERANCE
) -> tuple[KKT, Array]:
    """The same, with the gradient of the Lagrangian, which is half of what it took. Features far from zero are measured
    from near their middle, and so is the gradient: that changes nothing but the digits that are lost."""
    problem, x, multipliers = in_centred_form(problem, np.asarray(x, dtype=float), multipliers)
    with np.errstate(all="ignore"):
        check = _Check(problem, x, multipliers, tol, closely=False)
        kkt = check.run()
        if not kkt.holds(tol) and kkt.may_hold(tol) and np.all(np.isfinite(x)):  # rounding decides
            check = _Check(problem, x, multipliers, tol, closely=True)
            kkt = check.run()
        return kkt, check.residual.mid


def _acts_one_to_one(problem: Problem, variable: str) -> bool:
    """Whether every block takes the variable entry by entry, as slacks are taken."""
    blocks = (*problem.constraints, *problem.terms, *problem.norm_bounds)
    return all(isinstance(b.entries[variable], DiagonalRows) for b in blocks if variable in b.entries)


class _Check:
    """One measurement: gathers the pieces of the Lagrangian's gradient, then judges them."""

    def __init__(self, problem: Problem, x: Array, multipliers: Mapping[str, Array], tol: float, closely: bool) -> None:
        self.problem, self.x, self.multipliers, self.tol, self.closely = problem, x, multipliers, tol, closely
        self.gradient = Gradient(problem, x)
        self.reach = np.zeros(problem.size)  # the largest entry of each column
        self.natural = np.zeros(problem.size)  # what counts as a pull where multipliers or residuals may be 0
        self.largest_multiplier = 0.0
        self.one_to_one = {v.name for v in problem.variables if _acts_one_to_one(problem, v.name)}
        losses = sum(self._add_term(term) for term in problem.terms)
        self.objective = quadratic_value(problem, x, tol) + float(problem.q @ x) + problem.constant + losses
        self.scale = max(problem.unit, abs(self.objective) if np.isfinite(self.objective) else 0.0)
        for c in problem.constraints:
            self._add(problem.rows(c), multipliers[c.name])
            if unit := max(c.unit, float(np.abs(c.rhs).max(initial=0.0))):
                # where all multipliers may be 0, an objective of one unit gives their size
                self.natural += problem.rows(c).column_max() * (problem.unit / unit)
                self.largest_multiplier = max(self.largest_multiplier, problem.unit / unit)
        for b in problem.norm_bounds:
            both = multipliers[b.name]
            self._add(problem.rows(b), -both[:-1])
            self._add(problem.bound_rows(b), -both[-1:])

    def _add(self, rows: JoinedRows, multiplier: Array, size: Array | None = None, off: Array | None = None) -> None:
        self.reach = np.maximum(self.reach, rows.column_max())
        self.largest_multiplier = max(self.largest_multiplier, float(np.abs(multiplier).max(initial=0.0)))
        self.gradient.add(rows, multiplier, size, off)

    def _add_term(self, term: Term) -> float:
        """Add the pull of a term; its value."""
        rows, weights = self.problem.rows(term), term.row_weights
        wanted = DOUBT * self.tol
        if term.is_half_square:  # where residuals may all be 0, the targets give the size
            target = ROUNDING_ROOM * term.weights * np.abs(term.offset)
            if not np.any(target):  # no targets either: a loss of one unit has this slope
                target = np.sqrt(2.0 * self.problem.unit * term.weights) / max(term.size, 1)
            self.natural += rows.column_max() * float(target.sum())
            self.largest_multiplier = max(self.largest_multiplier, float(target.max(initial=0.0)))
            if self.closely:
                typical = float(np.abs(rows @ self.x + term.offset).max(initial=0.0))
                wanted *= max(typical, ROUNDING_ROOM * float(np.abs(term.offset).max(initial=0.0)))
        wanted = min(wanted, self._wanted_by_curved(term)) if self.closely else np.inf
        u = row_values(rows, self.x, term, "offset", wanted)
        slopes = np.where(weights > 0, term.loss.slope(u.mid), 0.0)
        sizes = np.where(weights > 0, weights * term.loss.slope_size(u.mid, slopes), 0.0)
        own = 1 if term.is_half_square else SLOPE_ROUNDING  # of a square the slope is the argument
        off = own * UNIT * sizes + weights * self._slope_error(term, u)
        self._add(rows, weights * slopes, sizes, off)
        return term.value(u.mid)

    def _wanted_by_curved(self, term: Term) -> float:
        """How closely arguments have to be known so that the gradient of unknowns with curvature is: that of x_j counts
        relative to sqrt(2 f p_j), and takes all slopes times the largest entry of its column."""
        reach = self.problem.rows(term).column_max()
        felt = (self.diagonal > 0) & (reach > 0)
        if not felt.any():
            return np.inf
        least = max(self.problem.unit, 0.5 * float(self.x @ self.gradient.curved))
        size = float(np.min(np.sqrt(2.0 * least * self.diagonal[felt]) / reach[felt]))
        return DOUBT * self.tol * size / float(term.row_weights.sum())

    @staticmethod
    def _slope_error(term: Term, u: Ball) -> Array:
        """How far slopes may be off because their arguments are."""
        if term.is_half_square:
            return u.rad
        bend = np.abs(term.loss.curvature(u.mid))
        error = bend * u.rad if bend.ndim == 1 else (bend @ u.rad.reshape(*bend.shape[:2], 1)).ravel()
        return np.where(np.isfinite(error), 2.0 * error, 0.0)

    # ---- the whole ------------------------------------------------------------------------------------------------

    def run(self) -> KKT:
        self.residual = Ball(self.gradient.value, self.gradient.rounding)
        primal, signs, products = self._constraints()
        free, needed = self._needed_correction()
        stationarity = self._stationarity(free, needed)
        gap = self._gap()
        dependent = tuple(free) if np.isinf(needed.size) else ()
        return KKT(
            stationarity, primal, signs, products, self.objective, self.objective - float(gap.mid), self.scale,
            dependent, ratio(float(gap.rad), self.scale),
        )  # fmt: skip

    @cached_property
    def diagonal(self) -> Array:
        """P where it is diagonal, 0 elsewhere."""
        out = np.zeros(self.problem.size)
        for v, p in self.problem.quadratic.items():
            if not isinstance(p, Rows):
                out[self.problem.layout[v]] = p
        return out

    @cached_property
    def radii(self) -> dict[str, float]:
        """The radius of the ball that a variable is bound to, where it is not 0: then only exact signs tell
        (``origin.py``)."""
        balls = self.problem.remembered(Structure).balls
        return {v: float(b.bound) for v, b in balls.items() if np.any(self.x[self.problem.layout[v]])}

    def _refine(self, columns: Flags) -> None:
        """Work out some entries of the gradient again, in doubled precision."""
        places = np.flatnonzero(columns)
        if self.closely and places.size:
            better = self.gradient.refined(places)
            mid, rad = self.residual.mid.copy(), self.residual.rad.copy()
            closer = better.rad < rad[places]
            mid[places[closer]], rad[places[closer]] = better.mid[closer], better.rad[closer]
            self.residual = Ball(mid, rad)

    def _gap(self) -> Ball:
        """What all residuals together cost, with the rounding of that number."""
        c, x, p = self.residual, self.x, self.diagonal
        curved = p > 0
        twice = np.where(curved, 2.0 * p, 1.0)
        costs = np.where(curved, c.mid**2 / twice, c.mid * x)
        off = np.where(curved, (np.abs(c.mid) + c.rad) ** 2 / twice - costs, c.rad * np.abs(x))
        low, high = self.problem.remembered(Structure).limits
        boxed = ~curved & np.isfinite(low) & np.isfinite(high)
        if boxed.any():  # c (x - x') for the worst x' within the bounds
            way = np.where(c.mid > 0, x - low, high - x)
            worst, unsure = np.where(boxed, np.abs(c.mid) * way, costs), np.where(boxed, c.rad * (high - low), off)
            if boxed.all() and (bound := self._mass(low)) < np.inf:
                price = bound / -self.problem.q
                lost, doubt = (float(np.max(part * price, initial=0.0)) for part in (-c.mid, c.rad))
                if lost + doubt + float((costs + off).sum()) < float((worst + unsure).sum()):
                    worst, unsure = costs.copy(), off.copy()
                    worst[0] += lost
                    unsure[0] += doubt
            costs, off = worst, unsure
        for v, radius in self.radii.items():  # the same within a ball
            where = self.problem.layout[v]
            costs[where] = c.mid[where] * x[where]
            off[where] = c.rad[where] * np.abs(x[where])
            costs[where.start] += radius * float(np.linalg.norm(c.mid[where]))
            off[where.start] += radius * float(np.linalg.norm(c.rad[where]))
        parts, rounding = [costs, *self.norm_products], float(off.sum())
        for excess, multiplier in self.excesses:
            parts.append(-multiplier * excess.mid)
            rounding += float(np.abs(multiplier) @ excess.rad)
        every = np.concatenate(parts)
        rounding += gamma(every.size + 8) * float(np.abs(every).sum())
        return Ball(np.asarray(float(every.sum())), np.asarray(rounding))

    def _mass(self, low: Array) -> float:
        """At least -q'x at every optimum, infinite where none is known: where 0 is feasible and x >= 0, shrinking an
        optimum does not pay, so that x'Px <= -q'x and -q'x <= -2 f(x)."""
        homogeneous = all(
            np.all(c.rhs >= 0) if c.relation == "<=" else not np.any(c.rhs) for c in self.problem.constraints
        )
        return 2.0 * self.scale if homogeneous and not np.any(low) and np.all(self.problem.q < 0) else np.inf

    # ---- stationarity ---------------------------------------------------------------------------------------------

    def _stationarity(self, free: list[str], needed: Correction) -> Residual:
        curved = self.diagonal > 0
        reference = self._references(free, needed)
        self._refine(self._in_doubt(reference))
        # the rounding of slopes is, to an unknown without curvature, a change of multipliers of the same small size
        c = self.residual.widened(np.where(curved, self.gradient.inherited, 0.0))
        change, rounding = ratio(needed.size, self.largest_multiplier), ratio(needed.rounding, self.largest_multiplier)
        values, relatives, roundings = {}, {}, {}
        for v, where in self.problem.layout.items():
            values[v] = np.abs(c.mid[where])
            relatives[v], roundings[v] = ratios(values[v], reference[where]), ratios(c.rad[where], reference[where])
            if v in free:
                seen = (values[v] > 0) | np.isinf(change)
                relatives[v] = np.where(seen, np.maximum(relatives[v], change), relatives[v])
                roundings[v] = np.maximum(roundings[v], rounding)
        return Residual(values, relatives, roundings)

    def _in_doubt(self, reference: Array) -> Flags:
        """The entries whose rounding could decide a verdict, alone or by what they add to the gap."""
        c, curved = self.residual, self.diagonal > 0
        effect = np.where(curved, 0.0, c.rad * np.abs(self.x))
        if effect.sum() <= DOUBT * self.tol * self.scale:
            effect[:] = 0.0
        return ~(c.rad <= DOUBT * self.tol * reference) & (c.rad > 0) | (effect > 0)

    def _references(self, free: list[str], needed: Correction) -> Array:
        """What the gradient is measured against, entry by entry."""
        out = np.empty(self.problem.size)
        units = 1.0 / np.where(self.reach > 0, self.reach, 1.0)
        for v, where in self.problem.layout.items():
            curved, x = self.diagonal[where] > 0, np.abs(self.x[where])
            summed = self.gradient.sizes[where] + self.natural[where]
            if v in self.one_to_one:  # slacks: entries alike, so the largest of them gives the size
                summed = np.full(summed.shape, summed.max(initial=0.0))
            flat = summed
            if v not in free or not needed.whole:
                x = np.maximum(x, self.radii.get(v, 0.0))
                flat = np.minimum(summed, np.where(x > 0, self.scale / np.where(x > 0, x, 1.0), np.inf))
            if curved.any():
                pulls = np.maximum(np.abs(self.gradient.curved[where]), np.abs(self.problem.q[where]))
                size = (units[where] * pulls)[curved].max()
                typical = np.minimum(np.sqrt(2 * self.scale * self.diagonal[where]), summed)
                flat = np.where(curved, np.maximum(size / units[where], typical), flat)
            out[where] = flat
        return out

    def _needed_correction(self) -> tuple[list[str], Correction]:
        """The variables whose residual is measured in multipliers, and by how much these would have to change."""
        free = self.problem.remembered(free_variables) if np.all(np.isfinite(self.residual.mid)) else []
        places = self.problem.places(free) if free else np.empty(0, dtype=np.intp)
        if not np.any(self.gradient.pulled[places]):  # a sum of zeros is zero without rounding
            return free, Correction(0.0, True)
        enough = 0.5 * self.tol * self.largest_multiplier
        needed = correction(self.problem, free, self.residual, enough)
        if self.closely and not needed.size + needed.rounding <= enough:
            flags = np.zeros(self.problem.size, dtype=bool)
            flags[places] = True
            self._refine(flags)
            needed = correction(self.problem, free, self.residual, enough)
        return free, needed

    # ---- constraints ----------------------------------------------------------------------------------------------

    def _constraints(self) -> tuple[Residual, Residual, Residual]:
        primal, signs, products = _Measures(), _Measures(), _Measures()
        self.excesses: list[tuple[Ball, Array]] = []
        self.norm_products: list[Array] = []
        for c in self.problem.constraints:
            multiplier = self.multipliers[c.name]
            largest = float(np.abs(multiplier).max(initial=0.0))
            unit, price = self._unit(c), max(largest, self._slack_cost(c))
            excess = self._excess(c, unit, price)
            if bend := self._slack_curvature(c):  # of a squared slack the last part costs most
                price = max(price, bend * float(np.max(excess.mid + excess.rad, initial=0.0)))
            self.excesses.append((excess, multiplier))
            equal = c.relation == "=="
            violation = np.abs(excess.mid) if equal else np.maximum(excess.mid, 0.0)
            off = excess.rad if equal else np.maximum(excess.mid + excess.rad, 0.0) - violation
            primal.add(c.name, violation, *self._priced(violation, off, unit, price))
            wrong = np.zeros(c.size) if equal else np.maximum(-multiplier, 0.0)
            signs.add(c.name, wrong, ratios(wrong, self._sign_unit(c, largest, unit)), np.zeros(c.size))
            product = np.zeros(c.size) if equal else np.abs(multiplier * excess.mid)
            off = np.zeros(c.size) if equal else np.abs(multiplier) * excess.rad
            products.add(c.name, product, ratios(product, self.scale), ratios(off, self.scale))
        for b in self.problem.norm_bounds:
            self._norm_bound(b, primal, signs, products)
        return primal.residual(), signs.residual(), products.residual()

    def _unit(self, c: Constraint) -> Array | float:
        """What counts as one: the right-hand side; of a homogeneous block the size of its own left-hand side."""
        unit = max(c.unit, float(np.abs(c.rhs).max(initial=0.0)))
        if unit:
            return unit
        sizes = abs(self.problem.rows(c)) @ np.abs(self.x)
        if all(isinstance(r, DiagonalRows) for r in c.entries.values()):  # a bound: that of the whole block
            return float(np.max(sizes, initial=0.0))
        return sizes

    def _excess(self, c: Constraint, unit: Array | float, price: float) -> Ball:
        """Gx - h with so little rounding that the violation, and what all of it costs, can be told."""
        rows = self.problem.rows(c)
        if not self.closely:
            return row_values(rows, self.x, c, "rhs", np.inf)
        share = DOUBT * self.tol * self.scale
        allowed = share / price if price > 0 else np.inf
        if bend := self._slack_curvature(c):
            allowed = min(allowed, float(np.sqrt(share / bend / max(c.size, 1))))
        excess = row_values(rows, self.x, c, "rhs", np.minimum(DOUBT * self.tol * unit, allowed))
        near = int(np.count_nonzero(excess.mid + excess.rad > 0)) if c.relation == "<=" else c.size
        if near > 1 and float(excess.rad.max(initial=0.0)) * near > allowed:
            return row_values(rows, self.x, c, "rhs", np.minimum(DOUBT * self.tol * unit, allowed / near))
        return excess

    def _priced(self, violation: Array, off: Array, unit: Array | float, price: float) -> tuple[Array, Array]:
        """Violations relative to the unit, or by what it costs to repair them all, and the same of their rounding."""
        return _shared(violation, unit, price, self.scale), _shared(off, unit, price, self.scale)

    def _slack_cost(self, block: Block) -> float:
        """The largest cost of a slack of the block, or of an unknown that it bounds."""
        bounded = [v for v, rows in block.entries.items() if isinstance(rows, DiagonalRows)]
        costs = [np.abs(self.problem.linear[v]).max(initial=0.0) for v in bounded if v in self.problem.linear]
        return float(max(costs, default=0.0))

    def _slack_curvature(self, block: Block) -> float:
        """The largest curvature of a slack of the block."""
        slacks = [v for v in block.entries if v in self.problem.remembered(Structure).slacks]
        return float(max((self.diagonal[self.problem.layout[v]].max(initial=0.0) for v in slacks), default=0.0))

    def _sign_unit(self, c: Constraint, largest: float, unit: Array | float) -> float:
        """What a multiplier of the wrong sign is measured against: the largest of the block or, where all may be 0, a
        natural one. That is no more than what one unit of the right-hand side may cost: a slack costs far more where no
        sample needs one."""
        natural = self._natural_multiplier(c, float(np.max(unit, initial=0.0)))
        side = max(c.unit, float(np.abs(c.rhs).max(initial=0.0)))
        return max(largest, min(natural, 2.0 * self.scale / side) if side > 0 else natural)

    def _natural_multiplier(self, block: Block, unit: float) -> float:
        """The size of multipliers where all of them may be 0: the cost of a slack or what an objective of one unit
        gives."""
        return self._slack_cost(block) or (self.problem.unit / unit if unit > 0 else 0.0)

    def _norm_bound(self, b: NormBound, primal: _Measures, signs: _Measures, products: _Measures) -> None:
        rows, bounding = self.problem.rows(b), self.problem.bound_rows(b)
        inside = rows @ self.x + b.offset
        bound = float((bounding @ self.x)[0]) + b.bound
        both = self.multipliers[b.name]
        u, mu = both[:-1], float(both[-1])
        reach = abs(rows) @ np.abs(self.x) + np.abs(b.offset)
        sizes = float(np.linalg.norm(reach)) + float((abs(bounding) @ np.abs(self.x))[0]) + abs(b.bound)
        rounding = gamma(rows.row_length + 16) * sizes
        unit = max(abs(bound), abs(b.bound), float(reach.max(initial=0.0)))
        largest = float(np.abs(both).max(initial=0.0))
        violation = np.array([max(0.0, float(np.linalg.norm(inside)) - bound)])
        primal.add(b.name, violation, *self._priced(violation, np.array([rounding]), unit, largest))
        wrong = np.array([max(0.0, float(np.linalg.norm(u)) - mu)])
        length = ratios(
            np.array([gamma(u.size + 4) * float(np.linalg.norm(u))]), max(largest, self._natural_multiplier(b, unit))
        )
        signs.add(b.name, wrong, ratios(wrong, max(largest, self._natural_multiplier(b, unit))), length)
        product = np.array([abs(float(u @ inside) + mu * bound)])
        self.norm_products.append(np.array([float(u @ inside) + mu * bound]))
        # u'inside + mu bound = 0 leaves a direction free by the root of the tolerance; its only solution does not
        product = np.maximum(product, float(np.linalg.norm(mu * inside + bound * u)))
        products.add(
            b.name, product, ratios(product, self.scale), ratios(np.array([2.0 * largest * rounding]), self.scale)
        )


class _Measures:
    """Residuals of one condition as they are found, block by block."""

    def __init__(self) -> None:
        self.values: dict[str, Array] = {}
        self.relatives: dict[str, Array] = {}
        self.roundings: dict[str, Array] = {}

    def add(self, name: str, values: Array, relatives: Array, roundings: Array) -> None:
        self.values[name], self.relatives[name], self.roundings[name] = values, relatives, roundings

    def residual(self) -> Residual:
        return Residual(self.values, self.relatives, self.roundings)


def _shared(values: Array, unit: Array | float, price: float, scale: float) -> Array:
    """Relative to the unit, or times the price relative to the scale; the largest pays for all of them."""
    largest = float(values.max(initial=0.0))
    share = float(values.sum()) / largest if 0 < largest < np.inf else 1.0
    return np.maximum(ratios(values, unit), ratios(values * (price * share), scale))
