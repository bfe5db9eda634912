"""What happens if the data move: against exact solves of moved data, by other code."""

import random
import re
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.optimize import minimize

import convexcls as cc
from convexcls.problem import NoAnswer
from convexcls.rational.polynomials import first_root, interpolation, sign_after, value

#: Small against the numbers of the problems, so that a range seldom ends within; without rounding nothing is lost.
STEP = F(1, 10**6)


def drawn(seed):
    """A small problem of a random kind, by its class, samples, labels and parameters."""
    rng = random.Random(seed)
    n, d = rng.randint(3, 7), rng.randint(1, 2)
    X = [[F(rng.randint(-9, 9), rng.choice([1, 2, 3])) for _ in range(d)] for _ in range(n)]
    y = [0, 1, *(rng.randint(0, 1) for _ in range(n - 2))]
    kind = rng.choice(["hard", "hinge", "squared", "squares", "ridge", "absolute"])
    weights = [F(rng.randint(1, 5), rng.randint(1, 3)) for _ in range(n)]
    C = F(rng.randint(1, 30), rng.randint(1, 9))
    if kind == "hard":
        return cc.HardMarginSVM, X, y, {}
    if kind in ("hinge", "squared"):
        loss = "hinge" if kind == "hinge" else "squared_hinge"
        return cc.SoftMarginSVM, X, y, {"C": C, "loss": loss, "sample_weight": weights}
    target = [F(rng.randint(-9, 9)) for _ in range(n)]
    if kind == "absolute":
        return cc.LeastAbsolute, X, target, {"coding": "real", "sample_weight": weights}
    l2 = {"l2": C} if kind == "ridge" else {}
    return cc.LeastSquares, X, target, {"coding": "real", "sample_weight": weights, **l2}


def solve(model, X, y, settings):
    return model(X, y, **settings).solve(level="exact")


def changed(case, what, step):
    """The case with one number of it larger by a step; None where the model has no such number."""
    model, X, y, settings = case
    kind, *where = what
    if kind == "feature":
        i, j = where
        X = [[v + step * (k == i and m == j) for m, v in enumerate(row)] for k, row in enumerate(X)]
    elif kind == "weight":
        weights = [w + step * (k == where[0]) for k, w in enumerate(settings["sample_weight"])]
        settings = {**settings, "sample_weight": weights}
    elif kind == "requirement":
        y = [t + step * (k == where[0]) for k, t in enumerate(y)]
    else:
        settings = {**settings, where[0]: settings[where[0]] + step}
    return model, X, y, settings


def numbers_of(case, rng):
    """Some numbers of the case that may change."""
    _model, X, _y, settings = case
    i = rng.randrange(len(X))
    out = [("feature", i, rng.randrange(len(X[0])))]
    out += [("weight", i)] if "sample_weight" in settings else []
    out += [("requirement", i)] if settings.get("coding") == "real" else []
    out += [("parameter", name) for name in ("C", "l2") if name in settings]
    return out


def read(found, what):
    kind, *where = what
    return getattr(found, kind)(*where)


def state(solution):
    """Which samples are free, at a low or at a high bound."""
    found = solution.sensitivity()
    return found.sides, found.unclear


CASES = [drawn(seed) for seed in range(300)]


def solvable(case):
    s = solve(*case)
    return s if s.status == "optimal" and s.certificate.optimum is not None else None


@pytest.mark.parametrize("part", range(10))
def test_slopes_are_those_of_exact_solves_next_to_the_data(part):
    """On every side that has a formula: x and the optimum of moved data differ by slope times step and its square."""
    rng, compared = random.Random(part), 0
    for case in CASES[part::10]:
        if (s := solvable(case)) is None:
            continue
        found = s.sensitivity()
        for what in numbers_of(case, rng):
            change = read(found, what)
            for sign, side in ((1, change.above), (-1, change.below)):
                if side is None or (side.distance is not None and side.distance <= STEP):
                    continue
                moved = solve(*changed(case, what, sign * STEP)).certificate
                slope = (moved.optimum - s.certificate.optimum) / (sign * STEP)
                size = max(1, abs(side.optimum), *map(abs, side.coef))
                assert abs(slope - side.optimum) <= F(1, 100) * size
                for a, b, c in zip(moved.coef, s.certificate.coef, side.coef, strict=True):
                    assert abs((a - b) / (sign * STEP) - c) <= F(1, 100) * size
                compared += 1
    assert compared > 30


@pytest.mark.parametrize("part", range(10))
def test_ranges_end_where_the_active_set_changes(part):
    """Just inside the same samples are free; just outside others are."""
    rng, compared = random.Random(100 + part), 0
    for case in CASES[part::10]:
        if (s := solvable(case)) is None:
            continue
        found = s.sensitivity()
        if found.unclear:
            continue
        what = rng.choice(numbers_of(case, rng))
        change = read(found, what)
        for sign, side in ((1, change.above), (-1, change.below)):
            if (
                side is None
                or side.distance is None
                or not side.distance
                or re.search("at its least|unique", side.event)
            ):
                continue
            near = side.distance * (1 - F(1, 10**9))
            inside = solve(*changed(case, what, sign * near))
            assert state(inside)[0] == found.sides
            outside = solvable(changed(case, what, sign * side.distance * (1 + F(1, 10**9))))
            if outside is not None:
                assert state(outside)[0] != found.sides
                compared += 1
    assert compared > 3


def test_the_derivative_by_the_right_hand_side_is_the_multiplier():
    for case in CASES[:60]:
        if (s := solvable(case)) is None:
            continue
        found = s.sensitivity()
        for i in range(len(found.a)):
            change = found.requirement(i)
            if change.smooth:
                assert change.above.optimum == found.a[i]


def test_a_tie_has_two_sides():
    """At 1 the sample of multiplier 0 lies on the margin: towards the plane it joins, away from it nothing happens."""
    s = cc.HardMarginSVM([[0, 0], [2, 0], [2, 5]], [0, 1, 1]).solve()
    found = s.sensitivity()
    assert found.unclear
    change = found.feature(found.unclear[0], 0)
    assert not change.smooth
    assert change.above.optimum == 0
    assert "one side each" in found.explain()


def test_what_is_not_unique_has_no_formula():
    """All samples at their bound: the intercept is an interval."""
    found = cc.SoftMarginSVM([[0], [1]], [0, 1], C=F(1, 10)).solve().sensitivity()
    change = found.parameter("C")
    assert change.above is None or change.above.optimum is not None


def test_the_twenty_points_in_words():
    found = cc.load("twenty_points").solve().sensitivity()
    text = found.explain()
    assert "Sample 7 may move 2.121 towards the plane before the support changes" in text
    assert "Sample 1 may move 0.7071 towards the plane without any effect" in text
    assert str(found).splitlines()[0].split()[:3] == ["sample", "stands", "multiplier"]
    plane = cc.load("twenty_points").solve()
    margins = np.abs(plane.decision_function(plane.data.matrix))
    assert found.radius == pytest.approx((margins - 1) / np.linalg.norm(plane.coef), abs=1e-12)
    assert found.to_dict()["samples"][0]["radius"] == pytest.approx(found.radius[0])


def test_the_picture_has_a_disc_for_every_sample_that_is_free_to_move():
    s = cc.load("twenty_points").solve()
    display = cc.plots.RadiusDisplay.from_solution(s)
    assert len(display.ax_.patches) == int((s.sensitivity().radius > 0).sum())
    assert "without any effect" in display.describe()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cc.LogisticMLE([[0], [1], [2]], [0, 1, 0]), "influence"),
        (lambda: cc.HardMarginSVM([[0], [1], [2]], [0, 1, 0]), "infeasible"),
        (lambda: cc.FisherLDA([[0], [1], [2], [5]], [0, 1, 0, 1]), "there are none of the"),
        (lambda: cc.LeastSquares([[v] for v in range(600)], list(range(600)), coding="real"), "at most 500 samples"),
    ],
)
def test_what_has_no_sensitivity_says_why(make, words):
    with pytest.raises(NoAnswer, match=words):
        make().solve().sensitivity()


def test_numbers_that_do_not_exist_are_refused():
    found = cc.HardMarginSVM([[0], [2]], [0, 1]).solve().sensitivity()
    with pytest.raises(IndexError, match="no sample 2"):
        found.requirement(2)
    with pytest.raises(IndexError, match="no feature 1"):
        found.feature(0, 1)
    with pytest.raises(NoAnswer, match="no parameter 'C'"):
        found.parameter("C")
    with pytest.raises(NoAnswer, match="have no weights"):
        found.weight(0)


# ---- influence ---------------------------------------------------------------------------------------------------


def test_influence_of_least_squares_is_that_of_fits_without_a_sample():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    s = cc.LeastSquares(X, y, coding="real").solve()
    found, Z = s.influence(), np.column_stack([X, np.ones(12)])
    hat = Z @ np.linalg.inv(Z.T @ Z) @ Z.T
    assert found.leverage == pytest.approx(np.diag(hat), abs=1e-10)
    beta, variance = np.append(s.coef, s.intercept), ((y - hat @ y) ** 2).sum() / 9
    for i in range(12):
        others = np.arange(12) != i
        without = np.linalg.lstsq(Z[others], y[others], rcond=None)[0]
        moved = beta - without
        s2 = ((y[others] - Z[others] @ without) ** 2).sum() / 8
        assert found.dfbetas[i] == pytest.approx(moved / np.sqrt(s2 * np.diag(np.linalg.inv(Z.T @ Z))), rel=1e-7)
        cook = moved @ (Z.T @ Z) @ moved / (3 * variance)
        assert found.cooks_distance[i] == pytest.approx(cook, rel=1e-7)


@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_influence_of_a_likelihood_is_within_its_bound(l2):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.logistic(size=40) > 0).astype(int)
    s = cc.LogisticMLE(X, y, l2=l2).solve()
    found, beta = s.influence(), np.append(s.coef, s.intercept)
    rows = np.column_stack([X, np.ones(40)]) * np.where(y == 1, 1, -1)[:, None]
    penalty = np.array([l2, l2, 0.0])
    p = 1 / (1 + np.exp(-rows @ beta))
    errors = np.sqrt(np.diag(np.linalg.inv(rows.T @ ((p * (1 - p))[:, None] * rows) + np.diag(penalty))))
    for i in range(0, 40, 7):
        others = np.delete(rows, i, axis=0)

        def risk(b, others=others):
            return np.logaddexp(0, -others @ b).sum() + 0.5 * penalty @ b**2

        without = minimize(risk, beta, method="BFGS", options={"gtol": 1e-10}).x
        off = np.abs((beta - without) / errors - found.dfbetas[i])
        assert np.isfinite(found.bounds[i]).all()
        assert np.all(off <= found.bounds[i] + 1e-5)
    assert found.leverage.sum() <= 3 + 1e-9
    assert np.nanmax(found.bounds) < 0.5


def test_models_without_influence_say_so():
    with pytest.raises(NoAnswer, match="of least squares and logistic regression"):
        cc.HardMarginSVM([[0], [2]], [0, 1]).solve().influence()


# ---- polynomials -------------------------------------------------------------------------------------------------


def test_first_roots():
    assert first_root([F(-6), F(5), F(-1)]) == (2, True)  # (t - 2) (3 - t)
    assert first_root([F(1), F(0), F(1)]) is None
    assert first_root([F(0), F(1)]) is None  # a root at 0 does not count
    low, exact = first_root([F(-2), F(0), F(1)])
    assert not exact
    assert 0 < 2 - low * low < F(1, 10**28)
    cubic = [F(-6), F(11), F(-6), F(1)]  # (t - 1) (t - 2) (t - 3)
    assert first_root(cubic) == (1, True)
    assert first_root([F(1), F(-2), F(1)]) == (1, True)  # touches
    assert sign_after([F(0), F(-1), F(5)]) == -1


def test_interpolation_meets_its_values():
    rng = random.Random(1)
    for _ in range(20):
        p = [F(rng.randint(-5, 5), rng.randint(1, 4)) for _ in range(rng.randint(1, 5))]
        places = [F(k, 3) for k in range(6)]
        found = interpolation(places, [value(p, x) for x in places])
        assert all(value(found, x) == value(p, x) for x in (F(7), F(-2, 5)))
