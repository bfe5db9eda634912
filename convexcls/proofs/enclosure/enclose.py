"""Enclose the optimum and the coefficients of logistic and softmax regression, and check an enclosure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.enclosure.intervals import (
    BITS_PER_DIGIT,
    CHECK_BITS,
    MAX_BITS,
    MORE_CHECK_BITS,
    Enclosure,
    Interval,
    check_digits,
    column,
    ends,
    settled_digits,
    widened,
    working_bits,
)
from convexcls.proofs.enclosure.krawczyk import box_around, prove
from convexcls.proofs.enclosure.newton import FIRST_BITS, Singular, minimise
from convexcls.proofs.enclosure.objective import Objective, independent_unknowns, prove_gauge, refuse_others

#: Bits beyond those of the digits, for what rounding and the condition of the problem take.
SPARE_BITS = 48
#: The digits and the bits with which the objective at a point in doubles is compared with the optimum.
POINT_DIGITS, POINT_BITS = 20, 2300
#: How often more bits are taken because digits were short. Then what was reached is returned.
MAX_ROUNDS = 6


def enclose(problem: Problem, x: Any = None, digits: int = 30) -> Enclosure:
    """Intervals that contain the optimum and the minimiser of a problem whose terms are logistic, softmax, exponential
    or half-square losses, without constraints; each settles that many digits.

    ``x`` is where the search starts, such as the answer of a solver; it decides nothing but the time. ``NoAnswer``
    where there is no minimiser (separated classes) or the problem is of another kind. Where columns depend on each
    other the minimiser is not unique: then some unknowns are 0 (``pinned``), and the optimum is enclosed all the same.
    """
    check_digits(digits)
    refuse_others(problem)
    known = problem.remembered(_known)
    if digits not in known:
        known[digits] = _enclose(problem, x, digits)
    return known[digits]


def _known(_: Problem) -> dict[int, Enclosure]:
    """The enclosures of a problem that were found, by digits: several questions are answered by the same one."""
    return {}


def _enclose(problem: Problem, x: Any, digits: int) -> Enclosure:
    bits = int(digits * BITS_PER_DIGIT) + SPARE_BITS + 2 * sum(t.size for t in problem.terms).bit_length()
    with working_bits(bits):  # nothing is done without python-flint
        prove_gauge(problem)
    start, origin = _start(problem, x), [Fraction(0)] * problem.size
    for begin in (start, origin) if any(start) else (origin,):  # from where numbers differ too much steps lead nowhere
        if (found := _enclose_from(problem, begin, digits, bits)) is not None:
            return found
    raise NoAnswer(f"no minimiser of the {problem.name} was proved with {MAX_BITS} bits")


def _enclose_from(problem: Problem, start: list[Fraction], digits: int, bits: int) -> Enclosure | None:
    attempts, rounds = _Attempts(problem, start, digits), 0
    while bits <= MAX_BITS:
        found = attempts.next(bits)
        if found is None:
            bits = 2 * bits
            continue
        rounds += 1
        bits += int((digits - found.reached) * BITS_PER_DIGIT) + 8
        if found.reached >= digits or rounds == MAX_ROUNDS or bits > MAX_BITS:
            return found
    return None


def bounds_at(problem: Problem, x: Any) -> Interval | None:
    """The optimum from below, and the objective at a point from above; None where that is infinite. The optimum is
    enclosed from the point, with more digits than doubles have."""
    below = enclose(problem, x, POINT_DIGITS).lower
    with working_bits(POINT_BITS):
        objective = Objective(problem)
        z = objective.scaled(np.asarray(x, dtype=float).tolist())
        along = objective.gauge * column(z)
        here = objective.at(z).value - (along.transpose() * along)[0, 0] / 2  # the gauge is not part of the problem
        return (below, ends(here)[1]) if here.is_finite() else None


def check_enclosure(problem: Problem, enclosure: Enclosure) -> bool:
    """Whether the enclosure is true, proved from the problem alone: one test at the midpoint, none of the search."""
    refuse_others(problem)
    bits = enclosure.precision
    if not (isinstance(bits, int) and 2 <= bits <= MAX_BITS and isinstance(enclosure.digits, int)):
        return False
    box = _box(problem, enclosure)
    if box is None:
        return False
    kept = [j for j in range(problem.size) if j not in set(enclosure.pinned)]
    if enclosure.pinned != _pinned(problem, kept) or (enclosure.pinned and kept != independent_unknowns(problem)):
        return False
    box = [box[j] for j in kept]
    proof = None
    for more in (CHECK_BITS, MORE_CHECK_BITS):  # a proof is a proof with however many bits
        if proof is None:
            with working_bits(bits + more):
                prove_gauge(problem)
                proof = prove(Objective(problem, kept), box)
    if proof is None or not (enclosure.lower <= proof.lower and proof.upper <= enclosure.upper):
        return False
    reached = _reached(problem, (enclosure.lower, enclosure.upper), box, proof.units, enclosure.digits)
    return reached >= enclosure.reached and enclosure.proof == proof_words(problem, enclosure)


class _Attempts:
    """Newton's method and Krawczyk's test with more and more bits, each from where the last attempt ended."""

    def __init__(self, problem: Problem, start: list[Fraction], digits: int) -> None:
        self.problem, self.digits = problem, digits
        self.point = start
        self.kept: list[int] | None = None
        self.first_bits = FIRST_BITS
        self.objective: Objective | None = None

    def next(self, bits: int) -> Enclosure | None:
        """An enclosure by so many bits; None where they did not suffice."""
        found = self._attempt(bits)
        if found is None and self.kept is None:
            self.kept = independent_unknowns(self.problem)
            if len(self.kept) < self.problem.size:  # that was the reason, not the bits
                self.objective = None
                self.point = [Fraction(0)] * self.problem.size  # without the others what was found is another point
                found = self._attempt(bits)
        self.first_bits = 2 * bits
        return found

    def _attempt(self, bits: int) -> Enclosure | None:
        with working_bits(bits):
            if self.objective is None or not self.objective.exact:
                self.objective = Objective(self.problem, self.kept)
            objective = self.objective
            start = [v.mid() for v in objective.scaled([self.point[j] for j in objective.kept])]
            try:
                near = minimise(objective, start, bits, self.first_bits)
            except Singular as error:
                if self.problem.quadratic:  # the steps lead to a minimiser, if only far out: more bits go on from there
                    self._go_on_from(objective, error.point)
                return None
            found = box_around(objective, near, bits)
            if found is None:
                self._go_on_from(objective, near)
                return None
        box, proof = found
        whole = [(Fraction(0), Fraction(0))] * self.problem.size
        for j, (low, high) in zip(objective.kept, box, strict=True):
            whole[j], self.point[j] = (low, high), (low + high) / 2
        coefficients = {v: whole[where] for v, where in self.problem.layout.items()}
        optimum = widened((proof.lower, proof.upper))
        reached = _reached(self.problem, optimum, box, proof.units, self.digits)
        out = Enclosure(*optimum, coefficients, self.digits, reached, bits, _pinned(self.problem, objective.kept))
        return replace(out, proof=proof_words(self.problem, out))

    def _go_on_from(self, objective: Objective, z: Sequence[Any]) -> None:
        """Let the next attempt begin where this one ended."""
        for j, v, exponent in zip(objective.kept, z, objective.exponents, strict=True):
            self.point[j] = sum(ends(v)) / Fraction(2) ** (exponent + 1)


def _reached(
    problem: Problem, optimum: Interval, box: Sequence[Interval], units: Sequence[Fraction], digits: int
) -> int:
    """How many digits all intervals settle."""
    counts = [settled_digits(optimum, Fraction(problem.unit or 1.0))]
    counts += [settled_digits(interval, unit) for interval, unit in zip(box, units, strict=True)]
    return min((c for c in counts if c is not None), default=digits)


def _pinned(problem: Problem, kept: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(set(range(problem.size)) - set(kept)))


def proof_words(problem: Problem, enclosure: Enclosure) -> str:
    """What an enclosure says, once it is proved."""
    pinned = len(enclosure.pinned)
    words = _WORDS.format(enclosure.precision, problem.size - pinned, enclosure.reached)
    return words + (_PINNED.format(pinned) if pinned else "") + (_GAUGE if problem.gauge else "")


def _start(problem: Problem, x: Any) -> list[Fraction]:
    """Where the search starts: x where it is better than 0, else 0."""
    if x is not None:
        values = np.asarray(x, dtype=float)
        if values.shape != (problem.size,):
            raise ValueError(f"x has shape {values.shape}: the {problem.name} has {problem.size} unknowns")
        with np.errstate(all="ignore"):  # a point where the objective overflows or is no number is not better
            better = np.all(np.isfinite(values)) and problem.minimised(values) <= problem.minimised(0.0 * values)
        if better:
            return [Fraction(v) for v in values.tolist()]
    return [Fraction(0)] * problem.size


def _box(problem: Problem, enclosure: Enclosure) -> list[Interval] | None:
    """The intervals of all unknowns; None where they do not fit the problem."""
    if not problem.fits(enclosure.coefficients):
        return None
    box = [interval for v in problem.variables for interval in enclosure.coefficients[v.name]]
    pinned = set(enclosure.pinned)
    for j, (low, high) in enumerate(box):
        if (low or high) if j in pinned else low >= high:
            return None
    return box


_WORDS = (
    "Krawczyk's test in ball arithmetic with {} bits: x - Y grad f(x) maps the box of the {} coefficients into its own "
    "interior. So the gradient vanishes in the box, only there, and the objective is convex: this is the minimiser. "
    "The optimum lies within a quadratic bound of the value at the midpoint. At least {} digits of every number"
)
_PINNED = (
    ". The columns are dependent (proved in rationals): {} unknown(s) are put to 0, and the minimiser is not unique"
)
_GAUGE = ". A common shift of all classes changes nothing (proved in rationals): the coefficients have sum zero"
