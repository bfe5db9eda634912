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
from convexcls.proofs.enclosure.balls import working_bits
from convexcls.proofs.enclosure.objective import Objective
from convexcls.proofs.enclosure.samples import At

if TYPE_CHECKING:
    from flint import arb

#: The bits of the first steps.
FIRST_BITS = 128
#: So many steps are taken before it is said that they lead nowhere; more where a penalty sees to it that they end,
#: if only far out.
MOST_STEPS, MOST_WITH_PENALTY = 80, 1000
#: A step is halved at most so often.
MOST_HALVINGS = 40
#: After so many steps the next ones are made longer where that pays, if there is a penalty.
STEPS_BEFORE_DOUBLING = 8
#: Every so many steps it is asked whether the samples are separated.
EVERY = 5


class Singular(Exception):
    """The Hessian could not be told from a singular one: the bits do not suffice, or columns repeat each other.
    ``point`` is how far the steps came."""

    def __init__(self, point: Sequence[arb] = ()) -> None:
        super().__init__()
        self.point = point


def newton_step(here: At, finest: float) -> list[arb]:
    """H^-1 g, the step to be subtracted; ``Singular`` where the bits leave more than ``finest`` of it open."""
    try:
        step = here.hessian.solve(here.gradient).entries()
    except ZeroDivisionError:
        raise Singular from None
    if not all(s.rad() < finest for s in step):
        raise Singular
    return [s.mid() for s in step]


def minimise(objective: Objective, start: Sequence[arb], bits: int, first_bits: int = FIRST_BITS) -> list[arb]:
    """A point near the minimiser: to about as many bits, less those that the condition of the problem costs."""
    z, level, taken = list(start), min(bits, first_bits), 0
    held = bool(objective.problem.quadratic)  # by a penalty
    most = MOST_WITH_PENALTY if held else MOST_STEPS
    while True:
        with working_bits(level):
            here = objective.at(z)
            while True:
                if taken % EVERY == 0 and objective.separates(z):
                    raise NoAnswer(_SEPARATED.format(objective.problem.name))
                size = max([1.0, *(float(abs(v)) for v in z)])
                finest = size * 2.0 ** -min(level / 2 - 4, 900)
                try:
                    step = newton_step(here, finest)
                    if all(abs(s) < finest for s in step):
                        break
                    before, (z, here) = z, _shorter(objective, z, step, here)
                except Singular:
                    raise Singular(z) from None
                if held and taken >= STEPS_BEFORE_DOUBLING:
                    z, here = _longer(objective, before, step, z, here)
                taken += 1
                if taken > most:
                    raise NoAnswer(_UNSETTLED.format(objective.problem.name, most))
            z = [(v - s).mid() for v, s in zip(z, step, strict=True)]  # so small that nothing need be asked
        if level == bits:
            return z
        level = min(bits, 2 * level)


def _shorter(objective: Objective, z: list[arb], step: list[arb], here: At) -> tuple[list[arb], At]:
    """The step, halved until the objective does not rise; what rounding alone adds is no rise."""
    from flint import ctx

    room = abs(here.value.mid()) / 2 ** (ctx.prec // 2)
    part = 1
    for _ in range(MOST_HALVINGS):
        trial = [(v - s / part).mid() for v, s in zip(z, step, strict=True)]
        there = objective.at(trial)
        if there.value.is_finite() and there.value.mid() <= here.value.mid() + room:
            return trial, there
        part *= 2
    raise Singular


def _longer(objective: Objective, z: list[arb], step: list[arb], taken: list[arb], there: At) -> tuple[list[arb], At]:
    """Twice the step, four times, ... as long as the objective, which is convex, surely still falls there along it. As
    ``taken`` where that was less than the step."""
    times = 1
    while _falls_along(step, there):
        times *= 2
        trial = [(v - times * s).mid() for v, s in zip(z, step, strict=True)]
        further = objective.at(trial)
        if not further.value.is_finite() or not _falls_along(step, further):
            break
        taken, there = trial, further
    return taken, there


def _falls_along(step: list[arb], here: At) -> bool:
    """Whether the objective surely falls when the step is subtracted."""
    return bool(sum(g * s for g, s in zip(here.gradient.entries(), step, strict=True)) > 0)


_SEPARATED = (
    "the {} has no minimiser: the classes are completely separated. Along the direction found every loss falls for "
    "ever (proved in ball arithmetic). A ridge penalty l2 > 0 makes the minimiser exist"
)
_UNSETTLED = (
    "no minimiser of the {} was found: {} Newton steps did not settle. Where the classes are separated, if only "
    "weakly, there is none: separability tells. A ridge penalty l2 > 0 makes it exist"
)
