"""Lower bounds by weak duality, in rationals, from any multipliers.

For multipliers a in their ranges (a_i >= 0; of a sample that costs c_i max(line_1, line_2) the share 0 <= a_i <= c_i of
its first line) the Lagrangian lies below the objective, and its minimum is

    constant + a's - sum_i a_i^2 / (2 p_i) - 1/2 p'H^+ p,     p = g + sum_i a_i R_i,

where p lies in the range of H. Multipliers as a solver gives them miss that by rounding: they are moved there by the
step that is least in the room that each has and, where that leaves their ranges, mixed with multipliers in the middle.

``linearised_bound`` is for programs over a box, from a point alone:

    minimise  1/2 z'Hz + g'z + constant   subject to   l <= z <= u,   a'z + e = 0

H is positive semidefinite, so 1/2 z'Hz >= s'Hz - 1/2 s'Hs for every s. With any s, and any multiplier b of the
equation, the objective lies above

    constant + b e - 1/2 s'Hs + r'z,        r = g + Hs + b a,

whose minimum over the box is had by hand: r_j l_j or r_j u_j, whichever is less. This is the objective of the primal of
a kernel machine, with slacks that are what they have to be: nothing has to be repaired, which multipliers of the box
(``dual_bound``) ask for where H is singular. Of a box without an end on some side, s and b are enlarged until r
points inwards; of one whose upper ends are far away that may be better, too. b is where one of the r_j is 0, where two
pulls are alike, or as given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from convexcls.proofs.claims.farkas import Multipliers
from convexcls.proofs.claims.statement import Samples, Statement
from convexcls.rational.elimination import Vector, dot, null_space, solve

ZERO, HALF = Fraction(0), Fraction(1, 2)


@dataclass(frozen=True)
class Multiplier:
    """One multiplier: its ``row`` (R_i, s_i), how far it may reach (None: no end; ``free``: either sign) and, where its
    sample costs a square, that curvature."""

    value: Fraction
    row: Sequence[Fraction]
    most: Fraction | None = None
    free: bool = False
    curvature: Fraction | None = None

    @property
    def clipped(self) -> Fraction:
        """The value in its range."""
        if self.free:
            return self.value
        above = max(self.value, ZERO)
        return above if self.most is None else min(above, self.most)


def dual_bound(statement: Statement, given: Multipliers) -> Fraction | None:
    """A lower bound of the minimised objective; None where the multipliers could not be made dual feasible."""
    found = _multipliers(statement, given)
    if found is None:
        return None
    base, every = found
    null = _flat_directions(statement)
    a = [m.clipped for m in every]
    for weights in ([_reach(m) for m in every], [_width(m, every) for m in every]):
        fit = _stationary(null, base, every, a, weights)
        if fit is not None and (fit := _mixed(null, base, every, fit)) is not None:
            return _dual_value(statement, base, every, fit)
    return None


def _multipliers(statement: Statement, given: Multipliers) -> tuple[Vector, list[Multiplier]] | None:
    """(g, constant) plus what the multipliers that are not free to choose pull, and the others one by one; None where
    a sample has more lines than are dealt with."""
    base, every = [*statement.linear, statement.constant], []
    for block in (*statement.equalities, *statement.inequalities):
        used = given.get(block.block.name, {})
        free = block in statement.equalities
        every += [Multiplier(used.get(i, ZERO), row, free=free) for i, row in enumerate(block.rational())]
    for samples in statement.samples:
        lines = [line.rational() for line in samples.lines]
        used = given.get(samples.lines[0].block.name, {})
        for i, (c, p) in enumerate(zip(*costs(samples), strict=True)):
            if p and len(lines) == 1:
                every.append(Multiplier(used.get(i, ZERO), lines[0][i], curvature=p))
            elif c and not p and len(lines) == 2:
                base = [b + c * v for b, v in zip(base, lines[1][i], strict=True)]
                row = [u - v for u, v in zip(lines[0][i], lines[1][i], strict=True)]
                every.append(Multiplier(used.get(i, ZERO), row, most=c))
            elif c or p:
                return None
    return base, every


def _flat_directions(statement: Statement) -> list[Vector]:
    """A basis of the directions without curvature."""
    if _diagonal(statement.quadratic):
        size = range(statement.size)
        return [[Fraction(int(j == k)) for k in size] for j in size if not statement.quadratic[j][j]]
    return null_space(statement.quadratic)


def _reach(m: Multiplier) -> Fraction:
    """How far a multiplier may move either way."""
    if m.free:
        return Fraction(1)
    return m.clipped if m.most is None else min(m.clipped, m.most - m.clipped)


def _width(m: Multiplier, every: Sequence[Multiplier]) -> Fraction:
    """How large a multiplier may be; of those without an end, how large they are on average."""
    if m.free:
        return Fraction(1)
    if m.most is not None:
        return m.most
    endless = [other.clipped for other in every if other.most is None and not other.free]
    return sum(endless, ZERO) / len(endless)


def _stationary(
    null: list[Vector], base: Vector, every: Sequence[Multiplier], a: Vector, weights: Vector
) -> Vector | None:
    """Multipliers near a under which the Lagrangian has no slope along the flat directions."""
    along = [[dot(n, m.row[:-1]) for n in null] for m in every]
    slope = [
        dot(n, base[:-1]) + sum((v * u[k] for v, u in zip(a, along, strict=True)), ZERO) for k, n in enumerate(null)
    ]
    if not any(slope):
        return a
    bend = [
        [sum((w * u[j] * u[k] for w, u in zip(weights, along, strict=True) if w), ZERO) for k in range(len(null))]
        for j in range(len(null))
    ]
    step = solve(bend, slope)
    if step is None:
        return None
    return [v - w * dot(u, step) for v, w, u in zip(a, weights, along, strict=True)]


def _mixed(null: list[Vector], base: Vector, every: Sequence[Multiplier], fit: Vector) -> Vector | None:
    """The multipliers mixed with ones in the middle of their ranges, as little as brings all into them."""
    if all(_outside(m, value) == 0 for m, value in zip(every, fit, strict=True)):
        return fit
    widths = [_width(m, every) for m in every]
    centre = [m.value if m.free else width / 2 for m, width in zip(every, widths, strict=True)]
    middle = _stationary(null, base, every, centre, widths)
    if middle is None:
        return None
    part = ZERO
    for m, value, inner in zip(every, fit, middle, strict=True):
        if excess := _outside(m, value):
            edge = ZERO if value < 0 or m.most is None else m.most
            part = max(part, excess / (excess + abs(inner - edge)))
    mixed = [(1 - part) * value + part * inner for value, inner in zip(fit, middle, strict=True)]
    return mixed if all(_outside(m, value) == 0 for m, value in zip(every, mixed, strict=True)) else None


def _outside(m: Multiplier, value: Fraction) -> Fraction:
    """How far a value lies outside of a multiplier's range."""
    if m.free:
        return ZERO
    return max(-value, ZERO) if m.most is None else max(-value, value - m.most, ZERO)


def _dual_value(statement: Statement, base: Vector, every: Sequence[Multiplier], a: Vector) -> Fraction | None:
    total = base[:]
    for value, m in zip(a, every, strict=True):
        if value:
            total = [t + value * v for t, v in zip(total, m.row, strict=True)]
    squares = sum((v * v / m.curvature for v, m in zip(a, every, strict=True) if m.curvature), ZERO)
    bend = _pseudo_solve(statement.quadratic, total[:-1])
    return None if bend is None else total[-1] - HALF * (squares + dot(bend, total[:-1]))


def _pseudo_solve(quadratic: Sequence[Sequence[Fraction]], p: Vector) -> Vector | None:
    """A solution s of H s = p; None where p is not in the range of H."""
    if not _diagonal(quadratic):
        return solve(quadratic, p)
    if any(value and not quadratic[j][j] for j, value in enumerate(p)):
        return None
    return [value / quadratic[j][j] if value else ZERO for j, value in enumerate(p)]


def _diagonal(quadratic: Sequence[Sequence[Fraction]]) -> bool:
    return not any(value for j, row in enumerate(quadratic) for k, value in enumerate(row) if j != k)


def costs(samples: Samples) -> tuple[Vector, Vector]:
    """The costs c and p of each sample."""
    return samples.rational("cost"), samples.rational("curvature")


End = Fraction | None


@dataclass(frozen=True)
class BoxMinimum:
    """The ends of each unknown, None where there is none, and the equation (a, e), of zeros where there is none."""

    low: Sequence[End]
    high: Sequence[End]
    equation: Vector


def linearised_bound(statement: Statement, z: Vector, multipliers: Multipliers) -> Fraction | None:
    """A lower bound of the minimised objective from the curvature at z; None where the program is not over a box."""
    box = _box(statement)
    if box is None:
        return None
    bend = [dot(row, z) for row in statement.quadratic]
    lost, g = HALF * dot(bend, z), statement.linear
    given = [b for block in statement.equalities for b in multipliers.get(block.block.name, {}).values()]
    found = []
    for b in _equation_multipliers(box, g, bend, given):
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


def _box(statement: Statement) -> BoxMinimum | None:
    """The box of a program that has bounds of single unknowns, at most one equation, and nothing else."""
    equations = [row for block in statement.equalities for row in block.rational()]
    bounds = [row for block in statement.inequalities for row in block.rational()]
    if statement.samples or len(equations) > 1 or any(sum(map(bool, row[:-1])) != 1 for row in bounds):
        return None
    return BoxMinimum(*single_ends(bounds, statement.size), *(equations or [[ZERO] * (statement.size + 1)]))


def _equation_multipliers(box: BoxMinimum, g: Vector, bend: Vector, given: Sequence[Fraction]) -> set[Fraction]:
    """Multipliers of the equation that may be the best."""
    if not any(box.equation):
        return {ZERO}
    out = {-(u + v) / a for u, v, a in zip(g, bend, box.equation[:-1], strict=True) if a}
    pairs = [*zip(bend, box.equation[:-1], strict=True)]
    positive, negative = [pair for pair in pairs if pair[1] > 0], [pair for pair in pairs if pair[1] < 0]
    if positive and negative:  # the least on either side are alike
        (u, a), (v, c) = min(positive), min(negative)
        out.add((v - u) / (a - c))
    return out | set(given)


def _enlarged(lows: Sequence[End], highs: Sequence[End], g: Vector, pull: Vector) -> Fraction:
    """The least t >= 1 for which g + t pull points inwards where the box has no end and pull does."""
    t = Fraction(1)
    for u, v, low, high in zip(g, pull, lows, highs, strict=True):
        if (high is None and u + t * v < 0 < v) or (low is None and u + t * v > 0 > v):
            t = -u / v
    return t


def _least(box: BoxMinimum, r: Vector) -> Fraction | None:
    """The minimum of r'z over the box; None where there is none."""
    total = ZERO
    for value, low, high in zip(r, box.low, box.high, strict=True):
        if value:
            end = low if value > 0 else high
            if end is None:
                return None
            total += value * end
    return total
