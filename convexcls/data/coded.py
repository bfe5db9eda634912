"""Vectors of few different numbers, a byte an entry or less: labels, signs, and weights that are all alike.

Of samples that are read by block, whatever has one entry a sample stays in the process that solves. ``Coded`` stands in
for such an array: it is cut as one, and what NumPy works out entry by entry from numbers and from vectors with the same
codes is worked out for each value once, and coded again. Anything else sees the array itself, for as long as it takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

#: So many values have codes of one byte.
MAX_VALUES = 256


class Coded(NDArrayOperatorsMixin):
    """The vector ``values[codes]``; every value is that of some entry.

    >>> import numpy as np
    >>> from convexcls.data import Coded
    >>> signs = 2.0 * Coded(np.array([0, 1, 1], dtype=np.uint8), np.array([0.0, 1.0])) - 1.0
    >>> signs, signs[1:], bool(np.all(np.abs(signs) == 1.0)), signs @ np.ones(3)
    (<Coded: 3 entries of -1.0, 1.0>, array([1., 1.]), True, 1.0)
    """

    ndim = 1

    def __init__(self, codes: NDArray[np.uint8], values: NDArray[Any]) -> None:
        self.codes, self.values = codes, values
        self.shape, self.size, self.dtype = codes.shape, codes.size, values.dtype

    @classmethod
    def alike(cls, value: Any, size: int) -> Coded:
        """As many entries, all of one value, in the memory of one."""
        return cls(np.broadcast_to(np.uint8(0), (size,)), np.array([value]))

    @classmethod
    def of(cls, array: NDArray[Any]) -> Coded | None:
        """An array of few different numbers; None where there are many, or none, or some that are not finite."""
        if not array.size:
            return None
        values = np.unique(array[: 2 * MAX_VALUES])  # many are seen at once
        for start in range(0, array.size, 2**20):
            values = np.unique(np.append(values, np.unique(array[start : start + 2**20])))
            if values.size > MAX_VALUES or not np.isfinite(values).all():
                return None
        if values.size == 1:
            return cls.alike(values[0], array.size)
        codes = np.empty(array.size, dtype=np.uint8)
        for start in range(0, array.size, 2**20):
            codes[start : start + 2**20] = np.searchsorted(values, array[start : start + 2**20])
        return cls(codes, values)

    # ---- as an array ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        out = self.values[self.codes]
        return out if dtype is None else out.astype(dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return np.asarray(self)[index]
        return self.values[self.codes[index]]

    def __repr__(self) -> str:
        return f"<Coded: {self.size} entries of {', '.join(map(str, self.values[:8].tolist()))}>"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """By value where all vectors have the same codes; one whose entries are all alike is as good as a number."""
        if method == "__call__" and ufunc.signature is None and ufunc.nout == 1:
            inputs = _numbers_where_alike(inputs)
            vectors = [a for a in inputs if np.ndim(a)]
            codes = vectors[0].codes if isinstance(vectors[0], Coded) else None
            if codes is not None and not settings and all(getattr(a, "codes", None) is codes for a in vectors):
                return Coded(codes, ufunc(*(a.values if isinstance(a, Coded) else a for a in inputs)))
        if method == "reduce" and ufunc in (np.maximum, np.minimum, np.logical_and, np.logical_or) and self.size:
            return ufunc.reduce(self.values, **settings)
        return getattr(ufunc, method)(*(np.asarray(a) if isinstance(a, Coded) else a for a in inputs), **settings)

    # ---- what is known from the values ------------------------------------------------------------------------------

    def all(self, axis: Any = None, out: Any = None) -> Any:
        """Whether all entries are true."""
        return self.values.all() or not self.size

    def any(self, axis: Any = None, out: Any = None) -> Any:
        """Whether some entry is."""
        return self.values.any() and self.size > 0

    def max(self, axis: Any = None, out: Any = None, **settings: Any) -> Any:
        """The largest entry."""
        return (self.values if self.size else self.values[:0]).max(**settings)

    def min(self, axis: Any = None, out: Any = None, **settings: Any) -> Any:
        """The lowest entry."""
        return (self.values if self.size else self.values[:0]).min(**settings)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of the entries, added up by value."""
        return self.counts @ self.values

    @property
    def counts(self) -> NDArray[np.intp]:
        """How many entries each value has."""
        if not self.codes.strides[0]:
            return np.array([self.size])
        parts = (self.codes[start : start + 2**20] for start in range(0, self.size, 2**20))  # bincount makes them wider
        return np.sum([np.bincount(part, minlength=self.values.size) for part in parts], axis=0)

    def repeat(self, repeats: int, axis: Any = None) -> Coded:
        """Every entry so many times."""
        if not self.codes.strides[0]:
            return Coded.alike(self.values[0], self.size * repeats)
        return Coded(np.repeat(self.codes, repeats), self.values)

    def ravel(self, order: str = "C") -> NDArray[Any]:
        """The array itself."""
        return np.asarray(self)

    def astype(self, dtype: Any, **settings: Any) -> Coded:
        """The same in numbers of another kind."""
        return Coded(self.codes, self.values.astype(dtype))

    def tolist(self) -> list[Any]:
        """The entries as Python's own numbers."""
        values: list[Any] = np.asarray(self).tolist()
        return values


def _numbers_where_alike(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs with numbers in place of the vectors whose entries are all alike, as long as a vector is left."""
    alike = [isinstance(a, Coded) and not a.codes.strides[0] for a in inputs]
    left = next((k for k, a in enumerate(inputs) if np.ndim(a) and not alike[k]), alike.index(True) if any(alike) else 0)
    return tuple(a.values[0] if alike[k] and k != left else a for k, a in enumerate(inputs))


def same_vector(a: Any, b: Any) -> bool:
    """Whether two vectors have the same entries; of coded ones by their codes."""
    if isinstance(a, Coded) and isinstance(b, Coded) and a.codes is b.codes:
        return bool(np.array_equal(a.values, b.values))
    return bool(np.array_equal(a, b))
