"""Functions of the distance from centres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.basis.base import Basis, check_count, refuse_sparse
from convexcls.data import DataError, Named, check_matrix


@dataclass(frozen=True, eq=False)
class Radial(Basis):
    """exp(-gamma ‖x - c‖^2) for every centre c (ESL 6.28).

    ``centres`` are points, one a row; or a number k, for k of the training samples; or None, for all of them. The k
    are chosen by farthest points: first the sample nearest to the mean, then again and again the one farthest from
    those chosen, the first one among equals. So the same samples always give the same centres.

    >>> import convexcls as cc
    >>> bumps = cc.Radial([[0.0], [2.0]], gamma=0.5)([[0.0], [1.0], [5.0]])
    >>> bumps.features
    ('near centre 0 (0)', 'near centre 1 (2)')
    >>> bumps.matrix[1].round(6).tolist()  # exp(-1/2) from either centre
    [0.606531, 0.606531]
    """

    centres: Any = None
    gamma: float = 1.0

    def __post_init__(self) -> None:
        gamma = self.gamma
        if isinstance(gamma, bool) or not isinstance(gamma, (int, float, np.number)) or not 0 < gamma < np.inf:
            raise ValueError(f"gamma is {gamma!r}: it must be a number above 0")
        if self.centres is None:
            return
        if isinstance(self.centres, (int, np.integer)) and not isinstance(self.centres, bool):
            if self.centres < 1:
                raise ValueError(f"centres is {self.centres!r}: at least one is needed")
            return
        refuse_sparse(self.centres, self)
        try:
            centres = np.array(check_matrix(self.centres))
        except DataError as error:
            raise DataError(f"the centres of a radial basis are points, one a row: {error}") from None
        if not len(centres):
            raise DataError("the centres of a radial basis are none: give at least one point")
        centres.setflags(write=False)
        object.__setattr__(self, "centres", centres)

    def fixed(self, matrix: Any) -> Radial:
        if isinstance(self.centres, np.ndarray):
            return self
        refuse_sparse(matrix, self)
        count = len(matrix) if self.centres is None else int(self.centres)
        if count > len(matrix):
            raise DataError(f"{count} centres are asked for, but X has {len(matrix)} rows: ask for fewer")
        return replace(self, centres=matrix if self.centres is None else matrix[farthest_points(matrix, count)])

    def columns(self, matrix: Any, inputs: Sequence[str]) -> Named:
        refuse_sparse(matrix, self)
        centres: Array = self.centres
        if centres.shape[1] != matrix.shape[1]:
            raise DataError(f"X has {matrix.shape[1]} columns, but the centres have {centres.shape[1]}")
        check_count(len(centres), self)
        with np.errstate(over="ignore", under="ignore"):  # infinitely far is 0, as it should be
            out = np.exp(-self.gamma * squared_distances(matrix, centres))
        return Named(out, tuple(_name(k, centre) for k, centre in enumerate(centres)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Radial):
            return NotImplemented
        return self.gamma == other.gamma and np.array_equal(self.centres, other.centres)

    def __hash__(self) -> int:
        return hash(("radial", float(self.gamma)))

    def __repr__(self) -> str:
        centres = f"{len(self.centres)} points" if isinstance(self.centres, np.ndarray) else self.centres
        return f"Radial(centres={centres}, gamma={self.gamma:g})"


def squared_distances(X: Array, centres: Array) -> Array:
    """‖x_i - c_j‖^2 by differences, which keeps the digits that ‖x‖^2 - 2 x'c + ‖c‖^2 cancels."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(X, centres, "sqeuclidean"))


def farthest_points(X: Array, count: int) -> list[int]:
    """The rows chosen as centres: see ``Radial``."""
    with np.errstate(over="ignore"):
        chosen = [int(np.argmin(squared_distances(X, X.mean(axis=0)[None, :])[:, 0]))]
        distance = np.full(len(X), np.inf)
        while len(chosen) < count:
            distance = np.minimum(distance, squared_distances(X, X[chosen[-1:]])[:, 0])
            distance[chosen] = -1.0
            chosen.append(int(np.argmax(distance)))
    return chosen


def _name(k: int, centre: Array) -> str:
    if centre.size > 3:
        return f"near centre {k}"
    return f"near centre {k} ({', '.join(f'{value:.6g}' for value in centre)})"
