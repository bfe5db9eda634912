"""Answers that a certificate accepts, every small mutation of them, and how far off each is by definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

import convexcls as cc
from convexcls.proofs.kkt.check import check_kkt

NUDGE = 1e-4
#: A mutation that this file's own measure puts further than this from the set of solutions has left it. It is
#: ten times the tolerance asked of the checker, whose measures are relative to sums rather than to the largest.
LEFT = 1e-5

Point = np.ndarray
Multipliers = dict[str, np.ndarray]

OVERLAP = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, 2.0], [3.0, 1.0], [1.0, 3.0], [-1.0, 0.5], [2.0, -2.0]])
OVERLAP_Y = [-1, 1, -1, 1, 1, -1, 1]
APART = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 3.0], [2.0, 1.0], [3.0, 2.0], [4.0, 1.0]])
APART_Y = [1, 1, 1, -1, -1, -1]
#: One free support point on each side is missing: every multiplier is at a bound for small C.
BALANCED = np.array([[0.0], [1.0], [3.0], [4.0]])
BALANCED_Y = [-1, -1, 1, 1]
CUBE = np.array(
    [
        [1.0, 0.0, 2.0],
        [0.0, 1.0, 1.0],
        [2.0, 2.0, 0.0],
        [1.0, 1.0, -1.0],
        [3.0, 0.0, 1.0],
        [0.0, 3.0, 0.0],
        [2.0, 1.0, 2.0],
    ]
)
CUBE_Y = [1, -1, 1, -1, -1, 1, 1]
SETS = {
    "overlap": (OVERLAP, OVERLAP_Y),
    "apart": (APART, APART_Y),
    "balanced": (BALANCED, BALANCED_Y),
    "cube": (CUBE, CUBE_Y),
}
MODELS = {
    "hard": lambda X, y: cc.HardMarginSVM(X, y),
    "hard, through 0": lambda X, y: cc.HardMarginSVM(X, y, intercept=False),
    "widest": lambda X, y: cc.MaxMargin(X, y),
    "soft": lambda X, y: cc.SoftMarginSVM(X, y),
    "soft, C small": lambda X, y: cc.SoftMarginSVM(X, y, C=0.125),
    "soft, C large": lambda X, y: cc.SoftMarginSVM(X, y, C=8.0),
    "squared hinge": lambda X, y: cc.SoftMarginSVM(X, y, loss="squared_hinge"),
    "logistic": lambda X, y: cc.LogisticMLE(X, y),
    "logistic, l2": lambda X, y: cc.LogisticMLE(X, y, l2=0.5),
    "least squares": lambda X, y: cc.LeastSquares(X, y),
    "ridge": lambda X, y: cc.LeastSquares(X, y, l2=2.0, coding="01"),
    "least absolute": lambda X, y: cc.LeastAbsolute(X, y),
    "perceptron": lambda X, y: cc.PerceptronCriterion(X, y),
    "fisher": lambda X, y: cc.FisherLDA(X, y),
    "hinge risk, l1": lambda X, y: cc.EmpiricalRisk(X, y, loss="hinge", l1=0.3),
    "exponential risk": lambda X, y: cc.EmpiricalRisk(X, y, loss="exponential", l2=0.1),
}


# ---- the second check ------------------------------------------------------------------------------------------


def F(values) -> list[Fraction]:
    return [Fraction(float(v)) for v in values]


def dot(u, v) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


class Definition:
    """A problem without loss terms in exact arithmetic: how far a point and multipliers are from optimal."""

    def __init__(self, problem, optimum: float) -> None:
        self.problem, self.optimum = problem, Fraction(optimum)
        size = problem.size
        P = np.zeros((size, size))
        for v, p in problem.quadratic.items():
            where = problem.layout[v]
            P[where, where] = p.to_dense() if hasattr(p, "to_dense") else np.diag(p)
        self.P = [F(row) for row in P]
        self.q = F(problem.q)
        self.rows = {c.name: [F(row) for row in problem.rows(c).to_dense()] for c in problem.constraints}
        self.rhs = {c.name: F(c.rhs) for c in problem.constraints}
        self.bounds = {b.name: [F(row) for row in problem.rows(b).to_dense()] for b in problem.norm_bounds}
        self.room = abs(self.optimum) or Fraction(1)

    def primal_error(self, x) -> Fraction:
        """The largest violation of a constraint, and the distance of the objective from the optimum."""
        x, worst = F(x), Fraction(0)
        for c in self.problem.constraints:
            for row, h in zip(self.rows[c.name], self.rhs[c.name], strict=True):
                excess = dot(row, x) - h
                worst = max(worst, abs(excess) if c.relation == "==" else excess)
        for b in self.problem.norm_bounds:
            inside = [dot(row, x) for row in self.bounds[b.name]]
            worst = max(worst, Fraction(float(dot(inside, inside)) ** 0.5) - Fraction(b.bound))
        value = dot(self.q, x) + dot(x, [dot(row, x) for row in self.P]) / 2 + Fraction(self.problem.constant)
        return max(worst, abs(value - self.optimum) / self.room)

    def dual_error(self, x, multipliers: Mapping[str, np.ndarray]) -> Fraction:
        """The largest wrong sign and gradient of the Lagrangian, in units of the largest multiplier, and the
        distance of the dual objective."""
        x, worst, value = F(x), Fraction(0), Fraction(self.problem.constant)
        largest = Fraction(max([float(np.abs(z).max()) for z in multipliers.values() if np.any(z)], default=1.0))
        curved = [dot(row, x) for row in self.P]
        gradient = [a + b for a, b in zip(curved, self.q, strict=True)]
        for c in self.problem.constraints:
            z = F(multipliers[c.name])
            if c.relation == "<=":
                worst = max([worst, *(-v for v in z)])
            for v, row in zip(z, self.rows[c.name], strict=True):
                gradient = [g + v * a for g, a in zip(gradient, row, strict=True)]
            value -= dot(z, self.rhs[c.name])
        for b in self.problem.norm_bounds:
            *u, mu = F(multipliers[b.name])
            worst = max(worst, Fraction(float(dot(u, u)) ** 0.5) - mu)
            for v, row in zip(u, self.bounds[b.name], strict=True):
                gradient = [g - v * a for g, a in zip(gradient, row, strict=True)]
            value -= mu * Fraction(b.bound)
        worst = max([worst, *(abs(g) for g in gradient)])
        value -= dot(x, curved) / 2
        return max(worst / largest, abs(value - self.optimum) / self.room)

    def error(self, x, multipliers) -> Fraction:
        return max(self.primal_error(x), self.dual_error(x, multipliers))


def smooth_error(problem, x, accepted) -> float:
    """For a sum of smooth losses: the solutions are the points with the same scores (and penalised parts)."""
    step, error = np.asarray(x) - accepted, 0.0
    for rows in [problem.rows(t).to_dense() for t in problem.terms]:
        error = max(error, np.abs(rows @ step).max() / np.abs(rows @ accepted).max())
    curved = np.abs(problem.apply_quadratic(accepted)).max()
    return max(error, np.abs(problem.apply_quadratic(step)).max() / curved if curved else 0.0)


# ---- mutations ---------------------------------------------------------------------------------------------------


def vector_mutations(values: np.ndarray, is_multiplier: bool) -> Iterator[tuple[str, np.ndarray]]:
    largest = float(np.abs(values).max(initial=0.0))
    step = NUDGE * (largest or 1.0)
    for i, v in enumerate(values):
        if v:
            yield f"flip {i}", replaced(values, i, -v)
        yield f"nudge {i} up", replaced(values, i, v + step)
        yield f"nudge {i} down", replaced(values, i, v - step)
        if is_multiplier:
            yield f"zero {i}", replaced(values, i, 0.0)
            yield f"negate below zero {i}", replaced(values, i, -(largest or 1.0))
        for k in range(i):
            if abs(v - values[k]) > NUDGE * largest:
                swapped = values.copy()
                swapped[[i, k]] = swapped[[k, i]]
                yield f"swap {k} and {i}", swapped
    for factor in (-1.0, 0.0, 0.5, 0.999, 1.001, 2.0, 1e6):
        yield f"scale by {factor}", values * factor
    for constant in (-10 * step, 10 * step, 1.0):
        yield f"add {constant:.1e}", values + constant
    for shift in range(1, values.size):
        yield f"roll by {shift}", np.roll(values, shift)
    yield "reverse", values[::-1].copy()


def replaced(values: np.ndarray, i: int, v: float) -> np.ndarray:
    out = values.copy()
    out[i] = v
    return out


def mutations(problem, x: Point, multipliers: Multipliers) -> Iterator[tuple[str, Point, Multipliers]]:
    for v, where in problem.layout.items():
        for name, values in vector_mutations(x[where], False):
            mutated = x.copy()
            mutated[where] = values
            yield f"{v}: {name}", mutated, multipliers
    for block, z in multipliers.items():
        for name, values in vector_mutations(z, True):
            yield f"{block}: {name}", x, {**multipliers, block: values}
    yield "everything doubled", 2 * x, {name: 2 * z for name, z in multipliers.items()}
    yield "everything negated", -x, {name: -z for name, z in multipliers.items()}


def accepted(model: str, data: str, solver: str = "auto"):
    problem = MODELS[model](*SETS[data])
    solution = problem.solve(solver)
    if solution.status != "optimal":
        assert solver != "auto" or solution.status in ("infeasible", "unattained")
        return None
    assert solution.certificate.holds(1e-6)
    return problem, np.array(solution.x), {name: np.array(z) for name, z in solution.multipliers.items()}


def judge(model: str, data: str, solver: str) -> tuple[Counter[str], list[str]]:
    found = accepted(model, data, solver)
    if found is None:
        return Counter(), []
    problem, x, multipliers = found
    assert check_kkt(problem, x, multipliers).holds(1e-6)
    definition = None if problem.terms else Definition(problem, check_kkt(problem, x, multipliers).objective)
    counts: Counter[str] = Counter()
    fooled = []
    for name, point, others in mutations(problem, x, multipliers):
        if not check_kkt(problem, point, others).holds(1e-6):
            counts["refused"] += 1
            continue
        error = smooth_error(problem, point, x) if definition is None else definition.error(point, others)
        counts["accepted"] += 1
        if error > LEFT:
            fooled.append(f"{model} on {data} by {solver}: {name} is accepted, {float(error):.1e} off")
    return counts, fooled
