"""What a solved classifier says about its samples: support points, the intercept's freedom, uniqueness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from convexcls.arrays import Array, Indices, Mask
from convexcls.problem import BY_SAMPLE, Problem
from convexcls.rows import ConstantRows, JoinedRows, Rows
from convexcls.rows.column_basis import triangular_factor

#: A multiplier below this fraction of the largest one counts as zero.
NEGLIGIBLE_MULTIPLIER = 1e-6


def positive_multipliers(multiplier: Array, slack: Array, unit: float) -> Mask:
    """Which multipliers are positive, whatever the tolerance of the solver was.

    The rule: alpha_i counts as positive when, relative to the largest multiplier, it exceeds both its own
    slack (relative to the block's unit) and 1e-6. At a solution one of alpha_i and slack_i is zero, so the
    larger of the two relative sizes tells which.
    """
    largest = float(np.abs(multiplier).max(initial=0.0))
    if largest == 0:
        return np.zeros(multiplier.shape, dtype=bool)
    share = multiplier / largest
    return (share > np.abs(slack) / (unit or 1.0)) & (share > NEGLIGIBLE_MULTIPLIER)


def support_rows(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> Indices:
    """The samples whose multiplier is positive by ``positive_multipliers``, over the constraints that have one
    row a sample (other than the sign of the slack)."""
    found: list[Indices] = []
    for c in problem.constraints:
        if c.relation == "<=" and c.kind == "samples" and c.name != "slack_sign":
            with np.errstate(over="ignore", invalid="ignore"):  # what is beyond doubles is no support point
                slack = c.rhs - problem.rows(c) @ x
                unit = max(c.unit, float(np.abs(c.rhs).max(initial=0.0)))
                if not unit:
                    unit = float((abs(problem.rows(c)) @ np.abs(x)).max(initial=0.0))
            found.append(np.flatnonzero(positive_multipliers(multipliers[c.name], slack, unit)))
    return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)


def intercept_interval(
    problem: Problem, values: Mapping[str, Array], multipliers: Mapping[str, Array]
) -> tuple[float, float]:
    """The intercepts that keep the KKT conditions of an SVM with this coef: y_i f(x_i) >= 1 wherever alpha_i is
    below its upper bound, y_i f(x_i) <= 1 wherever it is positive."""
    if "margin" in values and "margin_sign" in multipliers:
        return _interval_of_wolfe_dual(problem, values, multipliers)
    b = float(values["intercept"][0]) if "intercept" in values else 0.0
    margin = next((c for c in problem.constraints if c.name == "margin" and c.relation == "<="), None)
    data = problem.data
    if margin is None or data is None or data.signs is None or "intercept" not in values or problem.norm_bounds:
        return b, b
    if "slack" in problem.quadratic or not np.all(margin.rhs == -1.0):
        return b, b  # a strictly convex cost, or no unit margin: the intercept is fixed
    alpha, signs = multipliers["margin"], data.signs
    slack = values.get("slack", np.zeros(alpha.size))
    whole = np.concatenate([values[v.name] for v in problem.variables])
    without_slack = {v: rows for v, rows in margin.entries.items() if v != "slack"}
    excess = -(problem.joined(without_slack, margin.size) @ whole) - 1.0  # y_i f(x_i) - 1
    low, high = _shifts(alpha, excess, excess + slack, problem.linear.get("slack"), signs)
    return b + low, b + high


def _interval_of_wolfe_dual(
    problem: Problem, values: Mapping[str, Array], multipliers: Mapping[str, Array]
) -> tuple[float, float]:
    """The same where alpha is the unknown: y_i f(x_i) - 1 is the multiplier of alpha_i >= 0 minus that of alpha_i <= C,
    and the intercept is the multiplier of sum_i alpha_i y_i = 0."""
    balance = next((c for c in problem.constraints if c.name == "intercept"), None)
    data = problem.data
    if balance is None or data is None or data.signs is None:
        return 0.0, 0.0
    b, slack = float(multipliers["intercept"][0]), multipliers["margin_sign"]
    cap = next((c.rhs for c in problem.constraints if c.name == "slack"), None)
    excess = slack - multipliers["slack"] if cap is not None else slack
    low, high = _shifts(values["margin"], excess, slack, cap, data.signs)
    return b + low, b + high


def _shifts(alpha: Array, excess: Array, slack: Array, cap: Array | None, signs: Array) -> tuple[float, float]:
    """How far the intercept may move down and up: ``excess`` is y_i f(x_i) - 1, ``slack`` what its constraint leaves,
    ``cap`` the upper bound of alpha."""
    positive = positive_multipliers(alpha, slack, 1.0)
    below_cap = np.ones(alpha.size, dtype=bool) if cap is None else cap - alpha > NEGLIGIBLE_MULTIPLIER * cap
    shift = -signs * excess  # the change of the intercept that makes the margin exactly one
    at_least = (below_cap & (signs > 0)) | (positive & (signs < 0))
    at_most = (below_cap & (signs < 0)) | (positive & (signs > 0))
    low = float(shift[at_least].max(initial=-np.inf))
    high = float(shift[at_most].min(initial=np.inf))
    return min(low, 0.0), max(high, 0.0)


@dataclass(frozen=True)
class Uniqueness:
    """Whether the solution's coef is the only one. ``unique`` is None where it was not decided."""

    unique: bool | None
    rank: int
    columns: int
    reason: str
    another: Array | None = None

    def __bool__(self) -> bool:
        return bool(self.unique)


def uniqueness(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> Uniqueness:
    """Decide whether another point is optimal with a different coef (or other variables but slack).

    Everything that must stay as it is along the set of solutions is linear: Px, every smooth term's score, the
    equality constraints, and the rows with a positive multiplier. If those fix coef, it is unique; otherwise two
    linear programs over the set of solutions look for another one.
    """
    judged = [v.name for v in problem.variables if v.kind not in BY_SAMPLE] or [v.name for v in problem.variables]
    rank, columns = _design_rank(problem)
    noticed = _noticed(problem, x, multipliers)
    fixed: list[Array] = []
    free: list[tuple[Rows, Array]] = []
    for v, p in problem.P.items():
        curved = np.zeros((problem.variable(v).size, problem.size))
        curved[:, problem.layout[v]] = p.to_dense()
        fixed.append(curved)
    for t in problem.terms:
        fixed.append(problem.rows(t)[t.counted].to_dense())
    for c in problem.constraints:
        rows = problem.rows(c)
        if c.relation == "==":
            fixed.append(rows.to_dense())
            continue
        slack = c.rhs - rows @ x
        unit = max(c.unit, float(np.abs(c.rhs).max(initial=0.0))) or 1.0
        tight = positive_multipliers(multipliers[c.name], slack, unit) & noticed[c.name]
        fixed.append(rows[np.flatnonzero(tight)].to_dense())
        free.append((rows[np.flatnonzero(~tight)], np.maximum(slack[~tight], 0.0)))
    stack = np.vstack([problem.null_directions, *fixed])  # a gauge is a choice, not a freedom
    where = np.concatenate([np.arange(problem.layout[v].start, problem.layout[v].stop) for v in judged])
    if _fixes(stack, where):
        return Uniqueness(True, rank, columns, "what every solution shares determines it")
    if problem.norm_bounds:
        return Uniqueness(None, rank, columns, "not decided under a norm bound")
    if not free:
        return Uniqueness(False, rank, columns, f"the design has rank {rank} for {columns} coefficients")
    other = _another(problem, stack, free, where)
    if other is None:
        return Uniqueness(True, rank, columns, "no other point satisfies what every solution shares")
    return Uniqueness(False, rank, columns, "the set of solutions is larger than a point", x + other)


def _noticed(problem: Problem, x: Array, multipliers: Mapping[str, Array]) -> dict[str, Mask]:
    """Which multipliers count in the gradient of the Lagrangian: sum_j |a_ij| z_i / s_j is above 1e-6, where s_j is the
    sum of the sizes that are added up in its entry j. The largest multiplier of a block may itself be a rounding error,
    as those of slack >= 0 are where every sample is at its cost."""
    rows = {c.name: abs(problem.rows(c)) for c in problem.constraints}
    parts = [rows[name].T @ np.abs(multipliers[name]) for name in rows]
    size = np.abs(problem.q) + np.abs(problem.apply_quadratic(x)) + sum(parts, np.zeros(problem.size))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        inverse = np.where(size > 0, 1.0 / size, 0.0)
        return {name: (rows[name] @ inverse) * multipliers[name] > NEGLIGIBLE_MULTIPLIER for name in rows}


def _design_rank(problem: Problem) -> tuple[int, int]:
    """The rank of the scores as a function of coef and intercept, in units of the columns."""
    names = [v for v in ("coef", "intercept") if v in problem.layout]
    data = problem.data
    if not names or data is None:
        return 0, problem.size
    if data.by_block is not None:
        return _rank_by_block(data.by_block, "intercept" in names)
    blocks = [np.asarray(data.matrix.toarray() if data.sparse else data.matrix, dtype=float)]
    if "intercept" in names:
        blocks.append(np.ones((data.n, 1)))
    matrix = np.hstack(blocks)
    largest = np.abs(matrix).max(axis=0, initial=0.0)
    matrix = matrix / np.where(largest > 0, largest, 1.0)  # squares would leave the range of doubles
    size = np.linalg.norm(matrix, axis=0)
    return int(np.linalg.matrix_rank(matrix / np.where(size > 0, size, 1.0))), matrix.shape[1]


def _rank_by_block(samples: Rows, intercept: bool) -> tuple[int, int]:
    """The same from a triangular factor, which has the same singular values."""
    n, d = samples.shape
    parts: list[tuple[slice, Rows]] = [(slice(0, d), samples)]
    parts += [(slice(d, d + 1), ConstantRows(n))] if intercept else []
    rows = JoinedRows(n, d + intercept, parts)
    largest = rows.column_max()
    factor = triangular_factor([rows], np.where(largest > 0, largest, 1.0))
    size = np.linalg.norm(factor, axis=0)
    return int(np.linalg.matrix_rank(factor / np.where(size > 0, size, 1.0))), rows.shape[1]


def _fixes(stack: Array, where: Indices) -> bool:
    """Whether no direction in the null space of the rows moves any of the chosen coordinates."""
    size = np.abs(stack).max(axis=0, initial=0.0)
    scaled = stack / np.where(size > 0, size, 1.0)
    if scaled.shape[0] > scaled.shape[1]:
        scaled = np.asarray(np.linalg.qr(scaled, mode="r"))  # the same null space in fewer rows
    _, values, vectors = np.linalg.svd(scaled, full_matrices=True)
    rank = int(np.sum(values > 1e-10 * values.max(initial=0.0))) if values.size else 0
    return bool(np.abs(vectors[rank:][:, where]).max(initial=0.0) < 1e-7)


def _another(problem: Problem, stack: Array, free: list[tuple[Rows, Array]], where: Indices) -> Array | None:
    """A step to another solution, by maximising generic functions over the set of solutions."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(0)
    upper = sparse.vstack([sparse.csr_array(rows.to_matrix()) for rows, _ in free])
    slacks = np.concatenate([slack for _, slack in free])
    cost = np.zeros(problem.size)
    for sign in (1.0, -1.0):
        cost[where] = sign * rng.uniform(0.5, 1.0, where.size) * rng.choice([-1.0, 1.0], where.size)
        found = linprog(
            cost,
            A_ub=upper,
            b_ub=slacks,
            A_eq=stack if stack.size else None,
            b_eq=np.zeros(stack.shape[0]) if stack.size else None,
            bounds=(-1.0, 1.0),
            method="highs",
        )
        if found.x is not None and np.abs(found.x[where]).max(initial=0.0) > 1e-5:
            return np.asarray(found.x)
    return None
