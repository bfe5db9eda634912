"""What the separability of classes says of problems, so that these always agree: with each other, and with
``cc.separability``. A model says which of them it is, and by which blocks, in its method ``separating``.

==============  ========================================================================================================
a hard margin   feasible iff the classes are strictly separable; otherwise a circuit is a Farkas vector
a likelihood    without a penalty attained iff the classes overlap; otherwise a direction along which no margin shrinks
                and some grow proves that there is no minimum
the perceptron  infeasible iff all margins add up to 0; its optimum is 0 iff the classes are separable, or weakly so
==============  ========================================================================================================

An optimum that doubles show clearly stands as it is. One that hangs on their last digits has to agree with the verdict
in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, Indices, Mask
from convexcls.problem import Constraint, Problem, Term
from convexcls.proofs.claims import separation as claimed
from convexcls.proofs.claims.direction import Direction
from convexcls.proofs.claims.farkas import Farkas
from convexcls.proofs.claims.linear_program import largest_ratio
from convexcls.proofs.claims.separation import Separation
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.kkt.correction import FreeRows
from convexcls.proofs.kkt.residuals import KKT
from convexcls.proofs.separability.alternative import Guess, exponent_of
from convexcls.proofs.separability.core import separate, strictly
from convexcls.rational.doubles import as_fractions
from convexcls.rational.elimination import dot, null_vector_near
from convexcls.rows import DenseRows, Rows
from convexcls.rows.signs import exact_signs
from convexcls.rows.spanning import dimension
from convexcls.rows.summation import distinct_rows, row_blocks

#: With more unknowns, or more entries, rationals would take too long: then doubles have the last word.
MAX_DIMENSION = 150
MAX_ENTRIES = 100_000_000
#: Of rows with fewer entries a direction is not taken from a solver: all margins that can grow are looked for.
MAX_EASY_ENTRIES = 20_000
#: Margins that move less along a direction, relative to how far they could, should not move at all; and so many
#: entries of them are looked at in rationals.
NEARLY_STILL, MAX_EXACT_ENTRIES = 1e-9, 20_000
#: How far curvature, relative to what was added up, has to be above what rounding leaves.
CLEAR_CURVATURE = 1e-9
#: So far may margins move, relative to what would make a multiplier 0.
MAX_MARGIN_CHANGE = 0.25
#: Roundings of an entry, or of the gradient, besides those of sums.
ROUNDINGS_OF_GRADIENT = 32
#: So many samples are enough to see that there is curvature.
ENOUGH_SAMPLES_FOR_CURVATURE = 2000


def separation_of(problem: Problem) -> Separating | None:
    """How separability bears on a problem; None where it does not, or where it would take too long."""
    view: Separating | None = problem.__dict__.get("_separating")
    if view is None:
        view = problem.separating()
        if view is None or dimension(view.rows) > MAX_DIMENSION or view.rows.entries > MAX_ENTRIES:
            return None
        problem.__dict__["_separating"] = view  # what is found once is kept, as a cached property would
    return view


@dataclass(frozen=True, eq=False)
class Finding:
    """A proof that separability gives: one of the three, the last with its multipliers and measures."""

    farkas: Farkas | None = None
    direction: Direction | None = None
    x: Array | None = None
    multipliers: Mapping[str, Array] | None = None
    kkt: KKT | None = None


class Separating:
    """A problem whose verdict hangs on whether its ``rows`` can be moved to one side: those that count of the block
    ``margin``, over its variables but for slacks."""

    #: The slacks of the margins, where they have any.
    slack = ""

    def __init__(self, problem: Problem, rows: Rows, margin: str = "margin") -> None:
        self.problem, self.rows = problem, rows
        self.margin = next(b for b in (*problem.terms, *problem.constraints) if b.name == margin)
        self.tip: Guess | None = None

    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        """Whether an optimum that doubles show stands."""
        raise NotImplementedError

    def finding(self, tol: float) -> Finding | None:
        """A proof that there is no optimum, or of one; None where neither follows from separability alone."""
        raise NotImplementedError

    def rational_direction(self) -> dict[str, list[Fraction]] | None:
        """The direction that proves a minimum unattained, by variable and in rationals; None where there is none."""
        return None

    def consider(self, x: Array | None, farkas: Mapping[str, Array] | None, direction: Array | None) -> None:
        """Take a solver's answer as a guess of what to look for."""
        way = direction if direction is not None and direction.shape == (self.problem.size,) else x
        if way is not None and (way.shape != (self.problem.size,) or not np.all(np.isfinite(way))):
            way = None
        support = np.empty(0, dtype=np.intp)
        z = None if farkas is None else farkas.get(self.margin.name)
        if z is not None and z.shape == (self.rows.shape[0],) and np.all(np.isfinite(z)):
            support = np.flatnonzero(np.abs(z) > 1e-6 * np.abs(z).max(initial=0.0))
        self.tip = Guess(None if way is None else self._narrowed(way), support)

    def _narrowed(self, x: Array) -> Array:
        """The entries of x that the rows are over."""
        return x[: self.rows.shape[1]]

    def _rounding(self, x: Array) -> float:
        """How far rounding may put a margin off."""
        return self._rounding_of(self._narrowed(x))

    def _rounding_of(self, v: Array) -> float:
        """The same for entries that the rows are over."""
        with np.errstate(over="ignore"):
            return float(4 * (v.size + 16) * UNIT_ROUNDOFF * (self.reach @ np.abs(v)))

    @cached_property
    def reach(self) -> Array:
        """The largest entry of each column, which the problem's own rows have worked out before."""
        names = [v.name for v in self.problem.variables if v.name != self.slack]
        return np.concatenate([self.margin.entries[v].column_max() for v in names])

    @cached_property
    def separation(self) -> Separation:
        """The verdict on the rows, in rationals."""
        return separate(self.rows, self.tip)


def as_doubles(direction: tuple[Fraction, ...]) -> Array:
    """The direction with its largest entry about one, rounded: by a power of two, so that doubles stay what they
    are."""
    scale = Fraction(2) ** -max(exponent_of(v) for v in direction if v)
    return np.array([float(v * scale) for v in direction])


class SeparatingMargin(Separating):
    """The margins are constraints, at least one each."""

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
        residual = largest_ratio(rows.T @ z[used], abs(rows).T @ z[used])  # of doubles; the proof is in rationals
        exactly = {self.margin.name: {i: weight / whole for i, weight in circuit.items()}}
        return Finding(farkas=Farkas({self.margin.name: z}, -float(z.sum()), residual, exactly))


class SeparatingLikelihood(Separating):
    """The sum of losses that fall for ever; of several ``classes`` with unknowns by class, where a shift of all classes
    together changes nothing, so that the rows are over all classes but the last."""

    def __init__(self, problem: Problem, rows: Rows, margin: str = "likelihood", classes: int = 1) -> None:
        super().__init__(problem, rows, margin)
        self.classes = classes
        (self.term,) = problem.terms

    def agrees(self, x: Array, kkt: KKT, tol: float) -> bool:
        return self._clear(x) or self.separation.kind == "overlapping"

    def _clear(self, x: Array) -> bool:
        """Whether the curvature of some samples is so far above rounding, in every direction, that a stationary point
        is a minimum: the exact multipliers are then near those of doubles, and above 0 like these."""
        if not self._rounding(x) < 1e-6:
            return False
        term = self.term
        counted = np.flatnonzero(term.weights > 0)
        few = term.thinned(counted[:: max(counted.size // ENOUGH_SAMPLES_FOR_CURVATURE, 1)])
        rows = self.problem.joined(few.entries, few.size)
        u, places = rows @ x + few.offset, self._places()
        if places.size > rows.shape[0]:  # more unknowns than margins: some direction has no curvature
            return False
        hessian = few.gram(rows, u)[np.ix_(places, places)]
        units = 1.0 / np.where(self.reach > 0, self.reach, 1.0)
        with np.errstate(over="ignore", under="ignore"):
            curved = _least_curvature(hessian * units[:, None] * units)
        return curved > CLEAR_CURVATURE * float(term.weights.sum()) or self._clear_in_basis(x, few, rows, u)

    def _clear_in_basis(self, x: Array, few: Term, rows: Rows, u: Array) -> bool:
        """Whether the slopes at x, strictly inside their range, are near multipliers for which all columns are
        stationary without rounding: these prove that the classes overlap. Columns K that depend on each other are
        looked at by a basis of theirs, B = KT with entries of at most one. With l the least eigenvalue of B'CB, C the
        weighted curvatures of a few samples, and g = B'(weights slopes), the change

            C B (B'CB)^-1 g,      |B_i (B'CB)^-1 g| <= sqrt(L) |g| / l,      L columns,

        makes them stationary. A curvature is at most the distance of the slope from the ends of its range, so that all
        stay inside if the bound is below one. Both g and l are taken with what rounding may have put them off: entries
        of B by d roundings of ``sums`` = max |K| |T|, sums over rows by as many roundings as are added up."""
        known = self.problem.remembered(FreeRows)
        if self.classes > 1 or known.independent or (basis := known.basis) is None or not known.is_exact:
            return False
        term, whole, T = self.term, self.problem.rows(self.term), basis.spread(basis.orthogonal)
        weight, (low, high) = float(term.weights.sum()), term.loss.slopes
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            slopes = term.loss.slope(whole @ x + term.offset)
            if not np.all((slopes > low) & (slopes < high) | (term.weights == 0)):
                return False
            pull, additions = whole.added_up(np.where(term.weights > 0, term.weights * slopes, 0.0))
            reach = np.max([np.abs(whole[block] @ T).max(axis=0) for block in row_blocks(whole.shape[0])], axis=0)
            sums = float(((whole.column_max() @ np.abs(T)) / reach).max(initial=1.0))
            gradient = (T.T @ pull) / reach
            curved = _least_curvature(few.gram(DenseRows(rows @ T / reach), u))
        d, L = T.shape
        entries = (d + whole.rounding + ROUNDINGS_OF_GRADIENT) * 2.0 * UNIT_ROUNDOFF * sums
        g = (
            float(np.linalg.norm(gradient))
            + np.sqrt(L) * (float(np.max(additions)) * 2.0 * UNIT_ROUNDOFF * sums + entries) * weight
        )
        least = curved - L * (2.0 * entries + (few.size + 8 * L) * 2.0 * UNIT_ROUNDOFF) * weight
        return bool(np.sqrt(L) * g < MAX_MARGIN_CHANGE * least)

    @cached_property
    def reach(self) -> Array:
        whole = np.concatenate([self.term.entries[v.name].column_max() for v in self.problem.variables])
        return np.asarray(whole[self._places()])

    def _places(self) -> Indices:
        """Where the unknowns of the rows stand: of softmax those of all classes but the last."""
        out = []
        for where in self.problem.layout.values():
            own = where.stop - where.start
            out.append(np.arange(where.start, where.stop - (own // self.classes if self.classes > 1 else 0)))
        return np.concatenate(out)

    def _narrowed(self, x: Array) -> Array:
        if self.classes == 1:
            return x
        by_class = [part.reshape(self.classes, -1) for part in self.problem.split(x).values()]
        return np.concatenate([(part[:-1] - part[-1]).ravel() for part in by_class])

    def finding(self, tol: float) -> Finding | None:
        if (given := self._given_direction()) is not None:
            return self._along(*given)
        if self.separation.direction is None:
            return None
        moves = np.ones(self.rows.shape[0], dtype=bool)
        moves[self.separation.still] = False
        return self._along(self.separation.direction, moves)

    def _given_direction(self) -> tuple[tuple[Fraction, ...], Mask] | None:
        """The solver's direction where it lowers no margin and raises some, without rounding; None where it does not,
        and of few rows, of which all that can grow are told."""
        way = None if self.tip is None else self.tip.direction
        if way is None or self.rows.entries <= MAX_EASY_ENTRIES:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            moved = self.rows @ way
            if not np.all(moved >= -NEARLY_STILL * self.reach @ np.abs(way)):
                return None
        for exactly in self._exact_directions(way, moved):
            signs = exact_signs(self.rows, exactly)
            if np.all(signs >= 0) and np.any(signs):
                return tuple(exactly), signs > 0
        return None

    def _exact_directions(self, way: Array, moved: Array) -> Iterator[list[Fraction]]:
        """A direction as it is, and the one near it along which rows that hardly move stay without rounding, where
        few of these differ in the columns that it is about."""
        exactly = [Fraction(v) for v in way.tolist()]
        yield exactly
        used = np.flatnonzero(np.abs(way) * self.reach > NEARLY_STILL * float((np.abs(way) * self.reach).max()))
        still = self.rows[np.flatnonzero(np.abs(moved) <= NEARLY_STILL * self.reach @ np.abs(way))].select_columns(used)
        if not still.shape[0] or still.rounding:
            return
        entries = still.to_dense()
        few = distinct_rows(entries)
        if few is None or few[0].size * used.size > MAX_EXACT_ENTRIES:
            return
        near = null_vector_near(as_fractions(entries[few[0]]), [exactly[j] for j in used.tolist()])
        if near is not None:
            out = [Fraction(0)] * way.size
            for j, value in zip(used.tolist(), near, strict=True):
                out[j] = value
            yield out

    def _along(self, direction: tuple[Fraction, ...], moves: Mask) -> Finding:
        """The proof by a direction that moves some margins."""
        exactly = self._whole(direction, moves)
        try:
            x = np.array([float(value) for value in exactly])
        except OverflowError:  # the direction of the least growth is beyond doubles: any length proves the same
            scale = Fraction(2) ** -max(exponent_of(value) for value in exactly if value)
            exactly = [value * scale for value in exactly]
            x = np.array([float(value) for value in exactly])
        term = self.term
        samples = np.flatnonzero(term.weights > 0)[moves.reshape(-1, term.loss.width).any(axis=1)]
        return Finding(direction=Direction(x, 0.0, samples, 0.0, tuple(exactly)))

    def rational_direction(self) -> dict[str, list[Fraction]] | None:
        found = self.separation
        if found.direction is None or claimed.check(self.rows, found):
            return None
        moves = np.ones(self.rows.shape[0], dtype=bool)
        moves[found.still] = False
        x = self._whole(found.direction, moves)
        return {v.name: x[self.problem.layout[v.name]] for v in self.problem.variables}

    def _whole(self, direction: tuple[Fraction, ...], moves: Mask) -> list[Fraction]:
        """The direction of all unknowns, those of softmax with sum zero over the classes, so long that the margin that
        grows least of those that move does so by one to two."""
        v = as_doubles(direction)
        with np.errstate(over="ignore", under="ignore"):
            least = float((self.rows @ v)[moves].min())
        growth = math.frexp(least)[1] - 1 if 0 < least < math.inf else 0
        scale = Fraction(2) ** (-growth - max(exponent_of(value) for value in direction if value))
        x = [Fraction(0)] * self.problem.size
        for place, value in zip(self._places().tolist(), direction, strict=True):
            x[place] = value * scale
        if self.classes > 1:
            for where in self.problem.layout.values():
                x[where] = _with_sum_zero(x[where], self.classes)
        return x


def _least_curvature(hessian: Array) -> float:
    return float(np.linalg.eigvalsh(hessian)[0]) if hessian.size and np.all(np.isfinite(hessian)) else 0.0


def _with_sum_zero(values: list[Fraction], classes: int) -> list[Fraction]:
    """The values by class, less their mean over the classes."""
    features = len(values) // classes
    means = [sum(values[j::features], Fraction(0)) / classes for j in range(features)]
    return [value - means[k % features] for k, value in enumerate(values)]


class SeparatingPerceptron(Separating):
    """The slacks of the margins add up to the objective, and the margins themselves to a number that is not 0."""

    def __init__(self, problem: Problem, rows: Rows, margin: str, slack: str, sign: str, normalization: str) -> None:
        super().__init__(problem, rows, margin)
        self.slack, self.sign = slack, sign
        self.normalization: Constraint = next(c for c in problem.constraints if c.name == normalization)

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
        row = self.problem.rows(self.normalization)
        if np.any(np.abs(row.to_dense()[0][: self.rows.shape[1]]) > 1e-9 * self.problem.unit * self.reach):
            return False
        return not any(self._sums())

    def _sums(self) -> list[Fraction]:
        """The rows times their weights, added up without rounding."""
        return [value for entries in self.normalization.entries.values() for value in entries.rational()[0]]

    def finding(self, tol: float) -> Finding | None:
        if self._sums_cancel():
            z = {c.name: np.zeros(c.size) for c in self.problem.constraints}
            z[self.normalization.name] = np.full(1, -1.0)
            exactly = {self.normalization.name: {0: Fraction(-1)}}
            return Finding(farkas=Farkas(z, -self.problem.unit, 0.0, exactly))
        found = self.separation
        if found.direction is None:
            return None
        if (v := self._normalized(found.direction)) is None:
            return None
        weights = self.problem.linear[self.slack]
        x = np.zeros(self.problem.size)
        x[: v.size] = v
        x[self.problem.layout[self.slack]] = np.maximum(-self._margins(x), 0.0)
        z = {c.name: weights.copy() if c.name == self.sign else np.zeros(c.size) for c in self.problem.constraints}
        measures = check_kkt(self.problem, x, z)
        return Finding(x=x, multipliers=z, kkt=measures) if measures.holds(tol) else None

    def _normalized(self, direction: tuple[Fraction, ...]) -> Array | None:
        """The multiple of a separating direction whose mean margin is one; None where doubles do not reach so far."""
        v, weights, unit = as_doubles(direction), self.problem.linear[self.slack], self.problem.unit
        total = float(weights[weights > 0] @ (self.rows @ v))
        if total > 1e6 * unit * self._rounding(v):
            return v * (unit / total)
        # of columns that nearly depend on each other rounding may leave nothing
        exactly = dot(self._sums(), direction)
        try:
            return np.array([float(a * Fraction(unit) / exactly) for a in direction])
        except OverflowError:
            return None

    def _margins(self, x: Array) -> Array:
        """y_i f(x_i) of all samples, those without weight, too."""
        entries = {v: rows for v, rows in self.margin.entries.items() if v != self.slack}
        return -sum((rows @ x[self.problem.layout[v]] for v, rows in entries.items()), np.zeros(self.margin.size))
