"""Bounds by norms: never below what the check measures, and of good answers as good as needed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import convexcls as cc
from convexcls.problem import Problem
from convexcls.proofs.kkt.at_once import MeasuredLater, bounded_at_once
from convexcls.proofs.kkt.check import check_kkt
from convexcls.proofs.verdict import certify
from tests.hunt.draw import draw

TOL = 1e-8


def samples(seed: int, n: int = 40, d: int = 3, classes: int = 2, apart: float = 0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 2.0 ** rng.integers(-2, 3, d) + rng.integers(-1, 2, d)
    score = X @ rng.normal(size=d)
    y = np.digitize(
        score + (apart == 0.0) * rng.normal(size=n), np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1])
    )
    if apart:
        X = X + apart * (2 * y - 1)[:, None] * rng.normal(size=d)
    return X, y


MODELS = {
    "hard margin": lambda s: cc.HardMarginSVM(*_separable(s)),
    "soft margin": lambda s: cc.SoftMarginSVM(*samples(s), C=10.0 ** (s % 3 - 1)),
    "squared hinge": lambda s: cc.SoftMarginSVM(*samples(s), loss="squared_hinge"),
    "logistic": lambda s: cc.LogisticMLE(*samples(s), l2=0.5),
    "logistic, no penalty": lambda s: cc.LogisticMLE(*samples(s, n=80)),
    "weighted": lambda s: cc.LogisticMLE(*samples(s), l2=1.0, sample_weight=np.linspace(0.5, 2.0, 40)),
    "softmax": lambda s: cc.SoftmaxMLE(*samples(s, classes=3), l2=1.0),
    "least squares": lambda s: cc.LeastSquares(*samples(s)),
    "ridge": lambda s: cc.LeastSquares(*samples(s), l2=3.0),
    "fisher": lambda s: cc.FisherLDA(*samples(s)),
    "fisher, several": lambda s: cc.FisherLDA(*samples(s, classes=3)),
    "gaussian": lambda s: cc.GaussianMLE(*samples(s, classes=3)),
    "gaussian, by class": lambda s: cc.GaussianMLE(*samples(s, classes=2), covariance="by-class"),
    "perceptron": lambda s: cc.PerceptronCriterion(*samples(s)),
    "no intercept": lambda s: cc.LogisticMLE(*samples(s), l2=1.0, intercept=False),
    "bounded": lambda s: _bounded(s),
}


def _separable(seed: int):
    X, _ = samples(seed)
    w = np.random.default_rng(seed + 1000).normal(size=X.shape[1])
    y = (X @ w > 0).astype(int)
    return X + 0.3 * (2 * y - 1)[:, None] * w / (w @ w), y


def _bounded(seed: int) -> Problem:
    """Least squares with unknowns in a box, some at its sides."""
    X, y = samples(seed)
    w = cc.Variable("w", 3, "w")
    fit = cc.Term("fit", {"w": X}, offset=-y.astype(float))
    high = cc.Constraint("high", {"w": cc.rows.DiagonalRows.identity(3)}, kind="vector", rhs=0.125)
    low = cc.Constraint("low", {"w": cc.rows.DiagonalRows.identity(3, -1.0)}, kind="vector", rhs=0.25)
    return cc.Problem("box", [w], terms=[fit], constraints=[high, low])


@np.errstate(all="ignore")
def exceeds(problem: Problem, x, multipliers, factor: float = 1.0) -> list[str]:
    """The measures that the check finds larger than the bounds, or so many times larger."""
    known = bounded_at_once(problem, x, multipliers)
    if known is None:
        return []
    first = dict(check_kkt(problem, x, multipliers, 1e300).bounds())  # from afar: at this tolerance nothing is in doubt
    bounds = {
        "stationarity": known.stationarity,
        "primal feasibility": known.primal_feasibility,
        "dual feasibility": 0.0,
        "complementary slackness": known.complementary_slackness,
        "duality gap": known.relative_gap,
    }
    told = 2.0**-52  # the check tells its gap as the difference of two objectives, each rounded
    most = {k: factor * bounds[k] * (1 + 1e-9) + told for k in bounds}
    return [f"{k}: {first[k]:.3e} > {bounds[k]:.3e}" for k in bounds if first[k] > most[k]]


@pytest.mark.parametrize("name", MODELS)
def test_no_measure_is_above_its_bound(name):
    for seed in range(4):
        problem = MODELS[name](seed)
        s = problem.solve()
        assert s.status == "optimal"
        rng = np.random.default_rng(seed)
        for size in (0.0, 1e-12, 1e-8, 1e-4, 1e-2, 1.0):
            x = s.x * (1.0 + size * rng.normal(size=s.x.size)) + size * rng.normal(size=s.x.size)
            z = {
                k: np.abs(v * (1.0 + size * rng.normal(size=v.size))) if v.size > 2 else v
                for k, v in s.multipliers.items()
            }
            assert exceeds(problem, x, z) == []
            assert exceeds(problem, s.x, z) == []
            assert exceeds(problem, x, s.multipliers) == []


@pytest.mark.parametrize("name", MODELS)
def test_what_is_measured_later_says_the_same(name):
    problem = MODELS[name](1)
    s = problem.solve()
    known = bounded_at_once(problem, s.x, s.multipliers)
    if name == "perceptron" and known is None:
        return
    assert known is not None
    assert known.holds(TOL)
    kkt = certify(problem, s.x, s.multipliers, TOL).kkt
    assert isinstance(kkt, MeasuredLater)
    assert kkt.holds(TOL)
    assert "stationarity" not in vars(kkt)
    plain = check_kkt(problem, s.x, s.multipliers, TOL)
    assert kkt.objective == plain.objective
    assert kkt.scale == plain.scale
    assert kkt.dependent == plain.dependent == ()
    assert kkt.bounds() == plain.bounds()
    assert kkt.violation >= plain.violation
    assert kkt.dual_objective == plain.dual_objective
    assert repr(kkt) == repr(plain)


def test_a_later_measure_is_of_the_point_as_it_was():
    problem = MODELS["logistic"](0)
    x = np.array(problem.solve().x)
    judged = certify(problem, x, {}, TOL)
    plain = check_kkt(problem, x, {}, TOL)
    x[:] = 0.0
    assert judged.kkt.stationarity.max == plain.stationarity.max
    copy = pickle.loads(pickle.dumps(certify(problem, problem.solve().x, {}, TOL).kkt))
    assert copy.bounds() == plain.bounds()
    assert type(copy) is type(plain)


def test_nothing_is_said_where_norms_do_not_decide():
    problem = MODELS["hard margin"](0)
    s = problem.solve()
    z = np.array(s.multipliers["margin"])
    z[np.argmin(z)] = -1e-300  # the least wrong sign
    assert bounded_at_once(problem, s.x, {"margin": z}) is None
    assert bounded_at_once(problem, s.x, {"margin": np.full(z.size, 1e308)}) is None  # sums overflow
    X, y = samples(0)
    twice = cc.LogisticMLE(np.hstack([X, X]), y)  # columns that depend on each other
    assert not bounded_at_once(twice, np.zeros(7), {}).holds(1e300)
    far = cc.LeastSquares(X + 1e9, y)  # measured from near its middle, by the long way
    assert bounded_at_once(far, np.zeros(4), {}) is None
    light = cc.LogisticMLE(X, y, l2=1.0, sample_weight=np.r_[0.0, np.ones(39)])
    assert bounded_at_once(light, np.zeros(4), {}) is None


@pytest.mark.parametrize("start", range(0, 160, 20))
def test_what_is_said_of_drawn_problems_holds(start):
    """Of all families, models and scales of the hunt: whatever is moved, a verdict by norms is that of the check, and
    no measure is twice its bound."""
    seen = 0
    for index in range(start, start + 20):
        case = draw(20261, index)
        try:
            problem = getattr(cc, case.model)(case.X, case.y, **case.arguments)
        except cc.DataError:  # numbers whose squares overflow
            continue
        certificate = problem.solve().certificate
        if certificate.x is None or certificate.multipliers is None:
            continue
        rng = np.random.default_rng(index)
        for size in (0.0, 1e-14, 1e-10, 1e-7):
            x = certificate.x * (1.0 + size * rng.normal(size=certificate.x.size))
            z = {k: v * (1.0 + size * rng.uniform(-1, 1, v.size)) for k, v in certificate.multipliers.items()}
            known = bounded_at_once(problem, x, z)
            if known is None:
                break
            assert exceeds(problem, x, z, 2.0) == []
            if known.holds(TOL):
                seen += 1
                assert check_kkt(problem, x, z, TOL).holds(TOL)
    assert seen > 5
