"""The terms of a smooth objective, ready to be evaluated many times: value, gradient and curvature from one pass.

Rows that are one matrix seen through factors (``rows/single.py``) are read once an evaluation; the softmax loss of
margins is worked out from the scores of all classes, which are one product; any other rows go through the four verbs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from convexcls.losses import SoftmaxMargins
from convexcls.problem import ROUNDING_ROOM, Problem, Term
from convexcls.rows import Rows
from convexcls.rows.single import SingleRows

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Reading:
    """What a pass over the rows of a term found: the value, the gradient, the sum of the sizes of the slopes, and the
    state of each sample, from which the curvature follows (the arguments of the loss, or probabilities)."""

    value: float
    gradient: Array
    size: float
    arguments: Array
    slopes: Array


class SmoothTerm(ABC):
    """sum_i weights_i loss(M_i x + offset_i), to be read at one point after another."""

    def __init__(self, term: Term, rows: Rows) -> None:
        self.term, self.rows = term, rows

    @cached_property
    def reach(self) -> Array:
        """The largest entry of each column."""
        return self.rows.column_max()

    @property
    def samples(self) -> int:
        """How many losses are added up."""
        return self.term.size // self.term.loss.width

    @abstractmethod
    def read(self, x: Array) -> Reading:
        """Value and gradient at x."""

    @abstractmethod
    def hessian(self, reading: Reading, single_precision: bool = False) -> Array:
        """The Hessian where the reading was taken."""

    def curvatures(self, reading: Reading) -> Array:
        """The diagonal of the Hessian, where its rows are single; else a bound on its size."""
        return self.reach**2 * reading.size

    @abstractmethod
    def margins(self, reading: Reading) -> Array:
        """M x + offset where the reading was taken."""

    def share(self, samples: Index) -> SmoothTerm:
        """The term over some of its samples, with weights that make up for the others."""
        t = self.term
        width = t.loss.width
        chosen = samples if width == 1 else (samples[:, None] * width + np.arange(width)).ravel()
        entries = {v: rows[chosen] for v, rows in t.entries.items()}
        weights = t.weights[samples] * (self.samples / samples.size)
        part = Term(t.name, entries, loss=t.loss, offset=t.offset[chosen], weights=weights)
        return self._like(part, self.rows[chosen], samples)

    def _like(self, term: Term, rows: Rows, samples: Index) -> SmoothTerm:
        return type(self)(term, rows)


class GeneralTerm(SmoothTerm):
    """Any rows, by the four verbs."""

    def read(self, x: Array) -> Reading:
        t = self.term
        u = self.rows @ x + t.offset
        slopes = t.loss.slope(u)
        sizes = np.abs(slopes)
        if t.is_half_square:
            sizes = sizes + ROUNDING_ROOM * np.abs(t.offset)
        gradient = self.rows.T @ (t.row_weights * slopes)
        return Reading(t.value(u), gradient, float(t.row_weights @ sizes), u, slopes)

    def hessian(self, reading: Reading, single_precision: bool = False) -> Array:
        return self.term.gram(self.rows, reading.arguments)

    def margins(self, reading: Reading) -> Array:
        return reading.arguments


class SingleTerm(SmoothTerm):
    """A loss of one argument, over rows that are one matrix."""

    def __init__(self, term: Term, rows: Rows, single: SingleRows) -> None:
        super().__init__(term, rows)
        self.single = single
        self.offset: Array | None = term.offset if np.any(term.offset) else None
        weights = term.weights
        self.uniform = float(weights[0]) if weights.size and np.all(weights == weights[0]) else None

    @cached_property
    def _at_zero(self) -> float:
        """What counts as slopes where all residuals of a quadratic may be 0."""
        t = self.term
        return ROUNDING_ROOM * float(t.weights @ np.abs(t.offset)) if t.is_half_square else 0.0

    def read(self, x: Array) -> Reading:
        t, n = self.term, self.single.height
        arguments, slopes = np.empty(n), np.empty(n)
        value, size = 0.0, self._at_zero

        def visit(block: slice, u: Array) -> Array:
            nonlocal value, size
            if self.offset is not None:
                u += self.offset[block]
            weights = t.weights[block] if self.uniform is None else self.uniform
            part, slope = t.loss.weighed(u, weights)
            value += part
            arguments[block], slopes[block] = u, slope
            pull = slope * weights
            size += float(np.abs(pull).sum())
            return pull

        gradient = self.single.sweep(x, visit)
        return Reading(value, gradient, size, arguments, slopes)

    def hessian(self, reading: Reading, single_precision: bool = False) -> Array:
        return self.single.gram(self.term.weights * self.term.loss.curvature(reading.arguments), single_precision)

    def curvatures(self, reading: Reading) -> Array:
        return self.single.squares(self.term.weights * self.term.loss.curvature(reading.arguments))

    def margins(self, reading: Reading) -> Array:
        return reading.arguments

    def _like(self, term: Term, rows: Rows, samples: Index) -> SmoothTerm:
        return SingleTerm(term, rows, self.single[samples])


class ScoredTerm(SmoothTerm):
    """The softmax loss of margins, from the scores z = [X, 1] W of all classes: its gradient is [X, 1]'(p - e_c), its
    Hessian has the weights diag(p) - pp' for each sample."""

    def __init__(self, term: Term, rows: Rows, single: SingleRows, classes: Index) -> None:
        super().__init__(term, rows)
        self.single, self.classes = single, classes

    def read(self, x: Array) -> Reading:
        t, n = self.term, self.single.height
        probabilities, pulls = np.empty((n, self.single.columns)), np.empty((n, self.single.columns))
        value, size = 0.0, 0.0

        def visit(block: slice, z: Array) -> Array:
            nonlocal value, size
            weights = t.weights[block]
            values, p, pull, rest = _softmax(z, self.classes[block])
            counts = weights > 0
            value += float(weights[counts] @ values[counts])
            size += float(weights @ rest)
            pull *= weights[:, None]
            probabilities[block], pulls[block] = p, pull
            return pull

        gradient = self.single.sweep(x, visit)
        return Reading(value, gradient, size, probabilities, pulls)

    def hessian(self, reading: Reading, single_precision: bool = False) -> Array:
        return self.single.class_gram(reading.arguments, self.term.weights, single_precision)

    def curvatures(self, reading: Reading) -> Array:
        p = reading.arguments
        return self.single.squares(self.term.weights[:, None] * p * (1.0 - p))

    def margins(self, reading: Reading) -> Array:
        """From the probabilities: log p_c - log p_k, as far as they have not run out of range."""
        with np.errstate(divide="ignore"):
            logs = np.log(reading.arguments)
        own = np.take_along_axis(logs, self.classes[:, None], axis=1)
        others = np.arange(logs.shape[1]) != self.classes[:, None]
        return np.asarray((own - logs)[others])

    def _like(self, term: Term, rows: Rows, samples: Index) -> SmoothTerm:
        return ScoredTerm(term, rows, self.single[samples], self.classes[samples])


def _softmax(z: Array, classes: Index) -> tuple[Array, Array, Array, Array]:
    """-log p_c, p, p - e_c and 1 - p_c for each row of scores, none of them by cancellation. Overwrites z."""
    own = np.arange(z.shape[0]), classes
    z -= z.max(axis=1, keepdims=True)
    score = z[own]
    e = np.exp(z, out=z)
    mine = e[own]
    e[own] = 0.0
    rest = e.sum(axis=1)
    total = rest + mine
    values = np.where(score == 0.0, np.log1p(rest), np.log(total) - score)
    pull = e / total[:, None]
    p = pull.copy()
    p[own] = mine / total
    rest /= total
    pull[own] = -rest
    return values, p, pull, rest


def smooth_term(problem: Problem, term: Term) -> SmoothTerm:
    """The term in the fastest form that its rows have."""
    rows = problem.rows(term)
    if term.loss.width == 1 and not isinstance(term.loss, SoftmaxMargins):
        single = SingleRows.seen_in(rows)
        return GeneralTerm(term, rows) if single is None else SingleTerm(term, rows, single)
    if isinstance(term.loss, SoftmaxMargins) and not np.any(term.offset):
        scored = SingleRows.scores_in(rows)
        if scored is not None:
            return ScoredTerm(term, rows, scored[0], scored[1].classes)
    return GeneralTerm(term, rows)
