"""Parameters and weights are kept as they were given, where doubles would round them."""

import json
import pickle
from decimal import Decimal as D
from fractions import Fraction as F

import exact as oracle
import numpy as np
import pytest
from stand_alone import stand_alone

import convexcls as cc
from convexcls.rational.numbers import GivenNumber

X, Y = [[0, 1], [1, 0], [2, 2], [3, 1], [1, 2]], [0, 1, 0, 1, 1]
ROWS, SIGNS = [list(map(F, row)) for row in X], [2 * y - 1 for y in Y]
WEIGHTS = [F(1, 3), D("0.3"), 1, 2, F(1, 7)]
#: Each with parameters that no double is.
MODELS = {
    "soft": lambda **w: cc.SoftMarginSVM(X, Y, C=F(1, 10), **w),
    "squared hinge": lambda **w: cc.SoftMarginSVM(X, Y, C=D("0.3"), loss="squared_hinge", **w),
    "ridge": lambda **w: cc.LeastSquares(X, Y, l2=F(1, 3), **w),
    "regression": lambda **w: cc.LeastSquares(X, [D("0.1"), 2, 3, F(1, 3), 5], coding="real", **w),
    "absolute": lambda **w: cc.LeastAbsolute(X, Y, **w),
    "perceptron": lambda **w: cc.PerceptronCriterion(X, Y, **w),
    "lasso": lambda **w: cc.EmpiricalRisk(X, Y, loss="squared", l1=F(1, 10), l2=D("0.01"), **w),
    "kernel": lambda **w: cc.KernelSVM(X, Y, kernel="linear", C=F(1, 10), **w),
}


@pytest.mark.parametrize("C", [F(1, 10), D("0.1"), "0.1", GivenNumber(F(1, 10))])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_optimum_is_that_of_the_rational(C, loss):
    found = cc.SoftMarginSVM(X, Y, C=C, loss=loss).solve(level="exact").certificate
    assert found.optimum == oracle.soft_margin(ROWS, SIGNS, F(1, 10), loss, True)[0]
    rounded = cc.SoftMarginSVM(X, Y, C=0.1, loss=loss).solve(level="exact").certificate
    assert rounded.optimum == oracle.soft_margin(ROWS, SIGNS, F(0.1), loss, True)[0] != found.optimum


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_rational_next_to_one_is_not_one(loss):
    """Its double is."""
    C = 1 + F(1, 10**30)
    found = cc.SoftMarginSVM(X, Y, C=C, loss=loss).solve(level="exact").certificate
    assert found.optimum == oracle.soft_margin(ROWS, SIGNS, C, loss, True)[0]
    plain = cc.SoftMarginSVM(X, Y, C=1, loss=loss).solve(level="exact").certificate
    assert found.optimum != plain.optimum
    assert not cc.verify(plain.to_json().replace('"C": "1.0"', f'"C": "{C}"'), X, Y).accepted


def test_a_penalty_is_that_of_the_rational():
    found = cc.LeastSquares(X, Y, l2=F(1, 3)).solve(level="exact").certificate
    assert found.optimum == oracle.least_squares(ROWS, SIGNS, F(1, 3), True)[0]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_every_level_is_true_and_verified(name, weights):
    given = {} if weights is None else {"sample_weight": weights}
    problem = MODELS[name](**given)
    y = problem.data.given.tolist()
    exact = problem.solve(level="exact").certificate
    assert exact.status == "optimal"
    for level in ("float", "rigorous", "exact"):
        found = problem.solve(level=level).certificate
        assert found.status == "optimal", found.explain()
        assert "rounded to doubles" not in found.explain()
        if level == "rigorous":
            assert found.lower <= exact.optimum <= found.upper
        text = found.to_json()
        assert cc.verify(text, X, y, weights).accepted
        if name not in ("lasso", "kernel"):
            assert stand_alone(text, ROWS, y, weights and [F(w) for w in weights])[0]


@pytest.mark.parametrize(("name", "parameter"), [("soft", "C"), ("squared hinge", "C"), ("ridge", "l2")])
def test_the_next_rational_is_refused(name, parameter):
    inner = json.loads(MODELS[name]().solve(level="exact").certificate.to_json())
    near = F(inner["parameters"][parameter]) + F(1, 10**40)
    inner["parameters"][parameter] = str(near)
    text = json.dumps(inner)
    assert not cc.verify(text, X, Y).accepted
    assert not stand_alone(text, ROWS, Y)[0]


@pytest.mark.parametrize("name", MODELS)
def test_other_weights_are_refused(name):
    problem = MODELS[name](sample_weight=WEIGHTS)
    text, y = problem.solve(level="exact").certificate.to_json(), problem.data.given.tolist()
    assert not cc.verify(text, X, y, [*WEIGHTS[:-1], F(1, 7) + F(1, 10**40)]).accepted
    assert not cc.verify(text, X, y, [float(w) for w in WEIGHTS]).accepted


@pytest.mark.parametrize("name", ["soft", "ridge"])
def test_a_certificate_of_rounded_weights_says_so(name):
    """As older files are: the samples as given, the weights as doubles."""
    rounded = MODELS[name](sample_weight=[float(w) for w in WEIGHTS])
    found = cc.verify(rounded.solve().certificate.to_json(), X, rounded.data.given.tolist(), WEIGHTS)
    assert (found.accepted, found.rounded) == (True, True)


def test_a_product_of_doubles_is_not_rounded():
    """0.1 times 3 is no double."""
    found = cc.SoftMarginSVM([[-1], [1]], [0, 1], C=0.1, intercept=False, sample_weight=[3, 1]).solve(level="exact")
    coef = 4 * F(0.1)
    assert found.certificate.coef == [coef]
    assert found.certificate.optimum == coef - coef * coef / 2


def test_a_likelihood_is_enclosed_with_its_own_penalty():
    lower, upper = (
        cc.LogisticMLE(X, Y, l2=l2).solve(level="exact", digits=40).certificate for l2 in (F(1, 10), F(0.1))
    )
    assert lower.upper < upper.lower or upper.upper < lower.lower
    assert cc.verify(lower.to_json(), X, Y).accepted
    assert not cc.verify(lower.to_json().replace('"1/10"', '"0.1"'), X, Y).accepted


def test_weights_of_gaussian_classes_are_kept():
    """Weights times three are the same classes with three times the loss."""
    points, labels = [[0], [1], [3], [2], [5], [4]], [0, 0, 0, 1, 1, 1]
    weights = [F(1, 3), 1, F(2, 3), 1, F(4, 3), 1]
    found = cc.GaussianMLE(points, labels, sample_weight=weights).solve(level="exact", digits=40)
    thrice = cc.GaussianMLE(points, labels, sample_weight=[3 * w for w in weights]).solve(level="exact", digits=40)
    low, high = found.certificate.enclosure.coefficients["precision"][0]
    other_low, other_high = thrice.certificate.enclosure.coefficients["precision"][0]
    assert max(low, other_low) <= min(high, other_high)
    assert high - low < F(1, 10**35)


def test_a_problem_of_ones_own_keeps_rationals():
    """1/2 (x^2 / 3 + y^2 / 7) - x / 10 on x + y = 1/3."""
    x = cc.Variable("x", 2, "x")
    row = cc.Constraint("sum", {"x": [[1, 1]]}, rhs=F(1, 3), relation="==")
    problem = cc.Problem(
        "own", [x], quadratic={"x": [F(1, 3), F(1, 7)]}, linear={"x": [F(-1, 10), 0]}, constraints=[row]
    )
    found = problem.solve(level="exact").certificate
    a = (F(1, 7) * F(1, 3) + F(1, 10)) / (F(1, 3) + F(1, 7))
    assert found.exact_point["x"] == [a, F(1, 3) - a]
    assert found.optimum == (a * a / 3 + (F(1, 3) - a) ** 2 / 7) / 2 - a / 10
    assert problem.solve(level="rigorous").status in ("optimal", "undecided")
    assert problem == cc.Problem(
        "own", [x], quadratic={"x": [F(1, 3), F(1, 7)]}, linear={"x": [F(-1, 10), 0]}, constraints=[row]
    )
    assert problem != cc.Problem(
        "own", [x], quadratic={"x": [1 / 3, 1 / 7]}, linear={"x": [-0.1, 0]}, constraints=[row]
    )


@pytest.mark.parametrize("more", [F(0), F(1, 10**30)])
def test_costs_that_are_next_to_a_combination_of_rows_have_no_minimum(more):
    """1/2 (x + 3 y)^2 + x/2 + 3 y/2 has one; with a little more of y in its costs, which no double sees, none."""
    x = cc.Variable("x", 2, "x")
    term = cc.Term("square", {"x": [[1.0, 3.0]]})
    problem = cc.Problem("own", [x], terms=[term], linear={"x": [F(1, 2), F(3, 2) + more]})
    for level in ("float", "rigorous", "exact"):
        assert (problem.solve(level=level).status == "optimal") is not bool(more)


@pytest.mark.parametrize("intercept", [True, False])
def test_slopes_of_a_loss_are_kept(intercept):
    """The tilted absolute loss with tau = 1/10 of y f(x) - 1."""
    tau = F(1, 10)
    tilted = cc.losses.PiecewiseLinear(((-tau, tau), (1 - tau, tau - 1)))
    found = cc.EmpiricalRisk(X, Y, loss=tilted, intercept=intercept, l2=F(1, 3)).solve(level="exact").certificate
    rows = oracle.signed_rows(ROWS, SIGNS, intercept)
    point = [*found.coef, *([found.intercept] if intercept else [])]
    value = sum((max(-tau * u, (1 - tau) * u) for u in (oracle.dot(r, point) - 1 for r in rows)), F(0))
    assert found.optimum == value + F(1, 6) * oracle.dot(found.coef, found.coef)
    rounded = cc.losses.PiecewiseLinear(((-0.1, 0.1), (0.9, -0.9)))
    other = cc.EmpiricalRisk(X, Y, loss=rounded, intercept=intercept, l2=F(1, 3)).solve(level="exact").certificate
    assert other.optimum != found.optimum
    assert abs(other.optimum - found.optimum) < F(1, 10**12)
    for level in ("float", "rigorous"):
        problem = cc.EmpiricalRisk(X, Y, loss=tilted, intercept=intercept, l2=F(1, 3))
        assert problem.solve(level=level).status == "optimal"


def test_a_given_number_is_a_double_that_remembers():
    tenth = pickle.loads(pickle.dumps(cc.SoftMarginSVM(X, Y, C=F(1, 10)))).parameters["C"]
    assert tenth == 0.1
    assert F(tenth) == F(1, 10)
    assert (np.array([2.0]) * tenth).tolist() == [0.2]


@pytest.mark.parametrize(
    ("C", "words"), [(F(1, 10**400), "below the range"), (10**400, "must be finite"), ("a", "number")]
)
def test_numbers_out_of_range_are_refused(C, words):
    with pytest.raises(ValueError, match=words):
        cc.SoftMarginSVM(X, Y, C=C)


def test_samples_taken_out_keep_their_weights():
    problem = MODELS["soft"](sample_weight=WEIGHTS).on([0, 1, 4])
    assert problem.data.exact_weights == (F(1, 3), F(3, 10), F(1, 7))


def test_decimal_text_in_files_and_on_the_command_line(tmp_path):
    from click.testing import CliRunner

    from convexcls.cli import main

    table = tmp_path / "points.csv"
    lines = [f"{a},{b},{w},{c}" for (a, b), w, c in zip(X, (0.1, 0.7, 1, 2, 0.3), Y, strict=True)]
    table.write_text("a,b,w,label\n" + "\n".join(lines) + "\n")
    arguments = [
        "solve",
        str(table),
        "--model",
        "soft-margin",
        "--param",
        "C=0.1",
        "--weight",
        "w",
        "--level",
        "exact",
        "--json",
    ]
    run = CliRunner().invoke(main, arguments)
    weights = [D(w) for w in ("0.1", "0.7", "1", "2", "0.3")]
    exact = cc.SoftMarginSVM(X, Y, C=F(1, 10), sample_weight=weights).solve(level="exact").certificate.optimum
    assert str(exact) in run.output
    (tmp_path / "points.toml").write_text(
        'title = "t"\nderivation = "d"\ntarget = "label"\nweight = "w"\n[model]\nkind = "soft-margin"\n'
        '[model.parameters]\nC = 0.1\n[known]\nverdict = "optimal"\n'
        f'optimum = "{exact}"\n'
    )
    assert cc.load(tmp_path / "points.toml").solve(level="exact").certificate.optimum == exact
