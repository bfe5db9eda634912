"""Optima that are roots or logarithms of rationals: widest margins and Gaussian classes, at every level of proof."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.claims.optimum import check, proved_square, widest
from convexcls.proofs.enclosure.intervals import log_interval, pi_interval, root_interval
from convexcls.proofs.enclosure.moments import check_moments
from convexcls.rational import elimination

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211707")
XOR = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
CLASSES = [[1, 1], [3, 2], [2, 3], [7, 5], [9, 6], [8, 7]], ["a", "a", "a", "b", "b", "b"]


def within(interval, value: Decimal) -> bool:
    """Whether an interval of rationals contains a decimal, to the rounding of 55 digits."""
    low, high = interval
    room = Fraction(abs(value)) / 10**55
    return low - room <= Fraction(value) <= high + room


# ---- the numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [Fraction(1), Fraction(2), Fraction(4, 3), Fraction(1, 3), Fraction(10**40, 7)])
def test_logarithms_and_roots_of_rationals(value):
    with localcontext(prec=70):
        number = Decimal(value.numerator) / Decimal(value.denominator)
        log, root = log_interval(value, 200), root_interval(value, 200)
        assert within(log, number.ln())
        assert within(root, number.sqrt())
    assert 0 < log[1] - log[0] < Fraction(1, 2**180)
    assert root[0] ** 2 <= value <= root[1] ** 2
    assert root[1] - root[0] <= root[1] / 2**200


def test_pi():
    low, high = pi_interval(200)
    assert low < Fraction(PI) < high
    assert high - low < Fraction(1, 2**180)


@pytest.mark.parametrize("size", [2, 6])  # by Python, and where it is installed by python-flint
def test_determinants_inverses_and_semidefinite_matrices(size):
    matrix = [[Fraction(3 if j == k else 1) for k in range(size)] for j in range(size)]  # 2 I + ones
    assert elimination.determinant(matrix) == 2 ** (size - 1) * (size + 2)
    inverse = elimination.inverse(matrix)
    assert inverse is not None
    assert inverse[0][:2] == [Fraction(size + 1, 2 * (size + 2)), Fraction(-1, 2 * (size + 2))]
    ones = [[Fraction(1)] * size] * size
    assert elimination.determinant(ones) == 0
    assert elimination.inverse(ones) is None
    assert elimination.is_semidefinite(matrix)
    assert elimination.is_semidefinite(ones)
    less = [[1 - Fraction(int(j == k), 10**9) for k in range(size)] for j in range(size)]
    assert not elimination.is_semidefinite(less)
    zero_first = [[Fraction(0), Fraction(1)], [Fraction(1), Fraction(5)]]
    assert not elimination.is_semidefinite(zero_first)
    assert not elimination.is_semidefinite([[Fraction(1), Fraction(1)], [Fraction(0), Fraction(1)]])


# ---- widest margins ----------------------------------------------------------------------------------------------


def test_a_margin_that_is_a_root():
    c = cc.MaxMargin([[0, 0], [1, 2]], [0, 1]).solve(level="exact", digits=50).certificate
    with localcontext(prec=60):
        assert c.enclosure.optimum_text == str(Decimal("1.25").sqrt().quantize(Decimal(10) ** -49))
    assert c.lower**2 < Fraction(5, 4) < c.upper**2
    assert "sqrt(5/4)" in c.explain()
    assert c.optimum is None
    assert c.x is not None
    assert c.x.tolist() == pytest.approx([0.2**0.5, 0.8**0.5, -(1.25**0.5), 1.25**0.5], rel=1e-15)
    proof = c.enclosure.root
    assert proved_square(widest(c.problem), proof.ray, proof.multipliers) == Fraction(5, 4)


@pytest.mark.parametrize(
    ("X", "y", "intercept", "margin"),
    [
        ([[0, 0], [3, 4]], [0, 1], True, Fraction(5, 2)),
        ([[-3, -4], [3, 4]], [0, 1], False, Fraction(5)),
        ([[0], [Fraction(1, 3)]], [0, 1], True, Fraction(1, 6)),  # on the data as given
        (*XOR, True, Fraction(0)),
        ([[0], [1], [1], [2]], [0, 0, 1, 1], True, Fraction(0)),  # the classes touch
    ],
)
def test_a_margin_that_is_rational(X, y, intercept, margin):
    problem = cc.MaxMargin(X, y, intercept=intercept)
    c = problem.solve(level="exact").certificate
    assert (c.status, c.optimum) == ("optimal", margin)
    assert not check(problem, c.exact)
    for wrong in (margin + 1, -margin - 1, margin / 2 - 1):
        assert check(problem, type(c.exact)(**{**vars(c.exact), "optimum": -wrong}))
    bounds = problem.solve(level="rigorous").certificate
    assert bounds.status == "optimal"
    assert bounds.lower <= margin <= bounds.upper


def test_a_wrong_slab_is_not_proved():
    parts = widest(cc.MaxMargin([[0, 0], [1, 2], [5, 5]], [0, 1, 1]))
    ray = {"coef": [Fraction(2, 5), Fraction(4, 5)], "intercept": [Fraction(-1)], "distance": [Fraction(1)]}
    alpha = {"margin": {0: Fraction(1, 2), 1: Fraction(1, 2)}}
    assert proved_square(parts, ray, alpha) == Fraction(5, 4)
    assert proved_square(parts, {name: [3 * v for v in part] for name, part in ray.items()}, alpha) == Fraction(5, 4)
    for name, k in [("coef", 0), ("coef", 1), ("intercept", 0), ("distance", 0)]:
        for step in (Fraction(1, 1000), Fraction(-1, 1000)):
            other = {key: list(part) for key, part in ray.items()}
            other[name][k] += step
            assert proved_square(parts, other, alpha) is None
    turned = {name: [-v for v in part] for name, part in ray.items()}
    assert proved_square(parts, turned, alpha) is None
    for rows in (
        {0: Fraction(1), 1: Fraction(1)},
        {0: Fraction(1, 2), 2: Fraction(1, 2)},
        {0: Fraction(1, 2), 1: Fraction(1), 2: Fraction(-1, 2)},
        {0: Fraction(1, 2), 1: Fraction(1, 4)},
        {0: Fraction(1, 2), 3: Fraction(1, 2)},
        {},
    ):
        assert proved_square(parts, ray, {"margin": rows}) is None
    still = {name: [Fraction(0)] * len(part) for name, part in ray.items()}
    assert proved_square(parts, still, alpha) is None  # these classes are separable: 0 is not the widest


# ---- Gaussian classes ----------------------------------------------------------------------------------------------


def gaussian_optimum(m, d, det_scatter) -> Decimal:
    """m/2 (d + d log 2 pi + log det(W / m)), by decimals."""
    with localcontext(prec=70):
        m, det = (Decimal(Fraction(v).numerator) / Decimal(Fraction(v).denominator) for v in (m, det_scatter))
        return m / 2 * (d * (1 + (2 * PI).ln() - m.ln()) + det.ln())


@pytest.mark.parametrize(
    ("parameters", "parts"),  # by hand: each class has the scatter ((2, 1), (1, 2)) around its mean
    [
        ({}, [(6, 12)]),
        ({"unbiased": True}, [(4, 12)]),
        ({"covariance": "by-class"}, [(3, 3), (3, 3)]),
        ({"covariance": "by-class", "unbiased": True}, [(2, 3), (2, 3)]),
        ({"sample_weight": [0.5] * 6}, [(3, 3)]),
    ],
)
def test_gaussian_classes_by_hand(parameters, parts):
    problem = cc.GaussianMLE(*CLASSES, **parameters)
    with localcontext(prec=70):
        truth = sum(gaussian_optimum(m, 2, det) for m, det in parts)
    c = problem.solve(level="exact", digits=50).certificate
    assert c.status == "optimal"
    assert within((c.lower, c.upper), truth)
    assert c.upper - c.lower < abs(c.upper) / 10**50
    assert c.enclosure.reached >= 50
    assert check_moments(problem.moments_as_given(), c.enclosure)
    bounds = problem.solve(level="rigorous").certificate
    assert bounds.status == "optimal"
    assert bounds.width < 1e-14
    assert bounds.lower <= Fraction(truth) <= bounds.upper


def test_gaussian_classes_on_the_data_as_given():
    X = [[Fraction(k, 3)] for k in (0, 1, 3, 6, 8)]
    c = cc.GaussianMLE(X, [0, 0, 0, 1, 1]).solve(level="exact", digits=40).certificate
    scatter = Fraction(0 + 1 + 9, 9) - Fraction(16, 27) + Fraction(2, 9)
    assert within((c.lower, c.upper), gaussian_optimum(5, 1, scatter))


def test_columns_that_repeat_each_other_to_the_last_digit_are_decided():
    a = np.array([0.1, 0.7, 1.3, 0.2, 2.1, 1.9])
    y = [0, 0, 0, 1, 1, 1]
    for column, verdict in [(2 * a, "unattained"), (3 * a, "optimal")]:  # three times a is rounded
        c = cc.GaussianMLE(np.column_stack([a, column]), y).solve(level="exact").certificate
        assert c.status == verdict
        found = cc.verify(c.to_json(), np.column_stack([a, column]), y)
        assert found.accepted, found.reasons


def test_a_bad_point_of_gaussian_classes_is_not_proved():
    s = cc.GaussianMLE(*CLASSES).solve()
    for factor in (1.01, -1.0):
        worse = type(s)(s.problem, "nobody", s.certificate, s.x * factor, {})
        bounds = worse.certify("rigorous", tol=1e-9)
        assert bounds.status == "undecided"
        assert bounds.lower <= s.objective * (1 + 1e-12)


# ---- files ------------------------------------------------------------------------------------------------------


MODELS = {
    "root": (cc.MaxMargin, [[0, 0], [1, 2], [3, 3]], [0, 1, 1]),
    "rational": (cc.MaxMargin, [[0, 0], [3, 4]], [0, 1]),
    "no margin": (cc.MaxMargin, [[1.3, 2], [0.1, 0.7], [3.3, 1.1], [2, 2.2], [1.7, 0.4]], [0, 1, 0, 1, 0]),
    "gaussian": (cc.GaussianMLE, *CLASSES),
    "gaussian, no minimum": (cc.GaussianMLE, [[0.1, 0.1], [0.2, 0.2], [0.7, 0.7]], [0, 1, 1]),
}


@pytest.mark.parametrize("level", ["float", "rigorous", "exact"])
@pytest.mark.parametrize("name", MODELS)
def test_files_are_accepted_and_altered_ones_refused(name, level):
    model, X, y = MODELS[name]
    text = model(X, y).solve(level=level).certificate.to_json()
    found = cc.verify(text, X, y)
    assert found.accepted, found.reasons
    file = json.loads(text)
    for block in ("claim", "point", "multipliers", "direction", "enclosure"):
        for change in alterations(file, block):
            assert not cc.verify(json.dumps(change), X, y).accepted, (block, change[block])


def alterations(file, block):
    """The file with one number of a block moved by a thousandth, or by one where it is 0, in turn; multipliers of a
    norm bound, which nothing rests on, stay. One of a pair that only has to lie around the truth is moved inwards."""

    def paths(node, path):
        if isinstance(node, str):
            yield path
        for key, inner in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
            yield from paths(inner, (*path, key))

    for path in paths(file.get(block, {}), ()):
        if path[0] in ("unit", "digits", "precision"):
            continue
        change = json.loads(json.dumps(file))
        inner = change[block]
        for key in path[:-1]:
            inner = inner[key]
        value = Fraction(inner[path[-1]]) if "/" in inner[path[-1]] else Fraction(float(inner[path[-1]]))
        inner[path[-1]] = str(value + (value / 1000 or 1) * (-1 if path == ("upper",) else 1))
        yield change


def test_a_claimed_square_needs_bounds_next_to_its_root():
    model, X, y = MODELS["root"]
    file = json.loads(model(X, y).solve(level="exact").certificate.to_json())
    assert file["claim"]["square"] == "1.25"
    for claim in [{"lower": "1"}, {"upper": "2"}, {"lower": "-2"}, {"lower": "1.12"}, {"upper": "1.11"}]:
        assert not cc.verify(json.dumps({**file, "claim": file["claim"] | claim}), X, y).accepted
    text = json.dumps(file).replace('"max-margin"', '"hard-margin"')
    assert not cc.verify(text, X, y).accepted


# ---- the level rigorous where doubles do not suffice ---------------------------------------------------------------


FAR = 1e6 + np.array([[3, 41, 7], [12, 5, 33], [44, 8, 2], [19, 27, 40], [6, 30, 21], [35, 14, 9], [22, 2, 28.0]])
LABELS = [0, 1, 0, 1, 1, 0, 0]


@pytest.mark.parametrize(
    "problem",
    [
        cc.LogisticMLE(FAR, LABELS, l2=0.5),
        cc.SoftmaxMLE(FAR, [0, 1, 2, 1, 2, 0, 0], l2=0.5),
        cc.LeastSquares(FAR, LABELS, l2=0.1),
        cc.SoftMarginSVM(FAR, LABELS, C=0.1),
        cc.KernelSVM(FAR, LABELS, kernel="linear", C=0.1),
        cc.KernelSVM(FAR, LABELS, kernel="poly", degree=2, C=0.1),
        cc.FisherLDA(np.hstack([np.eye(3)[[0, 1, 2, 0, 1, 2, 0]], FAR - 1e6]), LABELS),
    ],
    ids=lambda problem: problem.name,
)
def test_far_data_and_dependent_columns_are_decided(problem):
    exact = problem.solve(level="exact").certificate
    c = problem.solve(level="rigorous").certificate
    assert (exact.status, c.status) == ("optimal", "optimal"), c.reason
    assert c.lower <= exact.lower <= exact.upper <= c.upper
    assert c.width <= 1e-8
    found = cc.verify(c.to_json(), given(problem), problem.data.given)
    assert found.accepted, found.reasons


def test_a_point_off_its_equation_is_not_proved_by_its_objective():
    problem = cc.FisherLDA([[0, 0], [0, 1], [1, 0], [1, 2]], [0, 0, 1, 1])  # the first feature alone reaches 0
    s = problem.solve()
    assert s.at_level("rigorous").status == "optimal"
    off = type(s)(problem, "nobody", s.certificate, 0.0 * s.x, dict(s.multipliers))
    assert off.certify("rigorous", tol=1e-9).status == "undecided"
    found = off.at_level("rigorous")  # the exact solution stands in for it
    assert found.status == "optimal"
    assert found.x.tolist() == pytest.approx([1.0, 0.0])


def given(problem):
    """The samples that a problem was declared on."""
    return np.asarray(problem.data.matrix)


def test_a_point_that_a_solver_left_unfinished_stays_undecided_where_only_it_is_judged():
    s = cc.LogisticMLE(FAR, LABELS, l2=0.5).solve("newton", max_iter=1)
    assert s.certify("rigorous").status == "undecided"
    assert s.certify("exact").status == "optimal"  # there the point is a guess only
