"""A smooth objective without constraints and the points at which it was evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.problem import Problem
from convexcls.solvers.smooth.terms import Reading, SmoothTerm, smooth_term


class SmoothObjective:
    """1/2 x'Px + q'x + sum_k phi_k(M_k x + t_k), ready to be evaluated many times."""

    def __init__(self, problem: Problem, terms: tuple[SmoothTerm, ...] | None = None) -> None:
        self.problem = problem
        self.terms = tuple(smooth_term(problem, t) for t in problem.terms) if terms is None else terms
        self.has_matrix = bool(problem.matrices)

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of P."""
        out = np.zeros(self.problem.size)
        for v, p in self.problem.P.items():
            out[self.problem.layout[v]] = p.diagonal_entries()
        return out

    @cached_property
    def linear_size(self) -> Array:
        """|q|."""
        return np.abs(self.problem.q)

    def curved(self, x: Array) -> Array:
        """P x."""
        return self.problem.apply_quadratic(x) if self.has_matrix else self.diagonal * x

    def value_at_zero(self) -> float:
        """The objective at x = 0, which takes no pass over the data."""
        return self.problem.constant + sum(t.value(t.offset) for t in self.problem.terms)

    def at(self, x: Array) -> Iterate:
        """The objective and its gradient at x."""
        with np.errstate(over="ignore", invalid="ignore"):
            problem, curved = self.problem, self.curved(x)
            readings = tuple(t.read(x) for t in self.terms)
            value = 0.5 * float(x @ curved) + float(problem.q @ x) + problem.constant
            gradient = curved + problem.q
            for reading in readings:
                value += reading.value
                gradient += reading.gradient
        return Iterate(self, x, value, gradient, curved, readings)

    def share(self, samples: int, seed: int = 0) -> SmoothObjective:
        """The objective estimated from about so many of the samples of each term: one at random from each of as many
        runs of samples."""
        rng = np.random.default_rng(seed)

        def chosen(t: SmoothTerm) -> Indices:
            count = min(samples, t.samples)
            return np.floor((np.arange(count) + rng.random(count)) * (t.samples / count)).astype(np.intp)

        return SmoothObjective(self.problem, tuple(t.share(chosen(t)) for t in self.terms))


@dataclass(frozen=True, eq=False)
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
        out = parts[0] if parts else np.zeros((self.problem.size, self.problem.size))
        for part in parts[1:]:
            out = out + part
        for v, P in self.problem.matrices.items():
            out[self.problem.layout[v], self.problem.layout[v]] += P.to_dense()
        for v, p in self.problem.diagonals.items():
            where = self.problem.layout[v]
            np.einsum("ii->i", out[where, where])[:] += p  # a view of the diagonal
        return out

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

    def relative_gradient(self) -> float:
        """The largest entry of the gradient, relative to the sum of absolute values that it came from."""
        size, gradient = self._summed(), np.abs(self.gradient)
        counts = size > 0
        ratio = gradient / size if counts.all() else gradient[counts] / size[counts]
        return float(ratio.max(initial=0.0))

    def penalised_gradient(self) -> float:
        """The gradient along penalised unknowns, relative to the largest pull of their penalty, features measured in
        units of its largest value: what the check asks of them (``kkt/check.py``), more than of the others."""
        summed, worst = self._summed(), 0.0
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

    def moved_most(self, step: Array) -> float:
        """The most that an argument of a loss moves along a step."""
        return max((float(np.abs(t.rows @ step).max(initial=0.0)) for t in self.function.terms), default=0.0)
