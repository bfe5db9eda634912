"""One pass of stochastic descent over the samples of a term: compiled where its rows allow, else by their verbs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.losses import Exponential, HalfSquare, Logistic, Loss, SoftmaxMargins
from convexcls.problem import Problem, Term
from convexcls.rows import ClassMarginRows, DenseRows
from convexcls.solvers.rules.samples import samples_of

#: Visit the samples in an order, with steps eta0/tau, tau growing with every visit; x is changed in place. The
#: arguments are x, order, eta0, tau, growth; the last tau is returned.
DescentPass = Callable[[Array, NDArray[np.int64], float, float, float], float]


def descent_pass(problem: Problem, term: Term, batch: int) -> DescentPass:
    """How to make a pass over the samples of the only term of a problem, ``batch`` of them at a time."""
    found = None
    if batch == 1:
        found = _of_softmax(problem, term) if isinstance(term.loss, SoftmaxMargins) else _of_scores(problem, term)
    return found or _of_blocks(problem, term, batch)


def ridge(problem: Problem) -> Array:
    """The diagonal of P."""
    return problem.apply_quadratic(np.ones(problem.size))


def _of_scores(problem: Problem, term: Term) -> DescentPass | None:
    from convexcls.solvers.rules import loops  # not at import: numba takes longer to load than all the rest

    samples = samples_of(problem, term)
    known: dict[type[Loss], int] = {
        HalfSquare: loops.HALF_SQUARE, Logistic: loops.LOGISTIC, Exponential: loops.EXPONENTIAL,
    }  # fmt: skip
    kind = known.get(type(term.loss))
    if kind is None or samples is None or samples.sparse:
        return None
    matrix, factor, bias, size = samples.matrix, samples.factor, samples.bias, problem.size
    w, penalty = np.zeros(samples.width), np.zeros(samples.width)
    penalty[:size] = ridge(problem)

    def one_pass(x: Array, order: NDArray[np.int64], eta0: float, tau: float, growth: float) -> float:
        w[:size] = x
        tau = loops.descent_pass(
            kind, matrix, factor, bias, term.offset, term.weights, penalty, order, eta0, tau, growth, w
        )
        x[:] = w[:size]
        return tau

    return one_pass


def _of_softmax(problem: Problem, term: Term) -> DescentPass | None:
    from convexcls.solvers.rules import loops

    rows = term.entries.get("coef")
    if not isinstance(rows, ClassMarginRows) or not isinstance(rows.base, DenseRows) or rows.other != -1.0:
        return None
    if set(term.entries) - {"coef", "intercept"} or np.any(term.offset):
        return None
    matrix, classes, count = rows.base.array, rows.classes.astype(np.int64), rows.count
    coef, d = problem.layout["coef"], matrix.shape[1]
    intercept = problem.layout.get("intercept")

    def by_class(x: Array) -> Array:
        out = np.zeros((count, d + 1))
        out[:, :d] = x[coef].reshape(count, d)
        if intercept is not None:
            out[:, d] = x[intercept]
        return out

    penalty, bias = by_class(ridge(problem)), 0.0 if intercept is None else 1.0

    def one_pass(x: Array, order: NDArray[np.int64], eta0: float, tau: float, growth: float) -> float:
        w = by_class(x)
        tau = loops.softmax_pass(matrix, classes, bias, term.weights, penalty, order, eta0, tau, growth, w)
        x[coef] = w[:, :d].ravel()
        if intercept is not None:
            x[intercept] = w[:, d]
        return tau

    return one_pass


def _of_blocks(problem: Problem, term: Term, batch: int) -> DescentPass:
    """Any loss, any rows: the average gradient of ``batch`` samples at a time."""
    rows, width, penalty = problem.rows(term), term.loss.width, ridge(problem)

    def one_pass(x: Array, order: NDArray[np.int64], eta0: float, tau: float, growth: float) -> float:
        for first in range(0, order.size, batch):
            chosen = order[first : first + batch]
            index = (chosen[:, None] * width + np.arange(width)).ravel()
            block = rows[index]
            slope = term.loss.slope(block @ x + term.offset[index])
            pull = block.T @ (term.row_weights[index] * slope)
            x -= eta0 / tau * (pull / chosen.size + penalty * x / order.size)
            tau += growth
        return tau

    return one_pass
