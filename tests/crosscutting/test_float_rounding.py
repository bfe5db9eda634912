"""A float certificate knows its own rounding: what it calls optimal is, in rationals, within the tolerance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.kkt.check import check_kkt
from convexcls.rows import as_rows
from convexcls.rows.doubled import Doubled, dots

TOL = Fraction(1, 10**8)
AGES = [[24, 75000], [65, 148000], [63, 67000], [18, 13000], [48, 129000]]
RNG = np.random.default_rng(13)
EPOCH = (1_700_000_000 + RNG.integers(0, 10**6, (9, 1))).astype(float)
HALVES = [0, 1, 0, 1, 1, 0, 1, 0, 1]
MIXED = RNG.integers(-9, 10, (8, 2)) * np.array([1e-19, 1e19])
FAR = RNG.integers(-9, 10, (8, 2)) * np.array([1e-80, 1e80])
HUGE = RNG.integers(-9, 10, (8, 2)) * 1e49
PLAIN = RNG.integers(-9, 10, (8, 2)).astype(float)
EIGHT = [0, 1, 1, 0, 1, 0, 0, 1]
WEIGHTS = 10.0 ** RNG.integers(-12, 6, 8)
LINE = [[3.1, -0.7, 3.2], [-3.9, -3.0, -3.8], [4.2, -2.5, 4.3], [0.6, 1.8, 0.7], [-4.5, -4.3, -4.4]]

PROBLEMS = {
    "ages and incomes": lambda: cc.SoftMarginSVM(AGES, [0, 1, 0, 0, 1], C=1e8),
    "epoch seconds": lambda: cc.SoftMarginSVM(EPOCH, HALVES, C=10.0),
    "mixed scales, small C": lambda: cc.SoftMarginSVM(MIXED, EIGHT, C=1e-12),
    "mixed scales": lambda: cc.SoftMarginSVM(MIXED, EIGHT, C=10.0),
    "far scales": lambda: cc.SoftMarginSVM(FAR, EIGHT, C=10.0),
    "squared hinge": lambda: cc.SoftMarginSVM(HUGE, EIGHT, C=10.0, loss="squared_hinge"),
    "weights": lambda: cc.SoftMarginSVM(PLAIN, EIGHT, C=1.0, sample_weight=WEIGHTS),
    "subnormal optimum": lambda: cc.HardMarginSVM([[-1e160], [1e160]], [0, 1]),
    "on a line": lambda: cc.FisherLDA(LINE, [0, 1, 0, 0, 1]),
}


def true_objective(solution: cc.Solution) -> Fraction:
    """The minimised objective of the coefficients, with the slack that they ask for, in rationals; hard margins are
    checked beside it."""
    problem, rows = solution.problem, solution.problem.data.exact_rows()
    w, b = [Fraction(float(v)) for v in np.ravel(solution.coef)], Fraction(float(solution.intercept))
    if problem.kind == "fisher":
        groups = [[r for r, k in zip(rows, problem.data.given, strict=True) if k == c] for c in (0, 1)]
        means = [[sum(column) / len(group) for column in zip(*group, strict=True)] for group in groups]
        return sum(
            (sum(((v - m) * f for v, m, f in zip(r, mean, w, strict=True)), Fraction(0)) ** 2 / 2)
            for group, mean in zip(groups, means, strict=True)
            for r in group
        )
    margins = [
        Fraction(float(s)) * (sum((v * f for v, f in zip(r, w, strict=True)), b))
        for r, s in zip(rows, problem.data.target, strict=True)
    ]
    total = sum(f * f for f in w) / 2
    if problem.kind == "hard-margin":
        assert min(margins) >= 1 - TOL
        return total
    slack = [max(Fraction(0), 1 - m) for m in margins]
    power = 2 if problem.parameters["loss"] == "squared_hinge" else 1
    costs = [Fraction(problem.parameters["C"] * c) for c in problem.data.weights.tolist()]
    return total + sum(c * s**power for c, s in zip(costs, slack, strict=True))


@pytest.mark.parametrize("solver", ["auto", "dual:osqp", "clarabel", "interior-point"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_called_optimal_is_optimal_in_rationals(name, solver):
    problem = PROBLEMS[name]()
    try:
        solution = problem.solve(solver)
    except cc.SolverRefused:
        pytest.skip("the solver does not take the problem")
    if solution.status != "optimal":
        assert solution.status == "undecided"
        return
    optimum = problem.solve(level="exact").certificate.optimum
    assert optimum is not None
    assert true_objective(solution) - optimum <= 4 * TOL * max(optimum, Fraction(problem.unit))


@pytest.mark.parametrize("name", ["ages and incomes", "epoch seconds", "weights"])
def test_everyday_tables_are_decided(name):
    assert PROBLEMS[name]().solve().status == "optimal"


def test_a_kernel_that_doubles_make_singular_is_not_called_unattained():
    """(1e16 + x z + 1)^2 has 107 bits: as doubles the matrix is singular where it is not."""
    rng, decided = np.random.default_rng(0), set()
    for _ in range(12):
        X = np.column_stack([np.full(6, 1e8), rng.integers(-5, 6, 6)])
        problem = cc.KernelSVM(X, [0, 1, 0, 1, 1, 0], kernel="poly", degree=2, coef0=1.0, gamma=1.0, C=None)
        truth = problem.solve(level="exact").status
        assert problem.solve().status in ("undecided", truth)
        decided.add(truth)
    assert decided == {"optimal", "unattained"}


LIGHT = [float(f"{w:.3g}") for w in 10.0 ** np.random.default_rng(5).uniform(-8, 5, 8)]


@pytest.mark.parametrize("weights", [LIGHT, [*LIGHT[:-1], 0.0]], ids=["light and heavy", "one without weight"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("solver", ["auto", "osqp", "clarabel", "interior-point", "cvxpy:SCS", "dual:clarabel", "smo"])
def test_multipliers_stay_within_their_own_boxes(solver, kernel, weights):
    """0 <= alpha_i <= C w_i in units of C w_i: the bound of a light sample is not measured by that of a heavy one."""
    s = cc.KernelSVM(PLAIN / 4, EIGHT, kernel=kernel, degree=2, coef0=1.0, C=10.0, sample_weight=weights).solve(solver)
    assert s.status == "optimal" or solver.startswith(("cvxpy", "dual"))
    if s.status == "optimal":
        boxes = [Fraction(10.0 * w) for w in weights]
        for value, box in zip(map(Fraction, s.values["margin"].tolist()), boxes, strict=True):
            assert -TOL * box <= value <= (1 + TOL) * box


@pytest.mark.parametrize("beyond", [1e-3, -1.0])
def test_a_box_is_measured_by_its_own_width(beyond):
    """A multiplier off by a thousandth of a light sample's box, or below 0 by all of it."""
    problem = cc.KernelSVM([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], C=1.0, sample_weight=[1e5, 1e5, 1e-5, 1e-5])
    s = problem.solve()
    assert check_kkt(problem, s.x, s.multipliers).holds(1e-8)
    off = np.where(np.arange(4) >= 2, (1.0 + beyond if beyond > 0 else beyond) * 1e-5, s.x)
    kkt = check_kkt(problem, off, s.multipliers)
    assert kkt.primal_feasibility.relative >= 0.99 * abs(beyond)


def test_a_residual_is_compared_with_the_bound_on_its_rounding():
    """1e16 + 3/2 - 1e16 is 0, 1.5 or 2 in doubles, depending on the order; the margin is 3/2, at least 1."""
    problem = cc.HardMarginSVM([[1e16, 1.5, -1e16], [-1e16, -0.5, 1e16]], [1, 0], intercept=False)
    kkt = check_kkt(problem, np.ones(3), {"margin": np.zeros(2)})
    feasibility = kkt.primal_feasibility
    assert abs(feasibility.relative - 0.5) <= feasibility.bound - feasibility.relative + 1e-12  # the second margin: 1/2
    assert all(kkt.bounds()[name] >= value for name, value in kkt.measures().items())


def test_entries_as_given_count():
    """1/3 is no double: at C = 1 the rounding of the data is far below the tolerance, and part of the bound."""
    thirds = [[Fraction(k, 3)] for k in (0, 1, 4, 5)]
    given, rounded = (cc.SoftMarginSVM(X, [0, 1, 0, 1]).solve() for X in (thirds, [[float(v[0])] for v in thirds]))
    assert given.status == rounded.status == "optimal"
    assert given.kkt.primal_feasibility.bound > rounded.kkt.primal_feasibility.relative
    large = [[Fraction(2**62 + k)] for k in (0, 34, 80, 130)]  # equal as doubles to a few hundred
    assert cc.LeastSquares(large, [0, 1, 0, 1], l2=0.1).solve().status in ("undecided", "optimal")


def test_products_in_doubled_precision_are_rounded_once():
    rng = np.random.default_rng(0)
    matrix, vector = rng.normal(size=(20, 7)), rng.normal(size=7)
    matrix[:, 3] = 1e17
    matrix[:, 4] = -1e17
    vector[4] = vector[3]
    value, bound = dots(Doubled(matrix, np.zeros(matrix.shape)), vector, Doubled(*np.zeros((2, 20, 1))))
    for row, v, b in zip(matrix.tolist(), value.tolist(), bound.tolist(), strict=True):
        exact = sum((Fraction(a) * Fraction(c) for a, c in zip(row, vector.tolist(), strict=True)), Fraction(0))
        assert abs(Fraction(v) - exact) <= Fraction(b)
        assert b <= 1e-13  # doubles alone are known to 10


def test_rows_in_doubled_precision_hold_twice_the_digits():
    thirds = [[Fraction(1, 3), Fraction(2, 7)], [Fraction(-5, 9), Fraction(1, 10)]]
    rows = cc.SoftMarginSVM(thirds, [0, 1]).constraints[0].entries["coef"]
    high, low = rows.doubled(np.arange(2))
    for i, row in enumerate(rows.rational()):
        for j, value in enumerate(row):
            assert abs(Fraction(high[i, j]) + Fraction(low[i, j]) - value) <= Fraction(1, 2**104)
    assert not as_rows(np.eye(2)).doubled([0, 1]).low.any()
