"""Newton's method in as many digits as are asked for.

Nothing here is proved: the point it ends at is only where the proof looks. It starts with few bits and doubles them
as the steps shrink, since each step doubles the digits that are right. Steps are halved until the objective falls. Far
from the minimiser of a likelihood that a small penalty holds, where the losses are nearly exponentials, every step adds
about as much to the margins: there steps are doubled as long as the objective falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from convexcls.problem import NoAnswer
from convexcls.proofs.enclosure.intervals import working_bits
from convexcls.proofs.enclosure.losses import Derivatives
from convexcls.proofs.enclosure.objective import Objective

if TYPE_CHECKING:
    from flint import arb

#: The bits of the first steps.
FIRST_BITS = 128
#: So many steps are taken before it is said that they lead nowhere; more where a penalty sees to it that they end,
#: if only far out.
MAX_STEPS, MAX_STEPS_WITH_PENALTY = 80, 1000
#: A step is halved at most so often.
MAX_HALVINGS = 40
#: After so many steps the next ones are made longer where that pays, if there is a penalty.
STEPS_BEFORE_DOUBLING = 8
#: Every so many steps it is asked whether the samples are separated.
STEPS_PER_SEPARATION_TEST = 5


class Singular(Exception):
    """The Hessian could not be told from a singular one: the bits do not suffice, or columns repeat each other.
    ``point`` is how far the steps came."""

    def __init__(self, point: Sequence[arb] = ()) -> None:
        super().__init__()
        self.point = point


def minimise(objective: Objective, start: Sequence[arb], bits: int, first_bits: int = FIRST_BITS) -> list[arb]:
    """A point near the minimiser: to about as many bits, less those that the condition of the problem costs."""
    z, level, steps = list(start), min(bits, first_bits), 0
    has_penalty = bool(objective.problem.quadratic)
    max_steps = MAX_STEPS_WITH_PENALTY if has_penalty else MAX_STEPS
    while True:
        with working_bits(level):
            here = objective.at(z)
            while True:
                if steps % STEPS_PER_SEPARATION_TEST == 0 and objective.separates(z):
                    raise NoAnswer(_SEPARATED.format(objective.problem.name))
                tolerance = max([1.0, *(float(abs(v)) for v in z)]) * 2.0 ** -min(level / 2 - 4, 900)
                try:
                    dz = _newton_step(here, tolerance)
                    if all(abs(s) < tolerance for s in dz):
                        break
                    before, (z, here) = z, _line_search(objective, z, dz, here)
                except Singular:
                    raise Singular(z) from None
                if has_penalty and steps >= STEPS_BEFORE_DOUBLING:
                    z, here = _doubled_steps(objective, before, dz, z, here)
                steps += 1
                if steps > max_steps:
                    raise NoAnswer(_UNSETTLED.format(objective.problem.name, max_steps))
            z = _moved(z, dz)  # so small a step that no line search is needed
        if level == bits:
            return z
        level = min(bits, 2 * level)


def _newton_step(here: Derivatives, tolerance: float) -> list[arb]:
    """-H^-1 g; ``Singular`` where the bits leave more than the tolerance of it open."""
    try:
        dz = here.hessian.solve(-here.gradient).entries()
    except ZeroDivisionError:
        raise Singular from None
    if not all(s.rad() < tolerance for s in dz):
        raise Singular
    return [s.mid() for s in dz]


def _line_search(objective: Objective, z: list[arb], dz: list[arb], here: Derivatives) -> tuple[list[arb], Derivatives]:
    """The step, halved until the objective does not rise; what rounding alone adds is no rise."""
    from flint import ctx

    rounding = abs(here.value.mid()) / 2 ** (ctx.prec // 2)
    for halvings in range(MAX_HALVINGS):
        trial = _moved(z, dz, halvings=halvings)
        there = objective.at(trial)
        if there.value.is_finite() and there.value.mid() <= here.value.mid() + rounding:
            return trial, there
    raise Singular


def _doubled_steps(
    objective: Objective, start: list[arb], dz: list[arb], z: list[arb], here: Derivatives
) -> tuple[list[arb], Derivatives]:
    """start + 2 dz, start + 4 dz, ... as long as the objective, which is convex, surely still falls there along dz; z
    where that is no further."""
    length = 1
    while _falls_along(dz, here):
        length *= 2
        trial = _moved(start, dz, length)
        there = objective.at(trial)
        if not there.value.is_finite() or not _falls_along(dz, there):
            break
        z, here = trial, there
    return z, here


def _falls_along(dz: list[arb], here: Derivatives) -> bool:
    """Whether the objective surely falls along dz."""
    return bool(sum(g * s for g, s in zip(here.gradient.entries(), dz, strict=True)) < 0)


def _moved(z: Sequence[arb], dz: Sequence[arb], length: int = 1, halvings: int = 0) -> list[arb]:
    return [(v + length * s / 2**halvings).mid() for v, s in zip(z, dz, strict=True)]


_SEPARATED = (
    "the {} has no minimiser: the classes are completely separated. Along the direction found every loss falls for "
    "ever (proved in ball arithmetic). A ridge penalty l2 > 0 makes the minimiser exist"
)
_UNSETTLED = (
    "no minimiser of the {} was found: {} Newton steps did not settle. Where the classes are separated, if only "
    "weakly, there is none: separability tells. A ridge penalty l2 > 0 makes it exist"
)
