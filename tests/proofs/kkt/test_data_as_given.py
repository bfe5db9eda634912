"""Gaussian classes whose samples doubles round: an optimum has to be one of the samples as they were given.

Samples are integers around 2^54, where doubles are multiples of 4: one more than a multiple is rounded down to it,
three more are rounded up to the next. In doubles everything is easy; only the moments of what was given tell the
difference.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import convexcls as cc
from convexcls.proofs.verdict import certify
from tests.small_problems import a

FAR = 2**54
TWO_CLASSES = [0, 0, 0, 1, 1, 1]
NOT_AS_GIVEN = "the conditions hold for the data rounded to doubles, not for the data as given"


def gaussian(samples, y=TWO_CLASSES, scale=Fraction(1), **parameters):
    """Classes of one feature at these places beyond 2^54, and the optimum for their doubles."""
    given = [[scale * (FAR + place)] for place in samples]
    rounded = cc.GaussianMLE([[float(value)] for (value,) in given], y, **parameters).solve()
    assert rounded.status == "optimal"
    return cc.GaussianMLE(given, y, **parameters), rounded.x


#: The spread of both classes is 1002, in doubles 1004, and the optimum 45.5, of which 0.012 are doubles' mistake.
WIDER = [1, 1, 1003] * 2
#: The same spread, 998; in doubles 996.
NARROWER = [3, 3, 1001] * 2
#: In doubles the first class is narrower, the second wider: their mistakes, 0.1 of 22, cancel in the objective.
OPPOSITE = [1, 1, 9, 1, 1, 55]

#: name: (samples, scale, covariance, tolerance, status)
OPTIMA = {
    "wider": (WIDER, 0, "shared", 1e-4, "undecided"),
    "wider, within the tolerance": (WIDER, 0, "shared", 1e-3, "optimal"),
    "narrower": (NARROWER, 0, "shared", 1e-4, "undecided"),
    "narrower, within the tolerance": (NARROWER, 0, "shared", 1e-3, "optimal"),
    "in units in which the optimum is -0.3, of the unit 3": (WIDER, 11, "shared", 1e-2, "optimal"),
    "in units in which the optimum is -0.3": (WIDER, 11, "shared", 1e-3, "undecided"),
    "in units in which the optimum is -204": (WIDER, 60, "shared", 1e-4, "optimal"),
    "in units in which the optimum is -204, beyond": (WIDER, 60, "shared", 1e-5, "undecided"),
    "opposite mistakes": (OPPOSITE, 0, "by-class", 1e-3, "undecided"),
    "opposite mistakes, within the tolerance": (OPPOSITE, 0, "by-class", 1e-2, "optimal"),
    "hardly rounded": ([1, 1, 2**26 + 3] * 2, 0, "shared", 1e-8, "optimal"),
}


@pytest.mark.parametrize("name", OPTIMA)
def test_an_optimum_is_one_of_the_samples_as_given(name):
    samples, halvings, covariance, tol, status = OPTIMA[name]
    problem, x = gaussian(samples, scale=Fraction(1, 2**halvings), covariance=covariance)
    certificate = certify(problem, x, {}, tol)
    assert certificate.kkt.holds(tol)
    assert certificate.status == status
    assert certificate.reason == ("" if status == "optimal" else NOT_AS_GIVEN)


def test_samples_that_depend_on_each_other_only_as_given_have_no_optimum():
    """The second feature is the first one and 2^54, which doubles round to steps of 4."""
    places, y = [0, 1, 2, 3, 4, 5, 6, 7, 9, 11], [0, 1] * 5
    given = [[Fraction(k), Fraction(FAR + k)] for k in places]
    x = cc.GaussianMLE([[float(k), float(FAR + k)] for k in places], y).solve().x
    certificate = certify(cc.GaussianMLE(given, y), x, {})
    assert certificate.kkt.holds(1e-8)
    assert certificate.status == "undecided"
    assert certificate.reason == NOT_AS_GIVEN


def test_a_matrix_that_is_definite_only_in_doubles_is_no_optimum():
    """78 times 17.55... is a little less than 37^2, which a Cholesky factor of doubles does not see."""
    problem, _ = gaussian(WIDER)
    x = a(78, -37, 0, 17.55128205128205, 0, 1)
    assert 78 * Fraction(x[3]) < 37**2
    assert certify(problem, x, {}, 1e20).status != "optimal"


def test_a_minimum_may_exist_that_doubles_do_not_show():
    """All samples round to 2^54, so that in doubles the likelihood grows for ever; as given, half of them are one more.
    Where none is, there is no minimum indeed."""
    for samples, status in (([0, 1, 0, 1], "undecided"), ([1, 1, 1, 1], "unattained")):
        problem = cc.GaussianMLE([[Fraction(FAR + place)] for place in samples], [0, 0, 1, 1])
        assert certify(problem, None, None).status == status


@pytest.mark.parametrize(("n", "d", "status"), [(10_000, 2, "undecided"), (6_667, 3, "optimal")])
def test_the_moments_of_20000_entries_are_worked_out_as_given(n, d, status):
    problem, x = gaussian(WIDER)
    problem.__dict__["data"] = SimpleNamespace(exact_matrix=problem.data.exact_matrix, n=n, d=d)
    assert certify(problem, x, {}, 1e-4).status == status


def test_samples_that_doubles_hold_are_not_worked_out_again():
    X = [[1.0], [2.0], [4.0], [3.0], [5.0], [8.0]]
    x = cc.GaussianMLE(X, TWO_CLASSES).solve().x
    with patch.object(cc.GaussianMLE, "moments_as_given", side_effect=AssertionError):
        assert certify(cc.GaussianMLE(X, TWO_CLASSES), x, {}).status == "optimal"


def test_other_models_have_no_moments():
    """Samples as given, too; whether the classes are separable is decided in rationals."""
    apart = cc.HardMarginSVM([[Fraction(1, 3)], [Fraction(4, 3)], [Fraction(7, 3)]], [0, 1, 1])
    certificate = certify(apart, a(2, -5 / 3), {"margin": np.array([2.0, 2.0, 0.0])})
    assert certificate.status == "optimal"


def test_entries_that_are_0_in_doubles_alone_count():
    """The means differ by (4, 0) and the squares within classes add up to 4 for each feature, with mixed products 0, so
    that coef = (1/4, 0) and nu = -1/4 are optimal with the objective 1/8. Doubles at 2^60 are multiples of 256: to them
    all samples are one, and every point is optimal with the objective 0."""
    places = [[0, 0], [2, 0], [1, 1], [4, 0], [6, 0], [5, 1]]
    fisher = cc.FisherLDA([[Fraction(2**60 + place) for place in row] for row in places], TWO_CLASSES)
    s = fisher.solve()
    assert (s.status, s.objective) == ("optimal", pytest.approx(1 / 8))
    for x, nu in ((a(0.25, 0), -0.3), (a(0.25, 0.1), -0.25), (a(0.2, 0), -0.25), (a(0, 0), 0.0)):
        assert certify(fisher, x, {"separation": a(nu)}, stand_in=False).status == "undecided"


# ---- columns whose doubles repeat each other ----------------------------------------------------------------------

PRIME = 2**31 - 1


def repeated(step, n=400):
    """Two columns of whole numbers other than 0, the second with ``step`` times the label added; and the labels."""
    rng = np.random.default_rng(5)
    whole, labels = rng.integers(1, 6, n) * rng.choice([-1, 1], n), rng.integers(0, 2, n)
    third = Fraction(1, 3)  # which no double holds, so that the data are remembered as given
    return [
        [third * int(v), third * int(v) + (2 * int(k) - 1) * step] for v, k in zip(whole, labels, strict=True)
    ], labels


MODELS = (cc.LogisticMLE, cc.LeastAbsolute, cc.LeastSquares, cc.PerceptronCriterion, cc.FisherLDA)


@pytest.mark.parametrize("step", [Fraction(1, 10**30), Fraction(PRIME, 10**40), Fraction(PRIME**2, 10**50)])
@pytest.mark.parametrize("model", MODELS)
def test_columns_that_differ_in_what_doubles_do_not_hold_are_two(model, step):
    """The difference of the columns tells the labels: as given, their optimum is 0 or is not attained. With a step
    of 0 the same doubles have the optimum that doubles show."""
    X, labels = repeated(step)
    assert np.array_equal([float(u) for u, _ in X], [float(v) for _, v in X])
    found = model(X, labels).solve()
    assert found.status != "optimal" or found.objective < 1e-6
    X, labels = repeated(0)
    twice = model(X, labels).solve()
    assert twice.status == "optimal"
    assert twice.objective > 1e-3
