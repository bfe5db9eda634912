"""The design matrix (x_i, 1) of a model: its triangular factor, its rank, what depends on what.

Standard errors come from the factor R of an orthogonal factorization, (A'A)^-1 = R^-1 R^-T, and never from the product
A'A, which would square the condition number: columns of very different size, or nearly dependent ones, keep their
digits. Rows are taken a block at a time, so memory does not grow with the samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import qr, solve_triangular

from convexcls.arrays import Array, Indices
from convexcls.data import Data
from convexcls.problem import NoAnswer
from convexcls.rows import ConstantRows, JoinedRows, as_rows
from convexcls.rows.column_basis import triangle
from convexcls.rows.summation import BLOCK_ROWS
from convexcls.solution import Solution
from convexcls.wording import listed

#: Columns of length one whose combination is shorter than this depend on each other, as far as doubles can tell.
DEPENDENT_LENGTH = 1e-13


#: More coefficients of a direction than this are not listed.
MAX_NAMED = 6
#: A coefficient of a direction below this fraction of the largest (in units of its column) is rounding.
NEGLIGIBLE_COEFFICIENT = 1e-9


@dataclass(frozen=True, eq=False)
class Design:
    """The rows (x_i, 1) of the samples whose weight is not zero; without the 1 where the model has no intercept."""

    rows: JoinedRows
    names: tuple[str, ...]
    weights: Array
    kept: Indices

    @classmethod
    def of(cls, data: Data, intercept: bool) -> Design:
        """The design of a model on these data; raises ``NoAnswer`` where its columns depend on each other."""
        parts = [(slice(0, data.d), as_rows(data.matrix))]
        if intercept:
            parts.append((slice(data.d, data.d + 1), ConstantRows(data.n)))
        names = (*data.features, "intercept") if intercept else data.features
        kept = np.flatnonzero(data.weights > 0)
        design = cls(JoinedRows(data.n, len(names), parts), names, data.weights[kept], kept)
        if reason := dependence(design.factor[:-1, :-1], names):
            raise NoAnswer(f"there are no standard errors: the coefficients are not unique, because {reason}")
        return design

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.names)

    def blocks(self) -> Iterable[tuple[slice, Array]]:
        """The rows, a block at a time, with their place among the kept ones."""
        for start in range(0, self.kept.size, BLOCK_ROWS):
            where = slice(start, min(start + BLOCK_ROWS, self.kept.size))
            yield where, self.rows[self.kept[where]].to_dense()

    @cached_property
    def factor(self) -> Array:
        """The triangular factor of the columns, followed by a column of ones."""
        with_ones = (np.hstack([block, np.ones((len(block), 1))]) for _, block in self.blocks())
        return triangle(with_ones, self.width + 1)

    @property
    def has_constant(self) -> bool:
        """Whether a model of nothing but a constant is a special case, by an intercept or by other columns."""
        return bool(abs(self.factor[-1, -1]) <= DEPENDENT_LENGTH * np.linalg.norm(self.factor[:, -1]))


def inverse_of_gram(factor: Array) -> Array:
    """(R'R)^-1, by the inverse of R."""
    inverse = solve_triangular(factor, np.eye(len(factor)))
    return np.asarray(inverse @ inverse.T)


def dependence(factor: Array, names: tuple[str, ...]) -> str:
    """Which column is a combination of which others; empty where none is."""
    lengths = np.linalg.norm(factor, axis=0)
    if not np.all(lengths > 0):
        return f"the column {names[int(np.argmin(lengths))]!r} is zero for every sample that counts"
    _, upper, order = qr(factor / lengths, mode="economic", pivoting=True)
    values = np.linalg.svd(upper, compute_uv=False)
    rank = int(np.sum(values > DEPENDENT_LENGTH * values[0]))
    if rank == len(names):
        return ""
    shares = solve_triangular(upper[:rank, :rank], upper[:rank, rank])
    target = order[rank]
    pieces = [
        _times(share * lengths[target] / lengths[k], names[k])
        for share, k in sorted(zip(shares, order[:rank], strict=True), key=lambda pair: pair[1])
        if abs(share) > 1e-9
    ]
    relation = f"{names[target]} = {' '.join(pieces).removeprefix('+ ')}"
    more = f"; {len(names) - rank} columns in all are such combinations" if len(names) - rank > 1 else ""
    return f"the {len(names)} columns have rank {rank}: {relation}{more}. Leave out one of these columns"


def _times(factor: float, name: str) -> str:
    size = f"{abs(factor):.6g}"
    return f"{'-' if factor < 0 else '+'} {'' if size == '1' else size + ' '}{name}"


# ---- when there are no standard errors, and why ---------------------------------------------------------


def refuse_unless_estimated(solution: Solution) -> None:
    """Raise ``NoAnswer`` unless the coefficients are proved to be the maximum-likelihood estimate."""
    problem = solution.problem
    l2 = problem.parameters["l2"]
    if l2 > 0:
        raise NoAnswer(
            f"the {problem.name} has no standard errors: a penalty (l2 = {l2:g}) pulls the coefficients towards 0, and "
            "how far off they are is not a matter of their variance alone. Fit with l2=0"
        )
    if solution.status == "unattained":
        raise NoAnswer(
            "there are no standard errors: the maximum likelihood estimate does not exist. The classes are separated, "
            f"and the likelihood keeps growing along {_direction(solution)}. Leave out a column, or use l2 > 0 and do "
            "without standard errors"
        )
    if solution.status != "optimal":
        Design.of(solution.data, problem.parameters["intercept"])  # a better reason
        reason = solution.certificate.reason or "no proof was found"
        raise NoAnswer(f"there are no standard errors: the fit is {solution.status}, not proved optimal ({reason})")


def _direction(solution: Solution) -> str:
    """The coefficients that run to infinity, each with its rate."""
    way, data = solution.certificate.direction, solution.data
    assert way is not None
    moving: list[tuple[str, float]] = []
    units = {"coef": as_rows(data.matrix).column_max()}
    blocks = solution.problem.split(way.x)
    sizes = {v: np.abs(rates) * np.resize(units.get(v, np.ones(1)), rates.size) for v, rates in blocks.items()}
    largest = max(float(size.max(initial=0.0)) for size in sizes.values())
    for variable, rates in blocks.items():
        names = _entry_names(solution, variable, rates.size)
        moving += [(names[k], rates[k]) for k in np.flatnonzero(sizes[variable] > NEGLIGIBLE_COEFFICIENT * largest)]
    return listed((f"{name} {rate:+.4g}" for name, rate in moving), MAX_NAMED, " and {} more")


def _entry_names(solution: Solution, variable: str, size: int) -> list[str]:
    """What a variable's entries are called: by feature, and by label where there are several."""
    data = solution.data
    names = list(data.features) if variable == "coef" else [variable]
    if size == len(names):
        return names
    return [f"{name} of {label!r}" for label in data.labels or () for name in names]
