"""Estimators in scikit-learn's world: what they keep, how they move through it, and what they say without an answer."""

import copy
import io
import pickle
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from fractions import Fraction

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.utils import estimator_html_repr, get_tags

import convexcls as cc

NAMES = tuple(cc.estimators.ESTIMATORS)
WEIGHTED = (
    "HardMarginSVC",
    "SoftMarginSVC",
    "KernelSVC",
    "LogisticClassifier",
    "SoftmaxClassifier",
    "LeastSquaresClassifier",
    "LeastAbsoluteClassifier",
)
NATIVE = ("SoftmaxClassifier", "FisherClassifier", "GaussianClassifier")
SEPARABLE = ("HardMarginSVC", "PerceptronClassifier")


def make(name, **parameters):
    if name == "PerceptronClassifier":
        parameters = {"method": "lp", **parameters}
    return getattr(cc, name)(**parameters)


def data(name, n=40, d=3, seed=0):
    """Two classes, which overlap but for the estimators that need them apart."""
    apart = 4.0 if name in SEPARABLE else 0.7
    return make_classification(n, d, n_informative=d, n_redundant=0, class_sep=apart, flip_y=0.0, random_state=seed)


def scores(fitted, X):
    return fitted.decision_function(X)


# ---- what is kept ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_keeps_the_program_its_solution_and_the_proof(name):
    X, y = data(name)
    fitted = make(name).fit(X, y)
    assert fitted.solution_.problem is fitted.problem_
    assert fitted.certificate_ is fitted.solution_.certificate
    assert fitted.certificate_.status == "optimal"
    assert fitted.certificate_.holds(1e-8)
    assert fitted.n_iter_ >= 1
    assert fitted.classes_.tolist() == [0, 1]
    if hasattr(fitted, "coef_"):
        assert fitted.coef_.shape == (1, 3)
        assert fitted.intercept_.shape == (1,)
        np.testing.assert_allclose(scores(fitted, X), X @ fitted.coef_[0] + fitted.intercept_[0], atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_what_declare_gives_is_what_fit_solves(name):
    X, y = data(name)
    estimator = make(name)
    problem = estimator.declare(X, y)
    assert not hasattr(estimator, "n_features_in_")
    fitted = estimator.fit(X, y)
    assert problem.solve().objective == pytest.approx(fitted.solution_.objective, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_of_a_model_can_be_set(name):
    import inspect

    X, y = data(name)
    model = type(make(name).declare(X, y))
    renamed = {"intercept": "fit_intercept", "l2": "C", "sample_weight": "class_weight"}
    own = set(make(name).get_params())
    left_out = {"X", "y", "self"} | (
        {"normalization"} if name == "PerceptronClassifier" else set()
    )  # it is what scales
    left_out |= {"sample_weight"} if name == "GaussianClassifier" else set()
    for parameter in set(inspect.signature(model).parameters) - left_out:
        assert {parameter, renamed.get(parameter), "alpha" if parameter == "l2" else None} & own, parameter


@pytest.mark.parametrize("name", [n for n in NAMES if n not in NATIVE])
def test_several_classes_are_refused_or_taken_one_by_one(name):
    X = np.repeat(9.0 * np.eye(3), 12, axis=0) + np.random.default_rng(0).normal(size=(36, 3))
    y = np.repeat(["a", "b", "c"], 12)
    with pytest.raises(
        ValueError, match=r"Only binary classification is supported. The type of the target is multiclass"
    ):
        make(name).fit(X, y)
    assert not get_tags(make(name)).classifier_tags.multi_class
    estimator = make(name, multi_class="ovr")
    assert get_tags(estimator).classifier_tags.multi_class
    fitted = estimator.fit(X, y)
    assert len(fitted.problem_) == len(fitted.solution_) == len(fitted.certificate_) == len(fitted.n_iter_) == 3
    assert all(c.status == "optimal" for c in fitted.certificate_)
    assert fitted.decision_function(X).shape == (36, 3)
    for k, label in enumerate("abc"):
        alone = make(name).fit(X, y == label)
        np.testing.assert_allclose(fitted.decision_function(X)[:, k], scores(alone, X), atol=1e-9)
    if hasattr(fitted, "coef_"):
        assert fitted.coef_.shape == (3, 3)
        assert fitted.intercept_.shape == (3,)
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)


# ---- the same data in other clothes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_labels_rows_and_containers_do_not_matter(name):
    X, y = data(name)
    known = make(name).fit(X, y)
    words = np.array(["no", "yes"])
    assert make(name).fit(X, words[y]).predict(X).tolist() == words[known.predict(X)].tolist()
    order = np.random.default_rng(1).permutation(len(y))
    tolerance = 1e-6 * np.abs(scores(known, X)).max()
    if name != "PerceptronClassifier":  # of separable classes the criterion has many minimisers
        np.testing.assert_allclose(scores(make(name).fit(X[order], y[order]), X), scores(known, X), atol=tolerance)
    columns = ["width", "height", "depth"]
    frames = [pd.DataFrame(X, columns=columns), pl.DataFrame(X, schema=columns)]
    for frame in frames:
        fitted = make(name).fit(frame, y)
        assert fitted.feature_names_in_.tolist() == columns
        assert fitted.problem_.data.features == tuple(columns)
        if name != "PerceptronClassifier":
            np.testing.assert_allclose(scores(fitted, frame), scores(known, X), atol=1e-9)  # columns in other places
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict(frames[0][columns[::-1]])
    if get_tags(make(name)).input_tags.sparse:
        for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
            fitted = make(name).fit(kind(X), y)
            if name != "PerceptronClassifier":
                np.testing.assert_allclose(scores(fitted, kind(X)), scores(known, X), atol=tolerance)
            np.testing.assert_array_equal(fitted.predict(kind(X)), known.predict(X))
    else:
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            make(name).fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("name", WEIGHTED)
def test_a_weight_is_how_often_a_sample_stands_there(name):
    X, y = data(name)
    weights = np.arange(len(y)) % 3
    fitted = make(name).fit(X, y, sample_weight=weights)
    repeated = make(name).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    left_out = make(name).fit(X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0])
    tolerance = 1e-6 * np.abs(scores(repeated, X)).max()
    np.testing.assert_allclose(scores(fitted, X), scores(repeated, X), atol=tolerance)
    np.testing.assert_array_equal(scores(fitted, X), scores(left_out, X))
    if hasattr(fitted, "support_"):
        assert not np.any(weights[fitted.support_] == 0)
        np.testing.assert_array_equal(X[fitted.support_], fitted.support_vectors_)


def test_a_precomputed_kernel_is_pairwise_and_weights_leave_out_rows_and_columns():
    X, y = data("KernelSVC")
    weights = np.arange(len(y)) % 3
    K = X @ X.T
    estimator = cc.KernelSVC(kernel="precomputed")
    assert get_tags(estimator).input_tags.pairwise
    assert not get_tags(cc.KernelSVC()).input_tags.pairwise
    known = cc.KernelSVC(kernel="linear").fit(X, y, sample_weight=weights)
    fitted = estimator.fit(K, y, sample_weight=weights)
    np.testing.assert_allclose(scores(fitted, K), scores(known, X), atol=1e-6)
    linear = cross_val_score(cc.KernelSVC(kernel="linear"), X, y, cv=3)
    assert cross_val_score(estimator, K, y, cv=3).tolist() == linear.tolist()


@pytest.mark.parametrize("name", ["SoftMarginSVC", "LogisticClassifier", "SoftmaxClassifier", "KernelSVC"])
def test_class_weights_multiply_sample_weights(name):
    X, y = data(name)
    y = np.where(np.arange(len(y)) < 25, y, 1)
    weights = 1.0 + np.arange(len(y)) % 2
    fitted = make(name, class_weight={0: 3.0, 1: 0.5}, **({"gamma": 1.0} if name == "KernelSVC" else {}))
    fitted.fit(X, y, sample_weight=weights)
    other = clone(fitted).set_params(class_weight=None).fit(X, y, sample_weight=weights * np.where(y == 0, 3.0, 0.5))
    np.testing.assert_array_equal(scores(fitted, X), scores(other, X))
    counts = np.bincount(y)
    balanced = clone(fitted).set_params(class_weight="balanced").fit(X, y)
    shares = len(y) / (2 * counts)
    by_hand = clone(fitted).set_params(class_weight=None).fit(X, y, sample_weight=shares[y])
    np.testing.assert_allclose(scores(balanced, X), scores(by_hand, X), atol=1e-7)


# ---- through scikit-learn's machinery -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_clone_copy_pickle_and_joblib(name, tmp_path):
    X, y = data(name)
    fitted = make(name, tol=1e-7, keep_data=True).fit(X, y)
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "solution_")
    joblib.dump(fitted, tmp_path / "fitted")
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), joblib.load(tmp_path / "fitted")):
        np.testing.assert_array_equal(scores(other, X), scores(fitted, X))
        assert other.solution_.certify().status == "optimal"
        with pytest.raises(AttributeError):
            other.problem_.name = "another"
        with pytest.raises(TypeError):
            other.solution_.multipliers["margin"] = 0


@pytest.mark.parametrize("name", NAMES)
def test_copies_in_the_same_process_keep_the_data(name):
    X, y = data(name)
    fitted = make(name).fit(X, y)
    for other in (copy.copy(fitted), copy.deepcopy(fitted)):
        assert other.solution_.certify().status == "optimal"
        assert other.problem_.data.n == len(X)


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_has_the_data_a_few_times_at_most(name):
    X, y = data(name, n=600, d=20)
    assert len(pickle.dumps(make(name, keep_data=True).fit(X, y))) < 6 * X.nbytes


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_predicts_and_explains_without_the_data(name):
    X, y = data(name, n=400, d=20)
    fitted = make(name).fit(X, y)
    text = pickle.dumps(fitted)
    other = pickle.loads(text)
    kernel = name == "KernelSVC"
    assert len(text) < (X.nbytes + 20_000 if kernel else 20_000)
    if not kernel:  # no row of X is in it
        assert not any(row.tobytes() in text for row in X)
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(fitted, method):
            np.testing.assert_array_equal(getattr(other, method)(X), getattr(fitted, method)(X))
    kept, whole = other.certificate_, fitted.certificate_
    assert kept.explain() == whole.explain()
    assert kept.summary() == whole.summary()
    assert (kept.status, kept.level, kept.objective) == (whole.status, whole.level, whole.objective)
    assert kept.holds()
    assert pickle.dumps(pickle.loads(pickle.dumps(other))) == pickle.dumps(other)


def test_what_a_pickle_left_behind_says_so():
    X, y = data("SoftMarginSVC")
    other = pickle.loads(pickle.dumps(cc.SoftMarginSVC(warm_start=True).fit(X, y)))
    lost = r"a pickled estimator is without its {}, which needs the training data: fit with keep_data=True"
    for name in ("problem_", "support_", "support_vectors_", "dual_coef_", "n_support_"):
        assert not hasattr(other, name)
        with pytest.raises(AttributeError, match=lost.format(name)):
            getattr(other, name)
    with pytest.raises(AttributeError, match="without 'kkt' of its certificate"):
        _ = other.certificate_.kkt
    with pytest.raises(AttributeError, match="without its training data has no 'margins', which a solution has"):
        _ = other.solution_.margins
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = other.nothing
    with pytest.raises(ValueError, match="keep_data=True"):
        cc.plots.BoundaryDisplay.from_estimator(other)
    assert other.fit(X, y).certificate_.kkt.holds(1e-8)  # a warm start of it is a cold one


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("KernelSVC", "GaussianClassifier")])
def test_a_pickled_estimator_is_still_judged_on_its_data(name):
    X, y = data(name)
    fitted = make(name).fit(X, y)
    other = pickle.loads(pickle.dumps(fitted))
    found = cc.certify(other, X, y)
    assert found.relative_suboptimality < 1e-8
    other.solution_.coef.flat[0] += np.abs(other.solution_.coef).max()
    if name != "PerceptronClassifier":  # whose optimum is 0 on a cone of hyperplanes
        assert not cc.certify(other, X, y).relative_suboptimality < 1e-3  # nan where it leaves a hard margin


@pytest.mark.parametrize("name", ["KernelSVC", "GaussianClassifier"])
def test_a_pickled_estimator_without_coefficients_is_certified_before(name):
    X, y = data(name)
    other = pickle.loads(pickle.dumps(make(name).fit(X, y)))
    with pytest.raises(ValueError, match="comes from a pickle that left its solution behind"):
        cc.certify(other, X, y)


def test_a_pickle_of_one_program_for_each_class():
    X, y = load_iris(return_X_y=True)
    fitted = cc.LogisticClassifier(multi_class="ovr").fit(X, y)
    other = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
    assert [c.explain() for c in other.certificate_] == [c.explain() for c in fitted.certificate_]
    assert all(one.relative_suboptimality < 1e-8 for one in cc.certify(other, X, y))


def test_grid_search_in_a_pipeline_with_frames():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), cc.SoftMarginSVC(multi_class="ovr"))
    search = GridSearchCV(pipeline, {"softmarginsvc__C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    best = search.best_estimator_[-1]
    assert best.feature_names_in_.tolist() == X.columns.tolist()
    assert all(c.holds(1e-8) for c in best.certificate_)
    assert "SoftMarginSVC" in estimator_html_repr(search)
    assert "C" in estimator_html_repr(best)


def test_fisher_is_a_transformer_whose_output_has_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    fisher = cc.FisherClassifier().set_output(transform="pandas").fit(X, y)
    along = fisher.transform(X)
    assert along.columns.tolist() == ["fisherclassifier0", "fisherclassifier1"]
    within = along - along.groupby(y).transform("mean")
    np.testing.assert_allclose(within.T @ within / len(X), np.eye(2), atol=1e-12)
    assert make_pipeline(cc.FisherClassifier(n_components=1), cc.SoftmaxClassifier()).fit(X, y).score(X, y) > 0.95
    with pytest.raises(ValueError, match="n_components is 3: there are 2 discriminant directions"):
        cc.FisherClassifier(n_components=3).fit(X, y)


@pytest.mark.parametrize("scaler", [StandardScaler(), QuantileTransformer(n_quantiles=50)])
def test_the_pipeline_of_the_lecture(scaler):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    pipeline = make_pipeline(scaler, cc.PerceptronClassifier()).fit(X, y)
    assert pipeline.score(X, y) == 1.0
    bound = pipeline[-1].solution_.rule_report.mistake_bound()
    assert 0 < bound.updates <= bound.bound


def test_warm_starts_begin_where_the_last_fit_ended():
    X, y = data("LogisticClassifier", n=200)
    cold = cc.LogisticClassifier(C=1.01).fit(X, y)
    warm = cc.LogisticClassifier(C=1.0, warm_start=True).fit(X, y).set_params(C=1.01).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-7)
    X, y = data("PerceptronClassifier")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.UncertifiedWarning)
        whole = cc.PerceptronClassifier(shuffle=False, max_iter=2).fit(X, y)
        halves = cc.PerceptronClassifier(shuffle=False, max_iter=1, warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(halves.coef_, whole.coef_)


def test_a_fit_keeps_nothing_of_the_last_one_that_it_does_not_have():
    X, y = data("KernelSVC")
    machine = cc.KernelSVC(kernel="linear").fit(X, y)
    assert machine.coef_.shape == (1, 3)
    assert not hasattr(machine.set_params(kernel="rbf").fit(X, y), "coef_")
    classes = cc.GaussianClassifier().fit(X, y).set_params(covariance="by_class").fit(X, y)
    assert not hasattr(classes, "coef_")
    assert not hasattr(classes, "intercept_")


def test_a_warm_start_after_other_features_or_classes_is_a_cold_one():
    corners, kinds = (
        np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [9.0, 1.0], [0.0, 9.0], [1.0, 9.0]]),
        [1, 1, 2, 2, 3, 3],
    )
    warm = cc.PerceptronClassifier(warm_start=True, multi_class="ovr").fit(corners[:4], kinds[:4])
    assert warm.fit(corners, kinds).predict(corners).tolist() == kinds
    wider = np.column_stack([corners, corners[:, 0] * corners[:, 1]])
    cold = cc.PerceptronClassifier().fit(wider[:4], kinds[:4])
    np.testing.assert_array_equal(warm.fit(wider[:4], kinds[:4]).coef_, cold.coef_)


def test_verbose_tells_of_iterations():
    X, y = data("LogisticClassifier")
    with redirect_stdout(io.StringIO()) as told:
        cc.LogisticClassifier(verbose=1).fit(X, y)
    assert "[LogisticClassifier]     0  objective 27.7" in told.getvalue()


def test_callbacks_hear_of_every_iteration_and_class():
    pytest.importorskip("sklearn.callback")
    events = []

    class Recorder:
        def setup(self, estimator, context):
            events.append("setup")

        def teardown(self, estimator, context):
            events.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            events.append(("begin", context.task_name))

        def on_fit_task_end(self, estimator, context):
            events.append(("end", context.task_name))

    X, y = load_iris(return_X_y=True)
    fitted = cc.LogisticClassifier(multi_class="ovr").set_callbacks(Recorder()).fit(X, y)
    assert (events[0], events[-1]) == ("setup", "teardown")
    assert (events[1], events[-2]) == (("begin", "fit"), ("end", "fit"))
    assert [e for e in events if e[0] == "begin" and e[1].startswith("class")] == [
        ("begin", f"class {k}") for k in range(3)
    ]
    assert events.count(("end", "iteration")) >= fitted.n_iter_.sum()
    pickle.dumps(fitted.set_callbacks())


def test_the_progress_bar_of_scikit_learn(capsys):
    callback = pytest.importorskip("sklearn.callback")
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), cc.SoftmaxClassifier()).set_callbacks(callback.ProgressBar())
    assert pipeline.fit(X, y).score(X, y) > 0.95
    assert "SoftmaxClassifier" in capsys.readouterr().out


# ---- where there is no answer ---------------------------------------------------------------------------------------


def test_hard_margin_names_the_samples_of_the_overlap():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], np.array(["versicolor", "virginica"])[y[50:] - 1]
    with pytest.raises(cc.NotSeparableError) as caught:
        cc.HardMarginSVC().fit(X, y)
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.certificate.status == "infeasible"
    assert error.separability.verify()
    for rows in error.separability.hull.weights.values():
        assert ", ".join(map(str, rows)) in str(error)
    assert "'versicolor'" in str(error)
    assert pickle.loads(pickle.dumps(error)).separability.verify()
    # without one of them the others do not overlap in that way; with it first left out, rows are still the caller's
    weights = np.ones(len(y))
    weights[0] = 0
    with pytest.raises(cc.NotSeparableError) as caught:
        cc.HardMarginSVC().fit(X, y, sample_weight=weights)
    named = [int(i) + 1 for rows in caught.value.separability.hull.weights.values() for i in rows]
    assert all(str(i) in str(caught.value) for i in named)


def test_one_against_the_rest_names_the_class_that_cannot_be_split_off():
    X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["low", "low", "middle", "middle", "top", "top"]
    with pytest.raises(cc.NotSeparableError, match="of class 'middle'") as caught:
        cc.HardMarginSVC(multi_class="ovr").fit(X, y)
    assert "of the rest" in str(caught.value)
    with pytest.raises(cc.NotSeparableError, match="of class 1 "):
        cc.HardMarginSVC(multi_class="ovr").fit(X, [0, 0, 1, 1, 2, 2])


def test_hard_margin_of_a_kernel_names_the_samples_too():
    X, y = [[0.0], [0.0], [1.0]], [0, 1, 1]
    with pytest.raises(cc.NotSeparableError, match="samples 0, 1 ") as caught:
        cc.KernelSVC(C=np.inf).fit(X, y)
    assert caught.value.certificate.status == "unattained"
    with pytest.raises(cc.NotSeparableError, match="feature space of the kernel has"):
        cc.KernelSVC(C=np.inf, kernel=lambda a, b: a @ b.T).fit(X, y)
    assert cc.KernelSVC(C=np.inf, gamma=1.0).fit([[0.0], [2.0], [1.0]], y).certificate_.holds(1e-8)


@pytest.mark.parametrize("name", ["LogisticClassifier", "SoftmaxClassifier"])
def test_a_likelihood_without_maximum(name):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    with pytest.raises(cc.NoMaximumError, match="complete separation") as caught:
        make(name, C=np.inf).fit(X, y)
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.certificate.status == "unattained"
    assert error.existence.verify()
    suggested = 1.0 / error.existence.ridge
    assert f"try C={suggested:g}" in str(error)
    with pytest.warns(cc.NoMaximumWarning, match=f"fitted with C={suggested:g}") as told:
        fitted = make(name, C=np.inf, on_unattained="warn").fit(X, y)
    assert told[0].filename == __file__
    np.testing.assert_allclose(fitted.coef_, make(name, C=suggested).fit(X, y).coef_, rtol=1e-6)
    assert fitted.certificate_.holds(1e-8)
    overlap = load_iris().data[50:], load_iris().target[50:]
    assert make(name, C=np.inf).fit(*overlap).certificate_.holds(1e-8)
    with pytest.raises(ValueError, match="on_unattained is 'ask'"):
        make(name, on_unattained="ask").fit(X, y)


def test_gaussian_classes_whose_covariance_is_singular():
    X = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, 1.0], [4.0, 1.0]])
    with pytest.raises(cc.NoMaximumError, match="does not vary within a class") as caught:
        cc.GaussianClassifier().fit(X, [0, 0, 1, 1])
    assert caught.value.certificate.status == "unattained"


def test_an_answer_without_proof_is_warned_of_with_the_residual():
    X, y = data("LogisticClassifier")
    with pytest.warns(
        cc.UncertifiedWarning, match=r"stationarity is \d\.\de[-+]\d\d, and should be at most 1e-08"
    ) as told:
        fitted = cc.LogisticClassifier(solver="gradient", max_iter=3).fit(X, y)
    assert fitted.certificate_.status == "undecided"
    assert told[0].filename == __file__
    size = float(str(told[0].message).split(" is ")[2].split(",")[0])
    assert size == pytest.approx(max(fitted.certificate_.kkt.measures().values()), rel=0.1)
    with pytest.warns(cc.UncertifiedWarning):
        cc.LogisticClassifier(max_iter=1).fit(X, y)  # "auto" takes the limit, too


def test_the_rule_says_when_it_does_not_settle():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(cc.UncertifiedWarning, match="not separable, which is proved"):
        fitted = cc.PerceptronClassifier().fit(X[50:], y[50:])
    assert fitted.solution_.rule_report.proof_verifies()
    with pytest.warns(cc.UncertifiedWarning, match="max_passes"):
        fitted = cc.PerceptronClassifier(max_iter=1, shuffle=False).fit(X[:100], y[:100])
    assert fitted.score(X[:100], y[:100]) < 1.0
    assert fitted.certificate_.status == "undecided"  # about these weights, though better ones are known to the check
    coef = fitted.solution_.coef
    np.testing.assert_allclose(coef / np.linalg.norm(coef), fitted.coef_[0] / np.linalg.norm(fitted.coef_[0]))
    xor = [[1, 1], [-1, -1], [1, -1], [-1, 1]], [0, 0, 1, 1]
    with pytest.warns(cc.UncertifiedWarning, match="not separable, which is proved"):
        assert cc.PerceptronClassifier().fit(*xor).predict(xor[0]).shape == (4,)
    with pytest.raises(cc.NotSeparableError, match="0, 1 of class 0 and samples 2, 3 of class 1"):
        cc.PerceptronClassifier(method="lp").fit(*xor)  # the criterion is infeasible there
    with pytest.raises(ValueError, match="the learning rule has none"):
        cc.PerceptronClassifier(solver="highs").fit(X[:100], y[:100])


@pytest.mark.parametrize(
    ("estimator", "told"),
    [
        (lambda: cc.SoftMarginSVC(C=-1.0), "C is -1.0"),
        (lambda: cc.SoftMarginSVC(loss="log"), "loss is 'log'"),
        (lambda: cc.SoftMarginSVC(multi_class="one"), "multi_class is 'one'"),  # with two classes, too
        (lambda: cc.LogisticClassifier(class_weight={0: 1.0, 1: 0.0}), "class_weight of class 1 is 0.0"),
        (lambda: cc.SoftMarginSVC(class_weight={0: -1.0, 1: 1.0}), "class_weight of class 0 is -1.0"),
        (lambda: cc.LogisticClassifier(C=0), "C is 0"),
        (lambda: cc.KernelSVC(gamma="large"), "gamma is 'large'"),
        (lambda: cc.KernelSVC(kernel="no"), "kernel is 'no'"),
        (lambda: cc.LeastSquaresClassifier(alpha=-1), "alpha is -1"),
        (lambda: cc.LeastSquaresClassifier(coding="real"), "coding is 'real'"),
        (lambda: cc.GaussianClassifier(priors=[1.0]), "give 2 numbers above 0"),
        (lambda: cc.GaussianClassifier(covariance="full"), "covariance is 'full'"),
        (lambda: cc.PerceptronClassifier(method="sgd"), "method is 'sgd'"),
        (lambda: cc.LogisticClassifier(tol=0), "tol is 0"),
        (lambda: cc.LogisticClassifier(level="sure"), "level is 'sure'"),
        (lambda: cc.LogisticClassifier(solver="best"), "best"),
        (lambda: cc.LogisticClassifier(fit_intercept="yes"), "intercept is 'yes'"),
    ],
)
def test_a_bad_parameter_is_named_when_it_is_used(estimator, told):
    X, y = data("SoftMarginSVC")
    with pytest.raises(ValueError, match=told):
        estimator().fit(X, y)


@pytest.mark.parametrize("name", ["HardMarginSVC", "SoftMarginSVC", "KernelSVC"])
@pytest.mark.parametrize("kept", ["support_", "support_vectors_", "dual_coef_", "n_support_"])
def test_support_vectors_before_a_fit_say_so(name, kept):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(make(name), kept)
    assert not hasattr(make(name), kept)


def test_bad_entries_are_named_by_row_and_column():
    X, y = data("SoftMarginSVC")
    X[3, 1] = np.nan
    with pytest.raises(cc.DataError, match=r"X row 3, column 1 is missing \(NaN\)"):
        cc.SoftMarginSVC().fit(X, y)


# ---- proofs ---------------------------------------------------------------------------------------------------------


def test_exact_proofs_take_fractions_as_they_are():
    X = [[Fraction(1, 3)], [Fraction(2, 3)]]
    fitted = cc.HardMarginSVC(level="exact").fit(X, ["low", "high"])
    assert fitted.certificate_.optimum == 18
    assert fitted.certificate_.coef == [Fraction(-6)]  # "high" comes first


@pytest.mark.parametrize("name", NAMES)
def test_our_own_fits_are_judged_like_anybodys(name):
    X, y = data(name)
    weights = {"sample_weight": np.arange(len(y)) % 3} if name in WEIGHTED else {}
    fitted = make(name).fit(X, y, **weights)
    appraisal = cc.certify(fitted, X, y, **weights)
    assert appraisal.estimator == name
    assert appraisal.relative_suboptimality < 1e-8


@pytest.mark.parametrize("name", ["SoftMarginSVC", "KernelSVC", "LeastAbsoluteClassifier"])
def test_a_fit_with_an_unknown_a_sample_is_not_judged_on_others(name):
    X, y = data(name)
    with pytest.raises(ValueError, match="other shapes"):
        cc.certify(make(name).fit(X, y), X[:20], y[:20])


def test_a_fit_on_other_data_is_found_out():
    X, y = data("LogisticClassifier")
    fitted = cc.LogisticClassifier().fit(X, y)
    assert cc.certify(fitted, X, 1 - y).relative_suboptimality > 1e-3
    with pytest.raises(ValueError, match="fit it before"):
        cc.certify(cc.LogisticClassifier(), X, y)


# ---- imports --------------------------------------------------------------------------------------------------------

FIT_ALL = """
import sys, numpy as np, convexcls as cc
X = np.array([[1.0, 2.0], [2.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [3.0, 1.0], [-2.0, 0.5]])
y = np.array([1, 1, 0, 0, 1, 0])
for name in cc.estimators.ESTIMATORS:
    getattr(cc, name)().fit(X, y).predict(X)
assert "cvxpy" not in sys.modules
cc.SoftMarginSVC(solver="cvxpy:CLARABEL").fit(X, y)
assert "cvxpy" in sys.modules
"""
WITHOUT = """
import sys
sys.modules["sklearn"] = None
import convexcls as cc
assert issubclass(cc.NotSeparableError, ValueError) and issubclass(cc.NoMaximumError, ValueError)
assert issubclass(cc.UncertifiedWarning, UserWarning) and "SoftMarginSVC" in dir(cc)
try:
    cc.SoftMarginSVC
except ImportError as error:
    print(error)
"""


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_estimator_imports_cvxpy_unless_it_is_chosen():
    run(FIT_ALL)


def test_without_scikit_learn_the_errors_are_there_and_the_extra_is_named():
    assert "pip install 'convexcls[sklearn]'" in run(WITHOUT)


def test_importing_convexcls_or_its_errors_leaves_scikit_learn_alone():
    code = "import sys, convexcls, convexcls.estimators; print('sklearn' in sys.modules)"
    assert run(code).strip() == "False"
