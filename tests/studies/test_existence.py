"""Whether a maximum of the likelihood exists, which coefficients run where, and what the likelihood tends to."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import exact
import numpy as np
import pytest
from exact import feasible, integer_sets

import convexcls as cc

DUMMY = (
    np.array([[0, 1], [0, 2], [0, 3], [0, 4], [1, 5], [1, 0]]),
    np.array([0, 1, 0, 1, 1, 1]),
)


def signed(X, y, intercept):
    return [tuple(s * v for v in (*row, *([1] if intercept else []))) for row, s in zip(X, y, strict=True)]


def by_elimination(Z, j: int) -> str:
    """What becomes of unknown j along directions that shrink no row of Z, by Fourier-Motzkin elimination."""
    unit = tuple(int(k == j) for k in range(len(Z[0])))
    minus = tuple(-v for v in unit)
    if feasible([unit], [*Z, *(tuple(-v for v in z) for z in Z)]):
        return "unidentified"
    up, down = feasible([unit], Z), feasible([minus], Z)
    return "either" if up and down else "+inf" if up else "-inf" if down else "finite"


# ---- logistic regression ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", range(2))
def test_coefficients_run_where_elimination_says(chunk):
    seen = set()
    for X, y, intercept in integer_sets(900 + chunk, 50):
        found = cc.existence(cc.LogisticMLE(X, y, intercept=intercept))
        Z = signed(X, y, intercept)
        ways = [c.behaviour for c in found.coefficients]
        assert ways == [by_elimination(Z, j) for j in range(len(Z[0]))], (X, y, intercept)
        assert found.exists == (cc.separability(X, y, intercept=intercept).verdict == "overlapping")
        assert found.verify()
        seen.update(ways)
    assert seen == {"finite", "unidentified", "+inf", "-inf", "either"}


def test_the_supremum_is_that_of_vanishing_penalties():
    checked = 0
    for X, y, intercept in integer_sets(950, 40):
        found = cc.existence(cc.LogisticMLE(X, y, intercept=intercept))
        if not found.exists and intercept:
            nearly = -float(exact.logistic(X, y, Fraction(1, 10**12), intercept))
            assert nearly == pytest.approx(found.supremum, abs=1e-6), (X, y)
            assert nearly <= found.supremum + 1e-12
            checked += found.separation.kind == "weak"
    assert checked >= 3


def test_a_dummy_that_marks_one_class_only():
    found = cc.existence(cc.LogisticMLE(*DUMMY))
    assert not found.exists
    assert found.verdict == "quasi-complete separation"
    assert found.infinite == {"x1": "+inf"}
    without = DUMMY[1][:4], DUMMY[0][:4, 1:]
    face = cc.LogisticMLE(without[1], without[0]).solve()
    assert found.finite == pytest.approx({"x2": face.coef[0], "intercept": face.intercept}, rel=1e-9)
    assert found.supremum == pytest.approx(-face.objective, rel=1e-12)
    text = found.explain()
    assert "x1 runs to +infinity" in text
    assert "x2 tends to 0.908184" in text
    assert "l2=" in text
    ridge = cc.LogisticMLE(*DUMMY, l2=found.ridge).solve()
    assert ridge.status == "optimal"


def test_finite_values_are_limits_of_vanishing_penalties():
    found = cc.existence(cc.LogisticMLE(*DUMMY))
    nearly = cc.LogisticMLE(*DUMMY, l2=1e-7).solve()
    assert nearly.coef[1] == pytest.approx(found.finite["x2"], abs=1e-4)
    assert nearly.coef[0] > 10


def test_complete_separation():
    found = cc.existence(cc.LogisticMLE([[1, -1, 2], [1, -1, -2], [1, -2, -2], [1, 2, 2]], [0, 1, 1, 1]))
    assert found.verdict == "complete separation"
    assert found.supremum == 0.0
    assert found.limit is None
    assert found.finite == {}
    assert found.infinite["x3"] == "-inf"
    assert set(found.unidentified) == {"x1", "intercept"}  # a column of ones beside the intercept
    assert "completely separated" in found.explain()


def test_overlap():
    found = cc.existence(cc.LogisticMLE([[-1], [0], [1], [2]], [0, 1, 0, 1]))
    solution = cc.LogisticMLE([[-1], [0], [1], [2]], [0, 1, 0, 1]).solve()
    assert found.exists
    assert not found.infinite
    assert found.finite == pytest.approx({"x1": solution.coef[0], "intercept": solution.intercept})
    assert found.supremum == pytest.approx(-solution.objective)
    assert "THE MAXIMUM EXISTS" in found.explain()


def test_units_change_nothing():
    for scale in (1e150, 1e-150, 1e6):
        found = cc.existence(cc.LogisticMLE(DUMMY[0] * scale, DUMMY[1]))
        assert found.infinite == {"x1": "+inf"}
        assert found.finite["x2"] * scale == pytest.approx(0.9081842626, rel=1e-6)


def test_weights_count_and_samples_without_weight_do_not():
    X, y = DUMMY
    weights = np.array([1.0, 2.0, 1.0, 1.0, 3.0, 0.0])
    found = cc.existence(cc.LogisticMLE(X, y, sample_weight=weights))
    face = cc.LogisticMLE(X[:4, 1:], y[:4], sample_weight=weights[:4]).solve()
    assert found.finite["x2"] == pytest.approx(face.coef[0], rel=1e-9)
    assert found.supremum == pytest.approx(-face.objective, rel=1e-12)


def test_a_sample_of_zeros_without_intercept():
    """Its loss is log 2 whatever the coefficients."""
    found = cc.existence(cc.LogisticMLE([[0.0], [1.0], [-1.0]], [1, 1, 0], intercept=False))
    assert found.verdict == "quasi-complete separation"
    assert found.infinite == {"x1": "+inf"}
    assert found.supremum == pytest.approx(-np.log(2))


# ---- softmax regression ----------------------------------------------------------------------------------------------


def test_two_classes_are_logistic_regression():
    two = cc.existence(cc.SoftmaxMLE(*DUMMY))
    one = cc.existence(cc.LogisticMLE(*DUMMY))
    assert two.infinite == {"x1 of 0": "-inf", "x1 of 1": "+inf"}
    assert two.finite["x2 of 1"] == pytest.approx(one.finite["x2"] / 2)
    assert two.supremum == pytest.approx(one.supremum)


def test_one_class_of_three_apart():
    """The third class is far away: the others keep the odds between them, none of its own coefficients stays finite."""
    X = [[0.0], [1.0], [2.0], [3.0], [1.5], [0.5], [10.0]]
    y = [0, 1, 0, 1, 1, 0, 2]
    found = cc.existence(cc.SoftmaxMLE(X, y))
    assert found.infinite["x1 of 2"] == "+inf"
    assert found.infinite["x1 of 0"] == "-inf"
    pair = cc.LogisticMLE(X[:6], y[:6]).solve()
    assert found.supremum == pytest.approx(-pair.objective, rel=1e-9)
    assert found.verify()


def test_three_classes_against_linear_programs():
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(12):
        X = rng.integers(-2, 3, size=(5, 1)).tolist()
        classes = [0, 1, 2, *rng.integers(0, 3, 2).tolist()]
        found = cc.existence(cc.SoftmaxMLE(X, classes))
        Z = found.rows.rational()
        for coefficient in found.coefficients:
            expected = by_simplex(Z, list(coefficient.functional))
            assert coefficient.behaviour == expected, (X, classes, coefficient.name)
            seen.add(expected)
    assert {"finite", "+inf", "-inf", "either"} <= seen


def by_simplex(Z, c) -> str:
    """What becomes of c'v along the directions along which no row of Z shrinks, by linear programs in rationals."""

    def reaches(sign: int, still: bool) -> bool:
        """Whether c'v = sign for some v with Zv >= 0, or with Zv = 0: v as a difference of two vectors >= 0."""
        slacks = 0 if still else len(Z)
        zero = [Fraction(0)] * slacks
        rows = [[*z, *(-v for v in z), *(Fraction(-int(k == i)) for k in range(slacks))] for i, z in enumerate(Z)]
        rows.append([*c, *(-v for v in c), *zero])
        cost = [Fraction(0)] * len(rows[0])
        return exact.simplex(cost, rows, [*([Fraction(0)] * len(Z)), Fraction(sign)]) is not None

    if reaches(1, still=True):
        return "unidentified"
    up, down = reaches(1, still=False), reaches(-1, still=False)
    return "either" if up and down else "+inf" if up else "-inf" if down else "finite"


def test_the_supremum_of_softmax_is_that_of_vanishing_penalties():
    rng = np.random.default_rng(11)
    checked = 0
    for _ in range(12):
        X = rng.integers(-3, 4, size=(9, 2)).astype(float)
        classes = np.arange(9) % 3
        X[classes == 2] += [4.0, 0.0]
        found = cc.existence(cc.SoftmaxMLE(X, classes))
        if not found.exists:
            nearly = cc.SoftmaxMLE(X, classes, l2=1e-8).solve()
            z = X @ nearly.coef.T + nearly.intercept
            likelihood = float(np.sum(z[np.arange(9), classes] - np.logaddexp.reduce(z, axis=1)))
            assert likelihood == pytest.approx(found.supremum, abs=1e-4)
            checked += found.separation.kind == "weak"
    assert checked >= 3


# ---- refusals, and proofs that are wrong ----------------------------------------------------------------------


def test_other_problems_are_refused():
    X, y = DUMMY
    with pytest.raises(cc.NoAnswer, match="LogisticMLE or SoftmaxMLE"):
        cc.existence(cc.HardMarginSVM(X, y))
    with pytest.raises(cc.NoAnswer, match="l2=0"):
        cc.existence(cc.LogisticMLE(X, y, l2=1.0))


def test_wrong_tendencies_are_refused():
    found = cc.existence(cc.LogisticMLE(*DUMMY))
    ways = ("finite", "unidentified", "+inf", "-inf", "either")
    for k, coefficient in enumerate(found.coefficients):
        for way in set(ways) - {coefficient.behaviour}:
            told = list(found.coefficients)
            told[k] = replace(coefficient, behaviour=way)
            assert not replace(found, coefficients=tuple(told)).verify()
    overlapping = replace(found.separation, kind="overlapping")
    assert not replace(found, separation=overlapping).verify()


def test_a_hundred_thousand_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 4))
    y = X @ [1.0, 2.0, 0.0, 1.0] + rng.logistic(size=len(X)) > 0
    dummy = rng.random(len(X)) < 0.05
    found = cc.existence(cc.LogisticMLE(np.column_stack([X, dummy]), y | dummy))
    assert found.infinite == {"x5": "+inf"}
    face = cc.LogisticMLE(X[~dummy], y[~dummy]).solve()
    assert np.allclose(list(found.finite.values()), [*face.coef, face.intercept], rtol=1e-7)
