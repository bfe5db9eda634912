"""Doubles near an exact solution that have its scores.

Each coefficient rounded to the nearest double, a score R_i z is off by a rounding of its largest product: too much where
large numbers cancel in it, as with features far from zero or columns that nearly depend on each other. But doubles a
little farther away may have that score: z_j moves by k_j units in its last place, and

    sum_j k_j ulp_j R_ij  =  R_i (z - z')     for all rows i, nearly,   z' the nearest doubles,

asks for a point of a lattice near a given one (``rational/lattice.py``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from convexcls.exact.kernel_matrix import exact_kernel
from convexcls.exact.measured import Measured
from convexcls.problem import Problem
from convexcls.rational.lattice import nearest_multiples
from convexcls.rows import Rows

Array = NDArray[np.float64]
Vector = list[Fraction]

#: A score is worth 2^SCORE, a coefficient that is off by as much as it is large 2^SIZE.
SCORE, SIZE = 90, 75
#: More numbers are not rounded together.
MOST_STEPS = 12
#: More rows are not looked at.
MOST_ROWS = 256


def doubles_near(problem: Problem, point: Mapping[str, Sequence[Fraction]]) -> Array | None:
    """A point of doubles near the one given (without slacks: these are 0) with nearly its scores; None where it has too
    many entries, or is beyond the range of doubles."""
    kept = tuple(point)
    exact = [value for name in kept for value in point[name]]
    try:
        nearest = [float(value) for value in exact]
    except OverflowError:
        return None
    moved = [j for j, value in enumerate(nearest) if value]
    if not 0 < len(moved) <= MOST_STEPS:
        return None
    units = [Fraction(math.ulp(nearest[j])) for j in moved]
    missed = [v - Fraction(near) for v, near in zip(exact, nearest, strict=True)]
    steps: list[list[int]] = [[] for _ in moved]
    target: list[int] = []
    for row in _rows(problem, kept, exact):
        for step, j, unit in zip(steps, moved, units, strict=True):
            step.append(round(row[j] * unit * 2**SCORE))
        target.append(round(_dot(row, missed) * 2**SCORE))
    for place, (j, unit) in enumerate(zip(moved, units, strict=True)):
        for k, step in enumerate(steps):
            step.append(round(unit / abs(exact[j]) * 2**SIZE) if k == place else 0)
        target.append(round(missed[j] / abs(exact[j]) * 2**SIZE))
    gram = [[_inner(a, b) for b in steps] for a in steps]
    times = nearest_multiples(gram, [_inner(step, target) for step in steps])
    for j, unit, k in zip(moved, units, times, strict=True):
        nearest[j] = float(Fraction(nearest[j]) + k * unit)
    out = np.zeros(problem.size)
    out[problem.places(kept)] = nearest
    return out


def _rows(problem: Problem, kept: tuple[str, ...], exact: Vector) -> list[Vector]:
    """The rows of all blocks over the unknowns that are kept, each in the unit of its block."""
    out: list[Vector] = []
    size = len(exact)
    blocks = (*problem.terms, *problem.constraints)
    tables = [Measured(b, problem.narrow_rows(b.entries, kept), size) for b in blocks]
    for table in tables:
        rows = table.rational(np.arange(min(table.size, MOST_ROWS - len(out))))
        unit = max((max(abs(row[-1]), abs(_dot(row[:-1], exact))) for row in rows), default=Fraction(0))
        out += [[v / (unit or 1) for v in row[:-1]] for row in rows if any(row[:-1])]
    if len(kept) == 1 and isinstance(p := problem.quadratic.get(kept[0]), Rows):
        out += exact_kernel(problem) or p.rational()
    return out


def _dot(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True) if a and b), Fraction(0))


def _inner(u: Sequence[int], v: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(u, v, strict=True))
