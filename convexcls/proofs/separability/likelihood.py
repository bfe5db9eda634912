"""A likelihood without a penalty: its maximum exists iff the classes overlap. Otherwise a direction along which no
margin shrinks and some grow proves that there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, Indices, Mask
from convexcls.problem import Problem, Term
from convexcls.proofs.claims import separation as claimed
from convexcls.proofs.claims.direction import Direction
from convexcls.proofs.kkt.correction import FreeRows
from convexcls.proofs.kkt.residuals import KKT
from convexcls.proofs.separability.alternative import near_one
from convexcls.proofs.separability.problems import Finding, Separating
from convexcls.rational.doubles import as_fractions
from convexcls.rational.elimination import null_vector_near
from convexcls.rows import DenseRows, Rows
from convexcls.rows.signs import exact_signs
from convexcls.rows.summation import distinct_rows

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
        few = term.thinned(term.counted_samples(max(term.count // ENOUGH_SAMPLES_FOR_CURVATURE, 1)))
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
            reach = np.max([np.abs(whole[block] @ T).max(axis=0) for block in whole.own_blocks()], axis=0)
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
            exactly = near_one(exactly)
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
        near = near_one(direction)
        v = np.array([float(value) for value in near])
        with np.errstate(over="ignore", under="ignore"):
            least = float((self.rows @ v)[moves].min())
        growth = math.frexp(least)[1] - 1 if 0 < least < math.inf else 0
        x = [Fraction(0)] * self.problem.size
        for place, value in zip(self._places().tolist(), near, strict=True):
            x[place] = value / Fraction(2) ** growth
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
