"""A problem as plain matrices, for solvers that want them:

    minimise 1/2 z'Pz + q'z   subject to   Az = b,  Gz <= h,  (bound, inside) in second-order cones

z is x followed by u_k = M_k x + t_k for every half-square term, so that no product M'M is ever formed and the
digits of the data survive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array
from convexcls.problem import Problem
from convexcls.rows import as_rows
from convexcls.solvers.rows.continuation import settled
from convexcls.solvers.rows.finish import finish
from convexcls.solvers.rows.row_program import RowProgram


@dataclass(frozen=True, eq=False)
class QuadraticProgram:
    """The matrices, with the way back to a point and multipliers of the problem."""

    problem: Problem
    P: Any
    q: Array
    A: Any
    b: Array
    G: Any
    h: Array
    cones: tuple[tuple[Any, Array], ...]

    def point(self, z: Array) -> Array:
        """The problem's own x."""
        return np.asarray(z[: self.problem.size], dtype=float)

    def start(self, x: Array, multipliers: Mapping[str, Array]) -> tuple[Array, Array, Array]:
        """z and the multipliers of both kinds of rows where x and some of the multipliers are known, 0 for others."""
        scores = [self.problem.rows(t) @ x + t.offset for t in self.problem.terms]
        known = {c.name: multipliers.get(c.name, np.zeros(c.size)) for c in self.problem.constraints}
        equal = [known[c.name] for c in self.problem.constraints if c.relation == "=="]
        # stationarity in u: weights u = the multiplier of u = Mx + t
        equal += [t.weights * u for t, u in zip(self.problem.terms, scores, strict=True)]
        upper = [known[c.name] for c in self.problem.constraints if c.relation == "<="]
        none = np.zeros(0)
        return np.concatenate([x, *scores]), np.concatenate([none, *equal]), np.concatenate([none, *upper])

    def finished(self, z: Array, nu: Array, lam: Array) -> tuple[Array, dict[str, Array]] | None:
        """The exact solution next to what a solver found: over the unknowns besides slacks where these are few, else on
        the matrices as they are, sparse. None where it is not certain."""
        exact = settled(self.problem, self.point(z), self.multipliers(nu, lam))
        if exact is not None:
            return exact
        program = RowProgram.hard(self.P, self.q, as_rows(self.G), self.h, self.A, self.b, self.problem.unit)
        found = finish(program, z, lam, nu)
        return None if found is None else (self.point(found.x), self.multipliers(found.nu, found.a))

    def multipliers(self, nu: Array, lam: Array, cones: tuple[Array, ...] = ()) -> dict[str, Array]:
        """Multipliers by constraint block; those of the auxiliary u are dropped."""
        out: dict[str, Array] = {}
        at_eq = at_le = 0
        for c in self.problem.constraints:
            if c.relation == "==":
                out[c.name] = np.asarray(nu[at_eq : at_eq + c.size], dtype=float)
                at_eq += c.size
            else:
                out[c.name] = np.asarray(lam[at_le : at_le + c.size], dtype=float)
                at_le += c.size
        for bound, value in zip(self.problem.norm_bounds, cones, strict=True):
            out[bound.name] = value
        return out


def quadratic_program(problem: Problem) -> QuadraticProgram:
    """The matrices of a problem that is a quadratic program, with second-order cones where it has any."""
    extra = sum(t.size for t in problem.terms)
    width = problem.size + extra

    def wide(rows: Any, start: int = 0) -> Any:
        coo = sparse.coo_array(rows)
        return sparse.csc_array((coo.data, (coo.coords[0], coo.coords[1] + start)), shape=(coo.shape[0], width))

    pieces = []
    for v in problem.variables:
        pieces.append(problem.P[v.name].to_matrix() if v.name in problem.P else sparse.csc_array((v.size, v.size)))
    pieces += [sparse.diags_array(t.weights) for t in problem.terms]
    equal: list[Any] = []
    upper: list[Any] = []
    equal_rhs: list[Array] = []
    upper_rhs: list[Array] = []
    for c in problem.constraints:
        (equal if c.relation == "==" else upper).append(wide(problem.rows(c).to_matrix()))
        (equal_rhs if c.relation == "==" else upper_rhs).append(c.rhs)
    start = problem.size
    for t in problem.terms:
        equal.append(wide(problem.rows(t).to_matrix()) - wide(sparse.eye_array(t.size), start))
        equal_rhs.append(-t.offset)
        start += t.size
    cones = []
    for b in problem.norm_bounds:
        rows = sparse.vstack([problem.bound_rows(b).to_matrix(), problem.rows(b).to_matrix()])
        cones.append((wide(rows), np.concatenate([[b.bound], b.offset])))
    return QuadraticProgram(
        problem,
        sparse.csc_array(sparse.block_diag(pieces, format="csc")),
        np.concatenate([problem.q, np.zeros(extra)]),
        *_stacked(equal, equal_rhs, width),
        *_stacked(upper, upper_rhs, width),
        tuple(cones),
    )


def _stacked(rows: list[Any], rhs: list[Array], width: int) -> tuple[Any, Array]:
    if not rows:
        return sparse.csc_array((0, width)), np.zeros(0)
    return sparse.csc_array(sparse.vstack(rows, format="csc")), np.concatenate(rhs)
