"""Whether a minimum exists at all.

A gradient of 1e-11 proves nothing for a loss that keeps falling towards infinity: on separated classes the
logistic likelihood has no maximiser, and every optimizer stops somewhere along the way. What proves existence
is one Newton step: if the slopes of the losses, corrected to first order by that step,

    slope_i + curvature_i (M s)_i,        (P + M' diag(curvature) M) s = -gradient,

stay strictly inside the range of the slopes, then they satisfy the stationarity condition exactly and are
strictly feasible multipliers of the dual. Then no direction of recession moves any loss (Stiemke's theorem of
the alternative; for the logistic likelihood: Albert and Anderson's overlap), and the minimum is attained.

Three things keep the proof cheap. A direction of recession has no part in a variable with curvature of its own, so only
the others have to be stationary. Any correction will do: that of a few samples is tried before that of all, and of many
unknowns before both the change of multipliers by which the gradient is measured (``correction.py``), whose factor is
known. Where
columns repeat each other, or nearly, only those of a basis have to be stationary, and any combinations of these will
do: those in which the columns are orthogonal (``rows/column_basis.py``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from convexcls.arrays import Array, Indices, least_squares
from convexcls.problem import BY_SAMPLE, Problem, Term
from convexcls.problem.centring import in_centred_form
from convexcls.proofs.kkt.correction import FreeRows
from convexcls.rational.doubles import rank
from convexcls.rows import DenseRows, Rows
from convexcls.rows.column_basis import ColumnBasis

#: What ``attainment`` has to reach: at a minimiser it is 1, along a separated likelihood it is 0 or less.
PROOF = 0.5
#: How many rows are tried before all of them, for each unknown.
FIRST_ROWS_PER_UNKNOWN = 2
#: Terms of at most so many samples are not thinned.
MAX_SAMPLES_TAKEN_ALL = 2000
#: A factor of fewer unknowns costs little, and that of the Newton step leaves more of the slopes.
MIN_UNKNOWNS_TO_REUSE = 200
#: A system with more unknowns is not factored: then there is no proof.
MAX_FACTORED_UNKNOWNS = 5000
#: Rows with more entries are not multiplied out for a basis.
MAX_MULTIPLIED_ENTRIES = 100_000_000
#: Nor is the rank of rows with more entries worked out, where there are linear costs.
MAX_RANKED_ENTRIES = 10_000_000
#: A Cholesky factor with smaller pivots is not relied on.
SMALLEST_PIVOT = 1e-5
#: Directions without curvature are not looked for among more unknowns.
MAX_UNKNOWNS_OF_EIGENVECTORS = 1000
#: Eigenvalues below this fraction of the largest are taken to be 0.
FLAT = 1e-13
#: What rounding may leave of a linear cost along a direction where it is 0.
LEFT_BY_ROUNDING = 1e-12
#: So far may a multiplier that has to stay above 0 change, relative to itself.
MAX_MULTIPLIER_CHANGE = 0.5


def needs_attainment_proof(problem: Problem) -> bool:
    """Whether some loss of the problem has no minimiser of its own."""
    return any(t.loss.slopes_end for t in problem.terms)


def attainment(problem: Problem, x: Array, multipliers: Mapping[str, Array], gradient: Array | None = None) -> float:
    """How far the corrected slopes stay inside their range, relative to the distance of the slopes
    themselves from its ends. In exact arithmetic anything above 0 proves that the minimum is attained; 1 is
    reached at the minimiser. Ask for ``PROOF``, which leaves rounding no say. ``gradient`` is that of the Lagrangian,
    with centred features, where it is known."""
    problem, x, multipliers = in_centred_form(problem, x, multipliers)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        names = [v.name for v in problem.variables if not _curved_itself(problem, v.name)]
        terms = [t for t in problem.terms if any(v in t.entries for v in names)]
        if not terms:
            return 1.0
        where, held = problem.places(names), _held(problem, multipliers)
        holding = _holding(problem, multipliers, names)
        pull = (_gradient(problem, x, held) if gradient is None else gradient)[where]
        if where.size > MAX_FACTORED_UNKNOWNS or not np.all(np.isfinite(pull)):
            return -np.inf
        found = _by_known_factor(problem, terms, names, x, pull)
        if found is not None and found >= PROOF:
            return found
        step = FIRST_ROWS_PER_UNKNOWN * where.size
        fewer = [_few(t, step) for t in terms]
        if any(t is not all_of_it for t, all_of_it in zip(fewer, terms, strict=True)):
            found = _Correction(problem, fewer, names, where, x, held, holding).remaining(pull, quickly=True)
            if found is not None and found >= PROOF:
                return found
        whole = _Correction(problem, terms, names, where, x, held, holding)
        found = whole.remaining(pull, quickly=True)
        if found is None and (other := whole.in_basis()) is not None:
            found = other.remaining(other.pull(pull), quickly=True)
        if found is None:
            found = whole.remaining(pull, quickly=False)
        return -np.inf if found is None else found


def linear_costs_are_held(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> bool:
    """Whether the linear costs of a quadratic program fall along no direction that neither squares nor the rows with
    multipliers see, however slowly: a residual that is small beside the other costs does not tell. Unknowns of one
    sample each, such as slacks, have rows of their own; what norm bounds and other losses leave open is told by other
    proofs."""
    if not problem.linear or problem.norm_bounds or not all(t.is_half_square for t in problem.terms):
        return True
    names = [v.name for v in problem.variables if v.kind not in BY_SAMPLE and not _curved_itself(problem, v.name)]
    where = problem.places(names) if names else np.empty(0, dtype=np.intp)
    if not np.any(problem.q[where]):
        return True
    if where.size > MAX_FACTORED_UNKNOWNS:
        return False
    terms = [t for t in problem.terms if any(v in t.entries for v in names)]
    held, holding = _held(problem, multipliers), _holding(problem, multipliers, names)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _Correction(problem, terms, names, where, x, held, holding).holds_costs(
            _gradient(problem, x, held)[where]
        )


def _curved_itself(problem: Problem, variable: str) -> bool:
    p = problem.diagonals.get(variable)
    return p is not None and bool(np.all(p > 0))


def _held(problem: Problem, multipliers: Mapping[str, Array]) -> Array:
    """What the multipliers of all constraints add to the gradient of the Lagrangian."""
    out = np.zeros(problem.size)
    for c in problem.constraints:
        out += problem.rows(c).T @ multipliers[c.name]
    for b in problem.norm_bounds:
        out -= problem.rows(b).T @ multipliers[b.name][:-1] + problem.bound_rows(b).T @ multipliers[b.name][-1:]
    return out


class _Holding(NamedTuple):
    """Rows whose multipliers may change both ways, each in units of its ``size``; not below 0 where ``signed``."""

    rows: Rows
    size: Array
    signed: bool


def _holding(problem: Problem, multipliers: Mapping[str, Array], names: list[str]) -> list[_Holding]:
    """The rows over some variables of equations, and of inequalities with a multiplier above 0."""
    out = []
    for c in problem.constraints:
        if (rows := problem.narrow_rows(c.entries, names)) is not None:
            z = multipliers[c.name]
            held = np.flatnonzero(z > 0)
            out.append(
                _Holding(rows, np.ones(c.size), False) if c.relation == "==" else _Holding(rows[held], z[held], True)
            )
    return out


def _gradient(problem: Problem, x: Array, held: Array) -> Array:
    out = problem.apply_quadratic(x) + problem.q + held
    for t in problem.terms:
        rows = problem.rows(t)
        out += rows.T @ (t.row_weights * t.loss.slope(rows @ x + t.offset))
    return out


def _by_known_factor(problem: Problem, terms: list[Term], names: list[str], x: Array, pull: Array) -> float | None:
    """What the change of multipliers that removes the gradient leaves of the slopes: the factor that it takes is known
    from measuring that change. None where it is not, or not of the same rows."""
    rows = problem.remembered(FreeRows)
    if rows.where.size < MIN_UNKNOWNS_TO_REUSE or len(problem.blocks) != len(terms) or rows.names != names:
        return None
    if (known := rows.known_factor) is None:
        return None
    factor, spacings = known
    step, worst = factor.solve(pull), 1.0
    for t, some, every in zip(terms, factor.maps, spacings, strict=True):
        weights = t.weights[::every]
        if t.loss.width > 1 or weights.size != some.shape[0] or not np.all(weights > 0):
            return None
        u = problem.rows(t)[::every] @ x + t.offset[::every]
        moved = -(some @ step) / (weights * t.loss.curvature(u).ravel())
        worst = min(worst, float(t.loss.remaining(u, moved).min(initial=1.0)))
    return worst


def _few(t: Term, count: int) -> Term:
    """The term over evenly spaced samples, enough of them for ``count`` rows; all where there are not many more."""
    if t.size <= MAX_SAMPLES_TAKEN_ALL:
        return t
    every = t.count * t.loss.width // count
    return t.thinned(t.counted_samples(every)) if every > 1 else t


class _Correction:
    """The Newton step of some unknowns from some terms, and what it leaves of the slopes."""

    basis: ColumnBasis

    def __init__(
        self,
        problem: Problem,
        terms: list[Term],
        names: list[str],
        where: Indices,
        x: Array,
        held: Array,
        holding: list[_Holding],
    ) -> None:
        self.problem, self.names, self.where, self.held, self.holding = problem, names, where, held, holding
        self.terms: list[tuple[Term, Rows, Array]] = []
        self.hessian = np.zeros((where.size, where.size))
        self.curved: list[Rows] = []
        start = 0
        for v in names:
            stop = start + problem.variable(v).size
            if (p := problem.P.get(v)) is not None and (rows := problem.narrow_rows({v: p}, names)) is not None:
                self.hessian[start:stop] += rows.to_dense()
                self.curved.append(rows)
            start = stop
        for t in terms:
            whole = any(t is own for own in problem.terms)  # then its rows are known
            u = (problem.rows(t) if whole else problem.joined(t.entries, t.size)) @ x + t.offset
            narrow = _columns(problem, t, names, where) if whole else problem.narrow_rows(t.entries, names)
            assert narrow is not None
            self.hessian += t.gram(narrow, u)
            self.terms.append((t, narrow, u))

    def in_basis(self) -> _Correction | None:
        """The same over combinations of columns that span all of them, z with x = Tz; None where columns depend on
        others by rounding alone, where a variable curves of itself (and is not free), and where there would be too
        much to multiply out."""
        rows = self.problem.remembered(FreeRows)
        if rows.names != self.names or self.problem.gauge:
            return None
        if sum(t.size for t, _, _ in self.terms) * self.where.size > MAX_MULTIPLIED_ENTRIES:
            return None
        if (basis := rows.basis) is None or not rows.is_exact:
            return None
        if self._costs_along(basis.null_vectors):
            return None
        out = copy(self)
        out.basis = basis
        T = basis.spread(basis.orthogonal)
        out.terms = [(t, DenseRows(own @ T), u) for t, own, u in self.terms]
        out.hessian = sum((t.gram(own, u) for t, own, u in out.terms), np.zeros(basis.factor.shape))
        return out

    def pull(self, gradient: Array) -> Array:
        """The gradient along the combinations, without what it has along directions that no row sees."""
        unit = self.basis.lengths
        flat, along = self.basis.null_vectors * unit[:, None], gradient / unit
        along = along - flat @ least_squares(flat, along)
        return np.asarray(self.basis.orthogonal.T @ (along * unit)[self.basis.columns])

    def holds_costs(self, gradient: Array) -> bool:
        """Whether the linear costs stay the same along all directions without curvature: there are none, or a change
        of the multipliers removes the whole gradient, or the costs do not change along any of them."""
        if self._step(self.hessian, gradient) is not None:
            return True
        held = sum((rows.gram(size * size) for rows, size, _ in self.holding), self.hessian)
        if (step := self._step(held, gradient)) is not None:
            changes = [size * (rows @ step) for rows, size, signed in self.holding if signed]
            if all(np.all(np.abs(change) <= MAX_MULTIPLIER_CHANGE) for change in changes):
                return True
        if self.where.size > MAX_UNKNOWNS_OF_EIGENVECTORS or not np.all(np.isfinite(self.hessian)):
            return False
        unit = _units(self.hessian)
        values, vectors = np.linalg.eigh(self.hessian / np.outer(unit, unit))
        return not self._costs_along(vectors[:, values <= FLAT * values[-1]] / unit[:, None])

    def _step(self, hessian: Array, gradient: Array) -> Array | None:
        """That of Newton, by a Cholesky factor; None where columns nearly repeat each other."""
        unit = _units(hessian)
        scaled = hessian / np.outer(unit, unit)
        step = _by_cholesky(scaled, gradient / unit) if np.all(np.isfinite(scaled)) else None
        return None if step is None else step / unit

    def remaining(self, gradient: Array, quickly: bool) -> float | None:
        """What is left of the slopes; None where the step cannot be found, ``quickly`` by a Cholesky factor alone."""
        if not np.all(np.isfinite(self.hessian)):
            return None
        size = _units(self.hessian)
        scaled = self.problem.fill_null_directions(self.hessian / np.outer(size, size), size, self.where)
        step = _by_cholesky(scaled, gradient / size)
        if step is None:
            step = None if quickly else self._by_eigenvectors(scaled, size, gradient)
        if step is None:
            return None
        worst = 1.0
        for t, rows, u in self.terms:
            moved = rows @ (step / size)
            if not t.all_count:
                u, moved = u[t.counted], moved[t.counted]
            least = float(t.loss.remaining(u, moved).min(initial=1.0))
            if math.isnan(least):
                return None
            worst = min(worst, least)
        return worst

    def _by_eigenvectors(self, scaled: Array, size: Array, gradient: Array) -> Array | None:
        """The step where columns repeat each other; None where the Hessian is too flat to tell a repeated column from
        a loss that has run off to infinity."""
        values, vectors = np.linalg.eigh(scaled)
        flat = values <= FLAT * values[-1]
        directions = vectors[:, flat] / size[:, None]
        for t, rows, _ in self.terms:
            counted = rows[t.counted]
            limit = 1e-12 * (abs(counted) @ (1.0 / size)).max(initial=0.0)
            if any(np.any(np.abs(counted @ direction) > limit) for direction in directions.T):
                return None
        if self._costs_along(directions):
            return None
        inverse = np.divide(1.0, values, out=np.zeros(values.size), where=~flat)
        return np.asarray(-(vectors @ (inverse * (vectors.T @ (gradient / size)))))

    def _costs_along(self, directions: Array) -> bool:
        """Whether the linear costs, less what the multipliers of constraints hold, change along directions D that move
        no loss: then nothing shows that the objective does not fall for ever along one of them, however slowly. That
        they do not is proved where the costs are a combination, without rounding, of the rows of losses, of P, and of
        the rows H of ``holding``, and the change e of the latter's multipliers with

            D'(q + held + H' diag(size) e) = 0

        leaves those of inequalities above 0. Multipliers of norm bounds are no numbers that rank can speak of."""
        q, held = self.problem.q[self.where], self.held[self.where]
        if not np.any(q):
            return False
        if self.problem.norm_bounds:
            return True
        sizes = np.abs(directions.T) @ np.abs(q)
        directions = directions / np.where(sizes > 0, sizes, 1.0)
        along = directions.T @ (q + held)
        if self.holding:
            moved = np.hstack([(rows @ directions).T * size for rows, size, _ in self.holding])
            change = least_squares(moved, -along)
            signed = np.concatenate([np.full(rows.shape[0], signed) for rows, _, signed in self.holding])
            if not np.all(np.abs(change[signed]) <= MAX_MULTIPLIER_CHANGE):
                return True
            along = along + moved @ change
        if not np.all(np.abs(along) <= LEFT_BY_ROUNDING):
            return True
        if any(("linear", v) in self.problem.costs_given for v in self.names):  # doubles do not tell
            return True
        seen = [rows[t.counted] for t, rows, _ in self.terms]
        parts = [*seen, *self.curved, *(rows for rows, _, _ in self.holding)]
        if any(part.rounding for part in parts) or sum(part.shape[0] for part in parts) * q.size > MAX_RANKED_ENTRIES:
            return True
        rows = np.vstack([np.zeros((1, q.size)), *(part.to_dense() for part in parts)])
        return rank(np.vstack([rows, q])) > rank(rows)


def _columns(problem: Problem, t: Term, names: list[str], where: Indices) -> Rows | None:
    """The columns of some variables, of the array of all of them where that is there."""
    rows = problem.rows(t)
    if where.size == rows.shape[1]:
        return rows
    if rows.written is not None and rows.rounding == 0.0:
        return DenseRows(rows.written[:, where])
    return problem.narrow_rows(t.entries, names)


def _units(hessian: Array) -> Array:
    """Those in which it has a diagonal of ones."""
    size = np.sqrt(np.diag(hessian))
    return np.where(size > 0, size, 1.0)


def _by_cholesky(scaled: Array, gradient: Array) -> Array | None:
    if not scaled.size:
        return gradient
    factor, info = dpotrf(scaled, lower=1, clean=0)
    if info != 0 or not factor.diagonal().min(initial=1.0) > SMALLEST_PIVOT:
        return None
    return np.asarray(-dpotrs(factor, gradient, lower=1)[0])
