"""The same problem in better units: exact powers of two, undone exactly.

Features of size 1e6 or 1e-150 make solvers fail for no mathematical reason. Each variable's column gets its
own power of two, each constraint block one, the right-hand sides and the objective one: multiplying by a power
of two is exact, so the answer mapped back is the answer. The check runs on the problem as stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convexcls.problem import Problem
from convexcls.rows import Rows

Array = NDArray[np.float64]
Exponents = NDArray[np.int64]

#: Entries between 2^-COMFORT and 2^COMFORT are left alone.
COMFORT = 3


@dataclass(frozen=True, eq=False)
class Scaled:
    """``problem`` in other units: x = 2^columns x~, multipliers = 2^(blocks - objective) multipliers~."""

    problem: Problem
    columns: Exponents
    blocks: Mapping[str, int]
    objective: int

    def restore_point(self, x: Array) -> Array:
        """A point of the original problem."""
        return np.ldexp(x, self.columns)

    def restore_multipliers(self, multipliers: Mapping[str, Array]) -> dict[str, Array]:
        """Multipliers of the original problem."""
        return {name: np.ldexp(z, self.blocks.get(name, 0) - self.objective) for name, z in multipliers.items()}

    def restore_objective(self, value: float) -> float:
        """A value of the original minimised objective."""
        return float(np.ldexp(value, -self.objective))


def equilibrate(problem: Problem) -> Scaled:
    """The problem with all columns, blocks, right-hand sides and the objective near one."""
    columns, blocks = _balance(problem)
    sides = [np.abs(c.rhs).max(initial=0.0) * 2.0 ** blocks[c.name] for c in problem.constraints]
    sides += [abs(b.bound) * 2.0 ** blocks[b.name] for b in problem.norm_bounds]
    if not problem.terms:
        columns = columns + _exponent(max(sides, default=0.0))
    sizes = [np.abs(np.ldexp(problem.q, columns)).max(initial=0.0)]
    for v, p in problem.quadratic.items():
        e = columns[problem.layout[v]]
        diagonal = np.diag(p.to_dense()) if isinstance(p, Rows) else p
        sizes.append(np.abs(np.ldexp(diagonal, 2 * e)).max(initial=0.0))
    sizes += [t.weights.max(initial=0.0) for t in problem.terms]
    objective = -_exponent(max(float(s) for s in sizes))
    if not np.any(columns) and not any(blocks.values()) and not objective:
        return Scaled(problem, columns, blocks, objective)
    return Scaled(_rebuild(problem, columns, blocks, objective), columns, blocks, objective)


def _exponent(value: float) -> int:
    """The power of two nearest to a size, 0 where the size is comfortable (or none)."""
    if not np.isfinite(value) or value <= 0:
        return 0
    e = round(float(np.log2(value)))
    return 0 if abs(e) <= COMFORT else e


def _balance(problem: Problem) -> tuple[Exponents, dict[str, int]]:
    """Exponents for columns and constraint blocks that bring the largest entry of each near one: alternate
    between the two until nothing changes. Loss terms keep their units, a loss being what it is."""
    reaches: dict[str, Array] = {}
    for block in (*problem.constraints, *problem.norm_bounds):
        reaches[block.name] = problem.rows(block).column_max()
    for bound in problem.norm_bounds:
        reaches[bound.name] = np.maximum(reaches[bound.name], problem.bound_rows(bound).column_max())
    fixed = np.zeros(problem.size)
    for term in problem.terms:
        fixed = np.maximum(fixed, problem.rows(term).column_max())
    columns = np.zeros(problem.size, dtype=np.int64)
    blocks = dict.fromkeys(reaches, 0)
    for _ in range(10):
        before = (columns.copy(), dict(blocks))
        total = np.ldexp(fixed, columns)
        for name, reach in reaches.items():
            total = np.maximum(total, np.ldexp(reach, columns + blocks[name]))
        columns = columns - np.array([_exponent(t) for t in total], dtype=np.int64)
        for name, reach in reaches.items():
            blocks[name] -= _exponent(float(np.ldexp(reach, columns + blocks[name]).max(initial=0.0)))
        if np.array_equal(columns, before[0]) and blocks == before[1]:
            break
    return columns, blocks


def _rebuild(problem: Problem, columns: Exponents, blocks: Mapping[str, int], objective: int) -> Problem:
    def entries(block: Any, which: str = "entries") -> dict[str, Rows]:
        left = 2.0 ** blocks.get(block.name, 0)
        return {
            v: rows.scaled(left, np.ldexp(1.0, columns[problem.layout[v]])) for v, rows in getattr(block, which).items()
        }

    quadratic: dict[str, Any] = {}
    for v, p in problem.quadratic.items():
        e = columns[problem.layout[v]]
        if isinstance(p, Rows):
            quadratic[v] = np.ldexp(np.ldexp(p.to_dense(), e[:, None] + objective), e)
        else:
            quadratic[v] = np.ldexp(p, 2 * e + objective)
    return Problem(
        problem.name,
        problem.variables,
        quadratic=quadratic,
        linear={v: np.ldexp(q, columns[problem.layout[v]] + objective) for v, q in problem.linear.items()},
        terms=[replace(t, entries=entries(t), weights=np.ldexp(t.weights, objective)) for t in problem.terms],
        constraints=[replace(c, entries=entries(c), rhs=np.ldexp(c.rhs, blocks[c.name])) for c in problem.constraints],
        norm_bounds=[
            replace(
                b,
                entries=entries(b),
                offset=np.ldexp(b.offset, blocks[b.name]),
                bound_entries=entries(b, "bound_entries"),
                bound=float(np.ldexp(b.bound, blocks[b.name])),
            )
            for b in problem.norm_bounds
        ],
        constant=float(np.ldexp(problem.constant, objective)),
        sense=problem.sense,
        unit=float(np.ldexp(problem.unit, objective)),
    )
