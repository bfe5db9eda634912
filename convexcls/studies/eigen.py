"""The generalised eigenproblem of two given matrices, with the proof of its largest ratio (ESL exercise 4.1).

    maximise  a'Ba   subject to  a'Wa = 1            B symmetric, W symmetric and positive definite

is not convex, but its Lagrange dual is, and there is no gap between them:

    minimise  lambda   subject to  lambda W - B positive semidefinite.

So a direction a shows a lower bound, its quotient a'Ba / a'Wa, and a lambda that is feasible an upper one: for every a
then a'Ba <= lambda a'Wa. Both are worked out in rationals, for the matrices as they were given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.arrays import Array
from convexcls.data import DataError, check_matrix, given_table
from convexcls.problem import NoAnswer
from convexcls.rational.elimination import is_semidefinite, rank
from convexcls.wording import paragraph

#: Larger matrices are not eliminated in rationals.
MAX_SIZE = 60
#: How far above the quotient of the best direction, relative to the size of all ratios, feasible lambdas are tried.
MARGINS = (Fraction(0), Fraction(1, 10**14), Fraction(1, 10**12), Fraction(1, 10**10), Fraction(1, 10**8))

Matrix = list[list[Fraction]]


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """The solutions of B a = ratio W a: ``ratios`` in falling order, ``directions`` (rows) scaled to a'Wa = 1. The
    largest ratio is between ``lower`` and ``upper``, proved in rationals.

    >>> import convexcls as cc
    >>> found = cc.eigenproblem(B=[[2, 0], [0, 0]], W=[[1, 0], [0, 1]])
    >>> round(float(found.ratios[0]), 6), str(found.lower), str(found.upper), found.holds()
    (2.0, '2', '2', True)
    """

    ratios: Array
    directions: Array
    lower: Fraction
    upper: Fraction

    def holds(self, tol: float = 1e-8) -> bool:
        """Whether the bounds are no further apart than the tolerance, relative to the largest of all ratios."""
        return self.upper - self.lower <= Fraction(tol) * Fraction(float(np.abs(self.ratios).max()))

    def explain(self) -> str:
        """What is proved, in words.

        >>> import convexcls as cc
        >>> print(cc.eigenproblem([[3, 1], [1, 3]], [[1, 0], [0, 1]]).explain())
        The largest a'Ba subject to a'Wa = 1 is 4, proved in rationals: the first direction has a quotient a'Ba / a'Wa
        of at least 4, and lambda W - B is positive semidefinite for lambda = 4, so that none has a larger one.
        """
        told = f"{float(self.lower):.12g}"
        return "\n".join(
            paragraph(
                f"The largest a'Ba subject to a'Wa = 1 is {told}, proved in rationals: the first direction has a "
                f"quotient a'Ba / a'Wa of at least {float(self.lower):.17g}, and lambda W - B is positive "
                f"semidefinite for lambda = {float(self.upper):.17g}, so that none has a larger one."
            )
        )

    def latex(self) -> str:
        """The problem and its dual as LaTeX."""
        return (
            r"\max_a\; a^{\top} B a \;\;\text{subject to}\;\; a^{\top} W a = 1 \quad=\quad "
            r"\min_{\lambda}\; \lambda \;\;\text{subject to}\;\; \lambda W - B \succeq 0"
        )

    def __repr__(self) -> str:
        return f"<Eigenpairs: {len(self.ratios)} ratios, the largest {self.ratios[0]:.10g}>"


def eigenproblem(B: Any, W: Any) -> Eigenpairs:
    """The directions a that maximise a'Ba subject to a'Wa = 1, one after the other (B a = ratio W a), with the proof
    that no direction has a larger quotient than the first (ESL exercise 4.1).

    ``B`` is symmetric, as the scatter between classes, ``W`` symmetric and positive definite, as the scatter within.

    >>> import convexcls as cc
    >>> found = cc.eigenproblem(B=[[4, 2], [2, 1]], W=[[2, 0], [0, 1]])
    >>> round(float(found.ratios[0]), 6), bool(found.lower <= 3 <= found.upper)
    (3.0, True)
    """
    between, given_between = _symmetric(B, "B")
    within, given_within = _symmetric(W, "W")
    if between.shape != within.shape:
        raise DataError(f"B is {between.shape} and W is {within.shape}: give two matrices of one size")
    if len(within) > MAX_SIZE:
        raise NoAnswer(f"matrices of more than {MAX_SIZE} rows are not proved in rationals; these have {len(within)}")
    if not is_semidefinite(given_within) or rank(given_within) < len(within):
        raise NoAnswer("W is not positive definite: along a direction with a'Wa <= 0 the quotient has no bound")
    from scipy.linalg import eigh

    size = np.sqrt(within.diagonal())  # in units in which W has a diagonal of ones
    ratios, vectors = eigh(between / np.outer(size, size), within / np.outer(size, size))
    ratios, directions = ratios[::-1].copy(), (vectors / size[:, None]).T[::-1].copy()
    first = [Fraction(v) for v in directions[0].tolist()]
    lower = _form(given_between, first) / _form(given_within, first)
    return Eigenpairs(
        ratios, directions, lower, _upper(given_between, given_within, lower, float(np.abs(ratios).max()))
    )


def _symmetric(values: Any, name: str) -> tuple[Array, Matrix]:
    """A symmetric matrix as doubles and as it was given."""
    matrix = np.asarray(check_matrix(values), dtype=float)
    given = given_table(values)
    rows = [[Fraction(v) for v in row] for row in matrix.tolist()]
    rows = rows if given is None else [given.row(i) for i in range(len(matrix))]
    if matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"{name} is of the shape {matrix.shape}: give a square matrix")
    for i, row in enumerate(rows):
        for j in range(i):
            if row[j] != rows[j][i]:
                raise DataError(
                    f"{name} is not symmetric: row {i}, column {j} is {matrix[i, j]:g}, the other {matrix[j, i]:g}"
                )
    return matrix, rows


def _form(matrix: Matrix, a: Sequence[Fraction]) -> Fraction:
    """a'Ma."""
    return sum((a[i] * a[j] * v for i, row in enumerate(matrix) for j, v in enumerate(row)), Fraction(0))


def _upper(B: Matrix, W: Matrix, lower: Fraction, size: float) -> Fraction:
    """The least of some lambdas above the lower bound for which lambda W - B is positive semidefinite."""
    near = Fraction(float(lower)).limit_denominator(
        10**6
    )  # the quotient of a rounded direction is just below a simple one
    tried = [near] if near >= lower and near - lower <= MARGINS[-1] * Fraction(size or 1.0) else []
    for candidate in (*tried, *(lower + margin * Fraction(size or 1.0) for margin in MARGINS)):
        if is_semidefinite(
            [[candidate * w - b for w, b in zip(*rows, strict=True)] for rows in zip(W, B, strict=True)]
        ):
            return candidate
    raise NoAnswer("no upper bound near the largest ratio was proved: W is nearly singular; scale B and W")
