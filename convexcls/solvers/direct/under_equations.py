"""Least squares under linear equations,

    minimise  1/2 sum_i w_i (M_i x + t_i)^2    subject to  Ax = b,

for unknowns that no block joins with others: Fisher's directions are one such problem each, over the same rows. These
share one factorization. Of large data of good condition it is that of the normal equations: with G = M'WM a step solves

    G d + A'e = -gradient,  A d = b - Ax:     (A G^-1 A') e = Ax - b - A G^-1 gradient,     d = -G^-1 (gradient + A'e),

refined on the data. So are small ones, whose condition a few norms bound. Otherwise the null space of the equations is
taken, without normal equations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtrs

from convexcls.arrays import Array, all_finite, inverse_root
from convexcls.problem import Block, Problem
from convexcls.rows import Rows, as_rows
from convexcls.rows.column_basis import MAX_GRAM_CONDITION, ColumnBasis, shortest_along
from convexcls.solvers.smooth.hessian import refined_steps

#: Matrices with so few entries are refined in extended precision, whatever their condition.
MAX_ENTRIES_ALWAYS_REFINED = 100_000
#: Gram matrices of a condition up to this are solved by their inverse; after one more round on the data nothing but
#: rounding is left.
MAX_CLEAR_CONDITION = 1e6
#: A column is clearly no combination of those before it where so much of its length stands out from them.
CLEAR_PIVOT = 1e-6


@dataclass(frozen=True, eq=False)
class _Group:
    """Some unknowns as columns of one matrix X, over the same rows: M with weights w, A, and the right-hand sides t and
    b, one column each."""

    names: tuple[str, ...]
    rows: tuple[Rows, ...]
    weights: tuple[Array, ...]
    offsets: tuple[Array, ...]
    A: Array
    b: Array

    def weighted(self) -> tuple[Array, Array]:
        """M and t, each row times the root of its weight."""
        roots = [np.sqrt(w)[:, None] for w in self.weights]
        matrices = [rows.to_dense() * root for rows, root in zip(self.rows, roots, strict=True)]
        offsets = [t * root for t, root in zip(self.offsets, roots, strict=True)]
        return (matrices[0], offsets[0]) if len(roots) == 1 else (np.vstack(matrices), np.vstack(offsets))

    def gradient(self, X: Array, multipliers: Array) -> Array:
        """M'W(MX + t) + A' times the multipliers, in one reading of the rows."""
        out = self.A.T @ multipliers
        for rows, w, t in zip(self.rows, self.weights, self.offsets, strict=True):
            out = out + rows.sweep(X, partial(_pull, w, t))
        return out


def _pull(weights: Array, offset: Array, block: slice, u: Array) -> Array:
    return np.asarray(weights[block, None] * (u + offset[block]))


def solve_under_equations(problem: Problem, rank_tol: float) -> tuple[Array, dict[str, Array], str]:
    """The point, the multipliers by block and what was done."""
    x, multipliers = np.zeros(problem.size), {}
    for group in _groups(problem):
        entries = group.A.shape[1] * sum(rows.shape[0] for rows in group.rows)
        found = _by_normal_equations(group) if entries > MAX_ENTRIES_ALWAYS_REFINED else _at_once(group)
        X, nu = _by_null_space(group, rank_tol) if found is None else found
        for k, name in enumerate(group.names):
            blocks = _blocks_of(problem, name) if name else problem.constraints
            x[problem.layout[name] if name else slice(None)] = X[:, k]
            ends = accumulate(c.size for c in blocks)
            multipliers.update({c.name: nu[j - c.size : j, k] for c, j in zip(blocks, ends, strict=True)})
    equations = sum(c.size for c in problem.constraints)
    return x, multipliers, f"least squares under {equations} equation(s)"


def _blocks_of(problem: Problem, name: str) -> list[Block]:
    return [c for c in problem.constraints if name in c.entries]


def _groups(problem: Problem) -> list[_Group]:
    """The variables with the same rows together; all variables as one where blocks join them."""
    blocks: list[Block] = [*problem.terms, *problem.constraints]
    if problem.quadratic or any(len(b.entries) != 1 for b in blocks):
        whole = _group(problem, "", [problem.rows(t) for t in problem.terms], problem.terms, problem.constraints)
        roots = [_root(problem, v, np.asarray(p)) for v, p in problem.quadratic.items()]
        ones, zeros = [np.ones(r.shape[0]) for r in roots], [np.zeros((r.shape[0], 1)) for r in roots]
        added = (*whole.rows, *roots), (*whole.weights, *ones), (*whole.offsets, *zeros)
        return [_Group(whole.names, *added, whole.A, whole.b)]
    alike: list[list[_Group]] = []
    for v in problem.variables:
        terms = [t for t in problem.terms if v.name in t.entries]
        own = _group(problem, v.name, [t.entries[v.name] for t in terms], terms, _blocks_of(problem, v.name))
        known = next((members for members in alike if _same_rows(members[0], own)), None)
        if known is None:
            alike.append([own])
        else:
            known.append(own)
    return [_side_by_side(members) for members in alike]


def _side_by_side(members: list[_Group]) -> _Group:
    """Groups with the same rows as one."""
    first = members[0]
    if len(members) == 1:
        return first
    offsets = tuple(np.hstack(parts) for parts in zip(*(m.offsets for m in members), strict=True))
    names = tuple(name for m in members for name in m.names)
    return _Group(names, first.rows, first.weights, offsets, first.A, np.hstack([m.b for m in members]))


def _root(problem: Problem, variable: str, diagonal: Array) -> Rows:
    """The rows of the root of a quadratic part: 1/2 x'Px is half the sum of their squares."""
    out = np.zeros((problem.variable(variable).size, problem.size))
    out[:, problem.layout[variable]] = np.diag(np.sqrt(diagonal))
    return as_rows(out)


def _group(
    problem: Problem, name: str, rows: Sequence[Rows], terms: Sequence[Any], constraints: Sequence[Any]
) -> _Group:
    width = problem.variable(name).size if name else problem.size
    entries = [c.entries[name] if name else problem.rows(c) for c in constraints]
    if len(entries) == 1:
        A, b = entries[0].to_dense(), constraints[0].rhs[:, None]
    else:
        A = np.vstack([np.zeros((0, width)), *(part.to_dense() for part in entries)])
        b = np.concatenate([np.zeros(0), *(c.rhs for c in constraints)])[:, None]
    weights, offsets = tuple(t.weights for t in terms), tuple(t.offset[:, None] for t in terms)
    return _Group((name,), tuple(rows), weights, offsets, A, b)


def _same_rows(group: _Group, other: _Group) -> bool:
    if len(group.rows) != len(other.rows) or not np.array_equal(group.A, other.A):
        return False
    return all(
        np.array_equal(w, v) and _same(rows, others)
        for rows, others, w, v in zip(group.rows, other.rows, group.weights, other.weights, strict=True)
    )


def _same(rows: Rows, others: Rows) -> bool:
    (left, core, right), (other_left, other, other_right) = rows.factors(), others.factors()
    return core is other and _equal(left, other_left) and _equal(right, other_right)


def _equal(side: Array | None, other: Array | None) -> bool:
    return side is other or (side is not None and other is not None and np.array_equal(side, other))


def _by_normal_equations(group: _Group) -> tuple[Array, Array] | None:
    """X and the multipliers; None where columns depend on each other too nearly, or equations do."""
    A, b = group.A, group.b
    columns = ColumnBasis.of_gram(
        sum((r.gram(w) for r, w in zip(group.rows, group.weights, strict=True)), 0.0 * A.T @ A)
    )
    if columns is None or columns.condition > MAX_GRAM_CONDITION:
        return None
    if columns.others.size:
        columns = columns.on_rows(group.rows)
        flat = np.zeros((A.shape[1], 0)) if columns is None else columns.null_vectors
        if columns is None or np.any(np.abs(A @ flat) > 1e-12 * (np.abs(A) @ np.abs(flat))):
            return None
    inner = columns.solve_spread(A.T)
    equations = ColumnBasis.of_gram(A @ inner)
    if equations is None or equations.others.size or equations.condition > MAX_GRAM_CONDITION:
        return None
    (m, d), k = A.shape, b.shape[1]

    def step(point: Array) -> Array:
        X, nu = np.split(point.reshape(d + m, k), [d])
        u = columns.solve_spread(group.gradient(X, nu))
        e = equations.solve_spread(A @ X - b - A @ u)
        return np.vstack([-u - inner @ e, e]).ravel()

    size = np.zeros((d + m, k))
    size[columns.columns] = columns.own_lengths[:, None]
    found = refined_steps(step, (d + m) * k, size.ravel())
    if found is None:
        return None
    X, nu = np.split(found.reshape(d + m, k), [d])
    return (shortest_along(columns.null_vectors, X) if columns.others.size else X), nu


def _at_once(group: _Group) -> tuple[Array, Array] | None:
    """X and the multipliers by the inverse of a small Gram matrix; None where norms do not show that its condition is
    fair, and that of the equations. The second round refines the first on the data."""
    (M, s), A, b = group.weighted(), group.A, group.b
    with np.errstate(all="ignore"):  # what is not a number has no condition that is fair
        W, condition = inverse_root(M.T @ M)
        if not condition <= MAX_CLEAR_CONDITION:
            return None
        B = W @ A.T
        V, condition = inverse_root(B.T @ B)
        if not condition <= MAX_CLEAR_CONDITION:
            return None
        X, nu, gradient = np.zeros((A.shape[1], b.shape[1])), np.zeros(b.shape), M.T @ s
        for _ in range(2):
            u = W @ gradient
            e = V.T @ (V @ (A @ X - b - B.T @ u))
            X, nu = X - W.T @ (u + B @ e), nu + e
            gradient = M.T @ (M @ X + s) + A.T @ nu
    return (X, nu) if all_finite(X) and all_finite(nu) else None


def _shortest_fit(matrix: Array, cutoff: float) -> Callable[[Array], Array]:
    """What gives the shortest z with ‖matrix z - target‖ least for a target, from one factorization."""
    if not np.isfinite(matrix).all():
        raise np.linalg.LinAlgError("the system has no finite solution")
    if 0 < matrix.shape[1] <= matrix.shape[0] and (clearly := _by_triangle(matrix)) is not None:
        return clearly
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    rank = int(np.count_nonzero(values > cutoff * values.max(initial=0.0)))

    def fitted(target: Array) -> Array:
        found = right[:rank].T @ ((left[:, :rank].T @ target) / values[:rank, None])
        if not np.isfinite(found).all():
            raise np.linalg.LinAlgError("the system has no finite solution")
        return np.asarray(found)

    return fitted


def _by_triangle(matrix: Array) -> Callable[[Array], Array] | None:
    """The same by a triangular factor; None where columns may depend on each other."""
    Q, R = np.linalg.qr(matrix)
    pivots = np.abs(R.diagonal())
    lengths = np.sqrt(np.einsum("ij,ij->j", R, R))
    if not (pivots > CLEAR_PIVOT * lengths).all():
        return None
    return lambda target: np.asarray(dtrtrs(R, Q.T @ target)[0])


def _by_null_space(group: _Group, rank_tol: float) -> tuple[Array, Array]:
    """The same by the null space of the equations."""
    matrix, offset = group.weighted()
    target = -offset
    left, values, right = np.linalg.svd(group.A, full_matrices=True)
    rank = int(np.sum(values > rank_tol * values.max(initial=0.0)))

    def met(missing: Array) -> Array:
        return np.asarray(right[:rank].T @ ((left[:, :rank].T @ missing) / values[:rank, None]))

    x, free = met(group.b), right[rank:].T
    fitted = _shortest_fit(matrix @ free, rank_tol)
    for _ in range(2):  # the second round refines the first
        x = x + free @ fitted(target - matrix @ x)
        x = x + met(group.b - group.A @ x)
    pull = matrix.T @ (target - matrix @ x)
    return x, np.asarray(left[:, :rank] @ ((right[:rank] @ pull) / values[:rank, None]))
