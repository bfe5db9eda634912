"""The Karush-Kuhn-Tucker conditions of a point, measured on the problem as stated.

Everything is in the maximum norm. Each residual comes absolute and relative; the relative measures are
chosen so that a small number cannot hide a wrong answer:

stationarity         of a coordinate with curvature p > 0, relative to the largest p|x| of its block, all
                     features measured in units of their largest value; of one without, relative to the sum
                     of absolute values of what was added up, and to the change of multipliers that would remove it
                     (``correction.py``) or, where that cannot be told, the effect |r_j x_j| on the objective
primal feasibility   relative to the block's unit (its right-hand side), of an unknown between two bounds to their
                     distance where that is less; and what it costs to repair all of the block, at its largest
                     multiplier or the cost of its slacks, relative to the objective
dual feasibility     every multiplier's sign, relative to the block's largest multiplier, or to a natural one where all
                     may be 0; of a side of a distance also to what that costs
complementarity      every row's product, relative to the objective
gap                  relative to the objective, or to the problem's unit where the optimum may be 0

Every residual carries a bound on the rounding of its own evaluation, for the data as they were given; where that bound
could decide the verdict, the rows and columns in doubt are worked out again in doubled precision (``products.py``). The
gap is the sum of what the residuals cost,

    f(x) - dual = lambda'(h - Gx) + nu'(b - Ax) + sum over curved j of c_j^2 / 2 p_j + sum over the others of c_j x_j,

c the gradient of the Lagrangian: the same number as the difference of the objectives, without its cancellation. A slope
is a multiplier of its loss; where its argument is off by e, it is that of another argument, and by the inequality of
Fenchel and Young costs at most e^2 times half the curvature between: that is part of the gap's rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import cast

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, Mask, top
from convexcls.data import Recalled
from convexcls.problem import Constraint, NormBound, Problem, Term
from convexcls.problem.centring import in_centred_form
from convexcls.proofs.kkt.correction import Correction, FreeRows
from convexcls.proofs.kkt.products import (
    Gradient,
    plain_rounding,
    plain_values,
    quadratic_value,
    rounding_by_row,
    row_values,
)
from convexcls.proofs.kkt.pulls import Pull, excess_by_block, pull_by_block, pull_error, slopes_at
from convexcls.proofs.kkt.residuals import KKT, BlockResidual, Residual, Sizes, Yardsticks, largest, ratio
from convexcls.proofs.rigorous.rounding import Ball, gamma, raised
from convexcls.rows import JoinedRows

#: The tolerance at which the conditions are told from rounding where nobody names one.
TOLERANCE = 2e-10
#: Rounding above this fraction of the tolerance is looked at more closely.
DOUBT = 0.1
#: A residual so many times the tolerance is not measured in other ways, where there are more entries than that.
HOPELESS, MAX_EASY_ENTRIES = 1e3, 20_000
#: More entries are not worked out in doubled precision: minutes, after which as much may be open.
MAX_REFINED_ENTRIES = 5e9
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
    given = problem.rounds_costs
    problem, x, multipliers = in_centred_form(problem, np.asarray(x, dtype=float), multipliers)
    with np.errstate(all="ignore"):
        check = _Check(problem, x, multipliers, tol, False, problem.unit, given=given)
        kkt = check.run()
        for doubled in (False, True):
            if kkt.holds(tol) or not kkt.may_hold(tol) or not np.all(np.isfinite(x)):
                break
            if doubled or any(not t.is_half_square for t in problem.terms):  # rounding decides
                check = _Check(problem, x, multipliers, tol, True, check.scale, doubled, given)
                kkt = check.run()
        return kkt, check.residual.mid


class _Check:
    """One measurement: gathers the pieces of the Lagrangian's gradient, then judges them. From afar, one bound is
    enough for the rounding of all rows of a block; ``closely``, each row has its own, in doubled precision where that
    is needed (of losses, which are many, only where ``doubled``): ``scale`` is what the objective was from afar."""

    def __init__(
        self,
        problem: Problem,
        x: Array,
        multipliers: Mapping[str, Array],
        tol: float,
        closely: bool,
        scale: float,
        doubled: bool = False,
        given: bool = False,
    ) -> None:
        self.problem, self.x, self.multipliers, self.tol = problem, x, multipliers, tol
        self.closely, self.doubled, self.given = closely, doubled, given
        self.sizes, self.free = problem.remembered(Sizes), problem.remembered(FreeRows)
        self.gradient, self.scale = Gradient(problem, x, closely), scale
        self.largest_multiplier = self.sizes.multiplier
        self.losses_rounding = 0.0
        losses = sum(self._add_term(term) for term in problem.terms)
        curvature = quadratic_value(problem, x, self.gradient.curved, tol)
        self.objective = curvature + float(problem.q @ x) + problem.constant + losses
        self.scale = max(problem.unit, abs(self.objective) if np.isfinite(self.objective) else 0.0)
        for c in problem.constraints:
            self._add(problem.rows(c), multipliers[c.name])
        for b in problem.norm_bounds:
            both = multipliers[b.name]
            self._add(problem.rows(b), -both[:-1])
            self._add(problem.bound_rows(b), -both[-1:])
        #: What comes of costs that were given as numbers which doubles round.
        own = np.abs(problem.q) + np.abs(self.gradient.curved)
        self.costs_off = 1.01 * UNIT_ROUNDOFF * own if given else np.zeros(problem.size)
        self.residual = Ball(self.gradient.value, self.gradient.rounding + self.costs_off)

    def _add(self, rows: JoinedRows, multiplier: Array, size: Array | None = None) -> None:
        self.largest_multiplier = max(self.largest_multiplier, top(np.abs(multiplier)))
        self.gradient.add(rows, multiplier, size)

    def _add_term(self, term: Term) -> float:
        """Add the pull of a term; its value."""
        rows, own = self.problem.rows(term), 1 if term.is_half_square else SLOPE_ROUNDING  # a slope may be the argument
        own += self.given  # weights are costs, too
        if not self.closely and (pull := self._pull_by_block(rows, term, own)) is not None:
            self.gradient.take(rows, pull.total, pull.additions, pull.magnitude, pull.size)
            self.largest_multiplier = max(self.largest_multiplier, pull.largest)
            self.losses_rounding += pull.cost
            if self.sizes.curved.size:
                self.gradient.inherit(rows, pull.inherited)
            return pull.value
        weights = term.row_weights
        u, rad = self._arguments(term)
        z, sizes, error = slopes_at(term.loss, u, rad, weights, term.all_count)
        self._add(rows, z, sizes)
        self.losses_rounding += 0.5 * float((error * rad).sum())
        if self.sizes.curved.size:  # to the others, the rounding of slopes is a change of multipliers as small
            off = own * UNIT_ROUNDOFF * sizes + error
            self.gradient.inherit(rows, off if self.closely else float(off.sum()))
        return term.value(u)

    def _pull_by_block(self, rows: JoinedRows, term: Term, roundings: int) -> Pull | None:
        """The pull of a term whose rows are read by block, in one reading; None of others."""
        if not rows.read_by_block():
            return None
        rad = plain_rounding(rows, self.x, term, "offset")
        return pull_by_block(rows, term, self.x, rad, roundings) if np.isfinite(rad) else None

    def _arguments(self, term: Term) -> tuple[Array, Array | float]:
        """The arguments of a term, with bounds on their rounding: one for all, one a row, or as small as is wanted."""
        rows = self.problem.rows(term)
        if not self.closely:
            return plain_values(rows, self.x, term, "offset")
        if not self.doubled:
            return rows @ self.x + term.offset, rounding_by_row(rows, self.x, term, "offset")
        ball = row_values(rows, self.x, term, "offset", self._wanted(term))
        return ball.mid, ball.rad

    def _wanted(self, term: Term) -> float:
        """How closely the arguments of a term have to be known: so that slopes are known relative to the largest, of a
        square that of the largest argument; so that their rounding costs little; and so that the gradient of unknowns
        with curvature is known. That of x_j counts relative to sqrt(2 f p_j), and takes all slopes times the largest
        entry of its column."""
        rows, curved, little = self.problem.rows(term), self.sizes.curved, DOUBT * self.tol
        u = rows @ self.x + term.offset
        wanted = little * float(np.abs(u).max(initial=0.0)) if term.is_half_square else little
        pulls = float(pull_error(term.loss, u, 1.0, term.row_weights, term.all_count).sum())
        counts = rows.column_max()[curved] / np.sqrt(2.0 * self.scale * self.sizes.diagonal[curved])
        if pulls:
            wanted = min(wanted, float(np.sqrt(2.0 * little * self.scale / pulls)))
        if felt := pulls * float(counts.max(initial=0.0)):
            wanted = min(wanted, little / felt)
        return wanted

    # ---- the whole ------------------------------------------------------------------------------------------------

    def run(self) -> KKT:
        primal, signs, products = self._constraints()
        free, needed = self._needed_correction()
        stationarity = self._stationarity(free, needed)
        gap, rounding = self._gap()
        dependent = tuple(free) if np.isinf(needed.size) else ()
        return KKT(
            stationarity,
            primal,
            signs,
            products,
            self.objective,
            self.objective - gap,
            self.scale,
            dependent,
            ratio(rounding, self.scale),
        )

    @cached_property
    def radii(self) -> dict[str, float]:
        """The radius of the ball that a variable is bound to, where it is not 0: then only exact signs tell
        (``claims/linear_program.py``)."""
        return {v: float(b.bound) for v, b in self.sizes.balls.items() if np.any(self.x[self.problem.layout[v]])}

    def _refine(self, columns: Mask) -> None:
        """Work out some entries of the gradient again, in doubled precision."""
        places = np.flatnonzero(columns)
        if places.size and places.size * self.gradient.height <= MAX_REFINED_ENTRIES:
            better = self.gradient.refined(places)
            better = Ball(better.mid, better.rad + self.costs_off[places])
            mid, rad = self.residual.mid.copy(), self.residual.rad.copy()
            closer = better.rad < rad[places]
            mid[places[closer]], rad[places[closer]] = better.mid[closer], better.rad[closer]
            self.residual = Ball(mid, rad)

    def _gap(self) -> tuple[float, float]:
        """What all residuals together cost, with the rounding of that number."""
        c, x, curved = self.residual, self.x, self.sizes.curved
        costs, off = c.mid * x, c.rad * np.abs(x)
        if curved.size:
            mid, rad, twice = c.mid[curved], c.rad[curved], 2.0 * self.sizes.diagonal[curved]
            costs[curved], off[curved] = mid**2 / twice, (2.0 * np.abs(mid) + rad) * rad / twice
        boxed = bool(self.sizes.structure.bounds) and bool(self.sizes.boxed.any())
        if boxed:
            costs, off = self._boxed(self.sizes.boxed, costs, off)
        for v, radius in self.radii.items():  # the same within a ball
            where = self.problem.layout[v]
            costs[where] = c.mid[where] * x[where]
            off[where] = c.rad[where] * np.abs(x[where])
            costs[where.start] += radius * float(np.linalg.norm(c.mid[where]))
            off[where.start] += radius * float(np.linalg.norm(c.rad[where]))
        size = float(np.abs(costs).sum()) + self.cost_size
        rounding = (
            float(off.sum())
            + self.losses_rounding
            + self.cost_rounding
            + gamma(costs.size + self.costs_added + 8) * size
        )
        gap = float(costs.sum()) + self.cost
        if boxed and not abs(gap) + rounding <= DOUBT * self.tol * self.scale:
            other, other_rounding = self._gap_without_bounds()
            if abs(other) + other_rounding < abs(gap) + rounding:
                return other, other_rounding
        return gap, rounding

    def _gap_without_bounds(self) -> tuple[float, float]:
        """The same where all unknowns are between two bounds, with the multipliers of these bounds left out: then each
        costs c_j (x_j - x'_j) for the worst x' within its bounds, which is nothing at the bound that c_j holds it to,
        however large c_j is. Only of the others does rounding cost as much as the bounds are apart."""
        bounds, rows = self.sizes.structure.bounds, self.sizes.structure.rows
        if not self.sizes.boxed.all() or self.problem.norm_bounds or self.problem.terms:
            return np.inf, np.inf
        mid, rad = self.residual.mid, self.residual.rad
        for c in bounds:
            mid = mid - self.problem.rows(c).T @ self.multipliers[c.name]
            rad = raised(rad + UNIT_ROUNDOFF * np.abs(mid))
        x, (low, high) = self.x, self.sizes.structure.limits
        way = np.maximum(np.where(mid > 0, x - low, high - x), 0.0)
        costs, off = np.abs(mid) * way, rad * np.where(np.abs(mid) > rad, way, high - low)
        rounding = float(off.sum()) + gamma(costs.size + 8) * float(costs.sum())
        total = float(costs.sum())
        for c in rows:
            products, unsure, size = self.products[c.name]
            total += products
            rounding += unsure + gamma(c.size + 8) * size
        return total, rounding

    def _boxed(self, boxed: Mask, costs: Array, off: Array) -> tuple[Array, Array]:
        """The costs where unknowns are bounded: c (x - x') for the worst x' within the bounds."""
        c, x, (low, high) = self.residual, self.x, self.sizes.structure.limits
        way = np.where(c.mid > 0, x - low, high - x)
        worst, unsure = np.where(boxed, np.abs(c.mid) * way, costs), np.where(boxed, c.rad * (high - low), off)
        if boxed.all() and (bound := self._mass(low)) < np.inf:
            price = bound / -self.problem.q
            lost, doubt = (float(np.max(part * price, initial=0.0)) for part in (-c.mid, c.rad))
            if lost + doubt + float((costs + off).sum()) < float((worst + unsure).sum()):
                worst, unsure = costs.copy(), off.copy()
                worst[0] += lost
                unsure[0] += doubt
        return worst, unsure

    def _mass(self, low: Array) -> float:
        """At least -q'x at every optimum, infinite where none is known: where 0 is feasible and x >= 0, shrinking an
        optimum does not pay, so that x'Px <= -q'x and -q'x <= -2 f(x)."""
        homogeneous = all(
            np.all(c.rhs >= 0) if c.relation == "<=" else not np.any(c.rhs) for c in self.problem.constraints
        )
        return 2.0 * self.scale if homogeneous and not np.any(low) and np.all(self.problem.q < 0) else np.inf

    # ---- stationarity ---------------------------------------------------------------------------------------------

    @cached_property
    def multiplier_unit(self) -> float:
        """What a change of multipliers is measured against: what each row costs, where all are sides of distances; else
        the largest of them but, where all belong to rows of slacks, no more than what these may cost."""
        if self.free.unit is not None:
            return self.free.unit
        sides = [self.sizes.side(c) for c in self.problem.constraints]
        slacks_only = sides and not self.problem.terms and not self.problem.norm_bounds
        return min(self.largest_multiplier, self._costly(min(sides))) if slacks_only else self.largest_multiplier

    def _stationarity(self, free: list[str], needed: Correction) -> Residual:
        reference = self._references(free, needed)
        if self.closely:
            self._refine(self._in_doubt(reference))
        c, curved = self.residual, self.sizes.curved
        if curved.size:
            rad = c.rad.copy()
            rad[curved] = raised(rad[curved] + self.gradient.inherited[curved])
            c = Ball(c.mid, rad)
        change, rounding = ratio(needed.size, self.multiplier_unit), ratio(needed.rounding, self.multiplier_unit)
        sizes, blocks = np.abs(c.mid), {}
        for v, where in self.problem.layout.items():
            by = ((1.0, reference[where]),)
            unsure, least = largest(c.rad[where], by), 0.0
            if v in free:
                unsure, least = max(unsure, rounding), change
            blocks[v] = BlockResidual.of(sizes[where], by, unsure, least)
        return Residual(blocks)

    def _in_doubt(self, reference: Array) -> Mask:
        """The entries whose rounding could decide a verdict, alone or by what they add to the gap."""
        c, effect = self.residual, self.residual.rad * np.abs(self.x)
        effect[self.sizes.curved] = 0.0
        if effect.sum() <= DOUBT * self.tol * self.scale:
            effect[:] = 0.0
        return ~(c.rad <= DOUBT * self.tol * reference) & (c.rad > 0) | (effect > 0)

    def _references(self, free: list[str], needed: Correction) -> Array:
        """What the gradient is measured against, entry by entry: the sum of absolute values of what was added up, or
        the effect on the objective; of unknowns with curvature the largest p|x| of the block."""
        out = self.gradient.sizes + self.sizes.pull
        for v, where in self.problem.layout.items():
            summed = out[where]
            if v in self.sizes.one_to_one:  # slacks: entries alike, so the largest of them gives the size
                summed[:] = min(summed.max(initial=0.0), self._costly(self.sizes.slack_sides.get(v, 0.0)))
                if v in self.sizes.own_costs:  # of a distance, its own
                    np.minimum(summed, self.sizes.own_costs[v], out=summed)
                if v in self.sizes.signs:  # a change of the sign's multiplier removes it, and costs what the gap counts
                    np.maximum(summed, self.multipliers[self.sizes.signs[v]], out=summed)
            curved = self.sizes.curved_by.get(v)
            if curved is not None and curved.all():
                summed[:] = self._typical(where, curved, summed)
                continue
            typical = None if curved is None else self._typical(where, curved, summed)
            if v not in free or not needed.whole:
                x = np.maximum(np.abs(self.x[where]), self.radii.get(v, 0.0))
                np.fmin(summed, self.scale / x, out=summed)  # infinite, or not a number, where x is 0
            if typical is not None:
                summed[curved] = typical[curved]
        return out

    def _typical(self, where: slice, curved: Mask, summed: Array) -> Array:
        units = self.sizes.column_units[where]
        pulls = np.maximum(np.abs(self.gradient.curved[where]), np.abs(self.problem.q[where]))
        size = (pulls / units)[curved].max()
        return np.maximum(size * units, np.minimum(np.sqrt(2 * self.scale * self.sizes.diagonal[where]), summed))

    def _needed_correction(self) -> tuple[list[str], Correction]:
        """The variables whose residual is measured in multipliers, and by how much these would have to change."""
        rows = self.free
        if not np.isfinite(self.residual.mid).all() or not self.gradient.magnitude[rows.where].any():
            return [], Correction()  # a sum of zeros is zero without rounding
        if self.hopeless:  # what it would take to remove it says no more
            return rows.names, Correction()
        enough = 0.5 * self.tol * self.multiplier_unit
        needed = rows.correction(self.residual, enough)
        if self.closely and not needed.size + needed.rounding <= enough:
            flags = np.zeros(self.problem.size, dtype=bool)
            flags[rows.where] = True
            self._refine(flags)
            needed = rows.correction(self.residual, enough)
        return rows.names, needed

    @property
    def hopeless(self) -> bool:
        """Whether the residual of a large problem is far above the tolerance as it stands."""
        if sum([rows.entries for rows in self.free.maps]) <= MAX_EASY_ENTRIES:
            return False
        where, sizes = self.free.where, self.gradient.sizes[self.free.where]
        clearly = np.abs(self.residual.mid[where]) - self.residual.rad[where] > HOPELESS * self.tol * sizes
        return bool(np.any(clearly))

    # ---- constraints ----------------------------------------------------------------------------------------------

    def _constraints(self) -> tuple[Residual, Residual, Residual]:
        self.primal: dict[str, BlockResidual] = {}
        self.signs: dict[str, BlockResidual] = {}
        self.slackness: dict[str, BlockResidual] = {}
        self.cost = self.cost_size = self.cost_rounding = 0.0  # of products of multipliers and residuals
        self.products: dict[str, tuple[float, float, float]] = {}  # the same by constraint
        self.costs_added = 0
        for c in self.problem.constraints:
            self._constraint(c)
        for b in self.problem.norm_bounds:
            self._norm_bound(b)
        return Residual(self.primal), Residual(self.signs), Residual(self.slackness)

    def _constraint(self, c: Constraint) -> None:
        if not self.closely and self._constraint_by_block(c):
            return
        multiplier, equal = self.multipliers[c.name], c.relation == "=="
        size, nothing = np.abs(multiplier), np.zeros(multiplier.size)
        most = top(size)
        unit, price = self._unit(c), max(most, self.sizes.slack_costs[c.name])
        excess = self._excess(c, unit, price)
        mid, rad = excess.mid, excess.rad
        if bend := self.sizes.slack_curvatures.get(c.name):  # of a squared slack the last part costs most
            price = max(price, bend * float(np.max(mid + rad, initial=0.0)))
        violation = np.abs(mid) if equal else np.maximum(mid, 0.0)
        off = rad if equal else np.maximum(mid + rad, 0.0) - violation
        self.primal[c.name] = BlockResidual.of(
            violation,
            self._priced(unit, price, _share(violation)),
            largest(off, self._priced(unit, price, _share(off))),
        )
        wrong = nothing if equal else np.maximum(-multiplier, 0.0)
        self.signs[c.name] = BlockResidual.of(wrong, self._sign_yardsticks(c, most, unit))
        products = -multiplier * mid
        self.products[c.name] = self._add_products(products, size, rad)
        unsure = 0.0 if equal else top(size * rad)
        by = ((1.0, self.scale),)
        self.slackness[c.name] = BlockResidual.of(nothing if equal else np.abs(products), by, ratio(unsure, self.scale))

    def _constraint_by_block(self, c: Constraint) -> bool:
        """The same of inequalities whose rows are read by block, in one reading, if they have no slacks and one unit:
        what each row comes to is worked out again when somebody looks at it."""
        rows, multiplier = self.problem.rows(c), self.multipliers[c.name]
        if c.relation == "==" or c.name in self.sizes.slack_curvatures or not rows.read_by_block():
            return False
        rad, unit = plain_rounding(rows, self.x, c, "rhs"), self._unit(c)
        if not isinstance(unit, float) or not np.isfinite(rad):
            return False
        if (found := excess_by_block(rows, c, self.x, multiplier, rad)) is None:
            return False
        size = np.abs(multiplier)
        most = top(size)
        price, by = max(most, self.sizes.slack_costs[c.name]), ((1.0, self.scale),)
        share = found.violations / found.violation if found.violation > 0 else 1.0
        off_share = found.offs / found.off if found.off > 0 else 1.0
        off = largest(found.off, self._priced(unit, price, off_share))
        violation, products = _recalled(rows, c, self.x, None), _recalled(rows, c, self.x, multiplier)
        self.primal[c.name] = BlockResidual.known(
            violation, found.violation, self._priced(unit, price, share), rounding=off
        )
        wrong = np.maximum(-multiplier, 0.0)
        self.signs[c.name] = BlockResidual.of(wrong, self._sign_yardsticks(c, most, unit))
        rounding = float(size.sum()) * rad
        self.products[c.name] = found.cost, rounding, found.size
        self._count_products(found.cost, found.size, rounding, c.size)
        self.slackness[c.name] = BlockResidual.known(
            products, found.product, by, rounding=ratio(most * rad, self.scale)
        )
        return True

    def _add_products(self, products: Array, sizes: Array, rad: Array) -> tuple[float, float, float]:
        """Add what products of multipliers and residuals cost, with the sizes of the multipliers and the rounding of
        the residuals."""
        cost, rounding, size = float(products.sum()), float(sizes @ rad), float(np.abs(products).sum())
        self._count_products(cost, size, rounding, products.size)
        return cost, rounding, size

    def _count_products(self, cost: float, size: float, rounding: float, count: int) -> None:
        self.cost += cost
        self.cost_size += size
        self.cost_rounding += rounding
        self.costs_added += count

    def _unit(self, c: Constraint) -> Array | float:
        """What counts as one: that of the block but, of an unknown between two bounds, no more than their distance. The
        bounds of a sample of little weight are not measured by those of heavy ones."""
        unit, width = self._block_unit(c), self.sizes.widths.get(c.name)
        return unit if width is None else np.minimum(unit, width)

    def _block_unit(self, c: Constraint) -> Array | float:
        """The right-hand side; of a homogeneous block the size of its own left-hand side."""
        if unit := self.sizes.units[c.name]:
            return unit
        sizes = abs(self.problem.rows(c)) @ np.abs(self.x)
        if all(r.diagonal() is not None for r in c.entries.values()):  # a bound: that of the whole block
            return float(np.max(sizes, initial=0.0))
        return sizes

    def _excess(self, c: Constraint, unit: Array | float, price: float) -> Ball:
        """Gx - h with so little rounding that the violation, and what that of all rows costs, can be told."""
        rows = self.problem.rows(c)
        mid, rad = plain_values(rows, self.x, c, "rhs")
        if not self.closely:
            return Ball(mid, np.full(c.size, rad))
        near = c.size if c.relation == "==" else np.count_nonzero(np.maximum(mid + rad, 0.0))
        share = DOUBT * self.tol * self.scale / max(near, 1)
        allowed = share / price if price > 0 else np.inf
        if bend := self.sizes.slack_curvatures.get(c.name):
            allowed = min(allowed, float(np.sqrt(share / bend)))
        return row_values(rows, self.x, c, "rhs", np.minimum(DOUBT * self.tol * unit, allowed))

    def _priced(self, unit: Array | float, price: float, share: float) -> Yardsticks:
        """Violations count relative to the unit, and by what it costs to repair them all."""
        return (1.0, unit), (price * share, self.scale)

    def _sign_yardsticks(self, c: Constraint, most: float, unit: Array | float) -> Yardsticks:
        """What a multiplier of the wrong sign is measured against: the largest of the block or, where all may be 0, a
        natural one. That is no more than what one unit of the right-hand side may cost: a slack costs far more where no
        sample needs one. A slack is at the optimum at most the objective over its own cost: so the multiplier of its
        sign is measured against that cost, too, and those of a distance, whose rows are off by at most twice the
        distance, on the steeper side."""
        natural = self.sizes.natural_multiplier(c, float(np.max(unit, initial=0.0)))
        block = min(max(most, natural), self._costly(self.sizes.side(c) or self.sizes.units[c.name]))
        if (own := self.sizes.sign_costs.get(c.name)) is not None:
            costs = abs(self.objective - self.problem.constant)
            return (1.0, block), (min(ratio(costs, self.scale), 1.0), own)
        if (distance := self.sizes.distances.get(c.name)) is None:
            return ((1.0, block),)
        return (1.0, block), (2.0 * distance.tilt, self.sizes.own_costs[distance.variable])

    def _costly(self, side: float) -> float:
        """A multiplier that one unit of a right-hand side makes as large as twice the objective; infinite without one.
        Samples that weigh far more than the objective do not make it larger: they are fitted."""
        return 2.0 * self.scale / side if side > 0 < self.scale else np.inf

    def _norm_bound(self, b: NormBound) -> None:
        rows, bounding = self.problem.rows(b), self.problem.bound_rows(b)
        inside = rows @ self.x + b.offset
        bound = float((bounding @ self.x)[0]) + b.bound
        both = self.multipliers[b.name]
        u, mu = both[:-1], float(both[-1])
        reach = abs(rows) @ np.abs(self.x) + np.abs(b.offset)
        sizes = float(np.linalg.norm(reach)) + float((abs(bounding) @ np.abs(self.x))[0]) + abs(b.bound)
        rounding = gamma(rows.row_length + b.size + 16) * sizes
        unit = max(abs(bound), abs(b.bound), float(reach.max(initial=0.0)))
        most = float(np.abs(both).max(initial=0.0))
        by = self._priced(unit, most, 1.0)
        violation = np.array([max(0.0, float(np.linalg.norm(inside)) - bound)])
        self.primal[b.name] = BlockResidual.of(violation, by, largest(rounding, by))
        floor = max(most, self.sizes.natural_multiplier(b, unit))
        length = float(np.linalg.norm(u))
        wrong = np.array([max(0.0, length - mu)])
        self.signs[b.name] = BlockResidual.of(wrong, ((1.0, floor),), ratio(gamma(u.size + 4) * length, floor))
        product = np.array([float(u @ inside) + mu * bound])
        self._add_products(product, np.array([np.linalg.norm(both)]), np.array([rounding]))
        # u'inside + mu bound = 0 leaves a direction free by the root of the tolerance; its only solution does not
        product = np.maximum(np.abs(product), float(np.linalg.norm(mu * inside + bound * u)))
        by = ((1.0, self.scale),)
        self.slackness[b.name] = BlockResidual.of(product, by, largest(2.0 * most * rounding, by))


def _recalled(rows: JoinedRows, c: Constraint, x: Array, multiplier: Array | None) -> Array:
    """The violations of inequalities or, with multipliers, the sizes of the products, whenever these are looked at."""

    def made() -> Array:
        excess = rows @ x - c.rhs
        return np.maximum(excess, 0.0) if multiplier is None else np.abs(np.asarray(multiplier) * excess)

    return cast("Array", Recalled(c.size, made))


def _share(values: Array) -> float:
    """How many times the largest all of them are: it pays for all."""
    most = top(values)
    return float(values.sum()) / most if most > 0 else 1.0
