"""Basis functions under every model, and the conics that a quadratic basis draws in the plane."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures

import convexcls as cc
from convexcls.basis import exponents_of, read_basis
from convexcls.basis.radial import farthest_points
from convexcls.cli import main
from convexcls.studies.conic import Conic
from tests.datasets import overlapping

RING = np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [3, 0], [-3, 0], [0, 3], [0, -3]], dtype=float)
INSIDE = ["in"] * 4 + ["out"] * 4


# ---- the functions ------------------------------------------------------------------------------------------


def test_quadratic_has_the_order_of_the_books():
    made = cc.Quadratic()([[2.0, 3.0, 5.0]])
    assert made.features == ("x1^2", "x1", "x2^2", "x2", "x3^2", "x3", "x1 x2", "x1 x3", "x2 x3")
    assert np.array_equal(made.matrix, [[4, 2, 9, 3, 25, 5, 6, 10, 15]])


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_polynomials_are_those_of_scikit_learn(d, degree):
    X = np.random.default_rng(d).integers(-9, 10, size=(6, d)).astype(float)
    reference = PolynomialFeatures(degree, include_bias=False).fit(X)
    made = cc.Polynomial(degree)(X)
    assert np.array_equal(made.matrix, reference.transform(X))
    names = [name.replace("x", "") for name in made.features]
    theirs = [
        " ".join(f"{int(part.split('^')[0][1:]) + 1}" + part[part.find("^") :] * ("^" in part) for part in n.split())
        for n in reference.get_feature_names_out()
    ]
    assert names == theirs


@given(st.lists(st.integers(-(2**17), 2**17), min_size=2, max_size=2))
def test_products_of_whole_numbers_are_exact(x):
    made = cc.Polynomial(3)([[float(v) for v in x]])
    for value, powers in zip(made.matrix[0], exponents_of(cc.Polynomial(3), 2), strict=True):
        assert Fraction(value) == Fraction(x[0]) ** powers[0] * Fraction(x[1]) ** powers[1]


def test_names_come_from_the_table():
    frame = pd.DataFrame({"a": [1.0, 2.0], "body weight": [3.0, 4.0]})
    assert cc.Polynomial(2)(frame).features == ("a", "body weight", "a^2", "a (body weight)", "(body weight)^2")


@pytest.mark.parametrize("basis", [cc.Quadratic(), cc.Polynomial(3)])
def test_sparse_samples_stay_sparse_and_give_the_same(basis):
    X = np.random.default_rng(0).integers(-2, 3, size=(7, 4)) * 1.0
    made = basis(sparse.csr_array(X))
    assert sparse.issparse(made.matrix)
    assert np.array_equal(made.matrix.toarray(), basis(X).matrix)
    assert made.matrix.nnz <= np.count_nonzero(basis(X).matrix)


def test_radial_is_the_kernel_of_scikit_learn():
    from sklearn.metrics.pairwise import rbf_kernel

    X = np.random.default_rng(0).normal(size=(9, 3))
    assert np.allclose(cc.Radial(gamma=0.7)(X).matrix, rbf_kernel(X, gamma=0.7), rtol=1e-13)
    centres = X[:2] + 1
    made = cc.Radial(centres, gamma=0.7)(X)
    assert np.allclose(made.matrix, rbf_kernel(X, centres, gamma=0.7), rtol=1e-13)
    assert made.matrix.shape == (9, 2)


def test_radial_keeps_digits_far_from_the_origin():
    made = cc.Radial([[1e8]], gamma=1.0)([[1e8 + 1.0]])
    assert made.matrix[0, 0] == pytest.approx(np.exp(-1.0), rel=1e-15)


def test_centres_are_farthest_points_the_first_among_equals():
    X = np.array([[0.0], [10.0], [4.0], [5.0], [10.0]])
    # the mean is 5.8: row 3 first; rows 0, 1 and 4 are 5 away: row 0; then row 1; then row 2, 1 from row 3
    assert farthest_points(X, 4) == [3, 0, 1, 2]
    assert np.array_equal(cc.Radial(2)(X).basis.centres, [[5.0], [0.0]])


def test_as_many_centres_as_samples_are_all_of_them_even_where_they_repeat():
    assert sorted(farthest_points(np.array([[1.0], [1.0], [1.0]]), 3)) == [0, 1, 2]


def test_functions_of_the_users_own():
    def radius(X):
        return np.hypot(X[:, 0], X[:, 1])

    basis = cc.Functions(lambda X: X, radius, both=lambda X: X**2, lucky=lambda X: X[:, 0] > 0)
    made = basis([[3.0, 4.0], [0.0, 1.0]])
    assert made.features == ("x1", "x2", "radius", "both[0]", "both[1]", "lucky")
    assert np.array_equal(made.matrix, [[3, 4, 5, 9, 16, 1], [0, 1, 1, 0, 1, 0]])


def test_a_function_cannot_change_the_samples():
    X = np.ones((2, 2))

    def wicked(given):
        given *= 2
        return given[:, 0]

    with pytest.raises(ValueError, match="read-only"):
        cc.Functions(wicked)(X)
    assert np.array_equal(X, np.ones((2, 2)))


class Halves(cc.Basis):
    """A basis of one's own in one method."""

    def columns(self, matrix, inputs):
        from convexcls.data import Named

        return Named(matrix / 2, tuple(f"{name}/2" for name in inputs))


def test_a_subclass_is_a_basis():
    X, y = overlapping()
    basis = Halves()
    plain, halved = cc.LogisticMLE(X, y).solve(), cc.LogisticMLE(basis(X), y).solve()
    assert np.allclose(halved.coef, 2 * plain.coef, rtol=1e-9)
    assert np.allclose(halved.decision_function(X), plain.decision_function(X), rtol=1e-9)


REFUSED = {
    "overflow": (lambda: cc.Quadratic()([[1.0, 1.0], [1e200, 1.0]]), r"row 1: the basis function x1\^2 is beyond"),
    "sparse overflow": (lambda: cc.Polynomial(2)(sparse.csr_array([[0.0, 1e200]])), r"row 0: .* x2\^2 is beyond"),
    "not a number": (lambda: cc.Functions(root=lambda X: X[:, 0] * np.nan)([[1.0]]), "row 0: .* root is not a number"),
    "sparse radial": (lambda: cc.Radial()(sparse.csr_array(RING)), "X is sparse, and Radial"),
    "sparse function": (lambda: cc.Functions(np.sin)(sparse.csr_array(RING)), "X is sparse, and Functions"),
    "too many columns": (lambda: cc.Quadratic()(np.ones((2, 500))), "125,750 columns: choose fewer"),
    "too many centres": (lambda: cc.Radial(9)(RING), "9 centres are asked for, but X has 8 rows"),
    "other centres": (lambda: cc.Radial([[1.0, 2.0]])([[1.0]]), "X has 1 columns, but the centres have 2"),
    "no centres": (lambda: cc.Radial(np.empty((0, 2))), "none"),
    "flat centres": (lambda: cc.Radial([1.0, 2.0]), "one a row"),
    "zero centres": (lambda: cc.Radial(0), "at least one"),
    "gamma": (lambda: cc.Radial(gamma=0.0), "gamma is 0.0: it must be a number above 0"),
    "degree": (lambda: cc.Polynomial(0), "degree is 0: it must be a whole number"),
    "half a degree": (lambda: cc.Polynomial(2.5), "degree is 2.5"),
    "twice": (lambda: cc.Quadratic()(cc.Quadratic()(RING)), r"made by Quadratic\(\) already"),
    "no function": (lambda: cc.Functions(), "at least one function"),
    "not a function": (lambda: cc.Functions(wave=3), "wave is not a function"),
    "wrong length": (lambda: cc.Functions(np.sum)([[1.0], [2.0]]), r"sum gives an array of shape \(\)"),
    "text": (lambda: cc.Functions(word=lambda X: np.array(["a"] * len(X)))([[1.0]]), "word gives entries of type"),
    "a hole": (lambda: cc.Quadratic()([[1.0, np.nan]]), "X row 0, column 1 is missing"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_in_words(case):
    run, said = REFUSED[case]
    with pytest.raises(ValueError, match=said):
        run()


@pytest.mark.parametrize("text", ["quadratic", "polynomial:3", "radial:0.5", "radial:1e-2:4"])
def test_a_basis_in_one_word(text):
    wanted = {
        "quadratic": cc.Quadratic(),
        "polynomial:3": cc.Polynomial(3),
        "radial:0.5": cc.Radial(gamma=0.5),
        "radial:1e-2:4": cc.Radial(4, gamma=0.01),
    }
    assert read_basis(text) == wanted[text]
    assert read_basis(text) != cc.Polynomial(4)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cubic",
        "quadratic:2",
        "polynomial",
        "polynomial:0",
        "polynomial:x",
        "radial:-1",
        "radial:nan",
        "radial:1:2:3",
        "radial:0",
        "polynomial:99999",
    ],
)
def test_other_words_are_not(text):
    with pytest.raises(ValueError, match="there is no basis"):
        read_basis(text)


# ---- under every model --------------------------------------------------------------------------------------


def models(X, y):
    """Every two-class model, declared on these samples."""
    return {
        "hard-margin": cc.HardMarginSVM(X, y),
        "max-margin": cc.MaxMargin(X, y),
        "soft-margin": cc.SoftMarginSVM(X, y, C=2.0),
        "logistic": cc.LogisticMLE(X, y, l2=0.5),
        "least-squares": cc.LeastSquares(X, y, l2=0.1, coding="01"),
        "least-absolute": cc.LeastAbsolute(X, y),
        "perceptron": cc.PerceptronCriterion(X, y),
        "fisher": cc.FisherLDA(X, y),
        "empirical-risk": cc.EmpiricalRisk(X, y, loss="exponential", l2=0.1),
    }


@pytest.mark.parametrize("basis", [cc.Quadratic(), cc.Radial(4, gamma=0.3), cc.Functions(lambda X: X**3 + X)])
@pytest.mark.parametrize("name", models(RING, INSIDE))
def test_every_model_works_on_a_basis(name, basis):
    """The same problem as on the numbers that the basis gives, and a solution that takes plain samples."""
    X = np.vstack([RING, RING[::-1] * [0.5, 0.9] + 0.25])
    y = np.array(INSIDE * 2)
    made = basis(X)
    on_basis, on_numbers = models(made, y)[name], models(np.asarray(made), y)[name]
    assert on_basis == on_numbers
    assert on_basis.data.features == made.features
    first, second = on_basis.solve(), on_numbers.solve()
    assert first.status == second.status
    if first.status != "optimal":
        return
    new = np.array([[0.3, -0.2], [2.0, 1.0]])
    scores = second.decision_function(made.basis(new).matrix)
    assert np.allclose(first.decision_function(new), scores, rtol=1e-12, atol=1e-12)
    assert np.array_equal(first.predict(new), second.predict(made.basis(new).matrix))
    assert np.allclose(first.margins, second.margins, rtol=1e-12, atol=1e-12)


def test_probabilities_are_of_plain_samples():
    s = cc.LogisticMLE(cc.Quadratic()(RING), INSIDE, l2=0.1).solve()
    near, far = s.predict_proba([[0.0, 0.0], [9.0, 9.0]])
    assert near[0] > 0.9 > 0.1 > far[0]


def test_a_basis_makes_ring_and_xor_separable():
    assert cc.HardMarginSVM(RING, INSIDE).solve().status == "infeasible"
    solution = cc.HardMarginSVM(cc.Quadratic()(RING), INSIDE).solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(1 / 16, rel=1e-12)
    assert list(solution.predict([[0.0, 2.0], [2.3, 0.0]])) == ["in", "out"]


def test_the_solution_knows_its_basis():
    made = cc.Quadratic()(RING)
    s = cc.HardMarginSVM(made, INSIDE).solve()
    assert np.array_equal(s.decision_function(made), s.decision_function(RING))
    assert np.array_equal(s.decision_function(pd.DataFrame(RING)), s.decision_function(RING))
    with pytest.raises(cc.DataError, match="X has 5 columns, but the classifier was declared with 2"):
        s.predict(made.matrix)
    with pytest.raises(cc.DataError, match=r"made by Polynomial\(degree=2\), but .* declared on Quadratic\(\)"):
        s.predict(cc.Polynomial(2)(RING))
    plain = cc.SoftMarginSVM(RING, INSIDE).solve()
    with pytest.raises(cc.DataError, match="declared on features without a basis"):
        plain.predict(made)


def test_as_many_functions_as_features_are_not_confused_with_them():
    """Two features in, two functions out: a plain sample must go through the basis once, not twice or never."""
    basis = cc.Functions(lambda X: X**2)
    s = cc.HardMarginSVM(basis(RING), INSIDE).solve()
    assert np.allclose(s.margins, s._signs() * s.decision_function(RING))
    assert np.allclose(s.decision_function(RING), RING**2 @ s.coef + s.intercept)


def test_the_centres_of_the_training_samples_stay():
    X, y = overlapping(d=2)
    s = cc.SoftMarginSVM(cc.Radial(5, gamma=0.5)(X), y).solve()
    one_by_one = np.concatenate([s.decision_function(row[None]) for row in X])
    assert np.allclose(one_by_one, s.decision_function(X), rtol=1e-12)


def test_samples_of_the_caller_are_left_alone():
    X = np.asfortranarray(RING.copy())
    for basis in (cc.Quadratic(), cc.Radial(), cc.Polynomial(1), cc.Functions(lambda X: X)):
        made = basis(X)
        assert not np.shares_memory(made.matrix, X)
    assert np.array_equal(X, RING)


def test_a_model_can_be_declared_again_on_some_samples():
    X, y = overlapping(d=2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    weights = 1.0 + np.arange(len(y)) % 2
    rows = np.arange(0, len(y), 2)
    for samples in (frame, cc.Quadratic()(frame)):
        model = cc.SoftMarginSVM(samples, y, C=3.0, loss="squared_hinge", sample_weight=weights)
        part = model.on(rows)
        assert part.parameters == model.parameters
        assert part.data.features == model.data.features
        assert part.data.basis == model.data.basis
        assert np.array_equal(part.data.weights, weights[rows])
        assert np.array_equal(part.data.matrix, model.data.matrix[rows])


def test_a_risk_of_ones_own_keeps_its_loss_and_constraints():
    X, y = overlapping(d=2)
    tilted = cc.losses.PiecewiseLinear(((0, 0), (-1, 1), (-3, 0)))
    above = cc.Constraint("positive", {"coef": -np.eye(2)}, r"\nu", "vector")
    model = cc.EmpiricalRisk(X, y, loss=tilted, l2=1.0, constraints=[above])
    rows = np.arange(20)
    assert model.on(rows) == cc.EmpiricalRisk(X[rows], y[rows], loss=tilted, l2=1.0, constraints=[above])


# ---- conics -------------------------------------------------------------------------------------------------

KINDS = {
    "ellipse": (1 / 4, 0, 1, 0, 0, -1),
    "circle": (-1, 0, -1, 2, 0, 3),
    "hyperbola": (1, 0, -2, 0, 0, -1),
    "parabola": (0, 0, 1, -4, 0, 0),
    "crossing lines": (1, 0, -4, 0, 0, 0),
    "parallel lines": (1, 0, 0, 0, 0, -1),
    "line": (0, 0, 0, 1, 2, 3),
    "point": (1, 0, 2, 0, 0, 0),
    "empty": (1, 0, 1, 0, 0, 1),
    "plane": (0, 0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind):
    assert Conic(*KINDS[kind]).kind == kind
    assert Conic(*(-v for v in KINDS[kind])).kind == kind


def test_double_and_missing_lines():
    assert Conic(1, 2, 1, 0, 0, 0).kind == "line"
    assert Conic(1, 0, 0, 0, 0, 1).kind == "empty"
    assert Conic(0, 0, 0, 0, 0, 3).kind == "empty"


def test_measures():
    ellipse = Conic(*KINDS["ellipse"])
    assert ellipse.centre == (0, 0)
    assert ellipse.axes == (2, 1)
    assert ellipse.angle == 0
    assert ellipse.eccentricity == pytest.approx(np.sqrt(3) / 2)
    assert ellipse.inside == -1
    circle = Conic(*KINDS["circle"])
    assert (circle.centre, circle.axes, circle.eccentricity, circle.inside) == ((1, 0), (2, 2), 0, 1)
    hyperbola = Conic(*KINDS["hyperbola"])
    assert hyperbola.axes == pytest.approx((1, np.sqrt(0.5)))
    assert hyperbola.eccentricity == pytest.approx(np.sqrt(1.5))
    assert Conic(-1, 0, 2, 0, 0, -1).angle == pytest.approx(90)  # the y-axis meets the curve
    parabola = Conic(*KINDS["parabola"])
    assert (parabola.vertex, parabola.width, parabola.eccentricity) == ((0, 0), 4, 1)
    assert parabola.angle == pytest.approx(0, abs=1e-12)
    assert Conic(1, 0, 0, 0, 1, 0).angle == pytest.approx(-90)
    assert Conic(*KINDS["parallel lines"]).lines == ((1, 0, 1), (1, 0, -1))
    assert Conic(*KINDS["ellipse"]).vertex is None
    assert Conic(*KINDS["parabola"]).centre is None


def test_words():
    said = {kind: str(Conic(*six)) for kind, six in KINDS.items()}
    assert said["ellipse"] == "an ellipse around (0, 0) with semi-axes 2 and 1"
    assert said["circle"] == "a circle around (1, 0) with radius 2"
    assert said["parabola"] == "a parabola with its vertex at (0, 0), opening at 0 degrees"
    assert said["point"] == "the point (0, 0)"
    assert said["parallel lines"] == "two parallel lines, x = -1 and x = 1"
    assert said["empty"].startswith("empty")
    turned = Conic(*rotated(KINDS["ellipse"], 34.0, (1.2, 0.3)))
    assert str(turned) == "an ellipse around (1.2, 0.3) with semi-axes 2 and 1, turned by 34 degrees"


def rotated(six, degrees, shift):
    """The coefficients of the conic turned about the origin, then moved."""
    a, b, c, d, e, f = map(float, six)
    turn = np.radians(degrees)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    Q, g, s = R @ [[a, b / 2], [b / 2, c]] @ R.T, R @ [d, e], np.array(shift)
    f = f + s @ Q @ s - g @ s
    g = g - 2 * Q @ s
    return Q[0, 0], 2 * Q[0, 1], Q[1, 1], *g, f


@given(
    st.sampled_from([k for k in KINDS if k not in ("plane", "empty")]),
    st.floats(-180, 180),
    st.tuples(st.floats(-5, 5), st.floats(-5, 5)),
    st.sampled_from([1.0, -3.0, 1e-6, 1e7]),
)
def test_kind_and_measures_survive_rotation_shift_and_scale(kind, degrees, shift, factor):
    plain = Conic(*KINDS[kind])
    moved = Conic(*(factor * v for v in rotated(KINDS[kind], degrees, shift)))
    assert moved.kind == plain.kind
    for one, other in ((plain.axes, moved.axes), (plain.eccentricity, moved.eccentricity), (plain.width, moved.width)):
        assert (one is None) == (other is None)
        if one is not None:
            assert np.allclose(one, other, rtol=1e-6)
    turn = np.radians(degrees)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    for one, other in ((plain.centre, moved.centre), (plain.vertex, moved.vertex)):
        if one is not None:
            assert np.allclose(R @ one + shift, other, atol=1e-6)
    if kind in ("ellipse", "hyperbola", "parabola"):
        difference = (moved.angle - plain.angle - degrees) % (360 if kind == "parabola" else 180)
        period = 360 if kind == "parabola" else 180
        assert min(difference, period - difference) < 1e-5


@given(
    st.tuples(*[st.floats(-10, 10)] * 6),
    st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
    st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)),
)
@example((1e-8, 0.0, 1.0, 0.0, 0.0, 0.0), (1.0, 0.0), (1.0, 1.0))  # a point that counts as a parabola
def test_points_lie_on_any_conic(six, around, units):
    assume(max(map(abs, six)) > 1e-3)
    conic = Conic(*six, around=around, units=units)
    points = conic.points(40)
    assert (len(points) == 0) == (conic.kind == "empty")
    if conic.kind in ("point", "line", "parallel lines", "crossing lines"):
        return  # they lie on the lines that the conic is within its tolerance
    a, b, c, d, e, _ = six
    x, y = points.T
    slope = np.hypot(2 * a * x + b * y + d, b * x + 2 * c * y + e)
    sizes = Conic(*map(abs, six))(np.abs(points))
    # the way to the curve, in units of the coordinates; or what rounding makes of the terms
    way = 1e-9 * slope * np.maximum(np.hypot(*units), np.hypot(x, y))
    # a parabola whose smaller eigenvalue counts as 0, and is not, leaves it out, and may leave out the curve with it
    u = (points - around) / units
    neglected = conic.tol * np.abs(conic._standard[0]).max() * np.square(u).sum(axis=1)
    neglected = neglected if conic.kind == "parabola" and b * b != 4 * a * c else 0.0
    assert np.all(np.abs(conic(points)) <= way + 1e-14 * sizes + neglected)


def test_the_kind_is_decided_in_units_of_the_data():
    """y = x^2 with what rounding leaves of y^2: a parabola, also where x is counted in millionths."""
    for unit in (1.0, 1e-6, 1e6, 1e12):
        conic = Conic(1 / unit**2, 0, 1e-14, 0, -1, 0, units=(unit, 1.0))
        assert conic.kind == "parabola"
        assert np.allclose(np.divide(conic.vertex, conic.units), 0, atol=1e-12)
        assert conic.angle == pytest.approx(90)


def solved(X, y, basis=None, **options):
    return cc.HardMarginSVM((basis or cc.Quadratic())(X), y, **options).solve()


@pytest.mark.parametrize("basis", [cc.Quadratic(), cc.Polynomial(2)])
def test_the_boundary_is_a_conic_of_the_solution(basis):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2)) * [3.0, 1.0] + [5.0, -2.0]
    y = np.where(((X - [5, -2]) ** 2 / [4, 0.6]).sum(axis=1) + 0.4 * rng.normal(size=60) < 1, "a", "b")
    s = cc.LogisticMLE(basis(X), y, l2=1e-3).solve()
    conic = cc.conic(s)
    assert conic.kind == "ellipse"
    assert np.allclose(conic(X), s.decision_function(X), rtol=1e-10, atol=1e-10)
    points = conic.points(100)
    assert np.abs(s.decision_function(points)).max() < 1e-10 * np.abs(s.decision_function(X)).max()
    assert (s.predict([conic.centre])[0] == "a") == (conic.inside < 0)


def test_known_boundaries():
    circle = cc.conic(cc.load("circle").solve())
    assert circle.kind == "circle"
    assert circle.centre == pytest.approx((0, 0), abs=1e-12)
    assert circle.axes == pytest.approx((5**0.5, 5**0.5))
    hyperbola = cc.conic(cc.load("xor_quadratic").solve())  # in u = x1 + x2 - 1, v = x1 - x2: -u^2/2 + 3 v^2/2 = 1/2
    assert hyperbola.kind == "hyperbola"
    assert hyperbola.centre == pytest.approx((0.5, 0.5))
    assert hyperbola.axes == pytest.approx(((1 / 6) ** 0.5, 0.5**0.5))
    assert hyperbola.angle == pytest.approx(-45)


def test_a_threshold_counts():
    s = cc.LeastSquares(cc.Quadratic()(RING), INSIDE, coding="01").solve()
    assert np.abs(s.decision_function(cc.conic(s).points())).max() < 1e-12


def test_a_line_is_a_conic_too():
    line = cc.conic(cc.HardMarginSVM([[0.0, 0.0], [2.0, 0.0]], [0, 1]).solve())
    assert (line.kind, str(line)) == ("line", "the line x = 1")


@pytest.mark.parametrize(
    ("basis", "X"),
    [
        (cc.Polynomial(3), RING),
        (cc.Radial(), RING),
        (cc.Quadratic(), np.hstack([RING, RING])),
        (cc.Functions(lambda X: X), RING),
    ],
)
def test_other_boundaries_are_no_conics(basis, X):
    s = cc.SoftMarginSVM(basis(X), INSIDE).solve()
    with pytest.raises(cc.NoAnswer, match="a conic needs two features and a basis of degree two"):
        cc.conic(s)


# ---- on the command line ------------------------------------------------------------------------------------


@pytest.fixture
def ring(tmp_path):
    rows = [f"{x},{y},{label}" for (x, y), label in zip(RING, INSIDE, strict=True)]
    (tmp_path / "ring.csv").write_text("east,north,where\n" + "\n".join(rows) + "\n")
    return str(tmp_path / "ring.csv")


def run(*args, code=0):
    result = CliRunner().invoke(main, list(args), env={"COLUMNS": None})
    assert result.exit_code == code, result.output
    return result


def test_solve_prints_the_conic(ring):
    out = run("solve", ring, "--model", "hard-margin", "--basis", "quadratic").stdout
    assert "boundary    a circle around (0, 0) with radius 2.236; 'in' inside" in out
    assert "5 features made by Quadratic() of 2" in out
    assert "east^2" in out
    assert "east north" in out
    found = json.loads(run("solve", ring, "-m", "hard-margin", "-b", "quadratic", "--json").stdout)
    assert found["boundary"]["kind"] == "circle"
    assert found["coef"]["north^2"] == pytest.approx(0.25)


def test_other_bases_have_no_boundary_to_print(ring):
    out = run("solve", ring, "--model", "soft-margin", "--basis", "radial:0.5:4").stdout
    assert "near centre 3" in out
    assert "boundary" not in out
    assert run("solve", ring, "-m", "soft-margin", "--json").stdout.count('"boundary": null') == 1


def test_a_wrong_basis_is_refused_before_the_file_is_read(ring):
    result = run("solve", ring, "--model", "soft-margin", "--basis", "cubic", code=2)
    assert "--basis: there is no basis 'cubic': write one of quadratic, polynomial:DEGREE" in result.output
    result = run("solve", "circle", "--basis", "quadratic", code=2)
    assert "--basis is for data files" in result.output
