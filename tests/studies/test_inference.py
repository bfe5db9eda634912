"""Standard errors, tests and intervals: against statsmodels, NIST and exact values; and when there are none."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import convexcls as cc
from convexcls.studies.inference.standard_errors import _root
from convexcls.studies.inference.summary import both_sides, chi_squared_tail, f_tail, quantile
from tests.datasets import overlapping

sm = pytest.importorskip("statsmodels.api")

#: Newton's method in 60 digits: coefficients (30 shown in the gallery) and their standard errors, intercept last.
SPECTOR = (
    "2.82611259488932088432072334672",
    "0.0951576613179092866427740964389",
    "2.37868765509335448560481847861",
    "-13.021346858115688709633400613",
)
SPECTOR_ERRORS = ("1.2629410756290923059", "0.14155420567369473988", "1.0645642544971329736", "4.9313242136027580601")

#: NIST StRD, certified: standard deviations of the estimates (intercept first), R-squared, F.
NIST = {
    "norris": (("0.232818234301152", "0.429796848199937E-03"), "0.999993745883712", "5436385.54079785"),
    "longley": (
        (
            "890420.383607373",
            "84.9149257747669",
            "0.334910077722432E-01",
            "0.488399681651699",
            "0.214274163161675",
            "0.226073200069370",
            "455.478499142212",
        ),
        "0.995479004577296",
        "330.285339234588",
    ),
    "wampler3": (
        (
            "2152.32624678170",
            "2363.55173469681",
            "779.343524331583",
            "101.475507550350",
            "5.64566512170752",
            "0.112324854679312",
        ),
        "0.999995559025820",
        "675524.458240122",
    ),
    "wampler4": (
        (
            "215232.624678170",
            "236355.173469681",
            "77934.3524331583",
            "10147.5507550350",
            "564.566512170752",
            "11.2324854679312",
        ),
        "0.957478440825662",
        "67.5524458240122",
    ),
    "wampler5": (
        (
            "21523262.4678170",
            "23635517.3469681",
            "7793435.24331583",
            "1014755.07550350",
            "56456.6512170752",
            "1123.24854679312",
        ),
        "0.224668921574940E-02",
        "6.7552445824012241E-03",
    ),
}


def close(mine, theirs, rtol):
    np.testing.assert_allclose(np.asarray(mine, float), np.asarray(theirs, float), rtol=rtol, atol=0)


def classes(n=150, d=3, count=4, seed=1):
    """Samples in columns of very different size, with labels of a softmax model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = 0.7 * X @ rng.normal(size=(count, d)).T
    cumulated = np.cumsum(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), axis=1)
    y = (rng.uniform(size=(n, 1)) > cumulated).sum(axis=1)
    return X * np.array([1.0, 100.0, 1e-3])[:d], y


def logit(X, y):
    return sm.Logit(y, X).fit(method="newton", tol=1e-14, disp=0)


# ---- logistic -------------------------------------------------------------------------------------------


def test_spector_to_the_last_digits():
    s = cc.load("spector").solve()
    close(np.append(s.coef, s.intercept), [float(v) for v in SPECTOR], 1e-12)
    m = s.summary()
    close(m.standard_errors, [float(v) for v in SPECTOR_ERRORS], 1e-13)
    assert [c.name for c in m.coefficients] == ["gpa", "tuce", "psi", "intercept"]


def test_spector_as_statsmodels_has_it():
    s = cc.load("spector").solve()
    m, r = s.summary(), logit(sm.add_constant(s.data.matrix, prepend=False), s.data.classes)
    close(m.standard_errors, r.bse, 1e-9)
    close(m.covariance, r.cov_params(), 1e-9)
    close([c.statistic for c in m.coefficients], r.tvalues, 1e-9)
    close([c.p_value for c in m.coefficients], r.pvalues, 1e-9)
    close([(c.low, c.high) for c in m.coefficients], r.conf_int(), 1e-9)
    close(
        [m.log_likelihood, m.null_log_likelihood, m.aic, m.bic, m.r_squared, m.test.statistic, m.test.p_value],
        [r.llf, r.llnull, r.aic, r.bic, r.prsquared, r.llr, r.llr_pvalue],
        1e-9,
    )
    assert (m.n, m.df_model, m.df_residual) == (32, r.df_model, r.df_resid)
    assert m.deviance == -2 * m.log_likelihood


def test_the_saturated_logistic_has_its_errors_in_closed_form():
    """One binary feature: the log-odds ratio of a 2 x 2 table with variance 1/a + 1/b + 1/c + 1/d (Woolf 1955)."""
    table = {(0, 0): 7, (0, 1): 3, (1, 0): 4, (1, 1): 11}
    X, y = [[x] for (x, _) in table], [label for (_, label) in table]
    m = cc.LogisticMLE(X, y, sample_weight=list(table.values())).solve().summary()
    close(m["x1"].estimate, math.log(7 * 11 / (3 * 4)), 1e-13)
    close(m["x1"].standard_error, math.sqrt(sum(Fraction(1, k) for k in table.values())), 1e-13)
    close(m["intercept"].standard_error, math.sqrt(Fraction(1, 7) + Fraction(1, 3)), 1e-13)
    assert (m.n, m.df_residual) == (25, 23)
    assert any("seen twice" in note for note in m.notes)


def test_weights_are_repetitions():
    X, y = overlapping(40, 2)
    weights = 1 + np.arange(40) % 3
    weights[5] = 0
    weighted = cc.LogisticMLE(X, y, sample_weight=weights).solve().summary()
    repeated = cc.LogisticMLE(np.repeat(X, weights, axis=0), np.repeat(y, weights)).solve().summary()
    close(weighted.covariance, repeated.covariance, 1e-11)
    for name in ("n", "df_model", "df_residual", "log_likelihood", "null_log_likelihood", "aic", "bic", "r_squared"):
        close(getattr(weighted, name), getattr(repeated, name), 1e-12)


def test_columns_of_very_different_size_keep_their_digits():
    X, y = overlapping(60, 3)
    units = np.array([1e-9, 1.0, 1e7])
    plain, scaled = cc.LogisticMLE(X, y).solve().summary(), cc.LogisticMLE(X * units, y).solve().summary()
    close(scaled.standard_errors * np.append(units, 1.0), plain.standard_errors, 1e-11)
    close([c.statistic for c in scaled.coefficients], [c.statistic for c in plain.coefficients], 1e-10)


def test_a_shifted_column_keeps_its_digits():
    """x + 2^16 next to the intercept, exactly: the normal equations would lose ten digits."""
    X, y = overlapping(60, 1)
    X = np.rint(X * 2.0**20) / 2.0**20
    plain, shifted = cc.LogisticMLE(X, y).solve().summary(), cc.LogisticMLE(X + 2.0**16, y).solve().summary()
    close(shifted["x1"].standard_error, plain["x1"].standard_error, 1e-10)


def test_without_an_intercept_the_null_model_is_even_odds():
    X, y = overlapping(50, 2)
    m, r = cc.LogisticMLE(X, y, intercept=False).solve().summary(), logit(X, y)
    close(m.standard_errors, r.bse, 1e-9)
    close([m.log_likelihood, m.aic, m.bic], [r.llf, r.aic, r.bic], 1e-10)
    close(m.null_log_likelihood, -50 * math.log(2), 1e-14)
    assert m.df_model == 2


def test_a_constant_among_the_columns_is_an_intercept():
    X, y = overlapping(50, 2)
    own = cc.LogisticMLE(X, y).solve().summary()
    dummies = np.column_stack([X, np.full(50, 0.3)])
    other = cc.LogisticMLE(dummies, y, intercept=False).solve().summary()
    assert other.df_model == own.df_model == 2
    close(other.test.p_value, own.test.p_value, 1e-9)


def test_basis_functions_are_columns_by_their_names():
    from convexcls.basis import Quadratic

    X, y = overlapping(80, 1)
    m = cc.LogisticMLE(Quadratic()(X), y).solve().summary()
    r = logit(np.column_stack([X[:, 0], X[:, 0] ** 2, np.ones(80)]), y)
    by_size = sorted(c.standard_error for c in m.coefficients)
    close(by_size, sorted(r.bse), 1e-9)


def test_sparse_samples_give_the_same():
    from scipy import sparse

    X, y = overlapping(50, 3)
    close(
        cc.LogisticMLE(sparse.csr_array(X), y).solve().summary().covariance,
        cc.LogisticMLE(X, y).solve().summary().covariance,
        1e-11,
    )


def test_many_samples_are_taken_in_blocks():
    X, y = overlapping(5000, 2)
    m, r = cc.LogisticMLE(X, y).solve().summary(), logit(sm.add_constant(X, prepend=False), y)
    close(m.standard_errors, r.bse, 1e-9)


# ---- softmax --------------------------------------------------------------------------------------------


def test_softmax_as_statsmodels_has_it():
    X, y = classes()
    m = cc.SoftmaxMLE(X, np.array(["a", "b", "c", "d"])[y]).solve().summary()
    design = sm.add_constant(X, prepend=False)
    r = sm.MNLogit(y, design).fit(method="newton", tol=1e-12, disp=0, maxiter=100)
    close(m.estimates, np.asarray(r.params).T.ravel(), 1e-9)
    close(m.standard_errors, np.asarray(r.bse).T.ravel(), 1e-9)
    close(m.covariance, np.asarray(r.cov_params()), 1e-8)
    close([c.p_value for c in m.coefficients], np.asarray(r.pvalues).T.ravel(), 1e-8)
    close([m.log_likelihood, m.aic, m.bic], [r.llf, r.aic, r.bic], 1e-11)
    # statsmodels finds the null model by iteration, to 1e-10; the frequencies are exact
    counts = np.bincount(y)
    close(m.null_log_likelihood, counts @ np.log(counts / counts.sum()), 1e-14)
    close(m.null_log_likelihood, r.llnull, 1e-8)
    assert (m.df_model, m.df_residual) == (r.df_model, r.df_resid)
    assert m["c", "x2"].equation == "c"


def test_softmax_of_two_classes_is_logistic():
    X, y = overlapping(60, 3)
    two, one = cc.SoftmaxMLE(X, y).solve().summary(), cc.LogisticMLE(X, y).solve().summary()
    close(two.estimates, one.estimates, 1e-10)
    close(two.covariance, one.covariance, 1e-10)
    assert [c.name for c in two.coefficients] == [c.name for c in one.coefficients]
    close([two.aic, two.bic, two.test.p_value], [one.aic, one.bic, one.test.p_value], 1e-10)


@given(st.lists(st.floats(1e-12, 1.0), min_size=2, max_size=6), st.floats(0.1, 9.0))
def test_the_root_of_a_sample_s_information(parts, weight):
    """U'U = w (diag(p) - pp') without the first label, each entry in the units of its row and column."""
    p = np.array(parts) / np.sum(parts)
    root = _root(p[None, :], np.array([weight]))[0]
    rest = p[1:]
    exact = -np.outer(rest, rest)
    for k in range(rest.size):
        exact[k, k] = rest[k] * (p[0] + rest[:k].sum() + rest[k + 1 :].sum())
    size = np.sqrt(weight * np.diag(exact))
    assert np.all(np.abs(root.T @ root - weight * exact) <= 1e-14 * np.outer(size, size))


# ---- least squares --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NIST)
def test_nist_certified_values(name):
    m = cc.load(f"nist_{name}").solve().summary()
    errors, r_squared, f = NIST[name]
    close(np.roll(m.standard_errors, 1), [float(v) for v in errors], 1e-12)
    close(m.r_squared, float(r_squared), 1e-12)
    close(m.test.statistic, float(f), 1e-11)


def test_longley_as_statsmodels_has_it():
    s = cc.load("nist_longley").solve()
    m = s.summary(confidence=0.9)
    units = np.append(np.abs(s.data.matrix).max(axis=0), 1.0)
    r = sm.OLS(s.data.target, sm.add_constant(s.data.matrix, prepend=False) / units).fit()
    close(m.standard_errors * units, r.bse, 1e-8)
    close([c.p_value for c in m.coefficients], r.pvalues, 1e-8)
    close([(c.low, c.high) for c in m.coefficients] * units[:, None], r.conf_int(0.1), 1e-7)
    close(
        [m.log_likelihood, m.aic, m.bic, m.r_squared, m.adjusted_r_squared, m.test.statistic, m.test.p_value, m.scale],
        [r.llf, r.aic, r.bic, r.rsquared, r.rsquared_adj, r.fvalue, r.f_pvalue, r.scale],
        1e-9,
    )
    assert (m.df_model, m.df_residual) == (r.df_model, r.df_resid)
    close(m.deviance, r.ssr, 1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_weights_are_those_of_weighted_least_squares(intercept):
    X, _ = overlapping(40, 3)
    rng = np.random.default_rng(5)
    y, w = X @ [1.0, -2.0, 0.5] + rng.normal(size=40) + 3, rng.uniform(0.2, 3.0, size=40)
    m = cc.LeastSquares(X, y, coding="real", intercept=intercept, sample_weight=w).solve().summary()
    r = sm.WLS(y, sm.add_constant(X, prepend=False) if intercept else X, weights=w).fit()
    close(m.covariance, r.cov_params(), 1e-9)
    close(
        [m.log_likelihood, m.aic, m.bic, m.r_squared, m.adjusted_r_squared, m.test.statistic, m.test.p_value],
        [r.llf, r.aic, r.bic, r.rsquared, r.rsquared_adj, r.fvalue, r.f_pvalue],
        1e-9,
    )
    assert any("inverse variances" in note for note in m.notes)


def test_a_sample_of_weight_zero_does_not_count():
    X, _ = overlapping(20, 2)
    y = X @ [1.0, 2.0] + np.sin(np.arange(20))
    w = np.ones(20)
    w[[3, 7]] = 0
    kept = w > 0
    with_zeros = cc.LeastSquares(X, y, coding="real", sample_weight=w).solve().summary()
    without = cc.LeastSquares(X[kept], y[kept], coding="real").solve().summary()
    close(with_zeros.covariance, without.covariance, 1e-12)
    assert with_zeros.n == without.n == 18
    close([with_zeros.aic, with_zeros.bic], [without.aic, without.bic], 1e-12)


@pytest.mark.parametrize("name", ["nist_wampler1", "nist_wampler2"])
def test_a_perfect_fit_has_no_errors(name):
    m = cc.load(name).solve().summary()
    assert np.all(m.standard_errors == 0)
    assert (m.r_squared, m.test.statistic, m.test.p_value, m.scale) == (1.0, math.inf, 0.0, 0.0)
    assert all(c.low == c.estimate == c.high and c.p_value == 0 for c in m.coefficients)
    assert any("perfect" in note for note in m.notes)
    assert "inf" in str(m)


@pytest.mark.parametrize("far", [1e8, 1e14, 1e16])
def test_a_far_sample_does_not_make_a_fit_perfect(far):
    """In the units of the far sample the residuals of the others are rounding; in their own they are not."""
    m = cc.LeastSquares([[0.0], [1.0], [2.0], [3.0], [far]], [1.0, 3.0, 2.0, 5.0, far], coding="real").solve().summary()
    assert m.scale > 0.1
    assert not any("perfect" in note for note in m.notes)


def test_as_many_samples_as_coefficients_leave_nothing_for_the_errors():
    m = cc.LeastSquares([[0.0], [2.0]], [1.0, 4.0], coding="real").solve().summary()
    close(m.estimates, [1.5, 1.0], 1e-12)
    assert np.all(np.isnan(m.standard_errors))
    assert m.df_residual == 0
    assert any("as many coefficients as samples" in note for note in m.notes)
    assert m.to_dict()["coefficients"][0]["standard_error"] is None


@pytest.mark.parametrize("coding", ["pm1", "01"])
def test_coded_labels_are_the_linear_probability_model(coding):
    X, y = overlapping(40, 2)
    m = cc.LeastSquares(X, y, coding=coding).solve().summary()
    r = sm.OLS(2.0 * y - 1 if coding == "pm1" else y, sm.add_constant(X, prepend=False)).fit()
    close(m.standard_errors, r.bse, 1e-10)
    assert any("not Gaussian" in note for note in m.notes)


def test_a_constant_target_has_no_r_squared():
    m = cc.LeastSquares([[0.0], [1.0], [3.0]], [2.0, 2.0, 2.0], coding="real").solve().summary()
    assert math.isnan(m.r_squared)
    assert math.isnan(m.test.p_value)


# ---- tails ----------------------------------------------------------------------------------------------


def test_tails_far_out():
    from scipy import stats

    for z in (0.3, 4.0, 12.0, 35.0):
        close(both_sides(-z, None), 2 * stats.norm.sf(z), 1e-12)
        close(both_sides(z, 7.0), 2 * stats.t.sf(z, 7.0), 1e-11)
        close(chi_squared_tail(z, 3.0), stats.chi2.sf(z, 3.0), 1e-12)
        close(f_tail(z, 3.0, 11.0), stats.f.sf(z, 3.0, 11.0), 1e-11)
    assert both_sides(math.inf, 5.0) == both_sides(math.inf, None) == 0.0
    assert math.isnan(both_sides(math.nan, 5.0))


@given(st.floats(0.01, 0.999), st.one_of(st.none(), st.floats(1.0, 200.0)))
def test_quantiles_undo_tails(confidence, df):
    close(1 - both_sides(quantile(confidence, df), df), confidence, 1e-9)


# ---- refusals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("logistic_separated", ["does not exist", "separated", "x +2", "intercept -5"]),
        ("logistic_quasi_separated", ["does not exist", "x +1"]),
        ("logistic_repeated_column", ["not unique", "rank 2", "intercept = x + one_minus_x"]),
        ("logistic_ridge", ["l2 = 1", "Fit with l2=0"]),
        ("ridge", ["l2 = "]),
        ("soft_margin", ["no standard errors for the soft-margin", "logistic, softmax, least-squares"]),
    ],
)
def test_refused_with_the_reason(name, words):
    s = cc.load(name).solve()
    with pytest.raises(cc.NoAnswer) as refusal:
        s.summary()
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize("rounded", [False, True])
def test_columns_that_depend_on_each_other_are_named(rounded):
    """Exactly, which is proved optimal but not unique; or to rounding, where even the optimum is undecided."""
    X, _ = overlapping(20, 4)
    X = X if rounded else np.rint(8 * X)
    X[:, 3] = 2 * X[:, 0] - 0.5 * X[:, 2]
    with pytest.raises(cc.NoAnswer) as refusal:
        cc.LeastSquares(X, np.arange(20.0), coding="real").solve().summary()
    assert "5 columns have rank 4" in str(refusal.value)
    relation = str(refusal.value)
    assert all(name in relation for name in ("x1", "x3", "x4"))
    assert "x2" not in relation


def test_a_zero_column_is_named():
    s = cc.LeastSquares([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0], [5.0, 0.0]], [1.0, 2.0, 2.5, 4.0], coding="real").solve()
    with pytest.raises(cc.NoAnswer, match="'x2' is zero"):
        s.summary()


def test_more_columns_than_samples_are_not_unique():
    with pytest.raises(cc.NoAnswer, match="rank 2"):
        cc.LeastSquares([[1.0, 0.0], [2.0, 1.0]], [1.0, 2.0], coding="real").solve().summary()


def test_separated_softmax_names_the_labels():
    s = cc.SoftmaxMLE([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], list("aabbcc")).solve()
    with pytest.raises(cc.NoAnswer, match=r"does not exist.* of 'c'"):
        s.summary()


def test_an_undecided_fit_is_refused():
    X, y = overlapping(40, 2)
    s = cc.LogisticMLE(X, y).solve("gradient", max_iter=1)
    assert s.status == "undecided"
    with pytest.raises(cc.NoAnswer, match="undecided, not proved optimal"):
        s.summary()


def test_a_dual_points_to_its_primal():
    X, y = overlapping(40, 2)
    dual = cc.LogisticMLE(X, y).dual().solve()
    with pytest.raises(cc.NoAnswer, match=r"\.primal\(\)\.summary\(\)"):
        dual.summary()
    assert dual.primal().summary().n == 40


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, -0.5, math.nan, "high", None])
def test_confidence_is_a_share(confidence):
    with pytest.raises(ValueError, match="confidence is"):
        cc.load("spector").solve().summary(confidence)


# ---- how it looks ---------------------------------------------------------------------------------------


def test_text_in_the_arrangement_of_statsmodels():
    s = cc.load("spector").solve()
    lines = str(s.summary()).splitlines()
    theirs = logit(sm.add_constant(s.data.matrix, prepend=False), s.data.classes).summary().as_text().splitlines()
    assert [line.split()[1:] for line in lines if line.startswith("gpa")] == [
        line.split()[1:] for line in theirs if line.startswith("x1")
    ]
    assert [len(line) for line in lines if line.startswith("=")] == [78] * 3
    assert max(map(len, lines)) == 78
    assert any("Pseudo R-squ.:" in line and line.rstrip().endswith("0.3740") for line in lines)
    assert any("[0.025" in line and "0.975]" in line for line in lines)


def test_the_interval_s_level_is_in_the_heading():
    text = str(cc.load("spector").solve().summary(confidence=0.99))
    assert "[0.005" in text
    assert "0.995]" in text


def test_plain_values_are_json():
    m = cc.load("nist_wampler1").solve().summary()
    values = json.loads(json.dumps(m.to_dict(), allow_nan=False))
    assert values["log_likelihood"] is None
    assert values["coefficients"][0]["name"] == "x"
    assert np.shape(values["covariance"]) == (6, 6)


def test_names_are_escaped_in_html():
    import pandas as pd

    X, y = overlapping(30, 1)
    html = cc.LogisticMLE(pd.DataFrame(X, columns=["<script>alert(1)</script>"]), y).solve().summary()._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_a_summary_is_frozen():
    m = cc.load("spector").solve().summary()
    with pytest.raises(AttributeError):
        m.n = 3
    with pytest.raises(ValueError, match="read-only"):
        m.covariance[0, 0] = 1.0
    with pytest.raises(KeyError, match="there is no coefficient 'age'"):
        m["age"]
