"""The proof: a box that contains the minimiser (Krawczyk 1969).

Let c be the centre of a box of radii r, Y any matrix, and H(box) balls that contain the Hessian everywhere in it. If

    |Y g(c)|_j + sum_k |I - Y H(box)|_jk r_k < r_j        for every j,

then x -> x - Y g(x) maps the box into its own interior, so the gradient g has a zero x* in it, at most the left-hand
side away from c, and every matrix in H(box) is nonsingular. The objective is convex: x* is its only minimiser, and

    F(x*) = F(c) - 1/2 e'H e,        e = c - x*,  H a mean of Hessians in the box,

since the gradient at x* is 0: an error of e in the coefficients is one of e^2 in the optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from convexcls.proofs.enclosure.intervals import Interval, ends, power_above
from convexcls.proofs.enclosure.losses import Derivatives
from convexcls.proofs.enclosure.objective import Objective

if TYPE_CHECKING:
    from flint import arb, arb_mat

#: A box that is not mapped into itself is made larger by this factor, so often.
WIDEN, TRIES = 4, 4


@dataclass(frozen=True)
class Proof:
    """What was shown: the minimum lies in [lower, upper]. ``units`` is for each unknown the size of what cancels in
    it, which an unknown that is 0 is measured by."""

    lower: Fraction
    upper: Fraction
    units: list[Fraction]


def prove(objective: Objective, box: Sequence[Interval], here: Derivatives | None = None) -> Proof | None:
    """The proof that the only minimiser lies in the box, in the units of the problem; None where the test fails.
    ``here`` is the objective at the centre, where it is known."""
    from flint import arb

    centre = objective.scaled([(low + high) / 2 for low, high in box])
    radius = objective.scaled([(high - low) / 2 for low, high in box])
    here = objective.at(centre) if here is None else here
    inverse = _inverse(here)
    if inverse is None:
        return None
    wide = objective.at([c + arb(0, r) for c, r in zip(centre, radius, strict=True)])
    step, product = (inverse * here.gradient).entries(), inverse * wide.hessian
    size = objective.size
    away = [
        abs(step[j]) + sum((abs(product[j, k] - (j == k)) * radius[k] for k in range(size)), arb(0))
        for j in range(size)
    ]
    if not here.value.is_finite() or not all(a < r for a, r in zip(away, radius, strict=True)):
        return None
    drop = sum((abs(wide.hessian[j, k]) * away[j] * away[k] for j in range(size) for k in range(size)), arb(0)) / 2
    low, high = ends(here.value)
    return Proof(low - ends(drop)[1], high, _units(objective, here, inverse, centre))


def box_around(objective: Objective, z: Sequence[arb], bits: int) -> tuple[list[Interval], Proof] | None:
    """A box around z, as small as the bits allow, with the proof that it contains the minimiser; None without one."""
    here = objective.at(z)
    inverse = _inverse(here)
    if inverse is None:
        return None
    steps = (inverse * here.gradient).entries()
    if not all(s.is_finite() for s in (*steps, here.pull)):
        return None
    units = _units(objective, here, inverse, z)
    reach = [2 * ends(s.abs_upper())[1] for s in steps]
    for _ in range(TRIES):
        box = []
        for v, s, unit, e in zip(z, reach, units, objective.exponents, strict=True):
            radius = power_above((s + unit / 2**bits) / Fraction(2) ** e)
            centre = sum(ends(v)) / Fraction(2) ** (e + 1)
            box.append((centre - radius, centre + radius))
        if (proof := prove(objective, box, here)) is not None:
            return box, proof
        reach = [WIDEN * s for s in reach]
    return None


def _inverse(here: Derivatives) -> arb_mat | None:
    try:
        return here.hessian.mid().inv().mid()
    except ZeroDivisionError:
        return None


def _units(objective: Objective, here: Derivatives, inverse: arb_mat, z: Sequence[arb]) -> list[Fraction]:
    """|Y| times the sizes of the gradient's parts, in the units of z; 1 where there is nothing to measure by."""
    from flint import arb

    P, q, size = objective.quadratic, objective.linear, objective.size
    parts = [
        sum((abs(P[k, j] * z[j]) for j in range(size)), objective.columns[k] * here.pull + abs(q[k, 0]))
        for k in range(size)
    ]
    sums = [sum((abs(inverse[j, k]) * parts[k] for k in range(size)), arb(0)) for j in range(size)]
    return [ends(s.abs_upper())[1] or Fraction(1) for s in sums]
