"""Stochastic gradient descent, and what all rules share that follow the gradient of one sample at a time: the passes
over the samples of a term, compiled where its rows allow, else by their verbs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array
from convexcls.losses import Exponential, HalfSquare, Logistic, Loss, SoftmaxMargins
from convexcls.problem import Problem, Term
from convexcls.solvers.base import (
    Answer,
    Callback,
    Solver,
    Start,
    Tracer,
    check_choice,
    check_rate,
    check_whole,
    refuse_unless_smooth,
)
from convexcls.solvers.rules import ORDERS, STEPS, Order, Step, orders, samples_of, squared_norms
from convexcls.solvers.smooth.objective import Iterate

#: Visit the samples in an order, with steps eta0/tau, tau growing with every visit; x is changed in place. The
#: arguments are x, order, eta0, tau, growth; the last tau is returned.
DescentPass = Callable[[Array, NDArray[np.int64], float, float, float], float]
Count = Literal["pass", "visit"]
COUNTS = ("pass", "visit")


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
        HalfSquare: loops.HALF_SQUARE,
        Logistic: loops.LOGISTIC,
        Exponential: loops.EXPONENTIAL,
    }
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

    rows = term.entries["coef"].as_class_margins if "coef" in term.entries else None
    matrix = None if rows is None else rows.base.in_memory()
    if rows is None or rows.other != -1.0 or not isinstance(matrix, np.ndarray):
        return None
    if set(term.entries) - {"coef", "intercept"} or np.any(term.offset):
        return None
    classes, count = rows.classes.astype(np.int64), rows.count
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


@dataclass(frozen=True)
class SequentialRule(Solver):
    """x <- x - eta g_i, with g_i the gradient of one sample's share of the objective, weights_i loss(M_i x + t_i) plus
    1/n of the penalty: the shares add up to the objective, which is a sum, not a mean.

    The step is eta0/tau, tau counting passes or single visits (``count``), or eta0 throughout (``step="fixed"``). By
    default eta0 is 1/L, L the largest curvature of one sample's share at x = 0: on a quadratic such a step never
    overshoots its sample. The trace has a line for the start and one for each pass: objective and relative gradient.
    """

    rule: ClassVar[bool] = True
    as_stated: ClassVar[bool] = True
    warm: ClassVar[bool] = True

    eta0: float | None = None
    step: Step = "decay"
    count: Count = "pass"
    order: Order = "cyclic"
    seed: int = 0
    max_passes: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.name, "eta0", self.eta0)
        check_choice(self.name, "step", self.step, STEPS)
        check_choice(self.name, "count", self.count, COUNTS)
        check_choice(self.name, "order", self.order, ORDERS)
        check_whole(self.name, "seed", self.seed)
        check_whole(self.name, "max_passes", self.max_passes)

    @property
    def samples_at_a_time(self) -> int:
        """How many samples a step looks at."""
        return 1

    def refuses(self, problem: Problem) -> str:
        if reason := refuse_unless_smooth(problem):
            return reason
        if len(problem.terms) != 1 or np.any(problem.q):
            return "it takes one sum of losses over samples, with or without a ridge penalty, and nothing else"
        if problem.matrices:
            return "the penalty is not a sum of squares of single coefficients"
        return ""

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        tracer, (term,) = Tracer(callback), problem.terms
        one_pass = descent_pass(problem, term, self.samples_at_a_time)
        turns = orders(self.order, term.weights.size, self.seed)
        eta0 = self.eta0 or safe_step(problem, term)
        x, tau = np.array(start.x), 1.0
        growth = 1.0 if self.step == "decay" and self.count == "visit" else 0.0
        message = f"stopped after {self.max_passes} passes"
        for passes in range(self.max_passes + 1):
            iterate = Iterate.at(problem, x.copy())
            residual = iterate.relative_gradient()
            tracer.record(iterate.objective, residual, eta0 / tau, {"pass": passes}, point=iterate.x)
            if not (np.all(np.isfinite(x)) and np.isfinite(iterate.objective)):
                message = f"the objective is no longer finite after {passes} passes: lower eta0 (it was {eta0:.3g})"
                break
            if residual <= 1e-3 * tol:
                message = "the gradient is below the tolerance"
                break
            if passes == self.max_passes:
                break
            if self.step == "decay" and self.count == "pass":
                tau = passes + 1.0
            with np.errstate(over="ignore", invalid="ignore"):
                tau = one_pass(x, next(turns), eta0, tau, growth)
        return Answer(x, {}, message, len(tracer.lines) - 1, tuple(tracer.lines))


@dataclass(frozen=True)
class SGDSolver(SequentialRule):
    """Stochastic gradient descent on a sum of smooth losses. For the logistic loss, with y_i in {0, 1} and p_i the
    probability of 1 at x_i, and for the softmax loss, with p_ik the probability of class k, a step is

        w <- w + eta (y_i - p_i) x_i,      w_k <- w_k + eta ([y_i = k] - p_ik) x_i,      eta = eta0/tau.

    Samples come in a new random order each pass, by ``seed`` (``order="cyclic"``: as they stand). ``batch`` samples
    at a time take one step along their average gradient (which allows a larger eta0). tau counts passes, or single
    steps (``count="visit"``). By default eta0 is one over the largest curvature of a single sample's loss. A ridge
    penalty takes its n-th part at every step.
    """

    name: ClassVar[str] = "sgd"
    accepts: ClassVar[str] = "one sum of smooth losses, with or without ridge penalty (a learning rule)"
    promise: ClassVar[float] = 2e-2

    order: Order = "random"
    batch: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "batch", self.batch)

    @property
    def samples_at_a_time(self) -> int:
        return self.batch


def safe_step(problem: Problem, term: Term) -> float:
    """1/L, L the largest curvature at x = 0 that one sample's share of the objective has along one of its rows."""
    curvature = term.loss.curvature(term.offset)
    if term.loss.width > 1:
        curvature = np.diagonal(curvature, axis1=1, axis2=2).ravel()
    along_rows = term.row_weights * curvature * squared_norms(problem.rows(term))
    largest = float(along_rows.max(initial=0.0)) + float(ridge(problem).max(initial=0.0)) / max(term.weights.size, 1)
    return 1.0 / largest if 0 < largest < np.inf else 1.0
