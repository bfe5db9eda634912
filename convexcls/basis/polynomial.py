"""Products of powers of the features."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.basis.base import Basis, check_count
from convexcls.data import Named

#: A product of features, by their numbers in rising order: (0, 0, 1) is x1^2 x2.
Product = tuple[int, ...]


class _Products(Basis):
    """A basis of products of features."""

    @abstractmethod
    def products(self, d: int) -> Iterator[Product]:
        """The products of d features, in the order of the columns."""

    @abstractmethod
    def count(self, d: int) -> int:
        """How many these are."""

    def columns(self, matrix: Any, inputs: Sequence[str]) -> Named:
        check_count(self.count(len(inputs)), self)
        products = list(self.products(len(inputs)))
        return Named(_values(matrix, products), tuple(product_name(p, inputs) for p in products))


@dataclass(frozen=True)
class Polynomial(_Products):
    """All products of at most ``degree`` features, by degree: x1, x2, x1^2, x1 x2, x2^2, x1^3, ...

    Each is one multiplication of a feature with a product before it, so that products of whole numbers are exact up
    to 2^53. Products of sparse columns stay sparse.

    >>> import convexcls as cc
    >>> cc.Polynomial(3)([[2, 5]]).features
    ('x1', 'x2', 'x1^2', 'x1 x2', 'x2^2', 'x1^3', 'x1^2 x2', 'x1 x2^2', 'x2^3')
    """

    degree: int = 2

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or not isinstance(self.degree, (int, np.integer)) or self.degree < 1:
            raise ValueError(f"degree is {self.degree!r}: it must be a whole number, 1 or more")

    def products(self, d: int) -> Iterator[Product]:
        for k in range(1, self.degree + 1):
            yield from combinations_with_replacement(range(d), k)

    def count(self, d: int) -> int:
        return comb(d + self.degree, d) - 1


@dataclass(frozen=True)
class Quadratic(_Products):
    """Squares, features and products of two: x1^2, x1, x2^2, x2, ..., then x1 x2, x1 x3, ...

    The polynomials of degree two in another order. In the plane f(x) = 0 is a conic: see ``conic``.

    >>> import convexcls as cc
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["even", "even", "odd", "odd"]
    >>> cc.HardMarginSVM(X, y).solve().status, cc.HardMarginSVM(cc.Quadratic()(X), y).solve().status
    ('infeasible', 'optimal')
    """

    def products(self, d: int) -> Iterator[Product]:
        for j in range(d):
            yield from ((j, j), (j,))
        yield from combinations(range(d), 2)

    def count(self, d: int) -> int:
        return d * (d + 3) // 2


def exponents_of(basis: Any, d: int) -> list[tuple[int, ...]] | None:
    """The powers of each feature in every column of a polynomial basis; None for other bases. Without a basis (None)
    the columns are the features."""
    if basis is None:
        products: Iterator[Product] = ((j,) for j in range(d))
    elif isinstance(basis, _Products):
        products = basis.products(d)
    else:
        return None
    return [tuple(p.count(j) for j in range(d)) for p in products]


def product_name(product: Product, inputs: Sequence[str]) -> str:
    """x1^2 x2; a name that is not one word stands in brackets, unless it is alone."""
    if len(product) == 1:
        return inputs[product[0]]
    parts = []
    for j in dict.fromkeys(product):
        name = inputs[j] if re.fullmatch(r"\w+", inputs[j]) else f"({inputs[j]})"
        power = product.count(j)
        parts.append(name if power == 1 else f"{name}^{power}")
    return " ".join(parts)


def _values(matrix: Any, products: Sequence[Product]) -> Any:
    """Column by column; a product is its last feature times the product of the others."""
    source = sparse.csc_array(matrix) if sparse.issparse(matrix) else matrix
    made: dict[Product, Any] = {}
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for product in sorted(products, key=len):
            column = source[:, [product[-1]]]
            made[product] = column if len(product) == 1 else made[product[:-1]] * column
    columns = [made[product] for product in products]
    return sparse.hstack(columns, format="csr") if sparse.issparse(matrix) else np.hstack(columns)
