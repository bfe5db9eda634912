"""Rules of lecture notes for least squares and Fisher's discriminant, and each two classes against each other: against
the formulas of the notes."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import convexcls as cc
from convexcls.data import DataError

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 2)) * [1.0, 3.0]
X[25:] += [2.0, 1.0]
LABELS = ("a", "b")
Y = np.array(["a"] * 25 + ["b"] * 15)


# ---- exercise 4.2 ---------------------------------------------------------------------------------------------


def test_targets_by_counts_are_those_of_the_exercise():
    s = cc.LeastSquares(X, Y, coding="counts").solve()
    t = np.where(LABELS[0] == Y, -40 / 25, 40 / 15)
    *coef, intercept = np.linalg.lstsq(np.column_stack([X, np.ones(40)]), t, rcond=None)[0]
    np.testing.assert_allclose(s.coef, coef)
    assert s.intercept == pytest.approx(intercept)
    np.testing.assert_allclose(s.fitted_values(X), X @ coef + intercept)
    means = [X[k == Y].mean(0) for k in LABELS]
    scatter = sum((X[k == Y] - m).T @ (X[k == Y] - m) for k, m in zip(LABELS, means, strict=True))
    ratio = s.coef / np.linalg.solve(scatter, means[1] - means[0])
    assert ratio[0] == pytest.approx(ratio[1])  # parallel to Fisher's


def test_counts_are_weights_and_exact_thirds():
    weights = np.where(LABELS[0] == Y, 2.0, 1.0)
    s = cc.LeastSquares(X, Y, coding="counts", sample_weight=weights).solve()
    twice = cc.LeastSquares(np.vstack([X, X[:25]]), np.append(Y, Y[:25]), coding="counts").solve()
    np.testing.assert_allclose(s.coef, twice.coef)
    exact = cc.LeastSquares([[0], [1], [2]], [0, 0, 1], coding="counts").solve(level="exact").certificate
    assert [*map(str, (*exact.coef, exact.intercept))] == ["9/4", "-9/4"]  # of -3/2, -3/2, 3
    assert str(exact.optimum) == "27/16"  # residuals 3/4, -3/2, 3/4


# ---- where Fisher's projection is cut -------------------------------------------------------------------------


def projected(cut):
    s = cc.FisherLDA(X, Y, cut=cut).solve()
    z = X @ s.coef
    return s, z[:25], z[25:]


def test_the_midpoint_is_that_of_the_means():
    s, first, second = projected("midpoint")
    assert -s.intercept == pytest.approx((first.mean() + second.mean()) / 2)


def test_densities_are_equal_at_the_cut():
    s, first, second = projected("equal-densities")
    crossing = brentq(
        lambda t: norm.logpdf(t, first.mean(), first.std()) - norm.logpdf(t, second.mean(), second.std()),
        first.mean(),
        second.mean(),
    )
    assert -s.intercept == pytest.approx(crossing)
    same = np.array([[0.0], [2.0], [5.0], [7.0]])  # equal spreads: the midpoint
    assert cc.FisherLDA(same, [0, 0, 1, 1], cut="equal-densities").solve().predict([[3.4], [3.6]]).tolist() == [0, 1]


def test_no_cut_makes_fewer_errors():
    s, first, second = projected("fewest-errors")

    def errors(t):
        return (first > t).sum() + (second <= t).sum()

    every = np.sort(np.concatenate([first, second]))
    assert errors(-s.intercept) == min(errors(t) for t in (every[1:] + every[:-1]) / 2)


def test_cuts_that_are_none_are_refused_by_name():
    with pytest.raises(ValueError, match=r"did you mean 'midpoint'"):
        cc.FisherLDA(X, Y, cut="midpont")
    with pytest.raises(ValueError, match="is for two classes"):
        cc.FisherLDA(X, np.arange(40) % 3, cut="midpoint")
    within = cc.FisherLDA([[-5.0], [5.0], [-49.0], [51.0]], [0, 0, 1, 1], cut="equal-densities").solve()
    with pytest.raises(cc.NoAnswer, match="do not cross between the means"):
        _ = within.intercept


def test_a_cut_goes_into_the_certificate():
    s = cc.FisherLDA(X, Y, cut="midpoint").solve()
    assert cc.verify(s.certificate.to_json(), X, Y).accepted


@pytest.mark.parametrize("offset", [0.0, 0.1, 5.0])
def test_equal_means_have_no_direction(offset):
    first, second = rng.normal(size=(10, 2)), rng.normal(size=(12, 2)) * 3
    table = np.vstack([first - first.mean(0), second - second.mean(0)]) + offset
    with pytest.raises(DataError, match="no direction"):
        cc.FisherLDA(table, [0] * 10 + [1] * 12)


def test_exactly_equal_means_are_proved_to_have_no_direction():
    cross = [[1, 0], [-1, 0], [0, 1], [0, -1], [2, 0], [-2, 0], [0, 2], [0, -2]]
    s = cc.FisherLDA(cross, [0] * 4 + [1] * 4).solve()
    assert s.status == "infeasible"
    assert "has no direction" in " ".join(s.certificate.explain().split())


def test_means_that_differ_a_little_have_a_direction():
    far = np.array([[0.0, 0.0], [2.0, 1.0], [1.0, 3.0], [0.0, 0.0], [2.0, 1.0], [1.0, 3.0]]) + 2.0**30
    far[3:] += 2.0**-20  # exact in doubles, and 1e-16 of the size of the entries
    assert cc.FisherLDA(far, [0] * 3 + [1] * 3).solve().status == "optimal"


# ---- one against one ------------------------------------------------------------------------------------------

SEVERAL = np.array(["u", "v", "w", "x"])[np.arange(40) % 4]


@pytest.mark.parametrize("estimator", [cc.SoftMarginSVC, cc.LogisticClassifier, cc.LeastSquaresClassifier])
def test_each_two_classes_have_a_program_and_vote(estimator):
    from sklearn.multiclass import OneVsOneClassifier

    own = estimator(multi_class="ovo").fit(X, SEVERAL)
    other = OneVsOneClassifier(estimator()).fit(X, SEVERAL)
    np.testing.assert_allclose(own.decision_function(X), other.decision_function(X), atol=1e-12)
    assert own.predict(X).tolist() == other.predict(X).tolist()
    assert own.coef_.shape == (6, 2)
    votes = np.zeros((40, 4))  # from the formula: each program has one vote
    for row, shift, (j, k) in zip(own.coef_, own.intercept_, combinations(range(4), 2), strict=True):
        votes[np.arange(40), np.where(X @ row + shift > 0, k, j)] += 1
    assert np.all(votes[np.arange(40), own.decision_function(X).argmax(1)] == votes.max(1))
    assert all(c.status == "optimal" for c in own.certificate_)


def test_supports_are_rows_of_the_whole_table():
    from sklearn.svm import SVC

    own = cc.KernelSVC(kernel="rbf", gamma=0.5, multi_class="ovo").fit(X, SEVERAL)
    svc = SVC(kernel="rbf", gamma=0.5, decision_function_shape="ovo", tol=1e-9).fit(X, SEVERAL)
    pairs = np.column_stack([s.decision_function(X) for s in own.solution_])
    np.testing.assert_allclose(pairs, -svc.decision_function(X), atol=1e-6)
    assert set(np.concatenate(own.support_)) == set(svc.support_)


def test_votes_are_no_probabilities_and_kernel_matrices_have_no_pairs():
    with pytest.raises(cc.NoAnswer, match="votes, no probabilities"):
        cc.LogisticClassifier(multi_class="ovo").fit(X, SEVERAL).predict_proba(X)
    with pytest.raises(ValueError, match="takes no kernel matrix"):
        cc.KernelSVC(kernel="precomputed", multi_class="ovo").fit(X @ X.T, SEVERAL)
    separable = cc.HardMarginSVC(multi_class="ovo")
    with pytest.raises(cc.NotSeparableError, match="class 'u'"):
        separable.fit(X, SEVERAL)


# ---- what was said wrongly ------------------------------------------------------------------------------------


def test_a_criterion_without_a_normalization_says_that_no_hyperplane_separates():
    told = cc.PerceptronCriterion([[1, 1], [-1, -1], [1, -1], [-1, 1]], [0, 0, 1, 1]).solve().certificate.explain()
    assert "no hyperplane has all samples on their right side or on it, and one of them off it" in " ".join(
        told.split()
    )


def test_options_are_shown_as_they_are_typed():
    with pytest.raises(TypeError, match=r"its options are: max_iter=None, time_limit=None, raw=\{\}"):
        cc.load("twenty_points").solve("cvxpy:OSQP", eps=1e-3)


def test_a_rescaled_pair_is_not_the_given_one():
    p = cc.load("twenty_points")
    s = p.solve()
    told = cc.certify((s.coef / 2, s.intercept / 2), p.data.matrix, p.data.signs, model="hard-margin").explain()
    assert "violate the constraints" in told
    assert "not the fit itself" in told


def test_a_pickle_votes_without_the_samples():
    import pickle

    table = np.vstack([X] * 50)
    own = cc.SoftMarginSVC(multi_class="ovo").fit(table, np.tile(SEVERAL, 50))
    text = pickle.dumps(own)
    assert len(text) < 50_000
    assert pickle.loads(text).predict(X).tolist() == own.predict(X).tolist()
