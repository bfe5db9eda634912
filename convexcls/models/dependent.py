"""Columns that are combinations of others up to rounding, such as a sum of two: the same model without them.

With K_o = K_b y + e, e as small as rounding, the scores of all columns are those of the columns b at w_b + y w_o plus
e w_o. Multipliers lambda that prove f* without the columns o prove of all columns (weak duality)

    f(w)  >=  f* - |lambda'e| |w_o|:

only coefficients as large as 1/e can do better, and what they fit is rounding. So the solution without them, given by
the shortest coefficients that have the same scores, is the best up to a ``reach`` that can be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from convexcls.arrays import UNIT_ROUNDOFF, Array, Indices, least_squares
from convexcls.data import Named, as_decimals
from convexcls.models.base import Model, sample_rows
from convexcls.problem import Problem, Term
from convexcls.rows import ConstantRows, JoinedRows, Rows, as_rows
from convexcls.rows.column_basis import NO_PART, ColumnBasis, rank_as_given
from convexcls.wording import listed, shorten

#: Coefficients within reach are at least so many times the largest of the solution.
LEAST_REACH = 1e3
#: A feature that goes has at least such a share of the largest part in what it is a combination of.
LARGE_PART = 0.05
#: Larger tables are not looked at.
MAX_ENTRIES = 100_000_000
MAX_TOLD = 6
INTERCEPT = "intercept"


@dataclass(frozen=True, eq=False)
class Dependence:
    """The features ``others`` are combinations of those ``kept``: no score moves along the ``null`` vectors (one a
    column, over the features and, last, the intercept), but by rounding. Along vector k the others are the k-th unit.
    """

    features: tuple[str, ...]
    kept: Indices
    others: Indices
    null: Array

    def combination(self, k: int) -> str:
        """What the k-th of the others is, in words."""
        names = (*map(shorten, self.features), "")
        told = ""
        for j in np.flatnonzero(np.abs(self.null[:, k]) > NO_PART):
            if j == self.others[k]:
                continue
            size, sign = abs(float(self.null[j, k])), "-" if self.null[j, k] > 0 else "+"
            factor = "" if abs(size - 1.0) <= NO_PART else f"{size:.6g}"
            term = factor or "1" if not names[j] else f"{factor} {names[j]}".strip()
            told += f" {sign} {term}" if told else f"{'-' if sign == '-' else ''}{term}"
        return f"{names[self.others[k]]} is {told or '0'}"

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the others."""
        return tuple(self.features[j] for j in self.others)

    @property
    def told(self) -> str:
        """All of them, in words."""
        return listed((self.combination(k) for k in range(self.others.size)), MAX_TOLD, " and {} more")


def dependence(problem: Problem) -> Dependence | None:
    """The columns of a model that depend on others by rounding alone; None where there are none, where the dependence
    is exact (then the model's own proof stands), and where a penalty makes the coefficients unique."""
    if not isinstance(problem, Model) or problem.norm_bounds or not _coefficients(problem):
        return None
    data = problem.data
    penalised = any(v in problem.P for v in _coefficients(problem)) or problem.parameters.get("l1")
    if penalised or data.n * data.d > MAX_ENTRIES:
        return None
    basis = ColumnBasis.of([_with_intercept(problem, sample_rows(data))])
    if basis is None or not basis.others.size or basis.is_exact:
        return None
    null = np.zeros((data.d + 1, basis.others.size))
    null[: len(basis.null_vectors)] = basis.null_vectors
    lengths = np.ones(data.d + 1)
    lengths[: basis.lengths.size] = basis.lengths
    found = _by_last_features(null, lengths)
    if found is None:
        return None
    others, null = found
    return Dependence(data.features, np.setdiff1d(np.arange(data.d), others), others, null)


def _by_last_features(null: Array, lengths: Array) -> tuple[Indices, Array] | None:
    """The null vectors combined so that each is the unit for one feature, the last ones that have a large part in them:
    a sum comes after its parts, and a choice by the largest pivot would be a tie. The last entry, the intercept, stays.
    None where some vector has no feature in it."""
    left, order = list(range(null.shape[1])), {}
    for j in range(len(null) - 2, -1, -1):
        parts = np.abs(null[:, left]) * lengths[:, None]
        shares = parts[j] / parts.max(axis=0)
        if not shares.size or not shares.max() >= LARGE_PART:
            continue
        k = left.pop(int(np.argmax(shares)))
        own = null[:, k] / null[j, k]
        null = null - np.outer(own, null[j])
        null[:, k], order[j] = own, k
    if left or not np.all(np.isfinite(null)):
        return None
    others = np.array(sorted(order), dtype=np.intp)
    return others, null[:, [order[j] for j in others.tolist()]]


def without(model: Model, found: Dependence) -> Model:
    """The same model without the dependent columns."""
    data, arguments = model.data, model.declared_with()
    if data.weighted:
        arguments["sample_weight"] = data.weights
    given = None if data.exact_matrix is None else data.exact_matrix.columns(found.kept)
    names = tuple(data.features[j] for j in found.kept)
    coding = None if data.coding is None or data.expanded is not None else data.coding.without(found.left_out)
    declare = cast(Any, type(model))
    matrix = data.matrix[:, found.kept] if data.by_block is None else data.matrix.select_columns(found.kept)
    fewer = declare(Named(matrix, names, given=given, coding=coding), data.given, **arguments)
    left_out = listed(map(shorten, found.left_out), MAX_TOLD, " and {} more")
    vars(fewer)["name"] = f"{model.name} without {left_out}"  # which its proof tells; a problem's parts are fixed
    return cast(Model, fewer)


def is_exact_as_decimals(model: Model, found: Dependence) -> bool:
    """Whether the columns depend on each other exactly once the entries are the decimals that they show."""
    data = model.data
    if data.exact_matrix is not None or data.expanded is not None or data.by_block is not None:
        return False
    rows = _with_intercept(model, as_rows(data.matrix, as_decimals(Named(data.matrix, data.features)).given))
    involved = np.flatnonzero(np.any(found.null, axis=1))
    rank = rank_as_given([rows.select_columns(involved)])
    return rank is not None and rank <= involved.size - found.others.size


def _with_intercept(model: Model, rows: Rows) -> Rows:
    """The columns of the samples and, where there is one, that of the intercept; a discriminant's columns are centred,
    which is as good."""
    if not model.parameters.get(INTERCEPT, True):
        return rows
    n, d = rows.shape
    return JoinedRows(n, d + 1, [(slice(0, d), rows), (slice(d, d + 1), ConstantRows(n))])


def lifted(model: Model, fewer: Problem, x: Array, found: Dependence) -> Array:
    """A point of the model without the dependent columns as one of all columns, with the shortest coefficients."""
    out = np.zeros(model.size)
    for v, values in fewer.split(x).items():
        own = out[model.layout[v]]
        if v in _coefficients(model):
            own.reshape(-1, len(found.null) - 1)[:, found.kept] = values.reshape(-1, found.kept.size)
        else:
            own[:] = values
    return shortened(model, out, found)


def shortened(model: Model, x: Array, found: Dependence) -> Array:
    """The point with the shortest coefficients that has the same scores, up to rounding."""
    out, flat = np.array(x), found.null[:-1]
    for v in _coefficients(model):
        own = out[model.layout[v]].reshape(-1, len(flat))
        steps = least_squares(flat, -own.T)
        out[model.layout[v]] = (own + (flat @ steps).T).ravel()
        if INTERCEPT in model.layout:
            out[model.layout[INTERCEPT]] += found.null[-1] @ steps
    return out


def reach(model: Model, x: Array, multipliers: Mapping[str, Array], found: Dependence, tol: float) -> float:
    """The sum of |coefficients of the dependent columns| below which no point has an objective that is lower by more
    than the tolerance; 0 where the solution is not well within it. ``x`` has all columns."""
    lost = 0.0
    for v in _coefficients(model):
        for k in range(model.variable(v).size // (len(found.null) - 1)):
            lost = max(lost, float(_pull(model, x, multipliers, _directions(model, v, k, found)).max(initial=0.0)))
    scale = max(abs(model.minimised(x)), model.unit)
    far = tol * scale / lost if lost > 0 else np.inf
    return far if far > LEAST_REACH * _size(model, x, found) else 0.0


def _pull(model: Model, x: Array, multipliers: Mapping[str, Array], directions: Array) -> Array:
    """A bound on |lambda'e| by direction, e what rows move along it, with the rounding of working it out."""
    out = np.abs(model.q) @ np.abs(directions)
    for block in model.blocks:
        rows = model.rows(block)
        if isinstance(block, Term):
            prices = np.abs(block.row_weights * block.loss.slope(rows @ x + block.offset))
        else:
            prices = np.abs(multipliers[block.name])
        rounding = 4.0 * (rows.row_length + 4) * UNIT_ROUNDOFF
        out = out + prices @ (np.abs(rows @ directions) + rounding * (abs(rows) @ np.abs(directions)))
    return np.asarray(out)


def _directions(model: Model, v: str, k: int, found: Dependence) -> Array:
    """The null vectors of the k-th score whose coefficients are in the variable, as points of the problem."""
    d = len(found.null) - 1
    out = np.zeros((model.size, found.others.size))
    start = model.layout[v].start + k * d
    out[start : start + d] = found.null[:-1]
    if INTERCEPT in model.layout:
        out[model.layout[INTERCEPT].start + k] = found.null[-1]
    return out


def _size(model: Model, x: Array, found: Dependence) -> float:
    """The largest coefficient of the solution, each in the units of the column that a dependent one has there."""
    largest = sample_rows(model.data).column_max()
    scores = [np.abs(x[model.layout[v]]).reshape(-1, largest.size) * largest for v in _coefficients(model)]
    return float(np.max(scores)) / float(largest[found.others].min())


def _coefficients(model: Problem) -> list[str]:
    """The variables that have a coefficient for each feature."""
    return [v.name for v in model.variables if v.name == "coef" or v.name.startswith("coef_")]
