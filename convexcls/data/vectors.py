"""Vectors that take less memory than an array: labels, weights that are all alike, multipliers that are mostly 0.

Of samples that are read by block, whatever has one entry a sample stays in the process that solves. These stand in for
such arrays: they are cut as arrays are, and what NumPy works out entry by entry from numbers and from vectors of the
same kind is worked out once for all entries that are alike. Anything else sees the array itself, for as long as it
takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

#: So many values have codes of one byte.
MAX_VALUES = 256
#: So many entries are looked at at a time.
CHUNK = 2**14


class StandIn(NDArrayOperatorsMixin):
    """Stands in for an array of one dimension."""

    ndim = 1
    size: int

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        return self.size

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """Of the array itself. What would be written into a stand-in, as by ``v += 1``, is an array of its own."""
        if any(isinstance(a, StandIn) for a in settings.get("out", ())):
            del settings["out"]
        if isinstance(settings.get("where"), StandIn):
            settings["where"] = np.asarray(settings["where"])
        return getattr(ufunc, method)(*(np.asarray(a) if isinstance(a, StandIn) else a for a in inputs), **settings)

    def copy(self) -> StandIn:
        """The vector itself, which nobody writes to."""
        return self

    def setflags(self, write: bool = False) -> None:
        """It is not written to anyway."""


class Coded(StandIn):
    """The vector ``values[codes]``; every value is that of some entry.

    >>> import numpy as np
    >>> from convexcls.data import Coded
    >>> signs = 2.0 * Coded(np.array([0, 1, 1], dtype=np.uint8), np.array([0.0, 1.0])) - 1.0
    >>> signs, signs[1:], bool(np.all(np.abs(signs) == 1.0)), float(signs @ np.ones(3))
    (<Coded: 3 entries of -1.0, 1.0>, array([1., 1.]), True, 1.0)
    """

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
        for start in range(0, array.size, CHUNK):
            values = np.unique(np.append(values, np.unique(array[start : start + CHUNK])))
            if values.size > MAX_VALUES or not np.isfinite(values).all():
                return None
        if values.size == 1:
            return cls.alike(values[0], array.size)
        codes = np.empty(array.size, dtype=np.uint8)
        for start in range(0, array.size, CHUNK):
            codes[start : start + CHUNK] = np.searchsorted(values, array[start : start + CHUNK])
        return cls(codes, values)

    # ---- as an array ------------------------------------------------------------------------------------------------

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
            codes = vectors[0].codes if vectors and isinstance(vectors[0], Coded) else None
            if codes is not None and not settings and all(getattr(a, "codes", None) is codes for a in vectors):
                return Coded(codes, ufunc(*(a.values if isinstance(a, Coded) else a for a in inputs)))
        if method == "__call__" and ufunc is np.matmul and all(np.ndim(a) == 1 for a in inputs):
            return _inner(*inputs)
        if method == "reduce" and ufunc in (np.maximum, np.minimum, np.logical_and, np.logical_or) and self.size:
            return ufunc.reduce(self.values, **settings)
        return super().__array_ufunc__(ufunc, method, *inputs, **settings)

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
        parts = (self.codes[start : start + CHUNK] for start in range(0, self.size, CHUNK))  # bincount makes them wider
        return np.sum([np.bincount(part, minlength=self.values.size) for part in parts], axis=0)

    def each(self, function: Any) -> Coded:
        """A function of every entry."""
        return Coded(self.codes, function(self.values))

    def repeat(self, repeats: int, axis: Any = None) -> Coded:
        """Every entry so many times."""
        if not self.codes.strides[0]:
            return Coded.alike(self.values[0], self.size * repeats)
        return Coded(np.repeat(self.codes, repeats), self.values)

    def astype(self, dtype: Any, **settings: Any) -> Coded:
        """The same in numbers of another kind."""
        return self.each(lambda values: values.astype(dtype))


class Sparse(StandIn):
    """So many entries: ``values`` at the ``places``, which rise, and ``rest`` everywhere else.

    >>> import numpy as np
    >>> from convexcls.data import Sparse
    >>> alpha = Sparse(6, np.array([1, 4]), np.array([0.5, 2.0]))
    >>> alpha, float(np.maximum(-alpha, 0.0).max()), alpha[3:].tolist(), float(alpha @ np.ones(6))
    (<Sparse: 2 of 6 entries other than 0.0>, 0.0, [0.0, 2.0, 0.0], 2.5)
    """

    def __init__(self, size: int, places: NDArray[np.intp], values: NDArray[Any], rest: Any = 0.0) -> None:
        self.size, self.shape, self.places, self.values = size, (size,), places, values
        self.rest = values.dtype.type(rest)
        self.dtype = values.dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        out = np.full(self.size, self.rest, dtype=self.dtype)
        out[self.places] = self.values
        return out if dtype is None else out.astype(dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(self.size)
            first, last = np.searchsorted(self.places, [start, stop])
            places = self.places[first:last] - start
            return Sparse(max(stop - start, 0), places, self.values[first:last], self.rest)
        numbers = np.asarray(index)
        if numbers.dtype.kind not in "iu" or not self.places.size:
            return np.asarray(self)[index]
        numbers = np.where(numbers < 0, numbers + self.size, numbers)
        at = np.minimum(np.searchsorted(self.places, numbers), self.places.size - 1)
        return np.where(self.places[at] == numbers, self.values[at], self.rest)[()]

    def __repr__(self) -> str:
        return f"<Sparse: {self.places.size} of {self.size} entries other than {self.rest}>"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """By place where all vectors have these places; one whose entries are all alike is as good as a number."""
        if method == "__call__" and ufunc.signature is None and ufunc.nout == 1 and not settings:
            inputs = _numbers_where_alike(inputs)
            vectors = [a for a in inputs if np.ndim(a)]
            if all(isinstance(a, Sparse) and a.places is self.places for a in vectors):
                rest = ufunc(*(a.rest if isinstance(a, Sparse) else a for a in inputs))
                values = ufunc(*(a.values if isinstance(a, Sparse) else a for a in inputs))
                return Sparse(self.size, self.places, np.asarray(values), rest)
        if ufunc is np.matmul and method == "__call__" and len(inputs[0]) == len(inputs[1]) and not self.rest:
            first, second = (a.values if a is self else a[self.places] for a in inputs)
            return first @ second
        if method == "reduce" and ufunc in (np.maximum, np.minimum, np.logical_and, np.logical_or):
            return ufunc.reduce(self._different, **settings)
        return super().__array_ufunc__(ufunc, method, *inputs, **settings)

    @property
    def _different(self) -> NDArray[Any]:
        """All values, each as often as it is told."""
        return self.values if self.places.size == self.size else np.append(self.values, self.rest)

    def all(self, axis: Any = None, out: Any = None) -> Any:
        """Whether all entries are true."""
        return self._different.all()

    def any(self, axis: Any = None, out: Any = None) -> Any:
        """Whether some entry is."""
        return self._different.any()

    def max(self, axis: Any = None, out: Any = None, **settings: Any) -> Any:
        """The largest entry."""
        return self._different.max(**settings)

    def min(self, axis: Any = None, out: Any = None, **settings: Any) -> Any:
        """The lowest entry."""
        return self._different.min(**settings)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of the entries."""
        return self.values.sum() + self.rest * (self.size - self.places.size)

    def astype(self, dtype: Any, **settings: Any) -> Sparse:
        """The same in numbers of another kind."""
        return Sparse(self.size, self.places, self.values.astype(dtype), self.rest)


class Counting(StandIn):
    """The numbers from 0 on, so many of them."""

    dtype = np.dtype(np.intp)

    def __init__(self, size: int) -> None:
        self.size, self.shape = size, (size,)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.arange(self.size, dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return np.arange(*index.indices(self.size))
        if isinstance(index, tuple) or (numbers := np.asarray(index)).dtype.kind not in "iu":
            return np.asarray(self)[index]
        return np.where(numbers < 0, numbers + self.size, numbers)[()]


class Recalled(StandIn):
    """A vector that is worked out again whenever somebody looks at it."""

    dtype = np.dtype(float)

    def __init__(self, size: int, make: Callable[[], NDArray[Any]]) -> None:
        self.size, self.shape, self.make = size, (size,), make

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        out = self.make()
        return out if dtype is None else out.astype(dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]


def nonzero_places(vector: Any) -> NDArray[np.intp]:
    """Where the entries are that are not 0."""
    if isinstance(vector, Sparse) and not vector.rest:
        return vector.places[vector.values != 0]
    return np.flatnonzero(vector)


def copied(vector: Any) -> Any:
    """A copy of an array; what stands in for one is not written to."""
    return vector if isinstance(vector, StandIn) else np.array(vector)


def joined_vectors(vectors: Sequence[Any]) -> Any:
    """Vectors one after the other: a single one as it is."""
    return vectors[0] if len(vectors) == 1 else np.concatenate(vectors)


def _numbers_where_alike(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs with numbers in place of the vectors whose entries are all alike, as long as a vector is left."""
    alike = [isinstance(a, Coded) and not a.codes.strides[0] for a in inputs]
    left = next(
        (k for k, a in enumerate(inputs) if np.ndim(a) and not alike[k]), alike.index(True) if any(alike) else 0
    )
    return tuple(a.values[0] if alike[k] and k != left else a for k, a in enumerate(inputs))


def _inner(a: Any, b: Any) -> Any:
    """The inner product of two vectors, one of them coded."""
    if isinstance(a, Coded) and isinstance(b, Coded) and isinstance(made := a * b, Coded):
        return made.sum()
    return sum(a[start : start + CHUNK] @ b[start : start + CHUNK] for start in range(0, len(a), CHUNK))


def is_coded(vector: Any) -> bool:
    """Whether it is one of these."""
    return isinstance(vector, Coded)


def same_vector(a: Any, b: Any) -> bool:
    """Whether two vectors have the same entries; of coded ones by their codes."""
    if isinstance(a, Coded) and isinstance(b, Coded) and a.codes is b.codes:
        return bool(np.array_equal(a.values, b.values))
    return bool(np.array_equal(a, b))
