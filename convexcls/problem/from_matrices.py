"""A problem from the matrices of a quadratic program, as solvers of these take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from convexcls.problem.blocks import Constraint, ProblemError, Variable
from convexcls.problem.form import Problem


def from_qp(
    P: Any, q: Any, G: Any = None, h: Any = None, A: Any = None, b: Any = None, lb: Any = None, ub: Any = None
) -> Problem:
    """minimise 1/2 x'Px + q'x subject to Gx <= h, Ax = b, lb <= x <= ub."""
    cost = np.atleast_1d(np.asarray(q, dtype=float)).ravel()
    x = Variable("x", cost.size, "x")
    blocks = [
        *_block("inequalities", r"\lambda", "<=", G, h, cost.size, ("G", "h")),
        *_block("equalities", r"\nu", "==", A, b, cost.size, ("A", "b")),
        *_bounds("lower", r"\mu^-", lb, cost.size, -1.0),
        *_bounds("upper", r"\mu^+", ub, cost.size, 1.0),
    ]
    quadratic = None if P is None or not _any(P) else {"x": P}
    return Problem("quadratic program", [x], quadratic=quadratic, linear={"x": cost}, constraints=blocks)


def _any(matrix: Any) -> bool:
    return bool(matrix.count_nonzero() if sparse.issparse(matrix) else np.any(np.asarray(matrix)))


def _block(
    name: str, symbol: str, relation: Any, rows: Any, sides: Any, size: int, letters: tuple[str, str]
) -> list[Constraint]:
    """The rows as a block, without those that hold everywhere; none where there are none."""
    if rows is None and sides is None:
        return []
    if rows is None or sides is None:
        given, missing = letters if sides is None else letters[::-1]
        raise ProblemError(f"{given} is given without {missing}")
    matrix: Any = rows if sparse.issparse(rows) else np.atleast_2d(np.asarray(rows, dtype=float))
    rhs = np.atleast_1d(np.asarray(sides, dtype=float)).ravel()
    if matrix.shape != (rhs.size, size):
        raise ProblemError(f"{letters[0]} is {matrix.shape}, it needs a row for each of the {rhs.size} entries of "
                           f"{letters[1]} and {size} columns")  # fmt: skip
    if relation == "<=" and np.any(rhs == np.inf):
        kept = np.flatnonzero(rhs < np.inf)
        matrix, rhs = (sparse.csr_array(matrix)[kept] if sparse.issparse(matrix) else matrix[kept]), rhs[kept]
    return [Constraint(name, {"x": matrix}, symbol, "vector", rhs=rhs, relation=relation)] if rhs.size else []


def _bounds(name: str, symbol: str, bound: Any, size: int, sign: float) -> list[Constraint]:
    """sign x <= sign bound, for the entries that have a finite one."""
    if bound is None:
        return []
    sides = sign * np.broadcast_to(np.asarray(bound, dtype=float).ravel(), (size,))
    if np.any(np.isnan(sides) | (sides == -np.inf)):
        k = int(np.flatnonzero(np.isnan(sides) | (sides == -np.inf))[0])
        raise ProblemError(f"the {name} bound of entry {k} is {bound if np.ndim(bound) == 0 else np.ravel(bound)[k]}")
    kept = np.flatnonzero(sides < np.inf)
    units: Any = sign * np.eye(size)[kept]
    return [Constraint(name, {"x": units}, symbol, "vector", rhs=sides[kept])] if kept.size else []
