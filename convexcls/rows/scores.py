"""Scores that depend on the sample alone, with ties settled.

BLAS adds up the products of one row in another order than those of many, and on every processor in its own way: a
sample on the plane is then above it or below, as the batch has it. Here every row is added up in one order, and a
score s = coef'x + intercept counts as 0 where

    |s| <= gamma (|coef|'|x| + |intercept|) + underflow,        gamma = (k + c) 2^-53 / (1 - (k + c) 2^-53)

which is the bound on its rounding (k features; c as in ``summation``): no more is known of its sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.rows.summation import rounding, row_blocks

#: So many products are added up at a time: einsum has its own order up to 8192, its buffer, and splits longer sums.
SUMMED_PRODUCTS = 4096


def row_products(X: Any, v: Array) -> Array:
    """X v, every row added up in the same order, whatever rows stand beside it and whatever BLAS there is."""
    if sparse.issparse(X):
        return np.asarray(X @ v)  # SciPy goes through the entries of a row as they are stored
    if v.ndim == 2:
        return np.stack([row_products(X, column) for column in v.T], axis=1) if v.shape[1] else np.empty((len(X), 0))
    v, out = np.ascontiguousarray(v), np.zeros(X.shape[0])
    for rows in row_blocks(X.shape[0]):
        part = np.ascontiguousarray(X[rows])
        for start in range(0, v.size, SUMMED_PRODUCTS):
            columns = slice(start, start + SUMMED_PRODUCTS)
            out[rows] += np.einsum("ij,j->i", part[:, columns], v[columns])
    return out


def linear_scores(X: Any, coef: Array, intercept: Array | float) -> Array:
    """coef'x + intercept for every row x of X, ties settled; one column for each row of coef where it has several."""
    n = X.shape[0]
    out = np.empty((n, *coef.shape[:-1]))
    for rows in [slice(0, n)] if sparse.issparse(X) else row_blocks(n):
        part = X if sparse.issparse(X) else np.ascontiguousarray(X[rows])
        out[rows] = _block_scores(part, coef, intercept)
    return out


def _block_scores(part: Any, coef: Array, intercept: Array | float) -> Array:
    """The scores of a block. Whether a tie is possible is seen from norms; only such rows are looked at closely."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scores = row_products(part, coef.T) + intercept
        entries = part.data if sparse.issparse(part) else part
        largest = np.linalg.norm(entries) * np.linalg.norm(coef) + np.abs(intercept).max()
        close = np.flatnonzero(~(_lead(scores) > 4.0 * rounding(largest, coef.shape[-1])))  # where a norm is inf: all
        if close.size:
            sizes = row_products(abs(part[close]), np.abs(coef).T) + np.abs(intercept)
            scores[close] = settled(scores[close], rounding(sizes, coef.shape[-1]))
    return scores


def _lead(scores: Array) -> Array:
    """How far a row is from a tie: from 0, or the largest score from the second."""
    if scores.ndim == 1 or scores.shape[1] < 2:
        return np.abs(scores).reshape(-1)
    top = np.partition(scores, -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2])


def settled(scores: Array, bound: Array) -> Array:
    """The scores with ties made exact: 0 where it is within the bound; of several classes, those that may be the
    largest are made equal to it, so that the first of them wins. Where the bound overflows, scores stay as they are."""
    bound = np.where(np.isfinite(bound), bound, -1.0)
    if scores.ndim == 1:
        return np.where(np.abs(scores) <= bound, 0.0, scores)
    top = scores.argmax(axis=1)[:, None]
    best = np.take_along_axis(scores, top, axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(best - scores <= bound + np.take_along_axis(bound, top, axis=1), best, scores)
