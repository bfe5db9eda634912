"""The two-class machines inside a fitted SVC or NuSVC: one, or one for each pair of classes.

libsvm keeps the multipliers of all pairs in one table of K - 1 rows: for the pair (i, j), i < j, those of class i are
in row j - 1 and those of class j in row i, positive for class i. Here the second class of a pair is the positive one,
as it is in scikit-learn for two classes.

scikit-learn keeps them twice: dual_coef_ and intercept_ are shown, and coef_ is made of them; predict() uses copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.arrays import Array, Indices
from convexcls.referee.reading import Fit

#: Two copies of the same number may differ by this fraction.
SAME = 1e-9


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
    wrong = np.flatnonzero(off > SAME * np.maximum(size, np.abs(coef)))
    if not wrong.size:
        return coef, []
    j = int(wrong[np.argmax(off[wrong])])
    return coef, [f"coef_ is not sum_i dual_coef_i x_i: feature {j} is {coef[j]:.6g} and should be {expected[j]:.6g}"]


def _disagreement(signed: Array, intercept: float, used: Array, used_intercept: float) -> list[str]:
    """Whether what is shown is what predict() uses."""
    out = []
    wrong = np.flatnonzero(np.abs(signed - used) > SAME * max(float(np.abs(used).max(initial=0.0)), 1e-300))
    if wrong.size:
        i = int(wrong[np.argmax(np.abs(signed - used)[wrong])])
        out.append(
            f"dual_coef_ was changed: {wrong.size} entries disagree with those that predict() uses (sample {i} of the "
            f"machine: {signed[i]:.6g}, used {used[i]:.6g}), so coef_ = sum_i dual_coef_i x_i does not hold for both"
        )
    if abs(intercept - used_intercept) > SAME * max(abs(used_intercept), 1e-300):
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
