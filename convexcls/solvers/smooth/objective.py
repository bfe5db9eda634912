"""A smooth objective without constraints and the points at which it was evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, Indices, top
from convexcls.caching import cached_property
from convexcls.problem import Problem
from convexcls.rows import DenseRows, Rows
from convexcls.rows.column_basis import ColumnBasis
from convexcls.solvers.smooth.terms import Reading, SmoothTerm, smooth_term

#: Columns with a smaller singular value, at length one, nearly repeat each other.
CLEARLY_INDEPENDENT = 1e-3
#: Rows with more entries are not multiplied out.
MAX_MULTIPLIED_ENTRIES = 100_000_000


class SmoothObjective:
    """1/2 x'Px + q'x + sum_k phi_k(M_k x + t_k), ready to be evaluated many times."""

    def __init__(self, problem: Problem, terms: tuple[SmoothTerm, ...] | None = None) -> None:
        self.problem = problem
        self.terms = tuple(smooth_term(problem, t) for t in problem.terms) if terms is None else terms
        self.has_matrix = bool(problem.matrices)

    def read_at_once(self, at_once: bool = True) -> None:
        """Whether rows that are read by block bring the Hessian with value and gradient: a reading of them takes longer
        than their Gram matrix."""
        for t in self.terms:
            t.at_once = at_once and t.rows.by_block is not None

    @cached_property
    def height(self) -> int:
        """How many rows there are."""
        return sum(t.samples * t.loss.width for t in self.terms)

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of P."""
        out = np.zeros(self.problem.size)
        for v, p in self.problem.P.items():
            out[self.problem.layout[v]] = p.diagonal_entries()
        return out

    @cached_property
    def diagonal_part(self) -> Array:
        """The same without the parts that are matrices."""
        out = np.zeros(self.problem.size)
        for v, p in self.problem.diagonals.items():
            out[self.problem.layout[v]] = p
        return out

    @cached_property
    def linear_size(self) -> Array:
        """|q|."""
        return np.abs(self.problem.q)

    def curved(self, x: Array) -> Array:
        """P x."""
        return self.problem.apply_quadratic(x) if self.has_matrix else self.diagonal * x

    @cached_property
    def basis(self) -> ColumnBasis | None:
        """Columns of the rows of a single term that span the others, where nothing curves by itself; None where there
        are more terms, or unknowns by class."""
        if len(self.terms) != 1 or self.problem.P or self.problem.gauge:
            return None
        return ColumnBasis.of([self.terms[0].rows])

    @cached_property
    def columns(self) -> Indices:
        """The unknowns that no others stand in for."""
        return np.arange(self.problem.size) if self.basis is None else self.basis.columns

    @cached_property
    def orthogonal_rows(self) -> Rows | None:
        """The rows in orthogonal columns, where those of the basis nearly repeat each other; None where not, or where
        there would be too much to multiply out."""
        if self.basis is None or self.basis.smallest > CLEARLY_INDEPENDENT:
            return None
        rows = self.terms[0].rows
        if rows.shape[0] * self.columns.size > MAX_MULTIPLIED_ENTRIES:
            return None
        return DenseRows(rows @ self.basis.spread(self.basis.orthogonal))

    def value_at_zero(self) -> float:
        """The objective at x = 0, which takes no pass over the data."""
        return self.problem.constant + sum(t.value(t.offset) for t in self.problem.terms)

    def at(self, x: Array) -> Iterate:
        """The objective and its gradient at x."""
        with np.errstate(over="ignore", invalid="ignore"):
            problem, curved = self.problem, self.curved(x)
            readings = tuple([t.read(x) for t in self.terms])
            value = 0.5 * float(x @ curved) + problem.constant
            gradient = curved.copy()
            if problem.linear:
                value += float(problem.q @ x)
                gradient += problem.q
            for reading in readings:
                value += reading.value
                gradient += reading.gradient
        return Iterate(self, x, value, gradient, curved, readings)

    def quadratic_times(self, v: Array) -> Array:
        """The Hessian of a quadratic times a vector: P v + sum_k M_k' (weights_k M_k v)."""
        out = self.curved(v)
        for t in self.terms:
            out += t.rows.sweep(v, partial(_weighed, t.weights))
        return out

    def share(self, samples: int, seed: int = 0) -> SmoothObjective:
        """The objective estimated from about so many of the samples of each term: one at random from each of as many
        runs of samples."""
        rng = np.random.default_rng(seed)

        def chosen(t: SmoothTerm) -> Indices:
            count = min(samples, t.samples)
            return np.floor((np.arange(count) + rng.random(count)) * (t.samples / count)).astype(np.intp)

        return SmoothObjective(self.problem, tuple(t.share(chosen(t)) for t in self.terms))


def _weighed(weights: Array, block: slice, u: Array) -> Array:
    return np.asarray(weights[block] * u)


@dataclass(eq=False)
class Iterate:
    """A point with the value, the gradient and what every loss was read to be there."""

    function: SmoothObjective
    x: Array
    objective: float
    gradient: Array
    curved: Array
    readings: tuple[Reading, ...]

    @classmethod
    def at(cls, problem: Problem, x: Array) -> Iterate:
        """The iterate of a problem at x."""
        return SmoothObjective(problem).at(x)

    @property
    def problem(self) -> Problem:
        return self.function.problem

    def hessian(self, single_precision: bool = False) -> Array:
        """P + M' W M."""
        parts = [
            t.hessian(reading, single_precision) for t, reading in zip(self.function.terms, self.readings, strict=True)
        ]
        size = self.x.size
        out = parts[0] if parts else np.zeros((size, size))
        for part in parts[1:]:
            out = out + part
        if self.function.has_matrix:
            for v, P in self.problem.matrices.items():
                out[self.problem.layout[v], self.problem.layout[v]] += P.to_dense()
        if self.problem.quadratic:
            out.flat[:: size + 1] += self.function.diagonal_part
        return out

    def orthogonal_hessian(self) -> Array | None:
        """The Hessian in orthogonal columns, where the rows are known in these."""
        rows = self.function.orthogonal_rows
        if rows is None:
            return None
        (term,), (reading,) = self.function.terms, self.readings
        return rows.gram(term.weights * term.curvature(reading)) if term.loss.width == 1 else None

    def diagonal_curvature(self) -> Array:
        """The diagonal of the Hessian, as far as the rows tell it."""
        out = self.function.diagonal.copy()
        for t, reading in zip(self.function.terms, self.readings, strict=True):
            out += t.diagonal(reading)
        return out

    def _summed(self) -> Array:
        """The sum of absolute values that each entry of the gradient came from, or a bound on it."""
        size = self.function.linear_size + np.abs(self.curved)
        for t, reading in zip(self.function.terms, self.readings, strict=True):
            size += t.reach * reading.size
        return size

    def _summed_closely(self) -> Array:
        """That sum itself, at the cost of a pass."""
        size = self.function.linear_size + np.abs(self.curved)
        for t, reading in zip(self.function.terms, self.readings, strict=True):
            size += t.pull_sizes(reading)
        return size

    def relative_gradient(self) -> float:
        """The largest entry of the gradient, relative to the sum of absolute values that it came from."""
        size, gradient = self._summed(), np.abs(self.gradient)
        counts = size > 0
        return top(gradient / size if counts.all() else gradient[counts] / size[counts])

    def penalised_gradient(self, closely: bool = False) -> float:
        """The gradient along penalised unknowns, relative to the largest pull of their penalty, features measured in
        units of its largest value: what the check asks of them (``kkt/check.py``), more than of the others. At most
        that, unless ``closely``: of a feature that few samples have, it takes a pass to tell what was added up."""
        summed, worst = self._summed_closely() if closely else self._summed(), 0.0
        scale = 2.0 * max(abs(self.objective), self.problem.unit)
        reach = np.zeros(self.problem.size)
        for t in self.function.terms:
            reach = np.maximum(reach, t.reach)
        reach = np.where(reach > 0, reach, 1.0)
        for v in self.problem.quadratic:
            where = self.problem.layout[v]
            p, r = self.function.diagonal[where], reach[where]
            pull = float((np.abs(self.curved[where]) / r).max(initial=0.0)) * r
            reference = np.maximum(pull, np.minimum(np.sqrt(scale * p), summed[where]))
            known = (p > 0) & (reference > 0)
            worst = max(worst, float((np.abs(self.gradient[where])[known] / reference[known]).max(initial=0.0)))
        return worst

    def is_far_out(self, margin: float) -> bool:
        """Whether some argument of a loss of one argument is as large."""
        terms = zip(self.function.terms, self.readings, strict=True)
        return any(t.loss.width == 1 and r.largest_argument > margin for t, r in terms)

    def rounding(self) -> float:
        """How far the rounding of the arguments may have put the objective off."""
        terms, size = zip(self.function.terms, self.readings, strict=True), np.abs(self.x)
        return UNIT_ROUNDOFF * sum([reading.size * float(t.reach @ size) for t, reading in terms])

    def moved_most(self, step: Array) -> float:
        """The most that an argument of a loss moves along a step."""
        return max((float(np.abs(t.rows @ step).max(initial=0.0)) for t in self.function.terms), default=0.0)
