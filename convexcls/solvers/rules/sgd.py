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
from convexcls.solvers.rules import ORDERS, STEPS, Order, SampleMatrix, Step, orders, samples_of, squared_norms
from convexcls.solvers.rules.kinks import KinkedSum, refuse_unless_kinks
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


def kinked_pass(losses: KinkedSum, batch: int) -> DescentPass:
    """The same for losses with kinks, along subgradients."""
    from convexcls.solvers.rules import loops

    plain = losses.plain_samples() if batch == 1 else None
    if plain is not None and not plain[0].sparse:
        samples, offset, weights = plain
        kind = loops.HALF_SQUARED_PART if losses.slack.is_curved else loops.POSITIVE_PART
        return _compiled(kind, samples, offset, weights, losses.ridge)

    def one_pass(x: Array, order: NDArray[np.int64], eta0: float, tau: float, growth: float) -> float:
        for first in range(0, order.size, batch):
            chosen = order[first : first + batch]
            x -= eta0 / tau * (losses.pull(x, chosen) / chosen.size + losses.ridge * x / order.size)
            tau += growth
        return tau

    return one_pass


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
    return _compiled(kind, samples, term.offset, term.weights, ridge(problem))


def _compiled(kind: int, samples: SampleMatrix, offset: Array, weights: Array, penalty: Array) -> DescentPass:
    """A pass over dense samples, whose weight vector is the beginning of x."""
    from convexcls.solvers.rules import loops

    matrix, factor, bias = samples.matrix, samples.factor, samples.bias
    size = matrix.shape[1] + int(bias)
    w, ridge_of_w = np.zeros(samples.width), np.zeros(samples.width)
    ridge_of_w[:size] = penalty[:size]

    def one_pass(x: Array, order: NDArray[np.int64], eta0: float, tau: float, growth: float) -> float:
        w[:size] = x[:size]
        tau = loops.descent_pass(kind, matrix, factor, bias, offset, weights, ridge_of_w, order, eta0, tau, growth, w)
        x[:size] = w[:size]
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
    #: Whether the rule takes losses with kinks, too, along their subgradients.
    follows_kinks: ClassVar[bool] = False

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
        if self.follows_kinks and not problem.terms and problem.epigraphs:
            return refuse_unless_kinks(problem)
        if reason := refuse_unless_smooth(problem):
            return reason
        if len(problem.terms) != 1 or np.any(problem.q):
            return "it takes one sum of losses over samples, with or without a ridge penalty, and nothing else"
        if problem.matrices:
            return "the penalty is not a sum of squares of single coefficients"
        return ""

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        tracer, losses = Tracer(callback), sum_of_losses(problem)
        one_pass = losses.one_pass(self.samples_at_a_time)
        turns = orders(self.order, losses.samples, self.seed)
        eta0 = self.eta0 or losses.safe_step()
        x, tau = np.array(start.x), 1.0
        growth = 1.0 if self.step == "decay" and self.count == "visit" else 0.0
        message = f"stopped after {self.max_passes} passes"
        for passes in range(self.max_passes + 1):
            objective, residual, point = losses.at(x.copy())
            tracer.record(objective, residual, eta0 / tau, {"pass": passes}, point=point)
            if not (np.all(np.isfinite(x)) and np.isfinite(objective)):
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
        return Answer(point, losses.multipliers(x), message, len(tracer.lines) - 1, tuple(tracer.lines))


@dataclass(frozen=True)
class SGDSolver(SequentialRule):
    """Stochastic gradient descent on a sum of losses. For the logistic loss, with y_i in {0, 1} and p_i the
    probability of 1 at x_i, and for the softmax loss, with p_ik the probability of class k, a step is

        w <- w + eta (y_i - p_i) x_i,      w_k <- w_k + eta ([y_i = k] - p_ik) x_i,      eta = eta0/tau.

    Losses with kinks have a subgradient in its place: for the hinge with cost c_i and for the perceptron's loss

        w <- w + eta c_i y_i x_i  where  y_i (x_i'w) <= 1,      or  where  y_i (x_i'w) <= 0.

    Samples come in a new random order each pass, by ``seed`` (``order="cyclic"``: as they stand). ``batch`` samples
    at a time take one step along their average gradient (which allows a larger eta0). tau counts passes, or single
    steps (``count="visit"``). By default eta0 is one over the largest curvature of a single sample's loss, or, where it
    has a kink, one over the largest c_i ‖(x_i, 1)‖²: no step moves its sample's margin by more than one. A ridge
    penalty takes its n-th part at every step.
    """

    name: ClassVar[str] = "sgd"
    accepts: ClassVar[str] = "one sum of losses, with or without ridge penalty (a learning rule)"
    promise: ClassVar[float] = 2e-2

    follows_kinks: ClassVar[bool] = True

    order: Order = "random"
    batch: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "batch", self.batch)

    @property
    def samples_at_a_time(self) -> int:
        return self.batch


class SmoothSum:
    """A sum of smooth losses, the only term of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem, (self.term,) = problem, problem.terms
        self.samples = self.term.weights.size

    def one_pass(self, batch: int) -> DescentPass:
        return descent_pass(self.problem, self.term, batch)

    def at(self, x: Array) -> tuple[float, float, Array]:
        """The objective, the relative gradient, and the point of the problem."""
        iterate = Iterate.at(self.problem, x)
        return iterate.objective, iterate.relative_gradient(), x

    def multipliers(self, x: Array) -> dict[str, Array]:
        """None: there are no constraints."""
        return {}

    def safe_step(self) -> float:
        """1/L, L the largest curvature at x = 0 that one sample's share of the objective has along one of its rows."""
        term, loss = self.term, self.term.loss
        curvature = loss.curvature(term.offset)
        if loss.width > 1:
            curvature = np.diagonal(curvature, axis1=1, axis2=2).ravel()
        along_rows = term.row_weights * curvature * squared_norms(self.problem.rows(term))
        return _one_over(along_rows, ridge(self.problem))


class SumWithKinks:
    """A sum of losses with kinks."""

    def __init__(self, problem: Problem) -> None:
        self.losses = KinkedSum(problem)
        self.samples = self.losses.samples

    def one_pass(self, batch: int) -> DescentPass:
        return kinked_pass(self.losses, batch)

    def at(self, x: Array) -> tuple[float, float, Array]:
        """The objective, the length of a subgradient, and the point of the problem, with its slacks."""
        return self.losses.objective(x), float(np.linalg.norm(self.losses.subgradient(x))), self.losses.point(x)

    def multipliers(self, x: Array) -> dict[str, Array]:
        """What the subgradients at x are multiplied from."""
        return self.losses.multipliers(x)

    def safe_step(self) -> float:
        """1/L, L the largest c_i ‖R_i‖²."""
        return _one_over(self.losses.steepness, self.losses.ridge)


def sum_of_losses(problem: Problem) -> SmoothSum | SumWithKinks:
    """The sum that a rule goes down."""
    return SmoothSum(problem) if problem.terms else SumWithKinks(problem)


def _one_over(sizes: Array, penalty: Array) -> float:
    """One over the largest size and a sample's share of the largest penalty."""
    largest = float(sizes.max(initial=0.0)) + float(penalty.max(initial=0.0)) / max(sizes.size, 1)
    return 1.0 / largest if 0 < largest < np.inf else 1.0
