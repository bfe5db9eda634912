"""Softmax regression: the block form, Newton on it, the dual of entropies, the gauge, existence for K classes."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import convexcls as cc
from convexcls.losses import BinaryEntropy, Logistic, SimplexEntropy, SoftmaxMargins
from convexcls.proofs.claims.direction import check_direction
from convexcls.proofs.verdict import certify
from convexcls.rows import ClassMarginRows, ConstantRows, JoinedRows, ScaledRows, as_rows, block_gram
from convexcls.solvers.smooth.newton import NewtonSolver

pytestmark = pytest.mark.by_block


def three_classes(n: int = 60, d: int = 3, K: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Samples of K classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(K, d)).T + rng.gumbel(size=(n, K))).argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y


X, Y = three_classes()
WEIGHTS = 0.5 + np.arange(len(Y)) % 3


# ---- the loss of several margins ---------------------------------------------------------------------------


def test_one_margin_is_the_logistic_loss():
    m = np.linspace(-40, 40, 81)
    one, logistic = SoftmaxMargins(1), Logistic()
    np.testing.assert_allclose(one.value(m), logistic.value(m), rtol=1e-15)
    np.testing.assert_allclose(one.slope(m), logistic.slope(m), rtol=1e-14)
    np.testing.assert_allclose(one.curvature(m).ravel(), logistic.curvature(m), rtol=1e-13)
    lam = np.linspace(0, 1, 11)
    np.testing.assert_allclose(SimplexEntropy(1).value(lam), BinaryEntropy(logistic).value(lam), atol=1e-15)


@pytest.mark.parametrize("loss", [SoftmaxMargins(3), SimplexEntropy(3)])
def test_slopes_and_curvatures_are_derivatives(loss):
    rng = np.random.default_rng(1)
    u = rng.normal(size=12) if isinstance(loss, SoftmaxMargins) else rng.dirichlet(np.ones(4), size=4)[:, 1:].ravel()
    step = 1e-6
    slopes, curvatures = loss.slope(u), loss.curvature(u)
    for k in range(u.size):
        up, down = (loss.value(u + sign * step * np.eye(u.size)[k]).sum() for sign in (1, -1))
        assert (up - down) / (2 * step) == pytest.approx(slopes[k], abs=1e-8)
        change = (loss.slope(u + step * np.eye(u.size)[k]) - loss.slope(u - step * np.eye(u.size)[k])) / (2 * step)
        group = slice(k // 3 * 3, k // 3 * 3 + 3)
        np.testing.assert_allclose(change[group], curvatures[k // 3][:, k % 3], rtol=1e-5, atol=1e-6)


@given(st.lists(st.floats(-30, 30), min_size=3, max_size=3), st.lists(st.floats(0.01, 1), min_size=4, max_size=4))
def test_fenchel_young(margins, weights):
    """loss(u) + psi(lam) >= -lam'u, with equality where -lam is the slope."""
    u, lam = np.array(margins), np.array(weights[1:]) / sum(weights)
    loss = SoftmaxMargins(3)
    psi = loss.conjugate
    assert loss.value(u)[0] + psi.value(lam)[0] >= -lam @ u - 1e-12
    tight = -loss.slope(u)
    assert loss.value(u)[0] + psi.value(tight)[0] == pytest.approx(-tight @ u, abs=1e-11)
    assert psi.conjugate == loss


def test_values_far_out_keep_their_digits():
    loss = SoftmaxMargins(2)
    assert loss.value(np.array([50.0, 60.0]))[0] == pytest.approx(np.exp(-50) + np.exp(-60), rel=1e-14)
    assert loss.value(np.array([-800.0, 900.0]))[0] == pytest.approx(800.0, rel=1e-15)
    assert np.isinf(SimplexEntropy(2).value(np.array([0.7, 0.4]))[0])
    assert SimplexEntropy(2).value(np.array([0.25, 0.75]))[0] == pytest.approx(-0.5623351446188083, rel=1e-14)


# ---- rows of margins -----------------------------------------------------------------------------------------


def margins_by_hand(X, classes, K):
    rows = []
    for x, c in zip(X, classes, strict=True):
        for k in range(K):
            if k != c:
                contrast = np.zeros(K)
                contrast[c], contrast[k] = 1.0, -1.0
                rows.append(np.kron(contrast, x))
    return np.array(rows)


@pytest.mark.parametrize("make", [as_rows, lambda a: as_rows(sparse.csr_array(a)), lambda a: as_rows(a).scaled(2.0)])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_margin_rows_are_a_matrix(make, K):
    rng = np.random.default_rng(K)
    base, classes = rng.normal(size=(9, 2)), np.arange(9) % K
    rows = ClassMarginRows(make(base), classes, K)
    by_hand = margins_by_hand(make(base).to_dense(), classes, K)
    v, u = rng.normal(size=(2 * K, 3)), rng.normal(size=(9 * (K - 1), 3))
    np.testing.assert_allclose(rows.to_dense(), by_hand)
    np.testing.assert_allclose(rows @ v, by_hand @ v)
    np.testing.assert_allclose(rows @ v[:, 0], by_hand @ v[:, 0])
    np.testing.assert_allclose(rows.T @ u, by_hand.T @ u)
    np.testing.assert_allclose(rows[3:7].to_dense(), by_hand[3:7])
    np.testing.assert_allclose(rows[np.array([5, 0])].to_dense(), by_hand[[5, 0]])
    np.testing.assert_allclose(abs(rows) @ np.abs(v), np.abs(by_hand) @ np.abs(v))
    np.testing.assert_allclose(rows.column_max(), np.abs(by_hand).max(axis=0))
    weights = rng.uniform(size=9 * (K - 1))
    np.testing.assert_allclose(rows.gram(weights), by_hand.T @ (weights[:, None] * by_hand), atol=1e-12)
    np.testing.assert_allclose(abs(rows).gram(weights), np.abs(by_hand).T @ (weights[:, None] * np.abs(by_hand)))


def test_block_gram_in_every_form():
    rng = np.random.default_rng(3)
    n, K, d = 7, 4, 2
    base, classes = rng.normal(size=(n, d)), np.arange(n) % K
    coef, one = ClassMarginRows(as_rows(base), classes, K), ClassMarginRows(ConstantRows(n), classes, K)
    joined = JoinedRows(n * (K - 1), K * (d + 1), [(slice(0, K * d), coef), (slice(K * d, K * (d + 1)), one)])
    scaled = ScaledRows(joined, rng.normal(size=n * (K - 1)), rng.normal(size=K * (d + 1)))
    half = rng.normal(size=(n, K - 1, K - 1))
    blocks = half @ np.swapaxes(half, 1, 2)
    for rows in (coef, joined, scaled, as_rows(joined.to_dense())):
        dense = rows.to_dense().reshape(n, K - 1, -1)
        expected = np.einsum("iap,iab,ibq->pq", dense, blocks, dense)
        np.testing.assert_allclose(block_gram(rows, blocks, rows), expected, rtol=1e-10, atol=1e-10)


def test_large_blocks_are_not_multiplied_out(monkeypatch):
    import convexcls.rows.class_margins as module

    monkeypatch.setattr(module, "MAX_MULTIPLIED_ENTRIES", 0)
    rng = np.random.default_rng(4)
    rows, half = as_rows(rng.normal(size=(12, 5))), rng.normal(size=(4, 3, 3))
    blocks, dense = half @ np.swapaxes(half, 1, 2), rows.to_dense().reshape(4, 3, 5)
    np.testing.assert_allclose(block_gram(rows, blocks, rows), np.einsum("iap,iab,ibq->pq", dense, blocks, dense))


# ---- answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_against_cvxpy_by_hand(l2, intercept, weights):
    import cvxpy as cp

    s = cc.SoftmaxMLE(X, Y, l2=l2, intercept=intercept, sample_weight=weights).solve()
    assert s.status == "optimal"
    W, b = cp.Variable((3, 3)), cp.Variable(3)
    z = X @ W.T + (np.ones((len(Y), 1)) @ cp.reshape(b, (1, 3), order="C") if intercept else 0)
    own = cp.sum(cp.multiply(z, np.eye(3)[Y]), axis=1)
    c = np.ones(len(Y)) if weights is None else weights
    objective = c @ (cp.log_sum_exp(z, axis=1) - own) + l2 / 2 * cp.sum_squares(W)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")
    assert s.objective == pytest.approx(value, rel=1e-6)
    found = W.value - W.value.mean(axis=0)
    np.testing.assert_allclose(s.coef, found, atol=1e-4)


def test_against_statsmodels():
    import statsmodels.api as sm

    s = cc.SoftmaxMLE(X, Y).solve()
    reference = sm.MNLogit(Y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-14)
    assert -s.objective == pytest.approx(reference.llf, rel=1e-12)
    np.testing.assert_allclose((s.coef[1:] - s.coef[0]).T, reference.params[1:], rtol=1e-9)
    np.testing.assert_allclose(s.intercept[1:] - s.intercept[0], reference.params[0], rtol=1e-9)


def test_against_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    s = cc.SoftmaxMLE(X, Y, l2=0.5).solve()
    reference = LogisticRegression(C=2.0, tol=1e-12, max_iter=10_000, solver="newton-cg").fit(X, Y)
    np.testing.assert_allclose(s.coef, reference.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(s.predict_proba(X), reference.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(s.predict(X), reference.predict(X))


@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_two_classes_are_logistic_regression(l2):
    y = (Y > 0).astype(int)
    softmax, logistic = cc.SoftmaxMLE(X, y, l2=l2).solve(), cc.LogisticMLE(X, y, l2=l2 / 2).solve()
    assert softmax.objective == pytest.approx(logistic.objective, rel=1e-13)
    np.testing.assert_allclose(softmax.coef[1] - softmax.coef[0], logistic.coef, rtol=1e-11)
    assert softmax.intercept[1] - softmax.intercept[0] == pytest.approx(logistic.intercept, rel=1e-11)
    np.testing.assert_allclose(softmax.predict_proba(X), logistic.predict_proba(X), rtol=1e-10)


def test_a_saturated_table_has_the_frequencies():
    """One column that is 0 or 1: the fitted probabilities are the frequencies, 1/6, 2/6, 3/6 and 1/2, 1/4, 1/4."""
    x = [[0.0]] * 6 + [[1.0]] * 4
    y = ["a", "b", "b", "c", "c", "c", "a", "a", "b", "c"]
    s = cc.SoftmaxMLE(x, y).solve()
    np.testing.assert_allclose(
        s.predict_proba([[0.0], [1.0]]), [[1 / 6, 1 / 3, 1 / 2], [1 / 2, 1 / 4, 1 / 4]], rtol=1e-12
    )
    assert s.predict([[0.0], [1.0]]).tolist() == ["c", "a"]
    dual = cc.SoftmaxMLE(x, y).dual().solve()
    expected = [[1 / 3, 1 / 2], [1 / 6, 1 / 2], [1 / 6, 1 / 2], *[[1 / 6, 1 / 3]] * 3, *[[1 / 4, 1 / 4]] * 2]
    np.testing.assert_allclose(dual.values["likelihood"].reshape(-1, 2)[:8], expected, rtol=1e-10)


def test_sparse_samples():
    s, dense = cc.SoftmaxMLE(sparse.csr_array(X), Y, l2=1.0).solve(), cc.SoftmaxMLE(X, Y, l2=1.0).solve()
    assert s.status == "optimal"
    np.testing.assert_allclose(s.coef, dense.coef, rtol=1e-12)


# ---- the gauge -----------------------------------------------------------------------------------------------------


def test_solutions_have_sum_zero_whatever_the_solver():
    p = cc.SoftmaxMLE(X, Y)
    for solver in ("newton", "dual:newton-kkt", "gradient"):
        s = p.solve(solver, tol=1e-5)
        assert s.status == "optimal", solver
        np.testing.assert_allclose(s.coef.sum(axis=0), 0, atol=1e-12)
        assert s.intercept.sum() == pytest.approx(0, abs=1e-12)


def test_penalised_coefficients_sum_to_zero_by_themselves():
    s = cc.SoftmaxMLE(X, Y, l2=0.1).solve()
    raw = s.values["coef"].reshape(3, -1)
    np.testing.assert_allclose(raw.sum(axis=0), 0, atol=1e-12)


def test_a_shift_of_all_scores_is_accepted_and_nothing_else():
    p = cc.SoftmaxMLE(X, Y)
    s = p.solve()
    moved = s.x + np.concatenate([np.tile([1.0, -2.0, 0.5], 3), np.full(3, 0.25)])
    assert certify(p, moved, {}, 1e-8).status == "optimal"
    only_one_class = s.x + np.concatenate([[1e-5], np.zeros(s.x.size - 1)])
    assert certify(p, only_one_class, {}, 1e-8).status == "undecided"


def test_uniqueness_is_up_to_the_gauge():
    assert cc.SoftmaxMLE(X, Y).solve().uniqueness.unique
    repeated = np.column_stack([X, X[:, 0]])
    assert not cc.SoftmaxMLE(repeated, Y).solve().uniqueness.unique
    assert "have sum zero" in cc.SoftmaxMLE(X, Y).explain()


# ---- existence -------------------------------------------------------------------------------------------------------

LINE = np.arange(6.0)[:, None]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (LINE, [0, 0, 1, 1, 2, 2]),  # complete separation
        (LINE, [0, 1, 0, 1, 2, 2]),  # only one class apart
        (np.array([[0.0], [1], [1], [2], [2], [3]]), [0, 0, 1, 1, 2, 2]),  # classes touch
        (np.array([[0.0, 1], [1, 0], [1, 1], [5, 5], [6, 6], [0, 0]]), [0, 1, 2, 3, 3, 0]),
    ],
)
def test_separation_is_proved(x, y):
    s = cc.SoftmaxMLE(x, y).solve()
    assert s.status == "unattained"
    direction = s.certificate.direction
    assert check_direction(s.problem, direction.x) is not None
    d = direction.x
    K, size = len(set(y)), x.shape[1]
    scores = x @ d[: K * size].reshape(K, size).T + d[K * size :]
    margins = np.take_along_axis(scores, np.array(y)[:, None], axis=1) - scores
    assert margins.min() >= -1e-9
    assert margins.max() > 0
    assert cc.SoftmaxMLE(x, y, l2=1e-3).solve().status == "optimal"


def separable(x: np.ndarray, y: np.ndarray) -> bool:
    """By an independent linear program: whether some direction leaves no margin smaller and makes one larger."""
    from scipy.optimize import linprog

    K, rows = int(y.max()) + 1, []
    for xi, c in zip(np.column_stack([x, np.ones(len(x))]), y, strict=True):
        for k in range(K):
            if k != c:
                contrast = np.eye(K)[c] - np.eye(K)[k]
                rows.append(np.kron(contrast, xi))
    A = np.array(rows)
    found = linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=[(-1, 1)] * A.shape[1], method="highs")
    return bool(found.fun < -1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_on_small_integers(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))
    x, y = rng.integers(-2, 3, size=(n, 2)).astype(float), rng.integers(0, 3, size=n)
    y[:3] = [0, 1, 2]
    s = cc.SoftmaxMLE(x, y).solve()
    assert s.status == ("unattained" if separable(x, y) else "optimal"), s.certificate.reason


def test_both_verdicts_occur():
    found = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 12))
        x, y = rng.integers(-2, 3, size=(n, 2)).astype(float), rng.integers(0, 3, size=n)
        y[:3] = [0, 1, 2]
        found.add(separable(x, y))
    assert found == {True, False}


# ---- what the core's models pass, too --------------------------------------------------------------------------------


@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_dual_and_back(l2):
    p = cc.SoftmaxMLE(X, Y, l2=l2, sample_weight=WEIGHTS)
    dual, s = p.dual(), p.solve()
    assert dual.dual() == p
    solved = dual.solve()
    assert solved.status == "optimal"
    assert solved.objective == pytest.approx(s.objective, rel=1e-10)
    back = solved.primal()
    assert back.status == "optimal"
    np.testing.assert_allclose(back.coef, s.coef, atol=1e-7)
    lam = solved.values["likelihood"].reshape(len(Y), 2) / WEIGHTS[:, None]
    others = np.array([[k for k in range(3) if k != c] for c in Y])
    np.testing.assert_allclose(lam, np.take_along_axis(s.predict_proba(X), others, axis=1), atol=1e-7)


def test_zero_weights_have_no_say():
    weights = np.where(np.arange(len(Y)) < 50, 1.0, 0.0)
    s, fewer = cc.SoftmaxMLE(X, Y, l2=0.3, sample_weight=weights).solve(), cc.SoftmaxMLE(X[:50], Y[:50], l2=0.3).solve()
    np.testing.assert_allclose(s.coef, fewer.coef, rtol=1e-10)
    assert cc.SoftmaxMLE(X, Y, l2=0.3, sample_weight=weights).dual().solve().objective == pytest.approx(fewer.objective)


@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_every_nudge_is_refused(l2):
    p = cc.SoftmaxMLE(X, Y, l2=l2)
    s = p.solve()
    null = p.null_directions
    for k, sign in itertools.product(range(p.size), (1, -1)):
        nudge = sign * 1e-5 * np.eye(p.size)[k]
        assert np.linalg.norm(nudge - np.linalg.pinv(null) @ (null @ nudge)) > 0
        assert certify(p, s.x + nudge, {}, 1e-8).status == "undecided"
    assert certify(p, -s.x, {}, 1e-8).status == "undecided"
    assert certify(p, np.roll(s.x, 1), {}, 1e-8).status == "undecided"


@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_changes_of_the_data(l2):
    s = cc.SoftmaxMLE(X, Y, l2=l2).solve()
    order = np.random.default_rng(2).permutation(len(Y))
    np.testing.assert_allclose(cc.SoftmaxMLE(X[order], Y[order], l2=l2).solve().coef, s.coef, rtol=1e-9, atol=1e-9)
    renamed = np.array([2, 0, 1])
    np.testing.assert_allclose(cc.SoftmaxMLE(X, renamed[Y], l2=l2).solve().coef[renamed], s.coef, rtol=1e-9, atol=1e-9)
    scaled = cc.SoftmaxMLE(X * 1024.0, Y, l2=l2 * 1024.0**2).solve()
    np.testing.assert_allclose(scaled.coef * 1024.0, s.coef, rtol=1e-9, atol=1e-9)
    assert scaled.objective == pytest.approx(s.objective, rel=1e-12)
    doubled = cc.SoftmaxMLE(np.vstack([X, X]), np.tile(Y, 2), l2=2 * l2).solve()
    np.testing.assert_allclose(doubled.coef, s.coef, rtol=1e-9, atol=1e-9)
    assert doubled.objective == pytest.approx(2 * s.objective, rel=1e-12)
    if not l2:
        moved = cc.SoftmaxMLE(X + 3.0, Y).solve()
        np.testing.assert_allclose(moved.coef, s.coef, rtol=1e-8, atol=1e-8)


def test_features_of_very_different_size():
    sizes = np.array([1e6, 1.0, 1e-6])
    s, plain = cc.SoftmaxMLE(X * sizes, Y).solve(), cc.SoftmaxMLE(X, Y).solve()
    assert s.status == "optimal"
    np.testing.assert_allclose(s.coef * sizes, plain.coef, rtol=1e-7, atol=1e-9)


def test_bad_input():
    with pytest.raises(cc.DataError, match="one label only"):
        cc.SoftmaxMLE(X, np.zeros(len(Y)))
    with pytest.raises(cc.DataError, match="look like real targets"):
        cc.SoftmaxMLE(X, np.random.default_rng(0).normal(size=len(Y)))
    with pytest.raises(ValueError, match="l2"):
        cc.SoftmaxMLE(X, Y, l2=-1.0)
    with pytest.raises(cc.NoAnswer, match="margins"):
        _ = cc.SoftmaxMLE(X, Y).solve().margins


def test_the_point_shown_is_the_one_certified():
    """With features near 2^54 a rounding of a coefficient moves a score by 1/10: classes are not centred again."""
    base = 2**54
    near = [[2, 61, -5, -6], [20, 32, 14, 4], [14, -9, 6, 0], [18, 4, 68, 49]]
    s = cc.SoftmaxMLE([[Fraction(base + v) for v in row] for row in near], [0, 1, 0, 1], l2=1e4).solve()
    np.testing.assert_array_equal(s.coef.ravel(), s.values["coef"])
    np.testing.assert_array_equal(s.intercept, s.values["intercept"])


@dataclass(frozen=True)
class Shifted(NewtonSolver):
    """Answers with all classes shifted together."""

    def solve(self, problem, tol, callback=None):
        answer = super().solve(problem, tol, callback)
        by_class = answer.x[: problem.variable("coef").size].reshape(3, -1)
        by_class += np.arange(by_class.shape[1])
        return answer


def test_an_answer_out_of_the_gauge_is_put_there_before_it_is_judged(monkeypatch):
    monkeypatch.setattr("convexcls.job.made", lambda given: Shifted())
    s = cc.SoftmaxMLE(X, Y).solve("newton")
    assert s.status == "optimal"
    assert np.abs(s.coef.sum(axis=0)).max() < 1e-12
    np.testing.assert_array_equal(s.coef.ravel(), s.values["coef"])
