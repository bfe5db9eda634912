"""Enclosures of logistic and softmax regression: against closed forms, decimals, rationals and each other."""

import csv
import sys
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from datasets import every_model, overlapping
from decimal_losses import eliminate, exponential_slope, logistic_slope, newton, softmax_fit
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import convexcls as cc
from convexcls.problem import NoAnswer, Problem, ProblemError, Term
from convexcls.proofs.enclosure.enclose import check_enclosure, enclose
from convexcls.proofs.enclosure.intervals import proved_digits, rational, read_rows, settled_digits, working_bits
from convexcls.proofs.enclosure.krawczyk import prove
from convexcls.proofs.enclosure.objective import Objective
from convexcls.rows import as_rows

flint = pytest.importorskip("flint")

PROBLEMS = Path(__file__).parents[3] / "problems"
#: Newton's method in 60 digits, carried out elsewhere, 30 of them kept: see problems/spector.toml.
SPECTOR = {
    "coef": ["2.82611259488932088432072334672", "0.0951576613179092866427740964389", "2.37868765509335448560481847861"],
    "intercept": ["-13.0213468581156887096334006130"],
    "optimum": "12.8896342221314151295562594343",
}
ENCLOSED = [
    *("logistic", "logistic-ridge", "logistic-no-intercept", "softmax", "softmax-ridge", "softmax-no-intercept"),
    *("least-squares", "least-squares-01", "ridge", "exponential"),
]


def spector(number=Decimal):
    with open(PROBLEMS / "spector.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return [[number(r[c]) for c in ("gpa", "tuce", "psi")] for r in rows], [int(r["grade"]) for r in rows]


def inside(value, interval) -> bool:
    return interval[0] <= value <= interval[1]


def overlap(a, b) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


def minus(a, b):
    return a[0] - b[1], a[1] - b[0]


def optimum(e):
    return e.lower, e.upper


def intervals(e):
    return [optimum(e), *(i for v in e.coefficients.values() for i in v)]


# ---- known answers ---------------------------------------------------------------------------------------------


def test_spector_to_thirty_digits():
    X, y = spector()
    problem = cc.LogisticMLE(X, y)
    found = enclose(problem, problem.solve().x)
    assert (found.optimum_text, found.text("coef"), found.text("intercept")) == (
        SPECTOR["optimum"],
        SPECTOR["coef"],
        SPECTOR["intercept"],
    )
    assert found.reached >= found.digits == 30
    assert found.unique
    assert check_enclosure(problem, found)


def test_doubles_are_what_they_are():
    """2.66 as a double is another number: the enclosures differ, and both are right."""
    by_text = enclose(cc.LogisticMLE(*spector()))
    by_double = enclose(cc.LogisticMLE(*spector(float)))
    assert not overlap(optimum(by_text), optimum(by_double))
    assert abs(by_text.lower - by_double.lower) < Fraction(1, 10**12)
    assert not check_enclosure(cc.LogisticMLE(*spector(float)), by_text)


COUNTS = ((5, 2, 9), (3, 7, 4))


def test_saturated_table_gives_logarithms_of_ratios():
    """One column of 0 and 1, three classes: at each of the two points the probabilities are the shares."""
    X = [[x] for x, row in enumerate(COUNTS) for count in row for _ in range(count)]
    y = [k for row in COUNTS for k, count in enumerate(row) for _ in range(count)]
    problem = cc.SoftmaxMLE(X, y)
    found = enclose(problem, digits=40)
    with localcontext() as context:
        context.prec = 60
        logs = [[Decimal(count).ln() for count in row] for row in COUNTS]
        centred = [[v - sum(row) / 3 for v in row] for row in logs]
        intercepts, coefs = centred[0], [b - a for a, b in zip(*centred, strict=True)]
        best = -sum(c * (Decimal(c) / sum(row)).ln() for row in COUNTS for c in row)
    slack = Fraction(1, 10**55)
    for value, (low, high) in zip([best, *coefs, *intercepts], intervals(found), strict=True):
        assert low - slack <= Fraction(value) <= high + slack
    assert found.reached >= 40
    with localcontext() as context:
        context.prec = 40
        assert found.optimum_text == str(+best)
        assert found.text("coef") == [str(+v) for v in coefs]


def test_weights_count_as_repetitions():
    X = [[x] for x in (0, 1) for _ in range(3)]
    weighted = cc.SoftmaxMLE(X, [0, 1, 2] * 2, sample_weight=[c for row in COUNTS for c in row])
    X = [[x] for x, row in enumerate(COUNTS) for count in row for _ in range(count)]
    y = [k for row in COUNTS for k, count in enumerate(row) for _ in range(count)]
    pairs = zip(intervals(enclose(weighted)), intervals(enclose(cc.SoftmaxMLE(X, y))), strict=True)
    assert all(overlap(a, b) for a, b in pairs)


@pytest.mark.parametrize("l2", [0.0, 0.75])
def test_softmax_of_two_classes_is_logistic(l2):
    X, y = overlapping(20, 2)
    logistic, softmax = enclose(cc.LogisticMLE(X, y, l2=l2 / 2)), enclose(cc.SoftmaxMLE(X, y, l2=l2))
    assert overlap(optimum(logistic), optimum(softmax))
    for v, size in (("coef", 2), ("intercept", 1)):
        first, second = softmax.coefficients[v][:size], softmax.coefficients[v][size:]
        for a, b, own in zip(first, second, logistic.coefficients[v], strict=True):
            assert overlap(minus(b, a), own)
            assert overlap((-b[1], -b[0]), a)


RIDGE_X = [[Fraction(1, 3), 2], [Fraction(-5, 7), 1], [2, Fraction(1, 9)], [0, -1], [1, 1], [Fraction(3, 11), -2]]
RIDGE_Y = [1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize(("loss", "slope"), [("logistic", logistic_slope), ("exponential", exponential_slope)])
def test_ridge_agrees_with_newton_in_decimals(loss, slope):
    X = np.array([[Fraction(v) for v in row] for row in RIDGE_X], dtype=object)
    problem = cc.EmpiricalRisk(X, RIDGE_Y, loss=loss, l2=0.5)
    found = enclose(problem, digits=60)
    signs = [2 * t - 1 for t in RIDGE_Y]
    rows = [[*(s * Fraction(v) for v in row), Fraction(s)] for row, s in zip(RIDGE_X, signs, strict=True)]
    x = newton(slope, rows, Fraction(1, 2), 12)
    slack = Fraction(1, 10**90)
    for value, (low, high) in zip(x, intervals(found)[1:], strict=True):
        assert low - slack <= value <= high + slack
    assert found.reached >= 60
    assert check_enclosure(problem, found)


def test_least_squares_contains_the_rational_solution():
    rng = np.random.default_rng(4)
    X, t = rng.integers(-5, 6, size=(9, 3)), rng.integers(-5, 6, size=9)
    found = enclose(cc.LeastSquares(X, t, coding="real", l2=0.25))
    rows = [[*(Fraction(int(v)) for v in row), Fraction(1)] for row in X]
    system = [[sum(r[j] * r[k] for r in rows) + Fraction(int(j == k and j < 3), 4) for j in range(4)] for k in range(4)]
    x = eliminate(system, [sum(r[j] * int(v) for r, v in zip(rows, t, strict=True)) for j in range(4)])
    residuals = [sum(a * b for a, b in zip(r, x, strict=True)) - int(v) for r, v in zip(rows, t, strict=True)]
    best = sum(r * r for r in residuals) / 2 + sum(v * v for v in x[:3]) / 8
    assert all(inside(v, i) for v, i in zip([best, *x], intervals(found), strict=True))


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_random_softmax_in_decimals(seed):
    """At the midpoint the gradient in decimals is next to nothing, and the value is the optimum."""
    rng = np.random.default_rng(seed)
    n, d, K, l2 = int(rng.integers(4, 12)), int(rng.integers(1, 3)), int(rng.integers(2, 4)), Fraction(1, 2)
    X, y = rng.integers(-9, 10, size=(n, d)) / 4, np.r_[np.arange(K), rng.integers(0, K, size=n - K)]
    weights = rng.integers(1, 5, size=n)
    found = enclose(cc.SoftmaxMLE(X, y, l2=float(l2), sample_weight=weights), digits=20)
    middle = {v: [(a + b) / 2 for a, b in i] for v, i in found.coefficients.items()}
    coef = [[*middle["coef"][k * d : (k + 1) * d], middle["intercept"][k]] for k in range(K)]
    rows = [[*(Fraction(v) for v in row), Fraction(1)] for row in X.tolist()]
    value, gradient = softmax_fit(rows, y.tolist(), coef, [Fraction(int(w)) for w in weights], l2)
    assert max(abs(g) for row in gradient for g in row) < Fraction(1, 10**20) * n * 40
    assert found.lower <= value <= found.upper + Fraction(1, 10**40)


# ---- every model -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENCLOSED)
def test_models_that_are_enclosed(name):
    problem = every_model()[name]
    solution = problem.solve()
    found = enclose(problem, solution.x)
    assert found.reached >= 30
    assert abs(float(found.lower) - solution.objective) <= 1e-9 * abs(solution.objective)
    values = np.concatenate([solution.values[v] for v in found.coefficients])
    middle = np.array([float(low + high) / 2 for low, high in intervals(found)[1:]])
    if "softmax" in name:
        centred = [np.ravel(solution.coef), np.ravel(solution.intercept)][: len(found.coefficients)]
        values = np.concatenate(centred)
    assert np.allclose(middle, values, rtol=1e-6, atol=1e-7)
    assert check_enclosure(problem, found)


def test_other_models_are_refused():
    for name, problem in every_model().items():
        if name not in ENCLOSED:
            with pytest.raises(NoAnswer, match=r"constraints|not enclosed"):
                enclose(problem)


@pytest.mark.parametrize("model", [cc.LogisticMLE, cc.SoftmaxMLE])
def test_sparse_samples_and_samples_without_weight(model):
    X, y = overlapping(40, 2)
    X[np.abs(X) < 0.3] = 0.0
    weights = np.where(np.arange(40) < 34, 1.0, 0.0)
    dense, fewer = enclose(model(X, y, sample_weight=weights)), enclose(model(X[:34], y[:34]))
    assert intervals(enclose(model(sparse.csr_array(X), y, sample_weight=weights))) == intervals(dense)
    assert all(overlap(a, b) for a, b in zip(intervals(dense), intervals(fewer), strict=True))


def test_rows_without_structure_give_the_same():
    """Softmax stated with plain rows: another way through the code."""
    X, y = overlapping(15, 2)
    by_class = cc.SoftmaxMLE(X, (y + np.arange(15)) % 3)
    term = by_class.terms[0]
    plain = Problem(
        "softmax",
        by_class.variables,
        terms=[Term("likelihood", {v: r.to_dense() for v, r in term.entries.items()}, kind="margins", loss=term.loss)],
        gauge=by_class.gauge,
    )
    one, other = enclose(by_class), enclose(plain)
    assert all(overlap(a, b) for a, b in zip(intervals(one), intervals(other), strict=True))
    assert check_enclosure(plain, one)
    assert check_enclosure(by_class, other)
    wrong = Problem("softmax", plain.variables, terms=plain.terms, gauge={"intercept": [[1.0, 0.0, 0.0]]})
    with pytest.raises(ProblemError, match="gauge"):
        enclose(wrong)


def test_quadratic_of_any_kind():
    """A full quadratic matrix, a linear cost, a constant and an offset: the minimum is a rational."""
    P = [[2.0, 1.0], [1.0, 3.0]]
    problem = Problem(
        "quadratic",
        [cc.Variable("x", 2, "x")],
        quadratic={"x": P},
        linear={"x": [1.0, -2.0]},
        terms=[Term("residual", {"x": [[1.0, 1.0]]}, offset=[-0.5])],
        constant=0.25,
    )
    found = enclose(problem)
    x = eliminate([[Fraction(3), Fraction(2)], [Fraction(2), Fraction(4)]], [Fraction(-1, 2), Fraction(5, 2)])
    best = x[0] ** 2 + x[0] * x[1] + Fraction(3, 2) * x[1] ** 2 + x[0] - 2 * x[1] + Fraction(1, 4)
    best += (x[0] + x[1] - Fraction(1, 2)) ** 2 / 2
    assert all(inside(v, i) for v, i in zip([best, *x], intervals(found), strict=True))
    assert check_enclosure(problem, found)


# ---- digits and scales -----------------------------------------------------------------------------------------


def test_more_digits_give_narrower_intervals():
    X, y = overlapping(20, 2)
    problem = cc.LogisticMLE(X, y)
    runs = [enclose(problem, digits=digits) for digits in (5, 30, 120, 400)]
    for coarse, fine in pairwise(runs):
        for a, b in zip(intervals(coarse), intervals(fine), strict=True):
            assert a[0] < b[0] < b[1] < a[1]
            assert b[1] - b[0] < (a[1] - a[0]) / 10**20
    for run in runs:
        assert all((b - a) * 10**run.digits <= abs(a) for a, b in intervals(run))
        assert all(len(t.lstrip("-0.").replace(".", "")) == run.digits for t in run.text("coef"))


@pytest.mark.parametrize("power", [-100, 100])
@pytest.mark.parametrize("model", [cc.LogisticMLE, cc.SoftmaxMLE])
def test_features_of_any_size(model, power):
    """Decimals times a power of ten: the coefficients are divided by exactly that."""
    rng = np.random.default_rng(3)
    digits = rng.integers(-99, 100, size=(16, 2))
    y = (digits[:, 0] + rng.integers(-150, 150, size=16) > 0).astype(int)
    X = np.array([[Decimal(int(v)) for v in row] for row in digits], dtype=object)
    far = X.copy()
    far[:, 0] = [v.scaleb(power) for v in X[:, 0]]
    one, other = enclose(model(X, y)), enclose(model(far, y))
    assert other.reached >= 30
    assert overlap(optimum(one), optimum(other))
    for place, (a, b) in enumerate(zip(one.coefficients["coef"], other.coefficients["coef"], strict=True)):
        factor = Fraction(10) ** power if place % 2 == 0 else 1
        assert overlap(a, (b[0] * factor, b[1] * factor))


def test_tiny_features_with_a_penalty_keep_their_digits():
    found = enclose(
        cc.LogisticMLE(
            np.array([[1.0, 2.0], [2.0, -1.0], [1.5, 1.0], [0.0, 3.0]]) * [1.0, 1e-100], [0, 1, 1, 0], l2=1.0
        )
    )
    assert found.reached >= 30
    assert found.text("coef")[1].endswith("E-100")


@pytest.mark.parametrize("power", [-90, 90])
@pytest.mark.parametrize("loss", ["softmax", "exponential"])
def test_a_penalty_that_hardly_counts(loss, power):
    """Separated classes and features of size 1e90: only a penalty of relative size 1e-180 keeps the minimiser near."""
    X, y = np.array([[-2.0, 1.0], [-1.0, 0.0], [1.0, 3.0], [2.0, -1.0]]) * 10.0**power, [0, 0, 1, 1]
    problem = cc.SoftmaxMLE(X, y, l2=1.0) if loss == "softmax" else cc.EmpiricalRisk(X, y, loss=loss, l2=1.0)
    found = enclose(problem)
    assert found.reached >= 30
    assert check_enclosure(problem, found)


def test_a_coefficient_that_is_zero():
    found = enclose(cc.LogisticMLE([[1.0], [-1.0], [1.0], [-1.0]], [0, 0, 1, 1]))
    assert found.reached >= 30
    assert Decimal(found.text("coef")[0]) == 0
    assert inside(0, found.coefficients["coef"][0])
    with localcontext() as context:
        context.prec = 30
        assert found.optimum_text == str(4 * Decimal(2).ln())


def test_perfect_fit():
    problem = cc.LeastSquares([[0.0, 1.0], [1.0, 0.5], [2.0, 7.0], [3.0, 1.0]], [1.0, 3.0, 5.0, 7.0], coding="real")
    found = enclose(problem, problem.solve().x)
    assert found.reached >= 30
    assert inside(0, optimum(found))
    assert inside(2, found.coefficients["coef"][0])
    assert inside(0, found.coefficients["coef"][1])
    assert enclose(cc.LeastSquares([[1.0], [2.0], [4.0]], [0.0, 0.0, 0.0], coding="real")).reached >= 30


def test_nearly_separated_classes():
    """One sample far on the wrong side of many: large coefficients, hardly any curvature."""
    X = np.r_[np.linspace(-1, -0.5, 30), np.linspace(0.5, 1, 30), -0.501][:, None]
    y = np.r_[np.zeros(30), np.ones(31)]
    problem = cc.LogisticMLE(X, y)
    found = enclose(problem)
    assert found.reached >= 30
    assert check_enclosure(problem, found)
    assert abs(float(found.lower) / problem.solve().objective - 1) < 1e-9


def test_columns_that_nearly_repeat_each_other():
    X, y = overlapping(20, 2)
    X = np.round(X * 64) / 64
    twice = X[:, :1] * (1 + 2.0**-45 * (np.arange(20) % 2)[:, None])
    found = enclose(cc.LogisticMLE(np.hstack([X, twice]), y))
    assert found.unique
    assert found.reached >= 30


def test_entries_of_one_column_far_apart_are_read_exactly():
    rows = as_rows(np.array([[1e300, 3.0], [-1e-300, 5e-324]]))
    with working_bits(100):
        read = read_rows(rows, [0, 1], [0, 1], [997, 2])
    powers = [Fraction(2) ** 997, Fraction(4)] * 2
    assert [rational(v) * p for v, p in zip(read.entries(), powers, strict=True)] == [
        Fraction(v) for v in (1e300, 3.0, -1e-300, 5e-324)
    ]


# ---- no unique minimiser, or none ------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [cc.LogisticMLE, cc.SoftmaxMLE])
def test_dependent_columns(model):
    X, y = overlapping(20, 2)
    X = np.round(X * 64)
    problem = model(np.hstack([X, X[:, :1] - 2 * X[:, 1:], np.zeros((20, 1))]), y)
    found, fewer = enclose(problem), enclose(model(X, y))
    assert not found.unique
    assert "not unique" in found.proof
    assert overlap(optimum(found), optimum(fewer))
    assert found.reached >= 30
    assert check_enclosure(problem, found)
    assert not check_enclosure(problem, replace(found, pinned=()))
    for pinned in (
        (*found.pinned[1:], 0),
        found.pinned[::-1],
        (*found.pinned, 99),
        found.pinned[:1] * len(found.pinned),
    ):
        assert not check_enclosure(problem, replace(found, pinned=pinned))
    assert enclose(model(np.hstack([X, X[:, :1]]), y, l2=1.0)).unique


SEPARATED = {
    "logistic": cc.LogisticMLE([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]),
    "softmax": cc.SoftmaxMLE([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 1, 2, 2]),
    "exponential": cc.EmpiricalRisk([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], loss="exponential"),
    "no-intercept": cc.LogisticMLE([[1.0, -1.0], [2.0, 1.0], [-1.0, 0.0]], [1, 1, 0], intercept=False),
}


@pytest.mark.parametrize("name", SEPARATED)
def test_separated_classes_have_no_minimiser(name):
    with pytest.raises(NoAnswer, match=r"completely separated.*proved"):
        enclose(SEPARATED[name])


def test_weakly_separated_classes_have_no_minimiser():
    X, y = [[0.0], [1.0], [1.0], [3.0]], [0, 0, 1, 1]
    with pytest.raises(NoAnswer, match="did not settle"):
        enclose(cc.LogisticMLE(X, y))
    with pytest.raises(NoAnswer, match="did not settle"):
        enclose(cc.LogisticMLE(X, y), [40.0, -40.0])
    assert enclose(cc.LogisticMLE(X, y, l2=1e-6)).reached >= 30


def test_far_minimisers_take_few_steps(monkeypatch):
    """A penalty that is tiny beside features of 1e300 holds the margins at thousands: steps of one at a time would take
    as many."""
    monkeypatch.setattr("convexcls.proofs.enclosure.newton.MAX_STEPS_WITH_PENALTY", 100)
    X = [[0.0, -4e290, 1e305], [1e305, -1e290, 0.0], [3e305, -1e290, -1e305], [3e305, 3e290, 0.0]]
    for problem in (cc.LogisticMLE(X, [1, 0, 0, 0], l2=1e-3), cc.SoftmaxMLE(X, [1, 0, 2, 0], l2=1.0)):
        found = enclose(problem)
        assert found.reached >= 30
        assert check_enclosure(problem, found)


def test_more_bits_go_on_from_where_fewer_ended(monkeypatch):
    """The walk to a minimiser that takes more bits to prove is long, and is walked once."""
    steps = []
    count = import_module("convexcls.proofs.enclosure.newton")._newton_step
    monkeypatch.setattr("convexcls.proofs.enclosure.newton._newton_step", lambda *a: steps.append(1) or count(*a))
    X = np.array([[-3.0], [2.0], [-4.0], [-2.0], [3.0], [-1.0]]) * 1e300
    problem = cc.SoftmaxMLE(X, [2, 0, 3, 2, 0, 1], l2=1.0, intercept=False)
    found = enclose(problem, digits=20)
    assert found.reached >= 20
    assert check_enclosure(problem, found)
    assert 30 < len(steps) < 80


def test_an_enclosure_that_few_more_bits_do_not_prove_again_is_proved_by_more():
    X = [
        [4e290, -1e-310, 1e290],
        [1e290, -4e-310, -3e290],
        [-1e290, -1e-310, 0],
        [-2e290, 0, -2e290],
        [0, -1e-310, 3e290],
    ]
    problem = cc.SoftmaxMLE(X, ["no", "no", "no", "no", "yes"], l2=0.1)
    found = enclose(problem)
    assert check_enclosure(problem, found)
    assert not check_enclosure(problem, replace(found, upper=found.lower))


def test_an_enclosure_is_found_once(monkeypatch):
    problem = cc.LogisticMLE([[0.0], [1.0], [2.0]], [0, 1, 0])
    found = enclose(problem)
    monkeypatch.setattr(sys.modules["convexcls.proofs.enclosure.enclose"], "_Attempts", None)
    assert enclose(problem) is found


def separated(X, y) -> bool:
    """Whether some direction leaves no sample on its wrong side and some off it: a linear program."""
    from scipy.optimize import linprog

    rows = (2 * np.array(y) - 1)[:, None] * np.hstack([X, np.ones((len(y), 1))])
    found = linprog(
        -rows.sum(axis=0), np.vstack([-rows, rows]), np.r_[np.zeros(len(y)), np.ones(len(y))], bounds=(-1e3, 1e3)
    )
    return -found.fun > 1e-6


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_an_enclosure_exists_unless_the_classes_are_separated(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 12)), int(rng.integers(1, 3))
    X, y = rng.integers(-2, 3, size=(n, d)).astype(float), np.r_[0, 1, rng.integers(0, 2, size=n - 2)]
    problem = cc.LogisticMLE(X, y)
    if separated(X, y):
        with pytest.raises(NoAnswer, match="separated"):
            enclose(problem, digits=10)
    else:
        found = enclose(problem, digits=10)
        assert found.unique == (np.linalg.matrix_rank(np.hstack([X, np.ones((n, 1))])) == d + 1)
        assert check_enclosure(problem, found)


# ---- mutations -------------------------------------------------------------------------------------------------


def mutated(e):
    """Enclosures that claim something that is not so."""
    for v, box in e.coefficients.items():
        for j, (low, high) in enumerate(box):
            width = high - low
            centre = (low + high) / 2
            for other in (
                (low + 2 * width, high + 2 * width),
                (low - 2 * width, high - 2 * width),
                (-high, -low),
                (centre, centre),
                (high, low),
                (low + width / 10**6, low + width / 10**5),
                (centre - 10**40 * width, centre + 10**40 * width),
                (centre - 10**400, centre + 10**400),
                (centre + 10**400, centre + 10**400 + 1),
            ):
                yield replace(e, coefficients={**e.coefficients, v: [*box[:j], other, *box[j + 1 :]]})
        yield replace(e, coefficients={**e.coefficients, v: box[:-1]})
        yield replace(e, coefficients={k: b for k, b in e.coefficients.items() if k != v})
    yield replace(e, lower=e.upper)
    yield replace(e, upper=e.lower)
    yield replace(e, lower=e.lower + 1, upper=e.upper + 1)
    yield replace(e, lower=-e.upper, upper=-e.lower)
    yield replace(e, lower=e.lower - 1)
    yield replace(e, upper=e.upper + 1)
    yield replace(e, reached=e.reached + 1)
    yield replace(e, precision=24)
    yield replace(e, precision=10**9)
    yield replace(e, pinned=(0,))
    yield replace(e, proof=e.proof + ".")


@pytest.mark.parametrize("name", ["logistic", "logistic-ridge", "softmax", "softmax-ridge", "ridge", "exponential"])
def test_no_false_claim_is_accepted(name):
    problem = every_model()[name]
    found = enclose(problem, problem.solve().x)
    assert check_enclosure(problem, found)
    assert not any(check_enclosure(problem, wrong) for wrong in mutated(found))


def test_the_bounds_hold_for_wide_boxes_off_the_minimiser():
    """The midpoint need not be the minimiser: what lies between is part of the lower bound."""
    problem = cc.LogisticMLE(*overlapping(30, 2))
    found = enclose(problem)
    centre = [(low + high) / 2 for low, high in intervals(found)[1:]]
    step = Fraction(1, 2000)
    box = [(c - step, c + 2 * step) for c in centre]
    with working_bits(200):
        proof = prove(Objective(problem), box)
        assert proof.lower < found.lower < found.upper < proof.upper
        assert proof.upper - found.upper > step**2 / 100
        assert prove(Objective(problem), [(c + step / 10, c + 2 * step) for c in centre]) is None


def test_a_newton_step_inside_of_the_box_is_no_proof():
    """e^-w + e^w has its minimum at 0; seen from w = 5 a Newton step is one long, whatever lies beyond."""
    problem = cc.EmpiricalRisk([[1.0], [1.0]], [0, 1], loss="exponential", intercept=False)
    with working_bits(100):
        objective = Objective(problem)
        assert prove(objective, [(Fraction(7, 2), Fraction(13, 2))]) is None
        assert prove(objective, [(Fraction(-1, 4), Fraction(1, 5))]) is not None


def test_a_column_that_matters_cannot_be_pinned():
    X, y = overlapping(20, 2)
    fewer, problem = enclose(cc.LogisticMLE(X[:, :1], y)), cc.LogisticMLE(X, y)
    zero = (Fraction(0), Fraction(0))
    coefficients = {"coef": [*fewer.coefficients["coef"], zero], "intercept": fewer.coefficients["intercept"]}
    words = (
        ". The columns are dependent (proved in rationals): 1 unknown(s) are put to 0, and the minimiser is not unique"
    )
    wrong = replace(fewer, coefficients=coefficients, pinned=(1,), proof=fewer.proof + words)
    assert not check_enclosure(problem, wrong)
    assert check_enclosure(cc.LogisticMLE(X * [1.0, 0.0], y), wrong)


def test_an_enclosure_of_another_problem_is_refused():
    X, y = overlapping(20, 2)
    found = enclose(cc.LogisticMLE(X, y))
    nudged = X.copy()
    nudged[7, 1] = np.nextafter(nudged[7, 1], 9.0)
    for other in (cc.LogisticMLE(nudged, y), cc.LogisticMLE(X, 1 - y), cc.LogisticMLE(X, y, l2=1e-16)):
        assert not check_enclosure(other, found)


# ---- the rest --------------------------------------------------------------------------------------------------


def test_proved_digits():
    tenth = Fraction(1, 10**12)
    assert proved_digits(Fraction(1, 3), Fraction(1, 3) + tenth, 5) == "0.33333"
    assert proved_digits(Fraction(1, 3), Fraction(1, 3) + tenth, 30) == "0.33333333333"
    assert proved_digits(Fraction(1, 2) - tenth, Fraction(1, 2) + tenth, 8) == "0.50000000"
    assert proved_digits(Fraction(-7, 2), Fraction(-7, 2), 3) == "-3.50"
    assert Decimal(proved_digits(-tenth, tenth, 8)) == 0
    assert proved_digits(Fraction(2, 10), Fraction(9, 10), 8) == "0E+1"
    assert settled_digits((Fraction(2), Fraction(2) + tenth), Fraction(1)) == 12
    assert settled_digits((-tenth, tenth), Fraction(1)) == 11
    assert settled_digits((Fraction(1), Fraction(1)), Fraction(1)) is None


def test_the_start_decides_nothing():
    X, y = overlapping(20, 2)
    problem = cc.LogisticMLE(X, y)
    found = enclose(problem)
    for start in ([5.0, -5.0, 3.0], [1e3, 1e3, 1e3], [np.nan, 0.0, 0.0]):
        other = enclose(problem, start)
        assert all(overlap(a, b) for a, b in zip(intervals(found), intervals(other), strict=True))


def test_precision_of_flint_is_left_alone():
    X, y = overlapping(20, 2)
    before = flint.ctx.prec
    enclose(cc.LogisticMLE(X, y))
    with pytest.raises(NoAnswer):
        enclose(SEPARATED["logistic"])
    assert flint.ctx.prec == before


def test_bad_arguments():
    problem = cc.LogisticMLE(*overlapping(20, 2))
    for digits in (0, -1, 2.5, 10**6):
        with pytest.raises(ValueError, match="digits"):
            enclose(problem, digits=digits)
    with pytest.raises(ValueError, match="3 unknowns"):
        enclose(problem, [1.0])
    with pytest.raises(NoAnswer, match="there are coef, intercept"):
        enclose(problem).text("slack")


def test_without_flint(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(NoAnswer, match=r"convexcls\[exact\]"):
        enclose(cc.LogisticMLE(*overlapping(20, 2)))


def test_numbers_too_small_to_be_written_down():
    """The second coefficient is of the order of exp(-2^53): its digits would not fit into any memory."""
    X, y = [[-3, 0], [5, 0], [Fraction(2**54 + 1), 3], [Fraction(2**64 - 5), 1]], [1, 0, 0, 0]
    s = cc.LogisticMLE(X, y, l2=1.0).solve(level="exact")
    assert (s.status, s.certificate.level) == ("optimal", "exact")
    low, high = s.certificate.enclosure.coefficients["coef"][1]
    assert low <= 0 <= high
    assert high - low < Fraction(1, 10**30)
    assert cc.verify(s.certificate.to_json(), X, y).accepted
    without = cc.LogisticMLE([[-3], [5]], y[:2], l2=1.0).solve(level="exact").certificate  # the far rows lose nothing
    assert overlap((s.certificate.lower, s.certificate.upper), (without.lower, without.upper))
    assert cc.LogisticMLE(X, y, l2=1.0).solve(level="rigorous").status == "optimal"


def test_a_repeated_column_far_from_zero():
    """Half of what the answer adds up is gone with one of two equal columns: from there no step leads back."""
    x = [26825.60, 26825.62, 26825.67, 26825.68, 26825.63, 26825.66, 26825.61, 26825.59]
    y = [1, 0, 1, 0, 0, 1, 0, 1]
    twice, once = (cc.LogisticMLE([[v] * k for v in x], y).solve(level="exact").certificate for k in (2, 1))
    assert twice.status == once.status == "optimal"
    assert overlap((twice.lower, twice.upper), (once.lower, once.upper))
    assert cc.LogisticMLE([[v] * 2 for v in x], y).solve(level="rigorous").status == "optimal"


def test_a_start_that_leads_nowhere_does_not_take_the_enclosure_away(monkeypatch):
    """Coefficients from 1e-302 to 1e-311 with features from 1e300 to 1e-310 lead nowhere, at 50000 bits; 0 does."""
    module, starts = import_module("convexcls.proofs.enclosure.enclose"), []

    def from_zero_alone(problem, start, *rest):
        starts.append(list(start))
        return None if any(start) else found(problem, start, *rest)

    found = module._enclose_from
    monkeypatch.setattr(module, "_enclose_from", from_zero_alone)
    problem = cc.LogisticMLE([[0], [1], [2], [3]], [0, 1, 0, 1])
    near = problem.solve().x
    assert float(enclose(problem, near).lower) == pytest.approx(problem.solve().objective)
    assert starts == [near.tolist(), [0, 0]]
