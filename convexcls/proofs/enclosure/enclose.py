"""Enclose the optimum and the coefficients of logistic and softmax regression, and check an enclosure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.enclosure.balls import MOST_BITS, ball, column, ends, working_bits
from convexcls.proofs.enclosure.directions import independent_unknowns, prove_gauge
from convexcls.proofs.enclosure.krawczyk import Interval, Proof, box_around, prove
from convexcls.proofs.enclosure.newton import FIRST_BITS, Singular, minimise
from convexcls.proofs.enclosure.objective import Objective, refuse_others
from convexcls.proofs.enclosure.result import BITS_PER_DIGIT, Enclosure, check_digits, settled_digits

#: Bits beyond those of the digits, for what rounding and the condition of the problem take.
SPARE_BITS = 48
#: The check works with more bits than the search did, so that what is true is accepted on any machine.
CHECK_BITS = 32
#: The digits and the bits with which the objective at a point in doubles is compared with the optimum.
POINT_DIGITS, POINT_BITS = 20, 2300
#: How often more bits are taken because digits were short. Then what was reached is returned.
MOST_ROUNDS = 6


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
    search = _Search(problem, _start(problem, x), digits)
    rounds = 0
    while bits <= MOST_BITS:
        found = search.attempt(bits)
        if found is None:
            bits = 2 * bits
            continue
        rounds += 1
        bits += int((digits - found.reached) * BITS_PER_DIGIT) + 8
        if found.reached >= digits or rounds == MOST_ROUNDS or bits > MOST_BITS:
            return found
    raise NoAnswer(f"no minimiser of the {problem.name} was proved with {MOST_BITS} bits")


def bounds_at(problem: Problem, x: Any) -> Interval | None:
    """The optimum from below, and the objective at a point from above; None where that is infinite. The optimum is
    enclosed from the point, with more digits than doubles have."""
    below = enclose(problem, x, POINT_DIGITS).lower
    with working_bits(POINT_BITS):
        objective = Objective(problem)
        values = zip(np.asarray(x, dtype=float).tolist(), objective.exponents, strict=True)
        z = [ball(value, e) for value, e in values]
        along = objective.gauge * column(z)
        here = objective.at(z).value - (along.transpose() * along)[0, 0] / 2  # the gauge is not part of the problem
        return (below, ends(here)[1]) if here.is_finite() else None


def check_enclosure(problem: Problem, enclosure: Enclosure) -> bool:
    """Whether the enclosure is true, proved from the problem alone: one test at the midpoint, none of the search."""
    refuse_others(problem)
    bits = enclosure.precision
    if not (isinstance(bits, int) and 2 <= bits <= MOST_BITS and isinstance(enclosure.digits, int)):
        return False
    box = _box(problem, enclosure)
    if box is None:
        return False
    kept = [j for j in range(problem.size) if j not in set(enclosure.pinned)]
    if enclosure.pinned != _others(problem, kept) or (enclosure.pinned and kept != independent_unknowns(problem)):
        return False
    with working_bits(bits + CHECK_BITS):
        prove_gauge(problem)
        proof = prove(Objective(problem, kept), [box[j] for j in kept])
    if proof is None or not (enclosure.lower <= proof.lower and proof.upper <= enclosure.upper):
        return False
    claimed = (enclosure.lower, enclosure.upper)
    again = _enclosure(problem, kept, [box[j] for j in kept], claimed, proof.units, enclosure.digits, bits)
    return again.reached >= enclosure.reached and enclosure.proof == proof_words(problem, enclosure)


class _Search:
    """Attempts with more and more bits, each from where the last one ended."""

    def __init__(self, problem: Problem, start: list[Fraction], digits: int) -> None:
        self.problem, self.digits = problem, digits
        self.point = start
        self.kept: list[int] | None = None
        self.first_bits = FIRST_BITS
        self.objective: Objective | None = None

    def attempt(self, bits: int) -> Enclosure | None:
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
            start = [ball(self.point[j], e).mid() for j, e in zip(objective.kept, objective.exponents, strict=True)]
            try:
                z = minimise(objective, start, bits, self.first_bits)
            except Singular as error:
                if self.problem.quadratic:  # the steps lead to a minimiser, if only far out: more bits go on from there
                    for j, v, e in zip(objective.kept, error.point, objective.exponents, strict=True):
                        self.point[j] = sum(ends(v)) / Fraction(2) ** (e + 1)
                return None
            found = box_around(objective, z, bits)
            return None if found is None else self._enclosure(objective, *found, bits)

    def _enclosure(self, objective: Objective, box: list[Interval], proof: Proof, bits: int) -> Enclosure:
        for j, (low, high) in zip(objective.kept, box, strict=True):
            self.point[j] = (low + high) / 2
        room = proof.upper - proof.lower  # another way of adding up need not give the very same ball
        optimum = (proof.lower - room, proof.upper + room)
        return _enclosure(self.problem, objective.kept, box, optimum, proof.units, self.digits, bits)


def _enclosure(
    problem: Problem,
    kept: Sequence[int],
    box: Sequence[Interval],
    optimum: Interval,
    units: Sequence[Fraction],
    digits: int,
    bits: int,
) -> Enclosure:
    """The proved intervals by variable, with the digits that they settle."""
    counts = [settled_digits(optimum, Fraction(problem.unit or 1.0))]
    counts += [settled_digits(interval, unit) for interval, unit in zip(box, units, strict=True)]
    reached = min((c for c in counts if c is not None), default=digits)
    whole: list[Interval] = [(Fraction(0), Fraction(0))] * problem.size
    for j, interval in zip(kept, box, strict=True):
        whole[j] = interval
    pinned = _others(problem, kept)
    coefficients = {v: whole[where] for v, where in problem.layout.items()}
    out = Enclosure(*optimum, coefficients, digits, reached, bits, pinned)
    return replace(out, proof=proof_words(problem, out))


def _others(problem: Problem, kept: Sequence[int]) -> tuple[int, ...]:
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
            better = np.all(np.isfinite(values)) and problem.objective(values) <= problem.objective(0.0 * values)
        if better:
            return [Fraction(v) for v in values.tolist()]
    return [Fraction(0)] * problem.size


def _box(problem: Problem, enclosure: Enclosure) -> list[Interval] | None:
    """The intervals of all unknowns; None where they do not fit the problem."""
    if {v: len(e) for v, e in enclosure.coefficients.items()} != {v.name: v.size for v in problem.variables}:
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
