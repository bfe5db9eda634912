"""The terms of a smooth objective, ready to be evaluated many times: value, gradient and curvature from one pass.

A loss of one argument is worked out in one sweep over the rows; the softmax loss of margins from the scores of all
classes, which are one product; any other loss by one product with the rows and one with their transpose.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.losses import Loss, SoftmaxMargins
from convexcls.problem import UNIT_SHARE, Problem, Term
from convexcls.rows import Rows, Travelling, block_gram
from convexcls.rows.fused import FusedRows

#: Up to so many rows are read without blocks: their arguments stay in the cache.
MAX_ROWS_AT_ONCE = 1000


class Extremes(NamedTuple):
    """The largest argument, and the smallest entry of M x among those with a weight."""

    argument: float
    margin: float


@dataclass(eq=False)
class Reading:
    """What a pass over the rows of a term found: the value, the gradient, the sum of the sizes of the slopes, and the
    state of each sample, from which the curvature follows (the arguments of the loss, or probabilities, and slopes).
    Of samples that are read by block, the state is worked out again when somebody asks for it; the ``extremes``, which
    are asked for at every point, are known."""

    value: float
    gradient: Array
    size: float
    state: tuple[Array, Array] | Callable[[], tuple[Array, Array]]
    hessian: Array | None = None
    extremes: Extremes | None = None
    point: Array | None = None
    curvature: Array | None = None

    @property
    def arguments(self) -> Array:
        """The arguments of the loss, or probabilities."""
        return self._known[0]

    @property
    def slopes(self) -> Array:
        """The slopes of the loss there."""
        return self._known[1]

    @property
    def _known(self) -> tuple[Array, Array]:
        return self.state() if callable(self.state) else self.state

    @property
    def largest_argument(self) -> float:
        """The largest argument of a loss, 0 where all are below."""
        return float(self.arguments.max(initial=0.0)) if self.extremes is None else max(self.extremes.argument, 0.0)


class SmoothTerm(ABC):
    """sum_i weights_i loss(M_i x + offset_i), to be read at one point after another. ``reach`` is the largest entry of
    each column of M, also where only some of its rows are taken."""

    #: Whether the Hessian is wanted with every reading.
    at_once: bool = False

    def __init__(self, term: Term, rows: Rows, reach: Array) -> None:
        self.name, self.loss, self.rows, self.reach = term.name, term.loss, rows, reach
        self.offset: Array | None = term.offset if np.any(term.offset) else None
        self.weights: Array = term.weights
        self._prepare()

    def _prepare(self) -> None:
        """Look at the weights once."""
        w = self.weights
        self.uniform = float(w[0]) if w.size and np.all(w == w[0]) else None
        self.at_zero = 0.0
        if self.loss.half_square is not None and self.offset is not None:  # all residuals may be 0
            self.at_zero = UNIT_SHARE * float(w @ np.abs(self.offset))

    @property
    def samples(self) -> int:
        """How many losses are added up."""
        return self.weights.size

    @abstractmethod
    def read(self, x: Array) -> Reading:
        """Value and gradient at x."""

    @abstractmethod
    def hessian(self, reading: Reading, single_precision: bool = False) -> Array:
        """The Hessian where the reading was taken."""

    def curvature(self, reading: Reading) -> Array:
        """The curvatures of the losses where the reading was taken, without weights."""
        if reading.curvature is None:
            found = self.loss.curvature(reading.arguments)
            reading.curvature = found.ravel() if self.loss.width == 1 else found  # matrices of one entry, for some
        return reading.curvature

    @abstractmethod
    def diagonal(self, reading: Reading) -> Array:
        """The diagonal of the Hessian, or something of its size."""

    def pull_sizes(self, reading: Reading) -> Array:
        """The sum of absolute values that each entry of the gradient was added up from."""
        return abs(self.rows).T @ np.abs(np.repeat(self.weights, self.loss.width) * reading.slopes)

    def smallest_margin(self, reading: Reading) -> float:
        """The smallest entry of M x among those with a weight."""
        if reading.extremes is not None:
            return reading.extremes.margin
        margins = reading.arguments if self.offset is None else reading.arguments - self.offset
        if self.uniform is None:
            margins = margins[np.repeat(self.weights > 0, self.loss.width)]
        return float(margins.min(initial=np.inf))

    def share(self, samples: Indices) -> SmoothTerm:
        """The term over some of its samples, with weights that make up for the others."""
        out = copy(self)
        out.at_once = False
        width = self.loss.width
        chosen = samples if width == 1 else (samples[:, None] * width + np.arange(width)).ravel()
        out.weights = self.weights[samples] * (self.samples / samples.size)
        out.offset = None if self.offset is None else self.offset[chosen]
        out._take(samples, chosen)
        out._prepare()
        return out

    def _take(self, samples: Indices, chosen: Indices) -> None:
        """Keep the rows of these samples, and no others."""
        self.rows = self.rows[chosen]


class GeneralTerm(SmoothTerm):
    """A loss of several arguments, whose rows stand together, or of one."""

    def _prepare(self) -> None:
        super()._prepare()
        self.row_weights = np.repeat(self.weights, self.loss.width)
        self.counts = self.weights > 0

    def read(self, x: Array) -> Reading:
        u = self.rows @ x
        if self.offset is not None:
            u += self.offset
        values, slopes = self.loss.value(u), self.loss.slope(u)
        pull = self.row_weights * slopes
        value = float(self.weights[self.counts] @ values[self.counts])
        return Reading(value, self.rows.T @ pull, float(np.abs(pull).sum()) + self.at_zero, (u, slopes))

    def hessian(self, reading: Reading, single_precision: bool = False) -> Array:
        curvature = self.curvature(reading)
        if curvature.ndim == 1:
            return self.rows.gram(self.weights * curvature)
        return block_gram(self.rows, self.weights[:, None, None] * curvature, self.rows)

    def diagonal(self, reading: Reading) -> Array:
        return self.reach**2 * reading.size


class SweptTerm(SmoothTerm):
    """A loss of one argument."""

    def read(self, x: Array) -> Reading:
        n = self.rows.shape[0]
        if n <= MAX_ROWS_AT_ONCE:
            return self._read_at_once(x)
        if self.rows.by_block is not None:
            return self._read_in_short(x)
        arguments, slopes = np.empty(n), np.empty(n)
        value, size = 0.0, self.at_zero

        def take(block: slice, found: tuple[float, float, Array, Array]) -> None:
            nonlocal value, size
            value, size = value + found[0], size + found[1]
            arguments[block], slopes[block] = found[2:]

        own = [a for a in (self.offset, None if self.uniform is not None else self.weights) if a is not None]
        function = partial(_weighed, self.loss, self.offset is not None, self.uniform)
        visit = Travelling(function, tuple(own), take, partial(_curved, self.loss, self.uniform))
        gradient = self.rows.sweep(x, visit)
        return Reading(value, gradient, size, (arguments, slopes))

    def _read_in_short(self, x: Array) -> Reading:
        """The same of rows that are read by block: nothing that has one entry a sample is brought along."""
        value, size, largest, smallest = 0.0, self.at_zero, -np.inf, np.inf

        def take(_: slice, found: tuple[float, float, float, float]) -> None:
            nonlocal value, size, largest, smallest
            value, size = value + found[0], size + found[1]
            largest, smallest = max(largest, found[2]), min(smallest, found[3])

        own = [a for a in (self.offset, None if self.uniform is not None else self.weights) if a is not None]
        told = self.loss, self.offset is not None, self.uniform
        visit = Travelling(
            partial(_weighed_in_short, *told), tuple(own), take, partial(_curved, self.loss, self.uniform), _in_short
        )
        if self.at_once:
            gradient, gram = self.rows.sweep_and_gram(x, visit)
        else:
            gradient, gram = self.rows.sweep(x, visit), None
        return Reading(value, gradient, size, partial(self._state, x), gram, Extremes(largest, smallest))

    def _state(self, x: Array) -> tuple[Array, Array]:
        """The arguments and slopes at x, in another reading."""
        u = self.rows @ x if self.offset is None else self.rows @ x + self.offset
        return u, self.loss.slope(u)

    def _read_at_once(self, x: Array) -> Reading:
        """The same of few rows, without the way through blocks, which would take longer than they do."""
        u = self.rows @ x
        if self.offset is not None:
            u += self.offset
        weights = self.weights if self.uniform is None else self.uniform
        value, slopes = self.loss.weighed(u, weights)
        pull = slopes * weights
        size = self.at_zero + float(np.add.reduce(np.abs(pull)))
        return Reading(value, self.rows.transposed_matmul(pull), size, (u, slopes))

    def hessian(self, reading: Reading, single_precision: bool = False) -> Array:
        if reading.hessian is not None:
            return reading.hessian
        weights = self.weights * self.curvature(reading)
        return self.rows.coarse_gram(weights) if single_precision else self.rows.gram(weights)

    def diagonal(self, reading: Reading) -> Array:
        return self.rows.gram_diagonal(self.weights * self.curvature(reading))


class ScoredTerm(SmoothTerm):
    """The softmax loss of margins, from the scores z = W'[X, 1]' of all classes, one row a class: its gradient is
    (p - e_c)[X, 1], its Hessian has the weights diag(p) - pp' for each sample. The arguments are the probabilities."""

    def __init__(self, term: Term, rows: Rows, reach: Array, scores: FusedRows, classes: Indices) -> None:
        self.scores, self.classes = scores, classes
        super().__init__(term, rows, reach)

    def read(self, x: Array) -> Reading:
        if self.scores.matrix.by_block is not None:
            return self._read_in_short(x)
        n = self.scores.height
        probabilities, pulls = np.empty((self.scores.columns, n)), np.empty((self.scores.columns, n))
        value, size = 0.0, 0.0

        def take(block: slice, found: tuple[float, float, Array, Array]) -> None:
            nonlocal value, size
            value, size = value + found[0], size + found[1]
            probabilities[:, block], pulls[:, block] = found[2:]

        function = partial(_weighed_scores, bool(self.uniform))
        gradient = self.scores.sweep(x, Travelling(function, (self.classes, self.weights), take))
        return Reading(value, gradient, size, (probabilities, pulls))

    def _read_in_short(self, x: Array) -> Reading:
        """The same of samples that are read by block: nothing that has one entry a sample is brought along."""
        value, size, least = 0.0, 0.0, np.inf

        def take(_: slice, found: tuple[float, float, float]) -> None:
            nonlocal value, size, least
            value, size, least = value + found[0], size + found[1], min(least, found[2])

        function = partial(_weighed_scores_in_short, bool(self.uniform))
        gradient = self.scores.sweep(x, Travelling(function, (self.classes, self.weights), take))
        extremes = Extremes(np.inf, _log(least))
        return Reading(value, gradient, size, partial(self._state, x), extremes=extremes, point=x)

    def _state(self, x: Array) -> tuple[Array, Array]:
        """Probabilities and pulls at x, in another reading."""
        shape = self.scores.columns, self.scores.height
        probabilities, pulls = np.empty(shape), np.empty(shape)

        def take(block: slice, found: tuple[float, float, Array, Array]) -> None:
            probabilities[:, block], pulls[:, block] = found[2:]

        function = partial(_weighed_scores, bool(self.uniform))
        self.scores.sweep(x, Travelling(function, (self.classes, self.weights), take))
        return probabilities, pulls

    def hessian(self, reading: Reading, single_precision: bool = False) -> Array:
        if reading.point is not None:
            return self.scores.class_gram_at(reading.point, self.weights)
        return self.scores.class_gram(reading.arguments, self.weights, single_precision)

    def class_hessian(self, reading: Reading, k: int, samples: int) -> tuple[Indices, Array]:
        """The Hessian of the unknowns of class k, from some of the samples that have most of its weight, and where they
        stand."""
        p = reading.arguments[k]
        return self.scores.column_gram(k, self.weights * p * (1.0 - p), samples)

    def diagonal(self, reading: Reading) -> Array:
        p = reading.arguments
        return self.scores.gram_diagonal(self.weights * p * (1.0 - p))

    def pull_sizes(self, reading: Reading) -> Array:
        return self.scores.pull_sizes(reading.slopes)

    def smallest_margin(self, reading: Reading) -> float:
        """From the probabilities, log p_c - log p_k, as far as these have not run out of range."""
        if reading.extremes is not None:
            return reading.extremes.margin
        p = reading.arguments if self.uniform else reading.arguments[:, self.weights > 0]
        return _log(_smallest_odds(p, self.classes if self.uniform else self.classes[self.weights > 0]))

    def _take(self, samples: Indices, chosen: Indices) -> None:
        self.scores, self.classes = self.scores[samples], self.classes[samples]


def _weighed(
    loss: Loss, moved: bool, uniform: float | None, u: Array, *own: Array
) -> tuple[Array, tuple[float, float, Array, Array]]:
    """The pull of a loss of one argument on some rows; with the value, the size, the arguments and the slopes."""
    if moved:
        u = u + own[0]
    weights = own[-1] if uniform is None else uniform
    value, slope = loss.weighed(u, weights)
    pull = slope * weights
    return pull, (value, float(np.add.reduce(np.abs(pull))), u, slope)


def _weighed_in_short(loss: Loss, moved: bool, uniform: float | None, u: Array, *own: Array) -> tuple[Array, Any]:
    """The same with the extremes in place of the slopes."""
    margins = u if uniform is not None else u[own[-1] > 0]  # a copy, or u, which stays as it is
    pull, (value, size, arguments, _) = _weighed(loss, moved, uniform, u, *own)
    largest = float(arguments.max(initial=-np.inf))
    return pull, (value, size, arguments, largest, float(margins.min(initial=np.inf)))


def _in_short(found: tuple[float, float, Array, float, float]) -> tuple[float, float, float, float]:
    return found[0], found[1], found[3], found[4]


def _curved(loss: Loss, uniform: float | None, found: Any, *own: Array) -> Array:
    """The weighted curvatures behind what ``_weighed`` found."""
    weights = own[-1] if uniform is None else uniform
    return np.asarray(weights * loss.curvature(found[2]).ravel())


def _weighed_scores(
    alike: bool, z: Array, classes: Indices, weights: Array
) -> tuple[Array, tuple[float, float, Array, Array]]:
    """The same of the softmax loss, of scores; with the probabilities and the pull itself."""
    p, pull = np.empty(z.shape), np.empty(z.shape)
    values, rest = _softmax(z, classes, p, pull)
    counts = slice(None) if alike else weights > 0
    pull *= weights
    return pull, (float(weights[counts] @ values[counts]), float(weights @ rest), p, pull)


def _weighed_scores_in_short(alike: bool, z: Array, classes: Indices, weights: Array) -> tuple[Array, Any]:
    """The same with the smallest odds in place of the probabilities."""
    pull, (value, size, p, _) = _weighed_scores(alike, z, classes, weights)
    counts = slice(None) if alike else weights > 0
    return pull, (value, size, _smallest_odds(p[:, counts], classes[counts]))


def _smallest_odds(p: Array, classes: Indices) -> float:
    """The least of p_c / p_k, for c the class of a sample and k another one."""
    own = classes, np.arange(classes.size)
    mine, others = p[own], p.copy()
    others[own] = 0.0
    return float((mine / np.maximum(others.max(axis=0, initial=0.0), 1e-300)).min(initial=np.inf))


def _log(odds: float) -> float:
    return float(np.log(odds)) if odds > 0 else -np.inf


def _softmax(z: Array, classes: Indices, p: Array, pull: Array) -> tuple[Array, Array]:
    """-log p_c and 1 - p_c for each column of scores, none of them by cancellation; p and p - e_c are written where
    asked. Overwrites z."""
    own = classes, np.arange(z.shape[1])
    z -= z.max(axis=0)
    score = z[own]
    np.exp(z, out=z)
    mine = z[own]
    z[own] = 0.0
    rest = z.sum(axis=0)
    total = rest + mine
    values = np.where(score == 0.0, np.log1p(rest), np.log(total) - score)
    z *= 1.0 / total
    rest /= total
    p[:] = z
    p[own] = mine / total
    z[own] = -rest
    pull[:] = z
    return values, rest


def smooth_term(problem: Problem, term: Term) -> SmoothTerm:
    """The term in the fastest form that its rows have."""
    rows = problem.rows(term)
    reach = rows.column_max()
    if isinstance(term.loss, SoftmaxMargins):
        scored = None if np.any(term.offset) else rows.class_scores()
        return GeneralTerm(term, rows, reach) if scored is None else ScoredTerm(term, rows, reach, *scored)
    return SweptTerm(term, rows, reach) if term.loss.width == 1 else GeneralTerm(term, rows, reach)
