"""Lower bounds of programs over a box, in rationals, from a point alone.

    minimise  1/2 z'Hz + g'z + constant   subject to   l <= z <= u,   a'z + e = 0

H is positive semidefinite, so 1/2 z'Hz >= s'Hz - 1/2 s'Hs for every s. With any s, and any multiplier b of the
equation, the objective lies above

    constant + b e - 1/2 s'Hs + r'z,        r = g + Hs + b a,

whose minimum over the box is had by hand: r_j l_j or r_j u_j, whichever is less. This is the objective of the primal of
a kernel machine, with slacks that are what they have to be: nothing has to be repaired, which multipliers of the box
(``dual_bound.py``) ask for where H is singular. Of a box without an end on some side, s and b are enlarged until r
points inwards; of one whose upper ends are far away that may be better, too. b is where one of the r_j is 0, where two
pulls are alike, or as given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from convexcls.proofs.exact.dual_bound import HALF, ZERO, Vector, dot, rows
from convexcls.proofs.exact.statement import Statement

End = Fraction | None


@dataclass(frozen=True)
class Box:
    """The ends of each unknown, None where there is none, and the equation (a, e), of zeros where there is none."""

    low: Sequence[End]
    high: Sequence[End]
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
        for t in (_enlarged(box.low, box.high, g, pull), _enlarged(box.low, [None] * len(z), g, pull)):
            least = _least(box, [u + t * v for u, v in zip(g, pull, strict=True)])
            if least is not None:
                found.append(statement.constant + t * b * box.equation[-1] - t * t * lost + least)
    return max(found, default=None)


def single_ends(bounds: Iterable[Vector], size: int) -> tuple[list[End], list[End]]:
    """The ends of each unknown by the rows (R, s) with R z + s <= 0 that speak of it alone."""
    low: list[End] = [None] * size
    high: list[End] = [None] * size
    for row in bounds:
        places = [j for j, value in enumerate(row[:-1]) if value]
        if len(places) == 1:
            (j,) = places
            ends, inner = (high, min) if row[j] > 0 else (low, max)
            end, known = -row[-1] / row[j], ends[j]
            ends[j] = end if known is None else inner(end, known)
    return low, high


def _box(statement: Statement) -> Box | None:
    """The box of a program that has bounds of single unknowns, at most one equation, and nothing else."""
    equations = [row for block in statement.equalities for row in rows(block)]
    bounds = [row for block in statement.inequalities for row in rows(block)]
    if statement.samples or len(equations) > 1 or any(sum(map(bool, row[:-1])) != 1 for row in bounds):
        return None
    return Box(*single_ends(bounds, statement.size), *(equations or [[ZERO] * (statement.size + 1)]))


def _multipliers(box: Box, g: Vector, bend: Vector, given: Sequence[Fraction]) -> set[Fraction]:
    """Multipliers of the equation that may be the best."""
    if not any(box.equation):
        return {ZERO}
    out = {-(u + v) / a for u, v, a in zip(g, bend, box.equation[:-1], strict=True) if a}
    pairs = [*zip(bend, box.equation[:-1], strict=True)]
    up, down = [pair for pair in pairs if pair[1] > 0], [pair for pair in pairs if pair[1] < 0]
    if up and down:  # the least on either side are alike
        (u, a), (v, c) = min(up), min(down)
        out.add((v - u) / (a - c))
    return out | set(given)


def _enlarged(lows: Sequence[End], highs: Sequence[End], g: Vector, pull: Vector) -> Fraction:
    """The least t >= 1 for which g + t pull points inwards where the box has no end and pull does."""
    t = Fraction(1)
    for u, v, low, high in zip(g, pull, lows, highs, strict=True):
        if (high is None and u + t * v < 0 < v) or (low is None and u + t * v > 0 > v):
            t = -u / v
    return t


def _least(box: Box, r: Vector) -> Fraction | None:
    """The minimum of r'z over the box; None where there is none."""
    total = ZERO
    for value, low, high in zip(r, box.low, box.high, strict=True):
        if value:
            end = low if value > 0 else high
            if end is None:
                return None
            total += value * end
    return total
