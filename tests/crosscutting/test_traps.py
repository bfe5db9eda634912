"""Data on which solvers are known to be wrong, and data on which a check of residuals is easily fooled.

Every solver that takes a problem is tried, on the problem and on its dual. Whatever it says: a certified
answer must be the true one, known in exact rational arithmetic on the floats as given. ``undecided`` is honest
and allowed, except where a test says that ``auto`` has to decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import exact
import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.verdict import certify
from convexcls.solve import accepting

MILLIONTH = Fraction(1, 10**6)
SIX = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 3.0], [2.0, 1.0], [3.0, 2.0], [4.0, 1.0]])
SIGNS = [1, 1, 1, -1, -1, -1]
MEETING = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
SCALES = (1e6, 1e-6, 1e150, 1e-150)


@dataclass(frozen=True)
class Truth:
    """The exact verdict, and a test of an objective against the exact optimum to one part in a million."""

    status: str
    optimum: Fraction | None = None
    unit: Fraction = Fraction(0)
    squared: bool = False  # the optimum is the square of the objective, which is irrational

    def contradicts(self, solution) -> str:
        if solution.status == "undecided":
            return ""
        if solution.status != self.status:
            return f"{solution.solver} is certified {solution.status}, the truth is {self.status}"
        if self.status == "optimal" and not self._close(solution.objective):
            return f"{solution.solver} is certified optimal at {solution.objective!r}, the truth is {self._shown()}"
        return ""

    def _close(self, objective: float) -> bool:
        value, room = Fraction(objective), MILLIONTH
        if self.squared:
            value, room = value * abs(value), 2 * MILLIONTH
        return abs(value - self.optimum) <= room * max(abs(self.optimum), self.unit)

    def _shown(self) -> str:
        return f"{'the root of ' if self.squared else ''}{float(self.optimum)!r}"


def hard(X, y):
    found = exact.hard_margin(X.tolist(), y)
    return cc.HardMarginSVM(X, y), Truth("infeasible") if found is None else Truth("optimal", found[0])


def widest(X, y):
    found = exact.hard_margin(X.tolist(), y)
    value = Fraction(0) if found is None else 1 / (2 * found[0])
    return cc.MaxMargin(X, y), Truth("optimal", value, squared=True)


def soft(X, y, loss="hinge"):
    return cc.SoftMarginSVM(X, y, loss=loss), Truth("optimal", exact.soft_margin(X.tolist(), y, 1, loss)[0])


def squared_hinge(X, y):
    return soft(X, y, "squared_hinge")


def least_squares(X, y):
    optimum, _ = exact.least_squares(X.tolist(), y)
    return cc.LeastSquares(X, y), Truth("optimal", optimum, Fraction(len(y), 2))


def least_absolute(X, y):
    return cc.LeastAbsolute(X, y), Truth("optimal", exact.least_absolute(X.tolist(), y), Fraction(len(y)))


def perceptron(X, y):
    optimum = exact.perceptron(X.tolist(), y)
    truth = Truth("infeasible") if optimum is None else Truth("optimal", optimum, Fraction(len(y)))
    return cc.PerceptronCriterion(X, y), truth


def logistic(X, y, intercept=True):
    problem = cc.LogisticMLE(X, y, intercept=intercept)
    if exact.separability(X.tolist(), y, intercept) != "overlap":
        return problem, Truth("unattained")
    return problem, Truth("optimal", Fraction(exact.logistic(X.tolist(), y, 0, intercept)))


def fisher(X, y):
    optimum, _ = exact.fisher(X.tolist(), y)
    return cc.FisherLDA(X, y), Truth("optimal", optimum)


MARGIN_MODELS = {"hard": hard, "soft": soft, "squared_hinge": squared_hinge, "widest": widest}
MODELS = MARGIN_MODELS | {
    "least_squares": least_squares,
    "least_absolute": least_absolute,
    "perceptron": perceptron,
    "logistic": logistic,
    "fisher": fisher,
}


def solver_names(problem) -> list[str]:
    names = [info.name for info in accepting(problem)]
    return ["auto", *names, *("dual:" + info.name for info in accepting(problem.dual()))]


#: First-order methods run out of steps rather than of time: an answer that stopped short is an answer to judge.
#: HiGHS has no end of steps on the dual of a hard margin that is infeasible.
BUDGETS = {
    "gradient": {"max_iter": 300},
    "osqp": {"max_iter": 4000},
    "cvxpy:OSQP": {"max_iter": 4000},
    "cvxpy:SCS": {"max_iter": 2000},
    "cvxpy:HIGHS": {"raw": {"time_limit": 1.0}},
}


def solved(problem, name: str):
    return problem.solve(name, **BUDGETS.get(name.removeprefix("dual:"), {}))


def assert_nobody_certifies_a_falsehood(problem, truth: Truth) -> None:
    contradictions = [
        complaint for name in solver_names(problem) if (complaint := truth.contradicts(solved(problem, name)))
    ]
    assert not contradictions, "\n".join(contradictions)


def assert_auto_decides(problem, truth: Truth) -> None:
    solution = problem.solve()
    assert not truth.contradicts(solution)
    assert solution.status == truth.status, solution.certificate.reason


# ---- units --------------------------------------------------------------------------------------------------


def in_other_units(X, scale: float, columns: str):
    return X * scale if columns == "all" else X * [scale, 1.0]


@pytest.mark.parametrize("columns", ["all", "first"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("model", MODELS)
def test_features_in_other_units(model, scale, columns):
    assert_nobody_certifies_a_falsehood(*MODELS[model](in_other_units(SIX, scale, columns), SIGNS))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("model", MARGIN_MODELS)
def test_classes_that_meet_in_other_units(model, scale):
    assert_nobody_certifies_a_falsehood(*MODELS[model](MEETING * scale, SIGNS))


@pytest.mark.parametrize("data", ["separable", "meeting"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("model", MODELS)
def test_auto_decides_in_any_units(model, scale, data):
    assert_auto_decides(*MODELS[model]((SIX if data == "separable" else MEETING) * scale, SIGNS))


# ---- classes that hardly part, or hardly meet -----------------------------------------------------------------


def parted(gap: float):
    """Two rows of three points, ``gap`` apart along the second axis (negative: they overlap)."""
    upper = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    return np.vstack([upper, upper - [0.0, gap]])


GAPS = (1e-6, 1e-9, 1e-12, 1e-14)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("model", [*MARGIN_MODELS, "perceptron", "logistic"])
def test_a_narrow_gap(model, gap):
    X = parted(gap)
    assert exact.separability(X.tolist(), SIGNS) == "strict"
    assert_nobody_certifies_a_falsehood(*MODELS[model](X, SIGNS))


def dipping(depth: float):
    """The upper row's middle point dips below the lower row: hulls that meet, but only just."""
    X = parted(1.0)
    X[1, 1] -= 1.0 + depth
    return X


@pytest.mark.parametrize("depth", GAPS)
@pytest.mark.parametrize("model", [*MARGIN_MODELS, "perceptron", "logistic"])
def test_a_narrow_overlap(model, depth):
    X = dipping(depth)
    assert exact.separability(X.tolist(), SIGNS) == "overlap"
    assert_nobody_certifies_a_falsehood(*MODELS[model](X, SIGNS))


@pytest.mark.parametrize("model", [*MARGIN_MODELS, "perceptron", "logistic"])
def test_auto_decides_a_gap_of_a_millionth(model):
    assert_auto_decides(*MODELS[model](parted(1e-6), SIGNS))


# ---- features far from the origin, and features that nearly repeat each other --------------------------------

SHIFTED = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [4.0, 3.0], [5.0, 0.0]])
LABELS = {"separable": [-1, -1, -1, 1, 1, 1], "overlapping": [-1, 1, -1, 1, 1, -1]}


def shifted_to(origin: float):
    return SHIFTED + np.array([origin, 0.0])


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("origin", [1e4, 1e8, 1.7e9, 1e12, 1e15])
@pytest.mark.parametrize("model", MODELS)
def test_a_feature_far_from_the_origin(model, origin, labels):
    """Such as a time in seconds since 1970: its column nearly repeats the intercept's."""
    assert_nobody_certifies_a_falsehood(*MODELS[model](shifted_to(origin), LABELS[labels]))


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("model", MODELS)
def test_auto_decides_a_feature_of_mean_ten_thousand(model, labels):
    assert_auto_decides(*MODELS[model](shifted_to(1e4), LABELS[labels]))


@pytest.mark.parametrize("difference", [1e-4, 1e-8, 1e-10, 1e-12, 1e-15])
@pytest.mark.parametrize("model", MODELS)
def test_two_features_that_nearly_repeat_each_other(model, difference):
    X = SHIFTED.copy()
    X[:, 1] = X[:, 0] + difference * X[:, 1]
    assert_nobody_certifies_a_falsehood(*MODELS[model](X, LABELS["overlapping"]))


def nearly_repeated(difference: float):
    """With both features a perfect fit of (1, 1) exists; with one there is none better than 0."""
    return np.array([[1.0, 1.0], [-1.0, -1.0 + difference]]), [1.0, 1.0]


@pytest.mark.parametrize("difference", [1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 3e-16])
@pytest.mark.parametrize("model", [cc.LeastSquares, cc.LeastAbsolute])
def test_a_fit_that_only_the_difference_of_two_features_gives(model, difference):
    X, target = nearly_repeated(difference)
    problem = model(X, target, coding="real", intercept=False)
    assert_nobody_certifies_a_falsehood(problem, Truth("optimal", Fraction(0), Fraction(1)))


@pytest.mark.parametrize("difference", [1e-7, 1e-8, 1e-10])
def test_zero_is_no_least_squares_fit_however_small_its_gradient(difference):
    X, target = nearly_repeated(difference)
    problem = cc.LeastSquares(X, target, coding="real", intercept=False)
    assert not check_kkt(problem, np.zeros(2), {}).holds(1e-6)


@pytest.mark.parametrize("l1", [1e-10, 1e-13])
def test_a_small_penalty_does_not_hide_that_two_features_differ(l1):
    """A point known exactly, with every loss 0 and a cost of l1 |coef|, is better than coef = 0 by far."""
    X, target = nearly_repeated(1e-8)
    problem = cc.EmpiricalRisk(np.vstack([X, -X]), [1, 1, -1, -1], loss="absolute", l1=l1, intercept=False)
    coef = exact.solve_linear(exact.fractions(X.tolist()), [Fraction(t) for t in target])
    reachable = Fraction(l1) * sum(abs(c) for c in coef)
    for name in solver_names(problem):
        solution = solved(problem, name)
        assert solution.status != "optimal" or solution.objective <= 1.01 * float(reachable) + 1e-6, name


def above_a_simplex(d: int, gap: float):
    """d points with coordinate sum 64, and a point of their hull lifted by ``gap``: separated by that sum."""
    rng = np.random.default_rng(d)
    corners = rng.integers(-8, 9, size=(d, d)).astype(float)
    corners[:, -1] = 64.0 - corners[:, :-1].sum(axis=1)
    weights = rng.integers(1, 9, size=d)
    whole = 2 ** int(weights.sum()).bit_length()
    weights[0] += whole - weights.sum()
    X = np.vstack([corners, (weights / whole) @ corners + 64.0 * gap])
    assert sum(Fraction(v) for v in X[-1].tolist()) > 64
    return X, [-1] * d + [1]


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12, 1e-14, 1e-15])
@pytest.mark.parametrize("d", [5, 20, 45])
def test_a_point_just_above_a_simplex(d, gap):
    X, y = above_a_simplex(d, gap)
    assert cc.HardMarginSVM(X, y).solve().status in ("optimal", "undecided")
    assert cc.LogisticMLE(X, y).solve().status in ("unattained", "undecided")
    widest = cc.MaxMargin(X, y).solve()
    assert widest.status == "undecided" or widest.objective > 0


# ---- likelihoods without a maximum ------------------------------------------------------------------------------

LINE = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
TOUCHING = np.array([[0.0], [1.0], [2.0], [2.0], [4.0], [5.0]])
HALVES = [-1, -1, -1, 1, 1, 1]
#: Along the second axis the classes overlap on the line x1 = 0, off it there are only positives.
QUASI = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0], [0.0, 1.5], [0.0, 0.5], [2.0, 1.0]])
QUASI_SIGNS = [-1, 1, 1, -1, 1, 1]


@pytest.mark.parametrize("scale", [1.0, *SCALES])
@pytest.mark.parametrize("data", ["separated", "touching"])
def test_a_separated_likelihood_is_unattained_for_every_solver(data, scale):
    X = (LINE if data == "separated" else TOUCHING) * scale
    problem, truth = logistic(X, HALVES)
    assert truth.status == "unattained"
    for name in solver_names(problem):
        assert solved(problem, name).status in ("unattained", "undecided"), name
    assert problem.solve().status == "unattained"


def test_a_gradient_of_nothing_is_no_proof():
    """Far out along a separating direction the gradient is below 1e-11, and still there is no minimum."""
    problem, _ = logistic(LINE, HALVES)
    for steepness in (60.0, 600.0, 6000.0):
        x = steepness * np.array([1.0, -2.5])
        kkt = check_kkt(problem, x, {})
        assert kkt.stationarity.max < 1e-11
        certificate = certify(problem, x, {})
        assert certificate.status == "unattained"


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-6, 1e100, 1e-100])
@pytest.mark.parametrize("columns", ["all", "first", "second"])
def test_quasi_separation_in_other_units(scale, columns):
    X = QUASI * {"all": [scale, scale], "first": [scale, 1.0], "second": [1.0, scale]}[columns]
    problem, truth = logistic(X, QUASI_SIGNS)
    assert exact.separability(X.tolist(), QUASI_SIGNS) == "weak"
    assert_nobody_certifies_a_falsehood(problem, truth)
    assert problem.solve().status == "unattained"


@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9, 1e-12, 1e-14])
def test_a_likelihood_that_is_nearly_separated(depth):
    X = np.array([[0.0], [1.0], [2.0 + depth], [2.0], [4.0], [5.0]])
    problem, truth = logistic(X, HALVES)
    assert truth.status == "optimal"
    assert_nobody_certifies_a_falsehood(problem, truth)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12, 1e-14])
def test_a_likelihood_that_is_nearly_overlapping(gap):
    X = np.array([[0.0], [1.0], [2.0], [2.0 + gap], [4.0], [5.0]])
    problem, truth = logistic(X, HALVES)
    assert truth.status == "unattained"
    assert_nobody_certifies_a_falsehood(problem, truth)


@pytest.mark.parametrize("step", [1e-6, 1e-9, 1e-12, 1e-14])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_point_next_to_the_line_of_a_quasi_separation(step, sign, side):
    X = np.vstack([QUASI, [side * step, 1.0]])
    assert_nobody_certifies_a_falsehood(*logistic(X, [*QUASI_SIGNS, sign]))


def test_weights_of_zero_can_leave_one_class_only():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    signs, weights = [-1, 1, -1, 1], [0.0, 1.0, 0.0, 1.0]
    assert cc.LogisticMLE(X, signs).solve().status == "optimal"
    one_class = cc.LogisticMLE(X, signs, sample_weight=weights)
    for name in [info.name for info in accepting(one_class)]:  # also gradient steps that double without end
        assert one_class.solve(name).status in ("unattained", "undecided"), name
    assert one_class.solve().status == "unattained"
    # the hinge has a minimum there, 0, which nothing in the problem gives a size to
    only = cc.SoftMarginSVM(X, signs, sample_weight=weights).solve()
    assert only.status in ("optimal", "undecided")
    assert only.objective == pytest.approx(0.0, abs=1e-8)


# ---- numbers that are none, and other input -----------------------------------------------------------------------


@pytest.mark.parametrize("model", [*MODELS.values()])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused_with_its_place(model, value):
    X = SIX.copy()
    X[3, 1] = value
    cls = type(model(SIX, SIGNS)[0])
    with pytest.raises(ValueError, match=r"row 3, column 1"):
        cls(X, SIGNS)


@pytest.mark.parametrize("model", MARGIN_MODELS)
def test_solvers_write_nothing_to_the_terminal(model, capfd):
    problem, _ = MODELS[model](SIX * 1e-6, SIGNS)
    for name in solver_names(problem):
        solved(problem, name)
    out, err = capfd.readouterr()
    assert not out
    assert not err


@pytest.mark.parametrize(
    "declare", [cc.HardMarginSVM, cc.PerceptronCriterion, cc.LeastAbsolute, cc.LeastSquares, cc.FisherLDA, cc.MaxMargin]
)
def test_no_units_are_found_and_none_are_needed_to_answer(declare):
    """The smallest doubles there are: no power of two brings them near one; the answer is a verdict, not an error."""
    with np.errstate(all="ignore"):
        solution = declare([[-1e-323], [2e-323], [1.5e-323]], [0, 1, 1]).solve()
    assert solution.status in ("optimal", "undecided")


def test_sums_that_overflow_are_refused():
    with pytest.raises(cc.DataError, match="sums of the features overflow"), np.errstate(over="ignore"):
        cc.PerceptronCriterion([[1.5e308], [-1.5e308]], [1, 0])
