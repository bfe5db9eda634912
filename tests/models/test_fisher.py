"""Fisher's discriminant: several classes, the eigenproblem with its proof, the threshold, least squares."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import convexcls as cc

pytestmark = pytest.mark.by_block


def classes(K: int = 4, n: int = 80, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * rng.normal(size=(K, d))[y], y


X, Y = classes()


def scatters(X, y):
    means = np.array([X[y == k].mean(axis=0) for k in range(y.max() + 1)])
    centred, spread = X - means[y], means[y] - X.mean(axis=0)
    return centred.T @ centred, spread.T @ spread


@pytest.mark.parametrize("K", [2, 3, 4, 6])
def test_the_directions_solve_the_eigenproblem(K):
    x, y = classes(K, d=5, seed=K)
    s = cc.FisherLDA(x, y).solve()
    assert s.status == "optimal"
    e = s.estimates
    W, B = scatters(x, y)
    values, vectors = scipy.linalg.eigh(B, W)
    r = min(K - 1, 5)
    assert e.directions.shape == (r, 5)
    np.testing.assert_allclose(e.ratios, values[::-1][:r], rtol=1e-9)
    for mine, theirs in zip(e.directions, vectors[:, ::-1].T, strict=False):
        np.testing.assert_allclose(mine * np.sign(mine @ W @ theirs), theirs, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(e.directions @ W @ e.directions.T, np.eye(r), atol=1e-10)
    assert e.holds(1e-9)


def test_no_direction_has_a_larger_quotient():
    s, (W, B) = cc.FisherLDA(X, Y).solve(), scatters(X, Y)
    best = s.estimates.ratios[0]
    rng = np.random.default_rng(1)
    for v in rng.normal(size=(200, 5)):
        assert v @ B @ v / (v @ W @ v) <= best * (1 + 1e-12)
    assert np.linalg.eigvalsh(best * W - B)[0] >= -1e-9 * best * np.linalg.eigvalsh(W)[-1]


def test_the_proof_refuses_a_direction_that_is_not_the_best():
    from convexcls.models.fisher import discriminants

    p = cc.FisherLDA(X, Y)
    counts = np.bincount(Y).astype(float)
    assert not discriminants(p.centred, counts, np.eye(5)[:3]).holds(1e-6)  # the wrong subspace
    assert discriminants(p.centred, counts, np.eye(5)).ratios[:3] == pytest.approx(p.solve().estimates.ratios)


def test_two_classes_reach_the_quotient_of_the_dual_bound():
    x, y = classes(2)
    s = cc.FisherLDA(x, y).solve()
    W, _ = scatters(x, y)
    difference = x[y == 1].mean(axis=0) - x[y == 0].mean(axis=0)
    J = (s.coef @ difference) ** 2 / (s.coef @ W @ s.coef)
    assert pytest.approx(1 / (2 * s.dual_objective), rel=1e-10) == J
    assert pytest.approx(difference @ np.linalg.solve(W, difference), rel=1e-10) == J
    assert s.estimates.ratios[0] == pytest.approx(J * 40 * 40 / 80, rel=1e-10)


@pytest.mark.parametrize("K", [3, 4])
def test_several_classes_have_a_dual_and_come_back(K):
    x, y = classes(K)
    p = cc.FisherLDA(x, y)
    assert p.dual().dual() == p
    s = p.dual().solve()
    assert s.status == "optimal"
    assert s.objective == pytest.approx(p.solve().objective, rel=1e-10)
    back = s.primal()
    assert back.status == "optimal"
    np.testing.assert_allclose(np.abs(back.coef), np.abs(p.solve().coef), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("solver", ["closed-form", "clarabel", "osqp", "cvxpy:CLARABEL"])
def test_every_solver_finds_the_directions(solver):
    p = cc.FisherLDA(X, Y)
    s = p.solve(solver, tol=1e-5)
    assert s.status == "optimal"
    np.testing.assert_allclose(s.estimates.ratios, p.solve().estimates.ratios, rtol=1e-5)


def test_nearest_mean_is_discriminant_analysis_with_equal_priors():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    s = cc.FisherLDA(X, Y).solve()
    reference = LinearDiscriminantAnalysis(priors=[1 / 4] * 4).fit(X, Y)
    np.testing.assert_array_equal(s.predict(X), reference.predict(X))
    assert s.decision_function(X).shape == (80, 4)


@pytest.mark.parametrize("coding", ["pm1", "01"])
def test_least_squares_is_parallel(coding):
    for seed in range(5):
        x, y = classes(2, n=31, seed=seed)
        fisher, squares = cc.FisherLDA(x, y).solve().coef, cc.LeastSquares(x, y, coding=coding).solve().coef
        np.testing.assert_allclose(fisher / np.linalg.norm(fisher), squares / np.linalg.norm(squares), atol=1e-11)


def test_least_squares_on_indicators_spans_the_same_subspace():
    """ESL exercise 4.2 for several classes: the coefficients of one least-squares fit a class."""
    s = cc.FisherLDA(X, Y).solve()
    fits = np.array([cc.LeastSquares(X, (k == Y).astype(float), coding="real").solve().coef for k in range(4)])
    assert np.linalg.matrix_rank(np.vstack([fits, s.coef]), tol=1e-9) == 3
    projector = np.linalg.pinv(s.coef) @ s.coef
    np.testing.assert_allclose(fits @ projector, fits, atol=1e-10)


def test_the_threshold_makes_the_fewest_errors():
    for seed in range(10):
        x, y = classes(2, n=25, d=2, seed=seed)
        s = cc.FisherLDA(x, y).solve()
        errors = int((s.predict(x) != y).sum())
        places = x @ s.coef
        tried = np.concatenate([places - 1e-9, places + 1e-9])
        assert errors == min(int(((places > t) != (y == 1)).sum()) for t in tried)


def test_fewer_directions_where_the_means_are_in_line():
    x, y = classes(4, d=2)
    assert cc.FisherLDA(x, y).solve().coef.shape == (2, 2)
    one = cc.FisherLDA(x[:, :1], y).solve()
    assert one.coef.shape == (1, 1)
    np.testing.assert_array_equal(
        one.predict(x[:, :1]), np.abs(x[:, :1] - [x[y == k, 0].mean() for k in range(4)]).argmin(axis=1)
    )


def test_no_scatter_has_no_quotient():
    s = cc.FisherLDA([[0.0], [0.0], [1.0], [1.0], [2.0], [2.0]], [0, 0, 1, 1, 2, 2]).solve()
    assert s.objective == 0
    with pytest.raises(cc.NoAnswer, match="no scatter"):
        _ = s.estimates


def test_equal_means_are_infeasible():
    s = cc.FisherLDA([[0.0], [2.0], [1.0], [1.0], [0.5], [1.5]], [0, 0, 1, 1, 2, 2]).solve()
    assert s.status == "infeasible"


def test_renamed_and_permuted():
    s = cc.FisherLDA(X, Y).solve()
    order = np.random.default_rng(0).permutation(len(Y))
    permuted = cc.FisherLDA(X[order], Y[order]).solve()
    np.testing.assert_allclose(permuted.coef, s.coef, rtol=1e-8, atol=1e-10)
    renamed = cc.FisherLDA(X * 64.0, np.array([3, 1, 0, 2])[Y]).solve()
    np.testing.assert_allclose(renamed.coef * 64.0, s.coef, rtol=1e-8, atol=1e-10)


def test_every_nudge_is_refused():
    from convexcls.proofs.verdict import certify

    p = cc.FisherLDA(X, Y)
    s = p.solve()
    for k in range(p.size):
        for change in (1e-5, -1e-5):
            moved = s.x.copy()
            moved[k] += change * np.abs(s.x).max()
            assert certify(p, moved, s.multipliers, 1e-8).status == "undecided"
    for name, nu in s.multipliers.items():
        for k in range(nu.size):
            nudged = nu.copy()
            nudged[k] += 1e-5 * np.abs(nu).max()
            assert certify(p, s.x, {**s.multipliers, name: nudged}, 1e-8).status == "undecided"


def test_a_feature_with_equal_means_does_not_spoil_the_proof():
    x = [
        [-1, 2, -1],
        [2, 0, -2],
        [0, -2, -1],
        [0, 2, 2],
        [-2, 1, 1],
        [-1, -2, 0],
        [-2, 2, -1],
        [1, 2, 0],
        [1, 0, 2],
        [1, -2, -1],
        [1, 0, 0],
    ]
    assert cc.FisherLDA(x, [0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0]).solve().estimates.holds()


def test_a_quotient_without_bound_is_not_a_number():
    x = [
        [2, -2, -2, -2],
        [1, -1, -2, -2],
        [2, 0, -2, -1],
        [1, -1, 1, -1],
        [1, -2, 2, 1],
        [0, 1, -2, 1],
        [0, -2, -2, 0],
        [1, 1, -2, -2],
        [-1, -1, -2, -2],
    ]
    with pytest.raises(cc.NoAnswer, match="no scatter"):
        _ = cc.FisherLDA(x, [0, 1, 2, 3, 4, 1, 0, 0, 1]).solve().estimates
