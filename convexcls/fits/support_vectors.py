"""SVC and NuSVC: libsvm's support vector machines.

libsvm keeps the multipliers: dual_coef_ = y_i alpha_i over the rows support_, and the intercept. For the linear kernel
the program is the soft margin in coef; for other kernels it is stated by its Wolfe dual in alpha, and the classifier
f(x) = sum_i alpha_i y_i k(x_i, x) + intercept is what its multipliers say: slack_i = max(0, 1 - y_i f(x_i)).

NuSVC (Schoelkopf et al. 2000) as libsvm states it, c_i the weights:

    maximise  -1/2 alpha'Q alpha   subject to  y'alpha = 0,  1'alpha = nu sum_i c_i,  0 <= alpha_i <= c_i

Its answer is kept divided by the multiplier rho of the second equation, so that margins are in units of one.

Of several classes there is a machine for each pair. libsvm keeps the multipliers of all pairs in one table of K - 1
rows: for the pair (i, j), i < j, those of class i are in row j - 1 and those of class j in row i, positive for class i.
Here the second class of a pair is the positive one, as it is in scikit-learn for two classes. scikit-learn keeps them
twice: dual_coef_ and intercept_ are shown, and coef_ is made of them; predict() uses copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.fits.claim import Claim, Fit, altered, fitted_point
from convexcls.models import KernelSVM, SoftMarginSVM
from convexcls.problem import UNIT_SHARE, Constraint, Label, Problem
from convexcls.rows import ConstantRows

#: A multiplier may pass its bound by this fraction from rounding alone.
ROUNDED_BOUND = 1e-9


#: Two copies of the same number may differ by this fraction.
ROUNDED_COPY = 1e-9


def svc(fit: Fit) -> list[Claim]:
    """The program of an SVC; of several classes one for each pair."""
    return [_svc(fit, pair) for pair in machines(fit)]


def nu_svc(fit: Fit) -> list[Claim]:
    """The program of a NuSVC; of several classes one for each pair."""
    return [_nu(fit, pair) for pair in machines(fit)]


def _svc(fit: Fit, pair: Pair) -> Claim:
    C = float(fit.options["C"])
    bound = C * pair.weights
    linear = fit.options["kernel"] == "linear"
    claim = _linear(pair, C) if linear else _kernel(fit, pair, C)
    return _bounded(claim, fit, pair, bound, "C" if np.all(pair.weights == 1) else "C c_i, their bound")


def _linear(pair: Pair, C: float) -> Claim:
    """The soft margin in coef, with alpha as the multipliers of the margins."""
    assert pair.coef is not None
    problem = SoftMarginSVM(pair.X, pair.y, C=C, sample_weight=pair.weights)
    point = fitted_point(problem, pair.coef, pair.intercept)
    multipliers = {"margin": pair.alpha, "slack_sign": C * pair.weights - pair.alpha}
    named = f"SVC solves the soft-margin support vector machine with C = {C:g}; the intercept is not penalised"
    return Claim(problem, named, point, multipliers, "of dual_coef_")


def _kernel(fit: Fit, pair: Pair, C: float) -> Claim:
    """The Wolfe dual, with the classifier as its multipliers."""
    problem = KernelSVM(pair.X, pair.y, C=C, sample_weight=pair.weights, **kernel_options(fit))
    named = (
        f"SVC solves the soft-margin support vector machine with C = {C:g} in the feature space of the kernel "
        f"{_kernel_words(problem)}, stated by its Wolfe dual"
    )
    return Claim(problem, named, pair.alpha, _classifier(problem, pair, 1.0), "of the decision function", by_dual=True)


def _nu(fit: Fit, pair: Pair) -> Claim:
    nu = float(fit.options["nu"])
    base = KernelSVM(pair.X, pair.y, C=1.0, sample_weight=pair.weights, **kernel_options(fit))
    problem = nu_problem(base, nu)
    total = float(np.abs(pair.alpha).sum())
    if total == 0:
        raise ValueError("this NuSVC has no multipliers: every entry of dual_coef_ is 0")
    rho = nu * float(pair.weights.sum()) / total
    scaled = replace(pair, alpha=rho * pair.alpha, intercept=rho * pair.intercept)
    multipliers = {**_classifier(problem, scaled, rho), "total": np.array([-rho])}
    named = (
        f"NuSVC solves the nu-support vector machine with nu = {nu:g} for the kernel {_kernel_words(base)}, stated by "
        f"its dual; in units of margin one it is a soft margin with C = {1 / rho:.6g}"
    )
    claim = Claim(problem, named, scaled.alpha, multipliers, "of the decision function", by_dual=True)
    return _bounded(claim, fit, scaled, pair.weights, "their bound")


def _bounded(claim: Claim, fit: Fit, pair: Pair, bound: Array, called: str) -> Claim:
    """The claim with what is to say of multipliers that have this bound. The gap that libsvm's stopping rule leaves is
    allowed: optimality of every multiplier to tol costs at most tol times its bound; twice that, for what rounding and
    shrinking add."""
    allowed = 2.0 * fit.tolerance * float(bound.sum())
    findings, remarks = (*fit.stopped(), *pair.findings), multiplier_remarks(pair, bound, called)
    return replace(claim, remarks=remarks, findings=findings, subject=pair.subject, usual=0.0, allowed=allowed)


def nu_problem(base: KernelSVM, nu: float) -> Problem:
    """The dual of the nu-support vector machine from the blocks of the soft margin with C = 1."""
    weights = next(c.rhs for c in base.constraints if c.name == "slack")
    ones = {"margin": ConstantRows(base.data.n).T}
    # the optimum is 0 where nu is too large for a margin: a fraction of what single samples cost counts as one
    unit = UNIT_SHARE * nu * float(weights @ base.P["margin"].diagonal_entries())
    total = Constraint(
        "total", ones, r"\rho", "scalar", {"margin": Label("", "")}, nu * float(weights.sum()), relation="=="
    )
    constraints = [*base.constraints, total]
    blocks = {"constraints": constraints, "linear": {}, "sense": "max", "unit": unit, "quadratic_symbol": "Q"}
    return altered(base, "nu support vector machine", **blocks)


def kernel_options(fit: Fit) -> dict[str, Any]:
    """The kernel with its parameters, gamma as the number that the fit worked out."""
    kernel = fit.options["kernel"]
    out: dict[str, Any] = {"kernel": kernel}
    if kernel in ("poly", "rbf", "sigmoid"):
        out["gamma"] = float(fit.value("_gamma"))
    if kernel in ("poly", "sigmoid"):
        out["coef0"] = float(fit.options["coef0"])
    if kernel == "poly":
        out["degree"] = fit.options["degree"]
    return out


def _kernel_words(problem: KernelSVM) -> str:
    return f"{problem.kernel.name}, k(x, z) = {problem.kernel.formula}"


def _classifier(problem: Problem, pair: Pair, height: float) -> dict[str, Array]:
    """The decision function as multipliers: the intercept, the slacks below the margin ``height``, the room above."""
    margins = problem.quadratic["margin"] @ pair.alpha + pair.signs * pair.intercept
    short = height - margins
    return {
        "intercept": np.array([pair.intercept]),
        "slack": np.maximum(short, 0.0),
        "margin_sign": np.maximum(-short, 0.0),
    }


def multiplier_remarks(pair: Pair, bound: Array, called: str) -> tuple[str, ...]:
    """What is wrong with the multipliers: above their bound, below 0, or not balanced between the classes."""
    alpha, size = pair.alpha, float(np.abs(pair.alpha).max(initial=0.0))
    count = int(np.count_nonzero(alpha))
    out = []
    if above := int(np.sum(alpha > bound * (1 + ROUNDED_BOUND))):
        out.append(f"{above} of {count} multipliers exceed {called}{_samples(alpha - bound)}")
    if below := int(np.sum(alpha < -ROUNDED_BOUND * size)):
        out.append(f"{below} of {count} multipliers are negative{_samples(-alpha)}")
    left = float(pair.signs @ alpha)
    if abs(left) > 1e-6 * float(np.abs(alpha).sum()):
        out.append(f"the multipliers of the two classes differ in sum by {left:.2g}, they must balance")
    return tuple(out)


def _samples(excess: Array) -> str:
    """The samples with the largest excess."""
    worst = np.argsort(-excess, kind="stable")[:3]
    shown = ", ".join(str(i) for i in worst if excess[i] > 0)
    return f" (sample{'s' if ',' in shown else ''} {shown})"


# ---- the machines of a fit ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pair:
    """One machine: its samples, and the answer in terms of them. ``coef`` is None but for the linear kernel."""

    subject: str
    X: Any
    y: NDArray[Any]
    signs: Array
    weights: Array
    alpha: Array
    intercept: float
    coef: Array | None
    findings: tuple[str, ...]


def machines(fit: Fit) -> Iterator[Pair]:
    """The machines of the fit."""
    classes = fit.classes
    place = np.searchsorted(classes, fit.y)
    weights = fit.weights * _class_weights(fit)[place]
    shown, used = _table(fit, "dual_coef_"), _copy(fit)
    findings = tuple(_data_findings(fit))
    offsets = fit.array("intercept_")
    pairs = [(i, j) for i in range(classes.size) for j in range(i + 1, classes.size)]
    if offsets.size != len(pairs):
        raise ValueError(f"intercept_ has {offsets.size} entries, {classes.size} classes have {len(pairs)} pairs")
    for p, (i, j) in enumerate(pairs):
        rows = np.flatnonzero((place == i) | (place == j))
        signs = np.where(place[rows] == j, 1.0, -1.0)
        turn = 1.0 if classes.size == 2 else -1.0
        signed = turn * _of_pair(fit, shown, i, j)[rows]
        X = fit.X[rows][:, rows] if fit.options["kernel"] == "precomputed" else fit.X[rows]
        intercept = turn * float(offsets[p])
        coef, broken = _coefficients(fit, p, turn, X, signed)
        both = turn * _of_pair(fit, used[0], i, j)[rows], turn * float(used[1][p])
        broken += _disagreement(signed, intercept, *both)
        subject = "" if classes.size == 2 else f"{classes[i]} against {classes[j]}"
        yield Pair(subject, X, fit.y[rows], signs, weights[rows], signs * signed, intercept, coef, (*findings, *broken))


def _class_weights(fit: Fit) -> Array:
    """The class weights of an SVC; libsvm's nu machine does not look at them."""
    return np.ones(fit.classes.size) if fit.name == "NuSVC" else fit.class_weights(weighted=False)


def _table(fit: Fit, attribute: str) -> Array:
    """y_i alpha_i of every sample, a row for each of the K - 1 rows that libsvm keeps."""
    kept = np.atleast_2d(fit.array(attribute))
    support = _support(fit)
    if kept.shape != (fit.classes.size - 1, support.size):
        raise ValueError(
            f"{attribute} is {kept.shape}, but there are {support.size} support vectors of {fit.classes.size} classes"
        )
    if support.size and (support.min() < 0 or support.max() >= fit.n):
        raise ValueError(f"support_ names row {support.max()}, but X has {fit.n} rows: give the X of the fit")
    out = np.zeros((kept.shape[0], fit.n))
    out[:, support] = kept
    return out


def _support(fit: Fit) -> Indices:
    """The rows of the support vectors. libsvm leaves out samples without weight and counts the others only."""
    support = np.asarray(fit.value("support_"), dtype=np.intp)
    counted = np.flatnonzero(fit.weights > 0)
    if counted.size == fit.n or not support.size or support.min() < 0 or support.max() >= counted.size:
        return support
    there = counted[support]
    precomputed = fit.options["kernel"] == "precomputed"
    return there if precomputed or _same_rows(fit.value("support_vectors_"), fit.X[there]) else support


def _same_rows(kept: Any, rows: Any) -> bool:
    mine, theirs = (m.toarray() if sparse.issparse(m) else np.asarray(m) for m in (kept, rows))
    return np.array_equal(mine, theirs)


def _copy(fit: Fit) -> tuple[Array, Array]:
    """The multipliers and intercepts that predict() uses, with the signs of those that are shown."""
    turn = -1.0 if fit.classes.size == 2 else 1.0
    if not hasattr(fit.estimator, "_dual_coef_") or not hasattr(fit.estimator, "_intercept_"):
        return _table(fit, "dual_coef_"), fit.array("intercept_")
    return turn * _table(fit, "_dual_coef_"), turn * fit.array("_intercept_")


def _of_pair(fit: Fit, table: Array, i: int, j: int) -> Array:
    """The multipliers of one pair, one a sample, with libsvm's sign."""
    if fit.classes.size == 2:
        return table[0]
    place = np.searchsorted(fit.classes, fit.y)
    return np.where(place == i, table[j - 1], np.where(place == j, table[i], 0.0))


def _coefficients(fit: Fit, p: int, turn: float, X: Any, signed: Array) -> tuple[Array | None, list[str]]:
    """coef of the linear kernel, and whether it is the sum of y_i alpha_i x_i over the X given."""
    if fit.options["kernel"] != "linear":
        return None, []
    coef = turn * np.atleast_2d(fit.array("coef_"))[p]
    expected, size = np.asarray(X.T @ signed).ravel(), np.asarray(abs(X).T @ np.abs(signed)).ravel()
    off = np.abs(coef - expected)
    wrong = np.flatnonzero(off > ROUNDED_COPY * np.maximum(size, np.abs(coef)))
    if not wrong.size:
        return coef, []
    j = int(wrong[np.argmax(off[wrong])])
    return coef, [f"coef_ is not sum_i dual_coef_i x_i: feature {j} is {coef[j]:.6g} and should be {expected[j]:.6g}"]


def _disagreement(signed: Array, intercept: float, used: Array, used_intercept: float) -> list[str]:
    """Whether what is shown is what predict() uses."""
    out = []
    wrong = np.flatnonzero(np.abs(signed - used) > ROUNDED_COPY * max(float(np.abs(used).max(initial=0.0)), 1e-300))
    if wrong.size:
        i = int(wrong[np.argmax(np.abs(signed - used)[wrong])])
        out.append(
            f"dual_coef_ was changed: {wrong.size} entries disagree with those that predict() uses (sample {i} of the "
            f"machine: {signed[i]:.6g}, used {used[i]:.6g}), so coef_ = sum_i dual_coef_i x_i does not hold for both"
        )
    if abs(intercept - used_intercept) > ROUNDED_COPY * max(abs(used_intercept), 1e-300):
        out.append(f"intercept_ is {intercept:.6g}, but predict() uses {used_intercept:.6g}: one of them was changed")
    return out


def _data_findings(fit: Fit) -> Iterator[str]:
    """Whether X is the data of the fit, and in which precision it came."""
    if getattr(fit.given, "dtype", None) == np.float32:
        yield "X is single precision (float32): libsvm took it as doubles, exactly"
    if int(getattr(fit.estimator, "fit_status_", 0)):
        yield "libsvm says that the fit did not end properly (fit_status_ = 1): it was stopped early"
    kept = fit.value("support_vectors_")
    if fit.options["kernel"] == "precomputed" or not kept.shape[0]:
        return
    if not _same_rows(kept, fit.X[_support(fit)]):
        yield "support_vectors_ are not the rows support_ of X: X is not the data of the fit, or one was changed"
    if fit.name == "NuSVC" and fit.options.get("class_weight") is not None:
        yield "class_weight has no effect: libsvm's nu machine does not look at it"
