"""Checked samples that carry the names of their features, and those that basis functions made of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from convexcls.data.given import Given
from convexcls.wording import listed


@dataclass(frozen=True, eq=False)
class Named:
    """A matrix (dense or sparse) with the names of its columns, and its entries as they were given where doubles round
    them."""

    matrix: Any
    features: tuple[str, ...]
    given: Given | None = field(default=None, kw_only=True)

    @property
    def shape(self) -> tuple[int, int]:
        """How many samples and features there are."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: Any) -> Self:
        """Some of the samples."""
        return replace(self, matrix=self.matrix[rows], given=None if self.given is None else self.given.take(rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if sparse.issparse(self.matrix):
            raise TypeError("these samples are sparse: use .matrix, or .matrix.toarray() for all the zeros")
        return np.array(self.matrix, dtype=dtype) if copy else np.asarray(self.matrix, dtype=dtype)

    def __repr__(self) -> str:
        shown = listed(self.features, 8)
        return f"<{len(self)} samples of {shown}>"


@dataclass(frozen=True, eq=False, repr=False)
class Expanded(Named):
    """The basis functions phi_j(x_i), one row a sample, with what made them: the ``basis``, fixed so that it makes the
    same functions of other samples, the names of its ``inputs`` and these themselves, ``origin``. Any model takes it in
    place of X."""

    basis: Callable[[Any], Expanded]
    inputs: tuple[str, ...]
    origin: Any = field(default=None, kw_only=True)

    def take(self, rows: Any) -> Self:
        return replace(super().take(rows), origin=None if self.origin is None else self.origin[rows])
