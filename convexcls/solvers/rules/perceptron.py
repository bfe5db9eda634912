"""The perceptron: what the on-line and the batch rule share, when to stop and what to say; the rule that takes one
sample at a time, and the rule that takes all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from convexcls.arrays import Array, Indices
from convexcls.problem import Problem
from convexcls.solvers.base import (
    Answer,
    Callback,
    Solver,
    Standing,
    Start,
    Tracer,
    check_choice,
    check_rate,
    check_whole,
)
from convexcls.solvers.rules import ORDERS, STEPS, Order, Step, orders, random_start, samples_of, step_size
from convexcls.solvers.rules.criterion import MARGIN, Criterion, refuse_unless_criterion
from convexcls.solvers.rules.history import UpdateLog
from convexcls.solvers.rules.perceptron_report import Counts, Cycle, PerceptronReport

#: One pass: it changes the weights and the counts in place; returns the loss met, the samples that made updates, in
#: order, and the numbers of their visits.
Pass = Callable[[Array, Counts, float], tuple[float, Indices, Indices]]
#: What a sample on the hyperplane is, f(x) = 0: a mistake, or predicted as positive.
Ties = Literal["mistake", "positive"]
TIES: tuple[Ties, ...] = ("mistake", "positive")

#: After so many passes a linear program is asked whether the classes can be separated at all.
PASSES_TO_ASK = (100, 1000, 10_000)
#: Where there are more samples than this, it is asked only about those that caused updates, and about all at the end.
MAX_SAMPLES_TO_ASK_EARLY = 5000


@dataclass(frozen=True)
class PerceptronRule(Solver):
    """A perceptron rule. Where a pass makes no mistake, the weights solve the criterion, and that is proved. Where
    classes cannot be separated the rule would run on for ever: it stops with a proof of that, and with its cycle if
    one shows within ``cycle_visits`` further visits of samples; with ``run_on`` it goes on to ``max_passes``.

    With ``ties="mistake"`` a sample with f(x) = 0 is a mistake, whatever its class; with ``"positive"`` it is predicted
    as positive, and a mistake only of the negative class."""

    rule: ClassVar[bool] = True
    as_stated: ClassVar[bool] = True
    warm: ClassVar[bool] = True
    kind: ClassVar[str]

    rate: float = 1.0
    step: Step = "fixed"
    max_passes: int = 100_000
    cycle_visits: int = 200_000
    random_start: bool = False
    seed: int = 0
    ties: Ties = "mistake"
    run_on: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.name, "rate", self.rate)
        check_choice(self.name, "ties", self.ties, TIES)
        check_choice(self.name, "step", self.step, STEPS)
        for option in ("max_passes", "cycle_visits", "seed"):
            check_whole(self.name, option, getattr(self, option))

    @abstractmethod
    def passes(self, criterion: Criterion) -> Pass:
        """The function that makes a pass."""

    @property
    def visits(self) -> str:
        """The order in which samples are visited."""
        return "cyclic"

    def refuses(self, problem: Problem) -> str:
        if reason := refuse_unless_criterion(problem):
            return reason
        if self.ties == "positive" and Criterion(problem).positive is None:
            return 'ties="positive" needs samples y_i (x_i, 1), and these rows are made otherwise'
        return ""

    def solve(self, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        criterion = Criterion(problem)
        size = criterion.separation.size
        begin = random_start(size, self.seed) if self.random_start else np.zeros(size)
        return self._learn(criterion, begin, Tracer(callback))

    def solve_from(self, start: Start, problem: Problem, tol: float, callback: Callback | None = None) -> Answer:
        if self.random_start:
            raise ValueError(f"solver {self.name!r} is given a start and told random_start=True: leave one out")
        criterion = Criterion(problem)
        return self._learn(criterion, criterion.weights_of(start.x), Tracer(callback))

    def _learn(self, criterion: Criterion, begin: Array, tracer: Tracer) -> Answer:
        n = criterion.used.size
        w, counts = begin.copy(), np.zeros(criterion.margin.size, dtype=np.int64)
        one_pass, watch, log = self.passes(criterion), CycleWatch(), UpdateLog()
        repeats = self.visits == "cyclic" and self.step == "fixed"
        cycle, proof, asked = None, None, False
        passes, updates, last_pass = 0, 0, self.max_passes
        while True:
            passes += 1
            rate = step_size(self.step, self.rate, passes)
            with np.errstate(over="ignore", invalid="ignore"):
                loss, samples, visits = one_pass(w, counts, rate)
            log.add(passes, samples, visits)
            mistakes = samples.size
            updates += mistakes
            if _is_shown(passes) or not mistakes:
                detail = {"pass": passes, "updates": updates, "mistakes": criterion.errors_of(samples)}
                tracer.record(loss, mistakes / n, rate, detail, standing=partial(_standing, criterion, w.copy()))
            if not mistakes or not np.all(np.isfinite(w)) or passes >= last_pass:
                break
            if repeats and cycle is None and (cycle := watch.look(w, counts, passes, updates)) and not self.run_on:
                break
            if passes in PASSES_TO_ASK and not asked:
                proof = criterion.refute(counts, everywhere=n <= MAX_SAMPLES_TO_ASK_EARLY)
                asked = n <= MAX_SAMPLES_TO_ASK_EARLY or proof is not None
                if proof is not None and not self.run_on:
                    last_pass = min(last_pass, passes + (-(-self.cycle_visits // n) if repeats else 0))
                    if passes >= last_pass:
                        break
        if mistakes and not asked:
            proof = criterion.refute(counts if cycle is None else cycle.counts)
        report = PerceptronReport(
            rule=self.kind,
            separation=criterion.separation,
            used=criterion.used,
            updates=updates,
            passes=passes,
            counts=counts,
            weights=w,
            start=begin,
            rate=self.rate,
            step=self.step,
            order=self.visits,
            separated=not mistakes,
            cycle=cycle,
            proof=proof,
            seed=self.seed,
            ties=self.ties,
            positive=criterion.positive,
            updates_made=log.closed(),
        )
        with np.errstate(over="ignore", invalid="ignore"):
            x, multipliers = criterion.point_of(w)
        return Answer(x, multipliers, _message(report), passes, tuple(tracer.lines), report=report)


def _standing(criterion: Criterion, w: Array) -> Standing:
    return criterion.point_of(w)


@dataclass
class CycleWatch:
    """Brent's search for a cycle: the weights after passes 1, 2, 4, 8, ... are kept, the last of them compared with
    those after every pass. The first time they come back is the length of the cycle."""

    passes: int = 0
    updates: int = 0
    w: Array = field(default_factory=lambda: np.empty(0))
    counts: Counts = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def look(self, w: Array, counts: Counts, passes: int, updates: int) -> Cycle | None:
        """The cycle that ends with this pass, if there is one."""
        if np.array_equal(w, self.w):
            return Cycle(self.passes, passes - self.passes, updates - self.updates, counts - self.counts)
        if passes >= 2 * self.passes:
            self.passes, self.updates, self.w, self.counts = passes, updates, w.copy(), counts.copy()
        return None


def _is_shown(passes: int) -> bool:
    """Whether a pass has a line in the trace: all up to 1000, then every tenth, from 10000 on every hundredth, ..."""
    return passes % 10 ** max(0, len(str(passes)) - 4 + (passes > 1000)) == 0


def _message(report: PerceptronReport) -> str:
    made = report.made
    if report.separated:
        return f"separated after {made}"
    if not np.all(np.isfinite(report.weights)):
        return f"the weights are no longer finite numbers after {made}: lower the rate"
    cycle = "" if report.cycle is None else f", in a cycle of {report.cycle}"
    if report.proof is not None:
        return f"not separable, which is proved: stopped after {made}{cycle}"
    if report.cycle is not None:
        return f"stopped after {made}{cycle}: by rounding, for no proof shows that the classes are not separable"
    return f"stopped after {made}, not separated; more may help (max_passes)"


@dataclass(frozen=True)
class PerceptronSolver(PerceptronRule):
    """Rosenblatt's rule (ESL 4.44): visit the samples; where y_i (w'x_i) <= 0, with x_i ending in 1 for the intercept,

        w <- w + rate y_i x_i.

    From start 0 it separates separable classes with at most R²/γ² updates. ``step="decay"`` divides the rate by the
    number of the pass; ``ties="positive"`` takes f(x) = 0 for the positive class, and no mistake there. Samples with
    weight c_i take the step rate c_i.
    """

    name: ClassVar[str] = "perceptron"
    accepts: ClassVar[str] = "the perceptron criterion; proves the answer on separable classes (a learning rule)"
    kind: ClassVar[str] = "on-line"

    order: Order = "cyclic"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.name, "order", self.order, ORDERS)

    @property
    def visits(self) -> str:
        return self.order

    def refuses(self, problem: Problem) -> str:
        if reason := super().refuses(problem):
            return reason
        if samples_of(problem, next(c for c in problem.constraints if c.name == MARGIN)) is None:
            return "it visits samples (x_i, 1) of a dense or sparse matrix, and these rows are made otherwise"
        return ""

    def passes(self, criterion: Criterion) -> Pass:
        from convexcls.solvers.rules import loops  # not at import: numba takes longer to load than all the rest

        samples = samples_of(criterion.problem, criterion.margin)
        assert samples is not None
        factor = -samples.factor * criterion.cost  # the margin rows are -y_i (x_i, 1)
        turns = orders(self.order, factor.size, self.seed)
        matrix, bias = samples.matrix, samples.bias
        padded, made = np.zeros(samples.width), np.zeros((2, factor.size), dtype=np.int64)
        positive = self.ties == "positive"

        def one_pass(w: Array, counts: Counts, rate: float) -> tuple[float, Indices, Indices]:
            padded[: w.size] = w
            rest = (factor, bias, next(turns), rate, padded, counts, positive, made)
            if samples.sparse:
                updates, loss = loops.perceptron_pass_sparse(matrix.data, matrix.indices, matrix.indptr, *rest)
            else:
                updates, loss = loops.perceptron_pass(matrix, *rest)
            w[:] = padded[: w.size]
            return loss, made[0, :updates].copy(), made[1, :updates].copy()

        return one_pass


@dataclass(frozen=True)
class PerceptronBatchSolver(PerceptronRule):
    """Steepest descent on the criterion (ESL 4.42, 4.43): in every pass add all misclassified samples at once,

        w <- w + rate sum over y_i (w'x_i) <= 0 of y_i x_i.

    Every sample added counts as an update: from start 0 there are at most n R²/γ² of them on separable classes.
    ``step="decay"`` divides the rate by the number of the pass.
    """

    name: ClassVar[str] = "perceptron-batch"
    accepts: ClassVar[str] = "the perceptron criterion; proves the answer on separable classes (a learning rule)"
    kind: ClassVar[str] = "batch"

    def passes(self, criterion: Criterion) -> Pass:
        rows, used, positive = criterion.rows, criterion.used, criterion.positive

        def one_pass(w: Array, counts: Counts, rate: float) -> tuple[float, Indices, Indices]:
            opposite = rows @ w
            wrong = ~(opposite < 0)  # what is not a number is no success
            if self.ties == "positive":
                wrong &= ~((opposite == 0) & positive)
            w -= rate * (rows.T @ wrong.astype(float))
            counts[used] += wrong
            return float(opposite[wrong].sum()), used[wrong], np.ones(int(wrong.sum()), dtype=np.intp)

        return one_pass
