"""Results of statsmodels: Logit and the binomial GLM with the logit link.

    minimise  sum_i c_i log(1 + exp(-m_i)),      m_i = y_i params'x_i

statsmodels has no implicit intercept: the constant, where there is one, is a column of exog, and its coefficient is one
of params. So X is exog as it was given to the model, constant included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.data import DataError, as_vector, check_matrix, finite_doubles
from convexcls.fits.claim import Claim, completed
from convexcls.models import EmpiricalRisk, LogisticMLE
from convexcls.problem import Problem


def logit_result(result: Any, X: Any, y: Any, sample_weight: Any) -> list[Claim]:
    """The program of a Logit result, fitted by ``fit`` or by ``fit_regularized`` with an l1 penalty."""
    model = result.model
    if type(model).__name__ != "Logit":
        name = type(model).__name__
        raise TypeError(f"certify() does not know the {name} model of statsmodels: it takes Logit and GLM")
    if getattr(model, "offset", None) is not None and np.any(np.asarray(model.offset)):
        raise ValueError("this Logit has an offset, which is not covered: fit it without one")
    penalty = _l1_penalty(result)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return [_claim(result, X, y, weights, penalty, "Logit")]


def glm_result(result: Any, X: Any, y: Any, sample_weight: Any) -> list[Claim]:
    """The program of a binomial GLM result with the logit link and 0-1 responses."""
    model = result.model
    family, link = type(model.family).__name__, type(model.family.link).__name__
    if family != "Binomial" or link.lower() != "logit":
        raise TypeError(
            f"certify() takes a GLM of the Binomial family with the Logit link, this one is {family} with {link}"
        )
    if np.any(np.asarray(getattr(model, "_offset_exposure", 0.0))):
        raise ValueError("this GLM has an offset or exposure, which is not covered: fit it without one")
    if sample_weight is None:
        kept = [np.asarray(getattr(model, name, 1.0), dtype=float) for name in ("freq_weights", "var_weights")]
        both = np.broadcast_to(kept[0] * kept[1], np.shape(model.endog))
        weights: Array | None = None if np.all(both == 1) else np.array(both)
    else:
        weights = np.asarray(sample_weight, dtype=float)
    return [_claim(result, X, y, weights, None, "GLM (Binomial, logit link)")]


def _claim(result: Any, X: Any, y: Any, weights: Array | None, l1: Array | None, name: str) -> Claim:
    params = finite_doubles(np.asarray(result.params).ravel(), "params")
    matrix = check_matrix(X)
    if matrix.shape[1] != params.size:
        advice = "give the exog of the model"
        if matrix.shape[1] + 1 == params.size:
            advice = "give X with its constant column (add_constant): statsmodels has no implicit intercept"
        raise DataError(f"X has {matrix.shape[1]} columns, but this {name} has {params.size} params: {advice}")
    target = finite_doubles(as_vector(y, "y", matrix.shape[0]), "y")
    if not np.all((target == 0) | (target == 1)):
        row = int(np.flatnonzero((target != 0) & (target != 1))[0])
        raise DataError(f"y row {row} is {target[row]}: statsmodels takes 0 and 1 (proportions are not covered)")
    problem: Problem
    if l1 is None:
        problem = LogisticMLE(matrix, target, intercept=False, sample_weight=weights)
    else:
        if not np.all(l1 == l1[0]):
            raise ValueError("this fit_regularized has different alphas for different columns, which is not covered")
        problem = EmpiricalRisk(
            matrix, target, loss="logistic", l1=float(l1[0]), intercept=False, sample_weight=weights
        )
    constant = _constants(matrix)
    words = f"{name} maximises the likelihood of logistic regression"
    if l1 is not None:
        words = f"{name}.fit_regularized solves logistic regression with the l1 penalty alpha = {l1[0]:g}"
    named = f"{words}, no intercept" if constant is None else f"{words}; the intercept is the column {constant} of X"
    point, findings = completed(problem, {"coef": params}), _findings(result, matrix, target, constant, l1)
    return Claim(problem, named, point, usual=1e-4, findings=tuple(findings))


def _l1_penalty(result: Any) -> Array | None:
    """alpha of ``fit_regularized``, one a column; None for a plain fit."""
    settings = getattr(result, "mle_settings", None) or {}
    if not str(settings.get("optimizer", "")).startswith("l1"):
        return None
    alpha = settings.get("alpha", settings.get("kwds", {}).get("alpha"))
    if alpha is None:
        raise ValueError("this fit_regularized does not say its alpha: certify a bare pair with model='empirical-risk'")
    return np.broadcast_to(np.asarray(alpha, dtype=float), np.shape(result.params)).astype(float)


def _constants(matrix: Any) -> int | None:
    """The column that is constant and not zero."""
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    same = np.flatnonzero((dense == dense[0]).all(axis=0) & (dense[0] != 0))
    return int(same[0]) if same.size else None


def _findings(result: Any, matrix: Any, target: Array, constant: int | None, l1: Array | None) -> list[str]:
    out = []
    if constant is None:
        out.append("X has no constant column: without an intercept the log-odds are 0 at x = 0 (see add_constant)")
    elif l1 is not None and l1[0] > 0:
        out.append("the intercept is penalised like every column")
    exog, endog = np.asarray(result.model.exog, dtype=float), np.asarray(result.model.endog, dtype=float)
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    if exog.shape != dense.shape or not np.array_equal(exog, dense) or not np.array_equal(endog.ravel(), target):
        out.append("X or y are not the data that the model keeps (exog, endog): it is judged on those given")
    settings = getattr(result, "mle_retvals", None) or {}
    if settings.get("converged", getattr(result, "converged", True)) is False:
        out.append("statsmodels says itself that the fit did not converge")
    return out
