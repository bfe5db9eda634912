"""Unknowns in which the columns of the rows are far from repeating each other.

Features with an offset of 1e6 are nearly multiples of the intercept's column: then R'DR has lost most of its digits
before it is factored. With x = Tz, T from the eigenvectors of R'R, the columns of RT are nearly orthogonal, and remain
far from dependent for other weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from convexcls.arrays import Array
from convexcls.rows import DenseRows, Rows
from convexcls.rows.summation import row_blocks
from convexcls.solvers.rows.dependent_columns import KeptUnknowns, spanning_columns
from convexcls.solvers.rows.row_program import RowProgram, working_copy

#: Whether columns repeat each other is seen on so many rows.
SAMPLE_ROWS = 2000
#: Columns whose scaled Gram matrix has pivots above this are left as they are.
SMALLEST_INDEPENDENT_PIVOT = 1e-3
#: Eigenvalues of the scaled Gram matrix below this may be rounding: such a direction is not made longer.
ROUNDING = 1e-15


class RowsInBasis(Rows):
    """RT, lazily; some of its rows are multiplied out, and with them their Gram matrix."""

    def __init__(self, base: Rows, T: Array) -> None:
        self.base, self.shape, self.basis = base, base.shape, T

    def __matmul__(self, v: Array) -> Array:
        return self.base @ (self.basis @ v)

    def transposed_matmul(self, u: Array) -> Array:
        return np.asarray(self.basis.T @ self.base.transposed_matmul(u))

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        for block in row_blocks(self.shape[0]):
            out += self[block].gram(weights[block])
        return out

    def __getitem__(self, index: Any) -> Rows:
        chosen = np.arange(self.shape[0])[index]
        return DenseRows(working_copy(self.base, chosen).to_dense() @ self.basis)

    def __abs__(self) -> Rows:
        return abs(self[:])

    def to_matrix(self) -> Any:
        return self[:].to_matrix()


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknowns in which a program is solved: its own where T is None, else z with x = Tz."""

    program: RowProgram
    T: Array | None = None
    inverse: Array | None = None

    @classmethod
    def of(cls, program: RowProgram) -> Unknowns:
        n, k = program.rows.shape
        index = np.arange(0, n, max(1, n // max(SAMPLE_ROWS, 5 * k)))
        some = working_copy(program.rows, index)
        if _independent(some.gram(np.ones(index.size))):
            return cls(program)
        basis = spanning_columns(program, index)
        if basis is None:
            return cls._in_eigenvectors(program, some)
        kept = KeptUnknowns.of(program, basis)
        inner = cls._in_eigenvectors(kept.program, working_copy(kept.program.rows, index))
        if inner.T is None or inner.inverse is None:
            return cls(kept.program, kept.T, kept.inverse)
        return cls(inner.program, kept.T @ inner.T, inner.inverse @ kept.inverse)

    @classmethod
    def _in_eigenvectors(cls, program: RowProgram, some: Rows) -> Unknowns:
        """Orthogonal columns, judged by some rows, where they are far from that."""
        array, gram = some.in_memory(), some.gram(np.ones(some.shape[0]))
        if not isinstance(array, np.ndarray) or _independent(gram):
            return cls(program)
        unit = _units(gram)
        scaled = gram * unit[:, None] * unit
        if not np.all(np.isfinite(scaled)):
            return cls(program)
        values, vectors = eigh(scaled, check_finite=False)
        length = 1.0 / np.sqrt(np.where(values <= ROUNDING * values.size, 1.0, values))
        T = unit[:, None] * vectors * length
        other = replace(
            program,
            P=T.T @ program.P @ T,
            q=_without_rounding(program.q, T),
            rows=RowsInBasis(program.rows, T),
            A=_without_rounding(program.A, T),
        )
        return cls(other, T, (vectors / length).T / unit)

    def z_of(self, x: Array) -> Array:
        """z of x."""
        return x if self.inverse is None else np.asarray(self.inverse @ x)

    def x_of(self, z: Array) -> Array:
        """x of z."""
        return z if self.T is None else np.asarray(self.T @ z)


def _without_rounding(matrix: Array, T: Array) -> Array:
    """matrix @ T, with 0 where the products cancel to rounding."""
    product, summed = matrix @ T, np.abs(matrix) @ np.abs(T)
    return np.where(np.abs(product) <= ROUNDING * summed, 0.0, product)


def _units(gram: Array) -> Array:
    """What makes the diagonal one."""
    diagonal = gram.diagonal()
    return np.asarray(1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)))


def _independent(gram: Array) -> bool:
    """Whether the columns are far enough from depending on each other; columns of zeros do not count."""
    used = gram.diagonal() > 0
    unit = _units(gram)
    scaled = gram * unit[:, None] * unit
    try:
        factor = cholesky(scaled[np.ix_(used, used)], lower=True, check_finite=False)
    except LinAlgError:
        return False
    return bool(factor.diagonal().min(initial=1.0) > SMALLEST_INDEPENDENT_PIVOT)
