"""How far one number may change before the active set does, and how the solution moves until then.

On a fixed active set x and the multipliers solve a linear system that changes with one number theta, so all that
matters is a quotient of polynomials of theta. They are found by interpolation, without rounding; the range ends at the
first root of one that must not be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from convexcls.rational.elimination import Vector, dot
from convexcls.rational.polynomials import (
    Polynomial,
    derivative,
    first_root,
    interpolation,
    sign_after,
    value,
)
from convexcls.studies.sensitivity.active import RowProgram, Side, Solved, margins_of_validity, solved

#: The program with theta added to one number; theta is 0 at the solution.
Changed = Callable[[Fraction], RowProgram]
#: With more rows that may stand on either side, their choices are not tried one by one.
MAX_UNCLEAR = 8
ZERO = Fraction(0)


@dataclass(frozen=True)
class OneSided:
    """What holds on one side of the present value, up to a ``distance`` from it (None: for ever), which is ``exact`` or
    told from below to 30 digits. The slopes are derivatives by the number itself. ``event`` says what ends it.

    >>> import convexcls as cc
    >>> side = cc.HardMarginSVM([[0], [2], [4]], [0, 1, 1]).solve().sensitivity().feature(2, 0).below
    >>> str(side.distance), side.event, [str(v) for v in side.margins]
    ('2', 'sample 2 joins the support', ['0', '0', '1'])
    """

    distance: Fraction | None
    exact: bool
    event: str
    coef: Vector
    intercept: Fraction
    optimum: Fraction
    margins: Vector
    multipliers: Vector
    #: Where each row stands there.
    sides: tuple[Side, ...] = ()


@dataclass(frozen=True)
class Change:
    """How the solution changes with one number. ``below`` and ``above`` are None where no formula holds on that side:
    there the solution is not unique, or the number may not go.

    >>> import convexcls as cc
    >>> change = cc.HardMarginSVM([[0], [2]], [0, 1]).solve().sensitivity().feature(1, 0)
    >>> str(change.value), str(change.low), change.high, str(change.above.coef[0])
    ('2', '0', None, '-1/2')
    >>> change.smooth
    True
    """

    name: str
    value: Fraction
    below: OneSided | None
    above: OneSided | None

    @property
    def low(self) -> Fraction | None:
        """The least value at which the active set is the same; None where there is no such end."""
        return _end(self.value, self.below, -1)

    @property
    def high(self) -> Fraction | None:
        """The largest value at which the active set is the same; None where there is no such end."""
        return _end(self.value, self.above, 1)

    @property
    def smooth(self) -> bool:
        """Whether the formulas of both sides have the same slopes."""
        return self.below is not None and self.above is not None and _slopes(self.below) == _slopes(self.above)


def _end(value: Fraction, side: OneSided | None, sign: int) -> Fraction | None:
    if side is None:
        return value
    return None if side.distance is None else value + sign * side.distance


def _slopes(side: OneSided) -> tuple[Vector, Fraction, Fraction, Vector]:
    return side.coef, side.intercept, side.optimum, side.multipliers


def change(
    name: str,
    at: Fraction,
    changed: Changed,
    sides: Sequence[Side],
    unclear: Sequence[int],
    degree: int,
    features: int,
    least: Fraction | None = None,
) -> Change:
    """The change with a number that is ``at`` now, and not below ``least``."""
    room = None if least is None else at - least
    below = None if room == 0 else one_sided(changed, -1, sides, unclear, degree, features, room, name)
    return Change(name, at, below, one_sided(changed, 1, sides, unclear, degree, features, None, name))


def one_sided(
    changed: Changed,
    sign: int,
    sides: Sequence[Side],
    unclear: Sequence[int],
    degree: int,
    features: int,
    room: Fraction | None,
    name: str,
) -> OneSided | None:
    """What holds next to the present value on one side: of the active sets that rows without room leave open, the one
    that stays feasible there."""
    for partition in partitions(sides, unclear):
        if (found := _within(changed, sign, partition, degree)) is not None:
            return _told(found, changed, sign, partition, features, room, name)
    return None


def partitions(sides: Sequence[Side], unclear: Sequence[int]) -> Iterator[list[Side]]:
    """The sides, then with rows that are at a bound without slack free."""
    if len(unclear) > MAX_UNCLEAR:
        return
    for freed in product((False, True), repeat=len(unclear)):
        out = list(sides)
        for i, free in zip(unclear, freed, strict=True):
            out[i] = "free" if free else out[i]
        yield out


@dataclass(frozen=True)
class _Followed:
    """The determinant and, times it, x, the multipliers and what must not be negative, as polynomials of theta; what
    the present value gives."""

    determinant: Polynomial
    x: list[Polynomial]
    a: list[Polynomial]
    margins: list[Polynomial]
    validity: list[Polynomial]
    now: Solved


def _within(changed: Changed, sign: int, sides: Sequence[Side], degree: int) -> _Followed | None:
    """The polynomials in the distance; None where the active set does not hold next to the present value."""
    now = solved(changed(ZERO), sides)
    if now is None:
        return None
    places: list[Fraction] = []
    determinants: list[Fraction] = []
    groups: list[list[Vector]] = [[], [], [], []]
    step = 0
    while len(places) < degree + 2:  # one more than it takes: it has to fit
        theta, step = Fraction(step, 8), step + 1
        program = changed(sign * theta)
        if (found := solved(program, sides)) is None:
            continue
        D, margins = found.determinant, [dot(row, found.x) for row in program.rows]
        places.append(theta)
        determinants.append(D)
        valid = margins_of_validity(program, sides, found)
        for group, values in zip(groups, (found.x, found.a, margins, valid), strict=True):
            group.append([D * v for v in values])
    x, a, margins_along, validity = ([interpolation(places, list(v)) for v in zip(*g, strict=True)] for g in groups)
    assert all(len(p) <= degree + 1 for p in (*x, *a, *margins_along, *validity))
    turn = 1 if now.determinant > 0 else -1
    validity = [[turn * c for c in p] for p in validity]
    if any(sign_after(p) < 0 for p in validity):
        return None
    return _Followed(interpolation(places, determinants), x, a, margins_along, validity, now)


def _told(
    found: _Followed,
    changed: Changed,
    sign: int,
    sides: Sequence[Side],
    features: int,
    room: Fraction | None,
    name: str,
) -> OneSided:
    ends = [] if room is None else [(room, True, f"{name} is at its least")]
    if (root := first_root(found.determinant)) is not None:
        ends.append((*root, "there the solution is not unique, or there is none"))
    for k, p in enumerate(found.validity):
        if (root := first_root(p)) is not None:
            ends.append((*root, event(changed(ZERO), sides[k // 2], k // 2, k % 2)))
    distance, exact, what = min(ends, default=(None, True, ""), key=lambda end: end[0])
    D, D1 = found.now.determinant, value(derivative(found.determinant), ZERO)

    def slope(p: Polynomial) -> Fraction:
        here = value(p, ZERO) / D
        return sign * (value(derivative(p), ZERO) - here * D1) / D

    x = [slope(p) for p in found.x]
    return OneSided(
        distance,
        exact,
        what,
        x[:features],
        x[features] if len(x) > features else ZERO,
        sign * envelope(changed, sign, sides, found.now),
        [slope(p) for p in found.margins],
        [slope(p) for p in found.a],
        tuple(sides),
    )


def event(program: RowProgram, side: Side, i: int, which: int) -> str:
    """What happens to a row: of a margin, where only one bound is 0, and of a residual."""
    if program.low[i] != 0:
        return f"sample {i} is fitted exactly" + (" no longer" if side == "free" else "")
    if side == "free":
        return f"the multiplier of sample {i} reaches its bound" if which else f"sample {i} leaves the support"
    return f"sample {i} joins the support" if side == "low" else f"sample {i} comes to lie on the margin"


def envelope(changed: Changed, sign: int, sides: Sequence[Side], now: Solved) -> Fraction:
    """The derivative of the optimum by the distance: that of the Lagrangian, with the point and the free multipliers
    fixed (the envelope theorem). All that changes does so linearly."""
    before, after = changed(ZERO), changed(Fraction(sign))
    x, a = now.x, now.a
    total = sum(((q - p) * v * v for p, q, v in zip(before.P, after.P, x, strict=True)), ZERO) / 2
    for i, side in enumerate(sides):
        total += a[i] * (after.t[i] - before.t[i])
        if before.rows[i] != after.rows[i]:
            total -= a[i] * (dot(after.rows[i], x) - dot(before.rows[i], x))
        k, moved = before.stiffness[i], after.stiffness[i]
        if k is not None and moved is not None and k != moved:
            u = before.t[i] - dot(before.rows[i], x)
            total += (moved - k) * u * u / 2 if side == "free" else ZERO
        if side != "free":
            bounds = (before.low[i], after.low[i]) if side == "low" else (before.high[i], after.high[i])
            if bounds[0] is not None and bounds[1] is not None and bounds[0] != bounds[1]:
                total += (bounds[1] - bounds[0]) * before.slack(i, x, a[i])
    return total
