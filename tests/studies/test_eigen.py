"""The generalised eigenproblem of given matrices: against hand calculations, and its bounds against rationals."""

from fractions import Fraction

import numpy as np
import pytest

import convexcls as cc


def test_the_ratios_are_those_of_a_calculation_by_hand():
    # W = diag(2, 1): with a = (u/sqrt 2, v) the quotient is that of [[2, sqrt 2], [sqrt 2, 1]]: eigenvalues 3 and 0
    found = cc.eigenproblem([[4, 2], [2, 1]], [[2, 0], [0, 1]])
    np.testing.assert_allclose(found.ratios, [3.0, 0.0], atol=1e-14)
    a = found.directions[0]
    assert a @ np.diag([2.0, 1.0]) @ a == pytest.approx(1.0)
    assert abs(a[0] / a[1]) == pytest.approx(1.0)  # W^-1 B a = 3 a: (2 a1 + a2, 2 a1 + a2) = 3 (a1, a2)
    assert found.lower <= 3 <= found.upper
    assert found.holds()


@pytest.mark.parametrize("seed", range(6))
def test_no_direction_has_a_quotient_above_the_upper_bound(seed):
    rng = np.random.default_rng(seed)
    d = 2 + seed
    half, other = rng.normal(size=(d, d)), rng.normal(size=(d, d + 3)) * 10.0 ** rng.integers(-3, 4, size=(d, 1))
    B, W = half + half.T, other @ other.T  # B of both signs
    found = cc.eigenproblem(B, W)
    np.testing.assert_allclose(
        B @ found.directions.T, W @ found.directions.T * found.ratios, atol=1e-7 * np.abs(B).max()
    )
    pencil = np.linalg.eigvals(np.linalg.solve(W, B)).real
    np.testing.assert_allclose(np.sort(found.ratios), np.sort(pencil), rtol=1e-6, atol=1e-8 * np.abs(pencil).max())
    assert found.holds()
    size = Fraction(float(np.abs(found.ratios).max()))
    for near in (*found.directions, *rng.normal(size=(20, d))):
        a = [Fraction(v) for v in near.tolist()]
        over = [
            [found.upper * Fraction(w) - Fraction(b) for w, b in zip(*rows, strict=True)]
            for rows in zip(W, B, strict=True)
        ]
        assert sum(a[i] * a[j] * over[i][j] for i in range(d) for j in range(d)) >= 0
    assert found.upper - found.lower <= size / 10**8


def test_the_scatter_of_classes_gives_fishers_direction():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    X[y == 1] += [2, 0, 1]
    means = np.array([X[y == k].mean(0) for k in (0, 1)])
    centred = X - means[y]
    apart = means[1] - means[0]
    found = cc.eigenproblem(np.outer(apart, apart) * 7.5, centred.T @ centred)  # n1 n2 / n = 7.5
    fisher = cc.FisherLDA(X, y).solve()
    ratio = found.directions[0] / fisher.coef
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    assert found.ratios[0] == pytest.approx(fisher.estimates.ratios[0])


@pytest.mark.parametrize(
    ("B", "W", "told"),
    [
        ([[1, 0], [0, 1]], [[1, 1], [1, 1]], "W is not positive definite"),
        ([[1, 0], [0, 1]], [[1, 0], [0, -1]], "W is not positive definite"),
        ([[1, 2], [0, 1]], [[1, 0], [0, 1]], "B is not symmetric: row 1, column 0"),
        ([[1, 2, 3], [0, 1, 2]], [[1, 0], [0, 1]], "give a square matrix"),
        ([[1]], [[1, 0], [0, 1]], "of one size"),
    ],
)
def test_matrices_that_make_no_problem_are_refused(B, W, told):
    with pytest.raises(ValueError, match=told):
        cc.eigenproblem(B, W)
