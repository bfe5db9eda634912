"""scikit-learn's own checks, over every estimator and over the variants that take another way through it."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import convexcls as cc

SEPARABILITY = "its samples cannot be separated, and the hard margin refuses them with a proof"
#: What the hard margin cannot do. There is no other reason, and no other estimator has an entry.
NOT_SEPARABLE = dict.fromkeys(
    [
        "check_classifier_data_not_an_array",
        "check_classifiers_train",
        "check_dtype_object",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimator_sparse_tag",
        "check_estimators_dtypes",
        "check_estimators_nan_inf",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_sample_weights_list",
        "check_sample_weights_not_an_array",
        "check_sample_weights_pandas_series",
        "check_supervised_y_2d",
    ],
    SEPARABILITY,
)

ESTIMATORS = [
    cc.HardMarginSVC(),
    cc.SoftMarginSVC(),
    cc.KernelSVC(),
    cc.LogisticClassifier(),
    cc.LogisticClassifier(multi_class="ovr"),
    cc.LogisticClassifier(C=np.inf, on_unattained="warn"),
    cc.SoftmaxClassifier(),
    cc.LeastSquaresClassifier(),
    cc.LeastSquaresClassifier(alpha=1.0, coding="01", multi_class="ovr"),
    cc.LeastAbsoluteClassifier(),
    cc.PerceptronClassifier(),
    cc.PerceptronClassifier(method="lp"),
    cc.FisherClassifier(),
    cc.GaussianClassifier(),
    cc.GaussianClassifier(covariance="by_class"),
]


def expected_failures(estimator):
    return NOT_SEPARABLE if isinstance(estimator, cc.HardMarginSVC) else {}


# The learning rule warns where classes overlap, a likelihood where it has no maximum: that is what they are for.
@pytest.mark.filterwarnings("ignore::convexcls.UncertifiedWarning")
@pytest.mark.filterwarnings("ignore::convexcls.NoMaximumWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_every_estimator_is_checked():
    assert {type(e).__name__ for e in ESTIMATORS} == set(cc.estimators.ESTIMATORS)


@pytest.mark.parametrize("name", sorted(NOT_SEPARABLE))
def test_an_expected_failure_is_of_the_kind_that_is_said(name):
    """Each listed check fails by NotSeparableError, perhaps inside a check's own complaint, and by nothing else."""
    from sklearn.utils.estimator_checks import estimator_checks_generator

    seen = []
    for estimator, check in estimator_checks_generator(cc.HardMarginSVC()):
        if getattr(check, "func", check).__name__ == name:
            with pytest.raises(Exception) as caught:
                check(estimator)
            seen.append(any(isinstance(e, cc.NotSeparableError) for e in _causes(caught.value)))
    assert seen
    assert all(seen)


def _causes(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
