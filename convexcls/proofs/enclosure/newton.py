"""Newton's method in as many digits as are asked for.

Nothing here is proved: the point it ends at is only where the proof looks. It starts with few bits and doubles them
as the steps shrink, since each step doubles the digits that are right. Steps are halved until the objective falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from convexcls.problem import NoAnswer
from convexcls.proofs.enclosure.balls import working_bits
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
#: Every so many steps it is asked whether the samples are separated.
STEPS_PER_SEPARATION_TEST = 5


class Singular(Exception):
    """The Hessian could not be told from a singular one: the bits do not suffice, or columns repeat each other."""


def minimise(objective: Objective, start: Sequence[arb], bits: int, first_bits: int = FIRST_BITS) -> list[arb]:
    """A point near the minimiser: to about as many bits, less those that the condition of the problem costs."""
    z, level, steps = list(start), min(bits, first_bits), 0
    max_steps = MAX_STEPS_WITH_PENALTY if objective.problem.quadratic else MAX_STEPS
    while True:
        with working_bits(level):
            here = objective.at(z)
            while True:
                if steps % STEPS_PER_SEPARATION_TEST == 0 and objective.separates(z):
                    raise NoAnswer(_SEPARATED.format(objective.problem.name))
                tolerance = max([1.0, *(float(abs(v)) for v in z)]) * 2.0 ** -min(level / 2 - 4, 900)
                dz = _newton_step(here, tolerance)
                if all(abs(s) < tolerance for s in dz):
                    break
                z, here = _line_search(objective, z, dz, here)
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
        trial = _moved(z, dz, halvings)
        there = objective.at(trial)
        if there.value.is_finite() and there.value.mid() <= here.value.mid() + rounding:
            return trial, there
    raise Singular


def _moved(z: Sequence[arb], dz: Sequence[arb], halvings: int = 0) -> list[arb]:
    return [(v + s / 2**halvings).mid() for v, s in zip(z, dz, strict=True)]


_SEPARATED = (
    "the {} has no minimiser: the classes are completely separated. Along the direction found every loss falls for "
    "ever (proved in ball arithmetic). A ridge penalty l2 > 0 makes the minimiser exist"
)
_UNSETTLED = (
    "no minimiser of the {} was found: {} Newton steps did not settle. Where the classes are separated, if only "
    "weakly, there is none: separability tells. A ridge penalty l2 > 0 makes it exist"
)
