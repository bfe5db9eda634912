"""What a check of the KKT conditions finds: four residuals by block, both objectives and their gap; and the sizes that
residuals are measured by, as far as the problem alone says them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, Indices, top
from convexcls.caching import cached_property
from convexcls.in_notebooks import InNotebooks
from convexcls.problem import UNIT_SHARE, Block, Problem, Term
from convexcls.problem.epigraph import Epigraph
from convexcls.proofs.rigorous.structure import Structure
from convexcls.wording import small

#: What numbers are measured by: (factor, size) measures v by factor v / size, and the largest of several counts.
Yardsticks = tuple[tuple[float, Array | float], ...]


class BlockResidual(NamedTuple):
    """The residuals of one block: ``values`` are absolute, ``yardsticks`` say what they are relative to. ``rounding``
    is how far a relative one may be off at most; where anything is left, or ``least`` is infinite, it is at least
    ``least``."""

    values: Array
    yardsticks: Yardsticks
    rounding: float
    least: float
    #: The largest absolute residual, and the largest relative one.
    max: float
    relative: float

    @classmethod
    def of(cls, values: Array, yardsticks: Yardsticks, rounding: float = 0.0, least: float = 0.0) -> BlockResidual:
        """The residuals with the largest of them."""
        most = top(values)
        relative = largest(values, yardsticks) if most else 0.0
        if most > 0 or math.isinf(least):
            relative = max(relative, least)
        return cls(values, yardsticks, rounding, least, most, relative)

    @classmethod
    def known(cls, values: Array, most: float, yardsticks: Yardsticks, rounding: float) -> BlockResidual:
        """The same of residuals of which the largest is known, measured by numbers."""
        return cls(values, yardsticks, rounding, 0.0, most, largest(most, yardsticks))

    @property
    def relatives(self) -> Array:
        """All relative residuals."""
        out, values = np.zeros(self.values.shape), np.asarray(self.values)
        with np.errstate(all="ignore"):
            for factor, size in self.yardsticks:
                np.maximum(out, ratios(values * factor, size), out=out)
        return np.where((values > 0) | np.isinf(self.least), np.maximum(out, self.least), out)


class Residual:
    """One of the four conditions, by block: ``values`` are absolute residuals, ``max`` is the largest,
    ``relative`` the largest relative one, ``bound`` the same with all that rounding may hide.

    >>> import convexcls as cc
    >>> s = cc.SoftMarginSVM([[0], [1], [2], [3]], [0, 1, 0, 1]).solve()
    >>> feasibility = s.kkt.primal_feasibility
    >>> sorted(feasibility.by_block()), feasibility.max < 1e-12
    (['margin', 'slack_sign'], True)
    """

    def __init__(self, blocks: Mapping[str, BlockResidual]) -> None:
        self.blocks = blocks
        self.max = self.relative = self.bound = 0.0
        for block in blocks.values():  # what is not a number is beyond any bound
            if not block.max <= self.max:
                self.max = block.max if block.max == block.max else math.inf
            if not block.relative <= self.relative:
                self.relative = block.relative if block.relative == block.relative else math.inf
            bound = block.relative + block.rounding
            if not bound <= self.bound:
                self.bound = bound if bound == bound else math.inf

    @property
    def values(self) -> dict[str, Array]:
        """The absolute residuals."""
        return {name: block.values for name, block in self.blocks.items()}

    @cached_property
    def relative_values(self) -> dict[str, Array]:
        """The relative residuals."""
        return {name: block.relatives for name, block in self.blocks.items()}

    @property
    def roundings(self) -> dict[str, float]:
        """How far rounding may have put a relative residual off, at most."""
        return {name: block.rounding for name, block in self.blocks.items()}

    def bound_of(self, blocks: Iterable[str]) -> float:
        """The largest relative residual of some blocks, with all that rounding may hide."""
        return max((self.blocks[b].relative + self.blocks[b].rounding for b in blocks), default=0.0)

    @property
    def worst(self) -> tuple[str, int]:
        """The block and the row with the largest relative residual; an empty name where nothing is to be satisfied."""
        filled = [name for name, block in self.blocks.items() if block.values.size]
        if not filled:
            return "", 0
        worst = max(filled, key=lambda name: self.blocks[name].relative)
        return worst, int(np.argmax(self.relative_values[worst]))

    def by_block(self) -> dict[str, tuple[float, float]]:
        """The largest absolute and relative residual of each block."""
        return {name: (block.max, block.relative) for name, block in self.blocks.items()}


@dataclass(frozen=True, eq=False)
class KKT(InNotebooks):
    """The four residuals of a point, with both objectives (minimised form) and their gap.

    ``stationarity``, ``primal_feasibility``, ``dual_feasibility`` and ``complementary_slackness`` are one ``Residual``
    each. ``scale`` is what the gap is measured against.

    >>> import convexcls as cc
    >>> kkt = cc.HardMarginSVM([[0], [2], [5]], [0, 1, 1]).solve().kkt
    >>> list(kkt.measures())
    ['stationarity', 'primal feasibility', 'dual feasibility', 'complementary slackness', 'duality gap']
    >>> kkt.holds(1e-10), kkt.relative_gap < 1e-10
    (True, True)
    """

    stationarity: Residual
    primal_feasibility: Residual
    dual_feasibility: Residual
    complementary_slackness: Residual
    objective: float
    dual_objective: float
    scale: float
    #: Variables whose columns doubles cannot tell from dependent ones, though they are none: then the optimum may be
    #: elsewhere, with coefficients as large as rounding is small, and stationarity at no point shows that it is not.
    dependent: tuple[str, ...]
    #: How far rounding may have put the relative gap off.
    gap_rounding: float

    def __repr__(self) -> str:
        return f"<KKT: largest relative residual {small(self.worst)}, gap {small(self.relative_gap)}>"

    @property
    def gap(self) -> float:
        """Primal minus dual objective."""
        return self.objective - self.dual_objective

    @property
    def relative_gap(self) -> float:
        """The size of the gap relative to the objective or the problem's unit."""
        return ratio(abs(self.gap), self.scale)

    @property
    def violation(self) -> float:
        """At most by how much a constraint is violated, in its own units."""
        return self.primal_feasibility.max

    @property
    def lower(self) -> float:
        """What the multipliers prove of the optimum, at least, as far as doubles show it."""
        return self.dual_objective

    def measures(self) -> dict[str, float]:
        """The five relative measures, by name."""
        return {
            "stationarity": self.stationarity.relative,
            "primal feasibility": self.primal_feasibility.relative,
            "dual feasibility": self.dual_feasibility.relative,
            "complementary slackness": self.complementary_slackness.relative,
            "duality gap": self.relative_gap,
        }

    def bounds(self) -> dict[str, float]:
        """The same with all that rounding may hide: what each of them is at most."""
        return dict(self._bounds)

    @cached_property
    def _bounds(self) -> dict[str, float]:
        return {
            "stationarity": self.stationarity.bound,
            "primal feasibility": self.primal_feasibility.bound,
            "dual feasibility": self.dual_feasibility.bound,
            "complementary slackness": self.complementary_slackness.bound,
            "duality gap": self.relative_gap + self.gap_rounding,
        }

    @property
    def worst(self) -> float:
        """The largest of the five relative measures."""
        return max(self.measures().values())

    def all_but_columns_hold(self, tol: float) -> bool:
        """Whether only columns that doubles cannot tell from dependent ones are in the way: that is the problem's own,
        and no other point of the same objective fares better."""
        others = (value for name, value in self.bounds().items() if name != "stationarity")
        return bool(self.dependent) and all(value <= tol for value in others)

    def may_hold(self, tol: float) -> bool:
        """Whether only what rounding may hide stands between the five measures and ``tol``."""
        bounds = self.bounds()
        return not any(value - (bounds[name] - value) > tol for name, value in self.measures().items())

    def holds(self, tol: float) -> bool:
        """Whether all five relative measures are at most ``tol``, whatever rounding may hide."""
        return all(value <= tol for value in self._bounds.values())


def largest(values: Array | float, yardsticks: Yardsticks) -> float:
    """The largest of the numbers, measured; infinite where it cannot be told."""
    out, most = 0.0, max(values, 0.0) if isinstance(values, float) else top(values)
    if not most:
        return out
    for factor, size in yardsticks:
        if isinstance(values, float) or isinstance(size, float):
            least = size if isinstance(size, float) else float(size.min(initial=math.inf))
            out = max(out, ratio(factor * most, least))
        else:
            plain = most < math.inf and float(size.min(initial=math.inf)) > 0.0
            out = max(out, top(factor * values / size if plain else ratios(factor * values, size)))
    return out


def ratio(value: float, scale: float) -> float:
    """value / scale, 0 of nothing, infinite where it cannot be told."""
    if value == 0:
        return 0.0
    return value / scale if math.isfinite(value) and math.isfinite(scale) and scale else math.inf


def ratios(values: Array, scales: Array | float) -> Array:
    """The same for each entry, but 0 of what is finite where the scale is infinite."""
    out = np.divide(values, scales, out=np.zeros(values.shape), where=values != 0)
    out[np.isnan(out)] = np.inf
    return out


class Sizes:
    """The sizes of one problem, by unknown or by block."""

    #: The right-hand side of each constraint, or its unit; 0 where it has neither.
    units: dict[str, float]
    #: The largest cost of a slack of a block, or of an unknown that it bounds.
    slack_costs: dict[str, float]
    #: Where a variable has curvature, by variable, of those that have.
    curved_by: dict[str, NDArray[np.bool_]]
    #: The largest curvature of a slack of a block.
    slack_curvatures: dict[str, float]
    #: The largest right-hand side of the rows of each slack.
    slack_sides: dict[str, float]
    #: The constraint that keeps a slack above a number, by slack, where there is one.
    signs: dict[str, str]
    #: The slacks that stand for distances, by piece, and their own costs, infinite where there is none.
    distances: dict[str, Epigraph]
    own_costs: dict[str, Array]
    #: The own costs of the slacks that a constraint keeps above a number, infinite where there is none.
    sign_costs: dict[str, Array]

    def __init__(self, problem: Problem) -> None:
        structure = problem.remembered(Structure)
        blocks = problem.blocks
        self.unit, self.structure, self.balls = problem.unit, structure, structure.balls  # no cycle with the problem
        self.diagonal = structure.diagonal  # P where it is diagonal, 0 elsewhere
        self.curved: Indices = (self.diagonal > 0).nonzero()[0]
        self.column_units = np.ones(problem.size)  # the largest entry of each column, where there is curvature
        self.curved_by = {}
        if self.curved.size:
            largest = np.zeros(problem.size)
            for rows in [*map(problem.rows, blocks), *map(problem.bound_rows, problem.norm_bounds)]:
                np.maximum(largest, rows.column_max(), out=largest)
            np.copyto(self.column_units, largest, where=largest > 0)
            for v in problem.quadratic:
                if (bent := self.diagonal[problem.layout[v]] > 0).any():
                    self.curved_by[v] = bent
        self.one_to_one = {v.name for v in problem.variables}  # taken entry by entry in every block, as slacks are
        self.slack_costs, self.units = {}, {}
        for b in blocks:
            bounded = [v for v, rows in b.entries.items() if rows.diagonal() is not None]
            self.one_to_one -= b.entries.keys() - bounded
            costs = [top(np.abs(problem.linear[v])) for v in bounded if v in problem.linear]
            self.slack_costs[b.name] = max(costs, default=0.0)
        for c in problem.constraints:
            self.units[c.name] = max(c.unit, top(np.abs(c.rhs)))
        self.slack_curvatures, self.slack_sides, self.signs, self.own_costs, self.sign_costs = {}, {}, {}, {}, {}
        for v, e in structure.slacks.items():
            self.slack_curvatures.update(dict.fromkeys([c.name for c in e.pieces], top(e.curvature)))
            self.slack_sides[v] = max([self.units[c.name] for c in e.pieces])
            for c in e.flat_pieces:
                self.signs[v] = c.name
                self.sign_costs[c.name] = np.where(e.cost > 0, e.cost, np.inf)
        self.distances = structure.distances
        for e in self.distances.values():
            self.own_costs[e.variable] = np.where(e.cost > 0, e.cost, np.inf)
        self._natural(problem)

    @cached_property
    def boxed(self) -> NDArray[np.bool_]:
        """The unknowns without curvature that are bounded on both sides."""
        if not self.structure.bounds:
            return np.zeros(self.diagonal.size, dtype=bool)
        low, high = self.structure.limits
        return (self.diagonal == 0) & np.isfinite(low) & np.isfinite(high)

    @cached_property
    def widths(self) -> dict[str, Array]:
        """How far apart the two bounds of each unknown are, by the constraints that state them; infinite of an unknown
        with one bound only, and of one that its bounds leave no choice."""
        if not self.structure.bounds:
            return {}
        low, high = self.structure.limits
        apart = np.where(high > low, high - low, np.inf)
        parts = {c.name: apart[self.structure.problem.layout[v]] for c in self.structure.bounds for v in c.entries}
        return {name: width for name, width in parts.items() if np.isfinite(width).any()}

    def _natural(self, problem: Problem) -> None:
        """What counts as a pull on each unknown, and as a multiplier, where all multipliers or residuals may be 0: an
        objective of one unit gives the size of the multipliers, and the targets that of residuals."""
        self.pull, self.multiplier = np.zeros(problem.size), 0.0
        for term in problem.terms:
            if term.is_half_square:
                total, largest = self._targets(term)
                self.pull += problem.rows(term).column_max() * total
                self.multiplier = max(self.multiplier, largest)
        for c in problem.constraints:
            if unit := self.units[c.name]:
                self.pull += problem.rows(c).column_max() * (self.unit / unit)
                self.multiplier = max(self.multiplier, self.unit / unit)

    def _targets(self, term: Term) -> tuple[float, float]:
        """The sum and the largest of the slopes at x = 0, as far as they count."""
        found = [(float(t.sum()), top(t)) for w, u in term.parts() for t in (UNIT_SHARE * w * np.abs(u),)]
        total, largest = sum(size for size, _ in found), max((most for _, most in found), default=0.0)
        if largest > 0.0:
            return total, largest
        # no targets either: a loss of one unit has this slope
        slopes = np.sqrt(2.0 * self.unit * term.weights) / term.size
        return float(slopes.sum()), top(slopes)

    def side(self, block: Block) -> float:
        """The right-hand side of a block's slack, 0 where it has none: multipliers times these are at most twice the
        objective, at the optimum."""
        return next((side for v, side in self.slack_sides.items() if v in block.entries), 0.0)

    def natural_multiplier(self, block: Block, unit: float) -> float:
        """The size of a block's multipliers where all of them may be 0: the cost of a slack or what an objective of one
        unit gives."""
        return self.slack_costs[block.name] or (self.unit / unit if unit > 0 else 0.0)
