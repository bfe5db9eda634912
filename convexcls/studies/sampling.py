"""Samples drawn from a model: labels at given X, or whole samples from Gaussian classes.

Every draw has a seed: the same seed gives the same samples, with whatever number of rows is drawn after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from convexcls.arrays import Array
from convexcls.data import DataError, check_matrix, finite_doubles
from convexcls.rows.scores import row_products

if TYPE_CHECKING:
    from convexcls.models.gaussian import GaussianEstimates


def draw_labels(X: Any, coef: Any, intercept: Any = 0.0, *, labels: Sequence[Any] = (), seed: int = 0) -> NDArray[Any]:
    """A label for each row of X, drawn from a logistic or softmax model.

    With one vector ``coef`` the second label has the probability 1 / (1 + exp(-(coef'x + intercept))) (ESL 4.17); with
    one row of ``coef`` and one intercept a class, class k has one proportional to exp(coef_k'x + intercept_k). The
    ``labels`` are 0, 1, ... where none are given.

    >>> import convexcls as cc
    >>> cc.draw_labels([[-30.0], [30.0]], coef=[2.0], labels=["no", "yes"], seed=1).tolist()  # all but certain
    ['no', 'yes']
    """
    matrix = check_matrix(X)
    slopes, shifts = finite_doubles(np.asarray(coef), "coef"), finite_doubles(np.atleast_1d(intercept), "intercept")
    if slopes.ndim not in (1, 2) or slopes.shape[-1] != matrix.shape[1]:
        raise DataError(f"coef is of the shape {slopes.shape}: give one entry a feature ({matrix.shape[1]})")
    count = 2 if slopes.ndim == 1 else slopes.shape[0]
    if shifts.size not in (1, 1 if slopes.ndim == 1 else count):
        raise DataError(f"there are {shifts.size} intercepts for {count} classes")
    scores = row_products(matrix, np.atleast_2d(slopes).T) + shifts
    chances = np.column_stack([expit(-scores), expit(scores)]) if slopes.ndim == 1 else softmax(scores, axis=1)
    return _named(_chosen(np.random.default_rng(seed), chances), labels, count)


def draw_samples(
    n: int, estimates: GaussianEstimates, *, labels: Sequence[Any] = (), seed: int = 0
) -> tuple[Array, NDArray[Any]]:
    """``n`` samples and their labels from Gaussian classes: class k with its prior, then x from N(mean_k, covariance).

    ``estimates`` are those of a ``GaussianMLE`` (``solution.estimates``), or anything with ``priors``, ``means`` and
    ``covariance``, one for all classes or one a class.

    >>> import convexcls as cc
    >>> s = cc.GaussianMLE([[1, 1], [3, 2], [2, 3], [7, 5], [9, 6], [8, 7]], ["a"] * 3 + ["b"] * 3).solve()
    >>> X, y = cc.draw_samples(4000, s.estimates, labels=s.data.labels, seed=1)
    >>> X[y == "b"].mean(axis=0).round().tolist()
    [8.0, 6.0]
    """
    if n < 0:
        raise DataError(f"n is {n}: give a number of samples")
    priors, means = np.asarray(estimates.priors, dtype=float), np.asarray(estimates.means, dtype=float)
    covariance = np.asarray(estimates.covariance, dtype=float)
    rng = np.random.default_rng(seed)
    classes = _chosen(rng, np.broadcast_to(priors, (n, priors.size)))
    roots = np.array([_root(part) for part in covariance.reshape(-1, *covariance.shape[-2:])])
    roots = np.broadcast_to(roots, (priors.size, *roots.shape[1:]))
    noise = rng.normal(size=(n, means.shape[1]))
    X = means[classes] + np.einsum("nij,nj->ni", roots[classes], noise)
    return X, _named(classes, labels, priors.size)


def _root(covariance: Array) -> Array:
    """R with R R' = covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    if values.min() < -1e-9 * max(values.max(), 0.0):
        raise DataError(f"the covariance is not positive semidefinite: eigenvalue {values.min():.3g}")
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _chosen(rng: np.random.Generator, chances: Array) -> NDArray[np.intp]:
    """A class for each row, by its probabilities."""
    ends = np.cumsum(chances, axis=1)
    draws = rng.random(len(chances)) * ends[:, -1]
    return np.asarray((draws[:, None] >= ends[:, :-1]).sum(axis=1), dtype=np.intp)


def _named(classes: NDArray[np.intp], labels: Sequence[Any], count: int) -> NDArray[Any]:
    if not len(labels):
        return classes
    if len(labels) != count:
        raise DataError(f"there are {len(labels)} labels for {count} classes")
    return np.array(labels)[classes]
