"""Lower bounds of programs over a box, in rationals, from a point alone.

    minimise  1/2 z'Hz + g'z + constant   subject to   l <= z <= u,   a'z + e = 0

H is positive semidefinite, so 1/2 z'Hz >= s'Hz - 1/2 s'Hs for every s. With any s, and any multiplier b of the
equation, the objective lies above

    constant + b e - 1/2 s'Hs + r'z,        r = g + Hs + b a,

whose minimum over the box is had by hand: r_j l_j or r_j u_j, whichever is less. This is the objective of the primal of
a kernel machine, with slacks that are what they have to be: nothing has to be repaired, which multipliers of the box
(``dual_bound.py``) ask for where H is singular. Of a box without an end on some side, s and b are enlarged until r
points inwards. b is where one of the r_j is 0 or, without an end, where two of them are alike; or as given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from convexcls.exact.dual_bound import HALF, ZERO, Vector, dot, rows
from convexcls.exact.statement import Statement

End = Fraction | None


@dataclass(frozen=True)
class Box:
    """The ends of each unknown, None where there is none, and the equation (a, e), of zeros where there is none."""

    low: list[End]
    high: list[End]
    equation: Vector


def linearised_bound(
    statement: Statement, z: Vector, multipliers: Mapping[str, Mapping[int, Fraction]]
) -> Fraction | None:
    """A lower bound of the minimised objective from the curvature at z; None where the program is not over a box."""
    box = _box(statement)
    if box is None:
        return None
    bend = [dot(row, z) for row in statement.quadratic]
    lost, g = HALF * dot(bend, z), statement.linear
    given = [b for block in statement.equalities for b in multipliers.get(block.block.name, {}).values()]
    found = []
    for b in _multipliers(box, g, bend, given):
        pull = [h + b * a for h, a in zip(bend, box.equation[:-1], strict=True)]
        t = _enlarged(box, g, pull)
        least = None if t is None else _least(box, [u + t * v for u, v in zip(g, pull, strict=True)])
        if t is not None and least is not None:
            found.append(statement.constant + t * b * box.equation[-1] - t * t * lost + least)
    return max(found, default=None)


def _box(statement: Statement) -> Box | None:
    """The box of a program that has bounds of single unknowns, at most one equation, and nothing else."""
    equations = [row for block in statement.equalities for row in rows(block)]
    if statement.samples or len(equations) > 1:
        return None
    low: list[End] = [None] * statement.size
    high: list[End] = [None] * statement.size
    for row in (row for block in statement.inequalities for row in rows(block)):
        places = [j for j, value in enumerate(row[:-1]) if value]
        if len(places) != 1:
            return None
        (j,) = places
        end = -row[-1] / row[j]
        if row[j] > 0:
            high[j] = end if high[j] is None else min(end, high[j])  # type: ignore[type-var]
        else:
            low[j] = end if low[j] is None else max(end, low[j])  # type: ignore[type-var]
    return Box(low, high, equations[0] if equations else [ZERO] * (statement.size + 1))


def _multipliers(box: Box, g: Vector, bend: Vector, given: Sequence[Fraction]) -> set[Fraction]:
    """Multipliers of the equation that may be the best."""
    if not any(box.equation):
        return {ZERO}
    out = {-(u + v) / a for u, v, a in zip(g, bend, box.equation[:-1], strict=True) if a}
    sides = [[(v, a) for v, a in zip(bend, box.equation[:-1], strict=True) if a * side > 0] for side in (1, -1)]
    if all(sides):  # v + b a alike of the least on either side
        (u, a), (v, c) = (min(side) for side in sides)
        out.add((v - u) / (a - c))
    return out | set(given)


def _enlarged(box: Box, g: Vector, pull: Vector) -> Fraction | None:
    """The least t >= 1 for which g + t pull points inwards where the box has no end; None where there is none."""
    t = Fraction(1)
    for u, v, low, high in zip(g, pull, box.low, box.high, strict=True):
        for end, sign in ((high, 1), (low, -1)):
            if end is None and sign * (u + t * v) < 0:
                if sign * v <= 0:
                    return None
                t = -u / v
    return t


def _least(box: Box, r: Vector) -> Fraction | None:
    """The minimum of r'z over the box."""
    total = ZERO
    for value, low, high in zip(r, box.low, box.high, strict=True):
        end = low if value > 0 else high
        if value and end is None:
            return None
        total += value * (end or ZERO)
    return total
