"""The KKT conditions of a small problem, bounded by a few norms.

To measure every condition row by row, each against its own size, takes far longer than to solve a problem of a few
hundred samples. A good answer satisfies them by orders: then norms tell as much. Each number here is at least half of
what ``check.py`` measures from afar, and mostly more than that, with the same bounds on rounding,

stationarity         by what it is surely measured against: the sum of absolute values or, of unknowns with curvature,
                     the root of 2 f p where that is less; and the change of multipliers that removes a residual r,

                         max |K (K'K)^-1 r| <= ‖L^-1 r‖,        K'K = LL'

primal feasibility   the largest violation by the block's unit, and all of them by the largest price
dual feasibility     every sign, exactly
complementarity      the largest product, by the objective
gap                  the sum of what the residuals cost, each with its absolute value
attainment           the least distance of a slope from the ends of its range, less the change of multipliers above,
                     relative to that distance: never more than what ``attainment.py`` measures

so that where these are below a quarter of a tolerance, the conditions hold to that tolerance. What norms do not decide,
or problems of another kind, are left to ``check.py``, which also works out the measures themselves where somebody looks
at them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from convexcls.arrays import ETA, UNIT_ROUNDOFF, Array, top
from convexcls.problem import BY_SAMPLE, Constraint, Problem, Term
from convexcls.problem.centring import centre
from convexcls.proofs.kkt.correction import INVERTED, SMALLEST_PIVOT
from convexcls.proofs.kkt.products import facts
from convexcls.proofs.kkt.residuals import KKT, ratio
from convexcls.proofs.rigorous.rounding import RAISE, ROUNDINGS_BESIDE_SUM, gamma, raised_number
from convexcls.proofs.rigorous.structure import Structure
from convexcls.rows import JoinedRows

#: Of problems with more entries, or more unknowns, the passes over the data count, and not the calls.
MAX_SMALL_ENTRIES, MAX_SMALL_UNKNOWNS = 50_000, 1_500
#: Bounds below such a share of the tolerance tell: where the largest residual and the least yardstick are of different
#: rows, what is measured may be more than its bound here, though never twice as much.
SHARE = 0.25
#: The relative rounding of a slope, in units of 2^-53.
SLOPE_ROUNDING = 8


class AtOnce(NamedTuple):
    """Bounds of the relative measures; multipliers have the right signs. ``violation`` bounds the absolute violation,
    ``scale`` is what the gap is measured against, ``gradient`` that of the Lagrangian."""

    stationarity: float
    primal_feasibility: float
    complementary_slackness: float
    relative_gap: float
    violation: float
    objective: float
    scale: float
    gradient: Array
    #: How far slopes stay inside their range when the residual is removed; minus infinity where that is not bounded.
    attained: float

    def holds(self, tol: float) -> bool:
        """Whether all of them are so far below ``tol`` that the measures are at most ``tol``."""
        return all(value <= SHARE * tol for value in self[:4])  # also of what is not a number: then it does not


class MeasuredLater(KKT):
    """The measures of a point whose bounds say that the conditions hold: each worked out when somebody looks at it."""

    def __init__(self, known: AtOnce, measure: Callable[[], KKT]) -> None:
        self.__dict__.update(known=known, measure=measure, dependent=())
        self.__dict__.update(objective=known.objective, scale=known.scale)

    def __getattr__(self, name: str) -> Any:
        """What ``check.py`` measures: asked for where it is not there yet."""
        if name not in KKT.__dataclass_fields__ or "measure" not in self.__dict__:
            raise AttributeError(name)
        self.__dict__.update(vars(self.measure()))
        return self.__dict__[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return KKT, tuple(getattr(self, name) for name in KKT.__dataclass_fields__)

    @property
    def violation(self) -> float:
        return self.known.violation

    @property
    def lower(self) -> float:
        return self.objective - self.known.relative_gap * self.scale

    def holds(self, tol: float) -> bool:
        return self.known.holds(tol) or super().holds(tol)


def is_small(problem: Problem) -> bool:
    """Whether calls take longer than passes over the data."""
    if problem.size > MAX_SMALL_UNKNOWNS:
        return False
    return sum([problem.rows(b).entries for b in problem.blocks]) <= MAX_SMALL_ENTRIES


@np.errstate(all="ignore")  # what overflows is not a number in the end, and then nothing is said
def bounded_at_once(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> AtOnce | None:
    """Bounds of the measures at a finite point; None where there are none to be had by norms."""
    if problem.norm_bounds or problem.matrices or not problem.blocks or not problem.remembered(is_small):
        return None
    if problem.rounds_costs or problem.remembered(centre) is not None:
        return None
    return _Bounds(problem, [_Block.of(problem, b) for b in problem.blocks], x).found(multipliers)


class _Block(NamedTuple):
    """The rows of a term or a constraint, as one array where they are few."""

    stated: Term | Constraint
    rows: JoinedRows
    array: Array | None
    #: How far entries may be from those that were given: see ``facts``.
    relative: float
    absolute: Array | float
    plain: bool

    @classmethod
    def of(cls, problem: Problem, stated: Any) -> _Block:
        rows = problem.rows(stated)
        plain = all(part.diagonal() is None for _, part in rows.parts)
        return cls(stated, rows, rows.written, *facts(rows, False), plain)

    def sums(self, variable: str) -> bool:
        """Whether its rows add up entries of a variable."""
        entries = self.stated.entries.get(variable)
        return entries is not None and entries.diagonal() is None

    def columns(self, problem: Problem, names: list[str], where: Any) -> Array:
        """The columns of some variables that are added up."""
        if self.array is not None and all(self.sums(v) for v in names):
            return self.array[:, where]
        rows = problem.narrow_rows({v: self.stated.entries[v] for v in names if self.sums(v)}, names)
        assert rows is not None
        return rows.to_dense()

    def values(self, x: Array, reach: Array, side: Array) -> tuple[Array, float, float]:
        """R x, a bound on the rounding of R x - side, and the largest side."""
        rows, most = self.rows, top(np.abs(side))
        mid = rows @ x if self.array is None else self.array @ x
        k = rows.row_length + ROUNDINGS_BESIDE_SUM
        off = 0.0 if isinstance(self.absolute, float) else float(self.absolute @ reach)
        rad = (gamma(k) + self.relative) * (float(rows.column_max() @ reach) + most) + off
        return mid, raised_number(rad) + 8 * k * ETA, most

    def gathered(self, z: Array, size: Array) -> tuple[Array, Array]:
        """R'z and |R|'size."""
        if self.array is None:
            return self.rows.transposed_matmul(z), abs(self.rows).transposed_matmul(size)
        return z @ self.array, size @ np.abs(self.array)


class _Bounds:
    """The Lagrangian's gradient and what every block adds to the measures."""

    def __init__(self, problem: Problem, blocks: list[_Block], x: Array) -> None:
        self.problem, self.blocks, self.x, self.reach = problem, blocks, x, np.abs(x)
        self.diagonals = [(problem.layout[v], p) for v, p in problem.diagonals.items()]
        self.pull = np.zeros(x.size)
        for where, p in self.diagonals:
            self.pull[where] = p * x[where]
        self.curvature = sum([0.5 * float(x[where] @ self.pull[where]) for where, _ in self.diagonals])
        self.size, self.price = np.abs(self.pull), 0.0
        if problem.linear:
            self.pull += problem.q
            size = np.abs(problem.q)
            self.size += size
            self.price = top(size)
        self.additions = float(ROUNDINGS_BESIDE_SUM)
        self.off: Array | float = 0.0
        self.inherited: Array | float = 0.0
        self.largest = self.lost = self.losses = self.change = 0.0
        self.room = math.inf
        self.violation = self.infeasible = self.slackness = self.cost = self.sides = 0.0
        self.structure = None if all(b.plain for b in blocks) else problem.remembered(Structure)
        #: What is known of columns of the same rows.
        self.factors: dict[tuple[int, ...], tuple[Array, float]] = {}

    def found(self, multipliers: Mapping[str, Array]) -> AtOnce | None:
        """The bounds; None where norms say nothing."""
        problem = self.problem
        if self.structure is not None and self.structure.distances:
            return None
        for b in self.blocks:
            if isinstance(b.stated, Term):
                if not float(b.stated.weights.min()) > 0.0:
                    return None
                self._add_term(b, b.stated)
                continue
            z = multipliers[b.stated.name]
            if b.stated.relation == "<=" and z.size and not float(z.min()) >= 0.0:
                return None
            self._add(b, z, np.abs(z))
        self.objective = self.curvature + float(problem.q @ self.x) + problem.constant + self.losses
        self.scale = max(problem.unit, abs(self.objective))
        if not 0.0 < self.scale < math.inf:
            return None
        for b in self.blocks:
            if isinstance(b.stated, Constraint):
                self._add_constraint(b, b.stated, multipliers[b.stated.name])
        rad = (1.02 * UNIT_ROUNDOFF * self.additions) * self.size + (64 * ETA * (self.size > 0.0) + self.off)
        rad = rad + self.inherited
        measured = np.abs(self.pull)
        residual = measured + rad
        gap = (self._cost(residual) + self.cost) * RAISE + self.lost
        if not math.isfinite(gap):  # nor is some residual a number, or some product
            return None
        # a measure and its rounding may come of two unknowns, or of two yardsticks: what each gives is added up
        stationarity = self._relative(measured, rad) + self._change(residual)
        measures = stationarity, self.infeasible, self.slackness / self.scale, gap / self.scale
        return AtOnce(*measures, self.violation, self.objective, self.scale, self.pull, self._attained())

    # ---- what blocks add ------------------------------------------------------------------------------------------

    def _add(self, block: _Block, z: Array, size: Array) -> None:
        """Add R'z, whose sizes are known."""
        pull, added = block.gathered(z, size)
        self.pull += pull
        self.size += added
        self.additions += z.size + 2.0
        if block.relative or not isinstance(block.absolute, float):
            self.off = self.off + block.relative * added + block.absolute * float(size.sum())
        self.largest = max(self.largest, top(size))

    def _add_term(self, block: _Block, t: Term) -> None:
        loss, weights = t.loss, t.row_weights
        u, rad, _ = block.values(self.x, self.reach, t.offset)
        u += t.offset
        slopes = loss.slope(u)
        sizes = weights * loss.slope_size(u, slopes)
        self._add(block, weights * slopes, sizes)
        if t.is_half_square:
            own, error = 1, rad * float(weights.sum())
        elif loss.steepest < math.inf:
            own, error = SLOPE_ROUNDING, 2.0 * loss.steepest * rad * float(weights.sum())
        else:
            own, error = SLOPE_ROUNDING, 2.0 * float(weights @ loss.slope_change(u, rad))
        self.lost += 0.5 * error * rad
        if self.diagonals:
            off = own * UNIT_ROUNDOFF * float(sizes.sum()) + error
            self.inherited = self.inherited + block.rows.column_max() * (off * RAISE)
        self.losses += t.value(u)
        if loss.slopes_end:
            off = (SLOPE_ROUNDING + loss.width) * UNIT_ROUNDOFF + 2.0 * loss.steepest * rad
            self.room = min(self.room, float((weights * (loss.room(slopes) - off)).min()))

    def _add_constraint(self, block: _Block, c: Constraint, z: Array) -> None:
        mid, rad, side = block.values(self.x, self.reach, c.rhs)
        mid -= c.rhs
        equal, unit = c.relation == "==", max(c.unit, side)
        self.sides = max(self.sides, unit)
        over = np.abs(mid) if equal else np.maximum(mid, 0.0)
        near = c.size if equal else int(np.count_nonzero(mid > -rad))
        size, products = np.abs(z), np.abs(z * mid)
        if near:
            most, together = top(over) + rad, float(over.sum()) + near * rad
            price = max(self.largest, self.price, self._bend * most)
            self.violation = max(self.violation, most)
            violated = ratio(most, self._unit(block, c, unit)) + price * together / self.scale
            self.infeasible = max(self.infeasible, violated)
        if not equal:
            self.slackness = max(self.slackness, top(products) + top(size) * rad)
        self.cost += float(products.sum()) + rad * float(size.sum())

    @property
    def _bend(self) -> float:
        """The largest curvature of a slack."""
        slacks = () if self.structure is None else self.structure.slacks.values()
        return max([0.0, *[top(e.curvature) for e in slacks]])

    def _unit(self, block: _Block, c: Constraint, unit: float) -> float:
        """What a violation is surely measured against: the right-hand side, of a homogeneous row its own left-hand
        side, and no more than an unknown has room for."""
        structure = self.structure
        if not unit:
            sizes = abs(block.rows) @ self.reach
            unit = top(sizes) if not block.plain and len(c.entries) == 1 else float(sizes.min(initial=math.inf))
        if structure is not None and any(c is b for b in structure.bounds):
            low, high = structure.limits
            unit = min(unit, float(np.where(high > low, high - low, math.inf).min()))
        return unit

    # ---- the measures ---------------------------------------------------------------------------------------------

    def _relative(self, measured: Array, rad: Array) -> float:
        """Residuals and their rounding by the least that they may be measured against."""
        reference = np.minimum(self.size, self.scale / self.reach)  # infinite where x is 0
        for v in () if self.structure is None else self.structure.slacks:
            where = self.problem.layout[v]
            np.minimum(reference[where], self._costly, out=reference[where])
        for where, p in self.diagonals:
            root = np.minimum(self.size[where], np.sqrt((2.0 * self.scale) * p))
            reference[where] = np.where(p > 0.0, root, reference[where])
        if not reference.all():  # where nothing was added up, nothing is left
            kept = self.size > 0.0
            measured, rad, reference = measured[kept], rad[kept], reference[kept]
        return top(measured / reference) + top(rad / reference)

    @property
    def _costly(self) -> float:
        """What one unit of a right-hand side costs where it is worth twice the objective."""
        return 2.0 * self.scale / self.sides if self.sides > 0 else math.inf

    def _change(self, residual: Array) -> float:
        """At least the change of multipliers, relative to the largest, that removes the residual of unknowns without
        curvature in sums over samples; infinite where their columns nearly depend on each other."""
        unit = self.largest if self.problem.terms else min(self.largest, self._costly)
        self.change = max([self._change_of(residual, *group) for group in self._groups()], default=0.0)
        return ratio(self.change, unit)

    def _attained(self) -> float:
        """What the change leaves of the room of the slopes, where it removes the residual of all unknowns that have no
        curvature of their own."""
        problem = self.problem
        if not self.room > 0.0 or problem.linear or len(problem.terms) < len(problem.blocks):
            return -math.inf
        free = [v for v in problem.variables if v.name not in problem.quadratic]
        curved = all(p.all() for _, p in self.diagonals)
        if not curved or not all(b.sums(v.name) for v in free for b in self.blocks if v.name in b.stated.entries):
            return -math.inf
        if any(v.kind in BY_SAMPLE for v in free):
            return -math.inf
        return 1.0 - self.change * RAISE / self.room

    def _groups(self) -> list[tuple[list[str], list[_Block]]]:
        """The unknowns without curvature in sums over samples, with the blocks that add them up: all together, or
        variable by variable where no block has two."""
        variables = [v.name for v in self.problem.variables if v.kind not in BY_SAMPLE]
        free = [v for v in variables if v not in self.problem.quadratic]
        summed = [(b, own) for b in self.blocks if (own := [v for v in free if b.sums(v)])]
        if any(len(own) > 1 for _, own in summed):
            return [([v for v in free if any(v in own for _, own in summed)], [b for b, _ in summed])]
        return [([v], blocks) for v in free if (blocks := [b for b, own in summed if v in own])]

    def _change_of(self, residual: Array, names: list[str], blocks: list[_Block]) -> float:
        where = self.problem.layout[names[0]] if len(names) == 1 else self.problem.places(names)
        if all(b.rows.one_entry_each for b in blocks):  # a row is its entry's change
            largest = np.max([b.rows.column_max()[where] for b in blocks], axis=0)
            return top(residual[where] / largest) if largest.all() else math.inf
        if residual[where].size == 1:
            columns = [b.columns(self.problem, names, where) for b in blocks]
            largest = max([top(np.abs(K)) for K in columns])
            return ratio(largest * float(residual[where][0]), float(sum([np.vdot(K, K) for K in columns])))
        size, square = self._factored(names, blocks, where)
        if not square < math.inf:
            return math.inf
        off = residual[where] / size
        return INVERTED * math.sqrt(square * float(off @ off))

    def _factored(self, names: list[str], blocks: list[_Block], where: Any) -> tuple[Array, float]:
        """The lengths of some columns, and ‖L^-1‖^2 of the factor L of their Gram matrix in units of these; infinite
        where they nearly depend on each other. Variables of the same rows, as Fisher's directions are, have one."""
        same = tuple([id(b.stated.entries[v]) for b in blocks for v in names if b.sums(v)])
        if not self.problem.gauge and (known := self.factors.get(same)) is not None:
            return known
        gram = np.zeros(())
        for b in blocks:
            K = b.columns(self.problem, names, where)
            gram = gram + K.T @ K
        size = np.sqrt(gram.diagonal())
        scaled = self.problem.fill_null_directions(gram / size / size[:, None], size, where)
        lower, info = dpotrf(scaled, lower=1)
        square = math.inf
        if info == 0 and lower.diagonal().min() >= SMALLEST_PIVOT:
            inverse = dtrtri(lower, lower=1)[0].ravel("K")
            square = float(inverse @ inverse)
        self.factors[same] = size, square
        return size, square

    def _cost(self, residual: Array) -> float:
        """What the residuals of all unknowns cost."""
        costs = residual * self.reach
        if self.structure is not None and self.structure.bounds:
            low, high = self.structure.limits
            way = np.maximum(high - low, np.maximum(self.x - low, high - self.x))
            costs = np.where(np.isfinite(high - low), residual * way, costs)
        for where, p in self.diagonals:
            costs[where] = np.where(p > 0.0, residual[where] ** 2 / p, costs[where])
        return float(costs.sum())
