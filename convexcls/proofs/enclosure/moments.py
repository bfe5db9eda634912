"""Gaussian classes, whose optimum is a formula: the moments match.

With S = sum_i w_i z_i z_i' over samples z_i = (x_i, e_k) joined with the indicator of their class, n_k the weight of a
class and m the divisor, the problem is to minimise, over positive definite Omega of order d + K, the sum over its parts

    1/2 tr(S Omega) - m/2 log det Omega + m/2 (d log 2 pi + sum_k log(m / n_k) - K).

It is convex, and its gradient (S - m Omega^-1)/2 vanishes where Omega = m S^-1 and nowhere else: a rational matrix. The
optimum has one logarithm of a rational in it. Where S v = 0 there is no minimum: along vv' the trace stays and the
determinant grows for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from convexcls.problem import NoAnswer, Problem
from convexcls.proofs.enclosure.intervals import (
    BITS_PER_DIGIT,
    BOUND_BITS,
    CHECK_BITS,
    MAX_BITS,
    Enclosure,
    Interval,
    check_digits,
    log_interval,
    pi_interval,
    settled_digits,
    sum_of,
    times,
    widened,
)
from convexcls.rational.elimination import Matrix, determinant, inverse, is_semidefinite, null_space

Values = Mapping[str, Sequence[Fraction]]

#: Bits beyond those of the digits.
SPARE_BITS = 24
#: The moments of data with more entries are not worked out again: residuals in doubles judge them.
MAX_MOMENT_ENTRIES = 5_000_000


@dataclass(frozen=True, eq=False)
class Moments:
    """One part: S, m, d, and the names of the blocks of Omega: precision, natural mean (negated) and corner."""

    scatter: Matrix
    divisor: Fraction
    d: int
    names: tuple[str, str, str]

    @cached_property
    def solution(self) -> Matrix | None:
        """m S^-1; None where S is singular."""
        found = inverse(self.scatter)
        return None if found is None else [[self.divisor * value for value in row] for row in found]

    def unpacked(self, values: Values) -> Matrix:
        """Omega, from its blocks: lower triangles row by row."""
        entries = {name: iter(values[name]) for name in self.names}
        order = len(self.scatter)
        out = [[Fraction(0)] * order for _ in range(order)]
        for i, j, name, sign in self._places():
            out[i][j] = out[j][i] = sign * next(entries[name])
        return out

    def packed(self, matrix: Matrix) -> dict[str, list[Fraction]]:
        """The blocks of Omega."""
        out: dict[str, list[Fraction]] = {name: [] for name in self.names}
        for i, j, name, sign in self._places():
            out[name].append(sign * matrix[i][j])
        return out

    def _places(self) -> Iterator[tuple[int, int, str, int]]:
        """The entries of the lower triangle row by row, each with its block and its sign there."""
        precision, mean, corner = self.names
        for i in range(len(self.scatter)):
            for j in range(i + 1):
                yield (i, j, precision, 1) if i < self.d else (i, j, mean, -1) if j < self.d else (i, j, corner, 1)

    def trace(self, omega: Matrix) -> Fraction:
        """tr(S Omega)."""
        pairs = zip(self.scatter, omega, strict=True)
        return sum((a * b for u, v in pairs for a, b in zip(u, v, strict=True) if a and b), Fraction(0))

    def value(self, omega: Matrix, bits: int) -> Interval | None:
        """The objective of the part; None where Omega is not positive definite."""
        size = determinant(omega)
        return self._value(self.trace(omega), size, bits) if size > 0 and is_semidefinite(omega) else None

    def optimum(self, bits: int) -> Interval:
        """The least value, where S is not singular."""
        order, m = len(self.scatter), self.divisor
        return self._value(m * order, m**order / determinant(self.scatter), bits)

    def _value(self, trace: Fraction, size: Fraction, bits: int) -> Interval:
        """The objective, from tr(S Omega) and det Omega."""
        counts, m = [self.scatter[k][k] for k in range(self.d, len(self.scatter))], self.divisor
        for n in counts:
            size *= n / m
        logarithms = sum_of([log_interval(1 / size, bits), times(self.d, _log_two_pi(bits))])
        plain = (trace - m * len(counts)) / 2
        return sum_of([(plain, plain), times(m / 2, logarithms)])


def _log_two_pi(bits: int) -> Interval:
    low, high = pi_interval(bits)
    return log_interval(2 * low, bits)[0], log_interval(2 * high, bits)[1]


def value_at(parts: Sequence[Moments], values: Values, bits: int = BOUND_BITS) -> Interval | None:
    """Numbers around the objective at a point; None where it is infinite."""
    found = [part.value(part.unpacked(values), bits) for part in parts]
    known = [interval for interval in found if interval is not None]
    return sum_of(known) if len(known) == len(found) else None


def least_value(parts: Sequence[Moments], bits: int = BOUND_BITS) -> Interval:
    """Numbers around the optimum, where there is one."""
    return sum_of(part.optimum(bits) for part in parts)


def matched(parts: Sequence[Moments]) -> dict[str, list[Fraction]] | None:
    """The minimiser, by variable; None where there is none."""
    found = [part.solution for part in parts]
    known = [omega for omega in found if omega is not None]
    return _packed(parts, known) if len(known) == len(found) else None


def has_moments(problem: Problem) -> bool:
    """Whether the optimum of a problem is a formula of moments, which are rational."""
    return hasattr(problem, "moments_as_given")


def has_few_moments(problem: Any) -> bool:
    """Whether the moments are not too many to be added up by whoever verifies a claim."""
    return has_moments(problem) and problem.data.n * problem.data.d <= MAX_MOMENT_ENTRIES


def moments(problem: Any) -> list[Moments]:
    """The moments of the data as they were given."""
    return list(problem.moments_as_given())


def enclose_moments(problem: Problem, parts: Sequence[Moments], digits: int) -> Enclosure:
    """The minimiser, which is rational, and an interval around the optimum; ``NoAnswer`` where there is no minimum."""
    check_digits(digits)
    point = matched(parts)
    if point is None:
        raise NoAnswer(f"the {problem.name} has no minimiser: a combination of features does not vary within a class")
    exactly = {name: [(value, value) for value in values] for name, values in point.items()}
    bits = int(digits * BITS_PER_DIGIT) + SPARE_BITS
    while True:
        optimum = widened(least_value(parts, bits))
        reached = settled_digits(optimum, Fraction(problem.unit or 1.0)) or 0
        if reached >= digits or bits > MAX_BITS:
            out = Enclosure(*optimum, exactly, digits, reached, bits)
            return replace(out, proof=_WORDS.format(reached))
        bits += int((digits - reached) * BITS_PER_DIGIT) + SPARE_BITS


def check_moments(parts: Sequence[Moments], enclosure: Enclosure) -> bool:
    """Whether an enclosure holds: Omega S = m times the identity, without rounding, and the value there lies within."""
    if any(low != high for box in enclosure.coefficients.values() for low, high in box):
        return False
    if not (isinstance(enclosure.precision, int) and 2 <= enclosure.precision <= MAX_BITS):
        return False
    point = {name: [low for low, _ in box] for name, box in enclosure.coefficients.items()}
    if any(part.unpacked(point) != part.solution for part in parts):
        return False
    low, high = least_value(parts, enclosure.precision + CHECK_BITS)
    return enclosure.lower <= low and high <= enclosure.upper


def falling_direction(parts: Sequence[Moments]) -> dict[str, list[Fraction]] | None:
    """vv' with S v = 0 for one of the parts; None where there is a minimum."""
    for part in parts:
        if part.solution is None:
            v = null_space(part.scatter)[0]
            still = _packed(parts, [[[Fraction(0)] * len(p.scatter)] * len(p.scatter) for p in parts])
            return still | part.packed([[a * b for b in v] for a in v])
    return None


def identity(parts: Sequence[Moments]) -> dict[str, list[Fraction]]:
    """Omega = I for every part: a point where the objective is finite."""
    orders = [range(len(part.scatter)) for part in parts]
    return _packed(parts, [[[Fraction(int(j == k)) for k in order] for j in order] for order in orders])


def _packed(parts: Sequence[Moments], matrices: Sequence[Matrix]) -> dict[str, list[Fraction]]:
    """Omega of every part, by variable."""
    packed = [part.packed(omega) for part, omega in zip(parts, matrices, strict=True)]
    return {name: values for blocks in packed for name, values in blocks.items()}


def falls_for_ever(parts: Sequence[Moments], direction: Values) -> bool:
    """Whether Omega may grow along the direction for ever: positive semidefinite, not 0, and without a trace."""
    steps = [part.unpacked(direction) for part in parts]
    still = all(part.trace(step) == 0 for part, step in zip(parts, steps, strict=True))
    return still and any(any(map(any, step)) for step in steps) and all(map(is_semidefinite, steps))


_WORDS = (
    "The moments match without rounding: Omega = m S^-1, which is rational, so the gradient is 0, and the objective is "
    "convex. The optimum is the logarithm of a rational beside rationals, by its series with every error counted. At "
    "least {} digits of it"
)
