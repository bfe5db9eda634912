"""Unknowns in which the columns of the rows are far from repeating each other.

Features with an offset of 1e6 are nearly multiples of the intercept's column: then R'DR has lost most of its digits
before it is factored. With x = Tz, T from the eigenvectors of R'R, the columns of RT are nearly orthogonal, and remain
far from dependent for other weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, eigh

from convexcls.rows import DenseRows
from convexcls.solvers.row_program import RowProgram

Array = NDArray[np.float64]

#: Columns whose scaled Gram matrix has pivots above this are left as they are.
INDEPENDENT = 1e-3
#: Eigenvalues of the scaled Gram matrix below this may be rounding: such a direction is not made longer.
ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class ColumnBasis:
    """T and its inverse."""

    T: Array
    inverse: Array

    @classmethod
    def of(cls, program: RowProgram) -> ColumnBasis | None:
        """A better basis; None where the unknowns are good as they are, or the rows are sparse."""
        if not isinstance(program.rows, DenseRows) or program.rows.shape[0] < 2:
            return None
        gram = program.rows.gram(np.ones(program.rows.shape[0]))
        diagonal = gram.diagonal()
        unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = gram * unit[:, None] * unit
        if not np.all(np.isfinite(scaled)) or _independent(scaled):
            return None
        values, vectors = eigh(scaled, check_finite=False)
        length = 1.0 / np.sqrt(np.where(values <= ROUNDING * values.size, 1.0, values))
        return cls(unit[:, None] * vectors * length, (vectors / length).T / unit)

    def program(self, program: RowProgram) -> RowProgram:
        """The program over z, x = Tz."""
        assert isinstance(program.rows, DenseRows)
        return replace(
            program,
            P=self.T.T @ program.P @ self.T,
            q=_without_rounding(program.q, self.T),
            rows=DenseRows(program.rows.array @ self.T),
            A=_without_rounding(program.A, self.T),
        )


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknowns in which a program is solved: its own, or those of a basis."""

    program: RowProgram
    basis: ColumnBasis | None

    @classmethod
    def of(cls, program: RowProgram) -> Unknowns:
        basis = ColumnBasis.of(program)
        return cls(program if basis is None else basis.program(program), basis)

    def there(self, x: Array) -> Array:
        """z of x."""
        return x if self.basis is None else np.asarray(self.basis.inverse @ x)

    def back(self, z: Array) -> Array:
        """x of z."""
        return z if self.basis is None else np.asarray(self.basis.T @ z)


def _without_rounding(left: Array, T: Array) -> Array:
    """left @ T, with 0 where the products cancel to rounding."""
    product, summed = left @ T, np.abs(left) @ np.abs(T)
    return np.where(np.abs(product) <= ROUNDING * summed, 0.0, product)


def _independent(scaled: Array) -> bool:
    """Whether the columns are far enough from depending on each other; columns of zeros do not count."""
    used = scaled.diagonal() > 0
    try:
        factor = cholesky(scaled[np.ix_(used, used)], lower=True, check_finite=False)
    except LinAlgError:
        return False
    return bool(factor.diagonal().min(initial=1.0) > INDEPENDENT)
