"""Other implementations of logistic regression, two classes and several."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from benchmarks.quadratic_peers import CVXPY_CAP, cvxpy_settings
from benchmarks.race import Answer, Contender, Data

#: scikit-learn's liblinear always penalises, so no penalty becomes one of this weight.
NEXT_TO_NOTHING = 1e-6
#: scikit-learn's solvers, each with the tolerances to try; those too loose to get there on any case are left out.
SKLEARN: dict[str, tuple[float, ...]] = {
    "lbfgs": (1e-7, 1e-8, 1e-9, 1e-10),
    "newton-cholesky": (1e-4, 1e-5, 1e-6, 1e-7, 1e-8),
    "newton-cg": (1e-6, 1e-7, 1e-8, 1e-9),
    "sag": (1e-6, 1e-8, 1e-10),
    "saga": (1e-6, 1e-8, 1e-10),
}
#: Stochastic methods do not get there in a time that compares: they are stopped early.
STOCHASTIC_CAP = 12.0


def by_sklearn(data: Data, tol: float, *, solver: str) -> Answer:
    """LogisticRegression with this solver (C = 1/l2, infinite without a penalty), at most 10000 iterations; tol is the
    loosest power of ten that reaches the accuracy, down to 1e-10. Labels are given as 0 and 1, or class numbers."""
    from sklearn.linear_model import LogisticRegression

    C = 1.0 / data["l2"] if data["l2"] else np.inf
    model = LogisticRegression(
        C=C, solver=solver, tol=tol, max_iter=10_000, fit_intercept=data["intercept"], random_state=0
    ).fit(data["X"], data["labels"])
    return _answer(model)


def liblinear(data: Data, tol: float) -> Answer:
    """LogisticRegression with liblinear (primal, trust region), at most 10000 iterations; without a penalty one of
    1e-6. It penalises the intercept like a coefficient. tol as for the other solvers of scikit-learn."""
    from sklearn.linear_model import LogisticRegression

    C = 1.0 / (data["l2"] or NEXT_TO_NOTHING)
    model = LogisticRegression(C=C, solver="liblinear", tol=tol, max_iter=10_000, fit_intercept=data["intercept"])
    return _answer(model.fit(data["X"], data["labels"]))


def _answer(model: object) -> Answer:
    coef, intercept = model.coef_, model.intercept_  # type: ignore[attr-defined]
    return Answer(coef[0], float(np.ravel(intercept)[0])) if coef.shape[0] == 1 else Answer(coef, intercept)


def by_glum(data: Data, tol: float) -> Answer:
    """GeneralizedLinearRegressor, binomial, solver irls-ls with alpha = l2/n; gradient_tol is the loosest power of ten
    from 1e-4 to 1e-8 that reaches the accuracy."""
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(
        family="binomial",
        alpha=data["l2"] / data["y"].size,
        gradient_tol=tol,
        max_iter=1000,
        solver="irls-ls",
        fit_intercept=data["intercept"],
    ).fit(data["X"], data["labels"])
    return Answer(model.coef_, model.intercept_)


def by_statsmodels(data: Data, tol: float) -> Answer:
    """Logit by Newton on (X, 1), only without a penalty; tol (change of a parameter) as above, standard errors are not
    asked for but come along."""
    from statsmodels.api import Logit

    design, labels = data["design"], data["labels"]
    found = Logit(labels, design).fit(method="newton", maxiter=200, tol=tol, disp=0, warn_convergence=False)
    return Answer(found.params[:-1], found.params[-1])


def with_ones(data: Data) -> Data:
    """The data with a column of ones added."""
    return {**data, "design": np.column_stack([data["X"], np.ones(data["y"].size)])}


def by_skglm(data: Data, tol: float) -> Answer:
    """GeneralizedLinearEstimator, logistic with an L1L2 penalty of l1_ratio 0, ProxNewton; the penalty is l2/n, next to
    nothing (1e-6/n) without one. tol as above. The matrix is in Fortran order, as it wants it."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import ProxNewton

    penalty = L1_plus_L2((data["l2"] or NEXT_TO_NOTHING) / data["y"].size, 0.0)
    solver = ProxNewton(tol=tol, max_iter=200, fit_intercept=data["intercept"], warm_start=False)
    model = GeneralizedLinearEstimator(Logistic(), penalty, solver).fit(data["X"], data["y"])
    return Answer(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]) if data["intercept"] else 0.0)


def by_columns(data: Data) -> Data:
    """The data with X stored column by column."""
    X = data["X"]
    return {**data, "X": sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)}


def by_cvxpy(data: Data, tol: float, *, backend: str) -> Answer:
    """cvxpy's logistic, compiled and solved by the backend, all in the time; defaults, then tolerances as for the
    quadratic programs."""
    import cvxpy

    if backend not in cvxpy.installed_solvers():
        raise ImportError(f"cvxpy has no {backend}")
    w, b = cvxpy.Variable(data["X"].shape[1]), cvxpy.Variable()
    loss = cvxpy.sum(cvxpy.logistic(-cvxpy.multiply(data["y"], data["X"] @ w + b)))
    problem = cvxpy.Problem(cvxpy.Minimize(loss + 0.5 * data["l2"] * cvxpy.sum_squares(w)))
    problem.solve(solver=backend, **cvxpy_settings(backend, tol))
    if w.value is None:
        raise RuntimeError(f"no answer: {problem.status}")
    return Answer(w.value, float(b.value))


def sklearn_contenders(*solvers: str) -> tuple[Contender, ...]:
    """scikit-learn with each of the solvers."""
    return tuple(
        Contender(
            f"sklearn:{solver}",
            partial(by_sklearn, solver=solver),
            SKLEARN[solver],
            quick=not solver.startswith("sag"),
            cap=STOCHASTIC_CAP if solver.startswith("sag") else None,
        )
        for solver in solvers
    )


LIBLINEAR = Contender("sklearn:liblinear", liblinear, (1e-6, 1e-7, 1e-8, 1e-9))
GLUM = Contender("glum", by_glum, (1e-4, 1e-5, 1e-6, 1e-7, 1e-8))
STATSMODELS = Contender("statsmodels", by_statsmodels, (1e-4, 1e-6, 1e-8), with_ones, quick=False)
SKGLM = Contender("skglm", by_skglm, (1e-6, 1e-8, 1e-10), by_columns, quick=False)


def cvxpy_contenders(*backends: str) -> tuple[Contender, ...]:
    """cvxpy with each backend that takes the exponential cone."""
    return tuple(
        Contender(f"cvxpy:{b}", partial(by_cvxpy, backend=b), (1.0, 1e-10, 1e-12), quick=False, cap=CVXPY_CAP)
        for b in backends
    )
