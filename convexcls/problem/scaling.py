"""The same problem in better units: exact powers of two, undone exactly.

Features of size 1e6 or 1e-150 make solvers fail for no mathematical reason. Each column of a variable gets its
own power of two, each block of rows one, all unknowns one together and the objective one: multiplying by a power
of two is exact, so the answer mapped back is the answer. The check runs on the problem as stated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.arrays import Array, top
from convexcls.caching import cached_property
from convexcls.problem import Block, Problem, ProblemError, Term
from convexcls.rows import Rows

Exponents = NDArray[np.int64]

#: Entries between 2^-3 and 2^3 are left alone.
MAX_UNSCALED_EXPONENT = 3
#: The objective of losses alone is left alone within these powers of two: it counts samples, as a rule.
MAX_UNSCALED_OBJECTIVE = 16
#: Sizes below it, and above its inverse, have such an exponent, which is rounded.
NEAR_ONE = 2.0 ** (MAX_UNSCALED_EXPONENT + 0.5)


@dataclass(frozen=True, eq=False)
class Scaled:
    """``problem`` in other units: x = 2^columns x~, multipliers = 2^(blocks - objective) multipliers~."""

    problem: Problem
    columns: Exponents
    blocks: Mapping[str, int]
    objective: int

    @cached_property
    def changes_nothing(self) -> bool:
        """Whether the units are those of the problem."""
        return not self.objective and not any(self.blocks.values()) and not self.columns.any()

    def restore_point(self, x: Array) -> Array:
        """A point of the original problem."""
        return np.array(x) if self.changes_nothing else _times_power(x, self.columns)

    def scale_point(self, x: Array) -> Array:
        """A point of the original problem in the new units."""
        return _times_power(x, -self.columns)

    def scale_multipliers(self, multipliers: Mapping[str, Array]) -> dict[str, Array]:
        """Multipliers of the original problem in the new units."""
        return {name: _times_power(z, self.objective - self.blocks.get(name, 0)) for name, z in multipliers.items()}

    def restore_multipliers(self, multipliers: Mapping[str, Array]) -> dict[str, Array]:
        """Multipliers of the original problem."""
        if self.changes_nothing:
            return dict(multipliers)
        return {name: _times_power(z, self.blocks.get(name, 0) - self.objective) for name, z in multipliers.items()}

    def restore_objective(self, value: float) -> float:
        """A value of the original minimised objective."""
        return value if self.changes_nothing else float(_times_power(value, -self.objective))


@np.errstate(over="ignore", under="ignore")
def _times_power(values: Any, exponents: Any) -> Any:
    """values times 2^exponents."""
    return np.ldexp(values, exponents)


def unscaled(problem: Problem) -> Scaled:
    """The problem in its own units."""
    return Scaled(problem, np.zeros(problem.size, dtype=np.int64), {}, 0)


def equilibrate(problem: Problem) -> Scaled:
    """The problem with all columns, blocks of rows, unknowns and the objective near one."""
    with np.errstate(over="ignore", under="ignore"):
        balanced = _balance(problem)
        if balanced is not None and not balanced[0].any() and not any(balanced[1].values()):
            balanced = None
        if balanced is None and not _unknowns(problem) and not _objective(problem):
            return Scaled(problem, *_unmoved(problem), 0)
        columns, blocks = balanced or _unmoved(problem)
        size = _unknowns(problem, columns, blocks)
        columns, blocks = columns + size, {name: e - size for name, e in blocks.items()}
        objective = _objective(problem, columns, blocks)
        if not np.any(columns) and not any(blocks.values()) and not objective:
            return Scaled(problem, columns, blocks, objective)
        try:
            return Scaled(_rebuild(problem, columns, blocks, objective), columns, blocks, objective)
        except ProblemError:  # numbers at both ends of the range, which no units bring together
            return unscaled(problem)


def _exponents(sizes: Array) -> Exponents:
    """The power of two nearest to each size, 0 where the size is comfortable (or none)."""
    if _near_one(sizes):
        return np.zeros(sizes.shape, dtype=np.int64)
    known = np.isfinite(sizes) & (sizes > 0)
    e = np.rint(np.log2(np.where(known, sizes, 1.0))).astype(np.int64)
    return np.where(np.abs(e) <= MAX_UNSCALED_EXPONENT, 0, e)


def _exponent(size: float) -> int:
    """The same of one size."""
    e = round(math.log2(size)) if 0.0 < size < math.inf else 0
    return 0 if abs(e) <= MAX_UNSCALED_EXPONENT else e


def _scalable(problem: Problem) -> list[Block]:
    """The blocks whose rows may be measured in other units: all but losses that are what they are."""
    squares = [t for t in problem.terms if t.is_half_square]
    return [*problem.constraints, *problem.norm_bounds, *squares]


def _unmoved(problem: Problem) -> tuple[Exponents, dict[str, int]]:
    return np.zeros(problem.size, dtype=np.int64), {block.name: 0 for block in _scalable(problem)}


def _balance(problem: Problem) -> tuple[Exponents, dict[str, int]] | None:
    """Exponents for columns and blocks that bring the entries near one; None where all are as they are.

    First the columns of each variable among themselves; but where a norm of the variable is part of the problem, as
    ‖coef‖ is without a loss beside it, they keep their proportions. Then variables and blocks against each other:
    least squares on the logarithms of their largest entries (Curtis and Reid 1972).
    """
    if not problem.norm_bounds and _is_balanced(problem):
        return None
    scalable = _scalable(problem)
    blocks = [*scalable, *(t for t in problem.terms if not t.is_half_square)]
    reaches = {block.name: problem.rows(block).column_max() for block in blocks}
    for bound in problem.norm_bounds:
        reaches[bound.name] = np.maximum(reaches[bound.name], problem.bound_rows(bound).column_max())
    largest = np.zeros(problem.size)
    for reach in reaches.values():
        np.maximum(largest, reach, out=largest)
    columns = -_exponents(largest)
    normed = {v for b in problem.norm_bounds for v in b.entries}
    for v in normed if problem.terms else {*normed, *problem.quadratic}:
        columns[problem.layout[v]] = 0
    return _balance_blocks(problem, reaches, columns, [block.name for block in scalable])


def _is_balanced(problem: Problem) -> bool:
    """Whether the largest entry of each column, and of each variable in each block, is near one or 0 as it is: then
    neither columns nor blocks are moved."""
    largest: dict[str, Array] = {}
    for block in problem.blocks:
        for v, rows in block.entries.items():
            reach = rows.column_max()
            if not _near_one(np.maximum.reduce(reach, initial=0.0, keepdims=True)):
                return False
            largest[v] = reach if v not in largest else np.maximum(largest[v], reach)
    return all(_near_one(reach) for reach in largest.values())


def _near_one(sizes: Array) -> bool:
    """Whether all sizes but zeros are."""
    if sizes.min(initial=1.0) > 1.0 / NEAR_ONE:  # as mostly: no size is 0
        return bool(sizes.max(initial=1.0) < NEAR_ONE)
    return bool(((sizes < NEAR_ONE) & ((sizes > 1.0 / NEAR_ONE) | (sizes == 0.0))).all())


def _balance_blocks(
    problem: Problem, reaches: Mapping[str, Array], columns: Exponents, movable: list[str]
) -> tuple[Exponents, dict[str, int]]:
    names = [v.name for v in problem.variables]
    rows, logs = [], []
    for block, reach in reaches.items():
        scaled = np.ldexp(reach, columns)
        for k, variable in enumerate(names):
            largest = float(scaled[problem.layout[variable]].max(initial=0.0))
            if largest > 0 and np.isfinite(largest):
                row = np.zeros(len(names) + len(movable))
                row[k] = 1.0
                if block in movable:
                    row[len(names) + movable.index(block)] = 1.0
                rows.append(row)
                logs.append(-np.log2(largest))
    blocks = dict.fromkeys(movable, 0)
    if not rows or max(map(abs, logs)) < MAX_UNSCALED_EXPONENT + 0.5:
        return columns, blocks
    shifts = np.rint(np.asarray(np.linalg.lstsq(np.array(rows), np.array(logs), rcond=None)[0])).astype(np.int64)
    for k, variable in enumerate(names):
        columns[problem.layout[variable]] += shifts[k]
    blocks.update({name: int(e) for name, e in zip(movable, shifts[len(names) :], strict=True)})
    return columns, blocks


def _times(values: Array, e: Any) -> Array:
    """values times 2^e; as they are where there is no e."""
    return values if e is None else np.asarray(np.ldexp(values, e))


def _unknowns(problem: Problem, columns: Exponents | None = None, blocks: Mapping[str, int] | None = None) -> int:
    """The size of the unknowns: linear cost over curvature where a variable has both, or what the right-hand sides
    leave them."""
    if any(not t.is_half_square for t in problem.terms):
        return 0
    curvature, pull = _largest_curvature(problem, columns, blocks), 0.0
    if problem.linear and curvature > 0:
        curved = np.zeros(problem.size, dtype=bool)
        for v in problem.quadratic:
            curved[problem.layout[v]] = True
        for t in problem.terms:
            curved |= problem.rows(t).column_max() > 0
        pull = top(_times(np.abs(problem.q), columns)[curved])
    sides = [top(_times(np.abs(c.rhs), _of(blocks, c))) for c in problem.constraints]
    sides += [math.ldexp(abs(b.bound), _of(blocks, b) or 0) for b in problem.norm_bounds]
    side = max(sides, default=0.0)
    if pull > 0:
        return _exponent(min(pull / curvature, side or np.inf))
    return 0 if problem.terms else _exponent(side)


def _of(blocks: Mapping[str, int] | None, block: Block) -> int | None:
    return None if blocks is None else blocks.get(block.name, 0)


def _largest_curvature(problem: Problem, columns: Exponents | None, blocks: Mapping[str, int] | None) -> float:
    out = 0.0
    for v, p in problem.P.items():
        e = None if columns is None else 2 * columns[problem.layout[v]]
        out = max(out, top(np.abs(_times(p.diagonal_entries(), e))))
    for t in problem.terms:
        own = _of(blocks, t)
        out = max(out, top(_times(t.weights, None if own is None else -2 * own)))
    return out


def _objective(problem: Problem, columns: Exponents | None = None, blocks: Mapping[str, int] | None = None) -> int:
    """The exponent of the objective, by the sizes that it is made of: curvatures and linear costs."""
    cost = top(_times(np.abs(problem.q), columns)) if problem.linear else 0.0
    out = -_exponent(max(cost, _largest_curvature(problem, columns, blocks)))
    free = not problem.is_constrained and abs(out) <= MAX_UNSCALED_OBJECTIVE
    return 0 if free else out  # a step of Newton's does not change with it


def _rebuild(problem: Problem, columns: Exponents, blocks: Mapping[str, int], objective: int) -> Problem:
    def entries(block: Block, rows: Mapping[str, Rows]) -> dict[str, Rows]:
        e = blocks.get(block.name, 0)
        exponents = {v: columns[problem.layout[v]] + e for v in rows}
        return {v: r.scaled(1.0, np.ldexp(1.0, exponents[v])) if exponents[v].any() else r for v, r in rows.items()}

    def term(t: Term) -> Term:
        e = blocks.get(t.name, 0)
        weights = np.ldexp(t.weights, objective - 2 * e)
        return replace(t, entries=entries(t, t.entries), offset=np.ldexp(t.offset, e), weights=weights)

    quadratic: dict[str, Any] = {}
    for v, p in problem.P.items():
        e = columns[problem.layout[v]]
        if (diagonal := problem.diagonals.get(v)) is not None:
            quadratic[v] = np.ldexp(diagonal, 2 * e + objective)
        elif p.semidefinite:  # and stays known to be
            quadratic[v] = p.scaled(np.ldexp(1.0, e + objective), np.ldexp(1.0, e))
        else:
            quadratic[v] = np.ldexp(np.ldexp(p.to_dense(), e[:, None] + objective), e)
    return problem.restated(
        quadratic=quadratic,
        linear={v: np.ldexp(q, columns[problem.layout[v]] + objective) for v, q in problem.linear.items()},
        terms=[term(t) for t in problem.terms],
        constraints=[
            replace(c, entries=entries(c, c.entries), rhs=np.ldexp(c.rhs, blocks[c.name])) for c in problem.constraints
        ],
        norm_bounds=[
            replace(
                b,
                entries=entries(b, b.entries),
                offset=np.ldexp(b.offset, blocks[b.name]),
                bound_entries=entries(b, b.bound_entries),
                bound=float(np.ldexp(b.bound, blocks[b.name])),
            )
            for b in problem.norm_bounds
        ],
        constant=float(np.ldexp(problem.constant, objective)),
        unit=float(np.ldexp(problem.unit, objective)),
        gauge={v: r.scaled(1.0, np.ldexp(1.0, -columns[problem.layout[v]])) for v, r in problem.gauge.items()},
    )
