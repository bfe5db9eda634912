"""Fits: other people's fitted models, judged as answers to the convex programs that they really solved.

Which estimator is judged by which file is decided by the name of its class, so that nothing is imported for it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from convexcls.fits.appraisal import Appraisal, Appraisals
from convexcls.fits.claim import Claim, Fit
from convexcls.fits.judging import judge
from convexcls.proofs.levels import check_level

__all__ = ["Appraisal", "Appraisals", "certify"]

#: The estimators of scikit-learn by class name: the module of this package and the function that reads them.
ESTIMATORS = {
    "SVC": ("support_vectors", "svc"),
    "NuSVC": ("support_vectors", "nu_svc"),
    "LinearSVC": ("linear_models", "linear_svc"),
    "LogisticRegression": ("linear_models", "logistic_regression"),
    "SGDClassifier": ("learning_rules", "sgd_classifier"),
    "Perceptron": ("learning_rules", "perceptron"),
    "Ridge": ("linear_models", "ridge"),
    "RidgeClassifier": ("linear_models", "ridge_classifier"),
    "LinearRegression": ("linear_models", "ridge"),
    "LinearDiscriminantAnalysis": ("discriminant", "linear_discriminant_analysis"),
}
#: The results of statsmodels by class name of their model.
RESULTS = {"Logit": ("likelihood", "logit_result"), "GLM": ("likelihood", "glm_result")}


def certify(
    estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, level: str = "rigorous", **declared: Any
) -> Appraisal | Appraisals:
    """Judge a model that somebody else fitted.

    ``estimator`` is a fitted estimator of scikit-learn (SVC, NuSVC, LinearSVC, LogisticRegression, SGDClassifier,
    Perceptron, Ridge, RidgeClassifier, LinearRegression, LinearDiscriminantAnalysis), the result of a statsmodels Logit
    or binomial GLM, an estimator of this package, or a bare pair (coef, intercept) with ``model=`` its name here and
    the parameters of that model, as in ``certify((coef, intercept), X, y, model="soft-margin", C=1.0)``. X, y and
    ``sample_weight`` are those of the fit.

    The appraisal names the convex program that the estimator really solved, measures the optimality conditions at its
    point, and bounds how far its objective is from the optimum: at ``level`` "float" as computed, at "rigorous" despite
    rounding, at "exact" against the optimum in rational arithmetic. An estimator that solves several programs, such as
    one for each pair of classes, has one appraisal for each.

    >>> import convexcls as cc
    >>> from sklearn.svm import SVC
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 2.0]], [0, 0, 1, 1]
    >>> appraisal = cc.certify(SVC(kernel="linear", C=1.0).fit(X, y), X, y)
    >>> appraisal.problem.name, bool(appraisal.lower <= appraisal.objective)
    ('soft-margin SVM', True)
    >>> bool(appraisal.relative_suboptimality < 1e-3)
    True
    """
    check_level(level)
    name, claims = _claims(estimator, X, y, sample_weight, declared)
    parts = tuple(judge(claim, name, level) for claim in claims)
    if len(parts) == 1:
        return parts[0]
    common = tuple(f for f in parts[0].findings if all(f in p.findings for p in parts))
    return Appraisals(name, f"{len(parts)} programs; the first: {parts[0].named}.", parts, common)


def _claims(estimator: Any, X: Any, y: Any, sample_weight: Any, declared: dict[str, Any]) -> tuple[str, list[Claim]]:
    if isinstance(estimator, (tuple, list)) or "model" in declared:
        claims = _reader("declared", "bare_pair")(estimator, X, y, sample_weight, declared)
        return f"a bare {declared['model']} pair", claims
    if declared:
        raise TypeError(f"certify() takes {', '.join(declared)} only with a bare pair (coef, intercept) and model=...")
    model = getattr(estimator, "model", None)
    for cls in type(model).__mro__:
        if cls.__name__ in RESULTS and hasattr(estimator, "params"):
            return f"{type(model).__name__} result", _reader(*RESULTS[cls.__name__])(estimator, X, y, sample_weight)
    if hasattr(estimator, "declare"):  # one of our own, or made like them
        return type(estimator).__name__, _reader("declared", "certified")(Fit(estimator, X, y, sample_weight))
    for cls in type(estimator).__mro__:
        if cls.__name__ in ESTIMATORS and cls.__module__.startswith("sklearn."):
            return type(estimator).__name__, _reader(*ESTIMATORS[cls.__name__])(Fit(estimator, X, y, sample_weight))
    raise TypeError(_unknown(estimator))


def _reader(module: str, function: str) -> Callable[..., list[Claim]]:
    found: Callable[..., list[Claim]] = getattr(import_module(f"convexcls.fits.{module}"), function)
    return found


def _unknown(estimator: Any) -> str:
    name = type(estimator).__name__
    advice = ""
    if hasattr(estimator, "steps"):
        advice = " Of a pipeline give the last step, and X as that step saw it."
    elif hasattr(estimator, "best_estimator_"):
        advice = " Of a search give its best_estimator_."
    return (
        f"certify() does not know {name}.{advice} It takes fitted {', '.join(ESTIMATORS)} of scikit-learn, the results "
        f"of a Logit or binomial GLM of statsmodels, and a pair (coef, intercept) with model=..."
    )
