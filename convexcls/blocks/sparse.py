"""Sparse blocks of svmlight files: a label, then INDEX:VALUE for every feature that is not zero."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from convexcls.blocks.columnar import ends_of_lines
from convexcls.blocks.pieces import Contents, FilePiece, Stamp, as_block
from convexcls.data import DataError
from convexcls.tables.files import missing
from convexcls.wording import clean


@dataclass(frozen=True, kw_only=True)
class SvmlightPiece(FilePiece):
    """The lines between two places; ``first`` is the number of the first feature, ``width`` how many there are, None
    where that is not known yet."""

    start: int
    stop: int
    first: int = 0
    width: int | None = None

    def _read(self) -> tuple[Any, Any]:
        try:
            from sklearn.datasets import load_svmlight_file
        except ImportError:
            raise missing(self.path, "scikit-learn", "sklearn") from None
        with open(self.path, "rb") as file:
            file.seek(self.start)
            data = file.read(self.stop - self.start)
        try:
            X, y = load_svmlight_file(BytesIO(data), zero_based=True)
        except (ValueError, OverflowError) as error:
            raise DataError(f"{self}: not in svmlight format: {clean(str(error))[:200]}") from None
        if self.width is None:
            return X, y
        X = X[:, self.first :]
        X.resize((X.shape[0], self.width))
        return X, y

    def features(self) -> Any:
        return as_block(self._read()[0])

    def contents(self) -> Contents:
        X, y = self._read()
        return as_block(X), y, None


def svmlight_pieces(path: str) -> list[SvmlightPiece]:
    """The blocks of a file."""
    stamp, ends = Stamp.of(path), ends_of_lines(path)
    return [
        SvmlightPiece(path=path, stamp=stamp, number=k, start=a, stop=b)
        for k, (a, b) in enumerate(itertools.pairwise(ends))
        if b > a
    ]
