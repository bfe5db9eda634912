"""The toolkit's own linear programs. HiGHS finds candidates; they become proofs by being checked.

One of them proves that x = 0 is optimal, for problems of cones and lines such as the widest slab between classes that
meet: a solver can only come near such a point, and near is not a proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices, Mask, least_squares
from convexcls.problem import Constraint, Problem, Term
from convexcls.rational.elimination import solve

#: A sum counts as zero when it is this small relative to the sum of its absolute values. Rounding leaves about 1e-16;
#: classes that are 1e-9 apart leave 1e-9. A proof has to tell these two apart; where it rests on few rows, exact
#: arithmetic does.
ROUNDED_ZERO = 1e-14
#: A quantity counts as positive when it is at least this large, on the same scale.
POSITIVE = 1e-9
#: Systems with more entries are not worked out in rationals.
MAX_EXACT_ENTRIES = 1600
#: Systems with more unknowns than this are not refined.
MAX_REFINED_UNKNOWNS = 4000
#: Linear programs with more entries than this are not tried.
MAX_PROGRAM_ENTRIES = 5_000_000


def solve_linear_program(**program: Any) -> Any:
    """SciPy's HiGHS, the dual simplex method (its answers are vertices), at its tightest tolerances."""
    from scipy.optimize import OptimizeResult, linprog

    if not all(_finite(program.get(part)) for part in ("c", "A_ub", "b_ub", "A_eq", "b_eq")):
        return OptimizeResult(x=None, fun=np.nan, status=4, message="the scaled numbers are beyond doubles")
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(method="highs-ds", options=options, **program)


def _finite(part: Any) -> bool:
    if part is None:
        return True
    return bool(np.all(np.isfinite(part.data if sparse.issparse(part) else np.asarray(part, dtype=float))))


def too_large(problem: Problem) -> bool:
    """Whether a linear program over all rows would take longer than anybody waits."""
    return sum(problem.rows(block).entries for block in (*problem.constraints, *problem.terms)) > MAX_PROGRAM_ENTRIES


def column_scale(problem: Problem) -> Array:
    """Powers of two that bring the largest entry of every column near one."""
    reach = np.zeros(problem.size)
    for block in (*problem.constraints, *problem.terms):
        reach = np.maximum(reach, problem.rows(block).column_max())
    return np.where(reach > 0, np.exp2(-np.round(np.log2(np.where(reach > 0, reach, 1.0)))), 1.0)


def constraint_matrix(problem: Problem, scale: Array, rows: Indices | None = None) -> Any:
    """The linear constraints as one sparse matrix, its columns scaled; all of their rows, or some in rising order."""
    parts, start = [], 0
    for c in problem.constraints:
        stop = start + c.size
        own = problem.rows(c)
        if rows is not None:
            own = own[rows[(rows >= start) & (rows < stop)] - start]
        parts.append(sparse.csr_array(own.to_matrix()))
        start = stop
    return sparse.csr_array(sparse.vstack(parts) @ sparse.diags_array(scale))


def by_block(blocks: tuple[Constraint, ...], z: Array) -> dict[str, Array]:
    """Multipliers of all constraints in a row, cut up by constraint."""
    ends = np.cumsum([c.size for c in blocks])[:-1]
    return {c.name: part for c, part in zip(blocks, np.split(z, ends), strict=True)}


def refine(system: Array, target: Array, solution: Array) -> Array:
    """The nearest solution of ``system @ z = target`` to the one given, with residuals in extended precision."""
    long_system = system.astype(np.longdouble)
    for _ in range(3):
        defect = np.asarray(target - long_system @ solution.astype(np.longdouble), dtype=float)
        solution = solution + least_squares(system, defect, 1e-12)
    return solution


def reached_exactly(problem: Problem, multipliers: Mapping[str, Array], target: Sequence[Fraction]) -> bool:
    """Whether the rows in use, as they were given (with their right-hand sides where the target has an entry more), add
    up to the target with multipliers of the right sign; taken as true where they are many, or none."""
    used = [(c, np.flatnonzero(multipliers.get(c.name, np.zeros(c.size)))) for c in problem.constraints]
    if sum(places.size for _, places in used) * len(target) > MAX_EXACT_ENTRIES:
        return True
    columns: list[list[Fraction]] = []
    signed: list[bool] = []
    for c, places in used:
        rows, rhs = problem.rows(c).rational(places), c.rational_vector("rhs", places)
        columns += [[*row, k][: len(target)] for row, k in zip(rows, rhs, strict=True)]
        signed += [c.relation == "<="] * places.size
    if not columns:
        return True
    z = solve(list(zip(*columns, strict=True)), target)
    return z is not None and all(value >= 0 for value, at_least_0 in zip(z, signed, strict=True) if at_least_0)


def largest_ratio(values: Array, sizes: Array) -> float:
    """The largest |value| / size, entries of size 0 left out."""
    ratios = np.divide(np.abs(values), sizes, out=np.zeros(values.shape), where=sizes > 0)
    return float(ratios.max(initial=0.0))


@dataclass
class RecessionProgram:
    """The linear program for a direction d, with one more variable for each row of a loss: its rate along d or,
    in the asymptotic case, its progress towards the infimum (capped at one, to be maximised)."""

    problem: Problem
    scale: Array
    asymptotic: bool
    upper: list[Any] = field(default_factory=list)
    equal: list[Any] = field(default_factory=list)

    def build(self) -> dict[str, Any] | None:
        """The arguments of the solver; None where no loss can make progress."""
        problem = self.problem
        self.width = problem.size + sum(t.size for t in problem.terms)
        reach = np.inf if self.asymptotic else 1.0
        self.low, self.high = np.full(self.width, -reach), np.full(self.width, reach)
        self.cost = np.zeros(self.width)
        start = problem.size
        for t in problem.terms:
            self._add_term(t, slice(start, start + t.size))
            start += t.size
        if self.asymptotic:
            if not np.any(self.cost):
                return None
            self.equal.append(self._wide(sparse.csr_array((problem.q * self.scale)[None, :])))
        else:
            self.cost[: problem.size] = problem.q * self.scale
        self._add_constraints()
        out: dict[str, Any] = {"c": self.cost, "bounds": np.column_stack([self.low, self.high])}
        for key, blocks in (("ub", self.upper), ("eq", self.equal)):
            if blocks:
                out[f"A_{key}"] = sparse.vstack(blocks, format="csr")
                out[f"b_{key}"] = np.zeros(out[f"A_{key}"].shape[0])
        return out

    def _add_term(self, t: Term, where: slice) -> None:
        counts = sparse.diags_array((t.row_weights > 0).astype(float))  # a sample without weight has no say
        moved = counts @ sparse.csr_array(self.problem.rows(t).to_matrix()) @ sparse.diags_array(self.scale)
        moved = self._wide(moved)
        low, high = t.loss.slopes
        rows, groups = np.arange(t.size), t.size // t.loss.width
        column = rows if self.asymptotic else rows // t.loss.width  # progress by row, a rate by loss
        own = sparse.csr_array((np.ones(t.size), (rows, where.start + column)), shape=moved.shape)
        if np.isinf(low) and np.isinf(high):  # grows either way: must not move
            self.equal.append(moved)
            self.low[where] = self.high[where] = 0.0
        elif self.asymptotic:  # progress at most how far the argument moves the way the loss falls
            self.upper.append(own - moved if high == 0 else own + moved)
            self.low[where], self.high[where] = 0.0, 1.0
            self.cost[where] = -(t.row_weights > 0).astype(float)
        else:  # the rate is at least low and high times the movement
            self.low[where] = self.high[where] = 0.0
            rates = slice(where.start, where.start + groups)
            self.low[rates], self.high[rates] = -np.inf, np.inf
            self.cost[rates] = t.weights
            for slope in (low, high):
                self.upper.append(moved * np.sign(slope) if np.isinf(slope) else moved * slope - own)

    def _add_constraints(self) -> None:
        problem = self.problem
        for v, p in problem.P.items():
            self.equal.append(self._wide(p.to_matrix(), problem.layout[v].start))
        for c in problem.constraints:
            rows = self._wide(sparse.csr_array(problem.rows(c).to_matrix()) @ sparse.diags_array(self.scale))
            (self.equal if c.relation == "==" else self.upper).append(rows)
        for b in problem.norm_bounds:
            self.equal.append(self._wide(problem.rows(b).to_matrix()))
            self.upper.append(self._wide(-problem.bound_rows(b).to_matrix()))

    def _wide(self, rows: Any, start: int = 0) -> Any:
        coo = sparse.coo_array(rows)
        return sparse.csr_array((coo.data, (coo.coords[0], coo.coords[1] + start)), shape=(coo.shape[0], self.width))


# ---- x = 0 as optimum -----------------------------------------------------------------------------------------


def find_origin_multipliers(problem: Problem) -> dict[str, Array] | None:
    """Multipliers that satisfy stationarity at x = 0 down to rounding, or None where there are none."""
    if problem.terms or not problem.constraints or too_large(problem) or not _origin_is_feasible(problem):
        return None
    scale = column_scale(problem)
    columns = constraint_matrix(problem, scale)
    equal = np.concatenate([np.full(c.size, c.relation == "==") for c in problem.constraints])
    tight = equal | (np.concatenate([c.rhs for c in problem.constraints]) == 0)
    bounds = np.column_stack([np.where(equal, -np.inf, 0.0), np.where(tight, np.inf, 0.0)])
    target = -problem.q * scale
    found = solve_linear_program(c=np.zeros(equal.size), A_eq=columns.T.tocsr(), b_eq=target, bounds=bounds)
    if found.x is None:
        return None
    z = np.array(found.x)
    support = np.flatnonzero(np.abs(z) > 1e-11)
    z[np.abs(z) <= 1e-11] = 0.0
    if 0 < support.size <= MAX_REFINED_UNKNOWNS:
        z[support] = refine(columns[support].toarray().T, target, z[support])
    if not _stationary(problem, columns, z, target, equal):
        return None
    out = by_block(problem.constraints, z)
    out.update({b.name: np.zeros(b.size + 1) for b in problem.norm_bounds})
    return out


def doubtful_at_origin(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> bool:
    """Whether x = 0 is claimed optimal by multipliers that satisfy stationarity to a tolerance only. There the optimum
    itself is the size to compare with, and it may be a little above 0: classes that touch, or that are 1e-15 apart."""
    if np.any(x) or problem.terms or not problem.constraints or not _origin_is_feasible(problem):
        return False
    if any(np.any(multipliers[b.name]) for b in problem.norm_bounds) or too_large(problem):
        return False
    scale = column_scale(problem)
    z = np.concatenate([multipliers[c.name] for c in problem.constraints])
    equal = np.concatenate([np.full(c.size, c.relation == "==") for c in problem.constraints])
    return not _stationary(problem, constraint_matrix(problem, scale), z, -problem.q * scale, equal)


def _stationary(problem: Problem, columns: Any, z: Array, target: Array, equal: Mask) -> bool:
    """Whether columns'z is the target down to rounding and, where z uses few rows, whether these reach it exactly."""
    if not reached_exactly(problem, by_block(problem.constraints, z), [-q for q in problem.rational_q]):
        return False
    left_over = np.abs(columns.T @ z - target)
    within = left_over <= ROUNDED_ZERO * (abs(columns).T @ np.abs(z) + np.abs(target))
    return bool(np.all(within) and not np.any(z[~equal] < 0))


def _origin_is_feasible(problem: Problem) -> bool:
    linear = all(np.all(c.rhs >= 0) if c.relation == "<=" else not np.any(c.rhs) for c in problem.constraints)
    return linear and all(not np.any(b.offset) and b.bound >= 0 for b in problem.norm_bounds)
