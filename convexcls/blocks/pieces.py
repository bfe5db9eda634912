"""A block of a file: where it is, how it is read, and whether it is still what was checked."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.data import DataError, compressed
from convexcls.engines import BlocksChanged
from convexcls.wording import clean

#: A block and what belongs to its samples: the features, the targets and the weights, where there are any.
Contents = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are for."""

    features: tuple[str, ...]
    target: str | None = None
    weights: str | None = None

    @property
    def used(self) -> list[str]:
        """All that are read."""
        return [*self.features, *(name for name in (self.target, self.weights) if name is not None)]


@dataclass(frozen=True)
class Stamp:
    """The size of a file and when it was changed last."""

    size: int
    changed: int

    @classmethod
    def of(cls, path: str) -> Stamp:
        """As the file is now."""
        found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, kw_only=True)
class FilePiece(ABC):
    """A block of a file. ``digest`` is that of its features when they were checked, empty where none was taken;
    ``number`` counts the blocks of the file."""

    path: str
    stamp: Stamp
    number: int = 0
    digest: str = ""

    @abstractmethod
    def contents(self) -> Contents:
        """Features, targets and weights, as they stand in the file."""

    @abstractmethod
    def features(self) -> Any:
        """The features alone."""

    def read(self) -> Any:
        """The features, the same as when they were checked: where the file has been written to since, the digest
        tells."""
        same = self._stands_still()
        try:
            matrix = self.features()
        except BlocksChanged:
            raise
        except Exception as error:
            if same:
                raise BlocksChanged(f"{self}: cannot be read any more: {clean(str(error))[:200]}") from None
            raise BlocksChanged(f"{self}: the file was changed since it was checked, and cannot be read") from None
        if not same and digest_of(matrix) != self.digest:
            raise BlocksChanged(f"{self}: the data were changed since they were checked: read them anew")
        return matrix

    def _stands_still(self) -> bool:
        try:
            return Stamp.of(self.path) == self.stamp
        except OSError as error:
            raise BlocksChanged(f"{self}: the file is gone since it was checked ({error.strerror})") from None

    def __str__(self) -> str:
        return f"{self.path}, block {self.number}"


@dataclass(frozen=True)
class WholeContents:
    """A block with all that belongs to it, as the check reads it; never held."""

    piece: Any

    def read(self) -> Contents:
        return self.piece.contents()

    def __str__(self) -> str:
        return str(self.piece)


def digest_of(matrix: Any) -> str:
    """A digest of the values of a block, whatever they are stored in: of doubles in rows, or of a sparse matrix."""
    seen = hashlib.blake2b(digest_size=16)
    if sparse.issparse(matrix):
        by_row = sparse.csr_array(matrix)
        seen.update(f"sparse {by_row.shape}".encode())
        for part in (by_row.indptr.astype(np.int64), by_row.indices.astype(np.int64), by_row.data):
            seen.update(np.ascontiguousarray(part).data)
    else:
        seen.update(f"dense {matrix.shape}".encode())
        seen.update(np.ascontiguousarray(matrix).data)
    return seen.hexdigest()


def as_block(matrix: Any) -> Any:
    """A block as all work wants it: doubles in rows, or a compressed sparse matrix."""
    if sparse.issparse(matrix):
        return sparse.csr_array(compressed(matrix))
    return np.ascontiguousarray(matrix, dtype=np.float64)


def number_columns(columns: list[Any], names: tuple[str, ...], place: str) -> Array:
    """Columns side by side; those that are not numbers are refused by name."""
    out = np.empty((len(columns[0]) if columns else 0, len(columns)))
    for j, (column, name) in enumerate(zip(columns, names, strict=True)):
        array = np.asarray(column)
        if array.dtype.kind not in "fiub":
            raise DataError(
                f"{place}: column {name!r} is not of numbers ({array.dtype}): encode it as numbers, or choose other "
                "columns by features=[...]"
            )
        out[:, j] = array
    return out


def there(path: Path) -> str:
    """The path of a file as workers find it."""
    return str(path.resolve())
