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
        known: dict[str, list[Array]] = {"==": [np.zeros(0)], "<=": [np.zeros(0)]}
        for c in self.problem.constraints:
            known[c.relation].append(multipliers.get(c.name, np.zeros(c.size)))
        # stationarity in u: weights u = the multiplier of u = Mx + t
        known["=="] += [t.weights * u for t, u in zip(self.problem.terms, scores, strict=True)]
        return np.concatenate([x, *scores]), np.concatenate(known["=="]), np.concatenate(known["<="])

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
        left = {"==": np.asarray(nu, dtype=float), "<=": np.asarray(lam, dtype=float)}
        out: dict[str, Array] = {}
        for c in self.problem.constraints:
            out[c.name], left[c.relation] = np.split(left[c.relation], [c.size])
        for bound, value in zip(self.problem.norm_bounds, cones, strict=True):
            out[bound.name] = value
        return out


def quadratic_program(problem: Problem) -> QuadraticProgram:
    """The matrices of a problem that is a quadratic program, with second-order cones where it has any."""
    extra = sum(t.size for t in problem.terms)
    width, start = problem.size + extra, problem.size

    def wide(rows: Any, first: int = 0) -> Any:
        coo = sparse.coo_array(rows)
        return sparse.csc_array((coo.data, (coo.coords[0], coo.coords[1] + first)), shape=(coo.shape[0], width))

    empty = {v.name: sparse.csc_array((v.size, v.size)) for v in problem.variables}
    pieces = [problem.P[v].to_matrix() if v in problem.P else none for v, none in empty.items()]
    pieces += [sparse.diags_array(t.weights) for t in problem.terms]
    rows: dict[str, list[Any]] = {"==": [], "<=": []}
    sides: dict[str, list[Array]] = {"==": [], "<=": []}
    for c in problem.constraints:
        rows[c.relation].append(wide(problem.rows(c).to_matrix()))
        sides[c.relation].append(c.rhs)
    for t in problem.terms:
        rows["=="].append(wide(problem.rows(t).to_matrix()) - wide(sparse.eye_array(t.size), start))
        sides["=="].append(-t.offset)
        start += t.size
    cones = []
    for b in problem.norm_bounds:
        both = sparse.vstack([problem.bound_rows(b).to_matrix(), problem.rows(b).to_matrix()])
        cones.append((wide(both), np.concatenate([[b.bound], b.offset])))
    return QuadraticProgram(
        problem,
        sparse.csc_array(sparse.block_diag(pieces, format="csc")),
        np.concatenate([problem.q, np.zeros(extra)]),
        *_stacked(rows["=="], sides["=="], width),
        *_stacked(rows["<="], sides["<="], width),
        tuple(cones),
    )


def _stacked(rows: list[Any], rhs: list[Array], width: int) -> tuple[Any, Array]:
    if not rows:
        return sparse.csc_array((0, width)), np.zeros(0)
    return sparse.csc_array(sparse.vstack(rows, format="csc")), np.concatenate(rhs)
